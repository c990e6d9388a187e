//! Previews of erasures: what a plan would delete, item by item, and what it would leave.
//!
//! A preview uses the same search as the execution, with a row that is not stored. Its items are
//! numbered for a person, who can choose some of them; the others are left out of the execution and
//! of its verification. Copies (contexts, calls, the index) are counted only: they go in any case.

use std::collections::{BTreeMap, BTreeSet};

use super::plan::{is_note, title_of};
use super::verify::FileMatches;
use super::{Erasure, holds_index, is_memory};
use crate::id::{ErasureId, MessageId, TurnId};
use crate::memory::{OwnPath, memory_md, path_in_folder};
use crate::people::Party;
use crate::store::{
    Db, ErasureChoice, ErasureCounts, ErasureItem, ErasureKind, ErasurePlan, ErasureRow, ErasureState, JournalMatches,
    OldContent,
};
use crate::text::erasure_query::ErasureQuery;
use crate::time::Timestamp;
use crate::trust::Label;

/// An item of a preview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedItem {
    /// The item.
    pub item: ErasureItem,
    /// Path of its file as its owner sees it; blank for an item of the journal.
    pub path: String,
    /// The line, or the title of the note; blank for an item that is named by its time alone.
    pub text: String,
    /// Labels of the text.
    pub labels: Vec<Label>,
    /// Time of the message or conversation.
    pub at: Option<Timestamp>,
    /// True if the assistant wrote the message.
    pub is_reply: bool,
    /// True if the file on the disk has it, and not only earlier versions.
    pub is_current: bool,
    /// Number of stored versions of its file that hold it.
    pub versions: usize,
    /// True if it was made from one of the messages and does not itself say the words.
    pub is_derived: bool,
    /// Lines of the index that go and stay with the note.
    index_lines: Vec<ErasureItem>,
}

impl PlannedItem {
    fn of_file(item: ErasureItem, path: String, text: &str) -> Self {
        let text = text.trim().to_owned();
        Self {
            item,
            path,
            text,
            labels: Vec::new(),
            at: None,
            is_reply: false,
            is_current: false,
            versions: 0,
            is_derived: false,
            index_lines: Vec::new(),
        }
    }

    fn of_journal(item: ErasureItem, at: Option<Timestamp>) -> Self {
        Self { at, ..Self::of_file(item, String::new(), "") }
    }

    fn add_label(&mut self, label: &Label) {
        if !self.labels.contains(label) {
            self.labels.push(label.clone());
        }
    }

    /// Returns true if it is a message.
    pub fn is_message(&self) -> bool {
        matches!(self.item, ErasureItem::Message(_))
    }

    /// Returns true if it is a line of a file that says the words.
    pub fn is_line(&self) -> bool {
        !self.is_derived && matches!(self.item, ErasureItem::Line { .. })
    }

    /// Returns true if it goes when messages are to go: a message, or a reminder that says the words.
    pub fn goes_with_messages(&self) -> bool {
        self.is_message() || !self.is_derived && matches!(self.item, ErasureItem::Reminder(_))
    }

    /// Returns true if it stays unless it is chosen, or goes with the messages.
    pub fn is_optional(&self) -> bool {
        self.is_derived || self.is_message() || matches!(self.item, ErasureItem::Reminder(_))
    }
}

/// Everything that an erasure would delete, and what it would leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasurePreview {
    /// The erasure.
    pub plan: ErasurePlan,
    /// Items in the order of their numbers.
    pub items: Vec<PlannedItem>,
    /// Number of copies that go in any case.
    pub copies: usize,
    /// Number of matches in skill proposals, which stay.
    pub proposals: usize,
    /// Files that stay.
    pub files: FileMatches,
}

impl ErasurePreview {
    /// Returns the keys of all items, which identify the preview.
    pub fn keys(&self) -> Vec<String> {
        self.items.iter().map(|planned| planned.item.key()).collect()
    }

    /// Returns the choice of the items with these numbers, and whether it includes a message.
    /// `None` if there is no such number.
    pub fn choice_of(&self, numbers: &[usize]) -> Option<(ErasureChoice, bool)> {
        if numbers.is_empty() || numbers.iter().any(|number| !(1..=self.items.len()).contains(number)) {
            return None;
        }
        let (chosen, spared): (Vec<_>, Vec<_>) =
            self.items.iter().enumerate().partition(|(at, _)| numbers.contains(&at.saturating_add(1)));
        let has_message = chosen.iter().any(|(_, planned)| planned.is_message());
        let spared = spared.iter().flat_map(|(_, planned)| std::iter::once(&planned.item).chain(&planned.index_lines));
        Some((ErasureChoice::of(chosen.iter().map(|(_, planned)| &planned.item), spared), has_message))
    }
}

