//! A signal-cli daemon for tests: it behaves as the real one was measured, with faults on demand.
//!
//! It listens on a Unix socket, a TCP port and HTTP at once, with one account, ours. A story starts
//! it, gives `endpoint` to the program under test, sends messages from people and checks the
//! replies:
//!
//! ```ignore
//! let fake = FakeSignal::start().await;
//! let ada = fake.person(7, "Ada", None);
//! fake.says(ada, "Good evening");
//! fake.until(|fake| fake.sent(ada).len() == 1).await;
//! ```
//!
//! Modules in the order in which a test meets them: `driving` (people, groups, incoming envelopes),
//! `draft` (one message with quotes, files, timers), `envelope` (its form on the wire), `faults`
//! (faults on demand), `observing` (sent messages, and waiting for them). Below them: `server` (the
//! thread and its listeners), `lines` (the two sockets), `http`, `rpc` (common handling of
//! requests), `methods` (the individual methods), `sending` (`send` and the outcome for each
//! recipient), `outward` (output of the daemon) and `state`.
//!
//! Messages stay on "Signal's server" until a client subscribes. A message written to a subscriber
//! is gone from there, read or not: the real daemon delivers at most once and gets no
//! acknowledgement. To let a test wait until a message is stored nevertheless, every envelope
//! carries a number in an unknown field, and the test reports stored numbers (`stored`).
//!
//! People and groups have the same small numbers as on the fake Telegram server, and a message is
//! named by its timestamp, as everywhere on Signal. The daemon runs in a thread with its own
//! runtime; only timestamps follow `set_now`. Every method of the handle except the waiting ones is
//! synchronous and callable from any thread.

mod draft;
mod driving;
mod envelope;
mod faults;
mod http;
mod lines;
mod methods;
mod observing;
mod outward;
mod rpc;
mod sending;
mod server;
mod state;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

pub use draft::Draft;
pub use faults::{Failure, Fault, Which};
pub use observing::{Edit, Sent, SentFile};
pub use state::{ChatId, MessageId, OWN_NUMBER, OWN_UUID, UpdateId, Violation, group_id, number, uuid};

use super::fake::Running;
use server::DaemonListeners;
use state::Shared;

/// A handle to the running fake. Clones share it; the daemon stops with the last of them.
#[derive(Clone)]
pub struct FakeSignal {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    // Dropped before the folder, which must outlive the server.
    running: Mutex<Option<Running>>,
    folder: tempfile::TempDir,
    tcp: SocketAddr,
    http: SocketAddr,
}

/// Transport of a connection to the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Unix,
    Tcp,
    Http,
}

impl Transport {
    pub const ALL: [Self; 3] = [Self::Unix, Self::Tcp, Self::Http];
}

impl FakeSignal {
    /// Starts the daemon on its own socket and two free ports.
    pub async fn start() -> Self {
        Self::start_sync()
    }

    /// Starts the fake without a runtime.
    pub fn start_sync() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the socket");
        std::fs::create_dir(folder.path().join("attachments")).expect("a folder for attachments");
        let free = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let (tcp, http) = (free(), free());
        let address = |listener: &TcpListener| listener.local_addr().expect("the bound address");
        let (tcp_address, http_address) = (address(&tcp), address(&http));
        let unix = UnixListener::bind(folder.path().join("socket")).expect("a socket");
        let shared = state::shared(folder.path().join("attachments"));
        let running = server::start(DaemonListeners { unix, tcp, http }, shared.clone());
        let running = Mutex::new(Some(running));
        Self { inner: Arc::new(Inner { shared, running, folder, tcp: tcp_address, http: http_address }) }
    }

    /// Value of `endpoint`.
    pub fn endpoint(&self, transport: Transport) -> String {
        match transport {
            Transport::Unix => format!("unix:{}", self.socket().display()),
            Transport::Tcp => format!("tcp:{}", self.inner.tcp),
            Transport::Http => format!("http://{}", self.inner.http),
        }
    }

    /// The path of the Unix socket.
    pub fn socket(&self) -> PathBuf {
        self.inner.folder.path().join("socket")
    }

    /// Folder of received files, named by their ids.
    pub fn attachments_dir(&self) -> PathBuf {
        self.inner.folder.path().join("attachments")
    }

    /// The account's number.
    pub fn account(&self) -> &'static str {
        OWN_NUMBER
    }

    /// Kills the daemon: every connection closes, the socket file stays. Messages that wait for a
    /// subscriber are kept.
    pub fn stop(&self) {
        let running = self.inner.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(running);
        self.change(|state| state.forget_connections());
    }

    /// Stops the daemon as an operator does: the socket file is removed too.
    pub fn stop_cleanly(&self) {
        self.stop();
        let _ = std::fs::remove_file(self.socket());
    }

    /// Serves again at the same three addresses, after removal of the dead socket as by an
    /// operator.
    pub fn restart(&self) {
        self.stop_cleanly();
        let bind = |address| TcpListener::bind(address).expect("the port of before");
        let (tcp, http) = (bind(self.inner.tcp), bind(self.inner.http));
        let unix = UnixListener::bind(self.socket()).expect("the socket of before");
        let running = server::start(DaemonListeners { unix, tcp, http }, self.inner.shared.clone());
        *self.inner.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(running);
    }

    /// Replaces the source of time (milliseconds since 1970) for stamps and deadlines.
    pub fn set_now(&self, now: Arc<dyn Fn() -> i64 + Send + Sync>) {
        self.change(|state| state.now = now);
    }

    /// Current time of the fake in milliseconds.
    pub fn now_ms(&self) -> i64 {
        self.read(|state| state.now_ms())
    }

    fn read<T>(&self, look: impl FnOnce(&state::State) -> T) -> T {
        look(&self.inner.shared.lock())
    }

    fn change<T>(&self, alter: impl FnOnce(&mut state::State) -> T) -> T {
        self.inner.shared.change(alter)
    }
}
