//! Tests of the ledger's guarantees, with the real journal, a simulated clock and a scripted model.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Semaphore;

use super::*;
use crate::config::{Budget, Limit, Price};
use crate::id::PersonId;
use crate::model::json_answer::AnswerProblem;
use crate::model::{Model, ModelError, ModelInfo, NullSink, Purpose, Reply, Request, Role, Stop, StreamSink, Usage};
use crate::store::{Journal, Spent};
use crate::time::{Clock, SimulatedClock, Timestamp, Zone};
use crate::trust::{Label, Labelled, Scope, Source};

const ADA: Scope = Scope::Person(PersonId(1));
const BEN: Scope = Scope::Person(PersonId(2));
/// One micro-unit for each token of input, a tenth of it when cached, ten for each token of output.
const PRICE: Price = Price { input: 1_000_000, cached: 100_000, output: 10_000_000 };
/// Worst case of [`asks`]: 40 characters are 10 tokens, and 4 more for the frame; the answer is 100
/// tokens at most.
const WORST: u64 = 14 + 1_000;

/// Provider's count that agrees with our estimate.
const AS_GUESSED: Usage = Usage { input: 14, cached: 0, output: 5 };

/// A model that waits for a permit, and then follows its script.
struct ScriptedModel {
    info: ModelInfo,
    calls: AtomicUsize,
    gate: Semaphore,
    script: Mutex<Script>,
}

#[derive(Clone)]
struct Script {
    grows: bool,
    result: Result<Usage, ModelError>,
    stop: Stop,
}

#[async_trait::async_trait]
impl Model for ScriptedModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn call(&self, request: &Request, live: &dyn StreamSink) -> Result<Reply, ModelError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let _pass = self.gate.acquire().await.unwrap();
        let script = self.script.lock().unwrap().clone();
        if script.grows {
            live.append("Good");
            live.restart();
        }
        let usage = script.result?;
        Ok(Reply::to(request, "Good morning", vec![], script.stop, usage, "openai/small".to_owned()))
    }
}

struct Fixture {
    clock: Arc<SimulatedClock>,
    journal: Journal,
    ledger: Arc<Ledger>,
    model: Arc<ScriptedModel>,
    pool: Arc<ModelPool>,
    _folder: tempfile::TempDir,
}

fn info(provider: &str, price: Option<Price>) -> ModelInfo {
    ModelInfo {
        provider: provider.to_owned(),
        name: "small".to_owned(),
        context_window: 8_000,
        max_output: 100,
        images: false,
        price,
    }
}

fn wide() -> Budget {
    let limit = Limit { micros: 1_000_000, tokens: 1_000_000 };
    Budget {
        daily: limit,
        per_person_daily: limit,
        per_group_daily: limit,
        background_daily: limit,
        owner_reserve: 0,
        tool_rounds: 5,
    }
}

fn fixture(info: ModelInfo, budget: Budget) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open_or_copy(&folder.path().join("journal.db"), None).unwrap();
    // 2026-11-21T18:00:00Z; in Kathmandu a quarter of an hour before midnight.
    let clock = Arc::new(SimulatedClock::new(Timestamp(1_795_284_000_000)));
    let zone = Zone::named("Asia/Kathmandu").unwrap();
    let ledger = Arc::new(Ledger::new(journal.clone(), clock.clone(), zone, budget));
    let usage = Usage { input: 20, cached: 0, output: 5 };
    let model = Arc::new(ScriptedModel {
        info,
        calls: AtomicUsize::new(0),
        gate: Semaphore::new(100),
        script: Mutex::new(Script { grows: false, result: Ok(usage), stop: Stop::End }),
    });
    let pool = Arc::new(ModelPool::new(vec![model.clone()], ledger.clone()));
    Fixture { clock, journal, ledger, model, pool, _folder: folder }
}

