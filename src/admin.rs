//! Every operator command, once: chat, the command line and the local socket all end here.
//!
//! Each command is a function that reads or writes the journal and gives an [`Answer`]: Markdown for a person on a phone, JSON for
//! a program, and the label of what it was made from. Who may give which command is decided in [`Admin::chat`]; the command line
//! of the home is the owner's. Every command may be run twice, because one that was cut off is.

pub mod command;
mod line;

use std::sync::Arc;

use crate::engine::Engine;
use crate::message::Health;
use crate::people::Person;
use crate::spend::Ledger;
use crate::store::Journal;
use crate::time::{Clock, Zone};
use crate::trust::Label;

/// Who gives a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The person.
    pub person: Person,
    /// Whether nobody else reads the answer.
    pub private: bool,
}

/// What a command has to say.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// For a person.
    pub markdown: String,
    /// The join of all that it shows.
    pub label: Label,
    /// For a program, in the fields that the contract promises.
    pub json: serde_json::Value,
    /// Whether it did not do what was asked.
    pub failed: bool,
}

/// How the adapters are.
pub trait HealthSource: Send + Sync {
    /// Each adapter by its name.
    fn adapters(&self) -> Vec<(String, Health)>;
}

/// What it takes.
pub struct Parts {
    /// The journal.
    pub journal: Journal,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The zone in which times are shown and days counted.
    pub zone: Zone,
    /// The engine.
    pub engine: Arc<Engine>,
    /// What is left of the budget.
    pub ledger: Arc<Ledger>,
    /// The assistant's name.
    pub agent: String,
    /// The program's version.
    pub version: String,
    /// How the adapters are.
    pub health: Arc<dyn HealthSource>,
}

/// Runs commands.
pub struct Admin {
    parts: Parts,
}

impl Admin {
    /// With these.
    pub fn new(parts: Parts) -> Self {
        Self { parts }
    }

    /// Answers a line of chat that begins with a slash.
    pub async fn chat(&self, _caller: &Caller, _text: &str) -> Answer {
        Answer { markdown: crate::wording::command::FAILED.to_owned(), label: Label::trusted(), json: serde_json::Value::Null, failed: true }
    }
}
