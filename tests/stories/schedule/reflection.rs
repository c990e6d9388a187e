//! Reflection: its sources, its results, the actions that follow, and the data it never uses.
//!
//! The tests claim the slots by hand, so that each names its period; the schedule's own claims are
//! tested elsewhere.

use std::time::Duration;

use compline::id::{PersonId, SlotId};
use compline::model::{ModelError, Purpose, Request};
use compline::reflection::SlotProgress;
use compline::store::{NewSlot, SlotRow, SlotState};
use compline::time::{Clock, Period, Span, Zone};
use compline::trust::Scope;
use serde_json::{Value, json};

use crate::skill_gate::shown_hash;
use crate::support::model::words;
use crate::support::story::{ADA, BEN, EVE, Story, UNTRUSTED, canary, every_untrusted_part_is_labelled, skill};

#[path = "reflection/actions.rs"]
mod actions;
#[path = "reflection/crash.rs"]
mod crash;
#[path = "reflection/labels.rs"]
mod labels;
#[path = "reflection/material.rs"]
mod material;
#[path = "reflection/memories.rs"]
mod memories;
#[path = "reflection/travel.rs"]
mod travel;

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);
/// First day of every story, its week and its month.
const TODAY: &str = "2026-11-20";
const WEEK: &str = "2026-W47";
const MONTH: &str = "2026-11";

/// Gateway that reflects only when the test claims a slot.
async fn story(settings: &str) -> Story {
    Story::with(&settings_with(settings)).await
}

fn settings_with(more: &str) -> String {
    format!("[reflection]\nenabled = false\nmin_messages = 1\n{more}")
}

/// Claims Ada's slot for a period.
async fn claim(story: &Story, period: &str) -> SlotId {
    claim_for(story, 1, period).await
}

async fn claim_for(story: &Story, person: i64, period: &str) -> SlotId {
    let job = match period.len() {
        10 => ("daily", Span::Day),
        8 => ("weekly", Span::Week),
        _ => ("monthly", Span::Month),
    };
    let named = Period::named(job.1, period).unwrap();
    let (from, to, at) = (named.begins(Zone::UTC), named.ends(Zone::UTC), story.clock.now());
    let period = period.to_owned();
    let claimed = story.app().journal.write("claim a slot", move |tx| {
        tx.slots().claim_slot(&NewSlot {
            job: job.0,
            scope: Scope::Person(PersonId(person)),
            period: &period,
            from,
            to,
            due_at: to,
            state: SlotState::Claimed,
            reason: "",
            again: true,
            at,
        })
    });
    claimed.await.unwrap().expect("it is not claimed twice")
}

async fn slot(story: &Story, id: SlotId) -> SlotRow {
    story.app().journal.read(move |db| db.slots().slot(id)).await.unwrap().unwrap()
}

/// Works on a slot until it is over, and on the actions that follow.
async fn carry_out(story: &Story, id: SlotId) -> SlotRow {
    for _ in 0..20 {
        let row = slot(story, id).await;
        match story.app().schedule.reflector().take_up(&row).await.unwrap() {
            SlotProgress::Over => break,
            SlotProgress::Working => story.answered().await,
            SlotProgress::At(at) => story.pass(at.since(story.clock.now())).await,
        }
    }
    story.app().schedule.reflector().act().await.unwrap();
    story.answered().await;
    story.app().schedule.reflector().report().await.unwrap();
    story.answered().await;
    slot(story, id).await
}

/// Reflects on one of Ada's periods.
async fn look_back(story: &Story, period: &str) -> SlotRow {
    let id = claim(story, period).await;
    carry_out(story, id).await
}

/// Valid answer with the given actions.
fn answer(title: &str, actions: &Value) -> String {
    let seen = format!("{title} was seen.");
    json!({ "title": title, "observations": [seen], "patterns": ["It comes back."], "tell": ["Your train goes at 8."],
        "proposed_actions": actions })
    .to_string()
}

/// Action that creates a skill.
fn create(name: &str, body: &str) -> Value {
    let content = skill(name, "Use when it is needed.", body);
    json!({ "kind": "create_skill", "title": format!("Create {name}"), "why": "It was asked for twice.", "skill": name,
        "files": [{ "path": "SKILL.md", "content": content }] })
}

