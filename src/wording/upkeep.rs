//! What is said about retention, upkeep, backups and what came out of one.

use super::ProgramText;
use std::path::Path;

/// In the place of words that were deleted because of their age.
pub const FORGOTTEN: &str = "(forgotten)";
/// In the place of words that their sender deleted, or let disappear.
pub const GONE: &str = "(gone: deleted by its sender, or its timer ran out)";
/// Why a received file is not there any more.
pub const FILE_FORGOTTEN: &str = "it was deleted because of its age";

/// No room for a copy before the journal is brought up to date.
pub const FIX_NO_ROOM_TO_COPY: &str = "free as much space as the journal takes, and start again; nothing was changed, and an older program still reads it";
/// No copy of the journal can be made.
pub const FIX_NOT_COPIED: &str =
    "see that `backups` in the home is a directory that the user who runs this can write in; nothing was changed";

/// The disk is nearly full.
pub fn disk_nearly_full(mebibytes: u64) -> ProgramText {
    ProgramText::message(format!(
        "The disk on which I keep everything is nearly full: {mebibytes} MiB are free. When it is full I can accept nothing more. \
         What I have is safe. Please make some room."
    ))
}

/// The weekly look found something.
pub fn journal_damaged(findings: usize) -> ProgramText {
    let count = if findings == 1 { "one place".to_owned() } else { format!("{findings} places") };
    ProgramText::message(format!(
        "My journal is damaged in {count}. Please stop me soon and run `compline doctor`: it says where, and how to go on from a backup."
    ))
}

/// A line of the status: when the house was last kept up.
pub fn kept_up(at: &str, sound: bool) -> String {
    let state = if sound { "the journal is sound" } else { "the journal is DAMAGED: run `compline doctor`" };
    format!("- upkeep: last on {at}, {state}")
}

/// A line of the status: what came of a restore.
pub fn came_from_a_backup(at: &str, outbox: usize, messages: usize) -> String {
    format!(
        "- restored from a backup on {at}: {} and {} then",
        plural(outbox, "message that waited was not sent", "messages that waited were not sent"),
        plural(messages, "that waited for an answer was closed", "that waited for an answer were closed"),
    )
}

/// The weekly look found the journal sound.
pub fn checked(at: &str) -> String {
    format!("every table was found sound on {at}")
}

/// How to mend what the weekly look found.
pub const FIX_CHECKED: &str =
    "stop the gateway, then `compline restore` the newest backup; the damaged state is kept aside";

/// `1 file`, `3 files`.
pub fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// There is nothing to back up.
pub fn no_journal(home: &Path) -> String {
    super::cli::with_fix(
        &format!("There is no journal in {}, so there is nothing to back up", home.display()),
        "name the right home with --home",
    )
}

/// The backup would take the place of something.
pub fn taken(file: &Path) -> String {
    super::cli::with_fix(&format!("{} is there already", file.display()), "name another file; nothing was written")
}

/// The backup would be part of itself.
pub fn inside(file: &Path, folder: &Path) -> String {
    let fix = "name a file somewhere else, best on another disk";
    super::cli::with_fix(&format!("{} lies in {}, which is backed up", file.display(), folder.display()), fix)
}

/// A backup is made.
pub fn made(file: &Path, kibibytes: u64, files: usize) -> String {
    let files = plural(files, "file", "files");
    format!("{} ({kibibytes} KiB): the journal and {files}, read back and found whole.", file.display())
}

/// What the backup holds besides.
pub const HOLDS_SECRETS: &str = "It is not encrypted. It holds compline.toml, and with it every key and token that stands there. Keep it as you keep those, or use --without-config.";
/// What the backup does not hold.
pub const WITHOUT_CONFIG: &str = "It is not encrypted. It does not hold compline.toml; keep a copy of that yourself.";

/// Something is not in the backup.
pub fn left_out(path: &str, why: LeftOut) -> String {
    let why = match why {
        LeftOut::LeadsOut => "a link that leads elsewhere",
        LeftOut::Special => "neither a file nor a folder nor a link",
        LeftOut::Unnameable => "its name is no text",
        LeftOut::Key => "the key of the backups",
    };
    format!("not in the backup: {path} ({why})")
}

