//! The schedule on the page: reminders page by page, cancelled there, and what was missed.

use std::collections::BTreeSet;
use std::time::Duration;

use compline::model::{ModelError, Purpose};
use compline::store::UnansweredReason;
use compline::time::Clock;
use serde_json::json;
use strum::VariantArray;

use crate::support::browser::{Browser, SERVED};
use crate::support::model::{Say, usual};
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
    let missed = "INSERT INTO slots (job, scope, period, from_at, to_at, due_at, state, reason, claimed_at, ended_at)
        VALUES (?1, ?2, '2026-11-20', 1, 2, ?3, ?4, ?5, 3, ?3)";
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

/// Words below each item under "Missed".
fn missed(page: &str) -> Vec<String> {
    let section = page.split("<h2>Missed</h2>").nth(1).unwrap_or_default().split("</section>").next().unwrap();
    let items = section.split("<li>").skip(1).map(|item| item.split("<p>").nth(1).unwrap());
    items.map(|item| item.split("</p>").next().unwrap().to_owned()).collect()
}

/// Proves: page/schedule
#[tokio::test]
async fn a_run_that_was_left_out_and_one_that_failed_say_why() {
    let story = Story::with(SERVED).await;
    story.model.calls("schedule", json!({ "cron": "0 * * * *", "task": "Look at the oven" })).says("I will.");
    story.say(ADA, "look at the oven each hour").await;
    let task_fails = |error: fn() -> ModelError| {
        story.background.otherwise(move |request| match request.purpose() {
            Purpose::Task => Say::Fail(error()),
            _ => usual(request),
        });
    };
    task_fails(|| ModelError::Later { after: None, what: "overloaded".to_owned() });
    story.pass(Duration::from_secs(150 * 60)).await;
    let ada = Browser::of(story.app(), "Ada").await;
    let left_out = "Not done: the run before it had not ended.";
    assert_eq!(missed(&ada.get("/schedule").await.text), [left_out]);
    task_fails(|| ModelError::Refused);
    story.pass(Duration::from_secs(20 * 60)).await;
    assert_eq!(missed(&ada.get("/schedule").await.text), [left_out, "Not done: there was no answer."]);
    story.end().await;
}

/// Proves: page/schedule
#[tokio::test]
async fn each_reason_for_a_missed_run_has_words() {
    let story = Story::with(SERVED).await;
    let ada = Browser::of(story.app(), "Ada").await;
    let journal = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    let plant = "INSERT INTO slots (job, scope, period, from_at, to_at, due_at, state, reason, claimed_at, ended_at)
        VALUES (?1, 'person:1', ?2, 1, 2, ?3, 'failed', ?2, 3, ?3)";
    for job in ["task:1", "heartbeat"] {
        for reason in UnansweredReason::VARIANTS {
            journal.execute("DELETE FROM slots", []).unwrap();
            journal.execute(plant, (job, reason.as_str(), story.clock.now().0)).unwrap();
            let words = missed(&ada.get("/schedule").await.text).concat();
            assert!(words.starts_with("Not done: ") && words.ends_with('.') && !words.contains('_'), "{words}");
            let is_known = !words.contains("there was no answer");
            assert_eq!(is_known, *reason != UnansweredReason::NoAnswer, "{reason:?}: {words}");
        }
    }
    for number in 1..=10 {
        let page = ada.get("/schedule").await.text;
        assert_eq!((missed(&page).len(), page.contains("Only the newest 10 are listed.")), (number, false), "{page}");
        journal.execute(plant, ("task:1", number.to_string(), story.clock.now().0)).unwrap();
    }
    let page = ada.get("/schedule").await.text;
    assert!(missed(&page).len() == 10 && page.contains("Only the newest 10 are listed."), "{page}");
    drop(journal);
    story.stop_here().await;
}

