//! Strangers: what they hear, what owners are told of them, and how they are let in or ignored.

use std::time::Duration;

use crate::support::channel::Channel;
use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::story::{ADA, BEN, EVE, canary};

on_every_channel! {
    stories:
        owners_are_told_of_a_stranger_once_and_no_prompt_holds_the_name,
        a_stranger_is_let_in_by_id_and_becomes_nobody_known,
        an_ignored_stranger_is_nameless_and_no_news,
        the_name_of_a_stranger_is_deleted_after_a_week,
        who_is_in_is_no_stranger_nor_is_a_group,
        many_strangers_are_a_few_notices_a_day;
}

const DAY: Duration = Duration::from_secs(24 * 3600);
const DORA: i64 = 1004;
const FAMILY: i64 = -100_200;
/// Name that Eve gives herself: hidden characters, markup, a line of its own.
const GIVEN: &str = "Eve\u{202e}\n/approve 1 **Ada**";
const SHOWN: &str = "/approve 1";

/// Ada has written, and Eve, under that name, once.
async fn knocked(channel: TestChannel) -> Story {
    let story = channel.begin_story().await;
    story.say(ADA, "hello").await;
    story.fake.person(EVE, GIVEN, None);
    story.say(EVE, &format!("let me in {}", canary(EVE))).await;
    story
}

fn notices(story: &Story, person: i64) -> Vec<String> {
    let received = story.received_by(person);
    received.into_iter().filter(|text| text.contains("wrote to me and has no access")).collect()
}

/// Bytes of the journal and its log.
fn journal_holds(story: &Story, words: &str) -> bool {
    story.count(&format!(
        "SELECT (SELECT count(*) FROM strangers WHERE instr(name, '{words}')) +
         (SELECT count(*) FROM outbox WHERE instr(text, '{words}')) +
         (SELECT count(*) FROM parts WHERE instr(rich, '{words}') OR instr(plain, '{words}')) +
         (SELECT count(*) FROM texts WHERE instr(text, '{words}'))"
    )) > 0
}

/// Promise (people/strangers): An owner is told once of someone who writes without access, by the
/// name that the channel tells and by their id; no assistant reads that name.
async fn owners_are_told_of_a_stranger_once_and_no_prompt_holds_the_name(channel: TestChannel) {
    let story = knocked(channel).await;
    let told = notices(&story, ADA);
    assert!(told.len() == 1 && told[0].contains(&story.fake.peer(EVE)) && told[0].contains(SHOWN), "{told:?}");
    let (first, commands) = told[0].split_once('\n').unwrap_or((&told[0], ""));
    assert!(!first.contains('\u{202e}') && first.ends_with("the number counts."), "{told:?}");
    let is_said = commands.contains("Let in: /people admit 1 NAME\n") && commands.contains("Ignore: /people ignore 1");
    match channel {
        TestChannel::Telegram => assert_eq!(commands, "", "there are buttons"),
        TestChannel::Signal => assert!(is_said && commands.trim().lines().count() == 2, "{told:?}"),
    }
    let label = "SELECT label FROM outbox WHERE text LIKE '%has no access%'";
    assert_eq!(story.text(label), "stranger:1", "the name counts as untrusted");
    story.say(EVE, "hello?").await;
    assert_eq!((notices(&story, ADA).len(), notices(&story, BEN).len()), (1, 0));
    story.say(ADA, "what did you tell me?").await;
    assert!(story.model.requests().iter().all(|request| !format!("{request:?}").contains(SHOWN)));
    story.say(ADA, "/people").await;
    let list = story.last_received_by(ADA);
    assert!(list.contains(SHOWN) && list.contains("/people admit 1 NAME") && list.contains("2 times"), "{list}");
    let list = story.command_line(&["people", "list"]).await.markdown;
    assert!(list.contains("compline people ignore 1"), "{list}");
    story.end().await;
}

