//! Shows the target of a link before it is followed: an address can carry words out.

use axum::extract::Query;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::html;
use serde::Deserialize;
use url::Url;

use crate::web::layout;
use crate::web::session::Member;
use crate::wording::page as says;

/// An address.
#[derive(Deserialize)]
pub struct Destination {
    #[serde(default)]
    to: String,
}

/// Shows the whole address.
pub async fn away(Member(visitor): Member, Query(Destination { to }): Query<Destination>) -> Response {
    let url = Url::parse(&to).ok().filter(|url| ["http", "https", "mailto"].contains(&url.scheme()));
    let Some(url) = url else { return layout::message(Some(&visitor), StatusCode::NOT_FOUND, says::NOT_FOUND) };
    let main = html! {
        p { "This link leads to " strong { (url.host_str().unwrap_or(url.scheme())) } "." }
        p.address { code { (url.as_str()) } }
        p { a.button href=(url.as_str()) rel="noreferrer noopener" { "Open it" } }
    };
    layout::page(Some(&visitor), "", "Leaving Compline", main).into_response()
}
