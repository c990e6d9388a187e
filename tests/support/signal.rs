//! A signal-cli daemon for tests: as the real one was measured, and as unreliable as a test wants
//! it.
//!
//! It listens on a Unix socket, a TCP port and by HTTP, all at once, with one account of ours on
//! it. A story starts it, gives `endpoint` to the program under test, lets people speak and looks
//! at what they were sent:
//!
//! ```ignore
//! let fake = FakeSignal::start().await;
//! let ada = fake.person(7, "Ada", None);
//! fake.says(ada, "Good evening");
//! fake.until(|fake| fake.sent(ada).len() == 1).await;
//! ```
//!
//! The parts, in the order in which a test meets them: `driving` (people, groups, everything that
//! can be received), `draft` (one message with quotes, files, timers), `envelope` (how that looks
//! on the wire), `faults` (what goes wrong, on demand), `observing` (what was sent, and waiting for
//! it). Below them stand `server` (the thread and its doors), `lines` (the two sockets), `http`,
//! `rpc` (what the daemon does with any request), `methods` (what each method does), `sending`
//! (`send` and the outcome for each recipient), `outward` (what leaves the daemon) and `state`.
//!
//! Messages lie on "Signal's server" until somebody subscribes. What was written to a subscriber is
//! gone from there, whether it was read or not: the real daemon hands over at most once and hears
//! of nothing. So that a test can wait until a message is in safety all the same, every envelope
//! carries a number in a field that nobody knows, and the test says which were stored (`stored`).
//!
//! People and groups have the same small numbers as on the fake Telegram server, and a message is
//! named by its time stamp, as everywhere on Signal. The daemon runs in a thread with a runtime of
//! its own; only stamps follow `set_now`. Every method of the handle is synchronous and may be
//! called from any thread, but for those that wait.

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

/// A handle on the running fake. Clones share it; the daemon stops with the last of them.
#[derive(Clone)]
pub struct FakeSignal {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    // Before the folder, which is gone only when nobody serves in it any more.
    running: Mutex<Option<Running>>,
    folder: tempfile::TempDir,
    tcp: SocketAddr,
    http: SocketAddr,
}

/// How the daemon is reached.
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
    /// The method that sends, as `calls` names it.
    pub const SEND: &'static str = "send";
    /// The label of what `forwards` brings, without the item that it came in.
    pub const PASSED_ON: &'static str = "preview";
    /// As what the journal keeps that.
    pub const PASSED_ON_AS: &'static str = "carried";
    /// How many cases of one kind are told that take days.
    pub const MANY: usize = 2;
    /// Whether what was not stored comes again.
    pub const GIVES_AGAIN: bool = false;
    /// Work on the journal that there is no occasion for.
    pub const NEVER_COMMITS: &'static [&'static str] = &["begin a preview", "keep a preview", "drop a preview"];
    /// How many batches are committed when nobody has said anything yet: the sign that the daemon
    /// lets us listen.
    pub const BATCHES_BEFORE: u32 = 1;

    /// Starts the daemon on a socket and two free ports of its own.
    pub async fn start() -> Self {
        Self::start_sync()
    }

    /// `start` for a test without a runtime.
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

    /// What to put into `endpoint`.
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

    /// Where files that came in lie, named by their ids.
    pub fn attachments_dir(&self) -> PathBuf {
        self.inner.folder.path().join("attachments")
    }

    /// The account's number.
    pub fn account(&self) -> &'static str {
        OWN_NUMBER
    }

    /// Kills the daemon: every connection closes, the file of the socket stays. What waits for a
    /// subscriber is kept.
    pub fn stop(&self) {
        let running = self.inner.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(running);
        self.change(|state| state.forget_connections());
    }

    /// Ends the daemon as an operator does: the socket goes too.
    pub fn stop_cleanly(&self) {
        self.stop();
        let _ = std::fs::remove_file(self.socket());
    }

    /// Serves again at the same three places, as an operator who removes the dead socket does.
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

    /// The fake's present time in milliseconds.
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
