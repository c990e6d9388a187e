//! Failures during fact extraction lose no message, store nothing twice and delay no one.

use std::time::Duration;

use compline::id::PersonId;
use compline::model::{ModelError, Purpose, Request};
use compline::store::CommitPoint::{After, Before};
use compline::time::Clock;
use compline::trust::Scope;
use serde_json::json;

use crate::support::model::{Say, usual, words};
use crate::support::power::{CrashTest, Cut};
use crate::support::story::{ADA, NOON, Story};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const TALK: &str = "Today we went for a long walk along the river with the children, and in the evening we sat in the garden and talked.";

fn cat() -> String {
    json!([{ "key": "cat", "value": "Whiskerino", "category": "fact", "layer": "A", "sources": [1] }]).to_string()
}

fn learned(story: &Story) -> String {
    std::fs::read_to_string(story.home.join("experience/default.md")).unwrap_or_default()
}

fn extractions(story: &Story) -> usize {
    story.background.requests().iter().filter(|request| request.purpose() == Purpose::Extraction).count()
}

fn takes_down(request: &Request) -> Say {
    match request.purpose() {
        Purpose::Extraction if words(request).contains("is called Whiskerino") => Say::Text(cat()),
        _ => usual(request),
    }
}

/// Ada writes until the window is full.
async fn until_full(story: &Story) {
    story.say(ADA, &format!("The cat is called Whiskerino. {TALK}")).await;
    for number in 1..6 {
        story.say(ADA, &format!("thing {number}: {TALK}")).await;
    }
    story.model.counts(75_000);
    story.say(ADA, "and now it is full").await;
}

/// Failures of an extraction.
#[derive(Clone, Copy, Debug)]
enum Trouble {
    Prose,
    Torn,
    Late,
    FullDisk,
}

fn troubled(trouble: Trouble, request: &Request) -> Say {
    match (request.purpose(), trouble) {
        (Purpose::Extraction, Trouble::Prose) => Say::Text("The cat is called Whiskerino, how nice.".to_owned()),
        (Purpose::Extraction, Trouble::Torn) => Say::Text(cat().chars().take(40).collect()),
        (Purpose::Extraction, Trouble::Late) => {
            Say::Fail(ModelError::Later { after: None, what: "timed out".to_owned() })
        }
        _ => takes_down(request),
    }
}

/// Proves: memory/extraction
#[tokio::test]
async fn a_failed_extraction_loses_no_history_and_is_retried() {
    for trouble in [Trouble::Prose, Trouble::Torn, Trouble::Late, Trouble::FullDisk] {
        let story = Story::begin().await;
        let way = story.home.join("experience/.default.md.part");
        if matches!(trouble, Trouble::FullDisk) {
            // Blocks the place where new content is prepared.
            std::fs::create_dir_all(way.join("x")).unwrap();
        }
        story.background.otherwise(move |request| troubled(trouble, request));
        until_full(&story).await;
        story.model.counts(75_000);
        story.say(ADA, "are you there?").await;
        assert_eq!(story.last_received_by(ADA), "ok", "{trouble:?}");
        assert!(story.model.last_prompt().contains("is called Whiskerino"), "{trouble:?}: nothing is discarded");
        assert_eq!(story.count("SELECT count(*) FROM compactions WHERE state = 'made'"), 0, "{trouble:?}");
        assert_eq!((learned(&story), story.count("SELECT max(extracted_upto) FROM conversations")), (String::new(), 0));
        let said = story
            .app()
            .journal
            .read_now(|db| crate::support::search::find(db, Scope::Person(PersonId(1)), "Whiskerino", true, 20));
        assert_eq!(said.unwrap().hits.len(), 1, "{trouble:?}: what was said is found");

        let _ = std::fs::remove_dir_all(way);
        story.background.otherwise(takes_down);
        for _ in 0..6 {
            story.pass(30 * MINUTE).await;
        }
        assert_eq!(learned(&story).matches("- **cat**: Whiskerino").count(), 1, "{trouble:?}: {}", learned(&story));
        assert_eq!(story.count("SELECT count(*) FROM compactions WHERE state = 'made'"), 1, "{trouble:?}");
        story.end().await;
    }
}

