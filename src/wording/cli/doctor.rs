//! What `compline doctor` says: for each finding what is wrong and how to mend it.

use std::path::Path;

use crate::id::ForgettingId;

/// Names of what is looked at.
pub const HOME: &str = "home";
/// A check.
pub const SECRETS: &str = "secrets";
/// A check.
pub const CONFIGURATION: &str = "configuration";
/// A check.
pub const ZONE: &str = "zone";
/// A check.
pub const DISK: &str = "disk";
/// A check.
pub const JOURNAL: &str = "journal";
/// A check.
pub const JOURNAL_LOG: &str = "journal log";
/// A check.
pub const UPKEEP: &str = "upkeep";
/// A check.
pub const FORGETTING: &str = "forgetting";
/// A check.
pub const CLOCK: &str = "clock";
/// A check.
pub const OWNER: &str = "owner";
/// A check.
pub const STRANGERS: &str = "strangers";
/// A check.
pub const WORKSPACE: &str = "workspace";
/// A check.
pub const KNOWLEDGE: &str = "knowledge";
/// A check.
pub const INDEX: &str = "index";
/// A check.
pub const MEANING: &str = "meaning";
/// A check.
pub const SKILLS: &str = "skills";
/// A check.
pub const PROPOSALS: &str = "proposals";
/// A check.
pub const MODEL: &str = "model";
/// A check.
pub const FALLBACK: &str = "fallback model";
/// A check.
pub const BACKGROUND: &str = "background model";
/// A check.
pub const TELEGRAM: &str = "telegram";
/// A check.
pub const GROUPS: &str = "groups";
/// A check.
pub const GATEWAY: &str = "gateway";

/// As it should be.
pub const OK: &str = "ok";
/// Worth knowing.
pub const NOTE: &str = "note";
/// It was wrong.
pub const MENDED: &str = "mended";
/// To be mended.
pub const WRONG: &str = "WRONG";
/// Before a mend.
pub const FIX: &str = "fix:";

/// No home.
pub const FIX_NO_HOME: &str = "run `compline init`, or name another home with --home";
/// A file in the home's place.
pub const FIX_HOME_IS_A_FILE: &str = "move the file away, or name another home with --home";
/// Nothing is known of the disk.
pub const NO_SPACE_KNOWN: &str = "how much is free is not known here";
/// A full disk.
pub const FIX_DISK: &str = "free some space; while there is none nothing is accepted, and nothing is lost";
/// No journal.
pub const NO_JOURNAL: &str = "none yet; the first start makes one";
/// An empty journal.
pub const FIX_EMPTY_JOURNAL: &str =
    "put a copy from a backup in its place; or start all the same, and a new one is begun";
/// A long log.
pub const FIX_LOG: &str = "close other programs that have the journal open; it is merged at the next stop";
/// A clock that runs behind.
pub const FIX_CLOCK: &str = "set the clock; until it has caught up, messages join the conversation that is open";
/// Nobody is in.
pub const NO_OWNER: &str = "nobody is allowed in as owner";
/// Nobody is in.
pub const FIX_NO_OWNER: &str =
    "add [[people]] with a name and role = \"owner\" to the configuration, or run `compline init`";
/// The owner has an address on no channel.
pub const NOT_CLAIMED: &str = "nobody has claimed the assistant yet";
/// The owner has an address on no channel.
pub const FIX_NOT_CLAIMED: &str = "start `compline run` and send the assistant the code that it prints";
/// The owner has no address on one of the channels.
pub const FIX_NOT_MET: &str = "write /link to the assistant where it knows you and send the code from there; or write your address into \
    your entry under [[people]]";
