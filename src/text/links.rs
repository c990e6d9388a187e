//! Web addresses in running text: finds them, compares them, and prints them so that no client
//! turns them into links.
//!
//! Clients link generously (a bare host, an e-mail address, four numbers), so the search prefers
//! false positives. Markdown can spell an address in ways that the raw text does not show
//! (`evil&#46;example`, `evil\.example`); therefore the rendered text is judged too, and where the
//! two disagree the text loses its markup ([`defang`]).

use std::collections::HashSet;
use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use url::Url;

use super::winnow::is_unseen;

/// File extensions that are not top-level domains in use: `notes.txt` alone is not an address.
const FILE_ENDINGS: &[&str] = &[
    "txt", "toml", "json", "jsonl", "yaml", "yml", "csv", "tsv", "html", "htm", "xml", "css", "js", "jsx", "tsx",
    "php", "exe", "pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "png", "jpg", "jpeg", "gif", "webp",
    "svg", "mp3", "mp4", "ogg", "wav", "log", "lock", "conf", "cfg", "ini", "bak", "tmp", "cpp", "java", "db",
];

/// File endings that are top-level domains too, of those in use (IANA's list of top-level domains,
/// November 2026): messengers link `notes.md` to a stranger's host.
const LINKED_ENDINGS: &[&str] =
    &["app", "bz", "cc", "md", "mk", "mov", "mp", "pl", "ps", "py", "rs", "sc", "sh", "so", "st", "tf", "vi", "zip"];

/// Punctuation around an address that is not part of it. Closing brackets are handled separately.
const AROUND: &[char] = &[
    '.', ',', ';', ':', '!', '?', '\'', '"', '*', '_', '~', '`', '|', '…', '’', '‘', '“', '”', '„', '«', '»', '、',
    '。', '，', '；', '（', '）', '<', '>', '\\', '^',
];

/// Returns every address in a Markdown text, both raw and rendered, in the form of [`key`].
pub fn written(text: &str) -> HashSet<String> {
    let mut keys = HashSet::new();
    for version in versions(text) {
        keys.extend(candidates(&version, WIDE).into_iter().map(|(_, candidate)| key(candidate)));
    }
    keys
}

/// Like [`written`], with the addresses that a reader may recognise in it: each up to a mark at
/// which a sentence or a list may have continued, and without its fragment.
pub fn keys(text: &str) -> HashSet<String> {
    let mut keys = written(text);
    for version in versions(text) {
        for (_, candidate) in candidates(&version, WIDE) {
            keys.extend(cuts(candidate).map(key));
        }
    }
    let pages: Vec<String> = keys.iter().filter_map(|key| Some(key.split_once('#')?.0.to_owned())).collect();
    keys.extend(pages);
    keys
}

/// Returns whether a word is a bare file name that a messenger would link: no scheme, host or path.
pub fn is_linked_name(word: &str) -> bool {
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    word.split_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && stem.chars().all(is_of_name) && LINKED_ENDINGS.contains(&ending.to_lowercase().as_str())
    })
}

/// Returns the places of bare file names that a messenger would link, each with the folders before
/// it.
pub fn linked_names(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for piece in pieces(text, WIDE) {
        let Some(words) = text.get(piece.clone()) else { continue };
        let name = trimmed(words);
        let at = piece.start + words.find(name).unwrap_or_default();
        let (folders, file) = name.rsplit_once('/').unwrap_or(("", name));
        if is_linked_name(file) && !folders.contains(['.', ':', '@', '?', '#']) {
            found.push(at..at + name.len());
        }
    }
    found
}

/// Normalises an address for exact comparison: removes its scheme, the final dot of a full host
/// name and a trailing slash. Everything else must match exactly, since any part can carry data
/// out.
pub fn key(address: &str) -> String {
    let spelled = if address.contains("://") { address.to_owned() } else { format!("https://{address}") };
    match Url::parse(&spelled) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => {
            let host = url.host_str().unwrap_or_default();
            let host = host.strip_suffix('.').unwrap_or(host);
            let user = match (url.username(), url.password()) {
                ("", None) => String::new(),
                (name, password) => format!("{name}:{}@", password.unwrap_or_default()),
            };
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            let path = url.path().trim_end_matches('/');
            let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
            let fragment = url.fragment().map(|fragment| format!("#{fragment}")).unwrap_or_default();
            format!("{user}{host}{port}{path}{query}{fragment}")
        }
        Ok(other) => other.into(),
        Err(_) => address.to_lowercase(),
    }
}

