//! The chat: the newest messages, a field, and what grows meanwhile.
//!
//! The script makes the id of a message before its first try and keeps the text until the journal
//! has it; without script the form carries an id, so a form that is sent twice counts once.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Redirect, Response};
use futures::stream;
use maud::{Markup, html};
use serde::Deserialize;

use super::{chat_files, conversations};
use crate::admin::browsers::random_secret;
use crate::admin::{BegunConversation, ChatEntry, PRESS, RecentChat};
use crate::message::ChatEvent;
use crate::store::Delivery;
use crate::time::Timestamp;
use crate::web::chat::ChatEvents;
use crate::web::session::Member;
use crate::web::site_names::Via;
use crate::web::visitor::Visitor;
use crate::web::{Web, html as render, layout, texts};
use crate::wording::{Language, gateway, page as says};

/// Commands that stand below the field.
const COMMANDS: [(&str, &str); 2] = [("Stop the answer", "/stop"), ("New conversation", "/new")];
/// Interval of a sign of life on a stream without events.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

fn messages(web: &Web, visitor: &Visitor, RecentChat { entries, earlier }: &RecentChat) -> Markup {
    html! { ol.messages #messages {
        @if let Some((conversation, message)) = earlier {
            li #earlier { a.button rel="prev" href=(conversations::place(*conversation, *message)) { "Earlier messages" } }
        }
        @if entries.is_empty() { li #first { "Write the first message below." } }
        @for entry in entries {
            @if let Some(begun) = &entry.begun { (beginning(visitor, entry.at, begun)) }
            (entry_markup(web, visitor, entry))
        }
    } }
}

/// The line above the first message of a conversation, which leads to the one before.
fn beginning(visitor: &Visitor, at: Timestamp, begun: &BegunConversation) -> Markup {
    html! {
        li id={ "c" (begun.id) } {
            hr;
            p.facts { "New conversation, " (render::time(at, visitor.zone, visitor.now)) }
            p.facts { "Before: " a href={ "/conversations/" (begun.before) } {
                @match &begun.title { Some(title) => (texts::line(title)), None => { "Conversation " (begun.before) } }
            } }
            @if let Some(title) = &begun.title { (texts::sources(title.label())) }
        }
    }
}

fn entry_markup(web: &Web, visitor: &Visitor, entry: &ChatEntry) -> Markup {
    let below = html! {
        (chat_files::sent(&entry.files))
        @if let Some(delivery) = &entry.delivery { (buttons(visitor, delivery)) }
    };
    match (&entry.message, &entry.delivery) {
        (Some(message), _) => {
            let is_own = message.message.person.is_some();
            let name = if is_own { &visitor.person.name } else { &web.admin.agent };
            conversations::message(message, name, visitor, None, below)
        }
        (None, Some(delivery)) => html! {
            li id={ "d" (delivery.id) } {
                p.facts { strong { "Compline" } " " (render::time(entry.at, visitor.zone, visitor.now)) }
                (texts::answer(&delivery.text))
                (below)
            }
        },
        (None, None) => html! {},
    }
}

/// Renders the buttons of a delivery, or what was decided in their place.
fn buttons(visitor: &Visitor, delivery: &Delivery) -> Markup {
    if !delivery.decision.is_empty() {
        let at = Language::ENGLISH.near(visitor.zone, delivery.decided_at, visitor.now);
        return html! { p.note { (gateway::decided(Language::ENGLISH, &delivery.decision, &at)) } };
    }
    html! { @for (at, (title, data)) in delivery.buttons.iter().enumerate() {
        form.inline method="post" action="/chat" {
            // A press counts once, however often it is sent.
            input type="hidden" name="id" value={ (PRESS) (delivery.id) "-" (at) };
            button type="submit" name="button" value=(data) { (title) }
        }
    } }
}

/// Conversation that a message is to go on with.
#[derive(Deserialize)]
pub struct DraftQuery {
    about: Option<u32>,
}

