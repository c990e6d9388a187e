//! Pace of an owner's heartbeat: when a check of the file starts a run.
//!
//! A run starts at once if anything is new: the file or its ticks, the owner's memory, the day. As
//! long as nothing is, each run without news doubles the wait before the next, up to
//! [`LONGEST_WAIT`]. So an open item that cannot be done costs five runs on a day of fifteen hours
//! instead of thirty. A line that names a clock time or a part of the day is looked at then in any
//! case, and one that names a frequency as often as it says.

use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;

use crate::store::HeartbeatRow;
use crate::time::{Cron, Period, Span, Timestamp, Zone};

/// Longest wait between two runs with the same inputs.
const LONGEST_WAIT: Duration = Duration::from_secs(4 * 60 * 60);

/// Words for a part of the day, and the hour at which it is looked at.
const PARTS_OF_DAY: [(&str, u32); 5] = [
    ("morning|mornings|breakfast|morgens|morgen|früh|vormittag|vormittags|matin|mañana|mattina|mattino|ochtend", 8),
    ("noon|midday|lunch|lunchtime|mittag|mittags|midi|mediodía|mezzogiorno|middag", 12),
    ("afternoon|afternoons|nachmittag|nachmittags|après-midi|tarde|pomeriggio|namiddag", 15),
    ("evening|evenings|tonight|dinner|abend|abends|soir|sera|avond", 18),
    ("night|nights|bedtime|nacht|nachts|nuit|noche|notte", 21),
];

/// Clock times: `8:30`, `18:30`, `8h30`.
static CLOCK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b([01]?\d|2[0-3])(?::|h)([0-5]\d)\b\s*(am|pm)?").ok());
/// Full hours: `9 am`, `17 Uhr`, `at 8`, `um 9`.
static HOUR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let with_unit = r"(?i)\b(?:(?:at|um|gegen)\s+)?([01]?\d|2[0-3])\s*(am|pm|uhr|o'clock)\b";
    Regex::new(&[with_unit, r"|\b(?:at|um|gegen)\s+([01]?\d|2[0-3])\b"].concat()).ok()
});
/// Frequencies: `every 20 minutes`, `hourly`, `alle 2 Stunden`.
static EVERY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = r"(?i)\b(?:(?:every|each|alle|jede|chaque|cada|ogni)\s+(?:(\d+)\s*)?(half\s+|halbe\s+|demi-)?";
    let units = r"(minut\w*|min|hour\w*|stunden?|heures?|horas?|or[ae])|(hourly|stündlich))\b";
    Regex::new(&[words, units].concat()).ok()
});

/// Times at which the lines of a file want to be looked at.
#[derive(Debug, Default)]
pub(super) struct AskedTimes {
    daily: Vec<Cron>,
    every: Option<Duration>,
}

impl AskedTimes {
    /// Reads the times that these lines name.
    pub(super) fn of<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let mut asked = Self::default();
        let mut minutes: Vec<u32> = Vec::new();
        for line in lines {
            let every = frequency(line);
            asked.every = asked.every.into_iter().chain(every).min();
            minutes.extend(clock_times(line));
        }
        minutes.sort_unstable();
        minutes.dedup();
        let cron = |at: &u32| Cron::parse(&format!("{} {} * * *", at % 60, at / 60)).ok();
        asked.daily = minutes.iter().filter_map(cron).collect();
        asked
    }

    /// Returns true if a line names a time or a frequency.
    pub(super) fn any(&self) -> bool {
        !self.daily.is_empty() || self.every.is_some()
    }

    /// Returns the first named time of day after `at`.
    pub(super) fn next_after(&self, at: Timestamp, zone: Zone) -> Option<Timestamp> {
        self.daily.iter().filter_map(|cron| cron.next_after(at, zone)).min()
    }
}

/// Times of day named in a line, in minutes since midnight.
fn clock_times(line: &str) -> Vec<u32> {
    let mut found = Vec::new();
    let number = |part: Option<regex::Match<'_>>| part.and_then(|part| part.as_str().parse::<u32>().ok());
    let hour_of_day = |hour: u32, half: Option<regex::Match<'_>>| match half.map(|half| half.as_str().to_lowercase()) {
        Some(half) if half == "pm" && hour < 12 => hour + 12,
        Some(half) if half == "am" && hour == 12 => 0,
        _ => hour,
    };
    for times in CLOCK.iter().flat_map(|clock| clock.captures_iter(line)) {
        found.extend(
            number(times.get(1))
                .zip(number(times.get(2)))
                .map(|(hour, minute)| hour_of_day(hour, times.get(3)) * 60 + minute),
        );
    }
    // What is left has no minutes.
    let rest = CLOCK.as_ref().map_or_else(|| line.into(), |clock| clock.replace_all(line, " "));
    for times in HOUR.iter().flat_map(|hours| hours.captures_iter(&rest)) {
        let hour = number(times.get(1)).map(|hour| hour_of_day(hour, times.get(2))).or_else(|| number(times.get(3)));
        found.extend(hour.map(|hour| hour * 60));
    }
    let words: Vec<String> = line.split(|c: char| !c.is_alphanumeric() && c != '-').map(str::to_lowercase).collect();
    for (names, hour) in PARTS_OF_DAY {
        if names.split('|').any(|name| words.iter().any(|word| word == name)) {
            found.push(hour * 60);
        }
    }
    found
}

