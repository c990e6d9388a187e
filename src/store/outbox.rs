//! Pending deliveries and the progress of each part.
//!
//! A part goes `waiting` → `sending` → `sent`. If a part is in `sending` after a start, its outcome
//! is unknown: it is sent again and marked as possibly repeated. Parts are sent in order, so at
//! most one part of an address is ever in doubt.
//!
//! Deliveries are set aside if the server refuses them while it accepts others. They are `failed`
//! rows whose parts still wait, so all handling of failed rows applies, and a resend continues
//! where it stopped.

use rusqlite::{Row, params};
use strum::{EnumString, IntoStaticStr};

use crate::id::{AddressId, MessageId, OutboxId, PartId, PersonId, TurnId};
use crate::store::handles::{Outbox, OutboxMut};
use crate::store::rows::{from_row, insert, stored_word, text};
use crate::store::{ACTIVATED_AT, Cause, Urgency};
use crate::time::Timestamp;
use crate::trust::{Source, Text};

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
    /// The reason why a command was not done, in the place of its answer.
    Refusal,
    /// An emoji reaction to the quoted message.
    Reaction,
}

stored_word!(OutboxKind, PartState);

/// A delivery to add. The text of a message is stored with it; all others bring their own.
/// A notice to a person becomes a message of their stream
/// ([`record`](crate::store::handles::SentMut::record)).
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
    /// Cause of a notice that becomes a message of its person's stream; none if its poster records
    /// another text there.
    pub cause: Option<Cause>,
    /// Disturbance that it may cause.
    pub urgency: Urgency,
    /// Current time.
    pub at: Timestamp,
}

impl<'a> NewOutbox<'a> {
    /// Creates a notice by the program.
    pub fn notice(address: AddressId, text: &'a Text, at: Timestamp) -> Self {
        Self::about(Cause::NOTICE, address, text, at)
    }

    /// Creates a notice with that cause.
    pub fn about(cause: Cause, address: AddressId, text: &'a Text, at: Timestamp) -> Self {
        Self {
            address,
            kind: OutboxKind::Notice,
            message: None,
            text,
            buttons: &[],
            quotes: "",
            cause: Some(cause),
            urgency: cause.kind.urgency(),
            at,
        }
    }

