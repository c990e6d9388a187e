//! One task per stream: strict order, never two turns at once.
//!
//! The task wakes when a message was stored for its stream, joins messages that came close
//! together, claims them for a turn and runs that turn to its end before it looks again. Between
//! turns it keeps the history of the current conversation.

mod hand_edits;
mod resume;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::context::TurnContext;
use super::context_budget::ContextBudget;
use super::context_sections::ContextSections;
use super::history::{History, HistorySettings};
use super::record::{TurnRecord, store_reactions};
use super::system_run::Allowance;
use super::turn::answered;
use super::turn::joining::{TOGETHER, absorb_messages, quiet_at};
use super::turn::{self, Turn, TurnOutcome};
use super::{Engine, MAX_MESSAGE_AGE, auto_recall, compact, context};
use crate::id::{AddressId, ConversationId, MessageId, PersonId, StreamId, TurnId};
use crate::memory::HandEditEffect;
use crate::model::ToolSpec;
use crate::people::Party;
use crate::spend::ModelPool;
use crate::store::{
    Conversation, ConversationKind, Db, MessageKind, MessageState, NewOutbox, NewTurn, Node, OutboxKind, SentRow,
    StoredMessage, TurnRow, Tx, UnansweredReason,
};
use crate::time::clock::Wakeups;
use crate::time::task::{guarded, lock};
use crate::time::{Timestamp, Zone};
use crate::tool::skills::SUBMIT_SKILL;
use crate::trust::{Label, Scope, Text};
use crate::wording::{self, Language, ProgramText};

/// Delay beyond which the answer to a message that waited because the program was away mentions the
/// delay.
const DELAY_WORTH_NAMING: Duration = Duration::from_secs(15 * 60);

/// Rest after a journal error. Nothing is lost meanwhile: queued messages stay queued.
const AFTER_ERROR: Duration = Duration::from_secs(10);

/// Maximum number of tokens in the list of skills. Beyond that, descriptions are shortened.
const SKILL_LINES: u64 = 3_000;

/// The task of one stream.
pub struct StreamTask {
    engine: Arc<Engine>,
    id: StreamId,
    running: Arc<Mutex<Option<CancellationToken>>>,
    history: Option<History>,
    /// The turn that was begun or resumed, and not interrupted since.
    current_turn: Option<TurnId>,
    /// Newest message that was told of the present outage.
    told_of_outage: Option<MessageId>,
    /// Notified at each wake-up while a turn runs.
    arrivals: Arc<Notify>,
    /// Number of consecutive errors.
    errors: u32,
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
    /// Zone for the times of reactions and sent messages, which only chats are shown.
    zone: Option<Zone>,
    notice: Option<Text>,
    /// Files of the party that cannot be read, for a chat: a change of these is told once.
    unreadable: Option<Vec<String>>,
    /// Notices about values that were changed by hand.
    followed: Vec<Text>,
}

