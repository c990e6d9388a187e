//! Summarises finished conversations ahead of the person's return.
//!
//! A conversation that has been silent for longer than the gap, or was closed by `/new`, gets its
//! summary rows: one for the trusted view, and for a conversation that read anything untrusted also
//! one for the full view. Each row is a durable job. An extractive stand-in is stored at once, so
//! the next conversation always has a summary to begin with; the model's own summary replaces it
//! when it succeeds, with retries at growing intervals. This closes no conversation early: the
//! boundary alone decides where a conversation ends.

use std::sync::Arc;
use std::time::Duration;

use super::{BACKGROUND_BACKOFF, Engine, MAX_BACKGROUND_ATTEMPTS, boundary, compact, extractor, summary};
use crate::store::{Conversation, Db, Node, Summary, SummaryInputs, SummaryState, Tx};
use crate::time::Timestamp;

/// Starts the task.
pub fn start(engine: &Arc<Engine>) {
    let failed = "Writing down the end of a conversation failed";
    engine.runtime.summarizer.start(engine, "The summarizer", failed, |engine| async move { work(&engine).await });
}

/// Processes due jobs and returns the time of the next one.
async fn work(engine: &Arc<Engine>) -> anyhow::Result<Option<Timestamp>> {
    let gap = engine.conversation.gap;
    let now = engine.clock.now();
    for conversation in engine.journal.read(move |db| db.conversations().ended_without_summary(now.minus(gap))).await? {
        let over = conversation.closed_at.is_some() || boundary::has_ended(conversation.last_at, gap, now);
        if over && conversation.messages > 0 {
            request(engine, &conversation).await?;
        }
    }
    let due = |now| move |db: Db<'_>| db.summaries().due_summary(now, BACKGROUND_BACKOFF.longest);
    while let Some(due) = engine.journal.read(due(engine.clock.now())).await? {
        make(engine, due).await?;
    }
    let next_part = compact::work(engine).await?;
    let (silence, job) = engine
        .journal
        .read(|db| Ok((db.conversations().longest_silence()?, db.summaries().next_summary_at()?)))
        .await?;
    // One millisecond past the gap, because a silence must be strictly longer.
    let ends = silence.map(|last| last.plus(gap).plus(Duration::from_millis(1)));
    Ok(ends.into_iter().chain(job).chain(next_part).min().map(|at| at.max(now.plus(Duration::from_millis(1)))))
}

/// Stores the summary jobs of a finished conversation, with their stand-ins.
pub async fn request(engine: &Arc<Engine>, conversation: &Conversation) -> anyhow::Result<()> {
    while !request_with_stand_ins(engine, conversation).await? {}
    engine.wake_extractor();
    Ok(())
}

/// Returns false if text of the conversation was deleted while it was read: then it has to be read
/// again.
async fn request_with_stand_ins(engine: &Arc<Engine>, conversation: &Conversation) -> anyhow::Result<bool> {
    let of = conversation.clone();
    let now = engine.clock.now();
    let (trusted, full, revision) = engine
        .journal
        .read_much(move |db| {
            let (trusted, full) =
                (summary::lines(db, &of, SummaryInputs::Trusted)?, summary::lines(db, &of, SummaryInputs::Full)?);
            Ok((trusted, full, db.redaction().revision_of(of.id)?))
        })
        .await?;
    let tainted = full.len() > trusted.len();
    let keeps = engine.memory.enabled;
    let of = conversation.clone();
    engine
        .journal
        .write("want a summary", move |tx| {
            if tx.redaction().revision_of(of.id)? != revision {
                return Ok(false);
            }
            let views = if tainted {
                vec![(SummaryInputs::Trusted, trusted), (SummaryInputs::Full, full)]
            } else {
                vec![(SummaryInputs::Trusted, trusted)]
            };
            for (view, lines) in views {
                let standin = summary::extractive(&lines, of.scope);
                tx.summaries().request_summary(of.id, of.last_message, view, standin.label(), of.scope, now)?;
                let Some(row) = tx.summaries().wanted_row(of.id, of.last_message, view)? else { continue };
                for line in &lines {
                    tx.derivations().derive(Node::Summary(row), line.from)?;
                }
                tx.summaries().store_summary(row, SummaryState::Standin, &standin, "extract", now)?;
            }
            if keeps {
                extractor::request_rest(tx, of.id, now)?;
            }
            Ok(true)
        })
        .await
}

/// Tries to make a summary.
async fn make(engine: &Arc<Engine>, wanted: Summary) -> anyhow::Result<()> {
    let (id, view) = (wanted.id, wanted.view);
    let found = engine
        .journal
        .read_much(move |db| {
            let Some(conversation) = db.conversations().conversation(wanted.conversation)? else { return Ok(None) };
            let lines = summary::lines(db, &conversation, view)?;
            let revision = db.redaction().revision_of(conversation.id)?;
            Ok(Some((conversation, lines, revision)))
        })
        .await?;
    let Some((conversation, lines, revision)) = found else { return Ok(()) };
    let now = engine.clock.now();
    if lines.is_empty() {
        let nothing = summary::extractive(&lines, conversation.scope);
        return engine
            .journal
            .write("keep a summary", move |tx| {
                tx.summaries().store_summary(id, SummaryState::Made, &nothing, "extract", now)
            })
            .await;
    }
    match summary::ask(&engine.background, &lines, conversation.scope).await {
        Ok((content, model)) => {
            let of = conversation.id;
            let store = move |tx: Tx<'_>| match tx.redaction().revision_of(of)? == revision {
                true => tx.summaries().store_summary(id, SummaryState::Made, &content, &model, now),
                // Text was deleted meanwhile: the job runs again on the remaining text.
                false => Ok(()),
            };
            engine.journal.write("keep a summary", store).await
        }
        Err(error) => {
            let attempts = wanted.attempts.saturating_add(1);
            tracing::warn!(conversation.id = %conversation.id, "Conversation {}: no summary yet: {error}", conversation.id);
            let retry_at = if attempts >= MAX_BACKGROUND_ATTEMPTS {
                Timestamp::NEVER
            } else {
                now.plus(BACKGROUND_BACKOFF.pause(attempts))
            };
            engine
                .journal
                .write("postpone a summary", move |tx| tx.summaries().postpone_summary(id, attempts, retry_at))
                .await
        }
    }
}
