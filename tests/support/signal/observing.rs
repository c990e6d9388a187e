//! Records of our requests, and waiting for them.

use std::time::Duration;

use serde_json::Value;

use super::FakeSignal;
use super::state::{ChatId, MessageId, State, UpdateId};
use crate::support::fake::{Accepted, AcceptedKind};

/// One of our messages after all edits.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    pub chat: ChatId,
    pub message_id: MessageId,
    /// Visible text.
    pub text: String,
    /// Visible text before the first edit.
    pub first_text: String,
    /// `start:length:STYLE`, in UTF-16 units.
    pub styles: Vec<String>,
    /// `start:length:recipient`
    pub mentions: Vec<String>,
    /// Every accepted edit, oldest first.
    pub edits: Vec<Edit>,
    /// The quoted message.
    pub reply_to: Option<MessageId>,
    /// Claimed author and text of the quote.
    pub quote: Option<(String, String)>,
    pub files: Vec<SentFile>,
    pub view_once: bool,
    /// All parameters, as received.
    pub params: Value,
    /// Group members that did not get it.
    pub missed_by: Vec<i64>,
    pub at_ms: i64,
    pub deleted: bool,
}

impl Sent {
    /// Returns whether the message has styles instead of plain text.
    pub fn is_marked_up(&self) -> bool {
        !self.styles.is_empty()
    }

    /// Returns whether a timestamp names this message: its own, or that of an edit.
    pub fn is_named(&self, message: MessageId) -> bool {
        self.message_id == message || self.edits.iter().any(|edit| edit.message_id == message)
    }

    /// Text under each style, as `STYLE text`.
    pub fn styled(&self) -> Vec<String> {
        let units: Vec<u16> = self.text.encode_utf16().collect();
        let covered = self.styles.iter().map(|style| {
            let mut parts = style.splitn(3, ':');
            let mut number = || parts.next().and_then(|part| part.parse::<usize>().ok()).unwrap_or(usize::MAX);
            let (start, length) = (number(), number());
            let text = units.get(start..start.saturating_add(length)).map(String::from_utf16_lossy);
            format!("{} {}", parts.next().unwrap_or_default(), text.unwrap_or_else(|| "outside".to_owned()))
        });
        covered.collect()
    }
}

/// Result of one edit.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    pub message_id: MessageId,
    pub text: String,
    pub at_ms: i64,
}

/// An attachment of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentFile {
    pub name: String,
    pub mime: String,
    pub bytes: Vec<u8>,
}

impl FakeSignal {
    /// Undeleted messages of a chat, in the order of sending, with their final texts.
    pub fn sent(&self, chat: ChatId) -> Vec<Sent> {
        self.read(|state| state.sent.iter().filter(|sent| sent.chat == chat && !sent.deleted).cloned().collect())
    }

    /// Final visible texts of a chat.
    pub fn texts(&self, chat: ChatId) -> Vec<String> {
        self.sent(chat).into_iter().map(|sent| sent.text).collect()
    }

    /// Every accepted send, edit and deletion in all chats, in order of time.
    pub fn all_sends(&self) -> Vec<Accepted> {
        self.read(|state| state.chronicle.accepted().to_vec())
    }

    /// Names of all requests, including refused ones.
    pub fn calls(&self) -> Vec<String> {
        self.read(|state| state.calls.clone())
    }

    /// Method and name of every parameter that no daemon understands.
    pub fn ignored(&self) -> Vec<(String, String)> {
        self.read(|state| state.ignored.clone())
    }

    /// Number of typing signs.
    pub fn typing(&self, chat: ChatId) -> usize {
        self.typing_times(chat).len()
    }

    /// Times of the typing signs.
    pub fn typing_times(&self, chat: ChatId) -> Vec<i64> {
        let begun = |signs: &Vec<(i64, bool)>| signs.iter().filter(|(_, on)| *on).map(|(at, _)| *at).collect();
        self.read(|state| state.typing.get(&chat).map(begun).unwrap_or_default())
    }

