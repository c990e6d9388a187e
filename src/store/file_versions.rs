//! Versions of workspace files that we wrote or found changed.
//!
//! A row is committed before the file is renamed into place, so a file whose content matches no row
//! was written by a person.
//!
//! The content of a version is stored next to its row, so that changes can be inspected and undone.
//! Each path keeps the content of its newest versions, and of its newest trusted one: however often
//! untrusted text causes a rewrite, the trusted version can be restored. Author and time are kept
//! for every version.

use crate::store::handles::{FileVersions, FileVersionsMut};
use crate::store::rows::{from_row, insert};
use rusqlite::{Row, params};

use super::Node;
use crate::id::{ConversationId, FileId, TurnId};
use crate::time::Timestamp;
use crate::trust::{Label, Scope};

/// Label of a file in a restored workspace that matched no row. It applies to that content alone;
/// later edits by a person are theirs.
pub const FOUND: &str = "restored";

/// Versions per path whose content is kept.
pub const VERSIONS_KEPT: i64 = 100;

/// A version to store.
#[derive(Debug, Clone, Copy)]
pub struct NewFile<'a> {
    /// Relative to the workspace.
    pub path: &'a str,
    /// SHA-256 of the content; blank for a deletion.
    pub digest: &'a str,
    /// Trust label.
    pub label: &'a Label,
    /// Owning scope.
    pub scope: Scope,
    /// `program`, `assistant`, `person`, `hand` or `found`.
    pub author: &'a str,
    /// Cause of the change, one word.
    pub cause: &'a str,
    /// Content, if it is to be kept.
    pub content: Option<&'a [u8]>,
    /// Current time.
    pub at: Timestamp,
}

/// A stored version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRow {
    /// Row id.
    pub id: FileId,
    /// Relative to the workspace.
    pub path: String,
    /// SHA-256 of the content; blank for a deletion.
    pub digest: String,
    /// Trust label.
    pub label: Label,
    /// Owning scope.
    pub scope: Scope,
    /// Author.
    pub author: String,
    /// Cause of the change.
    pub cause: String,
    /// Time of writing.
    pub at: Timestamp,
    /// True if the content is still kept.
    pub has_content: bool,
    /// Size in bytes if the content is kept; else 0.
    pub size: u64,
}

const FILE: &str =
    "SELECT f.id, f.path, f.digest, f.label, f.scope, f.author, f.cause, f.written_at, c.file_id IS NOT NULL AS has_content,
        coalesce(length(c.content), 0) AS size
    FROM files f LEFT JOIN file_contents c ON c.file_id = f.id";

from_row! {
    FileRow from FILE {
        id, path, digest, label, scope, author, cause, at: "written_at", has_content,
    }
    with |row| {
        size: u64::from(row.get::<_, u32>("size")?)
    }
}

/// A pending version, perhaps not yet in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unplaced {
    /// Row id.
    pub id: FileId,
    /// Relative to the workspace.
    pub path: String,
    /// SHA-256 of the content; blank for a deletion.
    pub digest: String,
    /// SHA-256 of the content that it replaces; blank for none.
    pub replaces: String,
    /// Content; `None` for a deletion.
    pub content: Option<Vec<u8>>,
}

/// A version of a file with the content before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Row id.
    pub id: FileId,
    /// Relative to the workspace.
    pub path: String,
    /// Label of the content.
    pub label: Label,
    /// Cause of the change.
    pub cause: String,
    /// Content before; blank if it is not stored.
    pub before: String,
    /// Content.
    pub after: String,
}

from_row! {
    FileChange from "files f", "(SELECT c.content FROM file_contents c WHERE c.file_id = f.id) AS after,
        (SELECT c.content FROM files p JOIN file_contents c ON c.file_id = p.id WHERE p.path = f.path AND p.id < f.id
         ORDER BY p.id DESC LIMIT 1) AS before" { id, path, label, cause }
    with |row| { before: content(row, "before")?, after: content(row, "after")? }
}

fn content(row: &Row<'_>, column: &str) -> rusqlite::Result<String> {
    let bytes: Option<Vec<u8>> = row.get(column)?;
    Ok(String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned())
}

/// Key of the newest version by hand that was looked at, for each scope and for scopes without one.
const HAND_EDITS: &str = "hand_edits";

from_row! { Unplaced { id, path, digest, replaces, content } }

