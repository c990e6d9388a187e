//! Deletions because of age: text, originals, files, and leftovers of deleted knowledge.

use std::time::Duration;

use super::{Done, MaintenanceStep};
use crate::memory::RemoveOutcome;
use crate::schedule::Upkeep;
use crate::store::{FORGOT, OldFile};
use crate::time::Timestamp;
use crate::wording::upkeep as says;

/// Maximum number of rows changed per transaction.
const ROWS: u32 = 200;
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
        let forget = move |tx: crate::store::Tx<'_>| {
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
        let forget = move |tx: crate::store::Tx<'_>| {
            let edited = tx.maintenance().remember_edited()?;
            Ok(edited
                + tx.maintenance().forget_commands(before, ROWS)?
                + tx.maintenance().forget_notices(before, ROWS)?)
        };
        let forgotten = self.journal.write("forget commands", forget).await?;
        Ok(MaintenanceStep::Commands.while_some(forgotten))
    }

    pub(super) async fn purge_originals(&self, now: Timestamp) -> anyhow::Result<Done> {
        let before = now.minus(KEEP_ORIGINALS);
        let purge = move |tx: crate::store::Tx<'_>| tx.maintenance().purge_originals(before, ROWS);
        let purged = self.journal.write("purge originals", purge).await?;
        Ok(MaintenanceStep::Originals.while_some(purged))
    }

    /// Deletes the file before its row is marked: after a crash in between the file is missing, and
    /// the row is marked the next time.
    pub(super) async fn drop_files(&self, after: i64, now: Timestamp) -> anyhow::Result<Done> {
        let Some(before) = ago(now, self.retention.attachments_days) else { return Ok(Done::Next) };
        let old = self.journal.read(move |db| db.maintenance().old_files(before, after, FILES)).await?;
        let Some(last) = old.last().map(|file| file.id.0) else { return Ok(Done::Next) };
        for file in old {
            if let Err(error) = self.drop_file(&file).await {
                tracing::warn!("Received file {} is not deleted: {error:#}", file.id);
            }
        }
        Ok(Done::Again(MaintenanceStep::Files { after: last }))
    }

    async fn drop_file(&self, file: &OldFile) -> anyhow::Result<()> {
        let id = file.id;
        if self.tree.files().drop_received(&file.path, &file.digest).await? == RemoveOutcome::Changed {
            tracing::warn!("Where received file {id} was, something else lies now; it stays");
        }
        if !file.text_path.is_empty()
            && self.tree.files().drop_text_of(&file.text_path).await? == RemoveOutcome::Changed
        {
            tracing::warn!("Where the words of received file {id} were, something else lies now; it stays");
        }
        let mark = move |tx: crate::store::Tx<'_>| tx.maintenance().file_dropped(id, says::FILE_FORGOTTEN);
        self.journal.write("drop a file", mark).await
    }
}

fn ago(now: Timestamp, days: Option<u32>) -> Option<Timestamp> {
    days.map(|days| now.minus(Duration::from_secs(24 * 3600).saturating_mul(days)))
}

const DAY: Duration = Duration::from_secs(24 * 3600);
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
            self.tree.files().drop_export(&path, &digest).await?;
            self.journal.write("drop an archive", move |tx| tx.erasure().forget_export(&path, &digest)).await?;
        }
        Ok(())
    }
}
