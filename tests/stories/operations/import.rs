//! What comes from an archive of another program is text from outside, of one person, until it is
//! removed as one.

use std::path::Path;
use std::time::Duration;

use compline::store::CommitPoint::{After, Before};
use serde_json::{Value, json};

use crate::support::every_channel::{CrashTest, Story, TestChannel, on_every_channel};
use crate::support::model::words as prompt_words;
use crate::support::power::Cut;
use crate::support::story::{ADA, BEN, UNTRUSTED, canary, every_untrusted_part_is_labelled};

on_every_channel! {
    stories:
        an_imported_conversation_is_text_from_outside,
        an_import_belongs_to_one_person,
        a_removal_reaches_what_the_assistant_has_read_of_it,
        words_of_an_import_can_be_forgotten_alone;
    crash_tests:
        a_power_cut_during_an_import_is_made_good_by_the_same_command;
}

const NEXT_CONVERSATION: Duration = Duration::from_secs(7 * 3600);
const NEXT_DAY: Duration = Duration::from_secs(26 * 3600);

/// Claude's archive of conversations with that many messages each.
fn archive(conversations: usize, messages: usize) -> String {
    let message = |c: usize, m: usize| {
        let sender = if m.is_multiple_of(2) { "human" } else { "assistant" };
        json!({ "uuid": format!("m{c}-{m}"), "sender": sender, "created_at": "2025-03-02T15:59:30Z",
            "text": format!("{UNTRUSTED}loaf {c} rises for {m} hours, and it must never be baked before that time is over, says the old baker") })
    };
    let one = |c: usize| {
        json!({ "uuid": format!("c{c}"), "name": format!("Bread {c}"), "created_at": "2025-03-02T15:59:00Z",
            "chat_messages": (0..messages).map(|m| message(c, m)).collect::<Vec<Value>>() })
    };
    Value::Array((0..conversations).map(one).collect()).to_string()
}

fn written(folder: &Path, archive: &str) -> String {
    let path = folder.join("conversations.json");
    std::fs::write(&path, archive).unwrap();
    path.to_str().unwrap().to_owned()
}

async fn import(story: &Story, words: &[&str]) -> String {
    let answer = story.command_line(&[&["import"][..], words].concat()).await;
    assert!(!answer.failed, "{}", answer.markdown);
    answer.markdown
}

/// Everything in the journal that came with an import.
fn imported(story: &Story) -> String {
    let count = |sql: &str| story.count(sql);
    format!(
        "{} conversations, {} messages, {} found, {} fingerprints",
        count("SELECT count(*) FROM conversations WHERE kind = 'imported'"),
        count("SELECT count(*) FROM messages WHERE kind = 'imported' AND external_id <> ''"),
        count("SELECT count(*) FROM texts_fts WHERE texts_fts MATCH 'p1xloaf'"),
        count("SELECT count(*) > 0 FROM fingerprints"),
    )
}

