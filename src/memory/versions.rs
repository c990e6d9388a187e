//! History of a file, and its location on the disk for editing by hand.

use crate::memory::workspace::FileVersions;
use std::path::PathBuf;

use super::file_access::AccessRefusal;
use super::workspace::WriteRefusal;
use super::workspace::blocking;
use super::write::{ChangeOrigin, New, WriteResult};
use crate::people::Party;
use crate::store::{Db, FileRow};

/// Number of versions read.
const VERSIONS: u32 = 200;

impl FileVersions<'_> {
    /// Returns the newest versions of the file at that path of the party's folder, newest first,
    /// and the last trusted one, however old. Empty if the path is not theirs.
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
        // Versions of a previous owner of the folder have another scope.
        Ok(rows.into_iter().filter(|row| row.scope.equals(scope)).collect())
    }

    /// Returns the location on the disk of that path of the party's folder, and creates its folder.
    /// The file need not exist.
    ///
    /// # Errors
    /// The inner error is the reason for a refusal.
    pub async fn disk_path(&self, who: &Party, path: &str) -> anyhow::Result<Result<PathBuf, AccessRefusal>> {
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

    /// Records an edit that a person made by hand, if there is one.
    ///
    /// # Errors
    /// The inner error is the reason for a refusal.
    pub async fn take_note_of(
        &self,
        origin: &ChangeOrigin,
        path: &str,
    ) -> anyhow::Result<Result<WriteResult, WriteRefusal>> {
        let written = self.change(origin, path, |_| Ok(New::Same)).await?;
        if let Ok(written) = &written {
            self.touched(&written.path);
        }
        Ok(written)
    }
}
