//! Sentences about the key of backups, and what a restore shows before it asks.

use std::path::Path;

use super::cli::with_fix;
use super::upkeep::plural;
use crate::people::Role;

/// The key file cannot be opened.
pub fn key_unreadable(path: &Path) -> String {
    format!("Cannot read the key of the backups, {}", path.display())
}

/// The key file is broken.
pub fn no_key_in(path: &Path) -> String {
    let fix = "put the right file back; or move it away, and the next backup makes a new key with a new recovery code";
    with_fix(&format!("{} does not hold the key of the backups", path.display()), fix)
}

/// Others can read the key.
pub fn key_exposed(path: &Path) -> String {
    let shown = path.display();
    let fix = format!(
        "chmod 600 '{shown}'; if others on this computer may have read it, move it away instead, and the next backup makes a new one"
    );
    with_fix(&format!("{shown} authenticates the backups and can be read by others"), &fix)
}

/// A character that no recovery code has.
pub fn code_letter(letter: char) -> String {
    format!("A recovery code has no {letter:?}")
}

/// A code that is too short or too long.
pub fn code_length(found: usize, wanted: usize) -> String {
    format!("A recovery code has {wanted} letters and digits, and this has {found}")
}

/// A typing error.
pub const CODE_MISTYPED: &str = "This recovery code is mistyped somewhere";

/// The code of a new key, shown once.
pub fn new_code(code: &str) -> String {
    format!(
        "\nThis is the recovery code of your backups:\n\n    {code}\n\n\
         Write it down and keep it away from the backups: a new computer restores them only with it, and whoever has it can make\n\
         backups that pass for yours. `compline backup --recovery-code` shows it again.\n"
    )
}

/// A key was made and nobody sits at the terminal.
pub const CODE_NOT_SHOWN: &str = "A key for the backups was made. Run `compline backup --recovery-code` and write the code down: a new computer restores them only with it.";

/// Neither a file nor the code was asked for.
pub const NO_FILE: &str = "Which file is to be written?\nfix: compline backup FILE";

/// The archive carries no authentication.
pub fn unsigned(file: &Path) -> String {
    let what = format!(
        "Nothing shows who made {}: it carries no authentication. An older Compline made such backups, and anybody can",
        file.display()
    );
    with_fix(&what, OR_UNSIGNED)
}

/// The archive was changed.
pub fn changed(file: &Path) -> String {
    let what = format!("{} was changed since it was made, or somebody else made it", file.display());
    with_fix(&what, OR_UNSIGNED)
}

const OR_UNSIGNED: &str = "use another backup. `--unsigned` restores it so that nothing in it acts: nobody is let in by it, no tool, skill, file or reminder of it counts. Nothing was changed";

/// The archive was made with another key, and nobody can be asked for the code.
pub fn needs_code(file: &Path, has_key: bool) -> String {
    let why =
        if has_key { "was made with another key than this home's" } else { "needs a key that this home does not have" };
    let fix = "restore it at a terminal, which asks for the recovery code; or put the code into a file and name that with --recovery-code-file \
               (- reads standard input), or into the variable COMPLINE_RECOVERY_CODE. Without the code: --unsigned. Nothing was changed";
    with_fix(&format!("{} {why}", file.display()), fix)
}

/// Asks for the code at the terminal.
pub fn ask_code(has_key: bool) -> String {
    let why = if has_key {
        "This backup was made with another key than this home's."
    } else {
        "This home has no key for backups yet."
    };
    format!("{why}\nRecovery code of the backup (compline backup --recovery-code showed it): ")
}

/// The code is that of another key.
pub fn wrong_code(file: &Path) -> String {
    with_fix(
        &format!("This is not the recovery code of {}", file.display()),
        "look for the right code; nothing was changed",
    )
}

/// A code that cannot be one.
pub fn no_code(why: &str) -> String {
    with_fix(why, "read it again, letter by letter; nothing was changed")
}

/// What `--unsigned` needs.
pub const UNSIGNED_NEEDS_TERMINAL: &str = "A backup without a valid authentication is restored only after a yes at the terminal.\nfix: run this in a terminal; nothing was changed";
/// What a restore without a terminal needs.
pub const NEEDS_YES: &str = "A restore asks before it changes anything, and there is nobody to ask.\nfix: run this in a terminal, or with --yes; nothing was changed";
/// The question.
pub const CONFIRM: &str = "\nPut this in the place of the present state? Type yes: ";
/// The answer was no.
pub const NOT_CONFIRMED: &str = "Nothing was changed.";

/// When the backup was made.
pub fn made(at: &str, days: u64) -> String {
    let age = match days {
        0 => "less than a day ago".to_owned(),
        days => format!("{} ago", plural(usize::try_from(days).unwrap_or(usize::MAX), "day", "days")),
    };
    format!("This backup was made at {at}, {age}. What happened here since then is set aside.")
}

