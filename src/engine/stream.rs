//! One task per stream: strict order, never two turns at once.
//!
//! The task wakes when a message was stored for its stream, joins messages that came close
//! together, claims them for a turn and runs that turn to its end before it looks again. Between
//! turns it keeps the history of the current conversation.

mod resume;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::context::TurnContext;
use super::context_budget::ContextBudget;
use super::history::{History, HistorySettings};
use super::record::TurnRecord;
use super::system_run::{Allowance, RunKind};
use super::turn::{self, Turn, TurnOutcome};
use super::{Engine, PATIENCE, compaction_trigger, context, reactions, summarizer};
use crate::id::{AddressId, ConversationId, MessageId, PersonId, StreamId, TurnId};
use crate::model::ToolSpec;
use crate::people::Party;
use crate::spend::ModelPool;
use crate::store::{Conversation, Db, MessageKind, MessageState, NewOutbox, NewTurn, Node, StoredMessage, TurnRow, Tx};
use crate::time::clock::Wakeups;
use crate::time::task::guarded;
use crate::time::{Timestamp, Zone};
use crate::trust::{Label, Scope, Text};
use crate::wording::{self, ProgramText};

/// Maximum time for which messages are joined, however fast they follow each other.
const JOIN_AT_MOST: Duration = Duration::from_secs(5);

/// Delay beyond which the answer to a message that waited because the program was away mentions the
/// delay.
const DELAY_WORTH_NAMING: Duration = Duration::from_secs(15 * 60);

/// Rest after a journal error. Nothing is lost meanwhile: queued messages stay queued.
const AFTER_TROUBLE: Duration = Duration::from_secs(10);

/// Maximum number of tokens in the list of skills. Beyond that, descriptions are shortened.
const SKILL_LINES: u64 = 3_000;

/// The task of one stream.
pub struct StreamTask {
    engine: Arc<Engine>,
    id: StreamId,
    running: Arc<Mutex<Option<CancellationToken>>>,
    history: Option<History>,
    /// The turn that was begun or resumed, and not interrupted since.
    own: Option<TurnId>,
    /// Number of consecutive errors.
    troubles: u32,
}

/// Inputs of a turn, read once at its start.
struct TurnInputs {
    party: Party,
    opening: Conversation,
    known: TurnContext,
}

/// A turn about to begin with the messages that it claims.
struct TurnClaim {
    stream: StreamId,
    conversation: ConversationId,
    person: Option<PersonId>,
    address: AddressId,
    scope: Scope,
    now: Timestamp,
    context: Text,
    recalled: Text,
    label: Label,
    parents: Vec<Node>,
    /// Zone for the times of reactions, which only people are told of.
    zone: Option<Zone>,
    notice: Option<Text>,
}

impl TurnClaim {
    /// Begins the turn with those messages that still wait; `None` if none does.
    fn write(mut self, tx: Tx<'_>, ids: &[MessageId]) -> anyhow::Result<Option<TurnRow>> {
        let ids = tx.messages().still_queued(ids)?;
        if ids.is_empty() {
            return Ok(None);
        }
        for id in &ids {
            for text in tx.messages().texts_of(*id)? {
                self.label.absorb(text.text.label());
            }
            for file in tx.attachments().attachments_of(*id)? {
                self.label.absorb(&file.label);
            }
        }
        let turn = tx.turns().begin_turn(&NewTurn {
            stream: self.stream,
            conversation: self.conversation,
            person: self.person,
            address: self.address,
            scope: self.scope,
            at: self.now,
            context: &self.context,
            recalled: &self.recalled,
            label: &self.label,
        })?;
        tx.messages().claim(turn, &ids)?;
        if let Some(zone) = self.zone {
            reactions::store_reactions(tx, self.stream, turn, zone)?;
        }
        for parent in self.parents {
            tx.derivations().derive(Node::Turn(turn), parent)?;
        }
        for summary in tx.summaries().summaries_before(self.conversation)? {
            tx.derivations().derive(Node::Turn(turn), Node::Summary(summary))?;
        }
        if let Some(notice) = self.notice {
            tx.outbox().post(&NewOutbox::notice(self.address, &notice, self.now))?;
        }
        tx.turns().turn(turn)
    }
}

