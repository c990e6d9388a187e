//! Records of the bot's calls, and waiting for them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::FakeTelegram;
use super::state::{CallbackAnswer, ChatId, MessageId, State, UpdateId};
use crate::support::fake::{Accepted, AcceptedKind};

/// One message of the bot after all edits.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    pub chat: ChatId,
    pub message_id: MessageId,
    /// Visible text: entities removed, ends trimmed.
    pub text: String,
    /// Visible text before the first edit.
    pub first_text: String,
    /// Text with its markup, as sent.
    pub raw: String,
    /// Telegram's entities, offsets in UTF-16 units.
    pub entities: Vec<Value>,
    pub parse_mode: Option<String>,
    /// Every accepted edit, oldest first.
    pub edits: Vec<Edit>,
    pub reply_to: Option<MessageId>,
    /// The topic of a forum.
    pub thread_id: Option<i64>,
    pub silent: bool,
    pub link_preview_disabled: bool,
    pub reply_markup: Option<Value>,
    pub at_ms: i64,
    pub deleted: bool,
    /// Uploaded file, if any.
    pub file: Option<Upload>,
}

/// A file that the bot uploaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// `photo`, `voice` or `document`.
    pub kind: &'static str,
    pub name: String,
    pub mime: String,
    pub bytes: Vec<u8>,
}

impl Sent {
    /// Returns whether the message has markup instead of plain text.
    pub fn is_marked_up(&self) -> bool {
        self.parse_mode.as_deref() == Some("HTML")
    }

    /// Label and data of each button below the message, row after row.
    pub fn buttons(&self) -> Vec<(String, String)> {
        let owned = |button: &Value, key: &str| button[key].as_str().unwrap_or_default().to_owned();
        let buttons = self.reply_markup.as_ref().map(buttons).unwrap_or_default();
        buttons.iter().map(|button| (owned(button, "text"), owned(button, "callback_data"))).collect()
    }
}

/// Result of one edit.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    pub text: String,
    pub raw: String,
    pub parse_mode: Option<String>,
    pub reply_markup: Option<Value>,
    pub at_ms: i64,
}

impl FakeTelegram {
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

    /// Names of all calls with a valid token, in lower case, including refused ones.
    pub fn calls(&self) -> Vec<String> {
        self.read(|state| state.calls.clone())
    }

    /// The texts before the first message, by code of language.
    pub fn descriptions(&self) -> BTreeMap<String, String> {
        self.read(|state| state.descriptions.clone())
    }

    /// Sets the text before the first message, as its owner does.
    pub fn is_described(&self, text: &str) {
        self.change(|state| drop(state.descriptions.insert(String::new(), text.to_owned())));
    }

    /// The command menus: scope (`default`, `all_private_chats`, `chat:7`, …) to commands with
    /// descriptions.
    pub fn commands(&self) -> BTreeMap<String, Vec<(String, String)>> {
        self.read(|state| state.menus.clone())
    }

    /// Number of typing signs.
    pub fn typing(&self, chat: ChatId) -> usize {
        self.typing_times(chat).len()
    }

    /// Times of the typing signs.
    pub fn typing_times(&self, chat: ChatId) -> Vec<i64> {
        self.read(|state| state.typing.get(&chat).cloned().unwrap_or_default())
    }

    /// Current reactions of the bot to a message.
    pub fn reactions(&self, chat: ChatId, message: MessageId) -> Vec<String> {
        self.read(|state| state.reactions.get(&(chat, message)).cloned().unwrap_or_default())
    }

    /// The accepted answers to pressed buttons.
    pub fn callback_answers(&self) -> Vec<CallbackAnswer> {
        self.read(|state| state.callback_answers.clone())
    }

    /// Number of polls so far.
    pub fn polls(&self) -> usize {
        self.read(|state| state.polls)
    }

    /// Returns whether a poll is open.
    pub fn polling(&self) -> bool {
        self.read(|state| state.parked > 0)
    }

    /// Offset of the last poll.
    pub fn last_offset(&self) -> Option<i64> {
        self.read(|state| state.last_offset)
    }

    /// Number of updates that are not confirmed, delivered or not.
    pub fn unacked(&self) -> usize {
        self.read(|state| state.queue.len())
    }

    /// Number of confirmed updates.
    pub fn acked_count(&self) -> usize {
        self.read(|state| state.acked)
    }

    /// Id of the newest update.
    pub fn last_update_id(&self) -> Option<UpdateId> {
        self.read(|state| state.history.last().map(|(id, _)| *id))
    }

    /// Waits until every queued update is confirmed.
    pub async fn acked(&self) {
        self.until(|fake| fake.unacked() == 0).await;
    }

    /// Waits until every queued update is confirmed and the bot polls again or uses a webhook.
    pub async fn idle_acked(&self) {
        self.until(|fake| fake.read(|state| state.queue.is_empty() && (state.parked > 0 || state.calls_the_bot())))
            .await;
    }

    /// Waits for the first poll, or for a webhook.
    pub async fn first_poll(&self) {
        self.until(|fake| fake.polls() > 0 || fake.read(State::calls_the_bot)).await;
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

/// All buttons of an inline keyboard.
pub(super) fn buttons(markup: &Value) -> Vec<Value> {
    let rows = markup["inline_keyboard"].as_array().into_iter().flatten();
    rows.filter_map(Value::as_array).flatten().cloned().collect()
}
