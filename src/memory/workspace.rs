//! The tree: where it lies, whose folder is whose, and what its rooms share.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use anyhow::Context;
use tokio::sync::{Mutex, RwLock};

use super::agent::AgentLayout;
use super::disk::Disk;
use super::layout;
use super::page_cache::PageCache;
use super::write::NotWritten;
use crate::config;
use crate::people::Party;
use crate::store::{FolderState, Journal, Tx};
use crate::time::Zone;

/// The knowledge tree. Cloning gives another handle on the same one.
#[derive(Debug, Clone)]
pub struct Workspace(pub(super) Arc<WorkspaceInner>, pub(super) Arc<AgentLayout>);

#[derive(Debug)]
pub(super) struct WorkspaceInner {
    pub(super) disk: Disk,
    /// What profiles have learned, beside the workspace.
    pub(super) experience: Disk,
    pub(super) shelf: PageCache,
    pub(super) journal: Journal,
    pub(super) zone: Zone,
    /// Held while a file is written: between its row and its renaming nobody else writes.
    pub(super) writing: Arc<Mutex<()>>,
    /// Held while something is forgotten, and while what was read before is written down.
    pub(super) forgetting: Arc<Mutex<()>>,
    /// Held while folders are moved; nobody asks where files lie meanwhile. Taken after the two
    /// above.
    pub(super) moving: RwLock<()>,
    /// What was written since the index looked last.
    pub(super) touched: std::sync::Mutex<BTreeSet<String>>,
}

impl Workspace {
    /// The tree in that folder, which need not exist yet, with what profiles have learned in the
    /// other one.
    pub fn new(root: PathBuf, experience: PathBuf, journal: Journal, zone: Zone) -> Self {
        let (disk, experience) = (Disk::new(root), Disk::new(experience));
        let inner = WorkspaceInner {
            shelf: PageCache::new(disk.clone(), experience.clone()),
            disk,
            experience,
            journal,
            zone,
            writing: Arc::default(),
            forgetting: Arc::default(),
            moving: RwLock::default(),
            touched: std::sync::Mutex::default(),
        };
        Self(Arc::new(inner), Arc::new(AgentLayout::usual()))
    }

    /// The same tree, as that agent keeps it.
    #[must_use]
    pub fn kept_by(self, agent: &config::Agent, memory: &config::Memory) -> Self {
        Self(self.0, Arc::new(AgentLayout { agent: agent.clone(), memory: memory.clone() }))
    }

    /// The most that the program writes into the file at that path, in bytes.
    pub fn room_for(path: &str) -> usize {
        layout::most_bytes(path)
    }

    /// The files that the agent keeps what it took down in, as their owner sees them: that of its
    /// profile, if it has one, and that of the workspace.
    pub fn taken_down(&self) -> Vec<String> {
        self.1.profile_file().into_iter().chain([self.1.workspace_file()]).collect()
    }

