//! Parses a point in time as people and models write it: `tomorrow 9:00`, `in 20 minutes`, `next
//! friday`, `2026-11-22 09:00`, `24.12.2026`.
//!
//! Pure and total: the same text at the same instant in the same zone has the same meaning, and any
//! other text is rejected instead of approximated. A day without a clock time means [`MORNING`],
//! and the result says so ([`When::is_bare_day`]). Local times follow the clocks: one that is
//! skipped when they go forward is the first instant after the gap; one that occurs twice is the
//! first occurrence still to come; and the result reports the shift ([`Shift`]). A day or a week is
//! counted on the calendar, minutes and hours in real time.

use std::time::Duration;

use chrono::{DateTime, Datelike, Days, MappedLocalTime, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Weekday};

use super::{Timestamp, Zone};

/// Maximum distance into the future; a later time in a chat is a mistyped year.
const FURTHEST: Duration = Duration::from_secs(5 * 366 * 86_400);

/// Hour of a day for which no clock time is given.
const MORNING: u32 = 9;

/// Range after a skipped local time that is searched for the next one: even a skipped date is
/// shorter.
const LONGEST_GAP_MINUTES: i64 = 2 * 24 * 60;

/// A point in time still to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct When {
    /// The instant.
    pub at: Timestamp,
    /// Adjustment for clock changes.
    pub shift: Shift,
    /// True if the text names a day without a clock time.
    pub is_bare_day: bool,
}

/// Effect of a clock change on a local time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shift {
    /// No effect.
    None,
    /// Skipped local time, moved to the first instant after the gap.
    Skipped,
    /// Repeated local time, resolved to the first occurrence still to come.
    Twice,
}

/// Reason why a text is not a time to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeExpressionError {
    /// Unknown form.
    Form,
    /// Time in the past.
    Past,
    /// Time too far away.
    Far,
}

impl When {
    /// Parses the meaning of a text at `now`.
    ///
    /// # Errors
    /// If the text is invalid, or not within the next five years.
    pub fn parse(text: &str, now: Timestamp, zone: Zone) -> Result<Self, TimeExpressionError> {
        let words = text.trim().to_lowercase();
        let found = stamp(&words)
            .map(Ok)
            .or_else(|| span(&words, now, zone))
            .or_else(|| local(&words, now, zone))
            .unwrap_or(Err(TimeExpressionError::Form))?;
        match found.at {
            at if at <= now => Err(TimeExpressionError::Past),
            at if at.since(now) > FURTHEST => Err(TimeExpressionError::Far),
            _ => Ok(found),
        }
    }

    fn exact(at: Timestamp) -> Self {
        Self { at, shift: Shift::None, is_bare_day: false }
    }
}

/// Parses a time with its offset, as in RFC 3339; seconds may be omitted.
fn stamp(words: &str) -> Option<When> {
    let words = words.to_uppercase();
    let utc = words.strip_suffix('Z').map(|bare| format!("{bare}+00:00"));
    let words = utc.as_deref().unwrap_or(&words);
    ["%Y-%m-%dT%H:%M:%S%.f%:z", "%Y-%m-%dT%H:%M%:z", "%Y-%m-%d %H:%M:%S%.f%:z", "%Y-%m-%d %H:%M%:z"]
        .iter()
        .find_map(|form| DateTime::parse_from_str(words, form).ok())
        .map(|at| When::exact(Timestamp(at.timestamp_millis())))
}

/// Parses `in 2 hours`, `in 1 hour and 30 minutes`, `in 3 days`.
fn span(words: &str, now: Timestamp, zone: Zone) -> Option<Result<When, TimeExpressionError>> {
    let words = words.strip_prefix("in ")?;
    let (mut days, mut exact) = (0_u64, Duration::ZERO);
    let mut pieces = pieces(words).into_iter().filter(|piece| piece != "and" && piece != ",").peekable();
    pieces.peek()?;
    while let Some(count) = pieces.next() {
        let count: u64 = if matches!(count.as_str(), "a" | "an") { 1 } else { count.parse().ok()? };
        match pieces.next()?.as_str() {
            "m" | "min" | "mins" | "minute" | "minutes" => exact = later(exact, count, 60)?,
            "h" | "hr" | "hrs" | "hour" | "hours" => exact = later(exact, count, 3_600)?,
            "d" | "day" | "days" => days = days.checked_add(count)?,
            "w" | "week" | "weeks" => days = days.checked_add(count.checked_mul(7)?)?,
            _ => return None,
        }
    }
    if days == 0 {
        return Some(Ok(When::exact(now.plus(exact))));
    }
    let here = zone.local(now).naive_local();
    let Some(there) = here.checked_add_days(Days::new(days)) else { return Some(Err(TimeExpressionError::Far)) };
    Some(on_the_clock(there, now, zone).map(|when| When { at: when.at.plus(exact), ..when }))
}

