//! Everything made with the help of an approved third-party skill keeps that origin: files,
//! prompts, summaries, facts, reflections.
//!
//! The origin is written into the journal by hand; the stories check that everything made from
//! there on carries it.

use std::time::Duration;

use compline::id::{FileId, PersonId};
use compline::memory::{Author, ChangeOrigin, PersonShare, Workspace, WriteError};
use compline::model::{Model, ModelError, ModelInfo, Purpose, Request};
use compline::people::{Party, Person, Role};
use compline::time::{Clock, Zone};
use compline::trust::Label;
use serde_json::json;

use crate::support::channel::Channel;
use crate::support::model::{Say, Scripted, usual};
use crate::support::story::{ADA, BEN, Story, StoryOver};

/// Label of content influenced by an approved skill, and its origin.
const APPROVED: &str = "trusted approved:7";
const ORIGIN: &str = "approved:7";
const NEXT_CONVERSATION: Duration = Duration::from_secs(7 * 3600);
const TALK: &str = "Today we went for a long walk along the river with the children, and in the evening we sat in the garden and talked.";

fn set<C: Channel>(story: &StoryOver<C>, sql: &str) {
    let db = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    db.busy_timeout(Duration::from_secs(10)).unwrap();
    assert!(db.execute(sql, [APPROVED]).unwrap() > 0, "{sql}");
}

/// Writes a file as influenced by the skill. `path` is relative to the home.
pub async fn grew<C: Channel>(story: &StoryOver<C>, path: &str, words: &str) {
    // The index may still be reading the first contents; the row comes before the file, as in a
    // write of the program.
    story.settle().await;
    let stored = path.strip_prefix("workspace/").map_or_else(|| format!("//{path}"), str::to_owned);
    let scope = if ["AGENTS.md", "SOUL.md"].contains(&stored.as_str()) { "shared" } else { "person:1" };
    set(
        story,
        &format!(
            "INSERT INTO files (path, digest, label, scope, written_at) VALUES ('{stored}', 'before', ?1, '{scope}', 7)"
        ),
    );
    let file = story.home.join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, words).unwrap();
}

fn away(_: &Request) -> Say {
    Say::Fail(ModelError::Later { after: None, what: "it is down".to_owned() })
}

fn of_turn(story: &Story) -> String {
    story.text("SELECT label FROM turns ORDER BY id DESC LIMIT 1")
}

/// All stored labels selected by a query, in one line.
fn labels(story: &Story, sql: &str) -> String {
    story.text(&format!("SELECT coalesce(group_concat(label, '; '), '') FROM ({sql})"))
}

/// Promise (trust/third-party-skill): Anything influenced by an approved third-party skill keeps
/// that origin through files, prompts, summaries, facts, reflections and the start of the next
/// conversation.
#[tokio::test]
async fn it_is_in_the_prompt_that_shows_the_file() {
    for (path, words) in [
        ("workspace/AGENTS.md", "Be kind."),
        ("workspace/SOUL.md", "Be calm."),
        ("workspace/USER.md", "Ada gardens."),
        ("workspace/learnings/corrections.md", "## Corrections\n\n- **wrong**: right [once] (2026-11-19)\n"),
    ] {
        let story = Story::begin().await;
        grew(&story, path, words).await;
        story.say(ADA, "Hello").await;
        let request = story.model.chats().pop().unwrap();
        assert!(
            request.label().encode().contains(ORIGIN),
            "{path}: {:?} {}",
            request.label(),
            story.model.last_prompt()
        );
        story.stop_here().await;
    }
}

/// Proves: trust/third-party-skill
#[tokio::test]
async fn it_marks_the_turn_before_a_model_is_asked() {
    for (path, words) in [
        ("workspace/memory/MEMORY.md", "# Memory\n\n- [Tea](tea.md): oolong\n"),
        ("workspace/memory/2026-11-20.md", "- Ada planted leeks.\n"),
        ("workspace/agents/compline/memory.md", "## Insights\n\n- **server**: is called Bert (2026-11-19)\n"),
        ("experience/default.md", "## Insights\n\n- **tea**: likes oolong (2026-11-19)\n"),
        ("experience/nurse.md", "## Insights\n\n- **pulse**: counted twice (2026-11-19)\n"),
    ] {
        let story = Story::with("[memory]\nexperience_for_all = true").await;
        grew(&story, path, words).await;
        story.model.otherwise(away);
        story.fake.person_says(ADA, "Hello");
        story.pass(Duration::from_secs(60)).await;
        assert!(of_turn(&story).contains(ORIGIN), "{path}: {}", of_turn(&story));
        story.stop_here().await;
    }
}

