//! Separates the text of an answer from thinking, written calls and control marks.
//!
//! It works forward over the text that will be shown, line by line: thinking begins a line, and a
//! control mark is dropped at the beginning or end of one. A call within a line ends that line. So
//! no two pieces of text are joined to a new mark, and a second reading finds nothing. Fenced code
//! and code between backticks on one line are text.

use super::marks::{Extent, Hidden, Look, MARK_STARTS, Mark, look_at};

/// Maximum number of backticks around code within a line. More than that are text.
const MAX_BACKTICKS: usize = 8;
/// Minimum number of characters of a fence.
const FENCE: usize = 3;

/// Reader of an answer.
#[derive(Default)]
pub(super) struct Reader {
    shown: String,
    calls: Vec<String>,
    state: State,
    progress: ThinkingProgress,
    line: ShownLine,
    /// True if a line break is due in front of the next words.
    breaks: bool,
    /// True if anything was left out.
    found: bool,
    /// True if the text has not only grown.
    rewritten: bool,
}

#[derive(Default, Clone, Copy)]
enum State {
    #[default]
    Text,
    /// Behind backticks. At the beginning of a line, they are a fence unless the line closes them.
    Backticks {
        count: usize,
        begin_line: bool,
    },
    Code(Fence),
    /// Behind a fence that may end code.
    FenceEnd(Fence),
    Hidden {
        hidden: Hidden,
        is_call: bool,
    },
}

#[derive(Clone, Copy)]
struct Fence {
    /// `` ` `` or `~`.
    character: char,
    length: usize,
    /// True within a line that cannot be the end.
    in_line: bool,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum ThinkingProgress {
    /// No thinking has ended.
    #[default]
    Begun,
    /// Thinking has ended, and no words followed.
    Thought,
    /// A mark of the answer followed.
    MarkedAnswer,
    /// Words followed.
    Answer,
}

/// The line that is being shown.
#[derive(Default)]
struct ShownLine {
    has_words: bool,
    /// What is shown only if words follow: space at the beginning, or marks and the space behind.
    held: String,
    /// True if an end of thinking is held.
    holds_end: bool,
}

impl Reader {
    /// Reads a whole answer.
    pub(super) fn of(answer: &str) -> Self {
        let mut reader = Self::default();
        reader.read(answer, Extent::Whole);
        reader
    }

    /// Text so far. Space in front is dropped if something else was.
    pub(super) fn shown(&self) -> &str {
        if self.found { self.shown.trim_start() } else { &self.shown }
    }

    /// Written calls so far, with their begin.
    pub(super) fn calls(&self) -> &[String] {
        &self.calls
    }

    /// Returns true if anything was left out.
    pub(super) fn has_found(&self) -> bool {
        self.found
    }

    /// Returns true if the text has not only grown since the last call.
    pub(super) fn take_rewritten(&mut self) -> bool {
        std::mem::take(&mut self.rewritten)
    }

