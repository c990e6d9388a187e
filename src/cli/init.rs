//! `compline init`: asks for settings, tests them, and writes the commented configuration.
//!
//! Every question can be answered beforehand by a flag or an environment variable; an answered
//! question is not asked. Nothing is written before the whole is valid: the text is parsed by the
//! same code that `run` uses. An existing configuration is replaced only after confirmation, and
//! kept next to the new one. A home that other users can open is closed if it was empty. If it was
//! not, only its owner knows who should have access, so the owner is warned.

mod dialogue;
mod file;
mod questions;
mod signal;

use std::collections::BTreeMap;

use clap::Args;
use secrecy::SecretString;

use super::channel::awaits_claim;
use super::failure::CliError;
use super::paths::{CliPaths, environment};
use super::print::{self, Printer};
use super::probe::{self, ProbeProblem};
use super::{Exit, block_on};
use crate::config::{self, Answers, Config, Home, Provider, SecretFrom, commented};
use crate::wording::cli::init as says;
use dialogue::Dialogue;

/// `compline init …`. The environment variables are those of the configuration.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// Ask nothing; use flags, environment and defaults
    #[arg(long)]
    non_interactive: bool,
    /// Replace an existing configuration; the old one is kept as .bak
    #[arg(long)]
    replace: bool,
    /// Do not test the model and the channels
    #[arg(long)]
    untested: bool,
    /// Time zone, as Europe/Vienna [default: this computer's]
    #[arg(long, env = "COMPLINE__TIMEZONE", hide_env_values = true)]
    timezone: Option<String>,
    /// Your name, as the assistant should call you
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,
    /// Your numeric Telegram id; without one, `run` prints a code to send
    #[arg(long, value_name = "ID")]
    owner_telegram: Option<i64>,
    /// Your Signal number, as +431234567890; without one, `run` prints a code to send
    #[arg(long, value_name = "NUMBER")]
    owner_signal: Option<String>,
    /// offline, openai (any compatible server), anthropic, gemini or ollama
    #[arg(long, env = "COMPLINE__MODEL__PROVIDER", hide_env_values = true)]
    provider: Option<String>,
    /// Name of the model, exactly as the provider spells it
    #[arg(long, env = "COMPLINE__MODEL__NAME", hide_env_values = true)]
    model: Option<String>,
    /// Address of your own server
    #[arg(long, env = "COMPLINE__MODEL__BASE_URL", hide_env_values = true)]
    base_url: Option<String>,
    /// Environment variable that holds the model's key
    #[arg(long, value_name = "VARIABLE")]
    api_key_env: Option<String>,
    /// File that holds the model's key
    #[arg(long, value_name = "FILE")]
    api_key_file: Option<String>,
    /// Environment variable that holds the Telegram bot's token
    #[arg(long, value_name = "VARIABLE")]
    telegram_token_env: Option<String>,
    /// File that holds the Telegram bot's token
    #[arg(long, value_name = "FILE")]
    telegram_token_file: Option<String>,
    /// Endpoint of signal-cli's daemon, as unix:HOME/signal.sock
    #[arg(long, value_name = "PLACE", env = "COMPLINE__SIGNAL__ENDPOINT", hide_env_values = true)]
    signal_endpoint: Option<String>,
    /// The assistant's account, if the daemon has several
    #[arg(long, value_name = "NUMBER", env = "COMPLINE__SIGNAL__ACCOUNT", hide_env_values = true)]
    signal_account: Option<String>,
}

/// A typed secret. It goes into a file of its own, so that the configuration can be shared.
struct TypedSecret {
    secret: SecretString,
    file: &'static str,
}

/// The answers, and the typed secrets that are not stored yet.
struct InitAnswers {
    answers: Answers,
    typed: Vec<TypedSecret>,
}

/// Asks, tests and writes.
pub fn run(options: &InitArgs, place: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let home = place.home.path();
    // Before anything is written.
    let found = file::inspect(home);
    let mut dialogue = if options.non_interactive { None } else { Some(Dialogue::open()?) };
    if place.config.exists() && !may_replace(options, place, dialogue.as_mut())? {
        printer.note(says::NOTHING_CHANGED);
        return Ok(Exit::Done);
    }
    let (text, typed, config) = match &mut dialogue {
        Some(dialogue) => ask_until_it_works(options, place, dialogue)?,
        None => take_as_given(options, place)?,
    };
    for TypedSecret { secret, file } in &typed {
        file::write_secret(&home.join(file), secret)?;
    }
    let kept = file::replace(&place.config, &text)?;
    print::print_remark(&says::written(&place.config, kept.as_deref()));
    if let Some(mode) = file::close(home, found) {
        print::print_remark(&says::open_home(home, mode, &place.command("doctor --fix")));
    }
    print::print_remark(&next(place, &config));
    Ok(Exit::Done)
}

