//! Tells the owner of a reflection what came of it, in one message, once that is settled: what was
//! done and how to undo it, what waits for a decision, and what was left out.
//!
//! The acts and the lines about proposals are the program's words; a model's are only the title,
//! what it has to tell the person, and the words that were remembered. A proposal is told of here
//! and nowhere else: the whole of it, with the button that approves it, comes when its owner asks
//! for it. The message and its record are one transaction, so no owner is told twice. With their first
//! daily reflection owners are offered a brief each morning.

use std::sync::Arc;

use super::answer_schema::Payload;
use super::{Job, Reflector};
use crate::engine::system_run::{RunOutcome, address_of, outcome};
use crate::id::{AddressId, PersonId, ProposalId, ReflectionId};
use crate::memory::memory_md::split_key;
use crate::review::{Proposal, show};
use crate::store::{
    ActionRow, ActionState, Cause, Db, NewOutbox, ProposalState, ReflectionRow, ReminderKind, ReminderRow, Report, Tx,
};
use crate::text::{escape_markdown, one_line, shorten};
use crate::time::{Timestamp, Zone};
use crate::trust::{Label, Labelled, Scope};
use crate::wording::{self, Language, reflection as says, review as of_review, skill as of_skill};

/// Maximum number of sentences to the person.
const TOLD: usize = 3;
/// Maximum number of characters shown of what is remembered.
const WORDS: usize = 300;

/// What came of a reflection, for its owner.
struct ReflectionReport {
    done: Vec<String>,
    waits: Vec<String>,
    left_out: LeftOut,
    /// Each title with its command.
    buttons: Vec<(String, String)>,
    label: Label,
    language: Language,
}

/// Numbers of the actions from which nothing came, by their reason.
#[derive(Default)]
struct LeftOut {
    over_limit: usize,
    refused: usize,
    malformed: usize,
    off: usize,
    void: usize,
    /// What only a person can do.
    suggested: Vec<String>,
}

impl Reflector {
    /// Tells owners what came of their reflections, as far as it is settled.
    pub async fn report(&self) -> anyhow::Result<()> {
        let (zone, now) = (self.zone, self.clock.now());
        for id in self.journal.read(|db| db.reflections().unreported()).await? {
            let told = self.journal.write("report a reflection", move |tx| report(tx, id, zone, now)).await?;
            told.into_iter().for_each(|address| self.engine.channels.posted(address));
        }
        Ok(())
    }
}

/// Posts the report about a reflection, if it is due and settled. Returns where it was posted.
fn report(tx: Tx<'_>, id: ReflectionId, home: Zone, now: Timestamp) -> anyhow::Result<Vec<AddressId>> {
    let (Some(due), Some(row)) = (tx.reflections().report_due(id)?, tx.reflections().reflection(id)?) else {
        return Ok(Vec::new());
    };
    let actions = tx.reflections().actions_of(id)?;
    if !is_settled(*tx, &actions)? {
        return Ok(Vec::new());
    }
    let owner = match row.scope {
        Scope::Person(owner) if tx.people().person(owner)?.is_some() => owner,
        // Nobody is left to be told; other owners hear of the proposals.
        _ => return tx.reflections().reported(id).map(|()| Vec::new()),
    };
    let is_told = !actions.is_empty() || due == Report::Always;
    let is_first = row.job == Job::Daily.as_str() && tx.reflections().is_first_of_job(id)?;
    let offers_brief = is_first && !tx.reminders().reminders_of(owner)?.iter().any(is_recurring_task);
    if !is_told && !offers_brief {
        return tx.reflections().reported(id).map(|()| Vec::new());
    }
    // Until its owner can be reached it waits.
    let Some(address) = address_of(*tx, owner)? else { return Ok(Vec::new()) };
    let (language, zone) = (tx.people().language_of(owner)?, tx.people().zone_of(owner, home)?);
    let mut report = ReflectionReport::of(*tx, &row, &actions, language)?;
    let mut parts = Vec::new();
    if is_told {
        let all_of_it = says::ALL_OF_IT.in_language(language).into_string();
        report.buttons.push((all_of_it, format!("/reflections {}", row.period)));
        parts.push(report.words(*tx, &row, due, zone, now)?);
    }
    parts.extend(offers_brief.then(|| says::BRIEF_OFFER.in_language(language).into_string()));
    let text = Labelled::new(Arc::from(parts.join("\n\n")), report.label.clone(), row.scope);
    let notice = NewOutbox::about(Cause::reflection(id), address, &text, now);
    tx.outbox().post(&NewOutbox { buttons: &report.buttons, ..notice })?;
    let mut told = vec![address];
    for action in &actions {
        let Some(proposal) = action.proposal else { continue };
        let is_pending = tx.proposals().proposal(proposal)?.is_some_and(|row| row.state == ProposalState::Pending);
        if is_pending {
            let others = tx.people().reachable_owners()?.into_iter().filter(|(other, _)| *other != owner);
            for (other, address) in others {
                tell_other_owner(tx, (other, address), owner, proposal, now)?;
                told.push(address);
            }
        }
        tx.proposals().mark_notified(proposal, now)?;
    }
    tx.reflections().reported(id)?;
    Ok(told)
}

