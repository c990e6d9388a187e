//! Attached clients, with a queue of lines for each.
//!
//! What has grown of an unfinished answer is kept, so that a client that attaches in its middle, or
//! again after a lost connection, receives it from the beginning.
//!
//! A client that does not read never blocks others: its queue is bounded, optional frames (deltas,
//! typing) are dropped when it is full, and a client that misses a required one is disconnected. A
//! [`ClientGuard`] is released on drop, so a cancelled task leaves no client behind. The last
//! message ids of each client are kept, so that an awaited answer is recognised.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::time::task::lock;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::connection::ClientWriter;
use super::protocol::FromGateway;

/// Number of lines that may wait for one client: some seconds of a streamed reply.
const QUEUE_CAPACITY: usize = 256;
/// Number of message ids kept per client: more than may wait for an answer.
const MAX_RECENT_IDS: usize = 256;

/// All attached clients.
#[derive(Default)]
pub(super) struct Clients(Arc<Mutex<Attached>>);

#[derive(Default)]
struct Attached {
    clients: Vec<Client>,
    growing: Vec<PartialAnswer>,
}

/// Unfinished answer to a peer, as far as it was streamed.
struct PartialAnswer {
    peer: String,
    answers: Vec<String>,
    text: String,
}

#[derive(Clone)]
struct Client {
    peer: String,
    /// True if it leaves after one answer.
    once: bool,
    queue: mpsc::Sender<OutputLine>,
    disconnect: CancellationToken,
    /// Ids of its last messages.
    recent_ids: Arc<Mutex<VecDeque<String>>>,
    /// Number of its messages neither stored nor returned; the client is told of those separately.
    unsettled: Arc<AtomicUsize>,
    /// True if it was told that its messages cannot be answered now.
    warned: Arc<AtomicBool>,
}

struct OutputLine {
    frame: FromGateway,
    written: Option<oneshot::Sender<()>>,
}

impl Clients {
    /// Registers a client. Its first lines are what has grown of unfinished answers.
    pub fn register(&self, peer: String, once: bool) -> (ClientGuard, ClientQueue) {
        let (queue, lines) = mpsc::channel(QUEUE_CAPACITY);
        let client = Client {
            peer,
            once,
            queue,
            disconnect: CancellationToken::new(),
            recent_ids: Arc::default(),
            unsettled: Arc::default(),
            warned: Arc::default(),
        };
        let mut list = self.list();
        for PartialAnswer { answers, text, .. } in list.growing.iter().filter(|growing| growing.peer == client.peer) {
            client.post_optional(&FromGateway::Grow { delta: text.clone(), answers: Some(answers.clone()) });
        }
        list.clients.push(client.clone());
        drop(list);
        (ClientGuard { client, all: Arc::clone(&self.0) }, ClientQueue(lines))
    }

    /// Queues a line for every client of a peer, built from the flag that one of them awaits an
    /// answer to one of those messages.
    pub fn post(&self, peer: &str, answers: &[String], frame: impl Fn(bool) -> FromGateway) -> PostedAnswer {
        let mut list = self.list();
        list.growing.retain(|growing| growing.peer != peer || !growing.answers.iter().any(|id| answers.contains(id)));
        let clients = list.clients.iter().filter(|client| client.peer == peer);
        let (awaiting, others): (Vec<&Client>, Vec<_>) = clients.partition(|client| client.awaits_one_of(answers));
        let frame = frame(!awaiting.is_empty());
        let post = |clients: Vec<&Client>| clients.into_iter().map(|client| client.post(&frame)).collect();
        PostedAnswer { awaiting: post(awaiting), others: post(others) }
    }

    /// Warns the clients that wait for an answer, have no open message and were not warned yet.
    pub fn warn(&self, frame: &FromGateway) {
        let list = self.list().clients.clone();
        for client in list.into_iter().filter(Client::needs_warning).map(ClientReply) {
            client.warn(frame);
        }
    }

    /// Queues a line for all clients.
    pub fn post_to_all(&self, frame: &FromGateway) -> Vec<PendingWrite> {
        self.list().clients.iter().map(|client| client.post(frame)).collect()
    }

    /// Queues the next text of an answer, which is kept until the answer is posted or discarded.
    pub fn grow(&self, peer: &str, delta: &str, answers: &[String]) {
        let mut list = self.list();
        match list.growing.iter_mut().find(|growing| growing.peer == peer && growing.answers == answers) {
            Some(growing) => growing.text.push_str(delta),
            None => {
                let (peer, text) = (peer.to_owned(), delta.to_owned());
                list.growing.push(PartialAnswer { peer, answers: answers.to_vec(), text });
            }
        }
        let frame = FromGateway::Grow { delta: delta.to_owned(), answers: Some(answers.to_vec()) };
        list.post_optional(peer, &frame);
    }

    /// Discards what has grown for a peer.
    pub fn stop_growing(&self, peer: &str) {
        self.list().growing.retain(|growing| growing.peer != peer);
    }

