//! Compaction: when the context window fills, facts are extracted, a summary replaces older
//! messages, and nothing is lost.

use std::time::Duration;

use compline::model::{ModelError, Purpose, Request, RequestPart, Role};
use compline::store::CommitPoint::{After, Before};
use serde_json::json;

use crate::support::model::{Say, words};
use crate::support::power::{CrashTest, Cut};
use crate::support::story::{ADA, BEN, Story};

/// Requests for a summary of older messages during the conversation.
fn summaries(story: &Story) -> Vec<Request> {
    story.background.summaries()
}

fn extractions(story: &Story) -> Vec<Request> {
    story.background.requests().into_iter().filter(|request| request.purpose() == Purpose::Extraction).collect()
}

/// Ada writes enough for there to be an older part; each exchange is long enough to tell apart.
async fn talk(story: &Story, from: usize, to: usize) {
    for number in from..to {
        story.say(ADA, &format!("thing {number}, which is a little story about a lighthouse and its keeper")).await;
    }
}

/// Ada writes in a window that is `percent` full.
async fn say_at(story: &Story, percent: u64, text: &str) {
    story.model.counts(percent * 1_000);
    story.say(ADA, text).await;
    story.settle().await;
}

/// Proves: conversation/long
#[tokio::test]
async fn facts_are_taken_down_once_at_sixty_and_again_with_the_summary_at_seventy() {
    let story = Story::begin().await;
    talk(&story, 0, 4).await;
    let mut seen = Vec::new();
    // What stays verbatim is a share of what was said: the last two are long.
    for (percent, length) in [(59, 0), (60, 0), (65, 0), (69, 1_000), (70, 1_000)] {
        say_at(&story, percent, &format!("at {percent} {}", "and on ".repeat(length / 7))).await;
        seen.push((extractions(&story).len(), summaries(&story).len()));
    }
    assert_eq!(seen, [(0, 0), (1, 0), (1, 0), (1, 0), (2, 1)]);
    let (first, second) = (words(&extractions(&story)[0]), words(&extractions(&story)[1]));
    assert!(first.contains("thing 0") && first.contains("at 60"), "{first}");
    assert!(second.contains("at 65") && !second.contains("thing 0") && !second.contains("at 60"), "{second}");
    story.end().await;
}

/// Promise (conversation/long): A conversation may be as long as you like: facts are recorded,
/// older messages are then replaced by a summary, the newest stay word for word, and nothing is
/// lost.
#[tokio::test]
async fn the_older_part_gives_way_and_the_last_messages_stay_word_for_word() {
    let mut story = Story::begin().await;
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Summary => {
            Say::Text(json!({ "title": "Lighthouses", "topics": ["the keeper's stories"] }).to_string())
        }
        _ => crate::support::model::usual(request),
    });
    talk(&story, 0, 8).await;
    say_at(&story, 72, "thing 8, and now the window is nearly full").await;
    let asked = words(&summaries(&story)[0]);
    story.model.counts(20_000);
    story.say(ADA, "what did we talk about?").await;
    let prompt = story.model.last_prompt();
    for number in 0..9 {
        let name = format!("thing {number},");
        assert!(prompt.contains(&name) != asked.contains(&name), "{name} is in exactly one of the two");
    }
    assert!(prompt.contains("thing 8,") && prompt.contains("thing 7,") && prompt.contains("the keeper's stories"));
    assert!(prompt.contains("asks for nothing"), "it is marked as something to refer to");
    assert_eq!(prompt.matches("<context>\nNow: ").count(), 1, "the memory does not vanish with the older part");
    assert_eq!(
        story.count("SELECT count(*) FROM texts WHERE text LIKE 'thing %'"),
        9,
        "the journal keeps every message"
    );
    story.restart().await;
    story.say(ADA, "and after a restart?").await;
    let again = story.model.last_prompt();
    assert!(again.starts_with(prompt.split("what did we talk about?").next().unwrap()), "the same beginning");
    story.end().await;
}

