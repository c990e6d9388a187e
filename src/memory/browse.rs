//! Looking through a party's folder: a folder page by page with whose hand each file is, what all
//! files below it take, and a file opened for its owner to see or to take away.
//!
//! A file belongs to the hand that wrote what is there now. For a small file its bytes decide; a
//! larger one counts as its newest version, because a list reads no large files.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek};
use std::sync::Arc;
use std::time::Duration;

use strum::{EnumString, IntoStaticStr};

use super::disk::FolderEntry;
use super::files::{AccessError, AccessRefusal, find_in};
use super::folder_tree::{FileTotals, FolderTree};
use super::path_walk::PathType;
use super::workspace::{FileSizes, Workspace, WorkspaceFiles};
use super::{disk, label, layout, page};
use crate::id::FileId;
use crate::message::file_type;
use crate::people::Party;
use crate::store::Db;
use crate::time::Timestamp;
use crate::time::task::lock;
use crate::trust::{Label, Scope};

/// Size up to which the bytes of a file decide whose hand it is, in bytes.
const SMALL: u64 = 64 * 1024;
/// Time for which a count of files holds while the program changes none.
const COUNT_HOLDS: Duration = Duration::from_secs(10);
/// Number of bytes that tell what kind of picture a file is.
const HEAD: u64 = 16;

/// Totals by name.
type Totals = HashMap<String, FileTotals>;

/// A part of a folder that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderPart {
    /// Order.
    pub order: FileOrder,
    /// Place after which it begins, as [`FolderPage::next`]; blank for the first.
    pub after: String,
    /// Maximum number of items.
    pub limit: usize,
}

/// A file or a subfolder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderItem {
    /// Name without the folder.
    pub name: String,
    /// Path as its owner sees it.
    pub path: String,
    /// True for a folder.
    pub is_folder: bool,
    /// The file itself, or all files below the folder.
    pub totals: FileTotals,
    /// Time of the last modification.
    pub at: Timestamp,
    /// Author of the present content, as the journal names authors; blank for a folder.
    pub author: String,
    /// Cause of the present content; blank for a folder and for an unrecorded change by hand.
    pub cause: String,
    /// Label of the content, and of the name.
    pub label: Label,
}

/// Order of a folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum FileOrder {
    /// By name.
    #[default]
    Name,
    /// Largest first.
    Size,
    /// Last changed first.
    Time,
}

/// A part of a folder, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderPage {
    /// Path of the folder as its owner sees it; blank for all of theirs.
    pub path: String,
    /// The items.
    pub items: Vec<FolderItem>,
    /// Place after which the next page begins, if there is one: a name, after the size or time that
    /// decides the order and a slash.
    pub next: Option<String>,
    /// All files below the folder.
    pub below: FileTotals,
    /// All files of the party.
    pub all: FileTotals,
    /// Time at which they were counted.
    pub counted_at: Timestamp,
    /// The folders of the party.
    pub tree: FolderTree,
}

/// A folder or a file at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Browsed {
    /// A folder.
    Folder(FolderPage),
    /// A file.
    File(FolderItem),
}

/// An open file of a party.
#[derive(Debug)]
pub struct OpenedFile {
    /// The file, at its beginning.
    pub file: File,
    /// Name without the folder.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// MIME type, if its first bytes are those of a picture.
    pub picture: Option<&'static str>,
}

/// Contents of a path, before its labels are known.
struct Look {
    /// Real path of the folder that holds the entries.
    real: String,
    /// The entries, each with the digest of a small file.
    entries: Vec<(FolderEntry, Option<String>)>,
    next: Option<String>,
    is_file: bool,
}

