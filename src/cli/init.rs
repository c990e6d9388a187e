//! `compline init`: asks for settings, tests each when it is given, and writes the commented
//! configuration.
//!
//! Every question can be answered beforehand by a flag or an environment variable; an answered
//! question is not asked. Nothing is written before the whole is valid: the text is parsed by the
//! same code that `run` uses. An existing configuration is replaced only after confirmation, and
//! kept next to the new one. A home that other users can open is closed if it was empty. If it was
//! not, only its owner knows who should have access, so the owner is warned.

mod model;
mod questions;
mod signal;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use rustyline::completion::Completer;
use rustyline::config::Configurer;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{ColorMode, Editor, Helper};
use secrecy::{ExposeSecret, SecretString};

use super::config::{CliPaths, SYSTEM_HOME, awaits_claim, environment};
use super::print::{self, CliError, Printer};
use super::probe::{self, ProbeProblem};
use super::run::{self, RunArgs};
use super::{Exit, block_on};
use crate::config::{self, Answers, Config, Home, Provider, SecretFrom, commented};
use crate::wording::cli::init as says;

/// `compline init …`. The environment variables are those of the configuration.
#[derive(Debug, Default, Args)]
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
#[derive(Clone)]
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
pub fn run(options: &InitArgs, paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let home = paths.home.path();
    // Before anything is written.
    let was_empty = is_empty(home);
    let mut dialogue = if options.non_interactive { None } else { Some(Dialogue::open()?) };
    if paths.config.exists() && !may_replace(options, paths, dialogue.as_mut())? {
        printer.note(says::NOTHING_CHANGED);
        return Ok(Exit::Done);
    }
    let (text, typed, config) = match &mut dialogue {
        Some(dialogue) => {
            print::print_remark(says::WELCOME);
            let answers = questions::ask(options, dialogue, paths)?;
            let (text, config) = checked(&answers, paths)?;
            (text, answers.typed, config)
        }
        None => take_as_given(options, paths)?,
    };
    for TypedSecret { secret, file } in &typed {
        write_private(&home.join(file), &format!("{}\n", secret.expose_secret()))?;
    }
    let previous = replace_config(&paths.config, &text)?;
    print::print_remark(&says::written(&paths.config, previous.as_deref()));
    if let Some(mode) = close_home(home, was_empty) {
        print::print_remark(&says::open_home(home, mode, &paths.command("doctor --fix")));
    }
    // What was given by flags alone is a script's, which does not start a gateway.
    if let Some(dialogue) = dialogue.as_mut().filter(|_| !config.channels().is_empty())
        && dialogue.is_agreed(says::START_NOW)?
    {
        return run::run(&RunArgs::default(), paths, printer, false);
    }
    print::print_remark(&next(paths, &config));
    Ok(Exit::Done)
}

/// Offers to begin with the offline model where nothing is set up, and writes its configuration.
///
/// # Errors
/// If there is no terminal to ask in, or the person does not want that.
pub fn offer_offline(paths: &CliPaths) -> Result<(), CliError> {
    let init = paths.command("init");
    if !print::is_dialogue() {
        return Err(CliError::Wrong(says::not_set_up(&paths.config, &init)));
    }
    let mut dialogue = Dialogue::open()?;
    print::print_remark(&says::offer_offline(&init));
    if !dialogue.is_agreed(says::BEGIN_OFFLINE)? {
        return Err(CliError::Wrong(says::not_set_up(&paths.config, &init)));
    }
    let was_empty = is_empty(paths.home.path());
    let (text, ..) = take_as_given(&InitArgs::default(), paths)?;
    replace_config(&paths.config, &text)?;
    print::print_remark(&says::written(&paths.config, None));
    if let Some(mode) = close_home(paths.home.path(), was_empty) {
        print::print_remark(&says::open_home(paths.home.path(), mode, &paths.command("doctor --fix")));
    }
    Ok(())
}

fn may_replace(options: &InitArgs, paths: &CliPaths, dialogue: Option<&mut Dialogue>) -> Result<bool, CliError> {
    match dialogue {
        _ if options.replace => Ok(true),
        Some(dialogue) => dialogue.yes(&says::replace(&paths.config)),
        None => Err(CliError::Wrong(says::would_replace(&paths.config))),
    }
}

fn take_as_given(options: &InitArgs, paths: &CliPaths) -> Result<(String, Vec<TypedSecret>, Config), CliError> {
    let answers = questions::from_flags(options)?;
    let (text, config) = checked(&answers, paths)?;
    if !options.untested {
        block_on(async { Ok(test(&config).await) })?.map_err(|problem| {
            CliError::Failed(crate::wording::cli::with_fix(&problem.what, &says::or_untested(&problem.fix)))
        })?;
    }
    Ok((text, answers.typed, config))
}

/// Returns the text to write and its interpretation. Typed secrets are parsed as if their files
/// already contained them.
fn checked(answers: &InitAnswers, paths: &CliPaths) -> Result<(String, Config), CliError> {
    let text = commented(&answers.answers);
    let mut inline = answers.answers.clone();
    for typed in &answers.typed {
        let place = if typed.file == questions::KEY_FILE { &mut inline.api_key } else { &mut inline.telegram };
        *place = Some(SecretFrom::Inline(typed.secret.clone()));
    }
    let read = |text: &str, env: &BTreeMap<String, String>, home: Home| {
        config::parse(text, &paths.config.to_string_lossy(), env, home)
    };
    let config = read(&commented(&inline), &environment(), paths.home.clone())?.config;
    Ok((text, config))
}

