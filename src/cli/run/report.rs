//! Output of the running gateway: state of each channel, new people, and a full disk. The service
//! manager is told the same in one line, and that the channels receive.
//!
//! A service's output is stored, and many can read it: names are printed only on a terminal.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::Duration;

use sd_notify::NotifyState;
use tokio::sync::{broadcast, watch};

use crate::admin::health::HealthRecorder;
use crate::app::App;
use crate::cli::config::awaits_claim;
use crate::cli::print::{self, CliError, Printer, Screen};
use crate::cli::qr_code;
use crate::config::Config;
use crate::gateway::dispatcher::AccessGranted;
use crate::markdown::LinkDisplay;
use crate::message::{ChannelKind, Health};
use crate::store::DiskSpace;
use crate::time::Zone;
use crate::time::clock::real_sleep;
use crate::wording::cli as says;
use crate::wording::gateway;

/// Interval between two looks at the channels.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Time for the first contact, after which the gateway is called ready without it.
const FIRST_CONTACT: Duration = Duration::from_secs(15);

/// Prints changes until it is dropped.
///
/// # Errors
///
/// If the claim code of an assistant without an owner cannot be made.
pub async fn report<T>(app: &App, config: &Config, printer: Printer) -> Result<T, CliError> {
    let mut channels = ChannelReport { app, zone: config.zone, printer, known: BTreeMap::new() };
    let newcomers = app.newcomers();
    let shown = async {
        channels.first_contact().await;
        if awaits_claim(config) {
            show_claim_code(app).await?;
        }
        channels.watch().await
    };
    tokio::select! {
        done = shown => done,
        never = report_newcomers(app, config.zone, printer, newcomers) => never,
        never = report_disk_space(app.journal.disk_space()) => never,
        never = record_health(app) => never,
    }
}

/// Records changes of health for the page. The program works without.
async fn record_health<T>(app: &App) -> T {
    let mut recorder = match HealthRecorder::begin(&app.admin).await {
        Ok(recorder) => recorder,
        Err(error) => {
            tracing::warn!("Health is not recorded: {error:#}");
            return std::future::pending().await;
        }
    };
    let mut has_failed = false;
    loop {
        let looked = recorder.look(&app.admin).await;
        if let Err(error) = &looked
            && !has_failed
        {
            tracing::warn!("Health cannot be recorded: {error:#}");
        }
        has_failed = looked.is_err();
        real_sleep(LOOK_EVERY).await;
    }
}

/// Shows the claim code at a terminal. Other output may be stored: there, the command that makes
/// the code is named instead.
async fn show_claim_code(app: &App) -> Result<(), CliError> {
    let members = app.admin.members();
    if !std::io::stderr().is_terminal() {
        if members.is_unclaimed().await? {
            print::print_remark(says::UNCLAIMED);
        }
        return Ok(());
    }
    let claim = members.claim().await?;
    if claim.json.get("code").is_some_and(|code| !code.is_null()) {
        print::print_remark(&format!(
            "\n{}",
            Screen::of_stdout().show(&claim.markdown, LinkDisplay::SpelledOut).trim_end()
        ));
        if let Some(drawing) = claim.json.get("link").and_then(|link| qr_code::draw(link.as_str()?)) {
            print::print_remark(&drawing);
        }
    }
    Ok(())
}

/// State of a channel as it was last printed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ChannelState {
    Connecting,
    Receives,
    Fails(String),
}

impl ChannelState {
    fn of(health: Health) -> Self {
        match health.problem {
            _ if health.is_connecting => Self::Connecting,
            Some(problem) => Self::Fails(problem),
            None => Self::Receives,
        }
    }
}

struct ChannelReport<'a> {
    app: &'a App,
    zone: Zone,
    printer: Printer,
    known: BTreeMap<ChannelKind, ChannelState>,
}

