//! Runs turns: from a stored message to a stored answer.
//!
//! One task per stream takes the queued messages, joins those that belong together, runs a turn,
//! and writes the reply and its delivery in one transaction ([`stream`], [`turn`]). [`boundary`]
//! decides where a conversation ends; [`summarizer`] stores its summary. The engine knows no
//! adapters: live views of growing answers go through [`ChannelAccess`].
//!
//! No essential state lives only in memory. A task's state (the history of the current
//! conversation, a cancel token) is rebuilt from the journal; a task that dies is restarted and
//! continues from the last stored step.

mod addresses; // web addresses that may be opened without a question
mod wishes; // what people typed as wishes of their own
pub mod boundary; // where a conversation ends
pub mod summarizer; // summaries of ended conversations
pub mod compact; // 60 % and 70 % of the window: facts, then a summary of older messages
pub mod context; // the blocks of a prompt
mod auto_recall; // memories that come to mind with the first messages
pub mod extractor; // facts from conversations
pub mod files; // received files: fetch, read, transcribe
pub mod history; // earlier exchanges of the conversation in the prompt
mod old_results; // results of tools in those, shortened
pub mod made_calls; // calls of a turn that read something from outside, in the program's words
pub mod context_budget; // tokens of each part of a prompt
pub mod context_sections; // memory in a prompt: whole at first, then what changed
pub mod record; // what a step stores
pub mod stream; // one task per stream: joins messages, starts and resumes turns, gives up those that crash
pub mod summary; // request for a summary and its answer
pub mod transcript; // conversations as models read them
pub mod turn; // one run of the model with its tool calls
pub mod system_run; // reflections, heartbeat and tasks as turns

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::files::reader::DocumentReader;
use crate::config;
use crate::id::{AddressId, PersonId, StreamId, TurnId};
use crate::memory::{Index, Workspace};
use crate::message::FetchFileError;
use crate::model::{NullSink, StreamSink};
use crate::review::{OutboxNotifier, Review};
use crate::spend::{ModelPool, Outage, Transcriber};
use crate::store::{Db, Journal, MessageState, TurnState, Tx, UnansweredReason};
use crate::time::clock::{WakeupSender, wakeups};
use crate::time::task::lock;
use crate::time::{Backoff, Clock, Timestamp, Zone};
use crate::tool::Toolbox;
use crate::trust::Scope;
use crate::wording::{Language, Sentence};

/// Setting that holds the present outage of the chat models.
const OUTAGE: &str = "outage";

/// The chat channels, as the engine uses them.
#[async_trait::async_trait]
pub trait ChannelAccess: OutboxNotifier {
    /// Starts watching a turn that will answer to that address. The returned watcher watches until
    /// it is dropped.
    fn watch(&self, turn: TurnId, address: AddressId) -> Box<dyn Watcher>;
    /// Returns the bytes of a file that came with a message from that address, at most `max` of
    /// them.
    async fn fetch(&self, address: AddressId, reference: &str, max: u64) -> Result<Vec<u8>, FetchFileError>;
}

/// Observer of one turn. Dropping it ends every sign that an answer is on its way.
pub trait Watcher: StreamSink {
    /// Sets the label of the answer so far, which decides how links are shown.
    fn label(&self, label: &crate::trust::Label);
    /// Reports that the answer is complete or that there is none. No more of it may be shown as it
    /// grows, because what follows is delivered.
    fn over(&self);
}

impl Watcher for NullSink {
    fn label(&self, _: &crate::trust::Label) {}
    fn over(&self) {}
}

/// The engine. Idle until [`Engine::start`].
pub struct Engine {
    /// The journal.
    pub journal: Journal,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The time zone.
    pub zone: Zone,
    /// `[conversation]`
    pub conversation: config::Conversation,
    /// Name of the assistant.
    pub agent: String,
    /// `[memory]`
    pub memory: config::Memory,
    /// Interval of the heartbeat; `None` for never.
    pub heartbeat: Option<Duration>,
    /// Maximum number of tool-call rounds in one turn.
    pub tool_rounds: u32,
    /// The workspace.
    pub workspace: Workspace,
    /// The search index over the workspace.
    pub index: Index,
    /// The skills.
    pub review: Review,
    /// The tools.
    pub toolbox: Toolbox,
    /// Metered models for answers, first choice first.
    pub chat: ModelPool,
    /// Metered models for background work.
    pub background: Arc<ModelPool>,
    /// Metered transcription of voice notes, if an endpoint is configured.
    pub transcription: Option<Transcriber>,
    /// Observer of turns and deliveries, and fetcher of files.
    pub channels: Arc<dyn ChannelAccess>,
    /// Reader of documents.
    pub reader: DocumentReader,
    pub(crate) runtime: Runtime,
}

