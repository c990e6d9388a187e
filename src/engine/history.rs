//! The current conversation as a model sees it: one exchange per past turn, append-only, built from
//! the journal alone.
//!
//! In a long conversation a summary replaces the older part ([`super::compact`]) and stands at the
//! beginning. The stream's task keeps the history between turns, so a turn costs the same after
//! five messages as after five thousand. When it outgrows its budget, the oldest exchanges are
//! dropped in blocks, by a rule that depends only on the exchanges themselves: after a restart the
//! same ones are dropped, and between two blocks the beginning of the prompt stays byte for byte
//! the same.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::config::Placement;
use crate::id::{ConversationId, MessageId, TurnId};
use crate::model::{Message, RequestPart, Role, ToolCall, ToolSpec};
use crate::store::{Attachment, Db, QuestionRow, StepKind, StepRow, StoredMessage, StoredText, TurnRow, TurnState};
use crate::time::Zone;
use crate::trust::{Label, Labelled, Scope, Text};

use super::addresses::Addresses;
use super::context;

/// One past turn as messages.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// Messages: the question, tool calls and results, and the answer.
    pub messages: Vec<Arc<Message>>,
    /// Estimated tokens.
    pub tokens: u64,
}

/// Exchanges of one conversation that fit in the budget.
#[derive(Debug)]
pub struct History {
    conversation: ConversationId,
    /// Summary of the compacted part, and its last turn.
    compacted: Option<(TurnId, Arc<Message>)>,
    exchanges: VecDeque<Exchange>,
    tokens: u64,
    shape: HistorySettings,
    left_out: usize,
    /// Deletion revision of the conversation when it was loaded.
    pub revision: i64,
    /// The last turn, from which a new turn is derived.
    pub last_turn: Option<TurnId>,
    /// Dynamic block as last shown.
    pub last_context: Option<Text>,
    /// Addresses in the conversation so far, by first source.
    pub addresses: Addresses,
    /// Tools when the conversation was first loaded. They stay fixed while it lasts, so that the
    /// beginning of its prompts does not change.
    pub tools: Arc<[ToolSpec]>,
}

/// Display settings of a history.
#[derive(Debug, Clone, Copy)]
pub struct HistorySettings {
    /// Time zone of its timestamps.
    pub zone: Zone,
    /// Maximum estimated tokens of all exchanges together.
    pub budget: u64,
    /// Placement of the dynamic block.
    pub placement: Placement,
}

/// Everything that the journal holds about one turn.
#[derive(Debug)]
pub struct TurnRecord {
    /// The turn.
    pub turn: TurnRow,
    /// Messages that it answers.
    pub messages: Vec<StoredMessage>,
    /// Speakers of those messages, in a group.
    pub speakers: HashMap<MessageId, String>,
    /// Texts of those messages.
    pub texts: Vec<StoredText>,
    /// Files of those messages.
    pub attachments: Vec<Attachment>,
    /// Reactions that it was shown; blank if there were none.
    pub reacted: String,
    /// Steps of the turn.
    pub steps: Vec<StepRow>,
    /// Question whose yes began the turn, if no messages did.
    pub yes_to: Option<QuestionRow>,
    /// First message of the exchange that the turn continues or starts.
    pub first_message: Option<MessageId>,
}

