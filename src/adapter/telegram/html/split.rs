//! Cuts a flow into parts that fit, where it hurts least: between paragraphs, else lines, else sentences,
//! else words, else anywhere between two graphemes.
//!
//! A window of pieces is filled until the next would not fit, tags included, and cut at its best place.
//! A good place counts only past the first quarter, so each cut makes progress and the whole stays linear.
//! White space around a cut is dropped, but for the indentation of code.

use std::collections::VecDeque;
use std::iter::Peekable;

use unicode_segmentation::{GraphemeIndices, UnicodeSegmentation};

use super::tags::{Look, escaped_units, write_escaped};
use super::{Flow, Part, Run};
use crate::adapter::markdown::is_blank;

/// A stretch of text that is never cut: a grapheme, or the part of one that lies in one run.
#[derive(Debug, Clone, Copy)]
struct Piece<'f> {
    start: usize,
    text: &'f str,
    look: &'f Look,
    /// Continues the grapheme of the piece before.
    glued: bool,
}

/// How good a place is to cut, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Forbidden,
    Grapheme,
    Word,
    Sentence,
    Line,
    Paragraph,
}

pub(super) fn split(flow: &Flow, limit: usize) -> Vec<Part> {
    let mut source = Pieces::new(flow, limit).peekable();
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

/// Adds pieces while they fit; gives the first that does not.
fn fill<'f>(window: &mut VecDeque<Piece<'f>>, source: &mut Peekable<Pieces<'f>>, limit: usize) -> Option<Piece<'f>> {
    while window.front().is_some_and(Piece::is_droppable) {
        window.pop_front();
    }
    let mut gauge = Gauge::default();
    for piece in window.iter() {
        gauge = gauge.with(piece);
    }
    while let Some(piece) = source.peek().copied() {
        let grown = gauge.with(&piece);
        if window.is_empty() && piece.is_droppable() {
            source.next();
            continue;
        }
        if grown.total() > limit {
            return Some(piece);
        }
        gauge = grown;
        window.extend(source.next());
    }
    None
}

/// How many pieces of a full window go into the part, at least one.
fn best_cut(flow: &Flow, window: &VecDeque<Piece<'_>>, outside: Piece<'_>) -> usize {
    let [mut grapheme, mut word, mut sentence, mut line, mut paragraph] = [0; 5];
    for (at, piece) in window.iter().chain([&outside]).enumerate().skip(1) {
        match place(flow, piece) {
            Place::Forbidden => {}
            Place::Grapheme => grapheme = at,
            Place::Word => word = at,
            Place::Sentence => sentence = at,
            Place::Line => line = at,
            Place::Paragraph => paragraph = at,
        }
    }
    let enough = window.len() / 4;
    let spaced = word.max(sentence).max(line).max(paragraph);
    let good = [paragraph, line, sentence, word].into_iter().find(|at| *at > enough);
    good.or_else(|| [spaced, grapheme].into_iter().find(|at| *at > 0)).unwrap_or(window.len())
}

/// How good a cut in front of this piece would be.
fn place(flow: &Flow, piece: &Piece<'_>) -> Place {
    let (before, after) = flow.text.split_at_checked(piece.start).unwrap_or_default();
    let code = piece.look.pre.is_some();
    if piece.glued {
        Place::Forbidden
    } else if !code && (before.ends_with("\n\n") || after.starts_with("\n\n")) {
        Place::Paragraph
    } else if before.ends_with('\n') || after.starts_with('\n') {
        Place::Line
    } else if !code && ends_sentence(before, after) {
        Place::Sentence
    } else if before.ends_with(char::is_whitespace) || after.starts_with(char::is_whitespace) {
        Place::Word
    } else {
        Place::Grapheme
    }
}

fn ends_sentence(before: &str, after: &str) -> bool {
    let closed = before.strip_suffix([')', '"', '”', '’', '»']).unwrap_or(before);
    closed.ends_with(['。', '！', '？'])
        || (after.starts_with(char::is_whitespace) && closed.ends_with(['.', '!', '?', '…']))
}

/// Writes the pieces with their tags; nothing if there is nothing to see.
fn part(mut pieces: Vec<Piece<'_>>) -> Option<Part> {
    while pieces.last().is_some_and(|piece| piece.is_space()) {
        pieces.pop();
    }
    let plain: String = pieces.iter().map(|piece| piece.text).collect();
    if is_blank(&plain) {
        return None;
    }
    let bare = Look::default();
    let mut look = &bare;
    let mut html = String::with_capacity(plain.len() + 64);
    for piece in &pieces {
        look.write_change(piece.look, &mut html);
        write_escaped(piece.text, &mut html);
        look = piece.look;
    }
    look.write_change(&bare, &mut html);
    Some(Part { html, plain })
}

impl Piece<'_> {
    fn is_space(&self) -> bool {
        self.text.chars().all(char::is_whitespace)
    }

    /// White space that a part need not begin with.
    fn is_droppable(&self) -> bool {
        self.is_space() && (self.look.pre.is_none() || self.text == "\n")
    }
}

