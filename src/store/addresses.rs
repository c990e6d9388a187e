//! Where people are reached, and the strangers who knocked.

use rusqlite::{OptionalExtension, Row, params};

use super::{Db, Tx};
use crate::id::{AddressId, PersonId};
use crate::people::{Address, KnownAddress};
use crate::time::Moment;

fn known(row: &Row<'_>) -> rusqlite::Result<KnownAddress> {
    Ok(KnownAddress {
        id: row.get(0)?,
        address: Address { adapter: row.get(1)?, account: row.get(2)?, peer: row.get(3)? },
    })
}

impl Db<'_> {
    /// Whose address it is, and its row; `None` if nobody allowed writes from there.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn who_is(&self, address: &Address) -> anyhow::Result<Option<(AddressId, PersonId)>> {
        let mut query = self.0.prepare_cached(
            "SELECT a.id, a.person_id FROM addresses a JOIN people p ON p.id = a.person_id AND p.removed_at IS NULL
             WHERE a.adapter = ?1 AND a.account = ?2 AND a.peer = ?3",
        )?;
        let row = query
            .query_row(params![address.adapter, address.account, address.peer], |row| Ok((row.get(0)?, row.get(1)?)));
        Ok(row.optional()?)
    }

    /// The address of that row.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn address(&self, id: AddressId) -> anyhow::Result<Option<Address>> {
        let mut query = self.0.prepare_cached("SELECT id, adapter, account, peer FROM addresses WHERE id = ?1")?;
        Ok(query.query_row([id], known).optional()?.map(|known| known.address))
    }

    /// A person's addresses, the one they wrote from last first.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn addresses_of(&self, person: PersonId) -> anyhow::Result<Vec<KnownAddress>> {
        let mut query = self.0.prepare_cached(
            "SELECT id, adapter, account, peer FROM addresses WHERE person_id = ?1 ORDER BY last_heard_at DESC, id",
        )?;
        Ok(query.query_map([person], known)?.collect::<Result<_, _>>()?)
    }

    /// The address from which the person wrote last; `None` if they never did.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn last_heard_at(&self, person: PersonId) -> anyhow::Result<Option<AddressId>> {
        let mut query = self.0.prepare_cached(
            "SELECT id FROM addresses WHERE person_id = ?1 AND last_heard_at > 0 ORDER BY last_heard_at DESC, id LIMIT 1",
        )?;
        Ok(query.query_row([person], |row| row.get(0)).optional()?)
    }

    /// Whether the person ever wrote from that address.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn was_heard(&self, id: AddressId) -> anyhow::Result<bool> {
        let mut query = self.0.prepare_cached("SELECT last_heard_at > 0 FROM addresses WHERE id = ?1")?;
        Ok(query.query_row([id], |row| row.get(0)).optional()?.unwrap_or(false))
    }

    /// Before when nothing may be sent to that address.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn wait_until(&self, id: AddressId) -> anyhow::Result<Moment> {
        let mut query = self.0.prepare_cached("SELECT wait_until FROM addresses WHERE id = ?1")?;
        Ok(query.query_row([id], |row| row.get(0)).optional()?.unwrap_or(Moment(0)))
    }

    /// When and how often strangers knocked, newest first: `(adapter, sender, last, count)`.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn strangers(&self, limit: u32) -> anyhow::Result<Vec<(String, String, Moment, i64)>> {
        let mut query = self
            .0
            .prepare_cached("SELECT adapter, sender, last_at, count FROM strangers ORDER BY last_at DESC LIMIT ?1")?;
        let rows = query.query_map([limit], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl Tx<'_> {
    /// Joins an address to a person, or makes its row without one.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn link(&self, address: &Address, person: Option<PersonId>, now: Moment) -> anyhow::Result<AddressId> {
        self.0.0
            .prepare_cached(
                "INSERT INTO addresses (person_id, adapter, account, peer, linked_at) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (adapter, account, peer) DO UPDATE SET person_id = coalesce(?1, person_id), linked_at = ?5",
            )?
            .execute(params![person, address.adapter, address.account, address.peer, now])?;
        let mut query =
            self.0.0.prepare_cached("SELECT id FROM addresses WHERE adapter = ?1 AND account = ?2 AND peer = ?3")?;
        Ok(query.query_row(params![address.adapter, address.account, address.peer], |row| row.get(0))?)
    }

    /// The person wrote from there.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn heard_from(&self, id: AddressId, now: Moment) -> anyhow::Result<()> {
        self.0.0.prepare_cached("UPDATE addresses SET last_heard_at = ?2 WHERE id = ?1")?.execute(params![id, now])?;
        Ok(())
    }

    /// Nothing may be sent there before `until`.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn set_wait_until(&self, id: AddressId, until: Moment) -> anyhow::Result<()> {
        self.0
            .0
            .prepare_cached("UPDATE addresses SET wait_until = max(wait_until, ?2) WHERE id = ?1")?
            .execute(params![id, until])?;
        Ok(())
    }

    /// A stranger knocked. True if they may be sent the one line of this local day.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn stranger_knocked(&self, at: &Address, now: Moment, day: &str) -> anyhow::Result<bool> {
        self.0
            .0
            .prepare_cached(
                "INSERT INTO strangers (adapter, account, sender, first_at, last_at) VALUES (?1, ?2, ?3, ?4, ?4)
                 ON CONFLICT (adapter, account, sender) DO UPDATE SET last_at = ?4, count = count + 1",
            )?
            .execute(params![at.adapter, at.account, at.peer, now])?;
        let told = self.0.0
            .prepare_cached(
                "UPDATE strangers SET told_day = ?4 WHERE adapter = ?1 AND account = ?2 AND sender = ?3 AND told_day <> ?4",
            )?
            .execute(params![at.adapter, at.account, at.peer, day])?;
        Ok(told == 1)
    }

    /// A stranger gave a wrong code. How many it were on this local day.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn stranger_guessed(&self, at: &Address, day: &str) -> anyhow::Result<i64> {
        self.0
            .0
            .prepare_cached(
                "UPDATE strangers SET guesses = CASE guess_day WHEN ?4 THEN guesses + 1 ELSE 1 END, guess_day = ?4
                 WHERE adapter = ?1 AND account = ?2 AND sender = ?3",
            )?
            .execute(params![at.adapter, at.account, at.peer, day])?;
        self.guesses(at, day)
    }
}

impl Db<'_> {
    /// How many wrong codes a stranger gave on that local day.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn guesses(&self, at: &Address, day: &str) -> anyhow::Result<i64> {
        let mut query = self.0.prepare_cached(
            "SELECT guesses FROM strangers WHERE adapter = ?1 AND account = ?2 AND sender = ?3 AND guess_day = ?4",
        )?;
        let row = query.query_row(params![at.adapter, at.account, at.peer, day], |row| row.get(0));
        Ok(row.optional()?.unwrap_or(0))
    }
}
