//! The history of a note, one version in full, two versions compared, and how to restore one.
//!
//! Changes made by hand are recorded before versions are listed or restored, so restoring loses
//! nothing that a person wrote. A restored version keeps its label.

use std::sync::Arc;

use serde_json::{Value, json};

use super::name::{self, Name};
use super::{MemoryFile, no_such_note, promote};
use crate::admin::MemoryAdmin;
use crate::admin::answer::{
    Answer, CommandError, Render, RenderContext, ShownLabel, join, plain, sources, with_fields,
};
use crate::admin::paging::{Page, PageRequest};
use crate::id::FileId;
use crate::memory::{MAX_VERSIONS, WriteError, WriteRefusal, WriteResult, unless_refused};
use crate::people::{Party, Person};
use crate::review::diff::{self, DiffHunk, fenced, fenced_diff};
use crate::review::reveal::reveal;
use crate::store::FileRow;
use crate::trust::{Label, Labelled, Text};
use crate::wording::Language;
use crate::wording::memory as says;
use crate::wording::review::Surface;
use crate::wording::why::all_in_words;

/// The versions of one path, newest first.
pub(in crate::admin) struct FileHistory {
    pub(super) path: String,
    pub(super) versions: Vec<FileRow>,
    /// Content that is on the disk; `None` if the file is gone or unreadable.
    pub(super) present: Option<MemoryFile>,
}

impl FileHistory {
    /// The newest version with the content that is on the disk.
    fn present(&self) -> Option<FileId> {
        let present = self.present.as_ref()?;
        self.versions.iter().find(|version| version.digest == present.digest).map(|version| version.id)
    }

    /// The page of versions that a request asks for.
    fn page(self, request: PageRequest) -> FileHistoryPage {
        let present = self.present();
        let last_trusted = self.versions.iter().find(|row| row.label.is_trusted() && row.has_content).cloned();
        let is_cut = self.versions.len() >= usize::try_from(MAX_VERSIONS).unwrap_or(usize::MAX);
        let page = request.cut(self.versions, |row| row.id.0);
        let is_cut = is_cut && page.next.is_none();
        let is_apart = |row: &FileRow| request.before.is_none() && page.items.iter().all(|listed| listed.id != row.id);
        FileHistoryPage { path: self.path, last_trusted: last_trusted.filter(is_apart), page, present, is_cut }
    }
}

/// Versions of a file, newest first.
#[derive(Debug, Clone)]
pub struct FileHistoryPage {
    /// Path of the file.
    pub path: String,
    /// The page.
    pub page: Page<FileRow>,
    /// The last trusted version, if the first page does not reach it: a person whose file was
    /// overwritten with untrusted text wants that one back.
    pub last_trusted: Option<FileRow>,
    /// The newest version with the content that is on the disk.
    pub present: Option<FileId>,
    /// True if this is the last page, and there are older versions.
    pub is_cut: bool,
}

impl FileHistoryPage {
    fn listed(&self) -> impl Iterator<Item = &FileRow> {
        self.page.items.iter().chain(&self.last_trusted)
    }
}

impl Render for FileHistoryPage {
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        let language = context.language();
        let mut lines = vec![says::history_head(language, &plain(name::visible_path(&self.path))), String::new()];
        for version in self.listed() {
            // No text is shown, but a version's sources may be untrusted information.
            shown.also(&version.label);
            let deleted = version.digest.is_empty();
            let size = version.has_content.then_some(version.size);
            let sources = plain(&all_in_words(language, &version.label));
            let is_present = self.present == Some(version.id);
            let facts = says::version_facts(language, size, deleted, &sources, is_present);
            let origin = says::version_origin(language, &version.author, &version.cause);
            lines.push(says::version(language, version.id, &context.near(version.at), &origin, &facts));
        }
        lines.extend(self.is_cut.then(|| format!("\n{}", says::versions_cut(language, MAX_VERSIONS))));
        lines.push(format!("\n{}", says::how_to_restore(&name::short(&self.path), context.surface)));
        let command = format!("/memory history {}", name::short(&self.path));
        lines.extend(self.page.more(&command, context.surface).map(|more| format!("\n{}", plain(&more))));
        lines.join("\n")
    }

    fn json(&self, _: &RenderContext<'_>, _: &mut ShownLabel) -> Value {
        self.page.items.iter().map(|version| version_json(version, self.present)).collect()
    }
}

