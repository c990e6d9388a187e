//! `compline backup` and `compline restore` as typed by a person, and the copy before a migration.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::program::{Home, PLAIN};

/// A home with one exchange.
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

/// Restores into another home, with the recovery code of the first one.
fn with_code_of(home: &Home, other: &Home, file: &Path) -> super::program::Ended {
    let code = home.run("backup --recovery-code").done();
    let line = format!("restore --json --yes --recovery-code-file - {}", file.display());
    other.pipe(&line, code.as_bytes())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The version of a journal; 0 for one of a development version.
fn version(journal: &Path) -> u32 {
    let db = rusqlite::Connection::open(journal).unwrap();
    db.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

/// Gives the journal the form of the last development version.
fn made_older(home: &Home) {
    let db = rusqlite::Connection::open(home.file("compline.db")).unwrap();
    let form = "PRAGMA user_version = 0; CREATE TABLE refinery_schema_history (version int4 PRIMARY KEY);
        INSERT INTO refinery_schema_history VALUES (35);
        DROP TABLE open_items;
        ALTER TABLE files DROP COLUMN passages;
        ALTER TABLE reminders DROP COLUMN agreed_at;
        ALTER TABLE reflections DROP COLUMN report;
        ALTER TABLE outside_tools DROP COLUMN marks;
        ALTER TABLE skills DROP COLUMN known_id;
        ALTER TABLE skills DROP COLUMN told_at;
        ALTER TABLE skills DROP COLUMN known_to;
        DROP INDEX questions_resumed;
        ALTER TABLE questions DROP COLUMN resumed_by;
        ALTER TABLE slots DROP COLUMN wish";
    db.execute_batch(form).unwrap();
}

#[test]
fn a_backup_works_while_the_gateway_runs_and_a_restore_only_without_it() {
    let home = lived_in();
    let gateway = home.gateway();
    let (_shelf, file) = shelf();
    let line = format!("backup {}", file.display());
    let made = home.run(&line);
    assert!(made.err.contains("every key and token"), "{made:?}");
    assert!(made.done().contains("read back and verified"));
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    home.run(&line).refused(1, &["already exists", "fix:"]);
    let restore = format!("restore --yes {}", file.display());
    home.run(&restore).refused(1, &["is running with the home", "stop the gateway"]);
    home.run("chat What is 23*29?").done();
    gateway.stop();
    let restored = home.run(&restore).done();
    assert!(restored.contains("is as it was at") && restored.contains("The previous state is in"), "{restored}");
    assert!(home.run("search 84").done().contains("84"));
    assert!(!home.run("search --in messages 667").out.contains("667"));
    assert!(home.run("status").done().contains("restored from a backup"));
    assert_eq!(names(&home.file("backups")).len(), 1);
}

#[test]
fn without_the_configuration_no_secret_is_in_it_and_the_present_one_stays() {
    let secret = "123456:AAHsecret_secret_secret_secret_secret";
    let telegram = format!("[telegram]\ntoken = \"{secret}\"\napi_url = \"http://127.0.0.1:9\"\n");
    let home = Home::configured(format!("{PLAIN}{telegram}"));
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
    with_code_of(&home, &other, &file).done();
    assert!(std::fs::read_to_string(other.file("compline.toml")).unwrap().contains("London"));
    assert!(other.file("workspace/SOUL.md").exists());
}

#[test]
fn an_empty_home_becomes_the_one_that_was_backed_up() {
    let home = lived_in();
    let (_shelf, file) = shelf();
    home.run(&format!("backup {}", file.display())).done();
    let new = Home::new();
    let restored = with_code_of(&home, &new, &file);
    assert!(restored.err.contains("+ people[Ada].role = owner"), "{restored:?}");
    let restored = restored.json();
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
    home.run(&format!("restore --yes {}", file.display())).done();
    assert!(home.run("search 84").done().contains("84"));
}

#[test]
fn a_file_that_is_no_backup_changes_nothing() {
    let home = lived_in();
    let (shelf, file) = shelf();
    std::fs::write(&file, "a shopping list").unwrap();
    home.run(&format!("restore {}", file.display())).refused(1, &["cannot be restored", "fix:", "nothing was changed"]);
    home.run(&format!("restore {}", shelf.path().join("none").display())).refused(1, &["cannot be restored"]);
    assert!(home.run("search 84").done().contains("84"));
    assert!(!home.file(".restoring").exists() && !home.file("backups").exists());
    Home::not_started()
        .run(&format!("backup {}", shelf.path().join("b").display()))
        .refused(1, &["There is no journal"]);
}

#[test]
fn the_next_command_says_what_became_of_a_restore_that_was_cut_off() {
    let home = lived_in();
    std::fs::create_dir(home.file(".restoring")).unwrap();
    std::fs::write(home.file(".restoring/compline.db"), "half of it").unwrap();
    let next = home.run("search 84");
    assert!(next.err.contains("before it changed anything"), "{next:?}");
    assert!(next.done().contains("84") && !home.file(".restoring").exists());
    // The restore was decided, and cut off while the configuration was moved away.
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
    let home = Home::configured(format!("workspace = \"{}\"\n{PLAIN}", workspace.display()));
    home.run("people list").done();
    std::fs::write(workspace.join("USER.md"), "I am Ada.").unwrap();
    let (_shelf, file) = shelf();
    home.run(&format!("backup {}", file.display())).done();
    std::fs::write(workspace.join("USER.md"), "I am somebody else.").unwrap();
    home.run(&format!("restore --yes {}", file.display())).done();
    assert_eq!(std::fs::read_to_string(workspace.join("USER.md")).unwrap(), "I am Ada.");
    assert!(!home.file("workspace").exists());
}

/// Promise (operation/copy-before-update): Before an update changes the journal, a copy is made; if
/// there is no room for the copy, the journal is left as it is.
#[test]
fn a_journal_is_copied_before_it_is_brought_up_to_date() {
    let home = lived_in();
    made_older(&home);
    assert!(home.run("search 84").done().contains("84"));
    let copies = names(&home.file("backups"));
    let newest = compline::store::newest_version();
    assert!(copies.len() == 1 && copies[0].starts_with(&format!("before-V{newest:04}-")), "{copies:?}");
    let copy = home.file("backups").join(&copies[0]);
    assert_eq!((version(&copy), version(&home.file("compline.db"))), (0, newest));
    home.run("search 84").done();
    assert_eq!(names(&home.file("backups")), copies, "an up-to-date journal is not copied");
    std::fs::copy(&copy, home.file("compline.db")).unwrap();
    assert!(home.run("search 84").done().contains("84"), "the copy is a journal");
}

/// Proves: operation/copy-before-update
#[test]
fn without_a_copy_a_journal_is_not_brought_up_to_date() {
    let home = lived_in();
    made_older(&home);
    std::fs::write(home.file("backups"), "in the way").unwrap();
    home.run("search 84")
        .refused(1, &["older than this program, and no copy of it can be made", "fix:", "nothing was changed"]);
    assert_eq!(version(&home.file("compline.db")), 0);
    std::fs::remove_file(home.file("backups")).unwrap();
    assert!(home.run("search 84").done().contains("84"));
}

/// Adds a program and an owner to the configuration in an archive, and adapts its manifest.
fn tampered(file: &Path, to: &Path, marker: &Path) {
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(std::fs::File::open(file).unwrap()));
    let mut tar = tar::Builder::new(flate2::write::GzEncoder::new(
        std::fs::File::create(to).unwrap(),
        flate2::Compression::fast(),
    ));
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let (name, mut header) = (entry.path().unwrap().to_str().unwrap().to_owned(), entry.header().clone());
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match name.as_str() {
            "compline.toml" => bytes = evil(&text, marker).into_bytes(),
            "manifest.json" => {
                let mut manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
                let evil = evil(PLAIN, marker);
                for entry in manifest["entries"].as_array_mut().unwrap() {
                    if entry["path"] == "compline.toml" {
                        let digest: String = Sha256::digest(&evil).iter().map(|byte| format!("{byte:02x}")).collect();
                        entry["size"] = evil.len().into();
                        entry["digest"] = digest.into();
                    }
                }
                bytes = serde_json::to_vec(&manifest).unwrap();
            }
            _ => {}
        }
        header.set_size(bytes.len() as u64);
        tar.append_data(&mut header, &name, bytes.as_slice()).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap();
}

fn evil(config: &str, marker: &Path) -> String {
    format!(
        "{config}[[people]]\nname = \"Mallory\"\nrole = \"owner\"\ntelegram = 6666\n\
         [[mcp]]\nname = \"evil\"\ncommand = [\"touch\", \"{}\"]\n",
        marker.display()
    )
}

/// Proves: operation/altered-backup, trust/unauthenticated-backup
#[test]
fn a_tampered_backup_is_refused_and_nothing_of_it_is_run() {
    let home = lived_in();
    let (shelf, file) = shelf();
    home.run(&format!("backup {}", file.display())).done();
    let (evil, marker) = (shelf.path().join("evil.tar.gz"), shelf.path().join("marker"));
    tampered(&file, &evil, &marker);
    // SQLite creates and removes its own files next to the journal.
    let present =
        || names(home.path()).into_iter().filter(|name| !name.starts_with("compline.db-")).collect::<Vec<_>>();
    let before = present();
    let refused = home.run(&format!("restore --yes {}", evil.display()));
    refused.refused(1, &["was changed since it was made", "fix:", "--unsigned", "Nothing was changed"]);
    home.run(&format!("restore --yes --with-config {}", evil.display())).refused(1, &["was changed"]);
    assert_eq!(present(), before);
    home.run(&format!("restore --unsigned {}", evil.display())).refused(1, &["only after a yes at the terminal"]);
    home.run(&format!("restore --unsigned --yes {}", evil.display())).refused(2, &["--yes"]);
    home.run(&format!("restore --unsigned --with-config {}", evil.display())).refused(2, &["--with-config"]);
    let no = home.typed(&format!("restore --unsigned {}", evil.display()), "no\n");
    assert!(no.code == 1 && no.err.contains("NOTHING SHOWS WHO MADE IT"), "{no:?}");
    assert!(no.err.contains("Nothing was changed") && home.run("search 84").done().contains("84"));
    assert_eq!(present(), before);
    let restored = home.typed(&format!("restore --unsigned {}", evil.display()), "yes\n");
    assert!(restored.out.contains("except as listed below") && restored.out.contains("Owner: Ada"), "{restored:?}");
    assert!(!restored.out.contains("as it was") && !restored.out.contains("Mallory"), "{restored:?}");
    assert_eq!(std::fs::read_to_string(home.file("compline.toml")).unwrap(), PLAIN);
    home.gateway().stop();
    assert!(!marker.exists() && !home.run("people list").done().contains("Mallory"));
    // A home without a configuration takes none from it either.
    let new = Home::new();
    new.run(&format!("restore --yes {}", evil.display())).refused(1, &["does not have", "--recovery-code-file"]);
    let restored = new.typed(&format!("restore --unsigned {}", evil.display()), "yes\n");
    assert!(restored.code == 0 && restored.err.contains("`compline init` makes one"), "{restored:?}");
    assert!(!new.file("compline.toml").exists() && !new.file("backup.key").exists() && !marker.exists());
}

/// Promise (operation/recovery-code): On a new computer your backup is restored with the recovery
/// code, which is shown once and only on a terminal; the key is in no backup.
#[test]
fn a_new_computer_asks_for_the_recovery_code() {
    let home = lived_in();
    let (shelf, file) = shelf();
    home.run(&format!("backup {}", file.display())).done();
    let code = home.run("backup --recovery-code").done().trim().to_owned();
    let restore = format!("restore {}", file.display());
    let new = Home::new();
    new.run(&restore).refused(1, &["needs a key that this home does not have", "fix:", "COMPLINE_RECOVERY_CODE"]);
    // Another code, and an invalid one.
    let other = lived_in();
    let wrong = other.run("backup --recovery-code").done();
    let from =
        |code: &str| new.pipe(&format!("restore --yes --recovery-code-file - {}", file.display()), code.as_bytes());
    from(&wrong).refused(1, &["This is not the recovery code of", "nothing was changed"]);
    from(&code[..50]).refused(1, &["has 56 letters and digits", "nothing was changed"]);
    let swapped: String = [&code[1..2], &code[..1], &code[2..]].concat();
    if swapped != code {
        from(&swapped).refused(1, &["mistyped"]);
    }
    assert_eq!(names(new.path()), ["lock"]);
    // At the terminal: mistyped once, then correct, in lower case with spaces.
    let typed = format!("{}\n{}\nyes\n", &code[..50], code.replace('-', " ").to_lowercase());
    let restored = new.typed(&restore, &typed);
    assert!(restored.err.contains("has no key for backups yet"), "{restored:?}");
    assert!(
        restored.err.contains("less than a day ago") && restored.err.contains("+ timezone = Europe/Vienna"),
        "{restored:?}"
    );
    assert!(restored.out.contains("is as it was at") && restored.out.contains("Owner: Ada"), "{restored:?}");
    assert!(new.run("search 84").done().contains("84"));
    let mode = std::fs::metadata(new.file("backup.key")).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode, new.run("backup --recovery-code").done().trim()), (0o600, code.as_str()));
    // By the environment variable; a home with its own key keeps it.
    let mut command = other.command(&format!("restore --yes {}", file.display()));
    let restored = super::program::Ended::of(command.env("COMPLINE_RECOVERY_CODE", &code).output().unwrap());
    assert_eq!(restored.code, 0, "{restored:?}");
    assert_eq!(other.run("backup --recovery-code").done(), wrong);
    drop(shelf);
}

