//! The single writer.
//!
//! Every change to a file of the workspace goes through here, one at a time. The file is read
//! again; an edit that a person made meanwhile is recorded as their version, and the change is
//! applied on top. The row with path, hash, label and content is committed before the new file
//! replaces the old one. So a reader knows where the text of a file comes from, and every change
//! can be inspected and undone. A person's save at the very same moment is noticed: their version
//! is recorded, and the change is applied to it. Several files that change together are announced
//! in one transaction: all of it, or nothing.
//!
//! A change that a power cut or a cancelled turn interrupted is completed by the next start or the
//! next change. If the old content is still in place, the change is made then; if the new content
//! is already in place, only its row is closed; with any other content a person has edited the file
//! since, and their version stays.
//!
//! This module checks only what holds for every change: it stays in the party's folder and within
//! the size limit of its file, no tool writes a file that only the owner edits, untrusted text
//! never reaches a file that is loaded automatically, and an untrusted author takes no trusted line
//! away unless the person agreed to it. Where lines move from one file to another, the label of the
//! source goes along. What a change *means* is up to the caller.

mod labels;
mod taken; // the notice of lines that a change takes away

use labels::AuthorLines;
pub(super) use labels::LabelRule;
pub use labels::{Consent, PersonShare};

use std::sync::Arc;

use tokio::sync::OwnedMutexGuard;

use super::disk::ReplaceOutcome;
use super::passages::Passages;
use super::path_walk::PathType;
use super::workspace::{FileVersions, Workspace, WriteError, WriteRefusal};
use super::{disk, label, layout, page};
use crate::id::FileId;
use crate::people::Party;
use crate::skill::name::is_hidden;
use crate::store::{Db, NewFile, Node, Tx, Unplaced};
use crate::text::charset;
use crate::time::Timestamp;
use crate::trust::{Label, Labelled, Scope, Text};
use crate::wording::knowledge as says;

/// Number of attempts while a person keeps saving the same file.
const MOST_TRIES: usize = 8;

/// Author, cause and sources of a change.
#[derive(Debug, Clone)]
pub struct ChangeOrigin {
    /// Party whose folder changes.
    pub who: Party,
    /// Label of the new text.
    pub label: Label,
    /// Author of the change.
    pub author: Author,
    /// Cause in one word: `remember`, `save`, `section`, `facts`, …
    pub cause: &'static str,
    /// Journal nodes that the change derives from.
    pub from: Vec<Node>,
    /// What the person said of it.
    pub person: PersonShare,
    /// Current time.
    pub now: Timestamp,
}

/// Author of a file change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Author {
    /// The program itself.
    Program,
    /// The assistant, with a tool.
    Assistant,
    /// A person, by a command.
    Person,
    /// A person, by hand: in an editor, or in a form of the page.
    Hand,
}

impl Author {
    /// Returns the stored word.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// New state of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewContent {
    /// This complete text.
    Text(String),
    /// This complete text, part of which moves here from another file of the same change. That file
    /// is given by its index among the paths.
    Moved(String, usize),
    /// Unchanged.
    Unchanged,
    /// Deleted.
    Deleted,
}

/// Result of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteResult {
    /// Real path, relative to the workspace.
    pub path: String,
    /// New version; `None` if nothing changed.
    pub version: Option<FileId>,
    /// SHA-256 of the current content; empty if there is no file.
    pub digest: String,
    /// Label of the content.
    pub label: Label,
    /// True if its lines have different labels.
    pub is_mixed: bool,
}

/// Present content of a file.
#[derive(Debug, Clone)]
pub(super) struct CurrentFile {
    /// Text; `None` if there is no file.
    pub text: Option<String>,
    /// SHA-256 of the text; empty if there is no file.
    pub digest: String,
    /// Real path, relative to the workspace.
    pub real_path: String,
    /// File left next to it by an interrupted change.
    leftover: Option<String>,
}

/// A file of which a change would take trusted lines away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenLines {
    /// Path as its owner sees it.
    pub path: String,
    /// SHA-256 of the present content.
    pub digest: String,
    /// Present content.
    pub before: Text,
    /// Content after the change.
    pub after: String,
}

