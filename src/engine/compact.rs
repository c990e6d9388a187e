//! Compaction: replaces the older part of a long conversation with its summary. Extract facts,
//! summarise, move the pointer, in this order and each stored before the next.
//!
//! Nothing is discarded: every message stays in the journal, `memory_search` finds it, and it is
//! read once more when the conversation ends. If facts cannot be extracted, nothing is compacted.
//! Only whole exchanges are compacted, so a tool call and its result are never separated, and the
//! newest messages stay verbatim.
//!
//! The summary is made from everything that was shown (messages, answers, the beginnings of tool
//! results), so it carries their labels. It has the same form as all summaries, with bounded lists:
//! it cannot grow by being summarised again.

use std::sync::Arc;
use std::time::Duration;

use super::context_budget::ContextBudget;
use super::summary::SummaryLine;
use super::{Engine, extractor, summary};
use crate::id::{MessageId, TurnId};
use crate::store::{Compaction, Conversation, Db, ExtractionCause, Node, StepKind, SummaryInputs, Tx};
use crate::time::{Backoff, Timestamp};
use crate::trust::Labelled;
use crate::wording::prompt;

/// Number of newest messages that stay verbatim.
const KEPT: usize = 4;
/// Characters of a tool result that the summary uses.
const RESULT: usize = 2_000;
/// Number of failures after which the summary is made by rules.
const MAX_ATTEMPTS: u32 = 6;
/// Short intervals, because a conversation waits for the summary.
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(60), longest: Duration::from_secs(3600) };

/// End of the part to be compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactionEnd {
    /// Last turn of the part.
    pub turn: TurnId,
    /// Last message of that turn.
    pub message: MessageId,
}

/// Returns the part of a conversation to be compacted, if any: all but the newest exchanges, of
/// which at least four messages stay, as long as these are no more than half of the window.
pub fn older_part(
    db: Db<'_>,
    conversation: &Conversation,
    budget: &ContextBudget,
) -> anyhow::Result<Option<CompactionEnd>> {
    let upto = db.compactions().compacted_upto(conversation.id)?;
    let (mut messages, mut tokens, mut stays) = (0, 0, true);
    for turn in db.turns().past_turns(conversation.id)?.into_iter().rev().take_while(|turn| turn.id > upto) {
        let of_turn = db.compactions().messages_in(turn.id)?;
        if !stays {
            return Ok(of_turn.last().map(|message| CompactionEnd { turn: turn.id, message: *message }));
        }
        messages += of_turn.len();
        // Assumes four characters per token; if tokens are shorter, less stays.
        tokens += db.compactions().size_of_turn(turn.id)? / 4;
        stays = messages < KEPT && tokens < budget.half();
    }
    Ok(None)
}

/// Processes due jobs and returns the time of the next one.
pub async fn work(engine: &Arc<Engine>) -> anyhow::Result<Option<Timestamp>> {
    let due = |now| move |db: Db<'_>| db.compactions().due_compaction(now, BACKOFF.longest);
    while let Some(due) = engine.journal.read(due(engine.clock.now())).await? {
        make(engine, due).await?;
    }
    engine.journal.read(|db| db.compactions().next_compaction_at()).await
}

async fn make(engine: &Arc<Engine>, wanted: Compaction) -> anyhow::Result<()> {
    // Facts first: if they cannot be stored, the conversation stays as it is.
    if engine.memory.enabled && !extractor::extract_up_to(engine, wanted.conversation, wanted.upto_message).await? {
        return postpone(engine, &wanted, "facts cannot be taken down yet").await;
    }
    let of = wanted.clone();
    let read = move |db: Db<'_>| Ok((lines(db, &of)?, db.redaction().revision_of(of.conversation)?));
    let (lines, revision) = engine.journal.read_much(read).await?;
    let scope = wanted.summary.scope();
    let made = match summary::ask(&engine.background, &lines, scope).await {
        Ok(made) => made,
        Err(error) if wanted.attempts + 1 < MAX_ATTEMPTS => {
            return postpone(engine, &wanted, &error.to_string()).await;
        }
        Err(_) => (summary::extractive(&lines, scope), "extract".to_owned()),
    };
    let (content, model) = made;
    let (says, label, _) = content.open();
    let words = Arc::from(summary::written(says));
    let made = Compaction { summary: Labelled::new(words, label.clone(), scope), ..wanted };
    let now = engine.clock.now();
    let stored = engine
        .journal
        .write("keep a summary of an older part", move |tx| {
            // Text was deleted meanwhile: the job runs again on the remaining text.
            let stored = tx.redaction().revision_of(made.conversation)? == revision
                && tx.compactions().store_compaction(&made, &model, now)?;
            if stored {
                tx.derivations().derive(Node::Compaction(made.id), Node::Turn(made.upto_turn))?;
            }
            Ok(stored.then_some(made))
        })
        .await?;
    let Some(stored) = stored else { return Ok(()) };
    tracing::info!(
        conversation.id = %stored.conversation,
        "Conversation {}: what was said up to turn {} is shown as a summary from now on", stored.conversation, stored.upto_turn
    );
    Ok(())
}

