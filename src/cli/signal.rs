//! `compline signal …`: the assistant's Signal account, from none to a number.
//!
//! The configured daemon is queried; no journal is needed. A daemon that Compline is to start, and
//! that is not running yet, runs for the duration of the command.
//!
//! To link an account, the daemon requests a link from Signal, a phone scans it, and the daemon
//! becomes another device of that phone's account. The link is valid once, for a minute or two.
//! Anyone who scans it gives the daemon access to their own account, so it is shown and never
//! stored.

use std::fs::DirBuilder;
use std::io::IsTerminal;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Subcommand;
use futures::FutureExt;
use futures::future::OptionFuture;
use serde_json::json;
use tokio::net::UnixStream;
use tokio_util::sync::CancellationToken;

use super::config::CliPaths;
use super::print::{self, CliError, Printer};
use super::{Exit, block_on, probe, qr_code};
use crate::adapter::signal::Signal;
use crate::config::{self, Home};
use crate::time::SystemClock;
use crate::time::clock::real_sleep;
use crate::wording::cli::signal as says;

/// Program of the daemon.
pub(super) const PROGRAM: &str = "signal-cli";
/// Time within which a daemon must answer: on a slow computer Java starts slowly.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// Interval between queries until then.
const PROBE_INTERVAL: Duration = Duration::from_millis(500);

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
pub fn run(command: &SignalCommand, paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let config = paths.load()?.config.signal.ok_or_else(|| CliError::Wrong(says::not_configured(&paths.config)))?;
    match command {
        SignalCommand::Accounts => accounts(&config, &paths.home, printer)?,
        SignalCommand::Link { name } => {
            let number = link(&config, &paths.home, name)?;
            match printer.json {
                true => printer.json(&json!({ "number": number }))?,
                false => printer.fact(&says::linked(&number))?,
            }
        }
    }
    Ok(Exit::Done)
}

fn accounts(config: &config::Signal, home: &Home, printer: Printer) -> Result<(), CliError> {
    let daemon_probe =
        block_on(with_daemon(config, home, async |signal| Ok(probe::existing_signal(signal, config).await)))??;
    let ours = daemon_probe.account(config.account.as_deref());
    let numbers = daemon_probe.accounts.as_deref();
    if printer.json {
        let is_ours = |number: &String| ours.as_ref().is_ok_and(|ours| ours == number);
        let each = |number: &String| json!({ "number": number, "is_ours": is_ours(number) });
        let accounts = numbers.map(|numbers| numbers.iter().map(each).collect::<Vec<_>>());
        return printer.json(&json!({ "version": daemon_probe.version, "accounts": accounts }));
    }
    printer.fact(&says::accounts(&daemon_probe.version, numbers, ours.as_deref().map_err(|sentence| *sentence)))
}

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

/// Shows a link and waits until a phone has scanned it. Returns the number of the linked account.
pub fn link(config: &config::Signal, home: &Home, name: &str) -> Result<String, CliError> {
    block_on(with_daemon(config, home, async |signal| scan(signal, name).await))
}

async fn scan(signal: &Signal, name: &str) -> Result<String, CliError> {
    print::print_remark(says::ASKING_FOR_LINK);
    let link = signal.start_link().await.map_err(|error| not_linked(&error))?;
    print::print_remark(says::SCAN);
    // Without terminal colours the code could be light on dark, which phones do not read.
    if std::io::stderr().is_terminal() {
        print::print_remark(&qr_code::draw(&link).unwrap_or_default());
    }
    print::print_remark(&says::or_copy(&link));
    signal.finish_link(&link, name).await.map_err(|error| not_linked(&error))
}

fn not_linked(error: &anyhow::Error) -> CliError {
    CliError::Failed(crate::wording::cli::with_fix(&format!("{error:#}"), says::FIX_NOT_LINKED))
}

/// Runs `work` with the daemon. Ctrl-c ends it, and stops a daemon that was started for it.
pub async fn with_daemon<T>(
    config: &config::Signal,
    home: &Home,
    work: impl AsyncFnOnce(&Signal) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let signal = Signal::new(config, Arc::new(SystemClock::default()))?;
    let stop = CancellationToken::new();
    let is_to_start = !config.command.is_empty() && signal.probe().await.is_err();
    if !is_to_start {
        return until_interrupted(work(&signal)).await;
    }
    // A gateway starts the daemon itself; two daemons would interfere with each other.
    let daemon = if UnixStream::connect(home.socket()).await.is_ok() { None } else { signal.daemon(stop.clone()) };
    if daemon.is_some() {
        print::print_remark(says::STARTING);
        // The socket is in the home, which may not exist yet.
        DirBuilder::new().recursive(true).mode(0o700).create(home.path())?;
    }
    let started = async {
        wait_for_answer(&signal, config).await?;
        work(&signal).await
    };
    let started = until_interrupted(started).map(|done| {
        stop.cancel();
        done
    });
    let (done, _) = tokio::join!(started, OptionFuture::from(daemon));
    done
}

async fn until_interrupted<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    tokio::select! {
        done = work => done,
        _ = tokio::signal::ctrl_c() => Err(CliError::Failed(says::LEFT.to_owned())),
    }
}

/// Waits until the daemon answers.
async fn wait_for_answer(signal: &Signal, config: &config::Signal) -> Result<(), CliError> {
    let asking = async {
        while signal.probe().await.is_err() {
            real_sleep(PROBE_INTERVAL).await;
        }
    };
    tokio::select! {
        () = asking => Ok(()),
        () = real_sleep(START_TIMEOUT) => match probe::existing_signal(signal, config).await {
            Ok(_) => Ok(()),
            Err(trouble) => Err(trouble.into()),
        },
    }
}
