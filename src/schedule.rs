//! Scheduled work: reflection, the heartbeat, reminders, deletions and upkeep.
//!
//! One task finds everything that is due, does it, and sleeps until the next due instant. The end
//! of an assistant run wakes it too. The task keeps no state: due work is a function of the
//! configuration, the stored slots and the time, so a restart, an absence or a changed clock only
//! causes delay. There is no ticker: the clock wakes the task at the exact instant, and the system
//! clock checks at least once a minute whether the time was changed.

mod due; // periods of reflections that are due
mod deletions; // files of deleted messages
mod heartbeat; // when HEARTBEAT.md is checked, and what a check does
mod reminders; // reminders and tasks, also those missed while the program was off
mod report; // the part of a run's answer that is sent
mod slots; // claims and runs of reflections
mod upkeep; // nightly retention and checks

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::config;
use crate::engine::system_run::RunOutcome;
use crate::engine::{Engine, system_run};
use crate::id::{AddressId, MessageId, SlotId};
use crate::memory::Workspace;
use crate::memory::free_space::FreeSpace;
use crate::reflection::Reflector;
use crate::store::{Cause, Journal, NewOutbox, NewSlot, Node, OutboxKind, SlotRow, SlotState, Tx, UnansweredReason};
use crate::time::clock::{WakeupSender, Wakeups};
use crate::time::task::guarded;
use crate::time::{Clock, Timestamp, Zone};
use crate::trust::{Labelled, Scope, Text};

pub use crate::reflection::{Job, SO_FAR};
pub use heartbeat::{HeartbeatFile, HeartbeatStatus};
pub use slots::{OnDemandResult, UpcomingReflection};
pub use upkeep::Checked;

/// Delay before the next attempt after a failure.
const AFTER_TROUBLE: Duration = Duration::from_secs(60);

/// The schedule. It is idle until [`Schedule::run`].
pub struct Schedule {
    /// The journal.
    pub journal: Journal,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The time zone.
    pub zone: Zone,
    /// Settings from `[reflection]`.
    pub reflection: config::Reflection,
    /// Settings from `[heartbeat]`.
    pub heartbeat: config::Heartbeat,
    /// Settings from `[retention]`.
    pub retention: config::Retention,
    /// The knowledge tree.
    pub workspace: Workspace,
    /// Runs the assistant's work.
    pub engine: Arc<Engine>,
    /// Runs the reflections.
    pub reflector: Reflector,
    /// Free space on the disk of the home.
    pub free_space: FreeSpace,
    /// Wakes [`Schedule::run`].
    pub waker: WakeupSender,
    /// Signals the end of each pass.
    pub(crate) pass_done: watch::Sender<()>,
    /// Progress of the current upkeep round.
    pub(crate) rounds: upkeep::Rounds,
}

impl Schedule {
    /// The reflector.
    pub fn reflector(&self) -> &Reflector {
        &self.reflector
    }

    /// Wakes the schedule because something may be due, such as a new reminder or a requested slot.
    pub fn wake(&self) {
        self.waker.wake(&*self.clock);
    }

    /// Works until the program stops.
    pub async fn run(self: Arc<Self>, mut wakeups: Wakeups, stop: CancellationToken) {
        let clock = Arc::clone(&self.clock);
        let mut busy = Some(clock.busy());
        loop {
            let wake_at = tokio::select! {
                () = stop.cancelled() => return,
                wake_at = self.run_due() => wake_at,
            };
            busy = tokio::select! {
                () = stop.cancelled() => return,
                woken = wakeups.recv_or_timeout(&*clock, wake_at, busy.take()) => woken,
            };
            if busy.is_none() {
                return;
            }
        }
    }

    /// Does everything that is due, and returns the next due instant. A failure in one part does
    /// not stop the others.
    async fn run_due(&self) -> Option<Timestamp> {
        let next = [
            self.retry_on_error("What was to be reminded of", self.reminders()).await,
            self.retry_on_error("Looking back", self.slots()).await,
            self.retry_on_error("The heartbeat", self.heartbeat()).await,
            self.retry_on_error("What was to go", self.delete_due()).await,
            self.retry_on_error("The upkeep", self.upkeep().upkeep()).await,
        ];
        // The result of a run that proposed something was posted.
        self.engine.review.retry_notices();
        self.pass_done.send_replace(());
        let now = self.clock.now();
        next.into_iter().flatten().min().map(|at| at.max(now.plus(Duration::from_millis(1))))
    }

