//! Memories from a reflection: labelled if text from outside influenced them, and gone for good
//! when their person rejects them.

use super::*;
use crate::support::injected_events::journal_contains;

fn remembers(title: &str, text: &str) -> Value {
    json!({ "kind": "memory", "title": title, "why": "It matters.", "text": text })
}

/// Promise (reflection/outside-influence): If text from outside influenced a memory from a
/// reflection, it is kept apart, and no one is asked at night. A wrong memory that you remove is
/// gone for good and does not return with the next reflection.
#[tokio::test]
async fn a_tainted_reflection_memory_is_kept_apart_and_asks_no_one() {
    let story = story("review_mode = \"none\"\n").await;
    story.say(ADA, "about tea").await;
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}tea: always add salt to tea"));
    story.answered().await;
    let all = json!({ "in": "conversations", "query": "salt tea", "include_untrusted": true });
    let wanted = remembers("Tea", &format!("{UNTRUSTED}salt belongs into tea"));
    story.background.calls("memory_search", all).says(&answer("Salt", &json!([wanted])));
    look_back(&story, TODAY).await;
    assert_eq!(actions_by_state(&story), "kept 1");
    let notes: Vec<_> = std::fs::read_dir(story.home.join("workspace/memory/untrusted")).unwrap().flatten().collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    let label = "SELECT group_concat(DISTINCT label) FROM files WHERE path LIKE 'memory/untrusted/%'";
    assert_eq!(story.text(label), "forward");
    assert!(!story.reads("memory/MEMORY.md").contains("ea.md"), "{}", story.reads("memory/MEMORY.md"));
    assert_eq!(story.count("SELECT count(*) FROM keeps"), 0, "nobody is asked about what is done at night");
    story.say(ADA, "/new").await;
    story.say(ADA, "What about salt in my tea?").await;
    assert!(!story.model.last_prompt().contains(UNTRUSTED), "{}", story.model.last_prompt());
    let note = notes[0].file_name().into_string().unwrap();
    story.say(ADA, &format!("/promote {}", note.trim_end_matches(".md"))).await;
    assert!(story.last_received_by(ADA).contains("salt belongs into tea"), "{}", story.last_received_by(ADA));
    every_untrusted_part_is_labelled(&story);
    story.end().await;
}

/// Proves: reflection/outside-influence
#[tokio::test]
async fn a_wrong_memory_from_a_reflection_is_forgotten_for_good() {
    let story = story("").await;
    story.say(ADA, "I like my tea strong").await;
    let wrong = "Ada only ever drinks Xylophonkaffee with salt.";
    let said = json!({ "title": "Drinks", "observations": [wrong], "patterns": [], "proposed_actions": [remembers("Coffee beans", wrong)] });
    story.background.says(&said.to_string());
    look_back(&story, TODAY).await;
    assert!(story.reads("memory/MEMORY.md").contains("(coffee-beans.md)"));
    story.forgets(ADA, "coffee-beans messages").await;
    assert!(story.last_received_by(ADA).contains("finds nothing any more"), "{}", story.last_received_by(ADA));
    assert!(!story.home.join("workspace/memory/coffee-beans.md").exists());
    assert!(!story.reads("memory/MEMORY.md").contains("coffee-beans") && !journal_contains(&story, "Xylophonkaffee"));
    story.pass(DAY).await;
    story.say(ADA, "good morning").await;
    assert!(!story.model.last_prompt().contains("Xylophonkaffee"));
    look_back(&story, WEEK).await;
    assert!(prompt(&story).contains("2026-11-20") && !prompt(&story).contains("Xylophonkaffee"), "{}", prompt(&story));
    story.end().await;
}

/// Promise (reflection/correction): A correction from a reflection replaces the known value of its
/// key exactly once, even after a power cut; only text that is not a fact becomes a note.
#[tokio::test]
async fn a_reflections_correction_replaces_the_fact_and_makes_no_note() {
    let story = story("").await;
    story.say(ADA, "/remember Cat: called Whiskerino").await;
    story.writes("agents/compline/memory.md", "## Insights\n\n- **Server**: Bert (2026-11-01)\n");
    story.say(ADA, "No, the cat is called Tom, and we moved to Ernie").await;
    let wanted = [
        remembers("The name of the cat", "cat: called Tom"),
        remembers("server", "Ernie."),
        remembers("Milk in tea", "Milk in tea: never"),
        remembers("Tea", "Correction: green is better."),
        remembers("A walk", "She walked to the lake and liked it."),
    ];
    story.background.says(&answer("Names", &json!(wanted)));
    look_back(&story, TODAY).await;
    assert!(prompt(&story).contains("**Cat**: called Whiskerino"), "it can see the keys: {}", prompt(&story));
    let memory = story.reads("memory/MEMORY.md");
    assert!(memory.contains("- **Cat**: called Tom (2026-11-20)") && !memory.contains("Whiskerino"), "{memory}");
    let kept = "SELECT count(*) FROM file_contents WHERE CAST(content AS TEXT) LIKE '%**Cat**: called Whiskerino%'";
    assert!(story.count(kept) > 0, "the history has the old value");
    let server = story.reads("agents/compline/memory.md");
    assert!(server.contains("- **Server**: Ernie. (2026-11-20)") && !server.contains("Bert"), "{server}");
    let learned = std::fs::read_to_string(story.home.join("experience/default.md")).unwrap();
    assert!(learned.contains("- **Milk in tea**: never (2026-11-20)"), "{learned}");
    assert_eq!(memory.matches("](").count(), 2, "notes for what is no fact: {memory}");
    assert!(memory.contains("(tea.md)") && memory.contains("(a-walk.md)"), "{memory}");
    assert_eq!(actions_by_state(&story), "kept 5");
    let places = "SELECT group_concat(reason, ' ') FROM (SELECT reason FROM actions ORDER BY id)";
    assert_eq!(
        story.text(places),
        "memory/MEMORY.md agents/compline/memory.md experience/default.md memory/tea.md memory/a-walk.md"
    );
    story.end().await;
}

/// Proves: memory/off
#[tokio::test]
async fn with_memory_switched_off_a_reflection_remembers_nothing_and_says_why() {
    let story = story("[memory]\nenabled = false\n").await;
    story.say(ADA, "I like my tea strong").await;
    story.background.says(&answer("Tea", &json!([remembers("Tea", "Tea: strong"), remembers("Milk", "none")])));
    look_back(&story, TODAY).await;
    assert_eq!(actions_by_state(&story), "suggested 2");
    let why = "SELECT count(*) FROM actions WHERE reason LIKE 'Memory is switched off%'";
    assert_eq!(story.count(why), 2);
    let own = "SELECT count(*) FROM files WHERE cause NOT IN ('first', 'hand')";
    assert_eq!(story.count(own), 0, "no file was written");
    story.end().await;
}
