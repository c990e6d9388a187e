//! Problems that a person may have to fix, and how: findings of `compline doctor` and of the page.

use std::path::Path;

use crate::id::{ErasureId, StrangerId};

/// Home directory check.
pub const HOME: &str = "home";
/// Secrets check.
pub const SECRETS: &str = "secrets";
/// Configuration check.
pub const CONFIGURATION: &str = "configuration";
/// Time zone check.
pub const ZONE: &str = "zone";
/// Disk space check.
pub const DISK: &str = "disk";
/// Journal integrity check.
pub const JOURNAL: &str = "journal";
/// Journal log size check.
pub const JOURNAL_LOG: &str = "journal log";
/// Upkeep check.
pub const UPKEEP: &str = "upkeep";
/// Check for unfinished deletions.
pub const FORGETTING: &str = "forgetting";
/// System clock check.
pub const CLOCK: &str = "clock";
/// Owner check.
pub const OWNER: &str = "owner";
/// Check for unknown senders.
pub const STRANGERS: &str = "strangers";
/// Check of the replica for a second machine.
pub const STANDBY: &str = "second machine";
/// Fix for a replica of another gateway.
pub const FIX_STANDBY: &str = "`compline standby check` tells whether this machine could take over";
/// State of a sound replica.
pub fn replica(folder: &Path, is_ours: bool) -> String {
    let serves = if is_ours { "this home serves" } else { "no gateway says that it serves" };
    format!("the replica is in {}; {serves}", folder.display())
}
/// Workspace files check.
pub const WORKSPACE: &str = "workspace";
/// Memory check.
pub const KNOWLEDGE: &str = "knowledge";
/// Search index check.
pub const INDEX: &str = "index";
/// Semantic search check.
pub const MEANING: &str = "meaning";
/// Skills check.
pub const SKILLS: &str = "skills";
/// Check for pending proposals.
pub const PROPOSALS: &str = "proposals";
/// Main model check.
pub const MODEL: &str = "model";
/// Fallback model check.
pub const FALLBACK: &str = "fallback model";
/// Background model check.
pub const BACKGROUND: &str = "background model";
/// Reviewer model check.
pub const REVIEWER: &str = "reviewer model";
/// Telegram check.
pub const TELEGRAM: &str = "telegram";
/// Group chats check.
pub const GROUPS: &str = "groups";
/// Gateway check.
pub const GATEWAY: &str = "gateway";

/// Status: passed.
pub const OK: &str = "ok";
/// Status: informational.
pub const NOTE: &str = "note";
/// Status: fixed by `--fix`.
pub const FIXED: &str = "fixed";
/// Status: needs fixing.
pub const WRONG: &str = "WRONG";
/// Prefix of the suggested fix.
pub const FIX: &str = "fix:";

/// Fix for a missing home directory.
pub const FIX_NO_HOME: &str = "run `compline init`, or name another home with --home";
/// Fix for a file at the home directory's path.
pub const FIX_HOME_IS_A_FILE: &str = "move the file away, or name another home with --home";
/// Note that the free space cannot be determined.
pub const NO_SPACE_KNOWN: &str = "the free space is not known here";
/// Fix for a full disk.
pub const FIX_DISK: &str = "free some space; while there is none nothing is accepted, and nothing is lost";
/// Note that no journal exists yet.
pub const NO_JOURNAL: &str = "none yet; the first start makes one";
/// Fix for an empty journal.
pub const FIX_EMPTY_JOURNAL: &str =
    "put a copy from a backup in its place; or start all the same, and a new one is begun";
/// Fix for a large journal log.
pub const FIX_LOG: &str = "close other programs that have the journal open; it is merged at the next stop";
/// Fix for a clock that is behind the journal.
pub const FIX_CLOCK: &str = "set the clock; until it has caught up, messages join the conversation that is open";
/// Finding: no owner is configured.
pub const NO_OWNER: &str = "nobody has access as owner";
/// Fix for a missing owner.
pub const FIX_NO_OWNER: &str =
    "add [[people]] with a name and role = \"owner\" to the configuration, or run `compline init`";
/// Finding: the owner has no address on any channel.
pub const NOT_CLAIMED: &str = "nobody has claimed the assistant yet";
/// Fix for an owner without an address.
pub const FIX_NOT_CLAIMED: &str = "start `compline run` and send the assistant the code that it prints";
/// Fix for an owner who has no address on some channel.
pub const FIX_NOT_MET: &str = "send /link where the assistant knows you and send the code from the other channel; or write your address into \
    your entry under [[people]]";
