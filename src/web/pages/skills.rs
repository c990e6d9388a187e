//! Skills: the list, and one of them with its versions.

use std::sync::Arc;

use axum::extract::{Form, Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use super::LISTED;
use crate::admin::{CommandError, PageRequest, SkillEntry, SkillHistoryReport, SkillReport, SkillUse};
use crate::id::VersionNumber;
use crate::review::DecisionSource;
use crate::review::reveal::reveal;
use crate::skill::SkillFolder;
use crate::store::VersionRow;
use crate::web::session::Owner;
use crate::web::visitor::Visitor;
use crate::web::{Web, html as render, layout, texts};
use crate::wording::page::skills as says;
use crate::wording::review as words;

/// The part of a skill that a page shows.
#[derive(Default, Deserialize)]
pub struct SkillQuery {
    before: Option<i64>,
    version: Option<i64>,
    from: Option<i64>,
    to: Option<i64>,
}

/// A version to restore.
#[derive(Deserialize)]
pub struct Restore {
    version: i64,
}

/// Returns the address of a skill.
pub fn address(name: &str) -> String {
    format!("/skills/{}", render::encoded(name))
}

/// Renders the tabs of skills and proposals.
pub fn tabs(here: &str) -> Markup {
    html! { nav.tabs aria-label="Skills and proposals" { ul {
        @for (path, title) in [("/skills", "Skills"), ("/proposals", "Proposals")] {
            li { a href=(path) aria-current=[(path == here).then_some("page")] { (title) } }
        }
    } } }
}

/// Renders all files of a skill, with hidden characters revealed.
pub fn files(content: &SkillFolder) -> Markup {
    html! { @for (path, bytes) in content.files() {
        p.note { bdi { (reveal(path)) } ", " (bytes.len()) " bytes" }
        @if let Some(text) = content.text(path) { (render::verbatim(text)) }
    } }
}

/// Lists the skills: live, held and broken ones.
pub async fn list(Owner(visitor): Owner, State(web): State<Arc<Web>>) -> Response {
    let report = match web.admin.skills_and_proposals().skills().await {
        Ok(report) => report,
        Err(error) => return layout::failure(&error),
    };
    let groups = [("In use", true), ("Not in use", false)];
    let of = |is_used: bool| report.entries.iter().filter(move |entry| (entry.state == SkillUse::Live) == is_used);
    let main = html! {
        (tabs("/skills"))
        @if report.entries.is_empty() { p { (says::NO_SKILLS) } }
        @for (title, is_used) in groups { @if of(is_used).next().is_some() { section {
            h2 { (title) }
            ol.rows { @for entry in of(is_used) { li { (row(entry)) } } }
        } } }
    };
    layout::page(Some(&visitor), "/skills", "Skills", main).into_response()
}

fn row(entry: &SkillEntry) -> Markup {
    html! {
        a.title href=(address(&entry.name)) { bdi { (reveal(&entry.name)) } }
        @if !entry.note.is_empty() { p.facts { bdi { (reveal(&entry.note)) } } }
        @if !entry.description.is_empty() { p { bdi { (entry.summary()) } } }
        (waiting(entry))
        (texts::sources(&entry.label))
    }
}

fn waiting(entry: &SkillEntry) -> Markup {
    html! { @if let Some(id) = entry.waits { p { a.button href={ "/proposals/" (id) } { "Decide about proposal " (id) } } } }
}

/// Shows a skill with its versions, one version, or two compared.
pub async fn skill(
    Owner(visitor): Owner,
    (State(web), Path(name), Query(query)): (State<Arc<Web>>, Path<String>, Query<SkillQuery>),
) -> Response {
    let main = match (query.version, query.from.zip(query.to)) {
        (Some(version), _) => web.skill_version(&visitor, &name, VersionNumber(version)).await,
        (None, Some((old, new))) => {
            web.skill_comparison(&visitor, &name, [VersionNumber(old), VersionNumber(new)]).await
        }
        (None, None) => web.skill_with_versions(&visitor, &name, query.before, None).await,
    };
    layout::page_or_refusal(&visitor, "/skills", &name, StatusCode::OK, main)
}

/// Restores an earlier version of a skill.
pub async fn restore(
    Owner(visitor): Owner,
    (State(web), Path(name), Form(Restore { version })): (State<Arc<Web>>, Path<String>, Form<Restore>),
) -> Response {
    let by = DecisionSource::Page(visitor.person.id);
    match web.admin.skills_and_proposals().roll_back(&name, VersionNumber(version), by).await {
        Ok(answer) if !answer.failed => Redirect::to(&address(&name)).into_response(),
        Ok(answer) => {
            let notice = render::markdown(&answer.markdown, &answer.label);
            let main = web.skill_with_versions(&visitor, &name, None, Some(notice)).await;
            layout::page_or_refusal(&visitor, "/skills", &name, StatusCode::CONFLICT, main)
        }
        Err(error) => layout::failure(&error),
    }
}

impl Web {
    async fn skill_with_versions(
        &self,
        visitor: &Visitor,
        name: &str,
        before: Option<i64>,
        notice: Option<Markup>,
    ) -> Result<Markup, CommandError> {
        let skills = self.admin.skills_and_proposals();
        let request = PageRequest { before, limit: LISTED };
        // A skill that was deleted has versions only, and a broken folder may have none.
        let (report, history) = match (skills.skill(name).await, skills.history(name, request, visitor.surface()).await)
        {
            (Err(error), Err(_)) | (Err(error @ CommandError::Failed(_)), _) => return Err(error),
            (_, Err(error @ CommandError::Failed(_))) => return Err(error),
            (report, history) => (report.ok(), history.ok()),
        };
        Ok(html! {
            @if let Some(notice) = notice { div.problem role="alert" { (notice) } }
            @if before.is_none() { @if let Some(report) = &report { (text(report)) } @else { p { (says::NOT_IN_USE) } } }
            @if let Some(history) = &history { (versions(history, visitor)) }
        })
    }

    async fn skill_version(
        &self,
        visitor: &Visitor,
        name: &str,
        version: VersionNumber,
    ) -> Result<Markup, CommandError> {
        let report = self.admin.skills_and_proposals().skill_version(name, version, visitor.surface()).await?;
        Ok(html! {
            p { a href=(address(&report.folder)) { "All versions" } }
            p.facts { (facts(&report.row, visitor)) }
            section {
                h2 { "Version " (version) }
                (texts::boxed(&report.row.label, files(&report.content)))
            }
            @match report.changes() {
                Some((changes, _)) if changes.is_empty() => p { (words::IS_PRESENT) },
                Some((changes, label)) => section {
                    h2 { (words::RESTORING_CHANGES) }
                    (texts::boxed(&label, render::diff(&changes)))
                },
                None => {},
            }
            @if report.row.accepted && report.present.as_ref().is_none_or(|(present, _)| present.id != report.row.id) {
                form method="post" action={ (address(&report.folder)) "/restore" } {
                    p { (says::RESTORED_AT_ONCE) }
                    button type="submit" name="version" value=(version) { "Restore version " (version) }
                }
            }
        })
    }

    async fn skill_comparison(
        &self,
        visitor: &Visitor,
        name: &str,
        versions: [VersionNumber; 2],
    ) -> Result<Markup, CommandError> {
        let report =
            self.admin.skills_and_proposals().compare_skill_versions(name, versions, visitor.surface()).await?;
        let ((changes, label), [old, new]) = (report.changes(), versions);
        Ok(html! {
            p { a href=(address(&report.folder)) { "All versions" } }
            section {
                h2 { "From version " (old) " to version " (new) }
                @if changes.is_empty() { p { (words::NO_DIFFERENCE) } }
                @else { (texts::boxed(&label, render::diff(&changes))) }
            }
        })
    }
}

/// The text in use, and the remark about its state.
fn text(report: &SkillReport) -> Markup {
    let entry = &report.entry;
    html! { section {
        @if !entry.note.is_empty() { p { bdi { (reveal(&words::note(&entry.note))) } } }
        (waiting(entry))
        @match &report.live {
            Some(live) => (texts::boxed(&live.label, files(&live.skill.content))),
            None => p { (says::NOT_IN_USE) },
        }
    } }
}

fn versions(history: &SkillHistoryReport, visitor: &Visitor) -> Markup {
    let (page, here) = (&history.page, address(&history.folder));
    let mut pairs = page.items.windows(2);
    html! { section {
        h2 { "Versions" }
        ol.rows { @for version in &page.items { li {
            a.title href={ (here) "?version=" (version.number) } { "Version " (version.number) }
            @if history.present == Some(version.id) { " " strong { "present" } }
            p.facts {
                (facts(version, visitor))
                @if let Some([new, old]) = pairs.next() {
                    " · " a href={ (here) "?from=" (old.number) "&to=" (new.number) } { "Compare with version " (old.number) }
                }
            }
            (texts::sources(&version.label))
        } } }
        @if let Some(next) = page.next { p { a.button rel="next" href={ (here) "?before=" (next) } { "Older" } } }
        @if page.items.len() > 1 { (render::comparison(&page.items.iter().map(|version| version.number.0).collect::<Vec<_>>(), &here)) }
    } }
}

fn facts(version: &VersionRow, visitor: &Visitor) -> Markup {
    html! {
        (render::time(version.made_at, visitor.zone, visitor.now)) ", "
        @match version.proposal {
            Some(id) => a href={ "/proposals/" (id) } { "proposal " (id) },
            None => (words::origin_of(&version.origin)),
        }
        @if !version.accepted { " · never accepted" }
    }
}
