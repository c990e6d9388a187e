//! Lines over any byte stream: a [`Connection`] reads and writes one JSON object per line.
//!
//! Input cannot grow memory past the limit: a longer line is skipped to its end and reported as
//! [`Frame::Skipped`], as is an invalid one; the next line is read as usual. Reading may be
//! cancelled at any point without loss. A line is written with its newline in one piece, so that an
//! interrupted one is never taken for a whole one.

use std::io;

use anyhow::{Context, bail};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, ReadHalf, WriteHalf};

use super::protocol::{FromClient, FromGateway};
use crate::wording::chat as words;

/// Maximum length of a line that the gateway reads. An edit in an editor holds two texts of a file.
pub const LONGEST_IN: usize = 4 * 1024 * 1024;
/// Maximum length of a line that a client reads: an answer with the overhead of escaping.
const LONGEST_OUT: usize = 16 * 1024 * 1024;

trait ClientStream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> ClientStream for S {}

/// Both directions of one connection.
pub struct Connection {
    /// Reading half.
    pub reader: ClientReader,
    /// Writing half.
    pub writer: ClientWriter,
    /// True if the client leaves after one answer.
    pub once: bool,
}

impl Connection {
    /// Creates the client's end.
    pub fn of_client(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) -> Self {
        Self::over(Box::new(stream), LONGEST_OUT)
    }

    /// Creates the gateway's end.
    pub fn of_gateway(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) -> Self {
        Self::over(Box::new(stream), LONGEST_IN)
    }

    fn over(stream: Box<dyn ClientStream>, longest: usize) -> Self {
        let (read, write) = tokio::io::split(stream);
        let reader = ClientReader { stream: BufReader::new(read), line: Vec::new(), longest, overlong: false };
        Self { reader, writer: ClientWriter { stream: write }, once: false }
    }
}

/// First message of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Greeting {
    /// Request to chat: answered by `welcome` or `refused`, then attached.
    Hello {
        /// Name of the person; the owner if there is none.
        person: Option<String>,
    },
    /// One command: answered by `answer`.
    Run {
        /// The command and its arguments.
        args: Vec<String>,
        /// True to answer as JSON.
        json: bool,
    },
}

/// Reads the greeting of a connection. Any other beginning is rejected.
pub async fn accept(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
) -> anyhow::Result<(Greeting, Connection)> {
    let mut connection = Connection::of_gateway(stream);
    let first = connection.reader.next().await.context("Could not read the greeting")?;
    let why = match first {
        Frame::End => bail!("The connection ended before a greeting"),
        Frame::Message(FromClient::Hello { person, once }) => {
            return Ok((Greeting::Hello { person }, Connection { once, ..connection }));
        }
        Frame::Message(FromClient::Run { args, json }) => return Ok((Greeting::Run { args, json }, connection)),
        Frame::Message(FromClient::Say { .. }) => words::NO_GREETING,
        Frame::Skipped(unusable) => unusable.sentence(),
    };
    let refused = FromGateway::Refused { why: why.to_owned() };
    connection.writer.write(&refused).await.context("Could not refuse a greeting")?;
    bail!("A connection began without a greeting")
}

/// A line that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame<T> {
    /// A message.
    Message(T),
    /// An unusable line.
    Skipped(FrameError),
    /// The end of the stream.
    End,
}

/// Reasons for skipping a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameError {
    /// Longer than the limit.
    TooLong,
    /// Not the expected JSON, or not UTF-8.
    NotUnderstood,
}

impl FrameError {
    /// Sentence for the other side.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::TooLong => words::LINE_TOO_LONG,
            Self::NotUnderstood => words::NOT_UNDERSTOOD,
        }
    }
}

/// Reader of lines.
pub struct ClientReader {
    stream: BufReader<ReadHalf<Box<dyn ClientStream>>>,
    line: Vec<u8>,
    longest: usize,
    overlong: bool,
}

