//! Streaming previews of replies, and the typing indicator.
//!
//! Both are best effort: neither queued nor retried nor awaited. Where a channel can edit, a
//! streamed reply is one message edited at the channel's pace. Only its id is stored, because the
//! finished reply has to replace it; after the first failure the previews of that turn end.
//! Dropping the watcher ends everything that it started.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio_util::sync::{CancellationToken, DropGuard};

use super::dispatcher::{DeliveryQueue, Dispatcher};
use crate::adapter::{OutgoingPart, PartFormat, SendError, Typing};
use crate::engine::{ChannelAccess, Watcher};
use crate::id::{AddressId, TurnId};
use crate::message::{FetchFileError, Outbound};
use crate::model::StreamSink;
use crate::store::{Db, Tx, Urgency};
use crate::text::links;
use crate::time::ActivityGuard;
use crate::time::task::lock;
use crate::trust::{Label, Labelled, Scope};

/// Maximum duration of the typing indicator.
const TYPING_AT_MOST: Duration = Duration::from_secs(15 * 60);
/// Minimum length of a preview in characters.
const MIN_PREVIEW: usize = 40;
/// Maximum length of a preview; the finished reply brings the rest.
const MAX_PREVIEW: usize = 3_500;

#[async_trait::async_trait]
impl ChannelAccess for Arc<Dispatcher> {
    fn watch(&self, turn: TurnId, address: AddressId) -> Box<dyn Watcher> {
        let over = CancellationToken::new();
        let reply = Arc::new(Mutex::new(LiveReply::default()));
        let (sender, receiver) = tokio::sync::mpsc::channel(256);
        let live_turn = LiveTurn { turn, address, over: over.clone(), busy: self.clock.busy() };
        self.tasks.spawn(run(Arc::clone(self), live_turn, Arc::clone(&reply), receiver));
        Box::new(LiveWatcher { reply, deltas: sender, over: over.clone(), _cancel_on_drop: over.drop_guard() })
    }

    async fn fetch(&self, address: AddressId, reference: &str, max: u64) -> Result<Vec<u8>, FetchFileError> {
        match self.queue(address).await {
            Ok(Some(queue)) => queue.adapter.fetch(reference, max).await,
            _ => Err(FetchFileError::Later("its channel is not connected".to_owned())),
        }
    }
}

/// Unfinished reply.
#[derive(Default)]
struct LiveReply {
    text: String,
    label: Option<Label>,
    /// Number of bytes already streamed.
    streamed: usize,
}

impl LiveReply {
    /// Takes the text that may be streamed next: of a tainted reply whole words up to the first
    /// address, because only the finished reply knows which addresses have a source.
    fn take_streamable(&mut self) -> String {
        let whole_words = || self.text.trim_end_matches(|c: char| !c.is_whitespace()).len();
        let end = if self.is_tainted() { whole_words() } else { self.text.len() };
        let so_far = self.text.get(..end).unwrap_or_default();
        if self.is_tainted() && links::defang(so_far, &|_| false).is_some() {
            return String::new();
        }
        let piece = so_far.get(self.streamed..).unwrap_or_default().to_owned();
        self.streamed = self.streamed.max(end);
        piece
    }

    /// Text of a preview. While it is tainted, no address in it is a link.
    fn edit_preview(&self) -> String {
        let text = crate::text::shorten(&self.text, MAX_PREVIEW);
        if self.is_tainted() { links::defang(&text, &|_| false).unwrap_or(text) } else { text }
    }

    fn is_tainted(&self) -> bool {
        self.label.as_ref().is_none_or(Label::asks_before_leaving)
    }
}

struct LiveWatcher {
    reply: Arc<Mutex<LiveReply>>,
    deltas: tokio::sync::mpsc::Sender<String>,
    over: CancellationToken,
    _cancel_on_drop: DropGuard,
}

