//! A year, and the weeks around clock changes, with absences and power cuts: the assistant reflects
//! on each local day exactly once.
//!
//! Messages are written directly to the journal, because nothing here depends on the channel;
//! slots, turns, reflections, actions and the gate are real. A year of plans in every zone, without
//! a program around it, is in `src/schedule/due/tests.rs`. `COMPLINE_DAYS=365` tells a year of each
//! zone, `COMPLINE_ZONE=UTC` tells of one zone only.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use compline::id::PersonId;
use compline::model::{Purpose, Request};
use compline::store::{
    BoundaryReason, CommitPoint, ConversationKind, MessageKind, MessageState, NewConversation, NewMessage, TextKind, Tx,
};
use compline::time::{Clock, Period, Span, Timestamp, Zone};
use compline::trust::{Label, Labelled, Scope};
use rusqlite::Connection;
use serde_json::json;

use crate::support::model::{Say, usual};
use crate::support::power::{CrashTest, Cut};
use crate::support::story::skill;

const HOUR: Duration = Duration::from_hours(1);
const MINUTE: Duration = Duration::from_mins(1);
/// Actions proposed by each reflection, and the limits for the gate: per reflection and per day.
const PROPOSED: usize = 4;
const OF_ONE: i64 = 3;
const OF_A_DAY: i64 = 5;
/// Number of messages that makes a day worth a reflection.
const WORTH: i64 = 3;

/// A program that runs in one zone for some days.
#[derive(Debug, Clone, Copy)]
struct Life {
    zone: &'static str,
    start: &'static str,
    days: u32,
    seed: u64,
}

/// A year, and ten weeks around each further clock change and in two zones with unusual offsets.
const LIVES: &[Life] = &[
    Life::of("Europe/London", "2026-03-02T09:00:00Z", 365, 1),
    Life::of("America/Los_Angeles", "2026-10-05T09:00:00Z", 70, 2),
    Life::of("America/Los_Angeles", "2027-02-15T09:00:00Z", 70, 7),
    Life::of("Australia/Lord_Howe", "2026-09-07T09:00:00Z", 70, 3),
    Life::of("Australia/Lord_Howe", "2027-03-08T09:00:00Z", 70, 8),
    Life::of("Asia/Kathmandu", "2026-12-07T09:00:00Z", 70, 4),
    Life::of("Pacific/Apia", "2026-02-02T09:00:00Z", 70, 5),
    Life::of("UTC", "2026-01-19T09:00:00Z", 70, 6),
];

/// Promise (reflection/once): Compline reflects on each day, week and month exactly once, in your
/// time zone, despite clock changes, absences, power cuts and new settings. Days that ended more
/// than `catch_up_days` ago are marked as missed.
#[test]
fn every_local_day_is_looked_back_on_exactly_once() {
    let lives = Mutex::new(lives().into_iter());
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                loop {
                    let Some(life) = lives.lock().unwrap().next() else { return };
                    life.live();
                }
            });
        }
    });
}

/// The lives that the environment asks for.
fn lives() -> Vec<Life> {
    let asked_for = |name| std::env::var(name).ok();
    let (days, zone) = (asked_for("COMPLINE_DAYS"), asked_for("COMPLINE_ZONE"));
    let mut lives = LIVES.to_vec();
    lives.retain(|life| zone.as_ref().is_none_or(|zone| zone == life.zone));
    if let Some(days) = days.map(|days| days.parse().unwrap()) {
        // A year contains the later clock change of its zone.
        lives.dedup_by_key(|life| life.zone);
        lives.iter_mut().for_each(|life| life.days = days);
    }
    assert!(!lives.is_empty(), "no life is in {zone:?}");
    lives
}

/// Deterministic pseudo-random numbers.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

impl Life {
    const fn of(zone: &'static str, start: &'static str, days: u32, seed: u64) -> Self {
        Self { zone, start, days, seed }
    }

    /// Runs the program to the end of the life and checks it.
    fn live(self) {
        let zone = self.zone;
        let start = Timestamp(chrono::DateTime::parse_from_rfc3339(self.start).unwrap().timestamp_millis());
        let settings = format!(
            "timezone = \"{zone}\"\n[reflection]\nmin_messages = {WORTH}\ntell_owner = false\nreview_mode = \"none\"\n\
             max_actions_per_reflection = {OF_ONE}\nmax_actions_per_day = {OF_A_DAY}\n[budget]\ndaily_tokens = 1000000000\n"
        );
        let mut crash_test = CrashTest::prepared(&settings);
        crash_test.story.clock.set(start);
        crash_test.story.background.otherwise(thoughts);
        let mut chance = Chance(self.seed);
        assert!(!crash_test.start(None));
        let end = start.plus(HOUR * 24 * self.days);
        while crash_test.story.clock.now() < end {
            one_stretch(&mut crash_test, &mut chance);
        }
        // Finishes all open work. The nightly upkeep takes some milliseconds from its due time on,
        // which a whole hour after a power cut at the time of another job can hit exactly.
        for span in [HOUR * 24, HOUR, MINUTE] {
            while crash_test.pass(span) {
                crash_test.revive();
            }
        }
        Verdict::of(&crash_test, Zone::named(zone).unwrap(), start).pronounce(zone);
        println!("did: {zone}: {} days from {}", self.days, self.start);
    }
}

