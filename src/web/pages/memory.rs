//! Memory about the visitor: their own words, facts, notes, days, and what came from outside.

use std::sync::Arc;

use axum::extract::{Form, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use crate::admin::{AgentMemories, MemoryFile, MemoryReport, NotesListed, note_address};
use crate::memory::{AgentMemory, NoteLine, Workspace};
use crate::people::Party;
use crate::review::reveal::reveal;
use crate::store::EntryRow;
use crate::web::session::Member;
use crate::web::visitor::Visitor;
use crate::web::{Web, html as render, layout, texts};
use crate::wording::page::memory as says;
use crate::wording::{Language, memory as words};

/// Number of lines of what was used.
const USED: u32 = 10;

/// Place in the list of notes.
#[derive(Deserialize)]
pub struct NotesQuery {
    #[serde(default)]
    after: String,
}

/// A switch for what an agent or profile has learned.
#[derive(Deserialize)]
pub struct SwitchForm {
    name: String,
    state: SwitchState,
}

/// State of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SwitchState {
    On,
    Off,
}

/// Returns the address of a file of the memory.
pub fn address(path: &str) -> String {
    render::path("/memory", &note_address(path))
}

/// Renders how full a file is, as a picture and in words.
pub fn gauge(size: u64, limit: u64) -> Markup {
    html! { meter aria-label="How full it is" min="0" max=(limit) value=(size.min(limit)) {} " " (words::gauge(Language::ENGLISH, size, limit)) }
}

/// Shows the memory of the visitor.
pub async fn memory(
    Member(visitor): Member,
    (State(web), Query(NotesQuery { after })): (State<Arc<Web>>, Query<NotesQuery>),
) -> Response {
    let (files, who) = (web.admin.memory_files(), Party::One(visitor.person.clone()));
    let overview = files.overview(&visitor.person, NotesListed::After(&after), visitor.surface());
    if !after.is_empty() {
        let report = match overview.await {
            Ok(report) => report,
            Err(error) => return layout::failure(&error),
        };
        let main = html! { (notes(&report, &visitor)) (from_outside(&report, &visitor)) (unread(&report)) };
        return layout::page(Some(&visitor), "/memory", "Notes", main).into_response();
    }
    let (used, memories) = (web.admin.index.most_used(&who, USED), files.agent_memories(&visitor.person));
    let (report, used, memories) = match tokio::try_join!(overview, used, memories) {
        Ok(reads) => reads,
        Err(error) => return layout::failure(&error),
    };
    let main = html! {
        p { a.button href="/new-note" { "New note" } }
        @if !report.is_read { p.problem { (&*words::SWITCHED_OFF.in_language(Language::ENGLISH)) } }
        (index(&report))
        (notes(&report, &visitor))
        (days(&report, &visitor))
        (from_outside(&report, &visitor))
        (extracted(&report))
        (agents(&memories))
        (most_used(&used, &visitor))
        (unread(&report))
        @if visitor.is_owner() && report.is_read {
            p.note { (says::limits_in_force(web.admin.config.memory.max_tokens, web.admin.config.memory.extract_every)) }
        }
        p { a href="/deleted-files" { "Deleted, can be restored" } }
    };
    layout::page(Some(&visitor), "/memory", "Memory", main).into_response()
}

/// Switches what another agent or profile has learned on or off.
pub async fn switch(
    Member(visitor): Member,
    (State(web), Form(SwitchForm { name, state })): (State<Arc<Web>>, Form<SwitchForm>),
) -> Response {
    let is_on = state == SwitchState::On;
    match web.admin.memory_files().switch_agent(&visitor.person, &name, is_on, visitor.surface()).await {
        Ok(answer) if !answer.failed => Redirect::to("/memory#profiles").into_response(),
        Ok(answer) => {
            let main = html! {
                div.problem role="alert" { (render::markdown(&answer.markdown, &answer.label)) }
                p { a href="/memory" { "All of the memory" } }
            };
            (StatusCode::CONFLICT, layout::page(Some(&visitor), "/memory", "Memory", main)).into_response()
        }
        Err(error) => layout::failure(&error),
    }
}

/// Memories of agents and profiles, with a switch for each but the one in use.
fn agents(AgentMemories(memories): &AgentMemories) -> Markup {
    let row = |memory: &AgentMemory| {
        let (state, change) = if memory.is_on { ("on", "off") } else { ("off", "on") };
        html! { tr {
            th.name scope="row" { a href=(address(&memory.path)) { bdi { (reveal(&memory.name)) } } (texts::sources(&memory.label)) }
            td.number { (words::size(Language::ENGLISH, memory.size)) }
            @if memory.is_own { td { "in use" } td {} } @else {
                td { (state) }
                td { form.inline method="post" action="/memory" {
                    input type="hidden" name="name" value=(memory.name);
                    button type="submit" name="state" value=(change) aria-label={ "Switch " (change) " " (reveal(&memory.name)) } { "Switch " (change) }
                } }
            }
        } }
    };
    html! { @if memories.iter().any(|memory| !memory.is_own) { section #profiles {
        h2 { "Agents and profiles" }
        p { (says::ABOUT_PROFILES) }
        div.scroll tabindex="0" { table {
            tr { th scope="col" { "Name" } th.number scope="col" { "Size" } th scope="col" { "State" } th scope="col" { span.unseen { "Switch" } } }
            @for memory in memories { (row(memory)) }
        } }
    } } }
}

