//! `send_file` and `react`: a file of the person's own folder, or an emoji reaction to the message
//! that is being answered, goes out with the answer.
//!
//! A call only stores a row. The reply takes it along: exactly the file with this digest is sent or
//! nothing, and a reaction is omitted on channels without reactions. A turn that ends without a
//! reply sends nothing. Both go only to the recipient of the turn's answer, and a file comes only
//! from their own folder, so it cannot be used for exfiltration.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;

use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolDeclaration, ToolError, argument};
use crate::memory::{AccessRefusal, Workspace};
use crate::message::{ChannelKind, reaction};
use crate::store::{Enclosure, Journal};
use crate::text::is_emoji;
use crate::wording::attachments as says;

/// Maximum size of a sent file in bytes; every channel accepts it.
pub const MAX_FILE: u64 = 14_900_000;
/// Maximum number of files with one reply.
const MAX_FILES: usize = 5;

/// Returns the tools over this journal and workspace.
pub fn tools(journal: &Journal, workspace: &Workspace) -> Vec<Arc<dyn Tool>> {
    let send_file = SendFile { journal: journal.clone(), workspace: workspace.clone() };
    vec![Arc::new(send_file), Arc::new(React(journal.clone()))]
}

/// `send_file`: sends a file with the answer.
struct SendFile {
    journal: Journal,
    workspace: Workspace,
}

#[async_trait]
impl Tool for SendFile {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({ "path": { "type": "string" } });
        ToolDeclaration {
            spec: argument::spec("send_file", says::SEND_FILE, properties, &["path"]),
            effects: Effects::SHOWS,
            egress: Egress::Inside,
            // The same file of one turn is one row.
            repeatable: true,
            replaces: false,
        }
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let party = call.party(&self.journal).await.map_err(|error| store_error("A file", &error))?;
        let party = party.ok_or_else(|| ToolError::Refused(says::NOBODY.to_owned()))?;
        let asked = call.text("path");
        let numbered = self.workspace.files().numbered(&party, asked).await;
        let numbered = numbered.map_err(|error| store_error("A file", &error))?;
        let path = numbered.as_deref().unwrap_or(asked);
        let file = match self.workspace.files().own_file(&party, path, MAX_FILE).await {
            Ok(file) => file,
            Err(error) => {
                return Err(ToolError::Arguments(refusal(
                    error.refusal().map_err(|error| store_error("A file", &error))?,
                )));
            }
        };
        // Who chose the name of a file under a number is not who asks for it.
        let shown = if numbered.is_some() { asked } else { &file.path };
        let name = shown.rsplit('/').next().unwrap_or(shown).to_owned();
        let (turn, size) = (call.turn, file.size);
        let enclosure = Enclosure::file(file.path, file.digest);
        let stored =
            self.journal.write("enclose a file", move |tx| tx.outgoing_files().enclose(turn, &enclosure, MAX_FILES));
        match stored.await.map_err(|error| store_error("A file", &error))? {
            true => Ok(call.own_words(says::goes(&name, size))),
            false => Err(ToolError::Refused(says::too_many(MAX_FILES))),
        }
    }
}

fn refusal(why: AccessRefusal) -> String {
    match why {
        AccessRefusal::BadPath => says::BAD_PATH.to_owned(),
        AccessRefusal::Missing | AccessRefusal::NoText => says::NO_SUCH_FILE.to_owned(),
        AccessRefusal::Elsewhere => says::NOT_THEIRS.to_owned(),
        AccessRefusal::TooLarge => says::too_large(MAX_FILE),
    }
}

/// `react`: adds an emoji reaction.
struct React(Journal);

#[async_trait]
impl Tool for React {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({ "emoji": { "type": "string" } });
        ToolDeclaration {
            spec: argument::spec("react", says::REACT, properties, &["emoji"]),
            effects: Effects::SHOWS,
            egress: Egress::Inside,
            // A turn has one reaction, and the newest counts.
            repeatable: true,
            replaces: false,
        }
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let emoji = call.text("emoji").trim();
        if emoji.is_empty() || !is_emoji(emoji) {
            return Err(ToolError::Arguments(says::NO_EMOJI.to_owned()));
        }
        let (turn, emoji) = (call.turn, emoji.to_owned());
        let stored = self.0.write("enclose a reaction", move |tx| {
            let answered = tx.messages().messages_of_turn(turn)?;
            let Some(message) = answered.iter().rfind(|message| !message.external_id.is_empty()) else {
                return Ok(Stored::NoMessage);
            };
            let address = message.address.map_or(Ok(None), |address| tx.addresses().address(address))?;
            if address.is_some_and(|address| address.adapter == ChannelKind::Telegram.name())
                && reaction::on_telegram(&emoji).is_none()
            {
                return Ok(Stored::NotTaken);
            }
            tx.outgoing_files().enclose(turn, &Enclosure::reaction(&emoji), usize::MAX)?;
            Ok(Stored::Enclosed)
        });
        match stored.await.map_err(|error| store_error("A reaction", &error))? {
            Stored::Enclosed => Ok(call.own_words(says::REACTS)),
            Stored::NoMessage => Err(ToolError::Refused(says::NO_MESSAGE.to_owned())),
            Stored::NotTaken => Err(ToolError::Arguments(says::reaction_not_taken(&reaction::ON_TELEGRAM.join(" ")))),
        }
    }
}

/// What became of a reaction.
enum Stored {
    Enclosed,
    NoMessage,
    /// Their channel does not take it.
    NotTaken,
}

fn store_error(what: &str, error: &anyhow::Error) -> ToolError {
    tracing::error!("{what} cannot be enclosed: {error:#}");
    ToolError::Failed(says::NOT_KEPT.to_owned())
}
