//! The table of routes, and who may use each.
//!
//! A route is added with the extractor that says who may use it, as the first argument of its
//! handler, so that none can be added without: [`Routes::get`] and [`Routes::post`] take nothing
//! else. The few routes for everyone are added by [`Routes::open`].

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::handler::Handler;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{MethodRouter, get, post};

use super::session::{self, Admitted};
use super::visitor::Access;
use super::{Web, compression, guard, layout};

/// Maximum length of a form.
const MAX_FORM: usize = 1 << 20;

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
    router: Router<Arc<Web>>,
    rows: Vec<RouteRow>,
}

impl Routes {
    /// Adds a route for everyone.
    pub fn open(self, method: &'static str, path: &'static str, handler: MethodRouter<Arc<Web>>) -> Self {
        self.add(Access::Anyone, method, path, handler)
    }

    /// Adds a page that is read.
    pub fn get<W: Admitted, R, M>(self, path: &'static str, handler: impl Handler<(M, W, R), Arc<Web>>) -> Self
    where
        R: 'static,
        M: 'static,
    {
        self.add(W::ACCESS, "GET", path, get(handler))
    }

    /// Adds a form that changes something.
    pub fn post<W: Admitted, R, M>(self, path: &'static str, handler: impl Handler<(M, W, R), Arc<Web>>) -> Self
    where
        R: 'static,
        M: 'static,
    {
        self.add(W::ACCESS, "POST", path, post(handler))
    }

    fn add(
        mut self,
        access: Access,
        method: &'static str,
        path: &'static str,
        handler: MethodRouter<Arc<Web>>,
    ) -> Self {
        self.router = self.router.route(path, handler);
        self.rows.push(RouteRow { method, path, access });
        self
    }

    /// Returns the rows of the table.
    pub fn rows(&self) -> &[RouteRow] {
        &self.rows
    }

    /// Returns the router, with what holds for every route.
    pub fn finish(self, web: Arc<Web>) -> Router {
        self.router
            .fallback(layout::not_found)
            .layer(DefaultBodyLimit::max(MAX_FORM))
            .layer(from_fn(layout::explain_refusal))
            .layer(from_fn_with_state(Arc::clone(&web), session::identify))
            .layer(from_fn(compression::compress_page))
            .layer(from_fn_with_state(Arc::clone(&web), guard::guard))
            .with_state(web)
    }
}
