//! `compline backup` and `compline restore` as a person types them, and the copy that is made before a journal is brought up to date.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::program::{Home, PLAIN};
use super::support::older::{self, migrations};

/// A home in which one thing was said.
fn lived_in() -> Home {
    let home = Home::plain();
    home.run("chat What is 12*7?").done();
    home
}

fn shelf() -> (tempfile::TempDir, PathBuf) {
    let shelf = tempfile::tempdir().unwrap();
    let file = shelf.path().join("kept.tar.gz");
    (shelf, file)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn version(journal: &Path) -> i64 {
    let db = rusqlite::Connection::open(journal).unwrap();
    db.query_row("SELECT max(version) FROM refinery_schema_history", [], |row| row.get(0)).unwrap()
}

/// The number of the newest migration.
fn newest() -> i64 {
    migrations().len().try_into().unwrap()
}

/// The journal as the program before this one left it.
fn made_older(home: &Home) {
    let all = migrations();
    older::made_older(&home.file("compline.db"), &all[..all.len() - 1]);
}

#[test]
fn a_backup_is_made_beside_a_running_gateway_and_restored_without_one() {
    let home = lived_in();
    let gateway = home.gateway();
    let (_shelf, file) = shelf();
    let line = format!("backup {}", file.display());
    let made = home.run(&line);
    assert!(made.err.contains("every key and token"), "{made:?}");
    assert!(made.done().contains("read back and found whole"));
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    home.run(&line).refused(1, &["is there already", "fix:"]);
    let restore = format!("restore {}", file.display());
    home.run(&restore).refused(1, &["is running with the home", "stop the gateway"]);
    home.run("chat What is 5*5?").done();
    gateway.stop();
    let restored = home.run(&restore).done();
    assert!(restored.contains("is as it was at") && restored.contains("What was there before lies in"), "{restored}");
    assert!(home.run("search 84").done().contains("84"));
    assert!(!home.run("search --in messages 25").out.contains("25"));
    assert!(home.run("status").done().contains("restored from a backup"));
    assert_eq!(names(&home.file("backups")).len(), 1);
}

#[test]
fn without_the_configuration_no_secret_is_in_it_and_the_present_one_stays() {
    let secret = "123456:AAHsecret_secret_secret_secret_secret";
    let telegram = format!("[telegram]\ntoken = \"{secret}\"\napi_url = \"http://127.0.0.1:9\"\n");
    let home = Home::new().with("compline.toml", format!("{PLAIN}{telegram}"));
    home.run("people list").done();
    let (_shelf, file) = shelf();
    let made = home.run(&format!("backup --without-config --json {}", file.display())).json();
    assert_eq!((made["config"].as_bool(), made["left_out"].as_array().map(Vec::len)), (Some(false), Some(0)));
    let mut text = String::new();
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(std::fs::File::open(&file).unwrap()));
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        text.push_str(&entry.path().unwrap().to_string_lossy());
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut bytes).unwrap();
        text.push_str(&String::from_utf8_lossy(&bytes));
    }
    assert!(!text.contains("AAHsecret") && !text.contains("compline.toml") && text.contains("workspace/SOUL.md"));
    let other = Home::new().with("compline.toml", PLAIN.replace("Vienna", "London"));
    other.run(&format!("restore {}", file.display())).done();
    assert!(std::fs::read_to_string(other.file("compline.toml")).unwrap().contains("London"));
    assert!(other.file("workspace/SOUL.md").exists());
}

#[test]
fn an_empty_home_becomes_the_one_that_was_backed_up() {
    let home = lived_in();
    let (_shelf, file) = shelf();
    home.run(&format!("backup {}", file.display())).done();
    let new = Home::new();
    let restored = new.run(&format!("restore --json {}", file.display())).json();
    assert!(restored["aside"].is_null(), "{restored}");
    assert!(new.run("search 84").done().contains("84"));
    assert_eq!(std::fs::read_to_string(new.file("compline.toml")).unwrap(), PLAIN);
    assert!(!new.file(".restoring").exists() && names(&new.file("backups")).is_empty());
}

#[test]
fn a_home_whose_journal_is_lost_is_restored_too() {
    let home = lived_in();
    let (_shelf, file) = shelf();
    home.run(&format!("backup {}", file.display())).done();
    std::fs::write(home.file("compline.db"), "a shopping list ".repeat(1000)).unwrap();
    home.run("status").refused(1, &["damaged"]);
    home.run(&format!("restore {}", file.display())).done();
    assert!(home.run("search 84").done().contains("84"));
}

