//! Synchronisation of the index with the workspace and the journal.
//!
//! First changes are noticed: paths touched by the writer, kernel notifications for watched
//! folders, and from time to time (always, without notifications) a walk through a party's whole
//! folder that compares stamps. Then the changed files are read in small batches, each in one short
//! transaction. A file that differs from its last version was edited by hand, which is first
//! recorded as a version; so its label, time and history are right before it is found. An
//! unreadable file is recorded with an explanation. Every step can be repeated and interrupted
//! anywhere: changes noticed but not read stay pending, and a walk finds them again after a
//! restart.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::Metadata;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use super::super::path_walk::PathType;
use super::super::workspace::{WriteError, WriteRefusal, blocking, unless_refused};
use super::super::{disk, label, layout};
use super::listing::{Listing, stamp};
use super::parse::{Parsed, parse};
use super::shape::should_be_text;
use super::watch::Watch;
use super::{EntryHit, Index, IndexInner, journal_entries};
use crate::people::Party;
use crate::store::{EntryKind, Indexed, NewEntry, Node, Tx};
use crate::time::Timestamp;
use crate::trust::Scope;
use crate::wording::search as says;

/// Number of files in one transaction.
const BATCH: usize = 16;
/// Number of journal rows in one transaction.
const TOLD: u32 = 32;
/// Validity of a walk, even with notifications for every change.
const WALK_EVERY: Duration = Duration::from_secs(60);
/// Number of files per folder for which a walk stays valid that long; more files extend it in
/// proportion.
const FEW_FILES: usize = 10_000;
/// Shared files at the root.
const SHARED: [&str; 2] = ["AGENTS.md", "SOUL.md"];

/// A party's scope and folder.
#[derive(Debug, Clone)]
pub(super) struct SyncScope {
    pub(super) folder: String,
    pub(super) scope: Scope,
}

/// Known changes on the disk that are not in the index yet.
#[derive(Debug)]
pub(super) struct PendingChanges {
    watch: Watch,
    waiting: BTreeSet<String>,
    walked: HashMap<String, (Timestamp, usize)>,
}

/// Result of reading a file.
enum FileReading {
    Gone { path: String },
    Text { file: Indexed, parsed: Parsed },
    NoText { file: Indexed },
}

impl PendingChanges {
    pub(super) fn nothing() -> Self {
        Self { watch: Watch::new(), waiting: BTreeSet::new(), walked: HashMap::new() }
    }

    /// Simulates a system without notifications.
    #[cfg(test)]
    pub(super) fn stop_watching(&mut self) {
        self.watch = Watch::deaf();
    }

    fn walk_is_due(&self, folder: &str, now: Timestamp) -> bool {
        let Some((at, files)) = self.walked.get(folder) else { return true };
        let longer = u32::try_from(files / FEW_FILES).unwrap_or(u32::MAX).saturating_add(1);
        !self.watch.is_working() || now < *at || now.since(*at) >= WALK_EVERY.saturating_mul(longer)
    }
}

impl SyncScope {
    /// Returns the path as its owner sees it; `None` if it is not indexed for this party.
    fn own(&self, spot: &str) -> Option<String> {
        if is_shared(spot) { Some(spot.to_owned()) } else { layout::own(&self.folder, spot) }
    }

    /// Sets the path of a hit to the one that its owner sees.
    pub(super) fn show(&self, hit: &mut EntryHit) {
        if let Some(own) = self.own(&hit.path) {
            hit.path = own;
        }
    }

    fn scope_of(&self, spot: &str) -> Scope {
        if is_shared(spot) { Scope::Shared } else { self.scope }
    }
}

fn is_shared(spot: &str) -> bool {
    SHARED.contains(&spot)
}

impl Index {
    pub(super) async fn sync_scope(&self, party: &Party) -> anyhow::Result<SyncScope> {
        Ok(SyncScope { folder: self.0.tree.folder_of(party).await?, scope: party.scope() })
    }

    /// Takes in changes, at most `most` files.
    pub(super) async fn sync(&self, room: &SyncScope, most: usize) -> anyhow::Result<()> {
        {
            let _alone = self.0.reading.lock().await;
            self.notice(room).await?;
        }
        self.read_waiting(room, most).await?;
        self.read_journal_entries(room.scope).await
    }

