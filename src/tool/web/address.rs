//! Addresses as text, written by a person or model or given by a redirect, and the check whether
//! their host may be contacted at all. Names are judged here by their form, network addresses by
//! the [`Rule`]; the addresses that a name resolves to are judged later.

use std::net::IpAddr;

use url::{Host, Url};

use super::{FetchError, Rule};
use crate::text::links::without_punctuation;

/// Domain suffixes that never name a host on the public internet.
const PRIVATE_ENDINGS: [&str; 8] = ["localhost", "local", "internal", "intranet", "lan", "home", "corp", "home.arpa"];

/// Parses `text` as the address of a web page; https is the default scheme.
pub fn parse(text: &str) -> Result<Url, FetchError> {
    let text = text.trim();
    if text.is_empty() || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(FetchError::NotAnAddress);
    }
    let url = match (text.split_once("://"), Url::parse(text)) {
        (Some(_), Ok(url)) => url,
        (Some(_), Err(_)) => return Err(FetchError::NotAnAddress),
        // `example.org:8080/a` parses as a scheme too; `mailto:ada` and `data:,x` have one.
        (None, Ok(url)) if !looks_like_host(text) => url,
        (None, _) => Url::parse(&format!("https://{text}")).map_err(|_| FetchError::NotAnAddress)?,
    };
    if !matches!(url.scheme(), "http" | "https") {
        return Err(FetchError::Scheme);
    }
    // `0x7f.1`, `017700000001` and `2130706433` are addresses in disguise, which have no honest
    // use.
    match url.host() {
        Some(Host::Ipv4(ip)) if written_host(text) != ip.to_string() => {
            Err(FetchError::Forbidden { host: ip.to_string() })
        }
        Some(_) => Ok(url),
        None => Err(FetchError::NotAnAddress),
    }
}

/// Returns the host as written, before parsing.
fn written_host(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    host.split_once(':').map_or(host, |(host, _)| host)
}

/// Returns the target of a redirect from `from`. Relative addresses are resolved; a secure page may
/// only lead to secure pages.
pub(super) fn redirected(from: &Url, location: &str) -> Result<Url, FetchError> {
    let to = from.join(location).map_err(|_| FetchError::NotAnAddress)?;
    match (from.scheme(), to.scheme()) {
        ("https", "http") => Err(FetchError::Downgrade),
        (_, "http" | "https") => Ok(to),
        _ => Err(FetchError::Scheme),
    }
}

/// Returns the host to connect to, if it is permitted as far as that is known before the DNS
/// lookup.
pub(super) fn permitted_host(url: &Url, rule: &Rule) -> Result<Host<String>, FetchError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(FetchError::Scheme);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(FetchError::Credentials);
    }
    let port = url.port_or_known_default().ok_or(FetchError::Scheme)?;
    if !rule.permits_port(port) {
        return Err(FetchError::Port(port));
    }
    let host = url.host().ok_or(FetchError::NotAnAddress)?.to_owned();
    let permitted = match &host {
        Host::Domain(name) => is_public_name(name),
        Host::Ipv4(ip) => rule.permits(IpAddr::V4(*ip), port),
        Host::Ipv6(ip) => rule.permits(IpAddr::V6(*ip), port),
    };
    if permitted { Ok(host) } else { Err(FetchError::Forbidden { host: host_name(url) }) }
}

/// Returns the host for people and labels: lower-case punycode without the dot of a fully qualified
/// name.
pub fn host_name(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    host.strip_suffix('.').unwrap_or(host).to_owned()
}

fn is_public_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    let private = PRIVATE_ENDINGS
        .iter()
        .any(|ending| name.strip_suffix(ending).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')));
    let well_formed = name.len() <= 253
        && name.split('.').all(|label| {
            (1..=63).contains(&label.len())
                && label.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        });
    well_formed && name.contains('.') && !private
}

