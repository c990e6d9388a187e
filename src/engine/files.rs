//! Files attached to the messages of a turn: fetched before the first model call, stored in the
//! inbox of the workspace, and described to the model.
//!
//! Pictures go to a model with vision; voice notes are transcribed if there is an endpoint; text is
//! extracted from text files and documents ([`kind`]), from documents by a separate process
//! ([`reader`]). The beginning of the text goes into the prompt, up to the limit for any untrusted
//! text; the workspace holds all of it, in the file itself or in a text file next to it. If a file
//! cannot be used, the prompt says so in a plain sentence, so that the assistant can report it:
//! nothing is dropped silently.
//!
//! Files sent in a group are not fetched when the group has spent its share of the day. A voice
//! note is fetched only after the worst-case cost of its transcription is reserved ([`voice`]).

pub mod document;
mod kind;
pub mod reader;
mod voice;

use std::sync::Arc;

use self::kind::DocumentKind;
use self::reader::{Document, DocumentContent, MAX_WORDS};
use super::context::{Picture, is_picture};
use super::{Engine, Fetch};
use crate::message::FileKind;
use crate::model::ModelError;
use crate::people::Party;
use crate::store::{Attachment, AttachmentState, Node, TextKind, TurnRow};
use crate::trust::{Label, Labelled, Scope, Source, Text};
use crate::wording::{document as says, prompt};

/// The largest file that is fetched: the Bot API's own limit.
const MAX_FILE: u64 = 20 * 1024 * 1024;
/// Maximum number of bytes of a file's text that goes into the prompt.
const MAX_TEXT: usize = 48 * 1024;

/// Text extracted from a file.
#[derive(Default)]
struct ExtractedText {
    /// The beginning, for the prompt.
    begin: Option<Text>,
    /// The whole text, if the file does not hold it verbatim.
    beside: Option<Text>,
    /// True if there is more text than the beginning.
    is_part: bool,
    /// Reason why text is missing or incomplete.
    trouble: &'static str,
}

/// Prepared files of a turn, as far as the model sees them.
pub enum PreparedFiles {
    /// The pictures; extracted text is in the journal.
    Ready(Vec<Picture>),
    /// The turn consists only of voice notes, and the budget does not cover transcription.
    OverBudget(ModelError),
}

/// Fetches the files that are still remote.
pub async fn prepare(engine: &Arc<Engine>, turn: &TurnRow, party: &Party) -> anyhow::Result<PreparedFiles> {
    let id = turn.id;
    let (files, has_words) = engine
        .journal
        .read(move |db| {
            let mut files = Vec::new();
            for message in db.messages().messages_of_turn(id)? {
                files.extend(db.attachments().attachments_of(message.id)?);
            }
            Ok((files, db.attachments().turn_has_words(id)?))
        })
        .await?;
    let mut pictures = Vec::new();
    if files.is_empty() || !may_fetch(engine, turn).await? {
        return Ok(PreparedFiles::Ready(pictures));
    }
    let (mut refusal, mut is_heard) = (None, has_words);
    for file in files {
        if !is_voice(&file) {
            is_heard = true;
            pictures.extend(prepare_one(engine, turn, party, &file).await?);
        } else if let Err(error) = voice::transcribe_note(engine, turn, party, &file).await? {
            refusal = Some(error);
        } else {
            is_heard = true;
        }
    }
    Ok(match refusal {
        Some(error) if !is_heard => PreparedFiles::OverBudget(error),
        _ => PreparedFiles::Ready(pictures),
    })
}

fn is_voice(file: &Attachment) -> bool {
    matches!(file.remote.kind, FileKind::Voice | FileKind::Audio)
}

/// Returns true if the group's share of today is not used up. Any member of a group can send files,
/// and they are of no use without an answer.
async fn may_fetch(engine: &Arc<Engine>, turn: &TurnRow) -> anyhow::Result<bool> {
    match turn.scope {
        Scope::Group(_) => engine.chat.can_afford(turn.scope).await,
        Scope::Person(_) | Scope::Shared => Ok(true),
    }
}

async fn prepare_one(
    engine: &Arc<Engine>,
    turn: &TurnRow,
    party: &Party,
    file: &Attachment,
) -> anyhow::Result<Option<Picture>> {
    if file.state == AttachmentState::Gone {
        return Ok(None);
    }
    let sees = engine.chat.order().first().and_then(|first| engine.chat.card(*first)).is_some_and(|card| card.images);
    let picture = is_picture(file);
    if picture && !sees {
        return refuse(engine, file, prompt::CANNOT_SEE).await;
    }
    let bytes = match file.state {
        AttachmentState::Here if picture => engine.tree.files().read_inbox(file.scope, &file.path).await?,
        // The text of any other file was stored with it.
        AttachmentState::Here | AttachmentState::Failed | AttachmentState::Gone => return Ok(None),
        AttachmentState::Remote => match fetch(engine, turn, file, MAX_FILE).await? {
            Ok(bytes) => {
                let words = if picture { ExtractedText::default() } else { read(engine, turn, file, &bytes).await };
                store_file(engine, turn, party, file, &bytes, words).await?;
                bytes
            }
            Err(trouble) => return refuse(engine, file, trouble).await,
        },
    };
    Ok(picture.then(|| {
        let mime = if file.remote.mime.is_empty() { "image/jpeg" } else { file.remote.mime.as_str() };
        Picture { mime: Arc::from(mime), bytes: Arc::from(bytes), label: file.label.clone(), of: file.message }
    }))
}

