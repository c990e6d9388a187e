//! A connection to the daemon, byte for byte.

use std::path::Path;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpStream, UnixStream};

use super::LIMIT;

/// One connection.
pub struct Line {
    reader: BufReader<Box<dyn AsyncRead + Send + Unpin>>,
    writer: Box<dyn AsyncWrite + Send + Unpin>,
    last_id: u64,
}

impl Line {
    pub async fn unix(socket: &Path) -> Self {
        let (reader, writer) = UnixStream::connect(socket).await.unwrap().into_split();
        Self { reader: BufReader::new(Box::new(reader)), writer: Box::new(writer), last_id: 1000 }
    }

    pub async fn tcp(address: &str) -> Self {
        let (reader, writer) = TcpStream::connect(address).await.unwrap().into_split();
        Self { reader: BufReader::new(Box::new(reader)), writer: Box::new(writer), last_id: 1000 }
    }

    pub async fn write(&mut self, bytes: &[u8]) {
        self.writer.write_all(bytes).await.unwrap();
        self.writer.flush().await.unwrap();
    }

    /// Says that nothing more is written.
    pub async fn end(&mut self) {
        self.writer.shutdown().await.unwrap();
    }

    /// What comes next; `None` at the end.
    pub async fn next(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = tokio::time::timeout(LIMIT, self.reader.read_line(&mut line)).await.expect("a line in time");
        (read.unwrap() > 0).then_some(line)
    }

    pub async fn answer(&mut self) -> Value {
        serde_json::from_str(&self.next().await.expect("an answer")).unwrap()
    }

    /// A question whose answer is the next line.
    pub async fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        self.write(format!("{request}\n").as_bytes()).await;
        let answer = self.answer().await;
        assert_eq!(answer["id"], self.last_id);
        answer
    }
}
