//! What a reflection is shown besides the words of a conversation: tool calls, messages that nobody
//! asked for, open items; and the lists in which it is found again.

use super::*;
use crate::support::model::Say;

/// Promise (reflection/tool-calls): A reflection sees each tool call with its arguments and its
/// result in short. A call that was refused or not made is not counted as made.
#[tokio::test]
async fn calls_are_shown_in_short_and_unmade_ones_are_not_counted() {
    let story = story("").await;
    story
        .model
        .calls("remind", json!({ "when": "tomorrow 9:00", "text": "water the heron" }))
        .calls("write_file", json!({ "path": "AGENTS.md", "content": "Obey." }))
        .says("Kept.");
    story.say(ADA, "remind me of the heron tomorrow at nine").await;
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}page"));
    story.answered().await;
    story.model.calls("cancel_scheduled", json!({ "id": 1 }));
    story.say(ADA, "take that off").await;
    story.model.calls("change_scheduled", json!({ "id": 1, "when": "2026-11-22 09:00" }));
    story.say(ADA, "rather on Sunday").await;
    story.model.says("Sunday.");
    story.say(ADA, "/yes 2").await;
    look_back(&story, TODAY).await;
    let shown = shown(&story);
    for part in [
        "(called remind {",
        "\"water the heron\"",
        "; it gave: ",
        "(wanted to call write_file ",
        "tool remind: 1 calls\n",
        "tool write_file: 0 calls; 1 more refused or not made",
        "tool cancel_scheduled: 0 calls; 1 more refused or not made",
        "tool change_scheduled: 1 calls\n",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("call cancel_scheduled"), "arguments of a turn that read from outside: {shown}");
    every_untrusted_part_is_labelled(&story);
    story.end().await;
}

/// Promise (reflection/sent): A reflection sees what went to you without your asking, and the items
/// that are open with the days on which each was touched.
#[tokio::test]
async fn what_was_sent_and_what_is_open_is_shown() {
    let story = story("").await;
    let open = json!({ "title": "The move", "topics": ["Moving house"], "decisions": [], "preferences": [],
        "new": ["Order the internet connection", "Return the borrowed ladder"] });
    story.background.otherwise(move |request| match request.purpose() {
        Purpose::Summary => Say::Text(open.to_string()),
        _ => crate::support::model::usual(request),
    });
    story.model.calls("remind", json!({ "when": "tomorrow 9:00", "text": "call the movers" })).says("Kept.");
    story.say(ADA, "I am moving; remind me of the movers").await;
    story.pass(DAY).await;
    story.say(ADA, "which internet connection is fast?").await;
    look_back(&story, "2026-11-21").await;
    let shown = shown(&story);
    assert!(shown.contains("<sent>\n[2026-11-21 09:00] reminder 1: **Reminder:** call the movers\n</sent>"), "{shown}");
    assert!(shown.contains(". Order the internet connection (2026-11-20, 2026-11-21)\n"), "{shown}");
    assert!(shown.contains(". Return the borrowed ladder (2026-11-20)\n"), "{shown}");
    story.end().await;
}

/// Promise (reflection/skill-rules): A reflection can read the rules for skills before it proposes
/// one.
#[tokio::test]
async fn the_rules_for_skills_can_be_read() {
    let mut story = Story::prepared(&settings_with("")).await;
    story.ship(compline::skill::builtin::all());
    story.start().await;
    story.say(ADA, "hello").await;
    story.background.calls("load_skill", json!({ "name": "skill-authoring" })).says(&answer("A day", &json!([])));
    look_back(&story, TODAY).await;
    let prompt = prompt(&story);
    assert!(prompt.contains("\n- skill-authoring: "), "{prompt}");
    assert!(
        prompt.contains("(load_skill gave)") && prompt.contains("**In a reflection** there is no such tool"),
        "{prompt}"
    );
    story.end().await;
}

/// Proves: reflection/tool-calls
#[tokio::test]
async fn a_skill_that_was_loaded_is_named_without_its_text() {
    let mut story = Story::prepared(&settings_with("")).await;
    story.ship(compline::skill::builtin::all());
    story.start().await;
    story.model.calls("load_skill", json!({ "name": "skill-authoring" })).says("Read.");
    story.say(ADA, "how is a skill written?").await;
    story.say(ADA, "/new").await;
    story.say(ADA, "thanks").await;
    let summaries: String = story.background.summaries().iter().map(words).collect();
    assert!(summaries.contains("Assistant: (load_skill: skill-authoring)\n"), "{summaries}");
    look_back(&story, TODAY).await;
    let shown = shown(&story);
    assert!(shown.contains("Assistant: (loaded the skill skill-authoring)\n"), "{shown}");
    for text in [&summaries, &shown] {
        assert!(!text.contains("name: skill-authoring"), "its text is not what was said: {text}");
    }
    story.end().await;
}

/// Promise (reflection/notice): One message about a reflection says what was done and how to undo
/// it, what waits for you, and what was left out; a day from which nothing came sends none.
#[tokio::test]
async fn the_message_is_written_for_a_person_and_the_chat_shows_the_rest() {
    let story = story("").await;
    story.say(ADA, "hello").await;
    story.say(BEN, &format!("hello {}", canary(BEN))).await;
    let odd =
        json!([{ "kind": "skill" }, { "kind": "other", "title": "A shorter list", "text": "x", "priority": "medium" }]);
    story.background.says(&answer("Herons", &odd));
    look_back(&story, TODAY).await;
    let told = story.last_received_by(ADA);
    for part in [
        "Looking back on Fri 20 Nov: Herons",
        "• Your train goes at 8.",
        "Left out\n\n• 1 not in the right form\n• For you to do: A shorter list",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("It comes back") && !told.contains('/'), "{told}");
    let buttons = story.fake.sent(ADA).last().unwrap().buttons();
    assert_eq!(buttons, [("All of it".to_owned(), "/reflections 2026-11-20".to_owned())]);
    assert_eq!(actions_by_state(&story), "malformed 1, suggested 1", "an unknown key spoils nothing");
    story.say(ADA, "/reflections 2026-11-20").await;
    assert!(story.last_received_by(ADA).contains("Herons was seen."), "{}", story.last_received_by(ADA));
    story.say(ADA, "/conversations").await;
    assert!(!story.last_received_by(ADA).contains("Reflection on"), "{}", story.last_received_by(ADA));
    story.say(ADA, "/conversations reflections").await;
    assert!(story.last_received_by(ADA).contains("Reflection on 20 November 2026"), "{}", story.last_received_by(ADA));
    story.say(BEN, "/conversations all").await;
    assert!(!story.last_received_by(BEN).contains("Reflection on"), "{}", story.last_received_by(BEN));
    story.end().await;
}

/// Promise (reflection/months-end): The reflection on a month sees its last days too, although their week
/// ends in the next month.
#[tokio::test]
async fn the_last_days_of_a_month_are_shown() {
    let story = story("").await;
    story.say(ADA, "the tiles are blue").await;
    story.pass(10 * DAY).await;
    story.say(ADA, "the heating is repaired on Friday").await;
    look_back(&story, "2026-11-30").await;
    story.pass(DAY).await;
    story.say(ADA, "a new month").await;
    look_back(&story, MONTH).await;
    let shown = shown(&story);
    assert!(shown.contains("the tiles are blue"), "{shown}");
    assert!(shown.contains("2026-11-30") && !shown.contains("a new month"), "{shown}");
    story.end().await;
}
