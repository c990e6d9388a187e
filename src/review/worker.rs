//! Processes a proposal between its staging and the owner: asks the reviewer, applies the policy,
//! notifies the owners. They are told of an edit in place as well.
//!
//! All state is read from the rows, so a restart continues where it stopped: an unreviewed proposal
//! is reviewed, an unannounced one is announced once the turn that made it is over, so that it
//! never overtakes the answer, and the time to decide runs from then. Every owner who can be
//! reached is told; the text is shown unasked only to the one from whose conversations it comes, or
//! to all if there is none. The reviewer can only restrict what the policy allows: any answer
//! other than its clear yes leaves the proposal waiting. Its answer is as untrusted as the text
//! that it read. A setting that leaves out the reviewer leaves out nothing else.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::Context;
use tokio_util::sync::CancellationToken;

use super::approval_proof::{Approval, Decider};
use super::owner_decision;
use super::proposal::Proposal;
use super::reveal::reveal;
use super::reviewer::{self, ReviewSubject, Verdict};
use super::{Review, diff, label, show};
use crate::config::ReflectionReview;
use crate::id::{AddressId, PersonId, ProposalId, VersionId};
use crate::skill::SkillFolder;
use crate::spend::SpendCause;
use crate::store::{
    Cause, Clearance, Db, NewDecision, NewOutbox, OriginKind, PROPOSAL_WAITS, ProposalRow, ProposalState, ReviewStage,
    SkillRow, SlotRow, StageOutcome, Tx, VerdictRow,
};
use crate::text::one_line;
use crate::time::Timestamp;
use crate::time::clock::Wakeups;
use crate::time::task::guarded;
use crate::trust::{Label, Labelled, Scope, Text};
use crate::wording::{self, Language, prompt, review as words, skill as says};

/// The setting by which a reviewer approves a person's request.
const BY_REVIEW: &str = "[skills] review = \"ai\"";
/// The settings by which a reflection's proposal becomes live.
const BY_REFLECTION_AI: &str = "[reflection] review_mode = \"ai\"";
const BY_REFLECTION_NONE: &str = "[reflection] review_mode = \"none\"";

/// Above this number, held folders are announced in one message.
const MOST_ONE_BY_ONE: usize = 5;

/// Above this number of lines, an edit is counted and shown only on request.
const MOST_LINES: usize = 12;

/// The time for which further edits of a skill are collected after the owners were told of one.
const EDITS_TOGETHER: std::time::Duration = std::time::Duration::from_hours(1);

/// The pause after a journal failure.
const RETRY_PAUSE: std::time::Duration = std::time::Duration::from_secs(60);

/// Runs until the program stops.
pub(super) async fn run(review: Review, mut wakeups: Wakeups, stop: CancellationToken) {
    let (mut wake_at, mut busy) = (None, None);
    loop {
        busy = tokio::select! {
            () = stop.cancelled() => return,
            woken = wakeups.recv_or_timeout(&*review.0.clock, wake_at, busy) => woken,
        };
        if busy.is_none() {
            return;
        }
        let worker = ReviewWorker { review: &review };
        wake_at = tokio::select! {
            () = stop.cancelled() => return,
            done = guarded("The review of proposals", worker.work()) => match done {
                Ok(next) => next,
                Err(error) => {
                    tracing::error!("Reviewing a proposal failed: {error:#}");
                    Some(review.0.clock.now().plus(RETRY_PAUSE))
                }
            },
        };
    }
}

/// The steps of the worker on a gate.
struct ReviewWorker<'a> {
    review: &'a Review,
}

impl Deref for ReviewWorker<'_> {
    type Target = Review;

    fn deref(&self) -> &Review {
        self.review
    }
}

