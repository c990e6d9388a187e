//! One turn: step by step, each stored before the next, until there is a reply or a reason why
//! there is none.
//!
//! The next step is derived from the stored steps alone, so an interrupted turn continues from
//! where it stopped: a stored model reply is never requested again; a tool call that was begun and
//! not finished is repeated only if the tool declares that this is safe. The reply, the end of the
//! turn and the delivery are one transaction.

pub mod answered;
pub mod call;
pub(super) mod joining;
mod next_step;
mod checked_answer;
pub(super) mod reply;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use self::joining::FirstWord;
use self::next_step::{NextStep, PendingCall, next};
use self::reply::{
    answer, ask_to_keep, end_unanswered, is_open, post_notice, readable, refused, store_result, tell_late, why_away,
};
use super::context::{ShownPicture, TurnContext};
use super::files::PreparedFiles;
use super::history::{self, History};
use super::record::TurnRecord;
use super::{Engine, OUTAGE, Watcher, context, extractor, files};
use crate::config::Placement;
use crate::id::MessageId;
use crate::message::file_type;
use crate::model::{Message, ModelError, NullSink, Purpose, Reply, Request, Role, Stop};
use crate::spend::{AskPolicy, ModelPool, SpendCause};
use crate::store::{ConversationKind, GrantRow, NewStep, Node, StepKind, TurnRow, UnansweredReason, vouched};
use crate::time::{Backoff, Timestamp};
use crate::tool::pictures::MAX_PICTURE;
use crate::trust::{Label, Text};
use crate::wording::{self, ProgramText};

/// Characters kept of the result of an earlier call when the window is nearly full.
const SHORT_RESULT: usize = 1_000;
/// Retry intervals while the model is unreachable.
const MODEL_AWAY_BACKOFF: Backoff = Backoff { first: Duration::from_secs(30), longest: Duration::from_secs(15 * 60) };
/// Number of attempts that take a day. Attempts are counted instead of time, because a day in which
/// the program was off is no day of trying.
const A_DAY_OF_TRIES: u32 = 100;

/// Outcome of running a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnOutcome {
    /// The turn is over, with a reply or with a reason.
    Over,
    /// The model is unreachable; the turn waits until then.
    Waits(Timestamp),
    /// The turn was stopped, or the program is stopping.
    Cut,
}

/// A running turn.
pub struct Turn<'a> {
    engine: &'a Arc<Engine>,
    history: &'a mut History,
    row: TurnRow,
    inputs: TurnContext,
    stop: CancellationToken,
    watcher: Box<dyn Watcher>,
    /// Pictures that the tools so far put before the model.
    shown: Vec<ShownPicture>,
    /// Permissions of the person in this conversation.
    grants: Vec<GrantRow>,
    /// Notified when something may have come in for the stream.
    arrivals: Arc<Notify>,
    /// True once further messages were taken in.
    has_joined: bool,
}

/// Outcome of asking the model.
enum AfterAsking {
    /// There are tools to call.
    NextStep,
    /// Further messages were taken in: their files come first, then the model is asked again.
    TakenIn,
    /// The turn is over, or has to wait.
    Ended(TurnOutcome),
}

/// The last model step of a turn.
struct Answered {
    step: crate::id::StepId,
    model: String,
    counted: u64,
}

impl<'a> Turn<'a> {
    /// Creates the turn of that row.
    pub fn new(
        engine: &'a Arc<Engine>,
        history: &'a mut History,
        row: TurnRow,
        inputs: TurnContext,
        stop: CancellationToken,
        arrivals: Arc<Notify>,
    ) -> Self {
        let watcher = match inputs.conversation.kind.is_run() {
            false => engine.channels.watch(row.id, row.address),
            true => Box::new(NullSink),
        };
        let (shown, grants, has_joined) = (Vec::new(), Vec::new(), false);
        Self { engine, history, row, inputs, stop, watcher, shown, grants, arrivals, has_joined }
    }

