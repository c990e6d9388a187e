//! Extracts facts and corrections from conversations, in the background and exactly once.
//!
//! There is one extractor, and each conversation has a watermark up to which it was read. Jobs are
//! rows, requested after a number of turns, when a prompt gets full ([`super::compact`] notices),
//! before a conversation is compacted, and when it is over; the first of these moves the watermark
//! for all. A job goes from `wanted` through `asked` (the model's answer is stored) to `kept` (its
//! facts are in the files), each in its own commit. Storing a fact is idempotent, so a power cut
//! between any two steps neither loses nor duplicates a fact.
//!
//! Only the trusted projection is read: the messages that people typed, and the assistant's replies
//! before their turn had read anything untrusted; no tool results. The model sees all of it, in
//! pieces if it is long, together with the known facts, so that a changed fact replaces the old
//! one. A malformed answer is a failure; it is retried at growing intervals and given up after
//! about two days with a line in the log. The next job reads the skipped part, because the
//! watermark did not move.
//!
//! The extractor does not decide where a fact is stored, see `memory::facts`.

mod answer;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use super::transcript::{self, LineNumbers, TranscriptLine};
use super::{BACKGROUND_BACKOFF, Engine, MAX_BACKGROUND_ATTEMPTS};
use crate::id::{ConversationId, ExtractionId, MessageId};
use crate::memory::{Author, ChangeOrigin, PersonShare, WriteError};
use crate::model::{AnswerFormat, ModelError, Purpose, Reply};
use crate::people::Party;
use crate::spend::Question;
use crate::store::{
    ErasedWords, ExtractedItems, Extraction, ExtractionCause, ExtractionState, KnownCorrection, Node, SummaryInputs, Tx,
};
use crate::text::estimate_tokens;
use crate::time::task::lock;
use crate::time::{Timestamp, Zone};
use crate::trust::{Label, Labelled, Scope, Text};
use crate::wording::agent_memory;

/// Minimum length of a conversation, in characters. Nothing is extracted from a shorter one.
const LEAST: usize = 100;
/// Maximum number of tokens in an answer.
const MAX_ANSWER: u64 = 2_000;
/// The question about each piece.
const QUESTION: Question = Question {
    purpose: Purpose::Extraction,
    format: AnswerFormat::Json(answer::SCHEMA),
    max_output: MAX_ANSWER,
    instruction: agent_memory::EXTRACT_FACTS,
};

/// Lock per conversation: no two readers work on the same conversation at once.
#[derive(Debug, Default)]
pub(super) struct ConversationLocks(Mutex<HashMap<ConversationId, Weak<tokio::sync::Mutex<()>>>>);

impl ConversationLocks {
    async fn alone(&self, with: ConversationId) -> tokio::sync::OwnedMutexGuard<()> {
        let lock = {
            let mut locks = lock(&self.0);
            locks.retain(|_, lock| lock.strong_count() > 0);
            let held = locks.get(&with).and_then(Weak::upgrade).unwrap_or_default();
            locks.insert(with, Arc::downgrade(&held));
            held
        };
        lock.lock_owned().await
    }
}

/// Result of working on a job.
enum JobProgress {
    /// The job is over, or one piece further.
    On,
    /// The job has to wait.
    Later,
}

/// Starts the task, unless memory is disabled.
pub fn start(engine: &Arc<Engine>) {
    if !engine.memory.enabled {
        return;
    }
    let failed = "Taking down facts failed";
    engine.runtime.extractor.start(engine, "The extractor", failed, |engine| async move { work(&engine).await });
}

/// Requests extraction from that conversation up to that message. Idempotent. The caller wakes the
/// extractor after the commit.
pub fn request(
    tx: Tx<'_>,
    conversation: ConversationId,
    upto: MessageId,
    cause: ExtractionCause,
    now: Timestamp,
) -> anyhow::Result<()> {
    let Some(of) = tx.conversations().conversation(conversation)? else { return Ok(()) };
    // Nothing is read yet, so nothing untrusted contributed.
    let label = Label::neutral();
    tx.extractions().request_extraction(conversation, upto, cause, &label, of.scope, now)
}

