//! Google's Gemini API (<https://ai.google.dev/api/generate-content>).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use url::Url;

use super::super::draft::{CallPiece, DraftError, ReplyDraft};
use super::super::request::{RequestPart, Role, Usage};
use super::super::turns::{self, Turn};
use super::{Call, Protocol, count, items, set, text};

/// Field of the signature that a call came with.
const SIGNATURE: &str = "thoughtSignature";
/// Stands for the signature of a call that another model made
/// (<https://ai.google.dev/gemini-api/docs/thought-signatures>).
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

pub(in super::super) struct Gemini;

impl Protocol for Gemini {
    fn url(&self, base: &Url, model: &str) -> anyhow::Result<Url> {
        let model = model.strip_prefix("models/").unwrap_or(model);
        let mut url = base.clone();
        let mut path = url.path_segments_mut().map_err(|()| anyhow::anyhow!("`{base}` has no path"))?;
        path.pop_if_empty().push("models").push(&format!("{model}:streamGenerateContent"));
        drop(path);
        url.set_query(Some("alt=sse"));
        Ok(url)
    }

    fn with_key(&self, post: RequestBuilder, key: &str) -> RequestBuilder {
        if key.is_empty() { post } else { post.header("x-goog-api-key", key) }
    }

    fn body(&self, call: &Call<'_>) -> Value {
        let (mut system, mut contents) = (Vec::new(), Vec::new());
        for turn in call.turns() {
            let parts: Vec<Value> = parts(call, &turn);
            match turn.role {
                Role::System => system.extend(parts),
                Role::User | Role::Tool => contents.push(json!({ "role": "user", "parts": parts })),
                Role::Assistant => contents.push(json!({ "role": "model", "parts": parts })),
            }
        }
        let mut options = json!({ "maxOutputTokens": call.output_limit() });
        if let Some(temperature) = call.temperature() {
            set(&mut options, "temperature", temperature);
        }
        if let Some(schema) = call.schema() {
            set(&mut options, "responseMimeType", "application/json");
            set(&mut options, "responseJsonSchema", schema);
        }
        let mut body = json!({ "contents": contents, "generationConfig": options });
        if !system.is_empty() {
            set(&mut body, "systemInstruction", json!({ "parts": system }));
        }
        let tool = |spec: &super::ToolSpec| {
            let schema = turns::schema(&spec.schema);
            json!({ "name": spec.name, "description": spec.description, "parametersJsonSchema": schema })
        };
        let tools: Vec<Value> = call.tools().map(tool).collect();
        if !tools.is_empty() {
            set(&mut body, "tools", json!([{ "functionDeclarations": tools }]));
        }
        body
    }

    fn read(&self, _: &str, piece: Value, draft: &mut ReplyDraft<'_>) -> Result<(), DraftError> {
        if let Some(usage) = piece.get("usageMetadata") {
            let input = count(usage, "/promptTokenCount").unwrap_or(draft.usage.input);
            let cached = count(usage, "/cachedContentTokenCount").unwrap_or(draft.usage.cached).min(input);
            let output = ["/candidatesTokenCount", "/thoughtsTokenCount"].map(|field| count(usage, field));
            draft.usage = Usage { input, cached, output: output.into_iter().flatten().sum() };
        }
        // It declines the question itself, and not its answer to it.
        draft.end(if text(&piece, "/promptFeedback/blockReason").is_empty() { "" } else { "blocklist" });
        for part in items(&piece, "/candidates/0/content/parts") {
            if part.get("thought").is_none_or(|is_thought| is_thought != true) {
                draft.say(text(part, "/text"));
            }
            let Some(called) = part.get("functionCall") else { continue };
            let signature = text(part, "/thoughtSignature");
            draft.take_call(CallPiece {
                is_whole: true,
                id: called.get("id").and_then(Value::as_str).map(str::to_owned),
                name: Some(text(called, "/name").to_owned()),
                arguments: called.get("args").cloned(),
                extra: (!signature.is_empty()).then(|| json!({ SIGNATURE: signature })),
                ..CallPiece::default()
            })?;
        }
        draft.end(text(&piece, "/candidates/0/finishReason"));
        Ok(())
    }
}

fn parts(call: &Call<'_>, turn: &Turn) -> Vec<Value> {
    let mut parts: Vec<Value> = turn.parts.iter().map(|marked_part| part(call, &marked_part.part)).collect();
    // Only the first of several calls has a signature.
    let first = parts.iter_mut().find(|part| part.get("functionCall").is_some());
    if let Some(first) = first.filter(|first| call.learned.wants_reasoning && first.get(SIGNATURE).is_none()) {
        set(first, SIGNATURE, NO_SIGNATURE);
    }
    parts
}

fn part(call: &Call<'_>, part: &RequestPart) -> Value {
    match part {
        RequestPart::Text(text) => json!({ "text": text }),
        RequestPart::Image { mime, bytes } => {
            json!({ "inlineData": { "mimeType": mime, "data": STANDARD.encode(bytes) } })
        }
        RequestPart::Call { name, arguments, .. } => {
            let mut made = json!({ "functionCall": { "name": name, "args": turns::arguments(arguments) } });
            if let Some(signature) = call.kept(part).remove(SIGNATURE) {
                set(&mut made, SIGNATURE, signature);
            }
            made
        }
        RequestPart::Result { name, text, .. } => {
            json!({ "functionResponse": { "name": name, "response": { "output": text } } })
        }
    }
}
