//! Outgoing content other than text: files and emoji reactions.
//!
//! A file is sent as it was when chosen, or not at all: if it changed, or the channel takes no
//! files, a sentence replaces it and the rest goes on. A reaction is best effort and tried once.

use std::sync::Arc;

use super::Delivery;
use crate::adapter::{OutgoingPart, PartFormat, SendError};
use crate::gateway::dispatcher::DeliveryQueue;
use crate::memory::Workspace;
use crate::message::{FileKind, OutgoingFile, file_type};
use crate::store::{OutboxRow, PartRow, PartState};
use crate::tool::attachments::MAX_FILE;
use crate::wording::Language;
use crate::wording::attachments as says;

/// Content of a part that is a file.
pub(super) enum OutgoingAttachment {
    /// The file.
    File(OutgoingFile),
    /// A sentence in its place.
    Notice(String),
}

impl OutgoingAttachment {
    /// Opens the file of a part.
    pub(super) async fn open(workspace: &Workspace, part: &PartRow, language: Language) -> anyhow::Result<Self> {
        let bytes = workspace.files().chosen_file(&part.file, &part.digest, MAX_FILE).await?;
        let name = name_of(&part.file);
        Ok(bytes.map_or_else(|| Self::Notice(says::changed(language, name)), |bytes| Self::File(outgoing(name, bytes))))
    }

    /// The sentence for a file that the channel does not accept.
    pub(super) fn rejected_notice(part: &PartRow, language: Language) -> Self {
        Self::Notice(says::not_taken(language, name_of(&part.file), &part.file))
    }
}

/// The sentence as a part.
pub(super) fn plain_part(words: &str) -> OutgoingPart {
    OutgoingPart { rich: words.to_owned(), plain: words.to_owned(), ..OutgoingPart::default() }
}

/// Warns that the next file may be a repeat. Best effort.
pub(super) async fn warn_of_repeat(queue: &DeliveryQueue, peer: &str, file: &OutgoingFile, language: Language) {
    let warning = plain_part(&says::possibly_repeated(language, &file.name));
    if let Err(error) = queue.adapter.send(peer, &warning, PartFormat::Plain).await {
        tracing::debug!("Nobody was told that a file may be a repeat: {error}");
    }
}

impl Delivery {
    /// Sends a reaction, once.
    pub(super) async fn react(&self, row: &OutboxRow) -> anyhow::Result<()> {
        let (dispatcher, id) = (&self.dispatcher, row.id);
        let peer = dispatcher.current_peer(&self.queue).await?;
        let outcome = self.queue.adapter.react(&peer, &row.quotes, row.text.open().0).await;
        let now = dispatcher.clock.now();
        let (state, reason) = match outcome {
            Ok(()) => (PartState::Sent, String::new()),
            Err(error) => {
                if let SendError::Refused(_) = error {
                    tracing::warn!("A reaction is not taken by {}: {error}", self.queue.adapter.name());
                }
                (PartState::Failed, error.to_string())
            }
        };
        dispatcher.journal.write("react", move |tx| tx.outbox().outbox_over(id, state, &reason, now)).await
    }
}

fn outgoing(name: &str, bytes: Vec<u8>) -> OutgoingFile {
    let mime = file_type::of_picture(&bytes).unwrap_or_else(|| file_type::of_name(name));
    let kind = match mime {
        "image/jpeg" | "image/png" | "image/webp" => FileKind::Photo,
        "audio/ogg" => FileKind::Voice,
        _ => FileKind::Document,
    };
    OutgoingFile { kind, name: name.to_owned(), mime: mime.to_owned(), bytes: Arc::from(bytes) }
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_its_first_bytes_or_else_its_name_say() {
        let kind = |name, size| outgoing(name, vec![0; size]).kind;
        assert_eq!([kind("a.JPG", 9), kind("a.opus", 9)], [FileKind::Photo, FileKind::Voice]);
        let photo = outgoing("3-file", b"\xff\xd8\xff\xe0".to_vec());
        assert_eq!((photo.kind, photo.mime.as_str()), (FileKind::Photo, "image/jpeg"));
        assert_eq!([kind("a.pdf", 9), kind("a", 9), kind("jpg", 9)], [FileKind::Document; 3]);
        assert_eq!(outgoing("notes.md", Vec::new()).mime, "text/markdown");
    }
}
