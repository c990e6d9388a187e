//! Assembles an answer from the pieces of a stream, or from the single piece of a server that does
//! not stream.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::wire::{self, Finish};
use super::{ModelError, ModelInfo, Reply, Request, StreamSink, ToolCall, Usage};

/// Field of what is kept with a call: the model that gave it.
pub(super) const GIVER: &str = "model";
/// Maximum number of tool calls in one answer.
const MAX_CALLS: usize = 128;

/// The answer so far.
pub(super) struct ReplyDraft<'a> {
    live: &'a dyn StreamSink,
    text: String,
    calls: Vec<DraftCall>,
    finish: Option<String>,
    /// Token counts.
    pub(super) usage: Usage,
    /// What goes back to the server with the calls, by field.
    kept: Map<String, Value>,
    size: usize,
    /// True if nothing more will follow.
    pub(super) is_over: bool,
}

/// A call so far.
#[derive(Debug, Default)]
struct DraftCall {
    /// The server's number of the call, if it gives one.
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    extra: Map<String, Value>,
}

/// A piece of a call.
#[derive(Debug, Default)]
pub(super) struct CallPiece {
    /// The server's number of the call. If it gives none, pieces of a call follow each other.
    pub(super) index: Option<u64>,
    /// True if it is all of a call.
    pub(super) is_whole: bool,
    /// Id of the call.
    pub(super) id: Option<String>,
    /// Name of the tool.
    pub(super) name: Option<String>,
    /// A piece of the arguments as text, or all of them.
    pub(super) arguments: Option<Value>,
    /// What goes back to the server with this call, by field.
    pub(super) extra: Option<Value>,
}

impl DraftCall {
    /// Returns whether a piece with the same number begins another call. Ollama and several proxies
    /// of Gemini give all parallel calls the number 0.
    fn is_followed_by(&self, piece: &CallPiece) -> bool {
        let given = piece.id.as_deref().unwrap_or_default();
        let has_other_id = !given.is_empty() && !self.id.is_empty() && given != self.id;
        let begins = match &piece.arguments {
            Some(Value::String(text)) => text.trim_start().starts_with('{'),
            Some(Value::Object(_)) => true,
            _ => false,
        };
        let is_named_again = piece.name.as_deref().is_some_and(|name| !name.is_empty());
        let is_complete = || serde_json::from_str::<Map<String, Value>>(&self.arguments).is_ok();
        piece.is_whole || has_other_id || (begins || is_named_again && !self.name.is_empty()) && is_complete()
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

impl<'a> ReplyDraft<'a> {
    /// Begins an answer, whose text is shown as it comes.
    pub(super) fn new(live: &'a dyn StreamSink) -> Self {
        Self {
            live,
            text: String::new(),
            calls: Vec::new(),
            finish: None,
            usage: Usage::default(),
            kept: Map::new(),
            size: 0,
            is_over: false,
        }
    }

    /// Counts bytes that were read.
    pub(super) fn grow(&mut self, bytes: usize) -> Result<(), DraftError> {
        self.size += bytes;
        if self.size > wire::MAX_ANSWER { Err(DraftError::Unreadable) } else { Ok(()) }
    }

    /// Adds text.
    pub(super) fn say(&mut self, words: &str) {
        if !words.is_empty() {
            self.live.append(words);
            self.text.push_str(words);
        }
    }

    /// Keeps a piece of what goes back with the calls: text joins text, and items join a list.
    pub(super) fn keep(&mut self, field: &str, piece: Value) {
        match (self.kept.get_mut(field), piece) {
            (Some(Value::String(text)), Value::String(more)) => text.push_str(&more),
            (Some(Value::Array(items)), Value::Array(more)) => items.extend(more),
            (None, piece @ (Value::String(_) | Value::Array(_))) => {
                self.kept.insert(field.to_owned(), piece);
            }
            _ => {}
        }
    }

    /// Adds text to a field of the last item of a list that is kept.
    pub(super) fn extend_kept(&mut self, list: &str, field: &str, more: &str) {
        let last = self.kept.get_mut(list).and_then(Value::as_array_mut).and_then(|items| items.last_mut());
        if let Some(Value::Object(last)) = last.filter(|_| !more.is_empty()) {
            match last.get_mut(field) {
                Some(Value::String(text)) => text.push_str(more),
                _ => drop(last.insert(field.to_owned(), more.into())),
            }
        }
    }

    /// Adds a piece of a call.
    pub(super) fn take_call(&mut self, piece: CallPiece) -> Result<(), DraftError> {
        let is_same = |draft: &DraftCall| piece.index.is_none() || draft.index == piece.index;
        let at = self.calls.iter().rposition(is_same).filter(|at| {
            let known = self.calls.get(*at);
            known.is_some_and(|known| !known.is_followed_by(&piece))
        });
        let at = at.unwrap_or_else(|| {
            self.calls.push(DraftCall { index: piece.index, ..DraftCall::default() });
            self.calls.len() - 1
        });
        let Some(call) = self.calls.get_mut(at) else { return Err(DraftError::Unreadable) };
        if let Some(id) = piece.id.filter(|_| call.id.is_empty()) {
            call.id = id;
        }
        if let Some(name) = piece.name.filter(|_| call.name.is_empty()) {
            call.name = name;
        }
        match piece.arguments {
            Some(Value::String(text)) => call.arguments.push_str(&text),
            Some(Value::Null) | None => {}
            Some(object) => call.arguments = object.to_string(),
        }
        if let Some(Value::Object(extra)) = piece.extra {
            call.extra.extend(extra);
        }
        if self.calls.len() > MAX_CALLS { Err(DraftError::Unreadable) } else { Ok(()) }
    }

    /// Records the server's reason for the end of the answer, if it gives one.
    pub(super) fn end(&mut self, reason: &str) {
        if !reason.is_empty() {
            self.finish = Some(reason.to_owned());
        }
    }

    /// Returns true if the server has said that the answer is at its end.
    pub(super) fn is_whole(&self) -> bool {
        self.is_over || self.finish.is_some()
    }

    /// Returns the reply if the answer is complete.
    pub(super) fn finish(self, request: &Request, info: &ModelInfo) -> Result<Reply, ModelError> {
        if !self.is_whole() {
            return Err(ModelError::Cut);
        }
        let finish = self.finish.as_deref().map_or(Finish::Good, wire::finish);
        let stop = finish.stop(!self.calls.is_empty())?;
        let round = request.messages().len();
        let mut seen = BTreeSet::new();
        // Some servers want their thinking back with the calls that it led to.
        let mut kept = self.kept;
        let calls = self.calls.into_iter().enumerate().map(|(n, mut call)| {
            // The id is unique in the conversation, even if the server gave none.
            if call.id.is_empty() || !seen.insert(call.id.clone()) {
                call.id = format!("call_{round}_{n}");
            }
            call.extra.append(&mut kept);
            if !call.extra.is_empty() {
                call.extra.insert(GIVER.to_owned(), info.full_name().into());
            }
            let extra = if call.extra.is_empty() { String::new() } else { Value::Object(call.extra).to_string() };
            ToolCall { id: call.id, name: call.name, arguments: call.arguments, extra }
        });
        let calls = calls.collect();
        Ok(Reply::to(request, &self.text, calls, stop, self.usage, info.full_name()))
    }
}
