//! Conversations on the page: the year, a day, and the work behind an answer.

use std::time::Duration;

use compline::config::Price;
use compline::model::{Model, ModelInfo};
use compline::wording::money;
use reqwest::StatusCode;
use serde_json::json;

use crate::support::browser::{Browser, SERVED};
use crate::support::model::{Say, Scripted};
use crate::support::story::{ADA, BEN, StoryOver};
use crate::support::telegram::FakeTelegram;

type Story = StoryOver<FakeTelegram>;

const DAY: Duration = Duration::from_secs(24 * 3600);
const SUMMARY: &str = r#"{"title": "Leeks", "topics": ["Leeks in winter"], "decisions": ["Plant them in May"], "preferences": [], "pending": []}"#;

/// Promise (page/calendar): The list of your conversations begins with the last year as a picture
/// and as a table, counts what you wrote, and each day leads to its conversations.
#[tokio::test]
async fn each_day_of_the_year_leads_to_its_conversations() {
    let story = Story::with(SERVED).await;
    story.say(ADA, "Leeks or cabbage?").await;
    story.say(ADA, "And with cream?").await;
    story.say(BEN, "Ben's own words").await;
    story.pass(DAY).await;
    story.say(ADA, "A word of the day after").await;
    let (ada, ben) = (Browser::of(story.app(), "Ada").await, Browser::of(story.app(), "Ben").await);
    let page = ada.get("/conversations").await.text;
    let link = "/conversations?day=2026-11-20";
    assert_eq!(page.matches(link).count(), 2, "in the picture and in the table: {page}");
    assert!(page.contains("20 November 2026: 2 messages of yours in 1 conversation"), "{page}");
    assert!(page.contains("2 messages of yours") && page.contains("1 message of yours"), "{page}");
    let day = ada.get("/conversations?day=2026-11-20").await.text;
    assert!(day.contains("href=\"/conversations/1\"") && day.matches("<a class=\"title\"").count() == 1, "{day}");
    let quiet = ada.get("/conversations?day=2026-11-01").await.text;
    assert!(quiet.contains("None of this kind began on that day."), "{quiet}");
    let bens = ben.get("/conversations").await.text;
    assert!(bens.contains("2026-11-20: ") || bens.contains("20 November 2026: 1 message"), "{bens}");
    assert!(!bens.contains("2026-11-21"), "{bens}");
    story.end().await;
}

/// Promise (page/transcript): A conversation begins with its summary, and below each answer stand
/// the tools with what they were asked and gave, the model, its tokens, the cost and the time.
#[tokio::test]
async fn the_work_behind_an_answer_is_shown() {
    let mut story = Story::prepared(SERVED).await;
    let price = Some(Price { input: 3_000_000, cached: 300_000, output: 15_000_000 });
    story.model = Scripted::with_card(story.clock.clone(), ModelInfo { price, ..story.model.info().clone() });
    story.start().await;
    story.writes("plans/garden.md", "Leeks, **savoy** and quinces\n");
    let answer = vec![(Duration::from_secs(3), "It lists three things.".to_owned())];
    story.model.calls("read_file", json!({ "path": "plans/garden.md" })).then(Say::Grow(answer));
    story.say(ADA, "What is in the plan?").await;
    story.answered().await;
    story.background.says(SUMMARY);
    story.pass(DAY).await;
    let (ada, ben) = (Browser::of(story.app(), "Ada").await, Browser::of(story.app(), "Ben").await);
    let page = ada.get("/conversations/1").await.text;
    for part in
        ["In short", "Plant them in May", "How it was answered · 1 tool", "read_file", "plans/garden.md", "savoy"]
    {
        assert!(page.contains(part), "{part} is missing in {page}");
    }
    let model = story.text("SELECT model FROM spending WHERE turn_id = 1 LIMIT 1");
    let read = story.count("SELECT sum(input_tokens) FROM spending WHERE turn_id = 1");
    assert!(page.contains(&model) && page.contains(&format!("<td class=\"number\">{read}</td>")), "{page}");
    let cost = story.count("SELECT sum(micros) FROM spending WHERE turn_id = 1");
    let cost = money(cost.try_into().unwrap());
    assert!(page.contains(&format!("How it was answered · 1 tool · cost {cost} · 3.0 s</summary>")), "{page}");
    assert!(page.contains(&format!("<td class=\"number\">{cost}</td></tr>")), "{page}");
    assert!(page.find("Plant them in May") < page.find("What is in the plan?"), "the summary comes first");
    let shown = story.command_line(&["conversations", "show", "1"]).await.json;
    assert_eq!(shown["turns"][0]["tools"][0]["tool"], json!("read_file"));
    assert_eq!(shown["turns"][0]["models"][0]["input_tokens"], json!(read));
    assert_eq!(ben.get("/conversations/1").await.status, StatusCode::NOT_FOUND);
    story.end().await;
}

