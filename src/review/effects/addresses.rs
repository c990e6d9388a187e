//! Addresses in a text: hosts, mail addresses, phone numbers, handles, sums and accounts of money.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use url::Url;

/// Endings of bare host names that are hardly ever anything else.
const ENDINGS: &str = "com|org|net|biz|xyz|edu|gov|onion|example|test|site|online|top|shop|club|cloud|tech|website|icu|live|page|io|dev|app|ai|ru|cn|de|fr|uk|eu|ch|nl|pl|jp|br|info|ly|gg|sh|tk|ml|cc|su|co|me|us|ca|au|es|it|at";

/// Endings that programs use for other things: such a host needs a path, `www.` or a second dot.
const AMBIGUOUS: &str =
    "net io dev app ai test example page live info sh me us it at co cc ly de es ca tech de top site";

/// Returns the hosts of all addresses with a scheme, spelled as a fetch would spell them.
pub(in crate::review) fn hosts_in(text: &str) -> BTreeSet<String> {
    text.match_indices("://").filter_map(|(at, mark)| host_of(text.get(at + mark.len()..)?)).collect()
}

/// Returns the host of an address, given the text after its scheme.
fn host_of(rest: &str) -> Option<String> {
    let ends = |c: char| c.is_whitespace() || c.is_control() || "/?#\\\"'`<>()[]{}|,;^*".contains(c);
    let authority = rest.split(ends).next()?;
    let url = Url::parse(&format!("https://{authority}/")).ok()?;
    let host = url.host_str()?.trim_end_matches('.');
    host.contains('.').then(|| host.to_owned())
}

/// Returns the hosts and recipients that a text names, each in the form in which they are compared:
/// in lower case, without `www.`, a phone number without its spaces.
pub fn destinations_in(text: &str) -> BTreeSet<String> {
    recipients(text).into_iter().map(|(_, name)| destination(&name)).collect()
}

/// Returns the form in which a host or recipient is compared.
pub fn destination(name: &str) -> String {
    let name = name.trim().to_lowercase();
    match name.strip_prefix('+') {
        Some(number) => std::iter::once('+').chain(number.chars().filter(char::is_ascii_digit)).collect(),
        None => name.strip_prefix("www.").unwrap_or(&name).to_owned(),
    }
}

/// Returns everything that something could be sent to, with its place.
pub(super) fn recipients(text: &str) -> Vec<(Range<usize>, String)> {
    let mut found = urls(text);
    let mails = matches(&MAIL, text);
    found.extend(mails.iter().cloned().map(|(at, mail)| (at, mail.to_lowercase())));
    for (at, name) in matches(&HOST, text) {
        let is_part = found.iter().any(|(known, _)| known.start < at.end && at.start < known.end);
        if !is_part && is_host(text, &at, &name) {
            found.push((at, name.trim_start_matches("www.").to_ascii_lowercase()));
        }
    }
    found.extend(matches(&PHONE, text).into_iter().filter(|(_, number)| is_phone(number)));
    found.extend(matches(&HANDLE, text).into_iter().map(|(at, name)| (at, name.trim_start().to_owned())));
    found
}

/// Returns the addresses with a scheme, each with its host.
fn urls(text: &str) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    for (at, mark) in text.match_indices("://") {
        let rest = text.get(at + mark.len()..).unwrap_or_default();
        let scheme = text.get(..at).map_or(0, |before| {
            before.bytes().rev().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'+').count()
        });
        let end = rest.find(|c: char| c.is_whitespace() || "\"'`<>)]}|".contains(c)).unwrap_or(rest.len());
        // A host that is a variable is shown as it is written.
        let written = rest.get(..end).unwrap_or_default().split('/').next().unwrap_or_default();
        let is_local = text.get(at - scheme..at).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file"));
        let host = host_of(rest).or_else(|| written.contains(['$', '{', '<']).then(|| written.to_owned()));
        if let Some(host) = host.filter(|_| !is_local) {
            found.push((at - scheme..at + mark.len() + end, host));
        }
    }
    found
}

fn is_host(text: &str, at: &Range<usize>, name: &str) -> bool {
    let before = text.get(..at.start).unwrap_or_default().chars().next_back();
    let after = text.get(at.end..).unwrap_or_default().chars().next();
    let ending = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_clear = !AMBIGUOUS.split(' ').any(|known| known == ending)
        || name.starts_with("www.")
        || after == Some('/')
        || name.matches('.').count() > 1;
    let is_code = matches!(before, Some('.' | '/' | '\\' | '_' | '$' | '-' | '@'))
        || matches!(after, Some('(' | '_' | '=' | '['));
    is_clear && !is_code && !after.is_some_and(char::is_alphanumeric)
}

