//! The gate for skills: proposals, their stages and the decisions about them.
//!
//! A proposal is an immutable row: the whole content that the skill would have, the digest of the
//! content it was made from, and the origins of its text. It passes the stages in order (taint,
//! hash, structure, scan, reviewer, person), each a small file. Every stage fails closed. The
//! result is an `Approval`, which only this module can create, which names one proposal and its
//! digest, and which is consumed by applying it.
//!
//! This module is the only writer of the skills folder. All other modules read skills through it:
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
pub use owner_decision::{Decided, DecisionError, DecisionSource};
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

/// The owner's review settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Policy {
    /// `[skills] review = "ai"`: a proposal that is clean in every respect needs only the reviewer.
    pub reviewer_approves: bool,
    /// `[reflection] review_mode`: decides about proposals of the owner's reflections that are
    /// clean in every respect.
    pub reflections: config::ReflectionReview,
    /// `[skills] tainted_review_mode = "reject"`: tainted proposals are not even stored.
    pub tainted_is_rejected: bool,
    /// `[skills] by_hand = "live"`: a folder that a person adds is used without being accepted
    /// first.
    pub by_hand_is_live: bool,
}

/// Receives a notification when a message waits for delivery.
pub trait OutboxNotifier: Send + Sync {
    /// Called after a message for `address` was posted to the outbox.
    fn posted(&self, address: AddressId);
}

/// The dependencies of a [`Review`].
pub struct ReviewParts {
    /// The journal.
    pub journal: Journal,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The skills folder.
    pub dir: PathBuf,
    /// The skills that ship with the program.
    pub builtins: &'static [Builtin],
    /// The owner's review settings.
    pub policy: Policy,
    /// The reviewer: the models for background work.
    pub reviewer: Arc<ModelPool>,
    /// Notified of messages to deliver.
    pub herald: Arc<dyn OutboxNotifier>,
    /// Observes every disk step; for tests of power cuts.
    pub failpoint: Option<DiskFailpoint>,
}

/// The gate. Clones are handles to the same gate.
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
    /// Set while a proposal waits and the owner has no known address yet.
    untold: AtomicBool,
    /// Set while an intended change could not be applied yet.
    unfinished: AtomicBool,
}

impl std::fmt::Debug for Review {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Review")
    }
}

impl Review {
    /// Creates a gate that is idle until [`Review::start`].
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

    /// Processes waiting proposals until the program stops: asks the reviewer and notifies the
    /// owner.
    pub async fn run(self, stop: CancellationToken) {
        let (ringer, bell) = crate::time::clock::wakeups();
        ringer.wake(&*self.0.clock);
        *self.0.ringer.lock().unwrap_or_else(PoisonError::into_inner) = Some(ringer);
        worker::run(self, bell, stop).await;
    }

    /// Wakes the worker.
    fn wake_worker(&self) {
        if let Some(ringer) = &*self.0.ringer.lock().unwrap_or_else(PoisonError::into_inner) {
            ringer.wake(&*self.0.clock);
        }
    }

    fn seen(&self) -> MutexGuard<'_, active_skills::FolderSnapshot> {
        self.0.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The reasons why a draft was refused, as sentences for its author.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join(" "))]
pub struct Refused(pub Vec<String>);

impl Refused {
    fn because(why: &str) -> Self {
        Self(vec![why.to_owned()])
    }
}

/// The effect of a proposal on a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProposalChange {
    /// Creates a skill.
    Create,
    /// Changes the content.
    Edit,
    /// Deletes the skill.
    Delete,
    /// Renames the skill, including the name in its content.
    Rename {
        /// The new name.
        to: String,
    },
}

/// A text passage that looks like an attack, or that a person would not see.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Finding {
    /// The rule that matched: a short word such as `invisible` or `override`.
    pub rule: String,
    /// The file; blank for the rationale.
    pub path: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The matched text with invisible characters revealed, at most 120 characters.
    pub excerpt: String,
    /// The meaning, in a sentence for the owner.
    pub says: String,
}

/// The task that takes proposals through the review and notifies the owner.
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
    /// Returns the task that takes proposals through the review and notifies the owner.
    pub fn worker(&self) -> ReviewWorker<'_> {
        ReviewWorker { review: self }
    }
}
