//! The table of routes, and who may use each.
//!
//! A route is added with the extractor that says who may use it, as the first argument of its
//! handler, so that none can be added without: [`Routes::get`] and [`Routes::post`] take nothing
//! else. The few routes for everyone are added by [`Routes::open`].
//!
//! What is rendered for a visitor is rendered on a thread of its own, since it may compute for
//! long; only the receipt of files ([`Routes::receive`]) mostly waits.

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::handler::Handler;
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};

use super::session::{self, Admitted};
use super::visitor::{Access, Visitor};
use super::{Web, compression, guard, layout};
use crate::admin::threads::AnswerThreads;
use crate::wording::page as says;

/// Maximum length of a form.
const MAX_FORM: usize = 1 << 20;
/// Maximum length of a form that anybody may send.
const MAX_OPEN_FORM: usize = 4 << 10;

/// A route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteRow {
    /// Method.
    pub method: &'static str,
    /// Path, with names of its parts in braces.
    pub path: &'static str,
    /// Lowest role that may use it.
    pub access: Access,
}

/// Routes in the making.
#[derive(Default)]
pub struct Routes {
    rendered: Router<Arc<Web>>,
    received: Router<Arc<Web>>,
    rows: Vec<RouteRow>,
}

impl Routes {
    /// Adds a route for everyone.
    pub fn open(mut self, method: &'static str, path: &'static str, handler: MethodRouter<Arc<Web>>) -> Self {
        self.received = self.received.route(path, handler.layer(DefaultBodyLimit::max(MAX_OPEN_FORM)));
        self.add(Access::Anyone, method, path)
    }

    /// Adds a page that is read.
    pub fn get<W: Admitted, R, M>(mut self, path: &'static str, handler: impl Handler<(M, W, R), Arc<Web>>) -> Self
    where
        R: 'static,
        M: 'static,
    {
        self.rendered = self.rendered.route(path, get(handler));
        self.add(W::ACCESS, "GET", path)
    }

    /// Adds a form that changes something.
    pub fn post<W: Admitted, R, M>(mut self, path: &'static str, handler: impl Handler<(M, W, R), Arc<Web>>) -> Self
    where
        R: 'static,
        M: 'static,
    {
        self.rendered = self.rendered.route(path, post(handler));
        self.add(W::ACCESS, "POST", path)
    }

    /// Adds a form with files.
    pub fn receive<W: Admitted, R, M>(mut self, path: &'static str, handler: impl Handler<(M, W, R), Arc<Web>>) -> Self
    where
        R: 'static,
        M: 'static,
    {
        self.received = self.received.route(path, post(handler));
        self.add(W::ACCESS, "POST", path)
    }

    fn add(mut self, access: Access, method: &'static str, path: &'static str) -> Self {
        self.rows.push(RouteRow { method, path, access });
        self
    }

    /// Returns the rows of the table.
    pub fn rows(&self) -> &[RouteRow] {
        &self.rows
    }

    /// Returns the router, with what holds for every route.
    pub fn finish(self, web: Arc<Web>) -> Router {
        self.rendered
            .layer(from_fn(compression::compress_page))
            .layer(from_fn_with_state(Arc::clone(&web), render_apart))
            .merge(self.received.layer(from_fn(compression::compress_page)))
            .fallback(layout::not_found)
            .layer(DefaultBodyLimit::max(MAX_FORM))
            .layer(from_fn(layout::explain_refusal))
            .layer(from_fn_with_state(Arc::clone(&web), session::identify))
            .layer(from_fn_with_state(Arc::clone(&web), guard::guard))
            .with_state(web)
    }
}

/// Answers a visitor on a thread of its own. A page that takes too long is given up; what changes
/// something is done to its end.
async fn render_apart(State(web): State<Arc<Web>>, request: Request, next: Next) -> Response {
    let Some(visitor) = request.extensions().get::<Visitor>().cloned() else { return next.run(request).await };
    let (threads, person) = (&web.admin.answers, visitor.person.id);
    let reads = [Method::GET, Method::HEAD].contains(request.method());
    let work = async move { next.run(request).await };
    let answered = match reads {
        true => threads.read(person, work).await,
        false => threads.act(Some(person), work).await.map(Some),
    };
    match answered {
        Ok(Some(response)) => response,
        Ok(None) => {
            let sentence = says::too_slow(AnswerThreads::LIMIT);
            layout::message(Some(&visitor), StatusCode::SERVICE_UNAVAILABLE, &sentence)
        }
        Err(error) => layout::failure(&error),
    }
}
