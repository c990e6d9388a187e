//! `compline signal …`: the assistant's Signal account, from none to a number.
//!
//! The configured daemon is queried; no journal is needed. A daemon that Compline is to start, and
//! that is not running yet, runs for the duration of the command.

mod code;
pub(super) mod daemon;
pub(super) mod link;

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::json;

use super::failure::CliError;
use super::paths::CliPaths;
use super::print::Printer;
use super::{Exit, block_on, probe};
use crate::config::{self, Home};
use crate::wording::cli::signal as says;

/// `compline signal …`
#[derive(Debug, Subcommand)]
pub enum SignalCommand {
    /// List the daemon's accounts and mark the assistant's
    Accounts,
    /// Link the daemon to a phone as another device, by QR code
    Link {
        /// Name of the device on the phone
        #[arg(long, default_value = "Compline")]
        name: String,
    },
}

/// Runs the command.
pub fn run(command: &SignalCommand, place: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let config = place.load()?.config.signal.ok_or_else(|| CliError::Wrong(says::not_configured(&place.config)))?;
    match command {
        SignalCommand::Accounts => accounts(&config, &place.home, printer)?,
        SignalCommand::Link { name } => {
            let number = link::link(&config, &place.home, name)?;
            match printer.json {
                true => printer.json(&json!({ "number": number }))?,
                false => printer.fact(&says::linked(&number))?,
            }
        }
    }
    Ok(Exit::Done)
}

fn accounts(config: &config::Signal, home: &Home, printer: Printer) -> Result<(), CliError> {
    let look = block_on(daemon::with(config, home, async |signal| Ok(probe::of_signal(signal, config).await)))??;
    let ours = look.account(config.account.as_deref());
    let numbers = look.accounts.as_deref();
    if printer.json {
        let is_ours = |number: &String| ours.as_ref().is_ok_and(|ours| ours == number);
        let each = |number: &String| json!({ "number": number, "is_ours": is_ours(number) });
        let accounts = numbers.map(|numbers| numbers.iter().map(each).collect::<Vec<_>>());
        return printer.json(&json!({ "version": look.version, "accounts": accounts }));
    }
    printer.fact(&says::accounts(&look.version, numbers, ours.as_deref().map_err(|sentence| *sentence)))
}

/// Program of the daemon.
pub(super) const PROGRAM: &str = "signal-cli";

/// Returns the command that starts a daemon at this socket.
pub(super) fn daemon_at(socket: &str) -> Vec<String> {
    [PROGRAM, "daemon", "--socket", socket, "--receive-mode=manual", "--no-receive-stdout"].map(str::to_owned).to_vec()
}

/// Returns the path of a program, as a shell would find it.
pub(super) fn installed_at(name: &str) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let may_run = |path: &PathBuf| {
        std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(may_run);
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(may_run)
}
