//! Who is attached right now, and the queue of lines to each of them.
//!
//! A client that does not read never holds up anybody: its queue is bounded, what merely decorates (growth,
//! typing) is left out when it is full, and whoever misses something that matters is shown the door. A
//! [`Seat`] is given up by being dropped, so a cancelled task leaves nobody behind. What each of them said last
//! is remembered, so that an answer is known to be awaited.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::connection::ClientWriter;
use super::protocol::FromGateway;

/// How many lines may wait for one client: some seconds of a growing answer.
const QUEUE: usize = 256;
/// How many of the messages that a client said last are remembered: more than may wait for an answer.
const REMEMBERED: usize = 256;

/// Everybody who is attached.
#[derive(Default)]
pub(super) struct Clients(Arc<Mutex<Vec<Client>>>);

#[derive(Clone)]
struct Client {
    peer: String,
    queue: mpsc::Sender<OutputLine>,
    gone: CancellationToken,
    /// The ids of what it said last.
    said: Arc<Mutex<VecDeque<String>>>,
    /// How much of what it said is neither stored nor given back: of that it hears by itself.
    open: Arc<AtomicUsize>,
    /// Whether it knows that nothing can be done now for what it said.
    warned: Arc<AtomicBool>,
}

struct OutputLine {
    frame: FromGateway,
    written: Option<oneshot::Sender<()>>,
}

impl Clients {
    /// Somebody comes.
    pub fn enter(&self, peer: String) -> (Seat, Queue) {
        let (queue, lines) = mpsc::channel(QUEUE);
        let client = Client {
            peer,
            queue,
            gone: CancellationToken::new(),
            said: Arc::default(),
            open: Arc::default(),
            warned: Arc::default(),
        };
        self.list().push(client.clone());
        (Seat { client, all: Arc::clone(&self.0) }, Queue(lines))
    }

    /// Queues a line for every client of a peer, made from whether one of them waits for an answer to one of
    /// those messages.
    pub fn post(&self, peer: &str, answers: &[String], frame: impl Fn(bool) -> FromGateway) -> Answering {
        let list = self.list();
        let here = list.iter().filter(|client| client.peer == peer);
        let (asked, others): (Vec<&Client>, Vec<_>) = here.partition(|client| client.said_one_of(answers));
        let frame = frame(!asked.is_empty());
        let post = |clients: Vec<&Client>| clients.into_iter().map(|client| client.post(&frame)).collect();
        Answering { asked: post(asked), others: post(others) }
    }

    /// Warns everybody who has said something, of which all is stored, and does not know it yet.
    pub fn warn(&self, frame: &FromGateway) {
        let list = self.list().clone();
        for client in list.into_iter().filter(Client::waits).map(ClientReply) {
            client.warn(frame);
        }
    }

    /// Queues a line for everybody.
    pub fn post_to_all(&self, frame: &FromGateway) -> Vec<Posted> {
        self.list().iter().map(|client| client.post(frame)).collect()
    }

    /// Queues a line that may be missed.
    pub fn hint(&self, peer: &str, frame: &FromGateway) {
        for client in self.list().iter().filter(|client| client.peer == peer) {
            let _ = client.queue.try_send(OutputLine { frame: frame.clone(), written: None });
        }
    }

    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.list().len()
    }

    fn list(&self) -> MutexGuard<'_, Vec<Client>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A line on its way to all clients of a peer.
pub(super) struct Answering {
    /// Those who wait for it.
    pub asked: Vec<Posted>,
    /// Everybody else.
    pub others: Vec<Posted>,
}

impl Client {
    fn waits(&self) -> bool {
        let has_said = !self.said.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
        has_said && self.open.load(Ordering::Relaxed) == 0 && !self.warned.load(Ordering::Relaxed)
    }

    fn said_one_of(&self, ids: &[String]) -> bool {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        ids.iter().any(|id| said.contains(id))
    }

    fn post(&self, frame: &FromGateway) -> Posted {
        let (written, done) = oneshot::channel();
        // If the queue is full the line is dropped here, and with it the promise that it will be written.
        if self.queue.try_send(OutputLine { frame: frame.clone(), written: Some(written) }).is_err() {
            self.gone.cancel();
        }
        Posted { done, gone: self.gone.clone() }
    }
}

/// A line on its way to one client.
pub(super) struct Posted {
    done: oneshot::Receiver<()>,
    gone: CancellationToken,
}

impl Posted {
    /// Whether it was written and flushed. A client that has not taken it when `limit` completes has to go:
    /// it has not got the end of the line then, and will never get it.
    pub async fn written(self, limit: impl Future) -> bool {
        tokio::select! {
            biased;
            done = self.done => done.is_ok(),
            _ = limit => {
                self.gone.cancel();
                false
            }
        }
    }
}

/// What waits for one client.
pub(super) struct Queue(mpsc::Receiver<OutputLine>);

impl Queue {
    /// Writes until a farewell was written, or writing fails.
    pub async fn write_out(&mut self, writer: &mut ClientWriter) {
        while let Some(OutputLine { frame, written }) = self.0.recv().await {
            if writer.write(&frame).await.is_err() {
                return;
            }
            if let Some(written) = written {
                // Nobody has to wait for it.
                let _ = written.send(());
            }
            if matches!(frame, FromGateway::Bye { .. }) {
                return;
            }
        }
    }
}

/// One attached client, until it is dropped.
pub(super) struct Seat {
    client: Client,
    all: Arc<Mutex<Vec<Client>>>,
}

impl Seat {
    /// How others reach this one client.
    pub fn reply(&self) -> ClientReply {
        ClientReply(self.client.clone())
    }

    /// The client says something under that id.
    pub fn says(&self, id: &str) {
        self.client.open.fetch_add(1, Ordering::Relaxed);
        let mut said = self.client.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() == REMEMBERED {
            said.pop_front();
        }
        said.push_back(id.to_owned());
    }

    /// Completes when the client has to go.
    pub async fn expelled(&self) {
        self.client.gone.cancelled().await;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|client| !client.queue.same_channel(&self.client.queue));
    }
}

/// The way back to one client, which may have left meanwhile.
#[derive(Clone)]
pub(super) struct ClientReply(Client);

impl ClientReply {
    /// What the client said is stored. It has to be warned anew.
    pub fn confirm(&self, id: String) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
        self.0.warned.store(false, Ordering::Relaxed);
        self.tell(&FromGateway::Stored { id });
    }

    /// What the client said is not stored, and never will be.
    pub fn give_back(&self, frame: &FromGateway) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
        self.warn(frame);
    }

    /// Queues a warning that is not repeated before something more is stored.
    pub fn warn(&self, frame: &FromGateway) {
        self.0.warned.store(true, Ordering::Relaxed);
        self.tell(frame);
    }

    /// Queues a line for this client alone.
    pub fn tell(&self, frame: &FromGateway) {
        drop(self.0.post(frame));
    }
}
