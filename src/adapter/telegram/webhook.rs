//! Receiving by webhook: an update is passed to `next`, and the call is answered with *200* only
//! when the journal has it.
//!
//! Telegram repeats a call that was not answered with 200, for a day, so nothing here can be lost:
//! a call waits, with its connection open, until its batch is acknowledged. If that fails (the
//! journal could not be written, the gateway stops, a timeout), the call is rejected and repeated;
//! an update that had been stored all the same is then recognised by its id.
//!
//! The cursor stays that of the last poll. Telegram confirms by our responses, in any order, so a
//! number would claim more than was stored: a later switch to polling continues where polling
//! ended.
//!
//! Silence is no sign of a problem, since perhaps nothing was sent. Once a minute Telegram is asked
//! for the state of its calls.

mod route;

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use secrecy::ExposeSecret;
use serde::de::IgnoredAny;
use serde_json::Value;
use teloxide_core::payloads::{GetWebhookInfo, SetWebhook, SetWebhookSetters};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::WebhookInfo;
use super::bot_api::BotApi;
use super::parse::update_id;
use super::poll::{self, TelegramProblem};
use crate::adapter::{Batch, PollError};
use crate::config;
use crate::http::{self, Server};
use crate::time::task::lock;
use crate::time::{Clock, Timestamp};
use crate::wording::channel as words;
use route::{WebhookCall, WebhookCaller, WebhookRoute};

/// Maximum number of simultaneous calls by Telegram.
const CALLS_AT_ONCE: u8 = 8;
/// Interval of the check with Telegram.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);
/// Placeholder cursor before the first poll; polling does not take it for a number.
const NO_CURSOR: &str = "webhook";

/// Receiver of webhook calls.
pub(super) struct WebhookReceiver {
    config: config::Webhook,
    clock: Arc<dyn Clock>,
    sender: mpsc::Sender<WebhookCall>,
    calls: tokio::sync::Mutex<mpsc::Receiver<WebhookCall>>,
    state: Mutex<WebhookState>,
}

struct WebhookState {
    /// Stops the server when dropped.
    server: Option<DropGuard>,
    /// Callers of the last batch, waiting for the acknowledgement.
    waiting: Vec<WebhookCaller>,
    /// Last time at which calls worked: a batch was stored, or the webhook was set.
    worked_at: Timestamp,
    checked_at: Timestamp,
    /// Problem reported last.
    last_reported: Option<&'static str>,
}

impl WebhookReceiver {
    /// Creates a receiver whose server is not started yet.
    pub(super) fn new(config: config::Webhook, clock: Arc<dyn Clock>) -> Self {
        let (sender, calls) = mpsc::channel(http::CONNECTIONS);
        let now = clock.now();
        let state =
            WebhookState { server: None, waiting: Vec::new(), worked_at: now, checked_at: now, last_reported: None };
        Self { config, clock, sender, calls: tokio::sync::Mutex::new(calls), state: Mutex::new(state) }
    }

    /// Starts the server if needed, then registers the webhook. Pending updates are kept.
    pub(super) async fn connect(&self, api: &BotApi) -> Result<(), TelegramProblem> {
        self.listen().await.map_err(|why| TelegramProblem {
            sentence: words::CANNOT_LISTEN,
            error: PollError::Unreachable(format!("Cannot listen at {}: {why}", self.config.listen)),
        })?;
        let set = SetWebhook::new(self.config.url.clone())
            .secret_token(self.config.secret.expose_secret())
            .allowed_updates(poll::ALLOWED_UPDATES)
            .max_connections(CALLS_AT_ONCE)
            .drop_pending_updates(false);
        api.request::<_, IgnoredAny>(&set).await.map_err(poll::poll_error)?;
        let now = self.clock.now();
        let mut state = self.state();
        (state.worked_at, state.checked_at) = (now, now);
        Ok(())
    }

