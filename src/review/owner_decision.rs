//! The last stage: the owner decides about exactly the displayed content.
//!
//! A decision names the proposal and at least eight digits of its digest, which is displayed at the
//! end of the proposal and nowhere else. It counts once, until the proposal expires, and only from
//! an owner: in a direct chat as a typed command or a button, on the page of a signed-in browser,
//! or on the command line of the home. The gateway guarantees that it was typed, the page that its
//! own form sent it; the owner role is looked up in the journal here. Every attempt is stored,
//! whether it counted or not.

use std::sync::Arc;

use anyhow::Context;

use super::Review;
use super::apply;
use super::approval_proof::{Approval, Decider};
use super::proposal::Proposal;
use crate::id::{AddressId, PersonId, ProposalId, VersionNumber};
use crate::skill::{Digest, SkillFolder};
use crate::store::{Cause, NewDecision, NewOutbox, OriginKind, ProposalState, Tx};
use crate::time::Timestamp;
use crate::trust::Scope;
use crate::wording;
use crate::wording::skill::{self as says, ApplyOutcome};

/// The decider and the channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionSource {
    /// A person, in a chat that no one else reads.
    Chat(PersonId),
    /// A person, in a browser that is signed in.
    Page(PersonId),
    /// Any user who can open the home.
    CommandLine,
}

/// The result of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decided {
    /// The skill is live.
    Live(String),
    /// The skill was deleted.
    Deleted(String),
    /// The proposal was rejected.
    Rejected,
    /// The folder holds other content now; nothing was changed.
    Conflict,
    /// The decision counts, but cannot be written now.
    Later,
    /// The decision did not count.
    Not(DecisionError),
}

/// The reason why a decision did not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecisionError {
    /// No such proposal or version.
    Unknown,
    /// The decider is not an owner.
    NotAllowed,
    /// The digest is not the displayed one, or is too short.
    WrongHash,
    /// The word that names what the change newly does is missing.
    WordMissing(&'static str),
    /// Already decided, with the proposal's state.
    Over(ProposalState),
    /// The proposal has expired.
    Expired,
    /// The version was never accepted.
    NeverAccepted,
    /// The skill already has exactly this content.
    NoChange,
}

impl DecisionError {
    /// Returns the stored word.
    fn as_str(&self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::NotAllowed => "not allowed",
            Self::WrongHash => "wrong hash",
            Self::WordMissing(_) => "word missing",
            Self::Over(_) => "over",
            Self::Expired => "expired",
            Self::NeverAccepted => "never accepted",
            Self::NoChange => "no change",
        }
    }
}

impl DecisionSource {
    fn as_str(self) -> &'static str {
        match self {
            Self::Chat(_) => "chat",
            Self::Page(_) => "page",
            Self::CommandLine => "command line",
        }
    }

    fn person(self) -> Option<PersonId> {
        match self {
            Self::Chat(person) | Self::Page(person) => Some(person),
            Self::CommandLine => None,
        }
    }

    /// Returns whether the decider is an owner now, according to the journal.
    fn is_owner(self, tx: Tx<'_>) -> anyhow::Result<bool> {
        match self {
            Self::Chat(id) | Self::Page(id) => tx.people().is_owner(id),
            Self::CommandLine => Ok(true),
        }
    }
}

