//! Outages of the model, the network or the program: reported in plain words and made up for
//! afterwards.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use compline::model::ModelError;
use compline::store::{CommitPoint, Failpoint};
use compline::time::Clock;
use serde_json::json;

use crate::support::channel::Channel;
use crate::support::every_channel::{TestChannel, on_every_channel};
use crate::support::model::{Gate, Say, Scripted, usual};
use crate::support::story::{ADA, BEN, canary};

on_every_channel! {
    stories:
        an_outage_is_announced_once_and_messages_are_answered_afterwards,
        every_message_during_an_outage_is_told_of_it_once,
        an_outage_is_known_with_its_beginning_and_reason_after_a_restart,
        a_group_is_told_a_few_times_an_hour_and_not_for_each_message,
        a_question_is_given_up_after_a_day_and_the_next_one_works,
        the_second_model_answers_when_the_first_is_down,
        a_new_message_does_not_wait_for_the_next_retry,
        a_redelivered_telegram_message_is_answered_once_even_after_a_restart,
        a_long_absence_is_announced_to_each_person_and_a_short_one_is_not,
        a_long_absence_is_announced_before_anything_overdue,
        a_day_without_network_is_announced_afterwards,
        a_message_waiting_three_hours_is_answered_with_the_delay_named,
        messages_waiting_over_a_day_get_one_sentence,
        a_day_that_the_program_was_off_is_no_day_of_trying,
        a_delay_by_a_model_outage_is_not_called_an_absence,
        without_credit_for_a_day_it_says_what_it_was,
        a_computer_that_sleeps_in_the_middle_of_an_answer_still_gives_it,
        a_disk_that_is_full_for_a_while_costs_no_answer,
        an_answer_that_always_panics_is_given_up_and_the_chat_continues,
        a_stop_between_two_tries_takes_no_pause_from_the_next_question,
        the_choice_of_a_model_lasts_until_the_model_is_gone;
}

const MINUTE: Duration = Duration::from_secs(60);
const FAMILY: i64 = -100_200;
const HOUR: Duration = Duration::from_secs(3600);

fn away() -> Say {
    Say::Fail(ModelError::Later { after: None, what: "it is down".to_owned() })
}

/// Promise (models/down): If the model is down you are told so, once for each message, and you are
/// answered when it returns, never with an older answer.
async fn an_outage_is_announced_once_and_messages_are_answered_afterwards(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.model.says("an older answer");
    story.say(ADA, &format!("hello {}", canary(ADA))).await;
    story.model.otherwise(|_| away());
    story.say(ADA, "what is new?").await;
    story.pass(2 * HOUR).await;
    let [older, notice] = story.received_by(ADA).try_into().unwrap();
    assert_eq!(older, "an older answer");
    assert!(notice.contains("cannot be reached") && notice.contains("Your message is kept"), "{notice}");
    assert!(notice.ends_with("I will answer as soon as I can."), "no number that means nothing to a person: {notice}");
    story.model.otherwise(|_| Say::Text("the news".to_owned()));
    story.pass(20 * MINUTE).await;
    assert_eq!(story.received_by(ADA).len(), 3);
    assert_eq!(story.last_received_by(ADA), "the news");
    story.end().await;
}

/// Promise (models/down-told): While the model is down, every further message is answered at once:
/// why, since when, and how many wait. `/status` says it too.
async fn every_message_during_an_outage_is_told_of_it_once(channel: TestChannel) {
    let mut story = channel.story_with("[conversation]\njoin_within = \"0s\"").await;
    story.model.otherwise(|_| Say::Fail(ModelError::BadKey));
    story.say(ADA, &format!("first {}", canary(ADA))).await;
    for (message, waiting) in [("second", 2), ("third", 3)] {
        story.say(ADA, message).await;
        let told = story.last_received_by(ADA);
        assert!(told.contains("refuses our key. No answers since "), "{told}");
        assert!(told.contains(&format!("Messages waiting: {waiting}.")), "{told}");
    }
    story.say(ADA, "/status").await;
    let status = story.last_received_by(ADA);
    assert!(status.contains(", no answer since ") && status.contains("refuses our key"), "{status}");
    assert_eq!(story.received_by(ADA).len(), 4);
    story.restart().await;
    story.pass(2 * HOUR).await;
    assert_eq!(story.received_by(ADA).len(), 4, "told again: {:?}", story.received_by(ADA));
    story.model.otherwise(usual);
    story.pass(20 * MINUTE).await;
    assert_eq!(story.last_received_by(ADA), "ok");
    story.say(ADA, "/status").await;
    assert!(!story.last_received_by(ADA).contains("no answer since"), "{}", story.last_received_by(ADA));
    story.end().await;
}

