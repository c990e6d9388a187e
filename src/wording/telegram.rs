//! Health messages of Telegram, each with a fix.

/// Problem: another program polls with the same token.
pub const CONFLICT: &str = "Another program is receiving for the same Telegram bot, so messages may go \
    there. Stop it, or give each program a bot of its own; then it continues by itself.";
/// Problem: Telegram refuses the token.
pub const BAD_TOKEN: &str = "Telegram refuses the bot's token. Ask BotFather for the current one (/token), \
    put it in place of the old one and start again.";
/// Problem: the network, a proxy or the server failed.
pub const UNREACHABLE: &str = "Telegram cannot be reached. This is tried again by itself; if it lasts, \
    look at the network, the proxy and telegram.api_url.";
/// Problem: status 429 while polling.
pub const WAIT: &str = "Telegram asks to wait because it was called too often. It continues by itself.";
/// Problem: no poll has succeeded within the time that one can take.
pub const SILENT: &str = "Nothing was heard from Telegram for some minutes, not even that there is \
    nothing new. If it lasts, start the gateway again.";
/// Problem: the webhook address cannot be bound.
pub const CANNOT_LISTEN: &str = "Telegram's calls cannot be received: the address in telegram.webhook_listen \
    is taken or is none of this computer. Free it or name another one; this is tried again by itself.";
/// Problem: Telegram reports failed webhook calls.
pub const CALLS_FAIL: &str = "Telegram's calls do not arrive, and messages are waiting. Look whether \
    telegram.webhook_url leads to telegram.webhook_listen (the proxy, its certificate, the firewall), or poll \
    instead (telegram.mode = \"polling\").";
/// Problem: the webhook points to another URL.
pub const CALLS_ELSEWHERE: &str = "Telegram does not call telegram.webhook_url any more: another program uses the \
    same Telegram bot. Stop it, or give each program a bot of its own, and start the gateway again.";
/// State before the first contact.
pub const NOT_YET: &str = "Telegram has not been reached since the start.";
