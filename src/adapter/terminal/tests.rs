//! Tests of the terminal over in-memory streams: storing, delivery, rejection and backpressure.

use super::*;
use crate::time::{SimulatedClock, SystemClock, Timestamp};
use tokio::task::JoinHandle;

const BUFFER: usize = 64 * 1024;

struct Client {
    connection: Connection,
    served: JoinHandle<()>,
}

impl Client {
    async fn say(&mut self, id: &str, text: &str) {
        let say = FromClient::Say { id: id.into(), text: text.into(), piped: false, thread: None };
        self.connection.writer.write(&say).await.unwrap();
    }

    async fn hears(&mut self) -> Option<FromGateway> {
        match self.connection.reader.next().await.unwrap() {
            Frame::Message(frame) => Some(frame),
            Frame::End => None,
            Frame::Skipped(error) => panic!("{error:?}"),
        }
    }

    async fn leave(self) {
        drop(self.connection);
        self.served.await.unwrap();
    }
}

fn terminal() -> Arc<Terminal> {
    Terminal::new(Arc::new(SystemClock::default()))
}

/// Connects a client of a peer; it is attached when this returns.
async fn attach(terminal: &Arc<Terminal>, peer: &str) -> Client {
    attach_over(terminal, peer, BUFFER).await
}

async fn attach_over(terminal: &Arc<Terminal>, peer: &str, buffer: usize) -> Client {
    let before = terminal.clients.count();
    let client = knock(terminal, peer, buffer);
    while terminal.clients.count() == before {
        tokio::task::yield_now().await;
    }
    client
}

fn knock(terminal: &Arc<Terminal>, peer: &str, buffer: usize) -> Client {
    let (ours, theirs) = tokio::io::duplex(buffer);
    let (hub, peer) = (Arc::clone(terminal), peer.to_owned());
    let served = tokio::spawn(async move { hub.attach(peer, Connection::of_gateway(theirs)).await });
    Client { connection: Connection::of_client(ours), served }
}

fn piece(markdown: &str) -> OutgoingPart {
    let shown = RichPart { markdown: markdown.into(), trusted: true, unanswered: false };
    OutgoingPart { rich: serde_json::to_string(&shown).unwrap(), plain: markdown.into(), ..OutgoingPart::default() }
}

fn message(id: &str, markdown: &str, trusted: bool, answers: &[&str], awaited: bool) -> FromGateway {
    let (id, markdown) = (id.to_owned(), markdown.to_owned());
    FromGateway::Message { id, markdown, trusted, answers: Some(named(answers)), awaited, unanswered: false }
}

fn named(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|&id| id.to_owned()).collect()
}

fn ids(terminal: &Terminal, batch: &Batch) -> Vec<String> {
    batch.items.iter().map(|raw| terminal.parse(raw).unwrap().external_id).collect()
}

#[tokio::test]
async fn a_message_is_confirmed_once_it_is_stored() {
    let terminal = terminal();
    let (mut ada, mut ben) = (attach(&terminal, "ada").await, attach(&terminal, "ben").await);
    ada.say("a1", "good evening").await;
    let batch = terminal.next(None).await.unwrap();
    assert_eq!(ids(&terminal, &batch), ["a1"]);
    assert_eq!(terminal.parse(&batch.items[0]).unwrap().peer, "ada");
    // Not stored yet: the same items are returned again.
    assert_eq!(terminal.next(None).await.unwrap(), batch);
    terminal.typing("ada", Typing::Started).await;
    terminal.ack(None).await;
    // Nothing was confirmed before.
    assert_eq!(ada.hears().await, Some(FromGateway::Typing));
    assert_eq!(ada.hears().await, Some(FromGateway::Stored { id: "a1".into() }));
    ben.say("b1", "hello").await;
    assert_eq!(ids(&terminal, &terminal.next(None).await.unwrap()), ["b1"]);
    terminal.ack(None).await;
    assert_eq!(ben.hears().await, Some(FromGateway::Stored { id: "b1".into() }));
}

