//! One turn: step by step, each stored before the next, until there is a reply or a reason why
//! there is none.
//!
//! What to do next is read off the stored steps alone, so a turn that was cut off goes on where it
//! stood: a stored model reply is never asked for again; a tool call that was begun and not
//! finished is repeated only if the tool says that this is safe. The reply, the end of the turn and
//! the delivery are one transaction.

mod call;
mod attachments_out;
mod keep;

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::background_job::Pace;
use super::context::TurnContext;
use super::files::Prepared;
use super::history::{self, History, Record};
use super::system_run::RunKind;
use super::{Engine, Watcher, addresses, context, extractor, files};
use crate::config::Placement;
use crate::id::MessageId;
use crate::model::{Message, ModelError, NullSink, Purpose, Reply, Request, Role, Stop};
use crate::people::Party;
use crate::spend::{AskPolicy, ModelPool, OnBehalf};
use crate::store::{
    Conversation, MessageKind, NewMessage, NewOutbox, NewStep, Node, OutboxKind, StepRow, TextKind, TurnRow, Tx,
};
use crate::time::Timestamp;
use crate::trust::{Label, Labelled, Scope, Text};
use crate::wording::{self, ProgramText};

/// Characters that stay of a result of an earlier call when the window is nearly full.
const SHORT_RESULT: usize = 1_000;
/// In which distances a model that is away is asked again.
const AWAY: Pace = Pace { first: Duration::from_secs(30), longest: Duration::from_secs(15 * 60) };
/// So many tries take a day. They are counted, because a day in which the program was off is no day
/// of trying.
const A_DAY_OF_TRIES: u32 = 100;

/// How a run of a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The turn is over, with a reply or with a reason.
    Over,
    /// The model is away; the turn waits until then.
    Waits(Timestamp),
    /// Somebody stopped it, or the program stops.
    Cut,
}

/// A turn at work.
pub struct Turn<'a> {
    engine: &'a Arc<Engine>,
    history: &'a mut History,
    row: TurnRow,
    party: Party,
    known: TurnContext,
    conversation: Conversation,
    stop: CancellationToken,
    watcher: Box<dyn Watcher>,
}

/// The last step of a turn.
struct Answered {
    step: crate::id::StepId,
    model: String,
    counted: u64,
}

/// What the stored steps say about what comes next.
enum NextStep {
    AskModel { seq: u32 },
    CallTool { seq: u32, call: crate::model::ToolCall, begun: bool },
    Finished,
}

impl<'a> Turn<'a> {
    /// The turn of that row.
    pub fn new(
        engine: &'a Arc<Engine>,
        history: &'a mut History,
        row: TurnRow,
        party: Party,
        known: TurnContext,
        conversation: Conversation,
        stop: CancellationToken,
    ) -> Self {
        let watcher = match RunKind::of(&conversation) {
            None => engine.audience.watch(row.id, row.address),
            Some(_) => Box::new(NullSink),
        };
        Self { engine, history, row, party, known, conversation, stop, watcher }
    }

    /// What the program asked for, if it is no chat.
    fn work(&self) -> Option<RunKind> {
        RunKind::of(&self.conversation)
    }

    fn purse(&self) -> &ModelPool {
        if self.work().is_some() { &self.engine.background } else { &self.engine.chat }
    }

    /// Runs it until it is over or has to wait.
    pub async fn run(mut self) -> anyhow::Result<End> {
        let limit = self.engine.conversation.max_turn;
        let stop = self.stop.clone();
        // Neither what it waited for nor time in the dark, asleep or under another clock is time of
        // the answer.
        let too_slow = self.engine.clock.after(limit);
        let end = tokio::select! {
            end = self.prepared_steps() => end?,
            () = stop.cancelled() => return Ok(End::Cut),
            _late = too_slow => None,
        };
        match end {
            Some(end) => Ok(end),
            None => {
                self.give_up("too_slow", wording::turn::took_too_long(limit)).await?;
                Ok(End::Over)
            }
        }
    }

    /// Fetching and reading files may take long as well: it ends with the turn.
    async fn prepared_steps(&mut self) -> anyhow::Result<Option<End>> {
        match files::prepare(self.engine, &self.row, &self.party).await? {
            Prepared::Ready(pictures) => self.steps(&pictures).await,
            Prepared::OverBudget(error) => {
                let sentence = match &error {
                    ModelError::AboveLimit(setting) => wording::turn::unheard_above_limit(setting),
                    ModelError::OverBudget(which) => wording::turn::unheard_over_budget(which),
                    other => wording::turn::unheard_over_budget(&other.to_string()),
                };
                self.give_up("no_answer", sentence).await?;
                Ok(Some(End::Over))
            }
        }
    }

