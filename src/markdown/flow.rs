//! Text with a style per run, and its splitting into parts that fit a channel.
//!
//! Blocks become one flow, the flow is split, and only then is markup written. So a split never
//! falls into markup, and styles open at a split are open again after it. The channel defines its
//! styles and their cost in its own measure ([`Markup`]); the choice of split points is shared:
//! between paragraphs, else lines, else sentences, else words, else anywhere between two graphemes.
//!
//! A window of fragments is filled until the next would not fit, markup included, and split at its
//! best boundary. A boundary counts only past the first quarter, so each split makes progress and
//! the whole stays linear. White space around a split is dropped, except the indentation of code.

use std::collections::VecDeque;
use std::iter::Peekable;

use unicode_segmentation::{GraphemeIndices, UnicodeSegmentation};

use crate::markdown::is_blank;

/// Style of a run of text in one channel.
pub trait Markup: Default + PartialEq {
    /// Length of a text as the channel writes it.
    fn text_len(text: &str) -> usize;

    /// Length of the markup between this style and the next.
    fn transition_len(&self, next: &Self) -> usize;

    /// Length of the markup that ends this style.
    fn closing_len(&self) -> usize;

    /// Returns true if white space and line breaks are significant.
    fn is_preformatted(&self) -> bool;
}

/// Text with its style runs in order.
#[derive(Debug, Default)]
pub struct Flow<L> {
    text: String,
    runs: Vec<StyleRun<L>>,
}

#[derive(Debug)]
struct StyleRun<L> {
    /// End offset in the text; the run begins where the previous one ends.
    end: usize,
    style: L,
}

/// A unit that is never split: a grapheme, or the part of one within one style run.
#[derive(Debug)]
pub struct Fragment<'f, L> {
    start: usize,
    /// The unit.
    pub text: &'f str,
    /// Style.
    pub style: &'f L,
    /// True if it continues the grapheme of the previous fragment.
    continues_grapheme: bool,
}

impl<L: Markup> Flow<L> {
    /// Returns true if nothing was appended.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Appends a text in one style.
    pub fn push(&mut self, text: &str, style: L) {
        if text.is_empty() {
            return;
        }
        self.text.push_str(text);
        match self.runs.last_mut().filter(|run| run.style == style) {
            Some(run) => run.end = self.text.len(),
            None => self.runs.push(StyleRun { end: self.text.len(), style }),
        }
    }

    /// Splits the text into parts of at most `limit`, none of them blank. If a style leaves no
    /// space for text, a part holds one character of it.
    pub fn split(&self, limit: usize) -> Vec<Vec<Fragment<'_, L>>> {
        let mut source = Fragments::new(self, limit).peekable();
        let mut window = VecDeque::new();
        let mut parts = Vec::new();
        loop {
            let outside = fill(&mut window, &mut source, limit);
            let cut = outside.map_or(window.len(), |outside| best_cut(self, &window, outside));
            parts.extend(part(window.drain(..cut).collect()));
            if outside.is_none() {
                return parts;
            }
        }
    }
}

/// Length in UTF-16 units, as several channels count.
pub fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Visible text of a part.
pub fn plain<L>(part: &[Fragment<'_, L>]) -> String {
    part.iter().map(|fragment| fragment.text).collect()
}

impl<L> Clone for Fragment<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for Fragment<'_, L> {}

/// Quality of a split point, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum BreakPoint {
    Forbidden,
    Grapheme,
    Word,
    Sentence,
    Line,
    Paragraph,
}

/// Adds fragments while they fit; returns the first that does not.
fn fill<'f, L: Markup>(
    window: &mut VecDeque<Fragment<'f, L>>,
    source: &mut Peekable<Fragments<'f, L>>,
    limit: usize,
) -> Option<Fragment<'f, L>> {
    while window.front().is_some_and(Fragment::is_droppable) {
        window.pop_front();
    }
    let mut gauge = Gauge::default();
    for fragment in window.iter() {
        gauge = gauge.with(fragment);
    }
    while let Some(fragment) = source.peek().copied() {
        let grown = gauge.with(&fragment);
        if window.is_empty() && fragment.is_droppable() {
            source.next();
            continue;
        }
        if grown.total() > limit {
            return Some(fragment);
        }
        gauge = grown;
        window.extend(source.next());
    }
    None
}

/// Number of fragments of a full window that go into the part, at least one.
fn best_cut<L: Markup>(flow: &Flow<L>, window: &VecDeque<Fragment<'_, L>>, outside: Fragment<'_, L>) -> usize {
    let [mut grapheme, mut word, mut sentence, mut line, mut paragraph] = [0; 5];
    for (at, fragment) in window.iter().chain([&outside]).enumerate().skip(1) {
        match break_before(flow, fragment) {
            BreakPoint::Forbidden => {}
            BreakPoint::Grapheme => grapheme = at,
            BreakPoint::Word => word = at,
            BreakPoint::Sentence => sentence = at,
            BreakPoint::Line => line = at,
            BreakPoint::Paragraph => paragraph = at,
        }
    }
    let enough = window.len() / 4;
    let spaced = word.max(sentence).max(line).max(paragraph);
    let good = [paragraph, line, sentence, word].into_iter().find(|at| *at > enough);
    good.or_else(|| [spaced, grapheme].into_iter().find(|at| *at > 0)).unwrap_or(window.len())
}

