//! Health messages and errors of Telegram and Signal, each with a fix.

/// Problem: another program polls with the same token.
pub const CONFLICT: &str = "Another program is receiving for the same Telegram bot, so messages may go \
    there. Stop it, or give each program a bot of its own; then it continues by itself.";
/// Problem: Telegram refuses the token.
pub const BAD_TOKEN: &str = "Telegram refuses the bot's token. Ask BotFather for the current one (/token), \
    put it in place of the old one and run `compline reload`.";
/// Problem: the network, a proxy or the server failed.
pub const TELEGRAM_UNREACHABLE: &str = "Telegram cannot be reached. This is tried again by itself; if it lasts, \
    look at the network, the proxy and telegram.api_url.";
/// Problem: status 429 while polling.
pub const WAIT: &str = "Telegram asks to wait because it was called too often. It continues by itself.";
/// Problem: no poll has succeeded within the time that one can take.
pub const TELEGRAM_SILENT: &str = "Nothing was heard from Telegram for some minutes, not even that there is \
    nothing new. If it lasts, start the gateway again.";
/// Problem: the webhook address cannot be bound.
pub const CANNOT_LISTEN: &str = "Telegram's calls cannot be received: the address in telegram.webhook_listen \
    is in use or not on this computer. Free it or set another one; this is retried automatically.";
/// Problem: Telegram reports failed webhook calls.
pub const CALLS_FAIL: &str = "Telegram's calls do not arrive, and messages are waiting. Check that \
    telegram.webhook_url leads to telegram.webhook_listen (the proxy, its certificate, the firewall), or poll \
    instead (telegram.mode = \"polling\").";
/// Problem: the webhook points to another URL.
pub const CALLS_ELSEWHERE: &str = "Telegram does not call telegram.webhook_url any more: another program uses the \
    same Telegram bot. Stop it, or give each program a bot of its own, and run `compline reload`.";
/// State before the first contact.
pub const TELEGRAM_NOT_YET: &str = "Telegram has not been reached yet.";

/// Problem: the daemon is unreachable.
pub const SIGNAL_UNREACHABLE: &str = "The Signal daemon cannot be reached. This is tried again by itself; if it lasts, look whether \
    the daemon runs and listens where signal.endpoint says.";
/// Problem: the connection is silent.
pub const SIGNAL_SILENT: &str = "Nothing was heard from the Signal daemon for more than a minute, not even a sign of life. The \
    program reconnects by itself; if this lasts, restart the daemon.";
/// State before the first successful receive.
pub const SIGNAL_NOT_YET: &str = "The Signal daemon has not been reached yet.";
/// Problem: the daemon does not have the configured account.
pub const ACCOUNT_UNKNOWN: &str = "The Signal daemon does not have the account in signal.account. Run `signal-cli \
    listAccounts` and write the number of one of them there, or link this account first.";
/// Problem: the daemon has no account.
pub const NO_ACCOUNT: &str = "The Signal daemon has no account yet. Register a number of its own, or link it to the phone that has \
    one with `compline signal link`; docs/signal.md leads through both.";
/// Problem: the daemon has several accounts.
pub const WHICH_ACCOUNT: &str = "The Signal daemon has several accounts. Write the number of the one that is the \
    assistant's into signal.account.";
/// Problem: the daemon serves one account and does not name it.
pub const NAME_ACCOUNT: &str = "This Signal daemon was started for one account and does not tell which. Write its number \
    into signal.account, or start the daemon without an account.";
/// Problem: a sender's safety number has changed.
pub const UNTRUSTED_SENDER: &str = "A message could not be read because the safety number of its sender has changed, as with \
    a new phone. Compare it with them, then run `signal-cli trust --verified-safety-number NUMBER PERSON`; `signal-cli \
    listIdentities` shows both.";
/// Problem: a recipient's safety number has changed.
pub const UNTRUSTED_PEER: &str = "Nothing was sent because the safety number of the other side has changed, as with a new \
    phone. Compare it with them, then run `signal-cli trust --verified-safety-number NUMBER PERSON`; `signal-cli \
    listIdentities` shows both.";
/// Problem: the recipient is not on Signal.
pub const UNREGISTERED: &str = "The other side is not on Signal any more";
/// Problem: a file exceeds the daemon's limit.
pub const FILE_TOO_LARGE: &str = "The file is larger than the 14.9 MB that can be handed to the Signal daemon";
/// Problem: the message to react to has no Signal id.
pub const NO_SUCH_MESSAGE: &str = "Signal does not know that message";
/// Problem: the configured program cannot be started.
pub const NOT_STARTED: &str = "The program in signal.command cannot be started. Check that it exists, is executable, and \
    what it needs, such as Java, is installed.";
/// Problem: the daemon process has exited.
pub const DAEMON_ENDED: &str = "The Signal daemon has ended. It is restarted automatically; if this keeps happening, \
    run the program in signal.command by hand to see what it says.";
/// Problem: the phone was not linked.
pub const NOT_LINKED: &str = "The Signal daemon was not linked";

/// Problem: the daemon refuses to deliver messages.
pub fn not_received(code: i64) -> String {
    format!(
        "The Signal daemon does not let Compline receive from it (code {code}). Check that signal.endpoint leads to a \
         daemon of signal-cli, 0.13 or later."
    )
}

/// Problem: a message could not be read. `kind` is the daemon's name for the reason.
pub fn unread(kind: &str) -> String {
    let kind: String = kind.chars().filter(char::is_ascii_alphanumeric).take(60).collect();
    format!("A message could not be read by the Signal daemon ({kind}). If it lasts, ask its sender to write again.")
}

/// Problem: Signal requires a captcha.
pub fn proof(token: &str) -> String {
    let token: String =
        token.chars().filter(char::is_ascii_graphic).filter(|c| !"'`\\".contains(*c)).take(200).collect();
    format!(
        "Signal wants proof that a person is sending. Solve the captcha at \
         https://signalcaptchas.org/challenge/generate.html and run `signal-cli submitRateLimitChallenge --challenge \
         '{token}' --captcha 'signalcaptcha://…'`; then sending goes on by itself."
    )
}

/// Problem: Signal limits the rate.
pub fn rate_limited(seconds: u64) -> String {
    format!("Signal asks to wait {seconds} seconds because too much was sent. It continues by itself.")
}

/// Problem: some members of a group were not reached.
pub fn partly_sent(missed: usize, all: usize) -> String {
    format!("The last message to a group did not reach {missed} of {all} members; the log says which.")
}

/// Problem: the daemon refused a request.
pub fn refused(code: i64) -> String {
    format!("The Signal daemon refused it with code {code}")
}

/// Problem: a recipient was not reached for an unknown reason.
pub fn not_delivered(kind: &str) -> String {
    let kind: String = kind.chars().filter(|c| c.is_ascii_uppercase() || *c == '_').take(40).collect();
    format!("The Signal daemon could not deliver it ({kind})")
}

/// Placeholder for the name of an unknown mentioned person.
pub const SOMEONE: &str = "@someone";
