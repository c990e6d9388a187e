//! Journal: created from nothing, strict, and without unlabelled text.

use compline::store::Journal;

use crate::support::story::{ADA, BEN, EVE, Story};
use crate::support::template_journal;

/// Tables with text of people or models.
const WITH_TEXT: [(&str, &str, &str); 23] = [
    ("texts", "label", "scope"),
    ("attachments", "label", "scope"),
    ("turns", "context_label", "scope"),
    ("steps", "label", "scope"),
    ("outbox", "label", "scope"),
    ("summaries", "label", "scope"),
    ("files", "label", "scope"),
    ("skills", "label", "scope"),
    ("skill_versions", "label", "scope"),
    ("skill_files", "label", "scope"),
    ("proposals", "label", "scope"),
    ("verdicts", "label", "scope"),
    ("questions", "label", "scope"),
    ("outside_tools", "label", "scope"),
    ("reflections", "label", "scope"),
    ("actions", "label", "scope"),
    ("reminders", "label", "scope"),
    ("open_items", "label", "scope"),
    ("entries", "label", "scope"),
    ("extractions", "label", "scope"),
    ("compactions", "label", "scope"),
    ("keeps", "label", "scope"),
    ("forgettings", "label", "scope"),
];

/// Tables with the program's own names, numbers and states; with a copy of text labelled elsewhere
/// (`parts` of the outbox, the raw originals of the `inbox`, earlier contents of `files`, the
/// index, fingerprints); or with text that is trusted by construction (the start of a
/// conversation).
const WITHOUT: [&str; 39] = [
    "slots",
    "imports",
    "people",
    "addresses",
    "declared_addresses",
    "strangers",
    "pairing_codes",
    "cursors",
    "inbox",
    "streams",
    "conversations",
    "messages",
    "parts",
    "previews",
    "spending",
    "derived_from",
    "decisions",
    "skill_changes",
    "fingerprints",
    "meta",
    "grants",
    "groups",
    "guests",
    "reactions",
    "deleted_ahead",
    "enclosures",
    "embeddings",
    "text_digests",
    "file_contents",
    "indexed",
    "unindexed",
    "entry_uses",
    "workspace",
    "folder_moves",
    "heartbeats",
    "heartbeat_ticks",
    "web_codes",
    "web_sessions",
    "health_changes",
];

fn columns(db: &rusqlite::Connection, table: &str) -> Vec<(String, bool, bool)> {
    let mut query = db.prepare("SELECT name, \"notnull\", dflt_value IS NOT NULL FROM pragma_table_info(?1)").unwrap();
    query.query_map([table], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap().map(Result::unwrap).collect()
}

/// Proves: trust/labelled
#[test]
fn no_table_holds_text_without_a_label_and_a_scope() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("compline.db");
    drop(Journal::open(&path, None).unwrap());
    let db = rusqlite::Connection::open(&path).unwrap();
    for (table, label, scope) in WITH_TEXT {
        for wanted in [label, scope] {
            let found = columns(&db, table).into_iter().find(|(name, ..)| name == wanted);
            assert_eq!(
                found,
                Some((wanted.to_owned(), true, false)),
                "{table}.{wanted}: NOT NULL and without a default"
            );
        }
    }
    let mut query =
        db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").unwrap();
    let tables: Vec<String> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    for table in tables.iter().filter(|table| !table.starts_with("texts_fts") && !table.starts_with("entries_fts")) {
        let known = WITHOUT.contains(&table.as_str()) || WITH_TEXT.iter().any(|(with, ..)| with == table);
        assert!(known, "{table} is new: does it hold text? Then it needs a label and a scope");
    }
}

/// The only story that begins without a journal. All others begin with a copy of a new one, so that
/// a test process migrates once.
#[tokio::test]
async fn a_home_without_a_journal_gets_one_by_its_first_start() {
    let mut story = Story::prepared("").await;
    let path = story.home.join("compline.db");
    std::fs::remove_file(&path).unwrap();
    story.start().await;
    story.say(ADA, "hello").await;
    assert_eq!(story.received_by(ADA).len(), 1);
    story.restart().await;
    story.say(ADA, "hello again").await;
    assert_eq!(story.received_by(ADA).len(), 2);
    story.end().await;
}

/// A copy stands for a journal of another home only while nothing in it is of one home.
#[test]
fn a_new_journal_is_the_same_in_each_home() {
    let home = tempfile::tempdir().unwrap();
    template_journal::place_in(home.path());
    let db = rusqlite::Connection::open(home.path().join("compline.db")).unwrap();
    let tables = WITH_TEXT.iter().map(|(table, ..)| *table).chain(WITHOUT);
    for table in tables.filter(|table| *table != "meta") {
        assert!(!db.prepare(&format!("SELECT 1 FROM {table}")).unwrap().exists([]).unwrap(), "{table}");
    }
    let mut facts = db.prepare("SELECT key FROM meta ORDER BY key").unwrap();
    let facts: Vec<String> = facts.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(facts, ["fingerprints", "program_version"]);
}

#[test]
fn a_journal_made_from_nothing_is_sound_and_strict_and_opens_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("compline.db");
    for _ in 0..2 {
        drop(Journal::open(&path, None).unwrap());
        let db = rusqlite::Connection::open(&path).unwrap();
        let check: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(check, "ok");
        let loose = "SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND NOT strict
                     AND name NOT LIKE 'sqlite_%'";
        assert_eq!(db.query_row(loose, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
        let mode: String = db.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal");
    }
}

#[tokio::test]
async fn after_a_lively_day_every_reference_leads_somewhere_and_every_text_has_its_scope() {
    let mut story = Story::begin().await;
    story.say(ADA, "hello").await;
    story.say(BEN, "hello too").await;
    story.say(EVE, "let me in").await;
    story.fake.forwards(ADA, EVE, "a letter");
    story.answered().await;
    story.fake.sends_document(BEN, "a.txt", "text/plain", b"words");
    story.answered().await;
    story.pass(std::time::Duration::from_secs(7 * 3600)).await;
    story.say(ADA, "good evening").await;
    story.restart().await;
    let db = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    let broken: i64 = db.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0)).unwrap();
    assert_eq!(broken, 0);
    for table in ["texts", "attachments"] {
        let sql =
            format!("SELECT count(*) FROM {table} t JOIN messages m ON m.id = t.message_id WHERE t.scope <> m.scope");
        assert_eq!(story.count(&sql), 0, "{table}");
    }
    let crossed =
        "SELECT count(*) FROM messages m JOIN people p ON p.id = m.person_id WHERE m.scope <> 'person:' || p.id";
    assert_eq!(story.count(crossed), 0);
    for (table, label, _) in WITH_TEXT {
        assert_eq!(story.count(&format!("SELECT count(*) FROM {table} WHERE {label} = ''")), 0, "{table}");
    }
    assert_eq!(
        story.count("SELECT count(*) FROM texts WHERE text LIKE '%let me in%'"),
        0,
        "nothing of a stranger is kept"
    );
    story.end().await;
}
