//! Notes: one file each, with exactly one line in the index; lines of daily notes; sections of
//! files.
//!
//! The note and the index change together or not at all. When the index gets too long, its lines
//! move to a file for their kind, which has an index line of its own; so the line of a note is
//! searched for in all of these files.
//!
//! An equal line of a daily note is not added twice, and a new value of a known key replaces the
//! old one, also if the key is known as a fact ([`super::facts`]). Text that would break out of its
//! section is refused. Text of a tainted turn that is meant for an automatically loaded file goes
//! to a separate file in `memory/untrusted/` instead.

use std::collections::BTreeMap;

use super::note::{self, Note};
use super::page::DefaultFile;
use super::workspace::{Notes, WorkspaceFiles, WriteError, WriteRefusal, unless_refused_logged};
use super::write::{ChangeOrigin, LabelRule, NewContent, WriteResult};
use super::{layout, memory_md, page, section};
use crate::people::Party;
use crate::text::charset;
use crate::text::{cut_bytes, one_line, shorten};
use crate::trust::Label;
use crate::wording::knowledge as says;

/// Size limit of the index in `MEMORY.md`, in bytes.
const INDEX_MOST: usize = 16 * 1024;
/// Approximate limit of one index line (title, file name and hook), in bytes.
const LINE_MOST: usize = 1024;

/// File that is always loaded.
pub(super) const MEMORY: &str = "memory/MEMORY.md";

/// A note to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteDraft {
    /// Subject in a few words.
    pub title: String,
    /// Text of the note.
    pub content: String,
    /// `user`, `project`, `preference` or `reference`; any other value counts as
    /// `project`.
    pub kind: String,
}

/// A stored note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredNote {
    /// Result of the write.
    pub written: WriteResult,
    /// Path as its owner sees it.
    pub path: String,
    /// True if it went to `memory/untrusted/` because untrusted text contributed to it.
    pub redirected: bool,
    /// The trusted text that it replaced.
    pub instead_of: Option<Replaced>,
}

impl StoredNote {
    /// Returns it with its path in the form that a model sees.
    pub(super) fn for_model(self) -> Self {
        Self { path: self.path.trim_start_matches('/').to_owned(), ..self }
    }

    /// Returns a text that was stored as requested at that path and replaced nothing.
    pub(super) fn at(path: String, written: WriteResult) -> Self {
        Self { written, path, redirected: false, instead_of: None }
    }
}

/// A pending note that its person approves.
#[derive(Debug, Clone, Copy)]
pub(super) struct ApprovedNote<'a> {
    /// Path in `memory/untrusted/`.
    pub path: &'a str,
    /// SHA-256 of the content that the person was shown.
    pub digest: &'a str,
    /// The text that they were told it replaces.
    pub replaces: Option<&'a Replaced>,
}

/// Trusted text that a new one replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// All of it in one line if it is short, else only its name: a part of a line would not be
    /// found when it is to be forgotten.
    pub shown: String,
    /// SHA-256 of it.
    pub digest: String,
    /// Label.
    pub label: Label,
}

impl Replaced {
    /// Returns the text of that name, if it says something else than `new`.
    pub(super) fn by(new: &str, name: &str, old: &str, label: &Label) -> Option<Self> {
        if old.trim() == new.trim() || old.trim().is_empty() {
            return None;
        }
        let (whole, digest) = (one_line(old), page::digest(old.as_bytes()));
        let shown = if whole.chars().count() <= REPLACED { whole } else { shorten(&one_line(name), REPLACED) };
        Some(Self { shown, digest, label: label.clone() })
    }
}

/// Length limit of a replaced text that is told whole, in characters.
const REPLACED: usize = 200;
/// Length limit of a line of a daily note, in characters.
const DAILY_LINE: usize = 2_000;
/// Length limit of the title of a pending text, in characters.
const PENDING_TITLE: usize = 60;

/// Change of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Section {
    /// Adds text at its end.
    Append(String),
    /// Replaces its content.
    Replace(String),
}

/// Files of the index, and the data needed to change them.
#[derive(Clone)]
struct IndexFiles {
    /// Files that hold moved index lines, and those that may get some now.
    overflow: Vec<String>,
    /// Kinds of the notes by file; filled only when the index is too long.
    kinds: BTreeMap<String, String>,
    /// Names of all files in `memory/`.
    names: Vec<String>,
}

