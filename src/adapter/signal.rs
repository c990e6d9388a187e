//! Signal, through the JSON-RPC interface of the signal-cli daemon.
//!
//! There are two connections to the daemon: one only receives ([`receive`]), the other only carries
//! requests ([`rpc_client`]), so that neither waits for the other. Received messages are handed
//! over one line at a time, and the next line stays with the daemon until the last one is in the
//! journal; responses come in any order and are matched by id. Both connections are opened on
//! demand and reopened when they break. `parse`, `envelope` and `render` are pure;
//! `docs/signal-wire.md` describes the protocol.
//!
//! The daemon delivers each message once and keeps no copy. A power failure can therefore lose one
//! line at most, plus the contents of the socket buffers. Kept in memory only: our account, the
//! state of the channel ([`health::HealthTracker`]), and the line that waits for the
//! journal.

mod daemon;
mod envelope;
mod health;
mod http;
mod jsonrpc;
mod parse;
mod probe;
mod receive;
mod render;
mod rpc_client;
mod send;
mod send_results;
mod socket;
mod stickers;
mod subscription;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::adapter::{Adapter, Batch, OutgoingPart, PartFormat, PollError, SendError, Typing, Unreadable};
use crate::config::{self, SignalEndpoint};
use crate::message::{ChannelKind, FetchFileError, Health, Inbound, Outbound, OutgoingFile, StartLink};
use crate::time::Clock;

use daemon::DaemonSupervisor;
use health::{HealthTracker, ProblemTopic};
use http::DaemonHttp;
pub use probe::DaemonProbe;
use receive::MessageReceiver;
use rpc_client::RpcClient;
use send::{DaemonInfo, SignalAccount};
use socket::DaemonAddress;
use subscription::{SubscriptionError, SubscriptionTransport};

/// Name of the channel in addresses.
const NAME: &str = ChannelKind::Signal.name();
/// Signal displays a typing indicator for fifteen seconds.
const TYPING_INTERVAL: Duration = Duration::from_secs(10);

/// One Signal account.
pub struct Signal {
    account: SignalAccount,
    receiver: MessageReceiver,
    /// Command of our own daemon; empty if it is started by other means.
    command: Vec<String>,
    /// Path at which it listens, if that is a Unix socket.
    socket: Option<PathBuf>,
}

impl Signal {
    /// Creates an account whose daemon has not been reached yet.
    ///
    /// # Errors
    ///
    /// If the daemon is reached by HTTP and its address is invalid, or no HTTP client can be built.
    pub fn new(config: &config::Signal, clock: Arc<dyn Clock>) -> anyhow::Result<Self> {
        let on_socket = |address: DaemonAddress| {
            (RpcClient::for_socket(address.clone(), Arc::clone(&clock)), SubscriptionTransport::Socket(address))
        };
        let (rpc, transport) = match &config.endpoint {
            SignalEndpoint::Unix(path) => on_socket(DaemonAddress::Unix(path.clone())),
            SignalEndpoint::Tcp(address) => on_socket(DaemonAddress::Tcp(address.clone())),
            SignalEndpoint::Http(base) => {
                let http = DaemonHttp::new(base)?;
                (RpcClient::for_http(http.clone(), Arc::clone(&clock)), SubscriptionTransport::Http(http))
            }
        };
        let socket = match &config.endpoint {
            SignalEndpoint::Unix(path) => Some(path.clone()),
            SignalEndpoint::Tcp(_) | SignalEndpoint::Http(_) => None,
        };
        let health = Arc::new(HealthTracker::default());
        let account = SignalAccount {
            clock: Arc::clone(&clock),
            rpc,
            health: Arc::clone(&health),
            configured: config.account.clone(),
            attachments_dir: config.attachments_dir.clone(),
            known: Mutex::default(),
            download_lock: tokio::sync::Mutex::default(),
        };
        let receiver = MessageReceiver::new(transport, clock, health);
        Ok(Self { account, receiver, command: config.command.clone(), socket })
    }

