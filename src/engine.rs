//! From a stored message to a stored answer.
//!
//! One task per stream takes what is queued, joins what belongs together, runs a turn, and writes
//! the reply and its delivery in one transaction ([`stream`], [`turn`]). [`boundary`] says where a
//! conversation ends; [`closer`] writes the end down. The engine knows no adapters: whoever shows
//! answers as they grow is an [`Audience`].
//!
//! Nothing that matters lives only in memory. What a task holds (the history of the current
//! conversation, a cancel token) is rebuilt from the journal; a task that dies is started again and
//! goes on from the last stored step.

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
use crate::store::Journal;
use crate::time::clock::WakeupSender;
use crate::time::{Clock, Timestamp, Zone};
use crate::tool::Toolbox;

pub use auto_recall::recalled;

/// Who sees answers before they are finished, and is told when something waits to be delivered.
pub trait Audience: Send + Sync {
    /// A turn begins that will answer to that address. What is returned watches it until it is
    /// dropped.
    fn watch(&self, turn: TurnId, address: AddressId) -> Box<dyn Watcher>;
    /// Something was posted to that address.
    fn posted(&self, address: AddressId);
}

/// Watches one turn. Dropping it ends every sign that an answer is on its way.
pub trait Watcher: StreamSink {
    /// The answer so far has this label: it decides how links are shown.
    fn label(&self, label: &crate::trust::Label);
    /// The answer is whole, or there is none: nothing more of its growth may be shown, for what
    /// comes next is delivered.
    fn over(&self);
}

impl Watcher for NullSink {
    fn label(&self, _: &crate::trust::Label) {}
    fn over(&self) {}
}

/// Fetches files from where a message came from.
#[async_trait::async_trait]
pub trait Courier: Send + Sync {
    /// The bytes of a file that came with a message from that address, at most `max` of them. The
    /// error is a sentence.
    async fn fetch(&self, address: AddressId, reference: &str, max: u64) -> Result<Vec<u8>, Fetch>;
}

/// Why a file did not come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fetch {
    /// It is too large.
    TooLarge,
    /// It is gone.
    Gone,
    /// It may come later.
    Later,
}

/// The engine. It rests until [`Engine::start`].
pub struct Engine {
    /// The journal.
    pub journal: Journal,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The zone.
    pub zone: Zone,
    /// `[conversation]`
    pub conversation: config::Conversation,
    /// The assistant's name.
    pub agent: String,
    /// `[memory]`
    pub memory: config::Memory,
    /// The most rounds of tool calls in one turn.
    pub tool_rounds: u32,
    /// The knowledge tree.
    pub tree: Workspace,
    /// What finds in it.
    pub index: Index,
    /// The skills.
    pub review: Review,
    /// The tools.
    pub toolbox: Toolbox,
    /// The models for answers, first choice first, each metered.
    pub chat: ModelPool,
    /// The models for work that nobody waits for.
    pub background: Arc<ModelPool>,
    /// Voice notes to text, if there is an endpoint; metered.
    pub transcription: Option<Transcriber>,
    /// Who watches.
    pub audience: Arc<dyn Audience>,
    /// Who fetches files.
    pub courier: Arc<dyn Courier>,
    /// Who reads documents.
    pub reader: DocumentReader,
    /// Streams, background jobs and their end.
    pub(crate) runtime: Runtime,
}

/// Streams, background jobs and their end.
pub(crate) struct Runtime {
    /// Start of this life of the program.
    began: Timestamp,
    streams: Mutex<HashMap<StreamId, Handle>>,
    closer: BackgroundJob,
    extractor: BackgroundJob,
    readers: extractor::Readers,
    worker: BackgroundJob,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Runtime {
    /// A runtime without streams; cancelling `stop` ends it.
    pub(crate) fn new(began: Timestamp, stop: CancellationToken) -> Self {
        Self {
            began,
            streams: Mutex::default(),
            closer: BackgroundJob::default(),
            extractor: BackgroundJob::default(),
            readers: extractor::Readers::default(),
            worker: BackgroundJob::default(),
            tasks: TaskTracker::new(),
            stop,
        }
    }
}

struct Handle {
    ringer: WakeupSender,
    /// Ends the running turn, when there is one.
    turn: Arc<Mutex<Option<CancellationToken>>>,
}

impl Engine {
    /// Takes up what was left undone, and starts writing down the ends of conversations.
    pub async fn start(self: &Arc<Self>) -> anyhow::Result<()> {
        summarizer::start(self);
        extractor::start(self);
        for stream in self.journal.read(|db| db.messages().streams_with_work()).await? {
            self.ring(stream);
        }
        Ok(())
    }

    /// Something may be to do in that stream.
    pub fn ring(self: &Arc<Self>, stream: StreamId) {
        let mut streams = self.runtime.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let handle = streams.entry(stream).or_insert_with(|| self.start_stream(stream));
        handle.ringer.ring(&*self.clock);
        drop(streams);
        self.ring_closer();
    }

    /// The ends of conversations may have moved.
    pub fn ring_closer(&self) {
        self.runtime.closer.ring(&*self.clock);
    }

    /// Facts of a conversation may be wanted.
    pub fn ring_extractor(&self) {
        self.runtime.extractor.ring(&*self.clock);
    }

    /// Who is rung when a run that the program assigned is over.
    pub fn tell_of_work(&self, ringer: WakeupSender) {
        self.runtime.worker.heard_by(ringer);
    }

    /// Something may be due that the schedule does: a run that the program assigned is over, words
    /// are to go.
    pub fn ring_worker(&self) {
        self.runtime.worker.ring(&*self.clock);
    }

    /// Ends the stream's turn at once. False if none is running or waiting.
    pub async fn stop_turn(self: &Arc<Self>, stream: StreamId) -> anyhow::Result<bool> {
        let now = self.clock.now();
        let stopped = self
            .journal
            .write("stop a turn", move |tx| {
                // Looked up here, because a turn may end at any moment: one that is answered is not
                // stopped any more.
                let mut stopped = false;
                // There may be two: one that a yes began waits for the one that runs.
                while let Some(open) = tx.turns().open_turn(stream)? {
                    tx.messages().settle_turn(open.id, "answered", "stopped")?;
                    tx.outbox().drop_preview(open.id)?;
                    tx.turns().end_turn(open.id, "stopped", "stopped", now)?;
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

    /// Ends what the stream's task still does for a turn that is over in the journal.
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

/// After this much work without success, a message is closed with a reason: longer than any usual
/// outage of a provider.
pub(crate) const PATIENCE: Duration = Duration::from_secs(24 * 3600);
