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

use crate::memory::workspace::Notes;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::agent::Home;
use super::memory_md;
use super::workspace::WriteRefusal;
use super::workspace::blocking;
use super::write::{ChangeOrigin, New};
use super::{label, layout, page};
use crate::people::Party;
use crate::store::{Fact, Layer};
use crate::text::one_line;
use crate::trust::{Label, Labelled, Text};
use crate::wording::agent as says;

/// Size limit of one list of facts, in bytes.
const MOST: usize = 16 * 1024;
/// Size limit of the known facts shown to the extractor, newest first, in bytes.
const KNOWN: usize = 8 * 1024;
/// Number of facts written to a file at once. So many fit into an empty file at any length.
const AT_ONCE: usize = 16;
/// Maximum number of notes for one month.
const NOTES: usize = 99;

pub(super) struct FactsFile {
    pub(super) text: String,
    pub(super) label: Label,
    /// Row of this version, if the program wrote it.
    pub(super) row: Option<i64>,
}

impl Notes<'_> {
    /// Stores each of these facts in its home. Idempotent.
    ///
    /// # Errors
    /// The inner error is the reason for a refusal.
    pub async fn store_facts(&self, origin: &ChangeOrigin, facts: &[Fact]) -> anyhow::Result<Result<(), WriteRefusal>> {
        let homes = self.1.homes();
        let standing = self.lists(&origin.who, &homes).await?;
        let day = self.0.zone.day(origin.now);
        let mut routed: BTreeMap<usize, Vec<memory_md::Fact>> = BTreeMap::new();
        let mut doubles = Vec::new();
        for fact in facts {
            let (home, key) = home_of(fact, &standing);
            doubles.extend(doubles_of(&key, home, &standing).map(|double| (double, key.clone())));
            let (value, day) = (fact.value.clone(), day.clone());
            routed.entry(home).or_default().push(memory_md::Fact { key, value, day });
        }
        for (home, facts) in routed {
            let Some(home) = homes.get(home) else { continue };
            for some in facts.chunks(AT_ONCE) {
                if let Err(why) = self.put_facts(origin, home, some).await? {
                    return Ok(Err(why));
                }
            }
        }
        for (home, key) in doubles {
            self.drop_key(origin, homes.get(home), key).await?;
        }
        Ok(Ok(()))
    }

    /// Removes a key from a list because another list holds its current value.
    async fn drop_key(&self, origin: &ChangeOrigin, home: Option<&Home>, key: String) -> anyhow::Result<()> {
        let Some(Home { path, section }) = home.cloned() else { return Ok(()) };
        let without = move |text: &str| memory_md::without_facts(text, section, |fact| is_same_fact(&fact.key, &key));
        let make = move |text: Option<&str>| Ok(text.map_or(New::Same, |text| New::Text(without(text))));
        if let Err(why) = self.versions().change(origin, &path, make).await? {
            tracing::warn!("A fact that was put right stays in another list as it was: {why}");
        }
        Ok(())
    }

    /// Stores one fact: in the list that already holds its key, else in the list of its layer.
    /// Returns the path of the list as shown to people.
    ///
    /// # Errors
    /// The inner error is the reason for a refusal.
    pub async fn store_fact(&self, origin: &ChangeOrigin, fact: Fact) -> anyhow::Result<Result<String, WriteRefusal>> {
        let homes = self.1.homes();
        let (home, _) = home_of(&fact, &self.lists(&origin.who, &homes).await?);
        let path = homes.get(home).map(|home| home.path.trim_start_matches('/').to_owned()).unwrap_or_default();
        Ok(self.store_facts(origin, &[fact]).await?.map(|()| path))
    }

    /// Returns true if a fact with that key is known for the party.
    pub async fn knows_key(&self, who: &Party, key: &str) -> anyhow::Result<bool> {
        let lists = self.lists(who, &self.1.homes()).await?;
        Ok(lists.iter().flatten().any(|known| is_same_fact(&known.key, key)))
    }

    /// Returns the facts of each list that is trusted. A file restored without a known origin is no
    /// fact's home.
    async fn lists(&self, who: &Party, homes: &[Home]) -> anyhow::Result<Vec<Vec<memory_md::Fact>>> {
        let mut lists = Vec::new();
        for home in homes {
            let found = self.standing(who, &home.path).await?;
            let found = found.filter(|found| found.label.is_trusted());
            lists.push(found.map(|found| memory_md::facts_in(&found.text, home.section)).unwrap_or_default());
        }
        Ok(lists)
    }

    /// Returns the known facts of a party, one line for each: the extractor need not extract them
    /// again and may supersede them. Contains only trusted facts; an unreadable file counts as
    /// empty.
    pub async fn known_facts(&self, who: &Party) -> anyhow::Result<Text> {
        let mut label = Label::neutral();
        let mut lines = Vec::new();
        for home in self.1.homes() {
            let Some(found) = self.standing(who, &home.path).await? else { continue };
            if found.label.is_trusted() {
                label.absorb(&found.label);
                lines.extend(memory_md::facts_in(&found.text, home.section));
            }
        }
        lines.sort_by(|one, other| other.day.cmp(&one.day));
        let mut known = String::new();
        for fact in lines {
            let line = format!("- {}: {}\n", fact.key, fact.value);
            if known.len() + line.len() > KNOWN {
                break;
            }
            known.push_str(&line);
        }
        Ok(Labelled::new(Arc::from(known.trim_end()), label, who.scope()))
    }

    /// Returns the file at that path of the party's folder if it is readable text.
    pub(super) async fn standing(&self, who: &Party, path: &str) -> anyhow::Result<Option<FactsFile>> {
        let Ok(spot) = self.spot_of(who, path).await? else { return Ok(None) };
        let (tree, asked) = (self.tree.clone(), spot.clone());
        let read = blocking(move || {
            let (disk, inside) = tree.disk_of(&asked);
            let (found, bytes) = disk.standing(inside, layout::MAX_TEXT_FILE).unwrap_or_else(|error| {
                tracing::debug!("A file of the memory cannot be read: {error:#}");
                (String::new(), None)
            });
            Ok(bytes.map(|bytes| (layout::spelt(&asked, &found), bytes)))
        });
        let Some((inside, bytes)) = read.await? else { return Ok(None) };
        let digest = page::digest(&bytes);
        let Ok(text) = String::from_utf8(bytes) else { return Ok(None) };
        let scope = who.scope();
        let look = self.0.journal.read(move |db| label::of_file(db, scope, &spot, &inside, &digest));
        Ok(look.await?.ok().map(|(row, label)| FactsFile { text, label, row }))
    }

    /// Adds facts to a list, after moving those that no longer fit to the note of the month.
    async fn put_facts(
        &self,
        origin: &ChangeOrigin,
        home: &Home,
        facts: &[memory_md::Fact],
    ) -> anyhow::Result<Result<(), WriteRefusal>> {
        let (section, new) = (home.section, facts.to_vec());
        let aside = self.move_overflow(origin, home, facts).await?;
        let make = move |text: Option<&str>| {
            let (list, _) = with_facts(text.unwrap_or_default(), section, &new, usize::MAX);
            Ok(New::Text(aside.iter().fold(list, |list, fact| memory_md::remove_just(&list, section, fact))))
        };
        let Err(why) = self.versions().change(origin, &home.path, make).await? else { return Ok(Ok(())) };
        tracing::warn!("A list of facts cannot be changed, and what is new goes to the note of the month: {why}");
        self.write_to_month(origin, facts).await
    }

    /// Moves facts that no longer fit in a list to the note of the month, and returns them.
    async fn move_overflow(
        &self,
        origin: &ChangeOrigin,
        home: &Home,
        facts: &[memory_md::Fact],
    ) -> anyhow::Result<Vec<memory_md::Fact>> {
        let Some(list) = self.standing(&origin.who, &home.path).await? else { return Ok(Vec::new()) };
        let (_, demoted) = with_facts(&list.text, home.section, facts, MOST);
        let origin = ChangeOrigin { label: origin.label.join_with(&list.label), ..origin.clone() };
        for (done, some) in demoted.chunks(AT_ONCE).enumerate() {
            if let Err(why) = self.write_to_month(&origin, some).await? {
                tracing::warn!("The oldest facts of a list stay in it: {why}");
                return Ok(demoted.into_iter().take(done * AT_ONCE).collect());
            }
        }
        Ok(demoted)
    }

    /// Writes facts to the first note of the month with room, and links to it from the index.
    pub(super) async fn write_to_month(
        &self,
        origin: &ChangeOrigin,
        facts: &[memory_md::Fact],
    ) -> anyhow::Result<Result<(), WriteRefusal>> {
        let month: String = self.0.zone.day(origin.now).chars().take("2026-11".len()).collect();
        let mut refused = Ok(());
        for number in 1..=NOTES {
            let (file, title) = note_of_month(&month, number);
            let (facts, head) = (facts.to_vec(), title.clone());
            let make = move |text: Option<&str>| Ok(New::Text(noted(text, &head, &facts)));
            match self.versions().change(origin, &format!("memory/{file}"), make).await? {
                Ok(_) => {
                    if let Err(why) = self.lead_to(origin, &file, &title, says::FACTS_NOTE).await? {
                        tracing::warn!("No line leads to the note of the month, which is found by search alone: {why}");
                    }
                    return Ok(Ok(()));
                }
                Err(why @ (WriteRefusal::TooLarge(_) | WriteRefusal::Unreadable(_))) => refused = Err(why),
                Err(why) => return Ok(Err(why)),
            }
        }
        Ok(refused)
    }
}