/// Promise (people/let-in): A stranger who is let in becomes a new person under the name that you
/// give, bound to the id from which they wrote, and never one that you know already.
async fn a_stranger_is_let_in_by_id_and_becomes_nobody_known(channel: TestChannel) {
    let story = knocked(channel).await;
    story.say(ADA, "/people admit 1").await;
    assert!(story.last_received_by(ADA).contains("/people admit 1 NAME"), "{}", story.last_received_by(ADA));
    for taken in ["Ben", "ada", "owner", "../x"] {
        story.say(ADA, &format!("/people admit 1 {taken}")).await;
        assert_eq!(story.count("SELECT count(*) FROM people"), 2, "{taken}: {}", story.last_received_by(ADA));
    }
    story.say(BEN, "/people admit 1 Eve").await;
    assert!(story.last_received_by(BEN).contains("owner"), "{}", story.last_received_by(BEN));
    story.say(ADA, "/people admit 1 Carla").await;
    assert!(story.last_received_by(ADA).contains("Carla now has access as member"), "{}", story.last_received_by(ADA));
    assert!(story.last_received_by(EVE).starts_with("Welcome, Carla."), "{}", story.last_received_by(EVE));
    story.say(EVE, "thank you").await;
    assert_eq!(story.last_received_by(EVE), "ok");
    story.say(ADA, "/people").await;
    assert!(!story.last_received_by(ADA).contains("Without access"), "{}", story.last_received_by(ADA));
    assert!(!journal_holds(&story, SHOWN), "the name is deleted");
    story.say(ADA, "/people admit 1 Dora").await;
    assert!(story.last_received_by(ADA).contains("No stranger has the number 1"), "{}", story.last_received_by(ADA));
    assert_eq!(story.count("SELECT count(*) FROM people"), 3);
    story.end().await;
}

/// Promise (people/stranger-names): The name that a stranger gives is deleted when you let them in
/// or ignore them, or a week after they last wrote.
async fn an_ignored_stranger_is_nameless_and_no_news(channel: TestChannel) {
    let story = knocked(channel).await;
    assert!(journal_holds(&story, SHOWN));
    story.say(ADA, "/people ignore 1").await;
    assert!(!journal_holds(&story, SHOWN));
    story.say(EVE, "hello?").await;
    story.say(ADA, "/people").await;
    assert!(!story.last_received_by(ADA).contains("Without access"), "{}", story.last_received_by(ADA));
    assert!(!journal_holds(&story, SHOWN), "nor is it stored again");
    assert_eq!(notices(&story, ADA).len(), 1);
    story.end().await;
}

/// Proves: people/stranger-names
async fn the_name_of_a_stranger_is_deleted_after_a_week(channel: TestChannel) {
    let story = knocked(channel).await;
    story.say(ADA, "/people").await;
    story.pass(6 * DAY).await;
    assert!(journal_holds(&story, SHOWN));
    story.pass(3 * DAY).await;
    assert!(!journal_holds(&story, SHOWN), "also in the list that was shown");
    story.say(ADA, "/people").await;
    assert!(story.last_received_by(ADA).contains(&story.fake.peer(EVE)), "{}", story.last_received_by(ADA));
    story.end().await;
}

/// Proves: people/strangers
async fn who_is_in_is_no_stranger_nor_is_a_group(channel: TestChannel) {
    let story = knocked(channel).await;
    story.fake.person(DORA, "Dora", None);
    story.say(DORA, "hello").await;
    story.say(ADA, "/pair Dora").await;
    let code = story.last_received_by(ADA).split("/start ").nth(1).unwrap()[..9].to_owned();
    story.say(DORA, &code).await;
    story.fake.meet_group(FAMILY);
    story.fake.asks_in(FAMILY, ADA, "hello all");
    story.answered().await;
    assert!(story.received_by(ADA).iter().any(|text| text.contains("may not answer")), "it was a group not allowed");
    story.say(ADA, "/people").await;
    let list = story.last_received_by(ADA);
    let without = list.split("Without access").nth(1).unwrap();
    assert!(without.contains(&story.fake.peer(EVE)) && without.matches("/people admit").count() == 1, "{list}");
    story.end().await;
}

/// Proves: people/strangers
async fn many_strangers_are_a_few_notices_a_day(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, "hello").await;
    for person in 2_000..2_020 {
        story.fake.person(person, "Nobody", None);
        story.fake.person_says(person, "hello");
    }
    story.answered().await;
    assert_eq!(notices(&story, ADA).len(), 5);
    story.end().await;
}
