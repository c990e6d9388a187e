//! Notes that state the value of a key. A note of one sentence does so for the key that its title
//! names, as a line of a list of facts does: a new value of that key becomes the note's text, and
//! no list holds it besides. What a background run takes down replaces only what it was shown whole;
//! to a longer note it is added.

use super::notes::{ApprovedNote, NoteDraft, StoredNote, value_of_key};
use super::page::DefaultFile;
use super::workspace::{Notes, WriteError, unless_refused_logged};
use super::write::ChangeOrigin;
use super::{known, memory_md, note};
use crate::people::Party;
use crate::text::words_in;

/// Maximum number of words of a note that is a bare value, such as a name or a time.
const BARE: usize = 5;
/// Maximum length of a sentence that states a fact, in characters; a longer one is a note.
const SENTENCE: usize = 500;

/// Note about the key that its title names. One of one sentence states the key's value.
pub(super) struct KeyNote {
    title: String,
    kind: String,
    body: String,
}

impl KeyNote {
    /// Returns the note with another value.
    pub(super) fn draft(&self, value: &str) -> NoteDraft {
        NoteDraft { title: self.title.clone(), content: value.to_owned(), kind: self.kind.clone() }
    }

    /// Returns the note with a value from a model that was shown these lines: in its place if one of
    /// them shows the note whole and the value is another form of it, and else below it.
    pub(super) fn draft_by_lines(&self, value: &str, shown: &str) -> NoteDraft {
        let whole = known::note_line(&self.title, self.body.trim());
        if shown.lines().any(|line| line == whole) && self.is_put_right_by(value) {
            return self.draft(value);
        }
        self.draft(&format!("{}\n\n{value}", self.body.trim_end()))
    }

    /// Returns true if a value can be another form of the note: if both are bare values, or if it
    /// keeps half of the words.
    fn is_put_right_by(&self, value: &str) -> bool {
        let (old, new) = (self.value().to_lowercase(), value.to_lowercase());
        let count = words_in(&old).count();
        let kept = words_in(&old).filter(|word| words_in(&new).any(|said| said == *word)).count();
        count.max(words_in(&new).count()) <= BARE || kept * 2 >= count
    }

    /// Returns true if the note states nothing else.
    pub(super) fn is_one_sentence(&self) -> bool {
        is_sentence(self.body.trim())
    }

    /// Returns the value, without the key before it.
    pub(super) fn value(&self) -> String {
        let body = self.body.trim();
        let stated = memory_md::split_key(body).filter(|(key, _)| memory_md::is_same_fact(key, &self.title));
        stated.map_or(body, |(_, value)| value).to_owned()
    }

    /// Returns true if the note holds every word of that value.
    pub(super) fn says(&self, value: &str) -> bool {
        let (body, value) = (self.body.to_lowercase(), value.to_lowercase());
        words_in(&value).all(|word| words_in(&body).any(|said| said == word))
    }
}

impl Notes<'_> {
    /// Stores a value as the text of the note of its key, and removes the key from every list.
    pub(super) async fn store_in_note(
        &self,
        origin: &ChangeOrigin,
        draft: &NoteDraft,
        (key, value): (&str, &str),
        from: Option<ApprovedNote<'_>>,
    ) -> Result<StoredNote, WriteError> {
        let filed = self.file_note(origin, draft, from).await?;
        let holders = self.holders(&origin.who, key).await?;
        let today = DefaultFile::Today.name(&self.0.zone.day(origin.now));
        let daily_note = self.files().readable(&origin.who, &today).await?;
        if !holders.is_empty() || daily_note.is_some_and(|note| value_of_key(&note.text, key).is_some()) {
            let removed = self.set_value(origin, (key, value), None, &holders, None).await;
            unless_refused_logged(removed, "A fact that a note puts right stays where it was")?;
        }
        Ok(filed)
    }

    /// Returns the trusted note of one sentence whose title is that key.
    pub(super) async fn note_of(&self, who: &Party, key: &str) -> anyhow::Result<Option<KeyNote>> {
        Ok(self.note_titled(who, key).await?.filter(KeyNote::is_one_sentence))
    }

    /// Returns the trusted note whose title is that key.
    pub(super) async fn note_titled(&self, who: &Party, key: &str) -> anyhow::Result<Option<KeyNote>> {
        for slug in [note::slug(key), note::other_slug(key)] {
            let file = self.files().readable(who, &format!("memory/{slug}.md")).await?;
            let Some(file) = file.filter(|file| file.label.is_trusted()) else { continue };
            let note = note::read(&file.text);
            if memory_md::is_same_fact(&note.name, key) {
                return Ok(Some(KeyNote { title: note.name, kind: note.kind, body: note.body }));
            }
        }
        Ok(None)
    }

    /// Stores a note that states the value of a known key: by its text `key: value`, or by its
    /// title and one sentence. A note of that title is replaced and the key is removed from all
    /// lists; `None` if the note is to be filed.
    pub(super) async fn store_note_value(
        &self,
        origin: &ChangeOrigin,
        draft: &NoteDraft,
    ) -> Result<Option<StoredNote>, WriteError> {
        if !origin.label.is_trusted() {
            return Ok(None);
        }
        let (title, text) = (draft.title.trim(), draft.content.trim());
        let (key, value) = match self.known_key_in(&origin.who, text).await? {
            Some(known) => known,
            None if is_sentence(text) && self.knows_key(&origin.who, title).await? => (title, text),
            None => return Ok(None),
        };
        let path = format!("memory/{}.md", note::slug(&draft.title));
        let existing = self.files().readable(&origin.who, &path).await?;
        if existing.is_some_and(|note| note::is_same_title(&note::read(&note.text).name, title)) {
            return self.store_in_note(origin, draft, (key, value), None).await.map(Some);
        }
        Ok(Some(self.store_value(origin, key, value).await?.for_model()))
    }
}

/// Returns true if the text is short enough to be the value of a key.
pub(super) fn is_sentence(text: &str) -> bool {
    !text.contains('\n') && text.chars().count() <= SENTENCE
}
