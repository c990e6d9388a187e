//! The visitor's conversations: the list, and one of them around a place.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;

use super::chat_files;
use crate::admin::{ConversationItem, PageRequest, TranscriptEntry, TranscriptPart};
use crate::id::{ConversationId, MessageId};
use crate::store::ConversationKind;
use crate::web::session::Member;
use crate::web::visitor::Visitor;
use crate::web::{Web, html as render, layout, texts};
use crate::wording::page as says;

/// Number of conversations of a page.
const LISTED: u32 = 50;

/// Place in the list, and the kind listed.
#[derive(Deserialize)]
pub struct ListQuery {
    before: Option<i64>,
    #[serde(default)]
    kind: String,
}

/// Place in a conversation.
#[derive(Deserialize)]
pub struct PlaceQuery {
    at: Option<i64>,
}

/// Lists the visitor's own conversations.
pub async fn list(
    Member(visitor): Member,
    (State(web), Query(ListQuery { before, kind })): (State<Arc<Web>>, Query<ListQuery>),
) -> Response {
    let only = Some(visitor.person.id);
    let wanted = kind.parse::<ConversationKind>().unwrap_or(ConversationKind::Chat);
    let request = PageRequest { before, limit: LISTED };
    let report = match web.admin.history().conversations(only, Some(wanted), request).await {
        Ok(report) => report,
        Err(error) => return layout::failure(&error),
    };
    let kinds = [
        (ConversationKind::Chat, "Chats"),
        (ConversationKind::Reflection, "Reflections"),
        (ConversationKind::Heartbeat, "Heartbeat"),
        (ConversationKind::Task, "Tasks"),
        (ConversationKind::Imported, "Imported"),
    ];
    let main = html! {
        nav.tabs aria-label="Kinds" { ul { @for (kind, title) in kinds {
            li { a href={ "/conversations?kind=" (kind.as_str()) } aria-current=[(kind == wanted).then_some("page")] { (title) } }
        } } }
        @if report.page.items.is_empty() {
            p { "There are none yet. Write to your assistant, and the conversation stands here." }
        }
        ol.rows { @for item in &report.page.items { li { (row(item, &visitor)) } } }
        @if let Some(next) = report.page.next {
            p { a.button rel="next" href={ "/conversations?kind=" (wanted.as_str()) "&before=" (next) } { "Older" } }
        }
    };
    layout::page(Some(&visitor), "/conversations", "Conversations", main).into_response()
}

fn row(item: &ConversationItem, visitor: &Visitor) -> Markup {
    let conversation = &item.conversation;
    html! {
        a.title href={ "/conversations/" (conversation.id) } { (texts::line(&item.title_text(visitor.zone, visitor.now))) }
        p.facts {
            (render::time(conversation.opened_at, visitor.zone, visitor.now)) " · "
            (conversation.messages) @if conversation.messages == 1 { " message" } @else { " messages" }
            @if item.ended_at.is_none() { " · goes on" }
        }
        (texts::sources(&conversation.label))
    }
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
    let link = |message: MessageId| format!("/conversations/{id}?at={message}#m{message}");
    let main = html! {
        p.facts { (render::time(whole.item.conversation.opened_at, visitor.zone, visitor.now)) " · " (whole.item.conversation.messages) " messages" }
        @if let Some(before) = whole.before { p { a.button rel="prev" href=(link(before)) { "Earlier" } } }
        ol.messages { @for entry in &whole.entries {
            (message(entry, entry.from(&whole, &web.admin.agent), &visitor, at, html! {}))
        } }
        @if let Some(after) = whole.after { p { a.button rel="next" href=(link(after)) { "Later" } } }
    };
    let title = format!("Conversation {id}");
    layout::page(Some(&visitor), "/conversations", &title, main).into_response()
}

/// Renders a message by `author`. `at` is the one that the address names; `below` follows the texts.
pub fn message(entry: &TranscriptEntry, author: &str, visitor: &Visitor, at: Option<i64>, below: Markup) -> Markup {
    let message = &entry.message;
    let is_place = at == Some(message.id.0);
    let time = render::time(message.effective_at, visitor.zone, visitor.now);
    html! {
        li.own[message.person.is_some()] id={ "m" (message.id) } aria-current=[is_place.then_some("true")] {
            p.facts {
                strong { bdi { (author) } } " "
                @if let Some(conversation) = message.conversation {
                    a href={ "/conversations/" (conversation) "?at=" (message.id) "#m" (message.id) } { (time) }
                } @else { (time) }
                @if let Some(cause) = &entry.cause { " · by itself: " (cause) }
            }
            @if message.gone { p.note { "Deleted by its sender." } }
            @for text in &entry.texts { (texts::message_text(text.kind, &text.text)) }
            (chat_files::received(&entry.files))
            (below)
        }
    }
}
