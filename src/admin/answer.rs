//! The answer of a command, and its label.
//!
//! This is the only file of the folder that opens labelled text: code that shows a text gets it
//! from [`ShownLabel::words`], and the text's label becomes part of the answer's. An answer that
//! shows no labelled text consists of the program's own words.

use serde::Serialize;
use serde_json::{Value, json};

use crate::id::AddressId;
use crate::people::Address;
use crate::review::reveal::reveal;
use crate::store::is_full;
use crate::text::cut_bytes;
pub(super) use crate::text::escape_markdown as plain;
use crate::time::{Timestamp, Zone};
use crate::trust::{Label, Labelled, Scope, Text};
use crate::wording::command as says;
use crate::wording::memory;
use crate::wording::review::Surface;
use crate::wording::{Language, ProgramText};

/// The answer of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Text for a person.
    pub markdown: String,
    /// The join of the labels of everything shown.
    pub label: Label,
    /// Data for a program, with the fields that the contract promises.
    pub json: Value,
    /// True if the command did not do its task.
    pub failed: bool,
    /// Buttons below the text: title and command.
    pub buttons: Vec<(String, String)>,
    /// File that is sent as well; in the chat where it arrives, nothing else is said.
    pub file: Option<AnswerFile>,
}

/// A file of the workspace that answers a command.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerFile {
    /// Chat that it is sent to.
    pub address: AddressId,
    /// Text that it comes with.
    pub words: ProgramText,
    /// Path relative to the workspace.
    pub path: String,
    /// SHA-256 of its content.
    pub digest: String,
}

impl Answer {
    /// An answer in the program's own words.
    pub(super) fn ours(markdown: impl Into<String>, json: Value) -> Self {
        Self::showing(ShownLabel::nothing(), markdown, json)
    }

    /// An answer that shows labelled texts.
    pub(super) fn showing(shown: ShownLabel, markdown: impl Into<String>, json: Value) -> Self {
        Self { markdown: markdown.into(), label: shown.0, json, failed: false, buttons: Vec::new(), file: None }
    }

    /// The answer that renders the result of a query.
    pub(super) fn rendering(result: &dyn Render, context: &RenderContext<'_>) -> Self {
        let mut shown = ShownLabel::nothing();
        let json = result.json(context, &mut shown);
        let markdown = result.markdown(context, &mut shown);
        Self::showing(shown, markdown, json).with_buttons(result.buttons(context))
    }

    /// A refusal, with the reason in one sentence.
    pub fn refusal(sentence: impl Into<String>) -> Self {
        let sentence = sentence.into();
        let json = json!({ "error": sentence });
        Self { failed: true, ..Self::ours(sentence, json) }
    }

    /// A failure, described by the action left to the person.
    pub(super) fn failure(language: Language, error: &anyhow::Error) -> Self {
        let sentence = if is_full(error) { says::NO_ROOM } else { says::FAILED };
        Self::refusal(sentence.in_language(language))
    }

    /// A refusal whose reason shows labelled texts.
    pub(super) fn refusal_showing(shown: ShownLabel, sentence: impl Into<String>) -> Self {
        Self { label: shown.0, ..Self::refusal(sentence) }
    }

    /// Adds buttons to the answer.
    pub(super) fn with_buttons(self, buttons: Vec<(String, String)>) -> Self {
        Self { buttons, ..self }
    }
}

/// Data that every rendering may need.
#[derive(Debug, Clone, Copy)]
pub(super) struct RenderContext<'a> {
    /// The assistant's name.
    pub(super) agent: &'a str,
    /// The zone in which times are shown.
    pub(super) zone: Zone,
    /// The time of the command.
    pub(super) now: Timestamp,
    /// Surface on which the reader types commands, with their language.
    pub(super) surface: Surface,
}

/// Maximum size, in bytes, of a text shown in full in a chat.
const IN_CHAT: usize = 60_000;

impl RenderContext<'_> {
    /// The part of a text that its reader's surface shows, and the remark if it is cut.
    pub(super) fn fitting<'a>(&self, words: &'a str) -> (&'a str, Option<String>) {
        let part = if self.surface.is_chat() { cut_bytes(words, IN_CHAT) } else { words };
        let is_cut = part.len() < words.len();
        (part, is_cut.then(|| memory::CUT.in_language(self.language()).into_string()))
    }

    /// The same in English, for what only owners read.
    pub(super) fn in_english(&self) -> Self {
        Self { surface: self.surface.in_english(), ..*self }
    }

    /// The language of the reader.
    pub(super) fn language(&self) -> Language {
        self.surface.language()
    }

    /// Formats a time that is over: `18:05`, `yesterday 18:05`, `Thu 26 Nov, 18:05`.
    pub(super) fn near(&self, at: Timestamp) -> String {
        self.language().near(self.zone, at, self.now)
    }

    /// Formats a time to come: `today 18:30`, `tomorrow 09:00`, `Monday 09:00`.
    pub(super) fn upcoming(&self, at: Timestamp) -> String {
        self.language().to_come(self.zone, at, self.now)
    }
}

