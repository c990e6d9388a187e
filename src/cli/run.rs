//! `compline run`: the gateway, until it is stopped.
//!
//! The first SIGTERM or ctrl-c lets work in progress finish, within ten seconds. A second one ends
//! the program at once, which loses nothing: accepted messages are resumed at the next start.
//! SIGHUP and `compline reload` read the configuration again.

mod report;

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use clap::Args;
use sd_notify::NotifyState;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::config::CliPaths;
use super::print::CliError;
use super::print::{self, Printer};
use super::{Exit, block_on, ephemeral, log};
use crate::admin::health::record_stop;
use crate::admin::standby::claim::{CLAIM, Claim, Held, hold};
use crate::app::{App, Overrides, lock_holder};
use crate::config::{Config, Home};
use crate::message::ChannelKind;
use crate::time::Clock;
use crate::time::clock::real_sleep;
use crate::wording::cli as says;
use crate::wording::standby::{taken_over, unknown_claim};

/// Number of worker threads. The program mostly waits for the model and the network.
const THREADS: usize = 2;

/// Time within which a gateway is back after a reload, and the interval between two looks.
const RELOAD_LIMIT: Duration = Duration::from_secs(20);
const RELOAD_LOOK: Duration = Duration::from_millis(50);

/// Interval at which the claim on the replica is looked at.
const CLAIM_INTERVAL: Duration = Duration::from_secs(60);

/// `compline run …`
#[derive(Debug, Default, Args)]
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
    for warning in &loaded.config.source.warnings {
        print::print_remark(&says::warning(warning));
    }
    on_threads(serve(loaded.config, (!options.ephemeral_memory).then_some(paths), printer))
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

/// Reason why the gateway ended its work.
enum Ended {
    Stopped,
    /// A second signal came before everything had ended.
    AtOnce,
    Reloaded(Box<Config>),
    /// Another machine took over.
    TakenOver(Claim),
}

async fn serve(config: Config, reloaded: Option<&CliPaths>, printer: Printer) -> Result<Exit, CliError> {
    mention_empty_journal(&config.home);
    let mut signals = Signals::listen()?;
    let (mut config, mut before) = (config, None);
    loop {
        match serve_once(&config, reloaded, &mut signals, printer).await {
            Ok(Ended::Stopped) => return Ok(Exit::Done),
            Ok(Ended::TakenOver(claim)) => {
                let since = claim.taken_over_at(&config.zone);
                let path = config.replica.unwrap_or_default().join(CLAIM);
                return Err(CliError::Wrong(taken_over(&claim.computer, since.as_deref(), &path)));
            }
            Ok(Ended::AtOnce) => return Err(CliError::Failed(says::STOPPED_AT_ONCE.to_owned())),
            Ok(Ended::Reloaded(next)) => before = Some(std::mem::replace(&mut config, *next)),
            Err(error) => match before.take() {
                None => return Err(error),
                // What is valid may still not work, such as an address that is taken.
                Some(worked) => {
                    error.print();
                    config = worked;
                }
            },
        }
    }
}

/// Runs the gateway until it is told to stop or to read its configuration again. Then everything is
/// rebuilt and stored work resumes, as after any restart. An error means that it did not start.
async fn serve_once(
    config: &Config,
    reloaded: Option<&CliPaths>,
    signals: &mut Signals,
    printer: Printer,
) -> Result<Ended, CliError> {
    let app = App::build(config.clone(), Overrides::default()).await?;
    let replica = config.replica.as_deref().filter(|_| reloaded.is_some());
    let claim = Claim::of_journal(&app.journal, &config.home).await?;
    if let Some(Held::By(other)) = replica.map(|folder| hold(folder, &claim)) {
        app.stop().await;
        return Ok(Ended::TakenOver(other));
    }
    app.start().await?;
    tracing::info!("Compline {} has started", env!("CARGO_PKG_VERSION"));
    printer.note(&banner(config, app.admin.page.local().as_deref()));
    if let Some(problem) = app.admin.page.problem() {
        print::print_remark(&problem);
    }
    let _ = sd_notify::notify(&[NotifyState::Ready]);
    let ended = tokio::select! {
        ended = wait_for_signal(signals, reloaded) => ended,
        other = keep_claim(replica, &claim, &*app.clock) => Ended::TakenOver(other),
        never = report::report(&app, config, printer) => never?,
    };
    let (state, line) = match ended {
        Ended::Reloaded(_) => (NotifyState::Reloading, says::RELOADED),
        _ => (NotifyState::Stopping, says::STOPPING),
    };
    let _ = sd_notify::notify(&[state]);
    printer.note(line);
    if let Err(error) = record_stop(&app.admin).await {
        tracing::warn!("The stop cannot be recorded: {error:#}");
    }
    tokio::select! {
        () = app.stop() => {
            tracing::info!("Compline has stopped");
            Ok(ended)
        }
        () = signals.stop() => Ok(Ended::AtOnce),
    }
}

