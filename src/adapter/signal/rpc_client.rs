//! Requests to the daemon, over a socket or by HTTP.
//!
//! The connection is opened on demand and reopened after it broke. A request without a timely
//! response also closes the socket, since a peer that vanished silently looks the same. Nothing is
//! retried here: only the caller knows whether a retry is safe.

use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::sync::Mutex;

use super::http::DaemonHttp;
use super::jsonrpc::{Params, RpcError};
use super::rpc_connection::RpcConnection;
use super::socket::DaemonAddress;
use super::timeout::{OPENING, with_timeout};
use crate::time::Clock;

/// Client for requests to the daemon.
pub(super) struct RpcClient {
    clock: Arc<dyn Clock>,
    transport: RpcMode,
}

enum RpcMode {
    Lines { place: DaemonAddress, exchange: Mutex<Option<Arc<RpcConnection>>> },
    Http(DaemonHttp),
}

impl RpcClient {
    /// Creates a client for a socket.
    pub(super) fn for_socket(place: DaemonAddress, clock: Arc<dyn Clock>) -> Self {
        Self { clock, transport: RpcMode::Lines { place, exchange: Mutex::new(None) } }
    }

    /// Creates a client for HTTP.
    pub(super) fn for_http(http: DaemonHttp, clock: Arc<dyn Clock>) -> Self {
        Self { clock, transport: RpcMode::Http(http) }
    }

    /// Sends a request and decodes its result.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &Params,
        limit: Duration,
    ) -> Result<T, RpcError> {
        let result = match &self.transport {
            RpcMode::Lines { place, exchange } => {
                self.call_over_socket(place, exchange, (method, params), limit).await?
            }
            RpcMode::Http(http) => {
                let late = || Err(RpcError::NoResponse(format!("no answer within {} seconds", limit.as_secs())));
                with_timeout(&*self.clock, limit, http.call(method, params)).await.unwrap_or_else(late)?
            }
        };
        serde_json::from_str(&result)
            .map_err(|_| RpcError::NoResponse("the daemon answered something unexpected".to_owned()))
    }

    async fn call_over_socket(
        &self,
        place: &DaemonAddress,
        slot: &Mutex<Option<Arc<RpcConnection>>>,
        (method, params): (&str, &Params),
        limit: Duration,
    ) -> Result<String, RpcError> {
        let exchange = self.open(place, slot).await?;
        let answer = exchange.call(&*self.clock, method, params, limit).await;
        if matches!(answer, Err(RpcError::NotSent(_) | RpcError::NoResponse(_))) {
            let mut slot = slot.lock().await;
            slot.take_if(|open| Arc::ptr_eq(open, &exchange));
        }
        answer
    }

    /// Returns the open connection, or a new one.
    async fn open(
        &self,
        place: &DaemonAddress,
        slot: &Mutex<Option<Arc<RpcConnection>>>,
    ) -> Result<Arc<RpcConnection>, RpcError> {
        let mut slot = slot.lock().await;
        if let Some(open) = slot.as_ref().filter(|open| !open.is_closed()) {
            return Ok(Arc::clone(open));
        }
        let opened = with_timeout(&*self.clock, OPENING, place.connect()).await;
        let opened = opened.ok_or_else(|| RpcError::NotSent("the daemon does not answer".to_owned()))?;
        let (reader, writer) = opened.map_err(|error| RpcError::NotSent(error.kind().to_string()))?;
        let open = Arc::new(RpcConnection::start(reader, writer));
        *slot = Some(Arc::clone(&open));
        Ok(open)
    }
}
