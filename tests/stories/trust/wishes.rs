//! Questions about what touches only the person who is asked: silence, a late yes, a typed yes, and
//! the other calls of the same answer.

use std::time::Duration;

use compline::model::ModelError;
use serde_json::{Value, json};

use crate::support::model::Say;
use crate::support::story::{ADA, BEN, EVE, Story, UNTRUSTED};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const SILENCE: &str = "They were asked and have not answered yet";

fn tape() -> Value {
    json!({ "when": "2026-11-21 18:00", "text": "Buy tape." })
}

fn call(tool: &str, arguments: &Value) -> (String, String) {
    (tool.to_owned(), arguments.to_string())
}

/// Ada has forwarded a message; the model wants to set a reminder with words of its own, and she is
/// asked.
async fn asked() -> Story {
    asked_with(vec![call("remind", &tape())]).await
}

async fn asked_with(calls: Vec<(String, String)>) -> Story {
    let story = Story::begin().await;
    story.model.says("Noted.");
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter"));
    story.answered().await;
    story.model.then(Say::Calls(calls));
    story.say(ADA, "set what it needs, please").await;
    assert!(story.received_by(ADA).iter().any(|text| text.contains("Remind you of")), "{:?}", story.received_by(ADA));
    story
}

fn state(story: &Story) -> String {
    story.text("SELECT state FROM questions WHERE id = 1")
}

fn reminders(story: &Story) -> i64 {
    story.count("SELECT count(*) FROM reminders WHERE state = 'waiting'")
}

/// Promise (gate/late-yes): A reminder that you are asked about waits a day for your yes. After ten
/// minutes of silence you are told that it is not set yet, what else you asked is answered, and a late
/// yes sets it once.
#[tokio::test]
async fn a_late_yes_sets_a_reminder_once() {
    let story = asked().await;
    let told = story.received_by(ADA).len();
    story.model.says("I have not set the reminder yet.");
    story.pass(11 * MINUTE).await;
    assert_eq!(story.received_by(ADA).len(), told + 1);
    assert_eq!(story.last_received_by(ADA), "I have not set the reminder yet.");
    let prompt = story.model.last_prompt();
    assert!(prompt.contains(SILENCE) && prompt.contains("`/yes 1`") && prompt.contains("They said nothing so far"));
    assert_eq!((state(&story).as_str(), reminders(&story)), ("open", 0));
    story.say(ADA, "how is the weather?").await;
    assert_eq!(state(&story), "open", "another message does not end it");
    story.pass(3 * HOUR).await;
    story.say(ADA, "/yes 1").await;
    assert_eq!((state(&story).as_str(), reminders(&story)), ("yes", 1));
    story.say(ADA, "/yes 1").await;
    assert_eq!(reminders(&story), 1);
    assert!(story.last_received_by(ADA).contains("already"), "{}", story.last_received_by(ADA));
    story.end().await;
}

/// Proves: gate/late-yes
#[tokio::test]
async fn a_late_yes_counts_after_the_conversation_too() {
    let mut story = asked().await;
    story.pass(11 * MINUTE).await;
    story.pass(12 * HOUR).await;
    story.say(ADA, "good morning").await;
    story.restart().await;
    story.settle().await;
    story.say(ADA, "/pending").await;
    let buttons = story.fake.sent(ADA).pop().unwrap().buttons();
    assert!(buttons.iter().any(|(_, command)| command == "/yes 1"), "{buttons:?}");
    story.say(ADA, "/yes 1").await;
    assert_eq!((state(&story).as_str(), reminders(&story)), ("yes", 1));
    assert_eq!(story.count("SELECT count(*) FROM conversations WHERE kind = 'chat'"), 2);
    story.say(ADA, "what is set?").await;
    let told = "] question 1: (reminder 1 set, 2026-11-21 18:00 (UTC): Buy tape.)\n";
    assert!(story.model.last_prompt().contains(told), "the talk that goes on: {}", story.model.last_prompt());
    story.end().await;
}