/// Proves: operation/recovery-code
#[test]
fn the_recovery_code_is_shown_once_and_only_on_a_terminal() {
    let (shelf, file) = shelf();
    let (first, again) = (format!("backup {}", file.display()), format!("backup {}", shelf.path().join("2").display()));
    let home = lived_in();
    let shown = home.typed(&first, "");
    let code = home.run("backup --recovery-code --json").json()["recovery_code"].as_str().unwrap().to_owned();
    assert!(shown.code == 0 && shown.err.contains(&code) && !shown.out.contains(&code), "{shown:?}");
    let second = home.typed(&again, "");
    assert!(second.code == 0 && !second.err.contains(&code), "{second:?}");
    let home = lived_in();
    let piped = home.run(&format!("backup {}", shelf.path().join("3").display()));
    let code = home.run("backup --recovery-code").done();
    assert!(piped.err.contains("--recovery-code`") && !piped.err.contains(code.trim()), "{piped:?}");
    assert!(!piped.done().contains(code.trim()));
    home.run("backup").refused(2, &["FILE"]);
    Home::not_started().run("backup --recovery-code").refused(1, &["There is no journal"]);
}

/// Proves: operation/recovery-code
#[test]
fn a_key_that_others_can_read_counts_for_nothing() {
    let home = lived_in();
    let (shelf, file) = shelf();
    home.run(&format!("backup {}", file.display())).done();
    std::fs::set_permissions(home.file("backup.key"), std::fs::Permissions::from_mode(0o644)).unwrap();
    home.run(&format!("backup {}", shelf.path().join("2").display()))
        .refused(1, &["can be read by others", "chmod 600"]);
    home.run(&format!("restore --yes {}", file.display())).refused(1, &["can be read by others", "chmod 600"]);
    assert!(home.run("doctor --offline").out.contains("backup.key"));
    assert!(home.run("doctor --offline --fix").out.contains("fixed"));
    home.run(&format!("restore --yes {}", file.display())).done();
}