/// A version written by hand.
struct ManualEdit {
    text: Option<String>,
    digest: String,
    passages: Passages,
}

/// A file and its planned change.
pub(super) struct WritePlan {
    current: CurrentFile,
    passages: Passages,
    /// Trusted lines that it takes away.
    taken: Vec<String>,
    /// `None` if the file stays unchanged.
    next: Option<NextVersion>,
}

/// Planned content and its row.
struct NextVersion {
    text: Option<String>,
    digest: String,
    row: FileId,
}

impl FileVersions<'_> {
    /// Changes the file at that path of the party's folder, or of the experience folder if the path
    /// begins with [`super::EXPERIENCE`]. `make` gets the current text, or `None`; it is called
    /// again if a person changes the file at the same moment.
    pub async fn change(
        &self,
        origin: &ChangeOrigin,
        path: &str,
        make: impl Fn(Option<&str>) -> Result<NewContent, WriteRefusal> + Send + 'static,
    ) -> Result<WriteResult, WriteError> {
        let all = move |texts: &[Option<&str>]| Ok(vec![make(texts.first().copied().flatten())?]);
        self.change_first(origin, &[path], LabelRule::ByLine, all).await
    }

    /// Returns what [`Self::change`] with the same `make` would take away that is trusted; `None` if
    /// nothing, if there could be no such change, or if its words would wait to be kept instead.
    pub async fn taken_by(
        &self,
        origin: &ChangeOrigin,
        path: &str,
        make: impl Fn(Option<&str>) -> Result<NewContent, WriteRefusal>,
    ) -> anyhow::Result<Option<TakenLines>> {
        let (who, folder) = (&origin.who, self.folder_of(&origin.who).await?);
        let Some(file) = self.files().readable(who, path).await? else { return Ok(None) };
        for location in [layout::locate(&folder, path), self.location_of(who, path).await?].into_iter().flatten() {
            if check_permission(origin, &folder, &location).is_err() || layout::is_loaded_at(&location) {
                return Ok(None);
            }
        }
        let after = match make(Some(&file.text)) {
            Ok(NewContent::Text(text) | NewContent::Moved(text, _)) => text,
            Ok(NewContent::Deleted) => String::new(),
            Ok(NewContent::Unchanged) | Err(_) => return Ok(None),
        };
        if file.passages.taken_away(&file.text, &after).is_empty() {
            return Ok(None);
        }
        let (path, digest) = (path.to_owned(), file.digest);
        let before = Labelled::new(Arc::from(file.text), file.label, who.scope());
        Ok(Some(TakenLines { path, digest, before, after }))
    }

    /// Changes several files, all or none, in the order of their paths, and returns the result of
    /// the first. `make` gets the current text of each and returns the new state of each. When it
    /// is called again, some files may already contain its own change.
    pub(super) async fn change_first(
        &self,
        origin: &ChangeOrigin,
        paths: &[&str],
        label_source: LabelRule,
        make: impl Fn(&[Option<&str>]) -> Result<Vec<NewContent>, WriteRefusal> + Send + 'static,
    ) -> Result<WriteResult, WriteError> {
        let folder = self.folder_of(&origin.who).await?;
        let locations: Option<Vec<String>> = paths.iter().map(|path| layout::locate(&folder, path)).collect();
        let locations = locations.ok_or(WriteRefusal::Elsewhere)?;
        let writing = Arc::new(Arc::clone(&self.0.writing).lock_owned().await);
        self.finish_open().await?;
        for _ in 0..MOST_TRIES {
            let mut plans = self.read_for_change(origin, &folder, &locations).await?;
            let mut is_merged = false;
            for plan in &plans {
                is_merged |= self.merge_stale_edit(&origin.who, &plan.current, origin.now, &writing).await?;
            }
            if is_merged {
                continue;
            }
            decide(&mut plans, origin, &label_source, &make)?;
            let plans = self.announce_all(origin, plans).await?;
            if let Some(written) = self.place_all(plans, &writing).await? {
                return Ok(written.into_iter().next().ok_or(WriteRefusal::Elsewhere)?);
            }
        }
        Err(anyhow::anyhow!("A file of the workspace changes all the time").into())
    }

    /// Reads each file with its label and checks that the origin may change all of them.
    async fn read_for_change(
        &self,
        origin: &ChangeOrigin,
        folder: &str,
        locations: &[String],
    ) -> Result<Vec<WritePlan>, WriteError> {
        let mut plans = Vec::new();
        for location in locations {
            let current = match self.current(location).await {
                Ok(current) => current,
                Err(error) => return Err(with_file_name(error.refusal()?, folder, location).into()),
            };
            for path in [location.as_str(), current.real_path.as_str()] {
                check_permission(origin, folder, path)?;
            }
            let passages = self.adopt(location, &current, origin.who.scope(), origin.now).await?;
            let passages = passages.ok_or(WriteRefusal::Foreign)?;
            plans.push(WritePlan { current, passages, taken: Vec::new(), next: None });
        }
        Ok(plans)
    }

    pub(super) async fn announce_all(
        &self,
        origin: &ChangeOrigin,
        mut plans: Vec<WritePlan>,
    ) -> anyhow::Result<Vec<WritePlan>> {
        if plans.iter().all(|plan| plan.next.is_none()) {
            return Ok(plans);
        }
        let (origin, folder) = (origin.clone(), self.folder_of(&origin.who).await?);
        let job = move |tx: Tx<'_>| {
            taken::tell(tx, &origin, &plans, &folder)?;
            tx.extractions().ensure_answers_count(&origin.from)?;
            for plan in &mut plans {
                let Some(next) = &mut plan.next else { continue };
                let new = NewFile {
                    path: &plan.current.real_path,
                    digest: &next.digest,
                    label: plan.passages.label(),
                    scope: origin.who.scope(),
                    author: origin.author.as_str(),
                    cause: origin.cause,
                    content: next.text.as_deref().map(str::as_bytes),
                    at: origin.now,
                };
                next.row = tx.file_versions().file_announced(&new, &plan.current.digest)?;
                tx.file_versions().set_passages(next.row, &plan.passages.encode())?;
                tx.file_versions().record_file_sources(next.row, &origin.from)?;
            }
            Ok(plans)
        };
        self.0.journal.write("announce a change of a file", job).await
    }

    /// Puts all files in place; `None` if a person saved one of them first.
    pub(super) async fn place_all(
        &self,
        plans: Vec<WritePlan>,
        writing: &Arc<OwnedMutexGuard<()>>,
    ) -> anyhow::Result<Option<Vec<WriteResult>>> {
        // Held by the thread, because the caller may be cancelled while it is still writing.
        let writing = Arc::clone(writing);
        let place = move |workspace: &Workspace| {
            let _writing = writing;
            let (placed, error) = place_each(workspace, &plans);
            Ok((plans, placed, error))
        };
        let (plans, placed, error) = self.on_disk(place).await?;
        let mut done: Vec<FileId> = plans.iter().filter_map(|plan| plan.next.as_ref()).map(|next| next.row).collect();
        let rest = done.split_off(placed.min(done.len()));
        let complete = rest.is_empty();
        // After a disk error the state of the file is unknown: the rows stay open, and the next
        // change or start repeats the work.
        let withdrawn = if error.is_some() { Vec::new() } else { rest };
        if !(done.is_empty() && withdrawn.is_empty()) {
            let conclude = move |tx: Tx<'_>| {
                done.iter().try_for_each(|row| tx.file_versions().file_placed(*row))?;
                withdrawn.iter().try_for_each(|row| tx.file_versions().withdraw_file(*row))
            };
            self.0.journal.write("a changed file stands in its place", conclude).await?;
        }
        for plan in plans.iter().filter(|plan| plan.next.is_some()) {
            self.touched(&plan.current.real_path);
        }
        match error {
            Some(error) => Err(error),
            None => Ok(complete.then(|| plans.into_iter().map(WriteResult::of).collect())),
        }
    }

    /// Reads the present content of the file at that location.
    pub(super) async fn current(&self, location: &str) -> Result<CurrentFile, WriteError> {
        let location = location.to_owned();
        let read = move |workspace: &Workspace| read_current(workspace, &location).map_err(WriteError::from);
        self.on_disk_unless_refused(read).await
    }

    /// Returns the labels of the present content, or `None` if it belongs to another party. Records
    /// an edit by hand as a version.
    pub(super) async fn adopt(
        &self,
        location: &str,
        current: &CurrentFile,
        scope: Scope,
        now: Timestamp,
    ) -> anyhow::Result<Option<Passages>> {
        let (requested_path, real_path, digest) =
            (location.to_owned(), current.real_path.clone(), current.digest.clone());
        let (text, leftover) = (current.text.clone(), current.leftover.clone());
        let query = move |db: Db<'_>| {
            let exists = text.is_some() || leftover.is_some();
            if label::is_elsewhere(db, scope, &requested_path, &real_path)?
                || exists && label::is_written_for_another(db, scope, &requested_path, &real_path)?
            {
                return Ok(None);
            }
            let mut edits = Vec::new();
            if let Some(text) = leftover {
                let digest = page::digest(text.as_bytes());
                let (row, passages) = label::passages_of(db, &requested_path, &real_path, &digest, &text)?;
                edits.extend(row.is_none().then_some(ManualEdit { text: Some(text), digest, passages }));
            }
            let present = text.as_deref().unwrap_or_default();
            let passages = label::passages_of(db, &requested_path, &real_path, &digest, present)?.1;
            if db.file_versions().last_digest_of(&real_path)?.unwrap_or_default() != digest {
                edits.push(ManualEdit { text, digest, passages: passages.clone() });
            }
            Ok(Some((passages, edits)))
        };
        let Some((passages, edits)) = self.0.journal.read(query).await? else { return Ok(None) };
        if !edits.is_empty() {
            let real_path = current.real_path.clone();
            let record = move |tx: Tx<'_>| {
                for edit in &edits {
                    let new = NewFile {
                        path: &real_path,
                        digest: &edit.digest,
                        label: edit.passages.label(),
                        scope,
                        author: Author::Hand.as_str(),
                        cause: "hand",
                        content: edit.text.as_deref().map(str::as_bytes),
                        at: now,
                    };
                    let row = tx.file_versions().file_version_of(&new)?;
                    tx.file_versions().set_passages(row, &edit.passages.encode())?;
                }
                Ok(())
            };
            self.0.journal.write("record a change by hand", record).await?;
        }
        Ok(Some(passages))
    }

    /// Completes pending changes where the disk allows it; returns how many remain. Must be called
    /// at the start, before any read.
    pub async fn finish(&self) -> anyhow::Result<usize> {
        let _writing = Arc::clone(&self.0.writing).lock_owned().await;
        self.finish_open().await
    }

    /// Like [`Self::finish`], for a caller that holds the lock.
    pub(super) async fn finish_open(&self) -> anyhow::Result<usize> {
        let mut remaining = 0;
        for open in self.0.journal.read(|db| db.file_versions().files_to_place()).await? {
            let id = open.id;
            if let Err(error) = self.on_disk(move |workspace| complete(workspace, &open)).await {
                // The row stays open, and does not block changes of other files.
                tracing::warn!(file.id = %id, "Change {id} of a file was cut off, and cannot be made yet: {error:#}");
                remaining += 1;
                continue;
            }
            let job = move |tx: Tx<'_>| tx.file_versions().file_placed(id);
            self.0.journal.write("an open change of a file is over", job).await?;
        }
        Ok(remaining)
    }
}

