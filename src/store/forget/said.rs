//! Finds paraphrases that survive an erasure, so that we do not claim that nothing is left.
//!
//! This changes nothing: a sentence with all the same words may mean something else. To erase it as
//! well, the person names its words.

use crate::store::handles::Erasure;
use std::collections::BTreeSet;

use super::cut::{ErasureRemainder, Paraphrases, words};
use super::text_columns::{CountAs, PLACES, TextColumn};
use super::{ForgettingRow, Forgotten};
use crate::id::MessageId;
use crate::text::needle::ParaphraseMatcher;

impl Erasure<'_> {
    /// Returns the paraphrases in the journal, without the rows in `left`. Searches only for facts,
    /// because only their wording is known well enough.
    pub fn paraphrases(&self, row: &ForgettingRow, left: &ErasureRemainder) -> anyhow::Result<Paraphrases> {
        if row.what != Forgotten::Fact || row.belongs_to_person_erasure() {
            return Ok(Paraphrases::default());
        }
        let sought = row.needles.sought();
        let (mut messages, mut summaries) = (BTreeSet::new(), BTreeSet::new());
        let sql = "SELECT m.id, m.kind = 'reflection', t.text FROM texts t JOIN messages m ON m.id = t.message_id
             WHERE t.scope = ?1 AND t.text <> '' AND m.kind IN ('said', 'reply', 'reflection')";
        let mut query = self.db.prepare_cached(sql)?;
        let mut rows = query.query([row.scope])?;
        while let Some(found) = rows.next()? {
            let (id, is_reflection): (MessageId, bool) = (found.get(0)?, found.get(1)?);
            if !left.messages.contains(&id) && sought.are_in(&words(found.get_ref(2)?)) {
                if is_reflection {
                    summaries.insert(id)
                } else {
                    messages.insert(id)
                };
            }
        }
        let written = self.also_in_summaries(row, &sought)?;
        Ok(Paraphrases {
            messages: messages.len(),
            summaries: summaries.len().saturating_add(written),
            files: Vec::new(),
        })
    }

    fn also_in_summaries(&self, row: &ForgettingRow, sought: &ParaphraseMatcher) -> anyhow::Result<usize> {
        let mut count = 0_usize;
        let shown = |place: &&TextColumn| {
            place.counts == CountAs::Summary && ["summaries", "compactions"].contains(&place.table)
        };
        for TextColumn { table, column, rows, .. } in PLACES.iter().filter(shown) {
            let sql = format!("SELECT {column} FROM {table} WHERE ({rows}) AND {column} <> '' AND state <> 'void'");
            let mut query = self.db.prepare(&sql)?;
            let mut rows = query.query([row.scope])?;
            while let Some(found) = rows.next()? {
                count = count.saturating_add(usize::from(sought.are_in(&words(found.get_ref(0)?))));
            }
        }
        Ok(count)
    }

    /// Returns true if a message still has text.
    pub(super) fn has_words(&self, message: MessageId) -> anyhow::Result<bool> {
        Ok(self.db.prepare_cached("SELECT 1 FROM texts WHERE message_id = ?1 AND text <> ''")?.exists([message])?)
    }
}