/// The owner is known.
pub const OWNER_KNOWN: &str = "known";
/// Files of the workspace that are loaded by themselves.
pub const WORKSPACE_FILES: [&str; 4] = ["AGENTS.md", "SOUL.md", "USER.md", "memory/MEMORY.md"];
/// Missing files.
pub const FIX_WORKSPACE: &str = "`compline doctor --fix` or the next start makes them";
/// A folder that is no skill.
pub const FIX_SKILL: &str = "`compline skills check` says what is wrong and where; mend that, or move the folder away";
/// A skill that waits.
pub const FIX_HELD_SKILL: &str = "`compline skills accept NAME` shows it and asks; or fix the folder, or move it away";
/// Proposals wait.
pub const FIX_PROPOSALS: &str = "`compline review list` shows them; nothing changes until you decide";
/// The offline model.
pub const OFFLINE: &str = "the offline model, which needs nothing";
/// What is not tried.
pub const BOT: &str = "the bot";
/// A webhook.
pub const FIX_WEBHOOK: &str =
    "`compline run` takes it off when it starts; if it comes back, another program sets it: stop that";
/// Calls that do not arrive.
pub const FIX_CALLS_FAIL: &str = "look whether telegram.webhook_url leads to telegram.webhook_listen: the web server between them, its \
    certificate, the firewall";
/// Calls that go elsewhere.
pub const FIX_CALLED_ELSEWHERE: &str =
    "another program uses the same bot: stop it, or give each a bot of its own; then start the gateway again";
/// A listener that is not ours.
pub const FIX_CANNOT_LISTEN: &str = "free it, or name another address in telegram.webhook_listen";
/// No gateway.
pub const NOT_RUNNING: &str = "not running";
/// A gateway.
pub const RUNNING: &str = "running, and hears all its channels";
/// A gateway that hangs.
pub const SILENT: &str = "running, but it does not answer";
/// A gateway that hangs.
pub const FIX_SILENT: &str = "start it again; what was accepted is taken up";

/// The first line.
pub fn head(version: &str, os: &str, arch: &str) -> String {
    format!("Compline {version} on {os} {arch}")
}

/// The last line.
pub fn verdict(wrong: usize) -> String {
    match wrong {
        0 => "Nothing has to be mended.".to_owned(),
        1 => "One thing has to be mended.".to_owned(),
        many => format!("{many} things have to be mended."),
    }
}

/// No home.
pub fn no_home(path: &str) -> String {
    format!("{path} is not there")
}

/// A file in the home's place.
pub fn home_is_a_file(path: &str) -> String {
    format!("{path} is a file and no directory")
}

/// Nothing can be written.
pub fn not_writable(path: &str, why: &str) -> String {
    format!("{path} cannot be written in: {why}")
}

/// Others can look in.
pub fn readable(path: &str, mode: u32) -> String {
    format!("others on this computer can look into {path} (mode {mode:04o})")
}

/// How to close it.
pub fn fix_mode(path: &str, wanted: u32) -> String {
    format!("chmod {wanted:o} '{path}', or `compline doctor --fix`")
}

/// Two zones.
pub fn other_zone(configured: &str, here: &str) -> String {
    format!("{configured} (this computer is set to {here}; the configuration counts)")
}

/// Room on the disk.
pub fn free(mebibytes: u64) -> String {
    format!("{mebibytes} MiB free")
}

/// An empty journal.
pub fn empty_journal(path: &Path) -> String {
    format!("{} is an empty file", path.display())
}

/// A sound journal.
pub fn journal(version: u32, kibibytes: u64) -> String {
    format!("sound, version {version}, {kibibytes} KiB")
}

/// A broken one.
pub fn broken(findings: &[String]) -> String {
    let few: Vec<&str> = findings.iter().take(3).map(String::as_str).collect();
    format!("damaged: {}", few.join("; "))
}

/// The size of the log.
pub fn log(kibibytes: u64) -> String {
    format!("{kibibytes} KiB wait to be merged")
}

/// The clock was set back.
pub fn clock_behind(now: &str, latest: &str) -> String {
    format!("it is {now} here, but the journal knows of {latest}")
}

/// Somebody who was not let in.
pub fn stranger(adapter: &str, sender: &str, at: &str, count: i64) -> String {
    let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
    format!("{adapter} {sender} knocked {times}, last at {at}, and was not let in")
}

