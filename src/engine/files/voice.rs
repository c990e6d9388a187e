//! Transcribes voice notes: the worst-case cost of the transcription is reserved before a byte is
//! fetched.
//!
//! A fresh note by a known person counts as their own words; any other recording keeps the label of
//! its file. A crash between reservation and settlement leaves the reservation, and the resumed
//! turn makes another.

use std::sync::Arc;

use anyhow::bail;

use super::{ExtractedText, MAX_FILE, fetch, refuse, store_file};
use crate::engine::Engine;
use crate::model::ModelError;
use crate::people::Party;
use crate::spend::{ReservedTranscription, SpendCause, Transcriber};
use crate::store::{Attachment, AttachmentState, TextKind, TurnRow};
use crate::trust::Labelled;
use crate::wording::{document as says, prompt};

/// Transcribes a voice note if the budget allows it; otherwise returns the refusal of the budget.
pub(super) async fn transcribe_note(
    engine: &Arc<Engine>,
    turn: &TurnRow,
    party: &Party,
    file: &Attachment,
) -> anyhow::Result<Result<(), ModelError>> {
    let is_here = file.state == AttachmentState::Here;
    if matches!(file.state, AttachmentState::Gone | AttachmentState::Failed) {
        return Ok(Ok(()));
    }
    let Some(transcriber) = &engine.transcription else {
        return refuse(engine, file, prompt::CANNOT_HEAR).await.map(|_| Ok(()));
    };
    if file.remote.size.is_some_and(|size| size > MAX_FILE) {
        return refuse(engine, file, says::TOO_LARGE).await.map(|_| Ok(()));
    }
    let stored = if is_here { Some(engine.tree.files().read_inbox(file.scope, &file.path).await?) } else { None };
    let size = stored.as_ref().map_or(file.remote.size, |bytes| u64::try_from(bytes.len()).ok());
    let on_behalf = SpendCause { turn: Some(turn.id), person: turn.person };
    let reserved = match transcriber.reserve(size, turn.scope, on_behalf).await {
        Ok(reserved) => reserved,
        Err(error @ (ModelError::OverBudget(_) | ModelError::AboveLimit(_))) => {
            refuse(engine, file, prompt::NO_BUDGET_TO_HEAR).await?;
            return Ok(Err(error));
        }
        Err(error) => bail!("A voice note cannot be transcribed: {error}"),
    };
    let bytes = match stored {
        Some(bytes) => bytes,
        None => match fetch(engine, turn, file, reserved.most).await? {
            Ok(bytes) => {
                store_file(engine, turn, party, file, &bytes, ExtractedText::default()).await?;
                bytes
            }
            Err(trouble) => {
                transcriber.release(reserved).await;
                return refuse(engine, file, trouble).await.map(|_| Ok(()));
            }
        },
    };
    transcribe(engine, turn, file, transcriber, reserved, bytes).await.map(Ok)
}

async fn transcribe(
    engine: &Arc<Engine>,
    turn: &TurnRow,
    file: &Attachment,
    transcriber: &Transcriber,
    reserved: ReservedTranscription,
    bytes: Vec<u8>,
) -> anyhow::Result<()> {
    let Ok(words) = transcriber.transcribe(reserved, bytes, &file.remote.mime).await else {
        return refuse(engine, file, prompt::NOT_HEARD).await.map(|_| ());
    };
    let text = Labelled::new(Arc::from(words.trim()), file.label.clone(), turn.scope);
    let (message, id) = (file.message, file.id);
    engine
        .journal
        .write("keep a transcript", move |tx| {
            tx.messages().add_text(message, TextKind::Transcript, &text)?;
            tx.attachments().attachment_failed(id, prompt::WRITTEN_DOWN)
        })
        .await
}
