//! Files of somebody's own folder, as they are given out again: what a person wrote, what the
//! assistant noted for them, what they sent.
//!
//! What counts is where a path really leads. The first owner's folder is the root of the tree, in
//! which the folders of everybody else lie: those are nobody's but theirs, and hidden names are
//! nobody's. Nothing here writes, and no word of a file is looked at.

use crate::memory::workspace::WorkspaceFiles;
use std::io::ErrorKind;

use super::{disk, label, layout, page};
use crate::people::Party;

/// A file that may be given out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnFile {
    /// Where it really is, relative to the workspace.
    pub path: String,
    /// SHA-256 of its bytes.
    pub digest: String,
    /// In bytes.
    pub size: u64,
}

/// Why a file is not given out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotGiven {
    /// The path is none that could lead into the folder.
    #[error("The path is not a plain one")]
    BadPath,
    /// There is no such file.
    #[error("There is no such file")]
    Missing,
    /// It lies in somebody else's folder, or outside of the workspace.
    #[error("It lies elsewhere")]
    Elsewhere,
    /// It is no text.
    #[error("It is no text")]
    NoText,
    /// It is larger than asked for.
    #[error("It is too large")]
    TooLarge,
}

impl NotGiven {
    /// Why a path leads to nothing that could be given out.
    pub(super) fn of(error: &anyhow::Error) -> Self {
        match error.downcast_ref::<std::io::Error>() {
            Some(error) if error.kind() == ErrorKind::NotFound => Self::Missing,
            Some(_) => Self::BadPath,
            None => Self::Elsewhere,
        }
    }
}

impl WorkspaceFiles<'_> {
    /// The file at that path inside the folder of that person or group, of at most `max` bytes.
    ///
    /// # Errors
    /// If the journal cannot be read; inside, why the file is not given out.
    pub async fn own_file(&self, who: &Party, path: &str, max: u64) -> anyhow::Result<Result<OwnFile, NotGiven>> {
        let (folder, scope) = (self.folder_of(who).await?, who.scope());
        let asked = path.trim().to_owned();
        let found = match self.on_disk(move |root| Ok(look(root, &folder, &asked, max))).await? {
            Ok(found) => found,
            Err(why) => return Ok(Err(why)),
        };
        let spot = found.path.clone();
        let foreign = self.0.journal.read(move |db| label::is_foreign(db, scope, &spot, &spot)).await?;
        Ok(if foreign { Err(NotGiven::Elsewhere) } else { Ok(found) })
    }

    /// The bytes of a file that was chosen before, if they are still the same.
    ///
    /// # Errors
    /// If the work was abandoned.
    pub async fn chosen_file(&self, path: &str, digest: &str, max: u64) -> anyhow::Result<Option<Vec<u8>>> {
        let (path, digest) = (path.to_owned(), digest.to_owned());
        let read =
            move |root: &disk::Disk| Ok(root.read(&path, max).ok().filter(|bytes| page::digest(bytes) == digest));
        self.on_disk(read).await
    }
}

fn look(root: &disk::Disk, folder: &str, asked: &str, max: u64) -> Result<OwnFile, NotGiven> {
    let path = layout::within(folder, asked);
    if !layout::is_plain(&path) || layout::is_hidden(asked) {
        return Err(NotGiven::BadPath);
    }
    let found = root.find(&path).map_err(|error| NotGiven::of(&error))?;
    layout::own(folder, &found.inside()).ok_or(NotGiven::Elsewhere)?;
    let file = disk::open(&found).map_err(|_| NotGiven::Missing)?;
    let size = file.metadata().map_err(|_| NotGiven::Missing)?.len();
    if size > max {
        return Err(NotGiven::TooLarge);
    }
    let bytes = disk::read_up_to(file, max).map_err(|_| NotGiven::TooLarge)?;
    Ok(OwnFile { path: found.inside(), digest: page::digest(&bytes), size })
}
