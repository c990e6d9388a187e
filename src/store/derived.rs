//! What grew from what. A turn points to the messages it answers, the files and summaries placed in it and to the turn before
//! it, whose text is its history; so the whole origin of a reply is the closure of these edges, and a turn adds only a few.

use std::fmt;

use rusqlite::OptionalExtension;

use super::{Db, Tx};
use crate::id::{AttachmentId, MessageId, SummaryId, TurnId};

/// An end of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// A message.
    Message(MessageId),
    /// A turn: its steps and its reply.
    Turn(TurnId),
    /// A summary.
    Summary(SummaryId),
    /// A version of a file that we wrote.
    File(i64),
    /// A file that came with a message.
    Attachment(AttachmentId),
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(id) => write!(f, "message:{id}"),
            Self::Turn(id) => write!(f, "turn:{id}"),
            Self::Summary(id) => write!(f, "summary:{id}"),
            Self::File(id) => write!(f, "file:{id}"),
            Self::Attachment(id) => write!(f, "attachment:{id}"),
        }
    }
}

impl Tx<'_> {
    /// `child` grew from `parent`.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn derive(&self, child: Node, parent: Node) -> anyhow::Result<()> {
        self.0
            .0
            .prepare_cached("INSERT OR IGNORE INTO derived_from (child, parent) VALUES (?1, ?2)")?
            .execute([child.to_string(), parent.to_string()])?;
        Ok(())
    }
}

impl Db<'_> {
    /// Where the words of a message grew: in the message itself, or, if it is a reply, in its turn.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn node_of(&self, message: MessageId) -> anyhow::Result<Node> {
        let mut query = self.0.prepare_cached("SELECT turn_id FROM messages WHERE id = ?1 AND kind = 'reply'")?;
        let turn: Option<Option<TurnId>> = query.query_row([message], |row| row.get(0)).optional()?;
        Ok(turn.flatten().map_or(Node::Message(message), Node::Turn))
    }

    /// Everything that `child` grew from, near and far.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn origins(&self, child: Node) -> anyhow::Result<Vec<String>> {
        let mut query = self.0.prepare_cached(
            "WITH RECURSIVE origin (node) AS (
                 SELECT parent FROM derived_from WHERE child = ?1
                 UNION SELECT d.parent FROM derived_from d JOIN origin o ON d.child = o.node
             ) SELECT node FROM origin ORDER BY node",
        )?;
        Ok(query.query_map([child.to_string()], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }
}