/// Proves: conversation/long
#[test]
fn a_question_that_waits_while_the_older_part_gives_way_is_shown_the_whole_context_once() {
    let job = "show the whole context";
    let made = "SELECT count(*) FROM compactions WHERE state = 'made'";
    let whole = "SELECT count(*) FROM turns WHERE context LIKE '<context>%'";
    let away = |_: &Request| Say::Fail(ModelError::Later { after: None, what: "overloaded".to_owned() });
    for side in [Before, After] {
        let mut crash_test = CrashTest::prepared("");
        assert!(!crash_test.start(None));
        let story = &crash_test.story;
        story.writes("memory/MEMORY.md", "The cat is called Whiskerino.\n");
        story.writes("memory/2026-11-20.md", "- [12:00] oil the lamp\n");
        story.background.otherwise(move |request| match request.purpose() {
            Purpose::Summary => away(request),
            _ => crate::support::model::usual(request),
        });
        let until_full = async {
            talk(story, 0, 8).await;
            say_at(story, 72, "thing 8, and now the window is nearly full").await;
        };
        assert!(!crash_test.during(until_full));
        story.background.otherwise(crate::support::model::usual);
        story.model.counts(20_000);
        story.model.otherwise(away);
        story.writes("memory/MEMORY.md", "The cat is called Tom.\n");
        assert!(!crash_test.during(story.say(ADA, "what is new?")));
        let claimed = story.model.last_prompt();
        assert_eq!((story.count(made), story.count(whole)), (0, 1), "{side:?}");
        assert!(
            claimed.contains("what is new?") && claimed.contains("<context part=\"changed\">"),
            "{side:?}: {claimed}"
        );

        crash_test.cut_next(Cut::at(side, job));
        assert!(crash_test.pass(Duration::from_secs(600)), "{side:?} {job} never came");
        crash_test.bury();
        let story = &crash_test.story;
        assert_eq!((story.count(made), story.count(whole)), (1, 1 + i64::from(side == After)), "{side:?}");
        story.model.otherwise(|_| Say::Text("The lamp is lit.".to_owned()));
        assert!(!crash_test.start(None));
        assert!(!crash_test.pass(Duration::from_secs(600)));

        let story = &crash_test.story;
        let prompt = story.model.last_prompt();
        let context = story.text("SELECT context FROM turns ORDER BY id DESC LIMIT 1");
        assert!(context.starts_with("<context>\n") && prompt.contains(&context), "{side:?}: {context} in {prompt}");
        for (part, count) in [
            ("<context>\nNow: ", 1),
            ("<context part", 0),
            ("called Tom", 1),
            ("oil the lamp", 1),
            ("Whiskerino", 0),
            ("thing 0,", 0),
        ] {
            assert_eq!(prompt.matches(part).count(), count, "{side:?} {part:?}: {prompt}");
        }
        assert_eq!(story.count(whole), 2, "{side:?}: one before the summary, one after it");
        let heard = story.received_by(ADA);
        assert_eq!(heard.iter().filter(|text| text.contains("The lamp is lit.")).count(), 1, "{side:?}: {heard:?}");
        assert_eq!(story.count("SELECT count(*) FROM messages WHERE state = 'answered'"), 10, "{side:?}");
        crash_test.end();
    }
}

/// Proves: conversation/long
#[tokio::test]
async fn a_call_and_its_result_are_never_parted() {
    let story = Story::begin().await;
    for number in 0..6 {
        for _ in 0..3 {
            story.model.calls("memory_search", json!({ "in": "conversations", "query": format!("story {number}") }));
        }
        story.model.says("found");
        story.say(ADA, &format!("look up story {number}")).await;
    }
    say_at(&story, 75, "now it is full").await;
    story.say(ADA, "go on").await;
    assert!(story.count("SELECT count(*) FROM compactions WHERE state = 'made'") > 0);
    let last = story.model.chats().pop().unwrap();
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for part in last.messages().iter().flat_map(|message| message.parts()) {
        match part.open().0 {
            RequestPart::Call { id, .. } => calls.push(id.to_string()),
            RequestPart::Result { id, .. } => results.push(id.to_string()),
            _ => {}
        }
    }
    assert_eq!(calls, results);
    let asked = words(&summaries(&story)[0]);
    assert!(asked.contains("The tool memory_search gave"), "what tools gave is summarised with the rest: {asked}");
    story.end().await;
}

/// Proves: conversation/long
#[tokio::test]
async fn if_facts_cannot_be_taken_down_nothing_gives_way_and_the_talk_goes_on() {
    let story = Story::begin().await;
    let away = || ModelError::Later { after: None, what: "overloaded".to_owned() };
    story.background.otherwise(move |request| match request.purpose() {
        Purpose::Extraction => Say::Fail(away()),
        _ => crate::support::model::usual(request),
    });
    talk(&story, 0, 6).await;
    say_at(&story, 75, "full").await;
    story.model.counts(75_000);
    story.say(ADA, "are you there?").await;
    assert_eq!(story.last_received_by(ADA), "ok");
    assert!(story.model.last_prompt().contains("thing 0,"), "nothing was discarded");
    assert_eq!(summaries(&story).len(), 0);
    story.background.otherwise(crate::support::model::usual);
    for _ in 0..4 {
        story.pass(Duration::from_secs(600)).await;
    }
    story.model.counts(20_000);
    story.say(ADA, "and now?").await;
    assert!(!story.model.last_prompt().contains("thing 0,") && summaries(&story).len() == 1, "it was tried again");
    story.end().await;
}