/// Proves: memory/extraction
#[test]
fn a_kill_after_any_step_leaves_each_fact_and_each_summary_once() {
    let steps = [
        "want facts",
        "store facts",
        "announce a change of a file",
        "a changed file stands in its place",
        "facts are stored",
        "keep a summary of an older part",
    ];
    for (side, step) in steps.into_iter().map(|step| (After, step)).chain([(Before, "keep a summary of an older part")])
    {
        let mut crash_test = CrashTest::prepared("");
        assert!(!crash_test.start(None));
        crash_test.story.background.otherwise(takes_down);
        crash_test.story.model.counts(20_000);
        for words in ["The cat is called Whiskerino. ", "one ", "two ", "three ", "four "] {
            assert!(!crash_test.during(crash_test.story.say(ADA, &format!("{words}{TALK}"))));
        }
        crash_test.story.model.counts(75_000);
        crash_test.cut_next(Cut::at(side, step));
        crash_test.story.fake.says(ADA, "and now it is full");
        assert!(crash_test.pass(MINUTE), "{side:?} {step} never came");
        crash_test.revive();
        assert!(!crash_test.pass(30 * MINUTE));
        let story = &crash_test.story;
        assert_eq!(learned(story).matches("- **cat**: Whiskerino").count(), 1, "{side:?} {step}: {}", learned(story));
        assert_eq!(story.count("SELECT count(*) FROM compactions WHERE state = 'made'"), 1, "{side:?} {step}");
        let pointer = "SELECT count(*) FROM conversations v JOIN compactions c ON c.conversation_id = v.id
            WHERE v.compacted_upto = c.upto_turn AND v.extracted_upto >= c.upto_message";
        assert_eq!(story.count(pointer), 1, "{side:?} {step}: both pointers are where the files are");
        assert!(!crash_test.during(crash_test.story.say(ADA, "/search Whiskerino")));
        let story = &crash_test.story;
        let indexed = "SELECT count(*) FROM entries WHERE kind = 'fact' AND text LIKE '%Whiskerino%'";
        assert_eq!(story.count(indexed), 1, "{side:?} {step}: once in the index");
        crash_test.end();
    }
}

/// Proves: memory/extraction
#[tokio::test]
async fn extraction_runs_every_fourth_turn_and_delays_no_answer() {
    let story = Story::with("[memory]\nextract_every = 4").await;
    story.background.then(Say::Grow(vec![(Duration::from_secs(10), cat())]));
    for turn in 1..=4 {
        assert_eq!(extractions(&story), 0, "before turn {turn}");
        story.say(ADA, &format!("{turn}. The cat is called Whiskerino. {TALK}")).await;
        assert_eq!(story.received_by(ADA).len(), turn, "answered at once");
    }
    assert_eq!((extractions(&story), learned(&story).as_str()), (1, ""), "the answer is there while it still reads");
    assert_eq!(
        story.clock.now().since(NOON),
        Duration::from_secs(8),
        "ten seconds of reading delayed none of the four"
    );
    story.pass(MINUTE).await;
    assert!(learned(&story).contains("Whiskerino"));
    story.end().await;
}

/// Proves: memory/extraction
#[tokio::test]
async fn without_memory_it_never_happens_and_without_a_model_it_is_passed_over() {
    let story = Story::with("[memory]\nenabled = false\nextract_every = 4").await;
    story.background.otherwise(takes_down);
    for _ in 0..9 {
        story.say(ADA, &format!("The cat is called Whiskerino. {TALK}")).await;
    }
    story.pass(7 * HOUR).await;
    assert_eq!((extractions(&story), story.count("SELECT count(*) FROM extractions")), (0, 0));
    story.end().await;

    let story = Story::with("[memory]\nextract_every = 4").await;
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Extraction => Say::Fail(ModelError::Later { after: None, what: "unreachable".to_owned() }),
        _ => usual(request),
    });
    for turn in 1..=4 {
        story.say(ADA, &format!("The cat is called Whiskerino. {TALK}")).await;
        assert_eq!(story.received_by(ADA), vec!["ok"; turn]);
    }
    assert_eq!(story.text("SELECT state || ' ' || attempts FROM extractions"), "wanted 1", "put off, and nothing else");
    story.end().await;
}
