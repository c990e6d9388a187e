//! Plot of one seed's story: who writes what and when, which faults the wire has, how the model
//! behaves, and where the power is cut. Everything is a function of the seed. The first part is
//! made for one kind of commit, which surely happens and is cut on both sides ([`Aim`]); the rest
//! is random.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use compline::id::PersonId;
use compline::model::{ModelError, Purpose, Request};
use compline::store::CommitPoint;
use compline::trust::Scope;

use super::aim::{self, Aim, OFTEN};
use crate::support::every_channel::TestChannel;
use crate::support::model::{Say, usual};
use crate::support::power::Cut;
use crate::support::story::{ADA, BEN, canary};

/// Random numbers from a seed (splitmix64).
#[derive(Clone)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Number from 0 up to, not including, `below`.
    pub fn below(&mut self, below: u64) -> u64 {
        self.next() % below
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.below(from.len() as u64)).unwrap()]
    }
}

/// One event of a story.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Says(i64),
    Forwards(i64),
    SendsText(i64),
    SendsPhotoThatIsGone(i64),
    Edits(i64),
    Commands(i64, &'static str),
    Flood(i64),
    AnswerLost,
    CallLost,
    ServerError,
    Block(i64),
    Unblock(i64),
}

#[derive(Debug)]
pub struct Plot {
    pub aim: Aim,
    /// Events after the aimed part.
    pub acts: Vec<(Act, Duration)>,
    /// Set if every call fills the window far enough for compaction.
    pub full: bool,
    /// Cuts that end the later lives, with the length of each outage.
    pub cuts: Vec<(Cut, Duration)>,
    pub mood: Mood,
}

/// Behaviour of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// A bit of everything.
    Mixed,
    /// Uses its tools.
    Busy,
    /// Streams its answers slowly.
    Slow,
    /// Fails often.
    Moody,
    /// Saves notes and daily lines.
    Keeping,
    /// Tries to fetch addresses that no person typed.
    Curious,
    /// Declines to answer.
    Refusing,
}

impl Mood {
    /// Roll of the dice that makes the model act by its mood.
    fn own_roll(self) -> u64 {
        if self == Self::Mixed { 19 } else { 3 }
    }
}

pub const SECOND: Duration = Duration::from_secs(1);
const PAUSES: [Duration; 7] = [
    Duration::ZERO,
    Duration::from_millis(300),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(600),
    Duration::from_secs(6 * 3600),
    Duration::from_secs(7 * 3600),
];
pub const OUTAGES: [Duration; 4] = [Duration::ZERO, SECOND, Duration::from_secs(1800), Duration::from_secs(7 * 3600)];

/// Plot of a seed.
pub fn of(channel: TestChannel, seed: u64) -> Plot {
    let mut dice = Dice::new(seed);
    let jobs = aim::jobs(channel);
    let count = jobs.len() as u64;
    let job = jobs[usize::try_from(seed % count).unwrap()];
    let mut sides = [CommitPoint::Before, CommitPoint::After];
    if !(seed / count).is_multiple_of(2) {
        sides.reverse();
    }
    let people: &[i64] = if dice.below(2) == 0 { &[ADA] } else { &[ADA, BEN] };
    let mut acts = Vec::new();
    for _ in 0..2 + dice.below(5) {
        acts.push((any_act(&mut dice, people), dice.pick(&PAUSES)));
    }
    let outages = [dice.pick(&OUTAGES), dice.pick(&OUTAGES)];
    let mut cuts = Vec::new();
    for _ in 0..dice.below(3) {
        cuts.push((anywhere(&mut dice), dice.pick(&OUTAGES)));
    }
    let aim = aim::at(channel, job, sides, outages);
    // Ada writes in every story, also after all faults are over.
    acts.push((Act::Says(ADA), dice.pick(&PAUSES)));
    Plot {
        full: aim.full || seed.is_multiple_of(3),
        mood: dice.pick(&[Mood::Mixed, Mood::Keeping, Mood::Busy, Mood::Slow, Mood::Moody]),
        aim,
        acts,
        cuts,
    }
}

/// Cut of a commit that every story repeats. It names its job, because the order of commits across
/// jobs depends on how tasks interleave.
fn anywhere(dice: &mut Dice) -> Cut {
    let side = if dice.below(2) == 0 { CommitPoint::Before } else { CommitPoint::After };
    let nth = 1 + u32::try_from(dice.below(3)).unwrap();
    Cut { side, job: Some(dice.pick(&OFTEN)), nth }
}

fn any_act(dice: &mut Dice, people: &[i64]) -> Act {
    let who = dice.pick(people);
    match dice.below(20) {
        0 => Act::Edits(who),
        1 => Act::Commands(who, "/new"),
        2 => Act::Commands(who, "/stop"),
        3 => Act::SendsText(who),
        4 => Act::Flood(who),
        5 => Act::AnswerLost,
        6 => Act::CallLost,
        7 => Act::ServerError,
        8 => Act::SendsPhotoThatIsGone(who),
        _ => Act::Says(who),
    }
}

/// Model of a story. Each answer is unique, so it is recognised anywhere.
pub struct Mind {
    seed: u64,
    mood: Mutex<Mood>,
    chance: Mutex<Chance>,
    asked: Mutex<HashMap<(Scope, &'static str), u64>>,
    given: Mutex<Vec<Given>>,
}

/// Randomness of the model.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chance {
    /// No chance: acts by its mood.
    None,
    /// Random within its mood.
    Some,
    /// No chance: simply answers.
    Calm,
}

