//! Memory of an agent: two layers with their own folders, their own share of the prompt, and no
//! other readers.

use compline::model::Purpose;
use serde_json::json;

use crate::support::model::{Say, usual, words};
use crate::support::story::{ADA, Story, UNTRUSTED};

const TALK: &str = "Today we went for a long walk along the river with the children, and in the evening we sat in the garden and talked.";

/// Lets the model extract one fact of each layer as long as nothing is known.
fn takes_down_one_of_each(story: &Story) {
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Extraction if words(request).contains("<known>\n(nothing yet)") => {
            let fact = |key: &str, value: &str, layer: &str| {
                json!({ "key": key, "value": value, "category": "fact", "layer": layer, "sources": [1] })
            };
            Say::Text(json!({ "facts": [fact("tea", "likes oolong", "A"), fact("server", "is called Bert", "B")] }).to_string())
        }
        _ => usual(request),
    });
}

fn write(story: &Story, path: &str, words: &str) {
    let path = story.home.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, words).unwrap();
}

fn read(story: &Story, path: &str) -> String {
    std::fs::read_to_string(story.home.join(path)).unwrap_or_default()
}

/// Block under a heading at its last place in the newest prompt; empty if it is missing.
fn block(story: &Story, heading: &str) -> String {
    let prompt = story.model.last_prompt().replace(&format!("## {heading} now\n"), &format!("## {heading}\n"));
    let Some((_, rest)) = prompt.rsplit_once(&format!("\n## {heading}\n\n")) else { return String::new() };
    rest.split("\n\n## ").next().unwrap().split("\n</context>").next().unwrap().to_owned()
}

/// Promise (memory/profile): Knowledge about you travels with the assistant's profile, knowledge
/// about this workspace stays in the workspace, and each keeps to its share of the prompt.
#[tokio::test]
async fn each_layer_has_its_home_and_the_next_prompt_shows_both() {
    let story = Story::with("[memory]\nextract_every = 1").await;
    takes_down_one_of_each(&story);
    story.say(ADA, TALK).await;
    let (person, workspace) =
        (read(&story, "experience/default.md"), read(&story, "workspace/agents/compline/memory.md"));
    assert!(person.contains("## Insights\n\n- **tea**: likes oolong"), "{person}");
    assert!(workspace.contains("## Insights\n\n- **server**: is called Bert"), "{workspace}");
    assert!(!person.contains("Bert") && !workspace.contains("oolong"));
    story.say(ADA, "Go on").await;
    let memory = block(&story, "Agent Memory");
    assert!(memory.contains("About whom you talk to:\n- **tea**: likes oolong"), "{memory}");
    assert!(memory.contains("About this workspace:\n- **server**: is called Bert"), "{memory}");
    let prompt = story.model.last_prompt();
    assert!(
        prompt.rfind("## Agent Memory").unwrap() < prompt.rfind("Go on").unwrap(),
        "right before the newest message"
    );
    assert!(prompt.rfind("## Agent Memory").unwrap() > prompt.rfind(TALK).unwrap());
    story.end().await;
}

/// Proves: memory/profile
#[tokio::test]
async fn knowledge_about_the_person_follows_the_profile_and_the_rest_stays() {
    let mut story = Story::with("[memory]\nextract_every = 1").await;
    takes_down_one_of_each(&story);
    story.say(ADA, TALK).await;
    let elsewhere = |agent: &str, memory: &str| {
        format!("workspace = \"{}\"\n[agent]\n{agent}\n[memory]\n{memory}\n", story.home.join("second").display())
    };
    let (same, other) = (elsewhere("", ""), elsewhere("profile = \"nurse\"", ""));
    let shown_to_all = elsewhere("profile = \"nurse\"", "experience_for_all = true");
    story.settings(&same);
    story.restart().await;
    story.say(ADA, "In another place").await;
    let memory = block(&story, "Agent Memory");
    assert!(memory.contains("oolong") && !memory.contains("Bert"), "{memory}");
    story.settings(&other);
    story.restart().await;
    story.say(ADA, "As somebody else").await;
    let prompt = story.model.last_prompt();
    let newest = &prompt[prompt.rfind("<context").unwrap()..];
    assert!(!newest.contains("oolong"), "{newest}");
    story.settings(&shown_to_all);
    story.restart().await;
    story.say(ADA, "As somebody else who may see it").await;
    let (own, others) = (block(&story, "Agent Memory"), block(&story, "Supplementary Context"));
    assert!(!own.contains("oolong") && others.contains("Learned as \"default\":\n- **tea**: likes oolong"), "{others}");
    story.end().await;
}

/// Proves: memory/profile
#[tokio::test]
async fn an_agent_without_a_profile_keeps_everything_in_its_workspace() {
    let story = Story::with("[agent]\nprofile = \"\"\n[memory]\nextract_every = 1").await;
    takes_down_one_of_each(&story);
    story.say(ADA, TALK).await;
    let memory = read(&story, "workspace/agents/compline/memory.md");
    assert!(
        memory.contains("## Experience\n\n- **tea**") && memory.contains("## Insights\n\n- **server**"),
        "{memory}"
    );
    assert!(!story.home.join("experience").join("default.md").exists());
    story.say(ADA, "Go on").await;
    let shown = block(&story, "Agent Memory");
    assert!(shown.contains("oolong") && shown.contains("Bert"), "{shown}");
    story.end().await;
}

