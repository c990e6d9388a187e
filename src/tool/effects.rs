//! Effects of a tool call besides its text, by which unattended runs are limited.

/// Set of effects of a tool call besides its text. Unattended runs are restricted by permitted
/// effects instead of a list of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effects(u16);

impl Effects {
    /// Reads data available to the assistant.
    pub const READS: Self = Self(1);
    /// Reads data of a single person, which groups may not see.
    pub const READS_PERSONAL: Self = Self(1 << 1);
    /// Opens a web address, which is judged separately.
    pub const FETCHES: Self = Self(1 << 2);
    /// Changes files of the workspace.
    pub const WRITES: Self = Self(1 << 3);
    /// Proposes a change that another party decides about.
    pub const PROPOSES: Self = Self(1 << 4);
    /// Changes reminders and scheduled tasks.
    pub const SCHEDULES: Self = Self(1 << 5);
    /// Sends something along with the answer.
    pub const SHOWS: Self = Self(1 << 6);
    /// Passes its arguments to another program, which may do anything with them.
    pub const LEAVES: Self = Self(1 << 7);

    /// Changes what only owners have.
    pub const OF_OWNER: Self = Self(1 << 8);

    /// All effects.
    pub const ALL: Self = Self(u16::MAX);

    /// Returns the union.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the difference.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns whether all of these are allowed.
    pub const fn are_within(self, allowed: Self) -> bool {
        self.0 & !allowed.0 == 0
    }
}