/// Quality of a split in front of this fragment.
fn break_before<L: Markup>(flow: &Flow<L>, fragment: &Fragment<'_, L>) -> BreakPoint {
    let (before, after) = flow.text.split_at_checked(fragment.start).unwrap_or_default();
    let code = fragment.style.is_preformatted();
    if fragment.continues_grapheme {
        BreakPoint::Forbidden
    } else if !code && (before.ends_with("\n\n") || after.starts_with("\n\n")) {
        BreakPoint::Paragraph
    } else if before.ends_with('\n') || after.starts_with('\n') {
        BreakPoint::Line
    } else if !code && ends_sentence(before, after) {
        BreakPoint::Sentence
    } else if before.ends_with(char::is_whitespace) || after.starts_with(char::is_whitespace) {
        BreakPoint::Word
    } else {
        BreakPoint::Grapheme
    }
}

fn ends_sentence(before: &str, after: &str) -> bool {
    let closed = before.strip_suffix([')', '"', '”', '’', '»']).unwrap_or(before);
    closed.ends_with(['。', '！', '？'])
        || (after.starts_with(char::is_whitespace) && closed.ends_with(['.', '!', '?', '…']))
}

/// Trims trailing white space; `None` if nothing visible is left.
fn part<L: Markup>(mut fragments: Vec<Fragment<'_, L>>) -> Option<Vec<Fragment<'_, L>>> {
    while fragments.last().is_some_and(Fragment::is_space) {
        fragments.pop();
    }
    Some(fragments).filter(|fragments| !is_blank(&plain(fragments)))
}

impl<L: Markup> Fragment<'_, L> {
    fn is_space(&self) -> bool {
        self.text.chars().all(char::is_whitespace)
    }

    /// True for white space that a part need not begin with.
    fn is_droppable(&self) -> bool {
        self.is_space() && (!self.style.is_preformatted() || self.text == "\n")
    }
}

/// Length of what has been written so far.
#[derive(Debug)]
struct Gauge<'f, L> {
    written: usize,
    closing: usize,
    style: Option<&'f L>,
}

impl<'f, L: Markup> Gauge<'f, L> {
    fn with(&self, fragment: &Fragment<'f, L>) -> Self {
        let written = self.written + L::text_len(fragment.text);
        match self.style {
            Some(style) if std::ptr::eq(style, fragment.style) => Self { written, ..*self },
            Some(style) => Self::changed(written + style.transition_len(fragment.style), fragment.style),
            None => Self::changed(written + L::default().transition_len(fragment.style), fragment.style),
        }
    }

    fn changed(written: usize, style: &'f L) -> Self {
        Self { written, closing: style.closing_len(), style: Some(style) }
    }

    fn total(&self) -> usize {
        self.written + self.closing
    }
}

impl<L> Default for Gauge<'_, L> {
    fn default() -> Self {
        Self { written: 0, closing: 0, style: None }
    }
}

/// Iterator over the fragments of a flow.
struct Fragments<'f, L> {
    flow: &'f Flow<L>,
    limit: usize,
    graphemes: GraphemeIndices<'f>,
    /// Remainder of the current grapheme and its offset.
    rest: &'f str,
    start: usize,
    continues_grapheme: bool,
    run: usize,
    /// Length that the markup of the current run leaves for text.
    space: usize,
}

impl<'f, L: Markup> Fragments<'f, L> {
    fn new(flow: &'f Flow<L>, limit: usize) -> Self {
        let graphemes = flow.text.grapheme_indices(true);
        let mut fragments =
            Self { flow, limit, graphemes, rest: "", start: 0, continues_grapheme: false, run: 0, space: 0 };
        fragments.measure_space();
        fragments
    }

    fn measure_space(&mut self) {
        let markup = |run: &StyleRun<L>| L::default().transition_len(&run.style) + run.style.closing_len();
        self.space = self.limit.saturating_sub(self.flow.runs.get(self.run).map_or(0, markup));
    }
}

impl<'f, L: Markup> Iterator for Fragments<'f, L> {
    type Item = Fragment<'f, L>;

    fn next(&mut self) -> Option<Fragment<'f, L>> {
        if self.rest.is_empty() {
            (self.start, self.rest) = self.graphemes.next()?;
            self.continues_grapheme = false;
        }
        while self.flow.runs.get(self.run)?.end <= self.start {
            self.run += 1;
            self.measure_space();
        }
        let run = self.flow.runs.get(self.run)?;
        let in_run = self.rest.get(..run.end - self.start).unwrap_or(self.rest);
        let text = fitting::<L>(in_run, self.space);
        let fragment =
            Fragment { start: self.start, text, style: &run.style, continues_grapheme: self.continues_grapheme };
        // A grapheme that fills a whole part has to be cut somewhere.
        self.continues_grapheme = text.len() == in_run.len();
        self.start += text.len();
        self.rest = self.rest.get(text.len()..).unwrap_or_default();
        Some(fragment)
    }
}

/// As many characters as fit, at least one.
fn fitting<L: Markup>(text: &str, space: usize) -> &str {
    let mut used = 0;
    let mut ends = text.char_indices().map(|(at, c)| (at, c, at + c.len_utf8())).take_while(|(at, c, _)| {
        used += L::text_len(c.encode_utf8(&mut [0; 4]));
        *at == 0 || used <= space
    });
    ends.by_ref().last().and_then(|(_, _, end)| text.get(..end)).unwrap_or(text)
}
