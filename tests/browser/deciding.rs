//! What is decided and written on the page, by clicking.

use serde_json::json;
use thirtyfour::prelude::*;

use crate::driver::Chromium;
use crate::examination::loading_faults;
use crate::support::browser::{Browser, sign_in_code};
use crate::support::lived_in::{self as home, Story};
use crate::support::story::{ADA as ROBIN, skill};

async fn signed_in(story: &Story) -> (Chromium, String) {
    let base = Browser::new(story.app()).base;
    let browser = Chromium::open().await;
    browser.sign_in(&base, &sign_in_code(story.app(), "Robin").await).await;
    (browser, base)
}

async fn proposes(story: &Story, name: &str) {
    let files = json!([{ "path": "SKILL.md", "content": skill(name, "Use when it is time.", "Warm the pot first.") }]);
    let change = json!({ "name": name, "change": "create", "files": files, "rationale": "It was asked for twice." });
    story.model.calls("submit_skill", change).says("I have proposed it.");
    story.say(ROBIN, "Remember how we do this.").await;
}

/// Proves: page/approve, page/decided-once
#[tokio::test]
async fn a_proposal_is_approved_by_a_click_once() {
    let story = home::new().await;
    proposes(&story, "tea").await;
    proposes(&story, "coffee").await;
    let (browser, base) = signed_in(&story).await;
    let hash = "[...document.querySelectorAll('main code.address')].pop().textContent";
    // On the page first: the chat says so.
    browser.driver.goto(format!("{base}/proposals/1")).await.unwrap();
    let shown = browser.value(hash).await.as_str().unwrap().to_owned();
    browser.press_button("Approve exactly this").await;
    browser.until("document.body.innerText.includes('Approved by Robin on this page')").await;
    assert!(story.skill("tea").is_some());
    story.say(ROBIN, &format!("/approve 1 {}", &shown[..12])).await;
    assert!(story.last_received_by(ROBIN).contains("was approved already"), "{}", story.last_received_by(ROBIN));
    // In the chat first, while the page is open: the page says so.
    browser.driver.goto(format!("{base}/proposals/2")).await.unwrap();
    let shown = browser.value(hash).await.as_str().unwrap().to_owned();
    story.say(ROBIN, &format!("/approve 2 {}", &shown[..12])).await;
    assert!(story.last_received_by(ROBIN).contains("coffee is live"), "{}", story.last_received_by(ROBIN));
    browser.press_button("Approve exactly this").await;
    browser.until("document.querySelector('[role=alert]').innerText.includes('was approved already')").await;
    assert_eq!(story.count("SELECT count(*) FROM decisions WHERE outcome = 'done'"), 2);
    story.end().await;
}

/// Proves: page/memory-conflict, page/memory-edit
#[tokio::test]
async fn a_note_is_edited_with_a_conflict_and_restored() {
    let story = home::new().await;
    story.writes("memory/pets.md", "Cat: Tom\n");
    story.say(ROBIN, "Hello").await;
    let (browser, base) = signed_in(&story).await;
    browser.driver.goto(format!("{base}/memory/pets?edit=1")).await.unwrap();
    let field = browser.driver.find(By::Css("main textarea[name=text]")).await.unwrap();
    field.clear().await.unwrap();
    field.send_keys("Cat: Bruno\n").await.unwrap();
    story.writes("memory/pets.md", "Cat: Tom\nDog: Rex\n");
    browser.press_button("Save").await;
    browser.until("document.body.innerText.includes('Nothing was saved')").await;
    assert_eq!(browser.value("document.querySelector('main textarea').value").await, "Cat: Bruno\n");
    let text = browser.text().await;
    assert!(text.contains("-Dog: Rex") && text.contains("+Cat: Bruno"), "{text}");
    assert_eq!(story.reads("memory/pets.md"), "Cat: Tom\nDog: Rex\n");
    browser.press_button("Save").await;
    browser.until("location.pathname === '/memory/pets' && !document.querySelector('main textarea')").await;
    assert_eq!(story.reads("memory/pets.md"), "Cat: Bruno\n");
    // Back to the oldest version, after its difference was shown.
    browser.value("[...document.querySelectorAll('main a.title')].pop().click()").await;
    browser.until("document.body.innerText.includes('+Cat: Tom')").await;
    browser.click(By::XPath("//main//button[starts-with(normalize-space(), 'Restore version')]")).await;
    browser.until("location.search === '' && document.body.innerText.includes('Cat: Tom')").await;
    assert_eq!(story.reads("memory/pets.md"), "Cat: Tom\n");
    assert_eq!(loading_faults(&browser, &base).await.iter().filter(|fault| !fault.contains("409")).count(), 0);
    story.end().await;
}
