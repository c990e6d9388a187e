//! Registry shared by intake, delivery and live view: the connected adapters and one delivery queue
//! per address.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures::FutureExt;
use tokio::sync::{Notify, broadcast};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::adapter::{Adapter, SendError};
use crate::admin::Channels;
use crate::id::{AddressId, StreamId};
use crate::memory::Workspace;
use crate::message::{ChannelKind, Health, StartWay};
use crate::people::{Address, Person};
use crate::review::OutboxNotifier;
use crate::store::{Journal, is_full, is_locked};
use crate::time::Clock;
use crate::time::clock::WakeupSender;
use crate::time::task::lock;

/// Maximum number of announcements kept for a slow watcher.
const MAX_UNSEEN: usize = 16;

/// Callback with a stream.
type StreamCallback = Box<dyn Fn(StreamId) + Send + Sync>;

/// Adapters by name, and delivery queues by address.
pub struct Dispatcher {
    pub(super) journal: Journal,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) workspace: Workspace,
    pub(super) tasks: TaskTracker,
    pub(super) stop: CancellationToken,
    adapters: Mutex<HashMap<&'static str, Arc<dyn Adapter>>>,
    pub(super) queues: Mutex<HashMap<AddressId, Arc<DeliveryQueue>>>,
    /// Woken when a message with a deletion timer was delivered.
    pub(super) scheduler: WakeupSender,
    /// Called with the stream in which a question was delivered.
    questions: Mutex<Option<StreamCallback>>,
    /// Adapters whose messages cannot be stored at the moment.
    blocked: Mutex<HashMap<&'static str, &'static str>>,
    blocked_changed: Notify,
    /// People who gained access, for observers of the program.
    newcomers: broadcast::Sender<AccessGranted>,
}

/// Access or another address, gained by a code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessGranted {
    /// The person.
    pub person: Person,
    /// Adapter at which the code was sent.
    pub adapter: &'static str,
}

/// State of storing incoming messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageState {
    /// Messages are stored.
    Works,
    /// Messages cannot be stored, with the reason for people.
    Fails(&'static str),
}

impl StorageState {
    /// Returns the state after that failure.
    pub fn after(error: &anyhow::Error) -> Self {
        Self::Fails(match error {
            error if is_full(error) => crate::wording::gateway::NOT_STORED_FULL,
            error if is_locked(error) => crate::wording::gateway::NOT_STORED_LOCKED,
            _ => crate::wording::gateway::NOT_STORED,
        })
    }
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
    pub waker: WakeupSender,
    /// Throttle for log lines about failed deliveries.
    pub failure_log: FailureLog,
}

impl Dispatcher {
    /// Creates an empty registry. `scheduler` is woken when a message with a deletion timer was
    /// delivered.
    pub fn new(
        journal: Journal,
        workspace: Workspace,
        clock: Arc<dyn Clock>,
        stop: CancellationToken,
        scheduler: WakeupSender,
    ) -> Arc<Self> {
        Arc::new(Self {
            journal,
            clock,
            workspace,
            tasks: TaskTracker::new(),
            stop,
            adapters: Mutex::default(),
            queues: Mutex::default(),
            scheduler,
            questions: Mutex::default(),
            blocked: Mutex::default(),
            blocked_changed: Notify::new(),
            newcomers: broadcast::channel(MAX_UNSEEN).0,
        })
    }

    /// Announces access to the watchers, if any.
    pub(super) fn announce(&self, granted: AccessGranted) {
        let _ = self.newcomers.send(granted);
    }

    /// Returns all access granted from now on.
    pub fn newcomers(&self) -> broadcast::Receiver<AccessGranted> {
        self.newcomers.subscribe()
    }

    /// The journal.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Sets the callback for a delivered question, whose time limit starts then.
    pub fn on_question_delivered(&self, callback: impl Fn(StreamId) + Send + Sync + 'static) {
        *lock(&self.questions) = Some(Box::new(callback));
    }

    /// Reports a delivered question. Not while stopping: the next start checks for itself.
    pub(super) fn notify_question(&self, stream: StreamId) {
        if let Some(callback) = &*lock(&self.questions)
            && !self.stop.is_cancelled()
        {
            callback(stream);
        }
    }

    /// Registers an adapter.
    pub fn register(&self, adapter: Arc<dyn Adapter>) {
        lock(&self.adapters).insert(adapter.name(), adapter);
    }

    /// Registered adapters, by name.
    pub fn all_adapters(&self) -> Vec<Arc<dyn Adapter>> {
        let adapters = lock(&self.adapters);
        let mut all: Vec<_> = adapters.values().cloned().collect();
        all.sort_by_key(|adapter| adapter.name());
        all
    }

