//! `compline config set-secret KEY`: replaces an API key or token where the configuration has it.
//!
//! The secret is typed without echo, or read from standard input; it is never an argument, because
//! other users of the computer can see arguments. It is tested with a real request first, replaces
//! the old one at once, and a running gateway is made to use it.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;

use secrecy::{ExposeSecret, SecretString};

use super::config::{CliPaths, SetSecret, environment};
use super::init::{Dialogue, write_private};
use super::print::{self, CliError, Printer};
use super::probe::{self, ProbeProblem};
use super::{Exit, block_on, run};
use crate::config::{self, Config, ConfigError, SecretLocation, SecretPlace};
use crate::wording::cli::secret as says;

/// Maximum length of a secret, in bytes.
const MAX_LENGTH: u64 = 8192;

/// Replaces the secret.
pub fn set_secret(options: &SetSecret, paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let key = options.key.as_str();
    let text = std::fs::read_to_string(&paths.config)
        .map_err(|_| CliError::from(ConfigError::Missing { path: paths.config.clone() }))?;
    let text = text.trim_start_matches('\u{feff}');
    let place = config::secret_place(text, &paths.home, key)
        .ok_or_else(|| CliError::Wrong(says::no_secret(key, &config::secret_keys())))?;
    let variable = variable_of(key);
    match &place {
        _ if environment().contains_key(&variable) => return Err(CliError::Wrong(says::in_variable(key, &variable))),
        SecretPlace::Outside(SecretLocation::Variable(name)) => {
            return Err(CliError::Wrong(says::in_variable(key, name)));
        }
        SecretPlace::Unset => return Err(CliError::Wrong(says::unset(key, &paths.config))),
        SecretPlace::Inline(_) | SecretPlace::Outside(SecretLocation::File(_)) => {}
    }
    let Some(secret) = sound_secret(options, paths, printer)? else {
        print::print_remark(says::NOTHING_CHANGED);
        return Ok(Exit::Failed);
    };
    store(&place, text, &secret, &paths.config)?;
    if run::is_running(paths) {
        run::reload(paths)?;
        printer.note(&says::changed_now(key));
    } else {
        printer.note(&says::changed(key));
    }
    Ok(Exit::Done)
}

/// Asks until a secret passes its test; `None` if the person gives up. Standard input has one try.
fn sound_secret(options: &SetSecret, paths: &CliPaths, printer: Printer) -> Result<Option<SecretString>, CliError> {
    if !print::is_dialogue() {
        let mut text = String::new();
        io::stdin().take(MAX_LENGTH).read_to_string(&mut text)?;
        let secret = SecretString::from(text.trim().to_owned());
        if secret.expose_secret().is_empty() {
            return Err(CliError::Wrong(says::NO_INPUT.to_owned()));
        }
        test(options, &secret, paths, printer)?;
        return Ok(Some(secret));
    }
    let mut dialogue = Dialogue::open()?;
    loop {
        let secret = SecretString::from(dialogue.secret(&says::ask(&options.key))?);
        if secret.expose_secret().is_empty() {
            return Ok(None);
        }
        match test(options, &secret, paths, printer) {
            Ok(()) => return Ok(Some(secret)),
            Err(error) => {
                error.print();
            }
        }
    }
}

/// Parses the configuration with the secret in place, and tests it with a real request.
fn test(options: &SetSecret, secret: &SecretString, paths: &CliPaths, printer: Printer) -> Result<(), CliError> {
    let mut env: BTreeMap<String, String> = environment();
    env.insert(variable_of(&options.key), secret.expose_secret().to_owned());
    let loaded = config::load_with_missing_secrets(paths.home.clone(), &paths.config, &env);
    let config = loaded.map_err(|error| CliError::Wrong(error.to_string()))?.config;
    if options.untested {
        return Ok(());
    }
    let tested = block_on(async { Ok(probe_with(&config, &options.key).await) })?;
    match tested.map_err(|problem| CliError::Failed(says::refused(&problem.what, &problem.fix)))? {
        Some(answer) => printer.note(&answer),
        None => printer.note(says::NO_TEST),
    }
    Ok(())
}

/// Makes a request with the secret. Returns what to say of a success, or `None` without a test.
async fn probe_with(config: &Config, key: &str) -> Result<Option<String>, ProbeProblem> {
    let model = match key {
        "model.api_key" => Some(&config.model),
        "model.fallback.api_key" => config.fallback.as_ref(),
        "model.background.api_key" => config.background.as_ref(),
        "model.reviewer.api_key" => config.reviewer.as_ref(),
        _ => None,
    };
    if let Some(model) = model {
        probe::model(model).await?;
        return Ok(Some(says::MODEL_ANSWERS.to_owned()));
    }
    match (key, &config.telegram, &config.embedding) {
        ("telegram.token", Some(telegram), _) => {
            let bot = probe::telegram(telegram).await?;
            Ok(Some(says::bot(&bot.username)))
        }
        ("embedding.api_key", _, Some(embedding)) => {
            probe::embedding(embedding).await?;
            Ok(Some(says::MODEL_ANSWERS.to_owned()))
        }
        _ => Ok(None),
    }
}

fn store(place: &SecretPlace, text: &str, secret: &SecretString, config: &Path) -> Result<(), CliError> {
    let secret = secret.expose_secret();
    match place {
        SecretPlace::Inline(span) => {
            let (before, after) = (text.get(..span.start), text.get(span.end..));
            let literal = toml::Value::from(secret).to_string();
            let text = format!("{}{literal}{}", before.unwrap_or_default(), after.unwrap_or_default());
            write_private(&real(config), &text)?;
        }
        SecretPlace::Outside(SecretLocation::File(path)) => write_private(&real(path), &format!("{secret}\n"))?,
        SecretPlace::Outside(SecretLocation::Variable(_)) | SecretPlace::Unset => {}
    }
    Ok(())
}

/// Returns the target of a link, so that the link stays.
fn real(path: &Path) -> std::path::PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Returns the environment variable that replaces the secret.
fn variable_of(key: &str) -> String {
    format!("COMPLINE__{}", key.replace('.', "__").to_uppercase())
}