/// Promise (page/continue): An old conversation can be continued: the chat opens with a message
/// that names it, and the assistant reads it again.
#[tokio::test]
async fn an_old_conversation_goes_on_in_the_chat() {
    let story = Story::with(SERVED).await;
    story.say(ADA, "The shed gets a green roof.").await;
    let mut ada = Browser::of(story.app(), "Ada").await;
    let open = ada.get("/conversations/1").await.text;
    assert!(open.contains("Go on in the chat") && !open.contains("Continue here"), "{open}");
    story.pass(DAY).await;
    let ended = ada.get("/conversations/1").await.text;
    assert!(ended.contains("href=\"/chat?about=1\"") && ended.contains("when you have sent that"), "{ended}");
    let draft = "Read conversation 1 again, and let us go on with it: ";
    assert!(ada.get("/chat?about=1").await.text.contains(draft));
    assert!(!ada.get("/chat").await.text.contains(draft));
    story.model.calls("read_conversation", json!({ "id": "1" })).says("A green roof, you said.");
    ada.post("/chat", &[("id", "one"), ("text", &format!("{draft}which colour?"))]).await;
    story.answered().await;
    assert_eq!(
        story.count("SELECT count(*) FROM steps WHERE tool = 'read_conversation' AND text LIKE '%green roof%'"),
        1
    );
    story.end().await;
}

/// Promise (page/recalled): Below an answer stands what came to mind from your memory for it.
#[tokio::test]
async fn what_came_to_mind_stands_below_the_answer() {
    let story = StoryOver::<FakeTelegram>::with(SERVED).await;
    story.writes("memory/garden.md", "---\nname: The garden\ntype: project\n---\n\nTomatoes grow there.\n");
    story.say(ADA, "hello").await;
    // A note in the index comes with it.
    story.writes("memory/MEMORY.md", "## Recent facts\n\n## Index\n");
    story.say(ADA, "/new").await;
    story.say(ADA, "How are the tomatoes?").await;
    story.answered().await;
    let ada = Browser::of(story.app(), "Ada").await;
    let page = ada.get("/conversations/2").await.text;
    let mind = page.split_once("Came to mind from the memory:").expect(&page).1;
    assert!(mind.contains("The garden (memory/garden.md, 20") && !page.contains("&lt;context"), "{page}");
    assert!(!ada.get("/conversations/1").await.text.contains("Came to mind"));
    story.end().await;
}

/// Promise (forgetting/reason): A message that you had forgotten is shown as forgotten on request,
/// not as deleted by its sender.
#[tokio::test]
async fn a_forgotten_message_is_not_called_deleted_by_its_sender() {
    let story = Story::with(SERVED).await;
    story.say(ADA, "The vault code is zorbax77.").await;
    story.say(ADA, "I also watered the garden.").await;
    story.forgets(ADA, "zorbax77 messages").await;
    let shown = story.command_line(&["conversations", "show", "1"]).await.markdown;
    assert!(shown.contains("(gone: forgotten on request)") && !shown.contains("by its sender"), "{shown}");
    story.say(ADA, "/conversations 1").await;
    assert!(story.received_by(ADA).concat().contains("(gone: forgotten on request)"));
    let page = Browser::of(story.app(), "Ada").await.get("/conversations/1").await.text;
    assert!(page.contains("Forgotten on request.") && !page.contains("Deleted by its sender"), "{page}");
    story.say(ADA, "So?").await;
    assert!(story.model.last_prompt().contains("(This message is gone: it was forgotten on request.)"));
    story.end().await;
}
