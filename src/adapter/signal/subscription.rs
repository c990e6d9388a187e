//! Subscription to incoming messages, over a socket or by HTTP.
//!
//! Its liveness is checked continuously. On a socket the daemon is asked for its version on this
//! very connection after a silence, so the response proves the stream and not only the process; by
//! HTTP the daemon sends a keep-alive every fifteen seconds. After [`SILENCE`] without a sign the
//! subscription counts as dead.
//!
//! Items are read one at a time and on demand: unread ones stay with the daemon, which then stops
//! fetching more.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Response;

use super::http::{DaemonHttp, describe};
use super::jsonrpc::{self, Params, RpcError, RpcFrame, method};
use super::socket::{ConnectionError, DaemonAddress, LineReader, LineWriter};
use super::sse::{SseEvent, SseParser};
use super::timeout::{OPENING, REAL_TIME_GRACE, with_timeout};
use crate::time::clock::real_sleep;
use crate::time::{ActivityGuard, Clock, Timestamp};

/// Silence after which a subscription counts as dead.
pub(super) const SILENCE: Duration = Duration::from_secs(75);
/// Silence after which the daemon is asked on a socket.
const ASK_AFTER: Duration = Duration::from_secs(30);
/// Time allowed for its response; together no longer than [`SILENCE`].
const ANSWER_WITHIN: Duration = Duration::from_secs(45);

/// Something received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Notification {
    /// A message, exactly as the daemon sent it.
    Item(String),
    /// A sign of life.
    KeepAlive,
}

/// Reasons for the loss of a subscription.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum SubscriptionError {
    /// No connection.
    Disconnected(String),
    /// A connection on which nothing arrives.
    Silent,
    /// Rejected by the daemon, with its error code.
    Rejected(i64),
}

/// Transport of a subscription.
pub(super) enum SubscriptionTransport {
    Lines(DaemonAddress),
    Http(DaemonHttp),
}

/// An open subscription.
pub(super) struct Subscription {
    clock: Arc<dyn Clock>,
    last_activity: Timestamp,
    kind: NotificationKind,
}

enum NotificationKind {
    Lines(LineSubscription),
    Events(SseSubscription),
}

struct LineSubscription {
    reader: LineReader,
    writer: LineWriter,
    pending: Option<PendingRequest>,
    last_id: u64,
    /// Held briefly after a request, so that no simulated time passes before the response.
    busy: Option<ActivityGuard>,
}

struct PendingRequest {
    id: u64,
    purpose: NotificationEvent,
    until: Timestamp,
}

#[derive(Clone, Copy, PartialEq)]
enum NotificationEvent {
    Subscription,
    Liveness,
}

struct SseSubscription {
    response: Response,
    splitter: SseParser,
    /// True until the start of the subscription was reported.
    confirmation_due: bool,
}

impl SubscriptionTransport {
    /// Connects and subscribes for that account.
    pub(super) async fn open(&self, clock: &Arc<dyn Clock>, account: &str) -> Result<Subscription, SubscriptionError> {
        let kind = match self {
            Self::Lines(place) => NotificationKind::Lines(LineSubscription::open(place, &**clock, account).await?),
            Self::Http(http) => NotificationKind::Events(SseSubscription::open(http, &**clock, account).await?),
        };
        Ok(Subscription { clock: Arc::clone(clock), last_activity: clock.now(), kind })
    }
}

impl Subscription {
    /// Waits for the next item. May be cancelled at any point. Unusable after an error.
    pub(super) async fn next(&mut self) -> Result<Notification, SubscriptionError> {
        let heard = match &mut self.kind {
            NotificationKind::Lines(lines) => lines.next(&*self.clock, &mut self.last_activity).await,
            NotificationKind::Events(events) => events.next(&*self.clock, self.last_activity).await,
        };
        self.last_activity = self.clock.now();
        heard
    }
}

impl LineSubscription {
    async fn open(place: &DaemonAddress, clock: &dyn Clock, account: &str) -> Result<Self, SubscriptionError> {
        let opened = with_timeout(clock, OPENING, place.connect()).await;
        let opened = opened.ok_or_else(|| SubscriptionError::Disconnected("the daemon does not answer".to_owned()))?;
        let (reader, writer) = opened.map_err(|error| SubscriptionError::Disconnected(error.kind().to_string()))?;
        let mut lines = Self { reader, writer, pending: None, last_id: 0, busy: None };
        let params = Params::from_iter([("account".to_owned(), account.into())]);
        lines.ask(clock, NotificationEvent::Subscription, method::SUBSCRIBE, &params).await?;
        Ok(lines)
    }

