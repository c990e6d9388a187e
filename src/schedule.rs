//! What the program does by itself, and when: looking back, the heartbeat, reminders, what is to
//! disappear, upkeep.
//!
//! One task looks at everything that may be due, does it, and rests until the next instant at which
//! something will be; it is rung when a run of the assistant is over. Nothing here remembers: what
//! is due is a function of the configuration, the stored slots and the time, so a restart, an
//! absence or a clock that was set makes no difference but delay. There is no ticker: the clock
//! wakes the task at the very instant, and the system's clock looks at least once a minute whether
//! somebody has set it meanwhile.

mod on_demand;
mod due;
mod resume_deletions;
mod redaction_jobs;
mod heartbeat;
mod reminders;
mod runs;
mod slots;
mod upkeep;

pub use crate::reflection::Job;
pub use on_demand::OnDemandResult;
pub use slots::Coming;
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

/// How long the task rests after the journal failed it.
const AFTER_TROUBLE: Duration = Duration::from_secs(60);

/// The schedule. It rests until it is run.
pub struct Schedule {
    /// The journal.
    pub journal: Journal,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The zone.
    pub zone: Zone,
    /// `[reflection]`
    pub reflection: config::Reflection,
    /// `[heartbeat]`
    pub heartbeat: config::Heartbeat,
    /// `[retention]`
    pub retention: config::Retention,
    /// The knowledge tree.
    pub tree: Workspace,
    /// Who does the work.
    pub engine: Arc<Engine>,
    /// Who is told when something was posted.
    pub audience: Arc<dyn Audience>,
    /// Who looks back.
    pub reflector: Reflector,
    /// How much room there is on the disk of the home.
    pub free_space: FreeSpace,
    /// Rings the bell that goes to [`Schedule::run`].
    pub ringer: WakeupSender,
    /// Changes after each look.
    pub(crate) looked: watch::Sender<()>,
    /// How far the round of upkeep is.
    pub(crate) rounds: upkeep::Rounds,
}

impl Schedule {
    /// Who looks back.
    pub fn reflector(&self) -> &Reflector {
        &self.reflector
    }

    /// Something may be due: a reminder was set, a slot was asked for.
    pub fn ring(&self) {
        self.ringer.ring(&*self.clock);
    }

    /// Works until the program stops.
    pub async fn run(self: Arc<Self>, mut bell: Wakeups, stop: CancellationToken) {
        let clock = Arc::clone(&self.clock);
        let mut busy = Some(clock.busy());
        loop {
            let wake_at = tokio::select! {
                () = stop.cancelled() => return,
                wake_at = self.look() => wake_at,
            };
            busy = tokio::select! {
                () = stop.cancelled() => return,
                heard = bell.heard_or(&*clock, wake_at, busy.take()) => heard,
            };
            if busy.is_none() {
                return;
            }
        }
    }

    /// Does everything that is due, and says when something will be next. What fails keeps the rest
    /// from nothing.
    async fn look(&self) -> Option<Timestamp> {
        let next = [
            self.tried("What was to be reminded of", self.reminders()).await,
            self.tried("Looking back", self.slots()).await,
            self.tried("The heartbeat", self.heartbeat()).await,
            self.tried("What was to go", self.gone()).await,
            self.tried("The upkeep", self.upkeep().upkeep()).await,
        ];
        self.looked.send_replace(());
        let now = self.clock.now();
        next.into_iter().flatten().min().map(|at| at.max(now.plus(Duration::from_millis(1))))
    }

    /// When a part wants to be looked at next; soon, if it failed.
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