    /// Returns whether people see us typing: for 15 seconds after the last start sign.
    pub fn is_typing(&self, chat: ChatId) -> bool {
        self.read(|state| {
            let last = state.typing.get(&chat).and_then(|signs| signs.last());
            last.is_some_and(|(at, on)| *on && state.now_ms() - at < 15_000)
        })
    }

    /// Our current reaction to a message.
    pub fn reaction(&self, chat: ChatId, message: MessageId) -> Option<String> {
        self.read(|state| state.reactions.get(&(chat, message)).cloned())
    }

    /// Receipts that we sent to a person: `read` or `viewed`, and the message.
    pub fn receipts(&self, person: i64) -> Vec<(String, MessageId)> {
        self.read(|state| state.receipts.get(&person).cloned().unwrap_or_default())
    }

    /// All values set by `updateProfile`.
    pub fn profile(&self) -> Value {
        self.read(|state| Value::Object(state.profile.clone()))
    }

    /// Number of subscriptions.
    pub fn subscribed(&self) -> usize {
        self.read(|state| state.subscriptions.len())
    }

    /// Number of subscriptions ever made.
    pub fn subscriptions(&self) -> u64 {
        self.read(|state| state.next_subscription)
    }

    /// Number of open connections: line connections and event streams.
    pub fn connected(&self) -> usize {
        self.read(|state| state.connections.len())
    }

    /// Number of messages and edits on the server, or delivered but not reported as stored.
    pub fn unacked(&self) -> usize {
        self.read(|state| state.queue.len() + state.on_wire.len())
    }

    /// Number of envelopes on Signal's server.
    pub fn waiting(&self) -> usize {
        self.read(|state| state.queue.len())
    }

    /// Messages written to a client that died before they were reported as stored.
    pub fn lost(&self) -> Vec<MessageId> {
        let lost = self.read(|state| state.lost.clone());
        lost.into_iter().filter_map(|id| self.message_of(id)).collect()
    }

    /// The number of the newest envelope.
    pub fn last_update_id(&self) -> Option<UpdateId> {
        self.read(|state| state.history.last().map(|queued| queued.id))
    }

    /// Timestamp of the message in an envelope.
    pub fn message_of(&self, id: UpdateId) -> Option<MessageId> {
        let of = |state: &State| state.history.iter().find(|queued| queued.id == id).map(|queued| queued.body.clone());
        self.read(of).and_then(|body| body["envelope"]["timestamp"].as_i64())
    }

    /// Reports a received item as stored.
    pub fn stored(&self, raw: &str) {
        let item: Value = serde_json::from_str(raw).unwrap_or_default();
        let number = [&item["fakeNumber"], &item["result"]["fakeNumber"]].into_iter().find_map(Value::as_i64);
        let Some(number) = number else { return };
        self.change(|state| {
            let at = state.on_wire.iter().position(|(id, _)| *id == number);
            at.map(|at| state.on_wire.remove(at))
        });
    }

    /// Waits until every message is stored.
    pub async fn acked(&self) {
        self.until(|fake| fake.unacked() == 0).await;
    }

    /// Waits for a subscription.
    pub async fn listened_to(&self) {
        self.until(|fake| fake.subscribed() > 0).await;
    }

    /// Waits until a condition holds; checks it after each change. The caller sets the time limit.
    pub async fn until(&self, condition: impl Fn(&Self) -> bool) {
        self.inner.shared.until(|| condition(self)).await;
    }

    /// Blocking variant of `until`; false if the limit passes first.
    pub fn wait_for(&self, limit: Duration, condition: impl Fn(&Self) -> bool) -> bool {
        self.inner.shared.wait_for(limit, || condition(self))
    }
}

impl State {
    /// Records an accepted call and checks the pace.
    pub(super) fn record(&mut self, kind: AcceptedKind, sent: &Sent) {
        let (at_ms, chat, message_id) = (self.now_ms(), sent.chat, sent.message_id);
        if !self.chronicle.record(Accepted { at_ms, kind, chat, message_id, text: sent.text.clone() }) {
            self.violate(Some(chat), "too soon after the call before");
        }
    }
}
