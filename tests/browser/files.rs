//! Files and hostile texts in a browser.

use thirtyfour::prelude::*;

use crate::driver::Chromium;
use crate::examination::loading_faults;
use crate::support::browser::{Browser, sign_in_code};
use crate::support::channel::Channel;
use crate::support::lived_in as home;
use crate::support::story::ADA as ROBIN;

/// Proves: page/hostile
#[tokio::test]
async fn hostile_texts_do_nothing_in_a_browser() {
    let story = home::new().await;
    let texts: Vec<String> = serde_json::from_str(include_str!("../corpus/web/hostile.json")).unwrap();
    for some in texts.chunks(40) {
        story.model.says(&some.join("\n\n"));
        for text in some {
            story.fake.person_says(ROBIN, text);
        }
        story.answered().await;
    }
    let reader = Browser::of(story.app(), "Robin").await;
    let browser = Chromium::open().await;
    browser.sign_in(&reader.base, &sign_in_code(story.app(), "Robin").await).await;
    let messages = story.count("SELECT count(*) FROM messages");
    assert!(messages > 300, "{messages}");
    let mut paths = vec!["/search?q=alert".to_owned(), "/search?q=evil".to_owned()];
    paths.extend((1..=messages).step_by(20).map(|message| format!("/conversations/1?at={message}")));
    let mut found = Vec::new();
    for path in paths {
        loading_faults(&browser, &reader.base).await;
        browser.driver.goto(format!("{}{path}", reader.base)).await.unwrap();
        found.extend(loading_faults(&browser, &reader.base).await.into_iter().map(|fault| format!("{path}: {fault}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    story.stop_here().await;
}

/// Proves: page/upload
#[tokio::test]
async fn a_file_is_sent_and_read() {
    let story = home::new().await;
    let reader = Browser::of(story.app(), "Robin").await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tea list.txt");
    std::fs::write(&file, "Sencha, and <b>Assam</b>.").unwrap();
    let browser = Chromium::open().await;
    browser.sign_in(&reader.base, &sign_in_code(story.app(), "Robin").await).await;
    browser.driver.goto(format!("{}/files", reader.base)).await.unwrap();
    let field = browser.driver.find(By::Css("input[type='file']")).await.unwrap();
    field.send_keys(file.to_str().unwrap()).await.unwrap();
    browser.press_button("Upload").await;
    browser.until("document.body.innerText.includes('tea-list')").await;
    browser.click(By::PartialLinkText("tea-list")).await;
    browser.until("document.body.innerText.includes('Sencha, and <b>Assam</b>.')").await;
    assert_eq!(loading_faults(&browser, &reader.base).await, [] as [&str; 0]);
    story.end().await;
}
