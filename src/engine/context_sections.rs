//! Sections of the dynamic block of a prompt: shown whole at first, then only those that changed.
//!
//! A block is stored with its turn exactly as the model was shown it. What the model has seen is
//! read back from the blocks that the prompt still holds, so it is the same after a restart.
//! Changes count only behind a whole block: if that was compacted or left out with its exchange, the
//! next block is whole again. So the newest state of every section can always be read from the
//! prompt.

use crate::wording::prompt;

/// Beginnings and end of a block.
const WHOLE: &str = "<context>\n";
const CHANGED: &str = "<context part=\"changed\">\n";
const END: &str = "\n</context>";
/// Mark of a section.
const HEADING: &str = "## ";

/// Sections by name, in order. Lines above the first heading are sections of one line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextSections(Vec<ContextSection>);

/// A section.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ContextSection {
    name: String,
    body: String,
    is_line: bool,
}

impl ContextSections {
    /// Adds one line above the first heading.
    pub fn add_line(&mut self, name: &str, body: &str) {
        self.put(ContextSection { name: name.to_owned(), body: body.trim().to_owned(), is_line: true });
    }

    /// Adds a section, unless it is blank. No line of the body may be a heading of our level.
    pub fn add(&mut self, name: &str, body: &str) {
        let body = body.trim();
        if !body.is_empty() {
            self.put(ContextSection { name: name.to_owned(), body: body.to_owned(), is_line: false });
        }
    }

    /// Returns true if nothing was shown.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes over a block that was shown after these sections; a blank one changes nothing.
    pub fn show(&mut self, block: &str) {
        let inner = |begin| block.strip_prefix(begin).and_then(|rest| rest.strip_suffix(END));
        if let Some(whole) = inner(WHOLE) {
            *self = read(whole, "");
        } else if let Some(changed) = inner(CHANGED).filter(|_| !self.is_empty()) {
            read(changed, prompt::NOW_CHANGED).0.into_iter().for_each(|section| self.put(section));
        }
    }

    /// Renders the block that brings a model which was shown those sections up to date; blank if
    /// nothing changed.
    pub fn since(&self, shown: &Self) -> String {
        if shown.is_empty() {
            return self.render(WHOLE, "");
        }
        self.changed_since(shown).render(CHANGED, prompt::NOW_CHANGED)
    }

    /// Returns the sections that differ from what was shown; those that are gone are said to be
    /// empty. The first line, the day, comes with every change.
    fn changed_since(&self, shown: &Self) -> Self {
        let gone = shown.0.iter().filter(|old| self.body_of(&old.name).is_none());
        let gone = gone.map(|old| ContextSection { body: prompt::EMPTY_SECTION.to_owned(), ..old.clone() });
        let is_news = |section: &ContextSection| shown.body_of(&section.name) != Some(section.body.as_str());
        let changed: Vec<ContextSection> = self.0.iter().cloned().chain(gone).filter(is_news).collect();
        let day = self.0.first().filter(|first| !changed.is_empty() && !changed.contains(first)).cloned();
        Self(day.into_iter().chain(changed).collect())
    }

    fn render(&self, begin: &str, mark: &str) -> String {
        if self.is_empty() {
            return String::new();
        }
        let lines = self.0.iter().filter(|section| section.is_line);
        let lines: Vec<String> = lines.map(|line| format!("{}: {}", line.name, line.body)).collect();
        let mut words = begin.to_owned() + &lines.join("\n");
        for section in self.0.iter().filter(|section| !section.is_line) {
            words.push_str(&format!("\n\n{HEADING}{}{mark}\n\n{}", section.name, section.body));
        }
        words + END
    }

    fn body_of(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|section| section.name == name).map(|section| section.body.as_str())
    }

    fn put(&mut self, section: ContextSection) {
        match self.0.iter_mut().find(|known| known.name == section.name) {
            Some(known) => *known = section,
            None => self.0.push(section),
        }
    }
}

/// Reads the inside of a block whose headings end with that mark.
fn read(inner: &str, mark: &str) -> ContextSections {
    let mut sections = ContextSections::default();
    let mut parts = inner.split("\n\n## ");
    for line in parts.next().unwrap_or_default().lines() {
        if let Some((name, body)) = line.split_once(": ") {
            sections.add_line(name, body);
        }
    }
    for (heading, body) in parts.filter_map(|part| part.split_once('\n')) {
        sections.add(heading.strip_suffix(mark).unwrap_or(heading), body);
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn state(day: &str, sections: &[(&str, &str)]) -> ContextSections {
        let mut state = ContextSections::default();
        state.add_line("Now", day);
        sections.iter().for_each(|(name, body)| state.add(name, body));
        state
    }

    #[test]
    fn only_changed_sections_are_shown_again() {
        let mut shown = ContextSections::default();
        let first = state("Friday", &[("Memory", "tea\n\n### More\n\n- x"), ("Notes", "walk")]);
        let block = first.since(&shown);
        let whole = "<context>\nNow: Friday\n\n## Memory\n\ntea\n\n### More\n\n- x\n\n## Notes\n\nwalk\n</context>";
        assert_eq!(block, whole);
        shown.show(&block);
        assert_eq!((&shown, first.since(&shown)), (&first, String::new()));

        let second = state("Friday", &[("Memory", "tea\n\n### More\n\n- x"), ("Notes", "walk\nrun")]);
        let block = second.since(&shown);
        assert_eq!(block, "<context part=\"changed\">\nNow: Friday\n\n## Notes now\n\nwalk\nrun\n</context>");
        let mut lost = ContextSections::default();
        lost.show(&block);
        assert!(lost.is_empty(), "changes count only behind a whole block");
        shown.show(&block);
        assert_eq!(shown, second);

        let third = state("Saturday", &[("Memory", "tea\n\n### More\n\n- x")]);
        let block = third.since(&shown);
        assert_eq!(block, "<context part=\"changed\">\nNow: Saturday\n\n## Notes now\n\n(empty)\n</context>");
        shown.show(&block);
        assert_eq!(third.since(&shown), "", "said once");
        let fourth = state("Saturday", &[("Memory", "tea\n\n### More\n\n- x"), ("New", "x")]);
        assert_eq!(
            fourth.since(&shown),
            "<context part=\"changed\">\nNow: Saturday\n\n## New now\n\nx\n</context>",
            "a new section alone"
        );
    }

    proptest! {
        /// Proves: models/prompt-cache
        #[test]
        fn the_newest_state_can_always_be_read_from_the_blocks(
            states in prop::collection::vec(prop::collection::btree_map("[A-C]", "(### h\n|a: b\n|- x\n|\n|now\n){0,4}", 0..3), 1..8)
        ) {
            let mut shown = ContextSections::default();
            for (day, sections) in states.iter().enumerate() {
                let sections: Vec<(&str, &str)> =
                    sections.iter().map(|(name, body)| (name.as_str(), body.as_str())).collect();
                let now = state(&(day / 2).to_string(), &sections);
                let block = now.since(&shown);
                shown.show(&block);
                for section in &shown.0 {
                    let expected = now.body_of(&section.name).unwrap_or(prompt::EMPTY_SECTION);
                    prop_assert_eq!(&section.body, expected);
                }
                prop_assert!(now.0.iter().all(|section| shown.body_of(&section.name).is_some()));
            }
        }
    }
}
