//! Tests of the fake itself, here over raw lines: framing, ids, refusals, order, limits. See also
//! `selftest_http` and `selftest_messages`.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines, ReadHalf, WriteHalf};
use tokio::net::UnixStream;

use crate::support::signal::{FakeSignal, Fault, OWN_NUMBER, Transport, Which, uuid};

#[path = "selftest_http.rs"]
mod selftest_http;
#[path = "selftest_messages.rs"]
mod selftest_messages;

const ADA: i64 = 7;

/// Upper limit for any wait in these tests.
const LIMIT: Duration = Duration::from_secs(20);

/// The fake with Ada.
async fn fake() -> FakeSignal {
    let fake = FakeSignal::start().await;
    fake.person(ADA, "Ada", None);
    fake
}

/// A raw line connection.
struct Line {
    lines: Lines<BufReader<ReadHalf<UnixStream>>>,
    writer: WriteHalf<UnixStream>,
}

impl Line {
    async fn to(fake: &FakeSignal) -> Self {
        let (reader, writer) = tokio::io::split(UnixStream::connect(fake.socket()).await.unwrap());
        Self { lines: BufReader::new(reader).lines(), writer }
    }

    async fn write(&mut self, bytes: &[u8]) {
        self.writer.write_all(bytes).await.unwrap();
    }

    async fn ask(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        let request = json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params });
        self.write(format!("{request}\n").as_bytes()).await;
    }

    /// The next line; `None` at the end of the connection.
    async fn next(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(LIMIT, self.lines.next_line()).await.expect("nothing came");
        line.ok().flatten().map(|line| serde_json::from_str(&line).unwrap())
    }

    async fn asked(&mut self, method: &str, params: Value) -> Value {
        self.ask(1, method, params).await;
        self.next().await.unwrap()
    }

    async fn send(&mut self, recipient: &str, message: &str) -> Value {
        self.asked("send", json!({ "account": OWN_NUMBER, "recipient": [recipient], "message": message })).await
    }

    /// The answer to one written line, id and error code.
    async fn refused(&mut self, line: &str) -> (Value, i64) {
        self.write(line.as_bytes()).await;
        let answer = self.next().await.unwrap();
        (answer["id"].clone(), answer["error"]["code"].as_i64().unwrap_or_default())
    }
}

#[tokio::test]
async fn lines_are_framed_and_refused_as_by_the_real_daemon() {
    let fake = fake().await;
    let mut line = Line::to(&fake).await;
    assert_eq!(line.refused("\n").await, (Value::Null, -32700));
    assert_eq!(line.refused("{\"half\": \n").await, (Value::Null, -32700));
    assert_eq!(line.refused("[]\n").await, (Value::Null, -32600));
    assert_eq!(line.refused("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"version\"}\n").await, (json!(1), -32600));
    let method = |rest: &str| format!("{{\"jsonrpc\":\"2.0\",\"method\":\"version\",{rest}}}\r\n");
    assert_eq!(line.refused(&method("\"id\":{\"a\":1}")).await, (Value::Null, -32600));
    assert_eq!(line.refused(&method("\"id\":5,\"params\":[]")).await, (json!(5), -32600));
    for id in ["7", "\"seven\"", "7.5", "null"] {
        assert_eq!(line.refused(&method(&format!("\"id\":{id}"))).await, (serde_json::from_str(id).unwrap(), 0));
    }
    // A request without an id runs unanswered: the next answer belongs to the next request.
    line.write(method("\"params\":null").as_bytes()).await;
    assert_eq!(line.refused("{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"makeCoffee\"}\n").await, (json!(8), -32601));
    assert_eq!(fake.calls().len(), 6);
}

#[tokio::test]
async fn a_batch_is_answered_together_and_a_last_line_without_its_end_too() {
    let fake = fake().await;
    let mut line = Line::to(&fake).await;
    let one = |id: i64| json!({ "jsonrpc": "2.0", "id": id, "method": "version" });
    let silent = json!({ "jsonrpc": "2.0", "method": "version" });
    line.write(format!("{}\n", json!([one(1), silent, one(2)])).as_bytes()).await;
    assert_eq!(line.next().await.unwrap().as_array().unwrap().len(), 2);
    line.write(one(3).to_string().as_bytes()).await;
    line.writer.shutdown().await.unwrap();
    assert_eq!(line.next().await.unwrap()["id"], 3);
    assert_eq!(line.next().await, None);
}

#[tokio::test]
async fn bytes_that_are_no_text_end_the_connection_without_a_word() {
    let fake = fake().await;
    let mut line = Line::to(&fake).await;
    line.write(b"\xff\xfe{}\n").await;
    assert_eq!(line.next().await, None);
}

#[tokio::test]
async fn a_text_of_more_than_twenty_million_characters_ends_the_connection() {
    let fake = fake().await;
    let mut line = Line::to(&fake).await;
    let long = |length: usize| json!({ "note": "x".repeat(length) });
    assert!(line.asked("version", long(20_000_000)).await["result"].is_object());
    line.ask(2, "version", long(20_000_001)).await;
    assert_eq!(line.next().await, None);
}

#[tokio::test]
async fn answers_come_in_another_order_when_a_test_wants_it() {
    let fake = fake().await;
    let mut line = Line::to(&fake).await;
    fake.shuffle_next(3);
    for id in [1, 2, 3] {
        line.ask(id, "version", json!({})).await;
    }
    for id in [3, 2, 1] {
        assert_eq!(line.next().await.unwrap()["id"], id);
    }
    assert_eq!(line.asked("version", json!({})).await["result"]["version"], "0.13.19");
}

