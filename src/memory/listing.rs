//! Index lines of notes that were put into the folder by hand or as files, with or without front
//! matter. A line that a person removes is not put back, except by `compline doctor --fix`.
//!
//! A line whose note is gone is removed: by a person who deleted or renamed the file, of which they
//! are told once. If a new note has the very content, the file was renamed, and its line stays where
//! it is, with the new name.
//!
//! Before each message the folder of notes is looked at; only if it has changed since the last look
//! are the names in it compared with the index. A line repeats text of its note, and `MEMORY.md` is
//! loaded automatically, so a note with untrusted text gets none.

use std::collections::HashSet;
use std::path::Path;
use std::time::SystemTime;

use super::files::LabelledFile;
use super::note::Note;
use super::notes::MEMORY;
use super::owned_files::OwnPath;
use super::workspace::{Workspace, unless_refused, unless_refused_logged};
use super::write::{Author, ChangeOrigin, NewContent, PersonShare};
use super::{layout, memory_md, note};
use crate::people::Party;
use crate::store::{Db, Node};
use crate::text::charset;
use crate::time::Timestamp;
use crate::time::task::lock;
use crate::trust::Label;

/// Maximum number of lines added at once. Where more notes have none, as after a folder was copied
/// in, they are found by search until `compline doctor --fix` lists them.
const AT_ONCE: usize = 50;
/// Number of versions of the index that are examined.
const EXAMINED: u32 = 24;
/// Cause of a version without the lines of notes that are gone.
pub(super) const UNLISTED: &str = "unlist";

impl Workspace {
    /// Adds index lines for notes that were added since the last look. Does nothing while something
    /// is being forgotten: the index changes before the file of a note goes.
    pub(super) async fn list_new_notes(&self, who: &Party, folder: &str, now: Timestamp) -> anyhow::Result<()> {
        let Ok(_alone) = self.0.erasure.try_lock() else { return Ok(()) };
        let notes = layout::within(folder, "memory");
        let at = notes.clone();
        let Some(NoteNames { changed_at, unlisted, dead }) =
            self.on_disk(move |workspace| workspace.unlisted_names(&at)).await?
        else {
            return Ok(());
        };
        if (1..=AT_ONCE).contains(&dead.len()) {
            self.unlist_dead(who, folder, dead, now).await?;
        }
        if (1..=AT_ONCE).contains(&unlisted) {
            self.list_unknown(who, now).await?;
        }
        lock(&self.0.listed).insert(notes, changed_at);
        Ok(())
    }

