//! Folder moves: renaming a folder to its stored name, and handing over the root.
//!
//! The row of a move precedes the first rename on the disk. Every rename can be repeated, and the
//! paths in the journal follow in one transaction once all files are in their new places. So after
//! a power cut at any point [`WorkspaceFolders::settle_folders`] completes the move before the
//! first read. While the row exists, `folder_of` returns none of the folders affected by it. No
//! file is copied or read. If a person creates a conflicting file meanwhile, it is kept under a
//! free name.

use crate::memory::workspace::WorkspaceFolders;
use std::io::{self, ErrorKind};

use anyhow::Context;
use rustix::io::Errno;

use super::disk::{self, Disk, FolderEntry};
use super::layout;
use super::path_walk::OpenFolder;
use super::workspace::blocking;
use crate::store::{FolderMove, MoveKind, MoveState, Tx};

/// Number of alternative names tried on a conflict.
const MOST_NAMES: usize = 99;

/// Called after each step that a power cut may follow; an error simulates one. Does nothing outside
/// of tests.
pub(super) type MoveHook<'s> = &'s (dyn Fn() -> anyhow::Result<()> + Send + Sync);

impl WorkspaceFolders<'_> {
    /// Fixes the location of files: stores the owner of the root and the folder of each person, and
    /// completes open moves. Must be called at the start, before any read.
    pub async fn settle_folders(&self) -> anyhow::Result<()> {
        self.settle_folders_in_steps(&|| Ok(())).await
    }

    pub(super) async fn settle_folders_in_steps(&self, step: MoveHook<'_>) -> anyhow::Result<()> {
        let _alone = self.0.writing.lock().await;
        let _moving = self.0.moving.write().await;
        let moves = self.0.journal.read(|db| db.folders().folder_moves()).await?;
        if self.0.journal.read(|db| db.folders().workspace_owner()).await?.is_none() {
            self.0.journal.write("settle whose the root is", |tx| tx.folders().settle_workspace_owner()).await?;
        }
        for open in moves {
            match open.kind {
                MoveKind::Rename => self.rename_folder(open, step).await?,
                MoveKind::HandOver => self.carry_out(open, step).await?,
            }
        }
        Ok(())
    }

    /// Renames a name-based folder to its stored name.
    async fn rename_folder(&self, mut open: FolderMove, step: MoveHook<'_>) -> anyhow::Result<()> {
        if open.state == MoveState::Wanted {
            open = self.begin_rename(open).await?;
            step()?;
        }
        let (tree, of) = (self.tree.clone(), open.clone());
        blocking(move || [&tree.0.disk, &tree.0.experience].into_iter().try_for_each(|disk| rename(disk, &of))).await?;
        step()?;
        let done =
            move |tx: Tx<'_>| tx.folders().rename_done(&open, &|path| layout::moved(path, &open.source, &open.target));
        self.0.journal.write("a folder has its name", done).await
    }

    async fn begin_rename(&self, open: FolderMove) -> anyhow::Result<FolderMove> {
        let person = open.person;
        let name = self.0.journal.read(move |db| db.folders().name_once_of(person)).await?.unwrap_or_default();
        let (source, target) = (layout::folder_by_name(person, &name), layout::folder_name(person, &name));
        let (tree, from) = (self.tree.clone(), source.clone());
        let free = move || {
            // If only the new folder exists, it already belongs to that person.
            let target = if tree.folders().is_there(&from) { tree.folders().free_folder(&target)? } else { target };
            Ok(target)
        };
        let target = blocking(free).await?;
        let (id, from, to) = (open.id, source.clone(), target.clone());
        self.0.journal.write("begin to rename a folder", move |tx| tx.folders().rename_begun(id, &from, &to)).await?;
        Ok(FolderMove { state: MoveState::Begun, source, target, ..open })
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
            let (tree, source, target) = (self.tree.clone(), from.to_owned(), to.to_owned());
            let moved = blocking(move || {
                let disk = if experience { &tree.0.experience } else { &tree.0.disk };
                move_next(disk, &source, &target, !experience)
            });
            if !moved.await? {
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

/// Renames a folder, unless that is done already. Blocks.
fn rename(disk: &Disk, of: &FolderMove) -> anyhow::Result<()> {
    if disk.unchecked(&of.source).symlink_metadata().is_err() || disk.unchecked(&of.target).symlink_metadata().is_ok() {
        return Ok(());
    }
    let (Some((from, old)), Some((to, new))) = (of.source.rsplit_once('/'), of.target.rsplit_once('/')) else {
        return Ok(());
    };
    match (disk.folder(from), disk.folder(to)) {
        (Ok(from), Ok(to)) => put(&from, old, &to, new),
        (Err(error), _) | (_, Err(error)) if error.is::<io::Error>() => Err(error),
        // The folder lies outside the workspace, where nothing is read either.
        _ => Ok(()),
    }
}

/// Moves one top-level entry from one folder to another; false if none is left. Blocks.
fn move_next(disk: &Disk, from: &str, to: &str, has_shared: bool) -> anyhow::Result<bool> {
    let next = movable(disk, from, has_shared)?;
    let Some(next) = next.first() else {
        if !from.is_empty() {
            // Hidden files may remain in it.
            let _ = std::fs::remove_dir(disk.unchecked(from));
        }
        return Ok(false);
    };
    let (source, target) = (disk.folder(from)?, disk.folder(to)?);
    let in_the_way = disk::exists(&target, &next.name);
    if in_the_way && to.is_empty() {
        // The root was empty: a person has put a file there since.
        let free = free_name(&target, &next.name)?;
        put(&target, &next.name, &target, &free)?;
    }
    let name = if in_the_way && !to.is_empty() { free_name(&target, &next.name)? } else { next.name.clone() };
    put(&source, &next.name, &target, &name)?;
    Ok(true)
}

/// Returns the top-level entries that move with their owner.
fn movable(disk: &Disk, folder: &str, has_shared: bool) -> anyhow::Result<Vec<FolderEntry>> {
    if disk.unchecked(folder).symlink_metadata().is_err() {
        return Ok(Vec::new());
    }
    let entries = disk.list(folder)?;
    Ok(entries.into_iter().filter(|entry| belongs_to_owner(folder, &entry.name, has_shared)).collect())
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
fn put(from: &OpenFolder, name: &str, to: &OpenFolder, new: &str) -> anyhow::Result<()> {
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
