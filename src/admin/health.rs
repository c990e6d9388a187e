//! Health of the parts of the program over time: recorded once for each change, and shown for
//! [`DAYS`].
//!
//! The gateway looks once a minute. The program is a part as well: the time of its last sign of
//! life is kept, so a start can tell since when it was off, also after a power cut.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use chrono::NaiveDate;

use super::{Admin, ReportsAdmin};
use crate::message::ChannelKind;
use crate::store::{HealthChange, HealthState, Tx};
use crate::time::{Period, Span, Timestamp, Zone};

/// Number of days shown. The upkeep deletes older changes.
pub const DAYS: usize = 90;
/// The part that stands for the whole program.
pub const PROGRAM: &str = "program";
/// The part that stands for the models that answer.
pub const MODEL: &str = "model";
/// Interval between two looks. A shorter problem may go unseen, and a longer one if a look is late.
pub const LOOK_INTERVAL: Duration = Duration::from_secs(60);
/// Interval at which the sign of life is stored.
const SIGN_INTERVAL: Duration = Duration::from_secs(600);
/// The setting that holds the time of the last sign of life.
const SEEN_AT: &str = "health_seen_at";

/// Records changes while the program runs.
pub struct HealthRecorder {
    known: BTreeMap<String, HealthState>,
    signed_at: Timestamp,
}

impl HealthRecorder {
    /// Records the start, and since when the program was off.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub async fn begin(admin: &Admin) -> anyhow::Result<Self> {
        let now = admin.clock.now();
        let begin = move |tx: Tx<'_>| {
            let latest = tx.health_changes().latest()?;
            let was_on = latest.iter().any(|change| change.part == PROGRAM && change.state == HealthState::Well);
            let seen_at = tx.settings().fact(SEEN_AT)?.and_then(|at| at.parse().ok()).map(Timestamp);
            if let Some(seen_at) = seen_at.filter(|_| was_on) {
                tx.health_changes().record(PROGRAM, HealthState::Off, seen_at.min(now))?;
            }
            tx.health_changes().record(PROGRAM, HealthState::Well, now)?;
            tx.settings().set_fact(SEEN_AT, &now.0.to_string())?;
            Ok(latest)
        };
        let latest = admin.journal.write("record a start", begin).await?;
        let known = latest.into_iter().filter(|change| change.part != PROGRAM);
        Ok(Self { known: known.map(|change| (change.part, change.state)).collect(), signed_at: now })
    }

    /// Looks at every part, and records what has changed. To be called every [`LOOK_INTERVAL`].
    ///
    /// # Errors
    /// If the journal cannot be written. Then the next look tries again.
    pub async fn look(&mut self, admin: &Admin) -> anyhow::Result<()> {
        let now = admin.clock.now();
        let changes = self.changes(admin);
        if changes.is_empty() && self.signed_at <= now && now.since(self.signed_at) < SIGN_INTERVAL {
            return Ok(());
        }
        let record = changes.clone();
        let write = move |tx: Tx<'_>| {
            for (part, state) in &record {
                tx.health_changes().record(part, *state, now)?;
            }
            tx.settings().set_fact(SEEN_AT, &now.0.to_string())
        };
        admin.journal.write("record health", write).await?;
        self.signed_at = now;
        self.known.extend(changes);
        Ok(())
    }

    fn changes(&self, admin: &Admin) -> BTreeMap<String, HealthState> {
        let present = states(admin);
        let gone =
            self.known.iter().filter(|(part, state)| !present.contains_key(*part) && **state != HealthState::Off);
        let gone: Vec<(String, HealthState)> = gone.map(|(part, _)| (part.clone(), HealthState::Off)).collect();
        let changed = present.into_iter().filter_map(|(part, state)| Some((part, state?)));
        changed.filter(|(part, state)| self.known.get(part) != Some(state)).chain(gone).collect()
    }
}