/// Next action of the task.
enum NextAction {
    Nothing,
    Until(Timestamp),
    Again,
}

impl StreamTask {
    /// Creates the task of that stream. `running` holds the token that cancels its turn, while
    /// there is one.
    pub fn new(engine: Arc<Engine>, id: StreamId, running: Arc<Mutex<Option<CancellationToken>>>) -> Self {
        Self { engine, id, running, history: None, own: None, troubles: 0 }
    }

    /// Works until the program stops.
    pub async fn run(mut self, mut bell: Wakeups, stop: CancellationToken) {
        let clock = Arc::clone(&self.engine.clock);
        let (mut wake_at, mut busy) = (None, None);
        loop {
            busy = tokio::select! {
                () = stop.cancelled() => return,
                heard = bell.recv_or_timeout(&*clock, wake_at, busy.take()) => heard,
            };
            if busy.is_none() {
                return;
            }
            wake_at = loop {
                let looked = self.check_and_drain(&mut bell, &stop).await;
                self.troubles = if looked.is_ok() { 0 } else { self.troubles.saturating_add(1) };
                match looked {
                    Ok(NextAction::Again) if !stop.is_cancelled() => {}
                    Ok(NextAction::Again | NextAction::Nothing) => break None,
                    Ok(NextAction::Until(at)) => break Some(at),
                    Err(error) => {
                        tracing::error!(stream.id = %self.id, "Stream {}: {error:#}", self.id);
                        self.history = None;
                        self.may_be_its_fault(&error);
                        break Some(clock.now().plus(AFTER_TROUBLE));
                    }
                }
            };
        }
    }

    /// Looks once while draining wake-ups. An undrained wake-up would count as work while the turn
    /// only waits for a time.
    async fn check_and_drain(&mut self, bell: &mut Wakeups, stop: &CancellationToken) -> anyhow::Result<NextAction> {
        let mut rung = false;
        let looked = {
            let look = guarded("A stream", self.check(stop));
            tokio::pin!(look);
            loop {
                tokio::select! {
                    looked = &mut look => break looked,
                    Some(_ring) = bell.recv() => rung = true,
                }
            }
        };
        // The cause of the wake-up may have come too late for this look.
        looked.map(|now| if rung { NextAction::Again } else { now })
    }

    async fn check(&mut self, stop: &CancellationToken) -> anyhow::Result<NextAction> {
        let id = self.id;
        let (open, queued) =
            self.engine.journal.read(move |db| Ok((db.turns().open_turn(id)?, db.messages().queued(id)?))).await?;
        if let Some(row) = open {
            return self.take_up(row, !queued.is_empty(), stop).await;
        }
        let Some((first, last)) = queued.first().zip(queued.last()) else { return self.wait_for_an_answer().await };
        let now = self.engine.clock.now();
        // Requests of the program arrive complete; only people continue typing.
        let is_task = first.kind == MessageKind::Task;
        let join = if is_task { Duration::ZERO } else { self.engine.conversation.join_within };
        let ready = last.received_at.plus(join).min(first.received_at.plus(JOIN_AT_MOST));
        // If the clock was set back, do not wait for it to catch up.
        if now < ready && ready.since(now) <= JOIN_AT_MOST {
            return Ok(NextAction::Until(ready));
        }
        let queued = self.dismiss_outdated(queued, now).await?;
        match self.claim(queued, now).await? {
            Some((row, ready)) => self.run_turn(row, ready, stop).await,
            None => Ok(NextAction::Again),
        }
    }

    /// Closes unanswered questions that have expired; otherwise there is nothing to do.
    async fn wait_for_an_answer(&self) -> anyhow::Result<NextAction> {
        let (id, now) = (self.id, self.engine.clock.now());
        match self.engine.journal.read(move |db| db.questions().next_expiry(id)).await? {
            None => Ok(NextAction::Nothing),
            Some(at) if now < at => Ok(NextAction::Until(at)),
            Some(_) => {
                let journal = &self.engine.journal;
                journal.write("let questions expire", move |tx| tx.questions().expire_questions(id, now)).await?;
                Ok(NextAction::Again)
            }
        }
    }