/// One version of a file, in full and compared with the present content.
#[derive(Debug, Clone)]
pub struct FileVersion {
    /// Path of the file.
    pub path: String,
    /// The version.
    pub row: FileRow,
    /// The content; `None` if it is no longer kept, or the file was deleted with this version.
    pub text: Option<Text>,
    present: Option<MemoryFile>,
}

impl FileVersion {
    /// Returns the lines that restoring it changes with the label of both texts; `None` if there is
    /// nothing to restore.
    pub fn restoring(&self) -> Option<(String, Label)> {
        let text = self.text.as_ref()?;
        let present = self.present.as_ref().map(|present| present.text.label());
        let label = join(present.into_iter().chain([text.label()]));
        Some((self.changes(&mut ShownLabel::nothing())?, label))
    }

    /// The lines that restoring it changes, as one text; `None` if there is nothing to restore.
    fn changes(&self, shown: &mut ShownLabel) -> Option<String> {
        let old = self.text.as_ref().map(|text| shown.words(text).to_string())?;
        let now = self.present.as_ref().map_or("", |present| present.words(shown));
        Some(diff::of_texts(now, &old))
    }

    /// The version with its content, which is blank if the file was deleted with it.
    fn content(self, language: Language) -> Result<(FileRow, Text), CommandError> {
        match self.text {
            Some(text) => Ok((self.row, text)),
            None if self.row.digest.is_empty() => {
                let (label, scope) = (self.row.label.clone(), self.row.scope);
                Ok((self.row, Labelled::new(Arc::from(""), label, scope)))
            }
            None => Err(Answer::refusal(says::version_gone(language, self.row.id)).into()),
        }
    }
}

impl Render for FileVersion {
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        let (row, path) = (&self.row, plain(name::visible_path(&self.path)));
        let (language, at) = (context.language(), context.near(row.at));
        let (size, sources) = (row.has_content.then_some(row.size), plain(&all_in_words(language, &row.label)));
        let facts = says::version_facts(language, size, row.digest.is_empty(), &sources, false);
        let origin = says::version_origin(language, &row.author, &row.cause);
        let mut parts = vec![says::version_head(language, &path, row.id, &at, &origin, &facts)];
        if let Some(text) = &self.text {
            let words = shown.words(text);
            let (part, remark) = context.fitting(words);
            parts.push(fenced(&reveal(part)));
            parts.extend(remark);
        }
        match self.changes(shown) {
            None if row.digest.is_empty() => {}
            None => parts.push(says::version_gone(language, row.id)),
            Some(changes) if changes.is_empty() => parts.push(says::IS_THERE_NOW.in_language(language).into_string()),
            Some(changes) => {
                let (part, remark) = context.fitting(&changes);
                parts.push(format!("{}\n\n{}", &*says::RESTORING_CHANGES.in_language(language), fenced_diff(part)));
                parts.extend(remark);
                parts.push(says::how_to_restore_version(&name::short(&self.path), row.id, context.surface));
            }
        }
        parts.join("\n\n")
    }

    fn json(&self, _: &RenderContext<'_>, shown: &mut ShownLabel) -> Value {
        let changes = self.changes(shown);
        let text = self.text.as_ref().map(|text| shown.words(text).to_string());
        let present = self.present.as_ref().filter(|present| present.digest == self.row.digest).map(|_| self.row.id);
        with_fields(version_json(&self.row, present), json!({ "path": self.path, "text": text, "diff": changes }))
    }
}

/// Two versions of a file.
#[derive(Debug, Clone)]
pub struct FileComparison {
    /// Path of the file.
    pub path: String,
    /// Each with its content, blank if the file was deleted with that version.
    versions: [(FileRow, Text); 2],
}