/// Stream tasks, background jobs and their shutdown.
pub(crate) struct Runtime {
    /// Start of this run of the program.
    began: Timestamp,
    streams: Mutex<HashMap<StreamId, Handle>>,
    summarizer: BackgroundJob,
    extractor: BackgroundJob,
    extraction_locks: extractor::ConversationLocks,
    scheduler: WakeupSender,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Runtime {
    /// Creates a runtime without streams; cancelling `stop` ends it.
    pub(crate) fn new(began: Timestamp, stop: CancellationToken, scheduler: WakeupSender) -> Self {
        Self {
            began,
            streams: Mutex::default(),
            summarizer: BackgroundJob::default(),
            extractor: BackgroundJob::default(),
            extraction_locks: extractor::ConversationLocks::default(),
            scheduler,
            tasks: TaskTracker::new(),
            stop,
        }
    }
}

struct Handle {
    waker: WakeupSender,
    /// Token that cancels the running turn, if there is one.
    turn: Arc<Mutex<Option<CancellationToken>>>,
}

impl Engine {
    /// Resumes unfinished streams and starts the background jobs (summaries, facts).
    pub async fn start(self: &Arc<Self>) -> anyhow::Result<()> {
        summarizer::start(self);
        extractor::start(self);
        let read = |db: Db<'_>| Ok((db.messages().streams_with_work()?, db.settings().fact(OUTAGE)?));
        let (streams, outage) = self.journal.read(read).await?;
        if let Some(outage) = outage.as_deref().and_then(Outage::decode) {
            self.chat.continue_outage(outage);
        }
        for stream in streams {
            self.wake_stream(stream);
        }
        Ok(())
    }

    /// Wakes a stream, because it may have work.
    pub fn wake_stream(self: &Arc<Self>, stream: StreamId) {
        let mut streams = lock(&self.runtime.streams);
        let handle = streams.entry(stream).or_insert_with(|| self.start_stream(stream));
        handle.waker.wake(&*self.clock);
        drop(streams);
        self.wake_summarizer();
    }

    /// Wakes the summarizer, because conversations may have ended.
    pub fn wake_summarizer(&self) {
        self.runtime.summarizer.wake(&*self.clock);
    }

    /// Wakes the extractor, because facts may be due for extraction.
    pub fn wake_extractor(&self) {
        self.runtime.extractor.wake(&*self.clock);
    }

    /// Wakes the schedule: a system run is over, or deletions are pending.
    pub fn wake_schedule(&self) {
        self.runtime.scheduler.wake(&*self.clock);
    }

    /// Ends the stream's turn at once. Returns false if there was nothing to stop.
    pub async fn stop_turn(self: &Arc<Self>, stream: StreamId, newest: JustSent) -> anyhow::Result<bool> {
        let now = self.clock.now();
        let just_now = now.minus(self.conversation.join_within);
        let (stopped, closed) = self
            .journal
            .write("stop a turn", move |tx| {
                // Looked up inside the transaction, because a turn may end at any moment: an
                // answered turn is no longer stopped.
                let (mut stopped, reason) = (Vec::new(), UnansweredReason::Stopped.as_str());
                // There may be two: a turn begun by a yes waits for the one that is running.
                while let Some(open) = tx.turns().open_turn(stream)? {
                    tx.messages().settle_turn(open.id, MessageState::Answered, reason)?;
                    tx.outbox().drop_preview(open.id)?;
                    tx.turns().end_turn(open.id, TurnState::Stopped, reason, now)?;
                    stopped.push(open.address);
                }
                let since = if stopped.is_empty() { Timestamp(0) } else { just_now };
                let closed = newest == JustSent::Closed && tx.messages().stop_waiting(stream, since)?;
                Ok((stopped, closed))
            })
            .await?;
        if !stopped.is_empty() {
            self.cancel(stream);
        }
        stopped.iter().for_each(|address| self.channels.posted(*address));
        Ok(closed || !stopped.is_empty())
    }

    /// Stops the tasks of a person that are at work. Returns false if there are none.
    pub async fn stop_tasks(&self, person: PersonId) -> anyhow::Result<bool> {
        let (now, scope) = (self.clock.now(), Scope::Person(person));
        if self.journal.read(move |db| db.slots().open_tasks(scope)).await?.is_empty() {
            return Ok(false);
        }
        let stop = move |tx: Tx<'_>| {
            let open = tx.slots().open_tasks(scope)?;
            open.iter().map(|slot| tx.slots().stop_run(slot, now)).collect::<anyhow::Result<Vec<_>>>()
        };
        let stopped = self.journal.write("stop tasks", stop).await?;
        for stream in stopped.iter().flatten() {
            self.cut(*stream).await?;
        }
        Ok(!stopped.is_empty())
    }

    /// Cancels the work of the stream's task on a turn that is over in the journal.
    pub async fn cut(&self, stream: StreamId) -> anyhow::Result<()> {
        if self.journal.read(move |db| db.turns().open_turn(stream)).await?.is_none() {
            self.cancel(stream);
        }
        Ok(())
    }

