//! The workspace: location, folders of parties, and state shared by the modules.

use std::collections::{BTreeSet, HashMap};
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use anyhow::Context;
use tokio::sync::{Mutex, OwnedMutexGuard, RwLock};

use super::agent::AgentLayout;
use super::disk::Disk;
use super::free_space::FreeSpace;
use super::layout;
use super::page::PageCache;
use crate::config;
use crate::id::{FileId, PersonId};
use crate::people::Party;
use crate::store::{FolderState, Journal, Tx, agent_of};
use crate::time::task::lock;
use crate::time::{Timestamp, Zone};

/// Files of a party, as its owner sees their paths, each with its size in bytes.
pub(super) type FileSizes = Arc<[(String, u64)]>;

/// Handle of the workspace. Clones share the same state.
#[derive(Debug, Clone)]
pub struct Workspace(pub(super) Arc<WorkspaceInner>, pub(super) Arc<AgentLayout>);

#[derive(Debug)]
pub(super) struct WorkspaceInner {
    pub(super) disk: Disk,
    /// Experience of profiles, next to the workspace.
    pub(super) experience: Disk,
    pub(super) pages: PageCache,
    pub(super) journal: Journal,
    pub(super) zone: Zone,
    /// Free space on the disk of the workspace.
    free_space: OnceLock<FreeSpace>,
    /// Held during a file change: no other task writes between its row and its rename.
    pub(super) writing: Arc<Mutex<()>>,
    /// Held during an erasure, and while previously read data is being written.
    pub(super) erasure: Arc<Mutex<()>>,
    /// Held while folders are moved, so that no location is looked up meanwhile. Taken after the
    /// two locks above.
    pub(super) moving: RwLock<()>,
    /// Times of the last change of the folders of notes when they were compared with the index.
    pub(super) listed: std::sync::Mutex<HashMap<String, SystemTime>>,
    /// Newest version looked at for edits by hand, by scope, so that no look reads those before it.
    pub(super) looked_at: std::sync::Mutex<HashMap<String, FileId>>,
    /// Paths written since the last refresh of the index.
    pub(super) touched: std::sync::Mutex<BTreeSet<String>>,
    /// Files of each party by scope, and when they were counted.
    pub(super) counts: std::sync::Mutex<HashMap<String, (Timestamp, FileSizes)>>,
}

/// Error of an operation that may be refused. Not a [`std::error::Error`], so that no refusal turns
/// into a failure by a mere `?`.
#[derive(Debug)]
pub enum WorkspaceError<R> {
    /// Refused, for a reason that the caller tells.
    Refused(R),
    /// The disk or the journal cannot be used.
    Failed(anyhow::Error),
}

/// Error of a change.
pub type WriteError = WorkspaceError<WriteRefusal>;

impl<R> WorkspaceError<R> {
    /// Returns the reason of a refusal.
    ///
    /// # Errors
    /// If the operation failed instead.
    pub fn refusal(self) -> anyhow::Result<R> {
        match self {
            Self::Refused(why) => Ok(why),
            Self::Failed(error) => Err(error),
        }
    }
}

/// Returns the result, or `None` if the operation was refused for any reason.
///
/// # Errors
/// If the operation failed.
pub fn unless_refused<T, R>(result: Result<T, WorkspaceError<R>>) -> anyhow::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) => error.refusal().map(|_| None),
    }
}

/// Like [`unless_refused`], and logs the reason of a refusal after that message.
pub(super) fn unless_refused_logged<T>(result: Result<T, WriteError>, message: &str) -> anyhow::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) => {
            let why = error.refusal()?;
            tracing::warn!("{message}: {why}");
            Ok(None)
        }
    }
}

impl<R> From<anyhow::Error> for WorkspaceError<R> {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<WriteRefusal> for WriteError {
    fn from(why: WriteRefusal) -> Self {
        Self::Refused(why)
    }
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

impl WriteRefusal {
    /// Rejects a change with that sentence.
    pub(super) fn impossible(why: &str) -> Self {
        Self::Impossible(why.to_owned())
    }
}

impl Workspace {
    /// Creates a handle for that folder, which need not exist yet, and for the folder with the
    /// experience of profiles.
    pub fn new(root: PathBuf, experience: PathBuf, journal: Journal, zone: Zone) -> Self {
        let (disk, experience) = (Disk::new(root), Disk::new(experience));
        let inner = WorkspaceInner {
            disk,
            experience,
            pages: PageCache::default(),
            journal,
            zone,
            free_space: OnceLock::new(),
            writing: Arc::default(),
            erasure: Arc::default(),
            moving: RwLock::default(),
            listed: std::sync::Mutex::default(),
            looked_at: std::sync::Mutex::default(),
            touched: std::sync::Mutex::default(),
            counts: std::sync::Mutex::default(),
        };
        Self(Arc::new(inner), Arc::new(AgentLayout::unconfigured()))
    }

