//! The steps of the upkeep: deletions because of age (text, originals, files, leftovers of deleted
//! knowledge), sweeps, comparisons and checks.
//!
//! The comparison and the check read all data, so they run once a week, on read-only connections.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Done, MaintenanceStep};
use crate::engine::system_run;
use crate::memory::RemoveOutcome;
use crate::schedule::Upkeep;
use crate::store::{Db, FORGOT, NewOutbox, OldFile, Tx};
use crate::time::Timestamp;
use crate::trust::Scope;
use crate::wording::{self, ProgramText, upkeep as says};

const DAY: Duration = Duration::from_secs(24 * 3600);
/// The setting that holds the result of the last check.
const CHECKED: &str = "journal_checked";
/// The setting that holds the time of the last index comparison.
const COMPARED: &str = "index_compared_at";
/// The setting that holds the local day of the last low-disk notice to the owner.
const TOLD_OF_DISK: &str = "told_of_disk";
/// Maximum number of rows changed per transaction.
const ROWS: u32 = 200;
/// Slightly less than a week, because the start of a round varies.
const WEEK: Duration = Duration::from_secs(7 * 24 * 3600 - 12 * 3600);
/// Free space in bytes below which the owner is notified: enough for some days, and more than any
/// step of the journal needs.
const LITTLE_ROOM: u64 = 500 << 20;

/// The result of the last check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// End time of the check.
    pub at: Timestamp,
    /// Defects found; empty if the journal is sound.
    pub found: Vec<String>,
}

impl Checked {
    /// Loads the result of the last check; `None` if there was none.
    pub fn last(db: Db<'_>) -> anyhow::Result<Option<Self>> {
        Ok(db.settings().fact(CHECKED)?.and_then(|stored| serde_json::from_str(&stored).ok()))
    }
}

