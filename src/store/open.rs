//! Opens a journal: validation, migration by the lock holder, and connections.
//!
//! The write-ahead log is merged as far as readers allow, and truncated when all is merged. SQLite
//! merges the log every thousand pages, which costs the writer a few milliseconds. It falls
//! behind only during a long read such as a backup. So most of the work is done here on a separate
//! connection that blocks nothing. The writer only truncates a merged log, and waits for no reader.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;

use super::error::{OpenError, is_journal_full};
use super::writer::{Failpoint, JournalWriter};
use super::{BUSY_MS, Db, Tx};
use crate::time::task::lock;

mod embedded {
    #![allow(
        missing_docs,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        reason = "the macro writes this module"
    )]
    refinery::embed_migrations!("migrations");
}

/// Number of concurrent readers.
const READERS: usize = 3;

/// Maximum length of a merged log, in bytes.
const LOG_LIMIT: i64 = 16 << 20;

/// The journal. Clones share the same connections.
#[derive(Debug, Clone)]
pub struct Journal {
    writer: JournalWriter,
    readers: Arc<Readers>,
    path: PathBuf,
}

#[derive(Debug)]
struct Readers {
    idle: Mutex<Vec<Connection>>,
    permits: Semaphore,
}

impl Journal {
    /// Watches whether there is space to write.
    pub fn disk_space(&self) -> tokio::sync::watch::Receiver<super::DiskSpace> {
        self.writer.disk_space()
    }

