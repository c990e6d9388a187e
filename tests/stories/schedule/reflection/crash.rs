//! Power cuts during a reflection: the result is one reflection, one fact and one notice, and no
//! proposal is doubled.

use std::sync::{Arc, Mutex};

use compline::store::Failpoint;

use super::*;
use crate::support::story::copy_home;

/// Copies of the home on both sides of each commit, with the journal job.
type Homes = Arc<Mutex<Vec<(&'static str, tempfile::TempDir)>>>;

/// Jobs between a claimed slot and the end of the actions that follow.
const JOBS: &[&str] = &[
    "assign a reflection",
    "claim messages",
    "begin a model step",
    "store a reply",
    "postpone a reflection",
    "ask for a reflection again",
    "keep a reflection",
    "take an action",
    "stage a proposal",
    "refuse an action",
    "keep what a reflection remembers",
    "report a reflection",
];

fn watching(homes: &Homes, home: &std::path::Path) -> Failpoint {
    let (homes, home) = (Arc::clone(homes), home.to_owned());
    Failpoint(Arc::new(move |_, job| {
        if JOBS.contains(&job) {
            homes.lock().unwrap().push((job, copy_home(&home)));
        }
    }))
}

fn plays(story: &Story) {
    story.background.otherwise(|request| match request.purpose() {
        // The first answer is invalid.
        Purpose::Reflection if !words(request).contains("was not the JSON object") => {
            crate::support::model::Say::Text("Let me think.".to_owned())
        }
        Purpose::Reflection => crate::support::model::Say::Text(answer(
            "Tea",
            &json!([
                create("tea", "Three minutes."),
                create("milk", "Cold."),
                create("tea", "Three minutes."),
                { "kind": "memory", "title": "The cat", "why": "It was wrong.", "text": "cat: called Tom" },
            ]),
        )),
        _ => crate::support::model::usual(request),
    });
}

async fn ends_well(story: &Story, where_cut: &str) {
    let id = SlotId(story.count("SELECT max(id) FROM slots"));
    let slot = carry_out(story, id).await;
    // A turn that a long outage interrupts exceeds its time limit, which costs a try.
    assert!(slot.state == SlotState::Done && (2..=3).contains(&slot.tries), "{where_cut}: {slot:?}");
    assert_eq!(story.count("SELECT count(*) FROM reflections"), 1, "{where_cut}");
    assert_eq!(story.count("SELECT count(*) FROM conversations WHERE kind = 'reflection'"), 1, "{where_cut}");
    assert_eq!(story.count("SELECT count(*) FROM proposals"), 2, "{where_cut}");
    assert_eq!(actions_by_state(story), "kept 1, proposed 2, refused 1", "{where_cut}");
    let memory = story.reads("memory/MEMORY.md");
    assert!(memory.contains("- **Cat**: called Tom (2026-11-2"), "{where_cut}: {memory}");
    assert_eq!(memory.matches("called").count(), 1, "{where_cut}: {memory}");
    let told = "SELECT count(*) FROM outbox o JOIN texts t ON t.message_id = o.message_id WHERE t.text LIKE '%Looking back on %'";
    assert_eq!(story.count(told), 1, "{where_cut}");
}

/// Proves: reflection/once, reflection/correction
#[tokio::test]
async fn a_power_cut_doubles_nothing_and_loses_nothing() {
    let homes = Homes::default();
    let mut story = Story::prepared(&settings_with("")).await;
    plays(&story);
    story.fail_at(Some(watching(&homes, &story.home)));
    story.start().await;
    story.say(ADA, "I like my tea strong").await;
    story.say(ADA, "/remember Cat: called Whiskerino").await;
    homes.lock().unwrap().clear();
    let id = claim(&story, TODAY).await;
    carry_out(&story, id).await;
    ends_well(&story, "without a cut").await;
    story.fail_at(None);
    let homes = std::mem::take(&mut *homes.lock().unwrap());
    for job in JOBS {
        assert!(homes.iter().filter(|(cut, _)| cut == job).count() >= 2, "{job} was never cut");
    }
    for (job, home) in homes {
        story.stop().await;
        story.move_to(home);
        story.start().await;
        story.answered().await;
        ends_well(&story, job).await;
    }
    story.end().await;
}
