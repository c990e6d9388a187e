//! Erasure of lines: text without a key is erased by its words, an erased note leaves no line, and
//! running work does not bring it back.

use std::time::Duration;

use compline::model::{Purpose, Request};
use serde_json::json;

use crate::support::injected_events::journal_contains;
use crate::support::model::{Gate, Say, usual, words};
use crate::support::story::{ADA, Story, forget_command};

const MINUTE: Duration = Duration::from_secs(60);
const TALK: &str = "Today we went for a long walk along the river with the children, and in the evening we sat in the garden and talked.";

/// All files of knowledge about Ada, in one text.
fn files(story: &Story) -> String {
    let profile = std::fs::read_to_string(story.home.join("experience/default.md")).unwrap_or_default();
    let own =
        ["memory/MEMORY.md", "agents/compline/memory.md", "memory/facts-2026-11.md"].map(|path| story.reads(path));
    profile + &own.concat()
}

/// Command that carries out the plan, while a model call is held.
async fn planned(story: &Story, typed: &str) -> String {
    story.fake.says(ADA, typed);
    let plan = |text: &String| forget_command(text);
    story.fake.until(|fake| fake.texts(ADA).iter().any(|text| forget_command(text).is_some())).await;
    story.fake.texts(ADA).iter().find_map(plan).unwrap()
}

fn cat() -> String {
    json!([{ "key": "cat", "value": "Whiskerino", "layer": "A", "sources": [1] }]).to_string()
}

/// Extracts the cat whenever the conversation or the known facts mention it.
fn echoes(request: &Request) -> Say {
    let echo = request.purpose() == Purpose::Extraction && words(request).contains("Whiskerino");
    if echo { Say::Text(cat()) } else { usual(request) }
}

/// Proves: forgetting/forget
#[tokio::test]
async fn a_text_without_a_key_is_forgotten_by_its_words() {
    let story = Story::begin().await;
    story.say(ADA, "/remember The spare key lies under the third pot").await;
    story.say(ADA, "/remember The bread is in the oven").await;
    assert!(story.reads("memory/MEMORY.md").contains("third pot"));
    story.say(ADA, "/forget under the third pot").await;
    assert!(story.last_received_by(ADA).contains("Nothing is deleted yet"), "some of its words are searched");
    story.forgets(ADA, "the spare KEY lies under the third pot. messages").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("finds nothing any more"), "{told}");
    let memory = story.reads("memory/MEMORY.md");
    assert!(!memory.contains("third pot") && memory.contains("bread"), "{memory}");
    story.say(ADA, "So?").await;
    let prompt = story.model.last_prompt();
    assert!(!prompt.contains("third pot") && prompt.contains("bread"), "{prompt}");
    story.end().await;
}

/// Proves: forgetting/forget
#[tokio::test]
async fn a_short_text_goes_alone_and_takes_no_other_line_along() {
    let story = Story::begin().await;
    story.say(ADA, "I drink tea in the morning.").await;
    for text in ["Tea", "Tea with milk in the evening", "Drink: black tea"] {
        story.say(ADA, &format!("/remember {text}")).await;
    }
    story.forgets(ADA, "tea").await;
    let memory = story.reads("memory/MEMORY.md");
    assert!(
        !memory.contains("- Tea (") && memory.contains("- Tea with milk") && memory.contains("black tea"),
        "{memory}"
    );
    story.forgets(ADA, "Drink: black tea").await;
    assert!(!story.reads("memory/MEMORY.md").contains("black tea"), "a fact is meant by its whole line too");
    story.say(ADA, "So?").await;
    assert!(story.model.last_prompt().contains("I drink tea in the morning."));
    story.end().await;
}

