//! Every page, for an owner and for a member, as a browser shows it.

use axum::Router;
use axum::response::Html;
use axum::routing::get;
use compline::web::Access;
use serde_json::json;

use crate::driver::Chromium;
use crate::examination::{faults, faults_here, loading_faults};
use crate::support::browser::{Browser, sign_in_code};
use crate::support::lived_in as home;
use crate::support::page_list::pages;

async fn every_page_is_good(name: &str, access: Access) {
    let story = home::everything().await;
    for folder in ["plans", "people/2-ada"] {
        story.writes(&format!("{folder}/Screenshot_20261127_101500_of_a_name_without_a_break.txt"), "A long name");
    }
    let reader = Browser::of(story.app(), name).await;
    let paths = pages(&reader, access).await;
    assert!(paths.len() >= 10, "{paths:?}");
    let browser = Chromium::open().await;
    browser.sign_in(&reader.base, &sign_in_code(story.app(), name).await).await;
    let mut found = Vec::new();
    for path in &paths {
        found.extend(faults(&browser, &reader.base, path).await);
    }
    assert!(found.is_empty(), "{} of {} pages:\n{}", found.len(), paths.len(), found.join("\n"));
    story.end().await;
}

/// Promise (page/accessible): Every page is free of faults that axe finds, fits a telephone and a
/// wide screen, light, dark, in forced colours and on paper, and loads nothing from elsewhere.
#[tokio::test]
async fn every_page_of_an_owner_is_good() {
    every_page_is_good("Robin", Access::Owner).await;
}

/// Proves: page/accessible
#[tokio::test]
async fn every_page_of_a_member_is_good() {
    every_page_is_good("Ada", Access::Member).await;
}

/// Pages that answer a form: where it stands, what is filled in, its button, and what then holds.
const ANSWERS: &[(&str, &str, &str, &str)] = &[
    (
        "/people",
        "document.querySelector('[value=pair]').form.elements.name.value = 'Carl'",
        "Make a code",
        "document.title.startsWith('A code for Carl') && !!document.querySelector('svg.qr')",
    ),
    ("/me", "0", "Make a code", "location.pathname === '/me/link'"),
    ("/schedule", "0", "Cancel", "location.pathname === '/act'"),
    (
        "/memory/pets",
        "0",
        "Forget this note",
        "location.pathname === '/act' && !!document.querySelector('main button')",
    ),
    ("/memory/untrusted/recipe", "0", "Read it and make it mine", "!!document.querySelector('[name=code]')"),
    ("/models", "document.querySelector('[name=hash]').value = '1'.repeat(64)", "Accept exactly this", REFUSED),
    ("/proposals/1", "document.querySelector('[name=hash]').value = '1'.repeat(64)", "Approve exactly this", REFUSED),
    (
        "/memory/pets?edit=1",
        "document.querySelector('[name=digest]').value = document.querySelector('main textarea').value = '1'.repeat(64)",
        "Save",
        REFUSED,
    ),
];
const REFUSED: &str = "!!document.querySelector('main [role=alert]')";

/// Proves: page/accessible
#[tokio::test]
async fn every_answer_to_a_form_is_good() {
    let story = home::everything().await;
    let base = Browser::new(story.app()).base;
    let browser = Chromium::open().await;
    browser.sign_in(&base, &sign_in_code(story.app(), "Robin").await).await;
    let mut found = Vec::new();
    for (path, fill, button, holds) in ANSWERS {
        browser.driver.goto(format!("{base}{path}")).await.unwrap();
        browser.value(fill).await;
        browser.console().await;
        browser.network().await;
        browser.press_button(button).await;
        browser.until(holds).await;
        found.extend(faults_here(&browser, &base, &format!("{path} ({button})")).await);
    }
    // The browser itself tells of a refusal.
    found.retain(|fault| !fault.contains("the server responded with a status of 409"));
    assert!(found.is_empty(), "{}", found.join("\n"));
    story.end().await;
}

