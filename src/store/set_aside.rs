//! Deliveries set aside because the server refuses them while it accepts others. They are `failed`
//! rows whose parts still wait, so all handling of failed rows applies, and a resend continues
//! where it stopped.

use crate::store::handles::{Outbox, OutboxMut};
use crate::store::rows::from_row;
use rusqlite::params;

use super::{NewOutbox, OutboxRow};
use crate::id::{AddressId, OutboxId, PersonId};
use crate::time::Timestamp;

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
            "SELECT 1 FROM outbox o JOIN addresses a ON a.id = o.address_id JOIN addresses own ON own.id = ?2
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