/// How to let them in.
pub fn fix_stranger(adapter: &str, sender: &str) -> String {
    let line =
        if adapter == "telegram" { format!(", or add [[people]] with {adapter} = {sender}") } else { String::new() };
    format!("if you know them: `compline people pair NAME`{line}")
}

/// The owner has no address on one of the channels.
pub fn not_met(channels: &[&str]) -> String {
    format!("known, but not on {}", channels.join(" and "))
}

/// Files that are not there.
pub fn missing_files<S: AsRef<str>>(files: &[S]) -> String {
    let files: Vec<&str> = files.iter().map(AsRef::as_ref).collect();
    format!("missing: {}", files.join(", "))
}

/// Not tried.
pub fn not_tried(what: &str) -> String {
    format!("{what} was not tried")
}

/// It answers.
pub fn answers(what: &str) -> String {
    format!("{what} answers")
}

/// A webhook.
pub fn webhook(username: &str) -> String {
    format!("@{username} answers, but its messages go to a webhook")
}

/// Telegram calls.
pub fn is_called(username: &str) -> String {
    format!("@{username} answers, and its messages come to telegram.webhook_url")
}

/// Telegram does not call yet.
pub fn not_called_yet(username: &str) -> String {
    format!("@{username} answers; `compline run` tells Telegram where to call")
}

/// Telegram calls somebody else.
pub fn called_elsewhere(username: &str) -> String {
    format!("@{username} answers, but its messages do not go to telegram.webhook_url")
}

/// Telegram's calls fail.
pub fn calls_fail(username: &str, at: &str, why: &str) -> String {
    format!("messages for @{username} wait, and Telegram's last call failed at {at}: {why}")
}

/// Nobody can listen there.
pub fn cannot_listen(place: &str, why: &str) -> String {
    format!("Telegram's calls cannot be received at {place}: {why}")
}

/// Groups on a channel that there is not.
pub fn unheard_groups(channel: &str, count: usize) -> String {
    let groups = if count == 1 { "1 group is".to_owned() } else { format!("{count} groups are") };
    format!("{groups} allowed on {channel}, which is not configured: nothing is heard from there")
}

/// How to mend that.
pub fn fix_unheard_groups(channel: &str) -> String {
    format!("add [{channel}], or take them out of groups.allowed")
}

/// Sound skills.
pub fn skills(count: usize, dir: &str) -> String {
    let skills = if count == 1 { "1 skill".to_owned() } else { format!("{count} skills") };
    format!("{skills} in {dir}")
}

/// A folder that does not load.
pub fn broken_skill(folder: &str, why: &str) -> String {
    format!("{folder} is not used: {why}")
}

/// A folder with a finding.
pub fn held_skill(folder: &str) -> String {
    format!("What lies in the folder of the skill {folder} is held back until the owner accepts it")
}

/// Proposals wait.
pub fn proposals_wait(count: usize) -> String {
    if count == 1 { "1 proposal waits".to_owned() } else { format!("{count} proposals wait") }
}

/// The memory cannot be looked at.
pub const FIX_KNOWLEDGE: &str = "see that the workspace and all in it belong to the user who runs this";
/// Another process holds the home, and nobody can be asked.
pub const NOBODY_LOOKED: &str = "not looked at: another process of Compline holds the home and does not answer";
/// Nobody can be asked.
pub const FIX_NOBODY_LOOKED: &str = "run `compline doctor` again when it has ended";
/// The gateway does not tell.
pub const NOT_TOLD: &str = "the running gateway does not tell how it is: it could not look, or is of another version";
/// The gateway does not tell.
pub const FIX_NOT_TOLD: &str =
    "see its log, and that the workspace belongs to the user who runs it; then start it again";
