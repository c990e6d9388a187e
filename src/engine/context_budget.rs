//! Token budget of each part of a prompt within a model's window.
//!
//! Token counts follow the provider: its counts for the last calls, compared with our estimates,
//! give a scale that corrects every further estimate ([`crate::spend::ModelPool::scale`]). Without
//! counts the estimate is used alone; it errs upwards.
//!
//! The thresholds are shares of the window, after DESIGN and the second seed: at 60 % facts are
//! extracted, at 70 % the older part is compacted into its summary. If the answer may take so much
//! of a small window that these thresholds come too late, they are lowered. At most 90 % of the
//! window without the answer is sent: beyond that, the oldest exchanges are dropped, and long
//! results of the running turn are shortened.

use crate::model::ModelInfo;
use crate::store::Conversation;

/// Threshold for extracting facts.
const EXTRACT_AT: f64 = 0.60;
/// Threshold for compacting the older part.
const COMPACT_AT: f64 = 0.70;
/// Maximum share that is sent.
const SEND_UP_TO: f64 = 0.90;
/// Share of the window for all automatically loaded files together.
const FILES: f64 = 0.30;

/// Context budget of one model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContextBudget {
    window: u64,
    output: u64,
    scale: f64,
}

/// Files with a budget of their own. The figures are those of the second seed (characters divided
/// by four).
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
    /// Creates the budget of a model; `scale` is the provider's count for one of our estimated
    /// tokens.
    pub fn of(card: Option<&ModelInfo>, scale: f64) -> Self {
        let (window, output) = card.map_or((16_384, 2_048), |card| (card.context_window, card.max_output));
        Self { window, output, scale: scale.clamp(0.25, 6.0) }
    }

    /// Corrects an estimate by the scale.
    pub fn counted(&self, guess: u64) -> u64 {
        times(guess, self.scale)
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
        times(times(self.without_answer(), SEND_UP_TO), 1.0 / self.scale)
    }

    /// Maximum size of the exchanges, in estimated tokens, if the rest of the prompt is estimated
    /// at `others`. Rounded in steps, so that an additional word in some file does not move the
    /// limit.
    pub fn history(&self, others: u64) -> u64 {
        let step = (self.window / 32).max(1);
        let others = others.div_ceil(step) * step;
        self.most_guessed().saturating_sub(others).max(1_000)
    }

    /// Half of the window, in estimated tokens: the limit for the part that compaction keeps.
    pub fn half(&self) -> u64 {
        times(self.window / 2, 1.0 / self.scale)
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

/// Returns true if a conversation continues over turns and can outgrow its window.
pub fn may_outgrow(conversation: &Conversation) -> bool {
    super::system_run::RunKind::of(conversation).is_none()
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn budget(window: u64, output: u64) -> ContextBudget {
        ContextBudget { window, output, scale: 1.0 }
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
    fn what_the_provider_counts_moves_what_is_sent() {
        let twice = ContextBudget { scale: 2.0, ..budget(100_000, 10_000) };
        assert_eq!((twice.counted(10), twice.most_guessed()), (20, 40_500));
    }

    proptest! {
        /// Proves: conversation/long
        #[test]
        fn facts_are_taken_down_before_anything_gives_way(window in 1_024_u64..2_000_000, share in 1_u64..9) {
            let room = budget(window, window * share / 10);
            prop_assert!(room.extract_at() < room.compact_at());
            prop_assert!(room.compact_at() <= times(room.without_answer(), SEND_UP_TO));
            let files: u64 = Block::ALL.iter().map(|block| room.block(*block)).sum();
            prop_assert!(files <= times(room.without_answer(), FILES).max(11_000));
        }
    }
}
