//! The one writer of the skills folder: puts one whole folder in the place of another, or nothing.
//!
//! A [`Swap`] says what must lie there and what shall lie there. Where the filesystem can exchange
//! two folders there is the whole old or the whole new content at every instant; elsewhere there is
//! nothing for the time between two renames. The old content is compared after it was taken out, so
//! what a person saved at the last moment is seen, and put back: the swap ends as a conflict. Where
//! it cannot go back because a person has put something else there meanwhile, the later work stays
//! where it is and the earlier one is moved to `.kept/`; neither is lost.
//!
//! [`Disk::swap`] decides every move from what lies on the disk ([`plan`]). So it can be called
//! again after a power cut at any point, and for a change that is made already it does nothing.
//! What it cannot see is a program that keeps an old folder open and writes into it after it was
//! compared, and a person who restores exactly the old content before the end of the change is
//! journalled: that change is made again.
//!
//! Links are never followed and never replaced. Empty folders and permissions within a skill are
//! not part of its content, and are not kept.

mod dir_handles;
mod plan;
mod recover;

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::anyhow;

use crate::skill::{Digest, SkillFolder, name};
use dir_handles::{Ground, Lies, SkillDir, Spot};
use plan::{Ending, Move, PathState, Scene, SwapDir};

/// The most moves of one swap. Without a person who changes the folder all the time, fewer than ten
/// are made.
const MOST_MOVES: usize = 32;

/// Is told the name of every step on the disk before it is made; an error is taken for the
/// system's. For tests of power cuts and full disks.
#[derive(Clone)]
pub struct DiskFailpoint(pub Arc<dyn Fn(&'static str) -> io::Result<()> + Send + Sync>);

impl fmt::Debug for DiskFailpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DiskFailpoint")
    }
}

/// The skills folder. All of it blocks, and one change is made at a time.
#[derive(Debug)]
pub(super) struct Disk {
    dir: PathBuf,
    failpoint: Option<DiskFailpoint>,
    /// Taken for a filesystem that has nothing but the plain rename.
    plain: bool,
}

/// One change of the folder.
#[derive(Debug, Clone, Copy)]
pub(super) struct Swap<'a> {
    /// The row of the journal that intends it.
    pub id: i64,
    /// Whose folder.
    pub name: &'a str,
    /// What must lie there; `None` if nothing may.
    pub base: Option<&'a Digest>,
    /// What shall lie there; `None` for nothing.
    pub content: Option<&'a SkillFolder>,
}

/// How a swap ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SwapOutcome {
    /// The content was put there.
    Done,
    /// Something else lay there, and was kept.
    Conflict,
}

/// Why a swap did not end. It can be called again.
#[derive(Debug, thiserror::Error)]
pub(super) enum SwapError {
    /// There is no room: once there is, it goes on.
    #[error("The disk is full")]
    Full,
    /// The folder may not be written: once it may, it goes on.
    #[error("The skills folder cannot be written")]
    ReadOnly,
    /// Anything else.
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
    /// The folder at that path, which need not exist yet.
    pub(super) fn new(dir: PathBuf, failpoint: Option<DiskFailpoint>) -> Self {
        Self { dir, failpoint, plain: false }
    }

    /// What lies in the folder of that skill; `None` if nothing does.
    ///
    /// # Errors
    /// If it is no folder that a skill can be, or cannot be read.
    pub(super) fn lying(&self, name: &str) -> anyhow::Result<Option<SkillFolder>> {
        check(name)?;
        match dir_handles::look(&self.dir.join(name))? {
            Lies::Nothing => Ok(None),
            Lies::Folder(folder) => Ok(Some(folder)),
            Lies::Foreign(why) => Err(why.into()),
        }
    }

