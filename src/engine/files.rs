//! Files attached to the messages of a turn: fetched before the first model call, stored in the
//! inbox of the workspace, and described to the model.
//!
//! Pictures go to a model with vision; voice notes and other recordings are transcribed if there is
//! an endpoint; text is extracted from text files and documents ([`document`]), from documents by a
//! separate process ([`reader`]). A picture or recording that cannot be used now is kept as well.
//! The beginning of the text goes into the prompt, up to the limit for any untrusted text; the
//! workspace holds all of it, in the file itself or in a text file next to it. If a file cannot be
//! used, the prompt says so in a plain sentence, so that the assistant can report it: nothing is
//! dropped silently.
//!
//! Files sent in a group are not fetched when the group has spent its share of the day. A voice
//! note is fetched only after the worst-case cost of its transcription is reserved.

pub mod document;
mod office;
mod parsed;
mod pdf;
pub mod reader;

use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;

use super::context::Picture;
use super::{Engine, system_run};
use crate::id::AddressId;
use crate::memory::digest;
use crate::message::{FetchFileError, FileKind, file_type};
use crate::model::ModelError;
use crate::people::{Party, Person};
use crate::spend::{ModelPool, SpendCause};
use crate::store::{Attachment, AttachmentState, NewOutbox, Node, TextKind, TurnRow, Tx};
use crate::time::Backoff;
use crate::time::clock::suspend_activity;
use crate::trust::{Label, Labelled, Scope, Source, Text};
use crate::wording::{self, attachments as says, prompt};
use document::DocumentKind;
use reader::{Document, DocumentContent, MAX_WORDS};

/// The largest file that is fetched: the Bot API's own limit.
pub const MAX_FILE: u64 = 20 * 1024 * 1024;
/// Maximum number of attempts to fetch a file.
const FETCH_ATTEMPTS: u32 = 3;
/// Pauses between them.
const FETCH_RETRY: Backoff = Backoff { first: Duration::from_millis(200), longest: Duration::from_secs(1) };
/// Maximum number of bytes of a file's text that goes into the prompt.
const MAX_TEXT: usize = 48 * 1024;

/// Text extracted from a file.
#[derive(Default)]
struct ExtractedText {
    /// The beginning, for the prompt.
    excerpt: Option<Text>,
    /// The whole text, if the file does not hold it verbatim.
    text_file: Option<Text>,
    /// True if there is more text than the excerpt.
    is_part: bool,
    /// Reason why text is missing or incomplete.
    problem: &'static str,
}

impl ExtractedText {
    /// Creates a missing text, with the reason.
    fn missing(problem: &'static str) -> Self {
        Self { problem, ..Self::default() }
    }
}

impl Engine {
    /// Returns true if the first model of a pool can be shown pictures.
    pub(super) fn sees(&self, pool: &ModelPool) -> bool {
        pool.order().first().and_then(|first| pool.info(*first)).is_some_and(|info| info.images)
    }
}

/// Prepared files of a turn, as far as the model sees them.
pub enum PreparedFiles {
    /// The pictures; extracted text is in the journal.
    Ready(Vec<Picture>),
    /// The turn consists only of voice notes, and the budget does not cover transcription.
    OverBudget(ModelError),
}

/// Fetches those of the files of a turn that are still remote.
pub async fn prepare(
    engine: &Arc<Engine>,
    turn: &TurnRow,
    party: &Party,
    files: Vec<Attachment>,
) -> anyhow::Result<PreparedFiles> {
    let id = turn.id;
    let has_words = engine.journal.read(move |db| db.attachments().turn_has_words(id)).await?;
    let mut pictures = Vec::new();
    // Any member of a group can send files, and they are of no use without an answer: none are
    // fetched once the group's share of today is used up.
    let is_group = matches!(turn.scope, Scope::Group(_));
    if is_group && !engine.chat.can_afford(turn.scope).await? {
        return Ok(PreparedFiles::Ready(pictures));
    }
    let (mut refusal, mut has_content) = (None, has_words);
    let brings_files = files.iter().any(|file| file.state == AttachmentState::Remote);
    for file in files {
        if !matches!(file.remote.kind, FileKind::Voice | FileKind::Audio) {
            has_content = true;
            pictures.extend(prepare_one(engine, turn, party, &file).await?);
        } else if let Some(error) = transcribe_note(engine, turn, party, &file).await? {
            refusal = Some(error);
        } else {
            has_content = true;
        }
    }
    if brings_files {
        tell_of_room(engine, party, turn.address).await?;
    }
    Ok(match refusal {
        Some(error) if !has_content => PreparedFiles::OverBudget(error),
        _ => PreparedFiles::Ready(pictures),
    })
}

