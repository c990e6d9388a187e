//! The heartbeat: a periodic check of each owner's `HEARTBEAT.md`, which they write by hand or by
//! command, and an assistant run if it asks for something and anything is new.
//!
//! While no item is open no model is called and no slot is created. A check costs one row; the next
//! one is computed from it, however often the program restarts. There are no checks in quiet hours;
//! one that was due then happens once after them. [`Pace`] decides which check starts a run. While
//! other work runs for the owner, a run is skipped. The file counts only while it is trusted:
//! untrusted text in it starts no run.
//!
//! A run is shown the file with its ticked items and the last messages of the heartbeat. It may
//! tick an item (`heartbeat_done`), which is a row; the file is only changed by its owner. What it
//! says is sent without the sentences that were sent before; an answer that reports nothing is
//! stored and not sent. A message in quiet hours is sent silently or kept (`gateway::delivery`). A
//! failed run is not reported: the next check sees the same file.

mod pace;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;

use super::report::{is_empty, to_report, without_repetition};
use super::{AFTER_TROUBLE, FinishedRun, RunAnswer, Schedule, claim_occurrence, post_answer};
use crate::engine::context;
use crate::engine::system_run::{AssignedText, Assignment, RunOutcome, address_of, assign};
use crate::id::{PersonId, StreamId};
use crate::memory::{HeartbeatItem, heartbeat_items, with_heartbeat_ticks};
use crate::people::{Party, Person, Role};
use crate::store::{
    Cause, CauseKind, ConversationKind, Db, HeartbeatRow, HeartbeatTick, Node, SentRow, SlotRow, SlotState, Tx,
    UnansweredReason,
};
use crate::time::{Period, Span, Timestamp, Zone, quiet_until};
use crate::trust::{Labelled, Scope, Text};
use crate::wording::{self, schedule as says};
use pace::{AskedTimes, Pace};

/// The job name of heartbeat slots.
const JOB: &str = "heartbeat";
/// Maximum number of earlier messages that a run is shown, and that are compared with its answer.
const MESSAGES: u32 = 20;
/// Age up to which a sentence counts as said.
const REMEMBERED: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// An owner's `HEARTBEAT.md`, as far as it may be followed.
#[derive(Debug, Clone)]
pub struct HeartbeatFile {
    /// Content.
    pub text: Text,
    /// Row of this version, if the program wrote it.
    row: Option<i64>,
    /// Ticked items.
    pub ticks: Vec<HeartbeatTick>,
    /// Digest of the content.
    digest: String,
}

impl HeartbeatFile {
    /// Returns the keys of the ticked items.
    pub fn ticked(&self) -> BTreeSet<String> {
        self.ticks.iter().map(|tick| tick.key.clone()).collect()
    }

    fn items(&self) -> Vec<HeartbeatItem> {
        heartbeat_items(self.text.open().0)
    }

    /// Returns the content with its ticked boxes, if something in it is open.
    fn to_follow(&self) -> Option<Text> {
        let ticked = self.ticked();
        let (words, label, scope) = self.text.open();
        let shown = || Labelled::new(Arc::from(with_heartbeat_ticks(words, &ticked)), label.clone(), scope);
        self.items().iter().any(|item| item.is_due(&ticked)).then(shown)
    }

    /// Times that the open lines name.
    fn asked_times(&self) -> AskedTimes {
        let (ticked, items) = (self.ticked(), self.items());
        AskedTimes::of(items.iter().filter(|item| item.is_due(&ticked)).map(|item| item.words.as_str()))
    }
}

/// State of an owner's heartbeat, for reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeartbeatStatus {
    /// Name of the owner.
    pub person: String,
    /// Number of open items.
    pub open: usize,
    /// Last check of the file; `None` before the first.
    pub checked_at: Option<Timestamp>,
    /// Start of the last run; `None` if there was none.
    pub ran_at: Option<Timestamp>,
    /// Next run if nothing changes until then; `None` if nothing is open.
    pub next_at: Option<Timestamp>,
}

/// A run to start.
struct DueRun {
    owner: PersonId,
    /// Content of the file.
    file: Text,
    from: Vec<Node>,
    digest: String,
    /// Number of earlier runs without news on the same inputs.
    quiet: u32,
    due: Timestamp,
}

