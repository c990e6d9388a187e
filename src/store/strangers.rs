//! Senders without access: their id, counts and, for a week, the name that the channel tells.

use rusqlite::params;

use crate::id::{AddressId, PersonId, StrangerId};
use crate::people::{Address, Role};
use crate::store::handles::{Addresses, AddressesMut};
use crate::store::rows::from_row;
use crate::time::Timestamp;
use crate::trust::{Label, Labelled, Scope, Source, Text};
use crate::wording::gateway;

/// Maximum number of lines sent to one stranger on one day.
const MAX_LINES: i64 = 5;
/// Number of lines to all strangers of one day after which each gets one at most.
const LINES_FOR_ALL: i64 = 50;
/// Maximum number of lines sent to all strangers on one day.
const MAX_LINES_FOR_ALL: i64 = 150;
/// Maximum number of strangers of whom the owners are told on one day.
const MAX_ANNOUNCED: i64 = 5;

/// A sender without access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stranger {
    /// Row id.
    pub id: StrangerId,
    /// Address.
    pub address: Address,
    /// Name told by the channel; blank if it told none, or after a week.
    pub name: Text,
    /// Time of the newest message.
    pub last_at: Timestamp,
    /// Number of messages.
    pub count: i64,
}

from_row! {
    Stranger { id, last_at, count }
    with |row| {
        address: Address { adapter: row.get("adapter")?, account: row.get("account")?, peer: row.get("sender")? },
        name: name(row.get("id")?, &row.get::<_, String>("name")?),
    }
}

fn name(id: StrangerId, told: &str) -> Text {
    Labelled::new(told.into(), Label::untrusted(Source::stranger(id)), Scope::Shared)
}

const STRANGER: &str = "SELECT s.id, s.adapter, s.account, s.sender, s.name, s.last_at, s.count FROM strangers s
     WHERE s.is_group = 0 AND s.ignored_at = 0 AND NOT EXISTS (
         SELECT 1 FROM addresses a JOIN people p ON p.id = a.person_id AND p.removed_at IS NULL
         WHERE a.adapter = s.adapter AND a.account = s.account AND (a.peer = s.sender OR a.alias = s.sender))";

impl Addresses<'_> {
    /// Returns the senders without access, except groups and ignored ones, newest first; those
    /// behind that time and id if they are given.
    pub fn strangers(&self, last: Option<(Timestamp, StrangerId)>, limit: u32) -> anyhow::Result<Vec<Stranger>> {
        let (at, id) = last.unzip();
        let behind = "?1 IS NULL OR (s.last_at, s.id) < (?1, ?2)";
        let sql = format!("{STRANGER} AND ({behind}) ORDER BY s.last_at DESC, s.id DESC LIMIT ?3");
        self.db.all(&sql, params![at, id, limit])
    }

    /// Returns a sender who still has no access and is not ignored.
    pub fn stranger(&self, id: StrangerId) -> anyhow::Result<Option<Stranger>> {
        self.db.first(&format!("{STRANGER} AND s.id = ?1"), [id])
    }

    /// Returns the number of wrong codes from a stranger on that local day.
    pub fn guesses(&self, at: &Address, day: &str) -> anyhow::Result<i64> {
        let of = params![at.adapter, at.account, at.peer, day];
        let sql =
            "SELECT guesses FROM strangers WHERE adapter = ?1 AND account = ?2 AND sender = ?3 AND guess_day = ?4";
        Ok(self.db.first(sql, of)?.unwrap_or(0))
    }
}