/// Proves: trust/third-party-skill
#[tokio::test]
async fn it_marks_a_turn_whose_context_is_shown_again() {
    let mut story = Story::begin().await;
    for number in 0..16 {
        story.say(ADA, &format!("thing {number}: {}", "a long story ".repeat(120))).await;
    }
    story.model.otherwise(away);
    story.fake.person_says(ADA, "Hello");
    story.pass(Duration::from_secs(5)).await;
    grew(&story, "workspace/memory/MEMORY.md", "# Memory\n\n- [Tea](tea.md): oolong\n").await;
    assert!(!of_turn(&story).contains(ORIGIN), "{}", of_turn(&story));
    // In a smaller window the exchange that showed the memory is left out.
    let info = ModelInfo { context_window: 9_000, ..story.model.info().clone() };
    story.model = Scripted::with_card(story.clock.clone(), info);
    story.model.otherwise(away);
    story.restart().await;
    story.pass(Duration::from_secs(1800)).await;
    let context = story.text("SELECT context_label || context FROM turns ORDER BY id DESC LIMIT 1");
    assert!(context.contains(ORIGIN) && context.contains("oolong"), "{context}");
    assert!(of_turn(&story).contains(ORIGIN), "{}", of_turn(&story));
    story.stop_here().await;
}

/// Proves: trust/third-party-skill
#[tokio::test]
async fn it_comes_to_mind_with_the_note_and_stays_with_the_turn() {
    let story = Story::begin().await;
    grew(
        &story,
        "workspace/memory/cat.md",
        "---\nname: \"The cat\"\ndescription: \"Whiskerino hates thunder\"\ntype: \"user\"\n---\n\nThe cat is called Whiskerino.\n",
    ).await;
    story.say(ADA, "Hello").await;
    story.pass(NEXT_CONVERSATION).await;
    story.model.otherwise(away);
    story.fake.person_says(ADA, "What does the cat hate?");
    story.pass(Duration::from_secs(60)).await;
    let recalled = story.text("SELECT recalled FROM turns ORDER BY id DESC LIMIT 1");
    assert!(recalled.contains("memory/cat.md"), "{recalled}");
    assert!(of_turn(&story).contains(ORIGIN), "{}", of_turn(&story));
    let context = story.text("SELECT context_label FROM turns ORDER BY id DESC LIMIT 1");
    assert!(context.contains(ORIGIN), "what stood in the prompt: {context}");
    story.stop_here().await;
}

/// Proves: trust/third-party-skill
#[tokio::test]
async fn it_stays_with_a_reminder_and_the_turn_that_is_shown_it() {
    let story = Story::begin().await;
    story.model.calls("remind", json!({ "when": "in 7 hours", "text": "water the leeks" })).says("Noted.");
    story.say(ADA, "please remind me").await;
    set(&story, "UPDATE reminders SET label = ?1");
    story.pass(NEXT_CONVERSATION).await;
    story.model.otherwise(away);
    story.fake.person_says(ADA, "Done");
    story.pass(Duration::from_secs(60)).await;
    let asked = story.model.last_prompt();
    assert!(asked.contains("reminder 1: **Reminder:** water the leeks"), "{asked}");
    assert!(of_turn(&story).contains(ORIGIN), "{}", of_turn(&story));
    story.stop_here().await;
}

/// Proves: trust/third-party-skill
#[tokio::test]
async fn it_stays_with_a_heartbeat_message_and_the_run_that_is_shown_it() {
    let story = Story::with("[heartbeat]\ninterval = \"30m\"\nquiet_hours = \"\"\n").await;
    let to_do = |words: &str| std::fs::write(story.home.join("workspace/HEARTBEAT.md"), words).unwrap();
    to_do("- [ ] look at the post\n");
    story.background.says("The post is here.");
    story.pass(Duration::from_secs(1805)).await;
    set(&story, "UPDATE texts SET label = ?1 WHERE message_id IN (SELECT id FROM messages WHERE cause = 'heartbeat')");
    to_do("- [ ] look at the post\n- [ ] and at the leeks\n");
    story.pass(Duration::from_secs(3605)).await;
    let run = "SELECT t.label FROM turns t JOIN conversations c ON c.id = t.conversation_id
         WHERE c.kind = 'heartbeat' ORDER BY t.id DESC LIMIT 1";
    let asked = story.background.requests().last().map(crate::support::model::words).unwrap_or_default();
    assert!(asked.contains("The post is here."), "{asked}");
    assert!(story.text(run).contains(ORIGIN), "{}", story.text(run));
    story.stop_here().await;
}

