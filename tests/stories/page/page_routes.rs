//! Who may use which route, and which requests are served at all.

use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use compline::web::{Access, RouteRow, Web};
use reqwest::{Method, StatusCode};
use tower::ServiceExt;

use crate::support::browser::{Browser, Page, SERVED, answer};
use crate::support::story::{ADA, StoryOver};
use crate::support::telegram::FakeTelegram;

type Story = StoryOver<FakeTelegram>;

const METHODS: [Method; 7] =
    [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::DELETE, Method::PATCH, Method::OPTIONS];

/// Routes that need no session.
const OPEN: [(&str, &str); 6] = [
    ("GET", "/health"),
    ("GET", "/metrics"),
    ("GET", "/assets/{digest}/{name}"),
    ("GET", "/login"),
    ("POST", "/login"),
    ("POST", "/login/person"),
];

/// First parts of the paths that are for owners alone.
const OWNERS: [&str; 6] = ["models", "people", "proposals", "reflections", "skills", "status"];

/// Headers of every answer.
const HEADERS: [(&str, &str); 8] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
         trusted-types 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=(), clipboard-read=()"),
    ("cache-control", "no-store"),
];

/// Compares the headers of an answer with those of every answer, but for a file and a stream.
#[track_caller]
fn has_all_headers(page: &Page, told: &str) {
    let is_stream = page.headers.get("content-type").is_some_and(|kind| kind == "text/event-stream");
    for (name, value) in HEADERS {
        let value = match name {
            "content-security-policy" if page.headers.contains_key("content-disposition") => {
                "default-src 'none'; sandbox"
            }
            "cache-control" if is_stream => "no-cache",
            _ => value,
        };
        let sent: Vec<_> = page.headers.get_all(name).iter().collect();
        assert_eq!(sent, [value], "{name} of {told}");
    }
}

/// Sends a request as the page itself does.
async fn sent(browser: &Browser, method: &Method, path: &str) -> Page {
    let request = browser.request(method.clone(), path).header("sec-fetch-site", "same-origin");
    let request = match *method {
        Method::GET | Method::HEAD => request,
        _ => request.header("content-type", "application/x-www-form-urlencoded").body("a=b"),
    };
    answer(request).await
}

