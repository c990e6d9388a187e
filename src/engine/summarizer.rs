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

use super::summary::{self, MadeSummary, OpenList, SummaryMaterial};
use super::transcript::{self, ResultDetail, TranscriptLine};
use super::{BACKGROUND_BACKOFF, Engine, MAX_BACKGROUND_ATTEMPTS, boundary, compact, extractor};
use crate::id::SummaryId;
use crate::store::{Conversation, Db, Node, Summary, SummaryInputs, SummaryState, Tx};
use crate::time::{Timestamp, Zone};
use crate::trust::Labelled;

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

/// Reads the material of a summary, and the summaries from which its open items come. The full view
/// is for recall on request and carries no items.
fn material(
    db: Db<'_>,
    conversation: &Conversation,
    view: SummaryInputs,
    zone: Zone,
) -> anyhow::Result<(Vec<SummaryId>, SummaryMaterial)> {
    let scope = conversation.scope;
    let lines: Vec<TranscriptLine> = transcript::lines(db, conversation, view, zone)?;
    let lines = transcript::with_results(db, lines, ResultDetail::Mention)?;
    let (before, open) = match view {
        SummaryInputs::Trusted => OpenList::before(db, conversation, zone)?,
        SummaryInputs::Full => (Vec::new(), OpenList::empty(scope)),
    };
    Ok((before, SummaryMaterial { lines, open, scope, zone }))
}

/// Returns false if text of the conversation was deleted while it was read: then it has to be read
/// again.
async fn request_with_stand_ins(engine: &Arc<Engine>, conversation: &Conversation) -> anyhow::Result<bool> {
    let of = conversation.clone();
    let (now, zone) = (engine.clock.now(), engine.zone_of(conversation.scope).await?);
    let (trusted, full, revision) = engine
        .journal
        .read_much(move |db| {
            let trusted = material(db, &of, SummaryInputs::Trusted, zone)?;
            let full = material(db, &of, SummaryInputs::Full, zone)?;
            Ok((trusted, full, db.redaction().revision_of(of.id)?))
        })
        .await?;
    // Something that was sent and that no turn was shown is no part of the talk.
    let tainted = !conversation.label.is_trusted() && full.1.lines.iter().any(|line| !line.text.label().is_trusted());
    let keeps = engine.memory.enabled;
    let of = conversation.clone();
    engine
        .journal
        .write("want a summary", move |tx| {
            if tx.redaction().revision_of(of.id)? != revision {
                return Ok(false);
            }
            let mut views = vec![(SummaryInputs::Trusted, trusted)];
            views.extend(tainted.then_some((SummaryInputs::Full, full)));
            for (view, (before, material)) in views {
                let standin = summary::extractive(&material);
                let label = standin.content.label();
                tx.summaries().request_summary(of.id, of.last_message, view, label, of.scope, now)?;
                let Some(row) = tx.summaries().wanted_row(of.id, of.last_message, view)? else { continue };
                for line in &material.lines {
                    tx.derivations().derive(Node::Summary(row), line.from)?;
                }
                for before in before {
                    tx.derivations().derive(Node::Summary(row), Node::Summary(before))?;
                }
                tx.summaries().store_summary(row, SummaryState::Standin, &standin.content, "extract", now)?;
                apply(tx, &of, row, view, &standin, now)?;
            }
            if keeps {
                extractor::request_rest(tx, of.id, now)?;
            }
            Ok(true)
        })
        .await
}

/// Has the list of open items follow a summary. Only what is made of trusted text alone changes it.
fn apply(
    tx: Tx<'_>,
    of: &Conversation,
    id: SummaryId,
    view: SummaryInputs,
    made: &MadeSummary,
    now: Timestamp,
) -> anyhow::Result<()> {
    let (label, scope) = (made.content.label(), made.content.scope());
    if view == SummaryInputs::Full || !label.is_trusted() {
        return Ok(());
    }
    let words = |words: &str| Labelled::new(Arc::from(words), label.clone(), scope);
    tx.open_items().apply_summary(id, &made.open, words, of.last_at, now)
}

/// Tries to make a summary.
async fn make(engine: &Arc<Engine>, wanted: Summary) -> anyhow::Result<()> {
    let (id, view, home) = (wanted.id, wanted.view, engine.zone);
    let found = engine
        .journal
        .read_much(move |db| {
            let Some(conversation) = db.conversations().conversation(wanted.conversation)? else { return Ok(None) };
            let zone = db.people().zone_in(conversation.scope, home)?;
            let (before, material) = material(db, &conversation, view, zone)?;
            let revision = db.redaction().revision_of(conversation.id)?;
            Ok(Some((conversation, before, material, revision)))
        })
        .await?;
    let Some((conversation, before, material, revision)) = found else { return Ok(()) };
    let now = engine.clock.now();
    let made = if material.lines.is_empty() {
        Ok((summary::extractive(&material), "extract".to_owned()))
    } else {
        summary::ask(&engine.background, &material, engine.material(summary::MAX_ANSWER, summary::MOST_READ)).await
    };
    match made {
        Ok((made, model)) => {
            let of = conversation.id;
            let store = move |tx: Tx<'_>| {
                // Text was deleted meanwhile: the job runs again on the remaining text.
                if tx.redaction().revision_of(of)? != revision {
                    return Ok(());
                }
                for before in before {
                    tx.derivations().derive(Node::Summary(id), Node::Summary(before))?;
                }
                tx.summaries().store_summary(id, SummaryState::Made, &made.content, &model, now)?;
                apply(tx, &conversation, id, view, &made, now)?;
                // The next summary was made from the open items of the stand-in.
                if view == SummaryInputs::Trusted && made.content.open().0.pending != wanted.content.open().0.pending {
                    tx.summaries().repeat_next_summary(of, now)?;
                }
                Ok(())
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
