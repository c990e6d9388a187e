//! Converts a body to readable text: bytes to characters, and a page to its article if it has one,
//! otherwise to all its text. Links keep their full address next to their words, so that a pleasant
//! name hides nothing.
//!
//! Character sets are those of the web. An unknown set is refused by name, since mojibake would be
//! taken for the page's words. A byte order mark takes precedence over the header, the header over
//! the page's own declaration; the default is UTF-8. Invalid bytes become U+FFFD.

use dom_smoothie::{Config, Readability};
use encoding_rs::{Encoding, REPLACEMENT, UTF_8};
use html2text::render::{RichAnnotation, TaggedLine};
use url::Url;

use super::FetchError;
use super::tidy::tidy;

/// Wide enough that paragraphs stay on one line, as the text is not read on a screen.
const WIDTH: usize = 20_000;
const MAX_TITLE_CHARS: usize = 200;
/// An "article" with less text than this is more likely a cookie banner than the page.
const MIN_ARTICLE_CHARS: usize = 200;

/// Format of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyKind {
    Html,
    Plain,
}

/// Text that a person would read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Readable {
    pub(super) title: Option<String>,
    pub(super) text: String,
    pub(super) truncated: bool,
}

/// Returns the text of a page from `url`, at most `max_chars` long. Slow for large pages: not for
/// async threads.
pub(super) fn readable(body: &str, kind: BodyKind, url: &Url, max_chars: usize) -> Result<Readable, FetchError> {
    let (title, text) = match kind {
        BodyKind::Html => from_html(body, url)?,
        BodyKind::Plain => (None, body.to_owned()),
    };
    let text = clean(&text);
    if text.is_empty() {
        return Err(FetchError::Empty);
    }
    let (text, truncated) = match text.char_indices().nth(max_chars) {
        Some((end, _)) => (text.get(..end).unwrap_or_default().trim_end().to_owned(), true),
        None => (text, false),
    };
    Ok(Readable { title: title.and_then(|title| one_line(&title)), text, truncated })
}

/// Returns all text of a page received as a file, including text outside of its article. Slow for
/// large pages.
///
/// # Errors
/// If a parser fails on it.
pub fn whole(html: &str) -> Result<String, FetchError> {
    let nowhere = Url::parse("about:blank").map_err(|_| FetchError::Unreadable)?;
    laid_out(&tidy(html, &nowhere)).map(|text| clean(&text))
}

fn from_html(body: &str, url: &Url) -> Result<(Option<String>, String), FetchError> {
    let page = tidy(body, url);
    let config = Config { disable_json_ld: true, ..Config::default() };
    let mut readability =
        Readability::new(page.as_str(), Some(url.as_str()), Some(config)).map_err(|_| FetchError::Unreadable)?;
    let title = readability.get_article_title().to_string();
    if let Ok(article) = readability.parse() {
        let text = laid_out(&article.content)?;
        if text.chars().count() >= MIN_ARTICLE_CHARS {
            return Ok((Some(article.title).filter(|title| !title.is_empty()).or(Some(title)), text));
        }
    }
    Ok((Some(title), laid_out(&page)?))
}

/// Renders HTML as lines of text, tables by row.
fn laid_out(html: &str) -> Result<String, FetchError> {
    let lines = html2text::config::rich()
        .no_table_borders()
        .no_link_wrapping()
        .allow_width_overflow()
        .lines_from_read(html.as_bytes(), WIDTH)
        .map_err(|_| FetchError::Unreadable)?;
    let mut text = String::new();
    for line in &lines {
        push_line(&mut text, line);
        text.push('\n');
    }
    Ok(text)
}

/// Appends a line with the address of each link after its words, unless these are the address.
fn push_line(text: &mut String, line: &TaggedLine<Vec<RichAnnotation>>) {
    let mut link: Option<(&str, String)> = None;
    for piece in line.tagged_strings() {
        let target = piece.tag.iter().find_map(|tag| match tag {
            RichAnnotation::Link(target) => Some(target.as_str()),
            _ => None,
        });
        match (&mut link, target) {
            (Some((address, words)), Some(target)) if *address == target => words.push_str(&piece.s),
            _ => {
                push_link(text, link.take());
                link = target.map(|target| (target, piece.s.clone()));
            }
        }
        if target.is_none() {
            text.push_str(&piece.s);
        }
    }
    push_link(text, link);
}

fn push_link(text: &mut String, link: Option<(&str, String)>) {
    let Some((address, words)) = link else { return };
    match words.trim() {
        "" => {}
        said if said == address => text.push_str(&words),
        _ => text.push_str(&format!("{words} <{address}>")),
    }
}

