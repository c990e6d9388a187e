//! Export and erasure of a whole person, without touching the data of anyone else.

use std::time::Duration;

use serde_json::json;

use crate::support::injected_events::journal_contains;
use crate::support::model::Say;
use crate::support::story::{ADA, BEN, EVE, Story, UNTRUSTED, canary};

const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);
const NEXT_CONVERSATION: Duration = Duration::from_secs(7 * 3600);

/// Ada and Ben write, each with a canary, and their conversations are summarised.
async fn both_talked(settings: &str) -> Story {
    let story = Story::with(settings).await;
    story.background.otherwise(|request| {
        let who = if request.scope().encode() == "person:2" { BEN } else { ADA };
        Say::Text(format!("{{\"title\": \"About {}\", \"topics\": [\"{}\"]}}", canary(who), canary(who)))
    });
    for person in [ADA, BEN] {
        story.model.says(&format!("I see, {}", canary(person)));
        story.say(person, &format!("This is {}", canary(person))).await;
        let at = "2027-01-01T12:00:00Z";
        story.model.calls("remind", json!({ "when": at, "text": canary(person) })).says("I will.");
        story.say(person, "Remind me").await;
    }
    for (folder, person) in [("", ADA), ("people/2-ben/", BEN)] {
        for file in ["memory/note.md", "documents/plan.txt"] {
            let path = story.home.join("workspace").join(format!("{folder}{file}"));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, canary(person)).unwrap();
        }
        let beside = story.home.join("experience").join(folder);
        std::fs::create_dir_all(&beside).unwrap();
        std::fs::write(beside.join("default.md"), canary(person)).unwrap();
    }
    story.pass(NEXT_CONVERSATION).await;
    story
}

/// Names and contents of an archive.
fn unpacked(bytes: &[u8]) -> Vec<(String, String)> {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
    let mut files = Vec::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).unwrap();
        let (name, mut text) = (entry.name().unwrap().into_owned(), Vec::new());
        std::io::Read::read_to_end(&mut entry, &mut text).unwrap();
        files.push((name, String::from_utf8_lossy(&text).into_owned()));
    }
    files
}

/// Names of the archived files that hold a person's canary.
fn holding(files: &[(String, String)], person: i64) -> Vec<&str> {
    files.iter().filter(|(_, text)| text.contains(&canary(person))).map(|(name, _)| name.as_str()).collect()
}

/// Proves: forgetting/person
#[tokio::test]
async fn an_export_contains_all_of_a_persons_data_and_no_other() {
    let story = both_talked("").await;
    story.model.calls("remind", json!({ "when": "in 1 hour", "text": "the heron" })).says("I will.");
    story.say(BEN, "remind me of the heron").await;
    let task = json!({ "cron": "0 13 * * *", "task": "count the herons of the lake" });
    story.model.calls("schedule", task).says("Every day at one.");
    story.say(BEN, "count the herons of the lake every day at one").await;
    story.pass(Duration::from_secs(2 * 3600)).await;
    story.say(BEN, "/settings timezone Europe/Lisbon").await;
    story.say(BEN, "/export").await;
    let sent = story.fake.sent(BEN).into_iter().filter_map(|sent| sent.file).next_back().unwrap();
    assert!(sent.name.ends_with(".zip"), "phones open it: {}", sent.name);
    let files = unpacked(&sent.bytes);
    let settings = files.iter().find(|(name, _)| name == "settings.json").map(|(_, text)| text.as_str());
    assert_eq!(settings, Some("{\"language\":\"en\",\"timezone\":\"Europe/Lisbon\"}"));
    let of_ben = holding(&files, BEN);
    for name in [
        "conversations/000002.md",
        "messages.jsonl",
        "summaries.jsonl",
        "reminders.jsonl",
        "knowledge/memory/note.md",
        "knowledge/documents/plan.txt",
        "experience/default.md",
    ] {
        assert!(of_ben.contains(&name), "{name} is missing in {of_ben:?}");
    }
    assert_eq!(holding(&files, ADA), Vec::<&str>::new());
    let of_tasks = files.iter().filter(|(name, text)| {
        name.starts_with("conversations/") && *name != "conversations/000002.md" && text.contains("count the herons")
    });
    assert_eq!(of_tasks.count(), 1, "the run of a task is a conversation of its own: {of_ben:?}");
    let line: serde_json::Value = serde_json::from_str(
        files.iter().find(|(name, _)| name == "messages.jsonl").unwrap().1.lines().next().unwrap(),
    )
    .unwrap();
    assert_eq!((line["from"].as_str(), line["conversation"].as_i64()), (Some("Ben"), Some(2)));
    let messages = &files.iter().find(|(name, _)| name == "messages.jsonl").unwrap().1;
    let rang = messages.lines().find(|line| line.contains("**Reminder:** the heron"));
    assert!(rang.is_some_and(|line| line.contains("\"cause\":\"reminder")), "what was sent by itself: {messages}");
    story.end().await;
}

/// Proves: forgetting/person
#[tokio::test]
async fn the_archive_lies_in_their_folder_for_a_week() {
    let story = both_talked("").await;
    story.say(BEN, "/export").await;
    let folder = story.home.join("workspace/people/2-ben/exports");
    let lies = || std::fs::read_dir(&folder).map_or(0, Iterator::count);
    assert_eq!(lies(), 1);
    assert_eq!(
        story.count("SELECT count(*) FROM files WHERE path LIKE 'people/2-ben/exports/%' AND label <> 'trusted'"),
        1
    );
    story.pass(WEEK - Duration::from_secs(24 * 3600)).await;
    assert_eq!(lies(), 1);
    for _ in 0..3 {
        story.pass(Duration::from_secs(24 * 3600)).await;
    }
    assert_eq!(lies(), 0);
    story.end().await;
}

