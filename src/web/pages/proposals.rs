//! Proposals: the list, and one of them with all that its owner decides by.
//!
//! The form to approve stands after the last line of the diff and carries the hash that was shown,
//! so nothing that took the place of the shown text can be approved. No key sends it.

use std::sync::Arc;

use axum::extract::{Form, Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use super::LISTED;
use crate::admin::{PageRequest, ProposalView};
use crate::id::ProposalId;
use crate::review::reveal::reveal;
use crate::review::{Decided, DecisionError, DecisionSource, show};
use crate::store::{OriginKind, ProposalRow, ProposalState, ReviewStage, VerdictRow};
use crate::web::pages::skills;
use crate::web::session::Owner;
use crate::web::visitor::Visitor;
use crate::web::{Web, html as render, layout, texts};
use crate::wording::page::skills as says;
use crate::wording::skill::TAMPERED;
use crate::wording::{Language, page, review};

/// Place in the list.
#[derive(Deserialize)]
pub struct ListQuery {
    before: Option<i64>,
}

/// An approval of exactly what was shown.
#[derive(Deserialize)]
pub struct ApproveForm {
    hash: String,
    #[serde(default)]
    word: String,
}

/// A refusal.
#[derive(Deserialize)]
pub struct RefuseForm {
    reason: String,
}

/// Lists proposals, newest first.
pub async fn list(
    Owner(visitor): Owner,
    (State(web), Query(ListQuery { before })): (State<Arc<Web>>, Query<ListQuery>),
) -> Response {
    let request = PageRequest { before, limit: LISTED };
    let page = match web.admin.skills_and_proposals().proposals_with_stages(request).await {
        Ok(page) => page,
        Err(error) => return layout::failure(&error),
    };
    let main = html! {
        (skills::tabs("/proposals"))
        @if page.items.is_empty() { p { (says::NO_PROPOSALS) } }
        ol.rows { @for item in &page.items { li { (row(&item.row, &item.stages, &visitor)) } } }
        @if let Some(next) = page.next { p { a.button rel="next" href={ "/proposals?before=" (next) } { "Older" } } }
    };
    layout::page(Some(&visitor), "/skills", "Proposals", main).into_response()
}

/// Renders a proposal in a list, with the results of its stages.
pub fn row(row: &ProposalRow, stages: &[VerdictRow], visitor: &Visitor) -> Markup {
    html! {
        a.title href={ "/proposals/" (row.id) } { bdi { (title(row)) } }
        p.facts {
            (says::state(row.state.as_str())) " · " (render::time(row.created_at, visitor.zone, visitor.now))
        }
        @if !stages.is_empty() { p.facts { @for (at, stage) in stages.iter().enumerate() { @if at > 0 { " · " } (mark(stage)) } } }
        (texts::sources(&row.label))
    }
}

fn title(row: &ProposalRow) -> String {
    let change = review::change(
        Language::ENGLISH,
        row.origin.as_str(),
        &row.change,
        &reveal(&row.skill),
        &reveal(&row.new_name),
    );
    says::title(row.id, &change)
}

fn mark(stage: &VerdictRow) -> Markup {
    let (name, outcome) = (stage.stage.as_str(), stage.outcome.as_str());
    html! {
        span title=(says::stage(name, outcome, "")) { (says::stage_name(name)) " " (says::mark(outcome)) }
    }
}

/// Shows a proposal, with the decision at its end.
pub async fn proposal(Owner(visitor): Owner, (State(web), Path(id)): (State<Arc<Web>>, Path<u32>)) -> Response {
    web.proposal_page(&visitor, ProposalId(id.into()), StatusCode::OK, None).await
}

/// Approves exactly what was shown.
pub async fn approve(
    Owner(visitor): Owner,
    (State(web), Path(id), Form(ApproveForm { hash, word })): (State<Arc<Web>>, Path<u32>, Form<ApproveForm>),
) -> Response {
    let (id, by) = (ProposalId(id.into()), DecisionSource::Page(visitor.person.id));
    let decided = web.admin.review.approve(id, hash.trim(), word.trim(), by).await;
    web.decided(&visitor, id, decided).await
}

/// Refuses a proposal.
pub async fn refuse(
    Owner(visitor): Owner,
    (State(web), Path(id), Form(RefuseForm { reason })): (State<Arc<Web>>, Path<u32>, Form<RefuseForm>),
) -> Response {
    let (id, by) = (ProposalId(id.into()), DecisionSource::Page(visitor.person.id));
    let decided = web.admin.review.reject(id, reason.trim(), by).await;
    web.decided(&visitor, id, decided).await
}

impl Web {
    /// Shows the result of a decision: the proposal as it became, or why the decision did not
    /// count.
    async fn decided(&self, visitor: &Visitor, id: ProposalId, decided: anyhow::Result<Decided>) -> Response {
        let refusal = match decided {
            Err(error) => return layout::failure(&error),
            Ok(Decided::Live(_) | Decided::Deleted(_) | Decided::Rejected) => {
                return Redirect::to(&format!("/proposals/{id}")).into_response();
            }
            Ok(Decided::Later) => {
                return self.proposal_page(visitor, id, StatusCode::OK, Some(review::LATER.to_owned())).await;
            }
            Ok(Decided::Conflict) => review::conflict(id),
            Ok(Decided::Not(why)) => match why {
                DecisionError::NotAllowed => {
                    return layout::message(Some(visitor), StatusCode::FORBIDDEN, page::OWNER_ONLY);
                }
                DecisionError::WordMissing(word) => says::word_missing(review::newly(word), word),
                DecisionError::Over(state) => match self.successor(id, state).await {
                    Ok(Some(present)) => {
                        let sentence = says::changed_since_shown(id, present);
                        return self.proposal_page(visitor, present, StatusCode::CONFLICT, Some(sentence)).await;
                    }
                    Ok(None) => review::over(id, state.as_str()),
                    Err(error) => return layout::failure(&error),
                },
                DecisionError::Expired => review::expired(id),
                DecisionError::WrongHash | DecisionError::NeverAccepted | DecisionError::NoChange => {
                    says::NOT_WHAT_WAS_SHOWN.to_owned()
                }
                DecisionError::Unknown => {
                    return layout::message(Some(visitor), StatusCode::NOT_FOUND, page::NOT_FOUND);
                }
            },
        };
        self.proposal_page(visitor, id, StatusCode::CONFLICT, Some(refusal)).await
    }

    /// Returns the proposal about the present content of a folder, if that of an earlier content is
    /// void.
    async fn successor(&self, id: ProposalId, state: ProposalState) -> anyhow::Result<Option<ProposalId>> {
        let old = self.admin.review.proposal(id).await?.filter(|_| state == ProposalState::Expired);
        match old.filter(|old| old.row.origin == OriginKind::Folder) {
            Some(old) => self.admin.skills_and_proposals().pending_for(&old.row.skill).await,
            None => Ok(None),
        }
    }

    async fn proposal_page(
        &self,
        visitor: &Visitor,
        id: ProposalId,
        status: StatusCode,
        notice: Option<String>,
    ) -> Response {
        let view = match self.admin.skills_and_proposals().proposal_view(id, visitor.locale()).await {
            Ok(Some(view)) => view,
            Ok(None) => return layout::message(Some(visitor), StatusCode::NOT_FOUND, page::NOT_FOUND),
            Err(error) => return layout::failure(&error),
        };
        let skill = &view.proposal.row.skill;
        let present = match view.proposal.row.state {
            ProposalState::Conflict => self.admin.skills_and_proposals().skill(skill).await.ok(),
            _ => None,
        };
        let main = html! {
            @if let Some(notice) = &notice { p.problem role="alert" { (notice) } }
            (whole(&view, visitor))
            @if let Some(live) = present.and_then(|report| report.live) {
                section {
                    h2 { (says::SKILL_AS_IT_IS) }
                    (texts::boxed(&live.label, skills::files(&live.skill.content)))
                }
            }
        };
        (status, layout::page(Some(visitor), "/skills", &title(&view.proposal.row), main)).into_response()
    }
}

/// Everything that an owner decides by, and the decision at its end.
fn whole(view: &ProposalView, visitor: &Visitor) -> Markup {
    let (proposal, label) = (&view.proposal, view.label());
    let shown = |parts: &[String]| render::markdown(&parts.join("\n\n"), &label);
    let before_stages = [show::in_short(proposal), show::reasons(proposal)].concat();
    html! {
        section { (texts::boxed(&label, shown(&before_stages))) }
        section {
            h2 { "Stages" }
            // What the reviewer says stands in the box below.
            ul { @for stage in proposal.verdicts.iter().filter(|stage| stage.stage != ReviewStage::Reviewer) {
                li { (says::mark(stage.outcome.as_str())) " " bdi { (says::stage(stage.stage.as_str(), stage.outcome.as_str(), &reveal(&stage.note))) } }
            } }
            (texts::boxed(&label, shown(&show::advice(proposal))))
        }
        (origin(view, visitor))
        section {
            h2 { "The change" }
            (texts::boxed(&label, render::diff(&show::changes(proposal))))
        }
        (decision(view, visitor))
    }
}

/// Author, outcome, and the chain back to the first text from outside.
fn origin(view: &ProposalView, visitor: &Visitor) -> Markup {
    let steps: Vec<String> = std::iter::once(show::origin(&view.proposal)).chain(view.origin.iter().cloned()).collect();
    html! { section {
        h2 { "Where it comes from" }
        @if let Some((version, is_used)) = &view.version {
            p {
                "It became " a href=(skills::address(&version.skill)) { "version " (version.number) " of " bdi { (reveal(&version.skill)) } }
                ", " (render::time(version.made_at, visitor.zone, visitor.now))
                @if *is_used { ", which is in use." } @else { ", which is not in use now." }
            }
        }
        (render::markdown(&steps.join("\n\n"), &view.label()))
    } }
}

fn decision(view: &ProposalView, visitor: &Visitor) -> Markup {
    let row = &view.proposal.row;
    let digest = view.proposal.digest();
    html! { section {
        h2 { "Decision" }
        @if row.state != ProposalState::Pending {
            @match &view.decision {
                Some((decision, owner)) => p {
                    (says::decision(&decision.act, &decision.decider, owner.as_deref(), &decision.way)) ", "
                    (render::time(decision.at, visitor.zone, visitor.now)) "."
                },
                None => p { "It is " (says::state(row.state.as_str())) "." },
            }
            @if !row.reason.is_empty() { p { "The reason:" } (render::verbatim(&row.reason)) }
        } @else if view.is_intact() {
            p { (says::READ_TO_THE_END) }
            p { "Hash: " code.address { (digest) } }
            form method="post" action={ "/proposals/" (row.id) "/approve" } autocomplete="off" {
                input type="hidden" name="hash" value=(digest);
                @if let Some(word) = view.proposal.effects.word() {
                    label { (says::word_needed(review::newly(word), word)) input name="word" required; }
                }
                button type="submit" { "Approve exactly this" }
            }
            (refusal(row.id))
        } @else {
            p.problem { (TAMPERED) }
            (refusal(row.id))
        }
    } }
}

fn refusal(id: ProposalId) -> Markup {
    html! {
        form method="post" action={ "/proposals/" (id) "/refuse" } {
            label { "Reason, if you like: the assistant learns it" input name="reason" maxlength="500"; }
            button type="submit" { "Refuse" }
        }
    }
}
