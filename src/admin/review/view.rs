//! Proposals with everything that belongs to them, for a page that shows them at one glance.

use crate::admin::SkillsAdmin;
use crate::admin::paging::{Page, PageRequest};
use crate::id::ProposalId;
use crate::review::{Proposal, show, why};
use crate::store::{Db, DecisionRow, ProposalRow, ProposalState, VerdictRow, VersionRow};
use crate::trust::Label;
use crate::wording::Locale;

/// A proposal in a list.
#[derive(Debug, Clone)]
pub struct ProposalItem {
    /// The proposal.
    pub row: ProposalRow,
    /// Results of its stages, in order.
    pub stages: Vec<VerdictRow>,
}

/// A proposal, its origin and its fate.
#[derive(Debug, Clone)]
pub struct ProposalView {
    /// The proposal.
    pub proposal: Proposal,
    /// Steps back to the first text from outside, as Markdown.
    pub origin: Vec<String>,
    /// The decision, with the name of the owner who made it.
    pub decision: Option<(DecisionRow, Option<String>)>,
    /// The version that it became, and true if that version is in use.
    pub version: Option<(VersionRow, bool)>,
}

impl ProposalView {
    /// Returns the join of the labels of everything that it displays.
    pub fn label(&self) -> Label {
        show::label(&self.proposal)
    }

    /// Returns true if the stored proposal is the one that was staged.
    pub fn is_intact(&self) -> bool {
        self.proposal.digest().as_str() == self.proposal.row.digest
    }
}

impl SkillsAdmin<'_> {
    /// Returns the newest proposals, including decided ones, with the results of their stages.
    pub async fn proposals_with_stages(&self, request: PageRequest) -> anyhow::Result<Page<ProposalItem>> {
        let page = self.proposals(request).await?.page;
        let with_stages =
            move |db: Db<'_>| page.try_map(|row| Ok(ProposalItem { stages: db.proposals().verdicts_of(row.id)?, row }));
        self.journal.read(with_stages).await
    }

    /// Returns a proposal with its origin and its fate.
    pub async fn proposal_view(&self, id: ProposalId, locale: Locale) -> anyhow::Result<Option<ProposalView>> {
        let Some(proposal) = self.review.proposal(id).await? else { return Ok(None) };
        let live = self.review.live().await?;
        let read = move |db: Db<'_>| {
            let decision = db.proposals().decision_on(id)?;
            let owner = decision.as_ref().and_then(|decision| decision.person);
            let owner = owner.map(|owner| db.people().person(owner)).transpose()?.flatten();
            let skill = if proposal.row.new_name.is_empty() { &proposal.row.skill } else { &proposal.row.new_name };
            let is_approved = proposal.row.state == ProposalState::Approved;
            let became = |version: &VersionRow| {
                // The version of a folder was there before its proposal.
                version.proposal == Some(id) || is_approved && version.digest == proposal.row.content
            };
            let version = db.skills().versions_of(skill)?.into_iter().rev().find(became);
            let is_used = |row: &VersionRow| live.skills.get(skill).is_some_and(|used| used.version == row.id);
            Ok(ProposalView {
                origin: why::of_proposal(db, id, locale)?.unwrap_or_default(),
                decision: decision.map(|decision| (decision, owner.map(|owner| owner.name))),
                version: version.map(|row| (row.clone(), is_used(&row))),
                proposal,
            })
        };
        self.journal.read_much(read).await.map(Some)
    }

    /// Returns the newest proposal that waits for a decision about that skill.
    pub async fn pending_for(&self, skill: &str) -> anyhow::Result<Option<ProposalId>> {
        let waiting = self.review.pending().await?;
        Ok(waiting.into_iter().rev().find(|row| row.skill == skill).map(|row| row.id))
    }
}
