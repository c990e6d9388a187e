//! `[reflection]` and `[heartbeat]`: scheduled work.

use std::time::Duration;

use super::error::ValueError;
use super::interpreter::Meaning;
use super::units::{self, quoted};
use super::{Heartbeat, Reflection, ReflectionReview};
use crate::time::Cron;

const REFLECTION: &str = "reflection";

/// Interprets `[reflection]`.
pub fn reflection(meaning: &mut Meaning<'_>) -> Reflection {
    let reader = &mut meaning.reader;
    let mut flag = |name: &str| reader.get(REFLECTION, name, units::flag).unwrap_or_default();
    let (enabled, members, auto_action, tell_owner) =
        (flag("enabled"), flag("members"), flag("auto_action"), flag("tell_owner"));
    let mut cron = |name: &str| reader.get(REFLECTION, name, cron).flatten();
    let (daily, weekly, monthly) = (cron("daily"), cron("weekly"), cron("monthly"));
    let mut count = |name: &str, least: u64, most: u64| {
        let within = |text: &str| Ok(u32::try_from(units::count(text, least, most)?).unwrap_or_default());
        reader.get(REFLECTION, name, within).unwrap_or_default()
    };
    Reflection {
        enabled,
        members,
        daily,
        weekly,
        monthly,
        min_messages: count("min_messages", 1, 1000),
        auto_action,
        max_actions_per_reflection: count("max_actions_per_reflection", 0, 100),
        max_actions_per_day: count("max_actions_per_day", 0, 1000),
        catch_up_days: count("catch_up_days", 1, 60),
        review: reader.get(REFLECTION, "review_mode", review).unwrap_or(ReflectionReview::Human),
        tell_owner,
    }
}

/// Interprets `[heartbeat]`.
pub fn heartbeat(meaning: &mut Meaning<'_>) -> Heartbeat {
    Heartbeat {
        interval: meaning.reader.get("heartbeat", "interval", interval).flatten(),
        quiet: meaning.reader.get("heartbeat", "quiet_hours", quiet_hours).flatten(),
    }
}

/// Parses a cron expression; blank means never.
fn cron(text: &str) -> Result<Option<Cron>, ValueError> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let fix = "write minute, hour, day of the month, month and day of the week, as \"30 3 * * *\", or \"\" for never";
    Cron::parse(text)
        .map(Some)
        .map_err(|error| ValueError::new(format!("{} is no schedule: {error}", quoted(text)), fix))
}

fn review(text: &str) -> Result<ReflectionReview, ValueError> {
    match text {
        "human" => Ok(ReflectionReview::Human),
        "ai" => Ok(ReflectionReview::Ai),
        "none" => Ok(ReflectionReview::Nobody),
        _ => Err(ValueError::new(format!("{} is not known here", quoted(text)), "write \"human\", \"ai\" or \"none\"")),
    }
}

fn interval(text: &str) -> Result<Option<Duration>, ValueError> {
    if text == "0" {
        return Ok(None);
    }
    units::duration_within(text, Duration::from_mins(1), Duration::from_hours(24 * 7)).map(Some)
}

fn quiet_hours(text: &str) -> Result<Option<(u32, u32)>, ValueError> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let times = text.split_once('-').and_then(|(from, to)| Some((minutes(from)?, minutes(to)?)));
    times.filter(|(from, to)| from != to).map(Some).ok_or_else(|| {
        let fix = "write two local times, as \"22:00-07:00\", or \"\" for none";
        ValueError::new(format!("{} is no span of hours", quoted(text)), fix)
    })
}

/// Parses a time of day into minutes since midnight.
fn minutes(text: &str) -> Option<u32> {
    let (hour, minute) = text.trim().split_once(':')?;
    let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_hours_may_go_over_midnight() {
        assert_eq!(quiet_hours("22:00-07:00").unwrap(), Some((1320, 420)));
        assert_eq!(quiet_hours("").unwrap(), None);
        for text in ["22-7", "22:00", "25:00-07:00", "22:60-07:00", "07:00-07:00", "x:00-07:00"] {
            assert!(quiet_hours(text).is_err(), "{text}");
        }
    }

    #[test]
    fn never_can_be_said() {
        assert_eq!((interval("0").unwrap(), cron("").unwrap()), (None, None));
        assert!(interval("10s").is_err() && cron("61 * * * *").is_err());
    }
}
