//! The daemon as a child process: kept running, and terminated with us.
//!
//! It runs in a process group of its own, so that a wrapper script ends with it. It is terminated
//! first, so that it can save its state, and killed after a moment. Its output is dropped; of its
//! standard error only the fact is logged, because messages and numbers appear there. It inherits
//! the environment: it is the owner's own program, holds all messages anyway, and needs to find its
//! runtime and files.
//!
//! A killed daemon leaves its socket behind and would not start again, so a socket without a
//! listener is removed first. A socket with one belongs to a daemon started by other means, which
//! is then used instead.

use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use rustix::process::{Pid, Signal as Kill, kill_process_group};
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr, Command};
use tokio_util::sync::CancellationToken;

use super::health::{HealthTracker, ProblemTopic};
use crate::adapter::RECEIVE_RETRY;
use crate::time::Clock;
use crate::time::clock::real_sleep;
use crate::time::task::guarded;
use crate::wording::channel as words;

/// Runtime after which a start no longer counts as failed.
const STABLE_AFTER: Duration = Duration::from_secs(60);
/// Time allowed for a clean exit.
const TERMINATE_WITHIN: Duration = Duration::from_secs(5);

/// Supervisor of our own daemon.
pub(super) struct DaemonSupervisor {
    /// Program and arguments.
    pub(super) command: Vec<String>,
    /// Path at which it listens, if that is a Unix socket.
    pub(super) socket: Option<PathBuf>,
    pub(super) clock: Arc<dyn Clock>,
    /// Health to which problems are reported.
    pub(super) health: Arc<HealthTracker>,
}

/// End of a run.
#[derive(Debug, PartialEq, Eq)]
enum DaemonExit {
    Exited,
    AlreadyRunning,
    Stopped,
}

struct DaemonProcess {
    child: Child,
    stderr: Option<ChildStderr>,
}

impl DaemonSupervisor {
    /// Keeps the daemon running until `stop`.
    pub(super) async fn supervise(self, stop: CancellationToken) {
        let mut failures = 0_u32;
        loop {
            let began = self.clock.now();
            match guarded("The keeper of the Signal daemon", self.run(&stop)).await {
                Ok(DaemonExit::Stopped) => return,
                Ok(DaemonExit::AlreadyRunning) => tracing::debug!("A Signal daemon runs already; none is started"),
                Ok(DaemonExit::Exited) => self.health.report(ProblemTopic::Daemon, words::DAEMON_ENDED.to_owned()),
                Err(error) => {
                    tracing::error!("The Signal daemon cannot be started: {error:#}");
                    self.health.report(ProblemTopic::Daemon, words::NOT_STARTED.to_owned());
                }
            }
            failures = if self.clock.now().since(began) >= STABLE_AFTER { 1 } else { failures.saturating_add(1) };
            let again = self.clock.now().plus(RECEIVE_RETRY.with_jitter(failures, rand::random()));
            tokio::select! {
                _busy = self.clock.wake_at(again) => {}
                () = stop.cancelled() => return,
            }
        }
    }

    /// Runs the daemon once.
    async fn run(&self, stop: &CancellationToken) -> anyhow::Result<DaemonExit> {
        if let Some(socket) = &self.socket
            && !is_free(socket).await.context("The place of its socket is not free")?
        {
            return Ok(DaemonExit::AlreadyRunning);
        }
        let mut running = DaemonProcess::start(&self.command)?;
        tracing::info!("The Signal daemon is started");
        tokio::select! {
            ended = running.wait_for_exit() => {
                tracing::warn!("The Signal daemon has ended: {}", ended?);
                Ok(DaemonExit::Exited)
            }
            () = stop.cancelled() => {
                running.terminate().await;
                Ok(DaemonExit::Stopped)
            }
        }
    }
}

/// Returns true if the daemon can listen there; removes a socket without a listener.
async fn is_free(socket: &Path) -> io::Result<bool> {
    match UnixStream::connect(socket).await {
        Ok(_) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            // A regular file is refused in the same way, and is not ours to remove.
            if !tokio::fs::symlink_metadata(socket).await?.file_type().is_socket() {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            tokio::fs::remove_file(socket).await?;
            tracing::info!("A socket that an earlier Signal daemon left behind was taken away");
            Ok(true)
        }
        Err(error) => Err(error),
    }
}

impl DaemonProcess {
    fn start(command: &[String]) -> anyhow::Result<Self> {
        let (program, arguments) = command.split_first().context("It has no name")?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let stderr = child.stderr.take();
        Ok(Self { child, stderr })
    }

    /// Waits until it exits by itself, and drains its standard error meanwhile.
    async fn wait_for_exit(&mut self) -> io::Result<std::process::ExitStatus> {
        let stderr = self.stderr.take();
        tokio::select! {
            status = self.child.wait() => status,
            never = drain_stderr(stderr) => match never {},
        }
    }