    /// Makes a change, or goes on with one that was begun.
    ///
    /// # Errors
    /// If the disk does not let it. Then it can be called again, and nothing is lost until then.
    pub(super) fn swap(&self, swap: &Swap<'_>) -> Result<SwapOutcome, SwapError> {
        check(swap.name)?;
        let ground = Ground::open(&self.dir, self.failpoint.as_ref(), self.plain)?;
        for kind in [StagedKind::Part, StagedKind::Gone] {
            tidy(&ground, swap.id, &kind.spot(swap.id, swap.name).name);
        }
        Work { ground, swap, goal: swap.content.map(SkillFolder::digest), exchange: true }.run()
    }

    /// Clears what changes have left that are not among the open ones. Called before anything new
    /// is intended, so that no number is used again while something with that number is left.
    ///
    /// # Errors
    /// If the disk does not let it. Nothing is lost.
    pub(super) fn recover(&self, open: &[i64]) -> Result<(), SwapError> {
        if !Ground::is_used(&self.dir) {
            return Ok(());
        }
        recover::recover(&Ground::open(&self.dir, self.failpoint.as_ref(), self.plain)?, open)
    }
}

/// One swap while it is made.
struct Work<'a> {
    ground: Ground<'a>,
    swap: &'a Swap<'a>,
    goal: Option<Digest>,
    exchange: bool,
}

