//! Where one conversation ends and the next begins.
//!
//! A pure function of what a person said and when, and of their `/new`. Nothing else moves it: no
//! command, button, edit, reminder or restart. The time that counts is never before that of the
//! previous message and never after the arrival, so neither a server that stamps nonsense nor a
//! clock that jumps can tear a conversation apart; while our own clock is behind what was stored
//! already, messages join the current conversation, and `doctor` says why.

use std::time::Duration;

use crate::time::Timestamp;

/// How far our clock may lag behind the last stored message before it counts as wrong. Clocks that
/// are set by the network are corrected by well under this.
pub const CLOCK_SLACK: Duration = Duration::from_secs(120);

/// Why a conversation began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// It is the first.
    First,
    /// The silence before it was longer than the gap.
    Silence,
    /// The person asked for it.
    New,
}

impl Because {
    /// The stored word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Silence => "silence",
            Self::New => "new",
        }
    }
}

/// What is known when a message arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Effective time of the previous message of the stream.
    pub previous: Option<Timestamp>,
    /// Whether `/new` was given since.
    pub asked_for_new: bool,
    /// When it was stored.
    pub received: Timestamp,
    /// The server's stamp.
    pub stamped: Option<Timestamp>,
    /// A longer silence than this ends a conversation.
    pub gap: Duration,
}

impl Arrival {
    /// The time that counts: min(received, max(previous, stamp)), and never before the previous.
    pub fn effective(&self) -> Timestamp {
        let stamped = self.stamped.unwrap_or(self.received);
        let floor = self.previous.unwrap_or(Timestamp(i64::MIN));
        self.received.min(stamped.max(floor)).max(floor)
    }

    /// Whether our own clock is behind what was stored already.
    pub fn clock_is_behind(&self) -> bool {
        self.previous.is_some_and(|previous| self.received.plus(CLOCK_SLACK) < previous)
    }

    /// Whether the message begins a conversation, and why.
    pub fn begins(&self) -> Option<Because> {
        let Some(previous) = self.previous else { return Some(Because::First) };
        if self.asked_for_new {
            return Some(Because::New);
        }
        let silent_too_long = !self.clock_is_behind() && self.effective() > previous.plus(self.gap);
        silent_too_long.then_some(Because::Silence)
    }
}

/// Whether a conversation whose last message was at `last` has ended by `now`. Strictly more than
/// the gap.
pub fn has_ended(last: Timestamp, gap: Duration, now: Timestamp) -> bool {
    now > last.plus(gap)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GAP: Duration = Duration::from_secs(6 * 3600);
    const H: i64 = 3_600_000;

    fn arrival(previous: i64, received: i64, stamped: Option<i64>) -> Arrival {
        Arrival {
            previous: Some(Timestamp(previous)),
            asked_for_new: false,
            received: Timestamp(received),
            stamped: stamped.map(Timestamp),
            gap: GAP,
        }
    }

    #[test]
    fn strictly_more_than_the_gap() {
        let cases = [
            (6 * H - 1000, None),
            (6 * H, None),
            (6 * H + 1, Some(Because::Silence)),
            (6 * H + 1000, Some(Because::Silence)),
            (29 * H, Some(Because::Silence)),
        ];
        for (silence, expected) in cases {
            assert_eq!(arrival(0, silence, None).begins(), expected, "{silence} ms of silence");
        }
    }

    #[test]
    fn the_stamp_counts_when_a_message_waited_at_the_server() {
        // Said one hour after the previous one, received nine hours later because we were away.
        assert_eq!(arrival(0, 10 * H, Some(H)).begins(), None);
        assert_eq!(arrival(0, 10 * H, Some(H)).effective(), Timestamp(H));
        // Said after seven hours, received after ten: a new conversation at the time it was said.
        assert_eq!(arrival(0, 10 * H, Some(7 * H)).effective(), Timestamp(7 * H));
        assert_eq!(arrival(0, 10 * H, Some(7 * H)).begins(), Some(Because::Silence));
    }

    #[test]
    fn a_stamp_from_the_future_or_the_past_moves_nothing() {
        assert_eq!(arrival(0, H, Some(900 * H)).effective(), Timestamp(H));
        assert_eq!(arrival(5 * H, 6 * H, Some(-7 * H)).effective(), Timestamp(5 * H));
    }

    #[test]
    fn a_clock_that_is_behind_joins() {
        let behind = arrival(100 * H, 10 * H, None);
        assert!(behind.clock_is_behind());
        assert_eq!((behind.begins(), behind.effective()), (None, Timestamp(100 * H)));
    }

    #[test]
    fn the_first_and_the_asked_for() {
        assert_eq!(Arrival { previous: None, ..arrival(0, 1, None) }.begins(), Some(Because::First));
        assert_eq!(Arrival { asked_for_new: true, ..arrival(0, 1, None) }.begins(), Some(Because::New));
    }

    proptest! {
        #[test]
        fn time_never_runs_backwards_and_every_long_silence_is_a_boundary(
            steps in prop::collection::vec((0_i64..12 * H, -20 * H..20 * H, any::<bool>()), 1..40)
        ) {
            let (mut now, mut previous) = (1_000 * H, None);
            for (pause, skew, stamped) in steps {
                now += pause;
                let arrival = Arrival {
                    previous,
                    asked_for_new: false,
                    received: Timestamp(now),
                    stamped: stamped.then_some(Timestamp(now + skew)),
                    gap: GAP,
                };
                let effective = arrival.effective();
                prop_assert!(effective <= Timestamp(now) && previous.is_none_or(|before| effective >= before));
                let expected = match previous {
                    None => Some(Because::First),
                    Some(before) if effective.0 - before.0 > 6 * H => Some(Because::Silence),
                    Some(_) => None,
                };
                prop_assert_eq!(arrival.begins(), expected);
                previous = Some(effective);
            }
        }
    }
}