impl StreamSink for LiveWatcher {
    fn append(&self, delta: &str) {
        let mut state = lock(&self.reply);
        state.text.push_str(delta);
        let piece = state.take_streamable();
        if !piece.is_empty() {
            // A slow channel misses parts of the stream, never of the reply.
            let _ = self.deltas.try_send(piece);
        }
    }

    fn restart(&self) {
        let mut state = lock(&self.reply);
        state.text.clear();
        state.streamed = 0;
        let _ = self.deltas.try_send(String::new());
    }
}

impl Watcher for LiveWatcher {
    fn label(&self, label: &Label) {
        lock(&self.reply).label = Some(label.clone());
    }

    fn over(&self) {
        self.over.cancel();
    }
}

/// A turn to be displayed.
struct LiveTurn {
    turn: TurnId,
    address: AddressId,
    over: CancellationToken,
    /// Held until the first wait is registered with the clock: a turn that only waits must not
    /// outrun its own preview.
    busy: ActivityGuard,
}

async fn run(
    dispatcher: Arc<Dispatcher>,
    turn: LiveTurn,
    reply: Arc<Mutex<LiveReply>>,
    mut deltas: tokio::sync::mpsc::Receiver<String>,
) {
    let LiveTurn { turn, address, over, busy } = turn;
    let Ok(Some(queue)) = dispatcher.queue(address).await else { return };
    let began = dispatcher.clock.now();
    let typing = async {
        while dispatcher.clock.now().since(began) < TYPING_AT_MOST && !over.is_cancelled() {
            let next = dispatcher.clock.wake_at(dispatcher.clock.now().plus(queue.adapter.typing_interval()));
            queue.adapter.typing(&queue.address.peer, Typing::Started).await;
            tokio::select! {
                () = over.cancelled() => {}
                busy = next => drop(busy),
            }
        }
        std::future::pending::<()>().await;
    };
    // In a group the reply quotes its question, which a preview cannot; and rate limits are lower
    // there.
    let is_group = dispatcher.journal.read(move |db| db.groups().is_group(address)).await.unwrap_or(true);
    let growing = async {
        match queue.adapter.edit_interval().filter(|_| !is_group) {
            Some(pace) => edit_preview(&dispatcher, &queue, turn, &reply, pace, &over, busy).await,
            None => {
                drop(busy);
                stream_deltas(&dispatcher, &queue, turn, &mut deltas, &over).await;
            }
        }
        // The typing indicator goes on until the reply is complete, even if streaming failed.
        over.cancelled().await;
    };
    // Streaming is never interrupted in the middle: a preview being sent must learn its id, or it
    // would be in doubt.
    tokio::select! {
        () = growing => {}
        () = typing => {}
    }
    queue.adapter.typing(&queue.address.peer, Typing::Stopped).await;
}

/// Streams the reply in deltas.
async fn stream_deltas(
    dispatcher: &Dispatcher,
    queue: &DeliveryQueue,
    turn: TurnId,
    deltas: &mut tokio::sync::mpsc::Receiver<String>,
    over: &CancellationToken,
) {
    let address = queue.id;
    let mut known = None;
    loop {
        let delta = tokio::select! {
            () = over.cancelled() => return,
            delta = deltas.recv() => delta,
        };
        let Some(delta) = delta else { return };
        // Messages may join the turn until its first word.
        let answers = match known.take() {
            Some(answers) => answers,
            None => match dispatcher.journal.read(move |db| db.outbox().asked_of(turn, address)).await {
                Ok(answers) => answers,
                Err(_) => return,
            },
        };
        queue.adapter.stream_delta(&queue.address.peer, &delta, &answers).await;
        known = Some(answers).filter(|_| !delta.is_empty());
    }
}

