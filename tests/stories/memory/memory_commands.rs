//! Chat commands for the memory: show it, add to it, restore a version, promote text from outside.

use serde_json::json;

use crate::support::story::{ADA, BEN, EVE, Story, UNTRUSTED, canary};

async fn asks(story: &Story, person: i64, line: &str) -> String {
    story.say(person, line).await;
    story.last_received_by(person)
}

/// Lets the model save a note of outside text.
async fn from_outside(story: &Story, title: &str, content: &str) {
    let note = json!({ "title": title, "content": content, "kind": "reference" });
    story.model.calls("remember", note).says("Noted.");
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter {title}"));
    story.answered().await;
}

/// Promise (memory/shown): `/memory` shows what is stored and how full it is, and `/memory NOTE`
/// shows one note; no name leads out of your folder, and unreadable files are named with the
/// reason.
#[tokio::test]
async fn the_list_and_one_note_and_nothing_outside() {
    let story = Story::begin().await;
    story.say(ADA, "hello").await;
    story.writes(
        "memory/deploy-key.md",
        "---\nname: Deploy key\ndescription: where it is\ntype: reference\n---\n\nIn the safe.\n",
    );
    story.writes("memory/2026-11-20.md", "# Today\n\n- [09:00] rain\n");
    story.writes("secret.md", "a secret beside the memory\n");
    std::fs::write(story.home.join("secret.md"), "a secret outside\n").unwrap();
    from_outside(&story, "Recipe", "Ten eggs.").await;
    let list = asks(&story, ADA, "/memory").await;
    for part in [
        "MEMORY.md",
        "of 64 KB (",
        "deploy-key",
        "Deploy key",
        "2026-11-20",
        "recipe",
        "From outside",
        "Recent facts",
        "Total",
    ] {
        assert!(list.contains(part), "{part:?} is missing in {list}");
    }
    assert!(!list.contains("Ten eggs") && !list.contains("In the safe"), "{list}");
    let one = asks(&story, ADA, "/memory deploy-key").await;
    assert!(one.contains("In the safe.") && one.contains(" KB (0 %)"), "{one}");
    for other in ["/memory deploy-key.md", "/memory memory/deploy-key.md", "/memory Deploy key"] {
        assert_eq!(asks(&story, ADA, other).await, one, "{other}");
    }
    for none in
        ["/memory ../../secret", "/memory ../secret", "/memory /etc/passwd", "/memory ..", "/memory no such thing"]
    {
        assert!(
            asks(&story, ADA, none).await.contains("There is no such note"),
            "{none}: {}",
            story.last_received_by(ADA)
        );
    }
    let outside = asks(&story, ADA, "/memory recipe").await;
    assert!(outside.contains("came from outside") && outside.contains("Ten eggs."), "{outside}");
    assert_ne!(story.text("SELECT label FROM outbox ORDER BY id DESC LIMIT 1"), "trusted");
    assert!(asks(&story, ADA, "/memory edit").await.contains("compline memory edit"));
    story.end().await;
}

/// Proves: privacy/own-memory
#[tokio::test]
async fn each_person_has_only_their_own_memory() {
    let story = Story::begin().await;
    story.say(BEN, "hello").await;
    story.writes("memory/plan.md", &format!("Ada's plan, {}\n", canary(ADA)));
    assert!(asks(&story, BEN, "/memory plan").await.contains("There is no such note"));
    assert!(!asks(&story, BEN, "/memory").await.contains("plan"));
    story.say(BEN, &format!("/remember I like {}", canary(BEN))).await;
    assert!(story.file("people/2-ben/memory/MEMORY.md").unwrap().contains(&canary(BEN)));
    assert!(!story.file("memory/MEMORY.md").unwrap_or_default().contains(&canary(BEN)));
    assert!(!asks(&story, ADA, "/memory").await.contains(&canary(BEN)));
    assert!(asks(&story, ADA, "/memory people/2-ben/memory/MEMORY").await.contains("of 64 KB"), "her own");
    assert!(!story.last_received_by(ADA).contains(&canary(BEN)));
    story.end().await;
}

