//! The contents of a skill as displayed to its owner before acceptance: files, scripts, and the
//! hosts of the addresses in them.
//!
//! Everything is derived from the files alone and is therefore covered by the digest that an
//! approval names. Hosts that are assembled at run time, or that appear without a scheme, are not
//! found; opening them still requires a question.

use std::collections::BTreeSet;

use url::Url;

use crate::skill::SkillFolder;

/// The maximum number of hosts displayed, and therefore covered by an approval.
const MOST_HOSTS: usize = 40;

/// Extensions of files that a system or an interpreter runs.
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

/// Returns the hosts to display, in alphabetical order, and the number of hosts left out.
pub(super) fn hosts(folder: &SkillFolder) -> (BTreeSet<String>, usize) {
    let texts = folder.files().map(|(_, bytes)| String::from_utf8_lossy(bytes));
    let all: BTreeSet<String> = texts.flat_map(|text| hosts_in(&text)).collect();
    let more = all.len().saturating_sub(MOST_HOSTS);
    (all.into_iter().take(MOST_HOSTS).collect(), more)
}

/// Returns whether a file is executable, judging by its extension or its first line.
pub(super) fn is_script(path: &str, bytes: &[u8]) -> bool {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    bytes.starts_with(b"#!") || ending.is_some_and(|ending| SCRIPTS.contains(&ending.as_str()))
}

/// Returns the hosts of all addresses with a scheme, spelled as a fetch would spell them.
fn hosts_in(text: &str) -> BTreeSet<String> {
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use proptest::prelude::*;

    /// Proves: skills/new-folder
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
