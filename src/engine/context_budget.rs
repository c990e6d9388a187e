//! Token budget of each part of a prompt within a model's window.
//!
//! Token counts follow the provider: its counts for the last calls, compared with our estimates,
//! give a ratio that corrects every further estimate
//! ([`token_ratio`](crate::spend::ModelPool::token_ratio)). Without counts the estimate is used
//! alone; it errs upwards.
//!
//! The thresholds are shares of the window: at 60 % facts are extracted, at 70 % the older part is
//! compacted into its summary, and up to a quarter of the window stays word for word. If the answer
//! may take so much of a small window that these thresholds come too late, they are lowered. At
//! most 90 % of the window without the answer is sent: beyond that, the oldest exchanges are
//! dropped, and long results of the running turn are shortened.
//!
//! A file is truncated to its share. The text says where it was cut, and no line that fits is cut
//! in the middle. Instructions are kept from their beginning; files that grow at their end are kept
//! from their end, because the latest notes count most. In MEMORY.md both apply: the text at the
//! top is kept from its beginning, the facts from their end, and the index whole as long as it
//! fits.

use crate::model::ModelInfo;
use crate::text::estimate_tokens;
use crate::wording::prompt;

/// Threshold for extracting facts.
const EXTRACT_AT: f64 = 0.60;
/// Threshold for compacting the older part.
const COMPACT_AT: f64 = 0.70;
/// Maximum share that is sent.
const SEND_UP_TO: f64 = 0.90;
/// Tokens of the instructions of a background question.
const INSTRUCTIONS: u64 = 1_000;
/// Minimum size of the material of a background question.
const LEAST_MATERIAL: u64 = 500;
/// Maximum number of tokens that a compaction keeps verbatim, and maximum share of the exchanges:
/// most of them give way, however far off the estimates are.
const MOST_VERBATIM: u64 = 32_000;
const VERBATIM: f64 = 0.40;
/// Maximum share of the room for exchanges that the newest messages take if they are long.
const NEWEST: f64 = 0.60;
/// Limits of the summary of the older part, in tokens: about two thousand words at most.
const MOST_SUMMARY: u64 = 4_000;
const LEAST_SUMMARY: u64 = 200;
/// Share of the window for all automatically loaded files together.
const FILES: f64 = 0.30;

/// Context budget of one model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContextBudget {
    window: u64,
    output: u64,
    token_ratio: f64,
}

/// Shares of a compaction, in estimated tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactionShares {
    /// Newest exchanges that stay verbatim.
    pub verbatim: u64,
    /// The same for the newest four messages, if they are long.
    pub newest: u64,
    /// Summary of the older part.
    pub summary: u64,
}

/// Files with a budget of their own. The figures are characters divided by four.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Block {
    /// AGENTS.md.
    Agents,
    /// SOUL.md.
    Soul,
    /// USER.md.
    User,
    /// MEMORY.md.
    Memory,
    /// Today's note.
    Today,
}

impl Block {
    const ALL: [Self; 5] = [Self::Agents, Self::Soul, Self::User, Self::Memory, Self::Today];

    fn most(self) -> u64 {
        match self {
            Self::Agents => 3_000,
            Self::Soul | Self::User => 1_000,
            Self::Memory => 4_000,
            Self::Today => 2_000,
        }
    }
}

impl ContextBudget {
    /// Creates the budget of a model; `token_ratio` is the provider's count for one of our
    /// estimated tokens.
    pub fn of(info: Option<&ModelInfo>, token_ratio: f64) -> Self {
        let (window, output) = info.map_or((16_384, 2_048), |info| (info.context_window, info.max_output));
        Self { window, output, token_ratio: token_ratio.clamp(0.25, 6.0) }
    }

    /// Corrects an estimate by the ratio.
    pub fn counted(&self, guess: u64) -> u64 {
        times(guess, self.token_ratio)
    }

    /// Number of tokens from which facts are extracted.
    pub fn extract_at(&self) -> u64 {
        times(self.window, EXTRACT_AT).min(times(self.without_answer(), 0.70))
    }

