//! Summary of a finished conversation: title, topics, decisions, preferences, pending.
//!
//! The summary is made from the *whole* conversation, in pieces that are joined when it is long,
//! because the latest decisions matter most. The trusted view reads only the trusted projection:
//! the messages that people typed, and the assistant's replies before their turn had read anything
//! untrusted. The model answers in JSON; an answer that cannot be parsed is a failure, never a
//! summary.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::record::speaker;
use crate::id::MessageId;
use crate::model::json_answer::{self, AnswerProblem};
use crate::model::offline::extract::{self, LineSpeaker};
use crate::model::{ModelError, Purpose, Reply};
use crate::spend::ModelPool;
use crate::store::{
    CauseKind, Conversation, Db, MessageKind, Node, StoredText, SummaryContent, SummaryInputs, TextKind,
};
use crate::trust::{Label, Labelled, Scope, Text};
use crate::wording::prompt;

/// Characters of a conversation that one call reads; the rest is read in further pieces.
const PIECE: usize = 24_000;
/// Maximum number of tokens in an answer.
const MAX_ANSWER: u64 = 1_200;
/// Number of pieces joined in one call.
const JOIN: usize = 8;
/// Maximum number of entries in each list, and of characters in each entry.
const ENTRIES: usize = 12;
const TITLE: usize = 80;
const ENTRY: usize = 300;

/// One line of a conversation.
#[derive(Debug, Clone)]
pub struct SummaryLine {
    /// True if a person wrote it.
    pub by_person: bool,
    /// Name of the speaker, unless it is the usual one: in a group, and of unasked messages.
    pub speaker: Option<String>,
    /// Source: the person's message, or the turn that answered.
    pub from: Node,
    /// Message that holds the text.
    pub message: MessageId,
    /// Text of the line.
    pub text: Text,
}

/// Lines of a conversation in one view, in order.
pub fn lines(db: Db<'_>, conversation: &Conversation, view: SummaryInputs) -> anyhow::Result<Vec<SummaryLine>> {
    let (mut by_assistant, mut speakers, mut left_out) = (HashMap::new(), HashMap::new(), HashSet::new());
    for message in db.messages().messages_of(conversation.id)? {
        if message.kind == MessageKind::Reply {
            by_assistant.insert(message.id, message.turn.map_or(Node::Message(message.id), Node::Turn));
        } else if message.kind == MessageKind::Sent {
            // That a proposal waits says nothing of the conversation.
            let sent = db.sent().sent(message.id)?;
            if sent.is_some_and(|sent| sent.cause.kind == CauseKind::Proposal) {
                left_out.insert(message.id);
            }
            by_assistant.insert(message.id, Node::Message(message.id));
            speakers.insert(message.id, prompt::SENT_UNASKED.to_owned());
        } else if matches!(conversation.scope, Scope::Group(_)) {
            speakers.extend(speaker(db, &message)?.map(|name| (message.id, name)));
        }
    }
    // Forgotten words are not written down again, even though they were said.
    let erased = db.erasure().erased_words(conversation.scope)?;
    Ok(db
        .messages()
        .texts_of_conversation(conversation.id)?
        .into_iter()
        .filter(|text| text.kind != TextKind::Edit && !text.text.open().0.is_empty())
        .filter(|text| !left_out.contains(&text.message))
        .filter(|text| !erased.are_in(text.text.open().0))
        .filter(|text| view == SummaryInputs::Full || text.text.label().is_trusted())
        .map(|StoredText { message, text, .. }| {
            let reply = by_assistant.get(&message).copied();
            let (speaker, from) = (speakers.get(&message).cloned(), reply.unwrap_or(Node::Message(message)));
            SummaryLine { by_person: reply.is_none(), speaker, from, message, text }
        })
        .collect())
}

/// Builds the extractive stand-in without a model.
pub fn extractive(lines: &[SummaryLine], scope: Scope) -> Labelled<SummaryContent> {
    let spoken: Vec<(LineSpeaker, &str)> = lines
        .iter()
        .map(|line| (if line.by_person { LineSpeaker::Person } else { LineSpeaker::Assistant }, &**line.text.open().0))
        .collect();
    let found = extract::summarise(&spoken);
    let content = SummaryContent {
        title: found.title,
        topics: found.topics,
        decisions: found.decisions,
        preferences: found.preferences,
        pending: found.pending,
    };
    Labelled::new(tidy(content), Label::join_of(lines.iter().map(|line| line.text.label())), scope)
}