impl ReviewWorker<'_> {
    /// Does everything that is due, and returns when the next proposal expires.
    async fn work(&self) -> anyhow::Result<Option<Timestamp>> {
        loop {
            // A look stages everything that it holds before any of it is announced.
            let guard = self.0.write_lock.lock().await;
            let now = self.0.clock.now();
            let pending = self.0.journal.read(|db| db.proposals().pending_proposals()).await?;
            drop(guard);
            let is_notified = if let Some(late) = pending.iter().find(|row| row.is_late(now)) {
                self.expire(late.id, late.skill.clone()).await?;
                true
            } else if let Some(new) = pending.iter().find(|row| !row.reviewed) {
                self.review(new.id).await?;
                true
            } else if let Some(folders) = many_folders(&pending) {
                self.notify_of_folders(folders).await?
            } else if let Some(new) = self.announceable(&pending).await? {
                self.notify_pending(new).await?
            } else if let Some((id, words)) = self.unannounced_outcome().await? {
                self.notify_outcome(id, words).await?
            } else {
                let edited = self.0.journal.read(|db| db.skills().edited_skills()).await?;
                let (due, later): (Vec<_>, Vec<_>) = edited.into_iter().partition(|row| told_again_at(row) <= now);
                if due.is_empty() {
                    let told_again = later.iter().map(told_again_at).min();
                    return Ok(next_expiry(&pending, now).into_iter().chain(told_again).min());
                }
                self.notify_of_edits(due).await?
            };
            if !is_notified {
                self.0.notices_pending.store(true, Ordering::Relaxed);
                return Ok(next_expiry(&pending, now));
            }
        }
    }

    /// Returns the first unannounced proposal whose turn, and the run that it belongs to, is over.
    async fn announceable(&self, pending: &[ProposalRow]) -> anyhow::Result<Option<ProposalId>> {
        let rows: Vec<_> = pending.iter().filter(|row| !row.told).map(|row| (row.id, row.turn)).collect();
        // Set before the turns are read: one that ends meanwhile wakes the worker again.
        self.0.notices_pending.fetch_or(!rows.is_empty(), Ordering::Relaxed);
        let read = move |db: Db<'_>| {
            for (id, turn) in rows {
                if db.reflections().is_in_report(id)? {
                    continue;
                }
                let turn = turn.map(|turn| db.turns().turn(turn)).transpose()?.flatten();
                let Some(turn) = turn else { return Ok(Some(id)) };
                let is_unfinished = |slot: &SlotRow| slot.conversation == Some(turn.conversation);
                if !turn.is_open() && !db.slots().open_slots()?.iter().any(is_unfinished) {
                    return Ok(Some(id));
                }
            }
            Ok(None)
        };
        self.0.journal.read(read).await
    }

    /// Notifies the owners of many held folders in one message. Returns false if no owner has an
    /// address yet.
    async fn notify_of_folders(&self, folders: Vec<(ProposalId, String)>) -> anyhow::Result<bool> {
        let lines: Vec<(ProposalId, String)> =
            folders.into_iter().map(|(id, name)| (id, one_line(&reveal(&name)).replace('`', "'"))).collect();
        let (words, now) = (says::many_folders(&lines), self.0.clock.now());
        let buttons = show::show_buttons(lines.iter().map(|(id, _)| *id), Language::ENGLISH);
        let post = move |tx: Tx<'_>, address, owner| {
            // The names come from folders that were never accepted.
            let text: Text = Labelled::new(Arc::from(&*words), label::of_a_held_folder(), Scope::Person(owner));
            tx.outbox().post(&NewOutbox { buttons: &buttons, ..NewOutbox::notice(address, &text, now) }).map(drop)
        };
        let done = move |tx: Tx<'_>| lines.iter().try_for_each(|(id, _)| tx.proposals().mark_notified(*id, now));
        self.post_to_owners("tell of held folders", post, done).await
    }

    /// Notifies the owners of skills that were edited in place. Returns false if no owner has an
    /// address yet.
    async fn notify_of_edits(&self, skills: Vec<SkillRow>) -> anyhow::Result<bool> {
        let now = self.0.clock.now();
        let known: Vec<_> = skills.iter().map(|row| (row.name.clone(), row.version)).collect();
        let read = move |db: Db<'_>| skills.iter().map(|row| SkillEdit::of(db, row)).collect();
        let edits: Vec<SkillEdit> = self.0.journal.read(read).await?;
        let post = move |tx: Tx<'_>, address, owner| {
            let post = |words: &str, label: Label, buttons: &[(String, String)]| {
                let text: Text = Labelled::new(Arc::from(words), label, Scope::Person(owner));
                tx.outbox().post(&NewOutbox { buttons, ..NewOutbox::notice(address, &text, now) }).map(drop)
            };
            if edits.len() > MOST_ONE_BY_ONE {
                // Names that were accepted, without a word of the skills.
                return post(&says::many_edits(edits.iter().map(|edit| &*edit.name)), label::of_a_person(), &[]);
            }
            edits.iter().try_for_each(|edit| post(&edit.words, edit.label.clone(), &edit.buttons))
        };
        let done = move |tx: Tx<'_>| {
            let skills = tx.skills();
            known
                .iter()
                .filter_map(|(name, version)| version.map(|version| (name, version)))
                .try_for_each(|(name, version)| skills.version_is_known(name, version, Some(now)))
        };
        self.post_to_owners("tell of edited skills", post, done).await
    }

    /// Returns a proposal that a policy approved without a notice so far, and the notice.
    async fn unannounced_outcome(&self) -> anyhow::Result<Option<(ProposalId, String)>> {
        let read = |db: Db<'_>| {
            let Some(row) = db.proposals().unannounced_approval()? else { return Ok(None) };
            let is_intended = db.skills().intended_changes()?.iter().any(|change| change.proposal == Some(row.id));
            let ended = match (row.state, is_intended) {
                (ProposalState::Approved, true) => says::ApplyOutcome::Later,
                (ProposalState::Approved, false) => says::ApplyOutcome::Done,
                _ => says::ApplyOutcome::Conflict,
            };
            let setting = db.proposals().approved_under(row.id)?;
            let why = match setting.as_str() {
                BY_REFLECTION_NONE => says::passed_every_stage(row.id),
                _ => says::reviewer_approved(row.id),
            };
            Ok(Some((row.id, says::by_policy(row.id, &row.skill, &why, &setting, ended))))
        };
        self.0.journal.read(read).await
    }

    async fn expire(&self, id: ProposalId, skill: String) -> anyhow::Result<()> {
        let now = self.0.clock.now();
        let job = move |tx: Tx<'_>| {
            tx.proposals().settle_proposal(id, ProposalState::Expired, "", now)?;
            decided(tx, id, &skill, "expire", "program", "", now)?;
            tx.outbox().addresses_with_decided_buttons()
        };
        let addresses = self.0.journal.write("expire a proposal", job).await?;
        addresses.into_iter().for_each(|address| self.0.notifier.posted(address));
        Ok(())
    }

    /// Asks the reviewer once, stores the verdict, and approves if that is sufficient.
    async fn review(&self, id: ProposalId) -> anyhow::Result<()> {
        let Some(proposal) = self.0.journal.read(|db| Proposal::load(db, id)).await? else { return Ok(()) };
        let clean = is_clean(&proposal);
        let of_reflection = proposal.row.origin == OriginKind::Reflection;
        if clean && of_reflection && self.0.policy.reflections == ReflectionReview::Nobody {
            return self.approve_by_policy(id, Decider::Setting(BY_REFLECTION_NONE), BY_REFLECTION_NONE).await;
        }
        let policy = &self.0.policy;
        let (setting, is_set) = match of_reflection {
            true => (BY_REFLECTION_AI, policy.reflections == ReflectionReview::Ai),
            false => (BY_REVIEW, policy.reviewer_approves),
        };
        let may_approve = is_set && clean && proposal.effects.is_empty();
        let verdict = match may_approve && !self.0.reviewer.is_own {
            true => Verdict::None { why: words::NO_OWN_REVIEWER },
            false => self.ask(&proposal).await,
        };
        let approves = may_approve && matches!(verdict, Verdict::Safe { .. });
        let row = verdict_row(&verdict, &proposal);
        let (scope, now) = (proposal.row.scope, self.0.clock.now());
        let job = move |tx: Tx<'_>| {
            tx.proposals().add_verdict(id, &row, scope, now)?;
            tx.proposals().reviewed(id)
        };
        self.0.journal.write("keep a review", job).await?;
        if of_reflection {
            self.0.notifier.settled();
        }
        if approves { self.approve_by_policy(id, Decider::Reviewer, setting).await } else { Ok(()) }
    }

    async fn ask(&self, proposal: &Proposal) -> Verdict {
        let row = &proposal.row;
        let findings = proposal.findings();
        let subject = ReviewSubject {
            skill: &row.skill,
            change: &proposal.change,
            diff: &diff::diff(proposal.base.as_ref(), proposal.result.as_ref()),
            rationale: &row.rationale,
            findings: &findings,
            effects: &proposal.effects,
            clearance: row.clearance,
        };
        let Ok(request) = reviewer::request(&Labelled::new(subject, row.label.clone(), row.scope)) else {
            return Verdict::None { why: says::REVIEW_IMPOSSIBLE };
        };
        let on_behalf = SpendCause { turn: row.turn, person: row.person };
        reviewer::ask(&self.0.reviewer.models, &request, &on_behalf, &*self.0.clock).await
    }

    async fn approve_by_policy(&self, id: ProposalId, by: Decider, setting: &'static str) -> anyhow::Result<()> {
        let _guard = Arc::clone(&self.0.write_lock).lock_owned().await;
        let Some(row) = self.0.journal.read(|db| db.proposals().proposal(id)).await? else { return Ok(()) };
        let present = self.present_content(&row.skill).await?.as_ref().map(SkillFolder::digest);
        let now = self.0.clock.now();
        let job = move |tx: Tx<'_>| {
            let Some(proposal) = Proposal::load(*tx, id)?.filter(|p| p.row.state == ProposalState::Pending) else {
                return Ok(None);
            };
            let digest = proposal.digest();
            anyhow::ensure!(digest.as_str() == proposal.row.digest, "A proposal was changed in the journal");
            let (skill, scope) = (&proposal.row.skill, proposal.row.scope);
            match by {
                Decider::Setting(_) => {
                    let skipped = reviewer_row(StageOutcome::Skipped, says::NOT_REVIEWED, label::of_the_program());
                    tx.proposals().add_verdict(id, &skipped, scope, now)?;
                    tx.proposals().reviewed(id)?;
                    decided(tx, id, skill, "approve", "program", setting, now)?;
                }
                _ => decided(tx, id, skill, "approve", "reviewer", setting, now)?,
            }
            let approval = Approval::new(id, digest, by);
            owner_decision::take(tx, approval, present.as_ref(), now).map(Some)
        };
        let decision = self.0.journal.write("approve a proposal by policy", job).await?;
        self.0.notifier.settled();
        // The outcome is read from the rows and announced next, even after a restart if the power
        // fails here.
        match decision {
            Some(decided) => self.finish(decided).await.map(drop),
            None => Ok(()),
        }
    }

    /// Notifies the owners that a proposal waits. Returns false if no owner has an address yet.
    async fn notify_pending(&self, id: ProposalId) -> anyhow::Result<bool> {
        let Some(proposal) = self.0.journal.read(|db| Proposal::load(db, id)).await? else { return Ok(true) };
        let now = self.0.clock.now();
        let (shown, of) = (show::announcement(&proposal), proposal.row.scope);
        let post = move |tx: Tx<'_>, address, owner| {
            let (scope, cause) = (Scope::Person(owner), Cause::proposal(id));
            if !of.fits(scope) {
                let from = match of {
                    Scope::Person(person) => tx.people().person(person)?.map(|person| person.name),
                    Scope::Group(_) | Scope::Shared => None,
                };
                let text = wording::own(says::waits_from(id, from.as_deref()), scope);
                let buttons = [(says::SHOW.to_owned(), format!("/show {id}"))];
                let notice = NewOutbox::about(cause, address, &text, now);
                return tx.outbox().post(&NewOutbox { buttons: &buttons, ..notice }).map(drop);
            }
            let text: Text = Labelled::new(Arc::from(&*shown.markdown), shown.label.clone(), scope);
            // The page holds the digest that approves it, which no model may learn.
            let sent: Text = Labelled::new(Arc::from(prompt::PROPOSAL_SENT), shown.label.clone(), scope);
            tx.sent().record(address, cause, &sent, now)?;
            let notice = NewOutbox::about(cause, address, &text, now);
            tx.outbox().post(&NewOutbox { buttons: &shown.buttons, cause: None, ..notice }).map(drop)
        };
        self.post_to_owners("tell of a proposal", post, move |tx| tx.proposals().mark_notified(id, now)).await
    }

    /// Notifies the owners of the outcome of a policy's approval. Returns false if no owner has an
    /// address yet.
    async fn notify_outcome(&self, id: ProposalId, words: String) -> anyhow::Result<bool> {
        let now = self.0.clock.now();
        let post = move |tx: Tx<'_>, address, owner| {
            // The skill's name is the proposal's text, and the skill is live for everybody.
            let Some(row) = tx.proposals().proposal(id)? else { return Ok(()) };
            let text: Text = Labelled::new(Arc::from(&*words), row.label, Scope::Person(owner));
            tx.outbox().post(&NewOutbox::notice(address, &text, now)).map(drop)
        };
        self.post_to_owners("tell of a skill", post, move |tx| tx.proposals().mark_notified(id, now)).await
    }

    /// Posts a message to every owner who can be reached, and records it with `done`. Returns false
    /// and does nothing if none can be.
    async fn post_to_owners(
        &self,
        job: &'static str,
        post: impl Fn(Tx<'_>, AddressId, PersonId) -> anyhow::Result<()> + Send + 'static,
        done: impl FnOnce(Tx<'_>) -> anyhow::Result<()> + Send + 'static,
    ) -> anyhow::Result<bool> {
        let notify = move |tx: Tx<'_>| {
            let owners = tx.people().reachable_owners()?;
            if !owners.is_empty() {
                owners.iter().try_for_each(|(owner, address)| post(tx, *address, *owner))?;
                done(tx)?;
            }
            Ok(owners)
        };
        let notified = self.0.journal.write(job, notify).await?;
        notified.iter().for_each(|(_, address)| self.0.notifier.posted(*address));
        Ok(!notified.is_empty())
    }
}

