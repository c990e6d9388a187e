//! The contents of a skill as its owner is shown them before accepting it: files, scripts, and the
//! hosts of the addresses in them.
//!
//! All of it is a function of the files alone, so it is covered by the digest that a yes names. A
//! host that is put together at run time, or that stands without a scheme, is not found; nothing is
//! opened there without a question for that.

use std::collections::BTreeSet;

use url::Url;

use crate::skill::SkillFolder;

/// The most hosts that are shown, and so the most that a yes covers.
const MOST_HOSTS: usize = 40;

/// Endings of files that a system or an interpreter runs.
const SCRIPTS: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "fish",
    "py",
    "pyw",
    "js",
    "mjs",
    "cjs",
    "ts",
    "rb",
    "pl",
    "php",
    "lua",
    "ps1",
    "psm1",
    "bat",
    "cmd",
    "vbs",
    "applescript",
    "command",
    "exe",
    "dll",
    "so",
    "dylib",
    "jar",
    "awk",
];

/// The hosts that are shown, in alphabetical order, and how many more there are.
pub(super) fn hosts(folder: &SkillFolder) -> (BTreeSet<String>, usize) {
    let texts = folder.files().map(|(_, bytes)| String::from_utf8_lossy(bytes));
    let all: BTreeSet<String> = texts.flat_map(|text| hosts_in(&text)).collect();
    let more = all.len().saturating_sub(MOST_HOSTS);
    (all.into_iter().take(MOST_HOSTS).collect(), more)
}

/// Whether a file of that name and content is one that is run, by its ending or its first line.
pub(super) fn is_script(path: &str, bytes: &[u8]) -> bool {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    bytes.starts_with(b"#!") || ending.is_some_and(|ending| SCRIPTS.contains(&ending.as_str()))
}

/// The hosts of all addresses with a scheme, as a fetch would name them.
fn hosts_in(text: &str) -> BTreeSet<String> {
    text.match_indices("://").filter_map(|(at, mark)| host_of(text.get(at + mark.len()..)?)).collect()
}

/// The host with which an address goes on after its scheme.
fn host_of(rest: &str) -> Option<String> {
    let ends = |c: char| c.is_whitespace() || c.is_control() || "/?#\\\"'`<>()[]{}|,;^*".contains(c);
    let authority = rest.split(ends).next()?;
    let url = Url::parse(&format!("https://{authority}/")).ok()?;
    let host = url.host_str()?.trim_end_matches('.');
    host.contains('.').then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hosts_are_found_wherever_an_address_stands() {
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
        }
        for text in ["", "://", "https://", "https:// a.example", "a.example/b", "file:///etc", "https://$HOST/x"] {
            assert_eq!(hosts_in(text).len(), 0, "{text}");
        }
    }

    #[test]
    fn what_is_not_shown_is_not_covered() {
        let text: String = (0..50).map(|n| format!("https://h{n:02}.example/ ")).collect();
        let (shown, more) = hosts(&SkillFolder::new([("a".to_owned(), Arc::from(text.as_bytes()))]));
        assert_eq!((shown.len(), more), (MOST_HOSTS, 10));
    }

    #[test]
    fn scripts_are_told_by_ending_or_first_line() {
        for (path, bytes, script) in [
            ("scripts/run.SH", "echo", true),
            ("scripts/run", "#!/bin/sh\n", true),
            ("run.py", "", true),
            ("SKILL.md", "# Title", false),
            ("sh", "", false),
        ] {
            assert_eq!(is_script(path, bytes.as_bytes()), script, "{path}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in ".*") {
            hosts_in(&text);
        }
    }
}
