//! Files that came with the messages of a turn: fetched before the first model call, and told to the model for what they are.
//!
//! Pictures go to a model that can see; voice notes are written down if there is an endpoint for it; small text files are read.
//! Whatever cannot be taken is said in the prompt in a plain sentence, so that the assistant can say it too: nothing is dropped.

use std::sync::Arc;

use super::context::{Picture, is_picture};
use super::{Engine, Fetch};
use crate::message::FileKind;
use crate::people::Party;
use crate::store::{Attachment, Node, TextKind, TurnRow};
use crate::trust::{Label, Labelled, Source, Text};
use crate::wording::prompt;

/// The largest file that is fetched: the Bot API's own limit.
const MAX_FILE: u64 = 20 * 1024 * 1024;
/// The largest text file whose words go into the prompt.
const MAX_TEXT: usize = 48 * 1024;

/// Fetches what is still remote, and returns the pictures.
///
/// # Errors
/// If the journal cannot be used.
pub async fn prepare(engine: &Arc<Engine>, turn: &TurnRow, party: &Party) -> anyhow::Result<Vec<Picture>> {
    let id = turn.id;
    let files: Vec<Attachment> = engine
        .parts
        .journal
        .read(move |db| {
            let mut files = Vec::new();
            for message in db.messages_of_turn(id)? {
                files.extend(db.attachments_of(message.id)?);
            }
            Ok(files)
        })
        .await?;
    let mut pictures = Vec::new();
    for file in files {
        if let Some(picture) = prepare_one(engine, turn, party, &file).await? {
            pictures.push(picture);
        }
    }
    Ok(pictures)
}

async fn prepare_one(
    engine: &Arc<Engine>,
    turn: &TurnRow,
    party: &Party,
    file: &Attachment,
) -> anyhow::Result<Option<Picture>> {
    if file.state == "gone" {
        return Ok(None);
    }
    let sees = engine
        .parts
        .chat
        .order()
        .first()
        .and_then(|first| engine.parts.chat.card(*first))
        .is_some_and(|card| card.images);
    let picture = is_picture(file);
    if picture && !sees {
        return refuse(engine, file, prompt::CANNOT_SEE).await;
    }
    let voice = matches!(file.remote.kind, FileKind::Voice | FileKind::Sound);
    if voice && engine.parts.transcription.is_none() {
        return refuse(engine, file, prompt::CANNOT_HEAR).await;
    }
    let bytes = match file.state.as_str() {
        "here" if picture || voice => engine.parts.tree.read_inbox(&file.path).await?,
        // The words of any other file were stored with it.
        "here" | "failed" => return Ok(None),
        _ => match fetch(engine, turn, file).await? {
            Ok(bytes) => {
                let found = (!picture && !voice).then(|| read_text(turn, file, &bytes));
                keep(engine, turn, party, file, &bytes, found).await?;
                bytes
            }
            Err(trouble) => return refuse(engine, file, trouble).await,
        },
    };
    if picture {
        let mime = if file.remote.mime.is_empty() { "image/jpeg" } else { file.remote.mime.as_str() };
        return Ok(Some(Picture {
            mime: Arc::from(mime),
            bytes: Arc::from(bytes),
            label: file.label.clone(),
            of: file.message,
        }));
    }
    if voice { write_down(engine, turn, file, bytes).await } else { Ok(None) }
}

/// The bytes of a file, or why they do not come.
async fn fetch(
    engine: &Arc<Engine>,
    turn: &TurnRow,
    file: &Attachment,
) -> anyhow::Result<Result<Vec<u8>, &'static str>> {
    if file.remote.size.is_some_and(|size| size > MAX_FILE) {
        return Ok(Err(prompt::FILE_TOO_LARGE));
    }
    let mut tries = 0;
    loop {
        tries += 1;
        match engine.parts.courier.fetch(turn.address, &file.remote.reference, MAX_FILE).await {
            Ok(bytes) => return Ok(Ok(bytes)),
            Err(Fetch::TooLarge) => return Ok(Err(prompt::FILE_TOO_LARGE)),
            Err(Fetch::Gone) => return Ok(Err(prompt::FILE_GONE)),
            Err(Fetch::Later) if tries >= 3 => return Ok(Err(prompt::FILE_NOT_FETCHED)),
            Err(Fetch::Later) => {}
        }
    }
}

/// Keeps a file in the inbox of the workspace, in one transaction with the words that were found in it: a turn that is cut off in
/// between would take a file that is here for one that was read.
async fn keep(
    engine: &Arc<Engine>,
    turn: &TurnRow,
    party: &Party,
    file: &Attachment,
    bytes: &[u8],
    found: Option<Result<Text, &'static str>>,
) -> anyhow::Result<()> {
    let now = engine.parts.clock.now();
    let (path, digest) =
        engine.parts.tree.save_inbox(turn.scope, party, file.id, &file.remote.name, bytes, &file.label, now).await?;
    let (id, message, size, of) = (file.id, file.message, i64::try_from(bytes.len())?, turn.id);
    let gone = engine
        .parts
        .journal
        .write("keep a file", move |tx| {
            tx.attachment_here(id, &path, &digest, size)?;
            tx.derive(Node::Turn(of), Node::Attachment(id))?;
            match found {
                Some(Ok(text)) => tx.add_text(message, TextKind::File, &text)?,
                Some(Err(trouble)) => tx.attachment_failed(id, trouble)?,
                None => {}
            }
            Ok(tx.message(message)?.is_some_and(|message| message.gone))
        })
        .await?;
    if gone {
        engine.ring_worker();
    }
    Ok(())
}

async fn refuse(engine: &Arc<Engine>, file: &Attachment, trouble: &'static str) -> anyhow::Result<Option<Picture>> {
    let id = file.id;
    engine.parts.journal.write("refuse a file", move |tx| tx.attachment_failed(id, trouble)).await?;
    Ok(None)
}

/// A voice note becomes words. A fresh one of a known person's own is theirs; anything else keeps the file's label.
async fn write_down(
    engine: &Arc<Engine>,
    turn: &TurnRow,
    file: &Attachment,
    bytes: Vec<u8>,
) -> anyhow::Result<Option<Picture>> {
    let Some(config) = &engine.parts.transcription else { return Ok(None) };
    match crate::model::transcribe::transcribe(config, bytes, &file.remote.mime).await {
        Ok(words) => {
            let text = Labelled::new(Arc::from(words.trim()), file.label.clone(), turn.scope);
            let (message, id) = (file.message, file.id);
            engine
                .parts
                .journal
                .write("keep a transcript", move |tx| {
                    tx.add_text(message, TextKind::Transcript, &text)?;
                    tx.attachment_failed(id, prompt::WRITTEN_DOWN)
                })
                .await?;
            Ok(None)
        }
        Err(_) => refuse(engine, file, prompt::NOT_HEARD).await,
    }
}

/// The words of a small text file, framed as what they are.
fn read_text(turn: &TurnRow, file: &Attachment, bytes: &[u8]) -> Result<Text, &'static str> {
    if bytes.is_empty() {
        return Err(prompt::FILE_EMPTY);
    }
    let words = match std::str::from_utf8(bytes) {
        Ok(words) if !words.contains('\0') => crate::text::cut_bytes(words, MAX_TEXT),
        _ => return Err(prompt::CANNOT_READ),
    };
    let label = file.label.join(&Label::untrusted(Source::file(file.id)));
    Ok(Labelled::new(Arc::from(words), label, turn.scope))
}
