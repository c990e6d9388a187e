//! Automatically loaded files: their place in a request, the day they belong to, and the
//! instructions for keeping them.

use std::time::Duration;

use compline::model::{Message, Request, RequestPart, Role};
use serde_json::json;

use crate::support::model::words;
use crate::support::story::{ADA, Story, canary};

const HOUR: Duration = Duration::from_secs(3600);

fn texts(message: &Message) -> Vec<String> {
    let text = |part: &RequestPart| if let RequestPart::Text(text) = part { Some(text.to_string()) } else { None };
    message.parts().iter().filter_map(|part| text(part.open().0)).collect()
}

/// Everything before the first message, byte for byte.
fn beginning(request: &Request) -> Vec<String> {
    let before = request.messages().iter().take_while(|message| message.role() == Role::System);
    let tools = request.tools().iter().map(|tool| format!("{} {} {}", tool.name, tool.description, tool.schema));
    before.flat_map(|message| texts(message)).chain(tools).collect()
}

/// Newest message as the model sees it, part by part.
fn newest(story: &Story) -> Vec<String> {
    let request = story.model.chats().pop().unwrap();
    let newest = request.messages().last().unwrap();
    assert_eq!(newest.role(), Role::User);
    texts(newest)
}

/// Promise (memory/edits-shown): The assistant sees your edits to `MEMORY.md` or today's note right
/// before your next message, and the start of the prompt stays unchanged. Notes of other days are
/// not shown; the day changes at midnight in your zone.
#[tokio::test]
async fn a_hand_edit_stands_right_before_the_newest_message_and_changes_nothing_at_the_beginning() {
    let story = Story::begin().await;
    story.say(ADA, &format!("good morning {}", canary(ADA))).await;
    story.writes("memory/MEMORY.md", "prefers Python\n");
    story.say(ADA, "which language?").await;
    let shown = newest(&story);
    let [.., known, said] = &shown[..] else { panic!("{shown:?}") };
    assert!(known.starts_with("<context part=\"changed\">") && known.ends_with("</context>"), "{known}");
    assert!(known.contains("\n## Long-term Memory now\n\nprefers Python"), "{known}");
    assert!(said.ends_with("]\nwhich language?"), "{said}");
    let requests = story.model.chats();
    assert_eq!(beginning(&requests[0]), beginning(&requests[1]));
    assert!(!beginning(&requests[1]).concat().contains("Python"));
    assert!(!words(&requests[0]).contains("Python"));
    story.end().await;
}

/// Proves: memory/edits-shown
#[tokio::test]
async fn of_the_notes_of_days_todays_is_shown_and_at_local_midnight_the_next() {
    let story = Story::with("timezone = \"Europe/Vienna\"\n").await;
    for (day, words) in [("19", "paint the door"), ("20", "post the form"), ("21", "see the dentist")] {
        story.writes(&format!("memory/2026-11-{day}.md"), &format!("- [09:00] {words}\n"));
    }
    let shows = |known: &str, other: [&str; 2]| {
        let (block, all) = (newest(&story).concat().replace("Notes now\n", "Notes\n"), story.model.last_prompt());
        assert!(block.contains(&format!("\n## Today's Notes\n\n- [09:00] {known}")), "{block}");
        assert!(other.iter().all(|other| !block.contains(other)), "{block}");
        all
    };
    story.say(ADA, "good afternoon").await;
    let all = shows("post the form", ["paint", "dentist"]);
    assert!(!all.contains("paint") && !all.contains("dentist"), "nowhere in the request: {all}");
    // In Vienna it is 13:00 and two seconds.
    story.pass(11 * HOUR - Duration::from_secs(12)).await;
    story.say(ADA, "good night").await;
    shows("post the form", ["paint", "dentist"]);
    story.pass(Duration::from_secs(10)).await;
    story.say(ADA, "still awake").await;
    shows("see the dentist", ["paint", "form"]);

    story.model.calls("read_file", json!({ "path": "memory/2026-11-19.md" })).says("The door.");
    story.say(ADA, "what was two days ago?").await;
    assert!(story.model.last_prompt().contains("paint the door"), "it is still there, for whoever reads it");
    story.end().await;
}

/// Proves: memory/edits-shown
#[tokio::test]
async fn a_missing_empty_or_binary_file_is_left_out_and_blocks_no_answer() {
    let story = Story::begin().await;
    story.say(ADA, "hello").await;
    let memory = story.home.join("workspace/memory/MEMORY.md");
    for (what, bytes) in [("empty", &b""[..]), ("blank", &b" \n\n"[..]), ("a comment", &b"<!-- nothing -->\n"[..])] {
        std::fs::write(&memory, bytes).unwrap();
        story.say(ADA, "/new").await;
        story.say(ADA, "and now?").await;
        assert!(!story.model.last_prompt().contains("## Long-term Memory"), "{what}");
    }
    std::fs::remove_file(&memory).unwrap();
    std::fs::create_dir(&memory).unwrap();
    std::fs::write(story.home.join("workspace/memory/2026-11-20.md"), [0xff, 0xfe, b'a']).unwrap();
    story.say(ADA, "/new").await;
    let asked = story.model.chats().len();
    story.say(ADA, "are you there?").await;
    assert_eq!((story.model.chats().len(), story.last_received_by(ADA)), (asked + 1, "ok".to_owned()));
    assert!(!story.model.last_prompt().contains("## Long-term Memory"));
    story.end().await;
}

