//! One handle per table family: `db.turns()` reads, `tx.turns()` writes as well.
//!
//! [`Db`] and [`Tx`] have no queries of their own. Each family's file implements its handle's
//! methods, and reaches other families through `self.db` or `self.tx()`. All SQL passes through
//! [`Db::prepare_cached`], where tests can make a scope check permissive.
//!
//! [`Db::one`], [`Db::first`] and [`Db::all`] read any type that the caller expects: a value, a
//! tuple, or a struct with a `from_row!` declaration. [`Db::row`] and [`Db::rows`] read structs
//! that are declared with their table, and take only the rest of the query.

use std::ops::Deref;

use rusqlite::{CachedStatement, OptionalExtension, Params, Row};

use super::rows::{FromRow, Selected};
use crate::trust::mutation;

/// A read-only connection. Every method of a handle fails if the database or the disk fails; a
/// method documents only other errors.
#[derive(Debug, Clone, Copy)]
pub struct Db<'a>(&'a rusqlite::Connection);

/// A write transaction, which also reads its own changes.
#[derive(Debug, Clone, Copy)]
pub struct Tx<'a>(Db<'a>);

impl<'a> Db<'a> {
    pub(super) fn on(connection: &'a rusqlite::Connection) -> Self {
        Self(connection)
    }

    #[cfg(test)]
    pub(super) fn prepare(self, sql: &str) -> rusqlite::Result<rusqlite::Statement<'a>> {
        self.0.prepare(&mutation::statement(sql))
    }

    pub(super) fn prepare_cached(self, sql: &str) -> rusqlite::Result<CachedStatement<'a>> {
        self.0.prepare_cached(&mutation::statement(sql))
    }

    #[cfg(test)]
    pub(super) fn query_row<T>(
        self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        self.0.query_row(sql, values, read)
    }

    /// Returns the only row of a query that always has one.
    pub(super) fn one<K, T: FromRow<K>>(self, sql: &str, values: impl Params) -> anyhow::Result<T> {
        let mut query = self.prepare_cached(sql)?;
        let found = query.query_row(values, T::from_row);
        effort::count(&query);
        Ok(found?)
    }

    /// Returns the first row, if there is one.
    pub(super) fn first<K, T: FromRow<K>>(self, sql: &str, values: impl Params) -> anyhow::Result<Option<T>> {
        let mut query = self.prepare_cached(sql)?;
        let found = query.query_row(values, T::from_row).optional();
        effort::count(&query);
        Ok(found?)
    }

    /// Returns all rows.
    pub(super) fn all<K, T: FromRow<K>>(self, sql: &str, values: impl Params) -> anyhow::Result<Vec<T>> {
        let mut query = self.prepare_cached(sql)?;
        let found = query.query_map(values, T::from_row)?.collect::<Result<_, _>>();
        effort::count(&query);
        Ok(found?)
    }

    /// Returns the first struct of a table, if there is one. `rest` is the query after the table.
    pub(super) fn row<T: Selected>(self, rest: &str, values: impl Params) -> anyhow::Result<Option<T>> {
        self.first(&format!("{} {rest}", T::SELECT), values)
    }

    /// Returns all structs of a table. `rest` is the query after the table.
    pub(super) fn rows<T: Selected>(self, rest: &str, values: impl Params) -> anyhow::Result<Vec<T>> {
        self.all(&format!("{} {rest}", T::SELECT), values)
    }

    /// Passes each row to `see`, without holding all of them in memory.
    pub(super) fn each(
        self,
        sql: &str,
        values: impl Params,
        mut see: impl FnMut(&Row<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut query = self.prepare_cached(sql)?;
        let mut rows = query.query(values)?;
        while let Some(row) = rows.next()? {
            see(row)?;
        }
        Ok(())
    }

    /// Returns the only number of a query.
    pub(super) fn count(self, sql: &str, values: impl Params) -> anyhow::Result<usize> {
        let count: i64 = self.one(sql, values)?;
        Ok(usize::try_from(count)?)
    }

    /// Returns true if there is a row.
    pub(super) fn exists(self, sql: &str, values: impl Params) -> anyhow::Result<bool> {
        let mut query = self.prepare_cached(sql)?;
        let found = query.exists(values);
        effort::count(&query);
        Ok(found?)
    }

    /// Runs a statement.
    pub(super) fn run(self, sql: &str, values: impl Params) -> anyhow::Result<()> {
        self.execute(sql, values).map(drop)
    }

    /// Runs a statement and returns the number of rows that it changed.
    pub(super) fn execute(self, sql: &str, values: impl Params) -> anyhow::Result<usize> {
        Ok(self.prepare_cached(sql)?.execute(values)?)
    }

    /// Runs a statement and returns true if it changed one row.
    pub(super) fn changed(self, sql: &str, values: impl Params) -> anyhow::Result<bool> {
        Ok(self.execute(sql, values)? == 1)
    }

    /// Inserts a row and returns its id.
    pub(super) fn insert<T: From<i64>>(self, sql: &str, values: impl Params) -> anyhow::Result<T> {
        self.run(sql, values)?;
        Ok(self.last_insert_rowid().into())
    }

    pub(super) fn execute_batch(self, sql: &str) -> rusqlite::Result<()> {
        self.0.execute_batch(sql)
    }

    pub(super) fn last_insert_rowid(self) -> i64 {
        self.0.last_insert_rowid()
    }

    pub(super) fn total_changes(self) -> u64 {
        self.0.total_changes()
    }
}

