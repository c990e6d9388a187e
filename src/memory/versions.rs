//! What a file of somebody's own folder was before, and where it lies for the hand of its person.

use crate::memory::workspace::FileVersions;
use std::path::PathBuf;

use super::file_access::NotGiven;
use super::workspace::blocking;
use super::write::{ChangeOrigin, New, NotWritten, Written};
use crate::people::Party;
use crate::store::{Db, FileRow};

/// So many versions are looked at.
const VERSIONS: u32 = 200;

impl FileVersions<'_> {
    /// The newest versions of the file at that path of the party's folder, newest first, and the
    /// last trusted one, however old; none if it is no path of theirs.
    pub async fn past(&self, who: &Party, path: &str) -> anyhow::Result<Vec<FileRow>> {
        let Ok(spot) = self.files().real_spot(who, path).await? else { return Ok(Vec::new()) };
        let scope = who.scope();
        let look = move |db: Db<'_>| {
            let mut rows = db.file_versions().file_history(&spot, VERSIONS)?;
            let last = db.file_versions().last_trusted(&spot)?.filter(|last| rows.iter().all(|row| row.id != last.id));
            rows.extend(last);
            Ok(rows)
        };
        let rows = self.0.journal.read(look).await?;
        // Whoever had that folder before them had it under another scope.
        Ok(rows.into_iter().filter(|row| row.scope.equals(scope)).collect())
    }

    /// Where the file at that path of the party's folder lies on the disk, whether it is there or
    /// not. Its folder is made.
    ///
    /// # Errors
    /// If the journal or the disk cannot be used; inside, why the place is not given.
    pub async fn by_hand(&self, who: &Party, path: &str) -> anyhow::Result<Result<PathBuf, NotGiven>> {
        let spot = match self.files().real_spot(who, path).await? {
            Ok(spot) => spot,
            Err(why) => return Ok(Err(why)),
        };
        let tree = self.tree.clone();
        blocking(move || {
            let (disk, inside) = tree.disk_of(&spot);
            disk.folder(inside.rsplit_once('/').map_or("", |(folder, _)| folder))?;
            Ok(Ok(disk.unchecked(inside)))
        })
        .await
    }

    /// Records what a person has made of a file by hand, if they have.
    ///
    /// # Errors
    /// If the journal or the disk cannot be used; inside, why it is not looked at.
    pub async fn take_note_of(&self, origin: &ChangeOrigin, path: &str) -> anyhow::Result<Result<Written, NotWritten>> {
        let written = self.change(origin, path, |_| Ok(New::Same)).await?;
        if let Ok(written) = &written {
            self.touched(&written.path);
        }
        Ok(written)
    }
}