impl Notes<'_> {
    /// Stores a note with exactly one line in the index of `MEMORY.md`. A note with the same title
    /// is replaced. A text of the form `key: value` corrects the fact known under that key.
    pub async fn remember(&self, origin: &ChangeOrigin, draft: &NoteDraft) -> Result<StoredNote, WriteError> {
        if draft.title.trim().is_empty() || draft.content.trim().is_empty() {
            return Err(WriteRefusal::impossible(says::NO_TITLE).into());
        }
        if !origin.label.is_trusted() {
            return self.store_pending_note(origin, draft, &note::slug(&draft.title)).await;
        }
        match self.store_note_value(origin, draft).await? {
            Some(stored) => Ok(stored),
            None => self.file_note(origin, draft, None).await,
        }
    }

    /// Files a note. The pending note that was approved as it is deleted in the same change.
    pub(super) async fn file_note(
        &self,
        origin: &ChangeOrigin,
        draft: &NoteDraft,
        from: Option<ApprovedNote<'_>>,
    ) -> Result<StoredNote, WriteError> {
        let index = self.index_files(origin).await?;
        let taken = || WriteRefusal::impossible(says::TAKEN);
        for slug in [note::slug(&draft.title), note::other_slug(&draft.title)] {
            let name = format!("{slug}.md");
            if index.names.iter().any(|known| *known != name && known.eq_ignore_ascii_case(&name)) {
                continue;
            }
            match self.file_under(origin, draft, &name, &index, from).await {
                Err(WriteError::Refused(why)) if why == taken() => {}
                filed => return filed,
            }
        }
        Err(taken().into())
    }

    async fn file_under(
        &self,
        origin: &ChangeOrigin,
        draft: &NoteDraft,
        name: &str,
        index: &IndexFiles,
        from: Option<ApprovedNote<'_>>,
    ) -> Result<StoredNote, WriteError> {
        let path = format!("memory/{name}");
        let replaced = self.replaced_at(&origin.who, &path, draft).await?;
        let overflow = index.overflow_paths();
        let mut paths = vec![path.as_str()];
        paths.extend(overflow.iter().map(String::as_str));
        paths.push(MEMORY);
        paths.extend(from.map(|from| from.path));
        let new_note = Note::new(&draft.title, &draft.content, &draft.kind);
        let (name, index) = (name.to_owned(), index.clone());
        let shown = from.map(|from| from.digest.to_owned());
        let approved = from.map(|from| from.replaces.map(|replaced| replaced.digest.clone()));
        let make = move |texts: &[Option<&str>]| {
            let Some((old, texts)) = texts.split_first() else { return Ok(Vec::new()) };
            let (indexes, pending) = texts.split_at_checked(index.overflow.len() + 1).unwrap_or((texts, &[]));
            // A note is replaced only by one with the same title. An untrusted source chose the
            // title of a pending note: it replaces exactly what its person was told, or nothing.
            if let Some(old) = old.map(note::read) {
                if !note::is_same_title(&old.name, &new_note.name) {
                    return Err(WriteRefusal::impossible(says::TAKEN));
                }
                match &approved {
                    Some(_) if old.body.trim() == new_note.body.trim() => {}
                    Some(None) => return Err(WriteRefusal::impossible(says::TAKEN)),
                    Some(Some(known)) if *known != page::digest(old.body.as_bytes()) => {
                        return Err(WriteRefusal::impossible(says::CHANGED_SINCE));
                    }
                    Some(Some(_)) | None => {}
                }
            }
            let mut new_states = vec![NewContent::Text(note::write(&new_note))];
            new_states.extend(index.with_line(&name, &new_note, indexes));
            for text in pending {
                new_states.push(match text {
                    None => NewContent::Unchanged,
                    Some(text) if shown.as_deref() == Some(&page::digest(text.as_bytes())) => NewContent::Deleted,
                    Some(_) => return Err(WriteRefusal::impossible(says::CHANGED_SINCE)),
                });
            }
            Ok(new_states)
        };
        let written = self.versions().change_first(origin, &paths, LabelRule::ByLine, make).await?;
        Ok(StoredNote { instead_of: replaced, ..StoredNote::at(path, written) })
    }

    /// Returns the text of the trusted note that a draft with the same title replaces.
    pub(super) async fn replaced_note(&self, who: &Party, draft: &NoteDraft) -> anyhow::Result<Option<Replaced>> {
        for slug in [note::slug(&draft.title), note::other_slug(&draft.title)] {
            if let Some(replaced) = self.replaced_at(who, &format!("memory/{slug}.md"), draft).await? {
                return Ok(Some(replaced));
            }
        }
        Ok(None)
    }

    async fn replaced_at(&self, who: &Party, path: &str, draft: &NoteDraft) -> anyhow::Result<Option<Replaced>> {
        let file = self.files().readable(who, path).await?.filter(|file| file.label.is_trusted());
        let Some(file) = file else { return Ok(None) };
        let old = Some(note::read(&file.text)).filter(|old| note::is_same_title(&old.name, &draft.title));
        Ok(old.and_then(|old| Replaced::by(&draft.content, &old.name, &old.body, &file.label)))
    }

    /// Deletes a file, and its index line if it is a note. Its content has the digest `known`.
    pub async fn drop_note(
        &self,
        origin: &ChangeOrigin,
        path: &str,
        known: Option<String>,
    ) -> Result<WriteResult, WriteError> {
        let deletion = move |old: Option<&str>| match old {
            Some(old) if old.trim().is_empty() || known.as_deref() == Some(&page::digest(old.as_bytes())) => {
                Ok(NewContent::Deleted)
            }
            Some(_) => Err(WriteRefusal::impossible(says::READ_BEFORE_WRITING)),
            None => Err(WriteRefusal::impossible(says::NOTHING_THERE)),
        };
        let name = layout::normal(path).and_then(|path| Some(path.strip_prefix("memory/")?.to_owned()));
        let Some(name) = name.filter(|name| !name.contains('/') && origin.label.is_trusted()) else {
            return self.versions().change(origin, path, deletion).await;
        };
        let index = self.index_files(origin).await?;
        let overflow = index.overflow_paths();
        let mut paths = vec![path];
        paths.extend(overflow.iter().map(String::as_str));
        paths.extend((!name.eq_ignore_ascii_case("MEMORY.md")).then_some(MEMORY));
        let make = move |texts: &[Option<&str>]| {
            let Some((old, texts)) = texts.split_first() else { return Ok(Vec::new()) };
            let mut new_states = vec![deletion(*old)?];
            new_states.extend(index.without_line(&name, texts));
            Ok(new_states)
        };
        self.versions().change_first(origin, &paths, LabelRule::ByLine, make).await
    }

    /// Stores text that must not be loaded automatically as a note that awaits its person's
    /// approval.
    async fn store_pending_note(
        &self,
        origin: &ChangeOrigin,
        draft: &NoteDraft,
        slug: &str,
    ) -> Result<StoredNote, WriteError> {
        let path = format!("memory/untrusted/{slug}.md");
        let text = note::write(&Note::new(&draft.title, &draft.content, &draft.kind));
        let written = self.versions().change(origin, &path, move |_| Ok(NewContent::Text(text.clone()))).await?;
        Ok(StoredNote { redirected: true, ..StoredNote::at(path, written) })
    }

    /// Stores text that was meant for another file as a pending note with a unique name.
    pub async fn store_pending_text(
        &self,
        origin: &ChangeOrigin,
        title: &str,
        words: &str,
    ) -> Result<StoredNote, WriteError> {
        let draft = NoteDraft { title: title.to_owned(), content: words.to_owned(), kind: "project".to_owned() };
        let digest = page::digest(words.as_bytes());
        let slug = format!("{}-{}", cut_bytes(&note::slug(title), 39), cut_bytes(&digest, 8));
        self.store_pending_note(origin, &draft, &slug).await
    }

    /// Adds a line for a memory file to `MEMORY.md`, unless the index already has one.
    pub(super) async fn add_to_index(
        &self,
        origin: &ChangeOrigin,
        file: &str,
        title: &str,
        hook: &str,
    ) -> Result<(), WriteError> {
        for overflow in self.index_files(origin).await?.overflow {
            let lines = self.files().readable(&origin.who, &format!("memory/{overflow}")).await?;
            if lines.is_some_and(|lines| memory_md::has_index_line(&lines.text, file)) {
                return Ok(());
            }
        }
        let (file, title, hook) = (file.to_owned(), title.to_owned(), hook.to_owned());
        let with_line = move |text: Option<&str>| {
            let text = text.map_or_else(|| DefaultFile::Memory.first_contents(""), str::to_owned);
            Ok(NewContent::Text(memory_md::put_index_line(&text, memory_md::INDEX, &title, &file, &hook)))
        };
        self.versions().change(origin, MEMORY, with_line).await.map(drop)
    }

    /// Adds the lines of these notes to the index, in one change, and returns their number.
    pub(super) async fn add_lines(&self, origin: &ChangeOrigin, notes: Vec<(String, Note)>) -> anyhow::Result<usize> {
        let index = self.index_files(origin).await?;
        let overflow = index.overflow_paths();
        let Some((first, count)) = notes.first().map(|(name, _)| (format!("memory/{name}"), notes.len())) else {
            return Ok(0);
        };
        let mut paths = vec![first.as_str()];
        paths.extend(overflow.iter().map(String::as_str));
        paths.push(MEMORY);
        let make = move |texts: &[Option<&str>]| {
            let mut new_states = vec![NewContent::Unchanged];
            new_states.extend(index.with_lines(&notes, texts.get(1..).unwrap_or_default()));
            Ok(new_states)
        };
        let added = self.versions().change_first(origin, &paths, LabelRule::ByLine, make).await;
        let message = "Notes that were added by hand are not in the index";
        Ok(unless_refused_logged(added, message)?.map_or(0, |_| count))
    }

    async fn index_files(&self, origin: &ChangeOrigin) -> anyhow::Result<IndexFiles> {
        let at = layout::within(&self.folder_of(&origin.who).await?, "memory");
        self.on_disk(move |workspace| {
            let disk = &workspace.0.disk;
            let names: Vec<String> = disk.list(&at)?.into_iter().map(|entry| entry.name).collect();
            let mut overflow: Vec<String> = names.iter().filter(|name| memory_md::is_overflow(name)).cloned().collect();
            let text_of = |file: &str| {
                let bytes = disk.read(&layout::within(&at, file), layout::MAX_TEXT_FILE).unwrap_or_default();
                charset::decode(bytes).unwrap_or_default()
            };
            let memory = text_of("MEMORY.md");
            let size: usize = memory_md::index_lines(&memory).map(|line| line.len() + 1).sum();
            let mut kinds = BTreeMap::new();
            if size + LINE_MOST > INDEX_MOST {
                for (_, file, _) in memory_md::index_lines(&memory).filter_map(memory_md::parse_index_line) {
                    let kind = note::read(&text_of(file)).kind;
                    let known = note::KINDS.into_iter().find(|known| *known == kind);
                    kinds.insert(file.to_owned(), known.unwrap_or("project").to_owned());
                }
                overflow.extend(note::KINDS.iter().map(|kind| overflow_name(kind)));
                overflow.sort();
                overflow.dedup();
            }
            Ok(IndexFiles { overflow, kinds, names })
        })
        .await
    }
}

