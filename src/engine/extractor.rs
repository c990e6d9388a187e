//! Extracts facts and corrections from conversations, in the background and exactly once.
//!
//! There is one extractor, and each conversation has a watermark up to which it was read. Jobs are
//! rows, requested after a number of turns, when a prompt gets full, before a conversation is
//! compacted, and when it is over; the first of these moves the watermark for all. A job goes from
//! `wanted` through `asked` (the model's answer is stored) to `kept` (its facts are in the files),
//! each in its own commit. Storing a fact is idempotent, so a power cut between any two steps
//! neither loses nor duplicates a fact.
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
mod piece;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use super::background_job::{TRIES, UNHURRIED};
use super::{Engine, summary};
use crate::id::{ConversationId, ExtractionId, MessageId};
use crate::memory::{Author, ChangeOrigin};
use crate::model::{ModelError, Purpose, Reply, Request, Role};
use crate::people::Party;
use crate::spend::{AskPolicy, SpendCause};
use crate::store::{
    ErasedWords, ExtractedItems, Extraction, ExtractionCause, ExtractionState, Node, SummaryInputs, Tx,
};
use crate::time::Timestamp;
use crate::trust::{Label, Labelled, Scope, Text};
use crate::wording::{self, extraction};
use piece::ConversationChunk;

/// Minimum length of a conversation, in characters. Nothing is extracted from a shorter one.
const LEAST: usize = 100;
/// Maximum number of tokens in an answer.
const MAX_ANSWER: u64 = 2_000;

/// Lock per conversation: no two readers work on the same conversation at once.
#[derive(Debug, Default)]
pub(super) struct ConversationLocks(Mutex<HashMap<ConversationId, Weak<tokio::sync::Mutex<()>>>>);

impl ConversationLocks {
    async fn alone(&self, with: ConversationId) -> tokio::sync::OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
pub async fn make_up_to(engine: &Arc<Engine>, conversation: ConversationId, upto: MessageId) -> anyhow::Result<bool> {
    if !engine.memory.enabled {
        return Ok(true);
    }
    let now = engine.clock.now();
    let job = move |tx: Tx<'_>| {
        request(tx, conversation, upto, ExtractionCause::Compaction, now)?;
        tx.extractions().hurry_extractions(conversation, upto, now)
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
    let due = |now| move |db: crate::store::Db<'_>| db.extractions().due_extraction(now, UNHURRIED.longest);
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
    let _alone = engine.runtime.readers.alone(job.conversation).await;
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
    let asked = ask(engine, &job, &party).await?;
    match asked {
        Ok(Some(answered)) => write_facts(engine, answered, &party).await,
        Ok(None) => Ok(JobProgress::On),
        Err(error) => postpone(engine, &job, &error.to_string()).await,
    }
}

/// Asks about the first piece of a job and stores the answer. Returns its row, or `None` if there
/// was nothing to ask about or text was deleted meanwhile.
async fn ask(
    engine: &Arc<Engine>,
    job: &Extraction,
    party: &Party,
) -> anyhow::Result<Result<Option<ExtractionId>, ModelError>> {
    let scope = job.taken.scope();
    let (conversation, upto) = (job.conversation, job.upto);
    let read = move |db: crate::store::Db<'_>| {
        let Some(of) = db.conversations().conversation(conversation)? else { return Ok(None) };
        let (after, revision) =
            (db.extractions().extracted_upto(conversation)?, db.redaction().revision_of(conversation)?);
        let lines = summary::lines(db, &of, SummaryInputs::Trusted)?;
        if lines.iter().map(|line| line.text.open().0.chars().count()).sum::<usize>() < LEAST {
            return Ok(None);
        }
        let left: Vec<_> = lines.into_iter().filter(|line| line.message > after && line.message <= upto).collect();
        Ok(piece::first(&left, scope).map(|piece| (piece, revision)))
    };
    let Some((piece, revision)) = engine.journal.read_much(read).await? else {
        return end(engine, job, ExtractionState::Nothing).await.map(|_| Ok(None));
    };
    let known = engine.tree.notes().known_facts(party).await?;
    let (taken, model) = match extract_piece(engine, &piece, &known, scope).await {
        Ok(taken) => taken,
        Err(error) => return Ok(Err(error)),
    };
    let (now, job) = (engine.clock.now(), job.clone());
    let answered = move |tx: Tx<'_>| {
        if tx.redaction().revision_of(job.conversation)? != revision {
            return Ok(None);
        }
        let taken = without_erased(taken, &tx.erasure().erased_words(scope)?);
        // The answer covers the job up to the piece's last line; the rest is a further piece, or
        // has no lines.
        tx.extractions().answer_extraction(&job, piece.upto, &taken, &model, now).map(Some)
    };
    engine.journal.write("store facts", answered).await.map(Ok)
}

