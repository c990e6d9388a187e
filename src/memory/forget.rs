//! Forgetting reaches the files first and the journal after them.
//!
//! The file of a note goes, with its line in the index; the lines of other files of the memory that say the same go as well. Then the journal lets go of
//! every copy ([`crate::store::Db::held`]), everything is looked through again, and what still holds the words is named. At last the search indexes are put
//! together anew, because they let go of single words only then. Files that only a person's hand changes, and what people sent, are left and named. All of it
//! can be done twice: what is gone is not found the second time.

use std::sync::Arc;

use tokio::sync::OwnedMutexGuard;

use crate::id::ForgettingId;
use crate::people::Party;
use crate::store::{Counts, Db, ForgettingRow, Forgotten, Left, Parting, Tx};
use crate::text::needle::Needles;
use crate::time::Moment;
use crate::trust::{Label, Scope};
use crate::wording;

use super::belongings::OwnPath;
use super::tree::{Tree, blocking};
use super::write::{Author, New, Origin};
use super::{label, memo, note, page, place};

/// How many rows one transaction changes at most.
const ROWS: usize = 200;
/// How many messages go in one transaction.
const MESSAGES: usize = 50;
/// What is written while this goes on is looked for once more, but not for ever.
const ROUNDS: usize = 3;

/// Something that can be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forgettable {
    /// A note, or a fact.
    pub what: Forgotten,
    /// The note's path relative to the workspace; the fact's key.
    pub target: String,
    /// The words that nothing may hold any more.
    pub needles: Needles,
    /// Where they came from.
    pub label: Label,
}

/// What came of a forgetting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How much of what went, from its beginning on.
    pub counts: Counts,
    /// What still holds it.
    pub left: Left,
    /// The streams whose turns ended with the messages that they answered.
    pub partings: Vec<Parting>,
}

impl Tree {
    /// What a party means by a name: a note by its path, file or title, a fact by its key, or a line by all its words. `None` if there is no such thing.
    ///
    /// # Errors
    /// If the journal or the disk cannot be read.
    pub async fn to_forget(&self, who: &Party, name: &str) -> anyhow::Result<Option<Forgettable>> {
        let files = self.files_of(who).await?;
        if let Some(note) = note_named(&files, name).cloned() {
            return self.note_to_forget(note).await.map(Some);
        }
        for file in files.iter().filter(|file| is_note(&file.path)) {
            let words = self.words_of(file).await?.unwrap_or_default();
            if title_of(&words).is_some_and(|title| is_same(&title, name)) {
                return self.note_to_forget(file.clone()).await.map(Some);
            }
        }
        if let Some(fact) = self.fact_to_forget(who, &files, name).await? {
            return Ok(Some(fact));
        }
        self.line_to_forget(who, &files, name).await
    }

