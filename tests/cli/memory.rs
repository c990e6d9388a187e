//! `compline memory`: editing a file with the person's editor, listing files and versions,
//! restoring.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::model::{Model, Say};
use super::program::{Ended, Home};

/// A script that appends a line to the file in its argument.
fn editor(home: &Home, name: &str, line: &str) -> String {
    let path = home.path().parent().unwrap().join(name);
    std::fs::write(&path, format!("printf '%s\\n' '{line}' >> \"$1\"\n")).unwrap();
    format!("sh {}", path.display())
}

fn edit(home: &Home, line: &str, variables: &[(&str, &str)]) -> Ended {
    let mut command = home.command(line);
    command.env("PATH", "/usr/bin:/bin").envs(variables.iter().copied());
    Ended::of(command.output().unwrap())
}

fn memory(home: &Home) -> String {
    std::fs::read_to_string(home.file("workspace/memory/MEMORY.md")).unwrap()
}

/// Promise (command-line/editor): `/memory edit` and `compline memory edit` open the note in your
/// editor, in a terminal conversation too; what is written into it meanwhile stays, and the next
/// request contains your changes.
#[test]
fn the_editor_that_is_named_opens_the_note() {
    let home = Home::plain();
    let (visual, other) = (editor(&home, "visual", "prefers Python"), editor(&home, "editor", "prefers tea"));
    let said = edit(&home, "memory edit", &[("VISUAL", &visual), ("EDITOR", &other)]).done();
    assert!(said.contains("MEMORY.md") && said.contains("of 64 KB ("), "{said}");
    assert!(memory(&home).contains("prefers Python") && !memory(&home).contains("prefers tea"));
    edit(&home, "memory edit", &[("EDITOR", &other)]).done();
    assert!(memory(&home).contains("prefers tea"), "VISUAL is not set");
    let said = edit(&home, "memory edit", &[("VISUAL", "true")]).done();
    assert!(said.contains("unchanged"), "{said}");
    let file = home.file("workspace/memory/MEMORY.md");
    let meanwhile = format!("sh -c 'echo Meanwhile >> {}; echo Mine >> \"$0\"'", file.display());
    let said = edit(&home, "memory edit", &[("VISUAL", &meanwhile)]).done();
    assert!(said.contains("while the editor was open"), "{said}");
    assert!(memory(&home).ends_with("Meanwhile\nMine\n"), "{}", memory(&home));
    edit(&home, "memory edit", &[("VISUAL", "false")]).refused(1, &["false", "failed"]);
    edit(&home, "memory edit", &[("PATH", "/nowhere")]).refused(1, &["VISUAL"]);

    let json = edit(&home, "memory edit tea --json", &[("VISUAL", &visual)]).json();
    assert_eq!((&json["path"], &json["changed"]), (&"memory/tea.md".into(), &true.into()), "{json}");
    edit(&home, "memory edit ../../coffee", &[("VISUAL", &visual)]).done();
    assert!(
        home.file("workspace/memory/coffee.md").exists() && !home.path().parent().unwrap().join("coffee.md").exists()
    );
}

/// Proves: command-line/editor
#[test]
fn a_running_gateway_answers_and_knows_the_change() {
    let home = Home::plain();
    let gateway = home.gateway();
    let visual = editor(&home, "visual", "prefers Python");
    edit(&home, "memory edit", &[("VISUAL", &visual)]).done();
    let list = home.run("memory").done();
    assert!(list.contains("prefers Python") && list.contains("workspace/memory"), "{list}");
    assert!(list.contains("compline memory show NOTE") && !list.contains("/memory NOTE"), "{list}");
    let versions = home.run("memory history MEMORY --json").json();
    assert_eq!(versions[0]["author"], "hand", "{versions}");
    gateway.stop();
}