/// Fills in the parts of a path.
fn filled(path: &str) -> String {
    let parts = path.split('/').map(|part| if part.starts_with('{') { "1" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

/// Promise (page/routes): Without a session the page shows and does nothing, a member sees only
/// what members may, and an ended session counts as none, on every route and with every method.
#[tokio::test]
async fn every_route_knows_who_may_use_it() {
    let story = Story::with(SERVED).await;
    let nobody = Browser::new(story.app());
    let (member, owner) = (Browser::of(story.app(), "Ben").await, Browser::of(story.app(), "Ada").await);
    let wrong = owner.clone().with_cookie(owner.cookie.clone().map(|cookie| format!("{cookie}x")));
    let ended = Browser::of(story.app(), "Ada").await;
    assert_eq!(ended.clone().post("/sign-out", &[]).await.leads_to(), "/login");
    let visitors = [
        (&nobody, None),
        (&wrong, None),
        (&ended, None),
        (&member, Some(Access::Member)),
        (&owner, Some(Access::Owner)),
    ];
    let table = Web::table();
    let open = table.iter().filter(|row| row.access == Access::Anyone).map(|row| (row.method, row.path));
    assert_eq!(open.collect::<Vec<_>>(), OPEN);
    for RouteRow { path, access, .. } in &table {
        let is_owners = OWNERS.contains(&path.split('/').nth(1).unwrap());
        assert_eq!(*access == Access::Owner, is_owners, "{path}");
        for (browser, visitor) in visitors {
            for method in METHODS {
                let wanted = if method == Method::HEAD { "GET" } else { method.as_str() };
                let row = table.iter().find(|row| row.path == *path && row.method == wanted);
                // These end the session of the visitor.
                if visitor.is_some() && ["/sign-out", "/me/browsers/end-all"].contains(path) && method == Method::POST {
                    continue;
                }
                let page = sent(browser, &method, &filled(path)).await;
                let told = format!("{method} {path} as {visitor:?}: {} {}", page.status, page.text);
                match (row.map(|row| row.access), visitor) {
                    (None, _) => assert_eq!(page.status, StatusCode::METHOD_NOT_ALLOWED, "{told}"),
                    (Some(Access::Anyone), _) => assert_ne!(page.status, StatusCode::UNAUTHORIZED, "{told}"),
                    (Some(_), None) if wanted == "GET" => assert_eq!(page.leads_to(), "/login", "{told}"),
                    (Some(_), None) => assert_eq!(page.status, StatusCode::UNAUTHORIZED, "{told}"),
                    (Some(Access::Owner), Some(Access::Member)) => {
                        assert_eq!(page.status, StatusCode::FORBIDDEN, "{told}")
                    }
                    (Some(_), Some(_)) => {
                        assert!(!page.status.is_server_error() && page.status != StatusCode::FORBIDDEN, "{told}");
                        assert_ne!(page.status, StatusCode::UNAUTHORIZED, "{told}");
                    }
                }
                has_all_headers(&page, &told);
            }
        }
    }
    story.end().await;
}

/// Promise (page/where-one-is): The navigation marks the page on which one is.
#[tokio::test]
async fn the_navigation_marks_the_page() {
    let story = Story::with(SERVED).await;
    let ada = Browser::of(story.app(), "Ada").await;
    let document = dom_query::Document::from(ada.get("/").await.text);
    let links = document.select("nav[aria-label=Pages] a");
    let paths: Vec<String> = links.iter().map(|link| link.attr_or("href", "").to_string()).collect();
    assert!(paths.len() > 10, "{paths:?}");
    for path in paths {
        let page = dom_query::Document::from(ada.get(&path).await.text);
        let marked = page.select("nav[aria-label=Pages] a[aria-current=page]");
        assert_eq!(marked.attr_or("href", "").to_string(), path);
    }
    story.end().await;
}

/// Proves: page/shortcuts
#[tokio::test]
async fn the_help_names_each_key_of_the_navigation() {
    let story = Story::with(SERVED).await;
    for name in ["Ada", "Ben"] {
        let help = dom_query::Document::from(Browser::of(story.app(), name).await.get("/help").await.text);
        let links = help.select("nav[aria-label=Pages] a[data-key]");
        let keys: Vec<_> =
            links.iter().map(|link| (format!("g {}", link.attr_or("data-key", "")), link.text())).collect();
        assert!(keys.len() >= 10, "{keys:?}");
        let rows = help.select("main tr:has(kbd)");
        let rows: Vec<_> =
            rows.iter().map(|row| (row.select("kbd").text().to_string(), row.select("td:last-child").text())).collect();
        assert_eq!(rows[..keys.len()], keys, "{name}");
    }
    story.end().await;
}

/// Promise (page/other-sites): A page under another name, from another site or another port of this
/// computer reads nothing and changes nothing.
#[tokio::test]
async fn requests_of_other_pages_are_refused() {
    let story = Story::with(SERVED).await;
    let ada = Browser::of(story.app(), "Ada").await;
    // Another name that leads to this computer.
    for path in ["/", "/login", "/status", "/health", "/assets/1/page.css"] {
        let page = answer(ada.request(Method::GET, path).header("host", "evil.example:7420")).await;
        assert_eq!(page.status, StatusCode::MISDIRECTED_REQUEST, "{path}");
        assert!(page.text.contains("[web] public_url = \"https://evil.example:7420\""), "{}", page.text);
        has_all_headers(&page, path);
    }
    // A form of another site, with the cookie that the browser adds.
    let own = ada.base.clone();
    let neighbour = "http://127.0.0.1:1";
    for (site, origin, is_ours) in [
        (Some("cross-site"), Some("https://evil.example"), false),
        (Some("same-site"), Some(neighbour), false),
        (Some("none"), None, false),
        (None, Some("null"), false),
        (None, Some(neighbour), false),
        (None, None, false),
        (None, Some(own.as_str()), true),
        (Some("same-origin"), Some(own.as_str()), true),
    ] {
        let mut request = ada
            .request(Method::POST, "/me/display")
            .header("content-type", "application/x-www-form-urlencoded")
            .body("theme=dark");
        for (name, value) in [("sec-fetch-site", site), ("origin", origin)] {
            request = value
                .map_or_else(|| request.try_clone().unwrap(), |value| request.try_clone().unwrap().header(name, value));
        }
        let page = answer(request).await;
        let wanted = if is_ours { StatusCode::SEE_OTHER } else { StatusCode::FORBIDDEN };
        assert_eq!(page.status, wanted, "{site:?} {origin:?}");
        has_all_headers(&page, "a form");
    }
    // No picture, script or frame elsewhere can read it; a link may lead here.
    for (mode, dest, passes) in
        [("navigate", "document", true), ("navigate", "iframe", false), ("no-cors", "image", false)]
    {
        let request = ada
            .request(Method::GET, "/")
            .header("sec-fetch-site", "cross-site")
            .header("sec-fetch-mode", mode)
            .header("sec-fetch-dest", dest);
        assert_eq!(answer(request).await.status.is_success(), passes, "{mode} {dest}");
    }
    story.end().await;
}

/// Headers of a proxy that say that a request came to `host` from `peer`.
fn forwarded(host: &str, peer: &str) -> [(&'static str, String); 5] {
    [
        ("x-forwarded-host", host.to_owned()),
        ("x-forwarded-for", peer.to_owned()),
        ("x-real-ip", peer.to_owned()),
        ("x-forwarded-proto", "https".to_owned()),
        ("forwarded", format!("for={peer};host=\"{host}\";proto=https")),
    ]
}

/// Proves: page/other-sites
#[tokio::test]
async fn no_forwarded_header_is_read() {
    let story = Story::with(&format!("{SERVED}public_url = \"https://home.example\"\n")).await;
    let ada = Browser::of(story.app(), "Ada").await;
    let own = ada.base.trim_start_matches("http://");
    let request = |method: Method, path: &str, host: &str, headers: &[(&str, String)]| {
        let request = ada.request(method, path).header("host", host);
        headers.iter().fold(request, |request, (name, value)| request.header(*name, value))
    };
    let here = forwarded(own, "127.0.0.1");
    let refused = answer(request(Method::GET, "/", "evil.example", &here)).await;
    assert_eq!(refused.status, StatusCode::MISDIRECTED_REQUEST, "{}", refused.text);
    let form = |origin: &str, host: &str| {
        let request = request(Method::POST, "/sign-out", own, &forwarded(host, "192.168.1.7"));
        request.header("origin", origin).header("content-type", "application/x-www-form-urlencoded").body("")
    };
    let refused = answer(form("https://evil.example", "evil.example")).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", refused.text);
    // The page's own form, answered with the cookie of this computer.
    let out = answer(form(&ada.base, "home.example")).await;
    let cookie = out.headers["set-cookie"].to_str().unwrap();
    assert!(cookie.starts_with("compline-") && !cookie.contains("Secure"), "{cookie}");
    // The numbers go by the connection and the name.
    let routes = ada.routes(story.app(), story.config()).await;
    for (peer, host, status) in [
        ("127.0.0.1:50000", own, StatusCode::OK),
        ("192.168.1.7:50000", own, StatusCode::NOT_FOUND),
        ("127.0.0.1:50000", "home.example", StatusCode::NOT_FOUND),
    ] {
        let peer: SocketAddr = peer.parse().unwrap();
        for headers in [forwarded(own, "127.0.0.1"), forwarded("home.example", "192.168.1.7")] {
            let request = Request::get("/metrics").header("host", host).extension(ConnectInfo(peer));
            let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
            let response = routes.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
            assert_eq!(response.status(), status, "{peer} {host} {headers:?}");
        }
    }
    story.end().await;
}

/// Promise (page/health): `/health` succeeds only while every configured channel receives; it and
/// `/metrics` need no session, hold no names and no words, and answer under the public address only
/// if the configuration says so.
#[tokio::test]
async fn health_and_metrics_tell_no_names() {
    let settings = format!("{SERVED}public_url = \"https://home.example\"\n");
    let mut story = Story::with(&settings).await;
    let nobody = Browser::new(story.app());
    let health = nobody.get("/health").await;
    assert_eq!((health.status, &*health.text), (StatusCode::OK, "ok\n"));
    let metrics = nobody.get("/metrics").await.text;
    assert!(metrics.contains("compline_channel_receiving{channel=\"telegram\"} 1\n"), "{metrics}");
    assert!(metrics.ends_with("# EOF\n"), "{metrics}");
    for name in ["Ada", "Ben", "Eve"] {
        assert!(!metrics.contains(name), "{metrics}");
    }
    let in_public = async |browser: &Browser, path: &str| {
        answer(browser.request(Method::GET, path).header("host", "home.example")).await.status
    };
    for path in ["/health", "/metrics"] {
        assert_eq!(in_public(&nobody, path).await, StatusCode::NOT_FOUND, "{path}");
    }
    story.fake.conflict_next(1000);
    story.until(async || nobody.get("/health").await.status == StatusCode::SERVICE_UNAVAILABLE).await;
    let metrics = nobody.get("/metrics").await.text;
    assert!(metrics.contains("compline_channel_receiving{channel=\"telegram\"} 0\n"), "{metrics}");
    story.fake.clear_faults();
    story.fake.says(ADA, "hello");
    story.until(async || nobody.get("/health").await.status == StatusCode::OK).await;
    story.settings(&format!("{settings}public_metrics = true\n"));
    story.restart().await;
    let nobody = nobody.at(story.app());
    for path in ["/health", "/metrics"] {
        assert_eq!(in_public(&nobody, path).await, StatusCode::OK, "{path}");
    }
    story.end().await;
}