    /// Removes the index lines of notes that are gone, or gives them the new name of their note. A
    /// line of a note that never was there stays: its person may write the note later.
    async fn unlist_dead(&self, who: &Party, folder: &str, dead: Vec<String>, now: Timestamp) -> anyhow::Result<()> {
        let at = |name: &str| layout::within(folder, &layout::within("memory", name));
        let gone: Vec<(String, String)> = dead.iter().map(|name| (name.clone(), at(name))).collect();
        let last = move |db: Db<'_>| {
            let mut known = Vec::new();
            for (name, location) in gone {
                let rows = db.file_versions().file_history(&location, 2)?;
                known.extend(rows.into_iter().find(|row| !row.digest.is_empty()).map(|row| (name, row.digest)));
            }
            Ok(known)
        };
        let known: Vec<(String, String)> = self.0.journal.read(last).await?;
        if known.is_empty() {
            return Ok(());
        }
        let files = self.folders().files_of(who).await?;
        let unlisted = self.unlisted(who, &files, AT_ONCE).await?;
        let renamed = |digest: &str| {
            let same = unlisted.iter().find(|(_, found)| found.digest == digest);
            same.map(|(file, _)| name_of(&file.path).to_owned())
        };
        let fates = known.into_iter().map(|(name, digest)| NoteFate { renamed: renamed(&digest), name });
        let (moved, gone): (Vec<NoteFate>, Vec<NoteFate>) = fates.partition(|fate| fate.renamed.is_some());
        let lists = files.iter().filter(|file| holds_lines(&file.path));
        for (file, (cause, fates)) in lists.flat_map(|file| [(file, ("mend", &moved)), (file, (UNLISTED, &gone))]) {
            let (origin, fates) = (by_program(who, cause, now), fates.clone());
            let make = move |text: Option<&str>| {
                let text = text.unwrap_or_default();
                let new = fates.iter().fold(text.to_owned(), |text, fate| match &fate.renamed {
                    Some(new) => memory_md::rename_index_line(&text, &fate.name, new),
                    None => memory_md::remove_index_line(&text, &fate.name),
                });
                Ok(if new == text { NewContent::Unchanged } else { NewContent::Text(new) })
            };
            let message = "Index lines of notes that are gone stay";
            unless_refused_logged(self.versions().change(&origin, &file.path, make).await, message)?;
        }
        for name in moved.iter().filter_map(|fate| fate.renamed.as_deref()) {
            let path = layout::within("memory", name);
            unless_refused(self.versions().take_note_of(&by_program(who, "hand", now), &path).await)?;
        }
        Ok(())
    }

    /// Adds index lines for notes of which no version is recorded, and records them: a line that a
    /// person removes later is not put back. One that the assistant left out when it wrote the file is.
    async fn list_unknown(&self, who: &Party, now: Timestamp) -> anyhow::Result<()> {
        let files = self.folders().files_of(who).await?;
        let unlisted = self.unlisted(who, &files, usize::MAX).await?;
        let locations: Vec<String> = unlisted.iter().map(|(file, _)| file.location.clone()).collect();
        let index = layout::within(&self.folder_of(who).await?, MEMORY);
        let read = move |db: Db<'_>| {
            let left_out = left_out_by_assistant(db, &index)?;
            let is_due = |at: &String| {
                let is_left_out = left_out.contains(&name_of(at).to_lowercase());
                Ok(is_left_out || db.file_versions().last_digest_of(at)?.is_none())
            };
            locations.iter().map(is_due).collect::<anyhow::Result<Vec<bool>>>()
        };
        let is_unknown = self.0.journal.read(read).await?;
        let unknown = unlisted.into_iter().zip(is_unknown).filter(|(_, is_unknown)| *is_unknown);
        let unknown: Vec<_> = unknown.map(|(note, _)| note).collect();
        let paths: Vec<String> = unknown.iter().map(|(file, _)| file.path.clone()).collect();
        self.add_to_index(who, with_paths(unknown), now).await?;
        for path in paths {
            unless_refused(self.versions().take_note_of(&by_program(who, "hand", now), &path).await)?;
        }
        Ok(())
    }

    /// Compares the names in the folder of notes with the index; `None` if the folder has not changed
    /// since the last look. Blocks.
    fn unlisted_names(&self, notes: &str) -> anyhow::Result<Option<NoteNames>> {
        let disk = &self.0.disk;
        let Some(changed_at) = modified(&disk.unchecked(notes)) else { return Ok(None) };
        if lock(&self.0.listed).get(notes) == Some(&changed_at) {
            return Ok(None);
        }
        let mut names = disk.file_names(notes)?;
        names.retain(|name| !layout::is_hidden(name));
        let mut listed: HashSet<String> = HashSet::new();
        for name in names.iter().filter(|name| holds_lines(&layout::within("memory", name))) {
            let bytes = disk.read(&layout::within(notes, name), layout::MAX_TEXT_FILE).unwrap_or_default();
            listed.extend(names_listed_in(&charset::decode(bytes).unwrap_or_default()));
        }
        let is_unlisted =
            |name: &&String| is_listed_note(&layout::within("memory", name)) && !listed.contains(&name.to_lowercase());
        let present: HashSet<String> = names.iter().map(|name| name.to_lowercase()).collect();
        let is_gone = |name: &String| is_listed_note(&layout::within("memory", name)) && !present.contains(name);
        let unlisted = names.iter().filter(is_unlisted).count();
        Ok(Some(NoteNames { changed_at, unlisted, dead: listed.into_iter().filter(is_gone).collect() }))
    }

    /// Returns at most that many notes without a line in `MEMORY.md`, with their content. A line
    /// repeats text of its note, and `MEMORY.md` is loaded automatically; so notes with untrusted
    /// text are left out.
    pub(super) async fn unlisted<'f>(
        &self,
        who: &Party,
        files: &'f [OwnPath],
        most: usize,
    ) -> anyhow::Result<Vec<(&'f OwnPath, LabelledFile)>> {
        let mut listed: HashSet<String> = HashSet::new();
        for file in files.iter().filter(|file| holds_lines(&file.path)) {
            let text = self.folders().words_of(who.scope(), file).await?;
            listed.extend(text.iter().flat_map(|text| names_listed_in(text)));
        }
        let is_listed = |file: &OwnPath| listed.contains(&name_of(&file.path).to_lowercase());
        let mut unlisted = Vec::new();
        for file in files.iter().filter(|file| is_listed_note(&file.path) && !is_listed(file)) {
            if unlisted.len() == most {
                break;
            }
            let Ok(Some(found)) = self.files().readable(who, &file.path).await else { continue };
            if found.label.is_trusted() {
                unlisted.push((file, found));
            }
        }
        Ok(unlisted)
    }

    /// Adds index lines for notes without one, or for the one at that path, and returns their
    /// number.
    pub(super) async fn list_unlisted(&self, who: &Party, path: Option<&str>, now: Timestamp) -> anyhow::Result<usize> {
        let mut files = self.folders().files_of(who).await?;
        files.retain(|file| path.is_none_or(|path| file.path == path) || holds_lines(&file.path));
        let unlisted = self.unlisted(who, &files, AT_ONCE).await?;
        self.add_to_index(who, with_paths(unlisted), now).await
    }

    /// Gives a note that was restored its line, with the words that it has now.
    pub(super) async fn list_again(&self, who: &Party, path: &str, now: Timestamp) -> anyhow::Result<()> {
        if !is_listed_note(path) {
            return Ok(());
        }
        let found = self.files().readable(who, path).await?.filter(|found| found.label.is_trusted());
        self.add_to_index(who, found.map(|found| (path, found)).into_iter().collect(), now).await.map(drop)
    }

    async fn add_to_index(
        &self,
        who: &Party,
        unlisted: Vec<(&str, LabelledFile)>,
        now: Timestamp,
    ) -> anyhow::Result<usize> {
        let (mut notes, mut from, mut label) = (Vec::new(), Vec::new(), Label::neutral());
        for (path, found) in unlisted {
            let (note, name) = (note::read(&found.text), name_of(path).to_owned());
            let (title, hook) = note.title_and_hook(name.trim_end_matches(".md"));
            notes.push((name, Note { name: title, description: hook, ..note }));
            from.extend(found.row.map(Node::File));
            label.absorb(&found.label);
        }
        if notes.is_empty() {
            return Ok(0);
        }
        let origin = ChangeOrigin { label, from, ..by_program(who, "mend", now) };
        self.notes().add_lines(&origin, notes).await
    }
}

