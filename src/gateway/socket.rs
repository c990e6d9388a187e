//! Local socket, through which the command line and chat clients reach the running gateway.
//!
//! It has mode 0600, so a program that can open it could also read the journal; its clients are
//! therefore trusted like the person who owns the home. A connection either chats (as a client of
//! the terminal adapter) or runs one command.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;

use crate::adapter::terminal::protocol::FromGateway;
use crate::adapter::terminal::{Connection, Greeting, Terminal, accept};
use crate::admin::Admin;
use crate::people::{Address, Person};
use crate::store::{Journal, is_full};
use crate::time::{Backoff, Clock};
use crate::wording::gateway;

/// Maximum number of simultaneous connections.
const CONNECTIONS: usize = 32;

/// Pauses after failures.
const RETRY: Backoff = Backoff { first: Duration::from_millis(100), longest: Duration::from_secs(10) };

/// Passes each accepted connection to `each` until the program stops. While accepting fails, as at
/// the limit of open files, the pauses grow.
async fn accept_loop<Stream, Accept: Future<Output = io::Result<Stream>>>(
    accept: impl Fn() -> Accept,
    clock: &dyn Clock,
    stop: &CancellationToken,
    mut each: impl FnMut(Stream),
) {
    let mut failures = 0;
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = accept() => accepted,
        };
        match accepted {
            Ok(stream) => {
                failures = 0;
                each(stream);
            }
            Err(error) => {
                if failures == 0 {
                    tracing::warn!("The local socket accepts nobody: {error}");
                }
                failures += 1;
                tokio::select! {
                    () = stop.cancelled() => return,
                    _rested = clock.after(RETRY.pause(failures)) => {}
                }
            }
        }
    }
}

/// Server of the local socket.
pub struct LocalServer {
    /// The journal.
    pub journal: Journal,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Adapter of the chat clients.
    pub terminal: Arc<Terminal>,
    /// Implementation of the commands.
    pub admin: Arc<Admin>,
    /// The assistant's name.
    pub agent: String,
}

impl LocalServer {
    /// Opens the socket and replaces a stale one: the caller holds the lock of the home.
    pub fn listen(path: &Path) -> anyhow::Result<UnixListener> {
        use std::os::unix::fs::PermissionsExt;
        let _ = std::fs::remove_file(path);
        let listener =
            UnixListener::bind(path).with_context(|| format!("Cannot open the socket {}", path.display()))?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        Ok(listener)
    }

    /// Serves the socket until the program stops.
    pub async fn serve(self: Arc<Self>, listener: UnixListener, stop: CancellationToken) {
        let permits = Arc::new(tokio::sync::Semaphore::new(CONNECTIONS));
        let tasks = tokio_util::task::TaskTracker::new();
        let serve = |stream: UnixStream| {
            let Ok(permit) = Arc::clone(&permits).try_acquire_owned() else { return };
            let (local, stop) = (Arc::clone(&self), stop.clone());
            tasks.spawn(async move {
                tokio::select! {
                    () = stop.cancelled() => {}
                    served = local.serve_client(stream) => {
                        if let Err(error) = served {
                            tracing::debug!("A local connection ended: {error:#}");
                        }
                    }
                }
                drop(permit);
            });
        };
        let accept = || async { listener.accept().await.map(|(stream, _)| stream) };
        accept_loop(accept, &*self.clock, &stop, serve).await;
        self.terminal.close().await;
        tasks.close();
        tasks.wait().await;
    }

    /// Serves one connection. It need not be a socket: `chat` without a running gateway connects
    /// within the process.
    ///
    /// # Errors
    ///
    /// If the client disconnects or sends no greeting.
    pub async fn serve_client(
        &self,
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    ) -> anyhow::Result<()> {
        match accept(stream).await? {
            (Greeting::Hello { person }, connection) => self.chat(person, connection).await,
            (Greeting::Run { args, json }, mut connection) => {
                let admin = Arc::clone(&self.admin);
                let answer = self.admin.answers.act(None, async move { admin.command_line(&args).await }).await?;
                let text = if json { serde_json::to_string_pretty(&answer.json)? } else { answer.markdown };
                connection.writer.write(&FromGateway::Answer { text, code: u8::from(answer.failed) }).await?;
                Ok(())
            }
        }
    }

    async fn chat(&self, name: Option<String>, mut connection: Connection) -> anyhow::Result<()> {
        let wanted = name.clone();
        let person = self
            .journal
            .read(move |db| match wanted {
                Some(name) => db.people().person_named(&name),
                None => Ok(db.people().people()?.into_iter().next()),
            })
            .await?;
        let Some(person) = person else {
            let why = gateway::no_such_person(name.as_deref());
            connection.writer.write(&FromGateway::Refused { why }).await?;
            return Ok(());
        };
        let peer = match self.terminal_address(&person).await {
            Err(error) if is_full(&error) => {
                connection.writer.write(&FromGateway::Refused { why: gateway::DISK_FULL.to_owned() }).await?;
                return Err(error);
            }
            address => address?,
        };
        let (assistant, model) = (self.agent.clone(), self.admin.reports().model_in_use());
        let welcome = FromGateway::Welcome { person: person.name, assistant, peer: peer.clone(), model };
        connection.writer.write(&welcome).await?;
        self.terminal.attach(peer, connection).await;
        Ok(())
    }

    /// Terminal address of a person, linked at its first use.
    async fn terminal_address(&self, person: &Person) -> anyhow::Result<String> {
        let peer = format!("person-{}", person.id);
        let address = Address::new("terminal", "local", &peer);
        let (id, now) = (person.id, self.clock.now());
        self.journal
            .write("link a terminal", move |tx| match tx.addresses().who_is(&address)? {
                Some(_) => Ok(()),
                None => tx.addresses().link(&address, Some(id), now).map(|_| ()),
            })
            .await?;
        Ok(peer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{SimulatedClock, Timestamp};
    use std::sync::atomic::{AtomicU32, Ordering};

    #[tokio::test]
    async fn a_failing_accept_is_retried_with_growing_intervals() {
        // A process that may open no more files.
        let (calls, stop) = (AtomicU32::new(0), CancellationToken::new());
        let accept = || async {
            calls.fetch_add(1, Ordering::SeqCst);
            Err::<UnixStream, _>(io::Error::other("too many open files"))
        };
        let clock = Arc::new(SimulatedClock::new(Timestamp(0)));
        let serving = accept_loop(accept, &*clock, &stop, |_| {});
        let looking = async {
            for (seconds, most) in [(0, 1), (1, 5), (60, 15)] {
                clock.advance(Duration::from_secs(seconds)).await;
                for _ in 0..1_000 {
                    tokio::task::yield_now().await;
                }
                let asked = calls.load(Ordering::SeqCst);
                assert!((1..=most).contains(&asked), "{asked} times within {seconds} s");
            }
            stop.cancel();
        };
        tokio::join!(serving, looking);
    }

    #[test]
    fn rests_grow_and_end() {
        let rests: Vec<_> = [1, 2, 3, 8, 100].map(|failures| RETRY.pause(failures)).map(|rest| rest.as_millis()).into();
        assert_eq!(rests, [100, 200, 400, 10_000, 10_000]);
    }
}
