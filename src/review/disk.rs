//! The only writer of the skills folder. Replaces one whole skill folder with another, or with
//! none.
//!
//! A [`Swap`] states the expected content and the desired content. Where the filesystem can
//! exchange two folders, either the whole old or the whole new content is in place at every
//! instant; elsewhere the folder is missing between two renames. The old content is compared after
//! it was taken out, so that a last-moment save by a person is noticed and put back: the swap ends
//! as a conflict. If it cannot be put back because a person has created something there meanwhile,
//! the later work stays in place and the earlier one is moved to `.kept/`; neither is lost.
//!
//! [`Disk::swap`] derives every move from the state of the disk ([`plan`]). It can therefore be
//! called again after a power cut at any point, and does nothing for a change that is already
//! complete. Two cases go unnoticed: a program that keeps an old folder open and writes into it
//! after the comparison; and a person who restores exactly the old content before the end of the
//! change is journalled, in which case the change is applied again.
//!
//! Links are never followed and never replaced. Empty folders and permissions within a skill are
//! not part of its content and are not preserved.

mod dir_handles;
mod plan;

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::anyhow;
use dir_handles::{DirEntry, DirHandles, PathContent, SkillDir};
use plan::{Move, PathState, SwapDir, SwapState};

pub(super) use plan::SwapOutcome;

use crate::skill::{Digest, SkillFolder, name};

/// The maximum number of moves in one swap. Fewer than ten are needed unless a person keeps
/// changing the folder.
const MOST_MOVES: usize = 32;

/// Called with the name of every disk step before it is made; a returned error is treated as the
/// system's. For tests of power cuts and full disks.
#[derive(Clone)]
pub struct DiskFailpoint(pub Arc<dyn Fn(&'static str) -> io::Result<()> + Send + Sync>);

impl fmt::Debug for DiskFailpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DiskFailpoint")
    }
}

/// The skills folder. All methods block, and only one change is made at a time.
#[derive(Debug)]
pub(super) struct Disk {
    dir: PathBuf,
    failpoint: Option<DiskFailpoint>,
    /// Simulates a filesystem that only has the plain rename.
    plain: bool,
}

/// One change of the folder.
#[derive(Debug, Clone, Copy)]
pub(super) struct Swap<'a> {
    /// The id of the journal row that holds the intention.
    pub id: i64,
    /// The name of the skill's folder.
    pub name: &'a str,
    /// The expected content; `None` if the folder must not exist.
    pub base: Option<&'a Digest>,
    /// The desired content; `None` to remove the folder.
    pub content: Option<&'a SkillFolder>,
}

/// The reason why a swap did not finish. It can be called again.
#[derive(Debug, thiserror::Error)]
pub(super) enum SwapError {
    /// The disk is full; the swap continues once there is space.
    #[error("The disk is full")]
    Full,
    /// The folder is not writable; the swap continues once it is.
    #[error("The skills folder cannot be written")]
    ReadOnly,
    /// Any other error.
    #[error(transparent)]
    Other(#[from] anyhow::Error),
}

impl From<io::Error> for SwapError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::Full,
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => Self::ReadOnly,
            _ => Self::Other(error.into()),
        }
    }
}

impl Disk {
    /// Creates a handle on the folder at this path, which need not exist yet.
    pub(super) fn new(dir: PathBuf, failpoint: Option<DiskFailpoint>) -> Self {
        Self { dir, failpoint, plain: false }
    }

    /// Returns the present content of the skill's folder; `None` if there is no folder.
    ///
    /// # Errors
    /// If it is not a folder that a skill can be, or cannot be read.
    pub(super) fn present_content(&self, name: &str) -> anyhow::Result<Option<SkillFolder>> {
        check(name)?;
        match dir_handles::content_at(&self.dir.join(name))? {
            PathContent::Nothing => Ok(None),
            PathContent::Folder(folder) => Ok(Some(folder)),
            PathContent::Foreign(why) => Err(why.into()),
        }
    }

    /// Makes a change, or continues one that was begun.
    ///
    /// # Errors
    /// If the disk prevents it. The call can be repeated, and nothing is lost until then.
    pub(super) fn swap(&self, swap: &Swap<'_>) -> Result<SwapOutcome, SwapError> {
        check(swap.name)?;
        let dirs = DirHandles::open(&self.dir, self.failpoint.as_ref(), self.plain)?;
        for kind in [StagedKind::Part, StagedKind::Gone] {
            tidy(&dirs, swap.id, &kind.entry(swap.id, swap.name).name);
        }
        SwapInProgress { dirs, swap, goal: swap.content.map(SkillFolder::digest), exchange: true }.run()
    }

