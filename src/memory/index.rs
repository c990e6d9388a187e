//! The entry index: what is known, cut into units that search finds.
//!
//! Knowledge is files, and what happened is the journal; this is derived from both and can be
//! thrown away at any time. Facts, notes, the points of daily notes, passages of every other text
//! file of the workspace, and what was written down of conversations and reflections are entries,
//! each with the label and the scope of where it stands. A key that survives rebuilding keeps how
//! often an entry was of use.
//!
//! Whoever searches first takes in what changed, so a hand edit, a deletion and what was written a
//! moment ago are seen without a restart. Trusted entries are given; untrusted ones are counted,
//! and given only when they are asked for. Whose entry it is, is decided inside the full-text
//! index. Being found is not being used: only what a clean turn was given counts ([`Index::used`]),
//! and that never lifts an entry over an exact match.

mod listing;
mod parse;
mod passages;
mod salience;
mod search;
mod shape;
mod sync;
mod journal_entries;
mod watch;

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use super::vectors::Vectors;
use super::workspace::Workspace;
use crate::people::Party;
use crate::store::{EntryKind, Indexed, Journal, Node};
use crate::time::{Clock, Timestamp};
use crate::trust::{Scope, Text};
use sync::Noticed;

/// A search reads at most so many changed files before it answers; the rest is read by
/// [`Index::refresh`] and by the next searches.
const READ_BEFORE_SEARCH: usize = 512;
/// At most so many entries are weighed for the beginning of a conversation.
const WEIGHED: u32 = 500;

/// The index of the tree and of what the journal tells of conversations. Cloning gives another
/// handle on the same one.
#[derive(Clone)]
pub struct Index(Arc<IndexInner>, Option<Vectors>);

struct IndexInner {
    tree: Workspace,
    journal: Journal,
    clock: Arc<dyn Clock>,
    noticed: Mutex<Noticed>,
    /// Held by who walks, or reads a few files.
    reading: tokio::sync::Mutex<()>,
}

/// What is looked for, and where.
#[derive(Debug, Clone)]
pub struct IndexQuery {
    /// Who asks: only their own and what is shared is looked into.
    pub party: Party,
    /// The words.
    pub words: Text,
    /// Only these kinds; all if empty.
    pub kinds: Vec<EntryKind>,
    /// Only this category.
    pub category: Option<String>,
    /// Only under this heading.
    pub section: Option<String>,
    /// Only in the memory of this agent.
    pub agent: Option<String>,
    /// Only where the words stand just as they are written.
    pub case: bool,
    /// Untrusted entries as well.
    pub untrusted_too: bool,
    /// Only what was written before.
    pub before: Option<Timestamp>,
    /// At most so many.
    pub limit: usize,
}

impl IndexQuery {
    /// Anything trusted that matches those words, at most five hits.
    pub fn of(party: &Party, words: Text) -> Self {
        Self {
            party: party.clone(),
            words,
            kinds: Vec::new(),
            category: None,
            section: None,
            agent: None,
            case: false,
            untrusted_too: false,
            before: None,
            limit: 5,
        }
    }

    /// Whose text is looked into.
    pub fn scope(&self) -> Scope {
        self.party.scope()
    }
}

/// What a search found.
#[derive(Debug, Clone, Default)]
pub struct IndexMatches {
    /// The best hits, best first.
    pub hits: Vec<EntryHit>,
    /// How many untrusted entries match besides, when they were not asked for; counted up to a
    /// bound.
    pub untrusted: usize,
}

/// An entry that was found. Its path stands under the same label as its text.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryHit {
    /// What it keeps through every rebuilding.
    pub key: String,
    /// What it is.
    pub kind: EntryKind,
    /// Its category; blank if it has none.
    pub category: String,
    /// Its file as its owner sees it, or `conversations/N`, `reflections/N`.
    pub path: String,
    /// The line in it, from 1.
    pub line: u32,
    /// The heading that it stands under.
    pub section: Text,
    /// A fact's key, a note's title; blank for running text.
    pub name: Text,
    /// The words, with a fact's key in front.
    pub text: Text,
    /// When they were written.
    pub at: Timestamp,
    /// Higher is better.
    pub score: f64,
}

/// How the index of a party is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexHealth {
    /// Files that were looked at.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Entries.
    pub entries: usize,
    /// Files that are not searched as they should be: path and a sentence.
    pub troubled: Vec<(String, String)>,
    /// Files that are known to have changed and were not read again yet.
    pub waiting: usize,
}

/// How the indexes of everybody are, in numbers alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IndexTotals {
    /// Entries.
    pub entries: usize,
    /// Files that are not searched as they should be.
    pub troubled: usize,
    /// Files that are known to have changed and were not read again yet.
    pub waiting: usize,
}

impl Index {
    /// The index of that tree, by words alone.
    pub fn new(tree: Workspace, journal: Journal, clock: Arc<dyn Clock>) -> Self {
        Self(
            Arc::new(IndexInner {
                tree,
                journal,
                clock,
                noticed: Mutex::new(Noticed::nothing()),
                reading: tokio::sync::Mutex::default(),
            }),
            None,
        )
    }

    /// The same, by meaning as well if there are vectors.
    #[must_use]
    pub fn with_vectors(self, vectors: Option<Vectors>) -> Self {
        Self(self.0, vectors)
    }

    /// Nearness in meaning, if somebody computes it.
    pub fn vectors(&self) -> Option<&Vectors> {
        self.1.as_ref()
    }

    /// Takes in everything that changed in the folder of that party and in what the journal tells
    /// of them.
    ///
    /// # Errors
    /// If the journal or the workspace cannot be read.
    pub async fn refresh(&self, party: &Party) -> anyhow::Result<()> {
        let room = self.room(party).await?;
        self.sync(&room, usize::MAX).await
    }