impl Schedule {
    /// Does what is due, and returns the time of the next check.
    pub(super) async fn heartbeat(&self) -> anyhow::Result<Option<Timestamp>> {
        self.end_heartbeats().await?;
        let Some(interval) = self.heartbeat.interval else { return Ok(None) };
        let mut next: Option<Timestamp> = None;
        for (owner, state) in self.journal.read(owners).await? {
            // A broken file of one owner does not stop the heartbeat of another.
            let at = self.check_heartbeat(&owner, state, interval).await.unwrap_or_else(|error| {
                tracing::error!(person.id = %owner.id, "The heartbeat of person {} failed: {error:#}", owner.id);
                self.clock.now().plus(AFTER_TROUBLE)
            });
            next = next.into_iter().chain([at]).min();
        }
        Ok(next)
    }

    /// Checks an owner's file if that is due, starts a run if there is one to start, and returns
    /// the time of the next check.
    async fn check_heartbeat(
        &self,
        owner: &Person,
        state: Option<HeartbeatRow>,
        interval: Duration,
    ) -> anyhow::Result<Timestamp> {
        let (now, zone, id) = (self.clock.now(), self.zone_of(owner.id).await?, owner.id);
        let Some(state) = state.filter(|state| state.checked_at <= now) else {
            // The first check, or the clock was set back: the interval starts again.
            let next = now.plus(interval);
            self.journal
                .write("begin to count heartbeats", move |tx| tx.heartbeats().record_check(id, now, next))
                .await?;
            return Ok(next);
        };
        let due = state.next_at.min(state.checked_at.plus(interval));
        if now < due {
            return Ok(due);
        }
        if let Some(end) = quiet_until(self.heartbeat.quiet, now, zone) {
            return Ok(end);
        }
        let file = self.heartbeat_file(owner).await.unwrap_or_else(|error| {
            tracing::warn!("HEARTBEAT.md cannot be read, and nothing is done about it: {error:#}");
            None
        });
        let asked = file.as_ref().map(HeartbeatFile::asked_times).unwrap_or_default();
        let next = asked.next_after(now, zone).into_iter().chain([now.plus(interval)]).min().unwrap_or(due);
        let run = match &file {
            Some(file) => {
                self.due_run(owner, file, &Pace { interval, zone, state: &state, asked: &asked }, due).await?
            }
            None => None,
        };
        let keys: Option<BTreeSet<String>> = file.map(|file| file.items().into_iter().map(|item| item.key).collect());
        let begun = self.journal.write("look at the heartbeat file", move |tx| {
            tx.heartbeats().record_check(id, now, next)?;
            keys.map_or(Ok(()), |keys| tx.heartbeats().keep_ticks(id, &keys))?;
            run.map_or(Ok(None), |run| begin(tx, &run, zone, now))
        });
        if let Some(stream) = begun.await? {
            self.engine.wake_stream(stream);
        }
        Ok(next)
    }

    /// The run that a check starts; `None` if nothing is open, or the pace allows none yet.
    async fn due_run(
        &self,
        owner: &Person,
        file: &HeartbeatFile,
        pace: &Pace<'_>,
        due: Timestamp,
    ) -> anyhow::Result<Option<DueRun>> {
        let Some(shown) = file.to_follow() else { return Ok(None) };
        if !shown.label().is_trusted() {
            let sources = shown.label().encode();
            tracing::warn!("HEARTBEAT.md is not followed: untrusted text had a part in it ({sources})");
            return Ok(None);
        }
        let inputs = self.heartbeat_inputs(owner, file).await?;
        let quiet = if pace.state.inputs == inputs { pace.state.quiet } else { 0 };
        let from = file.row.map(Node::File).into_iter().collect();
        let run = DueRun { owner: owner.id, file: shown, from, digest: file.digest.clone(), quiet, due };
        Ok(pace.is_due(&inputs, self.clock.now()).then_some(run))
    }

    /// An owner's file with its ticks; `None` if there is no file.
    ///
    /// # Errors
    /// If the file or the journal cannot be read.
    pub async fn heartbeat_file(&self, owner: &Person) -> anyhow::Result<Option<HeartbeatFile>> {
        let Some((text, row)) = self.workspace.files().read_heartbeat(owner).await? else { return Ok(None) };
        let id = owner.id;
        let ticks = self.journal.read(move |db| db.heartbeats().heartbeat_ticks(id)).await?;
        let digest = crate::memory::digest(text.open().0.as_bytes());
        Ok(Some(HeartbeatFile { text, row, ticks, digest }))
    }

