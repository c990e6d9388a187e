//! HTTP/1.1 server with fixed limits, for Telegram's webhook and the page.
//!
//! The routes are axum's. The limits hold for all of them, and use the app's clock: connections and
//! headers are bounded; a connection that makes no progress for half a minute is closed, even if it
//! keeps sending slowly; and requests in flight are answered before the server stops.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::response::Response;
use http_body_util::BodyExt;
use hyper::body::{Bytes, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use crate::time::Clock;
use crate::time::clock::real_sleep;
use crate::time::task::guarded;

/// Maximum number of simultaneous connections; others wait.
pub const CONNECTIONS: usize = 64;
/// Maximum length of the headers of a request.
const MAX_HEAD: usize = 16 << 10;
/// Time within which a connection must make progress.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Bytes of a request's body that count as progress.
const PROGRESS_BYTES: usize = 64 << 10;
/// Pause after a failure to accept.
const PAUSE: Duration = Duration::from_secs(1);
/// Time allowed for answering open requests when stopping.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(1);

/// Server of one listener.
pub struct Server {
    name: &'static str,
    routes: Router,
    clock: Arc<dyn Clock>,
    stop: CancellationToken,
    permits: Arc<Semaphore>,
    requests: TaskTracker,
}

impl Server {
    /// Creates a server. Failures are logged under its name.
    pub fn new(name: &'static str, routes: Router, clock: Arc<dyn Clock>, stop: CancellationToken) -> Self {
        let permits = Arc::new(Semaphore::new(CONNECTIONS));
        Self { name, routes, clock, stop, permits, requests: TaskTracker::new() }
    }

    /// Accepts connections until the server is stopped, and then waits for those that are open.
    pub async fn serve(self, listener: TcpListener) {
        let (server, connections) = (Arc::new(self), TaskTracker::new());
        loop {
            let accepted = tokio::select! {
                () = server.stop.cancelled() => break,
                accepted = server.accept(&listener) => accepted,
            };
            if let Some((stream, permit)) = accepted {
                let server = Arc::clone(&server);
                connections.spawn(async move {
                    server.serve_connection(stream).await;
                    drop(permit);
                });
            }
        }
        connections.close();
        connections.wait().await;
        server.requests.close();
        tokio::select! {
            () = server.requests.wait() => {}
            () = real_sleep(SHUTDOWN_GRACE) => {}
        }
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

    /// Serves one connection until it ends, is idle for too long, or the server stops.
    async fn serve_connection(&self, stream: TcpStream) {
        let Ok(peer) = stream.peer_addr() else { return };
        let progress = Progress::default();
        let service = service_fn(|mut request| {
            request.extensions_mut().insert(ConnectInfo(peer));
            self.answer(request, &progress)
        });
        let connection = http1::Builder::new().max_buf_size(MAX_HEAD).serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        tokio::select! {
            // The way in which a connection ends is irrelevant.
            _ = connection.as_mut() => {}
            () = self.idle(&progress) => {}
            () = self.stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                tokio::select! {
                    _ = connection.as_mut() => {}
                    () = real_sleep(SHUTDOWN_GRACE) => {}
                }
            }
        }
    }

    async fn answer(&self, request: Request<Incoming>, progress: &Progress) -> Result<Response, Infallible> {
        progress.step();
        let (received, sent) = (progress.clone(), progress.clone());
        let request = request.map(|body| Body::new(body.map_frame(move |frame| received.receive(frame))));
        let (name, routes) = (self.name, self.routes.clone());
        // A task of its own: what was begun is finished even if the connection ends.
        let work = self.requests.spawn(guarded(name, async move { Ok(routes.oneshot(request).await?) }));
        let answered = work.await.unwrap_or_else(|error| Err(error.into()));
        progress.step();
        let response = answered.unwrap_or_else(|error| {
            tracing::error!("{error:#}");
            let mut failed = Response::new(Body::empty());
            *failed.status_mut() = hyper::StatusCode::INTERNAL_SERVER_ERROR;
            failed
        });
        Ok(response.map(|body| {
            Body::new(body.map_frame(move |frame| {
                sent.step();
                frame
            }))
        }))
    }

    /// Completes when there was no progress for a while.
    async fn idle(&self, progress: &Progress) {
        let mut before = progress.steps();
        loop {
            drop(self.clock.wake_at(self.clock.now().plus(IDLE_TIMEOUT)).await);
            let now = progress.steps();
            if now == before {
                return;
            }
            before = now;
        }
    }
}

/// Progress of a connection. Each request, response and part of a response is a step; a request's
/// body is one for each [`PROGRESS_BYTES`], so that a slow sender does not hold a connection.
#[derive(Clone, Default)]
struct Progress(Arc<AtomicUsize>);

impl Progress {
    fn step(&self) {
        self.0.fetch_add(PROGRESS_BYTES, Ordering::Relaxed);
    }

    fn receive(&self, frame: Frame<Bytes>) -> Frame<Bytes> {
        self.0.fetch_add(frame.data_ref().map_or(0, Bytes::len), Ordering::Relaxed);
        frame
    }

    fn steps(&self) -> usize {
        self.0.load(Ordering::Relaxed) / PROGRESS_BYTES
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::routing::{get, post};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::Notify;

    use super::*;
    use crate::time::{SimulatedClock, Timestamp};

    /// Limit of a wait that a fault would make endless.
    const LIMIT: Duration = Duration::from_secs(30);
    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n";

    /// A server whose clock stands still unless it is advanced.
    struct Served {
        address: SocketAddr,
        clock: Arc<SimulatedClock>,
        stop: CancellationToken,
        permits: Arc<Semaphore>,
        tasks: TaskTracker,
    }

    impl Served {
        async fn with(routes: Router) -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let (address, stop, tasks) = (listener.local_addr().unwrap(), CancellationToken::new(), TaskTracker::new());
            let clock = Arc::new(SimulatedClock::new(Timestamp(0)));
            let server = Server::new("A test", routes, Arc::<SimulatedClock>::clone(&clock), stop.clone());
            let permits = Arc::clone(&server.permits);
            tasks.spawn(server.serve(listener));
            Self { address, clock, stop, permits, tasks }
        }

        async fn connect(&self, sent: &[u8]) -> TcpStream {
            let mut connection = TcpStream::connect(self.address).await.unwrap();
            connection.write_all(sent).await.unwrap();
            connection
        }

        async fn end(self) {
            self.stop.cancel();
            self.tasks.close();
            self.tasks.wait().await;
        }
    }

    /// Returns the beginning of an answer; blank if the connection was closed.
    async fn answer(connection: &mut TcpStream) -> String {
        let mut begin = [0; 64];
        let read = tokio::time::timeout(LIMIT, connection.read(&mut begin)).await.expect("something comes");
        String::from_utf8_lossy(&begin[..read.unwrap_or(0)]).into_owned()
    }

    /// Waits until this holds.
    async fn until(holds: impl Fn() -> bool) {
        let looking = async {
            while !holds() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(LIMIT, looking).await.expect("it comes true");
    }

    /// A person who closes the page, or a proxy that gives up, leaves nothing half done.
    #[tokio::test]
    async fn a_request_is_finished_although_its_connection_ends() {
        let (begun, may_go_on, done) = (Arc::new(Notify::new()), Arc::new(Notify::new()), Arc::new(Notify::new()));
        let seen = (Arc::clone(&begun), Arc::clone(&may_go_on), Arc::clone(&done));
        let route = get(move || async move {
            seen.0.notify_one();
            seen.1.notified().await;
            seen.2.notify_one();
        });
        let served = Served::with(Router::new().route("/", route)).await;
        let connection = served.connect(REQUEST).await;
        begun.notified().await;
        drop(connection);
        // All but the one of the next connection: this one has ended.
        drop(served.permits.acquire_many(u32::try_from(CONNECTIONS).unwrap() - 1).await.unwrap());
        may_go_on.notify_one();
        done.notified().await;
        served.end().await;
    }

    #[tokio::test]
    async fn a_head_that_is_too_long_is_refused() {
        let served = Served::with(Router::new().route("/", get(async || "ok"))).await;
        for (length, status) in [(MAX_HEAD - 1024, "HTTP/1.1 200 "), (2 * MAX_HEAD, "HTTP/1.1 431 ")] {
            let head = format!("GET / HTTP/1.1\r\nHost: here\r\nCookie: {}\r\n\r\n", "x".repeat(length));
            let mut connection = served.connect(head.as_bytes()).await;
            let answered = answer(&mut connection).await;
            assert!(answered.starts_with(status), "{length}: {answered}");
        }
        served.end().await;
    }

    #[tokio::test]
    async fn a_connection_too_many_waits_for_another_one_to_end() {
        let (begun, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
        let (seen, waiting) = (Arc::clone(&begun), Arc::clone(&gate));
        let route = get(move || async move {
            seen.fetch_add(1, Ordering::Relaxed);
            waiting.acquire().await.unwrap().forget();
        });
        let served = Served::with(Router::new().route("/", route)).await;
        let mut open = Vec::new();
        for _ in 0..=CONNECTIONS {
            open.push(served.connect(REQUEST).await);
        }
        until(|| begun.load(Ordering::Relaxed) >= CONNECTIONS).await;
        // Time for one more request to begin, if it could.
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
        assert_eq!(begun.load(Ordering::Relaxed), CONNECTIONS);
        drop(open.remove(0));
        until(|| begun.load(Ordering::Relaxed) > CONNECTIONS).await;
        gate.add_permits(CONNECTIONS + 1);
        for connection in &mut open {
            assert!(answer(connection).await.starts_with("HTTP/1.1 200 "));
        }
        served.end().await;
    }

    #[tokio::test]
    async fn a_slow_sender_is_cut_off() {
        let received = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&received);
        let route = post(move |request: Request| async move {
            let mut body = request.into_body();
            while let Some(Ok(frame)) = body.frame().await {
                seen.fetch_add(frame.into_data().unwrap().len(), Ordering::Relaxed);
            }
        });
        let served = Served::with(Router::new().route("/", route)).await;
        let head = format!("POST / HTTP/1.1\r\nHost: here\r\nContent-Length: {}\r\n\r\n", 10 * PROGRESS_BYTES);
        let mut connection = served.connect(head.as_bytes()).await;
        let mut sent = 0;
        for piece in [PROGRESS_BYTES, PROGRESS_BYTES, PROGRESS_BYTES - 1] {
            connection.write_all(&vec![b'x'; piece]).await.unwrap();
            sent += piece;
            until(|| received.load(Ordering::Relaxed) == sent).await;
            served.clock.advance(IDLE_TIMEOUT).await;
        }
        assert_eq!(answer(&mut connection).await, "", "nothing but the end");
        served.end().await;
    }
}
