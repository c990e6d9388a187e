//! First request of a conversation: the summary and three titles but no earlier message, also after
//! a power cut during the summary.

use std::time::Duration;

use compline::model::Purpose;
use compline::store::CommitPoint::{After, Before};
use serde_json::json;

use crate::support::model::{Say, usual, words};
use crate::support::power::{CrashTest, Cut};
use crate::support::story::{ADA, Story};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);
/// Time that `Story::say` lets pass after a message.
const SAYING: Duration = Duration::from_secs(2);
const RAW: &str = "the keel, the mast and eleven sails";

fn summary(title: &str) -> String {
    json!({
        "title": title, "topics": [format!("topic of {title}")], "decisions": ["varnish it"], "preferences": ["short answers"],
        "new": ["buy a rope"],
    })
    .to_string()
}

/// Summarises each conversation under the name mentioned in it.
fn summarises(story: &Story) {
    story.background.otherwise(|request| {
        let words = words(request);
        let named = ["Anna", "Bella", "Clara", "Dora", "Emma"].into_iter().rfind(|name| words.contains(name));
        match request.purpose() {
            Purpose::Summary => Say::Text(summary(named.unwrap_or("Nobody"))),
            _ => usual(request),
        }
    });
}

/// Promise (boundary/written-summary): A new conversation begins with the written summary of the
/// last one and two lines about each of the three before, not with the messages themselves, even if
/// the power failed while the summary was being written.
#[tokio::test]
async fn after_more_than_six_hours_it_holds_the_summary_three_others_and_nothing_word_for_word() {
    for (silence, anew) in [(6 * HOUR - Duration::from_secs(60), false), (6 * HOUR, false), (6 * HOUR + SECOND, true)] {
        let story = Story::begin().await;
        summarises(&story);
        for name in ["Anna", "Bella", "Clara", "Dora"] {
            story.say(ADA, &format!("{name} has {RAW}")).await;
            story.pass(24 * HOUR).await;
        }
        story.say(ADA, &format!("Emma has {RAW}")).await;
        story.pass(silence - SAYING).await;
        story.say(ADA, "good evening").await;
        let prompt = story.model.last_prompt();
        assert_eq!(prompt.contains(RAW), !anew, "after {silence:?}: {prompt}");
        let (newest, others) = if anew {
            ("Emma", [(23, "Dora"), (22, "Clara"), (21, "Bella")])
        } else {
            ("Dora", [(22, "Clara"), (21, "Bella"), (20, "Anna")])
        };
        let others = others
            .map(|(day, name)| format!("- 2026-11-{day}: {name}\n  varnish it; short answers; topic of {name}\n"));
        assert!(prompt.contains(&others.concat()), "{prompt}");
        for (part, count) in
            [(format!("topic of {newest}").as_str(), 1), ("buy a rope", 1), ("varnish it", 4), ("short answers", 4)]
        {
            assert_eq!(prompt.matches(part).count(), count, "{part:?} after {silence:?}: {prompt}");
        }
        story.end().await;
    }
}

/// Proves: boundary/written-summary
#[test]
fn an_interrupted_summary_is_made_at_start_and_given_to_the_next_conversation() {
    for (side, job) in [(After, "want a summary"), (Before, "keep a summary")] {
        let mut crash_test = CrashTest::prepared("");
        summarises(&crash_test.story);
        assert!(!crash_test.start(Some(Cut::at(side, job))));
        crash_test.story.fake.says(ADA, &format!("Emma has {RAW}"));
        assert!(crash_test.pass(7 * HOUR), "{job}");
        crash_test.revive();
        assert!(!crash_test.pass(HOUR));
        crash_test.story.fake.says(ADA, "good evening");
        assert!(!crash_test.pass(Duration::from_secs(10)));
        let prompt = crash_test.story.model.last_prompt();
        assert!(prompt.contains("good evening") && prompt.contains("topic of Emma"), "{side:?} {job}: {prompt}");
        assert!(!prompt.contains(RAW), "{prompt}");
        crash_test.end();
    }
}
