//! Erases all data of one person. Numbers stay (model usage, slot times, message counts); text,
//! names and addresses do not.

use std::collections::BTreeSet;

use rusqlite::params;

use super::text_columns::{ColumnRedaction, TEXT_COLUMNS, TextColumn};
use super::{ErasureCounts, FORGOT, UNCUT};
use crate::id::{ErasureId, MessageId, PersonId};
use crate::store::handles::{Erasure, ErasureMut};
use crate::store::{Correction, Fact, Node};
use crate::text::erasure_query::ErasureQuery;
use crate::time::Timestamp;
use crate::trust::Scope;

impl Erasure<'_> {
    /// Returns the person of that name who is admitted, or was last.
    pub fn person_once_named(&self, name: &str) -> anyhow::Result<Option<PersonId>> {
        self.db.first(
            "SELECT id FROM people WHERE lower(name) = lower(?1) ORDER BY removed_at IS NULL DESC, id DESC LIMIT 1",
            [name],
        )
    }

    /// Returns a person's messages in groups that still have text.
    pub fn group_messages(&self, person: PersonId, limit: u32) -> anyhow::Result<Vec<MessageId>> {
        let sql = "SELECT id FROM messages WHERE person_id = ?1 AND scope LIKE 'group:%' AND gone_at IS NULL ORDER BY id LIMIT ?2";
        self.db.all(sql, params![person, limit])
    }

    /// Returns the facts extracted for groups from that person's messages alone: each group once,
    /// with the words of the facts.
    pub fn group_facts(&self, person: PersonId) -> anyhow::Result<Vec<(Scope, ErasureQuery)>> {
        let own = self.messages_in_groups("person_id = ?1", person)?;
        let by_others = self.messages_in_groups("person_id IS NOT ?1 AND kind = 'said'", person)?;
        let any = |sources: &[Node], of: &BTreeSet<MessageId>| {
            sources.iter().any(|node| matches!(node, Node::Message(id) if of.contains(id)))
        };
        let theirs = |sources: &[Node]| any(sources, &own) && !any(sources, &by_others);
        let rows: Vec<(Scope, String, String)> = self.db.all(
            "SELECT scope, facts, corrections FROM extractions WHERE scope LIKE 'group:%' AND (facts <> '[]' OR corrections <> '[]') ORDER BY id",
            [],
        )?;
        let mut found: Vec<(Scope, ErasureQuery)> = Vec::new();
        for (scope, facts, corrections) in rows {
            let (facts, corrections): (Vec<Fact>, Vec<Correction>) =
                (serde_json::from_str(&facts)?, serde_json::from_str(&corrections)?);
            let facts = facts.iter().filter(|fact| theirs(&fact.sources)).map(|fact| (&fact.key, &fact.value));
            let corrected = corrections.iter().filter(|put| theirs(&put.sources)).map(|put| (&put.was, &put.now));
            let mut words = ErasureQuery::default();
            facts.chain(corrected).for_each(|(about, says)| words.join(ErasureQuery::of_both(about, says)));
            if words.is_empty() {
                continue;
            }
            match found.iter_mut().find(|(of, _)| *of == scope) {
                Some((_, all)) => all.join(words),
                None => found.push((scope, words)),
            }
        }
        Ok(found)
    }

    fn messages_in_groups(&self, which: &str, person: PersonId) -> anyhow::Result<BTreeSet<MessageId>> {
        let sql = format!("SELECT id FROM messages WHERE scope LIKE 'group:%' AND {which}");
        Ok(self.db.all(&sql, [person])?.into_iter().collect())
    }

    /// Counts the messages with a person that still have text.
    pub fn messages_with_words(&self, person: PersonId) -> anyhow::Result<usize> {
        let sql = "SELECT count(DISTINCT message_id) FROM texts WHERE scope = ?1 AND text <> ''";
        self.db.count(sql, [Scope::Person(person)])
    }

    /// Returns the paths of files written for a person.
    pub fn paths_of(&self, person: PersonId) -> anyhow::Result<Vec<String>> {
        // Paths written for another scope since then belong to it.
        let sql = "SELECT path FROM files f WHERE scope = ?1 AND path NOT LIKE 'forgotten/%'
            AND id = (SELECT max(id) FROM files WHERE path = f.path) ORDER BY path";
        self.db.all(sql, [Scope::Person(person)])
    }

    /// Returns the tables that still hold text of a person, with their numbers of rows, by checking
    /// every row; none after an erasure.
    pub fn remaining_rows(&self, person: PersonId) -> anyhow::Result<Vec<(String, usize)>> {
        let scope = Scope::Person(person);
        let mut remaining: Vec<(String, usize)> = Vec::new();
        for place in TEXT_COLUMNS {
            let sql = format!("SELECT count(*) FROM {} WHERE ({}) AND {}", place.table, place.rows, has_content(place));
            remaining.push((format!("{}.{}", place.table, place.column), self.db.count(&sql, [scope])?));
        }
        for (name, sql) in [
            (
                "messages",
                "SELECT count(*) FROM texts t JOIN messages m ON m.id = t.message_id WHERE m.person_id = ?1 AND t.text <> ''",
            ),
            ("addresses", "SELECT count(*) FROM addresses WHERE person_id = ?1"),
            (
                "people",
                "SELECT count(*) FROM people WHERE id = ?1 AND (removed_at IS NULL OR name NOT LIKE 'forgotten %')",
            ),
            ("reactions", "SELECT count(*) FROM reactions WHERE person_id = ?1"),
        ] {
            remaining.push((name.to_owned(), self.db.count(sql, [person])?));
        }
        remaining.retain(|(_, count)| *count > 0);
        Ok(remaining)
    }
}