    async fn next(&mut self, clock: &dyn Clock, heard_at: &mut Timestamp) -> Result<Notification, SubscriptionError> {
        loop {
            let due = self.pending.as_ref().map_or(heard_at.plus(ASK_AFTER), |asked| asked.until);
            let wake = clock.wake_at(due);
            let line = tokio::select! {
                biased;
                line = self.reader.next() => line.map_err(|broken| SubscriptionError::Disconnected(broken.reason()))?,
                () = real_sleep(REAL_TIME_GRACE), if self.busy.is_some() => {
                    self.busy = None;
                    continue;
                }
                _busy = wake => {
                    if self.pending.is_some() {
                        return Err(SubscriptionError::Silent);
                    }
                    self.ask(clock, NotificationEvent::Liveness, method::VERSION, &Params::new()).await?;
                    continue;
                }
            };
            *heard_at = clock.now();
            if let Some(heard) = self.interpret(&line)? {
                return Ok(heard);
            }
        }
    }

    /// Any line proves liveness; only its own response settles a subscription.
    fn interpret(&mut self, line: &str) -> Result<Option<Notification>, SubscriptionError> {
        let asked = self.pending.as_ref().map(|asked| (asked.id, asked.purpose));
        if !matches!(asked, Some((_, NotificationEvent::Subscription))) {
            (self.pending, self.busy) = (None, None);
        }
        match (jsonrpc::parse(line), asked) {
            (RpcFrame::Received(raw), _) => Ok(Some(Notification::Item(raw.to_owned()))),
            (RpcFrame::Answer(id, outcome), Some((asked, what))) if id == asked => {
                (self.pending, self.busy) = (None, None);
                match outcome {
                    Err(refusal) if what == NotificationEvent::Subscription => {
                        Err(SubscriptionError::Rejected(refusal.code))
                    }
                    _ => Ok(Some(Notification::KeepAlive)),
                }
            }
            _ => Ok(None),
        }
    }

    async fn ask(
        &mut self,
        clock: &dyn Clock,
        what: NotificationEvent,
        method: &str,
        params: &Params,
    ) -> Result<(), SubscriptionError> {
        self.last_id += 1;
        self.busy = Some(clock.busy());
        let line = jsonrpc::request(self.last_id, method, params);
        // Recorded first: if writing is cancelled, no response comes, and the connection is given
        // up for that.
        self.pending = Some(PendingRequest { id: self.last_id, purpose: what, until: clock.now().plus(ANSWER_WITHIN) });
        let written =
            with_timeout(clock, ANSWER_WITHIN, self.writer.write(&line)).await.ok_or(SubscriptionError::Silent)?;
        written.map_err(|error| SubscriptionError::Disconnected(error.kind().to_string()))
    }
}

impl SseSubscription {
    async fn open(http: &DaemonHttp, clock: &dyn Clock, account: &str) -> Result<Self, SubscriptionError> {
        // An older daemon sends not even the response head before its first keep-alive.
        let response = with_timeout(clock, SILENCE, http.subscribe(account)).await.ok_or(SubscriptionError::Silent)?;
        let response = response.map_err(|failure| match failure {
            RpcError::Rejected(refusal) => SubscriptionError::Rejected(refusal.code),
            other => SubscriptionError::Disconnected(other.reason()),
        })?;
        Ok(Self { response, splitter: SseParser::default(), confirmation_due: true })
    }

    async fn next(&mut self, clock: &dyn Clock, heard_at: Timestamp) -> Result<Notification, SubscriptionError> {
        if std::mem::take(&mut self.confirmation_due) {
            return Ok(Notification::KeepAlive);
        }
        let away = |broken: ConnectionError| SubscriptionError::Disconnected(broken.reason());
        let wake = clock.wake_at(heard_at.plus(SILENCE));
        tokio::pin!(wake);
        loop {
            match self.splitter.next().map_err(away)? {
                Some(SseEvent::Received(raw)) => return Ok(Notification::Item(raw)),
                Some(SseEvent::Alive) => return Ok(Notification::KeepAlive),
                None => {}
            }
            let chunk = tokio::select! {
                biased;
                chunk = self.response.chunk() => chunk.map_err(|error| SubscriptionError::Disconnected(describe(error)))?,
                _busy = &mut wake => return Err(SubscriptionError::Silent),
            };
            let chunk = chunk.ok_or_else(|| SubscriptionError::Disconnected("the stream ended".to_owned()))?;
            self.splitter.feed(&chunk).map_err(away)?;
        }
    }
}
