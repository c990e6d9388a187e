//! Activity of a period: trusted conversation text, truncated to a budget, and numbers.
//!
//! A message belongs to the period in which it was received, regardless of when its conversation
//! began, and an answer belongs to the message that it answers. Text that does not fit is cut from
//! the beginning of each conversation, because the latest messages matter most, and the cut is
//! mentioned.
//!
//! The program counts the numbers, so they cannot be forged. Numbers are safe, names are not: the
//! name of a tool or a skill in a call is written by a model, perhaps as a page instructed it. So
//! only names that the program knows are written; everything else is counted without a name.

use std::fmt::Write as _;
use std::sync::Arc;

use super::tool_calls;
use crate::engine::made_calls;
use crate::engine::transcript::{self, LineKind, TranscriptLine};
use crate::id::{ConversationId, MessageId, PersonId, TurnId};
use crate::store::{Db, MessageKind, Node, StoredMessage, SummaryInputs};
use crate::text::{defuse, estimate_tokens, shorten};
use crate::time::{Timestamp, Zone};
use crate::trust::{Label, Labelled, Scope, Text};
use crate::wording::{prompt, reflection as says};

/// Maximum number of characters in a line.
const LINE: usize = 2_000;
/// Maximum number of characters of a message that was not asked for.
const SENT: usize = 600;
/// Minimum number of tokens for a conversation, regardless of their number.
const LEAST: u64 = 100;
/// Maximum number of tokens of a summary.
const SUMMARY: u64 = 600;

/// Trusted lines of one conversation.
#[derive(Debug)]
pub struct ConversationTranscript {
    conversation: Option<ConversationId>,
    started_at: Timestamp,
    messages: usize,
    lines: Vec<TranscriptLine>,
    withheld: usize,
    sources: Vec<Node>,
}

/// Collects the messages of that period outside the given subperiods, one conversation after the
/// other.
pub fn between(
    db: Db<'_>,
    window: Window,
    but_for: &[(Timestamp, Timestamp)],
    home: Zone,
) -> anyhow::Result<Vec<ConversationTranscript>> {
    let mut conversations: Vec<ConversationTranscript> = Vec::new();
    let mut answering: Option<TurnId> = None;
    for id in db.activity().messages_between(window.person, window.from, window.to)? {
        let Some(message) = db.messages().message(id)? else { continue };
        if but_for.iter().any(|(from, to)| *from <= message.received_at && message.received_at < *to) {
            continue;
        }
        if message.turn != answering {
            answer(db, conversations.last_mut(), answering, home)?;
            answering = message.turn;
        }
        if conversations.last().is_none_or(|conversation| conversation.conversation != message.conversation) {
            conversations.push(ConversationTranscript::of(&message));
        }
        if let Some(conversation) = conversations.last_mut() {
            conversation.add_message(db, &message)?;
        }
    }
    answer(db, conversations.last_mut(), answering, home)?;
    Ok(conversations)
}

/// Adds the answer to the last messages.
fn answer(
    db: Db<'_>,
    conversation: Option<&mut ConversationTranscript>,
    turn: Option<TurnId>,
    home: Zone,
) -> anyhow::Result<()> {
    let (Some(conversation), Some(turn)) = (conversation, turn) else { return Ok(()) };
    conversation.add_calls(db, turn, home)?;
    let reply = db.activity().reply_of(turn)?.map(|id| db.messages().message(id)).transpose()?.flatten();
    reply.map_or(Ok(()), |reply| conversation.add_message(db, &reply))
}

/// Writes as many of their lines as fit.
pub fn render_lines(
    db: Db<'_>,
    page: &mut ReflectionText,
    conversations: &[ConversationTranscript],
    zone: Zone,
    budget: u64,
) -> anyhow::Result<()> {
    let all: u64 = conversations.iter().map(|conversation| conversation.tokens(zone)).sum();
    let count = u64::try_from(conversations.len().max(1)).unwrap_or(u64::MAX);
    let each = if all <= budget { u64::MAX } else { (budget / count).max(LEAST) };
    for conversation in conversations {
        conversation.render(db, page, zone, each)?;
    }
    Ok(())
}

