//! The door at which Telegram calls: HTTP/1.1 on one address, one path, one verb, for whoever shows the secret.
//!
//! It stands in the open, or behind a proxy that lets everybody through, so it is narrow: a bounded number of
//! connections, heads and bodies; nothing is read of a caller who does not show the secret; and a connection that
//! neither asks anything to the end nor waits for our answer for half a minute is closed, however slowly it
//! goes on sending. The time is the clock's, as everywhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{ALLOW, CONNECTION, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config;
use crate::time::Clock;
use crate::time::clock::real_sleep;
use crate::time::task::guarded;

/// The most connections at one time; others wait until one ends.
pub(super) const CONNECTIONS: usize = 64;
/// The longest body; an update is far smaller.
const MAX_BODY: usize = 1 << 20;
/// The longest head of a request.
const MAX_HEAD: usize = 16 << 10;
/// How long a caller waits for the journal. Telegram itself waits for about a minute.
const STORED_WITHIN: Duration = Duration::from_secs(25);
/// How long a connection may go without asking anything to the end; longer than a caller waits.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long after trouble with accepting the next try is made.
const PAUSE: Duration = Duration::from_secs(1);
/// How long callers get to hear that we stop.
const FAREWELL: Duration = Duration::from_secs(1);
/// Where Telegram shows the secret.
const SECRET: &str = "x-telegram-bot-api-secret-token";

/// One call: an update, and who waits for it to be stored.
pub(super) struct WebhookCall {
    pub(super) raw: String,
    pub(super) caller: Caller,
}

/// Who waits. Dropping it says that the call was not stored.
pub(super) struct Caller(oneshot::Sender<()>);

impl Caller {
    /// The call is in the journal.
    pub(super) fn stored(self) {
        // Whoever hung up will call again, and be recognised.
        let _ = self.0.send(());
    }

    /// Whether nobody waits any more.
    pub(super) fn is_gone(&self) -> bool {
        self.0.is_closed()
    }
}

/// The door.
pub(super) struct UpdateQueue {
    path: String,
    secret: SecretString,
    calls: mpsc::Sender<WebhookCall>,
    clock: Arc<dyn Clock>,
    seats: Arc<Semaphore>,
    stop: CancellationToken,
}

impl UpdateQueue {
    /// A door that hands calls over until it is stopped.
    pub(super) fn new(
        config: &config::Webhook,
        calls: mpsc::Sender<WebhookCall>,
        clock: Arc<dyn Clock>,
        stop: CancellationToken,
    ) -> Arc<Self> {
        let (path, secret) = (config.url.path().to_owned(), config.secret.clone());
        Arc::new(Self { path, secret, calls, clock, seats: Arc::new(Semaphore::new(CONNECTIONS)), stop })
    }

    /// Lets callers in, in tasks that end with the stop.
    pub(super) fn open(self: Arc<Self>, listener: TcpListener) {
        let tasks = TaskTracker::new();
        let connections = tasks.clone();
        tasks.spawn(async move {
            loop {
                let accepted = tokio::select! {
                    () = self.stop.cancelled() => return,
                    accepted = self.accept(&listener) => accepted,
                };
                if let Some((stream, seat)) = accepted {
                    connections.spawn(Arc::clone(&self).serve(stream, seat));
                }
            }
        });
    }

    /// The next connection; `None` after a rest when there is trouble, as when this computer has too many open.
    async fn accept(&self, listener: &TcpListener) -> Option<(TcpStream, OwnedSemaphorePermit)> {
        let seat = Arc::clone(&self.seats).acquire_owned().await.ok()?;
        match listener.accept().await {
            Ok((stream, _)) => Some((stream, seat)),
            Err(_) => {
                drop(self.clock.wake_at(self.clock.now().plus(PAUSE)).await);
                None
            }
        }
    }

    async fn serve(self: Arc<Self>, stream: TcpStream, seat: OwnedSemaphorePermit) {
        let served = guarded("A call of Telegram", async {
            self.converse(stream).await;
            Ok(())
        });
        if let Err(error) = served.await {
            tracing::error!("{error:#}");
        }
        drop(seat);
    }

