//! The day and the week as pictures, and the schedule.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use chrono::NaiveTime;
use maud::{Markup, html};
use serde::Deserialize;

use crate::admin::{AgendaItem, AgendaKind, ListPlace, MAX_MISSED, MissedItems, RemindersPart, RemindersReport};
use crate::store::{ReminderKind, ReminderRow};
use crate::time::{Period, Span, Timestamp, Zone};
use crate::web::chart::{Moment, Timeline};
use crate::web::session::Member;
use crate::web::visitor::Visitor;
use crate::web::{Web, html as render, layout, texts};
use crate::wording::{Language, page as says};

/// Number of reminders of a page.
const LISTED: u32 = 20;
/// Number of coming times listed below the picture.
const COMING: usize = 50;
/// Time for which what was missed is shown.
const MISSED_SINCE: Duration = Duration::from_hours(30 * 24);
/// Number of days of the schedule.
const DAYS: usize = 7;

/// Name of a lane.
pub fn name(kind: AgendaKind) -> &'static str {
    match kind {
        AgendaKind::Said(channel) => channel,
        AgendaKind::Reminder => "Reminder",
        AgendaKind::Task => "Task",
        AgendaKind::Heartbeat => "Heartbeat",
        AgendaKind::Reflection => "Reflection",
        AgendaKind::Notice => "Notice",
    }
}

/// Draws a day: what was, and what comes.
pub fn day(visitor: &Visitor, day: Period, past: &[AgendaItem], coming: &[AgendaItem]) -> Timeline {
    let parts = ["0–3", "3–6", "6–9", "9–12", "12–15", "15–18", "18–21", "21–24"].map(str::to_owned).to_vec();
    let items = past.iter().chain(coming);
    timeline("Today, by the hour", visitor, [day, day], parts, items)
}

/// Draws the days from the first to the last, in parts of the same number of hours.
fn timeline<'a>(
    title: &str,
    visitor: &Visitor,
    [first, last]: [Period; 2],
    parts: Vec<String>,
    items: impl Iterator<Item = &'a AgendaItem>,
) -> Timeline {
    let (begin, end) = (first.begins(visitor.zone), last.ends(visitor.zone));
    let place = |at: Timestamp| place([first, last], visitor.zone, at);
    let mut lanes: BTreeMap<AgendaKind, Vec<Moment>> = BTreeMap::new();
    for item in items.filter(|item| (begin..end).contains(&item.at)) {
        lanes.entry(item.kind).or_default().push(Moment {
            place: place(item.at),
            time: Language::ENGLISH.near(visitor.zone, item.at, visitor.now),
            words: html! { @if let Some(text) = &item.text { (texts::short_line(text)) } },
        });
    }
    Timeline {
        title: title.to_owned(),
        parts,
        lanes: lanes.into_iter().map(|(kind, moments)| (name(kind).to_owned(), moments)).collect(),
        now: Some(place(visitor.now)),
    }
}

/// Returns the place of an instant in the days from the first to the last, from 0 to 1: by the
/// clock, which shows 24 hours on every day.
fn place([first, last]: [Period; 2], zone: Zone, at: Timestamp) -> f64 {
    let midnight = |day: Period| day.first_day().and_time(NaiveTime::MIN);
    let (part, whole) = (zone.wall_clock(at) - midnight(first), midnight(last.next()) - midnight(first));
    let thousandths = part.num_seconds().saturating_mul(1_000).checked_div(whole.num_seconds()).unwrap_or_default();
    f64::from(u16::try_from(thousandths.clamp(0, 1_000)).unwrap_or_default()) / 1_000.0
}

/// Lists items that come.
pub fn next_items<'a>(visitor: &Visitor, items: impl Iterator<Item = &'a AgendaItem>) -> Markup {
    html! { ol.rows { @for item in items { li {
        p.facts { time datetime=(item.at.rfc3339()) title=(visitor.zone.show_long(item.at)) { (Language::ENGLISH.to_come(visitor.zone, item.at, visitor.now)) } " · " (name(item.kind)) }
        @if let Some(text) = &item.text { (texts::excerpt(text)) }
    } } } }
}

/// Place in the list of reminders.
#[derive(Deserialize)]
pub struct PlaceQuery {
    #[serde(default)]
    after: String,
}

