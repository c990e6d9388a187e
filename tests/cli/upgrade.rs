//! Homes of every earlier version (`tests/corpus/homes`), brought up to date by the program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use compline::store::{BASELINE, newest_version};
use rusqlite::Connection;
use serde_json::json;

use super::program::{Home, PLAIN};

/// Columns that a migration or the first start changes on purpose, each with the reason; `*` is the
/// whole table.
const CHANGED: &[(&str, &str, &str)] = &[
    ("entries", "*", "derived: rebuilt from the workspace"),
    ("fingerprints", "*", "derived: rebuilt from the texts"),
    ("indexed", "*", "derived: rebuilt from the workspace"),
    ("meta", "*", "facts of the program itself; one is checked below"),
    ("unindexed", "*", "work that the first start does"),
];

/// Tables without a row in a home that is not being changed.
const EMPTY: &[&str] = &["folder_moves"];

/// Table in which development versions recorded their migrations.
const HISTORY: &str = "refinery_schema_history";

/// Migration files, oldest first.
fn migrations() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Fixture of a version, as written beside its migration.
fn fixture(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/corpus/homes/V{version:04}.sql"))
}

/// Versions with a fixture; the newest may still lack one.
fn versions() -> impl Iterator<Item = u32> {
    (BASELINE..=newest_version()).take_while(|version| fixture(*version).exists())
}

/// A home of that version, with rows in each of its tables. That of the baseline is of a
/// development version.
pub(super) fn home_of(version: u32) -> Home {
    let config = format!("{PLAIN}telegram = 7\n[telegram]\ntoken = \"42:AAHsecret_secret_secret_secret_secret\"\n");
    let home = Home::new().with("compline.toml", config);
    std::fs::create_dir_all(home.file("workspace/memory")).unwrap();
    let home = home.with("workspace/memory/tea.md", "Tea is green.\n");
    let journal = Connection::open(home.file("compline.db")).unwrap();
    let run = |file: &Path| {
        let sql = std::fs::read_to_string(file).unwrap();
        journal.execute_batch(&sql).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    };
    run(&fixture(BASELINE));
    for (migration, number) in migrations().iter().zip(BASELINE..=version).skip(1) {
        run(migration);
        run(&fixture(number));
        journal.execute_batch(&format!("DROP TABLE IF EXISTS {HISTORY}; PRAGMA user_version = {number}")).unwrap();
    }
    home
}

/// Columns of each ordinary table.
fn tables(journal: &Path) -> BTreeMap<String, Vec<String>> {
    let db = Connection::open(journal).unwrap();
    let names = listed(
        &db,
        &format!(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
             AND name NOT LIKE '%\\_fts%' ESCAPE '\\' AND name <> '{HISTORY}'"
        ),
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

/// Promise (operation/upgrade): A home of any earlier release, and of the last development version,
/// is brought up to date by its next start, and nothing in it is lost.
#[test]
fn a_home_of_every_earlier_version_keeps_its_rows() {
    for version in versions() {
        let home = home_of(version);
        let journal = home.file("compline.db");
        let before = tables(&journal);
        let is_empty = |table: &String| rows(&journal, table, &[&before[table][0]]).is_empty();
        let is_never = |table: &String| EMPTY.contains(&table.as_str());
        let empty: Vec<&String> = before.keys().filter(|table| is_empty(table) && !is_never(table)).collect();
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

/// Proves: operation/upgrade, search/rebuild
#[test]
fn what_was_said_in_the_first_version_is_found_in_the_last() {
    let home = home_of(BASELINE);
    assert!(home.run("search orchard").done().contains("The orchard is mine"));
    assert!(home.run("memory show tea").done().contains("Tea is green."));
    assert!(home.run("reminders list").done().contains("Prune the pear tree"));
}

/// Proves: operation/upgrade, trust/conversation-label
#[test]
fn earlier_conversations_are_listed_with_what_they_read() {
    let home = home_of(BASELINE);
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
    let version = versions().filter(|version| *version < newest_version()).last().unwrap_or(BASELINE);
    let home = home_of(version);
    let journal = home.file("compline.db");
    let columns = tables(&journal);
    let before = kept_rows(&journal, &columns);
    // The home of the baseline is of a development version, without a version of this form.
    let is_development = version == BASELINE;
    home.run("chat What is 12*7?").done();
    let commands = documented("backups/before-V").replace("~/.local/share/compline", &home.path().to_string_lossy());
    let copy = std::fs::read_dir(home.file("backups")).unwrap().next().unwrap().unwrap().file_name();
    let commands = commands.replace("before-V0036-20270226T023000.db", copy.to_str().unwrap());
    let shell = |commands: &str| {
        std::process::Command::new("sh").args(["-e", "-c", commands]).env_clear().env("PATH", "/usr/bin:/bin").output()
    };
    let ended = shell(&commands).unwrap();
    assert!(ended.status.success(), "{commands}{ended:?}");
    let schema = |journal: &Path| {
        let db = Connection::open(journal).unwrap();
        db.query_row("PRAGMA user_version", [], |row| row.get::<_, u32>(0)).unwrap()
    };
    assert_eq!(schema(&journal), if is_development { 0 } else { version });
    assert_eq!(kept_rows(&journal, &columns), before);
    assert_eq!(schema(&home.file("backups/newer/compline.db")), newest_version(), "the newer state is kept");
    // This program brings it up to date once more.
    assert!(!home.run("search 84").done().contains("12*7"));
    assert_eq!(schema(&journal), newest_version());
}
