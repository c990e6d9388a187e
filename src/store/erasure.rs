//! Erasure: deletes one note or fact with all its traces, or all data of one person.
//!
//! An erasure is stored as a row before anything is deleted, and each of its steps is idempotent,
//! so it is resumed after a crash. [`text_columns`] lists every column that holds text, and how
//! each is redacted. [`mod@matches`] applies the list to the words of one note,
//! [`person`] to a person. The same list is used for the check afterwards. While rows outside the
//! request still contain the words, the erasure keeps them: new text is written without them, and
//! the person can extend the erasure by its number. After that it keeps no words.
//!
//! Text is deleted as in [`retracted`]: rows and positions stay, and the text is removed from the
//! search indexes and the log too. Workspace files are changed by `crate::erasure`.

mod choice;
mod knowledge;
mod matches;
mod person;
mod retracted;
mod text_columns;

pub use choice::{ErasureChoice, ErasureItem};
pub use knowledge::OldContent;
pub use matches::{JournalMatches, Paraphrases, RemainingMatches};
pub use retracted::{AfterRedaction, DELETED, FORGOT, UNCUT};

use std::borrow::Cow;

use rusqlite::params;
use rusqlite::types::FromSqlError;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use crate::id::{ErasureId, PersonId, ReminderId};
use crate::store::handles::{Erasure, ErasureMut};
use crate::store::rows::{from_row, insert, stored_word};
use crate::text::erasure_query::ErasureQuery;
use crate::time::Timestamp;
use crate::trust::{Label, Scope};

/// Object of an erasure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ErasureKind {
    /// A memory file.
    Note,
    /// One line of a memory file.
    Fact,
    /// Words that occur only in messages.
    #[strum(serialize = "said")]
    Words,
    /// A person with all their data.
    Person,
}

/// Progress of an erasure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ErasureState {
    /// Not finished; resumed at the next start.
    Wanted,
    /// Finished, with matches left outside the request.
    #[strum(serialize = "left")]
    Incomplete,
    /// Finished; nothing is left.
    Done,
}

stored_word!(ErasureKind, ErasureState);

/// Counts of deleted items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ErasureCounts {
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
    /// Reminders and tasks.
    pub reminders: usize,
}

impl ErasureCounts {
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
            reminders: self.reminders.saturating_add(other.reminders),
        }
    }
}

/// Data that was found and is to be erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasurePlan {
    /// Object.
    pub kind: ErasureKind,
    /// Path of the note relative to the workspace, key of the fact, words of the messages, or
    /// folder of the person; blank for group data that is erased with a person.
    pub target: String,
    /// Words to erase everywhere.
    pub query: ErasureQuery,
    /// Label of the words.
    pub label: Label,
}

/// An erasure to begin.
#[derive(Debug, Clone, Copy)]
pub struct NewErasure<'a> {
    /// Data to erase.
    pub plan: &'a ErasurePlan,
    /// Person who asked, or who is erased.
    pub person: PersonId,
    /// True to delete the source messages too, and reminders with the words.
    pub messages: bool,
    /// Choice among the items of the plan.
    pub choice: &'a ErasureChoice,
    /// Owning scope.
    pub scope: Scope,
    /// Current time.
    pub at: Timestamp,
}

/// A stored erasure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasureRow {
    /// Row id.
    pub id: ErasureId,
    /// Person who asked, or who is erased.
    pub person: Option<PersonId>,
    /// Object.
    pub kind: ErasureKind,
    /// As in [`ErasurePlan`]; blank when it is done.
    pub target: String,
    /// Words to erase.
    pub query: ErasureQuery,
    /// True to delete the source messages too, and reminders with the words.
    pub messages: bool,
    /// Choice among the items of the plan.
    pub choice: ErasureChoice,
    /// Progress.
    pub state: ErasureState,
    /// Deleted items so far.
    pub counts: ErasureCounts,
    /// Owning scope.
    pub scope: Scope,
}

/// A stored erasure without its words, which may be unreadable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErasureHead {
    /// Row id.
    pub id: ErasureId,
    /// Object.
    pub kind: ErasureKind,
    /// Owning scope.
    pub scope: Scope,
    /// True if it names a target: it is neither finished nor part of the erasure of a person.
    pub has_target: bool,
}

/// The words of an erasure cannot be parsed. A search for none finds nothing, which proves nothing.
#[derive(Debug, thiserror::Error)]
#[error("The words of forgetting {0} cannot be read, so it is not finished")]
struct UnreadableQuery(ErasureId);

