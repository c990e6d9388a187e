//! `compline run`: the gateway, until it is stopped.
//!
//! The first SIGTERM or ctrl-c lets work in progress finish, within ten seconds. A second one ends
//! the program at once, which loses nothing: accepted messages are resumed at the next start.

mod report;

use std::os::unix::net::UnixStream;

use clap::Args;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::config::CliPaths;
use super::print::CliError;
use super::print::{self, Printer};
use super::{Exit, ephemeral, log};
use crate::app::{App, Overrides};
use crate::config::{Config, Home};
use crate::message::ChannelKind;
use crate::wording::cli as says;

/// Number of worker threads. The program mostly waits for the model and the network.
const THREADS: usize = 2;

/// `compline run …`
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Delete everything at the end, without touching the real memory
    #[arg(long)]
    ephemeral_memory: bool,
}

/// Runs the gateway.
pub fn run(options: &RunArgs, paths: &CliPaths, printer: Printer, verbose: bool) -> Result<Exit, CliError> {
    let mut loaded = paths.load()?;
    let _thrown_away = match options.ephemeral_memory {
        // Two gateways would compete for messages.
        true if UnixStream::connect(paths.home.socket()).is_ok() => {
            return Err(CliError::Failed(says::gateway_runs(paths.home.path())));
        }
        true => Some(ephemeral::begin(&mut loaded.config)?),
        false => None,
    };
    log::begin(&loaded.config, verbose);
    for warning in &loaded.warnings {
        print::print_remark(&says::warning(warning));
    }
    on_threads(serve(loaded.config, printer))
}

/// Runs the app on worker threads. Tasks that still hang at the end are not waited for.
pub fn on_threads<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?;
    let done = runtime.block_on(work);
    runtime.shutdown_background();
    done
}

/// Warns about an empty journal file. It is either a new home or the remains of a lost journal:
/// only the person knows.
pub fn mention_empty_journal(home: &Home) {
    let journal = home.journal();
    if std::fs::metadata(&journal).is_ok_and(|found| found.len() == 0) {
        tracing::warn!("The journal was empty; a new one is begun");
        print::print_remark(&says::empty_journal(&journal));
    }
}

async fn serve(config: Config, printer: Printer) -> Result<Exit, CliError> {
    mention_empty_journal(&config.home);
    let mut signals = Signals::listen()?;
    let app = App::build(config.clone(), Overrides::default()).await?;
    app.start().await?;
    tracing::info!("Compline {} has started", env!("CARGO_PKG_VERSION"));
    printer.note(&banner(&config));
    tokio::select! {
        () = signals.next() => {}
        never = report::report(&app, &config, printer) => never?,
    }
    printer.note(says::STOPPING);
    tokio::select! {
        () = app.stop() => {
            tracing::info!("Compline has stopped");
            Ok(Exit::Done)
        }
        () = signals.next() => Err(CliError::Failed(says::STOPPED_AT_ONCE.to_owned())),
    }
}

fn banner(config: &Config) -> String {
    let mut channels: Vec<&str> = config.channels().into_iter().map(ChannelKind::name).collect();
    channels.push(ChannelKind::Terminal.name());
    says::banner(config.home.path(), config.zone, &channels.join(", "), &model_of(config))
}

/// Returns the model's name for people: `openai/gpt-5`, `offline`.
fn model_of(config: &Config) -> String {
    match config.model.provider {
        crate::config::Provider::Offline => config.model.name.clone(),
        provider => format!("{}/{}", provider.as_str(), config.model.name),
    }
}

/// Ctrl-c and SIGTERM.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn listen() -> Result<Self, CliError> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
