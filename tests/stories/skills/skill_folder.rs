//! The skills folder: edited at any time, in any form, never overwritten; and the built-in skills.

use std::time::Duration;

use compline::model::ToolSpec;
use compline::skill::builtin::Builtin;
use compline::store::CommitPoint::{After, Before};
use serde_json::json;

use crate::skill_gate::shown_hash;
use crate::support::model::words;
use crate::support::power::{CrashTest, Cut};
use crate::support::story::{ADA, BEN, Story, skill};

/// The list of skills in the newest prompt, before the conversation.
fn list_in_prompt(story: &Story) -> String {
    let prompt = story.model.last_prompt();
    prompt.split("\nuser: ").next().unwrap().split("## Skills").nth(1).unwrap_or_default().to_owned()
}

/// Promise (skills/hand-edit): You can edit the skills folder by hand at any time: the change
/// counts from the next message, unless it has to wait for your approval, and your work is never
/// overwritten.
#[tokio::test]
async fn an_edit_by_hand_is_live_on_the_next_message() {
    let story = Story::begin().await;
    story.say(ADA, "hello").await;
    assert_eq!(list_in_prompt(&story), "");
    story.write_skill("tea", "Use when tea is to be made.", "Warm the pot.");
    story.say(ADA, "and now?").await;
    assert!(list_in_prompt(&story).contains("tea: Use when tea is to be made."));
    story.write_skill("tea", "Use for coffee too.", "Warm the pot.");
    story.say(BEN, "hello").await;
    assert!(list_in_prompt(&story).contains("Use for coffee too."), "for everybody");
    std::fs::remove_dir_all(story.home.join("skills/tea")).unwrap();
    story.say(ADA, "and now?").await;
    assert_eq!(list_in_prompt(&story), "");
    assert_eq!(story.text("SELECT state FROM skills WHERE name = 'tea'"), "gone");
    story.end().await;
}

/// Promise (skills/one-line): A skill takes one line of the prompt until it is needed; only then is
/// it read, file by file, and nothing outside it.
#[tokio::test]
async fn a_skill_is_listed_then_loaded_then_read_file_by_file() {
    let story = Story::begin().await;
    story.write_skill("tea", "Use when tea is to be made.", "Body: warm the pot.");
    std::fs::create_dir(story.home.join("skills/tea/resources")).unwrap();
    std::fs::write(story.home.join("skills/tea/resources/times.md"), "Green: two minutes.").unwrap();
    story.model.calls("load_skill", json!({ "name": "tea" }));
    story.model.calls("load_skill_resource", json!({ "name": "tea", "path": "resources/times.md" })).says("ok");
    story.say(ADA, "tea please").await;
    let prompts: Vec<String> = story.model.chats().iter().map(words).collect();
    assert!(!prompts[0].contains("warm the pot") && !prompts[0].contains("two minutes"), "{}", prompts[0]);
    assert!(
        prompts[1].contains("Body: warm the pot.") && prompts[1].contains("- resources/times.md"),
        "{}",
        prompts[1]
    );
    assert!(!prompts[1].contains("two minutes") && prompts[2].contains("Green: two minutes."), "{}", prompts[2]);
    assert!(story.model.chats().iter().all(|request| request.label().is_trusted()));
    story.end().await;
}

/// Proves: skills/one-line
#[tokio::test]
async fn no_path_leads_out_of_a_skill() {
    let story = Story::begin().await;
    story.write_skill("tea", "Use when tea is to be made.", "Body.");
    story.write_skill("chai", "Use for chai.", "Secret of chai.");
    std::os::unix::fs::symlink(story.home.join("compline.db"), story.home.join("skills/secret.md")).unwrap();
    for path in [
        "../chai/SKILL.md",
        "/etc/passwd",
        "..",
        "",
        "./SKILL.md",
        "resources/../../chai/SKILL.md",
        "SKILL.md\0",
        "..\\chai\\SKILL.md",
    ] {
        story.model.calls("load_skill_resource", json!({ "name": "tea", "path": path })).says("no");
        story.say(ADA, "read it").await;
        let gave = story.model.last_prompt();
        let gave = gave.rsplit("(load_skill_resource gave)").next().unwrap();
        assert!(gave.contains("is no path inside a skill"), "{path:?}: {gave}");
    }
    for name in ["../skills/chai", "/etc", "", ".", "tea/../chai", "TEA"] {
        story.model.calls("load_skill", json!({ "name": name })).says("no");
        story.say(ADA, "read it").await;
        assert!(
            story.model.last_prompt().rsplit("(load_skill gave)").next().unwrap().contains("There is no skill"),
            "{name:?}"
        );
    }
    story.end().await;
}