impl AddressesMut<'_> {
    /// Records a contact attempt by a stranger, with the name that the channel tells. Returns true
    /// if they may be sent a line on this local day.
    pub fn record_stranger(&self, at: &Address, name: &str, now: Timestamp, day: &str) -> anyhow::Result<bool> {
        self.db.run(
            "INSERT INTO strangers (adapter, account, sender, name, first_at, last_at) VALUES (?1, ?2, ?3, ?5, ?4, ?4)
             ON CONFLICT (adapter, account, sender) DO UPDATE SET last_at = ?4, count = count + 1,
             name = iif(ignored_at = 0, ?5, '')",
            params![at.adapter, at.account, at.peer, now, name],
        )?;
        let told: i64 = self.db.one("SELECT coalesce(sum(told), 0) FROM strangers WHERE told_day = ?1", [day])?;
        self.db.changed(
            "UPDATE strangers SET told = iif(told_day = ?4, told + 1, 1), told_day = ?4
             WHERE adapter = ?1 AND account = ?2 AND sender = ?3
             AND (told_day <> ?4 AND ?5 < ?8 OR told_day = ?4 AND told < ?6 AND ?5 < ?7)",
            params![at.adapter, at.account, at.peer, day, told, MAX_LINES, LINES_FOR_ALL, MAX_LINES_FOR_ALL],
        )
    }

    /// Records that an owner addressed us in a group that is not allowed. Returns true for the
    /// first time on this local day.
    pub fn record_group(&self, at: &Address, now: Timestamp, day: &str) -> anyhow::Result<bool> {
        self.db.run(
            "INSERT INTO strangers (adapter, account, sender, first_at, last_at, is_group) VALUES (?1, ?2, ?3, ?4, ?4, 1)
             ON CONFLICT (adapter, account, sender) DO UPDATE SET last_at = ?4, count = count + 1, is_group = 1",
            params![at.adapter, at.account, at.peer, now],
        )?;
        self.db.changed(
            "UPDATE strangers SET told_day = ?4 WHERE adapter = ?1 AND account = ?2 AND sender = ?3 AND told_day <> ?4",
            params![at.adapter, at.account, at.peer, day],
        )
    }

    /// Records a wrong code from a stranger. Returns the number of wrong codes on this local day.
    pub fn stranger_guessed(&self, at: &Address, day: &str) -> anyhow::Result<i64> {
        self.db.run(
            "UPDATE strangers SET guesses = CASE guess_day WHEN ?4 THEN guesses + 1 ELSE 1 END, guess_day = ?4
             WHERE adapter = ?1 AND account = ?2 AND sender = ?3",
            params![at.adapter, at.account, at.peer, day],
        )?;
        self.guesses(at, day)
    }

    /// Returns the stranger at an address if the owners are to be told of them now, and records
    /// that they were: once for each stranger, of a few on one day.
    pub fn announce_stranger(&self, at: &Address, now: Timestamp) -> anyhow::Result<Option<Stranger>> {
        let day_ago = now.minus(std::time::Duration::from_secs(86_400));
        let announced: i64 = self.db.one("SELECT count(*) FROM strangers WHERE announced_at > ?1", [day_ago])?;
        if announced >= MAX_ANNOUNCED {
            return Ok(None);
        }
        let sql = format!("{STRANGER} AND s.announced_at = 0 AND s.adapter = ?1 AND s.account = ?2 AND s.sender = ?3");
        let found: Option<Stranger> = self.db.first(&sql, params![at.adapter, at.account, at.peer])?;
        if let Some(stranger) = &found {
            self.db.run("UPDATE strangers SET announced_at = ?2 WHERE id = ?1", params![stranger.id, now])?;
        }
        Ok(found)
    }

    /// Gives a stranger access as a new person of that name, bound to the id from which they wrote.
    pub fn admit_stranger(
        &self,
        stranger: &Stranger,
        name: &str,
        role: Role,
        now: Timestamp,
    ) -> anyhow::Result<(PersonId, AddressId)> {
        self.tx().pairing().void_codes_for_newcomer(name, now)?;
        let person = self.tx().people().add_person(name, role, "pairing", now)?.id;
        let address = self.link(&stranger.address, Some(person), now)?;
        self.tx().outbox().decide_buttons(&format!("/people admit {}", stranger.id), gateway::LET_IN, now)?;
        self.forget_name(stranger.id)?;
        Ok((person, address))
    }

    /// Ignores a stranger: their name is deleted and not stored again, and the owners are not told
    /// of them.
    pub fn ignore_stranger(&self, id: StrangerId, now: Timestamp) -> anyhow::Result<()> {
        self.db.run("UPDATE strangers SET ignored_at = ?2 WHERE id = ?1", params![id, now])?;
        self.tx().outbox().decide_buttons(&format!("/people admit {id}"), gateway::IGNORED, now)?;
        self.forget_name(id)
    }

    /// Deletes the names of all strangers who last wrote before that time.
    pub fn forget_names(&self, before: Timestamp) -> anyhow::Result<usize> {
        let old: Vec<StrangerId> =
            self.db.all("SELECT id FROM strangers WHERE name <> '' AND last_at < ?1 LIMIT 100", [before])?;
        old.iter().try_for_each(|id| self.forget_name(*id))?;
        Ok(old.len())
    }

    /// Deletes the name that the channel told of a stranger, and what was written with it.
    fn forget_name(&self, id: StrangerId) -> anyhow::Result<()> {
        self.db.run("UPDATE strangers SET name = '' WHERE id = ?1", [id])?;
        self.tx().outbox().blank_notices(&Source::stranger(id))
    }
}
