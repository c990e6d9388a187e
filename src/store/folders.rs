//! Workspace folders: the owner of the root, the folders of everyone else, and folder moves.
//!
//! The root's owner is stored and changes only by a hand-over. A person's folder name is stored at
//! first use, so a new name of theirs neither loses the folder nor gives it to another person.
//! While a move is open, [`Folders::folder_of`] returns no folder for the people it concerns.

use crate::store::handles::{Folders, FoldersMut};
use crate::store::rows::{from_row, insert, stored_word};
use anyhow::ensure;
use rusqlite::params;
use strum::{EnumString, IntoStaticStr};

use crate::id::PersonId;
use crate::people::{Person, Role};
use crate::trust::Scope;

/// Location of the files of a person or group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FolderState {
    /// Folder relative to the workspace; blank for the root.
    At(String),
    /// Not readable now: the root's owner is removed, or the folder is being moved.
    Closed,
    /// No folder yet; see [`FoldersMut::settle_folder`].
    Unsettled,
}

/// Progress of a hand-over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum MoveState {
    /// Recorded; the former owner's files are leaving the root.
    Begun,
    /// The former owner's files have left the root.
    Cleared,
}

stored_word!(MoveState);

/// A pending hand-over of the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderMove {
    /// Row id.
    pub id: i64,
    /// Progress.
    pub state: MoveState,
    /// Former owner of the root.
    pub person: PersonId,
    /// New owner of the root.
    pub new_owner: Option<PersonId>,
    /// Old folder of the new owner.
    pub source: String,
    /// New folder of the former owner.
    pub target: String,
}

/// Reason for a refused hand-over, by what can be done about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("The root cannot be handed over: {self:?}")]
pub enum HandOverRefusal {
    /// The root has no owner yet.
    NoOwner,
    /// The root already belongs to the new owner.
    Same,
    /// The new owner is not an admitted owner.
    NotAnOwner,
    /// A write, a turn, an erasure or a move of one of the two is in progress.
    Busy,
    /// A top-level entry of one of the folders is neither file nor folder; holds its path.
    Unmovable(String),
}

/// A file with the scope of its newest version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenFor {
    /// Relative to the workspace.
    pub path: String,
    /// Scope of the newest version.
    pub scope: Scope,
}

from_row! { WrittenFor from "files f" { path, scope } }

from_row! {
    FolderMove from "folder_moves" {
        id, state, person: "person_id", new_owner: "heir_id", source, target,
    }
}

