//! Entry index: knowledge cut into units for search.
//!
//! Knowledge is files, history is the journal; the index is derived from both and can be deleted at
//! any time. Entries are facts, notes, points of daily notes, passages of every other text file of
//! the workspace, and summaries of conversations and reflections, each with the label and the scope
//! of its source. A key that survives rebuilding keeps the usage counts of an entry.
//!
//! Every search first takes in changes, so an edit by hand, a deletion and a write of a moment ago
//! are seen without a restart. Edits by hand that may change values are taken in before each turn as
//! well ([`Index::record_hand_edits`]). Trusted entries are returned; untrusted ones are counted, and
//! returned only on request. Scopes are checked inside the full-text index. Being found is not
//! being used: only entries given to a clean turn count ([`Index::used`]), and usage never ranks an
//! entry above an exact match.

mod changes;
mod journal_entries;
mod parse;
mod sync;

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use super::layout;
use super::workspace::Workspace;
use crate::people::Party;
use crate::search::entries::{self, EntryHit, EntryMatches, EntryQuery, UnaskedMemories};
use crate::search::vectors::Vectors;
use crate::store::{Db, EntryRow, FileRow, Journal, Node};
use crate::time::Clock;
use crate::trust::Scope;
use changes::PendingChanges;

/// Maximum number of changed files that are read before a search or a turn; [`Index::refresh`] and
/// later searches read the rest.
const READ_AT_ONCE: usize = 512;
/// Maximum number of days in a list.
const MOST_DAYS: u32 = 400;
/// Maximum number of entries ranked for the start of a conversation.
const WEIGHED: u32 = 500;

/// Index of the workspace and of conversations in the journal. Clones share the same state.
#[derive(Clone)]
pub struct Index(Arc<IndexInner>, Option<Vectors>);

struct IndexInner {
    workspace: Workspace,
    journal: Journal,
    clock: Arc<dyn Clock>,
    pending: Mutex<PendingChanges>,
    /// Held while changes are searched, and while a batch of files is read.
    reading: tokio::sync::Mutex<()>,
}

/// State of a party's index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexHealth {
    /// Number of indexed files.
    pub files: usize,
    /// Their size in bytes.
    pub bytes: u64,
    /// Number of entries.
    pub entries: usize,
    /// Files that are not fully searchable: path and explanation.
    pub troubled: Vec<(String, String)>,
    /// Number of files with known changes that are not read yet.
    pub waiting: usize,
}

/// Paths of notes, for a page of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotePaths {
    /// Notes of no day, by path.
    pub notes: Vec<String>,
    /// The last of them, if more follow.
    pub next: Option<String>,
    /// Notes of days, newest first.
    pub days: Vec<String>,
    /// Notes that wait in `memory/untrusted/`.
    pub outside: Vec<String>,
}

/// Totals over the indexes of all parties.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IndexTotals {
    /// Number of entries.
    pub entries: usize,
    /// Number of files that are not fully searchable.
    pub troubled: usize,
    /// Number of files with known changes that are not read yet.
    pub waiting: usize,
}

impl Index {
    /// Creates an index of that workspace, without semantic search.
    pub fn new(workspace: Workspace, journal: Journal, clock: Arc<dyn Clock>) -> Self {
        Self(
            Arc::new(IndexInner {
                workspace,
                journal,
                clock,
                pending: Mutex::new(PendingChanges::nothing()),
                reading: tokio::sync::Mutex::default(),
            }),
            None,
        )
    }

    /// Adds semantic search, if there are vectors.
    #[must_use]
    pub fn with_vectors(self, vectors: Option<Vectors>) -> Self {
        Self(self.0, vectors)
    }

    /// Returns the vectors for semantic search, if configured.
    pub fn vectors(&self) -> Option<&Vectors> {
        self.1.as_ref()
    }

    /// Takes in all changes in the folder of that party and in the journal's data about them.
    pub async fn refresh(&self, party: &Party) -> anyhow::Result<()> {
        self.sync(party, usize::MAX).await.map(drop)
    }

    /// Refreshes the indexes of all parties, and drops entries without an owner. Runs in the
    /// background at the start. Afterwards the index is complete, unless there was no workspace.
    pub async fn refresh_all(&self) -> anyhow::Result<()> {
        let was_whole = self.0.journal.read(|db| db.entries().entries_are_whole()).await?;
        if !was_whole {
            self.0.journal.write("make the index whole", |tx| tx.entries().entries_begun()).await?;
        }
        let mut parties = Vec::new();
        for party in self.parties().await? {
            parties.push(self.sync(&party, usize::MAX).await?);
        }
        self.drop_strays(&parties).await?;
        if !was_whole && self.0.has_workspace().await? {
            self.0.journal.write("the index is whole", |tx| tx.entries().entries_done()).await?;
        }
        Ok(())
    }

