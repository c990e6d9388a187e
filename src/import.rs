//! Reader of what other programs leave: archives that ChatGPT, Claude and Telegram export, and
//! folders of OpenClaw and Carpenter.
//!
//! An archive is hostile until proved otherwise. It is read as a stream, one conversation at a
//! time, and only by name: nothing is unpacked to the disk, so no path in it leads anywhere. The
//! size of a conversation and of the whole, and the factor by which an archive grows, are limited;
//! deep nesting costs no stack. What does not have the known form is counted and skipped, a file
//! that is cut off or damaged is an error.
//!
//! No field is trusted to say who wrote something: the name that an archive gives stands before the
//! words, as part of a text from outside.

mod chats;
mod folder;
mod json;
mod package;
mod sessions;
mod telegram;
mod workspace;

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use crate::skill::SkillFolder;
use crate::store::ArchiveKind;
use crate::text::{cut_bytes, one_line, shorten};
use crate::time::Timestamp;
use crate::wording::import as says;

/// Maximum size of one conversation or message in its file, in bytes.
const MAX_ELEMENT: u64 = 64 << 20;
/// Maximum size of all files read, unpacked, in bytes.
const MAX_TOTAL: u64 = 16 << 30;
/// Maximum length of the text of a message, in bytes; the rest is cut off.
const MAX_TEXT: usize = 256 << 10;
/// Maximum length of a name or title, in characters.
const MAX_NAME: usize = 80;
/// Maximum number of messages in one conversation; longer ones are divided.
const MAX_MESSAGES: usize = 500;
/// Silence after which the rest of a chat without conversations is another one, in milliseconds.
const GAP: i64 = 6 * 3_600_000;

/// A conversation of an archive, or a part of a long one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedConversation {
    /// Title.
    pub title: String,
    /// Messages, in order; never empty.
    pub messages: Vec<ArchivedMessage>,
}

/// A message of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedMessage {
    /// Digest of what it is and says: the same in every archive.
    pub key: String,
    /// Time; none if the archive does not tell.
    pub at: Option<Timestamp>,
    /// Name of the writer, and words.
    pub text: String,
}

/// A text in a folder of another program, or a part of a long one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedNote {
    /// Path in the folder, without its ending.
    pub path: String,
    /// Number of the part; none if it is whole.
    pub part: Option<usize>,
    /// Text.
    pub text: String,
}

/// A skill in a folder of another program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedSkill {
    /// Name.
    pub name: String,
    /// Files.
    pub content: SkillFolder,
}

/// Reason why something in an archive is not imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum SkipReason {
    /// A conversation or message in an unknown form.
    Unknown,
    /// An answer or question that was replaced by another version.
    OtherVersion,
    /// A message of the program itself, or about the chat.
    NotSaid,
    /// A picture, recording or other file.
    File,
    /// The end of a very long message.
    Cut,
    /// A link, which might lead out of the folder.
    Link,
    /// A file that is no note.
    OtherFile,
    /// A folder that holds no notes.
    OtherFolder,
    /// A name that begins with a dot.
    Hidden,
    /// A name that is not in UTF-8.
    OddName,
    /// A file over its limit.
    TooLarge,
    /// A file that is no text in UTF-8.
    NotText,
    /// A file without words.
    Empty,
    /// A file that cannot be read.
    Unreadable,
    /// A skill that came with the other program.
    Manual,
    /// A folder that is no skill, or whose name no skill here may have.
    NoSkill,
}

/// Result of reading a part of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArchiveItem {
    /// A conversation.
    Conversation(ArchivedConversation),
    /// A note.
    Note(ArchivedNote),
    /// A skill.
    Skill(ArchivedSkill),
    /// Something that was skipped.
    Skipped(SkipReason),
    /// A file or folder that was skipped, by its path.
    SkippedFile(SkipReason, String),
}