impl TurnClaim {
    /// Begins the turn with those messages that still wait; `None` if none does.
    fn write(mut self, tx: Tx<'_>, ids: &[MessageId]) -> anyhow::Result<Option<TurnRow>> {
        let ids = tx.messages().still_queued(ids)?;
        if ids.is_empty() {
            return Ok(None);
        }
        let unshown = if self.zone.is_some() { tx.sent().unshown(self.stream)? } else { Vec::new() };
        let of_sent = unshown.iter().map(|row| row.text.label()).filter(|label| label.is_trusted());
        let mut came: Vec<Label> = of_sent.cloned().collect();
        let edits = if self.zone.is_some() { tx.messages().unshown_edits(self.stream)? } else { Vec::new() };
        came.extend(edits.iter().map(|edit| edit.text.label().clone()));
        self.label = absorb_messages(tx, self.conversation, &ids, came, &self.label, self.now)?;
        let shown: Vec<&SentRow> = unshown.iter().filter(|row| context::is_shown(row, &self.label)).collect();
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
            store_reactions(tx, self.stream, turn, zone)?;
        }
        let sent: Vec<MessageId> = unshown.iter().map(|row| row.message).collect();
        tx.sent().show(turn, self.conversation, &sent)?;
        for row in &shown {
            tx.conversations().join_labels_of(self.conversation, row.message)?;
            tx.derivations().derive(Node::Turn(turn), Node::Message(row.message))?;
        }
        tx.messages().show_edits(turn, &edits)?;
        for edit in &edits {
            tx.derivations().derive(Node::Turn(turn), Node::Message(edit.message))?;
        }
        for parent in self.parents {
            tx.derivations().derive(Node::Turn(turn), parent)?;
        }
        for summary in tx.summaries().summaries_before(self.conversation)? {
            tx.derivations().derive(Node::Turn(turn), Node::Summary(summary))?;
        }
        let unreadable = match &self.unreadable {
            Some(files) => tell_of_unreadable(tx, self.scope, files)?,
            None => None,
        };
        for notice in self.notice.into_iter().chain(self.followed).chain(unreadable) {
            tx.outbox().post(&NewOutbox::answer(OutboxKind::Notice, self.address, &notice, self.now))?;
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
        let (history, current_turn, told_of_outage, arrivals) = (None, None, None, Arc::default());
        Self { engine, id, running, history, current_turn, told_of_outage, arrivals, errors: 0 }
    }

    /// Works until the program stops.
    pub async fn run(mut self, mut wakeups: Wakeups, stop: CancellationToken) {
        let clock = Arc::clone(&self.engine.clock);
        let (mut wake_at, mut busy) = (None, None);
        loop {
            busy = tokio::select! {
                () = stop.cancelled() => return,
                woken = wakeups.recv_or_timeout(&*clock, wake_at, busy.take()) => woken,
            };
            if busy.is_none() {
                return;
            }
            wake_at = loop {
                let checked = self.check_and_drain(&mut wakeups, &stop).await;
                self.errors = if checked.is_ok() { 0 } else { self.errors.saturating_add(1) };
                match checked {
                    Ok(NextAction::Again) if !stop.is_cancelled() => {}
                    Ok(NextAction::Again | NextAction::Nothing) => break None,
                    Ok(NextAction::Until(at)) => break Some(at),
                    Err(error) => {
                        tracing::error!(stream.id = %self.id, "Stream {}: {error:#}", self.id);
                        self.history = None;
                        self.count_against_turn(&error);
                        break Some(clock.now().plus(AFTER_ERROR));
                    }
                }
            };
        }
    }

    /// Checks once while draining wake-ups. An undrained wake-up would count as work while the turn
    /// only waits for a time.
    async fn check_and_drain(&mut self, wakeups: &mut Wakeups, stop: &CancellationToken) -> anyhow::Result<NextAction> {
        let (mut woken, arrivals) = (false, Arc::clone(&self.arrivals));
        let next = {
            let check = guarded("A stream", self.check(stop));
            tokio::pin!(check);
            loop {
                tokio::select! {
                    next = &mut check => break next,
                    Some(_busy) = wakeups.recv() => {
                        woken = true;
                        arrivals.notify_one();
                    }
                }
            }
        };
        // The cause of the wake-up may have come too late for this check.
        next.map(|now| if woken { NextAction::Again } else { now })
    }