/// Why something is not in a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOut {
    /// A link that leads out of its folder.
    LeadsOut,
    /// A pipe, a socket, a device.
    Special,
    /// A name that is no UTF-8.
    Unnameable,
    /// The key that authenticates backups.
    Key,
}

/// While a backup is made, read back or unpacked.
pub fn progress(doing: &str, mebibytes: u64) -> String {
    format!("{doing}: {mebibytes} MiB")
}

/// While something goes on that says nothing of itself.
pub fn goes_on(doing: &str, seconds: u64) -> String {
    format!("{doing}: {seconds} s")
}

/// Progress.
pub const COPYING: &str = "Copying";
/// Progress.
pub const CHECKING: &str = "Checking";
/// Progress.
pub const UNPACKING: &str = "Unpacking";

/// The file is no backup, or not whole.
pub fn not_whole(file: &Path, why: &str) -> String {
    let fix = "use another backup; nothing was changed";
    super::cli::with_fix(&format!("{} cannot be restored: {why}", file.display()), fix)
}

/// The backup was made by a newer program.
pub fn newer(file: &Path, found: u32, known: u32) -> String {
    let fix = "install that newer version first; nothing was changed";
    let what = format!(
        "{} was made by a newer Compline (journal version {found}, this program knows {known})",
        file.display()
    );
    super::cli::with_fix(&what, fix)
}

/// The configuration in the backup cannot be used.
pub fn config_unusable(told: &str) -> String {
    let fix = "put what it names in its place, or restore with --without-config; nothing was changed";
    super::cli::with_fix(&format!("The configuration in the backup cannot be used: {told}"), fix)
}

/// The present configuration cannot be used.
pub fn present_config_unusable(told: &str) -> String {
    let fix = "mend it, or take that of the backup with --with-config; nothing was changed";
    super::cli::with_fix(&format!("The present configuration cannot be used: {told}"), fix)
}

/// A folder lies on another disk than the home.
pub fn other_disk(folder: &Path) -> String {
    let fix = "restore without that setting (--without-config, or unset the variable), and move the folder yourself afterwards; nothing was changed";
    super::cli::with_fix(
        &format!("{} is on another disk than the home, so it cannot be exchanged at once", folder.display()),
        fix,
    )
}

/// What was closed.
pub fn closed(what: usize, one: &str, many: &str) -> Option<String> {
    (what > 0).then(|| format!("- {}", plural(what, one, many)))
}

/// What was closed, kind by kind: how it is said of one and of many.
pub const CLOSED: [(&str, &str); 10] = [
    ("message that waited for an answer is closed", "messages that waited for an answer are closed"),
    ("message that waited to be sent is not sent", "messages that waited to be sent are not sent"),
    ("proposal that waited for a yes is void", "proposals that waited for a yes are void"),
    ("question that waited for a yes is over", "questions that waited for a yes are over"),
    ("scheduled run that was under way is over", "scheduled runs that were under way are over"),
    (
        "file matches nothing that the journal knows, and is not trusted until somebody changes it by hand",
        "files match nothing that the journal knows, and are not trusted until somebody changes them by hand",
    ),
    (
        "skill is held until the owner says yes, because nobody accepted it in that form",
        "skills are held until the owner says yes, because nobody accepted them in that form",
    ),
    ("person is not let in as the backup says", "people are not let in as the backup says"),
    (
        "outside tool is off until you accept it again (`compline tools list`)",
        "outside tools are off until you accept them again (`compline tools list`)",
    ),
    ("reminder is cancelled", "reminders are cancelled"),
];

/// A restore that was cut off was finished.
pub const FINISHED: &str = "A restore was cut off in the middle. It is finished now: this is the state of the backup.";
/// A restore that was cut off was dropped.
pub const DROPPED: &str =
    "A restore was cut off before it had changed anything. What it left is removed: this is the state from before.";
/// The root of the workspace changed hands while files were packed.
pub const FOLDERS_MOVED: &str = "Folders of the workspace were moved meanwhile\nfix: make the backup again";
/// A restore is in the middle.
pub const UNFINISHED: &str =
    "A restore was cut off in the middle.\nfix: start `compline run` or repeat `compline restore`; either finishes it";

/// Asked of whoever restores with a gateway that runs.
pub fn stop_first(home: &Path) -> String {
    let fix = "stop the gateway, restore, and start it again";
    super::cli::with_fix(&format!("Another Compline is running with the home {}", home.display()), fix)
}
