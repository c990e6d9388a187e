//! Power cuts at any moment: nothing is lost and nothing is doubled.
//!
//! Each seed is a short story with two to four power cuts. The first two hit both sides of one
//! journal job, in a story that surely commits it, so a run with as many seeds as jobs cuts every
//! kind of commit on both sides; the others fall anywhere. `COMPLINE_SEEDS=500..1000` runs other
//! stories, `COMPLINE_SEED=17` runs one again. The promises are checked in the journal and at the
//! other end of the wire ([`verdict`]).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use compline::store::CommitPoint;
use compline::time::Clock;

use crate::support::every_channel::{CrashTest, TestChannel, on_every_channel};
use crate::support::power::{Cut, Jobs, PowerCut};
use crate::support::seeds;
use crate::support::story::{ADA, BEN, EVE, UNTRUSTED, canary};

#[path = "power_cut/aim.rs"]
mod aim;
#[path = "power_cut/plot.rs"]
mod plot;
#[path = "power_cut/verdict.rs"]
mod verdict;

use aim::{Aim, ELSEWHERE};
use plot::{Act, Mind};
use verdict::Told;

on_every_channel! {
    crash_tests:
        a_power_cut_loses_and_doubles_nothing;
}

/// Attempts to cause the commit that a story is about. Two usually suffice, one for each side.
const ROUNDS: usize = 4;
/// Number of stories that run in parallel.
const THREADS: usize = 2;

/// Promise (delivery/power-cut): A power cut or a kill at any moment loses none of your messages
/// and answers none of them twice; anything that may have arrived twice says so.
fn a_power_cut_loses_and_doubles_nothing(channel: TestChannel) {
    if let Some(seed) = std::env::var("COMPLINE_SEED").ok().map(|seed| seed.parse().unwrap()) {
        println!("{:#?}", plot::of(channel, seed));
        println!("{:?}", tell(channel, seed).0);
        return;
    }
    let kinds = aim::jobs(channel).len() as u64;
    let seeds = seeds::asked_for(0..stories_for_each_kind(channel) * kinds);
    let (next, run) = (AtomicU64::new(seeds.start), Mutex::new(Run::default()));
    std::thread::scope(|threads| {
        for _ in 0..THREADS {
            threads.spawn(|| tell_all(channel, &next, seeds.end, &run));
        }
    });
    let whole = seeds.end - seeds.start >= kinds;
    run.into_inner().unwrap().conclude(channel, &seeds, whole);
}

/// Default number of stories for each kind of commit: over Telegram, one for each order of its
/// sides.
fn stories_for_each_kind(channel: TestChannel) -> u64 {
    match channel {
        TestChannel::Telegram => 2,
        TestChannel::Signal => 1,
    }
}

fn tell_all(channel: TestChannel, next: &AtomicU64, end: u64, run: &Mutex<Run>) {
    loop {
        let seed = next.fetch_add(1, Ordering::SeqCst);
        if seed >= end {
            return;
        }
        let told = catch_unwind(AssertUnwindSafe(|| tell(channel, seed)));
        run.lock().unwrap().add(seed, told.ok());
    }
}

/// Results of a run.
#[derive(Default)]
struct Run {
    failed: Vec<u64>,
    jobs: Jobs,
    cuts: BTreeMap<(&'static str, bool), u32>,
}

impl Run {
    fn add(&mut self, seed: u64, told: Option<(Vec<PowerCut>, Jobs)>) {
        let Some((cuts, jobs)) = told else {
            self.failed.push(seed);
            return;
        };
        println!("{seed}: {cuts:?}");
        for cut in cuts {
            *self.cuts.entry((cut.job, cut.side == CommitPoint::Before)).or_default() += 1;
        }
        for (job, times) in jobs {
            *self.jobs.entry(job).or_default() += times;
        }
    }

