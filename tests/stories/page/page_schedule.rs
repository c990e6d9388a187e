//! The schedule on the page: reminders page by page, cancelled there, and what was missed.

use std::collections::BTreeSet;
use std::time::Duration;

use compline::time::Clock;
use serde_json::json;

use crate::support::browser::{Browser, SERVED};
use crate::support::story::{ADA, StoryOver};
use crate::support::telegram::FakeTelegram;

type Story = StoryOver<FakeTelegram>;

/// Promise (page/schedule): The schedule lists your reminders and tasks page by page, cancels one
/// with a button, and says what was missed and why.
#[tokio::test]
async fn reminders_are_listed_and_cancelled_and_what_was_missed_is_said() {
    let story = Story::with(SERVED).await;
    story.model.calls("remind", json!({ "when": "in 1 hour", "text": "turn the <b>cake</b>" })).says("I will.");
    story.say(ADA, "remind me of the cake").await;
    let journal = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    let columns = "SELECT group_concat(name) FROM pragma_table_info('reminders') WHERE name NOT IN ('id', 'next_at')";
    let columns: String = journal.query_row(columns, [], |row| row.get(0)).unwrap();
    for number in 1..45 {
        let copy = format!(
            "INSERT INTO reminders ({columns}, next_at) SELECT {columns}, next_at + ?1 FROM reminders WHERE id = 1"
        );
        journal.execute(&copy, [number / 2 * 1_000]).unwrap();
    }
    let missed = "INSERT INTO slots (job, scope, period, from_at, to_at, due_at, state, reason, claimed_at)
        VALUES (?1, ?2, '2026-11-20', 1, 2, ?3, ?4, ?5, 3)";
    let now = story.clock.now().0;
    for (job, scope, state, reason) in [
        ("daily", "person:1", "missed", "It was due too long ago."),
        ("weekly", "person:1", "done", "It was done."),
        ("daily", "person:2", "failed", "It was Ben's."),
    ] {
        journal.execute(missed, (job, scope, now - 1_000, state, reason)).unwrap();
    }
    drop(journal);
    let mut ada = Browser::of(story.app(), "Ada").await;
    let mark = "value=\"/reminders cancel ";
    let (mut shown, mut count) = (BTreeSet::new(), 0);
    for page in ada.each_page("/schedule").await {
        let ids: Vec<String> =
            page.text.split(mark).skip(1).map(|part| part.split('"').next().unwrap().to_owned()).collect();
        count += ids.len();
        shown.extend(ids);
    }
    assert_eq!((count, shown.len()), (45, 45));
    let page = ada.get("/schedule").await.text;
    assert!(page.contains("turn the &lt;b&gt;cake") && page.contains("It was due too long ago."), "{page}");
    assert!(!page.contains("It was done.") && !page.contains("Ben&#39;s") && !page.contains("Ben's"), "{page}");
    for _ in 0..2 {
        let done = ada.post("/act", &[("command", "/reminders cancel 1")]).await;
        assert!(done.text.contains("Cancelled reminder 1"), "{}", done.text);
    }
    assert!(!ada.get("/schedule").await.text.contains("value=\"/reminders cancel 1\""));
    story.end().await;
}

/// Proves: page/today
#[tokio::test]
async fn a_number_of_messages_is_exact_or_says_that_it_is_not() {
    let story = Story::with(SERVED).await;
    let ada = Browser::of(story.app(), "Ada").await;
    story.pass(Duration::from_secs(60)).await;
    story.say(ADA, "Hello").await;
    let few = ada.get("/").await.text;
    assert!(few.contains("You wrote one ") && !few.contains("Only the newest"), "{few}");
    let db = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    db.execute_batch(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
         INSERT INTO messages (stream_id, conversation_id, address_id, person_id, kind, scope, received_at, effective_at, state)
         SELECT stream_id, conversation_id, address_id, person_id, kind, scope, received_at, effective_at, 'closed'
         FROM messages, n WHERE id = (SELECT min(id) FROM messages WHERE kind = 'said')",
    )
    .unwrap();
    let many = ada.get("/").await.text;
    assert!(many.contains("Only the newest 1000 messages are looked at here"), "{many}");
    story.stop_here().await;
}