/// The owner has an address on every channel.
pub const OWNER_KNOWN: &str = "known";
/// Workspace files that are loaded into every prompt.
pub const WORKSPACE_FILES: [&str; 4] = ["AGENTS.md", "SOUL.md", "USER.md", "memory/MEMORY.md"];
/// Fix for missing workspace files.
pub const FIX_WORKSPACE: &str = "`compline doctor --fix` or the next start makes them";
/// Fix for an invalid skill folder.
pub const FIX_SKILL: &str = "`compline skills check` says what is wrong and where; fix it, or move the folder away";
/// Fix for a skill that is held back.
pub const FIX_HELD_SKILL: &str = "`compline skills accept NAME` shows it and asks; or fix the folder, or move it away";
/// Hint about pending proposals.
pub const FIX_PROPOSALS: &str = "`compline review list` shows them; nothing changes until you decide";
/// The offline model, which needs no check.
pub const OFFLINE: &str = "the offline model, which needs nothing";
/// Name of the Telegram bot in [`not_tried`].
pub const BOT: &str = "the bot";
/// Fix for an unexpected webhook.
pub const FIX_WEBHOOK: &str =
    "`compline run` removes it when it starts; if it comes back, another program sets it: stop that";
/// Fix for webhook calls that do not arrive.
pub const FIX_CALLS_FAIL: &str = "check that telegram.webhook_url leads to telegram.webhook_listen: the web server between them, its \
    certificate, the firewall";
/// Fix for webhook calls that go to another URL.
pub const FIX_CALLED_ELSEWHERE: &str =
    "another program uses the same bot: stop it, or give each a bot of its own; then run `compline reload`";
/// Fix for a webhook address that is in use.
pub const FIX_CANNOT_LISTEN: &str = "free it, or name another address in telegram.webhook_listen";
/// The gateway is not running.
pub const NOT_RUNNING: &str = "not running";
/// The gateway is running and all its channels receive.
pub const RUNNING: &str = "running, and receives on all its channels";
/// Finding: the gateway hangs.
pub const SILENT: &str = "running, but it does not answer";
/// Fix for a gateway that hangs.
pub const FIX_SILENT: &str = "restart it; what was accepted is not lost";

/// First line of the report.
pub fn head(version: &str, os: &str, arch: &str) -> String {
    format!("Compline {version} on {os} {arch}")
}

/// Last line of the report.
pub fn verdict(wrong: usize) -> String {
    match wrong {
        0 => "Nothing to fix.".to_owned(),
        1 => "One thing to fix.".to_owned(),
        many => format!("{many} things to fix."),
    }
}

/// Finding: the home directory does not exist.
pub fn no_home(path: &str) -> String {
    format!("{path} is not there")
}

/// Finding: the home path is a file.
pub fn home_is_a_file(path: &str) -> String {
    format!("{path} is a file, not a directory")
}

/// Finding: a path is not writable.
pub fn not_writable(path: &str, why: &str) -> String {
    format!("{path} cannot be written to: {why}")
}

/// Finding: a path is readable by other users of the computer.
pub fn readable(path: &str, mode: u32) -> String {
    format!("others on this computer can look into {path} (mode {mode:04o})")
}

/// Command that restricts the permissions of a path.
pub fn fix_mode(path: &str, wanted: u32) -> String {
    format!("chmod {wanted:o} '{path}', or `compline doctor --fix`")
}

/// Note that the configured time zone differs from the system's.
pub fn other_zone(configured: &str, here: &str) -> String {
    format!("{configured} (this computer is set to {here}; the configuration counts)")
}

/// Free disk space.
pub fn free(mebibytes: u64) -> String {
    format!("{mebibytes} MiB free")
}

/// Finding: the journal file is empty.
pub fn empty_journal(path: &Path) -> String {
    format!("{} is an empty file", path.display())
}

/// Version and size of a sound journal.
pub fn journal(version: u32, kibibytes: u64) -> String {
    format!("sound, version {version}, {kibibytes} KiB")
}

/// Finding: the journal is damaged. Lists the first three errors.
pub fn broken(findings: &[String]) -> String {
    let few: Vec<&str> = findings.iter().take(3).map(String::as_str).collect();
    format!("damaged: {}", few.join("; "))
}

/// Size of the journal log.
pub fn log(kibibytes: u64) -> String {
    format!("{kibibytes} KiB wait to be merged")
}

/// Finding: the clock is behind the newest journal entry.
pub fn clock_behind(now: &str, latest: &str) -> String {
    format!("it is {now} here, but the journal has entries of {latest}")
}

/// Unknown sender whose messages were rejected.
pub fn stranger(adapter: &str, sender: &str, at: &str, count: i64) -> String {
    let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
    format!("{adapter} {sender} wrote {times}, last at {at}, and has no access")
}

