//! Messages that a person gets without asking: reminders, results of tasks, heartbeat messages,
//! reflections, notices, questions and proposals; and which of them may disturb in quiet hours
//! ([`Urgency`]).
//!
//! Each is a message of kind `sent` in the person's stream, stored in the transaction that posts
//! it. It belongs to no conversation until a turn is shown it; then it belongs to that turn and its
//! conversation.

use rusqlite::params;
use strum::{EnumString, IntoStaticStr};

use crate::id::{
    AddressId, ConversationId, MessageId, PersonId, ProposalId, QuestionId, ReflectionId, ReminderId, StreamId, TurnId,
};
use crate::store::handles::{Sent, SentMut};
use crate::store::rows::{from_row, insert, stored_word, text};
use crate::store::{MessageKind, MessageState, TextKind};
use crate::time::Timestamp;
use crate::trust::{Labelled, Scope, Text};
use crate::wording::{self, prompt};

/// Kind of cause of a message that was not asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum CauseKind {
    /// A notice by the program.
    Notice,
    /// A question that waits for a yes or no.
    Question,
    /// A reminder.
    Reminder,
    /// The result of a scheduled task.
    Task,
    /// A heartbeat check.
    Heartbeat,
    /// A reflection.
    Reflection,
    /// A proposed change of a skill.
    Proposal,
}

/// Disturbance that a delivery may cause. All but [`Urgency::Asked`] was not asked for: while
/// no client is attached to a terminal, it goes to another channel of its person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Urgency {
    /// An answer to what came from that address, for which it stays.
    Asked,
    /// Delivered at any time.
    Rings,
    /// Delivered without a sound in quiet hours; kept where the channel cannot do that.
    Silent,
    /// Kept until the end of the quiet hours.
    Kept,
}

stored_word!(CauseKind, Urgency);

impl CauseKind {
    /// Disturbance that a message with this cause may cause: a set time is meant, a question or a
    /// finding can be read later, and the rest can wait until the morning.
    pub fn urgency(self) -> Urgency {
        match self {
            Self::Reminder | Self::Task => Urgency::Rings,
            Self::Question | Self::Proposal | Self::Heartbeat => Urgency::Silent,
            Self::Notice | Self::Reflection => Urgency::Kept,
        }
    }
}

/// Cause of a message that was not asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cause {
    /// Kind.
    pub kind: CauseKind,
    /// Number of the reminder, question and so on.
    pub number: Option<i64>,
}

impl std::fmt::Display for Cause {
    /// Kind and number: `reminder 4`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.kind.as_str())?;
        self.number.map_or(Ok(()), |number| write!(f, " {number}"))
    }
}

impl Cause {
    /// A notice by the program.
    pub const NOTICE: Self = Self { kind: CauseKind::Notice, number: None };
    /// A heartbeat check.
    pub const HEARTBEAT: Self = Self { kind: CauseKind::Heartbeat, number: None };

    /// A reminder.
    pub fn reminder(id: ReminderId) -> Self {
        Self { kind: CauseKind::Reminder, number: Some(id.0) }
    }

    /// A task.
    pub fn task(id: ReminderId) -> Self {
        Self { kind: CauseKind::Task, number: Some(id.0) }
    }

    /// A question.
    pub fn question(id: QuestionId) -> Self {
        Self { kind: CauseKind::Question, number: Some(id.0) }
    }

    /// A reflection.
    pub fn reflection(id: ReflectionId) -> Self {
        Self { kind: CauseKind::Reflection, number: Some(id.0) }
    }

    /// A proposal.
    pub fn proposal(id: ProposalId) -> Self {
        Self { kind: CauseKind::Proposal, number: Some(id.0) }
    }
}

/// A message that was not asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentRow {
    /// Message.
    pub message: MessageId,
    /// Conversation, once a turn was shown it.
    pub conversation: Option<ConversationId>,
    /// Cause.
    pub cause: Cause,
    /// Time of posting.
    pub at: Timestamp,
    /// Text; blank if it was deleted.
    pub text: Text,
    /// What was decided about it, and when: the state of a proposal, or of a text to be kept.
    pub decided: Option<(String, Timestamp)>,
}

const SENT: &str = "SELECT m.id, m.conversation_id, m.cause, m.cause_id, m.effective_at, t.text, t.label, t.scope,
     coalesce(p.state, k.state) AS decision, coalesce(p.decided_at, k.decided_at) AS decided_at
     FROM messages m JOIN texts t ON t.message_id = m.id AND t.kind = 'said'
     LEFT JOIN proposals p ON m.cause = 'proposal' AND p.id = m.cause_id AND p.state <> 'pending'
     LEFT JOIN keeps k ON m.cause = 'question' AND k.number = m.cause_id AND k.state NOT IN ('new', 'open')";