/// Effort of queries, which tests compare. Only test builds count it.
pub(crate) mod effort {
    #[cfg(test)]
    thread_local! {
        static STEPS: std::cell::Cell<i64> = const { std::cell::Cell::new(0) };
    }

    /// Counts the steps of SQLite's machine that a query took.
    pub(super) fn count(_query: &rusqlite::Statement<'_>) {
        #[cfg(test)]
        STEPS.set(STEPS.get() + i64::from(_query.reset_status(rusqlite::StatementStatus::VmStep)));
    }

    /// Runs a job in this thread and returns its steps, with its result.
    #[cfg(test)]
    pub(crate) fn of<T>(job: impl FnOnce() -> T) -> (i64, T) {
        STEPS.set(0);
        let result = job();
        (STEPS.get(), result)
    }
}

impl<'a> Tx<'a> {
    pub(super) fn on(transaction: &'a rusqlite::Transaction<'_>) -> Self {
        Self(Db::on(transaction))
    }
}

impl<'a> Deref for Tx<'a> {
    type Target = Db<'a>;

    fn deref(&self) -> &Db<'a> {
        &self.0
    }
}

/// Declares the handles of each table family, and the methods of [`Db`] and [`Tx`] that return
/// them.
macro_rules! handles {
    ($($doc:literal $family:ident: $read:ident $(, $write:ident)?;)*) => {
        $(
            #[doc = $doc]
            #[derive(Debug, Clone, Copy)]
            pub struct $read<'a> {
                pub(super) db: Db<'a>,
            }

            impl<'a> Db<'a> {
                #[doc = $doc]
                pub fn $family(self) -> $read<'a> {
                    $read { db: self }
                }
            }

            $(
                #[doc = $doc]
                #[derive(Debug, Clone, Copy)]
                pub struct $write<'a>($read<'a>);

                impl<'a> $write<'a> {
                    #[allow(dead_code, reason = "not every family writes to others")]
                    pub(super) fn tx(self) -> Tx<'a> {
                        Tx(self.0.db)
                    }
                }

                impl<'a> Deref for $write<'a> {
                    type Target = $read<'a>;

                    fn deref(&self) -> &$read<'a> {
                        &self.0
                    }
                }

                impl<'a> Tx<'a> {
                    #[doc = $doc]
                    pub fn $family(self) -> $write<'a> {
                        $write(self.0.$family())
                    }
                }
            )?
        )*
    };
}

