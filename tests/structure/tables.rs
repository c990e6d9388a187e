//! Handling of each table by the three acts that change a person's data: erasure, the completion of
//! a restore, and the merging of two people. A new table needs a line here, and thereby a decision
//! for all three.
//!
//! `Here` is checked against the SQL and the lists of tables in the files of the act, `By` against
//! the named call, and `No` fails once the act does change the table.

use super::lexer::{Token, find};
use super::nothing_found;
use super::tree::{Source, files, sources};

/// Handling of a table by an act.
enum Care {
    /// A statement of the act, or a list in it, names the table.
    Here,
    /// A call that the act makes changes it; as Rust tokens.
    By(&'static str),
    /// Unchanged, for this reason.
    No(&'static str),
}
use Care::{By, Here, No};

/// The three acts, each with its files.
const ACTS: [(&str, &[&str]); 3] = [
    ("erasure", &["src/store/erasure.rs", "src/store/erasure/"]),
    ("restoring", &["src/store/after_restore.rs", "src/store/after_restore/"]),
    ("merging of people", &["src/store/merge_people.rs"]),
];

const HISTORY: &str = "it is history: nothing in it goes on by itself";
const OWN_MOVE: &str = "it goes with the row that it belongs to";
const NOBODY: &str = "it names no person";
const DERIVED: &str = "it is rebuilt from the tables that are changed";
const ONLY_NUMBERS: &str = "it holds ids, times and numbers only";
const EACH_OWN: &str = "only one of the two can have it, and it is no longer found";

/// Every table of the journal, by name: erasure, restoring, merging.
const TABLES: &[(&str, [Care; 3])] = &[
    ("actions", [Here, Here, No(EACH_OWN)]),
    ("addresses", [Here, Here, Here]),
    ("attachments", [Here, Here, Here]),
    ("compactions", [Here, No(HISTORY), Here]),
    ("conversations", [Here, Here, Here]),
    ("cursors", [No(NOBODY), Here, No(NOBODY)]),
    ("decisions", [Here, No(HISTORY), No("whoever decided then stays named")]),
    ("declared_addresses", [Here, No("it follows the configuration at the start"), By("move_declared_addresses")]),
    ("deleted_ahead", [Here, No(HISTORY), No("it names an address, which moves")]),
    ("derived_from", [No(ONLY_NUMBERS), No(HISTORY), No(NOBODY)]),
    ("embeddings", [Here, No("it is kept by content"), No(NOBODY)]),
    ("enclosures", [Here, No("its turn is closed"), No(OWN_MOVE)]),
    ("entries", [Here, By("clear_entries"), By("drop_entries_of")]),
    ("entries_fts", [Here, By("clear_entries"), By("drop_entries_of")]),
    ("entry_uses", [Here, No(HISTORY), No("its key is that of an entry which is dropped")]),
    ("extractions", [Here, No("it resumes from its stored state"), Here]),
    ("file_contents", [Here, No(HISTORY), No(OWN_MOVE)]),
    ("files", [Here, By("file_written"), Here]),
    ("fingerprints", [By("add_fingerprints"), By("rebuild_fingerprints"), No(NOBODY)]),
    ("folder_moves", [No("an erasure waits until the folder has moved"), Here, No("a move under way ends first")]),
    ("forgettings", [Here, Here, Here]),
    ("grants", [Here, Here, Here]),
    ("groups", [No(NOBODY), No("it follows the configuration"), No(NOBODY)]),
    ("guests", [Here, No(HISTORY), No("a guest is no person")]),
    ("health_changes", [No(NOBODY), No(HISTORY), No(NOBODY)]),
    ("heartbeat_ticks", [Here, No(HISTORY), Here]),
    ("heartbeats", [Here, No("the next check follows the clock"), No(EACH_OWN)]),
    ("imports", [Here, No(HISTORY), Here]),
    ("inbox", [Here, No(HISTORY), No(OWN_MOVE)]),
    ("indexed", [Here, By("clear_entries"), By("drop_entries_of")]),
    ("keeps", [Here, Here, Here]),
    ("messages", [Here, Here, Here]),
    ("meta", [No(NOBODY), By("set_fact"), No(NOBODY)]),
    ("open_items", [Here, No(HISTORY), Here]),
    ("outbox", [Here, Here, Here]),
    ("outside_tools", [No("it holds words of a server, accepted by the owner"), Here, No(NOBODY)]),
    ("pairing_codes", [Here, Here, By("disallow")]),
    ("parts", [Here, Here, No(OWN_MOVE)]),
    ("people", [Here, Here, Here]),
    ("previews", [Here, Here, No(OWN_MOVE)]),
    ("proposals", [Here, Here, Here]),
    ("questions", [Here, Here, Here]),
    ("reactions", [Here, No(HISTORY), Here]),
    ("reflections", [Here, No(HISTORY), No(EACH_OWN)]),
    ("reminders", [Here, Here, Here]),
    ("skill_changes", [No(ONLY_NUMBERS), Here, No(NOBODY)]),
    ("skill_files", [Here, No(OWN_MOVE), No(OWN_MOVE)]),
    ("skill_versions", [No("a skill is changed through its gate only"), Here, No("skills belong to everybody")]),
    ("skills", [No("a skill is changed through its gate only"), Here, No("skills belong to everybody")]),
    ("slots", [Here, Here, No(EACH_OWN)]),
    ("spending", [No(ONLY_NUMBERS), No(HISTORY), Here]),
    ("steps", [Here, No("its turn is closed"), Here]),
    ("strangers", [Here, No(HISTORY), No("a stranger is no person")]),
    ("streams", [No(ONLY_NUMBERS), Here, By("stream_for")]),
    ("summaries", [Here, No(HISTORY), Here]),
    ("text_digests", [By("blank_texts"), No(DERIVED), No(OWN_MOVE)]),
    ("texts", [Here, No(HISTORY), Here]),
    ("texts_fts", [By("blank_texts"), By("rebuild_index"), By("rebuild_index")]),
    ("turns", [Here, Here, Here]),
    ("unindexed", [Here, By("clear_entries"), Here]),
    ("verdicts", [Here, No(HISTORY), Here]),
    ("web_codes", [By("disallow"), Here, By("disallow")]),
    ("web_sessions", [By("disallow"), Here, By("disallow")]),
    ("workspace", [No(ONLY_NUMBERS), No("the root stays its owner's"), By("set_workspace_owner")]),
];

/// Tables after all migrations.
fn tables() -> Vec<String> {
    let mut tables = Vec::new();
    for file in files("migrations") {
        for line in file.text.lines() {
            let words: Vec<&str> = line.split([' ', '(', ';']).filter(|word| !word.is_empty()).collect();
            match words[..] {
                ["CREATE", "TABLE", name, ..] | ["CREATE", "VIRTUAL", "TABLE", name, ..] => {
                    tables.push(name.to_owned());
                }
                ["DROP", "TABLE", name, ..] => tables.retain(|table| table != name),
                _ => {}
            }
        }
    }
    tables.sort();
    tables
}

/// Returns whether a string of the code changes a table, or names it in a list.
fn changes(code: &[Token], table: &str) -> bool {
    code.iter().filter(|token| token.text.starts_with('"')).any(|token| {
        let words: Vec<&str> = token.text.split(|c: char| c != '_' && !c.is_alphanumeric()).collect();
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        words == [table] || (0..words.len()).any(|at| words[at] == table && is_changed(&words[..at]))
    })
}

/// Returns whether the words before a table begin a statement that changes it.
fn is_changed(before: &[&str]) -> bool {
    matches!(before, [.., "UPDATE" | "INTO"] | [.., "UPDATE", "OR", "IGNORE"] | [.., "DELETE", "FROM"])
}

fn wrong(table: &str, act: &str, care: &Care, code: &[Token]) -> Option<String> {
    let changed = changes(code, table);
    match care {
        Here if !changed => Some(format!("{table}: {act} does not change it")),
        By(call) if find(code, &format!("{call} (")).is_empty() => Some(format!("{table}: {act} does not call {call}")),
        No(why) if changed => Some(format!("{table}: {act} changes it, although {why}")),
        _ => None,
    }
}

fn code_of(places: &[&str], sources: &[Source]) -> Vec<Token> {
    let is_there = |source: &&Source| {
        places
            .iter()
            .any(|place| if place.ends_with('/') { source.path.starts_with(place) } else { source.path == *place })
    };
    sources.iter().filter(is_there).flat_map(|source| source.product.iter().cloned()).collect()
}

#[test]
fn each_table_has_its_place_in_erasure_restoring_and_merging() {
    let listed: Vec<&str> = TABLES.iter().map(|(table, _)| *table).collect();
    assert_eq!(tables(), listed, "the list of tables does not follow the migrations");
    let mut findings = Vec::new();
    for (index, (act, places)) in ACTS.iter().enumerate() {
        let code = code_of(places, sources());
        assert!(!code.is_empty(), "no file of {act} was found");
        findings.extend(TABLES.iter().filter_map(|(table, care)| wrong(table, act, &care[index], &code)));
    }
    nothing_found(&findings);
}

#[test]
fn a_table_that_an_act_changes_is_seen() {
    let changed = |code: &str| changes(&super::lexer::lex(code), "keeps");
    for code in [
        r#"x("UPDATE keeps SET a = 1")"#,
        r#"x("UPDATE OR IGNORE keeps SET a = 1")"#,
        r#"x("SELECT 1; DELETE FROM keeps;")"#,
        "x(\"INSERT OR REPLACE INTO keeps (a)\n VALUES (1)\")",
        r#"const T: &[&str] = &["keeps"];"#,
    ] {
        assert!(changed(code), "{code}");
    }
    for code in [
        r#"x("SELECT a FROM keeps")"#,
        r#"x("DELETE FROM a WHERE b IN (SELECT c FROM keeps)")"#,
        r#"x("UPDATE keeps_on SET a = 1")"#,
        "// UPDATE keeps\nkeeps",
    ] {
        assert!(!changed(code), "{code}");
    }
}

#[test]
fn a_line_that_is_not_so_is_seen() {
    let code = super::lexer::lex(r#"fn f() { x("UPDATE keeps SET a = 1"); self.drop_all(); }"#);
    let wrong = |table, care| wrong(table, "erasure", &care, &code).is_some();
    assert_eq!([wrong("keeps", Here), wrong("files", By("drop_all")), wrong("files", No("…"))], [false; 3]);
    assert_eq!([wrong("files", Here), wrong("files", By("drop_some")), wrong("keeps", No("…"))], [true; 3]);
}