/// A file that is no text.
pub const FIX_UNREADABLE: &str = "`compline memory` names the owner's, /memory everybody's own: open the files under memory/, agents/ and learnings/ in an editor and save them as UTF-8; they must belong to the user who runs this";
/// Notes that nothing leads to.
pub const FIX_UNLISTED: &str = "`compline doctor --fix` adds a line for each to `## Index` in MEMORY.md";
/// Files that are too large.
pub const FIX_OVERFULL: &str = "`compline memory` shows how full it is; move what is old into notes, or forget it";
/// Folders that are nobody's.
pub const FIX_NOBODYS: &str = "each person has a folder by their number, as people/2-ben: what you still need of these move there by hand, and delete the rest";
/// The owner of the root is removed.
pub const ROOT_IS_CLOSED: &str = "the workspace root is loaded for nobody: the person it belongs to is not let in";
/// The owner of the root is removed.
pub const FIX_ROOT_IS_CLOSED: &str =
    "let them in again, or give the root to another owner with `compline people hand-over NAME`";
/// A file that was written for somebody else.
pub const FIX_MISPLACED: &str = "nobody is shown it, and none of its versions. If it is right where it lies, copy its words into a new file there; else move it by hand into the folder of the person it was written for. Whoever was shown it before may have said so: search for it";
/// Rows that were written for somebody else.
pub const FIX_MISPLACED_ROWS: &str = "keep a backup, and tell the makers of the program: this is a fault of it, or somebody has changed the journal by hand";
/// What the index cannot take in.
pub const FIX_INDEX: &str =
    "give it a moment while the gateway runs; what stays is no text, or too large to be searched";

/// How much is known.
pub fn knowledge(files: usize, bytes: u64, percent: u64) -> String {
    format!("{files} files, {} KiB; the fullest MEMORY.md is {percent} % full", bytes.div_ceil(1024))
}

/// What was mended of it.
pub fn mended_knowledge(folders: usize, lines: usize) -> String {
    format!("made {folders} folders, and {lines} lines that lead to notes")
}

/// Files of the memory that cannot be read, or are no text.
pub fn unreadable(count: usize) -> String {
    format!(
        "{count} of the files that are loaded by themselves cannot be read as text: nothing is known from them, and nothing is added"
    )
}

/// Notes that no line leads to.
pub fn unlisted(count: usize) -> String {
    format!("{count} notes without a line in MEMORY.md: they are found by search, and not listed")
}

/// Files that are larger than they may be.
pub fn overfull(count: usize) -> String {
    format!(
        "{count} of the files that are loaded by themselves are larger than they may become: nothing is added to them"
    )
}

/// A memory that is nearly full.
pub fn nearly_full(percent: u64) -> String {
    format!("a MEMORY.md is {percent} % full")
}

/// A file that lies with one person and was written for another.
pub fn misplaced(path: &str, written_for: &str, lies_with: &str, stands: bool) -> String {
    let what = if stands { "" } else { " (deleted; its versions are kept)" };
    format!("{path}{what} was written for {written_for} and lies with {lies_with}")
}

/// Files like that which are not named.
pub fn more_misplaced(count: usize) -> String {
    format!("{count} more files were written for somebody else than the one they lie with")
}

/// Rows whose scope is not that of what they belong to.
pub fn misplaced_rows(table: &str, count: usize, first: i64) -> String {
    format!("{count} rows of {table} are of another person than what they belong to; the first is {first}")
}

/// Folders of nobody.
pub fn nobodys(count: usize) -> String {
    format!("{count} folders under people/ belong to nobody who is let in")
}

/// How the index is.
pub fn index(entries: usize, troubled: usize, waiting: usize) -> String {
    format!("{entries} entries; {troubled} files cannot be searched as they should be, {waiting} are not read yet")
}

/// A forgetting that cannot be finished.
pub fn unreadable_forgetting(id: ForgettingId) -> String {
    format!("the words of forgetting {id} cannot be read, so it is not finished")
}

/// What to do about it.
pub const FIX_FORGETTING: &str =
    "restore a backup, or forget it again by its words; until then nothing new is written down there";
