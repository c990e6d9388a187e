//! The real daemon of signal-cli, on a network that consists of this computer alone.
//!
//! What it sends could reach Signal's servers, so it only ever runs where nothing can leave: each
//! test starts itself once more within a network namespace in which only the loopback interface is
//! up, looks that this is so, and does its work there. It has no account, which it would get from
//! Signal alone; so this proves framing, errors, order, signs of life, restarts and what a person
//! is told, and no message.
//!
//! Namespaces and the Java of the peers exist on Linux on x86-64. Where one cannot be made the
//! tests say in one line that they were left out, but on a build server, where they fail.

#[path = "signal/alone.rs"]
mod alone;
#[path = "signal/daemon.rs"]
mod daemon;
#[path = "signal/line.rs"]
mod line;

use std::sync::Arc;
use std::time::{Duration, Instant};

use compline::adapter::signal::Signal;
use compline::adapter::{Adapter, OutgoingPart, PartFormat, PollError, SendError};
use compline::config;
use compline::time::SystemClock;
use serde_json::{Value, json};

use daemon::{Daemon, Gateway, compline, home, shown};
use line::Line;

/// Longer than anything here takes.
const LIMIT: Duration = Duration::from_secs(80);
/// How soon after the last sign the next one comes by HTTP; fifteen seconds, and some for a slow
/// computer.
const SIGN_WITHIN: Duration = Duration::from_secs(20);

/// Promise (channels/signal-cli): Signal works with the real `signal-cli`, not only with a
/// simulated one.
#[test]
fn the_real_daemon_speaks_as_we_read_it() {
    alone::run("peers::signal::the_real_daemon_speaks_as_we_read_it", async {
        let daemon = Daemon::start().await;
        let signs = tokio::spawn(signs_of_life_come_by_http(daemon.http.clone()));
        lines_are_framed_as_we_frame_them(&daemon).await;
        errors_have_the_codes_that_we_know(&daemon).await;
        answers_come_in_any_order(&daemon).await;
        a_subscription_ends_with_its_own_connection_only(&daemon).await;
        for endpoint in daemon.endpoints() {
            our_adapter_understands_it(&endpoint).await;
            a_person_is_told(&endpoint).await;
        }
        signs.await.unwrap();
        daemon.end_and_see_the_socket_go().await;
    });
}

/// Proves: channels/signal-daemon
#[test]
fn a_daemon_that_was_killed_is_started_again_by_us() {
    alone::run("peers::signal::a_daemon_that_was_killed_is_started_again_by_us", async {
        let (home, socket, command) = daemon::kept();
        let endpoint = format!("unix:{}", socket.display());
        let mut gateway = Gateway::start(home.path());
        let first = daemon::listener(&socket).await;
        let signal = adapter(&endpoint);
        until_it_answers(&signal).await;

        // Nothing is answered any more, and everything that is asked is on its way when it dies.
        daemon::kill("-STOP", first);
        let asked: Vec<_> = (0..20).map(|_| Arc::clone(&signal)).map(|signal| tokio::spawn(send(signal))).collect();
        daemon::kill("-KILL", first);
        for sent in asked {
            let error = sent.await.unwrap().unwrap_err();
            assert!(matches!(error, SendError::OutcomeUnknown(_) | SendError::Later(_)), "{error:?}");
        }

        let mut second = first;
        while second == first {
            second = daemon::listener(&socket).await;
        }
        until_it_answers(&signal).await;
        assert!(matches!(send(Arc::clone(&signal)).await, Err(SendError::Later(_))), "it has no account to send from");
        // It runs with the words of the configuration, and beside the gateway that is asked how it
        // hears.
        let report = shown(compline(home.path(), &["doctor", "--json"]).output().unwrap());
        assert!(report.contains("has no account yet") && report.contains("\"gateway\""), "{report}");
        assert!(!report.contains("receives by itself"), "{command:?} {report}");

        assert_eq!(gateway.end(), Some(0));
        daemon::until("the daemon ends with the gateway", || !socket.exists()).await;
    });
}

