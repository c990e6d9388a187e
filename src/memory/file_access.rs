//! Access to files in a party's own folder, to send them: files that a person wrote, the
//! assistant's notes for them, attachments that they sent.
//!
//! The real location of a path counts. The folder of the root's owner is the root, which contains
//! the folders of all other parties: those are accessible only to their own party, and hidden names
//! to no one. Nothing here writes or examines file contents.

use crate::memory::workspace::WorkspaceFiles;
use std::io::ErrorKind;

use super::{disk, label, layout, page};
use crate::people::Party;

/// A file that may be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnFile {
    /// Real path, relative to the workspace.
    pub path: String,
    /// SHA-256 of its bytes.
    pub digest: String,
    /// Size in bytes.
    pub size: u64,
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

impl WorkspaceFiles<'_> {
    /// Returns the file at that path inside the folder of that person or group, of at most `max`
    /// bytes.
    ///
    /// # Errors
    /// The inner error is the reason for a refusal.
    pub async fn own_file(&self, who: &Party, path: &str, max: u64) -> anyhow::Result<Result<OwnFile, AccessRefusal>> {
        let (folder, scope) = (self.folder_of(who).await?, who.scope());
        let asked = path.trim().to_owned();
        let found = match self.on_disk(move |root| Ok(read_file(root, &folder, &asked, max))).await? {
            Ok(found) => found,
            Err(why) => return Ok(Err(why)),
        };
        let spot = found.path.clone();
        let foreign = self.0.journal.read(move |db| label::is_foreign(db, scope, &spot, &spot)).await?;
        Ok(if foreign { Err(AccessRefusal::Elsewhere) } else { Ok(found) })
    }

    /// Returns the bytes of a previously chosen file if they are unchanged.
    pub async fn chosen_file(&self, path: &str, digest: &str, max: u64) -> anyhow::Result<Option<Vec<u8>>> {
        let (path, digest) = (path.to_owned(), digest.to_owned());
        let read =
            move |root: &disk::Disk| Ok(root.read(&path, max).ok().filter(|bytes| page::digest(bytes) == digest));
        self.on_disk(read).await
    }
}

fn read_file(root: &disk::Disk, folder: &str, asked: &str, max: u64) -> Result<OwnFile, AccessRefusal> {
    let path = layout::within(folder, asked);
    if !layout::is_plain(&path) || layout::is_hidden(asked) {
        return Err(AccessRefusal::BadPath);
    }
    let found = root.find(&path).map_err(|error| AccessRefusal::of(&error))?;
    layout::own(folder, &found.inside()).ok_or(AccessRefusal::Elsewhere)?;
    let file = disk::open(&found).map_err(|_| AccessRefusal::Missing)?;
    let size = file.metadata().map_err(|_| AccessRefusal::Missing)?.len();
    if size > max {
        return Err(AccessRefusal::TooLarge);
    }
    let bytes = disk::read_up_to(file, max).map_err(|_| AccessRefusal::TooLarge)?;
    Ok(OwnFile { path: found.inside(), digest: page::digest(&bytes), size })
}
