//! Row ids as types: a message id cannot be passed where a turn id is expected.
//!
//! Every id is the `AUTOINCREMENT` key of one journal table: positive, and never reused after its
//! row is deleted.

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

        impl From<i64> for $name {
            fn from(id: i64) -> Self {
                Self(id)
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
    /// A person who has, or had, access.
    PersonId;
    /// A sender without access.
    StrangerId;
    /// One address of a person: adapter, account and peer.
    AddressId;
    /// The single ongoing exchange with a person.
    StreamId;
    /// A run of a stream's messages without a silence longer than the gap.
    ConversationId;
    /// A stored message, incoming or outgoing.
    MessageId;
    /// One model run that answers one or more messages.
    TurnId;
    /// A model call or a tool call within a turn.
    StepId;
    /// Permission of a person for one conversation.
    GrantId;
    /// A raw item as received from an adapter.
    InboxId;
    /// An archive of another program that was imported.
    ImportId;
    /// One delivery to one address.
    OutboxId;
    /// One part of an outbox row, as sent to the server.
    PartId;
    /// The summary of a finished conversation.
    SummaryId;
    /// A file received with a message.
    AttachmentId;
    /// A budget reservation or a record of spending.
    SpendId;
    /// An immutable staged change to a skill.
    ProposalId;
    /// One past, present or proposed content of a skill.
    VersionId;
    /// Place of a version among those of its skill, from 1: the number that people see and type.
    VersionNumber;
    /// One change to the skills folder.
    ChangeId;
    /// A question to a person before data is sent out.
    QuestionId;
    /// One occurrence of a scheduled job.
    SlotId;
    /// The assistant's reflection on a day, a week or a month.
    ReflectionId;
    /// An action proposed by a reflection.
    ActionId;
    /// A reminder or a recurring task.
    ReminderId;
    /// A row of `open_items`.
    OpenItemId;
    /// A version of a file, written by the program or found changed by hand.
    FileId;
    /// One extraction of facts from part of a conversation.
    ExtractionId;
    /// One replacement of a conversation's older part by its summary.
    CompactionId;
    /// An untrusted text that a person is asked about keeping.
    KeepId;
    /// One unit of knowledge in the index. The id is not stable; the entry's key is.
    EntryId;
    /// A browser that is signed in.
    WebSessionId;
    /// A request by a person to erase data.
    ErasureId;
}
