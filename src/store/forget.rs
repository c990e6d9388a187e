//! Erasure: deletes one note or fact with all its traces, or all data of one person.
//!
//! An erasure is stored as a row before anything is deleted, and each of its steps is idempotent,
//! so it is resumed after a crash. [`text_columns`] lists every column that holds text, and how
//! each is redacted. [`cut`] applies the list to the words of one note, [`whole`] to a person. The
//! same list is used for the check afterwards. While rows outside the request still contain the
//! words, the erasure keeps them: new text is written without them, and the person can extend the
//! erasure by its number. After that it keeps no words.
//!
//! Text is deleted as in [`super::redact`]: rows and positions stay, and the text is removed from
//! the search indexes and the log too. Workspace files are not changed here.

mod cut;
mod grown;
mod text_columns;
mod said;
mod sweep;
mod whole;

pub use cut::{ErasureRemainder, Paraphrases};
pub use grown::KeptWords;

use crate::store::handles::{Erasure, ErasureMut};
use rusqlite::types::FromSqlError;
use rusqlite::{OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use crate::id::{ForgettingId, PersonId};
use crate::store::stored_word::stored_word;
use crate::text::needle::ErasureQuery;
use crate::time::Timestamp;
use crate::trust::{Label, Scope};

/// Object of an erasure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Forgotten {
    /// A memory file.
    Note,
    /// One line of a memory file.
    Fact,
    /// Words that occur only in messages.
    Said,
    /// A person with all their data.
    Person,
}

stored_word!(Forgotten);

/// Counts of deleted items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Notes and other files.
    pub notes: usize,
    /// Lines of other files.
    pub lines: usize,
    /// Index entries.
    pub entries: usize,
    /// Kept versions of files.
    pub versions: usize,
    /// Redacted summaries and reflections.
    pub summaries: usize,
    /// Tool calls, contexts and other copies.
    pub copies: usize,
    /// Messages.
    pub messages: usize,
    /// Exported archives.
    pub archives: usize,
}

impl Counts {
    /// Returns the sum of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            notes: self.notes.saturating_add(other.notes),
            lines: self.lines.saturating_add(other.lines),
            entries: self.entries.saturating_add(other.entries),
            versions: self.versions.saturating_add(other.versions),
            summaries: self.summaries.saturating_add(other.summaries),
            copies: self.copies.saturating_add(other.copies),
            messages: self.messages.saturating_add(other.messages),
            archives: self.archives.saturating_add(other.archives),
        }
    }

    /// Returns true if nothing was deleted.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

/// An erasure to begin.
#[derive(Debug, Clone)]
pub struct NewForgetting<'a> {
    /// Person who asked, or who is erased.
    pub person: Option<PersonId>,
    /// Object.
    pub what: Forgotten,
    /// Path of the note relative to the workspace, key of the fact, words of the messages, or
    /// folder of the person; blank for group data that is erased with a person.
    pub target: &'a str,
    /// Words to erase.
    pub needles: &'a ErasureQuery,
    /// True to delete the source messages too.
    pub messages: bool,
    /// Label of the words.
    pub label: &'a Label,
    /// Owning scope.
    pub scope: Scope,
    /// Current time.
    pub at: Timestamp,
}

/// A stored erasure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgettingRow {
    /// Row id.
    pub id: ForgettingId,
    /// Person who asked, or who is erased.
    pub person: Option<PersonId>,
    /// Object.
    pub what: Forgotten,
    /// Path of the note relative to the workspace, key of the fact, words of the messages, or
    /// folder of the person; blank when it is done.
    pub target: String,
    /// Words to erase.
    pub needles: ErasureQuery,
    /// True to delete the source messages too.
    pub messages: bool,
    /// Deleted items so far.
    pub counts: Counts,
    /// Owning scope.
    pub scope: Scope,
    /// True after a complete pass that left matches outside the request.
    pub is_left: bool,
}

/// A stored erasure without its words, which may be unreadable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForgettingHead {
    /// Row id.
    pub id: ForgettingId,
    /// Object.
    pub what: Forgotten,
    /// Owning scope.
    pub scope: Scope,
    /// True if it names a target: it is neither finished nor part of the erasure of a person.
    pub has_target: bool,
}

/// The words of an erasure cannot be parsed. A search for none finds nothing, which proves nothing.
#[derive(Debug, thiserror::Error)]
#[error("The words of forgetting {0} cannot be read, so it is not finished")]
struct UnreadableWords(ForgettingId);

/// Erased words that must not be written again in a scope.
#[derive(Debug, Clone, Default)]
pub struct ForgottenWords {
    needles: Vec<ErasureQuery>,
    is_unreadable: bool,
}

