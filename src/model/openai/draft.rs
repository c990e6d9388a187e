//! Assembles an answer from the pieces of a stream, or from the single piece of a server that does
//! not stream.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::model::{ModelError, ModelInfo, Reply, Request, Stop, StreamSink, ToolCall, Usage, wire};

/// Maximum number of tool calls in one answer.
const MAX_CALLS: usize = 128;

/// The answer so far.
#[derive(Debug, Default)]
pub(super) struct ReplyDraft {
    text: String,
    calls: BTreeMap<u64, ToolCall>,
    finish: Option<String>,
    usage: Usage,
    size: usize,
    over: bool,
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
        match chunk.choices.into_iter().flatten().next() {
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
        let stop = match self.finish.as_deref() {
            Some("content_filter") => return Err(ModelError::Refused),
            Some("length") => Stop::Length,
            _ if self.calls.is_empty() => Stop::End,
            _ => Stop::Tools,
        };
        let round = request.messages().len();
        // The id is unique in the conversation, even if the server gave none.
        let with_id = |(n, call): (usize, ToolCall)| match call.id.as_str() {
            "" => ToolCall { id: format!("call_{round}_{n}"), ..call },
            _ => call,
        };
        let calls = self.calls.into_values().enumerate().map(with_id).collect();
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
        for call in delta.tool_calls.into_iter().flatten() {
            self.take_call(call)?;
        }
        if let Some(finish) = choice.finish_reason.filter(|finish| !finish.is_empty()) {
            self.finish = Some(finish);
        }
        Ok(())
    }

    /// Pieces of one call share an index. If a server gives none, a new id begins a new call.
    fn take_call(&mut self, piece: CallPiece) -> Result<(), DraftError> {
        let index = piece.index.unwrap_or_else(|| self.index_for(piece.id.as_deref()));
        let call = self.calls.entry(index).or_default();
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

    fn index_for(&self, id: Option<&str>) -> u64 {
        let last = self.calls.last_key_value();
        match (last, id) {
            (None, _) => 0,
            (Some((index, call)), Some(id)) if !id.is_empty() && call.id != id => index.saturating_add(1),
            (Some((index, _)), _) => *index,
        }
    }
}

#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<Counted>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<Delta>,
    message: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize, Default)]
struct Delta {
    content: Option<ChunkContent>,
    refusal: Option<String>,
    tool_calls: Option<Vec<CallPiece>>,
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
    text: Option<String>,
}

#[derive(Deserialize)]
struct CallPiece {
    index: Option<u64>,
    id: Option<String>,
    function: Option<Function>,
    extra_content: Option<Value>,
}

#[derive(Deserialize)]
struct Function {
    name: Option<String>,
    arguments: Option<Value>,
}

#[derive(Deserialize)]
struct Counted {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
}

impl From<Counted> for Usage {
    fn from(counted: Counted) -> Self {
        let cached = counted.prompt_tokens_details.and_then(|details| details.cached_tokens);
        let input = counted.prompt_tokens.unwrap_or(0);
        Self { input, cached: cached.unwrap_or(0).min(input), output: counted.completion_tokens.unwrap_or(0) }
    }
}
