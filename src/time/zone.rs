//! The one zone of the configuration: local days, weeks and months, and display of times.
//!
//! A day is the time in which its date is the local one; it begins with the first instant that has
//! this date or a later one. So days are contiguous despite clock changes: they may have 23 or 25
//! hours, or none at all where a zone skipped a date. A week is that of ISO 8601, Monday to Sunday,
//! and belongs to the month of its last day. A month is that of the calendar.

use std::fmt;

use chrono::{
    DateTime, Datelike, Days, MappedLocalTime, Months, NaiveDate, NaiveDateTime, NaiveTime, Offset, TimeDelta,
    TimeZone, Timelike, Utc, Weekday,
};

use super::{TimeRange, Timestamp};

/// An IANA time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zone(chrono_tz::Tz);

impl Zone {
    /// UTC, used without a configured zone.
    pub const UTC: Self = Self(chrono_tz::Tz::UTC);

    /// Returns the zone of that IANA name, such as `Europe/Vienna`.
    pub fn named(name: &str) -> Option<Self> {
        name.parse().ok().map(Self)
    }

    /// Returns the zone of this computer, if its name is available (`TZ`, `/etc/timezone`,
    /// `/etc/localtime`).
    pub fn of_this_computer() -> Option<Self> {
        let from_env = std::env::var("TZ").ok();
        let from_file = || std::fs::read_to_string("/etc/timezone").ok();
        let from_link = || {
            let target = std::fs::read_link("/etc/localtime").ok()?;
            let target = target.to_str()?.split_once("zoneinfo/")?.1.to_owned();
            Some(target)
        };
        [from_env, from_file(), from_link()]
            .into_iter()
            .flatten()
            .find_map(|name| Self::named(name.trim().trim_start_matches(':')))
    }

    /// IANA name.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Returns the local day of an instant, such as `2026-11-20`.
    pub fn day(self, at: Timestamp) -> String {
        self.local(at).format("%Y-%m-%d").to_string()
    }

    /// Returns the local date of an instant.
    pub fn calendar_day(self, at: Timestamp) -> NaiveDate {
        self.local(at).date_naive()
    }

    /// Returns the date and the time that clocks show at an instant.
    pub fn wall_clock(self, at: Timestamp) -> NaiveDateTime {
        self.local(at).naive_local()
    }

    /// Formats for a person: `2026-11-20 18:05 (Europe/Vienna)`.
    pub fn show(self, at: Timestamp) -> String {
        format!("{} ({})", self.show_short(at), self.name())
    }

    /// Formats for a line that names the zone elsewhere: `2026-11-20 18:05`.
    pub fn show_short(self, at: Timestamp) -> String {
        self.local(at).format("%Y-%m-%d %H:%M").to_string()
    }

    /// Formats for a prompt: weekday, date, time, offset and zone.
    pub fn show_long(self, at: Timestamp) -> String {
        let local = self.local(at);
        format!("{} {} {}", local.format("%A, %-d %B %Y, %H:%M"), local.offset().fix(), self.name())
    }

    /// Formats for the part of a prompt that changes once a day: `Saturday, 21 November 2026`.
    pub fn show_day(self, at: Timestamp) -> String {
        self.local(at).format("%A, %-d %B %Y").to_string()
    }

    /// Formats the clock time alone: `18:05`.
    pub fn time_of_day(self, at: Timestamp) -> String {
        let local = self.local(at);
        format!("{:02}:{:02}", local.hour(), local.minute())
    }

    /// Formats the last moment of something: its day, if that is when the day ends.
    pub fn show_end(self, at: Timestamp) -> String {
        if self.time_of_day(at) == "23:59" { self.day(at) } else { self.show_short(at) }
    }

