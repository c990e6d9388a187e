//! Opens a journal: validation, migration by the lock holder, and connections.
//!
//! The write-ahead log is merged as far as readers allow, and truncated when all is merged. SQLite
//! merges the log every thousand pages, which costs the writer a few milliseconds. It falls
//! behind only during a long read such as a backup. So most of the work is done here on a separate
//! connection that blocks nothing. The writer only truncates a merged log, and waits for no reader.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;

use super::error::{OpenError, is_journal_full};
use super::migrations::{MIGRATIONS, Migration, Version, migrate, newest_of};
use super::writer::{Failpoint, JournalWriter};
use super::{BUSY_MS, Db, Tx};
use crate::time::task::lock;

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
    /// Number of read transactions so far.
    transactions: AtomicU64,
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
        Self::open_with(path, failpoint, MIGRATIONS)
    }

    fn open_with(path: &Path, failpoint: Option<Failpoint>, migrations: &[Migration]) -> Result<Self, OpenError> {
        let connection = open_file(path).map_err(|error| classify(path, error))?;
        if is_behind(path, &connection, migrations)? {
            super::copy::copy_before_migration(path, newest_of(migrations))?;
        }
        Self::begin(path, connection, failpoint, migrations)
    }

    /// Opens and migrates the journal of an unpacked backup. Makes no copy: the backup is one.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open_restored(path: &Path) -> Result<Self, OpenError> {
        let connection = open_file(path).map_err(|error| classify(path, error))?;
        is_behind(path, &connection, MIGRATIONS)?;
        Self::begin(path, connection, None, MIGRATIONS)
    }

    fn begin(
        path: &Path,
        mut connection: Connection,
        failpoint: Option<Failpoint>,
        migrations: &[Migration],
    ) -> Result<Self, OpenError> {
        prepare_for_writing(path, &connection).map_err(|error| classify(path, error))?;
        migrate(&mut connection, migrations).map_err(|error| classify_chain(path, error))?;
        catch_up(&mut connection)?;
        let readers = (0..READERS)
            .map(|_| connect_for_reading(path))
            .collect::<rusqlite::Result<Vec<_>>>()
            .map_err(|error| classify(path, error))?;
        Ok(Self {
            writer: JournalWriter::start(connection, failpoint).context("Cannot start the journal's writer")?,
            readers: Arc::new(Readers {
                idle: Mutex::new(readers),
                permits: Semaphore::new(READERS),
                transactions: AtomicU64::new(0),
            }),
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

    /// Returns the number of read transactions since the journal was opened.
    pub fn read_transactions(&self) -> u64 {
        self.readers.transactions.load(Ordering::Relaxed)
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
        self.readers.transactions.fetch_add(1, Ordering::Relaxed);
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
    migrate(&mut connection, MIGRATIONS)?;
    Ok(connection)
}

/// Fills derived tables that are newer than their source rows.
fn catch_up(connection: &mut Connection) -> anyhow::Result<()> {
    let transaction = connection.transaction()?;
    Tx::on(&transaction).fingerprints().catch_up_fingerprints()?;
    Tx::on(&transaction).message_search().catch_up_index()?;
    Tx::on(&transaction).entries().catch_up_entries()?;
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

fn open_file(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_millis(BUSY_MS.into()))?;
    Ok(connection)
}

fn prepare_for_writing(path: &Path, connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // FULL: an acknowledged message survives a power cut. It costs one more fsync a commit, well
    // under a millisecond.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "secure_delete", true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // Truncates a log that has grown once it is merged.
    connection.pragma_update(None, "journal_size_limit", LOG_LIMIT)?;
    keep_plans(connection)?;
    connection.set_prepared_statement_cache_capacity(128);
    restrict_mode(path);
    Ok(())
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

/// Returns true if an existing journal has to be adopted or migrated.
///
/// # Errors
/// If it is too old or too new.
fn is_behind(path: &Path, connection: &Connection, migrations: &[Migration]) -> Result<bool, OpenError> {
    let (db, known) = (Db::on(connection), newest_of(migrations));
    let version = Version::read(db).map_err(|error| classify_chain(path, error))?;
    let found = version.number();
    if version.is_too_old(db).map_err(|error| classify_chain(path, error))? {
        return Err(OpenError::TooOld { path: path.to_owned(), found });
    }
    if found > known {
        let program = db.settings().fact(PROGRAM)?;
        return Err(OpenError::Newer { path: path.to_owned(), program, found, known });
    }
    Ok(![Version::New, Version::At(known)].contains(&version))
}

fn classify_chain(path: &Path, error: anyhow::Error) -> OpenError {
    let cause = error.downcast_ref::<rusqlite::Error>();
    if cause.is_some_and(is_journal_full) {
        return OpenError::Full { path: path.to_owned() };
    }
    let known = cause.and_then(rusqlite::Error::sqlite_error_code).and_then(|code| classify_code(path, code));
    known.unwrap_or_else(|| OpenError::Other(error.context("Cannot bring the journal up to date")))
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

    /// The migrations, and two made-up successors of the newest one.
    fn with_successors(last: &'static str) -> Vec<Migration> {
        let newest = newest_of(MIGRATIONS);
        let first = "CREATE TABLE first (a); INSERT INTO first VALUES ('kept')";
        let of = |after: u32, name: &'static str, sql: &'static str| Migration { number: newest + after, name, sql };
        [MIGRATIONS, &[of(1, "first", first), of(2, "last", last)]].concat()
    }

    fn version(path: &Path) -> u32 {
        Version::read(Db::on(&Connection::open(path).unwrap())).unwrap().number()
    }

    fn tables(path: &Path) -> u32 {
        let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table'";
        Connection::open(path).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// Promise (operation/upgrade-cut-off): A first start or an upgrade that is cut off is made
    /// again in full by the next start.
    #[test]
    fn migrations_are_applied_together_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        // The last one fails, those before it do not.
        let broken = with_successors("CREATE TABLE last (a); INSERT INTO nowhere VALUES (1)");
        let error = Journal::open_with(&path, None, &broken).unwrap_err();
        assert!(format!("{error:#}").contains("Cannot bring the journal up to date"), "{error:#}");
        assert_eq!((version(&path), tables(&path)), (0, 0));
        drop(Journal::open(&path, None).unwrap());
        let before = tables(&path);
        assert!(Journal::open_with(&path, None, &broken).is_err());
        assert_eq!((version(&path), tables(&path)), (newest_of(MIGRATIONS), before));
        let whole = with_successors("CREATE TABLE last AS SELECT a FROM first");
        drop(Journal::open_with(&path, None, &whole).unwrap());
        assert_eq!((version(&path), tables(&path)), (newest_of(&whole), before + 2));
        drop(Journal::open_with(&path, None, &whole).unwrap());
    }

    /// Proves: operation/copy-before-update
    #[test]
    fn a_journal_is_copied_before_its_migration_and_not_again() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("journal.db");
        let migrations = with_successors("CREATE TABLE last (a)");
        let copies = || std::fs::read_dir(home.path().join("backups")).into_iter().flatten().map(|e| e.unwrap().path());
        drop(Journal::open_or_copy(&path, None).unwrap());
        assert_eq!(copies().count(), 0, "a new journal is not copied");
        for _ in 0..2 {
            drop(Journal::open_with(&path, None, &migrations).unwrap());
            let made: Vec<PathBuf> = copies().collect();
            let prefix = format!("before-V{:04}-", newest_of(&migrations));
            assert!(made.len() == 1 && made[0].file_name().unwrap().to_str().unwrap().starts_with(&prefix), "{made:?}");
            assert_eq!((version(&made[0]), version(&path)), (newest_of(MIGRATIONS), newest_of(&migrations)));
        }
        let refused = Journal::open(&path, None).unwrap_err();
        assert!(matches!(refused, OpenError::Newer { program: Some(_), .. }), "{refused}");
    }

    #[test]
    fn a_statement_is_planned_once_whatever_its_values_are() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open_or_copy(&folder.path().join("journal.db"), None).unwrap();
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