    /// One connection, until it ends, is found idle, or we stop.
    async fn converse(&self, stream: TcpStream) {
        let steps = AtomicUsize::new(0);
        let service =
            service_fn(|request| async { Ok::<_, std::convert::Infallible>(self.answer(request, &steps).await) });
        let connection = http1::Builder::new().max_buf_size(MAX_HEAD).serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        tokio::select! {
            // How a connection ends says nothing: whoever was not answered calls again.
            _ = connection.as_mut() => {}
            () = self.idle(&steps) => {}
            () = self.stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                tokio::select! {
                    _ = connection.as_mut() => {}
                    () = real_sleep(FAREWELL) => {}
                }
            }
        }
    }

    /// Completes when no step was made for a while.
    async fn idle(&self, steps: &AtomicUsize) {
        let mut before = steps.load(Ordering::Relaxed);
        loop {
            drop(self.clock.wake_at(self.clock.now().plus(PATIENCE)).await);
            let now = steps.load(Ordering::Relaxed);
            if now == before {
                return;
            }
            before = now;
        }
    }

    async fn answer(&self, request: Request<Incoming>, steps: &AtomicUsize) -> Response<Full<Bytes>> {
        let status = match self.admit(request).await {
            Ok(raw) => {
                steps.fetch_add(1, Ordering::Relaxed);
                let status = self.hand_over(raw).await;
                steps.fetch_add(1, Ordering::Relaxed);
                status
            }
            Err(status) => status,
        };
        let mut response = Response::new(Full::default());
        *response.status_mut() = status;
        if status == StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
        }
        if status != StatusCode::OK {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    /// The body of a call that may come in; else what to answer.
    async fn admit(&self, request: Request<Incoming>) -> Result<String, StatusCode> {
        if request.uri().path() != self.path {
            return Err(StatusCode::NOT_FOUND);
        }
        if request.method() != Method::POST {
            return Err(StatusCode::METHOD_NOT_ALLOWED);
        }
        let shown = request.headers().get(SECRET).map(HeaderValue::as_bytes).unwrap_or_default();
        if !is_same(shown, self.secret.expose_secret().as_bytes()) {
            return Err(StatusCode::UNAUTHORIZED);
        }
        let body = request.into_body();
        if body.size_hint().lower() > MAX_BODY as u64 {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        match Limited::new(body, MAX_BODY).collect().await {
            Ok(whole) => Ok(String::from_utf8_lossy(&whole.to_bytes()).into_owned()),
            Err(error) if error.is::<LengthLimitError>() => Err(StatusCode::PAYLOAD_TOO_LARGE),
            Err(_) => Err(StatusCode::BAD_REQUEST),
        }
    }

    /// Waits until a call is stored, and gives up when that takes too long.
    async fn hand_over(&self, raw: String) -> StatusCode {
        let late = self.clock.wake_at(self.clock.now().plus(STORED_WITHIN));
        let (caller, stored) = oneshot::channel();
        let handed = async {
            let call = WebhookCall { raw, caller: Caller(caller) };
            self.calls.send(call).await.is_ok() && stored.await.is_ok()
        };
        tokio::select! {
            is_stored = handed => if is_stored { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE },
            _ = late => StatusCode::SERVICE_UNAVAILABLE,
            () = self.stop.cancelled() => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// Whether two secrets are the same, in a time that tells nothing of where they differ.
fn is_same(shown: &[u8], secret: &[u8]) -> bool {
    let (shown, secret) = (Sha256::digest(shown), Sha256::digest(secret));
    shown.iter().zip(secret.iter()).fold(0, |differing, (a, b)| differing | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_secret_is_the_secret() {
        assert!(is_same(b"abc-DEF_1", b"abc-DEF_1"));
        for wrong in [&b""[..], b"abc-DEF_", b"abc-DEF_1 ", b"abc-DEF_2", b"ABC-def_1"] {
            assert!(!is_same(wrong, b"abc-DEF_1"), "{wrong:?}");
        }
    }
}
