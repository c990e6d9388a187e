//! The gate: what may become a skill, and who decided it.
//!
//! A proposal is an immutable row: the whole content that a skill would have, the digest of the
//! content that it was made from, where its words came from. It goes through the stages in order
//! (taint, hash, structure, scan, reviewer, person), each a small file; every stage fails closed.
//! What comes out at the end is an `Approval`, which only this room can make, which names one
//! proposal and its digest, and which is used up by applying it.
//!
//! This room is the only writer of the skills folder, and the only reader of it for everybody else:
//! [`ActiveSkills`] knows holds, versions and labels.

mod apply;
pub mod approval;
mod carried_over;
mod contents;
pub mod diff;
mod disk;
mod duplicate_check;
mod label;
mod active_skills;
mod owner_decision;
pub mod proposal;
mod read;
mod restored;
pub mod reveal;
pub mod reviewer;
pub mod scan;
mod builtin_updates;
pub mod show;
pub mod structure;
mod submit;
mod builtin_sync;
mod taint;
pub mod why;
mod worker;

pub use active_skills::{ActiveSkills, FolderLock, LiveSkill};
pub use disk::DiskFailpoint;
pub use owner_decision::{By, Decided, DecisionError};
pub use proposal::{Proposal, ProposalDraft, ProposalOrigin};
pub use read::History;
pub use restored::{accept_shipped_only, distrust_unknown};
pub use submit::Staged;
pub use taint::AutoApproval;

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::config;
use crate::id::AddressId;
use crate::skill::SkillCache;
use crate::skill::builtin::Builtin;
use crate::spend::ModelPool;
use crate::store::Journal;
use crate::time::Clock;
use crate::time::clock::WakeupSender;

/// What the owner chose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Policy {
    /// `[skills] review = "ai"`: what is clean in every respect needs the reviewer only.
    pub reviewer_approves: bool,
    /// `[reflection] review_mode`: who decides about what is clean in every respect and comes from
    /// a reflection of the owner.
    pub reflections: config::ReflectionReview,
    /// `[skills] tainted_review_mode = "reject"`: a tainted proposal is not even kept.
    pub tainted_is_rejected: bool,
    /// `[skills] by_hand = "live"`: a folder that a person puts there is used without having been
    /// accepted.
    pub by_hand_is_live: bool,
}

/// Is told when something waits to be delivered.
pub trait OutboxNotifier: Send + Sync {
    /// Something was posted to that address.
    fn posted(&self, address: AddressId);
}

/// What it takes.
pub struct ReviewParts {
    /// The journal.
    pub journal: Journal,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The skills folder.
    pub dir: PathBuf,
    /// The skills that ship with the program.
    pub builtins: &'static [Builtin],
    /// What the owner chose.
    pub policy: Policy,
    /// Who reviews: the models for background work.
    pub reviewer: Arc<ModelPool>,
    /// Who delivers.
    pub herald: Arc<dyn OutboxNotifier>,
    /// Sees every step on the disk; for tests of power cuts.
    pub failpoint: Option<DiskFailpoint>,
}

/// The gate. Cloning gives another handle on the same one.
#[derive(Clone)]
pub struct Review(Arc<ReviewInner>);

struct ReviewInner {
    journal: Journal,
    clock: Arc<dyn Clock>,
    shelf: SkillCache,
    disk: disk::Disk,
    builtins: &'static [Builtin],
    policy: Policy,
    reviewer: Arc<ModelPool>,
    herald: Arc<dyn OutboxNotifier>,
    /// Held while the folder is changed or compared with the journal.
    writing: Arc<tokio::sync::Mutex<()>>,
    seen: Mutex<active_skills::FolderSnapshot>,
    ringer: Mutex<Option<WakeupSender>>,
    /// A proposal waits and there was no place yet to tell the owner.
    untold: AtomicBool,
    /// A change is intended and could not be made yet.
    unfinished: AtomicBool,
}

impl std::fmt::Debug for Review {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Review")
    }
}

impl Review {
    /// A gate that rests until [`Review::start`].
    pub fn new(parts: ReviewParts) -> Self {
        Self(Arc::new(ReviewInner {
            shelf: SkillCache::new(parts.dir.clone()),
            disk: disk::Disk::new(parts.dir, parts.failpoint),
            journal: parts.journal,
            clock: parts.clock,
            builtins: parts.builtins,
            policy: parts.policy,
            reviewer: parts.reviewer,
            herald: parts.herald,
            writing: Arc::default(),
            seen: Mutex::default(),
            ringer: Mutex::default(),
            untold: AtomicBool::new(false),
            unfinished: AtomicBool::new(false),
        }))
    }

    /// Works on what waits until the program stops: asks the reviewer, tells the owner.
    pub async fn run(self, stop: CancellationToken) {
        let (ringer, bell) = crate::time::clock::wakeups();
        ringer.ring(&*self.0.clock);
        *self.0.ringer.lock().unwrap_or_else(PoisonError::into_inner) = Some(ringer);
        worker::run(self, bell, stop).await;
    }

    /// Something may wait.
    fn ring(&self) {
        if let Some(ringer) = &*self.0.ringer.lock().unwrap_or_else(PoisonError::into_inner) {
            ringer.ring(&*self.0.clock);
        }
    }

    fn seen(&self) -> MutexGuard<'_, active_skills::FolderSnapshot> {
        self.0.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a draft is no proposal, in sentences for whoever made it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join(" "))]
pub struct Refused(pub Vec<String>);

impl Refused {
    fn because(why: &str) -> Self {
        Self(vec![why.to_owned()])
    }
}

/// What a proposal would do to a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProposalChange {
    /// A skill that does not exist yet.
    Create,
    /// Another content.
    Edit,
    /// The skill goes.
    Delete,
    /// The skill gets another name, and with it a content that says so.
    Rename {
        /// The new name.
        to: String,
    },
}

/// Something in a text that looks like an attack, or that a person would not see.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Finding {
    /// The rule that found it: a short word such as `invisible` or `override`.
    pub rule: String,
    /// In which file; blank for the rationale.
    pub path: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What stands there, with invisible characters revealed, at most 120 characters.
    pub excerpt: String,
    /// What it is, in a sentence for the owner.
    pub says: String,
}

/// The task that takes proposals through the review and tells the owner.
#[derive(Clone, Copy)]
pub struct ReviewWorker<'a> {
    pub(super) review: &'a Review,
}

impl Deref for ReviewWorker<'_> {
    type Target = Review;

    fn deref(&self) -> &Review {
        self.review
    }
}

impl Review {
    /// The task that takes proposals through the review and tells the owner.
    pub fn worker(&self) -> ReviewWorker<'_> {
        ReviewWorker { review: self }
    }
}
