//! Whose files lie where: the owner of the workspace root, the folder of everybody else, and
//! folders that are being moved.
//!
//! The root's owner is a stored fact that only a hand-over changes. A folder is stored with its
//! person at the first use, so a new name neither loses it nor gives it to somebody else. While a
//! move is open, [`Db::folder_of`] gives no folder to anybody whom it is about.

use crate::store::handles::{Folders, FoldersMut};
use rusqlite::{OptionalExtension, Row, params};

use crate::id::PersonId;
use crate::people::{Person, Role};
use crate::trust::Scope;

/// Where the files of a person or group lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FolderState {
    /// In this folder, relative to the workspace; blank for the root.
    At(String),
    /// Nobody may read them now: the root's owner is removed, or the folder is being moved.
    Closed,
    /// They have none yet; see [`Tx::settle_folder`].
    Unsettled,
}

/// Why folders are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveKind {
    /// A person's folder gets the name that it has from then on.
    Rename,
    /// The root changes hands.
    HandOver,
}

/// How far a move is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveState {
    /// Nothing is decided yet.
    Wanted,
    /// Source and target are known.
    Begun,
    /// The files of the former owner have left the root.
    Cleared,
}

/// A move of folders that is not done yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderMove {
    /// Row.
    pub id: i64,
    /// Why.
    pub kind: MoveKind,
    /// How far it is.
    pub state: MoveState,
    /// Whose folder it is; of a hand-over, who had the root.
    pub person: PersonId,
    /// Who gets the root.
    pub heir: Option<PersonId>,
    /// The old folder; of a hand-over, the heir's.
    pub source: String,
    /// The new folder; of a hand-over, that of who had the root.
    pub target: String,
}

/// Why a hand-over cannot begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotBegun {
    /// No root owner is stored yet.
    NoOwner,
    /// They have the root already.
    Same,
    /// Only an owner who is let in can have the root.
    NotAnOwner,
    /// One of the two is being answered, forgotten or moved.
    Busy,
}

/// A file whose newest version was written for somebody else than the one whose folder it lies in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenFor {
    /// Relative to the workspace.
    pub path: String,
    /// For whom.
    pub scope: Scope,
}

fn folder_move(row: &Row<'_>) -> rusqlite::Result<FolderMove> {
    let (kind, state): (String, String) = (row.get(1)?, row.get(2)?);
    Ok(FolderMove {
        id: row.get(0)?,
        kind: if kind == "hand_over" { MoveKind::HandOver } else { MoveKind::Rename },
        state: match state.as_str() {
            "begun" => MoveState::Begun,
            "cleared" => MoveState::Cleared,
            _ => MoveState::Wanted,
        },
        person: row.get(3)?,
        heir: row.get(4)?,
        source: row.get(5)?,
        target: row.get(6)?,
    })
}

