//! Chats that wait after Telegram answered 429 (too many requests).
//!
//! Telegram extends the ban of a bot that keeps sending, so sends, edits and typing all check here
//! first; `bot_api` reads how long. The gateway also stores the wait of the address that met the
//! limit (`gateway::delivery`); this map covers the other topics of the chat, edits and typing.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use crate::time::Timestamp;
use crate::time::task::lock;

/// Maximum number of chats remembered; the pause that ends first is dropped.
const MAX_CHATS: usize = 1024;

/// Chats that are rate limited, with their deadlines: until then nothing is sent there.
#[derive(Debug, Default)]
pub(super) struct RateLimits(Mutex<HashMap<String, RateLimit>>);

#[derive(Debug, Clone, Copy)]
struct RateLimit {
    until: Timestamp,
    length: Duration,
}

impl RateLimit {
    /// Remaining time, no longer than asked for, even when the clock has been set back meanwhile.
    fn remaining(self, now: Timestamp) -> Duration {
        self.until.since(now).min(self.length)
    }
}

impl RateLimits {
    /// Remaining wait for a chat, if any.
    pub fn remaining(&self, peer: &str, now: Timestamp) -> Option<Duration> {
        let rest = self.lock().get(peer)?.remaining(now);
        (!rest.is_zero()).then_some(rest)
    }

    /// Records a rate limit of that length. A later deadline is never shortened.
    pub fn record(&self, peer: &str, length: Duration, now: Timestamp) {
        let mut chats = self.lock();
        chats.retain(|_, pause| !pause.remaining(now).is_zero());
        if chats.get(peer).is_some_and(|pause| pause.remaining(now) >= length) {
            return;
        }
        if chats.len() >= MAX_CHATS && !chats.contains_key(peer) {
            let soonest = chats.iter().min_by_key(|(_, pause)| pause.until).map(|(peer, _)| peer.clone());
            soonest.and_then(|peer| chats.remove(&peer));
        }
        chats.insert(peer.to_owned(), RateLimit { until: now.plus(length), length });
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, RateLimit>> {
        lock(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEVEN: Duration = Duration::from_secs(7);

    #[test]
    fn a_pause_ends_exactly_on_time() {
        let (pauses, start) = (RateLimits::default(), Timestamp(1_000_000));
        pauses.record("1", SEVEN, start);
        assert_eq!(pauses.remaining("1", start), Some(SEVEN));
        assert_eq!(pauses.remaining("1", start.plus(Duration::from_millis(6_999))), Some(Duration::from_millis(1)));
        assert_eq!(pauses.remaining("1", start.plus(SEVEN)), None);
        assert_eq!(pauses.remaining("2", start), None);
    }

    #[test]
    fn the_later_deadline_counts() {
        let (pauses, start) = (RateLimits::default(), Timestamp(1_000_000));
        pauses.record("1", SEVEN, start);
        pauses.record("1", Duration::from_secs(2), start);
        assert_eq!(pauses.remaining("1", start), Some(SEVEN));
        pauses.record("1", Duration::from_secs(60), start);
        assert_eq!(pauses.remaining("1", start), Some(Duration::from_secs(60)));
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_lengthen_it() {
        let (pauses, start) = (RateLimits::default(), Timestamp(100_000_000));
        pauses.record("1", SEVEN, start);
        assert_eq!(pauses.remaining("1", start.minus(Duration::from_secs(3600))), Some(SEVEN));
    }

    #[test]
    fn it_is_bounded_and_forgets_what_has_passed() {
        let (pauses, start) = (RateLimits::default(), Timestamp(0));
        for chat in 0..3 * MAX_CHATS {
            pauses.record(&chat.to_string(), SEVEN, start.plus(Duration::from_millis(chat as u64)));
        }
        assert_eq!(pauses.lock().len(), MAX_CHATS);
        pauses.record("x", SEVEN, start.plus(Duration::from_secs(600)));
        assert_eq!(pauses.lock().len(), 1);
    }
}