fn asks(scope: Scope, purpose: Purpose) -> Request {
    let mut request = Request::new(scope, purpose);
    let words = Labelled::new("x".repeat(40).into(), Label::untrusted(Source::unknown()), scope);
    request.text(Role::User, words).unwrap();
    request
}

impl Fixture {
    async fn call(&self, scope: Scope, purpose: Purpose) -> Result<Reply, ModelError> {
        self.pool.ask(&asks(scope, purpose), &SpendCause::default(), AskPolicy::once(&|_| None)).await
    }

    async fn chat(&self) -> Result<Reply, ModelError> {
        self.call(ADA, Purpose::Chat).await
    }

    async fn spent(&self) -> Spent {
        let left = self.ledger.left().await.unwrap();
        self.journal.read(move |db| db.spending().spent(&left.day, None, false)).await.unwrap()
    }

    fn will(&self, grows: bool, result: Result<Usage, ModelError>) {
        *self.model.script.lock().unwrap() = Script { grows, result, stop: Stop::End };
    }

    fn calls(&self) -> usize {
        self.model.calls.load(Ordering::SeqCst)
    }
}

fn over(which: &str) -> Result<Reply, ModelError> {
    Err(ModelError::OverBudget(which.to_owned()))
}

#[tokio::test]
async fn calls_side_by_side_never_exceed_the_limit() {
    let mut budget = wide();
    budget.daily.micros = 5 * WORST + WORST / 2;
    let fixture = fixture(info("openai", Some(PRICE)), budget);
    fixture.model.gate.forget_permits(100);
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let pool = Arc::clone(&fixture.pool);
        all.spawn(async move {
            pool.ask(&asks(ADA, Purpose::Chat), &SpendCause::default(), AskPolicy::once(&|_| None)).await
        });
    }
    // The five admitted calls wait at the semaphore, so the first fifteen to end are the refused
    // ones.
    for _ in 0..15 {
        assert_eq!(all.join_next().await.unwrap().unwrap(), over("daily"));
    }
    assert_eq!(fixture.spent().await.micros, 5 * WORST);
    fixture.model.gate.add_permits(5);
    while let Some(result) = all.join_next().await {
        assert!(result.unwrap().is_ok());
    }
    assert_eq!((fixture.calls(), fixture.spent().await.micros), (5, 5 * (20 + 50)));
}

#[tokio::test]
async fn a_new_local_day_has_a_new_budget() {
    let mut budget = wide();
    budget.daily.micros = WORST;
    let fixture = fixture(info("openai", Some(PRICE)), budget);
    fixture.will(false, Ok(AS_GUESSED));
    assert!(fixture.chat().await.is_ok());
    assert_eq!(fixture.chat().await, over("daily"));
    let left = fixture.ledger.left().await.unwrap();
    assert_eq!((left.day.as_str(), left.all.micros), ("2026-11-21", WORST - 64));
    fixture.clock.advance(Duration::from_secs(15 * 60)).await;
    let left = fixture.ledger.left().await.unwrap();
    assert_eq!((left.day.as_str(), left.all.micros), ("2026-11-22", WORST));
    assert!(fixture.chat().await.is_ok());
    assert_eq!(fixture.calls(), 2);
}

#[tokio::test]
async fn the_providers_counts_scale_later_reservations_even_after_a_restart() {
    let fixture = fixture(info("openai", Some(PRICE)), wide());
    fixture.will(false, Ok(Usage { input: 28, ..AS_GUESSED }));
    assert!(fixture.chat().await.is_ok());
    assert!((fixture.pool.token_ratio(0) - 2.0).abs() < 1e-9);
    let ledger = Ledger::new(fixture.journal.clone(), fixture.clock.clone(), Zone::UTC, wide());
    let pool = ModelPool::new(vec![fixture.model.clone()], Arc::new(ledger));
    pool.recollect().await.unwrap();
    assert!((pool.token_ratio(0) - 2.0).abs() < 1e-9, "the journal remembers it");
    fixture.model.gate.forget_permits(100);
    let waiting = tokio::spawn({
        let pool = Arc::clone(&fixture.pool);
        async move { pool.ask(&asks(ADA, Purpose::Chat), &SpendCause::default(), AskPolicy::once(&|_| None)).await }
    });
    while fixture.calls() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(fixture.spent().await.micros, 28 + 50 + 28 + 1_000, "twice the guess, and the longest answer");
    fixture.model.gate.add_permits(1);
    assert!(waiting.await.unwrap().is_ok());
}

