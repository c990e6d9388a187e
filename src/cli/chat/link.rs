//! The client's side of one connection: greets, says, hears, and remembers what was said but not
//! confirmed.

use crate::adapter::terminal::protocol::{FromClient, FromGateway};
use crate::adapter::terminal::{ClientReader, ClientWriter, Connection};

/// Whether that is a command to the program, to be answered at once and for itself.
pub(super) fn is_command(text: &str) -> bool {
    text.starts_with('/')
}

/// Who we are to the gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Welcome {
    /// The name of the person who speaks.
    pub person: String,
}

/// A greeted connection.
pub(super) struct GatewayLink {
    reader: ClientReader,
    writer: ClientWriter,
    unstored: Vec<(String, String)>,
}

impl GatewayLink {
    /// Greets. The error is the gateway's sentence, or none if it just went away.
    pub async fn greet(connection: Connection, person: Option<String>) -> Result<(Self, Welcome), Option<String>> {
        let Connection { reader, writer } = connection;
        let mut link = Self { reader, writer, unstored: Vec::new() };
        link.write(&FromClient::Hello { person }).await;
        while let Some(frame) = link.hear().await {
            match frame {
                FromGateway::Welcome { person, .. } => return Ok((link, Welcome { person })),
                FromGateway::Refused { why } | FromGateway::Bye { why } => return Err(Some(why)),
                _ => {}
            }
        }
        Err(None)
    }

    /// Says something, and under which id; it counts as unstored until the gateway confirms it.
    pub async fn say(&mut self, text: &str, piped: bool) -> String {
        let id = format!("{:032x}", rand::random::<u128>());
        self.unstored.push((id.clone(), text.to_owned()));
        self.write(&FromClient::Say { id: id.clone(), text: text.to_owned(), piped }).await;
        id
    }

    /// The next thing that the gateway says, but for confirmations, which are taken note of; `None`
    /// when it is gone. May be cancelled at any point.
    pub async fn hear(&mut self) -> Option<FromGateway> {
        loop {
            match self.reader.next().await {
                Ok(Some(Ok(FromGateway::Stored { id }))) => self.unstored.retain(|(said, _)| *said != id),
                Ok(Some(Ok(frame))) => return Some(frame),
                // A newer gateway may say things that we do not know.
                Ok(Some(Err(_))) => {}
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// What was said and not confirmed, oldest first.
    pub fn unstored(&self) -> Vec<&str> {
        self.unstored.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// A gateway that is gone is noticed by hearing nothing more; what it said before that still
    /// counts.
    async fn write(&mut self, frame: &FromClient) {
        let _ = self.writer.write(frame).await;
    }
}
