//! What a call of a tool does besides giving a text. Every tool declares it, so that a run that
//! nobody reads along can be held to a list of what is allowed there instead of a list of names.

/// A set of effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effects(u8);

impl Effects {
    /// Reads what the assistant has at hand.
    pub const READS: Self = Self(1);
    /// Reads what only one person has: nothing for a group.
    pub const READS_PERSONAL: Self = Self(1 << 1);
    /// Opens a web address, which is judged by itself.
    pub const FETCHES: Self = Self(1 << 2);
    /// Changes files of the workspace.
    pub const WRITES: Self = Self(1 << 3);
    /// Proposes a change that somebody else decides about.
    pub const PROPOSES: Self = Self(1 << 4);
    /// Changes what is told or done later.
    pub const SCHEDULES: Self = Self(1 << 5);
    /// Sends something along with the answer.
    pub const SHOWS: Self = Self(1 << 6);
    /// Hands its arguments to another program, which may do anything with them.
    pub const LEAVES: Self = Self(1 << 7);

    /// All of them.
    pub const ALL: Self = Self(u8::MAX);

    /// Both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Without those.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether each of these is among those.
    pub const fn are_within(self, allowed: Self) -> bool {
        self.0 & !allowed.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_effect_has_to_be_allowed() {
        let both = Effects::READS.and(Effects::LEAVES);
        assert!(both.are_within(Effects::ALL) && Effects::READS.are_within(both));
        assert!(!both.are_within(Effects::READS) && !both.are_within(Effects::ALL.without(Effects::LEAVES)));
    }
}
