//! Homes of every earlier version (`tests/corpus/homes`), brought up to date by the program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::json;

use super::program::{Home, PLAIN};
use super::support::older_journals::migrations;

/// Columns that a migration or the first start changes on purpose, each with the reason; `*` is the
/// whole table.
const CHANGED: &[(&str, &str, &str)] = &[
    ("entries", "*", "derived: built anew from the workspace"),
    ("fingerprints", "*", "derived: built anew from the texts"),
    ("folder_moves", "*", "work that the first start does"),
    ("indexed", "*", "derived: built anew from the workspace"),
    ("meta", "*", "facts of the program itself; one is checked below"),
    ("people", "folder", "since version 9 the first start gives a folder to each person"),
    ("unindexed", "*", "work that the first start does"),
];

/// Fixture of a version, as written beside its migration.
fn fixture(migration: &Path) -> PathBuf {
    let name = migration.file_name().unwrap().to_str().unwrap();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/homes");
    corpus.join(format!("{}.sql", &name[..5]))
}

/// Versions with a fixture; the newest may still lack one.
fn versions() -> usize {
    migrations().iter().take_while(|migration| fixture(migration).exists()).count()
}

/// A home of that version, with rows in each of its tables.
fn home_of(version: usize) -> Home {
    let config = format!("{PLAIN}telegram = 7\n[telegram]\ntoken = \"42:AAHsecret_secret_secret_secret_secret\"\n");
    let home = Home::new().with("compline.toml", config);
    std::fs::create_dir_all(home.file("workspace/memory")).unwrap();
    let home = home.with("workspace/memory/tea.md", "Tea is green.\n");
    let journal = Connection::open(home.file("compline.db")).unwrap();
    // Nothing is lost in a power cut here.
    journal.pragma_update(None, "synchronous", "OFF").unwrap();
    journal
        .execute_batch(
            "BEGIN; CREATE TABLE refinery_schema_history
                 (version int4 PRIMARY KEY, name VARCHAR(255), applied_on VARCHAR(255), checksum VARCHAR(255))",
        )
        .unwrap();
    for migration in migrations().iter().take(version) {
        for file in [migration.clone(), fixture(migration)] {
            let sql = std::fs::read_to_string(&file).unwrap();
            journal.execute_batch(&sql).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        }
    }
    journal.execute_batch("COMMIT").unwrap();
    home
}

/// Columns of each ordinary table.
fn tables(journal: &Path) -> BTreeMap<String, Vec<String>> {
    let db = Connection::open(journal).unwrap();
    let names = listed(
        &db,
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
             AND name NOT LIKE '%\\_fts%' ESCAPE '\\' AND name <> 'refinery_schema_history'",
    );
    let columns = |table: &str| listed(&db, &format!("SELECT name FROM pragma_table_info('{table}')"));
    names.into_iter().map(|name| (name.clone(), columns(&name))).collect()
}

fn listed(db: &Connection, query: &str) -> Vec<String> {
    let mut query = db.prepare(query).unwrap();
    query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// Rows of a table as text, in the given columns.
fn rows(journal: &Path, table: &str, columns: &[&String]) -> BTreeSet<String> {
    let db = Connection::open(journal).unwrap();
    let shown: Vec<String> = columns.iter().map(|column| format!("'{column}=' || quote({column})")).collect();
    listed(&db, &format!("SELECT {} FROM {table}", shown.join(" || ' ' || "))).into_iter().collect()
}

/// Rows of a home in all columns that are not changed on purpose.
fn kept_rows(journal: &Path, of: &BTreeMap<String, Vec<String>>) -> BTreeMap<String, BTreeSet<String>> {
    let is_kept =
        |table: &str, column: &str| !CHANGED.iter().any(|(at, of, _)| *at == table && [column, "*"].contains(of));
    let kept = |table: &str, columns: &'_ [String]| -> BTreeSet<String> {
        let columns: Vec<&String> = columns.iter().filter(|column| is_kept(table, column)).collect();
        if columns.is_empty() { BTreeSet::new() } else { rows(journal, table, &columns) }
    };
    of.iter().map(|(table, columns)| (table.clone(), kept(table, columns))).collect()
}

