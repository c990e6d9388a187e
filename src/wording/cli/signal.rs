//! Output of `compline signal` and of the Signal checks of `compline doctor`.

use std::path::Path;

use super::with_fix;

/// Signal check.
pub const SIGNAL: &str = "signal";
/// Name of the daemon in notes about skipped checks.
pub const THE_DAEMON: &str = "the daemon";
/// Note that `compline run` starts the daemon.
pub const STARTED_BY_RUN: &str = "the daemon is not running; `compline run` starts it";
/// Finding: the gateway's daemon does not listen at the configured endpoint.
pub const NOT_THERE_YET: &str = "the daemon that the gateway starts does not listen where signal.endpoint says";
/// Fix for a daemon that does not listen at the configured endpoint.
pub const FIX_NOT_THERE_YET: &str = "if it lasts, run the program in signal.command by hand to see what it says, and check that it \
    listens where signal.endpoint says";
/// Fix for a socket that another user owns.
pub const FIX_FORBIDDEN: &str =
    "run the daemon as the user who runs Compline, or let that user into the folder and the socket";
/// Fix for a missing signal-cli.
pub const FIX_NOT_INSTALLED: &str = "install signal-cli (docs/signal.md), or write its full path into signal.command";
/// Fix for an old signal-cli.
pub const FIX_OLD: &str = "install the newest signal-cli and start the daemon again (docs/signal.md)";
/// Fix for a wrong receive mode.
pub const FIX_RECEIVES: &str =
    "start it with --receive-mode=manual: then Signal keeps messages until Compline is there";
/// Finding: the daemon prints messages to its standard output.
pub const PRINTS: &str = "the daemon also prints every message to its standard output, which may be a log";
/// Fix for a daemon that prints messages.
pub const FIX_PRINTS: &str = "start it with --no-receive-stdout";
/// Fix for an unreadable attachments folder.
pub const FIX_ATTACHMENTS: &str = "let the user who runs Compline read it, or leave signal.attachments_dir out: then files are \
    fetched from the daemon";
/// Progress: a temporary daemon starts.
pub const STARTING: &str = "Starting the Signal daemon for this …";
/// Reply to ctrl-c.
pub const LEFT: &str = "Cancelled; nothing was changed here.";
/// Progress: the link is requested.
pub const ASKING_FOR_LINK: &str = "Asking Signal for a link …";
/// Instructions above the QR code.
pub const SCAN: &str = "\nOn the phone that has the assistant's number, open Signal > Settings > Linked devices > Link new device, and scan this.\n\
    It is valid for a minute or two; ctrl-c cancels.\n";
/// Fix for a link that was not scanned in time.
pub const FIX_NOT_LINKED: &str = "look at the network of the daemon, and try again with `compline signal link`; the code has to be scanned \
    within a minute or two";
/// Fix for a missing account.
pub const FIX_NO_ACCOUNT: &str =
    "`compline signal accounts` shows what the daemon has, `compline signal link` links a phone";
/// Introduction to the question about Signal.
pub const ABOUT: &str = "\nFor Signal the assistant needs a number of its own (not yours: whoever writes to that number writes to it), and the\n\
    program signal-cli next to Compline. docs/signal.md explains it.";
/// Question: use Signal?
pub const ASK: &str = "Use Signal?";
/// Question: the daemon's endpoint.
pub const ASK_ENDPOINT: &str = "Where the signal-cli daemon listens, or should listen";
/// Question: start the daemon with Compline?
pub const ASK_START: &str = "signal-cli is installed. Shall Compline start its daemon and keep it running?";
/// Question after the daemon did not answer.
pub const ASK_AGAIN: &str =
    "Start it in another terminal if you like. Check again? Otherwise the answer is saved as it is";
/// Note that the daemon has no account.
pub const NO_ACCOUNT_YET: &str = "It has no account yet.";
/// Question: link the daemon to a phone?
pub const ASK_LINK: &str =
    "Is the assistant's number on a phone with Signal already, and shall the daemon be linked to it now?";
/// Instructions for registering a number.
pub const HOW_TO_REGISTER: &str = "\nTo give it a number of its own, stop the daemon and run, with that number:\n\n  \
    signal-cli -a +431234567890 register --captcha 'signalcaptcha://…'   (from https://signalcaptchas.org/registration/generate.html)\n  \
    signal-cli -a +431234567890 verify CODE\n  \
    signal-cli -a +431234567890 updateProfile --given-name Compline\n\nand start it again. `compline doctor` says whether it worked.\n";
/// Question: the assistant's number.
pub const ASK_ACCOUNT: &str = "The assistant's number";
/// Question: the owner's number.
pub const ASK_OWNER: &str =
    "Your own Signal number, as +431234567890; enter to claim the assistant with a code instead";
/// Progress: the daemon is asked for its account.
pub const TESTING: &str = "\nAsking the Signal daemon for its account …";
/// Fix for a daemon that does not answer.
pub const FIX_AWAY: &str = "look whether it runs and listens there; docs/signal.md says how to start it";

