//! Models and the tools of outside servers.
//!
//! The form that accepts a tool stands after the last line of its text and carries the digest of
//! what was shown, so nothing that took its place can be accepted. No key sends it.

use std::sync::Arc;

use axum::extract::{Form, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use crate::admin::{ModelsReport, ToolAcceptance, ToolEntry, ToolsReport, bad_mark};
use crate::review::reveal::reveal;
use crate::review::show;
use crate::tool::marks::WantedMarks;
use crate::web::session::Owner;
use crate::web::visitor::Visitor;
use crate::web::{Web, html as render, layout, texts};
use crate::wording::page::status as says;
use crate::wording::{self, tool as words};

/// The model to prefer.
#[derive(Deserialize)]
pub struct PreferForm {
    name: String,
}

/// An acceptance of exactly what was shown: `name`, `hash`, `word`, `search`, and the kind of each
/// argument under [`MARK`] and its place.
type AcceptForm = Vec<(String, String)>;

/// Prefix of the name of a field that marks an argument.
const MARK: &str = "mark:";

/// Shows models and tools.
pub async fn models(Owner(visitor): Owner, State(web): State<Arc<Web>>) -> Response {
    web.models_page(&visitor, StatusCode::OK, None).await
}

/// Prefers a model.
pub async fn prefer(
    Owner(visitor): Owner,
    (State(web), Form(PreferForm { name })): (State<Arc<Web>>, Form<PreferForm>),
) -> Response {
    match web.admin.reports().prefer(&name).await {
        Ok(answer) if !answer.failed => Redirect::to("/models").into_response(),
        Ok(_) => web.models_page(&visitor, StatusCode::CONFLICT, Some(says::NO_SUCH_MODEL.to_owned())).await,
        Err(error) => layout::failure(&error),
    }
}

/// Accepts exactly the tool that was shown, or changes what its arguments are.
pub async fn accept(Owner(visitor): Owner, (State(web), Form(form)): (State<Arc<Web>>, Form<AcceptForm>)) -> Response {
    let field = |name: &str| form.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value.trim());
    let mark = |(field, kind): &(String, String)| {
        field.strip_prefix(MARK).and_then(|place| Some((place.to_owned(), kind.parse().ok()?)))
    };
    let wanted = WantedMarks { arguments: form.iter().filter_map(mark).collect(), search: !field("search").is_empty() };
    let accepted = web.admin.reports().accept_shown_tool(field("name"), field("hash"), field("word"), &wanted).await;
    let refusal = match accepted {
        Ok(ToolAcceptance::Accepted) => return Redirect::to("/models").into_response(),
        Ok(ToolAcceptance::WordMissing(word)) => says::tool_word_missing(word),
        Ok(ToolAcceptance::OtherDigest) => says::TOOL_HAS_CHANGED.to_owned(),
        Ok(ToolAcceptance::Unknown) => says::TOOL_IS_GONE.to_owned(),
        Ok(ToolAcceptance::BadMark(error)) => bad_mark(&error),
        Err(error) => return layout::failure(&error),
    };
    web.models_page(&visitor, StatusCode::CONFLICT, Some(refusal)).await
}

impl Web {
    async fn models_page(&self, visitor: &Visitor, status: StatusCode, notice: Option<String>) -> Response {
        let reports = self.admin.reports();
        let tools = match reports.tools().await {
            Ok(tools) => tools,
            Err(error) => return layout::failure(&error),
        };
        let main = html! {
            @if let Some(notice) = &notice { p.problem role="alert" { (notice) } }
            (models_markup(&reports.models()))
            (tools_markup(&tools, visitor))
        };
        (status, layout::page(Some(visitor), "/models", "Tools and models", main)).into_response()
    }
}