/// Returns the file name and title of a monthly note.
fn note_of_month(month: &str, number: usize) -> (String, String) {
    match number {
        0 | 1 => (format!("facts-{month}.md"), says::facts_of(month)),
        more => (format!("facts-{month}-{more}.md"), says::more_facts_of(month, more)),
    }
}

/// Returns the list for a fact and its key there: the list that already holds the key, else the
/// list of its layer.
fn home_of(fact: &Fact, standing: &[Vec<memory_md::Fact>]) -> (usize, String) {
    let known = standing.iter().enumerate().find_map(|(home, facts)| {
        facts.iter().find(|known| is_same_fact(&known.key, &fact.key)).map(|known| (home, known.key.clone()))
    });
    let by_layer = match fact.layer {
        Layer::A => 1,
        Layer::B => 2,
    };
    known.unwrap_or_else(|| (by_layer, fact.key.clone()))
}

/// Returns the other lists that contain the key.
fn doubles_of(key: &str, home: usize, standing: &[Vec<memory_md::Fact>]) -> impl Iterator<Item = usize> {
    let holds = move |facts: &&Vec<memory_md::Fact>| facts.iter().any(|known| is_same_fact(&known.key, key));
    let others = standing.iter().enumerate().filter(move |(other, _)| *other != home);
    others.filter(move |(_, facts)| holds(facts)).map(|(other, _)| other)
}