    /// Creates an answer to what came from that address.
    pub fn answer(kind: OutboxKind, address: AddressId, text: &'a Text, at: Timestamp) -> Self {
        Self { kind, urgency: Urgency::Asked, ..Self::notice(address, text, at) }
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
    /// Last failed attempt of the current part.
    pub failed_at: Option<Timestamp>,
    /// Delivery that this notice reports as set aside.
    pub tells_of: Option<OutboxId>,
    /// True if it must be sent without a sound, because of quiet hours.
    pub silent: bool,
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

fn buttons(row: &Row<'_>) -> rusqlite::Result<Vec<(String, String)>> {
    Ok(serde_json::from_str(&row.get::<_, String>("buttons")?).unwrap_or_default())
}

from_row! {
    PartRow from "parts", "buttons" {
        id, seq, rich, plain, state, plain_only = "form = 'plain'", repeated, external_id, file, digest
    }
    with |row| { buttons: buttons(row)? }
}

/// The oldest pending row of an address after a given row, except one kind and what is held back.
pub(super) const NEXT: &str = "SELECT o.id, o.address_id, o.kind, m.turn_id, o.label, o.scope, o.buttons, o.created_at, o.attempts, o.retry_at,
         CASE WHEN o.message_id IS NULL THEN o.text
              ELSE coalesce((SELECT t.text FROM texts t WHERE t.message_id = o.message_id AND t.kind = 'said'), '') END AS words, o.quotes,
         nullif(o.failed_at, 0) AS failed_at, nullif(o.tells_of, 0) AS tells_of,
         ?4 <> '' AND o.urgency = 'silent' AS silent
     FROM outbox o INDEXED BY outbox_pending LEFT JOIN messages m ON m.id = o.message_id
     WHERE o.address_id = ?1 AND o.state = 'pending' AND o.id > ?2 AND o.kind <> ?3
         AND (?4 = '' OR o.urgency <> 'kept' AND o.urgency <> ?4) ORDER BY o.id LIMIT 1";

from_row! {
    OutboxRow {
        id, address: "address_id", kind, turn: "turn_id", quotes, created_at, attempts, retry_at, failed_at, tells_of,
        silent,
    }
    with |row| {
        text: text(row, "words")?,
        buttons: buttons(row)?,
    }
}

impl OutboxRow {
    /// Returns the external ids of the answered messages.
    pub fn answers(&self) -> impl Iterator<Item = &str> {
        self.quotes.lines()
    }
}

/// Covers only the newest turns and messages, which include those stopped just now, so that a
/// chat's whole history is not scanned. A message waits for its turn for moments only.
pub(super) const STOPPED_SINCE: &str = "SELECT external_id FROM (
    SELECT m.id, m.external_id FROM turns t CROSS JOIN messages m ON m.turn_id = t.id
    WHERE t.id > (SELECT max(id) - 1000 FROM turns) AND t.state = 'stopped' AND t.ended_at >= ?2 AND m.address_id = ?1 AND m.kind = 'said'
    UNION ALL
    SELECT m.id, m.external_id FROM messages m
    WHERE m.id BETWEEN ?3 - 1000 AND ?3 AND +m.turn_id IS NULL AND m.reason = 'stopped' AND m.received_at >= ?2 - 60000 AND +m.address_id = ?1)
    WHERE external_id <> '' ORDER BY id";

impl Outbox<'_> {
    /// Returns the external ids of the messages from that address that a turn answers.
    pub fn asked_of(&self, turn: TurnId, from: AddressId) -> anyhow::Result<Vec<String>> {
        self.db.all(
            "SELECT external_id FROM messages
             WHERE turn_id = ?1 AND address_id = ?2 AND kind = 'said' AND external_id <> '' ORDER BY id",
            params![turn, from],
        )
    }

    /// Returns the external ids of messages from that address whose turn was stopped since then, or
    /// that were stopped before they had one and precede that command: they get no other answer.
    pub fn stopped_since(&self, from: AddressId, since: Timestamp, command: MessageId) -> anyhow::Result<Vec<String>> {
        self.db.all(STOPPED_SINCE, params![from, since, command])
    }

    /// Returns the oldest pending delivery to that address. In quiet hours `held` is the lesser
    /// urgency that is held back, as [`Urgency::Kept`] always is.
    pub fn next_outbox(&self, address: AddressId, held: Option<Urgency>) -> anyhow::Result<Option<OutboxRow>> {
        self.db.first(NEXT, params![address, 0, "", held.map_or("", Urgency::as_str)])
    }

    /// Returns the oldest pending delivery to the same address after that one, except reactions and
    /// what is held back.
    pub fn next_behind(&self, row: &OutboxRow, held: Option<Urgency>) -> anyhow::Result<Option<OutboxRow>> {
        self.db.first(NEXT, params![row.address, row.id, "reaction", held.map_or("", Urgency::as_str)])
    }

    /// Returns the addresses of an account with pending deliveries, or buttons to be replaced.
    pub fn addresses_with_outbox(&self, adapter: &str, account: &str) -> anyhow::Result<Vec<AddressId>> {
        self.db.all(
            "SELECT DISTINCT a.id FROM outbox o JOIN addresses a ON a.id = o.address_id
             WHERE (o.state = 'pending' OR o.replacements_left > 0) AND a.adapter = ?1 AND a.account = ?2",
            [adapter, account],
        )
    }

    /// Counts the pending deliveries.
    pub fn waiting_outbox(&self) -> anyhow::Result<i64> {
        self.db.one("SELECT count(*) FROM outbox WHERE state = 'pending'", [])
    }

