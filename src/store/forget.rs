//! What is forgotten because a person wants it: one note or fact wherever it left traces, or
//! everything of one person.
//!
//! A forgetting is a row before anything goes, and what it does may be done any number of times, so
//! it is finished after a crash. [`places`] is the list of every column that holds words, each with
//! what becomes of it; [`cut`] goes through it for the words of one note, [`whole`] for a person.
//! The same list is what is looked through afterwards. While something that was not asked for still
//! holds the words, the row keeps them: so that what is written down later leaves them out, and so
//! that the person can go on by its number. After that it holds none.
//!
//! Words go as in [`super::gone`]: rows and places stay, and the search indexes and the log let go
//! of them too. Files of the tree are not changed here.

mod cut;
mod grown;
mod text_columns;
mod said;
mod sweep;
mod whole;

pub use cut::Left;
pub use grown::KeptWords;
pub use said::Also;

use crate::store::handles::{Erasure, ErasureMut};
use rusqlite::{OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use crate::id::{ForgettingId, PersonId};
use crate::text::needle::ErasureQuery;
use crate::time::Timestamp;
use crate::trust::{Label, Scope};

/// What is forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forgotten {
    /// A file of the memory.
    Note,
    /// One line of what is known.
    Fact,
    /// Words that were only said.
    Said,
    /// A person with everything that is theirs.
    Person,
}

impl Forgotten {
    fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Fact => "fact",
            Self::Said => "said",
            Self::Person => "person",
        }
    }

    fn parse(word: &str) -> Self {
        match word {
            "fact" => Self::Fact,
            "said" => Self::Said,
            "person" => Self::Person,
            _ => Self::Note,
        }
    }
}

/// How much of what went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Notes and other files that are gone.
    pub notes: usize,
    /// Lines of other files.
    pub lines: usize,
    /// Entries of the index.
    pub entries: usize,
    /// Kept versions of files.
    pub versions: usize,
    /// Summaries and reflections in which something was cut.
    pub summaries: usize,
    /// Calls of tools, contexts and other copies.
    pub copies: usize,
    /// Messages.
    pub messages: usize,
    /// Archives that somebody took along.
    pub archives: usize,
}

impl Counts {
    /// Both together.
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

    /// Whether nothing went.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

/// A forgetting that is to be begun.
#[derive(Debug, Clone)]
pub struct NewForgetting<'a> {
    /// Who asked, or who is forgotten as a whole.
    pub person: Option<PersonId>,
    /// What.
    pub what: Forgotten,
    /// The note's path relative to the workspace, the fact's key, the words that were said, the
    /// person's folder; blank for what goes of a group's with a person.
    pub target: &'a str,
    /// The words that nothing may hold any more.
    pub needles: &'a ErasureQuery,
    /// Whether the messages that it grew from go too.
    pub messages: bool,
    /// Where the words came from.
    pub label: &'a Label,
    /// Whose it is.
    pub scope: Scope,
    /// Now.
    pub at: Timestamp,
}

/// A stored forgetting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgettingRow {
    /// Its row.
    pub id: ForgettingId,
    /// Who asked, or who is forgotten as a whole.
    pub person: Option<PersonId>,
    /// What.
    pub what: Forgotten,
    /// The note's path relative to the workspace, the fact's key, the words that were said, the
    /// person's folder; blank when it is over.
    pub target: String,
    /// The words that nothing may hold any more.
    pub needles: ErasureQuery,
    /// Whether the messages that it grew from go too.
    pub messages: bool,
    /// How much of what went so far.
    pub counts: Counts,
    /// Whose it is.
    pub scope: Scope,
    /// Whether it was gone through once, and something was left.
    pub is_left: bool,
    /// Whether its words could be read. Where they could not, a look finds nothing, which proves
    /// nothing.
    pub is_readable: bool,
}

/// Words that must not be written down again in a scope.
#[derive(Debug, Clone, Default)]
pub struct ForgottenWords {
    needles: Vec<ErasureQuery>,
    is_unreadable: bool,
}

impl ForgottenWords {
    /// Whether a text holds any of them. If some cannot be read, any text may.
    pub fn are_in(&self, text: &str) -> bool {
        self.is_unreadable || self.needles.iter().any(|needles| needles.are_in(text))
    }
}

impl ForgettingRow {
    /// Whether it is what goes of a group's because a person goes, and is not over: what others
    /// said there stays theirs.
    pub fn is_of_somebody(&self) -> bool {
        self.what == Forgotten::Fact && self.target.is_empty()
    }

    /// Whether lines of files go wherever they hold it, and not only those that say it and little
    /// else: what a person named by its words, and what goes with a person.
    fn is_everywhere(&self) -> bool {
        self.what == Forgotten::Said || self.is_of_somebody()
    }

    /// A text of a file without the lines that go; `None` if none does.
    pub fn cut(&self, text: &str) -> Option<String> {
        if self.is_everywhere() { self.needles.cut(text) } else { self.needles.cut_said(text) }
    }

    /// Whether a text of a file has a line that goes.
    pub fn goes_from(&self, text: &str) -> bool {
        if self.is_everywhere() { self.needles.are_in(text) } else { self.needles.are_said_in(text) }
    }
}

const COLUMNS: &str = "id, person_id, kind, target, needles, messages, counts, scope, state = 'left'";