/// Normalises an address for comparison with copied text: like [`key`], without the fragment, and
/// with one spelling for each character that can be percent-encoded.
pub fn loose(key: &str) -> String {
    let page = key.split_once('#').map_or(key, |(page, _)| page).trim_end_matches('/');
    let mut plain = String::with_capacity(page.len());
    let mut rest = page;
    while let Some((before, after)) = rest.split_once('%') {
        plain.push_str(before);
        let spelled = after.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        rest = match spelled {
            Some(byte) => {
                match char::from(byte) {
                    c if c.is_ascii_alphanumeric() || "-._~".contains(c) => plain.push(c),
                    _ => plain.push_str(&format!("%{byte:02X}")),
                }
                after.get(2..).unwrap_or_default()
            }
            None => {
                plain.push('%');
                after
            }
        };
    }
    plain.push_str(rest);
    plain
}

/// Returns the Markdown text with every address broken up that `is_known` does not know, so that it
/// is not a link. `None` if there are none.
pub fn defang(text: &str, is_known: &dyn Fn(&str) -> bool) -> Option<String> {
    let seen = without_unseen(text);
    let strange = |version: &str, marks: &[char]| -> Vec<Range<usize>> {
        let mut pieces: Vec<Range<usize>> = candidates(version, marks)
            .into_iter()
            .filter(|(_, candidate)| !is_known(candidate))
            .map(|(piece, _)| piece)
            .collect();
        pieces.dedup();
        pieces
    };
    let raw = strange(&seen, WIDE);
    let printed = broken(&seen, &raw);
    let shown = visible(&printed);
    let left = strange(&shown, STRICT);
    if !left.is_empty() {
        return Some(escaped(&broken(&shown, &left)));
    }
    (!raw.is_empty()).then_some(printed)
}

/// Returns the texts that a person may copy from: raw and rendered, and both with broken-up
/// addresses restored.
fn versions(text: &str) -> Vec<String> {
    let seen = without_unseen(text);
    let mut versions = vec![visible(&seen), seen];
    for at in 0..versions.len() {
        let whole = versions.get(at).map(|text| text.replace("[.]", ".").replace("[:]", ":").replace("[@]", "@"));
        versions.extend(whole.filter(|whole| versions.get(at) != Some(whole)));
    }
    versions.dedup();
    versions
}

fn without_unseen(text: &str) -> String {
    // The placeholder of an object is removed by channels too.
    let goes = |c: char| is_unseen(c) || c == '\u{fffc}';
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !goes(*c)).collect()
}

/// Returns the text that a reader of rendered Markdown sees, with the address of each link after
/// its words.
fn visible(markdown: &str) -> String {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS | Options::ENABLE_MATH;
    let mut text = String::new();
    let mut anchors = Vec::new();
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Text(words) | Event::Code(words) | Event::Html(words) | Event::InlineHtml(words) => {
                text.push_str(&words);
            }
            Event::InlineMath(words) => text.push_str(&format!("${words}$")),
            Event::DisplayMath(words) => text.push_str(&format!("$${words}$$")),
            Event::FootnoteReference(label) => text.push_str(&format!("[^{label}]")),
            Event::SoftBreak | Event::HardBreak | Event::Rule => text.push('\n'),
            Event::TaskListMarker(_) => {}
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => anchors.push(dest_url),
            Event::Start(_) => {}
            Event::End(TagEnd::Link | TagEnd::Image) => {
                if let Some(address) = anchors.pop() {
                    text.push_str(&format!(" ({address}) "));
                }
            }
            Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough) => {}
            Event::End(TagEnd::TableCell) => text.push(' '),
            Event::End(_) => text.push('\n'),
        }
    }
    without_unseen(&text)
}

/// Characters that separate pieces in which addresses are searched, in addition to white space: in
/// rendered text only those at which every client ends an address, in raw text also those of
/// Markdown.
const STRICT: &[char] = &['<', '>', '"'];
const WIDE: &[char] = &['<', '>', '"', '`', '|', '\\', '«', '»', '“', '”', '„', '、', '。', '，', '；', '（', '）'];