    /// Queues an optional line.
    pub fn post_optional(&self, peer: &str, frame: &FromGateway) {
        self.list().post_optional(peer, frame);
    }

    /// Returns true if a client of that peer stays attached.
    pub fn has_lasting(&self, peer: &str) -> bool {
        self.list().clients.iter().any(|client| client.peer == peer && !client.once)
    }

    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.list().clients.len()
    }

    fn list(&self) -> MutexGuard<'_, Attached> {
        lock(&self.0)
    }
}

impl Attached {
    fn post_optional(&self, peer: &str, frame: &FromGateway) {
        self.clients.iter().filter(|client| client.peer == peer).for_each(|client| client.post_optional(frame));
    }
}

/// A line queued for all clients of a peer.
pub(super) struct PostedAnswer {
    /// Clients that await it.
    pub awaiting: Vec<PendingWrite>,
    /// All other clients.
    pub others: Vec<PendingWrite>,
}

impl Client {
    fn needs_warning(&self) -> bool {
        let has_sent = !lock(&self.recent_ids).is_empty();
        has_sent && self.unsettled.load(Ordering::Relaxed) == 0 && !self.warned.load(Ordering::Relaxed)
    }

    fn awaits_one_of(&self, ids: &[String]) -> bool {
        let recent = lock(&self.recent_ids);
        ids.iter().any(|id| recent.contains(id))
    }

    fn post_optional(&self, frame: &FromGateway) {
        let _ = self.queue.try_send(OutputLine { frame: frame.clone(), written: None });
    }

    fn post(&self, frame: &FromGateway) -> PendingWrite {
        let (written, done) = oneshot::channel();
        // On a full queue the line is dropped here, and with it the sender that would confirm it.
        if self.queue.try_send(OutputLine { frame: frame.clone(), written: Some(written) }).is_err() {
            self.disconnect.cancel();
        }
        PendingWrite { done, disconnect: self.disconnect.clone() }
    }
}

/// A line queued for one client.
pub(super) struct PendingWrite {
    done: oneshot::Receiver<()>,
    disconnect: CancellationToken,
}

impl PendingWrite {
    /// Returns true once the line was written and flushed. A client that has not taken it when
    /// `limit` completes is disconnected, since it holds an incomplete line.
    pub async fn written(self, limit: impl Future) -> bool {
        tokio::select! {
            biased;
            done = self.done => done.is_ok(),
            _ = limit => {
                self.disconnect.cancel();
                false
            }
        }
    }
}

/// Queued lines of one client.
pub(super) struct ClientQueue(mpsc::Receiver<OutputLine>);

impl ClientQueue {
    /// Writes until a goodbye was written, or writing fails.
    pub async fn write_out(&mut self, writer: &mut ClientWriter) {
        while let Some(OutputLine { frame, written }) = self.0.recv().await {
            if writer.write(&frame).await.is_err() {
                return;
            }
            if let Some(written) = written {
                // The receiver may have been dropped.
                let _ = written.send(());
            }
            if matches!(frame, FromGateway::Bye { .. }) {
                return;
            }
        }
    }
}

/// Registration of one client, until it is dropped.
pub(super) struct ClientGuard {
    client: Client,
    all: Arc<Mutex<Attached>>,
}

impl ClientGuard {
    /// Handle for messages to this client alone.
    pub fn handle(&self) -> ClientReply {
        ClientReply(self.client.clone())
    }

    /// Records a message of the client under that id.
    pub fn record_message(&self, id: &str) {
        self.client.unsettled.fetch_add(1, Ordering::Relaxed);
        let mut recent = lock(&self.client.recent_ids);
        if recent.len() == MAX_RECENT_IDS {
            recent.pop_front();
        }
        recent.push_back(id.to_owned());
    }

    /// Completes when the client has to be disconnected.
    pub async fn disconnected(&self) {
        self.client.disconnect.cancelled().await;
    }
}

impl Drop for ClientGuard {
    fn drop(&mut self) {
        let mut all = lock(&self.all);
        all.clients.retain(|client| !client.queue.same_channel(&self.client.queue));
    }
}

/// Handle for messages to one client, which may have left meanwhile.
#[derive(Clone)]
pub(super) struct ClientReply(Client);

impl ClientReply {
    /// Confirms that a message was stored. The client may be warned again.
    pub fn confirm(&self, id: String) {
        self.0.unsettled.fetch_sub(1, Ordering::Relaxed);
        self.0.warned.store(false, Ordering::Relaxed);
        self.send(&FromGateway::Stored { id });
    }

    /// Reports that a message was not stored and never will be.
    pub fn reject(&self, frame: &FromGateway) {
        self.0.unsettled.fetch_sub(1, Ordering::Relaxed);
        self.warn(frame);
    }

    /// Queues a warning, which is not repeated before another message is stored.
    pub fn warn(&self, frame: &FromGateway) {
        self.0.warned.store(true, Ordering::Relaxed);
        self.send(frame);
    }

    /// Queues a line for this client alone.
    pub fn send(&self, frame: &FromGateway) {
        drop(self.0.post(frame));
    }
}
