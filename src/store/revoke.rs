//! Revokes outstanding access in the transaction that removes, demotes or erases a person.

use crate::store::handles::PeopleMut;
use rusqlite::params;

use crate::id::{AddressId, PersonId};
use crate::time::Timestamp;

impl PeopleMut<'_> {
    /// Voids all codes that a person issued or that are for them, and closes their open questions.
    /// Future sessions will end here too.
    pub fn revoke_access_of(&self, person: PersonId, now: Timestamp) -> anyhow::Result<()> {
        self.void_codes_of(person, now)?;
        for sql in [
            "UPDATE questions SET state = 'refused', decided_at = ?2 WHERE person_id = ?1 AND state = 'open'",
            "UPDATE keeps SET state = 'no', decided_at = ?2 WHERE person_id = ?1 AND state IN ('new', 'open')",
        ] {
            self.db.run(sql, params![person, now])?;
        }
        Ok(())
    }

    /// Voids all unused codes that a person issued or that are for them.
    pub fn void_codes_of(&self, person: PersonId, now: Timestamp) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE pairing_codes SET expires_at = min(expires_at, ?2)
             WHERE used_at IS NULL AND (issuer_id = ?1 OR person_id = ?1)",
            params![person, now],
        )
    }

    /// Unlinks an address from its person: later messages from it are a stranger's, and pending
    /// deliveries to it are not sent. Also revokes the person's codes and open questions.
    pub fn unlink(&self, address: AddressId, person: PersonId, now: Timestamp) -> anyhow::Result<()> {
        self.revoke_access_of(person, now)?;
        for sql in [
            "UPDATE addresses SET person_id = NULL, alias = '' WHERE id = ?1 AND person_id = ?2 AND ?3 = ?3",
            "UPDATE outbox SET state = 'failed', trouble = 'unlinked', ended_at = ?3
             WHERE address_id = ?1 AND scope = 'person:' || ?2 AND state = 'pending'",
        ] {
            self.db.run(sql, params![address, person, now])?;
        }
        Ok(())
    }
}