/// Proves: skills/open-format
#[tokio::test]
async fn a_broken_skill_affects_nothing_else() {
    let story = Story::begin().await;
    story.write_skill("tea", "Use when tea is to be made.", "Body.");
    for (name, content) in [("empty", &b""[..]), ("bytes", &b"\xff\xfe\x00"[..]), ("open", &b"---\nname: open\n"[..])] {
        std::fs::create_dir_all(story.home.join("skills").join(name)).unwrap();
        std::fs::write(story.home.join("skills").join(name).join("SKILL.md"), content).unwrap();
    }
    std::fs::create_dir_all(story.home.join("skills/nothing")).unwrap();
    std::fs::write(story.home.join("skills/README.md"), "my skills").unwrap();
    std::os::unix::fs::symlink("/etc", story.home.join("skills/linked")).unwrap();
    story.say(ADA, "hello").await;
    assert_eq!(story.last_received_by(ADA), "ok");
    let list = list_in_prompt(&story);
    assert!(list.contains("- tea: ") && !list.contains("empty") && !list.contains("linked"), "{list}");
    story.end().await;
}

/// Proves: skills/one-line
#[tokio::test]
async fn a_skill_that_needs_a_tool_is_listed_only_if_it_is_there() {
    for (web, listed) in [("", true), ("[tools]\nweb_fetch = false", false)] {
        let story = Story::with(web).await;
        let folder = story.home.join("skills/pages");
        std::fs::create_dir_all(&folder).unwrap();
        let front =
            "---\nname: pages\ndescription: Reads pages.\nmetadata:\n  requires_tools: web_fetch\n---\n\nRead.\n";
        std::fs::write(folder.join("SKILL.md"), front).unwrap();
        story.say(ADA, "hello").await;
        assert_eq!(list_in_prompt(&story).contains("pages"), listed, "{web:?}");
        story.end().await;
    }
}

/// Promise (models/first-request): The first request of a new home, with all tools and all skills
/// that ship, is at most 9,500 bytes.
#[tokio::test]
async fn the_skills_that_ship_are_there_and_the_first_request_stays_small() {
    let mut story = Story::prepared("").await;
    story.ship(compline::skill::builtin::all());
    story.start().await;
    story.say(ADA, "hello").await;
    let list = list_in_prompt(&story);
    for builtin in compline::skill::builtin::all() {
        assert!(list.contains(&format!("\n- {}: ", builtin.name)), "{}: {list}", builtin.name);
    }
    let request = &story.model.chats()[0];
    // Size on the wire: escaped, and with a frame around each tool.
    let framed = |tool: &ToolSpec| {
        let function = json!({ "name": tool.name, "description": tool.description, "parameters": tool.schema });
        json!({ "type": "function", "function": function }).to_string().len() + 1
    };
    let bytes = json!(words(request)).to_string().len() + request.tools().iter().map(framed).sum::<usize>() + 130;
    assert!(bytes <= 9_500, "{bytes} bytes for a ping");
    assert!(request.label().is_trusted());
    // What a skill names in backticks and looks like a tool is one.
    let known: Vec<&str> = request.tools().iter().map(|tool| tool.name.as_str()).collect();
    for builtin in compline::skill::builtin::all() {
        for (path, text) in builtin.files {
            let spans = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
            for word in spans.filter(|span| span.contains('_') && !span.contains(['/', '.', '<', ' '])) {
                let is_other = ["requires_tools", "new_name", "create_skill", "change_skill"].contains(&word);
                assert!(is_other || known.contains(&word), "{} names {word} in {path}", builtin.name);
            }
        }
    }
    story.end().await;
}

const V1: &[Builtin] = &[
    Builtin { name: "alpha", files: &[("SKILL.md", "---\nname: alpha\ndescription: One.\n---\n\nFirst alpha.\n")] },
    Builtin {
        name: "beta",
        files: &[("SKILL.md", "---\nname: beta\ndescription: One.\n---\n\nFirst beta.\n\nIts end.\n")],
    },
    Builtin { name: "gamma", files: &[("SKILL.md", "---\nname: gamma\ndescription: One.\n---\n\nFirst gamma.\n")] },
];
const V2: &[Builtin] = &[
    Builtin { name: "alpha", files: &[("SKILL.md", "---\nname: alpha\ndescription: One.\n---\n\nSecond alpha.\n")] },
    Builtin {
        name: "beta",
        files: &[("SKILL.md", "---\nname: beta\ndescription: One.\n---\n\nSecond beta.\n\nA new end.\n")],
    },
    Builtin { name: "gamma", files: &[("SKILL.md", "---\nname: gamma\ndescription: One.\n---\n\nSecond gamma.\n")] },
    Builtin { name: "delta", files: &[("SKILL.md", "---\nname: delta\ndescription: One.\n---\n\nFirst delta.\n")] },
];