/// Requests extraction of the remaining messages of a finished conversation.
pub fn request_rest(tx: Tx<'_>, conversation: ConversationId, now: Timestamp) -> anyhow::Result<()> {
    let Some(newest) = tx.extractions().newest_message(conversation)? else { return Ok(()) };
    request(tx, conversation, newest, ExtractionCause::Boundary, now)
}

/// Counts an answered turn and requests extraction after every `every` of them.
pub fn count_turn(tx: Tx<'_>, conversation: ConversationId, every: u32, now: Timestamp) -> anyhow::Result<()> {
    if tx.extractions().turns_since_extraction(conversation)? < every {
        return Ok(());
    }
    let Some(newest) = tx.extractions().newest_message(conversation)? else { return Ok(()) };
    request(tx, conversation, newest, ExtractionCause::Turns, now)
}

/// Extracts the remaining facts of a conversation up to that message now. Returns false if they
/// could not be stored: then none of it may be discarded.
pub async fn extract_up_to(
    engine: &Arc<Engine>,
    conversation: ConversationId,
    upto: MessageId,
) -> anyhow::Result<bool> {
    if !engine.memory.enabled {
        return Ok(true);
    }
    let now = engine.clock.now();
    let job = move |tx: Tx<'_>| {
        request(tx, conversation, upto, ExtractionCause::Compaction, now)?;
        tx.extractions().make_extractions_due(conversation, upto, now)
    };
    engine.journal.write("want facts", job).await?;
    while let Some(job) = engine.journal.read(move |db| db.extractions().open_extraction(conversation, upto)).await? {
        if let JobProgress::Later = make(engine, job.id).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Processes due jobs and returns the time of the next one.
async fn work(engine: &Arc<Engine>) -> anyhow::Result<Option<Timestamp>> {
    let due = |now| move |db: crate::store::Db<'_>| db.extractions().due_extraction(now, BACKGROUND_BACKOFF.longest);
    while let Some(due) = engine.journal.read(due(engine.clock.now())).await? {
        make(engine, due.id).await?;
    }
    let now = engine.clock.now();
    let next = engine.journal.read(|db| db.extractions().next_extraction_at()).await?;
    Ok(next.map(|at| at.max(now.plus(Duration::from_millis(1)))))
}

/// Runs the next step of a job, and stores the result of its first piece.
async fn make(engine: &Arc<Engine>, id: ExtractionId) -> anyhow::Result<JobProgress> {
    let Some(job) = engine.journal.read(move |db| db.extractions().extraction(id)).await? else {
        return Ok(JobProgress::On);
    };
    let _alone = engine.runtime.extraction_locks.alone(job.conversation).await;
    // Another task may have done it while we waited.
    let Some(job) = engine.journal.read(move |db| db.extractions().extraction(id)).await?.filter(Extraction::is_open)
    else {
        return Ok(JobProgress::On);
    };
    let scope = job.taken.scope();
    let Some(party) = engine.journal.read(move |db| db.people().party_of(scope)).await? else {
        // The party has no access any more.
        return end(engine, &job, ExtractionState::GivenUp).await;
    };
    // Earlier answers are stored first: they may reach further than this job, and nothing is read
    // twice.
    let of = job.conversation;
    if let Some(answered) = engine.journal.read(move |db| db.extractions().answered_extraction(of)).await? {
        return write_facts(engine, answered, &party).await;
    }
    ask(engine, job, &party).await
}

/// Part of the memory that the model is shown.
struct KnownMemory {
    /// All of it, as text.
    shown: Text,
    /// Corrections by number, from 1.
    corrections: Vec<KnownCorrection>,
}

/// Asks about the first piece of a job, and stores the answer and its facts.
async fn ask(engine: &Arc<Engine>, job: Extraction, party: &Party) -> anyhow::Result<JobProgress> {
    let scope = job.taken.scope();
    let (conversation, upto) = (job.conversation, job.upto);
    let known = engine.workspace.notes().known_items(party, engine.clock.now()).await?;
    let (items, label, _) = known.open();
    let shown = agent_memory::known(&items.facts, &items.notes, &items.today, &items.numbered_corrections());
    let known = KnownMemory {
        shown: Labelled::new(Arc::from(shown), label.clone(), scope),
        corrections: items.corrections.clone(),
    };
    let most =
        engine.material(MAX_ANSWER, MOST_CHUNK).saturating_sub(estimate_tokens(known.shown.open().0)).max(LEAST_CHUNK);
    let zone = engine.zone_of(scope).await?;
    let read = move |db: crate::store::Db<'_>| {
        let Some(of) = db.conversations().conversation(conversation)? else { return Ok(None) };
        let (after, revision) =
            (db.extractions().extracted_upto(conversation)?, db.redaction().revision_of(conversation)?);
        let mut lines = transcript::lines_after(db, &of, SummaryInputs::Trusted, after, zone)?;
        // What was read before was long enough.
        let is_begun = after > MessageId(0);
        let length = lines.iter().map(|line| line.text.open().0.chars().count()).sum::<usize>();
        if !is_begun && length < LEAST {
            return Ok(None);
        }
        lines.retain(|line| line.message <= upto);
        Ok(first_chunk(&lines, zone, most, scope).map(|piece| (piece, revision)))
    };
    let Some((piece, revision)) = engine.journal.read_much(read).await? else {
        return end(engine, &job, ExtractionState::Nothing).await;
    };
    let (taken, model) = match extract_piece(engine, &piece, &known, scope).await {
        Ok(taken) => taken,
        Err(error) => return postpone(engine, &job, &error.to_string()).await,
    };
    let now = engine.clock.now();
    let store = move |tx: Tx<'_>| {
        if tx.redaction().revision_of(job.conversation)? != revision {
            return Ok(None);
        }
        let taken = without_erased(taken, &tx.erasure().erased_words(scope)?);
        // The answer covers the job up to the piece's last line; the rest is a further piece, or
        // has no lines.
        tx.extractions().answer_extraction(&job, piece.upto, &taken, &model, now).map(Some)
    };
    // `None`: text was deleted meanwhile.
    match engine.journal.write("store facts", store).await? {
        Some(answered) => write_facts(engine, answered, party).await,
        None => Ok(JobProgress::On),
    }
}

