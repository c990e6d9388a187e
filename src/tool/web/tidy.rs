//! Makes hostile HTML harmless before a real parser sees it.
//!
//! A standard-conforming parser can be made to overflow its stack (deep nesting) or its memory (a
//! few thousand unclosed `<b>` are repeated in every later paragraph). So a page is first rewritten
//! into a well-formed tree: known elements only, each closed in order, at most [`MAX_DEPTH`] deep
//! and [`MAX_ELEMENTS`] in number, without scripts, styles, comments and forms, and with absolute
//! addresses. On such a tree every parser is linear. Text is never lost, only its markup. One pass,
//! no recursion.

use url::Url;

/// Nesting depth beyond which elements lose their tags; pages made by people stay far below.
const MAX_DEPTH: usize = 80;
/// Number of elements after which further ones lose their tags.
const MAX_ELEMENTS: usize = 30_000;
/// Maximum length of an attribute; longer ones are dropped.
const MAX_ATTRIBUTE: usize = 2_000;

/// Elements dropped together with their content.
const DROPPED: [&str; 17] = [
    "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "textarea", "select", "noembed",
    "noframes", "xmp", "canvas", "audio", "video", "button",
];
/// Void elements.
const EMPTY: [&str; 4] = ["br", "hr", "img", "meta"];
const BLOCKS: &str = "address article aside blockquote center dd details div dl dt figcaption figure footer h1 h2 h3 h4 h5 \
    h6 header hr li main nav ol p pre section summary table ul form";
const INLINE: [&str; 24] = [
    "a", "abbr", "b", "cite", "code", "del", "dfn", "em", "i", "ins", "kbd", "mark", "q", "s", "samp", "small", "span",
    "strong", "sub", "sup", "time", "u", "var", "label",
];
const TABLE_PARTS: [&str; 7] = ["caption", "tbody", "td", "tfoot", "th", "thead", "tr"];
const ATTRIBUTES: [&str; 11] =
    ["href", "id", "class", "role", "hidden", "aria-hidden", "style", "name", "property", "content", "alt"];

/// Rewrites `html`; `base` is its address.
pub(super) fn tidy(html: &str, base: &Url) -> String {
    let mut tree = Tree { base, html: String::with_capacity(html.len()), open: Vec::new(), elements: 0, titled: false };
    let mut rest = html;
    while let Some((text, markup)) = rest.split_once('<') {
        tree.text(text);
        rest = tree.markup(markup);
    }
    tree.text(rest);
    tree.close_to(0);
    tree.html
}

struct Tree<'a> {
    base: &'a Url,
    html: String,
    open: Vec<&'static str>,
    elements: usize,
    titled: bool,
}