/// Erased words that must not be written again in a scope.
#[derive(Debug, Clone, Default)]
pub struct ErasedWords {
    queries: Vec<ErasureQuery>,
    is_unreadable: bool,
}

impl ErasedWords {
    /// Returns true if a text contains any of them. If some cannot be parsed, returns true for
    /// every text.
    pub fn are_in(&self, text: &str) -> bool {
        self.is_unreadable || self.queries.iter().any(|query| query.matches(text))
    }
}

impl ErasureRow {
    /// Returns true for an open erasure of group data that belongs to the erasure of a person.
    /// Messages of others in the group are kept.
    pub fn belongs_to_person_erasure(&self) -> bool {
        self.kind == ErasureKind::Fact && self.target.is_empty()
    }

    /// Returns true if paraphrases are searched: only for facts, because only their wording is
    /// known well enough.
    pub fn has_paraphrases(&self) -> bool {
        self.kind == ErasureKind::Fact && !self.target.is_empty()
    }

    /// Returns true if every line that contains the words is deleted, not only lines with little
    /// else: for words named by a person, and for group data erased with a person.
    fn is_everywhere(&self) -> bool {
        self.kind == ErasureKind::Words || self.belongs_to_person_erasure()
    }

    /// Returns the same erasure with nothing left out.
    #[must_use]
    pub fn with_everything(&self) -> Self {
        Self { choice: ErasureChoice::default(), ..self.clone() }
    }

    /// Returns true if a reminder with the words is deleted.
    fn covers_reminder(&self, id: ReminderId) -> bool {
        self.messages || self.choice.adds(&ErasureItem::Reminder(id).key())
    }

    /// Returns the text of a file without the erased lines; `None` if there are none.
    pub fn without_matching_lines(&self, path: &str, text: &str) -> Option<String> {
        let rest: String = text.split_inclusive('\n').filter(|line| !self.erases_line(path, line)).collect();
        (rest.len() != text.len()).then_some(rest)
    }

    /// Returns the lines to erase in the text of a file.
    pub fn matching_lines<'t>(&self, path: &str, text: &'t str) -> Vec<&'t str> {
        text.lines().filter(|line| self.erases_line(path, line)).collect()
    }

    /// Returns true if the text of a file has a line to erase.
    pub fn matches_line(&self, path: &str, text: &str) -> bool {
        let text = self.unspared(path, text);
        if self.is_everywhere() { self.query.matches(&text) } else { self.query.is_stated_in(&text) }
    }

    /// Returns the text of a file without the lines that were left out.
    pub fn unspared<'t>(&self, path: &str, text: &'t str) -> Cow<'t, str> {
        if !self.choice.is_narrow() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(text.split_inclusive('\n').filter(|line| !self.choice.spares_line(path, line)).collect())
    }

    fn erases_line(&self, path: &str, line: &str) -> bool {
        let is_match = if self.is_everywhere() { self.query.is_on_line(line) } else { self.query.is_stated_in(line) };
        is_match && !self.choice.spares_line(path, line)
    }
}

from_row! {
    ErasureRow from "forgettings", "needles, counts, choice" { id, person: "person_id", kind, target, messages, state, scope }
    with |row| {
        query: {
            let unreadable = UnreadableQuery(row.get("id")?);
            serde_json::from_str(&row.get::<_, String>("needles")?).map_err(|_| FromSqlError::other(unreadable))?
        },
        counts: serde_json::from_str(&row.get::<_, String>("counts")?).map_err(FromSqlError::other)?,
        choice: serde_json::from_str(&row.get::<_, String>("choice")?).map_err(FromSqlError::other)?,
    }
}

from_row! { ErasureHead from "forgettings" { id, kind, scope, has_target = "target <> ''" } }

