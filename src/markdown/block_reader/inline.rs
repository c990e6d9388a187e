//! Inline parsing state: style, restored delimiters, and links.
//!
//! The rules for hiding an address behind link text serve honesty, not only safety: an address that
//! a client would not open, that contains credentials, or whose text looks like another address is
//! spelled out.

use std::ops::Range;
use std::rc::Rc;

use pulldown_cmark::LinkType;
use url::Url;

use super::{MarkdownParser, formula};
use crate::markdown::separators::encloses_cjk;
use crate::markdown::{LinkDisplay, Span, TextStyle, break_tag, strip_control};

/// Longer link texts are not used as link names.
const MAX_WORDS: usize = 512;

pub(super) struct OpenLink {
    address: String,
    /// An autolink: its text is its address.
    is_autolink: bool,
    first_span: usize,
}

/// Origin of a line break. A line that ends with both has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineBreak {
    Source,
    Tag,
}

impl MarkdownParser<'_> {
    pub(super) fn push(&mut self, text: &str) {
        self.push_styled(text, self.style());
    }

    pub(super) fn push_styled(&mut self, text: &str, style: TextStyle) {
        let mut text = strip_control(text);
        if self.last_break == Some(LineBreak::Tag) && !style.code {
            text.drain(..text.len() - text.trim_start_matches(' ').len());
        }
        if text.is_empty() {
            return;
        }
        self.last_break = None;
        let own_span = self.anchors.last().is_some_and(|anchor| anchor.first_span == self.spans.len());
        match self.spans.last_mut().filter(|last| !own_span && last.style == style) {
            Some(last) => last.text.push_str(&text),
            None => self.spans.push(Span { text, style }),
        }
    }

    /// Ends a line where the source does.
    pub(super) fn end_line(&mut self) {
        if self.last_break != Some(LineBreak::Tag) {
            self.push("\n");
            self.last_break = Some(LineBreak::Source);
        }
    }

    /// Adds HTML as typed, except for the line breaks in it.
    pub(super) fn push_html(&mut self, html: &str) {
        let mut rest = html;
        while let Some((before, after)) = break_tag::split(rest) {
            self.push(before);
            self.break_line();
            rest = after.strip_prefix('\n').unwrap_or(after);
        }
        self.push(rest);
    }

    fn break_line(&mut self) {
        let style = self.style();
        if let Some(last) = self.spans.last_mut().filter(|last| last.style == style) {
            last.text.truncate(last.text.trim_end_matches(' ').len());
        }
        if self.last_break != Some(LineBreak::Source) && !self.spans.is_empty() {
            self.push("\n");
        }
        self.last_break = Some(LineBreak::Tag);
    }

    pub(super) fn style(&self) -> TextStyle {
        TextStyle {
            bold: self.bold > 0 || self.heading > 0,
            italic: self.italic > 0,
            strike: self.strike > 0,
            code: false,
            link: None,
        }
    }

    pub(super) fn open_delimiter(&mut self, range: &Range<usize>, length: usize) {
        let restored = self.restored(range, length);
        self.delimiters.push(restored);
        match restored {
            Some(typed) => self.push(typed),
            None => match self.source.get(range.start..).map(|rest| (rest.starts_with("~~"), length)) {
                Some((true, _)) => self.strike += 1,
                Some((_, 2)) => self.bold += 1,
                _ => self.italic += 1,
            },
        }
    }

    pub(super) fn close_delimiter(&mut self, counter: impl Fn(&mut Self) -> &mut usize) {
        match self.delimiters.pop().flatten() {
            Some(typed) => self.push(typed),
            None => {
                let count = counter(self);
                *count = count.saturating_sub(1);
            }
        }
    }

    /// Returns the delimiter as text if it was not meant as one.
    fn restored(&self, range: &Range<usize>, length: usize) -> Option<&'static str> {
        let before = self.source.get(..range.start)?;
        let inside = self.source.get(range.clone())?;
        let after = self.source.get(range.end..)?;
        let typed = match (inside.chars().next()?, length) {
            ('*', 1) => "*",
            ('*', _) => "**",
            ('_', 1) => "_",
            ('_', _) => "__",
            _ if inside.starts_with("~~") => "~~",
            _ => "~",
        };
        let between = before.ends_with(is_operand) && after.starts_with(is_operand);
        let literal = match typed {
            "~" => true,
            "__" => is_identifier(inside),
            // Words of a script without spaces are no exponent.
            "**" | "~~" => between && !encloses_cjk(inside),
            _ => between,
        };
        let in_formula = |position| formula::contains(&self.formulas, position);
        let literal = literal || in_formula(range.start) || in_formula(range.end.checked_sub(1)?);
        let end = self.source.get(..range.end.checked_sub(typed.len())?)?;
        let in_address = || ends_in_address(before) || (after.starts_with(is_operand) && ends_in_address(end));
        (literal || in_address()).then_some(typed)
    }

    pub(super) fn open_anchor(&mut self, kind: LinkType, address: &str, label: &str) {
        if !label.is_empty() {
            self.used.insert(label.to_lowercase());
        }
        let address = strip_control(address).replace(['\n', '\t'], "");
        let plain = matches!(kind, LinkType::Autolink | LinkType::Email);
        self.anchors.push(OpenLink { address, is_autolink: plain, first_span: self.spans.len() });
    }

    pub(super) fn close_anchor(&mut self) {
        let Some(OpenLink { address, is_autolink: plain, first_span }) = self.anchors.pop() else {
            return;
        };
        let named = self.links == LinkDisplay::Embedded && self.table.is_none();
        let words = self.words_since(first_span);
        if words.trim().is_empty() {
            return self.push(&address);
        }
        let is_shown = plain || address.is_empty() || is_same(words.trim(), &address);
        // Links do not nest: inside another link only the text counts.
        if is_shown || (named && !self.anchors.is_empty()) {
            return;
        }
        if !named || words.len() > MAX_WORDS || !may_hide(&words, &address) {
            return self.push(&format!(" ({address})"));
        }
        let link: Rc<str> = address.into();
        for span in self.spans.iter_mut().skip(first_span) {
            span.style.link = Some(Rc::clone(&link));
        }
    }

    /// Text of a link, truncated just past the limit.
    fn words_since(&self, first_span: usize) -> String {
        let mut words = String::new();
        for span in self.spans.iter().skip(first_span) {
            words.extend(span.text.chars().take(MAX_WORDS + 1));
            if words.len() > MAX_WORDS {
                break;
            }
        }
        words
    }
}

/// Scripts written without spaces may have emphasis inside a word; there an asterisk is no
/// operator.
fn is_operand(c: char) -> bool {
    c.is_alphanumeric() && c < '\u{2e80}'
}

fn is_identifier(typed: &str) -> bool {
    typed.len() <= 64 && typed.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

fn ends_in_address(before: &str) -> bool {
    let word = before.char_indices().rev().take(128).take_while(|(_, c)| !c.is_whitespace()).last();
    word.and_then(|(start, _)| before.get(start..)).is_some_and(|word| word.contains("://"))
}

/// Returns true if the link text `words` may hide `address`.
fn may_hide(words: &str, address: &str) -> bool {
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
fn is_same(words: &str, address: &str) -> bool {
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
