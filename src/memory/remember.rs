//! Notes: one file each, with exactly one line in the index.
//!
//! The note and the index change together or not at all. When the index gets too long, its lines
//! move to a file for their kind, which has an index line of its own; so the line of a note is
//! searched for in all of these files. Text of a tainted turn goes to a separate file in
//! `memory/untrusted/` instead.

use crate::memory::workspace::Notes;
use std::collections::BTreeMap;

use super::default_files::DefaultFile as First;
use super::note::{self, Note};
use super::workspace::WriteRefusal;
use super::write::{ChangeOrigin, New, WriteResult};
use super::{layout, memory_md, page};
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
    /// `user`, `project`, `simulator`, `preference` or `reference`; any other value counts as
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
}

/// Files of the index, and the data needed to change them.
struct IndexFiles {
    /// Files that hold moved index lines, and those that may get some now.
    folds: Vec<String>,
    /// Kinds of the notes by file; filled only when the index is too long.
    kinds: BTreeMap<String, String>,
    /// Names of all files in `memory/`.
    names: Vec<String>,
}

impl Notes<'_> {
    /// Stores a note with exactly one line in the index of `MEMORY.md`. A note with the same title
    /// is replaced. A text of the form `key: value` corrects the fact known under that key.
    ///
    /// # Errors
    /// The inner error is the reason for a refusal.
    pub async fn remember(
        &self,
        origin: &ChangeOrigin,
        draft: &NoteDraft,
    ) -> anyhow::Result<Result<StoredNote, WriteRefusal>> {
        if draft.title.trim().is_empty() || draft.content.trim().is_empty() {
            return Ok(Err(WriteRefusal::Impossible(says::NO_TITLE.to_owned())));
        }
        if !origin.label.is_trusted() {
            return self.store_pending_note(origin, draft, &note::slug(&draft.title)).await;
        }
        if let Some(kept) = self.store_note_value(origin, draft).await? {
            return Ok(kept);
        }
        self.file_note(origin, draft, None).await
    }

    /// Files a note. A waiting note `from` with that digest is deleted in the same change.
    pub(super) async fn file_note(
        &self,
        origin: &ChangeOrigin,
        draft: &NoteDraft,
        from: Option<(&str, &str)>,
    ) -> anyhow::Result<Result<StoredNote, WriteRefusal>> {
        let shelves = self.index_files(origin).await?;
        let (first, other) = (note::slug(&draft.title), note::other_slug(&draft.title));
        for slug in [first, other] {
            let name = format!("{slug}.md");
            if shelves.names.iter().any(|known| *known != name && known.eq_ignore_ascii_case(&name)) {
                continue;
            }
            let filed = self.file_under(origin, draft, &name, &shelves, from).await?;
            if filed != Err(WriteRefusal::Impossible(says::TAKEN.to_owned())) {
                return Ok(filed);
            }
        }
        Ok(Err(WriteRefusal::Impossible(says::TAKEN.to_owned())))
    }

    async fn file_under(
        &self,
        origin: &ChangeOrigin,
        draft: &NoteDraft,
        name: &str,
        shelves: &IndexFiles,
        from: Option<(&str, &str)>,
    ) -> anyhow::Result<Result<StoredNote, WriteRefusal>> {
        let path = format!("memory/{name}");
        let folds: Vec<String> = shelves.folds.iter().map(|fold| format!("memory/{fold}")).collect();
        let mut paths = vec![path.as_str()];
        paths.extend(folds.iter().map(String::as_str));
        paths.push(MEMORY);
        paths.extend(from.map(|(path, _)| path));
        let made = Note::new(&draft.title, &draft.content, &draft.kind);
        let index = Index { file: name.to_owned(), folds: shelves.folds.clone(), kinds: shelves.kinds.clone() };
        let shown = from.map(|(_, digest)| digest.to_owned());
        let make = move |texts: &[Option<&str>]| {
            let Some((stood, texts)) = texts.split_first() else { return Ok(Vec::new()) };
            let (indexes, waited) = texts.split_at_checked(index.folds.len() + 1).unwrap_or((texts, &[]));
            // An untrusted source chose this title: it must not replace another note.
            if shown.is_some() && stood.is_some() {
                return Err(WriteRefusal::Impossible(says::TAKEN.to_owned()));
            }
            let mut news = vec![replaced(*stood, &made)?];
            news.extend(index.with_line(indexes, &made, indexes.len()));
            for text in waited {
                news.push(deletion_if_unchanged(*text, shown.as_deref())?);
            }
            Ok(news)
        };
        let written = self.versions().change_together(origin, &paths, make).await?;
        Ok(written.and_then(|written| {
            let written = written.into_iter().next().ok_or(WriteRefusal::Elsewhere)?;
            Ok(StoredNote { written, path: path.clone(), redirected: false })
        }))
    }

    /// Deletes a file, and its index line if it is a note.
    ///
    /// # Errors
    /// The inner error is the reason for a refusal.
    pub async fn drop_note(
        &self,
        origin: &ChangeOrigin,
        path: &str,
    ) -> anyhow::Result<Result<WriteResult, WriteRefusal>> {
        let name = layout::normal(path).and_then(|path| Some(path.strip_prefix("memory/")?.to_owned()));
        let Some(name) = name.filter(|name| !name.contains('/') && origin.label.is_trusted()) else {
            return self.versions().change(origin, path, deletion).await;
        };
        let shelves = self.index_files(origin).await?;
        let folds: Vec<String> = shelves.folds.iter().map(|fold| format!("memory/{fold}")).collect();
        let mut paths = vec![path];
        paths.extend(folds.iter().map(String::as_str));
        paths.extend((!name.eq_ignore_ascii_case("MEMORY.md")).then_some(MEMORY));
        let index = Index { file: name, folds: shelves.folds, kinds: BTreeMap::new() };
        let make = move |texts: &[Option<&str>]| {
            let Some((stood, texts)) = texts.split_first() else { return Ok(Vec::new()) };
            let mut news = vec![deletion(*stood)?];
            news.extend(index.without_line(texts));
            Ok(news)
        };
        let written = self.versions().change_together(origin, &paths, make).await?;
        Ok(written.and_then(|written| written.into_iter().next().ok_or(WriteRefusal::Elsewhere)))
    }

    /// Stores text that must not be loaded automatically as a note that awaits its person's
    /// approval.
    pub(super) async fn store_pending_note(
        &self,
        origin: &ChangeOrigin,
        draft: &NoteDraft,
        slug: &str,
    ) -> anyhow::Result<Result<StoredNote, WriteRefusal>> {
        let path = format!("memory/untrusted/{slug}.md");
        let text = note::write(&Note::new(&draft.title, &draft.content, &draft.kind));
        let written = self.versions().change(origin, &path, move |_| Ok(New::Text(text.clone()))).await?;
        Ok(written.map(|written| StoredNote { written, path, redirected: true }))
    }

    /// Stores text that was meant for another file as a waiting note with a unique name.
    ///
    /// # Errors
    /// The inner error is the reason for a refusal.
    pub async fn store_pending_text(
        &self,
        origin: &ChangeOrigin,
        title: &str,
        words: &str,
    ) -> anyhow::Result<Result<StoredNote, WriteRefusal>> {
        let draft = NoteDraft { title: title.to_owned(), content: words.to_owned(), kind: "project".to_owned() };
        let digest = page::digest(words.as_bytes());
        let slug = format!("{}-{}", crate::text::cut_bytes(&note::slug(title), 39), crate::text::cut_bytes(&digest, 8));
        self.store_pending_note(origin, &draft, &slug).await
    }

    /// Adds a line for a memory file to `MEMORY.md`, unless the index already has one.
    pub(super) async fn lead_to(
        &self,
        origin: &ChangeOrigin,
        file: &str,
        title: &str,
        hook: &str,
    ) -> anyhow::Result<Result<(), WriteRefusal>> {
        for fold in self.index_files(origin).await?.folds {
            let lines = self.standing(&origin.who, &format!("memory/{fold}")).await?;
            if lines.is_some_and(|lines| memory_md::leads_in(&lines.text, file)) {
                return Ok(Ok(()));
            }
        }
        let (file, title, hook) = (file.to_owned(), title.to_owned(), hook.to_owned());
        let lined = move |text: Option<&str>| {
            let text = text.map_or_else(|| First::Memory.first_contents(""), str::to_owned);
            Ok(New::Text(memory_md::index_line(&text, &title, &file, &hook)))
        };
        Ok(self.versions().change(origin, MEMORY, lined).await?.map(drop))
    }

    async fn index_files(&self, origin: &ChangeOrigin) -> anyhow::Result<IndexFiles> {
        let at = layout::within(&self.folder_of(&origin.who).await?, "memory");
        self.on_disk(move |disk| {
            let names: Vec<String> = disk.list(&at)?.into_iter().map(|entry| entry.name).collect();
            let mut folds: Vec<String> = names.iter().filter(|name| memory_md::is_fold(name)).cloned().collect();
            let memory = disk
                .standing(&layout::within(&at, "MEMORY.md"), layout::MAX_TEXT_FILE)
                .ok()
                .and_then(|(_, bytes)| bytes);
            let memory = String::from_utf8(memory.unwrap_or_default()).unwrap_or_default();
            let size: usize = memory_md::index_lines(&memory).map(|line| line.len() + 1).sum();
            let mut kinds = BTreeMap::new();
            if size + LINE_MOST > INDEX_MOST {
                for (_, file, _) in memory_md::index_lines(&memory).filter_map(memory_md::note_of) {
                    let bytes =
                        layout::is_plain(file).then(|| disk.read(&layout::within(&at, file), layout::MAX_TEXT_FILE));
                    let text = bytes.and_then(Result::ok).and_then(|bytes| String::from_utf8(bytes).ok());
                    kinds.insert(file.to_owned(), fold_kind(&note::read(&text.unwrap_or_default()).kind));
                }
                folds.extend(note::KINDS.iter().map(|kind| fold_name(kind)));
                folds.sort();
                folds.dedup();
            }
            Ok(IndexFiles { folds, kinds, names })
        })
        .await
    }
}