impl WorkspaceFiles<'_> {
    /// Adds a line to the note of the day.
    pub async fn save_today(&self, origin: &ChangeOrigin, text: &str) -> Result<StoredNote, WriteError> {
        let words = shorten(&one_line(text), DAILY_LINE);
        if words.is_empty() {
            return Err(WriteRefusal::impossible(says::NO_CONTENT).into());
        }
        if !origin.label.is_trusted() {
            return self.notes().store_pending_text(origin, &shorten(&words, PENDING_TITLE), &words).await;
        }
        if let Some(stored) = self.notes().store_correction(origin, &words).await? {
            return Ok(stored);
        }
        let zone = self.0.zone;
        let path = DefaultFile::Today.name(&zone.day(origin.now));
        let first = DefaultFile::Today.first_contents(&zone.show_day(origin.now));
        let time = zone.time_of_day(origin.now);
        let today = self.readable(&origin.who, &path).await?.filter(|today| today.label.is_trusted());
        let replaced = today.and_then(|today| replaced_line(&today.text, &words, &today.label));
        let make = move |text: Option<&str>| Ok(with_line(text.unwrap_or(&first), &time, &words));
        let written = self.versions().change(origin, &path, make).await?;
        Ok(StoredNote { instead_of: replaced, ..StoredNote::at(path, written) })
    }

    /// Changes one section of a file; all other bytes stay.
    pub async fn section(
        &self,
        origin: &ChangeOrigin,
        path: &str,
        section: &str,
        change: Section,
    ) -> Result<StoredNote, WriteError> {
        if one_line(section.trim().trim_start_matches('#')).is_empty() {
            return Err(WriteRefusal::impossible(says::NO_SECTION).into());
        }
        let path = layout::normal(path).unwrap_or_else(|| path.to_owned());
        let (day, date) = (self.0.zone.day(origin.now), self.0.zone.show_day(origin.now));
        let default_file = [DefaultFile::Memory, DefaultFile::Today].into_iter().find(|file| file.name(&day) == path);
        let first = default_file.map(|file| file.first_contents(&date)).unwrap_or_default();
        let (name, wanted) = (section.to_owned(), change.clone());
        let make = move |text: Option<&str>| with_section(text.unwrap_or(&first), &name, &wanted);
        match self.versions().change(origin, &path, make).await {
            Err(WriteError::Refused(WriteRefusal::Untrusted)) => {
                let (Section::Append(words) | Section::Replace(words)) = &change;
                let title = shorten(&format!("{}, {path}", one_line(section)), PENDING_TITLE);
                self.notes().store_pending_text(origin, &title, words).await
            }
            written => Ok(StoredNote::at(path, written?)),
        }
    }
}

