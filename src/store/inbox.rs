//! Raw items as channels deliver them, each stored once, and the cursors that confirm them.

use rusqlite::params;
use strum::{EnumString, IntoStaticStr};

use crate::id::InboxId;
use crate::store::handles::{Inbox, InboxMut};
use crate::store::rows::stored_word;
use crate::time::Timestamp;

/// Outcome of a raw item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum InboxOutcome {
    /// A message of a known person.
    Admitted,
    /// A command of a known person.
    Command,
    /// An edit of an earlier message.
    Edit,
    /// A button press.
    Button,
    /// Unsupported; the person was informed.
    Unsupported,
    /// From an unknown sender; nothing is kept.
    Stranger,
    /// Irrelevant to conversations.
    Nothing,
    /// Invalid.
    Unreadable,
}

stored_word!(InboxOutcome);

/// A raw item to store.
#[derive(Debug, Clone)]
pub struct InboxItem<'a> {
    /// Adapter that received it.
    pub adapter: &'a str,
    /// Account that received it.
    pub account: &'a str,
    /// Id of the item, the same at each delivery.
    pub external_id: &'a str,
    /// Current time.
    pub received_at: Timestamp,
    /// Outcome.
    pub fate: InboxOutcome,
    /// Original, if it is kept.
    pub raw: Option<&'a str>,
}

impl InboxMut<'_> {
    /// Stores a raw item. `None` if it is already stored and must not be processed again.
    pub fn receive(&self, item: &InboxItem<'_>) -> anyhow::Result<Option<InboxId>> {
        let stored = self.db.execute(
            "INSERT INTO inbox (adapter, account, external_id, received_at, fate, raw)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (adapter, account, external_id) DO NOTHING",
            params![
                item.adapter,
                item.account,
                item.external_id,
                item.received_at,
                item.fate,
                item.raw.unwrap_or_default()
            ],
        )?;
        Ok((stored == 1).then(|| InboxId(self.db.last_insert_rowid())))
    }

    /// Moves the cursor of an account.
    pub fn set_cursor(&self, adapter: &str, account: &str, cursor: &str, now: Timestamp) -> anyhow::Result<()> {
        self.db.run(
            "INSERT INTO cursors (adapter, account, cursor, last_event_at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (adapter, account) DO UPDATE SET cursor = ?3, last_event_at = ?4",
            params![adapter, account, cursor, now],
        )
    }
}

impl Inbox<'_> {
    /// Returns the original of the item that was received under that id; blank if it is not kept.
    pub fn received(&self, adapter: &str, account: &str, external_id: &str) -> anyhow::Result<Option<String>> {
        let sql = "SELECT raw FROM inbox WHERE adapter = ?1 AND account = ?2 AND external_id = ?3";
        self.db.first(sql, [adapter, account, external_id])
    }

    /// Returns the cursor of an account.
    pub fn cursor(&self, adapter: &str, account: &str) -> anyhow::Result<Option<String>> {
        self.db.first("SELECT cursor FROM cursors WHERE adapter = ?1 AND account = ?2", [adapter, account])
    }
}
