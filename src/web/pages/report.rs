//! The answer of a command as a page: what the chat shows, with its buttons as forms.

use std::sync::Arc;

use axum::extract::{Form, State};
use axum::response::Html;
use maud::{Markup, html};
use serde::Deserialize;

use crate::admin::Answer;
use crate::web::routes::Routes;
use crate::web::session::{Admitted, Member};
use crate::web::visitor::Visitor;
use crate::web::{Web, html as render, layout};

/// A form that runs a command.
#[derive(Deserialize)]
pub struct CommandForm {
    command: String,
}

/// A page that shows the answers of commands which only read.
pub struct Report {
    /// Address.
    pub path: &'static str,
    /// Title.
    pub title: &'static str,
    /// Commands, as in the chat.
    pub commands: &'static [&'static str],
}

/// Adds the route of a report.
pub fn add<W: Admitted>(routes: Routes, report: &'static Report) -> Routes {
    routes.get(report.path, move |who: W, State(web): State<Arc<Web>>| async move {
        let visitor: Visitor = who.into();
        let mut sections = Vec::new();
        for command in report.commands {
            sections.push(answer_markup(&web.query(&visitor, command).await));
        }
        let main = html! { @for section in &sections { section { (section) } } };
        layout::page(Some(&visitor), report.path, report.title, main)
    })
}

/// Runs a command and shows its answer.
pub async fn act(
    Member(visitor): Member,
    (State(web), Form(CommandForm { command })): (State<Arc<Web>>, Form<CommandForm>),
) -> Html<String> {
    let answer = web.admin.chat(&visitor.caller(), &command).await;
    layout::page(Some(&visitor), "", "Done", html! { section { (answer_markup(&answer)) } })
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