    /// Waits until nothing is being forgotten. As long as what this gives is held, nothing is: what is written meanwhile is either seen by a forgetting, or leaves out what is
    /// forgotten.
    pub async fn no_forgetting(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.0.forgetting).lock_owned().await
    }

    async fn note_to_forget(&self, file: OwnPath) -> anyhow::Result<Forgettable> {
        let words = self.words_of(&file).await?.unwrap_or_default();
        let title = title_of(&words).unwrap_or_else(|| stem(&file.path).to_owned());
        let (spot, digest) = (file.spot.clone(), page::digest(words.as_bytes()));
        let (_, label) = self.0.journal.read(move |db| label::of_file(db, &spot, &spot, &digest)).await?;
        let needles = Needles::of_note(&title, &words);
        Ok(Forgettable { what: Forgotten::Note, target: file.spot, needles, label })
    }

    /// A fact with every value that it ever had, as far as that is kept.
    async fn fact_to_forget(&self, who: &Party, files: &[OwnPath], key: &str) -> anyhow::Result<Option<Forgettable>> {
        let (scope, mut label) = (who.scope(), wording::own("", who.scope()).label().clone());
        let mut found: Option<(String, Needles)> = None;
        for file in files.iter().filter(|file| holds_facts(&file.path)) {
            let words = self.words_of(file).await?.unwrap_or_default();
            for fact in words.lines().filter_map(memo::fact_of).filter(|fact| is_same(&fact.key, key)) {
                let (spot, digest) = (file.spot.clone(), page::digest(words.as_bytes()));
                let (_, from) = self.0.journal.read(move |db| label::of_file(db, &spot, &spot, &digest)).await?;
                label.absorb(&from);
                let (name, needles) = found.get_or_insert_with(|| (fact.key.clone(), Needles::default()));
                needles.join(Needles::of_fact(name, &fact.value));
            }
        }
        let Some((target, mut needles)) = found else { return Ok(None) };
        for words in self.0.journal.read(move |db| db.kept_contents(scope)).await? {
            for fact in words.lines().filter_map(memo::fact_of).filter(|fact| is_same(&fact.key, key)) {
                needles.join(Needles::of_fact(&target, &fact.value));
            }
        }
        Ok(Some(Forgettable { what: Forgotten::Fact, target, needles, label }))
    }

    /// A line of the memory that says just that, in a list (as a text without a key is kept) or in prose; if it is an entry that states a fact, that.
    async fn line_to_forget(&self, who: &Party, files: &[OwnPath], words: &str) -> anyhow::Result<Option<Forgettable>> {
        let mut label = wording::own("", who.scope()).label().clone();
        let mut found = false;
        for file in files.iter().filter(|file| is_memory(&file.path)) {
            let text = self.words_of(file).await?.unwrap_or_default();
            let entry = |line: &&str| memo::said_in(line).is_some_and(|said| Needles::are_same_words(said, words));
            if let Some(fact) = text.lines().find(entry).filter(|_| holds_facts(&file.path)).and_then(memo::fact_of) {
                return self.fact_to_forget(who, files, &fact.key).await;
            }
            let says = |line: &str| entry(&line) || Needles::are_same_words(line, words);
            if !text.lines().any(says) {
                continue;
            }
            let (spot, digest) = (file.spot.clone(), page::digest(text.as_bytes()));
            label.absorb(&self.0.journal.read(move |db| label::of_file(db, &spot, &spot, &digest)).await?.1);
            found = true;
        }
        let needles = Needles::of_line(words);
        let line = Forgettable { what: Forgotten::Fact, target: words.to_owned(), needles, label };
        Ok(Some(line).filter(|line| found && !line.needles.is_empty()))
    }

    /// Does a forgetting of a note or a fact, or goes on with it, and looks whether anything holds it still.
    ///
    /// # Errors
    /// If the journal or the disk cannot be used; then it is gone on with later.
    pub async fn forget(&self, id: ForgettingId, now: Moment) -> anyhow::Result<Option<Outcome>> {
        let _alone = self.no_forgetting().await;
        self.forget_alone(id, now).await
    }

    /// The same for whoever sees to it that nothing else is forgotten meanwhile.
    pub(super) async fn forget_alone(&self, id: ForgettingId, now: Moment) -> anyhow::Result<Option<Outcome>> {
        let Some(row) = self.0.journal.read(move |db| db.forgetting(id)).await? else { return Ok(None) };
        let who = self.party_of(row.scope).await?;
        if let Some(who) = &who {
            self.forget_in_files(&row, who, now).await?;
        }
        let partings = self.forget_messages(&row, now).await?;
        let mut left = self.cut_out(&row).await?;
        for _ in 1..ROUNDS {
            if left.other > 0 {
                left = self.cut_out(&row).await?;
            }
        }
        if let Some(who) = &who {
            left.files = self.files_with(&row.needles, who).await?;
        }
        self.purge_index().await?;
        self.0.journal.cut_log().await?;
        let is_left = !left.is_nothing();
        let end = move |tx: Tx<'_>| {
            tx.end_forgetting(id, is_left, now)?;
            Ok(tx.forgetting(id)?.map(|row| row.counts).unwrap_or_default())
        };
        let counts = self.0.journal.write("end a forgetting", end).await?;
        Ok(Some(Outcome { counts, left, partings }))
    }

    /// The files that still hold what a forgetting is about, as their owner sees them.
    ///
    /// # Errors
    /// If the journal or the disk cannot be read.
    pub async fn files_that_hold(&self, row: &ForgettingRow) -> anyhow::Result<Vec<String>> {
        match self.party_of(row.scope).await? {
            Some(who) => self.files_with(&row.needles, &who).await,
            None => Ok(Vec::new()),
        }
    }

    /// Whose words a scope holds, if they are still let in.
    async fn party_of(&self, scope: Scope) -> anyhow::Result<Option<Party>> {
        match scope {
            Scope::Person(id) => Ok(self.0.journal.read(move |db| db.person(id)).await?.map(Party::One)),
            Scope::Group(stream) => Ok(Some(Party::Group(stream))),
            Scope::Shared => Ok(None),
        }
    }

    async fn forget_in_files(&self, row: &ForgettingRow, who: &Party, now: Moment) -> anyhow::Result<()> {
        let note = (row.what == Forgotten::Note && !row.target.is_empty()).then_some(row.target.as_str());
        for file in self.files_of(who).await? {
            let counts = if note == Some(file.spot.as_str()) || file.path.starts_with("exports/") {
                // A copy of everything is a copy of this too.
                Counts {
                    notes: usize::from(self.drop_one(&file).await? && note == Some(&file.spot)),
                    ..Counts::default()
                }
            } else if is_memory(&file.path) {
                self.cut_from(row, who, &file, note, now).await?
            } else {
                Counts::default()
            };
            self.count(row.id, counts).await?;
        }
        if let Some(path) = note.map(str::to_owned) {
            let id = row.id;
            let bury = move |tx: Tx<'_>| tx.count_forgotten(id, tx.file_forgotten(&path, id)?);
            self.0.journal.write("forget a file", bury).await?;
        }
        Ok(())
    }

    /// Cuts the lines that say it out of another file, and in the index the line that leads to the note.
    async fn cut_from(
        &self,
        row: &ForgettingRow,
        who: &Party,
        file: &OwnPath,
        note: Option<&str>,
        now: Moment,
    ) -> anyhow::Result<Counts> {
        let needles = row.needles.clone();
        let link =
            note.filter(|_| holds_index(&file.path)).map(|note| note.rsplit('/').next().unwrap_or(note).to_owned());
        let cut = move |text: &str| -> String {
            let text = link.as_ref().map_or_else(|| text.to_owned(), |name| memo::drop_index_line(text, name));
            needles.cut(&text).unwrap_or(text)
        };
        let Some(before) = self.words_of(file).await? else { return Ok(Counts::default()) };
        let lines = before.lines().count().saturating_sub(cut(&before).lines().count());
        if lines == 0 {
            return Ok(Counts::default());
        }
        let origin = Origin {
            who: who.clone(),
            label: wording::own("", who.scope()).label().clone(),
            author: Author::Person,
            cause: "forget",
            from: Vec::new(),
            now,
        };
        let made = self
            .change(&origin, &file.path, move |text| Ok(text.map_or(New::Gone, |text| New::Text(cut(text)))))
            .await?;
        Ok(Counts { lines: if made.is_ok() { lines } else { 0 }, ..Counts::default() })
    }

    async fn forget_messages(&self, row: &ForgettingRow, now: Moment) -> anyhow::Result<Vec<Parting>> {
        if !row.messages {
            return Ok(Vec::new());
        }
        let of = row.clone();
        let look = move |db: Db<'_>| {
            let mut messages = db.left(&of)?.messages;
            messages.extend(db.messages_it_grew_from(of.id)?);
            Ok(messages.into_iter().collect::<Vec<_>>())
        };
        let messages = self.0.journal.read_much(look).await?;
        let mut partings = Vec::new();
        for some in messages.chunks(MESSAGES) {
            let (of, some) = (row.clone(), some.to_vec());
            let go = move |tx: Tx<'_>| {
                let (counts, partings) = tx.messages_forgotten(&of, &some, now)?;
                tx.count_forgotten(of.id, counts)?;
                Ok(partings)
            };
            partings.extend(self.0.journal.write("forget messages", go).await?);
        }
        Ok(partings)
    }

    /// Cuts it out of the journal, and says what is left.
    async fn cut_out(&self, row: &ForgettingRow) -> anyhow::Result<Left> {
        let of = row.clone();
        let held = self.0.journal.read_much(move |db| db.held(&of)).await?;
        for some in held.chunks(ROWS) {
            let (of, some) = (row.clone(), some.to_vec());
            let cut = move |tx: Tx<'_>| tx.count_forgotten(of.id, tx.cut_out(&of, &some)?);
            self.0.journal.write("forget copies", cut).await?;
        }
        let of = row.clone();
        self.0.journal.read_much(move |db| db.left(&of)).await
    }

    /// The files that still hold it, as their owner sees them.
    async fn files_with(&self, needles: &Needles, who: &Party) -> anyhow::Result<Vec<String>> {
        let (tree, folder, needles) = (self.clone(), self.folder_of(who).await?, needles.clone());
        blocking(move || {
            let mut holding = Vec::new();
            for file in tree.belongings(&folder)? {
                let (disk, inside) = tree.disk_of(&file.spot);
                let holds = match disk.read(inside, place::MAX_TEXT_FILE) {
                    Ok(bytes) if is_memory(&file.path) => needles.are_in(&String::from_utf8_lossy(&bytes)),
                    Ok(bytes) => std::str::from_utf8(&bytes).is_ok_and(|text| needles.are_in(text)),
                    // What cannot be looked through may hold it.
                    Err(_) => is_memory(&file.path),
                };
                if holds {
                    holding.push(file.path);
                }
            }
            Ok(holding)
        })
        .await
    }

    async fn count(&self, id: ForgettingId, more: Counts) -> anyhow::Result<()> {
        if more.is_zero() {
            return Ok(());
        }
        self.0.journal.write("count what is forgotten", move |tx| tx.count_forgotten(id, more)).await
    }
}

