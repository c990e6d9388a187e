//! What a person saw whole and agreed to is theirs: shown in their words, framed as theirs, and no
//! mark on the talk that lists it. For what leaves, its origin stays.

use std::time::Duration;

use compline::model::{Purpose, Request};
use serde_json::{Value, json};

use crate::skill_gate::{shown_approval, submit};
use crate::support::model::words;
use crate::support::story::{ADA, EVE, Story, UNTRUSTED, every_untrusted_part_is_labelled};

const HOUR: Duration = Duration::from_secs(3600);

/// Ada has forwarded a message, and said yes to what the model made of it.
async fn agreed(settings: &str, tool: &str, arguments: &Value) -> Story {
    let story = Story::with(settings).await;
    story.model.says("Noted.");
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter"));
    story.answered().await;
    story.model.calls(tool, arguments.clone());
    story.say(ADA, "set what it needs, please").await;
    story.model.says("It is set.");
    story.say(ADA, "/yes 1").await;
    assert_eq!(story.text("SELECT label FROM reminders"), "forward", "its origin stays");
    story
}

fn newest_label(story: &Story) -> String {
    story.text("SELECT label FROM turns ORDER BY id DESC LIMIT 1")
}

fn requests(story: &Story, purpose: Purpose) -> Vec<Request> {
    story.background.requests().into_iter().filter(|request| request.purpose() == purpose).collect()
}

/// Promise (trust/agreed): A reminder or task that you saw whole and agreed to is shown to you and to
/// the assistant in its words, and a talk that lists it or hears of it stays without a mark.
#[tokio::test]
async fn a_reminder_that_was_agreed_to_is_listed_and_told_in_its_words() {
    let arguments = json!({ "when": "2026-11-21 09:00", "text": "Buy tape at Miller's." });
    let story = agreed("", "remind", &arguments).await;
    story.say(ADA, "/new").await;
    story.model.calls("list_scheduled", json!({})).says("One reminder.");
    story.say(ADA, "what is open?").await;
    assert!(story.model.last_prompt().contains("[1] reminder, "), "{}", story.model.last_prompt());
    assert!(story.model.last_prompt().contains(": Buy tape at Miller's."), "{}", story.model.last_prompt());
    assert_eq!(newest_label(&story), "trusted");
    story.model.calls("remind", json!({ "when": "2026-11-23 10:00", "text": "Call Nora" })).says("Set.");
    story.say(ADA, "and remind me of Nora on Monday").await;
    assert_eq!(story.last_received_by(ADA), "Set.", "no question");

    story.pass(24 * HOUR).await;
    let told = story.received_by(ADA).into_iter().find(|text| text.contains("you agreed to")).unwrap();
    assert!(told.starts_with("Buy tape at Miller's."), "on a locked screen the words come first: {told}");
    story.model.says("Good.");
    story.say(ADA, "done").await;
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("reminder 1: ") && prompt.contains("Buy tape at Miller's."), "{prompt}");
    assert!(!prompt.contains("not shown here") && newest_label(&story) == "trusted", "{prompt}");
    every_untrusted_part_is_labelled(&story);
    story.end().await;
}