impl Tree<'_> {
    fn text(&mut self, text: &str) {
        self.html.push_str(text);
    }

    /// Processes the text after a `<`; returns the text after the tag or comment.
    fn markup<'t>(&mut self, markup: &'t str) -> &'t str {
        if let Some(comment) = markup.strip_prefix("!--") {
            return comment.split_once("-->").map_or("", |(_, rest)| rest);
        }
        if markup.starts_with(['!', '?']) {
            return markup.split_once('>').map_or("", |(_, rest)| rest);
        }
        if let Some(end_tag) = markup.strip_prefix('/') {
            let (inside, rest) = end_tag.split_once('>').unwrap_or((end_tag, ""));
            self.end(&name_of(inside).0);
            return rest;
        }
        if !markup.starts_with(|c: char| c.is_ascii_alphabetic()) {
            self.html.push_str("&lt;");
            return markup;
        }
        let (name, inside) = name_of(markup);
        let (attributes, rest) = attributes(inside);
        if DROPPED.contains(&name.as_str()) {
            return after_end(rest, &name).1;
        }
        if name == "title" {
            let (title, rest) = after_end(rest, &name);
            self.title(title);
            return rest;
        }
        self.start(&name, &attributes);
        rest
    }

    fn title(&mut self, title: &str) {
        if !std::mem::replace(&mut self.titled, true) {
            self.html.push_str(&format!("<title>{}</title>", title.replace('<', "&lt;")));
        }
    }

    fn start(&mut self, name: &str, attributes: &[(String, String)]) {
        let known =
            EMPTY.into_iter().chain(BLOCKS.split(' ')).chain(INLINE).chain(TABLE_PARTS).find(|known| *known == name);
        let Some(name) = known else { return };
        self.close_implied(name);
        let full = self.open.len() >= MAX_DEPTH || self.elements >= MAX_ELEMENTS;
        if full || !self.fits(name) {
            self.html.push(' ');
            return;
        }
        self.elements += 1;
        self.html.push('<');
        self.html.push_str(name);
        for (attribute, value) in attributes {
            self.attribute(attribute, value);
        }
        self.html.push('>');
        if !EMPTY.contains(&name) {
            self.open.push(name);
        }
    }

    fn attribute(&mut self, name: &str, value: &str) {
        let value = match name {
            "href" => match self.base.join(value.trim()) {
                Ok(url) if matches!(url.scheme(), "http" | "https" | "mailto") => url.to_string(),
                _ => return,
            },
            _ => value.to_owned(),
        };
        if value.len() <= MAX_ATTRIBUTE {
            let value = value.replace('"', "&quot;").replace('<', "&lt;");
            self.html.push_str(&format!(" {name}=\"{value}\""));
        }
    }

    /// Closes elements that an author may leave open and that `name` closes implicitly.
    fn close_implied(&mut self, name: &str) {
        const CELLS: [&str; 3] = ["td", "th", "caption"];
        match name {
            "li" => self.close_nearest(&["li"], &["ul", "ol", "td", "th"]),
            "dt" | "dd" => self.close_nearest(&["dt", "dd"], &["dl", "td", "th"]),
            "td" | "th" => self.close_nearest(&CELLS, &["tr", "table"]),
            "tr" => self.close_nearest(&["tr", "caption"], &["table"]),
            "tbody" | "thead" | "tfoot" => self.close_nearest(&["tbody", "thead", "tfoot", "caption"], &["table"]),
            "a" => self.close_nearest(&["a"], &["td", "th"]),
            _ => {}
        }
        if BLOCKS.split(' ').any(|block| block == name) {
            self.close_nearest(&["p"], &["td", "th", "caption"]);
        }
    }

    /// Returns whether the element fits into the present table structure. Parsers move misplaced
    /// content out of a table, at a price; here it loses its tags instead.
    fn fits(&self, name: &str) -> bool {
        let parent = self.open.last().copied().unwrap_or_default();
        match name {
            "td" | "th" => parent == "tr",
            "tr" => matches!(parent, "table" | "tbody" | "thead" | "tfoot"),
            "caption" | "tbody" | "thead" | "tfoot" => parent == "table",
            _ => !matches!(parent, "table" | "tbody" | "thead" | "tfoot" | "tr"),
        }
    }

    fn end(&mut self, name: &str) {
        if TABLE_PARTS.contains(&name) {
            self.close_nearest(&[name], &["table"]);
        } else if name == "table" {
            self.close_nearest(&["table"], &[]);
        } else {
            self.close_nearest(&[name], &["td", "th", "caption", "table"]);
        }
    }

    /// Closes the innermost of `names` with everything inside it, unless one of `until` is in
    /// between.
    fn close_nearest(&mut self, names: &[&str], until: &[&str]) {
        let found = self.open.iter().rposition(|open| names.contains(open) || until.contains(open));
        if let Some(at) = found.filter(|at| self.open.get(*at).is_some_and(|open| names.contains(open))) {
            self.close_to(at);
        }
    }

    fn close_to(&mut self, depth: usize) {
        while self.open.len() > depth {
            if let Some(name) = self.open.pop() {
                self.html.push_str(&format!("</{name}>"));
            }
        }
    }
}

/// Returns the lower-case tag name at the start of `tag`, and the text after it.
fn name_of(tag: &str) -> (String, &str) {
    let end = tag.find(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>')).unwrap_or(tag.len());
    let (name, rest) = tag.split_at_checked(end).unwrap_or((tag, ""));
    (name.to_ascii_lowercase(), rest)
}

/// Returns the attributes to keep, each once, and the text after the tag.
fn attributes(tag: &str) -> (Vec<(String, String)>, &str) {
    let mut kept: Vec<(String, String)> = Vec::new();
    let mut rest = tag;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        if rest.is_empty() {
            return (kept, rest);
        }
        if let Some(after) = rest.strip_prefix('>') {
            return (kept, after);
        }
        let (name, value, after) = attribute(rest);
        rest = after;
        let name = name.to_ascii_lowercase();
        if ATTRIBUTES.contains(&name.as_str()) && !kept.iter().any(|(known, _)| *known == name) {
            kept.push((name, value.to_owned()));
        }
    }
}

/// Returns name, value and rest. Consumes at least one character, so that the caller's loop ends.
fn attribute(tag: &str) -> (&str, &str, &str) {
    let ends_name = |c: char| c.is_ascii_whitespace() || matches!(c, '=' | '/' | '>');
    let first = tag.chars().next().map_or(0, char::len_utf8);
    let name_end = tag.char_indices().skip(1).find(|(_, c)| ends_name(*c)).map_or(tag.len(), |(at, _)| at);
    let (name, rest) = tag.split_at_checked(name_end.max(first)).unwrap_or((tag, ""));
    let Some(value) = rest.trim_ascii_start().strip_prefix('=') else {
        return (name, "", rest);
    };
    let value = value.trim_ascii_start();
    for quote in ['"', '\''] {
        if let Some(quoted) = value.strip_prefix(quote) {
            let (value, rest) = quoted.split_once(quote).unwrap_or((quoted, ""));
            return (name, value, rest);
        }
    }
    let end = value.find(|c: char| c.is_ascii_whitespace() || c == '>').unwrap_or(value.len());
    let (value, rest) = value.split_at_checked(end).unwrap_or((value, ""));
    (name, value, rest)
}