    /// Returns all parties that can have entries: people and groups.
    pub async fn parties(&self) -> anyhow::Result<Vec<Party>> {
        let people = self.0.journal.read(|db| db.people().people()).await?;
        let streams = self.0.journal.read(|db| db.conversations().streams()).await?;
        let groups = streams.into_iter().filter(|(id, _, scope)| *scope == Scope::Group(*id));
        Ok(people.into_iter().map(Party::One).chain(groups.map(|(id, ..)| Party::Group(id))).collect())
    }

    /// Clears the index. The next search rebuilds it, with the same answers.
    pub async fn clear(&self) -> anyhow::Result<()> {
        self.0.journal.write("throw the index away", |tx| tx.entries().clear_entries()).await?;
        self.0.pending().listed.clear();
        Ok(())
    }

    /// Discards the known state of the disk, after folders were moved: the next look at any folder
    /// checks every file and watches it again.
    pub fn discard_disk_state(&self) {
        *self.0.pending() = PendingChanges::nothing();
    }

    /// Returns matches, best first.
    ///
    /// # Errors
    /// If the journal cannot be read. An unusable query is not an error.
    pub async fn search(&self, question: &EntryQuery) -> anyhow::Result<EntryMatches> {
        let party = self.sync(&question.party, READ_AT_ONCE).await?;
        let question = self.with_profile(question);
        let mut found = entries::find_entries(&self.0.journal, self.1.as_ref(), &question, self.0.clock.now()).await?;
        found.hits.iter_mut().for_each(|hit| party.show(hit));
        Ok(found)
    }

    /// Adds the profile of the agent in use to a query for the memory of that agent.
    fn with_profile(&self, question: &EntryQuery) -> EntryQuery {
        let mut question = question.clone();
        if let [agent, profile] = self.0.workspace.own_memories().as_slice()
            && question.agents.iter().any(|asked| asked.trim().eq_ignore_ascii_case(agent))
        {
            question.agents.push(profile.clone());
        }
        question
    }

    /// Returns the agents and profiles whose memory comes to a party without being asked for.
    pub async fn unasked_memories(&self, party: &Party) -> anyhow::Result<UnaskedMemories> {
        let (scope, is_usual) = (party.scope(), self.0.workspace.1.memory.experience_for_all);
        let switches = self.0.journal.read(move |db| db.settings().memory_switches(scope)).await?;
        let own = self.0.workspace.own_memories();
        let switched = switches.into_iter().filter(|(name, is_on)| *is_on != is_usual && !own.contains(name));
        let switched: Vec<String> = switched.map(|(name, _)| name).collect();
        Ok(match is_usual {
            true => UnaskedMemories::AllBut(switched),
            false => UnaskedMemories::Only([own, switched].concat()),
        })
    }

    /// Returns what the prompt of a turn for that party says anyway, as
    /// [`EntryQuery::known_texts`].
    pub async fn prompt_lines(&self, party: &Party) -> anyhow::Result<Arc<[String]>> {
        let (workspace, now) = (&self.0.workspace, self.0.clock.now());
        Ok(workspace.load(party, now, &workspace.zone().day(now)).await?.lines().into())
    }

    /// Returns the trusted facts and notes used most often and most recently.
    pub async fn salient(&self, party: &Party, limit: usize) -> anyhow::Result<Vec<EntryHit>> {
        let unasked = self.unasked_memories(party).await?;
        let party = self.sync(party, READ_AT_ONCE).await?;
        let rows = self.0.journal.read_much(move |db| db.entries().entries_of_use(party.scope, WEIGHED)).await?;
        let rows = rows.into_iter().filter(|row| unasked.has(&row.path)).collect();
        let mut hits = entries::most_salient(rows, limit, self.0.clock.now());
        hits.iter_mut().for_each(|hit| party.show(hit));
        Ok(hits)
    }

