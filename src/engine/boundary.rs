//! Decides where one conversation ends and the next begins.
//!
//! A pure function of a person's messages, their times, `/new` and `[conversation] gap` (six hours;
//! defaults of all settings are in `config::keys::table`). Nothing else moves the boundary: no
//! command, button, edit, reminder or restart. The effective time is never before that of the
//! previous message and never after the arrival, so neither wrong server timestamps nor a clock
//! that jumps can split a conversation; while our own clock is behind stored messages, messages
//! join the current conversation, and `doctor` reports why.

use std::time::Duration;

use crate::store::BoundaryReason;
use crate::time::Timestamp;

/// Tolerance by which our clock may lag behind the last stored message before it counts as wrong.
/// Corrections of network-synchronised clocks are well under this.
pub const CLOCK_SLACK: Duration = Duration::from_secs(120);

/// Inputs of the decision when a message arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Effective time of the previous message of the stream.
    pub previous: Option<Timestamp>,
    /// True if `/new` was given since.
    pub asked_for_new: bool,
    /// Time at which the message was stored.
    pub received: Timestamp,
    /// Timestamp from the server.
    pub stamped: Option<Timestamp>,
    /// Silence longer than this ends a conversation.
    pub gap: Duration,
}

impl Arrival {
    /// Returns the effective time: min(received, max(previous, stamp)), and never before the
    /// previous.
    pub fn effective(&self) -> Timestamp {
        let stamped = self.stamped.unwrap_or(self.received);
        let floor = self.previous.unwrap_or(Timestamp(i64::MIN));
        self.received.min(stamped.max(floor)).max(floor)
    }

    /// Returns true if our own clock is behind stored messages.
    pub fn clock_is_behind(&self) -> bool {
        self.previous.is_some_and(|previous| self.received.plus(CLOCK_SLACK) < previous)
    }

    /// Returns the reason if the message begins a conversation.
    pub fn begins(&self) -> Option<BoundaryReason> {
        let Some(previous) = self.previous else { return Some(BoundaryReason::First) };
        if self.asked_for_new {
            return Some(BoundaryReason::New);
        }
        let silent_too_long = !self.clock_is_behind() && self.effective() > previous.plus(self.gap);
        silent_too_long.then_some(BoundaryReason::Silence)
    }
}

/// Returns true if a conversation whose last message was at `last` has ended by `now`. The silence
/// must be strictly longer than the gap.
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

    /// Proves: boundary/six-hours
    #[test]
    fn strictly_more_than_the_gap() {
        let cases = [
            (6 * H - 1000, None),
            (6 * H, None),
            (6 * H + 1, Some(BoundaryReason::Silence)),
            (6 * H + 1000, Some(BoundaryReason::Silence)),
            (29 * H, Some(BoundaryReason::Silence)),
        ];
        for (silence, expected) in cases {
            assert_eq!(arrival(0, silence, None).begins(), expected, "{silence} ms of silence");
        }
    }

    #[test]
    fn the_stamp_counts_when_a_message_waited_at_the_server() {
        // Sent one hour after the previous one, received nine hours later because we were away.
        assert_eq!(arrival(0, 10 * H, Some(H)).begins(), None);
        assert_eq!(arrival(0, 10 * H, Some(H)).effective(), Timestamp(H));
        // Sent after seven hours, received after ten: a new conversation at the time of sending.
        assert_eq!(arrival(0, 10 * H, Some(7 * H)).effective(), Timestamp(7 * H));
        assert_eq!(arrival(0, 10 * H, Some(7 * H)).begins(), Some(BoundaryReason::Silence));
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
        assert_eq!(Arrival { previous: None, ..arrival(0, 1, None) }.begins(), Some(BoundaryReason::First));
        assert_eq!(Arrival { asked_for_new: true, ..arrival(0, 1, None) }.begins(), Some(BoundaryReason::New));
    }

    proptest! {
        /// Proves: boundary/clock-jump
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
                    None => Some(BoundaryReason::First),
                    Some(before) if effective.0 - before.0 > 6 * H => Some(BoundaryReason::Silence),
                    Some(_) => None,
                };
                prop_assert_eq!(arrival.begins(), expected);
                previous = Some(effective);
            }
        }
    }
}