/// Promise (trust/import): What you import counts as text from outside, whoever its archive names
/// as the writer. It starts no answer, is in no prompt and no summary by itself, and once the
/// assistant has read it you are asked as after any text from outside.
async fn an_imported_conversation_is_text_from_outside(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, &format!("hello {}", canary(ADA))).await;
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), &archive(2, 4));
    let (requests, background) = (story.model.requests().len(), story.background.requests().len());
    import(&story, &["survey", &path]).await;
    assert_eq!(imported(&story), "0 conversations, 0 messages, 0 found, 0 fingerprints", "a dry run");
    import(&story, &["read", &path]).await;
    story.settle().await;
    assert_eq!(imported(&story), "2 conversations, 8 messages, 8 found, 1 fingerprints");
    assert_eq!((requests, background), (story.model.requests().len(), story.background.requests().len()));
    let label = "SELECT group_concat(DISTINCT label || ' ' || scope) FROM texts WHERE message_id IN
         (SELECT id FROM messages WHERE kind = 'imported')";
    assert_eq!(story.text(label), "import:1 person:1");

    story.say(ADA, "how is the loaf?").await;
    assert!(!story.model.last_prompt().contains(UNTRUSTED), "{}", story.model.last_prompt());
    for span in [NEXT_CONVERSATION, NEXT_DAY] {
        story.pass(span).await;
        story.say(ADA, "good morning").await;
        assert!(!story.model.last_prompt().contains(UNTRUSTED), "{}", story.model.last_prompt());
    }
    assert!(story.background.requests().iter().all(|request| !prompt_words(request).contains(UNTRUSTED)));
    let summaries = "SELECT count(*) FROM summaries WHERE conversation_id IN (SELECT id FROM conversations WHERE kind = 'imported')";
    assert_eq!(story.count(summaries), 0);

    story.model.calls("read_conversation", json!({ "id": 2 })).says("It rises.");
    story.say(ADA, "look into the old talk about bread").await;
    let read = story.text("SELECT text FROM steps WHERE kind = 'tool' ORDER BY id DESC LIMIT 1");
    assert!(read.contains("imported from Claude") && read.contains("Bread 0"), "{read}");
    assert_eq!(story.text("SELECT label FROM turns ORDER BY id DESC LIMIT 1"), "import:1");
    story.model.calls("remind", json!({ "when": "2026-12-03 09:00", "text": "bake" })).says("It is set.");
    story.say(ADA, "remind me to bake").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("/yes 1") && told.contains("brought in from elsewhere"), "{told}");
    every_untrusted_part_is_labelled(&story);
    story.end().await;
}

/// Proves: trust/import
async fn an_import_belongs_to_one_person(channel: TestChannel) {
    let story = channel.begin_story().await;
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), &archive(1, 4));
    import(&story, &["read", &path, "--as", "Ben"]).await;
    let search = story.command_line(&["search", "--limit", "10", "--in", "messages", "--", "loaf"]).await;
    assert_eq!(search.json.as_array().unwrap().len(), 0, "the owner finds nothing: {}", search.markdown);
    let told = import(&story, &["read", &path]).await;
    assert!(told.contains("Import 2: 4 messages added for Ada"), "{told}");
    for (person, id, other) in [(ADA, 1, 2), (BEN, 2, 1)] {
        story.model.calls("read_conversation", json!({ "id": id })).says("No.");
        story.say(person, "look into the other's").await;
        let read = story.text("SELECT text FROM steps WHERE kind = 'tool' ORDER BY id DESC LIMIT 1");
        assert!(!read.contains("loaf"), "{read}");
        story.model.calls("read_conversation", json!({ "id": other })).says("Yes.");
        story.say(person, "look into mine").await;
        let read = story.text("SELECT text FROM steps WHERE kind = 'tool' ORDER BY id DESC LIMIT 1");
        assert!(read.contains("loaf"), "{read}");
    }
    import(&story, &["remove", "1"]).await;
    assert_eq!(story.count("SELECT count(*) FROM texts WHERE text LIKE '%loaf%' AND scope = 'person:1'"), 4);
    assert_eq!(story.count("SELECT count(*) FROM texts WHERE text LIKE '%loaf%' AND scope = 'person:2'"), 0);
    story.end().await;
}

/// Proves: forgetting/import
async fn a_removal_reaches_what_the_assistant_has_read_of_it(channel: TestChannel) {
    let story = channel.begin_story().await;
    let folder = tempfile::tempdir().unwrap();
    import(&story, &["read", &written(folder.path(), &archive(1, 4))]).await;
    story.model.calls("read_conversation", json!({ "id": 1 })).says("It rises.");
    story.say(ADA, "look into the old talk").await;
    let traces = "SELECT count(*) FROM steps WHERE text LIKE '%loaf%'";
    assert_eq!(story.count(traces), 1);
    import(&story, &["remove", "1"]).await;
    assert_eq!(imported(&story), "0 conversations, 0 messages, 0 found, 0 fingerprints");
    assert_eq!(story.count(traces), 0);
    assert_eq!(story.count("SELECT count(*) FROM texts WHERE text LIKE '%loaf%'"), 0);
    story.say(ADA, "and now?").await;
    assert!(!story.model.last_prompt().contains("loaf"), "{}", story.model.last_prompt());
    story.end().await;
}

