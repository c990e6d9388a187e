//! Signal, through the JSON-RPC interface of the signal-cli daemon.
//!
//! There are two connections to the daemon: one only receives ([`receive`]), the other only carries
//! requests ([`rpc_client`]), so that neither waits for the other. Received messages are handed
//! over one line at a time, and the next line stays with the daemon until the last one is in the
//! journal; responses come in any order and are matched by id. Both connections are opened on
//! demand and reopened when they break. `parse`, `envelope` and `text` are pure;
//! `docs/signal-wire.md` describes the protocol.
//!
//! The daemon delivers each message once and keeps no copy. A power failure can therefore lose one
//! line at most, plus the contents of the socket buffers. Kept in memory only: our account, the
//! state of the channel ([`daemon_health::HealthTracker`]), and the line that waits for the
//! journal.

mod rpc_client;
mod daemon;
mod subscription;
mod envelope;
mod rpc_connection;
mod download;
mod receive;
mod http;
mod socket;
mod probe;
mod message_key;
mod parse;
mod daemon_health;
mod send_results;
mod send;
mod sse;
mod render;
mod timeout;
mod jsonrpc;

#[cfg(test)]
mod tests;

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::adapter::{
    Adapter, Batch, FetchFileError, MenuEntry, OutgoingPart, PartFormat, PollError, SendError, Typing, Unreadable,
};
use crate::config::{self, SignalEndpoint};
use crate::message::{Health, Inbound, Outbound, OutgoingFile};
use crate::people::Role;
use crate::time::Clock;

use daemon::DaemonSupervisor;
use daemon_health::{HealthTracker, ProblemTopic};
use http::DaemonHttp;
use jsonrpc::Params;
pub use probe::DaemonProbe;
use receive::MessageReceiver;
use rpc_client::RpcClient;
use socket::DaemonAddress;
use subscription::SubscriptionTransport;

/// Name of the channel in addresses.
const NAME: &str = "signal";
/// Signal displays a typing indicator for fifteen seconds.
const TYPING_PACE: Duration = Duration::from_secs(10);

/// One Signal account.
pub struct Signal {
    clock: Arc<dyn Clock>,
    rpc: RpcClient,
    listener: MessageReceiver,
    health_tracker: Arc<HealthTracker>,
    configured: Option<String>,
    attachments_dir: Option<PathBuf>,
    command: Vec<String>,
    socket: Option<PathBuf>,
    daemon_state: Mutex<DaemonInfo>,
    fetching: tokio::sync::Mutex<()>,
}

/// Facts learned from the daemon on connecting.
#[derive(Default)]
struct DaemonInfo {
    account: Option<String>,
    version: (u64, u64, u64),
}

impl Signal {
    /// Creates an account whose daemon has not been reached yet.
    ///
    /// # Errors
    ///
    /// If the daemon is reached by HTTP and its address is invalid, or no HTTP client can be built.
    pub fn new(config: &config::Signal, clock: Arc<dyn Clock>) -> anyhow::Result<Self> {
        let place = match &config.endpoint {
            SignalEndpoint::Unix(path) => Ok(DaemonAddress::Unix(path.clone())),
            SignalEndpoint::Tcp(place) => Ok(DaemonAddress::Tcp(place.clone())),
            SignalEndpoint::Http(base) => Err(DaemonHttp::new(base)?),
        };
        let (asker, side) = match place {
            Ok(place) => {
                (RpcClient::for_socket(place.clone(), Arc::clone(&clock)), SubscriptionTransport::Lines(place))
            }
            Err(http) => (RpcClient::for_http(http.clone(), Arc::clone(&clock)), SubscriptionTransport::Http(http)),
        };
        let socket = match &config.endpoint {
            SignalEndpoint::Unix(path) => Some(path.clone()),
            SignalEndpoint::Tcp(_) | SignalEndpoint::Http(_) => None,
        };
        let pulse = Arc::new(HealthTracker::default());
        Ok(Self {
            listener: MessageReceiver::new(side, Arc::clone(&clock), Arc::clone(&pulse)),
            clock,
            rpc: asker,
            health_tracker: pulse,
            configured: config.account.clone(),
            attachments_dir: config.attachments_dir.clone(),
            command: config.command.clone(),
            socket,
            daemon_state: Mutex::default(),
            fetching: tokio::sync::Mutex::default(),
        })
    }

