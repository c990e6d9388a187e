//! Commands about proposals: the pending list, one proposal in full, approval, rejection, and
//! origin.
//!
//! The review decides; this module turns an owner's command into a request, and the result into one
//! sentence with the next step. Lists show no hashes: without having seen the whole proposal an
//! owner cannot approve it.

mod view; // proposals for a page

pub use view::{ProposalItem, ProposalView};

use std::collections::BTreeMap;

use crate::admin::SkillsAdmin;
use crate::admin::memory::OriginReport;
use serde_json::{Value, json};

use super::answer::{Answer, CommandError, Render, RenderContext, ShownLabel, plain, sources, with_fields};
use super::paging::{Page, PageRequest};
use crate::id::ProposalId;
use crate::review::show::{self, DisplayedText};
use crate::review::{Decided, DecisionError, DecisionSource, Proposal, diff, why};
use crate::store::{ProposalRow, ProposalState};
use crate::time::Timestamp;
use crate::wording::command::OWNER_ONLY;
use crate::wording::review::{self as says, Surface};
use crate::wording::skill::{REJECT, TAMPERED};
use crate::wording::{Language, Locale};

/// Minimum number of hash digits.
const MIN_DIGITS: usize = 8;

impl SkillsAdmin<'_> {
    /// The proposals that wait for the owner.
    pub(super) async fn pending(&self) -> anyhow::Result<ProposalsReport> {
        let page = Page { items: self.review.pending().await?, next: None };
        self.proposals_report(page, true).await
    }

    /// The newest proposals, including decided ones.
    pub(super) async fn proposals(&self, request: PageRequest) -> anyhow::Result<ProposalsReport> {
        let (before, limit) = request.bounds();
        let page = request.cut(self.review.proposals(before, limit).await?, |row| row.id.0);
        self.proposals_report(page, false).await
    }

    async fn proposals_report(&self, page: Page<ProposalRow>, only_pending: bool) -> anyhow::Result<ProposalsReport> {
        let mut waiting = BTreeMap::new();
        for row in page.items.iter().filter(|row| row.state == ProposalState::Pending) {
            waiting.extend(self.review.proposal(row.id).await?.map(|proposal| (row.id, proposal)));
        }
        Ok(ProposalsReport { page, waiting, at: self.clock.now(), only_pending })
    }

    /// A proposal in full.
    pub(super) async fn proposal(&self, id: ProposalId, surface: Surface) -> Result<ProposalReport, CommandError> {
        let Some(proposal) = self.review.proposal(id).await? else { return Err(unknown(id, surface).into()) };
        let page = match surface {
            Surface::Chat(_) => show::in_chat(&proposal),
            Surface::CommandLine => show::whole(&proposal, surface),
        };
        Ok(ProposalReport { proposal, page })
    }

    /// Makes a proposal live, if `hash` is that of the proposal shown, and `word` names what it
    /// newly does.
    pub async fn approve(&self, id: ProposalId, hash: &str, word: &str, by: DecisionSource) -> anyhow::Result<Answer> {
        if hash.is_empty() {
            return Ok(Answer::refusal(says::hash_missing(id, surface_of(by))));
        }
        match self.review.approve(id, hash, word, by).await? {
            Decided::Not(DecisionError::WrongHash) => self.wrong_hash(id, hash, surface_of(by)).await,
            Decided::Not(DecisionError::WordMissing(word)) => {
                let buttons = vec![
                    (says::approve_with(word), format!("/approve {id} {hash} {word}")),
                    (REJECT.to_owned(), format!("/reject {id}")),
                ];
                Ok(Answer::refusal(says::word_missing(id, hash, word, surface_of(by))).with_buttons(buttons))
            }
            decided => self.decided(id, decided, surface_of(by)).await,
        }
    }

    /// Rejects a proposal permanently.
    pub async fn reject(&self, id: ProposalId, why: &str, by: DecisionSource) -> anyhow::Result<Answer> {
        let decided = self.review.reject(id, why, by).await?;
        self.decided(id, decided, surface_of(by)).await
    }

    /// A proposal's origin: the messages where its text came in.
    pub(super) async fn why(&self, id: ProposalId) -> Result<OriginReport, CommandError> {
        let locale = Locale { language: Language::ENGLISH, zone: self.zone, now: self.clock.now() };
        let read = move |db: crate::store::Db<'_>| {
            let Some(row) = db.proposals().proposal(id)? else { return Ok(None) };
            let lines = why::of_proposal(db, id, locale)?;
            Ok(lines.map(|lines| OriginReport { of: json!({ "id": id }), label: row.label, lines }))
        };
        let found = self.journal.read_much(read).await?;
        Ok(found.ok_or_else(|| unknown(id, Surface::Chat(Language::ENGLISH)))?)
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
        DecisionSource::Chat(_) | DecisionSource::Page(_) => Surface::Chat(Language::ENGLISH),
        DecisionSource::CommandLine => Surface::CommandLine,
    }
}

