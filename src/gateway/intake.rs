//! Receive loop of one adapter: connect, receive, commit, acknowledge.
//!
//! Raw items, cursor and everything that follows from them are one transaction. Only a failed
//! commit stops the intake; nothing is then acknowledged, so the items are delivered again. A
//! problem with receiving is reported by the adapter's health, logged once, and retried with
//! growing pauses.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::admission::{self, Admission, AfterCommit};
use super::dispatcher::{AccessGranted, Dispatcher, StorageState};
use super::menu;
use crate::adapter::{Adapter, Batch, PollError, RECEIVE_RETRY};
use crate::config::Groups;
use crate::engine::{Engine, JustSent};
use crate::store::{Journal, is_full};
use crate::time::clock::WakeupSender;
use crate::time::task::guarded;
use crate::time::{ActivityGuard, Clock, Zone};
use crate::wording::gateway;

/// Receive loop of one adapter.
pub struct Intake {
    /// The journal.
    pub journal: Journal,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The time zone.
    pub zone: Zone,
    /// Setting `[conversation] gap`.
    pub gap: Duration,
    /// Setting `[conversation] trust_own_photos`.
    pub trust_own_photos: bool,
    /// The assistant's name.
    pub agent: String,
    /// Settings `[groups]`.
    pub groups: Arc<Groups>,
    /// The adapter.
    pub adapter: Arc<dyn Adapter>,
    /// The engine.
    pub engine: Arc<Engine>,
    /// Delivery.
    pub dispatcher: Arc<Dispatcher>,
    /// Wakes the command worker.
    pub commands: WakeupSender,
    /// Called once the account is known, and again after a failure of receiving.
    pub connected: Box<dyn Fn() -> futures::future::BoxFuture<'static, anyhow::Result<()>> + Send + Sync>,
}

impl Intake {
    /// Receives until the program stops.
    pub async fn run(self, stop: CancellationToken) {
        loop {
            let received = guarded("The intake", self.receive(&stop)).await;
            if stop.is_cancelled() {
                return;
            }
            match received {
                Ok(()) => return,
                Err(error) => tracing::error!("Receiving from {} failed: {error:#}", self.adapter.name()),
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.pause(self.clock.busy(), RECEIVE_RETRY.longest) => {}
            }
        }
    }

