//! What operators are shown of the gate. Nothing here decides, and nothing is changed but what a
//! look at the folder teaches the journal.
//!
//! A proposal that waited too long is told as expired from that moment on, whether or not the task
//! that writes it down has come to it: what is shown and what [`Review::approve`] would do are the
//! same at every instant.

use super::proposal::{self, Proposal, ProposalDraft, ProposalOrigin};
use super::{ProposalChange, Review};
use crate::id::ProposalId;
use crate::skill::SkillFolder;
use crate::store::{ProposalRow, VersionRow};
use crate::time::Timestamp;

/// The contents that a skill had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// Oldest first.
    pub versions: Vec<VersionRow>,
    /// The digest of what lies there now; blank if nothing does.
    pub present: String,
}

impl Review {
    /// The proposals that wait for somebody, oldest first.
    pub async fn pending(&self) -> anyhow::Result<Vec<ProposalRow>> {
        let now = self.0.clock.now();
        let rows = self.0.journal.read(|db| db.proposals().pending_proposals()).await?;
        Ok(rows.into_iter().filter(|row| !row.is_late(now)).collect())
    }

    /// The newest proposals, newest first.
    pub async fn proposals(&self, limit: u32) -> anyhow::Result<Vec<ProposalRow>> {
        let now = self.0.clock.now();
        let rows = self.0.journal.read(move |db| db.proposals().newest_proposals(limit)).await?;
        Ok(rows.into_iter().map(|row| as_of(row, now)).collect())
    }

    /// One proposal whole.
    pub async fn proposal(&self, id: ProposalId) -> anyhow::Result<Option<Proposal>> {
        let now = self.0.clock.now();
        let found = self.0.journal.read(move |db| Proposal::load(db, id)).await?;
        Ok(found.map(|proposal| Proposal { row: as_of(proposal.row, now), ..proposal }))
    }

    /// What the skill in that folder was, and is.
    ///
    /// # Errors
    /// If the journal cannot be read, or the folder not be looked at.
    pub async fn history(&self, skill: &str) -> anyhow::Result<History> {
        self.live().await?;
        let skill = skill.to_owned();
        let read = move |db: crate::store::Db<'_>| {
            let present = db.skills().skill(&skill)?.map(|row| row.digest).unwrap_or_default();
            Ok(History { versions: db.skills().versions_of(&skill)?, present })
        };
        self.0.journal.read(read).await
    }

    /// What would have to be proposed to give a skill exactly this content, whatever lies there
    /// now.
    ///
    /// # Errors
    /// If what lies there cannot be read.
    pub async fn draft(
        &self,
        skill: &str,
        content: &SkillFolder,
        origin: ProposalOrigin,
    ) -> anyhow::Result<ProposalDraft> {
        // What is compared with has to be known to the journal, or the owner would not see what
        // goes.
        self.live().await?;
        let lying = self.lying(skill).await?;
        let change = if lying.is_some() { ProposalChange::Edit } else { ProposalChange::Create };
        let lying = lying.unwrap_or_default();
        let gone = lying.files().map(|(path, _)| path).filter(|path| content.get(path).is_none());
        let mut files: Vec<_> = gone.map(|path| (path.to_owned(), None)).collect();
        files.extend(proposal::rows(content).into_iter().map(|(path, bytes)| (path, Some(bytes))));
        Ok(ProposalDraft { skill: skill.to_owned(), change, files, rationale: String::new(), origin })
    }
}

fn as_of(row: ProposalRow, now: Timestamp) -> ProposalRow {
    let late = row.state == "pending" && row.is_late(now);
    if late { ProposalRow { state: "expired".to_owned(), ..row } } else { row }
}