impl Folders<'_> {
    /// Returns the owner of the workspace root, admitted or removed.
    pub fn workspace_owner(&self) -> anyhow::Result<Option<PersonId>> {
        self.db.first("SELECT owner_id FROM workspace", [])
    }

    /// Returns the owner of the workspace root, if admitted.
    pub fn present_workspace_owner(&self) -> anyhow::Result<Option<Person>> {
        self.workspace_owner()?.map_or(Ok(None), |id| self.db.people().person(id))
    }

    /// Returns the owner for whom the command line acts: the root's owner if that is an admitted
    /// owner, else the first owner.
    pub fn speaking_owner(&self) -> anyhow::Result<Option<Person>> {
        let root = self.present_workspace_owner()?.filter(|person| person.role == Role::Owner);
        root.map_or_else(|| self.db.people().first_owner(), |person| Ok(Some(person)))
    }

    /// Returns the folder of a scope.
    pub fn folder_of(&self, whose: Scope) -> anyhow::Result<FolderState> {
        let id = match whose {
            Scope::Person(id) => id,
            Scope::Group(stream) => return Ok(FolderState::At(format!("groups/{stream}"))),
            Scope::Shared => return Ok(FolderState::Closed),
        };
        let found: Option<(String, bool, Option<PersonId>, bool, bool)> = self.db.first(
            "SELECT p.folder, p.removed_at IS NOT NULL, (SELECT owner_id FROM workspace),
             EXISTS (SELECT 1 FROM folder_moves m WHERE m.person_id = p.id OR m.heir_id = p.id),
             EXISTS (SELECT 1 FROM people o WHERE o.role = 'owner' AND o.removed_at IS NULL)
             FROM people p WHERE p.id = ?1",
            [id],
        )?;
        Ok(match found {
            Some((_, _, _, true, _)) => FolderState::Closed,
            Some((_, removed, Some(owner), ..)) if owner == id => {
                if removed {
                    FolderState::Closed
                } else {
                    FolderState::At(String::new())
                }
            }
            Some((folder, _, owner, _, has_owner)) if !folder.is_empty() && (owner.is_some() || !has_owner) => {
                FolderState::At(folder)
            }
            _ => FolderState::Unsettled,
        })
    }

    /// Returns the folder of a person, admitted or removed; `None` if they never had one.
    pub fn folder_once_of(&self, id: PersonId) -> anyhow::Result<Option<String>> {
        if self.workspace_owner()? == Some(id) {
            return Ok(Some(String::new()));
        }
        self.db.first("SELECT folder FROM people WHERE id = ?1 AND folder <> ''", [id])
    }

    /// Returns the stored folder of a person, even if they own the root; blank if there is none.
    pub fn stored_folder(&self, id: PersonId) -> anyhow::Result<String> {
        Ok(self.db.first("SELECT folder FROM people WHERE id = ?1", [id])?.unwrap_or_default())
    }

    /// Returns the name of a person, admitted or removed.
    pub fn name_once_of(&self, id: PersonId) -> anyhow::Result<Option<String>> {
        self.db.first("SELECT name FROM people WHERE id = ?1", [id])
    }

    /// Returns the scope of the newest version of a file; `None` for an unknown file.
    pub fn newest_scope_of(&self, path: &str) -> anyhow::Result<Option<Scope>> {
        self.db.first("SELECT scope FROM files WHERE path = ?1 ORDER BY id DESC LIMIT 1", [path])
    }

    /// Returns the scope of the newest version of each file, except shared, deleted and erased
    /// ones.
    pub fn newest_scopes(&self) -> anyhow::Result<Vec<WrittenFor>> {
        self.db.rows(
            "WHERE id = (SELECT max(id) FROM files WHERE path = f.path)
             AND scope <> 'shared' AND digest <> '' AND path NOT LIKE 'forgotten/%' ORDER BY path",
            [],
        )
    }

    /// Returns the rows whose scope differs from their parent's: table, count and first id. Skips
    /// people who were merged into another.
    pub fn misplaced_rows(&self) -> anyhow::Result<Vec<(String, usize, i64)>> {
        const IN_STREAM: &str = "JOIN streams o ON o.id = t.stream_id
            WHERE (o.person_id IS NULL OR o.person_id IN (SELECT id FROM people WHERE removed_at IS NULL))
              AND o.work_of IS NULL";
        let checks = [
            ("conversations", IN_STREAM),
            ("messages", IN_STREAM),
            ("turns", IN_STREAM),
            ("texts", "JOIN messages o ON o.id = t.message_id WHERE 1"),
            ("attachments", "JOIN messages o ON o.id = t.message_id WHERE 1"),
            ("steps", "JOIN turns o ON o.id = t.turn_id WHERE 1"),
            ("summaries", "JOIN conversations o ON o.id = t.conversation_id WHERE 1"),
            ("extractions", "JOIN conversations o ON o.id = t.conversation_id WHERE 1"),
            ("compactions", "JOIN conversations o ON o.id = t.conversation_id WHERE 1"),
        ];
        let mut found = Vec::new();
        for (table, belongs) in checks {
            let sql = format!(
                "SELECT count(*), coalesce(min(t.id), 0) FROM {table} t {belongs}
                 AND t.scope <> o.scope AND t.scope <> 'shared'"
            );
            let (count, first): (u32, i64) = self.db.one(&sql, [])?;
            if count > 0 {
                found.push((table.to_owned(), usize::try_from(count)?, first));
            }
        }
        Ok(found)
    }

    /// Returns the pending moves in order.
    pub fn folder_moves(&self) -> anyhow::Result<Vec<FolderMove>> {
        self.db.rows("ORDER BY id", [])
    }

    /// Returns true while a turn, an erasure or a move of a person is in progress.
    fn is_at_work(&self, id: PersonId) -> anyhow::Result<bool> {
        self.db.one(
            "SELECT EXISTS (SELECT 1 FROM turns WHERE scope = ?2 AND state = 'running')
             OR EXISTS (SELECT 1 FROM forgettings WHERE scope = ?2 AND state = 'wanted')
             OR EXISTS (SELECT 1 FROM folder_moves WHERE person_id = ?1 OR heir_id = ?1)",
            params![id, Scope::Person(id)],
        )
    }
}

