//! Signing in, and the page without script.

use serde_json::json;
use thirtyfour::prelude::*;

use crate::driver::Chromium;
use crate::examination::loading_faults;
use crate::support::browser::{Browser, sign_in_code};
use crate::support::lived_in as home;

/// Proves: page/sign-in
#[tokio::test]
async fn a_link_names_its_person_and_leaves_no_code_behind() {
    let story = home::new().await;
    let base = Browser::new(story.app()).base;
    let browser = Chromium::open().await;
    let code = sign_in_code(story.app(), "Ada").await;
    browser.driver.goto(format!("{base}/login#{code}")).await.unwrap();
    browser.until("document.querySelector('[data-sign-in-name]').textContent === 'Sign in as Ada?'").await;
    assert_eq!(browser.driver.current_url().await.unwrap().as_str(), format!("{base}/login"));
    browser.press_button("Sign in").await;
    browser.until("location.pathname === '/'").await;
    assert_eq!(loading_faults(&browser, &base).await, [] as [&str; 0]);
    // The script cannot read the cookie, and the code is in no entry of the history.
    assert_eq!(browser.value("document.cookie").await, json!(""));
    browser.driver.back().await.unwrap();
    assert!(!browser.driver.current_url().await.unwrap().as_str().contains(&code));
    let used = Chromium::open().await;
    used.driver.goto(format!("{base}/login#{code}")).await.unwrap();
    used.until("document.querySelector('[data-sign-in-name]').textContent.startsWith('This link is used up')").await;
    // A fresh link in the same tab.
    let code = sign_in_code(story.app(), "Ada").await;
    used.driver.goto(format!("{base}/login#{code}")).await.unwrap();
    used.until("document.querySelector('[data-sign-in-name]').textContent === 'Sign in as Ada?'").await;
    assert_eq!(used.driver.current_url().await.unwrap().as_str(), format!("{base}/login"));
    story.end().await;
}

/// Promise (page/no-script): Without script everything can be read, and every form works.
#[tokio::test]
async fn the_page_works_without_script() {
    let story = home::lived_in().await;
    let base = Browser::new(story.app()).base;
    let browser = Chromium::open().await;
    browser.without_script().await;
    browser.driver.goto(format!("{base}/login")).await.unwrap();
    let code = sign_in_code(story.app(), "Robin").await;
    browser.driver.find(By::Name("code")).await.unwrap().send_keys(&code).await.unwrap();
    browser.press_button("Sign in").await;
    browser.until("location.pathname === '/'").await;
    let mut pages = Vec::new();
    for link in browser.driver.find_all(By::Css("nav[aria-label='Pages'] a")).await.unwrap() {
        pages.push(link.attr("href").await.unwrap().unwrap());
    }
    assert!(pages.len() >= 10, "{pages:?}");
    for page in pages {
        browser.driver.goto(format!("{base}{page}")).await.unwrap();
        let words = browser.driver.find(By::Tag("main")).await.unwrap().text().await.unwrap();
        assert!(words.lines().count() > 1, "{page}: {words}");
    }
    browser.driver.goto(format!("{base}/me")).await.unwrap();
    browser.click(By::Css("option[value='dark']")).await;
    browser.press_button("Save").await;
    browser.until("document.documentElement.dataset.theme === 'dark'").await;
    assert_eq!(story.text("SELECT theme FROM web_sessions"), "dark");
    browser.driver.goto(format!("{base}/search")).await.unwrap();
    browser.driver.find(By::Css("main input[name='q']")).await.unwrap().send_keys("leek").await.unwrap();
    browser.press_button("Search").await;
    browser.until("document.body.innerText.includes('Leek tart')").await;
    story.end().await;
}