/// Proves: page/accessible
#[tokio::test]
async fn every_refusal_is_good() {
    let story = home::new().await;
    let base = Browser::new(story.app()).base;
    let browser = Chromium::open().await;
    browser.sign_in(&base, &sign_in_code(story.app(), "Ada").await).await;
    let mut found = Vec::new();
    for (path, says) in [("/status", "Only an owner can see this."), ("/nowhere", "There is no such page.")] {
        found.extend(faults(&browser, &base, path).await);
        assert!(browser.text().await.contains(says), "{path}: {}", browser.text().await);
    }
    // A form of a browser that was signed out meanwhile.
    browser.driver.goto(format!("{base}/me")).await.unwrap();
    story.command_line(&["web", "--end-all"]).await;
    browser.console().await;
    browser.network().await;
    browser.press_button("Save").await;
    browser.until("document.querySelector('main').innerText.includes('You are signed out')").await;
    found.extend(faults_here(&browser, &base, "/me/display").await);
    // The browser itself tells of a refusal.
    let told = |fault: &String| {
        ["401", "403", "404"].iter().any(|status| fault.contains(&format!("responded with a status of {status}")))
    };
    found.retain(|fault| !told(fault));
    assert!(found.is_empty(), "{}", found.join("\n"));
    story.end().await;
}

/// A page with everything that is wrong with it, and what is said of that.
const FAULTY: &str = "<!doctype html><html lang=en><head><title>Faulty</title><meta name=viewport content='width=device-width'>\
    <style>.pale { color: #eee; background: #fff; forced-color-adjust: none; } @media print { .dark { color: #000; background: #111; } }</style>\
    </head><body><header class=top><a href=/>Menu</a></header><main><h1>Faulty</h1><img src=/x.png><p class=pale>pale words</p>\
    <p class=dark>dark words</p><div style='width:2000px'>wide</div></main></body></html>";
const SAID: &[&str] = &[
    "axe image-alt",
    "360 px, dark: axe color-contrast",
    "320 px: one must scroll sideways",
    "1280 px, light: one must scroll sideways",
    "forced colours: nobody sees p pale words",
    "print, dark: nobody sees p dark words",
    "print: on paper: header",
];

/// The examination sees the faults that it looks for.
#[tokio::test]
async fn each_fault_of_what_is_shown_is_seen() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let routes = Router::new().route("/", get(|| async { Html(FAULTY) }));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    let browser = Chromium::open().await;
    let found = faults(&browser, &base, "/").await;
    for said in SAID {
        assert!(found.iter().any(|fault| fault.contains(said)), "{said}: {}", found.join("\n"));
    }
    assert!(!found.iter().any(|fault| fault.contains("nobody sees h1")), "{}", found.join("\n"));
}

/// What the pages are held to would be seen.
#[tokio::test]
async fn each_fault_of_a_page_is_seen() {
    let story = home::new().await;
    let reader = Browser::of(story.app(), "Robin").await;
    let browser = Chromium::open().await;
    browser.driver.goto(format!("{}/login", reader.base)).await.unwrap();
    assert_eq!(loading_faults(&browser, &reader.base).await, [] as [&str; 0]);
    // Each plants one fault into the page.
    for (plant, seen) in [
        ("document.body.setAttribute('style', 'color: red')", "policy: style-src-attr"),
        ("document.body.innerHTML = '<b>x</b>'", "policy: require-trusted-types-for"),
        ("document.body.append(Object.assign(new Image(), { src: 'https://evil.example/x.png' }))", "policy: img-src"),
        ("fetch('https://evil.example/')", "policy: connect-src"),
        ("console.error('planted')", "console: "),
    ] {
        browser.driver.goto(format!("{}/login", reader.base)).await.unwrap();
        loading_faults(&browser, &reader.base).await;
        // Through the page's own policy, as its script would be.
        let planted = json!({ "expression": format!("setTimeout(() => {{ {plant} }}); new Promise((done) => setTimeout(done, 50))"), "awaitPromise": true });
        browser.control("Runtime.evaluate", planted).await;
        let found = loading_faults(&browser, &reader.base).await;
        assert!(found.iter().any(|fault| fault.starts_with(seen)), "{plant}: {found:?}");
    }
    browser
        .driver
        .goto("data:text/html,<title>x</title><img src=https://evil.example/x><div style='width:3000px'>x</div>")
        .await
        .unwrap();
    let elsewhere = loading_faults(&browser, &reader.base).await;
    assert!(elsewhere.iter().any(|fault| fault == "a request to https://evil.example/x"), "{elsewhere:?}");
    story.end().await;
}
