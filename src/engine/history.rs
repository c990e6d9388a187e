//! The current conversation as a model sees it: one exchange per past turn, append-only, built from
//! the journal alone.
//!
//! The older part of a long conversation gives way to its summary ([`super::compact`]), which then
//! stands at the beginning. The stream's task keeps it between turns, so a turn costs the same
//! after five messages as after five thousand. When it outgrows its budget the oldest exchanges are
//! left out in blocks, by a rule that depends only on the exchanges themselves: after a restart the
//! same ones are left out, and between two blocks the prompt's beginning stays byte for byte the
//! same.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::config::Placement;
use crate::id::{ConversationId, MessageId, TurnId};
use crate::model::{Message, RequestPart, Role, ToolCall, ToolSpec};
use crate::store::{Attachment, Db, QuestionRow, StepRow, StoredMessage, StoredText, TurnRow};
use crate::time::Zone;
use crate::trust::{Label, Labelled, Scope, Text};

use super::addresses::Addresses;
use super::context;

/// One past turn in messages.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// The messages: what was said, what the tools gave, what was answered.
    pub messages: Vec<Arc<Message>>,
    /// How many tokens they are at a guess.
    pub tokens: u64,
}

/// The exchanges of one conversation that fit in the budget.
#[derive(Debug)]
pub struct History {
    conversation: ConversationId,
    /// The summary of what is not shown any more, and its last turn.
    compacted: Option<(TurnId, Arc<Message>)>,
    exchanges: VecDeque<Exchange>,
    tokens: u64,
    shape: Shape,
    left_out: usize,
    /// How often words of the conversation had gone when it was read.
    pub revision: i64,
    /// The last turn in it: a new turn grows from it.
    pub last_turn: Option<TurnId>,
    /// The dynamic block as it was last shown.
    pub last_context: Option<Text>,
    /// The addresses in the conversation so far, by who had them first.
    pub addresses: Addresses,
    /// The tools as they were when the conversation was first looked at: while it lasts, the
    /// beginning of its prompts stays the same.
    pub tools: Arc<[ToolSpec]>,
}

/// How a history is shown.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// The zone of its times.
    pub zone: Zone,
    /// How many tokens the exchanges may be together, as our guess.
    pub budget: u64,
    /// Whether the dynamic block stands in it.
    pub placement: Placement,
}

/// Everything that the journal has of one turn.
#[derive(Debug)]
pub struct Record {
    /// The turn.
    pub turn: TurnRow,
    /// What it answers.
    pub messages: Vec<StoredMessage>,
    /// Who said each of them, where many speak at once.
    pub speakers: HashMap<MessageId, String>,
    /// The texts of those.
    pub texts: Vec<StoredText>,
    /// The files of those.
    pub attachments: Vec<Attachment>,
    /// What it was told of reactions; blank if nothing was.
    pub reacted: String,
    /// Its steps.
    pub steps: Vec<StepRow>,
    /// The question that it was begun by a yes to, instead of by messages.
    pub yes_to: Option<QuestionRow>,
    /// The first message of the exchange that it goes on with, or that it is.
    pub first_message: Option<MessageId>,
}

impl Record {
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
    /// The history of a conversation.
    pub fn load(
        db: Db<'_>,
        conversation: ConversationId,
        tools: Arc<[ToolSpec]>,
        shape: Shape,
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
            let record = Record::read(db, turn)?;
            if upto.is_some_and(|upto| record.turn.id <= upto) {
                // Who had an address first counts, whether it is still shown or not.
                history.addresses.add(&record);
                history.last_turn = Some(record.turn.id);
            } else {
                history.append(&record);
            }
        }
        Ok(history)
    }

    /// Which conversation it is of.
    pub fn conversation(&self) -> ConversationId {
        self.conversation
    }

    /// Adds a turn that is over, and leaves out the oldest ones if the budget asks for it.
    pub fn append(&mut self, record: &Record) {
        let Shape { zone, budget, placement } = self.shape;
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

    /// Leaves out the oldest exchanges until no more than `target` tokens are left, but never the
    /// newest one.
    pub fn shrink(&mut self, target: u64) {
        while self.tokens > target && self.exchanges.len() > 1 {
            if let Some(oldest) = self.exchanges.pop_front() {
                self.tokens = self.tokens.saturating_sub(oldest.tokens);
                self.left_out += 1;
                // The copy of the dynamic block may have gone with it.
                self.last_context = None;
            }
        }
    }

    /// How it is shown.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The last turn that is shown as a summary only; zero if there is none.
    pub fn compacted_upto(&self) -> TurnId {
        self.compacted.as_ref().map_or(TurnId(0), |(upto, _)| *upto)
    }

    /// How many exchanges are left out.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// The messages in order.
    pub fn messages(&self) -> impl Iterator<Item = &Arc<Message>> {
        let summary = self.compacted.iter().map(|(_, message)| message);
        summary.chain(self.exchanges.iter().flat_map(|exchange| exchange.messages.iter()))
    }
}

/// One turn as a model sees it afterwards: like it saw it then, but for pictures, of which only the
/// mention stays.
fn exchange(record: &Record, zone: Zone, placement: Placement) -> Exchange {
    let mut messages = vec![Arc::new(context::question(record, zone, &[], placement))];
    messages.extend(answered(&record.steps, record.turn.scope, None));
    if record.turn.state != "done" {
        let note = crate::wording::own(crate::wording::prompt::NOT_ANSWERED, record.turn.scope);
        messages.push(Arc::new(Message::of(Role::Assistant, note)));
    }
    // An exchange stays whole, also when its words are gone.
    if messages.len() == 1 {
        messages.push(Arc::new(Message::of(
            Role::Assistant,
            crate::wording::own(crate::wording::prompt::ANSWER_GONE, record.turn.scope),
        )));
    }
    let tokens = messages.iter().map(|message| message.estimate_tokens()).sum();
    Exchange { messages, tokens }
}

/// Who said a message: the configured name of a person, or a guest's number. None for what nobody
/// said.
pub fn speaker(db: Db<'_>, message: &StoredMessage) -> anyhow::Result<Option<String>> {
    if message.guest > 0 {
        return Ok(Some(crate::wording::prompt::guest(message.guest)));
    }
    let person = message.person.map_or(Ok(None), |id| db.people().person(id))?;
    Ok(person.map(|person| person.name))
}

/// The messages of the steps that are done. A call whose result is missing is left out with it: the
/// two are never parted. With `most`, results of all but the newest calls are cut to so many
/// characters, and say so.
pub fn answered(steps: &[StepRow], scope: Scope, most: Option<usize>) -> Vec<Arc<Message>> {
    let newest = steps.iter().rposition(|step| step.kind == "model" && step.done).unwrap_or(0);
    let mut messages = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        if step.kind != "model" || !step.done {
            continue;
        }
        let calls = calls_of(step);
        let results: Vec<&StepRow> =
            steps.iter().skip(index + 1).take_while(|next| next.kind == "tool").filter(|next| next.done).collect();
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
        // The words of a step may be gone.
        if !spoken.parts().is_empty() {
            messages.push(Arc::new(spoken));
        }
        if !heard.parts().is_empty() {
            messages.push(Arc::new(heard));
        }
    }
    messages
}

/// The tool calls of a model step.
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

/// The join of the labels of all messages.
pub fn label_of<'a>(messages: impl Iterator<Item = &'a Arc<Message>>) -> Label {
    Label::join_of(messages.map(|message| message.label()))
}