    /// Returns the task that keeps our own daemon running until `stop`; `None` if the daemon is
    /// started by other means. Dropping the task kills the daemon.
    pub fn daemon(&self, stop: CancellationToken) -> Option<BoxFuture<'static, ()>> {
        let daemon = DaemonSupervisor {
            command: self.command.clone(),
            socket: self.socket.clone(),
            clock: Arc::clone(&self.account.clock),
            health: Arc::clone(&self.account.health),
        };
        (!self.command.is_empty()).then(|| daemon.supervise(stop).boxed())
    }
}

#[async_trait]
impl Adapter for Signal {
    fn name(&self) -> &'static str {
        NAME
    }

    fn account(&self) -> String {
        self.account.name()
    }

    fn public_name(&self) -> Option<String> {
        Some(self.account.name()).filter(|name| name.starts_with('+'))
    }

    /// Signal's apps open a chat for such a link; it cannot carry a text.
    fn start_link(&self, _code: &str) -> Option<StartLink> {
        self.public_name().map(|number| StartLink::Chat(format!("https://signal.me/#p/{number}")))
    }

    async fn connect(&self) -> Result<(), PollError> {
        let us = &self.account;
        let lost = |error: &PollError| us.health.lost(&SubscriptionError::Disconnected(error.to_string()));
        let daemon = self.probe().await.inspect_err(lost)?;
        match daemon.account(us.configured.as_deref()) {
            Ok(account) => {
                *us.known() = DaemonInfo { account: Some(account), version: daemon.numbers() };
                us.health.clear(&ProblemTopic::Account);
                Ok(())
            }
            Err(sentence) => {
                us.health.report(ProblemTopic::Account, sentence.to_owned());
                Err(PollError::BadToken)
            }
        }
    }

    async fn next(&self, _cursor: Option<&str>) -> Result<Batch, PollError> {
        let Batch { mut items, cursor } = self.receiver.next(&self.account.name()).await?;
        for item in &mut items {
            *item = self.account.with_emoji(std::mem::take(item)).await;
        }
        Ok(Batch { items, cursor })
    }

    fn parse(&self, raw: &str) -> Result<Inbound, Unreadable> {
        parse::parse(raw, &self.account.name())
    }

    fn sender_name(&self, raw: &str) -> String {
        parse::sender_name(raw)
    }

    async fn ack(&self, _cursor: Option<&str>) {
        self.receiver.acknowledge();
    }

    fn render(&self, outbound: &Outbound) -> Vec<OutgoingPart> {
        render::render(outbound)
    }

    fn with_prefix(&self, piece: &OutgoingPart, words: &str) -> OutgoingPart {
        render::with_prefix(piece, words)
    }

    async fn send(&self, peer: &str, piece: &OutgoingPart, form: PartFormat) -> Result<String, SendError> {
        self.account.send_part(peer, piece, form).await
    }

    async fn edit(
        &self,
        peer: &str,
        external_id: &str,
        piece: &OutgoingPart,
        form: PartFormat,
    ) -> Result<(), SendError> {
        self.account.edit_part(peer, external_id, piece, form).await
    }

    /// Replies are not streamed: every edit notifies everybody in the chat and stays in the visible
    /// edit history.
    fn edit_interval(&self) -> Option<Duration> {
        None
    }

    async fn typing(&self, peer: &str, typing: Typing) {
        self.account.send_typing(peer, typing).await;
    }

    fn typing_interval(&self) -> Duration {
        TYPING_INTERVAL
    }

    async fn mark_read(&self, _peer: &str, external_id: &str) {
        self.account.send_receipt(external_id).await;
    }

    async fn send_file(&self, peer: &str, file: &OutgoingFile) -> Result<String, SendError> {
        self.account.send_file(peer, file).await
    }

    async fn react(&self, peer: &str, external_id: &str, emoji: &str) -> Result<(), SendError> {
        self.account.send_reaction(peer, external_id, emoji).await
    }

    async fn fetch(&self, reference: &str, max: u64) -> Result<Vec<u8>, FetchFileError> {
        self.account.fetch_file(reference, max).await
    }

    fn health(&self) -> Health {
        self.account.health.health(self.account.clock.now())
    }

    async fn health_changed(&self) {
        self.account.health.changed().await;
    }
}
