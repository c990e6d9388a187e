//! A Telegram Bot API server for tests, as strict and as unreliable as the real one.
//!
//! A story starts it, gives `url()` and `token()` to the program under test, sends messages from
//! people and checks the replies:
//!
//! ```ignore
//! let fake = FakeTelegram::start().await;
//! let ada = fake.person(7, "Ada", Some("ada"));
//! fake.says(ada, "Good evening");
//! fake.until(|fake| fake.sent(ada).len() == 1).await;
//! ```
//!
//! Modules in the order in which a test meets them: `driving` (people, groups, incoming updates),
//! `draft` (one message with marks such as reply, forward, photo), `faults` (faults on demand),
//! `observing` (sent messages, and waiting for them). Below them: `server` (HTTP), `polling`
//! (`getUpdates`), `webhook` (calls of the bot), `methods` (all other methods), `upload` (files),
//! `markup` (the HTML subset) and `state`.
//!
//! The server runs in a thread with its own runtime, so it lives on real time even if the test has
//! a simulated clock; only timestamps and flood deadlines follow `set_now`. Every method of the
//! handle is synchronous and callable from any thread; waiting methods are `async` (or `wait_for`,
//! for threads without a runtime).

mod draft;
mod driving;
mod faults;
mod markup;
mod methods;
mod observing;
mod polling;
mod server;
mod state;
mod upload;
mod webhook;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};

pub use draft::Draft;
pub use faults::Fault;
pub use observing::{Edit, Sent, Upload};
pub use state::{CallbackAnswer, ChatId, MessageId, UpdateId, Violation};

use super::fake::Running;
use state::Shared;

/// The one token that the fake accepts.
const TOKEN: &str = "4200000042:AAFakeTelegramTokenForTests_0123456789";

/// A handle to the running fake. Clones share it; the server stops with the last of them.
#[derive(Clone)]
pub struct FakeTelegram {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    address: SocketAddr,
    running: Mutex<Option<Running>>,
}

impl FakeTelegram {
    /// Starts the fake on a free port of the loopback interface.
    pub async fn start() -> Self {
        Self::start_sync()
    }

    /// Starts the fake without a runtime.
    pub fn start_sync() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("the bound address");
        let shared = state::shared();
        let running = Mutex::new(Some(server::start(listener, shared.clone())));
        let inner = Arc::new(Inner { shared, address, running });
        Self { inner }
    }

    /// Value of `api_url`.
    pub fn url(&self) -> String {
        format!("http://{}", self.inner.address)
    }

    /// The bot's token; any other one is answered with 401.
    pub fn token(&self) -> &'static str {
        TOKEN
    }

    /// The bot's own user id.
    pub fn bot_id(&self) -> i64 {
        state::BOT_ID
    }

    /// The bot's user name, without the at sign.
    pub fn bot_username(&self) -> &'static str {
        state::BOT_USERNAME
    }

    /// Closes the port and every connection. Keeps all state.
    pub fn stop(&self) {
        let running = self.inner.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(running);
    }

    /// Serves again on the same port, with all queued and sent messages.
    pub fn restart(&self) {
        self.stop();
        let listener = TcpListener::bind(self.inner.address).expect("the port of before");
        let running = server::start(listener, self.inner.shared.clone());
        *self.inner.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(running);
    }

    /// Replaces the source of time (milliseconds since 1970) for message dates and flood deadlines.
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