impl WorkspaceFiles<'_> {
    /// Returns the file at that path of the party's folder, or a part of the folder there. A blank
    /// path is the party's own folder.
    pub async fn browse(
        &self,
        who: &Party,
        path: &str,
        part: FolderPart,
        now: Timestamp,
    ) -> Result<Browsed, AccessError> {
        let (folder, scope) = (self.folder_of(who).await?, who.scope());
        let path = layout::normal(path.trim().trim_end_matches('/')).ok_or(AccessRefusal::BadPath)?;
        let (counted_at, all) = self.count(who, now).await?;
        let inside = Arc::new(totals_in(&all, &path));
        let (requested, totals) = (path.clone(), Arc::clone(&inside));
        let look = move |workspace: &Workspace| workspace.files().look(&folder, &requested, &part, &totals);
        let Look { real, entries, next, is_file } = self.on_disk_unless_refused(look).await?;
        let query = move |db: Db<'_>| {
            let items = entries.into_iter().map(|(entry, digest)| item(db, scope, &real, entry, digest));
            items.filter_map(Result::transpose).collect::<anyhow::Result<Vec<_>>>()
        };
        let mut items = self.0.journal.read(query).await?;
        if is_file {
            let file = items.pop().ok_or(AccessRefusal::Elsewhere)?;
            return Ok(Browsed::File(FolderItem { path, ..file }));
        }
        for item in &mut items {
            item.path = layout::within(&path, &item.name);
            if item.is_folder {
                item.totals = inside.get(&item.name).copied().unwrap_or_default();
            }
        }
        let (below, tree) = (sum(inside.values()), FolderTree::of(&all, &path));
        let all = sum(totals_in(&all, "").values());
        Ok(Browsed::Folder(FolderPage { path, items, next, below, all, counted_at, tree }))
    }

    /// Opens the file at that path of the party's folder, of any size.
    pub async fn open_own(&self, who: &Party, path: &str) -> Result<OpenedFile, AccessError> {
        let (folder, scope) = (self.folder_of(who).await?, who.scope());
        let requested = path.trim().to_owned();
        let location = layout::within(&folder, &requested);
        let open = move |workspace: &Workspace| {
            let found = find_in(&workspace.0.disk, &folder, &requested)?.ok_or(AccessRefusal::Missing)?;
            let mut file = disk::open(&found).map_err(|_| AccessRefusal::Missing)?;
            let mut head = Vec::new();
            let read = file.by_ref().take(HEAD).read_to_end(&mut head).and_then(|_| file.rewind());
            let size = read.and_then(|()| Ok(file.metadata()?.len())).map_err(anyhow::Error::from)?;
            let opened = OpenedFile { file, size, name: found.name.clone(), picture: file_type::of_picture(&head) };
            Ok::<_, AccessError>((found.real_path(), opened))
        };
        let (real, opened) = self.on_disk_unless_refused(open).await?;
        let is_foreign = self.0.journal.read(move |db| label::is_foreign(db, scope, &location, &real)).await?;
        if is_foreign { Err(AccessRefusal::Elsewhere.into()) } else { Ok(opened) }
    }

    /// Blocks.
    fn look(&self, folder: &str, path: &str, part: &FolderPart, totals: &Totals) -> Result<Look, AccessError> {
        let disk = &self.0.disk;
        let found = match find_in(disk, folder, path) {
            // Nothing was written for the party yet.
            Err(AccessRefusal::Missing) if path.is_empty() => {
                return Ok(Look { real: String::new(), entries: Vec::new(), next: None, is_file: false });
            }
            found => found?,
        };
        let (real, entries, next, is_file) = match found {
            Some(found) if found.kind == PathType::File => {
                let entry = disk::entry_at(&found.folder, &found.name).ok_or(AccessRefusal::Missing)?;
                (found.folder.real_path, vec![entry], None, true)
            }
            found => {
                let real = found.map(|found| found.real_path()).unwrap_or_default();
                let is_own = |name: &str| layout::own(folder, &layout::within(&real, name)).is_some();
                let (entries, next) = match part.order {
                    FileOrder::Name => disk.list_after(&real, &part.after, part.limit, is_own)?,
                    _ => part.cut(disk.list_after(&real, "", usize::MAX, is_own)?.0, totals),
                };
                (real, entries, next, false)
            }
        };
        let with_digest = |entry: FolderEntry| {
            let is_read = !entry.folder && entry.size <= SMALL;
            let bytes = is_read.then(|| disk.read(&layout::within(&real, &entry.name), SMALL).ok()).flatten();
            (entry, bytes.map(|bytes| page::digest(&bytes)))
        };
        let entries = entries.into_iter().map(with_digest).collect();
        Ok(Look { real, entries, next, is_file })
    }

    /// Returns all files of a party, and when they were counted: within the last seconds, unless
    /// the program changed one.
    pub(super) async fn count(&self, who: &Party, now: Timestamp) -> anyhow::Result<(Timestamp, FileSizes)> {
        let scope = who.scope().encode();
        let counted = lock(&self.0.counts).get(&scope).filter(|(at, _)| now.since(*at) < COUNT_HOLDS).cloned();
        if let Some(counted) = counted {
            return Ok(counted);
        }
        let files = self.folders().files_of(who).await?;
        // Files next to the workspace are in no folder of it.
        let inside = files.into_iter().filter(|file| !file.path.starts_with(layout::EXPERIENCE));
        let files: FileSizes = inside.map(|file| (file.path, file.size)).collect();
        lock(&self.0.counts).insert(scope, (now, Arc::clone(&files)));
        Ok((now, files))
    }
}

