//! Tests of the adapter against a daemon played by the test, on a Unix socket.

mod http;

use std::pin::pin;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::UnixListener;

use super::socket::{LineReader, LineWriter, halves};
use super::*;
use crate::message::FileKind;
use crate::time::{SimulatedClock, Timestamp};
use crate::wording::channel as words;

const OURS: &str = "+431110000";
const ADA: &str = "0a0a0a0a-0000-4000-8000-00000000000a";

/// The daemon's listening socket.
struct Daemon {
    folder: TempDir,
    listener: UnixListener,
}

/// The daemon's end of one connection.
struct Line {
    reader: LineReader,
    writer: LineWriter,
}

impl Daemon {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("socket")).unwrap();
        Self { folder, listener }
    }

    fn adapter(&self) -> (Arc<SimulatedClock>, Signal) {
        let config = config::Signal {
            endpoint: SignalEndpoint::Unix(self.folder.path().join("socket")),
            account: Some(OURS.to_owned()),
            attachments_dir: None,
            command: Vec::new(),
        };
        let clock = Arc::new(SimulatedClock::new(Timestamp(1_000_000)));
        (clock.clone(), Signal::new(&config, clock).unwrap())
    }

    async fn accept(&self) -> Line {
        let (read, write) = self.listener.accept().await.unwrap().0.into_split();
        let (reader, writer) = halves(read, write);
        Line { reader, writer }
    }

    /// Accepts a connection and confirms its subscription.
    async fn subscribed(&self) -> Line {
        let mut line = self.accept().await;
        let asked = line.asked("subscribeReceive").await;
        assert_eq!(asked["params"], json!({"account": OURS}));
        line.answer(&asked, json!(0)).await;
        line
    }
}

impl Line {
    async fn asked(&mut self, method: &str) -> Value {
        let asked: Value = serde_json::from_str(&self.reader.next().await.unwrap()).unwrap();
        assert_eq!(asked["method"], method);
        asked
    }