    async fn check(&mut self, stop: &CancellationToken) -> anyhow::Result<NextAction> {
        let id = self.id;
        let (open, queued) =
            self.engine.journal.read(move |db| Ok((db.turns().open_turn(id)?, db.messages().queued(id)?))).await?;
        if let Some(row) = open {
            return self.resume(row, !queued.is_empty(), stop).await;
        }
        let Some((first, last)) = queued.first().zip(queued.last()) else { return self.wait_for_an_answer().await };
        let now = self.engine.clock.now();
        // Requests of the program arrive complete; only people continue typing.
        let is_task = first.kind == MessageKind::Task;
        let join = if is_task { Duration::ZERO } else { self.engine.conversation.join_within.min(TOGETHER) };
        if let Some(ready_at) = quiet_at(first.received_at, last.received_at, join, now) {
            return Ok(NextAction::Until(ready_at));
        }
        let queued = self.dismiss_outdated(queued, now).await?;
        match self.claim(queued, now).await? {
            Some((row, inputs)) => self.run_turn(row, inputs, stop).await,
            None => Ok(NextAction::Again),
        }
    }

    /// Goes on from questions that nobody answered in time; otherwise there is nothing to do.
    async fn wait_for_an_answer(&self) -> anyhow::Result<NextAction> {
        let (id, now) = (self.id, self.engine.clock.now());
        match self.engine.journal.read(move |db| db.questions().next_due(id)).await? {
            None => Ok(NextAction::Nothing),
            Some(at) if now < at => Ok(NextAction::Until(at)),
            Some(_) => {
                let journal = &self.engine.journal;
                let expire = move |tx: Tx<'_>| {
                    answered::pass_over(tx, id, now)?;
                    tx.outbox().addresses_with_decided_buttons()
                };
                let decided = journal.write("let questions expire", expire).await?;
                decided.into_iter().for_each(|address| self.engine.channels.posted(address));
                Ok(NextAction::Again)
            }
        }
    }

    /// Closes messages that waited for more than a day, with one notice.
    async fn dismiss_outdated(&self, queued: Vec<StoredMessage>, now: Timestamp) -> anyhow::Result<Vec<StoredMessage>> {
        // For a request of the program, the code that assigned it decides when to give up.
        let outdated = |m: &StoredMessage| m.kind == MessageKind::Said && now.since(m.effective_at) > MAX_MESSAGE_AGE;
        let (old, fresh): (Vec<_>, Vec<_>) = queued.into_iter().partition(outdated);
        let Some(address) = old.last().and_then(|message| message.address) else { return Ok(fresh) };
        let ids: Vec<MessageId> = old.iter().map(|message| message.id).collect();
        let language = self.engine.journal.read(move |db| db.people().language_at(address)).await?;
        let notice = self.notice(wording::turn::too_old(language, ids.len(), self.was_away(&old)));
        let from_there = old.iter().filter(|message| message.address == Some(address));
        let quoted: Vec<String> = from_there.map(|message| message.external_id.clone()).collect();
        self.engine
            .journal
            .write("close outdated messages", move |tx| {
                for id in ids {
                    tx.messages().settle_message(id, MessageState::Closed, "too_old")?;
                }
                let quotes = &quoted.join("\n");
                let answer = NewOutbox::answer(OutboxKind::Notice, address, &notice, now);
                tx.outbox().post(&NewOutbox { quotes, ..answer }).map(drop)
            })
            .await?;
        self.engine.channels.posted(address);
        Ok(fresh)
    }

    /// Returns true if the program was off, or disconnected from the channel, when these messages
    /// were sent.
    fn was_away(&self, messages: &[StoredMessage]) -> bool {
        let is_delayed = |m: &StoredMessage| m.received_at.since(m.effective_at) > DELAY_WORTH_NAMING;
        messages.iter().any(|m| is_delayed(m) || m.received_at < self.engine.runtime.began)
    }

    fn delay_notice(language: Language, sent_at: Timestamp, now: Timestamp, away: bool, zone: Zone) -> ProgramText {
        wording::turn::late(language, &language.near(zone, sent_at, now), now.since(sent_at), away)
    }

    /// Claims the queued messages of one conversation and address for a new turn.
    async fn claim(
        &mut self,
        queued: Vec<StoredMessage>,
        now: Timestamp,
    ) -> anyhow::Result<Option<(TurnRow, TurnContext)>> {
        let Some((Some(conversation), from)) = queued.first().map(|message| (message.conversation, message.address))
        else {
            return Ok(None);
        };
        // Each message is answered where it came from.
        let is_together =
            |message: &StoredMessage| message.conversation == Some(conversation) && message.address == from;
        let together: Vec<StoredMessage> = queued.into_iter().take_while(is_together).collect();
        let Some((party, address)) = self.party_and_address(&together).await? else { return Ok(None) };
        let is_said = together.iter().any(|message| message.kind == MessageKind::Said);
        let followed = if is_said { self.followed_edits(&party, now).await } else { Vec::new() };
        let inputs = self.inputs_of(party, conversation, address, now).await?;
        let (opening, scope) = (&inputs.conversation, inputs.conversation.scope);
        let budget = self.engine.context_budget(&self.engine.chat);
        let zone = self.engine.zone_of(scope).await?;
        let block = context::dynamic(&inputs, zone, now, &budget);
        let identity = context::identity(&self.engine, &inputs, &budget);
        let others = context::guess(&[&identity, &block.since(&ContextSections::default())]);
        let history = self.history_of(opening, others).await?;
        let begins = history.last_turn.is_none();
        let context = block.since(&history.shown);
        let ids: Vec<MessageId> = together.iter().map(|message| message.id).collect();
        let mut parents = turn::parents(history, &ids, &inputs);
        let mut label = super::history::label_of(history.messages());
        label.absorb(context.label());
        if let Some(opening) = &opening.opening {
            label.absorb(opening.label());
        }
        let is_talk = !opening.kind.is_run();
        let (recalled, sources) = if begins && is_talk {
            auto_recall::for_messages(&self.engine, &inputs, ids.clone()).await?
        } else {
            (wording::own("", scope), Vec::new())
        };
        label.absorb(recalled.label());
        parents.extend(sources);
        let first = together.first().filter(|_| is_talk).map(|message| message.effective_at);
        let delayed_since = first.filter(|sent_at| now.since(*sent_at) > DELAY_WORTH_NAMING);
        let away = self.was_away(&together);
        let notice =
            delayed_since.map(|sent_at| self.notice(Self::delay_notice(inputs.language, sent_at, now, away, zone)));
        let claim = TurnClaim {
            stream: self.id,
            conversation,
            person: inputs.party.person().map(|person| person.id),
            address,
            scope,
            now,
            context,
            recalled,
            label,
            parents,
            zone: (opening.kind == ConversationKind::Chat).then_some(zone),
            notice,
            unreadable: is_talk.then(|| inputs.loaded.unreadable.clone()),
            followed,
        };
        let tells = delayed_since.is_some()
            || !claim.followed.is_empty()
            || claim.unreadable.as_ref().is_some_and(|files| !files.is_empty());
        let row = self.engine.journal.write("claim messages", move |tx| claim.write(tx, &ids)).await?;
        if tells {
            self.engine.channels.posted(address);
        }
        self.current_turn = row.as_ref().map(|row| row.id);
        Ok(row.map(|row| (row, inputs)))
    }

    /// Lets the memory follow values that were changed by hand, and returns the notices about them.
    /// A failure does not prevent an answer.
    async fn followed_edits(&self, party: &Party, now: Timestamp) -> Vec<Text> {
        let language = self.engine.language_of(party.scope()).await.unwrap_or(Language::ENGLISH);
        let notice = |effect: HandEditEffect| hand_edits::notice(effect, language, party.scope());
        let follow = async {
            self.engine.index.record_hand_edits(party).await?;
            self.engine.workspace.follow_hand_edits(party, now).await
        };
        match follow.await {
            Ok(followed) => followed.into_iter().map(notice).collect(),
            Err(error) => {
                tracing::warn!("Values that were changed by hand are not followed yet: {error:#}");
                Vec::new()
            }
        }
    }

    /// Reads the inputs of a turn.
    async fn inputs_of(
        &self,
        party: Party,
        conversation: ConversationId,
        address: AddressId,
        day: Timestamp,
    ) -> anyhow::Result<TurnContext> {
        let now = self.engine.clock.now();
        let loaded = self.engine.workspace.load(&party, now, &self.engine.zone.day(day)).await?;
        let conversation = context::opening(&self.engine, conversation, &loaded).await?;
        let tools = self.tools_of(&conversation).await?;
        let (skills, nodes) = self.skills(conversation.kind, &tools).await;
        let is_sent = conversation.kind != ConversationKind::Reflection;
        let scope = party.scope();
        let home = self.engine.zone;
        let read = move |db: Db<'_>| {
            let items = if is_sent { db.open_items().open_items(scope)? } else { Vec::new() };
            let open = context::open_items(&items, db.people().zone_in(scope, home)?, now, scope);
            Ok((db.addresses().address(address)?, db.people().language_in(scope)?, open))
        };
        let (address, language, open) = self.engine.journal.read(read).await?;
        let channel = address.filter(|_| is_sent).map(|address| address.adapter).unwrap_or_default();
        Ok(TurnContext { party, conversation, channel, loaded, open, language, skills, nodes })
    }

    /// Lists the usable skills. A folder that cannot be read does not prevent an answer.
    async fn skills(&self, kind: ConversationKind, tools: &[ToolSpec]) -> (Text, Vec<Node>) {
        let mut names: Vec<String> = tools.iter().map(|tool| tool.name.clone()).collect();
        // A reflection proposes in its answer instead.
        names.extend((kind == ConversationKind::Reflection).then(|| SUBMIT_SKILL.to_owned()));
        match self.engine.review.live().await {
            Ok(live) => (live.listing(&names, SKILL_LINES), live.nodes()),
            Err(error) => {
                tracing::error!("The skills cannot be read, and are left out: {error:#}");
                (wording::own("", Scope::Shared), Vec::new())
            }
        }
    }

    async fn run_turn(
        &mut self,
        row: TurnRow,
        inputs: TurnContext,
        stop: &CancellationToken,
    ) -> anyhow::Result<NextAction> {
        let token = stop.child_token();
        *lock(&self.running) = Some(token.clone());
        let id = row.id;
        // A stop request before the token existed has closed the row.
        if !self.engine.journal.read(move |db| db.turns().turn(id)).await?.is_some_and(|turn| turn.is_open()) {
            return Ok(NextAction::Again);
        }
        let engine = Arc::clone(&self.engine);
        let Some(history) = &mut self.history else { return Ok(NextAction::Nothing) };
        let end = Turn::new(&engine, history, row, inputs, token, Arc::clone(&self.arrivals)).run().await;
        *lock(&self.running) = None;
        match end? {
            TurnOutcome::Waits(at) => Ok(NextAction::Until(at)),
            TurnOutcome::Cut if stop.is_cancelled() => Ok(NextAction::Nothing),
            TurnOutcome::Over | TurnOutcome::Cut => {
                self.remember(id).await?;
                compact::request_if_full(&self.engine, id).await?;
                self.engine.wake_summarizer();
                self.engine.wake_extractor();
                self.engine.wake_schedule();
                self.engine.review.retry_notices();
                Ok(NextAction::Again)
            }
        }
    }

    /// Adds a finished turn to the history.
    async fn remember(&mut self, turn: TurnId) -> anyhow::Result<()> {
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
        let of = conversation.clone();
        let allowance = self.engine.journal.read(move |db| Allowance::of(db, &of)).await?;
        Ok(allowance.offered(&self.engine.toolbox))
    }

    /// Returns the history, loaded if necessary. `others` is the estimated number of tokens in the
    /// rest of the prompt.
    async fn history_of(&mut self, conversation: &Conversation, others: u64) -> anyhow::Result<&mut History> {
        let id = conversation.id;
        let versions = move |db: Db<'_>| {
            let (revision, decided) = (db.redaction().revision_of(id)?, db.questions().decided_in(id)?);
            Ok((db.turns().last_past_turn(id)?, revision, decided, db.compactions().compacted_upto(id)?))
        };
        let versions = self.engine.journal.read(versions).await?;
        // A turn that was stopped while it waited ended without this task; text may have been
        // deleted, or compacted into a summary; a question may have been decided.
        let is_current = |history: &History| {
            let version = (history.last_turn, history.revision, history.decided, history.compacted_upto());
            history.conversation() == id && version == versions
        };
        if !self.history.as_ref().is_some_and(is_current) {
            let tools = self.tools_of(conversation).await?;
            let others = others
                + crate::model::guess_tools(&tools)
                + conversation.opening.iter().map(|opening| context::guess(&[opening])).sum::<u64>();
            let zone = self.engine.zone_of(conversation.scope).await?;
            let shape = self.engine.shape_of(conversation, others, zone);
            let load = move |db: Db<'_>| History::load(db, id, tools, shape);
            self.history = Some(self.engine.journal.read_much(load).await?);
        }
        self.history.as_mut().ok_or_else(|| anyhow::anyhow!("A history vanished"))
    }

    async fn party_and_address(&self, messages: &[StoredMessage]) -> anyhow::Result<Option<(Party, AddressId)>> {
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
                    let reason = UnansweredReason::NotAllowed.as_str();
                    tx.messages().settle_message(id, MessageState::Closed, reason).map(drop)
                })
            })
            .await?;
        Ok(None)
    }

    fn notice(&self, words: impl Into<ProgramText>) -> Text {
        // The stream's scope is not known here without a query; a notice holds only the program's
        // own text.
        wording::own(words, Scope::Shared)
    }
}

