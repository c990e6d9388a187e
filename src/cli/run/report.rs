//! Output of the running gateway: state of each channel, new people, and a full disk. The service
//! manager is told the same in one line, and that the channels receive.
//!
//! A service's output is stored, and many can read it: names are printed only on a terminal.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::Duration;

use sd_notify::NotifyState;
use tokio::sync::{broadcast, watch};

use crate::admin::health::{HealthRecorder, LOOK_INTERVAL};
use crate::app::App;
use crate::cli::config::awaits_claim;
use crate::cli::print::{self, CliError, Printer, Screen};
use crate::cli::qr_code;
use crate::config::Config;
use crate::gateway::dispatcher::AccessGranted;
use crate::markdown::LinkDisplay;
use crate::message::{ChannelKind, Health};
use crate::store::DiskSpace;
use crate::time::{Clock, Zone};
use crate::wording::cli as says;
use crate::wording::gateway;

/// Interval between two looks at the channels without a change: only silence shows by time alone.
const LOOK_EVERY: Duration = Duration::from_secs(60);
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
        never = feed_watchdog(app) => never,
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
    let (mut has_failed, mut busy) = (false, app.clock.busy());
    loop {
        let looked = recorder.look(&app.admin).await;
        if let Err(error) = &looked
            && !has_failed
        {
            tracing::warn!("Health cannot be recorded: {error:#}");
        }
        has_failed = looked.is_err();
        busy = busy.rest(&*app.clock, LOOK_INTERVAL).await;
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
        let app = self.app;
        let contact = async {
            while self.look() {
                app.health_changed().await;
            }
        };
        tokio::select! {
            () = contact => {}
            _busy = app.clock.after(FIRST_CONTACT) => {}
        }
        self.printer.note(&self.ready());
    }

    /// Watches the channels.
    async fn watch<T>(&mut self) -> T {
        loop {
            self.look();
            tokio::select! {
                () = self.app.health_changed() => {}
                _busy = self.app.clock.after(LOOK_EVERY) => {}
            }
        }
    }

    /// Prints changed states. Returns true while a channel is still connecting.
    fn look(&mut self) -> bool {
        let mut has_changed = false;
        for (kind, health) in messengers(self.app) {
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

    fn say(&self, line: &str) {
        say(self.app, self.zone, self.printer, line);
    }
}

/// Returns the health of each messenger. Terminal and page are there whenever the program is.
fn messengers(app: &App) -> Vec<(ChannelKind, Health)> {
    let health = app.admin.channels.health().into_iter();
    let known = health.filter_map(|(name, health)| Some((name.parse::<ChannelKind>().ok()?, health)));
    known.filter(|(kind, _)| !ChannelKind::is_attended(kind.name())).collect()
}

/// Tells a service manager's watchdog, if there is one, that the channels receive.
async fn feed_watchdog<T>(app: &App) -> T {
    let Some(limit) = sd_notify::watchdog_enabled() else { return std::future::pending().await };
    let is_stalled = || messengers(app).iter().any(|(_, health)| health.is_stalled);
    let feed = || drop(sd_notify::notify(&[NotifyState::Watchdog]));
    feed_within(limit, &*app.clock, is_stalled, feed).await
}

/// Feeds a watchdog, which restarts the program unless it is fed within that limit: four times
/// within it, never while a channel hangs.
async fn feed_within<T>(limit: Duration, clock: &dyn Clock, is_stalled: impl Fn() -> bool, feed: impl Fn()) -> T {
    loop {
        let _busy = clock.after(limit / 4).await;
        if !is_stalled() {
            feed();
        }
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
    use std::cell::Cell;
    use std::sync::Arc;

    use super::*;
    use crate::app::Overrides;
    use crate::config::{self, Home};
    use crate::time::{SimulatedClock, Timestamp};

    const NOON: Timestamp = Timestamp(1_795_176_000_000);
    const MINUTE: Duration = Duration::from_secs(60);

    /// Proves: operation/watchdog
    #[tokio::test]
    async fn the_watchdog_starves_while_a_channel_hangs() {
        let (clock, stalled, fed) = (SimulatedClock::new(NOON), Cell::new(false), Cell::new(0));
        let passes = async |seconds, is_stalled| {
            stalled.set(is_stalled);
            clock.advance(Duration::from_secs(seconds)).await;
            fed.take()
        };
        let life = async {
            assert_eq!(passes(74, false).await, 0);
            assert_eq!(passes(301, false).await, 5, "four times within its limit");
            assert_eq!(passes(3600, true).await, 0, "a channel hangs");
            assert_eq!(passes(75, false).await, 1, "it receives again");
        };
        let feed = || fed.set(fed.get() + 1);
        tokio::select! {
            biased;
            () = feed_within(Duration::from_secs(300), &clock, || stalled.get(), feed) => {}
            () = life => {}
        }
    }

    /// Promise (operation/idle): While nothing happens, the gateway wakes only a few times a minute:
    /// no part of it polls more often.
    #[tokio::test]
    async fn an_idle_gateway_wakes_a_few_times_a_minute() {
        let home = tempfile::tempdir().unwrap();
        let people = "[[people]]\nname = \"Ada\"\nrole = \"owner\"\n";
        let text = format!("timezone = \"UTC\"\n[web]\nenabled = false\n{people}");
        let config = config::parse(&text, "test.toml", &BTreeMap::new(), Home::at(home.path())).unwrap().config;
        let clock = Arc::new(SimulatedClock::new(NOON));
        let overrides = Overrides { clock: Some(clock.clone()), terminal_only: true, ..Overrides::default() };
        let app = App::build(config.clone(), overrides).await.unwrap();
        app.start().await.unwrap();
        let idle = async {
            clock.advance(10 * MINUTE).await;
            let before = clock.wakeups();
            clock.advance(10 * MINUTE).await;
            clock.wakeups() - before
        };
        let printer = Printer { json: false, quiet: true, source: false };
        let wakeups = tokio::select! {
            biased;
            ended = report::<()>(&app, &config, printer) => panic!("it ended: {:?}", ended.is_ok()),
            wakeups = idle => wakeups,
        };
        app.stop().await;
        // The look at the channels, and the record of health.
        assert!(wakeups <= 2 * 10 + 5, "{wakeups} in ten minutes");
    }
}
