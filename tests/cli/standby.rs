//! `compline standby …` as typed by a person; the replica itself is tested in `tests/peers`.

use std::path::Path;

use compline::store::{BASELINE, newest_version};

use super::program::{Home, PLAIN};

/// A home whose replica is in that folder.
fn with_replica(folder: &Path) -> Home {
    Home::new().with("compline.toml", format!("{PLAIN}[standby]\nfolder = \"{}\"\n", folder.display()))
}

/// Promise (operation/standby-check): `compline standby check` says what is missing before a second
/// machine can take over, and changes nothing.
#[test]
fn a_check_names_what_is_missing() {
    Home::plain().run("standby check").refused(2, &["No replica is configured", "fix: set `[standby] folder`"]);
    Home::not_started().run("standby activate --yes").refused(1, &["There is no journal in this home"]);
    Home::plain().run("standby activate").refused(2, &["Nobody can be asked", "--yes"]);
    let folder = tempfile::tempdir().unwrap();
    let home = with_replica(folder.path());
    home.run("standby check").refused(1, &["There is no replica of a journal in", "see that Litestream runs"]);
    let doctor = || home.run("doctor --offline").out;
    assert!(doctor().contains("There is no replica of a journal in"), "{}", doctor());
    std::fs::create_dir(folder.path().join("journal")).unwrap();
    home.run("standby check").refused(1, &["The program `litestream` was not found", "fix: install Litestream"]);
    assert!(doctor().contains("no gateway says that it serves"), "{}", doctor());
    assert!(!Home::plain().run("doctor --offline").out.contains("second machine"));
    assert!(!home.file(".restoring").exists() && !home.file("compline.db").exists());
}

/// Promise (operation/one-gateway): A journal that was copied from another home is not served
/// before it was taken over.
#[test]
fn a_copied_journal_is_taken_over_before_it_is_served() {
    let (home, other) = (Home::plain(), Home::plain());
    home.run("chat What is 12*7?").done();
    std::fs::copy(home.file("compline.db"), other.file("compline.db")).unwrap();
    other.run("status").refused(2, &["was copied from another home", "fix: `compline standby activate`"]);
    let taken = other.run("standby activate --yes");
    assert!(taken.err.contains("Ada: owner"), "{taken:?}");
    assert!(taken.done().contains("has taken over"));
    assert!(other.run("status").done().contains("took over from another machine"));
    assert!(other.run("search 84").done().contains("84"));
    home.run("status").done();
}

/// Proves: operation/upgrade
#[test]
fn a_takeover_says_that_a_journal_is_from_before_the_first_release() {
    let home = super::upgrade::home_of(BASELINE);
    let taken = home.run("standby activate --yes");
    let newest = newest_version();
    let said =
        format!("of the last version before the first release, {BASELINE}; taking over brings it to version {newest}");
    assert!(taken.err.contains(&said), "{taken:?}");
    assert!(taken.done().contains("has taken over"));
    let again = home.run("standby activate --yes");
    assert!(again.err.contains("like this program's"), "{again:?}");
    assert!(again.done().contains("has taken over"));
    // A development version that was cut off has to end what it began.
    let home = super::upgrade::home_of(BASELINE);
    let journal = rusqlite::Connection::open(home.file("compline.db")).unwrap();
    journal.execute("UPDATE conversations SET label = ''", []).unwrap();
    let expected =
        ["comes from before the first release", "fix: start Compline of commit cfd88b9a on the other machine"];
    home.run("standby activate --yes").refused(1, &expected);
}

/// Proves: operation/one-gateway
#[test]
fn a_second_gateway_for_one_replica_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (with_replica(folder.path()), with_replica(folder.path()));
    let gateway = first.gateway();
    second.run("run").refused(2, &["says that it serves", "leave this one off", "delete"]);
    gateway.stop();
    std::fs::create_dir(folder.path().join("journal")).unwrap();
    let doctor = |home: &Home| home.run("doctor --offline").out;
    assert!(doctor(&first).contains("; this home serves"), "{}", doctor(&first));
    assert!(doctor(&second).contains("says that it serves") && doctor(&second).contains("standby check"));
    let again = first.gateway();
    again.stop();
    std::fs::remove_file(folder.path().join("claim")).unwrap();
    second.gateway().stop();
    first.run("run").refused(2, &["says that it serves"]);
}