impl FileComparison {
    /// Returns the change from the first to the second as one text, with the label of both.
    pub fn changes(&self) -> (String, Label) {
        let label = join(self.versions.iter().map(|(_, text)| text.label()));
        (diff::page(&self.hunks(&mut ShownLabel::nothing())), label)
    }

    /// The change from the first to the second.
    pub(in crate::admin) fn hunks(&self, shown: &mut ShownLabel) -> Vec<DiffHunk> {
        let [(_, old), (_, new)] = &self.versions;
        diff::hunks_of_texts(shown.words::<Arc<str>>(old), shown.words::<Arc<str>>(new))
    }
}

impl Render for FileComparison {
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        let (changes, language) = (diff::page(&self.hunks(shown)), context.language());
        let (part, remark) = context.fitting(&changes);
        let [(old, _), (new, _)] = &self.versions;
        let mut parts = vec![says::comparison_head(language, &plain(name::visible_path(&self.path)), old.id, new.id)];
        parts.push(if changes.is_empty() {
            says::NO_DIFFERENCE.in_language(language).into_string()
        } else {
            fenced_diff(part)
        });
        parts.extend(remark);
        parts.join("\n\n")
    }

    fn json(&self, _: &RenderContext<'_>, shown: &mut ShownLabel) -> Value {
        let [old, new] = self.versions.each_ref().map(|(row, _)| version_json(row, None));
        json!({ "path": self.path, "from": old, "to": new, "diff": diff::page(&self.hunks(shown)) })
    }
}

