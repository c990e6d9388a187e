//! Reading and listing of a party's own folder: files that a person wrote, the assistant's notes
//! for them, attachments that they sent.
//!
//! Only what really lies in the folder is accessible, wherever a link in it points. The folder of
//! the root's owner is the root, which contains the folders of all other parties: those are
//! accessible only to their own party, and hidden names to no one.

use std::io::ErrorKind;
use std::sync::Arc;

use anyhow::Context;

use super::disk::{Disk, FolderEntry};
use super::passages::Passages;
use super::path_walk::ResolvedPath;
use super::workspace::{Closed, Workspace, WorkspaceError, WorkspaceFiles};
use super::{disk, label, layout, memory_md, note, page, section};
use crate::id::FileId;
use crate::message::file_type;
use crate::people::{Party, Person};
use crate::store::{Db, Node};
use crate::text::charset;
use crate::time::Timestamp;
use crate::trust::{Label, Labelled, Scope, Text};

/// Maximum size of a note or checklist that is read verbatim, in bytes: more than any skill may
/// have.
const MAX_NOTE: u64 = 64 * 1024;

/// Checklist for the heartbeat, written by its owner.
pub const HEARTBEAT: &str = "HEARTBEAT.md";

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Name without the folder.
    pub name: String,
    /// True for a folder.
    pub folder: bool,
    /// Size in bytes; 0 for a folder.
    pub size: u64,
    /// Time of the last modification.
    pub at: Timestamp,
    /// Label of the name.
    pub label: Label,
    /// Number of its first version, or of the first below the folder.
    pub number: Option<i64>,
}

/// A note in a list for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteLine {
    /// Path as its owner sees it.
    pub path: String,
    /// Title of the note.
    pub title: String,
    /// Summary in one line.
    pub hook: String,
    /// Kind stated by the note.
    pub kind: String,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last modification.
    pub at: Timestamp,
    /// True if its label is trusted.
    pub trusted: bool,
}

/// A note that cannot be displayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadNote {
    /// Path as its owner sees it.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
    /// Reason.
    pub why: AccessRefusal,
    /// Label of the name.
    pub label: Label,
}

/// Notes of a party.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NoteList {
    /// Readable notes, by path.
    pub read: Vec<NoteLine>,
    /// Unreadable notes.
    pub unread: Vec<UnreadNote>,
}

/// A file of a party's own folder that may be sent or shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnFile {
    /// Real path, relative to the workspace.
    pub path: String,
    /// SHA-256 of its bytes.
    pub digest: String,
    /// Size in bytes.
    pub size: u64,
    /// MIME type, if it is a picture.
    pub picture: Option<&'static str>,
    /// Label.
    pub label: Label,
    /// Row of this version, if the program wrote it.
    pub row: Option<i64>,
}

/// The same, before its label is known.
struct FoundFile {
    path: String,
    digest: String,
    size: u64,
    picture: Option<&'static str>,
}

/// Reason for refusing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AccessRefusal {
    /// The path cannot lead into the folder.
    #[error("The path is not a plain one")]
    BadPath,
    /// The file does not exist.
    #[error("There is no such file")]
    Missing,
    /// The file is in another party's folder, or outside the workspace.
    #[error("It lies elsewhere")]
    Elsewhere,
    /// The file is not text.
    #[error("It is no text")]
    NoText,
    /// The file exceeds the requested size limit.
    #[error("It is too large")]
    TooLarge,
}

/// Error of an access to a file.
pub type AccessError = WorkspaceError<AccessRefusal>;

impl From<AccessRefusal> for AccessError {
    fn from(why: AccessRefusal) -> Self {
        Self::Refused(why)
    }
}

impl AccessRefusal {
    /// Classifies a failed path lookup.
    pub(super) fn of(error: &anyhow::Error) -> Self {
        match error.downcast_ref::<std::io::Error>() {
            Some(error) if error.kind() == ErrorKind::NotFound => Self::Missing,
            Some(_) => Self::BadPath,
            None => Self::Elsewhere,
        }
    }
}

