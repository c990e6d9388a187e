//! Tests of requests as sent, and of broken responses.

use super::*;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const TOKEN: &str = "42:s3cret-T0ken_of_the_b0t";

fn wire(api: &str) -> BotApi {
    BotApi::new(api, SecretString::from(TOKEN)).unwrap()
}

fn understood(status: u16, body: &str) -> Result<Value, CallError> {
    wire("http://127.0.0.1:1").decode(StatusCode::from_u16(status).unwrap(), body.as_bytes())
}

/// Starts a server that takes one request, answers with these bytes, and closes.
async fn answering(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut request = [0; 4096];
        let _ = socket.read(&mut request).await.unwrap();
        socket.write_all(answer).await.unwrap();
    });
    address
}

#[test]
fn answers_are_sorted_by_what_may_have_happened() {
    let refused = |code, reason: &str, wait: Option<u64>| {
        let wait = wait.map(Duration::from_secs);
        Err(CallError::Rejected(ApiRefusal { code, reason: reason.to_owned(), wait, moved: None }))
    };
    let lost = |why: &str| Err(CallError::NoResponse(why.to_owned()));
    let table = [
        (200, r#"{"ok":true,"result":{"a":1}}"#, Ok(json!({"a": 1}))),
        (200, r#"{"ok":true}"#, Ok(Value::Null)),
        (400, r#"{"ok":false,"error_code":400,"description":"Bad Request"}"#, refused(400, "Bad Request", None)),
        (429, r#"{"ok":false,"error_code":429,"parameters":{"retry_after":7}}"#, refused(429, "", Some(7))),
        (429, r#"{"ok":false,"error_code":429}"#, refused(429, "", Some(5))),
        (429, r#"{"ok":false,"parameters":{"retry_after":18446744073709551615}}"#, refused(429, "", Some(86_400))),
        (403, r#"{"ok":false,"parameters":null}"#, refused(403, "", None)),
        (502, r#"{"ok":false,"error_code":502,"description":"x"}"#, lost("The server answered 502")),
        (504, "<html>Gateway</html>", lost("The server answered 504 and no JSON")),
        (404, "not here", lost("The server answered 404 and no JSON")),
        (200, "", lost("The server answered 200 and no JSON")),
        (200, "[]", lost("The server answered 200 and no JSON")),
    ];
    for (status, body, expected) in table {
        assert_eq!(understood(status, body), expected, "{status} {body}");
    }
}

#[test]
fn no_reason_holds_the_token() {
    let body = json!({"ok": false, "error_code": 400, "description": format!("at /bot{TOKEN}/x\u{202e}\n")});
    let Err(CallError::Rejected(refusal)) = understood(400, &body.to_string()) else { unreachable!() };
    assert_eq!(refusal.reason, "at /bot…/x");
}

#[test]
fn tokens_and_addresses_are_checked_without_being_shown() {
    for token in ["", "42", "42:", ":abc", "x42:abc", "42:a/b", "42:abc\n", "42:a?b", "42:abc "] {
        let error = BotApi::new("http://127.0.0.1:1", SecretString::from(token)).err().unwrap();
        assert!(token.is_empty() || !format!("{error:#}").contains(token), "{error:#}");
    }
    for api in ["", "api.telegram.org", "ftp://x", "file:///etc"] {
        assert!(BotApi::new(api, SecretString::from(TOKEN)).is_err(), "{api}");
    }
}

#[test]
fn addresses_are_built_under_the_configured_one() {
    for api in ["http://h:1", "http://h:1/", "http://h:1/?q#f"] {
        assert_eq!(wire(api).address(&["bot1", "getMe"]).unwrap().as_str(), "http://h:1/bot1/getMe");
    }
    assert_eq!(wire("http://h/a/").address(&["b"]).unwrap().as_str(), "http://h/a/b");
    // A path from outside stays below the bot's own folder and never becomes a query.
    let hostile = wire("http://h").address(&["file", "botX", "..", "..", "a?b#c", "%2e%2e"]).unwrap();
    assert_eq!(hostile.as_str(), "http://h/file/botX/a%3Fb%23c/%252e%252e");
}

#[tokio::test]
async fn a_refused_connection_means_that_nothing_was_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let failure = wire(&address).call::<Value>("getMe", &json!({}), CALL_LIMIT).await.unwrap_err();
    assert!(matches!(failure, CallError::NotSent(_)), "{failure:?}");
    assert!(!format!("{failure:?}").contains("s3cret") && !format!("{failure:?}").contains("127.0.0.1"));
}

#[tokio::test]
async fn an_answer_that_breaks_off_or_never_comes_is_lost() {
    for answer in [&b""[..], b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"ok\":true", b"nonsense\r\n\r\n"] {
        let failure = wire(&answering(answer).await).call::<Value>("x", &json!({}), CALL_LIMIT).await.unwrap_err();
        assert!(matches!(failure, CallError::NoResponse(_)), "{failure:?}");
        assert!(!format!("{failure:?}").contains("s3cret"), "{failure:?}");
    }
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", silent.local_addr().unwrap());
    let failure = wire(&address).call::<Value>("x", &json!({}), Duration::from_millis(50)).await.unwrap_err();
    assert!(matches!(failure, CallError::NoResponse(_)), "{failure:?}");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = elsewhere.local_addr().unwrap();
    let answer = format!("HTTP/1.1 307 x\r\nlocation: http://{target}/\r\ncontent-length: 0\r\n\r\n");
    let address = answering(Box::leak(answer.into_boxed_str()).as_bytes()).await;
    let failure = wire(&address).call::<Value>("x", &json!({}), CALL_LIMIT).await.unwrap_err();
    assert_eq!(failure, CallError::NoResponse("The server answered 307 and no JSON".to_owned()));
}

#[tokio::test]
async fn a_download_is_cut_at_its_limit() {
    let chunked: &[u8] = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n";
    let announced: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhelloworld";
    for answer in [chunked, announced] {
        let fetched = wire(&answering(answer).await).download("a/b", 9, CALL_LIMIT).await;
        assert_eq!(fetched, Err(FetchFileError::TooLarge));
        let fetched = wire(&answering(answer).await).download("a/b", 10, CALL_LIMIT).await;
        assert_eq!(fetched, Ok(b"helloworld".to_vec()));
    }
}
