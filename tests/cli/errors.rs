//! Error messages say what is wrong, where, and what to do: every broken home has its message and
//! exit code, and loses nothing.

use std::fs::{File, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

use super::program::{Ended, Home, PLAIN, program};

#[test]
fn wrong_usage_is_two() {
    let home = Home::new();
    home.run("frobnicate").refused(2, &["unrecognized subcommand"]);
    home.run("").refused(2, &["Usage:"]);
    home.run("conversations show three").refused(2, &["invalid value"]);
    home.run("status").refused(2, &["there is no configuration", "fix: run `compline init`"]);
    // Without a terminal `chat` asks nothing, and names the way to begin offline.
    home.run("chat hello").refused(2, &["there is no configuration", "--non-interactive` to begin with the offline"]);
}

/// Promise (operation/json-output): What a terminal would obey or hide stands as an escape in
/// `--json`, and written out in an error; a program reads the text as it is.
#[test]
fn nothing_that_is_printed_is_obeyed_by_a_terminal() {
    let hidden = "\u{9b}31m red \u{202e}cod\u{2066} \u{200b}";
    let home = Home::plain();
    std::fs::create_dir_all(home.file("workspace/memory")).unwrap();
    let home = home.with("workspace/memory/odd.md", format!("# Odd\n\n{hidden}\n"));
    let shown = home.run("memory show odd --json");
    assert!(shown.out.contains("\\u009b31m red \\u202ecod\\u2066 \\u200b"), "{}", shown.out);
    assert!(
        serde_json::from_str::<serde_json::Value>(&shown.out).unwrap().to_string().contains(hidden),
        "{}",
        shown.out
    );
    let mut import = home.command("import");
    let refused = Ended::of(import.arg("/nowhere/\u{1b}[31m\u{9b}").output().unwrap());
    assert!(
        refused.err.contains("⟨U+001B escape⟩[31m") && !refused.err.contains(['\u{1b}', '\u{9b}']),
        "{}",
        refused.err
    );
}

/// Promise (operation/configuration-error): An error in the configuration is reported with the
/// file, the line, the key and the fix.
#[test]
fn a_configuration_error_names_file_line_key_and_fix() {
    let home = Home::new().with("compline.toml", format!("{PLAIN}[model]\nprovidr = \"openai\"\n"));
    for command in ["run", "status", "chat hello", "config check"] {
        home.run(command).refused(2, &["compline.toml, line 6", "providr", "fix:", "provider"]);
    }
    let report = home.run("config check --json");
    assert_eq!(report.code, 2);
    let report: serde_json::Value = serde_json::from_str(&report.out).unwrap();
    assert_eq!(report["ok"], false);
    assert_eq!(report["faults"][0]["line"], 6);
    assert!(report["faults"][0]["fix"].as_str().unwrap().contains("provider"));
}

#[test]
fn a_configuration_that_is_no_text() {
    let home = Home::new().with("compline.toml", b"timezone = \"\xff\xfe\"\n");
    home.run("run").refused(2, &["line 1", "no UTF-8", "fix:"]);
}

#[test]
fn a_file_where_the_home_should_be() {
    let home = Home::plain().with("a-file", "kept");
    let inside = home.file("a-file");
    let config = home.file("compline.toml");
    for path in [inside.clone(), inside.join("deeper")] {
        let ended = program().arg("--home").arg(&path).arg("--config").arg(&config).arg("run").output().unwrap();
        let told = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(1), "{told}");
        assert!(told.contains("Cannot") && told.contains("a-file"), "{told}");
    }
    assert_eq!(std::fs::read_to_string(inside).unwrap(), "kept");
}

/// Proves: operation/unusable-journal
#[test]
fn a_newer_journal_is_left_alone() {
    let home = Home::plain();
    home.run("status").done();
    let journal = rusqlite::Connection::open(home.file("compline.db")).unwrap();
    journal.pragma_update(None, "user_version", 9999).unwrap();
    journal.execute("UPDATE meta SET value = '12.3.4' WHERE key = 'program_version'", []).unwrap();
    drop(journal);
    home.run("run").refused(1, &["newer Compline, 12.3.4 (journal version 9999", "fix:", "nothing was changed"]);
    home.run("status").refused(1, &["newer Compline"]);
    let doctor = home.run("doctor");
    assert_eq!(doctor.code, 1);
    assert!(doctor.out.contains("newer Compline"), "{}", doctor.out);
    // A journal from before programs recorded their version.
    let journal = rusqlite::Connection::open(home.file("compline.db")).unwrap();
    journal.execute("DELETE FROM meta WHERE key = 'program_version'", []).unwrap();
    drop(journal);
    home.run("run").refused(1, &["newer Compline (journal version 9999"]);
}

