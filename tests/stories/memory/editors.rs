//! Editors beside the assistant: an editor that was open while the assistant wrote, the editor of
//! `memory edit`, and notes that are deleted or renamed by hand.

use compline::store::CommitPoint::{After, Before};
use serde_json::{Value, json};

use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::power::Cut;
use crate::support::story::ADA;

on_every_channel! {
    stories:
        an_editor_that_was_open_while_somebody_wrote_loses_nothing,
        what_a_person_removes_on_purpose_stays_away,
        the_line_of_a_note_that_is_gone_goes_and_a_renamed_one_keeps_its_line;
    crash_tests:
        an_edit_of_an_older_version_is_merged_whenever_the_power_goes;
}

const MINUTE: std::time::Duration = std::time::Duration::from_secs(60);
const MEMORY: &str = "memory/MEMORY.md";
const OLDER: &str = "that had an older version open";
const TOP: &str = "# Memory\n\nI live in Graz.\n\n## Recent facts\n\n- **Tea**: green\n- **Cup**: blue\n\n## Index\n";

/// A way in which something is written, the file that it goes to, and a word of it.
struct Writer {
    name: &'static str,
    path: &'static str,
    word: &'static str,
}

const WRITERS: [Writer; 5] = [
    Writer { name: "/remember", path: MEMORY, word: "heliotrope" },
    Writer { name: "remember", path: MEMORY, word: "packing.md" },
    Writer { name: "memory_save", path: MEMORY, word: "silver" },
    Writer { name: "memory_section", path: MEMORY, word: "Monday" },
    Writer { name: "edit_file", path: "plans/move.md", word: "permit" },
];

async fn calls(story: &Story, tool: &str, arguments: Value) {
    story.model.calls(tool, arguments).says("Done.");
    story.say(ADA, "do that, please").await;
}

async fn writes(story: &Story, writer: &Writer) {
    match writer.name {
        "/remember" => story.say(ADA, "/remember Meanwhile: heliotrope").await,
        "remember" => {
            let note = json!({ "title": "Packing", "content": "Socks first.\n\nThen shirts.", "kind": "reference" });
            calls(story, "remember", note).await;
        }
        "memory_save" => calls(story, "memory_save", json!({ "content": "Cup: silver" })).await,
        "memory_section" => {
            let section =
                json!({ "path": MEMORY, "section": "Plans", "action": "append", "content": "Bins on Monday." });
            calls(story, "memory_section", section).await;
        }
        _ => {
            story.model.calls("read_file", json!({ "path": writer.path }));
            calls(story, "edit_file", json!({ "path": writer.path, "old": "- Boxes", "new": "- Boxes\n- permit" }))
                .await;
        }
    }
}

/// Returns how often the person was told that an older version was open.
fn told(story: &Story) -> usize {
    story.received_by(ADA).iter().filter(|text| text.contains(OLDER)).count()
}

/// Promise (memory/editor-merge): What is remembered while your editor is open stays when you save
/// an older text over it, and so does your edit; you are told once what was put back. A line that
/// you or somebody else removed does not return.
async fn an_editor_that_was_open_while_somebody_wrote_loses_nothing(channel: TestChannel) {
    for writer in &WRITERS {
        let story = channel.begin_story().await;
        story.writes(MEMORY, TOP);
        story.writes("plans/move.md", "# Move\n\n- Boxes\n- Tape\n");
        story.say(ADA, "hello").await;
        story.say(ADA, "/memory search Boxes").await;
        let opened = story.reads(writer.path);
        writes(&story, writer).await;
        let (name, word) = (writer.name, writer.word);
        assert!(story.reads(writer.path).contains(word), "{name}: {}", story.reads(writer.path));
        story.writes(writer.path, &opened.replacen('\n', "\nMine: british spelling.\n", 1));
        story.say(ADA, "/memory search spelling").await;
        story.say(ADA, "how are you?").await;
        let text = story.reads(writer.path);
        assert!(text.contains(word) && text.contains("Mine: british spelling."), "{name}: {text}");
        assert!(name != "memory_save" || !text.contains("blue"), "{name}: {text}");
        assert_eq!(told(&story), 1, "{name}: {:?}", story.received_by(ADA));
        // The editor is still open, and saves again.
        story.writes(writer.path, &opened.replacen('\n', "\nMine: british spelling.\nAnd more.\n", 1));
        story.say(ADA, "/memory search spelling").await;
        story.say(ADA, "and now?").await;
        let text = story.reads(writer.path);
        assert!(text.contains(word) && text.contains("And more."), "{name}: {text}");
        story.say(ADA, "thanks").await;
        assert_eq!(told(&story), 2, "{name}: once for each save");
        let label = format!("SELECT label FROM files WHERE path = '{}' ORDER BY id DESC LIMIT 1", writer.path);
        assert_eq!(story.text(&label), "trusted", "{name}");
        story.end().await;
    }
}

/// Proves: memory/editor-merge
async fn what_a_person_removes_on_purpose_stays_away(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.writes(MEMORY, TOP);
    story.say(ADA, "hello").await;
    story.say(ADA, "/remember Meanwhile: heliotrope").await;
    // They delete the line that was just remembered, alone and with one more.
    story.writes(MEMORY, TOP);
    story.say(ADA, "how are you?").await;
    assert!(!story.reads(MEMORY).contains("heliotrope"), "{}", story.reads(MEMORY));
    story.say(ADA, "/remember Meanwhile: orchid").await;
    story
        .writes(MEMORY, &story.reads(MEMORY).replace("orchid", "violet").replace("I live in Graz.", "I live in Linz."));
    story.say(ADA, "and now?").await;
    let text = story.reads(MEMORY);
    assert!(text.contains("violet") && text.contains("Linz") && !text.contains("orchid"), "{text}");
    assert_eq!(told(&story), 0, "{:?}", story.received_by(ADA));
    story.end().await;
}

