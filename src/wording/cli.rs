//! Output of the command line. An error is a sentence that names the location; the line below it
//! that begins with `fix:` suggests a fix.

pub mod demo;
pub mod init;
pub mod secret;
pub mod service;
pub mod signal;
pub mod skills;

use std::path::Path;

use crate::time::Zone;

/// Error: JSON was asked of a command that prints text.
pub const NO_JSON: &str = "This command prints text, so --json is not for it.\nfix: run it without --json";
/// Error: no home directory is configured or can be derived.
pub const NO_HOME: &str = "There is no home: neither HOME nor COMPLINE_HOME is set.\nfix: name a directory with --home";
/// Fix for a journal of a newer version.
pub const FIX_NEWER: &str = "install that version or a later one, put back the copy from before the upgrade (docs/upgrade.md), or name another home with --home; nothing was changed";
/// Fix for a damaged journal.
pub const FIX_DAMAGED: &str = "put a copy from a backup in its place, or move the file and its -wal and -shm away to start over; nothing was changed";
/// Fix for a locked journal.
pub const FIX_LOCKED: &str =
    "close the program that has it open (`fuser` names it), then try again; nothing was changed";
/// Fix for a journal that is not writable.
pub const FIX_READ_ONLY: &str =
    "see that the home and all in it belong to the user who runs this, and that the disk is not mounted read-only";
/// Fix for a full disk.
pub const FIX_FULL: &str = "free some space and try again; what was accepted before is safe";
/// Note that a stopped gateway's journal was read.
pub const NOT_RUNNING: &str = "(The gateway is not running; this comes from its journal.)";
/// Note that the gateway has not answered yet.
pub const NOT_ANSWERED_YET: &str =
    "No answer yet: the gateway may be busy or stuck. `compline doctor` says more; ctrl-c stops waiting.";
/// Error: the gateway disconnected before its answer.
pub const GATEWAY_LOST: &str = "The gateway disconnected before it answered";
/// Note that writing succeeds again.
pub const ROOM_AGAIN: &str = "There is space again, and everything continues.";
/// Progress: the gateway stops.
pub const STOPPING: &str = "Stopping; press ctrl-c again to stop at once.";
/// Note that `--ephemeral-memory` uses a temporary home.
pub const EPHEMERAL: &str = "Throw-away memory: the real one is neither read nor written, and everything that is said here is gone when this ends.";
/// Note that the run was ended.
pub const ENDED: &str = "Ended.";

/// Error: a running gateway would compete for messages.
pub fn gateway_runs(home: &Path) -> String {
    with_fix(
        &format!("The gateway of {} is running, and two of them would take each other's messages", home.display()),
        "stop it first, or talk with `compline chat --ephemeral-memory`, which needs no channel",
    )
}

/// Note after a second stop signal.
pub const STOPPED_AT_ONCE: &str = "Stopped at once. Unfinished work resumes at the next start.";

/// Formats an error and its fix.
pub fn with_fix(what: &str, fix: &str) -> String {
    format!("{what}\nfix: {fix}")
}

/// Splits an error from its fix, which is blank if there is none.
pub fn split_fix(text: &str) -> (&str, &str) {
    text.rsplit_once("\nfix: ").unwrap_or((text, ""))
}

/// Formats a warning.
pub fn warning(what: &str) -> String {
    format!("warning: {what}")
}

/// Error: other users can open the home, and with it the lock.
pub fn open_home(home: &Path, mode: u32) -> String {
    let shown = home.display();
    with_fix(
        &format!(
            "Others on this computer can look into {shown} (mode {mode:04o}), and could keep Compline from starting"
        ),
        &format!("as the owner of that directory: chmod 700 '{shown}'; or name a home of your own with --home"),
    )
}

/// Error: another process uses the home.
pub fn held(home: &Path, process: Option<i32>) -> String {
    let shown = home.display();
    match process {
        Some(process) => with_fix(
            &format!("Another Compline (process {process}) is running with the home {shown}"),
            &format!("`kill {process}` ends it and loses nothing; or name another home with --home"),
        ),
        None => with_fix(
            &format!("Another Compline is running with the home {shown}"),
            "stop it first, or name another home with --home",
        ),
    }
}

/// Error: another process holds the lock but does not serve the socket.
pub fn held_and_silent(home: &Path) -> String {
    let fix = "it may be starting or stopping: try again in a moment, or stop it";
    with_fix(&format!("Another Compline holds the home {} and does not answer", home.display()), fix)
}

/// Error: internal failure.
pub fn panicked(place: &str, log: Option<&Path>) -> String {
    let log = log.map(|log| format!(" The log says more: {}", log.display())).unwrap_or_default();
    format!("Something inside Compline broke (at {place}). Nothing that was accepted is lost.{log}")
}

/// Error: the journal is an empty file.
pub fn empty_journal(path: &Path) -> String {
    format!(
        "{} is an empty file, so a new journal is begun. If there should be one, stop and put a copy from a backup in its place.",
        path.display()
    )
}

