//! Faults on demand. The short forms affect sends and edits of messages; `fault` names any method.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::FakeTelegram;
use super::methods::{Call, Refusal, parse_mode};
use super::state::{ChatId, State, Violation};

/// Methods affected by the short forms.
pub(super) const SENDS: [&str; 6] =
    ["sendmessage", "editmessagetext", "editmessagereplymarkup", "sendphoto", "sendvoice", "senddocument"];

/// Stands for all of `SENDS` in the list of faults.
const ANY_SEND: &str = "";

/// One failure of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// 409, as if another instance polled.
    Conflict,
    /// 502 with a page of HTML.
    ServerError,
    /// The call takes effect, then the connection closes without an answer.
    DropAfterAccept,
    /// The connection closes without any effect.
    DropBeforeAccept,
    /// The call takes effect, then the answer is torn JSON under status 200.
    MalformedJson,
    /// 400 "can't parse entities", for calls that have a parse mode; plain text passes.
    RejectMarkup,
}

/// Flood control of a chat: first a 429, then silence is expected until the given time.
#[derive(Default)]
pub(super) struct Flood {
    armed_secs: Option<i64>,
    until_ms: i64,
}

impl FakeTelegram {
    /// Fails the next `times` calls of `method`. Method names as in Telegram's documentation.
    pub fn fault(&self, method: &str, fault: Fault, times: usize) {
        let name: &'static str = Box::leak(method.to_ascii_lowercase().into_boxed_str());
        self.change(|state| state.faults.extend(std::iter::repeat_n((name, fault), times)));
    }

    /// Rejects the next `times` polls with a conflict, as if another instance polled.
    pub fn conflict_next(&self, times: usize) {
        self.fault("getUpdates", Fault::Conflict, times);
    }

    /// Answers the next `times` sends or edits with 502 and without effect.
    pub fn server_error_next(&self, times: usize) {
        self.fault(ANY_SEND, Fault::ServerError, times);
    }

    /// Applies the next `times` sends or edits and loses their answers.
    pub fn drop_after_accept_next(&self, times: usize) {
        self.fault(ANY_SEND, Fault::DropAfterAccept, times);
    }

    /// Loses the next `times` sends or edits before they take effect.
    pub fn drop_before_accept_next(&self, times: usize) {
        self.fault(ANY_SEND, Fault::DropBeforeAccept, times);
    }

    /// Applies the next `times` sends or edits and tears their answers.
    pub fn malformed_json_next(&self, times: usize) {
        self.fault(ANY_SEND, Fault::MalformedJson, times);
    }

    /// Rejects the markup of the next `times` sends or edits with a parse mode.
    pub fn reject_markup_next(&self, times: usize) {
        self.fault(ANY_SEND, Fault::RejectMarkup, times);
    }

    /// Answers calls that contain these words with 502 and without effect, until
    /// `takes_everything`.
    pub fn never_takes(&self, words: &str) {
        self.change(|state| state.poison.push((words.to_owned(), Fault::ServerError)));
    }

    /// Applies calls that contain these words and loses their answers.
    pub fn loses_answers_to(&self, words: &str) {
        self.change(|state| state.poison.push((words.to_owned(), Fault::DropAfterAccept)));
    }

    /// Answers calls to this chat with 502 and without effect.
    pub fn takes_nothing_for(&self, chat: ChatId) {
        self.change(|state| state.unreachable.push(chat));
    }

    /// Ends `never_takes`, `loses_answers_to` and `takes_nothing_for`.
    pub fn takes_everything(&self) {
        self.change(|state| {
            state.poison.clear();
            state.unreachable.clear();
        });
    }

    /// Fails the next `times` downloads of files.
    pub fn files_fail_next(&self, times: usize) {
        self.fault("getFile", Fault::ServerError, times);
    }

    /// Drops all unused faults.
    pub fn clear_faults(&self) {
        self.change(|state| state.faults.clear());
    }

    /// Answers the next send or edit to the chat with 429; an earlier call (by the fake's clock)
    /// gets another one and counts as a violation.
    pub fn flood(&self, chat: ChatId, retry_after_secs: i64) {
        self.change(|state| state.floods.entry(chat).or_default().armed_secs = Some(retry_after_secs));
    }

