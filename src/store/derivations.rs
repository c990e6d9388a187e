//! Origins of text: derivation edges between rows, and fingerprints of untrusted text.
//!
//! A turn points to the messages it answers, the files and summaries placed in it, and the previous
//! turn, whose text is its history. The origin of a reply is the closure of these edges, and a turn
//! adds only a few.
//!
//! Fingerprints are used to recognise pasted text. They are written in the transaction that stores
//! such a text: received text, tool results, and the parts of a proposal shown to an owner. A match
//! leads to the stored text, which is then compared letter by letter with the typed one.
//! Fingerprints are derived: [`FingerprintsMut::rebuild_fingerprints`] restores them from the
//! journal, and an older journal gets them when it is first opened. The descriptions of unaccepted
//! MCP tools are short, change in place, and are compared without stored fingerprints.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use rusqlite::params;

use crate::id::{
    AttachmentId, CompactionId, ConversationId, ErasureId, ExtractionId, MessageId, ProposalId, SummaryId, TurnId,
    VersionId,
};
use crate::store::handles::{Derivations, DerivationsMut, Fingerprints, FingerprintsMut};
use crate::text::winnow::{RUN, fingerprints, plain, share_run};
use crate::time::Timestamp;
use crate::trust::{Label, Scope};

/// Declares the nodes with their stored words: `message:7`.
macro_rules! nodes {
    ($($(#[$doc:meta])* $name:ident($id:ty) = $word:literal,)*) => {
        /// One end of an edge.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Node {
            $($(#[$doc])* $name($id),)*
        }

        impl fmt::Display for Node {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$name(id) => write!(f, "{}:{id}", $word),)*
                }
            }
        }

        impl Node {
            /// Parses the stored form of a node; `None` if it is invalid.
            pub fn parse(stored: &str) -> Option<Self> {
                let (word, id) = stored.split_once(':')?;
                let id: i64 = id.parse().ok()?;
                match word {
                    $($word => Some(Self::$name(id.into())),)*
                    _ => None,
                }
            }
        }
    };
}