impl Upkeep<'_> {
    pub(super) async fn sweep_rows(&self, now: Timestamp) -> anyhow::Result<Done> {
        let days = move |days: u32| now.minus(DAY * days);
        let (month, quarter, year) = (days(30), days(90), days(365));
        let sweep = move |tx: Tx<'_>| {
            let names = tx.addresses().forget_names(days(7))?;
            let changes = tx.health_changes().sweep(quarter, ROWS)?;
            Ok(names + changes + tx.maintenance().sweep(month, quarter, year, ROWS)?)
        };
        let swept = self.journal.write("sweep rows", sweep).await?;
        Ok(MaintenanceStep::Rows.while_some(swept))
    }

    /// Repairs missing and leftover index rows at once. The index is derived, so no approval is
    /// needed.
    pub(super) async fn compare_index(&self, now: Timestamp) -> anyhow::Result<Done> {
        let last = self.journal.read(|db| db.settings().fact(COMPARED)).await?;
        if last.and_then(|at| at.parse().ok()).is_some_and(|at| now.since(Timestamp(at)) < WEEK) {
            return Ok(Done::Next);
        }
        let astray = self.journal.read_much(|db| db.maintenance().index_mismatches(ROWS)).await?;
        if astray.is_empty() {
            let at = now.0.to_string();
            self.journal
                .write("the index goes with the texts", move |tx| tx.settings().set_fact(COMPARED, &at))
                .await?;
            return Ok(Done::Next);
        }
        let (missing, left_over) = (astray.missing.len(), astray.left_over.len());
        tracing::warn!("The search index is mended: {missing} texts were missing, {left_over} were left over");
        self.journal.write("mend the index", move |tx| tx.maintenance().fix_index(&astray)).await?;
        Ok(Done::Again(MaintenanceStep::Index))
    }

    pub(super) async fn begin_check(&self, now: Timestamp) -> anyhow::Result<Done> {
        let (last, tables) = self.journal.read(|db| Ok((Checked::last(db)?, db.maintenance().tables()?))).await?;
        if last.is_some_and(|last| now.since(last.at) < WEEK) {
            return Ok(Done::Next);
        }
        Ok(Done::Again(MaintenanceStep::Tables { left: Some(tables), found: Vec::new() }))
    }

    /// Checks one table. After the last one the owner is notified of any defects.
    pub(super) async fn check_tables(&self, left: &[String], found: &[String], now: Timestamp) -> anyhow::Result<Done> {
        let (mut left, mut found) = (left.to_vec(), found.to_vec());
        if let Some(table) = left.pop() {
            // A table that cannot be read at all is a defect as well.
            let looked = self.journal.read_much(move |db| Ok(db.maintenance().check_table(&table))).await?;
            found.extend(looked.unwrap_or_else(|error| vec![format!("{error:#}")]));
            return Ok(Done::Again(MaintenanceStep::Tables { left: Some(left), found }));
        }
        let words = (!found.is_empty()).then(|| says::journal_damaged(found.len()));
        let checked = serde_json::to_string(&Checked { at: now, found })?;
        self.notify_owner("the journal is checked", words, now, move |tx| tx.settings().set_fact(CHECKED, &checked))
            .await?;
        Ok(Done::Next)
    }

    pub(super) async fn check_disk_space(&self, now: Timestamp) -> anyhow::Result<Done> {
        let Some(free) = self.free_space.bytes().filter(|free| *free < LITTLE_ROOM) else { return Ok(Done::Next) };
        let today = self.zone.day(now);
        if self.journal.read(|db| db.settings().fact(TOLD_OF_DISK)).await?.as_ref() == Some(&today) {
            return Ok(Done::Next);
        }
        tracing::warn!("The disk is nearly full: {} MiB are free", free >> 20);
        let words = Some(says::disk_nearly_full(free >> 20));
        self.notify_owner("the disk is nearly full", words, now, move |tx| {
            tx.settings().set_fact(TOLD_OF_DISK, &today)
        })
        .await?;
        Ok(Done::Next)
    }

    /// Notifies the first owner, in one transaction with what `with` writes. An owner without an
    /// address finds the message in `doctor` and the log.
    async fn notify_owner(
        &self,
        name: &'static str,
        words: Option<ProgramText>,
        now: Timestamp,
        with: impl FnOnce(Tx<'_>) -> anyhow::Result<()> + Send + 'static,
    ) -> anyhow::Result<()> {
        let tell = move |tx: Tx<'_>| {
            with(tx)?;
            let owner = tx.people().first_owner()?;
            let (Some(words), Some(owner)) = (words, owner) else { return Ok(None) };
            let Some(address) = system_run::address_of(*tx, owner.id)? else { return Ok(None) };
            let text = wording::own(words, Scope::Person(owner.id));
            tx.outbox().post(&NewOutbox::notice(address, &text, now))?;
            Ok(Some(address))
        };
        if let Some(address) = self.journal.write(name, tell).await? {
            self.engine.channels.posted(address);
        }
        Ok(())
    }
}

/// Maximum number of files deleted per step.
const FILES: u32 = 20;
/// Retention time of an original.
const KEEP_ORIGINALS: Duration = Duration::from_secs(7 * 24 * 3600);

