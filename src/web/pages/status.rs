//! The state of the program: what needs a look, numbers, channels, health over time, backups, and
//! the log.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;

use crate::admin::backup::list::BackupRow;
use crate::admin::doctor::{Finding, FindingState};
use crate::admin::health::{DayHealth, HealthReport, MODEL, PROGRAM, PartHealth};
use crate::admin::log::{LogEntry, LogLevel, LogPage, LogQuery};
use crate::admin::{ProgramStatus, StatusReport};
use crate::message::{ChannelKind, Health};
use crate::review::reveal::reveal;
use crate::store::HealthState;
use crate::web::chart::{DayBar, DayMark};
use crate::web::session::Owner;
use crate::web::visitor::Visitor;
use crate::web::{Web, html as render, layout};
use crate::wording::page::status as says;
use crate::wording::{self, Language, doctor, memory as sizes};

/// The part of the log that a page shows.
#[derive(Default, Deserialize)]
pub struct LogForm {
    #[serde(default)]
    level: String,
    #[serde(default)]
    words: String,
    #[serde(default)]
    before: String,
}

fn tabs(here: &str) -> Markup {
    let entries = [("/status", "State"), ("/status/log", "Log")];
    html! { nav.tabs aria-label="Status" { ul { @for (path, title) in entries {
        li { a href=(path) aria-current=[(path == here).then_some("page")] { (title) } }
    } } } }
}

/// Shows the state.
pub async fn status(Owner(visitor): Owner, State(web): State<Arc<Web>>) -> Response {
    let main = match web.state(&visitor).await {
        Ok(main) => main,
        Err(error) => return layout::failure(&error),
    };
    layout::page(Some(&visitor), "/status", "Status", main).into_response()
}

/// Makes the checks that read everything, and shows their findings.
pub async fn check(Owner(visitor): Owner, State(web): State<Arc<Web>>) -> Response {
    let findings = match web.admin.reports().thorough_findings().await {
        Ok(findings) => findings,
        Err(error) => return layout::failure(&error),
    };
    let main = html! {
        (tabs("/status/check"))
        p { (says::CHECK_TAKES_TIME) }
        (findings_markup(&findings))
    };
    layout::page(Some(&visitor), "/status", "Check", main).into_response()
}

/// Shows the log.
pub async fn log(
    Owner(visitor): Owner,
    (State(web), Query(LogForm { level, words, before })): (State<Arc<Web>>, Query<LogForm>),
) -> Response {
    let level: Option<LogLevel> = level.to_uppercase().parse().ok();
    let query = LogQuery { level, words: words.clone(), before: before.parse().ok() };
    let page = match web.admin.reports().log(query).await {
        Ok(page) => page,
        Err(error) => return layout::failure(&error),
    };
    let levels = [("", "All"), ("INFO", "Info and worse"), ("WARN", "Warnings and errors"), ("ERROR", "Errors")];
    let chosen = level.map_or("", LogLevel::as_str);
    let main = html! {
        (tabs("/status/log"))
        form action="/status/log" role="search" {
            label { "Level" select name="level" { @for (value, title) in levels {
                option value=(value) selected[value == chosen] { (title) }
            } } }
            label { "Words" input type="search" name="words" value=(words); }
            button type="submit" { "Show" }
        }
        (entries(&page, &visitor))
        @if let Some(next) = page.next {
            p { a.button rel="next" href={ "/status/log?level=" (chosen) "&words=" (render::encoded(&words)) "&before=" (next) } { "Older" } }
        }
    };
    layout::page(Some(&visitor), "/status", "Log", main).into_response()
}

fn entries(page: &LogPage, visitor: &Visitor) -> Markup {
    html! {
        @if page.entries.is_empty() { p { (if page.next.is_some() { says::NO_NEW_ENTRIES } else { says::NO_ENTRIES }) } }
        ol.log { @for LogEntry { at, level, text } in &page.entries { li {
            @if let Some(at) = at { (render::time(*at, visitor.zone, visitor.now)) " " }
            @if let Some(level) = level {
                @if *level <= LogLevel::Warn { strong { (level.as_str()) } } @else { (level.as_str()) }
                " "
            }
            bdi { (reveal(text)) }
        } } }
    }
}

