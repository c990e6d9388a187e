//! `/forget`: deletes from files, index, summaries, prompts and on request from messages, verifies
//! the result, and reports it to the person.

use std::sync::Arc;
use std::time::Duration;

use compline::id::{PersonId, TurnId};
use compline::memory::{Author, ChangeOrigin, NewContent, PersonShare, Workspace};
use compline::people::{Party, Person, Role};
use compline::store::CommitPoint::{After, Before};
use compline::store::Node;
use compline::time::{Clock, Zone};
use compline::trust::{Label, Scope};

use crate::support::injected_events::journal_contains;
use crate::support::model::{Say, words};
use crate::support::power::{CrashTest, Cut};
use crate::support::story::{ADA, BEN, Story, canary, forget_command};

const SECRET: &str = "Xylophonemusik";
const MINUTE: Duration = Duration::from_secs(60);
const NEXT_CONVERSATION: Duration = Duration::from_secs(7 * 3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

fn person(id: i64, name: &str, role: Role) -> Party {
    Party::One(Person { id: PersonId(id), name: name.to_owned(), role })
}

fn ada() -> Party {
    person(1, "Ada", Role::Owner)
}

fn ben() -> Party {
    person(2, "Ben", Role::Member)
}

/// Writes a file in a person's folder through the only writer, as if a turn had written it.
async fn writes(story: &Story, who: Party, path: &str, text: &str, turn: Option<i64>) {
    let origin = ChangeOrigin {
        who,
        label: Label::trusted(),
        author: Author::Assistant,
        cause: "remember",
        from: turn.map(|id| Node::Turn(TurnId(id))).into_iter().collect(),
        person: PersonShare::default(),
        now: story.clock.now(),
    };
    let text = text.to_owned();
    let (workspace, experience) = (story.home.join("workspace"), story.home.join("experience"));
    let tree = Workspace::new(workspace, experience, story.app().journal.clone(), Zone::UTC);
    tree.versions().change(&origin, path, move |_| Ok(NewContent::Text(text.clone()))).await.unwrap();
}

/// Writes a note about the safe, its index line, and a fact with the same content.
async fn a_note_is_kept(story: &Story, who: Party, turn: Option<i64>) {
    let note = format!(
        "---\nname: The safe\ndescription: how it opens\ntype: reference\n---\n\nIt opens with {SECRET} 4711.\n"
    );
    writes(story, who.clone(), "memory/the-safe.md", &note, turn).await;
    let memory = format!(
        "# Memory\n\n## Recent facts\n- **car**: it is blue and old\n- **note**: It opens with {SECRET} 4711.\n\n## Index\n- [Tea](tea.md): how to make it\n- [The safe](the-safe.md): how it opens\n"
    );
    writes(story, who, "memory/MEMORY.md", &memory, turn).await;
}

/// Inserts the index rows of the note.
fn is_indexed(story: &Story, path: &str, scope: &str) {
    let db = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    db.busy_timeout(Duration::from_secs(5)).unwrap();
    db.execute(
        "INSERT OR REPLACE INTO indexed (path, scope, stamp, digest, label, size, at) VALUES (?1, ?2, 's', 'd', 'trusted', 1, 1)",
        [path, scope],
    )
    .unwrap();
    db.execute(
        "INSERT INTO entries (key, path, section, line, name, kind, text, digest, label, scope, at)
         VALUES (?2 || ?1, ?1, '', 1, 'The safe', 'note', ?3, 'd' || ?2, 'trusted', ?2, 1)",
        [path, scope, &format!("It opens with {SECRET} 4711.")],
    )
    .unwrap();
    db.execute(
        "INSERT INTO entries_fts (rowid, name, body, place) SELECT id, name, text, 'x' FROM entries WHERE path = ?1",
        [path],
    )
    .unwrap();
}

fn found(story: &Story, of: i64, query: &str) -> usize {
    let scope = Scope::Person(PersonId(of));
    story.app().journal.read_now(|db| crate::support::search::find(db, scope, query, true, 20)).unwrap().hits.len()
}

/// Ada sends the secret, the assistant saves a note of it, and the summary of the conversation
/// contains it.
async fn a_secret_is_told() -> Story {
    let story = Story::begin().await;
    story.background.otherwise(|_| {
        Say::Text(format!(
            "{{\"title\": \"The safe\", \"topics\": [\"locks\"], \"decisions\": [\"The safe: {SECRET} 4711\"], \"preferences\": [\"tea\"]}}"
        ))
    });
    story.say(ADA, &format!("Please note: it opens with {SECRET} 4711. {}", canary(ADA))).await;
    a_note_is_kept(&story, ada(), Some(1)).await;
    is_indexed(&story, "memory/the-safe.md", "person:1");
    story.pass(NEXT_CONVERSATION).await;
    story.say(ADA, "Good morning").await;
    assert!(story.model.last_prompt().contains(SECRET), "the summary and the memory are in the prompt");
    story
}

/// Promise (forgetting/forget): `/forget` removes a note or fact from files, versions, search,
/// summaries and prompts, and from messages if you ask for it, and confirms by a search that it is
/// gone.
#[tokio::test]
async fn a_note_is_forgotten_everywhere_but_in_what_was_said() {
    let story = a_secret_is_told().await;
    story.forgets(ADA, "the-safe").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("Forgotten: 1 note, 2 lines") && told.contains("Still in 1 message"), "{told}");
    assert!(told.contains("/forget 1 messages") && told.contains("Backups") && !told.contains(SECRET), "{told}");
    assert!(!story.home.join("workspace/memory/the-safe.md").exists());
    let memory = story.reads("memory/MEMORY.md");
    assert!(
        !memory.contains(SECRET)
            && !memory.contains("the-safe")
            && memory.contains("blue")
            && memory.contains("tea.md")
    );
    for sql in [
        "SELECT count(*) FROM entries WHERE path = 'memory/the-safe.md'",
        "SELECT count(*) FROM summaries WHERE decisions LIKE '%Xylo%' OR topics LIKE '%Xylo%'",
        "SELECT count(*) FROM conversations WHERE opening LIKE '%Xylo%'",
        "SELECT count(*) FROM turns WHERE context LIKE '%Xylo%' OR recalled LIKE '%Xylo%'",
        "SELECT count(*) FROM file_contents WHERE CAST(content AS TEXT) LIKE '%Xylo%'",
        "SELECT count(*) FROM files WHERE path LIKE '%safe%'",
    ] {
        assert_eq!(story.count(sql), 0, "{sql}");
    }
    assert_eq!(
        story.count("SELECT count(*) FROM summaries WHERE preferences LIKE '%tea%' AND topics LIKE '%locks%'"),
        1
    );
    assert_eq!(found(&story, 1, SECRET), 1, "what was said stays until it is asked for");
    let before = story.model.asked();
    story.say(ADA, "And what now?").await;
    let prompt: String = story.model.requests_since(before).iter().map(words).collect();
    assert!(!prompt.contains(SECRET) && prompt.contains("Good morning") && prompt.contains("blue"), "{prompt}");
    story.end().await;
}