impl ErasureMut<'_> {
    /// Blanks some of a person's text. Returns zero when none is left.
    pub fn blank_batch_of(&self, person: PersonId, limit: u32) -> anyhow::Result<usize> {
        let scope = Scope::Person(person);
        for place in TEXT_COLUMNS {
            let blanked = self.blank_batch_in(place, scope, limit)?;
            if blanked > 0 {
                self.tx().settings().set_fact(FORGOT, "1")?;
                self.tx().settings().set_fact(UNCUT, &format!("person {person} {blanked} {}", place.table))?;
                return Ok(blanked);
            }
        }
        Ok(0)
    }

    fn blank_batch_in(&self, place: &TextColumn, scope: Scope, limit: u32) -> anyhow::Result<usize> {
        let TextColumn { table, column, rows, .. } = place;
        let some = format!("SELECT rowid FROM {table} WHERE ({rows}) AND {} LIMIT ?2", has_content(place));
        let these = params![scope, limit];
        let sql = match place.redaction {
            ColumnRedaction::Text => {
                let texts = "SELECT id, text FROM texts WHERE scope = ?1 AND text <> '' LIMIT ?2";
                return self.tx().maintenance().blank_texts(texts, these);
            }
            ColumnRedaction::Step => {
                let steps =
                    "SELECT id, text FROM steps WHERE scope = ?1 AND (text <> '' OR call NOT IN ('', '[]')) LIMIT ?2";
                return self.tx().maintenance().blank_steps(steps, these);
            }
            ColumnRedaction::Row if *table == "entries" => {
                let count = self.db.count("SELECT count(*) FROM entries WHERE scope = ?1", [scope])?;
                let uses = "DELETE FROM entry_uses WHERE key IN (SELECT key FROM entries WHERE scope = ?1)";
                self.db.run(uses, [scope])?;
                self.drop_entries_of(scope)?;
                return Ok(count);
            }
            ColumnRedaction::Row | ColumnRedaction::Version => format!("DELETE FROM {table} WHERE rowid IN ({some})"),
            ColumnRedaction::Lines | ColumnRedaction::List | ColumnRedaction::Whole(_) | ColumnRedaction::Keep(_) => {
                format!("UPDATE {table} SET {column} = {} WHERE rowid IN ({some})", blank(place))
            }
        };
        self.db.execute(&sql, these)
    }

    /// Ends a person's pending work and removes every reference that names them. Their text is
    /// deleted by [`Self::blank_batch_of`].
    pub fn end_all_of(&self, person: PersonId, now: Timestamp) -> anyhow::Result<()> {
        let scope = Scope::Person(person);
        for sql in [
            "UPDATE messages SET state = 'closed', reason = 'deleted' WHERE scope = ?1 AND state IN ('queued', 'claimed') AND ?2 = ?2",
            "UPDATE messages SET gone_at = ?2 WHERE scope = ?1 AND gone_at IS NULL",
            "UPDATE turns SET state = 'stopped', reason = 'deleted', ended_at = ?2, retry_at = NULL WHERE scope = ?1 AND state IN ('running', 'waiting')",
            "UPDATE questions SET state = 'refused', decided_at = ?2 WHERE scope = ?1 AND state IN ('open', 'passed')",
            "UPDATE grants SET ended_at = ?2 WHERE scope = ?1 AND ended_at IS NULL",
            "UPDATE proposals SET state = 'expired', reason = 'deleted', decided_at = ?2 WHERE scope = ?1 AND state = 'pending'",
            "UPDATE reminders SET state = 'cancelled', ended_at = ?2, next_at = NULL WHERE scope = ?1 AND state = 'waiting'",
            "UPDATE outbox SET state = 'failed', trouble = 'deleted', ended_at = ?2 WHERE scope = ?1 AND state = 'pending'",
            "UPDATE actions SET state = 'refused', reason = 'deleted', ended_at = ?2 WHERE scope = ?1 AND state IN ('new', 'taken')",
            "UPDATE slots SET state = 'failed', reason = 'deleted', ended_at = ?2 WHERE scope = ?1 AND state IN ('claimed', 'working')",
            "UPDATE extractions SET state = 'given_up', ended_at = ?2 WHERE scope = ?1 AND state IN ('wanted', 'asked')",
            "UPDATE compactions SET state = 'void' WHERE scope = ?1 AND ?2 = ?2",
            "UPDATE summaries SET state = 'void' WHERE scope = ?1 AND ?2 = ?2",
            "UPDATE conversations SET revision = revision + 1, written_down = 1, closed_at = coalesce(closed_at, ?2) WHERE scope = ?1",
        ] {
            self.db.run(sql, params![scope, now])?;
        }
        self.erase_identity(person, now)
    }

    /// Removes the names of a person and of their addresses.
    fn erase_identity(&self, person: PersonId, now: Timestamp) -> anyhow::Result<()> {
        let whose = "(SELECT DISTINCT a.id FROM addresses a WHERE a.person_id = ?1 OR (a.person_id IS NULL
             AND a.id IN (SELECT address_id FROM messages WHERE person_id = ?1 AND scope = 'person:' || ?1)))";
        let notices = format!(
            "SELECT t.id, t.text FROM messages m JOIN texts t ON t.message_id = m.id WHERE m.kind = 'sent' AND t.text <> ''
             AND EXISTS (SELECT 1 FROM addresses a WHERE a.id IN {whose} AND instr(t.text, a.peer) > 0)"
        );
        self.tx().maintenance().blank_texts(&notices, [person])?;
        let of_notice = format!(
            "kind = 'notice' AND EXISTS (SELECT 1 FROM addresses a WHERE a.id IN {whose} AND instr(outbox.text, a.peer) > 0)"
        );
        // A notice about the person that still waits is of no use to anybody.
        self.db.run(
            &format!("UPDATE outbox SET state = 'failed', trouble = 'forgotten', ended_at = ?2 WHERE state = 'pending' AND {of_notice}"),
            params![person, now],
        )?;
        for sql in [
            format!("DELETE FROM strangers WHERE (adapter, account, sender) IN (SELECT adapter, account, peer FROM addresses WHERE id IN {whose})"),
            format!("DELETE FROM deleted_ahead WHERE address_id IN {whose}"),
            format!("DELETE FROM previews WHERE address_id IN {whose}"),
            format!("UPDATE guests SET sender = 'forgotten:' || id WHERE sender IN (SELECT peer FROM addresses WHERE id IN {whose})"),
            format!("UPDATE parts SET external_id = '' WHERE outbox_id IN (SELECT id FROM outbox WHERE address_id IN {whose})"),
            format!(
                "UPDATE inbox SET raw = '' WHERE raw <> '' AND EXISTS (SELECT 1 FROM addresses a WHERE a.id IN {whose}
                     AND a.adapter = inbox.adapter AND a.account = inbox.account AND instr(inbox.raw, a.peer) > 0)"
            ),
            format!("UPDATE parts SET rich = '', plain = '' WHERE outbox_id IN (SELECT id FROM outbox WHERE {of_notice})"),
            format!("UPDATE outbox SET text = '' WHERE {of_notice}"),
            format!("UPDATE outbox SET quotes = '' WHERE address_id IN {whose} OR scope = 'person:' || ?1"),
            "UPDATE inbox SET external_id = 'forgotten:' || id WHERE id IN (SELECT inbox_id FROM messages WHERE person_id = ?1)".to_owned(),
            "UPDATE imports SET name = '', state = 'gone' WHERE scope = 'person:' || ?1".to_owned(),
            "UPDATE messages SET external_id = '', also = '', album = '' WHERE person_id = ?1 OR scope = 'person:' || ?1".to_owned(),
            "UPDATE attachments SET state = 'gone', reference = '', mime = '', trouble = '' WHERE scope = 'person:' || ?1".to_owned(),
            "DELETE FROM reactions WHERE person_id = ?1 OR message_id IN (SELECT id FROM messages WHERE scope = 'person:' || ?1)".to_owned(),
            "DELETE FROM pairing_codes WHERE issuer_id = ?1 OR person_id = ?1 OR lower(name) = (SELECT lower(name) FROM people WHERE id = ?1)".to_owned(),
            "DELETE FROM declared_addresses WHERE person_id = ?1".to_owned(),
            "DELETE FROM heartbeats WHERE person_id = ?1".to_owned(),
            "DELETE FROM heartbeat_ticks WHERE person_id = ?1".to_owned(),
            "UPDATE people SET namesake_id = NULL WHERE ?1 IN (id, namesake_id)".to_owned(),
            format!("UPDATE addresses SET peer = 'forgotten:' || id, alias = '', person_id = NULL WHERE id IN {whose}"),
        ] {
            self.db.run(&sql, [person])?;
        }
        self.tx().settings().drop_memory_switches(Scope::Person(person))?;
        self.tx().people().disallow(person, now)?;
        let sql = "UPDATE people SET name = 'forgotten ' || id, folder = '', prefer = '', zone = '', quiet_hours = '',
                language = '', channel_language = '', own_language = '', own_zone = '',
                declared = 'pairing',
                ended = 'forgotten' WHERE id = ?1";
        self.db.run(sql, [person])
    }

    /// Removes the names and contents of a person's erased files from the journal.
    pub fn erase_files_of(&self, person: PersonId, folder: &str, id: ErasureId) -> anyhow::Result<ErasureCounts> {
        let scope = Scope::Person(person);
        let these = "SELECT id FROM files WHERE scope = ?1 OR (?2 <> '' AND (path LIKE ?2 || '/%' OR path LIKE '//experience/' || ?2 || '/%'))";
        let versions = self
            .db
            .execute(&format!("DELETE FROM file_contents WHERE file_id IN ({these})"), params![scope, folder])?;
        self.db.run(
            &format!("UPDATE files SET path = 'forgotten/' || ?3, digest = '', replaces = NULL WHERE id IN ({these})"),
            params![scope, folder, id],
        )?;
        let attachments = "UPDATE attachments SET path = '', text_path = '', digest = '', size = NULL WHERE scope = ?1";
        self.db.run(attachments, [scope])?;
        Ok(ErasureCounts { versions, ..ErasureCounts::default() })
    }
}

/// Blank value of a column.
fn blank(place: &TextColumn) -> &'static str {
    match place.redaction {
        ColumnRedaction::List => "'[]'",
        ColumnRedaction::Whole("{}") => "'{}'",
        ColumnRedaction::Whole("[]") => "'[]'",
        ColumnRedaction::Keep(_) if place.column == "findings" => "'[]'",
        ColumnRedaction::Keep(_) if place.column == "bytes" => "x''",
        _ => "''",
    }
}

fn has_content(place: &TextColumn) -> String {
    let TextColumn { column, .. } = place;
    match place.redaction {
        ColumnRedaction::Version => "1".to_owned(),
        ColumnRedaction::Row => format!("{column} <> ''"),
        ColumnRedaction::Step if *column == "call" => "call NOT IN ('', '[]')".to_owned(),
        _ => format!("{column} <> '' AND {column} <> {}", blank(place)),
    }
}
