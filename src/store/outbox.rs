//! Pending deliveries and the progress of each part.
//!
//! A part goes `waiting` → `sending` → `sent`. If a part is in `sending` after a start, its outcome
//! is unknown: it is sent again and marked as possibly repeated. Parts are sent in order, so at
//! most one part of an address is ever in doubt.

use crate::store::handles::{Outbox, OutboxMut};
use std::sync::Arc;

use rusqlite::{OptionalExtension, Row, params};
use strum::{EnumString, IntoStaticStr};

use crate::id::{AddressId, MessageId, OutboxId, PartId, TurnId};
use crate::store::stored_word::stored_word;
use crate::time::Timestamp;
use crate::trust::{Labelled, Text};

/// Kind of delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum OutboxKind {
    /// A reply of the assistant.
    Reply,
    /// A notice by the program.
    Notice,
    /// The answer to a command.
    Answer,
    /// An emoji reaction to the quoted message.
    Reaction,
}

stored_word!(OutboxKind, PartState);

/// A delivery to add. The text of a reply is stored with its message; all others bring their own.
#[derive(Debug, Clone)]
pub struct NewOutbox<'a> {
    /// Destination.
    pub address: AddressId,
    /// Kind.
    pub kind: OutboxKind,
    /// Reply whose text it delivers.
    pub message: Option<MessageId>,
    /// Text in Markdown.
    pub text: &'a Text,
    /// Buttons: title and data.
    pub buttons: &'a [(String, String)],
    /// External ids of the answered messages, one per line; blank for none. In a group the first is
    /// quoted.
    pub quotes: &'a str,
    /// Current time.
    pub at: Timestamp,
}

impl<'a> NewOutbox<'a> {
    /// Creates a notice by the program.
    pub fn notice(address: AddressId, text: &'a Text, at: Timestamp) -> Self {
        Self { address, kind: OutboxKind::Notice, message: None, text, buttons: &[], quotes: "", at }
    }
}

/// A pending delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxRow {
    /// Row id.
    pub id: OutboxId,
    /// Destination.
    pub address: AddressId,
    /// Kind.
    pub kind: OutboxKind,
    /// Turn whose reply it is.
    pub turn: Option<TurnId>,
    /// Text in Markdown.
    pub text: Text,
    /// Buttons: title and data.
    pub buttons: Vec<(String, String)>,
    /// External ids of the answered messages, one per line; blank for none. In a group the first is
    /// quoted.
    pub quotes: String,
    /// Creation time.
    pub created_at: Timestamp,
    /// Failed attempts of the current part.
    pub attempts: u32,
    /// Time before which it is not retried.
    pub retry_at: Timestamp,
    /// Last failed attempt of the current part; the epoch for none.
    pub failed_at: Timestamp,
    /// Delivery that this notice reports as set aside.
    pub tells_of: Option<OutboxId>,
}

/// A part to store before it is sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewPart {
    /// Text in the channel's markup.
    pub rich: String,
    /// Text without markup.
    pub plain: String,
    /// Buttons: title and data.
    pub buttons: Vec<(String, String)>,
    /// Path if the part is a file; blank for text.
    pub file: String,
    /// SHA-256 of that file's bytes.
    pub digest: String,
}

/// Progress of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum PartState {
    /// Not yet tried.
    Waiting,
    /// Being sent; after a start: outcome unknown.
    Sending,
    /// Delivered.
    Sent,
    /// Given up.
    Failed,
}

/// A part as sent over the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartRow {
    /// Row id.
    pub id: PartId,
    /// Order, from 0.
    pub seq: u32,
    /// Text in the channel's markup.
    pub rich: String,
    /// Text without markup.
    pub plain: String,
    /// Buttons: title and data.
    pub buttons: Vec<(String, String)>,
    /// Progress.
    pub state: PartState,
    /// True if only the plain form is accepted.
    pub plain_only: bool,
    /// True if it may have been sent before.
    pub repeated: bool,
    /// Id assigned by the channel.
    pub external_id: String,
    /// Path if the part is a file; blank for text.
    pub file: String,
    /// SHA-256 of that file's bytes.
    pub digest: String,
}

fn buttons(stored: &str) -> Vec<(String, String)> {
    serde_json::from_str(stored).unwrap_or_default()
}

fn part(row: &Row<'_>) -> rusqlite::Result<PartRow> {
    let (stored, form): (String, String) = (row.get("buttons")?, row.get("form")?);
    Ok(PartRow {
        id: row.get("id")?,
        seq: row.get("seq")?,
        rich: row.get("rich")?,
        plain: row.get("plain")?,
        buttons: buttons(&stored),
        state: row.get("state")?,
        plain_only: form == "plain",
        repeated: row.get("repeated")?,
        external_id: row.get("external_id")?,
        file: row.get("file")?,
        digest: row.get("digest")?,
    })
}

