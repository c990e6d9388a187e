//! All program text that people and models read, in one place.
//!
//! Short and plain: what happened, and what to do. The assistant's program speaks in the first
//! person. Nothing here makes a decision.

pub mod access; // people, pairing codes, roles
pub mod agent_memory; // the agent's own memory in a prompt
pub mod attachments; // files in and out
pub mod channel; // Telegram, Signal, terminal
pub mod chat; // the interactive chat
pub mod cli; // the command line
pub mod command; // /help, lists, errors of commands
pub mod doctor; // what has to be fixed, and how
pub mod erasure_plan; // what /forget would delete
pub mod files; // /files, /file
pub mod gateway; // admission and delivery: strangers, limits, waits
pub mod heartbeat; // items of HEARTBEAT.md
pub mod import; // archives of other programs
pub mod knowledge; // results of the knowledge tools
pub mod language; // languages of people, and the catalogue of their sentences
pub mod learned; // what was learned of the models' servers
pub mod memory; // /memory, /remember, /promote
pub mod offline; // the offline model
pub mod open_items; // /open
pub mod page; // the page in the browser
pub mod personal_data; // export and /forget
pub mod prompt; // system prompt, frames around texts
pub mod recurrence; // what comes again and again, in words
pub mod reflection; // reflections and their notices
pub mod reminder; // reminders and tasks
pub mod restore; // backup and restore
pub mod review; // proposals: lists and decisions
pub mod schedule; // heartbeat, reflections on demand
pub mod search; // search and embeddings
pub mod settings; // /settings
pub mod skill; // skills and the notices about them
pub mod standby; // a second machine
pub mod tool; // results and errors of tools
pub mod trust;
pub mod turn; // a turn that cannot be answered
pub mod typed; // what people type that the program understands
pub mod upkeep; // retention, disk, backups
pub mod why; // /why

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use chrono::{Datelike, Month, NaiveDate};

use crate::trust::{Label, Labelled, Scope, Text};
pub use language::{Language, Locale, Sentence};

/// Text written by the program: a constant, or a message formatted by a function of this catalogue.
/// Nothing else converts to it, so other strings cannot become trusted as program text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramText(Cow<'static, str>);

impl ProgramText {
    /// Wraps a formatted message. Only modules of the catalogue can call it.
    fn message(words: String) -> Self {
        Self(Cow::Owned(words))
    }

    /// Returns the text for printing.
    pub fn into_string(self) -> String {
        self.0.into_owned()
    }
}

impl From<ProgramText> for String {
    fn from(text: ProgramText) -> Self {
        text.into_string()
    }
}

impl From<&'static str> for ProgramText {
    fn from(words: &'static str) -> Self {
        Self(Cow::Borrowed(words))
    }
}

impl Deref for ProgramText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// Labels the program's own text as trusted, in `scope`.
///
/// ```
/// # use compline::{id::PersonId, trust::Scope, wording};
/// let text = wording::own("Good morning", Scope::Person(PersonId(1)));
/// assert!(text.label().is_trusted());
/// ```
///
/// Proves: trust/every-check
///
/// Text from another source does not convert:
///
/// ```compile_fail,E0277
/// # use compline::{id::PersonId, trust::Scope, wording};
/// # let from_outside = String::from("words of a page");
/// let text = wording::own(format!("{from_outside}"), Scope::Person(PersonId(1)));
/// ```
pub fn own(words: impl Into<ProgramText>, scope: Scope) -> Text {
    Labelled::new(Arc::from(&*words.into()), Label::neutral(), scope)
}

/// Formats a duration in English: `40 seconds`, `3 hours`.
pub fn span(span: Duration) -> String {
    Language::ENGLISH.span(span)
}

/// Formats an amount in micro-units with two to four decimals.
pub fn money(micros: u64) -> String {
    let (whole, rest) = (micros / 1_000_000, micros % 1_000_000);
    if rest.is_multiple_of(10_000) {
        format!("{whole}.{:02}", rest / 10_000)
    } else {
        format!("{whole}.{:04}", rest / 100)
    }
}

/// Formats a date in English: `26 November 2026`.
pub fn date(day: NaiveDate) -> String {
    let month = u8::try_from(day.month()).ok().and_then(|month| Month::try_from(month).ok());
    format!("{} {} {}", day.day(), month.map_or("", |month| month.name()), day.year())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_in_words() {
        let cases =
            [(1, "1 second"), (89, "89 seconds"), (120, "2 minutes"), (6 * 3600, "6 hours"), (3 * 86_400, "3 days")];
        for (seconds, words) in cases {
            assert_eq!(span(Duration::from_secs(seconds)), words);
        }
    }

    #[test]
    fn money_is_exact() {
        assert_eq!(money(5_000_000), "5.00");
        assert_eq!(money(12_340), "0.0123");
    }
}