impl Erasure<'_> {
    /// Returns what an erasure would delete. Messages of others are no items of a group for someone
    /// who may not delete them.
    pub async fn preview(&self, who: &Party, plan: ErasurePlan) -> anyhow::Result<ErasurePreview> {
        let row = unstored_row(&plan, who);
        let files = self.workspace.folders().files_of(who).await?;
        let mut items = self.note_items(who, &row, &files).await?;
        items.extend(self.archive_items(&files).await?);
        let of = row.clone();
        let search = move |db: Db<'_>| {
            let sources = db.erasure().sources_of(&of)?;
            db.erasure().journal_matches(&of, &sources)
        };
        let found = self.journal.read_much(search).await?;
        let (copies, proposals, readers) = (found.copies, found.proposals, found.readers.clone());
        items.extend(journal_items(found));
        let derived = self.derived_items(who, &files, &items, (plan.kind, readers)).await?;
        items.extend(derived);
        let mut kept = self.file_matches(who, &row).await?;
        kept.files.retain(|path| !is_memory(path));
        kept.by_assistant.retain(|path| !items.iter().any(|planned| planned.is_current && planned.path == *path));
        Ok(ErasurePreview { plan, items, copies, proposals, files: kept })
    }

    /// Returns the note and the lines of files, with their versions.
    async fn note_items(&self, who: &Party, row: &ErasureRow, files: &[OwnPath]) -> anyhow::Result<Vec<PlannedItem>> {
        let folder = self.workspace.folder_of(who).await?;
        let note = (row.kind == ErasureKind::Note).then_some(row.target.as_str());
        let mut lines = Lines { row, note, found: BTreeMap::new(), index_lines: Vec::new() };
        let mut note_item: Option<PlannedItem> = None;
        let assistant_files = self.assistant_files(who.scope()).await?;
        for file in files {
            if note == Some(file.location.as_str()) {
                let text = self.text_of(who, file).await?;
                let mut planned = PlannedItem::of_file(ErasureItem::Note(file.location.clone()), file.path.clone(), "");
                planned.text = title_of(&text).unwrap_or_default();
                planned.add_label(&self.label_of(file, &text).await?);
                planned.is_current = true;
                note_item = Some(planned);
            } else if assistant_files.may_lose_lines(file) {
                let text = self.text_of(who, file).await?;
                if assistant_files.loses_lines(file, &text) && row.matches_line(&file.location, &text) {
                    lines.add(&file.location, &file.path, &text, &self.label_of(file, &text).await?, true);
                }
            }
        }
        for old in self.old_contents(who.scope()).await? {
            let OldContent { path: location, text, label } = &old;
            let path = path_in_folder(&folder, location).unwrap_or_else(|| location.clone());
            if note == Some(location.as_str()) {
                let planned = note_item
                    .get_or_insert_with(|| PlannedItem::of_file(ErasureItem::Note(location.clone()), path, ""));
                if planned.text.is_empty() {
                    planned.text = title_of(text).unwrap_or_default();
                }
                planned.add_label(label);
                planned.versions = planned.versions.saturating_add(1);
            } else {
                lines.add(location, &path, text, label, false);
            }
        }
        if let Some(planned) = &mut note_item {
            planned.index_lines = lines.index_lines;
        }
        Ok(note_item.into_iter().chain(lines.found.into_values()).collect())
    }

    /// Returns notes, lines and reminders that were made by reading it, or from messages with
    /// words, by their edges, are still there, and are no items yet. The messages from which a note
    /// was made say other things too.
    async fn derived_items(
        &self,
        who: &Party,
        files: &[OwnPath],
        items: &[PlannedItem],
        (kind, readers): (ErasureKind, BTreeSet<TurnId>),
    ) -> anyhow::Result<Vec<PlannedItem>> {
        let message = |planned: &PlannedItem| match planned.item {
            ErasureItem::Message(id) if kind == ErasureKind::Words => Some(id),
            _ => None,
        };
        let messages: Vec<MessageId> = items.iter().filter_map(message).collect();
        let made = move |db: Db<'_>| db.erasure().made_from(&messages, &readers);
        let (changes, reminders) = self.journal.read_much(made).await?;
        let assistant_files = self.assistant_files(who.scope()).await?;
        let mut derived: Vec<PlannedItem> = Vec::new();
        for change in changes {
            let is_its = |file: &&OwnPath| file.location == change.path && assistant_files.may_lose_lines(file);
            let Some(file) = files.iter().find(is_its) else { continue };
            let text = self.text_of(who, file).await?;
            if !assistant_files.loses_lines(file, &text) {
                continue;
            }
            let label = self.label_of(file, &text).await?;
            let mut found = Vec::new();
            if is_note(&file.path) && change.before.is_empty() && change.after == text {
                let title = title_of(&text).unwrap_or_default();
                found.push(PlannedItem::of_file(ErasureItem::Note(file.location.clone()), file.path.clone(), &title));
            } else {
                let is_new = |line: &&str| {
                    memory_md::item_text(line).is_some()
                        && memory_md::parse_index_line(line).is_none()
                        && change.before.lines().all(|old| old != *line)
                };
                for line in change.after.lines().filter(is_new).filter(|line| text.lines().any(|now| now == *line)) {
                    let item = ErasureItem::Line { path: file.location.clone(), line: line.to_owned() };
                    found.push(PlannedItem::of_file(item, file.path.clone(), line));
                }
            }
            for mut planned in found {
                (planned.is_current, planned.labels) = (true, vec![label.clone()]);
                derived.push(planned);
            }
        }
        derived.extend(reminders.into_iter().map(|id| PlannedItem::of_journal(ErasureItem::Reminder(id), None)));
        let mut known: BTreeSet<String> = items.iter().map(|planned| planned.item.key()).collect();
        derived.retain_mut(|planned| {
            planned.is_derived = true;
            known.insert(planned.item.key())
        });
        Ok(derived)
    }

    /// Returns the erasure of one derived item alone; `None` if it is gone.
    pub async fn plan_of_derived(
        &self,
        who: &Party,
        planned: &PlannedItem,
    ) -> anyhow::Result<Option<(ErasurePlan, ErasureChoice)>> {
        let name = match &planned.item {
            ErasureItem::Note(_) => planned.path.as_str(),
            ErasureItem::Line { line, .. } => memory_md::item_text(line).unwrap_or(line),
            _ => return Ok(None),
        };
        let Some(plan) = self.plan_of_name(who, name).await? else { return Ok(None) };
        let preview = self.preview(who, plan).await?;
        let key = planned.item.key();
        let at = preview.items.iter().position(|other| other.item.key() == key);
        let choice = at.and_then(|at| preview.choice_of(&[at.saturating_add(1)]));
        Ok(choice.map(|(choice, _)| (preview.plan, choice)))
    }

    /// Returns the exported archives, which hold a copy of everything.
    async fn archive_items(&self, files: &[OwnPath]) -> anyhow::Result<Vec<PlannedItem>> {
        let before = Timestamp(i64::MAX);
        let archives = self.journal.read(move |db| db.erasure().exports_before(before)).await?;
        let is_archive = |file: &&OwnPath| archives.iter().any(|(path, _)| *path == file.location);
        let planned = |file: &OwnPath| PlannedItem {
            is_current: true,
            ..PlannedItem::of_file(ErasureItem::Archive(file.location.clone()), file.path.clone(), "")
        };
        Ok(files.iter().filter(is_archive).map(planned).collect())
    }
}