/// Proves: operation/unusable-journal
#[test]
fn a_journal_from_before_the_first_release_is_left_alone() {
    let home = Home::plain();
    rusqlite::Connection::open(home.file("compline.db")).unwrap().pragma_update(None, "user_version", 12).unwrap();
    let words =
        ["(journal version 12)", "start Compline of commit cfd88b9a with it once", "fix:", "nothing was changed"];
    home.run("run").refused(1, &words);
    assert!(home.run("doctor").out.contains("commit cfd88b9a"));
    assert!(!home.file("backups").exists());
}

/// Proves: operation/unusable-journal
#[test]
fn garbage_is_no_journal_and_stays() {
    let garbage = "not a journal ".repeat(500);
    let home = Home::plain().with("compline.db", &garbage);
    home.run("run").refused(1, &["compline.db", "not a journal", "fix:", "backup"]);
    home.run("usage").refused(1, &["not a journal"]);
    assert_eq!(std::fs::read_to_string(home.file("compline.db")).unwrap(), garbage);
}

#[test]
fn an_empty_journal_is_reported_and_recreated() {
    let home = Home::plain().with("compline.db", "");
    let gateway = home.gateway();
    assert!(gateway.said.contains("is an empty file"), "{}", gateway.said);
    assert_eq!(gateway.stop().0, Some(0));
    let again = home.gateway();
    assert!(!again.said.contains("is an empty file"), "{}", again.said);
}

/// Promise (operation/one-program): Two programs never write to the same home; the second one says
/// so.
#[test]
fn a_held_home_is_said() {
    let home = Home::plain();
    let lock = File::create(home.file("lock")).unwrap();
    lock.lock().unwrap();
    home.run("run").refused(1, &["Another Compline is running with the home", "fix:"]);
    home.run("status").refused(1, &["holds the home", "does not answer", "fix:"]);
    lock.unlock().unwrap();
    home.run("status").done();
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let home = Home::plain();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let ended = home.command("config show").stdout(writer).output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(ended.stderr.is_empty());
}

/// Runs the program with another home than that of the configuration.
fn elsewhere(configured: &Home, home: &Path, line: &str) -> Ended {
    let mut command = program();
    command.arg("--home").arg(home).arg("--config").arg(configured.file("compline.toml"));
    Ended::of(command.args(line.split_whitespace()).output().unwrap())
}

/// Proves: operation/other-accounts
#[test]
fn an_open_home_of_another_account_is_refused_and_left_as_it_is() {
    let (configured, home) = (Home::plain(), Home::new());
    let mode = |mode| std::fs::set_permissions(home.path(), Permissions::from_mode(mode)).unwrap();
    let other = std::fs::metadata(home.path()).unwrap().uid() + 1;
    if chown(home.path(), Some(other), None).is_err() {
        // Bypasses the test harness, which swallows the output of a passing test.
        let line = b"\nin part: an_open_home_of_another_account, because only root can give a directory away: tried with /usr\n";
        std::io::stderr().write_all(line).unwrap();
        elsewhere(&configured, Path::new("/usr"), "status").refused(1, &["Others on this computer can look into /usr"]);
        return;
    }
    let shown = home.path().display().to_string();
    for open in [0o755, 0o710] {
        mode(open);
        let words = [format!("look into {shown} (mode {open:04o})"), format!("chmod 700 '{shown}'")];
        for line in ["status", "run"] {
            elsewhere(&configured, home.path(), line)
                .refused(1, &[&words[0], "fix: as the owner of that directory", &words[1]]);
        }
        let found = std::fs::metadata(home.path()).unwrap();
        assert_eq!((found.uid(), found.mode() & 0o7777), (other, open), "nothing of another account is changed");
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "and nothing is put there");
    }
    // The owner follows the advice.
    mode(0o700);
    elsewhere(&configured, home.path(), "status").done();
}