/// Proves: conversation/verbatim
#[tokio::test]
async fn answers_about_facts_that_cannot_be_read_stop_no_compaction() {
    let story = Story::begin().await;
    let with_facts = |answer: &str| {
        let answer = answer.to_owned();
        move |request: &Request| match request.purpose() {
            Purpose::Extraction => Say::Text(answer.clone()),
            _ => crate::support::model::usual(request),
        }
    };
    story.background.otherwise(with_facts("I would rather not."));
    talk(&story, 0, 6).await;
    say_at(&story, 75, "full").await;
    assert_eq!(summaries(&story).len(), 0, "facts come first");
    for _ in 0..4 {
        story.pass(Duration::from_secs(600)).await;
    }
    story.model.counts(20_000);
    story.say(ADA, "and now?").await;
    assert!(!story.model.last_prompt().contains("thing 0,") && summaries(&story).len() == 1, "it went on");
    assert_eq!(story.count("SELECT count(*) FROM texts WHERE text LIKE 'thing %'"), 6, "the journal keeps them");
    let kept = "SELECT count(*) FROM extractions WHERE state = 'kept'";
    assert_eq!(story.count(kept), 0, "the facts are still owed");
    let before = extractions(&story).len();
    story.background.otherwise(with_facts("{\"facts\": [{\"key\": \"lamp\", \"value\": \"red\", \"sources\": [1]}]}"));
    story.pass(Duration::from_secs(8 * 3600)).await;
    assert!(story.count(kept) > 0, "and taken down once an answer can be read");
    let read: String = extractions(&story).iter().skip(before).map(words).collect();
    assert!(read.contains("thing 0,") && read.contains("thing 5,"), "{read}");
    story.end().await;
}

/// Proves: conversation/long
#[tokio::test]
async fn a_summary_by_rules_keeps_the_one_before() {
    let story = Story::begin().await;
    let saying = |answer: &str| {
        let answer = answer.to_owned();
        move |request: &Request| match request.purpose() {
            Purpose::Summary => Say::Text(answer.clone()),
            _ => crate::support::model::usual(request),
        }
    };
    story.background.otherwise(saying("Summary:\nThe keeper's name is Wendelin."));
    talk(&story, 0, 6).await;
    say_at(&story, 75, "full").await;
    story.background.otherwise(saying("No."));
    story.model.counts(20_000);
    talk(&story, 6, 12).await;
    say_at(&story, 75, "full again").await;
    for _ in 0..12 {
        story.pass(Duration::from_secs(900)).await;
    }
    story.model.counts(20_000);
    story.say(ADA, "who is it?").await;
    let prompt = story.model.last_prompt();
    assert_eq!(story.text("SELECT group_concat(model, ' ') FROM compactions"), "scripted/scripted extract");
    assert!(prompt.contains("The keeper's name is Wendelin."), "{prompt}");
    assert!(prompt.contains("2026-11-20: thing"), "with what was said since: {prompt}");
    story.end().await;
}

/// Proves: conversation/long
#[tokio::test]
async fn a_model_that_cannot_summarise_does_not_stop_the_talk() {
    let story = Story::begin().await;
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Summary => Say::Text("Sorry, I would rather not.".to_owned()),
        _ => crate::support::model::usual(request),
    });
    talk(&story, 0, 6).await;
    say_at(&story, 75, "full").await;
    for _ in 0..12 {
        story.pass(Duration::from_secs(900)).await;
    }
    story.model.counts(20_000);
    story.say(ADA, "still here?").await;
    assert_eq!(story.last_received_by(ADA), "ok");
    assert_eq!(story.text("SELECT model FROM compactions"), "extract", "in the end rules write it");
    assert!(story.count("SELECT compacted_upto FROM conversations") > 0);
    story.end().await;
}

