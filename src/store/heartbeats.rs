//! Heartbeat of each owner: the time and outcome of its checks, and the ticked items of their
//! `HEARTBEAT.md`.
//!
//! A tick names its item by a digest of the item's words, so no text is stored twice. It lasts as
//! long as the file has an item with these words.

use std::collections::BTreeSet;

use rusqlite::params;

use crate::id::{PersonId, TurnId};
use crate::store::handles::{Heartbeats, HeartbeatsMut};
use crate::store::rows::from_row;
use crate::time::Timestamp;

/// State of one owner's heartbeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeartbeatRow {
    /// Owner.
    pub person: PersonId,
    /// Time of the last check of the file.
    pub checked_at: Timestamp,
    /// Time of the next check.
    pub next_at: Timestamp,
    /// Start of the last run.
    pub ran_at: Option<Timestamp>,
    /// Digest of the inputs of that run, or of the file alone while it is under way; blank if the
    /// next check starts a run anyway.
    pub inputs: String,
    /// Number of runs without news since the inputs changed last.
    pub quiet: u32,
}

/// A ticked item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeartbeatTick {
    /// Digest of the item's words.
    pub key: String,
    /// Turn that ticked it; `None` for the owner's own command.
    pub turn: Option<TurnId>,
    /// Time.
    pub ticked_at: Timestamp,
}

from_row! { HeartbeatRow from "heartbeats" { person: "person_id", checked_at, next_at, ran_at, inputs, quiet } }
from_row! { HeartbeatTick from "heartbeat_ticks" { key: "digest", turn: "turn_id", ticked_at } }

impl Heartbeats<'_> {
    /// Returns the state of a person's heartbeat; `None` before the first check.
    pub fn heartbeat(&self, person: PersonId) -> anyhow::Result<Option<HeartbeatRow>> {
        self.db.row("WHERE person_id = ?1", [person])
    }

    /// Returns the ticked items of a person, oldest first.
    pub fn heartbeat_ticks(&self, person: PersonId) -> anyhow::Result<Vec<HeartbeatTick>> {
        self.db.rows("WHERE person_id = ?1 ORDER BY id", [person])
    }
}

impl HeartbeatsMut<'_> {
    /// Records a check of the file, and the time of the next one.
    pub fn record_check(&self, person: PersonId, now: Timestamp, next_at: Timestamp) -> anyhow::Result<()> {
        self.db.run(
            "INSERT INTO heartbeats (person_id, checked_at, next_at) VALUES (?1, ?2, ?3)
             ON CONFLICT (person_id) DO UPDATE SET checked_at = ?2, next_at = ?3",
            params![person, now, next_at],
        )
    }

    /// Records the start of a run on that version of the file. The other inputs are known at its
    /// end.
    pub fn record_run(&self, person: PersonId, now: Timestamp, file: &str, quiet: u32) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE heartbeats SET ran_at = ?2, inputs = ?3, quiet = ?4 WHERE person_id = ?1",
            params![person, now, file, quiet],
        )
    }

    /// Records the inputs of the finished run, and the number of runs without news on them.
    pub fn record_outcome(&self, person: PersonId, inputs: &str, quiet: u32) -> anyhow::Result<()> {
        self.db
            .run("UPDATE heartbeats SET inputs = ?2, quiet = ?3 WHERE person_id = ?1", params![person, inputs, quiet])
    }

    /// Ticks an item. Returns false if it was ticked.
    pub fn tick(&self, person: PersonId, key: &str, turn: Option<TurnId>, now: Timestamp) -> anyhow::Result<bool> {
        self.db.changed(
            "INSERT INTO heartbeat_ticks (person_id, digest, turn_id, ticked_at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (person_id, digest) DO NOTHING",
            params![person, key, turn, now],
        )
    }

    /// Removes a tick. Returns false if there was none.
    pub fn untick(&self, person: PersonId, key: &str) -> anyhow::Result<bool> {
        self.db.changed("DELETE FROM heartbeat_ticks WHERE person_id = ?1 AND digest = ?2", params![person, key])
    }

    /// Removes the ticks of items that the file no longer has.
    pub fn keep_ticks(&self, person: PersonId, keys: &BTreeSet<String>) -> anyhow::Result<()> {
        let ticks = self.heartbeat_ticks(person)?;
        ticks
            .iter()
            .filter(|tick| !keys.contains(&tick.key))
            .try_for_each(|tick| self.untick(person, &tick.key).map(drop))
    }
}
