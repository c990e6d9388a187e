//! The current conversation as a model sees it: one exchange per past turn, append-only, built from
//! the journal alone.
//!
//! In a long conversation a summary replaces the older part ([`super::compact`]) and stands at the
//! beginning. The stream's task keeps the history between turns, so a turn costs the same after
//! five messages as after five thousand. When it outgrows its budget, the oldest exchanges are
//! dropped in blocks, by a rule that depends only on the exchanges themselves: after a restart the
//! same ones are dropped, and between two blocks the beginning of the prompt stays byte for byte
//! the same.
//!
//! In older exchanges long results of tools are shortened ([`super::old_results`]).

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use crate::config::Placement;
use crate::id::{ConversationId, TurnId};
use crate::model::{Message, Request, RequestPart, Role, ToolSpec};
use crate::store::{Db, StepKind, StepRow, TurnState, UnansweredReason};
use crate::time::Zone;
use crate::trust::{Label, Labelled, Scope, Text, WrongScope};
use crate::wording::prompt;

use super::addresses::Addresses;
use super::context;
use super::context_sections::ContextSections;
use super::old_results::{ShortenedResults, shortened, shortened_of};
use super::record::{TurnRecord, calls_of};
use super::wishes::Authors;

/// One past turn as messages.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// Messages: the question, tool calls and results, and the answer.
    pub messages: Vec<Arc<Message>>,
    /// Estimated tokens.
    pub tokens: u64,
    /// Dynamic block that it shows; blank if it shows none.
    context: Text,
    /// True if long results are shortened.
    is_shortened: bool,
}

impl Exchange {
    /// Leaves calls and their results out. Returns the number of tokens saved.
    fn drop_calls(&mut self) -> u64 {
        let before = self.tokens;
        self.messages = self.messages.iter().filter_map(without_calls).collect();
        self.tokens = self.messages.iter().map(|message| message.estimate_tokens()).sum();
        before.saturating_sub(self.tokens)
    }

    /// Shortens long results, and notes what they stand for. Returns the number of tokens saved.
    fn shorten_results(&mut self, reading: &BTreeSet<String>, cut: &mut ShortenedResults) -> u64 {
        if std::mem::replace(&mut self.is_shortened, true) {
            return 0;
        }
        let before = self.tokens;
        self.messages = self.messages.iter().map(|message| with_short_results(message, reading, cut)).collect();
        self.tokens = self.messages.iter().map(|message| message.estimate_tokens()).sum();
        before.saturating_sub(self.tokens)
    }
}

fn with_short_results(message: &Arc<Message>, reading: &BTreeSet<String>, cut: &mut ShortenedResults) -> Arc<Message> {
    if message.role() != Role::Tool {
        return Arc::clone(message);
    }
    let mut shown = Message::new(Role::Tool);
    for part in message.parts() {
        let (content, label, scope) = part.open();
        let short = match content {
            RequestPart::Result { id, name, text } => shortened(name, text, reading.contains(&**name)).map(|words| {
                let words: Arc<str> = Arc::from(words);
                cut.entry(Arc::clone(&words)).or_default().push(Arc::clone(text));
                RequestPart::Result { id: Arc::clone(id), name: Arc::clone(name), text: words }
            }),
            _ => None,
        };
        shown.push(short.map_or_else(|| part.clone(), |short| Labelled::new(short, label.clone(), scope)));
    }
    Arc::new(shown)
}

/// Returns a message without calls and results; `None` if nothing else is in it.
fn without_calls(message: &Arc<Message>) -> Option<Arc<Message>> {
    let is_call =
        |part: &Labelled<RequestPart>| matches!(part.open().0, RequestPart::Call { .. } | RequestPart::Result { .. });
    if !message.parts().iter().any(is_call) {
        return Some(Arc::clone(message));
    }
    let mut kept = Message::new(message.role());
    message.parts().iter().filter(|part| !is_call(part)).for_each(|part| kept.push(part.clone()));
    (!kept.parts().is_empty()).then(|| Arc::new(kept))
}

/// Exchanges of one conversation that fit in the budget.
#[derive(Debug)]
pub struct History {
    conversation: ConversationId,
    /// Summary of the compacted part, and its last turn.
    compacted: Option<(TurnId, Arc<Message>)>,
    exchanges: VecDeque<Exchange>,
    /// Estimated tokens of the exchanges and the summary.
    tokens: u64,
    shape: HistorySettings,
    left_out: usize,
    /// All exchanges of the conversation so far, shown or not.
    count: usize,
    /// True if calls and their results are not shown.
    has_no_calls: bool,
    /// Deletion revision of the conversation when it was loaded.
    pub revision: i64,
    /// Number of decided questions when it was loaded: a decision changes the results of calls.
    pub decided: i64,
    /// The last turn, from which a new turn is derived.
    pub last_turn: Option<TurnId>,
    /// Sections of the dynamic block, as the exchanges show them.
    pub shown: ContextSections,
    /// Addresses in the conversation so far, by first source.
    pub addresses: Addresses,
    /// Who wrote what first.
    pub authors: Authors,
    /// Results that are shown shortened.
    pub shortened: ShortenedResults,
    /// Tools when the conversation was first loaded. They stay fixed while it lasts, so that the
    /// beginning of its prompts does not change.
    pub tools: Arc<[ToolSpec]>,
}