/// Finding: the daemon does not answer.
pub fn away(why: &str) -> String {
    format!("the Signal daemon cannot be reached: {}", crate::text::one_line(why))
}

/// Error: the configuration has no Signal section.
pub fn not_configured(config: &Path) -> String {
    let fix = "add [signal] with endpoint = \"unix:HOME/signal.sock\" (docs/signal.md), or run `compline init`";
    with_fix(&format!("Signal is not configured in {}", config.display()), fix)
}

/// Command that starts the daemon.
pub fn fix_start(listens: &str) -> String {
    format!("start it: signal-cli daemon {listens} --receive-mode=manual --no-receive-stdout (docs/signal.md)")
}

/// Finding: the socket does not exist.
pub fn no_socket(socket: &str) -> String {
    format!("no daemon runs: {socket} is not there")
}

/// Finding: no process listens on the socket.
pub fn stale(socket: &str) -> String {
    format!("nothing listens at {socket}: a daemon that was killed left it behind")
}

/// Commands that replace a stale socket.
pub fn fix_stale(socket: &str, listens: &str) -> String {
    format!("rm '{socket}', then {}", fix_start(listens))
}

/// Finding: no permission to open the socket.
pub fn forbidden(socket: &str) -> String {
    format!("{socket} may not be opened by this user")
}

/// Finding: the socket cannot be opened.
pub fn not_opened(socket: &str, why: &str) -> String {
    format!("{socket} cannot be opened: {why}")
}

/// Finding: other users can open the socket.
pub fn open(socket: &str) -> String {
    format!("everybody on this computer can open {socket}, read messages and write in the assistant's name")
}

/// Finding: only the mode of the socket keeps other users out.
pub fn nearly_open(socket: &str) -> String {
    format!("everybody on this computer can reach {socket}; only its own mode, reset at each start, keeps them out")
}

/// Fix for a socket that other users can open.
pub fn fix_open(folder: &str) -> String {
    format!(
        "chmod 700 '{folder}' if it holds nothing else, or put the socket into a folder that only you can enter, as the home"
    )
}

/// Finding: the configured program does not exist or is not executable.
pub fn not_installed(program: &str) -> String {
    format!("the program in signal.command, {program}, does not exist or is not executable")
}

/// Finding: the daemon has the wrong receive mode.
pub fn receives(mode: &str) -> String {
    let mode: String = mode.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(20).collect();
    format!(
        "the daemon receives by itself (mode \"{mode}\"): messages that come while Compline is not running are lost"
    )
}

/// Finding: signal-cli is old.
pub fn old(version: &str) -> String {
    format!(
        "signal-cli {} is the old 0.13: long messages arrive cut off, and Signal stops serving releases after some months",
        shown(version)
    )
}

/// Finding: signal-cli is too old to be used.
pub fn too_old(version: &str) -> String {
    format!("signal-cli {} is older than 0.13, the oldest that Compline can speak to", shown(version))
}

/// The daemon answers and has the account.
pub fn answers(version: &str) -> String {
    format!("signal-cli {} answers, and has the account", shown(version))
}

/// Finding: the attachments folder is unreadable.
pub fn no_attachments(folder: &str, why: &str) -> String {
    format!("{folder} cannot be read: {why}")
}

/// The link as text, below the QR code.
pub fn or_copy(link: &str) -> String {
    format!("\nThe same as a link, for a code made elsewhere:\n  {link}\n")
}

/// A daemon answers.
pub fn found(version: &str) -> String {
    format!("signal-cli {} answers.", shown(version))
}

/// Account of the daemon.
pub fn account(number: &str) -> String {
    format!("Its account is {number}.")
}

/// Accounts of the daemon, or a note that it does not list them.
pub fn which(numbers: &[String]) -> String {
    match numbers {
        [] => "It was started for one account and does not tell which.".to_owned(),
        several => format!("It has several accounts: {}", several.join(", ")),
    }
}

/// The daemon is linked.
pub fn linked(number: &str) -> String {
    format!("Linked. The daemon has the account {number} now.")
}

/// Accounts of the daemon, or the error.
pub fn accounts(version: &str, numbers: Option<&[String]>, ours: Result<&str, &str>) -> String {
    let mut lines = vec![format!("signal-cli {}", shown(version))];
    for number in numbers.unwrap_or_default() {
        let mark = if ours == Ok(number.as_str()) { "  (the assistant's)" } else { "" };
        lines.push(format!("  {number}{mark}"));
    }
    lines.extend(ours.err().map(str::to_owned));
    lines.join("\n")
}

/// Reduces a version string to at most 30 safe characters.
fn shown(version: &str) -> String {
    version.chars().filter(|c| c.is_ascii_alphanumeric() || ".-+".contains(*c)).take(30).collect()
}
