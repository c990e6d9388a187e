//! Due slots: edge cases by hand, and a year of absences in every zone.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDateTime;
use chrono_tz::TZ_VARIANTS;
use proptest::prelude::*;

use super::*;
use crate::time::Span;

const DAY: Duration = Duration::from_hours(24);
const HOUR: Duration = Duration::from_hours(1);
const YEAR: u32 = 365;
/// First instant of the year that every zone lives through.
const START: &str = "2026-01-05T10:00:00Z";
/// Hours between two plans. None is longer than the horizon, so no period counts as missed.
const ABSENCES: [u32; 5] = [1, 23, 60, 150, 6];

fn zone(name: &str) -> Zone {
    Zone::named(name).unwrap()
}

fn at(text: &str) -> Timestamp {
    Timestamp(chrono::DateTime::parse_from_rfc3339(text).unwrap().timestamp_millis())
}

fn cron(text: &str) -> Cron {
    Cron::parse(text).unwrap()
}

fn days(cron_text: &str, since: &JobStart, zone_name: &str, now: &str) -> Vec<(String, u32)> {
    let plan = plan(Job::Daily, &cron(cron_text), since, 7 * DAY, zone(zone_name), (at(now), at(now)));
    plan.claims.into_iter().map(|claim| (claim.period.to_string(), claim.missed)).collect()
}

fn named(names: &[&str]) -> Vec<(String, u32)> {
    names.iter().map(|name| ((*name).to_owned(), 0)).collect()
}

#[test]
fn a_day_is_due_when_it_is_over_and_its_time_has_come() {
    let since = JobStart::Known(at("2026-11-20T12:00:00Z"));
    assert_eq!(days("30 3 * * *", &since, "UTC", "2026-11-21T03:29:59Z"), []);
    assert_eq!(days("30 3 * * *", &since, "UTC", "2026-11-21T03:30:00Z"), named(&["2026-11-20"]));
    assert_eq!(days("0 23 * * *", &since, "UTC", "2026-11-20T23:30:00Z"), [], "the day is not over at its own 23:00");
}

#[test]
fn missed_slots_are_made_up_oldest_first() {
    let since = JobStart::Last("2026-11-15".to_owned(), at("2026-11-16T00:00:00Z"));
    let back = days("30 3 * * *", &since, "UTC", "2026-11-19T12:00:00Z");
    assert_eq!(back, named(&["2026-11-16", "2026-11-17", "2026-11-18"]));
    let weekdays = days("30 3 * * 1-5", &since, "UTC", "2026-11-23T04:00:00Z");
    assert_eq!(weekdays.len(), 7, "Monday makes up for the weekend");
}

#[test]
fn slots_missed_long_ago_become_one_and_the_latest_is_never_missed() {
    let since = JobStart::Last("2026-10-01".to_owned(), at("2026-10-02T00:00:00Z"));
    let back = days("30 3 * * *", &since, "UTC", "2026-11-19T12:00:00Z");
    assert_eq!(back[0], ("2026-11-11".to_owned(), 41));
    assert_eq!(
        back[1..],
        named(&["2026-11-12", "2026-11-13", "2026-11-14", "2026-11-15", "2026-11-16", "2026-11-17", "2026-11-18"])
    );
    let known = JobStart::Last("2026-08".to_owned(), at("2026-09-01T00:00:00Z"));
    let now = at("2026-11-28T00:00:00Z");
    let months = plan(Job::Monthly, &cron("0 4 1 * *"), &known, 7 * DAY, Zone::UTC, (now, now));
    let months: Vec<_> = months.claims.iter().map(|claim| (claim.period.to_string(), claim.missed)).collect();
    assert_eq!(months, [("2026-09".to_owned(), 1), ("2026-10".to_owned(), 0)]);
}