fn asked(story: &Story) -> Vec<Request> {
    story.background.requests().into_iter().filter(|request| request.purpose() == Purpose::Reflection).collect()
}

/// Newest prompt of a reflection.
fn prompt(story: &Story) -> String {
    asked(story).last().map(words).unwrap_or_default()
}

/// Prompt after the example in the instructions.
fn shown(story: &Story) -> String {
    prompt(story).split("in numbers").nth(1).unwrap_or_default().to_owned()
}

fn actions_by_state(story: &Story) -> String {
    story.text(
        "SELECT coalesce(group_concat(state || ' ' || n, ', '), '')
         FROM (SELECT state, count(*) AS n FROM actions GROUP BY state ORDER BY state)",
    )
}

/// Promise (reflection/quiet-day): A day with few messages costs no model call, and its messages
/// still count for the week. A month without a message makes no model call.
#[tokio::test]
async fn a_quiet_period_makes_no_model_call() {
    let story = Story::with("[reflection]\nenabled = false\nmin_messages = 3\n").await;
    story.say(ADA, "hello").await;
    let before = story.background.asked();
    for period in [TODAY, "2026-11-19", WEEK, MONTH] {
        let slot = look_back(&story, period).await;
        assert_eq!((slot.state, slot.conversation), (SlotState::Quiet, None), "{period}");
    }
    assert_eq!(story.background.asked(), before);
    assert_eq!(story.count("SELECT count(*) FROM reflections"), 0);
    assert_eq!(story.received_by(ADA).len(), 1, "nobody is told of nothing");
    story.end().await;
}

#[tokio::test]
async fn a_daily_reflection_is_stored_searchable_and_announced_once() {
    let story = story("tell_owner = true\n").await;
    story.say(ADA, &format!("book the vet for the heron {}", canary(ADA))).await;
    story.background.says(&answer("Vet and heron", &json!([])));
    let slot = look_back(&story, TODAY).await;
    assert_eq!((slot.state, slot.tries), (SlotState::Done, 1));
    let shown = shown(&story);
    assert!(shown.contains("Person: book the vet for the heron") && shown.contains("Assistant: ok"), "{shown}");
    assert!(shown.contains("messages of the person: 1, in 1 conversations"), "{shown}");
    assert!(asked(&story).iter().all(|request| request.label().is_trusted()));
    assert!(asked(&story)[0].tools().iter().all(|tool| tool.name != "submit_skill"));
    let told: Vec<_> = story.received_by(ADA).into_iter().filter(|heard| heard.contains("Vet and heron")).collect();
    assert!(told.len() == 1 && told[0].contains("Your train goes at 8.") && !told[0].contains('{'), "{told:?}");
    assert_eq!(
        story.count("SELECT count(*) FROM conversations WHERE kind = 'reflection' AND closed_at IS NOT NULL"),
        1
    );
    story
        .model
        .calls("memory_search", json!({ "in": "conversations", "query": "Vet and heron was seen" }))
        .says("found");
    story.say(ADA, "what did you learn?").await;
    assert!(story.model.last_prompt().contains("Vet and heron was seen."), "{}", story.model.last_prompt());
    story.end().await;
}

/// Proves: reflection/sources
#[tokio::test]
async fn only_the_words_of_that_day_are_looked_at_whenever_their_conversation_began() {
    let story = story("").await;
    story.pass(11 * HOUR + HOUR / 2).await;
    story.say(ADA, "the evening of the first day").await;
    for _ in 0..50 {
        story.pass(HOUR / 60).await;
        story.say(ADA, "the night of the second day").await;
    }
    assert_eq!(story.count("SELECT count(*) FROM conversations"), 1);
    look_back(&story, TODAY).await;
    let first = shown(&story);
    look_back(&story, "2026-11-21").await;
    let second = shown(&story);
    let count = |text: &str| (text.matches("the evening of").count(), text.matches("the night of").count());
    let ((evening, some), (none, others)) = (count(&first), count(&second));
    assert_eq!((evening, none, some + others), (1, 0, 50), "each message is in exactly one day");
    assert!(others > 15, "{others}");
    story.end().await;
}

