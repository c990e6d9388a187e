//! Summary of a finished conversation: title, topics, decisions, preferences, pending.
//!
//! The summary is made from the *whole* conversation, in pieces that are joined when it is long,
//! because the latest decisions matter most. The trusted view reads only the trusted projection:
//! the messages that people typed, and the assistant's replies before their turn had read anything
//! untrusted. The model answers in JSON; an answer that cannot be parsed is a failure, never a
//! summary.
//!
//! **Open items** are one list that goes from summary to summary: each is given what was open
//! before and returns what is open now. A stand-in adds its own items to that list and drops none.
//! A summary that comes so late that the next one was made without it has the next one made again
//! (`store::summaries`), so none is lost on the way.

use std::sync::Arc;

use super::transcript::{self, LineKind, LineNumbers, TranscriptLine};
use crate::id::SummaryId;
use crate::model::json_answer::{self, AnswerProblem};
use crate::model::offline::extract::{self, LineSpeaker, SpokenLine};
use crate::model::{AnswerFormat, ModelError, Purpose, Reply};
use crate::spend::{ModelPool, Question};
use crate::store::{Conversation, Db, SummaryContent, SummaryInputs};
use crate::text::{estimate_tokens, without_stop};
use crate::time::Zone;
use crate::trust::{Label, Labelled, Scope, Text};
use crate::wording::prompt;

/// Maximum number of tokens in an answer, and of estimated tokens that one call reads.
pub(super) const MAX_ANSWER: u64 = 2_000;
pub(super) const MOST_READ: u64 = 6_000;
/// Maximum number of entries in each list, of open items, and of characters in each entry.
const ENTRIES: usize = 12;
const OPEN: usize = 24;
const TITLE: usize = 80;
const ENTRY: usize = 300;
/// Number of earlier conversations among which the list of open items is sought.
const SOUGHT: u32 = 8;

/// Material of a summary.
#[derive(Debug)]
pub struct SummaryMaterial {
    /// Lines of the conversation.
    pub lines: Vec<TranscriptLine>,
    /// Items that were open before it.
    pub open: Labelled<Vec<String>>,
    /// Owning scope.
    pub scope: Scope,
    /// Time zone of the lines.
    pub zone: Zone,
}

/// Returns what was open before a conversation, and the summary that says so: the newest trusted
/// one of an earlier conversation.
pub fn open_before(db: Db<'_>, current: &Conversation) -> anyhow::Result<(Option<SummaryId>, Labelled<Vec<String>>)> {
    for conversation in db.conversations().conversations_before(current, SOUGHT)? {
        let summary = db.summaries().summary_of(conversation.id, SummaryInputs::Trusted)?;
        if let Some(summary) = summary.filter(|summary| summary.content.label().is_trusted()) {
            let (content, label, _) = summary.content.open();
            return Ok((Some(summary.id), Labelled::new(content.pending.clone(), label.clone(), current.scope)));
        }
    }
    Ok((None, nothing_open(current.scope)))
}

/// List of open items without any.
pub fn nothing_open(scope: Scope) -> Labelled<Vec<String>> {
    Labelled::new(Vec::new(), Label::neutral(), scope)
}

/// Builds the extractive stand-in without a model: sentences of the person with their dates. What
/// was open before stays open.
pub fn extractive(material: &SummaryMaterial) -> Labelled<SummaryContent> {
    let SummaryMaterial { lines, open, scope, zone } = material;
    let days: Vec<String> = lines.iter().map(|line| zone.day(line.at)).collect();
    let spoken = lines.iter().zip(&days).map(|(line, day)| SpokenLine {
        speaker: if line.by_person && line.kind != LineKind::Quote {
            LineSpeaker::Person
        } else {
            LineSpeaker::Assistant
        },
        day,
        words: line.text.open().0,
    });
    let found = extract::summarise(&spoken.collect::<Vec<_>>());
    let content = SummaryContent {
        title: found.title,
        topics: found.topics,
        decisions: found.decisions,
        preferences: found.preferences,
        pending: open.open().0.iter().cloned().chain(found.pending).collect(),
    };
    let labels = lines.iter().map(|line| line.text.label());
    Labelled::new(tidy(content), Label::join_of(labels.chain([open.label()])), *scope)
}

