//! Synchronisation of the index with the workspace and the journal.
//!
//! First changes are found: paths touched by the writer, kernel notifications for watched folders,
//! and from time to time (always, without notifications) a listing of a party's whole folder that
//! compares stamps ([`super::changes`]). Then the changed files are read in small batches, each in
//! one short transaction. A file that differs from its last version was edited by hand, which is
//! first recorded as a version; so its label, time and history are right before it is found. An
//! unreadable file is recorded with an explanation. Every step can be repeated and interrupted
//! anywhere: changes that are not read stay pending, and a listing finds them again after a
//! restart.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, MutexGuard};

use super::super::path_walk::PathType;
use super::super::workspace::{WriteError, WriteRefusal, blocking, unless_refused};
use super::super::{disk, label, layout, stored_files};
use super::changes::{Listing, ListingRule, PendingChanges, list_files, list_shared_files};
use super::parse::{Parsed, parse, should_be_text};
use super::{EntryHit, Index, IndexInner, READ_AT_ONCE, journal_entries};
use crate::people::Party;
use crate::store::{Db, EntryKind, Indexed, NewEntry, Node, Tx};
use crate::time::Timestamp;
use crate::time::task::lock;
use crate::trust::Scope;
use crate::wording::search as says;

/// Number of files in one transaction.
const BATCH: usize = 16;
/// Number of journal rows in one transaction.
const JOURNAL_BATCH: u32 = 32;

/// A party's scope and folder.
#[derive(Debug, Clone)]
pub(super) struct SyncScope {
    pub(super) folder: String,
    pub(super) scope: Scope,
    pub(super) party: Party,
}

/// Result of reading a file.
enum FileReading {
    Missing { path: String },
    Text { file: Indexed, parsed: Parsed },
    NoText { file: Indexed },
}

impl SyncScope {
    /// Returns the path as its owner sees it; `None` if it is not indexed for this party.
    fn own(&self, path: &str) -> Option<String> {
        if layout::is_shared(path) { Some(path.to_owned()) } else { layout::own(&self.folder, path) }
    }

    /// Sets the path of a hit to the one that its owner sees.
    pub(super) fn show(&self, hit: &mut EntryHit) {
        self.show_path(&mut hit.path);
    }

    /// Turns a path into the one that its owner sees.
    pub(super) fn show_path(&self, path: &mut String) {
        if let Some(own) = self.own(path) {
            *path = own;
        }
    }

    fn scope_of(&self, path: &str) -> Scope {
        if layout::is_shared(path) { Scope::Shared } else { self.scope }
    }
}

impl Index {
    /// Takes in changes in the folder of that party, at most `most` files, and in the journal.
    pub(super) async fn sync(&self, party: &Party, most: usize) -> anyhow::Result<SyncScope> {
        let party = self.sync_scope(party).await?;
        self.find_changes(&party, PendingChanges::listing_is_due).await?;
        self.read_pending(&party, most, |_| true).await?;
        self.read_journal_entries(party.scope).await?;
        Ok(party)
    }

    /// Records as versions what a person changed by hand in the party's lists of facts, notes and
    /// other files that are loaded. Where the kernel reports every change, the cost depends on the number of changed
    /// files only. Does nothing while something is being forgotten.
    pub async fn record_hand_edits(&self, party: &Party) -> anyhow::Result<()> {
        let workspace = &self.0.workspace;
        if !workspace.1.memory.enabled {
            return Ok(());
        }
        let Ok(_alone) = workspace.0.erasure.try_lock() else { return Ok(()) };
        let party = self.sync_scope(party).await?;
        self.find_changes(&party, |pending, folder, _| pending.listing_is_needed(folder)).await?;
        let known = self.edited_files(&party).await?;
        self.read_pending(&party, READ_AT_ONCE, |path| known.contains(path)).await
    }

