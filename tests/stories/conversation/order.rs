//! One stream per person: messages are answered in order, joined where they belong together, one
//! answer at a time.

use std::time::Duration;

use crate::support::channel::Channel;
use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::model::{Gate, Say, usual, words};
use crate::support::story::{ADA, BEN, EVE, UNTRUSTED, canary};
use crate::support::terminal_client::TerminalClient;

on_every_channel! {
    stories:
        messages_during_a_slow_answer_are_answered_together_after_it,
        an_answer_does_not_wait_for_more_messages,
        a_burst_is_one_question,
        what_is_sent_at_once_costs_one_request,
        a_message_after_the_first_word_or_after_a_pause_is_a_question_of_its_own,
        text_from_outside_that_joins_an_answer_is_still_text_from_outside,
        the_file_of_a_message_that_joins_is_read_first,
        memories_come_to_mind_with_a_message_that_joins,
        a_burst_that_is_stopped_is_not_answered,
        what_was_sent_just_before_a_stop_is_not_answered,
        an_endless_burst_is_answered_after_five_seconds,
        messages_stay_in_order_for_each_person_at_any_speed,
        two_people_never_hear_of_each_other,
        stop_ends_an_answer_at_once,
        an_edit_before_the_answer_starts_replaces_the_message,
        a_later_change_is_kept_and_not_answered,
        an_album_is_one_message,
        one_person_at_two_places_has_one_conversation_and_is_answered_at_each;
}

const AT_ONCE: &str = "[conversation]\njoin_within = \"0s\"";

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Promise (conversation/during-an-answer): Messages that you write while an answer is in progress
/// are answered together, after it.
async fn messages_during_a_slow_answer_are_answered_together_after_it(channel: TestChannel) {
    let story = channel.story_with(AT_ONCE).await;
    let gate = Gate::default();
    story.model.then(Say::Hold(gate.clone())).says("to the first").says("to the rest");
    story.fake.says(ADA, &format!("first {}", canary(ADA)));
    gate.reached().await;
    for text in ["apples", "pears", "plums"] {
        story.fake.says(ADA, text);
    }
    story.fake.acked().await;
    gate.open();
    story.answered().await;
    assert_eq!(story.received_by(ADA), ["to the first", "to the rest"]);
    let [first, second] = story.model.chats().try_into().unwrap();
    assert!(!words(&first).contains("apples") && words(&second).contains("to the first"));
    let order = ["first", "apples", "pears", "plums"].map(|text| words(&second).find(&format!("]\n{text}")).unwrap());
    assert!(order.is_sorted(), "{}", words(&second));
    story.end().await;
}

/// An answer whose first word takes a second.
fn slow(text: &str) -> Say {
    Say::Grow(vec![(ms(1000), text.to_owned())])
}

/// Number of canaries of Ada in each chat request.
fn heard(story: &Story) -> Vec<usize> {
    story.model.chats().iter().map(|request| words(request).matches(&canary(ADA)).count()).collect()
}

/// Promise (conversation/at-once): The answer begins at once. Compline does not wait to see whether
/// you go on writing.
async fn an_answer_does_not_wait_for_more_messages(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.fake.says(ADA, &format!("ping {}", canary(ADA)));
    story.pass(ms(150)).await;
    assert_eq!(story.received_by(ADA), ["ok"]);
    story.end().await;
}

/// Promise (conversation/joining): Messages sent in quick succession are treated as one question
/// until the answer to it begins, and you never wait more than five seconds for them to be joined.
async fn a_burst_is_one_question(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.model.otherwise(|_| slow("ok"));
    for text in ["so", "I was thinking", "about Oslo"] {
        story.fake.says(ADA, &format!("{text} {}", canary(ADA)));
        story.pass(ms(400)).await;
    }
    story.answered().await;
    assert_eq!((heard(&story), story.received_by(ADA).len()), (vec![1, 3], 1));
    let spent = |state| story.count(&format!("SELECT count(*) FROM spending WHERE turn_id = 1 AND state = '{state}'"));
    assert_eq!((spent("reserved"), spent("spent")), (1, 1), "the cancelled call counts at its worst case");
    assert_eq!(story.count("SELECT count(*) FROM turns"), 1);
    story.end().await;
}

