//! The search index is derived data: after its tables are emptied, search gives the same results.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::support::story::{ADA, Story, canary};

const NEXT_CONVERSATION: Duration = Duration::from_secs(7 * 3600);
/// Words of a message, a summary, a fact, a note, and a daily note.
const ASKED: [&str; 4] = ["lighthouse", "keeper", "lamps", "Leuchtturm"];

/// A person with one of every searchable item.
async fn lived_in() -> Story {
    let story = Story::begin().await;
    let told = json!({ "title": "The lighthouse", "topics": ["its keeper trims the lamps"], "decisions": [], "preferences": [], "pending": [] });
    story.background.says(&told.to_string());
    story.say(ADA, &format!("I keep a lighthouse with two lamps {}", canary(ADA))).await;
    story.pass(NEXT_CONVERSATION).await;
    story.writes("memory/MEMORY.md", "## Recent facts\n\n- **keeper**: of the lighthouse is Jan\n");
    story
        .writes("memory/lamps.md", "---\nname: Lamps\ntype: reference\n---\n\nThe lamps of the Leuchtturm want oil.\n");
    story.writes("memory/2026-11-20.md", "- [09:00] trimmed the lamps\n");
    story
}

/// Search results on the command line, complete and in order.
async fn answers(story: &Story) -> Vec<String> {
    let mut all = Vec::new();
    for asked in ASKED {
        all.push(story.command_line(&["search", "--limit", "50", "--", asked]).await.json.to_string());
        all.push(story.command_line(&["memory", "search", "--limit", "50", "--", asked]).await.json.to_string());
    }
    assert!(all.iter().all(|found| found != "[]"), "{all:?}");
    all
}

/// Empties tables that hold only derived data, by their own comments in the journal.
fn emptied(db: &rusqlite::Connection, tables: &[&str]) {
    db.pragma_update(None, "foreign_keys", false).unwrap();
    for table in tables {
        let kept_apart = ["texts_fts"].contains(table);
        let sql = if kept_apart {
            format!("INSERT INTO {table} ({table}) VALUES ('delete-all')")
        } else {
            format!("DELETE FROM {table}")
        };
        db.execute(&sql, []).unwrap();
    }
}

fn journal(home: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(home.join("compline.db")).unwrap()
}

/// Proves: search/rebuild
#[tokio::test]
async fn emptying_any_derived_table_changes_no_results_after_a_restart() {
    let all = ["entries_fts", "entries", "indexed", "unindexed", "texts_fts", "text_digests"];
    let mut story = lived_in().await;
    let before = answers(&story).await;
    for some in [
        &all[..],
        &["entries_fts"],
        &["entries"],
        &["indexed", "unindexed"],
        &["entries_fts", "entries"],
        &["texts_fts"],
    ] {
        story.stop().await;
        emptied(&journal(&story.home), some);
        story.start().await;
        assert_eq!(answers(&story).await, before, "without {some:?}");
    }
    story.end().await;
}

/// Proves: search/rebuild
#[tokio::test]
async fn an_intact_index_is_not_rebuilt_at_start() {
    let mut story = lived_in().await;
    let before = answers(&story).await;
    // A rebuilt entry would get another number.
    let numbers =
        |story: &Story| story.text("SELECT group_concat(id || ' ' || path) FROM (SELECT * FROM entries ORDER BY id)");
    let known = numbers(&story);
    for _ in 0..2 {
        story.restart().await;
        assert_eq!(answers(&story).await, before);
    }
    assert_eq!(numbers(&story), known);
    story.end().await;
}

/// Proves: search/rebuild
#[tokio::test]
async fn after_that_hand_edits_and_deletions_are_still_seen_without_a_restart() {
    let mut story = lived_in().await;
    answers(&story).await;
    story.stop().await;
    emptied(&journal(&story.home), &["entries_fts", "entries", "indexed", "unindexed", "texts_fts"]);
    story.start().await;
    let found = async |words: &str| story.command_line(&["memory", "search", "--", words]).await.json.to_string();
    assert!(found("oil").await.contains("lamps.md"));
    story.writes("memory/lamps.md", "The lamps want petroleum.\n");
    assert!(found("petroleum").await.contains("lamps.md") && found("oil").await == "[]");
    std::fs::remove_file(story.home.join("workspace/memory/lamps.md")).unwrap();
    assert_eq!(found("petroleum").await, "[]");
    story.end().await;
}
