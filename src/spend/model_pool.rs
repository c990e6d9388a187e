//! Models of one use, in order of choice.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::ledger::{Ledger, SpendCause};
use crate::id::AddressId;
use crate::model::json_answer::AnswerProblem;
use crate::model::retry::RetryPolicy;
use crate::model::{
    AnswerFormat, Learned, Model, ModelError, ModelInfo, NullSink, Purpose, Reply, Request, Role, Stop, StreamSink,
    ThinkingFilter, retry,
};
use crate::store::Journal;
use crate::time::clock::suspend_activity;
use crate::time::task::lock;
use crate::time::{Backoff, Clock, Timestamp};
use crate::trust::{Scope, Text};
use crate::wording;

/// Metered models of one use. The preferred model can be changed at runtime; after a restart it is
/// the configured one again.
pub struct ModelPool {
    models: Vec<Arc<dyn Model>>,
    ledger: Arc<Ledger>,
    first: AtomicUsize,
    /// One per model.
    circuits: Mutex<Vec<Circuit>>,
    unusable: Mutex<HashMap<QuestionKey, UnusableAnswers>>,
    outage: Mutex<Option<Outage>>,
    /// Newest refusal of a request, until the next answer.
    refusal: Mutex<Option<(Timestamp, String)>>,
    /// What was learned of each server and is kept, by the name of the model.
    pub(super) kept: Mutex<HashMap<String, Learned>>,
    /// Addresses with a notice about it that nobody was woken for.
    pub(super) told: Mutex<Vec<AddressId>>,
    /// Budgets that refused a question, by its scope, with the local day.
    used_up: Mutex<HashMap<Scope, (String, String)>>,
    jitter: Jitter,
}

/// Time since when no model has answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outage {
    /// First failure since the last answer.
    pub since: Timestamp,
    /// Newest failure.
    pub error: ModelError,
}

impl Outage {
    /// Returns the stored form: the time and the kind of the error.
    pub fn encode(&self) -> String {
        let kind = match self.error {
            ModelError::BadKey => BAD_KEY,
            ModelError::NoCredit => NO_CREDIT,
            ModelError::Silent(_) => SILENT,
            _ => AWAY,
        };
        format!("{} {kind}", self.since.0)
    }

    /// Parses the stored form.
    pub fn decode(stored: &str) -> Option<Self> {
        let (since, kind) = stored.split_once(' ')?;
        let error = match kind {
            BAD_KEY => ModelError::BadKey,
            NO_CREDIT => ModelError::NoCredit,
            SILENT => ModelError::Silent(Duration::ZERO),
            _ => ModelError::Later { after: None, what: String::new() },
        };
        Some(Self { since: Timestamp(since.parse().ok()?), error })
    }
}

/// Kinds of an outage, as stored.
const BAD_KEY: &str = "bad_key";
const NO_CREDIT: &str = "no_credit";
const SILENT: &str = "silent";
const AWAY: &str = "away";

/// Scope and instruction of a question.
type QuestionKey = (Scope, &'static str);

/// The last answers to a question, none of which could be used.
#[derive(Debug, Clone, Copy)]
struct UnusableAnswers {
    count: u32,
    /// Problem of the newest.
    newest: AnswerProblem,
}

/// A question of the program.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    /// Purpose of the call.
    pub purpose: Purpose,
    /// Format of the answer.
    pub format: AnswerFormat,
    /// Longest answer in tokens.
    pub max_output: u64,
    /// Instruction, which says what to answer.
    pub instruction: &'static str,
}

/// Source of random numbers from 0 to 1, for the waits between attempts.
pub type Jitter = fn() -> f64;

/// Rules for asking the models of a pool.
#[derive(Clone, Copy)]
pub struct AskPolicy<'a> {
    /// Attempts at each model. With more than one, the caller has to be counted as working.
    pub retry: RetryPolicy,
    /// True if the other models are asked when the first gives no answer.
    pub falls_back: bool,
    /// Receives the answer while it grows.
    pub sink: &'a dyn StreamSink,
    /// Why an answer cannot be used, if so. Such an answer is a failed attempt, but no failure of
    /// the model.
    pub problem: Problem<'a>,
}