/// A skill that was edited in place, as its owners are told of it.
struct SkillEdit {
    name: String,
    words: String,
    label: Label,
    buttons: Vec<(String, String)>,
}

impl SkillEdit {
    fn of(db: Db<'_>, row: &SkillRow) -> anyhow::Result<Self> {
        let version = |id: Option<VersionId>| {
            let row = id.map(|id| db.skills().version_row(id)).transpose()?.flatten();
            let row = row.context("A version of a skill vanished")?;
            let folder = SkillFolder::new(db.skills().files_of_version(row.id)?);
            anyhow::Ok((row, folder))
        };
        let (before, old) = version(row.known)?;
        let meanwhile = db.skills().used_meanwhile(row)?;
        let is_back = row.version == row.known;
        // What was used for a while and is gone is shown itself.
        let shown = meanwhile.as_ref().map(|version| version.id).filter(|_| is_back).or(row.version);
        let (after, new) = version(shown)?;
        let name = one_line(&reveal(&row.name)).replace('`', "'");
        let change = diff::summary(Some(&old), Some(&new));
        let lines = diff::diff(Some(&old), Some(&new));
        let lines = (lines.lines().count() <= MOST_LINES).then(|| diff::fenced_diff(&lines));
        let undo = (before.accepted && !is_back)
            .then(|| (says::UNDO.to_owned(), format!("/rollback {} {}", row.name, before.number)));
        let show = (says::SHOW.to_owned(), format!("/skills diff {} {} {}", row.name, before.number, after.number));
        let buttons = [show].into_iter().chain(undo).collect();
        let words = match (is_back, meanwhile) {
            (true, _) => says::edited_and_back(&name, &change, lines.as_deref()),
            (false, meanwhile) => says::edited(&name, &change, lines.as_deref(), meanwhile.is_some()),
        };
        Ok(Self { words, name, label: after.label, buttons })
    }
}

