//! Commands about proposals: the pending list, one proposal in full, approval, rejection, and
//! origin.
//!
//! The review decides; this module turns an owner's command into a request, and the result into one
//! sentence with the next step. Lists show no hashes: without having seen the whole proposal an
//! owner cannot approve it.

use crate::admin::SkillsAdmin;
use serde_json::{Value, json};

use super::answer::{Answer, ShownLabel, plain, sources, with_fields};
use crate::id::ProposalId;
use crate::review::show::{self, DisplayedText as Page};
use crate::review::{Decided, DecisionError, DecisionSource, Proposal, diff, why};
use crate::store::{ProposalRow, ProposalState};
use crate::time::Timestamp;
use crate::wording::command::OWNER_ONLY;
use crate::wording::review::{self as says, Surface};
use crate::wording::skill::TAMPERED;
use crate::wording::why::all_in_words;

/// Maximum number of proposals listed on the command line, including decided ones.
const LISTED: u32 = 100;
/// Minimum number of hash digits.
const MIN_DIGITS: usize = 8;

impl SkillsAdmin<'_> {
    /// Lists the proposals that wait for the owner.
    pub async fn pending(&self) -> anyhow::Result<Answer> {
        let rows = self.review.pending().await?;
        Ok(self.list(&rows, Surface::Chat, says::NOTHING_WAITS))
    }

    /// Lists the newest proposals, including decided ones.
    pub async fn proposals(&self) -> anyhow::Result<Answer> {
        let rows = self.review.proposals(LISTED).await?;
        Ok(self.list(&rows, Surface::CommandLine, says::NO_PROPOSALS))
    }

    /// Shows a proposal in full, or in chat how to view it if it is too long.
    pub async fn show(&self, id: ProposalId, surface: Surface) -> anyhow::Result<Answer> {
        let Some(proposal) = self.review.proposal(id).await? else { return Ok(unknown(id, surface)) };
        Ok(page(
            &proposal,
            match surface {
                Surface::Chat => show::in_chat(&proposal),
                Surface::CommandLine => show::whole(&proposal, surface),
            },
        ))
    }

    /// Makes a proposal live, if `hash` is that of the proposal shown.
    pub async fn approve(&self, id: ProposalId, hash: &str, by: DecisionSource) -> anyhow::Result<Answer> {
        if hash.is_empty() {
            return Ok(Answer::refusal(says::hash_missing(id, surface_of(by))));
        }
        match self.review.approve(id, hash, by).await? {
            Decided::Not(DecisionError::WrongHash) => self.wrong_hash(id, hash, surface_of(by)).await,
            decided => self.decided(id, decided, surface_of(by)).await,
        }
    }

    /// Rejects a proposal permanently.
    pub async fn reject(&self, id: ProposalId, why: &str, by: DecisionSource) -> anyhow::Result<Answer> {
        let decided = self.review.reject(id, why, by).await?;
        self.decided(id, decided, surface_of(by)).await
    }

    /// Traces a proposal back to the messages where its text came in.
    pub async fn why(&self, id: ProposalId) -> anyhow::Result<Answer> {
        let zone = self.zone;
        let read = move |db: crate::store::Db<'_>| {
            let Some(row) = db.proposals().proposal(id)? else { return Ok(None) };
            Ok(why::chains(db, id, zone)?.map(|lines| (row, lines)))
        };
        let Some((row, lines)) = self.journal.read_much(read).await? else { return Ok(unknown(id, Surface::Chat)) };
        let mut shown = ShownLabel::nothing();
        shown.also(&row.label);
        Ok(Answer::showing(
            shown,
            lines.join("\n"),
            json!({ "id": id, "lines": lines, "sources": sources(&row.label) }),
        ))
    }

    fn list(&self, rows: &[ProposalRow], surface: Surface, empty: &str) -> Answer {
        if rows.is_empty() {
            return Answer::ours(empty, json!([]));
        }
        let mut shown = ShownLabel::nothing();
        let mut lines: Vec<String> = rows.iter().map(|row| self.entry(row, &mut shown)).collect();
        lines.push(format!("\n{}", says::how_to_look(surface)));
        Answer::showing(shown, lines.join("\n"), rows.iter().map(row_json).collect())
    }

    fn entry(&self, row: &ProposalRow, shown: &mut ShownLabel) -> String {
        shown.also(&row.label);
        let how = match row.state {
            ProposalState::Pending => standing_of(row),
            state => says::ended(state.as_str()).to_owned(),
        };
        says::entry(row.id, &change_of(row), &how, self.clock.now().since(row.created_at))
    }

    /// Reports the result of a decision in one sentence.
    async fn decided(&self, id: ProposalId, decided: Decided, surface: Surface) -> anyhow::Result<Answer> {
        let mut shown = ShownLabel::nothing();
        if let Some(proposal) = self.review.proposal(id).await? {
            shown.also(&proposal.row.label);
        }
        let done = |shown, words: String, state: &str, skill: Option<&str>| {
            Answer::showing(shown, words, json!({ "id": id, "state": state, "skill": skill }))
        };
        Ok(match decided {
            Decided::Live(skill) => done(shown, says::live(&plain(&skill)), "approved", Some(&skill)),
            Decided::Deleted(skill) => done(shown, says::deleted(&plain(&skill), surface), "approved", Some(&skill)),
            Decided::Rejected => done(ShownLabel::nothing(), says::rejected(id), "rejected", None),
            Decided::Later => done(ShownLabel::nothing(), says::LATER.to_owned(), "approved", None),
            Decided::Conflict => Answer::refusal(says::conflict(id)),
            Decided::Not(refusal) => refused(id, &refusal, surface),
        })
    }

    /// Reports tampering if rows were changed behind the program's back, because a correct hash
    /// then no longer matches.
    async fn wrong_hash(&self, id: ProposalId, typed: &str, surface: Surface) -> anyhow::Result<Answer> {
        let intact =
            |proposal: Option<Proposal>| proposal.is_none_or(|found| found.digest().as_str() == found.row.digest);
        Ok(Answer::refusal(if !intact(self.review.proposal(id).await?) {
            TAMPERED.to_owned()
        } else if typed.chars().count() < MIN_DIGITS {
            says::hash_too_short(id, surface)
        } else {
            says::wrong_hash(id, surface)
        }))
    }
}

