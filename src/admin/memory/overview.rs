//! The overview of the memory: `MEMORY.md`, the notes with their sizes, today's note, extracted
//! facts, pending untrusted notes, and unreadable files, each with the reason, so that the person
//! can fix it.

use serde_json::{Value, json};

use super::{MemoryFile, gauge, listed, name};
use crate::admin::MemoryAdmin;
use crate::admin::answer::{Render, RenderContext, ShownLabel, join, plain};
use crate::memory::{
    AccessRefusal, NoteLine, NoteList, NotePaths, UnreadNote, Workspace, unless_refused, without_comments,
};
use crate::people::{Party, Person};
use crate::review::diff::fenced;
use crate::review::reveal::reveal;
use crate::text::cut_bytes;
use crate::time::Timestamp;
use crate::trust::{Label, Source};
use crate::wording::memory::{self as says, Reads};
use crate::wording::review::Surface;
use crate::wording::{Language, Sentence};

/// Path of the index.
pub(super) const INDEX: &str = "memory/MEMORY.md";
/// Maximum number of bytes of `MEMORY.md` at the head of the list.
const BEGINNING: usize = 2_500;
/// Number of notes of a page.
const PAGE: u32 = 40;
/// Number of days of a page that are read.
const WEEK: usize = 7;
/// Files that are loaded automatically and appear in no list while they are readable.
const OTHER_FILES: [&str; 6] =
    ["USER.md", "AGENTS.md", "SOUL.md", "HEARTBEAT.md", "learnings/errors.md", "learnings/corrections.md"];

/// Unreadable files, each with the reason.
#[derive(Debug, Clone)]
pub struct UnreadFiles {
    /// Paths and reasons.
    pub files: Vec<(String, AccessRefusal)>,
    /// The label of their names.
    pub label: Label,
}

/// The overview of a person's memory.
#[derive(Debug, Clone)]
pub struct MemoryReport {
    /// True if memory is enabled.
    pub is_read: bool,
    /// `MEMORY.md`.
    pub index: Result<MemoryFile, AccessRefusal>,
    /// The notes by kind.
    pub notes: SortedNotes,
    /// Path of the last note, if more follow.
    pub next: Option<String>,
    /// Paths of earlier days than those among the notes, newest first.
    pub earlier: Vec<String>,
    /// Folder of the notes, for the command line.
    folder: Option<String>,
    /// Files of extracted facts.
    pub fact_files: Vec<MemoryFile>,
    /// Unreadable files, without the index.
    pub unread: UnreadFiles,
}

impl MemoryReport {
    /// Returns the size of everything, in bytes.
    pub fn size(&self) -> u64 {
        self.notes.total().1 + self.index.as_ref().map_or(0, MemoryFile::size)
    }
}

impl Render for MemoryReport {
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        let (surface, language) = (context.surface, context.language());
        let mut blocks = match &self.index {
            Ok(page) => of_index(page, surface, self.is_read, shown),
            Err(AccessRefusal::Missing) => {
                vec![says::head(language, &gauge(language, INDEX, 0), reads(self.is_read, 0))]
            }
            Err(why) => vec![says::index_unread(language, reason(*why))],
        };
        if !self.is_read {
            blocks.insert(0, says::SWITCHED_OFF.in_language(language).into_string());
        }
        blocks.extend(self.notes.blocks(shown, surface));
        let files = self.notes.total().0 + usize::from(self.index.is_ok());
        blocks.push(says::total(files, self.size(), self.folder.as_deref(), surface));
        blocks.extend(extracted_lines(language, &self.fact_files));
        blocks.extend(self.unread.block(surface, shown));
        blocks.join("\n\n")
    }

    fn json(&self, _: &RenderContext<'_>, shown: &mut ShownLabel) -> Value {
        let notes = |notes: &[NoteLine]| notes.iter().map(note_json).collect::<Value>();
        let index_unread = self.index.as_ref().err().filter(|why| **why != AccessRefusal::Missing);
        shown.also(&self.unread.label);
        let unread = self.unread.files.iter().map(|(path, why)| unread_json(path, *why));
        let unread: Value = unread.chain(index_unread.map(|why| unread_json(INDEX, *why))).collect();
        json!({
            "enabled": self.is_read,
            "index": self.index.as_ref().ok().map(|page| super::page_json(page, page.words(shown))),
            "folder": self.folder,
            "notes": notes(&self.notes.notes),
            "today": self.notes.today.as_ref().map(note_json),
            "days": notes(&self.notes.days),
            "unread": unread,
            "taken_down": self.fact_files.iter().map(file_json).collect::<Value>(),
            "untrusted": notes(&self.notes.outside),
            "size": self.size(),
        })
    }
}