/// Proves: gate/late-yes
#[tokio::test]
async fn what_a_late_yes_has_done_is_known_although_the_model_then_refuses() {
    let story = asked().await;
    story.pass(11 * MINUTE).await;
    story.pass(12 * HOUR).await;
    story.say(ADA, "good morning").await;
    story.model.then(Say::Fail(ModelError::Refused));
    story.say(ADA, "/yes 1").await;
    assert_eq!((state(&story).as_str(), reminders(&story)), ("yes", 1));
    story.say(ADA, "what is set?").await;
    let told = "] question 1: (reminder 1 set, 2026-11-21 18:00 (UTC): Buy tape.)\n";
    assert!(story.model.last_prompt().contains(told), "{}", story.model.last_prompt());
    story.end().await;
}

/// Proves: gate/late-yes
#[tokio::test]
async fn a_late_no_and_the_end_of_the_day_end_the_question_without_another_turn() {
    for answer in [true, false] {
        let story = asked().await;
        story.pass(11 * MINUTE).await;
        let asked = story.model.chats().len();
        if answer {
            story.say(ADA, "/no 1").await;
            assert!(story.last_received_by(ADA).contains("not do that"), "{}", story.last_received_by(ADA));
        } else {
            story.pass(23 * HOUR).await;
            assert_eq!(state(&story), "open");
            story.pass(HOUR).await;
        }
        assert_eq!(state(&story), if answer { "refused" } else { "expired" });
        story.say(ADA, "/yes 1").await;
        assert!(story.last_received_by(ADA).contains("is over"), "{}", story.last_received_by(ADA));
        assert_eq!((story.model.chats().len(), reminders(&story)), (asked, 0));
        story.end().await;
    }
}

/// A reminder and a daily task are set, then Ada has forwarded a message, and the model wants this call.
async fn asked_about_the_list(tool: &str, arguments: &Value) -> Story {
    let story = Story::begin().await;
    story.model.calls("remind", tape()).says("Set.");
    story.say(ADA, "remind me tomorrow at 18:00 to buy tape").await;
    story.model.calls("schedule", json!({ "cron": "0 9 * * *", "task": "Read the news." })).says("Set.");
    story.say(ADA, "read the news every day at 9").await;
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter"));
    story.answered().await;
    story.model.then(Say::Calls(vec![call(tool, arguments)]));
    story.say(ADA, "do what it needs, please").await;
    assert_eq!(state(&story), "open", "{:?}", story.received_by(ADA));
    story
}

/// Entries that wait, each with its hour of the day.
fn list(story: &Story) -> String {
    story.text(
        "SELECT coalesce(group_concat(kind || strftime(' %H', next_at / 1000, 'unixepoch'), ', '), '') FROM
         (SELECT * FROM reminders WHERE state = 'waiting' ORDER BY id)",
    )
}

/// Promise (gate/late-change): To change or cancel a reminder waits a day for your yes, as to set one
/// does, and a plain "yes" counts as well. To change or cancel a task waits ten minutes for its button.
#[tokio::test]
async fn a_late_yes_changes_or_cancels_a_reminder_but_no_task() {
    let unchanged = "reminder 18, task 09";
    for (tool, fields, became) in [
        ("change_scheduled", json!({ "when": "2026-11-21 20:00", "text": "Buy tape." }), "reminder 20, task 09"),
        ("cancel_scheduled", json!({}), "task 09"),
    ] {
        let with = |id: u32| {
            let mut arguments = fields.clone();
            arguments["id"] = json!(id);
            arguments
        };
        for late in [true, false] {
            let story = asked_about_the_list(tool, &with(1)).await;
            assert_eq!(list(&story), unchanged, "{tool} asks");
            if late {
                story.pass(11 * MINUTE).await;
                assert_eq!((state(&story).as_str(), list(&story).as_str()), ("open", unchanged), "{tool}");
                story.pass(3 * HOUR).await;
            }
            story.say(ADA, if late { "/yes 1" } else { "yes" }).await;
            assert_eq!((state(&story).as_str(), list(&story).as_str()), ("yes", became), "{tool}");
            let own = story.count("SELECT count(*) FROM reminders WHERE label = 'trusted'");
            assert_eq!(own, 2, "words that did not change keep their label");
            story.end().await;
        }
        let mut arguments = with(2);
        if arguments.get("when").is_some() {
            arguments["when"] = json!("0 20 * * *");
        }
        let story = asked_about_the_list(tool, &arguments).await;
        story.say(ADA, "yes").await;
        assert_eq!((state(&story).as_str(), list(&story).as_str()), ("open", unchanged), "{tool} needs the button");
        story.end().await;
        let story = asked_about_the_list(tool, &arguments).await;
        story.pass(11 * MINUTE).await;
        story.say(ADA, "/yes 1").await;
        assert_eq!((state(&story).as_str(), list(&story).as_str()), ("expired", unchanged), "{tool}");
        story.end().await;
    }
}