/// Proves: forgetting/person
#[tokio::test]
async fn an_owners_archive_holds_nothing_of_the_others() {
    let story = both_talked("").await;
    let file = story.home.join("ada.zip");
    let answer = story.command_line(&["export", "Ada", file.to_str().unwrap()]).await;
    assert!(!answer.failed, "{}", answer.markdown);
    let files = unpacked(&std::fs::read(&file).unwrap());
    assert!(holding(&files, ADA).len() >= 7 && holding(&files, BEN).is_empty(), "{:?}", holding(&files, BEN));
    let again = story.command_line(&["export", "Ada", file.to_str().unwrap()]).await;
    assert!(again.failed && again.markdown.contains("cannot be written"), "{}", again.markdown);
    story.end().await;
}

#[tokio::test]
async fn an_export_too_large_for_the_chat_is_reported() {
    let story = both_talked("").await;
    let large = story.home.join("workspace/people/2-ben/film.bin");
    std::fs::write(&large, vec![7; 15_000_000]).unwrap();
    story.say(BEN, "/export").await;
    assert!(story.last_received_by(BEN).contains("compline export NAME FILE"), "{}", story.last_received_by(BEN));
    assert!(story.fake.sent(BEN).iter().all(|sent| sent.file.is_none()));
    story.end().await;
}

/// Proves: forgetting/person
#[tokio::test]
async fn a_configured_person_must_leave_the_configuration_before_being_forgotten() {
    let story = both_talked("").await;
    let answer = story.command_line(&["forget", "Ben", "--yes"]).await;
    assert!(answer.failed && answer.markdown.contains("is set in the configuration"), "{}", answer.markdown);
    let answer = story.command_line(&["forget", "Zoe", "--yes"]).await;
    assert!(answer.failed && answer.markdown.contains("Nobody"), "{}", answer.markdown);
    assert!(journal_contains(&story, &canary(BEN)));
    story.end().await;
}

/// Promise (forgetting/person): A person can be forgotten completely, only by a deliberate step,
/// and the result is verified. Each person can export their own data and no one else's.
#[tokio::test]
async fn a_person_is_forgotten_as_a_whole_and_it_is_proved() {
    let mut story = both_talked("").await;
    for line in ["/settings timezone Europe/Lisbon", "/settings language de"] {
        story.say(BEN, line).await;
    }
    let kept = "SELECT count(*) FROM people WHERE id = 2 AND own_zone || own_language || channel_language <> ''";
    assert_eq!(story.count(kept), 1);
    story.stop().await;
    story.only_ada();
    story.start().await;
    let answer = story.command_line(&["forget", "Ben", "--yes"]).await;
    assert!(!answer.failed, "{}", answer.markdown);
    assert_eq!(answer.json["left"], json!([]), "{}", answer.json);
    assert_eq!(story.count(kept), 0, "settings are left");
    assert!(
        answer.json["forgotten"].as_u64() >= Some(3) && answer.json["messages"].as_u64() >= Some(2),
        "{}",
        answer.json
    );
    assert!(
        !story.home.join("workspace/people/2-ben").exists() && !story.home.join("experience/people/2-ben").exists()
    );
    story.stop().await;
    assert!(!journal_contains(&story, &canary(BEN)), "words of Ben are still in the journal");
    assert!(!journal_contains(&story, &BEN.to_string()), "Ben's number is still in the journal");
    assert!(journal_contains(&story, &canary(ADA)), "something of Ada went with it");
    assert_eq!(std::fs::read_to_string(story.home.join("workspace/memory/note.md")).unwrap(), canary(ADA));
    assert!(story.count("SELECT count(*) FROM spending WHERE person_id = 2 AND input_tokens > 0") > 0);
    story.start().await;
    story.say(ADA, "Hello again").await;
    story.say(BEN, "Do you know me?").await;
    assert_eq!(story.count("SELECT count(*) FROM messages WHERE person_id = 2 AND received_at > (SELECT max(wanted_at) FROM forgettings)"), 0);
    assert!(!story.model.last_prompt().contains(UNTRUSTED));
    story.end().await;
}

/// Proves: forgetting/person
#[tokio::test]
async fn a_notice_that_names_the_address_of_a_forgotten_person_is_deleted() {
    let story = Story::begin().await;
    story.say(ADA, "/pair Zoe").await;
    let told = story.last_received_by(ADA);
    let is_code = |word: &&str| word.len() == 9 && word.as_bytes()[4] == b'-' && word.to_uppercase() == **word;
    let code = told.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').find(is_code).unwrap();
    story.say(EVE, &format!("/start {code}")).await;
    story.say(EVE, "hello").await;
    let notice = format!(
        "SELECT count(*) FROM messages m JOIN texts t ON t.message_id = m.id WHERE m.kind = 'sent' AND t.text LIKE '%{EVE}%'"
    );
    assert!(story.count(&notice) > 0, "{:?}", story.received_by(ADA));
    story.say(ADA, "/remove Zoe").await;
    let answer = story.command_line(&["forget", "Zoe", "--yes"]).await;
    assert!(!answer.failed, "{}", answer.markdown);
    assert_eq!(story.count(&notice), 0);
    story.end().await;
}