    /// Reads a text and returns the rest, whose meaning depends on what follows.
    pub(super) fn read<'t>(&mut self, text: &'t str, extent: Extent) -> &'t str {
        let mut rest = text;
        while !rest.is_empty() {
            let after = match self.state {
                State::Text => self.text(rest, extent),
                State::Backticks { count, begin_line } => self.backticks(rest, count, begin_line, extent),
                State::Code(fence) => self.code(rest, fence, extent),
                State::FenceEnd(fence) => self.fence_end(rest, fence, extent),
                State::Hidden { hidden, is_call } => self.hidden(rest, hidden, is_call, extent),
            };
            match after {
                Some(after) => rest = after,
                None => break,
            }
        }
        if extent == Extent::Whole {
            self.end_line();
        }
        rest
    }

    fn text<'t>(&mut self, text: &'t str, extent: Extent) -> Option<&'t str> {
        if let Some(after) = text.strip_prefix('\n') {
            self.end_line();
            self.shown.push('\n');
            self.breaks = false;
            return Some(after);
        }
        let (space, rest) = split_where(text, |c| c == '\n' || !c.is_whitespace());
        if !space.is_empty() {
            self.space(space);
            return Some(rest);
        }
        match text.chars().next()? {
            '`' => self.first_backticks(text, extent),
            '~' if !self.line.has_words => self.tildes(text, extent),
            c if MARK_STARTS.contains(&c) => self.mark(text, extent),
            _ => {
                let (words, rest) = split_where(text, |c| matches!(c, '\n' | '`') || MARK_STARTS.contains(&c));
                self.write(words);
                Some(rest)
            }
        }
    }

    fn first_backticks<'t>(&mut self, text: &'t str, extent: Extent) -> Option<&'t str> {
        let (backticks, rest) = split_where(text, |c| c != '`');
        if rest.is_empty() && extent == Extent::Growing {
            return None;
        }
        let (count, begin_line) = (backticks.len(), !self.line.has_words && backticks.len() >= FENCE);
        self.write(backticks);
        if count <= MAX_BACKTICKS {
            self.state = State::Backticks { count, begin_line };
        } else if begin_line {
            self.state = State::Code(Fence { character: '`', length: count, in_line: true });
        }
        Some(rest)
    }

    fn tildes<'t>(&mut self, text: &'t str, extent: Extent) -> Option<&'t str> {
        let (tildes, rest) = split_where(text, |c| c != '~');
        if rest.is_empty() && extent == Extent::Growing {
            return None;
        }
        self.write(tildes);
        if tildes.len() >= FENCE {
            self.state = State::Code(Fence { character: '~', length: tildes.len(), in_line: true });
        }
        Some(rest)
    }

    /// Reads on behind backticks that the line may close.
    fn backticks<'t>(&mut self, text: &'t str, count: usize, begin_line: bool, extent: Extent) -> Option<&'t str> {
        let closed = split_behind_backticks(text, count);
        if let Some((code, rest)) = closed.filter(|(_, rest)| !rest.is_empty() || extent == Extent::Whole) {
            self.write(code);
            self.state = State::Text;
            return Some(rest);
        }
        if extent == Extent::Whole || text.contains('\n') {
            let fence = Fence { character: '`', length: count, in_line: true };
            self.state = if begin_line { State::Code(fence) } else { State::Text };
            return Some(text);
        }
        // Whether it is code is not known yet, but up to a mark this makes no difference.
        let may_be_mark = |at: usize| text.get(at..).is_some_and(|rest| look_at(rest, extent) != Look::Text);
        let mut ends = text.match_indices(|c| c == '`' || MARK_STARTS.contains(&c));
        let end = ends.find(|(at, found)| *found == "`" || may_be_mark(*at));
        let (words, rest) = text.split_at_checked(end.map_or(text.len(), |(at, _)| at))?;
        self.write(words);
        (!words.is_empty()).then_some(rest)
    }

    fn code<'t>(&mut self, text: &'t str, fence: Fence, extent: Extent) -> Option<&'t str> {
        if fence.in_line {
            let end = text.find('\n').map_or(text.len(), |at| at + 1);
            let (line, rest) = text.split_at_checked(end)?;
            self.write(line);
            self.line.has_words = !line.ends_with('\n');
            self.state = State::Code(Fence { in_line: self.line.has_words, ..fence });
            return Some(rest);
        }
        let (_, words) = split_where(text, |c| c == '\n' || !c.is_whitespace());
        let (end, rest) = split_where(words, |c| c != fence.character);
        if end.len() >= fence.length {
            self.write(text.strip_suffix(rest)?);
            self.state = State::FenceEnd(fence);
            return Some(rest);
        }
        if rest.is_empty() && extent == Extent::Growing {
            return None;
        }
        self.state = State::Code(Fence { in_line: true, ..fence });
        Some(text)
    }

    /// Reads on behind a fence that ends code if nothing but marks follows on the line.
    fn fence_end<'t>(&mut self, text: &'t str, fence: Fence, extent: Extent) -> Option<&'t str> {
        let (more, text) = split_where(text, |c| c != fence.character);
        self.write(more);
        let (line, next) = split_where(text, |c| c == '\n');
        let extent = if next.is_empty() { extent } else { Extent::Whole };
        let mut rest = line.trim_start();
        while let Look::Mark(Mark::Control, length) = look_at(rest, extent) {
            rest = rest.get(length..)?.trim_start();
        }
        if extent == Extent::Growing && (rest.is_empty() || look_at(rest, extent) == Look::Unclear) {
            return (!more.is_empty()).then_some(text);
        }
        let code = State::Code(Fence { in_line: true, ..fence });
        self.state = if rest.is_empty() { State::Text } else { code };
        Some(text)
    }

    fn hidden<'t>(&mut self, text: &'t str, hidden: Hidden, is_call: bool, extent: Extent) -> Option<&'t str> {
        let (inside, rest, has_ended) = hidden.split(text, extent);
        if let Some(call) = self.calls.last_mut().filter(|_| is_call) {
            call.push_str(inside);
        }
        if has_ended {
            self.state = State::Text;
            if !matches!(hidden, Hidden::Call(_)) {
                self.progress = ThinkingProgress::Thought;
            }
        }
        (has_ended || !inside.is_empty()).then_some(rest)
    }

    fn mark<'t>(&mut self, text: &'t str, extent: Extent) -> Option<&'t str> {
        let (mark, length) = match look_at(text, extent) {
            Look::Mark(mark, length) => (mark, length),
            Look::Unclear => return None,
            Look::Text => return self.write_first(text),
        };
        let (written, rest) = text.split_at_checked(length)?;
        match mark {
            Mark::Begin(hidden) => {
                if !hidden.is_begun(rest, !self.line.has_words, extent)? {
                    return self.write_first(text);
                }
                self.hide(hidden, written, rest);
            }
            Mark::FinalChannel => self.begin_final_channel(),
            Mark::BeginOfAnswer if self.progress == ThinkingProgress::Thought && !self.line.has_words => {
                self.leave_out();
                self.progress = ThinkingProgress::MarkedAnswer;
            }
            Mark::EndOfAnswer if self.progress == ThinkingProgress::MarkedAnswer => self.drop_mark(written),
            Mark::BeginOfAnswer | Mark::EndOfAnswer => return self.write_first(text),
            Mark::EndOfThinking if self.line.has_words => {
                self.line.holds_end = true;
                self.line.held.push_str(written);
            }
            Mark::EndOfThinking => self.end_thinking(),
            Mark::Control => self.drop_mark(written),
        }
        Some(rest)
    }

    /// Notes that something is left out, and so the space in front of the answer.
    fn leave_out(&mut self) {
        self.rewritten |= !self.found && self.shown.starts_with(char::is_whitespace);
        self.found = true;
    }

    fn hide(&mut self, hidden: Hidden, begin: &str, after: &str) {
        self.break_line();
        self.leave_out();
        let is_call = match hidden {
            Hidden::Thinking(_) => false,
            Hidden::Call(_) => true,
            Hidden::Channel => begin.ends_with("to=") || after.trim_start().starts_with("to="),
        };
        if is_call {
            self.calls.push(begin.to_owned());
        }
        self.state = State::Hidden { hidden, is_call };
    }

    fn begin_final_channel(&mut self) {
        self.break_line();
        self.end_thinking();
    }

    /// Drops a mark at the beginning of a line, or holds it until the line ends.
    fn drop_mark(&mut self, mark: &str) {
        if self.line.has_words {
            self.line.held.push_str(mark);
        } else {
            self.leave_out();
        }
    }

    /// Ends thinking. If none was marked, all before was thinking, whose begin the chat template
    /// wrote.
    fn end_thinking(&mut self) {
        self.leave_out();
        if self.progress == ThinkingProgress::Begun {
            self.shown.clear();
            self.calls.clear();
            self.line.held.clear();
            (self.breaks, self.rewritten, self.progress) = (false, true, ThinkingProgress::Thought);
        }
    }

    /// Ends the line where something within it is left out.
    fn break_line(&mut self) {
        if self.line.has_words {
            self.end_line();
            self.breaks = !self.shown.is_empty();
        } else {
            self.line.held.clear();
        }
    }

    fn end_line(&mut self) {
        let ShownLine { has_words, held, holds_end } = std::mem::take(&mut self.line);
        if !has_words && !self.breaks {
            self.shown.push_str(&held);
        }
        if has_words && !held.is_empty() {
            self.leave_out();
        }
        if holds_end {
            self.end_thinking();
        }
    }

    fn space(&mut self, space: &str) {
        if self.line.has_words && self.line.held.is_empty() {
            self.shown.push_str(space);
        } else {
            self.line.held.push_str(space);
        }
    }

    fn write(&mut self, words: &str) {
        if std::mem::take(&mut self.breaks) {
            self.shown.push('\n');
        }
        self.shown.push_str(&std::mem::take(&mut self.line.held));
        self.shown.push_str(words);
        (self.line.has_words, self.line.holds_end) = (true, false);
        if self.progress == ThinkingProgress::Thought {
            self.progress = ThinkingProgress::Answer;
        }
    }

    /// Writes the first character of a text.
    fn write_first<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        let (first, rest) = text.split_at_checked(text.chars().next()?.len_utf8())?;
        self.write(first);
        Some(rest)
    }
}

/// Splits in front of the first such character.
fn split_where(text: &str, ends: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at_checked(text.find(ends).unwrap_or(text.len())).unwrap_or((text, ""))
}

/// Splits behind the first run of exactly that many backticks on the line.
fn split_behind_backticks(text: &str, count: usize) -> Option<(&str, &str)> {
    let mut rest = text;
    loop {
        let (_, run) = split_where(rest, |c| matches!(c, '`' | '\n'));
        let (backticks, after) = split_where(run, |c| c != '`');
        match backticks.len() {
            0 => return None,
            length if length == count => return text.split_at_checked(text.len() - after.len()),
            _ => rest = after,
        }
    }
}