impl Erasure<'_> {
    /// Returns the erasures in that state, oldest first.
    pub fn heads_in(&self, state: ErasureState) -> anyhow::Result<Vec<ErasureHead>> {
        self.db.rows("WHERE state = ?1 ORDER BY id", [state])
    }

    /// Returns an erasure by number, without its words.
    pub fn head(&self, id: ErasureId) -> anyhow::Result<Option<ErasureHead>> {
        self.db.row("WHERE id = ?1", [id])
    }

    /// Returns an erasure by number.
    ///
    /// # Errors
    /// If its words cannot be read.
    pub fn row(&self, id: ErasureId) -> anyhow::Result<Option<ErasureRow>> {
        self.db.row("WHERE id = ?1", [id])
    }

    /// Returns the open erasures in groups that belong to the erasure of a person, one for each
    /// group.
    ///
    /// # Errors
    /// If the words of one cannot be read.
    pub fn open_in_groups(&self, person: PersonId) -> anyhow::Result<Vec<ErasureRow>> {
        let rest = "WHERE state IN ('wanted', 'left') AND person_id = ?1 ORDER BY state = 'left', id";
        let mut rows: Vec<ErasureRow> = self.db.rows(rest, [person])?;
        rows.retain(ErasureRow::belongs_to_person_erasure);
        Ok(rows)
    }

    /// Returns the open erasures whose words cannot be parsed.
    pub fn unreadable(&self) -> anyhow::Result<Vec<ErasureId>> {
        let sql = "SELECT id, needles FROM forgettings WHERE state IN ('wanted', 'left') ORDER BY state = 'left', id";
        let mut rows: Vec<(ErasureId, String)> = self.db.all(sql, [])?;
        rows.retain(|(_, query)| serde_json::from_str::<ErasureQuery>(query).is_err());
        Ok(rows.into_iter().map(|(id, _)| id).collect())
    }

    /// Returns the words of open erasures in that scope, which new text must not contain.
    pub fn erased_words(&self, scope: Scope) -> anyhow::Result<ErasedWords> {
        let sql = "SELECT needles FROM forgettings WHERE scope = ?1 AND state <> 'done' ORDER BY id";
        let mut words = ErasedWords::default();
        for query in self.db.all::<_, String>(sql, [scope])? {
            match serde_json::from_str(&query) {
                Ok(query) => words.queries.push(query),
                Err(_) => words.is_unreadable = true,
            }
        }
        Ok(words)
    }
}

impl ErasureMut<'_> {
    /// Begins an erasure. Records its source messages at once, because the file versions that lead
    /// to them are deleted with it.
    pub fn begin(&self, new: &NewErasure<'_>) -> anyhow::Result<ErasureId> {
        let id = insert!(self.db, "forgettings" {
            person_id: new.person, kind: new.plan.kind, target: new.plan.target,
            needles: serde_json::to_string(&new.plan.query)?, messages: new.messages, state: "wanted",
            choice: serde_json::to_string(new.choice)?, label: new.plan.label, scope: new.scope, wanted_at: new.at,
        })?;
        self.record_sources(id)?;
        self.invalidate_derivations(new.scope)?;
        Ok(id)
    }

    /// Restarts an erasure so that it deletes its source messages too.
    pub fn include_source_messages(&self, id: ErasureId) -> anyhow::Result<()> {
        let sql = "UPDATE forgettings SET messages = 1, state = 'wanted' WHERE id = ?1 AND state <> 'done'";
        self.db.run(sql, [id])
    }

    /// Adds to the counts of an erasure.
    pub fn add_counts(&self, id: ErasureId, more: ErasureCounts) -> anyhow::Result<()> {
        let so_far = self.row(id)?.map(|row| row.counts).unwrap_or_default();
        let counts = serde_json::to_string(&so_far.and(more))?;
        let sql = "UPDATE forgettings SET counts = ?2 WHERE id = ?1";
        self.db.run(sql, params![id, counts])
    }

    /// Ends an erasure. If nothing remains, its words are deleted from the row too.
    pub fn end(&self, id: ErasureId, something_remains: bool, now: Timestamp) -> anyhow::Result<()> {
        let sql = if something_remains {
            "UPDATE forgettings SET state = 'left', ended_at = ?2 WHERE id = ?1"
        } else {
            "UPDATE forgettings SET state = 'done', target = '', needles = '[]', choice = '{}', ended_at = ?2 WHERE id = ?1"
        };
        self.db.run(sql, params![id, now])?;
        self.head(id)?.map_or(Ok(()), |head| self.invalidate_derivations(head.scope))
    }

    /// Invalidates text that is being derived from conversations of that scope, since its input
    /// contains erased words. It will be derived again.
    fn invalidate_derivations(&self, scope: Scope) -> anyhow::Result<()> {
        let sql = "UPDATE conversations SET revision = revision + 1 WHERE scope = ?1";
        self.db.run(sql, [scope])
    }
}
