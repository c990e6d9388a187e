//! Signing in: one-time links, sessions, and their end.

use std::time::Duration;

use compline::time::Clock;
use reqwest::{Method, StatusCode};

use crate::support::browser::{Browser, SERVED, answer, sign_in_code};
use crate::support::story::{ADA, BEN, StoryOver};
use crate::support::telegram::FakeTelegram;

type Story = StoryOver<FakeTelegram>;

const DAY: Duration = Duration::from_secs(24 * 3600);

async fn begin() -> Story {
    Story::with(SERVED).await
}

/// Signs a browser in that calls itself so.
async fn signed_in(story: &Story, person: &str, agent: &str) -> Browser {
    let browser = Browser::new(story.app());
    let code = sign_in_code(story.app(), person).await;
    let request = browser
        .request(Method::POST, "/login")
        .header("sec-fetch-site", "same-origin")
        .header("user-agent", agent)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(format!("code={code}"));
    let cookie = answer(request).await.headers["set-cookie"].to_str().unwrap().split(';').next().map(str::to_owned);
    browser.with_cookie(cookie)
}

/// The browsers that `/me` lists: each by its words for itself, with the id in its form.
async fn listed(browser: &Browser) -> Vec<(String, String)> {
    let page = dom_query::Document::from(browser.get("/me").await.text);
    let rows = page.select("tr:has(form[action='/me/browsers/end'])");
    let id = |row: &dom_query::Selection<'_>| row.select("button[name=id]").attr_or("value", "").to_string();
    rows.iter().map(|row| (row.select("bdi").text().to_string(), id(&row))).collect()
}

async fn is_in(browser: &Browser) -> bool {
    browser.get("/").await.status == StatusCode::OK
}

/// Promise (page/sign-in): A link from `compline web` signs one browser in, once, within two
/// minutes.
#[tokio::test]
async fn a_link_signs_one_browser_in_once() {
    let story = begin().await;
    let code = sign_in_code(story.app(), "Ada").await;
    let (mut first, mut second) = (Browser::new(story.app()), Browser::new(story.app()));
    let named = first.post("/login/person", &[("code", &code)]).await;
    assert_eq!((named.status, &*named.text), (StatusCode::OK, "Ada"), "It is told whom it signs in");
    assert!(!is_in(&first).await, "Looking at the link signs nobody in");
    assert_eq!(first.post("/login", &[("code", &format!(" {code}\n"))]).await.leads_to(), "/");
    assert!(is_in(&first).await);
    let refused = second.post("/login", &[("code", &code)]).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert!(refused.text.contains("used up or too old"), "{}", refused.text);
    let late = sign_in_code(story.app(), "Ada").await;
    story.pass(Duration::from_secs(121)).await;
    assert_eq!(second.post("/login", &[("code", &late)]).await.status, StatusCode::FORBIDDEN);
    assert!(!is_in(&second).await);
    story.end().await;
}

/// Promise (page/guessing): A wrong sign-in code is refused and changes nothing, so nobody keeps
/// others out by guessing.
#[tokio::test]
async fn wrong_codes_keep_nobody_out() {
    let story = begin().await;
    let mut browser = Browser::new(story.app());
    let code = sign_in_code(story.app(), "Ada").await;
    for _ in 0..6 {
        for path in ["/login", "/login/person"] {
            let refused = browser.post(path, &[("code", "guess")]).await;
            assert_eq!(refused.status, StatusCode::FORBIDDEN);
            assert!(refused.text.contains("mistyped, used up or too old"), "{}", refused.text);
        }
    }
    assert!(!is_in(&browser).await);
    assert_eq!(browser.post("/login", &[("code", &code)]).await.status, StatusCode::SEE_OTHER);
    story.end().await;
}

/// Promise (page/session-end): A browser is signed out when its time is over, from any other
/// browser, by `compline web --end-all`, and when its person's access or role changes.
#[tokio::test]
async fn a_session_ends_in_many_ways() {
    let mut story = begin().await;
    let lost = Browser::of(story.app(), "Ada").await;
    let mut other = Browser::of(story.app(), "Ada").await;
    let ben = Browser::of(story.app(), "Ben").await;
    let lost_id = story.count("SELECT min(id) FROM web_sessions").to_string();
    // Nobody ends another person's browser.
    let bens = story.count("SELECT max(id) FROM web_sessions").to_string();
    other.post("/me/browsers/end", &[("id", &bens)]).await;
    assert!(is_in(&ben).await);
    assert_eq!(other.post("/me/browsers/end", &[("id", &lost_id)]).await.leads_to(), "/me");
    assert!(!is_in(&lost).await && is_in(&other).await);
    // Used now and then, it lasts; unused, it ends.
    for _ in 0..3 {
        story.pass(20 * DAY).await;
        assert!(is_in(&other).await);
    }
    assert!(!is_in(&ben).await);
    story.pass(31 * DAY).await;
    assert!(!is_in(&other).await);
    // Everyone is signed out from the computer, and open links are void.
    let (ada, ben) = (Browser::of(story.app(), "Ada").await, Browser::of(story.app(), "Ben").await);
    let code = sign_in_code(story.app(), "Ada").await;
    assert_eq!(story.command_line(&["web", "--end-all"]).await.json["ended"], 2);
    assert!(!is_in(&ada).await && !is_in(&ben).await);
    assert_eq!(other.post("/login", &[("code", &code)]).await.status, StatusCode::FORBIDDEN);
    // Removed, and a change of role.
    let ben = Browser::of(story.app(), "Ben").await;
    story.people_are(&[("Ada", "owner", ADA), ("Ben", "owner", BEN)]);
    story.restart().await;
    let ben = ben.at(story.app());
    assert!(!is_in(&ben).await, "An owner signs in as an owner");
    let ben = Browser::of(story.app(), "Ben").await;
    story.only_ada();
    story.restart().await;
    let ben = ben.at(story.app());
    assert!(!is_in(&ben).await);
    story.end().await;
}