#[tokio::test]
async fn a_label_on_a_turn_counts_even_if_its_parts_lack_it() {
    let story = Story::begin().await;
    story.model.otherwise(away);
    story.fake.person_says(ADA, "Look it up");
    story.pass(Duration::from_secs(60)).await;
    set(&story, "UPDATE turns SET label = ?1");
    story.model.otherwise(usual);
    story.model.calls("web_fetch", json!({ "url": "https://example.org/strange" })).says("Done.");
    story.pass(Duration::from_secs(3600)).await;
    assert_eq!(story.count("SELECT count(*) FROM questions"), 1, "{:?}", story.received_by(ADA));
    story.stop_here().await;
}

/// Proves: trust/third-party-skill
#[tokio::test]
async fn it_is_in_summaries_and_facts_made_of_what_was_said() {
    let story = Story::with("[memory]\nextract_every = 50").await;
    grew(&story, "experience/default.md", "## Insights\n\n- **tea**: likes oolong (2026-11-19)\n").await;
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Extraction => {
            let fact =
                json!({ "key": "walk", "value": "by the river", "category": "fact", "layer": "B", "sources": [1] });
            Say::Text(json!({ "facts": [fact] }).to_string())
        }
        _ => away(request),
    });
    story.say(ADA, TALK).await;
    story.say(ADA, &format!("Once more: {TALK}")).await;
    story.pass(NEXT_CONVERSATION).await;
    let asked = story.background.requests();
    let extraction = asked.iter().find(|request| request.purpose() == Purpose::Extraction).unwrap();
    assert!(extraction.label().encode().contains(ORIGIN), "what is known: {:?}", extraction.label());
    assert!(labels(&story, "SELECT label FROM extractions").contains(ORIGIN));
    let kept = labels(&story, "SELECT label FROM files WHERE path = 'agents/compline/memory.md'");
    assert!(kept.contains(ORIGIN), "{kept}");
    story.stop_here().await;

    let story = Story::with("[memory]\nextract_every = 50").await;
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Extraction => Say::Text(json!({ "facts": [] }).to_string()),
        _ => away(request),
    });
    story.say(ADA, TALK).await;
    story.say(ADA, &format!("Once more: {TALK}")).await;
    set(&story, "UPDATE texts SET label = ?1 WHERE text LIKE 'Once more%'");
    story.pass(NEXT_CONVERSATION).await;
    assert!(labels(&story, "SELECT label FROM extractions").contains(ORIGIN), "what was said");
    assert!(labels(&story, "SELECT label FROM summaries").contains(ORIGIN), "what was written down without a model");
    story.model.otherwise(away);
    story.fake.person_says(ADA, "And now?");
    story.pass(Duration::from_secs(60)).await;
    assert!(story.text("SELECT opening FROM conversations ORDER BY id DESC LIMIT 1").contains("##"));
    assert!(of_turn(&story).contains(ORIGIN), "the next conversation begins with that: {}", of_turn(&story));
    story.say(ADA, "/memory search walk").await;
    assert!(labels(&story, "SELECT label FROM indexed WHERE path LIKE 'conversations/%'").contains(ORIGIN));
    story.stop_here().await;
}

#[tokio::test]
async fn it_is_in_a_summary_of_summaries() {
    for marked in ["one", "three"] {
        let story = Story::begin().await;
        for part in ["one", "two", "three"] {
            story.say(ADA, &format!("Part {part}: {}", "and then it rained again. ".repeat(800))).await;
        }
        set(&story, &format!("UPDATE texts SET label = ?1 WHERE text LIKE 'Part {marked}%'"));
        story.pass(NEXT_CONVERSATION).await;
        let asked = story.background.summaries();
        assert!(asked.len() > 2, "in pieces");
        for request in [asked.last().unwrap(), &asked[1]] {
            let is_shown_open_items_of_it = marked == "one" || request.label() == asked.last().unwrap().label();
            let label = request.label().encode();
            assert_eq!(label.contains(ORIGIN), is_shown_open_items_of_it, "{marked}: {label}");
        }
        story.stop_here().await;
    }
}

