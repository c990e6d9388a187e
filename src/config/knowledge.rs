//! `[memory]` and `[embedding]`: stored memory and semantic search.

use super::error::ValueError;
use super::interpreter::Meaning;
use super::units::{self, quoted};
use super::{Embedding, EmbeddingProvider, Memory, Placement, models};

const MEMORY: &str = "memory";
const EMBEDDING: &str = "embedding";

/// OpenAI's own server.
const OPENAI: &str = "https://api.openai.com/v1";
/// Default address of Ollama.
const OLLAMA: &str = "http://127.0.0.1:11434";

/// Interprets `[memory]`.
pub fn memory(meaning: &mut Meaning<'_>) -> Memory {
    let reader = &mut meaning.reader;
    let mut count =
        |name: &str, least, most| reader.get(MEMORY, name, |text| units::count(text, least, most)).unwrap_or_default();
    let (every, max_tokens, split) =
        (count("extract_every", 1, 1000), count("max_tokens", 0, 100_000), count("split", 5, 95));
    Memory {
        enabled: reader.get(MEMORY, "enabled", units::flag).unwrap_or_default(),
        placement: reader.get(MEMORY, "placement", placement).unwrap_or(Placement::Tail),
        extract_every: u32::try_from(every).unwrap_or(u32::MAX),
        max_tokens,
        split: u32::try_from(split).unwrap_or_default(),
        experience_for_all: reader.get(MEMORY, "experience_for_all", units::flag).unwrap_or_default(),
    }
}

/// Interprets `[embedding]`.
pub fn embedding(meaning: &mut Meaning<'_>) -> Option<Embedding> {
    let provider = meaning.reader.get(EMBEDDING, "provider", provider).flatten();
    let base_url = meaning.reader.get(EMBEDDING, "base_url", models::address);
    let dimensions = meaning.reader.get(EMBEDDING, "dimensions", |text| units::count(text, 8, 8192));
    let api_key = meaning.secret(EMBEDDING, "api_key");
    models::warn_of_open_wire(meaning, EMBEDDING, base_url.as_deref(), api_key.as_ref());
    let Some(provider) = provider else {
        // Reads the name anyway, so that an invalid one is reported.
        let _ = meaning.reader.get(EMBEDDING, "name", models::model_name);
        return None;
    };
    let name = meaning.reader.need(EMBEDDING, "name", models::model_name)?;
    let own = match provider {
        EmbeddingProvider::OpenAi => OPENAI,
        EmbeddingProvider::Ollama => OLLAMA,
    };
    Some(Embedding {
        provider,
        base_url: base_url.unwrap_or_else(|| own.to_owned()),
        name,
        dimensions: dimensions.and_then(|count| u32::try_from(count).ok()),
        api_key,
    })
}

fn placement(text: &str) -> Result<Placement, ValueError> {
    match text {
        "tail" => Ok(Placement::Tail),
        "system" => Ok(Placement::System),
        _ => Err(ValueError::new(format!("{} is not known here", quoted(text)), "write \"tail\" or \"system\"")),
    }
}

fn provider(text: &str) -> Result<Option<EmbeddingProvider>, ValueError> {
    match text {
        "none" => Ok(None),
        "openai" => Ok(Some(EmbeddingProvider::OpenAi)),
        "ollama" => Ok(Some(EmbeddingProvider::Ollama)),
        _ => {
            let fix = "write \"none\", \"openai\" or \"ollama\"; \"openai\" fits any compatible server";
            Err(ValueError::new(format!("{} computes no embeddings here", quoted(text)), fix))
        }
    }
}
