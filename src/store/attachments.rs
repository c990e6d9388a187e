//! Files and reactions, received, sent, and put before the model.
//!
//! A file that came with a message has metadata from its sender, and a path once it is fetched.
//!
//! The row of a file or reaction sent with a reply is written during the turn and belongs to it. It
//! becomes part of the delivery when the reply is posted, so a turn without a reply sends nothing.
//! A picture that a tool puts before the model has such a row too; it is shown for the rest of the
//! turn.
//!
//! A reaction to a message has one row for each person and message, with the state last shown to
//! the assistant. It is not a message: it opens no conversation and calls no model. The next turn
//! of the stream gets a text about it, which is stored with the turn.

use rusqlite::params;
use strum::{EnumString, IntoStaticStr};

use super::Node;
use crate::id::{AttachmentId, MessageId, PersonId, StreamId, TurnId};
use crate::message::{ArrivedFile, FileKind, RemoteFile};
use crate::store::handles::{Attachments, AttachmentsMut, OutgoingFiles, OutgoingFilesMut, Reactions, ReactionsMut};
use crate::store::rows::{from_row, insert, stored_word};
use crate::text::{one_line, shorten};
use crate::time::Timestamp;
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
    /// Path relative to the workspace; blank before the file is there.
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

    /// Returns the message that a file came with.
    pub fn message_of_attachment(&self, id: AttachmentId) -> anyhow::Result<Option<MessageId>> {
        self.db.first("SELECT message_id FROM attachments WHERE id = ?1", [id])
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
        insert!(self.db, "attachments" {
            message_id: message, kind: file.kind, reference: file.reference, mime: file.mime, name: file.name, size,
            state: "remote", label, scope,
        })
    }

    /// Adds a file that lies in the inbox already. It is read when its turn comes, as one that is
    /// fetched.
    pub fn add_arrived(
        &self,
        message: MessageId,
        file: &ArrivedFile,
        label: &Label,
        scope: Scope,
    ) -> anyhow::Result<AttachmentId> {
        let id = self.add_attachment(message, &file.as_remote(), label, scope)?;
        let sql = "UPDATE attachments SET path = ?2, digest = ?3 WHERE id = ?1";
        self.db.run(sql, params![id, file.path, file.digest])?;
        Ok(id)
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

/// Kind of enclosure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
enum OutgoingFileKind {
    File,
    Reaction,
    Picture,
}

stored_word!(foreign OutgoingFileKind);

/// A file or reaction sent with a reply, or a picture shown to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enclosure {
    kind: OutgoingFileKind,
    what: String,
    digest: String,
}

impl Enclosure {
    /// Creates a file enclosure from its path relative to the workspace and the SHA-256 of its
    /// intended bytes.
    pub fn file(path: String, digest: String) -> Self {
        Self { kind: OutgoingFileKind::File, what: path, digest }
    }

    /// Creates a picture to be shown to the model, from its path relative to the workspace and the
    /// SHA-256 of its bytes.
    pub fn picture(path: String, digest: String) -> Self {
        Self { kind: OutgoingFileKind::Picture, what: path, digest }
    }

    /// Creates an emoji reaction.
    pub fn reaction(emoji: &str) -> Self {
        Self { kind: OutgoingFileKind::Reaction, what: emoji.to_owned(), digest: String::new() }
    }
}

/// A file sent with a reply, or a picture shown to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnclosedFile {
    /// Path relative to the workspace.
    pub path: String,
    /// SHA-256 of the intended bytes.
    pub digest: String,
}

from_row! { EnclosedFile from "enclosures" { path: "what", digest } }

impl OutgoingFiles<'_> {
    /// Returns the files sent with a turn's reply, in the order in which they were added.
    pub fn enclosed_files(&self, turn: TurnId) -> anyhow::Result<Vec<EnclosedFile>> {
        self.db.rows("WHERE turn_id = ?1 AND kind = 'file' ORDER BY id", [turn])
    }

    /// Returns the pictures that tools put before the model in a turn, in order.
    pub fn shown_pictures(&self, turn: TurnId) -> anyhow::Result<Vec<EnclosedFile>> {
        self.db.rows("WHERE turn_id = ?1 AND kind = 'picture' ORDER BY id", [turn])
    }

    /// Returns the emoji sent with a turn's reply.
    pub fn enclosed_reaction(&self, turn: TurnId) -> anyhow::Result<Option<String>> {
        self.db.first(
            "SELECT what FROM enclosures WHERE turn_id = ?1 AND kind = 'reaction' ORDER BY id DESC LIMIT 1",
            [turn],
        )
    }
}

