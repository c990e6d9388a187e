//! Notes: one file and one index line under any title; a note leaves the prompt with its file and
//! is listed by name only.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::story::ADA;

on_every_channel! {
    stories:
        notes_written_by_hand_get_their_line_with_the_next_message,
        the_same_title_is_the_same_file_and_the_same_line_and_only_the_line_is_in_the_prompt,
        notes_titled_in_any_script_or_as_memory_get_their_own_files,
        a_note_deleted_by_a_tool_or_by_hand_leaves_the_next_prompt,
        a_note_is_shown_by_its_name_and_no_name_leads_to_anything_else,
        a_note_that_is_restored_gets_its_line_back;
}

fn memory(story: &Story) -> PathBuf {
    story.home.join("workspace/memory")
}

fn remember(title: &str, content: &str) -> Value {
    json!({ "title": title, "content": content, "kind": "reference" })
}

/// Ada has the assistant call a tool.
async fn calls(story: &Story, tool: &str, arguments: Value) {
    story.model.calls(tool, arguments).says("Done.");
    story.say(ADA, "do that, please").await;
}

/// Files of notes.
fn notes(story: &Story) -> Vec<String> {
    let files = std::fs::read_dir(memory(story)).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut notes: Vec<String> = names.filter(|name| name != "MEMORY.md" && !name.starts_with("20")).collect();
    notes.sort();
    notes
}

/// Index lines that lead to notes.
fn lines(story: &Story) -> Vec<String> {
    let text = std::fs::read_to_string(memory(story).join("MEMORY.md")).unwrap();
    assert_eq!(text.matches("\n## Index\n").count(), 1, "{text}");
    let (_, index) = text.split_once("\n## Index\n").unwrap();
    index.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// First request of a new conversation.
async fn fresh_prompt(story: &Story) -> String {
    story.say(ADA, "/new").await;
    story.say(ADA, "good morning").await;
    story.model.last_prompt()
}

/// Promise (memory/notes-by-hand): A note that you put into the folder by hand is known from your
/// next message on, with or without front matter.
async fn notes_written_by_hand_get_their_line_with_the_next_message(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, "hello").await;
    story.writes("memory/boat.md", "# The boat\n\nLies in the harbour of Linz.\n");
    story.writes("memory/tea.md", "---\nname: Tea\ndescription: Which tea\ntype: recipes\n---\n\nGreen.\n");
    story.writes("memory/2026-11-19.md", "- [09:00] a day is no note\n");
    story.say(ADA, "where is my boat?").await;
    let prompt = story.model.last_prompt();
    for line in ["- [boat](boat.md): The boat: Lies in the harbour of Linz.", "- [Tea](tea.md): Which tea"] {
        assert_eq!(prompt.matches(line).count(), 1, "{line} in {prompt}");
    }
    assert_eq!(lines(&story).len(), 2);
    let versions = story.count("SELECT count(*) FROM files WHERE path = 'memory/MEMORY.md'");
    story.say(ADA, "and today?").await;
    assert_eq!(story.count("SELECT count(*) FROM files WHERE path = 'memory/MEMORY.md'"), versions, "once");
    story.end().await;
}

/// Proves: memory/notes
async fn the_same_title_is_the_same_file_and_the_same_line_and_only_the_line_is_in_the_prompt(channel: TestChannel) {
    let story = channel.begin_story().await;
    calls(&story, "remember", remember("Deploy key", "In the safe.\n\nBehind the third book.")).await;
    calls(&story, "remember", remember("Tea", "Green.")).await;
    let text = std::fs::read_to_string(memory(&story).join("deploy-key.md")).unwrap();
    let front = "---\nname: \"Deploy key\"\ndescription: \"In the safe.\"\ntype: \"reference\"\n---\n\n";
    assert_eq!(text, format!("{front}In the safe.\n\nBehind the third book.\n"));
    assert_eq!(lines(&story), ["- [Deploy key](deploy-key.md): In the safe.", "- [Tea](tea.md): Green."]);
    let prompt = fresh_prompt(&story).await;
    assert!(
        prompt.contains("- [Deploy key](deploy-key.md): In the safe.") && !prompt.contains("third book"),
        "{prompt}"
    );
    calls(&story, "read_file", json!({ "path": "deploy-key.md" })).await;
    calls(&story, "remember", remember("Deploy key", "On the shelf.\n\nBehind the cups.")).await;
    assert_eq!(notes(&story), ["deploy-key.md", "tea.md"]);
    let mut now = lines(&story);
    now.sort();
    assert_eq!(now, ["- [Deploy key](deploy-key.md): On the shelf.", "- [Tea](tea.md): Green."]);
    let prompt = fresh_prompt(&story).await;
    assert!(
        prompt.contains("On the shelf.") && !prompt.contains("In the safe.") && !prompt.contains("cups"),
        "{prompt}"
    );
    story.end().await;
}

