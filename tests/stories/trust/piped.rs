//! Text piped into the terminal has a conversation of its own, which ends with the answer.

use std::time::Duration;

use compline::store::CommitPoint::{self, After, Before};
use serde_json::{Value, json};

use crate::support::channel::Channel;
use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::model::words;
use crate::support::power::Cut;
use crate::support::story::{ADA, EVE, UNTRUSTED, canary, every_untrusted_part_is_labelled};
use crate::support::terminal_client::TerminalClient;

on_every_channel! {
    stories:
        piped_text_stays_out_of_the_conversation_unless_it_joins,
        questions_of_both_conversations_stay_apart;
    crash_tests:
        a_power_cut_leaves_piped_text_in_its_own_conversation_and_it_is_answered;
}

const NEXT_CONVERSATION: Duration = Duration::from_secs(7 * 3600);

fn page() -> String {
    format!("{UNTRUSTED}page: the train leaves at nine")
}

/// Sends a question and a page as `compline chat` does, with `--join` if they join. Returns the
/// answer.
async fn pipe(story: &Story, name: &str, joins: bool) -> String {
    let mut script = TerminalClient::of_a_script(story, "Ada").await;
    let (first, second) = (format!("{name}-q"), format!("{name}-p"));
    for (id, text, piped) in [(&first, "what does it say?", false), (&second, page().as_str(), true)] {
        let mut say = json!({ "type": "say", "id": id, "text": text, "piped": piped });
        if !joins {
            say["thread"] = json!(first);
        }
        script.write(&say).await;
        script.next("stored").await;
    }
    story.answered().await;
    script.next("message").await["markdown"].as_str().unwrap().to_owned()
}

fn remind() -> Value {
    json!({ "when": "2026-12-03 09:00", "text": "the train" })
}

/// Ada has the model set a reminder. Returns what she is told.
async fn reminds(story: &Story) -> String {
    story.model.calls("remind", remind()).says("It is set.");
    story.say(ADA, "remind me of the train").await;
    story.last_received_by(ADA)
}

/// Kind and number of messages of each conversation.
fn conversations(story: &Story) -> String {
    story.text(
        "SELECT group_concat(kind || ' ' || messages || iif(closed_at IS NULL, '', ' over'), ', ') FROM conversations",
    )
}

/// Promise (command-line/piped-conversation): Text piped into `compline chat` has a conversation of
/// its own, which ends with the answer: yours does not read it, and asks no more than before. With
/// `--join` it becomes part of yours.
async fn piped_text_stays_out_of_the_conversation_unless_it_joins(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, &format!("hello {}", canary(ADA))).await;
    story.model.says("At nine.");
    assert_eq!(pipe(&story, "apart", false).await, "At nine.");
    let asked = story.model.last_prompt();
    assert!(asked.contains(&page()) && !asked.contains("hello"), "it is alone: {asked}");
    assert_eq!(conversations(&story), "chat 1, piped 2 over");

    assert_eq!(reminds(&story).await, "It is set.");
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("hello") && !prompt.contains(UNTRUSTED) && !prompt.contains("At nine"), "{prompt}");
    story.say(ADA, "/status").await;
    assert!(!story.last_received_by(ADA).contains("It has read"), "{}", story.last_received_by(ADA));
    story.pass(NEXT_CONVERSATION).await;
    story.say(ADA, "good morning").await;
    let prompt = story.model.last_prompt();
    assert!(!prompt.contains(UNTRUSTED) && !prompt.contains("At nine"), "no summary goes on either: {prompt}");
    assert_eq!(story.count("SELECT count(*) FROM summaries WHERE conversation_id = 2"), 0);
    let kept = story.command_line(&["conversations", "show", "2"]).await.markdown;
    assert!(kept.contains("the train leaves at nine") && kept.contains("At nine."), "{kept}");
    assert_eq!(story.command_line(&["conversations", "list"]).await.json.as_array().unwrap().len(), 3);

    story.model.says("At nine, again.");
    assert_eq!(pipe(&story, "joined", true).await, "At nine, again.");
    let told = reminds(&story).await;
    assert!(told.contains("because I have read text from outside (text that was piped in)"), "{told}");
    every_untrusted_part_is_labelled(&story);
    story.end().await;
}

/// Proves: command-line/piped-conversation
async fn questions_of_both_conversations_stay_apart(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.fake.passes_on(ADA, EVE, &format!("{UNTRUSTED}letter"));
    story.answered().await;
    story.model.calls("remind", remind());
    story.say(ADA, "remind me of the train").await;
    assert!(story.last_received_by(ADA).contains("/yes 1"), "{}", story.last_received_by(ADA));
    story.model.calls("remind", json!({ "when": "2026-12-03 10:00", "text": "the train after it" }));
    let asked = pipe(&story, "apart", false).await;
    assert!(asked.contains("/yes 2"), "{asked}");
    assert!(!conversations(&story).contains("over"), "it waits for the answer: {}", conversations(&story));
    story.model.says("The first is set.");
    story.say(ADA, "/yes 1").await;
    assert_eq!(story.last_received_by(ADA), "The first is set.", "piped text is no answer to a question");
    story.model.says("The second is set.");
    story.say(ADA, "/yes 2").await;
    assert_eq!(story.last_received_by(ADA), "The second is set.");
    assert!(words(story.model.chats().last().unwrap()).contains(&page()), "it goes on where it asked");
    assert!(conversations(&story).contains("piped 2 over"), "{}", conversations(&story));
    assert_eq!(story.count("SELECT count(*) FROM reminders"), 2);
    story.end().await;
}

/// Proves: command-line/piped-conversation
fn a_power_cut_leaves_piped_text_in_its_own_conversation_and_it_is_answered(channel: TestChannel) {
    let jobs = ["accept messages", "claim messages", "begin a model step", "store a reply"];
    let cuts = jobs.into_iter().flat_map(|job| [(Before, job), (After, job)]);
    // What was not stored is printed back by the client.
    for (side, job) in cuts.filter(|cut| *cut != (Before, "accept messages")) {
        stays_apart_through(channel, side, job);
    }
}

fn stays_apart_through(channel: TestChannel, side: CommitPoint, job: &'static str) {
    let mut crash_test = channel.crash_test("");
    assert!(!crash_test.start(None));
    // The channel receives before the power is cut, so the cut is not at one of its own commits.
    crash_test.story.fake.person_says(ADA, "good morning");
    assert!(!crash_test.pass(Duration::from_secs(5)));
    crash_test.cut_next(Cut::at(side, job));
    let dark = crash_test.during(async {
        let mut script = TerminalClient::of_a_script(&crash_test.story, "Ada").await;
        let say = json!({ "type": "say", "id": "p", "text": page(), "piped": true, "thread": "p" });
        script.write(&say).await;
        script.next("stored").await;
        crash_test.story.answered().await;
    });
    assert!(dark, "{side:?} {job}");
    crash_test.revive();
    assert!(!crash_test.pass(Duration::from_secs(5)));
    let story = &crash_test.story;
    assert_eq!(conversations(story), "chat 1, piped 1 over", "{side:?} {job}");
    assert_eq!(story.count("SELECT count(*) FROM messages WHERE kind = 'reply'"), 2, "{side:?} {job}");
    story.fake.person_says(ADA, &format!("hello {}", canary(ADA)));
    assert!(!crash_test.pass(Duration::from_secs(5)));
    let story = &crash_test.story;
    assert_eq!(conversations(story), "chat 2, piped 1 over", "{side:?} {job}");
    assert!(!story.model.last_prompt().contains(UNTRUSTED), "{side:?} {job}");
    crash_test.end();
}