/// Removes facts and corrections that contain forgotten words: a model may have read the words
/// before they were forgotten, or phrase an answer with them.
fn without_erased(taken: Labelled<ExtractedItems>, erased: &ErasedWords) -> Labelled<ExtractedItems> {
    let says = |one: &str, other: &str| erased.are_in(&format!("{one}: {other}"));
    let (words, label, scope) = taken.open();
    let mut items = words.clone();
    items.facts.retain(|fact| !says(&fact.key, &fact.value));
    items.corrections.retain(|put| !says(&put.was, &put.now));
    Labelled::new(items, label.clone(), scope)
}

/// Asks the background models about each text of a piece. Returns the joined answers and the name
/// of the last model asked.
async fn extract_piece(
    engine: &Arc<Engine>,
    piece: &ConversationChunk,
    KnownMemory { shown: known, corrections }: &KnownMemory,
    scope: Scope,
) -> Result<(Labelled<ExtractedItems>, String), ModelError> {
    let (mut all, mut label, mut model) = (ExtractedItems::default(), known.label().clone(), String::new());
    let problem = |reply: &Reply| answer::parse(reply.text().open().0, &piece.sources, corrections).err();
    for text in &piece.texts {
        let material = agent_memory::extraction_input(known.open().0, &piece.period, text.open().0);
        let joined = known.label().join_with(text.label());
        let material = Labelled::new(Arc::from(material), joined, scope);
        let (answer, by) = engine.background.ask_with_correction(QUESTION, material, &problem).await?;
        let (words, of, _) = answer.open();
        let taken = answer::parse(words, &piece.sources, corrections).map_err(ModelError::Unusable)?;
        all.facts.extend(taken.facts);
        all.corrections.extend(taken.corrections);
        label.absorb(of);
        model = by;
    }
    Ok((Labelled::new(all, label, scope), model))
}