/// Promise (memory/remember): `/remember TEXT` is known from your next message on, and no model is
/// involved.
#[tokio::test]
async fn remembered_text_is_in_the_next_prompt_without_a_model() {
    let story = Story::begin().await;
    story.say(ADA, "hello").await;
    let asked = story.model.asked() + story.background.asked();
    let told = asks(&story, ADA, "/remember my wife's birthday is on May 3").await;
    assert!(told.contains("MEMORY.md") && told.contains("of 64 KB ("), "{told}");
    assert!(asks(&story, ADA, "/remember my wife's birthday is on May 3").await.contains("already"));
    story.say(ADA, "/remember Cat: Tom").await;
    story.say(ADA, "/remember Cat: Jerry").await;
    assert_eq!(story.model.asked() + story.background.asked(), asked);
    story.say(ADA, "what do you know?").await;
    let prompt = story.model.last_prompt();
    assert_eq!(prompt.matches("birthday is on May 3").count(), 1, "{prompt}");
    assert!(prompt.contains("Jerry") && !prompt.contains("Tom"), "{prompt}");
    assert!(story.model.chats().last().unwrap().label().is_trusted());
    let versions = "SELECT group_concat(DISTINCT author || ':' || cause) FROM files WHERE path = 'memory/MEMORY.md' AND cause = 'remember'";
    assert_eq!(story.text(versions), "person:remember");
    assert!(asks(&story, ADA, "/remember").await.contains("/remember TEXT"));
    story.end().await;
}

/// Proves: memory/remember
#[tokio::test]
async fn a_long_text_becomes_a_note_with_a_line_in_the_index() {
    let story = Story::begin().await;
    let told = asks(&story, ADA, "/remember # Packing\nInhaler.\nClothes for two days.").await;
    assert!(told.contains("memory/packing.md"), "{told}");
    assert!(story.file("memory/packing.md").unwrap().contains("Clothes for two days."));
    story.say(ADA, "hello").await;
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("(packing.md)") && !prompt.contains("Clothes for two days."), "{prompt}");
    story.end().await;
}

/// Proves: memory/remember
#[tokio::test]
async fn a_pasted_text_is_theirs_if_they_give_the_command_and_not_if_they_merely_say_it() {
    let story = Story::begin().await;
    let letter = "The association meets on the second Monday of each month at seven in the evening, in the hall behind the old mill, and brings chairs.";
    story.fake.forwards(ADA, EVE, letter);
    story.answered().await;
    story.say(ADA, &format!("/remember {letter}")).await;
    let label = "SELECT label FROM texts WHERE text LIKE '/remember%'";
    assert_ne!(story.text(label), "trusted", "the paste is recognised as one");
    assert_eq!(story.text("SELECT label FROM files WHERE cause = 'remember'"), "trusted");
    story.say(ADA, "/new").await;
    story.say(ADA, "when is the meeting?").await;
    assert!(story.model.last_prompt().contains("second Monday"));
    assert!(story.model.chats().last().unwrap().label().is_trusted());
    story.stop_here().await;
}