#[tokio::test]
async fn each_limit_is_its_own() {
    let small = Limit { micros: WORST, tokens: 0 };
    for (budget, scope, purpose, which) in [
        (Budget { per_person_daily: small, ..wide() }, ADA, Purpose::Chat, "person"),
        (Budget { background_daily: small, ..wide() }, ADA, Purpose::Summary, "background"),
        (Budget { per_group_daily: small, ..wide() }, Scope::Group(crate::id::StreamId(4)), Purpose::Chat, "group"),
    ] {
        let fixture = fixture(info("openai", Some(PRICE)), budget);
        fixture.will(false, Ok(AS_GUESSED));
        assert!(fixture.call(scope, purpose).await.is_ok());
        let before = fixture.spent().await;
        assert_eq!(fixture.call(scope, purpose).await, over(which));
        assert_eq!((fixture.spent().await, fixture.calls()), (before, 1), "Nothing is reserved and nobody called");
        assert!(fixture.call(BEN, Purpose::Chat).await.is_ok(), "{which} is nobody else's");
    }
}

/// Proves: models/budget
#[tokio::test]
async fn a_limit_too_small_for_any_call_names_the_setting() {
    let small = Limit { micros: WORST - 1, tokens: 113 };
    let group = Scope::Group(crate::id::StreamId(4));
    let limits = [
        (Budget { daily: small, ..wide() }, ADA, Purpose::Chat, "daily"),
        (Budget { per_person_daily: small, ..wide() }, ADA, Purpose::Chat, "per_person_daily"),
        (Budget { per_group_daily: small, ..wide() }, group, Purpose::Chat, "per_group_daily"),
        (Budget { background_daily: small, ..wide() }, ADA, Purpose::Summary, "background_daily"),
    ];
    for (budget, scope, purpose, setting) in limits {
        for (price, setting) in [(Some(PRICE), setting.to_owned()), (None, format!("{setting}_tokens"))] {
            let fixture = fixture(info("openai", price), budget.clone());
            assert_eq!(fixture.call(scope, purpose).await, Err(ModelError::AboveLimit(setting)));
            assert_eq!(fixture.calls(), 0);
        }
    }
}

#[tokio::test]
async fn an_unknown_price_counts_in_tokens() {
    let mut budget = wide();
    budget.daily = Limit { micros: 0, tokens: 130 };
    let fixture = fixture(info("openai", None), budget);
    assert!(fixture.chat().await.is_ok());
    assert_eq!(fixture.spent().await, Spent { micros: 0, tokens: 25 });
    assert_eq!(fixture.chat().await, over("daily"));
}

#[tokio::test]
async fn cached_input_is_cheaper_and_what_was_not_counted_is_estimated() {
    for (usage, micros) in [
        (Usage { input: 1_000, cached: 0, output: 5 }, 1_000 + 50),
        (Usage { input: 1_000, cached: 800, output: 5 }, 200 + 80 + 50),
        (Usage { input: 10, cached: 800, output: 5 }, 1 + 50),
        (Usage::default(), 14 + 30),
    ] {
        let fixture = fixture(info("openai", Some(PRICE)), wide());
        fixture.will(false, Ok(usage));
        assert!(fixture.chat().await.is_ok());
        assert_eq!(fixture.spent().await.micros, micros, "{usage:?}");
    }
}