/// Proves: forgetting/forget
#[tokio::test]
async fn with_its_messages_nothing_holds_it_and_a_search_proves_it() {
    let mut story = a_secret_is_told().await;
    story.forgets(ADA, "the-safe").await;
    story.say(ADA, "/forget 1 messages").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("A search for it finds nothing any more.") && told.contains("message"), "{told}");
    assert_eq!((found(&story, 1, SECRET), found(&story, 1, "Good morning")), (0, 1));
    assert_eq!(story.text("SELECT state || ' ' || needles || target FROM forgettings"), "done []");
    assert!(!journal_contains(&story, SECRET), "the words are still in the journal");
    story.say(ADA, "/forget 1").await;
    assert!(story.last_received_by(ADA).contains("Nothing of it is left"), "{}", story.last_received_by(ADA));
    story.restart().await;
    let before = story.model.asked();
    story.say(ADA, "And now?").await;
    let prompt: String = story.model.requests_since(before).iter().map(words).collect();
    assert!(!prompt.contains(SECRET), "{prompt}");
    story.end().await;
}

/// Proves: forgetting/forget
#[tokio::test]
async fn at_once_with_its_messages_by_title() {
    let story = a_secret_is_told().await;
    story.forgets(ADA, "The safe messages").await;
    assert!(
        story.last_received_by(ADA).contains("A search for it finds nothing any more."),
        "{}",
        story.last_received_by(ADA)
    );
    assert!(!journal_contains(&story, SECRET));
    story.end().await;
}

