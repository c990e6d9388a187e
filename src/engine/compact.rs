//! Compaction: replaces the older part of a long conversation with a summary of its own kind, which
//! says what is needed to go on. Extract facts, summarise, move the pointer, in this order and each
//! stored before the next. After each turn `stream` asks [`request_if_full`]: at 60 % of the window
//! facts are extracted, at 70 % the older part is compacted.
//!
//! Nothing is discarded: every message stays in the journal, `memory_search` finds it, and it is
//! read once more when the conversation ends. Facts come first; if they cannot be extracted after a
//! few attempts, the compaction goes on, and the extraction remains a job that is retried. Only
//! whole exchanges are compacted, so a tool call and its result are never separated, and the newest
//! messages stay verbatim ([`CompactionShares`]).
//!
//! The summary is made from everything that was shown (messages, answers, the beginnings of tool
//! results), so it carries their labels. It is written piece by piece, each time with the summary
//! so far, and has a maximum length: it cannot grow by being summarised again.

use std::sync::Arc;
use std::time::Duration;

use super::context_budget::{CompactionShares, ContextBudget};
use super::summary::{OpenList, SummaryMaterial};
use super::transcript::{self, LineNumbers, ResultDetail, TranscriptLine};
use super::{Engine, extractor, old_results, summary};
use crate::id::{ConversationId, MessageId, TurnId};
use crate::model::json_answer::AnswerProblem;
use crate::model::{AnswerFormat, ModelError, Purpose, Reply};
use crate::spend::Question;
use crate::store::{Compaction, Db, ExtractionCause, Node, StepKind, SummaryContent, SummaryInputs, Tx};
use crate::text::{beginning, estimate_tokens};
use crate::time::{Backoff, Timestamp, Zone};
use crate::trust::{Labelled, Text};
use crate::wording::{self, prompt};

/// Number of newest messages that stay verbatim as long as they fit.
const KEPT: usize = 4;
/// Characters of a tool result that the summary uses.
const RESULT: usize = 2_000;
/// Maximum and minimum number of estimated tokens that one call reads.
const MOST_READ: u64 = 24_000;
const LEAST_READ: u64 = 500;
/// Number of failures after which the conversation is summarised although its facts are owed.
const FACTS_FIRST: u32 = 3;
/// Number of failures after which the summary is made by rules.
const MAX_ATTEMPTS: u32 = 6;
/// Short intervals, because a conversation waits for the summary.
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(60), longest: Duration::from_secs(3600) };

/// End of the part to be compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CompactionEnd {
    /// Last turn of the part.
    turn: TurnId,
    /// Last message of that turn.
    message: MessageId,
}

/// Exchanges that prompts show verbatim, newest first, with their estimated tokens.
struct ShownExchanges {
    turns: Vec<(TurnId, u64)>,
    shares: CompactionShares,
}

impl ShownExchanges {
    fn read(db: Db<'_>, conversation: ConversationId, budget: &ContextBudget) -> anyhow::Result<Self> {
        let upto = db.compactions().compacted_upto(conversation)?;
        let past = db.turns().past_turns(conversation)?;
        let counted = past.last().map_or(0, |newest| newest.counted);
        let mut turns = Vec::new();
        let shortened = old_results::shortened_of(past.len());
        for (index, turn) in past.iter().enumerate().rev().take_while(|(_, turn)| turn.id > upto) {
            turns.push((turn.id, tokens_of(db, turn.id, index < shortened)?));
        }
        let shares = budget.compaction(counted, turns.iter().map(|(_, tokens)| tokens).sum());
        Ok(Self { turns, shares })
    }

