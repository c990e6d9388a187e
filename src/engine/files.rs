//! Files that came with the messages of a turn: fetched before the first model call, and told to the model for what they are.
//!
//! Pictures go to a model that can see; voice notes are written down if there is an endpoint for it; small text files are read.
//! Whatever cannot be taken is said in the prompt in a plain sentence, so that the assistant can say it too: nothing is dropped.

use std::sync::Arc;

use super::context::{Picture, is_picture};
use super::{Engine, Fetch};
use crate::message::FileKind;
use crate::people::Person;
use crate::store::{Attachment, Node, TextKind, TurnRow};
use crate::trust::{Label, Labelled, Source};
use crate::wording::prompt;

/// The largest file that is fetched: the Bot API's own limit.
const MAX_FILE: u64 = 20 * 1024 * 1024;
/// The largest text file whose words go into the prompt.
const MAX_TEXT: usize = 48 * 1024;

/// Fetches what is still remote, and returns the pictures.
///
/// # Errors
/// If the journal cannot be used.
pub async fn prepare(engine: &Arc<Engine>, turn: &TurnRow, person: &Person) -> anyhow::Result<Vec<Picture>> {
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
        if let Some(picture) = prepare_one(engine, turn, person, &file).await? {
            pictures.push(picture);
        }
    }
    Ok(pictures)
}

async fn prepare_one(engine: &Arc<Engine>, turn: &TurnRow, person: &Person, file: &Attachment) -> anyhow::Result<Option<Picture>> {
    let sees = engine.parts.chat.order().first().and_then(|first| engine.parts.chat.card(*first)).is_some_and(|card| card.images);
    let picture = is_picture(file);
    if picture && !sees {
        return refuse(engine, file, prompt::CANNOT_SEE).await;
    }
    if file.remote.kind == FileKind::Voice && engine.parts.transcription.is_none() {
        return refuse(engine, file, prompt::CANNOT_HEAR).await;
    }
    let bytes = match file.state.as_str() {
        "here" if !picture => return Ok(None),
        "here" => engine.parts.tree.read_inbox(&file.path).await?,
        "failed" => return Ok(None),
        _ => match fetch(engine, turn, person, file).await? {
            Ok(bytes) => bytes,
            Err(trouble) => return refuse(engine, file, trouble).await,
        },
    };
    if picture {
        let mime = if file.remote.mime.is_empty() { "image/jpeg" } else { file.remote.mime.as_str() };
        return Ok(Some(Picture { mime: Arc::from(mime), bytes: Arc::from(bytes), label: file.label.clone() }));
    }
    if file.remote.kind == FileKind::Voice {
        return write_down(engine, turn, file, bytes).await;
    }
    read_text(engine, turn, file, &bytes).await
}

/// Fetches a file and keeps it in the inbox of the workspace.
async fn fetch(engine: &Arc<Engine>, turn: &TurnRow, person: &Person, file: &Attachment) -> anyhow::Result<Result<Vec<u8>, &'static str>> {
    if file.remote.size.is_some_and(|size| size > MAX_FILE) {
        return Ok(Err(prompt::FILE_TOO_LARGE));
    }
    let mut tries = 0;
    let bytes = loop {
        tries += 1;
        match engine.parts.courier.fetch(turn.address, &file.remote.reference, MAX_FILE).await {
            Ok(bytes) => break bytes,
            Err(Fetch::TooLarge) => return Ok(Err(prompt::FILE_TOO_LARGE)),
            Err(Fetch::Gone) => return Ok(Err(prompt::FILE_GONE)),
            Err(Fetch::Later) if tries >= 3 => return Ok(Err(prompt::FILE_NOT_FETCHED)),
            Err(Fetch::Later) => {}
        }
    };
    let now = engine.parts.clock.now();
    let (path, digest) =
        engine.parts.tree.save_inbox(turn.scope, person, file.id, &file.remote.name, &bytes, &file.label, now).await?;
    let (id, size, of) = (file.id, i64::try_from(bytes.len())?, turn.id);
    engine
        .parts
        .journal
        .write("keep a file", move |tx| {
            tx.attachment_here(id, &path, &digest, size)?;
            tx.derive(Node::Turn(of), Node::Attachment(id))
        })
        .await?;
    Ok(Ok(bytes))
}

async fn refuse(engine: &Arc<Engine>, file: &Attachment, trouble: &'static str) -> anyhow::Result<Option<Picture>> {
    let id = file.id;
    engine.parts.journal.write("refuse a file", move |tx| tx.attachment_failed(id, trouble)).await?;
    Ok(None)
}

/// A voice note becomes words. A fresh one of a known person's own is theirs; anything else keeps the file's label.
async fn write_down(engine: &Arc<Engine>, turn: &TurnRow, file: &Attachment, bytes: Vec<u8>) -> anyhow::Result<Option<Picture>> {
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

/// A small text file is put before the model, framed as what it is.
async fn read_text(engine: &Arc<Engine>, turn: &TurnRow, file: &Attachment, bytes: &[u8]) -> anyhow::Result<Option<Picture>> {
    if bytes.is_empty() {
        return refuse(engine, file, prompt::FILE_EMPTY).await;
    }
    let words = match std::str::from_utf8(bytes) {
        Ok(words) if !words.contains('\0') => crate::text::cut_bytes(words, MAX_TEXT),
        _ => return refuse(engine, file, prompt::CANNOT_READ).await,
    };
    let label = file.label.join(&Label::untrusted(Source::file(file.id)));
    let text = Labelled::new(Arc::from(words), label, turn.scope);
    let message = file.message;
    engine.parts.journal.write("keep a file's text", move |tx| tx.add_text(message, TextKind::File, &text)).await?;
    Ok(None)
}