/// Keeps the claim on the replica, and returns when another machine has taken over.
async fn keep_claim(replica: Option<&Path>, ours: &Claim, clock: &dyn Clock) -> Claim {
    let Some(folder) = replica else { return std::future::pending().await };
    let mut is_known = true;
    loop {
        let held = hold(folder, ours);
        if let Held::By(other) = held {
            return other;
        }
        if is_known && held == Held::Unknown {
            print::print_remark(&unknown_claim(folder));
        }
        is_known = held != Held::Unknown;
        drop(clock.after(CLAIM_INTERVAL).await);
    }
}

async fn wait_for_signal(signals: &mut Signals, reloaded: Option<&CliPaths>) -> Ended {
    loop {
        match signals.next().await {
            ControlSignal::Stop => return Ended::Stopped,
            ControlSignal::Reload => match reloaded.map(CliPaths::load) {
                Some(Ok(loaded)) => return Ended::Reloaded(Box::new(loaded.config)),
                Some(Err(error)) => print::print_remark(&says::not_reloaded(&error.to_string())),
                None => print::print_remark(says::EPHEMERAL_STAYS),
            },
        }
    }
}

/// Returns whether a gateway runs with this home.
pub fn is_running(paths: &CliPaths) -> bool {
    lock_holder(&paths.home).is_some() && UnixStream::connect(paths.home.socket()).is_ok()
}

/// Makes the running gateway read its configuration again, after checking it.
pub fn reload(paths: &CliPaths) -> Result<Exit, CliError> {
    paths.load()?;
    let socket = paths.home.socket();
    let Some(holder) = lock_holder(&paths.home).filter(|_| UnixStream::connect(&socket).is_ok()) else {
        return Err(CliError::Failed(says::NO_GATEWAY.to_owned()));
    };
    let process = rustix::process::Pid::from_raw(holder.process);
    let process = process.ok_or_else(|| CliError::Failed(says::NO_GATEWAY.to_owned()))?;
    rustix::process::kill_process(process, rustix::process::Signal::HUP).map_err(anyhow::Error::from)?;
    let is_back = || lock_holder(&paths.home) != Some(holder) && UnixStream::connect(&socket).is_ok();
    block_on(async {
        for _ in 0..RELOAD_LIMIT.as_millis() / RELOAD_LOOK.as_millis() {
            if is_back() {
                print::print_remark(says::RELOADED);
                return Ok(Exit::Done);
            }
            real_sleep(RELOAD_LOOK).await;
        }
        Err(CliError::Failed(says::NOT_BACK.to_owned()))
    })
}

fn banner(config: &Config, page: Option<&str>) -> String {
    let mut channels: Vec<&str> = config.channels().into_iter().map(ChannelKind::name).collect();
    channels.push(ChannelKind::Terminal.name());
    says::banner(config.home.path(), config.zone, &channels.join(", "), &model_of(config), page)
}

/// Returns the model's name for people: `openai/gpt-5`, `offline`.
fn model_of(config: &Config) -> String {
    match config.model.provider {
        crate::config::Provider::Offline => config.model.name.clone(),
        provider => format!("{}/{}", provider.as_str(), config.model.name),
    }
}

/// A signal's meaning.
enum ControlSignal {
    Stop,
    Reload,
}

/// Ctrl-c and SIGTERM, which stop the gateway, and SIGHUP, which makes it read its configuration
/// again. So closing its terminal does not end it.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    fn listen() -> Result<Self, CliError> {
        let [interrupt, terminate, hangup] =
            [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(signal);
        Ok(Self { interrupt: interrupt?, terminate: terminate?, hangup: hangup? })
    }

    async fn next(&mut self) -> ControlSignal {
        tokio::select! {
            _ = self.interrupt.recv() => ControlSignal::Stop,
            _ = self.terminate.recv() => ControlSignal::Stop,
            _ = self.hangup.recv() => ControlSignal::Reload,
        }
    }

    async fn stop(&mut self) {
        while let ControlSignal::Reload = self.next().await {}
    }
}
