//! Which requests are served at all.
//!
//! The `Host` must be one of our names, letter for letter: a page that points its own name at this
//! computer (DNS rebinding) is refused before anything is read. A change must come from our own
//! page: `Sec-Fetch-Site` says so, or, from browsers that do not send it, `Origin`. `Origin` is
//! never compared with `Host`, since under rebinding they agree. No forwarded header is read.
//!
//! A link of another site opens pages, but asks nothing of them: where its address has parameters,
//! the person is shown the link and opens it, or not.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, HeaderValue, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use maud::html;

use super::site_names::{SiteNames, Via};
use super::{Web, layout};
use crate::admin::command::{MAX_COMMAND, is_too_long};
use crate::wording::page as says;

/// Headers of every response. There is no inline script or style, so the policy is constant.
const HEADERS: [(HeaderName, &str); 8] = [
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
         trusted-types 'none'",
    ),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), microphone=(), geolocation=(), payment=(), usb=(), clipboard-read=()",
    ),
    (CACHE_CONTROL, "no-store"),
];

/// Reason why a request is refused.
#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A host name that is none of ours.
    WrongHost(String),
    /// Another page sent it.
    OtherSite,
    /// A link of another page leads to an address with parameters.
    Led,
    /// A parameter is longer than [`MAX_COMMAND`].
    TooLong,
}

/// Returns the name under which a request came.
pub fn check(names: &SiteNames, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Via, Refusal> {
    let host = single(headers, &HOST).unwrap_or_default();
    let wrong = |host: &str| Refusal::WrongHost(crate::text::shorten(host, 80));
    let via = names.via(host).ok_or_else(|| wrong(host))?;
    // A whole address in the first line names the host, too.
    if let Some(named) = uri.authority().map(Authority::as_str).filter(|named| names.via(named) != Some(via)) {
        return Err(wrong(named));
    }
    let fetch = |name: &'static str| single(headers, &HeaderName::from_static(name));
    let parameters = uri.query().unwrap_or_default();
    let is_ours = if *method == Method::GET || *method == Method::HEAD {
        // Reading changes nothing, so a link on another page may lead here. Nothing else may.
        let is_own = matches!(fetch("sec-fetch-site"), None | Some("same-origin" | "none"));
        let is_followed = fetch("sec-fetch-mode") == Some("navigate") && fetch("sec-fetch-dest") == Some("document");
        if !is_own && is_followed && !parameters.is_empty() {
            return Err(Refusal::Led);
        }
        is_own || is_followed
    } else {
        match (fetch("sec-fetch-site"), headers.contains_key("sec-fetch-site")) {
            (Some(site), _) => site == "same-origin",
            (None, true) => false,
            (None, false) => single(headers, &ORIGIN).is_some_and(|origin| names.is_own_origin(origin)),
        }
    };
    match url::form_urlencoded::parse(parameters.as_bytes()).any(|(_, value)| is_too_long(&value)) {
        _ if !is_ours => Err(Refusal::OtherSite),
        true => Err(Refusal::TooLong),
        false => Ok(via),
    }
}

/// Renders the link to an address of ours that another site wants to open.
fn led(uri: &Uri) -> Response {
    // Two slashes would lead to another host.
    let address = uri.path_and_query().map_or("", |address| address.as_str()).trim_start_matches(['/', '\\']);
    let main =
        html! { p { (says::OPEN_FROM_ELSEWHERE) } p { a.button href={ "/" (address) } { (says::OPEN_ANYWAY) } } };
    layout::page(None, "", "Compline", main).into_response()
}

/// Returns the value of a header that stands there once.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().filter(|_| values.next().is_none())?;
    value.to_str().ok()
}