    fn kind(&self) -> ConversationKind {
        self.inputs.conversation.kind
    }

    fn models(&self) -> &ModelPool {
        if self.kind().is_run() { &self.engine.background } else { &self.engine.chat }
    }

    /// Runs until the turn is over or has to wait.
    pub async fn run(mut self) -> anyhow::Result<TurnOutcome> {
        let limit = self.engine.conversation.max_turn;
        let stop = self.stop.clone();
        // Time spent waiting, and time while the computer was off, asleep or under another clock,
        // does not count towards the limit.
        let too_slow = self.engine.clock.after(limit);
        let end = tokio::select! {
            end = self.prepared_steps() => end?,
            () = stop.cancelled() => return Ok(TurnOutcome::Cut),
            _late = too_slow => None,
        };
        match end {
            Some(end) => Ok(end),
            None => {
                self.give_up(UnansweredReason::TooSlow, wording::turn::took_too_long(self.inputs.language, limit))
                    .await?;
                Ok(TurnOutcome::Over)
            }
        }
    }

    /// Fetching and reading files may take long too, so the time limit of the turn covers it.
    async fn prepared_steps(&mut self) -> anyhow::Result<Option<TurnOutcome>> {
        loop {
            let files = self.record().await?.attachments;
            let prepared = if files.is_empty() {
                PreparedFiles::Ready(Vec::new())
            } else {
                files::prepare(self.engine, &self.row, &self.inputs.party, files).await?
            };
            let pictures = match prepared {
                PreparedFiles::Ready(pictures) => pictures,
                PreparedFiles::OverBudget(error) => {
                    let language = self.inputs.language;
                    let sentence = match &error {
                        ModelError::AboveLimit(setting) => wording::turn::unheard_above_limit(language, setting),
                        ModelError::OverBudget(which) => wording::turn::unheard_over_budget(language, which),
                        other => wording::turn::unheard_over_budget(language, &other.to_string()),
                    };
                    self.give_up(UnansweredReason::NoAnswer, sentence).await?;
                    return Ok(Some(TurnOutcome::Over));
                }
            };
            let end = self.steps(&pictures).await?;
            if end.is_some() {
                return Ok(end);
            }
        }
    }

    /// Performs the steps. `None` if further messages were taken in.
    async fn steps(&mut self, pictures: &[context::Picture]) -> anyhow::Result<Option<TurnOutcome>> {
        loop {
            let record = self.record().await?;
            match next(&record.steps) {
                NextStep::Finished => {
                    // Only a crash between storing and finishing leaves a turn like this; the last
                    // step is the reply.
                    let empty =
                        || wording::own(wording::turn::EMPTY_ANSWER.in_language(self.inputs.language), self.row.scope);
                    let text = record.steps.last().map_or_else(empty, |step| step.text.clone());
                    self.finish(None, text).await?;
                    return Ok(Some(TurnOutcome::Over));
                }
                NextStep::CallTools(calls) => {
                    if let Some(end) = self.call_one(&record, calls).await? {
                        return Ok(Some(end));
                    }
                }
                NextStep::AskModel { seq } => {
                    self.shown = self.shown_pictures(&record).await?;
                    match self.ask_model(record, seq, pictures).await? {
                        AfterAsking::NextStep => {}
                        AfterAsking::TakenIn => return Ok(None),
                        AfterAsking::Ended(end) => return Ok(Some(end)),
                    }
                }
            }
        }
    }

