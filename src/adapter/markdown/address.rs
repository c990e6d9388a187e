//! Rules for hiding an address behind link text. They serve honesty, not only safety: an address
//! that a client would not open, that contains credentials, or whose text looks like another
//! address is spelled out.

use url::Url;

/// Returns true if the link text `words` may hide `address`.
pub(super) fn may_hide(words: &str, address: &str) -> bool {
    if address.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return false;
    }
    let Ok(url) = Url::parse(address) else {
        return false;
    };
    let sound = match url.scheme() {
        "http" | "https" => url.has_host() && url.username().is_empty() && url.password().is_none(),
        "mailto" => url.path().contains('@'),
        "tg" => url.has_host(),
        _ => false,
    };
    sound && words.split_whitespace().all(|word| is_honest(word, url.host_str().unwrap_or_default()))
}

/// Returns true if the link text already is the address.
pub(super) fn is_same(words: &str, address: &str) -> bool {
    words == address || address.strip_prefix("mailto:") == Some(words)
}

/// A word that looks like a host must be the host. A complete address is never honest, since the
/// real one would have been the same text.
fn is_honest(word: &str, host: &str) -> bool {
    if word.contains("://") {
        return false;
    }
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let named = word.split(['/', '?', '#', ':']).next().unwrap_or_default().to_lowercase();
    !looks_like_host(&named) || bare_host(&named) == bare_host(host)
}

fn looks_like_host(word: &str) -> bool {
    let host = word.rsplit('@').next().unwrap_or_default();
    let Some((front, last)) = host.rsplit_once(['.', '\u{3002}', '\u{ff0e}', '\u{ff61}']) else {
        return false;
    };
    let top = last.len() >= 2 && last.chars().all(char::is_alphabetic) || last.starts_with("xn--");
    let number =
        !last.is_empty() && front.split('.').count() == 3 && host.chars().all(|c| c.is_ascii_digit() || c == '.');
    front.ends_with(char::is_alphanumeric) && (top || number)
}

fn bare_host(host: &str) -> &str {
    host.strip_prefix("www.").unwrap_or(host)
}
