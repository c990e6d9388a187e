//! Recurring times: a cron expression, evaluated in the one zone.
//!
//! Five fields (minute, hour, day, month, weekday), with the names, ranges, `L`, `#` and `@daily`
//! that the `croner` crate supports. When clocks go forward over a time, it counts as the first
//! instant after the gap; when they go back, a fixed time counts once, the first time. Seconds and
//! years are rejected: no job needs to run more than once a minute.

use std::fmt;
use std::sync::Arc;

use croner::Cron as Pattern;
use croner::parser::{CronParser, Seconds, Year};

use super::{Timestamp, Zone};

/// Names and ranges of the fields.
const FIELDS: [&str; 5] = [
    "the minute (0 to 59)",
    "the hour (0 to 23)",
    "the day of the month (1 to 31)",
    "the month (1 to 12)",
    "the day of the week (0 to 7)",
];

/// A cron expression that matches at least one date.
#[derive(Clone)]
pub struct Cron {
    text: Arc<str>,
    pattern: Arc<Pattern>,
}

/// Reason why a text is not a valid cron expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CronError {
    /// The text does not have the form of a cron expression.
    #[error(
        "it does not have five fields such as \"30 3 * * *\" (minute, hour, day of the month, month, day of the week)"
    )]
    Form,
    /// A field is not valid.
    #[error("{0} is not valid")]
    Field(&'static str),
    /// No date matches.
    #[error("no date is ever like that")]
    Never,
}

impl Cron {
    /// Parses a cron expression.
    ///
    /// # Errors
    /// If the text is invalid, or matches no date.
    pub fn parse(text: &str) -> Result<Self, CronError> {
        // The crate takes an empty item of a list for one that never comes, and looks for it through
        // thousands of years.
        let fields: Vec<&str> = text.split_whitespace().collect();
        let with_gap = fields.iter().position(|field| field.split(',').any(str::is_empty));
        if let Some(name) = with_gap.and_then(|at| FIELDS.get(at)) {
            return Err(if fields.len() == FIELDS.len() { CronError::Field(name) } else { CronError::Form });
        }
        let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
        let pattern = parser.parse(text.trim()).map_err(|_| invalid_part(&parser, text))?;
        let cron = Self { text: text.trim().into(), pattern: Arc::new(pattern) };
        // From a fixed instant, so that the result for a text does not depend on the day; the crate
        // searches far enough for 29 February.
        cron.next_from(Timestamp(0), Zone::UTC).map(|_| cron).ok_or(CronError::Never)
    }

    /// Returns the first time at or after `from`.
    pub fn next_from(&self, from: Timestamp, zone: Zone) -> Option<Timestamp> {
        // Seconds count: an instant within a minute is after that minute's beginning.
        let found = self.pattern.find_next_occurrence(&zone.local(from), true).ok()?;
        let at = Timestamp(found.timestamp_millis());
        if at >= from { Some(at) } else { self.next_after(from, zone) }
    }

    /// Returns the first time after `from`.
    pub fn next_after(&self, from: Timestamp, zone: Zone) -> Option<Timestamp> {
        let found = self.pattern.find_next_occurrence(&zone.local(from), false).ok()?;
        Some(Timestamp(found.timestamp_millis())).filter(|at| *at > from)
    }

    /// Returns the next times after `from`, at most `count`.
    pub fn next_times(&self, from: Timestamp, zone: Zone, count: usize) -> Vec<Timestamp> {
        std::iter::successors(self.next_after(from, zone), |last| self.next_after(*last, zone)).take(count).collect()
    }

    /// Returns the original text.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// Returns what is wrong with a text that cannot be parsed: the first field that is not valid
/// alone.
fn invalid_part(parser: &CronParser, text: &str) -> CronError {
    let fields: Vec<&str> = text.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return CronError::Form;
    }
    let is_valid = |at: usize| {
        let alone = fields.iter().enumerate().map(|(other, field)| if other == at { *field } else { "*" });
        parser.parse(&alone.collect::<Vec<_>>().join(" ")).is_ok()
    };
    let wrong = (0..).zip(FIELDS).find(|(at, _)| !is_valid(*at));
    wrong.map_or(CronError::Form, |(_, name)| CronError::Field(name))
}

impl fmt::Debug for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cron").field(&self.text).finish()
    }
}

