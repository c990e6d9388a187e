//! Full-text search over what was said. The scope is a token inside the index, so a question can only ever match text of the
//! scope that asks, and what matches in untrusted text is counted without being shown unless it is asked for.

use std::sync::Arc;

use rusqlite::params;

use super::{Db, Tx};
use crate::id::{ConversationId, MessageId, PersonId};
use crate::text::fold;
use crate::time::Moment;
use crate::trust::{Label, Labelled, Scope, Text};

/// A text that matches.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The message.
    pub message: MessageId,
    /// Its conversation.
    pub conversation: Option<ConversationId>,
    /// Who said it; none for the assistant.
    pub person: Option<PersonId>,
    /// When.
    pub at: Moment,
    /// The words.
    pub text: Text,
    /// Higher is better.
    pub score: f64,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matches {
    /// The best matches, best first.
    pub hits: Vec<Hit>,
    /// How many untrusted texts match besides, when they were not asked for; at most [`COUNT_UP_TO`].
    pub untrusted: usize,
}

/// Counting stops here: "99 or more" is as good for a person.
pub const COUNT_UP_TO: usize = 99;

/// At most so many newer texts are passed over: more than one turn ever joins.
const NEWER: i64 = 500;

/// Whose text it is and whether it is trusted, as one word of the index: `person3trusted`.
pub(super) fn place(scope: Scope, label: &Label) -> String {
    let trust = if label.is_trusted() { TRUSTED } else { UNTRUSTED };
    format!("{}{trust}", scope.encode().replace(':', ""))
}

const TRUSTED: &str = "trusted";
const UNTRUSTED: &str = "untrusted";

/// The places of a scope that a question looks into, as an expression.
fn places(scope: Scope, trust: &[&str]) -> String {
    let words: Vec<String> = trust.iter().map(|trust| format!("{}{trust}", scope.encode().replace(':', ""))).collect();
    format!("place : ({})", words.join(" OR "))
}

impl Db<'_> {
    /// The best matches of `question` among the texts of `scope`, before the given message. First texts that hold all words
    /// are looked for; only if these are fewer than `limit`, those that hold some.
    ///
    /// # Errors
    /// If the journal cannot be read. No question text is an error.
    pub fn recall(
        &self,
        scope: Scope,
        question: &str,
        untrusted_too: bool,
        limit: usize,
        before: Option<MessageId>,
    ) -> anyhow::Result<Matches> {
        let Some(any) = fold::question(question) else { return Ok(Matches::default()) };
        let all = any.replace(" OR ", " AND ");
        let trust: &[&str] = if untrusted_too { &[TRUSTED, UNTRUSTED] } else { &[TRUSTED] };
        let frame = |words: &str| format!("body : ({words}) AND {}", places(scope, trust));
        let before = before.map_or(i64::MAX, |id| id.0);
        let mut hits = self.matching(&frame(&all), limit, before)?;
        if hits.len() < limit && all != any {
            for hit in self.matching(&frame(&any), limit, before)? {
                if hits.len() < limit
                    && !hits.iter().any(|known| known.message == hit.message && known.text == hit.text)
                {
                    hits.push(hit);
                }
            }
        }
        let untrusted = if untrusted_too { 0 } else { self.count_untrusted(scope, &any, before)? };
        Ok(Matches { hits, untrusted })
    }

    fn matching(&self, expression: &str, limit: usize, before: i64) -> anyhow::Result<Vec<Hit>> {
        // The inner query ranks by the index alone; only the best rows are looked up.
        let mut query = self.0.prepare_cached(
            "SELECT m.id, m.conversation_id, m.person_id, m.effective_at, t.text, t.label, t.scope, f.score
             FROM (SELECT rowid, rank AS score FROM texts_fts WHERE texts_fts MATCH ?1 ORDER BY rank LIMIT ?2) f
             JOIN texts t ON t.id = f.rowid JOIN messages m ON m.id = t.message_id
             WHERE m.id < ?3 ORDER BY f.score, m.id DESC",
        )?;
        // What is newer than asked for must not crowd out what is wanted.
        let wanted = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(self.texts_from(before)?);
        let rows = query.query_map(params![expression, wanted, before], |row| {
            let words: Arc<str> = row.get(4)?;
            let rank: f64 = row.get(7)?;
            Ok(Hit {
                message: row.get(0)?,
                conversation: row.get(1)?,
                person: row.get(2)?,
                at: row.get(3)?,
                text: Labelled::new(words, row.get(5)?, row.get(6)?),
                score: -rank,
            })
        })?;
        let mut hits = rows.collect::<Result<Vec<_>, _>>()?;
        hits.truncate(limit);
        Ok(hits)
    }

    /// How many texts there are from that message on, counted up to a bound.
    fn texts_from(&self, message: i64) -> anyhow::Result<i64> {
        let mut query =
            self.0.prepare_cached("SELECT count(*) FROM (SELECT 1 FROM texts WHERE message_id >= ?1 LIMIT ?2)")?;
        Ok(query.query_row([message, NEWER], |row| row.get(0))?)
    }

    fn count_untrusted(&self, scope: Scope, words: &str, before: i64) -> anyhow::Result<usize> {
        let expression = format!("{} AND body : ({words})", places(scope, &[UNTRUSTED]));
        let mut query = self.0.prepare_cached(
            "SELECT count(*) FROM (SELECT 1 FROM texts_fts f JOIN texts t ON t.id = f.rowid
             WHERE texts_fts MATCH ?1 AND t.message_id < ?2 LIMIT ?3)",
        )?;
        let limit = i64::try_from(COUNT_UP_TO).unwrap_or(i64::MAX);
        let count: i64 = query.query_row(params![expression, before, limit], |row| row.get(0))?;
        Ok(usize::try_from(count).unwrap_or(0))
    }
}

impl Tx<'_> {
    /// Throws the index away and builds it again from the texts.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn rebuild_index(&self) -> anyhow::Result<()> {
        self.0.0.execute("INSERT INTO texts_fts (texts_fts) VALUES ('delete-all')", [])?;
        let mut query = self.0.0.prepare(&format!(
            "SELECT t.id, t.text, t.label, t.scope FROM texts t JOIN messages m ON m.id = t.message_id
             WHERE {} AND t.text <> '' ORDER BY t.id",
            super::upkeep::SEARCHED
        ))?;
        let mut insert = self.0.0.prepare("INSERT INTO texts_fts (rowid, body, place) VALUES (?1, ?2, ?3)")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let (id, words, label, scope): (i64, String, Label, Scope) =
                (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            insert.execute(params![id, fold::fold(&words), place(scope, &label)])?;
        }
        Ok(())
    }
}
