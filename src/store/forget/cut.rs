//! Erases the words of one note or fact from every copy.
//!
//! First all rows of the scope are searched without blocking the writer ([`Erasure::held`]). Then
//! the matches are redacted in batches, each row read again first. In text known to derive from the
//! source conversation, paraphrases are erased too. The caller first ends running turns that still
//! need affected steps.

use crate::store::handles::{Erasure, ErasureMut};
use std::collections::BTreeSet;

use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension, params};

use super::text_columns::{CountAs, PLACES, Redaction, RetainedMatch, TextColumn};
use super::{Counts, ForgettingRow};
use crate::id::{ConversationId, ForgettingId, MessageId};
use crate::store::Node;
use crate::store::redact::{FORGOT, UNCUT};
use crate::time::Timestamp;
use crate::trust::{Label, Scope};

/// A row that contains erased words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchingRow {
    place: usize,
    row: i64,
}

/// Matches that remain because the request does not cover them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErasureRemainder {
    /// Messages.
    pub messages: BTreeSet<MessageId>,
    /// Reminders and tasks.
    pub reminders: usize,
    /// Skill proposals.
    pub proposals: usize,
    /// Other matches, added during the erasure.
    pub other: usize,
    /// Files that only a person may change, by their owner's paths.
    pub files: Vec<String>,
    /// Files that may match but could not be read.
    pub unread: Vec<String>,
    /// Possible paraphrases. Their meaning is uncertain, so the erasure does not wait for them.
    pub also: Paraphrases,
}

impl ErasureRemainder {
    /// Returns true if every file could be read and none contains a paraphrase.
    pub fn is_verified(&self) -> bool {
        self.unread.is_empty() && self.also.files.is_empty()
    }

    /// Returns true if no matches remain, apart from paraphrases.
    pub fn is_nothing(&self) -> bool {
        *self == Self { also: self.also.clone(), ..Self::default() }
    }
}

/// Paraphrases that were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Paraphrases {
    /// Messages.
    pub messages: usize,
    /// Passages in summaries and reflections.
    pub summaries: usize,
    /// Files, by their owner's paths.
    pub files: Vec<String>,
}

impl Paraphrases {
    /// Returns true if there are none.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// Search target with its source conversations.
struct ErasureTarget<'a> {
    row: &'a ForgettingRow,
    told_in: BTreeSet<ConversationId>,
}

impl ErasureTarget<'_> {
    fn is_in(&self, place: &TextColumn, conversation: Option<ConversationId>, text: &str) -> bool {
        match () {
            () if self.is_about(place, conversation) => self.row.needles.is_near(text),
            () if place.is_of_files() => self.row.matches_line(text),
            () => self.row.needles.are_in(text),
        }
    }

    /// Returns true if a row summarises a source conversation.
    fn is_about(&self, place: &TextColumn, conversation: Option<ConversationId>) -> bool {
        let Some(conversation) = conversation.filter(|_| place.counts == CountAs::Summary) else { return false };
        match place.table {
            "conversations" => self.told_in.iter().any(|told| *told < conversation),
            _ => self.told_in.contains(&conversation),
        }
    }
}

