//! HTTP/1.1 server with fixed limits, for Telegram's webhook and the page.
//!
//! The routes are axum's. The limits hold for all of them, and use the app's clock: connections and
//! headers are bounded; a connection that makes no progress for half a minute is closed, even if it
//! keeps sending slowly; and requests in flight are answered before the server stops.
//!
//! Anybody can open connections, so places are given by who holds them. A connection is a
//! stranger's until a request on it shows who sends it ([`Connection::belongs_to`]). Strangers have
//! five seconds for a request and its answer, and a part of the places; the oldest of them makes
//! room for a new one.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
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
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use crate::time::Clock;
use crate::time::clock::real_sleep;
use crate::time::task::{guarded, lock};

/// Maximum number of simultaneous connections; others wait.
pub const CONNECTIONS: usize = 64;
/// Maximum number of connections of strangers; the other places are kept for those who are known.
const STRANGERS: usize = 48;
/// Time within which a stranger's connection must make progress.
const STRANGER_TIMEOUT: Duration = Duration::from_secs(5);
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
    open: Arc<Connections>,
    requests: TaskTracker,
}

impl Server {
    /// Creates a server. Failures are logged under its name.
    pub fn new(name: &'static str, routes: Router, clock: Arc<dyn Clock>, stop: CancellationToken) -> Self {
        let permits = Arc::new(Semaphore::new(CONNECTIONS));
        Self { name, routes, clock, stop, permits, open: Arc::default(), requests: TaskTracker::new() }
    }