    /// Returns the part to be compacted, if any: all but the newest exchanges.
    fn older_part(&self, db: Db<'_>) -> anyhow::Result<Option<CompactionEnd>> {
        let (mut messages, mut tokens) = (0, 0);
        for (turn, size) in &self.turns {
            let of_turn = db.compactions().messages_in(*turn)?;
            tokens += size;
            let CompactionShares { verbatim, newest, .. } = self.shares;
            let most = if messages < KEPT { newest.max(verbatim) } else { verbatim };
            if messages > 0 && tokens > most {
                return Ok(of_turn.last().map(|message| CompactionEnd { turn: *turn, message: *message }));
            }
            messages += of_turn.len();
        }
        Ok(None)
    }
}

/// Estimates the tokens of a turn's messages, tool calls and results, of which long ones may be shown
/// shortened.
fn tokens_of(db: Db<'_>, turn: TurnId, is_shortened: bool) -> anyhow::Result<u64> {
    let mut tokens = 0;
    for message in db.compactions().messages_in(turn)? {
        for text in db.messages().texts_of(message)? {
            tokens += estimate_tokens(text.text.open().0);
        }
    }
    for step in db.turns().steps(turn)?.iter().filter(|step| step.kind == StepKind::Tool) {
        let words = step.text.open().0;
        let short = if is_shortened { old_results::shortened(&step.tool, words, true) } else { None };
        tokens += estimate_tokens(short.as_deref().unwrap_or(words)) + estimate_tokens(&step.call);
    }
    Ok(tokens)
}

/// Processes due jobs and returns the time of the next one.
pub async fn work(engine: &Arc<Engine>) -> anyhow::Result<Option<Timestamp>> {
    let due = |now| move |db: Db<'_>| db.compactions().due_compaction(now, BACKOFF.longest);
    while let Some(due) = engine.journal.read(due(engine.clock.now())).await? {
        make(engine, due).await?;
    }
    engine.journal.read(|db| db.compactions().next_compaction_at()).await
}

/// Older part of a conversation, as it is summarised.
struct OlderPart {
    lines: Vec<TranscriptLine>,
    /// Summary of the part before; blank if there is none.
    so_far: Text,
    /// Maximum size of the summary, in estimated tokens.
    most: u64,
    /// Zone of the times.
    zone: Zone,
}