/// Content of a text file, its journal nodes, and the SHA-256 of its bytes.
pub type FileText = (Text, Vec<Node>, String);

/// A text file with its label.
pub(super) struct LabelledFile {
    pub(super) text: String,
    pub(super) label: Label,
    pub(super) passages: Passages,
    /// Row of this version, if the program wrote it.
    pub(super) row: Option<i64>,
    pub(super) digest: String,
}

impl LabelledFile {
    fn into_text(self, scope: Scope) -> FileText {
        let Self { text, label, row, digest, .. } = self;
        (Labelled::new(Arc::from(text), label, scope), row.map(Node::File).into_iter().collect(), digest)
    }

    /// The same file, from a line on.
    fn starting_at(mut self, first: usize) -> Self {
        if first > 1 {
            self.label = self.passages.label_of(&[first..=usize::MAX]);
            // A digest tells of all lines.
            if self.label != *self.passages.label() {
                self.digest.clear();
            }
            self.text = crate::text::from_line(&self.text, first).to_owned();
        }
        self
    }
}

/// Content of a file, before its label is known.
struct FileContent {
    /// Requested location.
    requested_path: String,
    /// Real location.
    real_path: String,
    text: String,
    digest: String,
}

impl FileContent {
    fn labelled(self, db: Db<'_>, scope: Scope) -> anyhow::Result<Result<LabelledFile, AccessRefusal>> {
        let Self { requested_path, real_path, text, digest } = self;
        if label::is_foreign(db, scope, &requested_path, &real_path)? {
            return Ok(Err(AccessRefusal::Elsewhere));
        }
        let (row, passages) = label::passages_of(db, &requested_path, &real_path, &digest, &text)?;
        Ok(Ok(LabelledFile { text, label: passages.label().clone(), passages, row, digest }))
    }
}