    /// Closes messages that waited for more than a day, with one notice.
    async fn dismiss_outdated(&self, queued: Vec<StoredMessage>, now: Timestamp) -> anyhow::Result<Vec<StoredMessage>> {
        // For a request of the program, the code that assigned it decides when to give up.
        let outdated = |m: &StoredMessage| m.kind == MessageKind::Said && now.since(m.effective_at) > PATIENCE;
        let (old, fresh): (Vec<_>, Vec<_>) = queued.into_iter().partition(outdated);
        let Some(address) = old.last().and_then(|message| message.address) else { return Ok(fresh) };
        let ids: Vec<MessageId> = old.iter().map(|message| message.id).collect();
        let notice = self.notice(wording::turn::too_old(ids.len(), self.was_away(&old)));
        let from_there = old.iter().filter(|message| message.address == Some(address));
        let asked: Vec<String> = from_there.map(|message| message.external_id.clone()).collect();
        self.engine
            .journal
            .write("close outdated messages", move |tx| {
                for id in ids {
                    tx.messages().settle_message(id, MessageState::Closed, "too_old")?;
                }
                let quotes = &asked.join("\n");
                tx.outbox().post(&NewOutbox { quotes, ..NewOutbox::notice(address, &notice, now) }).map(|_| ())
            })
            .await?;
        self.engine.audience.posted(address);
        Ok(fresh)
    }

    /// Returns true if the program was off, or disconnected from the channel, when these messages
    /// were sent.
    fn was_away(&self, messages: &[StoredMessage]) -> bool {
        let missed = |m: &StoredMessage| m.received_at.since(m.effective_at) > DELAY_WORTH_NAMING;
        messages.iter().any(|m| missed(m) || m.received_at < self.engine.runtime.began)
    }

    fn late(&self, said: Timestamp, now: Timestamp, away: bool) -> ProgramText {
        wording::turn::late(&self.engine.zone.show_short(said), now.since(said), away)
    }

    /// Claims the queued messages of one conversation for a new turn.
    async fn claim(
        &mut self,
        queued: Vec<StoredMessage>,
        now: Timestamp,
    ) -> anyhow::Result<Option<(TurnRow, TurnInputs)>> {
        let Some(conversation) = queued.first().and_then(|message| message.conversation) else { return Ok(None) };
        let together: Vec<StoredMessage> =
            queued.into_iter().take_while(|message| message.conversation == Some(conversation)).collect();
        let Some((party, address)) = self.who_and_where(&together).await? else { return Ok(None) };
        let TurnInputs { party, opening, known } = self.ready(party, conversation, now).await?;
        let scope = opening.scope;
        let room = self.engine.context_budget(&self.engine.chat);
        let block = context::dynamic(&known.loaded, self.engine.zone, now, scope, &room);
        let identity = context::identity(&known, &self.engine.agent, &party, &room);
        let others = context::guess(&[&identity, &block]);
        let history = self.history_of(&opening, others).await?;
        let begins = history.last_turn.is_none();
        let context = if history.last_context.as_ref() == Some(&block) { wording::own("", scope) } else { block };
        let ids: Vec<MessageId> = together.iter().map(|message| message.id).collect();
        let mut parents = turn::parents(history, &ids, &known);
        let mut label = super::history::label_of(history.messages());
        label.absorb(context.label());
        if let Some(opening) = &opening.opening {
            label.absorb(opening.label());
        }
        let is_chat = RunKind::of(&opening).is_none();
        let (recalled, told_from) = if begins && is_chat {
            self.recalled(&party, &ids, &known).await?
        } else {
            (wording::own("", scope), Vec::new())
        };
        label.absorb(recalled.label());
        parents.extend(told_from);
        let late = together
            .first()
            .filter(|_| is_chat)
            .map(|message| message.effective_at)
            .filter(|said| now.since(*said) > DELAY_WORTH_NAMING);
        let away = self.was_away(&together);
        let notice = late.map(|said| self.notice(self.late(said, now, away)));
        let claim = TurnClaim {
            stream: self.id,
            conversation,
            person: party.person().map(|person| person.id),
            address,
            scope,
            now,
            context,
            recalled,
            label,
            parents,
            zone: is_chat.then_some(self.engine.zone),
            notice,
        };
        let row = self.engine.journal.write("claim messages", move |tx| claim.write(tx, &ids)).await?;
        if late.is_some() {
            self.engine.audience.posted(address);
        }
        self.own = row.as_ref().map(|row| row.id);
        Ok(row.map(|row| (row, TurnInputs { party, opening, known })))
    }