fn refused(id: ProposalId, refusal: &DecisionError, surface: Surface) -> Answer {
    Answer::refusal(match refusal {
        DecisionError::Unknown | DecisionError::NeverAccepted | DecisionError::NoChange => return unknown(id, surface),
        DecisionError::NotAllowed => OWNER_ONLY.in_language(Language::ENGLISH).into(),
        DecisionError::WrongHash | DecisionError::WordMissing(_) => says::wrong_hash(id, surface),
        DecisionError::Over(state) => says::over(id, state.as_str()),
        DecisionError::Expired => says::expired(id),
    })
}

fn unknown(id: ProposalId, surface: Surface) -> Answer {
    Answer::refusal(says::no_such_proposal(id, surface))
}

/// A list of proposals.
pub struct ProposalsReport {
    /// The proposals.
    pub page: Page<ProposalRow>,
    /// Those that wait, whole.
    waiting: BTreeMap<ProposalId, Proposal>,
    at: Timestamp,
    /// False if decided ones are listed as well.
    only_pending: bool,
}

impl ProposalsReport {
    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.page.items.is_empty()
    }
}

impl Render for ProposalsReport {
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        if self.is_empty() {
            return match self.only_pending {
                true => says::NOTHING_WAITS.in_language(context.language()).into_string(),
                false => says::NO_PROPOSALS.to_owned(),
            };
        }
        let language = context.language();
        let line = |row: &ProposalRow| {
            shown.also(&row.label);
            let how = match self.waiting.get(&row.id) {
                Some(proposal) => show::standing(proposal, language),
                None => says::ended(language, row.state.as_str()),
            };
            says::entry(language, row.id, &show::change(row, language), &how, self.at.since(row.created_at))
        };
        let lines: Vec<String> = self.page.items.iter().map(line).collect();
        let mut parts = vec![lines.join("\n")];
        parts.extend((!context.surface.is_chat()).then(|| says::how_to_look(context.surface)));
        parts.extend(self.page.more("/pending", context.surface));
        parts.join("\n\n")
    }

    fn json(&self, _: &RenderContext<'_>, _: &mut ShownLabel) -> Value {
        self.page.items.iter().map(row_json).collect()
    }

    fn buttons(&self, context: &RenderContext<'_>) -> Vec<(String, String)> {
        show::show_buttons(self.waiting.keys().copied(), context.language())
    }
}

/// A proposal, with the page that its owner decides on.
pub(super) struct ProposalReport {
    proposal: Proposal,
    page: DisplayedText,
}

impl Render for ProposalReport {
    fn markdown(&self, _: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        shown.also(&self.page.label);
        self.page.markdown.clone()
    }

    fn json(&self, _: &RenderContext<'_>, _: &mut ShownLabel) -> Value {
        let Self { proposal, page } = self;
        let row = &proposal.row;
        let stages = proposal.verdicts.iter();
        let stages = stages
            .map(|said| json!({ "stage": said.stage.as_str(), "outcome": said.outcome.as_str(), "note": said.note }));
        with_fields(
            row_json(row),
            json!({
                "rationale": row.rationale,
                "reason": row.reason,
                "diff": diff::diff(proposal.base.as_ref(), proposal.result.as_ref()),
                "effects": proposal.effects,
                "word": proposal.effects.word(),
                "findings": proposal.findings(),
                "stages": stages.collect::<Value>(),
                "intact": proposal.digest().as_str() == row.digest,
                "page": page.markdown,
            }),
        )
    }

    fn buttons(&self, _: &RenderContext<'_>) -> Vec<(String, String)> {
        self.page.buttons.clone()
    }
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
