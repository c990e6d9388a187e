//! Health of the parts of the program over time: one row for each change of state.

use rusqlite::params;
use strum::{EnumString, IntoStaticStr};

use crate::store::handles::{HealthChanges, HealthChangesMut};
use crate::store::rows::{from_row, stored_word};
use crate::time::Timestamp;

/// State of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum HealthState {
    /// Works.
    Well,
    /// Does not run: the program is stopped, or the part is no longer configured.
    Off,
    /// Has a problem.
    Ill,
}

stored_word!(HealthState);

/// A change of a part's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthChange {
    /// The part: `program`, `model`, or the name of a channel.
    pub part: String,
    /// State from then on.
    pub state: HealthState,
    /// Time of the change.
    pub at: Timestamp,
}

from_row! {
    HealthChange from "health_changes" { part, state, at }
}

impl HealthChanges<'_> {
    /// Returns the present state of each part.
    pub fn latest(&self) -> anyhow::Result<Vec<HealthChange>> {
        self.db.rows("WHERE id IN (SELECT max(id) FROM health_changes GROUP BY part) ORDER BY part", [])
    }

    /// Returns the changes since then, oldest first, preceded by the last one before of each part.
    pub fn since(&self, from: Timestamp) -> anyhow::Result<Vec<HealthChange>> {
        self.db.rows(
            "WHERE at >= ?1 OR id IN (SELECT max(id) FROM health_changes WHERE at < ?1 GROUP BY part) ORDER BY id",
            [from],
        )
    }
}

impl HealthChangesMut<'_> {
    /// Records a change.
    pub fn record(&self, part: &str, state: HealthState, at: Timestamp) -> anyhow::Result<()> {
        self.db.run("INSERT INTO health_changes (part, state, at) VALUES (?1, ?2, ?3)", params![part, state, at])
    }

    /// Deletes changes from before, at most that many, but the last one of each part, which tells
    /// the state since. Returns their number.
    pub fn sweep(&self, before: Timestamp, limit: u32) -> anyhow::Result<usize> {
        self.db.execute(
            "DELETE FROM health_changes WHERE id IN (SELECT id FROM health_changes WHERE at < ?1
             AND id NOT IN (SELECT max(id) FROM health_changes WHERE at < ?1 GROUP BY part) LIMIT ?2)",
            params![before, limit],
        )
    }
}
