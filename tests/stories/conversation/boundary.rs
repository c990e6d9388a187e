//! End of a conversation: after more than six hours without a message from the person, and at no
//! other time.

use std::time::Duration;

use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::story::{ADA, canary};

on_every_channel! {
    stories:
        a_conversation_ends_after_more_than_six_hours_of_silence,
        the_rule_holds_for_the_third_the_tenth_and_the_hundredth_message,
        only_words_of_the_person_count_as_a_sign_of_life,
        a_command_an_edit_or_a_button_opens_no_conversation,
        the_new_command_starts_one_conversation_with_the_next_message,
        a_clock_that_is_set_back_tears_no_conversation_apart,
        the_message_that_opens_a_conversation_is_in_it,
        twenty_first_messages_at_once_open_one_conversation,
        why_a_conversation_began_is_stored;
}

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);
const SIX_HOURS: Duration = Duration::from_secs(6 * 3600);
/// `Story::say` lets this time pass after a message, so it is part of the following silence.
const SAYING: Duration = Duration::from_secs(2);

/// Ada writes again after `silence`.
async fn say_after(story: &Story, silence: Duration, text: &str) {
    story.pass(silence - SAYING).await;
    story.say(ADA, text).await;
}

fn conversations(story: &Story) -> i64 {
    story.count("SELECT count(*) FROM conversations")
}

/// Checks that the newest prompt holds no earlier exchange.
fn is_fresh(story: &Story) -> bool {
    !story.model.last_prompt().contains("\nassistant: ")
}

/// Promise (boundary/six-hours): A silence of more than six hours ends a conversation, exact to the
/// millisecond, however long the conversation already is.
async fn a_conversation_ends_after_more_than_six_hours_of_silence(channel: TestChannel) {
    for (silence, anew) in
        [(SIX_HOURS - SECOND, false), (SIX_HOURS, false), (SIX_HOURS + SECOND, true), (29 * HOUR, true)]
    {
        let story = channel.begin_story().await;
        story.say(ADA, &format!("the evening {}", canary(ADA))).await;
        say_after(&story, silence, "the morning").await;
        assert_eq!((conversations(&story) == 2, is_fresh(&story)), (anew, anew), "after {silence:?}");
        assert_eq!(story.received_by(ADA), ["ok", "ok"]);
        story.end().await;
    }
}

/// Proves: boundary/six-hours
async fn the_rule_holds_for_the_third_the_tenth_and_the_hundredth_message(channel: TestChannel) {
    for (silence, expected) in [(SIX_HOURS, 1), (SIX_HOURS + SECOND, 4)] {
        let story = channel.begin_story().await;
        for n in 1..=100 {
            let silence = if [3, 10, 100].contains(&n) { silence } else { SAYING };
            say_after(&story, silence, &format!("message {n} {}", canary(ADA))).await;
        }
        assert_eq!(conversations(&story), expected, "with silences of {silence:?}");
        assert_eq!(story.received_by(ADA).len(), 100);
        story.end().await;
    }
}

/// Promise (boundary/only-messages-count): Only your messages interrupt the six hours of silence;
/// commands, edits, buttons and answers do not.
async fn only_words_of_the_person_count_as_a_sign_of_life(channel: TestChannel) {
    let mut story = channel.begin_story().await;
    let first = story.fake.says(ADA, &format!("first {}", canary(ADA)));
    story.answered().await;
    let answer = story.fake.sent(ADA)[0].message_id;
    story.pass(HOUR).await;
    story.say(ADA, "/status").await;
    story.pass(HOUR).await;
    story.fake.edits(ADA, first, "first, but better");
    story.pass(HOUR).await;
    story.fake.presses(ADA, answer, "/no 7");
    story.fake.reacts(ADA, ADA, answer, "👍");
    story.pass(HOUR).await;
    story.restart().await;
    story.pass(SIX_HOURS - 4 * HOUR - SAYING - SAYING + SECOND).await;
    story.say(ADA, "second").await;
    assert_eq!(conversations(&story), 2, "something moved the clock of silence");
    story.end().await;
}