impl ChannelReport<'_> {
    /// Waits until each channel has received or failed, for a while.
    async fn first_contact(&mut self) {
        let mut waited = Duration::ZERO;
        while self.look() && waited < FIRST_CONTACT {
            real_sleep(LOOK_EVERY / 10).await;
            waited += LOOK_EVERY / 10;
        }
        self.printer.note(&self.ready());
    }

    /// Watches the channels, and tells a service manager's watchdog that they receive.
    async fn watch<T>(&mut self) -> T {
        let mut watchdog = sd_notify::watchdog_enabled().map(Watchdog::new);
        loop {
            real_sleep(LOOK_EVERY).await;
            self.look();
            if watchdog.as_mut().is_some_and(|watchdog| watchdog.is_due(LOOK_EVERY, self.is_stalled())) {
                let _ = sd_notify::notify(&[NotifyState::Watchdog]);
            }
        }
    }

    /// Prints changed states. Returns true while a channel is still connecting.
    fn look(&mut self) -> bool {
        let mut has_changed = false;
        for (kind, health) in self.health() {
            let state = ChannelState::of(health);
            if self.known.get(&kind) == Some(&state) {
                continue;
            }
            match &state {
                ChannelState::Connecting => {}
                ChannelState::Receives => {
                    let account = self.app.admin.channels.public_name(kind);
                    self.say(&says::connected(kind.title(), account.as_deref()));
                }
                ChannelState::Fails(problem) => self.say(problem),
            }
            self.known.insert(kind, state);
            has_changed = true;
        }
        if has_changed {
            let _ = sd_notify::notify(&[NotifyState::Status(&self.ready())]);
        }
        self.known.values().any(|state| *state == ChannelState::Connecting)
    }

    fn ready(&self) -> String {
        let failing = self.known.iter().filter(|(_, state)| **state != ChannelState::Receives);
        match failing.map(|(kind, _)| kind.title()).collect::<Vec<_>>().as_slice() {
            [] => says::READY.to_owned(),
            failing => says::ready_without(failing),
        }
    }

    /// Health of each messenger. Terminal and page are there whenever the program is.
    fn health(&self) -> Vec<(ChannelKind, Health)> {
        let health = self.app.admin.channels.health().into_iter();
        let known = health.filter_map(|(name, health)| Some((name.parse::<ChannelKind>().ok()?, health)));
        known.filter(|(kind, _)| !ChannelKind::is_attended(kind.name())).collect()
    }

    fn is_stalled(&self) -> bool {
        self.health().iter().any(|(_, health)| health.is_stalled)
    }

    fn say(&self, line: &str) {
        say(self.app, self.zone, self.printer, line);
    }
}

/// A service manager's watchdog, which restarts the program unless it is fed within a limit.
struct Watchdog {
    interval: Duration,
    since_fed: Duration,
}

impl Watchdog {
    fn new(limit: Duration) -> Self {
        Self { interval: limit / 4, since_fed: Duration::ZERO }
    }

    /// Returns true if it is to be fed now: four times within the limit, never while a channel
    /// hangs.
    fn is_due(&mut self, passed: Duration, is_stalled: bool) -> bool {
        self.since_fed += passed;
        let is_due = self.since_fed >= self.interval && !is_stalled;
        if is_due {
            self.since_fed = Duration::ZERO;
        }
        is_due
    }
}

async fn report_newcomers<T>(
    app: &App,
    zone: Zone,
    printer: Printer,
    mut newcomers: broadcast::Receiver<AccessGranted>,
) -> T {
    loop {
        let AccessGranted { person, adapter } = match newcomers.recv().await {
            Ok(granted) => granted,
            Err(broadcast::error::RecvError::Lagged(_)) => continue,
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        };
        let channel = adapter.parse().map_or(adapter, ChannelKind::title);
        let line = match std::io::stderr().is_terminal() {
            true => says::joined(&person.name, person.role.as_str(), channel),
            false => says::someone_joined(person.role.as_str(), channel),
        };
        say(app, zone, printer, &line);
    }
}

fn say(app: &App, zone: Zone, printer: Printer, line: &str) {
    printer.note(&says::at(&zone.time_of_day(app.clock.now()), line));
}

/// Prints a line when nothing more can be written, and another when it can again: the log may be on
/// the same disk.
async fn report_disk_space<T>(mut room: watch::Receiver<DiskSpace>) -> T {
    let mut before = *room.borrow_and_update();
    if before.is_none {
        print::print_remark(gateway::DISK_FULL);
    }
    while room.changed().await.is_ok() {
        let now = *room.borrow_and_update();
        // A smaller write may have succeeded again before this task ran.
        if !before.is_none && now.failures > before.failures {
            print::print_remark(gateway::DISK_FULL);
        }
        if !now.is_none && (before.is_none || now.failures > before.failures) {
            print::print_remark(says::ROOM_AGAIN);
        }
        before = now;
    }
    std::future::pending().await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves: operation/watchdog
    #[test]
    fn the_watchdog_starves_while_a_channel_hangs() {
        let mut watchdog = Watchdog::new(Duration::from_secs(300));
        let mut fed =
            |seconds: u64, is_stalled| (0..seconds).filter(|_| watchdog.is_due(LOOK_EVERY, is_stalled)).count();
        assert_eq!(fed(74, false), 0);
        assert_eq!(fed(301, false), 5, "four times within its limit");
        assert_eq!(fed(3600, true), 0, "a channel hangs");
        assert_eq!(fed(1, false), 1, "it receives again");
    }
}