#[tokio::test]
async fn it_is_in_a_rule_that_stands_before_every_answer() {
    let story = Story::begin().await;
    let rule = json!({ "title": "Name", "content": "Call them Robin.", "kind": "preference" });
    story.model.calls("remember", rule).says("Kept.");
    story.say(ADA, "Call me Robin").await;
    set(&story, "UPDATE files SET label = ?1 WHERE path = 'memory/name.md'");
    story.say(ADA, "/new").await;
    story.say(ADA, "Hello").await;
    assert!(story.model.last_prompt().contains("Call them Robin."), "{}", story.model.last_prompt());
    assert!(of_turn(&story).contains(ORIGIN), "{}", of_turn(&story));
    story.stop_here().await;
}

#[tokio::test]
async fn it_is_in_what_is_shown_and_made_of_an_open_item() {
    let story = Story::begin().await;
    story.say(ADA, "/open add order boxes").await;
    set(&story, "UPDATE open_items SET label = ?1");
    story.say(ADA, "Hello").await;
    assert!(of_turn(&story).contains(ORIGIN), "{}", of_turn(&story));
    story.stop_here().await;

    let story = Story::begin().await;
    story.say(ADA, TALK).await;
    story.say(ADA, "/open add order boxes").await;
    set(&story, "UPDATE open_items SET label = ?1");
    story.pass(NEXT_CONVERSATION).await;
    let asked = story.background.summaries().pop().unwrap();
    assert!(asked.label().encode().contains(ORIGIN), "{:?}", asked.label());
    story.stop_here().await;
}

#[tokio::test]
async fn it_stays_with_a_file_that_is_merged_with_an_older_edit() {
    let story = Story::begin().await;
    let memory = "# Memory\n\nI live in Graz.\n\n## Recent facts\n\n- **Tea**: green\n";
    story.writes("memory/MEMORY.md", memory);
    story.say(ADA, "hello").await;
    story.say(ADA, "/remember Meanwhile: heliotrope").await;
    story.settle().await;
    set(&story, "UPDATE files SET label = ?1 WHERE path = 'memory/MEMORY.md'");
    story.writes("memory/MEMORY.md", &memory.replace("Graz.", "Graz.\n\nMine: british spelling."));
    story.say(ADA, "how are you?").await;
    assert!(story.reads("memory/MEMORY.md").contains("heliotrope"), "{}", story.reads("memory/MEMORY.md"));
    let label = story.text("SELECT label FROM files WHERE path = 'memory/MEMORY.md' ORDER BY id DESC LIMIT 1");
    assert!(label.contains(ORIGIN), "{label}");
    story.stop_here().await;
}

#[tokio::test]
async fn it_is_in_the_answer_about_what_is_forgotten() {
    let story = Story::begin().await;
    let (facts, memory) = ("workspace/agents/compline/memory.md", "workspace/memory/MEMORY.md");
    grew(&story, facts, "## Insights\n\n- **server**: is called Bert (2026-11-19)\n").await;
    grew(&story, memory, "# Memory\n\n- the gate squeaks in the morning\n").await;
    for words in ["server", "the gate squeaks in the morning"] {
        story.forgets(ADA, words).await;
        let label = story.text("SELECT label FROM forgettings ORDER BY id DESC LIMIT 1");
        assert!(label.contains(ORIGIN), "{words}: {label}\n{}", story.last_received_by(ADA));
    }
    story.model.calls("remember", json!({ "title": "Deploy key", "content": "In the safe.", "kind": "reference" }));
    story.model.says("Kept.");
    story.say(ADA, "Keep that").await;
    std::fs::remove_file(story.path_of("memory/deploy-key.md")).unwrap();
    set(&story, "UPDATE files SET label = ?1 WHERE path = 'memory/deploy-key.md'");
    story.forgets(ADA, "deploy-key").await;
    let label = story.text("SELECT label FROM forgettings ORDER BY id DESC LIMIT 1");
    assert!(label.contains(ORIGIN), "what was kept once: {label}\n{}", story.last_received_by(ADA));
    story.stop_here().await;
}