/// The note that somebody means by a path, or by the name of its file.
fn note_named<'f>(files: &'f [OwnPath], name: &str) -> Option<&'f OwnPath> {
    let named = name.trim().trim_end_matches(".md");
    let meant = |file: &&OwnPath, path: &str| file.path.strip_suffix(".md") == Some(path);
    let places = [named.to_owned(), format!("memory/{named}"), format!("memory/untrusted/{named}")];
    places.iter().find_map(|path| files.iter().filter(|file| is_note(&file.path)).find(|file| meant(file, path)))
}

/// Whether a file is a note that can go as a whole.
fn is_note(path: &str) -> bool {
    path.starts_with("memory/") && path.ends_with(".md") && path != "memory/MEMORY.md"
}

/// Whether lines that are forgotten are cut out of a file.
fn is_memory(path: &str) -> bool {
    let ours = ["memory/", "learnings/", "agents/", place::EXPERIENCE];
    ours.iter().any(|start| path.starts_with(start)) && path.ends_with(".md")
}

/// Whether lines that lead to notes stand in a file.
fn holds_index(path: &str) -> bool {
    let name = path.strip_prefix("memory/").filter(|name| !name.contains('/'));
    name.is_some_and(|name| name == "MEMORY.md" || memo::is_fold(name))
}

fn holds_facts(path: &str) -> bool {
    is_memory(path) && !path.starts_with("learnings/")
}

fn is_same(one: &str, other: &str) -> bool {
    let plain = |text: &str| crate::text::one_line(text).to_lowercase();
    !one.trim().is_empty() && plain(one) == plain(other)
}

/// The title of a note: what its front matter calls it, or its first heading.
fn title_of(text: &str) -> Option<String> {
    let named = Some(note::read(text).name).filter(|name| !name.is_empty());
    let headed = || text.lines().find_map(|line| line.strip_prefix("# ")).map(|title| title.trim().to_owned());
    named.or_else(headed).filter(|title| !title.is_empty())
}

/// The name of a file without its folder and its ending.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".md").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_called_what_it_says() {
        for (text, title) in [
            ("---\nname: \"Garden gate\"\ntype: fact\n---\n# Other", Some("Garden gate")),
            ("# Gate\nwords", Some("Gate")),
            ("words", None),
            ("---\nname:\n---\n", None),
        ] {
            assert_eq!(title_of(text).as_deref(), title, "{text}");
        }
    }
}