/// Returns the web addresses in `text`, with or without scheme, in order, each once.
pub fn addresses_in(text: &str) -> Vec<WrittenAddress> {
    let mut found: Vec<WrittenAddress> = Vec::new();
    let pieces = text.split(|c: char| c.is_whitespace() || c.is_control() || "<>\"`|\\^«»“”„‘、。，；（）".contains(c));
    for address in pieces.filter_map(address_in_piece) {
        if !found.contains(&address) {
            found.push(address);
        }
    }
    found
}

fn address_in_piece(piece: &str) -> Option<WrittenAddress> {
    let lower = piece.to_ascii_lowercase();
    let start = [lower.find("http://"), lower.find("https://")].into_iter().flatten().min();
    let before = |c: char| "([{'*_~,;:.!?-".contains(c);
    let after = |c: char| ".,;:!?'*~’…".contains(c);
    let candidate = without_punctuation(piece.get(start.unwrap_or(0)..)?, before, after);
    if start.is_none() && !looks_like_host(candidate) {
        return None;
    }
    let url = parse(candidate).ok().filter(|url| url.username().is_empty() && url.password().is_none())?;
    Some(WrittenAddress { url, has_scheme: start.is_some() })
}

/// Returns whether the text looks like `example.org` or `example.org:8080/a`, but not like
/// `ada@example.org`, `1.5` or `e.g.`.
fn looks_like_host(text: &str) -> bool {
    let authority = text.split(['/', '?', '#']).next().unwrap_or_default();
    let (host, port) = authority.split_once(':').unwrap_or((authority, "80"));
    let Some((_, top)) = host.rsplit_once('.') else {
        return false;
    };
    port.parse::<u16>().is_ok()
        && host
            .split('.')
            .all(|label| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_')))
        && top.chars().count() >= 2
        && (top.chars().all(char::is_alphabetic) || top.to_ascii_lowercase().starts_with("xn--"))
}

/// An address as written in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenAddress {
    /// Address, with https as the default scheme.
    pub url: Url,
    /// True if the scheme was written too.
    pub has_scheme: bool,
}

impl WrittenAddress {
    /// Returns whether `wanted` is the same page with the same or better security: https may
    /// replace http, and either may replace an address without scheme. http never replaces https.
    pub fn allows(&self, wanted: &Url) -> bool {
        is_same_page(&self.url, wanted)
            && (!self.has_scheme || self.url.scheme() == wanted.scheme() || self.url.scheme() == "http")
    }

    /// Returns whether `wanted` is the same page without the requested security.
    pub fn forbids(&self, wanted: &Url) -> bool {
        is_same_page(&self.url, wanted) && !self.allows(wanted)
    }
}

/// Returns the single spelling of an address that is requested, displayed and compared: no
/// fragment, and no dot after the host.
pub fn normal(url: &Url) -> Url {
    let mut normal = url.clone();
    normal.set_fragment(None);
    if let Some(host) = url.host_str().and_then(|host| host.strip_suffix('.')) {
        // A valid host with the dot is also valid without it; otherwise the address stays as it is.
        let _ = normal.set_host(Some(host));
    }
    normal
}

/// Returns whether a redirect leads to the requested page, differing at most in a trailing slash or
/// better security.
pub(super) fn leads_to_same(from: &Url, to: &Url) -> bool {
    is_same_page(from, to) && (from.scheme() == to.scheme() || to.scheme() == "https")
}