impl MemoryAdmin<'_> {
    /// Two versions of a note, compared.
    pub async fn compare_versions(
        &self,
        person: &Person,
        typed: &str,
        versions: [FileId; 2],
        surface: Surface,
    ) -> Result<FileComparison, CommandError> {
        let [old, new] = versions;
        let (old, new) = (
            self.note_version(person, typed, old, surface).await?,
            self.note_version(person, typed, new, surface).await?,
        );
        if old.path != new.path {
            return Err(Answer::refusal(says::no_such_version(&plain(&name::short(&old.path)), surface)).into());
        }
        let (path, language) = (old.path.clone(), surface.language());
        Ok(FileComparison { path, versions: [old.content(language)?, new.content(language)?] })
    }

    /// One version of a note, compared with what is there now.
    pub async fn note_version(
        &self,
        person: &Person,
        typed: &str,
        version: FileId,
        surface: Surface,
    ) -> Result<FileVersion, CommandError> {
        let histories = self.histories(person, typed).await?;
        let Some(first) = histories.first() else { return Err(no_such_note(surface).into()) };
        let unknown = says::no_such_version(&plain(&name::short(&first.path)), surface);
        let found = histories.into_iter().find_map(|FileHistory { path, versions, present }| {
            let row = versions.into_iter().find(|row| row.id == version)?;
            Some((path, row, present))
        });
        let Some((path, row, present)) = found else { return Err(Answer::refusal(unknown).into()) };
        let who = Party::One(person.clone());
        let stored = self.workspace.versions().content(&who, &path, version).await?;
        let text = stored.and_then(|(text, label)| Some(Labelled::new(Arc::from(text?), label, who.scope())));
        Ok(FileVersion { path, row, text, present })
    }

    /// The history of a note.
    pub async fn note_history(
        &self,
        person: &Person,
        typed: &str,
        request: PageRequest,
        surface: Surface,
    ) -> Result<FileHistoryPage, CommandError> {
        let history = self.histories(person, typed).await?.into_iter().next();
        Ok(history.ok_or_else(|| no_such_note(surface))?.page(request))
    }

    /// Restores an earlier version.
    pub async fn restore_note(
        &self,
        person: &Person,
        typed: &str,
        version: FileId,
        surface: Surface,
    ) -> anyhow::Result<Answer> {
        self.restore(person, self.histories(person, typed).await?, version, surface).await
    }

    /// Restores an earlier version of the file at exactly that path.
    pub async fn restore_file(
        &self,
        person: &Person,
        path: &str,
        version: FileId,
        surface: Surface,
    ) -> anyhow::Result<Answer> {
        self.restore(person, self.histories_of(person, vec![path.to_owned()]).await?, version, surface).await
    }

    async fn restore(
        &self,
        person: &Person,
        histories: Vec<FileHistory>,
        version: FileId,
        surface: Surface,
    ) -> anyhow::Result<Answer> {
        let Some(first) = histories.first() else { return Ok(no_such_note(surface)) };
        let found = |history: &FileHistory| {
            let row = history.versions.iter().find(|row| row.id == version && !row.digest.is_empty())?;
            Some((history.path.clone(), row.has_content))
        };
        let Some((path, kept)) = histories.iter().find_map(found) else {
            return Ok(Answer::refusal(says::no_such_version(&plain(&name::short(&first.path)), surface)));
        };
        if !kept {
            return Ok(Answer::refusal(says::version_gone(surface.language(), version)));
        }
        let origin = self.change_by(person, "restore");
        let workspace = &self.workspace;
        let (mut written, mut aside) = (workspace.versions().restore_version(&origin, &path, version).await, None);
        if let Err(WriteError::Refused(WriteRefusal::Unreadable(_) | WriteRefusal::NoText)) = written {
            // Restoring a version is the fix for an unreadable file.
            aside = workspace.versions().quarantine_for_restore(&origin, &path, version).await?;
            if aside.is_some() {
                written = workspace.versions().restore_version(&origin, &path, version).await;
            }
        }
        Ok(match written {
            Ok(written) => restored(&path, version, &written, aside.as_deref(), surface.language()),
            Err(error) => match error.refusal()? {
                WriteRefusal::Untrusted => Answer::refusal(says::STILL_FROM_OUTSIDE.in_language(surface.language())),
                why => promote::refused(&path, why, surface.language()),
            },
        })
    }

    /// The history of each file that may be meant, including changes by hand.
    pub(super) async fn histories(&self, person: &Person, typed: &str) -> anyhow::Result<Vec<FileHistory>> {
        let Some(name) = Name::read(typed) else { return Ok(Vec::new()) };
        self.histories_of(person, name.paths()).await
    }

    async fn histories_of(&self, person: &Person, paths: Vec<String>) -> anyhow::Result<Vec<FileHistory>> {
        let origin = self.change_by(person, "hand");
        let mut histories = Vec::new();
        for path in paths {
            // An unreadable file may still have a history.
            unless_refused(self.workspace.versions().take_note_of(&origin, &path).await)?;
            let versions = self.workspace.versions().history(&origin.who, &path).await?;
            if !versions.is_empty() {
                let present = unless_refused(self.page(&origin.who, std::slice::from_ref(&path)).await)?;
                histories.push(FileHistory { path, versions, present });
            }
        }
        Ok(histories)
    }
}

fn restored(path: &str, version: FileId, written: &WriteResult, aside: Option<&str>, language: Language) -> Answer {
    let (name, trusted) = (plain(name::visible_path(path)), written.label.is_trusted());
    let mut sentence = match written.version {
        Some(_) => says::restored(language, &name, version, trusted),
        None => says::same_content(language, &name, version),
    };
    if let Some(aside) = aside {
        sentence.push_str(&says::made_way(language, &plain(name::visible_path(aside))));
    }
    let changed = written.version.is_some();
    let json = json!({ "path": path, "version": version, "changed": changed, "tainted": !trusted, "aside": aside });
    Answer::ours(sentence, json)
}

fn version_json(version: &FileRow, present: Option<FileId>) -> Value {
    json!({
        "version": version.id,
        "at": version.at.rfc3339(),
        "author": version.author,
        "cause": version.cause,
        "size": version.has_content.then_some(version.size),
        "deleted": version.digest.is_empty(),
        "tainted": !version.label.is_trusted(),
        "sources": sources(&version.label),
        "present": present == Some(version.id),
    })
}
