//! Row ids as types, so that a message id can never be handed over where a turn id is meant.
//!
//! Every id is the `AUTOINCREMENT` key of one journal table: positive, never used again after its
//! row is gone.

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::from(self.0))
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                i64::column_result(value).map(Self)
            }
        }
    )*};
}

ids! {
    /// A person who is, or was, allowed in.
    PersonId;
    /// One place where somebody is reached: adapter + account + peer.
    AddressId;
    /// The one ongoing exchange with a person.
    StreamId;
    /// A run of a stream's messages without a silence longer than the gap.
    ConversationId;
    /// A stored message, in or out.
    MessageId;
    /// One run of the model that answers one or more messages.
    TurnId;
    /// A model call or a tool call within a turn.
    StepId;
    /// A raw item as an adapter handed it over.
    InboxId;
    /// One thing to be delivered to one address.
    OutboxId;
    /// One piece of an outbox row, as it goes over the wire.
    PartId;
    /// The written end of a conversation.
    SummaryId;
    /// A file that came with a message.
    AttachmentId;
    /// A reservation or record of spending.
    SpendId;
    /// An immutable staged change to a skill.
    ProposalId;
    /// One content that a skill had, or was to have.
    VersionId;
    /// One change of the skills folder.
    ChangeId;
    /// A question put to a person before something is sent out.
    QuestionId;
    /// One occurrence of a scheduled job.
    SlotId;
    /// What the assistant thinks of a day, a week or a month.
    ReflectionId;
    /// Something that a reflection proposes.
    ActionId;
    /// A reminder, or a task that comes back.
    ReminderId;
    /// A version of a file that we wrote, or found changed by hand.
    FileId;
    /// One taking down of facts from a stretch of a conversation.
    ExtractionId;
    /// One replacing of the older part of a conversation by its summary.
    CompactionId;
    /// A text from outside that a person is asked about keeping.
    KeepId;
    /// One unit of knowledge in the index; not stable, its key is.
    EntryId;
    /// Something that a person wants forgotten.
    ForgettingId;
}
