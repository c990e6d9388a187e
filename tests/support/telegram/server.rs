//! HTTP of the fake: a thread with its own runtime, request parsing, and broken answers.
//!
//! To close a connection without an answer, the stream carries a switch that fails every later
//! write; the HTTP layer then drops the connection, and the client sees the same as at a power cut
//! of the server.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::connect_info::{ConnectInfo, Connected};
use axum::extract::{Request, State as Extract};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::serve::{IncomingStream, Listener};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

use super::TOKEN;
use super::faults::Fault;
use super::methods::{self, Call, Refusal};
use super::polling;
use super::state::Shared;
use super::upload;
use super::webhook;
use crate::support::fake::Running;

const BODY_LIMIT: usize = 64 << 20;

/// Serves the bot, or calls its webhook, until the result is dropped: that closes the port and all
/// connections.
pub(super) fn start(listener: std::net::TcpListener, shared: Arc<Shared>) -> Running {
    Running::on_a_thread(move || serve(listener, shared))
}

async fn serve(listener: std::net::TcpListener, shared: Arc<Shared>) {
    listener.set_nonblocking(true).expect("a listener without blocking");
    let door = BotApiListener(TcpListener::from_std(listener).expect("a listener"));
    let calling = webhook::call_the_bot(Arc::clone(&shared));
    let app = Router::new().fallback(answer).with_state(shared);
    let app = app.into_make_service_with_connect_info::<Switch>();
    tokio::select! {
        _ = axum::serve(door, app).into_future() => {}
        () = calling => {}
    }
}

/// Parses one request, applies the faults, and answers.
async fn answer(
    Extract(shared): Extract<Arc<Shared>>,
    ConnectInfo(switch): ConnectInfo<Switch>,
    request: Request,
) -> Response {
    let path = decode(request.uri().path(), false);
    if let Some(rest) = path.strip_prefix("/file/bot") {
        return file(&shared, rest);
    }
    let call = match read_call(&path, request).await {
        Ok(call) => call,
        Err(refusal) => return refused(&refusal),
    };
    shared.change(|state| state.calls.push(call.method.clone()));
    if call.is_send() {
        hold(&shared, |state| state.hold_sends).await;
    }
    let fault = shared.change(|state| state.take_fault(&call));
    match fault {
        Some(Fault::DropBeforeAccept) => return switch.cut(),
        Some(Fault::ServerError) => return bad_gateway(),
        Some(Fault::Conflict) => return refused(&Refusal::conflict()),
        Some(Fault::RejectMarkup) => {
            return refused(&Refusal::bad("can't parse entities: refused by the test"));
        }
        Some(Fault::DropAfterAccept | Fault::MalformedJson) | None => {}
    }
    let outcome = match call.method.as_str() {
        "getupdates" => polling::get_updates(&shared, &call).await,
        _ => shared.change(|state| methods::run(state, &call)),
    };
    if call.is_send() {
        hold(&shared, |state| state.hold_answers).await;
    }
    match (fault, outcome) {
        (Some(Fault::DropAfterAccept), _) => switch.cut(),
        (Some(Fault::MalformedJson), _) => json_response(StatusCode::OK, "{\"ok\":true,\"result\":{\"mess".into()),
        (_, Ok(result)) => json_response(StatusCode::OK, json!({ "ok": true, "result": result }).to_string()),
        (_, Err(refusal)) => refused(&refusal),
    }
}

/// Holds a call as long as the test asks for it. A client that hangs up meanwhile drops it.
async fn hold(shared: &Shared, holding: fn(&super::state::State) -> bool) {
    struct Held<'a>(&'a Shared);
    impl Drop for Held<'_> {
        fn drop(&mut self) {
            self.0.change(|state| state.held -= 1);
        }
    }
    if !holding(&shared.lock()) {
        return;
    }
    shared.change(|state| state.held += 1);
    let _held = Held(shared);
    shared.until(|| !holding(&shared.lock())).await;
}

