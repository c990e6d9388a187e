//! Keys of the page, and commands of the chat.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Html;
use maud::html;

use super::report::answer_markup;
use crate::web::navigation::{Entry, FIRST, MORE};
use crate::web::session::Member;
use crate::web::{Web, layout};

/// Shows both.
pub async fn help(Member(visitor): Member, State(web): State<Arc<Web>>) -> Html<String> {
    let commands = web.query(&visitor, "/help").await;
    let pages = FIRST.iter().chain(MORE).filter(|entry| visitor.is_owner() || !entry.is_owners);
    let keys: Vec<(String, &str)> = pages.map(|Entry { key, title, .. }| (format!("g {key}"), *title)).collect();
    let main = html! {
        section {
            h2 { "Keys" }
            p { "Single keys work outside of fields; " a href="/me" { "Me" } " turns them off. None of them decides or deletes." }
            table {
                tr { th scope="col" { "Key" } th scope="col" { "Opens" } }
                @for (key, title) in &keys { tr { td { kbd { (key) } } td { (title) } } }
                tr { td { kbd { "/" } } td { "Search" } }
                tr { td { kbd { "n" } } td { "The field for a message" } }
                tr { td { kbd { "?" } } td { "This page" } }
            }
        }
        section { h2 { "Commands in the chat" } (answer_markup(&commands)) }
    };
    layout::page(Some(&visitor), "/help", "Help", main)
}