/// The form in which the next command is written.
pub(super) fn surface_of(by: DecisionSource) -> Surface {
    match by {
        DecisionSource::Chat(_) => Surface::Chat,
        DecisionSource::CommandLine => Surface::CommandLine,
    }
}

/// The effect of a proposal, on one line of Markdown.
pub(super) fn change_of(row: &ProposalRow) -> String {
    says::change(row.origin.as_str(), &row.change, &plain(&row.skill), &plain(&row.new_name))
}

/// The reason why a proposal waits, on one line of Markdown.
pub(super) fn standing_of(row: &ProposalRow) -> String {
    says::standing(row.clearance.as_str(), &plain(&all_in_words(&row.label)))
}

fn refused(id: ProposalId, refusal: &DecisionError, surface: Surface) -> Answer {
    Answer::refusal(match refusal {
        DecisionError::Unknown | DecisionError::NeverAccepted | DecisionError::NoChange => return unknown(id, surface),
        DecisionError::NotAllowed => OWNER_ONLY.to_owned(),
        DecisionError::WrongHash => says::wrong_hash(id, surface),
        DecisionError::Over(state) => says::over(id, state.as_str()),
        DecisionError::Expired => says::expired(id),
    })
}

fn unknown(id: ProposalId, surface: Surface) -> Answer {
    Answer::refusal(says::no_such_proposal(id, surface))
}

fn page(proposal: &Proposal, page: Page) -> Answer {
    let mut shown = ShownLabel::nothing();
    shown.also(&page.label);
    let row = &proposal.row;
    let stages = proposal.verdicts.iter();
    let stages =
        stages.map(|said| json!({ "stage": said.stage.as_str(), "outcome": said.outcome.as_str(), "note": said.note }));
    let json = with_fields(
        row_json(row),
        json!({
            "rationale": row.rationale,
            "reason": row.reason,
            "diff": diff::diff(proposal.base.as_ref(), proposal.result.as_ref()),
            "findings": proposal.findings(),
            "stages": stages.collect::<Value>(),
            "intact": proposal.digest().as_str() == row.digest,
            "page": page.markdown,
        }),
    );
    Answer::showing(shown, page.markdown, json).with_buttons(page.buttons)
}

fn row_json(row: &ProposalRow) -> Value {
    json!({
        "id": row.id,
        "skill": row.skill,
        "change": row.change,
        "new_name": row.new_name,
        "state": row.state.as_str(),
        "standing": row.clearance.as_str(),
        "tainted": !row.label.is_trusted(),
        "sources": sources(&row.label),
        "hash": row.digest,
        "created_at": row.created_at.rfc3339(),
        "expires_at": row.expires_at.map(Timestamp::rfc3339),
        "from": row.origin.as_str(),
    })
}

#[cfg(test)]
mod tests;