fn is_recurring_task(row: &ReminderRow) -> bool {
    row.kind == ReminderKind::Task && row.cron.is_some()
}

/// Tells another owner of a proposal from this person's reflection, without its words.
fn tell_other_owner(
    tx: Tx<'_>,
    (other, address): (PersonId, AddressId),
    owner: PersonId,
    proposal: ProposalId,
    now: Timestamp,
) -> anyhow::Result<()> {
    let from = tx.people().person(owner)?.map(|person| person.name);
    let text = wording::own(of_skill::waits_from(proposal, from.as_deref()), Scope::Person(other));
    let buttons = [(of_skill::SHOW.to_owned(), format!("/show {proposal}"))];
    let notice = NewOutbox::about(Cause::proposal(proposal), address, &text, now);
    tx.outbox().post(&NewOutbox { buttons: &buttons, ..notice }).map(drop)
}

/// Returns true if no action is open, and the review of each proposal has ended or waits for an
/// owner.
fn is_settled(db: Db<'_>, actions: &[ActionRow]) -> anyhow::Result<bool> {
    for action in actions {
        let is_open = match (action.state, action.proposal) {
            (ActionState::New | ActionState::Taken, _) => true,
            (ActionState::Proposed, Some(id)) => {
                let row = db.proposals().proposal(id)?;
                row.is_some_and(|row| row.state == ProposalState::Pending && !row.reviewed)
            }
            _ => false,
        };
        if is_open {
            return Ok(false);
        }
    }
    Ok(true)
}

impl ReflectionReport {
    fn of(db: Db<'_>, row: &ReflectionRow, actions: &[ActionRow], language: Language) -> anyhow::Result<Self> {
        let (done, waits, left_out, buttons) = Default::default();
        let mut report = Self { done, waits, left_out, buttons, label: row.label.clone(), language };
        for action in actions {
            report.add(db, action)?;
        }
        Ok(report)
    }

    fn add(&mut self, db: Db<'_>, action: &ActionRow) -> anyhow::Result<()> {
        let left = &mut self.left_out;
        match action.state {
            ActionState::New | ActionState::Taken => {}
            ActionState::Kept => self.add_memory(action),
            ActionState::Proposed => self.add_proposal(db, action)?,
            ActionState::OverLimit => left.over_limit += 1,
            ActionState::Refused => left.refused += 1,
            ActionState::Malformed => left.malformed += 1,
            ActionState::Suggested if action.kind.is_done() => left.off += 1,
            ActionState::Suggested => left.suggested.push(escape_markdown(&action.title)),
        }
        Ok(())
    }