#[test]
fn what_is_no_backup_changes_nothing() {
    let home = lived_in();
    let (shelf, file) = shelf();
    std::fs::write(&file, "a shopping list").unwrap();
    home.run(&format!("restore {}", file.display())).refused(1, &["cannot be restored", "fix:", "nothing was changed"]);
    home.run(&format!("restore {}", shelf.path().join("none").display())).refused(1, &["cannot be restored"]);
    assert!(home.run("search 84").done().contains("84"));
    assert!(!home.file(".restoring").exists() && !home.file("backups").exists());
    Home::plain().run(&format!("backup {}", shelf.path().join("b").display())).refused(1, &["There is no journal"]);
}

#[test]
fn the_next_command_says_what_became_of_a_restore_that_was_cut_off() {
    let home = lived_in();
    std::fs::create_dir(home.file(".restoring")).unwrap();
    std::fs::write(home.file(".restoring/compline.db"), "half of it").unwrap();
    let next = home.run("search 84");
    assert!(next.err.contains("before it had changed anything"), "{next:?}");
    assert!(next.done().contains("84") && !home.file(".restoring").exists());
    // Decided, and cut off when the configuration was away.
    std::fs::create_dir_all(home.file(".restoring")).unwrap();
    let staged = home.file(".restoring/compline.toml");
    std::fs::write(&staged, PLAIN.replace("Vienna", "London")).unwrap();
    std::fs::rename(home.file("compline.toml"), home.file("aside.toml")).unwrap();
    let moves = serde_json::json!([{ "staged": staged, "place": home.file("compline.toml"), "aside": home.file("aside.toml") }]);
    std::fs::write(home.file(".restoring/plan.json"), serde_json::json!({ "moves": moves }).to_string()).unwrap();
    let next = home.run("config show");
    assert!(next.err.contains("It is finished now"), "{next:?}");
    assert!(next.done().contains("Europe/London") && !home.file(".restoring").exists());
}

#[test]
fn a_workspace_elsewhere_is_restored_elsewhere() {
    let away = tempfile::tempdir().unwrap();
    let workspace = away.path().join("tree");
    let home = Home::new().with("compline.toml", format!("workspace = \"{}\"\n{PLAIN}", workspace.display()));
    home.run("people list").done();
    std::fs::write(workspace.join("USER.md"), "I am Ada.").unwrap();
    let (_shelf, file) = shelf();
    home.run(&format!("backup {}", file.display())).done();
    std::fs::write(workspace.join("USER.md"), "I am somebody else.").unwrap();
    home.run(&format!("restore {}", file.display())).done();
    assert_eq!(std::fs::read_to_string(workspace.join("USER.md")).unwrap(), "I am Ada.");
    assert!(!home.file("workspace").exists());
}

#[test]
fn a_journal_is_copied_before_it_is_brought_up_to_date() {
    let home = lived_in();
    made_older(&home);
    assert!(home.run("search 84").done().contains("84"));
    let copies = names(&home.file("backups"));
    let newest = newest();
    assert!(copies.len() == 1 && copies[0].starts_with(&format!("before-V{newest:04}-")), "{copies:?}");
    let copy = home.file("backups").join(&copies[0]);
    assert_eq!((version(&copy), version(&home.file("compline.db"))), (newest - 1, newest));
    home.run("search 84").done();
    assert_eq!(names(&home.file("backups")), copies, "an up-to-date journal is not copied");
    let older = Home::plain();
    std::fs::copy(&copy, older.file("compline.db")).unwrap();
    assert!(older.run("search 84").done().contains("84"), "the copy is a journal");
}

#[test]
fn without_a_copy_a_journal_is_not_brought_up_to_date() {
    let home = lived_in();
    made_older(&home);
    std::fs::write(home.file("backups"), "in the way").unwrap();
    home.run("search 84")
        .refused(1, &["older than this program, and no copy of it can be made", "fix:", "nothing was changed"]);
    assert_eq!(version(&home.file("compline.db")), newest() - 1);
    std::fs::remove_file(home.file("backups")).unwrap();
    assert!(home.run("search 84").done().contains("84"));
}