/// Proves: models/down
async fn an_outage_is_known_with_its_beginning_and_reason_after_a_restart(channel: TestChannel) {
    let mut story = channel.begin_story().await;
    story.model.otherwise(|_| Say::Fail(ModelError::BadKey));
    story.say(ADA, &format!("hello {}", canary(ADA))).await;
    story.pass(HOUR).await;
    story.restart().await;
    story.say(ADA, "/status").await;
    let status = story.last_received_by(ADA);
    assert!(status.contains(", no answer since 12:00: ") && status.contains("refuses our key"), "{status}");
    story.model.otherwise(|_| away());
    story.say(ADA, "still there?").await;
    story.pass(MINUTE).await;
    let told = story.last_received_by(ADA);
    assert!(
        told.contains("cannot be reached") && told.contains("since 12:00") && told.contains("waiting: 2"),
        "{told}"
    );
    story.model.otherwise(usual);
    story.pass(20 * MINUTE).await;
    story.restart().await;
    story.say(ADA, "/status").await;
    assert!(!story.last_received_by(ADA).contains("no answer since"), "{}", story.last_received_by(ADA));
    story.end().await;
}

/// Promise (models/down-in-groups): In a group three reasons an hour for missing answers are
/// enough.
async fn a_group_is_told_a_few_times_an_hour_and_not_for_each_message(channel: TestChannel) {
    let mut story = channel.prepare_story("");
    story.settings(&format!("[groups]\nallowed = [\"{}\"]\n", story.fake.group_address(FAMILY)));
    story.fake.meet_group(FAMILY);
    story.start().await;
    story.model.otherwise(|_| away());
    for n in 0..8 {
        story.fake.asks_in(FAMILY, ADA, &format!("question {n}"));
        story.pass(2 * MINUTE).await;
    }
    assert_eq!(story.received_by(FAMILY).len(), 3, "{:?}", story.received_by(FAMILY));
    story.pass(HOUR).await;
    story.fake.asks_in(FAMILY, ADA, "another one");
    story.pass(2 * MINUTE).await;
    assert_eq!(story.received_by(FAMILY).len(), 4, "{:?}", story.received_by(FAMILY));
    story.end().await;
}

/// Proves: models/down
async fn a_question_is_given_up_after_a_day_and_the_next_one_works(channel: TestChannel) {
    let mut story = channel.begin_story().await;
    story.model.otherwise(|_| away());
    story.say(ADA, &format!("what is new? {}", canary(ADA))).await;
    story.pass(12 * HOUR).await;
    story.restart().await;
    story.pass(11 * HOUR).await;
    assert_eq!(story.received_by(ADA).len(), 1, "{:?}", story.received_by(ADA));
    story.pass(2 * HOUR).await;
    assert!(story.last_received_by(ADA).contains("for a whole day"), "{:?}", story.received_by(ADA));
    assert_eq!(story.text("SELECT state || ' ' || reason FROM messages WHERE kind = 'said'"), "closed model_away");
    let asked = story.model.requests().len();
    assert!(asked < 600, "{asked} calls of a model that is down");
    story.model.otherwise(usual);
    story.say(ADA, "and today?").await;
    assert_eq!((story.received_by(ADA).len(), story.last_received_by(ADA)), (3, "ok".to_owned()));
    story.end().await;
}

/// Promise (models/fallback): If the main model fails, a fallback model answers.
async fn the_second_model_answers_when_the_first_is_down(channel: TestChannel) {
    let mut story = channel.prepare_story("");
    let second = Scripted::new(story.clock.clone());
    second.says("I am the second choice.");
    story.fall_back_to(second.clone());
    story.model.otherwise(|_| away());
    story.start().await;
    story.say(ADA, &format!("hello {}", canary(ADA))).await;
    story.pass(MINUTE).await;
    assert_eq!(story.received_by(ADA), ["I am the second choice."]);
    assert_eq!(second.requests().len(), 1);
    story.end().await;
}