    async fn steps(&mut self, pictures: &[context::Picture]) -> anyhow::Result<Option<End>> {
        loop {
            let record = self.record().await?;
            match next(&record.steps) {
                NextStep::Finished => {
                    // Only a crash between storing and finishing leaves a turn like this; the last
                    // step is the reply.
                    self.finish_stored(&record).await?;
                    return Ok(Some(End::Over));
                }
                NextStep::CallTool { seq, call, begun } => {
                    if let Some(end) = self.call_tool(&record, seq, &call, begun).await? {
                        return Ok(Some(end));
                    }
                }
                NextStep::AskModel { seq } => {
                    if let Some(end) = self.ask_model(&record, seq, pictures).await? {
                        return Ok(Some(end));
                    }
                }
            }
        }
    }

    /// What the journal has of the turn. If words of earlier ones went, they are read again.
    async fn record(&mut self) -> anyhow::Result<Record> {
        let (row, known) = (self.row.clone(), self.history.revision);
        let (tools, shape) = (Arc::clone(&self.history.tools), self.history.shape());
        let read = move |db: crate::store::Db<'_>| {
            let id = row.conversation;
            let stale = db.redaction().revision_of(id)? != known;
            let history = if stale { Some(History::load(db, id, tools, shape)?) } else { None };
            Ok((Record::read(db, row)?, history))
        };
        let (record, history) = self.engine.journal.read(read).await?;
        if let Some(history) = history {
            *self.history = history;
        }
        Ok(record)
    }

    /// Builds the request from the blocks, the newest message and the steps so far. Where that is
    /// more than the window holds, long results of this turn's earlier calls are cut.
    fn request(&self, record: &Record, pictures: &[context::Picture]) -> anyhow::Result<Request> {
        let whole = self.request_with(record, pictures, None)?;
        if whole.estimate_tokens() <= self.engine.room(self.purse()).most_guessed() {
            return Ok(whole);
        }
        self.request_with(record, pictures, Some(SHORT_RESULT))
    }

    fn request_with(
        &self,
        record: &Record,
        pictures: &[context::Picture],
        most: Option<usize>,
    ) -> anyhow::Result<Request> {
        let scope = self.row.scope;
        let mut request = Request::new(scope, self.work().map_or(Purpose::Chat, RunKind::purpose));
        let identity = context::identity(&self.known, &self.engine.agent, &self.party, &self.engine.room(self.purse()));
        let placement = self.engine.memory.placement;
        let now: &[Text] = match placement {
            Placement::Tail => &[],
            Placement::System => &[record.turn.context.clone(), record.turn.recalled.clone()],
        };
        context::begin(&mut request, identity, self.conversation.opening.as_ref(), now, self.history)?;
        let question = context::question(record, self.engine.zone, pictures, placement);
        request.push(Arc::new(question.cached()))?;
        for message in history::answered(&record.steps, scope, most) {
            request.push(message)?;
        }
        let rounds = record.steps.iter().filter(|step| step.kind == "model").count();
        if rounds >= usize::try_from(self.engine.tool_rounds).unwrap_or(usize::MAX) {
            let enough = wording::own(wording::prompt::NO_MORE_TOOLS, scope);
            request.push(Arc::new(Message::of(Role::User, enough)))?;
            return Ok(request);
        }
        Ok(request.with_tools(Arc::clone(&self.history.tools)))
    }

    /// One model step. `None` when there are tools to call next.
    async fn ask_model(
        &mut self,
        record: &Record,
        seq: u32,
        pictures: &[context::Picture],
    ) -> anyhow::Result<Option<End>> {
        let mut request = self.request(record, pictures)?;
        self.watcher.label(request.label());
        let (id, scope, now) = (self.row.id, self.row.scope, self.engine.clock.now());
        let label = request.label().clone();
        let step = self
            .engine
            .journal
            .write("begin a model step", move |tx| {
                tx.turns().begin_step(&NewStep {
                    turn: id,
                    seq,
                    kind: "model",
                    tool: "",
                    call: "",
                    label: &label,
                    scope,
                    at: now,
                })
            })
            .await?;
        let mut too_long = false;
        loop {
            let on_behalf = OnBehalf { turn: Some(self.row.id), person: self.row.person };
            match self.purse().ask(&request, &on_behalf, AskPolicy::patient(&*self.watcher)).await {
                Ok(reply) => return self.keep_reply(step, &request, record, reply).await,
                // The window is smaller than we thought: once, with half of the history.
                Err(ModelError::TooLong) if !too_long => {
                    too_long = true;
                    self.history.shrink(0);
                    request = self.request(record, pictures)?;
                }
                Err(error) => {
                    tracing::warn!(turn.id = %id, "Turn {id}: no model gave an answer: {error}");
                    return self.no_reply(&error).await.map(Some);
                }
            }
        }
    }

    /// Stores a reply: with tool calls as a step, without as the end of the turn.
    async fn keep_reply(
        &mut self,
        step: crate::id::StepId,
        request: &Request,
        record: &Record,
        reply: Reply,
    ) -> anyhow::Result<Option<End>> {
        let calls: Vec<_> = reply.calls().iter().map(|call| call.open().0.clone()).collect();
        let now = self.engine.clock.now();
        let counted = self.counted(request, &reply);
        if !calls.is_empty() && !request.tools().is_empty() {
            let stored = serde_json::to_string(&calls)?;
            let (text, model, turn) = (reply.text().clone(), reply.model.clone(), self.row.id);
            self.engine
                .journal
                .write("store a model step", move |tx| {
                    tx.turns().count_turn(turn, counted)?;
                    tx.turns().finish_step(step, &text, Some(&stored), &model, now)
                })
                .await?;
            return Ok(None);
        }
        let text = match self.work() {
            // It is read by the program, to the letter.
            Some(RunKind::Reflection) => readable(&reply),
            _ => addresses::without_strange_links(readable(&reply), request, record.yes_to.as_ref()),
        };
        self.finish(Some(Answered { step, model: reply.model, counted }), text).await?;
        Ok(Some(End::Over))
    }

    /// How much of the window the call took: by the provider's own count, or by our guess.
    fn counted(&self, request: &Request, reply: &Reply) -> u64 {
        let usage = reply.usage;
        let room = self.engine.room(self.purse());
        let input = if usage.input == 0 { room.counted(request.estimate_tokens()) } else { usage.input };
        let guess = || crate::text::estimate_tokens(reply.text().open().0);
        let output = if usage.output == 0 { room.counted(guess()) } else { usage.output };
        input.saturating_add(output)
    }

    /// The reply is stored already, but not as the end of the turn.
    async fn finish_stored(&mut self, record: &Record) -> anyhow::Result<()> {
        let scope = self.row.scope;
        let nothing = || wording::own(wording::turn::EMPTY_ANSWER, scope);
        let text = record.steps.last().map_or_else(nothing, |step| step.text.clone());
        self.finish(None, text).await
    }

    /// Reply, end of the turn and delivery, in one transaction.
    async fn finish(&mut self, step: Option<Answered>, text: Text) -> anyhow::Result<()> {
        self.watcher.over();
        let (row, work) = (self.row.clone(), self.work());
        let memory = &self.engine.memory;
        let every = memory.enabled.then_some(memory.extract_every);
        let now = self.engine.clock.now();
        self.engine
            .journal
            .write("store a reply", move |tx| {
                if let Some(answered) = &step {
                    tx.turns().count_turn(row.id, answered.counted)?;
                    tx.turns().finish_step(answered.step, &text, Some("[]"), &answered.model, now)?;
                }
                if !tx.turns().turn(row.id)?.is_some_and(|turn| turn.is_open()) {
                    // Stopped while the answer was on its way: it is kept as a step and not
                    // delivered.
                    return Ok(());
                }
                match work {
                    None => answer(tx, &row, &text, &[], now)?,
                    Some(_) => return keep_result(tx, &row, &text, now),
                }
                every.map_or(Ok(()), |every| extractor::count_turn(tx, row.conversation, every, now))
            })
            .await?;
        self.engine.audience.posted(self.row.address);
        Ok(())
    }

    /// There is no reply now. Waits if waiting may help, else says why.
    async fn no_reply(&mut self, error: &ModelError) -> anyhow::Result<End> {
        let sentence = match error {
            ModelError::OverBudget(which) => wording::turn::over_budget(which),
            ModelError::AboveLimit(setting) => wording::turn::above_limit(setting),
            ModelError::Refused => wording::turn::REFUSED.into(),
            ModelError::TooLong => wording::turn::TOO_LONG.into(),
            _ => return self.wait_for_model(error).await,
        };
        self.give_up("no_answer", sentence).await?;
        Ok(End::Over)
    }

    async fn wait_for_model(&mut self, error: &ModelError) -> anyhow::Result<End> {
        let now = self.engine.clock.now();
        if self.row.attempts >= A_DAY_OF_TRIES {
            self.give_up("model_away", wording::turn::model_away_too_long(why_away(error))).await?;
            return Ok(End::Over);
        }
        // Who writes again in the meantime asks for one try more, and not for fewer later.
        let early = self.row.retry_at.is_some_and(|at| at > now);
        let asked = if let ModelError::Later { after: Some(after), .. } = error { *after } else { Duration::ZERO };
        // A long wait that the provider asks for takes the place of as many tries of ours.
        let worth = u32::try_from(asked.as_secs() / AWAY.longest.as_secs()).unwrap_or(u32::MAX).max(1);
        let attempts = if early { self.row.attempts } else { self.row.attempts.saturating_add(worth) };
        let retry_at = now.plus(asked.max(AWAY.pause(attempts)));
        let notice = wording::own(wording::turn::model_away(why_away(error), self.row.id), self.row.scope);
        let (row, work) = (self.row.clone(), self.work());
        self.engine
            .journal
            .write("postpone a turn", move |tx| {
                if !tx.turns().turn(row.id)?.is_some_and(|turn| turn.is_open()) {
                    return Ok(());
                }
                if !row.noticed && work.is_none() {
                    tx.outbox().post(&NewOutbox {
                        quotes: &asked_there(tx, &row)?,
                        ..NewOutbox::notice(row.address, &notice, now)
                    })?;
                }
                tx.turns().postpone_turn(row.id, attempts, retry_at, true)
            })
            .await?;
        self.engine.audience.posted(self.row.address);
        Ok(End::Waits(retry_at))
    }

    /// Ends the turn without an answer, and says why.
    async fn give_up(&mut self, reason: &'static str, sentence: impl Into<ProgramText>) -> anyhow::Result<()> {
        self.watcher.over();
        let now = self.engine.clock.now();
        let (row, work) = (self.row.clone(), self.work());
        let notice = wording::own(sentence, row.scope);
        self.engine
            .journal
            .write("give a turn up", move |tx| {
                // A reply whose storing was under way when the time ran out counts.
                if !tx.turns().turn(row.id)?.is_some_and(|turn| turn.is_open()) {
                    return Ok(());
                }
                if work.is_none() {
                    tx.outbox().post(&NewOutbox {
                        quotes: &asked_there(tx, &row)?,
                        ..NewOutbox::notice(row.address, &notice, now)
                    })?;
                    keep::ask(tx, &row, now)?;
                }
                tx.outbox().drop_preview(row.id)?;
                tx.messages().settle_turn(row.id, "closed", reason)?;
                tx.turns().end_turn(row.id, "gave_up", reason, now)
            })
            .await?;
        self.engine.audience.posted(self.row.address);
        Ok(())
    }

    /// The join of everything that a request of this turn would hold now.
    fn label_so_far(&self, record: &Record) -> Label {
        let mut label = history::label_of(self.history.messages());
        label.absorb(&record.turn.label);
        for step in record.steps.iter().filter(|step| step.done) {
            label.absorb(step.text.label());
        }
        label
    }
}