/// The typed result of a query, rendered as Markdown for people and as JSON for programs.
///
/// Both renderings add the label of each labelled text that they show.
pub(super) trait Render {
    /// Text for a person.
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String;

    /// Data for a program, with the fields that the contract promises.
    fn json(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> Value;

    /// Buttons below the text: title and command.
    fn buttons(&self, _context: &RenderContext<'_>) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// The reason why a command ended early.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The command is refused with this answer.
    #[error("refused")]
    Refused(Box<Answer>),
    /// The command failed.
    #[error(transparent)]
    Failed(#[from] anyhow::Error),
}

impl CommandError {
    /// Returns the answer of a refused command.
    pub fn into_answer(self) -> anyhow::Result<Answer> {
        match self {
            Self::Refused(answer) => Ok(*answer),
            Self::Failed(error) => Err(error),
        }
    }
}

impl From<Answer> for CommandError {
    fn from(answer: Answer) -> Self {
        Self::Refused(Box::new(answer))
    }
}

/// The join of the labels shown so far.
#[derive(Debug, Clone)]
pub(super) struct ShownLabel(Label);

impl ShownLabel {
    pub(super) fn nothing() -> Self {
        Self(Label::neutral())
    }

    pub(super) fn of(label: &Label) -> Self {
        Self(label.clone())
    }

    /// Returns the bare value to show, and adds its label to the answer's.
    pub(super) fn words<'a, T>(&mut self, text: &'a Labelled<T>) -> &'a T {
        let (value, label, _) = text.open();
        self.0.absorb(label);
        value
    }

    /// Returns a text that shows all of it.
    pub(super) fn text(self, words: String, scope: Scope) -> Text {
        Labelled::new(words.into(), self.0, scope)
    }

    /// Adds the label of other shown data.
    pub(super) fn also(&mut self, label: &Label) {
        self.0.absorb(label);
    }
}

/// Joins labels whose texts are not shown, apart from their sources.
pub(super) fn join<'a>(labels: impl Iterator<Item = &'a Label>) -> Label {
    Label::join_of(labels)
}

/// Foreign text for a person, with hidden characters made visible.
pub(super) fn visible_line(words: &str) -> String {
    plain(&reveal(words))
}

/// An address, for a person.
pub(super) fn address_in_words(address: &Address) -> String {
    plain(&says::address(&address.adapter, &address.peer))
}

/// The sources of a label, for a program.
pub(super) fn sources(label: &Label) -> Value {
    label.sources().map(|source| json!(source.as_str())).collect()
}

/// An object with further fields, which replace fields of the same name.
pub(super) fn with_fields(object: impl Serialize, further: Value) -> Value {
    match (json!(object), further) {
        (Value::Object(mut fields), Value::Object(further)) => {
            fields.extend(further);
            Value::Object(fields)
        }
        (object, _) => object,
    }
}

/// An amount of money, for a program.
pub(super) fn amount(micros: u64) -> Value {
    // The text is exact, and the nearest number prints as the same text.
    let whole = micros / 1_000_000;
    format!("{whole}.{:06}", micros % 1_000_000).parse::<f64>().map_or(Value::Null, |amount| json!(amount))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trust::{Scope, Source};

    #[test]
    fn displayed_text_labels_the_answer() {
        let mut shown = ShownLabel::nothing();
        let ours = Labelled::new("a", Label::trusted(), Scope::Shared);
        assert_eq!(*shown.words(&ours), "a");
        assert!(Answer::showing(shown.clone(), "a", json!(null)).label.is_trusted());
        let theirs = Labelled::new("b", Label::untrusted(Source::web("example.org")), Scope::Shared);
        shown.words(&theirs);
        assert_eq!(Answer::showing(shown, "b", json!(null)).label, Label::untrusted(Source::web("example.org")));
    }

    #[test]
    fn amounts() {
        assert_eq!(amount(12_300).to_string(), "0.0123");
        assert_eq!(amount(5_000_000).to_string(), "5.0");
    }
}