/// Records a clean stop.
///
/// # Errors
/// If the journal cannot be written. Then the next start takes the last sign of life for it.
pub async fn record_stop(admin: &Admin) -> anyhow::Result<()> {
    let now = admin.clock.now();
    let stop = move |tx: Tx<'_>| tx.health_changes().record(PROGRAM, HealthState::Off, now);
    admin.journal.write("record a stop", stop).await
}

/// Returns the state of each part; `None` for a channel before its first contact. Terminal and page
/// are there whenever the program is.
fn states(admin: &Admin) -> BTreeMap<String, Option<HealthState>> {
    let state = |is_ill: bool| if is_ill { HealthState::Ill } else { HealthState::Well };
    let channels = admin.channels.health().into_iter().filter(|(name, _)| !ChannelKind::is_attended(name));
    let mut states: BTreeMap<String, Option<HealthState>> = channels
        .map(|(name, health)| (name, (!health.is_connecting).then(|| state(health.problem.is_some()))))
        .collect();
    states.insert(MODEL.to_owned(), Some(state(admin.engine.outage().is_some())));
    states
}

/// Health of every part, day by day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthReport {
    /// The days, oldest first.
    pub days: Vec<NaiveDate>,
    /// The parts, the program first.
    pub parts: Vec<PartHealth>,
}

/// Health of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartHealth {
    /// `program`, `model`, or the name of a channel.
    pub part: String,
    /// Health on each of the days.
    pub days: Vec<DayHealth>,
}

impl PartHealth {
    /// Returns the time in each state over all days.
    pub fn sum(&self) -> DayHealth {
        self.days.iter().fold(DayHealth::default(), |sum, day| DayHealth {
            well: sum.well + day.well,
            ill: sum.ill + day.ill,
            off: sum.off + day.off,
        })
    }
}

/// Time in each state. What was not recorded counts for none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DayHealth {
    /// Time in which it worked.
    pub well: Duration,
    /// Time with a problem.
    pub ill: Duration,
    /// Time in which it did not run.
    pub off: Duration,
}

impl DayHealth {
    /// Returns the worst state; `None` if nothing was recorded.
    pub fn worst(&self) -> Option<HealthState> {
        let times = [(self.ill, HealthState::Ill), (self.off, HealthState::Off), (self.well, HealthState::Well)];
        times.into_iter().find(|(time, _)| !time.is_zero()).map(|(_, state)| state)
    }

    /// Returns the share of the time in which it worked, in thousandths, rounded down; `None` if
    /// nothing was recorded.
    pub fn up(&self) -> Option<u64> {
        let all = (self.well + self.ill + self.off).as_millis();
        u64::try_from((self.well.as_millis() * 1000).checked_div(all)?).ok()
    }

    fn add(&mut self, state: HealthState, time: Duration) {
        match state {
            HealthState::Well => self.well += time,
            HealthState::Ill => self.ill += time,
            HealthState::Off => self.off += time,
        }
    }
}

impl ReportsAdmin<'_> {
    /// Health over the last [`DAYS`] local days, including today.
    pub async fn health(&self) -> anyhow::Result<HealthReport> {
        let (zone, now) = (self.zone, self.clock.now());
        let days = days_before(now, zone);
        let from = days.first().map_or(now, |day| day.begins(zone));
        let changes = self.journal.read(move |db| db.health_changes().since(from)).await?;
        Ok(report(&changes, &days, zone, now))
    }
}

/// Returns the last days, oldest first.
fn days_before(now: Timestamp, zone: Zone) -> Vec<Period> {
    let today = Period::containing(Span::Day, now, zone);
    let mut days: Vec<Period> = std::iter::successors(Some(today), |day| Some(day.previous())).take(DAYS).collect();
    days.reverse();
    days
}