/// Index change for one note.
struct Index {
    file: String,
    folds: Vec<String>,
    kinds: BTreeMap<String, String>,
}

impl Index {
    /// Returns the changed index files, `MEMORY.md` last, with exactly one line for the note among
    /// them. `memory_at` is the index of `MEMORY.md` among the paths of the change.
    fn with_line(&self, texts: &[Option<&str>], note: &Note, memory_at: usize) -> Vec<New> {
        let Some((memory, folds)) = texts.split_last() else { return Vec::new() };
        let memory = memory.map_or_else(|| First::Memory.first_contents(""), str::to_owned);
        let memory = memory_md::index_line(&memory, &note.name, &self.file, &note.description);
        let fitted = memory_md::fit_index(&memory, INDEX_MOST, |file| self.fold_of(file));
        let mut memory = fitted.text;
        let mut news = Vec::new();
        for (name, stood) in self.folds.iter().zip(folds) {
            let moved = fitted.moved.iter().find(|(kind, _)| fold_name(kind) == *name);
            let text = stood.map(|text| memory_md::drop_index_line(text, &self.file));
            let Some((kind, lines)) = moved else {
                if let Some(left) = text.as_deref().filter(|left| Some(*left) != *stood) {
                    memory = recounted(&memory, name, memory_md::index_lines(left).count());
                }
                news.push(text.map_or(New::Same, New::Text));
                continue;
            };
            let mut text = text.unwrap_or_else(|| format!("# {}\n\n## {}\n", says::more_notes(kind), memory_md::INDEX));
            for line in lines {
                text = memory_md::take_index_line(&text, line);
            }
            let hook = says::more_notes_hook(memory_md::index_lines(&text).count());
            memory = memory_md::index_line(&memory, &says::more_notes(kind), name, &hook);
            news.push(New::Moved(text, memory_at));
        }
        news.push(New::Text(memory));
        news
    }

