//! The single writer.
//!
//! Every change to a file of the workspace goes through here, one at a time. The file is read
//! again; an edit that a person made meanwhile is recorded as their version, and the change is
//! applied on top. The row with path, hash, label and content is committed before the new file
//! replaces the old one. So a reader knows where the text of a file comes from, and every change
//! can be inspected and undone. A person's save at the very same moment is noticed: their version
//! is recorded, and the change is applied to it. Several files that change together are announced
//! in one transaction, and the next start completes what a power cut interrupted
//! ([`super::recovery`]): all of it, or nothing.
//!
//! This module checks only what holds for every change: it stays in the party's folder and within
//! the size limit of its file, no tool writes a file that only the owner edits, and untrusted text
//! never reaches a file that is loaded automatically. Where lines move from one file to another,
//! the label of the source goes along. What a change *means* is up to the caller.

use crate::memory::workspace::FileVersions;
use std::sync::Arc;

use tokio::sync::OwnedMutexGuard;

use super::before::Before;
use super::disk::ReplaceOutcome;
use super::workspace::{WriteRefusal, blocking};
use super::{layout, page};
use crate::id::FileId;
use crate::people::Party;
use crate::skill::name::is_hidden;
use crate::store::{NewFile, Node, Tx};
use crate::time::Timestamp;
use crate::trust::Label;
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
    /// Current time.
    pub now: Timestamp,
}

/// Author of a file change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// The program itself.
    Program,
    /// The assistant, with a tool.
    Assistant,
    /// A person, by a command.
    Person,
}

impl Author {
    /// Returns the stored word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Assistant => "assistant",
            Self::Person => "person",
        }
    }
}

/// New state of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum New {
    /// This complete text.
    Text(String),
    /// This complete text, part of which moves here from another file of the same change. That file
    /// is given by its index among the paths.
    Moved(String, usize),
    /// Unchanged.
    Same,
    /// Deleted.
    Gone,
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
}

/// Label of a changed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LabelSource {
    /// The join of the old label and the new one.
    Joined,
    /// The new label alone, because the new text is known to be the whole content.
    Whole,
}

/// A file and its planned change.
struct WritePlan {
    before: Before,
    label: Label,
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
    ///
    /// # Errors
    /// The inner error is the reason for a refusal.
    pub async fn change(
        &self,
        origin: &ChangeOrigin,
        path: &str,
        make: impl Fn(Option<&str>) -> Result<New, WriteRefusal> + Send + 'static,
    ) -> anyhow::Result<Result<WriteResult, WriteRefusal>> {
        let all = move |texts: &[Option<&str>]| Ok(vec![make(texts.first().copied().flatten())?]);
        let written = self.change_together(origin, &[path], all).await?;
        Ok(written.and_then(|written| written.into_iter().next().ok_or(WriteRefusal::Elsewhere)))
    }

    /// Changes several files, all or none, in the order of their paths. `make` gets the current
    /// text of each and returns the new state of each. When it is called again, some files may
    /// already contain its own change.
    ///
    /// # Errors
    /// The inner error is the reason for a refusal.
    pub async fn change_together(
        &self,
        origin: &ChangeOrigin,
        paths: &[&str],
        make: impl Fn(&[Option<&str>]) -> Result<Vec<New>, WriteRefusal> + Send + 'static,
    ) -> anyhow::Result<Result<Vec<WriteResult>, WriteRefusal>> {
        self.change_with(origin, paths, LabelSource::Joined, make).await
    }

    pub(super) async fn change_with(
        &self,
        origin: &ChangeOrigin,
        paths: &[&str],
        words: LabelSource,
        make: impl Fn(&[Option<&str>]) -> Result<Vec<New>, WriteRefusal> + Send + 'static,
    ) -> anyhow::Result<Result<Vec<WriteResult>, WriteRefusal>> {
        let folder = self.folder_of(&origin.who).await?;
        let spots: Option<Vec<String>> = paths.iter().map(|path| layout::spot(&folder, path)).collect();
        let Some(spots) = spots else { return Ok(Err(WriteRefusal::Elsewhere)) };
        let alone = Arc::new(Arc::clone(&self.0.writing).lock_owned().await);
        self.finish_open().await?;
        for _ in 0..MOST_TRIES {
            let mut plans = match self.read_for_change(origin, &folder, &spots).await? {
                Ok(plans) => plans,
                Err(why) => return Ok(Err(why)),
            };
            if let Err(why) = decide(&mut plans, origin, words, &make) {
                return Ok(Err(why));
            }
            let plans = self.announce_all(origin, plans).await?;
            if let Some(written) = self.place_all(plans, &alone).await? {
                return Ok(Ok(written));
            }
        }
        anyhow::bail!("A file of the workspace changes all the time")
    }

