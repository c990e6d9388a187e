//! Hides the thinking that local models write into an answer.
//!
//! It stands between `<think>` and `</think>`, in front of the answer or of a further part of it.
//! Some servers send only the end, because their chat template wrote the beginning, and an answer
//! that broke off has no end. Within code the marks are text.

use std::borrow::Cow;
use std::sync::Mutex;

use super::StreamSink;
use crate::time::task::lock;

/// Names of the marks: `think` of DeepSeek R1, Qwen 3 and similar models, and those of others.
const NAMES: [&str; 4] = ["think", "thinking", "thought", "reasoning"];

/// Returns an answer without thinking.
pub fn without_thinking(answer: &str) -> Cow<'_, str> {
    if !answer.contains('<') {
        return Cow::Borrowed(answer);
    }
    let mut reader = Reader::default();
    answer.split_inclusive('\n').for_each(|line| reader.read(line));
    if reader.found { Cow::Owned(reader.shown.trim_start().to_owned()) } else { Cow::Borrowed(answer) }
}

#[derive(Default)]
struct Reader {
    shown: String,
    is_thinking: bool,
    is_code: bool,
    /// True if thinking was found.
    found: bool,
    /// True if some thinking has ended.
    ended: bool,
}

impl Reader {
    fn read(&mut self, line: &str) {
        if !self.is_thinking && is_fence(line) {
            self.is_code = !self.is_code;
        }
        if self.is_code {
            self.shown.push_str(line);
            return;
        }
        let mut rest = line;
        loop {
            if self.is_thinking {
                let Some((_, after)) = find_end(rest) else { return };
                (self.is_thinking, self.ended, rest) = (false, true, after);
            } else if let Some(after) = after_mark(rest.trim_start(), "<") {
                (self.is_thinking, self.found, rest) = (true, true, after);
            } else if let Some(after) = self.end_of_unmarked(rest) {
                // All before was thinking, whose beginning the server left out.
                self.shown.clear();
                (self.found, self.ended, rest) = (true, true, after);
            } else {
                self.shown.push_str(rest);
                return;
            }
        }
    }

    /// Text after an end mark at the beginning or end of the line, unless another one ended
    /// thinking before.
    fn end_of_unmarked<'a>(&self, line: &'a str) -> Option<&'a str> {
        let (before, after) = find_end(line).filter(|_| !self.ended)?;
        (before.trim().is_empty() || after.trim().is_empty()).then_some(after)
    }
}

fn is_fence(line: &str) -> bool {
    ["```", "~~~"].iter().any(|fence| line.trim_start().starts_with(fence))
}

/// The text before and after the first end mark.
fn find_end(text: &str) -> Option<(&str, &str)> {
    text.match_indices("</").find_map(|(at, _)| {
        let (before, mark) = text.split_at(at);
        after_mark(mark, "</").map(|after| (before, after))
    })
}

/// The text after a mark at the beginning of `text`; `begin` is `<` or `</`.
fn after_mark<'a>(text: &'a str, begin: &str) -> Option<&'a str> {
    let text = text.strip_prefix(begin)?;
    NAMES.iter().find_map(|name| text.strip_prefix(name)?.strip_prefix('>'))
}

/// Passes a growing answer on without thinking.
pub struct ThinkingFilter<'a> {
    sink: &'a dyn StreamSink,
    answer: Mutex<GrowingAnswer>,
}

#[derive(Default)]
struct GrowingAnswer {
    written: String,
    shown: String,
}

impl<'a> ThinkingFilter<'a> {
    /// Creates a filter in front of `sink`.
    pub fn new(sink: &'a dyn StreamSink) -> Self {
        Self { sink, answer: Mutex::default() }
    }
}

impl StreamSink for ThinkingFilter<'_> {
    fn append(&self, delta: &str) {
        let mut answer = lock(&self.answer);
        answer.written.push_str(delta);
        let visible = without_thinking(without_part_of_mark(&answer.written)).into_owned();
        match visible.strip_prefix(answer.shown.as_str()) {
            Some("") => {}
            Some(new) => self.sink.append(new),
            None => {
                self.sink.restart();
                self.sink.append(&visible);
            }
        }
        answer.shown = visible;
    }

    fn restart(&self) {
        *lock(&self.answer) = GrowingAnswer::default();
        self.sink.restart();
    }
}