    /// Returns the kind of the note in that file if lines of that kind can move to a file in this
    /// change. The note being stored stays.
    fn fold_of(&self, file: &str) -> Option<String> {
        let kind = self.kinds.get(file).filter(|_| !file.eq_ignore_ascii_case(&self.file))?;
        self.folds.contains(&fold_name(kind)).then(|| kind.clone())
    }

    /// Returns the changed index files without any line for the note, with updated line counts.
    fn without_line(&self, texts: &[Option<&str>]) -> Vec<New> {
        let without = |text: &Option<&str>| text.map(|text| memory_md::drop_index_line(text, &self.file));
        let mut lines: Vec<Option<String>> = texts.iter().map(without).collect();
        let (folds, memory) = lines.split_at_mut(self.folds.len().min(texts.len()));
        if let Some(Some(memory)) = memory.first_mut() {
            for ((name, text), stood) in self.folds.iter().zip(folds).zip(texts) {
                let Some(text) = text.as_deref().filter(|text| Some(*text) != *stood) else { continue };
                *memory = recounted(memory, name, memory_md::index_lines(text).count());
            }
        }
        lines.into_iter().map(|text| text.map_or(New::Same, New::Text)).collect()
    }
}

/// Updates in `MEMORY.md` the number of lines that the file `fold` holds.
fn recounted(memory: &str, fold: &str, count: usize) -> String {
    let title = memory_md::index_lines(memory).filter_map(memory_md::note_of).find(|(_, file, _)| *file == fold);
    match title.map(|(title, ..)| title.to_owned()) {
        Some(title) => memory_md::index_line(memory, &title, fold, &says::more_notes_hook(count)),
        None => memory.to_owned(),
    }
}

/// Replaces a note, but only by one with the same title.
fn replaced(stood: Option<&str>, made: &Note) -> Result<New, WriteRefusal> {
    let title = |name: &str| crate::text::one_line(name).to_lowercase();
    match stood.map(note::read) {
        Some(old) if title(&old.name) != title(&made.name) => Err(WriteRefusal::Impossible(says::TAKEN.to_owned())),
        _ => Ok(New::Text(note::write(made))),
    }
}

fn deletion(stood: Option<&str>) -> Result<New, WriteRefusal> {
    stood.map(|_| New::Gone).ok_or_else(|| WriteRefusal::Impossible(says::NOTHING_THERE.to_owned()))
}

/// Deletes a file only if its content is the one that was shown.
fn deletion_if_unchanged(stood: Option<&str>, shown: Option<&str>) -> Result<New, WriteRefusal> {
    match stood {
        None => Ok(New::Same),
        Some(text) if shown == Some(page::digest(text.as_bytes()).as_str()) => Ok(New::Gone),
        Some(_) => Err(WriteRefusal::Impossible(says::CHANGED_SINCE.to_owned())),
    }
}

/// Returns the file for moved lines of that kind.
fn fold_name(kind: &str) -> String {
    format!("index-{kind}.md")
}

fn fold_kind(kind: &str) -> String {
    let known = note::KINDS.iter().find(|known| **known == kind);
    (*known.unwrap_or(&"project")).to_owned()
}
