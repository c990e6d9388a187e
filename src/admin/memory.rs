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

use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::MemoryAdmin;
use super::answer::{Answer, CommandError, Render, RenderContext, ShownLabel, plain, sources};
use crate::memory::{
    AccessError, AccessRefusal, Author, ChangeOrigin, Index, IndexTotals, NewContent, Workspace, WorkspaceFixes,
    WorkspaceHealth,
};
use crate::people::{Party, Person};
use crate::review::diff::fenced;
use crate::review::reveal::reveal;
use crate::text::merge::{self, ClashRule};
use crate::text::{one_line, shorten};
use crate::time::Timestamp;
use crate::time::task::lock;
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
/// Length of a quoted passage that was changed twice, in characters.
const SHOWN_CLASH: usize = 80;

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

    /// The path and the text of a file to edit: the named note, or a new note with that name;
    /// `MEMORY.md` if none is named.
    pub(super) async fn note_to_edit(&self, person: &Person, typed: &str) -> Result<Answer, CommandError> {
        let (path, file) = self.existing_or_new(&Party::One(person.clone()), typed).await?;
        let text = file.as_ref().map_or("", |file| file.words(&mut ShownLabel::nothing()));
        Ok(Answer::ours(&path, json!({ "path": path, "text": text })))
    }

    /// Takes in what was written in an editor that opened `base`, together with what came into the
    /// file meanwhile, and reports the state of the file.
    pub async fn note_edited(&self, person: &Person, path: &str, base: String, text: String) -> anyhow::Result<Answer> {
        let origin = ChangeOrigin { author: Author::Hand, ..self.change_by(person, "hand") };
        let edit = Arc::new(Mutex::new(EditorMerge { is_changed: base != text, ..EditorMerge::default() }));
        let made = Arc::clone(&edit);
        let make = move |old: Option<&str>| Ok(lock(&made).merge(&base, &text, old));
        if let Err(error) = self.workspace.versions().change(&origin, path, make).await {
            return Ok(promote::refused(path, error.refusal()?, Language::ENGLISH));
        }
        let edit = lock(&edit).clone();
        Ok(match self.page(&origin.who, &[path.to_owned()]).await {
            Ok(page) => edited(&page, &edit, self.reads_memory()),
            Err(error) => match error.refusal()? {
                AccessRefusal::Missing => Answer::ours(
                    says::not_made(&plain(name::visible_path(path))),
                    json!({ "path": path, "changed": edit.is_changed }),
                ),
                _ => Answer::refusal(english(says::UNREADABLE)),
            },
        })
    }

    /// Path and content of the named note; without content if the note is new.
    async fn existing_or_new(&self, who: &Party, typed: &str) -> Result<(String, Option<MemoryFile>), CommandError> {
        let (paths, new) = match (typed.trim(), Name::read(typed)) {
            ("", _) => (vec![INDEX.to_owned()], INDEX.to_owned()),
            (_, Some(name)) => (name.paths(), name.new_path()),
            (_, None) => return Err(Answer::refusal(says::NO_NAME).into()),
        };
        match self.page(who, &paths).await {
            Ok(page) => Ok((page.path.clone(), Some(page))),
            Err(error) => match error.refusal()? {
                AccessRefusal::Missing => Ok((new, None)),
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

/// An edit in an editor, put into the present text.
#[derive(Debug, Clone, Default)]
struct EditorMerge {
    /// True if the editor saved another text than it opened.
    is_changed: bool,
    /// True if the file was changed while the editor was open.
    has_newer: bool,
    /// Passages of the editor that were changed in the file as well.
    clashes: Vec<String>,
}

impl EditorMerge {
    fn merge(&mut self, base: &str, text: &str, present: Option<&str>) -> NewContent {
        let current = present.unwrap_or_default();
        if !self.is_changed {
            return NewContent::Unchanged;
        }
        let merged = merge::merge(base, text, current, ClashRule::KeepBoth);
        (self.has_newer, self.clashes) = (current != base, merged.clashes);
        NewContent::Text(merged.text)
    }

    /// The part of the answer about what was written meanwhile.
    fn sentence(&self) -> String {
        match self.clashes.first() {
            Some(own) => format!(" {}", says::edit_clashes(&plain(&shorten(&one_line(own), SHOWN_CLASH)))),
            None if self.has_newer => format!(" {}", says::EDIT_MERGED),
            None => String::new(),
        }
    }
}

fn edited(page: &MemoryFile, edit: &EditorMerge, read: bool) -> Answer {
    let (size, most) = (page.size(), bytes(Workspace::size_limit(&page.path)));
    let (path, gauge) = (plain(name::visible_path(&page.path)), says::gauge(Language::ENGLISH, size, most));
    let sentence = match (edit.is_changed, size > most) {
        (false, _) => says::unchanged(&path, &gauge),
        (true, true) => says::overfull(&path, &gauge),
        (true, false) => says::edited(&path, &gauge, read),
    };
    let (changed, merged, clashes) = (edit.is_changed, edit.has_newer, edit.clashes.len());
    let json = json!({
        "path": page.path, "changed": changed, "merged": merged, "clashes": clashes, "size": size, "limit": most,
    });
    Answer::ours(sentence + &edit.sentence(), json)
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
