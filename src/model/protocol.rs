//! The protocols of model servers. Each writes a request as a body, and reads the pieces of an
//! answer; all else is common to them ([`super::client`]).
//!
//! A library would know more providers. It cannot keep the promises that an answer is whole or none
//! and that a server's words reach no log: what there is ends a broken-off stream like a whole one,
//! takes words off a model's name, and prints the conversation in its errors.

pub(super) mod chat_completions;
pub(super) mod gemini;
pub(super) mod messages;
pub(super) mod ollama;
pub(super) mod responses;

use reqwest::RequestBuilder;
use serde_json::{Map, Value};
use url::Url;

use super::draft::{DraftError, GIVER, ReplyDraft};
use super::learned::{Field, Learned};
use super::request::{AnswerFormat, RequestPart, ToolSpec};
use super::turns::{self, MarkedPart, Turn};
use super::{ModelInfo, Request, wire};

/// How one protocol asks and answers.
pub(super) trait Protocol: Send + Sync {
    /// Returns the address of a call to that model.
    fn url(&self, base: &Url, model: &str) -> anyhow::Result<Url>;

    /// Adds the key to a call, if there is one.
    fn with_key(&self, post: RequestBuilder, key: &str) -> RequestBuilder {
        wire::with_key(post, key)
    }

    /// Fields that each body has and that not every server takes.
    fn fields(&self) -> &'static [Field] {
        &[]
    }

    /// Writes the body of a call, which asks for a stream.
    fn body(&self, call: &Call<'_>) -> Value;

    /// Adds a piece of an answer, or the whole of one from a server that does not stream. `kind` is the
    /// type of its event, if there is one. Only the text, the calls and the end decide about an answer:
    /// what else a server says in another form than expected is left out.
    fn read(&self, kind: &str, piece: Value, draft: &mut ReplyDraft<'_>) -> Result<(), DraftError>;

    /// Adds the data of an event of that type.
    fn take(&self, kind: &str, data: &str, draft: &mut ReplyDraft<'_>) -> Result<(), DraftError> {
        if data.trim() == "[DONE]" {
            draft.is_over = true;
            return Ok(());
        }
        draft.grow(data.len())?;
        self.take_piece(kind, serde_json::from_str(data).map_err(|_| DraftError::Unreadable)?, draft)
    }

    /// Adds a piece, or each of a list of pieces.
    fn take_piece(&self, kind: &str, piece: Value, draft: &mut ReplyDraft<'_>) -> Result<(), DraftError> {
        match piece {
            Value::Array(pieces) => pieces.into_iter().try_for_each(|piece| self.take_piece(kind, piece, draft)),
            piece if piece.get("error").is_some_and(|error| !error.is_null()) => {
                Err(DraftError::ServerError(piece.to_string()))
            }
            piece if piece.is_object() => self.read(kind, piece, draft),
            _ => Err(DraftError::Unreadable),
        }
    }
}

/// What a call asks for, of a server about which something is known.
pub(super) struct Call<'a> {
    pub(super) request: &'a Request,
    pub(super) info: &'a ModelInfo,
    pub(super) learned: &'a Learned,
    /// The configured temperature.
    pub(super) temperature: Option<f64>,
}

impl<'a> Call<'a> {
    fn turns(&self) -> Vec<Turn> {
        turns::of(self.request, self.learned)
    }

    fn tools(&self) -> impl Iterator<Item = &'a ToolSpec> {
        turns::tools(self.request, self.learned)
    }

    fn output_limit(&self) -> u64 {
        self.learned.output_limit(self.request, self.info)
    }

    fn temperature(&self) -> Option<f64> {
        self.temperature.filter(|_| self.learned.sends(Field::Temperature))
    }

    /// Returns the JSON Schema of the answer. Servers that constrain an answer by a grammar cannot let
    /// it call tools as well.
    fn schema(&self) -> Option<Value> {
        let AnswerFormat::Json(schema) = self.request.format() else { return None };
        let is_sent = self.learned.sends(Field::JsonMode) && self.tools().next().is_none();
        is_sent.then(|| serde_json::from_str(schema).ok()).flatten()
    }

    /// Returns what came with a call and goes back with it, by field. Only to the model that gave it:
    /// others refuse it.
    fn kept(&self, part: &RequestPart) -> Map<String, Value> {
        let RequestPart::Call { extra, .. } = part else { return Map::new() };
        let Ok(Value::Object(mut kept)) = serde_json::from_str(extra) else { return Map::new() };
        let giver = kept.remove(GIVER);
        let is_own = giver.is_some_and(|giver| giver == self.info.full_name());
        if is_own && self.learned.sends(Field::Reasoning) { kept } else { Map::new() }
    }

    /// Returns the field of that name that came with the calls of a turn.
    fn kept_in(&self, turn: &Turn, field: &str) -> Option<Value> {
        turn.parts.iter().find_map(|marked_part| self.kept(&marked_part.part).remove(field))
    }
}

/// Texts of a turn as one.
fn text_of(parts: &[MarkedPart]) -> String {
    let text = |marked_part: &MarkedPart| match &marked_part.part {
        RequestPart::Text(text) => Some(text.to_string()),
        _ => None,
    };
    parts.iter().filter_map(text).collect::<Vec<_>>().join("\n\n")
}

/// Adds a field to an object.
fn set(object: &mut Value, key: &str, value: impl Into<Value>) {
    if let Value::Object(object) = object {
        object.insert(key.to_owned(), value.into());
    }
}

/// Returns a text field; empty if it is anything else.
fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a number, also one that is written as text.
fn count(value: &Value, pointer: &str) -> Option<u64> {
    match value.pointer(pointer)? {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Returns the items of a list; none of anything else.
fn items<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    value.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

/// Takes an object's field.
fn take(value: &mut Value, field: &str) -> Value {
    value.get_mut(field).map(Value::take).unwrap_or_default()
}
