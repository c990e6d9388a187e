//! One note of the visitor: its text and source, an edit that overwrites nothing, and its versions.

use std::sync::Arc;

use axum::extract::{Form, Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use super::LISTED;
use super::memory::{address, gauge};
use crate::admin::{Answer, CommandError, FileHistoryPage, MemoryFile, NoteEdit, OriginReport, PageRequest};
use crate::id::FileId;
use crate::memory::MAX_VERSIONS;
use crate::review::reveal::reveal;
use crate::store::FileRow;
use crate::web::session::Member;
use crate::web::visitor::Visitor;
use crate::web::{Web, html as render, layout, texts};
use crate::wording::page::memory as says;
use crate::wording::{Language, memory as words};

/// The part of a note that a page shows.
#[derive(Deserialize)]
pub struct NoteQuery {
    before: Option<i64>,
    version: Option<i64>,
    from: Option<i64>,
    to: Option<i64>,
    edit: Option<String>,
    section: Option<usize>,
}

/// A change of a note.
#[derive(Deserialize)]
pub struct NoteForm {
    act: NoteAct,
    /// Digest of the text that the form was made from; blank for none.
    #[serde(default)]
    digest: String,
    #[serde(default)]
    text: String,
    /// Number of the section that is meant; none for the whole note.
    section: Option<usize>,
    version: Option<i64>,
    #[serde(default)]
    code: String,
}

/// Kind of change.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum NoteAct {
    Save,
    Restore,
    Promote,
}

/// Shows a note, one of its versions, two of them compared, or its text in a field.
pub async fn note(
    Member(visitor): Member,
    (State(web), Path(name), Query(query)): (State<Arc<Web>>, Path<String>, Query<NoteQuery>),
) -> Response {
    let main = match (query.version, query.from.zip(query.to)) {
        (Some(version), _) => web.note_version(&visitor, &name, FileId(version)).await,
        (None, Some((old, new))) => web.note_comparison(&visitor, &name, [FileId(old), FileId(new)]).await,
        (None, None) if query.edit.is_some() => web.note_editor(&visitor, &name, query.section).await,
        (None, None) => web.whole_note(&visitor, &name, query.before, None).await,
    };
    layout::page_or_refusal(&visitor, "/memory", &name, StatusCode::OK, main)
}

/// Changes a note.
pub async fn change(
    Member(visitor): Member,
    (State(web), Path(name), Form(form)): (State<Arc<Web>>, Path<String>, Form<NoteForm>),
) -> Response {
    let files = web.admin.memory_files();
    match form.act {
        NoteAct::Save => web.save(&visitor, &name, &form).await,
        NoteAct::Restore => {
            let version = FileId(form.version.unwrap_or_default());
            match files.restore_note(&visitor.person, &name, version, visitor.surface()).await {
                Ok(answer) if !answer.failed => Redirect::to(&address_of(&name)).into_response(),
                Ok(answer) => web.told(&visitor, &name, &answer).await,
                Err(error) => layout::failure(&error),
            }
        }
        NoteAct::Promote => {
            match files.promote_note(&visitor.person, &name, form.code.trim(), visitor.surface()).await {
                Ok(answer) if answer.failed => web.told(&visitor, &name, &answer).await,
                Ok(answer) => {
                    layout::page_or_refusal(&visitor, "/memory", &name, StatusCode::OK, Ok(promotion(&name, &answer)))
                }
                Err(error) => layout::refused(&visitor, error),
            }
        }
    }
}

/// The address of a note as it was called.
fn address_of(name: &str) -> String {
    render::path("/memory", name)
}

impl Web {
    /// Saves the typed text. If that fails, the text stays in the form.
    async fn save(&self, visitor: &Visitor, name: &str, form: &NoteForm) -> Response {
        let NoteForm { section, digest, text, .. } = form;
        let again = || editor(name, *section, digest, &texts::typed_field("text", text));
        let refused = |why: &Answer| {
            html! {
                div.problem role="alert" { (render::markdown(&why.markdown, &why.label)) }
                (again())
            }
        };
        let main = match self.admin.memory_files().save_note(&visitor.person, name, *section, digest, text).await {
            Ok(NoteEdit::Saved(file)) => return Redirect::to(&address(&file.path)).into_response(),
            Ok(NoteEdit::Conflict(present)) if section.is_some() => section_conflict(present.as_ref(), name, text),
            Ok(NoteEdit::Conflict(present)) => conflict(present.as_ref(), name, text),
            Ok(NoteEdit::Refused(why)) => refused(&why),
            Err(CommandError::Refused(why)) => refused(&why),
            Err(CommandError::Failed(error)) => {
                return layout::save_failure(visitor, "/memory", name, &error, &again());
            }
        };
        layout::page_or_refusal(visitor, "/memory", name, StatusCode::CONFLICT, Ok(main))
    }

    /// Shows a note below a refusal.
    async fn told(&self, visitor: &Visitor, name: &str, answer: &Answer) -> Response {
        let notice = render::markdown(&answer.markdown, &answer.label);
        let main = self.whole_note(visitor, name, None, Some(notice)).await;
        layout::page_or_refusal(visitor, "/memory", name, StatusCode::CONFLICT, main)
    }

