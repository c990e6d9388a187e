//! Reflections of the visitor: the list, and one of them with what came of each of its actions.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;

use super::LISTED;
use crate::admin::{PageRequest, ReflectionItem, ReflectionReport};
use crate::review::reveal::reveal;
use crate::schedule::SO_FAR;
use crate::store::{ActionRow, ReflectionRow};
use crate::web::session::Owner;
use crate::web::visitor::Visitor;
use crate::web::{Web, html as render, layout, texts};
use crate::wording::page::status as says;
use crate::wording::{self, reflection, schedule};

/// Place in the list.
#[derive(Deserialize)]
pub struct ListQuery {
    before: Option<i64>,
}

/// Lists the visitor's own reflections, newest first.
pub async fn list(
    Owner(visitor): Owner,
    (State(web), Query(ListQuery { before })): (State<Arc<Web>>, Query<ListQuery>),
) -> Response {
    let request = PageRequest { before, limit: LISTED };
    let page = match web.admin.jobs().reflections(Some(visitor.person.id), request).await {
        Ok(report) => report.page,
        Err(error) => return layout::failure(&error),
    };
    let main = html! {
        @if page.items.is_empty() { p { (says::NO_REFLECTIONS.replace('`', "")) } }
        ol.rows { @for item in &page.items { li { (row(item, &visitor)) } } }
        @if let Some(next) = page.next { p { a.button rel="next" href={ "/reflections?before=" (next) } { "Older" } } }
    };
    layout::page(Some(&visitor), "/reflections", "Reflections", main).into_response()
}

fn row(item: &ReflectionItem, visitor: &Visitor) -> Markup {
    let count = item.actions.len();
    html! {
        a.title href={ "/reflections/" (item.row.id) } { bdi { (reveal(&item.row.title)) } }
        p.facts {
            (period(&item.row)) " · " (render::time(item.row.at, visitor.zone, visitor.now))
            @if count > 0 { " · " (count) @if count == 1 { " action" } @else { " actions" } }
        }
        (texts::sources(&item.row.label))
    }
}

fn period(row: &ReflectionRow) -> String {
    if row.job == SO_FAR {
        return schedule::so_far(&row.period);
    }
    reflection::period_in_words(&row.job, &row.period)
}

/// Shows one of the visitor's reflections.
pub async fn reflection(Owner(visitor): Owner, (State(web), Path(id)): (State<Arc<Web>>, Path<u32>)) -> Response {
    let report = match web.admin.jobs().reflection(Some(visitor.person.id), &id.to_string()).await {
        Ok(report) => report,
        Err(error) => return layout::refused(&visitor, error),
    };
    let title = format!("Reflection {id}");
    (StatusCode::OK, layout::page(Some(&visitor), "/reflections", &title, whole(&report, &visitor))).into_response()
}

fn whole(report: &ReflectionReport, visitor: &Visitor) -> Markup {
    let row = &report.item.row;
    html! {
        p.facts {
            (period(row)) " · " (render::time(row.at, visitor.zone, visitor.now)) " · cost " (wording::money(report.cost.micros))
            @if report.cost.tokens > 0 { " and " (report.cost.tokens) " tokens without a price" }
            @if let Some(conversation) = report.conversation { " · " a href={ "/conversations/" (conversation) } { "its conversation" } }
        }
        @for text in &report.words { (texts::answer(text)) }
        section {
            h2 { "What became of it" }
            @if report.item.actions.is_empty() { p { (says::NO_ACTIONS) } }
            ol.rows { @for (action, outcome) in &report.item.actions { li { (outcome_of(action, outcome)) } } }
        }
    }
}

fn outcome_of(action: &ActionRow, outcome: &str) -> Markup {
    texts::boxed(
        &action.label,
        html! {
            p { strong { (says::action_kind(action.kind.as_str())) ": " bdi { (reveal(&action.title)) } } }
            p { bdi { (reveal(outcome)) } "." @if let Some(id) = action.proposal { " " a href={ "/proposals/" (id) } { "Proposal " (id) } } }
        },
    )
}