    /// Returns the pending files that have versions, and may change values or are loaded. A new file replaces
    /// nothing, and its first version is recorded only after it got its index line.
    async fn edited_files(&self, party: &SyncScope) -> anyhow::Result<BTreeSet<String>> {
        let workspace = &self.0.workspace;
        let may_change = |path: &&String| {
            party.own(path).is_some_and(|own| workspace.may_change_values(&own) || layout::is_loaded(&own))
        };
        let pending: Vec<String> = self.0.pending().paths.iter().filter(may_change).cloned().collect();
        if pending.is_empty() {
            return Ok(BTreeSet::new());
        }
        let known = |db: Db<'_>| {
            let versions = db.file_versions();
            let known = pending.into_iter().map(|path| Ok(versions.last_digest_of(&path)?.is_some().then_some(path)));
            known.filter_map(Result::transpose).collect::<anyhow::Result<BTreeSet<String>>>()
        };
        self.0.journal.read(known).await
    }

    async fn sync_scope(&self, party: &Party) -> anyhow::Result<SyncScope> {
        let folder = self.0.workspace.folder_of(party).await?;
        Ok(SyncScope { folder, scope: party.scope(), party: party.clone() })
    }

    /// Returns the number of a party's files with pending changes.
    pub(super) fn pending_of(&self, party: &SyncScope) -> usize {
        self.0.pending().paths.iter().filter(|path| party.own(path).is_some()).count()
    }

    /// Finds changed files and marks them as pending. Lists all files if `is_due` says so.
    async fn find_changes(&self, party: &SyncScope, is_due: ListingRule) -> anyhow::Result<()> {
        let _reading = self.0.reading.lock().await;
        let (inner, listed, now) = (Arc::clone(&self.0), party.clone(), self.0.clock.now());
        let listing = blocking(move || Ok(inner.list_if(is_due, &listed, now))).await?;
        let Some(listing) = listing else { return Ok(()) };
        let mut known = self.0.journal.read_much(|db| db.entries().indexed_stamps()).await?;
        known.retain(|path, _| !journal_entries::is_journal_path(path) && party.own(path).is_some());
        let mut pending = self.0.pending();
        pending.listed.insert(party.folder.clone(), (now, listing.len()));
        for (path, stamp) in listing {
            let now = (stamp, party.scope_of(&path));
            if known.remove(&path).is_none_or(|before| before != now) {
                pending.paths.insert(path);
            }
        }
        pending.paths.extend(known.into_keys());
        Ok(())
    }

    /// Reads at most `most` of the pending files whose path is `wanted`.
    async fn read_pending(&self, party: &SyncScope, most: usize, wanted: impl Fn(&str) -> bool) -> anyhow::Result<()> {
        let mut remaining = most;
        while remaining > 0 {
            // Another task may have taken some of the pending files: these are not in the index
            // until it is done.
            let _reading = self.0.reading.lock().await;
            let paths = self.0.take_pending(party, BATCH.min(remaining), &wanted);
            if paths.is_empty() {
                break;
            }
            remaining -= paths.len();
            if let Err(error) = self.read_batch(party, &paths).await {
                self.0.pending().paths.extend(paths);
                return Err(error);
            }
        }
        Ok(())
    }

    async fn read_batch(&self, party: &SyncScope, paths: &[String]) -> anyhow::Result<()> {
        let mut readings = Vec::new();
        for path in paths {
            readings.push(self.read_one(party, path).await?);
        }
        self.add_categories(party.scope, &mut readings).await?;
        let job = move |tx: Tx<'_>| readings.iter().try_for_each(|reading| store(tx, reading));
        self.0.journal.write("index files", job).await
    }

    /// Adds the categories of facts, which the journal stores and the lines do not.
    async fn add_categories(&self, scope: Scope, readings: &mut [FileReading]) -> anyhow::Result<()> {
        let parsed = readings.iter_mut().filter_map(|reading| match reading {
            FileReading::Text { parsed, .. } => Some(parsed),
            FileReading::Missing { .. } | FileReading::NoText { .. } => None,
        });
        let facts = parsed.flat_map(|parsed| &mut parsed.entries).map(|entry| &mut entry.entry);
        let facts = facts.filter(|entry| entry.kind == EntryKind::Fact);
        let mut bare: Vec<&mut NewEntry> = facts.filter(|entry| entry.category.is_empty()).collect();
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

    async fn read_one(&self, party: &SyncScope, path: &str) -> anyhow::Result<FileReading> {
        let Some(own) = party.own(path) else { return Ok(FileReading::Missing { path: path.to_owned() }) };
        let (inner, requested) = (Arc::clone(&self.0), path.to_owned());
        let found = blocking(move || Ok(inner.stat(&requested))).await?;
        let Some(found) = found else { return self.missing_file(party, path).await };
        let scope = party.scope_of(path);
        let mut file = Indexed {
            path: path.to_owned(),
            scope,
            stamp: disk::stamp(&found),
            digest: String::new(),
            label: label::of_found_file(),
            trouble: String::new(),
            size: found.len(),
            at: Timestamp(found.mtime().saturating_mul(1000).saturating_add(found.mtime_nsec() / 1_000_000)),
        };
        let no_text = |mut file: Indexed, why: &str| {
            file.trouble = if should_be_text(&own) { why.to_owned() } else { String::new() };
            FileReading::NoText { file }
        };
        if self.has_extracted_text(path).await? {
            return Ok(FileReading::NoText { file });
        }
        if found.len() > layout::MAX_TEXT_FILE {
            return Ok(no_text(file, says::TOO_LARGE));
        }
        // Locked so that no write intervenes between the read and the row that holds the label.
        let writing = Arc::new(Arc::clone(&self.0.workspace.0.writing).lock_owned().await);
        let mut before = match self.0.workspace.versions().current(path).await {
            Ok(before) => before,
            Err(WriteError::Refused(WriteRefusal::NoText)) => return Ok(no_text(file, says::NOT_TEXT)),
            Err(WriteError::Refused(WriteRefusal::Unreadable(_))) => return Ok(no_text(file, says::UNREADABLE)),
            Err(WriteError::Refused(_)) => return Ok(FileReading::Missing { path: path.to_owned() }),
            Err(WriteError::Failed(error)) => {
                tracing::warn!("A file of the workspace cannot be read: {error:#}");
                return Ok(no_text(file, says::UNREADABLE));
            }
        };
        let missing = || Ok(FileReading::Missing { path: path.to_owned() });
        let Some(text) = &before.text else { return missing() };
        // The markup of a PDF may be text; what it says is not.
        if text.contains('\0') || text.trim_start().starts_with("%PDF-") {
            return Ok(no_text(file, says::NOT_TEXT));
        }
        if before.real_path != path {
            // The path leads through a link; the file is indexed at its real location.
            return missing();
        }
        let (versions, now) = (self.0.workspace.versions(), self.0.clock.now());
        if versions.adopt(path, &before, scope, now).await?.is_none() {
            file.trouble = says::FOREIGN.to_owned();
            return Ok(FileReading::NoText { file });
        }
        if unless_refused(versions.merge_stale_edit(&party.party, &before, now, &writing).await)? == Some(true) {
            let Some(merged) = unless_refused(versions.current(path).await)? else { return missing() };
            before = merged;
        }
        let Some(text) = &before.text else { return missing() };
        let (text, zone) = (text.clone(), self.0.workspace.0.zone);
        let parsed = blocking(move || Ok(parse(&own, &text, zone))).await?;
        file.digest.clone_from(&before.digest);
        parsed.trouble.clone_into(&mut file.trouble);
        Ok(FileReading::Text { file, parsed })
    }

    /// Returns true for a received file whose extracted text is indexed instead.
    async fn has_extracted_text(&self, path: &str) -> anyhow::Result<bool> {
        if !layout::is_inbox(path) {
            return Ok(false);
        }
        let text_path = stored_files::text_path_of(path);
        let digest = self.0.journal.read(move |db| db.file_versions().last_digest_of(&text_path)).await?;
        Ok(digest.is_some_and(|digest| !digest.is_empty()))
    }

    /// Handles a missing file. If we did not delete it, a person did; received files are deleted
    /// when they expire.
    async fn missing_file(&self, party: &SyncScope, path: &str) -> anyhow::Result<FileReading> {
        let missing = FileReading::Missing { path: path.to_owned() };
        if layout::is_inbox(path) {
            return Ok(missing);
        }
        let _writing = Arc::clone(&self.0.workspace.0.writing).lock_owned().await;
        let known = path.to_owned();
        if self.0.journal.read(|db| db.file_versions().last_digest_of(&known)).await?.is_none() {
            return Ok(missing);
        }
        if let Some(before) = unless_refused(self.0.workspace.versions().current(path).await)?
            && before.text.is_none()
            && before.real_path == path
        {
            // A deleted file reveals nothing to anyone.
            let _ = self.0.workspace.versions().adopt(path, &before, party.scope_of(path), self.0.clock.now()).await?;
        }
        Ok(missing)
    }

    async fn read_journal_entries(&self, scope: Scope) -> anyhow::Result<()> {
        loop {
            if self.0.journal.read(|db| db.entries().unindexed(scope, 1)).await?.is_empty() {
                return Ok(());
            }
            let job = move |tx: Tx<'_>| {
                for path in tx.entries().unindexed(scope, JOURNAL_BATCH)? {
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
    pub(super) async fn drop_strays(&self, parties: &[SyncScope]) -> anyhow::Result<()> {
        let known = self.0.journal.read_much(|db| db.entries().indexed_stamps()).await?;
        let stray = |path: &String| {
            !journal_entries::is_journal_path(path) && parties.iter().all(|party| party.own(path).is_none())
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
    pub(super) fn pending(&self) -> MutexGuard<'_, PendingChanges> {
        lock(&self.pending)
    }

    /// Returns true if the workspace exists: without it nothing was checked.
    pub(super) async fn has_workspace(self: &Arc<Self>) -> anyhow::Result<bool> {
        let inner = Arc::clone(self);
        blocking(move || Ok(inner.workspace.0.disk.root().is_dir())).await
    }

    /// Collects changed paths, and lists all files if `is_due` says so. Without a workspace no file
    /// counts as deleted. Blocks.
    fn list_if(&self, is_due: ListingRule, party: &SyncScope, now: Timestamp) -> Option<Listing> {
        let root = self.workspace.0.disk.root();
        if !root.is_dir() {
            return None;
        }
        let pending = &mut *self.pending();
        let changes = pending.watch.changes();
        if changes.all {
            pending.listed.clear();
        }
        pending.paths.extend(changes.paths);
        pending.paths.extend(self.workspace.take_touched());
        if !is_due(pending, &party.folder, now) {
            return None;
        }
        let watch = &mut pending.watch;
        let mut files = list_files(root, &party.folder, &mut |folder| watch.add(&root.join(folder), folder));
        let experience = self.workspace.0.experience.root();
        let prefixed = |path: &str| format!("{}{path}", layout::EXPERIENCE);
        let experience_files = list_files(experience, &party.folder, &mut |folder| {
            watch.add(&experience.join(folder), &prefixed(folder));
        });
        files.extend(experience_files.into_iter().map(|(path, stamp)| (prefixed(&path), stamp)));
        if !party.folder.is_empty() {
            watch.add(root, "");
            files.extend(list_shared_files(root));
        }
        Some(files)
    }

    fn take_pending(&self, party: &SyncScope, most: usize, wanted: &impl Fn(&str) -> bool) -> Vec<String> {
        let mut pending = self.pending();
        let is_wanted = |path: &&String| wanted(path) && party.own(path).is_some();
        let paths: Vec<String> = pending.paths.iter().filter(is_wanted).take(most).cloned().collect();
        for path in &paths {
            pending.paths.remove(path);
        }
        paths
    }

    /// Returns the metadata of the file at exactly that path, not behind a link. Blocks.
    fn stat(&self, path: &str) -> Option<Metadata> {
        let (disk, requested) = self.workspace.disk_of(path);
        let reached = disk
            .seek(requested)
            .ok()
            .filter(|reached| reached.kind == PathType::File && reached.real_path() == requested)?;
        disk::open(&reached).ok()?.metadata().ok()
    }
}

fn store(tx: Tx<'_>, reading: &FileReading) -> anyhow::Result<()> {
    match reading {
        FileReading::Missing { path } => tx.entries().drop_indexed(path),
        FileReading::NoText { file } => {
            let label = label::of_content(*tx, &file.path, &file.path, &file.digest)?.1;
            tx.entries().put_indexed(&Indexed { label, ..file.clone() }, &[]).map(drop)
        }
        FileReading::Text { file, parsed } => {
            let found = label::of_file(*tx, file.scope, &file.path, &file.path, &file.digest)?;
            let Some((row, label)) = found else { return tx.entries().drop_indexed(&file.path) };
            let passages = label::stored_passages(*tx, row, label.clone())?;
            let entries: Vec<NewEntry> = parsed.entries.iter().map(|entry| entry.labelled(&passages)).collect();
            let written = row.map(|row| tx.derivations().birth(Node::File(row))).transpose()?.flatten();
            let at = written.map_or(file.at, |(at, _)| at);
            tx.entries().put_indexed(&Indexed { label, at, ..file.clone() }, &entries).map(drop)
        }
    }
}