/// Promise (memory/dead-lines): When you delete a note by hand, its line leaves the index with your
/// next message, and you are told once; when you rename it, the line leads to the new name.
async fn the_line_of_a_note_that_is_gone_goes_and_a_renamed_one_keeps_its_line(channel: TestChannel) {
    let story = channel.begin_story().await;
    for title in ["Hat", "Uncle", "Tea"] {
        let note = json!({ "title": title, "content": format!("About the {title}."), "kind": "reference" });
        calls(&story, "remember", note).await;
    }
    let rule = json!({ "title": "Style", "content": "Short sentences.", "kind": "preference" });
    calls(&story, "remember", rule).await;
    let memory = story.reads(MEMORY);
    story.writes(
        MEMORY,
        &memory.replace("- [Tea]", "- [Later](later.md): to be written\n- [Site](https://a.example/b.md)\n- [Tea]"),
    );
    story.say(ADA, "hello").await;
    std::fs::remove_file(story.path_of("memory/hat.md")).unwrap();
    std::fs::rename(story.path_of("memory/uncle.md"), story.path_of("memory/gustav.md")).unwrap();
    std::fs::rename(story.path_of("memory/style.md"), story.path_of("memory/writing.md")).unwrap();
    story.say(ADA, "who is my uncle?").await;
    assert!(story.model.last_prompt().contains("- Short sentences."), "{}", story.model.last_prompt());
    assert!(story.reads(MEMORY).contains("(writing.md): Short sentences."), "{}", story.reads(MEMORY));
    let memory = story.reads(MEMORY);
    for line in ["- [Uncle](gustav.md): About the Uncle.", "- [Tea](tea.md)", "- [Later](later.md)", "- [Site](https"] {
        assert_eq!(memory.matches(line).count(), 1, "{line} in {memory}");
    }
    assert!(!memory.contains("hat.md") && !memory.contains("uncle.md"), "{memory}");
    assert!(!story.model.last_prompt().rsplit_once("<context").unwrap().1.contains("hat.md"));
    story.say(ADA, "thanks").await;
    let told: Vec<String> =
        story.received_by(ADA).into_iter().filter(|text| text.contains("The note is gone")).collect();
    assert!(told.len() == 1 && told[0].contains("Hat") && !told[0].contains("Uncle"), "{told:?}");
    story.end().await;
}

/// Proves: memory/editor-merge
fn an_edit_of_an_older_version_is_merged_whenever_the_power_goes(channel: TestChannel) {
    let jobs = ["record a change by hand", "announce a change of a file", "a changed file stands in its place"];
    for (side, job) in jobs.into_iter().flat_map(|job| [(Before, job), (After, job)]) {
        let mut crash_test = channel.crash_test("");
        assert!(!crash_test.start(None));
        crash_test.story.writes(MEMORY, TOP);
        assert!(!crash_test.during(crash_test.story.say(ADA, "Hello")));
        assert!(!crash_test.during(crash_test.story.say(ADA, "/remember Meanwhile: heliotrope")));
        crash_test.story.writes(MEMORY, &TOP.replace("Graz.", "Graz.\nMine: british spelling."));
        crash_test.cut_next(Cut::at(side, job));
        crash_test.story.fake.says(ADA, "How are you?");
        assert!(crash_test.pass(MINUTE), "{side:?} {job} never came");
        crash_test.revive();
        assert!(!crash_test.pass(MINUTE));
        let text = crash_test.story.reads(MEMORY);
        assert!(text.contains("heliotrope") && text.contains("british spelling"), "{side:?} {job}: {text}");
        assert_eq!(told(&crash_test.story), 1, "{side:?} {job}");
        crash_test.end();
    }
}

/// Proves: memory/editor-merge, command-line/editor
#[tokio::test]
async fn the_editor_of_memory_edit_is_merged_and_a_clash_keeps_both_texts() {
    let story = TestChannel::Telegram.begin_story().await;
    story.writes(MEMORY, TOP);
    story.say(ADA, "hello").await;
    let opened = story.command_line(&["memory", "place", "", ""]).await.json["text"].as_str().unwrap().to_owned();
    let save = async |text: &str| story.command_line(&["memory", "edited", "", MEMORY, &opened, text]).await;
    story.say(ADA, "/remember Meanwhile: heliotrope").await;
    let said = save(&opened.replace("Graz.", "Linz.")).await;
    let text = story.reads(MEMORY);
    assert!(text.contains("heliotrope") && text.contains("Linz.") && !text.contains("Graz."), "{text}");
    assert!(said.markdown.contains("while the editor was open is in it too"), "{}", said.markdown);
    assert_eq!((&said.json["merged"], &said.json["clashes"]), (&true.into(), &0.into()));
    let said = save(&opened.replace("Graz.", "Wels.")).await;
    let text = story.reads(MEMORY);
    assert!(text.contains("Linz.\nI live in Wels.") && text.contains("heliotrope"), "{text}");
    assert!(said.markdown.contains("both stand there now") && said.markdown.contains("Wels."), "{}", said.markdown);
    let said = save(&opened).await;
    assert!(said.markdown.contains("unchanged") && story.reads(MEMORY) == text, "{}", said.markdown);
    let hand = format!("SELECT author || ':' || label FROM files WHERE path = '{MEMORY}' ORDER BY id DESC LIMIT 1");
    assert_eq!(story.text(&hand), "hand:trusted");
    story.say(ADA, "how are you?").await;
    assert_eq!(told(&story), 0, "{:?}", story.received_by(ADA));
    story.end().await;
}
