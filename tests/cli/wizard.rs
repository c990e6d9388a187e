//! `init` at a terminal, with wrong answers at every step.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use super::program::Home;
use crate::support::telegram::FakeTelegram;

pub const KEY: &str = "sk-good-0123456789";

/// A server with two models that wants the key.
pub fn model_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            let request = read(&mut socket);
            let answer = answer(&request);
            // The client may be gone.
            let _ = socket.write_all(answer.as_bytes());
        }
    });
    address
}

fn read(socket: &mut TcpStream) -> String {
    let (mut read, mut buffer) = (Vec::new(), [0; 16 * 1024]);
    loop {
        let count = socket.read(&mut buffer).unwrap();
        read.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&read).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        if count == 0 || (text.contains("\r\n\r\n") && body.len() >= length.unwrap_or(0_usize)) {
            return text;
        }
    }
}

fn answer(request: &str) -> String {
    let reply = |status: &str, kind: &str, body: &str| {
        format!(
            "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let json = "application/json";
    if !request.contains(&format!("Bearer {KEY}")) {
        return reply("401 Unauthorized", json, r#"{"error": {"message": "Incorrect API key provided"}}"#);
    }
    if request.starts_with("GET /v1/models ") {
        return reply("200 OK", json, r#"{"data": [{"id": "small", "context_length": 65536}, {"id": "large"}]}"#);
    }
    if !request.starts_with("POST /v1/chat/completions ") {
        return reply("404 Not Found", "text/html", "<html>Nothing here</html>");
    }
    if request.contains(r#""model":"small""#) || request.contains(r#""model":"large""#) {
        let events = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ready\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
        return reply("200 OK", "text/event-stream", events);
    }
    reply("404 Not Found", json, r#"{"error": {"message": "The model does not exist", "code": "model_not_found"}}"#)
}

/// Promise (operation/init-step-by-step): `init` checks each answer with a real request when it is
/// given, says what is wrong, and asks for that answer alone again. It lists the server's models,
/// and asks for a context window or price only if neither the server nor Compline knows it. Nothing
/// is saved before the end.
#[test]
fn each_wrong_answer_is_asked_again_alone() {
    let (home, server, fake) = (Home::new(), model_server(), FakeTelegram::start_sync());
    let mut wizard = home.session("init");
    wizard.answers("What the assistant should call you", "owner");
    assert!(wizard.answers("What the assistant should call you", "Robin").contains("cannot be a name here"));
    wizard.answers("Your time zone", "Vienna");
    assert!(wizard.answers("Your time zone", "GMT+2").contains("Did you mean Europe/Vienna?"));
    assert!(wizard.answers("Your time zone", "Europe/Vienna").contains("They look like"));
    assert!(wizard.answers("Number", "99").contains("OpenRouter"));
    assert!(wizard.answers("Number", "other").contains("from 1 to 11"));
    wizard.answers("Server address", "localhost:9911");
    assert!(wizard.answers("Server address", "http://127.0.0.1:9/v1").contains("no address of a server"));
    assert!(wizard.answers("Server address", &format!("http://{server}/v1")).contains("no connection to the server"));
    wizard.answers("API key (Enter", "sk-wrong");
    let refused = wizard.answers("API key (Enter", KEY);
    assert!(refused.contains("The key is refused") && !refused.contains("sk-wrong"), "{refused}");
    let listed = wizard.answers("Number or name", "tiny");
    assert!(listed.contains("1  large") && listed.contains("2  small"), "{listed}");
    wizard.answers("Model name", "2");
    assert!(wizard.answers("Can it see pictures?", "n").contains("The model answers."));
    wizard.answers("Bot token", "not a token");
    wizard.answers("Bot token", "");
    wizard.answers("Signal", "n");
    let (code, said) = wizard.ends();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("Wrote"), "{said}");
    let written = std::fs::read_to_string(home.file("compline.toml")).unwrap();
    for line in ["name = \"small\"", "context_window = 65536", "images = false", "timezone = \"Europe/Vienna\""] {
        assert!(written.contains(&format!("\n{line}")), "{line:?} is missing in {written}");
    }
    assert_eq!(std::fs::read_to_string(home.file("model.key")).unwrap().trim(), KEY);
    assert!(!written.contains(KEY));
    home.run("config check").done();
    drop(fake);
}

/// Proves: operation/init-step-by-step
#[test]
fn a_dialogue_that_is_broken_off_saves_nothing() {
    let home = Home::new();
    let mut wizard = home.session("init");
    wizard.answers("What the assistant should call you", "Robin");
    wizard.answers("Your time zone", "\u{3}");
    let (code, said) = wizard.ends();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("Cancelled. Nothing was saved."), "{said}");
    assert!(!home.file("compline.toml").exists());
}
