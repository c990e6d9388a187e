//! Text about retention, upkeep, backups, and the state after a restore.

use std::path::Path;

use super::ProgramText;
use super::language::{Language, Sentence, say};

/// Placeholder for text that retention deleted.
pub const FORGOTTEN: Sentence = Sentence("message-forgotten");
/// Placeholder for text that its sender deleted or let expire.
pub const GONE: Sentence = Sentence("message-gone");
/// Placeholder for a message that was deleted because a person wanted it forgotten.
pub const FORGOTTEN_ON_REQUEST: Sentence = Sentence("message-forgotten-on-request");
/// Reason: retention deleted the file.
pub const FILE_FORGOTTEN: &str = "it was deleted because of its age";

/// Commit whose program brings the journal of any earlier one to the version of the first release.
pub const LAST_BEFORE_RELEASE: &str = "cfd88b9a";
/// Fix for a journal from before the first release.
pub const FIX_TOO_OLD: &str =
    "build that version, run `compline status` with it once, and come back; nothing was changed";
/// Fix for a lack of space for the copy before a migration.
pub const FIX_NO_ROOM_TO_COPY: &str = "free as much space as the journal takes, and start again; nothing was changed, and an older version can still read it";
/// Fix for a failed copy before a migration.
pub const FIX_NOT_COPIED: &str =
    "see that `backups` in the home is a directory that the user who runs this can write in; nothing was changed";

/// Warning that the disk is nearly full.
pub fn disk_nearly_full(mebibytes: u64) -> ProgramText {
    ProgramText::message(format!(
        "The disk on which I keep everything is nearly full: {mebibytes} MiB are free. When it is full I can accept nothing more. \
         What I have is safe. Please make some room."
    ))
}

/// Warning that the weekly integrity check failed.
pub fn journal_damaged(findings: usize) -> ProgramText {
    let count = if findings == 1 { "one place".to_owned() } else { format!("{findings} places") };
    ProgramText::message(format!(
        "My journal is damaged in {count}. Please stop me soon and run `compline doctor`: it says where, and how to restore a backup."
    ))
}

/// Time and result of the last upkeep, in the status.
pub fn kept_up(language: Language, at: &str, sound: bool) -> String {
    let state = if sound { "sound" } else { "damaged" };
    say!(language, "status-upkeep", at = at, state = state)
}

/// Messages and deliveries that a restore closed, in the status.
pub fn came_from_a_backup(language: Language, at: &str, outbox: usize, messages: usize) -> String {
    say!(language, "status-restored", at = at, outbox = outbox, messages = messages)
}

/// Takeover from a replica, in the status.
pub fn came_from_a_replica(language: Language, at: &str) -> String {
    say!(language, "status-took-over", at = at)
}

/// Result of a successful integrity check.
pub fn checked(at: &str) -> String {
    format!("all tables passed the check on {at}")
}

/// Fix for a failed integrity check.
pub const FIX_CHECKED: &str = "stop the gateway, then `compline restore` the newest backup; the damaged files are kept";

/// Formats a count with its noun: `1 file`, `3 files`.
pub fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Error: no journal to back up.
pub fn no_journal(home: &Path) -> String {
    super::cli::with_fix(
        &format!("There is no journal in {}, so there is nothing to back up", home.display()),
        "name the right home with --home",
    )
}

/// Error: the backup file exists.
pub fn taken(file: &Path) -> String {
    super::cli::with_fix(&format!("{} already exists", file.display()), "name another file; nothing was written")
}

/// Error: the backup would contain itself.
pub fn inside(file: &Path, folder: &Path) -> String {
    let fix = "name a file somewhere else, best on another disk";
    super::cli::with_fix(&format!("{} is inside {}, which is backed up", file.display(), folder.display()), fix)
}

/// Result: the backup is written.
pub fn made(file: &Path, kibibytes: u64, files: usize) -> String {
    let files = plural(files, "file", "files");
    format!("{} ({kibibytes} KiB): the journal and {files}, read back and verified.", file.display())
}

/// Warning that the backup contains the configuration and these secret files.
pub fn holds_secrets(files: &[String]) -> String {
    let files: String = files.iter().map(|file| format!(", {file}")).collect();
    format!(
        "It is not encrypted. It contains compline.toml{files}: every key and token in the home. Keep it as safe as those, or use --without-config."
    )
}
/// Note that the backup does not contain the configuration.
pub const WITHOUT_CONFIG: &str = "It is not encrypted. It does not hold compline.toml; keep a copy of that yourself.";

/// Item that is not in the backup.
pub fn left_out(path: &str, why: LeftOut) -> String {
    let why = match why {
        LeftOut::LeadsOut => "a link that leads elsewhere",
        LeftOut::Special => "neither a file nor a folder nor a link",
        LeftOut::Unnameable => "its name is no text",
        LeftOut::Key => "the key of the backups",
        LeftOut::SecretElsewhere => "a key or token outside the home",
    };
    format!("not in the backup: {path} ({why})")
}

/// Reason why an item is not in a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOut {
    /// A link that leads out of its folder.
    LeadsOut,
    /// A pipe, a socket or a device.
    Special,
    /// A name that is not UTF-8.
    Unnameable,
    /// The key that authenticates backups.
    Key,
    /// A secret file outside the home.
    SecretElsewhere,
}