/// Writes the newest messages of that period that the person did not ask for, as many as fit.
pub fn render_sent(
    db: Db<'_>,
    page: &mut ReflectionText,
    window: Window,
    zone: Zone,
    budget: u64,
) -> anyhow::Result<()> {
    let (mut lines, mut left, mut withheld) = (Vec::new(), budget, 0);
    for id in db.activity().sent_between(window.person, window.from, window.to)?.into_iter().rev() {
        let Some(sent) = db.sent().sent(id)? else { continue };
        let (words, label, _) = sent.text.open();
        if words.is_empty() {
            continue;
        }
        if !label.is_trusted() {
            withheld += 1;
            continue;
        }
        let words = defuse(&shorten(words.trim(), SENT), "sent");
        let line = prompt::sent(&zone.show_short(sent.at), &sent.cause.to_string(), &words);
        let costs = estimate_tokens(&line);
        if costs > left {
            break;
        }
        left -= costs;
        page.absorb_label(label);
        page.add_sources(&[db.derivations().node_of(id)?]);
        lines.push(line);
    }
    lines.reverse();
    if !lines.is_empty() || withheld > 0 {
        page.push(says::SENT);
    }
    if !lines.is_empty() {
        page.push(&prompt::sent_block(&lines));
        page.push("\n");
    }
    if withheld > 0 {
        page.push(&says::withheld(withheld));
    }
    Ok(())
}

impl ConversationTranscript {
    fn of(first: &StoredMessage) -> Self {
        Self {
            conversation: first.conversation,
            started_at: first.received_at,
            messages: 0,
            lines: Vec::new(),
            withheld: 0,
            sources: Vec::new(),
        }
    }

    /// Adds the trusted texts of a message.
    fn add_message(&mut self, db: Db<'_>, message: &StoredMessage) -> anyhow::Result<()> {
        self.messages += usize::from(message.kind == MessageKind::Said);
        let mut lines = transcript::message_lines(db, message, db.messages().texts_of(message.id)?)?;
        lines.retain(|line| line.kind != LineKind::Quote);
        let (trusted, others): (Vec<_>, Vec<_>) = lines.into_iter().partition(|line| line.text.label().is_trusted());
        self.withheld += others.len();
        if !trusted.is_empty() {
            self.sources.push(db.derivations().node_of(message.id)?);
        }
        self.lines.extend(trusted);
        Ok(())
    }

    /// Adds the tool calls of a turn, before its answer.
    fn add_calls(&mut self, db: Db<'_>, turn: TurnId, home: Zone) -> anyhow::Result<()> {
        let at = db.turns().turn(turn)?.map_or(self.started_at, |turn| turn.claimed_at);
        let calls = match tool_calls::of_turn(db, turn)? {
            Some(calls) => {
                self.sources.extend((!calls.is_empty()).then_some(Node::Turn(turn)));
                calls
            }
            // In the program's words, which come from no text that the turn read.
            None => made_calls::of_turn(db, turn, home)?,
        };
        self.lines.extend(calls.into_iter().map(|text| TranscriptLine {
            by_person: false,
            speaker: prompt::ASSISTANT.to_owned(),
            kind: LineKind::Result,
            at,
            from: Node::Turn(turn),
            message: MessageId(0),
            text,
            forwarded_from: Arc::from(""),
        }));
        Ok(())
    }

    /// Texts of the lines.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(|line| &**line.text.open().0)
    }

    fn tokens(&self, zone: Zone) -> u64 {
        self.lines.iter().map(|line| estimate_tokens(&line.shortened(zone, LINE))).sum()
    }

    fn render(&self, db: Db<'_>, page: &mut ReflectionText, zone: Zone, most: u64) -> anyhow::Result<()> {
        page.push(&says::conversation(&zone.show_short(self.started_at), self.messages));
        page.add_sources(&self.sources);
        let mut most = most;
        if self.tokens(zone) > most {
            most = most.saturating_sub(self.render_summary(db, page, most / 2)?);
        }
        let mut shown = 0;
        for line in self.lines.iter().rev() {
            let costs = estimate_tokens(&line.shortened(zone, LINE));
            if costs > most {
                break;
            }
            most -= costs;
            shown += 1;
        }
        let left_out = self.lines.len() - shown;
        if left_out > 0 {
            page.push(&says::lines_left_out(left_out));
        }
        let mut words = String::new();
        for line in self.lines.iter().skip(left_out) {
            let _ = writeln!(words, "{}", line.shortened(zone, LINE));
            page.absorb_label(line.text.label());
        }
        if !words.is_empty() {
            page.push(&prompt::transcript(words.trim_end()));
            page.push("\n");
        }
        if self.withheld > 0 {
            page.push(&says::withheld(self.withheld));
        }
        Ok(())
    }

    /// Writes the summary of the whole conversation, if it is trusted. Returns its number of
    /// tokens.
    fn render_summary(&self, db: Db<'_>, page: &mut ReflectionText, most: u64) -> anyhow::Result<u64> {
        let summary =
            self.conversation.map(|id| db.summaries().summary_of(id, SummaryInputs::Trusted)).transpose()?.flatten();
        let Some(summary) = summary.filter(|summary| summary.content.label().is_trusted()) else { return Ok(0) };
        let (content, label, _) = summary.content.open();
        let words = says::in_short(
            &content.title,
            &[
                (prompt::TOPICS, &content.topics),
                (prompt::DECISIONS, &content.decisions),
                (prompt::PREFERENCES, &content.preferences),
                (prompt::PENDING, &content.pending),
            ],
        );
        let words = fit(&words, most.min(SUMMARY));
        page.push_quote(&prompt::transcript(&words), label);
        page.push("\n");
        page.add_sources(&[Node::Summary(summary.id)]);
        Ok(estimate_tokens(&words))
    }
}