    /// Returns the number of a party's files with pending changes.
    pub(super) fn waiting_of(&self, room: &SyncScope) -> usize {
        self.0.noticed().waiting.iter().filter(|path| room.own(path).is_some()).count()
    }

    /// Makes the next look at any folder check every file.
    pub(super) fn walk_again(&self) {
        self.0.noticed().walked.clear();
    }

    async fn notice(&self, room: &SyncScope) -> anyhow::Result<()> {
        let (inner, room, now) = (Arc::clone(&self.0), room.clone(), self.0.clock.now());
        let walking = room.clone();
        let Some(listing) = blocking(move || Ok(inner.collect_changes(&walking, now))).await? else { return Ok(()) };
        let mut known = self.0.journal.read_much(|db| db.entries().indexed_stamps()).await?;
        known.retain(|path, _| !journal_entries::is_journal_path(path) && room.own(path).is_some());
        let files = listing.files.len();
        let mut changed: Vec<String> = Vec::new();
        for file in listing.files {
            let now = (file.stamp, room.scope_of(&file.path));
            if known.remove(&file.path).is_none_or(|before| before != now) {
                changed.push(file.path);
            }
        }
        changed.extend(known.into_keys());
        let mut noticed = self.0.noticed();
        noticed.waiting.extend(changed);
        noticed.walked.insert(room.folder, (now, files));
        Ok(())
    }

    async fn read_waiting(&self, room: &SyncScope, most: usize) -> anyhow::Result<()> {
        let mut left = most;
        while left > 0 {
            // Another task may have taken some of the pending files: these are not in the index
            // until it is done.
            let _alone = self.0.reading.lock().await;
            let some = self.0.take_waiting(room, BATCH.min(left));
            if some.is_empty() {
                break;
            }
            left -= some.len();
            if let Err(error) = self.read_some(room, &some).await {
                self.0.noticed().waiting.extend(some);
                return Err(error);
            }
        }
        Ok(())
    }

    async fn read_some(&self, room: &SyncScope, paths: &[String]) -> anyhow::Result<()> {
        let mut readings = Vec::new();
        for path in paths {
            readings.push(self.read_one(room, path).await?);
        }
        self.add_categories(room.scope, &mut readings).await?;
        let job = move |tx: Tx<'_>| readings.iter().try_for_each(|reading| store(tx, reading));
        self.0.journal.write("index files", job).await
    }

    /// Adds the categories of facts, which the journal stores and the lines do not.
    async fn add_categories(&self, scope: Scope, readings: &mut [FileReading]) -> anyhow::Result<()> {
        let mut bare: Vec<&mut NewEntry> = readings
            .iter_mut()
            .filter_map(
                |reading| if let FileReading::Text { parsed, .. } = reading { Some(&mut parsed.entries) } else { None },
            )
            .flatten()
            .filter(|entry| entry.kind == EntryKind::Fact && entry.category.is_empty())
            .collect();
        if bare.is_empty() {
            return Ok(());
        }
        let categories = self.0.journal.read(|db| db.entries().fact_categories(scope)).await?;
        for entry in &mut bare {
            if let Some(category) = categories.get(&entry.name.to_lowercase()) {
                entry.category.clone_from(category);
            }
        }
        Ok(())
    }

