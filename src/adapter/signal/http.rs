//! Daemon access by HTTP: each request is a POST, and messages arrive as server-sent events.
//!
//! The daemon runs on this computer or in our own network, so proxies, redirects and network
//! settings of the environment are ignored.

use std::error::Error as _;
use std::time::Duration;

use anyhow::{Context, ensure};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, Url};

use super::jsonrpc::{self, Params, RpcError, RpcFrame};
use super::socket::LONGEST;

/// Time allowed for connecting.
const CONNECTING: Duration = Duration::from_secs(10);
/// Lifetime of an idle connection. Reusing a dead one makes an unsent request look sent.
const KEEP_IDLE: Duration = Duration::from_secs(15);
/// Id of every request: each has a response of its own.
const ID: u64 = 1;

/// HTTP client of the daemon.
#[derive(Clone)]
pub(super) struct DaemonHttp {
    client: Client,
    base: Url,
}

impl DaemonHttp {
    /// Creates a client for the daemon at that address.
    pub(super) fn new(base: &str) -> anyhow::Result<Self> {
        let base = Url::parse(base).context("The address of the Signal daemon is not valid")?;
        ensure!(!base.cannot_be_a_base(), "The address of the Signal daemon is not valid");
        // Without a provider, building the client would panic.
        ensure!(
            rustls::crypto::CryptoProvider::get_default().is_some(),
            "No cryptography was chosen for TLS at the start of the program"
        );
        let client = Client::builder()
            .connect_timeout(CONNECTING)
            .pool_idle_timeout(KEEP_IDLE)
            .redirect(Policy::none())
            .referer(false)
            .no_proxy()
            .build()
            .context("The network client could not be built")?;
        Ok(Self { client, base })
    }

    /// Sends a request; its result is JSON.
    pub(super) async fn call(&self, method: &str, params: &Params) -> Result<String, RpcError> {
        let request = self.client.post(self.at("rpc")).header("Content-Type", "application/json");
        let answer = request.body(jsonrpc::request(ID, method, params)).send().await.map_err(failure)?;
        let status = answer.status();
        if status.is_client_error() {
            return Err(RpcError::NotSent(format!("the daemon answered {}", status.as_u16())));
        }
        let body = read(answer).await?;
        match jsonrpc::parse(&body) {
            RpcFrame::Answer(ID, outcome) => outcome.map(str::to_owned).map_err(RpcError::Rejected),
            _ => Err(RpcError::NoResponse(format!(
                "the daemon answered {} and nothing that makes sense",
                status.as_u16()
            ))),
        }
    }

    /// Subscribes to messages for that account.
    pub(super) async fn subscribe(&self, account: &str) -> Result<Response, RpcError> {
        let mut address = self.at("events");
        address.query_pairs_mut().append_pair("account", account);
        let request = self.client.get(address).header("Accept", "text/event-stream");
        let answer = request.send().await.map_err(failure)?;
        match answer.status() {
            StatusCode::OK => Ok(answer),
            // Response for an unknown account.
            StatusCode::BAD_REQUEST => {
                let data = serde_json::Value::Null;
                Err(RpcError::Rejected(jsonrpc::RpcRefusal { code: jsonrpc::code::ACCOUNT, data }))
            }
            other => Err(RpcError::NotSent(format!("the daemon answered {}", other.as_u16()))),
        }
    }

    fn at(&self, name: &str) -> Url {
        let mut address = self.base.clone();
        if let Ok(mut path) = address.path_segments_mut() {
            path.pop_if_empty().extend(["api", "v1", name]);
        }
        address
    }
}

async fn read(mut answer: Response) -> Result<String, RpcError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(failure)? {
        if bytes.len().saturating_add(chunk.len()) > LONGEST {
            return Err(RpcError::TooLong);
        }
        bytes.extend_from_slice(&chunk);
    }
    String::from_utf8(bytes).map_err(|_| RpcError::NoResponse("the answer is no text".to_owned()))
}

fn failure(error: reqwest::Error) -> RpcError {
    let never_left = error.is_connect() || error.is_builder();
    let why = describe(error);
    if never_left { RpcError::NotSent(why) } else { RpcError::NoResponse(why) }
}

/// Formats an error with its causes, without the address, which contains the account.
pub(super) fn describe(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        words = format!("{words}: {inner}");
        cause = inner.source();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_keep_what_stands_before_the_interface() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        for (base, address) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/api/v1/rpc"),
            ("http://[::1]:8080/", "http://[::1]:8080/api/v1/rpc"),
            ("https://example.org/signal", "https://example.org/signal/api/v1/rpc"),
        ] {
            assert_eq!(DaemonHttp::new(base).unwrap().at("rpc").as_str(), address);
        }
        assert!(DaemonHttp::new("mailto:ada").is_err() && DaemonHttp::new("").is_err());
    }
}