    /// Zone of the times that an owner names, and of the quiet hours.
    async fn zone_of(&self, owner: PersonId) -> anyhow::Result<Zone> {
        let home = self.zone;
        self.journal.read(move |db| db.people().zone_of(owner, home)).await
    }

    /// Digest of everything whose change starts a run at the next check: the file with its ticks,
    /// the owner's memory, and the day.
    async fn heartbeat_inputs(&self, owner: &Person, file: &HeartbeatFile) -> anyhow::Result<String> {
        let now = self.clock.now();
        let day = self.zone.day(now);
        let loaded = self.workspace.load(&Party::One(owner.clone()), now, &day).await?;
        let texts = [&loaded.user, &loaded.memory, &loaded.today, &loaded.agent, &loaded.experience];
        let texts = texts.into_iter().map(|text| text.open().0.to_string());
        let ticked = file.ticked().into_iter().collect::<Vec<_>>().concat();
        let parts: Vec<String> = [day, file.digest.clone(), ticked].into_iter().chain(texts).collect();
        Ok(crate::memory::digest(parts.join("\0").as_bytes()))
    }

    /// State of the heartbeat of each owner, or of the given one; empty if it is off.
    ///
    /// # Errors
    /// If the journal cannot be read. A file that cannot be read has no open items.
    pub async fn heartbeats(&self, of: Option<PersonId>) -> anyhow::Result<Vec<HeartbeatStatus>> {
        let Some(interval) = self.heartbeat.interval else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for (owner, state) in self.journal.read(owners).await? {
            if of.is_some_and(|of| of != owner.id) {
                continue;
            }
            let file = self.heartbeat_file(&owner).await.unwrap_or_default();
            let file = file.filter(|file| file.text.label().is_trusted());
            let (ticked, items) = file.as_ref().map(|file| (file.ticked(), file.items())).unwrap_or_default();
            let asked = file.as_ref().map(HeartbeatFile::asked_times).unwrap_or_default();
            let open = items.iter().filter(|item| item.is_due(&ticked)).count();
            let zone = self.zone_of(owner.id).await?;
            let next = state.as_ref().filter(|_| open > 0).map(|state| {
                let next = Pace { interval, zone, state, asked: &asked }.next_run();
                quiet_until(self.heartbeat.quiet, next, zone).unwrap_or(next)
            });
            all.push(HeartbeatStatus {
                person: owner.name,
                open,
                checked_at: state.as_ref().map(|state| state.checked_at),
                ran_at: state.as_ref().and_then(|state| state.ran_at),
                next_at: next,
            });
        }
        Ok(all)
    }

    async fn end_heartbeats(&self) -> anyhow::Result<()> {
        for ended in self.ended(|job| job == JOB).await? {
            let FinishedRun { slot, outcome } = ended;
            let Scope::Person(id) = slot.scope else { continue };
            let (now, due_at) = (self.clock.now(), slot.due_at);
            let owner = self.journal.read(move |db| db.people().person(id)).await?;
            let posted = match (outcome, owner) {
                (RunOutcome::Answered { text, message, .. }, Some(owner)) => {
                    let file = self.heartbeat_file(&owner).await.unwrap_or_default();
                    let answer = RunAnswer { message, words: self.news_of(&owner, &text, file.as_ref()).await?, text };
                    let inputs = match &file {
                        Some(file) => Some((file.digest.clone(), self.heartbeat_inputs(&owner, file).await?)),
                        None => None,
                    };
                    self.journal
                        .write("end a heartbeat", move |tx| end_answered(tx, &slot, &answer, inputs.as_ref(), now))
                        .await?
                }
                (outcome, _) => {
                    let reason = match outcome {
                        RunOutcome::GaveUp { reason } => reason,
                        _ => UnansweredReason::NotAllowed.as_str().to_owned(),
                    };
                    self.journal
                        .write("end a heartbeat", move |tx| {
                            tx.heartbeats().record_outcome(id, "", 0)?;
                            tx.slots().end_slot(slot.id, SlotState::Failed, &reason, now).map(|_| None)
                        })
                        .await?
                }
            };
            tracing::debug!(person.id = %id, "The heartbeat that was due at {} is over", due_at.rfc3339());
            if let Some(address) = posted {
                self.engine.channels.posted(address);
            }
        }
        Ok(())
    }