/// The turn's one answer: stored, posted, and the turn is over.
fn answer(tx: Tx<'_>, row: &TurnRow, text: &Text, buttons: &[(String, String)], now: Timestamp) -> anyhow::Result<()> {
    let message = add_reply(tx, row, now)?;
    tx.messages().add_text(message, TextKind::Said, text)?;
    tx.timers().inherit_timer(message, row.id)?;
    let (address, kind) = (row.address, OutboxKind::Reply);
    let quotes = answered(tx, row)?;
    tx.outbox().post(&NewOutbox { address, kind, message: Some(message), text, buttons, quotes: &quotes, at: now })?;
    attachments_out::post_reaction(tx, row, now)?;
    keep::ask(tx, row, now)?;
    tx.messages().settle_turn(row.id, "answered", "")?;
    tx.turns().end_turn(row.id, "done", "", now)
}

/// What the answer names: where many speak at once, the last of what it answers, which is quoted
/// then.
fn answered(tx: Tx<'_>, row: &TurnRow) -> anyhow::Result<String> {
    match row.scope {
        Scope::Group(_) => {
            Ok(tx.messages().messages_of_turn(row.id)?.pop().map(|message| message.external_id).unwrap_or_default())
        }
        Scope::Person(_) | Scope::Shared => asked_there(tx, row),
    }
}

