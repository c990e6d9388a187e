//! Skills from imported folders and from notes.

use proptest::prelude::*;

use super::*;
use crate::admin::tests::fixture::{Fixture, keys, skill};
use crate::skill::manifest::{name_for as slug, skill_of};

#[tokio::test]
async fn a_folder_from_elsewhere_waits_and_counts_as_untrusted() {
    let fixture = Fixture::new().await;
    let file = fixture.writes("download/tea/SKILL.md", &skill("tea", "Boil water."));
    let folder = file.parent().unwrap().to_str().unwrap();
    let answer = fixture.admin.skills_and_proposals().import(folder, "tea").await.unwrap();
    assert!(!answer.failed && answer.markdown.contains("add the skill tea"), "{}", answer.markdown);
    assert!(answer.markdown.contains("compline review show 1"), "{}", answer.markdown);
    assert_eq!(answer.json, json!({ "proposal": 1, "skill": "tea", "change": "create", "standing": "tainted" }));
    assert!(!answer.label.is_trusted());
    assert!(fixture.reads("skills/tea/SKILL.md").is_none());
    let again = fixture.admin.skills_and_proposals().import(folder, "tea").await.unwrap();
    assert_eq!((again.failed, again.markdown), (false, says::waits_already(ProposalId(1))));
}

