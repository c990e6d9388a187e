//! Settings of the skills folder and of its gate.

use std::path::PathBuf;

/// `[skills]`
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skills {
    /// Skills folder.
    pub dir: PathBuf,
    /// `true` if a reviewer may approve entirely clean proposals.
    pub reviewer_approves: bool,
    /// `true` if proposals with an untrusted part are rejected instead of left to the owner.
    pub tainted_is_rejected: bool,
    /// What a change of the folder means that the gate did not make.
    pub by_hand: ByHand,
}

/// `[skills] by_hand`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ByHand {
    /// A new folder is held; an edit of an accepted skill is live and told.
    #[default]
    Hold,
    /// Every change is held.
    HoldAll,
    /// A new folder is live, too.
    Live,
}
