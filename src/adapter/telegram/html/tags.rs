//! Tags, their length, and transitions between styles. Lengths are UTF-16 units, as Telegram
//! counts.

use std::rc::Rc;

use crate::adapter::markdown::flow;

/// Styles that surround a run of text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TagSet {
    /// Number of the quote; 0 for none.
    pub(super) quote: usize,
    /// Language of preformatted text, or an empty string.
    pub(super) pre: Option<Rc<str>>,
    /// Escaped for an attribute.
    pub(super) link: Option<Rc<str>>,
    pub(super) bold: bool,
    pub(super) italic: bool,
    pub(super) strike: bool,
    pub(super) code: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Tag<'a> {
    Quote(usize),
    Pre(&'a str),
    Link(&'a str),
    Bold,
    Italic,
    Strike,
    Code,
}

impl TagSet {
    pub(super) fn in_quote(quote: usize) -> Self {
        Self { quote, ..Self::default() }
    }

    /// Tags around the text, outermost first. This order is the only nesting in use.
    fn tags(&self) -> impl DoubleEndedIterator<Item = Tag<'_>> {
        [
            (self.quote > 0).then_some(Tag::Quote(self.quote)),
            self.pre.as_deref().map(Tag::Pre),
            self.link.as_deref().map(Tag::Link),
            self.bold.then_some(Tag::Bold),
            self.italic.then_some(Tag::Italic),
            self.strike.then_some(Tag::Strike),
            self.code.then_some(Tag::Code),
        ]
        .into_iter()
        .flatten()
    }

    fn shared_with(&self, next: &Self) -> usize {
        self.tags().zip(next.tags()).take_while(|(mine, theirs)| mine == theirs).count()
    }

    /// Closing and opening tags between two styles, in order.
    fn transition<'a>(&'a self, next: &'a Self) -> impl Iterator<Item = &'a str> {
        let shared = self.shared_with(next);
        let open = self.tags().count() - shared;
        let closing = self.tags().rev().take(open).map(|tag| tag.close());
        closing.chain(next.tags().skip(shared).flat_map(|tag| tag.opening()))
    }

    pub(super) fn write_change(&self, next: &Self, out: &mut String) {
        out.extend(self.transition(next));
    }
}

impl flow::Markup for TagSet {
    fn text_len(text: &str) -> usize {
        escaped_units(text)
    }

    fn transition_len(&self, next: &Self) -> usize {
        self.transition(next).map(units).sum()
    }

    fn closing_len(&self) -> usize {
        self.tags().map(|tag| units(tag.close())).sum()
    }

    fn is_preformatted(&self) -> bool {
        self.pre.is_some()
    }
}

impl<'a> Tag<'a> {
    fn opening(&self) -> [&'a str; 3] {
        match self {
            Tag::Quote(_) => ["<blockquote>", "", ""],
            Tag::Pre("") => ["<pre>", "", ""],
            Tag::Pre(language) => ["<pre><code class=\"language-", language, "\">"],
            Tag::Link(address) => ["<a href=\"", address, "\">"],
            Tag::Bold => ["<b>", "", ""],
            Tag::Italic => ["<i>", "", ""],
            Tag::Strike => ["<s>", "", ""],
            Tag::Code => ["<code>", "", ""],
        }
    }

    fn close(&self) -> &'static str {
        match self {
            Tag::Quote(_) => "</blockquote>",
            Tag::Pre("") => "</pre>",
            Tag::Pre(_) => "</code></pre>",
            Tag::Link(_) => "</a>",
            Tag::Bold => "</b>",
            Tag::Italic => "</i>",
            Tag::Strike => "</s>",
            Tag::Code => "</code>",
        }
    }
}

pub(super) fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

pub(super) fn escaped_units(text: &str) -> usize {
    text.chars().map(|c| entity(c).map_or(c.len_utf16(), str::len)).sum()
}

pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    write_escaped(text, &mut out);
    out
}

pub(super) fn write_escaped(text: &str, out: &mut String) {
    for c in text.chars() {
        match entity(c) {
            Some(entity) => out.push_str(entity),
            None => out.push(c),
        }
    }
}

fn entity(c: char) -> Option<&'static str> {
    match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        _ => None,
    }
}
