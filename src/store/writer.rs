//! The writer thread.
//!
//! Jobs wait in a bounded queue, so a slow disk slows down the senders instead of filling memory. A
//! job that fails or panics is rolled back and reported, and the next one runs. A [`Failpoint`] is
//! called before and after every commit: the power-cut tests copy the home there, because a process
//! that dies between two commits in effect dies at one of these points.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{mpsc, oneshot, watch};

use super::{DiskSpace, Tx};

/// Maximum number of queued jobs.
const QUEUE: usize = 256;

/// Side of a commit at which a failpoint is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitPoint {
    /// Prepared, nothing on disk.
    Before,
    /// On disk, not yet reported.
    After,
}

/// Callback on the writer's thread with the job's name, before and after every commit.
#[derive(Clone)]
pub struct Failpoint(pub Arc<dyn Fn(CommitPoint, &'static str) + Send + Sync>);

impl fmt::Debug for Failpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Failpoint")
    }
}

type Job = Box<dyn FnOnce(&mut Connection) + Send>;

#[derive(Debug, Clone)]
pub(super) struct JournalWriter {
    jobs: mpsc::Sender<Job>,
    failpoint: Option<Failpoint>,
    disk_space: Arc<watch::Sender<DiskSpace>>,
}

impl JournalWriter {
    pub(super) fn start(mut connection: Connection, failpoint: Option<Failpoint>) -> std::io::Result<Self> {
        let (jobs, mut queue) = mpsc::channel::<Job>(QUEUE);
        std::thread::Builder::new().name("journal".to_owned()).spawn(move || {
            while let Some(job) = queue.blocking_recv() {
                job(&mut connection);
            }
        })?;
        Ok(Self { jobs, failpoint, disk_space: Arc::default() })
    }

    pub(super) async fn run<T, F>(&self, name: &'static str, job: F) -> anyhow::Result<T>
    where
        T: Send + 'static,
        F: FnOnce(Tx<'_>) -> anyhow::Result<T> + Send + 'static,
    {
        let (failpoint, disk_space) = (self.failpoint.clone(), Arc::clone(&self.disk_space));
        let job = move |connection: &mut Connection| {
            let result = transact(connection, failpoint.as_ref(), name, job);
            disk_space.send_if_modified(|space| space.learn(&result));
            result
        };
        self.submit(job, || format!("Cannot store: {name}")).await
    }

    /// Runs a job that cannot be a transaction, between two that are.
    pub(super) async fn between<T, F>(&self, name: &'static str, job: F) -> anyhow::Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> anyhow::Result<T> + Send + 'static,
    {
        self.submit(move |connection| job(connection), || format!("Cannot do: {name}")).await
    }

    /// Queues a job and waits for its result. A panic in it becomes an error.
    async fn submit<T, F>(&self, job: F, context: impl FnOnce() -> String) -> anyhow::Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection) -> anyhow::Result<T> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            let result = catch_unwind(AssertUnwindSafe(|| job(connection)));
            // The caller may no longer be waiting; committed data stays committed.
            let _ = answer.send(result.unwrap_or_else(|_| Err(anyhow!("A journal job panicked"))));
        });
        self.jobs.send(job).await.map_err(|_| anyhow!("The journal is closed"))?;
        answered.await.context("The journal was closed meanwhile")?.with_context(context)
    }

    /// Watches whether there is space to write.
    pub(super) fn disk_space(&self) -> watch::Receiver<DiskSpace> {
        self.disk_space.subscribe()
    }

    pub(super) async fn close(&self) {
        let (answer, answered) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            // A checkpoint at the end keeps the WAL short; if it fails, the next start does it. It
            // waits a second at most: a replication program reads the log as long as it runs.
            let _ = connection
                .execute_batch("PRAGMA optimize; PRAGMA busy_timeout = 1000; PRAGMA wal_checkpoint(TRUNCATE);");
            let _ = answer.send(());
        });
        if self.jobs.send(job).await.is_ok() {
            let _ = answered.await;
        }
    }
}

fn transact<T>(
    connection: &mut Connection,
    failpoint: Option<&Failpoint>,
    name: &'static str,
    job: impl FnOnce(Tx<'_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let result = job(Tx::on(&transaction))?;
    if let Some(Failpoint(reached)) = failpoint {
        reached(CommitPoint::Before, name);
    }
    transaction.commit()?;
    if let Some(Failpoint(reached)) = failpoint {
        reached(CommitPoint::After, name);
    }
    Ok(result)
}