    /// Returns the trusted facts and notes that were used, the most used first, with their paths as
    /// the party sees them.
    pub async fn most_used(&self, party: &Party, limit: u32) -> anyhow::Result<Vec<EntryRow>> {
        let party = self.sync(party, READ_AT_ONCE).await?;
        let mut rows = self.0.journal.read_much(move |db| db.entries().most_used_entries(party.scope, limit)).await?;
        rows.iter_mut().for_each(|row| party.show_path(&mut row.path));
        Ok(rows)
    }

    /// Returns the paths of a party's notes, as the party sees them: at most `limit` of each kind,
    /// those of no day from the first after `after` on. Days and notes from outside come with the
    /// first of them only.
    pub async fn note_paths(&self, party: &Party, after: &str, limit: u32) -> anyhow::Result<NotePaths> {
        let party = self.sync(party, READ_AT_ONCE).await?;
        let is_first = after.is_empty();
        let at = |path: &str| layout::within(&party.folder, path);
        let (memory, outside) = (at("memory"), at("memory/untrusted"));
        let after = if is_first { String::new() } else { at(after) };
        let read = move |db: Db<'_>| {
            let entries = db.entries();
            let mut notes = entries.note_paths(&memory, &after, limit.saturating_add(1))?;
            let is_cut = notes.len() > usize::try_from(limit)?;
            notes.truncate(usize::try_from(limit)?);
            let next = notes.last().filter(|_| is_cut).cloned();
            let (days, outside) = match is_first {
                true => (entries.day_paths(&memory, MOST_DAYS)?, entries.note_paths(&outside, "", limit)?),
                false => Default::default(),
            };
            Ok(NotePaths { notes, next, days, outside })
        };
        let mut paths = self.0.journal.read_much(read).await?;
        let NotePaths { notes, next, days, outside } = &mut paths;
        notes.iter_mut().chain(next).chain(days).chain(outside).for_each(|path| party.show_path(path));
        Ok(paths)
    }

    /// Returns the files of the party that are not there but can be restored, by path from the one
    /// after `after` on, at most that many: the newest version of each with its content, under the
    /// path as its owner sees it. Indexed files count as being there, which is much quicker than a
    /// look at each.
    pub async fn deleted_files(&self, party: &Party, after: &str, most: usize) -> anyhow::Result<Vec<FileRow>> {
        self.refresh(party).await?;
        self.0.workspace.versions().deleted(party, after, most).await
    }

    /// Records that those entries were given to a turn without untrusted input.
    pub async fn used(&self, keys: &[String]) -> anyhow::Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        let (keys, now) = (keys.to_vec(), self.0.clock.now());
        self.0.journal.write("count the use of entries", move |tx| tx.entries().entries_used(&keys, now)).await
    }

    /// Returns the categories that trusted entries of that scope state, sorted.
    pub async fn categories(&self, scope: Scope) -> anyhow::Result<Vec<String>> {
        self.0.journal.read(move |db| db.entries().categories(scope)).await
    }

    /// Returns the journal nodes behind those entries: file versions, summaries, turns.
    pub async fn origins(&self, hits: &[EntryHit]) -> anyhow::Result<Vec<Node>> {
        let keys: Vec<String> = hits.iter().map(|hit| hit.key.clone()).collect();
        self.0.journal.read_much(move |db| Self::origins_in(db, &keys)).await
    }

    /// Returns the journal nodes behind the entries with those keys.
    pub fn origins_in(db: Db<'_>, keys: &[String]) -> anyhow::Result<Vec<Node>> {
        let mut nodes = Vec::new();
        for (path, section) in db.entries().entry_places(keys)? {
            nodes.extend(journal_entries::origin(db, &path, &section)?);
        }
        nodes.sort_unstable();
        nodes.dedup();
        Ok(nodes)
    }

    /// Returns the state of that party's index, after taking in changes.
    pub async fn health(&self, party: &Party) -> anyhow::Result<IndexHealth> {
        let party = self.sync(party, READ_AT_ONCE).await?;
        let waiting = self.pending_of(&party);
        let read = move |db: Db<'_>| {
            let mut files = db.entries().indexed_in(party.scope)?;
            files.retain(|file| !journal_entries::is_journal_path(&file.path));
            let troubled = files.iter().filter(|file| !file.trouble.is_empty());
            Ok(IndexHealth {
                files: files.len(),
                bytes: files.iter().map(|file| file.size).sum(),
                entries: db.entries().entries_of(party.scope)?,
                troubled: troubled.map(|file| (file.path.clone(), file.trouble.clone())).collect(),
                waiting,
            })
        };
        self.0.journal.read_much(read).await
    }

    /// Returns the totals over all parties.
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
