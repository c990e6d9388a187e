//! Scheduled work: reflection, the heartbeat, reminders, deletions and upkeep.
//!
//! One task finds everything that is due, does it, and sleeps until the next due instant. The end
//! of an assistant run wakes it too. The task keeps no state: due work is a function of the
//! configuration, the stored slots and the time, so a restart, an absence or a changed clock only
//! causes delay. There is no ticker: the clock wakes the task at the exact instant, and the system
//! clock checks at least once a minute whether the time was changed.

mod on_demand;
mod due;
mod deletions;
mod heartbeat;
mod reminders;
mod runs;
mod slots;
mod upkeep;

pub use crate::reflection::Job;
pub use on_demand::OnDemandResult;
pub use slots::UpcomingReflection;
pub use upkeep::{Checked, FreeSpace};

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::config;
use crate::engine::{Audience, Engine};
use crate::memory::Workspace;
use crate::reflection::Reflector;
use crate::store::Journal;
use crate::time::clock::{WakeupSender, Wakeups};
use crate::time::task::guarded;
use crate::time::{Clock, Timestamp, Zone};

/// Delay before the next attempt after a failure.
const AFTER_TROUBLE: Duration = Duration::from_secs(60);

/// The schedule. It is idle until [`Schedule::run`].
pub struct Schedule {
    /// The journal.
    pub journal: Journal,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The time zone.
    pub zone: Zone,
    /// Settings from `[reflection]`.
    pub reflection: config::Reflection,
    /// Settings from `[heartbeat]`.
    pub heartbeat: config::Heartbeat,
    /// Settings from `[retention]`.
    pub retention: config::Retention,
    /// The knowledge tree.
    pub tree: Workspace,
    /// Runs the assistant's work.
    pub engine: Arc<Engine>,
    /// Notified when a message was posted.
    pub audience: Arc<dyn Audience>,
    /// Runs the reflections.
    pub reflector: Reflector,
    /// Free space on the disk of the home.
    pub free_space: FreeSpace,
    /// Wakes [`Schedule::run`].
    pub ringer: WakeupSender,
    /// Signals the end of each pass.
    pub(crate) looked: watch::Sender<()>,
    /// Progress of the current upkeep round.
    pub(crate) rounds: upkeep::Rounds,
}

impl Schedule {
    /// The reflector.
    pub fn reflector(&self) -> &Reflector {
        &self.reflector
    }

    /// Wakes the schedule because something may be due, such as a new reminder or a requested slot.
    pub fn wake(&self) {
        self.ringer.wake(&*self.clock);
    }

    /// Works until the program stops.
    pub async fn run(self: Arc<Self>, mut bell: Wakeups, stop: CancellationToken) {
        let clock = Arc::clone(&self.clock);
        let mut busy = Some(clock.busy());
        loop {
            let wake_at = tokio::select! {
                () = stop.cancelled() => return,
                wake_at = self.run_due() => wake_at,
            };
            busy = tokio::select! {
                () = stop.cancelled() => return,
                heard = bell.recv_or_timeout(&*clock, wake_at, busy.take()) => heard,
            };
            if busy.is_none() {
                return;
            }
        }
    }

    /// Does everything that is due, and returns the next due instant. A failure in one part does
    /// not stop the others.
    async fn run_due(&self) -> Option<Timestamp> {
        let next = [
            self.tried("What was to be reminded of", self.reminders()).await,
            self.tried("Looking back", self.slots()).await,
            self.tried("The heartbeat", self.heartbeat()).await,
            self.tried("What was to go", self.delete_due()).await,
            self.tried("The upkeep", self.upkeep().upkeep()).await,
        ];
        self.looked.send_replace(());
        let now = self.clock.now();
        next.into_iter().flatten().min().map(|at| at.max(now.plus(Duration::from_millis(1))))
    }

    /// Runs one part and returns its next due instant, or an early retry if it failed.
    async fn tried(
        &self,
        what: &str,
        part: impl Future<Output = anyhow::Result<Option<Timestamp>>>,
    ) -> Option<Timestamp> {
        guarded(what, part).await.unwrap_or_else(|error| {
            tracing::error!("{what} failed, and is tried again: {error:#}");
            Some(self.clock.now().plus(AFTER_TROUBLE))
        })
    }
}

/// The nightly round of maintenance.
#[derive(Clone, Copy)]
pub struct Upkeep<'a> {
    pub(super) schedule: &'a Schedule,
}

impl Deref for Upkeep<'_> {
    type Target = Schedule;

    fn deref(&self) -> &Schedule {
        self.schedule
    }
}

impl Schedule {
    /// The nightly round of maintenance.
    pub fn upkeep(&self) -> Upkeep<'_> {
        Upkeep { schedule: self }
    }
}