    /// Reads each file with its label and checks that the origin may change all of them.
    async fn read_for_change(
        &self,
        origin: &ChangeOrigin,
        folder: &str,
        spots: &[String],
    ) -> anyhow::Result<Result<Vec<WritePlan>, WriteRefusal>> {
        let mut plans = Vec::new();
        for spot in spots {
            let before = match self.before(spot).await? {
                Ok(before) => before,
                Err(why) => return Ok(Err(named(why, folder, spot))),
            };
            for path in [spot.as_str(), before.inside.as_str()] {
                if let Err(why) = may(origin, folder, path) {
                    return Ok(Err(why));
                }
            }
            let Ok(label) = self.adopt(spot, &before, origin.who.scope(), origin.now).await? else {
                return Ok(Err(WriteRefusal::Foreign));
            };
            plans.push(WritePlan { before, label, next: None });
        }
        Ok(Ok(plans))
    }

    async fn announce_all(&self, origin: &ChangeOrigin, mut plans: Vec<WritePlan>) -> anyhow::Result<Vec<WritePlan>> {
        if plans.iter().all(|plan| plan.next.is_none()) {
            return Ok(plans);
        }
        let origin = origin.clone();
        let job = move |tx: Tx<'_>| {
            tx.extractions().ensure_answers_count(&origin.from)?;
            for plan in &mut plans {
                announce(tx, &origin, plan)?;
            }
            Ok(plans)
        };
        self.0.journal.write("announce a change of a file", job).await
    }

    /// Puts all files in place; `None` if a person saved one of them first.
    async fn place_all(
        &self,
        plans: Vec<WritePlan>,
        alone: &Arc<OwnedMutexGuard<()>>,
    ) -> anyhow::Result<Option<Vec<WriteResult>>> {
        // Held by the thread, because the caller may be cancelled while it is still writing.
        let (tree, alone) = (self.tree.clone(), Arc::clone(alone));
        let placing = move || {
            let _alone = alone;
            let (placed, error) = tree.versions().place_each(&plans);
            Ok((plans, placed, error))
        };
        let (plans, placed, error) = blocking(placing).await?;
        let rows = plans.iter().filter_map(|plan| plan.next.as_ref()).map(|next| next.row);
        let (done, rest): (Vec<_>, Vec<_>) = rows.enumerate().partition(|(at, _)| *at < placed);
        let complete = rest.is_empty();
        // After a disk error the state of the file is unknown: the rows stay open, and the next
        // change or start repeats the work.
        let taken_back = if error.is_some() { Vec::new() } else { rest };
        self.conclude(done, taken_back).await?;
        for plan in plans.iter().filter(|plan| plan.next.is_some()) {
            self.touched(&plan.before.inside);
        }
        match error {
            Some(error) => Err(error),
            None => Ok(complete.then(|| plans.into_iter().map(WriteResult::of).collect())),
        }
    }

    async fn conclude(&self, done: Vec<(usize, FileId)>, rest: Vec<(usize, FileId)>) -> anyhow::Result<()> {
        if done.is_empty() && rest.is_empty() {
            return Ok(());
        }
        let job = move |tx: Tx<'_>| {
            done.iter().try_for_each(|(_, row)| tx.file_versions().file_placed(*row))?;
            rest.iter().try_for_each(|(_, row)| tx.file_versions().withdraw_file(*row))
        };
        self.0.journal.write("a changed file stands in its place", job).await
    }

    /// Puts the files in place in their order. Returns how many are done and the error that stopped
    /// the next one. Blocks.
    fn place_each(&self, plans: &[WritePlan]) -> (usize, Option<anyhow::Error>) {
        let mut placed = 0;
        for plan in plans {
            let Some(next) = &plan.next else { continue };
            let text = next.text.as_deref().map(str::as_bytes);
            match self.place(&plan.before.inside, &plan.before.digest, text) {
                Ok(ReplaceOutcome::Done) => placed += 1,
                Ok(ReplaceOutcome::Changed) => return (placed, None),
                Err(error) => return (placed, Some(error)),
            }
        }
        (placed, None)
    }

    /// Writes or deletes a file if the present content still has the digest `base`. Blocks.
    pub(super) fn place(&self, spot: &str, base: &str, new: Option<&[u8]>) -> anyhow::Result<ReplaceOutcome> {
        let (disk, inside) = self.disk_of(spot);
        let (parent, name) = inside.rsplit_once('/').unwrap_or(("", inside));
        let folder = disk.folder(parent)?;
        if folder.inside != parent {
            return Ok(ReplaceOutcome::Changed);
        }
        disk.swap(&folder, name, base, new)
    }
}

