//! Search in everything of the visitor: each hit with its words marked, and a link to its place.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;
use url::form_urlencoded::Serializer;

use crate::admin::{
    AgentMemories, FileExcerpt, HitSource, SEARCH_DEPTH, SearchKind, SearchQuery, SearchReport, SearchRow,
};
use crate::id::ConversationId;
use crate::memory::AgentMemory;
use crate::review::reveal::reveal;
use crate::web::pages::{conversations, memory};
use crate::web::session::Member;
use crate::web::visitor::Visitor;
use crate::web::{Web, html as render, layout, texts};
use crate::wording::Language;
use crate::wording::import::imported_from;
use crate::wording::page::search as says;

/// Beginning of the address of a search.
const PATH: &str = "/search?";
/// Number of hits of a page.
const LISTED: usize = 20;
/// Number of lines shown above and below a hit in a file, unless another is asked for.
const AROUND: usize = 1;

/// Words and limits, as `/search` takes them.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct SearchForm {
    q: String,
    #[serde(rename = "in")]
    kind: String,
    since: String,
    until: String,
    category: String,
    section: String,
    agent: String,
    context: String,
    case: String,
    after: String,
}

impl SearchForm {
    /// Names and values of the limits.
    fn limits(&self) -> [(&'static str, &str); 7] {
        [
            ("in", &self.kind),
            ("since", &self.since),
            ("until", &self.until),
            ("category", &self.category),
            ("section", &self.section),
            ("agent", &self.agent),
            ("context", &self.context),
        ]
    }

    fn is_limited(&self) -> bool {
        !self.case.is_empty() || self.limits().iter().any(|(_, value)| !value.trim().is_empty())
    }

    /// Returns the query.
    ///
    /// # Errors
    /// The name of a limit that cannot be read.
    fn query(&self) -> Result<SearchQuery, &'static str> {
        let mut query = SearchQuery { limit: LISTED, context: AROUND, ..SearchQuery::of(self.q.trim()) };
        query.case = !self.case.is_empty();
        for (name, value) in self.limits().into_iter().chain([("after", &*self.after)]) {
            if !value.trim().is_empty() {
                query.set(name, value.trim()).ok_or(name)?;
            }
        }
        Ok(query)
    }

    /// Returns the address of the same search in one kind, or in all, from one hit on.
    fn address(&self, kind: &str, after: Option<usize>) -> String {
        let mut address = Serializer::for_suffix(PATH.to_owned(), PATH.len());
        address.append_pair("q", &self.q);
        for (name, value) in self.limits() {
            let value = if name == "in" { kind } else { value };
            if !value.is_empty() {
                address.append_pair(name, value);
            }
        }
        if !self.case.is_empty() {
            address.append_pair("case", "on");
        }
        if let Some(after) = after {
            address.append_pair("after", &after.to_string());
        }
        address.finish()
    }

    /// Renders the form. `agents` are those whose memory can be searched alone.
    fn markup(&self, agents: &[AgentMemory]) -> Markup {
        let agent = self.agent.trim();
        let is_other = !agent.is_empty() && agents.iter().all(|memory| memory.name != agent);
        html! {
            form role="search" action="/search" {
                label { "Words" input type="search" name="q" value=(self.q) autofocus[self.q.is_empty()]; }
                details open[self.is_limited()] {
                    summary { "Limits" }
                    label { "In" select name="in" {
                        option value="" { "Everything" }
                        @for kind in SearchKind::ALL { option value=(value(kind)) selected[self.kind == value(kind)] { (title(kind)) } }
                    } }
                    label { "Since" input name="since" value=(self.since) placeholder="2026-11-02"; }
                    label { "Until" input name="until" value=(self.until) placeholder="2026-11-03 14:30"; }
                    label { "Category of facts and notes" input name="category" value=(self.category); }
                    label { "Heading of a note" input name="section" value=(self.section); }
                    label { "Memory of the agent" select name="agent" {
                        option value="" { "All" }
                        @for memory in agents { option value=(memory.name) selected[memory.name == agent] { (reveal(&memory.name)) } }
                        @if is_other { option value=(agent) selected { (reveal(agent)) } }
                    } }
                    label { "Lines above and below" input type="number" name="context" min="0" max="20" value=(self.context) placeholder=(AROUND); }
                    label.check { input type="checkbox" name="case" checked[!self.case.is_empty()]; "Exact spelling" }
                }
                button type="submit" { "Search" }
            }
        }
    }
}

/// Searches everything of the visitor.
pub async fn search(
    Member(visitor): Member,
    (State(web), Query(form)): (State<Arc<Web>>, Query<SearchForm>),
) -> Response {
    let query = form.query();
    let (status, result) = match &query {
        Err(name) => (StatusCode::BAD_REQUEST, html! { p.problem role="alert" { (says::invalid_limit(name)) } }),
        Ok(query) if query.words.is_empty() => (StatusCode::OK, html! { p.note { (says::WHAT_IS_SEARCHED) } }),
        Ok(query) => match web.admin.finder().search(&visitor.person, query).await {
            Ok(report) => (StatusCode::OK, web.hits(&visitor, &form, &report)),
            Err(error) => return layout::failure(&error),
        },
    };
    let AgentMemories(agents) = match web.admin.memory_files().agent_memories(&visitor.person).await {
        Ok(agents) => agents,
        Err(error) => return layout::failure(&error),
    };
    let main = html! { (form.markup(&agents)) (result) };
    (status, layout::page(Some(&visitor), "/search", "Search", main)).into_response()
}