impl Erasure<'_> {
    /// Returns the known source messages of an erasure.
    pub fn source_messages(&self, id: ForgettingId) -> anyhow::Result<Vec<MessageId>> {
        let parents = self.db.derivations().parents(Node::Forgetting(id))?;
        Ok(parents.into_iter().filter_map(|node| if let Node::Message(id) = node { Some(id) } else { None }).collect())
    }

    /// Returns all matching rows. Reads everything in the scope.
    pub fn held(&self, row: &ForgettingRow) -> anyhow::Result<Vec<MatchingRow>> {
        let wanted = self.target_of(row)?;
        let mut held = Vec::new();
        for (index, place) in PLACES.iter().enumerate() {
            let TextColumn { table, column, rows, conversation, .. } = place;
            let sql = format!("SELECT rowid, {column}, {conversation} FROM {table} WHERE ({rows}) AND {column} <> ''");
            let mut query = self.db.prepare(&sql)?;
            let mut rows = query.query([row.scope])?;
            while let Some(found) = rows.next()? {
                if wanted.is_in(place, found.get(2)?, &words(found.get_ref(1)?)) {
                    held.push(MatchingRow { place: index, row: found.get(0)? });
                }
            }
        }
        Ok(held)
    }

    /// Returns the remaining matches.
    pub fn left(&self, row: &ForgettingRow) -> anyhow::Result<ErasureRemainder> {
        let mut left = ErasureRemainder::default();
        for held in self.held(row)? {
            match self.stays(held)? {
                Some((RetainedMatch::Message, _)) if row.belongs_to_person_erasure() => {}
                Some((RetainedMatch::Message, Some(message))) => drop(left.messages.insert(message)),
                Some((RetainedMatch::Message, None)) => left.other = left.other.saturating_add(1),
                Some((RetainedMatch::Reminder, _)) => left.reminders = left.reminders.saturating_add(1),
                Some((RetainedMatch::Proposal, _)) => left.proposals = left.proposals.saturating_add(1),
                None => left.other = left.other.saturating_add(1),
            }
        }
        for message in self.source_messages(row.id)? {
            if self.has_words(message)? {
                left.messages.insert(message);
            }
        }
        Ok(left)
    }

    fn target_of<'r>(&self, row: &'r ForgettingRow) -> anyhow::Result<ErasureTarget<'r>> {
        let mut told_in = BTreeSet::new();
        for message in self.source_messages(row.id)? {
            told_in.extend(self.db.messages().message(message)?.and_then(|message| message.conversation));
        }
        Ok(ErasureTarget { row, told_in })
    }

    /// Returns why a match stays unless the request covers it, and its message; `None` if it is
    /// redacted.
    fn stays(&self, held: MatchingRow) -> anyhow::Result<Option<(RetainedMatch, Option<MessageId>)>> {
        let Some(place) = PLACES.get(held.place) else { return Ok(None) };
        let sql = match (place.way, place.table) {
            (Redaction::Told(RetainedMatch::Message), table) => {
                format!("SELECT message_id FROM {table} WHERE rowid = ?1")
            }
            (Redaction::Told(stays), _) => return Ok(Some((stays, None))),
            (Redaction::Text, _) => "SELECT m.id FROM texts t JOIN messages m ON m.id = t.message_id
                 WHERE t.id = ?1 AND m.kind IN ('said', 'reply')"
                .to_owned(),
            // The last step of a turn repeats its reply.
            (Redaction::Step, _) => {
                "SELECT m.id FROM steps s JOIN messages m ON m.turn_id = s.turn_id AND m.kind = 'reply'
                 WHERE s.id = ?1 AND s.kind = 'model' AND s.call = '[]' ORDER BY m.id DESC LIMIT 1"
                    .to_owned()
            }
            _ => return Ok(None),
        };
        let message = self.db.prepare_cached(&sql)?.query_row([held.row], |row| row.get(0)).optional()?;
        Ok(message.map(|message| (RetainedMatch::Message, Some(message))))
    }
}

