//! One desk per adapter: what the intake, the delivery and the live view of that adapter share.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::delivery;
use super::log_throttle::QueueBlock;
use crate::adapter::Adapter;
use crate::id::{AddressId, StreamId};
use crate::memory::Workspace;
use crate::message::Health;
use crate::people::Address;
use crate::store::Journal;
use crate::time::Clock;
use crate::time::clock::WakeupSender;

/// Told of a stream.
type StreamCallback = Box<dyn Fn(StreamId) + Send + Sync>;

/// All desks, by the adapter's name.
pub struct Dispatcher {
    pub(super) journal: Journal,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) tree: Workspace,
    pub(super) tasks: TaskTracker,
    pub(super) stop: CancellationToken,
    adapters: Mutex<HashMap<&'static str, Arc<dyn Adapter>>>,
    lanes: Mutex<HashMap<AddressId, Arc<DeliveryQueue>>>,
    /// Rung when something was delivered whose timer runs from then on.
    timers: Mutex<Option<WakeupSender>>,
    /// Told in which stream a question was delivered whose time runs from then on.
    questions: Mutex<Option<StreamCallback>>,
    /// Adapters whose messages cannot be stored at the moment.
    blocked: Mutex<HashSet<&'static str>>,
}

/// Whether the journal takes what comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storing {
    /// It does.
    Works,
    /// It does not.
    Fails,
}

/// The way to one address. Whoever sends there holds `sending`, so a growing answer and a finished one never cross.
pub struct DeliveryQueue {
    /// Where it is.
    pub id: AddressId,
    /// Where that is.
    pub address: Address,
    /// The adapter that goes there.
    pub adapter: Arc<dyn Adapter>,
    /// Held while something is sent.
    pub sending: tokio::sync::Mutex<()>,
    /// Wakes the delivery task.
    pub ringer: WakeupSender,
    /// Why nothing goes through.
    pub held: QueueBlock,
}

impl Dispatcher {
    /// No desks yet.
    pub fn new(journal: Journal, tree: Workspace, clock: Arc<dyn Clock>, stop: CancellationToken) -> Arc<Self> {
        Arc::new(Self {
            journal,
            clock,
            tree,
            tasks: TaskTracker::new(),
            stop,
            adapters: Mutex::default(),
            lanes: Mutex::default(),
            timers: Mutex::default(),
            questions: Mutex::default(),
            blocked: Mutex::default(),
        })
    }

    /// The journal.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Who is rung when something was delivered whose timer runs from then on.
    pub fn tell_of_timers(&self, ringer: WakeupSender) {
        *self.timers.lock().unwrap_or_else(PoisonError::into_inner) = Some(ringer);
    }

    /// Who is told when a question was delivered, whose time runs from then on.
    pub fn tell_of_questions(&self, told: impl Fn(StreamId) + Send + Sync + 'static) {
        *self.questions.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(told));
    }

    /// The time of a question runs. When the program stops, the next start looks.
    pub(super) fn question_counts(&self, stream: StreamId) {
        if let Some(told) = &*self.questions.lock().unwrap_or_else(PoisonError::into_inner)
            && !self.stop.is_cancelled()
        {
            told(stream);
        }
    }

    /// A timer runs.
    pub(super) fn ring_timers(&self) {
        if let Some(ringer) = &*self.timers.lock().unwrap_or_else(PoisonError::into_inner) {
            ringer.ring(&*self.clock);
        }
    }

    /// Opens the desk of an adapter.
    pub fn open(&self, adapter: Arc<dyn Adapter>) {
        self.adapters.lock().unwrap_or_else(PoisonError::into_inner).insert(adapter.name(), adapter);
    }

    /// The adapters that have a desk.
    pub fn adapters(&self) -> Vec<Arc<dyn Adapter>> {
        let adapters = self.adapters.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = adapters.values().cloned().collect();
        all.sort_by_key(|adapter| adapter.name());
        all
    }

    /// What an adapter receives can be stored, or cannot.
    pub fn storing(&self, adapter: &'static str, works: Storing) {
        let mut blocked = self.blocked.lock().unwrap_or_else(PoisonError::into_inner);
        match works {
            Storing::Works => blocked.remove(adapter),
            Storing::Fails => blocked.insert(adapter),
        };
    }

    /// How each adapter is; one whose messages cannot be stored is in trouble, whatever it says itself.
    pub fn health(&self) -> Vec<(String, Health)> {
        let blocked = self.blocked.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let healths = self.adapters().into_iter().map(|adapter| {
            let mut health = adapter.health();
            if blocked.contains(adapter.name()) {
                health.trouble = Some(crate::wording::gate::NOT_STORED.to_owned());
            }
            (adapter.name().to_owned(), health)
        });
        healths.collect()
    }

    /// The adapter of that name.
    pub fn adapter(&self, name: &str) -> Option<Arc<dyn Adapter>> {
        self.adapters.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// The lane to an address; `None` if its adapter has no desk, or another account now.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub async fn lane(self: &Arc<Self>, id: AddressId) -> anyhow::Result<Option<Arc<DeliveryQueue>>> {
        if let Some(lane) = self.lanes.lock().unwrap_or_else(PoisonError::into_inner).get(&id) {
            return Ok(Some(Arc::clone(lane)));
        }
        let Some(address) = self.journal.read(move |db| db.addresses().address(id)).await? else { return Ok(None) };
        let Some(adapter) = self.adapter(&address.adapter) else { return Ok(None) };
        if adapter.account() != address.account {
            return Ok(None);
        }
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let lane = lanes.entry(id).or_insert_with(|| {
            let (ringer, bell) = crate::time::clock::wakeups();
            let lane = Arc::new(DeliveryQueue {
                id,
                address,
                adapter,
                sending: tokio::sync::Mutex::new(()),
                ringer,
                held: QueueBlock::default(),
            });
            self.tasks.spawn(delivery::run(Arc::clone(self), Arc::clone(&lane), bell));
            lane
        });
        Ok(Some(Arc::clone(lane)))
    }

    /// Something waits for that address: wakes its delivery.
    pub fn ring(self: &Arc<Self>, id: AddressId) {
        let desks = Arc::clone(self);
        let busy = self.clock.busy();
        self.tasks.spawn(async move {
            match desks.lane(id).await {
                Ok(Some(lane)) => lane.ringer.ring(&*desks.clock),
                // Its adapter is not configured now; what waits goes on waiting in the journal.
                Ok(None) => {}
                Err(error) => tracing::error!("Looking up an address failed: {error:#}"),
            }
            drop(busy);
        });
    }

    /// Tells the senders that their messages were read: a courtesy, which nothing waits for.
    pub fn seen(&self, adapter: Arc<dyn Adapter>, messages: Vec<(String, String)>) {
        if messages.is_empty() {
            return;
        }
        self.tasks.spawn(async move {
            for (peer, external_id) in messages {
                adapter.mark_read(&peer, &external_id).await;
            }
        });
    }

    /// Wakes the delivery to every address of an account for which something waits.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub async fn ring_account(self: &Arc<Self>, adapter: &'static str, account: String) -> anyhow::Result<()> {
        for id in self.journal.read(move |db| db.outbox().addresses_with_outbox(adapter, &account)).await? {
            self.ring(id);
        }
        Ok(())
    }

    /// Waits until every delivery has ended, after the stop token was cancelled.
    pub async fn finished(&self) {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.tasks.close();
        self.tasks.wait().await;
    }
}
