//! The visitor's conversations: the year, the list, and one of them around a place.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;

use super::LISTED;
use super::chat_files;
use crate::admin::{ConversationCalendar, ConversationItem, FullConversation, PageRequest, TranscriptEntry};
use crate::admin::{TranscriptPart, TurnWork};
use crate::id::{ConversationId, MessageId};
use crate::store::{ConversationKind, MessageKind};
use crate::time::{Period, Span};
use crate::web::calendar::{CalendarDay, YearCalendar};
use crate::web::session::Member;
use crate::web::visitor::Visitor;
use crate::web::{Web, html as render, layout, texts};
use crate::wording::page as says;
use crate::wording::{self, Language, command};

/// Place in the list, and the kind listed.
#[derive(Deserialize)]
pub struct ConversationsQuery {
    before: Option<i64>,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    day: String,
}

/// Place in a conversation.
#[derive(Deserialize)]
pub struct PlaceQuery {
    at: Option<i64>,
}

/// Lists the visitor's own conversations, all of a kind or those of a day.
pub async fn list(
    Member(visitor): Member,
    (State(web), Query(ConversationsQuery { before, kind, day })): (State<Arc<Web>>, Query<ConversationsQuery>),
) -> Response {
    let (person, zone, history) = (visitor.person.id, visitor.zone, web.admin.history());
    let wanted = kind.parse::<ConversationKind>().unwrap_or(ConversationKind::Chat);
    let request = PageRequest { before, limit: LISTED };
    let day = Period::named(Span::Day, &day);
    let report = async {
        match day {
            Some(day) => history.conversations_of_day(person, wanted, (day, zone), request).await,
            None => history.conversations(Some(person), Some(wanted), request).await,
        }
    };
    let calendar = async {
        let is_start = before.is_none() && day.is_none();
        if is_start { history.calendar(person, wanted, zone).await.map(Some) } else { Ok(None) }
    };
    let (report, calendar) = match tokio::try_join!(report, calendar) {
        Ok(read) => read,
        Err(error) => return layout::failure(&error),
    };
    let kinds = [
        (ConversationKind::Chat, "Chats"),
        (ConversationKind::Reflection, "Reflections"),
        (ConversationKind::Heartbeat, "Heartbeat"),
        (ConversationKind::Task, "Tasks"),
        (ConversationKind::Imported, "Imported"),
    ];
    let on_day = day.map_or(String::new(), |day| format!("&day={day}"));
    let main = html! {
        nav.tabs aria-label="Kinds" { ul { @for (kind, title) in kinds {
            li { a href={ "/conversations?kind=" (kind.as_str()) } aria-current=[(kind == wanted).then_some("page")] { (title) } }
        } } }
        @if let Some(calendar) = calendar.filter(|calendar| !calendar.days.is_empty()) { (year(&calendar, wanted).markup()) }
        @if let Some(day) = day {
            h2 { (wording::date(day.first_day())) }
            p { a href={ "/conversations?kind=" (wanted.as_str()) } { "All days" } }
        }
        @if report.page.items.is_empty() { p { (if day.is_some() { says::NONE_ON_THAT_DAY } else { says::NO_CONVERSATIONS }) } }
        ol.rows { @for item in &report.page.items { li { (row(item, &visitor)) } } }
        @if let Some(next) = report.page.next {
            p { a.button rel="next" href={ "/conversations?kind=" (wanted.as_str()) (on_day) "&before=" (next) } { "Older" } }
        }
    };
    layout::page(Some(&visitor), "/conversations", "Conversations", main).into_response()
}

/// Draws the year: in chats a day weighs by what its person wrote, else by its conversations.
fn year(calendar: &ConversationCalendar, kind: ConversationKind) -> YearCalendar {
    let is_chat = kind == ConversationKind::Chat;
    let days = calendar.days.iter().map(|(day, count)| {
        let conversations = plural(count.conversations, "conversation");
        let (weight, numbers, words) = if is_chat {
            let words = format!("{} of yours in {conversations}", plural(count.messages, "message"));
            (count.messages.max(1), vec![count.conversations, count.messages], words)
        } else {
            (count.conversations, vec![count.conversations], conversations)
        };
        (*day, CalendarDay { date: wording::date(*day), weight, numbers, words })
    });
    let address =
        if is_chat { "/conversations?day=".to_owned() } else { format!("/conversations?kind={}&day=", kind.as_str()) };
    YearCalendar {
        title: "The last year, by the day".to_owned(),
        first: calendar.first,
        today: calendar.today,
        columns: if is_chat { vec!["Conversations", "Your messages"] } else { vec!["Conversations"] },
        address,
        days: days.collect(),
    }
}