#[tokio::test]
async fn a_message_reaches_every_client_of_its_peer_and_no_other_client() {
    let terminal = terminal();
    assert_eq!(terminal.send("ada", &piece("hi"), PartFormat::Rich).await, Err(SendError::NotAttached));
    let (mut one, mut two) = (attach(&terminal, "ada").await, attach(&terminal, "ada").await);
    let mut ben = attach(&terminal, "ben").await;
    let id = terminal.send("ada", &piece("hi"), PartFormat::Rich).await.unwrap();
    let message = message(&id, "hi", true, &[], false);
    assert_eq!(one.hears().await, Some(message.clone()));
    assert_eq!(two.hears().await, Some(message));
    one.leave().await;
    let second = terminal.send("ada", &piece("again"), PartFormat::Plain).await.unwrap();
    assert_ne!(id, second);
    assert_eq!(two.hears().await, Some(self::message(&second, "again", false, &[], false)));
    two.leave().await;
    assert_eq!(terminal.send("ada", &piece("hi"), PartFormat::Rich).await, Err(SendError::NotAttached));
    terminal.close().await;
    assert_eq!(ben.hears().await, Some(farewell()));
}

/// Proves: command-line/chat-answer
#[tokio::test]
async fn each_client_sees_the_answered_questions_and_if_one_was_asked_here() {
    let terminal = terminal();
    let (mut one, mut two) = (attach(&terminal, "ada").await, attach(&terminal, "ada").await);
    for (client, id) in [(&mut one, "a1"), (&mut two, "a2")] {
        client.say(id, "hi").await;
        assert_eq!(ids(&terminal, &terminal.next(None).await.unwrap()), [id]);
        terminal.ack(None).await;
        assert_eq!(client.hears().await, Some(FromGateway::Stored { id: id.into() }));
    }
    for (answers, awaited) in [(&["a1"][..], true), (&["a2", "a1"], true), (&["a0"], false), (&[], false)] {
        let piece = OutgoingPart { answers: named(answers), ..piece("hi") };
        let id = terminal.send("ada", &piece, PartFormat::Rich).await.unwrap();
        let told = message(&id, "hi", true, answers, awaited);
        assert_eq!((one.hears().await, two.hears().await), (Some(told.clone()), Some(told)));
    }
    one.leave().await;
    let piece = OutgoingPart { answers: named(&["a1"]), ..piece("hi") };
    let id = terminal.send("ada", &piece, PartFormat::Rich).await.unwrap();
    assert_eq!(two.hears().await, Some(message(&id, "hi", true, &["a1"], false)), "whoever asked has left");
}

#[tokio::test]
async fn ids_differ_between_runs() {
    let mut seen = std::collections::HashSet::new();
    for _ in 0..3 {
        let terminal = terminal();
        let _ada = attach(&terminal, "ada").await;
        assert!(seen.insert(terminal.send("ada", &piece("hi"), PartFormat::Rich).await.unwrap()));
    }
}

#[tokio::test]
async fn a_growing_answer_is_shown_and_may_begin_again() {
    let terminal = terminal();
    let mut ada = attach(&terminal, "ada").await;
    terminal.typing("ada", Typing::Started).await;
    terminal.stream_delta("ada", "Go", &named(&["a1"])).await;
    terminal.stream_delta("ada", "", &named(&["a1"])).await;
    terminal.stream_delta("ben", "not for ada", &[]).await;
    terminal.send("ada", &piece("Good."), PartFormat::Rich).await.unwrap();
    assert_eq!(ada.hears().await, Some(FromGateway::Typing));
    assert_eq!(ada.hears().await, Some(FromGateway::Grow { delta: "Go".into(), answers: Some(named(&["a1"])) }));
    assert_eq!(ada.hears().await, Some(FromGateway::Restart));
    assert!(matches!(ada.hears().await, Some(FromGateway::Message { .. })));
    assert_eq!(terminal.edit("ada", "1", &piece("x"), PartFormat::Rich).await, Err(SendError::NotFound));
}

/// Proves: command-line/chat-reconnect
#[tokio::test]
async fn a_client_that_attaches_during_an_answer_gets_it_from_the_beginning() {
    let (terminal, a1) = (terminal(), named(&["a1"]));
    let grow = |delta: &str| Some(FromGateway::Grow { delta: delta.into(), answers: Some(named(&["a1"])) });
    terminal.stream_delta("ada", "Go", &a1).await;
    terminal.stream_delta("ada", "od", &a1).await;
    let (mut ada, mut ben) = (attach(&terminal, "ada").await, attach(&terminal, "ben").await);
    terminal.stream_delta("ada", ".", &a1).await;
    assert_eq!((ada.hears().await, ada.hears().await), (grow("Good"), grow(".")));
    let answer = OutgoingPart { answers: a1.clone(), ..piece("Good.") };
    let answered = async { terminal.send("ada", &answer, PartFormat::Rich).await.unwrap() };
    let (id, heard) = tokio::join!(answered, ada.hears());
    assert_eq!(heard, Some(message(&id, "Good.", true, &["a1"], false)));
    // What was answered, has begun again or was stopped is not repeated.
    let silent = async |terminal: &Arc<Terminal>| {
        let mut late = attach(terminal, "ada").await;
        terminal.typing("ada", Typing::Started).await;
        assert_eq!(late.hears().await, Some(FromGateway::Typing));
        late.leave().await;
    };
    silent(&terminal).await;
    terminal.stream_delta("ada", "Bad", &a1).await;
    terminal.stream_delta("ada", "", &[]).await;
    silent(&terminal).await;
    terminal.stream_delta("ada", "Bad", &a1).await;
    terminal.typing("ada", Typing::Stopped).await;
    silent(&terminal).await;
    terminal.typing("ben", Typing::Started).await;
    assert_eq!(ben.hears().await, Some(FromGateway::Typing));
}

