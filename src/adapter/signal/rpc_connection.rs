//! Requests and responses over one connection.
//!
//! Responses come in any order and are matched by id; unexpected ones are skipped. A single task
//! owns both halves of the connection, so a caller that gives up leaves no half-written line. The
//! error of a request without a response says how far it came: if its first byte was not written it
//! was certainly not carried out, otherwise it may have been.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::rpc_client::RpcError;
use super::socket::{ConnectionError, LineReader, LineWriter};
use super::wait::within;
use super::wire::{self, Frame, Params};
use crate::time::Clock;
use crate::time::task::guarded;

/// Number of requests that may wait to be written; further callers wait for a slot.
const WAITING: usize = 16;

/// One connection that carries requests. Dropping it closes the connection.
pub(super) struct Exchange {
    queue: mpsc::Sender<(u64, String)>,
    calls: Arc<Calls>,
    _task: JoinSet<()>,
}

/// Requests without a response.
#[derive(Default)]
struct Calls(Mutex<Open>);

#[derive(Default)]
struct Open {
    over: bool,
    last_id: u64,
    calls: BTreeMap<u64, RpcCall>,
}

struct RpcCall {
    answer: oneshot::Sender<Result<String, RpcError>>,
    begun: bool,
}

/// Entry of one request among the calls; removed on drop.
struct Ticket<'a> {
    calls: &'a Calls,
    id: u64,
    answer: oneshot::Receiver<Result<String, RpcError>>,
}

impl Exchange {
    /// Starts the connection task.
    pub(super) fn over(reader: LineReader, writer: LineWriter) -> Self {
        let (queue, queued) = mpsc::channel(WAITING);
        let calls = Arc::new(Calls::default());
        let mut task = JoinSet::new();
        task.spawn(carry(reader, writer, queued, Arc::clone(&calls)));
        Self { queue, calls, _task: task }
    }

    /// Returns true if the connection has ended.
    pub(super) fn is_over(&self) -> bool {
        self.calls.lock().over
    }

    /// Sends a request and waits for its result as JSON.
    pub(super) async fn ask(
        &self,
        clock: &dyn Clock,
        method: &str,
        params: &Params,
        limit: Duration,
    ) -> Result<String, RpcError> {
        let mut ticket = self.calls.enter()?;
        let line = wire::request(ticket.id, method, params);
        let answered = within(clock, limit, async {
            // If the queue is closed, the connection has ended, and the answer says so.
            let _ = self.queue.send((ticket.id, line)).await;
            (&mut ticket.answer).await
        });
        match answered.await {
            Some(answer) => answer.unwrap_or_else(|_| Err(RpcError::Lost("the connection ended".to_owned()))),
            None => Err(ticket.overdue(limit)),
        }
    }
}

impl Calls {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self) -> Result<Ticket<'_>, RpcError> {
        let (sender, answer) = oneshot::channel();
        let mut open = self.lock();
        if open.over {
            return Err(RpcError::NotSent("the connection ended".to_owned()));
        }
        open.last_id += 1;
        let id = open.last_id;
        open.calls.insert(id, RpcCall { answer: sender, begun: false });
        drop(open);
        Ok(Ticket { calls: self, id, answer })
    }

    /// Marks the request as begun; returns false if it was given up.
    fn begin(&self, id: u64) -> bool {
        self.lock().calls.get_mut(&id).map(|call| call.begun = true).is_some()
    }

    fn answer(&self, id: u64, answer: Result<String, RpcError>) {
        if let Some(call) = self.lock().calls.remove(&id) {
            // The caller may just have given up.
            let _ = call.answer.send(answer);
        }
    }

    /// Fails all open requests; no more responses will come.
    fn end(&self, why: &ConnectionError) {
        let mut open = self.lock();
        open.over = true;
        for call in std::mem::take(&mut open.calls).into_values() {
            let failure = match why {
                _ if !call.begun => RpcError::NotSent(why.reason()),
                ConnectionError::TooLong => RpcError::TooLong,
                _ => RpcError::Lost(why.reason()),
            };
            let _ = call.answer.send(Err(failure));
        }
    }
}

impl Ticket<'_> {
    /// Removes an overdue request and returns how far it came.
    fn overdue(&self, limit: Duration) -> RpcError {
        let why = format!("no answer within {} seconds", limit.as_secs());
        match self.calls.lock().calls.remove(&self.id) {
            Some(call) if !call.begun => RpcError::NotSent(why),
            _ => RpcError::Lost(why),
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.calls.lock().calls.remove(&self.id);
    }
}

/// Carries requests and responses until the connection breaks.
async fn carry(
    mut reader: LineReader,
    mut writer: LineWriter,
    mut queued: mpsc::Receiver<(u64, String)>,
    calls: Arc<Calls>,
) {
    let carrying = async {
        // Both at once: a daemon that waits until its responses are read would otherwise read no
        // requests.
        let why = tokio::select! {
            why = hear(&mut reader, &calls) => why,
            why = speak(&mut writer, &mut queued, &calls) => why,
        };
        Ok(why)
    };
    let why = guarded("The requests to the Signal daemon", carrying).await;
    calls.end(&why.unwrap_or_else(|error| ConnectionError::Ended(error.to_string())));
}

async fn hear(reader: &mut LineReader, calls: &Calls) -> ConnectionError {
    loop {
        match reader.next().await {
            Ok(line) => {
                if let Frame::Answer(id, outcome) = wire::read(&line) {
                    calls.answer(id, outcome.map(str::to_owned).map_err(RpcError::Refused));
                }
            }
            Err(broken) => return broken,
        }
    }
}

async fn speak(writer: &mut LineWriter, queued: &mut mpsc::Receiver<(u64, String)>, calls: &Calls) -> ConnectionError {
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
