//! Searches every copy for the words of one note or fact, and redacts the matches.
//!
//! First all rows of the scope are searched without blocking the writer
//! ([`Erasure::matching_rows`]). Then the matches are redacted in batches, each row read again
//! first. In text known to derive from the source conversation, paraphrases are erased too.
//! Elsewhere they are only counted: a sentence with all the same words may mean something else. To
//! erase it as well, the person names its words. The caller first ends running turns that still
//! need affected steps.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension, Row, params};
use sha2::Digest as _;

use super::text_columns::{ColumnRedaction, CountAs, KeptMatch, TEXT_COLUMNS, TextColumn};
use super::{AfterRedaction, ErasureCounts, ErasureItem, ErasureKind, ErasureRow, FORGOT, UNCUT};
use crate::id::{ConversationId, ErasureId, MessageId, ReminderId, TurnId};
use crate::store::derivations::Fingerprinted;
use crate::store::handles::{Erasure, ErasureMut};
use crate::store::{MessageKind, Node, StoredText, TextKind};
use crate::text::erasure_query::{ParaphraseMatcher, PartMatcher};
use crate::time::Timestamp;
use crate::trust::Label;

/// A row that contains erased words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchingRow {
    /// Index in [`TEXT_COLUMNS`].
    column: usize,
    row: i64,
}

/// Matches in the journal, by the items that a person can choose from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JournalMatches {
    /// Messages, each with its time and a line that shows what it is about.
    pub messages: BTreeMap<MessageId, MatchingText>,
    /// Texts of reflections, with their times.
    pub reflections: BTreeMap<MessageId, Timestamp>,
    /// Conversations whose summaries match, with the times at which they began.
    pub summaries: BTreeMap<ConversationId, Timestamp>,
    /// Reminders and tasks.
    pub reminders: BTreeSet<ReminderId>,
    /// Number of matches in skill proposals.
    pub proposals: usize,
    /// Number of copies in contexts, calls and deliveries, which go in any case.
    pub copies: usize,
    /// Turns that read it by a tool.
    pub readers: BTreeSet<TurnId>,
    /// Number of all rows to redact.
    rows: usize,
}

/// A message with matching text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchingText {
    /// Time of the message.
    pub at: Timestamp,
    /// True if the assistant wrote it.
    pub is_reply: bool,
    /// The matching line; blank if it says the same in other words. The text of the plan, which is
    /// stored too, can only be deleted by the words.
    pub line: String,
    /// Label of the text.
    pub label: Label,
}

/// Matches that remain because the request does not cover them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemainingMatches {
    /// Messages.
    pub messages: BTreeSet<MessageId>,
    /// Reminders and tasks.
    pub reminders: usize,
    /// Skill proposals.
    pub proposals: usize,
    /// Other matches, added during the erasure.
    pub other: usize,
    /// Files outside the memory whose newest version a person wrote, by their owner's paths.
    pub files: Vec<String>,
    /// Files outside the memory whose newest version the assistant wrote.
    pub assistant_files: Vec<String>,
    /// Files that a person was sent or sent.
    pub received_files: Vec<String>,
    /// Files that may match but could not be read.
    pub unreadable_files: Vec<String>,
    /// True if something holds the data that the person left out.
    pub is_spared: bool,
    /// Possible paraphrases. Their meaning is uncertain, so the erasure does not wait for them.
    pub paraphrases: Paraphrases,
}

impl RemainingMatches {
    /// Returns true if every file could be read and none contains a paraphrase.
    pub fn is_verified(&self) -> bool {
        self.unreadable_files.is_empty() && self.paraphrases.files.is_empty()
    }

