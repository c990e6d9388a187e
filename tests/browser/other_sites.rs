//! Pages of other sites, and of other ports of this computer, against ours.

use std::time::Instant;

use axum::Router;
use axum::response::Html;
use axum::routing::get;
use serde_json::Value;

use crate::driver::{Chromium, LIMIT};
use crate::support::browser::{Browser, sign_in_code};
use crate::support::lived_in::{self as home, Story};

/// A site of somebody else on this computer, whose page tries everything on ours.
async fn other_site(own: &str) -> u16 {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let page = format!(
        "<!doctype html><title>Other</title><main><form method=post action='{own}/me/display'><input name=theme value=dark>\
         <button>Go</button></form><form method=post enctype=text/plain action='{own}/me/display'>\
         <input name=theme value=dark><button>Plain</button></form><iframe src='{own}/'></iframe><img src='{own}/'>\
         <script src='{own}/'></script>"
    );
    let routes = Router::new().route("/", get(move || async move { Html(page) }));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    port
}

/// Everything that a script can send without asking first.
fn sends(own: &str) -> String {
    format!(
        "Promise.all([ \
         fetch('{own}/me/display', {{ method: 'POST', mode: 'no-cors', credentials: 'include', body: new URLSearchParams({{ theme: 'dark' }}) }}).catch(() => 0), \
         fetch('{own}/', {{ credentials: 'include' }}).then(() => window.read = true, () => 0), \
         navigator.sendBeacon('{own}/me/display', new URLSearchParams({{ theme: 'dark' }}))])"
    )
}

async fn signed_in(story: &Story, base: &str, arguments: &[&str]) -> Chromium {
    let browser = Chromium::with(arguments).await;
    browser.sign_in(base, &sign_in_code(story.app(), "Robin").await).await;
    browser
}

/// What the page of another site sends: the kind of the request, as the browser names it, and its
/// method.
const PROBES: &[&str] = &["Document GET", "Image GET", "Script GET", "Fetch GET", "Fetch POST", "Ping POST"];

/// Requests to our page, each with the status of its answer, also of those that the browser kept
/// from the page that sent them.
fn answered(events: &[Value], own: &str) -> Vec<(String, u64)> {
    let facts = |method: &'static str| {
        events.iter().filter(move |event| event["method"] == method).map(|event| &event["params"])
    };
    let requests = facts("Network.requestWillBeSent");
    let ours = requests.filter(|sent| sent["request"]["url"].as_str().unwrap_or_default().starts_with(own));
    ours.filter_map(|sent| {
        let of_it = |fact: &&Value| fact["requestId"] == sent["requestId"];
        let extra = facts("Network.responseReceivedExtraInfo").find(of_it).map(|fact| &fact["statusCode"]);
        let status = extra.or_else(|| Some(&facts("Network.responseReceived").find(of_it)?["response"]["status"]))?;
        let kind = format!("{} {}", sent["type"].as_str().unwrap(), sent["request"]["method"].as_str().unwrap());
        Some((kind, status.as_u64().unwrap()))
    })
    .collect()
}

/// Proves: page/other-sites
#[tokio::test]
async fn pages_of_other_sites_and_ports_are_refused() {
    let story = home::new().await;
    let base = Browser::new(story.app()).base;
    let port = other_site(&base).await;
    let browser = signed_in(&story, &base, &["--host-resolver-rules=MAP evil.example 127.0.0.1"]).await;
    // Another site, and another port of the same host, whose forms carry the cookie.
    for other in [format!("http://evil.example:{port}"), format!("http://127.0.0.1:{port}")] {
        browser.network().await;
        browser.driver.goto(&other).await.unwrap();
        browser.value(&sends(&base)).await;
        assert_eq!(browser.value("window.read === true").await, false, "{other}");
        let mut events = Vec::new();
        let begun = Instant::now();
        while PROBES.iter().any(|probe| !answered(&events, &base).iter().any(|(sent, _)| sent == probe)) {
            assert!(begun.elapsed() < LIMIT, "{other}: only {:?}", answered(&events, &base));
            events.extend(browser.network().await);
        }
        let answers = answered(&events, &base);
        assert!(answers.iter().all(|(_, status)| *status == 403), "{other}: {answers:?}");
        for button in ["Go", "Plain"] {
            browser.driver.goto(&other).await.unwrap();
            browser.press_button(button).await;
            browser.until("document.body.innerText.includes('Another page sent this request')").await;
        }
        assert_eq!(story.text("SELECT theme FROM web_sessions"), "system", "{other}");
        // A link may lead here.
        browser.driver.goto(&other).await.unwrap();
        browser.value(&format!("location.assign('{base}/me')")).await;
        browser.until("location.pathname === '/me' && document.title.startsWith('Me')").await;
    }
    // What the others could not do is possible.
    browser.value("document.querySelector('option[value=dark]').selected = true").await;
    browser.press_button("Save").await;
    browser.until("document.documentElement.dataset.theme === 'dark'").await;
    story.end().await;
}

/// Proves: page/other-sites
#[tokio::test]
async fn a_name_that_was_led_here_reads_nothing() {
    let story = home::new().await;
    let base = Browser::new(story.app()).base;
    let port = base.rsplit(':').next().unwrap();
    let browser = signed_in(&story, &base, &["--host-resolver-rules=MAP evil.example 127.0.0.1"]).await;
    let evil = format!("http://evil.example:{port}");
    for path in ["/", "/me", "/login", "/health", "/assets/1/page.css"] {
        browser.driver.goto(format!("{evil}{path}")).await.unwrap();
        let status = browser.value("performance.getEntriesByType('navigation')[0].responseStatus").await;
        assert_eq!(status, 421, "{path}");
        assert!(!browser.text().await.contains("Robin"), "{path}");
    }
    let read = "fetch('/me').then((answer) => answer.status)";
    assert_eq!(browser.value(read).await, 421, "a script of that name");
    story.end().await;
}
