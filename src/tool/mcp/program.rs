//! A server's program as a child process: its restricted environment, and its termination with
//! everything it started.
//!
//! It leads its own process group, so that its children end with it. Its standard error is not
//! read: that is text from outside, which must not reach a log. The group is signalled only before
//! its leader is reaped, because afterwards another process may have its id.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use secrecy::ExposeSecret;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::config::{Mcp, McpReach};
use crate::time::clock::real_sleep;

/// The number of checks for the end of a terminating program, and their interval.
const LOOKS: u32 = 40;
const LOOK: Duration = Duration::from_millis(25);

/// A running program.
pub struct Program {
    child: Child,
}

impl Program {
    /// Starts the program with only the given environment.
    pub fn start(config: &Mcp, words: &[String]) -> anyhow::Result<(Self, ChildStdout, ChildStdin)> {
        let (program, arguments) = words.split_first().context("It has no name")?;
        let mut child = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(config.environment.iter().map(|(name, value)| (name, value.expose_secret())))
            .current_dir(McpReach::START)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let output = child.stdout.take().context("It has no output")?;
        let input = child.stdin.take().context("It has no input")?;
        Ok((Self { child }, output, input))
    }

    /// Waits briefly for the program to end by itself, now that its input is closed, then kills it
    /// and everything it started.
    pub async fn end(mut self) {
        for _ in 0..LOOKS {
            if self.has_ended() {
                break;
            }
            real_sleep(LOOK).await;
        }
        self.kill();
        if let Err(error) = self.child.wait().await {
            tracing::warn!("The program of an outside server cannot be waited for: {}", error.kind());
        }
    }

    fn has_ended(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.leader().is_none_or(|leader| !matches!(waitid(WaitId::Pid(leader), look), Ok(None)))
    }

    fn kill(&self) {
        if let Some(leader) = self.leader() {
            let killed = kill_process_group(leader, Signal::KILL).map_err(io::Error::from);
            if let Err(error) = killed {
                tracing::debug!("The process group of an outside server is gone already: {}", error.kind());
            }
        }
    }

    /// Returns the id of the group and its leader; `None` once it is reaped.
    fn leader(&self) -> Option<Pid> {
        self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}