#[tokio::test]
async fn an_import_replaces_an_existing_skill_as_a_whole() {
    let fixture = Fixture::new().await;
    fixture.writes("skills/tea/SKILL.md", &skill("tea", "Boil wine."));
    fixture.writes("skills/tea/old.md", "old\n");
    let file = fixture.writes("download/tea/SKILL.md", &skill("tea", "Boil water."));
    let answer =
        fixture.admin.skills_and_proposals().import(file.parent().unwrap().to_str().unwrap(), "tea").await.unwrap();
    assert_eq!(answer.json["change"], "edit", "{}", answer.markdown);
    let diff = fixture
        .rendering(&fixture.admin.skills_and_proposals().proposal(ProposalId(1), Surface::CommandLine).await.unwrap())
        .json["diff"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(diff.contains("-Boil wine.\n+Boil water.") && diff.contains("deleted file: old.md"), "{diff}");
}

#[tokio::test]
async fn an_import_reports_the_problems_of_a_folder() {
    let fixture = Fixture::new().await;
    let file = fixture.writes("download/tea/SKILL.md", "---\nname: soup\n---\n\nBoil.\n");
    let folder = file.parent().unwrap();
    let refused = fixture.admin.skills_and_proposals().import(folder.to_str().unwrap(), "tea").await.unwrap();
    assert!(refused.failed && refused.markdown.contains("Nothing was proposed"), "{}", refused.markdown);
    assert!(refused.markdown.contains("soup") && refused.markdown.contains("description"), "{}", refused.markdown);
    assert!(!refused.label.is_trusted(), "its words are in the answer");
    std::os::unix::fs::symlink("/etc/passwd", folder.join("passwd")).unwrap();
    for (folder, name, part) in [
        (folder.to_str().unwrap(), "tea", "passwd is a link"),
        ("/nowhere/at/all", "tea", "cannot be read"),
        ("/nowhere/at/all", "../tea", "cannot be read"),
    ] {
        let refused = fixture.admin.skills_and_proposals().import(folder, name).await.unwrap();
        assert!(refused.failed && refused.markdown.contains(part), "{folder} {name}: {}", refused.markdown);
    }
    assert!(
        fixture
            .rendering(&fixture.admin.skills_and_proposals().pending().await.unwrap())
            .json
            .as_array()
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn no_name_leads_out_of_the_skills_folder() {
    let fixture = Fixture::new().await;
    let file = fixture.writes("download/tea/SKILL.md", &skill("tea", "Boil water."));
    let folder = file.parent().unwrap().to_str().unwrap();
    for name in ["../tea", "/tmp/tea", "Tea Time", "", "."] {
        let refused = fixture.admin.skills_and_proposals().import(folder, name).await.unwrap();
        assert!(refused.failed && refused.markdown.contains("no valid name"), "{name}: {}", refused.markdown);
    }
}

#[tokio::test]
async fn a_note_becomes_a_proposal_under_its_own_label() {
    let fixture = Fixture::new().await;
    fixture.writes(
        "workspace/memory/Green tea.md",
        "# Green tea\n\nUse water at 80 degrees. Never boil it.\n\n- sencha\n",
    );
    let answer =
        fixture.admin.skills_and_proposals().promote(&fixture.ada().person, "memory/Green tea.md", None).await.unwrap();
    assert_eq!(answer.json["skill"], "green-tea", "{}", answer.markdown);
    assert_eq!(answer.json["standing"], "careful", "a person wrote the note, and it still waits");
    assert!(answer.label.is_trusted());
    let shown = fixture
        .rendering(&fixture.admin.skills_and_proposals().proposal(ProposalId(1), Surface::CommandLine).await.unwrap())
        .json;
    let diff = shown["diff"].as_str().unwrap();
    for line in ["+name: green-tea", "+description: \"Use water at 80 degrees.\"", "+# Green tea", "+- sencha"] {
        assert!(diff.contains(line), "{line} is missing in {diff}");
    }
    assert_eq!((&shown["from"], &shown["tainted"]), (&json!("note"), &json!(false)));
    assert_eq!(keys(&answer.json), ["proposal", "skill", "change", "standing"]);

    std::fs::create_dir_all(file_parent(&fixture)).unwrap();
    fixture.writes("workspace/memory/untrusted/tip.md", "A tip. From a page.\n");
    std::os::unix::fs::symlink("untrusted/tip.md", file_parent(&fixture).join("tip.md")).unwrap();
    let tainted = fixture
        .admin
        .skills_and_proposals()
        .promote(&fixture.ada().person, "memory/tip.md", Some("tip"))
        .await
        .unwrap();
    assert_eq!(tainted.json["standing"], "tainted", "{}", tainted.markdown);
    assert!(!tainted.label.is_trusted());
}

fn file_parent(fixture: &Fixture) -> std::path::PathBuf {
    let note = fixture.writes("workspace/memory/any.md", "Any.\n");
    note.parent().unwrap().to_owned()
}

#[tokio::test]
async fn only_notes_of_the_owner_are_read() {
    let fixture = Fixture::new().await;
    fixture.writes("workspace/USER.md", "Secret.\n");
    fixture.writes("workspace/people/2-ben/memory/tea.md", "Ben's tea.\n");
    fixture.writes("workspace/memory/empty.md", "\n# \n");
    fixture.writes("workspace/memory/日本.md", "A cup. Of tea.\n");
    let outside = fixture.writes("outside.md", "Outside.\n");
    std::os::unix::fs::symlink(outside, file_parent(&fixture).join("link.md")).unwrap();
    for note in [
        "USER.md",
        "memory/../USER.md",
        "people/2-ben/memory/tea.md",
        "memory/link.md",
        "memory/none.md",
        "memory/empty.md",
        "memory/日本.md",
        "/etc/passwd",
    ] {
        let refused = fixture.admin.skills_and_proposals().promote(&fixture.ada().person, note, None).await.unwrap();
        assert!(refused.failed && refused.markdown.starts_with("The note "), "{note}: {}", refused.markdown);
    }
    assert!(
        !fixture
            .admin
            .skills_and_proposals()
            .promote(&fixture.ada().person, "memory/日本.md", Some("cup"))
            .await
            .unwrap()
            .failed
    );
}

#[test]
fn names_made_of_notes() {
    for (note, name) in [
        ("memory/tea.md", "tea"),
        ("memory/Green Tea (2).md", "green-tea-2"),
        ("memory/--a__b--.md", "a-b"),
        ("memory/日本.md", ""),
        (&*format!("memory/{}.md", "a".repeat(80)), &"a".repeat(64)),
    ] {
        assert_eq!(slug(note), name, "{note}");
    }
}

#[test]
fn descriptions_made_of_notes() {
    for (note, description) in [
        ("Boil water. Then wait.\n", "\"Boil water.\""),
        ("Hot --- or cold\n", "\"Hot \u{2014} or cold\""),
        ("# Tea\n\nVersion 1.5 is \"best\"\n", "\"Version 1.5 is \\\"best\\\"\""),
        ("---\nname: x\ndescription: How to brew. And when.\ntype: fact\n---\n\nBoil.\n", "\"How to brew. And when.\""),
    ] {
        let made = skill_of("tea", note).unwrap();
        assert!(made.contains(&format!("\ndescription: {description}\n")), "{made}");
        assert!(!made.contains("type: fact"), "{made}");
    }
    assert_eq!(skill_of("tea", "# Tea\n"), None);
}

proptest! {
    #[test]
    fn a_slug_is_a_name_or_nothing(note in "\\PC{0,90}") {
        let name = slug(&note);
        prop_assert!(name.is_empty() || names::is_valid(&name), "{name}");
    }

    #[test]
    fn a_skill_made_from_a_note_follows_the_published_format(note in "[ a-z.:#'\"{}\\[\\]&*!|>%@`\n\\\\é日-]{0,200}") {
        if let Some(made) = skill_of("tea", &note) {
            let problems = manifest::strict(&made, "tea");
            prop_assert!(problems.is_empty(), "{problems:?} in {made}");
        }
    }
}
