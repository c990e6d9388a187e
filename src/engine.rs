//! Runs turns: from a stored message to a stored answer.
//!
//! One task per stream takes the queued messages, joins those that belong together, runs a turn,
//! and writes the reply and its delivery in one transaction ([`stream`], [`turn`]). [`boundary`]
//! decides where a conversation ends; [`summarizer`] stores its summary. The engine knows no
//! adapters: live views of growing answers go through [`Audience`].
//!
//! No essential state lives only in memory. A task's state (the history of the current
//! conversation, a cancel token) is rebuilt from the journal; a task that dies is restarted and
//! continues from the last stored step.

mod addresses;
pub mod boundary;
mod background_job;
pub mod summarizer;
pub mod compact;
pub mod context;
pub mod continuation;
pub mod extractor;
pub mod files;
pub mod truncate;
pub mod history;
pub mod compaction_trigger;
pub mod reactions;
mod auto_recall;
pub mod context_budget;
pub mod record;
pub mod stream;
pub mod summary;
pub mod turn;
pub mod system_run;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::background_job::BackgroundJob;
use self::files::reader::DocumentReader;
use crate::config;
use crate::id::{AddressId, StreamId, TurnId};
use crate::memory::{Index, Workspace};
use crate::model::{NullSink, StreamSink};
use crate::review::Review;
use crate::spend::{ModelPool, Transcriber};
use crate::store::{Journal, MessageState, TurnState};
use crate::time::clock::WakeupSender;
use crate::time::{Clock, Timestamp, Zone};
use crate::tool::Toolbox;

pub use auto_recall::recalled;

/// Observer of unfinished answers and of new deliveries.
pub trait Audience: Send + Sync {
    /// Starts watching a turn that will answer to that address. The returned watcher watches until
    /// it is dropped.
    fn watch(&self, turn: TurnId, address: AddressId) -> Box<dyn Watcher>;
    /// Reports that a delivery was posted to that address.
    fn posted(&self, address: AddressId);
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

/// Fetches files from the channel that a message came from.
#[async_trait::async_trait]
pub trait Courier: Send + Sync {
    /// Returns the bytes of a file that came with a message from that address, at most `max` of
    /// them.
    async fn fetch(&self, address: AddressId, reference: &str, max: u64) -> Result<Vec<u8>, Fetch>;
}

/// Reason why a file could not be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fetch {
    /// The file is too large.
    TooLarge,
    /// The file no longer exists.
    Gone,
    /// The file is not available now and may be later.
    Later,
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
    /// Maximum number of tool-call rounds in one turn.
    pub tool_rounds: u32,
    /// The workspace.
    pub tree: Workspace,
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
    /// Observer of turns and deliveries.
    pub audience: Arc<dyn Audience>,
    /// Fetcher of files.
    pub courier: Arc<dyn Courier>,
    /// Reader of documents.
    pub reader: DocumentReader,
    pub(crate) runtime: Runtime,
}

/// Stream tasks, background jobs and their shutdown.
pub(crate) struct Runtime {
    /// Start of this run of the program.
    began: Timestamp,
    streams: Mutex<HashMap<StreamId, Handle>>,
    closer: BackgroundJob,
    extractor: BackgroundJob,
    readers: extractor::ConversationLocks,
    worker: BackgroundJob,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Runtime {
    /// Creates a runtime without streams; cancelling `stop` ends it.
    pub(crate) fn new(began: Timestamp, stop: CancellationToken) -> Self {
        Self {
            began,
            streams: Mutex::default(),
            closer: BackgroundJob::default(),
            extractor: BackgroundJob::default(),
            readers: extractor::ConversationLocks::default(),
            worker: BackgroundJob::default(),
            tasks: TaskTracker::new(),
            stop,
        }
    }
}

struct Handle {
    ringer: WakeupSender,
    /// Token that cancels the running turn, if there is one.
    turn: Arc<Mutex<Option<CancellationToken>>>,
}

impl Engine {
    /// Resumes unfinished streams and starts the background jobs (summaries, facts).
    pub async fn start(self: &Arc<Self>) -> anyhow::Result<()> {
        summarizer::start(self);
        extractor::start(self);
        for stream in self.journal.read(|db| db.messages().streams_with_work()).await? {
            self.wake_stream(stream);
        }
        Ok(())
    }