    async fn whole_note(
        &self,
        visitor: &Visitor,
        name: &str,
        before: Option<i64>,
        notice: Option<Markup>,
    ) -> Result<Markup, CommandError> {
        let (files, person, surface) = (self.admin.memory_files(), &visitor.person, visitor.surface());
        let request = PageRequest { before, limit: LISTED };
        // A note that was deleted has versions only, and one that was just put there may have none.
        let found = (files.note(person, name, surface).await, files.note_history(person, name, request, surface).await);
        let (file, history) = match found {
            (Err(error), Err(_)) | (Err(error @ CommandError::Failed(_)), _) => return Err(error),
            (_, Err(error @ CommandError::Failed(_))) => return Err(error),
            (file, history) => (file.ok(), history.ok()),
        };
        let origin = match &file {
            Some(_) => files.origin_of_note(person, name, surface).await.ok(),
            None => None,
        };
        Ok(html! {
            @if let Some(notice) = notice { div.problem role="alert" { (notice) } }
            @if before.is_none() { @if let Some(file) = &file { (present(file, origin.as_ref())) } }
            @if let Some(history) = &history { (versions(history, &address_of(name), visitor)) }
        })
    }

    async fn note_editor(&self, visitor: &Visitor, name: &str, section: Option<usize>) -> Result<Markup, CommandError> {
        let file = self.admin.memory_files().note(&visitor.person, name, visitor.surface()).await?;
        let part = section.and_then(|section| file.section(section));
        let (text, digest) = part.as_ref().map_or((&file.text, &file.digest), |part| (&part.text, &part.digest));
        Ok(if texts::fits_a_field(text) {
            html! {
                (texts::sources(text.label()))
                (editor(name, part.as_ref().map(|part| part.number), digest, &texts::field("text", text)))
            }
        } else {
            html! { p { (says::NOT_FOR_A_FIELD) } }
        })
    }

    async fn note_version(&self, visitor: &Visitor, name: &str, version: FileId) -> Result<Markup, CommandError> {
        let files = self.admin.memory_files();
        let report = files.note_version(&visitor.person, name, version, visitor.surface()).await?;
        let here = address_of(name);
        let restoring = report.restoring();
        Ok(html! {
            p { a href=(here) { "The note and all versions" } }
            p.facts { (facts(&report.row, visitor)) }
            @match &report.text {
                Some(text) => section { h2 { "Version " (version) } (texts::verbatim(text)) },
                None if report.row.digest.is_empty() => p { (says::VERSION_DELETED) },
                None => p { (says::VERSION_WITHOUT_TEXT) },
            }
            @if let Some((changes, label)) = &restoring {
                section {
                    h2 { (&*words::RESTORING_CHANGES.in_language(Language::ENGLISH)) }
                    @if changes.is_empty() { p { (&*words::IS_THERE_NOW.in_language(Language::ENGLISH)) } }
                    @else {
                        (texts::boxed(label, render::diff(changes)))
                        form method="post" action=(here) {
                            p { (says::NOTHING_IS_LOST) }
                            input type="hidden" name="act" value="restore";
                            button type="submit" name="version" value=(version) { "Restore version " (version) }
                        }
                    }
                }
            }
        })
    }

    async fn note_comparison(
        &self,
        visitor: &Visitor,
        name: &str,
        versions: [FileId; 2],
    ) -> Result<Markup, CommandError> {
        let files = self.admin.memory_files();
        let report = files.compare_versions(&visitor.person, name, versions, visitor.surface()).await?;
        let ((changes, label), [old, new]) = (report.changes(), versions);
        Ok(html! {
            p { a href=(address_of(name)) { "The note and all versions" } }
            section {
                h2 { "From version " (old) " to version " (new) }
                @if changes.is_empty() { p { (&*words::NO_DIFFERENCE.in_language(Language::ENGLISH)) } }
                @else { (texts::boxed(&label, render::diff(&changes))) }
            }
        })
    }
}

/// The note as it is, its source, and what can be done with it.
fn present(file: &MemoryFile, origin: Option<&OriginReport>) -> Markup {
    let here = address(&file.path);
    let is_trusted = file.text.label().is_trusted();
    html! {
        p.facts { bdi { (reveal(file.visible_path())) } " · " (gauge(file.size(), file.limit())) }
        p { a.button href={ (here) "?edit=1" } { "Edit" } }
        section { h2.unseen { "Text" } (texts::whole_note(&file.text, &here)) }
        @if !is_trusted {
            form method="post" action=(here) {
                p { (says::WAITS_FOR_YOU) }
                button type="submit" name="act" value="promote" { "Read it and make it mine" }
            }
        }
        @if let Some(origin) = origin { section {
            h2 { "Where it comes from" }
            (render::markdown(&origin.lines.join("\n\n"), &origin.label))
        } }
        section {
            h2 { "Forget" }
            form method="post" action="/act" {
                p { (says::FORGET_FIRST_SHOWS) }
                button type="submit" name="command" value={ "/forget " (file.visible_path()) } { "Forget this note" }
            }
        }
    }
}