impl FolderPart {
    /// Cuts the part out of all entries of a folder. Also returns the place of the last one if
    /// there are more.
    fn cut(&self, mut entries: Vec<FolderEntry>, totals: &Totals) -> (Vec<FolderEntry>, Option<String>) {
        let key = |entry: &FolderEntry| match self.order {
            FileOrder::Name => 0,
            FileOrder::Size if entry.folder => signed(totals.get(&entry.name).map_or(0, |totals| totals.bytes)),
            FileOrder::Size => signed(entry.size),
            FileOrder::Time => entry.at.0,
        };
        entries.sort_by_cached_key(|entry| (Reverse(key(entry)), entry.name.clone()));
        if let Some((last, name)) = self.after.split_once('/')
            && let Ok(last) = last.parse::<i64>()
        {
            entries.retain(|entry| (Reverse(key(entry)), entry.name.as_str()) > (Reverse(last), name));
        }
        let has_more = entries.len() > self.limit;
        entries.truncate(self.limit);
        let next = entries.last().filter(|_| has_more).map(|last| format!("{}/{}", key(last), last.name));
        (entries, next)
    }
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// Returns the totals of each file and folder in a folder, by name.
fn totals_in(files: &[(String, u64)], folder: &str) -> Totals {
    let mut totals = Totals::new();
    for (path, size) in files {
        let inside = if folder.is_empty() {
            Some(&**path)
        } else {
            path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'))
        };
        let Some(inside) = inside else { continue };
        let name = inside.split('/').next().unwrap_or(inside);
        let of = match totals.get_mut(name) {
            Some(of) => of,
            None => totals.entry(name.to_owned()).or_default(),
        };
        of.add(*size);
    }
    totals
}

fn sum<'a>(totals: impl Iterator<Item = &'a FileTotals>) -> FileTotals {
    totals.fold(FileTotals::default(), |sum, one| FileTotals {
        files: sum.files.saturating_add(one.files),
        bytes: sum.bytes.saturating_add(one.bytes),
    })
}

/// Returns an entry with its label and author, without its path; `None` if it was written for
/// another party.
fn item(
    db: Db<'_>,
    scope: Scope,
    real: &str,
    entry: FolderEntry,
    digest: Option<String>,
) -> anyhow::Result<Option<FolderItem>> {
    let FolderEntry { name, folder, size, at } = entry;
    let location = layout::within(real, &name);
    let item = FolderItem {
        name,
        path: String::new(),
        is_folder: folder,
        totals: FileTotals { files: 1, bytes: size },
        at,
        author: String::new(),
        cause: String::new(),
        label: if folder { label::of_folder(db, &location)? } else { label::of_name(db, &location)? },
    };
    if folder {
        return Ok(Some(item));
    }
    if label::is_foreign(db, scope, &location, &location)? {
        return Ok(None);
    }
    let (version, label) = match &digest {
        Some(digest) => {
            let (row, label) = label::of_content(db, &location, &location, digest)?;
            let version = row.map(|row| db.file_versions().file_row(FileId(row))).transpose()?.flatten();
            (version, label)
        }
        None => (db.file_versions().file_history(&location, 1)?.pop(), item.label),
    };
    let (author, cause) = version.map_or_else(|| ("hand".to_owned(), String::new()), |row| (row.author, row.cause));
    Ok(Some(FolderItem { author, cause, label, ..item }))
}