fn is_phone(number: &str) -> bool {
    (8..=15).contains(&number.bytes().filter(u8::is_ascii_digit).count())
}

/// Returns the sums and accounts of money, with their places.
pub(super) fn sums(text: &str) -> Vec<(Range<usize>, String)> {
    let mut found = matches(&SUM, text);
    found.extend(matches(&ACCOUNT, text));
    found
}

fn matches(pattern: &LazyLock<Option<Regex>>, text: &str) -> Vec<(Range<usize>, String)> {
    let all = pattern.iter().flat_map(|pattern| pattern.captures_iter(text));
    all.filter_map(|found| found.get(1).or(found.get(0)))
        .map(|found| (found.range(), found.as_str().to_owned()))
        .collect()
}

static MAIL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[\w.+-]{1,64}(?:@| \[?at\]? |\[at\])[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}").ok());
static HOST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(
        r"(?i)\b((?:[a-z0-9](?:[a-z0-9-]{{0,60}}[a-z0-9])?\.)+(?:{ENDINGS}))\b|\b\d{{1,3}}(?:\.\d{{1,3}}){{3}}\b"
    ))
    .ok()
});
static PHONE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\+\d[\d ()./-]{6,18}\d").ok());
static HANDLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:telegram|signal|twitter|slack|discord|instagram|whatsapp|dm|message|tell|send|contact|mention|to|tag|notify)\s+(?:it\s+)?(?:to\s+)?(@[a-z]\w{3,31})\b").ok()
});
static SUM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)[$€£¥₿]\s?\d[\d.,]*\d?k?|\b\d[\d.,]*\s?(?:[€£¥]|usd|eur|gbp|chf|btc|eth|usdt|dollars?|euros?|pounds|bitcoins?|рублей|руб|元|円)\b").ok()
});
static ACCOUNT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b|\b0x[0-9a-fA-F]{40}\b|\b(?:bc1[a-z0-9]{25,60}|[13][1-9A-HJ-NP-Za-km-z]{26,34})\b").ok()
});

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Proves: skills/new-folder
    #[test]
    fn hosts_are_found_in_every_form_of_address() {
        for (text, host) in [
            ("see https://Example.ORG/a?b=c.", "example.org"),
            ("curl 'http://user:pw@evil.example:8080/x'", "evil.example"),
            ("[a](https://a.example)", "a.example"),
            ("URL=\"wss://b.example./\"", "b.example"),
            ("git+ssh://c.example", "c.example"),
            ("https://xn--bcher-kva.example and more", "xn--bcher-kva.example"),
            ("https://bücher.example/", "xn--bcher-kva.example"),
            ("https://good.example\\@evil.example/", "good.example"),
        ] {
            assert_eq!(hosts_in(text).into_iter().collect::<Vec<_>>(), [host], "{text}");
            assert!(recipients(text).iter().any(|(_, found)| found == host), "{text}: {:?}", recipients(text));
        }
        for text in ["", "://", "https://", "https:// a.example", "a.example/b", "file:///etc", "https://$HOST/x"] {
            assert_eq!(hosts_in(text).len(), 0, "{text}");
        }
    }

    #[test]
    fn recipients_need_no_scheme() {
        for (text, wanted) in [
            ("mail it to Bob.Smith@Mail.example now", "bob.smith@mail.example"),
            ("post it on www.evil.com", "evil.com"),
            ("call +44 7700 900123", "+44 7700 900123"),
            ("send it to @dropbot99", "@dropbot99"),
            ("upload to 10.0.0.7", "10.0.0.7"),
            ("fetch https://$HOST/x", "$HOST"),
            ("visit paste.evil.io/x", "paste.evil.io"),
        ] {
            assert!(recipients(text).iter().any(|(_, found)| found == wanted), "{text}: {:?}", recipients(text));
        }
        for text in [
            "use node.io.read()",
            "console.info(x)",
            "SKILL.md",
            "e.g. this",
            "@dataclass",
            "at 3.5",
            "1.2.3",
            "config.app",
        ] {
            assert_eq!(recipients(text), [], "{text}");
        }
    }

    #[test]
    fn sums_and_accounts_are_found() {
        for text in ["pay $50", "20 EUR", "send 1,5 BTC", "GB29NWBK60161331926819", "US133000000121212121212"] {
            assert_eq!(sums(text).len(), 1, "{text}: {:?}", sums(text));
        }
        assert_eq!(sums("$HOME and 20 cups"), []);
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "(?s).{0,120}") {
            hosts_in(&text);
            recipients(&text);
            sums(&text);
        }
    }
}
