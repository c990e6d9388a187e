//! Derivation edges between rows.
//!
//! A turn points to the messages it answers, the files and summaries placed in it, and the previous
//! turn, whose text is its history. The origin of a reply is the closure of these edges, and a turn
//! adds only a few.

use crate::store::handles::{Derivations, DerivationsMut};
use std::fmt;

use crate::id::{
    AttachmentId, CompactionId, ErasureId, ExtractionId, MessageId, ProposalId, SummaryId, TurnId, VersionId,
};
use crate::time::Timestamp;
use crate::trust::Label;

/// One end of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// A message.
    Message(MessageId),
    /// A turn: its steps and its reply.
    Turn(TurnId),
    /// A summary.
    Summary(SummaryId),
    /// A version of a workspace file.
    File(i64),
    /// A file that came with a message.
    Attachment(AttachmentId),
    /// A proposal.
    Proposal(ProposalId),
    /// A version of a skill.
    Version(VersionId),
    /// An extraction of facts.
    Extraction(ExtractionId),
    /// A summary in place of the older part of a conversation.
    Compaction(CompactionId),
    /// A deletion request; its parents are the source messages of the deleted text.
    Erasure(ErasureId),
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(id) => write!(f, "message:{id}"),
            Self::Turn(id) => write!(f, "turn:{id}"),
            Self::Summary(id) => write!(f, "summary:{id}"),
            Self::File(id) => write!(f, "file:{id}"),
            Self::Attachment(id) => write!(f, "attachment:{id}"),
            Self::Proposal(id) => write!(f, "proposal:{id}"),
            Self::Version(id) => write!(f, "version:{id}"),
            Self::Extraction(id) => write!(f, "extraction:{id}"),
            Self::Compaction(id) => write!(f, "compaction:{id}"),
            Self::Erasure(id) => write!(f, "forgetting:{id}"),
        }
    }
}

impl Node {
    /// Parses the stored form of a node; `None` if it is invalid.
    pub fn parse(word: &str) -> Option<Self> {
        let (kind, id) = word.split_once(':')?;
        let id = id.parse().ok()?;
        match kind {
            "message" => Some(Self::Message(MessageId(id))),
            "turn" => Some(Self::Turn(TurnId(id))),
            "summary" => Some(Self::Summary(SummaryId(id))),
            "file" => Some(Self::File(id)),
            "attachment" => Some(Self::Attachment(AttachmentId(id))),
            "proposal" => Some(Self::Proposal(ProposalId(id))),
            "version" => Some(Self::Version(VersionId(id))),
            "extraction" => Some(Self::Extraction(ExtractionId(id))),
            "compaction" => Some(Self::Compaction(CompactionId(id))),
            "forgetting" => Some(Self::Erasure(ErasureId(id))),
            _ => None,
        }
    }
}

impl DerivationsMut<'_> {
    /// Records that `child` derives from `parent`.
    pub fn derive(&self, child: Node, parent: Node) -> anyhow::Result<()> {
        self.db.run(
            "INSERT OR IGNORE INTO derived_from (child, parent) VALUES (?1, ?2)",
            [child.to_string(), parent.to_string()],
        )
    }
}

impl Derivations<'_> {
    /// Returns the node of a message's text: the turn for a reply, else the message itself.
    pub fn node_of(&self, message: MessageId) -> anyhow::Result<Node> {
        let turn: Option<Option<TurnId>> =
            self.db.first("SELECT turn_id FROM messages WHERE id = ?1 AND kind = 'reply'", [message])?;
        Ok(turn.flatten().map_or(Node::Message(message), Node::Turn))
    }

    /// Returns the direct parents of `child`.
    pub fn parents(&self, child: Node) -> anyhow::Result<Vec<Node>> {
        let words: Vec<String> =
            self.db.all("SELECT parent FROM derived_from WHERE child = ?1 ORDER BY parent", [child.to_string()])?;
        Ok(words.iter().filter_map(|word| Node::parse(word)).collect())
    }

    /// Returns creation time and label of a node; `None` if it no longer exists.
    pub fn birth(&self, node: Node) -> anyhow::Result<Option<(Timestamp, Label)>> {
        let (sql, id) = match node {
            Node::Message(id) => return self.birth_of_message(id),
            Node::Turn(id) => ("SELECT claimed_at, label FROM turns WHERE id = ?1", id.0),
            Node::Summary(id) => ("SELECT coalesce(made_at, wanted_at), label FROM summaries WHERE id = ?1", id.0),
            Node::File(id) => ("SELECT written_at, label FROM files WHERE id = ?1", id),
            Node::Attachment(id) => (
                "SELECT m.received_at, a.label FROM attachments a JOIN messages m ON m.id = a.message_id WHERE a.id = ?1",
                id.0,
            ),
            Node::Proposal(id) => ("SELECT created_at, label FROM proposals WHERE id = ?1", id.0),
            Node::Version(id) => ("SELECT made_at, label FROM skill_versions WHERE id = ?1", id.0),
            Node::Extraction(id) => ("SELECT wanted_at, label FROM extractions WHERE id = ?1", id.0),
            Node::Compaction(id) => ("SELECT wanted_at, label FROM compactions WHERE id = ?1", id.0),
            Node::Erasure(id) => ("SELECT wanted_at, label FROM forgettings WHERE id = ?1", id.0),
        };
        self.db.first(sql, [id])
    }

    fn birth_of_message(&self, id: MessageId) -> anyhow::Result<Option<(Timestamp, Label)>> {
        let Some(message) = self.db.messages().message(id)? else { return Ok(None) };
        let texts = self.db.messages().texts_of(id)?;
        let files = self.db.attachments().attachments_of(id)?;
        let labels = texts.iter().map(|text| text.text.label()).chain(files.iter().map(|file| &file.label));
        Ok(Some((message.received_at, Label::join_of(labels))))
    }

    /// Returns all direct and indirect origins of `child`.
    pub fn origins(&self, child: Node) -> anyhow::Result<Vec<String>> {
        self.db.all(
            "WITH RECURSIVE origin (node) AS (
             SELECT parent FROM derived_from WHERE child = ?1
             UNION SELECT d.parent FROM derived_from d JOIN origin o ON d.child = o.node
             ) SELECT node FROM origin ORDER BY node",
            [child.to_string()],
        )
    }
}