/// Matching lines of files, by file and wording.
struct Lines<'a> {
    row: &'a ErasureRow,
    note: Option<&'a str>,
    found: BTreeMap<(String, String), PlannedItem>,
    index_lines: Vec<ErasureItem>,
}

impl Lines<'_> {
    fn add(&mut self, location: &str, path: &str, text: &str, label: &Label, is_current: bool) {
        let mut counted: Vec<String> = Vec::new();
        for line in self.row.matching_lines(location, text) {
            let item = ErasureItem::Line { path: location.to_owned(), line: line.to_owned() };
            if self.is_index_line(path, line) {
                self.index_lines.push(item);
                continue;
            }
            let words = ErasureQuery::words_of(line);
            let planned = self
                .found
                .entry((location.to_owned(), words.clone()))
                .or_insert_with(|| PlannedItem::of_file(item, path.to_owned(), line));
            planned.is_current |= is_current;
            planned.add_label(label);
            if !is_current && !counted.contains(&words) {
                planned.versions = planned.versions.saturating_add(1);
                counted.push(words);
            }
        }
    }

    fn is_index_line(&self, path: &str, line: &str) -> bool {
        let Some(name) = self.note.filter(|_| holds_index(path)).and_then(|note| note.rsplit('/').next()) else {
            return false;
        };
        memory_md::parse_index_line(line).is_some_and(|(_, file, _)| file.eq_ignore_ascii_case(name))
    }
}

/// Returns an erasure as if it had begun.
fn unstored_row(plan: &ErasurePlan, who: &Party) -> ErasureRow {
    ErasureRow {
        id: ErasureId(0),
        person: None,
        kind: plan.kind,
        target: plan.target.clone(),
        query: plan.query.clone(),
        messages: true,
        choice: ErasureChoice::default(),
        state: ErasureState::Wanted,
        counts: ErasureCounts::default(),
        scope: who.scope(),
    }
}

fn journal_items(found: JournalMatches) -> Vec<PlannedItem> {
    let mut messages: Vec<_> = found.messages.into_iter().collect();
    messages.sort_by_key(|(id, message)| (message.at, *id));
    let messages = messages.into_iter().map(|(id, message)| PlannedItem {
        text: message.line,
        labels: vec![message.label],
        is_reply: message.is_reply,
        ..PlannedItem::of_journal(ErasureItem::Message(id), Some(message.at))
    });
    let summaries =
        found.summaries.into_iter().map(|(id, at)| PlannedItem::of_journal(ErasureItem::Summary(id), Some(at)));
    let reflections =
        found.reflections.into_iter().map(|(id, at)| PlannedItem::of_journal(ErasureItem::Reflection(id), Some(at)));
    let reminders = found.reminders.into_iter().map(|id| PlannedItem::of_journal(ErasureItem::Reminder(id), None));
    messages.chain(summaries).chain(reflections).chain(reminders).collect()
}
