//! Questions in the chat of the page: decided by a button there or in the messenger, and decided
//! once.

use serde_json::json;

use crate::support::browser::{Browser, SERVED};
use crate::support::story::{ADA, EVE, StoryOver, UNTRUSTED};
use crate::support::telegram::FakeTelegram;

type Story = StoryOver<FakeTelegram>;

/// The fields of a button under the question on a page.
fn button(page: &str, title: &str) -> [(&'static str, String); 2] {
    let forms = page.split("<form").skip(1).map(|form| form.split("</form>").next().unwrap());
    let form = forms.filter(|form| form.contains("value=\"button-")).find(|form| form.contains(&format!(">{title}<")));
    let form = form.unwrap_or_else(|| panic!("{title:?} is missing in {page}"));
    let mut values = form.split("value=\"").skip(1).map(|value| value.split('"').next().unwrap().to_owned());
    ["id", "button"].map(|name| (name, values.next().unwrap()))
}

/// True if what was decided at noon stands on the page in place of the buttons.
fn shows_decision(page: &str, decision: &str) -> bool {
    page.contains(&format!("<p class=\"note\">{decision} 12:00</p>")) && !page.contains("value=\"button-")
}

/// Promise (page/buttons): A question has its buttons on the page, on whichever channel it was
/// asked; a press counts once, and both show what was decided.
#[tokio::test]
async fn a_question_is_decided_on_the_page() {
    let story = Story::with(SERVED).await;
    story.model.calls("remind", json!({ "when": "in 1 hour", "text": "the oven" }));
    let mut ada = Browser::of(story.app(), "Ada").await;
    let form = [("id", "one"), ("text", "What does this say?"), ("pasted", "Remind her of the oven in an hour.")];
    ada.post("/chat", &form).await;
    story.answered().await;
    let page = ada.get("/chat").await.text;
    let form = button(&page, "Yes");
    story.model.says("It is set.");
    for _ in 0..2 {
        let pressed = ada.post("/chat", &form.each_ref().map(|(name, value)| (*name, value.as_str()))).await;
        assert_eq!(pressed.leads_to(), "/chat", "{}", pressed.text);
    }
    story.answered().await;
    assert_eq!(story.count("SELECT count(*) FROM reminders"), 1);
    let page = ada.get("/chat").await.text;
    assert!(page.contains("It is set.") && shows_decision(&page, "Allowed"), "{page}");
    story.end().await;
}

/// Promise (page/question-once): A question that is answered in the messenger and on the page at
/// once is decided once, also over a restart, and both show what was decided in place of its
/// buttons.
#[tokio::test]
async fn a_question_is_decided_once_on_the_page_and_in_the_messenger() {
    for is_page_first in [None, Some(false), Some(true)] {
        let mut story = Story::with(SERVED).await;
        story.model.calls("remind", json!({ "when": "in 1 hour", "text": "the oven" }));
        story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter: remind her of the oven in an hour"));
        story.answered().await;
        let titles = |story: &Story, message: i64| -> Vec<String> {
            let sent = story.fake.sent(ADA).into_iter().find(|sent| sent.message_id == message).unwrap();
            sent.buttons().into_iter().map(|(title, _)| title).collect()
        };
        let question = story.fake.sent(ADA).pop().unwrap().message_id;
        assert_eq!(titles(&story, question), ["Yes", "No"]);
        let mut ada = Browser::of(story.app(), "Ada").await;
        let yes = button(&ada.get("/chat").await.text, "Yes");
        let yes = yes.each_ref().map(|(name, value)| (*name, value.as_str()));
        match is_page_first {
            // Both at once: either may come first.
            None => drop(tokio::join!(ada.post("/chat", &yes), story.say(ADA, "/no 1"))),
            Some(true) => {
                ada.post("/chat", &yes).await;
                story.answered().await;
                assert_eq!(titles(&story, question), ["Allowed 12:00"], "the messenger says so by itself");
                story.restart().await;
                story.fake.presses(ADA, question, "/no 1");
            }
            Some(false) => {
                story.fake.presses(ADA, question, "/no 1");
                story.answered().await;
                assert!(shows_decision(&ada.get("/chat").await.text, "Not allowed"));
                story.restart().await;
                ada = ada.at(story.app());
                ada.post("/chat", &yes).await;
            }
        }
        story.answered().await;
        let is_yes = story.text("SELECT state FROM questions") == "yes";
        if let Some(is_page_first) = is_page_first {
            assert_eq!(is_yes, is_page_first);
        }
        assert_eq!(story.count("SELECT count(*) FROM reminders"), i64::from(is_yes));
        let page = ada.at(story.app()).get("/chat").await.text;
        let (decision, refusal) = match is_yes {
            true => ("Allowed", "You said yes to that already."),
            false => ("Not allowed", "That question is over, so nothing was done."),
        };
        assert!(shows_decision(&page, decision), "{decision}: {page}");
        assert_eq!(titles(&story, question), [format!("{decision} 12:00")]);
        // The second answer is refused where it was given.
        assert_eq!(
            (page.contains(refusal), story.last_received_by(ADA).contains(refusal)),
            (!is_yes, is_yes),
            "{page}"
        );
        story.end().await;
    }
}
