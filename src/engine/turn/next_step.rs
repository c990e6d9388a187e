//! What comes next in a turn, derived from its stored steps.

use crate::engine::record::calls_of;
use crate::model::ToolCall;
use crate::store::{StepKind, StepRow};

/// A call of the last reply that has no result yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingCall {
    /// Position of its step within the turn.
    pub seq: u32,
    /// The call.
    pub call: ToolCall,
    /// True if it was begun before an interruption.
    pub begun: bool,
}

/// The next step, derived from the stored steps.
pub(super) enum NextStep {
    AskModel { seq: u32 },
    CallTools(Vec<PendingCall>),
    Finished,
}

/// Returns the next step.
pub(super) fn next(steps: &[StepRow]) -> NextStep {
    let next_seq = steps.last().map_or(0, |step| step.seq + 1);
    let Some(position) = steps.iter().rposition(|step| step.kind == StepKind::Model) else {
        return NextStep::AskModel { seq: next_seq };
    };
    let Some(last_model) = steps.get(position) else { return NextStep::AskModel { seq: next_seq } };
    if !last_model.done {
        return NextStep::AskModel { seq: last_model.seq };
    }
    let calls = calls_of(last_model);
    if calls.is_empty() {
        return NextStep::Finished;
    }
    let step_of = |seq: u32| steps.iter().find(|step| step.seq == seq);
    let calls = (last_model.seq + 1..).zip(calls);
    let pending: Vec<PendingCall> = calls
        .filter(|(seq, _)| step_of(*seq).is_none_or(|step| !step.done))
        .map(|(seq, call)| PendingCall { seq, call, begun: step_of(seq).is_some() })
        .collect();
    if pending.is_empty() { NextStep::AskModel { seq: next_seq } } else { NextStep::CallTools(pending) }
}
