//! `--ephemeral-memory` neither reads nor writes the real memory, and discards everything at the
//! end.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use super::model::{Model, Say};
use super::program::{Ended, Home, PLAIN};

const MARKER: &str = "quittenmus";

/// A home with a marker in the memory file at the start of every prompt and in the journal.
fn lived_in() -> Home {
    let home = Home::plain();
    home.run(&format!("chat My word is {MARKER}")).done();
    for file in ["memory/MEMORY.md", "USER.md"] {
        std::fs::write(home.file("workspace").join(file), format!("The word is {MARKER}.\n")).unwrap();
    }
    std::fs::create_dir_all(home.file("experience")).unwrap();
    std::fs::write(home.file("experience/default.md"), format!("The word is {MARKER}.\n")).unwrap();
    home
}

/// Every file of a home with its bytes.
fn everything(home: &Home) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![home.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(home.path()).unwrap().display().to_string();
            if path.is_dir() {
                folders.push(path);
                found.insert(name, Vec::new());
            } else {
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// A command with its temporary files in the given folder.
fn command(home: &Home, line: &str, temporary: &Path) -> Command {
    let mut command = home.command(line);
    command.env("TMPDIR", temporary);
    command
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

/// Promise (privacy/ephemeral): A session with `--ephemeral-memory` neither reads nor writes your
/// real memory, leaves it unchanged to the byte, and leaves nothing behind.
#[test]
fn a_chat_leaves_no_trace_and_knows_nothing() {
    let (home, temporary) = (lived_in(), tempfile::tempdir().unwrap());
    let before = everything(&home);
    let ask = "chat --ephemeral-memory What is my word? What do you know about me?";
    let ended = Ended::of(command(&home, ask, temporary.path()).output().unwrap());
    assert!(ended.err.contains("Throw-away memory"), "{}", ended.err);
    let answer = ended.done();
    assert!(!answer.contains(MARKER), "the real memory was read: {answer}");
    assert_eq!(everything(&home), before, "the real home changed");
    assert!(is_empty(temporary.path()), "the throw-away home is still there");
}

/// Proves: privacy/ephemeral
#[test]
fn an_ephemeral_session_sees_no_real_memory_and_leaves_the_home_unchanged() {
    let model =
        Model::start(|asked| match asked.contains("Kept in memory/harbour.md") || !asked.contains("the harbour") {
            true => Say::Text("Understood."),
            false => {
                Say::Calls("remember", json!({ "title": "Harbour", "content": "Opens at six.", "kind": "reference" }))
            }
        });
    let (home, temporary) = (lived_in().with("compline.toml", &model.config), tempfile::tempdir().unwrap());
    let before = everything(&home);
    let ask = "chat --ephemeral-memory Remember when the harbour opens";
    let said = Ended::of(command(&home, ask, temporary.path()).output().unwrap()).done();
    assert!(said.contains("Understood."), "{said}");
    let asked = model.asked();
    assert!(asked.iter().any(|asked| asked.contains("Kept in memory/harbour.md")), "something was saved: {asked:?}");
    assert!(asked.iter().all(|asked| !asked.contains(MARKER)), "{asked:?}");
    assert_eq!(everything(&home), before, "the real home changed");
    assert!(is_empty(temporary.path()), "the throw-away home is still there");
    home.run("chat Good morning").done();
    assert!(model.asked().last().unwrap().contains(MARKER), "without the flag it knows");
}

/// Proves: privacy/ephemeral
#[test]
fn an_ephemeral_chat_bypasses_the_running_gateway() {
    let (home, temporary) = (lived_in(), tempfile::tempdir().unwrap());
    let gateway = home.gateway();
    let ask = "chat --ephemeral-memory Remember that Nora never eats nuts";
    Ended::of(command(&home, ask, temporary.path()).output().unwrap()).done();
    assert!(!home.run("search Nora").done().contains("nuts"), "the gateway heard it");
    let refused = Ended::of(command(&home, "run --ephemeral-memory", temporary.path()).output().unwrap());
    refused.refused(1, &["is running", "fix:"]);
    gateway.stop();
    assert!(is_empty(temporary.path()));
}

/// Proves: privacy/ephemeral
#[test]
fn the_gateway_itself_throws_its_memory_away_when_it_is_stopped() {
    let (home, temporary) = (lived_in(), tempfile::tempdir().unwrap());
    let before = everything(&home);
    for signal in ["-TERM", "-INT"] {
        let mut child = command(&home, "run --ephemeral-memory", temporary.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (mut heard, mut said) = (BufReader::new(child.stderr.take().unwrap()), String::new());
        while !said.contains("Ready") {
            assert!(heard.read_line(&mut said).unwrap() > 0, "the gateway ended: {said}");
        }
        assert!(said.contains("Throw-away memory") && !is_empty(temporary.path()), "{said}");
        let folder = std::fs::read_dir(temporary.path()).unwrap().next().unwrap().unwrap();
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(0));
        assert!(is_empty(temporary.path()), "the throw-away home is still there after {signal}");
    }
    assert_eq!(everything(&home), before, "the real home changed");
}

/// Proves: privacy/ephemeral
#[test]
fn ctrl_c_while_an_answer_is_waited_for_throws_it_away_too() {
    let (home, temporary) = (lived_in(), tempfile::tempdir().unwrap());
    // A model that never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let model = format!(
        "[model]\nprovider = \"openai\"\nname = \"m\"\nbase_url = \"http://{}/v1\"\n",
        silent.local_addr().unwrap()
    );
    let home = home.with("compline.toml", format!("{PLAIN}{model}"));
    let mut child = command(&home, "chat --ephemeral-memory Hello", temporary.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (mut asked, _) = silent.accept().unwrap();
    let mut request = vec![0; 64 * 1024];
    let mut length = 0;
    while !String::from_utf8_lossy(&request[..length]).contains("Hello") {
        length += std::io::Read::read(&mut asked, &mut request[length..]).unwrap();
    }
    assert!(!String::from_utf8_lossy(&request[..length]).contains(MARKER), "the real memory is in a request");
    assert!(!is_empty(temporary.path()));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    child.wait().unwrap();
    assert!(is_empty(temporary.path()), "the throw-away home is still there");
}

#[test]
fn the_demonstration_takes_the_flag() {
    let (home, temporary) = (lived_in(), tempfile::tempdir().unwrap());
    let before = everything(&home);
    let ended = Ended::of(command(&home, "demo --fast --quiet --ephemeral-memory", temporary.path()).output().unwrap());
    assert!(ended.err.contains("Throw-away memory"), "{}", ended.err);
    ended.done();
    assert!(everything(&home) == before && is_empty(temporary.path()));
}
