//! Applies an approval to the folder. The intention is stored as a row before the first change, the
//! outcome as a row after the last.
//!
//! Between the two rows only [`super::disk`] works. It leaves either the old or the new folder at
//! every instant and can be called again. After a power cut the intended changes are simply applied
//! again, before any skill is read. Content that the owner did not see is never replaced: the
//! proposal ends as a conflict, and the person's work stays.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::Context;

use super::approval_proof::Approval;
use super::disk::{self, Swap};
use super::proposal::{self, Proposal};
use super::{ProposalChange, Review, label, show};
use crate::id::{ChangeId, VersionId};
use crate::skill::{Digest, SkillFolder};
use crate::store::{ChangeRow, ChangeState, NewVersion, Node, OriginKind, SkillFile, Tx};
use crate::time::Timestamp;
use crate::trust::Label;
use crate::wording::skill::ApplyOutcome;

/// Stores the change that an approval permits. Consumes the approval.
pub(super) fn begin(tx: Tx<'_>, approval: Approval, now: Timestamp) -> anyhow::Result<()> {
    let proposal = Proposal::load(*tx, approval.proposal())?.context("An approved proposal vanished")?;
    // The approval covers exactly this content. The rows may have changed on disk since they were
    // displayed.
    anyhow::ensure!(proposal.digest() == *approval.digest(), "A proposal is not what was approved");
    let row = &proposal.row;
    let target = if let ProposalChange::Rename { to } = &proposal.change { to } else { &row.skill };
    let version = match &proposal.result {
        Some(folder) => {
            let id = tx.skills().add_version(&NewVersion {
                skill: target,
                digest: folder.digest().as_str(),
                origin: if row.origin == OriginKind::Shipped { "shipped" } else { "proposal" },
                proposal: Some(row.id),
                accepted: true,
                label: &row.label,
                files: &proposal::rows(folder),
                at: now,
            })?;
            accept(tx, &approval, &proposal, id)?;
            Some(id)
        }
        None => None,
    };
    match &proposal.change {
        ProposalChange::Create | ProposalChange::Edit => {
            tx.skills().intend_change(Some(row.id), target, &row.base, version, None, now)?
        }
        ProposalChange::Delete => tx.skills().intend_change(Some(row.id), &row.skill, &row.base, None, None, now)?,
        ProposalChange::Rename { to } => {
            let first = tx.skills().intend_change(Some(row.id), to, "", version, None, now)?;
            tx.skills().intend_change(Some(row.id), &row.skill, &row.base, None, Some(first), now)?
        }
    };
    Ok(())
}

/// Records that a version was approved: its label from now on and, for a third party's skill, the
/// hosts that were displayed.
pub(super) fn accept(tx: Tx<'_>, approval: &Approval, proposal: &Proposal, version: VersionId) -> anyhow::Result<()> {
    let third_party = proposal.third_party.then_some(version);
    let hosts = proposal.result.as_ref().filter(|_| third_party.is_some()).map(|folder| show::hosts(folder).0);
    tx.skills().accept_version(version, &label::of_approved(approval, third_party), &hosts.unwrap_or_default())?;
    tx.derivations().derive(Node::Version(version), Node::Proposal(proposal.row.id))
}

/// Stores the intention to restore content that was accepted before, under the label it was
/// accepted with, or to install content that the program ships.
pub(super) fn begin_accepted(
    tx: Tx<'_>,
    skill: &str,
    base: &str,
    origin: &str,
    files: &[SkillFile],
    label: &Label,
    now: Timestamp,
) -> anyhow::Result<VersionId> {
    let digest = SkillFolder::new(files.iter().cloned()).digest();
    let version = tx.skills().add_version(&NewVersion {
        skill,
        digest: digest.as_str(),
        origin,
        proposal: None,
        accepted: true,
        label,
        files,
        at: now,
    })?;
    tx.skills().intend_change(None, skill, base, Some(version), None, now)?;
    Ok(version)
}

impl Review {
    /// Applies every intended change that is not known to be done. The caller holds the lock. With
    /// [`ApplyOutcome::Later`], for example on a full disk, the next look tries again.
    pub(super) async fn carry_out(&self) -> anyhow::Result<ApplyOutcome> {
        let intended = self.0.journal.read(|db| db.skills().intended_changes()).await?;
        self.0.unfinished.store(!intended.is_empty(), Ordering::Relaxed);
        let open: Vec<i64> = intended.iter().map(|change| change.id.0).collect();
        let inner = Arc::clone(&self.0);
        tokio::task::spawn_blocking(move || inner.disk.recover(&open)).await??;
        let mut ended = ApplyOutcome::Done;
        let mut unapplied: Vec<ChangeId> = Vec::new();
        for change in intended {
            // The second half of a rename is not applied without the first.
            let outcome = match change.follows.filter(|first| unapplied.contains(first)) {
                Some(_) => ended,
                None => self.swap(&change).await?,
            };
            match outcome {
                ApplyOutcome::Done => self.end(&change, ChangeState::Done).await?,
                ApplyOutcome::Conflict => self.end(&change, ChangeState::Conflict).await?,
                ApplyOutcome::Later => {}
            }
            if outcome != ApplyOutcome::Done {
                unapplied.push(change.id);
                ended = outcome;
            }
        }
        self.0.unfinished.store(ended == ApplyOutcome::Later, Ordering::Relaxed);
        // The next look compares again.
        self.snapshot().catalogue = None;
        Ok(ended)
    }

    async fn swap(&self, change: &ChangeRow) -> anyhow::Result<ApplyOutcome> {
        let version = change.version;
        let files =
            self.0.journal.read(move |db| version.map(|id| db.skills().files_of_version(id)).transpose()).await?;
        let (inner, change, id) = (Arc::clone(&self.0), change.clone(), change.id);
        let swapped = tokio::task::spawn_blocking(move || {
            let content = files.map(SkillFolder::new);
            let base = Digest::parse(&change.base);
            inner.disk.swap(&Swap {
                id: change.id.0,
                name: &change.skill,
                base: base.as_ref(),
                content: content.as_ref(),
            })
        })
        .await?;
        match swapped {
            Ok(disk::SwapOutcome::Done) => Ok(ApplyOutcome::Done),
            Ok(disk::SwapOutcome::Conflict) => Ok(ApplyOutcome::Conflict),
            Err(problem) => {
                tracing::error!(change.id = %id, "Change {id} of a skill cannot be made yet: {problem:#}");
                Ok(ApplyOutcome::Later)
            }
        }
    }

    async fn end(&self, change: &ChangeRow, state: ChangeState) -> anyhow::Result<()> {
        let (change, now) = (change.clone(), self.0.clock.now());
        let job = move |tx: Tx<'_>| {
            tx.skills().end_change(change.id, state, now)?;
            if let Some(version) = change.version.filter(|_| state == ChangeState::Done) {
                tx.skills().version_is_known(&change.skill, version, None)?;
            }
            if state == ChangeState::Conflict {
                // In the same transaction: on its own, the second half of a rename is a
                // deletion.
                tx.skills().end_what_follows(change.id, state, now)?;
            }
            match change.proposal {
                Some(proposal) if state == ChangeState::Conflict => tx.proposals().proposal_in_conflict(proposal, now),
                _ => Ok(()),
            }
        };
        self.0.journal.write("end a change of a skill", job).await
    }
}