/// Proves: page/today
#[tokio::test]
async fn the_week_has_each_reflection_and_the_next_heartbeat() {
    let others = "[reflection]\nenabled = true\n[heartbeat]\ninterval = \"20m\"\nquiet_hours = \"\"\n";
    let story = Story::with(&format!("{SERVED}{others}")).await;
    story.model.calls("remind", json!({ "when": "in 2 days", "text": "water the figs" })).says("I will.");
    story.say(ADA, "remind me of the figs").await;
    story.pass(Duration::from_secs(13 * 3600)).await; // 01:00
    std::fs::write(story.home.join("workspace/HEARTBEAT.md"), "- [ ] look at the post\n").unwrap();
    let ada = Browser::of(story.app(), "Ada").await;
    let page = ada.get("/schedule").await;
    let week = page.picture("The next seven days");
    assert_eq!((week.caption.as_str(), week.marks), ("The next seven days", 10), "{week:?}");
    assert_eq!(week.lanes, ["Reminder", "Heartbeat", "Reflection"]);
    let words = |kind| week.rows.iter().filter(|row| row[1] == kind).map(|row| row[2].as_str()).collect::<Vec<_>>();
    assert_eq!(words("Reminder"), ["water the figs"]);
    let days = (20..=26).map(|day| format!("{day} November 2026"));
    let (week_before, mut reflections) = ("the week of 16 to 22 November 2026".to_owned(), days.collect::<Vec<_>>());
    reflections.insert(3, week_before);
    assert_eq!(words("Reflection"), reflections, "each day, and the week on Monday");
    assert_eq!(words("Heartbeat").len(), 1, "the others depend on what comes of it");
    assert!(page.text.contains("HEARTBEAT.md is checked every 20 minutes"), "{}", page.text);
    let next = ada.get("/").await.text;
    let next = next.split("<h2>Next</h2>").nth(1).unwrap();
    assert!(next.contains("water the figs") && next.matches("Reflection").count() == 1, "{next}");
    let coming = story.command_line(&["status"]).await.markdown;
    let coming = coming.lines().find(|line| line.contains("next reflections")).unwrap();
    assert_eq!(coming.matches(" · ").count(), 2, "one of each kind: {coming}");
    story.end().await;
}

/// Proves: page/today
#[tokio::test]
async fn changed_files_and_missed_items_are_counted_since_the_last_look() {
    let story = Story::with(SERVED).await;
    let (mut ada, ben) = (Browser::of(story.app(), "Ada").await, Browser::of(story.app(), "Ben").await);
    story.pass(Duration::from_secs(60)).await;
    let nothing = ada.get("/").await.text;
    assert!(nothing.contains("Nothing new.") && !nothing.contains(" changed "), "{nothing}");
    story.say(ADA, "/remember I like tea.").await;
    for (path, content) in [("plans/trip.md", "# Oslo\n"), ("plans/trip.md", "# Bergen\n"), ("list.md", "# Milk\n")] {
        story.model.calls("write_file", json!({ "path": path, "content": content })).says("Written down.");
        story.say(ADA, "write it down").await;
    }
    let journal = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    let miss = |person: u32, number: i64| {
        let plant =
            "INSERT INTO slots (job, scope, period, from_at, to_at, due_at, state, reason, claimed_at, ended_at)
            VALUES ('task:1', ?1, ?2, 1, 2, 3, 'missed', 'still_running', 3, ?3)";
        journal.execute(plant, (format!("person:{person}"), number, story.clock.now().0)).unwrap();
    };
    let counts = async |browser: &Browser| {
        let page = dom_query::Document::from(browser.get("/").await.text);
        let link = |path: &str| page.select(&format!("main section p a[href='{path}']")).text().to_string();
        (link("/files?sort=time"), link("/schedule"))
    };
    let files = "Your assistant changed 2 files.".to_owned();
    assert_eq!(counts(&ada).await, (files.clone(), String::new()));
    miss(1, 0);
    assert_eq!(counts(&ada).await, (files.clone(), "One scheduled item was missed.".to_owned()));
    (1..=10).for_each(|number| miss(1, number));
    assert_eq!(counts(&ada).await, (files, "More than 10 scheduled items were missed.".to_owned()));
    assert_eq!(counts(&ben).await, (String::new(), String::new()), "these are Ada's");
    let until = story.clock.now().0.to_string();
    ada.post("/seen", &[("until", &until)]).await;
    assert_eq!(counts(&ada).await, (String::new(), String::new()));
    drop(journal);
    story.stop_here().await;
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
