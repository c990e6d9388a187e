//! No tool replaces what the conversation was not shown, and lines of a person's own hand go with a
//! quiet notice.

use serde_json::{Value, json};

use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::story::ADA;

on_every_channel! {
    stories:
        no_tool_replaces_what_it_was_not_shown,
        what_was_read_or_written_here_may_be_replaced,
        a_line_of_ones_own_hand_goes_with_one_notice,
        a_line_that_the_assistant_leaves_out_of_the_index_comes_back,
        a_file_in_another_encoding_can_be_changed_after_it_was_read;
}

const MEMORY: &str = "memory/MEMORY.md";
const OWN: &str = "# Memory\n\nI live in Graz.\n\n## Plans\n\nBins on Monday.\n";
const LETTER: &str =
    "---\nname: \"Dad\"\ntype: \"person\"\n---\n\nWalter lives in Linz.\n\nPrivate: never mention it to anyone.\n";

async fn home_of(channel: TestChannel) -> Story {
    let story = channel.begin_story().await;
    story.writes(MEMORY, OWN);
    story.writes("memory/dad.md", LETTER);
    story.writes("plans/move.md", "# Move\n\n- Boxes\n");
    story.say(ADA, "hello").await;
    story
}

async fn calls(story: &Story, tool: &str, arguments: Value) -> String {
    story.model.calls(tool, arguments).says("Done.");
    story.say(ADA, "do that, please").await;
    story.text("SELECT text FROM steps WHERE kind = 'tool' ORDER BY id DESC LIMIT 1")
}

/// Every call that replaces or deletes a text that is there.
fn replacing() -> [(&'static str, Value, &'static str); 6] {
    [
        ("write_file", json!({ "path": MEMORY, "content": "- Ada likes tea\n" }), MEMORY),
        ("write_file", json!({ "path": "plans/move.md", "content": "# Move\n\n- Tape\n" }), "plans/move.md"),
        ("write_file", json!({ "path": "memory/dad.md", "content": "" }), "memory/dad.md"),
        ("edit_file", json!({ "path": "plans/move.md", "old": "- Boxes", "new": "- Tape" }), "plans/move.md"),
        ("remember", json!({ "title": "Dad", "content": "Has a neurologist.", "kind": "person" }), "memory/dad.md"),
        (
            "memory_section",
            json!({ "path": MEMORY, "section": "Plans", "action": "replace", "content": "None." }),
            MEMORY,
        ),
    ]
}

/// Promise (memory/unseen): The assistant replaces or deletes no file, note or section that it was not
/// shown as it stands; it is told to read it first, and nothing is changed.
async fn no_tool_replaces_what_it_was_not_shown(channel: TestChannel) {
    let story = home_of(channel).await;
    for (tool, arguments, path) in replacing() {
        let before = story.reads(path);
        let told = calls(&story, tool, arguments).await;
        assert!(
            told.contains("ead ") && told.contains("first") && told.contains("Nothing was changed."),
            "{tool}: {told}"
        );
        assert_eq!(story.reads(path), before, "{tool}");
    }
    story.model.calls("read_file", json!({ "path": "plans/move.md" })).says("Read.");
    story.say(ADA, "read the plan").await;
    story.writes("plans/move.md", "# Move\n\n- Boxes\n- Keys\n");
    let told = calls(&story, "write_file", json!({ "path": "plans/move.md", "content": "# Move\n" })).await;
    assert!(told.contains("Nothing was changed."), "it has changed since: {told}");
    // A part of it is not all of it.
    story.say(ADA, "/new").await;
    let whole = json!({ "path": "plans/move.md", "content": "# Move\n" });
    story.model.calls("read_file", json!({ "path": "plans/move.md", "from_line": 4 })).says("Read.");
    story.say(ADA, "read the end of the plan").await;
    assert!(calls(&story, "write_file", whole.clone()).await.contains("Nothing was changed."), "read in part");
    let more = json!({ "path": "plans/move.md", "section": "Move", "action": "append", "content": "- Lamps" });
    calls(&story, "memory_section", more).await;
    assert!(calls(&story, "write_file", whole).await.contains("Nothing was changed."), "added to");
    assert!(story.reads("plans/move.md").contains("- Keys") && story.reads("plans/move.md").contains("- Lamps"));
    story.end().await;
}