/// Proves: forgetting/forget
#[tokio::test]
async fn forgotten_words_are_not_sent_to_a_later_summary() {
    let story = Story::begin().await;
    let asked = Arc::new(std::sync::Mutex::new(String::new()));
    let heard = Arc::clone(&asked);
    story.background.otherwise(move |request| {
        heard.lock().unwrap().push_str(&words(request));
        Say::Text("{\"title\": \"Talk\"}".to_owned())
    });
    story.say(ADA, &format!("It opens with {SECRET} 4711.")).await;
    story.say(ADA, "The bread is in the oven.").await;
    a_note_is_kept(&story, ada(), Some(1)).await;
    story.forgets(ADA, "the-safe").await;
    story.pass(NEXT_CONVERSATION).await;
    let asked = asked.lock().unwrap().clone();
    assert!(asked.contains("bread") && !asked.contains(SECRET), "{asked}");
    story.end().await;
}

/// Proves: forgetting/forget
#[tokio::test]
async fn a_fact_is_forgotten_by_its_key_with_every_value_that_it_had() {
    let story = Story::begin().await;
    let memory =
        |value: &str| format!("# Memory\n\n## Recent facts\n- **car**: blue\n- **Shoe size**: {value} (2026-11-20)\n");
    writes(&story, ada(), "memory/MEMORY.md", &memory("41 and a half"), None).await;
    writes(&story, ada(), "memory/MEMORY.md", &memory("42"), None).await;
    writes(&story, ada(), "agents/compline/memory.md", "## Insights\n- **shoe size**: 42\n- **pace**: slow\n", None)
        .await;
    story.say(ADA, "The answer is 42.").await;
    assert!(story.model.last_prompt().contains("Shoe size"));
    story.forgets(ADA, "shoe size").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("2 lines") && told.contains("finds nothing any more"), "{told}");
    assert!(!story.reads("memory/MEMORY.md").contains("42") && story.reads("memory/MEMORY.md").contains("blue"));
    assert_eq!(story.reads("agents/compline/memory.md"), "## Insights\n- **pace**: slow\n");
    let kept = "SELECT count(*) FROM file_contents WHERE CAST(content AS TEXT) LIKE '%shoe size%'";
    assert_eq!((story.count(kept), found(&story, 1, "answer 42")), (0, 1));
    story.say(ADA, "So?").await;
    assert!(!story.model.last_prompt().contains("Shoe size") && story.model.last_prompt().contains("answer is 42"));
    story.end().await;
}

/// Proves: forgetting/forget
#[tokio::test]
async fn forgetting_removes_nothing_of_another_person() {
    let story = Story::begin().await;
    for (person, who, scope, folder) in [(ADA, ada(), "person:1", ""), (BEN, ben(), "person:2", "people/2-ben/")] {
        story.say(person, &format!("It opens with {SECRET} 4711.")).await;
        a_note_is_kept(&story, who, None).await;
        is_indexed(&story, &format!("{folder}memory/the-safe.md"), scope);
    }
    let of_ada = "SELECT count(*) FROM entries WHERE scope = 'person:1'";
    let before = story.count(of_ada);
    story.forgets(BEN, "the-safe messages").await;
    assert!(story.last_received_by(BEN).contains("finds nothing any more"), "{}", story.last_received_by(BEN));
    assert!(story.reads("memory/the-safe.md").contains(SECRET) && story.reads("memory/MEMORY.md").contains(SECRET));
    assert!(!story.home.join("workspace/people/2-ben/memory/the-safe.md").exists());
    assert_eq!((found(&story, 1, SECRET), found(&story, 2, SECRET)), (1, 0));
    assert!(before > 0 && story.count(of_ada) == before);
    let kept = "SELECT count(*) FROM file_contents c JOIN files f ON f.id = c.file_id WHERE CAST(c.content AS TEXT) LIKE '%Xylo%' AND f.scope =";
    assert_eq!((story.count(&format!("{kept} 'person:1'")), story.count(&format!("{kept} 'person:2'"))), (2, 0));
    story.forgets(BEN, "the-safe").await;
    assert!(story.last_received_by(BEN).contains("There is no note"), "{}", story.last_received_by(BEN));
    story.end().await;
}

