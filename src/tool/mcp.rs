//! Tools of other programs (MCP servers), and the conditions under which a model may use them.
//!
//! A server states the names, descriptions and parameters of its tools. This text goes into a
//! prompt, so a tool is offered only while the owner has accepted exactly this text, by its digest.
//! The offer comes from the journal and not from the server, so a server that is down changes no
//! prompt: its tools answer that they are unavailable. Right before each call the server is asked
//! again, because a server may show an honest description once and another one later. The results
//! of a tool are always untrusted, and a server's instructions about itself are never read.
//!
//! Each server has one task that connects, reconnects with growing pauses, and records the listed
//! tools ([`server`]). Servers are not sandboxed: a program started here runs as the same user,
//! with that user's permissions.

mod connection;
mod register;
mod server;
mod tool;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::Tool;
use super::pictures::PictureStore;
use crate::config::Mcp;
use crate::id::PersonId;
use crate::memory::Workspace;
use crate::model::ToolSpec;
use crate::store::{Journal, OutsideToolRow};
use crate::time::{Clock, Timestamp};
use register::Register;
use server::Server;
use tool::OutsideTool;

pub use register::{offered_name, source};

/// Time limits for servers. They use real time: a simulated clock cannot interrupt a program that
/// hangs.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// From start to the complete list of tools.
    pub connect: Duration,
    /// For one call.
    pub call: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connect: Duration::from_secs(60), call: Duration::from_secs(60) }
    }
}

/// State of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// Digest of each tool that it lists now; empty while it is not connected.
    pub listed: BTreeMap<String, String>,
    /// Start of the connection.
    pub since: Option<Timestamp>,
    /// Number of restarts.
    pub restarts: u32,
    /// Present problem, in our own words.
    pub trouble: Option<String>,
    /// Number of its tools that are unusable because their names or sizes are out of bounds.
    pub refused: usize,
}

/// All servers.
pub struct Servers {
    servers: BTreeMap<String, Arc<Server>>,
    register: Arc<Register>,
    store: PictureStore,
}

impl Servers {
    /// Creates the configured servers, with the journal's knowledge of their tools. Their files go
    /// into that workspace. Starts nothing yet.
    pub async fn open(
        configured: &[Mcp],
        journal: Journal,
        workspace: Workspace,
        clock: Arc<dyn Clock>,
        limits: Limits,
    ) -> anyhow::Result<Arc<Self>> {
        let store = PictureStore { journal: journal.clone(), workspace };
        let names = configured.iter().map(|server| server.name.clone()).collect();
        let register = Arc::new(Register::open(names, journal, clock).await?);
        let server = |config: &Mcp| {
            let server = Server::new(config.clone(), limits, Arc::clone(&register));
            (config.name.clone(), Arc::new(server))
        };
        Ok(Arc::new(Self { servers: configured.iter().map(server).collect(), register, store }))
    }

    /// Returns the tasks of all servers, to be run until `stop`.
    pub fn work(&self, stop: &CancellationToken) -> Vec<BoxFuture<'static, ()>> {
        self.servers.values().map(|server| Arc::clone(server).work(stop.clone())).collect()
    }

    /// Returns the descriptions of the tools that may be offered. The same list is returned until
    /// something changes.
    pub fn specs(&self) -> Arc<[ToolSpec]> {
        Arc::clone(&self.register.offer().specs)
    }

    /// Returns the tool offered under this name.
    pub fn find(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let offer = self.register.offer();
        let accepted = offer.tools.get(name)?;
        let server = self.servers.get(&accepted.server)?;
        Some(Arc::new(OutsideTool::new(Arc::clone(server), accepted.clone(), self.store.clone())))
    }

    /// Returns every tool that was ever seen and not forgotten, by server and name.
    pub async fn seen(&self) -> anyhow::Result<Vec<OutsideToolRow>> {
        self.register.seen().await
    }

    /// Records that the owner accepts a tool as in this row, with its marks. Returns false if the
    /// tool has changed since.
    pub async fn accept(&self, row: &OutsideToolRow, by: Option<PersonId>) -> anyhow::Result<bool> {
        self.register.accept(row, by).await
    }

    /// Returns the state of each server.
    pub fn conditions(&self) -> Vec<(String, Condition)> {
        self.servers.iter().map(|(name, server)| (name.clone(), server.condition())).collect()
    }

    /// Returns a receiver that changes whenever a tool or the state of a server does.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.register.changes()
    }
}