/// Proves: conversation/joining
async fn what_is_sent_at_once_costs_one_request(channel: TestChannel) {
    let story = channel.begin_story().await;
    for text in ["look at this", "the letter of yesterday"] {
        story.fake.says(ADA, &format!("{text} {}", canary(ADA)));
        story.pass(ms(50)).await;
    }
    story.answered().await;
    assert_eq!((heard(&story), story.received_by(ADA).len()), (vec![2], 1));
    story.end().await;
}

/// Proves: conversation/joining
async fn a_message_after_the_first_word_or_after_a_pause_is_a_question_of_its_own(channel: TestChannel) {
    let story = channel.begin_story().await;
    for (pause, first) in
        [(500, Say::Grow(vec![(ms(200), "First".into()), (ms(2000), " answer".into())])), (900, slow("First answer"))]
    {
        let (asked, received) = (story.model.chats().len(), story.received_by(ADA).len());
        story.model.then(first).says("Second answer");
        story.fake.says(ADA, &format!("one {}", canary(ADA)));
        story.pass(ms(pause)).await;
        story.fake.says(ADA, &format!("two {}", canary(ADA)));
        story.pass(ms(4000)).await;
        assert_eq!(story.model.chats().len() - asked, 2, "after {pause} ms");
        assert_eq!(story.received_by(ADA)[received..], ["First answer", "Second answer"], "after {pause} ms");
    }
    story.end().await;
}

/// Proves: conversation/joining
async fn text_from_outside_that_joins_an_answer_is_still_text_from_outside(channel: TestChannel) {
    let story = channel.begin_story().await;
    story
        .model
        .then(slow("never shown"))
        .calls("remind", serde_json::json!({ "when": "in 1 hour", "text": "the train" }));
    story.fake.says(ADA, &format!("when does it leave? {}", canary(ADA)));
    story.pass(ms(400)).await;
    story.fake.passes_on(ADA, EVE, &format!("{UNTRUSTED}letter"));
    story.answered().await;
    assert_eq!(story.model.chats().len(), 2);
    assert!(story.last_received_by(ADA).contains("/yes 1"), "{}", story.last_received_by(ADA));
    story.end().await;
}

/// Proves: conversation/joining
async fn the_file_of_a_message_that_joins_is_read_first(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.model.then(slow("never shown"));
    story.fake.says(ADA, &format!("what does it say? {}", canary(ADA)));
    story.pass(ms(400)).await;
    story.fake.sends_document(ADA, "note.txt", "text/plain", format!("{UNTRUSTED}the well is deep").as_bytes());
    story.answered().await;
    assert!(story.model.last_prompt().contains("the well is deep"), "{}", story.model.last_prompt());
    assert_eq!(story.received_by(ADA), ["ok"]);
    story.end().await;
}

/// Proves: conversation/joining
async fn memories_come_to_mind_with_a_message_that_joins(channel: TestChannel) {
    let story = channel.begin_story().await;
    let note = serde_json::json!({ "title": "Lighthouse", "content": "It is painted red.", "kind": "user" });
    story.model.calls("remember", note);
    story.say(ADA, &format!("write that down {}", canary(ADA))).await;
    // Without its line in the index the note is not loaded automatically, but recalled.
    let memory = story.home.join("workspace/memory/MEMORY.md");
    let index = std::fs::read_to_string(&memory).unwrap();
    let others: String = index.split_inclusive('\n').filter(|line| !line.contains("lighthouse.md")).collect();
    std::fs::write(&memory, others).unwrap();
    story.say(ADA, "/new").await;
    story.model.then(slow("never shown"));
    story.fake.says(ADA, "good morning");
    story.pass(ms(400)).await;
    story.fake.says(ADA, "is the lighthouse still there?");
    story.answered().await;
    let is_recalled: Vec<bool> =
        story.model.chats().iter().map(|request| words(request).contains("(memory/lighthouse.md, ")).collect();
    assert!(is_recalled.ends_with(&[false, true]), "{is_recalled:?}");
    story.end().await;
}