/// Returns everything that a client may take for an address, each with the piece that contains it.
fn candidates<'t>(text: &'t str, ends: &[char]) -> Vec<(Range<usize>, &'t str)> {
    let mut found = Vec::new();
    for piece in pieces(text, ends) {
        let Some(words) = text.get(piece.clone()) else { continue };
        for candidate in in_piece(words) {
            found.push((piece.clone(), candidate));
        }
    }
    found
}

fn pieces(text: &str, ends: &[char]) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut from = 0;
    let is_markup = ends.len() > STRICT.len();
    for (at, c) in text.char_indices() {
        // `[https://a.example](https://a.example)` counts as two.
        let between = is_markup && c == ']' && text.get(at..).is_some_and(|rest| rest.starts_with("]("));
        if c.is_whitespace() || c.is_control() || ends.contains(&c) || between {
            pieces.push(from..at);
            from = at + c.len_utf8();
        }
    }
    pieces.push(from..text.len());
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn in_piece(piece: &str) -> Vec<&str> {
    let schemes: Vec<usize> = piece.match_indices("://").map(|(at, _)| scheme_start(piece, at)).collect();
    let bare = piece.get(..schemes.first().copied().unwrap_or(piece.len())).unwrap_or_default();
    let mut found: Vec<&str> = schemes.into_iter().filter_map(|at| piece.get(at..)).map(trimmed).collect();
    found.extend(hosts(bare, piece));
    found
}

fn scheme_start(piece: &str, colon: usize) -> usize {
    let before = piece.get(..colon).unwrap_or_default();
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-');
    before.len() - before.chars().rev().take_while(|c| is_scheme(*c)).count()
}

/// Returns the hosts without a scheme in `bare`, the beginning of `piece`, each with the path that
/// belongs to it.
fn hosts<'t>(bare: &'t str, piece: &'t str) -> Vec<&'t str> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(rest) = bare.get(from..).filter(|rest| !rest.is_empty()) {
        let length: usize = rest.chars().take_while(|c| is_of_host(*c)).map(char::len_utf8).sum();
        let Some(run) = rest.get(..length).filter(|run| !run.is_empty()) else {
            from += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        let follows = piece.get(from + length..).unwrap_or_default();
        let has_more = follows.starts_with(['/', '?', '#', ':']) && !trimmed(follows).is_empty();
        if is_host(run, has_more) {
            found.push(trimmed(if has_more { piece.get(from..).unwrap_or(run) } else { run }));
            if has_more {
                return found;
            }
        }
        from += length;
    }
    found
}

/// Returns whether the character can belong to a host. Diacritics and similar characters count,
/// since a channel may drop them.
fn is_of_host(c: char) -> bool {
    let is_odd = !c.is_ascii() && !c.is_whitespace() && !AROUND.contains(&c) && !WIDE.contains(&c);
    c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '@' | '+' | '%') || is_odd
}

/// Returns whether the character is a dot of a host name. Without a preceding scheme only the ASCII
/// dot counts: the others end sentences.
fn is_dot(c: char) -> bool {
    matches!(c, '.' | '\u{3002}' | '\u{ff0e}' | '\u{ff61}')
}

/// Returns whether part of a run of letters may be taken for a host.
fn is_host(run: &str, has_more: bool) -> bool {
    let host = run.rsplit('@').next().unwrap_or_default();
    let labels: Vec<&str> = host.trim_matches(|c: char| !c.is_alphanumeric()).split('.').collect();
    labels.split(|label| label.is_empty()).any(|labels| {
        let Some((top, lower)) = labels.split_last() else { return false };
        let is_file = lower.len() == 1
            && !has_more
            && !run.contains('@')
            && FILE_ENDINGS.contains(&top.to_ascii_lowercase().as_str());
        let letters = top.chars().filter(|c| c.is_alphabetic()).count();
        let is_top = letters >= 2 && !top.contains(|c: char| c.is_ascii_digit())
            || top.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("xn--"));
        let is_name = !lower.is_empty() && is_top;
        let is_number = labels.len() == 4 && labels.iter().all(|label| label.chars().all(|c| c.is_ascii_digit()));
        (is_name || is_number) && !is_file
    })
}