    /// Accepts connections until the server is stopped, and then waits for those that are open.
    pub async fn serve(self, listener: TcpListener) {
        let (server, connections) = (Arc::new(self), TaskTracker::new());
        loop {
            let accepted = tokio::select! {
                () = server.stop.cancelled() => break,
                accepted = server.accept(&listener) => accepted,
            };
            let Some(stream) = accepted else { continue };
            let connection = server.open.add(server.permits.available_permits() == 0);
            let Ok(permit) = Arc::clone(&server.permits).acquire_owned().await else { break };
            let server = Arc::clone(&server);
            connections.spawn(async move {
                server.serve_connection(stream, &connection).await;
                drop((connection, permit));
            });
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
    async fn accept(&self, listener: &TcpListener) -> Option<TcpStream> {
        match listener.accept().await {
            Ok((stream, _)) => Some(stream),
            Err(_) => {
                drop(self.clock.wake_at(self.clock.now().plus(PAUSE)).await);
                None
            }
        }
    }

    /// Serves one connection until it ends, is idle for too long, has to make room, or the server
    /// stops.
    async fn serve_connection(&self, stream: TcpStream, of: &OpenConnection) {
        let Ok(peer) = stream.peer_addr() else { return };
        let progress = Progress::default();
        let service = service_fn(|mut request| {
            request.extensions_mut().insert(ConnectInfo(peer));
            request.extensions_mut().insert(of.connection.clone());
            self.answer(request, &progress)
        });
        let connection = http1::Builder::new().max_buf_size(MAX_HEAD).serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        tokio::select! {
            // The way in which a connection ends is irrelevant.
            _ = connection.as_mut() => {}
            () = self.idle(&progress, &of.connection) => {}
            () = of.close.cancelled() => {}
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
    async fn idle(&self, progress: &Progress, connection: &Connection) {
        let mut last = progress.steps();
        loop {
            let was_known = connection.is_known();
            let limit = if was_known { IDLE_TIMEOUT } else { STRANGER_TIMEOUT };
            drop(self.clock.wake_at(self.clock.now().plus(limit)).await);
            let steps = progress.steps();
            if steps == last && connection.is_known() == was_known {
                return;
            }
            last = steps;
        }
    }
}

/// The open connections of a server, by the order in which they came.
#[derive(Debug, Default)]
struct Connections(Mutex<BTreeMap<usize, Place>>);

/// Place of an open connection.
#[derive(Debug, Default)]
struct Place {
    holder: Option<i64>,
    close: CancellationToken,
}

impl Connections {
    /// Adds a connection of a stranger. If there are too many of them, or `is_full`, the oldest
    /// one makes room.
    fn add(self: &Arc<Self>, is_full: bool) -> OpenConnection {
        let mut places = lock(&self.0);
        let strangers = || places.values().filter(|place| place.holder.is_none() && !place.close.is_cancelled());
        if (is_full || strangers().count() >= STRANGERS)
            && let Some(oldest) = strangers().next()
        {
            oldest.close.cancel();
        }
        let number = places.last_key_value().map_or(0, |(last, _)| last + 1);
        let place = Place::default();
        let close = place.close.clone();
        places.insert(number, place);
        OpenConnection { connection: Connection { number, all: Arc::clone(self) }, close }
    }
}

/// An open connection, which gives its place up with this value.
#[derive(Debug)]
struct OpenConnection {
    connection: Connection,
    close: CancellationToken,
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        lock(&self.connection.all.0).remove(&self.connection.number);
    }
}

/// The connection of a request, among its extensions.
#[derive(Debug, Clone)]
pub struct Connection {
    number: usize,
    all: Arc<Connections>,
}

impl Connection {
    /// Says who sends the requests of this connection; `None` for a stranger. Whoever has more than
    /// `most` connections loses their oldest.
    pub fn belongs_to(&self, holder: Option<i64>, most: usize) {
        let mut places = lock(&self.all.0);
        if let Some(place) = places.get_mut(&self.number) {
            place.holder = holder;
        }
        if holder.is_some() {
            let held = || places.values().filter(|place| place.holder == holder && !place.close.is_cancelled());
            let surplus = held().count().saturating_sub(most);
            held().take(surplus).for_each(|place| place.close.cancel());
        }
    }

    fn is_known(&self) -> bool {
        lock(&self.all.0).get(&self.number).is_some_and(|place| place.holder.is_some())
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

    use axum::middleware::{Next, from_fn};
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
        open: Arc<Connections>,
        tasks: TaskTracker,
    }

    /// Takes the requests for those of a known person.
    async fn known(request: Request, next: Next) -> Response {
        let holder = request.headers().get("holder").map(|holder| holder.to_str().unwrap().parse().unwrap());
        request.extensions().get::<Connection>().unwrap().belongs_to(holder, CONNECTIONS);
        next.run(request).await
    }

    fn request_of(holder: usize) -> Vec<u8> {
        format!("GET / HTTP/1.1\r\nHost: here\r\nHolder: {holder}\r\n\r\n").into_bytes()
    }

    impl Served {
        async fn with(routes: Router) -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let (address, stop, tasks) = (listener.local_addr().unwrap(), CancellationToken::new(), TaskTracker::new());
            let clock = Arc::new(SimulatedClock::new(Timestamp(0)));
            let server =
                Server::new("A test", routes.layer(from_fn(known)), Arc::<SimulatedClock>::clone(&clock), stop.clone());
            let open = Arc::clone(&server.open);
            tasks.spawn(server.serve(listener));
            Self { address, clock, stop, open, tasks }
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

    /// Returns what comes at once; blank if the connection was closed.
    async fn answer(connection: &mut TcpStream) -> String {
        let mut begin = [0; 4096];
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
        until(|| lock(&served.open.0).is_empty()).await;
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
        for holder in 0..CONNECTIONS {
            open.push(served.connect(&request_of(holder)).await);
        }
        until(|| begun.load(Ordering::Relaxed) == CONNECTIONS).await;
        open.push(served.connect(&request_of(CONNECTIONS)).await);
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
        let length = 10 * PROGRESS_BYTES;
        let head = format!("POST / HTTP/1.1\r\nHost: here\r\nHolder: 1\r\nContent-Length: {length}\r\n\r\n");
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

    /// Proves: page/slow-connections
    #[tokio::test]
    async fn the_oldest_stranger_makes_room_and_nobody_who_is_known() {
        let served = Served::with(Router::new().route("/", get(async || "ok"))).await;
        let mut known = Vec::new();
        for holder in 0..CONNECTIONS - STRANGERS {
            known.push(served.connect(&request_of(holder)).await);
            assert!(answer(known.last_mut().unwrap()).await.starts_with("HTTP/1.1 200 "));
        }
        let mut strangers = Vec::new();
        for opened in 0..3 * STRANGERS {
            strangers.push(served.connect(b"GET / HTTP/1.1\r\nHo").await);
            until(|| lock(&served.open.0).len() == known.len() + (opened + 1).min(STRANGERS)).await;
        }
        assert_eq!(answer(&mut strangers[0]).await, "", "the oldest is still there");
        let mut new = served.connect(&request_of(99)).await;
        assert!(answer(&mut new).await.starts_with("HTTP/1.1 200 "));
        for (holder, connection) in known.iter_mut().enumerate() {
            connection.write_all(&request_of(holder)).await.unwrap();
            assert!(answer(connection).await.starts_with("HTTP/1.1 200 "));
        }
        served.end().await;
    }

    #[tokio::test]
    async fn a_stranger_has_five_seconds() {
        let served = Served::with(Router::new().route("/", get(async || "ok"))).await;
        let mut stranger = served.connect(b"GET / HTTP/1.1\r\nHo").await;
        let mut known = served.connect(&request_of(1)).await;
        assert!(answer(&mut known).await.starts_with("HTTP/1.1 200 "));
        until(|| lock(&served.open.0).len() == 2).await;
        served.clock.advance(STRANGER_TIMEOUT).await;
        assert_eq!(answer(&mut stranger).await, "", "nothing but the end");
        known.write_all(&request_of(1)).await.unwrap();
        assert!(answer(&mut known).await.starts_with("HTTP/1.1 200 "));
        served.end().await;
    }

    #[tokio::test]
    async fn whoever_has_too_many_loses_their_own_oldest() {
        let all = Arc::new(Connections::default());
        let open: Vec<_> = (0..6).map(|_| all.add(false)).collect();
        for (at, one) in open.iter().enumerate() {
            one.connection.belongs_to(Some(i64::from(at == 0)), 3);
        }
        let closed: Vec<bool> = open.iter().map(|one| one.close.is_cancelled()).collect();
        assert_eq!(closed, [false, true, true, false, false, false]);
    }
}
