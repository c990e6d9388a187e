//! Questions of `init`: each answer comes from a flag, the environment, or the person.

use secrecy::SecretString;

use super::{Dialogue, InitAnswers, InitArgs, TypedSecret, signal};
use crate::cli::config::CliPaths;
use crate::cli::print::{self, CliError};
use crate::config::{Answers, Person, Provider, SecretFrom};
use crate::people::Role;
use crate::time::Zone;
use crate::wording::cli::init as says;

/// File for a typed API key, in the home.
pub(super) const KEY_FILE: &str = "model.key";
/// File for a typed token, in the home.
const TOKEN_FILE: &str = "telegram.token";

/// Returns all answers from flags and the environment.
pub(super) fn from_flags(options: &InitArgs) -> Result<InitAnswers, CliError> {
    let provider = match options.provider.as_deref() {
        None => Provider::Offline,
        Some(word) => Provider::parse(word).ok_or_else(|| CliError::Wrong(says::no_provider(word)))?,
    };
    let zone = options.timezone.clone().unwrap_or_else(|| default_zone().to_owned());
    let name = options.owner.clone().unwrap_or_else(default_name);
    Ok(InitAnswers { answers: with_flags(options, name, zone, provider), typed: Vec::new() })
}

/// Asks for the missing answers. A repeated question offers the last answer as its default.
pub(super) fn ask(
    options: &InitArgs,
    dialogue: &mut Dialogue,
    paths: &CliPaths,
    last: Option<&Answers>,
) -> Result<InitAnswers, CliError> {
    let mut typed = Vec::new();
    let last_name = last.and_then(|last| last.people.first()).map(|owner| owner.name.clone());
    let name = match &options.owner {
        Some(name) => name.clone(),
        None => dialogue.line(says::ASK_NAME, &last_name.unwrap_or_else(default_name))?,
    };
    let zone = match &options.timezone {
        Some(zone) => zone.clone(),
        None => ask_zone(dialogue, last.map_or(default_zone(), |last| &last.zone))?,
    };
    let provider = match options.provider.as_deref().and_then(Provider::parse) {
        Some(provider) => provider,
        None => ask_provider(dialogue, last.map_or(Provider::Offline, |last| last.provider))?,
    };
    let mut answers = with_flags(options, name, zone, provider);
    if provider != Provider::Offline {
        ask_model(&mut answers, dialogue, last.filter(|last| last.provider == provider), &mut typed)?;
    }
    if answers.telegram.is_none() {
        print::print_remark(says::ABOUT_TELEGRAM);
        let given = dialogue.secret(says::ASK_TOKEN)?;
        answers.telegram = secret_source(&given, TOKEN_FILE, &mut typed);
    }
    answers.signal = signal::ask(options, dialogue, paths, last.and_then(|last| last.signal.as_ref()))?;
    if let (Some(_), Some(owner)) = (&answers.signal, answers.people.first_mut()) {
        let last = last.and_then(|last| last.people.first()?.signal.as_deref());
        owner.signal = signal::ask_owner(options, dialogue, last)?;
    }
    Ok(InitAnswers { answers, typed })
}

fn ask_zone(dialogue: &mut Dialogue, default: &str) -> Result<String, CliError> {
    loop {
        let zone = dialogue.line(says::ASK_ZONE, default)?;
        if Zone::named(&zone).is_some() {
            return Ok(zone);
        }
        print::print_remark(&says::no_zone(&zone));
    }
}

fn ask_provider(dialogue: &mut Dialogue, default: Provider) -> Result<Provider, CliError> {
    print::print_remark(says::PROVIDERS);
    loop {
        let word = dialogue.line(says::ASK_PROVIDER, default.as_str())?;
        let by_number = word.parse().ok().and_then(|number: usize| Provider::ALL.get(number.checked_sub(1)?).copied());
        match by_number.or_else(|| Provider::parse(&word.to_lowercase())) {
            Some(provider) => return Ok(provider),
            None => print::print_remark(&says::no_provider(&word)),
        }
    }
}