    /// Returns the task that keeps our own daemon running until `stop`; `None` if the daemon is
    /// started by other means. Dropping the task kills the daemon.
    pub fn daemon(&self, stop: CancellationToken) -> Option<BoxFuture<'static, ()>> {
        let (words, socket) = (self.command.clone(), self.socket.clone());
        let daemon = DaemonSupervisor {
            command: words,
            socket,
            clock: Arc::clone(&self.clock),
            pulse: Arc::clone(&self.health_tracker),
        };
        (!self.command.is_empty()).then(|| daemon.supervise(stop).boxed())
    }

    fn known(&self) -> MutexGuard<'_, DaemonInfo> {
        self.daemon_state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn our_account(&self) -> String {
        self.known().account.clone().or_else(|| self.configured.clone()).unwrap_or_default()
    }

    fn is_at_least(&self, version: (u64, u64, u64)) -> bool {
        self.known().version >= version
    }

    /// Common parameters of all requests for our account.
    fn params(&self) -> Params {
        let account = Some(self.our_account()).filter(|account| !account.is_empty());
        account.into_iter().map(|account| ("account".to_owned(), account.into())).collect()
    }
}

#[async_trait]
impl Adapter for Signal {
    fn name(&self) -> &'static str {
        NAME
    }

    fn account(&self) -> String {
        self.our_account()
    }

    async fn connect(&self) -> Result<(), PollError> {
        let look = self.probe().await.inspect_err(|error| {
            self.health_tracker.lost(&subscription::SubscriptionError::Disconnected(error.to_string()))
        })?;
        match probe::choose_account(self.configured.as_deref(), look.accounts.as_deref()) {
            Ok(account) => {
                *self.known() = DaemonInfo { account: Some(account), version: probe::version(&look.version) };
                self.health_tracker.settle(&ProblemTopic::Account);
                Ok(())
            }
            Err(sentence) => {
                self.health_tracker.note(ProblemTopic::Account, sentence.to_owned());
                Err(PollError::BadToken)
            }
        }
    }

    async fn next(&self, _cursor: Option<&str>) -> Result<Batch, PollError> {
        self.listener.next(&self.our_account()).await
    }

    fn parse(&self, raw: &str) -> Result<Inbound, Unreadable> {
        parse::parse(raw, &self.our_account())
    }

    async fn ack(&self, _cursor: Option<&str>) {
        self.listener.acknowledge();
    }

    fn render(&self, outbound: &Outbound) -> Vec<OutgoingPart> {
        render::render(outbound)
    }

    fn with_prefix(&self, piece: &OutgoingPart, words: &str) -> OutgoingPart {
        render::with_prefix(piece, words)
    }

    async fn send(&self, peer: &str, piece: &OutgoingPart, form: PartFormat) -> Result<String, SendError> {
        self.sender().send_part(peer, piece, form).await
    }

    async fn edit(
        &self,
        peer: &str,
        external_id: &str,
        piece: &OutgoingPart,
        form: PartFormat,
    ) -> Result<(), SendError> {
        self.sender().edit_part(peer, external_id, piece, form).await
    }

    /// Every edit notifies everybody in the chat and stays in the visible edit history, so replies
    /// are not streamed.
    fn edit_interval(&self) -> Option<Duration> {
        None
    }

    async fn stream_delta(&self, _peer: &str, _delta: &str, _answers: &[String]) {}

    async fn typing(&self, peer: &str, typing: Typing) {
        self.sender().send_typing(peer, typing).await;
    }

    fn typing_interval(&self) -> Duration {
        TYPING_PACE
    }

    async fn mark_read(&self, _peer: &str, external_id: &str) {
        self.sender().send_receipt(external_id).await;
    }

    async fn send_file(&self, peer: &str, file: &OutgoingFile) -> Result<String, SendError> {
        self.sender().send_a_file(peer, file).await
    }

    async fn react(&self, peer: &str, external_id: &str, emoji: &str) -> Result<(), SendError> {
        self.sender().send_reaction(peer, external_id, emoji).await
    }

    async fn acknowledge_button(&self, _callback: &str) {}

    async fn fetch(&self, reference: &str, max: u64) -> Result<Vec<u8>, FetchFileError> {
        self.sender().fetch_file(reference, max).await
    }

    async fn register_menu(&self, _commands: &[MenuEntry], _peers: &[(String, Role)]) {}

    fn health(&self) -> Health {
        self.health_tracker.health(self.clock.now())
    }
}

/// Delivery over Signal.
#[derive(Clone, Copy)]
pub struct SignalSender<'a> {
    pub(super) signal: &'a Signal,
}

impl Deref for SignalSender<'_> {
    type Target = Signal;

    fn deref(&self) -> &Signal {
        self.signal
    }
}

impl Signal {
    /// Delivery over Signal.
    pub fn sender(&self) -> SignalSender<'_> {
        SignalSender { signal: self }
    }
}
