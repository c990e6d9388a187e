//! Splits a flow into parts that fit, at the best boundary: between paragraphs, else lines, else
//! sentences, else words, else anywhere between two graphemes.
//!
//! A window of stretches is filled until the next would not fit, markup included, and split at its
//! best boundary. A boundary counts only past the first quarter, so each split makes progress and
//! the whole stays linear. White space around a split is dropped, except the indentation of code.

use std::collections::VecDeque;
use std::iter::Peekable;

use unicode_segmentation::{GraphemeIndices, UnicodeSegmentation};

use super::{Flow, Fragment, Markup, StyleRun, plain};
use crate::adapter::markdown::is_blank;

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

pub(super) fn split<L: Markup>(flow: &Flow<L>, limit: usize) -> Vec<Vec<Fragment<'_, L>>> {
    let mut source = Fragments::new(flow, limit).peekable();
    let mut window = VecDeque::new();
    let mut parts = Vec::new();
    loop {
        let outside = fill(&mut window, &mut source, limit);
        let cut = outside.map_or(window.len(), |outside| best_cut(flow, &window, outside));
        parts.extend(part(window.drain(..cut).collect()));
        if outside.is_none() {
            return parts;
        }
    }
}

/// Adds stretches while they fit; returns the first that does not.
fn fill<'f, L: Markup>(
    window: &mut VecDeque<Fragment<'f, L>>,
    source: &mut Peekable<Fragments<'f, L>>,
    limit: usize,
) -> Option<Fragment<'f, L>> {
    while window.front().is_some_and(Fragment::is_droppable) {
        window.pop_front();
    }
    let mut gauge = Gauge::default();
    for stretch in window.iter() {
        gauge = gauge.with(stretch);
    }
    while let Some(stretch) = source.peek().copied() {
        let grown = gauge.with(&stretch);
        if window.is_empty() && stretch.is_droppable() {
            source.next();
            continue;
        }
        if grown.total() > limit {
            return Some(stretch);
        }
        gauge = grown;
        window.extend(source.next());
    }
    None
}

/// Number of stretches of a full window that go into the part, at least one.
fn best_cut<L: Markup>(flow: &Flow<L>, window: &VecDeque<Fragment<'_, L>>, outside: Fragment<'_, L>) -> usize {
    let [mut grapheme, mut word, mut sentence, mut line, mut paragraph] = [0; 5];
    for (at, stretch) in window.iter().chain([&outside]).enumerate().skip(1) {
        match place(flow, stretch) {
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

/// Quality of a split in front of this stretch.
fn place<L: Markup>(flow: &Flow<L>, stretch: &Fragment<'_, L>) -> BreakPoint {
    let (before, after) = flow.text.split_at_checked(stretch.start).unwrap_or_default();
    let code = stretch.style.is_preformatted();
    if stretch.continues_grapheme {
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
fn part<L: Markup>(mut stretches: Vec<Fragment<'_, L>>) -> Option<Vec<Fragment<'_, L>>> {
    while stretches.last().is_some_and(Fragment::is_space) {
        stretches.pop();
    }
    Some(stretches).filter(|stretches| !is_blank(&plain(stretches)))
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
    look: Option<&'f L>,
}

impl<'f, L: Markup> Gauge<'f, L> {
    fn with(&self, stretch: &Fragment<'f, L>) -> Self {
        let written = self.written + L::text_len(stretch.text);
        match self.look {
            Some(look) if std::ptr::eq(look, stretch.style) => Self { written, ..*self },
            Some(look) => Self::changed(written + look.transition_len(stretch.style), stretch.style),
            None => Self::changed(written + L::default().transition_len(stretch.style), stretch.style),
        }
    }

    fn changed(written: usize, look: &'f L) -> Self {
        Self { written, closing: look.closing_len(), look: Some(look) }
    }

    fn total(&self) -> usize {
        self.written + self.closing
    }
}

impl<L> Default for Gauge<'_, L> {
    fn default() -> Self {
        Self { written: 0, closing: 0, look: None }
    }
}

/// Iterator over the stretches of a flow.
struct Fragments<'f, L> {
    flow: &'f Flow<L>,
    limit: usize,
    graphemes: GraphemeIndices<'f>,
    /// Remainder of the current grapheme and its offset.
    rest: &'f str,
    start: usize,
    glued: bool,
    run: usize,
    /// Length that the markup of the current run leaves for text.
    room: usize,
}

impl<'f, L: Markup> Fragments<'f, L> {
    fn new(flow: &'f Flow<L>, limit: usize) -> Self {
        let graphemes = flow.text.grapheme_indices(true);
        let mut stretches = Self { flow, limit, graphemes, rest: "", start: 0, glued: false, run: 0, room: 0 };
        stretches.measure_space();
        stretches
    }

    fn measure_space(&mut self) {
        let markup = |run: &StyleRun<L>| L::default().transition_len(&run.style) + run.style.closing_len();
        self.room = self.limit.saturating_sub(self.flow.runs.get(self.run).map_or(0, markup));
    }
}

impl<'f, L: Markup> Iterator for Fragments<'f, L> {
    type Item = Fragment<'f, L>;

    fn next(&mut self) -> Option<Fragment<'f, L>> {
        if self.rest.is_empty() {
            (self.start, self.rest) = self.graphemes.next()?;
            self.glued = false;
        }
        while self.flow.runs.get(self.run)?.end <= self.start {
            self.run += 1;
            self.measure_space();
        }
        let run = self.flow.runs.get(self.run)?;
        let in_run = self.rest.get(..run.end - self.start).unwrap_or(self.rest);
        let text = fitting::<L>(in_run, self.room);
        let stretch = Fragment { start: self.start, text, style: &run.style, continues_grapheme: self.glued };
        // A grapheme that fills a whole part has to be cut somewhere.
        self.glued = text.len() == in_run.len();
        self.start += text.len();
        self.rest = self.rest.get(text.len()..).unwrap_or_default();
        Some(stretch)
    }
}

/// As many characters as fit, at least one.
fn fitting<L: Markup>(text: &str, room: usize) -> &str {
    let mut used = 0;
    let mut ends = text.char_indices().map(|(at, c)| (at, c, at + c.len_utf8())).take_while(|(at, c, _)| {
        used += L::text_len(c.encode_utf8(&mut [0; 4]));
        *at == 0 || used <= room
    });
    ends.by_ref().last().and_then(|(_, _, end)| text.get(..end)).unwrap_or(text)
}