impl ErasureMut<'_> {
    /// Redacts those rows, except matches that the request does not cover.
    pub fn cut_out(&self, row: &ForgettingRow, held: &[MatchingRow]) -> anyhow::Result<Counts> {
        let wanted = self.target_of(row)?;
        let mut counts = Counts::default();
        for one in held {
            let Some(place) = PLACES.get(one.place) else { continue };
            if self.stays(*one)?.is_none() && self.cut_out_of(&wanted, place, one.row)? {
                counts = counts.and(counted(place.counts));
            }
        }
        self.tx().settings().set_fact(FORGOT, "1")?;
        self.tx().settings().set_fact(UNCUT, &format!("forgetting {} {}", row.id, held.len()))?;
        Ok(counts)
    }

    fn cut_out_of(&self, wanted: &ErasureTarget<'_>, place: &TextColumn, row: i64) -> anyhow::Result<bool> {
        let TextColumn { table, column, conversation, .. } = place;
        let sql = format!("SELECT {column}, {conversation} FROM {table} WHERE rowid = ?1");
        let mut query = self.db.prepare_cached(&sql)?;
        let found = query.query_row([row], |found| Ok((words(found.get_ref(0)?), found.get(1)?))).optional()?;
        let Some((text, conversation)) = found else { return Ok(false) };
        if text.is_empty() || !wanted.is_in(place, conversation, &text) {
            return Ok(false);
        }
        let holds = |text: &str| wanted.is_in(place, conversation, text);
        match place.way {
            Redaction::Lines => self.put_words(place, row, &cut_lines(&text, holds))?,
            Redaction::List => self.put_words(place, row, &cut_list(&text, holds))?,
            Redaction::Whole(instead) => self.put_words(place, row, instead)?,
            Redaction::Row if *table == "entries" => self.drop_entry_traces(row)?,
            Redaction::Row => self.drop_row(table, row)?,
            Redaction::Text => self.cut_text(row, &cut_lines(&text, holds))?,
            Redaction::Step => self.blank_step(row)?,
            Redaction::Told(_) => return Ok(false),
        }
        if let Some(conversation) = conversation {
            let sql = "UPDATE conversations SET revision = revision + 1 WHERE id = ?1";
            self.db.prepare_cached(sql)?.execute([conversation])?;
        }
        self.after(place, row)?;
        Ok(true)
    }

    fn drop_row(&self, table: &str, row: i64) -> anyhow::Result<()> {
        self.db.prepare_cached(&format!("DELETE FROM {table} WHERE rowid = ?1"))?.execute([row])?;
        Ok(())
    }

    fn blank_step(&self, row: i64) -> anyhow::Result<()> {
        self.tx().maintenance().blank_steps("SELECT id, text FROM steps WHERE id = ?1", [row])?;
        Ok(())
    }

    fn put_words(&self, place: &TextColumn, row: i64, text: &str) -> anyhow::Result<()> {
        let sql = format!("UPDATE {} SET {} = ?2 WHERE rowid = ?1", place.table, place.column);
        self.db.prepare_cached(&sql)?.execute(params![row, text])?;
        Ok(())
    }

    /// Removes lines from a system message or reflection, whose other lines stay and remain
    /// searchable.
    fn cut_text(&self, id: i64, left: &str) -> anyhow::Result<()> {
        let sql = "SELECT m.kind, t.label FROM texts t JOIN messages m ON m.id = t.message_id WHERE t.id = ?1";
        let mut query = self.db.prepare_cached(sql)?;
        let (kind, label): (String, Label) = query.query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        self.tx().maintenance().blank_texts("SELECT id, text FROM texts WHERE id = ?1", [id])?;
        if kind == "command" || left.trim().is_empty() {
            return Ok(());
        }
        self.db.prepare_cached("UPDATE texts SET text = ?2 WHERE id = ?1")?.execute(params![id, left])?;
        self.tx().fingerprints().fingerprint_text(id, left, &label)?;
        if kind == "reflection" { self.tx().message_search().index_text(id) } else { Ok(()) }
    }

    /// Ends pending work that cannot continue without the erased words.
    fn after(&self, place: &TextColumn, row: i64) -> anyhow::Result<()> {
        let sql = match (place.table, place.column) {
            ("questions", "call") => "UPDATE questions SET state = 'refused' WHERE id = ?1 AND state = 'open'",
            ("actions", "payload") => {
                "UPDATE actions SET state = 'refused' WHERE id = ?1 AND state IN ('new', 'taken')"
            }
            ("outbox", "text") => {
                "UPDATE outbox SET state = 'failed', trouble = 'forgotten' WHERE id = ?1 AND text = '' AND state = 'pending'"
            }
            ("summaries", "title") => {
                "UPDATE summaries SET title = '' WHERE id = ?1 AND state NOT IN ('made', 'standin')"
            }
            _ => return Ok(()),
        };
        self.db.prepare_cached(sql)?.execute([row])?;
        Ok(())
    }

    /// Deletes matching or source messages, as if their senders had deleted them. A message that
    /// only quotes the words loses just the quote.
    pub fn messages_forgotten(
        &self,
        row: &ForgettingRow,
        messages: &[MessageId],
        now: Timestamp,
    ) -> anyhow::Result<(Counts, Vec<super::super::AfterRedaction>)> {
        let (mut counts, mut partings) = (Counts::default(), Vec::new());
        let grew_from = self.source_messages(row.id)?;
        for id in messages {
            let quotes =
                "SELECT id, text FROM texts WHERE message_id = ?1 AND kind IN ('quote', 'carried') AND text <> ''";
            let own = self.db.messages().texts_of(*id)?;
            let only_quoted = !grew_from.contains(id)
                && own.iter().any(|text| row.needles.are_in(text.text.open().0))
                && own.iter().all(|text| {
                    matches!(text.kind, crate::store::TextKind::Quote | crate::store::TextKind::Carried)
                        || !row.needles.are_in(text.text.open().0)
                });
            if only_quoted {
                self.tx().maintenance().blank_texts(quotes, [id])?;
            } else {
                partings.extend(self.tx().redaction().redact_message(*id, now)?);
            }
            counts.messages = counts.messages.saturating_add(1);
        }
        Ok((counts, partings))
    }

    /// Removes the name and the content of an erased file from the journal.
    pub fn file_forgotten(&self, path: &str, id: ForgettingId) -> anyhow::Result<Counts> {
        let mut count = self.db.prepare_cached("SELECT count(*) FROM entries WHERE path = ?1")?;
        let entries: i64 = count.query_row([path], |row| row.get(0))?;
        self.drop_entries_at(path)?;
        let contents = "DELETE FROM file_contents WHERE file_id IN (SELECT id FROM files WHERE path = ?1)";
        let versions = self.db.prepare_cached(contents)?.execute([path])?;
        self.db
            .prepare_cached("UPDATE files SET path = 'forgotten/' || ?2, digest = '', replaces = NULL WHERE path = ?1")?
            .execute(params![path, id])?;
        Ok(Counts { versions, entries: usize::try_from(entries)?, ..Counts::default() })
    }

    /// Drops a file from the index; its remaining text is indexed again.
    pub fn drop_entries_at(&self, path: &str) -> anyhow::Result<()> {
        self.drop_entries("path = ?1", path)
    }

    /// Drops everything of a scope from the index; the remaining text is indexed again.
    pub fn drop_entries_of(&self, scope: Scope) -> anyhow::Result<()> {
        self.drop_entries("scope IN (?1)", &scope.encode())
    }

    /// Drops the whole index, to be rebuilt.
    pub fn drop_all_entries(&self) -> anyhow::Result<()> {
        self.drop_entries("?1 = ?1", "")
    }

    fn drop_entries(&self, which: &str, of: &str) -> anyhow::Result<()> {
        let sql = format!("SELECT DISTINCT digest FROM entries WHERE {which}");
        let digests: Vec<String> =
            self.db.prepare_cached(&sql)?.query_map([of], |row| row.get(0))?.collect::<Result<_, _>>()?;
        for sql in [
            format!("DELETE FROM entries_fts WHERE rowid IN (SELECT id FROM entries WHERE {which})"),
            format!("DELETE FROM entries WHERE {which}"),
            // Journal items are indexed only if marked.
            format!(
                "INSERT OR REPLACE INTO unindexed (path, scope) SELECT path, scope FROM indexed
                     WHERE ({which}) AND (path LIKE 'conversations/%' OR path LIKE 'reflections/%')"
            ),
            format!("DELETE FROM indexed WHERE ({which}) AND path NOT IN (SELECT path FROM entries)"),
        ] {
            self.db.prepare_cached(&sql)?.execute([of])?;
        }
        digests.iter().try_for_each(|digest| self.tx().embeddings().drop_embedding(digest))
    }

    /// Drops an entry's use count, and its file from the index for a rescan.
    fn drop_entry_traces(&self, row: i64) -> anyhow::Result<()> {
        let mut query = self.db.prepare_cached("SELECT path, key FROM entries WHERE id = ?1")?;
        let (path, key): (String, String) = query.query_row([row], |row| Ok((row.get(0)?, row.get(1)?)))?;
        self.db.prepare_cached("DELETE FROM entry_uses WHERE key = ?1")?.execute([key])?;
        self.drop_entries_at(&path)
    }
}

fn counted(kind: CountAs) -> Counts {
    let mut counts = Counts::default();
    match kind {
        CountAs::Entry => counts.entries = 1,
        CountAs::Version => counts.versions = 1,
        CountAs::Summary => counts.summaries = 1,
        CountAs::Copy => counts.copies = 1,
    }
    counts
}

/// Returns a column value as text, for any type.
pub(super) fn words(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        _ => String::new(),
    }
}

fn cut_lines(text: &str, holds: impl Fn(&str) -> bool) -> String {
    text.split_inclusive('\n').filter(|line| !holds(line)).collect()
}

/// Returns a JSON list without matching elements; an empty list if it is not a list.
fn cut_list(text: &str, holds: impl Fn(&str) -> bool) -> String {
    let Ok(serde_json::Value::Array(mut list)) = serde_json::from_str(text) else { return "[]".to_owned() };
    list.retain(|entry| !holds(&entry.to_string()) && !entry.as_str().is_some_and(&holds));
    serde_json::Value::Array(list).to_string()
}