impl WriteResult {
    fn of(plan: WritePlan) -> Self {
        let (version, digest) = match plan.next {
            Some(next) => (Some(next.row), next.digest),
            None => (None, plan.before.digest),
        };
        Self { path: plan.before.inside, version, digest, label: plan.label }
    }
}

/// Checks that the origin may change the file at that place.
pub(super) fn may(origin: &ChangeOrigin, folder: &str, spot: &str) -> Result<(), WriteRefusal> {
    let path = layout::own(folder, spot).ok_or(WriteRefusal::Elsewhere)?;
    if layout::is_owner_only(&path) && origin.author == Author::Assistant {
        return Err(WriteRefusal::OwnersHand);
    }
    if layout::is_inbox(&path) && origin.author == Author::Assistant {
        // No version keeps the content of received files: the file is the only copy.
        return Err(WriteRefusal::Impossible(says::STAYS_RECEIVED.to_owned()));
    }
    if layout::is_loaded(&path) && !origin.label.is_trusted() {
        return Err(WriteRefusal::Untrusted);
    }
    Ok(())
}

/// Adds the file name to the reason where a person needs it, because a change may affect several
/// files.
fn named(why: WriteRefusal, folder: &str, spot: &str) -> WriteRefusal {
    match (why, layout::own(folder, spot)) {
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
    words: LabelSource,
    make: &impl Fn(&[Option<&str>]) -> Result<Vec<New>, WriteRefusal>,
) -> Result<(), WriteRefusal> {
    let texts: Vec<Option<&str>> = plans.iter().map(|plan| plan.before.text.as_deref()).collect();
    let news = make(&texts)?;
    let vanishes = plans.iter().zip(&news).any(|(plan, new)| *new == New::Gone && plan.label.is_trusted());
    if vanishes && !origin.label.is_trusted() {
        // Text that stays can carry a label; a deletion cannot.
        return Err(WriteRefusal::Impossible(says::NOT_DELETED_FROM_OUTSIDE.to_owned()));
    }
    let stood: Vec<Label> = plans.iter().map(|plan| plan.label.clone()).collect();
    for (plan, new) in plans.iter_mut().zip(news) {
        let (new, label) = match new {
            New::Moved(text, from) => (New::Text(text), stood.get(from).map(|moved| origin.label.join_with(moved))),
            new => (new, None),
        };
        plan.decide(new, label.as_ref().unwrap_or(&origin.label), words)?;
    }
    Ok(())
}

impl WritePlan {
    fn decide(&mut self, new: New, new_label: &Label, words: LabelSource) -> Result<(), WriteRefusal> {
        let stood = self.before.text.as_deref();
        let label = match (stood, words) {
            (Some(_), LabelSource::Joined) => self.label.join_with(new_label),
            _ => new_label.clone(),
        };
        let is_same = |text: &str| stood == Some(text) && (words == LabelSource::Joined || label == self.label);
        if stood.is_none() && self.before.inside.chars().any(is_hidden) {
            // In a listing such a name looks like a different one.
            return Err(WriteRefusal::Elsewhere);
        }
        let text = match new {
            New::Text(text) | New::Moved(text, _) if !is_same(&text) => Some(text),
            New::Gone if stood.is_some() => None,
            _ => return Ok(()),
        };
        let most = layout::most_bytes(&self.before.inside).max(stood.map_or(0, str::len));
        if text.as_ref().is_some_and(|text| text.len() > most) {
            return Err(WriteRefusal::TooLarge(most));
        }
        self.label = label;
        let digest = text.as_ref().map(|text| page::digest(text.as_bytes())).unwrap_or_default();
        self.next = Some(NextVersion { text, digest, row: FileId(0) });
        Ok(())
    }
}

fn announce(tx: Tx<'_>, origin: &ChangeOrigin, plan: &mut WritePlan) -> anyhow::Result<()> {
    let Some(next) = &mut plan.next else { return Ok(()) };
    let new = NewFile {
        path: &plan.before.inside,
        digest: &next.digest,
        label: &plan.label,
        scope: origin.who.scope(),
        author: origin.author.as_str(),
        cause: origin.cause,
        content: next.text.as_deref().map(str::as_bytes),
        at: origin.now,
    };
    next.row = tx.file_versions().file_announced(&new, &plan.before.digest)?;
    tx.file_versions().record_file_sources(next.row, &origin.from)
}