/// Writes the facts of an answer to the files and advances the watermark.
async fn write_facts(engine: &Arc<Engine>, id: ExtractionId, party: &Party) -> anyhow::Result<JobProgress> {
    // A deletion also cuts text out of stored answers, so none may run between this check and the
    // write to the files.
    let _alone = engine.workspace.erasure_lock().await;
    // Text may have been deleted while this waited: then the answer is void, and the job is asked
    // again.
    let Some(job) = answered(engine, id).await? else { return Ok(JobProgress::On) };
    let (taken, label, _) = job.taken.open();
    let origin = ChangeOrigin {
        who: party.clone(),
        label: label.clone(),
        author: Author::Program,
        cause: "facts",
        from: vec![Node::Extraction(id)],
        person: PersonShare::default(),
        now: engine.clock.now(),
    };
    let workspace = &engine.workspace;
    let stored = match workspace.notes().store_facts(&origin, &taken.facts).await {
        Ok(()) => {
            workspace.notes().store_corrections(&ChangeOrigin { cause: "learned", ..origin }, &taken.corrections).await
        }
        other => other,
    };
    match stored {
        Ok(()) => {
            let now = engine.clock.now();
            engine.journal.write("facts are stored", move |tx| tx.extractions().finish_extraction(id, now)).await?;
            Ok(JobProgress::On)
        }
        // Text was deleted while the answer was being written to the files.
        _ if answered(engine, id).await?.is_none() => Ok(JobProgress::On),
        Err(WriteError::Refused(why)) => postpone(engine, &job, &why.to_string()).await,
        Err(WriteError::Failed(error)) => postpone(engine, &job, &format!("{error:#}")).await,
    }
}

/// Returns the job with that id if its answer is stored and still valid.
async fn answered(engine: &Arc<Engine>, id: ExtractionId) -> anyhow::Result<Option<Extraction>> {
    let job = engine.journal.read(move |db| db.extractions().extraction(id)).await?;
    Ok(job.filter(|job| job.state == ExtractionState::Asked))
}

async fn end(engine: &Arc<Engine>, job: &Extraction, state: ExtractionState) -> anyhow::Result<JobProgress> {
    let (id, now) = (job.id, engine.clock.now());
    engine.journal.write("end taking down", move |tx| tx.extractions().end_extraction(id, state, now)).await?;
    Ok(JobProgress::On)
}

/// Schedules a retry, or gives up.
async fn postpone(engine: &Arc<Engine>, job: &Extraction, why: &str) -> anyhow::Result<JobProgress> {
    let (id, of, attempts) = (job.id, job.conversation, job.attempts.saturating_add(1));
    let now = engine.clock.now();
    if attempts >= MAX_BACKGROUND_ATTEMPTS {
        tracing::error!(conversation.id = %of, "Conversation {of}: no facts were taken down, and it is given up: {why}");
        end(engine, job, ExtractionState::GivenUp).await?;
        return Ok(JobProgress::Later);
    }
    tracing::warn!(conversation.id = %of, "Conversation {of}: no facts taken down yet: {why}");
    let retry_at = now.plus(BACKGROUND_BACKOFF.pause(attempts));
    let later = move |tx: Tx<'_>| tx.extractions().postpone_extraction(id, attempts, retry_at);
    engine.journal.write("postpone taking down", later).await?;
    Ok(JobProgress::Later)
}

/// Estimated tokens of a conversation, with what is known, that one call reads; and the least,
/// however much is known.
const MOST_CHUNK: u64 = 6_000;
const LEAST_CHUNK: u64 = 1_000;

/// Part of a conversation covered by one question: whole messages in order, from the oldest unread
/// one.
///
/// Nothing is left out. Material longer than one call is asked about piece by piece, so that the
/// newest text comes last instead of never; a single message longer than a call is read in several
/// and answered as one.
#[derive(Debug, Clone)]
pub(super) struct ConversationChunk {
    /// Text with a number before each line: one text, or several of one long message.
    pub texts: Vec<Text>,
    /// Days and times of the lines.
    pub period: String,
    /// Sources of the lines, starting with line number 1.
    pub sources: Vec<Node>,
    /// Last message of the part.
    pub upto: MessageId,
}

