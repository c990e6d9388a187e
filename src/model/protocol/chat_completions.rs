//! OpenAI's chat completions API (<https://platform.openai.com/docs/api-reference/chat>), as hundreds
//! of servers speak it: OpenRouter, vLLM, llama.cpp, LM Studio.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use url::Url;

use super::super::draft::{CallPiece, DraftError, ReplyDraft};
use super::super::learned::Field;
use super::super::request::{RequestPart, Role, ToolSpec, Usage};
use super::super::turns::{self, MarkedPart, Turn};
use super::{Call, Protocol, count, items, set, text, text_of};

pub(in super::super) struct ChatCompletions {
    pub(in super::super) dialect: Dialect,
}

impl Protocol for ChatCompletions {
    fn url(&self, base: &Url, _: &str) -> anyhow::Result<Url> {
        Ok(base.join("chat/completions")?)
    }

    fn fields(&self) -> &'static [Field] {
        &[Field::StreamOptions]
    }

    fn body(&self, call: &Call<'_>) -> Value {
        let (usual, other) = match self.dialect {
            Dialect::OpenAi => ("max_completion_tokens", "max_tokens"),
            Dialect::OpenRouter | Dialect::Common => ("max_tokens", "max_completion_tokens"),
        };
        let limit = if call.learned.sends(Field::OutputLimit) { usual } else { other };
        let messages: Vec<Value> = call.turns().iter().flat_map(|turn| self.messages(call, turn)).collect();
        let mut body = json!({ "model": call.info.name, "messages": messages, "stream": true });
        if call.learned.sends(Field::StreamOptions) {
            set(&mut body, "stream_options", json!({ "include_usage": true }));
        }
        set(&mut body, limit, call.output_limit());
        if let Some(temperature) = call.temperature() {
            set(&mut body, "temperature", temperature);
        }
        if call.schema().is_some() {
            // Not every server knows schemas.
            set(&mut body, "response_format", json!({ "type": "json_object" }));
        }
        let tools: Vec<Value> = call.tools().map(tool).collect();
        if !tools.is_empty() {
            set(&mut body, "tools", tools);
        }
        body
    }

    fn read(&self, _: &str, piece: Value, draft: &mut ReplyDraft<'_>) -> Result<(), DraftError> {
        if let Some(usage) = piece.get("usage").filter(|usage| usage.is_object()) {
            let input = count(usage, "/prompt_tokens").unwrap_or(0);
            let cached = count(usage, "/prompt_tokens_details/cached_tokens").unwrap_or(0).min(input);
            draft.usage = Usage { input, cached, output: count(usage, "/completion_tokens").unwrap_or(0) };
        }
        let Some(choice) = items(&piece, "/choices").find(|choice| choice.is_object()) else { return Ok(()) };
        let said = [choice.get("delta"), choice.get("message")].into_iter().flatten().find(|said| !said.is_null());
        if let Some(said) = said {
            read_message(said, draft)?;
        }
        draft.end(text(choice, "/finish_reason"));
        Ok(())
    }
}

/// Adds a piece of a message, or the whole of it.
fn read_message(said: &Value, draft: &mut ReplyDraft<'_>) -> Result<(), DraftError> {
    match said.get("content") {
        None | Some(Value::Null) => {}
        Some(Value::String(words)) => draft.say(words),
        // Some servers send a list of parts instead.
        Some(Value::Array(parts)) => parts.iter().for_each(|part| draft.say(text(part, "/text"))),
        Some(_) => return Err(DraftError::Unreadable),
    }
    draft.say(text(said, "/refusal"));
    for field in REASONING {
        if let Some(piece) = said.get(field) {
            draft.keep(field, piece.clone());
        }
    }
    for call in items(said, "/tool_calls").filter(|call| call.is_object()) {
        draft.take_call(CallPiece {
            index: count(call, "/index"),
            id: call.get("id").and_then(Value::as_str).map(str::to_owned),
            name: call.pointer("/function/name").and_then(Value::as_str).map(str::to_owned),
            arguments: call.pointer("/function/arguments").cloned(),
            extra: call.get(EXTRA).map(|extra| json!({ EXTRA: extra })),
            ..CallPiece::default()
        })?;
    }
    Ok(())
}

/// Fields of a message in which servers give the thinking before calls, and some want it back:
/// DeepSeek and Kimi, vLLM and OpenRouter, OpenRouter
/// (<https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks>).
const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_details"];
/// Field of a call in which Google's compatible server gives its signature, and wants it back.
const EXTRA: &str = "extra_content";

/// Known differences between servers; every other server gets the common subset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Dialect {
    /// OpenAI's own servers, where `max_tokens` has been replaced.
    OpenAi,
    /// OpenRouter, which passes prompt-cache marks on to the providers that need them.
    OpenRouter,
    /// Any other server.
    Common,
}

impl Dialect {
    /// Detects the dialect of a server by its host.
    pub(in super::super) fn of(host: &str) -> Self {
        let is = |domain: &str| host == domain || host.ends_with(&format!(".{domain}"));
        if is("openai.com") || is("openai.azure.com") {
            Self::OpenAi
        } else if is("openrouter.ai") {
            Self::OpenRouter
        } else {
            Self::Common
        }
    }
}

