//! The answer of a command as a page: what the chat shows, with its buttons as forms.

use std::sync::Arc;

use axum::extract::{Form, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;

use crate::admin::Answer;
use crate::admin::command::{self, Action, Command};
use crate::web::session::Member;
use crate::web::visitor::Visitor;
use crate::web::{Web, html as render, layout};
use crate::wording::page as says;

/// A form that runs a command.
#[derive(Deserialize)]
pub struct CommandForm {
    command: String,
}

/// Runs a command and shows its answer. A file that a chat would be sent is downloaded.
pub async fn act(
    Member(visitor): Member,
    (State(web), Form(CommandForm { command })): (State<Arc<Web>>, Form<CommandForm>),
) -> Response {
    match command::parse(&command) {
        Some(Command::Act(Action::Export)) => return web.export(&visitor).await,
        Some(Command::Act(Action::SendFile(path))) => return web.download(&visitor, &path).await,
        _ => {}
    }
    let answer = web.admin.chat(&visitor.caller(), &command).await;
    told(&visitor, "", &answer)
}

/// Shows the answer of a command; one with buttons is a question, so nothing was done yet.
pub(super) fn told(visitor: &Visitor, path: &str, answer: &Answer) -> Response {
    let (status, title) = match answer {
        Answer { failed: true, .. } => (StatusCode::CONFLICT, says::NOT_DONE),
        answer if !answer.buttons.is_empty() => (StatusCode::OK, says::NOT_DONE_YET),
        _ => (StatusCode::OK, says::DONE),
    };
    let main = html! { section role=[answer.failed.then_some("alert")] { (answer_markup(answer)) } };
    (status, layout::page(Some(visitor), path, title, main)).into_response()
}

/// Renders the answer of a command, with its buttons as forms.
pub fn answer_markup(answer: &Answer) -> Markup {
    html! {
        (render::markdown(&answer.markdown, &answer.label))
        @for (title, command) in &answer.buttons {
            form.inline method="post" action="/act" {
                button type="submit" name="command" value=(command) { (title) }
            }
        }
    }
}

impl Web {
    /// Answers a command that only reads.
    pub(super) async fn query(&self, visitor: &Visitor, line: &str) -> Answer {
        self.admin.chat_query(&visitor.caller(), line).await
    }
}