/// Promise (operation/upgrade): A home of any earlier version is brought up to date by its next
/// start, and nothing in it is lost.
#[test]
fn a_home_of_every_earlier_version_keeps_its_rows() {
    for version in 1..=versions() {
        let home = home_of(version);
        let journal = home.file("compline.db");
        let before = tables(&journal);
        let empty: Vec<&String> =
            before.keys().filter(|table| rows(&journal, table, &[&before[*table][0]]).is_empty()).collect();
        assert!(empty.is_empty(), "the fixtures up to version {version} have no row in {empty:?}");
        let kept = kept_rows(&journal, &before);
        let people = home.run("people list").done();
        for (table, rows) in kept_rows(&journal, &before) {
            let lost: Vec<&String> = kept[&table].difference(&rows).collect();
            assert!(lost.is_empty(), "version {version}, {table}: {lost:#?} is lost; there is {rows:#?}");
        }
        for line in ["Ada, owner, from the configuration", "Ben, member, by pairing"] {
            assert!(people.contains(line), "version {version}: {people}");
        }
        let db = Connection::open(&journal).unwrap();
        assert!(
            db.prepare("SELECT 1 FROM meta WHERE key = 'old_fact' AND value = 'kept'").unwrap().exists([]).unwrap()
        );
        assert!(!db.prepare("PRAGMA foreign_key_check").unwrap().exists([]).unwrap(), "version {version}");
    }
}

/// Proves: operation/upgrade
#[test]
fn what_was_said_in_the_first_version_is_found_in_the_last() {
    let home = home_of(1);
    assert!(home.run("search orchard").done().contains("The orchard is mine"));
    assert!(home.run("memory show tea").done().contains("Tea is green."));
    assert!(home_of(versions()).run("reminders list").done().contains("Prune the pear tree"));
}

/// Proves: operation/upgrade, trust/conversation-label
#[test]
fn earlier_conversations_are_listed_with_what_they_read() {
    let home = home_of(28);
    let listed = |what: &str| home.run(&format!("conversations list {what} --json")).json();
    let chats = listed("");
    let tainted: Vec<_> = chats.as_array().unwrap().iter().map(|row| (&row["id"], &row["tainted"])).collect();
    let expected = [(4, true), (2, true), (1, false)].map(|(id, is_tainted)| (json!(id), json!(is_tainted)));
    assert!(tainted.into_iter().eq(expected.iter().map(|(id, is_tainted)| (id, is_tainted))), "{chats}");
    assert_eq!(listed("--before 2")[0]["id"], 1);
    assert_eq!(listed("--limit 1")[0]["id"], 4);
}

/// The commands of a block in `docs/upgrade.md` that contains those words.
fn documented(words: &str) -> String {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/upgrade.md")).unwrap();
    let mut blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    blocks.find(|block| block.contains(words)).unwrap().to_owned()
}

/// Promise (operation/back-to-before): After an upgrade you can go back: the copy from before it is
/// put in place by the documented commands, and nothing of the newer state is deleted.
#[test]
fn the_copy_from_before_an_upgrade_is_put_back() {
    let version = versions() - 1;
    let home = home_of(version);
    let journal = home.file("compline.db");
    let (columns, newest) = (tables(&journal), i64::try_from(migrations().len()).unwrap());
    let before = kept_rows(&journal, &columns);
    home.run("chat What is 12*7?").done();
    let commands = documented("backups/before-V").replace("~/.local/share/compline", &home.path().to_string_lossy());
    let copy = std::fs::read_dir(home.file("backups")).unwrap().next().unwrap().unwrap().file_name();
    let commands = commands.replace("before-V0024-20261126T023000.db", copy.to_str().unwrap());
    let shell = |commands: &str| {
        std::process::Command::new("sh").args(["-e", "-c", commands]).env_clear().env("PATH", "/usr/bin:/bin").output()
    };
    let ended = shell(&commands).unwrap();
    assert!(ended.status.success(), "{commands}{ended:?}");
    let schema = |journal: &Path| {
        let db = Connection::open(journal).unwrap();
        db.query_row("SELECT max(version) FROM refinery_schema_history", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(schema(&journal), i64::try_from(version).unwrap());
    assert_eq!(kept_rows(&journal, &columns), before);
    assert_eq!(schema(&home.file("backups/newer/compline.db")), newest, "the newer state is kept");
    // This program brings it up to date once more.
    assert!(!home.run("search 84").done().contains("12*7"));
    assert_eq!(schema(&journal), newest);
}