/// Completes an interrupted change, if the old content is still in place. Blocks.
fn complete(workspace: &Workspace, open: &Unplaced) -> anyhow::Result<()> {
    let (disk, requested) = workspace.disk_of(&open.path);
    let Ok((real_path, bytes)) = disk.read_if_exists(requested, layout::MAX_TEXT_FILE) else { return Ok(()) };
    let digest = bytes.map(|bytes| page::digest(&bytes)).unwrap_or_default();
    let is_erased = open.content.is_none() && !open.digest.is_empty();
    if real_path != requested || digest != open.replaces || is_erased {
        return Ok(());
    }
    if place(workspace, &open.path, &open.replaces, open.content.as_deref())? == ReplaceOutcome::Done {
        workspace.touched(&open.path);
        tracing::info!(file.id = %open.id, "Change {} of a file was cut off, and is made now", open.id);
    }
    Ok(())
}

/// Puts the files in place in their order. Returns how many are done and the error that stopped the
/// next one. Blocks.
fn place_each(workspace: &Workspace, plans: &[WritePlan]) -> (usize, Option<anyhow::Error>) {
    let mut placed = 0;
    for plan in plans {
        let Some(next) = &plan.next else { continue };
        let text = next.text.as_deref().map(str::as_bytes);
        match place(workspace, &plan.current.real_path, &plan.current.digest, text) {
            Ok(ReplaceOutcome::Done) => placed += 1,
            Ok(ReplaceOutcome::Changed) => return (placed, None),
            Err(error) => return (placed, Some(error)),
        }
    }
    (placed, None)
}