/// Proves: conversation/long
#[tokio::test]
async fn deleted_text_also_leaves_the_summary() {
    let story = Story::begin().await;
    talk(&story, 0, 6).await;
    say_at(&story, 75, "full").await;
    assert_eq!(story.count("SELECT count(*) FROM compactions WHERE state = 'made'"), 1);
    let app = story.app();
    let gone = story.count("SELECT min(id) FROM messages WHERE kind = 'said'");
    let now = app.clock.now();
    app.journal
        .write("delete a message", move |tx| {
            tx.redaction().redact_message(compline::id::MessageId(gone), now).map(drop)
        })
        .await
        .unwrap();
    story.model.counts(20_000);
    story.say(ADA, "go on").await;
    let prompt = story.model.last_prompt();
    assert!(!prompt.contains("thing 0,") && prompt.contains("thing 1,"), "shown as it is now: {prompt}");
    assert_eq!(story.count("SELECT count(*) FROM compactions WHERE summary <> ''"), 0);
    story.end().await;
}

/// Proves: conversation/long
#[tokio::test]
async fn a_conversation_is_compacted_again_and_again_without_growing() {
    let story = Story::begin().await;
    let mut sizes = Vec::new();
    for round in 0..6 {
        story.model.counts(20_000);
        talk(&story, round * 4, round * 4 + 4).await;
        say_at(&story, 75, "full again").await;
        story.model.counts(20_000);
        story.say(ADA, "go on").await;
        sizes.push(story.model.chats().last().unwrap().estimate_tokens());
    }
    assert!(story.count("SELECT count(*) FROM compactions WHERE state = 'made'") >= 5);
    let (first, last) = (sizes[1], sizes[5]);
    assert!(last < first * 2, "{sizes:?}");
    story.end().await;
}

/// Proves: conversation/long
#[tokio::test]
async fn a_tainted_part_keeps_its_label_in_the_summary() {
    let story = Story::begin().await;
    story.fake.from(ADA).forwarded_from(BEN).text("UNTRUSTED words of somebody else").send();
    story.answered().await;
    talk(&story, 0, 5).await;
    say_at(&story, 75, "full").await;
    story.model.counts(20_000);
    story.say(ADA, "go on").await;
    let last = story.model.chats().pop().unwrap();
    assert!(!last.label().is_trusted(), "what the summary stands for was tainted");
    assert_eq!(story.text("SELECT label FROM compactions"), "forward");
    assert!(
        last.messages()
            .iter()
            .filter(|message| message.role() == Role::System)
            .all(|message| message.label().is_trusted())
    );
    story.end().await;
}

/// Proves: trust/framed-transcripts
#[tokio::test]
async fn a_tainted_part_keeps_its_label_in_a_summary_by_rules() {
    let story = Story::begin().await;
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Summary => Say::Text("No.".to_owned()),
        _ => crate::support::model::usual(request),
    });
    story.fake.from(ADA).forwarded_from(BEN).text("UNTRUSTED words of somebody else").send();
    story.answered().await;
    talk(&story, 0, 5).await;
    say_at(&story, 75, "full").await;
    for _ in 0..12 {
        story.pass(Duration::from_secs(900)).await;
    }
    story.model.counts(20_000);
    story.say(ADA, "go on").await;
    assert_eq!(story.text("SELECT model || ' ' || label FROM compactions"), "extract forward");
    assert!(!story.model.chats().pop().unwrap().label().is_trusted(), "what the summary stands for was tainted");
    let asked = words(&summaries(&story)[0]);
    let framed = "passes on what others wrote:\n<untrusted source=\"forward\" from=\"Ben\">\nUNTRUSTED words";
    assert!(asked.contains(framed), "{asked}");
    story.end().await;
}

/// Promise (memory/placement): Memory is placed before your newest message or, if you prefer, with
/// the instructions.
#[tokio::test]
async fn memory_may_stand_with_the_instructions() {
    let story = Story::with("[memory]\nplacement = \"system\"\n").await;
    std::fs::write(story.home.join("workspace/memory/MEMORY.md"), "The cat is called Whiskerino.\n").unwrap();
    story.say(ADA, "one").await;
    std::fs::write(story.home.join("workspace/memory/MEMORY.md"), "The cat is called Tom.\n").unwrap();
    story.say(ADA, "two").await;
    let last = story.model.chats().pop().unwrap();
    let of = |role: Role| -> String {
        let messages = last.messages().iter().filter(|message| message.role() == role);
        messages
            .flat_map(|message| message.parts())
            .filter_map(|part| match part.open().0 {
                RequestPart::Text(text) => Some(text.to_string()),
                _ => None,
            })
            .collect()
    };
    assert!(of(Role::System).contains("called Tom") && !words(&last).contains("Whiskerino"), "only as it is now");
    assert!(!of(Role::User).contains("<context>"));
    story.end().await;
}
