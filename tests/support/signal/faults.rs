//! What goes wrong, on demand. The short forms touch `send`; `fault` names any method.

use std::time::Duration;

use serde_json::{Value, json};

use super::FakeSignal;
use super::state::{ChatId, ConnectionId, Shuffle, State, Violation};

/// How one request fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Without any effect the connection closes.
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

/// Why one recipient did not get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    Network,
    Unregistered,
    Identity,
    PreKey,
    /// Newer daemons say for how long, in seconds.
    RateLimit(Option<i64>),
    /// The same, and only a captcha helps.
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

/// A recipient's rate limit: first a failure, then silence is expected until the time given.
#[derive(Default)]
pub(super) struct Flood {
    armed_secs: Option<i64>,
    until_ms: i64,
}

/// Which connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those that have subscribed.
    Receiving,
    /// The others.
    Sending,
    Both,
}

impl FakeSignal {
    /// The next `times` requests of `method` fail so.
    pub fn fault(&self, method: &str, fault: Fault, times: usize) {
        let name: &'static str = Box::leak(method.to_owned().into_boxed_str());
        self.change(|state| state.faults.extend(std::iter::repeat_n((name, fault), times)));
    }

    /// The next `times` sends find the daemon cut off from Signal, and have no effect.
    pub fn server_error_next(&self, times: usize) {
        self.fault("send", Fault::Offline, times);
    }

    /// The next `times` sends take effect, but their answer is lost.
    pub fn drop_after_accept_next(&self, times: usize) {
        self.fault("send", Fault::CloseAfter, times);
    }

    /// The next `times` sends are lost on their way.
    pub fn drop_before_accept_next(&self, times: usize) {
        self.fault("send", Fault::CloseBefore, times);
    }

    /// The next `times` sends take effect, but their answer is torn.
    pub fn malformed_json_next(&self, times: usize) {
        self.fault("send", Fault::Torn, times);
    }

    /// Whatever has these words in it is not taken, until `takes_everything`.
    pub fn never_takes(&self, words: &str) {
        self.change(|state| state.poison.push((words.to_owned(), Fault::Offline)));
    }

    /// Whatever has these words in it takes effect, and its answer is lost.
    pub fn loses_answers_to(&self, words: &str) {
        self.change(|state| state.poison.push((words.to_owned(), Fault::CloseAfter)));
    }

    /// Whatever goes to this person does not get through.
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

    /// The next `times` files cannot be had.
    pub fn files_fail_next(&self, times: usize) {
        self.fault("getAttachment", Fault::Internal, times);
    }

    /// Forgets all faults that were not used.
    pub fn clear_faults(&self) {
        self.change(|state| state.faults.clear());
    }

    /// The next send to the chat hits a rate limit; whatever comes before the time is over (by the
    /// fake's clock) hits it again and counts as a violation.
    pub fn flood(&self, chat: ChatId, retry_after_secs: i64) {
        self.change(|state| state.floods.entry(chat).or_default().armed_secs = Some(retry_after_secs));
    }

    /// Whatever goes to this person fails so, until `accepts`.
    pub fn refuses(&self, person: i64, failure: Failure) {
        self.change(|state| state.refusals.insert(person, failure));
    }

    /// The next `times` things that go to this person fail so.
    pub fn refuses_next(&self, person: i64, failure: Failure, times: usize) {
        self.change(|state| state.refuse_next.extend(std::iter::repeat_n((person, failure), times)));
    }

    /// Ends `refuses`.
    pub fn accepts(&self, person: i64) {
        self.change(|state| state.refusals.remove(&person));
    }

    /// The person has no account any more.
    pub fn block(&self, person: i64) {
        self.refuses(person, Failure::Unregistered);
    }

    /// Ends `block`.
    pub fn unblock(&self, person: i64) {
        self.accepts(person);
    }

    /// `block`: on Signal nobody is told of it.
    pub fn blocks(&self, person: i64) {
        self.block(person);
    }

    /// Ends `blocks`.
    pub fn unblocks(&self, person: i64) {
        self.unblock(person);
    }

    /// We are thrown out of a group.
    pub fn removes_us(&self, group: ChatId) {
        self.change(|state| state.groups.get_mut(&group).map(|group| group.has_us = false));
    }

    /// Sends wait at the door, without effect, until `release_sends`.
    pub fn hold_sends(&self) {
        self.change(|state| state.holds_sends = true);
    }

    /// Sends take effect, but their answers wait until `release_sends`.
    pub fn hold_answers(&self) {
        self.change(|state| state.holds_answers = true);
    }

    /// Lets everything pass that `hold_sends` or `hold_answers` keep.
    pub fn release_sends(&self) {
        self.change(|state| (state.holds_sends, state.holds_answers) = (false, false));
    }

    /// How many sends are being held; those whose client hung up are not.
    pub fn held(&self) -> usize {
        self.read(|state| state.held)
    }

    /// The next `count` answers wait for each other, and come in the opposite order.
    pub fn shuffle_next(&self, count: usize) {
        self.change(|state| state.shuffle = Some(Shuffle { size: count, kept: Vec::new() }));
    }

    /// These bytes come before the next answer.
    pub fn before_next_answer(&self, bytes: &[u8]) {
        self.change(|state| state.before_answer.push_back(bytes.to_vec()));
    }

    /// Whoever subscribes hears nothing any more, not even answers, while all else works; until
    /// told otherwise.
    pub fn deafen_subscribers(&self, on: bool) {
        self.change(|state| state.is_deaf = on);
    }

    /// The same for the connections that have subscribed so far: a new one hears again.
    pub fn deafen(&self) {
        self.change(|state| {
            for id in state.chosen(Which::Receiving) {
                if let Some(connection) = state.connections.get_mut(&id) {
                    connection.is_deaf = true;
                }
            }
        });
    }

    /// Messages may come before the answer to the subscription that they are for.
    pub fn eager(&self, on: bool) {
        self.change(|state| state.is_eager = on);
    }

    /// Nothing is read from any line connection.
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

    /// One keep-alive to everybody who listens to events.
    pub fn keep_alive(&self) {
        self.change(State::keep_alive);
    }

    /// A keep-alive so often from now on, in real time; none at first.
    pub fn keep_alive_every(&self, pause: Option<Duration>) {
        self.change(|state| state.keep_alive = pause);
    }

    /// Whether the head of a stream of events waits for the first event or keep-alive, as in older
    /// daemons; it does at first.
    pub fn late_headers(&self, on: bool) {
        self.change(|state| state.has_late_headers = on);
    }

    /// The daemon serves exactly one account, and takes no `account`.
    pub fn single_account(&self) {
        self.change(|state| state.is_single = true);
    }

    /// The daemon has these accounts.
    pub fn accounts(&self, numbers: &[&str]) {
        self.change(|state| state.accounts = numbers.iter().map(|&number| number.to_owned()).collect());
    }

    /// The daemon says that it is this version.
    pub fn version(&self, version: &str) {
        self.change(|state| version.clone_into(&mut state.version));
    }

    /// The owner scans the code of every device that waits to be linked.
    pub fn scans(&self) {
        self.change(|state| state.links.values_mut().for_each(|is_scanned| *is_scanned = true));
    }

    /// From now on what no daemon understands counts as a violation, too.
    pub fn strict(&self, on: bool) {
        self.change(|state| state.is_strict = on);
    }

    /// Two accepted sends in one chat nearer than `interval` count as a violation.
    pub fn pace(&self, interval: Duration) {
        self.change(|state| state.chronicle.set_pace(interval));
    }

    /// Everything that a well-behaved client would not have done.
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

    /// Whether what goes to somebody fails, and how.
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
