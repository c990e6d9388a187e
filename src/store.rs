//! The journal: the record of all events, in one SQLite file.
//!
//! All access to the file goes through this module. One thread owns the only writing connection. It
//! takes jobs from a bounded queue and runs each in its own immediate transaction, which is on disk
//! (`synchronous = FULL`) before the caller gets its result. Reads use a few read-only connections.
//! Each table family has one file whose queries are methods of one handle: `db.outbox()` reads,
//! `tx.outbox()` reads and writes. A caller combines several of them in one transaction without
//! seeing SQL.
//!
//! Rows that hold text have a label and a scope; neither has a default. This module makes no
//! decisions.

mod merge_people;
mod activity;
mod addresses;
mod attachments;
mod pre_migration_copy;
mod compactions;
mod conversations;
mod copy;
mod declared;
mod derivations;
mod embeddings;
mod outgoing_files;
mod entries;
mod extractions;
mod file_versions;
mod fingerprints;
mod disk_full;
mod erasure;
mod groups;
mod handles;
mod inbox;
mod keep_requests;
mod log;
mod messages;
mod settings;
mod open;
mod open_error;
mod outbox;
mod set_aside;
mod mcp_tools;
mod pairing;
mod people;
mod proposals;
mod questions;
mod message_search;
mod reactions;
mod reflections;
mod reminders;
mod rows;
mod after_restore;
mod revoke;
mod skills;
mod slots;
mod spending;
mod summaries;
mod timers;
mod turns;
mod maintenance;
mod folders;
mod writer;

pub use activity::{ModelUse, SkillUse, ToolUse};
pub use after_restore::{ParkedWork, PersonRecord, PresentPeople, RESTORED_AT, Readmission, RestoredPerson};
pub use attachments::{Attachment, AttachmentState};
pub use compactions::Compaction;
pub use conversations::{BoundaryReason, Conversation, ConversationKind, NewConversation, OpeningState};
pub use copy::{amend_copy, copy_journal, examine_still};
pub use declared::KnownPerson;
pub use derivations::Node;
pub use disk_full::{DiskFull, DiskSpace, is_full};
pub use embeddings::{Corpus, MissingVector, Read, Vectored};
pub use entries::{EntryKind, EntryRow, Indexed, Lookup, Matching, NewEntry, text_digest};
pub use erasure::{
    AfterRedaction, DELETED, ErasedWords, ErasureCounts, ErasureHead, ErasureKind, ErasurePlan, ErasureRow,
    ErasureState, FORGOT, NewErasure, OldContent, Paraphrases, RemainingMatches, UNCUT,
};
pub use extractions::{
    Category, Correction, ExtractedItems, Extraction, ExtractionCause, ExtractionState, Fact, Layer,
};
pub use file_versions::{FOUND, FileRow, NewFile, Unplaced, VERSIONS_KEPT};
pub use fingerprints::Pasted;
pub use folders::{FolderMove, FolderState, MoveKind, MoveRefusal, MoveState, WrittenFor};
pub use handles::{Db, Tx};
pub use inbox::{InboxItem, InboxOutcome};
pub use keep_requests::{KEEP_WAITS, KeepRow, KeepState};
pub use maintenance::{IndexMismatch, OldFile};
pub use mcp_tools::{OutsideToolRow, SeenTool};
pub use message_search::{MessageCandidate, MessageQuery, Neighbours, Speaker, Terms};
pub use messages::{MessageKind, MessageState, NewMessage, StoredMessage, StoredText, TextKind};
pub use open::{Journal, newest_version};
pub use open_error::OpenError;
pub use outbox::{NewOutbox, NewPart, OutboxKind, OutboxRow, PartRow, PartState};
pub use outgoing_files::{EnclosedFile, Enclosure};
pub use pairing::{Admitted, CodeFor, CodeUse, GoodCode, Issuer};
pub use people::FormerPerson;
pub use proposals::{
    NewDecision, NewProposal, OriginKind, PROPOSAL_WAITS, ProposalRow, ProposalState, ReviewStage, StageOutcome,
    VerdictRow,
};
pub use questions::{Covers, NewQuestion, QuestionRow, QuestionState};
pub use reactions::{Reaction, excerpt};
pub use reflections::{ActionKind, ActionRow, ActionState, NewAction, NewReflection, ReflectionRow};
pub use reminders::{NewReminder, ReminderKind, ReminderRow, ReminderState};
pub use set_aside::SetAside;
pub use settings::examine;
pub use skills::{ChangeRow, ChangeState, NewVersion, SeenSkill, SkillFile, SkillRow, SkillState, VersionRow};
pub use slots::{NewSlot, SlotRow, SlotState};
pub use spending::{Reservation, SpendLine, Spent};
pub use summaries::{Summary, SummaryContent, SummaryInputs, SummaryState};
pub use turns::{NewStep, NewTurn, StepKind, StepRow, TurnRow, TurnState};
pub use writer::{CommitPoint, Failpoint};

/// Wait for a lock held by another process, such as a manual `sqlite3`, in milliseconds.
const BUSY_MS: u32 = 5_000;