fn later(span: Duration, count: u64, seconds: u64) -> Option<Duration> {
    span.checked_add(Duration::from_secs(count.checked_mul(seconds)?))
}

/// Separates digits from letters, so that `20m` is two pieces.
fn pieces(words: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut last = None;
    for c in words.chars() {
        let kind = (c.is_ascii_digit(), c.is_whitespace());
        match pieces.last_mut() {
            _ if kind.1 => {}
            Some(piece) if last == Some(kind) && c != ',' => piece.push(c),
            _ => pieces.push(c.to_string()),
        }
        last = Some(kind);
    }
    pieces
}

/// Parses an optional day and a clock time.
fn local(words: &str, now: Timestamp, zone: Zone) -> Option<Result<When, TimeExpressionError>> {
    let stamped = words.split_once('t').filter(|(date, _)| date.len() == 10);
    let words = stamped.map_or_else(|| words.to_owned(), |(date, time)| format!("{date} {time}"));
    let words: Vec<&str> = words.split_whitespace().filter(|word| !matches!(*word, "at" | "on" | ",")).collect();
    let today = zone.local(now).date_naive();
    let (is_next, words) = match words.as_slice() {
        ["next", rest @ ..] => (true, rest),
        all => (false, all),
    };
    let day = words.first().and_then(|word| day(word.trim_end_matches(','), today));
    let (is_known, rest) = (day.is_some(), words.get(usize::from(day.is_some())..).unwrap_or_default());
    let is_bare_day = is_known && rest.is_empty();
    let time = if is_bare_day { NaiveTime::from_hms_opt(MORNING, 0, 0) } else { time_of_day(&rest.concat()) }?;
    let when = match day {
        Some(Day::Every(weekday)) => {
            let from = if is_next { today.succ_opt()? } else { today };
            first_to_come(from, now, zone, time, |date| date.weekday() == weekday)
        }
        _ if is_next => return None,
        Some(Day::On(date)) => on_the_clock(date.and_time(time), now, zone),
        None => first_to_come(today, now, zone, time, |_| true),
    };
    Some(when.map(|when| When { is_bare_day, ..when }))
}

enum Day {
    On(NaiveDate),
    Every(Weekday),
}

fn day(word: &str, today: NaiveDate) -> Option<Day> {
    match word {
        "today" => Some(Day::On(today)),
        "tomorrow" => today.succ_opt().map(Day::On),
        // Requires four digits, so that a two-digit year is not taken for one of the first century.
        _ if word.len() == 10 && word.contains('-') => NaiveDate::parse_from_str(word, "%Y-%m-%d").ok().map(Day::On),
        _ if word.contains('.') => dotted(word).map(Day::On),
        _ => word.parse().ok().map(Day::Every),
    }
}

/// Parses `24.12.2026`.
fn dotted(word: &str) -> Option<NaiveDate> {
    let (_, year) = word.rsplit_once('.')?;
    if year.len() == 4 { NaiveDate::parse_from_str(word, "%d.%m.%Y").ok() } else { None }
}

/// Parses `18:30`, `18:30:00`, `9am`, `9:30pm`, `noon`.
fn time_of_day(word: &str) -> Option<NaiveTime> {
    if word == "noon" {
        return NaiveTime::from_hms_opt(12, 0, 0);
    }
    if let Some((half, twelve)) = ["am", "pm"].into_iter().find_map(|half| Some((half, word.strip_suffix(half)?))) {
        let (hour, minute) = twelve.split_once(':').unwrap_or((twelve, "00"));
        let hour: u32 = hour.parse().ok().filter(|hour| (1..=12).contains(hour))?;
        let afternoon = if half == "pm" { 12 } else { 0 };
        return NaiveTime::from_hms_opt(hour % 12 + afternoon, two_digits(minute)?, 0);
    }
    let mut parts = word.split(':');
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next().unwrap_or("00"));
    if hour.len() > 2 || !hour.bytes().all(|byte| byte.is_ascii_digit()) || parts.next().is_some() {
        return None;
    }
    NaiveTime::from_hms_opt(hour.parse().ok()?, two_digits(minute)?, two_digits(second)?)
}

