//! Health of the channel: the last sign of life, and current problems, each with its fix.
//!
//! Receiving and sending are judged apart. A silent stream is a problem however well requests work,
//! and silence is computed on demand, so that no task is needed to notice it. Records of single
//! chats and senders are bounded, and cleared by the next success there.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::Notify;

use super::jsonrpc::code;
use super::subscription::{SILENCE, SubscriptionError};
use crate::message::Health;
use crate::time::Timestamp;
use crate::time::task::lock;
use crate::wording::channel as words;

/// Silence after which reconnecting has failed too.
const STALLED_AFTER: Duration = Duration::from_secs(5 * 60);
/// Number of problems remembered; the oldest is dropped first.
const MAX_PROBLEMS: usize = 16;
/// Number of sentences reported at a time.
const MAX_REPORTED: usize = 4;

/// Health of the channel.
#[derive(Default)]
pub(super) struct HealthTracker {
    state: Mutex<DaemonState>,
    changed: Notify,
}

#[derive(Default)]
struct DaemonState {
    last_activity_at: Option<Timestamp>,
    /// Time of the last message, as opposed to a sign of life.
    last_message_at: Option<Timestamp>,
    receiving: ReceiveState,
    problems: VecDeque<(ProblemTopic, String)>,
    rate_limit: Option<(Timestamp, Duration)>,
}

#[derive(Default)]
enum ReceiveState {
    #[default]
    NotYet,
    Works,
    Fails(String),
}

/// Subject of a problem. A success on the same subject clears it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ProblemTopic {
    /// Choice of our account.
    Account,
    /// Our own daemon process.
    Daemon,
    /// Permission to send at all.
    Proof,
    /// Sending to a chat.
    Chat(String),
    /// Receiving from a sender, by account identifier, else by number.
    From(String),
}

impl HealthTracker {
    /// Records a sign of life.
    pub(super) fn record_activity(&self, now: Timestamp) {
        let mut state = self.state();
        let is_news = !matches!(state.receiving, ReceiveState::Works);
        (state.last_activity_at, state.receiving) = (Some(now), ReceiveState::Works);
        if state.forget(&ProblemTopic::Daemon) || is_news {
            self.changed.notify_one();
        }
    }

    /// Records the loss of the subscription.
    pub(super) fn lost(&self, lost: &SubscriptionError) {
        let sentence = match lost {
            SubscriptionError::Disconnected(_) => words::SIGNAL_UNREACHABLE.to_owned(),
            SubscriptionError::Silent => words::SIGNAL_SILENT.to_owned(),
            SubscriptionError::Rejected(code::ACCOUNT) => words::ACCOUNT_UNKNOWN.to_owned(),
            SubscriptionError::Rejected(code) => words::not_received(*code),
        };
        self.state().receiving = ReceiveState::Fails(sentence);
        self.changed.notify_one();
    }

    /// Records a message from a sender, or the exception that made it unreadable.
    pub(super) fn received(&self, now: Timestamp, sender: &str, exception: Option<&str>) {
        self.state().last_message_at = Some(now);
        let topic = ProblemTopic::From(sender.to_owned());
        match exception {
            None => self.clear(&topic),
            Some(kind) if kind.starts_with("UntrustedIdentity") => {
                self.report(topic, words::UNTRUSTED_SENDER.to_owned())
            }
            Some(kind) => self.report(topic, words::unread(kind)),
        }
    }

    /// Records a problem.
    pub(super) fn report(&self, topic: ProblemTopic, sentence: String) {
        let mut state = self.state();
        state.forget(&topic);
        if state.problems.len() >= MAX_PROBLEMS {
            state.problems.pop_front();
        }
        state.problems.push_back((topic, sentence));
        self.changed.notify_one();
    }

    /// Clears a problem.
    pub(super) fn clear(&self, topic: &ProblemTopic) {
        if self.state().forget(topic) {
            self.changed.notify_one();
        }
    }

    /// Completes when a problem has come or gone since the last call, other than silence.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Records a rate limit of that duration.
    pub(super) fn record_rate_limit(&self, now: Timestamp, span: Duration) {
        self.state().rate_limit = Some((now.plus(span), span));
    }

    /// Returns true during a rate limit, when best-effort requests are left out.
    pub(super) fn is_rate_limited(&self, now: Timestamp) -> bool {
        // No longer than asked for, even when the clock has been set back meanwhile.
        self.state().rate_limit.is_some_and(|(until, span)| !until.since(now).is_zero() && until.since(now) <= span)
    }