/// Tells a person once that the space for their files is nearly full, where they are reached.
///
/// # Errors
/// If their files or the journal cannot be read or written.
pub async fn tell_person_of_room(engine: &Engine, person: &Person) -> anyhow::Result<()> {
    let id = person.id;
    match engine.journal.read(move |db| system_run::address_of(db, id)).await? {
        Some(address) => tell_of_room(engine, &Party::One(person.clone()), address).await,
        None => Ok(()),
    }
}

/// Tells a person or group once that the space for their files is nearly full.
async fn tell_of_room(engine: &Engine, party: &Party, address: AddressId) -> anyhow::Result<()> {
    let (scope, now) = (party.scope(), engine.clock.now());
    let room = engine.workspace.files().room_of(party, now).await?;
    let fact = format!("told_of_room {}", scope.encode());
    let name = fact.clone();
    let is_told = engine.journal.read(move |db| db.settings().fact(&name)).await?.is_some();
    if room.is_nearly_full() == is_told {
        return Ok(());
    }
    let words = says::room_nearly_full(engine.language_of(scope).await?, room.used, room.most);
    let tell = move |tx: Tx<'_>| {
        if is_told {
            return tx.settings().drop_fact(&fact);
        }
        tx.settings().set_fact(&fact, &now.0.to_string())?;
        tx.outbox().post(&NewOutbox::notice(address, &wording::own(words, scope), now)).map(drop)
    };
    engine.journal.write("tell of the space for files", tell).await?;
    engine.channels.posted(address);
    Ok(())
}

async fn prepare_one(
    engine: &Arc<Engine>,
    turn: &TurnRow,
    party: &Party,
    file: &Attachment,
) -> anyhow::Result<Option<Picture>> {
    let is_picture = file_type::is_picture(&file.remote);
    let is_shown = is_picture && engine.sees(&engine.chat);
    let bytes = match file.state {
        AttachmentState::Here if is_shown && file.trouble.is_empty() => {
            engine.workspace.files().read_inbox(file.scope, &file.path).await?
        }
        // The text of any other file was stored with it.
        AttachmentState::Here | AttachmentState::Failed | AttachmentState::Gone => return Ok(None),
        AttachmentState::Remote => match fetch(engine, turn, party, file, MAX_FILE).await {
            Ok(bytes) => {
                let words = match (is_picture, is_shown) {
                    (false, _) => read(engine, turn, file, &bytes).await,
                    (true, true) => ExtractedText::default(),
                    (true, false) => ExtractedText::missing(prompt::CANNOT_SEE),
                };
                store_file(engine, turn, party, file, &bytes, words).await?;
                bytes
            }
            Err(problem) => return refuse(engine, file, problem).await,
        },
    };
    Ok(is_shown.then(|| {
        let claimed = if file.remote.mime.is_empty() { "image/jpeg" } else { file.remote.mime.as_str() };
        let mime = file_type::of_picture(&bytes).unwrap_or(claimed);
        Picture { mime: Arc::from(mime), bytes: Arc::from(bytes), label: file.label.clone(), of: file.message }
    }))
}