/// Fix for an unknown sender who should have access.
pub fn fix_stranger(id: StrangerId) -> String {
    format!("if you know them: `compline people admit {id} NAME`; else `compline people ignore {id}`")
}

/// Finding: the owner has no address on these channels.
pub fn not_met(channels: &[&str]) -> String {
    format!("known, but not on {}", channels.join(" and "))
}

/// Finding: workspace files are missing.
pub fn missing_files<S: AsRef<str>>(files: &[S]) -> String {
    let files: Vec<&str> = files.iter().map(AsRef::as_ref).collect();
    format!("missing: {}", files.join(", "))
}

/// Note that a check was skipped.
pub fn not_tried(what: &str) -> String {
    format!("{what} was not checked")
}

/// Finding: the model does not answer.
pub fn away(name: &str, since: &str, why: &str) -> String {
    format!("{name} has not answered since {since}: {why}")
}

/// Part of the protocol: calls of tools.
pub const TOOLS_OF_MODEL: &str = "tools";
/// Part of the protocol: answers in JSON.
pub const JSON_OF_MODEL: &str = "JSON";
/// Part of the protocol: pictures.
pub const PICTURES_OF_MODEL: &str = "pictures";

/// A model answers, also with these.
pub fn answers_with(name: &str, with: &[&str]) -> String {
    if with.is_empty() { answers(name) } else { format!("{name} answers, also with {}", with.join(", ")) }
}

/// A part of the protocol that a model's server lacks.
pub fn lacks(part: &str, why: &str) -> String {
    format!("without {part}: {why}")
}

/// The checked service answers.
pub fn answers(what: &str) -> String {
    format!("{what} answers")
}

/// Finding: the bot has an unexpected webhook.
pub fn webhook(username: &str) -> String {
    format!("@{username} answers, but its messages go to a webhook")
}

/// Telegram calls the configured webhook.
pub fn is_called(username: &str) -> String {
    format!("@{username} answers, and its messages come to telegram.webhook_url")
}

/// The webhook is not registered yet.
pub fn not_called_yet(username: &str) -> String {
    format!("@{username} answers; `compline run` tells Telegram where to call")
}

/// Finding: Telegram calls another URL.
pub fn called_elsewhere(username: &str) -> String {
    format!("@{username} answers, but its messages do not go to telegram.webhook_url")
}

/// Finding: Telegram's webhook calls fail.
pub fn calls_fail(username: &str, at: &str, why: &str) -> String {
    format!("messages for @{username} wait, and Telegram's last call failed at {at}: {why}")
}

/// Finding: the webhook address cannot be bound.
pub fn cannot_listen(place: &str, why: &str) -> String {
    format!("Telegram's calls cannot be received at {place}: {why}")
}

/// Finding: groups are allowed on a channel that is not configured.
pub fn unheard_groups(channel: &str, count: usize) -> String {
    let groups = if count == 1 { "1 group is".to_owned() } else { format!("{count} groups are") };
    format!("{groups} allowed on {channel}, which is not configured: nothing is received there")
}

/// Fix for groups on an unconfigured channel.
pub fn fix_unheard_groups(channel: &str) -> String {
    format!("add [{channel}], or take them out of groups.allowed")
}

/// Number of valid skills.
pub fn skills(count: usize, dir: &str) -> String {
    let skills = if count == 1 { "1 skill".to_owned() } else { format!("{count} skills") };
    format!("{skills} in {dir}")
}

/// Finding: a skill folder does not load.
pub fn broken_skill(folder: &str, why: &str) -> String {
    format!("{folder} is not used: {why}")
}

/// Finding: a skill folder is held back until the owner accepts it.
pub fn held_skill(folder: &str) -> String {
    format!("The folder of the skill {folder} is held back until the owner accepts it")
}

/// Number of pending proposals.
pub fn proposals_wait(count: usize) -> String {
    if count == 1 { "1 proposal waits".to_owned() } else { format!("{count} proposals wait") }
}

/// Finding: the memory cannot be checked, because the disk is full.
pub const NO_ROOM_TO_CHECK: &str = "not checked: the disk is full, and the check stores what it finds";
/// Fix for a memory that cannot be checked.
pub const FIX_KNOWLEDGE: &str = "see that the workspace and all in it belong to the user who runs this";
/// Note that another process holds the home and does not answer.
pub const NOBODY_LOOKED: &str = "not checked: another Compline process holds the home and does not answer";
/// Hint for [`NOBODY_LOOKED`].
pub const FIX_NOBODY_LOOKED: &str = "run `compline doctor` again when it has ended";
/// Finding: the gateway does not report its health.
pub const NOT_TOLD: &str = "the running gateway does not report its state: it could not check, or is another version";
/// Fix for a gateway that does not report its health.
pub const FIX_NOT_TOLD: &str =
    "see its log, and that the workspace belongs to the user who runs it; then start it again";
