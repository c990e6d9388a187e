//! HTTP server for Telegram's calls: HTTP/1.1 on one address, one path, one method, authenticated
//! by the secret.
//!
//! It is exposed to the internet, perhaps through a proxy, so it is strict: connections, headers
//! and bodies are bounded; nothing is read from a caller without the secret; and a connection that
//! neither completes a request nor awaits our response for half a minute is closed, even if it
//! keeps sending slowly. Timeouts use the clock, as everywhere.

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

/// Maximum number of simultaneous connections; others wait.
pub(super) const CONNECTIONS: usize = 64;
/// Maximum length of a body; an update is far smaller.
const MAX_BODY: usize = 1 << 20;
/// Maximum length of the headers of a request.
const MAX_HEAD: usize = 16 << 10;
/// Time for which a caller waits for the journal. Telegram itself waits for about a minute.
const STORED_WITHIN: Duration = Duration::from_secs(25);
/// Idle timeout of a connection; longer than a caller waits.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Pause after a failure to accept.
const PAUSE: Duration = Duration::from_secs(1);
/// Time allowed for answering open calls when stopping.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(1);
/// Header with the secret.
const SECRET: &str = "x-telegram-bot-api-secret-token";

/// An update with its waiting caller.
pub(super) struct WebhookCall {
    pub(super) raw: String,
    pub(super) caller: WebhookCaller,
}

/// A waiting caller. Dropping it rejects the call.
pub(super) struct WebhookCaller(oneshot::Sender<()>);

impl WebhookCaller {
    /// Confirms that the update is in the journal.
    pub(super) fn confirm(self) {
        // A caller that has hung up calls again, and the update is recognised.
        let _ = self.0.send(());
    }

    /// Returns true if the caller has hung up.
    pub(super) fn has_hung_up(&self) -> bool {
        self.0.is_closed()
    }
}

/// The HTTP server.
pub(super) struct WebhookServer {
    path: String,
    secret: SecretString,
    calls: mpsc::Sender<WebhookCall>,
    clock: Arc<dyn Clock>,
    permits: Arc<Semaphore>,
    stop: CancellationToken,
}

impl WebhookServer {
    /// Creates a server that passes on calls until it is stopped.
    pub(super) fn new(
        config: &config::Webhook,
        calls: mpsc::Sender<WebhookCall>,
        clock: Arc<dyn Clock>,
        stop: CancellationToken,
    ) -> Arc<Self> {
        let (path, secret) = (config.url.path().to_owned(), config.secret.clone());
        Arc::new(Self { path, secret, calls, clock, permits: Arc::new(Semaphore::new(CONNECTIONS)), stop })
    }

    /// Accepts connections in tasks that end with the stop token.
    pub(super) fn open(self: Arc<Self>, listener: TcpListener) {
        let tasks = TaskTracker::new();
        let connections = tasks.clone();
        tasks.spawn(async move {
            loop {
                let accepted = tokio::select! {
                    () = self.stop.cancelled() => return,
                    accepted = self.accept(&listener) => accepted,
                };
                if let Some((stream, permit)) = accepted {
                    connections.spawn(Arc::clone(&self).serve(stream, permit));
                }
            }
        });
    }

    /// Accepts the next connection; `None` after a failure and a pause, as at the limit of open
    /// files.
    async fn accept(&self, listener: &TcpListener) -> Option<(TcpStream, OwnedSemaphorePermit)> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.ok()?;
        match listener.accept().await {
            Ok((stream, _)) => Some((stream, permit)),
            Err(_) => {
                drop(self.clock.wake_at(self.clock.now().plus(PAUSE)).await);
                None
            }
        }
    }

    async fn serve(self: Arc<Self>, stream: TcpStream, permit: OwnedSemaphorePermit) {
        let served = guarded("A call of Telegram", async {
            self.serve_connection(stream).await;
            Ok(())
        });
        if let Err(error) = served.await {
            tracing::error!("{error:#}");
        }
        drop(permit);
    }

    /// Serves one connection until it ends, is idle for too long, or the server stops.
    async fn serve_connection(&self, stream: TcpStream) {
        let steps = AtomicUsize::new(0);
        let service =
            service_fn(|request| async { Ok::<_, std::convert::Infallible>(self.answer(request, &steps).await) });
        let connection = http1::Builder::new().max_buf_size(MAX_HEAD).serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        tokio::select! {
            // The way in which a connection ends is irrelevant: an unanswered caller calls again.
            _ = connection.as_mut() => {}
            () = self.idle(&steps) => {}
            () = self.stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                tokio::select! {
                    _ = connection.as_mut() => {}
                    () = real_sleep(SHUTDOWN_GRACE) => {}
                }
            }
        }
    }

    /// Completes when there was no progress for a while.
    async fn idle(&self, steps: &AtomicUsize) {
        let mut before = steps.load(Ordering::Relaxed);
        loop {
            drop(self.clock.wake_at(self.clock.now().plus(IDLE_TIMEOUT)).await);
            let now = steps.load(Ordering::Relaxed);
            if now == before {
                return;
            }
            before = now;
        }
    }

    async fn answer(&self, request: Request<Incoming>, steps: &AtomicUsize) -> Response<Full<Bytes>> {
        let status = match self.authenticate(request).await {
            Ok(raw) => {
                steps.fetch_add(1, Ordering::Relaxed);
                let status = self.wait_until_stored(raw).await;
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

    /// Returns the body of an authenticated call, or the status to reject it with.
    async fn authenticate(&self, request: Request<Incoming>) -> Result<String, StatusCode> {
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

    /// Passes a call on and waits until it is stored, within a time limit.
    async fn wait_until_stored(&self, raw: String) -> StatusCode {
        let late = self.clock.wake_at(self.clock.now().plus(STORED_WITHIN));
        let (caller, stored) = oneshot::channel();
        let handed = async {
            let call = WebhookCall { raw, caller: WebhookCaller(caller) };
            self.calls.send(call).await.is_ok() && stored.await.is_ok()
        };
        tokio::select! {
            is_stored = handed => if is_stored { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE },
            _ = late => StatusCode::SERVICE_UNAVAILABLE,
            () = self.stop.cancelled() => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// Compares two secrets in constant time.
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