async fn make(engine: &Arc<Engine>, wanted: Compaction) -> anyhow::Result<()> {
    let of = wanted.conversation;
    if engine.memory.enabled && !extractor::extract_up_to(engine, of, wanted.upto_message).await? {
        if wanted.attempts + 1 < FACTS_FIRST {
            return postpone(engine, &wanted, "facts cannot be taken down yet").await;
        }
        tracing::warn!(
            conversation.id = %of,
            "Conversation {of}: its older part is summarised, although facts of it are not taken down yet"
        );
    }
    let (job, budget, home) = (wanted.clone(), engine.context_budget(&engine.chat), engine.zone);
    let read = move |db: Db<'_>| Ok((older_part(db, &job, &budget, home)?, db.redaction().revision_of(of)?));
    let (part, revision) = engine.journal.read_much(read).await?;
    let scope = wanted.summary.scope();
    let (summary, model) = match summarise(engine, &part).await {
        Ok(made) => made,
        Err(error) if wanted.attempts + 1 < MAX_ATTEMPTS => {
            return postpone(engine, &wanted, &error.to_string()).await;
        }
        Err(_) => (summarise_by_rules(part), "extract".to_owned()),
    };
    let (words, label, _) = summary.open();
    let made = Compaction { summary: Labelled::new(Arc::clone(words), label.clone(), scope), ..wanted };
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

/// Reads everything that was shown of the part: the previous summary, then message by message, with
/// tool results.
fn older_part(db: Db<'_>, of: &Compaction, budget: &ContextBudget, home: Zone) -> anyhow::Result<OlderPart> {
    let zone = db.people().zone_in(of.summary.scope(), home)?;
    let before = db.compactions().compacted(of.conversation)?;
    let after = before.as_ref().map_or(MessageId(0), |before| before.upto_message);
    let so_far = before.map_or_else(|| wording::own("", of.summary.scope()), |before| before.summary);
    let most = ShownExchanges::read(db, of.conversation, budget)?.shares.summary;
    let conversation = db.conversations().conversation(of.conversation)?;
    let lines = conversation.map(|of| transcript::lines(db, &of, SummaryInputs::Full, zone)).transpose()?;
    let mut lines = lines.unwrap_or_default();
    lines.retain(|line| line.message > after && line.message <= of.upto_message);
    let lines = transcript::with_results(db, lines, ResultDetail::UpTo(RESULT))?;
    Ok(OlderPart { lines, so_far, most, zone })
}

/// Asks a model to summarise the part, piece by piece, each time with the summary so far. Returns
/// the summary and the name of the model.
async fn summarise(engine: &Arc<Engine>, part: &OlderPart) -> Result<(Text, String), ModelError> {
    let OlderPart { lines, so_far, most, zone } = part;
    let (zone, scope, pool) = (*zone, so_far.scope(), &engine.background);
    let max_output = engine.context_budget(pool).counted(*most).max(*most);
    let read = engine.material(max_output, MOST_READ).saturating_sub((*most).max(estimate_tokens(so_far.open().0)));
    let period = transcript::period(lines, zone);
    let question =
        Question { purpose: Purpose::Summary, format: AnswerFormat::Text, max_output, instruction: prompt::COMPACT };
    let problem = |reply: &Reply| summary_in(reply.text().open().0).is_none().then_some(AnswerProblem::NoSummary);
    let (mut summary, mut model) = (so_far.clone(), String::new());
    for piece in transcript::texts(lines, zone, read.max(LEAST_READ), LineNumbers::Absent, scope) {
        let input = prompt::compaction_input(&period, summary.open().0, max_words(*most), piece.open().0);
        let input = Labelled::new(Arc::from(input), summary.label().join_with(piece.label()), scope);
        let (answer, by) = pool.ask_with_correction(question, input, &problem).await?;
        let (words, label, _) = answer.open();
        let words = summary_in(words).ok_or(ModelError::Unusable(AnswerProblem::NoSummary))?;
        summary = Labelled::new(Arc::from(beginning(&words, *most)), label.clone(), scope);
        model = by;
    }
    if model.is_empty() { Err(ModelError::Rejected("nothing was said".to_owned())) } else { Ok((summary, model)) }
}

/// Maximum number of words of a summary of that many tokens, at two tokens a word. In steps: the
/// room depends on the provider's counts of other calls, and no text of those may show here.
fn max_words(tokens: u64) -> u64 {
    [2_000, 1_000, 500, 250].into_iter().find(|words| words * 2 <= tokens).unwrap_or(100)
}

/// Returns the summary in an answer: what follows the line that announces it, behind any thinking,
/// or the form of other summaries.
fn summary_in(answer: &str) -> Option<String> {
    let answer = answer.rsplit_once("</think>").map_or(answer, |(_, rest)| rest);
    let is_ornament = |c: char| c.is_whitespace() || matches!(c, '*' | '#' | '_' | '`');
    let mut at = 0;
    let behind_mark = answer.split_inclusive('\n').find_map(|line| {
        at += line.len();
        let bare = line.trim_start_matches(is_ornament);
        let start = bare.get(..prompt::SUMMARY_MARK.len())?;
        let rest = bare.get(start.len()..)?.trim_start_matches(is_ornament);
        start
            .eq_ignore_ascii_case(prompt::SUMMARY_MARK)
            .then(|| format!("{rest}{}", answer.get(at..).unwrap_or_default()))
    });
    let words = match behind_mark {
        Some(words) => words,
        None => {
            let summary::SummaryAnswer { content, new, .. } = summary::parse(answer).ok()?;
            summary::written(&SummaryContent { pending: new, ..content })
        }
    };
    let words = words.trim().trim_end_matches("```").trim();
    (!words.is_empty()).then(|| words.to_owned())
}

/// Summarises the part by rules: the summary so far, then what people said.
fn summarise_by_rules(part: OlderPart) -> Text {
    let OlderPart { lines, so_far, most, zone } = part;
    let scope = so_far.scope();
    let material = SummaryMaterial { lines, open: OpenList::empty(scope), scope, zone };
    let found = summary::extractive(&material);
    let (content, label, _) = found.content.open();
    let (before, before_label, _) = so_far.open();
    let said = beginning(&summary::written(content), most / 2);
    let before = beginning(before, most.saturating_sub(estimate_tokens(&said)));
    let words = format!("{before}\n\n{said}");
    Labelled::new(Arc::from(words.trim()), before_label.join_with(label), scope)
}

/// Checks how full the window was in that turn, and requests due work without doing it.
///
/// The fill level is the provider's count of the turn's last call. From the first threshold on,
/// facts are extracted once; from the second on, the older part is to be compacted into its
/// summary. Both are rows: the work is done in the background, and until it is done the
/// conversation continues unchanged.
pub async fn request_if_full(engine: &Arc<Engine>, turn: TurnId) -> anyhow::Result<()> {
    let budget = engine.context_budget(&engine.chat);
    let (extracts, now) = (engine.memory.enabled, engine.clock.now());
    let read = move |db: crate::store::Db<'_>| {
        let Some(turn) = db.turns().turn(turn)? else { return Ok(None) };
        let Some(conversation) = db.conversations().conversation(turn.conversation)? else { return Ok(None) };
        if turn.counted < budget.extract_at() || conversation.kind.is_run() {
            return Ok(None);
        }
        let is_due = turn.counted >= budget.compact_at() && !db.compactions().is_being_compacted(conversation.id)?;
        let end = if is_due { ShownExchanges::read(db, conversation.id, &budget)?.older_part(db)? } else { None };
        Ok(Some((conversation, end)))
    };
    let Some((conversation, end)) = engine.journal.read_much(read).await? else { return Ok(()) };
    let job = move |tx: Tx<'_>| {
        if let Some(CompactionEnd { turn, message }) = end {
            tx.compactions().request_compaction(conversation.id, turn, message, conversation.scope, now)?;
        } else if extracts
            && !tx.compactions().has_extracted_full_window(conversation.id)?
            && let Some(upto) = tx.extractions().newest_message(conversation.id)?
        {
            extractor::request(tx, conversation.id, upto, ExtractionCause::NearlyFull, now)?;
        }
        Ok(())
    };
    engine.journal.write("act on a nearly full prompt", job).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::json_answer::grammar;
    use proptest::prelude::*;

    #[test]
    fn a_summary_is_read_behind_its_mark_and_a_refusal_is_none() {
        for answer in [
            "Summary:\nThe van comes on Thursday.",
            "Here it is:\n\n**Summary:**\nThe van comes on Thursday.",
            "<think>\nSummary:\nnot this\n</think>\nSummary: The van comes on Thursday.",
            "```\n## Summary:\n\nThe van comes on Thursday.\n```",
            "{\"title\": \"The van comes on Thursday.\", \"topics\": []}",
        ] {
            assert_eq!(summary_in(answer).as_deref(), Some("The van comes on Thursday."), "{answer}");
        }
        for none in ["", "Sorry, I would rather not.", "Summary:\n", "In summary: no.", "<think>Summary:\nx</think>"] {
            assert_eq!(summary_in(none), None, "{none}");
        }
    }

    proptest! {
        #[test]
        fn a_complete_summary_is_always_understood((before, after) in grammar::around()) {
            let answer = format!("{before}\nSummary:\nThe van comes on Thursday.\n{after}");
            let summary = summary_in(&answer).unwrap_or_default();
            prop_assert!(summary.starts_with("The van comes on Thursday."), "{answer}");
        }

        #[test]
        fn no_answer_breaks_the_reader(answer in "(?s)(Summary:)?.{0,200}") {
            let _ = summary_in(&answer);
        }
    }
}