/// Promise (memory/promote): `/promote NOTE` adopts a text from outside as yours in two steps, and
/// the code for the second step is valid only for the text shown in the first.
#[tokio::test]
async fn promoting_takes_two_steps_and_the_code_is_for_what_was_shown() {
    let story = Story::begin().await;
    from_outside(&story, "Recipe", "Ten eggs.\u{200b} A pound of flour.").await;
    let shown = asks(&story, ADA, "/promote recipe").await;
    assert!(shown.contains("Ten eggs.⟨U+200B zero width space⟩ A pound of flour."), "{shown}");
    let (title, command) = story.fake.sent(ADA).pop().unwrap().buttons().remove(0);
    assert!(title == "Make it mine" && shown.contains(&command), "{shown}");
    assert!(story.file("memory/recipe.md").is_none());
    let digest = {
        use sha2::Digest;
        let bytes = std::fs::read(story.path_of("memory/untrusted/recipe.md")).unwrap();
        sha2::Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    for code in [&digest[..10], "0123456789", &digest] {
        assert!(
            asks(&story, ADA, &format!("/promote recipe {code}")).await.contains("does not match the present content"),
            "{code}"
        );
    }
    assert!(asks(&story, BEN, &command).await.contains("There is no such note"));
    let before = story.file("memory/untrusted/recipe.md").unwrap();
    story.writes("memory/untrusted/recipe.md", &before.replace("Ten", "Twelve"));
    assert!(
        asks(&story, ADA, &command).await.contains("does not match the present content"),
        "it was changed meanwhile"
    );
    story.writes("memory/untrusted/recipe.md", &before);
    let asked = story.model.asked();
    assert!(
        asks(&story, ADA, &command).await.contains("memory/recipe.md is yours now"),
        "{}",
        story.last_received_by(ADA)
    );
    assert_eq!(story.model.asked(), asked);
    assert!(story.file("memory/untrusted/recipe.md").is_none());
    assert!(asks(&story, ADA, "/promote recipe").await.contains("yours already"));
    story.say(ADA, "/new").await;
    story.say(ADA, "hello").await;
    assert!(story.model.last_prompt().contains("(recipe.md)"));
    assert!(story.model.chats().last().unwrap().label().is_trusted());
    story.end().await;
}

/// Proves: memory/promote
#[tokio::test]
async fn a_note_too_long_for_chat_is_promoted_on_the_command_line() {
    let story = Story::begin().await;
    from_outside(&story, "Recipe", &"Ten eggs. ".repeat(1_500)).await;
    let shown = asks(&story, ADA, "/promote recipe").await;
    assert!(shown.contains("compline memory promote recipe") && !shown.contains("Ten eggs"), "{shown}");
    assert!(story.fake.sent(ADA).pop().unwrap().buttons().is_empty());
    let shown = story.command_line(&["memory", "promote", "recipe"]).await;
    let code = shown.json["code"].as_str().unwrap().to_owned();
    assert!(shown.markdown.contains("Ten eggs.") && shown.markdown.contains(&code));
    let done = story.command_line(&["memory", "promote", "recipe", &code]).await;
    assert!(!done.failed && story.file("memory/recipe.md").is_some(), "{}", done.markdown);
    story.end().await;
}

/// Promise (files/undo): You can inspect and undo every change to a file that is among its stored
/// versions, yours and the assistant's; a restored text from outside is still untrusted.
#[tokio::test]
async fn every_version_can_be_looked_at_and_comes_back_with_its_label() {
    let story = Story::begin().await;
    story.say(ADA, "hello").await;
    story.say(ADA, "/remember Cat: Tom").await;
    let text = story.file("memory/MEMORY.md").unwrap();
    story.writes("memory/MEMORY.md", &text.replace("Tom", "Jerry"));
    let history = asks(&story, ADA, "/memory history MEMORY").await;
    for part in
        ["newest first", "you, by hand", "you, with a command", "there now", "bytes", "/memory restore MEMORY VERSION"]
    {
        assert!(history.contains(part), "{part:?} is missing in {history}");
    }
    let version = story.count("SELECT id FROM files WHERE path = 'memory/MEMORY.md' AND cause = 'remember'");
    let shown = asks(&story, ADA, &format!("/memory history MEMORY {version}")).await;
    for part in ["Cat: Tom", "Putting it back changes this:", "\n-- Cat: Jerry", "\n+- Cat: Tom", "puts it back"] {
        assert!(shown.replace("**", "").contains(part), "{part:?} is missing in {shown}");
    }
    let told = asks(&story, ADA, &format!("/memory restore MEMORY {version}")).await;
    assert!(told.contains(&format!("is back to version {version}")), "{told}");
    assert_eq!(story.file("memory/MEMORY.md").unwrap(), text);
    let shown = story.command_line(&["memory", "history", "MEMORY", &version.to_string()]).await;
    assert!(shown.markdown.contains("That is what is there now."), "{}", shown.markdown);
    assert_eq!((&shown.json["version"], shown.json["diff"].as_str()), (&json!(version), Some("")), "{}", shown.json);
    story.say(ADA, "who is my cat?").await;
    assert!(story.model.last_prompt().contains("Tom"));
    assert!(asks(&story, ADA, &format!("/memory restore MEMORY {version}")).await.contains("Nothing to change"));
    for none in ["/memory restore MEMORY 999", "/memory restore tea 1"] {
        assert!(asks(&story, ADA, none).await.contains("no such"), "{none}: {}", story.last_received_by(ADA));
    }
    assert!(asks(&story, BEN, &format!("/memory restore MEMORY {version}")).await.contains("no such"), "not his");
    story.end().await;
}

/// Promise (files/unreadable): You can restore an earlier version over a file that is no longer
/// readable as text; the unreadable file is kept next to it unchanged, with its origin label.
#[tokio::test]
async fn an_earlier_version_comes_back_over_what_cannot_be_read_and_that_is_kept() {
    let story = Story::begin().await;
    story.say(ADA, "/remember Cat: Tom").await;
    let text = story.file("memory/MEMORY.md").unwrap();
    let version = story.count("SELECT max(id) FROM files WHERE path = 'memory/MEMORY.md'");
    let huge = vec![b'x'; 5 * 1024 * 1024];
    for (broken, aside) in [(&b"Cat: \0\xff\xfe"[..], "MEMORY.md.unreadable"), (&huge, "MEMORY.md.unreadable-2")] {
        std::fs::write(story.path_of("memory/MEMORY.md"), broken).unwrap();
        let told = asks(&story, ADA, &format!("/memory restore MEMORY {version}")).await;
        assert!(told.contains(&format!("is back to version {version}")) && told.contains(aside), "{told}");
        assert_eq!(story.file("memory/MEMORY.md").unwrap(), text);
        assert_eq!(std::fs::read(story.path_of(&format!("memory/{aside}"))).unwrap(), broken);
    }
    std::fs::write(story.path_of("memory/MEMORY.md"), b"\xff\0").unwrap();
    assert!(asks(&story, ADA, "/memory restore MEMORY 999").await.contains("no such version"));
    assert_eq!(
        std::fs::read(story.path_of("memory/MEMORY.md")).unwrap(),
        b"\xff\0",
        "nothing comes back, nothing moves"
    );
    story.end().await;
}

/// Proves: files/unreadable
#[tokio::test]
async fn a_file_moved_aside_by_a_restore_keeps_its_label() {
    let story = Story::begin().await;
    from_outside(&story, "Recipe", "Ten eggs.").await;
    story.writes("plans.md", "my plans\n");
    let _ = asks(&story, ADA, "/memory history plans.md").await;
    let mine = story.count("SELECT max(id) FROM files WHERE path = 'plans.md'");
    let db = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    db.execute("UPDATE files SET label = (SELECT label FROM files WHERE path = 'memory/untrusted/recipe.md') WHERE path = 'plans.md'", []).unwrap();
    std::fs::write(story.path_of("plans.md"), b"Ten \0\xff eggs").unwrap();
    assert!(asks(&story, ADA, &format!("/memory restore plans.md {mine}")).await.contains("plans.md.unreadable"));
    assert_ne!(story.text("SELECT label FROM files WHERE path = 'plans.md.unreadable'"), "trusted");
    story.stop_here().await;
}

/// Proves: files/undo
#[tokio::test]
async fn restoring_trusts_nothing() {
    let story = Story::begin().await;
    from_outside(&story, "Recipe", &format!("Ten eggs. {UNTRUSTED}recipe")).await;
    let version = story.count("SELECT id FROM files WHERE path = 'memory/untrusted/recipe.md'");
    std::fs::remove_file(story.path_of("memory/untrusted/recipe.md")).unwrap();
    let told = asks(&story, ADA, &format!("/memory restore recipe {version}")).await;
    assert!(told.contains("memory/untrusted/recipe.md") && told.contains("from outside"), "{told}");
    assert!(story.file("memory/untrusted/recipe.md").unwrap().contains("Ten eggs."));
    assert!(story.file("memory/recipe.md").is_none());
    let history = story.command_line(&["memory", "history", "recipe"]).await;
    assert!(history.json.as_array().unwrap().iter().any(|version| version["tainted"] == true), "{}", history.json);
    story.say(ADA, "/new").await;
    story.say(ADA, "hello").await;
    assert!(story.model.chats().last().unwrap().label().is_trusted());
    story.end().await;
}

/// Proves: memory/editable-files
#[tokio::test]
async fn text_edited_by_hand_is_in_the_next_prompt() {
    let story = Story::begin().await;
    story.say(ADA, "hello").await;
    let placed = story.command_line(&["memory", "place", "", ""]).await;
    let text = placed.json["text"].as_str().unwrap();
    assert_eq!(text, story.reads("memory/MEMORY.md"));
    let new = format!("{text}\nShe prefers Python.\n");
    let said = story.command_line(&["memory", "edited", "", "memory/MEMORY.md", text, &new]).await;
    assert!(said.markdown.contains("of 64 KB (") && said.json["changed"] == true, "{}", said.markdown);
    story.say(ADA, "which language?").await;
    assert!(story.model.last_prompt().contains("She prefers Python."));
    let hand = "SELECT author || ':' || label FROM files WHERE path = 'memory/MEMORY.md' ORDER BY id DESC LIMIT 1";
    assert_eq!(story.text(hand), "hand:trusted");

    let bens = story.command_line(&["memory", "place", "Ben", "../tea"]).await;
    assert_eq!((&bens.json["path"], &bens.json["text"]), (&"memory/tea.md".into(), &"".into()), "{}", bens.json);
    story.command_line(&["memory", "edited", "Ben", "memory/tea.md", "", "Green.\n"]).await;
    assert_eq!(story.reads("people/2-ben/memory/tea.md"), "Green.\n");
    assert!(story.command_line(&["memory", "place", "Zoe", ""]).await.failed);
    assert!(story.command_line(&["memory", "place", "", ".hidden"]).await.failed);
    let unchanged = story.command_line(&["memory", "edited", "", "memory/tea.md", "", ""]).await;
    assert!(!unchanged.failed && unchanged.json["changed"] == false, "{}", unchanged.markdown);
    story.end().await;
}

/// Proves: memory/shown
#[tokio::test]
async fn a_full_memory_says_so_and_loses_nothing() {
    let story = Story::begin().await;
    story.say(ADA, "hello").await;
    let text = format!("# Memory\n\n{}\n", "x".repeat(65_400));
    story.writes("memory/MEMORY.md", &text);
    let told = asks(&story, ADA, &format!("/remember {}", "y".repeat(300))).await;
    assert!(told.contains("larger than 64 KB"), "{told}");
    assert_eq!(story.file("memory/MEMORY.md").unwrap(), text);
    assert!(asks(&story, ADA, "/memory").await.contains("(100 %)"));
    story.end().await;
}

/// Proves: memory/shown
#[tokio::test]
async fn each_part_of_the_list_says_how_full_it_is() {
    let story = Story::begin().await;
    story.say(ADA, "hello").await;
    let filled = |head: &str, size: usize| format!("{head}{}\n", "x".repeat(size - head.len() - 1));
    let head = "---\nname: Tea\ndescription: how\ntype: reference\n---\n\n";
    story.writes("memory/tea.md", &filled(head, 6_554));
    story.writes("memory/2026-11-20.md", &filled("# Today\n\n", 32 * 1024));
    story.writes("memory/2026-11-18.md", &filled("# Wednesday\n\n", 16 * 1024));
    story.writes("memory/2026-11-19.md", &filled("# Thursday\n\n", 1024));
    let chat = asks(&story, ADA, "/memory").await;
    let line = story.command_line(&["memory"]).await;
    for list in [&chat, &line.markdown] {
        let list = list.replace('*', "");
        for part in [
            "MEMORY.md, 0.",
            "tea: Tea, 6.4 of 64 KB (10 %)",
            "Today: 2026-11-20, 32.0 of 64 KB (50 %)",
            "the newest 2026-11-19; the fullest 2026-11-18, 16.0 of 64 KB (25 %)",
        ] {
            assert!(list.contains(part), "{part:?} is missing in {list}");
        }
    }
    story.end().await;
}

/// Proves: memory/off
#[tokio::test]
async fn switched_off_nothing_is_kept_and_nothing_of_it_is_read() {
    let story = Story::with("[memory]\nenabled = false\n").await;
    let memory = "# Memory\n\nThe cat is called Whiskerino.\n";
    story.writes("memory/MEMORY.md", memory);
    story.writes("memory/2026-11-20.md", "- [09:00] Whiskerino was at the vet\n");
    story.writes("USER.md", "She is a Countess.\n");
    story.say(ADA, "hello").await;
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("a Countess") && !prompt.contains("Whiskerino"), "{prompt}");
    let before = std::fs::read_dir(story.path_of("memory")).unwrap().count();
    for text in ["Dog: called Rex", "The dog\n\nIt is called Rex.", &"y".repeat(900)] {
        let told = asks(&story, ADA, &format!("/remember {text}")).await;
        assert!(told.starts_with("Memory is switched off ([memory] enabled)"), "{told}");
    }
    assert_eq!(story.reads("memory/MEMORY.md"), memory);
    assert_eq!(std::fs::read_dir(story.path_of("memory")).unwrap().count(), before);
    let list = asks(&story, ADA, "/memory").await;
    assert!(list.starts_with("Memory is switched off") && list.contains("Whiskerino"), "{list}");
    assert!(!list.contains("I read it before each answer"), "{list}");
    assert_eq!(story.command_line(&["memory"]).await.json["enabled"], false);
    let placed = story.command_line(&["memory", "place", "", ""]).await;
    let text = placed.json["text"].as_str().unwrap();
    let new = format!("{memory}\nIt likes fish.\n");
    let said = story.command_line(&["memory", "edited", "", "memory/MEMORY.md", text, &new]).await.markdown;
    assert!(said.contains("switched off, so I do not read it") && !said.contains("from the next message on"), "{said}");
    story.end().await;
}
