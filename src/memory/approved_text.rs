//! Approval of a text from outside by its person: what it becomes, and what it replaces.
//!
//! A pending note, a file in `memory/untrusted/`, becomes a note with an index line, or the value
//! of a key that is known; a file elsewhere becomes trusted where it is. An approval is good for
//! exactly the text that was shown and exactly the text that it was said to replace, both by their
//! digests. In a file elsewhere that text is its lines from outside.

use super::facts::replaced_values;
use super::notes::{ApprovedNote, NoteDraft, Replaced, StoredNote};
use super::workspace::{FileVersions, Notes, WriteError, WriteRefusal, unless_refused};
use super::write::{ChangeOrigin, LabelRule, NewContent};
use super::{layout, note, page};
use crate::people::Party;
use crate::wording::knowledge as says;

impl FileVersions<'_> {
    /// Approves an untrusted text for a person. `digest` is that of the text they were shown,
    /// `replaces` the text that they were told it replaces.
    pub async fn promote(
        &self,
        origin: &ChangeOrigin,
        path: &str,
        digest: &str,
        replaces: Option<&Replaced>,
    ) -> Result<StoredNote, WriteError> {
        let path = layout::normal(path).unwrap_or_else(|| path.to_owned());
        if !origin.label.is_trusted() {
            return Err(WriteRefusal::Untrusted.into());
        }
        if layout::is_inbox(&path) {
            return Err(WriteRefusal::impossible(says::STAYS_RECEIVED).into());
        }
        if layout::is_untrusted(&path) {
            return self.promote_pending_note(origin, ApprovedNote { path: &path, digest, replaces }).await;
        }
        let Some(file) = self.files().readable(&origin.who, &path).await? else {
            return Err(WriteRefusal::impossible(says::NOTHING_THERE).into());
        };
        if page::digest(file.passages.outside(&file.text).as_bytes()) != digest {
            return Err(WriteRefusal::impossible(says::CHANGED_SINCE).into());
        }
        let shown = file.digest;
        let make = move |texts: &[Option<&str>]| match texts.first().copied().flatten() {
            Some(text) if page::digest(text.as_bytes()) == shown => Ok(vec![NewContent::Text(text.to_owned())]),
            Some(_) => Err(WriteRefusal::impossible(says::CHANGED_SINCE)),
            None => Err(WriteRefusal::impossible(says::NOTHING_THERE)),
        };
        let written = self.change_first(origin, &[&path], LabelRule::Whole, make).await?;
        Ok(StoredNote::at(path, written))
    }

    async fn promote_pending_note(
        &self,
        origin: &ChangeOrigin,
        note: ApprovedNote<'_>,
    ) -> Result<StoredNote, WriteError> {
        let Some((draft, now)) = self.pending_note(&origin.who, note.path).await? else {
            return Err(WriteRefusal::impossible(says::NOTHING_THERE).into());
        };
        if now != note.digest {
            return Err(WriteRefusal::impossible(says::CHANGED_SINCE).into());
        }
        self.notes().store_approved(origin, &draft, note).await
    }

    /// Returns what the pending note at that path replaces once it is approved.
    pub async fn replaced_by_pending(&self, who: &Party, path: &str) -> anyhow::Result<Option<Replaced>> {
        let path = layout::normal(path).unwrap_or_else(|| path.to_owned());
        if !layout::is_untrusted(&path) {
            return Ok(None);
        }
        match self.pending_note(who, &path).await? {
            Some((draft, _)) => self.notes().replaced_by(who, &draft).await,
            None => Ok(None),
        }
    }

    /// Returns the pending note at that path, and the digest of its file.
    async fn pending_note(&self, who: &Party, path: &str) -> anyhow::Result<Option<(NoteDraft, String)>> {
        let Some((text, _, digest)) = unless_refused(self.files().read_text(who, path).await)? else {
            return Ok(None);
        };
        let pending = note::read(text.open().0);
        let stem = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".md");
        let title = if pending.name.is_empty() { stem.replace('-', " ") } else { pending.name };
        Ok(Some((NoteDraft { title, content: pending.body, kind: pending.kind }, digest)))
    }
}

impl Notes<'_> {
    /// Stores an approved pending note: a value of a known key where the key is, any other text as
    /// a note. It replaces what its person was told, and nothing else.
    pub(super) async fn store_approved(
        &self,
        origin: &ChangeOrigin,
        draft: &NoteDraft,
        from: ApprovedNote<'_>,
    ) -> Result<StoredNote, WriteError> {
        if self.replaced_by(&origin.who, draft).await?.as_ref() != from.replaces {
            return Err(WriteRefusal::impossible(says::CHANGED_SINCE).into());
        }
        match self.known_key_in(&origin.who, &draft.content).await? {
            Some((key, value)) => self.store_value_from(origin, key, value, Some(from)).await,
            None => self.file_note(origin, draft, Some(from)).await,
        }
    }

    /// Returns the trusted text that a draft replaces once it is stored as the person's own. Lines
    /// of daily notes are no part of it.
    pub async fn replaced_by(&self, who: &Party, draft: &NoteDraft) -> anyhow::Result<Option<Replaced>> {
        match self.known_key_in(who, &draft.content).await? {
            Some((key, value)) => match self.note_of(who, key).await? {
                Some(note) => self.replaced_note(who, &note.draft(value)).await,
                None => Ok(replaced_values(&self.holders(who, key).await?, None, key, value)),
            },
            None => self.replaced_note(who, draft).await,
        }
    }
}