impl ChatCompletions {
    /// Each result is a message of its own.
    fn messages(&self, call: &Call<'_>, turn: &Turn) -> Vec<Value> {
        let role = match turn.role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => return turn.parts.iter().filter_map(|marked_part| result(&marked_part.part)).collect(),
        };
        let mut message = json!({ "role": role, "content": content(&turn.parts, self.dialect) });
        let calls = turn.parts.iter().filter_map(|marked_part| made(call, &marked_part.part));
        let calls: Vec<Value> = calls.collect();
        if !calls.is_empty() {
            let thinking = REASONING.into_iter().filter_map(|field| Some((field, call.kept_in(turn, field)?)));
            let mut thinking: Vec<(&str, Value)> = thinking.collect();
            if thinking.is_empty() && call.learned.wants_reasoning {
                thinking.push((REASONING[0], "(not kept)".into()));
            }
            thinking.into_iter().for_each(|(field, thinking)| set(&mut message, field, thinking));
            set(&mut message, "tool_calls", calls);
        }
        vec![message]
    }
}

/// Plain text where possible, because every server accepts it; parts for pictures and marks; null
/// for no content.
fn content(parts: &[MarkedPart], dialect: Dialect) -> Value {
    let marks = dialect == Dialect::OpenRouter && parts.iter().any(|marked_part| marked_part.marked);
    let pictures = parts.iter().any(|marked_part| matches!(marked_part.part, RequestPart::Image { .. }));
    if marks || pictures {
        return parts.iter().filter_map(|marked_part| content_part(marked_part, marks)).collect();
    }
    let text = text_of(parts);
    if text.is_empty() { Value::Null } else { text.into() }
}

fn content_part(marked_part: &MarkedPart, marks: bool) -> Option<Value> {
    let mut part = match &marked_part.part {
        RequestPart::Text(text) => json!({ "type": "text", "text": text }),
        RequestPart::Image { mime, bytes } => {
            let url = format!("data:{mime};base64,{}", STANDARD.encode(bytes));
            json!({ "type": "image_url", "image_url": { "url": url } })
        }
        RequestPart::Call { .. } | RequestPart::Result { .. } => return None,
    };
    if marks && marked_part.marked {
        set(&mut part, "cache_control", json!({ "type": "ephemeral" }));
    }
    Some(part)
}

fn made(call: &Call<'_>, part: &RequestPart) -> Option<Value> {
    let RequestPart::Call { id, name, arguments, .. } = part else { return None };
    let arguments = Value::Object(turns::arguments(arguments)).to_string();
    let mut made = json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } });
    if let Some(extra) = call.kept(part).remove(EXTRA) {
        set(&mut made, EXTRA, extra);
    }
    Some(made)
}

fn result(part: &RequestPart) -> Option<Value> {
    let RequestPart::Result { id, text, .. } = part else { return None };
    Some(json!({ "role": "tool", "tool_call_id": id, "content": text }))
}

/// A tool, as Ollama takes it too.
pub(super) fn tool(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": { "name": spec.name, "description": spec.description, "parameters": turns::schema(&spec.schema) },
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{Learned, Message, ModelInfo, Purpose, Request};
    use crate::trust::{Label, Labelled, Scope};

    #[test]
    fn the_dialect_follows_from_the_host() {
        for (host, expected) in [
            ("api.openai.com", Dialect::OpenAi),
            ("mine.openai.azure.com", Dialect::OpenAi),
            ("openrouter.ai", Dialect::OpenRouter),
            ("notopenrouter.ai", Dialect::Common),
            ("openai.com.example.org", Dialect::Common),
            ("localhost", Dialect::Common),
            ("", Dialect::Common),
        ] {
            assert_eq!(Dialect::of(host), expected, "{host}");
        }
    }

    #[test]
    fn each_server_gets_what_it_knows() {
        let own = |text: &str| Labelled::new(Arc::from(text), Label::trusted(), Scope::Shared);
        let mut request = Request::new(Scope::Shared, Purpose::Chat).with_max_output(7);
        request.push(Arc::new(Message::of(Role::System, own("Rules")).cached())).unwrap();
        request.text(Role::System, own("More")).unwrap();
        let (id, name, arguments) = (Arc::from("a"), Arc::from("f"), Arc::from("{}"));
        let extra = Arc::from(r#"{"model":"openai/n","extra_content":{"google":{"thought_signature":"s"}}}"#);
        let call = RequestPart::Call { id, name, arguments, extra };
        let mut made = Message::new(Role::Assistant);
        made.push(Labelled::new(call, Label::trusted(), Scope::Shared));
        request.push(Arc::new(made)).unwrap();
        let info = ModelInfo {
            provider: "openai".to_owned(),
            name: "n".to_owned(),
            context_window: 100,
            max_output: 50,
            images: false,
            price: None,
        };
        let learned = Learned::default();
        let call = Call { request: &request, info: &info, learned: &learned, temperature: Some(0.5) };
        let body = |dialect| ChatCompletions { dialect }.body(&call);

        let router = body(Dialect::OpenRouter);
        assert_eq!(router["messages"][0]["content"][0]["cache_control"], json!({ "type": "ephemeral" }));
        assert_eq!(router["messages"][0]["content"][1], json!({ "type": "text", "text": "More" }));
        for (dialect, limit) in [(Dialect::OpenAi, "max_completion_tokens"), (Dialect::Common, "max_tokens")] {
            let body = body(dialect);
            assert_eq!(body["messages"][0]["content"], "Rules\n\nMore");
            assert_eq!(body[limit], 7);
            assert_eq!(body["temperature"], 0.5);
            assert_eq!(body["messages"][2]["tool_calls"][0]["extra_content"]["google"]["thought_signature"], "s");
            assert!(body.get("tools").is_none());
        }
    }
}
