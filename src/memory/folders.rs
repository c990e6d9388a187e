//! Hand-over of the workspace root.
//!
//! Its row precedes the first rename on the disk. Every rename can be repeated, and the paths in the
//! journal follow in one transaction once all files are in their new places. So after a power cut
//! at any point [`WorkspaceFolders::settle_folders`] completes the hand-over before the first read. While the row exists, `folder_of` returns none of the folders affected by it. No
//! file is copied or read. If a person creates a conflicting file meanwhile, it is kept under a
//! free name.
//!
//! A hand-over swaps locations, never contents: the files of the previous owner move to a folder of
//! their own, those of the new owner to the root, and every version keeps the scope it was written
//! for.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use anyhow::Context;
use rustix::io::Errno;

use super::disk::{self, Disk};
use super::layout;
use super::path_walk::OpenFolder;
use super::workspace::{Workspace, WorkspaceError, WorkspaceFolders};
use crate::id::PersonId;
use crate::people::Party;
pub use crate::store::HandOverRefusal;
use crate::store::{Db, FolderMove, MoveState, Tx};
use crate::trust::Scope;

/// Number of alternative names tried on a conflict.
const MOST_NAMES: usize = 99;

/// Called after each step that a power cut may follow; an error simulates one. Does nothing outside
/// of tests.
pub(super) type MoveHook<'s> = &'s (dyn Fn() -> anyhow::Result<()> + Send + Sync);

/// Plan or result of a hand-over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandOverResult {
    /// Previous owner of the root.
    pub from: PersonId,
    /// New folder of the previous owner.
    pub from_folder: String,
    /// Previous folder of the new owner.
    pub new_owner_folder: String,
}

/// Error of a hand-over.
pub type HandOverError = WorkspaceError<HandOverRefusal>;

impl From<HandOverRefusal> for HandOverError {
    fn from(why: HandOverRefusal) -> Self {
        Self::Refused(why)
    }
}

impl WorkspaceFolders<'_> {
    /// Fixes the location of files: stores the owner of the root, and completes an open hand-over.
    /// Must be called at the start, before any read.
    pub async fn settle_folders(&self) -> anyhow::Result<()> {
        self.settle_folders_in_steps(&|| Ok(())).await
    }

    pub(super) async fn settle_folders_in_steps(&self, step: MoveHook<'_>) -> anyhow::Result<()> {
        let _writing = self.0.writing.lock().await;
        let _moving = self.0.moving.write().await;
        let moves = self.0.journal.read(|db| db.folders().folder_moves()).await?;
        if self.0.journal.read(|db| db.folders().workspace_owner()).await?.is_none() {
            self.0.journal.write("settle whose the root is", |tx| tx.folders().settle_workspace_owner()).await?;
        }
        for open in moves {
            self.carry_out(open, step).await?;
        }
        Ok(())
    }

    /// Plans a hand-over to that person without changing anything.
    pub async fn plan_hand_over(&self, new_owner: &Party) -> Result<HandOverResult, HandOverError> {
        let new_owner_folder = self.folder_of(new_owner).await?;
        let from = self.0.journal.read(|db| db.folders().workspace_owner()).await?;
        let from = from.ok_or(HandOverRefusal::NoOwner)?;
        if new_owner_folder.is_empty() {
            return Err(HandOverRefusal::Same.into());
        }
        let query = move |db: Db<'_>| Ok((db.folders().stored_folder(from)?, db.folders().name_once_of(from)?));
        let (stored, name) = self.0.journal.read(query).await?;
        let name = layout::folder_name(from, &name.unwrap_or_default());
        self.on_disk_unless_refused(move |workspace| {
            let folders = workspace.folders();
            for folder in ["", &new_owner_folder] {
                if let Some(path) = folders.unmovable_in(folder)? {
                    return Err(HandOverError::Refused(HandOverRefusal::Unmovable(path)));
                }
            }
            // A folder that exists was not in use, and stays separate.
            let is_free = !stored.is_empty() && !folders.is_there(&stored);
            let from_folder = if is_free { stored } else { folders.free_folder(&name)? };
            Ok(HandOverResult { from, from_folder, new_owner_folder })
        })
        .await
    }

    /// Gives the root to that person. If it fails, the next start resumes the hand-over.
    pub async fn hand_over(&self, new_owner: &Party) -> Result<HandOverResult, HandOverError> {
        self.hand_over_in_steps(new_owner, &|| Ok(())).await
    }

    pub(super) async fn hand_over_in_steps(
        &self,
        new_owner: &Party,
        step: MoveHook<'_>,
    ) -> Result<HandOverResult, HandOverError> {
        let plan = self.plan_hand_over(new_owner).await?;
        // An erasure takes long, so it is not waited for; a single file change is.
        let Ok(_erasure) = Arc::clone(&self.0.erasure).try_lock_owned() else {
            return Err(HandOverRefusal::Busy.into());
        };
        let _writing = self.0.writing.lock().await;
        let _moving = self.0.moving.write().await;
        if self.versions().finish_open().await? > 0 {
            return Err(HandOverRefusal::Busy.into());
        }
        let Scope::Person(id) = new_owner.scope() else { return Err(HandOverRefusal::NotAnOwner.into()) };
        let (target, source) = (plan.from_folder.clone(), plan.new_owner_folder.clone());
        let begin = move |tx: Tx<'_>| tx.folders().begin_hand_over(id, &source, &target);
        let started = self.0.journal.write("begin to hand the root over", begin).await;
        let started = started.map_err(|error| match error.downcast() {
            Ok(refusal) => HandOverError::Refused(refusal),
            Err(error) => error.into(),
        })?;
        step()?;
        self.carry_out(started, step).await?;
        Ok(plan)
    }

    /// Moves the files of two people to each other's places, and resumes after an interruption.
    pub(super) async fn carry_out(&self, mut open: FolderMove, step: MoveHook<'_>) -> anyhow::Result<()> {
        if open.state != MoveState::Cleared {
            for experience in [false, true] {
                self.move_one_by_one(experience, "", &open.target, step).await?;
            }
            let id = open.id;
            self.0.journal.write("the root is cleared", move |tx| tx.folders().root_cleared(id)).await?;
            step()?;
            open.state = MoveState::Cleared;
        }
        for experience in [false, true] {
            self.move_one_by_one(experience, &open.source, "", step).await?;
        }
        let done = move |tx: Tx<'_>| {
            let moved =
                |path: &str| layout::moved(path, "", &open.target).or_else(|| layout::moved(path, &open.source, ""));
            tx.folders().hand_over_done(&open, &moved)
        };
        self.0.journal.write("the root has changed hands", done).await?;
        step()
    }

    async fn move_one_by_one(&self, experience: bool, from: &str, to: &str, step: MoveHook<'_>) -> anyhow::Result<()> {
        loop {
            let (source, target) = (from.to_owned(), to.to_owned());
            let move_next = move |workspace: &Workspace| {
                let disk = if experience { &workspace.0.experience } else { &workspace.0.disk };
                move_next(disk, &source, &target, !experience)
            };
            if !self.on_disk(move_next).await? {
                return Ok(());
            }
            step()?;
        }
    }

    /// Returns true if the folder exists in or next to the workspace. Blocks.
    pub fn is_there(&self, folder: &str) -> bool {
        [&self.0.disk, &self.0.experience].iter().any(|disk| disk.unchecked(folder).symlink_metadata().is_ok())
    }

    /// Returns that folder name, or the first free variant of it. Blocks.
    pub(super) fn free_folder(&self, name: &str) -> anyhow::Result<String> {
        names_like(name).find(|name| !self.is_there(name)).context("There are too many folders of that name")
    }

    /// Returns a top-level entry of a folder that is neither file nor folder, such as a link: the
    /// target of a link changes when folders are moved. Blocks.
    pub(super) fn unmovable_in(&self, folder: &str) -> anyhow::Result<Option<String>> {
        for disk in [&self.0.disk, &self.0.experience] {
            for entry in std::fs::read_dir(disk.unchecked(folder)).into_iter().flatten() {
                let (entry, kind) = entry.and_then(|entry| Ok((entry.file_name(), entry.file_type()?)))?;
                let name = entry.to_string_lossy();
                let is_text = entry.to_str().is_some();
                let is_of_others = folder.is_empty() && layout::is_of_others(&name);
                if !(name.starts_with('.') || is_of_others) && !(is_text && (kind.is_file() || kind.is_dir())) {
                    return Ok(Some(layout::within(folder, &name)));
                }
            }
        }
        Ok(None)
    }
}