    /// Runs one part and returns its next due instant, or an early retry if it failed.
    async fn retry_on_error(
        &self,
        what: &str,
        part: impl Future<Output = anyhow::Result<Option<Timestamp>>>,
    ) -> Option<Timestamp> {
        guarded(what, part).await.unwrap_or_else(|error| {
            tracing::error!("{what} failed, and is tried again: {error:#}");
            Some(self.clock.now().plus(AFTER_TROUBLE))
        })
    }
}

/// The nightly round of maintenance.
#[derive(Clone, Copy)]
pub struct Upkeep<'a> {
    pub(super) schedule: &'a Schedule,
}

impl Deref for Upkeep<'_> {
    type Target = Schedule;

    fn deref(&self) -> &Schedule {
        self.schedule
    }
}

impl Schedule {
    /// The nightly round of maintenance.
    pub fn upkeep(&self) -> Upkeep<'_> {
        Upkeep { schedule: self }
    }
}

/// A finished run that the schedule assigned by itself: a heartbeat or a task.
///
/// A run is a slot in state `working`. When its turn is over, the message to the person and the end
/// of the slot are one transaction, so an answer is posted once even if the program crashes
/// repeatedly. The address is looked up at that time: a person whose access was revoked receives
/// nothing.
struct FinishedRun {
    /// The slot, which is still open.
    pub slot: SlotRow,
    pub outcome: RunOutcome,
}

impl Schedule {
    /// Finished runs whose slots are still open, for the jobs selected by `mine`.
    async fn ended(&self, mine: fn(&str) -> bool) -> anyhow::Result<Vec<FinishedRun>> {
        self.journal
            .read(move |db| {
                let open = db.slots().open_slots()?.into_iter().filter(|slot| mine(&slot.job));
                let mut ended = Vec::new();
                for slot in open {
                    // Claim and assignment are one step, so every slot has a conversation. One
                    // without would not be a run.
                    let never = || Ok(RunOutcome::gave_up(UnansweredReason::NeverAsked));
                    let outcome =
                        slot.conversation.map_or_else(never, |conversation| system_run::outcome(db, conversation))?;
                    if outcome != RunOutcome::Open {
                        ended.push(FinishedRun { slot, outcome });
                    }
                }
                Ok(ended)
            })
            .await
    }
}

/// Answer of a finished run.
struct RunAnswer {
    /// Message that holds the whole answer.
    message: MessageId,
    /// The whole answer, with its label.
    text: Text,
    /// The part of it that is sent; `None` to send nothing.
    words: Option<String>,
}

/// Ends a slot with its answer and posts it. `None` if there is nothing to post, the slot was over
/// already, or the person cannot be reached.
fn post_answer(
    tx: Tx<'_>,
    slot: &SlotRow,
    cause: Cause,
    answer: &RunAnswer,
    now: Timestamp,
) -> anyhow::Result<Option<AddressId>> {
    let Some(words) = &answer.words else {
        tx.slots().end_slot(slot.id, SlotState::Done, "", now)?;
        return Ok(None);
    };
    let Some(address) = address_of_slot(tx, slot)? else {
        tx.slots().end_slot(slot.id, SlotState::Failed, UnansweredReason::NobodyToTell.as_str(), now)?;
        return Ok(None);
    };
    if !tx.slots().end_slot(slot.id, SlotState::Done, "", now)? {
        return Ok(None);
    }
    let (whole, label, scope) = answer.text.open();
    let text = Labelled::new(Arc::from(words.as_str()), label.clone(), scope);
    // A delivery of a stored message has that message's text.
    let reply = Some(answer.message).filter(|_| **whole == *words);
    let kind = OutboxKind::Reply;
    tx.outbox().post(&NewOutbox { kind, message: reply, ..NewOutbox::about(cause, address, &text, now) })?;
    if let Some(sent) = tx.sent().record(address, cause, &text, now)? {
        tx.derivations().derive(Node::Message(sent), Node::Message(answer.message))?;
    }
    Ok(Some(address))
}

/// The address of a slot's person.
fn address_of_slot(tx: Tx<'_>, slot: &SlotRow) -> anyhow::Result<Option<AddressId>> {
    match slot.scope {
        Scope::Person(person) => system_run::address_of(*tx, person),
        Scope::Group(_) | Scope::Shared => Ok(None),
    }
}

/// Claims the slot of a run that is due at `due`, for which its period is named. `None` if it was
/// claimed before.
fn claim_occurrence(
    tx: Tx<'_>,
    job: &str,
    scope: Scope,
    due: Timestamp,
    (state, reason): (SlotState, &str),
    now: Timestamp,
) -> anyhow::Result<Option<SlotId>> {
    tx.slots().claim_slot(&NewSlot {
        job,
        scope,
        period: &due.rfc3339(),
        from: due,
        to: due,
        due_at: due,
        state,
        reason,
        again: false,
        at: now,
    })
}