impl OutgoingFilesMut<'_> {
    /// Adds an enclosure to a turn's reply, replacing the same one. Returns false if there would be
    /// more than `most`.
    pub fn enclose(&self, turn: TurnId, new: &Enclosure, most: usize) -> anyhow::Result<bool> {
        let kind = new.kind;
        self.db.run(
            "DELETE FROM enclosures WHERE turn_id = ?1 AND kind = ?2 AND what = ?3",
            params![turn, kind, new.what],
        )?;
        let so_far: i64 =
            self.db.one("SELECT count(*) FROM enclosures WHERE turn_id = ?1 AND kind = ?2", params![turn, kind])?;
        if usize::try_from(so_far).unwrap_or(usize::MAX) >= most {
            return Ok(false);
        }
        self.db.run(
            "INSERT INTO enclosures (turn_id, kind, what, digest) VALUES (?1, ?2, ?3, ?4)",
            params![turn, kind, new.what, new.digest],
        )?;
        Ok(true)
    }
}

/// Characters of a message quoted in that text.
const EXCERPT: usize = 60;
/// Maximum number of reactions per turn.
const MOST: u32 = 20;

/// A reaction not yet shown to the assistant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reaction {
    /// Message.
    pub message: MessageId,
    /// Person.
    pub person: PersonId,
    /// Emoji; blank if it was removed.
    pub emoji: String,
    /// Emoji shown to the assistant before; blank if none.
    pub told: String,
}

from_row! { Reaction { message: "message_id", person: "person_id", emoji, told } }

/// Returns the beginning of a message, as a reference to it.
pub fn excerpt(words: &str) -> String {
    shorten(&one_line(words), EXCERPT)
}

impl Reactions<'_> {
    /// Returns the reactions to messages of that stream that no turn has been shown.
    pub fn new_reactions(&self, stream: StreamId) -> anyhow::Result<Vec<Reaction>> {
        self.db.all(
            "SELECT r.message_id, r.person_id, r.emoji, r.told FROM reactions r INDEXED BY reactions_untold
             CROSS JOIN messages m ON m.id = r.message_id
             WHERE r.emoji <> r.told AND m.stream_id = ?1 ORDER BY r.at, r.id LIMIT ?2",
            params![stream, MOST],
        )
    }

    /// Returns a turn's text about reactions; blank if there is none.
    pub fn reacted(&self, turn: TurnId) -> anyhow::Result<String> {
        self.db.one("SELECT reacted FROM turns WHERE id = ?1", [turn])
    }
}

impl ReactionsMut<'_> {
    /// Records a reaction to a message; a blank emoji removes it.
    pub fn react(&self, message: MessageId, person: PersonId, emoji: &str, now: Timestamp) -> anyhow::Result<()> {
        self.db.run(
            "INSERT INTO reactions (message_id, person_id, emoji, at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (message_id, person_id) DO UPDATE SET emoji = ?3, at = ?4",
            params![message, person, emoji, now],
        )
    }

    /// Stores a turn's text about these reactions.
    pub fn store_reaction_text(&self, turn: TurnId, words: &str, of: &[Reaction]) -> anyhow::Result<()> {
        self.db.run("UPDATE turns SET reacted = ?2 WHERE id = ?1", params![turn, words])?;
        let sql = "UPDATE reactions SET told = ?3 WHERE message_id = ?1 AND person_id = ?2";
        for reaction in of {
            self.db.run(sql, params![reaction.message, reaction.person, reaction.emoji])?;
            self.tx().derivations().derive(Node::Turn(turn), Node::Message(reaction.message))?;
        }
        Ok(())
    }

    /// Removes the quotes of a deleted message from the texts about reactions.
    pub(super) fn unquote(&self, message: MessageId) -> anyhow::Result<()> {
        let quotes: Vec<(TurnId, i64, String)> = self.db.all(
            "SELECT u.id, u.conversation_id, t.text FROM derived_from d JOIN turns u
                 ON u.id = CAST(substr(d.child, 6) AS INTEGER)
                 JOIN texts t ON t.message_id = ?1 AND t.kind = 'said'
                 WHERE d.parent = 'message:' || ?1 AND d.child LIKE 'turn:%' AND u.reacted <> ''",
            [message],
        )?;
        for (turn, conversation, words) in quotes {
            self.db.run(
                "UPDATE turns SET reacted = replace(reacted, ?2, '…') WHERE id = ?1",
                params![turn, excerpt(&words)],
            )?;
            self.db.run("UPDATE conversations SET revision = revision + 1 WHERE id = ?1", [conversation])?;
        }
        Ok(())
    }
}