    /// Returns true if no matches remain, apart from paraphrases and what was left out.
    pub fn is_empty(&self) -> bool {
        *self == Self { paraphrases: self.paraphrases.clone(), is_spared: self.is_spared, ..Self::default() }
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

/// Place of a row in the data of its person.
struct RowPlace {
    conversation: Option<ConversationId>,
    /// Key of its item, or path of its file.
    item: Option<String>,
}

/// An erasure with the conversations of its source messages.
struct SearchTarget<'a> {
    row: &'a ErasureRow,
    source_conversations: BTreeSet<ConversationId>,
    /// Empty for words: a line without them does not say them.
    parts: PartMatcher,
}

impl SearchTarget<'_> {
    fn is_in(&self, column: &TextColumn, place: &RowPlace, text: &str) -> bool {
        if column.is_of_files() {
            return self.row.matches_line(place.item.as_deref().unwrap_or_default(), text);
        }
        if let Some(item) = &place.item {
            if self.row.choice.spares(item) {
                return false;
            }
            if self.row.choice.adds(item) {
                return true;
            }
        }
        if self.is_summary_of_source(column, place.conversation) {
            self.row.query.is_near(text)
        } else {
            self.row.query.matches(text) || self.parts.matches(text)
        }
    }

    fn is_summary_of_source(&self, column: &TextColumn, conversation: Option<ConversationId>) -> bool {
        let Some(conversation) = conversation.filter(|_| column.counts == CountAs::Summary) else { return false };
        match column.table {
            // An opening summarises earlier conversations.
            "conversations" => self.source_conversations.iter().any(|source| *source < conversation),
            _ => self.source_conversations.contains(&conversation),
        }
    }
}