/// Proves: forgetting/forget
#[tokio::test]
async fn a_line_of_prose_is_forgotten_by_all_its_words() {
    let story = Story::begin().await;
    story.writes("memory/MEMORY.md", "# Memory\n\nThe boiler was repaired in May.\n\n> Bread is in the oven.\n");
    story.say(ADA, "/forget repaired in May").await;
    assert!(story.last_received_by(ADA).contains("Nothing is deleted yet"), "some of its words are searched");
    story.forgets(ADA, "the boiler was repaired in May").await;
    let memory = story.reads("memory/MEMORY.md");
    assert!(!memory.contains("boiler") && memory.contains("Bread"), "{memory}");
    story.forgets(ADA, "bread is in the oven").await;
    assert!(!story.reads("memory/MEMORY.md").contains("Bread"));
    story.end().await;
}

/// Proves: forgetting/forget
#[tokio::test]
async fn forgetting_a_note_removes_its_line_from_any_index_file() {
    let story = Story::begin().await;
    for (name, title) in [("pump", "Cellar engine"), ("boiler", "Hot water")] {
        let note = format!("---\nname: {title}\ntype: user\n---\n\nSomething about the {title}.\n");
        std::fs::write(story.home.join(format!("workspace/memory/{name}.md")), note).unwrap();
    }
    let fold =
        "# More notes: user\n\n## Index\n\n- [The thing below](pump.md): how it runs\n- [boiler](boiler.md): hot\n";
    std::fs::write(story.home.join("workspace/memory/index-user.md"), fold).unwrap();
    story.forgets(ADA, "pump").await;
    let left = story.reads("memory/index-user.md");
    assert!(!left.contains("pump") && left.contains("boiler.md"), "{left}");
    story.end().await;
}

/// Proves: forgetting/forget
#[tokio::test]
async fn a_fact_forgotten_during_extraction_does_not_come_back() {
    for with_messages in [false, true] {
        let story = Story::with("[conversation]\njoin_within = \"0s\"\n[memory]\nextract_every = 1").await;
        let gate = Gate::default();
        story.background.then(Say::Hold(gate.clone())).says(&cat());
        story.background.otherwise(echoes);
        story.fake.says(ADA, &format!("The cat is called Whiskerino. {TALK}"));
        gate.reached().await;
        // Remembered after the turn began, so the turn holds the name only through the message.
        story.fake.says(ADA, "/remember cat: Whiskerino");
        story.fake.until(|fake| fake.texts(ADA).iter().any(|text| text.contains("keep that in mind"))).await;
        let command = planned(&story, if with_messages { "/forget cat messages" } else { "/forget cat" }).await;
        story.fake.says(ADA, &command);
        story.fake.until(|fake| fake.texts(ADA).iter().any(|text| text.contains("Forgotten"))).await;
        assert!(!files(&story).contains("Whiskerino"));
        gate.open();
        story.pass(10 * MINUTE).await;
        assert!(!files(&story).contains("Whiskerino"), "with messages: {with_messages}\n{}", files(&story));
        assert_eq!(story.count("SELECT count(*) FROM extractions WHERE facts LIKE '%Whiskerino%'"), 0);
        assert_eq!(story.count("SELECT count(*) FROM extractions WHERE state IN ('wanted', 'asked')"), 0, "it is over");
        story.say(ADA, &format!("What else? {TALK}")).await;
        story.pass(10 * MINUTE).await;
        assert!(!files(&story).contains("Whiskerino") && !story.reads("memory/MEMORY.md").contains("cat"));
        assert_eq!(journal_contains(&story, "Whiskerino"), !with_messages, "what was said stays until it is asked for");
        story.end().await;
    }
}