/// Proves: gate/late-yes
#[tokio::test]
async fn the_turn_after_silence_asks_nothing_again() {
    let story = asked().await;
    story.model.calls("remind", tape()).says("It is not set.");
    story.pass(11 * MINUTE).await;
    assert_eq!(story.last_received_by(ADA), "It is not set.");
    assert!(story.model.last_prompt().contains("are not asked again before they write"));
    story.pass(2 * HOUR).await;
    assert_eq!(story.count("SELECT count(*) FROM questions"), 1);
    story.end().await;
}

/// Proves: gate/late-yes
#[tokio::test]
async fn what_was_set_in_another_way_meanwhile_is_not_set_twice() {
    let story = asked().await;
    story.pass(11 * MINUTE).await;
    story.model.calls("remind", json!({ "when": "21.11.2026 18:00", "text": "buy tape" })).says("Set.");
    story.say(ADA, "/new").await;
    story.say(ADA, "remind me tomorrow at 18:00 to buy tape").await;
    assert_eq!(reminders(&story), 1);
    story.model.calls("remind", tape()).says("It is set.");
    story.say(ADA, "and once more, to be sure").await;
    assert_eq!(reminders(&story), 1);
    story.end().await;
}

/// Promise (gate/typed-yes): A plain "yes" is the answer to a question that is the last thing you were
/// sent, if all that it is about touches only you; anything that leaves needs the button or `/yes N`.
#[tokio::test]
async fn a_typed_yes_is_the_answer_to_the_question_that_was_shown_last() {
    for yes in ["yes", "Ja, bitte!", "sí"] {
        let story = asked().await;
        story.model.says("It is set.");
        story.say(ADA, yes).await;
        assert_eq!((state(&story).as_str(), reminders(&story)), ("yes", 1), "{yes}");
        assert_eq!(story.last_received_by(ADA), "It is set.");
        story.end().await;
    }
}

/// Proves: gate/typed-yes
#[tokio::test]
async fn a_typed_yes_is_no_answer_where_something_else_can_be_meant() {
    let story = asked().await;
    story.pass(11 * MINUTE).await;
    story.say(ADA, "yes").await;
    assert_eq!((state(&story).as_str(), reminders(&story)), ("open", 0), "a sentence of the model came after it");
    story.end().await;

    let story = asked().await;
    story.say(BEN, "yes").await;
    story.fake.forwards(ADA, EVE, "yes");
    story.answered().await;
    assert_eq!((state(&story).as_str(), reminders(&story)), ("passed", 0), "nobody else, and no forward");
    story.end().await;

    let news = call("memory_save", &json!({ "content": "The permit is there." }));
    let story = asked_with(vec![call("remind", &tape()), news]).await;
    assert!(story.last_received_by(ADA).contains("Keep this?"), "{}", story.last_received_by(ADA));
    story.say(ADA, "yes").await;
    assert!(story.last_received_by(ADA).contains("/yes 1, /yes 2"), "{}", story.last_received_by(ADA));
    assert_eq!((state(&story).as_str(), reminders(&story)), ("open", 0), "a yes is never a no");
    story.model.says("It is set.");
    story.say(ADA, "/yes 1").await;
    assert_eq!((state(&story).as_str(), reminders(&story)), ("yes", 1));
    story.end().await;

    for calls in [
        vec![call("schedule", &json!({ "cron": "0 9 * * *", "task": "Read the news." }))],
        vec![call("remind", &tape()), call("web_fetch", &json!({ "url": "http://evil.example/a" }))],
    ] {
        let story = Story::begin().await;
        story.model.says("Noted.");
        story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter"));
        story.answered().await;
        story.model.then(Say::Calls(calls));
        story.say(ADA, "do what it needs").await;
        assert_eq!(state(&story), "open");
        story.say(ADA, "yes").await;
        assert_eq!((state(&story).as_str(), reminders(&story)), ("open", 0), "it needs the button");
        assert!(story.last_received_by(ADA).contains("/yes 1"), "{}", story.last_received_by(ADA));
        story.end().await;
    }
}