/// Proves: page/session-end
#[tokio::test]
async fn what_is_over_stays_over_when_the_clock_is_set_back() {
    let story = begin().await;
    let ben = Browser::of(story.app(), "Ben").await;
    let code = sign_in_code(story.app(), "Ada").await;
    let mut nobody = Browser::new(story.app());
    let start = story.clock.now();
    story.pass(31 * DAY).await;
    assert!(!is_in(&ben).await);
    assert_eq!(nobody.post("/login", &[("code", &code)]).await.status, StatusCode::FORBIDDEN);
    story.clock.set(start);
    assert!(!is_in(&ben).await, "the session lives again");
    assert_eq!(nobody.post("/login", &[("code", &code)]).await.status, StatusCode::FORBIDDEN);
    story.end().await;
}

/// Proves: page/session-end
#[tokio::test]
async fn a_lost_browser_is_found_by_its_name_and_ended() {
    let story = begin().await;
    let (mut laptop, telephone) =
        (signed_in(&story, "Ada", "Laptop/1").await, signed_in(&story, "Ada", "Telephone/2").await);
    let ben = signed_in(&story, "Ben", "Tablet/3").await;
    let browsers = listed(&laptop).await;
    let id = |name: &str| {
        browsers.iter().find(|(shown, _)| shown == name).unwrap_or_else(|| panic!("{browsers:?}")).1.clone()
    };
    let (lost, own) = (id("Telephone/2"), id("Laptop/1"));
    assert!(browsers.len() == 2 && lost != own, "{browsers:?}");
    laptop.post("/me/browsers/end", &[("id", &lost)]).await;
    assert!(!is_in(&telephone).await && is_in(&laptop).await && is_in(&ben).await);
    assert_eq!(listed(&laptop).await, [("Laptop/1".to_owned(), own)]);
    // All of one's own, from any of them.
    let telephone = signed_in(&story, "Ada", "Telephone/2").await;
    laptop.post("/me/browsers/end-all", &[]).await;
    assert!(!is_in(&telephone).await && !is_in(&laptop).await && is_in(&ben).await);
    // All of a person and their open links, from the computer.
    let (one, other) = (Browser::of(story.app(), "Ada").await, Browser::of(story.app(), "Ada").await);
    let (adas, bens) = (sign_in_code(story.app(), "Ada").await, sign_in_code(story.app(), "Ben").await);
    assert_eq!(story.command_line(&["web", "--end-all", "--as", "Ada"]).await.json["ended"], 2);
    assert!(!is_in(&one).await && !is_in(&other).await && is_in(&ben).await);
    for (code, status) in [(adas, StatusCode::FORBIDDEN), (bens, StatusCode::SEE_OTHER)] {
        assert_eq!(laptop.post("/login", &[("code", &code)]).await.status, status);
    }
    story.end().await;
}

/// Promise (page/sign-out): Signing out forgets the browser, and a session outlives a restart.
#[tokio::test]
async fn a_session_outlives_a_restart_and_ends_with_signing_out() {
    let mut story = begin().await;
    let ada = Browser::of(story.app(), "Ada").await;
    story.restart().await;
    let mut ada = ada.at(story.app());
    assert!(is_in(&ada).await);
    let cookie = ada.cookie.clone();
    let out = ada.post("/sign-out", &[]).await;
    assert_eq!(out.leads_to(), "/login");
    assert_eq!(out.headers["clear-site-data"], "\"cache\", \"storage\"", "cookies of neighbours stay");
    let mut ada = ada.with_cookie(cookie);
    assert!(!is_in(&ada).await);
    // What was typed meanwhile is not lost: loading the page again sends it.
    let refused = ada.post("/new-note", &[("name", "tea"), ("text", "Green")]).await;
    assert!(refused.text.contains("load this page again") && refused.text.contains("<h1>"), "{}", refused.text);
    assert_eq!(story.count("SELECT count(*) FROM web_sessions"), 0);
    story.end().await;
}

/// Promise (page/public): `/web` in the chat makes a link only when the page has a public address,
/// and the cookie of that address is never sent without TLS.
#[tokio::test]
async fn the_chat_makes_links_for_a_public_address_only() {
    let mut story = Story::with(SERVED).await;
    story.say(ADA, "/web").await;
    story.settle().await;
    assert!(story.last_received_by(ADA).contains("only on the computer"), "{}", story.last_received_by(ADA));
    story.settings(&format!("{SERVED}public_url = \"https://home.example\"\n"));
    story.restart().await;
    story.say(BEN, "/web").await;
    story.settle().await;
    let told = story.last_received_by(BEN);
    let link = told.split_whitespace().find(|word| word.starts_with("https://home.example/login#")).unwrap();
    let code = link.split_once('#').unwrap().1;
    let browser = Browser::new(story.app());
    let request = browser
        .request(Method::POST, "/login")
        .header("host", "home.example")
        .header("origin", "https://home.example")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(format!("code={code}"));
    let page = answer(request).await;
    let cookie = page.headers["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.starts_with("__Host-compline-") && cookie.contains("; Secure"), "{cookie}");
    assert!(cookie.contains("; HttpOnly; SameSite=Lax"), "{cookie}");
    // The cookie of one name does not count under the other.
    let cookie = cookie.split(';').next().map(str::to_owned);
    assert!(!is_in(&browser.with_cookie(cookie)).await);
    story.end().await;
}
