//! Health of the channel: the last sign of life, and current problems, each with its fix.
//!
//! Receiving and sending are judged apart. A silent stream is a problem however well requests work,
//! and silence is computed on demand, so that no task is needed to notice it. Records of single
//! chats and senders are bounded, and cleared by the next success there.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::subscription::{Lost, SILENCE};
use super::wire::code;
use crate::message::Health;
use crate::time::Timestamp;
use crate::wording::signal as words;

/// Number of problems remembered; the oldest is dropped first.
const MOST: usize = 16;
/// Number of sentences reported at a time.
const TOLD: usize = 4;

/// Health of the channel.
#[derive(Default)]
pub(super) struct Pulse(Mutex<DaemonState>);

#[derive(Default)]
struct DaemonState {
    heard_at: Option<Timestamp>,
    /// Time of the last message, as opposed to a sign of life.
    received_at: Option<Timestamp>,
    receiving: Receiving,
    notes: VecDeque<(Topic, String)>,
    quiet: Option<(Timestamp, Duration)>,
}

#[derive(Default)]
enum Receiving {
    #[default]
    NotYet,
    Works,
    Fails(String),
}

/// Subject of a problem. A success on the same subject clears it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Topic {
    /// Choice of our account.
    Account,
    /// Our own daemon process.
    Daemon,
    /// Permission to send at all.
    Proof,
    /// Sending to a chat.
    Chat(String),
    /// Receiving from a sender.
    From(Sender),
}

/// Opaque key of a sender.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sender(String);

impl Sender {
    /// Key by account identifier, else by number.
    pub(super) fn named(identifier: Option<String>, number: Option<String>) -> Self {
        Self(identifier.or(number).unwrap_or_default())
    }
}

impl Pulse {
    /// Records a sign of life.
    pub(super) fn heard(&self, now: Timestamp) {
        let mut state = self.state();
        (state.heard_at, state.receiving) = (Some(now), Receiving::Works);
        state.forget(&Topic::Daemon);
    }

    /// Records the loss of the subscription.
    pub(super) fn lost(&self, lost: &Lost) {
        let sentence = match lost {
            Lost::Away(_) => words::UNREACHABLE.to_owned(),
            Lost::Deaf => words::DEAF.to_owned(),
            Lost::Refused(code::ACCOUNT) => words::ACCOUNT_UNKNOWN.to_owned(),
            Lost::Refused(code) => words::not_received(*code),
        };
        self.state().receiving = Receiving::Fails(sentence);
    }

    /// Records a message from a sender, or the exception that made it unreadable.
    pub(super) fn received(&self, now: Timestamp, sender: &Sender, exception: Option<&str>) {
        self.state().received_at = Some(now);
        let topic = Topic::From(sender.clone());
        match exception {
            None => self.settle(&topic),
            Some(kind) if kind.starts_with("UntrustedIdentity") => self.note(topic, words::UNTRUSTED_SENDER.to_owned()),
            Some(kind) => self.note(topic, words::unread(kind)),
        }
    }

    /// Records a problem.
    pub(super) fn note(&self, topic: Topic, sentence: String) {
        let mut state = self.state();
        state.forget(&topic);
        if state.notes.len() >= MOST {
            state.notes.pop_front();
        }
        state.notes.push_back((topic, sentence));
    }

    /// Clears a problem.
    pub(super) fn settle(&self, topic: &Topic) {
        self.state().forget(topic);
    }

    /// Records a rate limit of that duration.
    pub(super) fn hush(&self, now: Timestamp, span: Duration) {
        self.state().quiet = Some((now.plus(span), span));
    }

    /// Returns true during a rate limit, when best-effort requests are left out.
    pub(super) fn is_hushed(&self, now: Timestamp) -> bool {
        // No longer than asked for, even when the clock has been set back meanwhile.
        self.state().quiet.is_some_and(|(until, span)| !until.since(now).is_zero() && until.since(now) <= span)
    }