/// Removes facts and corrections that contain forgotten words: a model may have read the words
/// before they were forgotten, or phrase an answer with them.
fn without_erased(taken: Labelled<ExtractedItems>, erased: &ErasedWords) -> Labelled<ExtractedItems> {
    let says = |one: &str, other: &str| erased.are_in(&format!("{one}: {other}"));
    let (words, label, scope) = taken.open();
    let mut kept = words.clone();
    kept.facts.retain(|fact| !says(&fact.key, &fact.value));
    kept.corrections.retain(|put| !says(&put.was, &put.now));
    Labelled::new(kept, label.clone(), scope)
}

/// Asks the background models about each text of a piece. Returns the joined answers and the name
/// of the last model asked.
async fn extract_piece(
    engine: &Arc<Engine>,
    piece: &ConversationChunk,
    known: &Text,
    scope: Scope,
) -> Result<(Labelled<ExtractedItems>, String), ModelError> {
    let (mut all, mut label, mut model) = (ExtractedItems::default(), known.label().clone(), String::new());
    for text in &piece.texts {
        let (answer, by) = ask_once(engine, text, known, scope, &piece.sources).await?;
        let (words, of, _) = answer.open();
        let taken = answer::parse(words, &piece.sources).ok_or(ModelError::Cut)?;
        all.facts.extend(taken.facts);
        all.corrections.extend(taken.corrections);
        label.absorb(of);
        model = by;
    }
    Ok((Labelled::new(all, label, scope), model))
}

async fn ask_once(
    engine: &Arc<Engine>,
    text: &Text,
    known: &Text,
    scope: Scope,
    lines: &[Node],
) -> Result<(Text, String), ModelError> {
    let refused = |_| ModelError::Rejected("text of another scope".to_owned());
    let mut request = Request::new(scope, Purpose::Extraction).with_max_output(MAX_ANSWER);
    request.text(Role::System, wording::own(extraction::TAKE_DOWN, scope)).map_err(refused)?;
    let material = extraction::material(known.open().0, text.open().0);
    let label = known.label().join_with(text.label());
    request.text(Role::User, Labelled::new(Arc::from(material), label, scope)).map_err(refused)?;
    let is_sound = |reply: &Reply| answer::parse(reply.text().open().0, lines).is_some();
    let reply = engine.background.ask(&request, &SpendCause::default(), AskPolicy::once(&is_sound)).await?;
    Ok((reply.text().clone(), reply.model))
}

/// Writes the facts of an answer to the files and advances the watermark.
async fn write_facts(engine: &Arc<Engine>, id: ExtractionId, party: &Party) -> anyhow::Result<JobProgress> {
    // A deletion also cuts text out of stored answers, so none may run between this check and the
    // write to the files.
    let _alone = engine.tree.erasure_lock().await;
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
        now: engine.clock.now(),
    };
    let tree = &engine.tree;
    let kept = match tree.notes().store_facts(&origin, &taken.facts).await {
        Ok(Ok(())) => {
            tree.notes().store_corrections(&ChangeOrigin { cause: "learned", ..origin }, &taken.corrections).await
        }
        other => other,
    };
    match kept {
        Ok(Ok(())) => {
            let now = engine.clock.now();
            engine.journal.write("facts are kept", move |tx| tx.extractions().finish_extraction(id, now)).await?;
            Ok(JobProgress::On)
        }
        // Text was deleted while the answer was being written to the files.
        _ if answered(engine, id).await?.is_none() => Ok(JobProgress::On),
        Ok(Err(why)) => postpone(engine, &job, &why.to_string()).await,
        Err(error) => postpone(engine, &job, &format!("{error:#}")).await,
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
    if attempts >= TRIES {
        tracing::error!(conversation.id = %of, "Conversation {of}: no facts were taken down, and it is given up: {why}");
        end(engine, job, ExtractionState::GivenUp).await?;
        return Ok(JobProgress::Later);
    }
    tracing::warn!(conversation.id = %of, "Conversation {of}: no facts taken down yet: {why}");
    let retry_at = now.plus(UNHURRIED.pause(attempts));
    let later = move |tx: Tx<'_>| tx.extractions().postpone_extraction(id, attempts, retry_at);
    engine.journal.write("postpone taking down", later).await?;
    Ok(JobProgress::Later)
}