impl FoldersMut<'_> {
    /// Stores the root's owner unless one is stored: the first admitted owner.
    pub fn settle_workspace_owner(&self) -> anyhow::Result<()> {
        if self.workspace_owner()?.is_some() {
            return Ok(());
        }
        self.db.people().first_owner()?.map_or(Ok(()), |owner| self.set_workspace_owner(owner.id))
    }

    /// Sets the owner of the root, for a hand-over or a merge of two people.
    pub(super) fn set_workspace_owner(&self, owner: PersonId) -> anyhow::Result<()> {
        self.db.run(
            "INSERT INTO workspace (id, owner_id) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET owner_id = ?1",
            [owner],
        )
    }

    /// Sets the folder of a person who has none.
    pub fn settle_folder(&self, id: PersonId, folder: &str) -> anyhow::Result<()> {
        self.db.run("UPDATE people SET folder = ?2 WHERE id = ?1 AND folder = ''", params![id, folder])
    }

    /// Records a hand-over of the root before any file is moved. `source` is the folder of the
    /// heir, `target` that of the former owner.
    ///
    /// # Errors
    /// [`HandOverRefusal`] if it cannot begin.
    pub fn begin_hand_over(&self, new_owner: PersonId, source: &str, target: &str) -> anyhow::Result<FolderMove> {
        let is_at_source = self.folder_of(Scope::Person(new_owner))? == FolderState::At(source.to_owned());
        ensure!(is_at_source, HandOverRefusal::Busy);
        let owner = self.workspace_owner()?.ok_or(HandOverRefusal::NoOwner)?;
        ensure!(owner != new_owner, HandOverRefusal::Same);
        let is_owner = self.db.people().person(new_owner)?.is_some_and(|person| person.role == Role::Owner);
        ensure!(is_owner, HandOverRefusal::NotAnOwner);
        let is_busy = self.is_at_work(owner)? || self.is_at_work(new_owner)?;
        ensure!(!is_busy, HandOverRefusal::Busy);
        let state = MoveState::Begun;
        let (source, target) = (source.to_owned(), target.to_owned());
        let id = insert!(self.db, "folder_moves" {
            kind: "hand_over", state, person_id: owner, heir_id: new_owner, source, target,
        })?;
        Ok(FolderMove { id, state, person: owner, new_owner: Some(new_owner), source, target })
    }

    /// Records that the former owner's files have left the root.
    pub fn root_cleared(&self, id: i64) -> anyhow::Result<()> {
        self.db.run("UPDATE folder_moves SET state = 'cleared' WHERE id = ?1", [id])
    }

    /// Completes a hand-over: updates all paths and changes the owner.
    pub fn hand_over_done(&self, of: &FolderMove, moved: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<()> {
        let Some(new_owner) = of.new_owner else { return self.move_over(of.id) };
        self.move_paths(moved)?;
        // An incomplete erasure of the former owner continues in their new folder; that of the new
        // owner does not cover the root.
        self.db.run(
            "UPDATE forgettings SET target = CASE person_id WHEN ?1 THEN ?2 ELSE '' END
             WHERE kind = 'person' AND state = 'left' AND person_id IN (?1, ?3)",
            params![of.person, of.target, new_owner],
        )?;
        self.db.run("UPDATE people SET folder = ?2 WHERE id = ?1", params![of.person, of.target])?;
        self.set_workspace_owner(new_owner)?;
        self.move_over(of.id)
    }

    fn move_over(&self, id: i64) -> anyhow::Result<()> {
        self.db.run("DELETE FROM folder_moves WHERE id = ?1", [id])
    }

    /// Replaces every stored path for which `moved` returns a new one, and drops those paths from
    /// the index for a rescan.
    fn move_paths(&self, moved: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<()> {
        let columns = [
            ("files", "path", "1"),
            ("attachments", "path", "1"),
            ("attachments", "text_path", "1"),
            ("parts", "file", "1"),
            ("enclosures", "what", "kind IN ('file', 'picture')"),
            ("forgettings", "target", "kind IN ('note', 'person')"),
        ];
        for (table, column, which) in columns {
            let sql = format!("SELECT id, {column} FROM {table} WHERE {column} <> '' AND {which}");
            let rows: Vec<(i64, String)> = self.db.all(&sql, [])?;
            let update = format!("UPDATE {table} SET {column} = ?2 WHERE id = ?1");
            for (id, path) in rows {
                if let Some(path) = moved(&path) {
                    self.db.run(&update, params![id, path])?;
                }
            }
        }
        let indexed: Vec<String> = self.db.all("SELECT path FROM indexed", [])?;
        indexed.iter().filter(|path| moved(path).is_some()).try_for_each(|path| self.tx().entries().drop_indexed(path))
    }
}
