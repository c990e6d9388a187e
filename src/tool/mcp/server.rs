//! A server: the task that keeps it connected, and the calls over the connection.
//!
//! The task counts as active while it connects and lists, so that a simulated clock waits for it,
//! and is idle otherwise. When a connection ends or its list cannot be read, the task restarts it
//! after a pause that doubles up to five minutes; after a connection that lasted that long, the
//! pause starts from the shortest again. A server that keeps reporting changed tools is listed at
//! most once a second.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use rmcp::model::{CallToolResult, JsonObject};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::connection::{McpConnection, McpError, McpHandle, within};
use super::register::Listing;
use super::register::{Accepted, Register};
use super::{Condition, Limits};
use crate::config::Mcp;
use crate::time::clock::ActivityGuard;
use crate::time::task::{guarded, lock};
use crate::time::{Backoff, Timestamp};

/// Pauses before restarts.
const RESTART: Backoff = Backoff { first: Duration::from_secs(1), longest: Duration::from_secs(300) };
/// Minimum interval between two lists requested by the server.
const BETWEEN_LISTS: Duration = Duration::from_secs(1);

/// An MCP server.
pub struct Server {
    config: Mcp,
    limits: Limits,
    register: Arc<Register>,
    changed: Arc<Notify>,
    state: Mutex<ServerState>,
}

struct ServerState {
    line: Option<McpHandle>,
    condition: Condition,
}

impl Server {
    /// Creates a server that is not connected yet.
    pub fn new(config: Mcp, limits: Limits, register: Arc<Register>) -> Self {
        let condition = Condition { listed: BTreeMap::new(), since: None, restarts: 0, trouble: None, refused: 0 };
        let state = Mutex::new(ServerState { line: None, condition });
        Self { config, limits, register, changed: Arc::default(), state }
    }

    /// Returns the state.
    pub fn condition(&self) -> Condition {
        self.with_state(|state| state.condition.clone())
    }

    /// Returns whether this tool may be used without approval in any turn.
    pub fn trusts_to_read(&self, tool: &str) -> bool {
        self.config.trusted_read_only.contains(tool)
    }

    /// Returns the present time.
    pub fn now(&self) -> Timestamp {
        self.register.clock().now()
    }

    /// Checks whether a tool could be called, as far as is known without a request.
    pub fn check(&self, tool: &Accepted) -> Result<(), McpError> {
        match self.with_state(|state| state.condition.listed.get(&tool.name).cloned()) {
            None => Err(McpError::Away),
            Some(digest) if digest != tool.digest => Err(McpError::Changed),
            Some(_) => Ok(()),
        }
    }

    /// Calls a tool, if its present description is the accepted one.
    pub async fn call(&self, tool: &Accepted, arguments: JsonObject) -> Result<CallToolResult, McpError> {
        let line = self.with_state(|state| state.line.clone()).ok_or(McpError::Away)?;
        let call = async {
            let listing = self.list(&line).await?;
            match listing.tools.iter().find(|listed| listed.name == tool.name) {
                None => Err(McpError::Away),
                Some(listed) if listed.digest != tool.digest => Err(McpError::Changed),
                Some(_) => line.call(&tool.name, arguments).await,
            }
        };
        let result = within(self.limits.call, call).await.flatten();
        if result == Err(McpError::Broken) {
            // A connection over HTTP does not end by itself: the task notices when it lists.
            self.changed.notify_one();
        }
        result
    }

    /// Keeps the server connected until `stop`.
    pub fn work(self: Arc<Self>, stop: CancellationToken) -> BoxFuture<'static, ()> {
        let busy = self.register.clock().busy();
        async move { self.maintain(busy, &stop).await }.boxed()
    }
}

