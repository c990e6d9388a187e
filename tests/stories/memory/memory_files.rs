//! Knowledge in files: tools and people may change them at any time, and outside text may not.

use compline::store::{CommitPoint, Failpoint};
use serde_json::{Value, json};

use crate::support::story::{ADA, BEN, Story, UNTRUSTED, canary};

const DAY: &str = "memory/2026-11-20.md";

/// Note of the current day.
fn today(story: &Story) -> String {
    let mut notes: Vec<_> = std::fs::read_dir(story.path_of("memory"))
        .unwrap()
        .filter_map(|file| file.unwrap().file_name().into_string().ok())
        .filter(|name| name.starts_with("20") && name.len() == DAY.len() - "memory/".len())
        .collect();
    notes.sort();
    story.reads(&format!("memory/{}", notes.pop().unwrap_or_default()))
}

/// Calls a tool for a person and returns its result.
async fn calls(story: &Story, person: i64, tool: &str, arguments: Value) -> String {
    story.model.calls(tool, arguments).says("Done.");
    story.say(person, "do that, please").await;
    story.model.last_prompt().rsplit("tool: ").next().unwrap_or_default().to_owned()
}

/// Calls a tool in a turn that has already read outside text.
async fn calls_tainted(story: &Story, tool: &str, arguments: Value) -> String {
    story.writes("inbox/9-page.txt", &format!("Always {UNTRUSTED}."));
    story.model.calls("read_file", json!({ "path": "inbox/9-page.txt" }));
    calls(story, ADA, tool, arguments).await
}

fn remember(title: &str, content: &str) -> Value {
    json!({ "title": title, "content": content, "kind": "reference" })
}

fn index(story: &Story) -> Vec<String> {
    story.reads("memory/MEMORY.md").lines().filter(|line| line.starts_with("- [")).map(str::to_owned).collect()
}

/// Promise (memory/notes): One title is one note: a file with exactly one index line, in any
/// script, reachable only by its own name. Only the line is loaded automatically, the index stays
/// whole, and a deleted note is gone from the next prompt.
#[tokio::test]
async fn a_note_has_a_file_and_one_line_and_only_the_line_is_known_by_itself() {
    let story = Story::begin().await;
    let said = calls(&story, ADA, "remember", remember("Deploy key", "In the safe.\n\nBehind the third book.")).await;
    assert!(said.contains("Kept in memory/deploy-key.md."), "{said}");
    let note = story.reads("memory/deploy-key.md");
    assert!(
        note.starts_with("---\nname: \"Deploy key\"\ndescription: \"In the safe.\"\ntype: \"reference\"\n---\n"),
        "{note}"
    );
    story.say(ADA, "/new").await;
    story.say(ADA, "where is the key?").await;
    let prompt = story.model.last_prompt();
    assert!(
        prompt.contains("- [Deploy key](deploy-key.md): In the safe.") && !prompt.contains("third book"),
        "{prompt}"
    );
    let said = calls(&story, ADA, "read_file", json!({ "path": "memory/deploy-key.md" })).await;
    assert!(said.contains("Behind the third book."), "{said}");
    calls(&story, ADA, "remember", remember("Deploy key", "On the shelf.")).await;
    assert_eq!(index(&story), ["- [Deploy key](deploy-key.md): On the shelf."]);
    story.end().await;
}

/// Proves: memory/notes
#[tokio::test]
async fn titles_without_latin_letters_and_the_title_memory_have_files_of_their_own() {
    let story = Story::begin().await;
    for title in ["秘密の鍵", "公開の鍵", "Memory"] {
        calls(&story, ADA, "remember", remember(title, &format!("about {title}"))).await;
    }
    assert_eq!(index(&story).len(), 3);
    assert!(story.reads("memory/MEMORY.md").contains("## Index"));
    story.end().await;
}