/// Some hours of a life, perhaps with messages, an absence, a power cut or a clock change.
fn one_stretch(crash_test: &mut CrashTest, chance: &mut Chance) {
    match chance.below(40) {
        0 => {
            // Away for up to nine days.
            crash_test.away(HOUR * u32::try_from(1 + chance.below(24 * 9)).unwrap());
        }
        1 | 2 => {
            let side = if chance.below(2) == 0 { CommitPoint::Before } else { CommitPoint::After };
            let nth = u32::try_from(1 + chance.below(30)).unwrap();
            crash_test.cut_next(Cut { side, job: None, nth });
        }
        3 => {
            // Sets the clock ahead by up to an hour in half of the cases.
            let by = i64::try_from(chance.below(3_600_000)).unwrap();
            let now = crash_test.story.clock.now();
            crash_test.story.clock.set(Timestamp(now.0 + if chance.below(2) == 0 { by } else { 0 }));
        }
        4..20 => {
            for _ in 0..=chance.below(4) {
                if crash_test.during(say(crash_test)) {
                    crash_test.revive();
                }
            }
        }
        _ => {}
    }
    if crash_test.pass(HOUR * u32::try_from(1 + chance.below(9)).unwrap()) {
        crash_test.revive();
    }
}

async fn say(crash_test: &CrashTest) {
    let now = crash_test.story.clock.now();
    let journal = crash_test.story.app().journal.clone();
    let _ = journal.write("somebody says something", move |tx| stored(tx, now)).await;
}

/// Stores an answered message in a conversation of its own.
fn stored(tx: Tx<'_>, now: Timestamp) -> anyhow::Result<()> {
    let (ada, scope) = (PersonId(1), Scope::Person(PersonId(1)));
    let stream = tx.conversations().stream_for(ada)?;
    let conversation = tx.conversations().open_conversation(&NewConversation {
        stream,
        kind: ConversationKind::Chat,
        scope,
        because: BoundaryReason::New,
        at: now,
    })?;
    let message = tx.messages().add_message(&NewMessage {
        stream,
        conversation: Some(conversation),
        inbox: None,
        address: None,
        person: Some(ada),
        guest: None,
        kind: MessageKind::Said,
        scope,
        external_id: "",
        album: "",
        received_at: now,
        server_at: None,
        effective_at: now,
        turn: None,
    })?;
    let words = Labelled::new("The kettle whistles.".into(), Label::trusted(), scope);
    tx.messages().add_text(message, TextKind::Said, &words)?;
    tx.messages().settle_message(message, MessageState::Answered, "")?;
    tx.conversations().count_message(conversation, message, now)?;
    tx.conversations().close_conversation(conversation, now)
}

/// Reflection with more actions than allowed, each for a new skill.
fn thoughts(request: &Request) -> Say {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    if request.purpose() != Purpose::Reflection {
        return usual(request);
    }
    let actions: Vec<_> = (0..PROPOSED)
        .map(|_| {
            let name = format!("tea-{}", NEXT.fetch_add(1, Ordering::SeqCst));
            let content = skill(&name, "Use when tea is to be made.", &format!("Warm the pot of {name} first."));
            json!({ "kind": "create_skill", "title": "Tea", "why": "It came up.", "skill": name,
                    "files": [{ "path": "SKILL.md", "content": content }] })
        })
        .collect();
    Say::Text(
        json!({ "title": "A day", "observations": ["It was one."], "patterns": [], "proposed_actions": actions })
            .to_string(),
    )
}

/// Checks of a life in the journal.
struct Verdict {
    db: Connection,
    zone: Zone,
    start: Timestamp,
    now: Timestamp,
}

impl Verdict {
    fn of(crash_test: &CrashTest, zone: Zone, start: Timestamp) -> Self {
        let db = Connection::open(crash_test.story.home.join("compline.db")).unwrap();
        Self { db, zone, start, now: crash_test.story.clock.now() }
    }