fn plural(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn row(item: &ConversationItem, visitor: &Visitor) -> Markup {
    html! {
        a.title href={ "/conversations/" (item.conversation.id) } { (texts::line(&item.title_text(visitor.zone))) }
        (facts(item, visitor))
        (texts::sources(&item.conversation.label))
    }
}

fn facts(item: &ConversationItem, visitor: &Visitor) -> Markup {
    let (count, is_own) = item.count();
    html! { p.facts {
        (render::time(item.conversation.opened_at, visitor.zone, visitor.now)) " · "
        (plural(u64::try_from(count).unwrap_or(0), "message")) @if is_own { " of yours" }
        @if item.ended_at.is_none() { " · goes on" }
    } }
}

/// Shows a conversation of the visitor, from its beginning or around a message.
pub async fn conversation(
    Member(visitor): Member,
    (State(web), Path(id), Query(PlaceQuery { at })): (State<Arc<Web>>, Path<i64>, Query<PlaceQuery>),
) -> Response {
    let part = TranscriptPart::Around(MessageId(at.unwrap_or(0)));
    let found = web.admin.history().find_conversation(ConversationId(id), Some(visitor.person.id), part).await;
    let whole = match found {
        Ok(Some(whole)) => whole,
        Ok(None) => return layout::message(Some(&visitor), StatusCode::NOT_FOUND, says::NOT_FOUND),
        Err(error) => return layout::failure(&error),
    };
    let link = |message: MessageId| place(ConversationId(id), message);
    let main = html! {
        p { (texts::line(&whole.item.title_text(visitor.zone))) }
        (facts(&whole.item, &visitor))
        @if let Some(summary) = &whole.item.summary { section { h2 { "In short" } (texts::summary(summary)) } }
        (way_on(&whole))
        @if let Some(before) = whole.before { p { a.button rel="prev" href=(link(before)) { "Earlier" } } }
        ol.messages { @for entry in &whole.entries {
            (message(entry, entry.from(&whole, &web.admin.agent), &visitor, at, work_below(&whole, entry)))
        } }
        @if let Some(after) = whole.after { p { a.button rel="next" href=(link(after)) { "Later" } } }
    };
    let title = format!("Conversation {id}");
    layout::page(Some(&visitor), "/conversations", &title, main).into_response()
}

/// Returns the address of a message in its conversation.
pub fn place(conversation: ConversationId, message: MessageId) -> String {
    format!("/conversations/{conversation}?at={message}#m{message}")
}

/// The way to go on: in the chat where it is open, or by a message that names it.
fn way_on(whole: &FullConversation) -> Markup {
    let conversation = &whole.item.conversation;
    let is_chat = conversation.kind == ConversationKind::Chat;
    html! {
        @if is_chat && whole.item.ended_at.is_none() {
            p { a.button href="/chat" { "Go on in the chat" } }
        } @else if !conversation.kind.is_run() {
            p { a.button href={ "/chat?about=" (conversation.id) } { "Continue here" } }
            p.note { (says::HOW_TO_GO_ON) }
        }
    }
}

/// The work of a turn, below the last of its messages.
fn work_below(whole: &FullConversation, entry: &TranscriptEntry) -> Markup {
    let is_last = whole.entries.iter().rfind(|other| other.message.turn == entry.message.turn);
    let is_last = is_last.is_some_and(|last| last.message.id == entry.message.id);
    let work = whole.turns.iter().find(|work| Some(work.turn.id) == entry.message.turn);
    match work.filter(|work| is_last && !(work.tools.is_empty() && work.models.is_empty())) {
        Some(work) => work_markup(work),
        None => html! {},
    }
}

fn work_markup(work: &TurnWork) -> Markup {
    let tools = plural(u64::try_from(work.tools.len()).unwrap_or(0), "tool");
    let is_priced = work.models.iter().any(|line| line.priced);
    html! { details {
        summary {
            "How it was answered" @if !work.tools.is_empty() { " · " (tools) }
            @if is_priced { " · cost " (wording::money(work.micros())) }
            @if let Some(seconds) = work.seconds() { " · " (format!("{seconds:.1}")) " s" }
        }
        @if !work.models.is_empty() { div.scroll tabindex="0" { table {
            tr { th scope="col" { "Model" } th scope="col" { "For" } th.number scope="col" { "Read" } th.number scope="col" { "From cache" } th.number scope="col" { "Written" } th.number scope="col" { "Cost" } }
            @for line in &work.models { tr {
                th scope="row" { bdi { (line.model) } } td { (command::purpose(Language::ENGLISH, &line.purpose)) }
                td.number { (line.input) } td.number { (line.cached) } td.number { (line.output) }
                td.number { @if line.priced { (wording::money(line.micros)) } @else { (says::NO_PRICE) } }
            } }
        } } }
        @if let Some(recalled) = texts::recalled(&work.turn.recalled) {
            p { (says::CAME_TO_MIND) }
            (recalled)
        }
        @if !work.tools.is_empty() { ol { @for call in &work.tools { li { (texts::tool_call(call)) } } } }
    } }
}

/// Renders a message by `author`. `at` is the one that the address names; `below` follows the
/// texts.
pub fn message(entry: &TranscriptEntry, author: &str, visitor: &Visitor, at: Option<i64>, below: Markup) -> Markup {
    let message = &entry.message;
    let is_place = at == Some(message.id.0);
    let is_answer = matches!(message.kind, MessageKind::Reply | MessageKind::Sent | MessageKind::Reflection);
    let time = render::time(message.effective_at, visitor.zone, visitor.now);
    html! {
        li.own[message.person.is_some()] id={ "m" (message.id) } aria-current=[is_place.then_some("true")] {
            p.facts {
                strong { bdi { (author) } } " "
                @if let Some(conversation) = message.conversation {
                    a href=(place(conversation, message.id)) { (time) }
                } @else { (time) }
                @if let Some(cause) = &entry.cause { " · by itself: " (cause) }
            }
            @if message.is_forgotten() { p.note { "Forgotten on request." } }
            @else if message.gone { p.note { "Deleted by its sender." } }
            @for text in &entry.texts {
                @if is_answer { (texts::answer(&text.text)) } @else { (texts::message_text(text.kind, &text.text)) }
            }
            (chat_files::received(&entry.files))
            (below)
        }
    }
}
