//! The end of a conversation, computed when it is asked for.

use std::time::Duration;

use crate::engine::boundary;
use crate::store::Conversation;
use crate::time::Timestamp;

/// The time and the gap from which the end of a conversation is computed. The end is never stored
/// in advance.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConversationEnds {
    gap: Duration,
    now: Timestamp,
}

impl ConversationEnds {
    pub(super) fn new(gap: Duration, now: Timestamp) -> Self {
        Self { gap, now }
    }

    /// The end of a conversation: the time of its last message, once the gap has passed or `/new`
    /// was given.
    pub(super) fn of(&self, conversation: &Conversation) -> Option<Timestamp> {
        let last = conversation.last_at;
        let is_over = conversation.closed_at.is_some() || boundary::has_ended(last, self.gap, self.now);
        is_over.then_some(last)
    }
}
