//! The connection to a server: the official SDK within our limits, and the program started for it.
//!
//! A message may be 8 MiB long (for a plain JSON answer over HTTP, the SDK's own limit of 16 MiB
//! applies). The SDK skips invalid messages. A server may request nothing from us: no completions,
//! no directories, no questions to a person. Its statements about itself are not read. Errors of
//! the SDK are neither displayed nor logged, because they may quote the server.
//!
//! A program has a restricted environment and leads its own process group, so that its children end
//! with it. Its standard error is not read: that is text from outside, which must not reach a log.
//! The group is signalled only before its leader is reaped, because afterwards another process may
//! have its id.

use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Context;
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientConfig, ClientRequest,
    ClientResult, CustomResult, ErrorCode, ErrorData, Implementation, JsonObject, JsonRpcMessage, ListToolsRequest,
    PaginatedRequestParams, ServerNotification, ServerRequest, ServerResult, Tool,
};
use rmcp::service::{
    NotificationContext, Peer, RequestContext, RoleClient, RunningServiceCancellationToken, RxJsonRpcMessage, Service,
    ServiceError, TxJsonRpcMessage,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, Transport};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use secrecy::ExposeSecret;
use serde_json::Value;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::register::MAX_TOOLS;
use crate::config::{Mcp, McpTransport};
use crate::time::clock::real_sleep;
use crate::tls;
use crate::wording::tool as says;

/// Maximum size of a server's message.
const MESSAGE: usize = 8 * 1024 * 1024;
/// Maximum number of pages in a list of tools.
const PAGES: usize = 64;
/// Maximum number of a server's requests whose answers it has not taken yet: each waits in memory.
const UNANSWERED: usize = 1_000;
/// Time limit for messages in transit when the connection is closed.
const CLOSING: Duration = Duration::from_secs(2);

/// Reason for a failed request, or for a call that was not made. The messages are ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpError {
    /// The program cannot be started.
    #[error("{}", says::CANNOT_START)]
    Start,
    /// The server did not answer in time.
    #[error("{}", says::server_silent(.0.as_secs()))]
    Silent(Duration),
    /// The connection broke, or its data is invalid.
    #[error("{}", says::CONNECTION_BROKEN)]
    Broken,
    /// The server rejects the request, in its own words.
    #[error("{}", says::OBJECTS)]
    Objects(String),
    /// The server is not connected, or no longer has the tool.
    #[error("The tool is unavailable")]
    Away,
    /// The tool's description is not the accepted one.
    #[error("The tool has changed")]
    Changed,
}

/// A connection.
pub struct McpConnection {
    peer: Peer<RoleClient>,
    closing: RunningServiceCancellationToken,
    end: Shared<BoxFuture<'static, ()>>,
    program: Option<Program>,
}

impl McpConnection {
    /// Connects. `changed` is notified when the server reports that its tools have changed.
    pub async fn open(config: &Mcp, changed: Arc<Notify>, limit: Duration) -> Result<Self, McpError> {
        let client = Client { changed };
        let (service, program) = match &config.transport {
            McpTransport::Command(words) => {
                let (program, output, input) = Program::start(config, words).map_err(|_| McpError::Start)?;
                let transport = AsyncRwTransport::new_client(output, input).with_max_line_length(MESSAGE);
                (within(limit, rmcp::serve_client(client, Bounded::new(transport))).await, Some(program))
            }
            McpTransport::Url(url) => {
                let transport = http(url).map_err(|_| McpError::Start)?;
                (within(limit, rmcp::serve_client(client, Bounded::new(transport))).await, None)
            }
        };
        let service = service?.map_err(|_| McpError::Broken)?;
        let (peer, closing) = (service.peer().clone(), service.cancellation_token());
        let end = service.waiting().map(drop).boxed().shared();
        Ok(Self { peer, closing, end, program })
    }

    /// Returns a handle for requests to the server.
    pub fn line(&self) -> McpHandle {
        McpHandle(self.peer.clone())
    }

    /// Completes when the connection has ended by itself.
    pub fn ended(&self) -> impl Future<Output = ()> + use<> {
        self.end.clone()
    }

    /// Closes the connection, and ends the program if one was started for it.
    pub async fn close(self) {
        self.closing.cancel();
        let _ = within(CLOSING, self.end).await;
        if let Some(program) = self.program {
            program.end().await;
        }
    }
}

/// A handle for requests to a server. Cheap to clone.
#[derive(Clone)]
pub struct McpHandle(Peer<RoleClient>);

impl McpHandle {
    /// Returns its tools, and the number of those that have no valid form; stops paging above the
    /// permitted number.
    pub async fn list(&self) -> Result<(Vec<Tool>, usize), McpError> {
        let (mut tools, mut malformed, mut cursor) = (Vec::new(), 0, None);
        for _ in 0..PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let request =
                ListToolsRequest { method: Default::default(), params: Some(page), extensions: Default::default() };
            cursor = match self.0.send_request(ClientRequest::ListToolsRequest(request)).await.map_err(mcp_error)? {
                ServerResult::ListToolsResult(page) => {
                    tools.extend(page.tools);
                    page.next_cursor
                }
                // Not the form of a list of tools, as with one that lacks a field: each is read by itself.
                ServerResult::CustomResult(CustomResult(page)) => {
                    let listed = page.get("tools").and_then(Value::as_array).ok_or(McpError::Broken)?;
                    let read = listed.iter().filter_map(|tool| serde_json::from_value::<Tool>(tool.clone()).ok());
                    let before = tools.len();
                    tools.extend(read);
                    malformed += listed.len() - (tools.len() - before);
                    page.get("nextCursor").and_then(Value::as_str).map(str::to_owned)
                }
                _ => return Err(McpError::Broken),
            };
            if cursor.is_none() || tools.len() > MAX_TOOLS {
                break;
            }
        }
        Ok((tools, malformed))
    }

    /// Makes a call.
    pub async fn call(&self, tool: &str, arguments: JsonObject) -> Result<CallToolResult, McpError> {
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        match self.0.call_tool_once(request).await.map_err(mcp_error)? {
            CallToolResponse::Complete(result) => Ok(result),
            // The server wants a follow-up request, later or with more data; this is not supported.
            _ => Err(McpError::Broken),
        }
    }
}