#[tokio::test]
async fn accounts_are_asked_for_as_by_the_real_daemon() {
    let fake = fake().await;
    let mut line = Line::to(&fake).await;
    assert_eq!(line.asked("listAccounts", json!({})).await["result"], json!([{ "number": OWN_NUMBER }]));
    let unknown = line.asked("sendTyping", json!({ "account": "+15559999999", "recipient": uuid(ADA) })).await;
    assert_eq!(unknown["error"]["message"], "Specified account does not exist");
    fake.accounts(&[OWN_NUMBER, "+15550000043"]);
    let missing = line.asked("sendTyping", json!({ "recipient": uuid(ADA) })).await;
    assert_eq!(missing["error"]["code"], -32602);
    assert_eq!(missing["error"]["message"], "Method requires valid account parameter");
    fake.single_account();
    assert!(line.asked("sendTyping", json!({ "recipient": uuid(ADA) })).await["result"].is_object());
    assert_eq!(line.asked("listAccounts", json!({})).await["error"]["code"], -32601);
    assert_eq!(fake.typing(ADA), 1);
}

#[tokio::test]
async fn a_device_is_linked_when_the_code_is_scanned() {
    let fake = fake().await;
    fake.accounts(&[]);
    let mut line = Line::to(&fake).await;
    assert_eq!(line.asked("finishLink", json!({ "deviceLinkUri": "sgnl://unknown" })).await["error"]["code"], -1);
    let uri = line.asked("startLink", json!({})).await["result"]["deviceLinkUri"].clone();
    line.ask(5, "finishLink", json!({ "deviceLinkUri": uri, "deviceName": "Compline" })).await;
    assert_eq!(line.asked("listAccounts", json!({})).await["result"], json!([]));
    fake.scans();
    assert_eq!(line.next().await.unwrap(), json!({ "jsonrpc": "2.0", "result": { "number": OWN_NUMBER }, "id": 5 }));
    assert_eq!(line.asked("listAccounts", json!({})).await["result"], json!([{ "number": OWN_NUMBER }]));
}

#[tokio::test]
async fn a_request_fails_as_the_test_wants_it() {
    let fake = fake().await;
    fake.server_error_next(1);
    fake.drop_after_accept_next(1);
    let mut line = Line::to(&fake).await;
    assert_eq!(line.send(&uuid(ADA), "one").await["error"]["code"], -3);
    line.ask(2, "send", json!({ "account": OWN_NUMBER, "recipient": [uuid(ADA)], "message": "two" })).await;
    assert_eq!(line.next().await, None);
    assert_eq!(fake.texts(ADA), ["two"]);
    fake.fault("send", Fault::CloseBefore, 1);
    let mut line = Line::to(&fake).await;
    line.ask(2, "send", json!({ "account": OWN_NUMBER, "recipient": [uuid(ADA)], "message": "three" })).await;
    assert_eq!((line.next().await, fake.texts(ADA)), (None, vec!["two".to_owned()]));
    fake.before_next_answer(b"<garbage>\n");
    fake.hold_answers();
    let mut line = Line::to(&fake).await;
    line.ask(4, "send", json!({ "account": OWN_NUMBER, "recipient": [uuid(ADA)], "message": "four" })).await;
    fake.until(|fake| fake.held() == 1).await;
    assert_eq!(fake.texts(ADA), ["two", "four"]);
    fake.release_sends();
    assert_eq!(line.lines.next_line().await.unwrap().unwrap(), "<garbage>");
    assert_eq!(line.next().await.unwrap()["id"], 4);
}

#[tokio::test]
async fn a_killed_daemon_leaves_its_socket_behind_and_keeps_what_waits() {
    let fake = fake().await;
    let mut line = Line::to(&fake).await;
    fake.says(ADA, "hello");
    fake.stop();
    assert_eq!(line.next().await, None);
    assert!(fake.socket().exists() && UnixStream::connect(fake.socket()).await.is_err());
    fake.restart();
    let mut line = Line::to(&fake).await;
    line.ask(1, "subscribeReceive", json!({})).await;
    let [first, second] = [line.next().await.unwrap(), line.next().await.unwrap()];
    assert!(first["result"].is_u64() && second["method"] == "receive", "{first} {second}");
    fake.stop_cleanly();
    assert!(!fake.socket().exists());
}

#[tokio::test]
async fn connections_are_closed_by_what_they_are_for() {
    let fake = fake().await;
    let (mut receiving, mut sending) = (Line::to(&fake).await, Line::to(&fake).await);
    receiving.asked("subscribeReceive", json!({})).await;
    sending.asked("version", json!({})).await;
    fake.close(Which::Receiving);
    assert_eq!(receiving.next().await, None);
    assert!(sending.asked("version", json!({})).await["result"].is_object());
    fake.close(Which::Sending);
    assert_eq!(sending.next().await, None);
}

#[tokio::test]
async fn all_three_doors_lead_to_the_same_daemon() {
    let fake = fake().await;
    let address = fake.endpoint(Transport::Tcp);
    let mut tcp = tokio::net::TcpStream::connect(address.strip_prefix("tcp:").unwrap()).await.unwrap();
    tcp.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"version\"}\n").await.unwrap();
    let mut answer = [0; 20];
    tcp.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"{\"jsonrpc\":\"2.0\",\"re");
    let mut unix = Line::to(&fake).await;
    unix.asked("version", json!({})).await;
    assert_eq!(fake.calls(), ["version", "version"]);
}
