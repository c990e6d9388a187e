//! Client side of one connection: greets, sends, receives, and keeps track of unconfirmed messages.

use crate::adapter::terminal::protocol::{FromClient, FromGateway};
use crate::adapter::terminal::{ClientReader, ClientWriter, Connection};

/// Returns `true` for a command to the program, which is answered at once and on its own.
pub(super) fn is_command(text: &str) -> bool {
    text.starts_with('/')
}

/// The gateway's answer to the greeting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Welcome {
    /// Name of the person who is talking.
    pub person: String,
}

/// A greeted connection.
pub(super) struct GatewayLink {
    reader: ClientReader,
    writer: ClientWriter,
    unstored: Vec<(String, String)>,
}

impl GatewayLink {
    /// Sends the greeting. The error is the gateway's sentence, or `None` if it just disconnected.
    pub async fn greet(connection: Connection, person: Option<String>) -> Result<(Self, Welcome), Option<String>> {
        let Connection { reader, writer } = connection;
        let mut link = Self { reader, writer, unstored: Vec::new() };
        link.write(&FromClient::Hello { person }).await;
        while let Some(frame) = link.next_frame().await {
            match frame {
                FromGateway::Welcome { person, .. } => return Ok((link, Welcome { person })),
                FromGateway::Refused { why } | FromGateway::Bye { why } => return Err(Some(why)),
                _ => {}
            }
        }
        Err(None)
    }

    /// Sends a message and returns its id. It counts as unstored until the gateway confirms it.
    pub async fn say(&mut self, text: &str, piped: bool) -> String {
        let id = format!("{:032x}", rand::random::<u128>());
        self.unstored.push((id.clone(), text.to_owned()));
        self.write(&FromClient::Say { id: id.clone(), text: text.to_owned(), piped }).await;
        id
    }

    /// Returns the next frame from the gateway. Confirmations are recorded and skipped. `None`
    /// means that the gateway is gone. Cancel-safe.
    pub async fn next_frame(&mut self) -> Option<FromGateway> {
        loop {
            match self.reader.next().await {
                Ok(Some(Ok(FromGateway::Stored { id }))) => self.unstored.retain(|(said, _)| *said != id),
                Ok(Some(Ok(frame))) => return Some(frame),
                // A newer gateway may send unknown frames.
                Ok(Some(Err(_))) => {}
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// Unconfirmed messages, oldest first.
    pub fn unstored(&self) -> Vec<&str> {
        self.unstored.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// Sends a frame. Errors are ignored: the end of the input reports a gateway that is gone, and
    /// earlier frames from it still count.
    async fn write(&mut self, frame: &FromClient) {
        let _ = self.writer.write(frame).await;
    }
}
