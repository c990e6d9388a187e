//! `[model]`, `[model.fallback]`, `[model.background]`, `[model.reviewer]` and `[transcription]`:
//! the wire protocol, and the default capabilities of each provider.

use std::time::Duration;

use secrecy::SecretString;

use super::error::ValueError;
use super::known_models::known_model;
use super::reader::ConfigReader;
use super::{Model, Price, Provider, Transcription, units};

/// Default of `max_output`, in tokens.
const MAX_OUTPUT: u64 = 4096;

/// Interprets a model section. Without any key it means the offline model.
pub fn model(reader: &mut ConfigReader<'_>, at: &str) -> Model {
    let is_orphan = reader.has(at) && !reader.is_written(at, "provider");
    let provider = reader.get(at, "provider", provider).unwrap_or(Provider::Offline);
    if is_orphan {
        let fix = format!("add provider = \"openai\" (or {}) to [{at}]", quoted_list(Provider::ALL));
        reader.lacks_because(at, "provider", ValueError::new(format!("[{at}] has no provider"), fix));
    }
    let base_url = reader.get(at, "base_url", address);
    let name = name(reader, at, provider, is_orphan);
    let api_key = reader.secret(at, "api_key");
    check_key(reader, at, provider, base_url.as_deref(), api_key.as_ref());
    let is_own_server = base_url.is_some();
    let known = known_model(provider, base_url.as_deref(), &name);
    let window = |text: &str| units::count(text, 1024, 100_000_000);
    let usual_window = known.map_or(window_of(provider, is_own_server), |known| known.context_window);
    let context_window = reader.get_or(at, "context_window", window, usual_window, u64::to_string);
    let images = known.map_or(accepts_images(provider, is_own_server), |known| known.images);
    let output = |text: &str| units::count(text, 16, context_window.saturating_sub(1));
    let max_output = reader.get_or(at, "max_output", output, MAX_OUTPUT.min(context_window / 2), u64::to_string);
    Model {
        provider,
        name,
        context_window,
        max_output,
        temperature: reader.get(at, "temperature", units::temperature),
        images: reader.get_or(at, "images", units::flag, images, bool::to_string),
        patience: reader
            .get(at, "patience", |text| units::duration_within(text, Duration::from_secs(1), Duration::from_hours(1)))
            .unwrap_or_default(),
        price: price(reader, &format!("{at}.price"), known.map(|known| known.price)),
        base_url,
        api_key,
    }
}

/// Interprets an optional model section.
pub fn optional_model(reader: &mut ConfigReader<'_>, at: &str) -> Option<Model> {
    reader.has(at).then(|| model(reader, at))
}

/// Interprets `[transcription]`.
pub fn transcription(reader: &mut ConfigReader<'_>) -> Option<Transcription> {
    let at = "transcription";
    if !reader.has(at) {
        return None;
    }
    let base_url = reader.need(at, "base_url", address);
    let name = reader.need(at, "name", model_name);
    let api_key = reader.secret(at, "api_key");
    warn_of_open_wire(reader, at, base_url.as_deref(), api_key.as_ref());
    let price_per_minute = reader.get(at, "price_per_minute", units::money);
    Some(Transcription { base_url: base_url?, name: name?, api_key, price_per_minute })
}

/// Parses an HTTP or HTTPS address without credentials. Removes trailing slashes.
pub fn address(text: &str) -> Result<String, ValueError> {
    let text = text.trim();
    let fix = "write an address that begins with https:// or http://, as \"https://llm.example.org/v1\"";
    let url = url::Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let Some(url) = url else {
        // Text with an @ may contain a password.
        let shown = if text.contains('@') { "This".to_owned() } else { units::quoted(text) };
        return Err(ValueError::new(format!("{shown} is no address of a server"), fix));
    };
    if !url.username().is_empty() || url.password().is_some() {
        let fix = "take the name and the password out of the address; a key belongs into api_key";
        return Err(ValueError::new("The address holds a name or a password", fix));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(ValueError::new("The address goes on after ? or #", "end it with its path, as \"/v1\""));
    }
    Ok(text.trim_end_matches('/').to_owned())
}

fn name(reader: &mut ConfigReader<'_>, at: &str, provider: Provider, is_orphan: bool) -> String {
    if provider == Provider::Offline && !is_orphan {
        let offline = || Provider::Offline.as_str().to_owned();
        return reader.get_or(at, "name", |_| Ok(offline()), offline(), String::clone);
    }
    if is_orphan && !reader.is_written(at, "name") {
        return String::new();
    }
    reader.need(at, "name", model_name).unwrap_or_default()
}

