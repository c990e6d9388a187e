//! The three jobs of looking back.

use crate::time::Span;

/// What is looked back on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Job {
    /// Days.
    Daily,
    /// Weeks: after their days.
    Weekly,
    /// Months: after their weeks.
    Monthly,
}

impl Job {
    /// All of them, in the order in which they depend on each other.
    pub const ALL: [Self; 3] = [Self::Daily, Self::Weekly, Self::Monthly];

    /// The stored word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Daily => "daily",
            Self::Weekly => "weekly",
            Self::Monthly => "monthly",
        }
    }

    /// The job of that word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|job| job.as_str() == word)
    }

    /// What it covers.
    pub fn span(self) -> Span {
        match self {
            Self::Daily => Span::Day,
            Self::Weekly => Span::Week,
            Self::Monthly => Span::Month,
        }
    }
}
