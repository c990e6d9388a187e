//! `compline forget` and `compline export` as typed by a person.

use super::program::{Home, PLAIN};

const WORD: &str = "quittenmus";

fn two_people() -> String {
    format!("{PLAIN}[[people]]\nname = \"Ben\"\nrole = \"member\"\n")
}

/// A home with one exchange each of Ada and Ben.
fn lived_in() -> Home {
    let home = Home::configured(two_people());
    home.run(&format!("chat --as Ben My word is {WORD}")).done();
    home.run("chat What is 12*7?").done();
    home
}

/// Returns whether a word is in any file of the home.
fn stands(home: &Home, word: &str) -> bool {
    let mut folders = vec![home.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if std::fs::read(&path).unwrap().windows(word.len()).any(|window| window == word.as_bytes()) {
                return true;
            }
        }
    }
    false
}

/// Proves: forgetting/person
#[test]
fn a_person_is_forgotten_only_on_purpose_and_then_wholly() {
    let home = lived_in();
    assert!(stands(&home, WORD));
    home.run("forget Ben").refused(2, &["--yes"]);
    home.run("forget Ben --yes").refused(1, &["is set in the configuration"]);
    home.run("forget Ada --yes").refused(1, &["is set in the configuration"]);
    let home = home.with("compline.toml", PLAIN);
    let said = home.run("forget Ben --yes").done();
    assert!(said.contains("Ben is forgotten") && said.contains("Backups"), "{said}");
    assert!(!stands(&home, WORD), "the word is still somewhere in the home");
    assert!(!home.file("workspace/people/2-ben").exists());
    home.run("forget Ben --yes").refused(1, &["Nobody is or was called Ben"]);
    assert!(home.run("conversations list").done().contains("Ada"));
}

/// Proves: forgetting/person
#[test]
fn an_archive_is_a_plain_zip_of_one_persons_own() {
    let home = lived_in();
    let shelf = tempfile::tempdir().unwrap();
    let file = shelf.path().join("ben.zip");
    let line = format!("export Ben {}", file.display());
    let said = home.run(&line).done();
    assert!(said.contains("Nobody else's data is in it"), "{said}");
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let bytes = std::fs::read(&file).unwrap();
    assert!(bytes.starts_with(b"PK\x03\x04"), "no phone opens it");
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains(WORD) && !text.contains("12*7"), "Ada's words are in Ben's archive");
    home.run(&line).refused(1, &["cannot be written"]);
    home.run("export Zoe /tmp/never.zip").refused(1, &["Zoe"]);
}

/// Proves: forgetting/person
#[test]
fn a_running_gateway_forgets_as_well() {
    let home = lived_in().with("compline.toml", PLAIN);
    let gateway = home.gateway();
    assert!(home.run("forget Ben --yes").done().contains("Ben is forgotten"));
    let (code, _) = gateway.stop();
    assert_eq!(code, Some(0));
    assert!(!stands(&home, WORD));
}