    /// Returns the current health.
    pub(super) fn health(&self, now: Timestamp) -> Health {
        let state = self.state();
        let mut sentences: Vec<&str> = Vec::new();
        match (&state.receiving, state.heard_at) {
            (Receiving::NotYet, _) => sentences.push(words::NOT_YET),
            (Receiving::Fails(sentence), _) => sentences.push(sentence),
            (Receiving::Works, Some(at)) if now.since(at) > SILENCE => sentences.push(words::DEAF),
            (Receiving::Works, _) => {}
        }
        let mut remarks: Vec<&str> = Vec::new();
        for (topic, sentence) in state.notes.iter().rev() {
            // A problem with one chat is no problem of the channel.
            let told = if matches!(topic, Topic::Chat(_) | Topic::From(_)) { &mut remarks } else { &mut sentences };
            if !told.contains(&sentence.as_str()) && told.len() < TOLD {
                told.push(sentence);
            }
        }
        let joined = |told: Vec<&str>| (!told.is_empty()).then(|| told.join(" "));
        Health {
            trouble: joined(sentences),
            last_event_at: state.heard_at,
            last_message_at: state.received_at,
            remark: joined(remarks),
        }
    }

    fn state(&self) -> MutexGuard<'_, DaemonState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DaemonState {
    fn forget(&mut self, topic: &Topic) {
        self.notes.retain(|(known, _)| known != topic);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp(1_000_000);

    fn trouble(pulse: &Pulse, now: Timestamp) -> Option<String> {
        pulse.health(now).trouble
    }

    fn sender(name: &str) -> Sender {
        Sender::named(Some(name.to_owned()), None)
    }

    fn remark(pulse: &Pulse) -> Option<String> {
        pulse.health(START).remark
    }

    #[test]
    fn silence_is_trouble_whoever_looks() {
        let pulse = Pulse::default();
        assert_eq!(trouble(&pulse, START).as_deref(), Some(words::NOT_YET));
        pulse.heard(START);
        assert_eq!(trouble(&pulse, START.plus(SILENCE)), None);
        let late = START.plus(SILENCE + Duration::from_millis(1));
        assert_eq!(trouble(&pulse, late).as_deref(), Some(words::DEAF));
        pulse.heard(late);
        assert_eq!(pulse.health(late), Health { last_event_at: Some(late), ..Health::default() });
    }

    #[test]
    fn a_lost_stream_is_trouble_until_something_is_heard() {
        let pulse = Pulse::default();
        pulse.heard(START);
        for (lost, sentence) in [
            (Lost::Away("x".to_owned()), words::UNREACHABLE),
            (Lost::Deaf, words::DEAF),
            (Lost::Refused(code::ACCOUNT), words::ACCOUNT_UNKNOWN),
        ] {
            pulse.lost(&lost);
            assert_eq!(trouble(&pulse, START).as_deref(), Some(sentence));
        }
        pulse.heard(START);
        assert_eq!(trouble(&pulse, START), None);
    }

    #[test]
    fn an_unreadable_sender_is_told_until_one_message_is_good() {
        let pulse = Pulse::default();
        pulse.heard(START);
        pulse.received(START, &sender("a"), Some("UntrustedIdentityException"));
        pulse.received(START, &sender("b"), None);
        assert_eq!(remark(&pulse).as_deref(), Some(words::UNTRUSTED_SENDER));
        assert_eq!(trouble(&pulse, START), None, "what one sender suffers from is no trouble of the channel");
        pulse.received(START, &sender("a"), None);
        assert_eq!(remark(&pulse), None);
        pulse.received(START, &sender("a"), Some("Odd<b>Exception"));
        assert!(remark(&pulse).unwrap().contains("OddbException"));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let pulse = Pulse::default();
        pulse.heard(START);
        for at in 0..3 * MOST {
            pulse.received(START, &sender(&at.to_string()), Some(&format!("E{at}")));
        }
        assert_eq!(pulse.state().notes.len(), MOST);
        assert_eq!(remark(&pulse).unwrap().matches("(E").count(), TOLD);
    }

    #[test]
    fn courtesies_wait_as_long_as_was_asked() {
        let pulse = Pulse::default();
        let span = Duration::from_secs(60);
        pulse.hush(START, span);
        assert!(pulse.is_hushed(START) && pulse.is_hushed(START.plus(span - Duration::from_millis(1))));
        assert!(!pulse.is_hushed(START.plus(span)));
        assert!(!pulse.is_hushed(START.minus(span)));
    }
}
