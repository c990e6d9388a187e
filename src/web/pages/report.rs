//! The answer of a command as a page: what the chat shows, with its buttons as forms.

use std::sync::Arc;

use axum::extract::{Form, Path, Query, State};
use axum::response::Html;
use futures::future::BoxFuture;
use maud::{Markup, html};
use serde::Deserialize;

use crate::admin::{Answer, Caller};
use crate::web::session::{Member, Owner};
use crate::web::visitor::Visitor;
use crate::web::{Web, html as render, layout};

/// A form that runs a command.
#[derive(Deserialize)]
pub struct CommandForm {
    command: String,
}

/// Words to search for.
#[derive(Deserialize)]
pub struct SearchForm {
    #[serde(default)]
    q: String,
}

/// Returns the handler of a page that shows the answers of commands to anyone who is signed in.
pub fn member_report(
    commands: &'static [&'static str],
    path: &'static str,
    title: &'static str,
) -> impl Fn(Member, State<Arc<Web>>) -> BoxFuture<'static, Html<String>> + Clone + Send + Sync {
    move |Member(visitor), State(web)| Box::pin(report(web, visitor, commands, path, title))
}

/// Returns the handler of a page that shows the answers of commands to owners.
pub fn owner_report(
    commands: &'static [&'static str],
    path: &'static str,
    title: &'static str,
) -> impl Fn(Owner, State<Arc<Web>>) -> BoxFuture<'static, Html<String>> + Clone + Send + Sync {
    move |Owner(visitor), State(web)| Box::pin(report(web, visitor, commands, path, title))
}

async fn report(
    web: Arc<Web>,
    visitor: Visitor,
    commands: &'static [&'static str],
    path: &'static str,
    title: &'static str,
) -> Html<String> {
    let mut sections = Vec::new();
    for command in commands {
        sections.push(answer_markup(&web.run_command(&visitor, command).await));
    }
    layout::page(Some(&visitor), path, title, html! { @for section in &sections { section { (section) } } })
}

/// Shows one note.
pub async fn note(Member(visitor): Member, (State(web), Path(note)): (State<Arc<Web>>, Path<String>)) -> Html<String> {
    one(&web, &visitor, &format!("/memory {note}"), "/memory", &note).await
}

/// Shows one proposal in full, with what an owner can decide.
pub async fn proposal(Owner(visitor): Owner, (State(web), Path(id)): (State<Arc<Web>>, Path<u32>)) -> Html<String> {
    one(&web, &visitor, &format!("/show {id}"), "/skills", &format!("Proposal {id}")).await
}

async fn one(web: &Web, visitor: &Visitor, command: &str, path: &str, title: &str) -> Html<String> {
    let answer = web.run_command(visitor, command).await;
    layout::page(Some(visitor), path, title, html! { section { (answer_markup(&answer)) } })
}

/// Searches everything of the visitor.
pub async fn search(
    Member(visitor): Member,
    (State(web), Query(SearchForm { q })): (State<Arc<Web>>, Query<SearchForm>),
) -> Html<String> {
    let found = match q.trim() {
        "" => None,
        words => Some(web.run_command(&visitor, &format!("/search {words}")).await),
    };
    let main = html! {
        form role="search" action="/search" {
            label { "Words" input type="search" name="q" value=(q) autofocus[q.is_empty()]; }
            button type="submit" { "Search" }
        }
        @if let Some(found) = &found { section { (answer_markup(found)) } }
    };
    layout::page(Some(&visitor), "/search", "Search", main)
}

/// Runs a command and shows its answer.
pub async fn act(
    Member(visitor): Member,
    (State(web), Form(CommandForm { command })): (State<Arc<Web>>, Form<CommandForm>),
) -> Html<String> {
    let answer = web.run_command(&visitor, &command).await;
    layout::page(Some(&visitor), "", "Done", html! { section { (answer_markup(&answer)) } })
}

fn answer_markup(answer: &Answer) -> Markup {
    html! {
        (render::markdown(&answer.markdown, answer.label.is_trusted()))
        @for (title, command) in &answer.buttons {
            form.inline method="post" action="/act" {
                button type="submit" name="command" value=(command) { (title) }
            }
        }
    }
}

impl Web {
    async fn run_command(&self, visitor: &Visitor, line: &str) -> Answer {
        let caller = Caller { person: visitor.person.clone(), group: None };
        self.admin.chat(&caller, line).await
    }
}