async fn postpone(engine: &Arc<Engine>, wanted: &Compaction, why: &str) -> anyhow::Result<()> {
    let (id, attempts) = (wanted.id, wanted.attempts.saturating_add(1));
    let of = wanted.conversation;
    tracing::warn!(conversation.id = %of, "Conversation {of}: its older part is not summarised yet: {why}");
    let retry_at = engine.clock.now().plus(BACKOFF.pause(attempts));
    let job = move |tx: crate::store::Tx<'_>| tx.compactions().postpone_compaction(id, attempts, retry_at);
    engine.journal.write("postpone a summary of an older part", job).await
}

/// Returns everything that was shown of the part: the previous summary, then message by message,
/// with tool results.
fn lines(db: Db<'_>, of: &Compaction) -> anyhow::Result<Vec<SummaryLine>> {
    let Some(conversation) = db.conversations().conversation(of.conversation)? else { return Ok(Vec::new()) };
    let before = db.compactions().compacted(of.conversation)?;
    let after = before.as_ref().map_or(MessageId(0), |before| before.upto_message);
    let mut lines: Vec<SummaryLine> = Vec::new();
    lines.extend(before.map(|before| SummaryLine {
        by_person: false,
        speaker: Some(prompt::SUMMARY_SO_FAR.to_owned()),
        from: Node::Compaction(before.id),
        message: before.upto_message,
        text: before.summary,
    }));
    for line in summary::lines(db, &conversation, SummaryInputs::Full)? {
        if line.message <= after || line.message > of.upto_message {
            continue;
        }
        if let Node::Turn(turn) = line.from {
            lines.extend(results(db, turn, line.message)?);
        }
        lines.push(line);
    }
    Ok(lines)
}

/// Beginnings of the tool results of a turn.
fn results(db: Db<'_>, turn: TurnId, message: MessageId) -> anyhow::Result<Vec<SummaryLine>> {
    let given = db.turns().steps(turn)?.into_iter().filter(|step| step.kind == StepKind::Tool && step.done);
    let line = |step: crate::store::StepRow| {
        let (words, label, scope) = step.text.open();
        let text = Labelled::new(Arc::from(crate::text::shorten(words, RESULT)), label.clone(), scope);
        let speaker = Some(prompt::tool_gave(&step.tool));
        SummaryLine { by_person: false, speaker, from: Node::Turn(turn), message, text }
    };
    Ok(given.map(line).collect())
}

/// Checks how full the window was in that turn, and requests due work without doing it.
///
/// The fill level is the provider's count of the turn's last call. From the first threshold on,
/// facts are extracted once; from the second on, the older part is to be compacted into its
/// summary. Both are rows: the work is done in the background, and until it is done the
/// conversation continues unchanged.
pub async fn request_if_full(engine: &Arc<Engine>, turn: TurnId) -> anyhow::Result<()> {
    let budget = engine.context_budget(&engine.chat);
    let (takes_down, now) = (engine.memory.enabled, engine.clock.now());
    let read = move |db: crate::store::Db<'_>| {
        let Some(turn) = db.turns().turn(turn)? else { return Ok(None) };
        let Some(conversation) = db.conversations().conversation(turn.conversation)? else { return Ok(None) };
        if turn.counted < budget.extract_at() || conversation.kind.is_run() {
            return Ok(None);
        }
        let due = (turn.counted >= budget.compact_at() && !db.compactions().is_being_compacted(conversation.id)?)
            .then_some(());
        let end = due.map_or(Ok(None), |()| older_part(db, &conversation, &budget))?;
        Ok(Some((conversation, end)))
    };
    let Some((conversation, end)) = engine.journal.read_much(read).await? else { return Ok(()) };
    let job = move |tx: Tx<'_>| {
        if let Some(CompactionEnd { turn, message }) = end {
            tx.compactions().request_compaction(conversation.id, turn, message, conversation.scope, now)?;
        } else if takes_down
            && !tx.compactions().has_extracted_full_window(conversation.id)?
            && let Some(upto) = tx.extractions().newest_message(conversation.id)?
        {
            extractor::request(tx, conversation.id, upto, ExtractionCause::Pressure, now)?;
        }
        Ok(())
    };
    engine.journal.write("look how full the window is", job).await?;
    Ok(())
}