fn report(changes: &[HealthChange], days: &[Period], zone: Zone, now: Timestamp) -> HealthReport {
    let mut by_part: BTreeMap<&str, Vec<&HealthChange>> = BTreeMap::new();
    for change in changes {
        by_part.entry(&change.part).or_default().push(change);
    }
    let program = by_part.remove(PROGRAM).unwrap_or_default();
    let part = |name: &str, own: &[&HealthChange]| PartHealth {
        part: name.to_owned(),
        days: days.iter().map(|day| of_day((own, &program), (day.begins(zone), day.ends(zone).min(now)))).collect(),
    };
    let mut parts: Vec<PartHealth> = Vec::new();
    if !program.is_empty() {
        parts.push(part(PROGRAM, &program));
    }
    // The upkeep keeps the last change of each part, also of one that was removed long ago.
    let others = by_part.iter().map(|(name, own)| part(name, own));
    parts.extend(others.filter(|part| !(part.sum().well + part.sum().ill).is_zero()));
    HealthReport { days: days.iter().map(|day| day.first_day()).collect(), parts }
}

/// Sums the time in each state between two times. While the program is off, so is every part.
fn of_day((own, program): (&[&HealthChange], &[&HealthChange]), (from, to): (Timestamp, Timestamp)) -> DayHealth {
    let mut day = DayHealth::default();
    let inside = |changes: &[&HealthChange]| {
        let first = changes.partition_point(|change| change.at <= from);
        let within: Vec<Timestamp> =
            changes.iter().skip(first).map(|change| change.at).take_while(|at| *at < to).collect();
        within
    };
    let bounds: BTreeSet<Timestamp> =
        inside(own).into_iter().chain(inside(program)).chain([from, to]).filter(|at| *at <= to).collect();
    let bounds: Vec<Timestamp> = bounds.into_iter().collect();
    for pair in bounds.windows(2) {
        let &[begin, end] = pair else { continue };
        let state = match state_at(program, begin) {
            Some(HealthState::Off) => state_at(own, begin).map(|_| HealthState::Off),
            _ => state_at(own, begin),
        };
        if let Some(state) = state {
            day.add(state, end.since(begin));
        }
    }
    day
}

fn state_at(changes: &[&HealthChange], at: Timestamp) -> Option<HealthState> {
    let next = changes.partition_point(|change| change.at <= at);
    Some(changes.get(next.checked_sub(1)?)?.state)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    fn change(part: &str, state: HealthState, hour: i64) -> HealthChange {
        HealthChange { part: part.to_owned(), state, at: Timestamp(hour * HOUR) }
    }

    #[test]
    fn a_day_is_split_by_states_and_the_program_takes_its_parts_along() {
        let changes = [
            change(PROGRAM, HealthState::Well, 24),
            change("telegram", HealthState::Well, 24),
            change("telegram", HealthState::Ill, 30),
            change("telegram", HealthState::Well, 32),
            change(PROGRAM, HealthState::Off, 36),
            change(PROGRAM, HealthState::Well, 50),
            change("signal, which was removed", HealthState::Off, 20),
        ];
        let now = Timestamp(60 * HOUR);
        let report = report(&changes, &days_before(now, Zone::UTC), Zone::UTC, now);
        assert_eq!((report.days.len(), report.parts.len()), (DAYS, 2));
        let [program, telegram] = [&report.parts[0], &report.parts[1]];
        let hours = |day: DayHealth| [day.well, day.ill, day.off].map(|time| time.as_secs() / 3600);
        assert_eq!(telegram.days[DAYS - 3].worst(), None, "before the first record");
        assert_eq!(hours(telegram.days[DAYS - 2]), [10, 2, 12]);
        assert_eq!(hours(telegram.days[DAYS - 1]), [10, 0, 2], "today is not over");
        assert_eq!(telegram.days[DAYS - 2].worst(), Some(HealthState::Ill));
        assert_eq!(hours(program.sum()), [22, 0, 14]);
        assert_eq!((program.sum().up(), telegram.days[DAYS - 2].up()), (Some(611), Some(416)));
        assert_eq!(DayHealth::default().up(), None);
    }
}