/// Fetches at most `most` bytes of a file, or returns the reason why it cannot be fetched.
async fn fetch(
    engine: &Arc<Engine>,
    turn: &TurnRow,
    file: &Attachment,
    most: u64,
) -> anyhow::Result<Result<Vec<u8>, &'static str>> {
    if file.remote.size.is_some_and(|size| size > MAX_FILE) {
        return Ok(Err(says::TOO_LARGE));
    }
    let mut tries = 0;
    loop {
        tries += 1;
        match engine.courier.fetch(turn.address, &file.remote.reference, most.min(MAX_FILE)).await {
            Ok(bytes) => return Ok(Ok(bytes)),
            Err(Fetch::TooLarge) => return Ok(Err(says::TOO_LARGE)),
            Err(Fetch::Gone) => return Ok(Err(says::GONE)),
            Err(Fetch::Later) if tries >= 3 => return Ok(Err(says::NOT_FETCHED)),
            Err(Fetch::Later) => {}
        }
    }
}

/// Stores a file in the inbox of the workspace, and its text next to it if the file does not hold
/// the text verbatim. One transaction then records both the file and the extraction: otherwise, a
/// turn interrupted in between would take a stored file for one that was read.
async fn store_file(
    engine: &Arc<Engine>,
    turn: &TurnRow,
    party: &Party,
    file: &Attachment,
    bytes: &[u8],
    words: ExtractedText,
) -> anyhow::Result<()> {
    let (tree, now) = (&engine.tree, engine.clock.now());
    let (path, digest) =
        tree.files().save_inbox(turn.scope, party, file.id, &file.remote.name, bytes, &file.label, now).await?;
    let beside = match &words.beside {
        Some(all) => tree.files().save_text_of(&path, all, now).await?,
        None => String::new(),
    };
    let (id, message, size, of) = (file.id, file.message, i64::try_from(bytes.len())?, turn.id);
    let gone = engine
        .journal
        .write("keep a file", move |tx| {
            tx.attachments().attachment_here(id, &path, &digest, size)?;
            tx.attachments().attachment_read(id, &beside, words.is_part, words.trouble)?;
            tx.derivations().derive(Node::Turn(of), Node::Attachment(id))?;
            for written in [&path, &beside].into_iter().filter(|path| !path.is_empty()) {
                for version in tx.file_versions().file_history(written, 1)? {
                    tx.file_versions().record_file_sources(version.id, &[Node::Attachment(id)])?;
                }
            }
            if let Some(begin) = &words.begin {
                tx.messages().add_text(message, TextKind::File, begin)?;
            }
            Ok(tx.messages().message(message)?.is_some_and(|message| message.gone))
        })
        .await?;
    if gone {
        engine.wake_worker();
    }
    Ok(())
}

async fn refuse(engine: &Arc<Engine>, file: &Attachment, trouble: &'static str) -> anyhow::Result<Option<Picture>> {
    let id = file.id;
    engine.journal.write("refuse a file", move |tx| tx.attachments().attachment_failed(id, trouble)).await?;
    Ok(None)
}

/// Extracts the text of a file, if its format is supported.
async fn read(engine: &Arc<Engine>, turn: &TurnRow, file: &Attachment, bytes: &[u8]) -> ExtractedText {
    let trouble = |trouble| ExtractedText { trouble, ..ExtractedText::default() };
    if bytes.is_empty() {
        return trouble(says::EMPTY);
    }
    match DocumentKind::of(bytes, &file.remote.mime, &file.remote.name) {
        DocumentKind::Plain(words) => words_of(turn, file, &words, false),
        DocumentKind::Foreign(words) => words_of(turn, file, crate::text::cut_bytes(&words, MAX_WORDS), true),
        DocumentKind::Document(kind) => match engine.reader.read(&*engine.clock, kind, bytes).await {
            DocumentContent::Words { text, whole } => {
                let trouble = if whole { "" } else { says::NOT_ALL };
                ExtractedText { trouble, ..words_of(turn, file, &text, true) }
            }
            DocumentContent::Locked => trouble(says::PDF_LOCKED),
            DocumentContent::Nothing if kind == Document::Html => trouble(says::PAGE_WITHOUT_WORDS),
            DocumentContent::Nothing => trouble(says::PDF_WITHOUT_WORDS),
            DocumentContent::Broken if kind == Document::Html => trouble(says::PAGE_BROKEN),
            DocumentContent::Broken => trouble(says::PDF_BROKEN),
        },
        DocumentKind::Unknown => trouble(says::CANNOT_READ),
    }
}

/// Labels extracted text as coming from that file, regardless of its sender.
fn words_of(turn: &TurnRow, file: &Attachment, words: &str, is_beside: bool) -> ExtractedText {
    let label = file.label.join_with(&Label::untrusted(Source::file(file.id)));
    let text = |words: &str| Labelled::new(Arc::from(words), label.clone(), turn.scope);
    let begin = crate::text::cut_bytes(words, MAX_TEXT);
    ExtractedText {
        begin: Some(text(begin)),
        beside: is_beside.then(|| text(words)),
        is_part: begin.len() < words.len(),
        trouble: "",
    }
}