/// The notes that an overview lists.
#[derive(Debug, Clone, Copy)]
pub enum NotesListed<'a> {
    /// All of them.
    All,
    /// A page of notes from the first after a path on; with the first page, whose path is blank,
    /// also days and notes from outside.
    After(&'a str),
}

/// The notes of a memory by kind.
#[derive(Debug, Clone, Default)]
pub struct SortedNotes {
    /// Trusted notes with a title.
    pub notes: Vec<NoteLine>,
    /// Note of today.
    pub today: Option<NoteLine>,
    /// Notes of other days, oldest first.
    pub days: Vec<NoteLine>,
    /// Notes with text from outside.
    pub outside: Vec<NoteLine>,
}

impl MemoryAdmin<'_> {
    /// The overview of a person's memory.
    pub async fn overview(
        &self,
        person: &Person,
        listed: NotesListed<'_>,
        surface: Surface,
    ) -> anyhow::Result<MemoryReport> {
        let who = Party::One(person.clone());
        let place = async {
            match surface {
                Surface::Chat(_) => Ok(None),
                Surface::CommandLine => unless_refused(self.workspace.versions().disk_path(&who, INDEX).await),
            }
        };
        let ((notes, next, earlier), place, OtherFiles { index, facts, unread: others }) =
            tokio::try_join!(self.notes(&who, listed), place, self.other_files(&who))?;
        let mut unread = UnreadFiles::of(notes.unread);
        unread.files.extend(others);
        Ok(MemoryReport {
            is_read: self.reads_memory(),
            index,
            notes: sort(notes.read, &self.zone.day(self.clock.now())),
            next,
            earlier,
            folder: place.and_then(|path| path.parent().map(|folder| folder.display().to_string())),
            fact_files: facts,
            unread,
        })
    }

    /// Reads notes, and returns the path after which they go on, and the paths of earlier days.
    async fn notes(
        &self,
        who: &Party,
        listed: NotesListed<'_>,
    ) -> anyhow::Result<(NoteList, Option<String>, Vec<String>)> {
        let files = self.workspace.files();
        let after = match listed {
            NotesListed::All => return Ok((files.list_notes(who).await?, None, Vec::new())),
            NotesListed::After(after) => after,
        };
        let NotePaths { notes, next, mut days, outside } = self.index.note_paths(who, after, PAGE).await?;
        let earlier = days.split_off(days.len().min(WEEK));
        let paths = notes.into_iter().chain(days).chain(outside).collect();
        Ok((files.read_notes(who, paths).await?, next, earlier))
    }

    /// Reads `MEMORY.md`, both layers of extracted facts, and the files that appear in no list.
    async fn other_files(&self, who: &Party) -> anyhow::Result<OtherFiles> {
        let fact_files = self.workspace.fact_files();
        let others = OTHER_FILES.map(str::to_owned);
        let paths: Vec<String> = [INDEX.to_owned()].into_iter().chain(fact_files.clone()).chain(others).collect();
        let texts = self.workspace.files().read_texts(who, paths.clone()).await?;
        let mut files = OtherFiles { index: Err(AccessRefusal::Missing), facts: Vec::new(), unread: Vec::new() };
        for (path, read) in paths.into_iter().zip(texts) {
            let page = read.map(|(text, _, digest)| MemoryFile { path: path.clone(), text, digest });
            match page {
                page if path == INDEX => files.index = page,
                Ok(page) => files.facts.extend(fact_files.contains(&path).then_some(page)),
                Err(AccessRefusal::Missing) => {}
                Err(why) => files.unread.push((path, why)),
            }
        }
        Ok(files)
    }
}

/// The files of an overview that are no notes.
struct OtherFiles {
    index: Result<MemoryFile, AccessRefusal>,
    /// Extracted facts.
    facts: Vec<MemoryFile>,
    /// Those that exist but cannot be read, each with the reason.
    unread: Vec<(String, AccessRefusal)>,
}

