//! The three reflection jobs.

use crate::time::Span;

/// Reflection job, by the length of its periods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Job {
    /// Daily job.
    Daily,
    /// Weekly job, after its days.
    Weekly,
    /// Monthly job, after its weeks.
    Monthly,
}

impl Job {
    /// All jobs, in order of dependency.
    pub const ALL: [Self; 3] = [Self::Daily, Self::Weekly, Self::Monthly];

    /// Stored name of the job.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Daily => "daily",
            Self::Weekly => "weekly",
            Self::Monthly => "monthly",
        }
    }

    /// Parses the name of a job.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|job| job.as_str() == word)
    }

    /// Length of the job's periods.
    pub fn span(self) -> Span {
        match self {
            Self::Daily => Span::Day,
            Self::Weekly => Span::Week,
            Self::Monthly => Span::Month,
        }
    }
}
