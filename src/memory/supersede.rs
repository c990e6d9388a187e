//! One value for each key: a text `key: value` that a person has us remember, or that the assistant
//! stores, replaces what was known under that key, in every list.
//!
//! A fact has one home (`facts`). A new value goes to the first readable list that holds the key,
//! so a fact extracted from a conversation is corrected in place; otherwise to `MEMORY.md`. The key
//! is removed from every other list, and from today's note, which is loaded along with them. It is
//! one change: even after a crash no reader sees two values, and the old ones stay in the history
//! of their files. Notes of other days and months are history and stay unchanged.

use super::agent::Home;
use super::default_files::DefaultFile as First;
use super::facts::is_same_fact;
use super::remember::{NoteDraft, StoredNote};
use super::workspace::WriteRefusal;
use super::write::{ChangeOrigin, New};
use super::{memory_md, note, passage};
use crate::memory::workspace::Notes;
use crate::people::Party;
use crate::text::one_line;

/// Maximum length of a sentence that states a fact, in characters; a longer one is a note.
const SENTENCE: usize = 500;

/// A list that holds a key.
struct KeyHome {
    home: Home,
    /// True if the list is loaded, which depends on its label.
    read: bool,
}

/// Change of the files that contain a key.
struct KeyChange {
    fact: memory_md::Fact,
    /// Destination of the new value; `None` to only remove the key.
    into: Option<Home>,
    homes: Vec<Home>,
    today: String,
}

impl Notes<'_> {
    /// Stores a value under its key in one place and removes all earlier values. The result names
    /// the place as its owner sees it.
    ///
    /// # Errors
    /// The inner error is the reason for a refusal.
    pub async fn store_value(
        &self,
        origin: &ChangeOrigin,
        key: &str,
        value: &str,
    ) -> anyhow::Result<Result<StoredNote, WriteRefusal>> {
        let holders = self.holders(&origin.who, key).await?;
        let [usual, ..] = self.1.homes();
        let into = holders.iter().find(|holder| holder.read).map_or(&usual, |holder| &holder.home);
        match self.set(origin, (key, value), Some(into), &holders).await? {
            // If a person has filled that list, the usual one takes the value.
            Err(WriteRefusal::TooLarge(_)) if *into != usual => {
                self.set(origin, (key, value), Some(&usual), &holders).await
            }
            kept => Ok(kept),
        }
    }

    /// Stores a text of the form `key: value` with [`Self::store_value`]; `None` if the key is
    /// unknown.
    pub(super) async fn store_correction(
        &self,
        origin: &ChangeOrigin,
        words: &str,
    ) -> anyhow::Result<Option<Result<StoredNote, WriteRefusal>>> {
        let Some((key, value)) = self.known_in(origin, words).await? else { return Ok(None) };
        Ok(Some(self.store_value(origin, key, value).await?.map(named)))
    }

    /// Stores a note of the form `key: value`. If a note of that title exists, it is replaced and
    /// the key is removed from all lists; `None` if the note is to be filed.
    pub(super) async fn store_note_value(
        &self,
        origin: &ChangeOrigin,
        draft: &NoteDraft,
    ) -> anyhow::Result<Option<Result<StoredNote, WriteRefusal>>> {
        let Some((key, value)) = self.known_in(origin, &draft.content).await? else { return Ok(None) };
        let stands = self.standing(&origin.who, &format!("memory/{}.md", note::slug(&draft.title))).await?;
        let title = |name: &str| one_line(name).to_lowercase();
        if stands.is_none_or(|note| title(&note::read(&note.text).name) != title(&draft.title)) {
            return Ok(Some(self.store_value(origin, key, value).await?.map(named)));
        }
        let filed = self.file_note(origin, draft, None).await?;
        if filed.is_ok() {
            let holders = self.holders(&origin.who, key).await?;
            if let Err(why) = self.set(origin, (key, value), None, &holders).await? {
                tracing::warn!("A fact that a note puts right stays where it was: {why}");
            }
        }
        Ok(Some(filed))
    }

    /// Parses a text that states a fact; `None` if no readable list knows the key.
    async fn known_in<'w>(&self, origin: &ChangeOrigin, words: &'w str) -> anyhow::Result<Option<(&'w str, &'w str)>> {
        let words = words.trim();
        let is_sentence = !words.contains('\n') && words.chars().count() <= SENTENCE;
        let Some((key, value)) = memory_md::key_of(words).filter(|_| is_sentence && origin.label.is_trusted()) else {
            return Ok(None);
        };
        let known = self.holders(&origin.who, key).await?.iter().any(|holder| holder.read);
        Ok(known.then_some((key, value)))
    }

    /// Returns the lists that hold that key.
    async fn holders(&self, who: &Party, key: &str) -> anyhow::Result<Vec<KeyHome>> {
        let mut holders = Vec::new();
        for home in self.1.homes() {
            let Some(found) = self.standing(who, &home.path).await? else { continue };
            if memory_md::facts_in(&found.text, home.section).iter().any(|fact| is_same_fact(&fact.key, key)) {
                holders.push(KeyHome { home, read: found.label.is_trusted() });
            }
        }
        Ok(holders)
    }

    async fn set(
        &self,
        origin: &ChangeOrigin,
        (key, value): (&str, &str),
        into: Option<&Home>,
        holders: &[KeyHome],
    ) -> anyhow::Result<Result<StoredNote, WriteRefusal>> {
        let day = self.0.zone.day(origin.now);
        let today = First::Today.name(&day);
        let noted = self.standing(&origin.who, &today).await?;
        let noted = noted.is_some_and(|note| passage::without_key(&note.text, key) != note.text);
        let mut paths: Vec<String> = into.iter().map(|home| home.path.clone()).collect();
        for path in holders.iter().map(|holder| &holder.home.path).chain(noted.then_some(&today)) {
            if !paths.contains(path) {
                paths.push(path.clone());
            }
        }
        let fact = memory_md::Fact { key: key.to_owned(), value: value.to_owned(), day };
        let change = KeyChange { fact, into: into.cloned(), homes: self.1.homes().to_vec(), today };
        let files = paths.clone();
        let path = files.first().cloned().unwrap_or_default();
        let make = move |texts: &[Option<&str>]| {
            Ok(files.iter().zip(texts).map(|(path, text)| change.of(path, *text)).collect())
        };
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let written = self.versions().change_together(origin, &paths, make).await?;
        Ok(written.and_then(|written| {
            let written = written.into_iter().next().ok_or(WriteRefusal::Elsewhere)?;
            Ok(StoredNote { written, path, redirected: false })
        }))
    }
}