fn ask_model(
    answers: &mut Answers,
    dialogue: &mut Dialogue,
    last: Option<&Answers>,
    typed: &mut Vec<TypedSecret>,
) -> Result<(), CliError> {
    if answers.base_url.is_none() && matches!(answers.provider, Provider::OpenAi | Provider::Ollama) {
        let default = last.and_then(|last| last.base_url.as_deref()).unwrap_or_default();
        let url = dialogue.line(&says::ask_base_url(answers.provider.as_str()), default)?;
        answers.base_url = Some(url).filter(|url| !url.is_empty());
    }
    while answers.model.is_none() {
        let name = dialogue.line(says::ASK_MODEL, last.and_then(|last| last.model.as_deref()).unwrap_or_default())?;
        answers.model = Some(name).filter(|name| !name.is_empty());
    }
    if answers.api_key.is_none() {
        print::print_remark(says::ABOUT_KEY);
        let given = dialogue.secret(says::ASK_KEY)?;
        answers.api_key = secret_source(&given, KEY_FILE, typed);
    }
    Ok(())
}

/// Interprets an answer: `$NAME` is a variable, a path is a file, an empty answer is none, and
/// anything else is the secret itself.
fn secret_source(given: &str, file: &'static str, typed: &mut Vec<TypedSecret>) -> Option<SecretFrom> {
    if given.is_empty() {
        return None;
    }
    if let Some(variable) = given.strip_prefix('$') {
        return Some(SecretFrom::Environment(variable.to_owned()));
    }
    if given.starts_with('/') || given.starts_with("HOME/") {
        return Some(SecretFrom::File(given.to_owned()));
    }
    typed.push(TypedSecret { secret: SecretString::from(given.to_owned()), file });
    Some(SecretFrom::File(format!("HOME/{file}")))
}

fn secret_from(variable: &Option<String>, file: &Option<String>) -> Option<SecretFrom> {
    let variable = variable.clone().map(SecretFrom::Environment);
    variable.or_else(|| file.clone().map(SecretFrom::File))
}

/// Returns these answers, and those that flags and the environment give.
fn with_flags(options: &InitArgs, name: String, zone: String, provider: Provider) -> Answers {
    let owner = Person {
        name,
        role: Role::Owner,
        telegram: options.owner_telegram,
        signal: options.owner_signal.clone(),
        prefer: None,
        zone: None,
        quiet_hours: Person::QUIET_HOURS.to_owned(),
    };
    Answers {
        zone,
        provider,
        model: options.model.clone(),
        base_url: options.base_url.clone(),
        api_key: secret_from(&options.api_key_env, &options.api_key_file),
        telegram: secret_from(&options.telegram_token_env, &options.telegram_token_file),
        signal: signal::from_flags(options),
        people: vec![owner],
        ..Answers::default()
    }
}

fn default_zone() -> &'static str {
    Zone::of_this_computer().unwrap_or(Zone::UTC).name()
}

/// Returns the login name, unless it is a generic one.
fn default_name() -> String {
    let login = ["USER", "LOGNAME"].into_iter().find_map(|variable| std::env::var(variable).ok());
    login.filter(|name| !name.is_empty() && name != "root").unwrap_or_else(|| says::USUAL_NAME.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_secret_source_is_recognised() {
        let mut typed = Vec::new();
        let shown = |from: &Option<SecretFrom>| match from {
            Some(SecretFrom::Environment(name)) => format!("variable {name}"),
            Some(SecretFrom::File(path)) => format!("file {path}"),
            Some(SecretFrom::Inline(_)) => "inline".to_owned(),
            None => "none".to_owned(),
        };
        let cases = [
            ("", "none"),
            ("$MODEL_KEY", "variable MODEL_KEY"),
            ("/run/secrets/key", "file /run/secrets/key"),
            ("HOME/own.key", "file HOME/own.key"),
            ("sk-12345", "file HOME/model.key"),
        ];
        for (given, meant) in cases {
            assert_eq!(shown(&secret_source(given, KEY_FILE, &mut typed)), meant, "{given}");
        }
        assert_eq!(typed.len(), 1);
    }
}
