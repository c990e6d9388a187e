//! `compline reflections`: the list, and one reflection in full with the outcomes of its proposals.

use crate::admin::JobsAdmin;
use serde_json::{Value, json};

use super::answer::{Answer, ShownLabel, plain, sources, sources_in_words};
use crate::id::ReflectionId;
use crate::reflection::{outcome, render};
use crate::store::{ActionRow, Db, ReflectionRow};
use crate::trust::{Scope, Text};
use crate::wording::schedule as says;

/// One action with its outcome.
struct ActionOutcome {
    action: ActionRow,
    outcome: String,
}

/// A reflection, as listed.
struct ReflectionItem {
    row: ReflectionRow,
    person: String,
    actions: Vec<ActionOutcome>,
}

impl JobsAdmin<'_> {
    /// The latest reflections, newest first.
    pub(super) async fn reflections(&self, limit: u32) -> anyhow::Result<Answer> {
        let all: Vec<ReflectionItem> = self
            .journal
            .read_much(move |db| {
                db.reflections().reflections(None, limit)?.into_iter().map(|row| describe(db, row)).collect()
            })
            .await?;
        if all.is_empty() {
            return Ok(Answer::ours(says::NO_REFLECTIONS, json!([])));
        }
        let mut shown = ShownLabel::nothing();
        let mut lines = Vec::new();
        for told in &all {
            shown.also(&told.row.label);
            let at = self.zone.show_short(told.row.at);
            let from = sources_in_words(&told.row.label);
            let row = &told.row;
            lines.push(says::reflection(row.id, &row.job, &row.period, &plain(&row.title), &told.person, &at, &from));
        }
        let json: Value = all.iter().map(fields).collect();
        Ok(Answer::showing(shown, lines.join("\n\n"), json))
    }

    /// One reflection, by its number or by the name of its period.
    pub(super) async fn reflection(&self, wanted: &str) -> anyhow::Result<Answer> {
        let named = wanted.to_uppercase();
        let found: Option<(ReflectionItem, Text)> = self
            .journal
            .read_much(move |db| {
                let row = match named.parse() {
                    Ok(id) => db.reflections().reflection(ReflectionId(id))?,
                    Err(_) => of_period(db, &named)?,
                };
                row.map(|row| Ok((describe(db, row.clone())?, render::page(db, &row)?))).transpose()
            })
            .await?;
        let Some((told, page)) = found else { return Ok(Answer::refusal(says::no_such_reflection(&plain(wanted)))) };
        let mut shown = ShownLabel::nothing();
        let words = shown.words(&page).to_string();
        let mut json = fields(&told);
        if let Value::Object(fields) = &mut json {
            fields.insert("markdown".to_owned(), json!(words));
        }
        Ok(Answer::showing(shown, words, json))
    }
}

/// The newest reflection of that period, of the first person who has one: owners come first,
/// because they were known first.
fn of_period(db: Db<'_>, period: &str) -> anyhow::Result<Option<ReflectionRow>> {
    for person in db.people().people()? {
        if let Some(row) = db.reflections().reflection_on(Scope::Person(person.id), period)? {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

fn describe(db: Db<'_>, row: ReflectionRow) -> anyhow::Result<ReflectionItem> {
    let person = match row.scope {
        Scope::Person(person) => db.people().person(person)?.map(|person| person.name),
        _ => None,
    };
    let mut actions = Vec::new();
    for action in db.reflections().actions_of(row.id)? {
        let outcome = outcome::describe(db, &action)?;
        actions.push(ActionOutcome { action, outcome });
    }
    Ok(ReflectionItem {
        person: person.unwrap_or_else(|| crate::wording::command::REMOVED_PERSON.to_owned()),
        row,
        actions,
    })
}

fn fields(told: &ReflectionItem) -> Value {
    let row = &told.row;
    let actions: Value = told.actions.iter().map(action).collect();
    json!({
        "id": row.id,
        "kind": row.job,
        "person": told.person,
        "period": row.period,
        "from": row.from.rfc3339(),
        "to": row.to.rfc3339(),
        "at": row.at.rfc3339(),
        "title": row.title,
        "tainted": !row.label.is_trusted(),
        "sources": sources(&row.label),
        "actions": actions,
    })
}

fn action(became: &ActionOutcome) -> Value {
    let action = &became.action;
    json!({
        "kind": outcome::known_kind(action),
        "title": action.title,
        "state": action.state.as_str(),
        "outcome": became.outcome,
        "proposal": action.proposal,
    })
}