/// Asks a model for the summary, in pieces of about that many estimated tokens if the conversation
/// is long. Each piece is given what is open after the one before. Returns the summary with the
/// model's name.
pub async fn ask(
    pool: &ModelPool,
    material: &SummaryMaterial,
    most: u64,
) -> Result<(Labelled<SummaryContent>, String), ModelError> {
    let SummaryMaterial { lines, scope, zone, .. } = material;
    let problem = |reply: &Reply| parse(reply.text().open().0).err();
    let (period, mut open, mut model) = (transcript::period(lines, *zone), material.open.clone(), String::new());
    let mut parts: Vec<Labelled<SummaryContent>> = Vec::new();
    for piece in transcript::texts(lines, *zone, most, LineNumbers::Absent, *scope) {
        let words = prompt::summary_input(&period, open.open().0, piece.open().0);
        let input = Labelled::new(Arc::from(words), open.label().join_with(piece.label()), *scope);
        let (answer, by) = pool.ask_with_correction(question(prompt::SUMMARISE), input, &problem).await?;
        let part = content_of(&answer)?;
        open = Labelled::new(part.open().0.pending.clone(), part.label().clone(), *scope);
        parts.push(part);
        model = by;
    }
    while parts.len() > 1 {
        let mut joined = Vec::new();
        for group in groups(&parts, most) {
            let (answer, _) =
                pool.ask_with_correction(question(prompt::JOIN_SUMMARIES), join(group, *scope), &problem).await?;
            joined.push(content_of(&answer)?);
        }
        parts = joined;
    }
    let Some(whole) = parts.pop() else { return Err(ModelError::Rejected("nothing was said".to_owned())) };
    let (mut content, label) = (whole.open().0.clone(), whole.label().clone());
    content.pending.clone_from(open.open().0);
    Ok((Labelled::new(content, label, *scope), model))
}

/// JSON Schema of a summary.
const SCHEMA: &str = r#"{"type": "object", "properties": {
  "title": {"type": "string"}, "topics": {"type": "array", "items": {"type": "string"}},
  "decisions": {"type": "array", "items": {"type": "string"}},
  "preferences": {"type": "array", "items": {"type": "string"}},
  "pending": {"type": "array", "items": {"type": "string"}}},
  "required": ["title", "topics", "decisions", "preferences", "pending"], "additionalProperties": false}"#;

fn question(instruction: &'static str) -> Question {
    Question { purpose: Purpose::Summary, format: AnswerFormat::Json(SCHEMA), max_output: MAX_ANSWER, instruction }
}

fn content_of(answer: &Text) -> Result<Labelled<SummaryContent>, ModelError> {
    let (words, label, scope) = answer.open();
    Ok(Labelled::new(parse(words).map_err(ModelError::Unusable)?, label.clone(), scope))
}

/// Groups of consecutive summaries, at least two in each but the last, that are joined in one call.
fn groups(parts: &[Labelled<SummaryContent>], most: u64) -> Vec<&[Labelled<SummaryContent>]> {
    let (mut groups, mut rest) = (Vec::new(), parts);
    while !rest.is_empty() {
        let (mut count, mut tokens) = (0, 0);
        for part in rest {
            tokens += estimate_tokens(&as_json(part));
            if count >= 2 && tokens > most {
                break;
            }
            count += 1;
        }
        let (group, others) = rest.split_at(count);
        groups.push(group);
        rest = others;
    }
    groups
}

fn join(parts: &[Labelled<SummaryContent>], scope: Scope) -> Text {
    let words: Vec<String> = parts.iter().map(as_json).collect();
    let label = Label::join_of(parts.iter().map(|part| part.label()));
    Labelled::new(Arc::from(prompt::transcript(&words.join("\n\n"))), label, scope)
}

fn as_json(part: &Labelled<SummaryContent>) -> String {
    serde_json::to_string(part.open().0).unwrap_or_default()
}

/// Keys of a summary.
const KEYS: &[&str] = &["title", "topics", "decisions", "preferences", "pending"];

/// Reads the summary in a model's answer. One without a title is called by its first entry.
///
/// # Errors
/// If the answer holds no summary.
pub fn parse(answer: &str) -> Result<SummaryContent, AnswerProblem> {
    let fields = json_answer::object(answer, KEYS)?;
    let list = |key| json_answer::strings(&fields, key);
    let mut content = tidy(SummaryContent {
        title: json_answer::string(&fields, "title"),
        topics: list("topics"),
        decisions: list("decisions"),
        preferences: list("preferences"),
        pending: list("pending"),
    });
    if content.title.is_empty() {
        let lists = [&content.topics, &content.decisions, &content.pending, &content.preferences];
        let first = lists.into_iter().flatten().next().ok_or(AnswerProblem::OtherKeys)?;
        content.title = crate::text::shorten(first, TITLE);
    }
    Ok(content)
}

