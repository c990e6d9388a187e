//! Files that came with messages: metadata from their senders, and paths once they are fetched.

use crate::store::handles::{Attachments, AttachmentsMut};
use crate::store::rows::{from_row, stored_word};
use rusqlite::params;
use strum::{EnumString, IntoStaticStr};

use crate::id::{AttachmentId, MessageId, TurnId};
use crate::message::{FileKind, RemoteFile};
use crate::trust::{Label, Scope};

/// State of an attached file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum AttachmentState {
    /// On the server of its channel.
    Remote,
    /// Fetched.
    Here,
    /// Not available, or not readable.
    Failed,
    /// Deleted with its message.
    Gone,
}

stored_word!(AttachmentState);
stored_word!(foreign FileKind);

/// A file that came with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Row id.
    pub id: AttachmentId,
    /// Message that it came with.
    pub message: MessageId,
    /// Adapter reference and the sender's metadata.
    pub remote: RemoteFile,
    /// State.
    pub state: AttachmentState,
    /// Path relative to the workspace.
    pub path: String,
    /// Path of the extracted text, relative to the workspace; blank if the file itself is text.
    pub text_path: String,
    /// True if prompts hold only the beginning of its text.
    pub is_part: bool,
    /// Reason why it could not be fetched or read.
    pub trouble: String,
    /// Trust label.
    pub label: Label,
    /// Owning scope.
    pub scope: Scope,
}

from_row! {
    Attachment from "attachments", "kind, reference, mime, name, size" {
        id, message: "message_id", state, path, trouble, label, scope, text_path, is_part
    }
    with |row| {
        remote: RemoteFile {
            kind: row.get("kind")?,
            reference: row.get("reference")?,
            mime: row.get("mime")?,
            name: row.get("name")?,
            size: row.get::<_, Option<i64>>("size")?.and_then(|size| u64::try_from(size).ok()),
        },
    }
}

impl Attachments<'_> {
    /// Returns the files of a message.
    pub fn attachments_of(&self, id: MessageId) -> anyhow::Result<Vec<Attachment>> {
        self.db.rows("WHERE message_id = ?1 ORDER BY id", [id])
    }

    /// Returns true if any message that a turn answers holds text.
    pub fn turn_has_words(&self, turn: TurnId) -> anyhow::Result<bool> {
        self.db.exists(
            "SELECT 1 FROM messages m JOIN texts t ON t.message_id = m.id
             WHERE m.turn_id = ?1 AND m.kind = 'said' AND trim(t.text) <> ''",
            [turn],
        )
    }
}

impl AttachmentsMut<'_> {
    /// Adds a file to a message.
    pub fn add_attachment(
        &self,
        message: MessageId,
        file: &RemoteFile,
        label: &Label,
        scope: Scope,
    ) -> anyhow::Result<AttachmentId> {
        let size = file.size.and_then(|size| i64::try_from(size).ok());
        self.db.insert(
            "INSERT INTO attachments (message_id, kind, reference, mime, name, size, state, label, scope)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'remote', ?7, ?8)",
            params![message, file.kind, file.reference, file.mime, file.name, size, label, scope],
        )
    }

    /// Records that a file was fetched to `path`. If the message was deleted meanwhile, the file is
    /// queued for deletion.
    pub fn attachment_here(&self, id: AttachmentId, path: &str, digest: &str, size: i64) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE attachments SET state = CASE state WHEN 'gone' THEN state ELSE 'here' END, path = ?2, digest =
             ?3, size = ?4
             WHERE id = ?1",
            params![id, path, digest, size],
        )
    }

    /// Records the result of reading a file: the path of its extracted text, whether prompts hold
    /// only the beginning, and the reason if there is none.
    pub fn attachment_read(
        &self,
        id: AttachmentId,
        text_path: &str,
        is_part: bool,
        trouble: &str,
    ) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE attachments SET text_path = ?2, is_part = ?3, trouble = CASE state WHEN 'gone' THEN '' ELSE ?4
             END WHERE id = ?1",
            params![id, text_path, is_part, trouble],
        )
    }

    /// Records that a file will not arrive.
    pub fn attachment_failed(&self, id: AttachmentId, trouble: &str) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE attachments SET state = 'failed', trouble = ?2 WHERE id = ?1 AND state <> 'gone'",
            params![id, trouble],
        )
    }
}
