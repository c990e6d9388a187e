//! The journal: everything that happened, in one SQLite file, and the only door to it.
//!
//! One thread owns the one connection that writes; it takes jobs from a bounded queue, each in an immediate transaction of its
//! own that is on the disk (`synchronous = FULL`) before the caller learns of it. Reads go to a few read-only connections.
//! The queries of each table family stand in one file, as methods of one handle: `db.outbox()` reads, `tx.outbox()` reads and
//! writes, so a caller composes several of them in one transaction without seeing SQL.
//!
//! Rows that hold text have a label and a scope; there is no default for either. What this room does not do: decide anything.

mod absorb;
mod activity;
mod addresses;
mod attachments;
mod before;
mod compactions;
mod conversations;
mod copy;
mod declared;
mod derived;
mod embeddings;
mod enclosures;
mod entries;
mod extractions;
mod files;
mod fingerprints;
mod full;
pub mod fuse;
mod forget;
mod gone;
mod groups;
mod handles;
mod inbox;
mod keeps;
mod log;
mod messages;
mod meta;
mod open;
mod outbox;
mod set_aside;
mod outside;
mod pairing;
mod people;
mod proposals;
mod questions;
mod recall;
mod reactions;
mod reflections;
mod reminders;
mod restored;
mod revoke;
mod skills;
mod slots;
mod spending;
mod summaries;
mod timers;
mod turns;
mod upkeep;
mod workspace;
mod writer;

pub use activity::{ModelUse, SkillUse, ToolUse};
pub use attachments::Attachment;
pub use compactions::Compaction;
pub use conversations::{Conversation, NewConversation};
pub use copy::{DiskFull, amend_copy, copy_journal, examine_still};
pub use declared::KnownPerson;
pub use derived::Node;
pub use embeddings::{Lacking, Pool, Read, Vectored};
pub use enclosures::{EnclosedFile, Enclosure};
pub use entries::{EntryKind, EntryRow, Indexed, Lookup, Matching, NewEntry};
pub use extractions::{Category, Correction, Extraction, Fact, Layer, Taken};
pub use files::{FOUND, FileRow, NewFile, Unplaced, VERSIONS_KEPT};
pub use fingerprints::Pasted;
pub use forget::{Also, Counts, ForgettingRow, Forgotten, ForgottenWords, KeptWords, Left, NewForgetting};
pub use full::{Room, is_full};
pub use gone::{DELETED, FORGOT, Parting, UNCUT};
pub use handles::{Db, Tx};
pub use inbox::{Fate, InboxItem};
pub use keeps::{KEEP_WAITS, KeepRow, KeepState};
pub use messages::{MessageKind, NewMessage, StoredMessage, StoredText, TextKind};
pub use meta::examine;
pub use open::{Journal, OpenError, newest_version};
pub use outbox::{NewOutbox, NewPart, OutboxKind, OutboxRow, PartRow, PartState};
pub use outside::{OutsideToolRow, SeenTool};
pub use pairing::{Admitted, CodeFor, CodeUse, GoodCode, Issuer};
pub use people::FormerPerson;
pub use proposals::{NewDecision, NewProposal, PROPOSAL_WAITS, ProposalRow, VerdictRow};
pub use questions::{Covers, NewQuestion, QuestionRow, QuestionState};
pub use reactions::{Reaction, excerpt};
pub use recall::{Hit, Looked, Matches};
pub use reflections::{ActionRow, ActionState, NewAction, NewReflection, ReflectionRow};
pub use reminders::{NewReminder, ReminderKind, ReminderRow, ReminderState};
pub use restored::{Parked, PersonRecord, PresentPeople, RESTORED_AT, Readmission, RestoredPerson};
pub use set_aside::SetAside;
pub use skills::{ChangeRow, NewVersion, SeenSkill, SkillFile, SkillRow, VersionRow};
pub use slots::{NewSlot, SlotRow, SlotState};
pub use spending::{Reservation, SpendLine, Spent};
pub use summaries::{Summary, SummaryContent, View};
pub use turns::{NewStep, NewTurn, StepRow, TurnRow};
pub use upkeep::{Astray, OldFile};
pub use workspace::{Folder, FolderMove, MoveKind, MoveState, NotBegun, WrittenFor};
pub use writer::{CommitPoint, Failpoint};