handles! {
    "Use of models, tools and skills over time, for reports."
    activity: Activity;
    "Addresses of people and groups on channels."
    addresses: Addresses, AddressesMut;
    "What a restored journal has to settle before it is used."
    after_restore: AfterRestore, AfterRestoreMut;
    "Files that came with messages."
    attachments: Attachments, AttachmentsMut;
    "Compactions of a conversation that is still open."
    compactions: Compactions, CompactionsMut;
    "Conversations, open and closed."
    conversations: Conversations, ConversationsMut;
    "Edges from a row to the rows that it was made of."
    derivations: Derivations, DerivationsMut;
    "Embedding vectors and what lacks one."
    embeddings: Embeddings, EmbeddingsMut;
    "The index of notes, facts and documents."
    entries: Entries, EntriesMut;
    "Erasures on request: what is to be deleted, and how far that is."
    erasure: Erasure, ErasureMut;
    "Facts that the extractor took from conversations."
    extractions: Extractions, ExtractionsMut;
    "Versions of workspace files."
    file_versions: FileVersions, FileVersionsMut;
    "Fingerprints of pasted text."
    fingerprints: Fingerprints, FingerprintsMut;
    "What people allow for one conversation."
    grants: Grants, GrantsMut;
    "Groups and their admission."
    groups: Groups, GroupsMut;
    "Health of the parts of the program over time."
    health_changes: HealthChanges, HealthChangesMut;
    "Checks of HEARTBEAT.md, and its ticked items."
    heartbeats: Heartbeats, HeartbeatsMut;
    "Imported archives of other programs."
    imports: Imports, ImportsMut;
    "Updates that channels delivered."
    inbox: Inbox, InboxMut;
    "Requests to keep something that came from outside."
    keep_requests: KeepRequests, KeepRequestsMut;
    "Retention, checks and repairs."
    maintenance: Maintenance, MaintenanceMut;
    "Tools of MCP servers, as they were last seen."
    mcp_tools: McpTools, McpToolsMut;
    "Full-text search in messages."
    message_search: MessageSearch, MessageSearchMut;
    "Messages and their texts."
    messages: Messages, MessagesMut;
    "What is left to do or to decide."
    open_items: OpenItems, OpenItemsMut;
    "Messages to be delivered, and their parts."
    outbox: Outbox, OutboxMut;
    "Files that go out with a reply."
    outgoing_files: OutgoingFiles, OutgoingFilesMut;
    "Pairing codes and guesses at them."
    pairing: Pairing, PairingMut;
    "People, their roles and records."
    people: People, PeopleMut;
    "Proposed changes of skills, and verdicts on them."
    proposals: Proposals, ProposalsMut;
    "Questions that wait for a yes or a no."
    questions: Questions, QuestionsMut;
    "Emoji reactions to messages."
    reactions: Reactions, ReactionsMut;
    "Deletion of retracted messages."
    redaction: Redaction, RedactionMut;
    "Reflections and the actions that they propose."
    reflections: Reflections, ReflectionsMut;
    "Reminders and scheduled tasks."
    reminders: Reminders, RemindersMut;
    "Messages that a person got without asking."
    sent: Sent, SentMut;
    "Settings that the program keeps about itself."
    settings: Settings, SettingsMut;
    "Skills and their versions."
    skills: Skills, SkillsMut;
    "Slots of scheduled work."
    slots: Slots, SlotsMut;
    "Reservations and costs of model calls."
    spending: Spending, SpendingMut;
    "Summaries of closed conversations."
    summaries: Summaries, SummariesMut;
    "Timers of streams."
    timers: Timers, TimersMut;
    "Turns and their steps."
    turns: Turns, TurnsMut;
    "Browsers that are signed in, and their one-time codes."
    web_sessions: WebSessions, WebSessionsMut;
    "Folders of people in the workspace."
    folders: Folders, FoldersMut;
}
