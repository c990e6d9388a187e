//! Proof of a decision: the permission to change a skill. It names one proposal and the digest that
//! was displayed, and applying it consumes it. Who may decide is in `owner_decision`.
//!
//! Only the gate can create one, in the two places where decisions are made; a test in
//! `tests/structure` lists them. It cannot be copied, so that one decision changes the folder once.
//! It holds the digest, so that the applied content is the content that was decided about. Other
//! modules can inspect one:
//!
//! ```
//! use compline::review::approval_proof::Approval;
//! use compline::skill::Digest;
//! fn shown(approval: &Approval) -> &Digest {
//!     approval.digest()
//! }
//! ```
//!
//! but not create one,
//!
//! ```compile_fail
//! use compline::id::{PersonId, ProposalId};
//! use compline::review::approval_proof::{Approval, Decider};
//! use compline::skill::Digest;
//! fn made(digest: Digest) -> Approval {
//!     Approval::new(ProposalId(1), digest, Decider::Owner { person: Some(PersonId(1)) })
//! }
//! ```
//!
//! nor change its content,
//!
//! ```compile_fail
//! use compline::review::approval_proof::Approval;
//! use compline::skill::Digest;
//! fn bent(approval: &mut Approval, digest: Digest) {
//!     approval.digest = digest;
//! }
//! ```
//!
//! nor keep a copy for later:
//!
//! ```compile_fail
//! use compline::review::approval_proof::Approval;
//! fn doubled(approval: &Approval) -> Approval {
//!     approval.clone()
//! }
//! ```
//!
//! Proves: gate/exact-version

use crate::id::{PersonId, ProposalId};
use crate::skill::Digest;

/// The author of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decider {
    /// An owner, with a command or a button of their own.
    Owner {
        /// The owner's id; `None` on the command line of the home.
        person: Option<PersonId>,
    },
    /// The reviewer, where the policy allows it.
    Reviewer,
    /// No decider: by this setting the owner accepts everything that passes all other stages.
    Setting(&'static str),
}

/// The permission to carry out one proposal, once.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "an approval that is not applied is lost"]
pub struct Approval {
    proposal: ProposalId,
    digest: Digest,
    by: Decider,
}

impl Approval {
    pub(super) fn new(proposal: ProposalId, digest: Digest, by: Decider) -> Self {
        Self { proposal, digest, by }
    }

    /// Returns the id of the proposal.
    pub fn proposal(&self) -> ProposalId {
        self.proposal
    }

    /// Returns the digest of the proposal that was decided about.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Returns the author of the decision.
    pub fn by(&self) -> Decider {
        self.by
    }
}