    async fn answer(&mut self, asked: &Value, result: Value) {
        self.say(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": result})).await;
    }

    async fn say(&mut self, line: &Value) {
        self.writer.write(&line.to_string()).await.unwrap();
    }

    /// Sends a message with that number as its timestamp.
    async fn receive(&mut self, number: u64) {
        self.say(&json!({"jsonrpc": "2.0", "method": "receive", "params": envelope(number)})).await;
    }
}

fn envelope(number: u64) -> Value {
    json!({"account": OURS, "envelope": {"sourceUuid": ADA, "timestamp": number}})
}

/// Number of the only message in a batch.
fn number(batch: &Batch) -> u64 {
    let [raw] = batch.items.as_slice() else { panic!("{batch:?}") };
    serde_json::from_str::<Value>(raw).unwrap()["envelope"]["timestamp"].as_u64().unwrap()
}

fn sent(timestamp: u64) -> Value {
    json!({"timestamp": timestamp, "results": [{"type": "SUCCESS", "recipientAddress": {"uuid": ADA}}]})
}

fn piece(text: &str, quotes: Option<&str>) -> OutgoingPart {
    let quotes = quotes.map(str::to_owned);
    OutgoingPart { rich: text.to_owned(), plain: text.to_owned(), reply_to: quotes, ..OutgoingPart::default() }
}

/// Advances the clock and lets the follow-up work run.
async fn passes(clock: &SimulatedClock, seconds: u64) {
    clock.advance(Duration::from_secs(seconds)).await;
    crate::time::clock::real_sleep(Duration::from_secs(2)).await;
}

#[tokio::test]
async fn an_unacknowledged_event_is_delivered_again() {
    let daemon = Daemon::new();
    let (_clock, signal) = daemon.adapter();
    let (first, mut line) = tokio::join!(signal.next(None), daemon.subscribed());
    assert!(first.unwrap().items.is_empty(), "the subscription is a sign of life");
    line.receive(1).await;
    line.receive(2).await;
    for _ in 0..3 {
        assert_eq!(number(&signal.next(None).await.unwrap()), 1);
    }
    // Not even the end of the connection loses a line that was read and is not stored.
    drop(line);
    assert_eq!(number(&signal.next(None).await.unwrap()), 1);
    signal.ack(None).await;
    assert_eq!(number(&signal.next(None).await.unwrap()), 2);
    signal.ack(None).await;
    assert!(matches!(signal.next(None).await, Err(PollError::Unreachable(_))));
}

#[tokio::test]
async fn unread_messages_stay_with_the_daemon_until_acknowledged() {
    let daemon = Daemon::new();
    let (_clock, signal) = daemon.adapter();
    let (_, mut line) = tokio::join!(signal.next(None), daemon.subscribed());
    line.receive(0).await;
    assert_eq!(number(&signal.next(None).await.unwrap()), 0);
    let padded = |number: u64| {
        let mut params = envelope(number);
        params["padding"] = "x".repeat(64 * 1024).into();
        json!({"method": "receive", "params": params})
    };
    // More than any socket buffer holds: writing it all completes only when the other side reads.
    let flood = async {
        for number in 1..100 {
            line.say(&padded(number)).await;
        }
    };
    let mut flood = pin!(flood);
    tokio::select! {
        () = &mut flood => panic!("somebody read on without an acknowledgement"),
        () = crate::time::clock::real_sleep(Duration::from_millis(200)) => {}
    }
    let reading = async {
        for expected in 1..100 {
            signal.ack(None).await;
            assert_eq!(number(&signal.next(None).await.unwrap()), expected);
        }
    };
    tokio::join!(flood, reading);
}

#[tokio::test]
async fn both_forms_come_through_also_before_the_subscription_is_answered() {
    let daemon = Daemon::new();
    let (_clock, signal) = daemon.adapter();
    let early = async {
        let mut line = daemon.accept().await;
        let asked = line.asked("subscribeReceive").await;
        line.receive(1).await;
        line.answer(&asked, json!(5)).await;
        line.say(&json!({"id": 77, "result": "nobody asked"})).await;
        line.say(&json!({"method": "receive", "params": {"account": "+432", "envelope": {}}})).await;
        line.say(&json!({"method": "receive", "params": {"subscription": 5, "result": envelope(2)}})).await;
        line
    };
    let (first, _line) = tokio::join!(signal.next(None), early);
    assert_eq!(number(&first.unwrap()), 1);
    signal.ack(None).await;
    assert!(signal.next(None).await.unwrap().items.is_empty());
    let second = signal.next(None).await.unwrap();
    assert!(second.items.first().unwrap().starts_with("{\"subscription\":5"));
}

#[tokio::test]
async fn a_silent_daemon_is_reported_within_75_seconds() {
    let daemon = Daemon::new();
    let (clock, signal) = daemon.adapter();
    assert_eq!(signal.health().problem.as_deref(), Some(words::SIGNAL_NOT_YET));
    let (_, mut line) = tokio::join!(signal.next(None), daemon.subscribed());
    assert_eq!(signal.health().problem, None);
    let heard_at = {
        let mut next = pin!(signal.next(None));
        let answering = async {
            for _ in 0..4 {
                clock.advance(Duration::from_secs(30)).await;
                let asked = line.asked("version").await;
                line.answer(&asked, json!({"version": "0.14.6"})).await;
                while signal.health().last_event_at != Some(clock.now()) {
                    tokio::task::yield_now().await;
                }
            }
            clock.now()
        };
        let heard_at = tokio::select! {
            heard_at = answering => heard_at,
            next = &mut next => panic!("{next:?}"),
        };
        assert_eq!(signal.health().problem, None);
        let lost = tokio::select! {
            lost = next => lost,
            () = passes(&clock, 75) => panic!("nobody noticed"),
        };
        assert!(matches!(lost, Err(PollError::Unreachable(_))), "{lost:?}");
        heard_at
    };
    let health = signal.health();
    assert_eq!((health.problem.as_deref(), health.last_event_at), (Some(words::SIGNAL_SILENT), Some(heard_at)));
    let again = async { tokio::join!(daemon.subscribed(), clock.advance(Duration::from_secs(1))).0 };
    let (next, _line) = tokio::join!(signal.next(None), again);
    assert!(next.unwrap().items.is_empty());
    assert_eq!(signal.health().problem, None);
}

#[tokio::test]
async fn bytes_that_are_no_text_cost_the_connection_and_nothing_else() {
    use tokio::io::AsyncWriteExt;
    let daemon = Daemon::new();
    let (clock, signal) = daemon.adapter();
    let odd = async {
        let mut stream = daemon.listener.accept().await.unwrap().0;
        stream.write_all(b"\xff\xfe\n").await.unwrap();
        stream
    };
    let (lost, _stream) = tokio::join!(signal.next(None), odd);
    assert!(matches!(lost, Err(PollError::Unreachable(_))));
    let (next, _line, ()) = tokio::join!(signal.next(None), daemon.subscribed(), clock.advance(Duration::from_secs(1)));
    assert!(next.is_ok());
}

#[tokio::test]
async fn a_daemon_without_our_account_is_reported_with_the_fix() {
    let daemon = Daemon::new();
    let (clock, signal) = daemon.adapter();
    let answering = async {
        let mut line = daemon.accept().await;
        for number in ["+439990000", OURS] {
            let asked = line.asked("version").await;
            line.answer(&asked, json!({"version": "0.14.6"})).await;
            let asked = line.asked("listAccounts").await;
            line.answer(&asked, json!([{"number": number}])).await;
        }
    };
    let connecting = async {
        assert_eq!(signal.connect().await, Err(PollError::BadToken));
        assert!(signal.health().problem.unwrap().contains(words::ACCOUNT_UNKNOWN));
        assert_eq!(signal.connect().await, Ok(()));
        assert!(!signal.health().problem.unwrap().contains(words::ACCOUNT_UNKNOWN));
    };
    tokio::join!(answering, connecting);
    assert_eq!(signal.account(), OURS);
    let refusing = async {
        let mut line = daemon.accept().await;
        let asked = line.asked("subscribeReceive").await;
        line.say(&json!({"id": asked["id"], "error": {"code": -32602, "message": "x"}})).await;
    };
    let (next, ()) = tokio::join!(signal.next(None), refusing);
    assert_eq!(next, Err(PollError::BadToken));
    assert!(signal.health().problem.unwrap().contains(words::ACCOUNT_UNKNOWN));
    assert!(clock.now() > Timestamp(0));
}

#[tokio::test]
async fn each_thing_that_goes_out_is_one_request() {
    let daemon = Daemon::new();
    let (_clock, signal) = daemon.adapter();
    let file = OutgoingFile {
        kind: FileKind::Voice,
        name: "a.ogg".to_owned(),
        mime: "audio/ogg".to_owned(),
        bytes: b"hi".as_slice().into(),
    };
    let quoted = format!("m{ADA}:5");
    let sending = async {
        let ours = signal.send(ADA, &piece("one", Some(&quoted)), PartFormat::Plain).await.unwrap();
        assert_eq!(ours, "m:17");
        signal.edit("group:Zw==", &ours, &piece("two", None), PartFormat::Plain).await.unwrap();
        signal.react(ADA, &ours, "").await.unwrap();
        assert_eq!(signal.send_file(ADA, &file).await.unwrap(), "m:17");
        signal.mark_read("group:Zw==", &quoted).await;
        signal.typing("group:Zw==", Typing::Started).await;
        signal.typing(ADA, Typing::Stopped).await;
    };
    let answering = async {
        let mut line = daemon.accept().await;
        for (method, params) in [
            ("send", json!({"recipient": [ADA], "message": "one", "quoteTimestamp": 5, "quoteAuthor": ADA})),
            ("send", json!({"groupId": ["Zw=="], "message": "two", "editTimestamp": 17})),
            (
                "sendReaction",
                json!({"recipient": [ADA], "emoji": "👍", "targetAuthor": OURS, "targetTimestamp": 17, "remove": true}),
            ),
            ("send", json!({"recipient": [ADA], "attachment": ["data:audio/ogg;filename=a.ogg;base64,aGk="]})),
            ("sendReceipt", json!({"recipient": ADA, "targetTimestamp": [5], "type": "read"})),
            ("sendTyping", json!({"groupId": ["Zw=="]})),
            ("sendTyping", json!({"recipient": [ADA], "stop": true})),
        ] {
            let asked = line.asked(method).await;
            let mut expected = params;
            expected["account"] = OURS.into();
            assert_eq!(asked["params"], expected, "{method}");
            line.answer(&asked, sent(17)).await;
        }
    };
    tokio::join!(sending, answering);
    assert!(matches!(signal.react(ADA, "r1:2", "x").await, Err(SendError::Refused(_))));
    assert_eq!(signal.edit(ADA, &quoted, &piece("x", None), PartFormat::Plain).await, Err(SendError::NotFound));
}

#[tokio::test]
async fn while_signal_asks_for_less_courtesies_are_left_out() {
    let daemon = Daemon::new();
    let (clock, signal) = daemon.adapter();
    let limited = json!({"timestamp": 1, "results": [{"type": "RATE_LIMIT_FAILURE", "retryAfterSeconds": 90}]});
    let talking = async {
        let wait = signal.send(ADA, &piece("x", None), PartFormat::Plain).await;
        assert_eq!(wait, Err(SendError::Wait(Duration::from_secs(90))));
        signal.typing(ADA, Typing::Started).await;
        signal.mark_read(ADA, &format!("m{ADA}:5")).await;
        clock.advance(Duration::from_secs(90)).await;
        signal.typing(ADA, Typing::Started).await;
        signal.send(ADA, &piece("y", None), PartFormat::Plain).await.unwrap();
    };
    let answering = async {
        let mut line = daemon.accept().await;
        for (method, result) in [("send", limited), ("sendTyping", json!({})), ("send", sent(2))] {
            let asked = line.asked(method).await;
            line.answer(&asked, result).await;
        }
    };
    tokio::join!(talking, answering);
    let trouble = signal.health().problem.unwrap();
    assert!(!trouble.contains(&words::rate_limited(90)), "{trouble}");
}

#[tokio::test]
async fn a_request_that_was_lost_is_unclear_and_the_next_goes_over_a_new_connection() {
    let daemon = Daemon::new();
    let (_clock, signal) = daemon.adapter();
    let talking = async {
        let lost = signal.send(ADA, &piece("x", None), PartFormat::Plain).await;
        assert!(matches!(lost, Err(SendError::OutcomeUnknown(_))), "{lost:?}");
        assert_eq!(signal.send(ADA, &piece("x", None), PartFormat::Plain).await.as_deref(), Ok("m:3"));
    };
    let answering = async {
        let mut line = daemon.accept().await;
        line.asked("send").await;
        drop(line);
        let mut line = daemon.accept().await;
        let asked = line.asked("send").await;
        line.answer(&asked, sent(3)).await;
    };
    tokio::join!(talking, answering);
    drop(daemon);
    let away = signal.send(ADA, &piece("x", None), PartFormat::Plain).await;
    assert!(matches!(away, Err(SendError::Later(_) | SendError::OutcomeUnknown(_))), "{away:?}");
    assert!(matches!(signal.send(ADA, &piece("x", None), PartFormat::Plain).await, Err(SendError::Later(_))));
}

#[tokio::test]
async fn a_file_is_handed_over_within_its_limit() {
    let daemon = Daemon::new();
    let (_clock, signal) = daemon.adapter();
    let fetching = async {
        assert_eq!(signal.fetch("../x|y", 9).await, Err(FetchFileError::NotFound));
        assert_eq!(signal.fetch("a.jpg|group:Zw==", 2).await, Ok(b"hi".to_vec()));
        assert_eq!(signal.fetch("a.jpg|u", 1).await, Err(FetchFileError::TooLarge));
    };
    let answering = async {
        let mut line = daemon.accept().await;
        for peer in [("groupId", "Zw=="), ("recipient", "u")] {
            let asked = line.asked("getAttachment").await;
            assert_eq!(asked["params"], json!({"account": OURS, "id": "a.jpg", (peer.0): peer.1}));
            line.answer(&asked, json!({"data": "aGk="})).await;
        }
    };
    tokio::join!(fetching, answering);
}