    /// The same for everybody, and drops what belongs to nobody any more. For the start, in the
    /// background. From then on the index is whole, unless there was no workspace to look at.
    ///
    /// # Errors
    /// If the journal or the workspace cannot be read.
    pub async fn refresh_all(&self) -> anyhow::Result<()> {
        let was_whole = self.0.journal.read(|db| db.entries().entries_are_whole()).await?;
        if !was_whole {
            self.0.journal.write("make the index whole", |tx| tx.entries().entries_begun()).await?;
        }
        self.refresh_everybody().await?;
        if !was_whole && self.0.has_workspace().await? {
            self.0.journal.write("the index is whole", |tx| tx.entries().entries_done()).await?;
        }
        Ok(())
    }

    /// All of whom anything may be known: people and groups.
    pub async fn parties(&self) -> anyhow::Result<Vec<Party>> {
        let people = self.0.journal.read(|db| db.people().people()).await?;
        let streams = self.0.journal.read(|db| db.conversations().streams()).await?;
        let groups = streams.into_iter().filter(|(id, _, scope)| *scope == Scope::Group(*id));
        Ok(people.into_iter().map(Party::One).chain(groups.map(|(id, ..)| Party::Group(id))).collect())
    }

    async fn refresh_everybody(&self) -> anyhow::Result<()> {
        let mut rooms = Vec::new();
        for party in self.parties().await? {
            let room = self.room(&party).await?;
            self.sync(&room, usize::MAX).await?;
            rooms.push(room);
        }
        self.drop_strays(&rooms).await
    }

    /// Throws the index away. The next look makes it anew, with the same answers.
    pub async fn forget_all(&self) -> anyhow::Result<()> {
        self.0.journal.write("throw the index away", |tx| tx.entries().clear_entries()).await?;
        self.walk_again();
        Ok(())
    }

    /// Forgets what was noticed of the disk, after folders were moved: the next look at any folder
    /// looks at every file, and watches it anew.
    pub fn look_anew(&self) {
        *self.0.noticed() = Noticed::nothing();
    }

    /// What matches, best first.
    ///
    /// # Errors
    /// If the journal cannot be read. No question is an error.
    pub async fn search(&self, question: &IndexQuery) -> anyhow::Result<IndexMatches> {
        let room = self.room(&question.party).await?;
        self.sync(&room, READ_BEFORE_SEARCH).await?;
        let mut found = search::search(&self.0.journal, self.1.as_ref(), question, self.0.clock.now()).await?;
        found.hits.iter_mut().for_each(|hit| room.show(hit));
        Ok(found)
    }

    /// The trusted facts and notes that were of use most and last.
    pub async fn salient(&self, party: &Party, limit: usize) -> anyhow::Result<Vec<EntryHit>> {
        let room = self.room(party).await?;
        self.sync(&room, READ_BEFORE_SEARCH).await?;
        let rows = self.0.journal.read_much(move |db| db.entries().entries_of_use(room.scope, WEIGHED)).await?;
        let mut hits = search::most_salient(rows, limit, self.0.clock.now());
        hits.iter_mut().for_each(|hit| room.show(hit));
        Ok(hits)
    }

    /// Those entries were given to a turn that nothing untrusted had a part in.
    pub async fn used(&self, keys: &[String]) -> anyhow::Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        let (keys, now) = (keys.to_vec(), self.0.clock.now());
        self.0.journal.write("count the use of entries", move |tx| tx.entries().entries_used(&keys, now)).await
    }

    /// What in the journal those entries grew from: versions of files, summaries, turns.
    pub async fn origins(&self, hits: &[EntryHit]) -> anyhow::Result<Vec<Node>> {
        let keys: Vec<String> = hits.iter().map(|hit| hit.key.clone()).collect();
        self.0
            .journal
            .read_much(move |db| {
                let mut nodes = Vec::new();
                for (path, section) in db.entries().entry_places(&keys)? {
                    nodes.extend(journal_entries::origin(db, &path, &section)?);
                }
                nodes.sort_unstable();
                nodes.dedup();
                Ok(nodes)
            })
            .await
    }

    /// How the index of that party is, after it took in what changed.
    pub async fn health(&self, party: &Party) -> anyhow::Result<IndexHealth> {
        let room = self.room(party).await?;
        self.sync(&room, READ_BEFORE_SEARCH).await?;
        let waiting = self.waiting_of(&room);
        self.0
            .journal
            .read_much(move |db| {
                let files: Vec<Indexed> = db
                    .entries()
                    .indexed_in(room.scope)?
                    .into_iter()
                    .filter(|file| !journal_entries::is_told(&file.path))
                    .collect();
                let troubled = files.iter().filter(|file| !file.trouble.is_empty());
                Ok(IndexHealth {
                    files: files.len(),
                    bytes: files.iter().map(|file| file.size).sum(),
                    entries: db.entries().entries_of(room.scope)?,
                    troubled: troubled.map(|file| (file.path.clone(), file.trouble.clone())).collect(),
                    waiting,
                })
            })
            .await
    }

    /// The same for everybody together.
    pub async fn totals(&self) -> anyhow::Result<IndexTotals> {
        let mut totals = IndexTotals::default();
        for party in self.parties().await? {
            let health = self.health(&party).await?;
            totals.entries = totals.entries.saturating_add(health.entries);
            totals.troubled = totals.troubled.saturating_add(health.troubled.len());
            totals.waiting = totals.waiting.saturating_add(health.waiting);
        }
        Ok(totals)
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Index")
    }
}
