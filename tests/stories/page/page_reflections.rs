//! Reflections on the page: what they think, and what came of each action.

use std::time::Duration;

use compline::model::Purpose;
use reqwest::StatusCode;
use serde_json::json;

use crate::support::browser::{Browser, SERVED};
use crate::support::model::{Say, usual};
use crate::support::story::{ADA, BEN, StoryOver, skill};
use crate::support::telegram::FakeTelegram;

type Story = StoryOver<FakeTelegram>;

/// A story whose reflections propose a skill, a memory, something else, and nonsense.
async fn reflective() -> Story {
    let story = Story::with(&format!("{SERVED}[reflection]\nmin_messages = 1\n")).await;
    let content = skill("packing", "Use when a list is packed.", "Count twice.");
    let actions = json!([
        { "kind": "create_skill", "title": "Packing <lists>", "why": "Twice.", "skill": "packing",
          "files": [{ "path": "SKILL.md", "content": content }] },
        { "kind": "memory", "title": "Tea", "why": "Said.", "text": "Ada drinks tea." },
        { "kind": "other", "title": "Call the vet", "why": "Open.", "text": "Call the vet." },
        { "kind": "create_skill", "title": "Broken", "why": "No files.", "skill": "broken", "files": [] },
    ]);
    let answer = json!({ "title": "A day of <lists>", "observations": ["Lists were packed."], "patterns": [],
        "proposed_actions": actions })
    .to_string();
    story.background.otherwise(move |request| match request.purpose() {
        Purpose::Reflection => Say::Text(answer.clone()),
        _ => usual(request),
    });
    story
}

/// Promise (page/reflections): The page shows each reflection with what came of every action that it
/// proposed.
#[tokio::test]
async fn each_action_has_its_outcome_and_a_way_to_its_proposal() {
    let story = reflective().await;
    let ada = Browser::of(story.app(), "Ada").await;
    assert!(ada.get("/reflections").await.text.contains("There are no reflections yet."));
    story.say(ADA, "let us pack for Oslo").await;
    story.pass(Duration::from_secs(13 * 3600)).await;
    story.say(ADA, "/reflect daily").await;
    assert_eq!(story.count("SELECT count(*) FROM reflections"), 1);
    let list = ada.get("/reflections").await.text;
    assert!(list.contains("href=\"/reflections/1\"") && list.contains("A day of &lt;lists&gt;"), "{list}");
    assert!(list.contains("4 actions") && list.contains("20 November 2026"), "{list}");
    let page = ada.get("/reflections/1").await.text;
    for part in [
        "Lists were packed.",
        "A new skill: ",
        "Packing &lt;lists&gt;",
        "it waits for the owner",
        "href=\"/proposals/1\"",
        "Something to remember: ",
        "it is kept",
        "it stays a suggestion",
        "it made no sense",
        "cost ",
        "href=\"/conversations/",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let conversation = page.split("href=\"/conversations/").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert!(ada.get(&format!("/conversations/{conversation}")).await.status.is_success());
    story.app().admin.chat(&story_caller(&story, "Ada").await, "/reject 1 not useful").await;
    assert!(ada.get("/reflections/1").await.text.contains("the owner refused it: not useful"));
    for path in ["/reflections/2", "/reflections/0"] {
        assert_eq!(ada.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    let ben = Browser::of(story.app(), "Ben").await;
    for path in ["/reflections", "/reflections/1"] {
        assert_eq!(ben.get(path).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    story.end().await;
}

async fn story_caller(story: &Story, name: &'static str) -> compline::admin::Caller {
    let person = story.app().journal.read(move |db| db.people().person_named(name)).await.unwrap().unwrap();
    compline::admin::Caller { person, group: None, language: None }
}

/// Proves: page/reflections
#[tokio::test]
async fn an_owner_sees_only_their_own_reflections() {
    let mut story = reflective().await;
    story.stop().await;
    story.people_are(&[("Ada", "owner", ADA), ("Ben", "owner", BEN)]);
    story.start().await;
    story.say(ADA, "let us pack for Oslo").await;
    story.pass(Duration::from_secs(13 * 3600)).await;
    story.say(ADA, "/reflect daily").await;
    let id = story.count("SELECT id FROM reflections");
    assert_eq!(Browser::of(story.app(), "Ada").await.get(&format!("/reflections/{id}")).await.status, StatusCode::OK);
    let ben = Browser::of(story.app(), "Ben").await;
    assert_eq!(ben.get(&format!("/reflections/{id}")).await.status, StatusCode::NOT_FOUND);
    assert!(ben.get("/reflections").await.text.contains("There are no reflections yet."));
    story.end().await;
}
