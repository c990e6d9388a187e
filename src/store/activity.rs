//! Activity counts for reflection: messages, tool calls and failures, and model usage.
//!
//! All counts are for one person and by received time, from the first instant (inclusive) to the
//! last (exclusive). System runs are counted apart from chats, so that reflection never counts
//! itself.

use crate::store::handles::Activity;
use crate::store::rows::from_row;
use rusqlite::params;

use crate::id::{ConversationId, MessageId, PersonId, TurnId};
use crate::time::Timestamp;
use crate::trust::Scope;

/// Call counts of one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUse {
    /// Name as the model spelled it; it may be any text.
    pub tool: String,
    /// Number of calls that were made.
    pub calls: u32,
    /// Number of calls that were made and failed.
    pub failed: u32,
    /// Number of calls that were refused, or put to the person instead.
    pub not_made: u32,
}

from_row! { ToolUse { tool, calls, failed, not_made } }

/// Read count of one skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillUse {
    /// Name as the model spelled it; it may be any text.
    pub skill: String,
    /// Number of reads.
    pub times: u32,
}

from_row! { SkillUse { skill: "name", times } }

/// Model usage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelUse {
    /// Number of calls.
    pub calls: u32,
    /// Number of calls without a result.
    pub failed: u32,
    /// Input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
}

from_row! {
    ModelUse { calls, failed }
    with |row| {
        input: row.get::<_, i64>("input")?.try_into().unwrap_or(0),
        output: row.get::<_, i64>("output")?.try_into().unwrap_or(0),
    }
}