    /// Removes the remains of changes that are not open. Called before a new change is intended, so
    /// that no id is reused while remains with that id exist.
    ///
    /// # Errors
    /// If the disk prevents it. Nothing is lost.
    pub(super) fn recover(&self, open: &[i64]) -> Result<(), SwapError> {
        if !DirHandles::is_used(&self.dir) {
            return Ok(());
        }
        recover(&DirHandles::open(&self.dir, self.failpoint.as_ref(), self.plain)?, open)
    }
}

/// A swap in progress.
struct SwapInProgress<'a> {
    dirs: DirHandles<'a>,
    swap: &'a Swap<'a>,
    goal: Option<Digest>,
    exchange: bool,
}

impl SwapInProgress<'_> {
    fn run(mut self) -> Result<SwapOutcome, SwapError> {
        for _ in 0..MOST_MOVES {
            let state = self.state()?;
            match state.next() {
                Move::End(outcome) => return self.end(state, outcome),
                Move::Write => self.write()?,
                Move::Rename(from, to) => self.rename(from, to)?,
                Move::Exchange => self.exchange()?,
            }
        }
        Err(SwapError::Other(anyhow!("The folder of a skill changes all the time")))
    }

    fn state(&self) -> Result<SwapState, SwapError> {
        Ok(SwapState {
            target: self.path_state(SwapDir::Target)?,
            old: self.path_state(SwapDir::Old)?,
            new: self.path_state(SwapDir::New)?,
            from: if self.swap.base.is_some() { PathState::Base } else { PathState::Nothing },
            to: if self.goal.is_some() { PathState::Goal } else { PathState::Nothing },
            exchange: self.exchange,
        })
    }

    fn path_state(&self, dir: SwapDir) -> Result<PathState, SwapError> {
        Ok(match self.dirs.content(&self.entry(dir))? {
            PathContent::Nothing => PathState::Nothing,
            PathContent::Foreign(_) => PathState::Other,
            PathContent::Folder(folder) => {
                let digest = Some(folder.digest());
                if digest == self.goal {
                    PathState::Goal
                } else if digest.as_ref() == self.swap.base {
                    PathState::Base
                } else {
                    PathState::Other
                }
            }
        })
    }

    /// Writes the new content. It gets its name only once it is complete, on disk, and identical
    /// when read back: some filesystems alter names.
    fn write(&self) -> Result<(), SwapError> {
        let Some(content) = self.swap.content else { return Ok(()) };
        let part = StagedKind::Part.entry(self.swap.id, self.swap.name);
        if let Err(error) = self.dirs.write(content, &part.name) {
            // Frees the space again; any remains are removed next time.
            tidy(&self.dirs, self.swap.id, &part.name);
            return Err(error.into());
        }
        if !matches!(self.dirs.content(&part)?, PathContent::Folder(written) if written == *content) {
            return Err(SwapError::Other(anyhow!("The filesystem does not keep the files of a skill as they are")));
        }
        Ok(self.dirs.rename("name the new folder", &part, &self.entry(SwapDir::New))?)
    }

    fn rename(&self, from: SwapDir, to: SwapDir) -> Result<(), SwapError> {
        let step = match (from, to) {
            (SwapDir::New, SwapDir::Target) => "put in place",
            (SwapDir::Target, _) => "take out",
            (_, SwapDir::Target) => "put back",
            _ => "hold",
        };
        ignore_concurrent_change(self.dirs.rename(step, &self.entry(from), &self.entry(to)))
    }

    fn exchange(&mut self) -> Result<(), SwapError> {
        match self.dirs.exchange(&self.entry(SwapDir::New), &self.entry(SwapDir::Target)) {
            Err(error) if dir_handles::is_unsupported(&error) => {
                self.exchange = false;
                Ok(())
            }
            other => ignore_concurrent_change(other),
        }
    }

    fn end(&self, state: SwapState, outcome: SwapOutcome) -> Result<SwapOutcome, SwapError> {
        for (dir, seen) in [(SwapDir::Old, state.old), (SwapDir::New, state.new)] {
            let (id, name, entry) = (self.swap.id, self.swap.name, self.entry(dir));
            match seen {
                PathState::Nothing => {}
                seen if outcome.discards(seen) => discard(&self.dirs, id, name, &entry)?,
                _ => preserve(&self.dirs, id, name, &entry)?,
            }
        }
        self.dirs.reached("end")?;
        Ok(outcome)
    }

    fn entry(&self, dir: SwapDir) -> DirEntry {
        match dir {
            SwapDir::Target => DirEntry { handle: SkillDir::Skills, name: self.swap.name.to_owned() },
            SwapDir::Old => StagedKind::Old.entry(self.swap.id, self.swap.name),
            SwapDir::New => StagedKind::New.entry(self.swap.id, self.swap.name),
        }
    }
}

