//! The one zone of the configuration: local days and display of times.

use chrono::{
    DateTime, MappedLocalTime, NaiveDate, NaiveDateTime, NaiveTime, Offset, TimeDelta, TimeZone, Timelike, Utc,
};

use super::Timestamp;

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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn unknown_zones_are_refused() {
        assert_eq!(Zone::named("Europe/Vienn"), None);
    }
}
