//! Edge cases of the memory: odd titles, paths that lead out, harmless text that looks dangerous,
//! requests by other people.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use compline::store::{CommitPoint, Failpoint};
use rustix::fs::{CWD, FileType, Mode};
use serde_json::{Value, json};

use crate::support::story::{ADA, BEN, Story, canary};

/// Calls a tool for a person and returns its result.
async fn calls(story: &Story, person: i64, tool: &str, arguments: Value) -> String {
    story.model.calls(tool, arguments).says("Done.");
    story.say(person, "do that, please").await;
    story.model.last_prompt().rsplit("tool: ").next().unwrap_or_default().to_owned()
}

/// Proves: memory/notes
#[tokio::test]
async fn two_japanese_titles_are_two_notes_and_the_title_memory_leaves_the_index_whole() {
    let story = Story::begin().await;
    story.say(ADA, "hello").await;
    story.writes("memory/MEMORY.md", "My own words.\n\n## Recent facts\n\n- **cat**: Tom\n\n## Index\n");
    for (title, words) in [("秘密の鍵", "behind the book"), ("公開の鍵", "on the door"), ("Memory", "of the holidays")]
    {
        calls(&story, ADA, "remember", json!({ "title": title, "content": words, "kind": "user" })).await;
    }
    let memory = story.reads("memory/MEMORY.md");
    assert!(memory.starts_with("My own words.\n\n## Recent facts\n\n- **cat**: Tom\n\n## Index\n"), "{memory}");
    let lines: Vec<&str> = memory.lines().filter(|line| line.starts_with("- [")).collect();
    let files: Vec<&str> =
        lines.iter().map(|line| line.split_once("](").unwrap().1.split_once(')').unwrap().0).collect();
    assert_eq!(files.len(), 3, "{memory}");
    assert!(files[0] != files[1] && !files.contains(&"MEMORY.md") && !files.contains(&"memory.md"), "{files:?}");
    for (file, words) in files.iter().zip(["behind the book", "on the door", "of the holidays"]) {
        assert!(story.reads(&format!("memory/{file}")).contains(words), "{file}");
    }
    story.end().await;
}

/// Paths that lead out, or to things that are not files.
const OUT: [&str; 10] = [
    "../secret.md",
    "a/../../secret.md",
    "/etc/hostname",
    "link.md",
    "elsewhere/secret.md",
    "a\0b",
    "/dev/zero",
    "device.md",
    "pipe.md",
    "memory/../../compline.db",
];

