//! What is done to the rows of one person leaves those of another as they are, in every table and in every state.

use std::collections::BTreeMap;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::json;

use crate::support::story::{ADA, BEN, Story};

const NEXT_CONVERSATION: Duration = Duration::from_secs(7 * 3600);

/// Rows in a state in which something could still become of them: table, and columns that do not have their default.
const OPEN: &[(&str, &[(&str, &str)])] = &[
    ("messages", &[("state", "queued"), ("kind", "said"), ("external_id", "planted")]),
    ("texts", &[("text", "planted")]),
    ("turns", &[("state", "waiting"), ("context", "planted"), ("recalled", "planted")]),
    ("steps", &[("text", "planted"), ("call", "{\"name\":\"planted\"}")]),
    ("questions", &[("state", "open"), ("call", "{\"name\":\"planted\"}")]),
    ("summaries", &[("state", "ready"), ("title", "planted"), ("topics", "[\"planted\"]")]),
    ("compactions", &[("state", "ready"), ("summary", "planted")]),
    ("extractions", &[("state", "wanted"), ("facts", "[{\"key\":\"planted\"}]")]),
    ("reflections", &[("title", "planted")]),
    ("actions", &[("state", "new"), ("title", "planted"), ("payload", "{\"note\":\"planted\"}")]),
    ("keeps", &[("state", "open"), ("shown", "planted"), ("path", "planted.md")]),
    ("reminders", &[("state", "waiting"), ("text", "planted")]),
    ("proposals", &[("state", "pending"), ("rationale", "planted")]),
    ("verdicts", &[("note", "planted"), ("findings", "[\"planted\"]")]),
    ("outbox", &[("state", "pending"), ("text", "planted"), ("buttons", "[\"planted\"]"), ("quotes", "planted")]),
    ("attachments", &[("name", "planted"), ("path", "planted"), ("digest", "planted"), ("reference", "planted")]),
    ("slots", &[("state", "working"), ("job", "planted")]),
    ("entries", &[("kind", "fact"), ("name", "planted"), ("text", "planted"), ("key", "planted fact")]),
    ("entries", &[("kind", "conversation"), ("name", "planted"), ("text", "planted"), ("key", "planted talk")]),
    ("files", &[("path", "planted.md"), ("digest", "planted")]),
];

/// Rows that belong to a row of another table: table, its column, the other table, more columns.
const BELOW: &[(&str, &str, &str, &[(&str, &str)])] = &[
    ("parts", "outbox_id", "outbox", &[("rich", "planted"), ("plain", "planted"), ("external_id", "planted")]),
    ("enclosures", "turn_id", "turns", &[("what", "planted")]),
    ("inbox", "message_id", "messages", &[("raw", "planted")]),
    ("skill_files", "proposal_id", "proposals", &[("bytes", "planted")]),
    ("file_contents", "file_id", "files", &[("content", "planted")]),
    ("reactions", "message_id", "messages", &[]),
];

fn open(story: &Story) -> Connection {
    let db = Connection::open(story.home.join("compline.db")).unwrap();
    db.busy_timeout(Duration::from_secs(10)).unwrap();
    db.pragma_update(None, "foreign_keys", false).unwrap();
    db
}

/// Adds a row; columns that are not named and have no default get something of their own.
fn plant(db: &Connection, table: &str, scope: Option<&str>, named: &[(&str, Value)]) -> i64 {
    let mut columns = db.prepare(&format!("PRAGMA table_info({table})")).unwrap();
    let columns = columns.query_map([], |row| Ok((row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?)));
    let columns: Vec<(String, String, bool, Option<String>, bool)> =
        columns.unwrap().collect::<Result<_, _>>().unwrap();
    let lowest: i64 =
        db.query_row(&format!("SELECT min(0, min(rowid)) FROM {table}"), [], |row| row.get(0)).unwrap_or(0);
    let own = i64::try_from(named.len()).unwrap() + 1000 + db.total_changes() as i64 - lowest;
    let (mut names, mut values) = (Vec::new(), Vec::new());
    for (name, kind, needed, default, key) in columns {
        let given = named.iter().find(|(column, _)| *column == name).map(|(_, value)| value.clone());
        let value = match (given, name.as_str(), scope) {
            (Some(Value::Text(text)), ..) if kind == "BLOB" => Value::Blob(text.into_bytes()),
            (Some(value), ..) => value,
            (None, "scope", Some(scope)) => Value::Text(scope.to_owned()),
            (None, "label", _) => Value::Text("trusted".to_owned()),
            (None, ..) if key && kind == "INTEGER" || default.is_some() || !needed => continue,
            (None, ..) if kind == "INTEGER" => Value::Integer(-own),
            (None, ..) if kind == "BLOB" => Value::Blob(b"planted".to_vec()),
            (None, ..) => Value::Text(format!("planted {own}")),
        };
        names.push(name);
        values.push(value);
    }
    let marks = vec!["?"; names.len()].join(", ");
    let sql = format!("INSERT INTO {table} ({}) VALUES ({marks})", names.join(", "));
    db.execute(&sql, rusqlite::params_from_iter(values)).unwrap_or_else(|error| panic!("{table}: {error}"));
    db.last_insert_rowid()
}

