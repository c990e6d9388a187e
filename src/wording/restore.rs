//! Text about the backup key, and about what a restore shows before it asks for confirmation.

use std::path::Path;

use super::cli::with_fix;
use super::upkeep::plural;
use crate::people::Role;

/// Error: the key file is unreadable.
pub fn key_unreadable(path: &Path) -> String {
    format!("Cannot read the key of the backups, {}", path.display())
}

/// Error: the key file is invalid.
pub fn no_key_in(path: &Path) -> String {
    let fix = "put the right file back; or move it away, and the next backup makes a new key with a new recovery code";
    with_fix(&format!("{} does not hold the key of the backups", path.display()), fix)
}

/// Error: other users can read the key.
pub fn key_exposed(path: &Path) -> String {
    let shown = path.display();
    let fix = format!(
        "chmod 600 '{shown}'; if others on this computer may have read it, move it away instead, and the next backup makes a new one"
    );
    with_fix(&format!("{shown} authenticates the backups and can be read by others"), &fix)
}

/// Error: a character that recovery codes do not use.
pub fn code_letter(letter: char) -> String {
    format!("A recovery code never contains {letter:?}")
}

/// Error: a recovery code of the wrong length.
pub fn code_length(found: usize, wanted: usize) -> String {
    format!("A recovery code has {wanted} letters and digits, and this has {found}")
}

/// Error: the checksum of the recovery code does not match.
pub const CODE_MISTYPED: &str = "This recovery code is mistyped somewhere";

/// Recovery code of a new key, shown once.
pub fn new_code(code: &str) -> String {
    format!(
        "\nThis is the recovery code of your backups:\n\n    {code}\n\n\
         Write it down and keep it away from the backups: a new computer restores them only with it, and whoever has it can make\n\
         backups that pass for yours. `compline backup --recovery-code` shows it again.\n"
    )
}

/// Note that a key was made while no person was at the terminal.
pub const CODE_NOT_SHOWN: &str = "A key for the backups was made. Run `compline backup --recovery-code` and write the code down: a new computer restores them only with it.";

/// Error: neither a file nor the recovery code was requested.
pub const NO_FILE: &str = "No file name was given\nfix: compline backup FILE";

/// Error: the archive is not authenticated.
pub fn unsigned(file: &Path) -> String {
    let what = format!(
        "Nothing shows who made {}: it is not authenticated. Older versions made such backups, but so can anybody",
        file.display()
    );
    with_fix(&what, OR_UNSIGNED)
}

/// Error: the archive was modified.
pub fn changed(file: &Path) -> String {
    let what = format!("{} was changed since it was made, or another person made it", file.display());
    with_fix(&what, OR_UNSIGNED)
}

const OR_UNSIGNED: &str = "use another backup. `--unsigned` restores it but trusts nothing in it: it gives nobody access, and no tool, skill, file or reminder in it counts. Nothing was changed";

/// Error: the archive has another key and the recovery code cannot be asked for.
pub fn needs_code(file: &Path, has_key: bool) -> String {
    let why =
        if has_key { "was made with another key than this home's" } else { "needs a key that this home does not have" };
    let fix = "restore it at a terminal, which asks for the recovery code; or put the code into a file and name that with --recovery-code-file \
               (- reads standard input), or into the variable COMPLINE_RECOVERY_CODE. Without the code: --unsigned. Nothing was changed";
    with_fix(&format!("{} {why}", file.display()), fix)
}

/// Prompt for the recovery code.
pub fn ask_code(has_key: bool) -> String {
    let why = if has_key {
        "This backup was made with another key than this home's."
    } else {
        "This home has no key for backups yet."
    };
    format!("{why}\nRecovery code of the backup (compline backup --recovery-code showed it): ")
}

/// Error: the recovery code belongs to another key.
pub fn wrong_code(file: &Path) -> String {
    with_fix(
        &format!("This is not the recovery code of {}", file.display()),
        "look for the right code; nothing was changed",
    )
}

/// Error: the recovery code is invalid.
pub fn no_code(why: &str) -> String {
    with_fix(why, "read it again, letter by letter; nothing was changed")
}

/// Error: `--unsigned` needs a terminal.
pub const UNSIGNED_NEEDS_TERMINAL: &str = "A backup without a valid authentication is restored only after a yes at the terminal.\nfix: run this in a terminal; nothing was changed";
/// Error: a restore needs a terminal or `--yes`.
pub const NEEDS_YES: &str = "A restore asks before it changes anything, and there is nobody to ask.\nfix: run this in a terminal, or with --yes; nothing was changed";
/// Question for confirmation.
pub const CONFIRM: &str = "\nReplace the present state with this? Type yes: ";
/// Reply to a no.
pub const NOT_CONFIRMED: &str = "Nothing was changed.";

/// Date and age of the backup.
pub fn made(at: &str, days: u64) -> String {
    let age = match days {
        0 => "less than a day ago".to_owned(),
        days => format!("{} ago", plural(usize::try_from(days).unwrap_or(usize::MAX), "day", "days")),
    };
    format!("This backup was made at {at}, {age}. What happened here since then is set aside.")
}

