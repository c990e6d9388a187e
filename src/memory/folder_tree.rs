//! The folders of a party as a tree, of which a page shows a part: the open one with those above
//! it, their neighbours, and then the others from the top on, as many as fit.

use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of folders shown.
const SHOWN: usize = 80;

/// Number and size of files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileTotals {
    /// Number of files.
    pub files: usize,
    /// Size in bytes.
    pub bytes: u64,
}

impl FileTotals {
    /// Adds a file.
    pub(super) fn add(&mut self, bytes: u64) {
        self.files = self.files.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// The folders in a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderTree {
    /// The ones shown, by name.
    pub folders: Vec<FolderNode>,
    /// Number of those not shown.
    pub left_out: usize,
}

/// A folder that holds files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderNode {
    /// Path as its owner sees it.
    pub path: String,
    /// All files below it.
    pub totals: FileTotals,
    /// True for the open folder and those above it.
    pub is_open: bool,
    /// The folders in it.
    pub inside: FolderTree,
}

impl FolderTree {
    /// Returns the tree of those files, with that folder open.
    pub(super) fn of(files: &[(String, u64)], open: &str) -> Self {
        let mut folders: BTreeMap<&str, FileTotals> = BTreeMap::new();
        for (path, size) in files {
            for (end, _) in path.match_indices('/') {
                folders.entry(path.get(..end).unwrap_or_default()).or_default().add(*size);
            }
        }
        let mut ranked: Vec<&str> = folders.keys().copied().collect();
        // A folder never comes before the one that holds it.
        ranked.sort_by_key(|path| {
            let rank = if is_above(path, open) { 0 } else { 1 + usize::from(!is_above(parent(path), open)) };
            (rank, path.matches('/').count(), *path)
        });
        let shown: BTreeSet<&str> = ranked.into_iter().take(SHOWN).collect();
        let mut inside: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        folders.keys().for_each(|path| inside.entry(parent(path)).or_default().push(path));
        Self::within("", &Source { folders, inside, shown, open })
    }

    fn within(folder: &str, source: &Source<'_>) -> Self {
        let all = source.inside.get(folder).map(Vec::as_slice).unwrap_or_default();
        let (shown, rest): (Vec<&str>, Vec<&str>) = all.iter().partition(|path| source.shown.contains(**path));
        let node = |path: &&str| FolderNode {
            path: (*path).to_owned(),
            totals: source.folders.get(path).copied().unwrap_or_default(),
            is_open: is_above(path, source.open),
            inside: Self::within(path, source),
        };
        Self { folders: shown.iter().map(node).collect(), left_out: rest.len() }
    }
}

struct Source<'f> {
    folders: BTreeMap<&'f str, FileTotals>,
    inside: BTreeMap<&'f str, Vec<&'f str>>,
    shown: BTreeSet<&'f str>,
    open: &'f str,
}

/// Returns true for the folder itself and those above it.
fn is_above(path: &str, folder: &str) -> bool {
    path.is_empty() || folder.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(tree: &FolderTree) -> Vec<&str> {
        tree.folders.iter().flat_map(|node| std::iter::once(&*node.path).chain(paths(&node.inside))).collect()
    }

    #[test]
    fn the_open_folder_is_shown_however_many_there_are() {
        let mut files: Vec<(String, u64)> = (0..300).map(|number| (format!("many/{number:03}/a.md"), 2)).collect();
        files.extend([("z/y/x/a.md".to_owned(), 1), ("z/y/w/a.md".to_owned(), 1), ("top.md".to_owned(), 1)]);
        let tree = FolderTree::of(&files, "z/y/x");
        let shown = paths(&tree);
        assert_eq!(shown.len(), SHOWN);
        assert!(["many", "z", "z/y", "z/y/w", "z/y/x"].iter().all(|path| shown.contains(path)), "{shown:?}");
        let [many, z] = tree.folders.as_slice() else { panic!("{tree:?}") };
        assert_eq!((many.totals.files, many.totals.bytes, many.is_open), (300, 600, false));
        assert_eq!((many.inside.folders.len() + many.inside.left_out, tree.left_out), (300, 0));
        assert!(z.is_open && z.inside.folders[0].is_open && z.inside.folders[0].inside.folders[1].is_open);
        assert_eq!(FolderTree::of(&[], "z"), FolderTree::default());
        let closed = FolderTree::of(&files, "");
        assert!(!closed.folders[1].is_open && closed.folders[1].inside.left_out == 1);
    }
}
