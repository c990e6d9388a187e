//! Buttons of Telegram after the decision: they turn into what was decided and when.

use std::time::Duration;

use serde_json::json;

use crate::support::power::{CrashTest, Cut};
use crate::support::story::{ADA, BEN, EVE, Story, UNTRUSTED, canary};
use crate::support::telegram::Fault;
use compline::store::CommitPoint::{After, Before};

/// Titles of the buttons under the newest message to a person that has any.
fn shown(story: &Story, person: i64) -> Vec<String> {
    let sent = story.fake.sent(person).into_iter().rev().find(|sent| !sent.buttons().is_empty()).unwrap();
    sent.buttons().into_iter().map(|(title, _)| title).collect()
}

/// A question to Ada.
async fn asked(settings: &str) -> Story {
    let mut story =
        Story::prepared(&format!("timezone = \"Europe/Vienna\"\n[tools]\nweb_fetch = true\n{settings}")).await;
    story.people_also(ADA, "zone = \"Asia/Tokyo\"");
    story.start().await;
    ask(&story).await;
    story
}

async fn ask(story: &Story) {
    story.model.calls("web_fetch", json!({ "url": "http://nowhere.example/" }));
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter: open it"));
    story.answered().await;
    assert_eq!(shown(story, ADA), ["Yes", "No"]);
}

/// Promise (delivery/decided): Buttons turn into what was decided and when, in your zone, whether
/// you pressed one, typed the answer, or did neither in time.
#[tokio::test]
async fn buttons_turn_into_the_decision() {
    let story = asked("").await;
    let question = story.fake.sent(ADA).pop().unwrap();
    story.fake.presses(ADA, question.message_id, "/no 1");
    story.answered().await;
    assert_eq!(shown(&story, ADA), ["Not allowed 21:00"]);
    let sent = story.fake.sent(ADA);
    let edited = sent.iter().find(|sent| sent.message_id == question.message_id).unwrap();
    assert_eq!(edited.text, question.text, "the text stays");
    let received = story.received_by(ADA).len();
    story.fake.presses(ADA, question.message_id, &edited.buttons()[0].1);
    story.answered().await;
    assert_eq!(story.received_by(ADA).len(), received, "the button that is left does nothing");

    ask(&story).await;
    story.say(ADA, "/yes 2").await;
    assert_eq!(shown(&story, ADA), ["Allowed 21:00"]);

    ask(&story).await;
    story.pass(Duration::from_secs(601)).await;
    assert_eq!(shown(&story, ADA), ["Expired 21:10"]);
    story.end().await;
}

/// Proves: delivery/decided
#[tokio::test]
async fn the_decision_of_one_owner_is_shown_to_the_others() {
    let mut story = Story::prepared("").await;
    story.people_are(&[("Ada", "owner", ADA), ("Ben", "owner", BEN)]);
    story.start().await;
    story.say(BEN, "hello").await;
    story.say(ADA, "hello").await;
    story.say(ADA, "/pair Eve").await;
    let code = story.last_received_by(ADA).split("/start ").nth(1).unwrap()[..9].to_owned();
    story.say(EVE, &format!("/start {code}")).await;
    assert_eq!((shown(&story, ADA), shown(&story, BEN)), (vec!["Undo".to_owned()], vec!["Undo".to_owned()]));
    let notice = story.fake.sent(BEN).pop().unwrap();
    story.fake.presses(BEN, notice.message_id, &notice.buttons()[0].1);
    story.answered().await;
    assert_eq!(
        (shown(&story, ADA), shown(&story, BEN)),
        (vec!["✓ Undo 12:00".to_owned()], vec!["✓ Undo 12:00".to_owned()])
    );
    story.end().await;
}