/// What the turn answers of what was said where its answer goes. Nothing in a group, where no
/// notice quotes anybody.
pub(super) fn asked_there(tx: Tx<'_>, row: &TurnRow) -> anyhow::Result<String> {
    match row.scope {
        Scope::Group(_) => Ok(String::new()),
        Scope::Person(_) | Scope::Shared => Ok(tx.outbox().asked_of(row.id, row.address)?.join("\n")),
    }
}

/// What came of something that the program asked for: stored, and sent to nobody. Whoever asked
/// says what becomes of it.
fn keep_result(tx: Tx<'_>, row: &TurnRow, text: &Text, now: Timestamp) -> anyhow::Result<()> {
    let message = add_reply(tx, row, now)?;
    tx.messages().add_unsearched_text(message, TextKind::Said, text)?;
    tx.messages().settle_turn(row.id, "answered", "")?;
    tx.turns().end_turn(row.id, "done", "", now)
}

fn add_reply(tx: Tx<'_>, row: &TurnRow, now: Timestamp) -> anyhow::Result<MessageId> {
    tx.messages().add_message(&NewMessage {
        stream: row.stream,
        conversation: Some(row.conversation),
        inbox: None,
        address: Some(row.address),
        person: None,
        guest: 0,
        kind: MessageKind::Reply,
        scope: row.scope,
        external_id: "",
        album: "",
        received_at: now,
        server_at: None,
        effective_at: now,
        turn: Some(row.id),
    })
}

