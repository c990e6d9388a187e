//! Faults on demand. The short forms affect `send`; `fault` names any method.

use std::time::Duration;

use serde_json::{Value, json};

use super::FakeSignal;
use super::state::{ChatId, ConnectionId, Shuffle, State, Violation};

/// One failure of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The connection closes before the request takes effect.
    CloseBefore,
    /// The request takes effect, then the connection closes without an answer.
    CloseAfter,
    /// The request takes effect, and the answer never comes.
    NoAnswer,
    /// -3, without effect: the daemon cannot reach Signal.
    Offline,
    /// -32603, without effect.
    Internal,
    /// The request takes effect, and the answer is torn.
    Torn,
}

/// Reason of a failed delivery to one recipient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    Network,
    Unregistered,
    Identity,
    PreKey,
    /// Includes the wait in seconds in newer daemons.
    RateLimit(Option<i64>),
    /// A rate limit that only a captcha lifts.
    ProofRequired {
        token: String,
        retry_after: i64,
    },
}

impl Failure {
    pub(super) fn result(&self) -> Value {
        match self {
            Self::Network => json!({ "type": "NETWORK_FAILURE" }),
            Self::Unregistered => json!({ "type": "UNREGISTERED_FAILURE" }),
            Self::Identity => json!({ "type": "IDENTITY_FAILURE" }),
            Self::PreKey => json!({ "type": "INVALID_PRE_KEY_FAILURE" }),
            Self::RateLimit(None) => json!({ "type": "RATE_LIMIT_FAILURE" }),
            Self::RateLimit(Some(secs)) => json!({ "type": "RATE_LIMIT_FAILURE", "retryAfterSeconds": secs }),
            Self::ProofRequired { token, retry_after } => {
                json!({ "type": "RATE_LIMIT_FAILURE", "token": token, "retryAfterSeconds": retry_after })
            }
        }
    }
}

/// Rate limit of a recipient: first a failure, then silence is expected until the given time.
#[derive(Default)]
pub(super) struct Flood {
    armed_secs: Option<i64>,
    until_ms: i64,
}

/// Selection of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Subscribed connections.
    Receiving,
    /// All other connections.
    Sending,
    Both,
}

impl FakeSignal {
    /// Fails the next `times` requests of `method`.
    pub fn fault(&self, method: &str, fault: Fault, times: usize) {
        let name: &'static str = Box::leak(method.to_owned().into_boxed_str());
        self.change(|state| state.faults.extend(std::iter::repeat_n((name, fault), times)));
    }

    /// Fails the next `times` sends without effect, as if the daemon were cut off from Signal.
    pub fn server_error_next(&self, times: usize) {
        self.fault("send", Fault::Offline, times);
    }

    /// Applies the next `times` sends and loses their answers.
    pub fn drop_after_accept_next(&self, times: usize) {
        self.fault("send", Fault::CloseAfter, times);
    }

    /// Loses the next `times` sends before they take effect.
    pub fn drop_before_accept_next(&self, times: usize) {
        self.fault("send", Fault::CloseBefore, times);
    }

    /// Applies the next `times` sends and tears their answers.
    pub fn malformed_json_next(&self, times: usize) {
        self.fault("send", Fault::Torn, times);
    }

    /// Refuses sends that contain these words, until `takes_everything`.
    pub fn never_takes(&self, words: &str) {
        self.change(|state| state.poison.push((words.to_owned(), Fault::Offline)));
    }

    /// Applies sends that contain these words and loses their answers.
    pub fn loses_answers_to(&self, words: &str) {
        self.change(|state| state.poison.push((words.to_owned(), Fault::CloseAfter)));
    }

    /// Fails every delivery to this person.
    pub fn takes_nothing_for(&self, person: i64) {
        self.refuses(person, Failure::Network);
    }

    /// Ends `never_takes`, `loses_answers_to` and `takes_nothing_for`.
    pub fn takes_everything(&self) {
        self.change(|state| {
            state.poison.clear();
            state.refusals.clear();
        });
    }

    /// Fails the next `times` downloads of files.
    pub fn files_fail_next(&self, times: usize) {
        self.fault("getAttachment", Fault::Internal, times);
    }

    /// Drops all unused faults.
    pub fn clear_faults(&self) {
        self.change(|state| state.faults.clear());
    }

    /// Applies a rate limit to the next send to the chat; an earlier send (by the fake's clock)
    /// hits it again and counts as a violation.
    pub fn flood(&self, chat: ChatId, retry_after_secs: i64) {
        self.change(|state| state.floods.entry(chat).or_default().armed_secs = Some(retry_after_secs));
    }

    /// Fails every delivery to this person, until `accepts`.
    pub fn refuses(&self, person: i64, failure: Failure) {
        self.change(|state| state.refusals.insert(person, failure));
    }

    /// Fails the next `times` deliveries to this person.
    pub fn refuses_next(&self, person: i64, failure: Failure, times: usize) {
        self.change(|state| state.refuse_next.extend(std::iter::repeat_n((person, failure), times)));
    }

    /// Ends `refuses`.
    pub fn accepts(&self, person: i64) {
        self.change(|state| state.refusals.remove(&person));
    }

    /// Removes the person's account.
    pub fn block(&self, person: i64) {
        self.refuses(person, Failure::Unregistered);
    }

    /// Ends `block`.
    pub fn unblock(&self, person: i64) {
        self.accepts(person);
    }

    /// Blocks like `block`: on Signal we get no notice of it.
    pub fn blocks(&self, person: i64) {
        self.block(person);
    }

    /// Ends `blocks`.
    pub fn unblocks(&self, person: i64) {
        self.unblock(person);
    }

    /// Removes us from a group.
    pub fn removes_us(&self, group: ChatId) {
        self.change(|state| state.groups.get_mut(&group).map(|group| group.has_us = false));
    }