/// Asks a model for the summary, in pieces if the conversation is long. Returns it with the model's
/// name.
pub async fn ask(
    pool: &ModelPool,
    lines: &[SummaryLine],
    scope: Scope,
) -> Result<(Labelled<SummaryContent>, String), ModelError> {
    let mut pieces = pieces(lines, scope);
    let mut instruction = prompt::SUMMARISE;
    let problem = |reply: &Reply| parse(reply.text().open().0).err();
    loop {
        let mut summaries = Vec::new();
        let mut model = String::new();
        for piece in &pieces {
            let question = pool.ask_once(Purpose::Summary, MAX_ANSWER, instruction, piece.clone(), &problem);
            let (text, by) = question.await?;
            summaries.push(text);
            model = by;
        }
        if let [only] = summaries.as_slice() {
            let (words, label, _) = only.open();
            let content = parse(words).map_err(ModelError::Unusable)?;
            return Ok((Labelled::new(content, label.clone(), scope), model));
        }
        if summaries.is_empty() {
            return Err(ModelError::Rejected("nothing was said".to_owned()));
        }
        instruction = prompt::JOIN_SUMMARIES;
        pieces = summaries.chunks(JOIN).map(|some| join(some, scope)).collect();
    }
}

/// Splits the transcript into pieces between lines; a line that exceeds a piece by itself is split.
fn pieces(lines: &[SummaryLine], scope: Scope) -> Vec<Text> {
    let mut pieces: Vec<(String, Label)> = Vec::new();
    for line in lines {
        let (words, label, _) = line.text.open();
        let usual = if line.by_person { prompt::PERSON } else { prompt::ASSISTANT };
        let who = line.speaker.as_deref().unwrap_or(usual);
        let mut rest: &str = words;
        while !rest.is_empty() {
            let head = crate::text::cut_bytes(rest, PIECE);
            rest = rest.get(head.len()..).unwrap_or_default();
            let spoken = format!("{who}: {head}\n");
            match pieces.last_mut() {
                Some((text, so_far)) if text.len() + spoken.len() <= PIECE => {
                    text.push_str(&spoken);
                    so_far.absorb(label);
                }
                _ => pieces.push((spoken, label.clone())),
            }
        }
    }
    pieces.into_iter().map(|(text, label)| Labelled::new(Arc::from(prompt::transcript(&text)), label, scope)).collect()
}

fn join(summaries: &[Text], scope: Scope) -> Text {
    let words: Vec<&str> = summaries.iter().map(|summary| &**summary.open().0).collect();
    let label = Label::join_of(summaries.iter().map(|summary| summary.label()));
    Labelled::new(Arc::from(prompt::transcript(&words.join("\n\n"))), label, scope)
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
    let list = |entries: Vec<String>| {
        let entries = entries.iter().map(|entry| crate::text::shorten(&crate::text::one_line(entry), ENTRY));
        entries.filter(|entry| !entry.is_empty()).take(ENTRIES).collect()
    };
    SummaryContent {
        title: crate::text::shorten(&crate::text::one_line(&content.title), TITLE),
        topics: list(content.topics),
        decisions: list(content.decisions),
        preferences: list(content.preferences),
        pending: list(content.pending),
    }
}

/// Renders a summary as text for prompts.
pub fn written(summary: &SummaryContent) -> String {
    format!("{}\n{}", summary.title, lists(summary)).trim().to_owned()
}

/// Renders the lists of a summary.
pub fn lists(summary: &SummaryContent) -> String {
    let mut words = String::new();
    for (heading, entries) in [
        (prompt::TOPICS, &summary.topics),
        (prompt::DECISIONS, &summary.decisions),
        (prompt::PREFERENCES, &summary.preferences),
        (prompt::PENDING, &summary.pending),
    ] {
        if !entries.is_empty() {
            words.push_str(&format!("\n{heading}:\n- {}", entries.join("\n- ")));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{MessageId, PersonId};
    use proptest::prelude::*;

    const ADA: Scope = Scope::Person(PersonId(1));

    fn line(words: &str) -> SummaryLine {
        SummaryLine {
            by_person: true,
            speaker: None,
            from: Node::Message(MessageId(1)),
            message: MessageId(1),
            text: Labelled::new(Arc::from(words), Label::trusted(), ADA),
        }
    }

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

    proptest! {
        #[test]
        fn every_word_of_a_conversation_is_in_some_piece(lengths in prop::collection::vec(0_usize..60_000, 0..12)) {
            let lines: Vec<SummaryLine> = lengths.iter().map(|n| line(&"é".repeat(*n / 2))).collect();
            let pieces = pieces(&lines, ADA);
            let kept: usize = pieces.iter().map(|piece| piece.open().0.matches('é').count()).sum();
            prop_assert_eq!(kept, lengths.iter().map(|n| n / 2).sum::<usize>());
            prop_assert!(pieces.iter().all(|piece| piece.open().0.len() < PIECE + 2_000));
        }

        #[test]
        fn no_answer_of_a_model_breaks_the_reader(answer in "(?s).{0,200}") {
            let _ = parse(&answer);
        }
    }
}
