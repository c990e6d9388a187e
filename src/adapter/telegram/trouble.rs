//! What a person reads when Telegram does not work, each sentence with its mend.

use std::time::Duration;

use crate::adapter::PollError;

/// A second program polls with the same token.
pub(super) const CONFLICT: &str = "Another program is receiving for the same Telegram bot, so messages may go \
    there. Stop it, or give each program a bot of its own; then this goes on by itself.";
/// The token is refused.
pub(super) const BAD_TOKEN: &str = "Telegram refuses the bot's token. Ask BotFather for the current one (/token), \
    put it in place of the old one and start again.";
/// The network, the server, or something in between.
pub(super) const UNREACHABLE: &str = "Telegram cannot be reached. This is tried again by itself; if it lasts, \
    look at the network, the proxy and telegram.api_url.";
/// 429 on polling.
pub(super) const WAIT: &str =
    "Telegram asks to wait because it was called too often. This goes on by itself.";
/// No poll has succeeded for longer than one can take.
pub(super) const SILENT: &str = "Nothing was heard from Telegram for some minutes, not even that there is \
    nothing new. If it lasts, start the gateway again.";
/// Not yet connected.
pub(super) const NOT_YET: &str = "Telegram has not been reached since the start.";

/// A poll takes at most 65 seconds; several have failed to end, without an error, when this has passed.
pub(super) const SILENCE: Duration = Duration::from_secs(5 * 60);

/// The sentence for an error.
pub(super) fn sentence(error: &PollError) -> &'static str {
    match error {
        PollError::Conflict => CONFLICT,
        PollError::BadToken => BAD_TOKEN,
        PollError::Wait(_) => WAIT,
        PollError::Unreachable(_) | PollError::Closed => UNREACHABLE,
    }
}