    async fn read_one(&self, room: &SyncScope, path: &str) -> anyhow::Result<FileReading> {
        let Some(own) = room.own(path) else { return Ok(FileReading::Gone { path: path.to_owned() }) };
        let (inner, asked) = (Arc::clone(&self.0), path.to_owned());
        let found = blocking(move || Ok(inner.stat(&asked))).await?;
        let Some(found) = found else { return self.missing_file(room, path).await };
        let scope = room.scope_of(path);
        let mut file = Indexed {
            path: path.to_owned(),
            scope,
            stamp: stamp(&found),
            digest: String::new(),
            label: label::of_found_file(),
            trouble: String::new(),
            size: found.len(),
            at: changed_at(&found),
        };
        let unlike = |mut file: Indexed, why: &str| {
            file.trouble = if should_be_text(&own) { why.to_owned() } else { String::new() };
            FileReading::NoText { file }
        };
        if found.len() > layout::MAX_TEXT_FILE {
            return Ok(unlike(file, says::TOO_LARGE));
        }
        // Locked so that no write intervenes between the read and the row that holds the label.
        let _alone = Arc::clone(&self.0.tree.0.writing).lock_owned().await;
        let before = match self.0.tree.versions().current(path).await {
            Ok(before) => before,
            Err(WriteError::Refused(WriteRefusal::NoText)) => return Ok(unlike(file, says::NOT_TEXT)),
            Err(WriteError::Refused(WriteRefusal::Unreadable(_))) => return Ok(unlike(file, says::UNREADABLE)),
            Err(WriteError::Refused(_)) => return Ok(FileReading::Gone { path: path.to_owned() }),
            Err(WriteError::Failed(error)) => {
                tracing::warn!("A file of the workspace cannot be read: {error:#}");
                return Ok(unlike(file, says::UNREADABLE));
            }
        };
        let Some(text) = &before.text else { return Ok(FileReading::Gone { path: path.to_owned() }) };
        if text.contains('\0') {
            return Ok(unlike(file, says::NOT_TEXT));
        }
        if before.real_path != path {
            // The path leads through a link; the file is indexed at its real location.
            return Ok(FileReading::Gone { path: path.to_owned() });
        }
        if self.0.tree.versions().adopt(path, &before, scope, self.0.clock.now()).await?.is_none() {
            file.trouble = says::FOREIGN.to_owned();
            return Ok(FileReading::NoText { file });
        }
        let (text, zone) = (text.clone(), self.0.tree.0.zone);
        let parsed = blocking(move || Ok(parse(&own, &text, zone))).await?;
        file.digest.clone_from(&before.digest);
        parsed.trouble.clone_into(&mut file.trouble);
        Ok(FileReading::Text { file, parsed })
    }

    /// Handles a missing file. If we did not delete it, a person did; received files are deleted
    /// when they expire.
    async fn missing_file(&self, room: &SyncScope, path: &str) -> anyhow::Result<FileReading> {
        let gone = FileReading::Gone { path: path.to_owned() };
        if layout::is_inbox(path) {
            return Ok(gone);
        }
        let _alone = Arc::clone(&self.0.tree.0.writing).lock_owned().await;
        let known = path.to_owned();
        if self.0.journal.read(|db| db.file_versions().last_digest_of(&known)).await?.is_none() {
            return Ok(gone);
        }
        if let Some(before) = unless_refused(self.0.tree.versions().current(path).await)?
            && before.text.is_none()
            && before.real_path == path
        {
            // A deleted file reveals nothing to anyone.
            let _ = self.0.tree.versions().adopt(path, &before, room.scope_of(path), self.0.clock.now()).await?;
        }
        Ok(gone)
    }

    async fn read_journal_entries(&self, scope: Scope) -> anyhow::Result<()> {
        loop {
            if self.0.journal.read(|db| db.entries().unindexed(scope, 1)).await?.is_empty() {
                return Ok(());
            }
            let job = move |tx: Tx<'_>| {
                for path in tx.entries().unindexed(scope, TOLD)? {
                    match journal_entries::read(*tx, &path)? {
                        Some((file, entries)) => drop(tx.entries().put_indexed(&file, &entries)?),
                        None => tx.entries().drop_indexed(&path)?,
                    }
                    tx.entries().mark_indexed(&path)?;
                }
                Ok(())
            };
            self.0.journal.write("index what the journal tells", job).await?;
        }
    }

    /// Drops entries that belong to no known party.
    pub(super) async fn drop_strays(&self, rooms: &[SyncScope]) -> anyhow::Result<()> {
        let known = self.0.journal.read_much(|db| db.entries().indexed_stamps()).await?;
        let stray = |path: &String| {
            !journal_entries::is_journal_path(path) && rooms.iter().all(|room| room.own(path).is_none())
        };
        let strays: Vec<String> = known.into_keys().filter(stray).collect();
        for some in strays.chunks(BATCH) {
            let some = some.to_vec();
            let job = move |tx: Tx<'_>| some.iter().try_for_each(|path| tx.entries().drop_indexed(path));
            self.0.journal.write("drop what belongs to nobody", job).await?;
        }
        Ok(())
    }
}

