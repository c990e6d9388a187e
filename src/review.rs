//! The gate for skills: proposals, their stages and the decisions about them.
//!
//! A proposal is an immutable row: the whole content that the skill would have, the digest of the
//! content it was made from, and the origins of its text. It passes the stages in order (taint,
//! hash, structure, scan, effects, reviewer, person), each a small file. Every stage fails closed.
//! The result is an `Approval`, which only this module can create, which names one proposal and its
//! digest, and which is consumed by applying it.
//!
//! This module is the only writer of the skills folder. All other modules read skills through it:
//! [`ActiveSkills`] knows holds, versions and labels.

mod apply; // an approved change becomes live
pub mod approval_proof; // proof of an approval, consumed by applying it
pub mod diff;
mod disk; // exchange of folders on disk
mod duplicate_check; // stage: the same content again
pub mod effects; // what a change newly does
mod label;
mod merge; // newer built-in skills and a person's changes
mod active_skills; // the skills in use
mod owner_decision; // approve and reject: owners only
mod plain_text; // text without disguises
pub mod proposal;
pub mod reveal; // invisible and look-alike characters made visible
pub mod reviewer; // the request to the AI reviewer
pub mod scan; // stage: hidden and disguised content
pub mod show;
pub mod structure; // stage: form of the files
mod submit; // from a draft to a pending proposal
mod builtin_sync; // built-in skills and their upgrades
mod taint; // stage: origin of the text
mod text_context; // quotations and fenced blocks in a text
mod unknown_skills; // skills of a backup that were never accepted
pub mod why; // origin of a proposal, a note, an answer
mod worker; // the AI reviewer, approval by policy of clean proposals, notices to owners

pub use active_skills::{ActiveSkills, FolderLock, LiveSkill};
pub use disk::DiskFailpoint;
pub use owner_decision::{Decided, DecisionError, DecisionSource};
pub use proposal::{Proposal, ProposalDraft, ProposalOrigin};
pub use submit::Staged;
pub use unknown_skills::{accept_shipped_only, distrust_unknown};

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio_util::sync::CancellationToken;

use crate::config;
use crate::id::{AddressId, ProposalId};
use crate::skill::builtin::Builtin;
use crate::skill::{SkillCache, SkillFolder};
use crate::spend::ModelPool;
use crate::store::{Journal, ProposalRow, ProposalState, VersionRow};
use crate::time::clock::WakeupSender;
use crate::time::task::lock;
use crate::time::{Clock, Timestamp};

/// The owner's review settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Policy {
    /// `[skills] review = "ai"`: a clean proposal that newly does nothing on the list of effects
    /// needs only the reviewer.
    pub reviewer_approves: bool,
    /// `[reflection] review_mode`: the same for proposals of the owner's reflections, or without a
    /// reviewer for those that do nothing that waits.
    pub reflections: config::ReflectionReview,
    /// `[skills] tainted_review_mode = "reject"`: tainted proposals are not even stored.
    pub tainted_is_rejected: bool,
    /// `[skills] by_hand`
    pub by_hand: config::ByHand,
}

/// Receives notifications of the review.
pub trait OutboxNotifier: Send + Sync {
    /// Called after a message for `address` was posted to the outbox.
    fn posted(&self, address: AddressId);

    /// Called after a stage for which the report about a reflection may have waited.
    fn settled(&self);
}

/// The models that review.
#[derive(Clone)]
pub struct Reviewer {
    /// First choice first; only the first is asked.
    pub models: Arc<ModelPool>,
    /// True if none of them writes proposals. Otherwise they only advise.
    pub is_own: bool,
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
    /// The reviewer.
    pub reviewer: Reviewer,
    /// Notified of messages to deliver.
    pub notifier: Arc<dyn OutboxNotifier>,
    /// Observes every disk step; for tests of power cuts.
    pub failpoint: Option<DiskFailpoint>,
}

/// The gate. Clones are handles to the same gate.
#[derive(Clone)]
pub struct Review(Arc<ReviewInner>);