/// Returns whether two addresses name the same page: http and https are equal, and so are `/a` and
/// `/a/`; the fragment does not count. Path and query must match exactly, as either can carry data
/// out.
fn is_same_page(a: &Url, b: &Url) -> bool {
    let (a, b) = (normal(a), normal(b));
    let path = |url: &Url| url.path().strip_suffix('/').unwrap_or(url.path()).to_owned();
    matches!(a.scheme(), "http" | "https")
        && matches!(b.scheme(), "http" | "https")
        && a.host() == b.host()
        && a.port() == b.port()
        && (a.username(), a.password()) == (b.username(), b.password())
        && path(&a) == path(&b)
        && a.query() == b.query()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn judged(text: &str) -> Result<Host<String>, FetchError> {
        permitted_host(&parse(text)?, &Rule::public_only())
    }

    #[test]
    fn hosts_that_are_not_public() {
        for text in [
            "http://localhost/",
            "http://LOCALHOST./",
            "http://a.localhost/",
            "http://printer.local/",
            "http://metadata.google.internal/",
            "http://nas.lan/",
            "http://router/",
            "http://x.home.arpa/",
            "http://127.0.0.1/",
            "http://127.1/",
            "http://0x7f.1/",
            "http://0x7f000001/",
            "http://2130706433/",
            "http://0177.0.0.1/",
            "http://017700000001/",
            "http://134744072/",
            "http://0x8.8.8.8/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[64:ff9b::a00:1]/",
            "http://[fe80::1]/",
            "http://169.254.169.254/",
            "http://１２７.０.０.１/",
            "http://127。0。0。1/",
            "http://0/",
            "https://example..org/",
        ] {
            assert!(
                matches!(judged(text), Err(FetchError::Forbidden { .. } | FetchError::NotAnAddress)),
                "{text}: {:?}",
                judged(text)
            );
        }
    }

    #[test]
    fn hosts_that_are_public() {
        for text in [
            "http://example.org",
            "example.org",
            "example.org:8080/a",
            "https://8.8.8.8/",
            "https://EXAMPLE.org./",
            "https://localhost.example.org/",
            "https://mylocal.org/",
            "https://bücher.example/",
            "https://[2606:4700:4700::1111]/",
            "https://a_b.example.org",
        ] {
            assert!(judged(text).is_ok(), "{text}: {:?}", judged(text));
        }
        assert_eq!(host_name(&parse("https://BÜCHER.example./").unwrap()), "xn--bcher-kva.example");
    }

    #[test]
    fn other_refusals_by_kind() {
        let cases = [
            ("", FetchError::NotAnAddress),
            ("two words", FetchError::NotAnAddress),
            ("https://", FetchError::NotAnAddress),
            ("https://exa\u{7}mple.org", FetchError::NotAnAddress),
            ("ftp://example.org/", FetchError::Scheme),
            ("file:///etc/passwd", FetchError::Scheme),
            ("data:text/html,x", FetchError::Scheme),
            ("javascript:alert(1)", FetchError::Scheme),
            ("https://ada:secret@example.org/", FetchError::Credentials),
            ("https://ada@example.org/", FetchError::Credentials),
            ("https://example.org:22/", FetchError::Port(22)),
            ("http://example.org:25/", FetchError::Port(25)),
        ];
        for (text, expected) in cases {
            assert_eq!(judged(text).unwrap_err(), expected, "{text}");
        }
    }

    #[test]
    fn redirects_resolve_and_never_lose_security() {
        let from = |text: &str| Url::parse(text).unwrap();
        let ok = |a: &str, to: &str| redirected(&from(a), to).map(|url| url.to_string());
        assert_eq!(ok("https://a.org/x/y", "../z").unwrap(), "https://a.org/z");
        assert_eq!(ok("http://a.org/", "https://b.org/").unwrap(), "https://b.org/");
        assert_eq!(ok("https://a.org/", "//b.org/c").unwrap(), "https://b.org/c");
        assert_eq!(ok("https://a.org/", "http://a.org/").unwrap_err(), FetchError::Downgrade);
        assert_eq!(ok("http://a.org/", "file:///etc/passwd").unwrap_err(), FetchError::Scheme);
        assert_eq!(ok("http://a.org/", "http://[bad").unwrap_err(), FetchError::NotAnAddress);
    }

    #[test]
    fn addresses_are_found_in_typed_text() {
        let cases: [(&str, &[&str]); 14] = [
            ("see https://example.org/a.", &["https://example.org/a"]),
            ("see example.org/a, please", &["https://example.org/a"]),
            ("HTTP://Example.ORG/A?b=c#d!", &["http://example.org/A?b=c#d"]),
            ("[here](https://a.org/b) (c.org)", &["https://a.org/b", "https://c.org/"]),
            ("https://en.example.org/Rust_(game)", &["https://en.example.org/Rust_(game)"]),
            ("<https://a.org/?q=1&r=2>", &["https://a.org/?q=1&r=2"]),
            ("a.org a.org https://a.org", &["https://a.org/", "https://a.org/"]),
            ("example.org:8080/x", &["https://example.org:8080/x"]),
            ("«bücher.example»", &["https://xn--bcher-kva.example/"]),
            ("mail ada@example.org", &[]),
            ("costs 1.5 e.g. today... and/or", &[]),
            ("https://ada:pw@example.org/", &[]),
            ("ftp://example.org/ mailto:x@y.org", &[]),
            ("", &[]),
        ];
        for (text, expected) in cases {
            let found: Vec<String> = addresses_in(text).iter().map(|written| written.url.to_string()).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn the_same_page_or_not() {
        let same = |a: &str, b: &str| addresses_in(a).pop().unwrap().allows(&parse(b).unwrap());
        assert!(same("http://example.org", "https://EXAMPLE.org/"));
        assert!(same("example.org/a/", "http://example.org/a#part"));
        assert!(same("example.org:8080/a", "http://example.org:8080/a"));
        assert!(!same("example.org/a", "example.org/A"));
        assert!(!same("example.org/a", "example.org/a?x=1"));
        assert!(!same("example.org/a?x=1", "example.org/a?x=2"));
        assert!(!same("example.org/a", "www.example.org/a"));
        assert!(!same("example.org/a", "example.org:8080/a"));
        assert!(!same("example.org/a", "example.org/a/b"));
        assert!(same("https://example.org./a", "https://example.org/a"));
        assert!(!same("https://example.org/a", "http://example.org/a"));
        assert!(!same("http://example.org/a", "http://example.org:8080/a"));
        assert!(addresses_in("https://example.org/a")[0].forbids(&parse("http://example.org/a/").unwrap()));
        assert!(!addresses_in("example.org/a")[0].forbids(&parse("http://example.org/a").unwrap()));
    }

    #[test]
    fn a_redirect_leads_to_the_same_page_or_elsewhere() {
        let same = |a: &str, b: &str| leads_to_same(&parse(a).unwrap(), &parse(b).unwrap());
        assert!(same("http://a.org/b?c", "https://a.org/b/?c") && same("http://a.org/b", "http://a.org/b/"));
        assert!(!same("https://a.org/b", "http://a.org/b") && !same("http://a.org/b", "http://www.a.org/b"));
        assert!(!same("http://a.org/b", "http://a.org/b?d") && !same("http://a.org/b", "http://a.org:81/b"));
    }

    #[test]
    fn an_address_is_asked_for_in_one_spelling() {
        assert_eq!(normal(&parse("HTTP://A.org.:80/b?c#d").unwrap()).as_str(), "http://a.org/b?c");
        assert_eq!(normal(&parse("http://[2001:db8::1]:81/").unwrap()).as_str(), "http://[2001:db8::1]:81/");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in ".*") {
            for written in addresses_in(&text) {
                prop_assert!(matches!(written.url.scheme(), "http" | "https"));
                prop_assert!(written.allows(&written.url));
            }
        }

        #[test]
        fn a_typed_address_is_found_again(path in "[a-z0-9/_-]{0,12}", before in "[a-z ]{0,8}", after in "[ ,.!?)]{0,3}") {
            let found = addresses_in(&format!("{before} https://example.org/{path}{after}"));
            let wanted = Url::parse(&format!("https://example.org/{path}")).unwrap();
            prop_assert!(found.iter().any(|written| written.allows(&wanted)), "{:?}", found);
        }
    }
}
