//! Listing of a party's own folder, and reading of text files with their labels.
//!
//! Only what really lies in the folder is accessible, wherever a link in it points. Hidden names
//! are left out and, in the root, so are the folders of other parties.

use crate::memory::workspace::WorkspaceFiles;
use std::sync::Arc;

use super::disk::{Disk, FolderEntry};
use super::file_access::AccessRefusal;
use super::workspace::blocking;
use super::{disk, label, layout, memory_md, note, page, section};
use crate::people::Party;
use crate::store::{Db, Node};
use crate::time::Timestamp;
use crate::trust::{Label, Labelled, Scope, Text};

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
pub struct Notes {
    /// Readable notes, by path.
    pub read: Vec<NoteLine>,
    /// Unreadable notes.
    pub unread: Vec<UnreadNote>,
}

/// A file that was read: requested path, real path and content.
struct Read {
    asked: String,
    inside: String,
    words: String,
    digest: String,
}

impl WorkspaceFiles<'_> {
    /// Returns the content of a text file, its journal nodes, and the SHA-256 of its bytes.
    ///
    /// # Errors
    /// The inner error is the reason for a refusal.
    pub async fn read_text(
        &self,
        who: &Party,
        path: &str,
    ) -> anyhow::Result<Result<(Text, Vec<Node>, String), AccessRefusal>> {
        let folder = self.folder_of(who).await?;
        let (tree, path) = (self.tree.clone(), path.trim().to_owned());
        let read = match blocking(move || Ok(tree.files().read_own(&folder, &path))).await? {
            Ok(read) => read,
            Err(why) => return Ok(Err(why)),
        };
        let Read { asked, inside, words, digest } = read;
        let of = digest.clone();
        let scope = who.scope();
        let look = self.0.journal.read(move |db| label::of_file(db, scope, &asked, &inside, &of));
        let Ok((row, label)) = look.await? else { return Ok(Err(AccessRefusal::Elsewhere)) };
        let text = Labelled::new(Arc::from(words), label, who.scope());
        Ok(Ok((text, row.map(Node::File).into_iter().collect(), digest)))
    }

    /// Returns the content of one section of a file; `None` if there is no such section.
    ///
    /// # Errors
    /// The inner error is the reason for a refusal.
    pub async fn read_section(
        &self,
        who: &Party,
        path: &str,
        section: &str,
    ) -> anyhow::Result<Result<Option<(Text, Vec<Node>)>, AccessRefusal>> {
        let read = self.read_text(who, path).await?;
        Ok(read.map(|(text, nodes, _)| {
            let (words, label, scope) = text.open();
            let part: Arc<str> = Arc::from(section::read(words, section)?.trim_matches(['\n', '\r']));
            Some((Labelled::new(part, label.clone(), scope), nodes))
        }))
    }

    /// Lists a folder by name; an empty path is the party's own folder.
    ///
    /// # Errors
    /// The inner error is the reason for a refusal.
    pub async fn list(&self, who: &Party, path: &str) -> anyhow::Result<Result<Vec<Listed>, AccessRefusal>> {
        let folder = self.folder_of(who).await?;
        let Some(path) = layout::normal(path.trim().trim_end_matches('/')) else {
            return Ok(Err(AccessRefusal::BadPath));
        };
        let (real, entries) = match self.on_disk(move |disk| list(disk, &folder, &path)).await? {
            Ok(listed) => listed,
            Err(why) => return Ok(Err(why)),
        };
        let scope = who.scope();
        let look = move |db: Db<'_>| {
            let named = entries.into_iter().map(|entry| named(db, scope, &real, entry));
            named.filter_map(Result::transpose).collect()
        };
        self.0.journal.read(look).await.map(Ok)
    }

    /// Lists the notes of the memory by path, including daily notes and notes that wait in
    /// `memory/untrusted/`.
    pub async fn list_notes(&self, who: &Party) -> anyhow::Result<Notes> {
        let folder = self.folder_of(who).await?;
        let (tree, at) = (self.tree.clone(), folder.clone());
        let found = blocking(move || Ok(tree.files().all_notes(&at))).await?;
        let scope = who.scope();
        let look = move |db: Db<'_>| {
            let mut notes = Notes::default();
            for FoundNote { path, spot, entry, read } in found {
                match read {
                    Ok(read) => notes.read.extend(line_of(db, scope, path, &entry, &read)?),
                    Err(_) if label::is_foreign(db, scope, &spot, &spot)? => {}
                    Err(why) => {
                        let label = label::of_name(db, &spot)?;
                        notes.unread.push(UnreadNote { path, size: entry.size, why, label });
                    }
                }
            }
            Ok(notes)
        };
        self.0.journal.read_much(look).await
    }

    /// Returns the real location of that path of the party's folder, relative to the workspace.
    /// Nothing need exist there.
    pub(super) async fn real_spot(&self, who: &Party, path: &str) -> anyhow::Result<Result<String, AccessRefusal>> {
        let folder = self.folder_of(who).await?;
        let (tree, path) = (self.tree.clone(), path.to_owned());
        blocking(move || {
            let Some(spot) = layout::spot(&folder, &path) else { return Ok(Err(AccessRefusal::BadPath)) };
            let (disk, inside) = tree.disk_of(&spot);
            let Ok(real) = disk.real(inside) else { return Ok(Err(AccessRefusal::Elsewhere)) };
            let real = layout::spelt(&spot, &real);
            Ok(if layout::own(&folder, &real).is_some() { Ok(real) } else { Err(AccessRefusal::Elsewhere) })
        })
        .await
    }

    /// Blocks.
    fn read_own(&self, folder: &str, path: &str) -> Result<Read, AccessRefusal> {
        let asked = layout::spot(folder, path).ok_or(AccessRefusal::BadPath)?;
        let (disk, inside) = self.disk_of(&asked);
        let found = disk.find(inside).map_err(|error| AccessRefusal::of(&error))?;
        let inside = layout::spelt(&asked, &found.inside());
        layout::own(folder, &inside).ok_or(AccessRefusal::Elsewhere)?;
        let file = disk::open(&found).map_err(|_| AccessRefusal::Missing)?;
        let bytes = disk::read_up_to(file, layout::MAX_TEXT_FILE).map_err(|_| AccessRefusal::TooLarge)?;
        let digest = page::digest(&bytes);
        let words = String::from_utf8(bytes).map_err(|_| AccessRefusal::NoText)?;
        Ok(Read { asked, inside, words, digest })
    }

    fn all_notes(&self, folder: &str) -> Vec<FoundNote> {
        let mut notes = Vec::new();
        for at in ["memory", "memory/untrusted"] {
            let (real, entries) = list(&self.0.disk, folder, at).ok().and_then(Result::ok).unwrap_or_default();
            let is_note =
                |entry: &FolderEntry| !entry.folder && entry.name.ends_with(".md") && entry.name != "MEMORY.md";
            for entry in entries.into_iter().filter(is_note) {
                let path = format!("{at}/{}", entry.name);
                let (spot, read) = (layout::within(&real, &entry.name), self.read_own(folder, &path));
                notes.push(FoundNote { path, spot, entry, read });
            }
        }
        notes
    }
}