    /// Number of tokens from which the older part is compacted.
    pub fn compact_at(&self) -> u64 {
        times(self.window, COMPACT_AT).min(times(self.without_answer(), 0.80))
    }

    /// Maximum size of a whole request, in estimated tokens.
    pub fn most_guessed(&self) -> u64 {
        times(times(self.without_answer(), SEND_UP_TO), 1.0 / self.token_ratio)
    }

    /// Maximum size of the exchanges, in estimated tokens, if the rest of the prompt is estimated
    /// at `others`. Rounded in steps, so that an additional word in some file does not move the
    /// limit.
    pub fn history(&self, others: u64) -> u64 {
        let step = (self.window / 32).max(1);
        let others = others.div_ceil(step) * step;
        self.most_guessed().saturating_sub(others).max(1_000)
    }

    /// Shares of a compaction, given the provider's count of the last request and the estimated
    /// tokens of the exchanges in it. They fit together in what the rest of the prompt leaves.
    pub fn compaction(&self, counted: u64, shown: u64) -> CompactionShares {
        let guess = |tokens| times(tokens, 1.0 / self.token_ratio);
        let others = guess(counted).saturating_sub(shown);
        let room = self.most_guessed().saturating_sub(others);
        CompactionShares {
            verbatim: guess((self.window / 4).min(MOST_VERBATIM)).min(times(shown, VERBATIM)),
            newest: guess(self.window / 2).min(times(room, NEWEST)),
            summary: guess((self.window / 8).min(MOST_SUMMARY)).min((room / 4).max(LEAST_SUMMARY)),
        }
    }

    /// Maximum size of the material of a background question, in estimated tokens: at most that
    /// many, with room for an answer of that many tokens.
    pub fn material(&self, answer: u64, most: u64) -> u64 {
        let room = times(self.window.saturating_sub(answer + INSTRUCTIONS), SEND_UP_TO);
        times(room, 1.0 / self.token_ratio).min(most).max(LEAST_MATERIAL)
    }

    /// Maximum size of a file, in estimated tokens.
    pub fn block(&self, block: Block) -> u64 {
        let all: u64 = Block::ALL.iter().map(|block| block.most()).sum();
        let share = times(self.without_answer(), FILES);
        if share >= all { block.most() } else { block.most() * share / all }
    }

    fn without_answer(&self) -> u64 {
        self.window.saturating_sub(self.output).max(1)
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "token counts are far below 2^52, and no factor is negative"
)]
fn times(tokens: u64, factor: f64) -> u64 {
    (tokens as f64 * factor) as u64
}

/// Headings of the regions of MEMORY.md that the program writes.
const REGIONS: [&str; 2] = ["## Recent facts", "## Index"];

/// Truncates the text at its end.
pub fn truncate_end(text: &str, max: u64, name: &str) -> String {
    if estimate_tokens(text) <= max {
        return text.to_owned();
    }
    let note = prompt::cut_file(name);
    let kept = lines_within(text.lines(), max.saturating_sub(estimate_tokens(&note)));
    format!("{}\n{note}", kept.join("\n")).trim_start().to_owned()
}

