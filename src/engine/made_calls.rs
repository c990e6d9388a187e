//! Calls of a turn that read something from outside, in the program's words.
//!
//! What such a turn says and what it passes to tools never reaches a summary, a fact or a
//! reflection. What it did must: else the next conversation does not know that a reminder is set.
//! So the program writes one line for each call from what it stored itself: the tool, the outcome,
//! and of a reminder or task its number, time and words, if these are the person's own.

use crate::id::TurnId;
use crate::store::{Db, ReminderRow, StepKind, StepRow};
use crate::time::Zone;
use crate::trust::{Labelled, Text};
use crate::wording::recurrence::recurrence;
use crate::wording::{self, Language, prompt};

/// Tools whose calls set or change a reminder or task.
const SETTING: [&str; 3] = ["remind", "schedule", "change_scheduled"];

/// Returns one line for each call of a turn that was made.
pub fn of_turn(db: Db<'_>, turn: TurnId, home: Zone) -> anyhow::Result<Vec<Text>> {
    let Some(row) = db.turns().turn(turn)? else { return Ok(Vec::new()) };
    let zone = db.people().zone_in(row.scope, home)?;
    let mut set = db.reminders().set_by(turn)?.into_iter();
    let steps = db.turns().steps(turn)?;
    let made = steps.iter().filter(|step| step.kind == StepKind::Tool && step.done && step.made);
    let line = |step: &StepRow| {
        let entry = SETTING.contains(&&*step.tool).then(|| set.next()).flatten();
        match entry.filter(|_| !step.failed) {
            Some(entry) => set_line(&entry, zone),
            None => wording::own(prompt::call_made(known_name(&step.tool), step.failed), row.scope),
        }
    };
    Ok(made.map(line).collect())
}

/// Returns the name of one of the program's own tools. The name of any other is its author's text.
fn known_name(tool: &str) -> Option<&str> {
    Some(tool).filter(|tool| !tool.contains("__"))
}

fn set_line(entry: &ReminderRow, zone: Zone) -> Text {
    let own = entry.own_text();
    let (words, label, scope) = own.open();
    let when = match (&entry.cron, entry.next_at) {
        (Some(cron), _) => recurrence(Language::ENGLISH, cron),
        (None, Some(at)) => zone.show(at),
        (None, None) => String::new(),
    };
    let kind = entry.kind.as_str();
    if label.is_trusted() {
        Labelled::new(prompt::own_entry_set(kind, entry.id, &when, words).into(), label.clone(), scope)
    } else {
        wording::own(prompt::entry_set(kind, entry.id, &when), scope)
    }
}