/// Display settings of a history.
#[derive(Debug, Clone)]
pub struct HistorySettings {
    /// Time zone of its timestamps.
    pub zone: Zone,
    /// Maximum estimated tokens of all exchanges together.
    pub budget: u64,
    /// Placement of the dynamic block.
    pub placement: Placement,
    /// Names of the tools that only read.
    pub reading: Arc<BTreeSet<String>>,
}

impl History {
    /// Loads the history of a conversation.
    pub fn load(
        db: Db<'_>,
        conversation: ConversationId,
        tools: Arc<[ToolSpec]>,
        shape: HistorySettings,
    ) -> anyhow::Result<Self> {
        let compacted = db.compactions().compacted(conversation)?;
        let compacted = compacted.map(|found| (found.upto_turn, Arc::new(context::summarised(&found.summary))));
        let upto = compacted.as_ref().map(|(upto, _)| *upto);
        let mut history = Self {
            conversation,
            tokens: compacted.as_ref().map_or(0, |(_, summary)| summary.estimate_tokens()),
            compacted,
            exchanges: VecDeque::new(),
            shape,
            left_out: 0,
            count: 0,
            has_no_calls: false,
            revision: db.redaction().revision_of(conversation)?,
            decided: db.questions().decided_in(conversation)?,
            last_turn: None,
            shown: ContextSections::default(),
            addresses: Addresses::default(),
            authors: Authors::default(),
            shortened: ShortenedResults::default(),
            tools,
        };
        for turn in db.turns().past_turns(conversation)? {
            let record = TurnRecord::read(db, turn)?;
            if upto.is_some_and(|upto| record.turn.id <= upto) {
                // The first source of an address counts, even if it is no longer shown.
                history.addresses.add(&record);
                history.authors.add(&record);
                history.last_turn = Some(record.turn.id);
                history.count += 1;
            } else {
                history.append(&record);
            }
        }
        Ok(history)
    }

    /// Id of the conversation.
    pub fn conversation(&self) -> ConversationId {
        self.conversation
    }

    /// Appends a finished turn, and drops the oldest ones if the budget requires it.
    pub fn append(&mut self, record: &TurnRecord) {
        let HistorySettings { zone, budget, placement, .. } = self.shape;
        let mut exchange = exchange(record, zone, placement);
        if self.has_no_calls {
            exchange.drop_calls();
        }
        self.shown.show(exchange.context.open().0);
        self.last_turn = Some(record.turn.id);
        self.addresses.add(record);
        self.authors.add(record);
        self.tokens += exchange.tokens;
        self.exchanges.push_back(exchange);
        self.count += 1;
        self.shorten_old_results();
        if self.tokens > budget {
            self.shrink(budget / 4 * 3);
        }
    }

    /// Shortens the long results of all exchanges that are older than the newest few.
    fn shorten_old_results(&mut self) {
        let before = self.count.saturating_sub(self.exchanges.len());
        let old = shortened_of(self.count).saturating_sub(before);
        for exchange in self.exchanges.iter_mut().take(old) {
            let saved = exchange.shorten_results(&self.shape.reading, &mut self.shortened);
            self.tokens = self.tokens.saturating_sub(saved);
        }
    }

    /// Drops the oldest exchanges until at most `target` tokens are left, but never the newest one.
    pub fn shrink(&mut self, target: u64) {
        while self.tokens > target && self.exchanges.len() > 1 {
            if let Some(oldest) = self.exchanges.pop_front() {
                self.tokens = self.tokens.saturating_sub(oldest.tokens);
                self.left_out += 1;
            }
        }
        // A section may have been dropped with its exchange.
        self.shown = ContextSections::default();
        self.exchanges.iter().for_each(|exchange| self.shown.show(exchange.context.open().0));
    }

    /// Leaves calls and their results out from now on. Returns false if none was shown.
    pub fn drop_calls(&mut self) -> bool {
        let saved: u64 = self.exchanges.iter_mut().map(Exchange::drop_calls).sum();
        self.tokens = self.tokens.saturating_sub(saved);
        self.has_no_calls |= saved > 0;
        saved > 0
    }

    /// Has it loaded again for the next step, with all calls.
    pub fn reload(&mut self) {
        self.revision = -1;
    }

    /// Display settings.
    pub fn shape(&self) -> &HistorySettings {
        &self.shape
    }

    /// Last turn that is shown only as a summary; zero if there is none.
    pub fn compacted_upto(&self) -> TurnId {
        self.compacted.as_ref().map_or(TurnId(0), |(upto, _)| *upto)
    }

