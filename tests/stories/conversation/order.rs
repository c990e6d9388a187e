//! One stream per person: messages are answered in order, joined where they belong together, one
//! answer at a time.

use std::time::Duration;

use super::Story;
use crate::support::model::{Gate, Say, usual, words};
use crate::support::story::{ADA, BEN, canary};
use crate::support::terminal_client::TerminalClient;

const AT_ONCE: &str = "[conversation]\njoin_within = \"0s\"";

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Promise (conversation/during-an-answer): Messages that you write while an answer is in progress
/// are answered together, after it.
#[tokio::test]
async fn messages_during_a_slow_answer_are_answered_together_after_it() {
    let story = Story::with(AT_ONCE).await;
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

/// Promise (conversation/joining): Messages sent in quick succession are treated as one question,
/// and you never wait more than five seconds for them to be joined.
#[tokio::test]
async fn a_burst_is_one_question() {
    let story = Story::begin().await;
    for text in ["so", "I was thinking", "about Oslo"] {
        story.fake.says(ADA, &format!("{text} {}", canary(ADA)));
        story.pass(ms(400)).await;
    }
    story.answered().await;
    assert_eq!((story.model.chats().len(), story.received_by(ADA).len()), (1, 1));
    assert_eq!(story.model.last_prompt().matches(&canary(ADA)).count(), 3);
    story.end().await;
}

/// Proves: conversation/joining
#[tokio::test]
async fn an_endless_burst_is_answered_after_five_seconds() {
    let story = Story::begin().await;
    for n in 0..12 {
        assert_eq!(story.model.chats().len(), usize::from(n >= 10), "after {} ms", n * 500);
        story.fake.says(ADA, &format!("and {n} {}", canary(ADA)));
        story.pass(ms(500)).await;
    }
    story.answered().await;
    assert_eq!(story.model.chats().len(), 2);
    story.end().await;
}

/// Promise (delivery/order): Answers arrive in the order of your messages, however fast you write.
#[tokio::test]
async fn messages_stay_in_order_for_each_person_at_any_speed() {
    let story = Story::begin().await;
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
#[tokio::test]
async fn two_people_never_hear_of_each_other() {
    let story = Story::begin().await;
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
#[tokio::test]
async fn stop_ends_an_answer_at_once() {
    let story = Story::with(AT_ONCE).await;
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
#[tokio::test]
async fn an_edit_before_the_answer_starts_replaces_the_message() {
    let story = Story::begin().await;
    let message = story.fake.says(ADA, "the train at sevn");
    story.pass(ms(300)).await;
    story.fake.edits(ADA, message, &format!("the train at seven {}", canary(ADA)));
    story.answered().await;
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("at seven") && !prompt.contains("sevn"), "{prompt}");
    story.end().await;
}

/// Proves: conversation/edit
#[tokio::test]
async fn a_later_change_is_kept_and_not_answered() {
    let story = Story::begin().await;
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
#[tokio::test]
async fn an_album_is_one_message() {
    let story = Story::begin().await;
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
#[tokio::test]
async fn one_person_at_two_places_has_one_conversation_and_is_answered_at_each() {
    let story = Story::begin().await;
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
