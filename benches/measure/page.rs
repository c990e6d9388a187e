//! The page at a million messages and ten thousand notes: each of its pages, through the router
//! and without a network.

use std::io::Write;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::header::{CONTENT_TYPE, COOKIE, HOST, SET_COOKIE};
use axum::http::{HeaderMap, Request, StatusCode};
use compline::app::App;
use compline::id::PersonId;
use compline::web::Web;
use flate2::Compression;
use flate2::write::GzEncoder;
use tower::ServiceExt;

use crate::library::{large_home, word};
use crate::support::browser::sign_in_code;
use crate::{figure, line};

const ADDRESS: &str = "127.0.0.1:7420";
const REQUESTS: usize = 200;
/// A route that has not answered by then is a stream.
const LIMIT: Duration = Duration::from_secs(20);
/// Time from which a page counts as a check that reads everything.
const SLOW: Duration = Duration::from_millis(100);

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

    async fn get(&self, path: &str) -> (StatusCode, HeaderMap, Vec<u8>) {
        let request =
            Request::get(path).header(HOST, ADDRESS).header(COOKIE, &self.cookie).header("accept", "text/html");
        let answer = self.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let (status, headers) = (answer.status(), answer.headers().clone());
        (status, headers, to_bytes(answer.into_body(), usize::MAX).await.unwrap().to_vec())
    }
}

pub async fn measure() {
    let (home, app, config) = large_home(10_000, 1_000_000, "[web]\nlisten = \"127.0.0.1:0\"\n").await;
    let browser = Browser::of(&app, config.web.clone().unwrap()).await;
    let mut times = Vec::new();
    for _ in 0..REQUESTS {
        let began = Instant::now();
        app.journal.read(|db| db.people().person(PersonId(1))).await.unwrap();
        times.push(began.elapsed());
    }
    line("one plain read of the journal", times, None);
    for path in paths() {
        page(&browser, &path).await;
    }
    assets(&browser).await;
    app.stop().await;
    drop(home);
}

/// Every page of the table, with the parts of its address filled in.
fn paths() -> Vec<String> {
    let rows = Web::table().into_iter().filter(|row| row.method == "GET" && !row.path.starts_with("/assets"));
    let filled = |part: &str| match part {
        "{*note}" => "note-7".to_owned(),
        "{*path}" => "memory/note-7.md".to_owned(),
        part if part.starts_with('{') => "1".to_owned(),
        part => part.to_owned(),
    };
    let path = |row: compline::web::RouteRow| row.path.split('/').map(filled).collect::<Vec<_>>().join("/");
    let searches = [word(3_000), format!("{} {}", word(40), word(900))]
        .map(|words| format!("/search?q={}", words.replace(' ', "+")));
    rows.map(path).chain(searches).collect()
}

async fn page(browser: &Browser, path: &str) {
    let began = Instant::now();
    let Ok((status, headers, body)) = tokio::time::timeout(LIMIT, browser.get(path)).await else {
        return figure(&format!("page {path}"), "a stream".to_owned());
    };
    if !status.is_success() {
        return figure(&format!("page {path}"), status.as_str().to_owned());
    }
    // A check that reads everything is not repeated as often.
    let requests = if began.elapsed() < SLOW { REQUESTS } else { 3 };
    let mut times = Vec::new();
    for _ in 0..requests {
        let began = Instant::now();
        browser.get(path).await;
        times.push(began.elapsed());
    }
    let kind = if path.starts_with("/search?") { "search" } else { "page" };
    line(&format!("{kind} {path}"), times, None);
    if headers[CONTENT_TYPE].to_str().unwrap().starts_with("text/html") {
        figure("  its size, and compressed", format!("{} / {} B", body.len(), compressed(&body)));
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
