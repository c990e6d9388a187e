//! What the program asks the assistant to do by itself: a conversation of its own, in a stream that
//! nobody talks in.
//!
//! A run is an ordinary turn (full agent, tools, each step stored, taken up after a crash) with
//! four differences. Nobody reads along, so nothing is shown or posted while it grows, and a way
//! out that needs a yes is refused at once. Whoever assigned it reads the outcome off the rows and
//! says what becomes of it. The background models are asked. And it has only tools whose effects
//! are allowed to its kind ([`Allowance`]): what would begin further work by itself is not among
//! them.

mod allowance;

use crate::id::{AddressId, ConversationId, PersonId, StreamId, TurnId};
use crate::model::Purpose;
use crate::store::{Conversation, Db, MessageKind, NewConversation, NewMessage, Node, TextKind, Tx};
use crate::time::Timestamp;
use crate::trust::{Scope, Text};

pub use allowance::Allowance;

/// What the assistant is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunKind {
    /// To look back on a day, a week or a month.
    Reflection,
    /// To see to what stands in `HEARTBEAT.md`.
    Heartbeat,
    /// To do something that a person wanted done at this time.
    Task,
}

impl RunKind {
    /// The stored word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reflection => "reflection",
            Self::Heartbeat => "heartbeat",
            Self::Task => "task",
        }
    }

    /// The kind of a conversation; `None` for a chat.
    pub fn of(conversation: &Conversation) -> Option<Self> {
        match conversation.kind.as_str() {
            "reflection" => Some(Self::Reflection),
            "heartbeat" => Some(Self::Heartbeat),
            "task" => Some(Self::Task),
            _ => None,
        }
    }

    /// What its model calls are for.
    pub fn purpose(self) -> Purpose {
        match self {
            Self::Reflection => Purpose::Reflection,
            Self::Heartbeat => Purpose::Heartbeat,
            Self::Task => Purpose::Task,
        }
    }
}

/// Something for the assistant to do.
#[derive(Debug, Clone, Copy)]
pub struct Assignment<'a> {
    /// For whom.
    pub person: PersonId,
    /// What.
    pub kind: RunKind,
    /// What is asked and what it is about, each part with its own label.
    pub words: &'a [Text],
    /// What in the journal the words grew from.
    pub from: &'a [Node],
    /// Now.
    pub at: Timestamp,
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Its stream, which has to be rung.
    pub stream: StreamId,
    /// Its conversation.
    pub conversation: ConversationId,
}

/// What became of the newest run in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunOutcome {
    /// It is not over.
    Open,
    /// It has an answer, which is stored as a message and was sent to nobody.
    Answered {
        /// The turn.
        turn: TurnId,
        /// The message that holds the answer.
        message: crate::id::MessageId,
        /// The answer, with the join of everything that was read for it.
        text: Text,
    },
    /// It ended without one.
    GaveUp {
        /// Why, in a word of ours: `model_away`, `no_answer`, `too_slow`, …
        reason: String,
    },
}

/// Assigns it, in a conversation of its own. `None` if the person has no address: then there is
/// nobody to work for.
pub fn assign(tx: Tx<'_>, assignment: &Assignment<'_>) -> anyhow::Result<Option<Run>> {
    let Some(address) = address_of(*tx, assignment.person)? else { return Ok(None) };
    let scope = Scope::Person(assignment.person);
    let stream = tx.conversations().work_stream_for(assignment.person)?;
    let (kind, because, at) = (assignment.kind.as_str(), "schedule", assignment.at);
    let conversation = tx.conversations().open_conversation(&NewConversation { stream, kind, scope, because, at })?;
    let run = Run { stream, conversation };
    say(tx, run, address, assignment)?;
    Ok(Some(run))
}

/// Asks once more in the same conversation. `None` if the person has no address any more.
///
/// # Errors
/// If the journal cannot be written, or the conversation is not there.
pub fn ask_again(tx: Tx<'_>, conversation: ConversationId, again: &Assignment<'_>) -> anyhow::Result<Option<Run>> {
    let Some(address) = address_of(*tx, again.person)? else { return Ok(None) };
    let stream = tx.conversations().work_stream_for(again.person)?;
    let run = Run { stream, conversation };
    say(tx, run, address, again)?;
    Ok(Some(run))
}

/// What became of the newest run in that conversation.
pub fn outcome(db: Db<'_>, conversation: ConversationId) -> anyhow::Result<RunOutcome> {
    let messages = db.messages().messages_of(conversation)?;
    let asked = messages.iter().rev().find(|message| message.kind == MessageKind::Task);
    let Some(asked) = asked else { return Ok(RunOutcome::GaveUp { reason: "never_asked".to_owned() }) };
    let Some(turn) = asked.turn.map(|id| db.turns().turn(id)).transpose()?.flatten() else {
        let closed = asked.state == "closed";
        return Ok(if closed { RunOutcome::GaveUp { reason: asked.reason.clone() } } else { RunOutcome::Open });
    };
    if turn.is_open() {
        return Ok(RunOutcome::Open);
    }
    let reply = messages.iter().find(|message| message.kind == MessageKind::Reply && message.turn == Some(turn.id));
    let Some(reply) = reply else { return Ok(RunOutcome::GaveUp { reason: asked.reason.clone() }) };
    let text = db.messages().texts_of(reply.id)?.into_iter().next().map(|text| text.text);
    let Some(text) = text else { return Ok(RunOutcome::GaveUp { reason: "forgotten".to_owned() }) };
    Ok(RunOutcome::Answered { turn: turn.id, message: reply.id, text })
}

/// Where a person is reached: where they like to be, else where they were last heard, else wherever
/// they have an address.
pub fn address_of(db: Db<'_>, person: PersonId) -> anyhow::Result<Option<AddressId>> {
    if let Some(heard) = db.addresses().reached_at(person)? {
        return Ok(Some(heard));
    }
    Ok(db.addresses().addresses_of(person)?.first().map(|known| known.id))
}

fn say(tx: Tx<'_>, run: Run, address: AddressId, assignment: &Assignment<'_>) -> anyhow::Result<()> {
    let scope = Scope::Person(assignment.person);
    let message = tx.messages().add_message(&NewMessage {
        stream: run.stream,
        conversation: Some(run.conversation),
        inbox: None,
        address: Some(address),
        person: None,
        guest: 0,
        kind: MessageKind::Task,
        scope,
        external_id: "",
        album: "",
        received_at: assignment.at,
        server_at: None,
        effective_at: assignment.at,
        turn: None,
    })?;
    for text in assignment.words {
        // What it repeats stands elsewhere and is found there.
        tx.messages().add_unsearched_text(message, TextKind::Said, text)?;
    }
    for parent in assignment.from {
        tx.derivations().derive(Node::Message(message), *parent)?;
    }
    tx.conversations().conversation_grew(run.conversation, message, assignment.at)
}