/// Proves: conversation/stop
async fn a_burst_that_is_stopped_is_not_answered(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.model.then(slow("never shown"));
    story.fake.says(ADA, &format!("tell me {}", canary(ADA)));
    story.pass(ms(400)).await;
    story.fake.says(ADA, "/stop");
    story.answered().await;
    assert_eq!((story.model.chats().len(), story.received_by(ADA)), (1, vec!["Stopped.".to_owned()]));
    story.end().await;
}

/// Proves: conversation/stop
async fn what_was_sent_just_before_a_stop_is_not_answered(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.model.otherwise(|_| slow("ok"));
    let stopped = || vec!["Stopped.".to_owned()];
    story.fake.says(ADA, "hello");
    story.pass(ms(50)).await;
    story.fake.says(ADA, "/stop");
    story.answered().await;
    assert_eq!((story.model.chats().len(), story.received_by(ADA)), (0, stopped()));
    // A second message that is about to join a turn ends with it; one after the command does not.
    story.fake.says(ADA, "tell me");
    story.pass(ms(400)).await;
    story.fake.says(ADA, "everything");
    story.pass(ms(50)).await;
    story.fake.says(ADA, "/stop");
    story.fake.says(ADA, &format!("something else {}", canary(ADA)));
    story.answered().await;
    assert_eq!(story.received_by(ADA), [stopped(), stopped(), vec!["ok".to_owned()]].concat());
    let asked = story.model.last_prompt();
    assert!(asked.contains("something else") && !asked.contains("everything"), "{asked}");
    story.end().await;
}

/// Proves: conversation/joining
async fn an_endless_burst_is_answered_after_five_seconds(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.model.otherwise(|_| slow("ok"));
    for n in 0..12 {
        // The first request is cancelled by the second message; the others are waited for.
        assert_eq!(story.model.chats().len(), [0, 1, 2][usize::from(n > 0) + usize::from(n >= 10)], "{n}");
        story.fake.says(ADA, &format!("and {n} {}", canary(ADA)));
        story.pass(ms(500)).await;
    }
    story.answered().await;
    assert_eq!((heard(&story)[..2].to_vec(), story.received_by(ADA).len()), (vec![1, 10], 2));
    story.end().await;
}

/// Promise (delivery/order): Answers arrive in the order of your messages, however fast you write.
async fn messages_stay_in_order_for_each_person_at_any_speed(channel: TestChannel) {
    let story = channel.begin_story().await;
    for n in 0..40_u64 {
        story.fake.says(ADA, &format!("a{n:02} {}", canary(ADA)));
        story.pass(ms(n * 131 % 900)).await;
        story.fake.says(BEN, &format!("b{n:02} {}", canary(BEN)));
        story.pass(ms(n * 57 % 700)).await;
    }
    story.answered().await;
    for (mark, person) in [("a", ADA), ("b", BEN)] {
        let chats = story.model.chats();
        let prompt = chats.iter().map(words).rfind(|prompt| prompt.contains(&canary(person))).unwrap();
        let places: Vec<_> = (0..40).map(|n| prompt.find(&format!("\n{mark}{n:02} ")).unwrap()).collect();
        assert!(places.is_sorted(), "{prompt}");
    }
    assert_eq!(story.count("SELECT count(*) FROM messages WHERE kind = 'said' AND state <> 'answered'"), 0);
    story.end().await;
}

/// Proves: privacy/private-messages
async fn two_people_never_hear_of_each_other(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.model.otherwise(|request| {
        let heard = [ADA, BEN].map(canary).into_iter().filter(|canary| words(request).contains(canary));
        Say::Text(heard.collect::<Vec<_>>().join(" "))
    });
    for n in 0..6 {
        story.fake.says(ADA, &format!("{n} {}", canary(ADA)));
        story.fake.says(BEN, &format!("{n} {}", canary(BEN)));
        story.pass(ms(n * 400)).await;
    }
    story.answered().await;
    for person in [ADA, BEN] {
        assert!(!story.received_by(person).is_empty());
        assert!(
            story.received_by(person).iter().all(|text| *text == canary(person)),
            "{:?}",
            story.received_by(person)
        );
    }
    story.end().await;
}