/// Truncates the text at its beginning.
pub fn truncate_start(text: &str, max: u64, name: &str) -> String {
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
pub fn truncate_memory(text: &str, max: u64) -> String {
    if estimate_tokens(text) <= max {
        return text.to_owned();
    }
    let (top, facts, index) = regions(text);
    let index_room = max / 3;
    let index_cut = truncate_end(index.trim(), index_room, NAME);
    let left = max.saturating_sub(estimate_tokens(&index_cut));
    let top_cut = truncate_end(top.trim(), left.saturating_sub(estimate_tokens(facts.trim()).min(left / 2)), NAME);
    let left = left.saturating_sub(estimate_tokens(&top_cut));
    let (head, body) = facts.trim().split_once('\n').unwrap_or((facts.trim(), ""));
    let body = truncate_start(body.trim(), left.saturating_sub(estimate_tokens(head)), NAME);
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

    fn budget(window: u64, output: u64) -> ContextBudget {
        ContextBudget { window, output, token_ratio: 1.0 }
    }

    /// Proves: conversation/long
    #[test]
    fn the_marks_are_shares_of_the_window() {
        let large = budget(100_000, 4_096);
        assert_eq!((large.extract_at(), large.compact_at()), (60_000, 70_000));
        let small = budget(8_192, 4_096);
        assert!(small.compact_at() < 8_192 - 4_096, "the answer has its room");
    }

    /// Promise (models/window-estimate): The estimate of how full the window is follows the
    /// provider's own counts, recent calls most, and implausible figures do not distort it.
    #[test]
    fn the_providers_counts_adjust_the_size_of_requests() {
        let twice = ContextBudget { token_ratio: 2.0, ..budget(100_000, 10_000) };
        assert_eq!((twice.counted(10), twice.most_guessed()), (20, 40_500));
    }

    proptest! {
        /// Proves: conversation/verbatim
        #[test]
        fn a_compaction_fits_every_window(
            window in 9_000_u64..1_000_000, share in 1_u64..5, ratio in 0.25_f64..6.0, others in 0_u64..90, full in 1_u64..100,
        ) {
            let budget = ContextBudget { token_ratio: ratio, ..budget(window, window * share / 10) };
            let others = budget.most_guessed() * others / 100;
            let room = budget.most_guessed() - others;
            let shown = room * full / 100;
            let shares = budget.compaction(budget.counted(others + shown), shown);
            let tokens = |guess| budget.counted(guess);
            prop_assert!(tokens(shares.verbatim) <= (window / 4).min(32_000));
            prop_assert!(shares.verbatim * 5 <= shown * 2 && shares.newest <= room);
            prop_assert!(tokens(shares.summary) <= (window / 8).max(tokens(LEAST_SUMMARY)));
            // The summary and what stays fit in with the rest, and leave room for the next
            // exchange.
            prop_assert!(shares.summary + shares.verbatim <= room * 2 / 3 + 220, "{shares:?} in {room}");
        }

        /// Proves: conversation/long
        #[test]
        fn facts_are_taken_down_before_anything_gives_way(window in 1_024_u64..2_000_000, share in 1_u64..9) {
            let budget = budget(window, window * share / 10);
            prop_assert!(budget.extract_at() < budget.compact_at());
            prop_assert!(budget.compact_at() <= times(budget.without_answer(), SEND_UP_TO));
            let files: u64 = Block::ALL.iter().map(|block| budget.block(*block)).sum();
            prop_assert!(files <= times(budget.without_answer(), FILES).max(11_000));
        }
    }

    #[test]
    fn text_within_the_limit_is_unchanged() {
        assert_eq!(truncate_end("a\nb", 10, "x"), "a\nb");
        assert_eq!(truncate_memory("a\n\n## Recent facts\n- **b**: c", 100), "a\n\n## Recent facts\n- **b**: c");
    }

    #[test]
    fn instructions_keep_their_beginning_and_notes_their_end() {
        let text: String = (0..100).map(|n| format!("line number {n}\n")).collect();
        let from_start = truncate_end(&text, 60, "AGENTS.md");
        assert!(
            from_start.starts_with("line number 0\n") && from_start.ends_with("the rest of AGENTS.md)"),
            "{from_start}"
        );
        let from_end = truncate_start(&text, 60, "today");
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
        let cut = truncate_memory(&text, 600);
        assert!(cut.starts_with("Prose.") && cut.contains("**key 299**") && cut.contains("[Tea](tea.md)"), "{cut}");
        assert!(!cut.contains("**key 0**") && cut.contains("read_file"), "{cut}");
    }

    proptest! {
        #[test]
        fn nothing_is_ever_longer_than_its_share(text in "([a-z ]{0,40}\n|## Index\n|## Recent facts\n|東{0,30}\n){0,60}", max in 80_u64..400) {
            let slack = 40;
            for cut in [truncate_end(&text, max, "x"), truncate_start(&text, max, "x"), truncate_memory(&text, max)] {
                prop_assert!(estimate_tokens(&cut) <= max + slack * 3, "{} of {}", estimate_tokens(&cut), max);
            }
        }
    }
}