/// Proves: models/down
async fn a_new_message_does_not_wait_for_the_next_retry(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.model.otherwise(|_| away());
    story.say(ADA, &format!("first {}", canary(ADA))).await;
    story.pass(3 * HOUR).await;
    story.model.otherwise(usual);
    story.say(ADA, "still there?").await;
    assert_eq!(story.received_by(ADA).len(), 3, "the notice and both answers: {:?}", story.received_by(ADA));
    story.end().await;
}

/// Promise (delivery/duplicate-update): If Telegram delivers the same message twice, even across a
/// restart, you get one answer.
async fn a_redelivered_telegram_message_is_answered_once_even_after_a_restart(channel: TestChannel) {
    let mut story = channel.begin_story().await;
    story.say(ADA, &format!("hello {}", canary(ADA))).await;
    let hello = story.fake.last_update_id().unwrap();
    story.say(ADA, "/new").await;
    let new = story.fake.last_update_id().unwrap();
    story.say(ADA, "good evening").await;
    story.fake.redeliver(hello);
    story.answered().await;
    story.restart().await;
    for update in [hello, new] {
        story.fake.redeliver(update);
        story.answered().await;
    }
    assert_eq!(story.received_by(ADA).len(), 3, "{:?}", story.received_by(ADA));
    assert_eq!(story.count("SELECT count(*) FROM messages WHERE kind <> 'reply'"), 3);
    story.say(ADA, "and on").await;
    assert_eq!(story.count("SELECT count(*) FROM conversations"), 2, "a repeated /new begins nothing");
    story.end().await;
}

/// Promise (delivery/absence): After an absence Compline says how long it was away and how late its
/// answer is.
async fn a_long_absence_is_announced_to_each_person_and_a_short_one_is_not(channel: TestChannel) {
    for (absence, told) in [(23 * HOUR, 0), (26 * HOUR, 1)] {
        let mut story = channel.begin_story().await;
        story.say(ADA, &format!("hello {}", canary(ADA))).await;
        story.say(BEN, &format!("hello {}", canary(BEN))).await;
        story.stop().await;
        story.clock.advance(absence).await;
        story.start().await;
        story.restart().await;
        story.settle().await;
        for person in [ADA, BEN] {
            let heard = story.received_by(person);
            let away = heard.iter().filter(|text| text.contains("I was away for 26 hours")).count();
            assert_eq!((away, heard.len()), (told, 1 + told), "after {absence:?}: {heard:?}");
        }
        story.end().await;
    }
}

/// Proves: delivery/absence
async fn a_long_absence_is_announced_before_anything_overdue(channel: TestChannel) {
    let mut story = channel.begin_story().await;
    for text in ["the oven", "the cat"] {
        story.model.calls("remind", json!({ "when": "in 1 hour", "text": text })).says("Noted.");
        story.say(ADA, &format!("please {}", canary(ADA))).await;
    }
    story.stop().await;
    story.clock.advance(40 * HOUR).await;
    story.start().await;
    story.until(async || story.received_by(ADA).len() == 5).await;
    let heard = story.received_by(ADA);
    assert!(heard[2].contains("I was away for 40 hours"), "{heard:?}");
    assert!(heard[3].contains("the oven") && heard[4].contains("the cat"), "{heard:?}");
    story.restart().await;
    story.pass(MINUTE).await;
    assert_eq!(story.received_by(ADA).len(), 5, "once");
    story.end().await;
}

/// Proves: delivery/absence
async fn a_day_without_network_is_announced_afterwards(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, &format!("hello {}", canary(ADA))).await;
    story.fake.stop();
    story.pass(26 * HOUR).await;
    story.fake.restart();
    story.fake.says(ADA, "and now?");
    story.until(async || story.received_by(ADA).len() == 3).await;
    assert!(story.received_by(ADA)[1].contains("I was away for 26 hours"), "{:?}", story.received_by(ADA));
    story.end().await;
}