    /// Holds sends before they take effect, until `release_sends`.
    pub fn hold_sends(&self) {
        self.change(|state| state.holds_sends = true);
    }

    /// Applies sends, but holds their answers until `release_sends`.
    pub fn hold_answers(&self) {
        self.change(|state| state.holds_answers = true);
    }

    /// Releases all sends held by `hold_sends` or `hold_answers`.
    pub fn release_sends(&self) {
        self.change(|state| (state.holds_sends, state.holds_answers) = (false, false));
    }

    /// Number of held sends; excludes those whose client hung up.
    pub fn held(&self) -> usize {
        self.read(|state| state.held)
    }

    /// Holds the next `count` answers and sends them in reverse order.
    pub fn shuffle_next(&self, count: usize) {
        self.change(|state| state.shuffle = Some(Shuffle { size: count, kept: Vec::new() }));
    }

    /// Writes these bytes before the next answer.
    pub fn before_next_answer(&self, bytes: &[u8]) {
        self.change(|state| state.before_answer.push_back(bytes.to_vec()));
    }

    /// Withholds all output from subscribed connections, even answers, while the rest works; until
    /// switched off.
    pub fn deafen_subscribers(&self, on: bool) {
        self.change(|state| state.is_deaf = on);
    }

    /// Withholds all output from the currently subscribed connections: new ones work.
    pub fn deafen(&self) {
        self.change(|state| {
            for id in state.chosen(Which::Receiving) {
                if let Some(connection) = state.connections.get_mut(&id) {
                    connection.is_deaf = true;
                }
            }
        });
    }

    /// Allows messages before the answer to their subscription.
    pub fn eager(&self, on: bool) {
        self.change(|state| state.is_eager = on);
    }

    /// Stops reading from all line connections.
    pub fn stall(&self, on: bool) {
        self.change(|state| state.is_stalled = on);
    }

    /// Closes connections.
    pub fn close(&self, which: Which) {
        self.change(|state| {
            for id in state.chosen(which) {
                if let Some(connection) = state.connections.get(&id) {
                    connection.cut.cancel();
                }
                state.close_connection(id);
            }
        });
    }

    /// Sends one keep-alive to all event streams.
    pub fn keep_alive(&self) {
        self.change(State::keep_alive);
    }

    /// Sends keep-alives at this interval, in real time; off by default.
    pub fn keep_alive_every(&self, pause: Option<Duration>) {
        self.change(|state| state.keep_alive = pause);
    }

    /// Delays the header of an event stream until the first event or keep-alive, as in older
    /// daemons; on by default.
    pub fn late_headers(&self, on: bool) {
        self.change(|state| state.has_late_headers = on);
    }

    /// Serves exactly one account, and accepts no `account` parameter.
    pub fn single_account(&self) {
        self.change(|state| state.is_single = true);
    }

    /// Sets the accounts of the daemon.
    pub fn accounts(&self, numbers: &[&str]) {
        self.change(|state| state.accounts = numbers.iter().map(|&number| number.to_owned()).collect());
    }

    /// Sets the version that the daemon reports.
    pub fn version(&self, version: &str) {
        self.change(|state| version.clone_into(&mut state.version));
    }

    /// Scans the code of every device that waits for linking.
    pub fn scans(&self) {
        self.change(|state| state.links.values_mut().for_each(|is_scanned| *is_scanned = true));
    }

    /// Counts also requests that no daemon understands as violations.
    pub fn strict(&self, on: bool) {
        self.change(|state| state.is_strict = on);
    }

    /// Sets the minimum interval between two accepted sends in one chat; less is a violation.
    pub fn pace(&self, interval: Duration) {
        self.change(|state| state.chronicle.set_pace(interval));
    }

    /// Requests that a well-behaved client would not make.
    pub fn violations(&self) -> Vec<Violation> {
        self.read(|state| state.violations.clone())
    }
}

impl State {
    pub(super) fn take_fault(&mut self, method: &str, message: &str) -> Option<Fault> {
        let poison = self.poison.iter().find(|(words, _)| method == "send" && message.contains(words));
        if let Some((_, fault)) = poison {
            return Some(fault.clone());
        }
        let index = self.faults.iter().position(|(name, _)| *name == method)?;
        self.faults.remove(index).map(|(_, fault)| fault)
    }

    /// Failure of a delivery to a person, if one is planned.
    pub(super) fn failure(&mut self, chat: ChatId, person: i64) -> Option<Failure> {
        if let Some(at) = self.refuse_next.iter().position(|(who, _)| *who == person) {
            return self.refuse_next.remove(at).map(|(_, failure)| failure);
        }
        if !self.humans.contains_key(&person) {
            return Some(Failure::Unregistered);
        }
        self.refusals.get(&person).cloned().or_else(|| self.check_flood(chat))
    }

    fn check_flood(&mut self, chat: ChatId) -> Option<Failure> {
        let now_ms = self.now_ms();
        let flood = self.floods.get_mut(&chat)?;
        let early = now_ms < flood.until_ms;
        if let Some(secs) = flood.armed_secs.take() {
            flood.until_ms = now_ms + secs * 1000;
        }
        let wait = (flood.until_ms - now_ms + 999).div_euclid(1000);
        if early {
            self.violate(Some(chat), "sent before the time was over");
        }
        (wait > 0).then_some(Failure::RateLimit(Some(wait)))
    }

    fn chosen(&self, which: Which) -> Vec<ConnectionId> {
        let is_chosen = |id: &ConnectionId| match which {
            Which::Receiving => self.is_subscriber(*id),
            Which::Sending => !self.is_subscriber(*id),
            Which::Both => true,
        };
        self.connections.keys().copied().filter(is_chosen).collect()
    }
}