/// Promise (memory/editable-files): The assistant's knowledge is in workspace files that you can
/// read and change with any editor. Your changes count with the next message, without a restart,
/// and are never overwritten.
#[tokio::test]
async fn a_hand_edit_between_two_turns_is_in_the_next_prompt_and_survives_the_assistant() {
    let story = Story::begin().await;
    story.say(ADA, "hello").await;
    let memory = story.reads("memory/MEMORY.md");
    story.writes("memory/MEMORY.md", &format!("prefers Python {}\n\n{memory}", canary(ADA)));
    story.say(ADA, "and now?").await;
    assert!(story.model.last_prompt().contains("prefers Python"));
    calls(&story, ADA, "remember", remember("Tea", "Green.")).await;
    let memory = story.reads("memory/MEMORY.md");
    assert!(memory.starts_with("prefers Python") && memory.contains("- [Tea](tea.md): Green."), "{memory}");
    let authors = story.text(
        "SELECT group_concat(author) FROM (SELECT author FROM files WHERE path = 'memory/MEMORY.md' ORDER BY id)",
    );
    assert_eq!(authors, "program,hand,assistant");
    story.writes("memory/MEMORY.md", "## Recent facts\n\n## Index\n");
    story.say(ADA, "and now?").await;
    assert!(!story.model.requests().last().unwrap().messages().is_empty());
    assert_eq!(index(&story).len(), 0, "What a person took out is not put back");
    story.end().await;
}

/// Proves: memory/editable-files
#[tokio::test]
async fn saving_while_the_assistant_writes_loses_nothing() {
    let mut story = Story::prepared("").await;
    let home = story.home.clone();
    let saved = std::sync::atomic::AtomicBool::new(false);
    story.fail_at(Some(Failpoint(std::sync::Arc::new(move |point, job| {
        let first = point == CommitPoint::After && job == "announce a change of a file";
        if first && !saved.swap(true, std::sync::atomic::Ordering::SeqCst) {
            std::fs::write(home.join("workspace/USER.md"), "Call me Ada.\n").unwrap();
        }
    }))));
    story.start().await;
    let section = json!({ "path": "USER.md", "section": "Wishes", "action": "append", "content": "- short answers" });
    calls(&story, ADA, "memory_section", section).await;
    assert_eq!(story.reads("USER.md"), "Call me Ada.\n\n## Wishes\n\n- short answers\n");
    story.end().await;
}

/// Proves: files/own-folder
#[tokio::test]
async fn files_are_written_read_edited_and_deleted_and_a_deleted_note_is_not_known_any_more() {
    let story = Story::begin().await;
    let words = "Rotate the API key with curl -X POST https://keys.example/rotate, then test.\n";
    let said = calls(&story, ADA, "write_file", json!({ "path": "plans/../plans/keys.md", "content": words })).await;
    assert!(said.contains("[plans/keys.md, hash "), "{said}");
    let said = calls(&story, ADA, "read_file", json!({ "path": "plans/keys.md" })).await;
    assert!(said.contains(words.trim()), "Unchanged: {said}");
    let edit = |old: &str, new: &str| json!({ "path": "plans/keys.md", "old": old, "new": new });
    calls(&story, ADA, "edit_file", edit("test", "tell")).await;
    assert!(story.reads("plans/keys.md").ends_with("then tell.\n"), "an answer before it was read as it stands");
    story.say(ADA, "/new").await;
    let said = calls(&story, ADA, "edit_file", edit("tell", "check")).await;
    assert!(said.contains("Read the file first"), "{said}");
    story.model.calls("read_file", json!({ "path": "plans/keys.md" }));
    calls(&story, ADA, "edit_file", edit("tell", "check")).await;
    assert!(story.reads("plans/keys.md").ends_with("then check.\n"));
    let hash = compline::memory::digest(story.reads("plans/keys.md").as_bytes());
    let known = json!({ "path": "plans/keys.md", "old": "check", "new": "try", "expected": hash[..12] });
    calls(&story, ADA, "edit_file", known.clone()).await;
    assert!(story.reads("plans/keys.md").ends_with("then try.\n"));
    let said = calls(&story, ADA, "edit_file", known).await;
    assert!(said.contains("not the one with that hash"), "{said}");
    calls(&story, ADA, "remember", remember("Tea", "Green.")).await;
    let said = calls(&story, ADA, "list_files", json!({ "path": "memory" })).await;
    assert!(said.contains("tea.md (") && said.contains("MEMORY.md ("), "{said}");
    let said = calls(&story, ADA, "write_file", json!({ "path": "memory/tea.md", "content": "" })).await;
    assert!(said.contains("memory/tea.md is deleted"), "{said}");
    assert!(!story.path_of("memory/tea.md").exists() && index(&story).is_empty());
    story.end().await;
}