/// Writes or deletes a file if the present content still has the digest `base`. Blocks.
fn place(workspace: &Workspace, location: &str, base: &str, new: Option<&[u8]>) -> anyhow::Result<ReplaceOutcome> {
    let (disk, disk_path) = workspace.disk_of(location);
    let (parent, name) = disk_path.rsplit_once('/').unwrap_or(("", disk_path));
    let folder = disk.folder(parent)?;
    if folder.real_path != parent {
        return Ok(ReplaceOutcome::Changed);
    }
    disk.swap(&folder, name, base, new)
}

/// Reads the present content at that location. Blocks.
fn read_current(workspace: &Workspace, location: &str) -> Result<CurrentFile, WriteRefusal> {
    let (disk, requested_path) = workspace.disk_of(location);
    let nothing = || CurrentFile { text: None, digest: String::new(), real_path: location.to_owned(), leftover: None };
    let reached = match disk.seek(requested_path) {
        Ok(reached) => reached,
        Err(error) if disk::is_missing(&error) => return Ok(nothing()),
        Err(_) => return Err(WriteRefusal::Elsewhere),
    };
    let real_path = layout::with_base_of(location, &reached.real_path());
    let leftover = disk::left_over(&reached.folder, &reached.name, layout::MAX_TEXT_FILE);
    let leftover = leftover.and_then(charset::decode);
    let read = match reached.kind {
        PathType::Nothing => return Ok(CurrentFile { real_path, leftover, ..nothing() }),
        PathType::File => disk::open(&reached).and_then(|file| disk::read_up_to(file, layout::MAX_TEXT_FILE)),
        PathType::Folder | PathType::Other => return Err(WriteRefusal::NoText),
    };
    let bytes = read.map_err(|error| {
        tracing::debug!("A file of the workspace cannot be read: {error:#}");
        WriteRefusal::Unreadable(location.to_owned())
    })?;
    let digest = page::digest(&bytes);
    let text = charset::decode(bytes).ok_or(WriteRefusal::NoText)?;
    Ok(CurrentFile { text: Some(text), digest, real_path, leftover })
}