impl IndexFiles {
    fn overflow_paths(&self) -> Vec<String> {
        self.overflow.iter().map(|file| format!("memory/{file}")).collect()
    }

    /// Returns the changed index files, `MEMORY.md` last, with exactly one line for the note in
    /// that file among them. The file of the note comes before them in the change.
    fn with_line(&self, file: &str, note: &Note, texts: &[Option<&str>]) -> Vec<NewContent> {
        let Some((memory, overflow)) = texts.split_last() else { return Vec::new() };
        let memory = memory.map_or_else(|| DefaultFile::Memory.first_contents(""), str::to_owned);
        let section = index_section(&note.kind);
        let memory = memory_md::put_index_line(&memory, section, &note.name, file, &note.description);
        // Lines of a kind can move only to a file of this change. The line of this note stays.
        let fitted = memory_md::fit_index(&memory, INDEX_MOST, |other| {
            let kind = self.kinds.get(other).filter(|_| !other.eq_ignore_ascii_case(file))?;
            self.overflow.contains(&overflow_name(kind)).then(|| kind.clone())
        });
        let mut memory = fitted.text;
        let mut new_states = Vec::new();
        for (name, old) in self.overflow.iter().zip(overflow) {
            let moved = fitted.moved.iter().find(|(kind, _)| overflow_name(kind) == *name);
            let text = old.map(|text| memory_md::remove_index_line(text, file));
            let Some((kind, lines)) = moved else {
                if let Some(text) = text.as_deref().filter(|text| Some(*text) != *old) {
                    memory = recounted(&memory, name, memory_md::index_lines(text).count());
                }
                new_states.push(text.map_or(NewContent::Unchanged, NewContent::Text));
                continue;
            };
            let mut text = text.unwrap_or_else(|| format!("# {}\n\n## {}\n", says::more_notes(kind), memory_md::INDEX));
            for line in lines {
                text = memory_md::append_index_line(&text, line);
            }
            let hook = says::more_notes_hook(memory_md::index_lines(&text).count());
            memory = memory_md::put_index_line(&memory, memory_md::INDEX, &says::more_notes(kind), name, &hook);
            new_states.push(NewContent::Moved(text, texts.len()));
        }
        new_states.push(NewContent::Text(memory));
        new_states
    }