from_row! {
    SentRow from SENT { message: "id", conversation: "conversation_id", at: "effective_at" }
    with |row| {
        cause: Cause { kind: row.get("cause")?, number: row.get("cause_id")? },
        text: text(row, "text")?,
        decided: row.get::<_, Option<String>>("decision")?.zip(row.get("decided_at")?),
    }
}

impl Sent<'_> {
    /// Returns the messages of a stream that no turn was shown and that their person has seen or is
    /// about to see, oldest first. One that quiet hours may hold back counts once its sending
    /// began.
    pub fn unshown(&self, stream: StreamId) -> anyhow::Result<Vec<SentRow>> {
        self.db.rows(
            "WHERE m.stream_id = ?1 AND m.kind = 'sent' AND m.shown_to IS NULL
             AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.message_id = m.id AND (o.state = 'failed'
                 OR o.state = 'pending' AND o.urgency IN ('silent', 'kept')
                     AND NOT EXISTS (SELECT 1 FROM parts p WHERE p.outbox_id = o.id AND p.state <> 'waiting')))
             ORDER BY m.id",
            [stream],
        )
    }

    /// Returns the messages that a turn was shown, oldest first.
    pub fn shown_to(&self, turn: TurnId) -> anyhow::Result<Vec<SentRow>> {
        self.db.rows("WHERE m.shown_to = ?1 ORDER BY m.id", [turn])
    }

    /// Returns the newest messages of a stream with a cause of that kind, newest first.
    pub fn newest_of(&self, stream: StreamId, kind: CauseKind, limit: u32) -> anyhow::Result<Vec<SentRow>> {
        let values = params![stream, kind, limit];
        self.db.rows("WHERE m.stream_id = ?1 AND m.kind = 'sent' AND m.cause = ?2 ORDER BY m.id DESC LIMIT ?3", values)
    }

    /// Returns a message that was not asked for.
    pub fn sent(&self, message: MessageId) -> anyhow::Result<Option<SentRow>> {
        self.db.row("WHERE m.id = ?1 AND m.kind = 'sent'", [message])
    }
}

impl SentMut<'_> {
    /// Stores what goes to that address. `None` if it is not a person's, or if the person has never
    /// written.
    pub fn record(
        &self,
        address: AddressId,
        cause: Cause,
        text: &Text,
        at: Timestamp,
    ) -> anyhow::Result<Option<MessageId>> {
        let person: Option<PersonId> =
            self.db.first("SELECT person_id FROM addresses WHERE id = ?1", [address])?.flatten();
        let Some(person) = person else { return Ok(None) };
        let Some(stream) = self.db.conversations().stream_of(person)? else { return Ok(None) };
        let (words, label, _) = text.open();
        let scope = Scope::Person(person);
        let message = insert!(self.db, "messages" {
            stream_id: stream, address_id: address, kind: MessageKind::Sent, scope, received_at: at,
            effective_at: at, state: MessageState::Done, cause: cause.kind, cause_id: cause.number,
        })?;
        let text = Labelled::new(words.clone(), label.clone(), scope);
        self.tx().messages().add_text(message, TextKind::Said, &text)?;
        Ok(Some(message))
    }

    /// Stores that a person decided about such a message, for the next turn to know it, unless that
    /// turn is shown the message itself. Each row tells the decision.
    pub fn record_decision(&self, address: AddressId, cause: Cause, scope: Scope, at: Timestamp) -> anyhow::Result<()> {
        let is_unshown: bool = self.db.one(
            "SELECT EXISTS (SELECT 1 FROM messages m JOIN streams s ON s.id = m.stream_id
                 JOIN addresses a ON a.person_id = s.person_id
                 WHERE a.id = ?1 AND m.kind = 'sent' AND m.shown_to IS NULL AND m.cause = ?2 AND m.cause_id = ?3)",
            params![address, cause.kind, cause.number],
        )?;
        if is_unshown {
            return Ok(());
        }
        self.record(address, cause, &wording::own(prompt::DECIDED, scope), at).map(drop)
    }

    /// Records that a turn was shown or told of these messages, which become part of its
    /// conversation.
    pub fn show(&self, turn: TurnId, conversation: ConversationId, messages: &[MessageId]) -> anyhow::Result<()> {
        messages.iter().try_for_each(|message| {
            self.db.run(
                "UPDATE messages SET shown_to = ?2, conversation_id = ?3 WHERE id = ?1 AND kind = 'sent'",
                params![message, turn, conversation],
            )
        })
    }
}
