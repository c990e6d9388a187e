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

mod activity; // use of tools, skills, models in a period
mod addresses; // addresses and groups
mod after_restore; // who keeps access after a restore; parked work
mod attachments; // received files, files of a reply, reactions
mod buttons; // buttons whose decision was made
mod conversations; // streams, conversations, openings
mod copy; // copies of the journal: backup, before a migration
mod derivations; // what a text was made from; fingerprints of untrusted text
mod embeddings; // vectors of texts
mod entries; // index of the workspace
mod erasure; // `/forget`: plans, blanked columns, deleted messages
mod error;
mod extractions; // jobs of the fact extractor
mod file_versions; // files of the workspace: versions, labels, open writes
mod folders; // folders of people and their moves
mod grants; // what a person allows for one conversation
mod handles; // one handle per table family
mod health; // health over time
mod heartbeats; // checks of HEARTBEAT.md and ticked items
mod imports; // archives of other programs
mod inbox; // raw items, each once; cursors
mod keep_requests; // "Keep this?": untrusted notes that wait for a yes
mod maintenance; // retention, settings of the journal, checks
mod merge_people; // two people become one
mod memory_switches; // other agents and profiles, on or off
mod message_search; // index of messages
mod messages; // messages and their texts
mod migrations; // the schema: baseline, migrations, version of a file
mod open;
mod open_items; // what is left to do or to decide
mod outbox; // deliveries and their parts; set aside ones
mod pairing; // pairing codes
mod people; // people, roles, revoked access
mod proposals; // proposed skill changes and verdicts
mod questions; // a yes before text leaves the program
mod reflections; // reflections and their actions
mod reminders; // reminders and tasks
mod rows; // rows as structs, words as enums
mod sent; // messages sent without being asked for
mod skills; // versions and states of skills, accepted MCP tools
mod slots; // occurrences of scheduled jobs
mod spending; // reserved and settled costs
mod strangers; // senders without access
mod summaries; // summaries; compactions of long conversations
#[cfg(test)]
mod template; // new journals for unit tests
mod turns; // turns and their steps
mod web_sessions; // browsers that are signed in
mod writer; // the thread that writes

pub use activity::{ModelUse, SkillUse, ToolUse};
pub use after_restore::{
    ACTIVATED_AT, ClosedWork, HOME_ID, PersonRecord, PresentPeople, RESTORED_AT, Readmission, RestoredPerson,
};
pub use attachments::{Attachment, AttachmentState, EnclosedFile, Enclosure, Reaction, excerpt};
pub use buttons::{Delivery, SentFile};
pub use conversations::{BoundaryReason, Conversation, ConversationKind, NewConversation, OpeningState};
pub use copy::{amend_copy, copy_journal, examine};
pub use derivations::{Node, Pasted};
pub use embeddings::{Corpus, MissingVector, Read, Vectored};
pub use entries::{EntryKind, EntryRow, Indexed, Lookup, Matching, NewEntry, agent_of, is_category, text_digest};
pub use erasure::{
    AfterRedaction, DELETED, ErasedWords, ErasureChoice, ErasureCounts, ErasureHead, ErasureItem, ErasureKind,
    ErasurePlan, ErasureRow, ErasureState, FORGOT, JournalMatches, NewErasure, OldContent, Paraphrases,
    RemainingMatches, UNCUT,
};
pub use error::{DiskFull, DiskSpace, OpenError, is_full, is_locked};
pub use extractions::{
    Category, Correction, ExtractedItems, Extraction, ExtractionCause, ExtractionState, Fact, KnownCorrection, Layer,
};
pub use file_versions::{FOUND, FileChange, FileRow, NewFile, Unplaced, VERSIONS_KEPT};
pub use folders::{FolderMove, FolderState, HandOverRefusal, MoveState, WrittenFor};
pub use grants::{GrantKind, GrantRow, GrantUse, NewGrant, vouched};
#[cfg(test)]
pub(crate) use handles::effort;
pub use handles::{Db, Tx};
pub use health::{HealthChange, HealthState};
pub use heartbeats::{HeartbeatRow, HeartbeatTick};
pub use imports::{ArchiveKind, ImportRow, ImportState, NewImport, NewImported};
pub use inbox::{InboxItem, InboxOutcome};
pub use keep_requests::{KEEP_WAITS, KeepRow, KeepState, NewKeep};
pub use maintenance::{IndexMismatch, OldFile};
pub use memory_switches::MemorySwitches;
pub use message_search::{MessageCandidate, MessageQuery, Neighbours, Speaker, Terms};
pub use messages::{MessageKind, MessageState, NewMessage, StoredMessage, StoredText, TextKind};
pub use migrations::{BASELINE, newest_version};
pub use open::Journal;
pub use open_items::{KEPT as OPEN_ITEM_KEPT, OpenItem, OpenItemChanges, OpenItemState};
pub use outbox::{NewOutbox, NewPart, OutboxKind, OutboxRow, PartRow, PartState, SetAside};
pub use pairing::{Admitted, CodeFor, CodeUse, Issuer, ValidCode};
pub use people::{FormerPerson, KnownPerson};
pub use proposals::{
    Clearance, DecisionRow, NewDecision, NewProposal, OriginKind, PROPOSAL_WAITS, ProposalRow, ProposalState,
    ReviewStage, StageOutcome, VerdictRow,
};
pub use questions::{CallPattern, Covers, NewQuestion, PATIENCE, QuestionRow, QuestionState};
pub use reflections::{ActionKind, ActionRow, ActionState, NewAction, NewReflection, ReflectionRow, Report};
pub use reminders::{CancelledReminder, NewReminder, ReminderChange, ReminderKind, ReminderRow, ReminderState};
pub use sent::{Cause, CauseKind, SentRow, Urgency};
pub use skills::{
    ChangeRow, ChangeState, NewVersion, OutsideToolRow, SeenSkill, SeenTool, SkillFile, SkillRow, SkillState,
    VersionRow,
};
pub use slots::{NewSlot, SlotRow, SlotState, SlotWish, UnansweredReason};
pub use spending::{ConversationCost, Reservation, SpendLine, Spent};
pub use strangers::Stranger;
pub use summaries::{Compaction, Summary, SummaryContent, SummaryInputs, SummaryState};
pub use turns::{NewStep, NewTurn, StepKind, StepRow, TurnRow, TurnState};
pub use web_sessions::{CodeOrigin, Theme, WebSession};
pub use writer::{CommitPoint, Failpoint};

/// Wait for a lock held by another process, such as a manual `sqlite3`, in milliseconds.
const BUSY_MS: u32 = 5_000;