/// Returns the names in lower case of the notes whose lines went last when the assistant wrote the
/// index anew.
fn left_out_by_assistant(db: Db<'_>, index: &str) -> anyhow::Result<HashSet<String>> {
    let (mut left_out, mut settled) = (HashSet::new(), HashSet::new());
    let mut after: Option<(bool, HashSet<String>)> = None;
    for row in db.file_versions().file_history(index, EXAMINED)? {
        let content = db.file_versions().file_content(row.id)?.unwrap_or_default();
        let listed: HashSet<String> = names_listed_in(&String::from_utf8_lossy(&content)).collect();
        let gone = after.as_ref().map(|(_, after)| listed.difference(after).cloned().collect::<Vec<_>>());
        let by_assistant = after.is_some_and(|(by_assistant, _)| by_assistant);
        for name in gone.unwrap_or_default() {
            if settled.insert(name.clone()) && by_assistant {
                left_out.insert(name);
            }
        }
        after = Some((row.author == Author::Assistant.as_str() && row.cause == "file", listed));
    }
    Ok(left_out)
}

fn with_paths(unlisted: Vec<(&OwnPath, LabelledFile)>) -> Vec<(&str, LabelledFile)> {
    unlisted.into_iter().map(|(file, found)| (&*file.path, found)).collect()
}

/// Names in the folder of notes, compared with the index.
struct NoteNames {
    /// Time of the last change of the folder.
    changed_at: SystemTime,
    /// Number of notes that are in no index.
    unlisted: usize,
    /// Listed names of which there is no file, in lower case.
    dead: Vec<String>,
}

/// A listed note that is gone.
#[derive(Debug, Clone)]
struct NoteFate {
    name: String,
    /// Its new name, if the file was renamed.
    renamed: Option<String>,
}

/// Returns the origin of a change that the program makes for a person.
fn by_program(who: &Party, cause: &'static str, now: Timestamp) -> ChangeOrigin {
    let (who, label, author) = (who.clone(), Label::neutral(), Author::Program);
    ChangeOrigin { who, label, author, cause, from: Vec::new(), person: PersonShare::default(), now }
}

/// Returns true if the file holds index lines.
fn holds_lines(path: &str) -> bool {
    path == MEMORY
        || path.strip_prefix("memory/").is_some_and(|name| !name.contains('/') && memory_md::is_overflow(name))
}

/// Returns true if the file is a note that needs an index line. Daily notes need none.
fn is_listed_note(path: &str) -> bool {
    let stem =
        path.strip_prefix("memory/").and_then(|name| name.strip_suffix(".md")).filter(|name| !name.contains('/'));
    let line = memory_md::format_index_line("x", name_of(path), "");
    // A name that a link cannot hold would never count as listed.
    let can_be_linked = memory_md::parse_index_line(&line).is_some_and(|(_, file, _)| file == name_of(path));
    can_be_linked && !layout::is_hidden(path) && stem.is_some_and(|stem| stem != "MEMORY" && !memory_md::is_day(stem))
}

/// Returns the time of the last change of a folder; `None` if there is none.
fn modified(folder: &Path) -> Option<SystemTime> {
    std::fs::metadata(folder).and_then(|metadata| metadata.modified()).ok()
}

/// Returns the file names of the index lines of a text, in lower case.
fn names_listed_in(text: &str) -> impl Iterator<Item = String> {
    let lines = memory_md::index_lines(text).filter_map(memory_md::parse_index_line);
    lines.map(|(_, file, _)| file.to_lowercase())
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_of_days_and_files_of_editors_need_no_line() {
        for path in ["memory/tea.md", "memory/2026-11-2.md", "memory/2026-11-xx.md", "memory/a (b).md"] {
            assert!(is_listed_note(path), "{path}");
        }
        for path in ["memory/1) intro.md", "memory/plan (draft.md"] {
            assert!(!is_listed_note(path), "no link can hold {path}");
        }
        for path in ["memory/MEMORY.md", "memory/2026-11-21.md", "memory/untrusted/a.md", "memory/a.txt", "USER.md"]
            .into_iter()
            .chain(["memory/tea (conflicted copy 2026-11-24).md", "memory/tea.sync-conflict-20261124.md"])
        {
            assert!(!is_listed_note(path), "{path}");
        }
    }
}
