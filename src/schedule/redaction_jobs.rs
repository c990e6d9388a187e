//! Timed deletions: messages whose timer has run out, and files outside the journal that belonged
//! to a message its sender deleted.
//!
//! Due deletions are read from the rows, so a restart or an absence only causes delay. At start-up
//! the program does everything due before it begins anything else
//! ([`Schedule::delete_redacted`]). The text is removed from the journal in one transaction for
//! every few messages; the files of the workspace follow, and until then their rows mark them as
//! still to be deleted. The journal's log is truncated afterwards because it holds the text as
//! well. The search index, which no longer finds the text, is rebuilt at night.

use std::time::Duration;

use super::Schedule;
use crate::memory::Received;
use crate::store::{AfterRedaction, Db, OldFile, Tx, UNCUT};
use crate::time::Timestamp;

/// Messages per transaction.
const MESSAGES: u32 = 50;
/// Files read at a time.
const FILES: u32 = 20;
/// Delay before a failed deletion is retried.
const AGAIN: Duration = Duration::from_secs(60);

impl Schedule {
    /// Does what is due now. Runs before anything starts that could show the data.
    pub async fn delete_redacted(&self) -> anyhow::Result<()> {
        self.finish_forgetting().await?;
        self.delete_due().await.map(drop)
    }

    /// Deletes what is due, and returns when the next deletion is.
    pub(super) async fn delete_due(&self) -> anyhow::Result<Option<Timestamp>> {
        let now = self.clock.now();
        while self.words_run_out(now).await? {}
        let whole = self.delete_redacted_files().await? & self.log_is_cut().await?;
        let next = self.journal.read(|db| db.timers().runs_out_next()).await?;
        let again = (!whole).then(|| now.plus(AGAIN));
        Ok(next.into_iter().chain(again).min())
    }

    /// Deletes some of the messages whose timer has run out. Returns false if there are none.
    async fn words_run_out(&self, now: Timestamp) -> anyhow::Result<bool> {
        let due = self.journal.read(move |db| db.timers().run_out(now, MESSAGES)).await?;
        if due.is_empty() {
            return Ok(false);
        }
        let go = move |tx: Tx<'_>| {
            let partings =
                due.into_iter().map(|id| tx.redaction().redact_message(id, now)).collect::<anyhow::Result<Vec<_>>>()?;
            Ok(partings.into_iter().flatten().collect::<Vec<AfterRedaction>>())
        };
        for parting in self.journal.write("let words go", go).await? {
            if parting.cut {
                self.engine.cut(parting.stream).await?;
            }
            self.engine.wake_summarizer();
        }
        Ok(true)
    }

    /// Deletes the file before its row is marked: after a crash in between the file is missing, and
    /// the row is marked the next time. Returns false if a file is left.
    async fn delete_redacted_files(&self) -> anyhow::Result<bool> {
        let (mut after, mut whole) = (0, true);
        loop {
            let files = self.journal.read(move |db: Db<'_>| db.redaction().redacted_files(after, FILES)).await?;
            let Some(last) = files.last() else { return Ok(whole) };
            after = last.id.0;
            for file in &files {
                if let Err(error) = self.delete_redacted_file(file).await {
                    tracing::warn!("File {} of a message that is gone is not deleted yet: {error:#}", file.id);
                    whole = false;
                }
            }
        }
    }

    async fn delete_redacted_file(&self, file: &OldFile) -> anyhow::Result<()> {
        let id = file.id;
        if self.tree.files().drop_received(&file.path, &file.digest).await? == Received::Changed {
            tracing::warn!("Where file {id} of a message that is gone was, something else lies now; it stays");
        }
        if !file.text_path.is_empty() && self.tree.files().drop_text_of(&file.text_path).await? == Received::Changed {
            tracing::warn!(
                "Where the words of file {id} of a message that is gone were, something else lies now; it stays"
            );
        }
        self.journal.write("let a file go", move |tx| tx.redaction().mark_file_deleted(id)).await
    }

    /// Truncates the log, which holds deleted text until then. Returns false if a reader prevents
    /// it.
    async fn log_is_cut(&self) -> anyhow::Result<bool> {
        let Some(last) = self.journal.read(|db| db.settings().fact(UNCUT)).await? else { return Ok(true) };
        let cut = self.journal.cut_log().await?;
        if cut {
            let drop = move |tx: Tx<'_>| {
                // Other text may have been deleted in the meantime.
                let is_all = tx.settings().fact(UNCUT)?.as_ref() == Some(&last);
                if is_all { tx.settings().drop_fact(UNCUT) } else { Ok(()) }
            };
            self.journal.write("the log holds no words", drop).await?;
        }
        Ok(cut)
    }
}
