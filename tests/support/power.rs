//! Power cuts in a running program.
//!
//! A cut happens on the journal's own thread, before or after one of its commits: the home is
//! copied as it is on the disk at that instant, the thread never returns to its callers, and the
//! whole life (its runtime, its tasks, its connections) is dropped. The next life continues from
//! the copy. The work of the old life between the copy and its end is what a real process can do
//! between its last commit and its death. Each life has its own runtime, so a program is driven
//! from a plain thread.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use compline::store::{CommitPoint, Failpoint};
use compline::time::{Clock, SimulatedClock, Timestamp};
use tokio::runtime::{Builder, Runtime};

use super::channel::{Channel, Start};
use super::story::{StoryOver, copy_home};
use super::telegram::FakeTelegram;

/// Number of consecutive checks without any change after which nothing is expected to change. A
/// check needs processor time like the program itself, so on a slow machine they come later.
const LOOKS: u32 = 600;
const BETWEEN_LOOKS: Duration = Duration::from_millis(25);
/// Number of checks after which a program that still changes is considered to loop.
const ALL_LOOKS: u32 = 8000;

/// Planned point of a power cut.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// Side of the commit.
    pub side: CommitPoint,
    /// Job of the commit; any if none.
    pub job: Option<&'static str>,
    /// Ordinal of the matching commit in this life, from 1.
    pub nth: u32,
}

impl Cut {
    /// The first commit of a job.
    pub fn at(side: CommitPoint, job: &'static str) -> Self {
        Self { side, job: Some(job), nth: 1 }
    }
}

/// Point at which the power was cut.
#[derive(Clone, Copy, Debug)]
pub struct PowerCut {
    pub side: CommitPoint,
    pub job: &'static str,
}

/// Number of commits per job, over all lives.
pub type Jobs = BTreeMap<&'static str, u32>;

struct PowerCutPoint {
    home: PathBuf,
    state: Mutex<State>,
    noticed: tokio::sync::Notify,
    hold: Mutex<Option<Receiver<()>>>,
}

struct State {
    plan: Option<Cut>,
    jobs: Jobs,
    blown: Option<(PowerCut, tempfile::TempDir)>,
}

impl PowerCutPoint {
    fn new(home: PathBuf, plan: Option<Cut>) -> (Arc<Self>, Sender<()>) {
        let (release, hold) = channel();
        let state = Mutex::new(State { plan, jobs: Jobs::new(), blown: None });
        (Arc::new(Self { home, state, noticed: tokio::sync::Notify::new(), hold: Mutex::new(Some(hold)) }), release)
    }

    fn failpoint(self: &Arc<Self>) -> Failpoint {
        let fuse = Arc::clone(self);
        Failpoint(Arc::new(move |side, job| fuse.reached(side, job)))
    }

    fn reached(&self, side: CommitPoint, job: &'static str) {
        {
            let mut state = self.state.lock().unwrap();
            if side == CommitPoint::After {
                *state.jobs.entry(job).or_default() += 1;
            }
            let Some(plan) = &mut state.plan else { return };
            if plan.side != side || plan.job.is_some_and(|named| named != job) {
                return;
            }
            plan.nth -= 1;
            if plan.nth > 0 {
                return;
            }
            state.plan = None;
            state.blown = Some((PowerCut { side, job }, copy_home(&self.home)));
        }
        self.noticed.notify_one();
        let hold = self.hold.lock().unwrap().take();
        // The caller never hears of this commit. The thread is released when its life is buried.
        let _ = hold.map(|hold| hold.recv());
    }
}

/// A program with power cuts over Telegram.
pub type CrashTest = CrashTestOver<FakeTelegram>;

/// A program with power cuts.
pub struct CrashTestOver<C: Channel> {
    pub story: StoryOver<C>,
    /// Commits of the lives that are over.
    jobs: Jobs,
    life: Option<(Runtime, Arc<PowerCutPoint>, Sender<()>)>,
}

impl<C: Start> CrashTestOver<C> {
    /// The program of a prepared story, before its first life.
    pub fn prepared(settings: &str) -> Self {
        Self::over(C::start_sync(), settings)
    }
}

impl<C: Channel> CrashTestOver<C> {
    /// The program of a prepared story over this server, before its first life.
    pub fn over(fake: C, settings: &str) -> Self {
        Self { story: StoryOver::over(fake, settings), jobs: Jobs::new(), life: None }
    }

    /// Begins a life. True if the power was cut during the start.
    pub fn start(&mut self, cut: Option<Cut>) -> bool {
        let life = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (fuse, release) = PowerCutPoint::new(self.story.home.clone(), cut);
        self.story.fail_at(Some(fuse.failpoint()));
        let pulse = Activity::of(&self.story, &fuse);
        let dark = life.block_on(lit(&fuse, &pulse, self.story.start())).unwrap_or_else(|Stuck| {
            let how = life.block_on(self.story.status());
            panic!("the program does not start: {}\n{how}", pulse.progress_report())
        });
        self.life = Some((life, fuse, release));
        dark
    }

    /// Waits until everything is idle. True if the power was cut meanwhile.
    pub fn settle(&self) -> bool {
        self.during(self.story.settle())
    }

    /// Lets time pass. True if the power was cut meanwhile.
    pub fn pass(&self, span: Duration) -> bool {
        self.during(self.story.pass(span))
    }

