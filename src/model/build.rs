//! Builds models from the configuration.

use std::sync::Arc;

use super::genai::Other;
use super::offline::Offline;
use super::openai::OpenAi;
use super::{Model, wire};
use crate::config::{self, Provider};

/// Builds the configured model.
///
/// # Errors
/// If the address is invalid, or the wire cannot carry the model's name.
pub fn build(config: &config::Model) -> anyhow::Result<Arc<dyn Model>> {
    Ok(match config.provider {
        Provider::Offline => Arc::new(Offline::new(wire::card(config, "offline"))),
        Provider::OpenAi => Arc::new(OpenAi::new(config, "openai", "https://api.openai.com/v1/")?),
        // Ollama speaks the same protocol, so it gets the exact client too.
        Provider::Ollama => Arc::new(OpenAi::new(config, "ollama", "http://localhost:11434/v1/")?),
        Provider::Anthropic => Arc::new(Other::anthropic(config)?),
        Provider::Gemini => Arc::new(Other::gemini(config)?),
    })
}