#[tokio::test]
async fn it_is_in_every_list_that_shows_a_part_of_it() {
    let story = Story::begin().await;
    let at = "2027-01-01T12:00:00Z";
    story.model.calls("remind", json!({ "when": at, "text": "water the leeks" })).says("I will.");
    story.say(ADA, "Remind me").await;
    set(&story, "UPDATE reminders SET label = ?1");
    story.model.calls("list_scheduled", json!({})).says("That waits.");
    story.say(ADA, "What waits?").await;
    let gave = story.text("SELECT text FROM steps WHERE tool = 'list_scheduled'");
    assert!(gave.contains("[1] reminder, ") && gave.contains("its words came from outside"), "{gave}");
    assert!(!gave.contains("leeks") && !of_turn(&story).contains(ORIGIN), "{gave} {}", of_turn(&story));
    story.say(ADA, "/new").await;
    grew(&story, "workspace/notes/deep/plan.md", "Leeks first.").await;
    story.model.calls("list_files", json!({ "path": "notes" })).says("One folder.");
    story.say(ADA, "What is in my notes?").await;
    assert!(of_turn(&story).contains(ORIGIN), "the name of a folder: {}", of_turn(&story));
    story.stop_here().await;
}

#[tokio::test]
async fn a_skill_whose_label_is_lost_marks_every_list_that_names_it() {
    let mut story = Story::with("[skills]\nby_hand = \"live\"").await;
    story.write_skill("tea", "Makes tea.", "Boil water.");
    story.say(ADA, "Hello").await;
    story.stop().await;
    let db = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    assert!(db.execute("UPDATE skill_versions SET label = 'web:evil.example' WHERE skill = 'tea'", []).unwrap() > 0);
    story.start().await;
    story.say(ADA, "/new").await;
    story.say(ADA, "Hello again").await;
    let listed = story.model.chats().pop().unwrap();
    assert!(listed.label().encode().contains("web:evil.example"), "the index of the prompt: {:?}", listed.label());
    for path in ["skills", "skills/tea"] {
        story.model.calls("list_files", json!({ "path": path })).says("Tea.");
        story.say(ADA, "What is there?").await;
        let steps = labels(&story, "SELECT label FROM steps WHERE tool = 'list_files' ORDER BY id DESC LIMIT 1");
        assert!(steps.contains("web:evil.example"), "{path}: {steps}");
    }
    story.stop_here().await;
}

#[tokio::test]
async fn a_version_of_another_persons_file_is_neither_listed_nor_restored() {
    let story = Story::begin().await;
    story.writes("memory/note.md", "# A note\n\nOf today.\n");
    story.say(ADA, "Hello").await;
    let insert =
        "INSERT INTO files (path, digest, label, scope, written_at) VALUES ('memory/note.md', 'd', ?1, 'person:77', 7)";
    set(&story, insert);
    let foreign = story.count("SELECT max(id) FROM files");
    let db = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    db.execute("INSERT INTO file_contents (file_id, content) VALUES (?1, x'63616e617279')", [foreign]).unwrap();
    // The newest row is Ada's again, so the file is read.
    set(
        &story,
        "INSERT INTO files (path, digest, label, scope, written_at) VALUES ('memory/note.md', 'e', ?1, 'person:1', 8)",
    );
    story.say(ADA, "/memory history note.md").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("version ") && !told.contains(&format!("version {foreign},")), "{told}");
    story.say(ADA, &format!("/memory restore note.md {foreign}")).await;
    assert!(!story.reads("memory/note.md").contains("canary"), "{}", story.last_received_by(ADA));
    let (workspace, experience) = (story.home.join("workspace"), story.home.join("experience"));
    let tree = Workspace::new(workspace, experience, story.app().journal.clone(), Zone::UTC);
    let who = Party::One(Person { id: PersonId(1), name: "Ada".to_owned(), role: Role::Owner });
    let (author, from, now) = (Author::Person, Vec::new(), story.clock.now());
    let origin = ChangeOrigin {
        who: who.clone(),
        label: Label::trusted(),
        author,
        cause: "restore",
        from,
        person: PersonShare::default(),
        now,
    };
    let restored = tree.versions().restore_version(&origin, "memory/note.md", FileId(foreign)).await;
    assert!(matches!(restored, Err(WriteError::Refused(_))), "whoever asks for it");
    set(&story, &insert.replace("note.md", "other.md"));
    let other = story.count("SELECT max(id) FROM files");
    db.execute("INSERT INTO file_contents (file_id, content) VALUES (?1, x'63616e617279')", [other]).unwrap();
    let deleted = story.app().index.deleted_files(&who, "", 10).await.unwrap();
    assert!(deleted.iter().all(|row| row.path != "memory/other.md"), "{deleted:?}");
    story.stop_here().await;
}