    /// Waits for a future. True if the power was cut meanwhile.
    pub fn during(&self, work: impl Future<Output = ()>) -> bool {
        let (life, fuse, _) = self.life.as_ref().unwrap();
        let pulse = Activity::of(&self.story, fuse);
        life.block_on(lit(fuse, &pulse, work))
            .unwrap_or_else(|Stuck| panic!("the program is stuck: {}", pulse.progress_report()))
    }

    /// Home that the next life will start from, after a power cut.
    pub fn remains(&self) -> PathBuf {
        let state = self.life.as_ref().unwrap().1.state.lock().unwrap();
        state.blown.as_ref().unwrap().1.path().to_owned()
    }

    /// Ends a life after its power cut: all its tasks stop, and the story moves to the copied home.
    pub fn bury(&mut self) -> PowerCut {
        let (life, fuse, release) = self.life.take().unwrap();
        let app = self.story.take_app();
        drop(life);
        drop(app);
        drop(release);
        self.story.fake.hang_up();
        let work = self.story.clock.work();
        assert!(work.is_idle(), "somebody of the old life counts as working: {:?}", work.places());
        let mut state = fuse.state.lock().unwrap();
        add(&mut self.jobs, &state.jobs);
        let (blown, remains) = state.blown.take().unwrap();
        self.story.move_to(remains);
        blown
    }

    /// Cuts the power at the next such commit of this life.
    pub fn cut_next(&self, cut: Cut) {
        self.life.as_ref().unwrap().1.state.lock().unwrap().plan = Some(cut);
    }

    /// Cancels the planned power cut.
    pub fn spare(&self) {
        self.life.as_ref().unwrap().1.state.lock().unwrap().plan = None;
    }

    /// Stops the program as an operator would, lets time pass and begins the next life.
    pub fn away(&mut self, span: Duration) {
        let (life, fuse, release) = self.life.take().unwrap();
        life.block_on(self.story.stop());
        drop(life);
        drop(release);
        add(&mut self.jobs, &fuse.state.lock().unwrap().jobs);
        let now = self.story.clock.now();
        self.story.clock.set(now.plus(span));
        assert!(!self.start(None));
    }

    /// Begins the next life after a power cut.
    pub fn revive(&mut self) -> PowerCut {
        let blown = self.bury();
        assert!(!self.start(None));
        blown
    }

    /// Ends the story with its check of canaries.
    pub fn end(self) {
        let Self { story, life, .. } = self;
        let (life, fuse, _release) = life.unwrap();
        let pulse = Activity::of(&story, &fuse);
        let end = life.block_on(lit(&fuse, &pulse, story.end()));
        assert!(!end.unwrap_or_else(|Stuck| panic!("the program does not end: {}", pulse.progress_report())));
    }

    /// Commits of all lives, including the current one.
    pub fn jobs_so_far(&self) -> Jobs {
        let mut jobs = self.jobs.clone();
        if let Some((_, fuse, _)) = &self.life {
            add(&mut jobs, &fuse.state.lock().unwrap().jobs);
        }
        jobs
    }
}

fn add(jobs: &mut Jobs, more: &Jobs) {
    for (job, times) in more {
        *jobs.entry(*job).or_default() += times;
    }
}

/// No more progress.
struct Stuck;

/// Sources of progress in a running program.
struct Activity<C: Channel> {
    fake: C,
    clock: Arc<SimulatedClock>,
    fuse: Arc<PowerCutPoint>,
}

impl<C: Channel> Activity<C> {
    fn of(story: &StoryOver<C>, fuse: &Arc<PowerCutPoint>) -> Self {
        Self { fake: story.fake.clone(), clock: Arc::clone(&story.clock), fuse: Arc::clone(fuse) }
    }

    /// Commits, the time, changes of the work tracker, and requests.
    fn beat(&self) -> (u32, Timestamp, u64, usize) {
        let commits = self.fuse.state.lock().unwrap().jobs.values().sum();
        (commits, self.clock.now(), self.clock.work().changes(), self.fake.calls().len())
    }

    /// Completes once nothing has changed for `LOOKS` checks, or after `ALL_LOOKS` checks.
    async fn stops(&self) {
        let (mut last, mut still) = (self.beat(), 0);
        for _ in 0..ALL_LOOKS {
            tokio::time::sleep(BETWEEN_LOOKS).await;
            let now = self.beat();
            still = if now == last { still + 1 } else { 0 };
            last = now;
            if still >= LOOKS {
                return;
            }
        }
    }

    /// Progress report for the failure message.
    fn progress_report(&self) -> String {
        let calls = self.fake.calls().split_off(self.fake.calls().len().saturating_sub(8));
        let (now, next, unacked) = (self.clock.now(), self.clock.next_due(), self.fake.unacked());
        let busy = self.clock.work().places();
        format!("now {now:?}, next {next:?}, busy {busy:#?}, unacked {unacked}, {calls:?}")
    }
}

/// Waits for work while there is power. True if the power was cut.
async fn lit<C: Channel>(
    fuse: &PowerCutPoint,
    pulse: &Activity<C>,
    work: impl Future<Output = ()>,
) -> Result<bool, Stuck> {
    tokio::select! {
        biased;
        () = fuse.noticed.notified() => Ok(true),
        // Both at once: the power was cut with the last commit.
        () = work => Ok(fuse.state.lock().unwrap().blown.is_some()),
        () = pulse.stops() => Err(Stuck),
    }
}