impl WorkspaceFiles<'_> {
    /// Returns the content of a text file, its journal nodes, and the SHA-256 of its bytes.
    pub async fn read_text(&self, who: &Party, path: &str) -> Result<FileText, AccessError> {
        Ok(self.read_labelled(who, path).await?.into_text(who.scope()))
    }

    /// Returns what [`Self::read_text`] does, of the lines from the one with that number on; without
    /// the digest if other lines have another label.
    pub async fn read_from_line(&self, who: &Party, path: &str, first: usize) -> Result<FileText, AccessError> {
        Ok(self.read_labelled(who, path).await?.starting_at(first).into_text(who.scope()))
    }

    /// Returns the passages of a text file that came from outside, and the SHA-256 of them.
    pub async fn outside_of(&self, who: &Party, path: &str) -> Result<(Text, String), AccessError> {
        let mut file = self.read_labelled(who, path).await?;
        file.text = file.passages.outside(&file.text);
        let digest = page::digest(file.text.as_bytes());
        Ok((file.into_text(who.scope()).0, digest))
    }

    /// Returns what [`Self::read_text`] does for each of those paths, read at once.
    pub async fn read_texts(
        &self,
        who: &Party,
        paths: Vec<String>,
    ) -> anyhow::Result<Vec<Result<FileText, AccessRefusal>>> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let (folder, scope) = (self.folder_of(who).await?, who.scope());
        let read = move |workspace: &Workspace| {
            let files = workspace.files();
            Ok(paths.iter().map(|path| files.read_own(&folder, path.trim())).collect::<Vec<_>>())
        };
        let found = self.on_disk(read).await?;
        let query = move |db: Db<'_>| {
            let texts = found.into_iter().map(|found| match found {
                Ok(content) => Ok(content.labelled(db, scope)?.map(|file| file.into_text(scope))),
                Err(why) => Ok(Err(why)),
            });
            texts.collect()
        };
        self.0.journal.read_much(query).await
    }

    /// Returns the content of a text file with its label.
    pub(super) async fn read_labelled(&self, who: &Party, path: &str) -> Result<LabelledFile, AccessError> {
        let folder = self.folder_of(who).await?;
        let (path, scope) = (path.trim().to_owned(), who.scope());
        let read = move |workspace: &Workspace| workspace.files().read_own(&folder, &path).map_err(AccessError::from);
        let content = self.on_disk_unless_refused(read).await?;
        Ok(self.0.journal.read(move |db| content.labelled(db, scope)).await??)
    }

    /// Returns the text file at that path with its label; `None` if it cannot be read.
    pub(super) async fn readable(&self, who: &Party, path: &str) -> anyhow::Result<Option<LabelledFile>> {
        match self.read_labelled(who, path).await {
            Ok(file) => Ok(Some(file)),
            Err(error) => {
                let why = error.refusal()?;
                if why != AccessRefusal::Missing {
                    tracing::debug!("A file of the memory cannot be read: {why}");
                }
                Ok(None)
            }
        }
    }

    /// Returns the content of one section of a file; `None` if there is no such section.
    pub async fn read_section(
        &self,
        who: &Party,
        path: &str,
        section: &str,
    ) -> Result<Option<(Text, Vec<Node>)>, AccessError> {
        let file = self.read_labelled(who, path).await?;
        let Some(section) = section::lines_of(&file.text, section) else { return Ok(None) };
        let label = file.passages.label_of(&[section.lines]);
        let part = Arc::from(section.text.trim_matches(['\n', '\r']));
        Ok(Some((Labelled::new(part, label, who.scope()), file.row.map(Node::File).into_iter().collect())))
    }

    /// Reads one of a person's notes verbatim, with its row if the program wrote this version. Only
    /// plain Markdown files in the person's `memory/` are notes.
    ///
    /// # Errors
    /// If the file is not a note, is missing, too long or no text, or was written for another
    /// party.
    pub async fn read_note(&self, owner: &Person, path: &str) -> anyhow::Result<(Text, Option<i64>)> {
        anyhow::ensure!(layout::is_note(path), "it is not a Markdown file in memory/");
        let who = Party::One(owner.clone());
        let (scope, requested_path) = (who.scope(), layout::within(&self.folder_of(&who).await?, path));
        let found = self.read_verbatim(scope, requested_path).await?;
        let (bytes, row, label) = found.ok_or_else(|| std::io::Error::from(ErrorKind::NotFound))?;
        let words = charset::decode(bytes).context("it is no text")?;
        Ok((Labelled::new(Arc::from(words), label, scope), row))
    }

    /// Reads an owner's `HEARTBEAT.md` verbatim, with its row if the program wrote this version.
    /// `None` if there is no such file, or if their folder is closed.
    ///
    /// # Errors
    /// If the file is unreadable, too long or no text, or was written for another party.
    pub async fn read_heartbeat(&self, owner: &Person) -> anyhow::Result<Option<(Text, Option<i64>)>> {
        let who = Party::One(owner.clone());
        let folder = match self.folder_of(&who).await {
            Err(error) if error.is::<Closed>() => return Ok(None),
            folder => folder?,
        };
        let found = self.read_verbatim(who.scope(), layout::within(&folder, HEARTBEAT)).await?;
        let Some((bytes, row, label)) = found else { return Ok(None) };
        let words = charset::decode(bytes).context("It is no text")?;
        Ok(Some((Labelled::new(Arc::from(words), label, who.scope()), row)))
    }

    /// Returns the bytes of the file at that location with its row and label; `None` if there is no
    /// such file.
    async fn read_verbatim(
        &self,
        scope: Scope,
        requested_path: String,
    ) -> anyhow::Result<Option<(Vec<u8>, Option<i64>, Label)>> {
        let location = requested_path.clone();
        let read = self.on_disk(move |workspace| workspace.0.disk.read_if_exists(&location, MAX_NOTE));
        let (real_path, Some(bytes)) = read.await? else { return Ok(None) };
        let digest = page::digest(&bytes);
        let found =
            self.0.journal.read(move |db| label::of_file(db, scope, &requested_path, &real_path, &digest)).await?;
        let (row, label) = found.ok_or(label::Foreign)?;
        Ok(Some((bytes, row, label)))
    }

    /// Returns the file at that path inside the folder of that person or group, of at most `max`
    /// bytes, to send or show it.
    pub async fn own_file(&self, who: &Party, path: &str, max: u64) -> Result<OwnFile, AccessError> {
        let (folder, scope) = (self.folder_of(who).await?, who.scope());
        let requested_path = path.trim().to_owned();
        let requested_location = layout::within(&folder, &requested_path);
        let find = move |workspace: &Workspace| {
            sendable(&workspace.0.disk, &folder, &requested_path, max).map_err(AccessError::from)
        };
        let FoundFile { path, digest, size, picture } = self.on_disk_unless_refused(find).await?;
        let (location, of) = (path.clone(), digest.clone());
        let query = move |db: Db<'_>| label::of_file(db, scope, &requested_location, &location, &of);
        let (row, label) = self.0.journal.read(query).await?.ok_or(AccessRefusal::Elsewhere)?;
        Ok(OwnFile { path, digest, size, picture, label, row })
    }

    /// Returns the bytes of a previously chosen picture and its label, if it is unchanged and may
    /// still be read for that party.
    pub async fn chosen_picture(
        &self,
        reader: Scope,
        path: &str,
        digest: &str,
        max: u64,
    ) -> anyhow::Result<Option<(Vec<u8>, Label)>> {
        let Some(bytes) = self.chosen_file(path, digest, max).await? else { return Ok(None) };
        let (path, digest) = (path.to_owned(), digest.to_owned());
        let found = self.0.journal.read(move |db| label::of_file(db, reader, &path, &path, &digest)).await?;
        Ok(found.map(|(_, label)| (bytes, label::of_pixels(label))))
    }

    /// Returns the bytes of a previously chosen file if they are unchanged.
    pub async fn chosen_file(&self, path: &str, digest: &str, max: u64) -> anyhow::Result<Option<Vec<u8>>> {
        let (path, digest) = (path.to_owned(), digest.to_owned());
        let is_same = move |bytes: &Vec<u8>| page::digest(bytes) == digest;
        self.on_disk(move |workspace| Ok(workspace.0.disk.read(&path, max).ok().filter(is_same))).await
    }

    /// Lists a folder by name; an empty path is the party's own folder.
    pub async fn list(&self, who: &Party, path: &str) -> Result<Vec<Listed>, AccessError> {
        let (folder, scope) = (self.folder_of(who).await?, who.scope());
        let path = layout::normal(path.trim().trim_end_matches('/')).ok_or(AccessRefusal::BadPath)?;
        let entries_in = move |workspace: &Workspace| entries_in(&workspace.0.disk, &folder, &path);
        let (real, entries) = self.on_disk_unless_refused(entries_in).await?;
        let query = move |db: Db<'_>| {
            let mut listed = Vec::new();
            for FolderEntry { name, folder, size, at } in entries {
                let location = layout::within(&real, &name);
                // A file that was written for another party is left out.
                if folder || !label::is_foreign(db, scope, &location, &location)? {
                    let (number, label) = label::of_entry(db, &location, folder)?;
                    listed.push(Listed { name, folder, size, at, label, number });
                }
            }
            Ok(listed)
        };
        Ok(self.0.journal.read(query).await?)
    }

    /// Returns the path of the file that a list shows under that number, with or without its folder:
    /// `#12.pdf`, `plans/#12.md`. `None` if the path ends in no number.
    pub async fn numbered(&self, who: &Party, path: &str) -> anyhow::Result<Option<String>> {
        let (_, name) = path.trim_end_matches('/').rsplit_once('/').unwrap_or(("", path));
        let number = name.strip_prefix('#').and_then(|rest| rest.split(['.', '/']).next()?.parse().ok());
        let Some(number) = number.map(FileId) else { return Ok(None) };
        let folder = self.folder_of(who).await?;
        let location = self.0.journal.read(move |db| db.file_versions().path_of(number)).await?;
        Ok(location.and_then(|location: String| layout::own(&folder, &location)))
    }

    /// Lists the notes of the memory by path, including daily notes and notes that wait in
    /// `memory/untrusted/`.
    pub async fn list_notes(&self, who: &Party) -> anyhow::Result<NoteList> {
        let folder = self.folder_of(who).await?;
        let found = self.on_disk(move |workspace| Ok(workspace.files().all_notes(&folder))).await?;
        self.labelled_notes(who.scope(), found).await
    }

    /// Reads the notes at those paths, as far as they exist.
    pub async fn read_notes(&self, who: &Party, paths: Vec<String>) -> anyhow::Result<NoteList> {
        let folder = self.folder_of(who).await?;
        let found = self.on_disk(move |workspace| Ok(found_notes(&workspace.0.disk, &folder, paths))).await?;
        self.labelled_notes(who.scope(), found).await
    }

    async fn labelled_notes(&self, scope: Scope, found: Vec<FoundNote>) -> anyhow::Result<NoteList> {
        let query = move |db: Db<'_>| {
            let mut notes = NoteList::default();
            for FoundNote { path, location, entry, read } in found {
                match read {
                    Ok(FileContent { requested_path, real_path, text, digest }) => {
                        let label = label::of_file(db, scope, &requested_path, &real_path, &digest)?;
                        // A note that was written for another party is left out.
                        let Some((_, label)) = label else { continue };
                        let (note, stem) = (note::read(&text), entry.name.trim_end_matches(".md"));
                        let (title, hook) = note.title_and_hook(stem);
                        let kind = if memory_md::is_day(stem) { "day".to_owned() } else { note.kind };
                        let (size, at, trusted) = (entry.size, entry.at, label.is_trusted());
                        notes.read.push(NoteLine { path, title, hook, kind, size, at, trusted });
                    }
                    Err(_) if label::is_foreign(db, scope, &location, &location)? => {}
                    Err(why) => {
                        let label = label::of_name(db, &location)?;
                        notes.unread.push(UnreadNote { path, size: entry.size, why, label });
                    }
                }
            }
            Ok(notes)
        };
        self.0.journal.read_much(query).await
    }

    /// Returns the real location of that path of the party's folder, relative to the workspace.
    /// Nothing need exist there.
    pub(super) async fn real_location(&self, who: &Party, path: &str) -> Result<String, AccessError> {
        let folder = self.folder_of(who).await?;
        let path = path.to_owned();
        self.on_disk_unless_refused(move |workspace| {
            let location = layout::locate(&folder, &path).ok_or(AccessRefusal::BadPath)?;
            let (disk, disk_path) = workspace.disk_of(&location);
            let real = disk.real(disk_path).map_err(|_| AccessRefusal::Elsewhere)?;
            let real = layout::with_base_of(&location, &real);
            layout::own(&folder, &real).ok_or(AccessRefusal::Elsewhere)?;
            Ok::<_, AccessError>(real)
        })
        .await
    }

    /// Blocks.
    fn read_own(&self, folder: &str, path: &str) -> Result<FileContent, AccessRefusal> {
        let requested_path = layout::locate(folder, path).ok_or(AccessRefusal::BadPath)?;
        let (disk, disk_path) = self.disk_of(&requested_path);
        let found = disk.find(disk_path).map_err(|error| AccessRefusal::of(&error))?;
        let real_path = layout::with_base_of(&requested_path, &found.real_path());
        layout::own(folder, &real_path).ok_or(AccessRefusal::Elsewhere)?;
        read_text(requested_path, real_path, &found)
    }

    /// Blocks.
    fn all_notes(&self, folder: &str) -> Vec<FoundNote> {
        let mut notes = Vec::new();
        for at in ["memory", "memory/untrusted"] {
            let (real, entries) = entries_in(&self.0.disk, folder, at).unwrap_or_default();
            let is_note =
                |entry: &FolderEntry| !entry.folder && entry.name.ends_with(".md") && entry.name != "MEMORY.md";
            for entry in entries.into_iter().filter(is_note) {
                let path = format!("{at}/{}", entry.name);
                let (location, read) = (layout::within(&real, &entry.name), self.read_own(folder, &path));
                notes.push(FoundNote { path, location, entry, read });
            }
        }
        notes
    }
}

