//! The page by the keyboard alone.

use thirtyfour::Key;

use crate::driver::Chromium;
use crate::support::browser::{Browser, sign_in_code};
use crate::support::lived_in as home;

/// Presses Tab until the focus is on what this expression says.
async fn tab_to(browser: &Chromium, wanted: &str) {
    for _ in 0..80 {
        browser.press(Key::Tab).await;
        if browser.value(&format!("((focus) => {wanted})(document.activeElement)")).await == true {
            return;
        }
    }
    panic!("{wanted} is never reached: {}", browser.text().await);
}

/// Promise (page/keyboard): The keyboard alone signs in, opens every page, and sends forms.
#[tokio::test]
async fn the_keyboard_is_enough() {
    let story = home::lived_in().await;
    let base = Browser::new(story.app()).base;
    let browser = Chromium::open().await;
    let code = sign_in_code(story.app(), "Robin").await;
    browser.driver.goto(format!("{base}/login#{code}")).await.unwrap();
    browser.until("document.activeElement.type === 'submit'").await;
    browser.press(Key::Enter).await;
    browser.until("location.pathname === '/'").await;
    // The first stop leads past the navigation.
    browser.press(Key::Tab).await;
    browser.press(Key::Enter).await;
    assert_eq!(browser.value("document.activeElement.id").await, "main");
    let links =
        "[...document.querySelectorAll(\"nav[aria-label='Pages'] a\")].map((link) => link.getAttribute('href'))";
    let pages = browser.value(links).await;
    let pages: Vec<&str> = pages.as_array().unwrap().iter().map(|page| page.as_str().unwrap()).collect();
    assert!(pages.len() >= 10, "{pages:?}");
    for page in pages {
        browser.driver.goto(&base).await.unwrap();
        let is_below_more = format!("!!document.querySelector(\"nav details a[href='{page}']\")");
        if browser.value(&is_below_more).await == true {
            tab_to(&browser, "focus.matches('nav summary')").await;
            browser.press(Key::Enter).await;
        }
        tab_to(&browser, &format!("focus.getAttribute('href') === '{page}'")).await;
        let shown = "getComputedStyle(document.activeElement).outlineStyle";
        assert_ne!(browser.value(shown).await, "none", "{page}: the focus is seen");
        browser.press(Key::Enter).await;
        browser.until(&format!("location.pathname === '{page}'")).await;
    }
    browser.driver.goto(format!("{base}/me")).await.unwrap();
    tab_to(&browser, "focus.name === 'theme'").await;
    browser.press("D").await;
    tab_to(&browser, "focus.type === 'submit' && focus.textContent === 'Save'").await;
    browser.press(Key::Enter).await;
    browser.until("document.documentElement.dataset.theme === 'dark'").await;
    assert_eq!(story.text("SELECT theme FROM web_sessions"), "dark");
    story.end().await;
}

/// Types a character, and returns whether the page took it for a key of its own.
async fn types(browser: &Chromium, key: &str) -> bool {
    browser
        .value("addEventListener('keydown', (event) => { window.taken = event.defaultPrevented; }, { once: true })")
        .await;
    browser.press(key).await;
    browser.value("window.taken").await == true
}

/// Promise (page/shortcuts): Single keys open the pages, the search and the field for a message,
/// never while one writes, and each browser can turn them off.
#[tokio::test]
async fn single_keys_open_pages_until_they_are_turned_off() {
    let story = home::new().await;
    let base = Browser::new(story.app()).base;
    let browser = Chromium::open().await;
    browser.sign_in(&base, &sign_in_code(story.app(), "Robin").await).await;
    let keys = "[...document.querySelectorAll('.top a[data-key]')].map((link) => [link.dataset.key, link.pathname])";
    let keys = browser.value(keys).await;
    let keys: Vec<(&str, &str)> =
        keys.as_array().unwrap().iter().map(|pair| (pair[0].as_str().unwrap(), pair[1].as_str().unwrap())).collect();
    assert!(keys.len() >= 10, "{keys:?}");
    let pairs = keys.iter().map(|(key, path)| (format!("g{key}"), *path));
    for (keys, path) in
        pairs.chain([("/", "/search"), ("?", "/help"), ("n", "/chat")].map(|(key, path)| (key.into(), path)))
    {
        browser.driver.goto(format!("{base}/away?to=")).await.unwrap();
        browser.press(&*keys).await;
        browser.until(&format!("location.pathname === '{path}'")).await;
    }
    assert!(types(&browser, "n").await);
    assert_eq!(browser.value("document.activeElement.name").await, "text", "the field of the chat");
    assert!(!types(&browser, "?").await, "the field takes it");
    assert_eq!(browser.value("document.activeElement.value").await, "?");
    browser.driver.goto(format!("{base}/me")).await.unwrap();
    browser.value("document.querySelector('[name=shortcuts]').click()").await;
    browser.press_button("Save").await;
    browser.until("!('shortcuts' in document.documentElement.dataset)").await;
    for key in ["n", "/", "?"] {
        assert!(!types(&browser, key).await, "{key}");
    }
    story.end().await;
}
