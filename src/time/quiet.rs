//! Quiet hours: two local times of day between which nothing disturbs, as `22:00-07:00`.

use super::{Cron, Timestamp, Zone};

/// Two times of day, in minutes since midnight. A span that ends before it begins spans midnight.
pub type QuietHours = (u32, u32);

/// Parses two different local times, as `22:00-07:00`.
pub fn parse_quiet_hours(text: &str) -> Option<QuietHours> {
    let (from, to) = text.split_once('-')?;
    Some((minutes(from)?, minutes(to)?)).filter(|(from, to)| from != to)
}

/// Parses a time of day into minutes since midnight.
fn minutes(text: &str) -> Option<u32> {
    let (hour, minute) = text.trim().split_once(':')?;
    let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}

/// Returns the end of the quiet hours if `now` lies in them.
pub fn quiet_until(quiet: Option<QuietHours>, now: Timestamp, zone: Zone) -> Option<Timestamp> {
    let (from, to) = quiet?;
    let time = zone.time_of_day(now);
    let (hour, minute) = time.split_once(':')?;
    let minutes: u32 = hour.parse::<u32>().ok()? * 60 + minute.parse::<u32>().ok()?;
    let within = if from < to { (from..to).contains(&minutes) } else { minutes >= from || minutes < to };
    // A cron expression handles the nights on which daylight saving time begins or ends.
    let end = within.then(|| Cron::parse(&format!("{} {} * * *", to % 60, to / 60)).ok())??;
    end.next_after(now, zone)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(stamp: &str) -> Timestamp {
        Timestamp(chrono::DateTime::parse_from_rfc3339(stamp).unwrap().timestamp_millis())
    }

    #[test]
    fn quiet_hours_end_on_the_local_clock() {
        let london = Zone::named("Europe/London").unwrap();
        let (night, noon) = (Some((22 * 60, 7 * 60)), Some((12 * 60, 13 * 60)));
        for (quiet, now, end) in [
            (night, "2026-11-20T21:59:59Z", None),
            (night, "2026-11-20T22:00:00Z", Some("2026-11-21T07:00:00Z")),
            (night, "2026-11-21T03:00:00Z", Some("2026-11-21T07:00:00Z")),
            (night, "2026-11-21T06:59:59Z", Some("2026-11-21T07:00:00Z")),
            (night, "2026-11-21T07:00:00Z", None),
            (night, "2026-07-01T20:59:00Z", None),
            (night, "2026-07-01T21:00:00Z", Some("2026-07-02T06:00:00Z")),
            (night, "2026-03-28T23:00:00Z", Some("2026-03-29T06:00:00Z")),
            (noon, "2026-11-20T11:59:00Z", None),
            (noon, "2026-11-20T12:30:00Z", Some("2026-11-20T13:00:00Z")),
            (noon, "2026-11-20T13:00:00Z", None),
            (None, "2026-11-20T23:00:00Z", None),
        ] {
            assert_eq!(quiet_until(quiet, at(now), london), end.map(at), "{quiet:?} {now}");
        }
    }
}
