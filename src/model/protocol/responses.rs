//! OpenAI's Responses API (<https://platform.openai.com/docs/api-reference/responses>). Unlike chat
//! completions it gives the thinking before a call, encrypted, and takes it back with the results. Nothing
//! is stored at the server.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use url::Url;

use super::super::draft::{CallPiece, DraftError, ReplyDraft};
use super::super::learned::Field;
use super::super::request::{RequestPart, Role, Usage};
use super::super::turns::{self, MarkedPart, Turn};
use super::{Call, Protocol, count, items, set, take, text, text_of};

/// Field of the thinking that came with calls.
const REASONING: &str = "reasoning_items";

pub(in super::super) struct Responses;

impl Protocol for Responses {
    fn url(&self, base: &Url, _: &str) -> anyhow::Result<Url> {
        Ok(base.join("responses")?)
    }

    fn fields(&self) -> &'static [Field] {
        &[Field::Reasoning]
    }

    fn body(&self, call: &Call<'_>) -> Value {
        let (mut instructions, mut input) = (String::new(), Vec::new());
        for turn in call.turns() {
            match turn.role {
                Role::System => instructions.push_str(&text_of(&turn.parts)),
                Role::User => input.push(json!({ "role": "user", "content": content(&turn.parts) })),
                Role::Assistant => input.extend(answered(call, &turn)),
                Role::Tool => input.extend(turn.parts.iter().filter_map(|marked_part| item(&marked_part.part))),
            }
        }
        let mut body = json!({
            "model": call.info.name,
            "input": input,
            "max_output_tokens": call.output_limit(),
            "stream": true,
            "store": false,
        });
        if !instructions.is_empty() {
            set(&mut body, "instructions", instructions);
        }
        if call.learned.sends(Field::Reasoning) {
            set(&mut body, "include", json!(["reasoning.encrypted_content"]));
        }
        if let Some(temperature) = call.temperature() {
            set(&mut body, "temperature", temperature);
        }
        let tool = |spec: &super::ToolSpec| {
            json!({
                "type": "function",
                "name": spec.name,
                "description": spec.description,
                "parameters": turns::schema(&spec.schema),
                "strict": false,
            })
        };
        let tools: Vec<Value> = call.tools().map(tool).collect();
        if !tools.is_empty() {
            set(&mut body, "tools", tools);
        }
        if let Some(schema) = call.schema() {
            // The mode without a schema wants the word in a message, and instructions are none.
            let format = json!({ "type": "json_schema", "name": "answer", "schema": schema, "strict": false });
            set(&mut body, "text", json!({ "format": format }));
        }
        body
    }

    fn read(&self, kind: &str, mut piece: Value, draft: &mut ReplyDraft<'_>) -> Result<(), DraftError> {
        let kind = if kind.is_empty() { text(&piece, "/type").to_owned() } else { kind.to_owned() };
        match kind.as_str() {
            "response.output_text.delta" | "response.refusal.delta" => draft.say(text(&piece, "/delta")),
            "response.output_item.done" => {
                let index = count(&piece, "/output_index");
                take_item(index, take(&mut piece, "item"), draft)?;
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                let response = take(&mut piece, "response");
                if kind == "response.failed" {
                    return Err(DraftError::ServerError(response.to_string()));
                }
                end(&response, draft);
                draft.is_over = true;
            }
            "error" => return Err(DraftError::ServerError(piece.to_string())),
            _ if text(&piece, "/object") == "response" => {
                for (index, item) in items(&piece, "/output").enumerate() {
                    items(item, "/content").for_each(|part| {
                        draft.say(text(part, "/text"));
                        draft.say(text(part, "/refusal"));
                    });
                    take_item(u64::try_from(index).ok(), item.clone(), draft)?;
                }
                end(&piece, draft);
            }
            _ => {}
        }
        Ok(())
    }
}

/// Takes a whole item. The words of a message have come before it.
fn take_item(index: Option<u64>, mut item: Value, draft: &mut ReplyDraft<'_>) -> Result<(), DraftError> {
    match text(&item, "/type") {
        // Only the server, which stores nothing, could read another one.
        "reasoning" if !text(&item, "/encrypted_content").is_empty() => {
            item.as_object_mut().into_iter().for_each(|item| item.retain(|field, _| field != "status"));
            draft.keep(REASONING, json!([item]));
        }
        "function_call" => draft.take_call(CallPiece {
            index,
            is_whole: true,
            id: Some(text(&item, "/call_id").to_owned()),
            name: Some(text(&item, "/name").to_owned()),
            arguments: Some(take(&mut item, "arguments")),
            ..CallPiece::default()
        })?,
        _ => {}
    }
    Ok(())
}

fn end(response: &Value, draft: &mut ReplyDraft<'_>) {
    if let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) {
        let input = count(usage, "/input_tokens").unwrap_or(0);
        let cached = count(usage, "/input_tokens_details/cached_tokens").unwrap_or(0).min(input);
        draft.usage = Usage { input, cached, output: count(usage, "/output_tokens").unwrap_or(0) };
    }
    let status = text(response, "/status");
    let reason = text(response, "/incomplete_details/reason");
    draft.end(if reason.is_empty() { status } else { reason });
}

/// Words and calls of the model, with the thinking before the first call.
fn answered(call: &Call<'_>, turn: &Turn) -> Vec<Value> {
    let mut input = Vec::new();
    if let Some(Value::Array(thinking)) = call.kept_in(turn, REASONING) {
        input.extend(thinking);
    }
    let words = text_of(&turn.parts);
    if !words.is_empty() {
        input.push(json!({ "role": "assistant", "content": words }));
    }
    input.extend(turn.parts.iter().filter_map(|marked_part| item(&marked_part.part)));
    input
}

fn content(parts: &[MarkedPart]) -> Value {
    if parts.iter().any(|marked_part| matches!(marked_part.part, RequestPart::Image { .. })) {
        let part = |marked_part: &MarkedPart| match &marked_part.part {
            RequestPart::Text(text) => Some(json!({ "type": "input_text", "text": text })),
            RequestPart::Image { mime, bytes } => {
                let url = format!("data:{mime};base64,{}", STANDARD.encode(bytes));
                Some(json!({ "type": "input_image", "image_url": url, "detail": "auto" }))
            }
            RequestPart::Call { .. } | RequestPart::Result { .. } => None,
        };
        return parts.iter().filter_map(part).collect();
    }
    text_of(parts).into()
}

fn item(part: &RequestPart) -> Option<Value> {
    match part {
        RequestPart::Call { id, name, arguments, .. } => {
            let arguments = Value::Object(turns::arguments(arguments)).to_string();
            Some(json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments }))
        }
        RequestPart::Result { id, text, .. } => {
            Some(json!({ "type": "function_call_output", "call_id": id, "output": text }))
        }
        RequestPart::Text(_) | RequestPart::Image { .. } => None,
    }
}
