//! Ollama's own protocol (<https://docs.ollama.com/api/chat>). Unlike the compatible one it says how
//! large a window the server shall have: Ollama's usual window is small, and it silently leaves out
//! what does not fit.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use url::Url;

use super::super::draft::{CallPiece, DraftError, ReplyDraft};
use super::super::request::{RequestPart, Role};
use super::super::turns::{self, Turn};
use super::{Call, Protocol, count, items, set, text, text_of};

/// Field of the thinking.
const THINKING: &str = "thinking";

pub(in super::super) struct Ollama;

impl Protocol for Ollama {
    fn url(&self, base: &Url, _: &str) -> anyhow::Result<Url> {
        Ok(base.join(if base.path().ends_with("/api/") { "chat" } else { "api/chat" })?)
    }

    fn body(&self, call: &Call<'_>) -> Value {
        let mut options = json!({
            "num_ctx": call.learned.within(call.info).context_window,
            "num_predict": call.output_limit(),
        });
        if let Some(temperature) = call.temperature() {
            set(&mut options, "temperature", temperature);
        }
        let messages: Vec<Value> = call.turns().iter().flat_map(|turn| messages(call, turn)).collect();
        let mut body = json!({ "model": call.info.name, "messages": messages, "stream": true, "options": options });
        let tools: Vec<Value> = call.tools().map(super::chat_completions::tool).collect();
        if !tools.is_empty() {
            set(&mut body, "tools", tools);
        }
        if let Some(schema) = call.schema() {
            set(&mut body, "format", schema);
        }
        body
    }

    fn read(&self, _: &str, piece: Value, draft: &mut ReplyDraft<'_>) -> Result<(), DraftError> {
        draft.say(text(&piece, "/message/content"));
        let thinking = text(&piece, "/message/thinking");
        if !thinking.is_empty() {
            draft.keep(THINKING, thinking.into());
        }
        for call in items(&piece, "/message/tool_calls") {
            draft.take_call(CallPiece {
                is_whole: true,
                id: call.get("id").and_then(Value::as_str).map(str::to_owned),
                name: Some(text(call, "/function/name").to_owned()),
                arguments: call.pointer("/function/arguments").cloned(),
                ..CallPiece::default()
            })?;
        }
        if piece.get("done").is_some_and(|is_done| is_done == true) {
            draft.usage.input = count(&piece, "/prompt_eval_count").unwrap_or(0);
            draft.usage.output = count(&piece, "/eval_count").unwrap_or(0);
            let reason = text(&piece, "/done_reason");
            // Older versions give no reason.
            draft.end(if reason.is_empty() { "stop" } else { reason });
            draft.is_over = true;
        }
        Ok(())
    }
}

/// Each result is a message of its own.
fn messages(call: &Call<'_>, turn: &Turn) -> Vec<Value> {
    let role = match turn.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => return turn.parts.iter().filter_map(|marked_part| result(&marked_part.part)).collect(),
    };
    let mut message = json!({ "role": role, "content": text_of(&turn.parts) });
    let picture = |part: &RequestPart| match part {
        RequestPart::Image { bytes, .. } => Some(Value::from(STANDARD.encode(bytes))),
        _ => None,
    };
    let pictures: Vec<Value> = turn.parts.iter().filter_map(|marked_part| picture(&marked_part.part)).collect();
    if !pictures.is_empty() {
        set(&mut message, "images", pictures);
    }
    let made = |part: &RequestPart| match part {
        RequestPart::Call { name, arguments, .. } => {
            Some(json!({ "function": { "name": name, "arguments": turns::arguments(arguments) } }))
        }
        _ => None,
    };
    let calls: Vec<Value> = turn.parts.iter().filter_map(|marked_part| made(&marked_part.part)).collect();
    if !calls.is_empty() {
        set(&mut message, "tool_calls", calls);
    }
    if let Some(thinking) = call.kept_in(turn, THINKING) {
        set(&mut message, THINKING, thinking);
    }
    vec![message]
}

fn result(part: &RequestPart) -> Option<Value> {
    let RequestPart::Result { name, text, .. } = part else { return None };
    Some(json!({ "role": "tool", "tool_name": name, "content": text }))
}
