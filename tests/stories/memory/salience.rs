//! Salience: used entries rank first among equals and fade when unused, and lessons stay within
//! their share of the prompt.

use std::time::Duration;

use compline::id::PersonId;
use compline::people::{Party, Person, Role};
use compline::search::{EntryHit, EntryQuery};
use serde_json::json;

use crate::support::story::{ADA, Story};

const DAY: Duration = Duration::from_secs(24 * 3600);

fn ada() -> Party {
    Party::One(Person { id: PersonId(1), name: "Ada".to_owned(), role: Role::Owner })
}

/// Search results, best first. Reading them does not count as use.
async fn hits(story: &Story, query: &str) -> Vec<EntryHit> {
    let words = crate::support::story::typed(query, ada().scope());
    let question = EntryQuery { limit: 10, ..EntryQuery::of(&ada(), words) };
    story.app().index.search(&question).await.unwrap().hits
}

fn place(hits: &[EntryHit], holds: &str) -> usize {
    hits.iter().position(|hit| hit.text.open().0.contains(holds)).unwrap_or(usize::MAX)
}

async fn is_of_use(story: &Story, query: &str, holds: &str, times: usize) {
    let found = hits(story, query).await;
    let key = found[place(&found, holds)].key.clone();
    for _ in 0..times {
        story.app().index.used(std::slice::from_ref(&key)).await.unwrap();
    }
}

/// Proves: search/usage
#[tokio::test]
async fn useful_entries_rank_first_among_equals_and_fade_in_thirty_days() {
    let story = Story::begin().await;
    let facts = "## Recent facts\n\n- **garden one**: dahlias from Ghent\n- **garden two**: dahlias from Liege\n- **cellar**: wine from Ghent and boxes\n";
    std::fs::write(story.home.join("workspace/memory/MEMORY.md"), facts).unwrap();
    let query = "dahlias garden";
    is_of_use(&story, query, "Liege", 10).await;
    is_of_use(&story, "wine boxes", "boxes", 1_000).await;
    let first = hits(&story, query).await;
    assert_eq!((place(&first, "Liege"), place(&first, "dahlias from Ghent")), (0, 1), "equal but for their use");
    assert!(place(&first, "boxes") > 1, "a thousand uses make nothing fit");
    let mixed = hits(&story, "dahlias garden ghent").await;
    assert!(place(&mixed, "boxes") > place(&mixed, "dahlias from Ghent"), "nor come before what fits better");
    let uses = "SELECT count(*) || ' ' || sum(uses) FROM entry_uses";
    assert_eq!(story.text(uses), "2 1010", "only what was of use has a count");

    story.pass(30 * DAY).await;
    let later = hits(&story, query).await;
    let (fresh, old) = (&first[place(&first, "Liege")], &later[place(&later, "Liege")]);
    assert!(old.score < fresh.score, "{} is not below {}", old.score, fresh.score);
    is_of_use(&story, query, "dahlias from Ghent", 5).await;
    assert_eq!(
        place(&hits(&story, query).await, "dahlias from Ghent"),
        0,
        "five uses of today weigh more than ten of old"
    );
    story.end().await;
}

/// Proves: search/usage
#[tokio::test]
async fn only_returned_entries_gain_a_usage_count() {
    let story = Story::begin().await;
    let facts = "## Recent facts\n\n- **garden**: dahlias from Ghent\n- **cellar**: wine and boxes\n";
    story.writes("memory/facts-2026-01.md", facts);
    story.model.calls("memory_search", json!({ "query": "dahlias" })).says("From Ghent.");
    story.say(ADA, "Where are they from?").await;
    let counted = "SELECT group_concat(e.text) FROM entry_uses u JOIN entries e ON e.key = u.key";
    let counted = story.text(counted);
    assert!(counted.contains("dahlias") && !counted.contains("wine"), "{counted}");
    story.end().await;
}

/// Proves: memory/new-value
#[tokio::test]
async fn a_cat_has_one_name_at_a_time_and_two_meetings_are_two() {
    let story = Story::begin().await;
    for text in ["Cat: Tom", "Cat: Jerry", "Meeting at 10:30", "Meeting at 10:45", "Meeting at 10:45"] {
        story.say(ADA, &format!("/remember {text}")).await;
    }
    let memory = story.reads("memory/MEMORY.md");
    assert_eq!((memory.matches("Cat").count(), memory.contains("- **Cat**: Jerry (")), (1, true), "{memory}");
    assert_eq!(
        (memory.matches("Meeting at 10:30").count(), memory.matches("Meeting at 10:45").count()),
        (1, 1),
        "{memory}"
    );
    story.say(ADA, "/memory history MEMORY").await;
    let history = story.last_received_by(ADA);
    let version = story.text(
        "SELECT CAST(f.id AS TEXT) FROM files f JOIN file_contents c ON c.file_id = f.id
         WHERE f.path = 'memory/MEMORY.md' AND CAST(c.content AS TEXT) LIKE '%Cat**: Tom%' ORDER BY f.id DESC LIMIT 1",
    );
    assert!(history.contains(&version), "{version} is none of {history}");
    story.say(ADA, &format!("/memory restore MEMORY {version}")).await;
    assert!(story.reads("memory/MEMORY.md").contains("- **Cat**: Tom ("), "the old value can be had back");
    story.end().await;
}