/// Promise (conversation/stop): `/stop` ends an answer at once.
async fn stop_ends_an_answer_at_once(channel: TestChannel) {
    let story = channel.story_with(AT_ONCE).await;
    let gate = Gate::default();
    story.model.then(Say::Hold(gate.clone())).says("too late");
    story.fake.says(ADA, &format!("tell me everything {}", canary(ADA)));
    gate.reached().await;
    story.fake.says(ADA, "/stop");
    story.fake.until(|fake| fake.texts(ADA) == ["Stopped."]).await;
    story.settle().await;
    assert_eq!(story.count("SELECT count(*) FROM messages WHERE kind = 'said' AND state = 'answered'"), 1);
    story.model.otherwise(usual);
    story.pass(Duration::from_secs(3600)).await;
    assert_eq!(story.received_by(ADA), ["Stopped."], "what was stopped stays unanswered");
    story.end().await;
}

/// Promise (conversation/edit): If you edit a message before its answer is started, the edited text
/// counts; a later edit is stored but not answered again.
async fn an_edit_before_the_answer_starts_replaces_the_message(channel: TestChannel) {
    let story = channel.begin_story().await;
    let message = story.fake.says(ADA, "the train at sevn");
    story.pass(ms(50)).await;
    story.fake.edits(ADA, message, &format!("the train at seven {}", canary(ADA)));
    story.answered().await;
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("at seven") && !prompt.contains("sevn"), "{prompt}");
    story.end().await;
}

/// Proves: conversation/edit
async fn a_later_change_is_kept_and_not_answered(channel: TestChannel) {
    let story = channel.begin_story().await;
    let message = story.fake.says(ADA, &format!("the train at eight {}", canary(ADA)));
    story.answered().await;
    story.fake.edits(ADA, message, "the train at nine");
    story.answered().await;
    assert_eq!((story.model.chats().len(), story.received_by(ADA).len()), (1, 1));
    assert_eq!(story.text("SELECT text FROM texts WHERE kind = 'edit'"), "the train at nine");
    story.say(ADA, "thank you").await;
    let prompt = story.model.last_prompt();
    assert!(prompt.find("at eight") < prompt.find("at nine"), "shown with the next message: {prompt}");
    story.end().await;
}

/// Promise (conversation/album): An album counts as one message.
async fn an_album_is_one_message(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.fake.album(ADA, &format!("our garden {}", canary(ADA)), &[b"first picture", b"second"]);
    story.answered().await;
    assert_eq!((story.model.chats().len(), story.received_by(ADA).len()), (1, 1));
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("our garden") && prompt.matches("(picture of").count() == 2, "{prompt}");
    assert_eq!(story.count("SELECT count(*) FROM messages WHERE kind = 'said'"), 1);
    story.end().await;
}

/// Promise (channels/telegram-and-terminal): You are one person on Telegram and in the terminal:
/// you have one conversation, and each answer comes where its question came from.
async fn one_person_at_two_places_has_one_conversation_and_is_answered_at_each(channel: TestChannel) {
    let story = channel.begin_story().await;
    let mut seat = TerminalClient::take(&story, "Ada").await;
    story.say(ADA, &format!("from the phone {}", canary(ADA))).await;
    assert_eq!(story.received_by(ADA), ["ok"]);

    story.model.says("at the desk");
    seat.says("1", "from the desk").await;
    story.answered().await;
    assert_eq!(seat.next("message").await["markdown"], "at the desk");
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("from the phone"), "it is one conversation");
    assert!(prompt.contains("\nChannel: a terminal (") && prompt.matches("You are compline").count() == 1, "{prompt}");
    assert!(
        prompt.find("\nChannel: a terminal (") > prompt.find("from the phone"),
        "right before the newest: {prompt}"
    );

    story.model.says("to the phone").says("to the desk");
    story.fake.says(ADA, "the phone again");
    story.settle().await;
    seat.says("2", "and the desk").await;
    story.answered().await;
    assert_eq!(seat.next("message").await["markdown"], "to the desk");
    assert_eq!(story.received_by(ADA), ["ok", "to the phone"]);
    assert_eq!(story.count("SELECT count(*) FROM conversations"), 1);
    story.end().await;
}