    /// Reads the turn and the grants of its conversation from the journal. Reloads the history if
    /// text of earlier turns was deleted.
    async fn record(&mut self) -> anyhow::Result<TurnRecord> {
        let (row, known) = (self.row.clone(), self.history.revision);
        let (tools, shape) = (Arc::clone(&self.history.tools), self.history.shape().clone());
        let read = move |db: crate::store::Db<'_>| {
            let id = row.conversation;
            let stale = db.redaction().revision_of(id)? != known;
            let history = if stale { Some(History::load(db, id, tools, shape)?) } else { None };
            Ok((TurnRecord::read(db, row)?, history, db.grants().grants_in(id)?))
        };
        let (record, history, grants) = self.engine.journal.read(read).await?;
        self.grants = grants;
        if let Some(history) = history {
            *self.history = history;
        }
        Ok(record)
    }

    /// Loads the pictures that the turn's tools put before the model. One that was deleted or
    /// changed since is left out.
    async fn shown_pictures(&self, record: &TurnRecord) -> anyhow::Result<Vec<ShownPicture>> {
        let mut shown = Vec::new();
        if record.steps.is_empty() || !self.engine.sees(self.models()) {
            return Ok(shown);
        }
        let turn = self.row.id;
        for file in self.engine.journal.read(move |db| db.outgoing_files().shown_pictures(turn)).await? {
            let files = self.engine.workspace.files();
            let found = files.chosen_picture(self.row.scope, &file.path, &file.digest, MAX_PICTURE).await?;
            let Some((bytes, label)) = found else { continue };
            let Some(mime) = file_type::of_picture(&bytes) else { continue };
            let name = file.path.rsplit('/').next().unwrap_or(&file.path).to_owned();
            shown.push(ShownPicture { name, mime: Arc::from(mime), bytes: Arc::from(bytes), label });
        }
        Ok(shown)
    }

    /// Returns the turn with a context that is complete in its prompt. The exchange with the whole
    /// block may have been compacted or left out since the turn was claimed; then a whole one is
    /// stored with the turn, before a model sees it.
    async fn with_context(&mut self, record: TurnRecord) -> anyhow::Result<TurnRecord> {
        let mut shown = self.history.shown.clone();
        shown.show(record.turn.context.open().0);
        if !shown.is_empty() {
            return Ok(record);
        }
        let budget = self.engine.context_budget(self.models());
        let block = context::dynamic(&self.inputs, self.history.shape().zone, self.row.claimed_at, &budget);
        let (id, whole, recalled) = (self.row.id, block.since(&shown), self.row.recalled.clone());
        let store = move |tx: crate::store::Tx<'_>| {
            tx.turns().set_context(id, &whole, &recalled)?;
            tx.turns().turn(id)
        };
        let stored = self.engine.journal.write("show the whole context", store).await?;
        self.row = stored.unwrap_or_else(|| self.row.clone());
        Ok(TurnRecord { turn: self.row.clone(), ..record })
    }

    /// Builds the request from the blocks, the newest message and the steps so far. If it exceeds
    /// the window, long results of this turn's earlier calls are cut, and only the newest picture
    /// of its tools is kept.
    fn request(&self, record: &TurnRecord, pictures: &[context::Picture]) -> anyhow::Result<Request> {
        let whole = self.request_with(record, pictures, None)?;
        if whole.estimate_tokens() <= self.engine.context_budget(self.models()).most_guessed() {
            return Ok(whole);
        }
        self.request_with(record, pictures, Some(SHORT_RESULT))
    }

    fn request_with(
        &self,
        record: &TurnRecord,
        pictures: &[context::Picture],
        most: Option<usize>,
    ) -> anyhow::Result<Request> {
        let scope = self.row.scope;
        let purpose = match self.kind() {
            ConversationKind::Chat | ConversationKind::Piped | ConversationKind::Imported => Purpose::Chat,
            ConversationKind::Reflection => Purpose::Reflection,
            ConversationKind::Heartbeat => Purpose::Heartbeat,
            ConversationKind::Task => Purpose::Task,
        };
        let mut request = Request::new(scope, purpose);
        let identity = context::identity(self.engine, &self.inputs, &self.engine.context_budget(self.models()));
        let placement = self.engine.memory.placement;
        let now: &[Text] = match placement {
            Placement::Tail => &[],
            Placement::System => &[record.turn.context.clone(), record.turn.recalled.clone()],
        };
        self.history.begin(&mut request, identity, self.inputs.conversation.opening.as_ref(), now)?;
        let question = context::question(record, self.history.shape().zone, pictures, placement);
        request.push(Arc::new(question.cached()))?;
        for message in history::answered(&record.steps, scope, most) {
            request.push(message)?;
        }
        let most_pictures = if most.is_some() { 1 } else { usize::MAX };
        if let Some(message) = context::shown(&self.shown, most_pictures, scope) {
            request.push(Arc::new(message))?;
        }
        let rounds = record.steps.iter().filter(|step| step.kind == StepKind::Model).count();
        if rounds >= usize::try_from(self.engine.tool_rounds).unwrap_or(usize::MAX) {
            let enough = wording::own(wording::prompt::NO_MORE_TOOLS, scope);
            request.push(Arc::new(Message::of(Role::User, enough)))?;
            return Ok(request.with_vouched(&vouched(&self.grants)));
        }
        Ok(request.with_vouched(&vouched(&self.grants)).with_tools(Arc::clone(&self.history.tools)))
    }

    /// Runs one model step.
    async fn ask_model(
        &mut self,
        record: TurnRecord,
        seq: u32,
        pictures: &[context::Picture],
    ) -> anyhow::Result<AfterAsking> {
        let mut record = self.with_context(record).await?;
        let mut request = self.request(&record, pictures)?;
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
                    kind: StepKind::Model,
                    tool: "",
                    call: "",
                    label: &label,
                    scope,
                    at: now,
                })
            })
            .await?;
        let mut too_long = false;
        let mut is_wider = false;
        let mut has_written_call = false;
        loop {
            let on_behalf = SpendCause { turn: Some(self.row.id), person: self.row.person };
            let word = FirstWord::new(&*self.watcher);
            let reply = tokio::select! {
                biased;
                reply = self.models().ask(&request, &on_behalf, AskPolicy::patient(&word)) => reply,
                () = self.continued(&record, &word) => {
                    self.take_messages_in().await?;
                    return Ok(AfterAsking::TakenIn);
                }
            };
            self.models().take_told().into_iter().for_each(|address| self.engine.channels.posted(address));
            match reply {
                Ok(Reply { written_call: Some(tool), .. }) if !has_written_call => {
                    has_written_call = true;
                    let words = wording::own(wording::prompt::call_as_tool(&tool), scope);
                    request.push(Arc::new(Message::of(Role::User, words)))?;
                }
                // Thinking used up the limit.
                Ok(reply) if reply.is_blank() && reply.stop == Stop::Length && !is_wider => {
                    is_wider = true;
                    request = request.with_wider_output();
                }
                Ok(reply) if reply.written_call.is_some() => {
                    return self.store_reply(step, &request, &record, reply.without_text()).await;
                }
                Ok(reply) => return self.store_reply(step, &request, &record, reply).await,
                // The window is smaller than assumed: retry once, with the history cut to its
                // newest exchange.
                Err(ModelError::TooLong) if !too_long => {
                    too_long = true;
                    self.history.shrink(0);
                    record = self.with_context(record).await?;
                    request = self.request(&record, pictures)?;
                }
                // Perhaps something in earlier exchanges is refused, and would be in each request.
                Err(ModelError::Rejected(_)) if self.history.drop_calls() => {
                    request = self.request(&record, pictures)?;
                }
                Err(error) => {
                    tracing::warn!(turn.id = %id, "Turn {id}: a model gave no answer: {error}");
                    return self.no_reply(&error).await.map(AfterAsking::Ended);
                }
            }
        }
    }

    /// Stores a reply: as a step if it has tool calls, otherwise as the end of the turn.
    async fn store_reply(
        &mut self,
        step: crate::id::StepId,
        request: &Request,
        record: &TurnRecord,
        reply: Reply,
    ) -> anyhow::Result<AfterAsking> {
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
            return Ok(AfterAsking::NextStep);
        }
        let language = self.inputs.language;
        let text = match self.kind() {
            // The program parses the reply verbatim.
            ConversationKind::Reflection => readable(&reply, language),
            _ => self.checked_answer(&reply, request, record).await?,
        };
        self.finish(Some(Answered { step, model: reply.model, counted }), text).await?;
        Ok(AfterAsking::Ended(TurnOutcome::Over))
    }

    /// Tokens of the window that the call took, by the provider's count or by our estimate.
    fn counted(&self, request: &Request, reply: &Reply) -> u64 {
        let usage = reply.usage;
        let budget = self.engine.context_budget(self.models());
        let input = if usage.input == 0 { budget.counted(request.estimate_tokens()) } else { usage.input };
        let guess = || crate::text::estimate_tokens(reply.text().open().0);
        let output = if usage.output == 0 { budget.counted(guess()) } else { usage.output };
        input.saturating_add(output)
    }

    /// Stores reply, end of the turn and delivery in one transaction.
    async fn finish(&mut self, step: Option<Answered>, text: Text) -> anyhow::Result<()> {
        self.watcher.over();
        let (row, is_run) = (self.row.clone(), self.kind().is_run());
        let (is_closed, zone) = (self.inputs.conversation.closed_at.is_some(), self.history.shape().zone);
        let memory = &self.engine.memory;
        let every = (memory.enabled && self.kind() == ConversationKind::Chat).then_some(memory.extract_every);
        let (now, is_outage_over) = (self.engine.clock.now(), self.engine.chat.outage().is_none());
        self.engine
            .journal
            .write("store a reply", move |tx| {
                if let Some(answered) = &step {
                    tx.turns().count_turn(row.id, answered.counted)?;
                    tx.turns().finish_step(answered.step, &text, Some("[]"), &answered.model, now)?;
                }
                if !is_open(tx, row.id)? {
                    // Stopped while the answer was on its way: the answer is kept as a step and not
                    // delivered.
                    return Ok(());
                }
                if is_run {
                    return store_result(tx, &row, &text, now);
                }
                answer(tx, &row, &text, &[], now)?;
                if is_closed {
                    tell_late(tx, &row, zone, now)?;
                }
                if is_outage_over {
                    tx.settings().drop_fact(OUTAGE)?;
                }
                every.map_or(Ok(()), |every| extractor::count_turn(tx, row.conversation, every, now))
            })
            .await?;
        self.engine.channels.posted(self.row.address);
        Ok(())
    }

    /// Handles a missing reply: waits if waiting may help, otherwise gives up with the reason.
    async fn no_reply(&mut self, error: &ModelError) -> anyhow::Result<TurnOutcome> {
        let language = self.inputs.language;
        let sentence = match error {
            ModelError::OverBudget(which) => wording::turn::over_budget(language, which),
            ModelError::AboveLimit(setting) => wording::turn::above_limit(language, setting),
            ModelError::Refused => wording::turn::REFUSED.in_language(language),
            ModelError::TooLong => wording::turn::TOO_LONG.in_language(language),
            ModelError::Rejected(why) => {
                // What was left out was not the cause.
                self.history.reload();
                let told = refused(&self.inputs.party, self.inputs.language, why);
                self.give_up_with(UnansweredReason::Refused, told).await?;
                return Ok(TurnOutcome::Over);
            }
            _ => return self.wait_for_model(error).await,
        };
        self.give_up(UnansweredReason::NoAnswer, sentence).await?;
        Ok(TurnOutcome::Over)
    }

    async fn wait_for_model(&mut self, error: &ModelError) -> anyhow::Result<TurnOutcome> {
        let (now, language) = (self.engine.clock.now(), self.inputs.language);
        if self.row.attempts >= A_DAY_OF_TRIES {
            self.give_up(UnansweredReason::ModelAway, wording::turn::model_away_too_long(language, why_away(error)))
                .await?;
            return Ok(TurnOutcome::Over);
        }
        // A new message in the meantime triggers one more attempt, which is not counted.
        let early = self.row.retry_at.is_some_and(|at| at > now);
        let pause = if let ModelError::Later { after: Some(after), .. } = error { *after } else { Duration::ZERO };
        // A long wait requested by the provider counts as that many of our attempts.
        let worth = u32::try_from(pause.as_secs() / MODEL_AWAY_BACKOFF.longest.as_secs()).unwrap_or(u32::MAX).max(1);
        let attempts = if early { self.row.attempts } else { self.row.attempts.saturating_add(worth) };
        let retry_at = now.plus(pause.max(MODEL_AWAY_BACKOFF.pause(attempts)));
        let outage = self.engine.chat.outage();
        let notice = wording::own(wording::turn::model_away(language, why_away(error)), self.row.scope);
        let (row, is_run) = (self.row.clone(), self.kind().is_run());
        self.engine
            .journal
            .write("postpone a turn", move |tx| {
                if !is_open(tx, row.id)? {
                    return Ok(());
                }
                if !row.noticed && !is_run {
                    post_notice(tx, &row, &notice, now)?;
                }
                if let Some(outage) = outage {
                    tx.settings().set_fact(OUTAGE, &outage.encode())?;
                }
                tx.turns().postpone_turn(row.id, attempts, retry_at, true)
            })
            .await?;
        self.engine.channels.posted(self.row.address);
        Ok(TurnOutcome::Waits(retry_at))
    }

    /// Ends the turn without an answer and posts the reason.
    async fn give_up(&mut self, reason: UnansweredReason, sentence: impl Into<ProgramText>) -> anyhow::Result<()> {
        self.give_up_with(reason, wording::own(sentence, self.row.scope)).await
    }

    async fn give_up_with(&mut self, reason: UnansweredReason, notice: Text) -> anyhow::Result<()> {
        self.watcher.over();
        let now = self.engine.clock.now();
        let (row, is_run) = (self.row.clone(), self.kind().is_run());
        let (is_closed, zone) = (self.inputs.conversation.closed_at.is_some(), self.history.shape().zone);
        self.engine
            .journal
            .write("give a turn up", move |tx| {
                // A reply that was being stored when the time ran out counts.
                if !is_open(tx, row.id)? {
                    return Ok(());
                }
                if !is_run {
                    post_notice(tx, &row, &notice, now)?;
                    ask_to_keep(tx, &row, now)?;
                }
                if is_closed && !is_run {
                    tell_late(tx, &row, zone, now)?;
                }
                end_unanswered(tx, row.id, reason, now)
            })
            .await?;
        self.engine.channels.posted(self.row.address);
        Ok(())
    }

    /// Returns the join of the labels of everything that a request of this turn would hold now, as
    /// far as the person did not vouch for a source.
    fn label_so_far(&self, record: &TurnRecord) -> Label {
        let mut label = history::label_of(self.history.messages());
        label.absorb(&record.turn.label);
        for step in record.steps.iter().filter(|step| step.done) {
            label.absorb(step.text.label());
        }
        label.vouched_for(&vouched(&self.grants))
    }
}

/// Provenance edges of a new turn: the messages that it answers, the turn before it, the loaded
/// files and the listed skills.
pub fn parents(history: &History, messages: &[MessageId], inputs: &TurnContext) -> Vec<Node> {
    let messages = messages.iter().map(|id| Node::Message(*id));
    let files = inputs.loaded.nodes.iter().map(|id| Node::File(*id));
    let skills = inputs.nodes.iter().copied();
    messages.chain(history.last_turn.map(Node::Turn)).chain(files).chain(skills).collect()
}
