//! Timers that a sender set on what they said: the words go so long after they were answered.
//!
//! A timer runs from the end of the turn that answered the message, or from when it was closed;
//! that of a reply, which is the shortest of what it answers, from when it was delivered or given
//! up. Until then there is no instant to name, so nothing can go before it was of use. What goes is
//! in [`super::gone`].

use crate::store::handles::{Timers, TimersMut};
use std::time::Duration;

use rusqlite::params;

use crate::id::{MessageId, OutboxId, TurnId};
use crate::time::Timestamp;

/// When the words of each message go that has a timer which runs: after the turn that answered it,
/// after it was closed, after it was delivered.
const RUNNING: &str = "SELECT m.id AS id, m.expires_after + CASE
         WHEN m.kind = 'reply' THEN (SELECT o.ended_at FROM outbox o WHERE o.message_id = m.id)
         WHEN m.turn_id IS NOT NULL THEN (SELECT u.ended_at FROM turns u WHERE u.id = m.turn_id)
         WHEN m.state IN ('answered', 'closed') THEN m.received_at END AS due
     FROM messages m WHERE m.expires_after IS NOT NULL AND m.gone_at IS NULL";

impl Timers<'_> {
    /// The messages whose timer has run out.
    pub fn run_out(&self, now: Timestamp, limit: u32) -> anyhow::Result<Vec<MessageId>> {
        let mut query =
            self.db.prepare_cached(&format!("SELECT id FROM ({RUNNING}) WHERE due <= ?1 ORDER BY due, id LIMIT ?2"))?;
        Ok(query.query_map(params![now, limit], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// When the next timer runs out, of those that run.
    pub fn runs_out_next(&self) -> anyhow::Result<Option<Timestamp>> {
        let mut query = self.db.prepare_cached(&format!("SELECT min(due) FROM ({RUNNING})"))?;
        Ok(query.query_row([], |row| row.get(0))?)
    }

    /// Whether that is a reply with a timer.
    pub fn has_timer(&self, delivery: OutboxId) -> anyhow::Result<bool> {
        let mut query = self.db.prepare_cached(
            "SELECT 1 FROM outbox o JOIN messages m ON m.id = o.message_id WHERE o.id = ?1 AND m.expires_after IS NOT NULL",
        )?;
        Ok(query.exists([delivery])?)
    }
}

impl TimersMut<'_> {
    /// The words of a message are to go so long after it was answered, or after it was delivered if
    /// it is ours.
    pub fn set_timer(&self, id: MessageId, after: Duration) -> anyhow::Result<()> {
        let millis = i64::try_from(after.as_millis()).unwrap_or(i64::MAX >> 1);
        self.db
            .prepare_cached("UPDATE messages SET expires_after = min(?2, coalesce(expires_after, ?2)) WHERE id = ?1")?
            .execute(params![id, millis])?;
        Ok(())
    }

    /// A reply has the shortest timer of what it answers; one that a yes went on to, that of the
    /// question.
    pub fn inherit_timer(&self, reply: MessageId, turn: TurnId) -> anyhow::Result<()> {
        self.db
            .prepare_cached(
                "WITH RECURSIVE answered (turn) AS (
                     SELECT ?2 UNION SELECT q.turn_id FROM questions q JOIN answered a ON q.continued_by = a.turn)
                 UPDATE messages SET expires_after = (
                     SELECT min(m.expires_after) FROM messages m JOIN answered a ON m.turn_id = a.turn WHERE m.id <> ?1)
                 WHERE id = ?1",
            )?
            .execute(params![reply, turn])?;
        Ok(())
    }
}