impl Web {
    async fn state(&self, visitor: &Visitor) -> anyhow::Result<Markup> {
        let reports = self.admin.reports();
        let findings = reports.findings().await?;
        let status = reports.status(Some(&visitor.person), None).await?;
        let health = reports.health().await?;
        let backups = reports.backups().await?;
        Ok(html! {
            (tabs("/status"))
            (findings_markup(&findings))
            form method="post" action="/status/check" { button type="submit" { "Check now" } " " (says::CHECK_READS_ALL) }
            @if let Some(program) = &status.program {
                (numbers(&status, program, visitor))
                (channels(program, visitor))
            }
            (health_markup(&health))
            (backups_markup(&backups, visitor))
        })
    }
}

/// Renders a sentence, with what stands between backticks as code.
fn sentence(text: &str) -> Markup {
    let text = reveal(text);
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return html! { (text) };
    }
    html! { @for (at, part) in parts.iter().enumerate() {
        @if at % 2 == 1 { code { (part) } } @else { (part) }
    } }
}

fn findings_markup(findings: &[Finding]) -> Markup {
    let passed = |finding: &&Finding| finding.state == FindingState::Ok;
    let (fine, open): (Vec<&Finding>, Vec<&Finding>) = findings.iter().partition(passed);
    html! { section {
        h2 { "What to look at" }
        @if open.is_empty() { p { (says::NOTHING_TO_FIX) } }
        ol.rows { @for finding in open { li {
            p { strong { (finding.check) } @if finding.state == FindingState::Wrong { span.problem { " to fix" } } }
            @for line in finding.what.lines() { p { (sentence(line)) } }
            @if !finding.fix.is_empty() { p.facts { (doctor::FIX) " " (sentence(&finding.fix)) } }
        } } }
        details { summary { (says::passed(fine.len())) } ul { @for finding in fine {
            li { strong { (finding.check) } ": " (sentence(&finding.what)) }
        } } }
        p.note { (sentence(says::NOT_CHECKED_HERE)) }
    } }
}

fn numbers(status: &StatusReport, program: &ProgramStatus, visitor: &Visitor) -> Markup {
    let time = |at| render::time(at, visitor.zone, visitor.now);
    html! { section {
        h2 { "The program" }
        dl.state {
            dt { "Version" } dd { (status.version) }
            dt { "Running since" } dd { (time(program.started_at)) }
            dt { "Model" } dd {
                (status.model.as_deref().unwrap_or_default())
                @if let Some((since, why)) = &status.outage {
                    span.problem { " does not answer since " (time(*since)) ": " (&*why.in_language(Language::ENGLISH)) }
                }
            }
            dt { "Waiting" } dd {
                (status.inbox) " to be answered, " (program.outbox) " to be delivered, " (status.set_aside.len()) " set aside"
                @if program.pending > 0 { ", " a href="/proposals" { (program.pending) " to be decided" } }
            }
            dt { "Left today" } dd { (wording::money(program.budget.all.micros)) ", and " (Language::ENGLISH.number(program.budget.all.tokens)) " tokens of models without a price" }
            dt { "Journal" } dd { (sizes::size(Language::ENGLISH, program.journal_bytes)) }
            @if let Some(free) = program.free_bytes { dt { "Disk" } dd { (doctor::free(free >> 20)) } }
            @if let Some(last) = program.upkeep.last { dt { "Last upkeep" } dd { (time(last)) } }
        }
    } }
}

fn channels(program: &ProgramStatus, visitor: &Visitor) -> Markup {
    let time = |at: Option<_>| html! { @if let Some(at) = at { (render::time(at, visitor.zone, visitor.now)) } @else { "not yet" } };
    html! { section {
        h2 { "Channels" }
        div.scroll tabindex="0" { table {
            tr { th scope="col" { "Channel" } th scope="col" { "State" } th scope="col" { "Last heard" } th scope="col" { "Last message" } }
            @for (name, health) in &program.adapters { tr {
                th scope="row" { (part_name(name)) }
                td { (state_of(health)) }
                td { (time(health.last_event_at)) }
                td { (time(health.last_message_at)) }
            } }
        } }
    } }
}