/// Promise (memory/encodings): A file that you save as UTF-16 or Windows-1252 is read as what you
/// wrote, and is UTF-8 after the next change. Bytes that are no text are not sent to the model, and
/// you are told in that very turn.
#[tokio::test]
async fn other_encodings_are_read_and_bytes_that_are_no_text_are_told_at_once() {
    let story = Story::begin().await;
    story.say(ADA, "hello").await;
    let memory = story.home.join("workspace/memory/MEMORY.md");
    let text = "# Memory\n\n## Recent facts\n\n- **Gru\u{df}**: Gr\u{fc}\u{df}e aus K\u{f6}ln\n";
    let utf_16 = [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let latin_1 = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    for (bytes, fact) in [(latin_1, "Tea: green"), (utf_16, "Cup: blue")] as [(Vec<u8>, &str); 2] {
        std::fs::write(&memory, bytes).unwrap();
        story.say(ADA, "/new").await;
        story.say(ADA, "and now?").await;
        assert!(story.model.last_prompt().contains("- **Gruß**: Grüße aus Köln"), "{}", story.model.last_prompt());
        story.say(ADA, "/memory show MEMORY").await;
        assert!(story.last_received_by(ADA).contains("Grüße aus Köln"), "{}", story.last_received_by(ADA));
        story.say(ADA, &format!("/remember {fact}")).await;
        let written = std::fs::read_to_string(&memory).unwrap();
        let value = fact.rsplit_once(' ').unwrap().1;
        assert!(written.contains("Grüße aus Köln") && written.contains(value), "{written}");
    }
    std::fs::write(&memory, (0..=255).collect::<Vec<u8>>()).unwrap();
    story.say(ADA, "are you there?").await;
    assert!(!story.model.last_prompt().contains('\u{fffd}'), "{}", story.model.last_prompt());
    let told = story.received_by(ADA).into_iter().filter(|text| text.starts_with("I cannot read memory/MEMORY.md"));
    assert_eq!(told.count(), 1, "{:?}", story.received_by(ADA));
    story.end().await;
}

/// Promise (memory/new-home): A new home contains everything needed, in the folder you name or in
/// the home. The same folder by another name is the same memory, another folder an empty one, and
/// existing files are never overwritten.
#[tokio::test]
async fn a_fresh_home_has_what_is_known_and_room_for_skills_and_pictures() {
    let story = Story::begin().await;
    story.say(ADA, "hello").await;
    let workspace = story.home.join("workspace");
    let memory = std::fs::read_to_string(workspace.join("memory/MEMORY.md")).unwrap();
    assert!(memory.contains("## Recent facts\n\n## Index"), "{memory}");
    story.write_skill("tea", "Use when tea is to be made.", "Warm the pot.");
    story.model.calls("write_file", json!({ "path": "images/plan.svg", "content": "<svg/>" })).says("Drawn.");
    story.say(ADA, "draw me a plan").await;
    assert_eq!(std::fs::read_to_string(workspace.join("images/plan.svg")).unwrap(), "<svg/>");
    assert!(story.model.last_prompt().contains("- tea: Use when tea is to be made."));
    story.end().await;
}

/// Promise (memory/instructions): The assistant is instructed to keep what will matter, to keep no
/// credentials, temporary states or long code, and to trust what it sees over an old note.
#[tokio::test]
async fn the_prompt_says_what_to_remember_and_how_far_to_trust_it() {
    let story = Story::begin().await;
    story.say(ADA, "hello").await;
    let told = beginning(&story.model.chats()[0]).join("\n").to_lowercase();
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        // Content to keep, and its place.
        "keep for weeks as a note",
        "add to today's note",
        // Content not to keep.
        "no passwords, no passing states",
        // Limits of belief in it.
        "a note may be stale",
        "correct a note that has become wrong",
        "what the person says now counts more",
    ] {
        assert!(told.contains(words), "{words:?} is missing in {told}");
    }
    story.end().await;
}

/// Promise (conversation/many-messages): However many short messages a conversation has, the model
/// sees all of them while the window has room. Messages replaced by a summary can be found word for
/// word, and each summary builds on the one before.
#[tokio::test]
async fn many_short_messages_are_all_still_there_while_the_window_has_room() {
    let story = Story::begin().await;
    for number in 0..150 {
        story.say(ADA, &format!("({number})")).await;
    }
    let prompt = story.model.last_prompt();
    let missing: Vec<usize> = (0..150).filter(|number| !prompt.contains(&format!("\n({number})\n"))).collect();
    assert_eq!(missing, Vec::<usize>::new());
    story.end().await;
}
