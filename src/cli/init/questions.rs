//! Questions of `init`: each answer comes from a flag, the environment, or the person.

use anyhow::Context;
use secrecy::SecretString;

use super::{Dialogue, InitAnswers, InitArgs, TypedSecret, signal};
use crate::cli::config::CliPaths;
use crate::cli::print::{self, CliError};
use crate::cli::{block_on, probe};
use crate::config::{Answers, Config, Person, Provider, SecretFrom, nearest_zone};
use crate::people::{Role, is_name};
use crate::time::Zone;
use crate::wording::cli::init as says;
use crate::wording::cli::with_fix;

/// File for a typed API key, in the home.
pub(super) const KEY_FILE: &str = "model.key";
/// File for a typed token, in the home.
const TOKEN_FILE: &str = "telegram.token";
/// Stands for the name of a model until it is known.
const UNNAMED_MODEL: &str = "unknown";

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

/// The dialogue, and the answers so far.
pub(super) struct Wizard<'a> {
    pub(super) options: &'a InitArgs,
    pub(super) paths: &'a CliPaths,
    pub(super) dialogue: &'a mut Dialogue,
    pub(super) answers: Answers,
    /// Typed secrets, which are not stored yet.
    pub(super) typed: Vec<TypedSecret>,
}

/// Asks for what flags and environment leave open. Each answer is checked when it is given, and
/// asked again alone.
pub(super) fn ask(options: &InitArgs, dialogue: &mut Dialogue, paths: &CliPaths) -> Result<InitAnswers, CliError> {
    let InitAnswers { answers, typed } = from_flags(options)?;
    let mut wizard = Wizard { options, paths, dialogue, answers, typed };
    wizard.ask_name_and_zone()?;
    wizard.ask_model()?;
    wizard.ask_telegram()?;
    wizard.ask_signal()?;
    Ok(InitAnswers { answers: wizard.answers, typed: wizard.typed })
}

impl Wizard<'_> {
    fn ask_name_and_zone(&mut self) -> Result<(), CliError> {
        while self.options.owner.is_none() {
            let usual = self.owner()?.name.clone();
            let name = self.dialogue.line(says::ASK_OWNER_NAME, &usual)?;
            if is_name(&name) && name.to_lowercase().parse::<Role>().is_err() {
                self.owner()?.name = name;
                break;
            }
            print::print_remark(&says::not_a_name(&name));
        }
        while self.options.timezone.is_none() {
            let zone = self.dialogue.line(says::ASK_ZONE, &self.answers.zone)?;
            if let Some(zone) = Zone::named(&zone) {
                self.answers.zone = zone.name().to_owned();
                break;
            }
            print::print_remark(&says::no_zone(&zone, nearest_zone(&zone)));
        }
        Ok(())
    }

    fn ask_telegram(&mut self) -> Result<(), CliError> {
        if self.answers.telegram.is_none() {
            print::print_remark(says::ABOUT_TELEGRAM);
            self.ask_token()?;
        }
        loop {
            let config = self.checked()?.1;
            let Some(telegram) = config.telegram.as_ref().filter(|_| !self.options.untested) else { return Ok(()) };
            print::print_remark(says::TESTING_TELEGRAM);
            match block_on(async { Ok(probe::telegram(telegram).await) })? {
                Ok(bot) => {
                    print::print_remark(&says::bot(&bot.username, bot.webhook.is_some()));
                    return Ok(());
                }
                Err(problem) => print::print_remark(&with_fix(&problem.what, &problem.fix)),
            }
            print::print_remark(says::ENTER_KEEPS);
            if !self.ask_token()? {
                return Ok(());
            }
        }
    }

    /// Asks for the bot's token until it can be read. Returns false if the line is empty.
    fn ask_token(&mut self) -> Result<bool, CliError> {
        self.ask_secret(says::ASK_TOKEN, TOKEN_FILE, |answers| &mut answers.telegram)
    }

    /// Asks for a secret until it can be read. A typed one goes into that file. Returns false, and
    /// keeps the answer before, if the line is empty.
    pub(super) fn ask_secret(
        &mut self,
        question: &str,
        file: &'static str,
        of: fn(&mut Answers) -> &mut Option<SecretFrom>,
    ) -> Result<bool, CliError> {
        let before = (of(&mut self.answers).clone(), self.typed.clone());
        loop {
            let given = self.dialogue.secret(question)?;
            if given.is_empty() {
                (*of(&mut self.answers), self.typed) = before;
                return Ok(false);
            }
            self.typed.retain(|typed| typed.file != file);
            *of(&mut self.answers) = secret_source(&given, file, &mut self.typed);
            if self.is_valid()? {
                return Ok(true);
            }
        }
    }

    fn ask_signal(&mut self) -> Result<(), CliError> {
        self.answers.signal = signal::ask(self.options, self.dialogue, self.paths)?;
        while self.answers.signal.is_some() && self.options.owner_signal.is_none() {
            self.owner()?.signal = signal::ask_owner(self.dialogue)?;
            if self.is_valid()? {
                break;
            }
        }
        Ok(())
    }

    fn owner(&mut self) -> anyhow::Result<&mut Person> {
        self.answers.people.first_mut().context("The answers name no owner")
    }

    /// Returns the text and the configuration that the answers so far make.
    pub(super) fn checked(&self) -> Result<(String, Config), CliError> {
        // Questions on a model come before its name is known.
        let is_unnamed = self.answers.provider != Provider::Offline && self.answers.model.is_none();
        let model = if is_unnamed { Some(UNNAMED_MODEL.to_owned()) } else { self.answers.model.clone() };
        let answers = Answers { model, ..self.answers.clone() };
        super::checked(&InitAnswers { answers, typed: self.typed.clone() }, self.paths)
    }

    /// Returns true if the answers so far are valid, and else says what is wrong.
    pub(super) fn is_valid(&self) -> Result<bool, CliError> {
        match self.checked() {
            Ok(_) => Ok(true),
            Err(CliError::Wrong(faults)) => {
                print::print_remark(&says::not_right(&faults));
                Ok(false)
            }
            Err(other) => Err(other),
        }
    }
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
        language: None,
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
