//! Groups: their current ids, streams and guests.
//!
//! A group keeps its address rows when its id changes, so its streams continue. The configuration
//! keeps naming the group's first id.

use crate::store::handles::{Groups, GroupsMut};
use rusqlite::params;

use crate::id::{AddressId, StreamId};
use crate::people::{Address, KnownAddress};
use crate::time::Timestamp;
use crate::trust::Scope;

impl Groups<'_> {
    /// Returns the configured id of a group whose id has changed since.
    pub fn group_allowed_as(&self, adapter: &str, account: &str, chat: &str) -> anyhow::Result<Option<String>> {
        self.db.first(
            "SELECT allowed_as FROM groups WHERE adapter = ?1 AND account = ?2 AND chat = ?3",
            [adapter, account, chat],
        )
    }

    /// Returns the address of a group's stream; `None` for a person's stream.
    pub fn group_of(&self, stream: StreamId) -> anyhow::Result<Option<(AddressId, Address)>> {
        let known: Option<KnownAddress> = self.db.first(
            "SELECT a.id, a.adapter, a.account, a.peer FROM streams s JOIN addresses a ON a.id = s.address_id
             WHERE s.id = ?1",
            [stream],
        )?;
        Ok(known.map(|known| (known.id, known.address)))
    }

    /// Returns true for a group's address.
    pub fn is_group(&self, address: AddressId) -> anyhow::Result<bool> {
        self.db.exists("SELECT 1 FROM streams WHERE address_id = ?1", [address])
    }
}

impl GroupsMut<'_> {
    /// Returns the stream and address of a group (chat and topic), creating them if needed.
    pub fn stream_for_group(&self, at: &Address, now: Timestamp) -> anyhow::Result<(StreamId, AddressId)> {
        let place = params![at.adapter, at.account, at.peer];
        if let Some(known) = self.db.first(
            "SELECT s.id, a.id FROM addresses a JOIN streams s ON s.address_id = a.id
             WHERE a.adapter = ?1 AND a.account = ?2 AND a.peer = ?3",
            place,
        )? {
            return Ok(known);
        }
        let address = self.tx().addresses().link(at, None, now)?;
        // The scope is named after the stream, whose number is known only after the insert.
        let stream = self
            .db
            .insert("INSERT INTO streams (address_id, scope) VALUES (?1, ?2)", params![address, Scope::Shared])?;
        self.db.run("UPDATE streams SET scope = ?2 WHERE id = ?1", params![stream, Scope::Group(stream)])?;
        Ok((stream, address))
    }

    /// Moves a group's addresses, with all its topics, to a new id. Does nothing for an unknown
    /// group.
    pub fn group_moved(
        &self,
        adapter: &str,
        account: &str,
        from: &str,
        to: &str,
        now: Timestamp,
    ) -> anyhow::Result<()> {
        let allowed_as = self.group_allowed_as(adapter, account, from)?.unwrap_or_else(|| from.to_owned());
        self.db.run(
            "INSERT INTO groups (adapter, account, chat, allowed_as, first_at) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (adapter, account, chat) DO NOTHING",
            params![adapter, account, to, allowed_as, now],
        )?;
        // Messages that arrived under the new id before we heard of the change have rows of their
        // own, which stay.
        self.db.run(
            "UPDATE OR IGNORE addresses SET peer = ?4 || substr(peer, length(?3) + 1)
             WHERE adapter = ?1 AND account = ?2 AND (peer = ?3 OR substr(peer, 1, length(?3) + 1) = ?3 || '/')",
            [adapter, account, from, to],
        )
    }

    /// Returns the number of a guest within that group, from 1.
    pub fn guest(&self, stream: StreamId, sender: &str) -> anyhow::Result<u32> {
        self.db.run(
            "INSERT INTO guests (stream_id, sender, number)
             SELECT ?1, ?2, 1 + count(*) FROM guests WHERE stream_id = ?1 ON CONFLICT (stream_id, sender) DO NOTHING",
            params![stream, sender],
        )?;
        self.db.one("SELECT number FROM guests WHERE stream_id = ?1 AND sender = ?2", params![stream, sender])
    }
}
