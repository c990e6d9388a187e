//! Archives of other programs that were imported, and what came with them.
//!
//! What an import brought belongs to it alone: its conversations name it, and the label of each of
//! its texts is its source. A message is stored once in a stream, by the digest that the archive's
//! reader gives it, so an import that was cut off is completed by running it again, and a newer
//! archive of the same conversations brings only what is new. No row of an import is open work.

mod removal;

use rusqlite::params;
use strum::{EnumString, IntoStaticStr};

use super::{BoundaryReason, ConversationKind, MessageKind, NewConversation, NewMessage, TextKind};
use crate::id::{ImportId, MessageId, StreamId};
use crate::store::handles::{Imports, ImportsMut};
use crate::store::rows::{from_row, insert, stored_word};
use crate::time::Timestamp;
use crate::trust::{Label, Scope, Text};

/// Program that an archive comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum ArchiveKind {
    /// ChatGPT's export of all conversations.
    ChatGpt,
    /// Claude's export of all conversations.
    Claude,
    /// Telegram Desktop's export of a chat, or of all chats.
    Telegram,
    /// OpenClaw's workspace and sessions.
    OpenClaw,
    /// Carpenter's knowledge base.
    Carpenter,
}

/// Progress of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ImportState {
    /// Begun; it was cut off unless it is under way.
    Open,
    /// Complete.
    Done,
    /// Being removed.
    Leaving,
    /// Removed.
    Gone,
}

stored_word!(ArchiveKind, ImportState);

/// An import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportRow {
    /// Row id.
    pub id: ImportId,
    /// Stream of the person who has what it brought.
    pub stream: StreamId,
    /// Program that the archive comes from.
    pub kind: ArchiveKind,
    /// Name of the archive's file.
    pub name: String,
    /// Scope that owns it.
    pub scope: Scope,
    /// Progress.
    pub state: ImportState,
    /// True if its texts may be sent to the embedding server.
    pub may_embed: bool,
    /// Time of its begin.
    pub began_at: Timestamp,
    /// Number of messages that it brought, without the titles.
    pub messages: i64,
    /// Number of conversations that it brought.
    pub conversations: i64,
    /// Number of notes that it brought, without the dropped ones.
    pub notes: i64,
    /// Number of skills that it proposed.
    pub skills: i64,
}

from_row! {
    ImportRow from "imports i" {
        id, stream: "stream_id", kind, name, scope, state, may_embed, began_at,
        messages = "(SELECT coalesce(sum(c.messages - 1), 0) FROM conversations c WHERE c.import_id = i.id)",
        conversations = "(SELECT count(*) FROM conversations c WHERE c.import_id = i.id)",
        notes = "(SELECT count(DISTINCT f.path) FROM files f WHERE f.cause = 'import' AND f.label = 'import:' || i.id)",
        skills = "(SELECT count(*) FROM proposals p WHERE p.origin = 'import' AND p.label = 'import:' || i.id)",
    }
}

/// An import to begin.
#[derive(Debug, Clone)]
pub struct NewImport {
    /// Stream of the person.
    pub stream: StreamId,
    /// Scope that owns it.
    pub scope: Scope,
    /// Program that the archive comes from.
    pub kind: ArchiveKind,
    /// Name of the archive's file.
    pub name: String,
    /// True if its texts may be sent to the embedding server.
    pub may_embed: bool,
    /// Current time.
    pub at: Timestamp,
}

/// A message of an archive.
#[derive(Debug, Clone)]
pub struct NewImported {
    /// Digest that identifies the message, whichever archive it is in.
    pub key: String,
    /// Time in the archive.
    pub at: Timestamp,
    /// Text.
    pub text: Text,
}

impl Imports<'_> {
    /// Returns an import by number.
    pub fn import(&self, id: ImportId) -> anyhow::Result<Option<ImportRow>> {
        self.db.row("WHERE i.id = ?1", [id])
    }

    /// Returns all imports that are not removed, newest first.
    pub fn imports(&self) -> anyhow::Result<Vec<ImportRow>> {
        self.db.rows("WHERE i.state <> 'gone' ORDER BY i.id DESC", [])
    }

    /// Counts the messages of an archive that a stream does not have yet, by their digests.
    pub fn unknown(&self, stream: StreamId, keys: &[String]) -> anyhow::Result<usize> {
        let mut unknown = 0;
        for key in keys {
            unknown += usize::from(!self.is_known(stream, key)?);
        }
        Ok(unknown)
    }

    fn is_known(&self, stream: StreamId, key: &str) -> anyhow::Result<bool> {
        let known = "SELECT 1 FROM messages WHERE kind = 'imported' AND stream_id = ?1 AND external_id = ?2";
        self.db.exists(known, params![stream, key])
    }

    /// Returns true while an import may bring more.
    pub fn is_open(&self, id: ImportId) -> anyhow::Result<bool> {
        self.db.exists("SELECT 1 FROM imports WHERE id = ?1 AND state = 'open'", [id])
    }

    /// Returns true if text with that label may not be sent to the embedding server.
    pub fn withholds(&self, label: &Label) -> anyhow::Result<bool> {
        Ok(!label.is_trusted() && self.db.one(&format!("SELECT {}", withheld_by_import("?1")), [label])?)
    }

    /// Returns the kind of archive that a message comes from.
    pub fn archive_of(&self, message: MessageId) -> anyhow::Result<Option<ArchiveKind>> {
        self.db.first(
            "SELECT i.kind FROM messages m JOIN conversations c ON c.id = m.conversation_id
             JOIN imports i ON i.id = c.import_id WHERE m.id = ?1",
            [message],
        )
    }
}

