//! Asking the daemon for something, over whichever way it is reached.
//!
//! The way is opened when it is needed and again after it broke; a request that was not answered in time also costs the
//! socket, since a peer that has vanished without a word looks just like that. Nothing is tried twice here: whoever asked
//! knows whether that would be right.

use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::sync::Mutex;

use super::http::Http;
use super::rpc_connection::Exchange;
use super::socket::DaemonAddress;
use super::wait::{OPENING, within};
use super::wire::{Params, RpcRefusal};
use crate::time::Clock;

/// Why a request has no result, by how far it came.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RpcError {
    /// It never left; certainly nothing was done.
    NotSent(String),
    /// It left, and no answer that makes sense came back: it may have been carried out.
    Lost(String),
    /// It was carried out, and its answer is longer than we read.
    TooLong,
    /// The daemon answered that it will not do it.
    Refused(RpcRefusal),
}

/// The way of requests.
pub(super) struct Asker {
    clock: Arc<dyn Clock>,
    way: RpcMode,
}

enum RpcMode {
    Lines { place: DaemonAddress, exchange: Mutex<Option<Arc<Exchange>>> },
    Http(Http),
}

impl Asker {
    /// Requests over a socket.
    pub(super) fn over_lines(place: DaemonAddress, clock: Arc<dyn Clock>) -> Self {
        Self { clock, way: RpcMode::Lines { place, exchange: Mutex::new(None) } }
    }

    /// Requests by HTTP.
    pub(super) fn over_http(http: Http, clock: Arc<dyn Clock>) -> Self {
        Self { clock, way: RpcMode::Http(http) }
    }

    /// Makes a request and reads its result.
    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &Params,
        limit: Duration,
    ) -> Result<T, RpcError> {
        let result = match &self.way {
            RpcMode::Lines { place, exchange } => self.over_socket(place, exchange, (method, params), limit).await?,
            RpcMode::Http(http) => {
                let late = || Err(RpcError::Lost(format!("no answer within {} seconds", limit.as_secs())));
                within(&*self.clock, limit, http.ask(method, params)).await.unwrap_or_else(late)?
            }
        };
        serde_json::from_str(&result).map_err(|_| RpcError::Lost("the daemon answered something unexpected".to_owned()))
    }

    async fn over_socket(
        &self,
        place: &DaemonAddress,
        slot: &Mutex<Option<Arc<Exchange>>>,
        (method, params): (&str, &Params),
        limit: Duration,
    ) -> Result<String, RpcError> {
        let exchange = self.open(place, slot).await?;
        let answer = exchange.ask(&*self.clock, method, params, limit).await;
        if matches!(answer, Err(RpcError::NotSent(_) | RpcError::Lost(_))) {
            let mut slot = slot.lock().await;
            slot.take_if(|open| Arc::ptr_eq(open, &exchange));
        }
        answer
    }

    /// The connection that is open, or a new one.
    async fn open(
        &self,
        place: &DaemonAddress,
        slot: &Mutex<Option<Arc<Exchange>>>,
    ) -> Result<Arc<Exchange>, RpcError> {
        let mut slot = slot.lock().await;
        if let Some(open) = slot.as_ref().filter(|open| !open.is_over()) {
            return Ok(Arc::clone(open));
        }
        let opened = within(&*self.clock, OPENING, place.connect()).await;
        let opened = opened.ok_or_else(|| RpcError::NotSent("the daemon does not answer".to_owned()))?;
        let (reader, writer) = opened.map_err(|error| RpcError::NotSent(error.kind().to_string()))?;
        let open = Arc::new(Exchange::over(reader, writer));
        *slot = Some(Arc::clone(&open));
        Ok(open)
    }
}

impl RpcError {
    /// The words for a log or an error.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::NotSent(why) | Self::Lost(why) => why.clone(),
            Self::TooLong => "the answer is too long".to_owned(),
            Self::Refused(refusal) => format!("the daemon refused with code {}", refusal.code),
        }
    }
}
