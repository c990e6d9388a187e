//! A model on loopback with answers from the test; it records every request.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::program::PLAIN;

/// Answer of the model.
pub enum Say {
    Text(&'static str),
    /// A text in pieces, each sent when it comes, until the sender is dropped.
    Pieces(Receiver<&'static str>),
    /// Calls a tool with arguments.
    Calls(&'static str, Value),
}

/// A running model, stopped at the end of the test.
pub struct Model {
    /// Configuration that uses this model.
    pub config: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Model {
    /// Starts a model that answers each request body with `answers`.
    pub fn start(answers: impl Fn(&str) -> Say + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let config = format!("{PLAIN}[model]\nprovider = \"openai\"\nname = \"m\"\nbase_url = \"{url}\"\n");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        std::thread::spawn(move || {
            for socket in listener.incoming() {
                let mut socket = socket.unwrap();
                let request = body(&mut socket);
                let say = answers(&request);
                kept.lock().unwrap().push(request);
                // The client may be gone.
                let _ = match say {
                    Say::Pieces(pieces) => stream(&mut socket, pieces),
                    say => socket.write_all(streamed(&say).as_bytes()),
                };
            }
        });
        Self { config, asked }
    }

    /// Bodies of all requests.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn body(socket: &mut TcpStream) -> String {
    let (mut read, mut buffer) = (Vec::new(), [0; 16 * 1024]);
    loop {
        let count = socket.read(&mut buffer).unwrap();
        read.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&read);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        if count == 0 || length.is_some_and(|length: usize| body.len() >= length) {
            return body.to_owned();
        }
    }
}

/// Sends the pieces as they come.
fn stream(socket: &mut TcpStream, pieces: Receiver<&'static str>) -> std::io::Result<()> {
    socket.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n")?;
    for piece in pieces {
        let chunk = json!({ "choices": [{ "index": 0, "delta": { "content": piece }, "finish_reason": null }] });
        socket.write_all(format!("data: {chunk}\n\n").as_bytes())?;
    }
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    socket.write_all(format!("data: {end}\n\ndata: [DONE]\n\n").as_bytes())
}

fn streamed(say: &Say) -> String {
    let (delta, why) = match say {
        Say::Pieces(_) => return String::new(),
        Say::Text(text) => (json!({ "role": "assistant", "content": text }), "stop"),
        Say::Calls(name, arguments) => {
            let call = json!({ "index": 0, "id": "call_1", "type": "function",
                "function": { "name": name, "arguments": arguments.to_string() } });
            (json!({ "role": "assistant", "tool_calls": [call] }), "tool_calls")
        }
    };
    let chunk = json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": why }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 10 } });
    let events = format!("data: {chunk}\n\ndata: [DONE]\n\n");
    format!(
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n{events}",
        events.len()
    )
}