/// Progress of writing, verifying or unpacking a backup.
pub fn progress(doing: &str, mebibytes: u64) -> String {
    format!("{doing}: {mebibytes} MiB")
}

/// Elapsed time of an operation, and what it has done so far if that is counted.
pub fn goes_on(doing: &str, seconds: u64, so_far: Option<&str>) -> String {
    match so_far {
        Some(so_far) => format!("{doing}: {seconds} s, {so_far}"),
        None => format!("{doing}: {seconds} s"),
    }
}

/// Progress: copying.
pub const COPYING: &str = "Copying";
/// Progress: verifying.
pub const CHECKING: &str = "Checking";
/// Progress: unpacking.
pub const UNPACKING: &str = "Unpacking";

/// Error: the file is no backup, or incomplete.
pub fn not_whole(file: &Path, why: &str) -> String {
    let fix = "use another backup; nothing was changed";
    super::cli::with_fix(&format!("{} cannot be restored: {why}", file.display()), fix)
}

/// Error: the user who runs this may not read the file.
pub fn not_readable(file: &Path) -> String {
    let fix = "give the file to the user who runs this; for the service: sudo install -o compline -m 600 FILE /var/lib/compline/, and restore that copy";
    super::cli::with_fix(&format!("{} may not be read by this user", file.display()), fix)
}

/// Error: the backup was made by a newer program.
pub fn newer(file: &Path, program: &str, found: u32, known: u32) -> String {
    let fix = "install that version or a later one first; nothing was changed";
    let program: String = program.chars().filter(|c| c.is_ascii_graphic()).take(20).collect();
    let what = format!(
        "{} was made by a newer Compline, {program} (journal version {found}; this is {} and knows {known})",
        file.display(),
        env!("CARGO_PKG_VERSION")
    );
    super::cli::with_fix(&what, fix)
}

/// Error: the backup was made before the first release.
pub fn too_old(file: &Path, found: u32) -> String {
    let what = format!("{} comes from before the first release (journal version {found})", file.display());
    let fix = format!(
        "restore it with Compline of commit {LAST_BEFORE_RELEASE}, start that once, and make a new backup; nothing was \
         changed"
    );
    super::cli::with_fix(&what, &fix)
}

/// Error: the configuration in the backup is invalid.
pub fn config_unusable(told: &str) -> String {
    let fix = "put what it names in its place, or restore with --without-config; nothing was changed";
    super::cli::with_fix(&format!("The configuration in the backup cannot be used: {told}"), fix)
}

/// Error: the present configuration is invalid.
pub fn present_config_unusable(told: &str) -> String {
    let fix = "fix it, or take that of the backup with --with-config; nothing was changed";
    super::cli::with_fix(&format!("The present configuration cannot be used: {told}"), fix)
}

/// Error: a folder is on another disk than the home.
pub fn other_disk(folder: &Path) -> String {
    let fix = "restore without that setting (--without-config, or unset the variable), and move the folder yourself afterwards; nothing was changed";
    super::cli::with_fix(
        &format!("{} is on another disk than the home, so it cannot be exchanged at once", folder.display()),
        fix,
    )
}

/// Number of items of a kind that the restore closed.
pub fn closed(what: usize, one: &str, many: &str) -> Option<String> {
    (what > 0).then(|| format!("- {}", plural(what, one, many)))
}

/// Kinds of closed items: singular and plural.
pub const CLOSED: [(&str, &str); 11] = [
    ("message that waited for an answer is closed", "messages that waited for an answer are closed"),
    ("message that waited to be sent is not sent", "messages that waited to be sent are not sent"),
    ("proposal that waited for a yes is void", "proposals that waited for a yes are void"),
    ("question that waited for a yes is over", "questions that waited for a yes are over"),
    ("scheduled run that was under way is over", "scheduled runs that were under way are over"),
    (
        "file matches nothing that the journal knows, and is not trusted until a person changes it by hand",
        "files match nothing that the journal knows, and are not trusted until a person changes them by hand",
    ),
    (
        "skill is held until the owner says yes, because nobody accepted it in that form",
        "skills are held until the owner says yes, because nobody accepted them in that form",
    ),
    ("person does not get the access in the backup", "people do not get the access in the backup"),
    (
        "outside tool is off until you accept it again (`compline tools list`)",
        "outside tools are off until you accept them again (`compline tools list`)",
    ),
    ("reminder is cancelled", "reminders are cancelled"),
    (
        "message is answered or sent after all, and says that it may be a repeat",
        "messages are answered or sent after all, and say that they may be repeats",
    ),
];

/// Note that an interrupted restore was completed.
pub const FINISHED: &str = "A restore was interrupted. It is finished now: this is the state of the backup.";
/// Note that an interrupted restore was discarded.
pub const DROPPED: &str =
    "A restore was interrupted before it changed anything. Its leftovers are removed: this is the earlier state.";
/// Error: the root of the workspace was handed over during the backup.
pub const FOLDERS_MOVED: &str = "Folders of the workspace were moved meanwhile\nfix: make the backup again";
/// Error: a restore is incomplete.
pub const UNFINISHED: &str =
    "A restore was interrupted.\nfix: start `compline run` or repeat `compline restore`; either finishes it";

/// Error: a restore while the gateway is running.
pub fn stop_first(home: &Path) -> String {
    let fix = "stop the gateway, restore, and start it again";
    super::cli::with_fix(&format!("Another Compline is running with the home {}", home.display()), fix)
}
