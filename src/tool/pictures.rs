//! Pictures that tools put before the model: earlier ones of the person's own folder, and those
//! that tools of other programs give.
//!
//! A call only stores a row with the path and the digest. Every later request of the turn holds the
//! picture, with the label of its file; afterwards only its mention stays in the history, with the
//! path by which it can be read again. A model that cannot be shown pictures is told so, and the
//! file stays where it is.

use super::knowledge::{KnowledgeStore, failed, unread};
use super::{AuthorizableCall, Output, ToolError};
use crate::memory::{AccessRefusal, Workspace, label_of_pixels};
use crate::people::Party;
use crate::store::{Enclosure, Journal, Node};
use crate::wording::attachments as says;

/// Maximum size of a picture that is shown, in bytes: what every provider accepts.
pub const MAX_PICTURE: u64 = 5_000_000;
/// Maximum number of pictures that tools show in one turn.
const MAX_SHOWN: usize = 5;

/// Access to the pictures of a party.
#[derive(Clone)]
pub struct PictureStore {
    /// Journal of the turns.
    pub journal: Journal,
    /// Workspace with the files.
    pub workspace: Workspace,
}

impl PictureStore {
    /// Creates the access with the same journal and workspace.
    pub(super) fn of(store: &KnowledgeStore) -> Self {
        Self { journal: store.journal.clone(), workspace: store.workspace.clone() }
    }

    /// Puts a picture of the party's folder before the model.
    pub(super) async fn show(
        &self,
        call: &AuthorizableCall<'_>,
        party: &Party,
        path: &str,
    ) -> Result<Output, ToolError> {
        let file = self.workspace.files().own_file(party, path, MAX_PICTURE).await.map_err(unread)?;
        let Some(mime) = file.picture else { return Err(unread(AccessRefusal::NoText.into())) };
        let shown = match call.sees_pictures {
            true => self.enclose(call, file.path, file.digest).await?,
            false => return Ok(Output { text: says::unseen(path, mime), label: file.label, from: Vec::new() }),
        };
        match shown {
            true => Ok(Output {
                text: says::shown(path, mime),
                label: label_of_pixels(file.label),
                from: file.row.map(Node::File).into_iter().collect(),
            }),
            false => Err(ToolError::Refused(says::too_many_pictures(MAX_SHOWN))),
        }
    }

    /// Stores the row of a picture. Returns false if the turn has enough of them.
    pub(super) async fn enclose(
        &self,
        call: &AuthorizableCall<'_>,
        path: String,
        digest: String,
    ) -> Result<bool, ToolError> {
        let (turn, picture) = (call.turn, Enclosure::picture(path, digest));
        let stored =
            self.journal.write("show a picture", move |tx| tx.outgoing_files().enclose(turn, &picture, MAX_SHOWN));
        stored.await.map_err(failed)
    }
}