/// Proves: boundary/only-messages-count
async fn a_command_an_edit_or_a_button_opens_no_conversation(channel: TestChannel) {
    let story = channel.begin_story().await;
    let first = story.fake.says(ADA, &format!("first {}", canary(ADA)));
    story.answered().await;
    let answer = story.fake.sent(ADA)[0].message_id;
    story.pass(29 * HOUR).await;
    story.say(ADA, "/status").await;
    story.fake.edits(ADA, first, "first, but better");
    story.fake.presses(ADA, answer, "/no 7");
    story.answered().await;
    assert_eq!(conversations(&story), 1);
    assert_eq!(story.model.chats().len(), 1);
    story.end().await;
}

/// Promise (boundary/new): `/new` starts a new conversation with your next message.
async fn the_new_command_starts_one_conversation_with_the_next_message(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, &format!("first {}", canary(ADA))).await;
    story.say(ADA, "/new").await;
    story.say(ADA, "/new").await;
    assert_eq!(conversations(&story), 1, "a command opens nothing");
    story.say(ADA, "second").await;
    assert!(is_fresh(&story));
    story.say(ADA, "third").await;
    assert!(!is_fresh(&story));
    assert_eq!(conversations(&story), 2);
    story.end().await;
}

/// Promise (boundary/clock-jump): A clock that jumps never splits a conversation.
async fn a_clock_that_is_set_back_tears_no_conversation_apart(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, &format!("first {}", canary(ADA))).await;
    let right = compline::time::Clock::now(&*story.clock);
    story.clock.set(right.minus(48 * HOUR));
    story.say(ADA, "second").await;
    story.pass(7 * HOUR).await;
    story.say(ADA, "third").await;
    story.clock.set(right.plus(HOUR));
    story.say(ADA, "fourth").await;
    assert_eq!(conversations(&story), 1);
    assert_eq!(story.received_by(ADA).len(), 4);
    story.end().await;
}

/// Promise (boundary/first-message): The message that starts a conversation belongs to it.
async fn the_message_that_opens_a_conversation_is_in_it(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, "first").await;
    story.model.says("Good morning.");
    say_after(&story, 7 * HOUR, &format!("the one that woke you {}", canary(ADA))).await;
    assert_eq!(story.model.last_prompt().matches("the one that woke you").count(), 1);
    assert_eq!(story.last_received_by(ADA), "Good morning.");
    let kept = "SELECT count(*) FROM messages m JOIN texts t ON t.message_id = m.id
                WHERE m.conversation_id = 2 AND m.kind = 'said' AND t.text LIKE 'the one that woke you%'";
    assert_eq!(story.count(kept), 1);
    story.end().await;
}

/// Proves: boundary/first-message
async fn twenty_first_messages_at_once_open_one_conversation(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, &format!("before {}", canary(ADA))).await;
    story.pass(7 * HOUR).await;
    std::thread::scope(|scope| {
        for n in 0..20 {
            let fake = &story.fake;
            scope.spawn(move || fake.says(ADA, &format!("message-{n:02}")));
        }
    });
    story.answered().await;
    assert_eq!(conversations(&story), 2);
    assert_eq!(story.count("SELECT messages FROM conversations WHERE id = 2"), 20);
    let prompt = story.model.last_prompt();
    for n in 0..20 {
        assert_eq!(prompt.matches(&format!("message-{n:02}")).count(), 1, "message-{n:02}");
    }
    assert_eq!(story.received_by(ADA).len(), 2, "one answer covers them all");
    story.end().await;
}

/// Promise (boundary/reason): You can look up why each conversation began.
async fn why_a_conversation_began_is_stored(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, &format!("first {}", canary(ADA))).await;
    say_after(&story, 7 * HOUR, "after a silence").await;
    story.say(ADA, "/new").await;
    story.say(ADA, "because I asked").await;
    assert_eq!(story.text("SELECT group_concat(began_because) FROM conversations"), "first,silence,new");
    story.end().await;
}
