//! HTTP of the daemon: requests, events and a health check.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Query, Request, State as Extract};
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use futures::stream;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::CancellationToken;

use super::rpc::{self, Reply, Via};
use super::state::{ConnectionId, Shared, Subscription};

const BODY_LIMIT: usize = 64 << 20;

pub(super) async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let app = Router::new()
        .route("/api/v1/rpc", any(call))
        .route("/api/v1/events", get(events))
        .route("/api/v1/check", get(async || ""))
        .with_state(shared.clone());
    let _ = tokio::join!(axum::serve(listener, app).into_future(), keep_alive(shared));
}

async fn call(Extract(shared): Extract<Arc<Shared>>, request: Request) -> Response {
    if request.method() != Method::POST {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !kind.starts_with("application/json") {
        return StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response();
    }
    let Ok(body) = to_bytes(request.into_body(), BODY_LIMIT).await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    match rpc::serve(&shared, Via::Http, &String::from_utf8_lossy(&body)).await {
        Reply::Answer(answer) => json(answer.to_string()),
        Reply::Torn(answer) => json(answer.to_string().chars().take(20).collect()),
        Reply::Silence => StatusCode::CREATED.into_response(),
        // Sends the header before the connection breaks.
        Reply::Cut => Response::new(Body::from_stream(stream::iter([Err::<Vec<u8>, _>(io::Error::other("cut"))]))),
    }
}

fn json(body: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// A client of events, disconnected on drop.
struct Listening {
    shared: Arc<Shared>,
    id: ConnectionId,
    due: UnboundedReceiver<Vec<u8>>,
    cut: CancellationToken,
    first: Option<Vec<u8>>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.shared.change(|state| state.close_connection(self.id));
    }
}

impl Listening {
    async fn next(&mut self) -> Option<Vec<u8>> {
        if self.first.is_some() {
            return self.first.take();
        }
        tokio::select! {
            bytes = self.due.recv() => bytes,
            () = self.cut.cancelled() => None,
        }
    }
}

async fn events(
    Extract(shared): Extract<Arc<Shared>>,
    Query(query): Query<std::collections::HashMap<String, String>>,
) -> Response {
    let account = query.get("account").cloned();
    let (sender, due) = unbounded_channel();
    let opened = shared.change(|state| {
        if account.as_ref().is_some_and(|account| !state.has_account(account)) {
            return None;
        }
        let (id, cut) = state.open_connection(sender, true);
        let account = account.map(|_| super::OWN_NUMBER.to_owned());
        state.subscribe(Subscription { connection: id, account, is_answered: true });
        Some((id, cut, state.has_late_headers))
    });
    let Some((id, cut, has_late_headers)) = opened else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let mut listening = Listening { shared, id, due, cut, first: None };
    if has_late_headers {
        listening.first = listening.next().await;
    }
    let chunks = stream::unfold(listening, |mut listening| async move {
        let bytes = listening.next().await?;
        Some((Ok::<_, Infallible>(bytes), listening))
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(chunks)).into_response()
}

/// Writes comments into every stream, at the interval set by the test.
async fn keep_alive(shared: Arc<Shared>) -> Value {
    loop {
        shared.until(|| shared.lock().keep_alive.is_some()).await;
        let pause = shared.lock().keep_alive.unwrap_or_default();
        tokio::time::sleep(pause).await;
        shared.change(super::state::State::keep_alive);
    }
}