/// Marks the newest content of a file during a model call: content shown before is not marked.
fn marks(story: &Story, path: &str) -> impl Fn() + Send + Sync + 'static {
    let (journal, path) = (story.home.join("compline.db"), path.to_owned());
    move || {
        let db = rusqlite::Connection::open(&journal).unwrap();
        db.busy_timeout(Duration::from_secs(10)).unwrap();
        let sql = "INSERT INTO files (path, digest, label, scope, written_at) VALUES (?1, 'before', ?2, 'person:1', 7)";
        db.execute(sql, [&path, APPROVED]).unwrap();
        db.execute("UPDATE files SET label = ?2 WHERE path = ?1", [&path, APPROVED]).unwrap();
    }
}

#[tokio::test]
async fn it_is_in_the_note_that_takes_what_a_list_has_no_room_for() {
    let story = Story::with("[memory]\nextract_every = 50").await;
    let facts: String =
        (0..320).map(|n| format!("- **shelf {n}**: holds the box with the number {n} (2026-01-01)\n")).collect();
    story.writes("agents/compline/memory.md", &format!("## Insights\n\n{facts}"));
    story.say(ADA, TALK).await;
    let mark = marks(&story, "agents/compline/memory.md");
    story.background.otherwise(move |request| match request.purpose() {
        Purpose::Extraction => {
            mark();
            let fact =
                json!({ "key": "walk", "value": "by the river", "category": "fact", "layer": "B", "sources": [1] });
            Say::Text(json!({ "facts": [fact] }).to_string())
        }
        _ => away(request),
    });
    story.pass(NEXT_CONVERSATION).await;
    let aside =
        labels(&story, "SELECT label FROM files WHERE path LIKE 'memory/%' AND cause <> 'first' AND author <> 'hand'");
    assert!(
        aside.contains(ORIGIN),
        "{aside}\n{}",
        story.text("SELECT group_concat(DISTINCT path || cause) FROM files")
    );
    story.stop_here().await;
}

#[tokio::test]
async fn it_is_in_the_page_that_takes_lines_from_a_full_index() {
    let story = Story::begin().await;
    let mut index = String::from("# Memory\n\n## Index\n\n");
    for n in 0..280 {
        let note =
            format!("---\nname: \"Plan {n}\"\ndescription: \"what to plant\"\ntype: \"reference\"\n---\n\nLeeks.\n");
        story.writes(&format!("memory/plan-{n}.md"), &note);
        let hook = "what to plant in the bed behind the house, and when, and how far apart the plants are to stand";
        index.push_str(&format!("- [Plan for the bed with the number {n} behind the house](plan-{n}.md): {hook}\n"));
    }
    story.writes("memory/MEMORY.md", &index);
    let mark = marks(&story, "memory/MEMORY.md");
    let note = json!({ "title": "Deploy key", "content": "In the safe.", "kind": "user" }).to_string();
    story.model.otherwise(move |request| {
        mark();
        let is_done = crate::support::model::words(request).contains("tool: ");
        if is_done { usual(request) } else { Say::Calls(vec![("remember".to_owned(), note.clone())]) }
    });
    story.say(ADA, "Keep that").await;
    assert!(story.model.last_prompt().contains("Kept in"), "{}", story.model.last_prompt());
    let page = labels(&story, "SELECT label FROM files WHERE path LIKE 'memory/index-%'");
    assert!(
        page.contains(ORIGIN),
        "{page} {}",
        story.text("SELECT group_concat(DISTINCT path) FROM files WHERE path NOT LIKE '%plan-%'")
    );
    story.stop_here().await;
}

#[tokio::test]
async fn two_labels_of_a_conversation_are_both_found_with_it() {
    let story = Story::begin().await;
    story.say(ADA, TALK).await;
    story.fake.forwards(ADA, crate::support::story::EVE, "The hedge needs water");
    story.answered().await;
    story.pass(NEXT_CONVERSATION).await;
    story.say(ADA, "/memory search walk").await;
    let indexed = labels(&story, "SELECT label FROM indexed WHERE path LIKE 'conversations/%'");
    assert!(indexed.contains("forward"), "{indexed}");
    story.stop_here().await;
}