/// Parses the name of a model.
pub fn model_name(text: &str) -> Result<String, ValueError> {
    let is_sound = !text.is_empty() && text.len() <= 200 && text.chars().all(|c| !c.is_control() && !c.is_whitespace());
    if is_sound {
        return Ok(text.to_owned());
    }
    Err(units::wrong(text, "is no name of a model", "write it exactly as the provider spells it, without spaces"))
}

fn provider(text: &str) -> Result<Provider, ValueError> {
    Provider::parse(text).ok_or_else(|| {
        let suggestion = units::nearest(text, Provider::ALL.iter().map(|provider| provider.as_str()));
        let fix = match suggestion {
            Some(suggestion) => {
                format!("write \"{suggestion}\", if that is what was meant; known are {}", quoted_list(Provider::ALL))
            }
            None => format!("write one of {}; \"openai\" fits any compatible server", quoted_list(Provider::ALL)),
        };
        ValueError::new(format!("There is no provider {}", units::quoted(text)), fix)
    })
}

fn quoted_list(providers: &[Provider]) -> String {
    providers.iter().map(|provider| format!("\"{}\"", provider.as_str())).collect::<Vec<_>>().join(", ")
}

fn check_key(
    reader: &mut ConfigReader<'_>,
    at: &str,
    provider: Provider,
    base_url: Option<&str>,
    key: Option<&SecretString>,
) {
    let is_guarded =
        matches!(provider, Provider::OpenAi | Provider::Anthropic | Provider::Gemini) && base_url.is_none();
    let is_given = ["api_key", "api_key_env", "api_key_file", "base_url"].iter().any(|way| reader.is_written(at, way));
    if is_guarded && !is_given {
        let what = format!("{} answers nobody without a key", provider.as_str());
        let fix = format!("add api_key, api_key_env or api_key_file to [{at}], or base_url for a server of your own");
        reader.lacks_because(at, "api_key", ValueError::new(what, fix));
    }
    warn_of_open_wire(reader, at, base_url, key);
}

/// Warns if an API key is sent over a network unencrypted.
pub fn warn_of_open_wire(reader: &mut ConfigReader<'_>, at: &str, base_url: Option<&str>, key: Option<&SecretString>) {
    let Some(url) = base_url.and_then(|url| url::Url::parse(url).ok()) else {
        return;
    };
    if key.is_some() && url.scheme() == "http" && !is_this_computer(&url) {
        let warning = format!(
            "[{at}] sends its key over the network in the clear; use https:// unless the network is yours alone"
        );
        reader.warnings.push(warning);
    }
}

fn is_this_computer(url: &url::Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

fn window_of(provider: Provider, is_own_server: bool) -> u64 {
    match provider {
        Provider::Offline => 16_384,
        Provider::Ollama => 8_192,
        Provider::Gemini => 1_000_000,
        Provider::Anthropic => 200_000,
        Provider::OpenAi if is_own_server => 32_768,
        Provider::OpenAi => 128_000,
    }
}

fn accepts_images(provider: Provider, is_own_server: bool) -> bool {
    match provider {
        Provider::Anthropic | Provider::Gemini => true,
        Provider::OpenAi => !is_own_server,
        Provider::Offline | Provider::Ollama => false,
    }
}

/// Interprets the price of a model, whose known price is `usual`.
fn price(reader: &mut ConfigReader<'_>, at: &str, usual: Option<Price>) -> Option<Price> {
    if !reader.has(at) {
        for (key, amount) in
            usual.iter().flat_map(|usual| [("input", usual.input), ("cached", usual.cached), ("output", usual.output)])
        {
            reader.get_or(at, key, units::money, amount, |amount| crate::wording::money(*amount));
        }
        return usual;
    }
    let mut amount = |name: &str| reader.get(at, name, units::money);
    let (input, cached, output) = (amount("input"), amount("cached"), amount("output"));
    for name in ["input", "output"] {
        if !reader.is_written(at, name) {
            let fix = format!("write price = {{ input = 3.00, output = 15.00 }} with {name} in it");
            reader.lacks_because(at, name, ValueError::new(format!("The price of {name} is missing"), fix));
        }
    }
    let input = input?;
    Some(Price { input, cached: cached.unwrap_or(input), output: output? })
}
