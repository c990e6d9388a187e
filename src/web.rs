//! The page: what a person sees of their assistant in a browser.
//!
//! Everything is rendered here; the browser needs no script but for what grows while one looks. A
//! request passes [`guard`] (whose name it used, which page sent it), then [`session`] (which
//! browser it is), then the route's own extractor: a route of [`Routes`](routes::Routes) is written
//! with [`Member`](session::Member) or [`Owner`](session::Owner), or is one of the few that anyone
//! may open. What a page shows comes from [`Admin`], which also runs every command of the page.

mod assets; // style, script, icons
mod calendar; // the year as a calendar
pub mod chat; // what the page needs of its channel
mod chart; // pictures of numbers
mod compression; // gzip
mod guard; // requests of other pages
mod html; // Markdown and other text as markup
mod layout; // the frame of every page
mod navigation; // the list of pages
mod pages; // one file for each page
mod qr_svg; // QR codes
mod routes; // the table of routes, and who may use each
mod session; // signed-in browsers
mod sign_in; // /login, /sign-out
mod site_names; // names of the page
mod state; // /health, /metrics
mod texts; // labelled texts as markup
mod visitor; // who looks at a page

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use sha2::{Digest, Sha256};

use crate::admin::Admin;
use crate::config;
use chat::ChatChannel;
pub use routes::RouteRow;
use site_names::SiteNames;
pub use visitor::Access;

/// The page of one home.
pub struct Web {
    admin: Arc<Admin>,
    chat: Arc<dyn ChatChannel>,
    config: config::Web,
    names: SiteNames,
    /// Name of the cookie. Cookies know no port, so it carries the home.
    cookie: String,
}

impl Web {
    /// Creates the page of the home with this id, served at `address`.
    pub fn new(
        admin: Arc<Admin>,
        chat: Arc<dyn ChatChannel>,
        config: config::Web,
        home_id: &str,
        address: SocketAddr,
    ) -> Arc<Self> {
        let names = SiteNames::new(address, config.public_url.as_ref());
        let cookie = format!("compline-{:.6}", hex::encode(Sha256::digest(home_id)));
        Arc::new(Self { admin, chat, config, names, cookie })
    }

    /// Returns the routes, for a server.
    pub fn routes(self: Arc<Self>) -> Router {
        pages::all().finish(self)
    }

    /// Returns every route with its method and who may use it.
    pub fn table() -> Vec<RouteRow> {
        pages::all().rows().to_vec()
    }
}
