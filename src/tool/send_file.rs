//! `send_file`: sends a file of the person's own folder with the answer.
//!
//! The call only stores a row with the path and the digest of the file. The reply takes it along,
//! and exactly this content is sent or nothing. A turn that ends without a reply sends nothing. The
//! file goes only to the recipient of the turn's answer, and only from their own folder, so it
//! cannot be used for exfiltration.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolError, argument};
use crate::memory::{AccessRefusal, Workspace};
use crate::model::ToolSpec;
use crate::people::Party;
use crate::store::{Enclosure, Journal};
use crate::trust::Scope;
use crate::wording::enclosed as says;

/// The maximum size of a sent file in bytes; every channel accepts it.
pub const MAX_FILE: u64 = 14_900_000;
/// The maximum number of files with one reply.
const MOST: usize = 5;

/// The `send_file` tool.
pub struct SendFile {
    journal: Journal,
    tree: Workspace,
}

impl SendFile {
    /// Creates the tool over this workspace.
    pub fn new(journal: Journal, tree: Workspace) -> Self {
        Self { journal, tree }
    }

    /// Returns the party that owns the folder and reads the answer.
    async fn party(&self, call: &AuthorizableCall<'_>) -> Result<Party, ToolError> {
        match call.scope {
            Scope::Group(stream) => Ok(Party::Group(stream)),
            Scope::Person(id) => {
                let person = self.journal.read(move |db| db.people().person(id)).await.map_err(store_error)?;
                person.map(Party::One).ok_or_else(|| ToolError::Refused(says::NOBODY.to_owned()))
            }
            Scope::Shared => Err(ToolError::Refused(says::NOBODY.to_owned())),
        }
    }
}

#[async_trait]
impl Tool for SendFile {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "send_file".to_owned(),
            description: says::SEND_FILE.to_owned(),
            schema: json!({
                "type": "object",
                "properties": { "path": { "type": "string", "description": says::SEND_FILE_PATH } },
                "required": ["path"]
            }),
        }
    }

    /// The same file of one turn is one row.
    fn repeatable(&self) -> bool {
        true
    }

    fn effects(&self) -> Effects {
        Effects::SHOWS
    }

    fn reach(&self, _: &Value) -> Egress {
        Egress::Inside
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let path = argument::text(call.arguments, "path");
        let party = self.party(call).await?;
        let found = self.tree.files().own_file(&party, path, MAX_FILE).await.map_err(store_error)?;
        let file = found.map_err(|why| ToolError::Arguments(refusal(why)))?;
        let (turn, name, size) = (call.turn, name_of(&file.path).to_owned(), file.size);
        let enclosure = Enclosure::file(file.path, file.digest);
        let kept = self.journal.write("enclose a file", move |tx| tx.outgoing_files().enclose(turn, &enclosure, MOST));
        match kept.await.map_err(store_error)? {
            true => Ok(Output { text: says::goes(&name, size), label: call.label.clone(), from: Vec::new() }),
            false => Err(ToolError::Refused(says::too_many(MOST))),
        }
    }
}

/// Returns the last part of a path.
fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn refusal(why: AccessRefusal) -> String {
    match why {
        AccessRefusal::BadPath => says::BAD_PATH.to_owned(),
        AccessRefusal::Missing | AccessRefusal::NoText => says::NO_SUCH_FILE.to_owned(),
        AccessRefusal::Elsewhere => says::NOT_THEIRS.to_owned(),
        AccessRefusal::TooLarge => says::too_large(MAX_FILE),
    }
}

fn store_error(error: anyhow::Error) -> ToolError {
    tracing::error!("A file cannot be enclosed: {error:#}");
    ToolError::Failed(says::NOT_KEPT.to_owned())
}