/// Proves: memory/unseen
async fn what_was_read_or_written_here_may_be_replaced(channel: TestChannel) {
    for (tool, arguments, path) in replacing() {
        let story = home_of(channel).await;
        story.model.calls("read_file", json!({ "path": path })).says("Read.");
        story.say(ADA, "read it").await;
        let before = story.reads(path);
        let told = calls(&story, tool, arguments).await;
        let is_gone = !std::path::Path::new(&story.home.join("workspace").join(path)).exists();
        assert!(is_gone || story.reads(path) != before, "{tool}: {told}");
        story.end().await;
    }
    let story = home_of(channel).await;
    let plan = |words: &str| json!({ "path": "plans/trip.md", "content": words });
    calls(&story, "write_file", plan("one")).await;
    calls(&story, "write_file", plan("two")).await;
    assert_eq!(story.reads("plans/trip.md"), "two", "its own text");
    story.say(ADA, "/new").await;
    calls(&story, "write_file", plan("three")).await;
    assert_eq!(story.reads("plans/trip.md"), "two", "another conversation has not seen it");
    let note = |words: &str| json!({ "title": "Dentist", "content": words, "kind": "reference" });
    calls(&story, "remember", note("Dr Lang, on Tuesday.")).await;
    story.say(ADA, "/new").await;
    calls(&story, "remember", note("Dr Lang, on Friday.")).await;
    assert!(story.reads("memory/dentist.md").contains("Friday"), "its line shows all of it");
    story.model.calls("memory_section", json!({ "path": MEMORY, "section": "Plans", "action": "read" })).says("Read.");
    story.say(ADA, "and the plans?").await;
    let new = json!({ "path": MEMORY, "section": "Plans", "action": "replace", "content": "Bins on Friday." });
    calls(&story, "memory_section", new).await;
    assert!(story.reads(MEMORY).contains("Bins on Friday."), "a section that was read");
    story.end().await;
}

/// Promise (memory/own-lines): When the assistant takes a line away that you wrote by hand, you are told
/// once, with the command that brings it back.
async fn a_line_of_ones_own_hand_goes_with_one_notice(channel: TestChannel) {
    let story = home_of(channel).await;
    let told = || story.received_by(ADA).into_iter().filter(|text| text.contains("out of")).collect::<Vec<_>>();
    story.model.calls("read_file", json!({ "path": MEMORY })).says("Read.");
    story.say(ADA, "read it").await;
    let shorter = OWN.replace("I live in Graz.", "Ada lives in Linz.");
    calls(&story, "write_file", json!({ "path": MEMORY, "content": format!("{shorter}\nNoted by me.\n") })).await;
    story.settle().await;
    let notices = told();
    assert!(notices.len() == 1 && notices[0].contains("I live in Graz."), "{notices:?}");
    // An edit by hand makes no other line of the file the person's.
    story.writes(MEMORY, &story.reads(MEMORY).replace("# Memory\n", "# Memory\n\nMine.\n"));
    story.model.calls("read_file", json!({ "path": MEMORY })).says("Read.");
    story.say(ADA, "read it again").await;
    calls(&story, "edit_file", json!({ "path": MEMORY, "old": "Noted by me.", "new": "" })).await;
    assert!(!story.reads(MEMORY).contains("Noted by me."), "{}", story.reads(MEMORY));
    assert_eq!(told().len(), 1, "a line of the assistant's");
    let shown: Vec<&str> = notices[0].split("/memory restore ").nth(1).unwrap().split_whitespace().take(2).collect();
    let command = shown.join(" ");
    let command = command.trim_end_matches(|c: char| !c.is_ascii_digit());
    story.say(ADA, &format!("/memory restore {command}")).await;
    assert!(story.reads(MEMORY).contains("I live in Graz."), "{command}: {}", story.last_received_by(ADA));
    story.end().await;
}

/// Promise (memory/left-out): A note whose line the assistant leaves out when it writes the index anew has
/// it back with your next message; a line that you take out yourself stays out.
async fn a_line_that_the_assistant_leaves_out_of_the_index_comes_back(channel: TestChannel) {
    let story = home_of(channel).await;
    let line = "(dad.md)";
    assert!(story.reads(MEMORY).contains(line), "{}", story.reads(MEMORY));
    story.model.calls("read_file", json!({ "path": MEMORY })).says("Read.");
    story.say(ADA, "read it").await;
    calls(&story, "write_file", json!({ "path": MEMORY, "content": OWN })).await;
    assert!(!story.reads(MEMORY).contains(line), "{}", story.reads(MEMORY));
    story.say(ADA, "thanks").await;
    assert!(story.reads(MEMORY).contains(line), "{}", story.reads(MEMORY));
    let without: String = story
        .reads(MEMORY)
        .lines()
        .filter(|text| !text.contains(line))
        .fold(String::new(), |all, text| all + text + "\n");
    story.writes(MEMORY, &without);
    story.say(ADA, "and now?").await;
    story.writes("memory/new.md", "# New\n\nA note.\n");
    story.say(ADA, "and the new one?").await;
    assert!(story.reads(MEMORY).contains("(new.md)") && !story.reads(MEMORY).contains(line), "{}", story.reads(MEMORY));
    story.end().await;
}

/// Proves: memory/unseen, memory/encodings
async fn a_file_in_another_encoding_can_be_changed_after_it_was_read(channel: TestChannel) {
    let story = home_of(channel).await;
    for (tool, arguments) in [
        ("edit_file", json!({ "path": "plans/trip.md", "old": "- Zelt", "new": "- Hut" })),
        ("write_file", json!({ "path": "plans/trip.md", "content": "# Reise\n\n- Hut\n" })),
    ] {
        std::fs::write(story.path_of("plans/trip.md"), b"# Gr\xfc\xdfe\n\n- Zelt\n").unwrap();
        story.model.calls("read_file", json!({ "path": "plans/trip.md" })).says("Read.");
        story.say(ADA, "read it").await;
        let told = calls(&story, tool, arguments).await;
        assert!(story.reads("plans/trip.md").ends_with("\n\n- Hut\n"), "{tool}: {told}");
    }
    story.end().await;
}
