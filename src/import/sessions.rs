//! Sessions of OpenClaw: one JSON object a line.
//!
//! The form is that of `docs/reference/session-management-compaction.md` and
//! `skills/session-logs/SKILL.md` of `openclaw/openclaw`: a header of `type` `session`, then
//! entries with `id`, `parentId`, `timestamp` and `type`. Those of `type` `message` hold `message`
//! with `role` (`user`, `assistant`, `toolResult`) and `content`, a text or a list of blocks of
//! which those of `type` `text` are words. The entries form a tree; the branch of the last one
//! counts. Newer versions of the program keep sessions in a database instead, which is not read. No
//! real session was at hand.

use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::folder::{EntryKind, entries, open, pass};
use super::{ArchiveItem, Chat, Each, ImportError, MAX_ELEMENT, SkipReason, title};
use crate::text::cut_bytes;
use crate::time::Timestamp;
use crate::wording::import as says;

/// Maximum length of the words that are kept of an entry while a session is read, in bytes; more
/// than what is stored of a message, so that it is seen that its end is cut off.
const MAX_WORDS: usize = super::MAX_TEXT + 64;

#[derive(Deserialize)]
struct Line {
    r#type: String,
    id: Option<String>,
    #[serde(rename = "parentId")]
    parent: Option<String>,
    timestamp: Option<String>,
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    role: Option<String>,
    content: Option<Value>,
}

/// An entry of a session.
struct Entry {
    id: Option<String>,
    parent: Option<String>,
    at: Option<Timestamp>,
    speaker: Option<&'static str>,
    words: String,
}

/// A session as it was read.
#[derive(Default)]
struct Session {
    id: String,
    is_session: bool,
    unknown: usize,
    entries: Vec<Entry>,
}

/// Passes on the sessions in a folder of that name, or with an index of them. Returns false if
/// there are none.
pub(super) fn read_folder(folder: &Path, left: &mut u64, each: Each<'_>) -> Result<bool, ImportError> {
    let mut is_read = false;
    if !folder.join("sessions.json").is_file() && !folder.ends_with("sessions") {
        return Ok(false);
    }
    for (name, kind) in entries(folder, each)? {
        if kind == EntryKind::File && name.ends_with(".jsonl") {
            is_read |= read(&folder.join(&name), &name, left, each)?;
        }
    }
    Ok(is_read)
}

/// Passes on the session in a file. Returns false if it holds none.
pub(super) fn read(path: &Path, name: &str, left: &mut u64, each: Each<'_>) -> Result<bool, ImportError> {
    let mut skip = |why: SkipReason| pass(each(ArchiveItem::SkippedFile(why, name.to_owned()))).map(|()| false);
    let Ok(file) = open(path) else { return skip(SkipReason::Unreadable) };
    let size = file.metadata().map_or(0, |found| found.len());
    if size > MAX_ELEMENT {
        return skip(SkipReason::TooLarge);
    }
    *left = left.checked_sub(size).ok_or(ImportError::TooLarge)?;
    match read_lines(BufReader::new(file.take(MAX_ELEMENT))) {
        Ok(session) if session.is_session => session.pass_on(each).map(|()| true),
        Ok(_) => Ok(false),
        Err(_) => skip(SkipReason::Unreadable),
    }
}

fn read_lines(mut file: impl BufRead) -> std::io::Result<Session> {
    let (mut session, mut line) = (Session::default(), Vec::new());
    while file.read_until(b'\n', &mut line)? > 0 {
        match serde_json::from_slice::<Line>(&line) {
            Ok(entry) if entry.r#type == "session" => {
                session.is_session = true;
                session.id = entry.id.unwrap_or_default();
            }
            // A form that looks like it, without a header, is that of another program.
            _ if !session.is_session => return Ok(session),
            Ok(entry) => session.entries.push(Entry::of(entry)),
            Err(_) if line.trim_ascii().is_empty() => {}
            Err(_) => session.unknown += 1,
        }
        line.clear();
    }
    Ok(session)
}

impl Entry {
    fn of(line: Line) -> Self {
        let at = line.timestamp.as_deref().and_then(Timestamp::of_rfc3339);
        let message = line.message.filter(|_| line.r#type == "message");
        let (role, content) = message.map_or((None, None), |message| (message.role, message.content));
        let speaker = match role.as_deref() {
            Some("user") => Some(says::USER),
            Some("assistant") => Some(says::OPENCLAW),
            _ => None,
        };
        let words = content.filter(|_| speaker.is_some()).map(|content| words(&content)).unwrap_or_default();
        Self { id: line.id, parent: line.parent, at, speaker, words }
    }
}

/// Words of a message.
fn words(content: &Value) -> String {
    let words = match content {
        Value::String(words) => words.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter(|block| block.get("type").and_then(Value::as_str) == Some("text"));
            texts.filter_map(|block| block.get("text")?.as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    };
    cut_bytes(&words, MAX_WORDS).to_owned()
}

impl Session {
    fn pass_on(self, each: Each<'_>) -> Result<(), ImportError> {
        for _ in 0..self.unknown {
            pass(each(ArchiveItem::Skipped(SkipReason::Unknown)))?;
        }
        let current = self.current();
        let first = self.entries.iter().find(|entry| entry.speaker.is_some() && !entry.words.trim().is_empty());
        let mut chat = Chat { title: title(first.map(|entry| entry.words.as_str())), ..Chat::default() };
        for (number, entry) in self.entries.iter().enumerate() {
            let Some(speaker) = entry.speaker else { continue };
            let why = match entry.words.trim().is_empty() {
                true => Some(SkipReason::NotSaid),
                false if !current.contains(&number) => Some(SkipReason::OtherVersion),
                false => None,
            };
            if let Some(why) = why {
                pass(each(ArchiveItem::Skipped(why)))?;
                continue;
            }
            let id = entry.id.as_deref().unwrap_or_default();
            pass(chat.add(["openclaw", &self.id, id], speaker, entry.at, &entry.words, each))?;
        }
        pass(chat.end(each))
    }

    /// Numbers of the entries from the first to the last along its parents; all of them if that
    /// way is broken.
    fn current(&self) -> BTreeSet<usize> {
        let all = || (0..self.entries.len()).collect();
        let places: HashMap<&str, usize> = self
            .entries
            .iter()
            .enumerate()
            .filter_map(|(number, entry)| Some((entry.id.as_deref()?, number)))
            .collect();
        let Some(mut last) = self.entries.len().checked_sub(1) else { return BTreeSet::new() };
        let mut current = BTreeSet::new();
        // An entry that is its own ancestor would never end.
        while current.insert(last) {
            let Some(entry) = self.entries.get(last) else { return all() };
            match (&entry.id, &entry.parent) {
                (Some(_), None) => return current,
                (Some(_), Some(parent)) => match places.get(parent.as_str()) {
                    Some(parent) => last = *parent,
                    None => return all(),
                },
                (None, _) => return all(),
            }
        }
        all()
    }
}