/// Edges of a turn that begins: what it answers, the turn before it, and the files that are loaded.
pub fn parents(history: &History, messages: &[MessageId], known: &TurnContext) -> Vec<Node> {
    let messages = messages.iter().map(|id| Node::Message(*id));
    let files = known.loaded.nodes.iter().map(|id| Node::File(*id));
    let skills = known.nodes.iter().copied();
    messages.chain(history.last_turn.map(Node::Turn)).chain(files).chain(skills).collect()
}

fn next(steps: &[StepRow]) -> NextStep {
    let next_seq = steps.last().map_or(0, |step| step.seq + 1);
    let Some(position) = steps.iter().rposition(|step| step.kind == "model") else {
        return NextStep::AskModel { seq: next_seq };
    };
    let Some(last_model) = steps.get(position) else { return NextStep::AskModel { seq: next_seq } };
    if !last_model.done {
        return NextStep::AskModel { seq: last_model.seq };
    }
    let calls = history::calls_of(last_model);
    if calls.is_empty() {
        return NextStep::Finished;
    }
    for (offset, call) in calls.into_iter().enumerate() {
        match steps.get(position + 1 + offset) {
            Some(step) if step.done => {}
            Some(step) => return NextStep::CallTool { seq: step.seq, call, begun: true },
            None => return NextStep::CallTool { seq: next_seq, call, begun: false },
        }
    }
    NextStep::AskModel { seq: next_seq }
}

/// The reply's text; a sentence in its place when it is blank, and a remark when it was cut by the
/// model's limit.
fn readable(reply: &Reply) -> Text {
    let (words, label, scope) = reply.text().open();
    let words = match (words.trim().is_empty(), reply.stop) {
        (true, _) => Arc::from(wording::turn::EMPTY_ANSWER),
        (false, Stop::Length) => Arc::from(format!("{words}\n\n{}", wording::turn::CUT_BY_LIMIT)),
        (false, _) => Arc::clone(words),
    };
    Labelled::new(words, label.clone(), scope)
}

fn why_away(error: &ModelError) -> &'static str {
    match error {
        ModelError::BadKey => wording::turn::BAD_KEY,
        ModelError::NoCredit => wording::turn::NO_CREDIT,
        ModelError::Rejected(_) => wording::turn::REJECTED,
        _ => wording::turn::UNREACHABLE,
    }
}
