//! Local days, weeks and months: the periods of slots.
//!
//! A day is the time in which its date is the local one; it begins with the first instant that has
//! this date or a later one. So days are contiguous despite clock changes: they may have 23 or 25
//! hours, or none at all where a zone skipped a date. A week is that of ISO 8601, Monday to Sunday,
//! and belongs to the month of its last day. A month is that of the calendar.

use std::fmt;

use chrono::{Datelike, Days, Months, NaiveDate, Weekday};

use super::{Timestamp, Zone};

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
