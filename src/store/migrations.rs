//! Migrations of the journal, and the version of a file.
//!
//! The first migration is the baseline, the whole schema of the first release. Its number is 35:
//! development versions made the same schema by 35 migrations, and recorded each in a table. Their
//! journals at version 35 are adopted: the table is dropped, and the version is stored where it is
//! now, in `user_version`. Older ones are refused.
//!
//! All pending migrations are committed together with the new version. If that is cut off anywhere,
//! the next start does it again.

use anyhow::Context;
use rusqlite::{Connection, TransactionBehavior};

use super::Db;

/// A step from the version before to that of its number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Migration {
    /// Version that it leads to.
    pub(super) number: u32,
    /// Name, as in its file.
    pub(super) name: &'static str,
    /// Statements.
    pub(super) sql: &'static str,
}

/// Version of the baseline, the oldest that can be opened.
pub const BASELINE: u32 = 35;

/// Every migration, oldest first.
pub(super) const MIGRATIONS: &[Migration] = &[
    Migration { number: BASELINE, name: "baseline", sql: include_str!("../../migrations/V0035__baseline.sql") },
    Migration { number: 36, name: "argument_marks", sql: include_str!("../../migrations/V0036__argument_marks.sql") },
    Migration { number: 37, name: "known_versions", sql: include_str!("../../migrations/V0037__known_versions.sql") },
    Migration { number: 38, name: "wishes", sql: include_str!("../../migrations/V0038__wishes.sql") },
    Migration { number: 39, name: "agreed", sql: include_str!("../../migrations/V0039__agreed.sql") },
    Migration { number: 40, name: "passages", sql: include_str!("../../migrations/V0040__passages.sql") },
    Migration { number: 41, name: "open_items", sql: include_str!("../../migrations/V0041__open_items.sql") },
];

/// Version of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// Nothing has been migrated.
    New,
    /// Version of a journal.
    At(u32),
    /// Version of a journal of a development version.
    Development(u32),
}

impl Version {
    /// Reads the version of a file.
    pub(super) fn read(db: Db<'_>) -> anyhow::Result<Self> {
        let number: u32 = db.one("PRAGMA user_version", [])?;
        if number > 0 {
            return Ok(Self::At(number));
        }
        if !db.exists("SELECT 1 FROM sqlite_schema WHERE name = 'refinery_schema_history'", [])? {
            return Ok(Self::New);
        }
        let newest: Option<u32> = db.one("SELECT max(version) FROM refinery_schema_history", [])?;
        Ok(newest.map_or(Self::New, Self::Development))
    }

    /// Returns the number; 0 for a new file.
    pub(super) fn number(self) -> u32 {
        match self {
            Self::New => 0,
            Self::At(number) | Self::Development(number) => number,
        }
    }

    /// Returns true if the file is too old, or of a development version whose first start at the
    /// baseline has not done its part.
    pub(super) fn is_too_old(self, db: Db<'_>) -> anyhow::Result<bool> {
        const UNFINISHED: &str = "SELECT 1 WHERE EXISTS (SELECT 1 FROM folder_moves WHERE kind = 'rename')
            OR EXISTS (SELECT 1 FROM conversations WHERE label = '')
            OR EXISTS (SELECT 1 FROM meta WHERE key = 'skills_carried_over' AND value = '')";
        match self {
            Self::New => Ok(false),
            Self::Development(BASELINE) => db.exists(UNFINISHED, []),
            Self::At(number) | Self::Development(number) => Ok(number < BASELINE),
        }
    }
}

/// Returns the newest journal version that this program knows.
pub fn newest_version() -> u32 {
    newest_of(MIGRATIONS)
}

/// Returns the version to which these migrations lead.
pub(super) fn newest_of(migrations: &[Migration]) -> u32 {
    migrations.last().map_or(0, |last| last.number)
}