impl Server {
    async fn maintain(&self, mut busy: ActivityGuard, stop: &CancellationToken) {
        let clock = self.register.clock();
        let mut failures = 0_u32;
        loop {
            let began = clock.now();
            busy = guarded("An outside server's task", self.session(busy, stop)).await.unwrap_or_else(|error| {
                tracing::error!("Outside server {}: {error:#}", self.config.name);
                clock.busy()
            });
            self.leave();
            let lasted = clock.now().since(began) >= RESTART.longest;
            failures = if lasted { 1 } else { failures.saturating_add(1) };
            tokio::select! {
                rested = busy.rest(clock, RESTART.pause(failures)) => busy = rested,
                () = stop.cancelled() => return,
            }
            self.note(|condition| condition.restarts = condition.restarts.saturating_add(1));
        }
    }

    /// Runs one connection from start to end.
    async fn session(&self, busy: ActivityGuard, stop: &CancellationToken) -> anyhow::Result<ActivityGuard> {
        let opening = McpConnection::open(&self.config, Arc::clone(&self.changed), self.limits.connect);
        let opened = tokio::select! {
            opened = opening => opened,
            () = stop.cancelled() => return Ok(busy),
        };
        let link = match opened {
            Ok(link) => link,
            Err(problem) => {
                self.fail(&problem);
                return Ok(busy);
            }
        };
        let busy = self.serve(&link, busy, stop).await;
        self.leave();
        link.close().await;
        Ok(busy)
    }

    /// Lists the tools, again whenever there is a reason to, until the connection ends.
    async fn serve(&self, link: &McpConnection, mut busy: ActivityGuard, stop: &CancellationToken) -> ActivityGuard {
        let clock = self.register.clock();
        loop {
            let line = link.line();
            let listed = tokio::select! {
                listed = within(self.limits.connect, self.list(&line)) => listed.flatten(),
                () = stop.cancelled() => return busy,
            };
            if let Err(problem) = listed {
                self.fail(&problem);
                return busy;
            }
            self.enter(line);
            let next = clock.now().plus(BETWEEN_LISTS);
            drop(busy);
            tokio::select! {
                () = self.changed.notified() => {}
                () = link.ended() => {
                    self.fail(&McpError::Broken);
                    return clock.busy();
                }
                () = stop.cancelled() => return clock.busy(),
            }
            busy = tokio::select! {
                rested = clock.busy().rest_until(clock, next) => rested,
                () = stop.cancelled() => return clock.busy(),
            };
        }
    }

    /// Returns the present listing; if it has changed, stores it in the journal first.
    async fn list(&self, line: &McpHandle) -> Result<Listing, McpError> {
        let (tools, malformed) = line.list().await?;
        let mut listing = Listing::of(&self.config.name, &tools);
        listing.refused += malformed;
        let listed = listing.tools.iter().map(|tool| (tool.name.clone(), tool.digest.clone())).collect();
        if self.with_state(|state| state.line.is_none() || state.condition.listed != listed) {
            if let Err(error) = self.register.saw(&self.config.name, &listing).await {
                tracing::error!("What outside server {} lists cannot be stored: {error:#}", self.config.name);
            }
            self.note(|condition| (condition.listed, condition.refused) = (listed, listing.refused));
        }
        Ok(listing)
    }

    /// Records that the server is connected and can be called.
    fn enter(&self, line: McpHandle) {
        let now = self.register.clock().now();
        let is_new = self.with_state(|state| state.line.replace(line).is_none());
        self.note(|condition| {
            condition.since.get_or_insert(now);
            condition.trouble = None;
        });
        if is_new {
            tracing::info!("Outside server {} is connected", self.config.name);
        }
    }

    /// Records that the server can no longer be called.
    fn leave(&self) {
        self.with_state(|state| state.line = None);
        self.note(|condition| (condition.listed, condition.since) = (BTreeMap::new(), None));
    }

    fn fail(&self, problem: &McpError) {
        let sentence = problem.to_string();
        tracing::warn!("Outside server {}: {sentence}", self.config.name);
        self.note(|condition| condition.trouble = Some(sentence));
    }

    fn note(&self, change: impl FnOnce(&mut Condition)) {
        self.with_state(|state| change(&mut state.condition));
        self.register.changed();
    }

    fn with_state<T>(&self, change: impl FnOnce(&mut ServerState) -> T) -> T {
        change(&mut lock(&self.state))
    }
}