    /// Number of dropped exchanges.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// Messages in order.
    pub fn messages(&self) -> impl Iterator<Item = &Arc<Message>> {
        let summary = self.compacted.iter().map(|(_, message)| message);
        summary.chain(self.exchanges.iter().flat_map(|exchange| exchange.messages.iter()))
    }

    /// Pushes everything before the newest message. `now` holds the current context blocks if
    /// memory is placed with the instructions.
    ///
    /// # Errors
    /// If a text belongs to another scope: that is a bug, and the turn must not run.
    pub fn begin(
        &self,
        request: &mut Request,
        identity: Text,
        opening: Option<&Text>,
        now: &[Text],
    ) -> Result<(), WrongScope> {
        let scope = request.scope();
        request.push(Arc::new(Message::of(Role::System, identity).cached()))?;
        if let Some(opening) = opening {
            request.push(Arc::new(Message::of(Role::System, opening.clone()).cached()))?;
        }
        for block in now.iter().filter(|block| !block.open().0.is_empty()) {
            request.push(Arc::new(Message::of(Role::System, block.clone())))?;
        }
        if self.left_out() > 0 {
            request.text(Role::System, crate::wording::own(prompt::left_out(self.left_out()), scope))?;
        }
        for message in self.messages() {
            request.push(Arc::clone(message))?;
        }
        Ok(())
    }
}

/// Renders one turn as a model sees it afterwards: as during the turn, except for pictures, of
/// which only the mention stays.
fn exchange(record: &TurnRecord, zone: Zone, placement: Placement) -> Exchange {
    let mut messages = vec![Arc::new(context::question(record, zone, &[], placement))];
    // What a server refused once would be refused again.
    if record.turn.reason != UnansweredReason::Refused.as_str() {
        messages.extend(answered(&record.steps, record.turn.scope, None));
    }
    if record.turn.state != TurnState::Done {
        let note = crate::wording::own(prompt::NOT_ANSWERED, record.turn.scope);
        messages.push(Arc::new(Message::of(Role::Assistant, note)));
    }
    // An exchange keeps an answer even if its text was deleted.
    if messages.len() == 1 {
        messages
            .push(Arc::new(Message::of(Role::Assistant, crate::wording::own(prompt::ANSWER_GONE, record.turn.scope))));
    }
    let tokens = messages.iter().map(|message| message.estimate_tokens()).sum();
    let context = match placement {
        Placement::Tail => record.turn.context.clone(),
        // It stands with the instructions, and only as the newest turn has it.
        Placement::System => crate::wording::own("", record.turn.scope),
    };
    Exchange { messages, tokens, context, is_shortened: false }
}

/// Messages of the finished steps. A call whose result is missing is left out with it: the two are
/// never separated. With `most`, results of all but the newest calls are cut to that many
/// characters, and say so.
pub fn answered(steps: &[StepRow], scope: Scope, most: Option<usize>) -> Vec<Arc<Message>> {
    let newest = steps.iter().rposition(|step| step.kind == StepKind::Model && step.done).unwrap_or(0);
    let mut messages = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        if step.kind != StepKind::Model || !step.done {
            continue;
        }
        let calls = calls_of(step);
        let results: Vec<&StepRow> = steps
            .iter()
            .skip(index + 1)
            .take_while(|next| next.kind == StepKind::Tool)
            .filter(|next| next.done)
            .collect();
        let mut spoken = Message::new(Role::Assistant);
        if !step.text.open().0.is_empty() {
            spoken.push_text(step.text.clone());
        }
        let mut tool_message = Message::new(Role::Tool);
        for (call, result) in calls.iter().zip(&results) {
            let (id, name) = (call.id.as_str(), call.name.as_str());
            let (arguments, extra) = (call.arguments.as_str().into(), call.extra.as_str().into());
            let part = RequestPart::Call { id: id.into(), name: name.into(), arguments, extra };
            spoken.push(Labelled::new(part, step.text.label().clone(), scope));
            let (words, label, _) = result.text.open();
            let text = match most {
                Some(most) if index < newest && words.chars().count() > most => {
                    Arc::from(prompt::cut_result(words, most))
                }
                _ => Arc::clone(words),
            };
            let part = RequestPart::Result { id: id.into(), name: name.into(), text };
            tool_message.push(Labelled::new(part, label.clone(), scope));
        }
        // The text of a step may have been deleted.
        if !spoken.parts().is_empty() {
            messages.push(Arc::new(spoken));
        }
        if !tool_message.parts().is_empty() {
            messages.push(Arc::new(tool_message));
        }
    }
    messages
}

/// Join of the labels of all messages.
pub fn label_of<'a>(messages: impl Iterator<Item = &'a Arc<Message>>) -> Label {
    Label::join_of(messages.map(|message| message.label()))
}