/// Reply of the model.
#[derive(Clone, Debug)]
pub struct Given {
    pub scope: Scope,
    /// Unique token in the reply.
    pub token: String,
}

impl Mind {
    /// Creates a model that acts only by its mood.
    pub fn new(seed: u64, mood: Mood) -> Arc<Self> {
        let (mood, chance) = (Mutex::new(mood), Mutex::new(Chance::None));
        Arc::new(Self { seed, mood, chance, asked: Mutex::default(), given: Mutex::default() })
    }

    /// Behaves randomly within `mood` from now on.
    pub fn let_go(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
        *self.chance.lock().unwrap() = Chance::Some;
    }

    /// Simply answers from now on.
    pub fn calm_down(&self) {
        *self.chance.lock().unwrap() = Chance::Calm;
    }

    /// Replies so far.
    pub fn given(&self) -> Vec<Given> {
        self.given.lock().unwrap().clone()
    }

    /// Answers a request by mood and chance.
    pub fn say(&self, request: &Request) -> Say {
        let scope = request.scope();
        let n = {
            let mut asked = self.asked.lock().unwrap();
            let n = asked.entry((scope, request.purpose().as_str())).or_default();
            *n += 1;
            *n
        };
        let person = if scope == Scope::Person(PersonId(1)) { ADA } else { BEN };
        let mut dice = Dice::new(self.seed ^ (n << 20) ^ (person as u64) << 40);
        let (mood, chance) = (*self.mood.lock().unwrap(), *self.chance.lock().unwrap());
        let roll = match chance {
            Chance::None => mood.own_roll(),
            Chance::Some => dice.below(20),
            Chance::Calm => 19,
        };
        if matches!(request.purpose(), Purpose::Summary | Purpose::Extraction) {
            let fails = roll < if mood == Mood::Moody { 12 } else { 3 };
            return match request.purpose() {
                _ if fails => Say::Fail(later()),
                Purpose::Extraction => Say::Text(facts(person, n)),
                _ => usual(request),
            };
        }
        let token = format!("answer{person}x{n}");
        // The retries of one call are consecutive; several have to fail before a person is
        // notified.
        let away = mood == Mood::Moody && chance != Chance::Calm && n % 8 < 5;
        if away {
            return Say::Fail(later());
        }
        if mood == Mood::Refusing && chance != Chance::Calm {
            return Say::Fail(ModelError::Refused);
        }
        if roll < 2 {
            return Say::Fail(if roll == 0 { ModelError::Cut } else { ModelError::Refused });
        }
        self.given.lock().unwrap().push(Given { scope, token: token.clone() });
        let calls = Say::Calls(vec![(
            "memory_search".to_owned(),
            format!("{{\"in\": \"conversations\", \"query\": \"{token}\"}}"),
        )]);
        let address = format!("{{\"url\": \"http://nowhere.example/{token}\"}}");
        let own = canary(person);
        let note = Say::Calls(vec![(
            "remember".to_owned(),
            format!("{{\"title\": \"note {token}\", \"content\": \"kept {token}\", \"kind\": \"reference\"}}"),
        )]);
        let line = Say::Calls(vec![("memory_save".to_owned(), format!("{{\"content\": \"line {token}\"}}"))]);
        match (mood, roll) {
            (Mood::Keeping, 0..=6) if n % 3 != 0 => note,
            (Mood::Keeping, 7..=11) if n % 3 != 0 => line,
            // The last allowed round offers no tools.
            (Mood::Curious, 0..=16) if !request.tools().is_empty() => {
                Say::Calls(vec![("web_fetch".to_owned(), address)])
            }
            (Mood::Busy, 0..=12) | (_, 8..=9) if n % 3 != 0 => calls,
            (Mood::Slow, 0..=16) | (_, 10..=12) => grown(&token, &own),
            (_, 13..=15) => Say::Text(long(&token, &own)),
            _ => Say::Text(format!("{token}z0z {own}")),
        }
    }
}

/// Two facts unique to this answer: one travels with the profile, the other belongs to the
/// workspace.
fn facts(person: i64, n: u64) -> String {
    let fact = |layer: &str| {
        format!(
            "{{\"key\": \"Thing {layer} {person}x{n}z\", \"value\": \"stands\", \"category\": \"fact\", \"layer\": \"{layer}\", \"sources\": [1]}}"
        )
    };
    format!("{{\"facts\": [{}, {}], \"corrections\": []}}", fact("A"), fact("B"))
}

fn later() -> ModelError {
    ModelError::Later { after: None, what: "the model is not there".to_owned() }
}

/// Answer of several parts, with a mark in each paragraph.
fn long(token: &str, own: &str) -> String {
    let paragraph = |n: usize| format!("{token}z{n}z {own} {}\n\n", "and so it goes on ".repeat(12));
    (0..40).map(paragraph).collect()
}

fn grown(token: &str, own: &str) -> Say {
    let piece = |n: u64| (SECOND, format!("{token}z{n}z {own} grows further and further. "));
    Say::Grow((0..8).map(piece).collect())
}