impl ForgottenWords {
    /// Returns true if a text contains any of them. If some cannot be parsed, returns true for
    /// every text.
    pub fn are_in(&self, text: &str) -> bool {
        self.is_unreadable || self.needles.iter().any(|needles| needles.are_in(text))
    }
}

impl ForgettingRow {
    /// Returns true for an open erasure of group data that belongs to the erasure of a person.
    /// Messages of others in the group are kept.
    pub fn belongs_to_person_erasure(&self) -> bool {
        self.what == Forgotten::Fact && self.target.is_empty()
    }

    /// Returns true if every line that contains the words is deleted, not only lines with little
    /// else: for words named by a person, and for group data erased with a person.
    fn is_everywhere(&self) -> bool {
        self.what == Forgotten::Said || self.belongs_to_person_erasure()
    }

    /// Returns the text of a file without the erased lines; `None` if there are none.
    pub fn cut(&self, text: &str) -> Option<String> {
        if self.is_everywhere() { self.needles.cut(text) } else { self.needles.without_statement_lines(text) }
    }

    /// Returns true if the text of a file has a line to erase.
    pub fn matches_line(&self, text: &str) -> bool {
        if self.is_everywhere() { self.needles.are_in(text) } else { self.needles.are_stated_in(text) }
    }
}

const COLUMNS: &str = "id, person_id, kind, target, needles, messages, counts, scope, state = 'left' AS is_left";

const HEAD: &str = "id, kind, scope, target <> '' AS has_target";

fn forgetting(row: &Row<'_>) -> rusqlite::Result<ForgettingRow> {
    let (id, needles, counts): (ForgettingId, String, String) =
        (row.get("id")?, row.get("needles")?, row.get("counts")?);
    let unreadable = || FromSqlError::other(UnreadableWords(id));
    Ok(ForgettingRow {
        id,
        person: row.get("person_id")?,
        what: row.get("kind")?,
        target: row.get("target")?,
        needles: serde_json::from_str(&needles).map_err(|_| unreadable())?,
        messages: row.get("messages")?,
        counts: serde_json::from_str(&counts).map_err(FromSqlError::other)?,
        scope: row.get("scope")?,
        is_left: row.get("is_left")?,
    })
}

fn head(row: &Row<'_>) -> rusqlite::Result<ForgettingHead> {
    Ok(ForgettingHead {
        id: row.get("id")?,
        what: row.get("kind")?,
        scope: row.get("scope")?,
        has_target: row.get("has_target")?,
    })
}

impl Erasure<'_> {
    /// Returns the unfinished erasures, oldest first.
    pub fn unfinished_forgettings(&self) -> anyhow::Result<Vec<ForgettingHead>> {
        let sql = format!("SELECT {HEAD} FROM forgettings WHERE state = 'wanted' ORDER BY id");
        Ok(self.db.prepare_cached(&sql)?.query_map([], head)?.collect::<Result<_, _>>()?)
    }

    /// Returns the erasures that left matches outside the request.
    pub fn forgettings_left(&self) -> anyhow::Result<Vec<ForgettingHead>> {
        let sql = format!("SELECT {HEAD} FROM forgettings WHERE state = 'left' ORDER BY id");
        Ok(self.db.prepare_cached(&sql)?.query_map([], head)?.collect::<Result<_, _>>()?)
    }

    /// Returns the open erasures in groups that belong to the erasure of a person, one for each
    /// group.
    ///
    /// # Errors
    /// If the words of one cannot be read.
    pub fn forgettings_in_groups(&self, person: PersonId) -> anyhow::Result<Vec<ForgettingRow>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM forgettings WHERE state IN ('wanted', 'left') AND person_id = ?1 ORDER BY state = 'left', id"
        );
        let rows = self.db.prepare_cached(&sql)?.query_map([person], forgetting)?.collect::<Result<Vec<_>, _>>()?;
        Ok(rows.into_iter().filter(ForgettingRow::belongs_to_person_erasure).collect())
    }

    /// Returns the open erasures whose words cannot be parsed.
    pub fn unreadable_forgettings(&self) -> anyhow::Result<Vec<ForgettingId>> {
        let sql = "SELECT id, needles FROM forgettings WHERE state IN ('wanted', 'left') ORDER BY state = 'left', id";
        let mut query = self.db.prepare_cached(sql)?;
        let rows = query.query_map([], |row| Ok((row.get("id")?, row.get::<_, String>("needles")?)))?;
        let rows: Vec<(ForgettingId, String)> = rows.collect::<Result<_, _>>()?;
        let is_unreadable = |needles: &str| serde_json::from_str::<ErasureQuery>(needles).is_err();
        Ok(rows.into_iter().filter(|(_, needles)| is_unreadable(needles)).map(|(id, _)| id).collect())
    }

    /// Returns an erasure by number, without its words.
    pub fn forgetting_head(&self, id: ForgettingId) -> anyhow::Result<Option<ForgettingHead>> {
        let sql = format!("SELECT {HEAD} FROM forgettings WHERE id = ?1");
        Ok(self.db.prepare_cached(&sql)?.query_row([id], head).optional()?)
    }

    /// Returns an erasure by number.
    ///
    /// # Errors
    /// If its words cannot be read.
    pub fn forgetting(&self, id: ForgettingId) -> anyhow::Result<Option<ForgettingRow>> {
        let sql = format!("SELECT {COLUMNS} FROM forgettings WHERE id = ?1");
        Ok(self.db.prepare_cached(&sql)?.query_row([id], forgetting).optional()?)
    }

    /// Returns an erasure by number, if it is open.
    ///
    /// # Errors
    /// If its words cannot be read.
    pub fn open_forgetting(&self, id: ForgettingId) -> anyhow::Result<Option<ForgettingRow>> {
        let sql = format!("SELECT {COLUMNS} FROM forgettings WHERE id = ?1 AND state <> 'done'");
        Ok(self.db.prepare_cached(&sql)?.query_row([id], forgetting).optional()?)
    }

    /// Returns the words of open erasures in that scope, which new text must not contain.
    pub fn forgotten_words(&self, scope: Scope) -> anyhow::Result<ForgottenWords> {
        let mut query = self
            .db
            .prepare_cached("SELECT needles FROM forgettings WHERE scope = ?1 AND state <> 'done' ORDER BY id")?;
        let stored: Vec<String> = query.query_map([scope], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let mut words = ForgottenWords::default();
        for needles in &stored {
            match serde_json::from_str(needles) {
                Ok(needles) => words.needles.push(needles),
                Err(_) => words.is_unreadable = true,
            }
        }
        Ok(words)
    }
}