impl IndexInner {
    pub(super) fn noticed(&self) -> MutexGuard<'_, PendingChanges> {
        self.noticed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if the workspace exists: without it nothing was checked.
    pub(super) async fn has_workspace(self: &Arc<Self>) -> anyhow::Result<bool> {
        let inner = Arc::clone(self);
        blocking(move || Ok(inner.tree.0.disk.root().is_dir())).await
    }

    /// Collects touched paths, and checks every file if a walk is due. Without a workspace no file
    /// counts as deleted. Blocks.
    fn collect_changes(&self, room: &SyncScope, now: Timestamp) -> Option<Listing> {
        let root = self.tree.0.disk.root();
        if !root.is_dir() {
            return None;
        }
        let mut noticed = self.noticed();
        let changes = noticed.watch.changes();
        if changes.all {
            noticed.walked.clear();
        }
        noticed.waiting.extend(changes.paths);
        noticed.waiting.extend(self.tree.take_touched());
        if !noticed.walk_is_due(&room.folder, now) {
            return None;
        }
        let mut listing = Listing::default();
        let watch = &mut noticed.watch;
        listing.add(root, &room.folder, &mut |folder| watch.add(&root.join(folder), folder));
        let (beside, from) = (self.tree.0.experience.root(), listing.files.len());
        let known = |inside: &str| format!("{}{inside}", layout::EXPERIENCE);
        listing.add(beside, &room.folder, &mut |folder| watch.add(&beside.join(folder), &known(folder)));
        listing.files.iter_mut().skip(from).for_each(|file| file.path = known(&file.path));
        if !room.folder.is_empty() {
            watch.add(root, "");
            listing.add_files(root, &SHARED);
        }
        let mut unique = HashSet::new();
        listing.files.retain(|file| unique.insert(file.path.clone()));
        Some(listing)
    }

    fn take_waiting(&self, room: &SyncScope, most: usize) -> Vec<String> {
        let mut noticed = self.noticed();
        let some: Vec<String> =
            noticed.waiting.iter().filter(|path| room.own(path).is_some()).take(most).cloned().collect();
        for path in &some {
            noticed.waiting.remove(path);
        }
        some
    }

    /// Returns the metadata of the file at exactly that path, not behind a link. Blocks.
    fn stat(&self, path: &str) -> Option<Metadata> {
        let (disk, asked) = self.tree.disk_of(path);
        let reached =
            disk.seek(asked).ok().filter(|reached| reached.kind == PathType::File && reached.real_path() == asked)?;
        disk::open(&reached).ok()?.metadata().ok()
    }
}

fn store(tx: Tx<'_>, reading: &FileReading) -> anyhow::Result<()> {
    match reading {
        FileReading::Gone { path } => tx.entries().drop_indexed(path),
        FileReading::NoText { file } => {
            let label = label::of_content(*tx, &file.path, &file.path, &file.digest)?.1;
            tx.entries().put_indexed(&Indexed { label, ..file.clone() }, &[]).map(drop)
        }
        FileReading::Text { file, parsed } => {
            let found = label::of_file(*tx, file.scope, &file.path, &file.path, &file.digest)?;
            let Some((row, label)) = found else { return tx.entries().drop_indexed(&file.path) };
            let written = row.map(|row| tx.derivations().birth(Node::File(row))).transpose()?.flatten();
            let at = written.map_or(file.at, |(at, _)| at);
            tx.entries().put_indexed(&Indexed { label, at, ..file.clone() }, &parsed.entries).map(drop)
        }
    }
}

fn changed_at(of: &Metadata) -> Timestamp {
    use std::os::unix::fs::MetadataExt;
    Timestamp(of.mtime().saturating_mul(1000).saturating_add(of.mtime_nsec() / 1_000_000))
}
