//! A client of the terminal socket.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

use super::channel::Channel;
use super::story::StoryOver;

/// A connected person. Dropping it disconnects.
pub struct TerminalClient {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
}

impl TerminalClient {
    /// Connects as a person and reads the welcome.
    pub async fn take(story: &StoryOver<impl Channel>, person: &str) -> Self {
        Self::greet(story, serde_json::json!({ "type": "hello", "person": person })).await
    }

    /// Connects like a script that asks one question.
    pub async fn of_a_script(story: &StoryOver<impl Channel>, person: &str) -> Self {
        Self::greet(story, serde_json::json!({ "type": "hello", "person": person, "once": true })).await
    }

    async fn greet(story: &StoryOver<impl Channel>, hello: serde_json::Value) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let local = Arc::clone(&story.app().local);
        tokio::spawn(async move { local.serve_client(theirs).await });
        let (reader, writer) = tokio::io::split(ours);
        let mut seat = Self { lines: BufReader::new(reader).lines(), writer };
        seat.write(&hello).await;
        seat.next("welcome").await;
        seat
    }

    /// Sends a message and waits until it is stored.
    pub async fn says(&mut self, id: &str, text: &str) {
        self.write(&serde_json::json!({ "type": "say", "id": id, "text": text })).await;
        self.next("stored").await;
    }

    /// Sends a line of the local protocol.
    pub async fn write(&mut self, line: &serde_json::Value) {
        self.writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// Returns the next line of a type; skips other lines.
    pub async fn next(&mut self, kind: &str) -> serde_json::Value {
        loop {
            let line = tokio::time::timeout(Duration::from_secs(10), self.lines.next_line()).await;
            let line = line.expect("nothing came to the terminal").unwrap().unwrap();
            let line: serde_json::Value = serde_json::from_str(&line).unwrap();
            if line["type"] == kind {
                return line;
            }
        }
    }
}