/// Returns the first piece of these lines, of about that many estimated tokens; `None` if there are
/// none.
pub(super) fn first_chunk(lines: &[TranscriptLine], zone: Zone, most: u64, scope: Scope) -> Option<ConversationChunk> {
    let first = lines.first()?.message;
    let (mut count, mut length, mut upto) = (0, 0, first);
    for said in lines.chunk_by(|one, other| one.message == other.message) {
        let more: u64 = said.iter().map(|line| line.tokens(zone)).sum();
        if count > 0 && length + more > most {
            break;
        }
        count += said.len();
        length += more;
        upto = said.last().map_or(upto, |line| line.message);
    }
    let taken = lines.get(..count).unwrap_or(lines);
    Some(ConversationChunk {
        texts: transcript::texts(taken, zone, most, LineNumbers::FromOne, scope),
        period: transcript::period(taken, zone),
        sources: taken.iter().map(|line| line.from).collect(),
        upto,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::engine::transcript::LineKind;
    use crate::id::PersonId;
    use crate::wording::prompt;

    const ADA: Scope = Scope::Person(PersonId(1));
    /// Estimated tokens of a piece.
    const MOST: u64 = 5_000;

    fn line(id: i64, words: &str) -> TranscriptLine {
        let message = MessageId(id);
        let text = Labelled::new(Arc::from(words), Label::trusted(), ADA);
        let (by_person, from, at) = (id % 2 == 1, Node::Message(message), Timestamp(0));
        let speaker = if by_person { prompt::PERSON } else { prompt::ASSISTANT }.to_owned();
        let kind = if by_person { LineKind::Said } else { LineKind::Reply };
        TranscriptLine { by_person, speaker, kind, at, from, message, text, forwarded_from: Arc::from("") }
    }

    /// All pieces, as the extractor takes them one after the other.
    fn all(lines: &[TranscriptLine]) -> Vec<ConversationChunk> {
        let (mut pieces, mut upto) = (Vec::new(), MessageId(0));
        loop {
            let left: Vec<TranscriptLine> = lines.iter().filter(|line| line.message > upto).cloned().collect();
            let Some(piece) = first_chunk(&left, Zone::UTC, MOST, ADA) else { return pieces };
            upto = piece.upto;
            pieces.push(piece);
        }
    }

    #[test]
    fn lines_are_numbered_and_dated_and_say_who_spoke() {
        let piece = first_chunk(&[line(1, "Hi"), line(2, "Hello")], Zone::UTC, MOST, ADA).unwrap();
        let expected = "[1] [1970-01-01 00:00] Person: Hi\n[2] [1970-01-01 00:00] Assistant: Hello\n";
        assert_eq!(&**piece.texts[0].open().0, expected);
        assert_eq!((piece.sources.len(), piece.upto), (2, MessageId(2)));
        assert!(first_chunk(&[], Zone::UTC, MOST, ADA).is_none());
    }

    proptest! {
        #[test]
        fn every_word_is_read_once_and_in_order(lengths in prop::collection::vec(0_usize..50_000, 0..10)) {
            let lines: Vec<TranscriptLine> = (1..).zip(&lengths).map(|(id, n)| line(id, &"é".repeat(*n))).collect();
            let pieces = all(&lines);
            let read: usize =
                pieces.iter().flat_map(|piece| &piece.texts).map(|text| text.open().0.matches('é').count()).sum();
            prop_assert_eq!(read, lengths.iter().sum::<usize>());
            prop_assert!(pieces.is_sorted_by_key(|piece| piece.upto));
            for piece in &pieces {
                prop_assert!(piece.texts.iter().all(|text| estimate_tokens(text.open().0) <= MOST + 100));
                prop_assert!(piece.texts.len() == 1 || piece.sources.len() == 1);
            }
        }
    }
}
