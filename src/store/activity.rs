//! What happened in a time, as it is counted for looking back: who said how much, which tools were
//! used and failed, what the models cost.
//!
//! Everything is counted for one person and by the received time, from the first instant on and
//! before the last. What the program does by itself is told apart from talk, so that looking back
//! never finds itself.

use crate::store::handles::Activity;
use rusqlite::params;

use crate::id::{MessageId, PersonId, TurnId};
use crate::time::Timestamp;
use crate::trust::Scope;

/// How often a tool was called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUse {
    /// Its name, as the model spelled it: it may be any text.
    pub tool: String,
    /// How often.
    pub calls: u32,
    /// How many of these gave an error, or were refused.
    pub failed: u32,
}

/// How often a skill was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillUse {
    /// Its name, as the model spelled it: it may be any text.
    pub skill: String,
    /// How often.
    pub times: u32,
}

/// What was asked of the models.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelUse {
    /// How many calls.
    pub calls: u32,
    /// How many of these gave nothing.
    pub failed: u32,
    /// Input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
}

impl Activity<'_> {
    /// The messages that a person said in their own stream, in order.
    pub fn said_between(&self, person: PersonId, from: Timestamp, to: Timestamp) -> anyhow::Result<Vec<MessageId>> {
        let mut query = self.db.prepare_cached(
            "SELECT m.id FROM messages m JOIN streams s ON s.id = m.stream_id
             WHERE s.person_id = ?1 AND m.kind = 'said' AND m.received_at >= ?2 AND m.received_at < ?3 ORDER BY m.id",
        )?;
        Ok(query.query_map(params![person, from, to], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// The answer of a turn.
    pub fn reply_of(&self, turn: TurnId) -> anyhow::Result<Option<MessageId>> {
        let mut query = self.db.prepare_cached("SELECT max(id) FROM messages WHERE turn_id = ?1 AND kind = 'reply'")?;
        Ok(query.query_row([turn], |row| row.get(0))?)
    }

    /// The tools that were called, the most used first.
    pub fn tools_between(&self, scope: Scope, from: Timestamp, to: Timestamp) -> anyhow::Result<Vec<ToolUse>> {
        let mut query = self.db.prepare_cached(
            "SELECT tool, count(*), sum(failed) FROM steps
             WHERE kind = 'tool' AND scope = ?1 AND started_at >= ?2 AND started_at < ?3
             GROUP BY tool ORDER BY count(*) DESC, tool",
        )?;
        let rows = query.query_map(params![scope, from, to], |row| {
            Ok(ToolUse { tool: row.get(0)?, calls: row.get(1)?, failed: row.get(2)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The skills that were read, the most read first.
    pub fn skills_between(&self, scope: Scope, from: Timestamp, to: Timestamp) -> anyhow::Result<Vec<SkillUse>> {
        let mut query = self.db.prepare_cached(
            "SELECT name, count(*) FROM (
                 SELECT CASE WHEN json_valid(call ->> 'arguments') THEN (call ->> 'arguments') ->> 'name' END AS name FROM steps
                 WHERE kind = 'tool' AND tool = 'load_skill' AND failed = 0 AND json_valid(call)
                   AND scope = ?1 AND started_at >= ?2 AND started_at < ?3)
             WHERE typeof(name) = 'text' GROUP BY name ORDER BY count(*) DESC, name",
        )?;
        let rows =
            query.query_map(params![scope, from, to], |row| Ok(SkillUse { skill: row.get(0)?, times: row.get(1)? }))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// What was asked of the models. A call that was cut off counts with the most that it may have
    /// cost.
    pub fn models_between(&self, scope: Scope, from: Timestamp, to: Timestamp) -> anyhow::Result<ModelUse> {
        let mut query = self.db.prepare_cached(
            "SELECT count(*), coalesce(sum(state = 'reserved' OR output_tokens = 0), 0),
                    coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0)
             FROM spending WHERE scope = ?1 AND at >= ?2 AND at < ?3",
        )?;
        let unsigned = |value: i64| u64::try_from(value).unwrap_or(0);
        Ok(query.query_row(params![scope, from, to], |row| {
            let (input, output) = (unsigned(row.get(2)?), unsigned(row.get(3)?));
            Ok(ModelUse { calls: row.get(0)?, failed: row.get(1)?, input, output })
        })?)
    }

    /// How many turns of talk ended without an answer, by the reason.
    pub fn unanswered_between(
        &self,
        person: PersonId,
        from: Timestamp,
        to: Timestamp,
    ) -> anyhow::Result<Vec<(String, u32)>> {
        let mut query = self.db.prepare_cached(
            "SELECT t.reason, count(*) FROM turns t JOIN streams s ON s.id = t.stream_id
             WHERE s.person_id = ?1 AND t.state = 'gave_up' AND t.claimed_at >= ?2 AND t.claimed_at < ?3
             GROUP BY t.reason ORDER BY count(*) DESC, t.reason",
        )?;
        let rows = query.query_map(params![person, from, to], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// How often the program had something done for a person by itself, by the kind; looking back
    /// does not count.
    pub fn work_between(&self, person: PersonId, from: Timestamp, to: Timestamp) -> anyhow::Result<Vec<(String, u32)>> {
        let mut query = self.db.prepare_cached(
            "SELECT c.kind, count(*) FROM conversations c JOIN streams s ON s.id = c.stream_id
             WHERE s.work_of = ?1 AND c.kind <> 'reflection' AND c.opened_at >= ?2 AND c.opened_at < ?3
             GROUP BY c.kind ORDER BY c.kind",
        )?;
        let rows = query.query_map(params![person, from, to], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::people::Role;
    use crate::store::{Journal, MessageKind, NewMessage, Tx};
    use proptest::prelude::*;

    /// Somebody who said something at these instants, beside a command and an answer.
    fn said(tx: Tx<'_>, at: &[i64]) -> anyhow::Result<PersonId> {
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
                    guest: 0,
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
            let journal = Journal::open(&home.path().join("j.db"), None).unwrap();
            let count = at.len();
            let found = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
                let person = journal.write("say", move |tx| said(tx, &at)).await.unwrap();
                journal.read(move |db| {
                    let windows = cuts.iter().zip(cuts.iter().skip(1));
                    windows.map(|(from, to)| db.activity().said_between(person, Timestamp(*from), Timestamp(*to))).collect::<Result<Vec<_>, _>>()
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