/// Leaves out an end of the text that may become a mark.
fn without_part_of_mark(text: &str) -> &str {
    let Some((before, part)) = text.rfind('<').map(|at| text.split_at(at)) else { return text };
    let may_become = |mark: String| mark.starts_with(part);
    let is_part = NAMES.iter().any(|name| may_become(format!("<{name}>")) || may_become(format!("</{name}>")));
    if is_part { before } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn thinking_is_left_out_wherever_it_stands() {
        for (answer, shown) in [
            ("Good morning", "Good morning"),
            ("<think>\nShe greets me.\n</think>\n\nGood morning", "Good morning"),
            ("\n<think>She greets me.</think>Good morning", "Good morning"),
            ("<thinking>a</thinking><think>b</think>\nGood morning", "Good morning"),
            ("She greets me.\n\nShe is up early.\n</think>\n\nGood morning", "Good morning"),
            ("She greets me.</think>\nGood morning", "Good morning"),
            ("Good morning\n<think>\nWhat next?\n</think>\nTea?", "Good morning\n\nTea?"),
            ("<think>\nShe greets", ""),
            ("<think></think>Good morning", "Good morning"),
            ("<think>1 < 2, </thin</think>Good morning", "Good morning"),
            ("<think>```\n</think>Good morning", "Good morning"),
        ] {
            assert_eq!(without_thinking(answer), shown, "{answer:?}");
        }
    }

    #[test]
    fn marks_that_are_text_stay() {
        for answer in [
            "The mark `</think>` ends it, and <think> begins it.",
            "```xml\n<think>\n</think>\n```\nThat is all.",
            "1 < 2 and <b>bold</b>",
            "<thinker> is no mark",
            "Write </think> at its end.",
        ] {
            assert_eq!(without_thinking(answer), answer);
        }
    }

    #[derive(Default)]
    struct Preview(Mutex<(String, Vec<String>)>);

    impl StreamSink for Preview {
        fn append(&self, delta: &str) {
            let mut preview = lock(&self.0);
            preview.0.push_str(delta);
            let seen = preview.0.clone();
            preview.1.push(seen);
        }

        fn restart(&self) {
            lock(&self.0).0.clear();
        }
    }

    fn grow(answer: &str, size: usize) -> (String, Vec<String>) {
        let preview = Preview::default();
        let filter = ThinkingFilter::new(&preview);
        let letters: Vec<char> = answer.chars().collect();
        for delta in letters.chunks(size) {
            filter.append(&delta.iter().collect::<String>());
        }
        preview.0.into_inner().unwrap()
    }

    #[test]
    fn a_growing_answer_never_shows_marked_thinking() {
        let answer = "<think>\nSecret thoughts, 1 < 2.\n</think>\n\nGood morning, 1 < 2.";
        for size in 1..=answer.len() {
            let (shown, seen) = grow(answer, size);
            assert_eq!(shown, "Good morning, 1 < 2.", "{size}");
            assert!(seen.iter().all(|seen| "Good morning, 1 < 2.".starts_with(seen)), "{size}: {seen:?}");
        }
    }

    #[test]
    fn a_filter_that_restarts_forgets_the_answer() {
        let preview = Preview::default();
        let filter = ThinkingFilter::new(&preview);
        filter.append("<think>a");
        filter.restart();
        filter.append("Good");
        assert_eq!(lock(&preview.0).0, "Good");
    }

    proptest! {
        #[test]
        fn the_preview_ends_as_the_answer(
            pieces in proptest::collection::vec(
                prop_oneof!["[a-z ]{0,5}", "</?think>", "</?thin", Just("\n".to_owned()), Just("```\n".to_owned()), Just("<".to_owned())],
                0..12,
            ),
            size in 1_usize..9,
        ) {
            let answer = format!("{}.", pieces.concat());
            prop_assert_eq!(grow(&answer, size).0, without_thinking(&answer));
        }
    }
}