/// The kind of an entry in the staging folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
enum StagedKind {
    /// New content that is being written.
    Part,
    /// The complete new content; or, after an exchange, the old content.
    New,
    /// The old content, which may turn out to be a person's work.
    Old,
    /// Content that may be removed, perhaps already partly removed.
    Gone,
}

impl StagedKind {
    fn entry(self, id: i64, skill: &str) -> DirEntry {
        DirEntry { handle: SkillDir::Staging, name: format!("{id}-{self}-{skill}") }
    }
}

/// Removes content that is not needed. Renames it first, so that a partly removed folder is never
/// taken for a person's work.
fn discard(dirs: &DirHandles<'_>, id: i64, skill: &str, entry: &DirEntry) -> io::Result<()> {
    let discarded = StagedKind::Gone.entry(id, skill);
    dirs.rename("discard", entry, &discarded)?;
    tidy(dirs, id, &discarded.name);
    Ok(())
}

/// Removes content that is not needed. If that fails, the remains do no harm, and the next start
/// tries again.
fn tidy(dirs: &DirHandles<'_>, id: i64, name: &str) {
    if let Err(error) = dirs.remove(name) {
        tracing::warn!(change.id = id, "Cannot clear up after change {id} of a skill: {}", error.kind());
    }
}

fn preserve(dirs: &DirHandles<'_>, id: i64, skill: &str, entry: &DirEntry) -> io::Result<()> {
    dirs.preserve(entry, &format!("{skill}-{id}"))?;
    tracing::warn!(change.id = id, "A person's work was in the way of change {id} of a skill, and is in .kept now");
    Ok(())
}

/// Ignores errors caused by a person's concurrent change: the next look sees the new state.
fn ignore_concurrent_change(result: io::Result<()>) -> Result<(), SwapError> {
    use ErrorKind::{AlreadyExists, DirectoryNotEmpty, IsADirectory, NotADirectory, NotFound};
    let concurrent = [AlreadyExists, DirectoryNotEmpty, IsADirectory, NotADirectory, NotFound];
    match result {
        Err(error) if concurrent.contains(&error.kind()) => Ok(()),
        other => Ok(other?),
    }
}

/// Validates a name from the journal or a proposal. Names are checked earlier too.
fn check(name: &str) -> anyhow::Result<()> {
    anyhow::ensure!(is_name(name), "That cannot be the folder of a skill");
    Ok(())
}

/// Returns whether a folder of this name can be a skill.
pub(super) fn is_name(name: &str) -> bool {
    name::is_plain(name) && !name.starts_with('.') && !name.contains('/')
}

/// One parsed entry of the staging folder.
struct Leftover<'a> {
    id: i64,
    kind: StagedKind,
    skill: &'a str,
    entry: DirEntry,
}

/// Cleans the staging folder of remains of changes that will not be continued, after a restored
/// backup or an abandoned change.
///
/// Everything that no open change needs is removed, except the only copy of a text that may be a
/// person's: old content goes back to its place if that is free, and is otherwise set aside unless
/// the same content is there. New content is never put in place, since an intention that no longer
/// exists was perhaps never approved. Entries with unknown names are left alone.
fn recover(dirs: &DirHandles<'_>, open: &[i64]) -> Result<(), SwapError> {
    for name in dirs.staged()? {
        match Leftover::parse(&name) {
            Some(leftover) if !open.contains(&leftover.id) => leftover.clear(dirs)?,
            _ => {}
        }
    }
    Ok(())
}

impl<'a> Leftover<'a> {
    fn parse(name: &'a str) -> Option<Self> {
        let mut parts = name.splitn(3, '-');
        let id = parts.next()?.parse().ok()?;
        let kind = parts.next()?.parse().ok()?;
        let skill = parts.next().filter(|skill| is_name(skill))?;
        Some(Self { id, kind, skill, entry: DirEntry { handle: SkillDir::Staging, name: name.to_owned() } })
    }

    fn clear(&self, dirs: &DirHandles<'_>) -> Result<(), SwapError> {
        if matches!(self.kind, StagedKind::Part | StagedKind::Gone) {
            tidy(dirs, self.id, &self.entry.name);
            return Ok(());
        }
        let target = DirEntry { handle: SkillDir::Skills, name: self.skill.to_owned() };
        match (dirs.content(&target)?, dirs.content(&self.entry)?) {
            (PathContent::Nothing, _) if self.kind == StagedKind::Old => {
                dirs.rename("put back", &self.entry, &target)?
            }
            (PathContent::Folder(there), PathContent::Folder(here)) if there == here => {
                discard(dirs, self.id, self.skill, &self.entry)?;
            }
            _ => preserve(dirs, self.id, self.skill, &self.entry)?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