    /// The label of a memory is that of its reflection.
    fn add_memory(&mut self, action: &ActionRow) {
        let text = serde_json::from_str::<Payload>(&action.payload).map(|payload| payload.text).unwrap_or_default();
        let words = escape_markdown(&shorten(&one_line(&text), WORDS));
        let path = action.reason.split(',').next().unwrap_or_default();
        if !action.label.is_trusted() {
            self.waits.push(says::kept_apart_now(self.language, &words));
            self.buttons.push((says::show_note(self.language, &action.title), format!("/promote {path}")));
            return;
        }
        self.done.push(says::remembers(self.language, &words));
        let is_list = path == "memory/MEMORY.md" || !path.starts_with("memory/");
        let key = split_key(text.trim()).map_or(&*action.title, |(key, _)| key);
        // A note may have been there before, with other words.
        self.buttons.push(match is_list {
            true => (says::forget(self.language, &action.title), format!("/forget {key}")),
            false => (says::history(self.language, &action.title), format!("/memory history {path}")),
        });
    }

    fn add_proposal(&mut self, db: Db<'_>, action: &ActionRow) -> anyhow::Result<()> {
        let proposal = action.proposal.map(|id| Proposal::load(db, id)).transpose()?.flatten();
        let Some(proposal) = proposal else { return Ok(()) };
        let (row, language) = (&proposal.row, self.language);
        self.label.absorb(&row.label);
        match row.state {
            ProposalState::Pending => {
                let (change, standing) = (show::change(row, language), show::standing(&proposal, language));
                self.waits.push(of_review::waits(language, row.id, &change, &standing));
                self.buttons.push((says::show_proposal(language, row.id), format!("/show {}", row.id)));
            }
            ProposalState::Approved => {
                self.done.push(show::change(row, language));
                let name = if row.new_name.is_empty() { &row.skill } else { &row.new_name };
                self.buttons.push((says::history(language, name), format!("/history {name}")));
            }
            ProposalState::Rejected | ProposalState::Expired | ProposalState::Conflict => self.left_out.void += 1,
        }
        Ok(())
    }

    fn words(
        &self,
        db: Db<'_>,
        row: &ReflectionRow,
        due: Report,
        zone: Zone,
        now: Timestamp,
    ) -> anyhow::Result<String> {
        let language = self.language;
        let day = language.date(zone, row.from, now);
        let told = to_tell(db, row, due)?;
        let groups =
            [(says::DONE, &self.done), (says::WAITING, &self.waits), (says::LEFT_OUT, &self.left_out.lines(language))];
        let mut parts = vec![says::report_head(language, &row.job, &day, &escape_markdown(&row.title))];
        parts.extend((!told.is_empty()).then(|| listed(&told)));
        for (heading, lines) in groups.into_iter().filter(|(_, lines)| !lines.is_empty()) {
            parts.push(format!("**{}**\n{}", heading.in_language(language).into_string(), listed(lines)));
        }
        Ok(parts.join("\n\n"))
    }
}

impl LeftOut {
    fn lines(&self, language: Language) -> Vec<String> {
        let counted = [
            ("over_limit", self.over_limit),
            ("refused", self.refused),
            ("malformed", self.malformed),
            ("off", self.off),
            ("void", self.void),
        ];
        let counted = counted.into_iter().filter(|(_, count)| *count > 0);
        let counted = counted.map(|(why, count)| says::left_out(language, why, count));
        counted.chain(self.suggested.iter().map(|title| says::for_you(language, title))).collect()
    }
}

fn listed(lines: &[String]) -> String {
    lines.iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n")
}

/// Returns what the reflection has to tell its owner; if they want a message about each, at least
/// what it found.
fn to_tell(db: Db<'_>, row: &ReflectionRow, due: Report) -> anyhow::Result<Vec<String>> {
    let Some(turn) = db.turns().turn(row.turn)? else { return Ok(Vec::new()) };
    let RunOutcome::Answered { text, .. } = outcome(db, turn.conversation)? else { return Ok(Vec::new()) };
    let Ok(form) = super::commit::read(&text) else { return Ok(Vec::new()) };
    let found = form.patterns.into_iter().chain(form.observations);
    let lines: Vec<String> = if form.tell.is_empty() && due == Report::Always { found.collect() } else { form.tell };
    Ok(lines.into_iter().take(TOLD).map(|line| escape_markdown(&line)).collect())
}
