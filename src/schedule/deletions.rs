//! Deletions that run by themselves: erasures on request and removals of imports that a crash
//! interrupted, messages whose timer has run out, and files outside the journal that belonged to a
//! message its sender deleted.
//!
//! A command erases at once and reports the result ([`crate::erasure`]). This module finishes what
//! was interrupted, before anything can display the data. It also checks now and then whether data
//! outside a request, left in place then, has since disappeared; the search words are then deleted
//! as well.
//!
//! Due deletions are read from the rows, so a restart or an absence only causes delay. At start-up
//! the program does everything due before it begins anything else
//! ([`Schedule::delete_redacted`]). The text is removed from the journal in one transaction for
//! every few messages; the files of the workspace follow, and until then their rows mark them as
//! still to be deleted. The journal's log is truncated afterwards because it holds the text as
//! well. The search index, which no longer finds the text, is rebuilt at night.

use std::time::Duration;

use super::Schedule;
use crate::erasure::Erasure;
use crate::memory::RemoveOutcome;
use crate::store::{Db, ErasureHead, ErasureKind, ErasureState, OldFile, Tx, UNCUT};
use crate::time::Timestamp;

/// Messages per transaction.
const MESSAGES: u32 = 50;
/// Files read at a time.
const FILES: u32 = 20;
/// Delay before a failed deletion is retried.
const RETRY: Duration = Duration::from_secs(60);

impl Schedule {
    /// Does what is due now. Runs before anything starts that could show the data.
    pub async fn delete_redacted(&self) -> anyhow::Result<()> {
        self.resume_erasures().await?;
        self.delete_due().await.map(drop)
    }

    fn erasure(&self) -> Erasure<'_> {
        Erasure::new(&self.journal, &self.workspace)
    }

    /// Finishes interrupted erasures and removals of imports. One that fails does not prevent the
    /// start; the next round retries it.
    pub(super) async fn resume_erasures(&self) -> anyhow::Result<()> {
        let now = self.clock.now();
        let heads = self.journal.read(|db| db.erasure().heads_in(ErasureState::Wanted)).await?;
        for ErasureHead { id, kind, .. } in heads {
            let executed = match kind {
                ErasureKind::Person => self.erasure().execute_person(id, now).await.map(|_| None),
                ErasureKind::Note | ErasureKind::Fact | ErasureKind::Words => self.erasure().execute(id, now).await,
            };
            match executed {
                Ok(outcome) => {
                    for redacted in outcome.into_iter().flat_map(|outcome| outcome.redacted) {
                        if redacted.turn_ended {
                            self.engine.cut(redacted.stream).await?;
                        }
                    }
                }
                Err(error) => tracing::error!("Forgetting {id} is not finished yet: {error:#}"),
            }
        }
        for id in self.journal.read(|db| db.imports().leaving()).await? {
            if let Err(error) = self.erasure().remove_import(id, now).await {
                tracing::error!("The removal of import {id} is not finished yet: {error:#}");
            }
        }
        Ok(())
    }

    /// Deletes the search words of erasures for which no data is left.
    pub(super) async fn end_verified_erasures(&self, now: Timestamp) -> anyhow::Result<()> {
        let heads = self.journal.read(|db| db.erasure().heads_in(ErasureState::Incomplete)).await?;
        for ErasureHead { id, kind, .. } in heads {
            if kind == ErasureKind::Person {
                // A person's row holds no words to search for, so the rest is deleted as before.
                if let Err(error) = self.erasure().execute_person(id, now).await {
                    tracing::error!("Forgetting {id} is not finished yet: {error:#}");
                }
                continue;
            }
            match self.journal.read(move |db| db.erasure().row(id)).await {
                Ok(Some(row)) => self.erasure().end_if_verified(&row, now).await?,
                Ok(None) => {}
                Err(error) => tracing::error!("Forgetting {id} is not finished yet: {error:#}"),
            }
        }
        Ok(())
    }

    /// Deletes what is due, and returns when the next deletion is.
    pub(super) async fn delete_due(&self) -> anyhow::Result<Option<Timestamp>> {
        let now = self.clock.now();
        while self.redact_expired(now).await? {}
        let is_complete = self.delete_redacted_files().await? & self.truncate_log().await?;
        let next = self.journal.read(|db| db.timers().runs_out_next()).await?;
        let retry = (!is_complete).then(|| now.plus(RETRY));
        Ok(next.into_iter().chain(retry).min())
    }

    /// Deletes some of the messages whose timer has run out. Returns false if there are none.
    async fn redact_expired(&self, now: Timestamp) -> anyhow::Result<bool> {
        let due = self.journal.read(move |db| db.timers().run_out(now, MESSAGES)).await?;
        if due.is_empty() {
            return Ok(false);
        }
        let redact = move |tx: Tx<'_>| {
            let redacted = due.into_iter().map(|id| tx.redaction().redact_message(id, now));
            redacted.filter_map(Result::transpose).collect::<anyhow::Result<Vec<_>>>()
        };
        for redacted in self.journal.write("let words go", redact).await? {
            if redacted.turn_ended {
                self.engine.cut(redacted.stream).await?;
            }
            self.engine.wake_summarizer();
        }
        Ok(true)
    }

    /// Deletes the file before its row is marked: after a crash in between the file is missing, and
    /// the row is marked the next time. Returns false if a file is left.
    async fn delete_redacted_files(&self) -> anyhow::Result<bool> {
        let (mut after, mut is_complete) = (0, true);
        loop {
            let files = self.journal.read(move |db: Db<'_>| db.redaction().redacted_files(after, FILES)).await?;
            let Some(last) = files.last() else { return Ok(is_complete) };
            after = last.id.0;
            for file in &files {
                if let Err(error) = self.delete_redacted_file(file).await {
                    tracing::warn!("File {} of a message that is gone is not deleted yet: {error:#}", file.id);
                    is_complete = false;
                }
            }
        }
    }

    async fn delete_redacted_file(&self, file: &OldFile) -> anyhow::Result<()> {
        let id = file.id;
        if self.workspace.files().drop_received(&file.path, &file.digest).await? == RemoveOutcome::Changed {
            tracing::warn!("Where file {id} of a message that is gone was, something else lies now; it stays");
        }
        if !file.text_path.is_empty()
            && self.workspace.files().drop_text_of(&file.text_path).await? == RemoveOutcome::Changed
        {
            tracing::warn!(
                "Where the words of file {id} of a message that is gone were, something else lies now; it stays"
            );
        }
        self.journal.write("let a file go", move |tx| tx.redaction().mark_file_deleted(id)).await
    }

    /// Truncates the log, which holds deleted text until then. Returns false if a reader prevents
    /// it.
    async fn truncate_log(&self) -> anyhow::Result<bool> {
        let Some(last) = self.journal.read(|db| db.settings().fact(UNCUT)).await? else { return Ok(true) };
        let cut = self.journal.truncate_log().await?;
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