/// Tests the model and the channels with real requests.
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
        let probe_result = probe::signal(signal).await?;
        let number = probe_result.account(signal.account.as_deref()).map_err(probe::no_account)?;
        print::print_remark(&signal::says::account(&number));
    }
    Ok(())
}

fn next(paths: &CliPaths, config: &Config) -> String {
    let claims = awaits_claim(config);
    let run = match paths.home.path() == Path::new(SYSTEM_HOME) {
        // A service prints no code.
        true if claims => format!("{} && {}", says::START_SERVICE, paths.command("people claim")),
        true => says::START_SERVICE.to_owned(),
        false => paths.command("run"),
    };
    says::next(&run, &paths.command("chat"), &paths.command("doctor"), claims)
}

/// Writes the configuration. Returns the path of the previous one, which is kept next to it.
fn replace_config(path: &Path, text: &str) -> anyhow::Result<Option<PathBuf>> {
    let previous = sibling(path, ".bak");
    let was_there = path.exists();
    if was_there {
        std::fs::copy(path, &previous)
            .with_context(|| format!("Cannot keep the old configuration as {}", previous.display()))?;
    }
    write_private(path, text)?;
    Ok(was_there.then_some(previous))
}

/// Returns `true` if a directory is empty or missing.
fn is_empty(folder: &Path) -> bool {
    match std::fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Closes a directory that was empty to other users. Returns its mode if they can still open it.
fn close_home(folder: &Path, was_empty: bool) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(folder).ok()?.permissions().mode() & 0o7777;
    let is_closed = || std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)).is_ok();
    (mode & 0o077 != 0 && !(was_empty && is_closed())).then_some(mode)
}

/// Writes a file that only its owner can read, in one step, and the folder that holds it.
pub(super) fn write_private(path: &Path, text: &str) -> anyhow::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    if let Some(folder) = path.parent() {
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.with_context(|| format!("Cannot write {}", path.display()))?;
    }
    config::write_private(path, text.as_bytes())
}

fn sibling(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// A dialogue with the person at the terminal.
pub(super) struct Dialogue(Editor<Mask, DefaultHistory>);

impl Dialogue {
    /// Opens a dialogue, if there is a terminal.
    pub(super) fn open() -> Result<Self, CliError> {
        if !print::is_dialogue() {
            return Err(CliError::Wrong(says::NO_DIALOGUE.to_owned()));
        }
        let mut editor = Editor::new().map_err(dialogue_failure)?;
        editor.set_helper(Some(Mask { on: false }));
        editor.set_auto_add_history(false);
        Ok(Self(editor))
    }

    /// Reads a line; an empty one means `usual`.
    fn line(&mut self, question: &str, default: &str) -> Result<String, CliError> {
        let prompt = if default.is_empty() { format!("{question}: ") } else { format!("{question} [{default}]: ") };
        let typed = self.0.readline(&prompt).map_err(dialogue_failure)?;
        let typed = typed.trim();
        Ok(if typed.is_empty() { default } else { typed }.to_owned())
    }

    /// Reads a line without echo.
    pub(super) fn secret(&mut self, question: &str) -> Result<String, CliError> {
        self.mask(true);
        let typed = self.0.readline(&format!("{question}: ")).map_err(dialogue_failure);
        self.mask(false);
        Ok(typed?.trim().to_owned())
    }

    /// Asks a yes-or-no question. The default is no.
    fn yes(&mut self, question: &str) -> Result<bool, CliError> {
        let typed = self.line(&format!("{question} (y/N)"), "")?.to_lowercase();
        Ok(matches!(typed.as_str(), "y" | "yes"))
    }

    /// Asks a yes-or-no question. The default is yes.
    fn is_agreed(&mut self, question: &str) -> Result<bool, CliError> {
        let typed = self.line(&format!("{question} (Y/n)"), "")?.to_lowercase();
        Ok(matches!(typed.as_str(), "" | "y" | "yes"))
    }

    fn mask(&mut self, on: bool) {
        if let Some(mask) = self.0.helper_mut() {
            mask.on = on;
        }
        // The editor treats a mask as a colour, so it must not depend on the terminal's
        // capabilities.
        self.0.set_color_mode(if on { ColorMode::Forced } else { ColorMode::Enabled });
    }
}

fn dialogue_failure(error: ReadlineError) -> CliError {
    match error {
        ReadlineError::Eof | ReadlineError::Interrupted => CliError::Failed(says::BROKEN_OFF.to_owned()),
        other => anyhow::Error::new(other).into(),
    }
}

/// Hides the typed line while it is on.
struct Mask {
    on: bool,
}

impl Highlighter for Mask {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        if self.on { Cow::Owned("*".repeat(line.chars().count())) } else { Cow::Borrowed(line) }
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        self.on && !matches!(kind, CmdKind::MoveCursor)
    }
}

impl Completer for Mask {
    type Candidate = String;
}

impl Hinter for Mask {
    type Hint = String;
}

impl Validator for Mask {}

impl Helper for Mask {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn private_whole_and_the_old_one_kept() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("new/compline.toml");
        assert_eq!(replace_config(&path, "one").unwrap(), None);
        let previous = replace_config(&path, "two").unwrap().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(std::fs::read_to_string(previous).unwrap(), "one");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 2);
    }
}