/// Returns the notice about files that cannot be read, unless it was given already.
fn tell_of_unreadable(tx: Tx<'_>, scope: Scope, files: &[String]) -> anyhow::Result<Option<Text>> {
    let (key, names) = (format!("unreadable_files:{}", scope.encode()), files.join("\n"));
    let told = tx.settings().fact(&key)?.unwrap_or_default();
    if told == names {
        return Ok(None);
    }
    if names.is_empty() {
        tx.settings().drop_fact(&key)?;
    } else {
        tx.settings().set_fact(&key, &names)?;
    }
    let is_new = |file: &&String| told.lines().all(|known| known != file.as_str());
    let new: Vec<&str> = files.iter().filter(is_new).map(String::as_str).collect();
    let language = tx.people().language_in(scope)?;
    let notice = || wording::own(wording::turn::unreadable_files(language, &new.join(", ")), scope);
    Ok((!new.is_empty()).then(notice))
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
    pub(super) fn context_budget(&self, pool: &ModelPool) -> ContextBudget {
        let first = pool.order().first().copied().unwrap_or_default();
        ContextBudget::of(pool.info(first).as_ref(), pool.token_ratio(first))
    }

    /// Maximum size of the material of a background question, in estimated tokens: at most that
    /// many, with room for an answer of that many tokens. It fits the smallest window, because each
    /// model may be asked.
    pub(super) fn material(&self, answer: u64, most: u64) -> u64 {
        let pool = &*self.background;
        let of = |index| ContextBudget::of(pool.info(index).as_ref(), pool.token_ratio(index)).material(answer, most);
        (0..pool.len()).map(of).min().unwrap_or_default()
    }

    /// Display settings of a conversation's history, given the estimated tokens of the rest of the
    /// prompt.
    fn shape_of(&self, conversation: &Conversation, others: u64, zone: Zone) -> HistorySettings {
        let pool = if conversation.kind.is_run() { &*self.background } else { &self.chat };
        let budget = self.context_budget(pool).history(others);
        HistorySettings { zone, budget, placement: self.memory.placement, reading: self.toolbox.reading() }
    }
}