impl FileVersionsMut<'_> {
    /// Records a version that is about to be written, or was found.
    pub fn file_version_of(&self, new: &NewFile<'_>) -> anyhow::Result<FileId> {
        let id = insert!(self.db, "files" {
            path: new.path, digest: new.digest, label: new.label, scope: new.scope, written_at: new.at,
            author: new.author, cause: new.cause,
        })?;
        if let Some(content) = new.content {
            self.db.run("INSERT INTO file_contents (file_id, content) VALUES (?1, ?2)", params![id, content])?;
            self.drop_old_contents(new.path)?;
        }
        Ok(id)
    }

    /// Records a pending version that is to replace content with that digest; blank for none. It is
    /// listed by [`FileVersions::files_to_place`] until [`Self::file_placed`] is called.
    pub fn file_announced(&self, new: &NewFile<'_>, replaces: &str) -> anyhow::Result<FileId> {
        let id = self.file_version_of(new)?;
        self.db.run("UPDATE files SET replaces = ?2 WHERE id = ?1", params![id, replaces])?;
        Ok(id)
    }

    /// Stores the labels of the lines of a new version; blank if all have that of the file.
    pub fn set_passages(&self, id: FileId, passages: &str) -> anyhow::Result<()> {
        if passages.is_empty() {
            return Ok(());
        }
        self.db.run("UPDATE files SET passages = ?2 WHERE id = ?1", params![id, passages])
    }

    /// Records that the versions made by hand were looked at up to that one for a scope.
    pub fn hand_edits_seen(&self, scope: Scope, last: FileId) -> anyhow::Result<()> {
        self.tx().settings().set_fact(&format!("{HAND_EDITS}:{}", scope.encode()), &last.to_string())
    }

    /// Marks a version as placed or superseded.
    pub fn file_placed(&self, id: FileId) -> anyhow::Result<()> {
        self.db.run("UPDATE files SET replaces = NULL WHERE id = ?1", [id])
    }

    /// Deletes a pending version that was never placed: a person wrote first, and a new version is
    /// made from their text.
    pub fn withdraw_file(&self, id: FileId) -> anyhow::Result<()> {
        self.db.run("DELETE FROM derived_from WHERE child = ?1", [Node::File(id.0).to_string()])?;
        self.db.run("DELETE FROM file_contents WHERE file_id = ?1", [id])?;
        self.db.run("DELETE FROM files WHERE id = ?1", [id])
    }

    /// Records a version without content that is about to be written.
    pub fn file_written(
        &self,
        path: &str,
        digest: &str,
        label: &Label,
        scope: Scope,
        at: Timestamp,
    ) -> anyhow::Result<i64> {
        let new = NewFile { path, digest, label, scope, author: "program", cause: "", content: None, at };
        Ok(self.file_version_of(&new)?.0)
    }

    /// Records the sources of a version.
    pub fn record_file_sources(&self, id: FileId, from: &[Node]) -> anyhow::Result<()> {
        from.iter().try_for_each(|parent| self.tx().derivations().derive(Node::File(id.0), *parent))
    }

    fn drop_old_contents(&self, path: &str) -> anyhow::Result<()> {
        self.db.run(
            &format!(
                "DELETE FROM file_contents WHERE file_id IN (
                 SELECT f.id FROM files f JOIN file_contents c ON c.file_id = f.id WHERE f.path = ?1
                 AND f.id <> coalesce((SELECT max(t.id) FROM files t JOIN file_contents d ON d.file_id = t.id
                 WHERE t.path = ?1 AND {}), 0)
                 ORDER BY f.id DESC LIMIT -1 OFFSET ?2)",
                Label::is_trusted_sql("t.label")
            ),
            params![path, VERSIONS_KEPT],
        )
    }
}

