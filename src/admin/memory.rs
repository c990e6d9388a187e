//! Memory commands: a note in full, edits in a person's own editor, and the state for `compline
//! doctor`.
//!
//! Every person has these commands for their own folder only; the command line acts on the first
//! owner's, unless an editor opened from a chat names its person. Untrusted text is shown verbatim
//! with its sources, in a block that hides nothing and interprets no markup. No model is involved
//! in any of this. An edit in a person's editor becomes their own by the rule for every change by
//! hand; only the version and the fill level are recorded here.
//!
//! Only the process that holds the home checks the state: the doctor itself or, while a gateway
//! runs, that gateway at the doctor's request. Both use this code, so their reports agree. Reports
//! contain only counts, never a name or any text.

mod agents;
mod promote;
mod name;
mod overview;
mod history;
mod origin;
mod edit;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::MemoryAdmin;
use super::answer::{Answer, CommandError, Render, RenderContext, ShownLabel, plain, sources};
use crate::memory::{
    AccessError, AccessRefusal, Index, IndexTotals, Workspace, WorkspaceFixes, WorkspaceHealth, unless_refused,
};
use crate::people::{Party, Person};
use crate::review::diff::fenced;
use crate::review::reveal::reveal;
use crate::time::Timestamp;
use crate::trust::Text;
use crate::wording::review::Surface;
use crate::wording::why::all_in_words;
use crate::wording::{self, Language, Sentence, memory as says};

use name::Name;
use overview::INDEX;

pub use agents::AgentMemories;
pub use edit::{NoteEdit, NoteSection};
pub use history::{FileComparison, FileHistoryPage, FileVersion};
pub use name::address as note_address;
pub(in crate::admin) use name::visible_path;
pub use origin::OriginReport;
pub use overview::{MemoryReport, NotesListed, SortedNotes, UnreadFiles};
pub(in crate::admin) use promote::{CODE, not_kept, shown_of};

/// Maximum number of notes listed.
const LISTED: usize = 40;

/// A file of a person's memory.
#[derive(Debug, Clone)]
pub struct MemoryFile {
    /// Path as its owner sees it.
    pub path: String,
    /// Text of the file.
    pub text: Text,
    /// SHA-256 of the bytes.
    pub digest: String,
}

impl MemoryFile {
    /// The text to show.
    fn words(&self, shown: &mut ShownLabel) -> &str {
        shown.words::<std::sync::Arc<str>>(&self.text)
    }

    /// Returns the path as its person reads it.
    pub fn visible_path(&self) -> &str {
        name::visible_path(&self.path)
    }

    /// Returns the maximum size of the file, in bytes.
    pub fn limit(&self) -> u64 {
        bytes(Workspace::size_limit(&self.path))
    }

    /// Returns its size in bytes.
    pub fn size(&self) -> u64 {
        bytes(self.words(&mut ShownLabel::nothing()).len())
    }

    /// The fill level in words.
    fn gauge(&self, language: Language) -> String {
        gauge(language, &self.path, self.size())
    }
}

impl MemoryAdmin<'_> {
    /// Returns whether memory is enabled.
    pub fn reads_memory(&self) -> bool {
        self.engine.memory.enabled
    }

    /// One note, verbatim.
    pub async fn note(&self, person: &Person, typed: &str, surface: Surface) -> Result<MemoryFile, CommandError> {
        let Some(name) = Name::read(typed) else { return Err(no_such_note(surface).into()) };
        let who = Party::One(person.clone());
        match self.page(&who, &name.paths()).await {
            Ok(page) => Ok(page),
            Err(error) => Err(not_there(error.refusal()?, surface).into()),
        }
    }

    /// The first of those files that exists.
    async fn page(&self, who: &Party, paths: &[String]) -> Result<MemoryFile, AccessError> {
        for path in paths {
            match self.workspace.files().read_text(who, path).await {
                Ok((text, _, digest)) => return Ok(MemoryFile { path: path.clone(), text, digest }),
                Err(AccessError::Refused(AccessRefusal::Missing)) => {}
                Err(error) => return Err(error),
            }
        }
        Err(AccessRefusal::Missing.into())
    }

    /// The path of a file to edit: that of the named note, or of a new note with that name;
    /// `MEMORY.md` if none is named. The Markdown is the full path; the JSON adds the digest of the
    /// present content.
    pub(super) async fn note_location(&self, person: &Person, typed: &str) -> Result<Answer, CommandError> {
        let who = Party::One(person.clone());
        let (path, digest) = self.path_and_digest(&who, typed).await?;
        Ok(match unless_refused(self.workspace.versions().disk_path(&who, &path).await)? {
            Some(place) => match place.to_str() {
                Some(place) => Answer::ours(place, json!({ "file": place, "path": path, "digest": digest })),
                None => Answer::refusal(english(says::UNREADABLE)),
            },
            None => Answer::refusal(says::NO_SUCH_NOTE_HERE),
        })
    }

    /// Reports the file's state after the editor was closed. `digest` is that of the content
    /// before.
    pub async fn note_edited(&self, person: &Person, path: &str, digest: &str) -> anyhow::Result<Answer> {
        let origin = self.change_by(person, "hand");
        if let Err(error) = self.workspace.versions().take_note_of(&origin, path).await {
            return Ok(promote::refused(path, error.refusal()?, Language::ENGLISH));
        }
        Ok(match self.page(&origin.who, &[path.to_owned()]).await {
            Ok(page) => edited(&page, digest, self.reads_memory()),
            Err(error) => match error.refusal()? {
                AccessRefusal::Missing => Answer::ours(
                    says::not_made(&plain(name::visible_path(path))),
                    json!({ "path": path, "changed": !digest.is_empty() }),
                ),
                _ => Answer::refusal(english(says::UNREADABLE)),
            },
        })
    }

    /// Path and digest of the named note; the digest is blank if the note is new.
    async fn path_and_digest(&self, who: &Party, typed: &str) -> Result<(String, String), CommandError> {
        let (paths, new) = match (typed.trim(), Name::read(typed)) {
            ("", _) => (vec![INDEX.to_owned()], INDEX.to_owned()),
            (_, Some(name)) => (name.paths(), name.new_path()),
            (_, None) => return Err(Answer::refusal(says::NO_NAME).into()),
        };
        match self.page(who, &paths).await {
            Ok(page) => Ok((page.path, page.digest)),
            Err(error) => match error.refusal()? {
                AccessRefusal::Missing => Ok((new, String::new())),
                _ => Err(Answer::refusal(english(says::UNREADABLE)).into()),
            },
        }
    }

    /// The state of the knowledge.
    pub(super) async fn knowledge(&self, mode: RepairMode) -> anyhow::Result<Knowledge> {
        Knowledge::of(&self.workspace, &self.index, mode, self.clock.now()).await
    }
}