impl ErasureMut<'_> {
    /// Begins an erasure. Records its source messages at once, because the file versions that lead
    /// to them are deleted with it.
    pub fn begin_erasure(&self, new: &NewForgetting<'_>) -> anyhow::Result<ForgettingId> {
        self.db
            .prepare_cached(
                "INSERT INTO forgettings (person_id, kind, target, needles, messages, state, label, scope, wanted_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, 'wanted', ?6, ?7, ?8)",
            )?
            .execute(params![
                new.person,
                new.what,
                new.target,
                serde_json::to_string(new.needles)?,
                new.messages,
                new.label,
                new.scope,
                new.at,
            ])?;
        let id = ForgettingId(self.db.last_insert_rowid());
        self.record_sources(id)?;
        self.invalidate_derivations(new.scope)?;
        Ok(id)
    }

    /// Restarts an erasure so that it deletes its source messages too.
    pub fn include_source_messages(&self, id: ForgettingId) -> anyhow::Result<()> {
        let sql = "UPDATE forgettings SET messages = 1, state = 'wanted' WHERE id = ?1 AND state <> 'done'";
        self.db.prepare_cached(sql)?.execute([id])?;
        Ok(())
    }

    /// Adds to the counts of an erasure.
    pub fn count_forgotten(&self, id: ForgettingId, more: Counts) -> anyhow::Result<()> {
        let so_far = self.forgetting(id)?.map(|row| row.counts).unwrap_or_default();
        let counts = serde_json::to_string(&so_far.and(more))?;
        let sql = "UPDATE forgettings SET counts = ?2 WHERE id = ?1";
        self.db.prepare_cached(sql)?.execute(params![id, counts])?;
        Ok(())
    }

    /// Ends an erasure. If no matches are left, its words are deleted from the row too.
    pub fn end_forgetting(&self, id: ForgettingId, is_left: bool, now: Timestamp) -> anyhow::Result<()> {
        let sql = if is_left {
            "UPDATE forgettings SET state = 'left', ended_at = ?2 WHERE id = ?1"
        } else {
            "UPDATE forgettings SET state = 'done', target = '', needles = '[]', ended_at = ?2 WHERE id = ?1"
        };
        self.db.prepare_cached(sql)?.execute(params![id, now])?;
        match self.forgetting_head(id)? {
            Some(head) => self.invalidate_derivations(head.scope),
            None => Ok(()),
        }
    }

    /// Invalidates text that is being derived from conversations of that scope, since its input
    /// contains erased words. It will be derived again.
    fn invalidate_derivations(&self, scope: Scope) -> anyhow::Result<()> {
        let sql = "UPDATE conversations SET revision = revision + 1 WHERE scope = ?1";
        self.db.prepare_cached(sql)?.execute([scope])?;
        Ok(())
    }
}