async fn lines_are_framed_as_we_frame_them(daemon: &Daemon) {
    for mut line in [Line::unix(&daemon.socket).await, Line::tcp(&daemon.tcp).await] {
        let version = json!({"version": "0.13.19"});
        line.write(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"version\"}\r\n").await;
        assert_eq!(line.answer().await, json!({"jsonrpc": "2.0", "result": version, "id": 7}));
        line.write(b"[{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"version\"}]\n").await;
        assert_eq!(line.answer().await[0]["id"], 8);
        line.write(b"\n").await;
        assert_eq!(line.answer().await["error"]["code"], -32700);
        line.write(b"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"version\",\"params\":[]}\n").await;
        assert_eq!(line.answer().await["error"]["code"], -32600);
        // Half a line, and no more: it is served all the same.
        line.write(b"{\"jsonrpc\":\"2.0\",\"id\":10,\"method\":\"version\"}").await;
        line.end().await;
        assert_eq!(line.answer().await["id"], 10);
    }
    let mut line = Line::unix(&daemon.socket).await;
    line.write(b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\"}\n").await;
    assert_eq!(line.next().await, None, "what is no text ends the connection");
}

async fn errors_have_the_codes_that_we_know(daemon: &Daemon) {
    let mut line = Line::unix(&daemon.socket).await;
    let nobody = json!({"account": "+431234567890", "recipient": ["+431234567891"], "message": "x"});
    for (method, params, code) in [
        ("noSuchMethod", json!({}), -32601),
        ("subscribeReceive", json!({"account": "+431234567890"}), -32602),
        ("send", nobody, -32602),
        ("sendTyping", json!({"recipient": ["+431234567891"]}), -32602),
        ("getAttachment", json!({"id": "x", "recipient": "+431234567891"}), -32602),
        ("unsubscribeReceive", json!({"subscription": 77}), -1),
        ("finishLink", json!({"deviceLinkUri": "sgnl://linkdevice?uuid=x&pub_key=y"}), -1),
        ("startLink", json!({}), -3),
    ] {
        let answer = line.ask(method, &params).await;
        assert_eq!(answer["error"]["code"], code, "{method}: {answer}");
    }
    assert_eq!(line.ask("listAccounts", &json!({})).await["result"], json!([]));
}

/// One slow question before fifty quick ones, and each answer with the id of its question.
async fn answers_come_in_any_order(daemon: &Daemon) {
    let mut line = Line::unix(&daemon.socket).await;
    line.write(b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"startLink\"}\n").await;
    for id in 1..=50 {
        line.write(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"version\"}}\n").as_bytes()).await;
    }
    let mut order = Vec::new();
    for _ in 0..=50 {
        let answer = line.answer().await;
        let id = answer["id"].as_u64().unwrap();
        assert_eq!(answer.get("result").is_some(), id > 0, "{answer}");
        order.push(id);
    }
    assert!(!order.is_sorted(), "{order:?}");
    order.sort_unstable();
    assert_eq!(order, (0..=50).collect::<Vec<u64>>());
    // The same load by our adapter, which matches them.
    let signal = adapter(&format!("unix:{}", daemon.socket.display()));
    let asked: Vec<_> =
        (0..100).map(|_| Arc::clone(&signal)).map(|s| tokio::spawn(async move { s.probe().await })).collect();
    for look in asked {
        let look = look.await.unwrap().unwrap();
        assert_eq!((look.version.as_str(), look.accounts), ("0.13.19", Some(Vec::new())));
    }
}

