//! Assembles an answer from the pieces of a stream, or from the single piece of a server that does
//! not stream.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::REASONING;

use crate::model::wire::{self, Finish};
use crate::model::{ModelError, ModelInfo, Reply, Request, StreamSink, ToolCall, Usage};

/// Maximum number of tool calls in one answer.
const MAX_CALLS: usize = 128;

/// The answer so far.
#[derive(Debug, Default)]
pub(super) struct ReplyDraft {
    text: String,
    calls: Vec<DraftCall>,
    finish: Option<String>,
    usage: Usage,
    /// Thinking outside of the text, by field.
    reasoning: Map<String, Value>,
    size: usize,
    over: bool,
}

/// A call so far.
#[derive(Debug, Default)]
struct DraftCall {
    /// The server's number of the call, if it gives one.
    index: Option<u64>,
    call: ToolCall,
}

impl DraftCall {
    /// Returns whether a piece with the same number begins another call. Ollama and several proxies
    /// of Gemini give all parallel calls the number 0.
    fn is_followed_by(&self, piece: &CallPiece) -> bool {
        let given = piece.id.as_deref().unwrap_or_default();
        let has_other_id = !given.is_empty() && !self.call.id.is_empty() && given != self.call.id;
        let function = piece.function.as_ref();
        let begins = match function.and_then(|function| function.arguments.as_ref()) {
            Some(Value::String(text)) => text.trim_start().starts_with('{'),
            Some(Value::Object(_)) => true,
            _ => false,
        };
        let is_named_again =
            function.and_then(|function| function.name.as_deref()).is_some_and(|name| !name.is_empty());
        let is_complete = || serde_json::from_str::<serde_json::Map<String, Value>>(&self.call.arguments).is_ok();
        has_other_id || (begins || is_named_again && !self.call.name.is_empty()) && is_complete()
    }
}

/// Reason why a piece cannot be part of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DraftError {
    /// Error reported by the server within the stream, verbatim.
    ServerError(String),
    /// Malformed piece, or an answer above the size limits.
    Unreadable,
}

impl ReplyDraft {
    /// Adds one piece. New text is shown at once.
    pub(super) fn take(&mut self, piece: &str, live: &dyn StreamSink) -> Result<(), DraftError> {
        if piece.trim() == "[DONE]" {
            self.over = true;
            return Ok(());
        }
        self.size += piece.len();
        if self.size > wire::MAX_ANSWER {
            return Err(DraftError::Unreadable);
        }
        let chunk: Chunk = serde_json::from_str(piece).map_err(|_| DraftError::Unreadable)?;
        if chunk.error.is_some_and(|error| !error.is_null()) {
            return Err(DraftError::ServerError(piece.to_owned()));
        }
        if let Some(usage) = chunk.usage {
            self.usage = usage.into();
        }
        match chunk.choices.into_iter().next() {
            Some(choice) => self.take_choice(choice, live),
            None => Ok(()),
        }
    }

    /// Returns true if the server has sent a stop reason.
    pub(super) fn is_whole(&self) -> bool {
        self.over || self.finish.is_some()
    }

    /// Returns true if nothing more will follow.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// Returns the reply if the answer is complete.
    pub(super) fn finish(self, request: &Request, info: &ModelInfo) -> Result<Reply, ModelError> {
        if !self.is_whole() {
            return Err(ModelError::Cut);
        }
        let finish = self.finish.as_deref().map_or(Finish::Good, wire::finish);
        let stop = finish.stop(!self.calls.is_empty())?;
        let round = request.messages().len();
        // The id is unique in the conversation, even if the server gave none.
        let with_id = |(n, call): (usize, ToolCall)| match call.id.as_str() {
            "" => ToolCall { id: format!("call_{round}_{n}"), ..call },
            _ => call,
        };
        let mut calls: Vec<ToolCall> =
            self.calls.into_iter().map(|draft| draft.call).enumerate().map(with_id).collect();
        // Some servers want their thinking back with the calls that it led to.
        if let Some(first) = calls.first_mut().filter(|_| !self.reasoning.is_empty()) {
            let mut extra: Map<String, Value> = serde_json::from_str(&first.extra).unwrap_or_default();
            extra.extend(self.reasoning);
            first.extra = Value::Object(extra).to_string();
        }
        Ok(Reply::to(request, &self.text, calls, stop, self.usage, format!("{}/{}", info.provider, info.name)))
    }

    fn take_choice(&mut self, choice: Choice, live: &dyn StreamSink) -> Result<(), DraftError> {
        let delta = choice.delta.or(choice.message).unwrap_or_default();
        for words in [delta.content.map(|content| content.into_text()), delta.refusal].into_iter().flatten() {
            if !words.is_empty() {
                live.append(&words);
                self.text.push_str(&words);
            }
        }
        for (field, piece) in
            [delta.reasoning_content, delta.reasoning, delta.reasoning_details].into_iter().enumerate()
        {
            if let (Some(piece), Some(field)) = (piece, REASONING.get(field)) {
                self.think(field, piece);
            }
        }
        for call in delta.tool_calls {
            self.take_call(call)?;
        }
        if let Some(finish) = choice.finish_reason.filter(|finish| !finish.is_empty()) {
            self.finish = Some(finish);
        }
        Ok(())
    }

