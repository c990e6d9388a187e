//! The chat: the newest messages, a field, and what grows meanwhile.
//!
//! The script makes the id of a message before its first try and keeps the text until the journal
//! has it; without script the form carries an id, so a form that is sent twice counts once.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, Sse};
use axum::response::{Html, IntoResponse, Redirect, Response};
use futures::stream::{self, Stream};
use maud::{Markup, html};
use serde::Deserialize;

use super::conversations::message;
use crate::admin::random_secret;
use crate::admin::{FullConversation, PageRequest, TranscriptPart};
use crate::message::ChatEvent;
use crate::store::ConversationKind;
use crate::time::Clock;
use crate::web::chat::{ChatEvents, ChatMessage};
use crate::web::session::Member;
use crate::web::visitor::Visitor;
use crate::web::{Web, layout};

/// Interval of a sign of life on a stream without events.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Returns the newest messages of the visitor's newest chat.
async fn newest(web: &Web, visitor: &Visitor) -> anyhow::Result<Option<FullConversation>> {
    let (history, only) = (web.admin.history(), Some(visitor.person.id));
    let newest = history.conversations(only, Some(ConversationKind::Chat), PageRequest::newest(1)).await?;
    match newest.page.items.first() {
        Some(item) => history.find_conversation(item.conversation.id, only, TranscriptPart::Newest).await,
        None => Ok(None),
    }
}

fn messages(web: &Web, visitor: &Visitor, whole: Option<&FullConversation>) -> Markup {
    html! { ol.messages #messages {
        @if let Some(whole) = whole {
            @for entry in &whole.entries { (message(entry, whole, web, visitor, None)) }
        }
    } }
}

/// Shows the chat.
pub async fn chat(Member(visitor): Member, State(web): State<Arc<Web>>) -> Response {
    let (whole, id) = match (newest(&web, &visitor).await, random_secret::<16>()) {
        (Ok(whole), Ok(id)) => (whole, id),
        (Err(error), _) | (_, Err(error)) => return layout::failure(&error),
    };
    let main = html! {
        @if let Some(whole) = &whole {
            @if whole.before.is_some() {
                p { a href={ "/conversations/" (whole.item.conversation.id) } { "The whole conversation" } }
            }
        }
        (messages(&web, &visitor, whole.as_ref()))
        div #growing aria-live="polite" aria-atomic="false" {}
        form #say method="post" action="/chat" {
            p.problem #problem role="alert" hidden {}
            input type="hidden" name="id" value=(id);
            label { span.unseen { "Message" } textarea name="text" rows="3" placeholder={ "Write to " (web.admin.agent) } {} }
            div #pasted {}
            button type="submit" { "Send" }
            " " span #live role="status" {}
        }
        form.inline method="post" action="/act" { button type="submit" name="command" value="/stop" { "Stop the answer" } }
        form.inline method="post" action="/act" { button type="submit" name="command" value="/new" { "New conversation" } }
    };
    layout::page(Some(&visitor), "/chat", "Chat", main).into_response()
}

/// Returns the newest messages alone, for the script.
pub async fn fragment(Member(visitor): Member, State(web): State<Arc<Web>>) -> Response {
    match newest(&web, &visitor).await {
        Ok(whole) => Html(messages(&web, &visitor, whole.as_ref()).into_string()).into_response(),
        Err(error) => layout::failure(&error),
    }
}

/// How the answer is wanted: `script` for no page.
#[derive(Deserialize)]
pub struct SentBy {
    #[serde(default)]
    by: String,
}

/// Stores a message.
pub async fn say(
    Member(visitor): Member,
    (State(web), Query(SentBy { by }), body): (State<Arc<Web>>, Query<SentBy>, Bytes),
) -> Response {
    let mut message = ChatMessage { id: String::new(), text: String::new(), pasted: Vec::new() };
    for (name, value) in url::form_urlencoded::parse(&body) {
        match &*name {
            "id" => message.id = value.into_owned(),
            "text" => message.text = value.into_owned(),
            "pasted" => message.pasted.push(value.into_owned()),
            _ => {}
        }
    }
    let said = web.chat.say(&visitor.person, message).await;
    match said {
        Ok(Ok(())) if by == "script" => StatusCode::NO_CONTENT.into_response(),
        Ok(Ok(())) => Redirect::to("/chat").into_response(),
        Ok(Err(why)) if by == "script" => (StatusCode::SERVICE_UNAVAILABLE, why).into_response(),
        Ok(Err(why)) => layout::message(Some(&visitor), StatusCode::SERVICE_UNAVAILABLE, &why),
        Err(error) => layout::failure(&error),
    }
}

/// Streams what happens in the chat.
pub async fn events(
    Member(visitor): Member,
    State(web): State<Arc<Web>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let clock = Arc::clone(&web.admin.clock);
    let open = web.chat.open(&visitor.person);
    Sse::new(stream::unfold((open, clock), next_event))
}

type Opened = (Box<dyn ChatEvents>, Arc<dyn Clock>);

async fn next_event((mut open, clock): Opened) -> Option<(Result<Event, Infallible>, Opened)> {
    let event = tokio::select! {
        event = open.next() => match event? {
            ChatEvent::Message => Event::default().event("message").data(""),
            // Line breaks would end the data.
            ChatEvent::Grow(delta) => {
                Event::default().event("grow").data(serde_json::to_string(&delta).unwrap_or_default())
            }
            ChatEvent::Restart => Event::default().event("restart").data(""),
            ChatEvent::Typing => Event::default().event("typing").data(""),
        },
        _ = clock.after(KEEP_ALIVE) => Event::default().comment(""),
    };
    Some((Ok(event), (open, clock)))
}
