//! `/login` and `/sign-out`.
//!
//! The code of a link stands behind `#`, so that no server, log or referrer gets it. The script
//! puts it into the form and asks whom it signs in; the person then confirms. Without script the
//! code is pasted. Five wrong codes in a row void all open ones.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Extension;
use axum::extract::{Form, State};
use axum::http::header::{HeaderName, HeaderValue, USER_AGENT};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use maud::html;
use serde::Deserialize;

use super::guard::Via;
use super::session::Member;
use super::{Web, layout};
use crate::admin::browsers::random_secret;
use crate::store::Tx;
use crate::text::shorten;
use crate::wording::page as says;

/// Wrong codes in a row after which all open codes are void.
const MAX_WRONG: u32 = 5;
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
    let now = web.admin.clock.now();
    let found = web.admin.journal.read(move |db| db.web_sessions().code(code.trim(), now)).await;
    match found {
        Ok(Some(person)) => person.name.into_response(),
        Ok(None) => web.count_wrong_code().await,
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
    let (browser, now) = (shorten(browser, MAX_BROWSER), web.admin.clock.now());
    let cookie = match random_secret::<32>() {
        Ok(cookie) => cookie,
        Err(error) => return layout::failure(&error),
    };
    let (secret, end) = (cookie.clone(), now.plus(web.config.session));
    let store = move |tx: Tx<'_>| tx.web_sessions().sign_in(code.trim(), &secret, &browser, now, end);
    match web.admin.journal.write("begin a web session", store).await {
        Ok(Some(person)) => {
            web.wrong_codes.store(0, Ordering::Relaxed);
            tracing::info!(person.id = %person.id, "A browser signed in as person {}", person.id);
            let mut response = Redirect::to("/").into_response();
            web.set_cookie(&mut response, &cookie, via);
            response
        }
        Ok(None) => web.count_wrong_code().await,
        Err(error) => layout::failure(&error),
    }
}

/// Ends the session of this browser.
pub async fn sign_out(Member(visitor): Member, State(web): State<Arc<Web>>) -> Response {
    let (session, person) = (visitor.session.id, visitor.person.id);
    let end = move |tx: Tx<'_>| tx.web_sessions().end(session, person);
    if let Err(error) = web.admin.journal.write("end a web session", end).await {
        return layout::failure(&error);
    }
    let mut response = Redirect::to("/login").into_response();
    web.remove_cookie(&mut response, visitor.via);
    let all = HeaderValue::from_static("\"cache\", \"cookies\", \"storage\"");
    response.headers_mut().insert(HeaderName::from_static("clear-site-data"), all);
    response
}

impl Web {
    async fn count_wrong_code(&self) -> Response {
        if self.wrong_codes.fetch_add(1, Ordering::Relaxed) + 1 >= MAX_WRONG {
            self.wrong_codes.store(0, Ordering::Relaxed);
            tracing::warn!("{MAX_WRONG} wrong sign-in codes: all open ones are void");
            let voided =
                self.admin.journal.write("void sign-in codes", |tx: Tx<'_>| tx.web_sessions().void_codes()).await;
            if let Err(error) = voided {
                return layout::failure(&error);
            }
        }
        let page = layout::page(None, "", "Sign in", sign_in_form(says::CODE_REFUSED));
        (StatusCode::FORBIDDEN, page).into_response()
    }
}