impl Upkeep<'_> {
    /// Deletes the text of a conversation that ended the configured number of days ago. A setting
    /// shorter than the gap cannot reach a conversation that still continues.
    pub(super) async fn forget_conversations(&self, now: Timestamp) -> anyhow::Result<Done> {
        let Some(before) = ago(now, self.retention.messages_days) else { return Ok(Done::Next) };
        let before = before.min(now.minus(self.engine.conversation.gap));
        let journal = &self.journal;
        let Some(id) = journal.read(move |db| db.maintenance().conversation_to_forget(before)).await? else {
            return Ok(Done::Next);
        };
        let forget = move |tx: Tx<'_>| {
            tx.settings().set_fact(FORGOT, "1")?;
            tx.maintenance().forget_words(id, ROWS, now)
        };
        if journal.write("forget words", forget).await? == 0 {
            tracing::info!(conversation.id = id.0, "The words of conversation {id} are deleted because of their age");
        }
        Ok(Done::Again(MaintenanceStep::Conversations))
    }

    pub(super) async fn forget_commands(&self, now: Timestamp) -> anyhow::Result<Done> {
        let Some(before) = ago(now, self.retention.messages_days) else { return Ok(Done::Next) };
        let forget = move |tx: Tx<'_>| {
            let edited = tx.maintenance().reopen_cleared()?;
            Ok(edited
                + tx.maintenance().forget_commands(before, ROWS)?
                + tx.maintenance().forget_notices(before, ROWS)?)
        };
        let forgotten = self.journal.write("forget commands", forget).await?;
        Ok(MaintenanceStep::Commands.while_some(forgotten))
    }

    pub(super) async fn purge_originals(&self, now: Timestamp) -> anyhow::Result<Done> {
        let before = now.minus(KEEP_ORIGINALS);
        let purge = move |tx: Tx<'_>| tx.maintenance().purge_originals(before, ROWS);
        let purged = self.journal.write("purge originals", purge).await?;
        Ok(MaintenanceStep::Originals.while_some(purged))
    }

    /// Deletes the file before its row is marked: after a crash in between the file is missing, and
    /// the row is marked the next time.
    pub(super) async fn drop_files(&self, after: i64, now: Timestamp) -> anyhow::Result<Done> {
        let Some(before) = ago(now, self.retention.attachments_days) else { return Ok(Done::Next) };
        let old = self.journal.read(move |db| db.maintenance().old_files(before, after, FILES)).await?;
        let Some(last) = old.last().map(|file| file.id.0) else { return self.drop_given(before).await };
        for file in old {
            if let Err(error) = self.drop_file(&file).await {
                tracing::warn!("Received file {} is not deleted: {error:#}", file.id);
            }
        }
        Ok(Done::Again(MaintenanceStep::Files { after: last }))
    }

    /// Deletes files that external tools gave.
    async fn drop_given(&self, before: Timestamp) -> anyhow::Result<Done> {
        let given = self.journal.read(move |db| db.maintenance().given_files(before, FILES)).await?;
        let dropped = given.len();
        for (path, digest) in given {
            if self.workspace.files().drop_received(&path, &digest).await? == RemoveOutcome::Changed {
                tracing::warn!("Where a file of an external tool was, something else lies now; it stays");
            }
            let mark = move |tx: Tx<'_>| tx.maintenance().given_file_dropped(&path, &digest);
            self.journal.write("drop a given file", mark).await?;
        }
        Ok(MaintenanceStep::Files { after: i64::MAX }.while_some(dropped))
    }

    async fn drop_file(&self, file: &OldFile) -> anyhow::Result<()> {
        let id = file.id;
        if self.workspace.files().drop_received(&file.path, &file.digest).await? == RemoveOutcome::Changed {
            tracing::warn!("Where received file {id} was, something else lies now; it stays");
        }
        if !file.text_path.is_empty()
            && self.workspace.files().drop_text_of(&file.text_path).await? == RemoveOutcome::Changed
        {
            tracing::warn!("Where the words of received file {id} were, something else lies now; it stays");
        }
        let mark = move |tx: Tx<'_>| tx.maintenance().file_dropped(id, says::FILE_FORGOTTEN);
        self.journal.write("drop a file", mark).await
    }
}

fn ago(now: Timestamp, days: Option<u32>) -> Option<Timestamp> {
    days.map(|days| now.minus(DAY.saturating_mul(days)))
}

/// Retention time of a sent archive in its person's folder.
const KEEP_EXPORTS: Duration = Duration::from_secs(7 * 24 * 3600);

impl Upkeep<'_> {
    pub(super) async fn sweep_knowledge(&self, now: Timestamp) -> anyhow::Result<Done> {
        self.drop_exports(now.minus(KEEP_EXPORTS)).await?;
        let before = now.minus(DAY * 90);
        let swept = self.journal.write("sweep knowledge", move |tx| tx.erasure().sweep_knowledge(before, ROWS)).await?;
        if swept == 0 {
            self.resume_erasures().await?;
            self.end_verified_erasures(now).await?;
        }
        Ok(MaintenanceStep::Knowledge.while_some(swept))
    }

    /// Deletes the file before its row.
    async fn drop_exports(&self, before: Timestamp) -> anyhow::Result<()> {
        for (path, digest) in self.journal.read(move |db| db.erasure().exports_before(before)).await? {
            self.workspace.files().drop_export(&path, &digest).await?;
            self.journal.write("drop an archive", move |tx| tx.erasure().forget_export(&path, &digest)).await?;
        }
        Ok(())
    }
}