fn two_digits(word: &str) -> Option<u32> {
    (word.len() == 2 && word.bytes().all(|byte| byte.is_ascii_digit())).then(|| word.parse().ok()).flatten()
}

/// Returns that clock time on the first matching day on which it is still to come.
fn first_to_come(
    today: NaiveDate,
    now: Timestamp,
    zone: Zone,
    time: NaiveTime,
    fits: impl Fn(NaiveDate) -> bool,
) -> Result<When, TimeExpressionError> {
    let days = today.iter_days().take(9).filter(|date| fits(*date));
    let mut times = days.filter_map(|date| on_the_clock(date.and_time(time), now, zone).ok());
    times.find(|when| when.at > now).ok_or(TimeExpressionError::Far)
}

/// Converts a local time to an instant.
fn on_the_clock(local: NaiveDateTime, now: Timestamp, zone: Zone) -> Result<When, TimeExpressionError> {
    match zone.instants(local) {
        MappedLocalTime::Single(at) => Ok(When::exact(at)),
        MappedLocalTime::Ambiguous(first, second) => {
            Ok(When { shift: Shift::Twice, ..When::exact(if first > now { first } else { second }) })
        }
        MappedLocalTime::None => {
            let minutes = (1..=LONGEST_GAP_MINUTES).filter_map(|n| local.checked_add_signed(TimeDelta::minutes(n)));
            let first =
                minutes.filter_map(|local| zone.instants(local).earliest()).next().ok_or(TimeExpressionError::Far)?;
            // Gaps end on whole minutes, regardless of the given seconds.
            let at = Timestamp(first.0 - first.0.rem_euclid(60_000));
            Ok(When { shift: Shift::Skipped, ..When::exact(at) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ZONES: &[&str] =
        &["Europe/London", "America/Los_Angeles", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia", "UTC"];

    fn zone(name: &str) -> Zone {
        Zone::named(name).unwrap()
    }

    fn at(stamp: &str) -> Timestamp {
        Timestamp(DateTime::parse_from_rfc3339(stamp).unwrap().timestamp_millis())
    }

    fn parse(words: &str, now: &str, name: &str) -> Result<(String, Shift), TimeExpressionError> {
        let when = When::parse(words, at(now), zone(name))?;
        Ok((zone(name).show_short(when.at), when.shift))
    }

    /// Friday, 20 November 2026, 13:00 in Vienna.
    const NOW: &str = "2026-11-20T12:00:00Z";

    #[test]
    fn common_time_expressions_are_understood() {
        for (words, means) in [
            ("2026-11-22T09:00:00Z", "2026-11-22 10:00"),
            ("2026-11-22T09:00:00.5+01:00", "2026-11-22 09:00"),
            ("2026-11-22T09:00+05:30", "2026-11-22 04:30"),
            ("2026-11-22 09:00", "2026-11-22 09:00"),
            ("2026-11-22T09:00", "2026-11-22 09:00"),
            ("2026-11-22 at 9:00", "2026-11-22 09:00"),
            ("2026-11-22 09:00:30", "2026-11-22 09:00"),
            ("tomorrow 9:00", "2026-11-21 09:00"),
            ("Tomorrow at 9am", "2026-11-21 09:00"),
            ("today 18:30", "2026-11-20 18:30"),
            ("today at 6:30 PM", "2026-11-20 18:30"),
            ("monday 9:00", "2026-11-23 09:00"),
            ("on Mon at 9:00", "2026-11-23 09:00"),
            ("friday 12:59", "2026-11-27 12:59"),
            ("friday 13:01", "2026-11-20 13:01"),
            ("thursday, 12:00", "2026-11-26 12:00"),
            ("18:30", "2026-11-20 18:30"),
            ("13:00", "2026-11-21 13:00"),
            ("at 12am", "2026-11-21 00:00"),
            ("12pm", "2026-11-21 12:00"),
            ("noon", "2026-11-21 12:00"),
            ("in 20 minutes", "2026-11-20 13:20"),
            ("in 20m", "2026-11-20 13:20"),
            ("in an hour", "2026-11-20 14:00"),
            ("In 1 hour and 30 minutes", "2026-11-20 14:30"),
            ("in 1h, 30min", "2026-11-20 14:30"),
            ("in 2 hours", "2026-11-20 15:00"),
            ("in 3 days", "2026-11-23 13:00"),
            ("in a week", "2026-11-27 13:00"),
            ("24.12.2026 09:30", "2026-12-24 09:30"),
            ("on 1.12.2026 at 9:30", "2026-12-01 09:30"),
            ("next monday 9:30", "2026-11-23 09:30"),
            ("next Friday 18:30", "2026-11-27 18:30"),
            ("Friday 10:00", "2026-11-27 10:00"),
        ] {
            assert_eq!(parse(words, NOW, "Europe/Vienna"), Ok((means.to_owned(), Shift::None)), "{words}");
            let when = When::parse(words, at(NOW), zone("Europe/Vienna")).unwrap();
            assert!(!when.is_bare_day, "{words}");
        }
    }

    #[test]
    fn a_day_without_a_clock_time_means_nine_in_the_morning_and_says_so() {
        for (words, means) in [
            ("24.12.2026", "2026-12-24 09:00"),
            ("2026-11-22", "2026-11-22 09:00"),
            ("tomorrow", "2026-11-21 09:00"),
            ("monday", "2026-11-23 09:00"),
            ("on Friday", "2026-11-27 09:00"),
            ("next friday", "2026-11-27 09:00"),
            ("Next Thursday,", "2026-11-26 09:00"),
        ] {
            let when = When::parse(words, at(NOW), zone("Europe/Vienna")).unwrap();
            assert_eq!(
                (zone("Europe/Vienna").show_short(when.at).as_str(), when.is_bare_day),
                (means, true),
                "{words}"
            );
        }
        let early = "2026-11-20T05:00:00Z";
        assert_eq!(parse("friday", early, "Europe/Vienna").unwrap().0, "2026-11-20 09:00");
        assert_eq!(parse("next friday", early, "Europe/Vienna").unwrap().0, "2026-11-27 09:00");
        assert_eq!(parse("today", NOW, "Europe/Vienna"), Err(TimeExpressionError::Past));
    }

    #[test]
    fn invalid_past_and_distant_times_are_refused() {
        for words in [
            "",
            "soon",
            "9",
            "next",
            "next 9:00",
            "next tomorrow",
            "next 2026-11-22",
            "24.12.26",
            "31.11.2026",
            "24.12. 9:00",
            "26-11-22 09:00",
            "2026-13-22 09:00",
            "2026-11-31 09:00",
            "25:00",
            "9:5",
            "9:60",
            "13am",
            "0pm",
            "-9:00",
            "+9:00",
            "18:30:00:00",
            "in",
            "in 5",
            "in minutes",
            "in 5 years",
            "in -5 minutes",
            "in 99999999999999999999 days",
            "0 9 * * *",
            "tomorrow 9:00 and 10:00",
            "18:30 tomorrow",
        ] {
            assert_eq!(parse(words, NOW, "Europe/Vienna"), Err(TimeExpressionError::Form), "{words}");
        }
        for words in ["today 13:00", "today 8:00", "2026-11-19 09:00", "2026-11-20T11:59:59Z", "in 0 minutes"] {
            assert_eq!(parse(words, NOW, "Europe/Vienna"), Err(TimeExpressionError::Past), "{words}");
        }
        for words in ["2032-01-01 09:00", "in 1000000 days", "in 99999999 hours"] {
            assert_eq!(parse(words, NOW, "Europe/Vienna"), Err(TimeExpressionError::Far), "{words}");
        }
    }

    #[test]
    fn a_time_that_the_clocks_skip_is_the_first_after_the_gap() {
        let skipped = |words, now, name| parse(words, now, name).unwrap();
        let (la, howe) = ("America/Los_Angeles", "Australia/Lord_Howe");
        let gap = skipped("tomorrow 2:30", "2026-03-07T20:00:00Z", la);
        assert_eq!(gap, ("2026-03-08 03:00".to_owned(), Shift::Skipped));
        let half = skipped("2026-10-04 02:15:20", "2026-10-03T00:00:00Z", howe);
        assert_eq!(half, ("2026-10-04 02:30".to_owned(), Shift::Skipped));
        let days = skipped("in 1 day", "2026-03-07T10:30:00Z", la);
        assert_eq!(days, ("2026-03-08 03:00".to_owned(), Shift::Skipped));
        let no_such_date = skipped("2011-12-30 09:00", "2011-12-29T00:00:00Z", "Pacific/Apia");
        assert_eq!(no_such_date, ("2011-12-31 00:00".to_owned(), Shift::Skipped));
    }

    #[test]
    fn of_a_time_that_comes_twice_the_first_to_come_is_meant() {
        let london = zone("Europe/London");
        let twice = |now| When::parse("2026-10-25 01:30", at(now), london);
        let when = |stamp| Ok(When { shift: Shift::Twice, ..When::exact(at(stamp)) });
        assert_eq!(twice("2026-10-25T00:00:00Z"), when("2026-10-25T00:30:00Z"));
        assert_eq!(twice("2026-10-25T00:45:00Z"), when("2026-10-25T01:30:00Z"));
        assert_eq!(twice("2026-10-25T01:30:00Z"), Err(TimeExpressionError::Past));
    }

    #[test]
    fn hours_are_real_and_days_are_those_of_the_calendar() {
        let before_the_change = "2026-03-28T12:00:00Z";
        assert_eq!(parse("in 24 hours", before_the_change, "Europe/London").unwrap().0, "2026-03-29 13:00");
        assert_eq!(parse("in 1 day", before_the_change, "Europe/London").unwrap().0, "2026-03-29 12:00");
    }

    proptest! {
        #[test]
        fn any_text_means_something_to_come_or_nothing(
            text in "(in |tomorrow |mon |2026-1)?\\PC{0,24}", now in 0_i64..4_000_000_000_000, name in prop::sample::select(ZONES),
        ) {
            if let Ok(when) = When::parse(&text, Timestamp(now), zone(name)) {
                prop_assert!(when.at > Timestamp(now) && when.at.since(Timestamp(now)) <= FURTHEST);
            }
        }

        #[test]
        fn a_bare_time_is_the_next_one_on_the_clock(
            now in 1_500_000_000_000_i64..2_200_000_000_000, hour in 0_u32..24, minute in 0_u32..60,
            name in prop::sample::select(ZONES),
        ) {
            let (words, now, zone) = (format!("{hour:02}:{minute:02}"), Timestamp(now), zone(name));
            let when = When::parse(&words, now, zone).unwrap();
            prop_assert!(when.shift == Shift::Skipped || zone.time_of_day(when.at) == words, "{when:?}");
            prop_assert!(when.at > now && when.at.since(now) <= Duration::from_secs(25 * 3600));
        }

        #[test]
        fn a_displayed_time_can_be_parsed_again(
            now in 1_500_000_000_000_i64..2_200_000_000_000, minutes in 1_i64..2_000_000, name in prop::sample::select(ZONES),
        ) {
            let (now, zone) = (Timestamp(now - now % 60_000), zone(name));
            let at = Timestamp(now.0 + minutes * 60_000);
            let read = When::parse(&zone.show_short(at), now, zone).unwrap();
            prop_assert!(read.at == at || read.shift == Shift::Twice);
            prop_assert_eq!(When::parse(&at.rfc3339(), now, zone), Ok(When::exact(at)));
        }
    }

    #[test]
    fn fuzzed() {
        let seeds: [&[u8]; 8] = [
            b"in 2 hours",
            b"tomorrow 08:30",
            b"2026-12-24T18:00:00+01:00",
            b"monday 7pm",
            b"18:00",
            b"30 3 * * *",
            b"0 4 1,15 */2 mon-fri",
            b"2026-12-24 18:00",
        ];
        let now = at("2026-11-20T12:00:00Z");
        crate::fuzz::target("dates", &seeds, |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let cron =
                crate::time::Cron::parse(&text).map(|cron| cron.next_after(now, zone("Europe/London")).is_some());
            let when = ZONES.iter().map(|name| When::parse(&text, now, zone(name)).map(|when| when.shift)).next();
            (cron, when)
        });
    }
}