/// Reads token, method and parameters from a request: from the query, both kinds of forms, or JSON.
async fn read_call(path: &str, request: Request) -> Result<Call, Refusal> {
    let not_found = || Refusal::new(404, "Not Found");
    let (token, method) = path.strip_prefix("/bot").and_then(|rest| rest.split_once('/')).ok_or_else(not_found)?;
    check_token(token)?;
    let mut params = Map::new();
    read_form(request.uri().query().unwrap_or_default(), &mut params);
    let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or_default().to_owned();
    let body = to_bytes(request.into_body(), BODY_LIMIT).await.map_err(|_| Refusal::bad("can't read the body"))?;
    if content_type.starts_with("application/json") {
        match serde_json::from_slice(&body) {
            Ok(Value::Object(fields)) => params.extend(fields),
            _ => return Err(Refusal::bad("can't parse JSON object")),
        }
    } else if content_type.starts_with("application/x-www-form-urlencoded") {
        read_form(&String::from_utf8_lossy(&body), &mut params);
    } else if let Some(boundary) = upload::boundary(&content_type) {
        let files = upload::read(&body, boundary, &mut params)?;
        return Ok(Call { method: method.to_ascii_lowercase(), params, files });
    } else if !body.is_empty() {
        return Err(Refusal::bad("the fake understands JSON and forms only"));
    }
    Ok(Call { method: method.to_ascii_lowercase(), params, files: BTreeMap::new() })
}

/// Rejects the token of another bot as unauthorised, and any other text as not found.
fn check_token(token: &str) -> Result<(), Refusal> {
    let well_formed = token.split_once(':').is_some_and(|(id, _)| id.parse::<u64>().is_ok());
    match token {
        TOKEN => Ok(()),
        _ if well_formed => Err(Refusal::new(401, "Unauthorized")),
        _ => Err(Refusal::new(404, "Not Found")),
    }
}

fn read_form(form: &str, params: &mut Map<String, Value>) {
    for pair in form.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        params.insert(decode(key, true), Value::String(decode(value, true)));
    }
}

/// Decodes percent encoding, in forms also the plus sign for a space.
fn decode(encoded: &str, form: bool) -> String {
    let mut bytes = Vec::new();
    let mut rest = encoded.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| *first == b'%');
        rest = if byte.is_some() { &tail[2..] } else { tail };
        bytes.push(byte.unwrap_or(if form && *first == b'+' { b' ' } else { *first }));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// `/file/bot<TOKEN>/<path>`
fn file(shared: &Shared, rest: &str) -> Response {
    let found = rest.split_once('/').ok_or_else(|| Refusal::new(404, "Not Found")).and_then(|(token, path)| {
        check_token(token)?;
        let id = path.strip_prefix("files/").unwrap_or_default();
        shared.lock().files.get(id).cloned().ok_or_else(|| Refusal::new(404, "Not Found"))
    });
    match found {
        Ok(bytes) => ([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response(),
        Err(refusal) => refused(&refusal),
    }
}

fn refused(refusal: &Refusal) -> Response {
    let mut body = json!({ "ok": false, "error_code": refusal.code, "description": refusal.description });
    if let Some(parameters) = &refusal.parameters {
        body["parameters"] = parameters.clone();
    }
    json_response(StatusCode::from_u16(refusal.code).expect("an HTTP status"), body.to_string())
}

fn json_response(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

fn bad_gateway() -> Response {
    let page = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>nginx</body>\r\n</html>\r\n";
    (StatusCode::BAD_GATEWAY, [(header::CONTENT_TYPE, "text/html")], page).into_response()
}

/// Accepts connections, each with its own switch.
struct BotApiListener(TcpListener);

impl Listener for BotApiListener {
    type Io = Line;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Line, SocketAddr) {
        loop {
            if let Ok((stream, peer)) = self.0.accept().await {
                let _ = stream.set_nodelay(true);
                return (Line { stream, switch: Switch::default() }, peer);
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

/// Stops all further output on a connection.
#[derive(Clone, Default)]
struct Switch(Arc<AtomicBool>);

impl Switch {
    /// Cuts the connection; the returned response never reaches the client.
    fn cut(&self) -> Response {
        self.0.store(true, Ordering::SeqCst);
        Response::new(Body::empty())
    }
}

impl Connected<IncomingStream<'_, BotApiListener>> for Switch {
    fn connect_info(stream: IncomingStream<'_, BotApiListener>) -> Self {
        stream.io().switch.clone()
    }
}

/// A TCP stream with a switch.
struct Line {
    stream: TcpStream,
    switch: Switch,
}

impl AsyncRead for Line {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Line {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.switch.0.load(Ordering::SeqCst) {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