/// Shows the chat.
pub async fn chat(
    Member(visitor): Member,
    (State(web), Query(DraftQuery { about })): (State<Arc<Web>>, Query<DraftQuery>),
) -> Response {
    let (recent, id) = match (web.admin.history().chat(visitor.person.id).await, random_secret::<16>()) {
        (Ok(recent), Ok(id)) => (recent, id),
        (Err(error), _) | (_, Err(error)) => return layout::failure(&error),
    };
    let main = html! {
        div role="log" aria-label="Messages" { (messages(&web, &visitor, &recent)) }
        div.text #growing {}
        form #say method="post" action="/chat" enctype="multipart/form-data" data-person=(visitor.person.id) {
            p.problem #problem role="alert" hidden {}
            input type="hidden" name="id" value=(id);
            label { span.unseen { "Message" } textarea name="text" rows="3" placeholder={ "Write to " (web.admin.agent) } { @if let Some(about) = about { (says::go_on_with(about)) } } }
            div #pasted {}
            label { "Files " input type="file" name="file" multiple; }
            button type="submit" { "Send" }
            " " span #live role="status" data-zone=(visitor.zone.name()) {}
        }
        @for (title, command) in COMMANDS { form.inline method="post" action="/chat" {
            input type="hidden" name="id" value={ (id) (command) };
            button type="submit" name="button" value=(command) { (title) }
        } }
    };
    layout::page(Some(&visitor), "/chat", "Chat", main).into_response()
}

/// Returns the newest messages alone, for the script.
pub async fn fragment(Member(visitor): Member, State(web): State<Arc<Web>>) -> Response {
    match web.admin.history().chat(visitor.person.id).await {
        Ok(recent) => layout::part(messages(&web, &visitor, &recent)).into_response(),
        Err(error) => layout::failure(&error),
    }
}

/// Requested form of the answer: `script` for no page.
#[derive(Deserialize)]
pub struct SentBy {
    #[serde(default)]
    by: String,
}

/// Stores a message.
pub async fn say(
    Member(visitor): Member,
    (State(web), Query(SentBy { by }), request): (State<Arc<Web>>, Query<SentBy>, Request),
) -> Response {
    let said = match web.read_message(&visitor, request).await {
        Ok(Ok(form)) => web.say(&visitor, form).await,
        Ok(Err(refused)) => Ok(Err(refused)),
        Err(error) => Err(error),
    };
    match said {
        Ok(Ok(())) if by == "script" => StatusCode::NO_CONTENT.into_response(),
        Ok(Ok(())) => Redirect::to("/chat").into_response(),
        // A status that leaves the sentence as it is.
        Ok(Err((_, why))) if by == "script" => (StatusCode::CONFLICT, why).into_response(),
        Ok(Err((status, why))) => layout::message(Some(&visitor), status, &why),
        Err(error) => layout::failure(&error),
    }
}

/// Streams what happens in the chat, until the session ends.
pub async fn events(Member(visitor): Member, (State(web), headers): (State<Arc<Web>>, HeaderMap)) -> Response {
    let Some(open) = web.chat.open(&visitor.person) else {
        return (StatusCode::SERVICE_UNAVAILABLE, says::TOO_MANY_PAGES).into_response();
    };
    let cookie = web.cookie_in(&headers, visitor.via).unwrap_or_default();
    let opened = OpenChat { open, web, cookie, via: visitor.via };
    Sse::new(stream::unfold(opened, OpenChat::next)).into_response()
}

/// A stream, and the session that it belongs to.
struct OpenChat {
    open: Box<dyn ChatEvents>,
    web: Arc<Web>,
    cookie: String,
    via: Via,
}

impl OpenChat {
    async fn next(mut self) -> Option<(Result<Event, Infallible>, Self)> {
        let event = tokio::select! {
            event = self.open.next() => match event? {
                ChatEvent::Message => mark("message"),
                ChatEvent::Answer => mark("answer"),
                // Line breaks would end the data.
                ChatEvent::Grow(delta) => {
                    Event::default().event("grow").data(serde_json::to_string(&delta).unwrap_or_default())
                }
                ChatEvent::Restart => mark("restart"),
                ChatEvent::Typing => mark("typing"),
            },
            _ = self.web.admin.clock.after(KEEP_ALIVE) => Event::default().comment(""),
        };
        // A session ends at once, wherever it is ended.
        let is_signed_in = self.web.visitor(&self.cookie, self.via).await.is_ok_and(|visitor| visitor.is_some());
        is_signed_in.then_some((Ok(event), self))
    }
}

/// An event that says no more than its name. A browser drops one without data.
fn mark(name: &str) -> Event {
    Event::default().event(name).data("1")
}