    /// Adds a piece of thinking: text to text, and the items of a list to the list.
    fn think(&mut self, field: &str, piece: Value) {
        match (self.reasoning.get_mut(field), piece) {
            (Some(Value::String(text)), Value::String(more)) => text.push_str(&more),
            (Some(Value::Array(items)), Value::Array(more)) => items.extend(more),
            (None, piece @ (Value::String(_) | Value::Array(_))) => {
                self.reasoning.insert(field.to_owned(), piece);
            }
            _ => {}
        }
    }

    /// Pieces of one call share an index. If a server gives none, they follow each other.
    fn take_call(&mut self, piece: CallPiece) -> Result<(), DraftError> {
        let is_same = |draft: &DraftCall| piece.index.is_none() || draft.index == piece.index;
        let at = self.calls.iter().rposition(is_same).filter(|at| {
            let known = self.calls.get(*at);
            known.is_some_and(|known| !known.is_followed_by(&piece))
        });
        let at = at.unwrap_or_else(|| {
            self.calls.push(DraftCall { index: piece.index, call: ToolCall::default() });
            self.calls.len() - 1
        });
        let Some(DraftCall { call, .. }) = self.calls.get_mut(at) else { return Err(DraftError::Unreadable) };
        if let Some(id) = piece.id.filter(|_| call.id.is_empty()) {
            call.id = id;
        }
        if let Some(function) = piece.function {
            if let Some(name) = function.name.filter(|_| call.name.is_empty()) {
                call.name = name;
            }
            match function.arguments {
                Some(Value::String(text)) => call.arguments.push_str(&text),
                Some(Value::Null) | None => {}
                Some(object) => call.arguments = object.to_string(),
            }
        }
        if let Some(extra) = piece.extra_content {
            call.extra = extra.to_string();
        }
        if self.calls.len() > MAX_CALLS { Err(DraftError::Unreadable) } else { Ok(()) }
    }
}

/// Only the text, the calls and the end decide about an answer: what else a server says in another
/// form than expected is left out.
#[derive(Deserialize)]
struct Chunk {
    #[serde(default, deserialize_with = "lenient_list")]
    choices: Vec<Choice>,
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<Counted>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<Delta>,
    message: Option<Delta>,
    #[serde(default, deserialize_with = "lenient")]
    finish_reason: Option<String>,
}

#[derive(Deserialize, Default)]
struct Delta {
    content: Option<ChunkContent>,
    #[serde(default, deserialize_with = "lenient")]
    refusal: Option<String>,
    #[serde(default, deserialize_with = "lenient_list")]
    tool_calls: Vec<CallPiece>,
    reasoning_content: Option<Value>,
    reasoning: Option<Value>,
    reasoning_details: Option<Value>,
}

/// Text, or the list of parts that some servers send instead.
#[derive(Deserialize)]
#[serde(untagged)]
enum ChunkContent {
    Text(String),
    Parts(Vec<RequestPart>),
}

impl ChunkContent {
    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Parts(parts) => parts.into_iter().filter_map(|part| part.text).collect(),
        }
    }
}

#[derive(Deserialize)]
struct RequestPart {
    #[serde(default, deserialize_with = "lenient")]
    text: Option<String>,
}

#[derive(Deserialize)]
struct CallPiece {
    #[serde(default, deserialize_with = "lenient")]
    index: Option<u64>,
    #[serde(default, deserialize_with = "lenient")]
    id: Option<String>,
    function: Option<Function>,
    extra_content: Option<Value>,
}

#[derive(Deserialize)]
struct Function {
    #[serde(default, deserialize_with = "lenient")]
    name: Option<String>,
    arguments: Option<Value>,
}

#[derive(Deserialize)]
struct Counted {
    #[serde(default, deserialize_with = "lenient_count")]
    prompt_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient_count")]
    completion_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient")]
    prompt_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default, deserialize_with = "lenient_count")]
    cached_tokens: Option<u64>,
}

/// Reads a value, or leaves out one of another form.
fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned>(from: D) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(from)?).ok())
}

/// Reads the items of a list that are objects; none of anything else.
fn lenient_list<'de, D: Deserializer<'de>, T: DeserializeOwned>(from: D) -> Result<Vec<T>, D::Error> {
    let Value::Array(items) = Value::deserialize(from)? else { return Ok(Vec::new()) };
    let objects = items.into_iter().filter(Value::is_object);
    objects.map(|item| serde_json::from_value(item).map_err(D::Error::custom)).collect()
}

/// Reads a number, also one that is written as text.
fn lenient_count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    })
}

impl From<Counted> for Usage {
    fn from(counted: Counted) -> Self {
        let cached = counted.prompt_tokens_details.and_then(|details| details.cached_tokens);
        let input = counted.prompt_tokens.unwrap_or(0);
        Self { input, cached: cached.unwrap_or(0).min(input), output: counted.completion_tokens.unwrap_or(0) }
    }
}
