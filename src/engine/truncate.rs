//! Truncation of files to their share of the window. The text says where it was cut, and no line
//! that fits is cut in the middle.
//!
//! Instructions are kept from their beginning; files that grow at their end are kept from their
//! end, because the latest notes count most. In MEMORY.md both apply: the text at the top is kept
//! from its beginning, the facts from their end, and the index whole as long as it fits.

use crate::text::estimate_tokens;
use crate::wording::prompt;

/// Headings of the regions of MEMORY.md that the program writes.
const REGIONS: [&str; 2] = ["## Recent facts", "## Index"];

/// Truncates the text at its end.
pub fn file(text: &str, max: u64, name: &str) -> String {
    if estimate_tokens(text) <= max {
        return text.to_owned();
    }
    let note = prompt::cut_file(name);
    let kept = lines_within(text.lines(), max.saturating_sub(estimate_tokens(&note)));
    format!("{}\n{note}", kept.join("\n")).trim_start().to_owned()
}

/// Truncates the text at its beginning.
pub fn newest(text: &str, max: u64, name: &str) -> String {
    if estimate_tokens(text) <= max {
        return text.to_owned();
    }
    let note = prompt::cut_file(name);
    let mut kept = lines_within(text.lines().rev(), max.saturating_sub(estimate_tokens(&note)));
    kept.reverse();
    format!("{note}\n{}", kept.join("\n")).trim_end().to_owned()
}

/// Truncates MEMORY.md: each region gets what the others leave, the text at the top at least a
/// third.
pub fn memory(text: &str, max: u64) -> String {
    if estimate_tokens(text) <= max {
        return text.to_owned();
    }
    let (top, facts, index) = regions(text);
    let index_room = max / 3;
    let index_cut = file(index.trim(), index_room, NAME);
    let left = max.saturating_sub(estimate_tokens(&index_cut));
    let top_cut = file(top.trim(), left.saturating_sub(estimate_tokens(facts.trim()).min(left / 2)), NAME);
    let left = left.saturating_sub(estimate_tokens(&top_cut));
    let (head, body) = facts.trim().split_once('\n').unwrap_or((facts.trim(), ""));
    let body = newest(body.trim(), left.saturating_sub(estimate_tokens(head)), NAME);
    let parts = [top_cut, format!("{head}\n\n{body}").trim().to_owned(), index_cut];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

const NAME: &str = "memory/MEMORY.md";

/// Splits into the text above the first managed heading, the facts, and the index, each with its
/// heading.
fn regions(text: &str) -> (String, String, String) {
    let mut parts = [String::new(), String::new(), String::new()];
    let mut at = 0;
    for line in text.lines() {
        if let Some(region) = REGIONS.iter().position(|head| line.trim_end() == *head) {
            at = region + 1;
        }
        if let Some(part) = parts.get_mut(at) {
            part.push_str(line);
            part.push('\n');
        }
    }
    let [top, facts, index] = parts;
    (top, facts, index)
}

/// Returns as many whole lines as fit; a first line that is longer than the limit by itself is cut.
fn lines_within<'a>(lines: impl Iterator<Item = &'a str>, max: u64) -> Vec<&'a str> {
    let (mut kept, mut used) = (Vec::new(), 0);
    for line in lines {
        let tokens = estimate_tokens(line) + 1;
        if used + tokens > max {
            if kept.is_empty() {
                kept.push(crate::text::cut_bytes(line, usize::try_from(max).unwrap_or(usize::MAX)));
            }
            break;
        }
        used += tokens;
        kept.push(line);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_fits_stays_as_it_is() {
        assert_eq!(file("a\nb", 10, "x"), "a\nb");
        assert_eq!(memory("a\n\n## Recent facts\n- **b**: c", 100), "a\n\n## Recent facts\n- **b**: c");
    }

    #[test]
    fn instructions_keep_their_beginning_and_notes_their_end() {
        let text: String = (0..100).map(|n| format!("line number {n}\n")).collect();
        let from_start = file(&text, 60, "AGENTS.md");
        assert!(
            from_start.starts_with("line number 0\n") && from_start.ends_with("the rest of AGENTS.md)"),
            "{from_start}"
        );
        let from_end = newest(&text, 60, "today");
        assert!(from_end.ends_with("line number 99") && from_end.starts_with("(cut here"), "{from_end}");
    }

    /// Proves: memory/large
    #[test]
    fn the_newest_facts_and_the_index_survive_a_long_memory() {
        let facts: String = (0..300).map(|n| format!("- **key {n}**: some value of it\n")).collect();
        let text = format!(
            "{}\n## Recent facts\n\n{facts}\n## Index\n\n- [Tea](tea.md): how she likes it\n",
            "Prose. ".repeat(900)
        );
        let cut = memory(&text, 600);
        assert!(cut.starts_with("Prose.") && cut.contains("**key 299**") && cut.contains("[Tea](tea.md)"), "{cut}");
        assert!(!cut.contains("**key 0**") && cut.contains("read_file"), "{cut}");
    }

    proptest! {
        #[test]
        fn nothing_is_ever_longer_than_its_share(text in "([a-z ]{0,40}\n|## Index\n|## Recent facts\n|東{0,30}\n){0,60}", max in 80_u64..400) {
            let slack = 40;
            for cut in [file(&text, max, "x"), newest(&text, max, "x"), memory(&text, max)] {
                prop_assert!(estimate_tokens(&cut) <= max + slack * 3, "{} of {}", estimate_tokens(&cut), max);
            }
        }
    }
}