    /// Opens the journal for writing and migrates it. Only the holder of the home's lock may call
    /// this.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(path: &Path, failpoint: Option<Failpoint>) -> Result<Self, OpenError> {
        let connection = connect_for_writing(path).map_err(|error| classify(path, error))?;
        if let Some(known) = is_behind(path, &connection)? {
            super::copy::copy_before_migration(path, known)?;
        }
        Self::begin(path, connection, failpoint)
    }

    /// Opens and migrates the journal of an unpacked backup. Makes no copy: the backup is one.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open_restored(path: &Path) -> Result<Self, OpenError> {
        let connection = connect_for_writing(path).map_err(|error| classify(path, error))?;
        is_behind(path, &connection)?;
        Self::begin(path, connection, None)
    }

    fn begin(path: &Path, mut connection: Connection, failpoint: Option<Failpoint>) -> Result<Self, OpenError> {
        // All in one transaction, each with its record: cut off anywhere, the next start applies
        // them.
        embedded::migrations::runner().set_grouped(true).run(&mut connection).map_err(|error| {
            let source = std::error::Error::source(&error).and_then(|s| s.downcast_ref::<rusqlite::Error>());
            match source.and_then(rusqlite::Error::sqlite_error_code) {
                Some(code) => classify_code(path, code).unwrap_or_else(|| OpenError::Other(anyhow::Error::new(error))),
                None => OpenError::Other(anyhow::Error::new(error).context("Cannot bring the journal up to date")),
            }
        })?;
        catch_up(&mut connection)?;
        let readers = (0..READERS)
            .map(|_| connect_for_reading(path))
            .collect::<rusqlite::Result<Vec<_>>>()
            .map_err(|error| classify(path, error))?;
        Ok(Self {
            writer: JournalWriter::start(connection, failpoint).context("Cannot start the journal's writer")?,
            readers: Arc::new(Readers { idle: Mutex::new(readers), permits: Semaphore::new(READERS) }),
            path: path.to_owned(),
        })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `job` in one transaction. On success the transaction is on disk; otherwise nothing is
    /// written.
    ///
    /// # Errors
    /// Errors of `job`, or a failed commit.
    pub async fn write<T, F>(&self, name: &'static str, job: F) -> anyhow::Result<T>
    where
        T: Send + 'static,
        F: FnOnce(Tx<'_>) -> anyhow::Result<T> + Send + 'static,
    {
        self.writer.run(name, job).await
    }

    /// Runs `job` on a read-only connection in the caller's thread. For jobs that read a few rows
    /// by key, where a thread switch would cost more than the job.
    ///
    /// # Errors
    /// Errors of `job`.
    pub async fn read<T, F>(&self, job: F) -> anyhow::Result<T>
    where
        F: FnOnce(Db<'_>) -> anyhow::Result<T>,
    {
        let _permit = self.readers.permits.acquire().await.context("The journal is closed")?;
        self.readers.borrow()?.read_snapshot(job)
    }

    /// Runs `job` on a read-only connection in a separate thread. For jobs that may read many rows.
    ///
    /// # Errors
    /// Errors of `job`.
    pub async fn read_much<T, F>(&self, job: F) -> anyhow::Result<T>
    where
        T: Send + 'static,
        F: FnOnce(Db<'_>) -> anyhow::Result<T> + Send + 'static,
    {
        let readers = Arc::clone(&self.readers);
        let _permit = self.readers.permits.acquire().await.context("The journal is closed")?;
        let reading = tokio::task::spawn_blocking(move || readers.borrow()?.read_snapshot(job));
        reading.await.context("A read was abandoned")?
    }

    /// Runs `job` at once on a read-only connection, from synchronous code.
    ///
    /// # Errors
    /// Errors of `job`.
    pub fn read_now<T>(&self, job: impl FnOnce(Db<'_>) -> anyhow::Result<T>) -> anyhow::Result<T> {
        let connection = connect_for_reading(&self.path)?;
        job(Db::on(&connection))
    }

    /// Waits for all queued writes and stops the writer.
    pub async fn close(&self) {
        self.writer.close().await;
    }
}

impl Readers {
    fn borrow(&self) -> anyhow::Result<Borrowed<'_>> {
        let connection = lock(&self.idle).pop();
        anyhow::ensure!(connection.is_some(), "No reader is free");
        Ok(Borrowed { readers: self, connection })
    }
}

/// A borrowed reader. It is returned even if the job panics.
struct Borrowed<'a> {
    readers: &'a Readers,
    connection: Option<Connection>,
}

impl Borrowed<'_> {
    /// Runs a job in one read transaction, so that all its queries see the same state.
    fn read_snapshot<T>(&self, job: impl FnOnce(Db<'_>) -> anyhow::Result<T>) -> anyhow::Result<T> {
        let connection = self.connection.as_ref().context("The reader is gone")?;
        let moment = connection.unchecked_transaction()?;
        job(Db::on(&moment))
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        let connection = self.connection.take();
        lock(&self.readers.idle).extend(connection);
    }
}

/// Creates an empty journal in memory, for comparison.
pub(super) fn empty() -> anyhow::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    embedded::migrations::runner().run(&mut connection)?;
    Ok(connection)
}

/// Fills derived tables that are newer than their source rows.
fn catch_up(connection: &mut Connection) -> anyhow::Result<()> {
    let transaction = connection.transaction()?;
    Tx::on(&transaction).fingerprints().catch_up_fingerprints()?;
    Tx::on(&transaction).message_search().catch_up_index()?;
    Tx::on(&transaction).entries().catch_up_entries()?;
    Tx::on(&transaction).conversations().catch_up_labels()?;
    record_program(Tx::on(&transaction))?;
    Ok(transaction.commit()?)
}

/// Key of the version of the program that used the journal last.
const PROGRAM: &str = "program_version";

/// Records the version of this program, for an older one that cannot open the journal.
fn record_program(tx: Tx<'_>) -> anyhow::Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    match tx.settings().fact(PROGRAM)? {
        Some(recorded) if recorded == version => Ok(()),
        _ => tx.settings().set_fact(PROGRAM, version),
    }
}

fn connect_for_writing(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_millis(BUSY_MS.into()))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // FULL: an acknowledged message survives a power cut. It costs one more fsync a commit, well
    // under a millisecond.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "secure_delete", true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // Truncates a log that has grown once it is merged.
    connection.pragma_update(None, "journal_size_limit", LOG_LIMIT)?;
    keep_plans(&connection)?;
    connection.set_prepared_statement_cache_capacity(128);
    restrict_mode(path);
    Ok(connection)
}

