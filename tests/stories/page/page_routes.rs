//! Who may use which route, and which requests are served at all.

use compline::web::{Access, RouteRow, Web};
use reqwest::{Method, StatusCode};

use crate::support::browser::{Browser, Page, SERVED, answer};
use crate::support::story::{ADA, StoryOver};
use crate::support::telegram::FakeTelegram;

type Story = StoryOver<FakeTelegram>;

const METHODS: [Method; 7] =
    [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::DELETE, Method::PATCH, Method::OPTIONS];

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
    assert!(
        table.iter().any(|row| row.access == Access::Owner) && table.iter().any(|row| row.access == Access::Member)
    );
    for RouteRow { path, .. } in &table {
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
                assert!(page.headers["content-security-policy"].to_str().unwrap().starts_with("default-src 'none'"));
                assert_eq!(page.headers["x-frame-options"], "DENY", "{told}");
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