/// Finds out why an answer cannot be used; `None` if it can.
pub type Problem<'a> = &'a (dyn Fn(&Reply) -> Option<AnswerProblem> + Sync);

impl<'a> AskPolicy<'a> {
    /// For an answer that a person waits for.
    pub fn patient(sink: &'a dyn StreamSink) -> Self {
        Self { retry: retry::STANDARD, falls_back: true, sink, problem: &|_| None }
    }

    /// For a job that is stored and repeats itself: each model once.
    pub fn once(problem: Problem<'a>) -> Self {
        Self { retry: retry::ONCE, falls_back: true, sink: &NullSink, problem }
    }
}

impl ModelPool {
    /// Creates a pool with the models in configured order, metered by `ledger`.
    pub fn new(models: Vec<Arc<dyn Model>>, ledger: Arc<Ledger>) -> Self {
        let circuits = Mutex::new(vec![Circuit::default(); models.len()]);
        Self {
            models,
            ledger,
            first: AtomicUsize::new(0),
            circuits,
            unusable: Mutex::default(),
            outage: Mutex::default(),
            refusal: Mutex::default(),
            kept: Mutex::default(),
            told: Mutex::default(),
            used_up: Mutex::default(),
            jitter: rand::random,
        }
    }

    /// The pool with another source of randomness.
    pub fn with_jitter(self, jitter: Jitter) -> Self {
        Self { jitter, ..self }
    }

    /// The source of randomness.
    pub fn jitter(&self) -> Jitter {
        self.jitter
    }

    /// Number of models.
    pub fn len(&self) -> usize {
        self.models.len()
    }

    /// Returns true if there is no model.
    pub fn is_empty(&self) -> bool {
        self.models.is_empty()
    }

    /// Description of the model at that index, within the limits that its server showed.
    pub fn info(&self, index: usize) -> Option<ModelInfo> {
        let model = self.models.get(index)?;
        Some(model.server().map_or_else(|| model.info().clone(), |server| server.learned().within(model.info())))
    }

    pub(super) fn model(&self, index: usize) -> Option<&Arc<dyn Model>> {
        self.models.get(index)
    }

    pub(super) fn journal(&self) -> &Journal {
        self.ledger.journal()
    }

    pub(super) fn clock(&self) -> &dyn Clock {
        self.ledger.clock()
    }

    /// Returns true if that model failed several times, so that others are asked first.
    pub fn is_resting(&self, index: usize) -> bool {
        let now = self.ledger.clock().now();
        lock(&self.circuits).get(index).is_some_and(|circuit| circuit.is_open(now))
    }

    /// Returns the provider's count for one of our estimated tokens, for the model at that index;
    /// one until the provider has counted.
    pub fn token_ratio(&self, index: usize) -> f64 {
        self.model(index).map_or(1.0, |model| self.ledger.token_ratio(model.info()))
    }

    /// Loads the counts made before the program started.
    pub async fn recollect(&self) -> anyhow::Result<()> {
        for model in &self.models {
            self.ledger.recollect(model.info()).await?;
            self.recall_learned(&**model).await?;
        }
        Ok(())
    }

    /// Indices of the models in the order in which they are asked: the preferred one, then the
    /// others as configured.
    pub fn order(&self) -> Vec<usize> {
        let first = self.first.load(Ordering::Relaxed);
        let mut order: Vec<usize> = (0..self.models.len()).collect();
        order.sort_by_key(|index| *index != first);
        order
    }

    /// Prefers the model of that name (`name` or `provider/name`), or with `None` the configured
    /// one. Returns false and changes nothing if there is no such model.
    pub fn prefer(&self, name: Option<&str>) -> bool {
        let place = match name {
            None => Some(0),
            Some(name) => self.models.iter().position(|model| matches_name(model.info(), name)),
        };
        if let Some(place) = place {
            self.first.store(place, Ordering::Relaxed);
        }
        place.is_some()
    }

    /// Returns true if every limit has room for at least the shortest answer within that scope.
    pub async fn can_afford(&self, scope: Scope) -> anyhow::Result<bool> {
        let order = self.order();
        match order.first().and_then(|first| self.info(*first)) {
            Some(info) => self.ledger.can_afford(&info, scope).await,
            None => Ok(false),
        }
    }