    /// Returns the changed index files like [`Self::with_line`], for several notes.
    fn with_lines(&self, notes: &[(String, Note)], texts: &[Option<&str>]) -> Vec<NewContent> {
        let mut present: Vec<Option<String>> = texts.iter().map(|text| text.map(str::to_owned)).collect();
        let mut new_states: Vec<NewContent> = texts.iter().map(|_| NewContent::Unchanged).collect();
        for (file, note) in notes {
            let now: Vec<Option<&str>> = present.iter().map(Option::as_deref).collect();
            let changed = self.with_line(file, note, &now);
            for ((state, text), new) in new_states.iter_mut().zip(&mut present).zip(changed) {
                match (&new, &*state) {
                    (NewContent::Unchanged, _) => continue,
                    (NewContent::Text(words), NewContent::Moved(_, from)) => {
                        *text = Some(words.clone());
                        *state = NewContent::Moved(words.clone(), *from);
                        continue;
                    }
                    (NewContent::Text(words) | NewContent::Moved(words, _), _) => *text = Some(words.clone()),
                    (NewContent::Deleted, _) => *text = None,
                }
                *state = new;
            }
        }
        new_states
    }

    /// Returns the changed index files without any line for the note in that file, with updated
    /// line counts.
    fn without_line(&self, file: &str, texts: &[Option<&str>]) -> Vec<NewContent> {
        let without = |text: &Option<&str>| text.map(|text| memory_md::remove_index_line(text, file));
        let mut lines: Vec<Option<String>> = texts.iter().map(without).collect();
        let (overflow, memory) = lines.split_at_mut(self.overflow.len().min(texts.len()));
        if let Some(Some(memory)) = memory.first_mut() {
            for ((name, text), old) in self.overflow.iter().zip(overflow).zip(texts) {
                let Some(text) = text.as_deref().filter(|text| Some(*text) != *old) else { continue };
                *memory = recounted(memory, name, memory_md::index_lines(text).count());
            }
        }
        lines.into_iter().map(|text| text.map_or(NewContent::Unchanged, NewContent::Text)).collect()
    }
}