    /// Returns the current health.
    pub(super) fn health(&self, now: Timestamp) -> Health {
        let state = self.state();
        let is_silent_for = |span| {
            matches!(state.receiving, ReceiveState::Works)
                && state.last_activity_at.is_some_and(|at| now.since(at) > span)
        };
        let mut sentences: Vec<&str> = Vec::new();
        match &state.receiving {
            ReceiveState::NotYet => sentences.push(words::SIGNAL_NOT_YET),
            ReceiveState::Fails(sentence) => sentences.push(sentence),
            ReceiveState::Works if is_silent_for(SILENCE) => sentences.push(words::SIGNAL_SILENT),
            ReceiveState::Works => {}
        }
        let mut chat_sentences: Vec<&str> = Vec::new();
        for (topic, sentence) in state.problems.iter().rev() {
            // A problem with one chat is no problem of the channel.
            let list = if matches!(topic, ProblemTopic::Chat(_) | ProblemTopic::From(_)) {
                &mut chat_sentences
            } else {
                &mut sentences
            };
            if !list.contains(&sentence.as_str()) && list.len() < MAX_REPORTED {
                list.push(sentence);
            }
        }
        let joined = |list: Vec<&str>| (!list.is_empty()).then(|| list.join(" "));
        Health {
            problem: joined(sentences),
            last_event_at: state.last_activity_at,
            last_message_at: state.last_message_at,
            chat_problem: joined(chat_sentences),
            is_connecting: matches!(state.receiving, ReceiveState::NotYet) && state.problems.is_empty(),
            is_stalled: is_silent_for(STALLED_AFTER),
        }
    }

    fn state(&self) -> MutexGuard<'_, DaemonState> {
        lock(&self.state)
    }
}

impl DaemonState {
    /// Drops the problem of that topic. Returns true if there was one.
    fn forget(&mut self, topic: &ProblemTopic) -> bool {
        let before = self.problems.len();
        self.problems.retain(|(known, _)| known != topic);
        self.problems.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp(1_000_000);

    fn problem(tracker: &HealthTracker, now: Timestamp) -> Option<String> {
        tracker.health(now).problem
    }

    fn remark(tracker: &HealthTracker) -> Option<String> {
        tracker.health(START).chat_problem
    }

    #[test]
    fn prolonged_silence_is_reported_as_a_problem() {
        let tracker = HealthTracker::default();
        assert_eq!(problem(&tracker, START).as_deref(), Some(words::SIGNAL_NOT_YET));
        assert!(tracker.health(START).is_connecting);
        tracker.record_activity(START);
        assert_eq!(problem(&tracker, START.plus(SILENCE)), None);
        let late = START.plus(SILENCE + Duration::from_millis(1));
        assert_eq!(problem(&tracker, late).as_deref(), Some(words::SIGNAL_SILENT));
        // A service manager restarts the program only once reconnecting has not helped either.
        let stalls = |at| tracker.health(at).is_stalled;
        assert!(!stalls(late) && stalls(START.plus(STALLED_AFTER + Duration::from_millis(1))));
        tracker.record_activity(late);
        assert_eq!(tracker.health(late), Health { last_event_at: Some(late), ..Health::default() });
    }

    #[test]
    fn a_lost_stream_is_trouble_until_something_is_heard() {
        let tracker = HealthTracker::default();
        tracker.record_activity(START);
        for (lost, sentence) in [
            (SubscriptionError::Disconnected("x".to_owned()), words::SIGNAL_UNREACHABLE),
            (SubscriptionError::Silent, words::SIGNAL_SILENT),
            (SubscriptionError::Rejected(code::ACCOUNT), words::ACCOUNT_UNKNOWN),
        ] {
            tracker.lost(&lost);
            assert_eq!(problem(&tracker, START).as_deref(), Some(sentence));
        }
        tracker.record_activity(START);
        assert_eq!(problem(&tracker, START), None);
    }

    #[test]
    fn an_unreadable_sender_is_reported_until_a_message_can_be_read() {
        let tracker = HealthTracker::default();
        tracker.record_activity(START);
        tracker.received(START, "a", Some("UntrustedIdentityException"));
        tracker.received(START, "b", None);
        assert_eq!(remark(&tracker).as_deref(), Some(words::UNTRUSTED_SENDER));
        assert_eq!(problem(&tracker, START), None, "what one sender suffers from is no trouble of the channel");
        tracker.received(START, "a", None);
        assert_eq!(remark(&tracker), None);
        tracker.received(START, "a", Some("Odd<b>Exception"));
        assert!(remark(&tracker).unwrap().contains("OddbException"));
    }

    #[test]
    fn the_number_of_remembered_problems_is_bounded() {
        let tracker = HealthTracker::default();
        tracker.record_activity(START);
        for at in 0..3 * MAX_PROBLEMS {
            tracker.received(START, &at.to_string(), Some(&format!("E{at}")));
        }
        assert_eq!(tracker.state().problems.len(), MAX_PROBLEMS);
        assert_eq!(remark(&tracker).unwrap().matches("(E").count(), MAX_REPORTED);
    }

    #[test]
    fn courtesies_wait_as_long_as_was_asked() {
        let tracker = HealthTracker::default();
        let span = Duration::from_secs(60);
        tracker.record_rate_limit(START, span);
        assert!(tracker.is_rate_limited(START) && tracker.is_rate_limited(START.plus(span - Duration::from_millis(1))));
        assert!(!tracker.is_rate_limited(START.plus(span)));
        assert!(!tracker.is_rate_limited(START.minus(span)));
    }
}
