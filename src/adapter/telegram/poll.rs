//! Receiving by long polling, and the cursor that confirms.
//!
//! Telegram drops updates once a poll names a number above theirs, so a poll names only what the
//! journal holds: the cursor of the last committed batch. After a quiet week Telegram chooses new
//! numbers at random, perhaps lower ones, and a poll with an old number would then discard
//! everything unseen. So a cursor is valid for six days only; after that the poll names no number,
//! and the journal's unique ids filter repeats.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use teloxide_core::types::AllowedUpdate;

use super::bot_api::{BotApi, CallError};
use super::parse::update_id;
use crate::adapter::{Batch, PollError};
use crate::time::Timestamp;
use crate::wording::channel as words;

/// Time for which the server holds a poll without updates.
const POLL_TIMEOUT: Duration = Duration::from_secs(50);
/// Client timeout of a poll; longer than it is held, or each quiet poll would fail.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(65);
/// Maximum age of a cursor: a day less than Telegram's quiet week.
const MAX_CURSOR_AGE: Duration = Duration::from_secs(6 * 24 * 3600);
/// A cursor from further ahead was written under a wrong clock; its age is unknown.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(24 * 3600);
/// Requested kinds of updates. Sent with every poll, since Telegram remembers the last list.
pub(super) const ALLOWED_UPDATES: [AllowedUpdate; 5] = [
    AllowedUpdate::Message,
    AllowedUpdate::EditedMessage,
    AllowedUpdate::CallbackQuery,
    AllowedUpdate::MyChatMember,
    AllowedUpdate::MessageReaction,
];

/// teloxide's type does not cover all possible numbers.
#[derive(Serialize)]
struct GetUpdates {
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<i64>,
    timeout: u64,
    limit: u8,
    allowed_updates: [AllowedUpdate; 5],
}

/// Last update in the journal, and its time of receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cursor {
    last: i64,
    received_at: Timestamp,
}

impl Cursor {
    /// Offset of the next poll, if the cursor is still valid.
    fn offset(self, now: Timestamp) -> Option<i64> {
        let counts = now.since(self.received_at) < MAX_CURSOR_AGE && self.received_at.since(now) < MAX_CLOCK_SKEW;
        counts.then(|| self.last.saturating_add(1))
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.last, self.received_at.0)
    }
}

impl FromStr for Cursor {
    type Err = ();

    fn from_str(stored: &str) -> Result<Self, ()> {
        let (last, seen) = stored.split_once('@').ok_or(())?;
        let number = |digits: &str| digits.parse().map_err(|_| ());
        Ok(Self { last: number(last)?, received_at: Timestamp(number(seen)?) })
    }
}

/// Runs one long poll after `cursor`. `now` is called before and after it.
pub(super) async fn poll(api: &BotApi, cursor: Option<&str>, now: impl Fn() -> Timestamp) -> Result<Batch, PollError> {
    let offset = cursor.and_then(|stored| stored.parse::<Cursor>().ok()).and_then(|cursor| cursor.offset(now()));
    let payload = GetUpdates { offset, timeout: POLL_TIMEOUT.as_secs(), limit: 100, allowed_updates: ALLOWED_UPDATES };
    let updates: Vec<Box<RawValue>> = api.call("getUpdates", &payload, CLIENT_TIMEOUT).await.map_err(poll_error)?;
    let items: Vec<String> = updates.iter().map(|raw| raw.get().to_owned()).collect();
    if items.is_empty() {
        return Ok(Batch { items, cursor: cursor.map(str::to_owned) });
    }
    // The last and not the highest: after renumbering, lower numbers are newer, and a poll with a
    // higher one would discard them.
    let number = |raw: &String| update_id(&serde_json::from_str::<Value>(raw).ok()?);
    match items.iter().rev().find_map(number) {
        Some(last) => Ok(Batch { items, cursor: Some(Cursor { last, received_at: now() }.to_string()) }),
        // Without a number they could never be confirmed and would be delivered again for ever.
        None => Err(PollError::Unreachable("The server sent updates without numbers".to_owned())),
    }
}