/// Fix for unreadable memory files.
pub const FIX_UNREADABLE: &str = "`compline memory` names the owner's, /memory everybody's own: open the files under memory/, agents/ and learnings/ in an editor and save them as UTF-8; they must belong to the user who runs this";
/// Fix for notes without a line in the index.
pub const FIX_UNLISTED: &str = "`compline doctor --fix` adds a line for each to `## Index` in MEMORY.md";
/// Fix for files that are too large.
pub const FIX_OVERFULL: &str = "`compline memory` shows how full it is; move what is old into notes, or forget it";
/// Fix for folders that belong to no person.
pub const FIX_NOBODYS: &str = "each person has a folder by number, such as people/2-ben: move what you still need there by hand, and delete the rest";
/// Finding: the owner of the workspace root was removed.
pub const ROOT_IS_CLOSED: &str = "the workspace root is not loaded: the person it belongs to has no access";
/// Fix for a workspace root whose owner was removed.
pub const FIX_ROOT_IS_CLOSED: &str =
    "give them access again, or give the root to another owner with `compline people hand-over NAME`";
/// Fix for a file that was written for another person.
pub const FIX_MISPLACED: &str = "neither it nor its versions are shown to anyone. If it belongs where it is, copy its text into a new file there; otherwise move it by hand to the folder of the person it was written for. Anyone who saw it before may have mentioned it: search for it";
/// Fix for rows that were written for another person.
pub const FIX_MISPLACED_ROWS: &str =
    "keep a backup, and report it to the developers: this is a bug, or the journal was changed by hand";
/// Fix for files that cannot be indexed.
pub const FIX_INDEX: &str = "wait a moment while the gateway runs; files that stay listed are not text, or too large";

/// Size of the memory.
pub fn knowledge(files: usize, bytes: u64, percent: u64) -> String {
    format!("{files} files, {} KiB; the fullest MEMORY.md is {percent} % full", bytes.div_ceil(1024))
}

/// Folders and index lines that `--fix` created.
pub fn fixed_knowledge(folders: usize, lines: usize) -> String {
    format!("made {folders} folders, and {lines} lines that lead to notes")
}

/// Finding: memory files cannot be read as text.
pub fn unreadable(count: usize) -> String {
    format!("{count} of the automatically loaded files cannot be read as text: they are not used, and nothing is added")
}

/// Finding: notes have no line in `MEMORY.md`.
pub fn unlisted(count: usize) -> String {
    format!("{count} notes without a line in MEMORY.md: search finds them, but they are not listed")
}

/// Finding: files exceed their size limit.
pub fn overfull(count: usize) -> String {
    format!("{count} of the automatically loaded files are over their size limit: nothing is added to them")
}

/// Finding: a `MEMORY.md` is nearly full.
pub fn nearly_full(percent: u64) -> String {
    format!("a MEMORY.md is {percent} % full")
}

/// Finding: a file lies with one person but was written for another.
pub fn misplaced(path: &str, written_for: &str, lies_with: &str, stands: bool) -> String {
    let what = if stands { "" } else { " (deleted; its versions are kept)" };
    format!("{path}{what} was written for {written_for} but is kept with {lies_with}")
}

/// Number of misplaced files that are not listed.
pub fn more_misplaced(count: usize) -> String {
    format!("{count} more files were written for another person than the owner of their folder")
}

/// Finding: rows have another scope than the item they belong to.
pub fn misplaced_rows(table: &str, count: usize, first: i64) -> String {
    format!("{count} rows of {table} are for another person than the item they belong to; the first is {first}")
}

/// Finding: folders under `people/` have no matching person.
pub fn nobodys(count: usize) -> String {
    format!("{count} folders under people/ belong to nobody with access")
}

/// State of the search index.
pub fn index(entries: usize, troubled: usize, waiting: usize) -> String {
    format!("{entries} entries; {troubled} files cannot be searched properly, {waiting} are not read yet")
}

/// Finding: the text of a deletion cannot be read, so it cannot finish.
pub fn unreadable_erasure(id: ErasureId) -> String {
    format!("the words of deletion {id} cannot be read, so it is not finished")
}

/// Fix for an unreadable deletion.
pub const FIX_FORGETTING: &str =
    "restore a backup, or forget it again by its words; until then nothing new is written down there";