    /// Parses a local date, or a local date with time. Returns the instant at which it begins, and
    /// the one at which it ends: for a time, the same, or the second one if the clocks show it
    /// twice. A time that the clocks skip is invalid.
    pub fn parse_local(self, text: &str) -> Option<TimeRange> {
        if let Some(day) = Period::named(Span::Day, text) {
            return Some(TimeRange { since: day.begins(self), until: day.ends(self) });
        }
        let forms = ["%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M"];
        let local = forms.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok())?;
        let instants = self.instants(local);
        Some(TimeRange { since: instants.earliest()?, until: instants.latest()? })
    }

    /// Returns the first instant that has this local date or a later one.
    pub(super) fn first_instant(self, date: NaiveDate) -> Timestamp {
        // Midnight does not exist on some days of some zones, and some dates are skipped entirely:
        // then the day begins with the first quarter of an hour that exists.
        let midnight = date.and_time(NaiveTime::MIN);
        (0..2 * 96)
            .filter_map(|quarter| midnight.checked_add_signed(TimeDelta::minutes(15 * quarter)))
            .find_map(|local| self.0.from_local_datetime(&local).earliest())
            .map_or(Timestamp(i64::MAX), |start| Timestamp(start.timestamp_millis()))
    }

    /// Returns the instants at which clocks show this: none if it is skipped, two if it is
    /// repeated.
    pub(super) fn instants(self, local: NaiveDateTime) -> MappedLocalTime<Timestamp> {
        self.0.from_local_datetime(&local).map(|at| Timestamp(at.timestamp_millis()))
    }

    pub(super) fn local(self, at: Timestamp) -> DateTime<chrono_tz::Tz> {
        DateTime::<Utc>::from_timestamp_millis(at.0).unwrap_or_default().with_timezone(&self.0)
    }
}

/// Length of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Span {
    /// A local day.
    Day,
    /// Monday to Sunday.
    Week,
    /// A calendar month.
    Month,
}

/// A local day, week or month. Shown as `2026-11-20`, `2026-W47`, `2026-11`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    span: Span,
    first: NaiveDate,
}

impl Period {
    /// Returns the period that contains `at`.
    pub fn containing(span: Span, at: Timestamp, zone: Zone) -> Self {
        Self::around(span, zone.local(at).date_naive())
    }

    /// Parses the name of a period; `None` if the name is of another span, or not a date.
    pub fn named(span: Span, name: &str) -> Option<Self> {
        let first = match span {
            Span::Day => NaiveDate::parse_from_str(name, "%Y-%m-%d").ok()?,
            Span::Week => NaiveDate::parse_from_str(&format!("{name}-1"), "%G-W%V-%u").ok()?,
            Span::Month => NaiveDate::parse_from_str(&format!("{name}-01"), "%Y-%m-%d").ok()?,
        };
        // Accepts only the canonical form.
        Some(Self { span, first }).filter(|period| period.to_string() == name)
    }

    fn around(span: Span, date: NaiveDate) -> Self {
        let first = match span {
            Span::Day => date,
            Span::Week => date.week(Weekday::Mon).checked_first_day().unwrap_or(date),
            Span::Month => date.with_day(1).unwrap_or(date),
        };
        Self { span, first }
    }

    /// Length of the period.
    pub fn span(self) -> Span {
        self.span
    }

    /// Returns the next period.
    #[must_use]
    pub fn next(self) -> Self {
        let first = match self.span {
            Span::Day => self.first.succ_opt(),
            Span::Week => self.first.checked_add_days(Days::new(7)),
            Span::Month => self.first.checked_add_months(Months::new(1)),
        };
        Self { first: first.unwrap_or(NaiveDate::MAX), ..self }
    }

    /// Returns the previous period.
    #[must_use]
    pub fn previous(self) -> Self {
        let first = match self.span {
            Span::Day => self.first.pred_opt(),
            Span::Week => self.first.checked_sub_days(Days::new(7)),
            Span::Month => self.first.checked_sub_months(Months::new(1)),
        };
        Self { first: first.unwrap_or(NaiveDate::MIN), ..self }
    }

    /// Returns the first instant, which is also the end of the previous period.
    pub fn begins(self, zone: Zone) -> Timestamp {
        zone.first_instant(self.first)
    }

    /// Returns the first instant after the period.
    pub fn ends(self, zone: Zone) -> Timestamp {
        self.next().begins(zone)
    }

