//! Content of a file before a change, and edits that a person made since our last version.

use super::path_walk::PathType;
use super::workspace::{FileVersions, Workspace, WriteError, WriteRefusal};
use super::{disk, label, layout, page};
use crate::store::{Db, NewFile, Tx};
use crate::time::Timestamp;
use crate::trust::{Label, Scope};

/// Present content of a file.
#[derive(Debug)]
pub(super) struct CurrentFile {
    /// Text; `None` if there is no file.
    pub text: Option<String>,
    /// SHA-256 of the text; empty if there is no file.
    pub digest: String,
    /// Real path, relative to the workspace.
    pub real_path: String,
    /// File left next to it by an interrupted change.
    leftover: Option<String>,
}

/// A version written by hand.
struct ManualEdit {
    text: Option<String>,
    digest: String,
    label: Label,
}

impl FileVersions<'_> {
    /// Reads the present content of the file at that location.
    pub(super) async fn current(&self, location: &str) -> Result<CurrentFile, WriteError> {
        let location = location.to_owned();
        let read = move |workspace: &Workspace| read_current(workspace, &location).map_err(WriteError::from);
        self.on_disk_unless_refused(read).await
    }

    /// Returns the label of the present content, or `None` if it belongs to another party. Records
    /// an edit by hand as a version.
    pub(super) async fn adopt(
        &self,
        location: &str,
        current: &CurrentFile,
        scope: Scope,
        now: Timestamp,
    ) -> anyhow::Result<Option<Label>> {
        let (requested_path, real_path, digest) =
            (location.to_owned(), current.real_path.clone(), current.digest.clone());
        let (text, leftover) = (current.text.clone(), current.leftover.clone());
        let look = move |db: Db<'_>| {
            let exists = text.is_some() || leftover.is_some();
            if label::is_elsewhere(db, scope, &requested_path, &real_path)?
                || exists && label::is_written_for_another(db, scope, &requested_path, &real_path)?
            {
                return Ok(None);
            }
            let mut edits = Vec::new();
            if let Some(text) = leftover {
                let digest = page::digest(text.as_bytes());
                let (row, label) = label::of_content(db, &requested_path, &real_path, &digest)?;
                edits.extend(row.is_none().then_some(ManualEdit { text: Some(text), digest, label }));
            }
            let label = label::of_content(db, &requested_path, &real_path, &digest)?.1;
            if db.file_versions().last_digest_of(&real_path)?.unwrap_or_default() != digest {
                edits.push(ManualEdit { text, digest, label: label.clone() });
            }
            Ok(Some((label, edits)))
        };
        let Some((label, edits)) = self.0.journal.read(look).await? else { return Ok(None) };
        if !edits.is_empty() {
            let real_path = current.real_path.clone();
            let record = move |tx: Tx<'_>| {
                for edit in &edits {
                    let new = NewFile {
                        path: &real_path,
                        digest: &edit.digest,
                        label: &edit.label,
                        scope,
                        author: "hand",
                        cause: "hand",
                        content: edit.text.as_deref().map(str::as_bytes),
                        at: now,
                    };
                    tx.file_versions().file_version_of(&new)?;
                }
                Ok(())
            };
            self.0.journal.write("record a change by hand", record).await?;
        }
        Ok(Some(label))
    }
}

/// Blocks.
fn read_current(workspace: &Workspace, location: &str) -> Result<CurrentFile, WriteRefusal> {
    let (disk, requested_path) = workspace.disk_of(location);
    let nothing = || CurrentFile { text: None, digest: String::new(), real_path: location.to_owned(), leftover: None };
    let reached = match disk.seek(requested_path) {
        Ok(reached) => reached,
        Err(error) if disk::is_missing(&error) => return Ok(nothing()),
        Err(_) => return Err(WriteRefusal::Elsewhere),
    };
    let real_path = layout::with_base_of(location, &reached.real_path());
    let leftover = disk::left_over(&reached.folder, &reached.name, layout::MAX_TEXT_FILE);
    let leftover = leftover.and_then(|bytes| String::from_utf8(bytes).ok());
    let read = match reached.kind {
        PathType::Nothing => return Ok(CurrentFile { real_path, leftover, ..nothing() }),
        PathType::File => disk::open(&reached).and_then(|file| disk::read_up_to(file, layout::MAX_TEXT_FILE)),
        PathType::Folder | PathType::Other => return Err(WriteRefusal::NoText),
    };
    let bytes = read.map_err(|error| {
        tracing::debug!("A file of the workspace cannot be read: {error:#}");
        WriteRefusal::Unreadable(location.to_owned())
    })?;
    let digest = page::digest(&bytes);
    let text = String::from_utf8(bytes).map_err(|_| WriteRefusal::NoText)?;
    Ok(CurrentFile { text: Some(text), digest, real_path, leftover })
}