    /// Receives batches. A received batch is stored and acknowledged before a stop takes effect,
    /// because not every server would deliver it again.
    async fn receive(&self, stop: &CancellationToken) -> anyhow::Result<()> {
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = self.connect_with_retry() => {}
        }
        let mut failures = 0;
        loop {
            let batch = tokio::select! {
                () = stop.cancelled() => return Ok(()),
                batch = self.next(&mut failures) => batch,
            };
            let Some(batch) = batch else { return Ok(()) };
            // Counts as activity from here until the acknowledgement.
            let busy = self.clock.busy();
            if let Some(pause) = self.take(batch, &mut failures).await {
                tokio::select! {
                    () = stop.cancelled() => return Ok(()),
                    () = self.pause(busy, pause) => {}
                }
            }
        }
    }

    async fn connect_with_retry(&self) {
        let mut failures = 0;
        while let Err(trouble) = self.connect().await {
            failures += 1;
            tracing::error!("Cannot connect {}: {trouble:#}", self.adapter.name());
            self.pause(self.clock.busy(), RECEIVE_RETRY.pause(failures)).await;
        }
    }

    /// Waits for the next batch; `None` when the adapter is closed.
    async fn next(&self, failures: &mut u32) -> Option<Batch> {
        let name = self.adapter.name();
        loop {
            let cursor = match self.cursor().await {
                Ok(cursor) => cursor,
                Err(error) => {
                    tracing::error!("Cannot read the cursor of {name}: {error:#}");
                    self.pause(self.clock.busy(), RECEIVE_RETRY.longest).await;
                    continue;
                }
            };
            let trouble = match self.adapter.next(cursor.as_deref()).await {
                Ok(batch) => return Some(batch),
                Err(PollError::Closed) => return None,
                Err(trouble) => trouble,
            };
            *failures += 1;
            if *failures == 1 {
                tracing::warn!("Cannot receive from {name}: {trouble}");
            }
            let pause = RECEIVE_RETRY.pause(*failures);
            let pause = if let PollError::Wait(asked) = trouble { asked.max(pause) } else { pause };
            self.pause(self.clock.busy(), pause).await;
        }
    }

    /// Stores a batch and acknowledges it. Returns the pause before a retry if that failed.
    async fn take(&self, batch: Batch, failures: &mut u32) -> Option<Duration> {
        let name = self.adapter.name();
        let taken = async {
            // A long failure may have lost messages, as downtime does.
            if *failures > 0 {
                (self.connected)().await?;
            }
            self.store(batch.items, batch.cursor.clone()).await
        };
        match taken.await {
            Ok(wake) => {
                *failures = 0;
                self.dispatcher.set_storage_state(name, StorageState::Works);
                self.adapter.ack(batch.cursor.as_deref()).await;
                self.after_commit(wake).await;
                None
            }
            Err(error) => {
                *failures += 1;
                self.dispatcher.set_storage_state(name, StorageState::after(&error));
                if is_full(&error) {
                    self.adapter.reject_batch(gateway::DISK_FULL).await;
                }
                tracing::error!(
                    "Cannot store what {name} received; it is not acknowledged and will come again: {error:#}"
                );
                Some(RECEIVE_RETRY.pause(*failures))
            }
        }
    }

    async fn connect(&self) -> anyhow::Result<()> {
        self.adapter.connect().await?;
        (self.connected)().await?;
        menu::register(&self.journal, &*self.adapter).await?;
        menu::describe(&self.journal, &*self.adapter).await?;
        self.dispatcher.wake_account(self.adapter.name(), self.adapter.account()).await
    }

    async fn cursor(&self) -> anyhow::Result<Option<String>> {
        let (name, account) = (self.adapter.name(), self.adapter.account());
        self.journal.read(move |db| db.inbox().cursor(name, &account)).await
    }

    async fn store(&self, items: Vec<String>, cursor: Option<String>) -> anyhow::Result<AfterCommit> {
        let now = self.clock.now();
        if items.is_empty() && cursor.is_none() {
            return Ok(AfterCommit::default());
        }
        let admission = Admission {
            now,
            zone: self.zone,
            gap: self.gap,
            trust_own_photos: self.trust_own_photos && self.adapter.marks_forwards(),
            agent: self.agent.clone(),
            adapter: self.adapter.name(),
            account: self.adapter.account(),
            groups: Arc::clone(&self.groups),
        };
        let items = admission::parse_batch(&*self.adapter, items);
        // Typing and read notices without a cursor need no transaction.
        if cursor.is_none() && items.iter().all(|item| item.is_irrelevant()) {
            return Ok(AfterCommit::default());
        }
        self.journal
            .write("accept messages", move |tx| {
                let mut wake = AfterCommit::default();
                for item in &items {
                    admission.admit(tx, item, &mut wake)?;
                }
                if let Some(cursor) = &cursor {
                    tx.inbox().set_cursor(admission.adapter, &admission.account, cursor, now)?;
                }
                tx.settings().set_fact(&last_alive_key(admission.adapter), &now.0.to_string())?;
                Ok(wake)
            })
            .await
    }

    async fn after_commit(&self, wake: AfterCommit) {
        for stream in wake.stop {
            if let Err(error) = self.engine.stop_turn(stream, JustSent::Kept).await {
                tracing::error!(stream.id = %stream, "Stopping the turn of stream {stream} failed: {error:#}");
            }
        }
        for stream in wake.cancelled {
            if let Err(error) = self.engine.cut(stream).await {
                tracing::error!(stream.id = %stream, "Ending the turn of stream {stream} failed: {error:#}");
            }
        }
        if wake.deletions_pending {
            self.engine.wake_schedule();
        }
        for stream in wake.streams {
            self.engine.wake_stream(stream);
        }
        for address in wake.posted {
            self.dispatcher.wake(address);
        }
        if wake.command_queued {
            self.commands.wake(&*self.clock);
        }
        if let Some(person) = wake.access_granted {
            self.dispatcher.announce(AccessGranted { person, adapter: self.adapter.name() });
            if menu::register(&self.journal, &*self.adapter).await.is_err() {
                tracing::warn!("The command menu of a newcomer is registered at the next start");
            }
        }
        self.dispatcher.send_read_receipts(Arc::clone(&self.adapter), wake.read);
        for callback in wake.callbacks {
            self.adapter.acknowledge_button(&callback).await;
        }
    }

    async fn pause(&self, busy: ActivityGuard, pause: Duration) {
        drop(busy.rest(&*self.clock, pause).await);
    }
}

/// Setting that holds the time at which the adapter could last receive.
pub fn last_alive_key(adapter: &str) -> String {
    format!("alive_at {adapter}")
}