/// Start-up banner of the gateway.
pub fn banner(home: &Path, zone: Zone, adapters: &str, model: &str, page: Option<&str>) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let (home, zone) = (home.display(), zone.name());
    let page =
        page.map_or_else(String::new, |page| format!("\n  page      {page} (`compline web` signs a browser in)"));
    format!(
        "Compline {version}\n  home      {home}\n  zone      {zone}\n  model     {model}\n  channels  {adapters}{page}"
    )
}

/// Note that every channel receives.
pub const READY: &str = "Ready. Press Ctrl-C to stop.";

/// Note that the gateway works, but not on these channels.
pub fn ready_without(channels: &[&str]) -> String {
    format!("Ready, but not on {}. Press Ctrl-C to stop.", channels.join(" and "))
}

/// Note that a channel receives, with the name of our account if it has one.
pub fn connected(channel: &str, account: Option<&str>) -> String {
    match account {
        Some(account) => format!("{channel}: connected as {account}."),
        None => format!("{channel}: connected."),
    }
}

/// Note that a person gained access.
pub fn joined(name: &str, role: &str, channel: &str) -> String {
    format!("{name} now has access as {role}, on {channel}.")
}

/// The same where the output may be stored.
pub fn someone_joined(role: &str, channel: &str) -> String {
    format!("An address on {channel} now has access as {role}.")
}

/// Formats a line about a change while the gateway runs.
pub fn at(time: &str, line: &str) -> String {
    format!("{time}  {line}")
}

/// Error: no gateway runs that could be reloaded or checked.
pub const NO_GATEWAY: &str = "No gateway is running with this home.\nfix: start it with `compline run`";
/// Error: the gateway did not come back.
pub const NOT_BACK: &str =
    "The gateway was told, but did not come back in time; `compline status` and its log say more.";
/// Error: a throw-away memory would be exchanged for the real one.
pub const EPHEMERAL_STAYS: &str =
    "A gateway with throw-away memory cannot read its configuration again: start it anew.";

/// Note that the configuration was read again.
pub const RELOADED: &str = "The configuration was read again.";
/// Note that it was not.
pub fn not_reloaded(error: &str) -> String {
    format!("The gateway goes on with the configuration it has, because the file is not valid:\n{error}")
}

/// Hint in place of the claim code where the output may be logged.
pub const UNCLAIMED: &str =
    "The assistant has no owner yet. `compline people claim`, on this computer, shows the code for it.";

/// Result: the configuration is valid.
pub fn config_sound(path: &Path) -> String {
    format!("{} is sound.", path.display())
}

/// Prompt of the connection test.
pub const PROBE: &str = "This is a test of the connection. Answer with the one word: ready";
/// Prompt of the test of answers in JSON.
pub const PROBE_JSON: &str = "This is a test. Answer with the JSON object {\"ready\": true} and nothing else.";
/// Description of the tool of the test.
pub const PROBE_TOOL: &str = "Says that you are ready. It need not be called.";
/// Problem: the server answers only without that part of a request.
pub const PART_REFUSED: &str = "its server refuses it";
/// Fix for a part that a server does not take.
pub const FIX_MODEL_PART: &str =
    "the assistant does without; another model, or another setting of the server, may have it (docs/recipes.md)";
/// Fix for an unreachable model.
pub const FIX_MODEL_AWAY: &str = "look at the network and model.base_url, and try again; messages wait meanwhile";
/// Fix for a refused model key.
pub const FIX_MODEL_KEY: &str = "create a new key at the provider and put it into model.api_key (or where that points)";
/// Fix for exhausted credit.
pub const FIX_MODEL_CREDIT: &str = "add credit to the provider's account, or name another model";
/// Fix for a refused request.
pub const FIX_MODEL_REQUEST: &str = "check model.provider, model.name (spelt as the provider spells it) and model.base_url (most servers want /v1 at its end)";
/// Error: Telegram refuses the token.
pub const BAD_TOKEN: &str = "Telegram refuses the bot's token";
/// Fix for a refused token.
pub const FIX_TOKEN: &str = "ask @BotFather for the current one (/token) and put it in place of the old one";
/// Error: another program polls with the same token.
pub const CONFLICT: &str = "Another program is receiving for the same bot";
/// Fix for another program that polls.
pub const FIX_CONFLICT: &str = "stop it, or give each program a bot of its own";
/// Fix for an unreachable Telegram.
pub const FIX_TELEGRAM_AWAY: &str = "look at the network, the proxy and telegram.api_url";

/// Reason: no answer within the time limit.
pub fn no_answer_within(limit: std::time::Duration) -> String {
    format!("no answer within {}", super::span(limit))
}

/// Error: Telegram is unreachable.
pub fn telegram_away(why: &str) -> String {
    format!("Telegram cannot be reached: {}", crate::text::one_line(why))
}