    fn pronounce(&self, life: &str) {
        let slots = self.slots("daily");
        assert!(slots.len() > 60, "{life}: only {} days", slots.len());
        for pair in slots.windows(2) {
            assert_eq!(pair[0].to, pair[1].from, "{life}: {pair:?}");
        }
        let mut seen = BTreeMap::new();
        for slot in &slots {
            assert!(seen.insert(slot.period.clone(), ()).is_none(), "{life}: twice {slot:?}");
            let said = self.said(slot.from, slot.to);
            let expected = if said >= WORTH { "done" } else { "quiet" };
            if slot.state != "missed" {
                assert_eq!(slot.state, expected, "{life}: {said} messages, {slot:?}");
                let day = Period::named(Span::Day, &slot.period).unwrap();
                assert_eq!((slot.from, slot.to), (day.begins(self.zone).0, day.ends(self.zone).0), "{life}");
            }
            assert_eq!(self.reflections(slot.id), i64::from(slot.state == "done"), "{life}: {slot:?}");
        }
        // From the first day of the life to the last one due.
        assert_eq!(slots[0].from, Period::containing(Span::Day, self.start, self.zone).begins(self.zone).0, "{life}");
        assert!(slots.last().unwrap().to > self.now.0 - 2 * 86_400_000, "{life}: the last days are missing");
        let weeks = self.slots("weekly");
        assert!(weeks.len() >= 8 && weeks.windows(2).all(|pair| pair[0].to == pair[1].from), "{life}: {weeks:?}");
        assert!(!self.slots("monthly").is_empty(), "{life}");
        self.nothing_is_left_over(life);
        self.limits_hold(life);
    }

    fn nothing_is_left_over(&self, life: &str) {
        let mut query = self
            .db
            .prepare("SELECT job || ' ' || period || ' ' || state || ' due ' || due_at || ' claimed ' || claimed_at || ' ' || reason FROM slots WHERE state IN ('claimed', 'working', 'failed')")
            .unwrap();
        let open: Vec<String> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert!(open.is_empty(), "{life}: {open:?} at {:?}", self.now);
        for (what, query) in [
            ("actions", "SELECT count(*) FROM actions WHERE state IN ('new', 'taken')"),
            ("turns", "SELECT count(*) FROM turns WHERE state IN ('running', 'waiting')"),
            (
                "a proposal without its action",
                "SELECT count(*) FROM proposals WHERE id NOT IN (SELECT proposal_id FROM actions WHERE proposal_id IS NOT NULL)",
            ),
        ] {
            assert_eq!(self.one(query), 0, "{life}: {what}");
        }
    }

    fn limits_hold(&self, life: &str) {
        let of_one = self.one(
            "SELECT coalesce(max(n), 0) FROM (SELECT count(*) n FROM actions WHERE day <> '' GROUP BY reflection_id)",
        );
        let of_a_day =
            self.one("SELECT coalesce(max(n), 0) FROM (SELECT count(*) n FROM actions WHERE day <> '' GROUP BY day)");
        assert_eq!(of_one, OF_ONE, "{life}: the limit of one reflection");
        assert!(of_a_day <= OF_A_DAY, "{life}: {of_a_day} on one day");
        assert!(self.one("SELECT count(*) FROM actions WHERE state = 'over_limit'") > 0, "{life}");
    }

    fn slots(&self, job: &str) -> Vec<Slot> {
        let mut query = self
            .db
            .prepare("SELECT id, period, from_at, to_at, state FROM slots WHERE job = ?1 AND scope = 'person:1' ORDER BY to_at, id")
            .unwrap();
        let rows = query.query_map([job], |row| {
            Ok(Slot { id: row.get(0)?, period: row.get(1)?, from: row.get(2)?, to: row.get(3)?, state: row.get(4)? })
        });
        rows.unwrap().collect::<Result<_, _>>().unwrap()
    }

    fn said(&self, from: i64, to: i64) -> i64 {
        let query = "SELECT count(*) FROM messages WHERE kind = 'said' AND received_at >= ?1 AND received_at < ?2";
        self.db.query_row(query, [from, to], |row| row.get(0)).unwrap()
    }

    fn reflections(&self, slot: i64) -> i64 {
        self.db.query_row("SELECT count(*) FROM reflections WHERE slot_id = ?1", [slot], |row| row.get(0)).unwrap()
    }

    fn one(&self, query: &str) -> i64 {
        self.db.query_row(query, [], |row| row.get(0)).unwrap()
    }
}

#[derive(Debug)]
struct Slot {
    id: i64,
    period: String,
    from: i64,
    to: i64,
    state: String,
}
