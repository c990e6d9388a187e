//! Skills in every common form: their line in the prompt, when their text is read, and reports of
//! broken ones.

use serde_json::json;

use crate::support::model::words;
use crate::support::story::{ADA, Story};

/// Folder, content of its `SKILL.md`, and the line in the prompt, if it has one.
const FORMS: [(&str, Option<&str>, Option<&str>); 10] = [
    (
        "front",
        Some("---\nname: front\ndescription: Front matter.\n---\n\nSecret body of front.\n"),
        Some("- front: Front matter."),
    ),
    (
        "no-description",
        Some("---\nname: without\n---\n\n# Title\n\nRead off the body.\n\nSecret body of without.\n"),
        Some("- without (skills/no-description/SKILL.md): Read off the body."),
    ),
    (
        "legacy",
        Some("# Legacy skill\n\nThe first paragraph.\n\nSecret body of legacy.\n"),
        Some("- legacy: The first paragraph."),
    ),
    (
        "crlf",
        Some("---\r\nname: crlf\r\ndescription: Lines of another system.\r\n---\r\n\r\nSecret body of crlf.\r\n"),
        Some("- crlf: Lines of another system."),
    ),
    (
        "colon",
        Some("---\nname: \"colon: the name\"\ndescription: \"Use when: asked\"\n---\n\nSecret body of colon.\n"),
        Some("- colon: the name (skills/colon/SKILL.md): Use when: asked"),
    ),
    (
        "broken-yaml",
        Some("---\nname: broken-yaml\ndescription: Use when: this or that: both\n  [\n---\n\nSecret body of broken.\n"),
        Some("- broken-yaml: Use when: this or that: both ["),
    ),
    (
        "folded",
        Some(
            "---\nname: folded\ndescription: >\n  Two lines\n  are one.\nmetadata:\n  deep:\n    - a\n---\n\nSecret body of folded.\n",
        ),
        Some("- folded: Two lines are one."),
    ),
    ("unclosed", Some("---\nname: unclosed\ndescription: It does not end.\n"), None),
    ("only-title", Some("# Only a title\n"), None),
    ("no-file", None, None),
];

/// Proves: skills/open-format
#[tokio::test]
async fn each_has_its_line_the_broken_ones_are_named_and_no_body_is_read_before_it_is_asked_for() {
    let story = Story::begin().await;
    for (folder, text, _) in FORMS {
        let folder = story.home.join("skills").join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("notes.txt"), "Secret body of a file beside it.").unwrap();
        if let Some(text) = text {
            std::fs::write(folder.join("SKILL.md"), text).unwrap();
        }
    }
    std::fs::write(story.home.join("skills/plain-file"), "Secret body of no skill.").unwrap();
    for _ in 0..2 {
        story.say(ADA, "what can you do?").await;
        let request = story.model.chats().pop().unwrap();
        let beginning: String = words(&request).split("\nuser: ").next().unwrap().to_owned();
        let list = beginning.rsplit("`load_skill` before you begin:\n").next().unwrap();
        let mut listed: Vec<&str> = list.lines().filter(|line| line.starts_with("- ")).collect();
        let mut lines: Vec<&str> = FORMS.iter().filter_map(|(.., line)| *line).collect();
        listed.sort_unstable();
        lines.sort_unstable();
        assert_eq!(listed, lines);
        assert!(!words(&request).contains("Secret body"), "{}", words(&request));
    }
    story.model.calls("load_skill", json!({ "name": "without" })).says("Read.");
    story.say(ADA, "show me").await;
    assert!(story.model.last_prompt().contains("Secret body of without."));

    let told = story.command_line(&["skills", "list"]).await.markdown;
    for broken in ["unclosed", "only-title"] {
        assert!(told.lines().any(|line| line.contains(broken) && line.contains("does not load")), "{told}");
    }
    story.end().await;
}