/// Something of a person in every table that could hold it.
fn plant_everything(story: &Story, scope: &str) {
    let db = open(story);
    let text = |(name, value): &(&'static str, &str)| (*name, Value::Text((*value).to_owned()));
    let mut rows = BTreeMap::new();
    for (table, named) in OPEN {
        let mut named: Vec<(&str, Value)> = named.iter().map(text).collect();
        if *table == "entries" {
            named
                .iter_mut()
                .filter(|(name, _)| *name == "key")
                .for_each(|(_, key)| *key = Value::Text(format!("{scope} {key:?}")));
        }
        rows.insert(*table, plant(&db, table, Some(scope), &named));
    }
    for (table, column, above, named) in BELOW {
        let mut named: Vec<(&str, Value)> = named.iter().map(text).collect();
        named.push((column, Value::Integer(rows[above])));
        plant(&db, table, None, &named);
    }
    let key: String =
        db.query_row("SELECT key FROM entries WHERE id = ?1", [rows["entries"]], |row| row.get(0)).unwrap();
    plant(&db, "entry_uses", None, &[("key", Value::Text(key))]);
}

/// Every row of a scope, and what lies below it, by table.
fn rows_of(story: &Story, scope: &str) -> BTreeMap<String, Vec<String>> {
    let db = open(story);
    let mut tables = db
        .prepare("SELECT m.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'scope'")
        .unwrap();
    let tables: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    let mut rows: BTreeMap<String, Vec<String>> = tables
        .iter()
        .map(|table| (table.clone(), dump(&db, &format!("SELECT * FROM {table} WHERE scope = '{scope}'"))))
        .collect();
    for (table, column, above, _) in BELOW {
        let below = format!("SELECT * FROM {table} WHERE {column} IN (SELECT id FROM {above} WHERE scope = '{scope}')");
        rows.insert((*table).to_owned(), dump(&db, &below));
    }
    let uses = format!("SELECT * FROM entry_uses WHERE key IN (SELECT key FROM entries WHERE scope = '{scope}')");
    rows.insert("entry_uses".to_owned(), dump(&db, &uses));
    rows
}

fn dump(db: &Connection, sql: &str) -> Vec<String> {
    let mut query = db.prepare(&format!("{sql} ORDER BY rowid")).unwrap();
    let width = query.column_count();
    let row = |row: &rusqlite::Row<'_>| (0..width).map(|at| row.get::<_, Value>(at)).collect::<Result<Vec<_>, _>>();
    query.query_map([], |found| Ok(format!("{:?}", row(found)?))).unwrap().collect::<Result<_, _>>().unwrap()
}

/// Fails with the first row that is not what it was.
fn is_untouched(before: &BTreeMap<String, Vec<String>>, after: &BTreeMap<String, Vec<String>>) {
    for (table, rows) in before {
        let changed = rows.iter().find(|row| !after[table].contains(row));
        assert!(changed.is_none(), "{table} is not as it was: {changed:?} became\n{:#?}", after[table]);
    }
}

#[tokio::test]
async fn who_is_forgotten_as_a_whole_takes_nothing_of_anybody_else_along() {
    let mut story = Story::begin().await;
    for person in [ADA, BEN] {
        story.say(person, "The garden needs water").await;
    }
    story.pass(NEXT_CONVERSATION).await;
    story.stop().await;
    story.only_ada();
    story.start().await;
    for scope in ["person:1", "group:77"] {
        plant_everything(&story, scope);
    }
    let before = ["person:1", "group:77"].map(|scope| rows_of(&story, scope));
    let answer = story.command_line(&["forget", "Ben", "--yes"]).await;
    assert!(!answer.failed && answer.json["left"] == json!([]), "{} {}", answer.markdown, answer.json);
    for (before, scope) in before.iter().zip(["person:1", "group:77"]) {
        is_untouched(before, &rows_of(&story, scope));
    }
    story.stop().await;
}