impl TurnRecord {
    /// Reads a turn.
    pub fn read(db: Db<'_>, turn: TurnRow) -> anyhow::Result<Self> {
        let messages = db.messages().messages_of_turn(turn.id)?;
        let (mut texts, mut attachments, mut speakers) = (Vec::new(), Vec::new(), HashMap::new());
        for message in &messages {
            if matches!(turn.scope, Scope::Group(_)) {
                speakers.extend(speaker(db, message)?.map(|name| (message.id, name)));
            }
            texts.extend(db.messages().texts_of(message.id)?);
            attachments.extend(db.attachments().attachments_of(message.id)?);
        }
        let (steps, reacted) = (db.turns().steps(turn.id)?, db.reactions().reacted(turn.id)?);
        let yes_to = if messages.is_empty() { db.questions().question_before(turn.id)? } else { None };
        let first_message = match &yes_to {
            Some(question) => db.questions().first_message_of(question.turn)?,
            None => messages.first().map(|message| message.id),
        };
        Ok(Self { turn, messages, speakers, texts, attachments, reacted, steps, yes_to, first_message })
    }
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
        let upto = compacted.as_ref().map(|compacted| compacted.upto_turn);
        let mut history = Self {
            conversation,
            compacted: compacted.map(|found| (found.upto_turn, Arc::new(context::summarised(&found.summary)))),
            exchanges: VecDeque::new(),
            tokens: 0,
            shape,
            left_out: 0,
            revision: db.redaction().revision_of(conversation)?,
            last_turn: None,
            last_context: None,
            addresses: Addresses::default(),
            tools,
        };
        for turn in db.turns().past_turns(conversation)? {
            let record = TurnRecord::read(db, turn)?;
            if upto.is_some_and(|upto| record.turn.id <= upto) {
                // The first source of an address counts, even if it is no longer shown.
                history.addresses.add(&record);
                history.last_turn = Some(record.turn.id);
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
        let HistorySettings { zone, budget, placement } = self.shape;
        let exchange = exchange(record, zone, placement);
        if placement == Placement::Tail && !record.turn.context.open().0.is_empty() {
            self.last_context = Some(record.turn.context.clone());
        }
        self.last_turn = Some(record.turn.id);
        self.addresses.add(record);
        self.tokens += exchange.tokens;
        self.exchanges.push_back(exchange);
        if self.tokens > budget {
            self.shrink(budget / 4 * 3);
        }
    }

    /// Drops the oldest exchanges until at most `target` tokens are left, but never the newest one.
    pub fn shrink(&mut self, target: u64) {
        while self.tokens > target && self.exchanges.len() > 1 {
            if let Some(oldest) = self.exchanges.pop_front() {
                self.tokens = self.tokens.saturating_sub(oldest.tokens);
                self.left_out += 1;
                // The copy of the dynamic block may have been dropped with it.
                self.last_context = None;
            }
        }
    }

    /// Display settings.
    pub fn shape(&self) -> HistorySettings {
        self.shape
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
}

/// Renders one turn as a model sees it afterwards: as during the turn, except for pictures, of
/// which only the mention stays.
fn exchange(record: &TurnRecord, zone: Zone, placement: Placement) -> Exchange {
    let mut messages = vec![Arc::new(context::question(record, zone, &[], placement))];
    messages.extend(answered(&record.steps, record.turn.scope, None));
    if record.turn.state != TurnState::Done {
        let note = crate::wording::own(crate::wording::prompt::NOT_ANSWERED, record.turn.scope);
        messages.push(Arc::new(Message::of(Role::Assistant, note)));
    }
    // An exchange keeps an answer even if its text was deleted.
    if messages.len() == 1 {
        messages.push(Arc::new(Message::of(
            Role::Assistant,
            crate::wording::own(crate::wording::prompt::ANSWER_GONE, record.turn.scope),
        )));
    }
    let tokens = messages.iter().map(|message| message.estimate_tokens()).sum();
    Exchange { messages, tokens }
}

/// Speaker of a message: the configured name of a person, or a guest's number. `None` for a message
/// without a sender.
pub fn speaker(db: Db<'_>, message: &StoredMessage) -> anyhow::Result<Option<String>> {
    if message.guest > 0 {
        return Ok(Some(crate::wording::prompt::guest(message.guest)));
    }
    let person = message.person.map_or(Ok(None), |id| db.people().person(id))?;
    Ok(person.map(|person| person.name))
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
        let mut heard = Message::new(Role::Tool);
        for (call, result) in calls.iter().zip(&results) {
            spoken.push(Labelled::new(call_part(call), step.text.label().clone(), scope));
            let (words, label, _) = result.text.open();
            let text = match most {
                Some(most) if index < newest && words.chars().count() > most => {
                    Arc::from(crate::wording::prompt::cut_result(words, most))
                }
                _ => Arc::clone(words),
            };
            let part = RequestPart::Result { id: call.id.as_str().into(), name: call.name.as_str().into(), text };
            heard.push(Labelled::new(part, label.clone(), scope));
        }
        // The text of a step may have been deleted.
        if !spoken.parts().is_empty() {
            messages.push(Arc::new(spoken));
        }
        if !heard.parts().is_empty() {
            messages.push(Arc::new(heard));
        }
    }
    messages
}

/// Tool calls of a model step.
pub fn calls_of(step: &StepRow) -> Vec<ToolCall> {
    serde_json::from_str(&step.call).unwrap_or_default()
}

fn call_part(call: &ToolCall) -> RequestPart {
    RequestPart::Call {
        id: call.id.as_str().into(),
        name: call.name.as_str().into(),
        arguments: call.arguments.as_str().into(),
        extra: call.extra.as_str().into(),
    }
}

/// Join of the labels of all messages.
pub fn label_of<'a>(messages: impl Iterator<Item = &'a Arc<Message>>) -> Label {
    Label::join_of(messages.map(|message| message.label()))
}