fn may_replace(options: &InitArgs, place: &CliPaths, dialogue: Option<&mut Dialogue>) -> Result<bool, CliError> {
    match dialogue {
        _ if options.replace => Ok(true),
        Some(dialogue) => dialogue.yes(&says::replace(&place.config)),
        None => Err(CliError::Wrong(says::would_replace(&place.config))),
    }
}

fn take_as_given(options: &InitArgs, place: &CliPaths) -> Result<(String, Vec<TypedSecret>, Config), CliError> {
    let gathered = questions::given(options)?;
    let (text, config) = checked(&gathered, place)?;
    if !options.untested {
        block_on(async { Ok(test(&config).await) })?.map_err(|trouble| {
            CliError::Failed(crate::wording::cli::with_fix(&trouble.what, &says::or_untested(&trouble.fix)))
        })?;
    }
    Ok((text, gathered.typed, config))
}

fn ask_until_it_works(
    options: &InitArgs,
    place: &CliPaths,
    dialogue: &mut Dialogue,
) -> Result<(String, Vec<TypedSecret>, Config), CliError> {
    print::print_remark(says::WELCOME);
    let mut last = None;
    loop {
        let gathered = questions::ask(options, dialogue, place, last.as_ref())?;
        let (text, config) = match checked(&gathered, place) {
            Ok(checked) => checked,
            Err(CliError::Wrong(faults)) => {
                print::print_remark(&says::again(&faults));
                last = Some(gathered.answers);
                continue;
            }
            Err(other) => return Err(other),
        };
        if options.untested {
            return Ok((text, gathered.typed, config));
        }
        match block_on(async { Ok(test(&config).await) })? {
            Ok(()) => return Ok((text, gathered.typed, config)),
            Err(trouble) => {
                print::print_remark(&crate::wording::cli::with_fix(&trouble.what, &trouble.fix));
                if dialogue.yes(says::WRITE_ANYWAY)? {
                    return Ok((text, gathered.typed, config));
                }
                last = Some(gathered.answers);
            }
        }
    }
}

/// Returns the text to write and its interpretation. Typed secrets are parsed as if their files
/// already contained them.
fn checked(gathered: &InitAnswers, place: &CliPaths) -> Result<(String, Config), CliError> {
    let text = commented(&gathered.answers);
    let mut inline = gathered.answers.clone();
    for typed in &gathered.typed {
        let place = if typed.file == questions::KEY_FILE { &mut inline.api_key } else { &mut inline.telegram };
        *place = Some(SecretFrom::Inline(typed.secret.clone()));
    }
    let read = |text: &str, env: &BTreeMap<String, String>, home: Home| {
        config::parse(text, &place.config.to_string_lossy(), env, home)
    };
    let config = read(&commented(&inline), &environment(), place.home.clone())?.config;
    Ok((text, config))
}

/// Tests the model and the channels with real requests. A daemon that Compline is to start was
/// already tested during the questions.
async fn test(config: &Config) -> Result<(), ProbeProblem> {
    if config.model.provider != Provider::Offline {
        print::print_remark(says::TESTING_MODEL);
        probe::model(&config.model).await?;
        print::print_remark(says::MODEL_ANSWERS);
    }
    if let Some(telegram) = &config.telegram {
        print::print_remark(says::TESTING_TELEGRAM);
        let bot = probe::telegram(telegram).await?;
        print::print_remark(&says::bot(&bot.username, bot.webhook.is_some()));
    }
    if let Some(signal) = config.signal.as_ref().filter(|signal| signal.command.is_empty()) {
        print::print_remark(signal::says::TESTING);
        let look = probe::signal(signal).await?;
        let number = look.account(signal.account.as_deref()).map_err(probe::no_account)?;
        print::print_remark(&signal::says::account(&number));
    }
    Ok(())
}

fn next(place: &CliPaths, config: &Config) -> String {
    says::next(&place.command("run"), &place.command("chat"), &place.command("doctor"), awaits_claim(config))
}
