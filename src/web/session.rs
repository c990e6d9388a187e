//! Signed-in browsers: the cookie, and the extractors that say who may use a route.
//!
//! The row of the session is read for each request, so a session ends at once when it is ended
//! anywhere, when its person's access is revoked, or when their role changes. Nothing that a
//! request says about itself counts.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::{COOKIE, HeaderValue, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};

use super::site_names::Via;
use super::visitor::{Access, Visitor};
use super::{Web, layout};
use crate::http::Connection;
use crate::wording::page as says;

/// Interval at which use of a session is recorded.
const SEEN_INTERVAL: Duration = Duration::from_secs(3600);

/// Maximum number of connections of one person: a browser opens six, and each open chat holds one.
const MAX_CONNECTIONS: usize = 24;

/// Extractor of a visitor of any role.
#[derive(Debug)]
pub struct Member(pub Visitor);

/// Extractor of a visitor who is an owner.
#[derive(Debug)]
pub struct Owner(pub Visitor);

/// Extractors that say who may use a route. Only these two exist.
pub trait Admitted: FromRequestParts<Arc<Web>, Rejection = Response> + Into<Visitor> + Send + 'static {
    /// Permission that it checks.
    const ACCESS: Access;
}

impl Admitted for Member {
    const ACCESS: Access = Access::Member;
}

impl Admitted for Owner {
    const ACCESS: Access = Access::Owner;
}

impl From<Member> for Visitor {
    fn from(Member(visitor): Member) -> Self {
        visitor
    }
}

impl From<Owner> for Visitor {
    fn from(Owner(visitor): Owner) -> Self {
        visitor
    }
}

impl FromRequestParts<Arc<Web>> for Member {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Web>) -> Result<Self, Response> {
        match parts.extensions.get::<Visitor>() {
            Some(visitor) => Ok(Self(visitor.clone())),
            // A person who opens a page is led to the sign-in; a form and a script are told.
            None if [Method::GET, Method::HEAD].contains(&parts.method) && accepts_html(&parts.headers) => {
                Err(Redirect::to("/login").into_response())
            }
            None if accepts_html(&parts.headers) => {
                Err(layout::message(None, StatusCode::UNAUTHORIZED, says::SIGNED_OUT))
            }
            None => Err((StatusCode::UNAUTHORIZED, says::SIGNED_OUT).into_response()),
        }
    }
}

impl FromRequestParts<Arc<Web>> for Owner {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, web: &Arc<Web>) -> Result<Self, Response> {
        let Member(visitor) = Member::from_request_parts(parts, web).await?;
        if visitor.is_owner() {
            return Ok(Self(visitor));
        }
        Err(layout::message(Some(&visitor), StatusCode::FORBIDDEN, says::OWNER_ONLY))
    }
}

fn accepts_html(headers: &HeaderMap) -> bool {
    let accepted = headers.get("accept").and_then(|value| value.to_str().ok());
    accepted.is_some_and(|accepted| accepted.contains("text/html"))
}

/// Reads the session of the cookie, if it has one, and prolongs it while it is used.
pub async fn identify(State(web): State<Arc<Web>>, mut request: Request, next: Next) -> Response {
    let via = request.extensions().get::<Via>().copied().unwrap_or(Via::Local);
    let cookie = web.cookie_in(request.headers(), via);
    let visitor = match &cookie {
        Some(cookie) => web.visitor(cookie, via).await,
        None => Ok(None),
    };
    let visitor = match visitor {
        Ok(visitor) => visitor,
        Err(error) => return layout::failure(&error),
    };
    if let Some(connection) = request.extensions().get::<Connection>() {
        connection.belongs_to(visitor.as_ref().map(|visitor| visitor.person.id.0), MAX_CONNECTIONS);
    }
    let (Some(visitor), Some(cookie)) = (visitor, cookie) else { return next.run(request).await };
    let is_due = visitor.now.since(visitor.session.seen_at) >= SEEN_INTERVAL;
    let id = visitor.session.id;
    request.extensions_mut().insert(visitor);
    let mut response = next.run(request).await;
    if is_due && !response.headers().contains_key(SET_COOKIE) {
        // A read may succeed although nothing can be written.
        if let Err(error) = web.admin.members().prolong_session(id, web.config.session).await {
            tracing::warn!("The use of a web session cannot be recorded: {error:#}");
        } else {
            web.set_cookie(&mut response, &cookie, via);
        }
    }
    response
}

impl Web {
    /// Name of the cookie: only a connection with TLS can promise more.
    fn cookie_name(&self, via: Via) -> String {
        match via {
            Via::Local => self.cookie.clone(),
            Via::Public => format!("__Host-{}", self.cookie),
        }
    }

    /// Returns the cookie of a request to that name of the page.
    pub(super) fn cookie_in(&self, headers: &HeaderMap, via: Via) -> Option<String> {
        let name = self.cookie_name(via);
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
    }

    /// Sets the cookie of a session.
    pub(super) fn set_cookie(&self, response: &mut Response, cookie: &str, via: Via) {
        self.put_cookie(response, cookie, self.config.session.as_secs(), via);
    }

    /// Removes the cookie of a session.
    pub(super) fn remove_cookie(&self, response: &mut Response, via: Via) {
        self.put_cookie(response, "", 0, via);
    }

    fn put_cookie(&self, response: &mut Response, cookie: &str, seconds: u64, via: Via) {
        let secure = if via == Via::Public { "; Secure" } else { "" };
        let name = self.cookie_name(via);
        let line = format!("{name}={cookie}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}");
        if let Ok(line) = HeaderValue::from_str(&line) {
            response.headers_mut().append(SET_COOKIE, line);
        }
    }

    /// Returns who has the cookie now.
    pub(super) async fn visitor(&self, cookie: &str, via: Via) -> anyhow::Result<Option<Visitor>> {
        let now = self.admin.clock.now();
        let found = self.admin.members().session(cookie.to_owned()).await?;
        Ok(found.map(|(session, person, zone)| Visitor { person, session, via, zone, now }))
    }
}