    fn cancel(&self, stream: StreamId) {
        let streams = lock(&self.runtime.streams);
        if let Some(handle) = streams.get(&stream)
            && let Some(token) = &*lock(&handle.turn)
        {
            token.cancel();
        }
    }

    /// Waits until every task has ended, after the stop token was cancelled.
    pub async fn finished(&self) {
        lock(&self.runtime.streams).clear();
        self.runtime.tasks.close();
        self.runtime.tasks.wait().await;
    }

    /// Returns the zone in which times are shown to the person of a scope and read from them: their
    /// own, or that of the home.
    pub async fn zone_of(&self, scope: Scope) -> anyhow::Result<Zone> {
        let home = self.zone;
        self.journal.read(move |db| db.people().zone_in(scope, home)).await
    }

    /// Returns the language in which the person or group of a scope is addressed.
    pub async fn language_of(&self, scope: Scope) -> anyhow::Result<Language> {
        self.journal.read(move |db| db.people().language_in(scope)).await
    }

    /// Returns the start of this run of the program.
    pub fn began(&self) -> Timestamp {
        self.runtime.began
    }

    /// Returns since when the models of chats do not answer, and why.
    pub fn outage(&self) -> Option<(Timestamp, Sentence)> {
        self.chat.outage().map(|outage| (outage.since, turn::reply::why_away(&outage.error)))
    }

    fn start_stream(self: &Arc<Self>, stream: StreamId) -> Handle {
        let (waker, wakeups) = wakeups();
        let turn = Arc::new(Mutex::new(None));
        let task = stream::StreamTask::new(Arc::clone(self), stream, Arc::clone(&turn));
        self.runtime.tasks.spawn(task.run(wakeups, self.runtime.stop.clone()));
        Handle { waker, turn }
    }
}

/// Fate of messages that were sent just before a turn is stopped, and that no turn has taken yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JustSent {
    /// They are answered.
    Kept,
    /// They are stopped too, if they came before the command that is being run.
    Closed,
}

/// Time without success after which a message is closed with a reason. Longer than any usual outage
/// of a provider.
pub(crate) const MAX_MESSAGE_AGE: Duration = Duration::from_secs(24 * 3600);

/// Intervals for work that nothing waits for: a minute, doubling up to six hours.
const BACKGROUND_BACKOFF: Backoff = Backoff { first: Duration::from_secs(60), longest: Duration::from_secs(6 * 3600) };
/// Number of failures, about two days, after which a job is given up.
const MAX_BACKGROUND_ATTEMPTS: u32 = 17;

/// Wake-up handle of a background job: a task of its own, woken by a signal or at the time that its
/// last round returned. Before the job is started, signals are dropped.
///
/// The work of a round is durable rows and belongs to the module that calls
/// [`BackgroundJob::start`]. A round that failed or panicked is logged and retried after a minute:
/// a job never ends before the program does, and never delays an answer.
#[derive(Debug, Default)]
struct BackgroundJob(Mutex<Option<WakeupSender>>);

impl BackgroundJob {
    /// Starts the task, with a first round at once. `name` begins a sentence in the log, `failed`
    /// says there what did not happen; a round returns the time of the next one.
    fn start<Round, Rounds>(&self, engine: &Arc<Engine>, name: &'static str, failed: &'static str, round: Rounds)
    where
        Round: Future<Output = anyhow::Result<Option<Timestamp>>> + Send,
        Rounds: Fn(Arc<Engine>) -> Round + Send + Sync + 'static,
    {
        let (waker, wakeups) = wakeups();
        waker.wake(&*engine.clock);
        *lock(&self.0) = Some(waker);
        let (stop, worker) = (engine.runtime.stop.clone(), Arc::clone(engine));
        engine.runtime.tasks.spawn(async move {
            let round = || round(Arc::clone(&worker));
            tokio::select! {
                () = stop.cancelled() => {}
                () = wakeups.run_rounds(&*worker.clock, &stop, name, failed, round) => {}
            }
        });
    }

    /// Wakes the job, because it may have work.
    fn wake(&self, clock: &dyn Clock) {
        if let Some(waker) = &*lock(&self.0) {
            waker.wake(clock);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_tries_take_about_two_days() {
        let waited: Duration = (1..MAX_BACKGROUND_ATTEMPTS).map(|failures| BACKGROUND_BACKOFF.pause(failures)).sum();
        assert_eq!(BACKGROUND_BACKOFF.pause(1), Duration::from_secs(60));
        assert_eq!(BACKGROUND_BACKOFF.pause(2), Duration::from_secs(120));
        assert_eq!(BACKGROUND_BACKOFF.pause(u32::MAX), Duration::from_secs(6 * 3600));
        assert!((48..54).contains(&(waited.as_secs() / 3600)), "{waited:?}");
    }
}
