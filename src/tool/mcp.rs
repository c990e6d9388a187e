//! Tools of other programs (MCP servers), and what has to be true before a model may use one.
//!
//! A server says what its tools are called, what they do and what they take; those words go into a
//! prompt, so a tool is offered only while the owner has accepted exactly these words, by their
//! digest. What is offered comes from the journal and not from the server, so a server that is down
//! changes no prompt: its tools answer that they are unavailable. Right before each call the server
//! is asked again, because one that shows an honest description once may show another later. What a
//! tool gives is always untrusted, and instructions that a server sends about itself are never
//! read.
//!
//! Each server has one task that connects, restarts it with growing pauses, and notes what it lists
//! ([`server`]). A server is not fenced in: a program that is started here runs as the same user
//! and may do what that user may.

mod describe;
mod link;
mod program;
mod register;
mod result;
mod server;
mod tool;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::Tool;
use crate::config::Mcp;
use crate::id::PersonId;
use crate::model::ToolSpec;
use crate::store::{Journal, OutsideToolRow};
use crate::time::{Clock, Timestamp};
use register::Register;
use server::Server;
use tool::OutsideTool;

pub use describe::offered_name;

/// How long a server may take. Real time: no other clock can hold a program that hangs.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// From its start until it has said what its tools are.
    pub connect: Duration,
    /// For one call.
    pub call: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connect: Duration::from_secs(60), call: Duration::from_secs(60) }
    }
}

/// How a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The digest of each tool that it lists now; none while it is not connected.
    pub listed: BTreeMap<String, String>,
    /// Connected since then.
    pub since: Option<Timestamp>,
    /// How often it had to be started again.
    pub restarts: u32,
    /// What is wrong, in our own words.
    pub trouble: Option<String>,
    /// How many of its tools cannot be used, because their names or sizes are out of bounds.
    pub refused: usize,
}

/// All servers.
pub struct Servers {
    servers: BTreeMap<String, Arc<Server>>,
    register: Arc<Register>,
}

impl Servers {
    /// The configured servers, with what the journal knows of their tools. Nothing is started yet.
    pub async fn open(
        configured: &[Mcp],
        journal: Journal,
        clock: Arc<dyn Clock>,
        limits: Limits,
    ) -> anyhow::Result<Arc<Self>> {
        let names = configured.iter().map(|server| server.name.clone()).collect();
        let register = Arc::new(Register::open(names, journal, clock).await?);
        let server = |config: &Mcp| {
            let server = Server::new(config.clone(), limits, Arc::clone(&register));
            (config.name.clone(), Arc::new(server))
        };
        Ok(Arc::new(Self { servers: configured.iter().map(server).collect(), register }))
    }

    /// The work of each server, to be run until `stop`.
    pub fn work(&self, stop: &CancellationToken) -> Vec<BoxFuture<'static, ()>> {
        self.servers.values().map(|server| Arc::clone(server).work(stop.clone())).collect()
    }

    /// How the tools that may be offered are described. The same list is given again until
    /// something changes.
    pub fn specs(&self) -> Arc<[ToolSpec]> {
        self.register.offer().specs()
    }

    /// The tool that is offered under that name.
    pub fn find(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let offer = self.register.offer();
        let accepted = offer.find(name)?;
        let server = self.servers.get(&accepted.server)?;
        Some(Arc::new(OutsideTool::new(Arc::clone(server), accepted.clone())))
    }

    /// Every tool that was ever seen and not forgotten, by server and name.
    pub async fn seen(&self) -> anyhow::Result<Vec<OutsideToolRow>> {
        self.register.seen().await
    }

    /// The owner accepts a tool as it is under that digest. False if that is not what was seen
    /// last.
    pub async fn accept(&self, row: &OutsideToolRow, by: Option<PersonId>) -> anyhow::Result<bool> {
        self.register.accept(row, by).await
    }

    /// How each server is.
    pub fn conditions(&self) -> Vec<(String, Condition)> {
        self.servers.iter().map(|(name, server)| (name.clone(), server.condition())).collect()
    }

    /// Changes whenever a tool or the condition of a server does.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.register.changes()
    }
}