/// Returns the section of the index for notes of that kind.
fn index_section(kind: &str) -> &'static str {
    if kind == note::PREFERENCE { memory_md::RULES } else { memory_md::INDEX }
}

/// Updates in `MEMORY.md` the number of lines that the overflow file holds.
fn recounted(memory: &str, file: &str, count: usize) -> String {
    let title =
        memory_md::index_lines(memory).filter_map(memory_md::parse_index_line).find(|(_, other, _)| *other == file);
    match title.map(|(title, ..)| title.to_owned()) {
        Some(title) => memory_md::put_index_line(memory, memory_md::INDEX, &title, file, &says::more_notes_hook(count)),
        None => memory.to_owned(),
    }
}

/// Returns the file for moved lines of that kind.
fn overflow_name(kind: &str) -> String {
    format!("index-{kind}.md")
}

/// Adds a line to the note, and removes lines about the same key; an equal line is not added twice.
fn with_line(text: &str, time: &str, words: &str) -> NewContent {
    if text.lines().filter_map(line_text).any(|line| line == *words) {
        return NewContent::Unchanged;
    }
    let mut rest = memory_md::split_key(words).map_or_else(|| text.to_owned(), |(key, _)| without_key(text, key));
    if !rest.is_empty() && !rest.ends_with('\n') {
        rest.push('\n');
    }
    NewContent::Text(format!("{rest}- [{time}] {words}\n"))
}

/// Removes the lines about that key from a daily note.
pub(super) fn without_key(text: &str, key: &str) -> String {
    let is_about = |line: &str| {
        line_text(line)
            .is_some_and(|text| memory_md::split_key(&text).is_some_and(|(old, _)| memory_md::is_same_key(key, old)))
    };
    text.split_inclusive('\n').filter(|line| !is_about(line.trim_end())).collect()
}

/// Returns the value of a line about the same key that the words replace in a daily note.
fn replaced_line(text: &str, words: &str, label: &Label) -> Option<Replaced> {
    let (key, _) = memory_md::split_key(words)?;
    value_of_key(text, key).and_then(|old| Replaced::by(words, key, &format!("{key}: {old}"), label))
}

/// Returns the newest value of that key in a daily note.
pub(super) fn value_of_key(text: &str, key: &str) -> Option<String> {
    let lines = text.lines().rev().filter_map(line_text);
    let mut values = lines.filter_map(|line| {
        let (known, value) = memory_md::split_key(&line)?;
        memory_md::is_same_key(known, key).then(|| value.to_owned())
    });
    values.next()
}

/// Returns the text of a line in a daily note, without its time.
fn line_text(line: &str) -> Option<String> {
    line.strip_prefix("- [").and_then(|line| line.split_once("] ")).map(|(_, text)| one_line(text))
}

/// Returns a file after a change of that section.
///
/// # Errors
/// If the new words would change more of the file than the section.
pub fn with_section(text: &str, name: &str, change: &Section) -> Result<NewContent, WriteRefusal> {
    let new = match change {
        Section::Append(words) if contains(text, name, words) => return Ok(NewContent::Unchanged),
        Section::Append(words) => section::append(text, name, words),
        Section::Replace(words) => section::replace(text, name, words),
    };
    if !section::changes_only(text, &new, name) {
        return Err(WriteRefusal::impossible(says::REACHES_OUT));
    }
    Ok(NewContent::Text(new))
}

/// Returns true if the section already contains the text, line for line.
fn contains(text: &str, name: &str, words: &str) -> bool {
    let trimmed = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    let (own, words) =
        (trimmed(section::read(text, name).unwrap_or_default()), trimmed(words.trim_matches(['\n', '\r'])));
    words.iter().any(|line| !line.is_empty()) && own.windows(words.len().max(1)).any(|lines| lines == words)
}