/// Reason why an archive cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file system fails, or has no such file.
    #[error("{0}")]
    Unreadable(#[source] io::Error),
    /// The form is unknown.
    #[error("{}", says::NOT_RECOGNISED)]
    NotRecognised,
    /// The zip file is damaged.
    #[error("{}", says::DAMAGED)]
    Damaged,
    /// The zip file is locked with a password.
    #[error("{}", says::LOCKED)]
    Locked,
    /// The file ends early.
    #[error("{}", says::CUT_OFF)]
    CutOff,
    /// The file is not JSON.
    #[error("{}", says::not_json(*line, *column))]
    NotJson {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// A limit is exceeded.
    #[error("{}", says::TOO_LARGE)]
    TooLarge,
    /// A folder has too many entries.
    #[error("{}", says::TOO_MANY)]
    TooMany,
    /// Grows more than an export does when it is unpacked.
    #[error("{}", says::BOMB)]
    Bomb,
    /// The reader of the items wants no more.
    #[error("Stopped")]
    Stopped,
}

/// Receiver of what is read.
type Each<'e> = &'e mut dyn FnMut(ArchiveItem) -> ControlFlow<()>;

/// Passes everything in an archive to `each`: a zip file, a folder with its content, a JSON file of
/// it, or a folder of another program. Returns the program that it comes from.
///
/// # Errors
/// If it cannot be read to its end, or `each` breaks off.
pub fn read(path: &Path, each: Each<'_>) -> Result<ArchiveKind, ImportError> {
    let mut found = None;
    let mut left = MAX_TOTAL;
    if path.is_dir()
        && let Some(kind) = workspace::read(path, &mut left, each)?
    {
        return Ok(kind);
    }
    if path.extension().is_some_and(|ending| ending == "jsonl") {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let is_read = sessions::read(path, &name, &mut left, each)?;
        return if is_read { Ok(ArchiveKind::OpenClaw) } else { Err(ImportError::NotRecognised) };
    }
    package::each_file(path, &mut left, &mut |file| {
        let kind = json::read(file, each)?;
        found = found.or(kind);
        Ok(())
    })?;
    found.ok_or(ImportError::NotRecognised)
}

/// Collects the messages of a chat, and divides it into conversations.
#[derive(Default)]
struct Chat {
    title: String,
    messages: Vec<ArchivedMessage>,
    /// True if a long silence divides it too.
    is_endless: bool,
}

impl Chat {
    /// Adds a message with words, or skips it.
    fn add(
        &mut self,
        id: [&str; 3],
        speaker: &str,
        at: Option<Timestamp>,
        words: &str,
        each: Each<'_>,
    ) -> ControlFlow<()> {
        let words = words.replace('\0', "");
        let words = words.trim();
        if words.is_empty() {
            return ControlFlow::Continue(());
        }
        let kept = cut_bytes(words, MAX_TEXT);
        if kept.len() < words.len() {
            each(ArchiveItem::Skipped(SkipReason::Cut))?;
        }
        let speaker = shorten(&one_line(speaker), MAX_NAME);
        let last = self.messages.last().and_then(|last| last.at);
        let at = at.or(last);
        let is_apart = self.is_endless && at.zip(last).is_some_and(|(at, last)| at.0.saturating_sub(last.0) > GAP);
        if is_apart || self.messages.len() >= MAX_MESSAGES {
            self.end(each)?;
        }
        self.messages.push(ArchivedMessage { key: key(id, words), at, text: says::said_by(&speaker, kept) });
        ControlFlow::Continue(())
    }

    /// Passes on the messages collected so far.
    fn end(&mut self, each: Each<'_>) -> ControlFlow<()> {
        let messages = std::mem::take(&mut self.messages);
        if messages.is_empty() {
            return ControlFlow::Continue(());
        }
        each(ArchiveItem::Conversation(ArchivedConversation { title: self.title.clone(), messages }))
    }
}

/// Digest that identifies a message by its program, conversation, id and words.
fn key(id: [&str; 3], words: &str) -> String {
    use sha2::{Digest, Sha256};
    let mut digest = Sha256::new();
    for part in id.into_iter().chain([words]) {
        digest.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        digest.update(part);
    }
    hex::encode(digest.finalize()).chars().take(32).collect()
}

/// A title, or what stands for one.
fn title(given: Option<&str>) -> String {
    let title = shorten(&one_line(given.unwrap_or_default()), MAX_NAME);
    if title.trim().is_empty() { says::UNTITLED.to_owned() } else { title }
}

/// Time from seconds since 1970; none for a number that is no time.
fn from_seconds(seconds: f64) -> Option<Timestamp> {
    // Up to the year 9999.
    (1.0..253_402_300_800.0).contains(&seconds).then_some(Timestamp((seconds * 1000.0) as i64))
}

#[cfg(test)]
mod tests;
