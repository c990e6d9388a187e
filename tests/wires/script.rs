//! The scripted server, and one request for it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use compline::config::{self, Provider};
use compline::model::{self, ModelError, NullSink, Purpose, Reply, Request, Role};
use compline::trust::{Label, Labelled, Scope};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A server that answers each connection with the next script and records the requests.
pub struct Server {
    pub url: String,
    pub asked: Arc<Mutex<Vec<String>>>,
}

/// Answer to one connection: the written pieces, then silence or a hang-up.
pub struct Script {
    pub pieces: Vec<Vec<u8>>,
    pub then_silent: bool,
}

impl Script {
    pub fn whole(head: &str, body: &str) -> Self {
        let head = format!("HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
        Self { pieces: vec![(head + body).into_bytes()], then_silent: false }
    }

    /// A complete stream in chunked coding.
    pub fn stream(pieces: &[&[u8]]) -> Self {
        let mut script = Self::cut(pieces);
        script.pieces.push(b"0\r\n\r\n".to_vec());
        script
    }

    /// A stream whose connection is lost after the pieces.
    pub fn cut(pieces: &[&[u8]]) -> Self {
        let head =
            b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
                .to_vec();
        let chunk = |piece: &&[u8]| [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat();
        Self { pieces: [head].into_iter().chain(pieces.iter().map(chunk)).collect(), then_silent: false }
    }

    pub fn silent(mut self) -> Self {
        self.then_silent = true;
        self
    }
}

impl Server {
    pub async fn play(scripts: Vec<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        tokio::spawn(async move {
            for script in scripts {
                let (mut socket, _) = listener.accept().await.unwrap();
                let request = read_request(&mut socket).await;
                kept.lock().unwrap().push(request);
                for piece in script.pieces {
                    let _ = socket.write_all(&piece).await;
                    let _ = socket.flush().await;
                    tokio::task::yield_now().await;
                }
                if script.then_silent {
                    // The client hangs up when its time-out is over.
                    let _ = socket.read(&mut [0; 1]).await;
                }
            }
        });
        Self { url, asked }
    }

    /// Number of requests.
    pub fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    /// Body of the last request.
    pub fn body(&self) -> serde_json::Value {
        let asked = self.asked.lock().unwrap();
        serde_json::from_str(asked.last().unwrap().split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    pub fn head(&self) -> String {
        let asked = self.asked.lock().unwrap();
        asked.last().unwrap().split_once("\r\n\r\n").unwrap().0.to_lowercase()
    }
}

pub async fn read_request(socket: &mut tokio::net::TcpStream) -> String {
    let mut request = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        let count = socket.read(&mut buffer).await.unwrap();
        request.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&request);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            assert!(count > 0, "a request that breaks off");
            continue;
        };
        let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        if count == 0 || body.len() >= length.unwrap_or(0) {
            return text.into_owned();
        }
    }
}

pub fn config(provider: Provider, url: &str) -> config::Model {
    config::Model {
        provider,
        name: if provider == Provider::Gemini { "gemini-test" } else { "qwen-max" }.to_owned(),
        base_url: Some(url.to_owned()),
        api_key: Some("sk-very-secret".into()),
        context_window: 10_000,
        max_output: 500,
        temperature: None,
        images: true,
        price: None,
        patience: Duration::from_secs(20),
    }
}

pub fn ask() -> Request {
    let mut request = Request::new(Scope::Shared, Purpose::Chat);
    for (role, text) in [(Role::System, "Be brief."), (Role::User, "Hello")] {
        request.text(role, Labelled::new(Arc::from(text), Label::trusted(), Scope::Shared)).unwrap();
    }
    request
}

pub async fn call(provider: Provider, script: Script) -> Result<Reply, ModelError> {
    let server = Server::play(vec![script]).await;
    model::build(&config(provider, &server.url)).unwrap().call(&ask(), &NullSink).await
}

/// Calls with a short time-out.
pub async fn call_in_haste(provider: Provider, script: Script) -> Result<Reply, ModelError> {
    let server = Server::play(vec![script]).await;
    let mut config = config(provider, &server.url);
    config.patience = Duration::from_millis(100);
    model::build(&config).unwrap().call(&ask(), &NullSink).await
}

pub fn text(reply: &Reply) -> &str {
    reply.text().open().0
}

/// The result of [`call_in_haste`] at a server that says nothing.
pub fn silent() -> Result<Reply, ModelError> {
    Err(ModelError::Silent(Duration::from_millis(100)))
}

pub fn later(what: &str) -> ModelError {
    ModelError::Later { after: None, what: what.to_owned() }
}