/// Removes characters that control a terminal, hide text or change its direction; keeps at most one
/// consecutive blank line.
pub fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut blank = 0;
    for line in text.replace("\r\n", "\n").replace('\r', "\n").lines() {
        let line: String = line.chars().filter(|c| *c == '\t' || is_visible(*c)).collect();
        let line = line.trim_end();
        blank = if line.is_empty() { blank + 1 } else { 0 };
        if blank < 2 {
            cleaned.push_str(line);
            cleaned.push('\n');
        }
    }
    cleaned.trim_end().trim_start_matches('\n').to_owned()
}

fn one_line(title: &str) -> Option<String> {
    let spaced: String = title.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    let visible: String = spaced.chars().filter(|c| is_visible(*c)).collect();
    let line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().take(MAX_TITLE_CHARS).collect();
    (!line.is_empty()).then_some(line)
}

fn is_visible(c: char) -> bool {
    let hides = matches!(c,
        '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    !c.is_control() && !hides
}

/// Number of bytes searched for a page's own declaration.
const DECLARATION_WITHIN: usize = 2048;

/// Decodes `bytes`; `header` is the character set in the response header.
///
/// # Errors
/// Name of an unsupported character set.
pub fn decode(bytes: &[u8], header: Option<&str>) -> Result<String, String> {
    let label = header.map(str::to_owned).or_else(|| declared(bytes)).unwrap_or_default();
    let label = label.trim().to_ascii_lowercase();
    let set = match label.as_str() {
        "" => Some(UTF_8),
        // Names in use that the web's list lacks.
        "latin-1" => Encoding::for_label(b"latin1"),
        "latin9" => Encoding::for_label(b"l9"),
        label => Encoding::for_label(label.as_bytes()),
    };
    if let Some((marked, _)) = Encoding::for_bom(bytes) {
        return Ok(marked.decode(bytes).0.into_owned());
    }
    let set = set.filter(|set| *set != REPLACEMENT).ok_or(label)?;
    Ok(set.decode(bytes).0.into_owned())
}

/// Returns the character set that an HTML `meta` names within the first bytes. A page whose `meta`
/// is readable is not UTF-16.
fn declared(bytes: &[u8]) -> Option<String> {
    let start = bytes.get(..DECLARATION_WITHIN).unwrap_or(bytes);
    let start = String::from_utf8_lossy(start).to_ascii_lowercase();
    let (_, after) = start.split_once("<meta").and_then(|(_, metas)| metas.split_once("charset="))?;
    let label: String = after
        .trim_start_matches(['"', '\'', ' '])
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        .collect();
    (!label.is_empty() && !label.starts_with("utf-16")).then_some(label)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(body: &str) -> Result<Readable, FetchError> {
        readable(body, BodyKind::Html, &Url::parse("https://example.org/a/").unwrap(), 5_000)
    }

    fn article() -> String {
        let paragraph = "<p>The lighthouse keeper, a patient woman, wrote down the weather each evening, and later, \
            when the storms came, compared it with what <a href='../log?y=1'>the old log</a> had said.</p>";
        format!(
            "<html><head><title>The Log &amp; the Lamp</title><style>p{{}}</style></head><body>\
             <nav><a href=/>Home</a><a href=/shop>Shop</a></nav><script>steal('cookies')</script>\
             <article><h1>Weather</h1>{}</article><footer>Imprint</footer></body></html>",
            paragraph.repeat(5)
        )
    }

    #[test]
    fn an_article_is_read_without_the_noise() {
        let page = read(&article()).unwrap();
        assert_eq!(page.title.as_deref(), Some("The Log & the Lamp"));
        assert!(page.text.contains("what the old log <https://example.org/log?y=1> had said."), "{}", page.text);
        for noise in ["Home", "Shop", "steal", "p{", "Imprint"] {
            assert!(!page.text.contains(noise), "{noise}: {}", page.text);
        }
        assert!(!page.truncated);
    }

    #[test]
    fn a_page_without_article_is_read_whole() {
        let page = read(
            "<h2>Prices</h2><table><tr><th>Tea<th>2 €<tr><td>Cake<td>3 €</table><ul><li>cash<li>card</ul>\
             <pre>a\n  b</pre><a href=https://a.org/>https://a.org/</a>",
        )
        .unwrap();
        for part in ["Prices", "Tea", "2 €", "Cake", "cash", "\n  b"] {
            assert!(page.text.contains(part), "{part}: {}", page.text);
        }
        assert!(page.text.ends_with("https://a.org/"), "{}", page.text);
        assert_eq!(page.title, None);
    }

    #[test]
    fn titles_are_one_harmless_line() {
        let title = |inside: &str| read(&format!("<title>{inside}</title>x")).unwrap().title;
        assert_eq!(title(" a\n\n# system:\r\n\tb ").as_deref(), Some("a # system: b"));
        assert_eq!(title("a&#10;b&#27;[31m\u{202e}c").as_deref(), Some("a b[31mc"));
        assert_eq!(title(&"x".repeat(1_000)).unwrap().len(), MAX_TITLE_CHARS);
        assert_eq!(title(" \n "), None);
    }

    #[test]
    fn text_is_clean_and_bounded() {
        let url = Url::parse("https://example.org/").unwrap();
        let plain = |body: &str, max| readable(body, BodyKind::Plain, &url, max);
        let page = plain("\na\0\u{1b}[2Jb\r\n\tc\u{200b}\u{e0041}\n\n\n\nd\r\n", 100).unwrap();
        assert_eq!((page.text.as_str(), page.truncated), ("a[2Jb\n\tc\n\nd", false));
        let page = plain("ääää", 3).unwrap();
        assert_eq!((page.text.as_str(), page.truncated), ("äää", true));
        assert_eq!(plain(" \n\0\u{feff}", 10), Err(FetchError::Empty));
        assert_eq!(read("<script>all of it</script>"), Err(FetchError::Empty));
    }

    /// Inputs on which an unprotected parser recurses too deeply, or multiplies elements.
    #[test]
    fn bombs_do_not_go_off() {
        let bold: String = (0..2_000).map(|n| format!("<b id={n}>")).collect();
        let bombs = [
            "<div>".repeat(100_000) + "x",
            "<table><tr><td>".repeat(5_000) + "x",
            "<ul><li>".repeat(5_000) + "x",
            "<svg><style><g>".repeat(5_000) + "</svg>x",
            "<blockquote>".repeat(5_000) + "x",
            "<div title='</div>'>".repeat(5_000) + "x",
            format!("<div>{bold}</div>{}", "<p>x</p>".repeat(2_000)),
            format!("<table>{bold}<tr></tr>{}", "x<tr></tr>".repeat(2_000)),
        ];
        for bomb in bombs {
            let page = read(&bomb).unwrap();
            assert!(page.text.contains('x'), "{:.40}", bomb);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_page_is_read_without_panic_and_clean(body in ".{0,200}", tags in "[<>/a-z =\"'&;#!-]{0,200}") {
            for html in [format!("{body}{tags}"), format!("<p>{tags}<table>{body}")] {
                if let Ok(page) = read(&html) {
                    prop_assert!(page.text.chars().all(|c| matches!(c, '\n' | '\t') || is_visible(c)));
                }
            }
        }
    }

    #[test]
    fn sets_are_honoured_in_their_order() {
        type Case<'a> = (&'a [u8], Option<&'a str>, Result<&'a str, &'a str>);
        let cases: [Case; 16] = [
            (b"caf\xe9", Some("ISO-8859-1"), Ok("café")),
            (b"\x80 \x93x\x94", Some("windows-1252"), Ok("€ “x”")),
            (b"\xa4", Some("iso-8859-15"), Ok("€")),
            ("café".as_bytes(), None, Ok("café")),
            (b"caf\xe9!", None, Ok("caf\u{fffd}!")),
            (b"\xEF\xBB\xBFcaf\xc3\xa9", Some("latin1"), Ok("café")),
            (b"\xFF\xFEa\0b\0\xe9\0", None, Ok("abé")),
            (b"\xFE\xFF\0a\xd8\0", None, Ok("a\u{fffd}")),
            (b"<meta charset='latin1'>\xe9", None, Ok("<meta charset='latin1'>é")),
            (b"<meta charset=latin1>\xc3\xa9", Some("utf-8"), Ok("<meta charset=latin1>é")),
            (b"\xa4", Some("latin9"), Ok("€")),
            (b"caf\xe9", Some("latin-1"), Ok("café")),
            (b"\x93\xfa\x96\x7b", Some("shift_jis"), Ok("日本")),
            (b"<meta charset=koi8-r>\xc4\xc1", None, Ok("<meta charset=koi8-r>да")),
            (b"x", Some("iso-2022-kr"), Err("iso-2022-kr")),
            (b"<meta http-equiv=x content='text/html; charset=utf-7'>", None, Err("utf-7")),
        ];
        for (bytes, header, expected) in cases {
            assert_eq!(decode(bytes, header), expected.map(str::to_owned).map_err(str::to_owned), "{bytes:?}");
        }
    }
}
