//! Copies of erased text by derivation edge: parts that a search showed, and what was made by
//! reading it.

use serde_json::json;

use crate::support::every_channel::{TestChannel, on_every_channel};
use crate::support::injected_events::journal_contains_text;
use crate::support::story::{ADA, forget_command};

on_every_channel! {
    stories:
        parts_that_searches_showed_go_with_the_note,
        parts_that_searches_showed_go_with_the_message,
        what_was_made_by_reading_a_note_is_named_and_goes_only_if_it_is_chosen;
}

const DAY: std::time::Duration = std::time::Duration::from_secs(24 * 3600);
const PROVED: &str = "A search for it finds nothing any more.";

/// A line so long that searches and prompts show only a part of it.
fn long_line(begin: &str) -> String {
    let around = |word: &str| (1..90).map(|at| format!("{word}{at}")).collect::<Vec<_>>().join(" ");
    format!("{begin} {} and the key lies with Quittenbaum under the stair {}.", around("shelf"), around("drawer"))
}

/// Promise (forgetting/parts): What a search or a prompt showed only in part goes with what it was
/// a part of, also in the answer to `/search`.
async fn parts_that_searches_showed_go_with_the_note(channel: TestChannel) {
    let story = channel.begin_story().await;
    let text = format!("---\nname: Cellar\ntype: reference\n---\n\n{}\n", long_line("The cellar:"));
    story.writes("memory/cellar.md", &text);
    story.model.calls("memory_search", json!({ "query": "Quittenbaum stair" })).says("I looked.");
    story.say(ADA, "Where is the key?").await;
    let result = story.text("SELECT text FROM steps WHERE tool = 'memory_search'");
    assert!(result.contains("Quittenbaum") && !result.contains("shelf1 ") && !result.contains("drawer89"), "{result}");
    story.say(ADA, "/search Quittenbaum stair").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("Quittenbaum") && !told.contains("drawer89"), "{told}");
    story.forgets(ADA, "cellar").await;
    assert!(story.last_received_by(ADA).contains(PROVED), "{}", story.last_received_by(ADA));
    for word in ["with Quittenbaum", "shelf89", "drawer1 "] {
        assert!(!journal_contains_text(&story, word), "{word} is still in the journal");
    }
    story.end().await;
}

/// Proves: forgetting/parts
async fn parts_that_searches_showed_go_with_the_message(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, &format!("{}\nThe bread is in the oven.", long_line("Cellar:"))).await;
    story.say(ADA, "The cellar is cold.").await;
    story.pass(DAY).await;
    story
        .model
        .calls("memory_search", json!({ "in": "conversations", "query": "Quittenbaum stair" }))
        .says("I looked.");
    story.say(ADA, "Where is the key?").await;
    let result = story.text("SELECT text FROM steps WHERE tool = 'memory_search'");
    assert!(result.contains("Quittenbaum") && !result.contains("bread"), "{result}");
    story.forgets(ADA, "bread is in the oven messages").await;
    assert!(story.last_received_by(ADA).contains(PROVED), "{}", story.last_received_by(ADA));
    assert!(!journal_contains_text(&story, "with Quittenbaum"), "the part is still in the journal");
    assert!(journal_contains_text(&story, "cellar is cold"));
    story.say(ADA, "And now?").await;
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("Where is the key?") && !prompt.contains("with Quittenbaum"), "{prompt}");
    story.end().await;
}

/// Promise (forgetting/edges): The plan names notes and reminders that were made by reading what
/// is to be forgotten, even if they share no word with it. They stay unless you choose them.
async fn what_was_made_by_reading_a_note_is_named_and_goes_only_if_it_is_chosen(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.writes(
        "memory/boiler.md",
        "---\nname: Boiler\ntype: reference\n---\n\nThe boiler was repaired by Quittenbaum in May.\n",
    );
    let made = json!({ "title": "Heating", "content": "Engine in the cellar: ask Herr Q.", "kind": "reference" });
    story.model.calls("read_file", json!({ "path": "memory/boiler.md" })).calls("remember", made).says("Kept.");
    story.say(ADA, "Who is to be asked?").await;
    let other = json!({ "title": "Garden", "content": "The gate is green.", "kind": "reference" });
    story.model.calls("remember", other).says("Kept.");
    story.say(ADA, "The gate is green.").await;
    story.say(ADA, "/forget boiler").await;
    let plan = story.last_received_by(ADA);
    assert!(plan.contains("note Heating (memory/heating.md), made from it"), "{plan}");
    assert!(!plan.contains("Garden"), "{plan}");
    story.say(ADA, &forget_command(&plan).unwrap()).await;
    assert!(story.reads("memory/heating.md").contains("Herr Q"), "it was not chosen");
    assert!(!story.home.join("workspace/memory/boiler.md").exists());
    story.end().await;
}