#[tokio::test]
async fn the_name_of_a_folder_has_the_label_of_what_lies_in_it() {
    let story = Story::begin().await;
    grew(&story, "workspace/notes/deep/plan.md", "Leeks first.").await;
    story.model.calls("list_files", json!({ "path": "notes" })).says("One folder.");
    story.say(ADA, "What is in my notes?").await;
    assert!(of_turn(&story).contains(ORIGIN), "{}", of_turn(&story));
    story.stop_here().await;
}

#[tokio::test]
async fn what_is_known_is_given_to_the_extractor_with_its_label() {
    for (path, words) in [
        ("experience/default.md", "## Insights\n\n- **tea**: likes oolong (2026-11-19)\n"),
        ("workspace/learnings/corrections.md", "## Corrections\n\n- **wrong**: right [once] (2026-11-19)\n"),
    ] {
        let story = Story::with("[memory]\nextract_every = 50").await;
        story.background.otherwise(|request| match request.purpose() {
            Purpose::Extraction => Say::Text(json!({ "facts": [] }).to_string()),
            _ => away(request),
        });
        story.say(ADA, TALK).await;
        grew(&story, path, words).await;
        story.pass(NEXT_CONVERSATION).await;
        let asked = story.background.requests();
        let extraction = asked.iter().find(|request| request.purpose() == Purpose::Extraction).unwrap();
        assert!(extraction.label().encode().contains(ORIGIN), "{path}: {:?}", extraction.label());
        story.stop_here().await;
    }
}

#[tokio::test]
async fn the_answer_that_names_a_replaced_value_has_its_label() {
    let story = Story::begin().await;
    story.writes("agents/compline/memory.md", "## Insights\n\n- **tea**: likes oolong (2026-11-19)\n");
    let mark = marks(&story, "agents/compline/memory.md");
    story.model.otherwise(move |request| {
        mark();
        let is_done = crate::support::model::words(request).contains("tool: ");
        let fact = json!({ "content": "tea: likes sencha" }).to_string();
        if is_done { usual(request) } else { Say::Calls(vec![("memory_save".to_owned(), fact)]) }
    });
    story.say(ADA, "I prefer sencha now").await;
    assert!(story.model.last_prompt().contains("likes oolong"), "{}", story.model.last_prompt());
    assert!(of_turn(&story).contains(ORIGIN), "{}", of_turn(&story));
    story.stop_here().await;
}

#[tokio::test]
async fn it_is_in_the_index_that_lists_a_note() {
    let story = Story::begin().await;
    story.say(ADA, "Hello").await;
    let note = "---\nname: \"Bed\"\ndescription: \"what to plant\"\n---\n\nLeeks.\n";
    grew(&story, "workspace/memory/bed.md", note).await;
    let mended = story.command_line(&["knowledge", "--mend"]).await;
    let index = std::fs::read_to_string(story.home.join("workspace/memory/MEMORY.md")).unwrap();
    assert!(index.contains("(bed.md)"), "{index} {}", mended.markdown);
    let label = labels(&story, "SELECT label FROM files WHERE path = 'memory/MEMORY.md' ORDER BY id DESC LIMIT 1");
    assert!(label.contains(ORIGIN), "{label}");
    story.stop_here().await;
}

#[tokio::test]
async fn a_skill_that_cannot_run_here_marks_the_list_that_names_it() {
    let mut story = Story::with("[skills]\nby_hand = \"live\"").await;
    let folder = story.home.join("skills/tea");
    std::fs::create_dir_all(&folder).unwrap();
    let manifest = "---\nname: tea\ndescription: Makes tea.\nplatforms: windows\n---\n\nBoil water.\n";
    std::fs::write(folder.join("SKILL.md"), manifest).unwrap();
    story.say(ADA, "Hello").await;
    story.stop().await;
    let db = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    assert!(db.execute("UPDATE skill_versions SET label = 'web:evil.example' WHERE skill = 'tea'", []).unwrap() > 0);
    story.start().await;
    for path in ["skills", "skills/tea"] {
        story.say(ADA, "/new").await;
        story.model.calls("list_files", json!({ "path": path })).says("Tea.");
        story.say(ADA, "What is there?").await;
        let step = story.text("SELECT label FROM steps WHERE tool = 'list_files' ORDER BY id DESC LIMIT 1");
        assert!(step.contains("web:evil.example"), "{path}: {step}");
    }
    story.stop_here().await;
}