/// The units of what has been written so far.
#[derive(Debug, Clone, Copy, Default)]
struct Gauge<'f> {
    written: usize,
    closing: usize,
    look: Option<&'f Look>,
}

impl<'f> Gauge<'f> {
    fn with(self, piece: &Piece<'f>) -> Self {
        let written = self.written + escaped_units(piece.text);
        match self.look {
            Some(look) if std::ptr::eq(look, piece.look) => Self { written, ..self },
            Some(look) => Self::changed(written + look.change_units(piece.look), piece.look),
            None => Self::changed(written + Look::default().change_units(piece.look), piece.look),
        }
    }

    fn changed(written: usize, look: &'f Look) -> Self {
        Self { written, closing: look.closing_units(), look: Some(look) }
    }

    fn total(&self) -> usize {
        self.written + self.closing
    }
}

/// Walks a flow piece by piece.
struct Pieces<'f> {
    flow: &'f Flow,
    limit: usize,
    graphemes: GraphemeIndices<'f>,
    /// What is left of the current grapheme, and where that begins.
    rest: &'f str,
    start: usize,
    glued: bool,
    run: usize,
    /// What the tags of the current run leave for text.
    room: usize,
}

impl<'f> Pieces<'f> {
    fn new(flow: &'f Flow, limit: usize) -> Self {
        let graphemes = flow.text.grapheme_indices(true);
        let mut pieces = Self { flow, limit, graphemes, rest: "", start: 0, glued: false, run: 0, room: 0 };
        pieces.measure_room();
        pieces
    }

    fn measure_room(&mut self) {
        let tags = |run: &Run| Look::default().change_units(&run.look) + run.look.closing_units();
        self.room = self.limit.saturating_sub(self.flow.runs.get(self.run).map_or(0, tags));
    }
}

impl<'f> Iterator for Pieces<'f> {
    type Item = Piece<'f>;

    fn next(&mut self) -> Option<Piece<'f>> {
        if self.rest.is_empty() {
            (self.start, self.rest) = self.graphemes.next()?;
            self.glued = false;
        }
        while self.flow.runs.get(self.run)?.end <= self.start {
            self.run += 1;
            self.measure_room();
        }
        let run = self.flow.runs.get(self.run)?;
        let in_run = self.rest.get(..run.end - self.start).unwrap_or(self.rest);
        let text = fitting(in_run, self.room);
        let piece = Piece { start: self.start, text, look: &run.look, glued: self.glued };
        // A grapheme that fills a whole part has to be cut somewhere.
        self.glued = text.len() == in_run.len();
        self.start += text.len();
        self.rest = self.rest.get(text.len()..).unwrap_or_default();
        Some(piece)
    }
}

/// As many characters as fit, at least one.
fn fitting(text: &str, room: usize) -> &str {
    let mut used = 0;
    let mut ends = text.char_indices().map(|(at, c)| (at, c, at + c.len_utf8())).take_while(|(at, c, _)| {
        used += escaped_units(c.encode_utf8(&mut [0; 4]));
        *at == 0 || used <= room
    });
    ends.by_ref().last().and_then(|(_, _, end)| text.get(..end)).unwrap_or(text)
}