    /// Records whether the messages of an adapter can be stored.
    pub fn set_storage_state(&self, adapter: &'static str, state: StorageState) {
        let mut blocked = lock(&self.blocked);
        let has_changed = match state {
            StorageState::Works => blocked.remove(adapter).is_some(),
            StorageState::Fails(why) => blocked.insert(adapter, why) != Some(why),
        };
        if has_changed {
            self.blocked_changed.notify_one();
        }
    }

    /// Completes when the health of a channel has changed for another reason than the passage of
    /// time. For one caller, who misses no change between two calls.
    pub async fn health_changed(&self) {
        let adapters = self.all_adapters();
        let channels = adapters.iter().map(|adapter| adapter.health_changed());
        futures::future::select_all(channels.chain([self.blocked_changed.notified().boxed()])).await;
    }

    /// Adapter of that name.
    pub fn adapter(&self, name: &str) -> Option<Arc<dyn Adapter>> {
        lock(&self.adapters).get(name).cloned()
    }

    /// Wakes the delivery to an address with new outbox rows.
    pub fn wake(self: &Arc<Self>, id: AddressId) {
        let dispatcher = Arc::clone(self);
        let busy = self.clock.busy();
        self.tasks.spawn(async move {
            match dispatcher.queue(id).await {
                Ok(Some(queue)) => queue.waker.wake(&*dispatcher.clock),
                // The adapter is not configured now; the rows stay in the journal.
                Ok(None) => {}
                Err(error) => tracing::error!("Looking up an address failed: {error:#}"),
            }
            drop(busy);
        });
    }

    /// Current peer of a queue: the id of a group may have changed since it was opened.
    pub(super) async fn current_peer(&self, queue: &DeliveryQueue) -> anyhow::Result<String> {
        let id = queue.id;
        let address = self.journal.read(move |db| db.addresses().address(id)).await?;
        Ok(address.map_or_else(|| queue.address.peer.clone(), |address| address.peer))
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
        lock(&self.queues).clear();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl OutboxNotifier for Arc<Dispatcher> {
    fn posted(&self, address: AddressId) {
        self.wake(address);
    }

    fn settled(&self) {
        self.scheduler.wake(&*self.clock);
    }
}

impl Channels for Dispatcher {
    /// State of each adapter; one whose messages cannot be stored has a problem regardless of its
    /// own report.
    fn health(&self) -> Vec<(String, Health)> {
        let blocked = lock(&self.blocked).clone();
        let state = |adapter: Arc<dyn Adapter>| {
            let mut health = adapter.health();
            if let Some(why) = blocked.get(adapter.name()) {
                health.problem = Some((*why).to_owned());
            }
            (adapter.name().to_owned(), health)
        };
        self.all_adapters().into_iter().map(state).collect()
    }

    fn public_name(&self, channel: ChannelKind) -> Option<String> {
        self.adapter(channel.name())?.public_name()
    }

    fn start_ways(&self, code: &str) -> Vec<StartWay> {
        let way = |adapter: Arc<dyn Adapter>| {
            let (channel, account) = (adapter.name().parse::<ChannelKind>().ok()?.title(), adapter.public_name()?);
            Some(StartWay { channel, account, link: adapter.start_link(code) })
        };
        self.all_adapters().into_iter().filter_map(way).collect()
    }
}

/// Log throttle for failed deliveries: the log names the cause once, and again when it changes or
/// the delivery works again. A line per attempt would hide everything else for days.
#[derive(Debug, Default)]
pub struct FailureLog(Mutex<Option<String>>);

impl FailureLog {
    /// Records a failure. Returns true if its cause is new.
    pub fn record_failure(&self, error: &SendError) -> bool {
        // The wait that a server asks for differs each time.
        let cause = match error {
            SendError::Wait(_) => "wait".to_owned(),
            other => other.to_string(),
        };
        let mut cause_so_far = lock(&self.0);
        cause_so_far.replace(cause.clone()) != Some(cause)
    }

    /// Records a success. Returns true if it ends a failure.
    pub fn record_success(&self) -> bool {
        lock(&self.0).take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Proves: operation/logged-once
    #[test]
    fn a_reason_is_news_once_and_again_after_another_or_after_it_was_over() {
        let held = FailureLog::default();
        assert!(!held.record_success());
        assert!(held.record_failure(&SendError::Wait(Duration::from_secs(3))));
        assert!(!held.record_failure(&SendError::Wait(Duration::from_secs(4))));
        assert!(held.record_failure(&SendError::Later("HTTP 502".to_owned())));
        assert!(held.record_failure(&SendError::Later("HTTP 503".to_owned())));
        assert!(!held.record_failure(&SendError::Later("HTTP 503".to_owned())));
        assert!(held.record_success() && !held.record_success());
        assert!(held.record_failure(&SendError::Later("HTTP 503".to_owned())));
    }
}
