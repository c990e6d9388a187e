//! Maintains the index. Each searched text is in it once, with its date, and can be added again at
//! any time.

use crate::store::handles::MessageSearchMut;
use chrono::Datelike;
use rusqlite::params;

use super::place;
use crate::store::maintenance::SEARCHED;
use crate::text::{fold, question};
use crate::time::Timestamp;
use crate::trust::{Label, Scope};

/// Largest offsets of time zones behind and ahead of UTC, in milliseconds.
const BEHIND: i64 = 12 * 3_600_000;
const AHEAD: i64 = 14 * 3_600_000;

impl MessageSearchMut<'_> {
    /// Adds a text to the index.
    pub(in crate::store) fn index_text(&self, row: i64) -> anyhow::Result<()> {
        let found: Option<(String, Label, Scope, Timestamp)> = self.db.first(
            "SELECT t.text, t.label, t.scope, m.effective_at FROM texts t JOIN messages m ON m.id = t.message_id WHERE t.id = ?1",
            [row],
        )?;
        let Some((words, label, scope, at)) = found else { return Ok(()) };
        self.put_text(row, &words, &place(scope, label.is_trusted()), at)
    }

    /// Removes a text and its vector from the index.
    pub(in crate::store) fn unindex_text(&self, row: i64) -> anyhow::Result<()> {
        self.db.run("DELETE FROM texts_fts WHERE rowid = ?1", [row])?;
        self.tx().embeddings().drop_digest(row)
    }

    /// Rebuilds the index from the texts.
    pub fn rebuild_index(&self) -> anyhow::Result<()> {
        self.db.run("INSERT INTO texts_fts (texts_fts) VALUES ('delete-all')", [])?;
        let sql = format!(
            "SELECT t.id, t.text, t.label, t.scope, m.effective_at FROM texts t JOIN messages m ON m.id = t.message_id
             WHERE {SEARCHED} AND t.text <> '' ORDER BY t.id"
        );
        self.db.each(&sql, [], |row| {
            let (label, scope): (Label, Scope) = (row.get(2)?, row.get(3)?);
            self.put_text(row.get(0)?, &row.get::<_, String>(1)?, &place(scope, label.is_trusted()), row.get(4)?)
        })
    }

    /// Fills an empty index while there are texts, as after a change of its form.
    pub(in crate::store) fn catch_up_index(&self) -> anyhow::Result<()> {
        let is_empty = !self.db.exists("SELECT 1 FROM texts_fts_docsize LIMIT 1", [])?;
        if is_empty && self.db.exists("SELECT 1 FROM texts WHERE text <> '' LIMIT 1", [])? {
            self.rebuild_index()?;
        }
        Ok(())
    }

    fn put_text(&self, row: i64, words: &str, place: &str, at: Timestamp) -> anyhow::Result<()> {
        self.db.run(
            "INSERT INTO texts_fts (rowid, body, day) VALUES (?1, ?2, ?3)",
            params![row, fold::under(place, words), fold::under(place, &day(at))],
        )
    }
}

/// Date as searchable words: `2026 november 21`. In UTC, so that it is the same wherever the index
/// is built; near a month boundary also with the month that other zones have. The query's zone
/// decides which one counts.
fn day(at: Timestamp) -> String {
    let day_at = |at: i64| chrono::DateTime::from_timestamp_millis(at);
    let month =
        |day: chrono::DateTime<chrono::Utc>| (day.year(), question::month_word(day.month()).unwrap_or_default());
    let Some(day) = day_at(at.0) else { return String::new() };
    let (year, name) = month(day);
    let mut words = format!("{year} {name} {}", day.day());
    let elsewhere = [at.0.saturating_sub(BEHIND), at.0.saturating_add(AHEAD)].into_iter().filter_map(day_at).map(month);
    for (other_year, other) in elsewhere.filter(|(_, other)| *other != name) {
        let other_year = if other_year == year { String::new() } else { format!(" {other_year}") };
        words.push_str(&format!(" {other}{other_year}"));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Promise (search/time-zone): A month or year that you name in a search is counted in your
    /// time zone.
    #[test]
    fn a_day_at_the_border_of_a_month_is_found_by_both() {
        let hour = 3_600_000;
        // Midnight of the first of January 2026, UTC.
        let midnight = 1_767_225_600_000;
        for (at, words) in [
            (midnight - hour, "2025 december 31 january 2026"),
            (midnight + hour, "2026 january 1 december 2025"),
            (midnight + 13 * hour, "2026 january 1"),
            (midnight + 31 * 24 * hour + hour, "2026 february 1 january"),
        ] {
            assert_eq!(day(Timestamp(at)), words);
        }
    }
}