impl Work<'_> {
    fn run(mut self) -> Result<SwapOutcome, SwapError> {
        for _ in 0..MOST_MOVES {
            let scene = self.scene()?;
            match scene.next() {
                Move::End(ending) => return self.end(scene, ending),
                Move::Write => self.write()?,
                Move::Rename(from, to) => self.rename(from, to)?,
                Move::Exchange => self.exchange()?,
            }
        }
        Err(SwapError::Other(anyhow!("The folder of a skill changes all the time")))
    }

    fn scene(&self) -> Result<Scene, SwapError> {
        Ok(Scene {
            target: self.look(SwapDir::Target)?,
            old: self.look(SwapDir::Old)?,
            new: self.look(SwapDir::New)?,
            from: if self.swap.base.is_some() { PathState::Base } else { PathState::Nothing },
            to: if self.goal.is_some() { PathState::Goal } else { PathState::Nothing },
            exchange: self.exchange,
        })
    }

    fn look(&self, place: SwapDir) -> Result<PathState, SwapError> {
        Ok(match self.ground.look(&self.spot(place))? {
            Lies::Nothing => PathState::Nothing,
            Lies::Foreign(_) => PathState::Other,
            Lies::Folder(folder) => {
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

    /// The new content gets its name once it is whole, on the disk, and the same when it is read
    /// back: some filesystems change names.
    fn write(&self) -> Result<(), SwapError> {
        let Some(content) = self.swap.content else { return Ok(()) };
        let part = StagedKind::Part.spot(self.swap.id, self.swap.name);
        if let Err(error) = self.ground.write(content, &part.name) {
            // Makes room again; what is left all the same is removed the next time.
            tidy(&self.ground, self.swap.id, &part.name);
            return Err(error.into());
        }
        if !matches!(self.ground.look(&part)?, Lies::Folder(written) if written == *content) {
            return Err(SwapError::Other(anyhow!("The filesystem does not keep the files of a skill as they are")));
        }
        Ok(self.ground.rename("name the new folder", &part, &self.spot(SwapDir::New))?)
    }

    fn rename(&self, from: SwapDir, to: SwapDir) -> Result<(), SwapError> {
        let step = match (from, to) {
            (SwapDir::New, SwapDir::Target) => "put in place",
            (SwapDir::Target, _) => "take out",
            (_, SwapDir::Target) => "put back",
            _ => "hold",
        };
        looked_away(self.ground.rename(step, &self.spot(from), &self.spot(to)))
    }

    fn exchange(&mut self) -> Result<(), SwapError> {
        match self.ground.exchange(&self.spot(SwapDir::New), &self.spot(SwapDir::Target)) {
            Err(error) if dir_handles::is_unsupported(&error) => {
                self.exchange = false;
                Ok(())
            }
            other => looked_away(other),
        }
    }

    fn end(&self, scene: Scene, ending: Ending) -> Result<SwapOutcome, SwapError> {
        for (place, seen) in [(SwapDir::Old, scene.old), (SwapDir::New, scene.new)] {
            let (id, name, spot) = (self.swap.id, self.swap.name, self.spot(place));
            match seen {
                PathState::Nothing => {}
                seen if ending.discards(seen) => discard(&self.ground, id, name, &spot)?,
                _ => set_aside(&self.ground, id, name, &spot)?,
            }
        }
        self.ground.reached("end")?;
        Ok(match ending {
            Ending::Done => SwapOutcome::Done,
            Ending::Conflict => SwapOutcome::Conflict,
        })
    }

    fn spot(&self, place: SwapDir) -> Spot {
        match place {
            SwapDir::Target => Spot { room: SkillDir::Skills, name: self.swap.name.to_owned() },
            SwapDir::Old => StagedKind::Old.spot(self.swap.id, self.swap.name),
            SwapDir::New => StagedKind::New.spot(self.swap.id, self.swap.name),
        }
    }
}

/// What an entry of the staging folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StagedKind {
    /// A new content that is being written.
    Part,
    /// The new content, whole; or the old one, after an exchange.
    New,
    /// The old content, which may turn out to be a person's work.
    Old,
    /// What may be removed, and perhaps is in part.
    Gone,
}

impl StagedKind {
    fn parse(word: &str) -> Option<Self> {
        [Self::Part, Self::New, Self::Old, Self::Gone].into_iter().find(|kind| kind.word() == word)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Part => "part",
            Self::New => "new",
            Self::Old => "old",
            Self::Gone => "gone",
        }
    }

    fn spot(self, id: i64, skill: &str) -> Spot {
        Spot { room: SkillDir::Staging, name: format!("{id}-{}-{skill}", self.word()) }
    }
}

/// Removes a content that is not needed. It loses its name first, so that half a folder is never
/// taken for a work.
fn discard(ground: &Ground<'_>, id: i64, skill: &str, spot: &Spot) -> io::Result<()> {
    let gone = StagedKind::Gone.spot(id, skill);
    ground.rename("discard", spot, &gone)?;
    tidy(ground, id, &gone.name);
    Ok(())
}

/// Removes what nobody needs. What cannot be removed stands in nobody's way, and is tried again at
/// the next start.
fn tidy(ground: &Ground<'_>, id: i64, name: &str) {
    if let Err(error) = ground.remove(name) {
        tracing::warn!(change.id = id, "Cannot clear up after change {id} of a skill: {}", error.kind());
    }
}

fn set_aside(ground: &Ground<'_>, id: i64, skill: &str, spot: &Spot) -> io::Result<()> {
    ground.set_aside(spot, &format!("{skill}-{id}"))?;
    tracing::warn!(change.id = id, "A person's work was in the way of change {id} of a skill, and is in .kept now");
    Ok(())
}

/// A person was quicker: the next look sees it.
fn looked_away(result: io::Result<()>) -> Result<(), SwapError> {
    use ErrorKind::{AlreadyExists, DirectoryNotEmpty, IsADirectory, NotADirectory, NotFound};
    let quicker = [AlreadyExists, DirectoryNotEmpty, IsADirectory, NotADirectory, NotFound];
    match result {
        Err(error) if quicker.contains(&error.kind()) => Ok(()),
        other => Ok(other?),
    }
}

/// Names come from a journal and from proposals; checked before, and here again.
fn check(name: &str) -> anyhow::Result<()> {
    anyhow::ensure!(is_name(name), "That cannot be the folder of a skill");
    Ok(())
}

/// Whether a folder of that name can be a skill.
pub(super) fn is_name(name: &str) -> bool {
    name::is_plain(name) && !name.starts_with('.') && !name.contains('/')
}

#[cfg(test)]
mod tests;
