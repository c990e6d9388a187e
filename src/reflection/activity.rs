//! Activity of a period in numbers that the program counted: the part of the model's input that
//! cannot be forged.
//!
//! Numbers are safe, names are not: the name of a tool or a skill in a call is written by a model,
//! perhaps as a page instructed it. So only names that the program knows are written; everything
//! else is counted without a name.

use crate::id::PersonId;
use crate::store::Db;
use crate::time::Timestamp;
use crate::trust::Scope;
use crate::wording::reflection as says;

/// Person and period.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// Person whose activity is counted.
    pub person: PersonId,
    /// First instant, by received time.
    pub from: Timestamp,
    /// First instant after the period.
    pub to: Timestamp,
}

/// Names that may be written.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Names of tools.
    pub tools: Vec<String>,
    /// Names of skills.
    pub skills: Vec<String>,
}

/// Renders the counters of a period, one line each.
pub fn numbers(db: Db<'_>, window: Window, period: &str, names: &Names) -> anyhow::Result<String> {
    let Window { person, from, to } = window;
    let scope = Scope::Person(person);
    let mut words = says::numbers(period);
    words.push_str(&talked(db, window)?);
    words.push_str(&tools(db, window, names)?);
    for used in db.activity().skills_between(scope, from, to)? {
        if names.skills.contains(&used.skill) {
            words.push_str(&says::skill_read(&used.skill, used.times));
        }
    }
    for (reason, count) in db.activity().unanswered_between(person, from, to)? {
        words.push_str(&says::unanswered(&reason, count));
    }
    let models = db.activity().models_between(scope, from, to)?;
    words.push_str(&says::models(models.calls, models.failed, models.input, models.output));
    for (kind, count) in db.activity().work_between(person, from, to)? {
        words.push_str(&says::scheduled(&kind, count));
    }
    Ok(words)
}

fn talked(db: Db<'_>, window: Window) -> anyhow::Result<String> {
    let said = db.activity().messages_between(window.person, window.from, window.to)?;
    let mut conversations = Vec::new();
    for id in &said {
        conversations.extend(db.messages().message(*id)?.and_then(|message| message.conversation));
    }
    conversations.dedup();
    Ok(says::talked(said.len(), conversations.len()))
}

fn tools(db: Db<'_>, window: Window, names: &Names) -> anyhow::Result<String> {
    let mut words = String::new();
    let (mut calls, mut failed) = (0_u32, 0_u32);
    for used in db.activity().tools_between(Scope::Person(window.person), window.from, window.to)? {
        if names.tools.contains(&used.tool) {
            words.push_str(&says::tool(&used.tool, used.calls, used.failed));
        } else {
            calls = calls.saturating_add(used.calls);
            failed = failed.saturating_add(used.failed);
        }
    }
    if calls > 0 {
        words.push_str(&says::other_tools(calls, failed));
    }
    Ok(words)
}