    /// Recalled memories for the first messages of a conversation, and the sources of these and of
    /// the opening.
    async fn recalled(
        &self,
        party: &Party,
        said: &[MessageId],
        known: &TurnContext,
    ) -> anyhow::Result<(Text, Vec<Node>)> {
        let said = said.to_owned();
        let read = move |db: Db<'_>| {
            let texts: Vec<_> = said.iter().map(|id| db.messages().texts_of(*id)).collect::<anyhow::Result<_>>()?;
            Ok(texts.into_iter().flatten().map(|text| text.text).collect::<Vec<Text>>())
        };
        let words = self.engine.journal.read(read).await?;
        let (recalled, mut from) = super::recalled(&self.engine, party, &words, &known.loaded).await;
        from.extend(self.engine.tree.notes().learned_from(party).await?);
        Ok((recalled, from))
    }

    /// Reads the inputs of a turn.
    async fn ready(&self, party: Party, conversation: ConversationId, day: Timestamp) -> anyhow::Result<TurnInputs> {
        let opening = summarizer::opening(&self.engine, conversation).await?;
        let now = self.engine.clock.now();
        let loaded = self.engine.tree.load(&party, now, &self.engine.zone.day(day)).await?;
        let tools = self.tools_of(&opening).await?;
        let (skills, nodes) = self.skills(&tools).await;
        Ok(TurnInputs { party, opening, known: TurnContext { loaded, skills, nodes } })
    }

    /// Lists the usable skills. A folder that cannot be read does not prevent an answer.
    async fn skills(&self, tools: &[ToolSpec]) -> (Text, Vec<Node>) {
        let names: Vec<String> = tools.iter().map(|tool| tool.name.clone()).collect();
        match self.engine.review.live().await {
            Ok(live) => (live.listing(&names, SKILL_LINES), live.nodes()),
            Err(error) => {
                tracing::error!("The skills cannot be read, and are left out: {error:#}");
                (wording::own("", crate::trust::Scope::Shared), Vec::new())
            }
        }
    }

    async fn run_turn(
        &mut self,
        row: TurnRow,
        ready: TurnInputs,
        stop: &CancellationToken,
    ) -> anyhow::Result<NextAction> {
        let TurnInputs { party, opening, known } = ready;
        let token = stop.child_token();
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(token.clone());
        let id = row.id;
        // A stop request before the token existed has closed the row.
        if !self.engine.journal.read(move |db| db.turns().turn(id)).await?.is_some_and(|turn| turn.is_open()) {
            return Ok(NextAction::Again);
        }
        let engine = Arc::clone(&self.engine);
        let Some(history) = &mut self.history else { return Ok(NextAction::Nothing) };
        let end = Turn::new(&engine, history, row, party, known, opening, token).run().await;
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = None;
        match end? {
            TurnOutcome::Waits(at) => Ok(NextAction::Until(at)),
            TurnOutcome::Cut if stop.is_cancelled() => Ok(NextAction::Nothing),
            TurnOutcome::Over | TurnOutcome::Cut => {
                self.remember(id).await?;
                compaction_trigger::after(&self.engine, id).await?;
                self.engine.wake_summarizer();
                self.engine.wake_extractor();
                self.engine.wake_worker();
                Ok(NextAction::Again)
            }
        }
    }

    /// Adds a finished turn to the history.
    async fn remember(&mut self, turn: crate::id::TurnId) -> anyhow::Result<()> {
        let record = self
            .engine
            .journal
            .read(move |db| db.turns().turn(turn)?.map(|row| TurnRecord::read(db, row)).transpose())
            .await?;
        if let (Some(history), Some(record)) = (&mut self.history, record)
            && record.turn.conversation == history.conversation()
        {
            history.append(&record);
        }
        Ok(())
    }

    /// Returns the tools of a conversation, fixed when it was first loaded.
    async fn tools_of(&self, conversation: &Conversation) -> anyhow::Result<Arc<[ToolSpec]>> {
        if let Some(history) = self.history.as_ref().filter(|history| history.conversation() == conversation.id) {
            return Ok(Arc::clone(&history.tools));
        }
        let asked = conversation.clone();
        let allowance = self.engine.journal.read(move |db| Allowance::of(db, &asked)).await?;
        Ok(allowance.offered(&self.engine.toolbox))
    }

    /// Returns the history, loaded if necessary. `others` is the estimated number of tokens in the
    /// rest of the prompt.
    async fn history_of(&mut self, conversation: &Conversation, others: u64) -> anyhow::Result<&mut History> {
        let id = conversation.id;
        let stands = move |db: Db<'_>| {
            Ok((db.turns().last_past_turn(id)?, db.redaction().revision_of(id)?, db.compactions().compacted_upto(id)?))
        };
        let stands = self.engine.journal.read(stands).await?;
        // A turn that was stopped while it waited ended without this task; text may have been
        // deleted, or compacted into a summary.
        let holds = |history: &History| {
            history.conversation() == id && (history.last_turn, history.revision, history.compacted_upto()) == stands
        };
        if !self.history.as_ref().is_some_and(holds) {
            let tools = self.tools_of(conversation).await?;
            let others = others
                + crate::model::guess_tools(&tools)
                + conversation.opening.iter().map(|opening| context::guess(&[opening])).sum::<u64>();
            let shape = self.engine.shape_of(conversation, others);
            let load = move |db: Db<'_>| History::load(db, id, tools, shape);
            self.history = Some(self.engine.journal.read_much(load).await?);
        }
        self.history.as_mut().ok_or_else(|| anyhow::anyhow!("A history vanished"))
    }

    async fn who_and_where(&self, messages: &[StoredMessage]) -> anyhow::Result<Option<(Party, AddressId)>> {
        let Some(last) = messages.last() else { return Ok(None) };
        let (stream, said_by) = (self.id, last.person);
        let known = self.engine.journal.read(move |db| {
            if db.groups().group_of(stream)?.is_some() {
                return Ok(Some(Party::Group(stream)));
            }
            // A request of the program has no sender: its person is the owner of the stream.
            let person = said_by.map_or_else(|| db.conversations().works_for(stream), |person| Ok(Some(person)))?;
            Ok(person.map_or(Ok(None), |person| db.people().person(person))?.map(Party::One))
        });
        if let Some(found) = known.await?.zip(last.address) {
            return Ok(Some(found));
        }
        let ids: Vec<MessageId> = messages.iter().map(|message| message.id).collect();
        self.engine
            .journal
            .write("close messages of nobody", move |tx| {
                ids.into_iter().try_for_each(|id| {
                    tx.messages().settle_message(id, MessageState::Closed, "not_allowed").map(|_| ())
                })
            })
            .await?;
        Ok(None)
    }

    fn notice(&self, words: impl Into<ProgramText>) -> Text {
        // The stream's scope is not known here without a query; a notice holds only the program's
        // own text.
        wording::own(words, crate::trust::Scope::Shared)
    }
}

/// The party of a turn; `None` if the person has no access any more.
fn party(db: Db<'_>, person: Option<PersonId>, scope: Scope) -> anyhow::Result<Option<Party>> {
    match (person, scope) {
        (Some(person), _) => Ok(db.people().person(person)?.map(Party::One)),
        (None, Scope::Group(stream)) => Ok(Some(Party::Group(stream))),
        (None, _) => Ok(None),
    }
}

impl Engine {
    /// Context budget of the first model of a pool.
    pub(super) fn context_budget(&self, purse: &ModelPool) -> ContextBudget {
        let first = purse.order().first().copied().unwrap_or_default();
        ContextBudget::of(purse.card(first), purse.scale(first))
    }

    /// Display settings of a conversation's history, given the estimated tokens of the rest of the
    /// prompt.
    fn shape_of(&self, conversation: &Conversation, others: u64) -> HistorySettings {
        let purse = if RunKind::of(conversation).is_some() { &*self.background } else { &self.chat };
        let budget = self.context_budget(purse).history(others);
        HistorySettings { zone: self.zone, budget, placement: self.memory.placement }
    }
}