/// Promise (skills/built-in): An update adds new built-in skills and refreshes unmodified ones. If
/// you changed one, it stays, and the changes of the newer one are offered, merged into yours;
/// deleted ones stay deleted.
#[tokio::test]
async fn an_update_of_the_program_takes_nothing_away_from_a_person() {
    let mut story = Story::prepared("").await;
    story.ship(V1);
    story.start().await;
    story.say(ADA, "hello").await;
    let mine = skill("beta", "One.", "My beta.\n\nIts end.");
    story.write_skill("beta", "One.", "My beta.\n\nIts end.");
    std::fs::remove_dir_all(story.home.join("skills/gamma")).unwrap();
    story.stop().await;
    story.ship(V2);
    story.start().await;
    story.say(ADA, "hello again").await;
    assert!(story.skill("alpha").unwrap().contains("Second alpha."), "untouched: upgraded");
    assert_eq!(story.skill("beta"), Some(mine.clone()), "edited: kept");
    assert_eq!(story.skill("gamma"), None, "deleted: stays deleted");
    assert!(story.skill("delta").unwrap().contains("First delta."), "new: added");
    let offered = story.received_by(ADA).join("\n");
    assert!(offered.contains("+A new end.") && !offered.contains("+Second beta."), "{offered}");
    assert!(offered.contains("In one place both changed the same passage; there yours stays."), "{offered}");
    for _ in 0..2 {
        story.restart().await;
    }
    assert_eq!(story.count("SELECT count(*) FROM proposals"), 1, "once");
    assert_eq!(story.skill("beta"), Some(mine));
    let hash = shown_hash(&story);
    story.say(ADA, &format!("/approve 1 {hash}")).await;
    assert_eq!(story.skill("beta"), Some(skill("beta", "One.", "My beta.\n\nA new end.")), "merged");
    story.restart().await;
    assert_eq!(story.count("SELECT count(*) FROM proposals"), 1);
    story.end().await;
}

/// Proves: skills/built-in
#[test]
fn a_merge_is_offered_once_whenever_the_power_goes() {
    let jobs = ["keep a shipped skill", "stage a proposal", "ship a skill", "remember what was shipped"];
    for (side, job) in jobs.into_iter().flat_map(|job| [(Before, job), (After, job)]) {
        let mut crash_test = CrashTest::prepared("");
        crash_test.story.ship(V1);
        assert!(!crash_test.start(None));
        assert!(!crash_test.during(crash_test.story.say(ADA, "hello")));
        let mine = skill("beta", "One.", "My beta.\n\nIts end.");
        crash_test.story.write_skill("beta", "One.", "My beta.\n\nIts end.");
        crash_test.cut_next(Cut::at(After, "store a reply"));
        assert!(crash_test.during(crash_test.story.say(ADA, "hello again")));
        crash_test.bury();
        crash_test.story.ship(V2);
        let minute = Duration::from_secs(60);
        assert!(crash_test.start(Some(Cut::at(side, job))) || crash_test.pass(minute), "{side:?} {job} never came");
        crash_test.revive();
        assert!(!crash_test.pass(minute));
        let story = &crash_test.story;
        assert_eq!(story.count("SELECT count(*) FROM proposals"), 1, "{side:?} {job}");
        assert_eq!(story.skill("beta"), Some(mine), "{side:?} {job}");
        assert!(story.skill("alpha").unwrap().contains("Second alpha."), "{side:?} {job}");
        assert!(story.skill("delta").unwrap().contains("First delta."), "{side:?} {job}");
        assert_eq!(story.count("SELECT count(*) FROM skill_changes WHERE state = 'intended'"), 0, "{side:?} {job}");
        crash_test.end();
    }
}

#[tokio::test]
async fn every_person_can_load_a_skill() {
    let story = Story::begin().await;
    story.write_skill("tea", "Use when tea is to be made.", "Body.");
    for person in [ADA, BEN] {
        story.model.calls("load_skill", json!({ "name": "tea" })).says("ok");
        story.say(person, "tea please").await;
        assert!(story.model.last_prompt().contains("(load_skill gave) ---"));
    }
    story.end().await;
}