/// Bounds the model's output: one line per entry, a bounded number of entries.
fn tidy(content: SummaryContent) -> SummaryContent {
    let entries = |entries: Vec<String>| {
        let entries = entries.into_iter().map(|entry| crate::text::shorten(&crate::text::one_line(&entry), ENTRY));
        entries.filter(|entry| !entry.is_empty())
    };
    let list = |all: Vec<String>| entries(all).take(ENTRIES).collect();
    let mut pending: Vec<String> = Vec::new();
    for entry in entries(content.pending) {
        if !pending.contains(&entry) {
            pending.push(entry);
        }
    }
    // The newest items come last.
    pending.drain(..pending.len().saturating_sub(OPEN));
    SummaryContent {
        title: crate::text::shorten(&crate::text::one_line(&content.title), TITLE),
        topics: list(content.topics),
        decisions: list(content.decisions),
        preferences: list(content.preferences),
        pending,
    }
}

/// Renders a summary as text for prompts.
pub fn written(summary: &SummaryContent) -> String {
    let mut words = format!("{}\n{}", summary.title, lists(summary));
    if !summary.pending.is_empty() {
        words.push_str(&format!("\n{}:\n- {}", prompt::PENDING, summary.pending.join("\n- ")));
    }
    words.trim().to_owned()
}

/// Renders the lists of a summary but for the open items, which have a place of their own.
pub fn lists(summary: &SummaryContent) -> String {
    let mut words = String::new();
    for (heading, entries) in [
        (prompt::TOPICS, &summary.topics),
        (prompt::DECISIONS, &summary.decisions),
        (prompt::PREFERENCES, &summary.preferences),
    ] {
        if !entries.is_empty() {
            words.push_str(&format!("\n{heading}:\n- {}", entries.join("\n- ")));
        }
    }
    words
}

/// Renders what mattered most in one line of whole entries, decisions before preferences before
/// topics; `None` if there is nothing.
pub fn in_one_line(summary: &SummaryContent, most: usize) -> Option<String> {
    let mut line = String::new();
    for entry in [&summary.decisions, &summary.preferences, &summary.topics].into_iter().flatten() {
        if line.is_empty() {
            line = crate::text::shorten(entry, most);
        } else if line.chars().count() + entry.chars().count() < most {
            line = format!("{}; {}", without_stop(&line), without_stop(entry));
        }
    }
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::json_answer::grammar;
    use proptest::prelude::*;

    #[test]
    fn a_summary_is_read_whatever_stands_around_it() {
        let fenced =
            "```json\n{\"title\": \"Oslo trip\", \"topics\": [\"flights\"], \"pending\": [\"book\\n it\"]}\n```";
        let summary = parse(fenced).unwrap();
        assert_eq!(
            (summary.title.as_str(), summary.pending.as_slice()),
            ("Oslo trip", ["book it".to_owned()].as_slice())
        );
        assert_eq!(parse("{\"topics\": \"tea\", \"pending\": null}").unwrap().title, "tea", "the first entry names it");
        for broken in ["", "Sure!", "{}", "{\"title\": \"x\"", "}{", "{\"title\": \" \", \"topics\": [{}]}"] {
            assert!(parse(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn the_open_items_are_bounded_and_the_newest_stay() {
        let pending: Vec<String> = (0..40).map(|n| format!("item {}", n % 30)).collect();
        let content = tidy(SummaryContent { pending, ..SummaryContent::default() });
        assert_eq!(content.pending.len(), OPEN);
        assert_eq!(content.pending.last().unwrap(), "item 29");
    }

    #[test]
    fn what_mattered_most_is_one_line_without_double_stops() {
        let decisions = ["Movers come at 07:30.", "The flat is ours."].map(str::to_owned).to_vec();
        let content = SummaryContent { decisions, ..SummaryContent::default() };
        assert_eq!(in_one_line(&content, 200).as_deref(), Some("Movers come at 07:30; The flat is ours"));
    }

    proptest! {
        #[test]
        fn every_summary_is_in_one_group(lengths in prop::collection::vec(0_usize..2_000, 2..20), most in 100_u64..3_000) {
            let part = |n: &usize| {
                let content = SummaryContent { title: "word ".repeat(*n), ..SummaryContent::default() };
                Labelled::new(content, Label::trusted(), Scope::Shared)
            };
            let parts: Vec<_> = lengths.iter().map(part).collect();
            let groups = groups(&parts, most);
            prop_assert_eq!(groups.concat().len(), parts.len());
            prop_assert!(groups.len() < parts.len());
        }

        #[test]
        fn a_complete_summary_is_always_understood((before, after) in grammar::around(), bad in "(null|\\{\\}|\\[\\])") {
            let answer = format!("{before}{{\"title\": \"Oslo\", \"topics\": [{bad}, \"flights\"], \"pending\": {bad}}}{after}");
            let summary = parse(&answer).unwrap();
            prop_assert_eq!((summary.title.as_str(), summary.topics), ("Oslo", vec!["flights".to_owned()]), "{}", answer);
        }

        #[test]
        fn no_answer_of_a_model_breaks_the_reader(answer in "(?s).{0,200}") {
            let _ = parse(&answer);
        }
    }
}