impl ClientReader {
    /// Reads the next line that is not blank. May be cancelled at any point.
    pub async fn next<T: DeserializeOwned>(&mut self) -> io::Result<Frame<T>> {
        loop {
            let at_end = !self.take_line().await?;
            let line = std::mem::take(&mut self.line);
            if std::mem::take(&mut self.overlong) {
                return Ok(Frame::Skipped(FrameError::TooLong));
            }
            if !line.trim_ascii().is_empty() {
                let message = serde_json::from_slice(&line);
                return Ok(message.map_or(Frame::Skipped(FrameError::NotUnderstood), Frame::Message));
            }
            if at_end {
                return Ok(Frame::End);
            }
        }
    }

    /// Collects bytes up to a newline; returns false at the end of the stream.
    async fn take_line(&mut self) -> io::Result<bool> {
        loop {
            let chunk = self.stream.fill_buf().await?;
            if chunk.is_empty() {
                return Ok(false);
            }
            let newline = chunk.iter().position(|byte| *byte == b'\n');
            let part = newline.and_then(|at| chunk.get(..at)).unwrap_or(chunk);
            self.overlong |= self.line.len().saturating_add(part.len()) > self.longest;
            if self.overlong {
                self.line.clear();
            } else {
                self.line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(newline.is_some());
            self.stream.consume(used);
            if newline.is_some() {
                return Ok(true);
            }
        }
    }
}

/// Writer of lines.
pub struct ClientWriter {
    stream: WriteHalf<Box<dyn ClientStream>>,
}

impl ClientWriter {
    /// Writes one line and flushes it.
    pub async fn write(&mut self, frame: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(frame)?;
        line.push(b'\n');
        self.stream.write_all(&line).await?;
        self.stream.flush().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    async fn greet(bytes: &[u8]) -> (anyhow::Result<(Greeting, Connection)>, String) {
        let (mut client, gateway) = tokio::io::duplex(64 * 1024);
        client.write_all(bytes).await.unwrap();
        let accepted = accept(gateway).await;
        client.shutdown().await.unwrap();
        let mut answer = String::new();
        if accepted.is_err() {
            client.read_to_string(&mut answer).await.unwrap();
        }
        (accepted, answer)
    }

    #[tokio::test]
    async fn a_connection_begins_with_a_greeting() {
        let hello = greet(b"\n{\"type\":\"hello\"}\n").await.0.unwrap().0;
        assert_eq!(hello, Greeting::Hello { person: None });
        let run = greet(b"{\"type\":\"run\",\"args\":[\"status\"]}\n").await.0.unwrap().0;
        assert_eq!(run, Greeting::Run { args: vec!["status".into()], json: false });
        for (line, why) in [
            (&b"{\"type\":\"say\",\"id\":\"1\",\"text\":\"x\"}\n"[..], words::NO_GREETING),
            (b"\xff\xfe\n", words::NOT_UNDERSTOOD),
            (b"GET / HTTP/1.1\n", words::NOT_UNDERSTOOD),
        ] {
            let (accepted, answer) = greet(line).await;
            assert!(accepted.is_err());
            assert!(answer.contains(why), "{answer}");
        }
    }

    #[tokio::test]
    async fn a_bad_line_costs_only_itself() {
        let long = format!("{{\"type\":\"hello\",\"person\":\"{}\"}}", "x".repeat(LONGEST_IN));
        let bytes = [long.as_bytes(), b"\n\xff\n{\n\n  \n{\"type\":\"hello\"}"].concat();
        let (mut client, gateway) = tokio::io::duplex(1000);
        let write = async move { client.write_all(&bytes).await.unwrap() };
        let read = async move {
            let mut reader = Connection::of_gateway(gateway).reader;
            let mut seen: Vec<Frame<FromClient>> = Vec::new();
            loop {
                match reader.next().await.unwrap() {
                    Frame::End => return seen,
                    line => seen.push(line),
                }
            }
        };
        let ((), seen) = tokio::join!(write, read);
        let bad = || Frame::Skipped(FrameError::NotUnderstood);
        let whole = Frame::Message(FromClient::Hello { person: None, once: false });
        assert_eq!(seen, vec![Frame::Skipped(FrameError::TooLong), bad(), bad(), whole]);
    }
}