impl KeyChange {
    fn of(&self, path: &str, stood: Option<&str>) -> New {
        let takes = self.into.as_ref().is_some_and(|into| into.path == path);
        let Some(stood) = stood.map(str::to_owned).or_else(|| takes.then(|| First::Memory.first_contents(""))) else {
            return New::Same;
        };
        if path == self.today {
            return New::Text(passage::without_key(&stood, &self.fact.key));
        }
        let lists = self.homes.iter().filter(|home| home.path == path);
        New::Text(lists.fold(stood, |text, home| {
            if self.into.as_ref() == Some(home) {
                with_value(&text, home.section, &self.fact)
            } else {
                memory_md::without_facts(&text, home.section, |fact| is_same_fact(&fact.key, &self.fact.key))
            }
        }))
    }
}

/// Converts the path to the form that a model sees.
fn named(kept: StoredNote) -> StoredNote {
    StoredNote { path: kept.path.trim_start_matches('/').to_owned(), ..kept }
}

/// Sets the only value for that key. An identical value changes nothing.
fn with_value(text: &str, section: &str, fact: &memory_md::Fact) -> String {
    let is_about = |known: &memory_md::Fact| is_same_fact(&known.key, &fact.key);
    let known: Vec<memory_md::Fact> = memory_md::facts_in(text, section).into_iter().filter(is_about).collect();
    match known.as_slice() {
        [known] if known.value == one_line(&fact.value) => text.to_owned(),
        _ => memory_md::add_fact(&memory_md::without_facts(text, section, is_about), section, fact, usize::MAX).text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(key: &str, value: &str) -> memory_md::Fact {
        memory_md::Fact { key: key.to_owned(), value: value.to_owned(), day: "2026-11-21".to_owned() }
    }

    /// Proves: memory/one-place
    #[test]
    fn a_list_holds_one_value_of_a_key_and_the_same_again_changes_nothing() {
        let text = "## Insights\n\n- **Cat’s name**: Tom\n- **cat's name**: Tim (2026-11-01)\n- **tea**: green\n";
        let once = with_value(text, "Insights", &fact("Cat's Name:", "Rex"));
        assert_eq!(once, "## Insights\n\n- **tea**: green\n- **Cat's Name**: Rex (2026-11-21)\n");
        assert_eq!(with_value(&once, "Insights", &fact("cat’s name", " Rex ")), once);
        let other = with_value(&once, "Insights", &fact("cat's name", "REX"));
        assert!(other.contains(": REX") && !other.contains(": Rex"), "Capital letters may be what matters: {other}");
    }
}