    /// Wakes a stream, because it may have work.
    pub fn wake_stream(self: &Arc<Self>, stream: StreamId) {
        let mut streams = self.runtime.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let handle = streams.entry(stream).or_insert_with(|| self.start_stream(stream));
        handle.ringer.wake(&*self.clock);
        drop(streams);
        self.wake_summarizer();
    }

    /// Wakes the summarizer, because conversations may have ended.
    pub fn wake_summarizer(&self) {
        self.runtime.closer.wake(&*self.clock);
    }

    /// Wakes the extractor, because facts may be due for extraction.
    pub fn wake_extractor(&self) {
        self.runtime.extractor.wake(&*self.clock);
    }

    /// Sets the receiver of [`Engine::wake_worker`], which wakes when a system run is over.
    pub fn set_worker_waker(&self, ringer: WakeupSender) {
        self.runtime.worker.redirect_wakeups(ringer);
    }

    /// Wakes the schedule: a system run is over, or deletions are pending.
    pub fn wake_worker(&self) {
        self.runtime.worker.wake(&*self.clock);
    }

    /// Ends the stream's turn at once. Returns false if none is running or waiting.
    pub async fn stop_turn(self: &Arc<Self>, stream: StreamId) -> anyhow::Result<bool> {
        let now = self.clock.now();
        let stopped = self
            .journal
            .write("stop a turn", move |tx| {
                // Looked up inside the transaction, because a turn may end at any moment: an
                // answered turn is no longer stopped.
                let mut stopped = false;
                // There may be two: a turn begun by a yes waits for the one that is running.
                while let Some(open) = tx.turns().open_turn(stream)? {
                    tx.messages().settle_turn(open.id, MessageState::Answered, "stopped")?;
                    tx.outbox().drop_preview(open.id)?;
                    tx.turns().end_turn(open.id, TurnState::Stopped, "stopped", now)?;
                    stopped = true;
                }
                Ok(stopped)
            })
            .await?;
        if stopped {
            self.cancel(stream);
        }
        Ok(stopped)
    }

    /// Cancels the work of the stream's task on a turn that is over in the journal.
    pub async fn cut(&self, stream: StreamId) -> anyhow::Result<()> {
        if self.journal.read(move |db| db.turns().open_turn(stream)).await?.is_none() {
            self.cancel(stream);
        }
        Ok(())
    }

    fn cancel(&self, stream: StreamId) {
        let streams = self.runtime.streams.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handle) = streams.get(&stream)
            && let Some(token) = &*handle.turn.lock().unwrap_or_else(PoisonError::into_inner)
        {
            token.cancel();
        }
    }

    /// Waits until every task has ended, after the stop token was cancelled.
    pub async fn finished(&self) {
        self.runtime.streams.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.runtime.tasks.close();
        self.runtime.tasks.wait().await;
    }

    fn start_stream(self: &Arc<Self>, stream: StreamId) -> Handle {
        let (ringer, bell) = crate::time::clock::wakeups();
        let turn = Arc::new(Mutex::new(None));
        let task = stream::StreamTask::new(Arc::clone(self), stream, Arc::clone(&turn));
        self.runtime.tasks.spawn(task.run(bell, self.runtime.stop.clone()));
        Handle { ringer, turn }
    }
}

/// Time without success after which a message is closed with a reason. Longer than any usual outage
/// of a provider.
pub(crate) const PATIENCE: Duration = Duration::from_secs(24 * 3600);