#[tokio::test]
async fn only_what_certainly_cost_nothing_is_given_back() {
    let later = || ModelError::Later { after: None, what: "busy".to_owned() };
    for (grows, error, micros) in [
        (false, later(), 0),
        (false, ModelError::BadKey, 0),
        (false, ModelError::NoCredit, 0),
        (false, ModelError::TooLong, 0),
        (false, ModelError::Rejected("no".to_owned()), 0),
        (false, ModelError::Refused, WORST),
        (false, ModelError::Cut, WORST),
        (true, ModelError::Cut, WORST),
        (true, later(), WORST),
        (true, ModelError::Rejected("no".to_owned()), WORST),
    ] {
        let fixture = fixture(info("openai", Some(PRICE)), wide());
        fixture.will(grows, Err(error.clone()));
        assert_eq!(fixture.chat().await, Err(error.clone()));
        assert_eq!(fixture.spent().await.micros, micros, "{error:?} after growing: {grows}");
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_stays_at_its_worst_case() {
    let fixture = fixture(info("openai", Some(PRICE)), wide());
    fixture.model.gate.forget_permits(100);
    {
        let mut call = Box::pin(fixture.chat());
        while fixture.calls() == 0 {
            assert!(futures::poll!(&mut call).is_pending());
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(fixture.spent().await.micros, WORST);
}

#[tokio::test]
async fn the_offline_model_is_free_even_without_any_budget() {
    let none = Limit { micros: 0, tokens: 0 };
    let budget = Budget { daily: none, per_person_daily: none, background_daily: none, ..wide() };
    let fixture = fixture(info("offline", None), budget);
    assert!(fixture.chat().await.is_ok() && fixture.call(ADA, Purpose::Summary).await.is_ok());
    assert_eq!(fixture.spent().await, Spent::default());
    let lines = fixture.journal.read(|db| db.spending().spend_lines(None, "", "9")).await.unwrap();
    let tokens: Vec<_> = lines.iter().map(|line| (line.model.as_str(), line.input, line.output, line.priced)).collect();
    assert_eq!(tokens, [("offline/small", 20, 5, true); 2]);
}

#[tokio::test]
async fn a_shorter_answer_reserves_less() {
    let mut budget = wide();
    budget.daily.micros = 14 + 70;
    let fixture = fixture(info("openai", Some(PRICE)), budget);
    assert_eq!(fixture.chat().await, Err(ModelError::AboveLimit("daily".to_owned())));
    let short = asks(ADA, Purpose::Chat).with_max_output(7);
    assert!(fixture.pool.ask(&short, &SpendCause::default(), AskPolicy::once(&|_| None)).await.is_ok());
}

#[tokio::test]
async fn without_a_journal_no_model_is_called() {
    let fixture = fixture(info("openai", Some(PRICE)), wide());
    let broken = SpendCause { turn: Some(crate::id::TurnId(999)), person: None };
    let result = fixture.pool.ask(&asks(ADA, Purpose::Chat), &broken, AskPolicy::once(&|_| None)).await;
    assert!(matches!(result, Err(ModelError::Later { .. })));
    assert_eq!(fixture.calls(), 0);
}

#[tokio::test]
async fn the_preferred_model_comes_first() {
    let fixture = fixture(info("openai", None), wide());
    let other = Arc::new(ScriptedModel {
        info: ModelInfo { name: "org/large".to_owned(), ..info("gemini", None) },
        calls: AtomicUsize::new(0),
        gate: Semaphore::new(1),
        script: Mutex::new(Script { grows: false, result: Err(ModelError::BadKey), stop: Stop::End }),
    });
    let pool = ModelPool::new(vec![fixture.model.clone(), other.clone(), other], fixture.ledger.clone());
    assert_eq!(pool.order(), [0, 1, 2]);
    for name in ["org/large", "gemini/org/large"] {
        assert!(pool.prefer(None) && pool.prefer(Some(name)));
        assert_eq!(pool.order(), [1, 0, 2], "{name}");
    }
    assert!(!pool.prefer(Some("large")));
    assert_eq!((pool.order(), pool.len()), (vec![1, 0, 2], 3));
    assert_eq!(pool.info(1).unwrap().provider, "gemini");
    assert_eq!(pool.info(3), None);
    let none = ModelPool::new(Vec::new(), fixture.ledger.clone());
    let missing = none.ask(&asks(ADA, Purpose::Chat), &SpendCause::default(), AskPolicy::patient(&NullSink)).await;
    assert!(matches!(missing, Err(ModelError::Rejected(_))));
}

#[tokio::test]
async fn only_the_chats_of_owners_may_spend_the_reserve() {
    let group = Scope::Group(crate::id::StreamId(4));
    let mut budget = wide();
    budget.daily.micros = 2 * WORST;
    budget.owner_reserve = 40;
    for (scope, purpose, allowed) in [
        (ADA, Purpose::Chat, true),
        (ADA, Purpose::Transcription, true),
        (ADA, Purpose::Summary, false),
        (BEN, Purpose::Chat, false),
        (group, Purpose::Chat, false),
        (Scope::Shared, Purpose::Embedding, false),
    ] {
        let fixture = fixture(info("openai", Some(PRICE)), budget.clone());
        fixture
            .journal
            .write("let them in", |tx| {
                tx.people().allow("Ada", crate::people::Role::Owner, "config", Timestamp(1))?;
                tx.people().allow("Ben", crate::people::Role::Member, "config", Timestamp(1)).map(drop)
            })
            .await
            .unwrap();
        fixture.will(false, Err(ModelError::Cut));
        assert_eq!(fixture.call(scope, purpose).await, Err(ModelError::Cut), "the first has room for anybody");
        let second = fixture.call(scope, purpose).await;
        let refused = over("reserve");
        assert_eq!(second, if allowed { Err(ModelError::Cut) } else { refused }, "{scope:?} {purpose:?}");
    }
}

#[tokio::test]
async fn a_refusal_asks_no_other_model() {
    for (error, asked) in [(ModelError::Refused, 0), (ModelError::NoCredit, 1)] {
        let first = fixture(info("openai", None), wide());
        let second = fixture(info("openai", None), wide());
        first.will(false, Err(error.clone()));
        let pool = ModelPool::new(vec![first.model.clone(), second.model.clone()], first.ledger.clone());
        let request = asks(ADA, Purpose::Summary);
        let reply = pool.ask(&request, &SpendCause::default(), AskPolicy::once(&|_| None)).await;
        assert_eq!((reply.is_ok(), second.calls()), (asked == 1, asked), "{error:?}");
        let nonsense =
            pool.ask(&request, &SpendCause::default(), AskPolicy::once(&|_| Some(AnswerProblem::NoObject))).await;
        assert!(nonsense.is_err());
    }
}

/// Promise (models/circuit): A model that keeps failing is asked after your fallback until it
/// answers again, so it does not delay every answer.
#[tokio::test]
async fn a_dead_first_model_is_asked_last_until_it_answers() {
    let (first, second) = (fixture(info("openai", None), wide()), fixture(info("openai", None), wide()));
    let pool = ModelPool::new(vec![first.model.clone(), second.model.clone()], first.ledger.clone());
    let (request, on_behalf) = (asks(ADA, Purpose::Summary), SpendCause::default());
    let ask = || pool.ask(&request, &on_behalf, AskPolicy::once(&|_| None));
    first.will(false, Err(ModelError::Cut));
    for asked in [1, 2, 3, 3, 3] {
        assert!(ask().await.is_ok(), "the second answers");
        assert_eq!(first.calls(), asked);
    }
    first.clock.advance(Duration::from_secs(31)).await;
    assert!(ask().await.is_ok());
    assert_eq!(first.calls(), 4, "one probe");
    first.clock.advance(Duration::from_secs(61)).await;
    first.will(false, Ok(AS_GUESSED));
    let answered_by_second = second.calls();
    for asked in [5, 6] {
        assert!(ask().await.is_ok());
        assert_eq!((first.calls(), second.calls()), (asked, answered_by_second));
    }
}

/// Proves: models/circuit
#[tokio::test]
async fn an_answer_that_cannot_be_used_is_no_failure_of_the_model() {
    let (first, second) = (fixture(info("openai", None), wide()), fixture(info("openai", None), wide()));
    let pool = ModelPool::new(vec![first.model.clone(), second.model.clone()], first.ledger.clone());
    let (request, on_behalf) = (asks(ADA, Purpose::Summary), SpendCause::default());
    for asked in 1..=5 {
        assert!(pool.ask(&request, &on_behalf, AskPolicy::once(&|_| Some(AnswerProblem::NoObject))).await.is_err());
        assert_eq!((first.calls(), second.calls()), (asked, asked));
    }
}

/// Proves: models/circuit
#[tokio::test]
async fn without_fallback_only_the_first_model_is_asked_however_often_it_fails() {
    let (first, second) = (fixture(info("openai", None), wide()), fixture(info("openai", None), wide()));
    let pool = ModelPool::new(vec![first.model.clone(), second.model.clone()], first.ledger.clone());
    let (request, on_behalf) = (asks(ADA, Purpose::Review), SpendCause::default());
    first.will(false, Err(ModelError::Cut));
    for asked in 1..=5 {
        let policy = AskPolicy { falls_back: false, ..AskPolicy::once(&|_| None) };
        assert_eq!(pool.ask(&request, &on_behalf, policy).await, Err(ModelError::Cut));
        assert_eq!((first.calls(), second.calls()), (asked, 0));
    }
}

/// Proves: models/half-answers
#[tokio::test]
async fn a_broken_answer_is_asked_for_again_and_counts_if_that_lasts() {
    let fixture = fixture(info("openai", None), wide());
    fixture.model.script.lock().unwrap().stop = Stop::Broken;
    let (pool, clock): (_, Arc<dyn Clock>) = (Arc::clone(&fixture.pool), fixture.clock.clone());
    let asked = tokio::spawn(async move {
        let _busy = clock.busy();
        pool.ask(&asks(ADA, Purpose::Chat), &SpendCause::default(), AskPolicy::patient(&NullSink)).await
    });
    while !asked.is_finished() {
        fixture.clock.advance(Duration::from_secs(1)).await;
        tokio::task::yield_now().await;
    }
    let reply = asked.await.unwrap().unwrap();
    assert_eq!((reply.stop, reply.text().open().0.as_ref(), fixture.calls()), (Stop::Broken, "Good morning", 4));
    // One that is whole at the second time is the answer.
    let reply = fixture.chat().await.unwrap();
    assert_eq!(reply.stop, Stop::Broken, "asked once, there is no other");
    fixture.model.script.lock().unwrap().stop = Stop::End;
    assert_eq!(fixture.chat().await.unwrap().stop, Stop::End);
}

#[tokio::test]
async fn the_waits_between_attempts_are_random() {
    for (jitter, wait) in [((|| 0.0) as Jitter, 500), (|| 1.0, 1000)] {
        let fixture = fixture(info("openai", None), wide());
        fixture.will(false, Err(ModelError::Cut));
        let pool = ModelPool::new(vec![fixture.model.clone()], fixture.ledger.clone()).with_jitter(jitter);
        let clock: Arc<dyn Clock> = fixture.clock.clone();
        let asked = tokio::spawn(async move {
            let _busy = clock.busy();
            pool.ask(&asks(ADA, Purpose::Chat), &SpendCause::default(), AskPolicy::patient(&NullSink)).await
        });
        while fixture.calls() == 0 {
            tokio::task::yield_now().await;
        }
        fixture.clock.advance(Duration::from_millis(wait - 1)).await;
        assert_eq!(fixture.calls(), 1, "{wait}");
        fixture.clock.advance(Duration::from_millis(1)).await;
        assert_eq!(fixture.calls(), 2, "{wait}");
        asked.abort();
    }
}