/// Proves: memory/notes
async fn notes_titled_in_any_script_or_as_memory_get_their_own_files(channel: TestChannel) {
    let story = channel.begin_story().await;
    let titles = ["秘密の鍵", "公開の鍵", "Memory", "MEMORY.md", "Café", "Cafë"];
    for title in titles {
        calls(&story, "remember", remember(title, &format!("about {title}"))).await;
    }
    let (files, lines) = (notes(&story), lines(&story));
    assert_eq!((files.len(), lines.len()), (titles.len(), titles.len()), "{files:?} {lines:?}");
    assert!(files.iter().all(|file| !file.eq_ignore_ascii_case("memory.md")), "{files:?}");
    for title in titles {
        let line = lines.iter().find(|line| line.ends_with(&format!("): about {title}"))).unwrap();
        let file = line.split_once("](").unwrap().1.split_once("):").unwrap().0;
        let text = std::fs::read_to_string(memory(&story).join(file)).unwrap();
        assert!(text.ends_with(&format!("\nabout {title}\n")), "{file}: {text}");
    }
    story.end().await;
}

/// Proves: memory/notes
async fn a_note_deleted_by_a_tool_or_by_hand_leaves_the_next_prompt(channel: TestChannel) {
    let story = channel.begin_story().await;
    for (title, content) in [("Boat", "Red."), ("Tea", "Green."), ("Book", "Blue.")] {
        calls(&story, "remember", remember(title, content)).await;
    }
    calls(&story, "write_file", json!({ "path": "memory/boat.md", "content": "" })).await;
    assert!(!fresh_prompt(&story).await.contains("boat.md"));
    let text = std::fs::read_to_string(memory(&story).join("MEMORY.md")).unwrap();
    std::fs::remove_file(memory(&story).join("tea.md")).unwrap();
    std::fs::write(memory(&story).join("MEMORY.md"), text.replace("- [Tea](tea.md): Green.\n", "")).unwrap();
    let prompt = fresh_prompt(&story).await;
    assert!(
        !prompt.contains("tea.md") && !prompt.contains("Green.") && prompt.contains("- [Book](book.md): Blue."),
        "{prompt}"
    );
    assert_eq!(notes(&story), ["book.md"], "and nothing puts it back");
    story.end().await;
}

/// Every file below a folder with its bytes, without the journal.
fn all(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(all(&path));
        } else if path.is_file() && !path.to_string_lossy().contains("compline.db") {
            let bytes = std::fs::read(&path).unwrap();
            found.push((path, bytes));
        }
    }
    found.sort();
    found
}

/// Proves: memory/notes
async fn a_note_is_shown_by_its_name_and_no_name_leads_to_anything_else(channel: TestChannel) {
    let story = channel.begin_story().await;
    calls(&story, "remember", remember("Deploy key", "In the safe.")).await;
    for place in ["secret.md", "workspace/secret.md", "workspace/memory/untrusted.md"] {
        std::fs::write(story.home.join(place), "a word that nobody may see\n").unwrap();
    }
    std::os::unix::fs::symlink(story.home.join("secret.md"), memory(&story).join("linked.md")).unwrap();
    let before = all(&story.home);
    let asks = async |line: &str| {
        story.say(ADA, line).await;
        story.last_received_by(ADA)
    };
    let (list, note) = (asks("/memory").await, asks("/memory deploy-key").await);
    assert!(list.contains("deploy-key") && !list.contains("type:"), "{list}");
    assert!(note.contains("In the safe."), "{note}");
    assert_eq!(asks("/memory deploy-key.md").await, note);
    // A bare `secret` names the file at the top of the person's own folder, so it is not tried.
    for none in ["../../secret", "../../secret.md", "../secret", "linked", "/etc/hostname", "..", "."] {
        let said = asks(&format!("/memory {none}")).await;
        assert!(said.contains("There is no such note") && !said.contains("nobody may see"), "{none}: {said}");
    }
    assert_eq!(all(&story.home), before, "looking changes nothing");
    story.end().await;
}

/// Promise (memory/restored-line): A note that you bring back to an earlier version has the line of that
/// version in the index.
async fn a_note_that_is_restored_gets_its_line_back(channel: TestChannel) {
    let story = channel.begin_story().await;
    calls(&story, "remember", remember("Deploy key", "In the safe.")).await;
    let version = story.count("SELECT max(id) FROM files WHERE path = 'memory/deploy-key.md'");
    calls(&story, "remember", remember("Deploy key", "On the shelf.")).await;
    assert_eq!(lines(&story), ["- [Deploy key](deploy-key.md): On the shelf."]);
    for gone in [false, true] {
        if gone {
            std::fs::remove_file(memory(&story).join("deploy-key.md")).unwrap();
            story.say(ADA, "hello").await;
            assert!(lines(&story).is_empty(), "{:?}", lines(&story));
        }
        story.say(ADA, &format!("/memory restore deploy-key {version}")).await;
        assert_eq!(lines(&story), ["- [Deploy key](deploy-key.md): In the safe."], "{}", story.last_received_by(ADA));
    }
    story.end().await;
}