fn forgetting(row: &Row<'_>) -> rusqlite::Result<ForgettingRow> {
    let (kind, needles, counts): (String, String, String) = (row.get(2)?, row.get(4)?, row.get(6)?);
    let needles: Option<ErasureQuery> = serde_json::from_str(&needles).ok();
    Ok(ForgettingRow {
        id: row.get(0)?,
        person: row.get(1)?,
        what: Forgotten::parse(&kind),
        target: row.get(3)?,
        is_readable: needles.is_some(),
        needles: needles.unwrap_or_default(),
        messages: row.get(5)?,
        counts: serde_json::from_str(&counts).unwrap_or_default(),
        scope: row.get(7)?,
        is_left: row.get(8)?,
    })
}

impl Erasure<'_> {
    /// The forgettings that were begun and are not finished, oldest first.
    pub fn unfinished_forgettings(&self) -> anyhow::Result<Vec<ForgettingRow>> {
        let sql = format!("SELECT {COLUMNS} FROM forgettings WHERE state = 'wanted' ORDER BY id");
        Ok(self.db.prepare_cached(&sql)?.query_map([], forgetting)?.collect::<Result<_, _>>()?)
    }

    /// The forgettings of which something was left that nobody asked for.
    pub fn forgettings_left(&self) -> anyhow::Result<Vec<ForgettingRow>> {
        let sql = format!("SELECT {COLUMNS} FROM forgettings WHERE state = 'left' ORDER BY id");
        Ok(self.db.prepare_cached(&sql)?.query_map([], forgetting)?.collect::<Result<_, _>>()?)
    }

    /// The forgettings that are not over and whose words cannot be read.
    pub fn unreadable_forgettings(&self) -> anyhow::Result<Vec<ForgettingId>> {
        let rows = self.unfinished_forgettings()?.into_iter().chain(self.forgettings_left()?);
        Ok(rows.filter(|row| !row.is_readable).map(|row| row.id).collect())
    }

    /// The forgetting of that number.
    pub fn forgetting(&self, id: ForgettingId) -> anyhow::Result<Option<ForgettingRow>> {
        let sql = format!("SELECT {COLUMNS} FROM forgettings WHERE id = ?1");
        Ok(self.db.prepare_cached(&sql)?.query_row([id], forgetting).optional()?)
    }

    /// The same, if it is not over.
    pub fn open_forgetting(&self, id: ForgettingId) -> anyhow::Result<Option<ForgettingRow>> {
        let sql = format!("SELECT {COLUMNS} FROM forgettings WHERE id = ?1 AND state <> 'done'");
        Ok(self.db.prepare_cached(&sql)?.query_row([id], forgetting).optional()?)
    }

    /// What was forgotten in that scope although something holds it still: whatever is written down
    /// later leaves it out.
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
    /// Something is to be forgotten. What it grew from is noted with it, because the versions of
    /// files that tell go with it.
    pub fn want_forgotten(&self, new: &NewForgetting<'_>) -> anyhow::Result<ForgettingId> {
        self.db
            .prepare_cached(
                "INSERT INTO forgettings (person_id, kind, target, needles, messages, state, label, scope, wanted_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, 'wanted', ?6, ?7, ?8)",
            )?
            .execute(params![
                new.person,
                new.what.as_str(),
                new.target,
                serde_json::to_string(new.needles)?,
                new.messages,
                new.label,
                new.scope,
                new.at,
            ])?;
        let id = ForgettingId(self.db.last_insert_rowid());
        self.note_what_it_grew_from(id)?;
        self.look_again(new.scope)?;
        Ok(id)
    }

    /// The messages that it grew from are to go as well: it is begun again.
    pub fn want_messages_forgotten(&self, id: ForgettingId) -> anyhow::Result<()> {
        let sql = "UPDATE forgettings SET messages = 1, state = 'wanted' WHERE id = ?1 AND state <> 'done'";
        self.db.prepare_cached(sql)?.execute([id])?;
        Ok(())
    }

    /// So much went in addition.
    pub fn count_forgotten(&self, id: ForgettingId, more: Counts) -> anyhow::Result<()> {
        let so_far = self.forgetting(id)?.map(|row| row.counts).unwrap_or_default();
        let counts = serde_json::to_string(&so_far.and(more))?;
        let sql = "UPDATE forgettings SET counts = ?2 WHERE id = ?1";
        self.db.prepare_cached(sql)?.execute(params![id, counts])?;
        Ok(())
    }

    /// It is done as far as it was asked for. If nothing holds the words any more the row does not
    /// either.
    pub fn end_forgetting(&self, id: ForgettingId, is_left: bool, now: Timestamp) -> anyhow::Result<()> {
        let sql = if is_left {
            "UPDATE forgettings SET state = 'left', ended_at = ?2 WHERE id = ?1"
        } else {
            "UPDATE forgettings SET state = 'done', target = '', needles = '[]', ended_at = ?2 WHERE id = ?1"
        };
        self.db.prepare_cached(sql)?.execute(params![id, now])?;
        match self.forgetting(id)? {
            Some(row) => self.look_again(row.scope),
            None => Ok(()),
        }
    }

    /// Whatever is being made of words of that scope just now was made of what is forgotten too: it
    /// counts as made of words that went, and is made again.
    fn look_again(&self, scope: Scope) -> anyhow::Result<()> {
        let sql = "UPDATE conversations SET revision = revision + 1 WHERE scope = ?1";
        self.db.prepare_cached(sql)?.execute([scope])?;
        Ok(())
    }
}
