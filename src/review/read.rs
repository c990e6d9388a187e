//! Read access to the gate for operators. Nothing here decides, and the only changes are those that
//! a look at the folder records in the journal.
//!
//! An overdue proposal is reported as expired at once, even if the task that records the expiry has
//! not run yet, so that the reported state always agrees with [`Review::approve`].

use super::proposal::{self, Proposal, ProposalDraft, ProposalOrigin};
use super::{ProposalChange, Review};
use crate::id::ProposalId;
use crate::skill::SkillFolder;
use crate::store::{ProposalRow, ProposalState, VersionRow};
use crate::time::Timestamp;

/// The contents that a skill had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// Oldest first.
    pub versions: Vec<VersionRow>,
    /// The digest of the present content; blank if there is none.
    pub present: String,
}

impl Review {
    /// Returns the proposals that wait for a decision, oldest first.
    pub async fn pending(&self) -> anyhow::Result<Vec<ProposalRow>> {
        let now = self.0.clock.now();
        let rows = self.0.journal.read(|db| db.proposals().pending_proposals()).await?;
        Ok(rows.into_iter().filter(|row| !row.is_late(now)).collect())
    }

    /// Returns the newest proposals, newest first.
    pub async fn proposals(&self, limit: u32) -> anyhow::Result<Vec<ProposalRow>> {
        let now = self.0.clock.now();
        let rows = self.0.journal.read(move |db| db.proposals().newest_proposals(limit)).await?;
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
        let lying = self.present_content(skill).await?;
        let change = if lying.is_some() { ProposalChange::Edit } else { ProposalChange::Create };
        let lying = lying.unwrap_or_default();
        let gone = lying.files().map(|(path, _)| path).filter(|path| content.get(path).is_none());
        let mut files: Vec<_> = gone.map(|path| (path.to_owned(), None)).collect();
        files.extend(proposal::rows(content).into_iter().map(|(path, bytes)| (path, Some(bytes))));
        Ok(ProposalDraft { skill: skill.to_owned(), change, files, rationale: String::new(), origin })
    }
}

fn as_of(row: ProposalRow, now: Timestamp) -> ProposalRow {
    let late = row.state == ProposalState::Pending && row.is_late(now);
    if late { ProposalRow { state: ProposalState::Expired, ..row } } else { row }
}
