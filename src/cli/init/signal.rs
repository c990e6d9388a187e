//! Signal in the dialogue: the wish to use it, the daemon, its account, and instructions to get
//! one.
//!
//! Each step is tested for real before the next question. A daemon that Compline is to start is
//! started for the test. A problem is reported with its fix, and the person may continue anyway:
//! the configuration can be right before the daemon is.

use std::collections::BTreeMap;

use super::{Dialogue, InitArgs};
use crate::adapter::signal::DaemonProbe;
use crate::cli::config::CliPaths;
use crate::cli::print::CliError;
use crate::cli::signal::{self, PROGRAM, daemon_at, installed_at};
use crate::cli::{block_on, print, probe};
use crate::config::{self, Answers, SignalAnswers, SignalEndpoint, commented};
pub(super) use crate::wording::cli::signal as says;

/// Default endpoint of a daemon.
const DEFAULT_ENDPOINT: &str = "unix:HOME/signal.sock";
/// Name of the linked device on the phone.
const DEVICE: &str = "Compline";

/// Returns the answers from flags and the environment.
pub(super) fn from_flags(options: &InitArgs) -> Option<SignalAnswers> {
    let is_given = options.signal_endpoint.is_some() || options.signal_account.is_some();
    is_given.then(|| SignalAnswers {
        endpoint: options.signal_endpoint.clone().unwrap_or_else(|| DEFAULT_ENDPOINT.to_owned()),
        account: options.signal_account.clone(),
        command: Vec::new(),
    })
}

/// Asks for the missing answers.
pub(super) fn ask(
    options: &InitArgs,
    dialogue: &mut Dialogue,
    paths: &CliPaths,
) -> Result<Option<SignalAnswers>, CliError> {
    if let Some(given) = from_flags(options) {
        return Ok(Some(given));
    }
    print::print_remark(says::ABOUT);
    if !dialogue.yes(says::ASK)? {
        return Ok(None);
    }
    let (mut answers, config) = ask_endpoint(dialogue, paths)?;
    find_account(&mut answers, config, dialogue, paths)?;
    Ok(Some(answers))
}

/// Asks for the owner's own account, which is optional.
pub(super) fn ask_owner(dialogue: &mut Dialogue) -> Result<Option<String>, CliError> {
    Ok(Some(dialogue.line(says::ASK_OWNER, "")?).filter(|typed| !typed.is_empty()))
}

fn ask_endpoint(dialogue: &mut Dialogue, paths: &CliPaths) -> Result<(SignalAnswers, config::Signal), CliError> {
    loop {
        let endpoint = dialogue.line(says::ASK_ENDPOINT, DEFAULT_ENDPOINT)?;
        let answers = SignalAnswers { endpoint, account: None, command: Vec::new() };
        match parse_answers(&answers, paths) {
            Ok(config) => return Ok((answers, config)),
            Err(CliError::Wrong(faults)) => print::print_remark(&faults),
            Err(other) => return Err(other),
        }
    }
}

/// Repeats the test until a daemon with an account answers, or the person gives up.
fn find_account(
    answers: &mut SignalAnswers,
    mut config: config::Signal,
    dialogue: &mut Dialogue,
    paths: &CliPaths,
) -> Result<(), CliError> {
    loop {
        let result = block_on(signal::with_daemon(&config, &paths.home, async |signal| {
            probe::existing_signal(signal, &config).await.map_err(CliError::from)
        }));
        match result {
            Ok(daemon_probe) => {
                print::print_remark(&says::found(&daemon_probe.version));
                if choose_account(&daemon_probe, answers, &config, dialogue, paths)? {
                    return Ok(());
                }
            }
            Err(failure) => {
                failure.print();
                if let Some(command) = may_start(answers, &config, dialogue)? {
                    answers.command = command;
                    config = parse_answers(answers, paths)?;
                } else if !dialogue.yes(says::ASK_AGAIN)? {
                    return Ok(());
                }
            }
        }
    }
}

/// Returns the command with which Compline may start the daemon, if that is possible and wanted.
fn may_start(
    answers: &SignalAnswers,
    config: &config::Signal,
    dialogue: &mut Dialogue,
) -> Result<Option<Vec<String>>, CliError> {
    let SignalEndpoint::Unix(_) = &config.endpoint else { return Ok(None) };
    let is_possible = answers.command.is_empty() && installed_at(PROGRAM).is_some();
    let socket = answers.endpoint.trim_start_matches("unix:");
    Ok((is_possible && dialogue.yes(says::ASK_START)?).then(|| daemon_at(socket)))
}

/// Selects the assistant's account. Returns `true` if it is settled, and `false` if a daemon has to
/// be tested again.
fn choose_account(
    daemon_probe: &DaemonProbe,
    answers: &mut SignalAnswers,
    config: &config::Signal,
    dialogue: &mut Dialogue,
    paths: &CliPaths,
) -> Result<bool, CliError> {
    match daemon_probe.accounts.as_deref() {
        Some([only]) => print::print_remark(&says::account(only)),
        Some([]) => {
            print::print_remark(says::NO_ACCOUNT_YET);
            if !dialogue.yes(says::ASK_LINK)? {
                print::print_remark(says::HOW_TO_REGISTER);
                return Ok(true);
            }
            match signal::link(config, &paths.home, DEVICE) {
                Ok(number) => print::print_remark(&says::linked(&number)),
                Err(failure) => {
                    failure.print();
                    return Ok(false);
                }
            }
        }
        several => {
            print::print_remark(&says::which(several.unwrap_or_default()));
            let number = dialogue.line(says::ASK_ACCOUNT, "")?;
            answers.account = Some(number).filter(|number| !number.is_empty());
        }
    }
    Ok(true)
}

/// Returns the `[signal]` section that these answers produce.
fn parse_answers(answers: &SignalAnswers, paths: &CliPaths) -> Result<config::Signal, CliError> {
    let text = commented(&Answers { signal: Some(answers.clone()), ..Answers::default() });
    let read = config::parse(&text, &paths.config.to_string_lossy(), &BTreeMap::new(), paths.home.clone())?;
    read.config.signal.ok_or_else(|| anyhow::anyhow!("The section for Signal was not understood").into())
}