    /// Returns what an answer has to tell the owner beyond what they were told already; `None` if
    /// there is nothing.
    async fn news_of(
        &self,
        owner: &Person,
        answer: &Text,
        file: Option<&HeartbeatFile>,
    ) -> anyhow::Result<Option<String>> {
        let words = answer.open().0;
        let Some(report) = to_report(words).filter(|_| !is_empty(words)) else { return Ok(None) };
        let (id, now, zone) = (owner.id, self.clock.now(), self.zone_of(owner.id).await?);
        // A named time is meant for each day, so each day counts separately.
        let since = if file.is_some_and(|file| file.asked_times().any()) {
            Period::containing(Span::Day, now, zone).begins(zone)
        } else {
            now.minus(REMEMBERED)
        };
        let earlier = self.journal.read(move |db| last_messages(db, id)).await?;
        let earlier: Vec<&str> = earlier.iter().filter(|row| row.at >= since).map(|row| &**row.text.open().0).collect();
        Ok(without_repetition(&report, &earlier))
    }
}

/// Owners with access, each with the state of their heartbeat.
fn owners(db: Db<'_>) -> anyhow::Result<Vec<(Person, Option<HeartbeatRow>)>> {
    let owners = db.people().people()?.into_iter().filter(|person| person.role == Role::Owner);
    owners.map(|owner| db.heartbeats().heartbeat(owner.id).map(|state| (owner, state))).collect()
}

/// The newest messages of an owner's heartbeat, newest first.
fn last_messages(db: Db<'_>, owner: PersonId) -> anyhow::Result<Vec<SentRow>> {
    let Some(stream) = db.conversations().stream_of(owner)? else { return Ok(Vec::new()) };
    db.sent().newest_of(stream, CauseKind::Heartbeat, MESSAGES)
}

/// Claims the slot and assigns the run. `None` if the slot was claimed before, other work runs, or
/// the owner cannot be reached.
fn begin(tx: Tx<'_>, run: &DueRun, zone: Zone, now: Timestamp) -> anyhow::Result<Option<StreamId>> {
    let scope = Scope::Person(run.owner);
    if address_of(*tx, run.owner)?.is_none() || tx.slots().open_slots()?.iter().any(|slot| slot.scope == scope) {
        return Ok(None);
    }
    let state = (SlotState::Claimed, "");
    let Some(slot) = claim_occurrence(tx, JOB, scope, run.due, state, now)? else { return Ok(None) };
    // The messages of the heartbeat are kept in the owner's stream, even if they never wrote.
    tx.conversations().stream_for(run.owner)?;
    let mut said = last_messages(*tx, run.owner)?;
    said.retain(|row| row.at >= now.minus(REMEMBERED));
    said.reverse();
    let introduction = wording::own(says::heartbeat(&zone.show_long(now)), scope);
    let said = context::sent(&said, run.file.label(), zone, scope, now);
    let words: Vec<AssignedText> =
        [introduction, run.file.clone()].into_iter().chain(said).map(AssignedText::from).collect();
    let task =
        Assignment { person: run.owner, kind: ConversationKind::Heartbeat, words: &words, from: &run.from, at: now };
    let assigned = assign(tx, &task)?.context("An owner who could be reached cannot be any more")?;
    tx.slots().slot_works(slot, assigned.conversation)?;
    tx.heartbeats().record_run(run.owner, now, &run.digest, run.quiet)?;
    Ok(Some(assigned.stream))
}

/// Ends the slot, and posts the news if there are any. The inputs count as seen unless the owner
/// changed the file during the run.
fn end_answered(
    tx: Tx<'_>,
    slot: &SlotRow,
    answer: &RunAnswer,
    inputs: Option<&(String, String)>,
    now: Timestamp,
) -> anyhow::Result<Option<crate::id::AddressId>> {
    let Scope::Person(owner) = slot.scope else { return Ok(None) };
    if let Some(state) = tx.heartbeats().heartbeat(owner)? {
        let seen = inputs.filter(|(file, _)| *file == state.inputs).map_or("", |(_, inputs)| inputs);
        let quiet = if answer.words.is_some() { 1 } else { state.quiet.saturating_add(1) };
        tx.heartbeats().record_outcome(owner, seen, quiet)?;
    }
    post_answer(tx, slot, Cause::HEARTBEAT, answer, now)
}