/// Fetches at most `max` bytes of a file, or reads them if it arrived before its message.
///
/// # Errors
/// The reason why it cannot be fetched, in words for the prompt.
async fn fetch(
    engine: &Engine,
    turn: &TurnRow,
    party: &Party,
    file: &Attachment,
    max: u64,
) -> Result<Vec<u8>, &'static str> {
    if file.remote.size.is_some_and(|size| size > MAX_FILE) {
        return Err(says::TOO_LARGE);
    }
    if !file.path.is_empty() {
        let arrived = engine.workspace.files().read_inbox(file.scope, &file.path).await.map_err(|_| says::GONE)?;
        let fits = u64::try_from(arrived.len()).is_ok_and(|size| size <= max);
        return if fits { Ok(arrived) } else { Err(says::TOO_LARGE) };
    }
    let room = engine.workspace.files().room_of(party, engine.clock.now()).await.map_err(|_| says::NOT_FETCHED)?;
    let max = max.min(MAX_FILE);
    let mut attempts = 0;
    loop {
        attempts += 1;
        match engine.channels.fetch(turn.address, &file.remote.reference, max.min(room.left())).await {
            Ok(bytes) => return Ok(bytes),
            Err(FetchFileError::TooLarge) if room.left() < max => return Err(says::NO_ROOM),
            Err(FetchFileError::TooLarge) => return Err(says::TOO_LARGE),
            Err(FetchFileError::NotFound) => return Err(says::GONE),
            Err(FetchFileError::Later(_)) if attempts >= FETCH_ATTEMPTS => return Err(says::NOT_FETCHED),
            Err(FetchFileError::Later(_)) => suspend_activity(&*engine.clock, FETCH_RETRY.pause(attempts)).await,
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
    let (workspace, now) = (&engine.workspace, engine.clock.now());
    let name = file_type::full_name(&file.remote, bytes);
    let (path, digest) = match file.path.as_str() {
        "" => workspace.files().save_inbox(turn.scope, party, file.id, &name, bytes, &file.label, now).await?,
        arrived => (arrived.to_owned(), digest(bytes)),
    };
    let text_path = match &words.text_file {
        Some(all) => workspace.files().save_text_of(&path, all, now).await?,
        None => String::new(),
    };
    let (id, message, size, of) = (file.id, file.message, i64::try_from(bytes.len())?, turn.id);
    let is_gone = engine
        .journal
        .write("keep a file", move |tx| {
            tx.attachments().attachment_here(id, &path, &digest, size)?;
            tx.attachments().attachment_read(id, &text_path, words.is_part, words.problem)?;
            tx.derivations().derive(Node::Turn(of), Node::Attachment(id))?;
            for written in [&path, &text_path].into_iter().filter(|path| !path.is_empty()) {
                for version in tx.file_versions().file_history(written, 1)? {
                    tx.file_versions().record_file_sources(version.id, &[Node::Attachment(id)])?;
                }
            }
            if let Some(excerpt) = &words.excerpt {
                tx.messages().add_text(message, TextKind::File, excerpt)?;
            }
            Ok(tx.messages().message(message)?.is_some_and(|message| message.gone))
        })
        .await?;
    if is_gone {
        engine.wake_schedule();
    }
    Ok(())
}

async fn refuse(engine: &Arc<Engine>, file: &Attachment, problem: &'static str) -> anyhow::Result<Option<Picture>> {
    let id = file.id;
    engine.journal.write("refuse a file", move |tx| tx.attachments().attachment_failed(id, problem)).await?;
    Ok(None)
}

/// Keeps a recording that cannot be heard.
async fn keep_unheard(
    engine: &Arc<Engine>,
    turn: &TurnRow,
    party: &Party,
    file: &Attachment,
    problem: &'static str,
) -> anyhow::Result<()> {
    if file.state == AttachmentState::Here {
        return Ok(());
    }
    match fetch(engine, turn, party, file, MAX_FILE).await {
        Ok(bytes) => store_file(engine, turn, party, file, &bytes, ExtractedText::missing(problem)).await,
        Err(problem) => refuse(engine, file, problem).await.map(drop),
    }
}

/// Extracts the text of a file, if its format is supported.
async fn read(engine: &Arc<Engine>, turn: &TurnRow, file: &Attachment, bytes: &[u8]) -> ExtractedText {
    let missing = ExtractedText::missing;
    if bytes.is_empty() {
        return missing(says::EMPTY);
    }
    match DocumentKind::of(bytes, &file.remote.mime, &file.remote.name) {
        DocumentKind::Plain(words) => words_of(turn, file, &words, false),
        DocumentKind::Foreign(words) => words_of(turn, file, crate::text::cut_bytes(&words, MAX_WORDS), true),
        DocumentKind::Document(kind) => match engine.reader.read(&*engine.clock, kind, bytes).await {
            DocumentContent::Words { text, whole } => {
                let problem = if whole { "" } else { says::NOT_ALL };
                ExtractedText { problem, ..words_of(turn, file, &text, true) }
            }
            DocumentContent::Locked => missing(says::PDF_LOCKED),
            DocumentContent::Nothing => missing(match kind {
                Document::Pdf => says::PDF_WITHOUT_WORDS,
                Document::Html => says::PAGE_WITHOUT_WORDS,
                Document::Office => says::DOCUMENT_WITHOUT_WORDS,
            }),
            DocumentContent::Broken => missing(match kind {
                Document::Pdf => says::PDF_BROKEN,
                Document::Html => says::PAGE_BROKEN,
                Document::Office => says::DOCUMENT_BROKEN,
            }),
        },
        DocumentKind::Unknown => missing(says::CANNOT_READ),
    }
}

/// Extracts the text of a file that came without a message; `None` if the file holds it verbatim,
/// or it cannot be read.
pub async fn extracted_text(engine: &Engine, bytes: &[u8], name: &str) -> Option<String> {
    match DocumentKind::of(bytes, "", name) {
        DocumentKind::Plain(_) | DocumentKind::Unknown => None,
        DocumentKind::Foreign(words) => Some(crate::text::cut_bytes(&words, MAX_WORDS).to_owned()),
        DocumentKind::Document(kind) => match engine.reader.read(&*engine.clock, kind, bytes).await {
            DocumentContent::Words { text, .. } => Some(text),
            _ => None,
        },
    }
}

/// Labels extracted text as coming from that file, regardless of its sender.
fn words_of(turn: &TurnRow, file: &Attachment, words: &str, needs_file: bool) -> ExtractedText {
    let label = file.label.join_with(&Label::untrusted(Source::file(file.id)));
    let text = |words: &str| Labelled::new(Arc::from(words), label.clone(), turn.scope);
    let excerpt = crate::text::cut_bytes(words, MAX_TEXT);
    ExtractedText {
        excerpt: Some(text(excerpt)),
        text_file: needs_file.then(|| text(words)),
        is_part: excerpt.len() < words.len(),
        problem: "",
    }
}

/// Transcribes a recording. A fresh voice note by a known person counts as their own words; any
/// other recording keeps the label of its file. A crash between reservation and settlement leaves
/// the reservation, and the resumed turn makes another. Returns the refusal of the budget, if it
/// does not allow that.
async fn transcribe_note(
    engine: &Arc<Engine>,
    turn: &TurnRow,
    party: &Party,
    file: &Attachment,
) -> anyhow::Result<Option<ModelError>> {
    let is_here = file.state == AttachmentState::Here;
    if matches!(file.state, AttachmentState::Gone | AttachmentState::Failed) {
        return Ok(None);
    }
    let Some(transcriber) = &engine.transcription else {
        return keep_unheard(engine, turn, party, file, prompt::CANNOT_HEAR).await.map(|()| None);
    };
    if file.remote.size.is_some_and(|size| size > MAX_FILE) {
        return refuse(engine, file, says::TOO_LARGE).await.map(|_| None);
    }
    let stored = if is_here { Some(engine.workspace.files().read_inbox(file.scope, &file.path).await?) } else { None };
    let size = stored.as_ref().map_or(file.remote.size, |bytes| u64::try_from(bytes.len()).ok());
    let on_behalf = SpendCause { turn: Some(turn.id), person: turn.person };
    let reserved = match transcriber.reserve(size, turn.scope, on_behalf).await {
        Ok(reserved) => reserved,
        Err(error @ (ModelError::OverBudget(_) | ModelError::AboveLimit(_))) => {
            refuse(engine, file, prompt::NO_BUDGET_TO_HEAR).await?;
            return Ok(Some(error));
        }
        Err(error) => bail!("A voice note cannot be transcribed: {error}"),
    };
    let bytes = match stored {
        Some(bytes) => bytes,
        None => match fetch(engine, turn, party, file, reserved.most).await {
            Ok(bytes) => {
                store_file(engine, turn, party, file, &bytes, ExtractedText::default()).await?;
                bytes
            }
            Err(problem) => {
                transcriber.release(reserved).await;
                return refuse(engine, file, problem).await.map(|_| None);
            }
        },
    };
    let Ok(words) = transcriber.transcribe(reserved, &bytes, &file.remote.mime).await else {
        return refuse(engine, file, prompt::NOT_HEARD).await.map(|_| None);
    };
    let text = Labelled::new(Arc::from(words.trim()), file.label.clone(), turn.scope);
    let (message, id) = (file.message, file.id);
    // What has a name is a file, and its words are what stands in it.
    let kind = if file.remote.name.is_empty() { TextKind::Transcript } else { TextKind::File };
    let store = move |tx: Tx<'_>| {
        tx.messages().add_text(message, kind, &text)?;
        tx.attachments().attachment_failed(id, prompt::WRITTEN_DOWN)
    };
    engine.journal.write("keep a transcript", store).await.map(|()| None)
}