/// Promise (files/own-folder): The assistant reads and writes only in your folder; `AGENTS.md`,
/// `SOUL.md`, `HEARTBEAT.md` and the skills can be changed by you alone.
#[tokio::test]
async fn file_tools_stay_in_the_folder_and_leave_the_owners_files_and_skills_alone() {
    let story = Story::begin().await;
    story.writes("people/2-ben/diary.md", &canary(BEN));
    std::os::unix::fs::symlink("/etc/hostname", story.path_of("link.md")).unwrap();
    std::os::unix::fs::symlink("people/2-ben", story.path_of("friend")).unwrap();
    let secret = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    for inside in [
        "../compline.db",
        "/etc/hostname",
        "link.md",
        "people/2-ben/diary.md",
        "friend/diary.md",
        ".git/config",
        "a\0b",
        "/dev/null",
    ] {
        for (tool, arguments) in [
            ("read_file", json!({ "path": inside })),
            ("write_file", json!({ "path": inside, "content": "x" })),
            ("memory_section", json!({ "path": inside, "section": "a", "action": "append", "content": "x" })),
        ] {
            let said = calls(&story, ADA, tool, arguments).await;
            let no = ["no path inside", "does not lie in the folder", "no such file", "no text", "cannot be used"];
            assert!(no.iter().any(|no| said.contains(no)), "{tool} {inside}: {said}");
            assert!(secret.trim().is_empty() || !said.contains(secret.trim()));
        }
    }
    for inside in ["AGENTS.md", "SOUL.md", "HEARTBEAT.md", "heartbeat.md"] {
        let before = story.reads(inside);
        let said = calls(&story, ADA, "write_file", json!({ "path": inside, "content": "x" })).await;
        assert!(said.contains("Only the owner changes") && story.reads(inside) == before, "{inside}: {said}");
    }
    let said = calls(&story, ADA, "read_file", json!({ "path": "skills/tea/SKILL.md" })).await;
    assert!(said.contains("no such file"), "{said}");
    story.end().await;
}

/// Proves: memory/word-for-word
#[tokio::test]
async fn notes_from_a_turn_with_outside_text_wait_for_a_yes() {
    let story = Story::begin().await;
    story.say(ADA, "hello").await;
    let before = (story.reads("memory/MEMORY.md"), story.reads("USER.md"));
    let words = format!("Always {UNTRUSTED}.");
    for (tool, arguments) in [
        ("remember", remember("Rule", &words)),
        ("memory_save", json!({ "content": words })),
        ("memory_section", json!({ "path": "USER.md", "section": "Rules", "action": "append", "content": words })),
        ("write_file", json!({ "path": "memory/rule.md", "content": words })),
    ] {
        let said = calls_tainted(&story, tool, arguments).await;
        assert!(said.contains("It waits in memory/untrusted/"), "{tool}: {said}");
    }
    let waiting = std::fs::read_dir(story.path_of("memory/untrusted")).unwrap().count();
    assert!(waiting >= 3, "None was lost: {waiting}");
    assert_eq!((story.reads("memory/MEMORY.md"), story.reads("USER.md")), before);
    assert!(!today(&story).contains(UNTRUSTED) && !story.path_of("memory/rule.md").exists());
    assert!(story.count("SELECT count(*) FROM keeps") >= 3);
    let said = calls_tainted(&story, "write_file", json!({ "path": "USER.md", "content": "" })).await;
    assert!(said.contains("files that are always loaded are not changed"), "{said}");
    let said = calls_tainted(&story, "write_file", json!({ "path": "plans/a.md", "content": words })).await;
    assert!(said.contains("is written"), "{said}");
    assert_ne!(story.text("SELECT label FROM files WHERE path = 'plans/a.md'"), "");
    story.say(ADA, "/new").await;
    story.say(ADA, "hello again").await;
    assert!(!story.model.last_prompt().contains(UNTRUSTED));
    story.end().await;
}

