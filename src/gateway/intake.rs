//! The way in of one adapter: connect, receive, commit, acknowledge, again.
//!
//! Raw items, cursor and everything they lead to are one transaction. Only a commit that fails stops the intake, and then nothing is
//! acknowledged: what was not stored comes again. Trouble is told by the adapter's health, logged once, and tried again with
//! growing pauses.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::admit::{self, Door, Wake};
use super::desk::{Desks, Storing};
use crate::adapter::{Adapter, PollError};
use crate::engine::Engine;
use crate::store::Journal;
use crate::time::clock::Ringer;
use crate::time::task::guarded;
use crate::time::{Busy, Clock, Zone};

/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The way in of one adapter.
pub struct Intake {
    /// The journal.
    pub journal: Journal,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The zone.
    pub zone: Zone,
    /// `[conversation] gap`
    pub gap: Duration,
    /// The assistant's name.
    pub agent: String,
    /// The adapter.
    pub adapter: Arc<dyn Adapter>,
    /// Who answers.
    pub engine: Arc<Engine>,
    /// Who delivers.
    pub desks: Arc<Desks>,
    /// Who runs commands.
    pub commands: Ringer,
    /// Called once the account is known, and again after trouble with receiving.
    pub connected: Box<dyn Fn() -> futures::future::BoxFuture<'static, anyhow::Result<()>> + Send + Sync>,
}

impl Intake {
    /// Receives until the program stops.
    pub async fn run(self, stop: CancellationToken) {
        loop {
            let received = tokio::select! {
                () = stop.cancelled() => return,
                received = guarded("The intake", self.receive()) => received,
            };
            match received {
                Ok(()) => return,
                Err(error) => tracing::error!("Receiving from {} failed: {error:#}", self.adapter.name()),
            }
            self.pause(self.clock.busy(), LONGEST_PAUSE).await;
        }
    }

    async fn receive(&self) -> anyhow::Result<()> {
        let mut failures = 0;
        let name = self.adapter.name();
        loop {
            match self.connect().await {
                Ok(()) => break,
                Err(trouble) => {
                    failures += 1;
                    tracing::error!("Cannot connect {name}: {trouble:#}");
                    self.pause(self.clock.busy(), pause_after(failures)).await;
                }
            }
        }
        failures = 0;
        loop {
            let cursor = match self.cursor().await {
                Ok(cursor) => cursor,
                Err(error) => {
                    tracing::error!("Cannot read the cursor of {name}: {error:#}");
                    self.pause(self.clock.busy(), LONGEST_PAUSE).await;
                    continue;
                }
            };
            let batch = match self.adapter.next(cursor.as_deref()).await {
                Ok(batch) => batch,
                Err(PollError::Closed) => return Ok(()),
                Err(trouble) => {
                    failures += 1;
                    if failures == 1 {
                        tracing::warn!("Cannot receive from {name}: {trouble}");
                    }
                    let pause = if let PollError::Wait(asked) = trouble { asked } else { pause_after(failures) };
                    self.pause(self.clock.busy(), pause).await;
                    continue;
                }
            };
            // From here on until the acknowledgement somebody works.
            let busy = self.clock.busy();
            let taken = async {
                // Trouble that lasted may have cost messages, as an absence does.
                if failures > 0 {
                    (self.connected)().await?;
                }
                self.store(batch.items, batch.cursor.clone()).await
            };
            match taken.await {
                Ok(wake) => {
                    failures = 0;
                    self.desks.storing(name, Storing::Works);
                    self.adapter.ack(batch.cursor.as_deref()).await;
                    self.wake(wake).await;
                    drop(busy);
                }
                Err(error) => {
                    failures += 1;
                    self.desks.storing(name, Storing::Fails);
                    tracing::error!(
                        "Cannot store what {name} received; it is not acknowledged and will come again: {error:#}"
                    );
                    self.pause(busy, pause_after(failures)).await;
                }
            }
        }
    }

    async fn connect(&self) -> anyhow::Result<()> {
        self.adapter.connect().await?;
        (self.connected)().await?;
        self.show_menu().await?;
        self.desks.ring_account(self.adapter.name(), self.adapter.account()).await
    }

    /// Registers the commands, for each person those of their role.
    async fn show_menu(&self) -> anyhow::Result<()> {
        let peers = self.menu_peers().await?;
        let entries: Vec<crate::adapter::MenuEntry> = crate::admin::command::menu()
            .iter()
            .map(|entry| crate::adapter::MenuEntry {
                name: entry.name.to_owned(),
                does: entry.does.to_owned(),
                role: entry.role,
            })
            .collect();
        self.adapter.menu(&entries, &peers).await;
        Ok(())
    }

    async fn menu_peers(&self) -> anyhow::Result<Vec<(String, crate::people::Role)>> {
        let (name, account) = (self.adapter.name(), self.adapter.account());
        self.journal
            .read(move |db| {
                let mut peers = Vec::new();
                for person in db.people()? {
                    for known in db.addresses_of(person.id)? {
                        if known.address.adapter == name && known.address.account == account {
                            peers.push((known.address.peer, person.role));
                        }
                    }
                }
                Ok(peers)
            })
            .await
    }

    async fn cursor(&self) -> anyhow::Result<Option<String>> {
        let (name, account) = (self.adapter.name(), self.adapter.account());
        self.journal.read(move |db| db.cursor(name, &account)).await
    }

    async fn store(&self, items: Vec<String>, cursor: Option<String>) -> anyhow::Result<Wake> {
        let now = self.clock.now();
        if items.is_empty() && cursor.is_none() {
            return Ok(Wake::default());
        }
        let door = Door {
            now,
            zone: self.zone,
            gap: self.gap,
            agent: self.agent.clone(),
            adapter: self.adapter.name(),
            account: self.adapter.account(),
        };
        let items = admit::parse(&*self.adapter, items);
        self.journal
            .write("accept messages", move |tx| {
                let mut wake = Wake::default();
                for item in &items {
                    door.admit(tx, item, &mut wake)?;
                }
                if let Some(cursor) = &cursor {
                    tx.set_cursor(door.adapter, &door.account, cursor, now)?;
                }
                tx.set_fact(&alive_fact(door.adapter), &now.0.to_string())?;
                Ok(wake)
            })
            .await
    }

    async fn wake(&self, wake: Wake) {
        for stream in wake.streams {
            self.engine.ring(stream);
        }
        for address in wake.posted {
            self.desks.ring(address);
        }
        if wake.commands {
            self.commands.ring(&*self.clock);
        }
        if wake.newcomer && self.show_menu().await.is_err() {
            tracing::warn!("The command menu of a newcomer is registered at the next start");
        }
        for callback in wake.buttons {
            self.adapter.button_heard(&callback).await;
        }
    }

    async fn pause(&self, busy: Busy, pause: Duration) {
        drop(busy.rest(&*self.clock, pause).await);
    }
}

/// Where the journal keeps when something could last be received through that adapter.
pub fn alive_fact(adapter: &str) -> String {
    format!("alive_at {adapter}")
}

/// A second, doubling up to a minute.
fn pause_after(failures: u32) -> Duration {
    Duration::from_secs(1 << failures.saturating_sub(1).min(6)).min(LONGEST_PAUSE)
}