/// One line per file; `None` without any.
fn extracted_lines(language: Language, pages: &[MemoryFile]) -> Option<String> {
    let line = |page: &MemoryFile| says::taken_down(&plain(&name::short(&page.path)), &page.gauge(language));
    let lines = pages.iter().map(line);
    (!pages.is_empty()).then(|| {
        std::iter::once(says::TAKEN_DOWN.in_language(language).into_string())
            .chain(lines)
            .collect::<Vec<_>>()
            .join("\n")
    })
}

/// The fill level, and the beginning of the text.
fn of_index(page: &MemoryFile, surface: Surface, is_read: bool, shown: &mut ShownLabel) -> Vec<String> {
    // The program's explanations are comments in the file.
    let words = without_comments(page.words(shown));
    let words = words.trim();
    let part = cut_bytes(words, BEGINNING);
    let language = surface.language();
    let head = says::head(language, &page.gauge(language), reads(is_read, page.size()));
    let mut blocks = vec![head, fenced(&reveal(part))];
    if part.len() < words.len() {
        let command = match surface {
            Surface::Chat(_) => "/memory MEMORY",
            Surface::CommandLine => "`compline memory show MEMORY`",
        };
        blocks.push(says::goes_on(language, command));
    }
    blocks
}

/// The part of an index of that size that is read.
fn reads(is_read: bool, size: u64) -> Reads {
    match is_read {
        false => Reads::Nothing,
        true if size > super::bytes(Workspace::size_limit(INDEX)) => Reads::Part,
        true => Reads::Whole,
    }
}

fn sort(notes: Vec<NoteLine>, today: &str) -> SortedNotes {
    let mut sorted = SortedNotes::default();
    for note in notes.into_iter().filter(|note| note.path != INDEX) {
        let stem = name::short(&note.path);
        if !note.trusted {
            sorted.outside.push(note);
        } else if stem == today {
            sorted.today = Some(note);
        } else if is_day(&stem) {
            sorted.days.push(note);
        } else {
            sorted.notes.push(note);
        }
    }
    sorted.days.sort_by(|one, other| one.path.cmp(&other.path));
    sorted
}

