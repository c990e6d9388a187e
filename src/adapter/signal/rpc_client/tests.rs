//! Tests of requests over a pipe, with the daemon played by the test.

use serde_json::{Value, json};
use tokio::io::DuplexStream;

use super::super::socket::halves;
use super::*;
use crate::time::{SimulatedClock, Timestamp};

const LIMIT: Duration = Duration::from_secs(60);

/// The daemon's end.
struct Daemon {
    reader: LineReader,
    writer: LineWriter,
}

impl Daemon {
    fn new(end: DuplexStream) -> Self {
        let (read, write) = tokio::io::split(end);
        let (reader, writer) = halves(read, write);
        Self { reader, writer }
    }

    /// Returns the id and the method of the next request.
    async fn asked(&mut self) -> (u64, String) {
        let line: Value = serde_json::from_str(&self.reader.next().await.unwrap()).unwrap();
        (line["id"].as_u64().unwrap(), line["method"].as_str().unwrap().to_owned())
    }

    async fn say(&mut self, line: &Value) {
        self.writer.write(&line.to_string()).await.unwrap();
    }
}

fn pair(size: usize) -> (RpcConnection, Daemon, SimulatedClock) {
    let (ours, theirs) = tokio::io::duplex(size);
    let (read, write) = tokio::io::split(ours);
    let (reader, writer) = halves(read, write);
    (RpcConnection::start(reader, writer), Daemon::new(theirs), SimulatedClock::new(Timestamp(0)))
}

#[tokio::test]
async fn answers_find_their_requests_in_any_order() {
    let (exchange, mut daemon, clock) = pair(1024);
    let none = Params::new();
    let ask = |method: &'static str| exchange.call(&clock, method, &none, LIMIT);
    let answering = async {
        let (first, second, third) = (daemon.asked().await, daemon.asked().await, daemon.asked().await);
        daemon.say(&json!({"id": 99, "result": "nobody asked"})).await;
        daemon.say(&json!({"method": "receive", "params": {"envelope": {}}})).await;
        for (id, method) in [third, first] {
            daemon.say(&json!({"id": id, "result": method})).await;
        }
        daemon.say(&json!({"id": second.0, "error": {"code": -3}})).await;
    };
    let (a, b, c, ()) = tokio::join!(ask("a"), ask("b"), ask("c"), answering);
    assert_eq!((a, c), (Ok("\"a\"".to_owned()), Ok("\"c\"".to_owned())));
    assert!(matches!(b, Err(RpcError::Rejected(refusal)) if refusal.code == -3));
    assert!(exchange.calls.lock().calls.is_empty());
}

#[tokio::test]
async fn an_end_without_an_answer_leaves_what_was_written_unclear() {
    let (exchange, mut daemon, clock) = pair(1024);
    let none = Params::new();
    let ending = async {
        daemon.asked().await;
        drop(daemon);
    };
    let (answer, ()) = tokio::join!(exchange.call(&clock, "a", &none, LIMIT), ending);
    assert!(matches!(answer, Err(RpcError::NoResponse(_))), "{answer:?}");
    assert!(exchange.is_closed());
    assert!(matches!(exchange.call(&clock, "b", &none, LIMIT).await, Err(RpcError::NotSent(_))));
}

#[tokio::test]
async fn a_request_never_written_is_certainly_not_sent() {
    // Too small for the first request; the second one waits for it.
    let (exchange, daemon, clock) = pair(8);
    let none = Params::new();
    let asking =
        async { tokio::join!(exchange.call(&clock, "a", &none, LIMIT), exchange.call(&clock, "b", &none, LIMIT)) };
    let ending = async {
        while exchange.calls.lock().calls.values().filter(|call| call.is_written).count() == 0 {
            tokio::task::yield_now().await;
        }
        drop(daemon);
    };
    let ((first, second), ()) = tokio::join!(asking, ending);
    assert!(matches!(first, Err(RpcError::NoResponse(_))), "{first:?}");
    assert!(matches!(second, Err(RpcError::NotSent(_))), "{second:?}");
}

#[tokio::test]
async fn an_answer_may_take_its_time_and_no_longer() {
    let (exchange, mut daemon, clock) = pair(1024);
    let none = Params::new();
    let waiting = async {
        daemon.asked().await;
        clock.advance(LIMIT).await;
    };
    let (answer, ()) = tokio::join!(exchange.call(&clock, "a", &none, LIMIT), waiting);
    assert_eq!(answer, Err(RpcError::NoResponse("no answer within 60 seconds".to_owned())));
    assert!(exchange.calls.lock().calls.is_empty());
}

#[tokio::test]
async fn an_abandoned_rpc_call_leaves_nothing_behind() {
    let (exchange, mut daemon, clock) = pair(1024);
    let none = Params::new();
    {
        let asking = exchange.call(&clock, "a", &none, LIMIT);
        tokio::select! {
            _ = asking => panic!("nobody answered"),
            (id, _) = daemon.asked() => assert_eq!(id, 1),
        }
    }
    assert!(exchange.calls.lock().calls.is_empty());
    let answering = async {
        let (id, _) = daemon.asked().await;
        daemon.say(&json!({"id": 1, "result": "late"})).await;
        daemon.say(&json!({"id": id, "result": "b"})).await;
    };
    let (answer, ()) = tokio::join!(exchange.call(&clock, "b", &none, LIMIT), answering);
    assert_eq!(answer, Ok("\"b\"".to_owned()));
}

#[tokio::test]
async fn a_line_that_is_no_text_ends_the_connection() {
    use tokio::io::AsyncWriteExt;
    let (ours, mut theirs) = tokio::io::duplex(1024);
    let (read, write) = tokio::io::split(ours);
    let (reader, writer) = halves(read, write);
    let (exchange, clock) = (RpcConnection::start(reader, writer), SimulatedClock::new(Timestamp(0)));
    theirs.write_all(b"\xff\xfe\n").await.unwrap();
    let answer = exchange.call(&clock, "a", &Params::new(), LIMIT).await;
    assert!(matches!(answer, Err(RpcError::NotSent(_) | RpcError::NoResponse(_))), "{answer:?}");
    assert!(exchange.is_closed());
}