/// The oldest pending row of an address after a given row, except one kind.
const NEXT: &str = "SELECT o.id, o.address_id, o.kind, m.turn_id, o.label, o.scope, o.buttons, o.created_at, o.attempts, o.retry_at,
         CASE WHEN o.message_id IS NULL THEN o.text
              ELSE coalesce((SELECT t.text FROM texts t WHERE t.message_id = o.message_id AND t.kind = 'said'), '') END AS words, o.quotes,
         o.failed_at, o.tells_of
     FROM outbox o LEFT JOIN messages m ON m.id = o.message_id
     WHERE o.address_id = ?1 AND o.state = 'pending' AND o.id > ?2 AND o.kind <> ?3 ORDER BY o.id LIMIT 1";

fn outbox_row(row: &Row<'_>) -> rusqlite::Result<OutboxRow> {
    let (stored, words): (String, Arc<str>) = (row.get("buttons")?, row.get("words")?);
    let tells_of: i64 = row.get("tells_of")?;
    Ok(OutboxRow {
        id: row.get("id")?,
        address: row.get("address_id")?,
        kind: row.get("kind")?,
        turn: row.get("turn_id")?,
        text: Labelled::new(words, row.get("label")?, row.get("scope")?),
        buttons: buttons(&stored),
        quotes: row.get("quotes")?,
        created_at: row.get("created_at")?,
        attempts: row.get("attempts")?,
        retry_at: row.get("retry_at")?,
        failed_at: row.get("failed_at")?,
        tells_of: (tells_of > 0).then_some(OutboxId(tells_of)),
    })
}

impl OutboxRow {
    /// Returns the external ids of the answered messages.
    pub fn answers(&self) -> impl Iterator<Item = &str> {
        self.quotes.lines()
    }
}

/// Covers only the newest turns, which include those stopped just now, so that a chat's whole
/// history is not scanned.
pub(super) const STOPPED_SINCE: &str = "SELECT m.external_id FROM turns t CROSS JOIN messages m ON m.turn_id = t.id
    WHERE t.id > (SELECT max(id) - 1000 FROM turns) AND t.state = 'stopped' AND t.ended_at >= ?2 AND m.address_id = ?1 AND m.kind = 'said' AND m.external_id <> ''
    ORDER BY m.id";

