//! Daemon access by HTTP: each request is a POST, and messages arrive as server-sent events.
//!
//! The daemon runs on this computer or in our own network, so proxies, redirects and network
//! settings of the environment are ignored. Only events of the type `receive` are messages;
//! comments are keep-alives. A message that is not UTF-8 or is too long breaks the stream.

use anyhow::{Context, ensure};
use reqwest::{Client, ClientBuilder, Response, StatusCode, Url};

use super::jsonrpc::{self, Notification, Params, RpcError, RpcFrame};
use super::socket::{ConnectionError, LONGEST};
use crate::adapter::request::{http_client, read_body};
use crate::text::sse::{SseItem, SseReader};

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
        let client = http_client(ClientBuilder::no_proxy)?;
        Ok(Self { client, base })
    }

    /// Sends a request; its result is JSON.
    pub(super) async fn call(&self, method: &str, params: &Params) -> Result<String, RpcError> {
        let request = self.client.post(self.at("rpc")).header("Content-Type", "application/json");
        let answer = request.body(jsonrpc::request(ID, method, params)).send().await.map_err(RpcError::from)?;
        let status = answer.status();
        if status.is_client_error() {
            return Err(RpcError::NotSent(format!("the daemon answered {}", status.as_u16())));
        }
        let bytes = read_body(answer, LONGEST as u64).await.map_err(RpcError::from)?.ok_or(RpcError::TooLong)?;
        let body = String::from_utf8(bytes).map_err(|_| RpcError::NoResponse("the answer is no text".to_owned()))?;
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
        let answer = request.send().await.map_err(RpcError::from)?;
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

/// Splits a byte stream into events, regardless of how the bytes are chunked.
#[derive(Debug)]
pub(super) struct SseParser(SseReader);

impl Default for SseParser {
    fn default() -> Self {
        Self(SseReader::new(LONGEST))
    }
}

impl SseParser {
    /// Appends bytes.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<(), ConnectionError> {
        self.0.feed(bytes).map_err(|_| ConnectionError::TooLong)
    }

    /// Returns the next event in the bytes received so far.
    pub(super) fn next(&mut self) -> Result<Option<Notification>, ConnectionError> {
        while let Some(item) = self.0.next_item() {
            match item {
                SseItem::Comment => return Ok(Some(Notification::KeepAlive)),
                SseItem::Event { kind, data } if kind == b"receive" => {
                    let text = String::from_utf8(data).map_err(|_| ConnectionError::Garbled)?;
                    return Ok(Some(Notification::Item(text)));
                }
                SseItem::Event { .. } => {}
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn addresses_keep_what_stands_before_the_interface() {
        for (base, address) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/api/v1/rpc"),
            ("http://[::1]:8080/", "http://[::1]:8080/api/v1/rpc"),
            ("https://example.org/signal", "https://example.org/signal/api/v1/rpc"),
        ] {
            assert_eq!(DaemonHttp::new(base).unwrap().at("rpc").as_str(), address);
        }
        assert!(DaemonHttp::new("mailto:ada").is_err() && DaemonHttp::new("").is_err());
    }

    fn signs(chunks: &[&[u8]]) -> Result<Vec<Notification>, ConnectionError> {
        let (mut splitter, mut signs) = (SseParser::default(), Vec::new());
        for chunk in chunks {
            splitter.feed(chunk)?;
            while let Some(sign) = splitter.next()? {
                signs.push(sign);
            }
        }
        Ok(signs)
    }

    fn received(text: &str) -> Notification {
        Notification::Item(text.to_owned())
    }

    #[test]
    fn events_comments_and_all_else() {
        let stream = b":\r\nevent:receive\r\ndata:{\"a\":1}\r\n\r\nevent: receive\nid: 7\ndata: {\ndata: }\n\n: alive\nevent:other\ndata:x\n\ndata:y\n\nretry: 1\n\nevent:receive\n\n";
        let expected = [Notification::KeepAlive, received("{\"a\":1}"), received("{\n}"), Notification::KeepAlive];
        assert_eq!(signs(&[stream]).unwrap(), expected);
    }

    #[test]
    fn an_event_that_is_not_ended_has_not_come() {
        assert_eq!(signs(&[b"event:receive\ndata:{}\n"]), Ok(Vec::new()));
    }

    #[test]
    fn bytes_that_are_no_text_break_the_stream() {
        assert_eq!(signs(&[b"event:receive\ndata:\xff\n\n"]), Err(ConnectionError::Garbled));
    }

    #[test]
    fn an_endless_event_is_not_buffered() {
        let chunk = vec![b'x'; 1 << 20];
        let long: Vec<&[u8]> = std::iter::repeat_n(chunk.as_slice(), 33).collect();
        assert_eq!(signs(&long), Err(ConnectionError::TooLong));
        let line = [b"data:".as_slice(), &chunk, b"\n"].concat();
        let long: Vec<&[u8]> = std::iter::repeat_n(line.as_slice(), 33).collect();
        assert_eq!(signs(&long), Err(ConnectionError::TooLong));
    }

    proptest! {
        #[test]
        fn however_the_bytes_are_cut_the_signs_are_the_same(
            texts in prop::collection::vec("[^\r\n]{0,12}", 0..6),
            cuts in prop::collection::vec(1_usize..9, 1..60),
        ) {
            let mut stream = String::new();
            let mut expected = Vec::new();
            for text in &texts {
                stream.push_str(&format!(": alive\r\nevent:receive\ndata: {text}\n\n"));
                expected.extend([Notification::KeepAlive, received(text)]);
            }
            let (mut rest, mut chunks) = (stream.as_bytes(), Vec::new());
            for cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (chunk, after) = rest.split_at((*cut).min(rest.len()));
                chunks.push(chunk);
                rest = after;
            }
            prop_assert_eq!(signs(&chunks).unwrap(), expected);
        }

        #[test]
        fn any_bytes_can_be_read(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8)) {
            let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            let _ = signs(&chunks);
        }
    }
}