/// Promise (files/section): An edit to one section of a file, however the file is formatted, leaves
/// every other byte unchanged, and of two simultaneous additions both are kept.
#[tokio::test]
async fn one_section_changes_and_every_other_byte_stays() {
    let story = Story::begin().await;
    let odd = "#  Mine \n\n\n```\n# x\n```\n##  Insights  \n\n- old\n\n\n## Last\nno line end";
    story.writes("agents/compline/memory.md", odd);
    let section = |action: &str, name: &str, content: &str| json!({ "path": "agents/compline/memory.md", "section": name, "action": action, "content": content });
    let said = calls(&story, ADA, "memory_section", section("read", "Insights", "")).await;
    assert!(said.contains("- old") && !said.contains("no line end"), "{said}");
    calls(&story, ADA, "memory_section", section("append", "insights", "- new")).await;
    assert_eq!(story.reads("agents/compline/memory.md"), odd.replace("- old\n", "- old\n- new\n"));
    calls(&story, ADA, "memory_section", section("read", "Insights", "")).await;
    calls(&story, ADA, "memory_section", section("replace", "Insights", "- only")).await;
    assert_eq!(story.reads("agents/compline/memory.md"), odd.replace("- old", "- only"));
    calls(&story, ADA, "memory_section", section("append", "Plans", "- p")).await;
    assert!(story.reads("agents/compline/memory.md").ends_with("no line end\n\n## Plans\n\n- p\n"));
    story.end().await;
}

/// Promise (memory/daily-note): Entries in the daily note carry their time, and only today's note
/// is loaded automatically.
#[tokio::test]
async fn lines_of_the_day_have_their_time_and_are_corrected_in_place() {
    let story = Story::begin().await;
    for words in ["Cat: Tom", "Meeting at 10:30", "Cat: Jerry", "Meeting at 10:45", "Cat: Jerry"] {
        calls(&story, ADA, "memory_save", json!({ "content": words })).await;
    }
    let note = today(&story);
    let said: Vec<&str> =
        note.lines().filter_map(|line| line.strip_prefix("- [")?.split_once("] ")).map(|(_, said)| said).collect();
    assert_eq!(said, ["Meeting at 10:30", "Cat: Jerry", "Meeting at 10:45"]);
    assert!(note.lines().filter(|line| line.starts_with("- [")).all(|line| line.as_bytes()[5] == b':'), "{note}");
    let versions = "SELECT count(*) FROM file_contents c JOIN files f ON f.id = c.file_id WHERE CAST(content AS TEXT) LIKE '%Cat: Tom%'";
    assert!(story.count(versions) > 0, "What was said before is in the history");
    story.say(ADA, "/new").await;
    story.say(ADA, "what was today?").await;
    assert!(story.model.last_prompt().contains("Cat: Jerry"));
    story.end().await;
}

/// Promise (privacy/own-memory): Each person has a memory and a history of their own, which no one
/// else can search, see or change.
#[tokio::test]
async fn each_person_keeps_their_own() {
    let story = Story::begin().await;
    calls(&story, ADA, "remember", remember("Gate", &format!("code {}", canary(ADA)))).await;
    calls(&story, BEN, "remember", remember("Gate", &format!("code {}", canary(BEN)))).await;
    assert!(story.reads("memory/gate.md").contains(&canary(ADA)));
    assert!(story.reads("people/2-ben/memory/gate.md").contains(&canary(BEN)));
    story.end().await;
}

/// Promise (memory/off): `[memory] enabled = false` switches memory off, and your files stay.
#[tokio::test]
async fn memory_can_be_switched_off_and_files_stay() {
    let story = Story::with("[memory]\nenabled = false\n").await;
    story.say(ADA, "hello").await;
    let names: Vec<String> = story.model.requests()[0].tools().iter().map(|tool| tool.name.clone()).collect();
    for (tool, offered) in [
        ("remember", false),
        ("memory_save", false),
        ("memory_section", false),
        ("memory_recall", false),
        ("memory_search", true),
        ("read_file", true),
        ("edit_file", true),
    ] {
        assert_eq!(names.iter().any(|name| name == tool), offered, "{tool} in {names:?}");
    }
    story.end().await;
}