/// Proves: forgetting/plan
async fn words_of_an_import_can_be_forgotten_alone(channel: TestChannel) {
    let story = channel.begin_story().await;
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), &archive(1, 4));
    import(&story, &["read", &path]).await;
    story.forgets(ADA, "loaf 0 rises for 2 hours messages").await;
    assert_eq!(story.count("SELECT count(*) FROM texts WHERE text LIKE '%for 2 hours%'"), 0);
    assert_eq!(story.count("SELECT count(*) FROM texts WHERE text LIKE '%for 3 hours%'"), 1);
    let again = import(&story, &["read", &path]).await;
    assert!(again.contains("Nothing new"), "it does not come back: {again}");
    story.end().await;
}

/// Promise (operation/import-crash): A power cut during an import leaves nothing that the same
/// command does not complete, and one during a removal is made good by the next start. An archive
/// imported twice brings nothing twice.
fn a_power_cut_during_an_import_is_made_good_by_the_same_command(channel: TestChannel) {
    for job in ["begin an import", "import conversations", "finish an import"] {
        for side in [Before, After] {
            completes_after(
                channel,
                Cut { side, job: Some(job), nth: if job == "import conversations" { 2 } else { 1 } },
            );
        }
    }
    for job in ["begin to remove an import", "remove an import", "end the removal of an import"] {
        for side in [Before, After] {
            removes_after(channel, Cut { side, job: Some(job), nth: if job == "remove an import" { 2 } else { 1 } });
        }
    }
}

/// Imports an archive of several batches and cuts the power there. The same command then leaves
/// each message once.
fn completes_after(channel: TestChannel, cut: Cut) {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), &archive(30, 20));
    let mut crash_test = channel.crash_test("");
    assert!(!crash_test.start(None));
    crash_test.cut_next(cut);
    let words = ["import".to_owned(), "read".to_owned(), path.clone()];
    assert!(
        crash_test.during(async {
            crash_test.story.app().admin.command_line(&words).await;
        }),
        "{cut:?}"
    );
    crash_test.revive();
    assert!(!crash_test.pass(Duration::from_secs(5)));
    let run = |words: &[String]| {
        assert!(!crash_test.during(async {
            let answer = crash_test.story.app().admin.command_line(words).await;
            assert!(!answer.failed, "{cut:?}: {}", answer.markdown);
        }));
    };
    run(&words);
    run(&words);
    let story = &crash_test.story;
    assert_eq!(imported(story), "30 conversations, 600 messages, 600 found, 1 fingerprints", "{cut:?}");
    assert_eq!(story.text("SELECT group_concat(state) FROM imports"), "done", "{cut:?}");
    crash_test.end();
}

/// Cuts the power during a removal. The next start finishes it, if it has begun.
fn removes_after(channel: TestChannel, cut: Cut) {
    let folder = tempfile::tempdir().unwrap();
    let words = ["import".to_owned(), "read".to_owned(), written(folder.path(), &archive(30, 20))];
    let mut crash_test = channel.crash_test("");
    assert!(!crash_test.start(None));
    let run = |crash_test: &CrashTest, words: &[String]| {
        crash_test.during(async {
            crash_test.story.app().admin.command_line(words).await;
        })
    };
    assert!(!run(&crash_test, &words));
    crash_test.cut_next(cut);
    let removal = ["import".to_owned(), "remove".to_owned(), "1".to_owned()];
    assert!(run(&crash_test, &removal), "{cut:?}");
    crash_test.revive();
    assert!(!crash_test.pass(Duration::from_secs(5)));
    let is_begun = (cut.job, cut.side) != (Some("begin to remove an import"), Before);
    let (left, state) = match is_begun {
        true => ("0 conversations, 0 messages, 0 found, 0 fingerprints", "gone"),
        false => ("30 conversations, 600 messages, 600 found, 1 fingerprints", "done"),
    };
    assert_eq!(imported(&crash_test.story), left, "{cut:?}");
    assert_eq!(crash_test.story.text("SELECT state FROM imports"), state, "{cut:?}");
    crash_test.end();
}