#[tokio::test]
async fn a_yes_goes_on_under_the_label_of_what_was_shown() {
    let story = Story::begin().await;
    story.model.calls("web_fetch", json!({ "url": "https://example.org/strange" })).says("Done.");
    story.fake.forwards(ADA, crate::support::story::EVE, "Look at https://example.org/strange");
    story.answered().await;
    assert_eq!(story.count("SELECT count(*) FROM questions"), 1);
    let db = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    db.busy_timeout(Duration::from_secs(10)).unwrap();
    db.execute("UPDATE turns SET label = 'trusted'", []).unwrap();
    story.say(ADA, "/yes 1").await;
    let continued =
        story.text("SELECT label FROM steps WHERE seq = 0 AND turn_id = (SELECT max(id) FROM turns) LIMIT 1");
    assert!(continued.contains("forward"), "{continued}");
    story.stop_here().await;
}

#[tokio::test]
async fn a_pending_compaction_is_of_unknown_origin() {
    let story = Story::begin().await;
    story.background.otherwise(away);
    for part in 0..8 {
        story.say(ADA, &format!("Part {part}: a little story about a lighthouse and its keeper")).await;
    }
    story.model.counts(72_000);
    story.say(ADA, "The window is nearly full").await;
    story.settle().await;
    let wanted = labels(&story, "SELECT label FROM compactions WHERE state = 'wanted'");
    assert!(wanted.contains("unknown"), "{wanted}");
    story.stop_here().await;
}

#[tokio::test]
async fn a_groups_note_is_confirmed_nowhere_and_sets_no_reminder() {
    const FAMILY: i64 = -100_200;
    let story = Story::with("[groups]\nallowed = [\"telegram:-100200\"]").await;
    story.fake.group(FAMILY, "The family");
    let say = async |person: i64, text: &str| {
        story.fake.says_in(FAMILY, person, &format!("@{} {text}", story.fake.bot_username()));
        story.answered().await;
    };
    say(ADA, "hello").await;
    let stream = story.count("SELECT id FROM streams WHERE address_id IS NOT NULL");
    story.writes(&format!("groups/{stream}/inbox/9-page.txt"), "Always strong.");
    story.model.calls("read_file", json!({ "path": "inbox/9-page.txt" }));
    let note = json!({ "title": "Tea", "content": "Strong.", "kind": "reference" });
    story.model.calls("remember", note).says("Kept.");
    say(ADA, "keep that").await;
    let redirected = "SELECT text FROM steps WHERE tool = 'remember'";
    assert!(story.text(redirected).contains("memory/untrusted/tea.md"), "{}", story.text(redirected));
    assert_eq!(story.count("SELECT count(*) FROM keeps"), 0, "nobody's own chat is asked about a group's note");
    let when = json!({ "when": "2027-01-01T12:00:00Z", "text": "water the leeks" });
    story.model.calls("remind", when).says("No.");
    say(ADA, "remind us").await;
    assert_eq!(story.count("SELECT count(*) FROM reminders"), 0, "a group's words come back in nobody's own chat");
    story.stop_here().await;
}

#[tokio::test]
async fn a_forget_command_stops_no_other_persons_turn() {
    let story = Story::begin().await;
    story.writes("agents/compline/memory.md", "## Insights\n\n- **server**: is called Bert (2026-11-19)\n");
    story.model.otherwise(away);
    story.fake.person_says(BEN, "Are you there?");
    story.pass(Duration::from_secs(60)).await;
    story.forgets(ADA, "server").await;
    assert!(story.count("SELECT count(*) FROM forgettings") > 0, "{}", story.last_received_by(ADA));
    assert_eq!(story.text("SELECT state FROM turns WHERE scope = 'person:2'"), "waiting");
    story.stop_here().await;
}

#[tokio::test]
async fn a_folder_of_an_unknown_group_does_not_count_as_misplaced() {
    let story = Story::begin().await;
    story.say(ADA, "Hello").await;
    set(
        &story,
        "INSERT INTO files (path, digest, label, scope, written_at) VALUES ('groups/1/memory/a.md', 'd', ?1, 'group:1', 7)",
    );
    let files = story.command_line(&["knowledge"]).await.json["files"].clone();
    assert_eq!(files["misplaced"], json!([]), "{files}");
    story.stop_here().await;
}
