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

use super::http::{Http, describe};
use super::rpc_client::RpcError;
use super::socket::{ConnectionError, DaemonAddress, LineReader, LineWriter};
use super::sse::{Sign, Splitter};
use super::wait::{AT_ONCE, OPENING, within};
use super::wire::{self, Frame, Params, method};
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
    Alive,
}

/// Reasons for the loss of a subscription.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Lost {
    /// No connection.
    Away(String),
    /// A connection on which nothing arrives.
    Deaf,
    /// Rejected by the daemon, with its error code.
    Refused(i64),
}

/// Transport of a subscription.
pub(super) enum Side {
    Lines(DaemonAddress),
    Http(Http),
}

/// An open subscription.
pub(super) struct Ear {
    clock: Arc<dyn Clock>,
    heard_at: Timestamp,
    kind: NotificationKind,
}

enum NotificationKind {
    Lines(Lines),
    Events(Events),
}

struct Lines {
    reader: LineReader,
    writer: LineWriter,
    asked: Option<PendingRequest>,
    last_id: u64,
    /// Held briefly after a request, so that no simulated time passes before the response.
    busy: Option<ActivityGuard>,
}

struct PendingRequest {
    id: u64,
    what: NotificationEvent,
    until: Timestamp,
}

#[derive(Clone, Copy, PartialEq)]
enum NotificationEvent {
    Subscription,
    Sign,
}

struct Events {
    response: Response,
    splitter: Splitter,
    /// True until the start of the subscription was reported.
    is_new: bool,
}

impl Side {
    /// Connects and subscribes for that account.
    pub(super) async fn open(&self, clock: &Arc<dyn Clock>, account: &str) -> Result<Ear, Lost> {
        let kind = match self {
            Self::Lines(place) => NotificationKind::Lines(Lines::open(place, &**clock, account).await?),
            Self::Http(http) => NotificationKind::Events(Events::open(http, &**clock, account).await?),
        };
        Ok(Ear { clock: Arc::clone(clock), heard_at: clock.now(), kind })
    }
}

impl Ear {
    /// Waits for the next item. May be cancelled at any point. Unusable after an error.
    pub(super) async fn hear(&mut self) -> Result<Notification, Lost> {
        let heard = match &mut self.kind {
            NotificationKind::Lines(lines) => lines.hear(&*self.clock, &mut self.heard_at).await,
            NotificationKind::Events(events) => events.hear(&*self.clock, self.heard_at).await,
        };
        self.heard_at = self.clock.now();
        heard
    }
}

impl Lines {
    async fn open(place: &DaemonAddress, clock: &dyn Clock, account: &str) -> Result<Self, Lost> {
        let opened = within(clock, OPENING, place.connect()).await;
        let opened = opened.ok_or_else(|| Lost::Away("the daemon does not answer".to_owned()))?;
        let (reader, writer) = opened.map_err(|error| Lost::Away(error.kind().to_string()))?;
        let mut lines = Self { reader, writer, asked: None, last_id: 0, busy: None };
        let params = Params::from_iter([("account".to_owned(), account.into())]);
        lines.ask(clock, NotificationEvent::Subscription, method::SUBSCRIBE, &params).await?;
        Ok(lines)
    }

    async fn hear(&mut self, clock: &dyn Clock, heard_at: &mut Timestamp) -> Result<Notification, Lost> {
        loop {
            let due = self.asked.as_ref().map_or(heard_at.plus(ASK_AFTER), |asked| asked.until);
            let wake = clock.wake_at(due);
            let line = tokio::select! {
                biased;
                line = self.reader.next() => line.map_err(|broken| Lost::Away(broken.reason()))?,
                () = real_sleep(AT_ONCE), if self.busy.is_some() => {
                    self.busy = None;
                    continue;
                }
                _busy = wake => {
                    if self.asked.is_some() {
                        return Err(Lost::Deaf);
                    }
                    self.ask(clock, NotificationEvent::Sign, method::VERSION, &Params::new()).await?;
                    continue;
                }
            };
            *heard_at = clock.now();
            if let Some(heard) = self.understand(&line)? {
                return Ok(heard);
            }
        }
    }

    /// Any line proves liveness; only its own response settles a subscription.
    fn understand(&mut self, line: &str) -> Result<Option<Notification>, Lost> {
        let asked = self.asked.as_ref().map(|asked| (asked.id, asked.what));
        if !matches!(asked, Some((_, NotificationEvent::Subscription))) {
            (self.asked, self.busy) = (None, None);
        }
        match (wire::read(line), asked) {
            (Frame::Received(raw), _) => Ok(Some(Notification::Item(raw.to_owned()))),
            (Frame::Answer(id, outcome), Some((asked, what))) if id == asked => {
                (self.asked, self.busy) = (None, None);
                match outcome {
                    Err(refusal) if what == NotificationEvent::Subscription => Err(Lost::Refused(refusal.code)),
                    _ => Ok(Some(Notification::Alive)),
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
    ) -> Result<(), Lost> {
        self.last_id += 1;
        self.busy = Some(clock.busy());
        let line = wire::request(self.last_id, method, params);
        // Recorded first: if writing is cancelled, no response comes, and the connection is given
        // up for that.
        self.asked = Some(PendingRequest { id: self.last_id, what, until: clock.now().plus(ANSWER_WITHIN) });
        let written = within(clock, ANSWER_WITHIN, self.writer.write(&line)).await.ok_or(Lost::Deaf)?;
        written.map_err(|error| Lost::Away(error.kind().to_string()))
    }
}

impl Events {
    async fn open(http: &Http, clock: &dyn Clock, account: &str) -> Result<Self, Lost> {
        // An older daemon sends not even the response head before its first keep-alive.
        let response = within(clock, SILENCE, http.listen(account)).await.ok_or(Lost::Deaf)?;
        let response = response.map_err(|failure| match failure {
            RpcError::Refused(refusal) => Lost::Refused(refusal.code),
            other => Lost::Away(other.reason()),
        })?;
        Ok(Self { response, splitter: Splitter::default(), is_new: true })
    }

    async fn hear(&mut self, clock: &dyn Clock, heard_at: Timestamp) -> Result<Notification, Lost> {
        if std::mem::take(&mut self.is_new) {
            return Ok(Notification::Alive);
        }
        let away = |broken: ConnectionError| Lost::Away(broken.reason());
        let wake = clock.wake_at(heard_at.plus(SILENCE));
        tokio::pin!(wake);
        loop {
            match self.splitter.next().map_err(away)? {
                Some(Sign::Received(raw)) => return Ok(Notification::Item(raw)),
                Some(Sign::Alive) => return Ok(Notification::Alive),
                None => {}
            }
            let chunk = tokio::select! {
                biased;
                chunk = self.response.chunk() => chunk.map_err(|error| Lost::Away(describe(error)))?,
                _busy = &mut wake => return Err(Lost::Deaf),
            };
            let chunk = chunk.ok_or_else(|| Lost::Away("the stream ended".to_owned()))?;
            self.splitter.feed(&chunk);
        }
    }
}