impl Review {
    /// Approves a proposal and applies it. `word` names the gravest thing that it newly does, if
    /// that needs a word.
    ///
    /// # Errors
    /// If the journal or the folder cannot be used.
    pub async fn approve(
        &self,
        id: ProposalId,
        typed: &str,
        word: &str,
        by: DecisionSource,
    ) -> anyhow::Result<Decided> {
        let _guard = Arc::clone(&self.0.write_lock).lock_owned().await;
        self.scan_locked().await?;
        let Some(row) = self.0.journal.read(|db| db.proposals().proposal(id)).await? else {
            return Ok(Decided::Not(DecisionError::Unknown));
        };
        let present = self.present_content(&row.skill).await?.as_ref().map(SkillFolder::digest);
        let (typed, word) = (typed.to_owned(), word.to_owned());
        let attempt = DecisionAttempt { act: "approve", by, at: self.0.clock.now() };
        let approve = move |tx: Tx<'_>, proposal: &Proposal| {
            // The digest of the rows as they are now, not the stored digest.
            let digest = proposal.digest();
            let is_meant = digest.is_meant_by(&typed) && digest.as_str() == proposal.row.digest;
            let missing = proposal.effects.word().filter(|wanted| !word.eq_ignore_ascii_case(wanted));
            let refusal = match (is_meant, missing) {
                (false, _) => Some(DecisionError::WrongHash),
                (true, missing) => missing.map(DecisionError::WordMissing),
            };
            let outcome = refusal.as_ref().map_or("done", DecisionError::as_str);
            attempt.store(tx, Some(id), &proposal.row.skill, outcome)?;
            if let Some(refusal) = refusal {
                return Ok(Decided::Not(refusal));
            }
            let approval = Approval::new(id, digest, Decider::Owner { person: by.person() });
            take(tx, approval, present.as_ref(), attempt.at)
        };
        let job = move |tx: Tx<'_>| attempt.decide_and_tell(tx, id, approve);
        let (decided, told) = self.0.journal.write("approve a proposal", job).await?;
        told.into_iter().for_each(|address| self.0.notifier.posted(address));
        self.finish(decided).await
    }

    /// Rejects a proposal. The same change cannot be proposed again.
    pub async fn reject(&self, id: ProposalId, reason: &str, by: DecisionSource) -> anyhow::Result<Decided> {
        let reason = reason.to_owned();
        let attempt = DecisionAttempt { act: "reject", by, at: self.0.clock.now() };
        let reject = move |tx: Tx<'_>, proposal: &Proposal| {
            tx.proposals().settle_proposal(id, ProposalState::Rejected, &reason, attempt.at)?;
            attempt.store(tx, Some(id), &proposal.row.skill, "done")?;
            Ok(Decided::Rejected)
        };
        let job = move |tx: Tx<'_>| attempt.decide_and_tell(tx, id, reject);
        let (decided, told) = self.0.journal.write("reject a proposal", job).await?;
        told.into_iter().for_each(|address| self.0.notifier.posted(address));
        Ok(decided)
    }

    /// Replaces the present version of a skill with an earlier one.
    ///
    /// # Errors
    /// If the journal or the folder cannot be used.
    pub async fn roll_back(&self, skill: &str, version: VersionNumber, by: DecisionSource) -> anyhow::Result<Decided> {
        let _guard = Arc::clone(&self.0.write_lock).lock_owned().await;
        self.scan_locked().await?;
        let present = self.stored_content(skill).await?.as_ref().map(SkillFolder::digest);
        let (skill, name) = (skill.to_owned(), skill.to_owned());
        let attempt = DecisionAttempt { act: "rollback", by, at: self.0.clock.now() };
        let job = move |tx: Tx<'_>| {
            let refusal = attempt.begin_roll_back(tx, &skill, version, present.as_ref())?;
            let outcome = refusal.as_ref().map_or("done", DecisionError::as_str);
            attempt.store(tx, None, &skill, outcome)?;
            Ok(refusal)
        };
        let refusal = self.0.journal.write("roll a skill back", job).await?;
        match refusal {
            Some(refusal) => Ok(Decided::Not(refusal)),
            None => self.finish(Decided::Live(name)).await,
        }
    }

    /// Applies the changes that a decision intends, and returns the result.
    pub(super) async fn finish(&self, decided: Decided) -> anyhow::Result<Decided> {
        if !matches!(decided, Decided::Live(_) | Decided::Deleted(_)) {
            return Ok(decided);
        }
        let applied = self.carry_out().await?;
        self.scan_locked().await?;
        Ok(match applied {
            ApplyOutcome::Done => decided,
            ApplyOutcome::Conflict => Decided::Conflict,
            ApplyOutcome::Later => Decided::Later,
        })
    }
}

/// An attempt of a decider. It is stored with its outcome.
#[derive(Clone, Copy)]
struct DecisionAttempt {
    act: &'static str,
    by: DecisionSource,
    at: Timestamp,
}