/// The frequency named in a line.
fn frequency(line: &str) -> Option<Duration> {
    let named = EVERY.as_ref()?.captures(line)?;
    let hour = Duration::from_secs(60 * 60);
    if named.get(4).is_some() {
        return Some(hour);
    }
    let count: u32 = named.get(1).map_or(Some(1), |count| count.as_str().parse().ok())?;
    let unit = if named.get(3)?.as_str().to_lowercase().starts_with("min") { hour / 60 } else { hour };
    let unit = if named.get(2).is_some() { unit / 2 } else { unit };
    unit.checked_mul(count).filter(|every| !every.is_zero())
}

/// Conditions of a run.
pub(super) struct Pace<'a> {
    pub(super) interval: Duration,
    pub(super) zone: Zone,
    pub(super) state: &'a HeartbeatRow,
    pub(super) asked: &'a AskedTimes,
}

impl Pace<'_> {
    /// Wait between two runs with the same inputs.
    fn wait(&self) -> Duration {
        let longest = self.asked.every.unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT).max(self.interval);
        self.interval.saturating_mul(2_u32.saturating_pow(self.state.quiet)).min(longest)
    }

    /// Returns true if a check at `now` starts a run: these inputs are new, a line names a time
    /// that has come since the last run, or the wait is over.
    pub(super) fn is_due(&self, inputs: &str, now: Timestamp) -> bool {
        let Some(ran_at) = self.state.ran_at.filter(|at| *at <= now) else { return true };
        self.state.inputs != inputs
            || self.asked.next_after(ran_at, self.zone).is_some_and(|at| at <= now)
            || now.since(ran_at) >= self.wait()
    }

    /// Returns the time of the next run if nothing changes until then.
    pub(super) fn next_run(&self) -> Timestamp {
        let Some(ran_at) = self.state.ran_at.filter(|_| !self.state.inputs.is_empty()) else {
            return self.state.next_at;
        };
        let next_day = Period::containing(Span::Day, ran_at, self.zone).ends(self.zone);
        let next = ran_at.plus(self.wait()).min(next_day);
        self.asked.next_after(ran_at, self.zone).map_or(next, |at| at.min(next)).max(self.state.next_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::PersonId;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn lines_name_times() {
        for (line, times) in [
            ("Tell me at 8:30 what is due", vec![510]),
            ("um 17 Uhr und um 9", vec![1020, 540]),
            ("at 9 am and 12:15 pm", vec![735, 540]),
            ("12 am", vec![0]),
            ("8h30", vec![510]),
            ("Tell me in the morning when something has to be done", vec![480]),
            ("Abends und mittags nach der Post sehen", vec![720, 1080]),
            ("this afternoon or tonight", vec![900, 1080]),
            ("order the internet", vec![]),
            ("2.52 € each, 40 boxes", vec![]),
            ("mourning at 25", vec![]),
        ] {
            assert_eq!(clock_times(line), times, "{line}");
        }
    }

    #[test]
    fn lines_name_frequencies() {
        for (line, minutes) in [
            ("look at the page every 20 minutes", Some(20)),
            ("every half hour", Some(30)),
            ("every hour", Some(60)),
            ("hourly", Some(60)),
            ("alle 2 Stunden", Some(120)),
            ("jede halbe Stunde", Some(30)),
            ("every 0 minutes", None),
            ("every Monday", None),
        ] {
            assert_eq!(frequency(line), minutes.map(|minutes| MINUTE * minutes), "{line}");
        }
    }

    /// Minutes at which runs start, for checks every half hour, until `end`.
    fn runs(line: &str, end: u32) -> Vec<u32> {
        let asked = AskedTimes::of(std::iter::once(line));
        let at = |minutes: u32| Timestamp(0).plus(MINUTE * minutes);
        let mut state = HeartbeatRow {
            person: PersonId(1),
            checked_at: at(0),
            next_at: at(0),
            ran_at: None,
            inputs: String::new(),
            quiet: 0,
        };
        let mut started = Vec::new();
        for minutes in (0..=end).step_by(30) {
            let pace = Pace { interval: MINUTE * 30, zone: Zone::UTC, state: &state, asked: &asked };
            if pace.is_due("same", at(minutes)) {
                started.push(minutes);
                let quiet = state.quiet + 1;
                state = HeartbeatRow { ran_at: Some(at(minutes)), inputs: "same".to_owned(), quiet, ..state };
            }
        }
        started
    }

    #[test]
    fn waits_double_up_to_four_hours_unless_a_line_says_otherwise() {
        assert_eq!(runs("order the internet", 900), [0, 60, 180, 420, 660, 900]);
        assert_eq!(runs("at 6:30, order the internet", 900), [0, 60, 180, 390, 630, 870]);
        assert_eq!(runs("look every hour", 300), [0, 60, 120, 180, 240, 300]);
        assert_eq!(runs("look every 10 minutes", 120), [0, 30, 60, 90, 120]);
    }
}
