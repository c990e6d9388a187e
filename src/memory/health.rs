//! Health of the workspace: figures for the operator, and fixes that need no decision.
//!
//! Output contains no text of files, and names a file only if it lies in the wrong person's folder,
//! because `doctor` output may be pasted anywhere.

use std::collections::BTreeSet;
use std::fs;

use serde::{Deserialize, Serialize};

use super::layout;
use super::notes::MEMORY;
use super::owned_files::OwnPath;
use super::workspace::{Workspace, WorkspaceChecks};
use crate::people::{Party, Role};
use crate::store::{Db, FolderState};
use crate::time::Timestamp;
use crate::trust::Scope;

/// Folders of the workspace that all other parts rely on.
const FOLDERS: [&str; 2] = ["memory", "inbox"];

/// State of the workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceHealth {
    /// Number of files.
    pub files: usize,
    /// Total size in bytes.
    pub bytes: u64,
    /// Missing folders.
    pub missing: Vec<String>,
    /// Text files of the memory that are not readable as text.
    pub unreadable: usize,
    /// Notes without a line in `MEMORY.md`.
    pub unlisted: usize,
    /// Fill level of the fullest `MEMORY.md`, in per cent.
    pub fullest: u64,
    /// Automatically loaded files above their size limit.
    pub overfull: usize,
    /// Folders under `people/` that belong to no person with access.
    #[serde(rename = "nobodys")]
    pub unowned_folders: usize,
    /// True if the root's owner has no access, so that the root is loaded for no one.
    pub root_is_closed: bool,
    /// Files in one person's folder that were written for another; they are shown to neither.
    pub misplaced: Vec<Misplaced>,
    /// Journal rows whose scope differs from the scope of their parent: table, count, first row.
    pub misplaced_rows: Vec<(String, usize, i64)>,
}

/// A file in one person's folder that was written for another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Misplaced {
    /// Path relative to the workspace.
    pub path: String,
    /// Intended reader.
    pub written_for: String,
    /// Owner of the folder.
    #[serde(rename = "lies_with")]
    pub folder_owner: String,
    /// True if the file exists; otherwise only the journal holds its content.
    #[serde(rename = "stands")]
    pub exists: bool,
}

/// Reason why a person should look at a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileProblem {
    /// Loaded automatically, and above its size limit.
    TooLarge,
    /// Loaded automatically, and not readable as text.
    Unreadable,
    /// Note without a line in `MEMORY.md`.
    Unlisted,
}

/// Result of a fix.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceFixes {
    /// Number of created folders.
    pub folders: usize,
    /// Number of index lines added.
    pub lines: usize,
}