/// Reads the notes at those paths, as far as they exist. Blocks.
fn found_notes(disk: &Disk, folder: &str, paths: Vec<String>) -> Vec<FoundNote> {
    let Ok(mut find) = disk.finder() else { return Vec::new() };
    let found = |path: String| {
        let found = find_by(&mut find, folder, &path).ok()??;
        let entry = disk::entry_at(&found.folder, &found.name).filter(|entry| !entry.folder)?;
        let location = found.real_path();
        let requested_path = layout::locate(folder, &path).ok_or(AccessRefusal::BadPath);
        let read = requested_path.and_then(|requested_path| read_text(requested_path, location.clone(), &found));
        Some(FoundNote { path, location, entry, read })
    };
    paths.into_iter().filter_map(found).collect()
}

/// A note that was found, before its label is known.
struct FoundNote {
    path: String,
    location: String,
    entry: FolderEntry,
    read: Result<FileContent, AccessRefusal>,
}

/// Returns the real path of a folder, and its entries.
fn entries_in(disk: &Disk, folder: &str, path: &str) -> Result<(String, Vec<FolderEntry>), AccessError> {
    let real = find_in(disk, folder, path)?.map(|found| found.real_path()).unwrap_or_default();
    let is_own = |entry: &FolderEntry| layout::own(folder, &layout::within(&real, &entry.name)).is_some();
    let entries = disk.list(&real)?.into_iter().filter(is_own).collect();
    Ok((real, entries))
}

