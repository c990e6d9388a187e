//! The permission to change a skill: it names one proposal and the digest that was shown, and it is
//! used up by applying it.
//!
//! Only the gate can make one, in the two places where something is decided: a test in
//! `tests/structure` lists them. It cannot be copied, so one decision changes the folder once, and
//! it holds the digest, so what is applied is what was decided about. Everybody else can look at
//! one:
//!
//! ```
//! use compline::review::approval::Approval;
//! use compline::skill::Digest;
//! fn shown(approval: &Approval) -> &Digest {
//!     approval.digest()
//! }
//! ```
//!
//! but not make one,
//!
//! ```compile_fail
//! use compline::id::{PersonId, ProposalId};
//! use compline::review::approval::{Approval, Decider};
//! use compline::skill::Digest;
//! fn made(digest: Digest) -> Approval {
//!     Approval::new(ProposalId(1), digest, Decider::Owner { person: Some(PersonId(1)) })
//! }
//! ```
//!
//! nor change what one stands for,
//!
//! ```compile_fail
//! use compline::review::approval::Approval;
//! use compline::skill::Digest;
//! fn bent(approval: &mut Approval, digest: Digest) {
//!     approval.digest = digest;
//! }
//! ```
//!
//! nor keep a second one for later:
//!
//! ```compile_fail
//! use compline::review::approval::Approval;
//! fn doubled(approval: &Approval) -> Approval {
//!     approval.clone()
//! }
//! ```

use crate::id::{PersonId, ProposalId};
use crate::skill::Digest;

/// Who decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decider {
    /// The owner, with a command or a button of their own.
    Owner {
        /// Which one; nobody in particular on the command line of the home.
        person: Option<PersonId>,
    },
    /// The reviewer, where policy leaves it to the reviewer.
    Reviewer,
    /// Nobody had to: the owner left what passes every other stage to this setting.
    Setting(&'static str),
}

/// The permission to do what one proposal says, once.
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

    /// Which proposal.
    pub fn proposal(&self) -> ProposalId {
        self.proposal
    }

    /// The digest of the proposal that was decided about.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Who decided.
    pub fn by(&self) -> Decider {
        self.by
    }
}