impl PartialEq for Cron {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Cron {}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(cron: &str, zone: &str, from: &str, count: usize) -> Vec<String> {
        let zone = Zone::named(zone).unwrap();
        let from = Timestamp(chrono::DateTime::parse_from_rfc3339(from).unwrap().timestamp_millis());
        let times = Cron::parse(cron).unwrap().next_times(from, zone, count);
        times.into_iter().map(|at| at.rfc3339().replace(":00.000Z", "Z")).collect()
    }

    #[test]
    fn a_fixed_time_is_local_across_both_changes() {
        let spring = times("30 3 * * *", "Europe/London", "2026-03-28T00:00:00Z", 3);
        assert_eq!(spring, ["2026-03-28T03:30Z", "2026-03-29T02:30Z", "2026-03-30T02:30Z"]);
        let autumn = times("30 1 * * *", "Europe/London", "2026-10-24T12:00:00Z", 2);
        assert_eq!(autumn, ["2026-10-25T00:30Z", "2026-10-26T01:30Z"], "the hour that comes twice counts once");
    }

    #[test]
    fn a_time_in_the_gap_is_the_first_instant_after_it() {
        let gap = times("30 2 * * *", "America/Los_Angeles", "2026-03-08T00:00:00Z", 2);
        assert_eq!(gap, ["2026-03-08T10:00Z", "2026-03-09T09:30Z"]);
        let half = times("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00Z", 1);
        assert_eq!(half, ["2026-10-03T15:30Z"], "half an hour is missing there");
    }

    #[test]
    fn a_time_due_right_now_counts_as_due() {
        let (cron, noon) = (Cron::parse("0 12 * * *").unwrap(), Timestamp(12 * 3_600_000));
        assert_eq!(cron.next_from(noon, Zone::UTC), Some(noon));
        assert_eq!(cron.next_from(Timestamp(noon.0 + 1), Zone::UTC), Some(Timestamp(noon.0 + 86_400_000)));
        assert_eq!(cron.next_from(Timestamp(noon.0 - 1), Zone::UTC), Some(noon));
        assert_eq!(cron.next_after(noon, Zone::UTC), Some(Timestamp(noon.0 + 86_400_000)));
    }

    #[test]
    fn the_wrong_field_is_named() {
        for (text, wrong) in [
            ("30 25 * * *", CronError::Field("the hour (0 to 23)")),
            ("61 * * * *", CronError::Field("the minute (0 to 59)")),
            (",  * *  * *", CronError::Field("the minute (0 to 59)")),
            ("0 9,,10 * * *", CronError::Field("the hour (0 to 23)")),
            ("0 9 * * 1,", CronError::Field("the day of the week (0 to 7)")),
            ("0 9 * * MOO", CronError::Field("the day of the week (0 to 7)")),
            ("0 9 * *", CronError::Form),
            ("every day", CronError::Form),
            ("0 9 30 2 *", CronError::Never),
        ] {
            assert_eq!(Cron::parse(text), Err(wrong), "{text}");
        }
    }

    /// Proves: time/intervals
    #[test]
    fn names_sunday_as_seven_and_either_kind_of_day() {
        let monday = "2026-11-16T00:00:00Z";
        for sunday in ["0 9 * * SUN", "0 9 * * sun", "0 9 * * 0", "0 9 * * 7", "0 9 * NOV 7"] {
            assert_eq!(times(sunday, "UTC", monday, 1), ["2026-11-22T09:00Z"], "{sunday}");
        }
        let either = times("0 9 18 * FRI", "UTC", monday, 3);
        assert_eq!(either, ["2026-11-18T09:00Z", "2026-11-20T09:00Z", "2026-11-27T09:00Z"], "as cron has it");
    }

    #[test]
    fn invalid_input_is_refused() {
        for text in ["", "now", "* * * *", "* * * * * *", "0 0 * * * * 2026", "every day"] {
            assert_eq!(Cron::parse(text), Err(CronError::Form), "{text}");
        }
        assert_eq!(Cron::parse("0 0 31 2 *"), Err(CronError::Never));
        for text in ["0 0 29 2 *", "@daily", "0 9 * * MON-FRI", "0 9 L * *"] {
            assert!(Cron::parse(text).is_ok(), "{text}");
        }
    }
}
