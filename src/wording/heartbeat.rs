//! Prompt of the heartbeat, which works through `HEARTBEAT.md`.

use super::ProgramText;

/// Answer of the model when there is nothing to report.
pub const NOTHING: &str = "HEARTBEAT_OK";

/// Introduction to the file.
pub fn look(due: &str) -> ProgramText {
    ProgramText::message(format!(
        "This is a heartbeat, {due}: nobody wrote, and nobody reads along, so ask nothing. Below stands HEARTBEAT.md, which the owner keeps by \
         hand. Do what it asks for as far as it is due now; what is ticked is done already. Then answer with what the owner has to hear, and with \
         nothing else: your answer is sent to them. If there is nothing that they have to hear, answer {NOTHING} alone."
    ))
}
