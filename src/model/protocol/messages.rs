//! Anthropic's Messages API (<https://docs.anthropic.com/en/api/messages>), which DeepSeek, Kimi and
//! several proxies speak too.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use url::Url;

use super::super::draft::{CallPiece, DraftError, ReplyDraft};
use super::super::request::{RequestPart, Role};
use super::super::turns::{self, MarkedPart};
use super::super::wire::ANTHROPIC_VERSION;
use super::{Call, Protocol, count, items, set, take, text};

/// Field of the thinking that came with calls.
const THINKING: &str = "thinking_blocks";

pub(in super::super) struct Messages;

impl Protocol for Messages {
    /// Servers document their address as Anthropic's client wants it, without the version.
    fn url(&self, base: &Url, _: &str) -> anyhow::Result<Url> {
        Ok(base.join(if base.path().ends_with("/v1/") { "messages" } else { "v1/messages" })?)
    }

    fn with_key(&self, post: RequestBuilder, key: &str) -> RequestBuilder {
        let post = post.header("anthropic-version", ANTHROPIC_VERSION);
        if key.is_empty() { post } else { post.header("x-api-key", key) }
    }

    fn body(&self, call: &Call<'_>) -> Value {
        let (mut system, mut messages) = (Vec::new(), Vec::new());
        for turn in call.turns() {
            let mut blocks: Vec<Value> = turn.parts.iter().map(block).collect();
            let role = match turn.role {
                Role::System => {
                    system.extend(blocks);
                    continue;
                }
                Role::User | Role::Tool => "user",
                Role::Assistant => "assistant",
            };
            // Thinking stands before what it led to, and unchanged.
            if let Some(Value::Array(thinking)) = call.kept_in(&turn, THINKING) {
                blocks.splice(..0, thinking);
            }
            messages.push(json!({ "role": role, "content": blocks }));
        }
        let mut body = json!({
            "model": call.info.name,
            "max_tokens": call.output_limit(),
            "messages": messages,
            "stream": true,
        });
        if !system.is_empty() {
            set(&mut body, "system", system);
        }
        if let Some(temperature) = call.temperature() {
            set(&mut body, "temperature", temperature);
        }
        let tool = |spec: &super::ToolSpec| {
            let schema = turns::schema(&spec.schema);
            json!({ "name": spec.name, "description": spec.description, "input_schema": schema })
        };
        let tools: Vec<Value> = call.tools().map(tool).collect();
        if !tools.is_empty() {
            set(&mut body, "tools", tools);
        }
        if let Some(mut schema) = call.schema() {
            close(&mut schema);
            set(&mut body, "output_config", json!({ "format": { "type": "json_schema", "schema": schema } }));
        }
        body
    }

    fn read(&self, kind: &str, mut piece: Value, draft: &mut ReplyDraft<'_>) -> Result<(), DraftError> {
        let kind = if kind.is_empty() { text(&piece, "/type").to_owned() } else { kind.to_owned() };
        match kind.as_str() {
            "message_start" => count_tokens(&piece, "/message/usage", draft),
            "content_block_start" => {
                let index = count(&piece, "/index");
                begin_block(index, take(&mut piece, "content_block"), draft)?;
            }
            "content_block_delta" => {
                let index = count(&piece, "/index");
                draft.say(text(&piece, "/delta/text"));
                let arguments = text(&piece, "/delta/partial_json");
                if !arguments.is_empty() {
                    let piece = CallPiece { index, arguments: Some(arguments.into()), ..CallPiece::default() };
                    draft.take_call(piece)?;
                }
                for field in ["thinking", "signature"] {
                    draft.extend_kept(THINKING, field, text(&piece, &format!("/delta/{field}")));
                }
            }
            "message_delta" => {
                count_tokens(&piece, "/usage", draft);
                draft.end(text(&piece, "/delta/stop_reason"));
            }
            "message_stop" => draft.is_over = true,
            // A whole answer.
            "message" => {
                for (index, block) in items(&piece, "/content").enumerate() {
                    begin_block(u64::try_from(index).ok(), block.clone(), draft)?;
                }
                count_tokens(&piece, "/usage", draft);
                draft.end(text(&piece, "/stop_reason"));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Adds the beginning of a block, or the whole of it.
fn begin_block(index: Option<u64>, mut block: Value, draft: &mut ReplyDraft<'_>) -> Result<(), DraftError> {
    match text(&block, "/type") {
        "text" => draft.say(text(&block, "/text")),
        "thinking" | "redacted_thinking" => draft.keep(THINKING, json!([block])),
        "tool_use" => {
            // A stream begins with an empty object, and the arguments follow as text.
            let arguments = take(&mut block, "input");
            let is_whole = arguments.as_object().is_some_and(|object| !object.is_empty());
            draft.take_call(CallPiece {
                index,
                id: Some(text(&block, "/id").to_owned()),
                name: Some(text(&block, "/name").to_owned()),
                arguments: is_whole.then_some(arguments),
                ..CallPiece::default()
            })?;
        }
        _ => {}
    }
    Ok(())
}

fn count_tokens(piece: &Value, pointer: &str, draft: &mut ReplyDraft<'_>) {
    let Some(usage) = piece.pointer(pointer) else { return };
    let [fresh, written, cached] =
        ["/input_tokens", "/cache_creation_input_tokens", "/cache_read_input_tokens"].map(|field| count(usage, field));
    let input = [fresh, written, cached].into_iter().flatten().sum();
    // The end of a stream counts the output, and some servers count all of it only there.
    if input > 0 {
        (draft.usage.input, draft.usage.cached) = (input, cached.unwrap_or(0));
    }
    draft.usage.output = count(usage, "/output_tokens").unwrap_or(draft.usage.output);
}

fn block(marked_part: &MarkedPart) -> Value {
    let mut block = match &marked_part.part {
        RequestPart::Text(text) => json!({ "type": "text", "text": text }),
        RequestPart::Image { mime, bytes } => {
            json!({ "type": "image", "source": { "type": "base64", "media_type": mime, "data": STANDARD.encode(bytes) } })
        }
        RequestPart::Call { id, name, arguments, .. } => {
            json!({ "type": "tool_use", "id": id, "name": name, "input": turns::arguments(arguments) })
        }
        RequestPart::Result { id, text, .. } => json!({ "type": "tool_result", "tool_use_id": id, "content": text }),
    };
    if marked_part.marked {
        set(&mut block, "cache_control", json!({ "type": "ephemeral" }));
    }
    block
}

/// Says of each object that it has no other properties, which structured answers want
/// (<https://docs.anthropic.com/en/docs/build-with-claude/structured-outputs>).
fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(close);
            if fields.get("type").is_some_and(|kind| kind == "object") {
                fields.entry("additionalProperties").or_insert(false.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}
