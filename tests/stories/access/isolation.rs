//! Isolation: changes to one person's rows leave the rows of all others untouched, in every table
//! and state.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use compline::id::{AddressId, PartId, PersonId, SlotId};
use compline::search::find_messages;
use compline::store::{Corpus, Db, FolderState, Journal, Lookup, MessageQuery, NewSlot, Read, SlotState};
use compline::text::question::Question;
use compline::time::Timestamp;
use compline::trust::Scope;
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::json;

use crate::support::story::{ADA, BEN, Story};

/// Day of the planted rows.
const DAY: &str = "2026-11-20";
const FACT: &str = r#"[{"key":"planted","value":"planted","category":"fact","layer":"A","sources":[]}]"#;
const NEXT_CONVERSATION: Duration = Duration::from_secs(7 * 3600);

/// Rows in an unfinished state, by table, with the columns that differ from their defaults.
const OPEN: &[(&str, &[(&str, &str)])] = &[
    ("messages", &[("state", "queued"), ("kind", "said"), ("external_id", "planted")]),
    ("texts", &[("text", "planted"), ("kind", "said")]),
    ("turns", &[("state", "waiting"), ("context", "planted"), ("recalled", "planted")]),
    (
        "steps",
        &[
            ("kind", "tool"),
            ("tool", "load_skill"),
            ("text", "planted"),
            ("call", r#"{"arguments":"{\"name\":\"planted\"}"}"#),
            ("started_at", "7"),
        ],
    ),
    ("spending", &[("day", DAY), ("at", "7"), ("micros", "7"), ("priced", "1")]),
    ("grants", &[("kind", "tool"), ("subject", "planted"), ("sources", "trusted")]),
    ("questions", &[("state", "open"), ("call", r#"{"name":"planted"}"#)]),
    ("summaries", &[("state", "ready"), ("view", "full"), ("title", "planted"), ("topics", r#"["planted"]"#)]),
    ("compactions", &[("state", "ready"), ("summary", "planted")]),
    ("extractions", &[("state", "asked"), ("cause", "turns"), ("facts", FACT)]),
    ("slots", &[("state", "working"), ("job", "daily"), ("period", DAY), ("run", "1"), ("to_at", "7")]),
    ("reflections", &[("title", "planted")]),
    ("imports", &[("state", "done"), ("name", "planted")]),
    ("actions", &[("state", "new"), ("title", "planted"), ("payload", r#"{"note":"planted"}"#)]),
    ("keeps", &[("state", "open"), ("shown", "planted"), ("path", "planted.md")]),
    ("reminders", &[("state", "waiting"), ("kind", "reminder"), ("text", "planted")]),
    ("proposals", &[("state", "pending"), ("rationale", "planted")]),
    ("verdicts", &[("note", "planted"), ("findings", r#"["planted"]"#)]),
    (
        "outbox",
        &[
            ("state", "pending"),
            ("kind", "notice"),
            ("text", "planted"),
            ("buttons", r#"["planted"]"#),
            ("quotes", "planted"),
        ],
    ),
    (
        "attachments",
        &[
            ("kind", "document"),
            ("state", "remote"),
            ("name", "planted"),
            ("path", "planted"),
            ("digest", "planted"),
            ("reference", "planted"),
        ],
    ),
    (
        "entries",
        &[
            ("kind", "conversation"),
            ("name", "planted"),
            ("text", "planted"),
            ("key", "talk of {scope}"),
            ("digest", "planted"),
        ],
    ),
    (
        "entries",
        &[
            ("kind", "fact"),
            ("category", "planted"),
            ("name", "planted"),
            ("text", "planted"),
            ("key", "fact of {scope}"),
            ("digest", "planted"),
        ],
    ),
    ("indexed", &[("path", "{scope}.md"), ("size", "7")]),
    ("unindexed", &[("path", "conversations/{scope}")]),
    (
        "files",
        &[
            ("path", "{scope}.md"),
            ("digest", "planted"),
            ("author", "assistant"),
            ("cause", "promote"),
            ("written_at", "7"),
        ],
    ),
    ("forgettings", &[("state", "left"), ("kind", "note"), ("needles", r#"[["planted"]]"#)]),
];

/// Case of [`BELOW`].
type Below = (&'static str, &'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Rows that belong to a row of another table: table, its foreign key, the other table, more
/// columns.
const BELOW: &[Below] = &[
    (
        "parts",
        "outbox_id",
        "outbox",
        &[("state", "sending"), ("rich", "planted"), ("plain", "planted"), ("external_id", "planted")],
    ),
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

/// Inserts a row. Unnamed columns without a default refer to rows planted before or get a unique
/// value.
fn plant(db: &Connection, table: &str, named: &[(&str, String)], before: &BTreeMap<&str, i64>) -> i64 {
    static OWN: AtomicI64 = AtomicI64::new(1_000_000);
    let own = OWN.fetch_add(1, Ordering::Relaxed);
    let mut columns = db.prepare(&format!("PRAGMA table_info({table})")).unwrap();
    let columns = columns.query_map([], |row| Ok((row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?)));
    let columns: Vec<(String, String, bool, Option<String>, bool)> =
        columns.unwrap().collect::<Result<_, _>>().unwrap();
    let (mut names, mut values) = (Vec::new(), Vec::new());
    for (name, kind, needed, default, key) in columns {
        let above = name.strip_suffix("_id").and_then(|one| before.get(format!("{one}s").as_str()));
        let value = match named.iter().find(|(column, _)| *column == name).map(|(_, value)| value.clone()) {
            Some(text) if kind == "BLOB" => Value::Blob(text.into_bytes()),
            Some(text) => Value::Text(text),
            None if name == "label" => Value::Text("trusted".to_owned()),
            None if key && kind == "INTEGER" || default.is_some() || !needed => continue,
            None if kind == "INTEGER" => Value::Integer(above.copied().unwrap_or(own)),
            None if kind == "BLOB" => Value::Blob(b"planted".to_vec()),
            None => Value::Text(format!("planted {own}")),
        };
        names.push(name);
        values.push(value);
    }
    let marks = vec!["?"; names.len()].join(", ");
    let sql = format!("INSERT INTO {table} ({}) VALUES ({marks})", names.join(", "));
    db.execute(&sql, rusqlite::params_from_iter(values)).unwrap_or_else(|error| panic!("{table}: {error}"));
    db.last_insert_rowid()
}

/// Plants a row of the scope in every table that can hold one.
fn plant_everything(story: &Story, scope: &str) {
    let db = open(story);
    let mut rows = BTreeMap::new();
    let named = |columns: &[(&'static str, &str)], more: (&'static str, String)| {
        let columns = columns.iter().map(|(name, value)| (*name, value.replace("{scope}", scope)));
        columns.chain([more]).collect::<Vec<_>>()
    };
    for (table, columns) in OPEN {
        let row = plant(&db, table, &named(columns, ("scope", scope.to_owned())), &rows);
        rows.insert(*table, row);
    }
    for (table, column, above, columns) in BELOW {
        let row = plant(&db, table, &named(columns, (column, rows[above].to_string())), &rows);
        if *table == "inbox" {
            db.execute("UPDATE messages SET inbox_id = ?1 WHERE id = ?2", [row, rows[above]]).unwrap();
        }
    }
    plant(&db, "entry_uses", &[("key", format!("fact of {scope}"))], &rows);
    db.execute("INSERT INTO text_digests (text_id, digest) VALUES (?1, 'planted')", [rows["texts"]]).unwrap();
    db.execute(
        "INSERT OR IGNORE INTO embeddings (model, digest, vector) VALUES ('a model', 'planted', x'00000000')",
        [],
    )
    .unwrap();
}

/// All rows of a scope and their child rows, by table.
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
    let mut query = db.prepare(&format!("{sql} ORDER BY 1")).unwrap();
    let width = query.column_count();
    let row = |row: &rusqlite::Row<'_>| (0..width).map(|at| row.get::<_, Value>(at)).collect::<Result<Vec<_>, _>>();
    query.query_map([], |found| Ok(format!("{:?}", row(found)?))).unwrap().collect::<Result<_, _>>().unwrap()
}

/// Fails with the first changed row.
fn is_untouched(before: &BTreeMap<String, Vec<String>>, after: &BTreeMap<String, Vec<String>>) {
    for (table, rows) in before {
        let changed = rows.iter().find(|row| !after[table].contains(row));
        assert!(changed.is_none(), "{table} is not as it was: {changed:?} became\n{:#?}", after[table]);
    }
}

#[tokio::test]
async fn forgetting_a_whole_person_erases_nothing_of_others() {
    let mut story = Story::begin().await;
    for person in [ADA, BEN] {
        story.say(person, "The garden needs water").await;
    }
    story.pass(NEXT_CONVERSATION).await;
    story.stop().await;
    story.only_ada();
    story.start().await;
    // The index is current before rows are planted in it.
    story.settle().await;
    for scope in ["person:1", "group:77"] {
        plant_everything(&story, scope);
    }
    // A group's address belongs to no person, even if a person wrote there.
    let db = open(&story);
    let place = plant(&db, "addresses", &[("peer", "planted".to_owned())], &BTreeMap::new());
    let spoken = [("scope", "group:78"), ("kind", "said"), ("state", "answered"), ("person_id", "2")];
    let spoken = spoken.map(|(name, value)| (name, value.to_owned()));
    plant(&db, "messages", &[&spoken[..], &[("address_id", place.to_string())]].concat(), &BTreeMap::new());
    let before = ["person:1", "group:77"].map(|scope| rows_of(&story, scope));
    let answer = story.command_line(&["forget", "Ben", "--yes"]).await;
    assert!(!answer.failed && answer.json["left"] == json!([]), "{} {}", answer.markdown, answer.json);
    for (before, scope) in before.iter().zip(["person:1", "group:77"]) {
        is_untouched(before, &rows_of(&story, scope));
    }
    assert_eq!(story.text(&format!("SELECT peer FROM addresses WHERE id = {place}")), "planted");
    story.stop().await;
}

#[tokio::test]
async fn joining_two_people_affects_no_third_person() {
    let mut story = Story::begin().await;
    for person in [ADA, BEN] {
        story.say(person, "The garden needs water").await;
    }
    story.stop().await;
    for scope in ["person:77", "group:77"] {
        plant_everything(&story, scope);
    }
    // The search index is left out because it may be rebuilt.
    let rows_of = |scope| {
        let mut rows = rows_of(&story, scope);
        rows.retain(|table, _| !["entries", "entry_uses", "indexed"].contains(&table.as_str()));
        rows
    };
    let before = ["person:77", "group:77"].map(rows_of);
    let journal = Journal::open(&story.home.join("compline.db"), None).unwrap();
    journal.write("join", |tx| tx.people().absorb(PersonId(2), PersonId(1), Timestamp(9))).await.unwrap();
    journal.close().await;
    for (before, scope) in before.iter().zip(["person:77", "group:77"]) {
        is_untouched(before, &rows_of(scope));
    }
}

/// Digests of the vectors that a reader of a scope is shown, starting at `read`.
fn vectors(db: Db<'_>, pool: Corpus, scope: Scope, read: Read) -> anyhow::Result<Vec<String>> {
    let mut digests = Vec::new();
    db.embeddings().read_vectors((pool, scope), "a model", read, |seen| digests.push(seen.digest.to_owned()))?;
    Ok(digests)
}

/// Digests for the whole corpus, for newer vectors only and for newer places only.
fn all_vectors(db: Db<'_>, scope: Scope) -> anyhow::Result<Vec<String>> {
    let mut shown = Vec::new();
    for pool in [Corpus::Said, Corpus::Known] {
        let newest = db.embeddings().begin_vectors(pool)?;
        for read in [newest, Read { words: 0, vector: 0, ..newest }, Read { words: 0, place: 0, ..newest }] {
            shown.push(format!("{:?}", vectors(db, pool, scope, read)?));
        }
    }
    Ok(shown)
}

/// Answers of the journal to every query for one scope.
fn asked(db: Db<'_>, scope: Scope) -> anyhow::Result<Vec<(&'static str, String)>> {
    let (first, last, at) = (Timestamp(0), Timestamp(8), Timestamp(7));
    let Scope::Person(person) = scope else { return Ok(Vec::new()) };
    Ok(vec![
        ("tools_between", format!("{:?}", db.activity().tools_between(scope, first, last)?)),
        ("skills_between", format!("{:?}", db.activity().skills_between(scope, first, last)?)),
        ("models_between", format!("{:?}", db.activity().models_between(scope, first, last)?)),
        ("spent", format!("{:?}", db.spending().spent(DAY, Some(scope), false)?)),
        ("indexed_in", format!("{:?}", db.entries().indexed_in(scope)?)),
        ("entries_of", format!("{:?}", db.entries().entries_of(scope)?)),
        ("unindexed", format!("{:?}", db.entries().unindexed(scope, 9)?)),
        ("entries_of_use", format!("{:?}", db.entries().entries_of_use(scope, 9)?)),
        ("categories", format!("{:?}", db.entries().categories(scope)?)),
        ("fact_categories", format!("{:?}", db.entries().fact_categories(scope)?)),
        ("forgotten_words", format!("{:?}", db.erasure().erased_words(scope)?)),
        ("kept_contents", format!("{:?}", db.erasure().old_contents(scope)?.len())),
        ("messages_with_words", format!("{:?}", db.erasure().messages_with_words(person)?)),
        ("paths_of", format!("{:?}", db.erasure().paths_of(person)?)),
        ("promoted_at", format!("{:?}", db.keep_requests().promoted_at(scope, at)?)),
        ("changed_by_assistant", format!("{:?}", db.file_versions().changed_by_assistant(scope, first)?)),
        ("written_by_assistant", format!("{:?}", db.file_versions().written_by_assistant(scope)?)),
        ("last_slot", format!("{:?}", db.slots().last_slot(scope, "daily")?.is_some())),
        ("newest_run", format!("{:?}", db.slots().newest_run(scope, "daily", DAY)?.is_some())),
        ("slots_within", format!("{:?}", db.slots().slots_within(scope, "daily", first, last)?.len())),
        ("reflection_on", format!("{:?}", db.reflections().reflection_on(scope, DAY)?.is_some())),
        ("reflections", format!("{:?}", db.reflections().reflections(Some(scope), i64::MAX, 9)?.len())),
        (
            "reflections_within",
            format!("{:?}", db.reflections().reflections_within(scope, "daily", first, last)?.len()),
        ),
        (
            "reflection_before",
            format!("{:?}", db.reflections().reflection_before(scope, "daily", SlotId(0), last)?.is_some()),
        ),
        ("read_vectors", format!("{:?}", all_vectors(db, scope)?)),
        ("recall_by", format!("{:?}", find_messages(db, &near_in_meaning(scope))?.hits)),
        ("entries_saying", format!("{:?}", db.entries().entries_saying(&Lookup::of(scope), &["planted".to_owned()])?)),
    ])
}

fn near_in_meaning(scope: Scope) -> MessageQuery<'static> {
    static NEAR: std::sync::LazyLock<[(String, f64); 1]> = std::sync::LazyLock::new(|| [("planted".to_owned(), 0.9)]);
    MessageQuery { words: "something else", limit: 9, near: &*NEAR, ..MessageQuery::of(scope) }
}

/// Promise (privacy/queries): No query of the journal or search on your behalf counts, ranks, shows
/// or changes another person's data, even if an index is wrong.
#[tokio::test]
async fn a_query_for_one_scope_returns_nothing_of_another() {
    let mut story = Story::begin().await;
    story.stop().await;
    let journal = Journal::open(&story.home.join("compline.db"), None).unwrap();
    let ask = |person| {
        let journal = journal.clone();
        async move { journal.read(move |db| asked(db, Scope::Person(PersonId(person)))).await.unwrap() }
    };
    let (own, nobodys) = (ask(1).await, ask(77).await);
    plant_everything(&story, "person:77");
    assert_eq!(ask(1).await, own, "what is Ada's is what it was");
    for ((question, before), (_, after)) in nobodys.iter().zip(&ask(77).await) {
        assert_ne!(before, after, "{question} finds what was planted");
    }
    journal.close().await;
}

/// Prepares a journal with `before`, then plants rows of another person in every table. The tests
/// read only Ada's rows.
async fn with_a_stranger(story: &Story, before: impl AsyncFn(&Journal)) -> Journal {
    let journal = Journal::open(&story.home.join("compline.db"), None).unwrap();
    before(&journal).await;
    plant_everything(story, "person:77");
    journal
}

#[tokio::test]
async fn another_persons_slots_neither_hide_nor_block_a_period() {
    let mut story = Story::begin().await;
    story.stop().await;
    plant_everything(&story, "person:1");
    let journal = with_a_stranger(&story, async |_| ()).await;
    open(&story).execute("UPDATE slots SET run = 2 WHERE scope = 'person:77'", []).unwrap();
    let ada = Scope::Person(PersonId(1));
    open(&story).execute("UPDATE slots SET state = 'missed', ended_at = 1", []).unwrap();
    let missed = journal.read(move |db| db.slots().missed_slots(ada, Timestamp(0), 9)).await.unwrap();
    assert_eq!(missed.len(), 1, "Ada's own, and it is not hidden");
    open(&story).execute("UPDATE slots SET state = 'working'", []).unwrap();
    let within = move |db: Db<'_>| db.reflections().reflections_within(ada, "daily", Timestamp(0), Timestamp(8));
    assert_eq!(journal.read(within).await.unwrap().len(), 1, "the newest run of Ada's own day");
    let (job, period, reason, at) = ("weekly", DAY, "", Timestamp(7));
    open(&story).execute("UPDATE slots SET job = 'weekly' WHERE scope = 'person:77'", []).unwrap();
    let claimed = journal.write("claim", move |tx| {
        let (state, again) = (SlotState::Claimed, false);
        tx.slots().claim_slot(&NewSlot {
            job,
            scope: ada,
            period,
            from: at,
            to: at,
            due_at: at,
            state,
            reason,
            again,
            at,
        })
    });
    assert!(claimed.await.unwrap().is_some(), "nobody has had that week with Ada");
    journal.close().await;
}

/// An address can belong to somebody else later.
#[tokio::test]
async fn a_file_stays_with_the_person_it_was_sent_to() {
    let mut story = Story::begin().await;
    story.say(ADA, "hello").await;
    story.stop().await;
    plant_everything(&story, "person:77");
    let db = open(&story);
    let of_ada = "UPDATE outbox SET address_id = (SELECT id FROM addresses WHERE person_id = 1 LIMIT 1) WHERE scope = 'person:77'";
    db.execute(of_ada, []).unwrap();
    let sent = "SELECT p.id FROM parts p JOIN outbox o ON o.id = p.outbox_id WHERE o.scope = 'person:77'";
    let part: i64 = db.query_row(sent, [], |row| row.get(0)).unwrap();
    db.execute("UPDATE parts SET file = 'tea.txt', digest = 'planted' WHERE id = ?1", [part]).unwrap();
    let journal = Journal::open(&story.home.join("compline.db"), None).unwrap();
    let read = async || journal.read(move |db| db.outbox().sent_file(PersonId(1), PartId(part))).await.unwrap();
    assert!(read().await.is_none());
    db.execute("UPDATE outbox SET scope = 'person:1' WHERE scope = 'person:77'", []).unwrap();
    assert!(read().await.is_some());
    journal.close().await;
}

#[tokio::test]
async fn another_persons_work_blocks_no_handover_and_loses_no_message() {
    let mut story = Story::begin().await;
    story.people_are(&[("Ada", "owner", ADA), ("Ben", "owner", BEN)]);
    story.restart().await;
    story.say(ADA, "The garden needs water").await;
    story.say(BEN, "So does mine").await;
    story.stop().await;
    let journal = with_a_stranger(&story, async |journal| {
        assert_eq!(journal.read(|db| db.folders().misplaced_rows()).await.unwrap(), []);
    })
    .await;
    let db = open(&story);
    db.execute("UPDATE turns SET state = 'running' WHERE scope = 'person:77'", []).unwrap();
    db.execute("UPDATE forgettings SET state = 'wanted' WHERE scope = 'person:77'", []).unwrap();
    let (ben, address): (i64, i64) = db
        .query_row("SELECT person_id, id FROM addresses WHERE peer = ?1", [BEN.to_string()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    db.execute("UPDATE outbox SET address_id = ?1 WHERE scope = 'person:77'", [address]).unwrap();
    let done = journal.write("unlink", move |tx| tx.people().unlink(AddressId(address), PersonId(ben), Timestamp(9)));
    done.await.unwrap();
    assert_eq!(story.text("SELECT state FROM outbox WHERE scope = 'person:77'"), "pending", "it is not Ben's");
    let begun = journal.write("hand over", move |tx| {
        let FolderState::At(own) = tx.folders().folder_of(Scope::Person(PersonId(ben)))? else {
            panic!("Ben has no folder")
        };
        tx.folders().begin_hand_over(PersonId(ben), &own, "people/1-ada")
    });
    assert!(begun.await.is_ok(), "neither of the two is at work");
    journal.close().await;
}

/// Slightly more texts than it takes for a word to be too common for ranking.
const COMMON: u32 = 20_010;

/// Proves: privacy/queries
#[tokio::test]
async fn a_wrong_index_shows_no_other_persons_data() {
    let mut story = Story::begin().await;
    story.model.says("And the cat needs food");
    story.say(ADA, "The garden needs water").await;
    story.fake.forwards(ADA, crate::support::story::EVE, "The hedge needs water");
    story.answered().await;
    story.stop().await;
    let journal = Journal::open(&story.home.join("compline.db"), None).unwrap();
    let ada = Scope::Person(PersonId(1));
    let found = async |words: &'static str, untrusted_too: bool| {
        let looked = MessageQuery { words, untrusted_too, limit: 50, with_neighbours: true, ..MessageQuery::of(ada) };
        let matches = journal.read(move |db| find_messages(db, &looked)).await.unwrap();
        (matches.hits.iter().map(|hit| hit.text.open().0.to_string()).collect::<Vec<_>>(), matches.untrusted)
    };
    assert!(found("garden", false).await.0.iter().any(|text| text.contains("cat needs food")), "what stands beside it");
    assert_eq!(found("hedge", false).await.1, 1);
    let db = open(&story);
    // First only the neighbour of the match belongs to another person, then everything does.
    db.execute("UPDATE texts SET scope = 'person:77' WHERE text LIKE '%cat needs food%'", []).unwrap();
    assert!(!found("garden", false).await.0.iter().any(|text| text.contains("cat")));
    db.execute("UPDATE texts SET scope = 'person:77'", []).unwrap();
    assert_eq!((found("garden", false).await, found("hedge", false).await), ((Vec::new(), 0), (Vec::new(), 0)));
    db.execute_batch(&format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {COMMON})
         INSERT INTO texts (message_id, kind, text, label, scope) SELECT 1, 'said', 'tea', 'trusted', 'person:1' FROM n"
    ))
    .unwrap();
    journal.write("rebuild", |tx| tx.message_search().rebuild_index()).await.unwrap();
    assert!(!found("tea", true).await.0.is_empty());
    db.execute("UPDATE texts SET scope = 'person:77'", []).unwrap();
    assert_eq!(found("tea", true).await, (Vec::new(), 0));
    journal.close().await;
}

/// Proves: search/nothing
#[tokio::test]
async fn other_peoples_messages_do_not_change_whether_anything_is_found() {
    let mut story = Story::begin().await;
    for _ in 0..6 {
        story.say(ADA, "The garden needs water").await;
    }
    story.stop().await;
    let journal = Journal::open(&story.home.join("compline.db"), None).unwrap();
    let is_found = async || {
        let words = "zeppelin garden";
        let looked = MessageQuery { words, limit: 9, ..MessageQuery::of(Scope::Person(PersonId(1))) };
        !journal.read(move |db| find_messages(db, &looked)).await.unwrap().hits.is_empty()
    };
    assert!(!is_found().await, "a word that is common is no match");
    let others = "INSERT INTO conversations (stream_id, kind, scope, began_because, opened_at, last_at, messages)
         SELECT stream_id, kind, 'person:77', began_because, opened_at, last_at, 5000 FROM conversations LIMIT 1";
    open(&story).execute(others, []).unwrap();
    assert!(!is_found().await, "nor where others talk about something else");
    journal.close().await;
}

/// Proves: privacy/queries
#[tokio::test]
async fn other_peoples_knowledge_does_not_change_the_order() {
    let mut story = Story::begin().await;
    story.writes("memory/tea.md", "# Tea\n\nOolong is the tea for the evening.\n");
    story.say(ADA, "Hello").await;
    story.pass(NEXT_CONVERSATION).await;
    story.stop().await;
    let scores = |db: Db<'_>| {
        let lookup = Lookup::of(Scope::Person(PersonId(1)));
        Ok(db.entries().entries_matching(&lookup, &Question::of("oolong tea", &[]), 9)?.ranked)
    };
    let journal = Journal::open(&story.home.join("compline.db"), None).unwrap();
    let before = journal.read(scores).await.unwrap();
    assert!(!before.is_empty());
    plant_everything(&story, "person:77");
    assert_eq!(journal.read(scores).await.unwrap(), before);
    journal.close().await;
}

/// Ada has a fact in her files erased, alone or with another scope that holds the same fact
/// everywhere.
async fn forgets(beside: Option<&str>) -> (String, Story) {
    let story = Story::begin().await;
    story.writes("agents/compline/memory.md", "## Insights\n\n- **planted**: planted (2026-11-20)\n");
    story.say(ADA, "Hello").await;
    story.pass(NEXT_CONVERSATION).await;
    if let Some(scope) = beside {
        plant_everything(&story, scope);
        let db = open(&story);
        db.execute("UPDATE file_contents SET content = '- **planted**: planted' WHERE content = 'planted'", [])
            .unwrap();
        let newest = |table: &str| story.count(&format!("SELECT max(id) FROM {table} WHERE scope = '{scope}'"));
        for (child, table) in [("file", "files"), ("extraction", "extractions")] {
            let edge = (format!("{child}:{}", newest(table)), format!("message:{}", newest("messages")));
            db.execute("INSERT INTO derived_from (child, parent) VALUES (?1, ?2)", edge).unwrap();
        }
        let talk =
            "UPDATE extractions SET conversation_id = 777, after_message = 0, upto_message = 9999999 WHERE scope = ?1";
        db.execute(talk, [scope]).unwrap();
        db.execute("UPDATE messages SET conversation_id = 777 WHERE scope = ?1", [scope]).unwrap();
        let before = rows_of(&story, scope);
        story.forgets(ADA, "planted").await;
        is_untouched(&before, &rows_of(&story, scope));
    } else {
        story.forgets(ADA, "planted").await;
    }
    (story.last_received_by(ADA), story)
}

/// Proves: privacy/queries
#[tokio::test]
async fn other_peoples_mentions_of_a_fact_are_neither_deleted_nor_shown() {
    let (alone, story) = forgets(None).await;
    story.stop_here().await;
    let (beside, story) = forgets(Some("person:77")).await;
    assert_eq!(beside, alone, "what is told is about Ada's own");
    let others = story.count(
        "SELECT count(*) FROM derived_from d JOIN messages m ON d.parent = 'message:' || m.id
         WHERE d.child LIKE 'forgetting:%' AND m.scope = 'person:77'",
    );
    assert_eq!(others, 0, "nothing of anybody else belongs to it");
    let id = story.count("SELECT max(id) FROM forgettings WHERE scope = 'person:77'");
    let before = rows_of(&story, "person:77");
    story.say(ADA, &format!("/forget {id} messages")).await;
    is_untouched(&before, &rows_of(&story, "person:77"));
    story.stop_here().await;
}
