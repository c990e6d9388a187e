//! Message timers set by senders: text is deleted a given time after its answer.
//!
//! A timer runs from the end of the turn that answered the message, or from its closing. A reply
//! gets the shortest timer of the messages it answers, running from its delivery or failure. Until
//! then no expiry exists, so text is never deleted before it was used. For the deletion itself see
//! [`super::redact`].

use crate::store::handles::{Timers, TimersMut};
use std::time::Duration;

use rusqlite::params;

use crate::id::{MessageId, OutboxId, TurnId};
use crate::time::Timestamp;

/// Expiry of each running timer: after the answering turn, after closing, or after delivery.
const RUNNING: &str = "SELECT m.id AS id, m.expires_after + CASE
         WHEN m.kind = 'reply' THEN (SELECT o.ended_at FROM outbox o WHERE o.message_id = m.id)
         WHEN m.turn_id IS NOT NULL THEN (SELECT u.ended_at FROM turns u WHERE u.id = m.turn_id)
         WHEN m.state IN ('answered', 'closed') THEN m.received_at END AS due
     FROM messages m WHERE m.expires_after IS NOT NULL AND m.gone_at IS NULL";

impl Timers<'_> {
    /// Returns the messages whose timer has expired.
    pub fn run_out(&self, now: Timestamp, limit: u32) -> anyhow::Result<Vec<MessageId>> {
        self.db
            .all(&format!("SELECT id FROM ({RUNNING}) WHERE due <= ?1 ORDER BY due, id LIMIT ?2"), params![now, limit])
    }

    /// Returns when the next running timer expires.
    pub fn runs_out_next(&self) -> anyhow::Result<Option<Timestamp>> {
        self.db.one(&format!("SELECT min(due) FROM ({RUNNING})"), [])
    }

    /// Returns true if a delivery is a reply with a timer.
    pub fn has_timer(&self, delivery: OutboxId) -> anyhow::Result<bool> {
        self.db.exists(
            "SELECT 1 FROM outbox o JOIN messages m ON m.id = o.message_id WHERE o.id = ?1
             AND m.expires_after IS NOT NULL",
            [delivery],
        )
    }
}

impl TimersMut<'_> {
    /// Sets a timer that deletes a message's text after it was answered, or after delivery if it is
    /// ours.
    pub fn set_timer(&self, id: MessageId, after: Duration) -> anyhow::Result<()> {
        let millis = i64::try_from(after.as_millis()).unwrap_or(i64::MAX >> 1);
        self.db.run(
            "UPDATE messages SET expires_after = min(?2, coalesce(expires_after, ?2)) WHERE id = ?1",
            params![id, millis],
        )
    }

    /// Gives a reply the shortest timer of the messages it answers, including those before a
    /// confirmed question.
    pub fn inherit_timer(&self, reply: MessageId, turn: TurnId) -> anyhow::Result<()> {
        self.db.run(
            "WITH RECURSIVE answered (turn) AS (
             SELECT ?2 UNION SELECT q.turn_id FROM questions q JOIN answered a ON q.continued_by = a.turn)
             UPDATE messages SET expires_after = (
             SELECT min(m.expires_after) FROM messages m JOIN answered a ON m.turn_id = a.turn WHERE m.id <> ?1)
             WHERE id = ?1",
            params![reply, turn],
        )
    }
}