/// Returns whether a note is named like a day.
fn is_day(stem: &str) -> bool {
    let shape = |(place, byte): (usize, u8)| if matches!(place, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    stem.len() == 10 && stem.bytes().enumerate().all(shape)
}

impl SortedNotes {
    fn blocks(&self, shown: &mut ShownLabel, surface: Surface) -> Vec<String> {
        let language = surface.language();
        let fullness = |note: &NoteLine| gauge(language, &note.path, note.size);
        let mut blocks = vec![self.notes_block(surface)];
        blocks.push(match &self.today {
            Some(note) => says::today(language, &name::short(&note.path), &fullness(note)),
            None => says::NOTHING_TODAY.in_language(language).into_string(),
        });
        if let Some((newest, fullest)) = self.days.last().zip(self.days.iter().max_by_key(|note| note.size)) {
            let fullest = (&*name::short(&fullest.path), &*fullness(fullest));
            blocks.push(says::days(language, self.days.len(), size(&self.days), &name::short(&newest.path), fullest));
        }
        if !self.outside.is_empty() {
            // The file names derive from untrusted text.
            shown.also(&Label::untrusted(Source::unknown()));
            let line = |note: &NoteLine| says::note(&plain(&name::short(&note.path)), "", &fullness(note));
            let head = says::waiting(self.outside.len(), size(&self.outside), surface);
            blocks.push(listed(surface, head, &self.outside, line));
        }
        blocks
    }

    fn notes_block(&self, surface: Surface) -> String {
        let language = surface.language();
        if self.notes.is_empty() {
            return says::NO_NOTES.in_language(language).into_string();
        }
        let line = |note: &NoteLine| {
            let gauge = gauge(language, &note.path, note.size);
            says::note(&plain(&name::short(&note.path)), &plain(&note.title), &gauge)
        };
        listed(surface, says::notes_head(language, self.notes.len(), size(&self.notes)), &self.notes, line)
    }

    /// Number of files, and their total size.
    fn total(&self) -> (usize, u64) {
        let all = || [&self.notes[..], self.today.as_slice(), &self.days[..], &self.outside[..]];
        (all().iter().map(|some| some.len()).sum(), all().iter().map(|some| size(some)).sum())
    }
}

fn size(notes: &[NoteLine]) -> u64 {
    notes.iter().map(|note| note.size).sum()
}

fn file_json(page: &MemoryFile) -> Value {
    json!({
        "note": name::short(&page.path),
        "path": page.path,
        "size": page.size(),
        "limit": Workspace::size_limit(&page.path),
        "tainted": !page.text.label().is_trusted(),
    })
}

fn note_json(note: &NoteLine) -> Value {
    let at: Timestamp = note.at;
    json!({
        "note": name::short(&note.path),
        "path": note.path,
        "title": note.title,
        "kind": note.kind,
        "size": note.size,
        "limit": Workspace::size_limit(&note.path),
        "changed_at": at.rfc3339(),
        "tainted": !note.trusted,
    })
}

impl UnreadFiles {
    /// Returns each path with its reason in words.
    pub fn in_words(&self, language: Language) -> impl Iterator<Item = (&str, String)> {
        self.files
            .iter()
            .map(move |(path, why)| (name::visible_path(path), reason(*why).in_language(language).into_string()))
    }

    fn of(notes: Vec<UnreadNote>) -> Self {
        let label = join(notes.iter().map(|note| &note.label));
        Self { files: notes.into_iter().map(|note| (note.path, note.why)).collect(), label }
    }

    /// One line per file; `None` without any.
    fn block(&self, surface: Surface, shown: &mut ShownLabel) -> Option<String> {
        shown.also(&self.label);
        let language = surface.language();
        let line =
            |(path, why): &(String, AccessRefusal)| says::unread(language, &plain(&name::short(path)), reason(*why));
        let head = says::UNREAD.in_language(language).into_string();
        (!self.files.is_empty()).then(|| listed(surface, head, &self.files, line))
    }
}

fn unread_json(path: &str, why: AccessRefusal) -> Value {
    json!({ "note": name::short(path), "path": path, "why": &*reason(why).in_language(Language::ENGLISH) })
}

/// The reason in words.
pub fn reason(why: AccessRefusal) -> Sentence {
    match why {
        AccessRefusal::NoText => says::NOT_TEXT,
        AccessRefusal::TooLarge => says::TOO_LARGE,
        AccessRefusal::BadPath | AccessRefusal::Missing | AccessRefusal::Elsewhere => says::NOT_OPENED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(path: &str, trusted: bool) -> NoteLine {
        let (title, hook, kind) = Default::default();
        NoteLine { path: path.to_owned(), title, hook, kind, size: 10, at: Timestamp(0), trusted }
    }

    #[test]
    fn files_are_sorted_by_what_they_are() {
        let sorted = sort(
            vec![
                note("memory/MEMORY.md", true),
                note("memory/tea.md", true),
                note("memory/2026-11-21.md", true),
                note("memory/2026-11-20.md", true),
                note("memory/2026-11-2.md", true),
                note("memory/untrusted/tea.md", false),
                note("memory/found.md", false),
            ],
            "2026-11-21",
        );
        let paths = |notes: &[NoteLine]| notes.iter().map(|note| note.path.clone()).collect::<Vec<_>>();
        assert_eq!(paths(&sorted.notes), ["memory/tea.md", "memory/2026-11-2.md"]);
        assert_eq!(sorted.today.as_ref().map(|note| note.path.as_str()), Some("memory/2026-11-21.md"));
        assert_eq!(paths(&sorted.days), ["memory/2026-11-20.md"]);
        assert_eq!(paths(&sorted.outside), ["memory/untrusted/tea.md", "memory/found.md"]);
        assert_eq!(sorted.total(), (6, 60));
    }

    #[test]
    fn a_long_list_says_where_the_rest_is() {
        let notes: Vec<NoteLine> = (0..50).map(|n| note(&format!("memory/n{n}.md"), true)).collect();
        let list = |surface| listed(surface, "head".to_owned(), &notes, |note| note.path.clone());
        let in_chat = list(Surface::Chat(Language::ENGLISH));
        assert_eq!(in_chat.lines().count(), 42);
        assert!(in_chat.ends_with("\n- and 10 more: /files memory"), "{in_chat}");
        assert!(list(Surface::CommandLine).ends_with("\n- and 10 more: `compline files memory`"));
    }
}
