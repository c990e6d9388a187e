//! Reflections: the assistant's observations on a day, a week or a month, and the actions that
//! follow.
//!
//! A slot holds the period and the person; the schedule passes it in again and again until it is
//! over. This module decides if there is enough material, builds the input ([`input`]), defines a
//! valid answer ([`answer_schema`]), stores it ([`commit`]), processes each proposed action
//! ([`actions`]), and tells the owner what came of them ([`report`]). The run itself is an ordinary turn in a conversation of its own
//! ([`crate::engine::system_run`]). The next step is derived from the rows, so a crash at any point
//! is resumed from there: assigning is one transaction with the slot's new state, and so is storing
//! an answer with everything in it. An invalid answer is requested again, three times in all, and
//! never stored as a reflection.

mod actions;
pub mod answer_schema;
mod commit;
mod input;
mod open_items;
pub mod render;
mod report;
mod tool_calls;
mod transcript;

use std::sync::Arc;
use std::time::Duration;

use crate::config;
use crate::engine::Engine;
use crate::engine::system_run::{self, AssignedText, Assignment, Run, RunOutcome};
use crate::id::{ConversationId, PersonId};
use crate::review::Review;
use crate::store::{ConversationKind, Journal, Node, SlotRow, SlotState};
use crate::time::{Clock, Span, Timestamp, Zone};
use crate::trust::Scope;
use crate::wording::{self, reflection as says};
use input::{InputRequest, KnownSkill};

/// Waits after the first and the second invalid answer. After the third the slot has failed.
const PAUSES: [Duration; 2] = [Duration::from_secs(5 * 60), Duration::from_secs(60 * 60)];
/// Maximum number of input tokens, and maximum share of the model's window as a divisor.
const MOST_TOKENS: u64 = 24_000;
const WINDOW_DIVISOR: u64 = 3;

/// Runs reflections: reviews past activity and proposes changes.
pub struct Reflector {
    /// The journal.
    pub journal: Journal,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The time zone.
    pub zone: Zone,
    /// `[reflection]`
    pub config: config::Reflection,
    /// The engine that runs the turns.
    pub engine: Arc<Engine>,
    /// The review of skill changes.
    pub review: Review,
}

/// Job name of a slot that covers a day which is not over. It is not [`Job::Daily`], so the day
/// still gets its own slot, with all of its messages.
pub const SO_FAR: &str = "today";

/// Reflection job, by the length of its periods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Job {
    /// Daily job.
    Daily,
    /// Weekly job, after its days.
    Weekly,
    /// Monthly job, after its weeks.
    Monthly,
}

impl Job {
    /// All jobs, in order of dependency.
    pub const ALL: [Self; 3] = [Self::Daily, Self::Weekly, Self::Monthly];

    /// Stored name of the job.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses the name of a job. [`SO_FAR`] is a daily one.
    pub fn named(word: &str) -> Option<Self> {
        (word == SO_FAR).then_some(Self::Daily).or_else(|| word.parse().ok())
    }

    /// Length of the job's periods.
    pub fn span(self) -> Span {
        match self {
            Self::Daily => Span::Day,
            Self::Weekly => Span::Week,
            Self::Monthly => Span::Month,
        }
    }
}

/// Next step of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotProgress {
    /// The slot is over.
    Over,
    /// The run is in progress; the schedule is woken when it ends.
    Working,
    /// The slot is retried at that time.
    At(Timestamp),
}

/// Result of assigning the run.
enum AssignOutcome {
    Assigned(Run),
    /// Another task assigned it meanwhile.
    AlreadyAssigned,
    /// The person has no address.
    NoAddress,
}

impl Reflector {
    /// Continues a slot that is claimed or in progress, from its stored state.
    pub async fn take_up(&self, slot: &SlotRow) -> anyhow::Result<SlotProgress> {
        let (Some(job), Scope::Person(person)) = (Job::named(&slot.job), slot.scope) else {
            return self.give_up(slot, says::NO_JOB).await;
        };
        match (slot.state, slot.conversation) {
            (SlotState::Claimed, _) | (SlotState::Working, None) => self.begin(slot, job, person).await,
            (SlotState::Working, Some(conversation)) => self.read_outcome(slot, person, conversation).await,
            _ => Ok(SlotProgress::Over),
        }
    }

    /// Collects the material, and assigns the run if there is enough.
    async fn begin(&self, slot: &SlotRow, job: Job, person: PersonId) -> anyhow::Result<SlotProgress> {
        let Some(person) = self.journal.read(move |db| db.people().person(person)).await? else {
            return self.give_up(slot, says::NOBODY).await;
        };
        let request = self.gather_input(slot, job, person).await?;
        let min_messages = if slot.wish.is_some() { 1 } else { self.config.min_messages };
        let input = self.journal.read_much(move |db| match request.material(db, min_messages)? {
            Some(material) => request.input(db, &material).map(Some),
            None => Ok(None),
        });
        let Some(input) = input.await? else {
            return self.end_quietly(slot).await;
        };
        let Scope::Person(person) = slot.scope else { return Ok(SlotProgress::Over) };
        let (id, at) = (slot.id, self.clock.now());
        let assigned = self.journal.write("assign a reflection", move |tx| {
            if tx.slots().slot(id)?.is_none_or(|slot| !slot.state.is_open() || slot.conversation.is_some()) {
                return Ok(AssignOutcome::AlreadyAssigned);
            }
            let kind = ConversationKind::Reflection;
            let words: Vec<AssignedText> = input.texts.iter().cloned().map(AssignedText::from).collect();
            let assignment = Assignment { person, kind, words: &words, from: &input.sources, at };
            let Some(run) = system_run::assign(tx, &assignment)? else { return Ok(AssignOutcome::NoAddress) };
            tx.slots().slot_works(id, run.conversation)?;
            Ok(AssignOutcome::Assigned(run))
        });
        self.after_assigning(slot, assigned.await?).await
    }