impl Folders<'_> {
    /// The person whose files lie in the workspace root, whether they are let in or not.
    pub fn workspace_owner(&self) -> anyhow::Result<Option<PersonId>> {
        let mut query = self.db.prepare_cached("SELECT owner_id FROM workspace")?;
        Ok(query.query_row([], |row| row.get(0)).optional()?)
    }

    /// The same, if they are let in.
    pub fn present_workspace_owner(&self) -> anyhow::Result<Option<Person>> {
        self.workspace_owner()?.map_or(Ok(None), |id| self.db.people().person(id))
    }

    /// The owner for whom the command line speaks: the root's, if that is an owner who is let in,
    /// else the one who came first.
    pub fn speaking_owner(&self) -> anyhow::Result<Option<Person>> {
        let root = self.present_workspace_owner()?.filter(|person| person.role == Role::Owner);
        Ok(match root {
            Some(person) => Some(person),
            None => self
                .db
                .people()
                .people()?
                .into_iter()
                .filter(|person| person.role == Role::Owner)
                .min_by_key(|one| one.id),
        })
    }

    /// Where the files of a party lie.
    pub fn folder_of(&self, whose: Scope) -> anyhow::Result<FolderState> {
        let id = match whose {
            Scope::Person(id) => id,
            Scope::Group(stream) => return Ok(FolderState::At(format!("groups/{stream}"))),
            Scope::Shared => return Ok(FolderState::Closed),
        };
        let mut query = self.db.prepare_cached(
            "SELECT p.folder, p.removed_at IS NOT NULL, (SELECT owner_id FROM workspace),
                 EXISTS (SELECT 1 FROM folder_moves m WHERE m.person_id = p.id OR m.heir_id = p.id),
                 EXISTS (SELECT 1 FROM people o WHERE o.role = 'owner' AND o.removed_at IS NULL)
             FROM people p WHERE p.id = ?1",
        )?;
        let row = query.query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)));
        let found: Option<(String, bool, Option<PersonId>, bool, bool)> = row.optional()?;
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

    /// Where the files of a person lie, let in or not; `None` if they never had any.
    pub fn folder_once_of(&self, id: PersonId) -> anyhow::Result<Option<String>> {
        if self.workspace_owner()? == Some(id) {
            return Ok(Some(String::new()));
        }
        let mut query = self.db.prepare_cached("SELECT folder FROM people WHERE id = ?1 AND folder <> ''")?;
        Ok(query.query_row([id], |row| row.get(0)).optional()?)
    }

    /// The folder that is stored for a person, whether they have the root or not; blank if none is.
    pub fn stored_folder(&self, id: PersonId) -> anyhow::Result<String> {
        let mut query = self.db.prepare_cached("SELECT folder FROM people WHERE id = ?1")?;
        Ok(query.query_row([id], |row| row.get(0)).optional()?.unwrap_or_default())
    }

    /// The name of a person, let in or not.
    pub fn name_once_of(&self, id: PersonId) -> anyhow::Result<Option<String>> {
        let mut query = self.db.prepare_cached("SELECT name FROM people WHERE id = ?1")?;
        Ok(query.query_row([id], |row| row.get(0)).optional()?)
    }

    /// For whom the newest version of a file was written; `None` if the journal knows none.
    pub fn newest_scope_of(&self, path: &str) -> anyhow::Result<Option<Scope>> {
        let mut query = self.db.prepare_cached("SELECT scope FROM files WHERE path = ?1 ORDER BY id DESC LIMIT 1")?;
        Ok(query.query_row([path], |row| row.get(0)).optional()?)
    }

    /// For whom the newest version of each file was written, but for what is everybody's, was
    /// deleted or was forgotten.
    pub fn newest_scopes(&self) -> anyhow::Result<Vec<WrittenFor>> {
        let mut query = self.db.prepare(
            "SELECT path, scope FROM files f WHERE id = (SELECT max(id) FROM files WHERE path = f.path)
             AND scope <> 'shared' AND digest <> '' AND path NOT LIKE 'forgotten/%' ORDER BY path",
        )?;
        let rows = query.query_map([], |row| Ok(WrittenFor { path: row.get(0)?, scope: row.get(1)? }))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Rows whose scope is not that of what they belong to: table, how many, and the first of them.
    /// Who was joined to somebody else is passed over.
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
            let (count, first): (u32, i64) =
                self.db.prepare(&sql)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            if count > 0 {
                found.push((table.to_owned(), usize::try_from(count)?, first));
            }
        }
        Ok(found)
    }

    /// The moves that are not done yet, in their order.
    pub fn folder_moves(&self) -> anyhow::Result<Vec<FolderMove>> {
        let mut query = self.db.prepare_cached(
            "SELECT id, kind, state, person_id, heir_id, source, target FROM folder_moves ORDER BY id",
        )?;
        Ok(query.query_map([], folder_move)?.collect::<Result<_, _>>()?)
    }

    /// Whether something of a person runs or is to be forgotten.
    fn is_at_work(&self, id: PersonId) -> anyhow::Result<bool> {
        let mut query = self.db.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM turns WHERE scope = ?2 AND state = 'running')
                 OR EXISTS (SELECT 1 FROM forgettings WHERE scope = ?2 AND state = 'wanted')
                 OR EXISTS (SELECT 1 FROM folder_moves WHERE person_id = ?1 OR heir_id = ?1)",
        )?;
        Ok(query.query_row(params![id, Scope::Person(id)], |row| row.get(0))?)
    }
}