impl DecisionAttempt {
    /// Decides about the proposal like [`decide_open`](Self::decide_open), and tells the other
    /// owners. Returns the addresses that have something to deliver as well: what they are told, or
    /// the decision in place of the buttons.
    fn decide_and_tell(
        self,
        tx: Tx<'_>,
        id: ProposalId,
        decide: impl FnOnce(Tx<'_>, &Proposal) -> anyhow::Result<Decided>,
    ) -> anyhow::Result<(Decided, Vec<AddressId>)> {
        let decided = self.decide_open(tx, id, decide)?;
        let mut addresses = self.tell_others(tx, id, &decided)?;
        addresses.extend(tx.outbox().addresses_with_decided_buttons()?);
        Ok((decided, addresses))
    }

    fn tell_others(self, tx: Tx<'_>, id: ProposalId, decided: &Decided) -> anyhow::Result<Vec<AddressId>> {
        let state = match decided {
            Decided::Live(_) | Decided::Deleted(_) | Decided::Later => "approved",
            Decided::Rejected => "rejected",
            Decided::Conflict | Decided::Not(_) => return Ok(Vec::new()),
        };
        let is_told = tx.proposals().proposal(id)?.is_some_and(|row| row.told);
        let mut others = tx.people().reachable_owners()?;
        for (owner, address) in others.iter().filter(|(owner, _)| self.by.person().is_none_or(|by| by == *owner)) {
            tx.sent().record_decision(*address, Cause::proposal(id), Scope::Person(*owner), self.at)?;
        }
        if !is_told || others.len() < 2 {
            return Ok(Vec::new());
        }
        others.retain(|(owner, _)| Some(*owner) != self.by.person());
        let by = self.by.person().map(|id| tx.people().person(id)).transpose()?.flatten();
        let words = says::decided_by(id, state, by.as_ref().map(|person| &*person.name));
        for (owner, address) in &others {
            let text = wording::own(words.clone(), Scope::Person(*owner));
            tx.outbox().post(&NewOutbox::about(Cause::proposal(id), *address, &text, self.at))?;
        }
        Ok(others.into_iter().map(|(_, address)| address).collect())
    }

    /// Decides about the proposal, if this owner still can.
    fn decide_open(
        self,
        tx: Tx<'_>,
        id: ProposalId,
        decide: impl FnOnce(Tx<'_>, &Proposal) -> anyhow::Result<Decided>,
    ) -> anyhow::Result<Decided> {
        let Some(proposal) = Proposal::load(*tx, id)? else { return Ok(Decided::Not(DecisionError::Unknown)) };
        let refusal = if !self.by.is_owner(tx)? {
            DecisionError::NotAllowed
        } else if proposal.row.state != ProposalState::Pending {
            DecisionError::Over(proposal.row.state)
        } else if proposal.row.is_late(self.at) {
            tx.proposals().settle_proposal(id, ProposalState::Expired, "", self.at)?;
            DecisionError::Expired
        } else {
            return decide(tx, &proposal);
        };
        self.store(tx, Some(id), &proposal.row.skill, refusal.as_str())?;
        Ok(Decided::Not(refusal))
    }

    fn begin_roll_back(
        self,
        tx: Tx<'_>,
        skill: &str,
        version: VersionNumber,
        present: Option<&Digest>,
    ) -> anyhow::Result<Option<DecisionError>> {
        if !self.by.is_owner(tx)? {
            return Ok(Some(DecisionError::NotAllowed));
        }
        let Some(row) = tx.skills().versions_of(skill)?.into_iter().find(|row| row.number == version) else {
            return Ok(Some(DecisionError::Unknown));
        };
        if !row.accepted {
            return Ok(Some(DecisionError::NeverAccepted));
        }
        if present.is_some_and(|digest| digest.as_str() == row.digest) {
            return Ok(Some(DecisionError::NoChange));
        }
        let files = tx.skills().files_of_version(row.id)?;
        let base = present.map_or("", Digest::as_str);
        let new = apply::begin_accepted(tx, skill, base, "rollback", &files, &row.label, self.at)?;
        tx.derivations().derive(crate::store::Node::Version(new), crate::store::Node::Version(row.id))?;
        Ok(None)
    }

    fn store(self, tx: Tx<'_>, proposal: Option<ProposalId>, skill: &str, outcome: &str) -> anyhow::Result<()> {
        tx.proposals().add_decision(&NewDecision {
            proposal,
            skill,
            act: self.act,
            outcome,
            decider: "owner",
            person: self.by.person(),
            way: self.by.as_str(),
            at: self.at,
        })
    }
}

/// Consumes an approval: a held folder becomes accepted as it is, anything else is stored as an
/// intended change, which [`Review::finish`] applies.
pub(super) fn take(
    tx: Tx<'_>,
    approval: Approval,
    present: Option<&Digest>,
    now: Timestamp,
) -> anyhow::Result<Decided> {
    let id = approval.proposal();
    let Some(row) = tx.proposals().proposal(id)? else { return Ok(Decided::Not(DecisionError::Unknown)) };
    if present.map_or("", Digest::as_str) != row.base {
        tx.proposals().settle_proposal(id, ProposalState::Conflict, "", now)?;
        return Ok(Decided::Conflict);
    }
    tx.proposals().settle_proposal(id, ProposalState::Approved, "", now)?;
    if row.origin == OriginKind::Folder {
        if let Some(version) = tx.skills().version_with(&row.skill, &row.content)? {
            let proposal = Proposal::load(*tx, id)?.context("An approved proposal vanished")?;
            apply::accept(tx, &approval, &proposal, version.id)?;
            tx.skills().skill_is_live(&version)?;
        }
        return Ok(Decided::Live(row.skill));
    }
    let name = if row.change == "rename" { row.new_name } else { row.skill };
    apply::begin(tx, approval, now)?;
    Ok(if row.change == "delete" { Decided::Deleted(name) } else { Decided::Live(name) })
}
