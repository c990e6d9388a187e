//! MCP over streamable HTTP: a remote server that answers each request with plain JSON and may
//! disappear.

use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{accept, calls, condition, until};
use crate::support::story::Story;

/// Requests in order.
type Asked = Arc<Mutex<Vec<String>>>;

struct Server {
    url: String,
    asked: Asked,
    stop: CancellationToken,
    served: tokio::task::JoinHandle<()>,
}

impl Server {
    async fn start<A>(answer: A) -> Self
    where
        A: Fn(State<Asked>, Json<Value>) -> Response + Clone + Send + Sync + 'static,
    {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (asked, stop) = (Asked::default(), CancellationToken::new());
        let answering = move |asked: State<Asked>, request: Json<Value>| std::future::ready(answer(asked, request));
        let router = Router::new().route("/mcp", post(answering)).with_state(Arc::clone(&asked));
        let stopped = stop.clone().cancelled_owned();
        let serving = axum::serve(listener, router).with_graceful_shutdown(stopped);
        let served = tokio::spawn(async move { serving.await.unwrap() });
        Self { url, asked, stop, served }
    }

    fn section(&self) -> String {
        format!("[[mcp]]\nname = \"far\"\nurl = \"{}\"\ntrusted_read_only = [\"sum\"]\n", self.url)
    }

    fn asked(&self, method: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|asked| *asked == method).count()
    }

    async fn end(self) {
        self.stop.cancel();
        self.served.abort();
        let _ = self.served.await;
    }
}

fn good(State(asked): State<Asked>, Json(request): Json<Value>) -> Response {
    let method = request["method"].as_str().unwrap_or_default().to_owned();
    asked.lock().unwrap().push(method.clone());
    let result = match method.as_str() {
        "initialize" => json!({
            "protocolVersion": request["params"]["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "far", "version": "1" },
        }),
        "tools/list" => {
            json!({ "tools": [{ "name": "sum", "description": "Adds.", "inputSchema": { "type": "object" } }] })
        }
        "tools/call" => json!({ "content": [], "structuredContent": { "sum": 3 } }),
        _ => return StatusCode::ACCEPTED.into_response(),
    };
    Json(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })).into_response()
}

#[tokio::test]
async fn a_server_at_an_address_is_used_like_a_program_and_may_go_away() {
    let server = Server::start(good).await;
    let mut story = Story::prepared(&server.section()).await;
    story.start().await;
    story.settle().await;
    accept(&story, "far__sum").await;
    let given = calls(&story, "far__sum", json!({ "a": 1, "b": 2 })).await;
    assert!(given.contains("{\"sum\":3}"), "{given}");
    assert_eq!(server.asked("tools/call"), 1);
    server.end().await;
    let given = calls(&story, "far__sum", json!({})).await;
    assert!(given.contains("broke") || given.contains("unavailable"), "{given}");
    until(&story, |condition| condition.since.is_none()).await;
    let given = calls(&story, "far__sum", json!({})).await;
    assert!(given.contains("unavailable just now"), "{given}");
    story.end().await;
}

#[tokio::test]
async fn a_server_leads_nowhere_else() {
    let elsewhere = Server::start(good).await;
    let there = elsewhere.url.clone();
    let astray = move |_, _| (StatusCode::TEMPORARY_REDIRECT, [("location", there.clone())]).into_response();
    let server = Server::start(astray).await;
    let mut story = Story::prepared(&server.section()).await;
    story.start().await;
    story.settle().await;
    assert!(condition(&story).trouble.is_some_and(|trouble| trouble.contains("broke")));
    assert_eq!(elsewhere.asked("initialize"), 0);
    story.end().await;
    server.end().await;
    elsewhere.end().await;
}