/// Returns the time from which the owners may be told that this skill was edited.
fn told_again_at(row: &SkillRow) -> Timestamp {
    row.told_at.map_or(row.changed_at, |at| at.plus(EDITS_TOGETHER))
}

/// Returns the unannounced held folders, if there are too many for a message each.
fn many_folders(pending: &[ProposalRow]) -> Option<Vec<(ProposalId, String)>> {
    let unannounced = pending.iter().filter(|row| !row.told && row.origin == OriginKind::Folder);
    let folders: Vec<_> = unannounced.map(|row| (row.id, row.skill.clone())).collect();
    (folders.len() > MOST_ONE_BY_ONE).then_some(folders)
}

/// Returns the time of the next expiry. A proposal whose notice is still in delivery keeps its full
/// time.
fn next_expiry(pending: &[ProposalRow], now: Timestamp) -> Option<Timestamp> {
    let notified = pending.iter().filter(|row| row.told);
    notified.map(|row| row.expires_at.unwrap_or_else(|| now.plus(PROPOSAL_WAITS))).min()
}

/// Returns the verdict row of the reviewer.
fn verdict_row(verdict: &Verdict, proposal: &Proposal) -> VerdictRow {
    match verdict {
        Verdict::Safe { why } => reviewer_row(StageOutcome::Passed, why, proposal.row.label.clone()),
        Verdict::Unsafe { why } => reviewer_row(StageOutcome::Refused, why, proposal.row.label.clone()),
        Verdict::None { why } => reviewer_row(StageOutcome::None, why, label::of_the_program()),
    }
}

fn reviewer_row(outcome: StageOutcome, note: &str, label: Label) -> VerdictRow {
    VerdictRow { stage: ReviewStage::Reviewer, outcome, note: note.to_owned(), findings: "[]".to_owned(), label }
}

/// Returns whether the proposal is clean in every respect: from an owner's own request, without
/// text from outside, a finding, or an effect that waits under every policy.
fn is_clean(proposal: &Proposal) -> bool {
    proposal.row.clearance == Clearance::Clean
        && !proposal.row.label.asks_before_leaving()
        && !proposal.third_party
        && proposal.findings().is_empty()
        && !proposal.effects.waits()
}

fn decided(
    tx: Tx<'_>,
    id: ProposalId,
    skill: &str,
    act: &str,
    decider: &str,
    way: &str,
    now: Timestamp,
) -> anyhow::Result<()> {
    tx.proposals().add_decision(&NewDecision {
        proposal: Some(id),
        skill,
        act,
        outcome: "done",
        decider,
        person: None,
        way,
        at: now,
    })
}