    /// Returns true if that notice is pending for that address.
    pub fn says_soon(&self, address: AddressId, what: &Text) -> anyhow::Result<bool> {
        self.db.exists(
            "SELECT 1 FROM outbox WHERE address_id = ?1 AND state = 'pending' AND kind = 'notice'
             AND (text = ?2 OR EXISTS (SELECT 1 FROM texts t WHERE t.message_id = outbox.message_id AND t.text = ?2))",
            params![address, what.open().0],
        )
    }

    /// Returns the number of notices in place of an answer that were posted to that address since
    /// then.
    pub fn notices_since(&self, address: AddressId, since: Timestamp) -> anyhow::Result<i64> {
        self.db.one(
            "SELECT count(*) FROM outbox WHERE address_id = ?1 AND kind = 'notice' AND urgency = 'asked'
             AND created_at > ?2",
            params![address, since],
        )
    }

    /// Returns the addresses of a person at which an unrequested message waits for a client to
    /// attach.
    pub fn unasked_where_attended(&self, person: PersonId) -> anyhow::Result<Vec<AddressId>> {
        self.db.all(
            "SELECT DISTINCT a.id FROM addresses a JOIN outbox o ON o.address_id = a.id
             WHERE a.person_id = ?1 AND a.adapter IN ('terminal', 'web') AND o.state = 'pending' AND o.urgency <> 'asked'",
            [person],
        )
    }

    /// Returns true if anything pending for that address was not asked for.
    pub fn has_unasked(&self, address: AddressId) -> anyhow::Result<bool> {
        self.db.exists(
            "SELECT 1 FROM outbox WHERE address_id = ?1 AND state = 'pending' AND urgency <> 'asked'",
            [address],
        )
    }

    /// Returns the parts of a delivery, in order.
    pub fn parts(&self, of: OutboxId) -> anyhow::Result<Vec<PartRow>> {
        self.db.rows("WHERE outbox_id = ?1 ORDER BY seq", [of])
    }

    /// Returns the external id of a turn's live preview message: `Some("")` until its first sending
    /// is confirmed.
    pub fn preview(&self, turn: TurnId) -> anyhow::Result<Option<String>> {
        self.db.first("SELECT external_id FROM previews WHERE turn_id = ?1", [turn])
    }
}