/// Translates a failed call for the receive loop.
pub(super) fn poll_error(failure: CallError) -> PollError {
    match failure {
        CallError::Rejected(refusal) => match (refusal.code, refusal.wait) {
            (_, Some(wait)) => PollError::Wait(wait),
            (409, _) => PollError::Conflict,
            // For an unknown token Telegram sends one or the other, depending on its form.
            (401 | 404, _) => PollError::BadToken,
            (code, _) => PollError::Unreachable(format!("{code} {}", refusal.reason)),
        },
        unanswered => PollError::Unreachable(unanswered.to_string()),
    }
}

/// A poll takes at most 65 seconds; after this time several have hung without an error.
pub(super) const SILENCE: Duration = Duration::from_secs(5 * 60);

/// An error with its sentence for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TelegramProblem {
    pub(super) sentence: &'static str,
    pub(super) error: PollError,
}

impl From<PollError> for TelegramProblem {
    fn from(error: PollError) -> Self {
        let sentence = match error {
            PollError::Conflict => words::CONFLICT,
            PollError::BadToken => words::BAD_TOKEN,
            PollError::Wait(_) => words::WAIT,
            PollError::Unreachable(_) | PollError::Closed => words::TELEGRAM_UNREACHABLE,
        };
        Self { sentence, error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::telegram::bot_api::ApiRefusal;

    const DAY: Duration = Duration::from_secs(24 * 3600);

    #[test]
    fn a_cursor_counts_for_six_days() {
        let seen = Timestamp(1_795_000_000_000);
        let cursor = Cursor { last: 734, received_at: seen };
        let six_days = DAY * 6;
        assert_eq!(cursor.offset(seen), Some(735));
        assert_eq!(cursor.offset(seen.plus(six_days).minus(Duration::from_millis(1))), Some(735));
        assert_eq!(cursor.offset(seen.plus(six_days)), None);
        assert_eq!(cursor.offset(seen.minus(Duration::from_secs(3600))), Some(735), "the clock was set back a little");
        assert_eq!(cursor.offset(seen.minus(DAY)), None, "it was written under a wrong clock");
        assert_eq!(Cursor { last: i64::MAX, received_at: seen }.offset(seen), Some(i64::MAX));
    }

    #[test]
    fn cursors_survive_storing() {
        for cursor in
            [Cursor { last: 734, received_at: Timestamp(1_795) }, Cursor { last: i64::MIN, received_at: Timestamp(-1) }]
        {
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        for odd in ["", "734", "@", "734@", "@5", "x@y", "734@5@6", "99999999999999999999@5"] {
            assert_eq!(odd.parse::<Cursor>(), Err(()), "{odd}");
        }
    }

    #[test]
    fn failures_by_what_to_do_next() {
        let refused = |code, wait| {
            poll_error(CallError::Rejected(ApiRefusal { code, reason: "why".to_owned(), wait, moved: None }))
        };
        assert_eq!(refused(409, None), PollError::Conflict);
        assert_eq!(refused(401, None), PollError::BadToken);
        assert_eq!(refused(404, None), PollError::BadToken);
        assert_eq!(refused(429, Some(DAY)), PollError::Wait(DAY));
        assert_eq!(refused(400, None), PollError::Unreachable("400 why".to_owned()));
        assert_eq!(poll_error(CallError::NoResponse("x".to_owned())), PollError::Unreachable("x".to_owned()));
    }

    #[test]
    fn the_request_says_what_we_want() {
        let payload = |offset| {
            let payload =
                GetUpdates { offset, timeout: POLL_TIMEOUT.as_secs(), limit: 100, allowed_updates: ALLOWED_UPDATES };
            serde_json::to_string(&payload).unwrap()
        };
        let rest = r#""timeout":50,"limit":100,"allowed_updates":["message","edited_message","callback_query","my_chat_member","message_reaction"]}"#;
        assert_eq!(payload(None), format!("{{{rest}"));
        assert_eq!(payload(Some(8)), format!(r#"{{"offset":8,{rest}"#));
        assert!(CLIENT_TIMEOUT > POLL_TIMEOUT);
    }
}
