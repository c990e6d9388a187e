//! `/pending`: everything that waits for a person's decision, as one list.

use std::time::Duration;

use serde_json::json;

use crate::support::every_channel::{EitherFake, TestChannel, on_every_channel};
use crate::support::story::{ADA, BEN, EVE, UNTRUSTED};

on_every_channel! {
    stories:
        what_waits_for_an_answer_is_listed_until_it_has_one;
}

const HOUR: Duration = Duration::from_secs(3600);

/// Promise (trust/pending): `/pending` lists each question that waits for you, with how to answer
/// it: by its buttons, or where there are none by its commands. To look at the list gives no question
/// more time.
async fn what_waits_for_an_answer_is_listed_until_it_has_one(channel: TestChannel) {
    let story = channel.begin_story().await;
    let note = json!({ "title": "Tea", "content": "Warm the pot first.", "kind": "preference" });
    story.model.calls("remember", note).says("Noted.");
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter"));
    story.answered().await;
    story.model.calls("remind", json!({ "when": "2026-12-03 09:00", "text": format!("{UNTRUSTED}boat") }));
    story.say(ADA, "and the other thing").await;
    story.say(BEN, "/pending").await;
    assert_eq!(story.last_received_by(BEN), "Nothing is waiting for you.");
    for _ in 0..2 {
        story.say(ADA, "/pending").await;
        let list = story.last_received_by(ADA);
        let lines: Vec<&str> = list.lines().filter(|line| !line.is_empty()).collect();
        assert!(lines[0].contains("question 2 Remind you of"), "{list}");
        assert!(lines[1].ends_with("question 1 Keep memory/untrusted/tea.md?"), "{list}");
        let ways = [("Yes (2)", "/yes 2"), ("No (2)", "/no 2"), ("Keep it (1)", "/yes 1"), ("Leave it (1)", "/no 1")];
        match channel {
            TestChannel::Telegram => {
                let EitherFake::Telegram(fake) = &story.fake else { unreachable!() };
                let buttons = fake.sent(ADA).pop().unwrap().buttons();
                assert_eq!((lines.len(), buttons), (2, ways.map(|(title, way)| (title.into(), way.into())).to_vec()));
            }
            TestChannel::Signal => {
                let typed = ways.map(|(title, way)| format!("{title}: {way}"));
                assert!(typed.iter().zip(&lines[2..]).all(|(way, line)| line.ends_with(way)), "{list}");
            }
        }
        assert_ne!(story.text("SELECT label FROM outbox ORDER BY id DESC LIMIT 1"), "trusted");
    }
    story.say(ADA, "/no 2").await;
    story.say(ADA, "/pending").await;
    let list = story.last_received_by(ADA);
    assert!(list.contains("question 1") && !list.contains("question 2"), "{list}");
    story.pass(25 * HOUR).await;
    story.say(ADA, "/pending").await;
    assert_eq!(story.last_received_by(ADA), "Nothing is waiting for you.");
    story.end().await;
}
