//! The visitor's own account: addresses, settings, browsers, and the export of everything that is
//! kept about them.

use std::sync::Arc;

use axum::extract::{Form, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use super::{files, people};
use crate::admin::PersonReport;
use crate::admin::command::SettingChange;
use crate::id::WebSessionId;
use crate::store::{CodeOrigin, Theme, WebSession};
use crate::time::Zone;
use crate::web::session::Member;
use crate::web::visitor::Visitor;
use crate::web::{Web, html as render, layout};
use crate::wording::Language;
use crate::wording::page::people as says;

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

/// A setting with its new value; `auto` for none of one's own.
#[derive(Deserialize)]
pub struct SettingForm {
    setting: Setting,
    value: String,
}

/// A setting of a person.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Setting {
    Language,
    Zone,
}

/// Shows account, browsers and settings.
pub async fn me(Member(visitor): Member, State(web): State<Arc<Web>>) -> Response {
    match web.me(&visitor, None).await {
        Ok(main) => layout::page(Some(&visitor), "/me", "Me", main).into_response(),
        Err(error) => layout::failure(&error),
    }
}

fn account_markup(visitor: &Visitor, account: Option<&PersonReport>) -> Markup {
    html! {
        section {
            p { "You are " strong { (visitor.person.name) } ", " (visitor.person.role.as_str()) "." }
            form method="post" action="/sign-out" { button type="submit" { "Sign out" } }
        }
        section {
            h2 { "Addresses" }
            @if let Some(account) = account { p { (people::addresses_markup(&account.listed.addresses)) } }
            p { (says::HOW_LINKING_WORKS) }
            form method="post" action="/me/link" { button type="submit" { "Make a code" } }
        }
    }
}

fn settings_markup(language: Language, zone: Zone) -> Markup {
    html! { section {
        h2 { "Language and time" }
        form method="post" action="/me/settings" {
            input type="hidden" name="setting" value="language";
            label { "Language in chats" select name="value" {
                @for one in Language::all() { option value=(one.code()) selected[one == language] { (one.name()) } }
                option value="auto" { "As set for this home" }
            } }
            button type="submit" { "Change the language" }
        }
        form method="post" action="/me/settings" {
            input type="hidden" name="setting" value="zone";
            label { "Time zone, such as Europe/Vienna; auto for that of this home" input name="value" value=(zone.name()) autocapitalize="off" required; }
            button type="submit" { "Change the time zone" }
        }
    } }
}

fn export_markup() -> Markup {
    html! { section {
        h2 { "Your data" }
        p { (says::ABOUT_EXPORT) }
        form method="post" action="/me/export" { button type="submit" { "Download everything" } }
        p { (says::TO_BE_FORGOTTEN) }
    } }
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
                td { @if browser.browser.is_empty() { "Unknown browser" } @else { bdi { (browser.browser) } } @if browser.id == visitor.session.id { " " strong { "this one" } } }
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

/// Makes a code that links another address of the visitor.
pub async fn link(Member(visitor): Member, State(web): State<Arc<Web>>) -> Response {
    match web.admin.members().linking(&visitor.person, Language::ENGLISH).await {
        Ok(code) => people::code_page(&visitor, "/me", &code),
        Err(error) => layout::failure(&error),
    }
}

/// Changes the visitor's language or time zone.
pub async fn set(
    Member(visitor): Member,
    (State(web), Form(SettingForm { setting, value })): (State<Arc<Web>>, Form<SettingForm>),
) -> Response {
    let value = value.trim().to_owned();
    let change = match setting {
        Setting::Language => SettingChange::Language(value),
        Setting::Zone => SettingChange::Zone(value),
    };
    let answer = match web.admin.members().change_setting(&visitor.person, &change, Language::ENGLISH).await {
        Ok(answer) if !answer.failed => return Redirect::to("/me").into_response(),
        Ok(answer) => answer,
        Err(error) => return layout::failure(&error),
    };
    let notice = html! { div.problem role="alert" { (render::markdown(&answer.markdown, &answer.label)) } };
    match web.me(&visitor, Some(notice)).await {
        Ok(main) => (StatusCode::UNPROCESSABLE_ENTITY, layout::page(Some(&visitor), "/me", "Me", main)).into_response(),
        Err(error) => layout::failure(&error),
    }
}

/// Hands the visitor everything that is kept about them.
pub async fn export(Member(visitor): Member, State(web): State<Arc<Web>>) -> Response {
    web.export(&visitor).await
}

/// Stores this browser's settings.
pub async fn set_display(
    Member(visitor): Member,
    (State(web), Form(display)): (State<Arc<Web>>, Form<Display>),
) -> Response {
    let theme = display.theme.parse().unwrap_or(Theme::System);
    changed(web.admin.members().set_display(visitor.session.id, theme, display.shortcuts.is_some()).await)
}

/// Signs one browser of the visitor out.
pub async fn end_browser(
    Member(visitor): Member,
    (State(web), Form(Browser { id })): (State<Arc<Web>>, Form<Browser>),
) -> Response {
    changed(web.admin.members().end_session(WebSessionId(id), visitor.person.id).await)
}

/// Signs all browsers of the visitor out.
pub async fn end_all(Member(visitor): Member, State(web): State<Arc<Web>>) -> Response {
    changed(web.admin.members().end_sessions(Some(visitor.person.id)).await.map(drop))
}

fn changed(result: anyhow::Result<()>) -> Response {
    match result {
        Ok(()) => Redirect::to("/me").into_response(),
        Err(error) => layout::failure(&error),
    }
}

impl Web {
    pub(super) async fn export(&self, visitor: &Visitor) -> Response {
        match self.admin.history().export_to_page(&visitor.person).await {
            Ok(file) => files::bytes_of(file),
            Err(error) => layout::failure(&error),
        }
    }

    /// Renders the account below a notice.
    async fn me(&self, visitor: &Visitor, notice: Option<Markup>) -> anyhow::Result<Markup> {
        let (id, members) = (visitor.person.id, self.admin.members());
        let (browsers, language) = (members.browsers(id).await?, members.settings(&visitor.person).await?.language);
        let account = members.person(id).await?;
        Ok(html! {
            @if let Some(notice) = notice { (notice) }
            (account_markup(visitor, account.as_ref()))
            (settings_markup(language, visitor.zone))
            (display_markup(&visitor.session))
            (browsers_markup(visitor, &browsers))
            (export_markup())
        })
    }
}
