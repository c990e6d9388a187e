//! Requests to the daemon, over a socket or by HTTP.
//!
//! The connection is opened on demand and reopened after it broke. A request without a timely
//! response also closes the socket, since a peer that vanished silently looks the same. Nothing is
//! retried here: only the caller knows whether a retry is safe.
//!
//! Responses come in any order and are matched by id; unexpected ones are skipped. A single task
//! owns both halves of the connection, so a caller that gives up leaves no half-written line. The
//! error of a request without a response says how far it came: if its first byte was not written it
//! was certainly not carried out, otherwise it may have been.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::http::DaemonHttp;
use super::jsonrpc::{self, Params, RpcError, RpcFrame};
use super::socket::with_timeout;
use super::socket::{ConnectionError, DaemonAddress, LineReader, LineWriter};
use crate::time::Clock;
use crate::time::task::{guarded, lock};

/// Client for requests to the daemon.
pub(super) struct RpcClient {
    clock: Arc<dyn Clock>,
    transport: RpcTransport,
}

enum RpcTransport {
    Socket { address: DaemonAddress, connection: tokio::sync::Mutex<Option<Arc<RpcConnection>>> },
    Http(DaemonHttp),
}

impl RpcClient {
    /// Creates a client for a socket.
    pub(super) fn for_socket(address: DaemonAddress, clock: Arc<dyn Clock>) -> Self {
        Self { clock, transport: RpcTransport::Socket { address, connection: Default::default() } }
    }

    /// Creates a client for HTTP.
    pub(super) fn for_http(http: DaemonHttp, clock: Arc<dyn Clock>) -> Self {
        Self { clock, transport: RpcTransport::Http(http) }
    }

    /// Sends a request and decodes its result.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &Params,
        limit: Duration,
    ) -> Result<T, RpcError> {
        let result = match &self.transport {
            RpcTransport::Socket { address, connection } => {
                let open = self.open(address, connection).await?;
                let answer = open.call(&*self.clock, method, params, limit).await;
                if matches!(answer, Err(RpcError::NotSent(_) | RpcError::NoResponse(_))) {
                    connection.lock().await.take_if(|current| Arc::ptr_eq(current, &open));
                }
                answer?
            }
            RpcTransport::Http(http) => {
                let late = || Err(RpcError::NoResponse(format!("no answer within {} seconds", limit.as_secs())));
                with_timeout(&*self.clock, limit, http.call(method, params)).await.unwrap_or_else(late)?
            }
        };
        serde_json::from_str(&result)
            .map_err(|_| RpcError::NoResponse("the daemon answered something unexpected".to_owned()))
    }

    /// Returns the open connection, or a new one.
    async fn open(
        &self,
        address: &DaemonAddress,
        connection: &tokio::sync::Mutex<Option<Arc<RpcConnection>>>,
    ) -> Result<Arc<RpcConnection>, RpcError> {
        let mut connection = connection.lock().await;
        if let Some(open) = connection.as_ref().filter(|open| !open.is_closed()) {
            return Ok(Arc::clone(open));
        }
        let (reader, writer) = address.connect(&*self.clock).await.map_err(RpcError::NotSent)?;
        let open = Arc::new(RpcConnection::start(reader, writer));
        *connection = Some(Arc::clone(&open));
        Ok(open)
    }
}

/// Number of requests that may wait to be written; further callers wait for a slot.
const QUEUE_CAPACITY: usize = 16;

/// One connection that carries requests. Dropping it closes the connection.
struct RpcConnection {
    queue: mpsc::Sender<(u64, String)>,
    calls: Arc<PendingCalls>,
    _task: JoinSet<()>,
}

/// Requests without a response.
#[derive(Default)]
struct PendingCalls(Mutex<CallTable>);

#[derive(Default)]
struct CallTable {
    closed: bool,
    last_id: u64,
    calls: BTreeMap<u64, RpcCall>,
}

struct RpcCall {
    answer: oneshot::Sender<Result<String, RpcError>>,
    is_written: bool,
}

/// Entry of one request among the calls; removed on drop.
struct CallGuard<'a> {
    calls: &'a PendingCalls,
    id: u64,
    answer: oneshot::Receiver<Result<String, RpcError>>,
}

impl RpcConnection {
    /// Starts the connection task.
    fn start(reader: LineReader, writer: LineWriter) -> Self {
        let (queue, queued) = mpsc::channel(QUEUE_CAPACITY);
        let calls = Arc::new(PendingCalls::default());
        let mut task = JoinSet::new();
        task.spawn(run(reader, writer, queued, Arc::clone(&calls)));
        Self { queue, calls, _task: task }
    }

