//! A journal that came out of a backup: what was under way when it was made is over.
//!
//! Nobody knows what happened since. What was asked may have been answered, what waited to be sent
//! may have been sent, and what was proposed may have been refused. So nothing of it goes on: it is
//! closed with a reason, in one transaction, before anybody opens the restored home. Where an
//! adapter stood is forgotten, because the server may be further; it hands over what it still has,
//! and what is known is not taken twice.

mod people;
mod unsigned;

pub use people::{PersonRecord, PresentPeople, Readmission, RestoredPerson};

use crate::store::handles::{AfterRestore, AfterRestoreMut};
use rusqlite::params;
use serde::{Deserialize, Serialize};

use crate::time::Timestamp;
use crate::trust::{Label, Scope};

/// The fact that says when this journal came out of a backup.
pub const RESTORED_AT: &str = "restored_at";
/// The fact that says what was closed then.
const PARKED: &str = "parked";
/// Why rows are closed.
const REASON: &str = "restored";

/// How much was closed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Parked {
    /// Messages and commands that waited or were being answered.
    pub messages: usize,
    /// Things that waited to be sent.
    pub outbox: usize,
    /// Proposals that waited for a yes.
    pub proposals: usize,
    /// Questions that waited for one.
    pub questions: usize,
    /// Slots in which something was to be done.
    pub slots: usize,
    /// Files that match nothing in the journal.
    pub files: usize,
    /// Skills that match nothing that was accepted.
    pub skills: usize,
    /// People who are not let in, or not as the archive says.
    pub people: usize,
    /// Outside tools whose acceptance is void.
    pub tools: usize,
    /// Reminders and tasks that were cancelled.
    pub reminders: usize,
}

impl AfterRestore<'_> {
    /// What was closed when this journal came out of a backup; `None` if it never did.
    pub fn parked(&self) -> anyhow::Result<Option<Parked>> {
        Ok(self.db.settings().fact(PARKED)?.and_then(|stored| serde_json::from_str(&stored).ok()))
    }

    /// The files that are said to have been received and lie in the workspace.
    pub fn received_files(&self) -> anyhow::Result<Vec<String>> {
        let mut query = self.db.prepare("SELECT path FROM attachments WHERE state = 'here'")?;
        Ok(query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// Whose a file is, as it was last written.
    pub fn last_scope_of(&self, path: &str) -> anyhow::Result<Scope> {
        let mut query = self.db.prepare_cached("SELECT scope FROM files WHERE path = ?1 ORDER BY id DESC LIMIT 1")?;
        let mut rows = query.query([path])?;
        Ok(rows.next()?.map(|row| row.get(0)).transpose()?.unwrap_or(Scope::Shared))
    }
}

impl AfterRestoreMut<'_> {
    /// Closes everything that was under way.
    pub fn park(&self, now: Timestamp) -> anyhow::Result<Parked> {
        let over = |sql: &str| -> anyhow::Result<usize> { Ok(self.db.prepare(sql)?.execute(params![REASON, now])?) };
        let because = |sql: &str| -> anyhow::Result<usize> { Ok(self.db.prepare(sql)?.execute([REASON])?) };
        let at = |sql: &str| -> anyhow::Result<usize> { Ok(self.db.prepare(sql)?.execute([now])?) };
        // Before its changes are over: what was approved and not made yet is void as well.
        over(
            "UPDATE proposals SET state = 'expired', reason = ?1, decided_at = ?2
              WHERE id IN (SELECT proposal_id FROM skill_changes WHERE state = 'intended')",
        )?;
        let parked = Parked {
            messages: because(
                "UPDATE messages SET state = 'closed', reason = ?1 WHERE state IN ('queued', 'claimed')",
            )?,
            outbox: over("UPDATE outbox SET state = 'failed', trouble = ?1, ended_at = ?2 WHERE state = 'pending'")?,
            proposals: over(
                "UPDATE proposals SET state = 'expired', reason = ?1, decided_at = ?2 WHERE state = 'pending'",
            )?,
            questions: at("UPDATE questions SET state = 'expired', decided_at = ?1 WHERE state = 'open'")?
                + at("UPDATE keeps SET state = 'expired', decided_at = ?1 WHERE state IN ('new', 'open', 'yes')")?,
            slots: over(
                "UPDATE slots SET state = 'failed', reason = ?1, ended_at = ?2 WHERE state IN ('claimed', 'working')",
            )?,
            ..Parked::default()
        };
        over(
            "UPDATE turns SET state = 'stopped', reason = ?1, ended_at = ?2, retry_at = NULL WHERE state IN ('running', 'waiting')",
        )?;
        over("UPDATE actions SET state = 'refused', reason = ?1, ended_at = ?2 WHERE state IN ('new', 'taken')")?;
        at("UPDATE skill_changes SET state = 'conflict', ended_at = ?1 WHERE state = 'intended'")?;
        // What comes back is planned anew; what was to be said once is better late than never.
        at("UPDATE reminders SET next_at = NULL WHERE state = 'waiting' AND cron <> '' AND next_at <= ?1")?;
        at("UPDATE pairing_codes SET expires_at = min(expires_at, ?1) WHERE used_at IS NULL")?;
        self.db.execute_batch(
            "UPDATE parts SET state = 'failed' WHERE state IN ('waiting', 'sending');
             UPDATE outbox SET set_aside = 0 WHERE set_aside > 0;
             DELETE FROM previews; DELETE FROM cursors;",
        )?;
        // The tree is another one now.
        self.tx().entries().clear_entries()?;
        self.tx().settings().set_fact(RESTORED_AT, &now.0.to_string())?;
        self.note_parked(&parked)?;
        Ok(parked)
    }

    /// Keeps what was closed, for whoever asks later.
    pub fn note_parked(&self, parked: &Parked) -> anyhow::Result<()> {
        self.tx().settings().set_fact(PARKED, &serde_json::to_string(parked)?)
    }

    /// A received file is not in the backup: it came while that was made. Its adapter has it still.
    pub fn received_file_missing(&self, path: &str) -> anyhow::Result<()> {
        self.db
            .prepare_cached(
                "UPDATE attachments SET state = 'remote', path = '', text_path = '', digest = '' WHERE state = 'here' AND path = ?1",
            )?
            .execute([path])?;
        Ok(())
    }

    /// A file stands in the restored workspace that nobody vouches for.
    pub fn file_found(&self, path: &str, digest: &str, label: &Label, now: Timestamp) -> anyhow::Result<()> {
        let scope = self.last_scope_of(path)?;
        self.tx().file_versions().file_written(path, digest, label, scope, now).map(drop)
    }
}
