//! Layers of an agent's memory: their owners, their other readers, and the share of the prompt of
//! each.

use compline::model::Purpose;
use compline::text::estimate_tokens;
use serde_json::json;

use crate::support::model::{Say, usual, words};
use crate::support::story::{ADA, Story};

const TALK: &str = "Today we went for a long walk along the river with the children, and in the evening we sat in the garden and talked.";

/// Lets the model extract one fact of each layer from the conversation.
fn takes_down_one_of_each(story: &Story) {
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Extraction if words(request).contains(TALK) => {
            let fact = |key: &str, value: &str, layer: &str| {
                json!({ "key": key, "value": value, "category": "fact", "layer": layer, "sources": [1] })
            };
            Say::Text(json!({ "facts": [fact("tea", "likes oolong", "A"), fact("server", "is called Bert", "B")] }).to_string())
        }
        _ => usual(request),
    });
}

fn writes(story: &Story, path: &str, words: &str) {
    let path = story.home.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, words).unwrap();
}

/// Block under a heading in the newest prompt; empty if it is missing.
fn block(story: &Story, heading: &str) -> String {
    let prompt = story.model.last_prompt().replace(&format!("## {heading} now\n"), &format!("## {heading}\n"));
    let Some((_, rest)) = prompt.rsplit_once(&format!("\n## {heading}\n\n")) else { return String::new() };
    rest.split("\n\n## ").next().unwrap().split("\n</context>").next().unwrap().to_owned()
}

/// Applies the settings and starts a conversation. Returns the blocks of the agent's own memory and
/// of other profiles.
async fn shown_with(story: &mut Story, settings: &str) -> (String, String) {
    story.settings(settings);
    story.restart().await;
    story.say(ADA, "/new").await;
    story.say(ADA, "hello").await;
    (block(story, "Agent Memory"), block(story, "Supplementary Context"))
}

/// Promise (memory/visibility): Knowledge about you is visible to its own profile, to others only
/// if you allow it, and without a profile only to that agent in that workspace; each block stays
/// within its budget.
#[tokio::test]
async fn knowledge_about_the_person_is_shown_to_other_profiles_only_if_allowed() {
    let mut story = Story::with("[agent]\nprofile = \"nurse\"\n[memory]\nextract_every = 1\n").await;
    takes_down_one_of_each(&story);
    story.say(ADA, TALK).await;
    let asked = story.background.requests().into_iter().filter(|request| request.purpose() == Purpose::Extraction);
    assert_eq!(asked.count(), 1, "one look tells what travels from what stays");
    let second = format!("workspace = \"{}\"\n", story.home.join("second").display());
    for (settings, own, server, others) in [
        ("[agent]\nprofile = \"nurse\"\n".to_owned(), true, true, false),
        (format!("{second}[agent]\nprofile = \"nurse\"\n"), true, false, false),
        (format!("{second}[agent]\nprofile = \"chef\"\n"), false, false, false),
        ("[agent]\nprofile = \"chef\"\n".to_owned(), false, true, false),
        (format!("{second}[agent]\nprofile = \"chef\"\n[memory]\nexperience_for_all = true\n"), false, false, true),
        (format!("{second}[agent]\nprofile = \"nurse\"\n[memory]\nexperience_for_all = true\n"), true, false, false),
    ] {
        let (mine, of_others) = shown_with(&mut story, &settings).await;
        let seen = (mine.contains("oolong"), mine.contains("Bert"), of_others.contains("oolong"));
        assert_eq!(seen, (own, server, others), "{settings}: {mine}\n{of_others}");
        assert!(!of_others.contains("Bert"), "{of_others}");
    }
    story.end().await;
}

/// Proves: memory/visibility
#[tokio::test]
async fn without_a_profile_everything_stays_with_its_agent_in_its_workspace() {
    let here = "[agent]\nprofile = \"\"\n[memory]\nextract_every = 1\n";
    let mut story = Story::with(here).await;
    takes_down_one_of_each(&story);
    story.say(ADA, TALK).await;
    let second = format!("workspace = \"{}\"\n", story.home.join("second").display());
    for (settings, known) in [
        (format!("{second}[agent]\nprofile = \"\"\n"), false),
        ("[agent]\nname = \"Other\"\nprofile = \"\"\n".to_owned(), false),
        (format!("{second}[agent]\nprofile = \"chef\"\n[memory]\nexperience_for_all = true\n"), false),
        (here.to_owned(), true),
    ] {
        let (mine, of_others) = shown_with(&mut story, &settings).await;
        assert_eq!((mine.contains("oolong"), mine.contains("Bert")), (known, known), "{settings}: {mine}");
        assert!(!of_others.contains("oolong") && !of_others.contains("Bert"), "{of_others}");
    }
    story.end().await;
}

/// Proves: memory/visibility
#[tokio::test]
async fn each_block_has_its_own_room() {
    let mut story = Story::prepared("").await;
    let long = |what: &str| -> String {
        (1..=400)
            .map(|n| format!("- **{what} {n}**: is number {n} of its kind (2026-11-{:02})\n", n % 28 + 1))
            .collect()
    };
    writes(&story, "experience/default.md", &format!("## Insights\n\n{}", long("Habit")));
    writes(&story, "experience/chef.md", &format!("## Insights\n\n{}", long("Dish")));
    writes(&story, "workspace/agents/compline/memory.md", &format!("## Insights\n\n{}", long("Server")));
    for total in [2000_u64, 3, 2, 1, 0] {
        let settings = format!("[memory]\nmax_tokens = {total}\nexperience_for_all = true\n");
        let (mine, others) = shown_with(&mut story, &settings).await;
        assert!(estimate_tokens(&mine) <= total && estimate_tokens(&others) <= total, "{total}: {mine}\n{others}");
        if total == 2000 {
            let (person, workspace) = mine.split_once("\n\n").unwrap();
            assert!(estimate_tokens(person) <= 1200 && estimate_tokens(workspace) <= 800, "{mine}");
            assert!(
                estimate_tokens(person) > 1100 && estimate_tokens(workspace) > 700 && estimate_tokens(&others) > 1900
            );
            let lines = mine.lines().chain(others.lines()).filter(|line| line.starts_with("- "));
            assert!(lines.clone().count() > 100 && lines.clone().all(|line| line.ends_with(')')), "whole entries only");
        }
    }
    story.end().await;
}
