//! What goes wrong, on demand. The short forms touch sending and editing of messages; `fault` names
//! any method.

use std::time::Duration;

use serde_json::json;

use super::FakeTelegram;
use super::methods::{Call, Refusal, parse_mode};
use super::state::{ChatId, State, Violation};

/// The methods that the short forms mean.
pub(super) const SENDS: [&str; 6] =
    ["sendmessage", "editmessagetext", "editmessagereplymarkup", "sendphoto", "sendvoice", "senddocument"];

/// Stands for all of `SENDS` in the list of faults.
const ANY_SEND: &str = "";

/// How one call fails.
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

/// A chat's flood control: first a 429, then silence is expected until the time given.
#[derive(Default)]
pub(super) struct Flood {
    armed_secs: Option<i64>,
    until_ms: i64,
}

impl FakeTelegram {
    /// The next `times` calls of `method` fail so. Method names as in Telegram's documentation.
    pub fn fault(&self, method: &str, fault: Fault, times: usize) {
        let name: &'static str = Box::leak(method.to_ascii_lowercase().into_boxed_str());
        self.change(|state| state.faults.extend(std::iter::repeat_n((name, fault), times)));
    }

    /// The next `times` polls are told that another instance polls.
    pub fn conflict_next(&self, times: usize) {
        self.fault("getUpdates", Fault::Conflict, times);
    }

    /// The next `times` sends or edits get a 502 and no effect.
    pub fn server_error_next(&self, times: usize) {
        self.fault(ANY_SEND, Fault::ServerError, times);
    }

    /// The next `times` sends or edits take effect, but their answer is lost.
    pub fn drop_after_accept_next(&self, times: usize) {
        self.fault(ANY_SEND, Fault::DropAfterAccept, times);
    }

    /// The next `times` sends or edits are lost on their way.
    pub fn drop_before_accept_next(&self, times: usize) {
        self.fault(ANY_SEND, Fault::DropBeforeAccept, times);
    }

    /// The next `times` sends or edits take effect, but their answer is torn.
    pub fn malformed_json_next(&self, times: usize) {
        self.fault(ANY_SEND, Fault::MalformedJson, times);
    }

    /// The next `times` sends or edits with a parse mode are refused for their markup.
    pub fn reject_markup_next(&self, times: usize) {
        self.fault(ANY_SEND, Fault::RejectMarkup, times);
    }

    /// Whatever has these words in it gets a 502 and no effect, until `takes_everything`.
    pub fn never_takes(&self, words: &str) {
        self.change(|state| state.poison.push((words.to_owned(), Fault::ServerError)));
    }

    /// Whatever has these words in it takes effect, and its answer is lost.
    pub fn loses_answers_to(&self, words: &str) {
        self.change(|state| state.poison.push((words.to_owned(), Fault::DropAfterAccept)));
    }

    /// Whatever goes to this chat gets a 502 and no effect.
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

    /// The next `times` files cannot be had.
    pub fn files_fail_next(&self, times: usize) {
        self.fault("getFile", Fault::ServerError, times);
    }

    /// Forgets all faults that were not used.
    pub fn clear_faults(&self) {
        self.change(|state| state.faults.clear());
    }

    /// The next send or edit to the chat gets a 429; whatever comes before the time is over (by the
    /// fake's clock) gets another one and counts as a violation.
    pub fn flood(&self, chat: ChatId, retry_after_secs: i64) {
        self.change(|state| state.floods.entry(chat).or_default().armed_secs = Some(retry_after_secs));
    }

    /// Sends to the chat are refused with 403 from now on, without any notice to the bot (see also
    /// `blocks`).
    pub fn block(&self, chat: ChatId) {
        self.change(|state| state.blocked.insert(chat));
    }

    /// Ends `block`.
    pub fn unblock(&self, chat: ChatId) {
        self.change(|state| state.blocked.remove(&chat));
    }

    /// Sends and edits wait at the door, without effect, until `release_sends`.
    pub fn hold_sends(&self) {
        self.change(|state| state.hold_sends = true);
    }

    /// Sends and edits take effect, but their answers wait until `release_sends`.
    pub fn hold_answers(&self) {
        self.change(|state| state.hold_answers = true);
    }

    /// Lets everything pass that `hold_sends` or `hold_answers` keep.
    pub fn release_sends(&self) {
        self.change(|state| (state.hold_sends, state.hold_answers) = (false, false));
    }

    /// How many sends are being held; those whose client hung up are not.
    pub fn held(&self) -> usize {
        self.read(|state| state.held)
    }

    /// A webhook is set: polls get 409 until the bot calls `deleteWebhook`.
    pub fn set_webhook(&self, url: &str) {
        self.change(|state| state.webhook = url.to_owned());
    }

    /// Moves the numbering of updates by `by`, forwards or back, as Telegram does after a quiet
    /// week.
    pub fn jump_update_ids(&self, by: i64) {
        self.change(|state| state.next_update += by);
    }

    /// From now on also refused calls that the bot brought upon itself and double polls count as
    /// violations.
    pub fn strict(&self, on: bool) {
        self.change(|state| state.strict = on);
    }

    /// Two accepted sends or edits in one chat nearer than `interval` count as a violation.
    pub fn pace(&self, interval: Duration) {
        self.change(|state| state.chronicle.set_pace(interval));
    }

    /// Everything that a well-behaved bot would not have done: calls during a flood wait always,
    /// more under `strict` and `pace`.
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