/// Promise (operation/restore-preview): A restore shows which people and permissions will change,
/// asks first, and keeps your current configuration unless you choose otherwise.
#[test]
fn a_restore_asks_and_keeps_the_present_configuration() {
    let home = lived_in();
    let (_shelf, file) = shelf();
    home.run(&format!("backup {}", file.display())).done();
    let secret =
        "[telegram]\ntoken = \"123456:AAHsecret_secret_secret_secret_secret\"\napi_url = \"http://127.0.0.1:9\"\n";
    std::fs::write(home.file("compline.toml"), format!("{}{secret}", PLAIN.replace("Vienna", "London"))).unwrap();
    let restore = format!("restore {}", file.display());
    home.run(&restore).refused(1, &["there is nobody to ask", "--yes"]);
    let no = home.typed(&restore, "\n");
    assert!(no.code == 1 && no.err.contains("differs in 3 lines; --with-config uses it"), "{no:?}");
    let taken = home.typed(&format!("{restore} --with-config"), "no\n");
    for line in ["- telegram.api_url = http://127.0.0.1:9", "- telegram.token = (hidden)", "+ timezone = Europe/Vienna"]
    {
        assert!(taken.err.contains(line), "{line}: {taken:?}");
    }
    assert!(taken.code == 1 && !taken.err.contains("AAHsecret"), "{taken:?}");
    let kept = home.typed(&restore, "yes\n");
    assert!(kept.out.contains("except as listed below"), "{kept:?}");
    assert!(std::fs::read_to_string(home.file("compline.toml")).unwrap().contains("London"));
    let taken = home.typed(&format!("{restore} --with-config"), "yes\n");
    assert!(taken.out.contains("is as it was at"), "{taken:?}");
    assert_eq!(std::fs::read_to_string(home.file("compline.toml")).unwrap(), PLAIN);
    let new = Home::new();
    let code = home.run("backup --recovery-code").done();
    let line = format!("restore --yes --without-config --recovery-code-file - {}", file.display());
    new.pipe(&line, code.as_bytes()).done();
    assert!(!new.file("compline.toml").exists() && new.file("compline.db").exists());
}

/// Promise (operation/other-accounts): Another account cannot prevent Compline from starting: the
/// home and its lock are closed to others, and an open home that belongs to another account is
/// refused.
#[test]
fn a_home_that_others_can_enter_is_closed_and_its_lock_with_it() {
    let home = lived_in();
    let open = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    open(home.path(), 0o755);
    open(&home.file("lock"), 0o644);
    home.run("search 84").done();
    assert_eq!((mode(home.path()), mode(&home.file("lock"))), (0o700, 0o600));
    open(home.path(), 0o755);
    let gateway = home.gateway();
    assert_eq!(mode(home.path()), 0o700);
    gateway.stop();
}