    async fn after_assigning(&self, slot: &SlotRow, result: AssignOutcome) -> anyhow::Result<SlotProgress> {
        match result {
            AssignOutcome::Assigned(run) => self.engine.wake_stream(run.stream),
            AssignOutcome::AlreadyAssigned => {}
            AssignOutcome::NoAddress => return self.give_up(slot, says::NOBODY).await,
        }
        Ok(SlotProgress::Working)
    }

    async fn gather_input(
        &self,
        slot: &SlotRow,
        job: Job,
        person: crate::people::Person,
    ) -> anyhow::Result<InputRequest> {
        let engine = &self.engine;
        let window = engine.background.order().first().and_then(|first| engine.background.info(*first));
        let window = window.map_or(MOST_TOKENS, |info| info.context_window / WINDOW_DIVISOR);
        Ok(InputRequest {
            slot: slot.clone(),
            job,
            person,
            zone: self.zone,
            tools: engine.toolbox.names(),
            skills: self.known_skills().await,
            budget: window.min(MOST_TOKENS),
        })
    }

    /// Returns the skills without untrusted content. A folder that cannot be read does not prevent
    /// the reflection.
    async fn known_skills(&self) -> Vec<KnownSkill> {
        let live = match self.review.live().await {
            Ok(live) => live,
            Err(error) => {
                tracing::error!("The skills cannot be read, and are left out: {error:#}");
                return Vec::new();
            }
        };
        let clean = live.skills.values().filter(|live| live.label.is_trusted());
        let known = clean.map(|live| KnownSkill {
            name: live.skill.manifest.name.clone(),
            description: live.skill.manifest.description.clone(),
            label: live.index_label(),
            source: Node::Version(live.version),
        });
        known.collect()
    }

    /// Reads and handles the outcome of the run.
    async fn read_outcome(
        &self,
        slot: &SlotRow,
        person: PersonId,
        conversation: ConversationId,
    ) -> anyhow::Result<SlotProgress> {
        if let Some(at) = slot.retry_at {
            let due = at <= self.clock.now();
            return if due { self.ask_again(slot, person, conversation).await } else { Ok(SlotProgress::At(at)) };
        }
        match self.journal.read(move |db| system_run::outcome(db, conversation)).await? {
            RunOutcome::Open => Ok(SlotProgress::Working),
            RunOutcome::GaveUp { reason } => self.postpone(slot, &says::gave_up(&reason)).await,
            RunOutcome::Answered { turn, text, .. } => match commit::read(&text) {
                Ok(form) => self.commit(slot, conversation, turn, form, text.label()).await,
                Err(_) => self.postpone(slot, says::NO_FORM).await,
            },
        }
    }

    async fn postpone(&self, slot: &SlotRow, reason: &str) -> anyhow::Result<SlotProgress> {
        let tries = usize::try_from(slot.tries).unwrap_or(usize::MAX);
        let Some(pause) = PAUSES.get(tries.saturating_sub(1)) else { return self.give_up(slot, reason).await };
        let (id, at) = (slot.id, self.clock.now().plus(*pause));
        self.journal.write("postpone a reflection", move |tx| tx.slots().slot_waits(id, at)).await?;
        Ok(SlotProgress::At(at))
    }

    async fn ask_again(
        &self,
        slot: &SlotRow,
        person: PersonId,
        conversation: ConversationId,
    ) -> anyhow::Result<SlotProgress> {
        let (id, scope, at) = (slot.id, slot.scope, self.clock.now());
        let assigned = self.journal.write("ask for a reflection again", move |tx| {
            if tx.slots().slot(id)?.is_none_or(|slot| !slot.state.is_open() || slot.retry_at.is_none()) {
                return Ok(AssignOutcome::AlreadyAssigned);
            }
            let answered = matches!(system_run::outcome(*tx, conversation)?, RunOutcome::Answered { .. });
            let words = [wording::own(if answered { says::AGAIN_FORM } else { says::AGAIN_CUT }, scope).into()];
            let again = Assignment { person, kind: ConversationKind::Reflection, words: &words, from: &[], at };
            let Some(run) = system_run::ask_again(tx, conversation, &again)? else {
                return Ok(AssignOutcome::NoAddress);
            };
            tx.slots().slot_works(id, conversation)?;
            Ok(AssignOutcome::Assigned(run))
        });
        self.after_assigning(slot, assigned.await?).await
    }
}
