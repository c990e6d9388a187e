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

use futures::future::BoxFuture;
use reqwest::Response;

use super::http::{DaemonHttp, SseParser};
use super::jsonrpc::{self, Notification, Params, RpcError, RpcFrame, method};
use super::socket::{ConnectionError, DaemonAddress, LineReader, LineWriter, with_timeout};
use crate::adapter::request::describe;
use crate::time::{ActivityGuard, Clock, Timestamp};

/// Silence after which a subscription counts as dead.
pub(super) const SILENCE: Duration = Duration::from_secs(75);
/// Silence after which the daemon is asked on a socket.
const PROBE_AFTER: Duration = Duration::from_secs(30);
/// Time allowed for its response; together no longer than [`SILENCE`].
const PROBE_TIMEOUT: Duration = Duration::from_secs(45);

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
    Socket(DaemonAddress),
    Http(DaemonHttp),
}

/// An open subscription.
pub(super) struct Subscription {
    clock: Arc<dyn Clock>,
    last_activity: Timestamp,
    kind: OpenTransport,
}

enum OpenTransport {
    Lines(LineSubscription),
    Events(SseSubscription),
}

struct LineSubscription {
    reader: LineReader,
    writer: LineWriter,
    pending: Option<PendingRequest>,
    last_id: u64,
}

struct PendingRequest {
    id: u64,
    purpose: RequestPurpose,
    /// End of the time allowed for the response.
    late: BoxFuture<'static, ActivityGuard>,
}

#[derive(Clone, Copy, PartialEq)]
enum RequestPurpose {
    Subscription,
    Liveness,
}

struct SseSubscription {
    response: Response,
    parser: SseParser,
    /// True until the start of the subscription was reported.
    confirmation_due: bool,
}

impl SubscriptionTransport {
    /// Connects and subscribes for that account.
    pub(super) async fn open(&self, clock: &Arc<dyn Clock>, account: &str) -> Result<Subscription, SubscriptionError> {
        let kind = match self {
            Self::Socket(address) => OpenTransport::Lines(LineSubscription::open(address, &**clock, account).await?),
            Self::Http(http) => OpenTransport::Events(SseSubscription::open(http, &**clock, account).await?),
        };
        Ok(Subscription { clock: Arc::clone(clock), last_activity: clock.now(), kind })
    }
}

impl Subscription {
    /// Waits for the next item. May be cancelled at any point. Unusable after an error.
    pub(super) async fn next(&mut self) -> Result<Notification, SubscriptionError> {
        let received = match &mut self.kind {
            OpenTransport::Lines(lines) => lines.next(&*self.clock, &mut self.last_activity).await,
            OpenTransport::Events(events) => events.next(&*self.clock, self.last_activity).await,
        };
        self.last_activity = self.clock.now();
        received
    }
}

impl LineSubscription {
    async fn open(address: &DaemonAddress, clock: &dyn Clock, account: &str) -> Result<Self, SubscriptionError> {
        let (reader, writer) = address.connect(clock).await.map_err(SubscriptionError::Disconnected)?;
        let mut lines = Self { reader, writer, pending: None, last_id: 0 };
        let params = Params::from_iter([("account".to_owned(), account.into())]);
        lines.request(clock, RequestPurpose::Subscription, method::SUBSCRIBE, &params).await?;
        Ok(lines)
    }

    async fn next(
        &mut self,
        clock: &dyn Clock,
        last_activity: &mut Timestamp,
    ) -> Result<Notification, SubscriptionError> {
        loop {
            let mut silent;
            let due = match &mut self.pending {
                Some(pending) => &mut pending.late,
                None => {
                    silent = clock.wake_at(last_activity.plus(PROBE_AFTER));
                    &mut silent
                }
            };
            let line = tokio::select! {
                biased;
                line = self.reader.next() => line.map_err(|broken| SubscriptionError::Disconnected(broken.to_string()))?,
                _busy = due => {
                    if self.pending.is_some() {
                        return Err(SubscriptionError::Silent);
                    }
                    self.request(clock, RequestPurpose::Liveness, method::VERSION, &Params::new()).await?;
                    continue;
                }
            };
            *last_activity = clock.now();
            if let Some(notification) = self.interpret(&line)? {
                return Ok(notification);
            }
        }
    }

    /// Any line proves liveness; only its own response settles a subscription.
    fn interpret(&mut self, line: &str) -> Result<Option<Notification>, SubscriptionError> {
        let pending = self.pending.as_ref().map(|pending| (pending.id, pending.purpose));
        if !matches!(pending, Some((_, RequestPurpose::Subscription))) {
            self.pending = None;
        }
        match (jsonrpc::parse(line), pending) {
            (RpcFrame::Received(raw), _) => Ok(Some(Notification::Item(raw.to_owned()))),
            (RpcFrame::Answer(id, outcome), Some((pending, purpose))) if id == pending => {
                self.pending = None;
                match outcome {
                    Err(refusal) if purpose == RequestPurpose::Subscription => {
                        Err(SubscriptionError::Rejected(refusal.code))
                    }
                    _ => Ok(Some(Notification::KeepAlive)),
                }
            }
            _ => Ok(None),
        }
    }

    async fn request(
        &mut self,
        clock: &dyn Clock,
        purpose: RequestPurpose,
        method: &str,
        params: &Params,
    ) -> Result<(), SubscriptionError> {
        self.last_id += 1;
        let line = jsonrpc::request(self.last_id, method, params);
        // Recorded first: if writing is cancelled, no response comes, and the connection is given
        // up for that.
        self.pending = Some(PendingRequest {
            id: self.last_id,
            purpose,
            late: clock.time_out_at(clock.now().plus(PROBE_TIMEOUT)),
        });
        let written =
            with_timeout(clock, PROBE_TIMEOUT, self.writer.write(&line)).await.ok_or(SubscriptionError::Silent)?;
        written.map_err(|error| SubscriptionError::Disconnected(error.kind().to_string()))
    }
}

impl SseSubscription {
    async fn open(http: &DaemonHttp, clock: &dyn Clock, account: &str) -> Result<Self, SubscriptionError> {
        // An older daemon sends not even the response head before its first keep-alive.
        let response = with_timeout(clock, SILENCE, http.subscribe(account)).await.ok_or(SubscriptionError::Silent)?;
        let response = response.map_err(|failure| match failure {
            RpcError::Rejected(refusal) => SubscriptionError::Rejected(refusal.code),
            other => SubscriptionError::Disconnected(other.to_string()),
        })?;
        Ok(Self { response, parser: SseParser::default(), confirmation_due: true })
    }

    async fn next(&mut self, clock: &dyn Clock, last_activity: Timestamp) -> Result<Notification, SubscriptionError> {
        if std::mem::take(&mut self.confirmation_due) {
            return Ok(Notification::KeepAlive);
        }
        let lost = |broken: ConnectionError| SubscriptionError::Disconnected(broken.to_string());
        let wake = clock.wake_at(last_activity.plus(SILENCE));
        tokio::pin!(wake);
        loop {
            if let Some(notification) = self.parser.next().map_err(lost)? {
                return Ok(notification);
            }
            let chunk = tokio::select! {
                biased;
                chunk = self.response.chunk() => chunk.map_err(|error| SubscriptionError::Disconnected(describe(error)))?,
                _busy = &mut wake => return Err(SubscriptionError::Silent),
            };
            let chunk = chunk.ok_or_else(|| SubscriptionError::Disconnected("the stream ended".to_owned()))?;
            self.parser.feed(&chunk).map_err(lost)?;
        }
    }
}
