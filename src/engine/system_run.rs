//! System runs: tasks that the program assigns to the assistant, in a conversation of their own, in
//! a stream without chat.
//!
//! A run is an ordinary turn (full agent, tools, each step stored, resumed after a crash) with four
//! differences. No person reads along, so nothing is shown or posted while it grows, and egress
//! that needs a yes is refused at once. The code that assigned it reads the outcome from the rows
//! and handles it. It uses the background models. And it has only tools whose effects are allowed
//! to its kind ([`Allowance`]): tools that would start further work by themselves are not among
//! them.

mod allowance;

use crate::id::{AddressId, ConversationId, PersonId, StreamId, TurnId};
use crate::model::Purpose;
use crate::store::{
    BoundaryReason, Conversation, ConversationKind, Db, MessageKind, MessageState, NewConversation, NewMessage, Node,
    TextKind, Tx,
};
use crate::time::Timestamp;
use crate::trust::{Scope, Text};

pub use allowance::Allowance;

/// Kind of a system run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunKind {
    /// Reflection on a day, a week or a month.
    Reflection,
    /// Check of `HEARTBEAT.md`.
    Heartbeat,
    /// Task that a person scheduled for this time.
    Task,
}

impl RunKind {
    /// Returns the kind of a conversation; `None` for a chat.
    pub fn of(conversation: &Conversation) -> Option<Self> {
        match conversation.kind {
            ConversationKind::Chat => None,
            ConversationKind::Reflection => Some(Self::Reflection),
            ConversationKind::Heartbeat => Some(Self::Heartbeat),
            ConversationKind::Task => Some(Self::Task),
        }
    }

    fn conversation(self) -> ConversationKind {
        match self {
            Self::Reflection => ConversationKind::Reflection,
            Self::Heartbeat => ConversationKind::Heartbeat,
            Self::Task => ConversationKind::Task,
        }
    }

    /// Purpose of the run's model calls.
    pub fn purpose(self) -> Purpose {
        match self {
            Self::Reflection => Purpose::Reflection,
            Self::Heartbeat => Purpose::Heartbeat,
            Self::Task => Purpose::Task,
        }
    }
}

/// Assignment of a run.
#[derive(Debug, Clone, Copy)]
pub struct Assignment<'a> {
    /// Person that the run is for.
    pub person: PersonId,
    /// Kind of the run.
    pub kind: RunKind,
    /// Request and its material, each part with its own label.
    pub words: &'a [Text],
    /// Journal nodes that the texts are derived from.
    pub from: &'a [Node],
    /// Current time.
    pub at: Timestamp,
}

/// Location of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Stream of the run, which the caller has to wake.
    pub stream: StreamId,
    /// Conversation of the run.
    pub conversation: ConversationId,
}

/// Outcome of the newest run in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunOutcome {
    /// The run is not over.
    Open,
    /// The run has an answer, which is stored as a message and was not delivered.
    Answered {
        /// Turn of the run.
        turn: TurnId,
        /// Message that holds the answer.
        message: crate::id::MessageId,
        /// Answer, labelled with the join of everything that was read for it.
        text: Text,
    },
    /// The run ended without an answer.
    GaveUp {
        /// Reason code: `model_away`, `no_answer`, `too_slow`, …
        reason: String,
    },
}

/// Assigns a run, in a conversation of its own. Returns `None` if the person has no address.
pub fn assign(tx: Tx<'_>, assignment: &Assignment<'_>) -> anyhow::Result<Option<Run>> {
    let Some(address) = address_of(*tx, assignment.person)? else { return Ok(None) };
    let scope = Scope::Person(assignment.person);
    let stream = tx.conversations().work_stream_for(assignment.person)?;
    let (kind, because, at) = (assignment.kind.conversation(), BoundaryReason::Schedule, assignment.at);
    let conversation = tx.conversations().open_conversation(&NewConversation { stream, kind, scope, because, at })?;
    let run = Run { stream, conversation };
    say(tx, run, address, assignment)?;
    Ok(Some(run))
}

/// Assigns another run in the same conversation. Returns `None` if the person has no address any
/// more.
///
/// # Errors
/// If the conversation does not exist.
pub fn ask_again(tx: Tx<'_>, conversation: ConversationId, again: &Assignment<'_>) -> anyhow::Result<Option<Run>> {
    let Some(address) = address_of(*tx, again.person)? else { return Ok(None) };
    let stream = tx.conversations().work_stream_for(again.person)?;
    let run = Run { stream, conversation };
    say(tx, run, address, again)?;
    Ok(Some(run))
}

/// Outcome of the newest run in that conversation.
pub fn outcome(db: Db<'_>, conversation: ConversationId) -> anyhow::Result<RunOutcome> {
    let messages = db.messages().messages_of(conversation)?;
    let asked = messages.iter().rev().find(|message| message.kind == MessageKind::Task);
    let Some(asked) = asked else { return Ok(RunOutcome::GaveUp { reason: "never_asked".to_owned() }) };
    let Some(turn) = asked.turn.map(|id| db.turns().turn(id)).transpose()?.flatten() else {
        let closed = asked.state == MessageState::Closed;
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

/// Address at which a person is reached: the preferred one, else the one where they wrote last,
/// else any that they have.
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
        // The text is stored elsewhere too, and search finds it there.
        tx.messages().add_unsearched_text(message, TextKind::Said, text)?;
    }
    for parent in assignment.from {
        tx.derivations().derive(Node::Message(message), *parent)?;
    }
    tx.conversations().count_message(run.conversation, message, assignment.at)
}