    async fn terminate(mut self) {
        self.signal(Kill::TERM);
        tokio::select! {
            _ = self.child.wait() => return,
            () = real_sleep(TERMINATE_WITHIN) => self.signal(Kill::KILL),
        }
        if let Err(error) = self.child.wait().await {
            tracing::warn!("The Signal daemon cannot be waited for: {}", error.kind());
        }
    }

    /// Signals the whole process group. Never after it was reaped: the pid may be reused by then.
    fn signal(&self, signal: Kill) {
        let leader = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(leader) = leader
            && let Err(error) = kill_process_group(leader, signal)
        {
            tracing::debug!("The Signal daemon is gone already: {}", io::Error::from(error).kind());
        }
    }
}

impl Drop for DaemonProcess {
    fn drop(&mut self) {
        self.signal(Kill::KILL);
    }
}

/// Drains the standard error, so that the daemon never blocks on it.
async fn drain_stderr(stderr: Option<ChildStderr>) -> std::convert::Infallible {
    let Some(mut stderr) = stderr else { return std::future::pending().await };
    let (mut bytes, mut is_new) = ([0_u8; 4096], true);
    while stderr.read(&mut bytes).await.is_ok_and(|count| count > 0) {
        if std::mem::take(&mut is_new) {
            tracing::debug!("The Signal daemon said something on its standard error");
        }
    }
    std::future::pending().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{SimulatedClock, Timestamp};

    fn daemon(words: &[&str], clock: &Arc<SimulatedClock>) -> DaemonSupervisor {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        DaemonSupervisor { command: words, socket: None, clock: clock.clone(), health: Arc::default() }
    }

    #[tokio::test]
    async fn only_an_unused_socket_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        assert!(is_free(&at("none")).await.unwrap());
        let held = tokio::net::UnixListener::bind(at("held")).unwrap();
        assert!(!is_free(&at("held")).await.unwrap());
        drop(held);
        // A process that another test starts just now may hold a copy of the listener until it
        // runs.
        let freed = async {
            while !is_free(&at("held")).await.unwrap() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(20), freed).await.unwrap();
        assert!(!at("held").exists());
        std::fs::write(at("file"), b"x").unwrap();
        assert!(is_free(&at("file")).await.is_err());
        assert!(at("file").exists());
    }

    #[tokio::test]
    async fn a_daemon_that_ends_is_started_again_after_a_pause() {
        let clock = Arc::new(SimulatedClock::new(Timestamp(0)));
        let folder = tempfile::tempdir().unwrap();
        let line = format!("echo x >> {}/runs; echo told >&2", folder.path().display());
        let daemon = daemon(&["sh", "-c", &line], &clock);
        let (health, stop) = (Arc::clone(&daemon.health), CancellationToken::new());
        let runs = || std::fs::read_to_string(folder.path().join("runs")).unwrap_or_default().len() / 2;
        let passing = async {
            for expected in 1..4 {
                let again = loop {
                    match clock.next_due() {
                        Some(at) if at > clock.now() => break at,
                        _ => tokio::task::yield_now().await,
                    }
                };
                assert_eq!(runs(), expected, "it waits for the clock");
                clock.advance(again.since(clock.now())).await;
            }
            stop.cancel();
        };
        tokio::join!(daemon.supervise(stop.clone()), passing);
        health.record_activity(clock.now());
        assert_eq!(health.health(clock.now()).problem, None);
    }

    #[tokio::test]
    async fn a_missing_daemon_program_is_reported() {
        let clock = Arc::new(SimulatedClock::new(Timestamp(0)));
        let daemon = daemon(&["/nonexistent/signal-cli"], &clock);
        let (health, stop) = (Arc::clone(&daemon.health), CancellationToken::new());
        let looking = async {
            while clock.next_due().is_none() {
                tokio::task::yield_now().await;
            }
            assert!(health.health(clock.now()).problem.unwrap().contains(words::NOT_STARTED));
            stop.cancel();
        };
        tokio::join!(daemon.supervise(stop.clone()), looking);
    }

    #[tokio::test]
    async fn it_ends_with_us_and_so_does_what_it_started() {
        let clock = Arc::new(SimulatedClock::new(Timestamp(0)));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let daemon = daemon(&["sh", "-c", &format!("sleep 600 & echo $! > {}; wait", file.display())], &clock);
        let stop = CancellationToken::new();
        let stopping = async {
            let inner = loop {
                let written = std::fs::read_to_string(&file).unwrap_or_default();
                match written.trim().parse::<i32>() {
                    Ok(pid) if written.ends_with('\n') => break Pid::from_raw(pid).unwrap(),
                    _ => tokio::task::yield_now().await,
                }
            };
            stop.cancel();
            inner
        };
        let ((), inner) = tokio::join!(daemon.supervise(stop.clone()), stopping);
        // A process that was not reaped yet still exists as a zombie.
        let is_alive = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", inner.as_raw_nonzero())).unwrap_or_default();
            stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
        };
        while is_alive() {
            tokio::task::yield_now().await;
        }
    }
}
