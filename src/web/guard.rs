//! Which requests are served at all.
//!
//! The `Host` must be one of our names, letter for letter: a page that points its own name at this
//! computer (DNS rebinding) is refused before anything is read. A change must come from our own
//! page: `Sec-Fetch-Site` says so, or, from browsers that do not send it, `Origin`. `Origin` is
//! never compared with `Host`, since under rebinding they agree. No forwarded header is read.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, HeaderValue, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use url::Url;

use super::Web;
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

/// The name under which a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Via {
    /// A name of this computer.
    Local,
    /// The public address, behind a TLS proxy.
    Public,
}

/// Names of the page.
#[derive(Debug, Clone)]
pub struct SiteNames {
    local: Vec<String>,
    public: Option<String>,
}

impl SiteNames {
    /// Returns the names of a page at `listen`, and under its public address.
    pub fn new(listen: SocketAddr, public: Option<&Url>) -> Self {
        let port = listen.port();
        let host = match listen.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Some(Ipv4Addr::LOCALHOST.to_string()),
            IpAddr::V6(ip) if ip.is_unspecified() => Some(format!("[{}]", Ipv6Addr::LOCALHOST)),
            IpAddr::V4(ip) => ip.is_loopback().then(|| ip.to_string()),
            IpAddr::V6(ip) => ip.is_loopback().then(|| format!("[{ip}]")),
        };
        // An address of the network is no name of this computer: there the TLS proxy is named.
        let hosts: Vec<String> = host.into_iter().flat_map(|host| [host, "localhost".to_owned()]).collect();
        let with_port = hosts.iter().map(|host| format!("{host}:{port}"));
        let bare = hosts.iter().filter(|_| port == 80).cloned();
        let local = with_port.chain(bare).collect();
        let public = public.and_then(|url| {
            let host = url.host_str()?;
            Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
        });
        Self { local, public }
    }

    fn via(&self, host: &str) -> Option<Via> {
        let is_local = self.local.iter().any(|name| name == host);
        let is_public = self.public.as_deref() == Some(host);
        if is_local { Some(Via::Local) } else { is_public.then_some(Via::Public) }
    }

    fn is_own_origin(&self, origin: &str) -> bool {
        let local = origin.strip_prefix("http://").is_some_and(|host| self.local.iter().any(|name| name == host));
        let public = origin.strip_prefix("https://").is_some_and(|host| self.public.as_deref() == Some(host));
        local || public
    }
}

/// Reason why a request is refused.
#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A host name that is none of ours.
    WrongHost(String),
    /// Another page sent it.
    OtherSite,
}

/// Returns the name under which a request came.
pub fn check(names: &SiteNames, method: &Method, headers: &HeaderMap) -> Result<Via, Refusal> {
    let host = single(headers, &HOST).unwrap_or_default();
    let via = names.via(host).ok_or_else(|| Refusal::WrongHost(crate::text::shorten(host, 80)))?;
    let fetch = |name: &'static str| single(headers, &HeaderName::from_static(name));
    let is_ours = if *method == Method::GET || *method == Method::HEAD {
        // Reading changes nothing, so a link on another page may lead here. Nothing else may.
        let is_followed = fetch("sec-fetch-mode") == Some("navigate") && fetch("sec-fetch-dest") == Some("document");
        matches!(fetch("sec-fetch-site"), None | Some("same-origin" | "none")) || is_followed
    } else {
        match (fetch("sec-fetch-site"), headers.contains_key("sec-fetch-site")) {
            (Some(site), _) => site == "same-origin",
            (None, true) => false,
            (None, false) => single(headers, &ORIGIN).is_some_and(|origin| names.is_own_origin(origin)),
        }
    };
    if is_ours { Ok(via) } else { Err(Refusal::OtherSite) }
}

/// Returns the value of a header that stands there once.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().filter(|_| values.next().is_none())?;
    value.to_str().ok()
}

/// Refuses requests that are not for us, and gives every response its headers.
pub async fn guard(State(web): State<Arc<Web>>, mut request: Request, next: Next) -> Response {
    let mut response = match check(&web.names, request.method(), request.headers()) {
        Ok(via) => {
            request.extensions_mut().insert(via);
            next.run(request).await
        }
        Err(Refusal::WrongHost(host)) => {
            tracing::warn!("The page refused a request under a name that is not its own");
            (StatusCode::MISDIRECTED_REQUEST, says::wrong_host(&host)).into_response()
        }
        Err(Refusal::OtherSite) => (StatusCode::FORBIDDEN, says::OTHER_SITE).into_response(),
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
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap());
        }
        check(&names(), method, &map)
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
        assert!(checked(&Method::GET, &[]).is_err());
        assert!(checked(&Method::GET, &[("host", LOCAL), ("host", LOCAL)]).is_err(), "two of them");
    }

    #[test]
    fn the_address_of_the_page_is_one_of_its_names() {
        for (listen, host, is_local) in [
            ("127.0.0.2:7420", "127.0.0.2:7420", true),
            ("127.0.0.2:7420", "127.0.0.1:7420", false),
            ("0.0.0.0:7420", "127.0.0.1:7420", true),
            ("0.0.0.0:7420", "0.0.0.0:7420", false),
            ("[::1]:80", "[::1]", true),
            ("[::]:7420", "[::1]:7420", true),
            ("192.168.1.5:7420", "192.168.1.5:7420", false),
            ("192.168.1.5:7420", "localhost:7420", false),
        ] {
            let via = SiteNames::new(listen.parse().unwrap(), None).via(host);
            assert_eq!(via.is_some(), is_local, "{listen} {host}");
        }
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
}