fn trimmed(candidate: &str) -> &str {
    let opens = |c| matches!(c, '(' | '[' | '{');
    without_punctuation(candidate, |c| AROUND.contains(&c) || opens(c), |c| AROUND.contains(&c) || opens(c))
}

/// Returns an address without the punctuation of the surrounding sentence, which may stand `before`
/// and `after` it. A closing bracket stays if it was opened inside.
pub fn without_punctuation(address: &str, before: impl Fn(char) -> bool, after: impl Fn(char) -> bool) -> &str {
    let mut rest = address.trim_start_matches(before);
    while let Some(last) = rest.chars().next_back() {
        let count = |bracket: char| rest.matches(bracket).count();
        let ends = match last {
            ')' => count(')') > count('('),
            ']' => count(']') > count('['),
            '}' => count('}') > count('{'),
            _ => after(last),
        };
        match rest.strip_suffix(last) {
            Some(shorter) if ends => rest = shorter,
            _ => break,
        }
    }
    rest
}

/// Returns shorter addresses that a person may mean by a longer one: up to each mark at which a
/// sentence or a list may have continued.
fn cuts(candidate: &str) -> impl Iterator<Item = &str> {
    let marks = candidate.match_indices([',', ';', '(', ')', '[', ']', '{', '}', '\'', '*', '_', '~']);
    marks.filter_map(|(at, _)| candidate.get(..at)).map(trimmed).filter(|cut| !cut.is_empty())
}

/// Returns the text with these pieces broken up.
fn broken(text: &str, pieces: &[Range<usize>]) -> String {
    let mut printed = String::with_capacity(text.len() + 16);
    let mut from = 0;
    for piece in pieces {
        printed.push_str(text.get(from..piece.start).unwrap_or_default());
        let words = text.get(piece.clone()).unwrap_or_default().replace("://", "[:]//");
        let mut before = ' ';
        for c in words.chars() {
            match c {
                _ if is_dot(c) && !before.is_whitespace() => printed.push_str("[.]"),
                '@' => printed.push_str("[@]"),
                _ => printed.push(c),
            }
            before = c;
        }
        from = piece.end;
    }
    printed.push_str(text.get(from..).unwrap_or_default());
    printed
}

