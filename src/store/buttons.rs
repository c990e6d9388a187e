//! Buttons under deliveries, in whose place the decision is shown once it was made.

use rusqlite::params;

use crate::id::{AddressId, MessageId, OutboxId, PartId, PersonId};
use crate::store::handles::{Outbox, OutboxMut};
use crate::store::rows::{from_row, text};
use crate::time::Timestamp;
use crate::trust::{Scope, Text};
use crate::wording::{Sentence, gateway};

/// Maximum number of attempts to replace the buttons of one delivery.
pub const MAX_REPLACEMENTS: u32 = 5;

/// Delivered parts with decided buttons. A channel without buttons has none.
const REPLACEABLE: &str = "outbox o JOIN parts p ON p.outbox_id = o.id AND p.buttons <> '[]' AND p.external_id <> ''
    WHERE o.replacements_left > 0 AND o.state = 'sent'";

/// A delivered message whose buttons are to be replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedButtons {
    /// Delivery.
    pub id: OutboxId,
    /// Id of the message with the buttons.
    pub external_id: String,
    /// Decision: the key of a sentence, or the title of the pressed button.
    pub decision: String,
    /// When.
    pub decided_at: Timestamp,
    /// Attempts left.
    pub left: u32,
}

/// A delivery with its buttons, as a chat shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Row id.
    pub id: OutboxId,
    /// Own text; blank if it delivers a message.
    pub text: Text,
    /// Time of writing.
    pub at: Timestamp,
    /// Buttons: title and data.
    pub buttons: Vec<(String, String)>,
    /// Decision, as in [`DecidedButtons`]; blank while the buttons can be used.
    pub decision: String,
    /// When.
    pub decided_at: Timestamp,
}

/// A file that was sent, or stands in line to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentFile {
    /// Part of the delivery.
    pub part: PartId,
    /// Path relative to the workspace.
    pub path: String,
    /// SHA-256 of the bytes.
    pub digest: String,
}

impl SentFile {
    /// Returns its name without the folder.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

from_row! { SentFile { part: "id", path: "file", digest } }

from_row! {
    Delivery from "outbox", "text, label, scope, buttons" { id, at: "created_at", decision, decided_at }
    with |row| {
        text: text(row, "text")?,
        buttons: serde_json::from_str(&row.get::<_, String>("buttons")?).unwrap_or_default(),
    }
}

from_row! { DecidedButtons { id, external_id, decision, decided_at, left: "replacements_left" } }

impl Outbox<'_> {
    /// Returns the delivery of a message of ours.
    pub fn delivery_of(&self, message: MessageId) -> anyhow::Result<Option<Delivery>> {
        self.db.row("WHERE message_id = ?1", [message])
    }

    /// Returns the newest answers to a person's commands on that channel since then, newest first.
    pub fn answers_at(
        &self,
        person: PersonId,
        adapter: &str,
        since: Timestamp,
        limit: u32,
    ) -> anyhow::Result<Vec<Delivery>> {
        self.db.rows(
            "INDEXED BY outbox_answers
             WHERE address_id IN (SELECT id FROM addresses WHERE person_id = ?1 AND adapter = ?2)
             AND message_id IS NULL AND created_at >= ?3 AND kind <> 'reaction' ORDER BY id DESC LIMIT ?4",
            params![person, adapter, since, limit],
        )
    }

    /// Returns the files of a delivery that were not deleted since.
    pub fn sent_files(&self, of: OutboxId) -> anyhow::Result<Vec<SentFile>> {
        self.db.all(
            "SELECT id, file, digest FROM parts WHERE outbox_id = ?1 AND digest <> '' AND file <> 'gone' ORDER BY seq",
            [of],
        )
    }

    /// Returns a file that was sent to that person alone.
    pub fn sent_file(&self, person: PersonId, part: PartId) -> anyhow::Result<Option<SentFile>> {
        self.db.first(
            "SELECT p.id, p.file, p.digest FROM parts p JOIN outbox o ON o.id = p.outbox_id
             JOIN addresses a ON a.id = o.address_id
             WHERE p.id = ?1 AND a.person_id = ?2 AND o.scope = ?3 AND p.digest <> '' AND p.file <> 'gone'",
            params![part, person, Scope::Person(person)],
        )
    }

    /// Returns the delivered messages of an address whose buttons are to be replaced.
    pub fn decided_buttons(&self, address: AddressId) -> anyhow::Result<Vec<DecidedButtons>> {
        self.db.all(
            &format!(
                "SELECT o.id, p.external_id, o.decision, o.decided_at, o.replacements_left FROM {REPLACEABLE}
                 AND o.address_id = ?1 ORDER BY o.id"
            ),
            [address],
        )
    }

    /// Returns the addresses with buttons that were not tried to be replaced yet.
    pub fn addresses_with_decided_buttons(&self) -> anyhow::Result<Vec<AddressId>> {
        let sql = format!("SELECT DISTINCT o.address_id FROM {REPLACEABLE} AND o.replacements_left = ?1");
        self.db.all(&sql, [MAX_REPLACEMENTS])
    }
}

impl OutboxMut<'_> {
    /// Records what was decided by or instead of a button with that command, or one that begins
    /// with it.
    pub fn decide_buttons(&self, command: &str, decision: Sentence, now: Timestamp) -> anyhow::Result<()> {
        let whole = serde_json::to_string(command)?;
        let begins = format!("{} ", whole.strip_suffix('"').unwrap_or(&whole));
        self.db.run(
            "UPDATE outbox SET decision = ?3, decided_at = ?4, replacements_left = ?5
             WHERE buttons <> '[]' AND (instr(buttons, ?1) > 0 OR instr(buttons, ?2) > 0)",
            params![whole, begins, decision.key(), now, MAX_REPLACEMENTS],
        )
    }

    /// Records that a person gave a command that stands on buttons: those under messages to them,
    /// or to any owner if it is about access, are replaced by its title.
    pub fn press_buttons(&self, command: &str, by: PersonId, now: Timestamp) -> anyhow::Result<()> {
        let rows: Vec<(OutboxId, String)> = self.db.all(
            "SELECT o.id, o.buttons FROM outbox o JOIN addresses a ON a.id = o.address_id
             WHERE o.buttons <> '[]' AND instr(o.buttons, ?1) > 0 AND o.decision = ''
             AND (a.person_id = ?2 OR ?3)",
            params![serde_json::to_string(command)?, by, command.starts_with("/people ")],
        )?;
        for (id, buttons) in rows {
            let buttons: Vec<(String, String)> = serde_json::from_str(&buttons).unwrap_or_default();
            let Some((title, _)) = buttons.iter().find(|(_, data)| data == command) else { continue };
            self.db.run(
                "UPDATE outbox SET decision = ?2, decided_at = ?3, replacements_left = ?4 WHERE id = ?1",
                params![id, gateway::pressed(title), now, MAX_REPLACEMENTS],
            )?;
        }
        Ok(())
    }

    /// Records how many attempts to replace the buttons are left.
    pub fn set_replacements_left(&self, id: OutboxId, left: u32) -> anyhow::Result<()> {
        self.db.run("UPDATE outbox SET replacements_left = ?2 WHERE id = ?1", params![id, left])
    }
}
