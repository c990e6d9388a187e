//! Files that arrive bit by bit, as a browser sends them.
//!
//! Until it is whole, a file bears a hidden name in the inbox and is locked; one that never becomes
//! whole is deleted, and what a crash leaves behind is overwritten by the next. Then it is stored
//! like any received file: its row is committed before it gets its name.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use sha2::{Digest, Sha256};
use tokio::io::AsyncWriteExt;

use super::path_walk::OpenFolder;
use super::workspace::{Workspace, WorkspaceFiles};
use super::write::Author;
use super::{disk, label, layout, page, stored_files};
use crate::people::Party;
use crate::store::{NewFile, Tx};
use crate::time::Timestamp;
use crate::time::task::lock;
use crate::trust::{Label, Source};

/// Maximum number of files that one inbox receives at once.
const AT_ONCE: usize = 16;
/// Name that a file has for a moment before it has none.
const UNNAMED: &str = ".unnamed.part";
/// Folder of received files.
const INBOX: &str = "inbox";

/// A file that is arriving. Dropping it deletes what has arrived.
pub struct Upload {
    folder: OpenFolder,
    /// Name until it is whole; blank once it has its own.
    part: String,
    file: tokio::fs::File,
    digest: Sha256,
}

impl Upload {
    /// Adds the next bytes.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.digest.update(bytes);
        self.file.write_all(bytes).await
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if !self.part.is_empty() {
            // If it stays, the next upload overwrites it.
            let _ = rustix::fs::unlinkat(&self.folder.fd, &self.part, AtFlags::empty());
        }
    }
}

/// A file that arrived whole.
#[derive(Debug, Clone)]
pub struct StoredUpload {
    /// Path relative to the workspace.
    pub path: String,
    /// SHA-256 of the bytes.
    pub digest: String,
    /// Trust label.
    pub label: Label,
}

impl WorkspaceFiles<'_> {
    /// Begins to receive a file for that person or group; `None` while too many arrive.
    pub async fn begin_upload(&self, who: &Party) -> anyhow::Result<Option<Upload>> {
        let inbox = layout::within(&self.folder_of(who).await?, INBOX);
        self.on_disk(move |workspace| {
            let folder = workspace.0.disk.folder(&inbox)?;
            for number in 1..=AT_ONCE {
                let part = format!(".upload-{number}.part");
                if let Some(file) = open_part(&folder, &part)? {
                    let file = tokio::fs::File::from_std(file);
                    return Ok(Some(Upload { folder, part, file, digest: Sha256::new() }));
                }
            }
            Ok(None)
        })
        .await
    }

    /// Creates a file that loses its name at once, so it is gone when it is closed, also by a
    /// crash.
    pub async fn unnamed_file(&self) -> anyhow::Result<File> {
        let create = |workspace: &Workspace| {
            let root = workspace.0.disk.folder("")?;
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let unlink = || rustix::fs::unlinkat(&root.fd, UNNAMED, AtFlags::empty());
            // A crash may have left the name, and a program that has it open no longer needs it.
            let _ = unlink();
            let file =
                rustix::fs::openat(&root.fd, UNNAMED, flags, Mode::RUSR | Mode::WUSR).map_err(io::Error::from)?;
            let _ = unlink();
            Ok(File::from(file))
        };
        let _writing = self.0.writing.lock().await;
        self.on_disk(create).await
    }

    /// Stores a whole file in the `inbox/` folder of the person or group, as coming from outside.
    /// The same content under the same name, and of the same message, is the same file, unless that
    /// was edited.
    pub async fn finish_upload(
        &self,
        who: &Party,
        mut upload: Upload,
        name_hint: &str,
        message: &str,
        now: Timestamp,
    ) -> anyhow::Result<StoredUpload> {
        upload.file.flush().await?;
        upload.file.sync_all().await?;
        let digest = hex::encode(std::mem::take(&mut upload.digest).finalize());
        // A file that is deleted with its message is no other file.
        let own =
            if message.is_empty() { digest.clone() } else { page::digest(format!("{message} {digest}").as_bytes()) };
        let (hint, content) = (name_hint.to_owned(), digest.clone());
        let writing = Arc::clone(&self.0.writing).lock_owned().await;
        let choose = move |_: &Workspace| Ok((unused_name(&upload.folder, own, &hint, &content)?, upload));
        let ((short, name), mut upload) = self.on_disk(choose).await?;
        let label = Label::untrusted(Source::file(format!("up{short}")));
        let path = layout::within(&upload.folder.real_path, &name);
        let (announced, scope) = (path.clone(), who.scope());
        let stored = StoredUpload { path: path.clone(), digest: digest.clone(), label: label.clone() };
        let announce = move |tx: Tx<'_>| {
            // Folders may have been moved since the upload began.
            anyhow::ensure!(!label::is_elsewhere(*tx, scope, &announced, &announced)?, label::Foreign);
            let (author, cause) = (Author::Program.as_str(), stored_files::RECEIVED);
            let new = NewFile {
                path: &announced,
                digest: &digest,
                label: &label,
                scope,
                author,
                cause,
                content: None,
                at: now,
            };
            tx.file_versions().file_version_of(&new).map(drop)
        };
        self.0.journal.write("announce a file", announce).await?;
        self.on_disk(move |workspace: &Workspace| {
            let _writing = writing;
            rustix::fs::renameat(&upload.folder.fd, &upload.part, &upload.folder.fd, &name).map_err(io::Error::from)?;
            upload.part.clear();
            rustix::fs::fsync(&upload.folder.fd).map_err(io::Error::from)?;
            workspace.touched(&path);
            Ok(())
        })
        .await?;
        lock(&self.0.counts).clear();
        Ok(stored)
    }
}

/// Returns the digits and the name of a file with that content. If another content has the name,
/// as after an edit, it gets the next ones.
fn unused_name(folder: &OpenFolder, mut own: String, hint: &str, content: &str) -> anyhow::Result<(String, String)> {
    loop {
        let short = own.get(..stored_files::GIVEN_DIGITS).unwrap_or_default().to_owned();
        let name = layout::file_name(&short, hint);
        if disk::content_at(folder, &name)?.is_none_or(|present| present == content) {
            return Ok((short, name));
        }
        own = page::digest(own.as_bytes());
    }
}

/// Opens and locks a file that is to arrive, empty; `None` if another one arrives under that name.
fn open_part(folder: &OpenFolder, name: &str) -> io::Result<Option<File>> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(&folder.fd, name, flags, Mode::RUSR | Mode::WUSR)?);
    if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(None);
    }
    // The one before may have been deleted or named just before it was locked.
    let named = rustix::fs::statat(&folder.fd, name, AtFlags::SYMLINK_NOFOLLOW);
    let metadata = file.metadata()?;
    if !metadata.is_file() || !named.is_ok_and(|named| named.st_ino == metadata.ino()) {
        return Ok(None);
    }
    file.set_len(0)?;
    Ok(Some(file))
}