    /// Refuses sends to the chat with 403 from now on, without an update to the bot (see also
    /// `blocks`).
    pub fn block(&self, chat: ChatId) {
        self.change(|state| state.blocked.insert(chat));
    }

    /// Keeps files in this folder from now on, as a local server does.
    pub fn keeps_files_in(&self, folder: &Path) {
        self.change(|state| state.local_files = Some(folder.to_owned()));
    }

    /// Deletes all topics.
    pub fn deletes_topics(&self) {
        self.change(|state| state.has_no_topics = true);
    }

    /// Ends `block`.
    pub fn unblock(&self, chat: ChatId) {
        self.change(|state| state.blocked.remove(&chat));
    }

    /// Holds sends and edits before they take effect, until `release_sends`.
    pub fn hold_sends(&self) {
        self.change(|state| state.hold_sends = true);
    }

    /// Applies sends and edits, but holds their answers until `release_sends`.
    pub fn hold_answers(&self) {
        self.change(|state| state.hold_answers = true);
    }

    /// Releases all calls held by `hold_sends` or `hold_answers`.
    pub fn release_sends(&self) {
        self.change(|state| (state.hold_sends, state.hold_answers) = (false, false));
    }

    /// Number of held sends; excludes those whose client hung up.
    pub fn held(&self) -> usize {
        self.read(|state| state.held)
    }

    /// Sets a webhook: polls get 409 until the bot calls `deleteWebhook`.
    pub fn set_webhook(&self, url: &str) {
        self.change(|state| state.webhook = url.to_owned());
    }

    /// Moves the numbering of updates by `by`, forwards or back, as Telegram does after a quiet
    /// week.
    pub fn jump_update_ids(&self, by: i64) {
        self.change(|state| state.next_update += by);
    }

    /// Counts also refused calls caused by the bot and double polls as violations.
    pub fn strict(&self, on: bool) {
        self.change(|state| state.strict = on);
    }

    /// Sets the minimum interval between two accepted sends or edits in one chat; less is a
    /// violation.
    pub fn pace(&self, interval: Duration) {
        self.change(|state| state.chronicle.set_pace(interval));
    }

    /// Calls that a well-behaved bot would not make: those during a flood wait always, more under
    /// `strict` and `pace`.
    pub fn violations(&self) -> Vec<Violation> {
        self.read(|state| state.violations.clone())
    }
}

impl State {
    pub(super) fn take_fault(&mut self, call: &Call) -> Option<Fault> {
        let has = |words: &str| ["text", "caption"].iter().any(|key| call.text(key).contains(words));
        let poison = self.poison.iter().find(|(words, _)| call.is_send() && has(words));
        if let Some((_, fault)) = poison {
            return Some(*fault);
        }
        if call.is_send() && self.unreachable.contains(&call.int("chat_id").unwrap_or_default()) {
            return Some(Fault::ServerError);
        }
        let index = self.faults.iter().position(|(method, fault)| {
            let named = *method == call.method || (*method == ANY_SEND && call.is_send());
            named && (*fault != Fault::RejectMarkup || parse_mode(call).is_some())
        })?;
        self.faults.remove(index).map(|(_, fault)| fault)
    }

    pub(super) fn check_flood(&mut self, chat: ChatId) -> Result<(), Refusal> {
        let now_ms = self.now_ms();
        let Some(flood) = self.floods.get_mut(&chat) else {
            return Ok(());
        };
        let early = now_ms < flood.until_ms;
        if let Some(secs) = flood.armed_secs.take() {
            flood.until_ms = now_ms + secs * 1000;
        }
        let wait = (flood.until_ms - now_ms + 999).div_euclid(1000);
        if early {
            self.violate(Some(chat), "sent before retry_after had passed");
        }
        if wait <= 0 {
            return Ok(());
        }
        let mut refusal = Refusal::new(429, &format!("Too Many Requests: retry after {wait}"));
        refusal.parameters = Some(json!({ "retry_after": wait }));
        Err(refusal)
    }
}