async fn a_subscription_ends_with_its_own_connection_only(daemon: &Daemon) {
    let (mut reading, mut asking) = (Line::unix(&daemon.socket).await, Line::tcp(&daemon.tcp).await);
    let subscription = reading.ask("subscribeReceive", &json!({})).await["result"].clone();
    assert!(subscription.is_u64(), "{subscription}");
    // The question that our adapter asks on the connection that receives.
    assert_eq!(reading.ask("version", &json!({})).await["result"]["version"], "0.13.19");
    let end = json!({"subscription": subscription});
    assert_eq!(asking.ask("unsubscribeReceive", &end).await["error"]["code"], -1);
    assert_eq!(reading.ask("unsubscribeReceive", &end).await.get("error"), None);
    assert_eq!(reading.ask("unsubscribeReceive", &end).await["error"]["code"], -1);
    // Numbers go on from there, whoever asks.
    let next = asking.ask("subscribeReceive", &json!({})).await["result"].clone();
    assert!(next.as_u64() > subscription.as_u64(), "{subscription} {next}");
}

async fn signs_of_life_come_by_http(http: String) {
    let client = daemon::client();
    let unknown = client.get(format!("{http}/api/v1/events?account=%2B431234567890")).send().await.unwrap();
    assert_eq!(unknown.status(), 400);
    let begun = Instant::now();
    let mut events = client.get(format!("{http}/api/v1/events")).send().await.unwrap();
    let sign = tokio::time::timeout(SIGN_WITHIN, events.chunk()).await.expect("a sign in time").unwrap().unwrap();
    assert!(sign.starts_with(b":"), "{sign:?}");
    assert!(begun.elapsed() < SIGN_WITHIN);
}

async fn our_adapter_understands_it(endpoint: &str) {
    let signal = adapter(endpoint);
    let look = signal.probe().await.unwrap();
    assert_eq!((look.version.as_str(), look.accounts.as_deref()), ("0.13.19", Some(&[][..])), "{endpoint}");
    assert_eq!(signal.connect().await, Err(PollError::BadToken), "{endpoint}");
    assert!(signal.health().problem.unwrap().contains("has no account yet"), "{endpoint}");
    let unlinked = format!("{:#}", signal.start_link().await.unwrap_err());
    assert_eq!(unlinked, "The Signal daemon was not linked: The daemon could not reach Signal", "{endpoint}");
    assert!(matches!(send(signal).await, Err(SendError::Later(_))), "{endpoint}");
}

async fn a_person_is_told(endpoint: &str) {
    let home = home(&format!("endpoint = \"{endpoint}\""));
    let accounts: Value =
        serde_json::from_str(&shown(compline(home.path(), &["signal", "accounts", "--json"]).output().unwrap()))
            .unwrap();
    assert_eq!(accounts, json!({"version": "0.13.19", "accounts": []}));
    let report = shown(compline(home.path(), &["doctor", "--json"]).output().unwrap());
    let told = ["has no account yet", "is the old 0.13"];
    assert!(told.iter().all(|words| report.contains(words)), "{report}");
    assert!(!report.contains("receives by itself"), "{report}");
    let link = compline(home.path(), &["signal", "link"]).output().unwrap();
    let said = String::from_utf8(link.stderr.clone()).unwrap();
    assert!(
        link.status.code() == Some(1) && said.contains("could not reach Signal") && said.contains("fix:"),
        "{said}"
    );
}

fn adapter(endpoint: &str) -> Arc<Signal> {
    let text = format!("timezone = \"UTC\"\n[signal]\nendpoint = \"{endpoint}\"\n");
    let home = config::Home::at("/nowhere");
    let config = config::parse(&text, "peer.toml", &Default::default(), home).unwrap().config.signal.unwrap();
    Arc::new(Signal::new(&config, Arc::new(SystemClock::default())).unwrap())
}

async fn send(signal: Arc<Signal>) -> Result<String, SendError> {
    let piece = OutgoingPart { rich: "x".to_owned(), plain: "x".to_owned(), ..OutgoingPart::default() };
    signal.send("11111111-2222-4333-8444-555555555555", &piece, PartFormat::Plain).await
}

async fn until_it_answers(signal: &Signal) {
    let begun = Instant::now();
    while signal.probe().await.is_err() {
        assert!(begun.elapsed() < LIMIT, "it does not answer");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
