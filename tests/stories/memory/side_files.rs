//! Files that editors, systems and sync programs leave beside those of people.

use serde_json::{Value, json};

use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::story::ADA;

on_every_channel! {
    stories:
        files_of_editors_are_part_of_no_folder;
}

/// Names beside a file.
const LEFT: [&str; 9] = [
    ".SKILL.md.swp",
    "SKILL.md~",
    "#SKILL.md#",
    "4913",
    ".DS_Store",
    "Thumbs.db",
    "SKILL.md.tmp",
    "SKILL.sync-conflict-20261124.md",
    "SKILL (Ada's conflicted copy 2026-11-24).md",
];

/// Returns what a tool gave.
async fn gave(story: &Story, tool: &str, arguments: Value) -> String {
    story.model.calls(tool, arguments).says("Done.");
    story.say(ADA, "do that, please").await;
    story.model.last_prompt().rsplit("tool: ").next().unwrap_or_default().to_owned()
}

/// Promise (memory/side-files): Files that your editor, your system or a sync program leaves beside
/// your notes and skills are part of neither: they are not listed, found, opened or sent, they ask
/// you nothing, and an edit beside them is live at once. A proposal that holds one is refused.
async fn files_of_editors_are_part_of_no_folder(channel: TestChannel) {
    let story = channel.story_with("[skills]\nby_hand = \"live\"\n").await;
    story.write_skill("tea", "Use when tea is to be made.", "Warm the pot.");
    story.writes("memory/hat.md", "Size 58.\n");
    story.say(ADA, "hello").await;
    let state = |story: &Story| {
        let skills = story.text("SELECT group_concat(digest || ' ' || state || ' ' || label) FROM skills");
        (skills, story.count("SELECT count(*) FROM files"), story.count("SELECT count(*) FROM proposals"))
    };
    let (before, told) = (state(&story), story.received_by(ADA).len());
    for name in LEFT {
        let skill = story.home.join("skills/tea").join(name);
        for path in [skill, story.path_of("memory").join(name)] {
            std::fs::write(path, "\0\u{1}Bud1 zorbax").unwrap();
        }
    }
    story.say(ADA, "and now?").await;
    assert_eq!(state(&story), before);
    assert!(story.received_by(ADA).iter().skip(told).all(|text| text == "ok"), "{:?}", story.received_by(ADA));
    assert!(!story.model.last_prompt().contains("zorbax") && !story.reads("memory/MEMORY.md").contains("SKILL"));
    let listed = gave(&story, "list_files", json!({ "path": "memory" })).await;
    assert!(listed.contains("hat.md") && !listed.contains("SKILL") && !listed.contains("4913"), "{listed}");
    for name in LEFT {
        for path in [format!("memory/{name}"), format!("skills/tea/{name}")] {
            let read = gave(&story, "read_file", json!({ "path": path })).await;
            assert!(!read.contains("zorbax"), "{path}: {read}");
        }
    }
    assert!(!gave(&story, "load_skill", json!({ "name": "tea" })).await.contains("SKILL.md~"));
    story.write_skill("tea", "Use for coffee too.", "Warm both pots.");
    story.say(ADA, "and now?").await;
    assert!(story.model.last_prompt().contains("Use for coffee too."), "{}", story.model.last_prompt());
    assert_eq!(state(&story).0.split(' ').skip(1).collect::<Vec<_>>(), before.0.split(' ').skip(1).collect::<Vec<_>>());
    let content = "---\nname: cup\ndescription: Use for cups.\n---\n\nRinse it.\n";
    let files = json!([{ "path": "SKILL.md", "content": content }, { "path": "notes.md~", "content": "x" }]);
    let draft = json!({ "name": "cup", "change": "create", "files": files, "rationale": "Asked for." });
    let refused = gave(&story, "submit_skill", draft).await;
    assert!(refused.contains("is a file that an editor or a system leaves"), "{refused}");
    story.end().await;
}
