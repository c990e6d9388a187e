//! Fact lists. Each fact has one home: a line `- **key**: value` in a list.
//!
//! There are three lists. Facts that a person told the assistant to remember are under `## Recent
//! facts` in `MEMORY.md`. Facts extracted from conversations go by layer: facts about the person go
//! to what the agent's profile has learned, next to the workspace, and travel with the profile;
//! facts about this workspace go to the agent's memory in it. A fact stays where it was first
//! stored: a new value of the same key replaces the old one there, even if its layer has changed,
//! and is removed from the other lists. The old value stays in the file's history. The same value
//! in other words (case, spaces, a full stop) is not news, and nothing is written.
//!
//! A list is bounded. Facts that no longer fit, oldest first, move to the note of the month: they
//! are written there before they leave the list, with the label of the list, and a fact that cannot
//! be written there stays. A list that cannot be changed (it is no longer text, or a person has
//! filled it) blocks nothing: new facts go directly to the note of the month. A full or broken note
//! is succeeded by a second one. Repeating all of it changes nothing.
//!
//! A text `key: value` that a person has us remember, or that the assistant stores, replaces what
//! was known under that key in every list. It goes to the first readable list that holds the key;
//! otherwise to `MEMORY.md`. The key is removed from every other list, and from today's note, which
//! is loaded along with them. It is one change: even after a crash no reader sees two values. Notes
//! of other days and months are history and stay unchanged.

use std::collections::{BTreeMap, HashMap};

use super::agent::FactList;
use super::key_note::{KeyNote, is_sentence};
use super::notes::{ApprovedNote, Replaced, StoredNote, value_of_key, without_key};
use super::page::DefaultFile;
use super::workspace::{Notes, WriteError, WriteRefusal, unless_refused_logged};
use super::write::{ChangeOrigin, LabelRule, NewContent};
use super::{known, memory_md, page};
use crate::people::Party;
use crate::store::{Fact, Layer};
use crate::text::one_line;
use crate::trust::Label;
use crate::wording::agent_memory as says;
use crate::wording::knowledge::CHANGED_SINCE;

/// Size limit of one list of facts, in bytes.
const MOST: usize = 16 * 1024;
/// Number of facts written to a file at once. So many fit into an empty file at any length.
const BATCH: usize = 16;
/// Maximum number of notes for one month.
const NOTES: usize = 99;

/// Content of a readable list.
pub(super) struct ListedFacts {
    pub list: FactList,
    /// Facts in order.
    pub facts: Vec<memory_md::Fact>,
    /// Label of the file. Only a trusted list is loaded.
    pub label: Label,
}

/// Values in the trusted lists of a party, for looking up many keys.
pub(super) struct KnownValues(HashMap<String, Vec<String>>);

impl KnownValues {
    /// Returns true if a list may hold another value of that key.
    fn may_hold_other(&self, key: &str, value: &str) -> bool {
        let of_spelling = |spelling| self.0.get(&spelling).into_iter().flatten();
        memory_md::spellings(key).into_iter().flat_map(of_spelling).any(|known| known != value)
    }
}

