//! `/login` and `/sign-out`.
//!
//! The code of a link stands behind `#`, so that no server, log or referrer gets it. The script
//! puts it into the form and asks whom it signs in; the person then confirms. Without script the
//! code is pasted. A wrong code changes nothing: to try out 128 random bits is hopeless, and
//! an attacker who could void links by guessing could keep everyone out.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Form, State};
use axum::http::header::{HeaderName, HeaderValue, USER_AGENT};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use maud::html;
use serde::Deserialize;

use super::session::Member;
use super::site_names::Via;
use super::{Web, layout};
use crate::admin::browsers::random_secret;
use crate::text::shorten;
use crate::wording::page as says;

/// Maximum length of a browser's words for itself, in characters.
const MAX_BROWSER: usize = 200;

/// A sign-in code, as a form.
#[derive(Deserialize)]
pub struct CodeForm {
    code: String,
}

/// Shows the form.
pub async fn form() -> Response {
    layout::page(None, "", "Sign in", sign_in_form("")).into_response()
}

fn sign_in_form(problem: &str) -> maud::Markup {
    html! {
        @if !problem.is_empty() { p.problem role="alert" { (problem) } }
        form.card method="post" action="/login" data-sign-in {
            p data-sign-in-name { "On the computer that runs your assistant, " code { "compline web" } " makes a link that signs this browser in." }
            label { "Code from the link" input name="code" required autocomplete="off" spellcheck="false" autocapitalize="none"; }
            button type="submit" { "Sign in" }
        }
    }
}

/// Returns the name of the person whom a code signs in.
pub async fn person(State(web): State<Arc<Web>>, Form(CodeForm { code }): Form<CodeForm>) -> Response {
    match web.admin.members().person_of_code(code).await {
        Ok(Some(person)) => person.name.into_response(),
        Ok(None) => wrong_code(),
        Err(error) => layout::failure(&error),
    }
}

/// Uses a code up and begins the session.
pub async fn sign_in(
    State(web): State<Arc<Web>>,
    Extension(via): Extension<Via>,
    headers: HeaderMap,
    Form(CodeForm { code }): Form<CodeForm>,
) -> Response {
    let browser = headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let browser = shorten(browser, MAX_BROWSER);
    let cookie = match random_secret::<32>() {
        Ok(cookie) => cookie,
        Err(error) => return layout::failure(&error),
    };
    match web.admin.members().begin_session(code, cookie.clone(), browser, web.config.session).await {
        Ok(Some(person)) => {
            tracing::info!(person.id = %person.id, "A browser signed in as person {}", person.id);
            let mut response = Redirect::to("/").into_response();
            web.set_cookie(&mut response, &cookie, via);
            response
        }
        Ok(None) => wrong_code(),
        Err(error) => layout::failure(&error),
    }
}

fn wrong_code() -> Response {
    let page = layout::page(None, "", "Sign in", sign_in_form(says::CODE_REFUSED));
    (StatusCode::FORBIDDEN, page).into_response()
}

/// Ends the session of this browser.
pub async fn sign_out(Member(visitor): Member, State(web): State<Arc<Web>>) -> Response {
    if let Err(error) = web.admin.members().end_session(visitor.session.id, visitor.person.id).await {
        return layout::failure(&error);
    }
    let mut response = Redirect::to("/login").into_response();
    web.remove_cookie(&mut response, visitor.via);
    // Not "cookies": that would clear those of every name below the same domain.
    let all = HeaderValue::from_static("\"cache\", \"storage\"");
    response.headers_mut().insert(HeaderName::from_static("clear-site-data"), all);
    response
}