/// Proves: delivery/decided
#[tokio::test]
async fn a_memory_shows_whether_it_was_kept_and_a_plan_that_it_was_carried_out() {
    let story = Story::begin().await;
    let note = json!({ "title": "Tea", "content": "Warm the pot.", "kind": "preference" });
    story.model.calls("remember", note).says("Noted.");
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter"));
    story.answered().await;
    assert_eq!(shown(&story, ADA), ["Keep it", "Leave it"]);
    story.say(ADA, "/yes 1").await;
    assert_eq!(shown(&story, ADA), ["Kept 12:00"]);

    story.writes("memory/boiler.md", "# Boiler\n\nRepaired in May.\n");
    story.say(ADA, "/forget boiler").await;
    let plan = story.fake.sent(ADA).pop().unwrap();
    story.say(ADA, &plan.buttons()[0].1).await;
    assert_eq!(shown(&story, ADA), ["✓ Delete all of this 12:00"]);
    story.end().await;
}

/// Promise (delivery/decided-later): A power cut does not keep buttons from turning into the
/// decision, and where Telegram does not let them, your other messages come all the same.
#[tokio::test]
async fn a_refused_edit_is_retried_and_given_up() {
    let story = asked("").await;
    story.fake.fault("editMessageReplyMarkup", Fault::ServerError, 2);
    story.say(ADA, "/no 1").await;
    assert_eq!(
        (story.last_received_by(ADA).as_str(), shown(&story, ADA)),
        ("ok", vec!["Yes".to_owned(), "No".to_owned()])
    );
    story.pass(Duration::from_secs(700)).await;
    assert_eq!(shown(&story, ADA), ["Not allowed 21:00"]);

    ask(&story).await;
    story.fake.fault("editMessageReplyMarkup", Fault::ServerError, 100);
    story.say(ADA, "/no 2").await;
    story.pass(Duration::from_secs(3600)).await;
    assert_eq!(story.count("SELECT count(*) FROM outbox WHERE replacements_left > 0"), 0);
    story.model.says("Here I am.");
    story.say(ADA, "hello").await;
    assert_eq!(story.last_received_by(ADA), "Here I am.");
    story.end().await;
}

/// Proves: delivery/decided-later
#[test]
fn killed_around_the_edit_it_is_done_after_the_start() {
    for side in [Before, After] {
        let mut crash_test = CrashTest::prepared("[tools]\nweb_fetch = true");
        crash_test.story.model.calls("web_fetch", json!({ "url": "http://nowhere.example/" }));
        assert!(!crash_test.start(Some(Cut::at(side, "replace buttons"))));
        crash_test.story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter {}", canary(ADA)));
        assert!(!crash_test.pass(Duration::from_secs(5)));
        crash_test.story.fake.says(ADA, "/no 1");
        assert!(crash_test.pass(Duration::from_secs(5)), "{side:?}: the power did not go");
        crash_test.revive();
        assert!(!crash_test.pass(Duration::from_secs(5)));
        assert_eq!(crash_test.story.count("SELECT count(*) FROM outbox WHERE replacements_left > 0"), 0);
        let shown = shown(&crash_test.story, ADA);
        assert!(shown.len() == 1 && shown[0].starts_with("Not allowed 12:00"), "{side:?}: {shown:?}");
        crash_test.end();
    }
}

/// Proves: time/later
#[tokio::test]
async fn a_reminder_has_buttons_for_done_and_for_an_hour_later() {
    let story = Story::begin().await;
    story.model.calls("remind", json!({ "when": "in 20 minutes", "text": "the oven" })).says("Noted.");
    story.say(ADA, "please").await;
    story.pass(Duration::from_secs(1_200)).await;
    let reminder = story.fake.sent(ADA).pop().unwrap();
    assert_eq!(shown(&story, ADA), ["Done", "+1 h"]);
    let (_, later) = reminder.buttons().pop().unwrap();
    story.fake.presses(ADA, reminder.message_id, &later);
    story.fake.presses(ADA, reminder.message_id, &later);
    story.answered().await;
    assert_eq!(shown(&story, ADA), ["✓ +1 h 12:20"]);
    story.pass(Duration::from_secs(3_600)).await;
    let again = story.fake.sent(ADA).pop().unwrap();
    assert_eq!(
        (again.text.as_str(), shown(&story, ADA)),
        ("Reminder: the oven", vec!["Done".to_owned(), "+1 h".to_owned()])
    );
    story.fake.presses(ADA, again.message_id, &again.buttons()[0].1);
    story.answered().await;
    assert_eq!(shown(&story, ADA), ["✓ Done 13:20"]);
    story.pass(Duration::from_secs(86_400)).await;
    assert_eq!(story.count("SELECT count(*) FROM reminders WHERE state = 'waiting'"), 0);
    assert_eq!(story.count("SELECT count(*) FROM reminders"), 2, "pressed twice, it was set once");
    story.end().await;
}