impl Notes<'_> {
    /// Stores each of these facts in its home. Idempotent.
    pub async fn store_facts(&self, origin: &ChangeOrigin, facts: &[Fact]) -> Result<(), WriteError> {
        let lists = self.1.fact_lists();
        let known = self.trusted_facts(&origin.who).await?;
        let index = self.files().readable(&origin.who, &DefaultFile::Memory.name("")).await?;
        let shown = index.map(|index| known::shown_notes(&index.text)).unwrap_or_default();
        let days = self.days_said(origin, facts.iter().map(|fact| &*fact.sources)).await?;
        let mut routed: BTreeMap<usize, Vec<memory_md::Fact>> = BTreeMap::new();
        let mut duplicates = Vec::new();
        for (fact, day) in facts.iter().zip(days) {
            if origin.label.is_trusted()
                && let Some(note) = self.note_titled(&origin.who, &fact.key).await?
            {
                // A part of what the note says is not news.
                if note.says(&fact.value) {
                    continue;
                }
                let (key, value) = (fact.key.as_str(), fact.value.as_str());
                if note.is_one_sentence() {
                    let draft = note.draft_by_lines(value, &shown);
                    let stored = self.store_in_note(origin, &draft, (key, value), None).await;
                    if unless_refused_logged(stored, "A note that was put right stays as it was")?.is_some() {
                        continue;
                    }
                }
            }
            let (home, key) = home_of(fact, &known);
            let holds = |facts: &[memory_md::Fact]| facts.iter().any(|known| memory_md::is_same_fact(&known.key, &key));
            let others = known.iter().enumerate().filter(|(other, facts)| *other != home && holds(facts));
            duplicates.extend(others.map(|(other, _)| (other, key.clone())));
            let value = fact.value.clone();
            routed.entry(home).or_default().push(memory_md::Fact { key, value, day });
        }
        for (home, facts) in routed {
            let Some(list) = lists.get(home) else { continue };
            for batch in facts.chunks(BATCH) {
                self.put_facts(origin, list, batch).await?;
            }
        }
        // Another list holds the current value of these keys.
        for (home, key) in duplicates {
            let Some(FactList { path, section }) = lists.get(home).cloned() else { continue };
            let without = move |text: &str| {
                memory_md::without_facts(text, section, |fact| memory_md::is_same_fact(&fact.key, &key))
            };
            let make = move |text: Option<&str>| {
                Ok(text.map_or(NewContent::Unchanged, |text| NewContent::Text(without(text))))
            };
            let changed = self.versions().change(origin, &path, make).await;
            unless_refused_logged(changed, "A fact that was put right stays in another list as it was")?;
        }
        Ok(())
    }

    /// Stores one fact: in the list that already holds its key, else in the list of its layer.
    /// Returns the path of the list as shown to people.
    pub async fn store_fact(&self, origin: &ChangeOrigin, fact: Fact) -> Result<String, WriteError> {
        let lists = self.1.fact_lists();
        let (home, _) = home_of(&fact, &self.trusted_facts(&origin.who).await?);
        let path = lists.get(home).map(|list| list.path.trim_start_matches('/').to_owned()).unwrap_or_default();
        self.store_facts(origin, &[fact]).await.map(|()| path)
    }

    /// Returns true if a fact with that key is known for the party.
    pub async fn knows_key(&self, who: &Party, key: &str) -> anyhow::Result<bool> {
        let known = self.trusted_facts(who).await?;
        Ok(known.iter().flatten().any(|known| memory_md::is_same_fact(&known.key, key)))
    }

    /// Returns the readable lists of a party, each with its index among all lists.
    pub(super) async fn read_lists(&self, who: &Party) -> anyhow::Result<Vec<(usize, ListedFacts)>> {
        let mut read = Vec::new();
        for (index, list) in self.1.fact_lists().into_iter().enumerate() {
            let Some(file) = self.files().readable(who, &list.path).await? else { continue };
            let facts = memory_md::facts_in(&file.text, list.section);
            read.push((index, ListedFacts { list, facts, label: file.label }));
        }
        Ok(read)
    }

    /// Returns the facts of each list that is trusted. A file restored without a known origin is no
    /// fact's home.
    async fn trusted_facts(&self, who: &Party) -> anyhow::Result<[Vec<memory_md::Fact>; 3]> {
        let mut known = <[Vec<memory_md::Fact>; 3]>::default();
        for (index, read) in self.read_lists(who).await? {
            if let Some(facts) = known.get_mut(index).filter(|_| read.label.is_trusted()) {
                *facts = read.facts;
            }
        }
        Ok(known)
    }

    /// Returns the values in the trusted lists.
    pub(super) async fn known_values(&self, who: &Party) -> anyhow::Result<KnownValues> {
        let mut known: HashMap<String, Vec<String>> = HashMap::new();
        for fact in self.trusted_facts(who).await?.into_iter().flatten() {
            for spelling in memory_md::spellings(&fact.key) {
                known.entry(spelling).or_default().push(fact.value.clone());
            }
        }
        Ok(KnownValues(known))
    }

    /// Adds facts to a list, after moving those that no longer fit to the note of the month.
    async fn put_facts(
        &self,
        origin: &ChangeOrigin,
        list: &FactList,
        facts: &[memory_md::Fact],
    ) -> Result<(), WriteError> {
        let (section, new) = (list.section, facts.to_vec());
        let moved = self.move_overflow(origin, list, facts).await?;
        let make = move |text: Option<&str>| {
            let (list, _) = with_facts(text.unwrap_or_default(), section, &new, usize::MAX);
            Ok(NewContent::Text(moved.iter().fold(list, |list, fact| memory_md::remove_exact(&list, section, fact))))
        };
        let changed = self.versions().change(origin, &list.path, make).await;
        let message = "A list of facts cannot be changed, and what is new goes to the note of the month";
        match unless_refused_logged(changed, message)? {
            Some(_) => Ok(()),
            None => self.write_to_month(origin, facts).await,
        }
    }

    /// Moves facts that no longer fit in a list to the note of the month, and returns them.
    async fn move_overflow(
        &self,
        origin: &ChangeOrigin,
        list: &FactList,
        facts: &[memory_md::Fact],
    ) -> anyhow::Result<Vec<memory_md::Fact>> {
        let Some(file) = self.files().readable(&origin.who, &list.path).await? else { return Ok(Vec::new()) };
        let (_, demoted) = with_facts(&file.text, list.section, facts, MOST);
        let origin = ChangeOrigin { label: origin.label.join_with(&file.label), ..origin.clone() };
        for (done, batch) in demoted.chunks(BATCH).enumerate() {
            let written = self.write_to_month(&origin, batch).await;
            if unless_refused_logged(written, "The oldest facts of a list stay in it")?.is_none() {
                return Ok(demoted.into_iter().take(done * BATCH).collect());
            }
        }
        Ok(demoted)
    }

    /// Writes facts to the first note of the month with room, and links to it from the index.
    pub(super) async fn write_to_month(
        &self,
        origin: &ChangeOrigin,
        facts: &[memory_md::Fact],
    ) -> Result<(), WriteError> {
        let month: String = self.0.zone.day(origin.now).chars().take("2026-11".len()).collect();
        let mut result = Ok(());
        for number in 1..=NOTES {
            let (file, title) = match number {
                1 => (format!("facts-{month}.md"), says::facts_of(&month)),
                more => (format!("facts-{month}-{more}.md"), says::more_facts_of(&month, more)),
            };
            let (facts, head) = (facts.to_vec(), title.clone());
            let make = move |text: Option<&str>| Ok(NewContent::Text(with_noted(text, &head, &facts)));
            match self.versions().change(origin, &format!("memory/{file}"), make).await {
                Ok(_) => {
                    let listed = self.add_to_index(origin, &file, &title, says::FACTS_NOTE).await;
                    let message = "No line leads to the note of the month, which is found by search alone";
                    unless_refused_logged(listed, message)?;
                    return Ok(());
                }
                Err(error @ WriteError::Refused(WriteRefusal::TooLarge(_) | WriteRefusal::Unreadable(_))) => {
                    result = Err(error);
                }
                Err(error) => return Err(error),
            }
        }
        result
    }

    /// Stores a value under its key in one place and removes all earlier values. The result names
    /// the place as its owner sees it.
    pub async fn store_value(&self, origin: &ChangeOrigin, key: &str, value: &str) -> Result<StoredNote, WriteError> {
        self.store_value_from(origin, key, value, None).await
    }

    /// Stores a value like [`Self::store_value`]. The pending note that was approved as it is
    /// deleted in the same change.
    pub(super) async fn store_value_from(
        &self,
        origin: &ChangeOrigin,
        key: &str,
        value: &str,
        from: Option<ApprovedNote<'_>>,
    ) -> Result<StoredNote, WriteError> {
        if let Some(note) = self.note_of(&origin.who, key).await? {
            return self.store_in_note(origin, &note.draft(value), (key, value), from).await;
        }
        let holders = self.holders(&origin.who, key).await?;
        let [usual, ..] = self.1.fact_lists();
        let target = holders.iter().find(|holder| holder.label.is_trusted()).map_or(&usual, |holder| &holder.list);
        match self.set_value(origin, (key, value), Some(target), &holders, from).await {
            // If a person has filled that list, the usual one takes the value.
            Err(WriteError::Refused(WriteRefusal::TooLarge(_))) if *target != usual => {
                self.set_value(origin, (key, value), Some(&usual), &holders, from).await
            }
            stored => stored,
        }
    }

    /// Lets the other places of a key follow a value that a person wrote into the file at that
    /// path: for a list of facts every place, for another file only those that hold one of its
    /// `old` values. Returns what was replaced. `listed` holds the values of the lists; those of
    /// other keys may have changed since it was read.
    pub(super) async fn follow_value(
        &self,
        origin: &ChangeOrigin,
        path: &str,
        (key, value): (&str, &str),
        old: &[String],
        listed: &KnownValues,
    ) -> anyhow::Result<Option<Replaced>> {
        let today = DefaultFile::Today.name(&self.0.zone.day(origin.now));
        let noted = self.files().readable(&origin.who, &today).await?.filter(|note| note.label.is_trusted());
        let noted = noted.and_then(|note| value_of_key(&note.text, key));
        let note = self.note_of(&origin.who, key).await?;
        if noted.is_none() && note.is_none() && !listed.may_hold_other(key, &one_line(value)) {
            return Ok(None);
        }
        let holders = self.holders(&origin.who, key).await?;
        let is_its = |holder: &&ListedFacts| {
            holder.list.path == path && values_of(&holder.facts, key).contains(&one_line(value))
        };
        let list = holders.iter().find(is_its).map(|holder| holder.list.clone());
        let listed = holders.iter().filter(|holder| holder.label.is_trusted());
        let known = listed.flat_map(|holder| values_of(&holder.facts, key));
        let mut known = known.chain(note.iter().map(KeyNote::value)).chain(noted);
        if !known.any(|known| known != one_line(value) && (list.is_some() || old.contains(&known))) {
            return Ok(None);
        }
        let stored = match &list {
            Some(list) if note.is_none() => self.set_value(origin, (key, value), Some(list), &holders, None).await,
            _ => self.store_value(origin, key, value).await,
        };
        let message = "A fact that was changed by hand stays as it was elsewhere";
        Ok(unless_refused_logged(stored, message)?.and_then(|stored| stored.instead_of))
    }

    /// Stores a text of the form `key: value` with [`Self::store_value`]; `None` if the key is
    /// unknown.
    pub(super) async fn store_correction(
        &self,
        origin: &ChangeOrigin,
        words: &str,
    ) -> Result<Option<StoredNote>, WriteError> {
        let known = if origin.label.is_trusted() { self.known_key_in(&origin.who, words).await? } else { None };
        let Some((key, value)) = known else { return Ok(None) };
        Ok(Some(self.store_value(origin, key, value).await?.for_model()))
    }

    /// Parses a text that states a fact; `None` if no readable list and no note knows the key.
    pub(super) async fn known_key_in<'w>(
        &self,
        who: &Party,
        words: &'w str,
    ) -> anyhow::Result<Option<(&'w str, &'w str)>> {
        let words = words.trim();
        let Some((key, value)) = memory_md::split_key(words).filter(|_| is_sentence(words)) else { return Ok(None) };
        let is_listed = self.holders(who, key).await?.iter().any(|holder| holder.label.is_trusted());
        Ok((is_listed || self.note_of(who, key).await?.is_some()).then_some((key, value)))
    }

    /// Returns the lists that hold that key.
    pub(super) async fn holders(&self, who: &Party, key: &str) -> anyhow::Result<Vec<ListedFacts>> {
        let lists = self.read_lists(who).await?.into_iter().map(|(_, read)| read);
        Ok(lists.filter(|read| read.facts.iter().any(|fact| memory_md::is_same_fact(&fact.key, key))).collect())
    }

    /// Sets the value in the target list, and removes the key from all other holders and from
    /// today's note. Without a target it only removes the key. The pending note that was approved
    /// as it is deleted.
    pub(super) async fn set_value(
        &self,
        origin: &ChangeOrigin,
        (key, value): (&str, &str),
        target: Option<&FactList>,
        holders: &[ListedFacts],
        from: Option<ApprovedNote<'_>>,
    ) -> Result<StoredNote, WriteError> {
        let day = self.0.zone.day(origin.now);
        let today = DefaultFile::Today.name(&day);
        let daily_note = self.files().readable(&origin.who, &today).await?;
        let is_in_daily_note = daily_note.as_ref().is_some_and(|note| without_key(&note.text, key) != note.text);
        let noted = daily_note.filter(|note| note.label.is_trusted());
        let noted = noted.and_then(|note| Some((value_of_key(&note.text, key)?, note.label)));
        let replaced = replaced_values(holders, noted, key, value);
        // With a yes to exactly what is replaced, the lists must still hold just that.
        let expected: BTreeMap<String, Vec<String>> = holders
            .iter()
            .filter(|_| from.is_some())
            .map(|holder| (holder.list.path.clone(), values_of(&holder.facts, key)))
            .collect();
        let mut paths: Vec<String> = target.iter().map(|list| list.path.clone()).collect();
        for path in holders.iter().map(|holder| &holder.list.path).chain(is_in_daily_note.then_some(&today)) {
            if !paths.contains(path) {
                paths.push(path.clone());
            }
        }
        let pending = from.map(|from| (from.path.to_owned(), from.digest.to_owned()));
        paths.extend(pending.iter().map(|(path, _)| path.clone()));
        let fact = memory_md::Fact { key: key.to_owned(), value: value.to_owned(), day };
        let (target, lists, files) = (target.cloned(), self.1.fact_lists(), paths.clone());
        let change = move |path: &str, old: Option<&str>| {
            let is_target = target.as_ref().is_some_and(|target| target.path == path);
            let initial = || is_target.then(|| DefaultFile::Memory.first_contents(""));
            let Some(text) = old.map(str::to_owned).or_else(initial) else { return Ok(NewContent::Unchanged) };
            if let Some((_, digest)) = pending.as_ref().filter(|(pending, _)| pending == path) {
                let is_as_shown = *digest == page::digest(text.as_bytes());
                return if is_as_shown {
                    Ok(NewContent::Deleted)
                } else {
                    Err(WriteRefusal::impossible(CHANGED_SINCE))
                };
            }
            if path == today {
                return Ok(NewContent::Text(without_key(&text, &fact.key)));
            }
            let lists = lists.iter().filter(|list| list.path == path);
            let present =
                || lists.clone().flat_map(|list| values_of(&memory_md::facts_in(&text, list.section), &fact.key));
            if expected.get(path).is_some_and(|expected| !present().eq(expected.iter().cloned())) {
                return Err(WriteRefusal::impossible(CHANGED_SINCE));
            }
            Ok(NewContent::Text(lists.fold(text, |text, list| match target.as_ref() == Some(list) {
                true => with_value(&text, list.section, &fact),
                false => memory_md::without_facts(&text, list.section, |known| {
                    memory_md::is_same_fact(&known.key, &fact.key)
                }),
            })))
        };
        let make =
            move |texts: &[Option<&str>]| files.iter().zip(texts).map(|(path, text)| change(path, *text)).collect();
        let requested: Vec<&str> = paths.iter().map(String::as_str).collect();
        let written = self.versions().change_first(origin, &requested, LabelRule::ByLine, make).await?;
        let path = paths.into_iter().next().unwrap_or_default();
        Ok(StoredNote { instead_of: replaced, ..StoredNote::at(path, written) })
    }
}

