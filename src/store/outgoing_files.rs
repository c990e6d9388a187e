//! Files and reactions sent with a reply.
//!
//! A row is written during the turn and belongs to it. It becomes part of the delivery when the
//! reply is posted, so a turn without a reply sends nothing.

use crate::store::handles::{OutgoingFiles, OutgoingFilesMut};
use crate::store::rows::{from_row, stored_word};
use rusqlite::params;
use strum::{EnumString, IntoStaticStr};

use crate::id::TurnId;

/// Kind of enclosure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
enum OutgoingFileKind {
    File,
    Reaction,
}

stored_word!(foreign OutgoingFileKind);

/// A file or reaction sent with a reply.
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

    /// Creates an emoji reaction.
    pub fn reaction(emoji: &str) -> Self {
        Self { kind: OutgoingFileKind::Reaction, what: emoji.to_owned(), digest: String::new() }
    }
}

/// A file sent with a reply.
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
