//! Finds the source messages of a note or fact by its derivation edges.
//!
//! A note derives from the sources of all its versions. A fact shares its file with others, so the
//! first version that contains it counts. An edge may lead to several messages: a turn that answers
//! several, or a span from which facts were extracted. Then the messages that contain the fact, in
//! these or other words, are its sources; if there are none, all messages of the turn, but never a
//! whole span.

use super::matches::value_text;
use super::{ErasureKind, ErasureRow};
use crate::id::{ErasureId, MessageId};
use crate::store::Node;
use crate::store::handles::{Erasure, ErasureMut};
use crate::trust::{Label, Scope};

/// The content of an earlier file version.
#[derive(Debug, Clone)]
pub struct OldContent {
    /// Path relative to the workspace.
    pub path: String,
    /// Content.
    pub text: String,
    /// Label of the content.
    pub label: Label,
}

impl Erasure<'_> {
    /// Returns the kept contents of earlier file versions of a scope.
    pub fn old_contents(&self, scope: Scope) -> anyhow::Result<Vec<OldContent>> {
        let sql = "SELECT f.path, c.content, f.label FROM files f JOIN file_contents c ON c.file_id = f.id WHERE f.scope = ?1 ORDER BY f.id";
        let mut query = self.db.prepare_cached(sql)?;
        let rows = query.query_map([scope], |row| {
            Ok(OldContent {
                path: row.get("path")?,
                text: value_text(row.get_ref("content")?),
                label: row.get("label")?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl ErasureMut<'_> {
    pub(super) fn record_sources(&self, id: ErasureId) -> anyhow::Result<()> {
        let Some(row) = self.row(id)? else { return Ok(()) };
        if row.belongs_to_person_erasure() {
            // Others wrote in the same conversations; similar text may be theirs.
            return Ok(());
        }
        let mut nodes = match row.kind {
            ErasureKind::Note => {
                let versions = self.db.all("SELECT id FROM files WHERE path = ?1", [&row.target])?;
                self.parents_of(versions.into_iter().map(Node::File))?
            }
            ErasureKind::Fact => self.first_versions_with(&row)?,
            // Only the matching messages, which were shown to the person.
            ErasureKind::Words | ErasureKind::Person => return Ok(()),
        };
        nodes.extend(self.extractions_with(&row)?);
        for node in nodes {
            for message in self.messages_behind(&row, node)? {
                self.tx().derivations().derive(Node::Erasure(id), Node::Message(message))?;
            }
        }
        Ok(())
    }

    /// Returns, for each file of the scope, the versions that contain it while the previous one
    /// does not.
    fn first_versions_with(&self, row: &ErasureRow) -> anyhow::Result<Vec<Node>> {
        let mut query = self.db.prepare_cached(
            "SELECT f.id, f.path, c.content FROM files f JOIN file_contents c ON c.file_id = f.id WHERE f.scope = ?1 ORDER BY f.path, f.id",
        )?;
        let (mut rows, mut first) = (query.query([row.scope])?, Vec::new());
        // The path of the previous version, if it contains it.
        let mut previous: Option<String> = None;
        while let Some(found) = rows.next()? {
            let matching = row.matches_line(&value_text(found.get_ref(2)?)).then(|| found.get(1)).transpose()?;
            if matching.is_some() && matching != previous {
                first.push(Node::File(found.get(0)?));
            }
            previous = matching;
        }
        self.parents_of(first)
    }

    fn extractions_with(&self, row: &ErasureRow) -> anyhow::Result<Vec<Node>> {
        let sql = "SELECT id, facts FROM extractions WHERE scope = ?1 AND facts <> '[]'";
        let (mut query, mut matching) = (self.db.prepare_cached(sql)?, Vec::new());
        let mut rows = query.query([row.scope])?;
        while let Some(found) = rows.next()? {
            if row.query.matches(&found.get::<_, String>(1)?) {
                matching.push(Node::Extraction(found.get(0)?));
            }
        }
        Ok(matching)
    }

    fn parents_of(&self, children: impl IntoIterator<Item = Node>) -> anyhow::Result<Vec<Node>> {
        let mut parents = Vec::new();
        for child in children {
            parents.extend(self.db.derivations().parents(child)?);
        }
        Ok(parents)
    }

    /// Returns the messages behind an edge that contain it.
    fn messages_behind(&self, row: &ErasureRow, node: Node) -> anyhow::Result<Vec<MessageId>> {
        // The messages that a turn answers, and its reply.
        let of_turn = "SELECT id FROM messages WHERE turn_id = ?1 AND kind IN ('said', 'reply') ORDER BY id";
        let of_span = "SELECT m.id FROM extractions e JOIN messages m ON m.conversation_id = e.conversation_id
             AND m.id > e.after_message AND m.id <= e.upto_message AND m.kind IN ('said', 'reply') WHERE e.id = ?1";
        let (all, is_span): (Vec<MessageId>, bool) = match node {
            Node::Message(id) => (vec![id], row.kind == ErasureKind::Fact),
            Node::Turn(id) => (self.db.all(of_turn, [id])?, false),
            Node::Extraction(id) => (self.db.all(of_span, [id])?, true),
            _ => return Ok(Vec::new()),
        };
        let mut near = Vec::new();
        for id in &all {
            let texts = self.db.messages().texts_of(*id)?;
            if texts.iter().any(|text| row.query.is_near(text.text.open().0)) {
                near.push(*id);
            }
        }
        Ok(if near.is_empty() && !is_span { all } else { near })
    }
}
