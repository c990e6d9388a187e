//! Context window, pictures and price of well-known models, for settings that are not written.

use super::{Price, Provider};

/// The table; its head names source and date.
const TABLE: &str = include_str!("../../config/known-models.csv");

/// A well-known model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownModel {
    /// Context window, in tokens.
    pub context_window: u64,
    /// True if it accepts pictures.
    pub images: bool,
    /// Price, in US dollars.
    pub price: Price,
}

/// Looks a model up by the name that its provider uses. A date after the name is ignored. `None`
/// for a server that is none of the known providers.
pub fn known_model(provider: Provider, base_url: Option<&str>, name: &str) -> Option<KnownModel> {
    let service = service(provider, base_url)?;
    let rows = TABLE.lines().filter_map(|line| line.strip_prefix(service)?.strip_prefix(','));
    let same = rows.filter_map(row).filter(|(known, _)| is_same(name, known));
    same.max_by_key(|(known, _)| known.len()).map(|(_, model)| model)
}

/// Returns the provider's name in the table.
fn service(provider: Provider, base_url: Option<&str>) -> Option<&'static str> {
    let Some(base_url) = base_url else {
        return match provider {
            Provider::OpenAi => Some("openai"),
            Provider::Anthropic => Some("anthropic"),
            Provider::Gemini => Some("gemini"),
            Provider::Ollama | Provider::Offline => None,
        };
    };
    let url = url::Url::parse(base_url).ok()?;
    match url.host_str()? {
        "api.openai.com" => Some("openai"),
        "api.anthropic.com" => Some("anthropic"),
        "generativelanguage.googleapis.com" => Some("gemini"),
        "api.groq.com" => Some("groq"),
        "api.mistral.ai" => Some("mistral"),
        _ => None,
    }
}

/// Parses a row without its provider.
fn row(line: &str) -> Option<(&str, KnownModel)> {
    let mut fields = line.split(',');
    let mut next = || fields.next();
    let (name, context_window, images) = (next()?, next()?.parse().ok()?, next()? == "yes");
    let (input, cached, output) = (next()?.parse().ok()?, next()?, next()?.parse().ok()?);
    let price = Price { input, cached: cached.parse().unwrap_or(input), output };
    Some((name, KnownModel { context_window, images, price }))
}

/// Returns true for the name itself, and for the name with a date: `gpt-5`, `gpt-5-2025-08-07`. A
/// shorter number is another version.
fn is_same(name: &str, known: &str) -> bool {
    let Some(rest) = name.strip_prefix(known) else { return false };
    let is_date = |date: &str| {
        let digits = date.chars().filter(char::is_ascii_digit).count();
        digits >= 4 && date.chars().all(|c| c.is_ascii_digit() || c == '-')
    };
    rest.is_empty() || rest.strip_prefix('-').is_some_and(is_date)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Promise (operation/known-models): Context window, pictures and price of well-known models
    /// are known without a setting, with source and date; a setting wins.
    #[test]
    fn every_row_can_be_read_and_found() {
        let rows: Vec<&str> = TABLE.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(rows.len() > 50, "{}", rows.len());
        for line in rows {
            let (service, rest) = line.split_once(',').unwrap();
            let (name, model) = row(rest).unwrap_or_else(|| panic!("{line}"));
            assert!(model.context_window >= 8_192 && model.price.cached <= model.price.input, "{line}");
            let (provider, base_url) = match service {
                "openai" => (Provider::OpenAi, None),
                "anthropic" => (Provider::Anthropic, None),
                "gemini" => (Provider::Gemini, None),
                "groq" => (Provider::OpenAi, Some("https://api.groq.com/openai/v1")),
                "mistral" => (Provider::OpenAi, Some("https://api.mistral.ai/v1")),
                other => panic!("{other}"),
            };
            assert_eq!(known_model(provider, base_url, name), Some(model), "{line}");
        }
    }

    #[test]
    fn a_date_makes_no_other_model_and_a_word_does() {
        let plain = known_model(Provider::OpenAi, None, "gpt-5").unwrap();
        assert_eq!(known_model(Provider::OpenAi, None, "gpt-5-2025-08-07"), Some(plain));
        assert_ne!(known_model(Provider::OpenAi, None, "gpt-5-mini"), Some(plain));
        assert_eq!(known_model(Provider::OpenAi, None, "gpt-5-unheard-of"), None);
        assert_eq!(known_model(Provider::Anthropic, None, "claude-opus-5-9"), None);
        assert_eq!(known_model(Provider::OpenAi, Some("http://127.0.0.1:1234/v1"), "gpt-5"), None);
        assert_eq!(known_model(Provider::Ollama, None, "gpt-5"), None);
    }
}