impl WorkspaceChecks<'_> {
    /// Checks the folders of all people.
    pub async fn health(&self) -> anyhow::Result<WorkspaceHealth> {
        let people = self.0.journal.read(|db| db.people().people()).await?;
        let mut health = WorkspaceHealth {
            missing: self.missing_folders().map(str::to_owned).collect(),
            ..WorkspaceHealth::default()
        };
        let mut known = BTreeSet::new();
        for person in people {
            let who = Party::One(person);
            known.insert(self.folder_of(&who).await?);
            self.check_party(&who, &mut health).await?;
        }
        health.unowned_folders = self.unowned_folders(known).await?;
        let root = |db: Db<'_>| {
            Ok(db.folders().workspace_owner()?.is_some() && db.folders().present_workspace_owner()?.is_none())
        };
        health.root_is_closed = self.0.journal.read(root).await?;
        health.misplaced = self.misplaced().await?;
        health.misplaced_rows = self.0.journal.read_much(|db| db.folders().misplaced_rows()).await?;
        Ok(health)
    }

    /// Returns the files whose newest version was written for another party than the folder's.
    async fn misplaced(&self) -> anyhow::Result<Vec<Misplaced>> {
        let found = self.0.journal.read_much(misplaced_in).await?;
        self.on_disk(move |workspace| {
            let exists = |path: &str| {
                let (disk, disk_path) = workspace.disk_of(path);
                disk.unchecked(disk_path).symlink_metadata().is_ok()
            };
            Ok(found.into_iter().map(|file| Misplaced { exists: exists(&file.path), ..file }).collect())
        })
        .await
    }

    /// Creates missing folders and files, and adds index lines for unlisted notes.
    pub async fn fix(&self, now: Timestamp) -> anyhow::Result<WorkspaceFixes> {
        let mut fixed = WorkspaceFixes::default();
        for folder in self.missing_folders() {
            self.on_disk(move |workspace| workspace.0.disk.folder(folder).map(drop)).await?;
            fixed.folders = fixed.folders.saturating_add(1);
        }
        self.seed(now).await?;
        let people = self.0.journal.read(|db| db.people().people()).await?;
        for person in people.into_iter().filter(|person| person.role > Role::Guest) {
            let who = Party::One(person);
            while let lines @ 1.. = self.list_unlisted(&who, None, now).await? {
                fixed.lines = fixed.lines.saturating_add(lines);
            }
        }
        Ok(fixed)
    }

    /// Adds an index line for one note of a party. Returns false if the note has one, or none can
    /// be added.
    pub async fn list_note(&self, who: &Party, path: &str, now: Timestamp) -> anyhow::Result<bool> {
        Ok(self.list_unlisted(who, Some(path), now).await? > 0)
    }

    /// Returns the usual folders of a party, each with whether it exists.
    pub async fn folders_of(&self, who: &Party) -> anyhow::Result<Vec<(&'static str, bool)>> {
        let folder = self.folder_of(who).await?;
        let find = move |workspace: &Workspace| {
            let exists = |name| workspace.0.disk.unchecked(&layout::within(&folder, name)).is_dir();
            Ok(FOLDERS.into_iter().map(|name| (name, exists(name))).collect())
        };
        self.on_disk(find).await
    }

    fn missing_folders(&self) -> impl Iterator<Item = &'static str> {
        FOLDERS.into_iter().filter(|folder| !self.0.disk.unchecked(folder).is_dir())
    }

    /// Returns the files of a party that a person should look at, each with its problem; of notes
    /// without a line at most that many.
    pub async fn problems_of(&self, who: &Party, unlisted: usize) -> anyhow::Result<Vec<(String, FileProblem)>> {
        let files = self.folders().files_of(who).await?;
        self.problems_among(who, &files, unlisted).await
    }

    async fn problems_among(
        &self,
        who: &Party,
        files: &[OwnPath],
        unlisted: usize,
    ) -> anyhow::Result<Vec<(String, FileProblem)>> {
        let mut problems = Vec::new();
        for file in files.iter().filter(|file| layout::is_loaded(&file.path) && file.path.ends_with(".md")) {
            if file.size > most_bytes(&file.path) {
                problems.push((file.path.clone(), FileProblem::TooLarge));
            }
            if file.size <= layout::MAX_TEXT_FILE && self.folders().words_of(who.scope(), file).await?.is_none() {
                problems.push((file.path.clone(), FileProblem::Unreadable));
            }
        }
        let unlisted = self.unlisted(who, files, unlisted).await?;
        problems.extend(unlisted.into_iter().map(|(file, _)| (file.path.clone(), FileProblem::Unlisted)));
        Ok(problems)
    }

    async fn check_party(&self, who: &Party, health: &mut WorkspaceHealth) -> anyhow::Result<()> {
        let files = self.folders().files_of(who).await?;
        health.files = health.files.saturating_add(files.len());
        health.bytes = files.iter().fold(health.bytes, |bytes, file| bytes.saturating_add(file.size));
        for file in files.iter().filter(|file| file.path == MEMORY) {
            health.fullest = health.fullest.max(file.size.saturating_mul(100) / most_bytes(&file.path).max(1));
        }
        for (_, problem) in self.problems_among(who, &files, usize::MAX).await? {
            let count = match problem {
                FileProblem::TooLarge => &mut health.overfull,
                FileProblem::Unreadable => &mut health.unreadable,
                FileProblem::Unlisted => &mut health.unlisted,
            };
            *count = count.saturating_add(1);
        }
        Ok(())
    }

    async fn unowned_folders(&self, known: BTreeSet<String>) -> anyhow::Result<usize> {
        self.on_disk(move |workspace| {
            let here = fs::read_dir(workspace.0.disk.unchecked("people")).into_iter().flatten().flatten();
            let folders = here.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            let names = folders.filter_map(|entry| entry.file_name().into_string().ok());
            Ok(names.filter(|name| !name.starts_with('.') && !known.contains(&format!("people/{name}"))).count())
        })
        .await
    }
}

fn most_bytes(path: &str) -> u64 {
    u64::try_from(layout::most_bytes(path)).unwrap_or(u64::MAX)
}

/// Skips folders of people without access: no one reads there.
fn misplaced_in(db: Db<'_>) -> anyhow::Result<Vec<Misplaced>> {
    let mut folders = Vec::new();
    for person in db.people().people()? {
        if let FolderState::At(folder) = db.folders().folder_of(Scope::Person(person.id))? {
            folders.push((folder, Scope::Person(person.id)));
        }
    }
    folders.extend(db.folders().workspace_owner()?.map(|owner| (String::new(), Scope::Person(owner))));
    for (id, _, scope) in db.conversations().streams()? {
        if scope.equals(Scope::Group(id)) {
            folders.push((format!("groups/{id}"), scope));
        }
    }
    let mut found = Vec::new();
    for written in db.folders().newest_scopes()?.into_iter().filter(|written| !layout::is_shared(&written.path)) {
        let folder = folders.iter().find(|(folder, _)| layout::own(folder, &written.path).is_some());
        let Some((_, owner)) = folder.filter(|(_, scope)| !written.scope.fits(*scope)) else { continue };
        let (written_for, folder_owner) = (name_of_party(db, written.scope)?, name_of_party(db, *owner)?);
        found.push(Misplaced { path: written.path, written_for, folder_owner, exists: false });
    }
    Ok(found)
}

fn name_of_party(db: Db<'_>, scope: Scope) -> anyhow::Result<String> {
    Ok(match scope {
        Scope::Person(id) => db.folders().name_once_of(id)?.unwrap_or_else(|| scope.encode()),
        Scope::Group(_) | Scope::Shared => scope.encode(),
    })
}