impl Outbox<'_> {
    /// Returns the external ids of the messages from that address that a turn answers.
    pub fn asked_of(&self, turn: TurnId, from: AddressId) -> anyhow::Result<Vec<String>> {
        let mut query = self.db.prepare_cached(
            "SELECT external_id FROM messages
             WHERE turn_id = ?1 AND address_id = ?2 AND kind = 'said' AND external_id <> '' ORDER BY id",
        )?;
        Ok(query.query_map(params![turn, from], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// Returns the external ids of messages from that address whose turn was stopped since then:
    /// they get no other answer.
    pub fn stopped_since(&self, from: AddressId, since: Timestamp) -> anyhow::Result<Vec<String>> {
        let mut query = self.db.prepare_cached(STOPPED_SINCE)?;
        Ok(query.query_map(params![from, since], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// Returns the oldest pending delivery to that address.
    pub fn next_outbox(&self, address: AddressId) -> anyhow::Result<Option<OutboxRow>> {
        let mut query = self.db.prepare_cached(NEXT)?;
        Ok(query.query_row(params![address, 0, ""], outbox_row).optional()?)
    }

    /// Returns the oldest pending delivery to the same address after that one, except reactions.
    pub fn next_behind(&self, row: &OutboxRow) -> anyhow::Result<Option<OutboxRow>> {
        let mut query = self.db.prepare_cached(NEXT)?;
        Ok(query.query_row(params![row.address, row.id, "reaction"], outbox_row).optional()?)
    }

    /// Returns the addresses of an account with pending deliveries.
    pub fn addresses_with_outbox(&self, adapter: &str, account: &str) -> anyhow::Result<Vec<AddressId>> {
        let mut query = self.db.prepare_cached(
            "SELECT DISTINCT a.id FROM outbox o JOIN addresses a ON a.id = o.address_id
             WHERE o.state = 'pending' AND a.adapter = ?1 AND a.account = ?2",
        )?;
        Ok(query.query_map([adapter, account], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// Counts the pending deliveries.
    pub fn waiting_outbox(&self) -> anyhow::Result<i64> {
        let mut query = self.db.prepare_cached("SELECT count(*) FROM outbox WHERE state = 'pending'")?;
        Ok(query.query_row([], |row| row.get(0))?)
    }

    /// Returns true if that notice is pending for that address.
    pub fn says_soon(&self, address: AddressId, what: &Text) -> anyhow::Result<bool> {
        let mut query = self.db.prepare_cached(
            "SELECT 1 FROM outbox WHERE address_id = ?1 AND state = 'pending' AND kind = 'notice' AND text = ?2",
        )?;
        Ok(query.exists(params![address, what.open().0])?)
    }

    /// Returns the parts of a delivery, in order.
    pub fn parts(&self, of: OutboxId) -> anyhow::Result<Vec<PartRow>> {
        let mut query = self.db.prepare_cached(
            "SELECT id, seq, rich, plain, buttons, state, form, repeated, external_id, file, digest FROM parts WHERE outbox_id = ?1 ORDER BY seq",
        )?;
        Ok(query.query_map([of], part)?.collect::<Result<_, _>>()?)
    }

    /// Returns the external id of a turn's live preview message: `Some("")` until its first sending
    /// is confirmed.
    pub fn preview(&self, turn: TurnId) -> anyhow::Result<Option<String>> {
        let mut query = self.db.prepare_cached("SELECT external_id FROM previews WHERE turn_id = ?1")?;
        Ok(query.query_row([turn], |row| row.get(0)).optional()?)
    }
}

impl OutboxMut<'_> {
    /// Adds a delivery.
    pub fn post(&self, new: &NewOutbox<'_>) -> anyhow::Result<OutboxId> {
        let (words, label, scope) = new.text.open();
        let own_words: &str = if new.message.is_some() { "" } else { words };
        self.db
            .prepare_cached(
                "INSERT INTO outbox (address_id, kind, message_id, text, label, scope, buttons, state, created_at, quotes)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'pending', ?8, ?9)",
            )?
            .execute(params![
                new.address,
                new.kind,
                new.message,
                own_words,
                label,
                scope,
                serde_json::to_string(new.buttons)?,
                new.at,
                new.quotes,
            ])?;
        Ok(OutboxId(self.db.last_insert_rowid()))
    }

    /// Stores the parts of a delivery before the first is sent.
    pub fn store_parts(&self, of: OutboxId, parts: &[NewPart]) -> anyhow::Result<()> {
        let mut insert = self.db.prepare_cached(
            "INSERT INTO parts (outbox_id, seq, rich, plain, buttons, file, digest, state) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'waiting')",
        )?;
        for (seq, part) in parts.iter().enumerate() {
            let buttons = serde_json::to_string(&part.buttons)?;
            let seq = i64::try_from(seq)?;
            insert.execute(params![of, seq, part.rich, part.plain, buttons, part.file, part.digest])?;
        }
        Ok(())
    }

    /// Marks a part as being sent. `repeated` means that it may have been sent before.
    pub fn part_sending(&self, id: PartId, plain_only: bool, repeated: bool) -> anyhow::Result<()> {
        let form = if plain_only { "plain" } else { "rich" };
        self.db
            .prepare_cached("UPDATE parts SET state = 'sending', form = ?2, repeated = ?3 WHERE id = ?1")?
            .execute(params![id, form, repeated])?;
        Ok(())
    }

    /// Marks a part as waiting again, once it is certain that it was not sent.
    pub fn part_waits(&self, id: PartId) -> anyhow::Result<()> {
        self.db.prepare_cached("UPDATE parts SET state = 'waiting' WHERE id = ?1")?.execute([id])?;
        Ok(())
    }

    /// Marks a part as delivered or given up. Deletes its text, which is stored with the message.
    pub fn part_over(&self, id: PartId, state: PartState, external_id: &str) -> anyhow::Result<()> {
        self.db
            .prepare_cached("UPDATE parts SET state = ?2, external_id = ?3, rich = '', plain = '' WHERE id = ?1")?
            .execute(params![id, state, external_id])?;
        Ok(())
    }

    /// Marks a delivery as complete (`sent`) or given up (`failed`).
    pub fn outbox_over(&self, id: OutboxId, state: PartState, trouble: &str, now: Timestamp) -> anyhow::Result<()> {
        self.db
            .prepare_cached("UPDATE outbox SET state = ?2, trouble = ?3, ended_at = ?4 WHERE id = ?1")?
            .execute(params![id, state, trouble, now])?;
        Ok(())
    }

    /// Postpones a delivery.
    pub fn outbox_later(&self, id: OutboxId, attempts: u32, retry_at: Timestamp, trouble: &str) -> anyhow::Result<()> {
        self.db
            .prepare_cached("UPDATE outbox SET attempts = ?2, retry_at = ?3, trouble = ?4 WHERE id = ?1")?
            .execute(params![id, attempts, retry_at, trouble])?;
        Ok(())
    }

    /// Postpones a delivery after a failed attempt.
    pub fn outbox_failed(
        &self,
        id: OutboxId,
        attempts: u32,
        retry_at: Timestamp,
        trouble: &str,
        now: Timestamp,
    ) -> anyhow::Result<()> {
        self.outbox_later(id, attempts, retry_at, trouble)?;
        self.db.prepare_cached("UPDATE outbox SET failed_at = ?2 WHERE id = ?1")?.execute(params![id, now])?;
        Ok(())
    }

    /// Records a turn's live preview, before or after its message id is known.
    pub fn set_preview(&self, turn: TurnId, address: AddressId, external_id: &str) -> anyhow::Result<()> {
        self.db
            .prepare_cached(
                "INSERT INTO previews (turn_id, address_id, external_id) VALUES (?1, ?2, ?3)
                 ON CONFLICT (turn_id) DO UPDATE SET external_id = ?3",
            )?
            .execute(params![turn, address, external_id])?;
        Ok(())
    }

    /// Removes the record of a turn's live preview.
    pub fn drop_preview(&self, turn: TurnId) -> anyhow::Result<()> {
        self.db.prepare_cached("DELETE FROM previews WHERE turn_id = ?1")?.execute([turn])?;
        Ok(())
    }
}