/// Proves: files/undo
#[test]
fn versions_are_listed_and_come_back() {
    let home = Home::plain();
    let visual = editor(&home, "visual", "one");
    edit(&home, "memory edit tea", &[("VISUAL", &visual)]).done();
    let first = home.run("memory history tea --json").json();
    for field in ["version", "at", "author", "cause", "size", "tainted", "sources", "present", "deleted"] {
        assert!(first[0].get(field).is_some(), "{field} is missing in {first}");
    }
    edit(&home, "memory edit tea", &[("VISUAL", &visual)]).done();
    let version = first[0]["version"].as_u64().unwrap();
    let told = home.run(&format!("memory restore tea {version}")).done();
    assert!(told.contains("is back to version"), "{told}");
    assert_eq!(std::fs::read_to_string(home.file("workspace/memory/tea.md")).unwrap(), "one\n");
    let shown = home.run("memory history tea").done();
    assert!(shown.contains("there now") && shown.contains("compline memory restore tea VERSION"), "{shown}");
    let learned = home.run("memory history experience/default --json");
    learned.refused(1, &["no such note"]);
    edit(&home, "memory edit experience/default", &[("VISUAL", &visual)]).done();
    assert_eq!(std::fs::read_to_string(home.file("experience/default.md")).unwrap(), "one\n");
    let versions = home.run("memory history experience/default --json").json();
    edit(&home, "memory edit experience/default.md", &[("VISUAL", &visual)]).done();
    home.run(&format!("memory restore experience/default {}", versions[0]["version"])).done();
    let shown = home.run("memory show experience/default").done();
    assert!(shown.starts_with("experience/default.md, ") && shown.matches("one").count() == 1, "{shown}");
    home.run("memory restore tea 999").refused(1, &["no such version"]);
    home.run("memory restore tea last").refused(2, &["last"]);
    home.run("memory history nothing").refused(1, &["no such note"]);
}

/// Proves: memory/shown
#[test]
fn one_note_is_shown_as_it_is_and_nothing_outside() {
    let home = Home::plain();
    home.run("memory").done();
    std::fs::write(home.file("workspace/memory/tea.md"), "# Tea\n\nWarm *the* pot.\n").unwrap();
    std::fs::write(home.file("secret.md"), "outside\n").unwrap();
    let shown = home.run("memory show tea.md").done();
    assert!(shown.contains("Warm *the* pot.") && shown.contains(" KB (0 %)"), "{shown}");
    let json = home.run("memory show tea --json").json();
    assert_eq!((&json["text"], &json["tainted"]), (&"# Tea\n\nWarm *the* pot.\n".into(), &false.into()));
    home.run("memory show ../../secret").refused(1, &["no such note"]);
    home.run("memory promote tea").refused(1, &["yours already"]);
    let list = home.run("memory --json").json();
    for field in ["index", "notes", "today", "days", "untrusted", "folder", "size"] {
        assert!(list.get(field).is_some(), "{field} is missing in {list}");
    }
    assert_eq!(list["notes"][0]["note"], "tea", "{list}");
}

/// Proves: search/one-command, search/all-agents, search/limits
#[test]
fn notes_are_found_by_line_and_can_be_forgotten() {
    let home = Home::plain();
    home.run("memory").done();
    std::fs::write(
        home.file("workspace/memory/tea.md"),
        "# Tea\n\n## Morning\n\nWarm the pot.\n\n## Evening\n\nNo Pot at all.\n",
    )
    .unwrap();
    let found = home.run("memory search pot --context 1 --json").json();
    assert!(found.as_array().unwrap().iter().all(|hit| hit["path"] == "memory/tea.md"), "{found}");
    assert!(!found.as_array().unwrap().is_empty(), "{found}");
    let evening = home.run("memory search Pot --section Evening --case --limit 5").done();
    assert!(evening.contains("No") && !evening.contains("Warm"), "{evening}");
    for (limit, finds) in [("--since 2000-01-01", true), ("--until 2000-01-01", false), ("--category recipes", false)] {
        for search in ["memory search", "search --in notes"] {
            let found = home.run(&format!("{search} pot {limit} --json")).json().to_string();
            assert_eq!(found.contains("memory/tea.md"), finds, "{search} {limit}: {found}");
        }
    }
    let found = home.run("memory search pot --agent nobody --json").json();
    assert!(found.as_array().unwrap().is_empty(), "{found}");
    home.run("memory search").refused(2, &["QUERY"]);
    let plan = home.run("memory forget tea").done();
    assert!(plan.contains("note Tea") && plan.contains("compline memory forget \"tea\" --yes"), "{plan}");
    assert!(home.file("workspace/memory/tea.md").exists(), "nothing is deleted before");
    home.run("memory forget tea --yes").done();
    assert!(!home.file("workspace/memory/tea.md").exists());
    home.run("memory show tea").refused(1, &["no such note"]);
}

