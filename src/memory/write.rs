//! The one writer.
//!
//! Whoever changes a file of the tree comes through here. One at a time: the file is read again,
//! what a person made of it meanwhile is recorded as their version, the change is applied to that,
//! and the row with path, hash, label and content is committed before the new file takes the place
//! of the old one. So reading can tell whose words a file holds, and every change can be looked at
//! and taken back. A person who saves in that very instant is seen: their version is recorded, and
//! the change applied to it. Several files that change together are announced in one transaction,
//! and what a power cut leaves undone is done by the next start (`finish`): all of it, or nothing.
//!
//! What decides here is only what holds for every change: it stays in the folder of the party,
//! within the size of its file, no tool writes what is the owner's hand alone, and untrusted words
//! never reach a file that is loaded by itself. Where lines move from one file to another, the
//! label of the one goes along. What a change *means* is for its maker.

use crate::memory::workspace::FileVersions;
use std::sync::Arc;

use tokio::sync::OwnedMutexGuard;

use super::before::Before;
use super::disk::Placed;
use super::workspace::blocking;
use super::{layout, page};
use crate::id::FileId;
use crate::people::Party;
use crate::skill::name::is_hidden;
use crate::store::{NewFile, Node, Tx};
use crate::time::Timestamp;
use crate::trust::Label;
use crate::wording::knowledge as says;

/// How often a change is applied anew because a person saves the same file at the same moment.
const MOST_TRIES: usize = 8;

/// Who changes something, why, and what it grew from.
#[derive(Debug, Clone)]
pub struct ChangeOrigin {
    /// Whose folder it is about.
    pub who: Party,
    /// Where the new words come from.
    pub label: Label,
    /// By whose doing.
    pub author: Author,
    /// In a word: `remember`, `save`, `section`, `facts`, …
    pub cause: &'static str,
    /// What in the journal it grew from.
    pub from: Vec<Node>,
    /// Now.
    pub now: Timestamp,
}

/// By whose doing a file changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// The program's own.
    Program,
    /// The assistant's, with a tool.
    Assistant,
    /// A person's, who told us to.
    Person,
}

impl Author {
    /// The stored word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Assistant => "assistant",
            Self::Person => "person",
        }
    }
}

/// What a file is to become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum New {
    /// These words, whole.
    Text(String),
    /// These words, whole; some of them stood until now in another file of the same change, which
    /// is named by its place among the paths.
    Moved(String, usize),
    /// What it is.
    Same,
    /// Nothing: it goes.
    Gone,
}

/// What came of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Where it really lies, relative to the workspace.
    pub path: String,
    /// The new version; none if nothing changed.
    pub version: Option<FileId>,
    /// SHA-256 of what stands there now; blank if nothing does.
    pub digest: String,
    /// Where its words came from.
    pub label: Label,
}

/// Why a file is not changed, by what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotWritten {
    /// The path is none that could lead into the folder, or leads elsewhere.
    #[error("The path leads out of the folder")]
    Elsewhere,
    /// It was written for somebody else, or is being moved.
    #[error("It was written for somebody else")]
    Foreign,
    /// Only the owner's own hand changes it.
    #[error("Only the owner changes this file, by hand")]
    OwnersHand,
    /// It is loaded by itself, and the words come from outside.
    #[error("Untrusted words do not go into a file that is loaded by itself")]
    Untrusted,
    /// It would be larger than its kind may be.
    #[error("It would be larger than {0} bytes")]
    TooLarge(usize),
    /// What stands there is no text.
    #[error("What stands there is no text")]
    NoText,
    /// A file that is loaded by itself, or has a part in the change, cannot be read as text; which
    /// one, as its owner sees it.
    #[error("{0} cannot be read as text")]
    Unreadable(String),
    /// The maker of the change found that it cannot be made; the sentence says why.
    #[error("{0}")]
    Impossible(String),
}

/// Where the label of a changed file comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LabelSource {
    /// What stood there, and what is new.
    Joined,
    /// What is new alone: it is all that stands there from now on, and known to be.
    Whole,
}

/// A file with what it is to become.
struct WritePlan {
    before: Before,
    label: Label,
    /// `None` if it stays what it is.
    next: Option<NextVersion>,
}

/// What a file is to become, and under which row.
struct NextVersion {
    text: Option<String>,
    digest: String,
    row: FileId,
}

