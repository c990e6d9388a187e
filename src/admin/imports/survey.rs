//! Survey of an archive: reads it to its end and stores nothing.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::admin::answer::{Render, RenderContext, ShownLabel, visible_line};
use crate::import::{self, ArchiveItem, ArchivedNote, ImportError, SkipReason};
use crate::memory::{ImportedNote, ImportedNoteKey};
use crate::store::ArchiveKind;
use crate::text::shorten;
use crate::time::Timestamp;
use crate::wording::import as says;

/// Number of skipped files that are kept by name for each reason.
const NAMED: usize = 100;
/// Number of skipped files that are named to a person for each reason, and the length of a name.
const SHOWN: usize = 3;
const MAX_NAME: usize = 60;

/// Contents of an archive.
#[derive(Debug)]
pub(in crate::admin) struct Survey {
    pub(super) kind: ArchiveKind,
    conversations: usize,
    messages: usize,
    notes: usize,
    skills: usize,
    pub(super) new: usize,
    pub(super) new_notes: usize,
    days: Option<(Timestamp, Timestamp)>,
    skipped: BTreeMap<SkipReason, Skipped>,
}

/// Items skipped for one reason.
#[derive(Debug, Default)]
struct Skipped {
    count: usize,
    names: Vec<String>,
}

/// Keys of what an archive holds, by which it is known again.
#[derive(Debug, Default)]
pub(super) struct ArchiveKeys {
    pub(super) messages: Vec<String>,
    pub(super) notes: Vec<ImportedNoteKey>,
}

impl Survey {
    pub(super) fn lines(&self, context: &RenderContext<'_>) -> Vec<String> {
        let days = self.days.map(|(from, to)| (context.zone.show_day(from), context.zone.show_day(to)));
        let days = days.as_ref().map(|(from, to)| (from.as_str(), to.as_str()));
        let counts = (self.conversations, self.messages, self.notes, self.skills);
        let mut lines = vec![says::holds(self.kind.as_str(), counts, days)];
        for (reason, skipped) in &self.skipped {
            let names = skipped.names.iter().take(SHOWN).map(|name| visible_line(&shorten(name, MAX_NAME)));
            lines.push(says::skipped(skipped.count, (*reason).into(), &names.collect::<Vec<_>>()));
        }
        lines
    }

    fn skip(&mut self, reason: SkipReason, name: Option<String>) {
        let skipped = self.skipped.entry(reason).or_default();
        skipped.count += 1;
        skipped.names.extend(name.filter(|_| skipped.names.len() < NAMED));
    }
}

impl Render for Survey {
    fn markdown(&self, context: &RenderContext<'_>, _: &mut ShownLabel) -> String {
        let lines = self.lines(context);
        format!("{}\n\n{}", lines.join("\n"), says::would_add(self.new, self.new_notes, self.skills))
    }

    fn json(&self, _: &RenderContext<'_>, _: &mut ShownLabel) -> Value {
        let skipped: BTreeMap<&str, usize> = self.skipped.iter().map(|(why, one)| ((*why).into(), one.count)).collect();
        let named = self.skipped.iter().filter(|(_, one)| !one.names.is_empty());
        let files: BTreeMap<&str, &[String]> = named.map(|(why, one)| ((*why).into(), one.names.as_slice())).collect();
        json!({
            "kind": self.kind.as_str(),
            "conversations": self.conversations,
            "messages": self.messages,
            "notes": self.notes,
            "skills": self.skills,
            "new": self.new,
            "new_notes": self.new_notes,
            "first_at": self.days.map(|(first, _)| first.rfc3339()),
            "last_at": self.days.map(|(_, last)| last.rfc3339()),
            "skipped": skipped,
            "skipped_files": files,
        })
    }
}

/// Reads an archive to its end.
pub(super) async fn look(path: PathBuf) -> Result<(Survey, ArchiveKeys), ImportError> {
    let look = tokio::task::spawn_blocking(move || {
        let mut survey = Survey {
            kind: ArchiveKind::ChatGpt,
            conversations: 0,
            messages: 0,
            notes: 0,
            skills: 0,
            new: 0,
            new_notes: 0,
            days: None,
            skipped: BTreeMap::new(),
        };
        let mut keys = ArchiveKeys::default();
        survey.kind = import::read(&path, &mut |item| {
            survey.add(item, &mut keys);
            ControlFlow::Continue(())
        })?;
        survey.messages = keys.messages.len();
        keys.messages.sort_unstable();
        keys.messages.dedup();
        Ok((survey, keys))
    });
    look.await.unwrap_or_else(|error| Err(ImportError::Unreadable(std::io::Error::other(error))))
}

impl Survey {
    fn add(&mut self, item: ArchiveItem, keys: &mut ArchiveKeys) {
        match item {
            ArchiveItem::Conversation(found) => {
                self.conversations += 1;
                for message in found.messages {
                    if let Some(at) = message.at {
                        self.days = Some(self.days.map_or((at, at), |(first, last)| (first.min(at), last.max(at))));
                    }
                    keys.messages.push(message.key);
                }
            }
            ArchiveItem::Note(note) => {
                self.notes += 1;
                keys.notes.push(titled(&note).key);
            }
            ArchiveItem::Skill(_) => self.skills += 1,
            ArchiveItem::Skipped(reason) => self.skip(reason, None),
            ArchiveItem::SkippedFile(reason, name) => self.skip(reason, Some(name)),
        }
    }
}

/// The note as it is stored. A note of a day begins with the day.
pub(super) fn titled(note: &ArchivedNote) -> ImportedNote {
    let name = note.path.strip_prefix("memory/").unwrap_or(&note.path);
    ImportedNote::new(&says::note_title(name, note.part), &note.text)
}
