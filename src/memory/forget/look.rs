//! Check of a party's files after an erasure: a file may hold the data, hold a paraphrase, or be
//! unreadable.
//!
//! A file too large to be changed is still searched, so that it is reported for its content and not
//! for its size.

use crate::memory::workspace::WorkspaceErasure;
use crate::store::{ErasureRemainder, ForgettingRow, Forgotten};
use crate::text::needle::ParaphraseMatcher;

use super::is_memory;
use crate::memory::disk;
use crate::memory::owned_files::OwnPath;
use crate::memory::workspace::blocking;

/// Size limit for searched files, in bytes.
const MOST: u64 = 16 * 1024 * 1024;

/// Result of the check of a file.
enum FileMatch {
    Holding,
    Also,
    Unread,
    Without,
}

impl WorkspaceErasure<'_> {
    /// Adds to `left` the files that hold the erased data, with paths as their owner sees them.
    pub async fn scan_files(&self, row: &ForgettingRow, left: &mut ErasureRemainder) -> anyhow::Result<()> {
        let Some(who) = self.party_of(row.scope).await? else { return Ok(()) };
        let is_fact = row.what == Forgotten::Fact && !row.belongs_to_person_erasure();
        let sought = if is_fact { row.needles.sought() } else { ParaphraseMatcher::default() };
        let (tree, files, of) = (self.tree.clone(), self.folders().files_of(&who).await?, row.clone());
        let look = move || {
            Ok(files
                .into_iter()
                .map(|file| (tree.erasure().scan_file(&file, &of, &sought), file.path))
                .collect::<Vec<_>>())
        };
        for (found, path) in blocking(look).await? {
            match found {
                FileMatch::Holding => left.files.push(path),
                FileMatch::Also => left.also.files.push(path),
                FileMatch::Unread => left.unread.push(path),
                FileMatch::Without => {}
            }
        }
        Ok(())
    }

    /// Blocks.
    fn scan_file(&self, file: &OwnPath, row: &ForgettingRow, sought: &ParaphraseMatcher) -> FileMatch {
        let (disk, inside) = self.disk_of(&file.spot);
        // An unreadable file that was renamed for a restored version still counts as memory.
        let is_ours = is_memory(&file.path) || file.path.contains(".md.unreadable");
        let bytes = match disk.read(inside, MOST) {
            Ok(bytes) => bytes,
            Err(error) if disk::is_missing(&error) => return FileMatch::Without,
            // An unreadable file may hold the data.
            Err(_) if is_ours => return FileMatch::Unread,
            Err(_) => return FileMatch::Without,
        };
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) if is_ours => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            Err(_) => return FileMatch::Without,
        };
        match () {
            () if is_memory(&file.path) && row.matches_line(&text) => FileMatch::Holding,
            () if !is_memory(&file.path) && row.needles.are_in(&text) => FileMatch::Holding,
            () if row.needles.are_in(&text) || sought.are_on_a_line(&text) => FileMatch::Also,
            () => FileMatch::Without,
        }
    }
}