impl WriteResult {
    fn of(plan: WritePlan) -> Self {
        let (version, digest) = match plan.next {
            Some(next) => (Some(next.row), next.digest),
            None => (None, plan.current.digest),
        };
        let (label, is_mixed) = (plan.passages.label().clone(), !plan.passages.is_whole());
        Self { path: plan.current.real_path, version, digest, label, is_mixed }
    }
}

/// Checks that the origin may change the file at that place.
pub(super) fn check_permission(origin: &ChangeOrigin, folder: &str, location: &str) -> Result<(), WriteRefusal> {
    let path = layout::own(folder, location).ok_or(WriteRefusal::Elsewhere)?;
    if layout::is_owner_only(&path) && origin.author == Author::Assistant {
        return Err(WriteRefusal::OwnersHand);
    }
    if layout::is_inbox(&path) && origin.author == Author::Assistant {
        // No version keeps the content of received files: the file is the only copy.
        return Err(WriteRefusal::impossible(says::STAYS_RECEIVED));
    }
    // What they typed or agreed to is known only once the change is.
    let is_theirs = !origin.person.typed.is_empty() || origin.person.consent != Consent::None;
    if layout::is_loaded(&path) && !origin.label.is_trusted() && !is_theirs {
        return Err(WriteRefusal::Untrusted);
    }
    Ok(())
}