    /// The folder of that person or group, relative to the root.
    ///
    /// # Errors
    /// With [`Closed`] if nobody may read it now, and if the journal cannot be used.
    pub(super) async fn folder_of(&self, who: &Party) -> anyhow::Result<String> {
        let _still = self.0.moving.read().await;
        let scope = who.scope();
        let mut folder = self.0.journal.read(move |db| db.folders().folder_of(scope)).await?;
        if let (FolderState::Unsettled, Some(person)) = (&folder, who.person()) {
            let (id, name) = (person.id, layout::folder_name(person.id, &person.name));
            let settle = move |tx: Tx<'_>| {
                tx.folders().settle_workspace_owner()?;
                tx.folders().settle_folder(id, &name)?;
                tx.folders().folder_of(scope)
            };
            folder = self.0.journal.write("settle a folder", settle).await?;
        }
        match folder {
            FolderState::At(folder) => Ok(folder),
            FolderState::Closed | FolderState::Unsettled => Err(Closed.into()),
        }
    }

    /// Does something that blocks with the disk.
    pub(super) async fn on_disk<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Disk) -> anyhow::Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let inner = Arc::clone(&self.0);
        blocking(move || job(&inner.disk)).await
    }

    /// Where that path of the party's folder lies, relative to the workspace.
    pub(super) async fn spot_of(&self, who: &Party, path: &str) -> anyhow::Result<Result<String, NotWritten>> {
        let folder = self.folder_of(who).await?;
        Ok(layout::spot(&folder, path).ok_or(NotWritten::Elsewhere))
    }

    /// The folder on the disk of a path, and the path within it.
    pub(super) fn disk_of<'a>(&self, spot: &'a str) -> (&Disk, &'a str) {
        match spot.strip_prefix(layout::EXPERIENCE) {
            Some(inside) => (&self.0.experience, inside),
            None => (&self.0.disk, spot),
        }
    }

    /// That file is not what it was when the index looked last.
    pub(super) fn touched(&self, spot: &str) {
        self.0.touched.lock().unwrap_or_else(PoisonError::into_inner).insert(spot.to_owned());
    }

    /// Everything that was touched since the last time.
    pub(super) fn take_touched(&self) -> BTreeSet<String> {
        std::mem::take(&mut *self.0.touched.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn cannot_write(&self, name: &str) -> String {
        format!("Cannot write {name} in the workspace {}", self.0.disk.root().display())
    }
}

/// Nobody may read the files of that person now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Their files are closed, because they are not let in or their folder is being moved")]
pub(super) struct Closed;

pub(super) async fn blocking<T: Send + 'static>(
    job: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    tokio::task::spawn_blocking(job).await.context("Work with a file was abandoned")?
}

/// Files of one person: reading, listing, receiving, exporting.
#[derive(Clone, Copy)]
pub struct WorkspaceFiles<'a> {
    pub(super) tree: &'a Workspace,
}

impl Deref for WorkspaceFiles<'_> {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        self.tree
    }
}

/// Writing of files, their versions and their restoring.
#[derive(Clone, Copy)]
pub struct FileVersions<'a> {
    pub(super) tree: &'a Workspace,
}

impl Deref for FileVersions<'_> {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        self.tree
    }
}

/// Facts, notes and what an agent learns.
#[derive(Clone, Copy)]
pub struct Notes<'a> {
    pub(super) tree: &'a Workspace,
}

impl Deref for Notes<'_> {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        self.tree
    }
}

/// Deletion of what a person asked to be forgotten.
#[derive(Clone, Copy)]
pub struct WorkspaceErasure<'a> {
    pub(super) tree: &'a Workspace,
}

impl Deref for WorkspaceErasure<'_> {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        self.tree
    }
}

/// Whose folder is whose: ownership, moves and hand-over.
#[derive(Clone, Copy)]
pub struct WorkspaceFolders<'a> {
    pub(super) tree: &'a Workspace,
}

impl Deref for WorkspaceFolders<'_> {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        self.tree
    }
}

/// Checks of the workspace, and their fixes.
#[derive(Clone, Copy)]
pub struct WorkspaceChecks<'a> {
    pub(super) tree: &'a Workspace,
}

impl Deref for WorkspaceChecks<'_> {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        self.tree
    }
}

impl Workspace {
    /// Files of one person: reading, listing, receiving, exporting.
    pub fn files(&self) -> WorkspaceFiles<'_> {
        WorkspaceFiles { tree: self }
    }

    /// Writing of files, their versions and their restoring.
    pub fn versions(&self) -> FileVersions<'_> {
        FileVersions { tree: self }
    }

    /// Facts, notes and what an agent learns.
    pub fn notes(&self) -> Notes<'_> {
        Notes { tree: self }
    }

    /// Deletion of what a person asked to be forgotten.
    pub fn erasure(&self) -> WorkspaceErasure<'_> {
        WorkspaceErasure { tree: self }
    }

    /// Whose folder is whose: ownership, moves and hand-over.
    pub fn folders(&self) -> WorkspaceFolders<'_> {
        WorkspaceFolders { tree: self }
    }

    /// Checks of the workspace, and their fixes.
    pub fn checks(&self) -> WorkspaceChecks<'_> {
        WorkspaceChecks { tree: self }
    }
}