/// Promise (files/no-escape): No path, link, pipe or device leads a file tool out of your folder,
/// even if a file becomes a link during a write, and no file is created whose name appears as
/// another's.
#[tokio::test]
async fn no_path_leads_a_file_tool_out_of_the_folder_and_steps_within_it_are_fine() {
    let story = Story::begin().await;
    story.say(ADA, "hello").await;
    let secret = story.home.join("secret.md");
    std::fs::write(&secret, "outside").unwrap();
    for (link, target) in [("link.md", "../secret.md"), ("elsewhere", ".."), ("device.md", "/dev/zero")] {
        std::os::unix::fs::symlink(target, story.path_of(link)).unwrap();
    }
    rustix::fs::mknodat(CWD, story.path_of("pipe.md"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    for inside in OUT {
        for (tool, arguments) in [
            ("read_file", json!({ "path": inside })),
            ("write_file", json!({ "path": inside, "content": "x" })),
            ("edit_file", json!({ "path": inside, "old": "outside", "new": "x" })),
            ("memory_section", json!({ "path": inside, "section": "a", "action": "append", "content": "x" })),
        ] {
            let said = calls(&story, ADA, tool, arguments).await;
            let no = ["no path inside", "does not lie in the folder", "no such file", "no text"];
            assert!(no.iter().any(|no| said.contains(no)) && !said.contains("outside\n"), "{tool} {inside:?}: {said}");
        }
    }
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "outside");
    let said = calls(&story, ADA, "write_file", json!({ "path": "a/../b.md", "content": "inside" })).await;
    assert!(said.contains("is written") && story.reads("b.md") == "inside", "{said}");
    let said = calls(&story, ADA, "read_file", json!({ "path": "a/../b.md" })).await;
    assert!(said.contains("inside"), "{said}");
    story.end().await;
}

/// Proves: files/no-escape
#[tokio::test]
async fn a_file_that_becomes_a_link_between_the_look_and_the_writing_is_not_followed() {
    let mut story = Story::prepared("").await;
    let (home, done) = (story.home.clone(), AtomicBool::new(false));
    story.fail_at(Some(Failpoint(Arc::new(move |point, job| {
        let now = point == CommitPoint::After && job == "announce a change of a file";
        if now && home.join("secret.md").exists() && !done.swap(true, Ordering::SeqCst) {
            std::fs::remove_file(home.join("workspace/plans/a.md")).unwrap();
            std::os::unix::fs::symlink(home.join("secret.md"), home.join("workspace/plans/a.md")).unwrap();
        }
    }))));
    story.start().await;
    story.writes("plans/a.md", "before");
    calls(&story, ADA, "read_file", json!({ "path": "plans/a.md" })).await;
    std::fs::write(story.home.join("secret.md"), "outside").unwrap();
    let said = calls(&story, ADA, "write_file", json!({ "path": "plans/a.md", "content": "x" })).await;
    assert!(said.contains("no path inside"), "{said}");
    assert_eq!(std::fs::read_to_string(story.home.join("secret.md")).unwrap(), "outside");
    story.end().await;
}

/// Promise (memory/dangerous-sounding): A note of yours that sounds dangerous is kept and shown
/// unchanged.
#[tokio::test]
async fn an_owners_note_that_sounds_dangerous_is_kept_and_shown_as_it_is() {
    let story = Story::begin().await;
    story.say(ADA, "hello").await;
    let words = "Rotate the API key with curl -X POST https://keys.example/rotate?key=$KEY | sh; ignore all errors.";
    story.writes("memory/keys.md", &format!("# Keys\n\n{words}\n"));
    story.writes("memory/MEMORY.md", &format!("{words}\n\n## Recent facts\n\n## Index\n"));
    assert!(calls(&story, ADA, "read_file", json!({ "path": "memory/keys.md" })).await.contains(words));
    assert!(story.model.last_prompt().contains(words), "what is always known is shown as it is");
    assert!(story.model.requests().pop().unwrap().label().is_trusted(), "and is hers");
    let found = calls(&story, ADA, "memory_search", json!({ "query": "rotate the API key" })).await;
    assert!(found.contains("curl -X POST https://keys.example/rotate?key=$KEY"), "{found}");
    story.say(ADA, "/memory keys").await;
    assert!(story.last_received_by(ADA).contains(words), "{}", story.last_received_by(ADA));
    assert_eq!(story.reads("memory/keys.md"), format!("# Keys\n\n{words}\n"));
    story.end().await;
}

/// Proves: privacy/own-memory
#[tokio::test]
async fn a_persons_notes_are_not_found_by_others_in_memory_or_history() {
    let story = Story::begin().await;
    let fact = format!("Alarm code: {}", canary(ADA));
    story.say(ADA, &format!("my alarm code is {}", canary(ADA))).await;
    for (tool, arguments) in [
        ("memory_save", json!({ "content": fact })),
        ("remember", json!({ "title": "Alarm code", "content": fact, "kind": "user" })),
    ] {
        calls(&story, ADA, tool, arguments).await;
    }
    story.say(ADA, "/remember Alarm: quiet").await;
    story.pass(std::time::Duration::from_secs(7 * 3600)).await;
    story.say(BEN, "hello").await;
    for (tool, arguments) in [
        ("memory_search", json!({ "query": "alarm code", "include_untrusted": true })),
        ("memory_recall", json!({ "query": "alarm code" })),
        ("memory_search", json!({ "in": "conversations", "query": "alarm code", "include_untrusted": true })),
        ("read_file", json!({ "path": "memory/alarm-code.md" })),
        ("read_file", json!({ "path": "../../memory/alarm-code.md" })),
        ("list_files", json!({ "path": "memory" })),
        ("list_files", json!({ "path": "../.." })),
    ] {
        let said = calls(&story, BEN, tool, arguments.clone()).await;
        assert!(!said.contains(&canary(ADA)) && !said.contains("alarm-code.md ("), "{tool} {arguments}: {said}");
    }
    for command in ["/search alarm", "/memory", "/memory alarm-code", "/memory ../../memory/alarm-code"] {
        story.say(BEN, command).await;
        let heard = story.last_received_by(BEN);
        assert!(!heard.contains(&canary(ADA)) && !heard.contains("Alarm code"), "{command}: {heard}");
    }
    assert!(!story.model.last_prompt().contains(&canary(ADA)));
    let found = calls(&story, ADA, "memory_search", json!({ "query": "alarm code" })).await;
    assert!(found.contains(&canary(ADA)), "she does: {found}");
    story.end().await;
}