impl FileVersions<'_> {
    /// Changes the file at that path of the party's folder (or of the experience, if it begins with
    /// [`super::EXPERIENCE`]). `make` is given what stands there now, or `None`; it may be asked
    /// again if a person changes the file at the same moment.
    ///
    /// # Errors
    /// If the journal or the disk cannot be used; inside, why the change is not made.
    pub async fn change(
        &self,
        origin: &ChangeOrigin,
        path: &str,
        make: impl Fn(Option<&str>) -> Result<New, NotWritten> + Send + 'static,
    ) -> anyhow::Result<Result<Written, NotWritten>> {
        let all = move |texts: &[Option<&str>]| Ok(vec![make(texts.first().copied().flatten())?]);
        let written = self.change_together(origin, &[path], all).await?;
        Ok(written.and_then(|written| written.into_iter().next().ok_or(NotWritten::Elsewhere)))
    }

    /// Changes several files, all or none of them, in the order of their paths. `make` is given
    /// what stands in each, and says for each what it becomes; asked again, it finds some of them
    /// changed by itself already.
    ///
    /// # Errors
    /// If the journal or the disk cannot be used; inside, why nothing is changed.
    pub async fn change_together(
        &self,
        origin: &ChangeOrigin,
        paths: &[&str],
        make: impl Fn(&[Option<&str>]) -> Result<Vec<New>, NotWritten> + Send + 'static,
    ) -> anyhow::Result<Result<Vec<Written>, NotWritten>> {
        self.change_with(origin, paths, LabelSource::Joined, make).await
    }

    pub(super) async fn change_with(
        &self,
        origin: &ChangeOrigin,
        paths: &[&str],
        words: LabelSource,
        make: impl Fn(&[Option<&str>]) -> Result<Vec<New>, NotWritten> + Send + 'static,
    ) -> anyhow::Result<Result<Vec<Written>, NotWritten>> {
        let folder = self.folder_of(&origin.who).await?;
        let spots: Option<Vec<String>> = paths.iter().map(|path| layout::spot(&folder, path)).collect();
        let Some(spots) = spots else { return Ok(Err(NotWritten::Elsewhere)) };
        let alone = Arc::new(Arc::clone(&self.0.writing).lock_owned().await);
        self.finish_open().await?;
        for _ in 0..MOST_TRIES {
            let mut plans = match self.looked(origin, &folder, &spots).await? {
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

    /// What stands in each file, with the label of its words, once all of them may be changed by
    /// that origin.
    async fn looked(
        &self,
        origin: &ChangeOrigin,
        folder: &str,
        spots: &[String],
    ) -> anyhow::Result<Result<Vec<WritePlan>, NotWritten>> {
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
                return Ok(Err(NotWritten::Foreign));
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

    /// Puts everything in its place; `None` if a person was quicker with one of them.
    async fn place_all(
        &self,
        plans: Vec<WritePlan>,
        alone: &Arc<OwnedMutexGuard<()>>,
    ) -> anyhow::Result<Option<Vec<Written>>> {
        // Goes along, because the caller may be cancelled while this thread is still writing.
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
        // Where the disk failed it is not known what stands: the rows stay open, and the next
        // change or start does it again.
        let taken_back = if error.is_some() { Vec::new() } else { rest };
        self.conclude(done, taken_back).await?;
        for plan in plans.iter().filter(|plan| plan.next.is_some()) {
            self.touched(&plan.before.inside);
        }
        match error {
            Some(error) => Err(error),
            None => Ok(complete.then(|| plans.into_iter().map(Written::of).collect())),
        }
    }

    async fn conclude(&self, done: Vec<(usize, FileId)>, rest: Vec<(usize, FileId)>) -> anyhow::Result<()> {
        if done.is_empty() && rest.is_empty() {
            return Ok(());
        }
        let job = move |tx: Tx<'_>| {
            done.iter().try_for_each(|(_, row)| tx.file_versions().file_placed(*row))?;
            rest.iter().try_for_each(|(_, row)| tx.file_versions().file_taken_back(*row))
        };
        self.0.journal.write("a changed file stands in its place", job).await
    }

    /// How many of the files stand in their places now, in their order, and what kept the next one
    /// from it. Blocks.
    fn place_each(&self, plans: &[WritePlan]) -> (usize, Option<anyhow::Error>) {
        let mut placed = 0;
        for plan in plans {
            let Some(next) = &plan.next else { continue };
            let text = next.text.as_deref().map(str::as_bytes);
            match self.place(&plan.before.inside, &plan.before.digest, text) {
                Ok(Placed::Done) => placed += 1,
                Ok(Placed::Changed) => return (placed, None),
                Err(error) => return (placed, Some(error)),
            }
        }
        (placed, None)
    }

    /// Puts the words there, or takes the file away, if what stands there still has that digest.
    /// Blocks.
    pub(super) fn place(&self, spot: &str, base: &str, new: Option<&[u8]>) -> anyhow::Result<Placed> {
        let (disk, inside) = self.disk_of(spot);
        let (parent, name) = inside.rsplit_once('/').unwrap_or(("", inside));
        let folder = disk.folder(parent)?;
        if folder.inside != parent {
            return Ok(Placed::Changed);
        }
        disk.swap(&folder, name, base, new)
    }
}

impl Written {
    fn of(plan: WritePlan) -> Self {
        let (version, digest) = match plan.next {
            Some(next) => (Some(next.row), next.digest),
            None => (None, plan.before.digest),
        };
        Self { path: plan.before.inside, version, digest, label: plan.label }
    }
}

/// Whether that origin may change the file that lies there.
pub(super) fn may(origin: &ChangeOrigin, folder: &str, spot: &str) -> Result<(), NotWritten> {
    let path = layout::own(folder, spot).ok_or(NotWritten::Elsewhere)?;
    if layout::is_owners_hand(&path) && origin.author == Author::Assistant {
        return Err(NotWritten::OwnersHand);
    }
    if layout::is_inbox(&path) && origin.author == Author::Assistant {
        // Of what came with a message no version keeps the words: its file is all there is.
        return Err(NotWritten::Impossible(says::STAYS_RECEIVED.to_owned()));
    }
    if layout::is_loaded(&path) && !origin.label.is_trusted() {
        return Err(NotWritten::Untrusted);
    }
    Ok(())
}

/// The reason with the name of the file, where a person would have to know it: a change may be
/// about several.
fn named(why: NotWritten, folder: &str, spot: &str) -> NotWritten {
    match (why, layout::own(folder, spot)) {
        (NotWritten::NoText | NotWritten::Unreadable(_), Some(path)) if layout::is_loaded(&path) => {
            NotWritten::Unreadable(path)
        }
        (NotWritten::Unreadable(_), _) => NotWritten::NoText,
        (why, _) => why,
    }
}

/// Fills in what each file is to become.
fn decide(
    plans: &mut [WritePlan],
    origin: &ChangeOrigin,
    words: LabelSource,
    make: &impl Fn(&[Option<&str>]) -> Result<Vec<New>, NotWritten>,
) -> Result<(), NotWritten> {
    let texts: Vec<Option<&str>> = plans.iter().map(|plan| plan.before.text.as_deref()).collect();
    let news = make(&texts)?;
    let vanishes = plans.iter().zip(&news).any(|(plan, new)| *new == New::Gone && plan.label.is_trusted());
    if vanishes && !origin.label.is_trusted() {
        // Words that stand there can carry their label; nothing carries that of a deletion.
        return Err(NotWritten::Impossible(says::NOT_DELETED_FROM_OUTSIDE.to_owned()));
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
    fn decide(&mut self, new: New, new_label: &Label, words: LabelSource) -> Result<(), NotWritten> {
        let stood = self.before.text.as_deref();
        let label = match (stood, words) {
            (Some(_), LabelSource::Joined) => self.label.join_with(new_label),
            _ => new_label.clone(),
        };
        let is_same = |text: &str| stood == Some(text) && (words == LabelSource::Joined || label == self.label);
        if stood.is_none() && self.before.inside.chars().any(is_hidden) {
            // Whoever sees such a name in a list sees another one.
            return Err(NotWritten::Elsewhere);
        }
        let text = match new {
            New::Text(text) | New::Moved(text, _) if !is_same(&text) => Some(text),
            New::Gone if stood.is_some() => None,
            _ => return Ok(()),
        };
        let most = layout::most_bytes(&self.before.inside).max(stood.map_or(0, str::len));
        if text.as_ref().is_some_and(|text| text.len() > most) {
            return Err(NotWritten::TooLarge(most));
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
    tx.file_versions().file_grew_from(next.row, &origin.from)
}