/// Returns Markdown that displays the text literally.
fn escaped(text: &str) -> String {
    let mut markdown = String::with_capacity(text.len() + 16);
    for line in text.lines() {
        for c in line.trim().chars() {
            if c.is_ascii_punctuation() {
                markdown.push('\\');
            }
            markdown.push(c);
        }
        markdown.push('\n');
    }
    markdown.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nothing_known(text: &str) -> Option<String> {
        defang(text, &|_| false)
    }

    #[test]
    fn bare_file_names_are_no_addresses_with_a_scheme_a_host_or_a_path_behind() {
        for (text, names) in [
            ("It is in **glossary.md**, see plans/move_2.MD.", &["glossary.md", "plans/move_2.MD"][..]),
            ("(run.sh) and `a.py`", &["run.sh", "a.py"]),
            ("https://a.md b.md/x c@d.md e.f.md g.md?x=1 h.md:80 i.txt j.example evil.example/k.md //l.md/", &[]),
        ] {
            let found: Vec<&str> = linked_names(text).into_iter().filter_map(|place| text.get(place)).collect();
            assert_eq!(found, names, "{text}");
        }
    }

    #[test]
    fn an_unknown_address_is_printed_broken_and_the_rest_stays() {
        for (text, printed) in [
            ("See https://evil.example/a.b?d=1, now.", "See https[:]//evil[.]example/a[.]b?d=1, now."),
            ("**evil.example** or `x.evil.example/y`", "**evil[.]example** or `x[.]evil[.]example/y`"),
            ("[words](http://evil.example)", "[words](http[:]//evil[.]example)"),
            ("[x.example](http://y.example)", "[x[.]example](http[:]//y[.]example)"),
            ("write to pin4711@evil.example", "write to pin4711[@]evil[.]example"),
            ("http://192.0.2.1/x and 192.0.2.1", "http[:]//192[.]0[.]2[.]1/x and 192[.]0[.]2[.]1"),
            ("tg://resolve?domain=evil", "tg[:]//resolve?domain=evil"),
            ("e\u{200b}vil.exa\u{ad}mple", "evil[.]example"),
            ("https://evil.example。x", "https[:]//evil[.]example。x"),
            ("//evil.example/x", "//evil[.]example/x"),
            ("evil\u{333}.example and e\u{fffc}vil.example", "evil\u{333}[.]example and evil[.]example"),
        ] {
            assert_eq!(nothing_known(text).as_deref(), Some(printed), "{text}");
        }
        for text in [
            "",
            "你好。世界3.5版本",
            "At 3.5 or 10.30, e.g. by Dr. No...",
            "a/b notes.txt v1.2.3 12.03.2026 1:2",
            "and/or a@b",
        ] {
            assert_eq!(nothing_known(text), None, "{text}");
        }
    }

    #[test]
    fn addresses_disguised_by_markdown_lose_their_markup() {
        for text in [
            "evil&#46;example/x",
            "evil&period;example",
            "evil\\.example",
            "ev*il*.exa**mp**le/?d=4711",
            "https&#58;//evil&#x2e;example/4711",
            "[a](evil&#46;example)",
            "https:\\/\\/evil\\.example",
        ] {
            let printed = nothing_known(text).unwrap_or_else(|| panic!("{text}"));
            let seen = visible(&printed);
            assert!(seen.contains("evil[.]example"), "{text}: {printed}: {seen}");
            assert!(candidates(&seen, STRICT).is_empty(), "{text}: {seen}");
        }
    }

    #[test]
    fn an_address_that_appears_in_a_source_stays_a_link() {
        let known = keys(
            "<page>\nNews (https://good.example/a?b=c_d#e), good.example/x_(y). Also [z](http://z.example/1),http://q.example</page>",
        );
        for text in [
            "See https://good.example/a?b=c_d.",
            "[news](https://good.example/a?b=c_d#e) and (http://GOOD.example/x_(y)).",
            "**http://z.example/1/**, q.example",
        ] {
            assert_eq!(defang(text, &|address| known.contains(&key(address))), None, "{text}");
        }
        for text in [
            "https://good.example/a?b=c_d&e=4711",
            "https://good.example/a?b=c_d#4711",
            "https://4711.good.example/",
            "https://4711@good.example/a",
            "https://good.example/a?b=c_d'4711",
            "https://z.example:4711/1",
            "https://z.example/1\\4711",
            "z.example/1“4711",
        ] {
            assert!(defang(text, &|address| known.contains(&key(address))).is_some(), "{text}");
        }
    }

    #[test]
    fn a_copy_is_known_in_any_spelling() {
        let outside: HashSet<String> =
            keys("[go](http://evil.example/a\\_b%2fc/#top) or x\\.example/y, https[:]//z[.]example/1 *w.example/a*b*")
                .iter()
                .map(|key| loose(key))
                .collect();
        for copied in [
            "https://evil.example/a_b%2Fc",
            "EVIL.example./a_b%2Fc/",
            "http://evil.example:80/%61_b%2fc#x",
            "x.example/y",
            "z.example/1",
            "w.example/a*b",
        ] {
            assert!(outside.contains(&loose(&key(copied))), "{copied}: {outside:?}");
        }
        assert!(!outside.contains(&loose(&key("evil.example/a_b"))));
    }

    proptest! {
        /// Proves: trust/unknown-link
        #[test]
        fn nothing_that_is_printed_holds_an_unknown_address(
            text in "([a-z]{1,4}|[.:/@*_\\[\\]()<>&;#\\\\`~|\" \n-]|https://|&#46;|evil\\.example){0,30}",
        ) {
            let printed = nothing_known(&text).unwrap_or(text);
            let seen = visible(&without_unseen(&printed));
            prop_assert!(candidates(&seen, STRICT).is_empty(), "{:?} shows {:?}", printed, seen);
        }

        #[test]
        fn any_text_is_read_without_panic(text in any::<String>()) {
            keys(&text).iter().for_each(|key| drop(loose(key)));
            nothing_known(&text);
        }
    }
}