/// The form with a text, or with one section of it; `digest` is that of what it was made from.
fn editor(name: &str, section: Option<usize>, digest: &str, field: &Markup) -> Markup {
    html! {
        form.wide method="post" action=(address_of(name)) {
            p { (says::YOUR_HAND) }
            input type="hidden" name="digest" value=(digest);
            @if let Some(section) = section { input type="hidden" name="section" value=(section); }
            label { (if section.is_some() { "This section" } else { "Text" }) (field) }
            button type="submit" name="act" value="save" { "Save" } " "
            a.button href=(address_of(name)) { "Cancel" }
        }
    }
}

/// Both texts and their difference, with the typed one in the form.
fn conflict(present: Option<&MemoryFile>, name: &str, typed: &str) -> Markup {
    let both = present.map(|file| texts::difference(&file.text, typed));
    let digest = present.map_or("", |file| &*file.digest);
    html! {
        p.problem role="alert" { (if present.is_some() { says::CHANGED_MEANWHILE } else { says::GONE_MEANWHILE }) }
        @if let Some((difference, _)) = &both { section { h2 { (says::DIFFERENCE) } (difference) } }
        section { h2 { "Your text" } (editor(name, None, digest, &texts::typed_field("text", typed))) }
        @if let Some((_, as_it_is)) = &both { section { h2 { (says::AS_IT_IS) } (as_it_is) } }
    }
}

/// The same for a section: it is compared with the one of the same heading. Without that, the text
/// stays in a field, and the note can be edited as a whole.
fn section_conflict(present: Option<&MemoryFile>, name: &str, typed: &str) -> Markup {
    let Some(file) = present else { return conflict(None, name, typed) };
    let Some(section) = file.section_like(typed) else {
        let (_, as_it_is) = texts::difference(&file.text, typed);
        return html! {
            p.problem role="alert" { (says::SECTION_GONE) }
            section { h2 { "Your text" } form.wide { label { "This section" (texts::typed_field("text", typed)) } } }
            p { a.button href={ (address_of(name)) "?edit=1" } { "Edit the whole note" } }
            section { h2 { (says::AS_IT_IS) } (as_it_is) }
        };
    };
    let (difference, as_it_is) = texts::difference(&section.text, typed);
    html! {
        p.problem role="alert" { (says::SECTION_CHANGED) }
        section { h2 { (says::SECTION_DIFFERENCE) } (difference) }
        section { h2 { "Your text" } (editor(name, Some(section.number), &section.digest, &texts::typed_field("text", typed))) }
        section { h2 { (says::SECTION_AS_IT_IS) } (as_it_is) }
    }
}

/// First step of a promotion: the text with the button that makes exactly it the person's own. Or
/// its result.
fn promotion(name: &str, answer: &Answer) -> Markup {
    html! {
        section { (render::markdown(&answer.markdown, &answer.label)) }
        @if let Some(code) = answer.json.get("code").and_then(|code| code.as_str()) {
            form method="post" action=(address_of(name)) {
                input type="hidden" name="code" value=(code);
                button type="submit" name="act" value="promote" { "Make exactly this mine" }
            }
        } @else { p { a href="/memory" { "All of the memory" } } }
    }
}

fn versions(history: &FileHistoryPage, here: &str, visitor: &Visitor) -> Markup {
    let page = &history.page;
    let mut pairs = page.items.windows(2);
    let line = |version: &FileRow, older: Option<FileId>| {
        html! { li {
            a.title href={ (here) "?version=" (version.id) } { "Version " (version.id) }
            @if history.present == Some(version.id) { " " strong { "present" } }
            p.facts {
                (facts(version, visitor))
                @if let Some(older) = older {
                    " · " a href={ (here) "?from=" (older) "&to=" (version.id) } { "Compare with version " (older) }
                }
            }
            (texts::sources(&version.label))
        } }
    };
    html! { section {
        h2 { "Versions" }
        ol.rows { @for version in &page.items { (line(version, pairs.next().and_then(|pair| pair.last()).map(|old| old.id))) } }
        @if let Some(trusted) = &history.last_trusted { p { "The last one without text from outside:" } ol.rows { (line(trusted, None)) } }
        @if let Some(next) = page.next { p { a.button rel="next" href={ (here) "?before=" (next) } { "Older" } } }
        @if history.is_cut { p.note { (words::versions_cut(Language::ENGLISH, MAX_VERSIONS)) } }
        @if page.items.len() > 1 { (render::comparison(&page.items.iter().map(|version| version.id.0).collect::<Vec<_>>(), here)) }
    } }
}

fn facts(version: &FileRow, visitor: &Visitor) -> Markup {
    let size = version.has_content.then_some(version.size);
    html! {
        (render::time(version.at, visitor.zone, visitor.now)) ", "
        (words::version_origin(Language::ENGLISH, &version.author, &version.cause)) " · "
        (words::version_facts(Language::ENGLISH, size, version.digest.is_empty(), "", false))
    }
}