/// Person and period.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// Person whose activity is counted.
    pub person: PersonId,
    /// First instant, by received time.
    pub from: Timestamp,
    /// First instant after the period.
    pub to: Timestamp,
}

/// Names that may be written.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Names of tools.
    pub tools: Vec<String>,
    /// Names of skills.
    pub skills: Vec<String>,
}

/// Renders the counters of a period, one line each.
pub fn numbers(db: Db<'_>, window: Window, period: &str, names: &Names) -> anyhow::Result<String> {
    let Window { person, from, to } = window;
    let scope = Scope::Person(person);
    let mut words = says::numbers(period);
    words.push_str(&message_counts(db, window)?);
    words.push_str(&tool_counts(db, window, names)?);
    for used in db.activity().skills_between(scope, from, to)? {
        if names.skills.contains(&used.skill) {
            words.push_str(&says::skill_read(&used.skill, used.times));
        }
    }
    for (reason, count) in db.activity().unanswered_between(person, from, to)? {
        words.push_str(&says::unanswered(&reason, count));
    }
    let models = db.activity().models_between(scope, from, to)?;
    words.push_str(&says::models(models.calls, models.failed, models.input, models.output));
    for (kind, count) in db.activity().work_between(person, from, to)? {
        words.push_str(&says::scheduled(&kind, count));
    }
    Ok(words)
}

fn message_counts(db: Db<'_>, window: Window) -> anyhow::Result<String> {
    let said = db.activity().messages_between(window.person, window.from, window.to)?;
    let mut conversations = Vec::new();
    for id in &said {
        conversations.extend(db.messages().message(*id)?.and_then(|message| message.conversation));
    }
    conversations.dedup();
    Ok(says::talked(said.len(), conversations.len()))
}

fn tool_counts(db: Db<'_>, window: Window, names: &Names) -> anyhow::Result<String> {
    let mut words = String::new();
    let mut unknown = 0_u32;
    for used in db.activity().tools_between(Scope::Person(window.person), window.from, window.to)? {
        if names.tools.contains(&used.tool) {
            words.push_str(&says::tool(&used.tool, used.calls, used.failed, used.not_made));
        } else {
            unknown = unknown.saturating_add(used.calls).saturating_add(used.not_made);
        }
    }
    if unknown > 0 {
        words.push_str(&says::other_tools(unknown));
    }
    Ok(words)
}

/// Text composed of program text and stored text, with the join of their labels and their sources.
#[derive(Debug, Clone)]
pub struct ReflectionText {
    words: String,
    label: Label,
    sources: Vec<Node>,
}

impl ReflectionText {
    /// Creates an empty text with a neutral label.
    pub fn blank() -> Self {
        Self { words: String::new(), label: Label::neutral(), sources: Vec::new() }
    }

    /// Adds program text, or text whose label is added separately.
    pub fn push(&mut self, words: &str) {
        self.words.push_str(words);
    }

    /// Adds stored text with its label.
    pub fn push_quote(&mut self, words: &str, label: &Label) {
        self.words.push_str(words);
        self.absorb_label(label);
    }

    /// Adds a label.
    pub fn absorb_label(&mut self, label: &Label) {
        self.label.absorb(label);
    }

    /// Adds sources.
    pub fn add_sources(&mut self, nodes: &[Node]) {
        for node in nodes {
            if !self.sources.contains(node) {
                self.sources.push(*node);
            }
        }
    }

    /// Returns the text and its sources.
    pub fn finish(self, scope: Scope) -> (Text, Vec<Node>) {
        (Labelled::new(Arc::from(self.words), self.label, scope), self.sources)
    }
}

/// Returns the beginning of a text up to about that many tokens.
pub fn fit(words: &str, most: u64) -> String {
    let all = estimate_tokens(words);
    if all <= most {
        return words.to_owned();
    }
    let characters = u64::try_from(words.chars().count()).unwrap_or(u64::MAX);
    let fitting = characters.saturating_mul(most) / all.max(1);
    shorten(words, usize::try_from(fitting).unwrap_or(usize::MAX).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn text_is_cut_only_if_it_does_not_fit(words in ".{0,300}", most in 1_u64..200) {
            let kept = fit(&words, most);
            prop_assert_eq!(kept == words, estimate_tokens(&words) <= most || words.chars().count() <= 1);
            prop_assert!(words.starts_with(kept.trim_end_matches('…')));
        }
    }
}
