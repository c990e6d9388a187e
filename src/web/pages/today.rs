//! The start page: what waits, what happened since the last look, and the day.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Form, State};
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use super::agenda::{day, name, next_items};
use super::proposals;
use crate::admin::{AgendaItem, AgendaKind, MAX_MESSAGES, MissedItems, OpenReport, PastItems, PendingReport};
use crate::id::{OpenItemId, QuestionId};
use crate::review::reveal::reveal;
use crate::time::{Period, Span, Timestamp};
use crate::web::session::Member;
use crate::web::visitor::Visitor;
use crate::web::{Web, html as render, layout, texts};
use crate::wording::review::NOTHING_WAITS;
use crate::wording::{Language, page as says};

/// Time ahead that is looked at.
const AHEAD: Duration = Duration::from_secs(7 * 24 * 3600);
/// Number of coming times shown.
const COMING: usize = 3;

/// Form that marks the page as seen.
#[derive(Deserialize)]
pub struct SeenForm {
    /// Time at which the page was made.
    until: i64,
}

/// Shows the start page.
pub async fn today(Member(visitor): Member, State(web): State<Arc<Web>>) -> Response {
    let jobs = web.admin.jobs();
    let this_day = Period::containing(Span::Day, visitor.now, visitor.zone);
    let since = visitor.session.looked_at;
    let past = jobs.past(visitor.person.id, this_day.begins(visitor.zone).min(since)).await;
    let coming = jobs.coming(&visitor.person, visitor.now.plus(AHEAD)).await;
    let (past, coming) = match (past, coming) {
        (Ok(past), Ok(coming)) => (past, coming),
        (Err(error), _) | (_, Err(error)) => return layout::failure(&error),
    };
    let waiting = match web.admin.reports().pending(&visitor.person).await {
        Ok(waiting) => waiting,
        Err(error) => return layout::failure(&error),
    };
    let missed = jobs.missed(visitor.person.id, since).await;
    let changed = web.admin.memory_files().changed_by_assistant(visitor.person.id, since).await;
    let (missed, changed_files) = match (missed, changed) {
        (Ok(missed), Ok(changed)) => (missed, changed),
        (Err(error), _) | (_, Err(error)) => return layout::failure(&error),
    };
    let open = match jobs.open_items(&visitor.person).await {
        Ok(open) => open,
        Err(error) => return layout::failure(&error),
    };
    let news = News { past: &past, missed: &missed, changed_files };
    let day = day(&visitor, this_day, &past.items, &coming);
    // Of the reflections the first is enough here.
    let reflection = coming.iter().find(|item| item.kind == AgendaKind::Reflection).map(|item| item.at);
    let next = coming.iter().filter(|item| item.kind != AgendaKind::Reflection || Some(item.at) == reflection);
    let main = html! {
        section { h2 { "Waits for you" } (pending(&waiting, &visitor)) }
        (since_last_look(&web, &visitor, &news))
        (open_items(&open, &visitor))
        @if !day.lanes.is_empty() { section { h2 { "The day" } (day.markup()) } }
        section {
            h2 { "Next" }
            (next_items(&visitor, next.take(COMING)))
            @if coming.is_empty() { p { (says::NOTHING_PLANNED) } }
        }
        @if visitor.is_owner() { (channels(&web)) }
    };
    layout::page(Some(&visitor), "/", "Today", main).into_response()
}

/// Each question in full above its answers, and each proposal as a link to its page.
fn pending(waiting: &PendingReport, visitor: &Visitor) -> Markup {
    if waiting.is_empty() {
        return html! { p { (&*NOTHING_WAITS.in_language(Language::ENGLISH)) } };
    }
    let keeps = waiting.keeps.iter().filter_map(|keep| Some((keep, keep.number?)));
    let proposals = waiting.proposals.iter().flat_map(|proposals| &proposals.page.items);
    html! { ol.rows {
        @for (question, text) in &waiting.questions { li {
            @if let Some(text) = text { (texts::answer(text)) }
            (answers(question.id))
        } }
        @for (keep, number) in keeps { li {
            p { "May this be kept in " bdi { (reveal(&keep.path)) } "?" }
            (texts::verbatim(&keep.shown))
            (answers(number))
        } }
        @for proposal in proposals { li { (proposals::row(proposal, &[], visitor)) } }
    } }
}