/// Proves: delivery/absence
async fn a_message_waiting_three_hours_is_answered_with_the_delay_named(channel: TestChannel) {
    let mut story = channel.begin_story().await;
    story.stop().await;
    story.fake.says(ADA, &format!("are you there? {}", canary(ADA)));
    story.clock.advance(3 * HOUR).await;
    story.start().await;
    story.answered().await;
    let [delay, answer] = story.received_by(ADA).try_into().unwrap();
    assert!(delay.contains("I was away") && delay.contains("3 hours ago"), "{delay}");
    assert_eq!(answer, "ok");
    story.end().await;
}

/// Proves: delivery/absence
async fn messages_waiting_over_a_day_get_one_sentence(channel: TestChannel) {
    let mut story = channel.begin_story().await;
    story.say(ADA, &format!("hello {}", canary(ADA))).await;
    story.stop().await;
    story.fake.says(ADA, "are you there?");
    story.fake.says(ADA, "hello?");
    story.clock.advance(25 * HOUR).await;
    story.start().await;
    story.answered().await;
    let heard = story.received_by(ADA).join("\n");
    assert_eq!(heard.matches("2 messages of yours waited for more than a day").count(), 1, "{heard}");
    assert_eq!(story.model.chats().len(), 1, "nothing so old is answered");
    assert_eq!(story.count("SELECT count(*) FROM messages WHERE state = 'closed' AND reason = 'too_old'"), 2);
    story.end().await;
}

/// Proves: models/giving-up
async fn a_day_that_the_program_was_off_is_no_day_of_trying(channel: TestChannel) {
    let mut story = channel.begin_story().await;
    story.model.otherwise(|_| away());
    story.say(ADA, &format!("hello {}", canary(ADA))).await;
    story.pass(MINUTE).await;
    story.stop().await;
    story.clock.advance(25 * HOUR).await;
    story.start().await;
    story.pass(MINUTE).await;
    story.model.otherwise(usual);
    story.pass(HOUR).await;
    assert_eq!(story.last_received_by(ADA), "ok");
    assert!(!story.received_by(ADA).concat().contains("for a whole day"), "{:?}", story.received_by(ADA));
    story.end().await;
}

/// Promise (models/giving-up): Compline says that it was away only when it was, and gives up on a
/// model only after a day of trying, with the reason.
async fn a_delay_by_a_model_outage_is_not_called_an_absence(channel: TestChannel) {
    for (hours, named) in [(2, "it had to wait until now"), (25, "waited for more than a day. I left it unanswered")] {
        let story = channel.begin_story().await;
        story.model.otherwise(|_| away());
        story.say(ADA, &format!("first {}", canary(ADA))).await;
        story.pass(MINUTE).await;
        story.say(ADA, "second").await;
        story.pass(hours * HOUR).await;
        story.model.otherwise(usual);
        story.pass(HOUR).await;
        let heard = story.received_by(ADA).concat();
        assert!(heard.contains(named) && !heard.contains("I was away") && !heard.contains("while I was"), "{heard}");
        story.end().await;
    }
}

/// Proves: models/giving-up
async fn without_credit_for_a_day_it_says_what_it_was(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.model.otherwise(|_| Say::Fail(ModelError::NoCredit));
    story.say(ADA, &format!("hello {}", canary(ADA))).await;
    story.pass(25 * HOUR).await;
    let last = story.last_received_by(ADA);
    assert!(last.contains("has no credit left. I tried for a whole day"), "{last}");
    story.end().await;
}

/// Proves: delivery/interrupted-answer
async fn a_computer_that_sleeps_in_the_middle_of_an_answer_still_gives_it(channel: TestChannel) {
    let story = channel.story_with("[conversation]\njoin_within = \"0s\"").await;
    let gate = Gate::default();
    story.model.then(Say::Hold(gate.clone())).fails(ModelError::Cut).says("the answer");
    story.fake.says(ADA, &format!("hello {}", canary(ADA)));
    gate.reached().await;
    story.clock.set(story.clock.now().plus(HOUR / 2));
    gate.open();
    story.pass(MINUTE).await;
    assert_eq!(story.received_by(ADA), ["the answer"]);
    story.end().await;
}

