//! Tests of the adapter by HTTP: requests are posted, and messages are a stream of events.

use std::convert::Infallible;
use std::net::Ipv4Addr;

use axum::Router;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::*;

/// State of the played daemon.
#[derive(Clone)]
struct Stage {
    /// Account of the daemon.
    account: &'static str,
    /// Sender of the bytes of each subscription.
    streams: mpsc::Sender<mpsc::Sender<String>>,
}

async fn events(State(stage): State<Stage>, Query(query): Query<Vec<(String, String)>>) -> Response {
    if query != [("account".to_owned(), stage.account.to_owned())] {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let (sender, receiver) = mpsc::channel::<String>(4);
    stage.streams.send(sender).await.unwrap();
    let bytes = futures::stream::unfold(receiver, |mut receiver| async {
        let bytes = receiver.recv().await?;
        Some((Ok::<_, Infallible>(bytes), receiver))
    });
    Body::from_stream(bytes).into_response()
}

async fn rpc(body: String) -> Response {
    let asked: Value = serde_json::from_str(&body).unwrap();
    let (id, message) = (&asked["id"], asked["params"]["message"].as_str().unwrap_or_default());
    match message {
        "host" => StatusCode::MISDIRECTED_REQUEST.into_response(),
        "broken" => (StatusCode::OK, "{").into_response(),
        "limited" => json!({"id": id, "error": {"code": -5}}).to_string().into_response(),
        _ => json!({"id": id, "result": sent(9)}).to_string().into_response(),
    }
}

/// Adapter with its daemon, which ends when the set is dropped.
async fn stage(
    account: &'static str,
) -> (Arc<SimulatedClock>, Signal, mpsc::Receiver<mpsc::Sender<String>>, JoinSet<()>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (streams, opened) = mpsc::channel(1);
    let routes = Router::new().route("/api/v1/events", get(events)).route("/api/v1/rpc", post(rpc));
    let mut serving = JoinSet::new();
    let routes = routes.with_state(Stage { account, streams });
    serving.spawn(async move { axum::serve(listener, routes).await.unwrap() });
    let config = config::Signal {
        endpoint: SignalEndpoint::Http(format!("http://{address}")),
        account: Some(OURS.to_owned()),
        attachments_dir: None,
        command: Vec::new(),
    };
    let clock = Arc::new(SimulatedClock::new(Timestamp(1_000_000)));
    (clock.clone(), Signal::new(&config, clock).unwrap(), opened, serving)
}

#[tokio::test]
async fn events_arrive_one_by_one_and_silence_is_reported() {
    let (clock, signal, mut opened, _serving) = stage(OURS).await;
    assert!(signal.next(None).await.unwrap().items.is_empty());
    let stream = opened.recv().await.unwrap();
    stream.send(format!(":\nevent:receive\ndata:{}\n\nevent:receive\nda", envelope(1))).await.unwrap();
    assert_eq!(number(&signal.next(None).await.unwrap()), 1);
    assert_eq!(number(&signal.next(None).await.unwrap()), 1);
    signal.ack(None).await;
    stream.send(format!("ta:{}\n\n", envelope(2))).await.unwrap();
    assert_eq!(number(&signal.next(None).await.unwrap()), 2);
    signal.ack(None).await;
    assert_eq!(signal.health().problem, None);
    let lost = tokio::select! {
        lost = signal.next(None) => lost,
        () = passes(&clock, 75) => panic!("nobody noticed"),
    };
    assert!(matches!(lost, Err(PollError::Unreachable(_))), "{lost:?}");
    assert_eq!(signal.health().problem.as_deref(), Some(words::SIGNAL_SILENT));
}

#[tokio::test]
async fn a_keep_alive_is_a_sign_of_life() {
    let (clock, signal, mut opened, _serving) = stage(OURS).await;
    assert!(signal.next(None).await.unwrap().items.is_empty());
    let stream = opened.recv().await.unwrap();
    let mut next = pin!(signal.next(None));
    let living = async {
        for _ in 0..10 {
            clock.advance(Duration::from_secs(15)).await;
            stream.send(":\n".to_owned()).await.unwrap();
            while signal.health().last_event_at != Some(clock.now()) {
                tokio::task::yield_now().await;
            }
        }
    };
    tokio::select! {
        () = living => {}
        next = &mut next => panic!("{next:?}"),
    }
    assert_eq!(signal.health().problem, None);
}

#[tokio::test]
async fn an_account_unknown_to_the_daemon_is_reported() {
    let (_clock, signal, _opened, _serving) = stage("+439990000").await;
    assert_eq!(signal.next(None).await, Err(PollError::BadToken));
    assert_eq!(signal.health().problem.as_deref(), Some(words::ACCOUNT_UNKNOWN));
}

#[tokio::test]
async fn a_post_has_the_outcomes_of_any_request() {
    let (_clock, signal, _opened, serving) = stage(OURS).await;
    let send = async |text: &str| signal.send(ADA, &piece(text, None), PartFormat::Plain).await;
    assert_eq!(send("x").await.as_deref(), Ok("m:9"));
    assert!(matches!(send("host").await, Err(SendError::Later(_))));
    assert!(matches!(send("broken").await, Err(SendError::OutcomeUnknown(_))));
    assert_eq!(send("limited").await, Err(SendError::Wait(Duration::from_secs(60))));
    drop(serving);
    let away = send("x").await;
    assert!(matches!(away, Err(SendError::Later(_) | SendError::OutcomeUnknown(_))), "{away:?}");
}
