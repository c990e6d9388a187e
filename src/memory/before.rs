//! State of a file before a change, and edits that a person made since our last version.

use super::disk;
use super::label::{self, Foreign};
use super::path_walk::PathType;
use super::workspace::{WriteRefusal, blocking};
use super::{layout, page};
use crate::memory::workspace::FileVersions;
use crate::store::{Db, NewFile, Tx};
use crate::time::Timestamp;
use crate::trust::{Label, Scope};

/// Content of a file before a change.
#[derive(Debug)]
pub(super) struct Before {
    /// Text; `None` if there is no file.
    pub text: Option<String>,
    /// SHA-256 of the text; empty if there is no file.
    pub digest: String,
    /// Real path, relative to the workspace.
    pub inside: String,
    /// File left next to it by an interrupted change.
    left: Option<String>,
}

/// A version written by hand.
struct ByHand {
    text: Option<String>,
    digest: String,
    label: Label,
}

impl FileVersions<'_> {
    pub(super) async fn before(&self, spot: &str) -> anyhow::Result<Result<Before, WriteRefusal>> {
        let (tree, spot) = (self.tree.clone(), spot.to_owned());
        blocking(move || tree.versions().read_current(&spot)).await
    }

    fn read_current(&self, spot: &str) -> anyhow::Result<Result<Before, WriteRefusal>> {
        let (disk, asked) = self.disk_of(spot);
        let nothing = || Before { text: None, digest: String::new(), inside: spot.to_owned(), left: None };
        let reached = match disk.seek(asked) {
            Ok(reached) => reached,
            Err(error) if disk::is_missing(&error) => return Ok(Ok(nothing())),
            Err(_) => return Ok(Err(WriteRefusal::Elsewhere)),
        };
        let inside = layout::spelt(spot, &reached.inside());
        let left = disk::left_over(&reached.folder, &reached.name, layout::MAX_TEXT_FILE);
        let left = left.and_then(|bytes| String::from_utf8(bytes).ok());
        let bytes = match reached.lies {
            PathType::Nothing => return Ok(Ok(Before { inside, left, ..nothing() })),
            PathType::File => match disk::open(&reached).and_then(|file| disk::read_up_to(file, layout::MAX_TEXT_FILE))
            {
                Ok(bytes) => bytes,
                Err(error) => {
                    tracing::debug!("A file of the workspace cannot be read: {error:#}");
                    return Ok(Err(WriteRefusal::Unreadable(spot.to_owned())));
                }
            },
            PathType::OpenFolder | PathType::Other => return Ok(Err(WriteRefusal::NoText)),
        };
        let digest = page::digest(&bytes);
        let text = String::from_utf8(bytes);
        Ok(text.map(|text| Before { text: Some(text), digest, inside, left }).map_err(|_| WriteRefusal::NoText))
    }

    /// Returns the label of the present content, if it belongs to that party. Records an edit by
    /// hand as a version.
    pub(super) async fn adopt(
        &self,
        spot: &str,
        before: &Before,
        scope: Scope,
        now: Timestamp,
    ) -> anyhow::Result<Result<Label, Foreign>> {
        let (asked, inside, digest) = (spot.to_owned(), before.inside.clone(), before.digest.clone());
        let (text, left) = (before.text.clone(), before.left.clone());
        let look = move |db: Db<'_>| {
            let stands = text.is_some() || left.is_some();
            if label::is_elsewhere(db, scope, &asked, &inside)?
                || stands && label::is_written_for_another(db, scope, &asked, &inside)?
            {
                return Ok(Err(Foreign));
            }
            let label = label::of_content(db, &asked, &inside, &digest)?.1;
            let left = left.map(|text| unrecorded_version(db, &asked, &inside, Some(text))).transpose()?.flatten();
            let newest = db.file_versions().last_digest_of(&inside)?;
            let known = newest.as_deref().unwrap_or_default() == digest;
            let now = (!known).then(|| ByHand { text, digest, label: label.clone() });
            Ok(Ok((label, left.into_iter().chain(now).collect::<Vec<_>>())))
        };
        let (label, versions) = match self.0.journal.read(look).await? {
            Ok(found) => found,
            Err(foreign) => return Ok(Err(foreign)),
        };
        if !versions.is_empty() {
            let inside = before.inside.clone();
            let job =
                move |tx: Tx<'_>| versions.iter().try_for_each(|version| record(tx, &inside, version, scope, now));
            self.0.journal.write("record a change by hand", job).await?;
        }
        Ok(Ok(label))
    }
}

/// Returns the content as a version, if it is not recorded yet.
fn unrecorded_version(db: Db<'_>, asked: &str, inside: &str, text: Option<String>) -> anyhow::Result<Option<ByHand>> {
    let digest = text.as_ref().map(|text| page::digest(text.as_bytes())).unwrap_or_default();
    let (row, label) = label::of_content(db, asked, inside, &digest)?;
    Ok(row.is_none().then_some(ByHand { text, digest, label }))
}

fn record(tx: Tx<'_>, inside: &str, version: &ByHand, scope: Scope, at: Timestamp) -> anyhow::Result<()> {
    let new = NewFile {
        path: inside,
        digest: &version.digest,
        label: &version.label,
        scope,
        author: "hand",
        cause: "hand",
        content: version.text.as_deref().map(str::as_bytes),
        at,
    };
    tx.file_versions().file_version_of(&new).map(drop)
}
