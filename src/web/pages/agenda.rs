//! The day and the week as pictures, and the schedule.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};

use super::report::answer_markup;
use crate::admin::{AgendaItem, AgendaKind};
use crate::time::{Period, Span, Timestamp};
use crate::web::chart::{Moment, Timeline};
use crate::web::session::Member;
use crate::web::visitor::Visitor;
use crate::web::{Web, layout, texts};
use crate::wording::Language;

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
    let parts = ["0", "3", "6", "9", "12", "15", "18", "21"].map(str::to_owned).to_vec();
    let items = past.iter().chain(coming);
    timeline("Today, by the hour", visitor, (day.begins(visitor.zone), day.ends(visitor.zone)), parts, items)
}

fn timeline<'a>(
    title: &str,
    visitor: &Visitor,
    (begin, end): (Timestamp, Timestamp),
    parts: Vec<String>,
    items: impl Iterator<Item = &'a AgendaItem>,
) -> Timeline {
    let place = |at: Timestamp| share(at.0.saturating_sub(begin.0), end.0.saturating_sub(begin.0));
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

/// Returns the share of a whole as a number from 0 to 1.
fn share(part: i64, whole: i64) -> f64 {
    let thousandths = part.saturating_mul(1_000).checked_div(whole).unwrap_or_default();
    f64::from(u16::try_from(thousandths.clamp(0, 1_000)).unwrap_or_default()) / 1_000.0
}

/// Lists items that come.
pub fn next_items<'a>(visitor: &Visitor, items: impl Iterator<Item = &'a AgendaItem>) -> Markup {
    html! { ol.rows { @for item in items { li {
        p.facts { time datetime=(item.at.rfc3339()) title=(visitor.zone.show_long(item.at)) { (Language::ENGLISH.to_come(visitor.zone, item.at, visitor.now)) } " · " (name(item.kind)) }
        @if let Some(text) = &item.text { (texts::excerpt(text)) }
    } } } }
}

/// Shows the next seven days, and the reminders.
pub async fn schedule(Member(visitor): Member, State(web): State<Arc<Web>>) -> Response {
    let today = Period::containing(Span::Day, visitor.now, visitor.zone);
    let days: Vec<Period> = std::iter::successors(Some(today), |day| Some(day.next())).take(DAYS).collect();
    let (begin, end) = (today.begins(visitor.zone), days.last().unwrap_or(&today).ends(visitor.zone));
    let coming = match web.admin.jobs().coming(&visitor.person, end).await {
        Ok(coming) => coming,
        Err(error) => return layout::failure(&error),
    };
    let parts = days.iter().map(|day| day.first_day().format("%a %-d").to_string()).collect();
    let reminders = web.query(&visitor, "/reminders").await;
    let main = html! {
        @if coming.is_empty() {
            p { "Nothing is planned for the next seven days. Say “remind me tomorrow at nine to …”." }
        } @else {
            (timeline("The next seven days", &visitor, (begin, end), parts, coming.iter()).markup())
            (next_items(&visitor, coming.iter()))
        }
        section { h2 { "Reminders and tasks" } (answer_markup(&reminders)) }
    };
    layout::page(Some(&visitor), "/schedule", "Schedule", main).into_response()
}