/// Proves: reflection/quiet-day
#[tokio::test]
async fn a_week_reads_its_own_days_and_what_quiet_days_left() {
    let story = Story::with("[reflection]\nenabled = false\nmin_messages = 2\n").await;
    story.say(ADA, "about herons").await;
    story.say(ADA, "more herons").await;
    story.pass(DAY).await;
    story.say(ADA, "only one word on ravens").await;
    story.pass(2 * DAY).await;
    story.say(ADA, "next week's swans").await;
    story.say(ADA, "more swans").await;
    for (period, title) in [(TODAY, "Herons"), ("2026-11-23", "Swans")] {
        story.background.says(&answer(title, &json!([])));
        assert_eq!(look_back(&story, period).await.state, SlotState::Done);
    }
    assert_eq!(look_back(&story, "2026-11-21").await.state, SlotState::Quiet);
    story.background.says(&answer("A week", &json!([])));
    look_back(&story, WEEK).await;
    let week = shown(&story);
    assert!(week.contains("<reflection period=\"2026-11-20\">") && week.contains("Herons was seen."), "{week}");
    assert!(week.contains("only one word on ravens") && !week.contains("more herons"), "{week}");
    assert!(!week.contains("Swans") && !week.contains("swans"), "{week}");
    story.write_skill("bird-lists", "Use for birds.", "A table.");
    look_back(&story, MONTH).await;
    let month = shown(&story);
    assert!(month.contains("A week was seen.") && !month.contains("Herons was seen."), "{month}");
    assert!(
        month.contains("Swans was seen."),
        "the days of a week without a reflection are looked at themselves: {month}"
    );
    assert!(!month.contains("ravens"), "the week has looked at it: {month}");
    assert!(month.contains("- bird-lists: Use for birds. (read 0 times)"), "{month}");
    story.end().await;
}

/// Promise (reflection/unusable): If the model returns an unusable reflection, it is asked at most
/// three times in all, and no such answer is kept as a reflection.
#[tokio::test]
async fn an_answer_that_is_none_is_asked_for_three_times_and_never_kept() {
    let story = story("").await;
    story.say(ADA, "hello").await;
    for bad in ["I could not do that.", "{\"title\": \"x\"}", "Sure! {}"] {
        story.background.says(bad);
    }
    let slot = look_back(&story, TODAY).await;
    assert_eq!((slot.state, slot.tries), (SlotState::Failed, 3));
    assert_eq!(asked(&story).len(), 3);
    assert!(words(&asked(&story)[2]).contains("was not the JSON object"), "{}", words(&asked(&story)[2]));
    assert_eq!(story.clock.now().since(slot.claimed_at).as_secs() / 60, 65, "with pauses of five minutes and an hour");
    assert_eq!(story.count("SELECT count(*) FROM reflections"), 0);
    let told: Vec<_> = story
        .received_by(ADA)
        .into_iter()
        .filter(|heard| heard.contains("Looking back on Friday, 20 November for Ada failed."))
        .collect();
    assert_eq!(told.len(), 1, "{:?}", story.received_by(ADA));
    story.background.says(&answer("A week", &json!([])));
    look_back(&story, WEEK).await;
    let week = shown(&story);
    assert!(!week.contains("I could not do that") && week.contains("Person: hello"), "{week}");
    story.end().await;
}

#[tokio::test]
async fn a_second_answer_is_as_good_as_a_first() {
    let story = story("").await;
    story.say(ADA, "hello").await;
    story.background.says("Let me think.").says(&answer("A day", &json!([])));
    let slot = look_back(&story, TODAY).await;
    assert_eq!((slot.state, slot.tries), (SlotState::Done, 2));
    assert_eq!(story.count("SELECT count(*) FROM reflections"), 1);
    story.end().await;
}

/// Proves: reflection/unusable
#[tokio::test]
async fn a_run_without_an_answer_is_tried_again_and_given_up_with_a_plain_reason() {
    let story = story("").await;
    story.say(ADA, "hello").await;
    for _ in 0..3 {
        story.background.fails(ModelError::Refused);
    }
    let slot = look_back(&story, TODAY).await;
    assert_eq!((slot.state, slot.reason.as_str()), (SlotState::Failed, "No answer came: the model gave no answer."));
    assert!(words(&asked(&story)[1]).contains("You gave no answer the first time"), "{}", words(&asked(&story)[1]));
    assert!(
        story.last_received_by(ADA).contains("Friday, 20 November for Ada failed."),
        "{}",
        story.last_received_by(ADA)
    );
    story.end().await;
}