/// Runs the following command in a terminal, for typed input.
const IN_A_TERMINAL: &str = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";

/// A conversation in a terminal.
struct Conversation {
    child: Child,
    heard: Receiver<Vec<u8>>,
    screen: String,
}

impl Conversation {
    fn begin(home: &Home, variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new("python3");
        command.args(["-c", IN_A_TERMINAL, env!("CARGO_BIN_EXE_compline"), "--home"]).arg(home.path()).arg("chat");
        command
            .env_remove("VISUAL")
            .env_remove("EDITOR")
            .env("TERM", "xterm")
            .env("TZ", "UTC")
            .envs(variables.iter().copied());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut screen, (sender, heard)) = (child.stdout.take().unwrap(), channel());
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut buffer) {
                let _ = sender.send(buffer[..count].to_vec());
            }
        });
        let mut conversation = Self { child, heard, screen: String::new() };
        conversation.shows("Ada");
        conversation
    }

    /// Waits until the words are on the screen, and clears it.
    fn shows(&mut self, words: &str) {
        while !self.screen.contains(words) {
            let more = self.heard.recv_timeout(Duration::from_secs(30));
            let more = more.unwrap_or_else(|_| panic!("{words:?} is missing on the screen: {:?}", self.screen));
            self.screen.push_str(&String::from_utf8_lossy(&more));
        }
        self.screen.clear();
    }

    /// Types a line.
    fn types(&mut self, line: &str) {
        let mut keys = self.child.stdin.as_ref().unwrap();
        keys.write_all(line.as_bytes()).unwrap();
        keys.write_all(b"\r").unwrap();
        keys.flush().unwrap();
    }

    fn ends(mut self) {
        self.types("/quit");
        drop(self.child.stdin.take());
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

/// Kills the process even if the test fails.
impl Drop for Conversation {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Proves: command-line/editor
#[test]
fn in_a_conversation_the_persons_editor_opens_the_file_and_the_next_request_holds_what_was_written() {
    let model = Model::start(|_| Say::Text("Understood."));
    let home = Home::configured(&model.config);
    let (visual, other) = (editor(&home, "visual", "prefers Python"), editor(&home, "editor", "prefers tea"));
    let asked = |words: &str| model.asked().last().unwrap().contains(words);

    let mut talk = Conversation::begin(&home, &[("VISUAL", &visual), ("EDITOR", &other)]);
    talk.types("/memory edit");
    talk.shows("of 64 KB (");
    talk.types("Which language?");
    talk.shows("Understood.");
    assert!(asked("Which language?") && asked("prefers Python") && !asked("prefers tea"), "{:?}", model.asked().last());
    talk.ends();

    let mut talk = Conversation::begin(&home, &[("EDITOR", &other)]);
    talk.types("/memory edit drinks");
    talk.shows("drinks.md");
    talk.types("/memory edit");
    talk.shows("of 64 KB (");
    talk.types("What to drink?");
    talk.shows("Understood.");
    assert!(asked("What to drink?") && asked("prefers tea"), "{:?}", model.asked().last());
    talk.ends();
    assert_eq!(std::fs::read_to_string(home.file("workspace/memory/drinks.md")).unwrap(), "prefers tea\n");
}

/// Proves: memory/new-home
#[test]
fn the_same_workspace_through_a_link_is_the_same_memory_and_another_folder_an_empty_one() {
    let home = Home::plain();
    let folder = |name: &str| home.path().parent().unwrap().join(name);
    std::fs::create_dir(folder("tree")).unwrap();
    std::os::unix::fs::symlink(folder("tree"), folder("link")).unwrap();
    let in_folder = |name: &str, line: &str| {
        let mut command = home.command(line);
        Ended::of(command.env("WORKSPACE_PATH", folder(name)).output().unwrap())
    };
    in_folder("tree", "memory").done();
    std::fs::write(folder("tree").join("memory/tea.md"), "Warm the pot.\n").unwrap();
    let versions = in_folder("tree", "memory history tea --json").json();
    for name in ["tree", "link"] {
        assert!(in_folder(name, "memory show tea").done().contains("Warm the pot."), "{name}");
        assert_eq!(in_folder(name, "memory history tea --json").json(), versions, "{name}");
        assert_eq!(in_folder(name, "memory search pot --json").json().as_array().unwrap().len(), 1, "{name}");
    }
    in_folder("other", "memory show tea").refused(1, &["no such note"]);
    assert_eq!(in_folder("other", "memory --json").json()["notes"], serde_json::json!([]));
    assert_eq!(in_folder("other", "memory search pot --json").json(), serde_json::json!([]));
    assert!(folder("other").join("memory/MEMORY.md").exists() && !home.file("workspace").exists());
    home.run("memory show tea").refused(1, &["no such note"]);
    assert!(home.file("workspace/memory/MEMORY.md").exists(), "where nothing is said it lies in the home");
    assert!(in_folder("link", "memory search pot").done().contains("pot"), "and nothing of the first was lost");
}

/// Proves: trust/why
#[test]
fn the_origin_of_the_last_answer_a_note_and_a_fact_is_told() {
    let home = Home::plain();
    home.run("review why").refused(1, &["I have not answered you yet"]);
    home.run("chat What is 12*7?").done();
    let said = home.run("review why").done();
    assert!(said.contains("For my last answer") && said.contains("compline conversations show 1"), "{said}");
    edit(&home, "memory edit tea", &[("VISUAL", &editor(&home, "visual", "one"))]).done();
    let told = home.run("review why memory/tea.md --json").json();
    assert_eq!((&told["path"], &told["sources"]), (&"memory/tea.md".into(), &serde_json::json!([])), "{told}");
    assert!(told["lines"].to_string().contains("you, by hand"), "{told}");
    home.run("chat /remember Cat: Tom").done();
    assert!(home.run("review why fact cat").done().contains("Cat: Tom"));
    home.run("review why fact bird").refused(1, &["no fact with that key"]);
    home.run("review why nothing").refused(1, &["no such note", "compline memory"]);
    home.run("review why 7").refused(1, &["no proposal 7"]);
}

/// Promise (command-line/files): `compline files` lists the owner's files folder by folder, also as
/// JSON.
#[test]
fn files_are_listed_folder_by_folder() {
    let home = Home::plain();
    for name in ["one.md", "two.md"] {
        std::fs::create_dir_all(home.file("workspace/plans")).unwrap();
        std::fs::write(home.file("workspace/plans").join(name), "x").unwrap();
    }
    let all = home.run("files").done();
    assert!(all.contains("Your files") && all.contains("plans/, 2 files, 2 bytes"), "{all}");
    let page = home.run("files plans --limit 1").done();
    assert!(page.contains("one.md") && page.contains("More: --after one.md") && !page.contains("two.md"), "{page}");
    let json = home.run("files plans --limit 1 --after one.md --json").json();
    assert_eq!((json.as_array().unwrap().len(), &json[0]["path"]), (1, &"plans/two.md".into()), "{json}");
    assert_eq!(home.run("files plans/two.md --json").json()[0]["kind"], "file");
    home.run("files ../..").refused(1, &["no such file or folder", "compline files"]);
}