impl Render for Knowledge {
    fn markdown(&self, _: &RenderContext<'_>, _: &mut ShownLabel) -> String {
        let WorkspaceHealth { files, bytes, fullest, .. } = self.files;
        wording::doctor::knowledge(files, bytes, fullest)
    }

    fn json(&self, _: &RenderContext<'_>, _: &mut ShownLabel) -> Value {
        json!(self)
    }
}

impl Render for MemoryFile {
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        let (words, language) = (self.words(shown), context.language());
        let mut lines = vec![says::note_head(name::visible_path(&self.path), &self.gauge(language))];
        let label = self.text.label();
        if !label.is_trusted() {
            lines.push(says::from_outside(language, &plain(&all_in_words(language, label))));
        }
        let (part, remark) = context.fitting(words);
        lines.push(fenced(&reveal(part)));
        lines.extend(remark);
        lines.join("\n\n")
    }

    fn json(&self, _: &RenderContext<'_>, shown: &mut ShownLabel) -> Value {
        page_json(self, self.words(shown))
    }
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
fn listed<T>(surface: Surface, head: String, notes: &[T], line: impl Fn(&T) -> String) -> String {
    let lines = notes.iter().take(LISTED).map(line);
    let more = notes.len().checked_sub(LISTED).filter(|more| *more > 0);
    let more = more.map(|more| says::more_notes(surface, more));
    std::iter::once(head).chain(lines).chain(more).collect::<Vec<_>>().join("\n")
}

/// The fill level in words, for a file of that size at that path.
fn gauge(language: Language, path: &str, size: u64) -> String {
    says::gauge(language, size, bytes(Workspace::size_limit(path)))
}

fn bytes(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn no_such_note(surface: Surface) -> Answer {
    Answer::refusal(match surface {
        Surface::Chat(language) => says::NO_SUCH_NOTE.in_language(language).into_string(),
        Surface::CommandLine => says::NO_SUCH_NOTE_HERE.to_owned(),
    })
}

fn not_there(why: AccessRefusal, surface: Surface) -> Answer {
    match why {
        AccessRefusal::Missing | AccessRefusal::Elsewhere | AccessRefusal::BadPath => no_such_note(surface),
        AccessRefusal::TooLarge => Answer::refusal(says::TOO_LARGE_TO_SHOW.in_language(surface.language())),
        AccessRefusal::NoText => Answer::refusal(says::UNREADABLE.in_language(surface.language())),
    }
}

/// Text about a file that was edited at the computer, where all is English.
fn english(sentence: Sentence) -> String {
    sentence.in_language(Language::ENGLISH).into_string()
}

fn edited(page: &MemoryFile, before: &str, read: bool) -> Answer {
    let (size, most) = (page.size(), bytes(Workspace::size_limit(&page.path)));
    let (path, gauge) = (plain(name::visible_path(&page.path)), says::gauge(Language::ENGLISH, size, most));
    let sentence = match (page.digest == before, size > most) {
        (true, _) => says::unchanged(&path, &gauge),
        (false, true) => says::overfull(&path, &gauge),
        (false, false) => says::edited(&path, &gauge, read),
    };
    Answer::ours(sentence, json!({ "path": page.path, "changed": page.digest != before, "size": size, "limit": most }))
}

/// The result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knowledge {
    /// Present state of the files and folders.
    pub files: WorkspaceHealth,
    /// Present state of the index.
    pub index: IndexTotals,
    /// Repairs made before the check.
    pub mended: WorkspaceFixes,
}

/// Repair mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepairMode {
    /// Check only.
    Check,
    /// Also make repairs that need no decision.
    Repair,
}

impl Knowledge {
    /// Makes repairs if requested, then checks.
    pub async fn of(workspace: &Workspace, index: &Index, mode: RepairMode, now: Timestamp) -> anyhow::Result<Self> {
        let mended = match mode {
            RepairMode::Check => WorkspaceFixes::default(),
            RepairMode::Repair => workspace.checks().fix(now).await?,
        };
        Ok(Self { files: workspace.checks().health().await?, index: index.totals().await?, mended })
    }
}
