//! Merges two people: the messages of one belong to the other from now on.
//!
//! This happens when the only address of a paired person is linked to another person. Every row
//! with their text changes its scope, and every row that names them changes the person. Data that
//! only one of the two can have (slots, reflections, the stream of system runs) stays unchanged and
//! is no longer found. A test reads the schema: a new column must be in one of the two lists.

use crate::store::handles::PeopleMut;
use rusqlite::params;

use crate::id::{PersonId, StreamId};
use crate::time::Timestamp;
use crate::trust::Scope;

/// Tables whose scope changes with the person.
const SCOPED: &[&str] = &[
    "attachments",
    "compactions",
    "conversations",
    "extractions",
    "files",
    "forgettings",
    "grants",
    "imports",
    "keeps",
    "messages",
    "open_items",
    "outbox",
    "proposals",
    "questions",
    "reminders",
    "spending",
    "steps",
    "summaries",
    "texts",
    "turns",
    "verdicts",
];
/// Columns that name a person or a stream. Rows that would become duplicates stay unchanged.
const NAMED: &[(&str, &str)] = &[
    ("forgettings", "person_id"),
    ("grants", "person_id"),
    ("heartbeat_ticks", "person_id"),
    ("keeps", "person_id"),
    ("messages", "person_id"),
    ("proposals", "person_id"),
    ("questions", "person_id"),
    ("reactions", "person_id"),
    ("reminders", "person_id"),
    ("spending", "person_id"),
    ("turns", "person_id"),
];
const IN_STREAM: &[&str] = &["conversations", "imports", "messages", "questions", "turns"];

impl PeopleMut<'_> {
    /// Returns true if a person has no pending or running work, which a merge requires.
    pub fn is_at_rest(&self, person: PersonId) -> anyhow::Result<bool> {
        Ok(!self.db.exists(
            "SELECT 1 FROM streams s WHERE (s.person_id = ?1 OR s.work_of = ?1) AND (
             EXISTS (SELECT 1 FROM messages m WHERE m.stream_id = s.id AND m.state IN ('queued', 'claimed'))
             OR EXISTS (SELECT 1 FROM turns t WHERE t.stream_id = s.id AND t.state IN ('running', 'waiting')))",
            [person],
        )?)
    }

    /// Merges the stream of `from` into that of `into`, and removes `from`. `from` must have no
    /// open work. The next message begins a new conversation.
    pub fn absorb(&self, from: PersonId, into: PersonId, now: Timestamp) -> anyhow::Result<()> {
        let target = self.tx().conversations().stream_for(into)?;
        self.db.run("UPDATE addresses SET person_id = ?2 WHERE person_id = ?1", params![from, into])?;
        if let Some(source) = self.db.conversations().stream_of(from)? {
            self.move_stream(source, target, now)?;
        }
        for table in SCOPED {
            self.db.run(
                &format!("UPDATE {table} SET scope = ?2 WHERE scope = ?1"),
                params![Scope::Person(from), Scope::Person(into)],
            )?;
        }
        for (table, column) in NAMED {
            self.db
                .run(&format!("UPDATE OR IGNORE {table} SET {column} = ?2 WHERE {column} = ?1"), params![from, into])?;
        }
        self.tx().settings().move_memory_switches(Scope::Person(from), Scope::Person(into))?;
        // The indexes store the scope of each text.
        self.tx().message_search().rebuild_index()?;
        self.tx().erasure().drop_entries_of(Scope::Person(from))?;
        self.db.run(
            "UPDATE unindexed SET scope = ?2 WHERE scope = ?1",
            params![Scope::Person(from), Scope::Person(into)],
        )?;
        self.move_declared_addresses(from, into)?;
        if self.db.folders().workspace_owner()? == Some(from) {
            // The two are one person, so files in the root stay theirs.
            self.tx().folders().set_workspace_owner(into)?;
        }
        self.disallow(from, now)?;
        // A later person of that name is a different one, with files of their own.
        self.db.run(
            "UPDATE people SET name = name || ' #' || id, ended = 'joined', namesake_id = NULL WHERE id = ?1",
            [from],
        )
    }

    fn move_stream(&self, source: StreamId, target: StreamId, now: Timestamp) -> anyhow::Result<()> {
        for stream in [source, target] {
            if let Some(current) = self.db.conversations().newest_conversation(stream)? {
                self.tx().conversations().close_conversation(current.id, now)?;
            }
        }
        self.tx().conversations().set_break(target, Some(now))?;
        for table in IN_STREAM {
            self.db.run(&format!("UPDATE {table} SET stream_id = ?2 WHERE stream_id = ?1"), params![source, target])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::people::{Address, Role};
    use crate::store::Journal;

    /// Derived tables: cleared, and rebuilt from the moved rows.
    const DERIVED: &[&str] = &["entries", "indexed", "unindexed"];
    /// Columns that stay: program data, or data that only one of the two can have.
    const STAYS: &[&str] = &[
        "actions.scope",
        "addresses.person_id",
        "decisions.person_id",
        "declared_addresses.person_id",
        "folder_moves.person_id",
        "guests.stream_id",
        "heartbeats.person_id",
        "outside_tools.scope",
        "pairing_codes.person_id",
        "reflections.scope",
        "skill_files.scope",
        "skill_versions.scope",
        "skills.scope",
        "slots.scope",
        "streams.person_id",
        "streams.scope",
        "streams.work_of",
        "web_codes.person_id",
        "web_sessions.person_id",
    ];

    /// Proves: people/joined
    #[tokio::test]
    async fn every_column_that_says_whose_something_is_is_thought_of() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open_or_copy(&folder.path().join("j.db"), None).unwrap();
        let columns = journal.read(|db| {
            let mut query = db.prepare(
                "SELECT m.name || '.' || c.name FROM sqlite_master m, pragma_table_info(m.name) c
                 WHERE m.type = 'table' AND c.name IN ('scope', 'person_id', 'stream_id', 'work_of') ORDER BY 1",
            )?;
            Ok(query.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?)
        });
        let mut known: Vec<String> = SCOPED.iter().map(|table| format!("{table}.scope")).collect();
        known.extend(NAMED.iter().map(|(table, column)| format!("{table}.{column}")));
        known.extend(DERIVED.iter().map(|table| format!("{table}.scope")));
        known.extend(IN_STREAM.iter().map(|table| format!("{table}.stream_id")));
        known.extend(STAYS.iter().map(|column| (*column).to_owned()));
        known.sort();
        assert_eq!(columns.await.unwrap(), known);
    }

    /// Proves: people/joined
    #[tokio::test]
    async fn nothing_of_the_other_is_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open_or_copy(&folder.path().join("j.db"), None).unwrap();
        let now = Timestamp(1_000);
        let (ada, other) = journal
            .write("two people", move |tx| {
                let ada = tx.people().allow("Ada", Role::Owner, "config", now)?;
                let other = tx.people().allow("Ada Signal", Role::Member, "pairing", now)?;
                tx.addresses().link(&Address::new("signal", "+1", "a"), Some(other.id), now)?;
                tx.conversations().stream_for(other.id)?;
                Ok((ada.id, other.id))
            })
            .await
            .unwrap();
        let (rest, people, theirs) = journal
            .write("absorb", move |tx| {
                let rest = tx.people().is_at_rest(other)?;
                tx.people().absorb(other, ada, now)?;
                Ok((rest, tx.people().people()?, tx.conversations().stream_of(ada)?))
            })
            .await
            .unwrap();
        assert!(rest && theirs.is_some());
        assert_eq!(people.iter().map(|person| person.name.as_str()).collect::<Vec<_>>(), ["Ada"]);
    }
}