/// Proves: forgetting/forget
#[tokio::test]
async fn a_persons_own_text_survives_forgetting_and_reminders_go_with_the_messages() {
    let story = Story::begin().await;
    story.say(ADA, "Hello").await;
    std::fs::write(story.home.join("workspace/USER.md"), format!("It opens with {SECRET} 4711.\n")).unwrap();
    a_note_is_kept(&story, ada(), None).await;
    let at = story.clock.now().plus(DAY).rfc3339();
    let words = format!("It opens with {SECRET} 4711.");
    story.model.calls("remind", serde_json::json!({ "when": at, "text": words })).says("I will.");
    story.say(ADA, "Remind me").await;
    story.forgets(ADA, "the-safe").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("Still in 1 reminder: /forget 1 messages") && told.contains("Still in USER.md"), "{told}");
    assert!(!told.contains("finds nothing"), "{told}");
    assert_eq!(story.count("SELECT count(*) FROM reminders WHERE state = 'waiting' AND text LIKE '%Xylo%'"), 1);
    assert_eq!(story.count("SELECT count(*) FROM steps WHERE call LIKE '%Xylo%'"), 0, "the call that made it is gone");
    story.say(ADA, "/forget 1 messages").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("1 reminder") && !told.contains("Still in 1 reminder"), "{told}");
    assert!(told.contains("Still in USER.md") && story.reads("USER.md").contains(SECRET), "{told}");
    assert_eq!(story.text("SELECT state || text FROM reminders"), "cancelled");
    story.end().await;
}

/// Proves: forgetting/forget
#[test]
fn it_is_forgotten_whenever_the_power_goes() {
    let jobs = [
        "want something forgotten",
        "count what is forgotten",
        "forget a file",
        "forget messages",
        "forget copies",
        "merge the index",
        "end a forgetting",
    ];
    for (side, job) in jobs.into_iter().flat_map(|job| [(Before, job), (After, job)]) {
        let mut crash_test = CrashTest::prepared("");
        assert!(!crash_test.start(None));
        assert!(
            !crash_test.during(crash_test.story.say(ADA, &format!("It opens with {SECRET} 4711. {}", canary(ADA))))
        );
        assert!(!crash_test.during(a_note_is_kept(&crash_test.story, ada(), Some(1))));
        assert!(!crash_test.during(crash_test.story.say(ADA, "/forget the-safe messages")));
        let command = forget_command(&crash_test.story.last_received_by(ADA)).unwrap();
        crash_test.cut_next(Cut::at(side, job));
        crash_test.story.fake.says(ADA, &command);
        assert!(crash_test.pass(MINUTE), "{side:?} {job} never came");
        crash_test.revive();
        assert!(!crash_test.pass(MINUTE));
        let story = &crash_test.story;
        assert!(!story.home.join("workspace/memory/the-safe.md").exists(), "{side:?} {job}");
        assert!(!story.reads("memory/MEMORY.md").contains(SECRET), "{side:?} {job}");
        assert!(!journal_contains(story, SECRET), "{side:?} {job}: the words are still in the journal");
        assert_eq!(story.count("SELECT count(*) FROM forgettings WHERE state <> 'done'"), 0, "{side:?} {job}");
        crash_test.end();
    }
}

/// Proves: forgetting/plan
#[tokio::test]
async fn a_button_carries_out_exactly_the_plan_above_it() {
    let story = Story::begin().await;
    story.writes("memory/boiler.md", "# Boiler\n\nRepaired by Quittenbaum in May.\n");
    story.say(ADA, "/forget boiler").await;
    let shown = story.fake.sent(ADA).pop().unwrap();
    let (title, command) = shown.buttons().first().unwrap().clone();
    assert_eq!((title.as_str(), Some(command.clone())), ("Delete all of this", forget_command(&shown.text)));
    story.fake.presses(ADA, shown.message_id, &command);
    story.answered().await;
    assert!(story.last_received_by(ADA).contains("Forgotten: 1 note"), "{}", story.last_received_by(ADA));
    assert!(!story.home.join("workspace/memory/boiler.md").exists());
    story.end().await;
}
