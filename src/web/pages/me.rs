//! The visitor's own browsers and settings.

use std::sync::Arc;

use axum::extract::{Form, State};
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use crate::id::WebSessionId;
use crate::store::{CodeOrigin, Db, Theme, Tx, WebSession};
use crate::web::session::Member;
use crate::web::visitor::Visitor;
use crate::web::{Web, html as render, layout};

/// A browser's own settings.
#[derive(Deserialize)]
pub struct Display {
    theme: String,
    #[serde(default)]
    shortcuts: Option<String>,
}

/// A browser to sign out.
#[derive(Deserialize)]
pub struct Browser {
    id: i64,
}

/// Shows account, browsers and settings.
pub async fn me(Member(visitor): Member, State(web): State<Arc<Web>>) -> Response {
    let (person, now) = (visitor.person.id, visitor.now);
    let browsers = web.admin.journal.read(move |db: Db<'_>| db.web_sessions().of_person(person, now)).await;
    let browsers = match browsers {
        Ok(browsers) => browsers,
        Err(error) => return layout::failure(&error),
    };
    let role = if visitor.is_owner() { "owner" } else { "member" };
    let main = html! {
        section {
            p { "You are " strong { (visitor.person.name) } ", " (role) "." }
            form method="post" action="/sign-out" { button type="submit" { "Sign out" } }
        }
        (display_markup(&visitor.session))
        (browsers_markup(&visitor, &browsers))
    };
    layout::page(Some(&visitor), "/me", "Me", main).into_response()
}

fn display_markup(session: &WebSession) -> Markup {
    let themes = [(Theme::System, "As the system"), (Theme::Light, "Light"), (Theme::Dark, "Dark")];
    html! { section {
        h2 { "This browser" }
        form method="post" action="/me/display" {
            label { "Colours" select name="theme" {
                @for (theme, title) in themes {
                    option value=(theme.as_str()) selected[theme == session.theme] { (title) }
                }
            } }
            label.check { input type="checkbox" name="shortcuts" value="on" checked[session.shortcuts]; "Keys as shortcuts" }
            button type="submit" { "Save" }
        }
    } }
}

fn browsers_markup(visitor: &Visitor, browsers: &[WebSession]) -> Markup {
    html! { section {
        h2 { "Browsers" }
        div.scroll tabindex="0" { table {
            tr { th scope="col" { "Browser" } th scope="col" { "Signed in" } th scope="col" { "Last used" } th scope="col" { "Link from" } th scope="col" { span.unseen { "Sign out" } } }
            @for browser in browsers { tr {
                td { bdi { (browser.browser) } @if browser.id == visitor.session.id { " " strong { "this one" } } }
                td { (render::time(browser.began_at, visitor.zone, visitor.now)) }
                td { (render::time(browser.seen_at, visitor.zone, visitor.now)) }
                td { @match browser.origin { CodeOrigin::CommandLine => "compline web", CodeOrigin::Chat => "/web" } }
                td { form method="post" action="/me/browsers/end" {
                    button type="submit" name="id" value=(browser.id) { "Sign out" }
                } }
            } }
        } }
        form method="post" action="/me/browsers/end-all" { button type="submit" { "Sign out everywhere" } }
    } }
}

/// Stores this browser's settings.
pub async fn set_display(
    Member(visitor): Member,
    (State(web), Form(display)): (State<Arc<Web>>, Form<Display>),
) -> Response {
    let (id, shortcuts) = (visitor.session.id, display.shortcuts.is_some());
    let theme = display.theme.parse().unwrap_or(Theme::System);
    web.change("store a browser's settings", move |tx| tx.web_sessions().set_display(id, theme, shortcuts)).await
}

/// Signs one browser of the visitor out.
pub async fn end_browser(
    Member(visitor): Member,
    (State(web), Form(Browser { id })): (State<Arc<Web>>, Form<Browser>),
) -> Response {
    let person = visitor.person.id;
    web.change("end a web session", move |tx| tx.web_sessions().end(WebSessionId(id), person).map(|_| ())).await
}

/// Signs all browsers of the visitor out.
pub async fn end_all(Member(visitor): Member, State(web): State<Arc<Web>>) -> Response {
    let person = visitor.person.id;
    web.change("end web sessions", move |tx| tx.web_sessions().end_all(Some(person)).map(|_| ())).await
}

impl Web {
    async fn change(
        &self,
        name: &'static str,
        job: impl FnOnce(Tx<'_>) -> anyhow::Result<()> + Send + 'static,
    ) -> Response {
        match self.admin.journal.write(name, job).await {
            Ok(()) => Redirect::to("/me").into_response(),
            Err(error) => layout::failure(&error),
        }
    }
}