impl Erasure<'_> {
    /// Returns the known source messages of an erasure.
    pub fn source_messages(&self, id: ErasureId) -> anyhow::Result<Vec<MessageId>> {
        let parents = self.db.derivations().parents(Node::Erasure(id))?;
        Ok(parents.into_iter().filter_map(|node| if let Node::Message(id) = node { Some(id) } else { None }).collect())
    }

    /// Returns all matching rows. Reads everything in the scope.
    pub fn matching_rows(&self, row: &ErasureRow) -> anyhow::Result<Vec<MatchingRow>> {
        self.rows_matching(&self.target_of(row, &self.source_messages(row.id)?)?)
    }

    fn rows_matching(&self, target: &SearchTarget<'_>) -> anyhow::Result<Vec<MatchingRow>> {
        let mut found = Vec::new();
        for (index, place) in TEXT_COLUMNS.iter().enumerate() {
            let TextColumn { table, column, rows, conversation, item, .. } = place;
            let sql = format!(
                "SELECT rowid, {column}, {conversation}, {item} FROM {table} WHERE ({rows}) AND {column} <> ''"
            );
            self.db.each(&sql, [target.row.scope], |values| {
                let of = RowPlace { conversation: values.get(2)?, item: values.get(3)? };
                if target.is_in(place, &of, &value_text(values.get_ref(1)?)) {
                    found.push(MatchingRow { column: index, row: values.get(0)? });
                }
                Ok(())
            })?;
        }
        Ok(found)
    }

    /// Returns the matches of an erasure in the journal, given its source messages.
    pub fn journal_matches(&self, row: &ErasureRow, sources: &[MessageId]) -> anyhow::Result<JournalMatches> {
        let mut matches = JournalMatches::default();
        for found in self.rows_matching(&self.target_of(row, sources)?)? {
            let Some(column) = TEXT_COLUMNS.get(found.column) else { continue };
            if let Some(kept) = self.kept_match(found)? {
                match kept {
                    (KeptMatch::Message, _) if row.belongs_to_person_erasure() => {}
                    (KeptMatch::Message, Some(message)) => self.add_message(row, message, &mut matches)?,
                    (KeptMatch::Reminder, _) => drop(matches.reminders.insert(ReminderId(found.row))),
                    (KeptMatch::Proposal, _) => matches.proposals = matches.proposals.saturating_add(1),
                    (KeptMatch::Message, None) => matches.rows = matches.rows.saturating_add(1),
                }
                continue;
            }
            // The index follows the files and the conversations.
            if column.table == "entries" && row.choice.is_narrow() {
                continue;
            }
            matches.rows = matches.rows.saturating_add(1);
            self.add_redacted(column, found.row, &mut matches)?;
        }
        for message in sources {
            if self.db.exists("SELECT 1 FROM texts WHERE message_id = ?1 AND text <> ''", [message])? {
                self.add_message(row, *message, &mut matches)?;
            }
        }
        Ok(matches)
    }

    /// Adds a message, unless it was left out.
    fn add_message(&self, row: &ErasureRow, id: MessageId, matches: &mut JournalMatches) -> anyhow::Result<()> {
        if row.choice.spares(&ErasureItem::Message(id).key()) || matches.messages.contains_key(&id) {
            return Ok(());
        }
        let Some(message) = self.db.messages().message(id)? else { return Ok(()) };
        let texts = self.db.messages().texts_of(id)?;
        let is_match = |text: &&StoredText| row.query.matches(text.text.open().0);
        let text = texts.iter().find(is_match).or_else(|| texts.iter().find(|text| !text.text.open().0.is_empty()));
        let Some((words, label, _)) = text.map(|text| text.text.open()) else { return Ok(()) };
        let line = words.lines().find(|line| row.query.is_on_line(line));
        let matching = MatchingText {
            at: message.effective_at,
            is_reply: message.kind == MessageKind::Reply,
            line: line.unwrap_or_default().to_owned(),
            label: label.clone(),
        };
        matches.messages.insert(id, matching);
        Ok(())
    }

    /// Adds a row that is redacted to the items, or to the copies.
    fn add_redacted(&self, column: &TextColumn, row: i64, matches: &mut JournalMatches) -> anyhow::Result<()> {
        match column.table {
            "file_contents" | "entries" => {}
            "steps" => {
                matches.copies = matches.copies.saturating_add(1);
                matches.readers.extend(
                    self.db.first::<_, TurnId>("SELECT turn_id FROM steps WHERE id = ?1 AND kind = 'tool'", [row])?,
                );
            }
            "summaries" => {
                let sql = "SELECT c.id, c.opened_at FROM summaries s JOIN conversations c ON c.id = s.conversation_id
                     WHERE s.id = ?1";
                matches.summaries.extend(self.db.first::<_, (ConversationId, Timestamp)>(sql, [row])?);
            }
            "texts" => {
                let sql = "SELECT m.id, m.effective_at FROM texts t JOIN messages m ON m.id = t.message_id
                     WHERE t.id = ?1 AND m.kind = 'reflection'";
                match self.db.first::<_, (MessageId, Timestamp)>(sql, [row])? {
                    Some((id, at)) => drop(matches.reflections.insert(id, at)),
                    None => matches.copies = matches.copies.saturating_add(1),
                }
            }
            _ => matches.copies = matches.copies.saturating_add(1),
        }
        Ok(())
    }

    /// Returns the matches that remain in the journal.
    pub fn remaining_matches(&self, row: &ErasureRow) -> anyhow::Result<RemainingMatches> {
        let found = self.journal_matches(row, &self.source_messages(row.id)?)?;
        Ok(RemainingMatches {
            messages: found.messages.into_keys().collect(),
            reminders: found.reminders.len(),
            proposals: found.proposals,
            other: found.rows,
            ..RemainingMatches::default()
        })
    }

    /// Returns the paraphrases in the journal, without those in remaining messages.
    pub fn paraphrases(&self, row: &ErasureRow, remaining: &RemainingMatches) -> anyhow::Result<Paraphrases> {
        if !row.has_paraphrases() {
            return Ok(Paraphrases::default());
        }
        let matcher = row.query.paraphrases();
        let (mut messages, mut summaries) = (BTreeSet::new(), BTreeSet::new());
        let sql = "SELECT m.id, m.kind = 'reflection', t.text FROM texts t JOIN messages m ON m.id = t.message_id
             WHERE t.scope = ?1 AND t.text <> '' AND m.kind IN ('said', 'reply', 'reflection', 'sent', 'imported')";
        self.db.each(sql, [row.scope], |found| {
            let (id, is_reflection): (MessageId, bool) = (found.get(0)?, found.get(1)?);
            let is_named = remaining.messages.contains(&id) || row.choice.spares(&ErasureItem::Message(id).key());
            if !is_named && matcher.matches(&value_text(found.get_ref(2)?)) {
                let places = if is_reflection { &mut summaries } else { &mut messages };
                places.insert(id);
            }
            Ok(())
        })?;
        Ok(Paraphrases {
            messages: messages.len(),
            summaries: summaries.len().saturating_add(self.paraphrases_in_summaries(row, &matcher)?),
            files: Vec::new(),
        })
    }

    fn paraphrases_in_summaries(&self, row: &ErasureRow, matcher: &ParaphraseMatcher) -> anyhow::Result<usize> {
        let mut count = 0_usize;
        let is_shown = |place: &&TextColumn| {
            place.counts == CountAs::Summary && ["summaries", "compactions"].contains(&place.table)
        };
        for TextColumn { table, column, rows, item, .. } in TEXT_COLUMNS.iter().filter(is_shown) {
            let sql =
                format!("SELECT {column}, {item} FROM {table} WHERE ({rows}) AND {column} <> '' AND state <> 'void'");
            self.db.each(&sql, [row.scope], |found| {
                let is_spared = found.get::<_, Option<String>>(1)?.is_some_and(|item| row.choice.spares(&item));
                let is_match = !is_spared && matcher.matches(&value_text(found.get_ref(0)?));
                count = count.saturating_add(usize::from(is_match));
                Ok(())
            })?;
        }
        Ok(count)
    }

    fn target_of<'r>(&self, row: &'r ErasureRow, sources: &[MessageId]) -> anyhow::Result<SearchTarget<'r>> {
        let mut source_conversations = BTreeSet::new();
        for message in sources {
            source_conversations.extend(self.db.messages().message(*message)?.and_then(|message| message.conversation));
        }
        let parts = if row.kind == ErasureKind::Words { PartMatcher::default() } else { row.query.parts() };
        Ok(SearchTarget { row, source_conversations, parts })
    }

    /// Returns why a match stays unless the request covers it, and its message; `None` if it is
    /// redacted.
    fn kept_match(&self, found: MatchingRow) -> anyhow::Result<Option<(KeptMatch, Option<MessageId>)>> {
        let Some(column) = TEXT_COLUMNS.get(found.column) else { return Ok(None) };
        let of_attachment;
        let sql = match column.redaction {
            ColumnRedaction::Keep(KeptMatch::Message) => {
                of_attachment = format!("SELECT message_id FROM {} WHERE rowid = ?1", column.table);
                of_attachment.as_str()
            }
            ColumnRedaction::Keep(kept) => return Ok(Some((kept, None))),
            ColumnRedaction::Text => {
                "SELECT m.id FROM texts t JOIN messages m ON m.id = t.message_id
                 WHERE t.id = ?1 AND m.kind IN ('said', 'reply', 'imported')"
            }
            // The last step of a turn repeats its reply.
            ColumnRedaction::Step => {
                "SELECT m.id FROM steps s JOIN messages m ON m.turn_id = s.turn_id AND m.kind = 'reply'
                 WHERE s.id = ?1 AND s.kind = 'model' AND s.call = '[]' ORDER BY m.id DESC LIMIT 1"
            }
            _ => return Ok(None),
        };
        let message: Option<MessageId> = self.db.first(sql, [found.row])?;
        Ok(message.map(|message| (KeptMatch::Message, Some(message))))
    }
}