impl OutboxMut<'_> {
    /// Blanks the notices and answers to commands that show text of that source. Those still
    /// pending are not sent.
    pub fn blank_notices(&self, source: &Source) -> anyhow::Result<()> {
        let source = format!(" {source} ");
        let shown = "SELECT id FROM outbox WHERE message_id IS NULL AND instr(' ' || label || ' ', ?1) > 0";
        self.db.run(&format!("UPDATE parts SET rich = '', plain = '' WHERE outbox_id IN ({shown})"), [&source])?;
        self.db.run(
            &format!(
                "UPDATE outbox SET text = '', ended_at = coalesce(ended_at, created_at),
                 state = iif(state = 'pending', 'failed', state) WHERE id IN ({shown})"
            ),
            [&source],
        )
    }

    /// Adds a delivery.
    pub fn post(&self, new: &NewOutbox<'_>) -> anyhow::Result<OutboxId> {
        let message = match (new.message, new.kind, new.cause) {
            (None, OutboxKind::Notice, Some(cause)) => self.tx().sent().record(new.address, cause, new.text, new.at)?,
            (message, ..) => message,
        };
        let (words, label, scope) = new.text.open();
        let own_words: &str = if message.is_some() { "" } else { words };
        let repeated = self.may_repeat(new)?;
        insert!(self.db, "outbox" {
            address_id: new.address, kind: new.kind, message_id: message, text: own_words, label, scope,
            buttons: serde_json::to_string(new.buttons)?, state: "pending", created_at: new.at, quotes: new.quotes,
            urgency: new.urgency, repeated,
        })
    }

    /// Returns true for a reply to what was written before this journal was taken over from a
    /// replica: the first machine may have answered it.
    fn may_repeat(&self, new: &NewOutbox<'_>) -> anyhow::Result<bool> {
        let Some(message) = new.message.filter(|_| new.kind == OutboxKind::Reply) else { return Ok(false) };
        self.db.exists(
            "SELECT 1 FROM meta f CROSS JOIN messages r CROSS JOIN messages m ON m.turn_id = r.turn_id
             WHERE f.key = ?2 AND r.id = ?1 AND m.kind = 'said'
             AND min(m.received_at, coalesce(m.server_at, m.received_at)) <= CAST(f.value AS INTEGER)",
            params![message, ACTIVATED_AT],
        )
    }

    /// Stores the parts of a delivery before the first is sent.
    pub fn store_parts(&self, of: OutboxId, parts: &[NewPart]) -> anyhow::Result<()> {
        // The first part says that the whole may be a repeat.
        let sql = "INSERT INTO parts (outbox_id, seq, rich, plain, buttons, file, digest, state, repeated)
             SELECT id, ?2, ?3, ?4, ?5, ?6, ?7, 'waiting', repeated AND ?2 = 0 FROM outbox WHERE id = ?1";
        for (seq, part) in parts.iter().enumerate() {
            let buttons = serde_json::to_string(&part.buttons)?;
            let seq = i64::try_from(seq)?;
            self.db.run(sql, params![of, seq, part.rich, part.plain, buttons, part.file, part.digest])?;
        }
        Ok(())
    }

    /// Marks a part as being sent. `repeated` means that it may have been sent before.
    pub fn part_sending(&self, id: PartId, plain_only: bool, repeated: bool) -> anyhow::Result<()> {
        let form = if plain_only { "plain" } else { "rich" };
        self.db.run(
            "UPDATE parts SET state = 'sending', form = ?2, repeated = ?3 WHERE id = ?1",
            params![id, form, repeated],
        )
    }

    /// Marks a part as waiting again, once it is certain that it was not sent.
    pub fn part_waits(&self, id: PartId) -> anyhow::Result<()> {
        self.db.run("UPDATE parts SET state = 'waiting' WHERE id = ?1", [id])
    }

    /// Marks a part as delivered or given up. Deletes its text, which is stored with the message.
    pub fn part_over(&self, id: PartId, state: PartState, external_id: &str) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE parts SET state = ?2, external_id = ?3, rich = '', plain = '' WHERE id = ?1",
            params![id, state, external_id],
        )
    }

    /// Marks a delivery as complete (`sent`) or given up (`failed`).
    pub fn outbox_over(&self, id: OutboxId, state: PartState, trouble: &str, now: Timestamp) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE outbox SET state = ?2, trouble = ?3, ended_at = ?4 WHERE id = ?1",
            params![id, state, trouble, now],
        )
    }

    /// Postpones a delivery.
    pub fn outbox_later(&self, id: OutboxId, attempts: u32, retry_at: Timestamp, trouble: &str) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE outbox SET attempts = ?2, retry_at = ?3, trouble = ?4 WHERE id = ?1",
            params![id, attempts, retry_at, trouble],
        )
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
        self.db.run("UPDATE outbox SET failed_at = ?2 WHERE id = ?1", params![id, now])
    }

    /// Moves everything pending for an address that was not asked for to another address of the
    /// same person. It is rendered again there.
    pub fn move_unasked(&self, from: AddressId, to: AddressId) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE outbox SET repeated = 1 WHERE address_id = ?1 AND state = 'pending' AND urgency <> 'asked'
             AND EXISTS (SELECT 1 FROM parts p WHERE p.outbox_id = outbox.id AND (p.state <> 'waiting' OR p.repeated))",
            [from],
        )?;
        self.db.run(
            "DELETE FROM parts WHERE outbox_id IN
             (SELECT id FROM outbox WHERE address_id = ?1 AND state = 'pending' AND urgency <> 'asked')",
            [from],
        )?;
        self.db.run(
            "UPDATE messages SET address_id = ?2 WHERE kind = 'sent' AND id IN
             (SELECT message_id FROM outbox WHERE address_id = ?1 AND state = 'pending' AND urgency <> 'asked')",
            [from, to],
        )?;
        self.db.run(
            "UPDATE outbox SET address_id = ?2, attempts = 0, retry_at = 0, failed_at = 0
             WHERE address_id = ?1 AND state = 'pending' AND urgency <> 'asked'",
            [from, to],
        )
    }

    /// Records a turn's live preview, before or after its message id is known.
    pub fn set_preview(&self, turn: TurnId, address: AddressId, external_id: &str) -> anyhow::Result<()> {
        self.db.run(
            "INSERT INTO previews (turn_id, address_id, external_id) VALUES (?1, ?2, ?3)
             ON CONFLICT (turn_id) DO UPDATE SET external_id = ?3",
            params![turn, address, external_id],
        )
    }

    /// Removes the record of a turn's live preview.
    pub fn drop_preview(&self, turn: TurnId) -> anyhow::Result<()> {
        self.db.run("DELETE FROM previews WHERE turn_id = ?1", [turn])
    }
}