impl FileVersions<'_> {
    /// Returns row and label of the newest version of that path with that content; `None` if we did
    /// not write it.
    pub fn file_version(&self, path: &str, digest: &str) -> anyhow::Result<Option<(i64, Label)>> {
        self.db.first(
            "SELECT id, label FROM files WHERE path = ?1 AND digest = ?2 ORDER BY id DESC LIMIT 1",
            [path, digest],
        )
    }

    /// Returns the stored labels of the lines of a version.
    pub fn passages(&self, id: FileId) -> anyhow::Result<String> {
        self.db.one("SELECT passages FROM files WHERE id = ?1", [id])
    }

    /// Returns row and label of the first version of that path that we wrote: the label of the words
    /// under which the name was chosen.
    pub fn first_of(&self, path: &str) -> anyhow::Result<Option<(i64, Label)>> {
        self.db.first("SELECT id, label FROM files WHERE path = ?1 AND label <> ?2 ORDER BY id LIMIT 1", [path, FOUND])
    }

    /// Returns the paths of files that turns of a conversation read or wrote while they held lines with
    /// different labels, and that still do.
    pub fn mixed_files_in(&self, conversation: ConversationId) -> anyhow::Result<Vec<String>> {
        self.db.all(
            "SELECT DISTINCT f.path FROM turns t JOIN derived_from d ON d.child = 'turn:' || t.id
             JOIN files f ON d.parent = 'file:' || f.id WHERE t.conversation_id = ?1 AND f.passages <> ''
             AND (SELECT n.passages FROM files n WHERE n.path = f.path ORDER BY n.id DESC LIMIT 1) <> '' ORDER BY f.path",
            [conversation],
        )
    }

    /// Returns the digests of what a turn wrote.
    pub fn written_in(&self, turn: TurnId) -> anyhow::Result<Vec<String>> {
        self.db.all(
            "SELECT f.digest FROM derived_from d JOIN files f ON d.child = 'file:' || f.id WHERE d.parent = ?1",
            [Node::Turn(turn).to_string()],
        )
    }

    /// Returns whether a conversation wrote that content whole, or changed a passage of what it knew.
    pub fn is_written_in(&self, conversation: ConversationId, digest: &str) -> anyhow::Result<bool> {
        self.db.exists(
            "SELECT 1 FROM turns t JOIN derived_from d ON d.parent = 'turn:' || t.id
             JOIN files f ON d.child = 'file:' || f.id WHERE t.conversation_id = ?1 AND f.digest = ?2
             AND (f.cause IN ('file', 'edit')
                 OR f.cause = 'remember' AND f.path NOT LIKE '%/MEMORY.md' AND f.path NOT LIKE '%/index-%')",
            params![conversation, digest],
        )
    }

    /// Returns whether a person made the file at that path theirs.
    pub fn is_promoted(&self, path: &str) -> anyhow::Result<bool> {
        self.db.exists("SELECT 1 FROM files WHERE path = ?1 AND cause = 'promote' AND digest <> ''", [path])
    }

    /// Returns the path of a version.
    pub fn path_of(&self, id: FileId) -> anyhow::Result<Option<String>> {
        self.db.first("SELECT path FROM files WHERE id = ?1", [id])
    }

    /// Returns the digest of the newest version of that path.
    pub fn last_digest_of(&self, path: &str) -> anyhow::Result<Option<String>> {
        self.db.first("SELECT digest FROM files WHERE path = ?1 ORDER BY id DESC LIMIT 1", [path])
    }

    /// Returns a version with the content before it.
    pub fn change(&self, id: FileId) -> anyhow::Result<Option<FileChange>> {
        self.db.row("WHERE f.id = ?1", [id])
    }

    /// Returns the id of the newest version of any file; 0 if there is none.
    pub fn newest_version(&self) -> anyhow::Result<FileId> {
        self.db.one("SELECT coalesce(max(id), 0) FROM files", [])
    }

    /// Returns the versions made by hand after that one of files that had been there before, and those
    /// that the program made because of them, oldest first: those that were not yet looked at for that
    /// scope.
    pub fn hand_edits(&self, scope: Scope, after: FileId, limit: u32) -> anyhow::Result<Vec<FileChange>> {
        let settings = self.db.settings();
        let seen = match settings.fact(&format!("{HAND_EDITS}:{}", scope.encode()))? {
            Some(seen) => seen,
            None => settings.fact(HAND_EDITS)?.unwrap_or_default(),
        };
        let seen = after.0.max(seen.parse().unwrap_or_default());
        self.db.rows(
            "WHERE f.id > ?1 AND (f.author = 'hand' OR f.cause IN ('merge', 'unlist')) AND f.digest <> ''
                 AND EXISTS (SELECT 1 FROM files p WHERE p.path = f.path AND p.id < f.id) ORDER BY f.id LIMIT ?2",
            params![seen, limit],
        )
    }

    /// Returns the pending file versions, oldest first.
    pub fn files_to_place(&self) -> anyhow::Result<Vec<Unplaced>> {
        self.db.all(
            "SELECT f.id, f.path, f.digest, f.replaces, c.content FROM files f LEFT JOIN file_contents c
             ON c.file_id = f.id
             WHERE f.replaces IS NOT NULL ORDER BY f.id",
            [],
        )
    }

    /// Returns the label of the newest version of that path that we wrote, for any content.
    /// Files found after a restore do not count.
    pub fn last_label_of(&self, path: &str) -> anyhow::Result<Option<Label>> {
        self.db.first("SELECT label FROM files WHERE path = ?1 AND label <> ?2 ORDER BY id DESC LIMIT 1", [path, FOUND])
    }

    /// Returns the label of the first version of each path of a scope, or of all, that ends in this
    /// file name: of the words under which the name was chosen.
    pub fn first_labels_of(&self, name: &str, scope: Scope) -> anyhow::Result<Vec<Label>> {
        self.db.all(
            "SELECT f.label FROM files f WHERE (f.path = ?1 OR substr(f.path, -length(?1) - 1) = '/' || ?1)
             AND f.scope IN (?2, ?3) AND NOT EXISTS (SELECT 1 FROM files e WHERE e.path = f.path AND e.id < f.id)",
            params![name, scope, Scope::Shared],
        )
    }

    /// Returns row and label of the first version ever written below a folder.
    pub fn first_below(&self, folder: &str) -> anyhow::Result<Option<(i64, Label)>> {
        // Paths that begin with the folder and a slash: `0` is the character after `/`.
        let sql = "SELECT id, label FROM files WHERE path >= ?1 || '/' AND path < ?1 || '0' ORDER BY id LIMIT 1";
        self.db.first(sql, [folder])
    }

    /// Returns the versions of a path, newest first.
    pub fn file_history(&self, path: &str, limit: u32) -> anyhow::Result<Vec<FileRow>> {
        self.db.rows("WHERE f.path = ?1 ORDER BY f.id DESC LIMIT ?2", params![path, limit])
    }

    /// Counts the files of a scope that the assistant changed after that time, with a tool or by
    /// facts from a conversation.
    pub fn changed_by_assistant(&self, scope: Scope, since: Timestamp) -> anyhow::Result<u32> {
        // Only rows after the newest one from before that time are read.
        self.db.one(
            "SELECT count(DISTINCT path) FROM files
             WHERE id > coalesce((SELECT id FROM files WHERE written_at <= ?2 ORDER BY id DESC LIMIT 1), 0)
             AND scope = ?1 AND (author = 'assistant' OR cause = 'facts')",
            params![scope, since],
        )
    }

    /// Returns the paths of a scope whose newest version the assistant wrote, each with the digest of
    /// its content. Lines that were removed on request change the content and not the author.
    pub fn written_by_assistant(&self, scope: Scope) -> anyhow::Result<Vec<(String, String)>> {
        self.db.all(
            "SELECT f.path, (SELECT n.digest FROM files n WHERE n.path = f.path ORDER BY n.id DESC LIMIT 1)
             FROM files f WHERE f.scope = ?1 AND f.author = 'assistant' AND f.digest <> ''
             AND NOT EXISTS (SELECT 1 FROM files n WHERE n.path = f.path AND n.id > f.id AND n.cause <> 'forget')",
            [scope],
        )
    }

    /// Returns the paths between two that have versions and are not in the entry index, in order.
    pub fn unindexed_between(&self, after: &str, end: &str) -> anyhow::Result<Vec<String>> {
        let sql = "SELECT path FROM files WHERE path > ?1 AND path < ?2
             EXCEPT SELECT path FROM indexed WHERE path > ?1 AND path < ?2 ORDER BY path";
        self.db.all(sql, [after, end])
    }

    /// Returns the newest version of a path whose content is kept.
    pub fn newest_kept(&self, path: &str) -> anyhow::Result<Option<FileRow>> {
        self.db.row("WHERE f.path = ?1 AND c.file_id IS NOT NULL ORDER BY f.id DESC LIMIT 1", [path])
    }

    /// Returns the newest trusted version of a path whose content is kept.
    pub fn last_trusted(&self, path: &str) -> anyhow::Result<Option<FileRow>> {
        self.db.row(
            &format!(
                "WHERE f.path = ?1 AND {} AND c.file_id IS NOT NULL ORDER BY f.id DESC LIMIT 1",
                Label::is_trusted_sql("f.label")
            ),
            [path],
        )
    }

    /// Returns a version by id.
    pub fn file_row(&self, id: FileId) -> anyhow::Result<Option<FileRow>> {
        self.db.row("WHERE f.id = ?1", [id])
    }

    /// Returns the content of a version; `None` if it is no longer kept.
    pub fn file_content(&self, id: FileId) -> anyhow::Result<Option<Vec<u8>>> {
        self.db.first("SELECT content FROM file_contents WHERE file_id = ?1", [id])
    }
}
