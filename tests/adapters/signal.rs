//! The Signal adapter against a daemon with faults on demand, over every transport.

use std::sync::Arc;
use std::time::Duration;

use compline::adapter::signal::Signal;
use compline::adapter::{Adapter, Batch, OutgoingPart, PartFormat, PollError, SendError, Typing};
use compline::config::{self, SignalEndpoint};
use compline::message::Event;
use compline::time::{Clock, SimulatedClock, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::support::signal::{Failure, FakeSignal, Transport, Which, uuid};

const ADA: i64 = 1001;
const BEN: i64 = 1002;
const EVE: i64 = 6666;
const START: Timestamp = Timestamp(1_795_000_000_000);
const SOCKETS: [Transport; 2] = [Transport::Unix, Transport::Tcp];

/// Upper limit for any wait, in real time.
const STUCK: Duration = Duration::from_secs(30);

/// A daemon on our clock, three people, and the adapter.
struct Scene {
    fake: FakeSignal,
    clock: Arc<SimulatedClock>,
    signal: Arc<Signal>,
}

impl Scene {
    async fn over(transport: Transport) -> Self {
        let scene = Self::unconnected(transport, Vec::new());
        scene.signal.connect().await.unwrap();
        scene
    }

    fn unconnected(transport: Transport, command: Vec<String>) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let fake = FakeSignal::start_sync();
        let clock = Arc::new(SimulatedClock::new(START));
        let ours = clock.clone();
        fake.set_now(Arc::new(move || ours.now().0));
        fake.late_headers(false);
        for (person, name) in [(ADA, "Ada"), (BEN, "Ben"), (EVE, "Eve")] {
            fake.person(person, name, None);
        }
        let address = fake.endpoint(transport);
        let endpoint = match transport {
            Transport::Unix => SignalEndpoint::Unix(fake.socket()),
            Transport::Tcp => SignalEndpoint::Tcp(address.strip_prefix("tcp:").unwrap().to_owned()),
            Transport::Http => SignalEndpoint::Http(address),
        };
        let config = config::Signal { endpoint, account: None, attachments_dir: None, command };
        let signal = Arc::new(Signal::new(&config, clock.clone()).unwrap());
        Self { fake, clock, signal }
    }

    /// The next item, after empty batches.
    async fn item(&self) -> String {
        loop {
            match self.in_time(self.signal.next(None)).await {
                Ok(Batch { items, .. }) if !items.is_empty() => return items.into_iter().next().unwrap(),
                Ok(_) | Err(PollError::Unreachable(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Acknowledges the next item and returns its text.
    async fn words(&self) -> String {
        let raw = self.item().await;
        self.signal.ack(None).await;
        match self.signal.parse(&raw).unwrap().event {
            Event::Message(said) => said.text,
            other => format!("{other:?}"),
        }
    }

    async fn send(&self, person: i64, text: &str) -> Result<String, SendError> {
        self.in_time(self.signal.send(&uuid(person), &piece(text), PartFormat::Plain)).await
    }

    /// Advances the clock second by second while waiting.
    async fn in_time<T>(&self, work: impl Future<Output = T>) -> T {
        let passing = async {
            loop {
                self.clock.advance(Duration::from_secs(1)).await;
                for _ in 0..200 {
                    tokio::task::yield_now().await;
                }
            }
        };
        tokio::select! {
            biased;
            done = tokio::time::timeout(STUCK, work) => done.expect("it never ends"),
            () = passing => unreachable!(),
        }
    }

    fn trouble(&self) -> Option<String> {
        self.signal.health().problem
    }
}

fn piece(text: &str) -> OutgoingPart {
    OutgoingPart { rich: text.to_owned(), plain: text.to_owned(), ..OutgoingPart::default() }
}

#[tokio::test]
async fn messages_come_and_go_over_each_way() {
    for transport in Transport::ALL {
        let scene = Scene::over(transport).await;
        assert_eq!(scene.signal.account(), scene.fake.account(), "{transport:?}");
        scene.fake.noisy(true);
        let heard = scene.fake.says(ADA, "good evening");
        assert_eq!(scene.words().await, "good evening", "{transport:?}");
        let rendered = scene.signal.render(&compline::message::Outbound {
            text: words("It is **late**."),
            buttons: Vec::new(),
            unanswered: false,
        });
        let id = scene.signal.send(&uuid(ADA), &rendered[0], PartFormat::Rich).await.unwrap();
        let [sent] = scene.fake.sent(ADA).try_into().unwrap();
        assert_eq!((sent.text.as_str(), sent.styled()), ("It is late.", vec!["BOLD late".to_owned()]));
        assert_eq!(id, format!("m:{}", sent.message_id));
        let named = format!("m{}:{heard}", uuid(ADA));
        scene.signal.mark_read(&uuid(ADA), &named).await;
        scene.signal.react(&uuid(ADA), &named, "👍").await.unwrap();
        scene.signal.typing(&uuid(ADA), Typing::Started).await;
        assert!(scene.fake.is_typing(ADA));
        scene.signal.typing(&uuid(ADA), Typing::Stopped).await;
        assert!(!scene.fake.is_typing(ADA));
        assert_eq!(scene.fake.reaction(ADA, heard).as_deref(), Some("👍"));
        assert_eq!(scene.fake.receipts(ADA), [("read".to_owned(), heard)]);
        assert_eq!((scene.fake.violations(), scene.fake.ignored()), (vec![], vec![]), "{transport:?}");
    }
}

fn words(text: &str) -> compline::trust::Text {
    let label = compline::trust::Label::untrusted(compline::trust::Source::new("web", "a.example"));
    compline::trust::Labelled::new(Arc::from(text), label, compline::trust::Scope::Person(compline::id::PersonId(1)))
}

/// Promise (channels/signal-one-at-a-time): Compline takes messages from Signal's daemon one at a
/// time, each only after the previous one is stored. A send whose reply was lost is recorded as
/// uncertain.
#[tokio::test]
async fn one_item_is_handed_over_until_it_is_acknowledged_and_nothing_behind_it() {
    for transport in Transport::ALL {
        let scene = Scene::over(transport).await;
        for text in ["one", "two", "three"] {
            scene.fake.says(ADA, text);
        }
        let first = scene.item().await;
        assert_eq!(scene.item().await, first, "{transport:?}");
        scene.fake.close(Which::Receiving);
        assert_eq!(scene.item().await, first, "also when the connection is gone: {transport:?}");
        scene.signal.ack(None).await;
        scene.fake.says(ADA, "after");
        let mut rest = scene.words().await;
        // Messages written to the closed connection may be lost; the rest comes in order.
        while rest != "after" {
            assert!(["two", "three"].contains(&rest.as_str()), "{rest}");
            rest = scene.words().await;
        }
    }
}

/// Proves: channels/signal-one-at-a-time
#[tokio::test]
async fn answers_that_come_in_another_order_go_to_whom_they_are_for() {
    for transport in SOCKETS {
        let scene = Scene::over(transport).await;
        scene.fake.shuffle_next(3);
        let (ada, ben, eve) = tokio::join!(scene.send(ADA, "a"), scene.send(BEN, "b"), scene.send(EVE, "e"));
        for (person, id) in [(ADA, ada), (BEN, ben), (EVE, eve)] {
            assert_eq!(id.unwrap(), format!("m:{}", scene.fake.sent(person)[0].message_id), "{transport:?}");
        }
    }
}

/// Proves: channels/signal-one-at-a-time
#[tokio::test]
async fn a_lost_answer_is_in_doubt_and_what_was_not_sent_is_not() {
    for transport in Transport::ALL {
        let scene = Scene::over(transport).await;
        scene.fake.drop_after_accept_next(1);
        assert!(matches!(scene.send(ADA, "one").await, Err(SendError::OutcomeUnknown(_))), "{transport:?}");
        scene.fake.malformed_json_next(1);
        assert!(matches!(scene.send(ADA, "two").await, Err(SendError::OutcomeUnknown(_))), "{transport:?}");
        scene.fake.server_error_next(1);
        let refused = scene.send(ADA, "three").await;
        assert!(
            matches!(refused, Err(SendError::Later(_) | SendError::OutcomeUnknown(_))),
            "{transport:?} {refused:?}"
        );
        assert_eq!(scene.fake.texts(ADA), ["one", "two"], "{transport:?}");
        scene.fake.stop();
        let gone = scene.send(ADA, "four").await;
        assert!(matches!(gone, Err(SendError::Later(_) | SendError::OutcomeUnknown(_))), "{transport:?} {gone:?}");
        scene.fake.restart();
        assert!(scene.send(ADA, "five").await.is_ok(), "{transport:?}");
    }
}

#[tokio::test]
async fn an_answer_that_never_comes_is_given_up_and_in_doubt() {
    for transport in Transport::ALL {
        let scene = Scene::over(transport).await;
        scene.fake.hold_answers();
        assert!(matches!(scene.send(ADA, "held").await, Err(SendError::OutcomeUnknown(_))), "{transport:?}");
        scene.fake.release_sends();
        assert!(scene.send(ADA, "and on").await.is_ok(), "{transport:?}");
    }
}

#[tokio::test]
async fn each_failure_says_what_to_do_next() {
    let scene = Scene::over(Transport::Unix).await;
    let mut outcomes = Vec::new();
    for failure in [
        Failure::Network,
        Failure::Unregistered,
        Failure::Identity,
        Failure::RateLimit(Some(90)),
        Failure::ProofRequired { token: "t".to_owned(), retry_after: 600 },
    ] {
        scene.fake.refuses_next(ADA, failure, 1);
        outcomes.push(scene.send(ADA, "well?").await.unwrap_err());
    }
    assert!(matches!(outcomes[0], SendError::Later(_)), "{outcomes:?}");
    assert!(matches!(outcomes[1], SendError::Blocked(_)), "{outcomes:?}");
    assert!(matches!(outcomes[2], SendError::Refused(_) | SendError::Blocked(_)), "{outcomes:?}");
    assert_eq!(outcomes[3], SendError::Wait(Duration::from_secs(90)));
    assert!(matches!(outcomes[4], SendError::Wait(wait) if wait >= Duration::from_secs(600)), "{outcomes:?}");
    assert_eq!(scene.fake.texts(ADA), Vec::<String>::new());
}

#[tokio::test]
async fn a_restarted_daemon_is_listened_to_again() {
    for transport in Transport::ALL {
        let scene = Scene::over(transport).await;
        scene.fake.says(ADA, "before");
        assert_eq!(scene.words().await, "before", "{transport:?}");
        scene.fake.stop();
        assert!(
            matches!(scene.in_time(scene.signal.next(None)).await, Err(PollError::Unreachable(_))),
            "{transport:?}"
        );
        assert!(scene.trouble().is_some());
        scene.fake.says(ADA, "meanwhile");
        scene.fake.restart();
        assert_eq!(scene.words().await, "meanwhile", "{transport:?}");
        assert_eq!(scene.trouble(), None, "{transport:?}");
    }
}

#[tokio::test]
async fn a_silent_stream_is_unhealthy_within_two_minutes_and_reopened() {
    for transport in Transport::ALL {
        let scene = Scene::over(transport).await;
        scene.fake.says(ADA, "before");
        assert_eq!(scene.words().await, "before", "{transport:?}");
        scene.fake.deafen();
        scene.fake.says(ADA, "unheard");
        let since = scene.clock.now();
        let heard = scene.in_time(scene.signal.next(None)).await;
        assert!(matches!(heard, Err(PollError::Unreachable(_))), "{transport:?} {heard:?}");
        assert!(scene.clock.now().since(since) <= Duration::from_secs(120), "{transport:?}");
        assert!(scene.trouble().is_some(), "red although every request is answered: {transport:?}");
        assert_eq!(scene.words().await, "unheard", "{transport:?}");
        assert_eq!(scene.trouble(), None, "{transport:?}");
    }
}

/// Proves: channels/signal-one-at-a-time
#[tokio::test]
async fn garbage_costs_no_message_that_comes_after_it() {
    for transport in SOCKETS {
        let scene = Scene::over(transport).await;
        scene.fake.says(ADA, "one");
        assert_eq!(scene.words().await, "one");
        for (n, garbage) in [
            b"garbage\n".as_slice(),
            b"\n\n[]\n{\"half\": \n",
            b"{\"jsonrpc\":\"2.0\",\"method\":\"receive\"}\n",
            b"{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n",
        ]
        .into_iter()
        .enumerate()
        {
            scene.fake.writes(garbage);
            scene.fake.says(ADA, &format!("after {n}"));
            assert_eq!(scene.words().await, format!("after {n}"), "{transport:?}");
        }
    }
}

#[tokio::test]
async fn a_line_that_is_no_text_or_has_no_end_costs_the_connection_alone() {
    for transport in SOCKETS {
        for bytes in [b"\xff\xfe\n".to_vec(), vec![b'x'; 33 << 20]] {
            let scene = Scene::over(transport).await;
            scene.fake.says(ADA, "one");
            assert_eq!(scene.words().await, "one");
            scene.fake.writes(&bytes);
            let broken = tokio::time::timeout(STUCK, scene.signal.next(None)).await.expect("it is read for ever");
            assert!(matches!(broken, Err(PollError::Unreachable(_))), "{transport:?} {broken:?}");
            scene.fake.until(|fake| fake.subscribed() == 0).await;
            scene.fake.says(ADA, "two");
            assert_eq!(scene.words().await, "two", "{transport:?}");
        }
    }
}

#[tokio::test]
async fn messages_that_come_before_the_answer_to_the_subscription_are_heard() {
    let scene = Scene::over(Transport::Unix).await;
    scene.fake.eager(true);
    scene.fake.says(ADA, "early");
    assert_eq!(scene.words().await, "early");
}

/// Promise (channels/signal-daemon): A Signal daemon started by Compline is kept running, and a
/// dead socket is removed.
#[tokio::test]
async fn a_daemon_of_ours_is_started_again_when_it_ends_and_a_dead_socket_is_taken_away() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("starts");
    let script = format!("test -e \"$0\" && echo stale >> {0} || echo start >> {0}", log.display());
    let socket = folder.path().join("socket");
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    let clock = Arc::new(SimulatedClock::new(START));
    let command = ["/bin/sh", "-c", &script, &socket.to_string_lossy()].map(str::to_owned).to_vec();
    let config =
        config::Signal { endpoint: SignalEndpoint::Unix(socket), account: None, attachments_dir: None, command };
    let signal = Signal::new(&config, clock.clone()).unwrap();
    let stop = CancellationToken::new();
    let keeping = tokio::spawn(signal.daemon(stop.clone()).unwrap());
    let starts = || std::fs::read_to_string(&log).unwrap_or_default().lines().count();
    let waiting = async {
        while starts() < 3 {
            clock.advance(Duration::from_secs(1)).await;
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(STUCK, waiting).await.unwrap();
    assert!(!std::fs::read_to_string(&log).unwrap().contains("stale"));
    assert!(signal.health().problem.is_some(), "a daemon that ends again and again is told");
    stop.cancel();
    tokio::time::timeout(STUCK, keeping).await.unwrap().unwrap();
}