/// Proves: trust/agreed
#[tokio::test]
async fn a_task_that_was_agreed_to_is_framed_as_the_persons_and_still_counts_as_from_outside() {
    let arguments = json!({ "cron": "0 9 * * *", "task": "Look at the plan and say what is next." });
    let story = agreed("", "schedule", &arguments).await;
    // The night's own requests come first.
    story.pass(20 * HOUR).await;
    let note = json!({ "title": "Plan", "content": "The plan goes on.", "kind": "project" });
    story.background.calls("remember", note).says("Next: call the movers.");
    story.pass(4 * HOUR).await;
    let run = requests(&story, Purpose::Task).into_iter().next().expect("it ran");
    let prompt = words(&run);
    assert!(prompt.contains("The person agreed on ") && prompt.contains("exactly the words of the task"), "{prompt}");
    assert!(
        prompt.contains("Look at the plan and say what is next.") && !prompt.contains("<untrusted source"),
        "{prompt}"
    );
    assert_eq!(
        story.text(
            "SELECT t.label FROM turns t JOIN conversations c ON c.id = t.conversation_id WHERE c.kind = 'task' LIMIT 1"
        ),
        "forward"
    );
    assert!(!story.path_of("memory/plan.md").exists(), "nothing that it writes is live");
    let kept = story.text("SELECT coalesce(group_concat(path, ' '), '') FROM files WHERE path LIKE '%untrusted%'");
    assert!(
        kept.contains("untrusted/plan"),
        "{kept} {}",
        story.text("SELECT group_concat(tool || text, ' | ') FROM steps")
    );
    story.end().await;
}

/// Proves: trust/agreed
#[tokio::test]
async fn a_request_that_bears_the_source_already_is_shown_what_grew_from_it() {
    let arguments = json!({ "cron": "0 13 * * *", "task": "Look at the plan and say what is next." });
    let story = agreed("", "schedule", &arguments).await;
    story.background.says("Next: call the movers.");
    story.pass(2 * HOUR).await;
    story.model.says("Yes.");
    story.say(ADA, "do that").await;
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("task 1: Next: call the movers."), "{prompt}");
    assert_eq!(newest_label(&story), "forward");
    story.say(ADA, "/new").await;
    story.background.says("Next: pack the books.");
    story.pass(23 * HOUR).await;
    story.say(ADA, "good morning").await;
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("task 1 (not shown here") && newest_label(&story) == "trusted", "{prompt}");
    story.end().await;
}

/// Promise (trust/night): Of a turn that read something from outside a summary, a fact and a reflection
/// get what the program did in it, and no word of the model.
#[tokio::test]
async fn the_night_knows_what_was_done_and_no_word_of_the_model() {
    let story = Story::with("[reflection]\nmin_messages = 1\n").await;
    story.model.says(&format!("{UNTRUSTED}answer: it is about a move."));
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter"));
    story.answered().await;
    let typed = json!({ "when": "2026-11-21 18:00", "text": "buy tape" });
    story.model.calls("remind", typed).says(&format!("{UNTRUSTED}set."));
    story.say(ADA, "remind me tomorrow at 18:00 to buy tape").await;
    story.model.calls("write_file", json!({ "path": "plans/x.md", "content": format!("{UNTRUSTED}plan") }));
    story.model.says(&format!("{UNTRUSTED}written."));
    story.say(ADA, "and write a plan, will you, with all that you know of it").await;
    story.pass(20 * HOUR).await;
    for purpose in [Purpose::Summary, Purpose::Extraction, Purpose::Reflection] {
        let all = requests(&story, purpose);
        let clean: Vec<String> = all.iter().filter(|request| request.label().is_trusted()).map(words).collect();
        let said = clean.join("\n---\n");
        assert!(said.contains("remind me tomorrow at 18:00 to buy tape"), "{purpose:?}: {said}");
        assert!(said.contains("(reminder 1 set, 2026-11-21 18:00 (UTC): buy tape)"), "{purpose:?}: {said}");
        assert!(said.contains("(called write_file: done)"), "{purpose:?}: {said}");
        assert!(!said.contains(UNTRUSTED), "{purpose:?}: {said}");
    }
    story.end().await;
}

/// Ada was asked to keep something that came of a forwarded message.
async fn asked_to_keep() -> Story {
    let story = Story::begin().await;
    story.model.says("A letter.");
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter"));
    story.answered().await;
    let note = json!({ "title": "Letter", "content": "The key is under the mat.", "kind": "reference" });
    story.model.calls("remember", note).says("Asked.");
    story.say(ADA, "keep that").await;
    assert!(story.last_received_by(ADA).contains("/yes 1"), "{}", story.last_received_by(ADA));
    story
}