    /// Reports and checks the run. Only a `whole` run must have cut every commit.
    fn conclude(self, channel: TestChannel, seeds: &Range<u64>, whole: bool) {
        let cut = |job, before| self.cuts.get(&(job, before)).copied().unwrap_or_default();
        println!("{:<26}{:>9}{:>8}{:>8}", "job", "commits", "before", "after");
        for (job, times) in &self.jobs {
            println!("{job:<26}{times:>9}{:>8}{:>8}", cut(job, true), cut(job, false));
        }
        let (all, kinds) =
            (self.cuts.values().sum::<u32>(), self.cuts.keys().map(|(job, _)| job).collect::<BTreeSet<_>>());
        println!("did: seeds {seeds:?}: {all} power cuts at {} kinds of commit", kinds.len());
        let again: Vec<String> = self
            .failed
            .iter()
            .map(|seed| {
                format!(
                    "COMPLINE_SEED={seed} cargo test --test stories {}::{} -- --nocapture",
                    module_path!().trim_start_matches("stories::"),
                    channel.module()
                )
            })
            .collect();
        assert!(again.is_empty(), "{} stories failed:\n{}", again.len(), again.join("\n"));
        let spared: Vec<_> = self
            .jobs
            .keys()
            .filter(|job| !ELSEWHERE.contains(job))
            .filter(|job| cut(job, true) == 0 || cut(job, false) == 0)
            .collect();
        assert!(!whole || spared.is_empty(), "never cut on both sides: {spared:?}; JOBS names what is aimed at");
        let unseen: Vec<_> = aim::jobs(channel).into_iter().filter(|job| !self.jobs.contains_key(job)).collect();
        assert!(!whole || unseen.is_empty(), "never committed in any story: {unseen:?}");
    }
}

/// Runs the story of one seed to its end and judges it.
fn tell(channel: TestChannel, seed: u64) -> (Vec<PowerCut>, Jobs) {
    let plot = plot::of(channel, seed);
    let mut crash_test = channel.crash_test("[budget]\ndaily_tokens = 1000000000\n");
    crash_test.story.fetch_through(crate::support::web::nowhere());
    let mind = Mind::new(seed, plot.aim.mood);
    for model in [&crash_test.story.model, &crash_test.story.background] {
        let mind = mind.clone();
        model.otherwise(move |request| mind.say(request));
    }
    if plot.full {
        crash_test.story.model.counts(72_000);
    }
    let cuts = plot.aim.cuts.iter().chain(&plot.cuts).copied().collect();
    let mut teller = Teller { told: Told::default(), cuts, blown: Vec::new(), stored: Vec::new() };
    teller.go_on_from(&mut crash_test);
    teller.reach(&mut crash_test, &plot.aim);
    mind.let_go(plot.mood);
    for (act, pause) in plot.acts {
        teller.act(&mut crash_test, act);
        teller.pass(&mut crash_test, pause);
    }
    mind.calm_down();
    teller.calm(&mut crash_test);
    crash_test.spare();
    verdict::judge(&crash_test, &teller.told, &teller.blown, &mind.given(), &teller.stored);
    let jobs = crash_test.jobs_so_far();
    crash_test.end();
    (teller.blown, jobs)
}

/// Runs a story through all its power cuts.
struct Teller {
    told: Told,
    cuts: VecDeque<(Cut, Duration)>,
    blown: Vec<PowerCut>,
    /// Tokens of the model's replies on the disk at each cut.
    stored: Vec<Vec<String>>,
}

impl Teller {
    /// Repeats the acts that cause a commit until both of its sides are cut.
    fn reach(&mut self, crash_test: &mut CrashTest, aim: &Aim) {
        for _ in 0..ROUNDS {
            for (act, pause) in &aim.acts {
                self.act(crash_test, *act);
                self.pass(crash_test, *pause);
            }
            if self.blown.len() >= aim.cuts.len() {
                return;
            }
        }
        panic!("{} is never committed in the story that is made for it: {:?}", aim.job, self.blown);
    }

    fn act(&mut self, crash_test: &mut CrashTest, act: Act) {
        let fake = crash_test.story.fake.clone();
        let n = self.told.said.len();
        let words = |who| format!("word{who}x{n}z {}", canary(who));
        match act {
            Act::Says(who) => self.told.said.push((who, fake.says(who, &words(who)))),
            Act::Forwards(who) => {
                self.told.said.push((who, fake.forwards(who, EVE, &format!("{UNTRUSTED}passed on {}", words(who)))));
            }
            Act::SendsText(who) => {
                let id = fake.sends_document(who, "list.txt", "text/plain", format!("filetext{n}z").as_bytes());
                self.told.said.push((who, id));
            }
            Act::SendsPhotoThatIsGone(who) => {
                let id = fake.sends_photo(who, &words(who), b"a picture");
                fake.files_fail_next(3);
                self.told.said.push((who, id));
            }
            Act::Edits(who) => {
                if let Some((_, id)) = self.told.said.iter().rev().find(|(by, _)| *by == who) {
                    fake.edits(who, *id, &format!("{} edited", words(who)));
                }
            }
            Act::Commands(who, command) => {
                self.told.commands.push((who, fake.says(who, command)));
                self.told.stops += usize::from(command == "/stop");
            }
            Act::Flood(who) => fake.flood(who, 20),
            Act::AnswerLost => fake.drop_after_accept_next(1),
            Act::CallLost => fake.drop_before_accept_next(1),
            Act::ServerError => fake.server_error_next(1),
            Act::Block(who) => fake.block(who),
            Act::Unblock(who) => fake.unblock(who),
        }
        self.told.trouble += usize::from(matches!(act, Act::AnswerLost | Act::CallLost | Act::ServerError));
        self.told.blocked |= matches!(act, Act::Block(_));
    }

    fn pass(&mut self, crash_test: &mut CrashTest, span: Duration) {
        let until = crash_test.story.clock.now().plus(span);
        while crash_test.pass(until.since(crash_test.story.clock.now())) {
            self.fall_dark(crash_test);
        }
    }

    fn fall_dark(&mut self, crash_test: &mut CrashTest) {
        let (_, dark) = self.cuts.pop_front().unwrap();
        let blown = crash_test.bury();
        self.blown.push(blown);
        self.stored.push(verdict::stored_replies(&crash_test.story));
        let clock = &crash_test.story.clock;
        clock.set(clock.now().plus(dark));
        // Confirmed updates may still be delivered again.
        let fake = &crash_test.story.fake;
        fake.last_update_id().into_iter().for_each(|id| fake.redeliver(id));
        self.go_on_from(crash_test);
    }

    fn go_on_from(&mut self, crash_test: &mut CrashTest) {
        if crash_test.start(self.cuts.front().map(|(cut, _)| *cut)) {
            self.fall_dark(crash_test);
        }
    }

    /// Clears all faults and lets enough time pass for everything to be done.
    fn calm(&mut self, crash_test: &mut CrashTest) {
        crash_test.story.fake.clear_faults();
        for who in [ADA, BEN] {
            crash_test.story.fake.unblock(who);
        }
        for hours in [0, 1, 7, 7, 7, 24, 24] {
            self.pass(crash_test, Duration::from_secs(60 + 3600 * hours));
            if hours > 1 && verdict::is_quiet(&crash_test.story) {
                return;
            }
        }
    }
}