    async fn listen(&self) -> std::io::Result<()> {
        if self.state().server.is_some() {
            return Ok(());
        }
        let listener = tokio::net::TcpListener::bind(self.config.listen).await?;
        let stop = CancellationToken::new();
        let route = WebhookRoute {
            secret: self.config.secret.clone(),
            calls: self.sender.clone(),
            clock: Arc::clone(&self.clock),
            stop: stop.clone(),
        };
        let routes = route.routes(&self.config);
        let server = Server::new("A call of Telegram", routes, Arc::clone(&self.clock), stop.clone());
        TaskTracker::new().spawn(server.serve(listener));
        self.state().server = Some(stop.drop_guard());
        Ok(())
    }

    /// Waits for calls, and checks once a minute that they can arrive. An empty batch says that
    /// they can.
    pub(super) async fn next(&self, api: &BotApi, cursor: Option<&str>) -> Result<Batch, TelegramProblem> {
        // A caller still waiting was handed over before and not acknowledged: its update was not
        // stored.
        self.state().waiting.clear();
        let mut calls = self.calls.lock().await;
        let cursor = Some(cursor.unwrap_or(NO_CURSOR).to_owned());
        loop {
            let check_at = self.state().checked_at.plus(CHECK_INTERVAL);
            tokio::select! {
                biased;
                Some(call) = calls.recv() => {
                    let items = self.take(call, &mut calls);
                    if !items.is_empty() {
                        return Ok(Batch { items, cursor });
                    }
                }
                busy = self.clock.wake_at(check_at) => {
                    let checked = self.query_status(api).await;
                    drop(busy);
                    if let Some(report) = self.new_report(checked) {
                        return report.map(|()| Batch { items: Vec::new(), cursor });
                    }
                }
            }
        }
    }

    /// Confirms every waiting call: the batch is stored.
    pub(super) fn ack(&self) {
        let mut state = self.state();
        if !state.waiting.is_empty() {
            state.worked_at = self.clock.now();
        }
        state.waiting.drain(..).for_each(WebhookCaller::confirm);
    }

    /// Takes all pending calls in the order of their update numbers.
    fn take(&self, first: WebhookCall, calls: &mut mpsc::Receiver<WebhookCall>) -> Vec<String> {
        let mut taken = vec![first];
        while let Ok(call) = calls.try_recv() {
            taken.push(call);
        }
        // A caller that has hung up calls again.
        taken.retain(|call| !call.caller.has_hung_up());
        taken.sort_by_cached_key(|call| {
            let update = serde_json::from_str::<Value>(&call.raw).ok();
            update.as_ref().and_then(update_id).unwrap_or(i64::MAX)
        });
        let mut state = self.state();
        state.last_reported = None;
        let (items, waiting) = taken.into_iter().map(|call| (call.raw, call.caller)).unzip();
        state.waiting = waiting;
        items
    }

    /// Asks Telegram for the state of its calls.
    async fn query_status(&self, api: &BotApi) -> Result<(), TelegramProblem> {
        self.state().checked_at = self.clock.now();
        let info: WebhookInfo = api.request(&GetWebhookInfo::new()).await.map_err(poll::poll_error)?;
        let failed_at = info.last_error_date.map(Timestamp::from_seconds);
        let problem = |sentence, why: &str| TelegramProblem { sentence, error: PollError::Unreachable(why.to_owned()) };
        if info.url != self.config.url.as_str() {
            return Err(problem(words::CALLS_ELSEWHERE, "Telegram calls another address"));
        }
        if info.pending_update_count > 0 && failed_at.is_some_and(|at| at > self.state().worked_at) {
            return Err(problem(words::CALLS_FAIL, "Telegram's calls do not arrive"));
        }
        Ok(())
    }

    /// Filters the result of a check: the same problem is reported once, and waiting for calls goes
    /// on.
    fn new_report(&self, checked: Result<(), TelegramProblem>) -> Option<Result<(), TelegramProblem>> {
        let sentence = checked.as_ref().err().map(|problem| problem.sentence);
        let before = std::mem::replace(&mut self.state().last_reported, sentence);
        (sentence.is_none() || sentence != before).then_some(checked)
    }

    fn state(&self) -> MutexGuard<'_, WebhookState> {
        lock(&self.state)
    }
}