#[test]
fn a_change_of_zone_neither_repeats_nor_leaves_out_a_moment() {
    // The last day in Vienna ended at 15:00 of the same date in Los Angeles, and at 08:00 of the
    // next date in Tokyo.
    let (ended, now) = (at("2026-11-20T23:00:00Z"), at("2026-11-22T23:00:00Z"));
    for (to_zone, name) in [("America/Los_Angeles", "2026-11-21"), ("Asia/Tokyo", "2026-11-21")] {
        let since = JobStart::Last("2026-11-20".to_owned(), ended);
        let plan = plan(Job::Daily, &cron("0 4 * * *"), &since, 7 * DAY, zone(to_zone), (now, now));
        assert_eq!((plan.claims[0].period.to_string().as_str(), plan.claims[0].from), (name, ended), "{to_zone}");
    }
}

#[test]
fn a_date_that_a_zone_skipped_is_no_slot() {
    let since = JobStart::Last("2011-12-28".to_owned(), at("2011-12-29T10:00:00Z"));
    let apia = days("30 3 * * *", &since, "Pacific/Apia", "2012-01-01T20:00:00Z");
    assert_eq!(apia, named(&["2011-12-29", "2011-12-31", "2012-01-01"]));
}

#[test]
fn periods_to_come_are_the_next_one_and_those_until_then() {
    let since = JobStart::Last("2026-11-20".to_owned(), at("2026-11-21T00:00:00Z"));
    let coming = |text: &str, until: &str| {
        let (now, until) = (at("2026-11-21T03:30:00Z"), at(until));
        let plan = plan(Job::Daily, &cron(text), &since, 7 * DAY, Zone::UTC, (now, until));
        plan.coming
            .into_iter()
            .map(|(at, day)| format!("{} {day}", at.rfc3339().chars().take(16).collect::<String>()))
            .collect::<Vec<_>>()
    };
    let next = ["2026-11-22T03:30 2026-11-21", "2026-11-23T03:30 2026-11-22", "2026-11-24T03:30 2026-11-23"];
    assert_eq!(coming("30 3 * * *", "2026-11-24T03:30:00Z"), next);
    assert_eq!(coming("30 3 * * *", "2026-11-24T03:29:00Z"), next[..2]);
    assert_eq!(coming("30 3 * * *", "2026-11-21T03:30:00Z"), next[..1], "the next one in any case");
    let monday = ["2026-11-23T04:00 2026-11-21", "2026-11-23T04:00 2026-11-22", "2026-11-30T04:00 2026-11-23"];
    assert_eq!(coming("0 4 * * 1", "2026-11-29T00:00:00Z"), monday[..2]);
}

#[test]
fn days_come_before_the_week_that_they_are_in_and_weeks_before_the_month() {
    let (zone, now, since) =
        (zone("Europe/London"), at("2026-06-01T12:00:00Z"), JobStart::Known(at("2026-05-25T00:00:00Z")));
    let of = |job, text: &str| plan(job, &cron(text), &since, 40 * DAY, zone, (now, now)).claims;
    let all = [of(Job::Monthly, "0 4 1 * *"), of(Job::Weekly, "45 3 * * 1"), of(Job::Daily, "30 3 * * *")].concat();
    let order: Vec<String> = in_order(all).iter().rev().take(3).map(|claim| claim.period.to_string()).collect();
    assert_eq!(order, ["2026-05", "2026-W22", "2026-05-31"]);
}

/// Zones of the database that differ in a day of the year, or in the hour of a clock change.
fn zones() -> Vec<Zone> {
    let all = TZ_VARIANTS.iter().map(|known| zone(known.name()));
    all.map(|zone| (clocks(zone), zone)).collect::<BTreeMap<_, _>>().into_values().collect()
}

/// Start of each day of the year, and each hour of the days on which the clocks change.
fn clocks(zone: Zone) -> Vec<(Timestamp, NaiveDateTime)> {
    let mut clocks = Vec::new();
    let mut day = Period::containing(Span::Day, at(START), zone);
    for _ in 0..YEAR {
        let (begins, length) = (day.begins(zone), day.ends(zone).since(day.begins(zone)));
        let hours = if length == DAY { 1 } else { 26 };
        clocks.extend((0..hours).map(|hour| begins.plus(HOUR * hour)).map(|at| (at, zone.wall_clock(at))));
        day = day.next();
    }
    clocks
}