/// A set-aside delivery that can be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetAside {
    /// Row id.
    pub id: OutboxId,
    /// Destination.
    pub address: AddressId,
}

/// Condition: neither erased nor closed by a restore, and all unsent text present.
const RESENDABLE: &str = "o.set_aside > 0 AND o.state = 'failed'
     AND (o.text <> '' OR EXISTS (SELECT 1 FROM texts t WHERE t.message_id = o.message_id AND t.kind = 'said' AND t.text <> ''))
     AND NOT EXISTS (SELECT 1 FROM parts p WHERE p.outbox_id = o.id
                     AND (p.state = 'failed' OR p.state <> 'sent' AND p.plain = '' AND p.file = ''))";

from_row! { SetAside { id, address: "address_id" } }

impl Outbox<'_> {
    /// Returns the set-aside deliveries, oldest first; to one person's addresses, or to all.
    pub fn set_aside(&self, only: Option<PersonId>) -> anyhow::Result<Vec<SetAside>> {
        let sql = format!(
            "SELECT o.id, o.address_id FROM outbox o JOIN addresses a ON a.id = o.address_id
             WHERE {RESENDABLE} AND (?1 IS NULL OR a.person_id = ?1) ORDER BY o.id"
        );
        self.db.all(&sql, [only])
    }

    /// Returns true if anything else was delivered over the same account since then.
    pub fn others_sent_since(&self, row: &OutboxRow, since: Timestamp) -> anyhow::Result<bool> {
        self.db.exists(
            "SELECT 1 FROM outbox o INDEXED BY outbox_sent
                 JOIN addresses a ON a.id = o.address_id JOIN addresses own ON own.id = ?2
             WHERE o.state = 'sent' AND o.ended_at >= ?3 AND o.id <> ?1 AND o.kind <> 'reaction'
             AND a.adapter = own.adapter AND a.account = own.account",
            params![row.id, row.address, since],
        )
    }

    /// Returns the destination of a delivery.
    pub fn outbox_address(&self, id: OutboxId) -> anyhow::Result<AddressId> {
        self.db.one("SELECT address_id FROM outbox WHERE id = ?1", [id])
    }
}

impl OutboxMut<'_> {
    /// Marks a failed delivery as resendable.
    pub fn mark_resendable(&self, id: OutboxId, now: Timestamp) -> anyhow::Result<()> {
        self.db.run("UPDATE outbox SET set_aside = ?2 WHERE id = ?1", params![id, now])
    }

    /// Returns a set-aside delivery to the queue. Returns false if it was not set aside.
    pub fn resend(&self, id: OutboxId) -> anyhow::Result<bool> {
        let sql = "UPDATE outbox SET state = 'pending', set_aside = 0, attempts = 0, retry_at = 0, failed_at = 0, ended_at = NULL
             WHERE id = ?1 AND set_aside > 0 AND state = 'failed'";
        self.db.changed(sql, [id])
    }

    /// Posts a notice that a delivery was set aside.
    pub fn post_about(&self, new: &NewOutbox<'_>, about: OutboxId) -> anyhow::Result<()> {
        let id = self.post(new)?;
        self.db.run("UPDATE outbox SET tells_of = ?2 WHERE id = ?1", params![id, about])
    }
}