/// Shows the next seven days, and the reminders.
pub async fn schedule(
    Member(visitor): Member,
    (State(web), Query(PlaceQuery { after })): (State<Arc<Web>>, Query<PlaceQuery>),
) -> Response {
    let after: Option<ListPlace> = after.parse().ok();
    let reminders = match web.admin.jobs().reminders(&visitor.person, RemindersPart { after, limit: LISTED }).await {
        Ok(reminders) => reminders,
        Err(error) => return layout::failure(&error),
    };
    if after.is_some() {
        let main =
            html! { (reminders_markup(&reminders, &visitor)) p { a href="/schedule" { "Back to the schedule" } } };
        return layout::page(Some(&visitor), "/schedule", "Reminders and tasks", main).into_response();
    }
    let today = Period::containing(Span::Day, visitor.now, visitor.zone);
    let days: Vec<Period> = std::iter::successors(Some(today), |day| Some(day.next())).take(DAYS).collect();
    let last = *days.last().unwrap_or(&today);
    let coming = match web.admin.jobs().coming(&visitor.person, last.ends(visitor.zone)).await {
        Ok(coming) => coming,
        Err(error) => return layout::failure(&error),
    };
    let missed = match web.admin.jobs().missed(visitor.person.id, visitor.now.minus(MISSED_SINCE)).await {
        Ok(missed) => missed,
        Err(error) => return layout::failure(&error),
    };
    let parts = days.iter().map(|day| day.first_day().format("%a %-d").to_string()).collect();
    let main = html! {
        @if coming.is_empty() {
            p { (says::NOTHING_PLANNED) }
        } @else {
            (timeline("The next seven days", &visitor, [today, last], parts, coming.iter()).markup())
            (next_items(&visitor, coming.iter().take(COMING)))
            @if coming.len() > COMING { p.note { (says::more_in_picture(coming.len() - COMING)) } }
        }
        section { h2 { "Reminders and tasks" } (reminders_markup(&reminders, &visitor)) }
        (missed_markup(&missed, &visitor))
    };
    layout::page(Some(&visitor), "/schedule", "Schedule", main).into_response()
}

/// Lists reminders and tasks, each with a button that cancels it.
fn reminders_markup(report: &RemindersReport, visitor: &Visitor) -> Markup {
    let time = |at: &Timestamp| {
        html! { time datetime=(at.rfc3339()) title=(visitor.zone.show_long(*at)) { (Language::ENGLISH.to_come(visitor.zone, *at, visitor.now)) } }
    };
    let row = |(times, row): &(Vec<Timestamp>, ReminderRow)| {
        let kind = if row.kind == ReminderKind::Task { AgendaKind::Task } else { AgendaKind::Reminder };
        html! { li {
            p.facts {
                (name(kind)) " " (row.id) " · "
                @for (number, at) in times.iter().enumerate() { @if number > 0 { ", " } (time(at)) }
                @if row.cron.is_some() { " · comes back" }
                @if let Some(until) = &row.until { " · until " (time(until)) }
            }
            (texts::excerpt(&row.text))
            form.inline method="post" action="/act" {
                button type="submit" name="command" value={ "/reminders cancel " (row.id) } aria-label={ "Cancel " (row.kind.as_str()) " " (row.id) } { "Cancel" }
            }
        } }
    };
    html! {
        @if report.rows.is_empty() { p { (says::NO_REMINDERS) } }
        ol.rows { @for one in &report.rows { (row(one)) } }
        @if let Some(next) = report.next { p { a.button rel="next" href={ "/schedule?after=" (next) } { "Later" } } }
    }
}

/// Lists what did not happen in the last thirty days.
fn missed_markup(missed: &MissedItems, visitor: &Visitor) -> Markup {
    html! { @if !missed.items.is_empty() { section {
        h2 { "Missed" }
        ol.rows { @for item in &missed.items { li {
            p.facts { (name(item.kind)) " · " (render::time(item.at, visitor.zone, visitor.now)) }
            p { (item.reason) }
        } } }
        @if missed.is_cut { p.note { (says::only_newest_missed(MAX_MISSED)) } }
    } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves: page/today
    #[test]
    fn the_pictures_follow_the_clock_when_it_is_changed() {
        let zone = Zone::named("Europe/Vienna").unwrap();
        let day = |name: &str| Period::named(Span::Day, name).unwrap();
        let at = |local: &str| zone.parse_local(local).unwrap();
        let part = |place: f64, parts: f64| (place * parts * 100.0).round() / 100.0;
        let long = day("2026-10-25");
        let hour = at("2026-10-25 02:30");
        for instant in [hour.since, hour.until] {
            assert_eq!(part(place([long, long], zone, instant), 24.0), 2.50, "each time the clock shows half past two");
        }
        let short = day("2027-03-28");
        assert_eq!(part(place([short, short], zone, at("2027-03-28 03:00").since), 24.0), 3.0);
        let week = [day("2027-03-22"), short];
        assert_eq!(part(place(week, zone, at("2027-03-27 23:30").since), 7.0), 5.98, "still on Saturday");
    }
}
