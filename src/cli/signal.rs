//! `compline signal …`: the account that the assistant has on Signal, from nothing to a number.
//!
//! The daemon of the configuration is asked, and no journal is needed. A daemon that Compline is to
//! start, and that nobody has started yet, is started for as long as the command takes.

mod code;
pub(super) mod daemon;
pub(super) mod link;

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::json;

use super::failure::CliError;
use super::paths::{CliPaths, shell};
use super::print::Printer;
use super::{Exit, block_on, probe};
use crate::config::{self, Home, SignalEndpoint};
use crate::wording::cli::signal as says;

/// `compline signal …`
#[derive(Debug, Subcommand)]
pub enum SignalCommand {
    /// The accounts that the daemon has, and which one is the assistant's
    Accounts,
    /// Link the daemon to a phone as a further device, by a code that the phone scans
    Link {
        /// What the phone calls the device
        #[arg(long, default_value = "Compline")]
        name: String,
    },
}

/// Does it.
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

/// The words with which signal-cli listens there.
pub(super) fn listens_at(endpoint: &SignalEndpoint) -> String {
    match endpoint {
        SignalEndpoint::Unix(socket) => format!("--socket {}", shell(socket)),
        SignalEndpoint::Tcp(place) => format!("--tcp {place}"),
        SignalEndpoint::Http(address) => {
            format!("--http {}", address.split_once("://").map_or(address.as_str(), |(_, place)| place))
        }
    }
}

/// The program of the daemon.
pub(super) const PROGRAM: &str = "signal-cli";

/// The command that starts a daemon at that socket.
pub(super) fn daemon_at(socket: &str) -> Vec<String> {
    [PROGRAM, "daemon", "--socket", socket, "--receive-mode=manual", "--no-receive-stdout"].map(str::to_owned).to_vec()
}

/// Where a program is that is meant by that name, as a shell would find it.
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