impl FoldersMut<'_> {
    /// Stores whose the root is, unless that is known: the person for whom the most of its own
    /// files were written last; where there is none, the first owner who is let in.
    pub fn settle_workspace_owner(&self) -> anyhow::Result<()> {
        if self.workspace_owner()?.is_some() {
            return Ok(());
        }
        let written_for: Option<Scope> = self
            .db
            .prepare_cached(
                "WITH own AS (SELECT id, path, scope FROM files
                     WHERE (path IN ('USER.md', 'HEARTBEAT.md') OR path LIKE 'memory/%') AND scope LIKE 'person:%'),
                 newest AS (SELECT scope FROM own o WHERE id = (SELECT max(id) FROM own WHERE path = o.path))
                 SELECT scope FROM newest GROUP BY scope
                 ORDER BY count(*) DESC, (SELECT count(*) FROM own WHERE own.scope = newest.scope) DESC,
                     CAST(substr(scope, 8) AS INTEGER) LIMIT 1",
            )?
            .query_row([], |row| row.get(0))
            .optional()?;
        let owner = match written_for {
            Some(Scope::Person(id)) => Some(id),
            _ => self
                .db
                .people()
                .people()?
                .into_iter()
                .filter(|person| person.role == Role::Owner)
                .map(|person| person.id)
                .min(),
        };
        owner.map_or(Ok(()), |owner| self.set_workspace_owner(owner))
    }

    /// The root is that person's from now on. For a hand-over, and for two people who turn out to
    /// be one.
    pub(super) fn set_workspace_owner(&self, owner: PersonId) -> anyhow::Result<()> {
        self.db
            .prepare_cached(
                "INSERT INTO workspace (id, owner_id) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET owner_id = ?1",
            )?
            .execute([owner])?;
        Ok(())
    }

    /// A person's folder has that name from now on, unless it has one already.
    pub fn settle_folder(&self, id: PersonId, folder: &str) -> anyhow::Result<()> {
        self.db
            .prepare_cached("UPDATE people SET folder = ?2 WHERE id = ?1 AND folder = ''")?
            .execute(params![id, folder])?;
        Ok(())
    }

    /// Source and target of a wanted renaming are known.
    pub fn rename_begun(&self, id: i64, source: &str, target: &str) -> anyhow::Result<()> {
        self.db
            .prepare_cached("UPDATE folder_moves SET state = 'begun', source = ?2, target = ?3 WHERE id = ?1")?
            .execute(params![id, source, target])?;
        Ok(())
    }

    /// A renamed folder lies in its place: every path into it follows.
    pub fn rename_done(&self, of: &FolderMove, moved: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<()> {
        self.move_paths(moved)?;
        self.settle_folder(of.person, &of.target)?;
        self.move_over(of.id)
    }

    /// Writes down that the root is to change hands, before anything is moved.
    pub fn begin_hand_over(&self, heir: PersonId, target: &str) -> anyhow::Result<Result<FolderMove, NotBegun>> {
        let Some(owner) = self.workspace_owner()? else { return Ok(Err(NotBegun::NoOwner)) };
        if owner == heir {
            return Ok(Err(NotBegun::Same));
        }
        if self.db.people().person(heir)?.is_none_or(|person| person.role != Role::Owner) {
            return Ok(Err(NotBegun::NotAnOwner));
        }
        let FolderState::At(source) = self.folder_of(Scope::Person(heir))? else { return Ok(Err(NotBegun::Busy)) };
        if self.is_at_work(owner)? || self.is_at_work(heir)? {
            return Ok(Err(NotBegun::Busy));
        }
        self.db
            .prepare_cached(
                "INSERT INTO folder_moves (kind, state, person_id, heir_id, source, target)
                 VALUES ('hand_over', 'begun', ?1, ?2, ?3, ?4)",
            )?
            .execute(params![owner, heir, source, target])?;
        let (id, target) = (self.db.last_insert_rowid(), target.to_owned());
        let (kind, state) = (MoveKind::HandOver, MoveState::Begun);
        Ok(Ok(FolderMove { id, kind, state, person: owner, heir: Some(heir), source, target }))
    }

    /// Nothing of the former owner lies in the root any more.
    pub fn root_cleared(&self, id: i64) -> anyhow::Result<()> {
        self.db.prepare_cached("UPDATE folder_moves SET state = 'cleared' WHERE id = ?1")?.execute([id])?;
        Ok(())
    }

    /// All files lie in their new places: every path follows, and the root is the heir's.
    pub fn hand_over_done(&self, of: &FolderMove, moved: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<()> {
        let Some(heir) = of.heir else { return self.move_over(of.id) };
        self.move_paths(moved)?;
        // What is left of somebody who is to be forgotten lies in their new folder, and the root is
        // none of theirs.
        self.db
            .prepare_cached(
                "UPDATE forgettings SET target = CASE person_id WHEN ?1 THEN ?2 ELSE '' END
                 WHERE kind = 'person' AND state = 'left' AND person_id IN (?1, ?3)",
            )?
            .execute(params![of.person, of.target, heir])?;
        self.db
            .prepare_cached("UPDATE people SET folder = ?2 WHERE id = ?1")?
            .execute(params![of.person, of.target])?;
        self.set_workspace_owner(heir)?;
        self.move_over(of.id)
    }

    fn move_over(&self, id: i64) -> anyhow::Result<()> {
        self.db.prepare_cached("DELETE FROM folder_moves WHERE id = ?1")?.execute([id])?;
        Ok(())
    }

    /// Every stored path that `moved` has a new one for becomes that. What the index knows of them
    /// is looked at anew.
    fn move_paths(&self, moved: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<()> {
        let columns = [
            ("files", "path", "1"),
            ("attachments", "path", "1"),
            ("attachments", "text_path", "1"),
            ("parts", "file", "1"),
            ("enclosures", "what", "kind = 'file'"),
            ("forgettings", "target", "kind IN ('note', 'person')"),
        ];
        for (table, column, which) in columns {
            let sql = format!("SELECT id, {column} FROM {table} WHERE {column} <> '' AND {which}");
            let rows: Vec<(i64, String)> = self
                .db
                .prepare(&sql)?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<Result<_, _>>()?;
            let update = format!("UPDATE {table} SET {column} = ?2 WHERE id = ?1");
            for (id, path) in rows {
                if let Some(path) = moved(&path) {
                    self.db.prepare_cached(&update)?.execute(params![id, path])?;
                }
            }
        }
        let indexed: Vec<String> =
            self.db.prepare("SELECT path FROM indexed")?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        indexed.iter().filter(|path| moved(path).is_some()).try_for_each(|path| self.tx().entries().drop_indexed(path))
    }
}