/// Adds the file name to the reason where a person needs it, because a change may affect several
/// files.
fn with_file_name(why: WriteRefusal, folder: &str, location: &str) -> WriteRefusal {
    match (why, layout::own(folder, location)) {
        (WriteRefusal::NoText | WriteRefusal::Unreadable(_), Some(path)) if layout::is_loaded(&path) => {
            WriteRefusal::Unreadable(path)
        }
        (WriteRefusal::Unreadable(_), _) => WriteRefusal::NoText,
        (why, _) => why,
    }
}

/// Determines the new content of each file.
fn decide(
    plans: &mut [WritePlan],
    origin: &ChangeOrigin,
    rule: &LabelRule,
    make: &impl Fn(&[Option<&str>]) -> Result<Vec<NewContent>, WriteRefusal>,
) -> Result<(), WriteRefusal> {
    let texts: Vec<Option<&str>> = plans.iter().map(|plan| plan.current.text.as_deref()).collect();
    let new_states = make(&texts)?;
    let old_labels: Vec<Label> = plans.iter().map(|plan| plan.passages.label().clone()).collect();
    for (plan, new) in plans.iter_mut().zip(new_states) {
        let (new, label) = match new {
            NewContent::Moved(text, from) => {
                (NewContent::Text(text), old_labels.get(from).map(|moved| origin.label.join_with(moved)))
            }
            new => (new, None),
        };
        let new_label = label.as_ref().unwrap_or(&origin.label);
        plan.decide(new, &AuthorLines { origin, label: new_label }, rule)?;
    }
    Ok(())
}

impl WritePlan {
    /// Plans that text with those labels.
    pub(super) fn to(current: CurrentFile, passages: Passages, text: String) -> Self {
        let digest = page::digest(text.as_bytes());
        let next = NextVersion { text: Some(text), digest, row: FileId(0) };
        Self { current, passages, taken: Vec::new(), next: Some(next) }
    }

    fn decide(&mut self, new: NewContent, by: &AuthorLines<'_>, rule: &LabelRule) -> Result<(), WriteRefusal> {
        let old = self.current.text.as_deref();
        let is_same = |text: &str| old == Some(text) && *rule == LabelRule::ByLine;
        if old.is_none() && self.current.real_path.chars().any(is_hidden) {
            // In a listing such a name looks like a different one.
            return Err(WriteRefusal::Elsewhere);
        }
        let text = match new {
            NewContent::Text(text) | NewContent::Moved(text, _) if !is_same(&text) => Some(text),
            NewContent::Deleted if old.is_some() => None,
            _ => return Ok(()),
        };
        let passages = self.changed(text.as_deref(), by, rule)?;
        if old == text.as_deref() && passages == self.passages {
            return Ok(());
        }
        // A person's editor knows no limit.
        let limit = match by.origin.cause {
            "hand" => usize::try_from(layout::MAX_TEXT_FILE).unwrap_or(usize::MAX),
            _ => layout::most_bytes(&self.current.real_path),
        };
        let most = limit.max(old.map_or(0, str::len));
        if text.as_ref().is_some_and(|text| text.len() > most) {
            return Err(WriteRefusal::TooLarge(most));
        }
        let taken = self.passages.taken_away(old.unwrap_or_default(), text.as_deref().unwrap_or_default());
        self.taken = taken.into_iter().map(str::to_owned).collect();
        self.passages = passages;
        let digest = text.as_ref().map(|text| page::digest(text.as_bytes())).unwrap_or_default();
        self.next = Some(NextVersion { text, digest, row: FileId(0) });
        Ok(())
    }
}