/// Proves: forgetting/forget
#[tokio::test]
async fn a_fact_forgotten_before_it_is_recorded_is_not_recorded() {
    let story = Story::with("[memory]\nextract_every = 1").await;
    story.say(ADA, "/remember cat: Whiskerino").await;
    story.background.otherwise(echoes);
    // A folder blocks the place where the list is prepared: the answer is stored, and its facts
    // wait.
    for path in ["workspace/memory/.MEMORY.md.part/x", "experience/.default.md.part/x"] {
        std::fs::create_dir_all(story.home.join(path)).unwrap();
    }
    story.say(ADA, &format!("The cat is called Whiskerino, and the other cat: Mimi. {TALK}")).await;
    for path in ["workspace/memory/.MEMORY.md.part", "experience/.default.md.part"] {
        std::fs::remove_dir_all(story.home.join(path)).unwrap();
    }
    story.forgets(ADA, "cat").await;
    story.pass(10 * MINUTE).await;
    assert!(!files(&story).contains("Whiskerino"), "{}", files(&story));
    assert_eq!(story.count("SELECT count(*) FROM extractions WHERE state IN ('wanted', 'asked')"), 0);
    story.end().await;
}

/// Proves: forgetting/forget
#[tokio::test]
async fn a_fact_forgotten_during_summarising_is_not_in_the_summary() {
    let story = Story::with("[conversation]\njoin_within = \"0s\"\n[memory]\nenabled = false").await;
    story.say(ADA, &format!("The cat is called Whiskerino. {TALK}")).await;
    story.writes("memory/MEMORY.md", "## Recent facts\n\n- **cat**: Whiskerino\n");
    let (gate, held) = (Gate::default(), std::sync::atomic::AtomicBool::new(false));
    let at_the_gate = gate.clone();
    story.background.otherwise(move |request| {
        let echo = words(request).contains("Whiskerino");
        match echo && !held.swap(echo, std::sync::atomic::Ordering::SeqCst) {
            true => Say::Hold(at_the_gate.clone()),
            false if echo => Say::Text("{\"title\": \"Cats\", \"decisions\": [\"cat: Whiskerino\"]}".to_owned()),
            false => usual(request),
        }
    });
    story.fake.says(ADA, "/new");
    gate.reached().await;
    let command = planned(&story, "/forget cat").await;
    story.fake.says(ADA, &command);
    story.fake.until(|fake| fake.texts(ADA).iter().any(|text| text.contains("Forgotten"))).await;
    gate.open();
    story.pass(10 * MINUTE).await;
    assert_eq!(story.count("SELECT count(*) FROM summaries WHERE decisions LIKE '%Whiskerino%'"), 0);
    assert_eq!(story.text("SELECT group_concat(state) FROM summaries"), "made");
    story.end().await;
}

/// Proves: forgetting/remains
#[tokio::test]
async fn lines_that_say_more_and_files_next_to_archives_stay_and_are_reported() {
    let story = Story::begin().await;
    story.say(ADA, "/remember Wife: Eva").await;
    let diary = "# Diary\n\nSunday we visited my wife's parents; Eva brought the cake recipe of her grandmother.\n";
    story.writes("memory/diary.md", diary);
    story.say(ADA, "/export").await;
    let archives = || {
        let all = std::fs::read_dir(story.path_of("exports")).unwrap().flatten();
        all.filter(|file| file.path().extension().is_some_and(|kind| kind == "zip")).count()
    };
    assert_eq!(archives(), 1);
    for mine in ["exports/mine.txt", "exports/mine.zip"] {
        story.writes(mine, "My own list.\n");
    }
    story.say(ADA, "/search cake recipe").await;
    let kept = "SELECT count(*) FROM files f JOIN file_contents c ON c.file_id = f.id WHERE f.path LIKE '%diary.md'";
    let versions = story.count(kept);
    story.forgets(ADA, "wife").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("diary.md") && !told.contains("finds nothing any more"), "{told}");
    assert!(!story.reads("memory/MEMORY.md").contains("Eva"));
    assert_eq!((story.reads("memory/diary.md"), story.count(kept)), (diary.to_owned(), versions));
    assert!(archives() == 1 && told.contains("1 export archive"), "{told}");
    for mine in ["exports/mine.txt", "exports/mine.zip"] {
        assert_eq!(story.reads(mine), "My own list.\n");
    }
    story.say(ADA, "/search cake recipe").await;
    assert!(story.last_received_by(ADA).contains("memory/diary.md:3"), "{}", story.last_received_by(ADA));
    story.end().await;
}