/// Returns true if two keys mean the same, regardless of spelling.
pub(super) fn is_same_fact(one: &str, other: &str) -> bool {
    plain(one) == plain(other) || memory_md::is_same_key(one, other)
}

/// Normalises text: ignores case, spaces, the kind of apostrophe, and a full stop or a colon at the
/// end.
fn plain(words: &str) -> String {
    one_line(&words.to_lowercase().replace('\u{2019}', "'")).trim_end_matches(['.', '!', ':', ' ']).to_owned()
}

/// Returns the text with the facts added to that list, and the facts beyond the limit of `most`
/// bytes.
fn with_facts(text: &str, section: &str, facts: &[memory_md::Fact], most: usize) -> (String, Vec<memory_md::Fact>) {
    let (mut text, mut demoted) = (text.to_owned(), Vec::new());
    for fact in facts {
        let standing = memory_md::facts_in(&text, section);
        let is_known = |known: &memory_md::Fact| known.key == fact.key && plain(&known.value) == plain(&fact.value);
        if standing.iter().any(is_known) {
            continue;
        }
        let added = memory_md::add_fact(&text, section, fact, most);
        text = added.text;
        demoted.extend(added.demoted);
    }
    (text, demoted)
}

/// Returns the note of a month with the facts added, each once.
fn noted(text: Option<&str>, title: &str, facts: &[memory_md::Fact]) -> String {
    let head = || format!("---\nname: {title}\ndescription: {}\ntype: fact\n---\n\n", says::FACTS_NOTE);
    let mut text = text.map_or_else(head, str::to_owned);
    for fact in facts {
        let line = memory_md::line_of(fact);
        let is_known =
            |known: memory_md::Fact| plain(&known.key) == plain(&fact.key) && plain(&known.value) == plain(&fact.value);
        if !text.lines().filter_map(memory_md::fact_of).any(is_known) {
            if !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
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
        let standing = [vec![fact("Cat’s name", "Tom")], Vec::new(), vec![fact("Server", "Bert")]];
        for (key, layer, home, known) in [
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
            assert_eq!(home_of(&new, &standing), (home, known.to_owned()), "{key}");
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
        let once = noted(None, "Facts of 2026-11", &facts);
        assert!(
            once.starts_with("---\nname: Facts of 2026-11\n")
                && once.ends_with("\n\n- **a**: 1 (2026-11-20)\n- **b**: 2 (2026-11-20)\n"),
            "{once}"
        );
        assert_eq!(noted(Some(&once), "Facts of 2026-11", &facts), once);
    }
}