/// Resolves a path of the party's folder, which must exist there; `None` for the root of the
/// workspace.
pub(super) fn find_in(disk: &Disk, folder: &str, path: &str) -> Result<Option<ResolvedPath>, AccessRefusal> {
    find_by(|path| disk.find(path), folder, path)
}

/// Like [`find_in`], with that way to find a path on the disk.
fn find_by(
    find: impl FnOnce(&str) -> anyhow::Result<ResolvedPath>,
    folder: &str,
    path: &str,
) -> Result<Option<ResolvedPath>, AccessRefusal> {
    let requested_path = if path.is_empty() { folder.to_owned() } else { layout::within(folder, path) };
    if layout::is_hidden(path) || !(requested_path.is_empty() || layout::is_plain(&requested_path)) {
        return Err(AccessRefusal::BadPath);
    }
    if requested_path.is_empty() {
        return Ok(None);
    }
    let found = find(&requested_path).map_err(|error| AccessRefusal::of(&error))?;
    let real = found.real_path();
    if real != folder && layout::own(folder, &real).is_none() {
        return Err(AccessRefusal::Elsewhere);
    }
    Ok(Some(found))
}

/// Reads a text that was found. Blocks.
fn read_text(requested_path: String, real_path: String, found: &ResolvedPath) -> Result<FileContent, AccessRefusal> {
    let file = disk::open(found).map_err(|_| AccessRefusal::Missing)?;
    let bytes = disk::read_up_to(file, layout::MAX_TEXT_FILE).map_err(|_| AccessRefusal::TooLarge)?;
    let digest = page::digest(&bytes);
    let text = charset::decode(bytes).ok_or(AccessRefusal::NoText)?;
    Ok(FileContent { requested_path, real_path, text, digest })
}

/// Finds a file to be sent, by its real location.
fn sendable(disk: &Disk, folder: &str, requested_path: &str, max: u64) -> Result<FoundFile, AccessRefusal> {
    let path = layout::within(folder, requested_path);
    if !layout::is_plain(&path) || layout::is_hidden(requested_path) {
        return Err(AccessRefusal::BadPath);
    }
    let found = disk.find(&path).map_err(|error| AccessRefusal::of(&error))?;
    layout::own(folder, &found.real_path()).ok_or(AccessRefusal::Elsewhere)?;
    let file = disk::open(&found).map_err(|_| AccessRefusal::Missing)?;
    let size = file.metadata().map_err(|_| AccessRefusal::Missing)?.len();
    if size > max {
        return Err(AccessRefusal::TooLarge);
    }
    let bytes = disk::read_up_to(file, max).map_err(|_| AccessRefusal::TooLarge)?;
    let picture = file_type::of_picture(&bytes);
    Ok(FoundFile { path: found.real_path(), digest: page::digest(&bytes), size, picture })
}