    /// Returns which budget refused the newest question within that scope today, or has no room for
    /// even the shortest answer.
    pub async fn used_up(&self, scope: Scope) -> anyhow::Result<Option<String>> {
        let today = self.ledger.today();
        let refused = lock(&self.used_up).get(&scope).cloned();
        if let Some((_, which)) = refused.filter(|(day, _)| *day == today) {
            return Ok(Some(which));
        }
        let order = self.order();
        match order.first().and_then(|first| self.info(*first)) {
            Some(info) => self.ledger.used_up(&info, scope).await,
            None => Ok(None),
        }
    }

    /// Asks the models in their order, with retries, until one gives an answer that can be used.
    /// Never asks another model after a refusal. If there are others, a model that keeps failing is
    /// asked last and without retries, until an answer closes its [`Circuit`].
    ///
    /// # Errors
    /// [`ModelError::OverBudget`] without any call, or that of the model that was asked first.
    pub async fn ask(
        &self,
        request: &Request,
        on_behalf: &SpendCause,
        policy: AskPolicy<'_>,
    ) -> Result<Reply, ModelError> {
        let order = if policy.falls_back { self.healthy_first() } else { self.order() };
        let mut first_error = None;
        for (place, &index) in order.iter().enumerate() {
            let error = match self.ask_model(index, request, on_behalf, policy).await {
                Ok(reply) => {
                    *lock(&self.outage) = None;
                    *lock(&self.refusal) = None;
                    lock(&self.used_up).remove(&request.scope());
                    return Ok(reply);
                }
                Err(error) => error,
            };
            let next = order.get(place + 1).filter(|next| policy.falls_back && self.may_help(&error, index, **next));
            if let (Some(next), Some(info)) = (next.and_then(|next| self.info(*next)), self.info(index)) {
                tracing::warn!("The model {} gave no answer, {} is asked: {error}", info.name, next.name);
            }
            first_error.get_or_insert(error);
            if next.is_none() {
                break;
            }
        }
        let error = first_error.unwrap_or(ModelError::Rejected("no model is configured".to_owned()));
        self.record_outage(&error);
        if let ModelError::Rejected(sentence) = &error {
            *lock(&self.refusal) = Some((self.ledger.clock().now(), sentence.clone()));
        }
        if let ModelError::OverBudget(which) = &error {
            lock(&self.used_up).insert(request.scope(), (self.ledger.today(), which.clone()));
        }
        Err(error)
    }

    /// The present outage; `None` while models answer, or if none was asked since the start.
    pub fn outage(&self) -> Option<Outage> {
        lock(&self.outage).clone()
    }

    /// When and with which sentence the newest request was refused; `None` after the next answer.
    /// The sentence is the server's own: for owners, and for nothing else.
    pub fn refusal(&self) -> Option<(Timestamp, String)> {
        lock(&self.refusal).clone()
    }

    /// Continues an outage that began before the start.
    pub fn continue_outage(&self, outage: Outage) {
        lock(&self.outage).get_or_insert(outage);
    }

    fn record_outage(&self, error: &ModelError) {
        if error.is_outage() {
            let mut outage = lock(&self.outage);
            let since = outage.as_ref().map_or_else(|| self.ledger.clock().now(), |outage| outage.since);
            *outage = Some(Outage { since, error: error.clone() });
        }
    }