/// Proves: people/no-english
#[tokio::test]
async fn buttons_and_decisions_are_in_the_language_of_their_person() {
    let story = Story::begin().await;
    story.say(ADA, "/settings language de").await;
    story.model.calls("remind", json!({ "when": "in 20 minutes", "text": "der Ofen" })).says("Notiert.");
    story.say(ADA, "bitte").await;
    story.pass(Duration::from_secs(1_200)).await;
    let reminder = story.fake.sent(ADA).pop().unwrap();
    assert_eq!(
        (reminder.text.as_str(), shown(&story, ADA)),
        ("Erinnerung: der Ofen", vec!["Erledigt".to_owned(), "+1 Std.".to_owned()])
    );
    story.fake.presses(ADA, reminder.message_id, &reminder.buttons()[0].1);
    story.answered().await;
    assert_eq!(shown(&story, ADA), ["✓ Erledigt 12:20"]);
    let note = json!({ "title": "Tee", "content": "Die Kanne wärmen.", "kind": "preference" });
    story.model.calls("remember", note).says("Notiert.");
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter"));
    story.answered().await;
    assert_eq!(shown(&story, ADA), ["Merken", "Lassen"]);
    story.say(ADA, "/no 1").await;
    assert_eq!(shown(&story, ADA), ["Nicht gemerkt 12:20"]);
    story.say(ADA, "/settings language es").await;
    assert_eq!(
        story.text("SELECT group_concat(decision, ' ') FROM outbox WHERE decision <> ''"),
        "✓ Erledigt decision-not-kept"
    );
    story.end().await;
}

/// Proves: people/strangers
#[tokio::test]
async fn a_stranger_is_let_in_or_ignored_by_button() {
    let story = Story::begin().await;
    story.say(ADA, "hello").await;
    story.say(EVE, "hello").await;
    let notice = story.fake.sent(ADA).pop().unwrap();
    assert_eq!(shown(&story, ADA), ["Let in", "Ignore"]);
    story.fake.presses(ADA, notice.message_id, &notice.buttons()[0].1);
    story.answered().await;
    assert!(story.last_received_by(ADA).contains("What shall I call"), "{}", story.last_received_by(ADA));
    assert_eq!(shown(&story, ADA), ["Let in", "Ignore"], "nothing is decided yet");
    story.say(ADA, "/people admit 1 Eve").await;
    assert_eq!(shown(&story, ADA), ["Let in 12:00"]);
    story.fake.presses(ADA, notice.message_id, &notice.buttons()[1].1);
    story.answered().await;
    assert!(story.last_received_by(ADA).contains("No stranger"), "{}", story.last_received_by(ADA));
    story.end().await;
}

/// Promise (delivery/one-sound): A long answer makes one sound: its second and further parts come
/// silently.
#[tokio::test]
async fn the_parts_of_a_long_answer_make_one_sound() {
    let story = Story::begin().await;
    story.model.says(&"A sentence that is repeated. ".repeat(500));
    story.say(ADA, "tell me a lot").await;
    let silent: Vec<bool> = story.fake.sent(ADA).iter().map(|sent| sent.silent).collect();
    assert!(silent.len() > 2 && !silent[0] && silent[1..].iter().all(|silent| *silent), "{silent:?}");
    story.end().await;
}