    /// Sets the agent and its memory settings.
    #[must_use]
    pub fn with_agent(self, agent: &config::Agent, memory: &config::Memory) -> Self {
        Self(self.0, Arc::new(AgentLayout { agent: agent.clone(), memory: memory.clone() }))
    }

    /// Sets another probe of the free space than that of its own disk, before it is used.
    #[must_use]
    pub fn with_free_space(self, probe: Option<FreeSpace>) -> Self {
        // One that was set before stays.
        let _ = probe.map(|probe| self.0.free_space.set(probe));
        self
    }

    /// Returns the probe of the free space on the disk of the workspace.
    pub(super) fn free_space(&self) -> &FreeSpace {
        self.0.free_space.get_or_init(|| FreeSpace::at(self.0.disk.root()))
    }

    /// Returns the time zone of the home.
    pub fn zone(&self) -> Zone {
        self.0.zone
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

    /// Returns the agent in use and its profile, if it has one, as [`agent_of`] names them.
    pub(super) fn own_memories(&self) -> Vec<String> {
        let files = [Some(self.1.workspace_file()), self.1.profile_file()];
        files.iter().flatten().filter_map(|path| agent_of(path)).collect()
    }

    /// Returns the folder of that person or group, relative to the root.
    ///
    /// # Errors
    /// If no one may read the folder now.
    pub async fn folder_of(&self, who: &Party) -> anyhow::Result<String> {
        let _no_move = self.0.moving.read().await;
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
        job: impl FnOnce(&Self) -> anyhow::Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let workspace = self.clone();
        blocking(move || job(&workspace)).await
    }

    /// Like [`Self::on_disk`], for an operation that may be refused.
    pub(super) async fn on_disk_unless_refused<T: Send + 'static, R: Send + 'static>(
        &self,
        job: impl FnOnce(&Self) -> Result<T, WorkspaceError<R>> + Send + 'static,
    ) -> Result<T, WorkspaceError<R>> {
        self.on_disk(move |workspace| Ok(job(workspace))).await?
    }

    /// Splits a location into its base folder on the disk and the path within.
    pub(super) fn disk_of<'a>(&self, location: &'a str) -> (&Disk, &'a str) {
        match location.strip_prefix(layout::EXPERIENCE) {
            Some(path) => (&self.0.experience, path),
            None => (&self.0.disk, location),
        }
    }

    /// Marks a file as changed since the last refresh of the index.
    pub(super) fn touched(&self, location: &str) {
        lock(&self.0.touched).insert(location.to_owned());
        lock(&self.0.counts).clear();
    }

    /// Returns and clears the paths marked as changed.
    pub(super) fn take_touched(&self) -> BTreeSet<String> {
        std::mem::take(&mut *lock(&self.0.touched))
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

/// Declares handles: each gives access to the workspace for one purpose.
macro_rules! handles {
    ($($(#[doc = $doc:literal])+ $handle:ident $method:ident $method_doc:literal;)+) => {
        $(
            $(#[doc = $doc])+
            #[derive(Clone, Copy)]
            pub struct $handle<'a> {
                pub(super) workspace: &'a Workspace,
            }

            impl Deref for $handle<'_> {
                type Target = Workspace;

                fn deref(&self) -> &Workspace {
                    self.workspace
                }
            }
        )+

        impl Workspace {
            $(
                #[doc = $method_doc]
                pub fn $method(&self) -> $handle<'_> {
                    $handle { workspace: self }
                }
            )+
        }
    };
}

handles! {
    /// Access to the files of one person: reading, listing, receiving, exporting.
    WorkspaceFiles files "Returns access to the files of one person.";
    /// Writing, history and restoration of files.
    FileVersions versions "Returns the writer and history of files.";
    /// Facts, notes and learnings.
    Notes notes "Returns the facts, notes and learnings.";
    /// Ownership, moves and hand-over of folders.
    WorkspaceFolders folders "Returns ownership, moves and hand-over of folders.";
    /// Checks and fixes of the workspace.
    WorkspaceChecks checks "Returns checks and fixes of the workspace.";
}
