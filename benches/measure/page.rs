//! The page at a million messages and ten thousand notes: each of its pages, through the router
//! and without a network.

use std::io::Write;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::header::{ACCEPT_ENCODING, CONTENT_TYPE, COOKIE, HOST, SET_COOKIE};
use axum::http::{HeaderMap, Request, StatusCode};
use compline::app::App;
use compline::id::PersonId;
use compline::store::HealthState;
use compline::time::{Clock, SystemClock, Zone};
use compline::web::{RouteRow, Web};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use tower::ServiceExt;

use crate::library::{LargeHome, QUIET, large_home, word};
use crate::support::browser::sign_in_code;
use crate::{Scale, figure, line};

const ADDRESS: &str = "127.0.0.1:7420";
/// A route that has not answered by then is a stream.
const LIMIT: Duration = Duration::from_secs(20);
/// Number of days with a recorded change of health.
const CHANGES: u32 = 90;
const DAY: Duration = Duration::from_hours(24);

/// A signed-in browser at the router.
struct Browser {
    router: Router,
    cookie: String,
}

impl Browser {
    async fn of(app: &App, config: compline::config::Web) -> Self {
        let address = ADDRESS.parse().unwrap();
        let router = app.page_at(config, address).await.unwrap().routes();
        app.admin.page.served_at(address);
        let mut browser = Self { router, cookie: String::new() };
        let code = sign_in_code(app, "P1").await;
        let request = Request::post("/login").header("sec-fetch-site", "same-origin");
        let form = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").header(HOST, ADDRESS);
        let answer =
            browser.router.clone().oneshot(form.body(Body::from(format!("code={code}"))).unwrap()).await.unwrap();
        browser.cookie = answer.headers()[SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
        browser
    }

    /// Writes a message in the chat, and waits until a page shows what comes of it.
    async fn says(&self, text: &str, path: &str, shown: &str) {
        let id = text.len();
        let request = Request::post("/chat").header(HOST, ADDRESS).header(COOKIE, &self.cookie);
        let request = request.header("sec-fetch-site", "same-origin");
        let form = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let body = url::form_urlencoded::Serializer::new(format!("id={id}")).append_pair("text", text).finish();
        let answer = self.router.clone().oneshot(form.body(Body::from(body)).unwrap()).await.unwrap();
        assert!(answer.status().is_redirection(), "{text}: {}", answer.status());
        let coming = async {
            while !self.shows(path).await.contains(shown) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let came = tokio::time::timeout(LIMIT, coming).await;
        assert!(came.is_ok(), "{text}: {shown} never came to {path}: {}", self.shows("/chat/messages").await);
    }

    async fn shows(&self, path: &str) -> String {
        String::from_utf8(self.get(path).await.2).unwrap()
    }

    async fn get(&self, path: &str) -> (StatusCode, HeaderMap, Vec<u8>) {
        self.get_as(path, "identity").await
    }

    /// Opens a page as a browser that reads that encoding.
    async fn get_as(&self, path: &str, encoding: &str) -> (StatusCode, HeaderMap, Vec<u8>) {
        let request = Request::get(path).header(HOST, ADDRESS).header(COOKIE, &self.cookie);
        let request = request.header("accept", "text/html").header(ACCEPT_ENCODING, encoding);
        // Some pages answer to this computer alone.
        let request = request.extension(ConnectInfo(ADDRESS.parse::<SocketAddr>().unwrap()));
        let answer = self.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let (status, headers) = (answer.status(), answer.headers().clone());
        (status, headers, to_bytes(answer.into_body(), usize::MAX).await.unwrap().to_vec())
    }
}

pub async fn measure(scale: Scale) {
    let requests = scale.of(200, 1);
    let home = large_home(scale.of(10_000, 20), scale.of(1_000_000, 1_000), "[web]\nlisten = \"127.0.0.1:0\"\n").await;
    let app = &home.app;
    let browser = Browser::of(app, home.config.web.clone().unwrap()).await;
    begin_each_list(&home, &browser).await;
    let mut times = Vec::new();
    for _ in 0..requests {
        let began = Instant::now();
        app.journal.read(|db| db.people().person(PersonId(1))).await.unwrap();
        times.push(began.elapsed());
    }
    line("one plain read of the journal", times, None);
    for path in paths(&browser).await {
        page(&browser, &path, requests).await;
    }
    assets(&browser).await;
    home.app.stop().await;
}

/// Makes one row of each kind that has a page of its own: a reminder, a proposal, a file that was
/// sent, a skill and a reflection on a full day, and with them use of a model and changes of
/// health.
async fn begin_each_list(home: &LargeHome, browser: &Browser) {
    let skill = |name| format!("---\nname: {name}\ndescription: Use when tea is to be made.\n---\n\nBoil it.\n");
    let proposed = json!({ "name": "coffee", "change": "create", "rationale": "It was asked for.",
        "files": [{ "path": "SKILL.md", "content": skill("coffee") }] });
    for (tool, arguments) in [
        ("remind", json!({ "when": "in 3 days", "text": "Water the plants" })),
        ("submit_skill", proposed),
        ("send_file", json!({ "path": "memory/note-7.md" })),
    ] {
        let answer = format!("Done by {tool}");
        home.model.calls(tool, arguments).says(&answer);
        browser.says(&format!("Please {tool}"), "/chat/messages", &answer).await;
    }
    std::fs::create_dir_all(home.folder.path().join("skills/tea")).unwrap();
    std::fs::write(home.folder.path().join("skills/tea/SKILL.md"), skill("tea")).unwrap();
    browser.says("/skills", "/skills", "href=\"/skills/tea\"").await;
    let now = SystemClock::default().now();
    let full = now.minus(QUIET + DAY);
    // Reflections begin with the day on which a person was first known, which is today.
    home.edit(&format!("UPDATE people SET created_at = {}", full.0));
    let day = Zone::UTC.day(full);
    browser.says(&format!("/reflect daily {day}"), "/reflections", "href=\"/reflections/1\"").await;
    let changes = home.app.journal.write("prepare", move |tx| {
        (0..CHANGES).try_for_each(|days| {
            let state = if days % 3 == 0 { HealthState::Ill } else { HealthState::Well };
            tx.health_changes().record("telegram", state, now.minus(DAY * (CHANGES - days)))
        })
    });
    changes.await.unwrap();
}

/// Every page of the table, with the parts of its address filled in.
async fn paths(browser: &Browser) -> Vec<String> {
    let is_read = |row: &RouteRow| row.method == "GET" && !row.path.starts_with("/assets");
    let rows = Web::table().into_iter().filter(is_read);
    let chat = browser.shows("/chat").await;
    let sent = chat.split("/chat/files/").nth(1).expect("a file was sent").split('"').next().unwrap().to_owned();
    let filled = |part: &str| match part {
        "away" => "away?to=https://example.org/".to_owned(),
        "{*note}" => "note-7".to_owned(),
        "{*path}" => "memory/note-7.md".to_owned(),
        "{name}" => "tea".to_owned(),
        "{part}" => sent.clone(),
        part if part.starts_with('{') => "1".to_owned(),
        part => part.to_owned(),
    };
    let path = |row: RouteRow| row.path.split('/').map(filled).collect::<Vec<_>>().join("/");
    let searches = [word(3_000), format!("{} {}", word(40), word(900))]
        .map(|words| format!("/search?q={}", words.replace(' ', "+")));
    rows.map(path).chain(searches).collect()
}

async fn page(browser: &Browser, path: &str, requests: u32) {
    let Ok((status, headers, sent)) = tokio::time::timeout(LIMIT, browser.get_as(path, "gzip")).await else {
        return figure(&format!("page {path}"), "a stream".to_owned());
    };
    assert!(status.is_success(), "{path}: {status}");
    let mut times = Vec::new();
    for _ in 0..requests {
        let began = Instant::now();
        browser.get_as(path, "gzip").await;
        times.push(began.elapsed());
    }
    let kind = if path.starts_with("/search?") { "search" } else { "page" };
    line(&format!("{kind} {path}"), times, None);
    if headers[CONTENT_TYPE].to_str().unwrap().starts_with("text/html") {
        let whole = browser.get(path).await.2;
        figure("  its size; as sent", format!("{} / {} B", whole.len(), sent.len()));
    }
}

/// Sizes of script, style and icon, as the first page names them.
async fn assets(browser: &Browser) {
    let (_, _, page) = browser.get("/").await;
    let page = String::from_utf8(page).unwrap();
    let mut all = 0;
    for path in page.split('"').filter(|part| part.starts_with("/assets/")) {
        let size = compressed(&browser.get(path).await.2);
        all += size;
        figure(path.rsplit('/').next().unwrap(), format!("{size} B"));
    }
    figure("script, style and icon, compressed (aim 25 KB)", format!("{all} B"));
}

fn compressed(bytes: &[u8]) -> usize {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap().len()
}