    /// Asks a background question for a stored job. After an answer
    /// that cannot be used it says what was wrong, once; then each further model is asked once.
    /// While the program runs, no request is sent twice unchanged, also when the job repeats
    /// itself. Returns the answer and the name of its model.
    ///
    /// # Errors
    /// As [`ModelPool::ask`].
    pub async fn ask_with_correction(
        &self,
        question: Question,
        material: Text,
        problem: Problem<'_>,
    ) -> Result<(Text, String), ModelError> {
        let mismatch = |_| ModelError::Rejected("text of another scope".to_owned());
        let Question { purpose, format, max_output, instruction } = question;
        let scope = material.scope();
        let mut request = Request::new(scope, purpose).with_format(format).with_max_output(max_output);
        request.text(Role::System, wording::own(instruction, scope)).map_err(mismatch)?;
        request.text(Role::User, material).map_err(mismatch)?;
        let key = (scope, instruction);
        let earlier = lock(&self.unusable).get(&key).copied();
        if let Some(UnusableAnswers { count, newest }) = earlier {
            let again = wording::own(wording::prompt::earlier_unusable(count, newest.as_str()), scope);
            request.text(Role::User, again).map_err(mismatch)?;
        }
        let cause = SpendCause::default();
        let mut reply = self.ask(&request, &cause, AskPolicy::once(&|_| None)).await?;
        if let Some(wrong) = problem(&reply) {
            self.count_unusable(key, wrong);
            tracing::warn!(
                "The answer of the model {} cannot be used, because {wrong}. It is asked again",
                reply.model
            );
            let again = wording::own(wording::prompt::unusable(wrong.as_str()), scope);
            request.text(Role::User, again).map_err(mismatch)?;
            let second = self.ask(&request, &cause, AskPolicy::once(problem)).await;
            if let Err(ModelError::Unusable(wrong)) = second {
                self.count_unusable(key, wrong);
            }
            reply = second?;
        }
        lock(&self.unusable).remove(&key);
        Ok((reply.text().clone(), reply.model))
    }

    fn count_unusable(&self, key: QuestionKey, newest: AnswerProblem) {
        let mut unusable = lock(&self.unusable);
        let count = unusable.get(&key).map_or(0, |earlier| earlier.count) + 1;
        unusable.insert(key, UnusableAnswers { count, newest });
    }

    async fn ask_model(
        &self,
        index: usize,
        request: &Request,
        on_behalf: &SpendCause,
        policy: AskPolicy<'_>,
    ) -> Result<Reply, ModelError> {
        let Some(model) = self.models.get(index) else {
            return Err(ModelError::Rejected("there is no such model".to_owned()));
        };
        let has_others = policy.falls_back && self.models.len() > 1;
        let mut attempts = Attempts::new(self.ledger.clock(), policy.retry, self.jitter);
        let mut broken = None;
        loop {
            let live = ThinkingFilter::new(policy.sink);
            let result = self.ledger.call(&**model, request, &live, on_behalf).await;
            self.keep_learned(&**model).await;
            // An answer that the server broke off is asked for again like one that the line broke off.
            let result = result.and_then(|reply| match reply.stop {
                Stop::Broken if reply.is_blank() => Err(ModelError::Cut),
                Stop::Broken => {
                    broken = Some(reply);
                    Err(ModelError::Cut)
                }
                _ => Ok(reply),
            });
            let circuit = self.record(index, result.as_ref().err());
            let error = match result {
                Ok(reply) => match (policy.problem)(&reply) {
                    None => return Ok(reply),
                    Some(wrong) => ModelError::Unusable(wrong),
                },
                Err(error) => error,
            };
            policy.sink.restart();
            if (circuit.has_opened() && has_others) || !attempts.wait_after(&error).await {
                let is_cut = matches!(error, ModelError::Cut);
                return broken.filter(|reply| is_cut && (policy.problem)(reply).is_none()).ok_or(error);
            }
        }
    }

    /// The order of the models, those with an open circuit last.
    fn healthy_first(&self) -> Vec<usize> {
        let mut order = self.order();
        let now = self.ledger.clock().now();
        let circuits = lock(&self.circuits);
        order.sort_by_key(|index| circuits.get(*index).is_some_and(|circuit| circuit.is_open(now)));
        order
    }

    fn record(&self, index: usize, error: Option<&ModelError>) -> Circuit {
        let now = self.ledger.clock().now();
        let mut circuits = lock(&self.circuits);
        let Some(circuit) = circuits.get_mut(index) else { return Circuit::default() };
        circuit.record(error, now);
        *circuit
    }

    /// Returns true if the model at `next` may answer after that failure of the one at `index`.
    fn may_help(&self, error: &ModelError, index: usize, next: usize) -> bool {
        let infos = self.info(index).zip(self.info(next));
        infos.is_some_and(|(current, next)| retry::should_fall_back(error, &current, &next))
    }
}

