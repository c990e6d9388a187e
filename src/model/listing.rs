//! Models that a server offers, with what it says about them.
//!
//! OpenAI, Anthropic, Ollama and every compatible server answer `GET …/models` with `data`; Gemini
//! answers with `models`. What else stands there differs by server:
//! <https://openrouter.ai/docs/api-reference/list-available-models>,
//! <https://ai.google.dev/api/models>, <https://docs.vllm.ai> (`max_model_len`), llama.cpp's
//! `tools/server/README.md` (`meta.n_ctx_train`).

use serde_json::Value;

use super::{ModelError, error, wire};
use crate::config::{self, Price, Provider};

/// Maximum length of the list, in bytes: OpenRouter's takes half a megabyte.
const MAX_LIST: usize = 4 << 20;

/// A model as its server describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedModel {
    /// Name for requests.
    pub name: String,
    /// Context window, in tokens.
    pub context_window: Option<u64>,
    /// True if it accepts pictures.
    pub images: Option<bool>,
    /// Price, in US dollars.
    pub price: Option<Price>,
}

/// Returns the models of the configured server, by name. Empty if the server has no list.
///
/// # Errors
///
/// If the server cannot be reached or refuses the key.
pub async fn list(config: &config::Model) -> Result<Vec<ListedModel>, ModelError> {
    let unusable = |error: anyhow::Error| ModelError::Rejected(format!("{error:#}"));
    let default_url = match config.provider {
        Provider::Offline => return Ok(Vec::new()),
        Provider::OpenAi => "https://api.openai.com/v1/",
        Provider::Anthropic => "https://api.anthropic.com/v1/",
        Provider::Gemini => "https://generativelanguage.googleapis.com/v1beta/",
        Provider::Ollama => "http://localhost:11434/v1/",
    };
    let base = wire::base(config.base_url.as_deref(), default_url).map_err(unusable)?;
    let mut url = base.join("models").map_err(|error| unusable(error.into()))?;
    // Both give pages of a list unless asked for more.
    match config.provider {
        Provider::Anthropic => url.set_query(Some("limit=1000")),
        Provider::Gemini => url.set_query(Some("pageSize=1000")),
        _ => {}
    }
    let (key, request) =
        (wire::key(config.api_key.as_ref()), wire::client(Some(config.patience)).map_err(unusable)?.get(url));
    let request = match config.provider {
        Provider::Anthropic => request.header("x-api-key", key).header("anthropic-version", wire::ANTHROPIC_VERSION),
        Provider::Gemini => request.header("x-goog-api-key", key),
        _ => wire::with_key(request, key),
    };
    let response = request.send().await.map_err(|error| wire::connection_error(&error))?;
    if !response.status().is_success() {
        return match error::of_response(response, key, None).await.error {
            // Not every server has a list.
            ModelError::Rejected(_) | ModelError::Unusable(_) => Ok(Vec::new()),
            error => Err(error),
        };
    }
    let body = wire::read_text(response, MAX_LIST).await.map_err(|error| wire::connection_error(&error))?;
    let mut models = body.and_then(|body| serde_json::from_str(&body).ok()).map(|list: Value| parse(&list));
    models.iter_mut().for_each(|models| models.sort_by(|a, b| a.name.cmp(&b.name)));
    Ok(models.unwrap_or_default())
}

fn parse(list: &Value) -> Vec<ListedModel> {
    let models = list.get("data").or_else(|| list.get("models")).and_then(Value::as_array);
    models.into_iter().flatten().filter_map(parse_model).collect()
}

fn parse_model(model: &Value) -> Option<ListedModel> {
    let text = |key: &str| model.get(key).and_then(Value::as_str);
    let name = text("id").or_else(|| text("name"))?.trim_start_matches("models/");
    let count = |path: &str| model.pointer(path).and_then(Value::as_u64).filter(|count| *count > 0);
    let windows = ["/context_length", "/max_model_len", "/max_context_length", "/inputTokenLimit", "/meta/n_ctx_train"];
    let modalities = model.pointer("/architecture/input_modalities").and_then(Value::as_array);
    Some(ListedModel {
        name: name.to_owned(),
        context_window: windows.into_iter().find_map(count),
        images: modalities.map(|modalities| modalities.iter().any(|modality| modality == "image")),
        price: model.get("pricing").and_then(parse_price),
    })
}

/// Parses OpenRouter's prices, in dollars per token.
fn parse_price(pricing: &Value) -> Option<Price> {
    let micros = |key: &str| {
        let dollars: f64 = pricing.get(key)?.as_str()?.parse().ok()?;
        // Micro-units per million tokens.
        let micros = (dollars * 1e12).round();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        (0.0..1e15).contains(&micros).then_some(micros as u64)
    };
    let input = micros("prompt")?;
    Some(Price { input, cached: micros("input_cache_read").unwrap_or(input), output: micros("completion")? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_form_of_list_is_read() {
        let plain = |name: &str| ListedModel { name: name.to_owned(), context_window: None, images: None, price: None };
        assert_eq!(
            parse(&json!({ "object": "list", "data": [{ "id": "gpt-5", "object": "model" }] })),
            [plain("gpt-5")]
        );
        let gemini = json!({ "models": [{ "name": "models/gemini-3.8-flash", "inputTokenLimit": 1_048_576 }] });
        let expected = ListedModel { context_window: Some(1_048_576), ..plain("gemini-3.8-flash") };
        assert_eq!(parse(&gemini), [expected]);
        let llama = json!({ "data": [{ "id": "small.gguf", "meta": { "n_ctx_train": 32_768 } }] });
        assert_eq!(parse(&llama), [ListedModel { context_window: Some(32_768), ..plain("small.gguf") }]);
        let router = json!({ "data": [{
            "id": "vendor/model", "context_length": 200_000,
            "architecture": { "input_modalities": ["text", "image"] },
            "pricing": { "prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003" },
        }]});
        let price = Price { input: 3_000_000, cached: 300_000, output: 15_000_000 };
        let expected = ListedModel {
            context_window: Some(200_000),
            images: Some(true),
            price: Some(price),
            ..plain("vendor/model")
        };
        assert_eq!(parse(&router), [expected]);
        assert_eq!(parse(&json!({ "error": "no" })), []);
        assert_eq!(parse(&json!({ "data": [{}, 7] })), []);
    }
}