/// The authentication is right.
pub const AUTHENTIC: &str = "It is authentic: made with your key, and not changed since.";
/// There is none.
pub const NOT_AUTHENTIC: &str = "NOTHING SHOWS WHO MADE IT. Nothing in it will act: whoever this home does not know is not let in, outside tools have to be accepted again, \
     skills and files are not trusted, reminders are cancelled, and its configuration is not taken.";
/// The present journal cannot tell who was removed.
pub const UNREADABLE: &str =
    "The present journal cannot be read, so whom you removed since is not known: look at this list.";

/// Heading.
pub const PEOPLE: &str = "\nPeople";
/// Nobody.
pub const NOBODY: &str = "  nobody";
/// Somebody who stays.
pub fn person(name: &str, role: Role, addresses: &str) -> String {
    let at = if addresses.is_empty() { String::new() } else { format!(" at {addresses}") };
    format!("  {name}: {role}{at}")
}
/// A role that the home has changed.
pub fn other_role(line: &str, was: Role) -> String {
    format!("{line} (in the backup: {was})")
}
/// Addresses that the home does not know.
pub fn refused_addresses(line: &str, refused: &str) -> String {
    format!("{line}; not let in from {refused}, which this home does not know")
}
/// Somebody whom this home removed.
pub fn removed(name: &str, role: Role) -> String {
    format!("- {name} ({role} in the backup) is NOT let in: removed here since")
}
/// Somebody whom this home does not know.
pub fn unknown(name: &str, role: Role) -> String {
    format!("- {name} ({role} in the backup) is NOT let in: unknown here. `compline people pair` lets them in")
}
/// Somebody whom the configuration does not name any more.
pub fn undeclared(name: &str, role: Role) -> String {
    format!("- {name} ({role} in the backup) is NOT let in: the configuration does not name them")
}
/// Somebody whom the configuration lets in.
pub fn by_configuration(name: &str, role: Role) -> String {
    format!("+ {name}: {role}, because the configuration names them")
}
/// Somebody whom the backup does not know.
pub fn not_in_backup(name: &str, role: Role) -> String {
    format!("- {name} ({role} here) is NOT in the backup, and has to be let in again")
}
/// Outside tools.
pub fn tools(names: &str) -> String {
    format!("\nOutside tools that have to be accepted again (`compline tools list`): {names}")
}

/// The configuration stays, and is the same.
pub const CONFIG_SAME: &str = "\nThe configuration is the same.";
/// The configuration stays, and there is none in the backup.
pub const CONFIG_ABSENT: &str = "\nThe configuration is not in the backup.";
/// The configuration stays.
pub fn config_kept(differences: usize) -> String {
    let differences = plural(differences, "line", "lines");
    format!("\nThe configuration stays as it is here. The backup's differs in {differences}; --with-config takes it.")
}
/// There is none here, and that of the backup is not taken.
pub const CONFIG_NONE: &str =
    "\nThere is no configuration here, and that of the backup is not taken: `compline init` makes one.";
/// The configuration of the backup is taken.
pub const CONFIG_TAKEN: &str = "\nThe configuration comes from the backup (--without-config leaves it out):";
/// Headings of the differences: people, programs, secrets, settings.
pub const SUBJECTS: [&str; 4] =
    ["  Who is let in", "  Programs that are run, and servers", "  Keys and tokens", "  Other settings"];
/// A key that is set.
pub fn set(key: &str, value: &str) -> String {
    format!("  + {key} = {value}")
}
/// A key that is not set any more.
pub fn unset(key: &str, value: &str) -> String {
    format!("  - {key} = {value}")
}

/// The restore is done, and everything is as it was.
pub fn exact(home: &Path, made_at: &str) -> String {
    format!("{} is as it was at {made_at}.", home.display())
}
/// The restore is done, and something is not as it was.
pub fn holds(home: &Path, made_at: &str) -> String {
    format!("{} holds the backup of {made_at} now, but for what stands below.", home.display())
}
/// Where the present state went.
pub fn set_aside(aside: &Path) -> String {
    format!("What was there before lies in {}.", aside.display())
}
/// The owners.
pub fn owners(owners: &str) -> String {
    format!("Owner: {owners}.")
}
/// There is none.
pub const NO_OWNER: &str =
    "Nobody is owner: name one under [[people]] in the configuration, or start `compline run` and claim it.";
/// The key of the archive is kept in the home.
pub const KEY_KEPT: &str = "The key of the backup is this home's from now on.";
/// Nothing authenticates what was restored.
pub const NOTHING_TRUSTED: &str =
    "- nothing in it is trusted: what was said can be read and searched, and counts as text from outside";
/// The configuration is not the archive's.
pub const OWN_CONFIG: &str = "- the configuration is not that of the backup";
