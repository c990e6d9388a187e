//! Journals of earlier versions.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

/// Migration files, oldest first.
pub fn migrations() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Downgrades a journal to the given migrations: their tables, the columns of each row that they
/// know, and empty search indexes.
pub fn downgrade_journal(journal: &Path, known: &[PathBuf]) {
    let older = journal.with_extension("older");
    {
        let db = Connection::open(&older).unwrap();
        for file in known {
            db.execute_batch(&std::fs::read_to_string(file).unwrap()).unwrap();
        }
        db.pragma_update(None, "foreign_keys", false).unwrap();
        db.execute("ATTACH ?1 AS now", [journal.to_str().unwrap()]).unwrap();
        let history =
            "CREATE TABLE refinery_schema_history AS SELECT * FROM now.refinery_schema_history WHERE version <= ";
        db.execute_batch(&format!("{history}{}", known.len())).unwrap();
        let tables = "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE '%\\_fts%' ESCAPE '\\'
            AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> 'refinery_schema_history'";
        for table in listed(&db, tables) {
            let columns = listed(&db, &format!("SELECT name FROM pragma_table_info('{table}', 'main')")).join(", ");
            db.execute_batch(&format!(
                "DELETE FROM main.{table}; INSERT INTO main.{table} ({columns}) SELECT {columns} FROM now.{table}"
            ))
            .unwrap();
        }
    }
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", journal.display()));
    }
    std::fs::rename(older, journal).unwrap();
}

fn listed(db: &Connection, query: &str) -> Vec<String> {
    let mut query = db.prepare(query).unwrap();
    query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}
