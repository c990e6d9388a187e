//! Memory commands: the list, a note in full, its history, and texts that a person makes their own.
//!
//! Every person has these commands for their own folder only; the command line acts on the first
//! owner's. Untrusted text is shown verbatim with its sources, in a block that hides nothing and
//! interprets no markup. No model is involved in any of this.

mod edit_path;
mod line;
mod promote;
mod name;
mod overview;
mod past;
mod unread;

pub(in crate::admin) use promote::CODE;

use crate::admin::MemoryAdmin;
use serde_json::{Value, json};

use super::answer::{Answer, ShownLabel, sources, sources_in_words};
use super::command::MemoryCommand;
use crate::memory::{AccessRefusal, Workspace};
use crate::people::{Party, Person};
use crate::review::diff::fenced;
use crate::review::reveal::reveal;
use crate::trust::Text;
use crate::wording::memory as says;
use crate::wording::review_command::Surface;
use name::Name;

/// Maximum size, in bytes, of a note shown in full in a chat.
const IN_CHAT: usize = 60_000;

/// Maximum number of notes listed.
const LISTED: usize = 40;

/// A file of a person's memory.
struct MemoryFile {
    /// Path as its owner sees it.
    path: String,
    text: Text,
    /// SHA-256 of the bytes.
    digest: String,
}

impl MemoryFile {
    /// The text to show.
    fn words(&self, shown: &mut ShownLabel) -> &str {
        shown.words::<std::sync::Arc<str>>(&self.text)
    }

    /// Size in bytes.
    fn size(&self) -> u64 {
        bytes(self.words(&mut ShownLabel::nothing()).len())
    }

    /// The fill level in words.
    fn gauge(&self) -> String {
        gauge(&self.path, self.size())
    }
}

impl MemoryAdmin<'_> {
    /// Returns whether memory is enabled.
    pub(super) fn reads_memory(&self) -> bool {
        self.engine.memory.enabled
    }

    /// Runs a memory command from chat.
    pub(super) async fn memory(&self, person: &Person, command: MemoryCommand) -> anyhow::Result<Answer> {
        match command {
            MemoryCommand::Overview => self.overview(person, Surface::Chat).await,
            MemoryCommand::Show { note } => self.note(person, &note, Surface::Chat).await,
            MemoryCommand::Search(sought) => self.finder().search_memory(person, &sought).await,
            MemoryCommand::Edit => Ok(Answer::ours(says::EDIT_WHERE, json!({}))),
            MemoryCommand::History { note } => self.past_of(person, &note, Surface::Chat).await,
            MemoryCommand::Restore { note, version } => self.restore_note(person, &note, version, Surface::Chat).await,
            MemoryCommand::Remember { text } => self.remember(person, &text).await,
            MemoryCommand::Promote { note, code } => self.promote_note(person, &note, &code, Surface::Chat).await,
        }
    }

    /// One note, verbatim.
    pub async fn note(&self, person: &Person, typed: &str, way: Surface) -> anyhow::Result<Answer> {
        let Some(name) = Name::read(typed) else { return Ok(no_such_note(way)) };
        let who = Party::One(person.clone());
        Ok(match self.page(&who, &name.paths()).await? {
            Ok(page) => shown_whole(&page, way),
            Err(why) => not_there(why, way),
        })
    }

    /// The first of those files that exists.
    async fn page(&self, who: &Party, paths: &[String]) -> anyhow::Result<Result<MemoryFile, AccessRefusal>> {
        for path in paths {
            match self.tree.files().read_text(who, path).await? {
                Ok((text, _, digest)) => return Ok(Ok(MemoryFile { path: path.clone(), text, digest })),
                Err(AccessRefusal::Missing) => {}
                Err(why) => return Ok(Err(why)),
            }
        }
        Ok(Err(AccessRefusal::Missing))
    }
}

fn shown_whole(page: &MemoryFile, way: Surface) -> Answer {
    let mut shown = ShownLabel::nothing();
    let words = page.words(&mut shown);
    let mut lines = vec![says::note_head(name::seen(&page.path), &page.gauge())];
    let label = page.text.label();
    if !label.is_trusted() {
        lines.push(says::from_outside(&sources_in_words(label)));
    }
    let part = if way == Surface::Chat { crate::text::cut_bytes(words, IN_CHAT) } else { words };
    lines.push(fenced(&reveal(part)));
    if part.len() < words.len() {
        lines.push(says::CUT.to_owned());
    }
    let json = page_json(page, words);
    Answer::showing(shown, lines.join("\n\n"), json)
}

fn page_json(page: &MemoryFile, words: &str) -> Value {
    let label = page.text.label();
    json!({
        "note": name::short(&page.path),
        "path": page.path,
        "size": words.len(),
        "limit": Workspace::size_limit(&page.path),
        "tainted": !label.is_trusted(),
        "sources": sources(label),
        "text": words,
    })
}

/// A list under its head, cut when it is too long.
fn listed<T>(head: String, notes: &[T], line: impl Fn(&T) -> String) -> String {
    let lines = notes.iter().take(LISTED).map(line);
    let more = notes.len().checked_sub(LISTED).filter(|more| *more > 0).map(says::more_notes);
    std::iter::once(head).chain(lines).chain(more).collect::<Vec<_>>().join("\n")
}

/// The fill level in words, for a file of that size at that path.
fn gauge(path: &str, size: u64) -> String {
    says::gauge(size, bytes(Workspace::size_limit(path)))
}

fn bytes(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn no_such_note(way: Surface) -> Answer {
    Answer::refusal(match way {
        Surface::Chat => says::NO_SUCH_NOTE,
        Surface::CommandLine => says::NO_SUCH_NOTE_HERE,
    })
}

fn not_there(why: AccessRefusal, way: Surface) -> Answer {
    match why {
        AccessRefusal::Missing | AccessRefusal::Elsewhere | AccessRefusal::BadPath => no_such_note(way),
        AccessRefusal::TooLarge => Answer::refusal(says::TOO_LARGE_TO_SHOW),
        AccessRefusal::NoText => Answer::refusal(says::UNREADABLE),
    }
}
