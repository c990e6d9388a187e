//! How much of a model's window each part of a prompt may have, in tokens.
//!
//! Tokens are counted by the provider's own figures: what it counted for the last calls, compared
//! with our guess, gives a scale by which every further guess is corrected
//! ([`crate::spend::Purse::scale`]). Where nothing was counted yet the guess stands alone; it errs
//! upwards.
//!
//! The marks at which something happens are shares of the window, after DESIGN and the second seed:
//! at 60 % facts are taken down, at 70 % the older part gives way to its summary. Where the answer
//! may take so much of a small window that these marks come too late, they come earlier. Above 90 %
//! of what is left beside the answer nothing is sent: the oldest exchanges are left out, and long
//! results of the running turn are shortened.

use crate::model::ModelInfo;
use crate::store::Conversation;

/// Facts are taken down from here on.
const EXTRACT_AT: f64 = 0.60;
/// The older part gives way to its summary from here on.
const COMPACT_AT: f64 = 0.70;
/// Nothing longer is sent.
const SEND_UP_TO: f64 = 0.90;
/// The files that are loaded by themselves may have so much of the window together.
const FILES: f64 = 0.30;

/// The room that one model leaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContextBudget {
    window: u64,
    output: u64,
    scale: f64,
}

/// A file that has a budget of its own. The figures are those of the second seed (characters by
/// four).
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
    /// The room of the model with that card; `scale` is what the provider counts for one token of
    /// our guess.
    pub fn of(card: Option<&ModelInfo>, scale: f64) -> Self {
        let (window, output) = card.map_or((16_384, 2_048), |card| (card.context_window, card.max_output));
        Self { window, output, scale: scale.clamp(0.25, 6.0) }
    }

    /// A guess, corrected.
    pub fn counted(&self, guess: u64) -> u64 {
        times(guess, self.scale)
    }

    /// From so many tokens on facts are taken down.
    pub fn extract_at(&self) -> u64 {
        times(self.window, EXTRACT_AT).min(times(self.beside_answer(), 0.70))
    }

    /// From so many tokens on the older part gives way to its summary.
    pub fn compact_at(&self) -> u64 {
        times(self.window, COMPACT_AT).min(times(self.beside_answer(), 0.80))
    }

    /// The most that a whole request may be, as our guess.
    pub fn most_guessed(&self) -> u64 {
        times(times(self.beside_answer(), SEND_UP_TO), 1.0 / self.scale)
    }

    /// The most that the exchanges may be, as our guess, beside `others` that are guessed to be so
    /// long. In steps, so that a word more in some file does not move it.
    pub fn history(&self, others: u64) -> u64 {
        let step = (self.window / 32).max(1);
        let others = others.div_ceil(step) * step;
        self.most_guessed().saturating_sub(others).max(1_000)
    }

    /// Half of the window, as our guess: no tail that is kept is longer.
    pub fn half(&self) -> u64 {
        times(self.window / 2, 1.0 / self.scale)
    }

    /// What a file may be, as our guess.
    pub fn block(&self, block: Block) -> u64 {
        let all: u64 = Block::ALL.iter().map(|block| block.most()).sum();
        let share = times(self.beside_answer(), FILES);
        if share >= all { block.most() } else { block.most() * share / all }
    }

    fn beside_answer(&self) -> u64 {
        self.window.saturating_sub(self.output).max(1)
    }
}

/// Whether a conversation is one that goes on, and can outgrow its window.
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

    fn room(window: u64, output: u64) -> ContextBudget {
        ContextBudget { window, output, scale: 1.0 }
    }

    #[test]
    fn the_marks_are_shares_of_the_window() {
        let large = room(100_000, 4_096);
        assert_eq!((large.extract_at(), large.compact_at()), (60_000, 70_000));
        let small = room(8_192, 4_096);
        assert!(small.compact_at() < 8_192 - 4_096, "the answer has its room");
    }

    #[test]
    fn what_the_provider_counts_moves_what_is_sent() {
        let twice = ContextBudget { scale: 2.0, ..room(100_000, 10_000) };
        assert_eq!((twice.counted(10), twice.most_guessed()), (20, 40_500));
    }

    proptest! {
        #[test]
        fn facts_are_taken_down_before_anything_gives_way(window in 1_024_u64..2_000_000, share in 1_u64..9) {
            let room = room(window, window * share / 10);
            prop_assert!(room.extract_at() < room.compact_at());
            prop_assert!(room.compact_at() <= times(room.beside_answer(), SEND_UP_TO));
            let files: u64 = Block::ALL.iter().map(|block| room.block(*block)).sum();
            prop_assert!(files <= times(room.beside_answer(), FILES).max(11_000));
        }
    }
}