impl Activity<'_> {
    /// Returns the messages that a person sent in their own stream, in order.
    pub fn messages_between(&self, person: PersonId, from: Timestamp, to: Timestamp) -> anyhow::Result<Vec<MessageId>> {
        self.db.all(
            "SELECT m.id FROM messages m JOIN streams s ON s.id = m.stream_id
             WHERE s.person_id = ?1 AND m.kind = 'said' AND m.received_at >= ?2 AND m.received_at < ?3 ORDER BY m.id",
            params![person, from, to],
        )
    }

    /// Returns what went to a person without being asked for, but for reflections, in order.
    pub fn sent_between(&self, person: PersonId, from: Timestamp, to: Timestamp) -> anyhow::Result<Vec<MessageId>> {
        self.db.all(
            "SELECT m.id FROM messages m JOIN streams s ON s.id = m.stream_id
             WHERE s.person_id = ?1 AND m.kind = 'sent' AND m.cause <> 'reflection' AND m.received_at >= ?2
             AND m.received_at < ?3 ORDER BY m.id",
            params![person, from, to],
        )
    }

    /// Returns the chats of a person that began within these instants, newest first.
    pub fn chats_between(
        &self,
        person: PersonId,
        from: Timestamp,
        to: Timestamp,
        limit: u32,
    ) -> anyhow::Result<Vec<ConversationId>> {
        self.db.all(
            "SELECT c.id FROM conversations c JOIN streams s ON s.id = c.stream_id
             WHERE s.person_id = ?1 AND c.kind = 'chat' AND c.opened_at >= ?2 AND c.opened_at < ?3
             ORDER BY c.id DESC LIMIT ?4",
            params![person, from, to, limit],
        )
    }

    /// Returns the reply of a turn.
    pub fn reply_of(&self, turn: TurnId) -> anyhow::Result<Option<MessageId>> {
        self.db.one("SELECT max(id) FROM messages WHERE turn_id = ?1 AND kind = 'reply'", [turn])
    }

    /// Returns the tools that were called, most used first. A call that was made after a yes counts
    /// once.
    pub fn tools_between(&self, scope: Scope, from: Timestamp, to: Timestamp) -> anyhow::Result<Vec<ToolUse>> {
        self.db.all(
            "SELECT s.tool, sum(s.made) AS calls, sum(s.failed AND s.made) AS failed,
                 sum(NOT s.made AND q.id IS NULL) AS not_made
             FROM steps s LEFT JOIN questions q ON q.turn_id = s.turn_id AND s.id >= q.step_id AND q.state = 'yes'
             WHERE s.kind = 'tool' AND s.scope = ?1 AND s.started_at >= ?2 AND s.started_at < ?3
             GROUP BY s.tool ORDER BY count(*) DESC, s.tool",
            params![scope, from, to],
        )
    }

    /// Returns the skills that were read, most read first.
    pub fn skills_between(&self, scope: Scope, from: Timestamp, to: Timestamp) -> anyhow::Result<Vec<SkillUse>> {
        self.db.all(
            "SELECT name, count(*) AS times FROM (
             SELECT CASE WHEN json_valid(call ->> 'arguments') THEN (call ->> 'arguments') ->> 'name' END AS name
             FROM steps
             WHERE kind = 'tool' AND tool = 'load_skill' AND failed = 0 AND json_valid(call)
             AND scope = ?1 AND started_at >= ?2 AND started_at < ?3)
             WHERE typeof(name) = 'text' GROUP BY name ORDER BY count(*) DESC, name",
            params![scope, from, to],
        )
    }

    /// Returns the model usage. An interrupted call counts with its worst-case cost.
    pub fn models_between(&self, scope: Scope, from: Timestamp, to: Timestamp) -> anyhow::Result<ModelUse> {
        self.db.one(
            "SELECT count(*) AS calls, coalesce(sum(state = 'reserved' OR output_tokens = 0), 0) AS failed,
             coalesce(sum(input_tokens), 0) AS input, coalesce(sum(output_tokens), 0) AS output
             FROM spending WHERE scope = ?1 AND at >= ?2 AND at < ?3",
            params![scope, from, to],
        )
    }

    /// Counts the chat turns that ended without an answer, by reason.
    pub fn unanswered_between(
        &self,
        person: PersonId,
        from: Timestamp,
        to: Timestamp,
    ) -> anyhow::Result<Vec<(String, u32)>> {
        self.db.all(
            "SELECT t.reason, count(*) FROM turns t JOIN streams s ON s.id = t.stream_id
             WHERE s.person_id = ?1 AND t.state = 'gave_up' AND t.claimed_at >= ?2 AND t.claimed_at < ?3
             GROUP BY t.reason ORDER BY count(*) DESC, t.reason",
            params![person, from, to],
        )
    }

    /// Counts the system runs for a person, by kind, without reflections.
    pub fn work_between(&self, person: PersonId, from: Timestamp, to: Timestamp) -> anyhow::Result<Vec<(String, u32)>> {
        self.db.all(
            "SELECT c.kind, count(*) FROM conversations c JOIN streams s ON s.id = c.stream_id
             WHERE s.work_of = ?1 AND c.kind <> 'reflection' AND c.opened_at >= ?2 AND c.opened_at < ?3
             GROUP BY c.kind ORDER BY c.kind",
            params![person, from, to],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::people::Role;
    use crate::store::{Journal, MessageKind, NewMessage, Tx};
    use proptest::prelude::*;

    /// Adds a person with one message at each of these instants, plus a command, a reply and system
    /// messages at the same times.
    fn person_with_messages(tx: Tx<'_>, at: &[i64]) -> anyhow::Result<PersonId> {
        let person = tx.people().allow("Ada", Role::Owner, "config", Timestamp(1))?.id;
        let (talk, work) = (tx.conversations().stream_for(person)?, tx.conversations().work_stream_for(person)?);
        for at in at {
            for (stream, kind) in [
                (talk, MessageKind::Said),
                (talk, MessageKind::Command),
                (talk, MessageKind::Reply),
                (work, MessageKind::Said),
                (work, MessageKind::Task),
            ] {
                tx.messages().add_message(&NewMessage {
                    stream,
                    conversation: None,
                    inbox: None,
                    address: None,
                    person: Some(person),
                    guest: None,
                    kind,
                    scope: Scope::Person(person),
                    external_id: "",
                    album: "",
                    received_at: Timestamp(*at),
                    server_at: None,
                    effective_at: Timestamp(0),
                    turn: None,
                })?;
            }
        }
        Ok(person)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn each_message_is_in_exactly_one_of_windows_that_abut(
            at in prop::collection::vec(0_i64..50, 0..30),
            mut cuts in prop::collection::vec(0_i64..=50, 0..6),
        ) {
            cuts.extend([0, 50]);
            cuts.sort_unstable();
            let home = tempfile::tempdir().unwrap();
            let journal = Journal::open_or_copy(&home.path().join("j.db"), None).unwrap();
            let count = at.len();
            let found = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
                let person = journal.write("say", move |tx| person_with_messages(tx, &at)).await.unwrap();
                journal.read(move |db| {
                    let windows = cuts.iter().zip(cuts.iter().skip(1));
                    windows.map(|(from, to)| db.activity().messages_between(person, Timestamp(*from), Timestamp(*to))).collect::<Result<Vec<_>, _>>()
                }).await.unwrap()
            });
            let mut all: Vec<MessageId> = found.into_iter().flatten().collect();
            let total = all.len();
            all.sort_unstable();
            all.dedup();
            prop_assert_eq!((total, all.len()), (count, count));
        }
    }
}
