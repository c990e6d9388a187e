//! `[reflection]`: when reflections run, and who decides about what they propose.

use crate::time::Cron;

/// `[reflection]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reflection {
    /// Enables reflections.
    pub enabled: bool,
    /// Enables reflections of members.
    pub members: bool,
    /// Schedule of daily reflections; `None` for never.
    pub daily: Option<Cron>,
    /// Schedule of weekly reflections; `None` for never.
    pub weekly: Option<Cron>,
    /// Schedule of monthly reflections; `None` for never.
    pub monthly: Option<Cron>,
    /// Minimum number of messages of a person; days with fewer are skipped.
    pub min_messages: u32,
    /// `true` if proposed changes of skills go to review.
    pub auto_action: bool,
    /// Authority that decides on clean proposals.
    pub review: ReflectionReview,
    /// Maximum number of proposals per reflection.
    pub max_actions_per_reflection: u32,
    /// Maximum number of proposals per local day.
    pub max_actions_per_day: u32,
    /// Periods that ended longer ago are skipped, except the latest of each kind.
    pub catch_up_days: u32,
    /// When the owner gets a message about a reflection.
    pub tell_owner: TellOwner,
}

/// When an owner gets a message about a reflection of theirs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TellOwner {
    /// Never. Proposals are shown one by one.
    Never,
    /// If something was done, waits for the owner or was left out.
    #[default]
    Proposals,
    /// Always.
    Always,
}

/// Authority that decides on a clean proposal of a reflection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReflectionReview {
    /// The owner.
    #[default]
    Human,
    /// The reviewer may approve.
    Ai,
    /// No review: a proposal that passes the other stages is applied.
    Nobody,
}