/// Proves: delivery/interrupted-answer
async fn a_disk_that_is_full_for_a_while_costs_no_answer(channel: TestChannel) {
    let mut story = channel.prepare_story("[conversation]\njoin_within = \"0s\"");
    let full = Arc::new(AtomicBool::new(false));
    let is_full = Arc::clone(&full);
    story.fail_at(Some(Failpoint(Arc::new(move |side, _name| {
        assert!(side != CommitPoint::Before || !is_full.load(Ordering::SeqCst), "full on purpose");
    }))));
    story.start().await;
    let gate = Gate::default();
    story.model.then(Say::Hold(gate.clone())).says("the answer");
    story.fake.says(ADA, &format!("hello {}", canary(ADA)));
    gate.reached().await;
    full.store(true, Ordering::SeqCst);
    gate.open();
    story.clock.advance(2 * HOUR).await;
    full.store(false, Ordering::SeqCst);
    story.pass(MINUTE).await;
    assert_eq!(story.last_received_by(ADA), "ok", "asked again, because its first answer could not be kept");
    story.end().await;
}

/// Proves: operation/crashing-message
async fn an_answer_that_always_panics_is_given_up_and_the_chat_continues(channel: TestChannel) {
    let mut story = channel.begin_story().await;
    story.model.otherwise(|_| panic!("on purpose"));
    story.say(ADA, &format!("hello {}", canary(ADA))).await;
    story.pass(5 * MINUTE).await;
    let heard = story.received_by(ADA).concat();
    assert_eq!(heard.matches("interrupted several times").count(), 1, "{heard}");
    story.model.says("Here I am.");
    story.say(ADA, "and now?").await;
    assert_eq!(story.last_received_by(ADA), "Here I am.");
    story.stop().await;
}

/// Proves: models/giving-up
async fn a_stop_between_two_tries_takes_no_pause_from_the_next_question(channel: TestChannel) {
    let story = channel.story_with("[conversation]\njoin_within = \"0s\"").await;
    let down = || ModelError::Later { after: None, what: "it is down".to_owned() };
    story.model.fails(down());
    story.fake.says(ADA, &format!("hello {}", canary(ADA)));
    story.settle().await;
    assert_eq!(story.model.chats().len(), 1);
    story.fake.says(ADA, "/stop");
    story.settle().await;
    story.model.fails(down()).says("the answer");
    story.fake.says(ADA, "and this?");
    story.settle().await;
    assert_eq!(story.model.chats().len(), 2, "the second try comes after a pause");
    story.pass(MINUTE).await;
    assert_eq!(story.last_received_by(ADA), "the answer");
    story.end().await;
}

/// Promise (models/choice): The choice made with `/model` survives a restart. It ends when the
/// model is no longer configured, and you are told.
async fn the_choice_of_a_model_lasts_until_the_model_is_gone(channel: TestChannel) {
    let mut story = channel.prepare_story("");
    let named = |name: &str| {
        let info = compline::model::ModelInfo {
            provider: "scripted".to_owned(),
            name: name.to_owned(),
            context_window: 100_000,
            max_output: 1_000,
            images: false,
            price: None,
        };
        crate::support::model::Scripted::with_card(story.clock.clone(), info)
    };
    let (second, third) = (named("second"), named("third"));
    story.fall_back_to(second.clone());
    story.start().await;
    story.say(ADA, "/model second").await;
    story.restart().await;
    story.say(ADA, "hello").await;
    assert_eq!((second.asked(), story.model.asked()), (1, 0));
    story.fall_back_to(third.clone());
    story.restart().await;
    story.settle().await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("scripted/second") && told.contains("scripted/scripted is asked first"), "{told}");
    story.say(ADA, "hello again").await;
    assert_eq!((third.asked(), story.model.asked()), (0, 1));
    assert_eq!(story.count("SELECT count(*) FROM meta WHERE key = 'model'"), 0);
    let count = story.received_by(ADA).len();
    story.restart().await;
    story.settle().await;
    assert_eq!(story.received_by(ADA).len(), count, "it is said once");
    story.end().await;
}
