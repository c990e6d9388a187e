//! The workspace: location, folders of parties, and state shared by the modules.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use anyhow::Context;
use tokio::sync::{Mutex, OwnedMutexGuard, RwLock};

use super::agent::AgentLayout;
use super::disk::Disk;
use super::layout;
use super::page_cache::PageCache;
use crate::config;
use crate::id::PersonId;
use crate::people::Party;
use crate::store::{FolderState, Journal, Tx};
use crate::time::Zone;

/// Handle of the workspace. Clones share the same state.
#[derive(Debug, Clone)]
pub struct Workspace(pub(super) Arc<WorkspaceInner>, pub(super) Arc<AgentLayout>);

#[derive(Debug)]
pub(super) struct WorkspaceInner {
    pub(super) disk: Disk,
    /// Experience of profiles, next to the workspace.
    pub(super) experience: Disk,
    pub(super) shelf: PageCache,
    pub(super) journal: Journal,
    pub(super) zone: Zone,
    /// Held during a file change: no other task writes between its row and its rename.
    pub(super) writing: Arc<Mutex<()>>,
    /// Held during an erasure, and while previously read data is being written.
    pub(super) erasure: Arc<Mutex<()>>,
    /// Held while folders are moved, so that no location is looked up meanwhile. Taken after the
    /// two locks above.
    pub(super) moving: RwLock<()>,
    /// Paths written since the last look of the index.
    pub(super) touched: std::sync::Mutex<BTreeSet<String>>,
}

/// Reason for a refused change, by what can be done about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteRefusal {
    /// The path is invalid or leads out of the folder.
    #[error("The path leads out of the folder")]
    Elsewhere,
    /// The file was written for another party, or is being moved.
    #[error("It was written for somebody else")]
    Foreign,
    /// Only the owner may edit the file, by hand.
    #[error("Only the owner changes this file, by hand")]
    OwnersHand,
    /// The file is loaded automatically and the new text is untrusted.
    #[error("Untrusted words do not go into a file that is loaded by itself")]
    Untrusted,
    /// The file would exceed its size limit, in bytes.
    #[error("It would be larger than {0} bytes")]
    TooLarge(usize),
    /// The present content is not text.
    #[error("What stands there is no text")]
    NoText,
    /// A file that is loaded automatically, or that takes part in the change, is not readable as
    /// text. Holds its path as the owner sees it.
    #[error("{0} cannot be read as text")]
    Unreadable(String),
    /// The caller rejects the change; the sentence says why.
    #[error("{0}")]
    Impossible(String),
}

impl Workspace {
    /// Creates a handle for that folder, which need not exist yet, and for the folder with the
    /// experience of profiles.
    pub fn new(root: PathBuf, experience: PathBuf, journal: Journal, zone: Zone) -> Self {
        let (disk, experience) = (Disk::new(root), Disk::new(experience));
        let inner = WorkspaceInner {
            shelf: PageCache::new(disk.clone(), experience.clone()),
            disk,
            experience,
            journal,
            zone,
            writing: Arc::default(),
            erasure: Arc::default(),
            moving: RwLock::default(),
            touched: std::sync::Mutex::default(),
        };
        Self(Arc::new(inner), Arc::new(AgentLayout::usual()))
    }

    /// Sets the agent and its memory settings.
    #[must_use]
    pub fn with_agent(self, agent: &config::Agent, memory: &config::Memory) -> Self {
        Self(self.0, Arc::new(AgentLayout { agent: agent.clone(), memory: memory.clone() }))
    }

    /// Returns the size limit for the program's changes to that file, in bytes.
    pub fn size_limit(path: &str) -> usize {
        layout::most_bytes(path)
    }

    /// Returns the files with extracted facts as their owner sees them: the experience of the
    /// agent's profile, if it has one, and the agent's memory of the workspace.
    pub fn fact_files(&self) -> Vec<String> {
        self.1.profile_file().into_iter().chain([self.1.workspace_file()]).collect()
    }

    /// Returns the folder of that person or group, relative to the root.
    ///
    /// # Errors
    /// If no one may read the folder now.
    pub async fn folder_of(&self, who: &Party) -> anyhow::Result<String> {
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

    /// Returns the folder of a person with present or former access.
    pub async fn last_folder_of(&self, id: PersonId, name: &str) -> anyhow::Result<String> {
        let folder = self.0.journal.read(move |db| db.folders().folder_once_of(id)).await?;
        Ok(folder.unwrap_or_else(|| layout::folder_name(id, name)))
    }

    /// Waits until no erasure runs, and blocks new ones while the guard is held. Data written
    /// meanwhile is either seen by an erasure or leaves out the erased data.
    pub async fn erasure_lock(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.0.erasure).lock_owned().await
    }

    /// Runs a blocking operation on the disk.
    pub(super) async fn on_disk<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Disk) -> anyhow::Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let inner = Arc::clone(&self.0);
        blocking(move || job(&inner.disk)).await
    }

    /// Returns the location of that path of the party's folder, relative to the workspace.
    pub(super) async fn spot_of(&self, who: &Party, path: &str) -> anyhow::Result<Result<String, WriteRefusal>> {
        let folder = self.folder_of(who).await?;
        Ok(layout::spot(&folder, path).ok_or(WriteRefusal::Elsewhere))
    }

    /// Splits a location into its base folder on the disk and the path within.
    pub(super) fn disk_of<'a>(&self, spot: &'a str) -> (&Disk, &'a str) {
        match spot.strip_prefix(layout::EXPERIENCE) {
            Some(inside) => (&self.0.experience, inside),
            None => (&self.0.disk, spot),
        }
    }

    /// Marks a file as changed since the last look of the index.
    pub(super) fn touched(&self, spot: &str) {
        self.0.touched.lock().unwrap_or_else(PoisonError::into_inner).insert(spot.to_owned());
    }

    /// Returns and clears the paths marked as changed.
    pub(super) fn take_touched(&self) -> BTreeSet<String> {
        std::mem::take(&mut *self.0.touched.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn cannot_write(&self, name: &str) -> String {
        format!("Cannot write {name} in the workspace {}", self.0.disk.root().display())
    }
}

/// The person's files may not be read now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Their files are closed, because they are not let in or their folder is being moved")]
pub(super) struct Closed;

pub(super) async fn blocking<T: Send + 'static>(
    job: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    tokio::task::spawn_blocking(job).await.context("Work with a file was abandoned")?
}

/// Access to files of one person: reading, listing, receiving, exporting.
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

/// Writing, history and restoration of files.
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

/// Facts, notes and learnings.
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

/// Ownership, moves and hand-over of folders.
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

/// Checks and fixes of the workspace.
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
    /// Returns access to the files of one person.
    pub fn files(&self) -> WorkspaceFiles<'_> {
        WorkspaceFiles { tree: self }
    }

    /// Returns the writer and history of files.
    pub fn versions(&self) -> FileVersions<'_> {
        FileVersions { tree: self }
    }

    /// Returns the facts, notes and learnings.
    pub fn notes(&self) -> Notes<'_> {
        Notes { tree: self }
    }

    /// Returns ownership, moves and hand-over of folders.
    pub fn folders(&self) -> WorkspaceFolders<'_> {
        WorkspaceFolders { tree: self }
    }

    /// Returns checks and fixes of the workspace.
    pub fn checks(&self) -> WorkspaceChecks<'_> {
        WorkspaceChecks { tree: self }
    }
}