/// Note that the backup is authentic.
pub const AUTHENTIC: &str = "It is authentic: made with your key, and not changed since.";
/// Warning that the backup is not authenticated.
pub const NOT_AUTHENTIC: &str = "NOTHING SHOWS WHO MADE IT. Nothing in it is trusted: people this home does not know get no access, outside tools have to be accepted again, \
     skills and files are not trusted, reminders are cancelled, and its configuration is not used.";
/// Note that the present journal is unreadable, so later removals are unknown.
pub const UNREADABLE: &str =
    "The present journal cannot be read, so it is unknown whom you removed since: check this list.";

/// Heading of the people.
pub const PEOPLE: &str = "\nPeople";
/// An empty list of people.
pub const NOBODY: &str = "  nobody";
/// A person who keeps access.
pub fn person(name: &str, role: Role, addresses: &str) -> String {
    let at = if addresses.is_empty() { String::new() } else { format!(" at {addresses}") };
    format!("  {name}: {role}{at}")
}
/// A person whose role differs from the backup.
pub fn other_role(line: &str, was: Role) -> String {
    format!("{line} (in the backup: {was})")
}
/// A person with addresses that the home does not know.
pub fn refused_addresses(line: &str, refused: &str) -> String {
    format!("{line}; no access from {refused}, which this home does not know")
}
/// A person whom this home has removed.
pub fn removed(name: &str, role: Role) -> String {
    format!("- {name} ({role} in the backup) gets NO access: removed here since")
}
/// A person whom this home does not know.
pub fn unknown(name: &str, role: Role) -> String {
    format!("- {name} ({role} in the backup) gets NO access: unknown here. `compline people pair` gives it")
}
/// A person whom the configuration no longer names.
pub fn undeclared(name: &str, role: Role) -> String {
    format!("- {name} ({role} in the backup) gets NO access: the configuration does not name them")
}
/// A person who has access through the configuration.
pub fn by_configuration(name: &str, role: Role) -> String {
    format!("+ {name}: {role}, because the configuration names them")
}
/// A person who is missing in the backup.
pub fn not_in_backup(name: &str, role: Role) -> String {
    format!("- {name} ({role} here) is NOT in the backup, and needs access again")
}
/// MCP tools that need acceptance again.
pub fn tools(names: &str) -> String {
    format!("\nOutside tools that have to be accepted again (`compline tools list`): {names}")
}

/// Note that the configuration is unchanged.
pub const CONFIG_SAME: &str = "\nThe configuration is the same.";
/// Note that the backup contains no configuration.
pub const CONFIG_ABSENT: &str = "\nThe configuration is not in the backup.";
/// Note that the present configuration is kept.
pub fn config_kept(differences: usize) -> String {
    let differences = plural(differences, "line", "lines");
    format!("\nThe configuration stays as it is here. The backup's differs in {differences}; --with-config uses it.")
}
/// Note that no configuration exists and that of the backup is not used.
pub const CONFIG_NONE: &str =
    "\nThere is no configuration here, and the backup's is not used: `compline init` makes one.";
/// Note that the configuration of the backup is used.
pub const CONFIG_TAKEN: &str = "\nThe configuration comes from the backup (--without-config leaves it out):";
/// Headings of the differences: people, programs, secrets, settings.
pub const SUBJECTS: [&str; 4] =
    ["  Who has access", "  Programs that are run, and servers", "  Keys and tokens", "  Other settings"];
/// An added setting.
pub fn set(key: &str, value: &str) -> String {
    format!("  + {key} = {value}")
}
/// A removed setting.
pub fn unset(key: &str, value: &str) -> String {
    format!("  - {key} = {value}")
}

/// Result: restored without differences.
pub fn exact(home: &Path, made_at: &str) -> String {
    format!("{} is as it was at {made_at}.", home.display())
}
/// Result: restored with the differences that follow.
pub fn holds(home: &Path, made_at: &str) -> String {
    format!("{} now holds the backup of {made_at}, except as listed below.", home.display())
}
/// Path of the previous state.
pub fn set_aside(aside: &Path) -> String {
    format!("The previous state is in {}.", aside.display())
}
/// Owners after the restore.
pub fn owners(owners: &str) -> String {
    format!("Owner: {owners}.")
}
/// Note that no owner is left.
pub const NO_OWNER: &str =
    "There is no owner: name one under [[people]] in the configuration, or start `compline run` and claim it.";
/// Note that the home uses the key of the backup from now on.
pub const KEY_KEPT: &str = "This home now uses the key of the backup.";
/// Note that restored content is untrusted.
pub const NOTHING_TRUSTED: &str =
    "- nothing in it is trusted: what was said can be read and searched, and counts as text from outside";
/// Setting whose file is neither here nor in the backup.
pub fn missing_file(key: &str, path: &str, set: &str) -> String {
    format!("- {key}: {path} is not here; put the file there, name another, or run `{set}`")
}
/// Setting whose file came with the backup, and lies elsewhere now.
pub fn moved_file(key: &str, path: &str, now: &str) -> String {
    format!("- {key}: {path} is now {now}; change the setting to \"{now}\"")
}
/// Setting whose environment variable is not set here.
pub fn missing_variable(key: &str, name: &str) -> String {
    format!("- {key}: set the variable {name} where Compline is started")
}
/// Note that the configuration is not that of the backup.
pub const OWN_CONFIG: &str = "- the configuration is not that of the backup";