/// Promise (gate/written-on): Who writes on without an answer to a question about what touches only them
/// has not said no: the answer still counts for a day.
#[tokio::test]
async fn to_write_on_is_no_no() {
    let story = asked().await;
    story.model.says("It rains, and the reminder is not set yet.");
    story.say(ADA, "how is the weather?").await;
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("`/yes 1`") && !prompt.contains("They said no"), "{prompt}");
    assert_eq!((state(&story).as_str(), reminders(&story)), ("passed", 0));
    story.pass(3 * HOUR).await;
    story.model.says("It is set.");
    story.say(ADA, "/yes 1").await;
    assert_eq!((state(&story).as_str(), reminders(&story)), ("yes", 1));
    assert_eq!(story.last_received_by(ADA), "It is set.");
    story.end().await;

    let story = asked().await;
    story.model.says("It rains.");
    story.say(ADA, "how is the weather?").await;
    let received = story.received_by(ADA).len();
    story.pass(5 * HOUR).await;
    assert_eq!(story.received_by(ADA).len(), received, "nothing more is said of it");
    story.say(ADA, "/no 1").await;
    assert_eq!((state(&story).as_str(), reminders(&story)), ("refused", 0));
    story.end().await;
}

/// Promise (gate/rest-of-the-answer): What needs no consent is done before you are asked about the rest,
/// except what removes or replaces something.
#[tokio::test]
async fn calls_that_need_no_yes_are_made_before_the_question() {
    let story = asked_with(vec![
        call("remind", &tape()),
        call("memory_save", &json!({ "content": "The permit is there." })),
        call("write_file", &json!({ "path": "plans/move.md", "content": "Pack.\n" })),
    ])
    .await;
    let day = std::fs::read_to_string(story.home.join("workspace/memory/2026-11-20.md")).unwrap_or_default();
    let plan = story.home.join("workspace/plans/move.md");
    assert!(day.contains("The permit is there.") || story.count("SELECT count(*) FROM keeps") == 1, "{day}");
    assert!(!plan.exists(), "it waits, because it may replace something");
    story.model.says("All of it is done.");
    story.say(ADA, "/yes 1").await;
    assert_eq!((reminders(&story), plan.exists()), (1, true));
    assert_eq!(story.last_received_by(ADA), "All of it is done.");
    story.end().await;
}

/// Ada has forwarded this, and the model answered.
async fn after_a_forward(text: &str) -> Story {
    let story = Story::begin().await;
    story.model.says("Noted.");
    story.fake.forwards(ADA, EVE, text);
    story.answered().await;
    story
}

/// Promise (gate/typed-wish): A reminder whose words and time you typed yourself is set without a
/// question, as you typed it, whatever else was read. Words that stood in something from outside before,
/// or that the assistant chose, are asked about.
#[tokio::test]
async fn a_wish_that_was_typed_whole_is_set_without_a_question() {
    let story = after_a_forward(&format!("{UNTRUSTED}letter")).await;
    story.model.calls("remind", json!({ "when": "2026-11-20 18:00", "text": "Buy tape." })).says("It is set.");
    story.say(ADA, "thx. and remind me at 6 pm today to buy tape").await;
    assert_eq!(story.last_received_by(ADA), "It is set.");
    assert_eq!(story.count("SELECT count(*) FROM questions"), 0);
    assert_eq!(story.text("SELECT text || ' ' || label FROM reminders"), "buy tape trusted");
    story.pass(6 * HOUR).await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("buy tape") && !told.contains("came from outside"), "{told}");

    story.model.calls("memory_save", json!({ "content": "the permit is there" })).says("Noted.");
    story.say(ADA, "Note that the permit is there!").await;
    assert_eq!(story.count("SELECT count(*) FROM keeps"), 0);
    let day = std::fs::read_to_string(story.home.join("workspace/memory/2026-11-20.md")).unwrap();
    assert!(day.contains("the permit is there"), "{day}");
    story.end().await;
}

