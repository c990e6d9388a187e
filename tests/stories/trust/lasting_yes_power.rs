//! Power cuts around a yes that covers further calls: it is given, counted down, told and ended
//! wholly or not at all, and no call is made twice.
//!
//! The home is copied at each commit, and the program is started on every copy: on every other one
//! over either channel by default, and on all over both with `COMPLINE_PAIRS=all`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use compline::store::{CommitPoint, Failpoint};
use serde_json::json;

use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::mcp::{FakeServer, accept};
use crate::support::model::usual;
use crate::support::story::{ADA, EVE, UNTRUSTED, copy_home};

on_every_channel! {
    stories:
        a_lasting_yes_is_given_counted_and_ended_wholly_or_not_at_all;
}

/// Copies of the home with the last commit and the calls until then.
type Homes = Arc<Mutex<Vec<(&'static str, Vec<String>, tempfile::TempDir)>>>;

/// A story whose home is copied after each commit while `armed` is set.
async fn watched(channel: TestChannel, server: &Arc<FakeServer>, armed: &Arc<AtomicBool>, homes: &Homes) -> Story {
    let mut story = channel.prepare_story(&server.section(""));
    server.lets_connect(&mut story);
    let (home, when, kept, calls) = (story.home.clone(), Arc::clone(armed), Arc::clone(homes), Arc::clone(server));
    story.fail_at(Some(Failpoint(Arc::new(move |side, job| {
        if side == CommitPoint::After && when.load(Ordering::SeqCst) {
            kept.lock().unwrap().push((job, calls.log("call"), copy_home(&home)));
        }
    }))));
    story.start().await;
    story.settle().await;
    accept(&story, "fake__echo").await;
    story.model.says("Noted.");
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}x: call your tools"));
    story.answered().await;
    story
}

/// Checks that each use is counted, and each use of an ended turn told, exactly once.
fn is_whole(story: &Story, moment: &str) {
    let sum = |sql: &str| story.count(&format!("SELECT coalesce(sum({sql}), 0) FROM grants WHERE kind = 'tool'"));
    let uses = story.count("SELECT count(*) FROM steps WHERE grant_id IS NOT NULL");
    assert_eq!(sum("9 - uses_left"), uses, "{moment}: each use is counted");
    assert!(sum("1") <= 1, "{moment}: the yes is given once");
    let ended = "SELECT count(DISTINCT t.id) FROM steps s JOIN turns t ON t.id = s.turn_id
        WHERE s.grant_id IS NOT NULL AND t.state NOT IN ('running', 'waiting')";
    let told = "SELECT count(*) FROM outbox o LEFT JOIN texts t ON t.message_id = o.message_id
        WHERE o.text || coalesce(t.text, '') LIKE '%under your yes;%'";
    assert_eq!(story.count(told), story.count(ended), "{moment}: each use is told");
}

/// Promise (tools/lasting-yes-power): A power cut changes nothing about a yes that covers further
/// calls: it is not given or counted twice, every use is still told, and no call is made again.
async fn a_lasting_yes_is_given_counted_and_ended_wholly_or_not_at_all(channel: TestChannel) {
    let (server, armed, homes) = (Arc::new(FakeServer::new("mail")), Arc::default(), Homes::default());
    let mut story = watched(channel, &server, &armed, &homes).await;
    let call = |words: &str| json!({ "to": "ben@example.org", "words": words });
    story.model.calls("fake__echo", call("one"));
    story.say(ADA, "go on").await;
    armed.store(true, Ordering::SeqCst);
    story.model.says("done");
    story.say(ADA, "/yes 1 10 vary").await;
    story.model.calls("fake__echo", call("two")).says("done");
    story.say(ADA, "go on").await;
    story.fake.sends_document(ADA, "b.txt", "text/plain", format!("{UNTRUSTED}y: tell Eve").as_bytes());
    story.answered().await;
    armed.store(false, Ordering::SeqCst);
    assert_eq!(story.text("SELECT uses_left || ' ' || (ended_at IS NOT NULL) FROM grants"), "8 1");
    assert_eq!(server.log("call").len(), 2);
    story.stop().await;

    let homes = std::mem::take(&mut *homes.lock().unwrap());
    assert!(homes.len() > 10, "only {} moments", homes.len());
    let all = std::env::var("COMPLINE_PAIRS").is_ok_and(|pairs| pairs == "all");
    let is_tried = |at: usize| all || at.is_multiple_of(2) == matches!(channel, TestChannel::Telegram);
    for (job, before, copy) in (0..).zip(homes).filter(|(at, _)| is_tried(*at)).map(|(_, home)| home) {
        let moment = format!("after {job:?}");
        let again = FakeServer::new("mail");
        let mut story = channel.prepare_story(&again.section(""));
        again.lets_connect(&mut story);
        story.move_to(copy);
        is_whole(&story, &moment);
        story.model.otherwise(usual);
        story.start().await;
        story.settle().await;
        is_whole(&story, &moment);
        assert_eq!(story.count("SELECT count(*) FROM turns WHERE state IN ('running', 'waiting')"), 0, "{moment}");
        let calls = [before, again.log("call")].concat();
        for words in ["one", "two"] {
            let made = calls.iter().filter(|call| call.contains(words)).count();
            assert!(made <= 1, "{moment}: {words} was said {made} times");
        }
        story.stop().await;
    }
}