/// What is open, each with the buttons that close it, and what was closed lately.
fn open_items(open: &OpenReport, visitor: &Visitor) -> Markup {
    if open.open.is_empty() && open.closed.is_empty() {
        return html! {};
    }
    html! { section {
        h2 { "Still open" }
        @if open.open.is_empty() { p { "Nothing." } }
        ol.rows { @for item in &open.open { li {
            (texts::answer(&item.text))
            p.facts {
                "since " (render::time(item.opened_at, visitor.zone, visitor.now))
                @if let Some(from) = item.not_before.filter(|_| item.is_put_off(visitor.now)) {
                    ", put off until " (render::time(from, visitor.zone, visitor.now))
                }
            }
            (buttons(&[("done", "Done"), ("later", "Later"), ("drop", "Drop")], item.id, visitor.now))
        } } }
        @if !open.closed.is_empty() { details {
            summary { "Closed lately" }
            ol.rows { @for item in &open.closed { li { (texts::answer(&item.text)) (buttons(&[("undo", "Open again")], item.id, visitor.now)) } } }
        } }
    } }
}

fn buttons(acts: &[(&str, &str)], id: OpenItemId, now: Timestamp) -> Markup {
    html! { @for (verb, title) in acts {
        form.inline method="post" action="/chat" {
            input type="hidden" name="id" value={ "open-" (id) "-" (verb) "-" (now.0) };
            button type="submit" name="button" value={ "/open " (verb) " " (id) } { (title) }
        }
    } }
}

fn answers(number: QuestionId) -> Markup {
    html! { @for (word, title) in [("yes", "Yes"), ("no", "No")] {
        form.inline method="post" action="/chat" {
            // A press counts once, however often it is sent.
            input type="hidden" name="id" value={ "answer-" (number) "-" (word) };
            button type="submit" name="button" value={ "/" (word) " " (number) } { (title) }
        }
    } }
}

/// Possible events since the last look.
struct News<'a> {
    /// Messages, some of them older.
    past: &'a PastItems,
    /// Scheduled items that did not happen.
    missed: &'a MissedItems,
    /// Number of files that the assistant changed.
    changed_files: u32,
}

fn since_last_look(web: &Web, visitor: &Visitor, news: &News<'_>) -> Markup {
    let since = visitor.session.looked_at;
    let new: Vec<&AgendaItem> = news.past.items.iter().filter(|item| item.at > since).collect();
    let (missed, changed) = (news.missed.items.len(), news.changed_files);
    let is_empty = new.is_empty() && missed == 0 && changed == 0;
    let said = new.iter().filter(|item| matches!(item.kind, AgendaKind::Said(_))).count();
    let unasked: Vec<_> = new.iter().filter_map(|item| Some((item, item.text.as_ref()?))).collect();
    html! { section {
        h2 { "Since " (render::time(since, visitor.zone, visitor.now)) }
        @if is_empty { p { "Nothing new. " a href="/chat" { "Write to " (web.admin.agent) } "." } }
        @match said {
            0 => {},
            1 => p { "You wrote one " a href="/chat" { "message" } "." },
            said => p { "You wrote " (said) " " a href="/chat" { "messages" } "." },
        }
        @if news.past.is_cut { p.note { (says::only_newest(MAX_MESSAGES)) } }
        @if changed > 0 { p { a href="/files?sort=time" { (says::files_changed(changed)) } } }
        @if missed > 0 { p { a href="/schedule" { (says::scheduled_missed(missed, news.missed.is_cut)) } } }
        ol.rows { @for (item, text) in unasked { li {
            p.facts {
                @let at = render::time(item.at, visitor.zone, visitor.now);
                @match (item.proposal, item.message) {
                    (Some(proposal), _) => a href={ "/proposals/" (proposal) } { (at) },
                    (None, Some(message)) => a href={ "/chat#m" (message) } { (at) },
                    (None, None) => (at),
                }
                " · " (name(item.kind))
            }
            (texts::excerpt(text))
        } } }
        @if !is_empty { form method="post" action="/seen" {
            button type="submit" name="until" value=(visitor.now.0) { "Mark all as seen" }
        } }
    } }
}

fn channels(web: &Web) -> Markup {
    let health = web.admin.channels.health();
    let troubled: Vec<_> = health.iter().filter_map(|(name, health)| Some((name, health.problem.as_ref()?))).collect();
    html! { section {
        h2 { "Channels" }
        @if troubled.is_empty() { p { "All channels receive. " a href="/status" { "Status" } } }
        @for (name, problem) in troubled { p.problem { (name) ": " (problem) } }
    } }
}

/// Begins the next "since you last looked" when the page that was looked at was made.
pub async fn seen(
    Member(visitor): Member,
    (State(web), Form(SeenForm { until })): (State<Arc<Web>>, Form<SeenForm>),
) -> Response {
    let (id, until) = (visitor.session.id, Timestamp(until).min(visitor.now).max(visitor.session.looked_at));
    match web.admin.members().mark_seen(id, until).await {
        Ok(()) => Redirect::to("/").into_response(),
        Err(error) => layout::failure(&error),
    }
}