#[tokio::test]
async fn failures_are_counted_for_the_reflection() {
    let story = story("").await;
    story.model.fails(ModelError::Refused);
    story.say(ADA, "hello").await;
    story.model.calls("load_skill", json!({ "name": "nothing" })).says("there is none");
    story.say(ADA, "load it").await;
    look_back(&story, TODAY).await;
    let shown = shown(&story);
    for line in [
        "messages of the person: 2, in 1 conversations",
        "tool load_skill: 1 calls, 1 of them failed",
        "answers that never came (no_answer): 1",
        "model calls: 3, 1 of them without an answer",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    look_back(&story, WEEK).await;
    assert!(!prompt(&story).contains("scheduled runs"), "looking back is no activity: {}", prompt(&story));
    story.end().await;
}

#[tokio::test]
async fn a_slot_that_is_taken_up_twice_at_once_is_worked_on_once() {
    let story = story("tell_owner = true\n").await;
    story.say(ADA, "hello").await;
    let id = claim(&story, TODAY).await;
    let row = slot(&story, id).await;
    let reflector = story.app().schedule.reflector();
    let (one, two) = tokio::join!(reflector.take_up(&row), reflector.take_up(&row));
    assert_eq!((one.unwrap(), two.unwrap()), (SlotProgress::Working, SlotProgress::Working));
    story.answered().await;
    let row = slot(&story, id).await;
    let (one, two) = tokio::join!(reflector.take_up(&row), reflector.take_up(&row));
    assert_eq!((one.unwrap(), two.unwrap()), (SlotProgress::Over, SlotProgress::Over));
    assert_eq!((asked(&story).len(), story.count("SELECT count(*) FROM reflections")), (1, 1));
    let (one, two) = tokio::join!(reflector.report(), reflector.report());
    one.and(two).unwrap();
    assert_eq!(story.count("SELECT count(*) FROM messages m JOIN texts t ON t.message_id = m.id WHERE m.kind = 'sent' AND t.text LIKE '%Looking back on %'"), 1);
    story.end().await;
}

#[tokio::test]
async fn an_oversized_day_is_cut_and_the_cut_is_named() {
    let story = story("").await;
    for number in 0..60 {
        story.say(ADA, &format!("number {number} {}", "word ".repeat(400))).await;
    }
    look_back(&story, TODAY).await;
    let shown = shown(&story);
    assert!(shown.contains("lines of it are left out here"), "{}", &shown[..400]);
    assert!(shown.contains("number 59 ") && !shown.contains("number 3 "), "what was said last is kept");
    assert!(asked(&story)[0].estimate_tokens() < 40_000, "{}", asked(&story)[0].estimate_tokens());
    story.end().await;
}

/// Proves: reflection/proposals
#[tokio::test]
async fn a_member_is_looked_back_for_alone_and_nothing_is_proposed_from_it() {
    let story = story("").await;
    story.say(ADA, &format!("mine {}", canary(ADA))).await;
    story.say(BEN, &format!("his {}", canary(BEN))).await;
    story.background.says(&answer("Ben's day", &json!([create("tea", "Warm the pot.")])));
    let id = claim_for(&story, 2, TODAY).await;
    assert_eq!(carry_out(&story, id).await.state, SlotState::Done);
    assert!(prompt(&story).contains(&canary(BEN)) && !prompt(&story).contains(&canary(ADA)));
    assert_eq!(actions_by_state(&story), "suggested 1");
    assert_eq!(story.count("SELECT count(*) FROM proposals"), 0);
    assert!(
        !story.received_by(ADA).concat().contains("Ben's day")
            && !story.received_by(BEN).concat().contains("Ben's day")
    );
    story.end().await;
}

#[tokio::test]
async fn the_offline_model_looks_back_in_the_right_form() {
    let mut story = Story::prepared(&settings_with("")).await;
    story.without_a_key();
    story.start().await;
    story.say(ADA, "I prefer tea over coffee. Let's book the vet.").await;
    assert_eq!(look_back(&story, TODAY).await.state, SlotState::Done);
    assert_eq!(actions_by_state(&story), "kept 1");
    let told = story.last_received_by(ADA);
    assert!(told.contains("I remember from now on: I prefer tea over coffee."), "{told}");
    assert_eq!(look_back(&story, WEEK).await.state, SlotState::Done);
    story.stop_here().await;
}