    /// Returns true if the connection has ended.
    fn is_closed(&self) -> bool {
        self.calls.lock().closed
    }

    /// Sends a request and waits for its result as JSON.
    async fn call(
        &self,
        clock: &dyn Clock,
        method: &str,
        params: &Params,
        limit: Duration,
    ) -> Result<String, RpcError> {
        let mut guard = self.calls.register()?;
        let line = jsonrpc::request(guard.id, method, params);
        let answered = with_timeout(clock, limit, async {
            // If the queue is closed, the connection has ended, and the answer says so.
            let _ = self.queue.send((guard.id, line)).await;
            (&mut guard.answer).await
        });
        match answered.await {
            Some(answer) => answer.unwrap_or_else(|_| Err(RpcError::NoResponse("the connection ended".to_owned()))),
            None => Err(guard.expire(limit)),
        }
    }
}

impl PendingCalls {
    fn lock(&self) -> MutexGuard<'_, CallTable> {
        lock(&self.0)
    }

    fn register(&self) -> Result<CallGuard<'_>, RpcError> {
        let (sender, answer) = oneshot::channel();
        let mut open = self.lock();
        if open.closed {
            return Err(RpcError::NotSent("the connection ended".to_owned()));
        }
        open.last_id += 1;
        let id = open.last_id;
        open.calls.insert(id, RpcCall { answer: sender, is_written: false });
        drop(open);
        Ok(CallGuard { calls: self, id, answer })
    }

    /// Marks the request as begun; returns false if it was given up.
    fn begin(&self, id: u64) -> bool {
        self.lock().calls.get_mut(&id).map(|call| call.is_written = true).is_some()
    }

    fn answer(&self, id: u64, answer: Result<String, RpcError>) {
        if let Some(call) = self.lock().calls.remove(&id) {
            // The caller may just have given up.
            let _ = call.answer.send(answer);
        }
    }

    /// Fails all open requests; no more responses will come.
    fn fail_all(&self, why: &ConnectionError) {
        let mut open = self.lock();
        open.closed = true;
        for call in std::mem::take(&mut open.calls).into_values() {
            let failure = match why {
                _ if !call.is_written => RpcError::NotSent(why.to_string()),
                ConnectionError::TooLong => RpcError::TooLong,
                _ => RpcError::NoResponse(why.to_string()),
            };
            let _ = call.answer.send(Err(failure));
        }
    }
}

impl CallGuard<'_> {
    /// Removes an overdue request and returns how far it came.
    fn expire(&self, limit: Duration) -> RpcError {
        let why = format!("no answer within {} seconds", limit.as_secs());
        match self.calls.lock().calls.remove(&self.id) {
            Some(call) if !call.is_written => RpcError::NotSent(why),
            _ => RpcError::NoResponse(why),
        }
    }
}

impl Drop for CallGuard<'_> {
    fn drop(&mut self) {
        self.calls.lock().calls.remove(&self.id);
    }
}

/// Carries requests and responses until the connection breaks.
async fn run(
    mut reader: LineReader,
    mut writer: LineWriter,
    mut queued: mpsc::Receiver<(u64, String)>,
    calls: Arc<PendingCalls>,
) {
    let carrying = async {
        // Both at once: a daemon that waits until its responses are read would otherwise read no
        // requests.
        let why = tokio::select! {
            why = read_loop(&mut reader, &calls) => why,
            why = write_loop(&mut writer, &mut queued, &calls) => why,
        };
        Ok(why)
    };
    let why = guarded("The requests to the Signal daemon", carrying).await;
    calls.fail_all(&why.unwrap_or_else(|error| ConnectionError::Ended(error.to_string())));
}

async fn read_loop(reader: &mut LineReader, calls: &PendingCalls) -> ConnectionError {
    loop {
        match reader.next().await {
            Ok(line) => {
                if let RpcFrame::Answer(id, outcome) = jsonrpc::parse(&line) {
                    calls.answer(id, outcome.map(str::to_owned).map_err(RpcError::Rejected));
                }
            }
            Err(broken) => return broken,
        }
    }
}

async fn write_loop(
    writer: &mut LineWriter,
    queued: &mut mpsc::Receiver<(u64, String)>,
    calls: &PendingCalls,
) -> ConnectionError {
    while let Some((id, line)) = queued.recv().await {
        if calls.begin(id)
            && let Err(error) = writer.write(&line).await
        {
            return ConnectionError::Ended(error.kind().to_string());
        }
    }
    ConnectionError::Ended("nobody asks any more".to_owned())
}

#[cfg(test)]
mod tests;
