//! Registry shared by intake, delivery and live view: the connected adapters and one delivery queue
//! per address.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::log_throttle::QueueBlock;
use crate::adapter::Adapter;
use crate::id::{AddressId, StreamId};
use crate::memory::Workspace;
use crate::message::Health;
use crate::people::Address;
use crate::store::Journal;
use crate::time::Clock;
use crate::time::clock::WakeupSender;

/// Callback with a stream.
type StreamCallback = Box<dyn Fn(StreamId) + Send + Sync>;

/// Adapters by name, and delivery queues by address.
pub struct Dispatcher {
    pub(super) journal: Journal,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) tree: Workspace,
    pub(super) tasks: TaskTracker,
    pub(super) stop: CancellationToken,
    adapters: Mutex<HashMap<&'static str, Arc<dyn Adapter>>>,
    pub(super) queues: Mutex<HashMap<AddressId, Arc<DeliveryQueue>>>,
    /// Woken when a message with a deletion timer was delivered.
    timers: Mutex<Option<WakeupSender>>,
    /// Called with the stream in which a question was delivered.
    questions: Mutex<Option<StreamCallback>>,
    /// Adapters whose messages cannot be stored at the moment.
    blocked: Mutex<HashSet<&'static str>>,
}

/// State of storing incoming messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageState {
    /// Messages are stored.
    Works,
    /// Messages cannot be stored.
    Fails,
}

/// Queue of one address. Every sender locks `sending`, so a streamed reply and a finished one never
/// cross.
pub struct DeliveryQueue {
    /// Id of the address.
    pub id: AddressId,
    /// The address.
    pub address: Address,
    /// Adapter that sends there.
    pub adapter: Arc<dyn Adapter>,
    /// Locked while something is sent.
    pub sending: tokio::sync::Mutex<()>,
    /// Wakes the delivery task.
    pub ringer: WakeupSender,
    /// Throttle for log lines about failed deliveries.
    pub failure_log: QueueBlock,
}

impl Dispatcher {
    /// Creates an empty registry.
    pub fn new(journal: Journal, tree: Workspace, clock: Arc<dyn Clock>, stop: CancellationToken) -> Arc<Self> {
        Arc::new(Self {
            journal,
            clock,
            tree,
            tasks: TaskTracker::new(),
            stop,
            adapters: Mutex::default(),
            queues: Mutex::default(),
            timers: Mutex::default(),
            questions: Mutex::default(),
            blocked: Mutex::default(),
        })
    }

    /// The journal.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Sets whom to wake when a message with a deletion timer was delivered.
    pub fn on_timer_delivered(&self, ringer: WakeupSender) {
        *self.timers.lock().unwrap_or_else(PoisonError::into_inner) = Some(ringer);
    }

    /// Sets the callback for a delivered question, whose time limit starts then.
    pub fn on_question_delivered(&self, told: impl Fn(StreamId) + Send + Sync + 'static) {
        *self.questions.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(told));
    }

    /// Reports a delivered question. Not while stopping: the next start checks for itself.
    pub(super) fn notify_question(&self, stream: StreamId) {
        if let Some(told) = &*self.questions.lock().unwrap_or_else(PoisonError::into_inner)
            && !self.stop.is_cancelled()
        {
            told(stream);
        }
    }

    /// Wakes the timer task.
    pub(super) fn wake_timers(&self) {
        if let Some(ringer) = &*self.timers.lock().unwrap_or_else(PoisonError::into_inner) {
            ringer.wake(&*self.clock);
        }
    }

    /// Registers an adapter.
    pub fn register(&self, adapter: Arc<dyn Adapter>) {
        self.adapters.lock().unwrap_or_else(PoisonError::into_inner).insert(adapter.name(), adapter);
    }

    /// Registered adapters, by name.
    pub fn adapters(&self) -> Vec<Arc<dyn Adapter>> {
        let adapters = self.adapters.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = adapters.values().cloned().collect();
        all.sort_by_key(|adapter| adapter.name());
        all
    }

    /// Records whether the messages of an adapter can be stored.
    pub fn set_storage_state(&self, adapter: &'static str, works: StorageState) {
        let mut blocked = self.blocked.lock().unwrap_or_else(PoisonError::into_inner);
        match works {
            StorageState::Works => blocked.remove(adapter),
            StorageState::Fails => blocked.insert(adapter),
        };
    }

    /// State of each adapter; one whose messages cannot be stored has a problem regardless of its
    /// own report.
    pub fn health(&self) -> Vec<(String, Health)> {
        let blocked = self.blocked.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let healths = self.adapters().into_iter().map(|adapter| {
            let mut health = adapter.health();
            if blocked.contains(adapter.name()) {
                health.problem = Some(crate::wording::gate::NOT_STORED.to_owned());
            }
            (adapter.name().to_owned(), health)
        });
        healths.collect()
    }

    /// Adapter of that name.
    pub fn adapter(&self, name: &str) -> Option<Arc<dyn Adapter>> {
        self.adapters.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Wakes the delivery to an address with new outbox rows.
    pub fn wake(self: &Arc<Self>, id: AddressId) {
        let desks = Arc::clone(self);
        let busy = self.clock.busy();
        self.tasks.spawn(async move {
            match desks.queue(id).await {
                Ok(Some(lane)) => lane.ringer.wake(&*desks.clock),
                // The adapter is not configured now; the rows stay in the journal.
                Ok(None) => {}
                Err(error) => tracing::error!("Looking up an address failed: {error:#}"),
            }
            drop(busy);
        });
    }

    /// Current peer of a queue: the id of a group may have changed since it was opened.
    pub(super) async fn current_peer(&self, lane: &DeliveryQueue) -> anyhow::Result<String> {
        let id = lane.id;
        let address = self.journal.read(move |db| db.addresses().address(id)).await?;
        Ok(address.map_or_else(|| lane.address.peer.clone(), |address| address.peer))
    }

    /// Sends read receipts in the background, best effort.
    pub fn send_read_receipts(&self, adapter: Arc<dyn Adapter>, messages: Vec<(String, String)>) {
        if messages.is_empty() {
            return;
        }
        self.tasks.spawn(async move {
            for (peer, external_id) in messages {
                adapter.mark_read(&peer, &external_id).await;
            }
        });
    }

    /// Wakes the delivery to every address of an account with pending rows.
    pub async fn wake_account(self: &Arc<Self>, adapter: &'static str, account: String) -> anyhow::Result<()> {
        for id in self.journal.read(move |db| db.outbox().addresses_with_outbox(adapter, &account)).await? {
            self.wake(id);
        }
        Ok(())
    }

    /// Waits until every delivery has ended, after the stop token was cancelled.
    pub async fn wait_until_finished(&self) {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.tasks.close();
        self.tasks.wait().await;
    }
}