impl std::fmt::Debug for ModelPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.models.iter().map(|model| model.info())).finish()
    }
}

/// The attempts of one request at one model or endpoint.
pub(super) struct Attempts<'a> {
    clock: &'a dyn Clock,
    policy: RetryPolicy,
    jitter: Jitter,
    failed: u32,
}

impl<'a> Attempts<'a> {
    /// With more than one attempt, the caller has to be counted as working.
    pub(super) fn new(clock: &'a dyn Clock, policy: RetryPolicy, jitter: Jitter) -> Self {
        Self { clock, policy, jitter, failed: 0 }
    }

    /// Waits until the next attempt is due. Returns false at once if there is none.
    pub(super) async fn wait_after(&mut self, error: &ModelError) -> bool {
        self.failed += 1;
        let pause = retry::next_attempt(self.policy, error, self.failed, (self.jitter)());
        if let Some(pause) = pause {
            suspend_activity(self.clock, pause).await;
        }
        pause.is_some()
    }
}

fn matches_name(info: &ModelInfo, name: &str) -> bool {
    info.name == name || name.split_once('/') == Some((&info.provider, &info.name))
}

/// Failures in a row that open the circuit: fewer than the attempts of one message.
const THRESHOLD: u32 = 3;
/// Pauses before the probes.
const PROBES: Backoff = Backoff { first: Duration::from_secs(30), longest: Duration::from_secs(600) };

/// Circuit breaker of one model: a model that keeps failing is asked after the others for a while,
/// so that it does not cost every message its retries. Kept in memory: after a restart each model
/// is tried again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Circuit {
    failures: u32,
    open_until: Option<Timestamp>,
}

impl Circuit {
    /// Returns true if the model failed so often that it gets no retries.
    pub(super) fn has_opened(self) -> bool {
        self.open_until.is_some()
    }

    /// Returns true if other models are asked first.
    pub(super) fn is_open(self, now: Timestamp) -> bool {
        self.open_until.is_some_and(|until| now < until)
    }

    /// Takes the outcome of a call into account. Errors that are due to the request leave the
    /// circuit as it is.
    pub(super) fn record(&mut self, error: Option<&ModelError>, now: Timestamp) {
        match error {
            None => *self = Self::default(),
            Some(
                ModelError::Later { .. }
                | ModelError::Silent(_)
                | ModelError::Cut
                | ModelError::NoCredit
                | ModelError::BadKey,
            ) => {
                self.failures = self.failures.saturating_add(1);
                if let Some(failed_probes) = self.failures.checked_sub(THRESHOLD) {
                    self.open_until = Some(now.plus(PROBES.pause(failed_probes.saturating_add(1))));
                }
            }
            Some(
                ModelError::Unusable(_)
                | ModelError::TooLong
                | ModelError::Refused
                | ModelError::Rejected(_)
                | ModelError::OverBudget(_)
                | ModelError::AboveLimit(_),
            ) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_failures_open_it_and_an_answer_closes_it() {
        let mut circuit = Circuit::default();
        let now = Timestamp(1_000);
        for _ in 1..THRESHOLD {
            circuit.record(Some(&ModelError::Cut), now);
            assert!(!circuit.has_opened());
        }
        circuit.record(Some(&ModelError::TooLong), now);
        assert!(!circuit.has_opened(), "the request is at fault, not the model");
        circuit.record(Some(&ModelError::BadKey), now);
        assert!(circuit.is_open(now) && !circuit.is_open(now.plus(PROBES.first)));
        assert!(circuit.has_opened(), "a probe gets no retries");
        circuit.record(Some(&ModelError::Cut), now);
        assert!(circuit.is_open(now.plus(PROBES.first)), "a failed probe doubles the pause");
        circuit.record(None, now);
        assert_eq!(circuit, Circuit::default());
    }

    #[test]
    fn the_pause_is_bounded() {
        let mut circuit = Circuit::default();
        for _ in 0..100 {
            circuit.record(Some(&ModelError::Cut), Timestamp(0));
        }
        assert!(!circuit.is_open(Timestamp(0).plus(PROBES.longest)));
    }
}
