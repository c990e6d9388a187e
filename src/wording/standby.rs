//! Text about a second machine that takes over from a replica.

use std::path::Path;
use std::time::Duration;

use super::cli::with_fix;
use super::upkeep::{LAST_BEFORE_RELEASE, plural};

/// Error: no replica is configured.
pub const NO_FOLDER: &str = "No replica is configured\n\
    fix: set `[standby] folder` to the folder that holds it; docs/second-machine.md shows how it gets there";
/// Error: neither a replica nor a journal.
pub const NOTHING_TO_ACTIVATE: &str = "There is no journal in this home, and no replica is configured\n\
    fix: set `[standby] folder` to the folder that holds the replica";
/// Error: Litestream is missing.
pub const NO_LITESTREAM: &str = "The program `litestream` was not found\n\
    fix: install Litestream 0.5 (https://litestream.io/install) and see that it is on the PATH";

/// Error: the stream of the journal is missing.
pub fn no_replica(stream: &Path) -> String {
    let fix = "see that Litestream runs on the other machine and writes there, and that the folder is mounted";
    with_fix(&format!("There is no replica of a journal in {}", stream.display()), fix)
}

/// Error: the copy of the workspace is missing.
pub fn no_workspace(folder: &Path) -> String {
    let fix = "copy the workspace of the other machine there, best every minute (docs/second-machine.md)";
    with_fix(&format!("There is no copy of the workspace in {}", folder.display()), fix)
}

/// Error: the replica cannot be restored, or is damaged.
pub fn not_usable(why: &str) -> String {
    let fix = "repair it, or restore the newest backup; nothing was changed";
    with_fix(&format!("The replica cannot be used: {why}"), fix)
}

/// Error: the replica is of a newer program.
pub fn newer(found: u32, known: u32) -> String {
    let fix = "install the other machine's version here; nothing was changed";
    with_fix(&format!("The replica is of a newer Compline (journal version {found}, this program knows {known})"), fix)
}

/// Error: the replica is from before the first release.
pub fn too_old(found: u32) -> String {
    let fix = format!(
        "start Compline of commit {LAST_BEFORE_RELEASE} on the other machine once, then the version that is here; \
         nothing was changed"
    );
    with_fix(&format!("The replica comes from before the first release (journal version {found})"), &fix)
}

/// Error: the journal of this home is newer than the replica.
pub fn home_is_newer(journal: &Path) -> String {
    let fix = "start the gateway here without taking over; or move that file away, if the replica is the right one";
    with_fix(&format!("{} is newer than the replica", journal.display()), fix)
}

/// Last moment in the replica, and how long ago that was.
pub fn up_to(at: &str, age: Duration) -> String {
    format!("The replica holds everything up to {at}, {} ago.", span(age))
}

/// Note that nothing ever happened in the replica.
pub const EMPTY: &str = "Nothing has happened in the replica yet.";

fn span(age: Duration) -> String {
    let seconds = usize::try_from(age.as_secs()).unwrap_or(usize::MAX);
    match seconds {
        0..120 => plural(seconds, "second", "seconds"),
        120..7200 => plural(seconds / 60, "minute", "minutes"),
        7200..172_800 => plural(seconds / 3600, "hour", "hours"),
        _ => plural(seconds / 86_400, "day", "days"),
    }
}

/// State of the journal.
pub fn journal(version: u32, known: u32, is_of_release: bool) -> String {
    if version == known {
        return format!("Its journal is whole, and of version {version} like this program's.");
    }
    let of = if is_of_release { "version" } else { "the last version before the first release," };
    format!(
        "Its journal is whole, and of {of} {version}; taking over brings it to version {known}, \
         after which the other machine needs this program too."
    )
}

/// Comparison of the files with the journal.
pub fn files(matching: usize, unknown: usize, behind: usize) -> String {
    let mut text = format!("{} as the journal says.", plural(matching, "file is", "files are"));
    if behind > 0 {
        let behind = plural(behind, "file is missing or older", "files are missing or older");
        text.push_str(&format!(" {behind} than the journal: copy the folders again."));
    }
    if unknown > 0 {
        let unknown = plural(unknown, "file is", "files are");
        text.push_str(&format!(" {unknown} unknown to the journal and will not be trusted until a person edits them."));
    }
    text
}

/// Warning that other accounts can read the replica.
pub fn exposed(folder: &Path) -> String {
    format!("Other accounts of this computer can read the replica: `chmod 700 {}` closes it.", folder.display())
}

/// The gateway that serves.
pub fn served_by(computer: &str, since: Option<&str>) -> String {
    let computer = if computer.is_empty() { "another computer".to_owned() } else { format!("the computer {computer}") };
    match since {
        Some(since) => format!("A gateway on {computer} took over on {since}, and says that it serves."),
        None => format!("A gateway on {computer} says that it serves."),
    }
}

/// Result of the check.
pub const READY: &str = "This machine can take over: `compline standby activate`.";

/// Question before a takeover.
pub const CONFIRM: &str =
    "\nIs the other machine off? Two gateways take each other's messages. Type yes to take over: ";
/// Result: not confirmed.
pub const NOT_CONFIRMED: &str = "Not confirmed; nothing was changed.";
/// Error: there is no terminal for a question.
pub const NEEDS_YES: &str = "Nobody can be asked here whether the other machine is off\n\
    fix: repeat it at a terminal, or with --yes";
/// Error: a gateway runs here.
pub fn stop_first(home: &Path) -> String {
    let fix = "this machine serves already; stop the gateway if it is to start again from the replica";
    with_fix(&format!("A gateway is running with the home {}", home.display()), fix)
}

/// Result of a takeover.
pub fn activated(home: &Path) -> String {
    format!("{} has taken over. Start the gateway: `compline run`.", home.display())
}

/// Error: the journal belongs to another home.
pub fn foreign_journal(home: &Path) -> String {
    let fix = "`compline standby activate` takes it over, once the machine that it came from is off";
    with_fix(&format!("The journal in {} was copied from another home, which may still serve it", home.display()), fix)
}

/// Error: another home took over.
pub fn taken_over(computer: &str, since: Option<&str>, claim: &Path) -> String {
    let fix = format!(
        "leave this one off; to serve from here again, stop that one and run `compline standby activate`; if that home \
         is gone for good, delete {}",
        claim.display()
    );
    with_fix(&served_by(computer, since), &fix)
}

/// Warning: it is unknown whether another gateway serves.
pub fn unknown_claim(folder: &Path) -> String {
    format!(
        "{} cannot be written, so whether another machine has taken over is unknown until it can be.",
        folder.display()
    )
}