/// Returns the work's result, or an error if it exceeds the limit.
pub async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Result<T, McpError> {
    tokio::select! {
        result = work => Ok(result),
        () = real_sleep(limit) => Err(McpError::Silent(limit)),
    }
}

fn mcp_error(error: ServiceError) -> McpError {
    match error {
        ServiceError::McpError(error) => McpError::Objects(error.message.into_owned()),
        _ => McpError::Broken,
    }
}

fn http(url: &Url) -> reqwest::Result<StreamableHttpClientTransport<reqwest::Client>> {
    let client = tls::client(|client| {
        client
            .user_agent(concat!("compline/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .connect_timeout(Duration::from_secs(10))
    })?;
    let config = StreamableHttpClientTransportConfig::with_uri(url.as_str()).max_sse_event_size(MESSAGE);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// A transport that ends once [`UNANSWERED`] of the server's requests wait for it to take their
/// answers, and whose end waits for no server that reads nothing. The SDK has no limit, and closes
/// a transport only after the message that is being sent.
struct Bounded<T> {
    transport: T,
    unanswered: Arc<AtomicUsize>,
    /// Cancelled at the end: messages in transit are dropped then.
    ended: CancellationToken,
}

impl<T> Bounded<T> {
    fn new(transport: T) -> Self {
        Self { transport, unanswered: Arc::default(), ended: CancellationToken::new() }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Bounded<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let is_answer = matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_));
        let (sending, unanswered) = (self.transport.send(message), Arc::clone(&self.unanswered));
        let ended = self.ended.clone();
        async move {
            let result = ended.run_until_cancelled(sending).await;
            if is_answer {
                unanswered.fetch_sub(1, Ordering::Relaxed);
            }
            result.unwrap_or(Ok(()))
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.transport.receive().await?;
        if matches!(message, JsonRpcMessage::Request(_))
            && self.unanswered.fetch_add(1, Ordering::Relaxed) >= UNANSWERED
        {
            tracing::warn!("An outside server is disconnected: it asks without reading our answers");
            self.ended.cancel();
            return None;
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.ended.cancel();
        self.transport.close().await
    }
}

/// Our side of the connection, which offers nothing to the server.
struct Client {
    changed: Arc<Notify>,
}

impl Service<RoleClient> for Client {
    async fn handle_request(
        &self,
        request: ServerRequest,
        _: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        match request {
            ServerRequest::PingRequest(_) => Ok(ClientResult::empty(())),
            _ => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "This client gives nothing", None)),
        }
    }

    async fn handle_notification(
        &self,
        notification: ServerNotification,
        _: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
        if matches!(notification, ServerNotification::ToolListChangedNotification(_)) {
            self.changed.notify_one();
        }
        Ok(())
    }

    fn get_info(&self) -> ClientConfig {
        let name = Implementation::new("compline", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), name)
    }
}

/// Number of checks for the end of a terminating program, and their interval.
const LOOKS: u32 = 40;
const LOOK: Duration = Duration::from_millis(25);

/// A running program.
pub struct Program {
    child: Child,
}

impl Program {
    /// Starts the program with only the given environment.
    pub fn start(config: &Mcp, words: &[String]) -> anyhow::Result<(Self, ChildStdout, ChildStdin)> {
        let (program, arguments) = words.split_first().context("It has no name")?;
        let mut child = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(config.environment.iter().map(|(name, value)| (name, value.expose_secret())))
            .current_dir(McpTransport::WORKING_DIR)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let output = child.stdout.take().context("It has no output")?;
        let input = child.stdin.take().context("It has no input")?;
        Ok((Self { child }, output, input))
    }

    /// Waits briefly for the program to end by itself, now that its input is closed, then kills it
    /// and everything it started.
    pub async fn end(mut self) {
        for _ in 0..LOOKS {
            if self.has_ended() {
                break;
            }
            real_sleep(LOOK).await;
        }
        self.kill();
        if let Err(error) = self.child.wait().await {
            tracing::warn!("The program of an outside server cannot be waited for: {}", error.kind());
        }
    }

    fn has_ended(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.leader().is_none_or(|leader| !matches!(waitid(WaitId::Pid(leader), look), Ok(None)))
    }

    fn kill(&self) {
        if let Some(leader) = self.leader() {
            let killed = kill_process_group(leader, Signal::KILL).map_err(io::Error::from);
            if let Err(error) = killed {
                tracing::debug!("The process group of an outside server is gone already: {}", error.kind());
            }
        }
    }

    /// Returns the id of the group and its leader; `None` once it is reaped.
    fn leader(&self) -> Option<Pid> {
        self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}