/// Proves: gate/typed-wish
#[tokio::test]
async fn words_from_outside_and_words_of_the_model_are_asked_about() {
    for (forwarded, said, when, text) in [
        ("Please buy tape.", "remind me at 6 pm to buy tape", "2026-11-20 18:00", "Buy tape."),
        ("a letter", "remind me at 6 pm to buy tape", "2026-11-20 19:00", "Buy tape."),
        ("a letter", "remind me at 6 pm to buy tape", "2026-11-20 18:00", "Buy tape and call Eve."),
        ("a letter", "if it rains remind me at 6 pm to buy tape", "2026-11-20 18:00", "Buy tape."),
    ] {
        let story = after_a_forward(&format!("{UNTRUSTED}{forwarded}")).await;
        story.model.calls("remind", json!({ "when": when, "text": text }));
        story.say(ADA, said).await;
        assert_eq!((state(&story).as_str(), reminders(&story)), ("open", 0), "{forwarded}, {said}, {when}, {text}");
        story.end().await;
    }
    // What she typed before the letter came is hers.
    let story = Story::begin().await;
    story.say(ADA, "I have to buy tape").await;
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}buy tape"));
    story.answered().await;
    story.model.calls("remind", json!({ "when": "2026-11-20 18:00", "text": "Buy tape." })).says("It is set.");
    story.say(ADA, "remind me at 6 pm to buy tape").await;
    assert_eq!((story.count("SELECT count(*) FROM questions"), reminders(&story)), (0, 1));
    story.end().await;
}

/// Proves: gate/typed-wish
#[tokio::test]
async fn a_wish_that_was_not_set_is_told() {
    let story = Story::begin().await;
    story.model.says("Sure.");
    story.say(ADA, "remind me at 6 pm to buy tape").await;
    let told = story.last_received_by(ADA);
    assert!(told.starts_with("Sure.") && told.contains("I have not set a reminder for “buy tape”"), "{told}");
    story.model.calls("remind", json!({ "when": "2026-11-20 18:00", "text": "Buy tape." })).says("It is set.");
    story.say(ADA, "remind me at 6 pm to buy tape").await;
    assert_eq!(story.last_received_by(ADA), "It is set.");
    story.end().await;
}

/// Promise (trust/own-files): The name of a file that was chosen without text from outside is no strange
/// address; it is shown as code, so that no messenger makes a link of it.
#[tokio::test]
async fn the_name_of_an_own_file_is_no_strange_address() {
    let story = Story::begin().await;
    story.model.calls("write_file", json!({ "path": "4711.md", "content": "His own.\n" })).says("Done.");
    story.say(BEN, "keep it in a file").await;
    story
        .model
        .calls("write_file", json!({ "path": "glossary.md", "content": "Two terms.\n" }))
        .says("It is in glossary.md.");
    story.say(ADA, "keep the two terms in a file").await;
    let sent = story.fake.sent(ADA).pop().unwrap();
    assert!(sent.raw.contains("<code>glossary.md</code>"), "{}", sent.raw);
    story.say(ADA, "/new").await;
    story.model.says("Noted.");
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter"));
    story.answered().await;
    story.model.says("It is in glossary.md, not in 4711.md or http://glossary.md or glossary.md/4711.");
    story.say(ADA, "where is it?").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("in glossary.md,") && told.contains("4711[.]md"), "{told}");
    assert!(told.contains("http[:]//glossary[.]md") && told.contains("glossary[.]md/4711"), "{told}");
    story.model.calls("write_file", json!({ "path": "4712.md", "content": "Secret.\n" })).says("It is in 4712.md.");
    story.say(ADA, "and one more file").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("4712[.]md"), "a name that was chosen after text from outside: {told}");
    story.end().await;
}
