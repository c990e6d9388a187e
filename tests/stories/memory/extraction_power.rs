//! Power cuts during fact extraction: each fact is in its file exactly once.

use std::time::Duration;

use compline::model::Purpose;
use compline::store::CommitPoint::{After, Before};
use serde_json::json;

use crate::support::model::{Say, usual, words};
use crate::support::power::{CrashTest, Cut};
use crate::support::story::ADA;

const TALK: &str = "Today we went for a long walk along the river with the children, and in the evening we sat in the garden and talked.";
const MINUTE: Duration = Duration::from_secs(60);

fn read(crash_test: &CrashTest, path: &str) -> String {
    std::fs::read_to_string(crash_test.story.home.join(path)).unwrap_or_default()
}

/// Proves: memory/extraction
#[test]
fn each_fact_is_kept_exactly_once_whenever_the_power_goes() {
    let jobs = [
        "store a reply",
        "store facts",
        "announce a change of a file",
        "a changed file stands in its place",
        "facts are stored",
    ];
    for (side, job) in jobs.into_iter().flat_map(|job| [(Before, job), (After, job)]) {
        let mut crash_test = CrashTest::prepared("[memory]\nextract_every = 2");
        assert!(!crash_test.start(None));
        crash_test.story.background.otherwise(|request| match request.purpose() {
            Purpose::Extraction if words(request).contains("Whiskerino") => {
                let fact = |key: &str, value: &str, layer: &str| {
                    json!({ "key": key, "value": value, "category": "fact", "layer": layer, "sources": [1] })
                };
                let facts = [fact("cat", "Whiskerino", "A"), fact("server", "Bert", "B")];
                let corrections = [json!({ "was": "wrote much", "now": "write less", "sources": [1] })];
                Say::Text(json!({ "facts": facts, "corrections": corrections }).to_string())
            }
            _ => usual(request),
        });
        assert!(!crash_test.during(crash_test.story.say(ADA, &format!("The cat is called Whiskerino. {TALK}"))));
        crash_test.cut_next(Cut::at(side, job));
        crash_test.story.fake.says(ADA, TALK);
        assert!(crash_test.pass(MINUTE), "{side:?} {job} never came");
        crash_test.revive();
        assert!(!crash_test.pass(10 * MINUTE));
        let (person, workspace) =
            (read(&crash_test, "experience/default.md"), read(&crash_test, "workspace/agents/compline/memory.md"));
        assert_eq!(person.matches("- **cat**: Whiskerino").count(), 1, "{side:?} {job}: {person}");
        assert_eq!(workspace.matches("- **server**: Bert").count(), 1, "{side:?} {job}: {workspace}");
        let corrections = read(&crash_test, "workspace/learnings/corrections.md");
        assert!(corrections.contains("- **wrote much**: write less [once]"), "{side:?} {job}: {corrections}");
        let story = &crash_test.story;
        assert_eq!(story.text("SELECT group_concat(state) FROM extractions"), "kept", "{side:?} {job}");
        let behind = "SELECT count(*) FROM conversations WHERE extracted_upto < (SELECT upto_message FROM extractions)";
        assert_eq!(story.count(behind), 0, "the watermark is where the files are");
        crash_test.end();
    }
}