/// Promise (trust/unshown): A question whose words the assistant is not shown marks no talk.
#[tokio::test]
async fn a_question_that_was_not_answered_does_not_mark_the_next_talk() {
    let story = asked_to_keep().await;
    story.pass(7 * HOUR).await;
    story.say(ADA, "hello again").await;
    assert!(story.model.last_prompt().contains("question 1 (not shown here"), "{}", story.model.last_prompt());
    story.say(ADA, "I sow the leeks today").await;
    story.pass(7 * HOUR).await;
    let newest = "(SELECT max(id) FROM conversations WHERE kind = 'chat')";
    assert_eq!(story.text(&format!("SELECT label FROM conversations WHERE id = {newest}")), "trusted");
    let views = format!("SELECT group_concat(view) FROM summaries WHERE conversation_id = {newest}");
    assert_eq!(story.text(&views), "trusted", "one summary, as of any other talk");
    story.end().await;
}

/// Promise (conversation/decided): The assistant is told what became of a text that you were asked to
/// keep, of a proposal and of a reminder, before or after it was shown them.
#[tokio::test]
async fn the_next_turn_is_told_what_was_decided() {
    for (answer, told) in [("/yes 1", "they said yes, and it is kept"), ("/no 1", "they said no")] {
        let story = asked_to_keep().await;
        story.say(ADA, answer).await;
        story.say(ADA, "thanks").await;
        let prompt = story.model.last_prompt();
        assert!(prompt.contains(&format!("(decided since: {told})")), "{answer}: {prompt}");
        assert_eq!(prompt.matches(told).count(), 1, "{prompt}");
        story.end().await;
    }
    for (answer, told) in [("/yes 1", "they said yes, and it is kept"), ("/no 1", "they said no")] {
        let story = asked_to_keep().await;
        story.say(ADA, "a moment").await;
        story.say(ADA, answer).await;
        story.say(ADA, "thanks").await;
        let prompt = story.model.last_prompt();
        assert!(prompt.contains(&format!("] question 1: Decided. (decided since: {told})\n")), "{answer}: {prompt}");
        story.end().await;
    }
}

/// Proves: conversation/decided
#[tokio::test]
async fn the_next_turn_is_told_of_a_proposal_that_was_decided() {
    for (answer, told) in [("/approve", "they approved it"), ("/reject 1 no", "they refused it")] {
        let story = Story::begin().await;
        story.model.calls("submit_skill", submit("tea", "create", "Warm the pot.")).says("Proposed.");
        story.say(ADA, "remember how I like my tea").await;
        let answer = if answer == "/approve" { shown_approval(&story) } else { answer.to_owned() };
        story.say(ADA, "a moment").await;
        assert!(story.model.last_prompt().contains("] proposal 1: "), "{}", story.model.last_prompt());
        story.say(ADA, &answer).await;
        story.say(ADA, "thanks").await;
        let prompt = story.model.last_prompt();
        assert!(prompt.contains(&format!("] proposal 1: Decided. (decided since: {told})\n")), "{prompt}");
        story.end().await;
    }
}

/// Proves: conversation/decided
#[tokio::test]
async fn the_next_turn_is_told_what_was_answered_to_a_reminder() {
    let story = Story::begin().await;
    story.model.calls("remind", json!({ "when": "in 20 minutes", "text": "the oven" })).says("Noted.");
    story.say(ADA, "remind me of the oven in 20 minutes").await;
    story.pass(HOUR / 3).await;
    story.say(ADA, "/reminders later 1").await;
    story.say(ADA, "thanks").await;
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("] reminder 1: I will remind you again"), "{prompt}");
    story.pass(HOUR).await;
    story.say(ADA, "/reminders done 2").await;
    story.say(ADA, "thanks").await;
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("] reminder 2: Done.\n"), "{prompt}");
    story.end().await;
}
