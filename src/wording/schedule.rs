//! Text about reflections on demand, the heartbeat and other scheduled work.

use std::time::Duration;

use super::language::{Language, say};
use super::review::Surface;
use super::{ProgramText, span};

/// Reply: reflections are disabled.
pub const OFF: &str = "Reflections are switched off: set enabled = true under [reflection] in the configuration and run `compline reload`.";

/// Reason for missed slots.
pub fn missed(periods: u32) -> String {
    match periods {
        1 => "It was due too long ago to be made up for.".to_owned(),
        many => format!("{many} of them were due too long ago to be made up for."),
    }
}

/// A day that is not over.
pub fn so_far(day: &str) -> String {
    format!("{day} so far")
}

/// Reply: the reflection has started.
pub fn begun(period: &str) -> String {
    format!("I am looking back on {period}. It takes a moment.")
}

/// Reply: the reflection is already running.
pub fn on_it(period: &str) -> String {
    format!("I am looking back on {period} already.")
}

/// Reply: the reflection is finished.
pub fn done(period: &str) -> String {
    format!("The reflection on {period} is done: `compline reflections list` shows it.")
}

/// There is nothing to reflect on.
pub fn quiet(period: &str) -> ProgramText {
    ProgramText::message(format!("Nothing was said in {period}, so there is nothing to look back on."))
}

/// Reply: the reflection continues in the background.
pub fn takes_long(period: &str) -> String {
    format!("Looking back on {period} is taking long. It continues while the gateway runs.")
}

/// Reply: the reflection failed.
pub fn failed(period: &str, reason: &str) -> String {
    format!("Looking back on {period} did not work. {reason}").trim_end().to_owned()
}

/// Reply: the reflection exists already.
pub fn done_already(job: &str, period: &str) -> String {
    format!(
        "{period} has a reflection already. To repeat it: `/reflect {job} {period} again`, or --again on the command line."
    )
}

/// Reply: the period is not over yet.
pub fn not_over(period: &str) -> String {
    format!("{period} is not over yet. `reflect daily today` looks back on today so far.")
}

/// Reply: the period is before the person's first access.
pub fn too_early(period: &str) -> String {
    format!("There is nothing from {period}: it was before you had access.")
}

/// Reply: invalid name of a period.
pub fn no_period(job: &str) -> String {
    let example = match job {
        "weekly" => "2026-W47",
        "monthly" => "2026-11",
        _ => "2026-11-20",
    };
    format!("That is not a valid period for {job}. Write it as {example}.")
}

/// Next slot of a job, in the status.
pub fn slot(language: Language, job: &str, at: &str) -> String {
    say!(language, "status-reflection", job = job, at = at)
}

/// Next slots, in the status; `None` if there are none.
pub fn slots(language: Language, slots: &[String]) -> Option<String> {
    (!slots.is_empty()).then(|| say!(language, "status-reflections", times = slots.join(" · ")))
}

/// An empty list of reflections.
pub const NO_REFLECTIONS: &str = "There are no reflections yet. The first comes after a day on which enough was said; `/reflect daily` or `compline reflect daily` makes one now.";

/// A reflection in the list.
pub fn reflection(
    id: crate::id::ReflectionId,
    job: &str,
    period: &str,
    title: &str,
    person: &str,
    at: &str,
    sources: &str,
) -> String {
    let mark = if sources.is_empty() { String::new() } else { format!(", with a part from {sources}") };
    format!("**{id}. {title}**\n{job} of {period}, for {person}, made {at}{mark}")
}

/// Error: unknown reflection.
pub fn no_such_reflection(wanted: &str, surface: Surface) -> String {
    format!("There is no reflection {wanted}. {} lists them.", surface.command("reflections", "reflections list"))
}

/// Answer of the model when there is nothing to report.
pub const NOTHING_TO_REPORT: &str = "HEARTBEAT_OK";

/// Introduction to the file.
pub fn heartbeat(due: &str) -> ProgramText {
    ProgramText::message(format!(
        "This is a heartbeat, {due}: nobody wrote, and nobody reads along, so ask nothing. Below stands HEARTBEAT.md, which the owner keeps, and in \
         <sent> what you told them in earlier heartbeats. Do what the file asks for as far as it is due now. A ticked box is done. When an item \
         with a box is done, tick it with `heartbeat_done`; a line without a box stands for good. Then answer with what the owner has to hear now, \
         and with nothing else: your answer is sent to them. Do not tell them again what stands in <sent>: a sentence that was sent before is left \
         out. If there is nothing new that they have to hear, answer {NOTHING_TO_REPORT} alone: an answer that begins or ends with this word is \
         not sent."
    ))
}

/// Pace of a heartbeat, below its next run.
pub fn heartbeat_pace(interval: Duration) -> String {
    format!(
        "HEARTBEAT.md is checked every {}, except in quiet hours. A model reads it at this time, or sooner if anything changes.",
        span(interval)
    )
}

/// Heartbeat of an owner, in the status.
pub fn heartbeat_status(language: Language, person: &str, last: Option<&str>, next: Option<&str>) -> String {
    let last = match last {
        Some(at) => say!(language, "status-heartbeat-ran", at = at),
        None => say!(language, "status-heartbeat-new"),
    };
    let next = match next {
        Some(at) => say!(language, "status-heartbeat-next", at = at),
        None => say!(language, "status-heartbeat-idle"),
    };
    say!(language, "status-heartbeat", person = person, last = last, next = next)
}