fn models_markup(report: &ModelsReport) -> Markup {
    html! { section {
        h2 { "Models" }
        p { (says::MODELS_IN_ORDER) }
        div.scroll tabindex="0" { table {
            tr {
                th scope="col" { "Model" } th scope="col" { "Now" } th.number scope="col" { "Context" }
                th scope="col" { "Price of a million tokens" } th scope="col" { "Choice" }
            }
            @for (place, model) in report.models.iter().enumerate() { tr {
                th.name scope="row" {
                    bdi { (reveal(&model.name)) }
                    @for learned in &model.learned { p.note { (reveal(learned)) } }
                }
                td { @if model.is_resting { span.problem { "failed, so it is asked last" } } @else { "can be asked" } }
                td.number { (model.context) }
                td { @match model.price {
                    Some(price) => { (wording::money(price.input)) " in, " (wording::money(price.cached)) " cached, " (wording::money(price.output)) " out" },
                    None => (says::PRICE_UNKNOWN),
                } }
                td { @if place == 0 { "asked first" } @else {
                    form.inline method="post" action="/models/prefer" {
                        button type="submit" name="name" value=(model.name) { "Ask first" }
                    }
                } }
            } }
        } }
    } }
}

fn tools_markup(report: &ToolsReport, visitor: &Visitor) -> Markup {
    let of = |waits: bool| report.tools.iter().filter(move |tool| tool.state.waits() == waits);
    html! {
        section {
            h2 { "Outside tools" }
            @if report.servers.is_empty() { p { (words::NO_SERVERS.replace('`', "")) } } @else {
                div.scroll tabindex="0" { table {
                    tr { th scope="col" { "Server" } th scope="col" { "State" } th.number scope="col" { "Restarts" } }
                    @for (name, server) in &report.servers { tr {
                        th scope="row" { bdi { (reveal(name)) } }
                        td { @match (server.since, &server.trouble) {
                            (Some(since), _) => { "connected since " (render::time(since, visitor.zone, visitor.now)) },
                            (None, Some(trouble)) => span.problem { (reveal(trouble)) },
                            (None, None) => "not connected",
                        } }
                        td.number { (server.restarts) }
                    } }
                } }
                p.note { (says::SERVERS_ARE_CONFIGURED) }
            }
        }
        @if of(true).next().is_some() { section {
            h2 { "Waiting for you" }
            @for tool in of(true) { article.card { (waiting(tool)) } }
        } }
        @if of(false).next().is_some() { section {
            h2 { "Accepted tools" }
            @for tool in of(false) { (known(tool)) }
        } }
    }
}

/// A tool with all that its owner decides by, and the form at its end.
fn waiting(tool: &ToolEntry) -> Markup {
    let effects = tool.effects();
    let seen = &tool.row.seen;
    html! {
        h3 { bdi { (reveal(&tool.name())) } " (" (tool.state.as_str()) ")" }
        (texts::boxed(&seen.label, html! {
            (render::markdown(&show::effects(&effects), &seen.label))
            (render::verbatim(&tool.words()))
        }))
        p { (says::READ_THE_TOOL) }
        p { "Hash: " code.address { (seen.digest) } }
        form method="post" action="/models/accept" autocomplete="off" {
            (acceptance(tool))
            @if let Some(word) = effects.word() {
                label { (says::tool_word_needed(word)) input name="word" required; }
            }
            button type="submit" { "Accept exactly this" }
        }
    }
}

/// Fields that say which tool is accepted, and what its arguments are.
fn acceptance(tool: &ToolEntry) -> Markup {
    let marks = tool.marks();
    html! {
        input type="hidden" name="name" value=(tool.name());
        input type="hidden" name="hash" value=(tool.row.seen.digest);
        p.note { (says::WHAT_MARKS_MEAN) }
        @for (place, marked) in &marks.arguments {
            label { code { (reveal(place)) } select name={ (MARK) (place) } {
                @for kind in tool.kinds_of(place) {
                    option value=(kind.as_str()) selected[kind == *marked] { (kind.as_str()) }
                }
            } }
        }
        label { input type="checkbox" name="search" value="yes" checked[marks.search]; " " (says::IS_A_SEARCH) }
    }
}

fn known(tool: &ToolEntry) -> Markup {
    let seen = &tool.row.seen;
    html! { details {
        summary { bdi { (reveal(&tool.name())) } " (" (tool.state.as_str()) ")" }
        (texts::boxed(&seen.label, render::verbatim(&tool.words())))
        p { "Hash: " code.address { (seen.digest) } }
        @if tool.row.is_accepted() {
            form method="post" action="/models/accept" autocomplete="off" {
                (acceptance(tool))
                // Its owner gave the word when they accepted it.
                @if let Some(word) = tool.effects().word() { input type="hidden" name="word" value=(word); }
                button type="submit" { "Change its arguments" }
            }
        }
    } }
}
