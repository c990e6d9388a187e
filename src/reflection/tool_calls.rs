//! Tool calls of a turn, in short.
//!
//! Only calls of a turn that read nothing from outside are written: the arguments of a later call
//! may repeat what an earlier one gave.

use std::sync::Arc;

use crate::id::TurnId;
use crate::model::ToolCall;
use crate::store::{Db, StepKind, StepRow};
use crate::text::{one_line, shorten};
use crate::tool::skills::loaded_skill;
use crate::trust::{Labelled, Text};
use crate::wording::reflection as says;

/// Maximum number of calls of one turn.
const CALLS: usize = 12;
/// Maximum number of characters of the arguments, and of the result.
const PART: usize = 200;

/// Calls of a turn with the beginning of what each gave, in order; `None` if something from outside
/// had a part in the turn.
pub fn of_turn(db: Db<'_>, turn: TurnId) -> anyhow::Result<Option<Vec<Text>>> {
    let steps = db.turns().steps(turn)?;
    let calls: Vec<&StepRow> = steps.iter().filter(|step| step.kind == StepKind::Tool && step.done).collect();
    let label = db.turns().turn(turn)?.map(|row| row.label);
    let Some(label) = label.filter(|label| label.is_trusted()) else { return Ok(None) };
    let line = |step: &&StepRow| {
        let (gave, _, scope) = step.text.open();
        if let Some(name) = loaded_skill(step) {
            return Some(Labelled::new(Arc::from(says::skill_loaded(&name)), label.clone(), scope));
        }
        // The call of a deleted message is blank.
        let call: ToolCall = serde_json::from_str(&step.call).ok()?;
        let [arguments, gave] = [call.arguments.as_str(), gave].map(|words| shorten(&one_line(words), PART));
        let words = if step.made {
            says::called(&call.name, &arguments, &gave)
        } else {
            says::not_called(&call.name, &arguments, &gave)
        };
        // The label of a turn is the join over its steps.
        Some(Labelled::new(Arc::from(words), label.clone(), scope))
    };
    Ok(Some(calls.iter().take(CALLS).filter_map(line).collect()))
}
