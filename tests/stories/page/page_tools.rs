//! Models and outside tools on the page.

use std::time::Duration;

use compline::model::ModelError;
use reqwest::StatusCode;

use crate::support::browser::{Browser, Page, SERVED};
use crate::support::mcp::{FakeServer, list};
use crate::support::model::{Say, Scripted};
use crate::support::story::{ADA, StoryOver};
use crate::support::telegram::FakeTelegram;

type Story = StoryOver<FakeTelegram>;

/// A story with a server whose tools are known.
async fn connected(mode: &'static str) -> (FakeServer, Story) {
    let fake = FakeServer::new(mode);
    let mut story: Story = fake.prepared(SERVED).await;
    story.start().await;
    let mut changes = story.app().mcp.changes();
    let waiting = async {
        while list(&story).await.is_empty() {
            changes.changed().await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waiting).await.expect("the server connects");
    (fake, story)
}

async fn state(story: &Story, name: &str) -> String {
    let tools = list(story).await;
    tools.iter().find(|tool| tool["name"] == name).unwrap()["state"].as_str().unwrap().to_owned()
}

/// Hash in the form of a tool.
fn hash(page: &Page, name: &str) -> String {
    let form =
        page.text.split(&format!("name=\"name\" value=\"{name}\"")).nth(1).unwrap_or_else(|| panic!("{}", page.text));
    form.split("name=\"hash\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

/// Promise (page/tools): On the page an owner accepts exactly the text of an outside tool that was
/// shown there: the form stands after its last line and carries the whole hash.
#[tokio::test]
async fn a_tool_is_read_whole_and_accepted_by_its_whole_hash() {
    let (_fake, story) = connected("letters").await;
    let mut ada = Browser::of(story.app(), "Ada").await;
    let page = ada.get("/models").await;
    let at = |part: &str| page.text.find(part).unwrap_or_else(|| panic!("{part:?} is missing in {}", page.text));
    let order = ["Sends to or opens: ", "From outside", "arguments: ", "Hash: ", "Accept exactly this"];
    assert!(at(order[2]) < at(order[3]) && at(order[3]) < at(order[4]) && at(order[1]) < at(order[2]), "{}", page.text);
    assert!(at(order[0]) < at(order[2]), "{}", page.text);
    let shown = hash(&page, "fake__post");
    assert_eq!(shown.len(), 64, "all of it");
    for (digest, word) in
        [(&shown[..16], "sends"), (&"0".repeat(64), "sends"), ("", "sends"), (&shown, ""), (&shown, "yes")]
    {
        let refused = ada.post("/models/accept", &[("name", "fake__post"), ("hash", digest), ("word", word)]).await;
        assert_eq!(refused.status, StatusCode::CONFLICT, "{digest} {word}");
        assert!(refused.text.contains("Nothing was accepted"), "{}", refused.text);
        assert_eq!(state(&story, "fake__post").await, "new");
    }
    let unknown = ada.post("/models/accept", &[("name", "fake__nothing"), ("hash", &shown)]).await;
    assert!(unknown.text.contains("no server has this tool"), "{}", unknown.text);
    let form = [("name", "fake__post"), ("hash", &*shown), ("word", "sends")];
    let mut ben = Browser::of(story.app(), "Ben").await;
    assert_eq!(ben.post("/models/accept", &form).await.status, StatusCode::FORBIDDEN);
    assert_eq!(state(&story, "fake__post").await, "new");
    assert_eq!(ada.post("/models/accept", &form).await.leads_to(), "/models");
    assert_eq!(state(&story, "fake__post").await, "accepted");
    let page = ada.get("/models").await.text;
    assert!(page.contains("Accepted tools") && page.contains("Servers and their commands stand in the configuration"));
    story.end().await;
}

/// Proves: tools/argument-marks, page/tools
#[tokio::test]
async fn what_the_arguments_of_a_tool_are_is_said_on_the_page() {
    let (_fake, story) = connected("desk").await;
    let mut ada = Browser::of(story.app(), "Ada").await;
    let page = ada.get("/models").await;
    let shown = hash(&page, "fake__search");
    assert!(page.text.contains("name=\"mark:max_results\"") && page.text.contains("It is a search"), "{}", page.text);
    let marked = async |story: &Story| {
        let tools = list(story).await;
        let tool = tools.iter().find(|tool| tool["name"] == "fake__search").unwrap();
        (tool["arguments"]["query"].as_str().unwrap().to_owned(), tool["search"].as_bool().unwrap())
    };
    let whole = [("name", "fake__search"), ("hash", &*shown)];
    let refused = ada.post("/models/accept", &[&whole[..], &[("mark:query", "choice")]].concat()).await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert!(refused.text.contains("query cannot be a choice"), "{}", refused.text);
    assert_eq!(state(&story, "fake__search").await, "new");
    let form = [&whole[..], &[("mark:query", "content"), ("search", "yes")]].concat();
    assert_eq!(ada.post("/models/accept", &form).await.leads_to(), "/models");
    assert_eq!(marked(&story).await, ("content".to_owned(), true));
    let page = ada.get("/models").await.text;
    assert!(page.contains("Change its arguments"), "{page}");
    assert_eq!(
        ada.post("/models/accept", &[&whole[..], &[("mark:query", "destination")]].concat()).await.leads_to(),
        "/models"
    );
    assert_eq!(marked(&story).await, ("destination".to_owned(), false));
    story.end().await;
}

/// Promise (page/models): On the page an owner sees which model is asked first, with its price, and
/// chooses another.
#[tokio::test]
async fn a_model_is_preferred_as_in_the_chat() {
    let mut story = Story::prepared(SERVED).await;
    let other = Scripted::with_card(
        story.clock.clone(),
        compline::model::ModelInfo {
            provider: "scripted".to_owned(),
            name: "other".to_owned(),
            context_window: 50_000,
            max_output: 1_000,
            images: false,
            price: Some(compline::config::Price { input: 3_000_000, cached: 300_000, output: 15_000_000 }),
        },
    );
    story.fall_back_to(other);
    story.start().await;
    let mut ada = Browser::of(story.app(), "Ada").await;
    let page = ada.get("/models").await.text;
    let at = |page: &str, part: &str| page.find(part).unwrap_or_else(|| panic!("{part:?} is missing in {page}"));
    assert!(
        at(&page, "scripted/scripted") < at(&page, "asked first")
            && at(&page, "asked first") < at(&page, "scripted/other")
    );
    assert!(page.contains("3.00 in") && page.contains("can be asked"), "{page}");
    assert!(page.contains("No server of outside tools is configured"), "{page}");
    assert_eq!(ada.post("/models/prefer", &[("name", "scripted/other")]).await.leads_to(), "/models");
    let page = ada.get("/models").await.text;
    assert!(at(&page, "scripted/other") < at(&page, "asked first"), "{page}");
    assert_eq!(story.app().admin.reports().model_in_use().as_deref(), Some("scripted/other"));
    let refused = ada.post("/models/prefer", &[("name", "scripted/none")]).await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert!(refused.text.contains("there is no such model"), "{}", refused.text);
    let mut ben = Browser::of(story.app(), "Ben").await;
    assert_eq!(ben.post("/models/prefer", &[("name", "scripted/scripted")]).await.status, StatusCode::FORBIDDEN);
    assert_eq!(story.app().admin.reports().model_in_use().as_deref(), Some("scripted/other"));
    story.end().await;
}

/// Proves: page/models
#[tokio::test]
async fn a_model_that_failed_is_told_from_the_others() {
    let mut story = Story::prepared(SERVED).await;
    story.fall_back_to(Scripted::new(story.clock.clone()));
    story.model.otherwise(|_| Say::Fail(ModelError::Later { after: None, what: "it is down".to_owned() }));
    story.start().await;
    let ada = Browser::of(story.app(), "Ada").await;
    let states = async || {
        let page = ada.get("/models").await.text;
        (page.matches("failed, so it is asked last").count(), page.matches("can be asked").count())
    };
    assert_eq!(states().await, (0, 2));
    story.say(ADA, "Hello").await;
    story.until(async || !story.received_by(ADA).is_empty()).await;
    assert_eq!(story.last_received_by(ADA), "ok");
    assert_eq!(states().await, (1, 1));
    story.end().await;
}