/// Slots of a job that are planned in the year, after each absence.
fn year_of(job: Job, cron: &Cron, zone: Zone) -> Vec<Claim> {
    let (mut since, mut now, mut slots) = (JobStart::Known(at(START)), at(START), Vec::new());
    let end = now.plus(DAY * YEAR);
    for absence in ABSENCES.into_iter().cycle() {
        now = now.plus(HOUR * absence);
        if now > end {
            return slots;
        }
        for claim in plan(job, cron, &since, 7 * DAY, zone, (now, now)).claims {
            assert!(claim.to <= claim.due_at && claim.due_at <= now, "{}: {claim:?}", zone.name());
            since = JobStart::Last(claim.period.to_string(), claim.to);
            slots.push(claim);
        }
    }
    slots
}

/// Proves: reflection/once
#[test]
fn in_every_zone_each_day_week_and_month_of_a_year_has_one_slot() {
    let jobs = [
        (Job::Daily, cron("30 2 * * *"), YEAR - 8),
        (Job::Weekly, cron("15 0 * * 1"), YEAR / 7 - 1),
        (Job::Monthly, cron("0 3 1 * *"), 11),
    ];
    for zone in zones() {
        for (job, cron, least) in &jobs {
            let slots = year_of(*job, cron, zone);
            assert!(slots.len() >= *least as usize, "{}: {} slots {job:?}", zone.name(), slots.len());
            let mut period = Period::containing(job.span(), at(START), zone);
            for slot in slots {
                let expected = (period, period.begins(zone), period.ends(zone), 0);
                assert_eq!((slot.period, slot.from, slot.to, slot.missed), expected, "{}", zone.name());
                period = period.next();
            }
        }
    }
}

proptest! {
    /// Proves: reflection/once
    ///
    /// A year with absences and occasional clock changes, planned at random intervals as the
    /// schedule does.
    #[test]
    fn every_period_has_one_slot_and_windows_are_contiguous(
        known in prop::sample::select(&TZ_VARIANTS[..]),
        hour in 0_u32..24,
        gaps in prop::collection::vec(prop_oneof![8 => 1_i64..30, 2 => 30_i64..200, 1 => 200_i64..900], 200),
        back in 0_i64..48,
    ) {
        let (zone, cron) = (zone(known.name()), cron(&format!("15 {hour} * * *")));
        let (mut since, mut now) = (JobStart::Known(at(START)), at(START));
        let mut slots: Vec<Claim> = Vec::new();
        for (number, gap) in gaps.into_iter().enumerate() {
            now = Timestamp(now.0 + gap * 3_600_000);
            // Every tenth time the clock is behind; that must not make anything new due.
            let seen = if number % 10 == 9 { Timestamp(now.0 - back * 3_600_000) } else { now };
            for claim in plan(Job::Daily, &cron, &since, 7 * DAY, zone, (seen, seen)).claims {
                prop_assert!(claim.to <= claim.due_at && claim.due_at <= seen);
                since = JobStart::Last(claim.period.to_string(), claim.to);
                slots.push(claim);
            }
        }
        for pair in slots.windows(2) {
            prop_assert_eq!(pair[0].to, pair[1].from);
        }
        let names: BTreeSet<String> = slots.iter().map(|slot| slot.period.to_string()).collect();
        prop_assert_eq!(names.len(), slots.len());
        for slot in slots.iter().filter(|slot| slot.missed == 0) {
            prop_assert_eq!((slot.from, slot.to), (slot.period.begins(zone), slot.period.ends(zone)));
        }
        for slot in slots.iter().filter(|slot| slot.missed > 0) {
            let covered = slot.to.since(slot.from).as_secs() / 86_400;
            prop_assert!(covered.abs_diff(u64::from(slot.missed)) <= 1);
        }
    }
}