#[tokio::test]
async fn a_flood_is_slowed_and_nothing_of_it_is_lost() {
    const MANY: usize = 10 * QUEUE_CAPACITY;
    let terminal = terminal();
    let mut ada = attach_over(&terminal, "ada", 256).await;
    let hub = Arc::clone(&terminal);
    let stored = tokio::spawn(async move {
        let mut seen = Vec::new();
        while seen.len() < MANY {
            let batch = hub.next(None).await.unwrap();
            assert!(batch.items.len() <= QUEUE_CAPACITY);
            seen.extend(ids(&hub, &batch));
            hub.ack(None).await;
        }
        seen
    });
    let Connection { reader, writer, .. } = &mut ada.connection;
    let say = async {
        for number in 0..MANY {
            let say = FromClient::Say { id: number.to_string(), text: "x".repeat(100), piped: false, thread: None };
            writer.write(&say).await.unwrap();
        }
    };
    let hear = async {
        for number in 0..MANY {
            let frame: Frame<FromGateway> = reader.next().await.unwrap();
            assert_eq!(frame, Frame::Message(FromGateway::Stored { id: number.to_string() }));
        }
    };
    tokio::join!(say, hear);
    assert_eq!(stored.await.unwrap(), (0..MANY).map(|number| number.to_string()).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_flood_blocks_its_sender_while_nothing_is_stored() {
    let terminal = terminal();
    let mut ada = attach_over(&terminal, "ada", 64).await;
    let mut written = 0;
    let flood = async {
        loop {
            ada.say(&written.to_string(), "x").await;
            written += 1;
        }
    };
    // The writer is stuck once queue and pipe are full; a full turn of the scheduler without
    // progress proves it.
    tokio::select! {
        () = flood => (),
        () = async { for _ in 0..10_000 { tokio::task::yield_now().await; } } => (),
    }
    assert!((QUEUE_CAPACITY..QUEUE_CAPACITY + 8).contains(&written), "{written} were taken");
}

#[tokio::test]
async fn a_bad_line_is_refused_and_the_next_one_is_taken() {
    let terminal = terminal();
    let mut ada = attach(&terminal, "ada").await;
    let raw = |bytes: &'static [u8]| serde_json::value::RawValue::from_string(String::from_utf8_lossy(bytes).into());
    ada.connection.writer.write(&raw(b"[1,2]").unwrap()).await.unwrap();
    ada.connection.writer.write(&FromClient::Hello { person: None, once: false }).await.unwrap();
    ada.say("has a space", "x").await;
    ada.say("", "x").await;
    ada.say("ok", "x").await;
    assert_eq!(ids(&terminal, &terminal.next(None).await.unwrap()), ["ok"]);
    terminal.ack(None).await;
    for why in [words::NOT_UNDERSTOOD, words::NOT_UNDERSTOOD, words::BAD_ID, words::BAD_ID] {
        assert_eq!(ada.hears().await, Some(FromGateway::Refused { why: why.into() }));
    }
    assert_eq!(ada.hears().await, Some(FromGateway::Stored { id: "ok".into() }));
}

#[tokio::test]
async fn attaching_and_leaving_wake_the_delivery() {
    let terminal = terminal();
    let (rung, mut heard) = mpsc::channel(4);
    terminal.on_presence_change(move |peer| rung.try_send(peer.to_owned()).unwrap());
    let ada = attach(&terminal, "ada").await;
    assert_eq!(heard.recv().await.as_deref(), Some("ada"));
    assert!(terminal.is_attended("ada") && !terminal.is_attended("ben"));
    ada.leave().await;
    assert_eq!(heard.recv().await.as_deref(), Some("ada"));
    assert!(!terminal.is_attended("ada"));
}

#[tokio::test]
async fn a_client_that_does_not_read_is_disconnected() {
    let clock = Arc::new(SimulatedClock::new(Timestamp::from_seconds(0)));
    let terminal = Terminal::new(clock.clone());
    let mut ada = attach_over(&terminal, "ada", 16).await;
    let mut awake = attach(&terminal, "ada").await;
    let message = piece("a rather long message");
    let time_passes = async {
        assert!(matches!(awake.hears().await, Some(FromGateway::Message { .. })));
        clock.advance(WRITE_TIMEOUT).await;
    };
    // One client takes it, so it is delivered; the other one was too slow.
    let (sent, ()) = tokio::join!(terminal.send("ada", &message, PartFormat::Rich), time_passes);
    assert!(sent.is_ok());
    assert!(matches!(ada.connection.reader.next::<FromGateway>().await, Ok(Frame::Skipped(_) | Frame::End)));
    ada.served.await.unwrap();
    awake.leave().await;
    assert_eq!(terminal.send("ada", &piece("hi"), PartFormat::Rich).await, Err(SendError::NotAttached));
}

/// Proves: command-line/chat-answer
#[tokio::test]
async fn an_answer_taken_only_by_other_clients_is_not_delivered_to_the_asker() {
    let clock = Arc::new(SimulatedClock::new(Timestamp::from_seconds(0)));
    let terminal = Terminal::new(clock.clone());
    let mut asleep = attach_over(&terminal, "ada", 64).await;
    asleep.say("a1", "hi").await;
    assert_eq!(ids(&terminal, &terminal.next(None).await.unwrap()), ["a1"]);
    let mut awake = attach(&terminal, "ada").await;
    let answer = OutgoingPart { answers: named(&["a1"]), ..piece("a rather long message for a pipe that is short") };
    let time_passes = async {
        assert!(matches!(awake.hears().await, Some(FromGateway::Message { awaited: true, .. })));
        clock.advance(WRITE_TIMEOUT).await;
    };
    let (sent, ()) = tokio::join!(terminal.send("ada", &answer, PartFormat::Rich), time_passes);
    assert_eq!(sent, Err(SendError::OutcomeUnknown(words::ASKER_LEFT.to_owned())));
    asleep.served.await.unwrap();
    assert!(terminal.send("ada", &answer, PartFormat::Rich).await.is_ok());
    assert!(matches!(awake.hears().await, Some(FromGateway::Message { awaited: false, .. })));
}

#[tokio::test]
async fn closing_ends_receiving() {
    let terminal = terminal();
    let mut ada = attach(&terminal, "ada").await;
    terminal.close().await;
    assert_eq!(ada.hears().await, Some(farewell()));
    assert_eq!(ada.hears().await, None);
    assert_eq!(terminal.next(None).await, Err(PollError::Closed));
    let mut late = knock(&terminal, "ada", BUFFER);
    assert_eq!(late.hears().await, Some(farewell()));
}

/// Proves: operation/terminal-on-full-disk
#[tokio::test]
async fn a_message_that_cannot_be_stored_is_returned_and_not_redelivered() {
    let terminal = terminal();
    let (mut ada, mut other) = (attach(&terminal, "ada").await, attach(&terminal, "ada").await);
    ada.say("a1", "good evening").await;
    assert_eq!(ids(&terminal, &terminal.next(None).await.unwrap()), ["a1"]);
    // A client that still waits for storing is not warned twice, and one without messages waits for
    // nothing.
    terminal.warn_waiting("It is full.");
    terminal.reject_batch("It is full.").await;
    terminal.warn_waiting("It is full.");
    let full = || Some(FromGateway::Refused { why: "It is full.".into() });
    assert_eq!(ada.hears().await, full());
    ada.say("a2", "and again").await;
    assert_eq!(ids(&terminal, &terminal.next(None).await.unwrap()), ["a2"], "the first is gone");
    terminal.ack(None).await;
    assert_eq!(ada.hears().await, Some(FromGateway::Stored { id: "a2".into() }));
    terminal.warn_waiting("It is full.");
    terminal.warn_waiting("It is full.");
    terminal.typing("ada", Typing::Started).await;
    assert_eq!((ada.hears().await, ada.hears().await), (full(), Some(FromGateway::Typing)));
    assert_eq!(other.hears().await, Some(FromGateway::Typing));
}