impl ErasureMut<'_> {
    /// Redacts those rows, except matches that the request does not cover.
    pub fn redact_matches(&self, row: &ErasureRow, matches: &[MatchingRow]) -> anyhow::Result<ErasureCounts> {
        let target = self.target_of(row, &self.source_messages(row.id)?)?;
        let mut counts = ErasureCounts::default();
        for found in matches {
            let Some(column) = TEXT_COLUMNS.get(found.column) else { continue };
            let is_covered = match self.kept_match(*found)? {
                None => true,
                Some((KeptMatch::Reminder, _)) => row.covers_reminder(ReminderId(found.row)),
                Some(_) => false,
            };
            if is_covered && self.redact_row(&target, column, found.row)? {
                let count = match column.counts {
                    CountAs::Entry => &mut counts.entries,
                    CountAs::Version => &mut counts.versions,
                    CountAs::Summary => &mut counts.summaries,
                    CountAs::Reminder => &mut counts.reminders,
                    CountAs::Copy => &mut counts.copies,
                };
                *count = count.saturating_add(1);
            }
        }
        self.tx().settings().set_fact(FORGOT, "1")?;
        self.tx().settings().set_fact(UNCUT, &format!("forgetting {} {}", row.id, matches.len()))?;
        Ok(counts)
    }

    /// Returns false if the row no longer matches.
    fn redact_row(&self, target: &SearchTarget<'_>, place: &TextColumn, row: i64) -> anyhow::Result<bool> {
        let TextColumn { table, column, conversation, item, .. } = place;
        let sql = format!("SELECT {column}, {conversation}, {item} FROM {table} WHERE rowid = ?1");
        let mut query = self.db.prepare_cached(&sql)?;
        let read = |found: &Row<'_>| {
            let of = RowPlace { conversation: found.get(1)?, item: found.get(2)? };
            Ok((value_text(found.get_ref(0)?), of))
        };
        let Some((text, of)) = query.query_row([row], read).optional()? else { return Ok(false) };
        let is_match = |text: &str| target.is_in(place, &of, text);
        if text.is_empty() || !is_match(&text) {
            return Ok(false);
        }
        let set = |text: &str| -> anyhow::Result<()> {
            let sql = format!("UPDATE {table} SET {column} = ?2 WHERE rowid = ?1");
            self.db.run(&sql, params![row, text])
        };
        match place.redaction {
            ColumnRedaction::Lines => set(&without_lines(&text, is_match))?,
            ColumnRedaction::List => set(&without_elements(&text, is_match))?,
            ColumnRedaction::Whole(replacement) => set(replacement)?,
            ColumnRedaction::Row if *table == "entries" => self.drop_entry(row)?,
            ColumnRedaction::Row => {
                self.db.run(&format!("DELETE FROM {table} WHERE rowid = ?1"), [row])?;
            }
            ColumnRedaction::Version => {
                self.redact_version(target.row, row, of.item.as_deref().unwrap_or_default(), &text)?;
            }
            ColumnRedaction::Text => self.redact_text(row, &without_lines(&text, is_match))?,
            ColumnRedaction::Step => {
                self.tx().maintenance().blank_steps("SELECT id, text FROM steps WHERE id = ?1", [row])?;
            }
            ColumnRedaction::Keep(KeptMatch::Reminder) => self.db.run(
                "UPDATE reminders SET text = '', next_at = NULL,
                     state = CASE state WHEN 'waiting' THEN 'cancelled' ELSE state END WHERE id = ?1",
                [row],
            )?,
            ColumnRedaction::Keep(_) => return Ok(false),
        }
        if let Some(conversation) = of.conversation {
            let sql = "UPDATE conversations SET revision = revision + 1 WHERE id = ?1";
            self.db.run(sql, [conversation])?;
        }
        self.end_dependent_work(place, row)?;
        Ok(true)
    }

    /// Removes lines from the content of a file version.
    fn redact_version(&self, erasure: &ErasureRow, file: i64, path: &str, text: &str) -> anyhow::Result<()> {
        let is_pending = self.db.exists("SELECT 1 FROM files WHERE id = ?1 AND replaces IS NOT NULL", [file])?;
        let rest = erasure.without_matching_lines(path, text).filter(|rest| !is_pending && !rest.trim().is_empty());
        match rest {
            Some(rest) => {
                let sql = "UPDATE file_contents SET content = ?2 WHERE file_id = ?1";
                self.db.run(sql, params![file, rest.as_bytes()])?;
                // The old digest would still tell of the text, but by it the label of the newest
                // version, and of a text from outside, is found.
                let sql = format!(
                    "UPDATE files SET digest = ?2 WHERE id = ?1 AND {}
                         AND id < (SELECT max(f.id) FROM files f WHERE f.path = files.path)",
                    Label::is_trusted_sql("label")
                );
                self.db.run(&sql, params![file, hex::encode(sha2::Sha256::digest(rest.as_bytes()))])
            }
            None => self.db.run("DELETE FROM file_contents WHERE file_id = ?1", [file]),
        }
    }

    /// Removes lines from a system message, reflection or notice, whose other lines stay and remain
    /// searchable.
    fn redact_text(&self, id: i64, rest: &str) -> anyhow::Result<()> {
        let sql = "SELECT m.kind, t.label FROM texts t JOIN messages m ON m.id = t.message_id WHERE t.id = ?1";
        let (kind, label): (String, Label) = self.db.one(sql, [id])?;
        self.tx().maintenance().blank_texts("SELECT id, text FROM texts WHERE id = ?1", [id])?;
        if kind == "command" || rest.trim().is_empty() {
            return Ok(());
        }
        self.db.run("UPDATE texts SET text = ?2 WHERE id = ?1", params![id, rest])?;
        self.tx().fingerprints().add_fingerprints(Fingerprinted::Text(id), rest, &label)?;
        if matches!(&*kind, "reflection" | "sent") { self.tx().message_search().index_text(id) } else { Ok(()) }
    }

    /// Ends pending work that cannot continue without the erased words.
    fn end_dependent_work(&self, column: &TextColumn, row: i64) -> anyhow::Result<()> {
        let sql = match (column.table, column.column) {
            // What a yes allows holds values of the call, in another spelling.
            ("questions", "call" | "covers") => {
                "UPDATE questions SET covers = 'nothing', state = iif(state IN ('open', 'passed'), 'refused', state)
                     WHERE id = ?1"
            }
            ("actions", "payload") => {
                "UPDATE actions SET state = 'refused' WHERE id = ?1 AND state IN ('new', 'taken')"
            }
            ("outbox", "text") => {
                "UPDATE outbox SET state = 'failed', trouble = 'forgotten' WHERE id = ?1 AND text = '' AND state = 'pending'"
            }
            ("texts", "text") => {
                "UPDATE outbox SET state = 'failed', trouble = 'forgotten' WHERE state = 'pending'
                     AND message_id = (SELECT message_id FROM texts WHERE id = ?1 AND text = '')"
            }
            ("summaries", "title") => {
                "UPDATE summaries SET title = '' WHERE id = ?1 AND state NOT IN ('made', 'standin')"
            }
            _ => return Ok(()),
        };
        self.db.run(sql, [row])
    }

    /// Deletes matching or source messages, as if their senders had deleted them. A message that
    /// only quotes the words loses just the quote.
    pub fn redact_messages(
        &self,
        row: &ErasureRow,
        messages: &[MessageId],
        now: Timestamp,
    ) -> anyhow::Result<(ErasureCounts, Vec<AfterRedaction>)> {
        let mut redacted = Vec::new();
        let sources = self.source_messages(row.id)?;
        for id in messages {
            let quotes =
                "SELECT id, text FROM texts WHERE message_id = ?1 AND kind IN ('quote', 'carried') AND text <> ''";
            let texts = self.db.messages().texts_of(*id)?;
            let mut matching = texts.iter().filter(|text| row.query.matches(text.text.open().0)).peekable();
            let only_quoted = !sources.contains(id)
                && matching.peek().is_some()
                && matching.all(|text| matches!(text.kind, TextKind::Quote | TextKind::Carried));
            if only_quoted {
                self.tx().maintenance().blank_texts(quotes, [id])?;
            } else {
                redacted.extend(self.tx().redaction().forget_message(*id, now)?);
            }
        }
        Ok((ErasureCounts { messages: messages.len(), ..ErasureCounts::default() }, redacted))
    }

    /// Removes the name and the content of an erased file from the journal.
    pub fn erase_file(&self, path: &str, id: ErasureId) -> anyhow::Result<ErasureCounts> {
        let entries = self.db.count("SELECT count(*) FROM entries WHERE path = ?1", [path])?;
        self.drop_entries_at(path)?;
        let contents = "DELETE FROM file_contents WHERE file_id IN (SELECT id FROM files WHERE path = ?1)";
        let versions = self.db.execute(contents, [path])?;
        self.db.run(
            "UPDATE files SET path = 'forgotten/' || ?2, digest = '', replaces = NULL WHERE path = ?1",
            params![path, id],
        )?;
        Ok(ErasureCounts { versions, entries, ..ErasureCounts::default() })
    }
}

/// Returns a column value as text, for any type.
pub(super) fn value_text(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        _ => String::new(),
    }
}

fn without_lines(text: &str, is_match: impl Fn(&str) -> bool) -> String {
    text.split_inclusive('\n').filter(|line| !is_match(line)).collect()
}

/// Returns a JSON list without matching elements; an empty list if it is not a list.
fn without_elements(text: &str, is_match: impl Fn(&str) -> bool) -> String {
    let Ok(serde_json::Value::Array(mut list)) = serde_json::from_str(text) else { return "[]".to_owned() };
    list.retain(|entry| !is_match(&entry.to_string()) && !entry.as_str().is_some_and(&is_match));
    serde_json::Value::Array(list).to_string()
}
