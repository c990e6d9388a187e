//! What a note or a fact grew from: the messages at the other end of its edges.
//!
//! A note grew from what its versions grew from. A fact stands in a file with many others: what
//! counts is the version that had it first. Where an edge leads to more than one thing was said in
//! (a turn that answers several messages, a stretch of a conversation that facts were taken down
//! from), those messages are meant that say it, in these words or others; if none of them does, all
//! of them, but never a whole stretch.

use crate::store::handles::{Erasure, ErasureMut};
use rusqlite::params;

use super::cut::words;
use super::{ForgettingRow, Forgotten};
use crate::id::{ExtractionId, ForgettingId, MessageId, TurnId};
use crate::store::Node;
use crate::trust::{Label, Scope};

/// A version of a file that is kept.
#[derive(Debug, Clone)]
pub struct KeptWords {
    /// Where the file lay, relative to the workspace.
    pub path: String,
    /// What stood in it.
    pub words: String,
    /// Where that came from.
    pub label: Label,
}

impl Erasure<'_> {
    /// What is kept of earlier versions of the files of a scope.
    pub fn kept_contents(&self, scope: Scope) -> anyhow::Result<Vec<KeptWords>> {
        let sql = "SELECT f.path, c.content, f.label FROM files f JOIN file_contents c ON c.file_id = f.id WHERE f.scope = ?1 ORDER BY f.id";
        let mut query = self.db.prepare_cached(sql)?;
        let rows = query.query_map([scope], |row| {
            Ok(KeptWords { path: row.get(0)?, words: words(row.get_ref(1)?), label: row.get(2)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl ErasureMut<'_> {
    pub(super) fn note_what_it_grew_from(&self, id: ForgettingId) -> anyhow::Result<()> {
        let Some(row) = self.forgetting(id)? else { return Ok(()) };
        if row.is_of_somebody() {
            // Others spoke in the same conversations: what is only near to it may be theirs.
            return Ok(());
        }
        let mut nodes = match row.what {
            Forgotten::Note => self.versions_of(&row)?,
            Forgotten::Fact => self.first_versions_with(&row)?,
            // Exactly those messages that hold the words, which the person was shown.
            Forgotten::Said | Forgotten::Person => return Ok(()),
        };
        nodes.extend(self.extractions_with(&row)?);
        for node in nodes {
            for message in self.said_for(&row, node)? {
                self.tx().derivations().derive(Node::Forgetting(id), Node::Message(message))?;
            }
        }
        Ok(())
    }

    fn versions_of(&self, row: &ForgettingRow) -> anyhow::Result<Vec<Node>> {
        let mut query = self.db.prepare_cached("SELECT id FROM files WHERE path = ?1")?;
        let ids: Vec<i64> = query.query_map([&row.target], |found| found.get(0))?.collect::<Result<_, _>>()?;
        self.parents_of(ids.into_iter().map(Node::File))
    }

    /// Of each file of the scope those versions that hold it while the one before does not.
    fn first_versions_with(&self, row: &ForgettingRow) -> anyhow::Result<Vec<Node>> {
        let mut query = self.db.prepare_cached(
            "SELECT f.id, f.path, c.content FROM files f JOIN file_contents c ON c.file_id = f.id WHERE f.scope = ?1 ORDER BY f.path, f.id",
        )?;
        let (mut rows, mut first) = (query.query([row.scope])?, Vec::new());
        let mut before: Option<(String, bool)> = None;
        while let Some(found) = rows.next()? {
            let (path, holds): (String, bool) = (found.get(1)?, row.goes_from(&words(found.get_ref(2)?)));
            let held = before.as_ref().is_some_and(|(of, held)| *of == path && *held);
            if holds && !held {
                first.push(Node::File(found.get(0)?));
            }
            before = Some((path, holds));
        }
        self.parents_of(first)
    }

    fn extractions_with(&self, row: &ForgettingRow) -> anyhow::Result<Vec<Node>> {
        let mut query =
            self.db.prepare_cached("SELECT id, facts FROM extractions WHERE scope = ?1 AND facts <> '[]'")?;
        let rows = query.query_map([row.scope], |found| Ok((found.get(0)?, found.get::<_, String>(1)?)))?;
        let found: Vec<(ExtractionId, String)> = rows.collect::<Result<_, _>>()?;
        Ok(found
            .into_iter()
            .filter(|(_, facts)| row.needles.are_in(facts))
            .map(|(id, _)| Node::Extraction(id))
            .collect())
    }

    fn parents_of(&self, children: impl IntoIterator<Item = Node>) -> anyhow::Result<Vec<Node>> {
        let mut parents = Vec::new();
        for child in children {
            parents.extend(self.db.derivations().parents(child)?);
        }
        Ok(parents)
    }

    /// The messages behind one end of an edge in which it was said.
    fn said_for(&self, row: &ForgettingRow, node: Node) -> anyhow::Result<Vec<MessageId>> {
        let (all, is_stretch) = match node {
            Node::Message(id) => (vec![id], row.what == Forgotten::Fact),
            Node::Turn(id) => (self.messages_around(id)?, false),
            Node::Extraction(id) => (self.stretch(id)?, true),
            _ => return Ok(Vec::new()),
        };
        let mut near = Vec::new();
        for id in &all {
            let texts = self.db.messages().texts_of(*id)?;
            if texts.iter().any(|text| row.needles.is_near(text.text.open().0)) {
                near.push(*id);
            }
        }
        Ok(if near.is_empty() && !is_stretch { all } else { near })
    }

    /// What a turn answers, and its answer.
    fn messages_around(&self, turn: TurnId) -> anyhow::Result<Vec<MessageId>> {
        let sql = "SELECT id FROM messages WHERE turn_id = ?1 AND kind IN ('said', 'reply') ORDER BY id";
        let mut query = self.db.prepare_cached(sql)?;
        Ok(query.query_map([turn], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    fn stretch(&self, id: ExtractionId) -> anyhow::Result<Vec<MessageId>> {
        let mut query = self.db.prepare_cached(
            "SELECT m.id FROM extractions e JOIN messages m ON m.conversation_id = e.conversation_id
                 AND m.id > e.after_message AND m.id <= e.upto_message AND m.kind IN ('said', 'reply') WHERE e.id = ?1",
        )?;
        Ok(query.query_map(params![id], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }
}