impl Web {
    fn hits(&self, visitor: &Visitor, form: &SearchForm, report: &SearchReport) -> Markup {
        let all: usize = report.counts.iter().map(|(_, count)| count).sum();
        let tab = |kind: &str, words: Markup| {
            html! { li { a href=(form.address(kind, None)) aria-current=[(kind == form.kind).then_some("page")] { (words) } } }
        };
        html! {
            @if all == 0 { p { (says::NOTHING_FOUND) } }
            nav.tabs aria-label="Kinds" { ul {
                (tab("", html! { "Everything" @if form.kind.is_empty() { " " (all) @if report.is_cut { "+" } } }))
                @for (kind, count) in &report.counts { (tab(&value(*kind), html! { (title(*kind)) " " (count) })) }
            } }
            ol.rows { @for (around, row) in &report.hits { li { (self.hit(visitor, report, around.as_ref(), row)) } } }
            @if let Some(next) = report.next { p { a.button rel="next" href=(form.address(&form.kind, Some(next))) { "More" } } }
            @if report.ends_at_depth() { p.note { (says::ends(SEARCH_DEPTH)) } }
        }
    }

    fn hit(&self, visitor: &Visitor, report: &SearchReport, around: Option<&FileExcerpt>, row: &SearchRow) -> Markup {
        let (text, words) = match around.and_then(|around| report.lines(around)) {
            Some(lines) => (texts::lines_around(&lines), texts::place_of_line(&lines)),
            None => {
                let passage = report.passage(row);
                (texts::passage(&passage), texts::place_of(&passage))
            }
        };
        let line = match &row.by {
            HitSource::File { line, .. } => around.map_or(*line, |around| around.line),
            _ => 0,
        };
        let name = match &row.by {
            HitSource::File { path, .. } => {
                html! { bdi { (reveal(path.trim_start_matches('/'))) } ":" (line) }
            }
            _ => match row.title_text() {
                Some(text) => texts::line(&text),
                None => html! { (one(row.kind)) " " (row.id) },
            },
        };
        let author = match &row.by {
            HitSource::Person(_) => Some(report.person.clone()),
            HitSource::Assistant(_) => Some(self.admin.agent.clone()),
            HitSource::Archive(_, kind) => Some(imported_from(Language::ENGLISH, kind.as_str())),
            HitSource::Nobody | HitSource::File { .. } => None,
        };
        html! {
            @match place(row, line, &words) {
                Some(place) => a.title href=(place) { (name) },
                None => span.title { (name) },
            }
            p.facts {
                (one(row.kind)) @if let Some(author) = author { " · " bdi { (author) } }
                " · " (render::time(row.at, visitor.zone, visitor.now))
            }
            (text)
        }
    }
}

/// Returns the address of what was found. `line` is its place in a file; `words` find it in a note
/// or a skill.
fn place(row: &SearchRow, line: usize, words: &str) -> Option<String> {
    let in_conversation = |conversation: ConversationId| match row.message {
        Some(message) => conversations::place(conversation, message),
        None => format!("/conversations/{conversation}"),
    };
    match (row.kind, &row.by) {
        (kind, HitSource::File { path, .. }) if kind == SearchKind::Note || path.starts_with('/') => {
            Some(format!("{}{words}", memory::address(path)))
        }
        (_, HitSource::File { path, .. }) => Some(format!("{}?line={line}#line-{line}", render::path("/files", path))),
        (_, HitSource::Person(in_it) | HitSource::Assistant(in_it) | HitSource::Archive(in_it, _)) => {
            in_it.map(in_conversation)
        }
        (SearchKind::Conversation, HitSource::Nobody) => Some(in_conversation(ConversationId(row.id))),
        (SearchKind::Skill, HitSource::Nobody) => {
            Some(format!("/skills/{}{words}", render::encoded(&row.skill_name()?)))
        }
        (_, HitSource::Nobody) => None,
    }
}

/// Value of the limit to a kind.
fn value(kind: SearchKind) -> String {
    format!("{}s", kind.as_str())
}

fn title(kind: SearchKind) -> &'static str {
    match kind {
        SearchKind::Message => "Messages",
        SearchKind::Conversation => "Conversations",
        SearchKind::Reflection => "Reflections",
        SearchKind::Note => "Memory",
        SearchKind::File => "Files",
        SearchKind::Skill => "Skills",
    }
}

fn one(kind: SearchKind) -> &'static str {
    match kind {
        SearchKind::Message => "Message",
        SearchKind::Conversation => "Conversation",
        SearchKind::Reflection => "Reflection",
        SearchKind::Note => "Memory",
        SearchKind::File => "File",
        SearchKind::Skill => "Skill",
    }
}