/// Displays the reply by editing one message, until the first failure.
async fn edit_preview(
    dispatcher: &Arc<Dispatcher>,
    queue: &Arc<DeliveryQueue>,
    turn: TurnId,
    reply: &Mutex<LiveReply>,
    pace: Duration,
    over: &CancellationToken,
    busy: ActivityGuard,
) {
    let Ok(external_id) = dispatcher.journal.read(move |db| db.outbox().preview(turn)).await else { return };
    // A preview whose first sending was interrupted is in doubt; the finished reply handles it.
    if external_id.as_deref() == Some("") {
        return;
    }
    let mut preview = Preview { dispatcher, queue, turn, external_id };
    let mut shown = String::new();
    let mut wake = dispatcher.clock.wake_at(dispatcher.clock.now().plus(pace));
    drop(busy);
    loop {
        let _busy = tokio::select! {
            () = over.cancelled() => return,
            busy = wake => busy,
        };
        // The next wait is registered with the clock before this activity ends.
        wake = dispatcher.clock.wake_at(dispatcher.clock.now().plus(pace));
        let (text, label) = {
            let state = lock(reply);
            (state.edit_preview(), state.label.clone())
        };
        let Some(label) = label else { continue };
        if text == shown || text.chars().count() < MIN_PREVIEW {
            continue;
        }
        // A delivery in progress goes first; a preview never waits for it.
        let Ok(_sending) = queue.sending.try_lock() else { continue };
        if over.is_cancelled() {
            return;
        }
        let outbound = Outbound {
            text: Labelled::new(Arc::from(text.as_str()), label, Scope::Shared),
            buttons: Vec::new(),
            unanswered: false,
        };
        let Some(piece) = queue.adapter.render(&outbound).into_iter().next() else { continue };
        match preview.show(&piece).await {
            PreviewOutcome::Shown => shown = text,
            PreviewOutcome::NotYet => {}
            PreviewOutcome::Failed => return,
        }
    }
}

/// The message that shows an unfinished reply.
struct Preview<'a> {
    dispatcher: &'a Dispatcher,
    queue: &'a DeliveryQueue,
    turn: TurnId,
    /// Id of the message, once it was sent.
    external_id: Option<String>,
}

/// Result of showing a preview.
enum PreviewOutcome {
    Shown,
    /// Something else has to be delivered before it.
    NotYet,
    /// Failed, or in doubt: the previews of the turn end.
    Failed,
}

impl Preview<'_> {
    /// Edits the message, or sends it the first time.
    async fn show(&mut self, piece: &OutgoingPart) -> PreviewOutcome {
        let Some(known) = &self.external_id else { return self.send(piece).await };
        match self.queue.adapter.edit(&self.queue.address.peer, known, piece, PartFormat::Rich).await {
            Ok(()) => PreviewOutcome::Shown,
            Err(_) => PreviewOutcome::Failed,
        }
    }

    async fn send(&mut self, piece: &OutgoingPart) -> PreviewOutcome {
        let (journal, turn, address) = (&self.dispatcher.journal, self.turn, self.queue.id);
        // No answer may be pending before it, or the order would change.
        let next = move |db: Db<'_>| db.outbox().next_outbox(address, Some(Urgency::Silent));
        if !matches!(journal.read(next).await, Ok(None)) {
            return PreviewOutcome::NotYet;
        }
        let begun = journal.write("begin a preview", move |tx| tx.outbox().set_preview(turn, address, "")).await;
        if begun.is_err() {
            return PreviewOutcome::Failed;
        }
        match self.queue.adapter.send(&self.queue.address.peer, piece, PartFormat::Rich).await {
            Ok(new) => {
                let to_store = new.clone();
                let keep = move |tx: Tx<'_>| tx.outbox().set_preview(turn, address, &to_store);
                if journal.write("keep a preview", keep).await.is_err() {
                    return PreviewOutcome::Failed;
                }
                self.external_id = Some(new);
                PreviewOutcome::Shown
            }
            Err(SendError::OutcomeUnknown(_)) => PreviewOutcome::Failed,
            Err(_) => {
                // Certainly not sent, so there is no preview.
                let _ = journal.write("drop a preview", move |tx| tx.outbox().drop_preview(turn)).await;
                PreviewOutcome::Failed
            }
        }
    }
}