fn index(report: &MemoryReport) -> Markup {
    let Ok(file) = &report.index else { return html! { p { (says::NOTHING_YET) } } };
    let has_others = !report.notes.notes.is_empty() || !report.fact_files.is_empty();
    let own = texts::own_words(&file.text);
    let facts = texts::facts(&file.text);
    html! {
        section {
            h2 { a href=(address(&file.path)) { "MEMORY.md" } }
            p { (gauge(file.size(), file.limit())) }
            @if own.is_none() && facts.is_none() && !has_others { p { (says::NOTHING_YET) } }
        }
        @if let Some(own) = own { section { h2 { "Your own words" } (own) } }
        @if let Some(facts) = facts { section { h2 { "Facts" } (facts) } }
    }
}

/// The notes of the page, with a link to the rest.
fn notes(report: &MemoryReport, visitor: &Visitor) -> Markup {
    let (notes, next) = (&report.notes.notes, &report.next);
    html! { @if !notes.is_empty() || next.is_some() { section {
        h2 { "Notes" }
        ol.rows { @for note in notes { li { (line(note, visitor)) } } }
        @if let Some(last) = next { p { a.button rel="next" href={ "/memory?after=" (render::encoded(last)) } { "More notes" } } }
    } } }
}

fn line(note: &NoteLine, visitor: &Visitor) -> Markup {
    let limit = u64::try_from(Workspace::size_limit(&note.path)).unwrap_or(u64::MAX);
    // A title of a text from outside is that text's own, so the file's name stands for it.
    let title = if note.trusted { &note.title } else { &note.path };
    html! {
        a.title href=(address(&note.path)) { bdi { (reveal(title)) } }
        @if note.trusted && !note.hook.is_empty() && note.hook != note.title { p { bdi { (reveal(&note.hook)) } } }
        p.facts { (gauge(note.size, limit)) " · changed " (render::time(note.at, visitor.zone, visitor.now)) }
    }
}

fn days(report: &MemoryReport, visitor: &Visitor) -> Markup {
    let days = || report.notes.today.iter().chain(report.notes.days.iter().rev());
    html! { @if days().next().is_some() { section {
        h2 { "Days" }
        ol.rows { @for day in days() { li { (line(day, visitor)) } } }
        @if !report.earlier.is_empty() { details {
            summary { "Earlier days" }
            ul.days { @for day in &report.earlier { li { a href=(address(day)) { (reveal(&note_address(day))) } } } }
            p { a href="/files/memory" { "All days, as files" } }
        } }
    } } }
}

fn from_outside(report: &MemoryReport, visitor: &Visitor) -> Markup {
    let notes = &report.notes.outside;
    html! { @if !notes.is_empty() { section {
        h2 { "From outside" }
        p { (says::WAITS_FOR_YOU) }
        div.outside { ol.rows { @for note in notes { li { (line(note, visitor)) } } } }
        p { a href="/files/memory/untrusted" { "All that wait, as files" } }
    } } }
}

fn extracted(report: &MemoryReport) -> Markup {
    let file = |file: &MemoryFile| {
        html! {
            h3 { a href=(address(&file.path)) { bdi { (reveal(file.visible_path())) } } }
            p { (gauge(file.size(), file.limit())) }
            @if let Some(facts) = texts::facts(&file.text) { (facts) }
        }
    };
    html! { @if !report.fact_files.is_empty() { section {
        h2 { "What the assistant took down" }
        @for one in &report.fact_files { (file(one)) }
    } } }
}

fn most_used(used: &[EntryRow], visitor: &Visitor) -> Markup {
    html! { @if !used.is_empty() { section {
        h2 { "Used most" }
        div.scroll tabindex="0" { table {
            tr { th scope="col" { "What" } th scope="col" { "Where" } th.number scope="col" { "Times" } th scope="col" { "Last" } }
            @for entry in used { tr {
                td { (texts::entry(&entry.name, &entry.text)) }
                td { a href=(address(&entry.path)) { bdi { (reveal(&note_address(&entry.path))) } } }
                td.number { (entry.uses) }
                td { @if let Some(at) = entry.used_at { (render::time(at, visitor.zone, visitor.now)) } }
            } }
        } }
    } } }
}

fn unread(report: &MemoryReport) -> Markup {
    html! { @if !report.unread.files.is_empty() { section {
        h2 { "Not read, not searched" }
        (texts::boxed(&report.unread.label, html! { ul { @for (path, why) in report.unread.in_words(Language::ENGLISH) {
            li { bdi { (reveal(path)) } ": " (why) }
        } } }))
    } } }
}