nodes! {
    /// A message.
    Message(MessageId) = "message",
    /// A turn: its steps and its reply.
    Turn(TurnId) = "turn",
    /// A summary.
    Summary(SummaryId) = "summary",
    /// A version of a workspace file.
    File(i64) = "file",
    /// A file that came with a message.
    Attachment(AttachmentId) = "attachment",
    /// A proposal.
    Proposal(ProposalId) = "proposal",
    /// A version of a skill.
    Version(VersionId) = "version",
    /// An extraction of facts.
    Extraction(ExtractionId) = "extraction",
    /// A summary in place of the older part of a conversation.
    Compaction(CompactionId) = "compaction",
    /// A deletion request; its parents are the source messages of the deleted text.
    Erasure(ErasureId) = "forgetting",
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

    /// Returns everything that directly derives from `parent`.
    pub fn children(&self, parent: Node) -> anyhow::Result<Vec<Node>> {
        let words: Vec<String> =
            self.db.all("SELECT child FROM derived_from WHERE parent = ?1 ORDER BY child", [parent.to_string()])?;
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

    /// Returns the conversation in which a message, an answer or what was made of a conversation
    /// stands; `None` for any other node.
    pub fn conversation_of(&self, node: Node) -> anyhow::Result<Option<ConversationId>> {
        let (sql, id) = match node {
            Node::Message(id) => ("SELECT conversation_id FROM messages WHERE id = ?1", id.0),
            Node::Turn(id) => ("SELECT conversation_id FROM turns WHERE id = ?1", id.0),
            Node::Summary(id) => ("SELECT conversation_id FROM summaries WHERE id = ?1", id.0),
            Node::Extraction(id) => ("SELECT conversation_id FROM extractions WHERE id = ?1", id.0),
            Node::Compaction(id) => ("SELECT conversation_id FROM compactions WHERE id = ?1", id.0),
            Node::File(_) | Node::Attachment(_) | Node::Proposal(_) | Node::Version(_) | Node::Erasure(_) => {
                return Ok(None);
            }
        };
        Ok(self.db.first(sql, [id])?.flatten())
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

/// Number of source texts that is enough to establish the origin of a paste.
const ENOUGH: usize = 8;

/// Row with a fingerprinted text.
#[derive(Debug, Clone, Copy, strum::Display)]
pub(super) enum Fingerprinted {
    #[strum(to_string = "text:{0}")]
    Text(i64),
    #[strum(to_string = "step:{0}")]
    Step(i64),
    #[strum(to_string = "file:{0}")]
    File(i64),
    #[strum(to_string = "reason:{0}")]
    Reason(ProposalId),
    #[strum(to_string = "verdict:{0}")]
    Verdict(i64),
}

/// Origin of a paste.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pasted {
    /// Label of the source text.
    pub label: Label,
    /// Node of the source text; none for the description of an MCP tool.
    pub from: Option<Node>,
}

impl Fingerprints<'_> {
    /// Returns the untrusted texts of that scope, and shared ones, that have [`RUN`] consecutive
    /// characters in common with this one.
    pub fn pasted_from(&self, words: &str, scope: Scope) -> anyhow::Result<Vec<Pasted>> {
        let typed = plain(words);
        let hashes = fingerprints(&typed);
        let mut candidates = BTreeSet::<String>::new();
        for hash in &hashes {
            candidates.extend(self.db.all("SELECT node FROM fingerprints WHERE hash = ?1", [hash])?);
        }
        let mut found = self.pasted_from_tools(&typed, &hashes)?;
        for node in candidates {
            let Some((known, of, pasted)) = self.fingerprinted(&node)? else { continue };
            if of.fits(scope) && !pasted.label.is_trusted() && share_run(&typed, &plain(&known)) {
                found.push(pasted);
            }
            if found.len() >= ENOUGH {
                break;
            }
        }
        Ok(found)
    }

    /// Returns the text behind a fingerprint, with its scope and origin.
    fn fingerprinted(&self, node: &str) -> anyhow::Result<Option<(Arc<str>, Scope, Pasted)>> {
        let Some((kind, id)) = node.split_once(':') else { return Ok(None) };
        let sql = match kind {
            "file" => return self.fingerprinted_file(id.parse()?),
            "reason" => return self.shown("SELECT rationale, label, id FROM proposals WHERE id = ?1", id.parse()?),
            "verdict" => return self.shown("SELECT note, label, proposal_id FROM verdicts WHERE id = ?1", id.parse()?),
            "text" => "SELECT text, scope, label, message_id FROM texts WHERE id = ?1",
            "step" => "SELECT text, scope, label, turn_id FROM steps WHERE id = ?1",
            _ => return Ok(None),
        };
        let row: Option<(Arc<str>, Scope, Label, i64)> = self.db.first(sql, [id.parse::<i64>()?])?;
        let Some((text, scope, label, of)) = row else { return Ok(None) };
        let from = if kind == "text" { self.db.derivations().node_of(MessageId(of))? } else { Node::Turn(TurnId(of)) };
        Ok(Some((text, scope, Pasted { label, from: Some(from) })))
    }

    /// Returns the reason of a proposal, or a stage's note, which an owner sees next to the files.
    /// Approval covers only the files, so these stay untrusted.
    fn shown(&self, sql: &str, id: i64) -> anyhow::Result<Option<(Arc<str>, Scope, Pasted)>> {
        Ok(self.db.first(sql, [id])?.map(|(words, label, proposal)| {
            (words, Scope::Shared, Pasted { label, from: Some(Node::Proposal(proposal)) })
        }))
    }

    /// Compares with the descriptions of unaccepted MCP tools, which are shown to the owner for a
    /// decision.
    fn pasted_from_tools(&self, typed: &[char], hashes: &BTreeSet<i64>) -> anyhow::Result<Vec<Pasted>> {
        let mut found = Vec::new();
        if hashes.is_empty() {
            return Ok(found);
        }
        for tool in self.db.mcp_tools().outside_tools()?.into_iter().filter(|tool| !tool.is_accepted()) {
            let stands = [&tool.seen.description, &tool.seen.schema].into_iter().any(|words| {
                let known = plain(words);
                !fingerprints(&known).is_disjoint(hashes) && share_run(typed, &known)
            });
            if stands && found.len() < ENOUGH {
                found.push(Pasted { label: tool.seen.label, from: None });
            }
        }
        Ok(found)
    }

    /// Returns a file of a proposal. Owners see everyone's proposals, so it counts as shared; after
    /// approval it is trusted.
    fn fingerprinted_file(&self, id: i64) -> anyhow::Result<Option<(Arc<str>, Scope, Pasted)>> {
        let row: Option<(Vec<u8>, Label, ProposalId)> = self.db.first(
            "SELECT f.bytes, f.label, p.id FROM skill_files f JOIN proposals p ON p.id = f.proposal_id
             WHERE f.id = ?1 AND p.state <> 'approved'",
            [id],
        )?;
        Ok(row.and_then(|(bytes, label, proposal)| {
            let words = String::from_utf8(bytes).ok()?;
            Some((Arc::from(words), Scope::Shared, Pasted { label, from: Some(Node::Proposal(proposal)) }))
        }))
    }
}

impl FingerprintsMut<'_> {
    /// Rebuilds all fingerprints.
    pub fn rebuild_fingerprints(&self) -> anyhow::Result<()> {
        self.db.run("DELETE FROM fingerprints", [])?;
        let untrusted = format!("NOT {}", Label::is_trusted_sql("label"));
        for words in [
            "'text:' || id, text FROM texts WHERE true",
            "'step:' || id, text FROM steps WHERE state = 'done' AND call <> '[]'",
            "'reason:' || id, rationale FROM proposals WHERE true",
            "'verdict:' || id, note FROM verdicts WHERE true",
        ] {
            self.db.each(&format!("SELECT {words} AND {untrusted}"), [], |row| {
                self.store_fingerprints(&row.get::<_, String>(0)?, &row.get::<_, String>(1)?)
            })?;
        }
        self.db.each("SELECT id, bytes, label FROM skill_files WHERE proposal_id IS NOT NULL", [], |row| {
            self.fingerprint_file(row.get(0)?, &row.get::<_, Vec<u8>>(1)?, &row.get(2)?)
        })
    }

    /// Builds the fingerprints of a journal that is older than the current form.
    pub(super) fn catch_up_fingerprints(&self) -> anyhow::Result<()> {
        if self.db.settings().fact(CAUGHT_UP)?.as_deref() != Some(OF_WHAT) {
            self.rebuild_fingerprints()?;
            self.tx().settings().set_fact(CAUGHT_UP, OF_WHAT)?;
        }
        Ok(())
    }

    /// Adds the fingerprints of a text, unless it is trusted.
    pub(super) fn add_fingerprints(&self, of: Fingerprinted, words: &str, label: &Label) -> anyhow::Result<()> {
        if label.is_trusted() { Ok(()) } else { self.store_fingerprints(&of.to_string(), words) }
    }

    /// Adds the fingerprints of a proposed file. A file too long for a model's proposal is not
    /// shown in a chat, and is skipped.
    pub(super) fn fingerprint_file(&self, row: i64, bytes: &[u8], label: &Label) -> anyhow::Result<()> {
        match std::str::from_utf8(bytes) {
            Ok(words) if bytes.len() <= LONGEST_FILE => self.add_fingerprints(Fingerprinted::File(row), words, label),
            _ => Ok(()),
        }
    }

    /// Removes the fingerprints of a deleted text or step.
    pub(super) fn drop_fingerprints(&self, of: Fingerprinted, words: &str) -> anyhow::Result<()> {
        let (sql, node) = ("DELETE FROM fingerprints WHERE hash = ?1 AND node = ?2", of.to_string());
        fingerprints(&plain(words)).into_iter().try_for_each(|hash| self.db.run(sql, params![hash, node]))
    }

    fn store_fingerprints(&self, node: &str, words: &str) -> anyhow::Result<()> {
        // The length in bytes is at least that in characters.
        if words.len() < RUN {
            return Ok(());
        }
        let sql = "INSERT OR IGNORE INTO fingerprints (hash, node) VALUES (?1, ?2)";
        fingerprints(&plain(words)).into_iter().try_for_each(|hash| self.db.run(sql, params![hash, node]))
    }
}

/// Size limit for proposed files with fingerprints, in bytes.
const LONGEST_FILE: usize = 64 * 1024;

/// Key of the current form of the fingerprints: how they are computed and from what.
const CAUGHT_UP: &str = "fingerprints";
const OF_WHAT: &str = "3";
