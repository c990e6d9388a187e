//! Division of long texts into passages that are found and read separately. Cuts are between
//! paragraphs; in a paragraph that is too long, between lines, then between words. Only blank space
//! at the cuts is lost, and the result depends on the text alone, not on its edit history.

/// Length limit of a passage in characters, where possible.
pub(super) const PASSAGE: usize = 1_200;

/// A piece of a text, with the number of its first line in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Passage {
    pub(super) line: u32,
    pub(super) text: String,
}

/// Returns the passages of numbered lines.
pub(super) fn passages(lines: &[(u32, &str)]) -> Vec<Passage> {
    let mut cut = Cut::default();
    for paragraph in lines.split(|(_, line)| line.trim().is_empty()).filter(|lines| !lines.is_empty()) {
        let length: usize = paragraph.iter().map(|(_, line)| line.chars().count() + 1).sum();
        cut.end_if_full(length + 1);
        for (number, line) in paragraph {
            cut.take_line(*number, line);
        }
        cut.take("\n");
    }
    cut.end();
    cut.done
}

#[derive(Default)]
struct Cut {
    done: Vec<Passage>,
    line: u32,
    text: String,
    length: usize,
}

impl Cut {
    fn take_line(&mut self, number: u32, line: &str) {
        self.end_if_full(line.chars().count() + 1);
        let mut rest = line.trim_end();
        while rest.chars().count() > PASSAGE {
            let (head, tail) = split_at_word(rest);
            self.begin(number);
            self.take(head);
            self.end();
            rest = tail;
        }
        self.begin(number);
        self.take(rest);
        self.take("\n");
    }

    /// Ends the passage if it would become too long.
    fn end_if_full(&mut self, length: usize) {
        if self.length > 0 && self.length + length > PASSAGE {
            self.end();
        }
    }

    fn begin(&mut self, number: u32) {
        if self.text.is_empty() {
            self.line = number;
        }
    }

    fn take(&mut self, text: &str) {
        self.text.push_str(text);
        self.length += text.chars().count();
    }

    fn end(&mut self) {
        let text = std::mem::take(&mut self.text);
        self.length = 0;
        if !text.trim().is_empty() {
            self.done.push(Passage { line: self.line, text: text.trim_end().to_owned() });
        }
    }
}

/// Splits a text of more than [`PASSAGE`] characters at the last blank that fits, or else at the
/// limit.
fn split_at_word(text: &str) -> (&str, &str) {
    let end = text.char_indices().nth(PASSAGE).map_or(text.len(), |(at, _)| at);
    let (head, _) = text.split_at(end);
    let at = head.rfind(char::is_whitespace).filter(|at| *at > 0).unwrap_or(end);
    let (head, tail) = text.split_at(at);
    (head, tail.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(text: &str) -> Vec<Passage> {
        passages(&(1..).zip(text.lines()).collect::<Vec<_>>())
    }

    #[test]
    fn paragraphs_stay_together_while_they_fit() {
        assert_eq!(of("one\ntwo\n\nthree"), [Passage { line: 1, text: "one\ntwo\n\nthree".to_owned() }]);
        let (long, short) = ("word ".repeat(200), "short");
        let cut = of(&format!("{short}\n\n{long}\n\n{long}\n{short}"));
        assert_eq!(cut.iter().map(|passage| passage.line).collect::<Vec<_>>(), [1, 5]);
        assert_eq!(of(" \n\n"), []);
    }

    #[test]
    fn a_line_without_end_is_cut_between_words() {
        let cut = of(&"abcde ".repeat(1_000));
        assert!(cut.len() >= 5 && cut.iter().all(|passage| passage.text.ends_with("abcde") && passage.line == 1));
    }

    proptest! {
        #[test]
        fn no_word_is_lost_and_none_is_too_long(text in "([\\PC\n]{0,40}(\n\n)?){0,60}") {
            let cut = of(&text);
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<String>();
            prop_assert_eq!(cut.iter().map(|passage| words(&passage.text)).collect::<String>(), words(&text.lines().collect::<Vec<_>>().join("\n")));
            prop_assert!(cut.iter().all(|passage| passage.text.chars().count() <= PASSAGE + 2));
        }
    }
}