    /// Returns the first day.
    pub fn first_day(self) -> NaiveDate {
        self.first
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = match self.span {
            Span::Day => "%Y-%m-%d",
            Span::Week => "%G-W%V",
            Span::Month => "%Y-%m",
        };
        self.first.format(form).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_day_is_a_local_day() {
        let kathmandu = Zone::named("Asia/Kathmandu").unwrap();
        let late = Timestamp(1_795_284_000_000); // 2026-11-21T18:00:00Z
        assert_eq!(Zone::UTC.day(late), "2026-11-21");
        assert_eq!(kathmandu.show(late), "2026-11-21 23:45 (Asia/Kathmandu)");
        assert_eq!(kathmandu.day(Timestamp(late.0 + 900_000)), "2026-11-22");
        assert_eq!(kathmandu.first_instant("2026-11-22".parse().unwrap()), Timestamp(late.0 + 900_000));
    }

    #[test]
    fn a_day_without_midnight_begins_with_its_first_hour() {
        let beirut = Zone::named("Asia/Beirut").unwrap(); // 2026-03-29 begins at 01:00
        let begins = beirut.first_instant("2026-03-29".parse().unwrap());
        assert_eq!(beirut.show_short(begins), "2026-03-29 01:00");
    }

    #[test]
    fn a_typed_time_in_a_repeated_hour_covers_both() {
        let vienna = Zone::named("Europe/Vienna").unwrap();
        let range = vienna.parse_local("2026-10-25 02:30").unwrap();
        assert_eq!(range.until.since(range.since), std::time::Duration::from_secs(3600));
        assert_eq!(vienna.parse_local("2026-03-29 02:30"), None, "that time is skipped");
    }

    #[test]
    fn unknown_zones_are_refused() {
        assert_eq!(Zone::named("Europe/Vienn"), None);
    }

    const ZONES: &[&str] = &[
        "Europe/London",
        "America/Los_Angeles",
        "Australia/Lord_Howe",
        "Asia/Kathmandu",
        "Pacific/Apia",
        "Asia/Beirut",
        "UTC",
    ];

    fn day(date: &str) -> Period {
        Period::named(Span::Day, date).unwrap()
    }

    #[test]
    fn names_are_read_as_they_are_shown_and_in_no_other_way() {
        for (span, name) in [(Span::Day, "2026-11-20"), (Span::Week, "2026-W53"), (Span::Month, "2026-11")] {
            assert_eq!(Period::named(span, name).unwrap().to_string(), name);
        }
        for (span, name) in [
            (Span::Day, "2026-11-31"),
            (Span::Day, "2026-11-2"),
            (Span::Week, "2025-W53"),
            (Span::Week, "2026-W0"),
            (Span::Month, "2026-13"),
            (Span::Month, "26-01"),
            (Span::Month, ""),
        ] {
            assert_eq!(Period::named(span, name), None, "{name}");
        }
    }

    #[test]
    fn a_day_has_as_many_hours_as_its_clocks_say() {
        let hours = |date: &str, zone: &str| {
            let (day, zone) = (day(date), Zone::named(zone).unwrap());
            day.ends(zone).since(day.begins(zone)).as_secs_f64() / 3600.0
        };
        assert_eq!(hours("2026-03-29", "Europe/London"), 23.0);
        assert_eq!(hours("2026-10-25", "Europe/London"), 25.0);
        assert_eq!(hours("2026-10-04", "Australia/Lord_Howe"), 23.5);
        assert_eq!(hours("2026-11-20", "Asia/Kathmandu"), 24.0);
        assert_eq!(hours("2011-12-30", "Pacific/Apia"), 0.0, "that day was never there");
    }

    #[test]
    fn a_week_is_monday_to_sunday() {
        let week = Period::containing(Span::Week, day("2026-11-22").begins(Zone::UTC), Zone::UTC);
        assert_eq!((week.to_string().as_str(), week.first_day().to_string().as_str()), ("2026-W47", "2026-11-16"));
        assert_eq!(week.next().first_day().to_string(), "2026-11-23");
    }

    proptest! {
        /// Proves: reflection/once
        #[test]
        fn periods_abut_and_hold_their_instants(
            at in 1_200_000_000_000_i64..2_200_000_000_000,
            zone in prop::sample::select(ZONES),
            span in prop::sample::select(vec![Span::Day, Span::Week, Span::Month]),
        ) {
            let (at, zone) = (Timestamp(at), Zone::named(zone).unwrap());
            let period = Period::containing(span, at, zone);
            prop_assert!(period.begins(zone) <= at && at < period.ends(zone));
            prop_assert_eq!(period.next().begins(zone), period.ends(zone));
            prop_assert_eq!(period.next().previous(), period);
            prop_assert_eq!(Period::named(span, &period.to_string()), Some(period));
        }
    }
}