/// Returns the values under that key that another one replaces, in trusted lists and today's note.
pub(super) fn replaced_values(
    holders: &[ListedFacts],
    noted: Option<(String, Label)>,
    key: &str,
    value: &str,
) -> Option<Replaced> {
    let trusted = holders.iter().filter(|holder| holder.label.is_trusted());
    let listed =
        trusted.flat_map(|holder| values_of(&holder.facts, key).into_iter().map(|value| (value, &holder.label)));
    let (mut lines, mut label): (Vec<String>, _) = (Vec::new(), Label::neutral());
    let noted = noted.iter().map(|(value, label)| (value.clone(), label));
    for (old, of) in listed.chain(noted).filter(|(old, _)| *old != one_line(value)) {
        label.absorb(of);
        let line = format!("{key}: {old}");
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    Replaced::by(&format!("{key}: {value}"), key, &lines.join("; "), &label)
}

fn values_of(facts: &[memory_md::Fact], key: &str) -> Vec<String> {
    facts.iter().filter(|fact| memory_md::is_same_fact(&fact.key, key)).map(|fact| fact.value.clone()).collect()
}

/// Returns the list for a fact and its key there: the list that already holds the key, else the
/// list of its layer.
fn home_of(fact: &Fact, known_facts: &[Vec<memory_md::Fact>]) -> (usize, String) {
    let known = known_facts.iter().enumerate().find_map(|(home, facts)| {
        facts.iter().find(|known| memory_md::is_same_fact(&known.key, &fact.key)).map(|known| (home, known.key.clone()))
    });
    let by_layer = match fact.layer {
        Layer::A => 1,
        Layer::B => 2,
    };
    known.unwrap_or_else(|| (by_layer, fact.key.clone()))
}

/// Returns the text with the facts added to that list, and the facts beyond the limit of `most`
/// bytes.
fn with_facts(text: &str, section: &str, facts: &[memory_md::Fact], most: usize) -> (String, Vec<memory_md::Fact>) {
    let (mut text, mut demoted) = (text.to_owned(), Vec::new());
    for fact in facts {
        let is_known = |known: &memory_md::Fact| {
            known.key == fact.key && memory_md::plain(&known.value) == memory_md::plain(&fact.value)
        };
        if memory_md::facts_in(&text, section).iter().any(is_known) {
            continue;
        }
        let added = memory_md::add_fact(&text, section, fact, most);
        text = added.text;
        demoted.extend(added.overflow);
    }
    (text, demoted)
}

/// Returns the note of a month with the facts added, each once.
fn with_noted(text: Option<&str>, title: &str, facts: &[memory_md::Fact]) -> String {
    let head = || format!("---\nname: {title}\ndescription: {}\ntype: fact\n---\n\n", says::FACTS_NOTE);
    let mut text = text.map_or_else(head, str::to_owned);
    for fact in facts {
        let line = memory_md::format_fact(fact);
        let is_known = |known: memory_md::Fact| {
            memory_md::plain(&known.key) == memory_md::plain(&fact.key)
                && memory_md::plain(&known.value) == memory_md::plain(&fact.value)
        };
        if !text.lines().filter_map(memory_md::parse_fact).any(is_known) {
            if !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}

/// Sets the only value for that key. An identical value changes nothing.
fn with_value(text: &str, section: &str, fact: &memory_md::Fact) -> String {
    let is_about = |known: &memory_md::Fact| memory_md::is_same_fact(&known.key, &fact.key);
    let known: Vec<memory_md::Fact> = memory_md::facts_in(text, section).into_iter().filter(is_about).collect();
    match known.as_slice() {
        [known] if known.value == one_line(&fact.value) => text.to_owned(),
        _ => memory_md::add_fact(&memory_md::without_facts(text, section, is_about), section, fact, usize::MAX).text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Category;

    fn fact(key: &str, value: &str) -> memory_md::Fact {
        memory_md::Fact { key: key.to_owned(), value: value.to_owned(), day: "2026-11-20".to_owned() }
    }

    #[test]
    fn a_fact_stays_where_it_was_put_first_and_goes_by_its_layer_else() {
        let known = [vec![fact("Cat’s name", "Tom")], Vec::new(), vec![fact("Server", "Bert")]];
        for (key, layer, home, known_key) in [
            ("cat's  NAME", Layer::B, 0, "Cat’s name"),
            ("server", Layer::A, 2, "Server"),
            ("Tea", Layer::A, 1, "Tea"),
            ("Disk", Layer::B, 2, "Disk"),
        ] {
            let new = Fact {
                key: key.to_owned(),
                value: String::new(),
                category: Category::Fact,
                layer,
                sources: Vec::new(),
            };
            assert_eq!(home_of(&new, &known), (home, known_key.to_owned()), "{key}");
        }
    }

    #[test]
    fn the_same_again_changes_no_byte() {
        let (text, _) = with_facts("## Insights\n\n- **a**: One\n", "Insights", &[fact("b", "2")], MOST);
        let again = [fact("b", "2"), fact("a", "one."), fact("b", " 2 ")];
        assert_eq!(with_facts(&text, "Insights", &again, MOST).0, text);
        let (text, demoted) = with_facts(&text, "Insights", &[fact("b", "3")], MOST);
        assert_eq!((text.contains("3 (2026-11-20)"), text.contains("**: 2"), demoted), (true, false, Vec::new()));
        assert!(with_facts("", "Insights", &[fact("language", "C++")], MOST).0.contains("C++"));
    }

    #[test]
    fn the_note_of_a_month_holds_each_fact_once() {
        let facts = [fact("a", "1"), fact("b", "2")];
        let once = with_noted(None, "Facts of 2026-11", &facts);
        assert!(
            once.starts_with("---\nname: Facts of 2026-11\n")
                && once.ends_with("\n\n- **a**: 1 (2026-11-20)\n- **b**: 2 (2026-11-20)\n"),
            "{once}"
        );
        assert_eq!(with_noted(Some(&once), "Facts of 2026-11", &facts), once);
    }

    /// Proves: memory/one-place
    #[test]
    fn a_list_holds_one_value_of_a_key_and_the_same_again_changes_nothing() {
        let text = "## Insights\n\n- **Cat’s name**: Tom\n- **cat's name**: Tim (2026-11-01)\n- **tea**: green\n";
        let once = with_value(text, "Insights", &fact("Cat's Name:", "Rex"));
        assert_eq!(once, "## Insights\n\n- **tea**: green\n- **Cat's Name**: Rex (2026-11-20)\n");
        assert_eq!(with_value(&once, "Insights", &fact("cat’s name", " Rex ")), once);
        let other = with_value(&once, "Insights", &fact("cat's name", "REX"));
        assert!(other.contains(": REX") && !other.contains(": Rex"), "Capital letters may be what matters: {other}");
    }
}