fn state_of(health: &Health) -> Markup {
    html! {
        @match (&health.problem, &health.chat_problem) {
            (Some(problem), _) | (None, Some(problem)) => span.problem { (sentence(problem)) },
            (None, None) if health.is_connecting => "connecting",
            (None, None) => "works",
        }
    }
}

fn part_name(part: &str) -> String {
    match part {
        PROGRAM => "Program".to_owned(),
        MODEL => "Model".to_owned(),
        channel => channel.parse::<ChannelKind>().map_or_else(|_| channel.to_owned(), |kind| kind.title().to_owned()),
    }
}

fn share(health: &DayHealth) -> String {
    health.up().map_or_else(|| says::day_state(None).to_owned(), says::per_cent)
}

fn health_markup(report: &HealthReport) -> Markup {
    html! { section {
        h2 { "Health of " (report.days.len()) " days" }
        @if report.parts.is_empty() { p { (says::NO_HEALTH) } } @else {
            p.note { (says::HEALTH_MARKS) }
            @for part in &report.parts { figure {
                figcaption { strong { (part_name(&part.part)) } ": " (share(&part.sum())) " up" }
                (bar(report, part).markup())
            } }
            details { summary { "Numbers" } (health_table(report)) }
        }
    } }
}

fn bar(report: &HealthReport, part: &PartHealth) -> DayBar {
    let days = report.days.iter().zip(&part.days).map(|(day, health)| {
        let mark = match health.worst() {
            Some(HealthState::Well) => DayMark::Well,
            Some(HealthState::Ill) => DayMark::Ill,
            Some(HealthState::Off) => DayMark::Off,
            None => DayMark::Unknown,
        };
        let words = format!(
            "{}: {}, {}",
            day.format("%-d %B"),
            says::day_state(health.worst().map(HealthState::as_str)),
            share(health)
        );
        (mark, words)
    });
    DayBar { title: format!("{}: {} up", part_name(&part.part), share(&part.sum())), days: days.collect() }
}

fn health_table(report: &HealthReport) -> Markup {
    let days = report.days.iter().enumerate().rev();
    let is_known = |at: usize| report.parts.iter().any(|part| part.days.get(at).is_some_and(|day| day.up().is_some()));
    html! { div.scroll tabindex="0" { table {
        caption { "Share of each day in which it worked" }
        tr { th scope="col" { "Day" } @for part in &report.parts { th.number scope="col" { (part_name(&part.part)) } } }
        @for (at, day) in days.filter(|(at, _)| is_known(*at)) { tr {
            th scope="row" { (wording::date(*day)) }
            @for part in &report.parts { td.number { @if let Some(health) = part.days.get(at) {
                (share(health))
                @if let Some(state @ (HealthState::Ill | HealthState::Off)) = health.worst() { ", " (says::day_state(Some(state.as_str()))) }
            } } }
        } }
    } } }
}

fn backups_markup(backups: &[BackupRow], visitor: &Visitor) -> Markup {
    html! { section {
        h2 { "Backups" }
        @if backups.is_empty() { p { (sentence(says::NO_BACKUPS)) } } @else {
            div.scroll tabindex="0" { table {
                tr { th scope="col" { "Made" } th scope="col" { "File" } th.number scope="col" { "Size" } th.number scope="col" { "Files" } th scope="col" { "Configuration" } }
                @for row in backups { tr {
                    td { (render::time(row.made_at, visitor.zone, visitor.now)) }
                    th.name scope="row" { bdi { (reveal(&row.file.to_string_lossy())) } }
                    td.number { (sizes::size(Language::ENGLISH, row.size)) }
                    td.number { (row.files) }
                    td { @if row.has_config { "with it" } @else { "without it" } }
                } }
            } }
            p.note { (sentence(says::BACKUPS_ARE_READ_BACK)) }
        }
    } }
}