impl ImportsMut<'_> {
    /// Begins an import, or continues one of the same file that was cut off.
    pub fn begin(&self, new: &NewImport) -> anyhow::Result<ImportId> {
        let open = self.db.first(
            "SELECT id FROM imports WHERE stream_id = ?1 AND kind = ?2 AND name = ?3 AND may_embed = ?4
             AND state = 'open' ORDER BY id LIMIT 1",
            params![new.stream, new.kind, new.name, new.may_embed],
        )?;
        if let Some(open) = open {
            return Ok(open);
        }
        insert!(self.db, "imports" {
            stream_id: new.stream, kind: new.kind, name: new.name, scope: new.scope, state: ImportState::Open,
            may_embed: new.may_embed, began_at: new.at,
        })
    }

    /// Stores those messages of a conversation that are not there yet, as a closed conversation.
    /// Returns their number.
    pub fn add_conversation(
        &self,
        import: &ImportRow,
        title: &Text,
        messages: &[NewImported],
        now: Timestamp,
    ) -> anyhow::Result<usize> {
        anyhow::ensure!(self.is_open(import.id)?, "Import {} was removed meanwhile", import.id);
        let mut new: Vec<&NewImported> = Vec::new();
        for message in messages {
            let is_repeated = new.iter().any(|other| other.key == message.key);
            if !is_repeated && !self.is_known(import.stream, &message.key)? {
                new.push(message);
            }
        }
        let (Some(first), Some(last)) = (new.first(), new.last()) else { return Ok(0) };
        let (stream, scope, because) = (import.stream, import.scope, BoundaryReason::Imported);
        let opening = NewConversation { stream, kind: ConversationKind::Imported, scope, because, at: first.at };
        let conversation = self.tx().conversations().open_conversation(&opening)?;
        let add = |at: Timestamp, key: &str, text: &Text| {
            let message = self.tx().messages().add_message(&NewMessage {
                stream,
                conversation: Some(conversation),
                inbox: None,
                address: None,
                person: None,
                guest: None,
                kind: MessageKind::Imported,
                scope,
                external_id: key,
                album: "",
                received_at: now,
                server_at: None,
                effective_at: at,
                turn: None,
            })?;
            self.tx().messages().add_text(message, TextKind::Said, text)?;
            anyhow::Ok(message)
        };
        let mut newest = add(first.at, "", title)?;
        for message in &new {
            newest = add(message.at, &message.key, &message.text)?;
        }
        self.db.run(
            "UPDATE conversations SET import_id = ?2, last_at = ?3, last_message_id = ?4, messages = ?5, closed_at = ?3,
                 written_down = 1, opening_state = 'final' WHERE id = ?1",
            params![conversation, import.id, last.at, newest, i64::try_from(new.len() + 1)?],
        )?;
        Ok(new.len())
    }

    /// Records that an import is complete. One that brought nothing is dropped.
    pub fn finish(&self, id: ImportId, now: Timestamp) -> anyhow::Result<()> {
        let brought = self.import(id)?.is_none_or(|row| row.conversations + row.notes + row.skills > 0);
        if !brought {
            self.db.run("DELETE FROM imports WHERE id = ?1", [id])?;
        }
        self.db
            .run("UPDATE imports SET state = 'done', ended_at = ?2 WHERE id = ?1 AND state = 'open'", params![id, now])
    }
}

/// SQL condition: the label in that column has a source that may not be sent to the embedding
/// server, because the import that it names was not allowed to.
pub(super) fn withheld_by_import(label: &str) -> String {
    format!(
        "EXISTS (SELECT 1 FROM imports w WHERE w.may_embed = 0 AND instr(' ' || {label} || ' ', ' import:' || w.id || ' ') > 0)"
    )
}
