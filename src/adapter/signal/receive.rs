//! Receiving: one line at a time, the next only after the last one is in the journal.
//!
//! The daemon delivers each message once and forgets it, so only one line may be in flight: it is
//! handed over again until it is acknowledged, across all connection failures. Messages for another
//! account of the same daemon are skipped unread.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde::Deserialize;

use super::health::HealthTracker;
use super::jsonrpc::{Notification, code};
use super::subscription::{Subscription, SubscriptionError, SubscriptionTransport};
use crate::adapter::{Batch, PollError, RECEIVE_RETRY};
use crate::time::task::lock;
use crate::time::{Clock, Timestamp};

/// Interval at which the journal records that the stream is alive.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(10 * 60);
/// Placeholder cursor: the daemon has none, but storing one records when we could last receive.
const CURSOR: &str = "heard";

/// Receiver of incoming messages.
pub(super) struct MessageReceiver {
    clock: Arc<dyn Clock>,
    transport: SubscriptionTransport,
    health: Arc<HealthTracker>,
    state: tokio::sync::Mutex<ReceiverState>,
    unacknowledged: Mutex<Option<String>>,
}

#[derive(Default)]
struct ReceiverState {
    subscription: Option<Subscription>,
    failures: u32,
    heartbeat_at: Option<Timestamp>,
}

/// The fields inspected before an item is in the journal.
#[derive(Deserialize)]
struct ReceivedItem {
    result: Option<Box<ReceivedItem>>,
    account: Option<String>,
    envelope: Option<EnvelopeHeader>,
    exception: Option<Exception>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EnvelopeHeader {
    source_uuid: Option<String>,
    source_number: Option<String>,
}

#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "type")]
    kind: Option<String>,
}

impl MessageReceiver {
    /// Creates a receiver without a connection.
    pub(super) fn new(transport: SubscriptionTransport, clock: Arc<dyn Clock>, health: Arc<HealthTracker>) -> Self {
        Self { clock, transport, health, state: tokio::sync::Mutex::default(), unacknowledged: Mutex::default() }
    }

    /// Waits for the next item for that account; now and then an empty batch as a sign of life.
    pub(super) async fn next(&self, account: &str) -> Result<Batch, PollError> {
        let mut state = self.state.lock().await;
        loop {
            if let Some(raw) = self.unacknowledged().clone() {
                return Ok(Batch { items: vec![raw], cursor: None });
            }
            match self.next_item(&mut state, account).await {
                Ok(Notification::Item(raw)) => self.hold(raw, account),
                Ok(Notification::KeepAlive) => {
                    self.health.record_activity(self.clock.now());
                    if self.is_heartbeat_due(&mut state) {
                        return Ok(Batch { items: Vec::new(), cursor: Some(CURSOR.to_owned()) });
                    }
                }
                Err(lost) => {
                    *state = ReceiverState { failures: state.failures.saturating_add(1), ..ReceiverState::default() };
                    self.health.lost(&lost);
                    return Err(poll_error(lost));
                }
            }
        }
    }

    /// Drops the acknowledged line.
    pub(super) fn acknowledge(&self) {
        *self.unacknowledged() = None;
    }

    async fn next_item(&self, state: &mut ReceiverState, account: &str) -> Result<Notification, SubscriptionError> {
        if state.subscription.is_none() {
            if state.failures > 0 {
                // The gateway backs off too; this part adds jitter.
                let rest = RECEIVE_RETRY.with_jitter(state.failures, rand::random()) / 4;
                drop(self.clock.wake_at(self.clock.now().plus(rest)).await);
            }
            state.subscription = Some(self.transport.open(&self.clock, account).await?);
        }
        let Some(subscription) = &mut state.subscription else { return Err(SubscriptionError::Silent) };
        let notification = subscription.next().await?;
        state.failures = 0;
        Ok(notification)
    }

    fn hold(&self, raw: String, account: &str) {
        self.health.record_activity(self.clock.now());
        let item = ReceivedItem::read(&raw);
        if item.is_for_other_account(account) {
            tracing::debug!("Something for another account of the Signal daemon is passed over");
            return;
        }
        let envelope = item.envelope.unwrap_or_default();
        let sender = envelope.source_uuid.or(envelope.source_number).unwrap_or_default();
        self.health.received(
            self.clock.now(),
            &sender,
            item.exception.map(|exception| exception.kind.unwrap_or_default()).as_deref(),
        );
        *self.unacknowledged() = Some(raw);
    }

    fn is_heartbeat_due(&self, state: &mut ReceiverState) -> bool {
        let now = self.clock.now();
        let due = state.heartbeat_at.is_none_or(|at| now.since(at) >= HEARTBEAT_INTERVAL);
        if due {
            state.heartbeat_at = Some(now);
        }
        due
    }

    fn unacknowledged(&self) -> MutexGuard<'_, Option<String>> {
        lock(&self.unacknowledged)
    }
}

impl ReceivedItem {
    /// Reads leniently: unreadable fields are empty.
    fn read(raw: &str) -> Self {
        let item: Option<Self> = serde_json::from_str(raw).ok();
        let item = item.map(|item| item.result.map_or(Self { result: None, ..item }, |inner| *inner));
        item.unwrap_or(Self { result: None, account: None, envelope: None, exception: None })
    }

    /// Returns true if it is certainly for another account. Only numbers can be compared: we may
    /// know an account by its identifier and the daemon by its number.
    fn is_for_other_account(&self, account: &str) -> bool {
        let is_number = |name: &str| name.starts_with('+');
        self.account.as_deref().is_some_and(|other| is_number(other) && is_number(account) && other != account)
    }
}

fn poll_error(lost: SubscriptionError) -> PollError {
    match lost {
        SubscriptionError::Disconnected(why) => PollError::Unreachable(why),
        SubscriptionError::Silent => PollError::Unreachable("nothing is heard any more".to_owned()),
        SubscriptionError::Rejected(code::ACCOUNT) => PollError::BadToken,
        SubscriptionError::Rejected(code) => PollError::Unreachable(format!("the daemon refused with code {code}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_an_item_are_read() {
        let inner = r#"{"account":"+431","envelope":{"sourceUuid":"U"},"exception":{"type":"X","message":"m"}}"#;
        for raw in [inner.to_owned(), format!(r#"{{"subscription":0,"result":{inner}}}"#)] {
            let item = ReceivedItem::read(&raw);
            assert_eq!(item.account.as_deref(), Some("+431"));
            assert_eq!(item.envelope.unwrap().source_uuid.as_deref(), Some("U"));
            assert_eq!(item.exception.unwrap().kind.as_deref(), Some("X"));
        }
    }

    #[test]
    fn only_what_is_certainly_for_another_account_is_passed_over() {
        let of_another = |raw: &str, account: &str| ReceivedItem::read(raw).is_for_other_account(account);
        assert!(of_another(r#"{"account":"+432"}"#, "+431"));
        assert!(!of_another(r#"{"account":"+431"}"#, "+431"));
        assert!(!of_another(r#"{"account":"+432"}"#, "f47ac10b-58cc-4372-a567-0e02b2c3d479"));
        for odd in ["", "{}", "[]", r#"{"account":7}"#, r#"{"result":7}"#] {
            assert!(!of_another(odd, "+431"), "{odd}");
        }
    }
}