struct ReviewInner {
    journal: Journal,
    clock: Arc<dyn Clock>,
    cache: SkillCache,
    disk: disk::Disk,
    rules: active_skills::Rules,
    policy: Policy,
    reviewer: Reviewer,
    notifier: Arc<dyn OutboxNotifier>,
    /// Held while the folder is changed or compared with the journal.
    write_lock: Arc<tokio::sync::Mutex<()>>,
    snapshot: Mutex<active_skills::FolderSnapshot>,
    wakeups: Mutex<Option<WakeupSender>>,
    /// Set while a notice to the owners waits for the first address of one, or for the end of a
    /// turn.
    notices_pending: AtomicBool,
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
            cache: SkillCache::new(parts.dir.clone()),
            disk: disk::Disk::new(parts.dir, parts.failpoint),
            journal: parts.journal,
            clock: parts.clock,
            rules: active_skills::Rules { by_hand: parts.policy.by_hand, builtins: parts.builtins },
            policy: parts.policy,
            reviewer: parts.reviewer,
            notifier: parts.notifier,
            write_lock: Arc::default(),
            snapshot: Mutex::default(),
            wakeups: Mutex::default(),
            notices_pending: AtomicBool::new(false),
            unfinished: AtomicBool::new(false),
        }))
    }

    /// The models that review.
    pub fn models(&self) -> &ModelPool {
        &self.0.reviewer.models
    }

    /// Processes waiting proposals until the program stops: asks the reviewer and notifies the
    /// owner.
    pub async fn run(self, stop: CancellationToken) {
        let (sender, wakeups) = crate::time::clock::wakeups();
        sender.wake(&*self.0.clock);
        *lock(&self.0.wakeups) = Some(sender);
        worker::run(self, wakeups, stop).await;
    }

    /// Wakes the worker.
    fn wake_worker(&self) {
        if let Some(sender) = &*lock(&self.0.wakeups) {
            sender.wake(&*self.0.clock);
        }
    }

    /// Retries the notices that could not be posted yet: a turn or run is over, or an owner wrote.
    pub fn retry_notices(&self) {
        if self.0.notices_pending.swap(false, Ordering::Relaxed) {
            self.wake_worker();
        }
    }

    fn snapshot(&self) -> MutexGuard<'_, active_skills::FolderSnapshot> {
        lock(&self.0.snapshot)
    }
}

/// The contents that a skill had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// Oldest first.
    pub versions: Vec<VersionRow>,
    /// The digest of the present content; blank if there is none.
    pub present: String,
}

/// Read access for operators. Nothing here decides, and the only changes are those that a look at
/// the folder records in the journal.
///
/// An overdue proposal is reported as expired at once, even if the task that records the expiry has
/// not run yet, so that the reported state always agrees with [`Review::approve`].
impl Review {
    /// Returns the proposals that wait for a decision, oldest first.
    pub async fn pending(&self) -> anyhow::Result<Vec<ProposalRow>> {
        let now = self.0.clock.now();
        let rows = self.0.journal.read(|db| db.proposals().pending_proposals()).await?;
        Ok(rows.into_iter().filter(|row| !row.is_late(now)).collect())
    }

    /// Returns the newest proposals with numbers below `before`, newest first.
    pub async fn proposals(&self, before: i64, limit: u32) -> anyhow::Result<Vec<ProposalRow>> {
        let now = self.0.clock.now();
        let rows = self.0.journal.read(move |db| db.proposals().newest_proposals(before, limit)).await?;
        Ok(rows.into_iter().map(|row| as_of(row, now)).collect())
    }

    /// Returns a complete proposal.
    pub async fn proposal(&self, id: ProposalId) -> anyhow::Result<Option<Proposal>> {
        let now = self.0.clock.now();
        let found = self.0.journal.read(move |db| Proposal::load(db, id)).await?;
        Ok(found.map(|proposal| Proposal { row: as_of(proposal.row, now), ..proposal }))
    }

    /// Returns the versions of the skill in this folder.
    ///
    /// # Errors
    /// If the journal or the skills folder cannot be read.
    pub async fn history(&self, skill: &str) -> anyhow::Result<History> {
        self.live().await?;
        let skill = skill.to_owned();
        let read = move |db: crate::store::Db<'_>| {
            let present = db.skills().skill(&skill)?.map(|row| row.digest).unwrap_or_default();
            Ok(History { versions: db.skills().versions_of(&skill)?, present })
        };
        self.0.journal.read(read).await
    }

    /// Returns the draft that would give a skill exactly this content, replacing any present
    /// content.
    ///
    /// # Errors
    /// If the present content cannot be read.
    pub async fn draft(
        &self,
        skill: &str,
        content: &SkillFolder,
        origin: ProposalOrigin,
    ) -> anyhow::Result<ProposalDraft> {
        // The journal must know the base, or the owner would not see what the change removes.
        self.live().await?;
        let present = self.present_content(skill).await?;
        let change = if present.is_some() { ProposalChange::Edit } else { ProposalChange::Create };
        let files = proposal::replacing(&present.unwrap_or_default(), content);
        Ok(ProposalDraft { skill: skill.to_owned(), change, files, rationale: String::new(), origin })
    }
}

fn as_of(row: ProposalRow, now: Timestamp) -> ProposalRow {
    let late = row.state == ProposalState::Pending && row.is_late(now);
    if late { ProposalRow { state: ProposalState::Expired, ..row } } else { row }
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
#[derive(Debug, Clone, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
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