fn connect_for_reading(path: &Path) -> rusqlite::Result<Connection> {
    let connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(Duration::from_millis(BUSY_MS.into()))?;
    connection.pragma_update(None, "query_only", true)?;
    keep_plans(&connection)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Plans each statement once, without regard to the values of its parameters. SQLite would compare
/// these with the conditions of partial indexes, and plan again whenever one of them changes.
/// Source: <https://sqlite.org/c3ref/c_dbconfig_defensive.html>, `SQLITE_DBCONFIG_ENABLE_QPSG`.
fn keep_plans(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}

/// The journal is private: no other user of the computer may read it.
fn restrict_mode(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    for suffix in ["", "-wal", "-shm"] {
        // A file system without modes is the operator's choice; doctor reports it.
        let _ = std::fs::set_permissions(with_suffix(path, suffix), std::fs::Permissions::from_mode(0o600));
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Returns the newest known version if the journal is older. A new journal counts as current.
fn is_behind(path: &Path, connection: &Connection) -> Result<Option<u32>, OpenError> {
    let known = newest_version();
    let found: u32 = connection
        .query_row("SELECT coalesce(max(version), 0) FROM refinery_schema_history", [], |row| row.get(0))
        .or_else(|error| match error {
            rusqlite::Error::SqliteFailure(failure, _) if failure.code == rusqlite::ErrorCode::Unknown => Ok(0),
            other => Err(classify(path, other)),
        })?;
    match found {
        found if found > known => {
            let program = Db::on(connection).settings().fact(PROGRAM)?;
            Err(OpenError::Newer { path: path.to_owned(), program, found, known })
        }
        0 => Ok(None),
        found => Ok((found < known).then_some(known)),
    }
}

/// Returns the newest journal version that this program knows.
pub fn newest_version() -> u32 {
    embedded::migrations::runner().get_migrations().iter().map(|m| version_of(m.version())).max().unwrap_or(0)
}

fn version_of(version: impl TryInto<u32>) -> u32 {
    version.try_into().unwrap_or(0)
}

fn classify(path: &Path, error: rusqlite::Error) -> OpenError {
    if is_journal_full(&error) {
        return OpenError::Full { path: path.to_owned() };
    }
    error.sqlite_error_code().and_then(|code| classify_code(path, code)).unwrap_or_else(|| {
        OpenError::Other(anyhow::Error::new(error).context(format!("Cannot open {}", path.display())))
    })
}

fn classify_code(path: &Path, code: rusqlite::ErrorCode) -> Option<OpenError> {
    let path = path.to_owned();
    match code {
        rusqlite::ErrorCode::NotADatabase | rusqlite::ErrorCode::DatabaseCorrupt => Some(OpenError::Damaged { path }),
        rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked => Some(OpenError::Locked { path }),
        rusqlite::ErrorCode::CannotOpen | rusqlite::ErrorCode::ReadOnly | rusqlite::ErrorCode::PermissionDenied => {
            Some(OpenError::ReadOnly { path })
        }
        rusqlite::ErrorCode::DiskFull => Some(OpenError::Full { path }),
        _ => None,
    }
}

impl Journal {
    /// Returns the length of the log in bytes.
    pub fn log_size(&self) -> u64 {
        std::fs::metadata(with_suffix(&self.path, "-wal")).map_or(0, |found| found.len())
    }

    /// Merges and truncates the log. Returns false if a reader is in the way; then the next run has
    /// less to do.
    pub async fn truncate_log(&self) -> anyhow::Result<bool> {
        let path = self.path().to_owned();
        tokio::task::spawn_blocking(move || merge(&path)).await.context("Merging the log was abandoned")??;
        self.writer.between("cut the log", cut).await
    }
}

fn merge(path: &Path) -> anyhow::Result<()> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_millis(BUSY_MS.into()))?;
    Ok(connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?)
}

fn cut(connection: &Connection) -> anyhow::Result<bool> {
    connection.busy_timeout(Duration::ZERO)?;
    let busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
    connection.busy_timeout(Duration::from_millis(BUSY_MS.into()))?;
    Ok(busy? == 0)
}

#[cfg(test)]
mod tests {
    use rusqlite::{StatementStatus, params};

    use super::*;

    #[test]
    fn a_disk_that_is_full_while_opening_is_called_full() {
        for code in [rusqlite::ffi::SQLITE_FULL, rusqlite::ffi::SQLITE_IOERR_SHMSIZE] {
            let error = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
            assert!(matches!(classify(Path::new("journal"), error), OpenError::Full { .. }), "{code}");
        }
    }

    /// Promise (operation/upgrade-cut-off): A first start or an upgrade that is cut off is made
    /// again in full by the next start.
    #[test]
    fn migrations_are_applied_together_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        // A late migration fails, those before it do not.
        let db = Connection::open(&path).unwrap();
        db.execute_batch("CREATE VIEW health_changes AS SELECT 1").unwrap();
        assert!(Journal::open(&path, None).is_err());
        let left = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'refinery%'";
        assert_eq!(db.query_row(left, [], |row| row.get::<_, u32>(0)).unwrap(), 0);
        assert_eq!(is_behind(&path, &db).unwrap(), None);
        db.execute_batch("DROP VIEW health_changes").unwrap();
        assert!(Journal::open(&path, None).is_ok());
    }

    #[test]
    fn a_statement_is_planned_once_whatever_its_values_are() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("journal.db"), None).unwrap();
        let planned_again = journal.read_now(|db| {
            let sql = "SELECT (SELECT max(id) FROM messages WHERE conversation_id = ?1 AND id < ?2),
                 (SELECT min(id) FROM messages WHERE conversation_id = ?1 AND id > ?2)";
            let mut statement = db.prepare_cached(sql)?;
            for id in 0..5 {
                statement.query_row(params![id, id], |_| Ok(()))?;
            }
            Ok(statement.get_status(StatementStatus::RePrepare))
        });
        assert_eq!(planned_again.unwrap(), 0);
    }
}