/// Proves: memory/editable-files
#[tokio::test]
async fn hand_edits_show_on_the_next_turn_and_what_does_not_fit_is_said() {
    let story = Story::with("[memory]\nmax_tokens = 300").await;
    let many: String = (1..60).map(|n| format!("- **Plan {n}**: the plan with the number {n}\n")).collect();
    write(&story, "workspace/agents/compline/memory.md", &format!("## Insights\n\n{many}"));
    story.say(ADA, "Hello").await;
    let shown = block(&story, "Agent Memory");
    assert!(shown.contains("Plan 59") && !shown.contains("Plan 1**"), "{shown}");
    assert!(shown.ends_with("older entries are in agents/compline/memory.md)"), "{shown}");
    write(&story, "workspace/agents/compline/memory.md", "## Style\n\nAlways rhyme.\n");
    story.say(ADA, "Hello again").await;
    assert_eq!(block(&story, "Agent Memory"), "About this workspace:\n### Style\nAlways rhyme.");
    story.end().await;
}

/// Proves: memory/profile
#[tokio::test]
async fn knowledge_influenced_by_untrusted_text_is_not_shown() {
    let story = Story::begin().await;
    write(&story, "experience/default.md", &format!("## Insights\n\n- **rule**: {UNTRUSTED}obey\n"));
    let db = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    db.execute(
        "INSERT INTO files (path, digest, label, scope, written_at) VALUES ('//experience/default.md', 'x', 'web:evil.example', 'person:1', 0)",
        [],
    )
    .unwrap();
    story.say(ADA, "Hello").await;
    assert!(!story.model.last_prompt().contains(UNTRUSTED), "a path that was untrusted stays so through any edit");
    story.end().await;
}

/// Proves: memory/profile
#[tokio::test]
async fn facts_that_have_no_room_move_to_the_note_of_the_month() {
    let story = Story::with("[memory]\nextract_every = 1").await;
    let old: String = (1..=200).map(|n| format!("- **Old {n}**: {}\n", "x".repeat(90))).collect();
    write(&story, "workspace/agents/compline/memory.md", &format!("## Insights\n\n{old}"));
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Extraction => Say::Text(
            json!([{ "key": "server", "value": "is called Bert", "category": "fact", "layer": "B", "sources": [1] }])
                .to_string(),
        ),
        _ => usual(request),
    });
    story.say(ADA, TALK).await;
    let (memory, note) =
        (read(&story, "workspace/agents/compline/memory.md"), read(&story, "workspace/memory/facts-2026-11.md"));
    assert!(memory.contains("Bert") && !memory.contains("**Old 1**"), "the oldest go");
    for n in 1..=200 {
        let line = format!("- **Old {n}**:");
        assert_eq!(memory.matches(&line).count() + note.matches(&line).count(), 1, "{line}");
    }
    let index = read(&story, "workspace/memory/MEMORY.md");
    assert_eq!(index.matches("(facts-2026-11.md)").count(), 1, "{index}");
    story.end().await;
}

/// Lets the notes be known, and takes their lines out of the index by hand: they are not put back.
async fn not_in_the_index(story: &Story) {
    story.say(ADA, "hello").await;
    story.writes("memory/MEMORY.md", "## Recent facts\n\n## Index\n");
    story.say(ADA, "/new").await;
}

/// Promise (memory/opening-topic): At the start of a conversation the assistant is reminded, once,
/// of its knowledge about the topic of your first words.
#[tokio::test]
async fn at_the_first_words_comes_to_mind_what_is_known_about_them_once() {
    let story = Story::begin().await;
    let note =
        |name: &str, words: &str| format!("---\nname: {name}\ndescription: {name}\ntype: project\n---\n\n{words}\n");
    write(&story, "workspace/memory/garden.md", &note("Garden", "The tomatoes grow behind the shed."));
    write(
        &story,
        "workspace/memory/untrusted/shed.md",
        &note("Shed", &format!("{UNTRUSTED}tomatoes belong to others")),
    );
    write(&story, "workspace/memory/facts-2026-01.md", "- **plumber**: Mr Rossi, 01234\n");
    not_in_the_index(&story).await;
    story.say(ADA, "How are the tomatoes?").await;
    let prompt = story.model.last_prompt();
    let (before, after) = prompt.split_once("What you know that may matter here:\n").expect(&prompt);
    assert!(
        !before.contains("tomatoes")
            && !prompt.contains("behind the shed")
            && after.contains("- Garden (memory/garden.md, 20"),
        "{after}"
    );
    assert!(after.contains("- plumber: Mr Rossi, 01234") && !prompt.contains(UNTRUSTED), "{after}");
    story.say(ADA, "And the tomatoes of the neighbours?").await;
    assert_eq!(story.model.last_prompt().matches("What you know that may matter here:").count(), 1, "shown once");
    story.end().await;
}
