//! Decisions of a person about existing text: approving it, and restoring an earlier version.

use super::note;
use super::remember::{NoteDraft, StoredNote};
use super::workspace::WriteRefusal;
use super::write::{ChangeOrigin, LabelSource, New, WriteResult};
use super::{layout, page};
use crate::id::FileId;
use crate::memory::workspace::FileVersions;
use crate::people::Party;
use crate::store::{Db, FileRow};
use crate::trust::Label;
use crate::wording::knowledge as says;

/// Content of a version (`None` for a deleted file) and its label.
type Version = (Option<String>, Label);

impl FileVersions<'_> {
    /// Approves an untrusted text for a person: a file in `memory/untrusted/` becomes a note with
    /// an index line, a file elsewhere becomes trusted. `digest` is that of the content they were
    /// shown.
    ///
    /// # Errors
    /// The inner error is the reason for a refusal.
    pub async fn promote(
        &self,
        origin: &ChangeOrigin,
        path: &str,
        digest: &str,
    ) -> anyhow::Result<Result<StoredNote, WriteRefusal>> {
        let path = layout::normal(path).unwrap_or_else(|| path.to_owned());
        if !origin.label.is_trusted() {
            return Ok(Err(WriteRefusal::Untrusted));
        }
        if layout::is_inbox(&path) {
            return Ok(Err(WriteRefusal::Impossible(says::STAYS_RECEIVED.to_owned())));
        }
        if layout::is_untrusted(&path) {
            return self.file_what_waited(origin, &path, digest).await;
        }
        let shown = digest.to_owned();
        let make = move |texts: &[Option<&str>]| Ok(vec![same(texts.first().copied().flatten(), &shown)?]);
        let written = self.change_with(origin, &[&path], LabelSource::Whole, make).await?;
        Ok(written.and_then(|written| {
            let written = written.into_iter().next().ok_or(WriteRefusal::Elsewhere)?;
            Ok(StoredNote { written, path: path.clone(), redirected: false })
        }))
    }

    async fn file_what_waited(
        &self,
        origin: &ChangeOrigin,
        path: &str,
        digest: &str,
    ) -> anyhow::Result<Result<StoredNote, WriteRefusal>> {
        let Ok((text, _, now)) = self.files().read_text(&origin.who, path).await? else {
            return Ok(Err(WriteRefusal::Impossible(says::NOTHING_THERE.to_owned())));
        };
        if now != digest {
            return Ok(Err(WriteRefusal::Impossible(says::CHANGED_SINCE.to_owned())));
        }
        let waited = note::read(text.open().0);
        let stem = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".md");
        let title = if waited.name.is_empty() { stem.replace('-', " ") } else { waited.name };
        let draft = NoteDraft { title, content: waited.body, kind: waited.kind };
        self.notes().file_note(origin, &draft, Some((path, digest))).await
    }

    /// Restores an earlier version of a file, with its former label.
    ///
    /// # Errors
    /// The inner error is the reason for a refusal.
    pub async fn restore_version(
        &self,
        origin: &ChangeOrigin,
        path: &str,
        version: FileId,
    ) -> anyhow::Result<Result<WriteResult, WriteRefusal>> {
        let (text, label) = match self.version(&origin.who, path, version).await? {
            Some(version) => version,
            None => return Ok(Err(WriteRefusal::Impossible(says::NO_VERSION.to_owned()))),
        };
        let origin = ChangeOrigin { label, ..origin.clone() };
        let new = text.map_or(New::Gone, New::Text);
        let written = self.change_with(&origin, &[path], LabelSource::Whole, move |_| Ok(vec![new.clone()])).await?;
        Ok(written.and_then(|written| written.into_iter().next().ok_or(WriteRefusal::Elsewhere)))
    }

    /// Returns that version, if it belongs to the file at that path and its content is stored.
    pub(super) async fn version(&self, who: &Party, path: &str, version: FileId) -> anyhow::Result<Option<Version>> {
        let Ok(spot) = self.files().real_spot(who, path).await? else { return Ok(None) };
        let scope = who.scope();
        let look = move |db: Db<'_>| {
            // Versions of a previous owner of the folder have another scope.
            let is_theirs = |row: &FileRow| row.path == spot && row.scope.equals(scope);
            let Some(row) = db.file_versions().file_row(version)?.filter(is_theirs) else { return Ok(None) };
            let content = db.file_versions().file_content(version)?;
            let text = content.and_then(|content| String::from_utf8(content).ok());
            Ok((row.digest.is_empty() || text.is_some()).then_some((text, row.label)))
        };
        self.0.journal.read(look).await
    }
}

/// Keeps the content, if it is what was shown.
fn same(stood: Option<&str>, shown: &str) -> Result<New, WriteRefusal> {
    match stood {
        Some(text) if page::digest(text.as_bytes()) == shown => Ok(New::Text(text.to_owned())),
        Some(_) => Err(WriteRefusal::Impossible(says::CHANGED_SINCE.to_owned())),
        None => Err(WriteRefusal::Impossible(says::NOTHING_THERE.to_owned())),
    }
}