/// Moves one top-level entry from one folder to another; false if none is left. Blocks.
fn move_next(disk: &Disk, from: &str, to: &str, has_shared: bool) -> anyhow::Result<bool> {
    let is_there = disk.unchecked(from).symlink_metadata().is_ok();
    let entries = if is_there { disk.list(from)? } else { Vec::new() };
    let Some(next) = entries.into_iter().find(|entry| belongs_to_owner(from, &entry.name, has_shared)) else {
        if !from.is_empty() {
            // Hidden files may remain in it.
            let _ = std::fs::remove_dir(disk.unchecked(from));
        }
        return Ok(false);
    };
    let (source, target) = (disk.folder(from)?, disk.folder(to)?);
    let has_conflict = disk::exists(&target, &next.name);
    if has_conflict && to.is_empty() {
        // The root was empty: a person has put a file there since.
        let free = free_name(&target, &next.name)?;
        move_entry(&target, &next.name, &target, &free)?;
    }
    let name = if has_conflict && !to.is_empty() { free_name(&target, &next.name)? } else { next.name.clone() };
    move_entry(&source, &next.name, &target, &name)?;
    Ok(true)
}

/// Returns true if a top-level entry belongs to the folder's owner. Hidden entries count only if
/// they are leftovers of a file change.
fn belongs_to_owner(folder: &str, name: &str, has_shared: bool) -> bool {
    let left_over = name.strip_prefix('.').and_then(|rest| rest.strip_suffix(".new").or(rest.strip_suffix(".part")));
    let is_shared =
        |name: &str| folder.is_empty() && (layout::is_of_others(name) || has_shared && layout::is_shared(name));
    match left_over {
        Some(of) => !is_shared(of),
        None => !name.starts_with('.') && !is_shared(name),
    }
}

fn names_like(name: &str) -> impl Iterator<Item = String> {
    let name = name.to_owned();
    std::iter::once(name.clone()).chain((2..=MOST_NAMES).map(move |number| format!("{name}-{number}")))
}

fn free_name(folder: &OpenFolder, name: &str) -> anyhow::Result<String> {
    names_like(name).find(|name| !disk::exists(folder, name)).context("There are too many files of that name")
}

/// Renames a file and syncs both folders.
fn move_entry(from: &OpenFolder, name: &str, to: &OpenFolder, new: &str) -> anyhow::Result<()> {
    anyhow::ensure!(!disk::exists(to, new), io::Error::from(ErrorKind::AlreadyExists));
    match rustix::fs::renameat(&from.fd, name, &to.fd, new) {
        Err(Errno::NOENT) | Ok(()) => {}
        Err(error) => return Err(io::Error::from(error).into()),
    }
    for folder in [to, from] {
        rustix::fs::fsync(&folder.fd).map_err(io::Error::from)?;
    }
    Ok(())
}
