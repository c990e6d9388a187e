//! What the command line says. An error is a sentence with its place; the line under it that begins
//! with `fix:` says how to mend it.

pub mod demo;
pub mod doctor;
pub mod init;
pub mod signal;
pub mod skills;

use std::path::Path;

use crate::time::Zone;

/// No home was named and none can be guessed.
pub const NO_HOME: &str = "There is no home: neither HOME nor COMPLINE_HOME is set.\nfix: name a directory with --home";
/// A newer journal.
pub const FIX_NEWER: &str = "install that newer version again, or name another home with --home; nothing was changed";
/// A damaged journal.
pub const FIX_DAMAGED: &str = "put a copy from a backup in its place, or move the file and its -wal and -shm away to begin anew; nothing was changed";
/// A locked journal.
pub const FIX_LOCKED: &str =
    "close the program that has it open (`fuser` names it), then try again; nothing was changed";
/// A journal that cannot be written.
pub const FIX_READ_ONLY: &str =
    "see that the home and all in it belong to the user who runs this, and that the disk is not mounted read-only";
/// A full disk.
pub const FIX_FULL: &str = "free some space and try again; what was accepted before is safe";
/// A question was answered from the journal.
pub const NOT_RUNNING: &str = "(The gateway is not running; this comes from its journal.)";
/// The answer takes long.
pub const NOT_ANSWERED_YET: &str =
    "No answer yet: the gateway may be busy, or hang. `compline doctor` says more; ctrl-c ends the waiting.";
/// The gateway went away.
pub const GATEWAY_LOST: &str = "The gateway went away before it answered";
/// Something could be written again.
pub const ROOM_AGAIN: &str = "There is room again, and everything goes on.";
/// The gateway is being stopped.
pub const STOPPING: &str = "Stopping; ctrl-c once more ends at once.";
/// A memory that is thrown away.
pub const EPHEMERAL: &str = "Throw-away memory: the real one is neither read nor written, and everything that is said here is gone when this ends.";
/// Somebody ended it.
pub const ENDED: &str = "Ended.";

/// A gateway runs, and a second one would take its messages.
pub fn gateway_runs(home: &Path) -> String {
    with_fix(
        &format!("The gateway of {} is running, and two of them would take each other's messages", home.display()),
        "stop it first, or talk with `compline chat --ephemeral-memory`, which needs no channel",
    )
}

/// A second signal.
pub const STOPPED_AT_ONCE: &str = "Stopped at once. What was in work is taken up at the next start.";

/// An error and its mend.
pub fn with_fix(what: &str, fix: &str) -> String {
    format!("{what}\nfix: {fix}")
}

/// Something to be looked at.
pub fn warning(what: &str) -> String {
    format!("warning: {what}")
}

/// Others can open the home, and so the lock in it.
pub fn open_home(home: &Path, mode: u32) -> String {
    let shown = home.display();
    with_fix(
        &format!(
            "Others on this computer can look into {shown} (mode {mode:04o}), and could keep Compline from starting"
        ),
        &format!("as the owner of that directory: chmod 700 '{shown}'; or name a home of your own with --home"),
    )
}

/// Another process runs with the same home.
pub fn held(home: &Path) -> String {
    let fix = "stop it first, or name another home with --home";
    with_fix(&format!("Another Compline is running with the home {}", home.display()), fix)
}

/// Another process has the lock and does not serve the socket.
pub fn held_and_silent(home: &Path) -> String {
    let fix = "it may be starting or stopping: try again in a moment, or stop it";
    with_fix(&format!("Another Compline holds the home {} and does not answer", home.display()), fix)
}

/// Something inside broke.
pub fn panicked(place: &str, log: Option<&Path>) -> String {
    let log = log.map(|log| format!(" The log says more: {}", log.display())).unwrap_or_default();
    format!("Something inside Compline broke (at {place}). Nothing that was accepted is lost.{log}")
}

/// The journal is an empty file.
pub fn empty_journal(path: &Path) -> String {
    format!(
        "{} is an empty file, so a new journal is begun. If there should be one, stop and put a copy from a backup in its place.",
        path.display()
    )
}

/// The gateway has started.
pub fn banner(home: &Path, zone: Zone, adapters: &str, model: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let (home, zone) = (home.display(), zone.name());
    format!(
        "Compline {version}\n  home      {home}\n  zone      {zone}\n  model     {model}\n  adapters  {adapters}\nReady. Ctrl-c stops it."
    )
}

/// How the first owner makes themselves known.
pub fn claim(code: &str, channels: &[&str]) -> String {
    let channels = channels.join(" or ");
    format!(
        "\nNobody has claimed the assistant yet. To be its owner, write this to it on {channels}, as your first message:\n\n    \
         /start {code}\n\nThe code works once, for a day; the next start makes a new one."
    )
}

/// The same where it would be kept in a log.
pub const UNCLAIMED: &str =
    "Nobody has claimed the assistant yet. `compline people claim`, on this computer, shows the code for it.";

/// The configuration has no fault.
pub fn config_sound(path: &Path) -> String {
    format!("{} is sound.", path.display())
}

/// Asks a model for a sign of life.
pub const PROBE: &str = "This is a test of the connection. Answer with the one word: ready";
/// The model cannot be reached.
pub const FIX_MODEL_AWAY: &str = "look at the network and model.base_url, and try again; messages wait meanwhile";
/// The key is refused.
pub const FIX_MODEL_KEY: &str =
    "make a new key with the provider and put it in place of model.api_key (or what it names)";
/// No credit.
pub const FIX_MODEL_CREDIT: &str = "add credit to the provider's account, or name another model";
/// The request is refused.
pub const FIX_MODEL_REQUEST: &str =
    "look at model.provider, model.name and model.base_url: the name has to be spelt as the provider spells it";
/// The token is refused.
pub const BAD_TOKEN: &str = "Telegram refuses the bot's token";
/// The token is refused.
pub const FIX_TOKEN: &str = "ask @BotFather for the current one (/token) and put it in place of the old one";
/// Another program polls.
pub const CONFLICT: &str = "Another program is receiving for the same bot";
/// Another program polls.
pub const FIX_CONFLICT: &str = "stop it, or give each program a bot of its own";
/// Telegram cannot be reached.
pub const FIX_TELEGRAM_AWAY: &str = "look at the network, the proxy and telegram.api_url";

/// Nothing came.
pub fn no_answer_within(limit: std::time::Duration) -> String {
    format!("no answer within {}", super::span(limit))
}

/// Telegram cannot be reached.
pub fn telegram_away(why: &str) -> String {
    format!("Telegram cannot be asked: {}", crate::text::one_line(why))
}
