//! Protocol with the daemon: JSON-RPC 2.0, one object per line.
//!
//! The methods, parameters and result fields that we use are listed only in `docs/signal-wire.md`:
//! a program other than signal-cli that implements that page can serve this adapter unchanged. A
//! test compares the list of [`method`]s with it.
//!
//! Parsing is lenient, because the other side evolves independently: missing or unknown fields
//! never make a line unreadable, and a line that is neither response nor message is skipped.
//! Messages are not inspected here and reach the journal unchanged. The daemon's own sentences are
//! never kept, because they contain names and numbers.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::adapter::request::RequestError;

/// Named parameters of a request.
pub(super) type Params = Map<String, Value>;

/// Methods in use.
pub(super) mod method {
    pub(in super::super) const VERSION: &str = "version";
    pub(in super::super) const LIST_ACCOUNTS: &str = "listAccounts";
    pub(in super::super) const START_LINK: &str = "startLink";
    pub(in super::super) const FINISH_LINK: &str = "finishLink";
    pub(in super::super) const SUBSCRIBE: &str = "subscribeReceive";
    pub(in super::super) const SEND: &str = "send";
    pub(in super::super) const SEND_TYPING: &str = "sendTyping";
    pub(in super::super) const SEND_REACTION: &str = "sendReaction";
    pub(in super::super) const SEND_RECEIPT: &str = "sendReceipt";
    pub(in super::super) const GET_ATTACHMENT: &str = "getAttachment";
    pub(in super::super) const LIST_STICKER_PACKS: &str = "listStickerPacks";

    #[cfg(test)]
    pub(in super::super) const ALL: [&str; 11] = [
        VERSION,
        LIST_ACCOUNTS,
        START_LINK,
        FINISH_LINK,
        SUBSCRIBE,
        SEND,
        SEND_TYPING,
        SEND_REACTION,
        SEND_RECEIPT,
        GET_ATTACHMENT,
        LIST_STICKER_PACKS,
    ];
}

/// Error codes with special handling.
pub(super) mod code {
    pub(in super::super) const UNKNOWN_METHOD: i64 = -32601;
    pub(in super::super) const ACCOUNT: i64 = -32602;
    pub(in super::super) const INTERNAL: i64 = -32603;
    pub(in super::super) const USER: i64 = -1;
    pub(in super::super) const NETWORK: i64 = -3;
    pub(in super::super) const IDENTITY: i64 = -4;
    pub(in super::super) const RATE_LIMIT: i64 = -5;
}

/// Errors of a request, by how far it came.
pub(super) type RpcError = RequestError<RpcRefusal>;

/// Something received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Notification {
    /// A message, exactly as the daemon sent it.
    Item(String),
    /// A sign of life.
    KeepAlive,
}

/// A line from the daemon.
#[derive(Debug)]
pub(super) enum RpcFrame<'a> {
    /// A notification, exactly as under `params`.
    Received(&'a str),
    /// The response to a request of ours.
    Answer(u64, Result<&'a str, RpcRefusal>),
    /// Anything else.
    Other,
}

/// An error response.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("the daemon refused with code {code}")]
pub(super) struct RpcRefusal {
    /// Error code.
    pub(super) code: i64,
    /// Outcome per recipient, after a send request.
    pub(super) data: Value,
}

#[derive(Deserialize)]
struct RpcLine<'a> {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    method: Value,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Value,
}

/// Formats a request as one line, without its newline.
pub(super) fn request(id: u64, method: &str, params: &Params) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

/// Parses a line.
pub(super) fn parse(line: &str) -> RpcFrame<'_> {
    let Ok(line) = serde_json::from_str::<RpcLine<'_>>(line) else { return RpcFrame::Other };
    match (line.method.as_str(), line.params, line.id.as_u64()) {
        (Some("receive"), Some(params), _) => RpcFrame::Received(params.get()),
        (None, _, Some(id)) => RpcFrame::Answer(id, outcome(&line)),
        _ => RpcFrame::Other,
    }
}

fn outcome<'a>(line: &RpcLine<'a>) -> Result<&'a str, RpcRefusal> {
    if line.error.is_null() {
        return Ok(line.result.map_or("null", RawValue::get));
    }
    let code = line.error.get("code").and_then(Value::as_i64).unwrap_or(code::INTERNAL);
    let data = line.error.get("data").cloned().unwrap_or_default();
    Err(RpcRefusal { code, data })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_page_names_every_method() {
        let page = include_str!("../../../docs/signal-wire.md");
        for method in method::ALL {
            assert!(page.contains(&format!("`{method}`")), "{method}");
        }
    }

    #[test]
    fn a_request_is_one_line() {
        let params = Params::from_iter([("message".to_owned(), json!("a\nb"))]);
        let line = request(7, method::SEND, &params);
        assert!(!line.contains('\n'));
        let read: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(read, json!({"jsonrpc": "2.0", "id": 7, "method": "send", "params": {"message": "a\nb"}}));
    }

    #[test]
    fn received_params_are_kept_verbatim() {
        let params = r#"{"envelope": {"b":1 ,"a":1.50}}"#;
        let line = format!(r#"{{"jsonrpc":"2.0","method":"receive","params":{params}}}"#);
        assert!(matches!(parse(&line), RpcFrame::Received(raw) if raw == params));
    }

    #[test]
    fn an_answer_is_a_result_or_a_refusal() {
        assert!(matches!(parse(r#"{"id":3,"result":{"x":1},"new":[]}"#), RpcFrame::Answer(3, Ok(r#"{"x":1}"#))));
        assert!(matches!(parse(r#"{"id":3,"result":null}"#), RpcFrame::Answer(3, Ok("null"))));
        let refused = parse(r#"{"id":4,"error":{"code":-5,"message":"+431234567","data":{"response":{}}}}"#);
        let RpcFrame::Answer(4, Err(refusal)) = refused else { panic!("{refused:?}") };
        assert_eq!(refusal, RpcRefusal { code: -5, data: json!({"response": {}}) });
        assert!(matches!(
            parse(r#"{"id":4,"error":"odd"}"#),
            RpcFrame::Answer(4, Err(RpcRefusal { code: -32603, .. }))
        ));
    }

    #[test]
    fn all_else_is_passed_over() {
        for odd in ["", "{", "[]", "7", r#"{"id":null,"error":{"code":-32700}}"#, r#"{"method":"receive"}"#] {
            assert!(matches!(parse(odd), RpcFrame::Other), "{odd}");
        }
        assert!(matches!(parse(r#"{"id":"7","result":1}"#), RpcFrame::Other));
        assert!(matches!(parse(r#"{"id":7,"method":"version","params":{}}"#), RpcFrame::Other));
    }

    proptest! {
        #[test]
        fn any_line_can_be_read(line in ".*") {
            parse(&line);
        }
    }
}