/// Refuses requests that are not for us, and gives every response its headers.
pub async fn guard(State(web): State<Arc<Web>>, mut request: Request, next: Next) -> Response {
    let mut response = match check(&web.names, request.method(), request.uri(), request.headers()) {
        Ok(via) => {
            request.extensions_mut().insert(via);
            next.run(request).await
        }
        Err(Refusal::WrongHost(host)) => {
            tracing::warn!("The page refused a request under a name that is not its own");
            (StatusCode::MISDIRECTED_REQUEST, says::wrong_host(&host)).into_response()
        }
        Err(Refusal::OtherSite) => (StatusCode::FORBIDDEN, says::OTHER_SITE).into_response(),
        Err(Refusal::Led) => led(request.uri()),
        Err(Refusal::TooLong) => layout::message(None, StatusCode::URI_TOO_LONG, &says::too_long_to_ask(MAX_COMMAND)),
    };
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCAL: &str = "127.0.0.1:7420";

    fn names() -> SiteNames {
        SiteNames::new(LOCAL.parse().unwrap(), Some(&"https://a.example".parse().unwrap()))
    }

    fn checked(method: &Method, headers: &[(&str, &str)]) -> Result<Via, Refusal> {
        checked_at("/search", method, headers)
    }

    fn checked_at(uri: &str, method: &Method, headers: &[(&str, &str)]) -> Result<Via, Refusal> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap());
        }
        check(&names(), method, &uri.parse().unwrap(), &map)
    }

    /// Proves: page/other-sites
    #[test]
    fn a_link_of_another_site_asks_nothing_of_a_page() {
        let asking = "/search?q=a+a+a";
        for site in ["cross-site", "same-site"] {
            let followed = [
                ("host", LOCAL),
                ("sec-fetch-site", site),
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-dest", "document"),
            ];
            assert_eq!(checked_at(asking, &Method::GET, &followed), Err(Refusal::Led));
            for plain in ["/", "/login", "/search", "/search?"] {
                assert_eq!(checked_at(plain, &Method::GET, &followed), Ok(Via::Local), "{plain}");
            }
        }
        for own in [&[("host", LOCAL), ("sec-fetch-site", "same-origin")][..], &[("host", LOCAL)]] {
            assert_eq!(checked_at(asking, &Method::GET, own), Ok(Via::Local));
        }
    }

    /// Proves: operation/bounded-commands
    #[test]
    fn no_parameter_is_longer_than_a_command() {
        let own = [("host", LOCAL), ("sec-fetch-site", "same-origin")];
        for (length, passed) in [(MAX_COMMAND, Ok(Via::Local)), (MAX_COMMAND + 1, Err(Refusal::TooLong))] {
            for character in ["a", "%C3%A9"] {
                let address = format!("/search?in=notes&q={}", character.repeat(length));
                assert_eq!(checked_at(&address, &Method::GET, &own), passed, "{length} times {character}");
                assert_eq!(checked_at(&address, &Method::POST, &own), passed, "{length} times {character}");
            }
        }
    }

    #[test]
    fn only_our_own_names_are_served() {
        for (host, via) in [(LOCAL, Via::Local), ("localhost:7420", Via::Local), ("a.example", Via::Public)] {
            assert_eq!(checked(&Method::GET, &[("host", host)]), Ok(via));
        }
        for host in [
            "evil.example",
            "127.0.0.1",
            "127.0.0.1:7421",
            "localhost",
            "LOCALHOST:7420",
            "a.example:443",
            "a.example.",
            "127.0.0.1:7420.evil.example",
            "[::1]:7420",
            "0.0.0.0:7420",
            "",
        ] {
            let refused = checked(&Method::GET, &[("host", host)]);
            assert_eq!(refused, Err(Refusal::WrongHost(host.to_owned())), "{host}");
        }
        let host = [("host", LOCAL)];
        assert_eq!(checked_at("http://127.0.0.1:7420/", &Method::GET, &host), Ok(Via::Local));
        let named = checked_at("http://evil.example/", &Method::GET, &host);
        assert_eq!(named, Err(Refusal::WrongHost("evil.example".to_owned())), "a whole address counts");
        for host in ["a.example", "evil.example"] {
            let named = checked_at("http://127.0.0.1:7420/", &Method::GET, &[("host", host)]);
            assert!(named.is_err(), "both count: {host}");
        }
        assert!(checked(&Method::GET, &[]).is_err());
        assert!(checked(&Method::GET, &[("host", LOCAL), ("host", LOCAL)]).is_err(), "two of them");
    }

    /// Every combination of the values that browsers send.
    #[test]
    fn a_change_comes_from_our_own_page() {
        let sites = [None, Some("same-origin"), Some("same-site"), Some("cross-site"), Some("none")];
        let origins = [
            None,
            Some("http://127.0.0.1:7420"),
            Some("http://127.0.0.1:7421"),
            Some("https://127.0.0.1:7420"),
            Some("https://a.example"),
            Some("http://a.example"),
            Some("https://evil.example"),
            Some("null"),
        ];
        let modes = [None, Some(("navigate", "document")), Some(("navigate", "iframe")), Some(("no-cors", "image"))];
        for host in [LOCAL, "a.example", "evil.example"] {
            for site in sites {
                for origin in origins {
                    for mode in modes {
                        let mut headers = vec![("host", host)];
                        headers.extend(site.map(|site| ("sec-fetch-site", site)));
                        headers.extend(origin.map(|origin| ("origin", origin)));
                        headers.extend(
                            mode.into_iter()
                                .flat_map(|(mode, dest)| [("sec-fetch-mode", mode), ("sec-fetch-dest", dest)]),
                        );
                        let is_known = host != "evil.example";
                        let is_ours = match (site, origin) {
                            (Some(site), _) => site == "same-origin",
                            (None, Some(origin)) => ["http://127.0.0.1:7420", "https://a.example"].contains(&origin),
                            (None, None) => false,
                        };
                        for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH, Method::OPTIONS] {
                            let passed = checked(&method, &headers).is_ok();
                            assert_eq!(passed, is_known && is_ours, "{method} {headers:?}");
                        }
                        let may_read = matches!(site, None | Some("same-origin" | "none"))
                            || mode == Some(("navigate", "document"));
                        for method in [Method::GET, Method::HEAD] {
                            let passed = checked(&method, &headers).is_ok();
                            assert_eq!(passed, is_known && may_read, "{method} {headers:?}");
                        }
                    }
                }
            }
        }
        let twice = [("host", LOCAL), ("sec-fetch-site", "same-origin"), ("sec-fetch-site", "same-origin")];
        assert!(checked(&Method::POST, &twice).is_err());
    }

    #[tokio::test]
    async fn fuzzed() {
        use axum::body::Body;
        use axum::extract::{Form, FromRequest, Multipart};
        let seeds: [&[u8]; 3] = [
            b"GET /search?q=a+b&in=notes\nhost: 127.0.0.1:7420\nsec-fetch-site: same-origin\n\n",
            b"POST /act\nhost: a.example\norigin: https://a.example\ncontent-type: application/x-www-form-urlencoded\n\ncommand=%2Fstatus&id=1",
            b"POST /files\nhost: localhost:7420\ncontent-type: multipart/form-data; boundary=b\n\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nabc\r\n--b--\r\n",
        ];
        crate::fuzz::target("requests", &seeds, |bytes| {
            let end = bytes.windows(2).position(|two| two == b"\n\n").unwrap_or(bytes.len());
            let (head, body) = bytes.split_at(end);
            let head = String::from_utf8_lossy(head).into_owned();
            let (first, lines) = head.split_once('\n').unwrap_or((&head, ""));
            let (method, uri) = first.split_once(' ')?;
            let mut request = Request::builder().method(method).uri(uri);
            for (name, value) in lines.lines().filter_map(|line| line.split_once(": ")) {
                request = request.header(name, value);
            }
            let body = body.get(2..).unwrap_or_default().to_vec();
            let request = request.body(Body::from(body)).ok()?;
            let checked = check(&names(), request.method(), request.uri(), request.headers()).map(drop);
            let (parts, body) = request.into_parts();
            let read = async {
                let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
                let request = || Request::from_parts(parts.clone(), Body::from(bytes.clone()));
                let form = Form::<Vec<(String, String)>>::from_request(request(), &()).await.is_ok();
                let mut fields = Vec::new();
                if let Ok(mut multipart) = Multipart::from_request(request(), &()).await {
                    while let Ok(Some(field)) = multipart.next_field().await {
                        fields.push((field.file_name().map(str::to_owned), field.bytes().await.is_ok()));
                    }
                }
                (form, fields)
            };
            let read = futures::FutureExt::now_or_never(read).expect("nothing of it waits");
            Some((checked, read))
        });
    }
}