/// A note that was found, before its label is known.
struct FoundNote {
    path: String,
    spot: String,
    entry: FolderEntry,
    read: Result<Read, AccessRefusal>,
}

/// Returns the list entry of a note; `None` if it was written for another party.
fn line_of(
    db: Db<'_>,
    whose: Scope,
    path: String,
    entry: &FolderEntry,
    read: &Read,
) -> anyhow::Result<Option<NoteLine>> {
    let found = label::of_file(db, whose, &read.asked, &read.inside, &read.digest)?;
    let Ok((_, label)) = found else { return Ok(None) };
    let note = note::read(&read.words);
    let stem = entry.name.trim_end_matches(".md");
    let title = if note.name.is_empty() { stem.to_owned() } else { note.name };
    let hook = if note.description.is_empty() { note::hook(&note.body) } else { note.description };
    let kind = if memory_md::is_day(stem) { "day".to_owned() } else { note.kind };
    Ok(Some(NoteLine { path, title, hook, kind, size: entry.size, at: entry.at, trusted: label.is_trusted() }))
}

/// Returns the real path of a folder, and its entries.
fn list(disk: &Disk, folder: &str, path: &str) -> anyhow::Result<Result<(String, Vec<FolderEntry>), AccessRefusal>> {
    let asked = if path.is_empty() { folder.to_owned() } else { layout::within(folder, path) };
    if layout::is_hidden(path) || !(asked.is_empty() || layout::is_plain(&asked)) {
        return Ok(Err(AccessRefusal::BadPath));
    }
    let real = if asked.is_empty() { Ok(asked) } else { disk.find(&asked).map(|found| found.inside()) };
    let real = match real {
        Ok(real) if real == folder || layout::own(folder, &real).is_some() => real,
        Ok(_) => return Ok(Err(AccessRefusal::Elsewhere)),
        Err(error) => return Ok(Err(AccessRefusal::of(&error))),
    };
    let is_own = |entry: &FolderEntry| layout::own(folder, &layout::within(&real, &entry.name)).is_some();
    let entries = disk.list(&real)?.into_iter().filter(is_own).collect();
    Ok(Ok((real, entries)))
}

/// Adds the label of the name; `None` for a file that was written for another party.
fn named(db: Db<'_>, whose: Scope, folder: &str, entry: FolderEntry) -> anyhow::Result<Option<Listed>> {
    let spot = layout::within(folder, &entry.name);
    if !entry.folder && label::is_foreign(db, whose, &spot, &spot)? {
        return Ok(None);
    }
    let label = if entry.folder { label::of_folder(db, &spot)? } else { label::of_name(db, &spot)? };
    Ok(Some(Listed { name: entry.name, folder: entry.folder, size: entry.size, at: entry.at, label }))
}
