//! Entries from the journal: conversations and reflections.
//!
//! A conversation is found by its summaries. The summary of the trusted projection is trusted; the
//! summary of a whole conversation with text from outside has its own label and is a separate
//! entry. None of these are files: entries are generated again whenever the journal reports a
//! change.

use super::super::label;
use super::parse::passages;
use crate::id::{ConversationId, ReflectionId};
use crate::store::{Db, EntryKind, Indexed, NewEntry, Node, Summary, SummaryInputs};
use crate::time::Timestamp;
use crate::trust::{Label, Scope};

const CONVERSATIONS: &str = "conversations/";
const REFLECTIONS: &str = "reflections/";
/// Section name of a summary made from all inputs.
const WHOLE: &str = "whole";

/// Source of entries in the journal.
enum JournalSource {
    Conversation(ConversationId),
    Reflection(ReflectionId),
}

impl JournalSource {
    /// Parses the path of entries; `None` if it is that of a file.
    fn of(path: &str) -> Option<Self> {
        let id = |prefix: &str| path.strip_prefix(prefix)?.parse::<i64>().ok();
        let conversation = id(CONVERSATIONS).map(|id| Self::Conversation(ConversationId(id)));
        conversation.or_else(|| id(REFLECTIONS).map(|id| Self::Reflection(ReflectionId(id))))
    }
}

/// Returns true if the path names a journal entry and not a file.
pub(super) fn is_journal_path(path: &str) -> bool {
    JournalSource::of(path).is_some()
}

/// Returns the entries of a conversation or a reflection; `None` if it has no summary.
pub(super) fn read(db: Db<'_>, path: &str) -> anyhow::Result<Option<(Indexed, Vec<NewEntry>)>> {
    match JournalSource::of(path) {
        Some(JournalSource::Conversation(id)) => conversation(db, path, id),
        Some(JournalSource::Reflection(id)) => reflection(db, path, id),
        None => Ok(None),
    }
}

/// Returns the journal node behind the entries at that path and under that heading.
pub(super) fn origin(db: Db<'_>, path: &str, section: &str) -> anyhow::Result<Option<Node>> {
    match JournalSource::of(path) {
        Some(JournalSource::Conversation(id)) => {
            let inputs = if section == WHOLE { SummaryInputs::Full } else { SummaryInputs::Trusted };
            Ok(db.summaries().summary_of(id, inputs)?.map(|summary| Node::Summary(summary.id)))
        }
        Some(JournalSource::Reflection(id)) => {
            let row = db.reflections().reflection(id)?;
            row.map(|row| db.derivations().node_of(row.message)).transpose()
        }
        None => {
            let Some(file) = db.entries().indexed(path)? else { return Ok(None) };
            Ok(db.file_versions().file_version(path, &file.digest)?.map(|(row, _)| Node::File(row)))
        }
    }
}

fn conversation(db: Db<'_>, path: &str, id: ConversationId) -> anyhow::Result<Option<(Indexed, Vec<NewEntry>)>> {
    let Some(conversation) = db.conversations().conversation(id)? else { return Ok(None) };
    let (trusted, whole) =
        (db.summaries().summary_of(id, SummaryInputs::Trusted)?, db.summaries().summary_of(id, SummaryInputs::Full)?);
    let mut entries = Vec::new();
    let mut file = file(path, conversation.scope, conversation.last_at);
    for (section, summary) in [("", trusted), (WHOLE, whole)] {
        let Some(summary) = summary else { continue };
        file.stamp.push_str(&format!("{}{} ", summary.id, summary.state.as_str()));
        let entry = summary_entry(section, &summary);
        if !entry.text.trim().is_empty() {
            entries.push(entry);
        }
    }
    Ok(labelled(file, entries))
}

fn summary_entry(section: &str, summary: &Summary) -> NewEntry {
    let (says, label, _) = summary.content.open();
    let lists = [&says.topics, &says.decisions, &says.preferences, &says.pending];
    let lines = std::iter::once(&says.title).chain(lists.into_iter().flatten()).map(String::as_str);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    entry(EntryKind::Conversation, section, &says.title, &lines.join("\n"), 0, 1, label)
}

fn reflection(db: Db<'_>, path: &str, id: ReflectionId) -> anyhow::Result<Option<(Indexed, Vec<NewEntry>)>> {
    let Some(row) = db.reflections().reflection(id)? else { return Ok(None) };
    let mut file = file(path, row.scope, row.at);
    file.stamp = row.message.to_string();
    let title = format!("{} {}: {}", row.job, row.period, row.title);
    let mut entries = Vec::new();
    for text in db.messages().texts_of(row.message)? {
        let (words, label, _) = text.text.open();
        let lines: Vec<(u32, &str)> = (1..).zip(words.lines()).collect();
        let label = label.join_with(&row.label);
        for passage in passages(&lines) {
            let ordinal = u32::try_from(entries.len()).unwrap_or(u32::MAX);
            entries.push(entry(EntryKind::Reflection, "", &title, &passage.text, ordinal, passage.line, &label));
        }
    }
    Ok(labelled(file, entries))
}

/// Sets the joined label of all entries; `None` if there are no entries.
fn labelled(mut file: Indexed, entries: Vec<NewEntry>) -> Option<(Indexed, Vec<NewEntry>)> {
    let labels = entries.iter().filter_map(|entry| entry.label.clone());
    file.label = labels.reduce(|all, label| all.join_with(&label))?;
    Some((file, entries))
}

/// Creates a record of unknown origin, until its entries are known.
fn file(path: &str, scope: Scope, at: Timestamp) -> Indexed {
    Indexed {
        path: path.to_owned(),
        scope,
        stamp: String::new(),
        digest: String::new(),
        label: label::of_found_file(),
        trouble: String::new(),
        size: 0,
        at,
    }
}

fn entry(kind: EntryKind, section: &str, name: &str, text: &str, ordinal: u32, line: u32, label: &Label) -> NewEntry {
    NewEntry {
        section: section.to_owned(),
        line,
        name: name.to_owned(),
        kind,
        category: String::new(),
        text: text.to_owned(),
        ordinal,
        at: None,
        label: Some(label.clone()),
    }
}