/// Adopts a journal of a development version, and applies the pending migrations.
///
/// # Errors
/// If one fails. Then nothing is changed.
pub(super) fn migrate(connection: &mut Connection, migrations: &[Migration]) -> anyhow::Result<()> {
    let newest = newest_of(migrations);
    if Version::read(Db::on(connection))? == Version::At(newest) {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = Version::read(Db::on(&transaction))?;
    // A first start of a development version that was cut off left the table empty.
    transaction.execute_batch("DROP TABLE IF EXISTS refinery_schema_history")?;
    for Migration { number, name, sql } in migrations.iter().filter(|migration| migration.number > found.number()) {
        transaction.execute_batch(sql).with_context(|| format!("Migration {number} ({name}) failed"))?;
    }
    transaction.pragma_update(None, "user_version", newest)?;
    Ok(transaction.commit()?)
}

/// Returns the words, literals and signs of a statement, separated by spaces, without its comments.
/// The schema of an adopted journal differs from that of a new one in nothing else.
pub(super) fn without_comments(sql: &str) -> String {
    let mut tokens: Vec<&str> = Vec::new();
    let mut rest = sql.trim_start();
    while let Some(first) = rest.chars().next() {
        let after = if let Some(comment) = rest.strip_prefix("--") {
            comment.split_once('\n').map_or("", |(_, after)| after)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/").map_or("", |(_, after)| after)
        } else {
            let (token, after) = rest.split_at_checked(token_length(rest, first)).unwrap_or((rest, ""));
            tokens.push(token);
            after
        };
        rest = after.trim_start();
    }
    tokens.join(" ")
}

fn token_length(text: &str, first: char) -> usize {
    let is_word = |c: char| c == '_' || c.is_alphanumeric();
    let end = |quote: char| text.char_indices().skip(1).find(|(_, c)| *c == quote).map(|(at, c)| at + c.len_utf8());
    match first {
        '\'' | '"' | '`' => end(first).unwrap_or(text.len()),
        '[' => end(']').unwrap_or(text.len()),
        word if is_word(word) => text.find(|c| !is_word(c)).unwrap_or(text.len()),
        sign => sign.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::store::{Journal, OpenError};

    /// A journal of a development version at the baseline.
    const DEVELOPMENT: &str = include_str!("../../tests/corpus/homes/V0035.sql");

    fn journal_of(folder: &Path, sql: &str) -> PathBuf {
        let path = folder.join("journal.db");
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        path
    }

    fn lines(db: &Connection, query: &str) -> Vec<String> {
        let mut query = db.prepare(query).unwrap();
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    /// Tables, columns, keys and indexes as SQLite sees them, and every statement of the schema.
    fn schema(path: &Path) -> Vec<String> {
        let db = Connection::open(path).unwrap();
        let mut found = lines(&db, "SELECT concat_ws('|', type, name, tbl_name, sql) FROM sqlite_schema ORDER BY 1");
        found.iter_mut().for_each(|line| *line = without_comments(line));
        for query in [
            "SELECT concat_ws('|', name, type, ncol, wr, strict) FROM pragma_table_list ORDER BY 1",
            "SELECT concat_ws('|', m.name, c.cid, c.name, c.type, c.\"notnull\", c.dflt_value, c.pk, c.hidden)
             FROM sqlite_schema m, pragma_table_xinfo(m.name) c ORDER BY 1",
            "SELECT concat_ws('|', m.name, k.id, k.seq, k.\"table\", k.\"from\", k.\"to\", k.on_update, k.on_delete)
             FROM sqlite_schema m, pragma_foreign_key_list(m.name) k ORDER BY 1",
            "SELECT concat_ws('|', m.name, i.seq, i.name, i.\"unique\", i.origin, i.partial, c.seqno, c.name, c.\"desc\", c.coll)
             FROM sqlite_schema m, pragma_index_list(m.name) i, pragma_index_xinfo(i.name) c ORDER BY 1",
            "SELECT concat_ws('|', 'texts_fts', k, v) FROM texts_fts_config
             UNION ALL SELECT concat_ws('|', 'entries_fts', k, v) FROM entries_fts_config ORDER BY 1",
        ] {
            found.extend(lines(&db, query));
        }
        found
    }

    #[test]
    fn the_list_of_migrations_is_that_of_their_files() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let listed = MIGRATIONS.iter().map(|migration| format!("V{:04}__{}.sql", migration.number, migration.name));
        let names: Vec<_> = files.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(listed.collect::<Vec<_>>(), names);
        for (migration, path) in MIGRATIONS.iter().zip(&files) {
            assert_eq!(std::fs::read_to_string(path).unwrap(), migration.sql);
        }
    }

    /// Proves: operation/upgrade
    #[test]
    fn an_adopted_journal_has_the_schema_of_a_new_one() {
        let (old, new) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let adopted = journal_of(old.path(), DEVELOPMENT);
        drop(Journal::open(&adopted, None).unwrap());
        let new = new.path().join("journal.db");
        drop(Journal::open(&new, None).unwrap());
        let (adopted, new) = (schema(&adopted), schema(&new));
        let differs = |one: &[String], other: &[String]| -> Vec<String> {
            one.iter().filter(|line| !other.contains(line)).cloned().collect()
        };
        assert_eq!((differs(&adopted, &new), differs(&new, &adopted)), (Vec::new(), Vec::new()));
        assert!(new.len() > 1000 && new.iter().any(|line| line.contains("reflection_words_changed")));
    }

    /// Proves: operation/unusable-journal
    #[test]
    fn a_journal_from_before_the_baseline_is_refused_with_what_to_do_and_left_as_it_is() {
        let unfinished = [
            "DELETE FROM refinery_schema_history WHERE version = 35",
            "INSERT INTO folder_moves (kind, state, person_id) VALUES ('rename', 'wanted', 1)",
            "UPDATE conversations SET label = '' WHERE id = 1",
            "INSERT INTO meta (key, value) VALUES ('skills_carried_over', '')",
            "PRAGMA user_version = 12",
        ];
        for change in unfinished {
            let folder = tempfile::tempdir().unwrap();
            let path = journal_of(folder.path(), &format!("{DEVELOPMENT};{change}"));
            let before = std::fs::read(&path).unwrap();
            for refused in [Journal::open(&path, None), Journal::open_restored(&path)] {
                let error = refused.unwrap_err();
                assert!(matches!(error, OpenError::TooOld { .. }), "{change}: {error}");
                let words = error.to_string();
                assert!(words.contains("commit cfd88b9a") && words.contains(path.to_str().unwrap()), "{words}");
            }
            assert_eq!(std::fs::read(&path).unwrap(), before, "{change}");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "{change}");
        }
    }

    #[test]
    fn a_first_start_of_a_development_version_that_was_cut_off_is_begun_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = journal_of(folder.path(), "CREATE TABLE refinery_schema_history (version int4 PRIMARY KEY)");
        drop(Journal::open(&path, None).unwrap());
        let db = Connection::open(&path).unwrap();
        assert_eq!(Version::read(Db::on(&db)).unwrap(), Version::At(newest_version()));
        assert!(!db.prepare("SELECT 1 FROM sqlite_schema WHERE name LIKE 'refinery%'").unwrap().exists([]).unwrap());
    }

    #[test]
    fn only_comments_and_white_space_of_a_statement_are_left_out() {
        let same = ["CREATE TABLE a (b TEXT)", "CREATE  TABLE a(b TEXT -- c\n)", "CREATE TABLE a/* d */(\nb TEXT)"];
        assert!(same.iter().all(|sql| without_comments(sql) == "CREATE TABLE a ( b TEXT )"));
        for (one, other) in [
            ("SELECT '--', 1", "SELECT '--'"),
            ("SELECT 'a  b'", "SELECT 'a b'"),
            ("SELECT \"a--\" FROM b", "SELECT \"a\" FROM b"),
            ("SELECT ab", "SELECT a b"),
            ("SELECT '/*', a, '*/'", "SELECT '/*', b, '*/'"),
            ("SELECT [a--b]", "SELECT [a--c]"),
        ] {
            assert_ne!(without_comments(one), without_comments(other));
        }
    }
}