/// Returns the text before the end tag of `name`, and the text after it.
fn after_end<'t>(html: &'t str, name: &str) -> (&'t str, &'t str) {
    for (at, _) in html.match_indices("</") {
        let (before, tag) = html.split_at_checked(at).unwrap_or((html, ""));
        let tag = tag.strip_prefix("</").unwrap_or(tag);
        let named = tag.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
        let ended = tag.get(name.len()..).is_some_and(|end| !end.starts_with(|c: char| c.is_ascii_alphanumeric()));
        if named && ended {
            return (before, tag.split_once('>').map_or("", |(_, rest)| rest));
        }
    }
    (html, "")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tidied(html: &str) -> String {
        tidy(html, &Url::parse("https://example.org/a/b").unwrap())
    }

    #[test]
    fn markup_becomes_well_formed() {
        let cases = [
            ("<p>one<p>two", "<p>one</p><p>two</p>"),
            ("<ul><li>a<li>b<ul><li>c</ul></ul>", "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>"),
            ("<p><b>x<div>y</div>", "<p><b>x</b></p><div>y</div>"),
            ("<b><i>x</b>y</i>", "<b><i>x</i></b>y"),
            (
                "<table><tr><td>1<td>2<tr><td>3</table>",
                "<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>",
            ),
            ("<table><b><tr><td></b></table>", "<table> <tr><td></td></tr></table>"),
            ("a < b </nothing> <unknown>c</unknown>", "a &lt; b  c"),
            ("<script>'<p>'</script >x<!-- <p> -->y<?php ?>z<!doctype html>", "xyz"),
            ("<STYLE>p{}</sTyLe>x<script>never closed", "x"),
            ("<title>a<b>c</title><title>d</title>", "<title>a&lt;b>c</title>"),
            ("<a href='../c?d=1&amp;e' onclick=x>y</a>", "<a href=\"https://example.org/c?d=1&amp;e\">y</a>"),
            ("<a href=javascript:x>y</a>", "<a>y</a>"),
            (
                "<a href=/x>1<a href=/y>2",
                "<a href=\"https://example.org/x\">1</a><a href=\"https://example.org/y\">2</a>",
            ),
            ("<div id='\"<p>' id=2 = / class>x", "<div id=\"&quot;&lt;p>\" class=\"\">x</div>"),
            ("<div title='</div>'>x</div><p", "<div>x</div><p></p>"),
            ("</", ""),
            ("<", "&lt;"),
        ];
        for (html, expected) in cases {
            assert_eq!(tidied(html), expected, "{html}");
        }
    }

    #[test]
    fn depth_and_number_are_bounded() {
        let deep = tidied(&"<div>".repeat(100_000));
        assert_eq!(deep.matches("<div>").count(), MAX_DEPTH);
        assert_eq!(deep.matches("</div>").count(), MAX_DEPTH);
        let many = tidied(&"<p>x".repeat(100_000));
        assert_eq!(many.matches("<p>").count(), MAX_ELEMENTS);
        assert_eq!(many.matches('x').count(), 100_000);
    }

    proptest! {
        #[test]
        fn tidied_html_closes_every_tag_in_order(
            html in proptest::collection::vec(
                prop_oneof![
                    Just("<p>"), Just("</p>"), Just("<b>"), Just("</b>"), Just("<a href=x>"), Just("<table>"),
                    Just("<tr>"), Just("<td>"), Just("</table>"), Just("<li>"), Just("<ul>"), Just("</ul>"),
                    Just("<div x='"), Just("'>"), Just("<!--"), Just("-->"), Just("<script>"), Just("</script>"),
                    Just("é<"), Just("</"), Just("text"), Just("<svg><style>"),
                ],
                0..60,
            )
        ) {
            let mut open = Vec::new();
            for tag in tidied(&html.concat()).split('<').skip(1).map(|tag| tag.split(['>', ' ']).next().unwrap_or("")) {
                match tag.strip_prefix('/') {
                    Some(name) => prop_assert_eq!(open.pop(), Some(name.to_owned())),
                    None => open.push(tag.to_owned()),
                }
            }
            prop_assert!(open.is_empty());
        }
    }
}
