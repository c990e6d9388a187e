//! Deleted and expired messages: erased from prompts, search, the journal's file and the disk;
//! nothing else is.

use std::time::Duration;

use compline::id::PersonId;
use compline::message::{Event, FileKind, MessageContent, RemoteFile, TextOrigin};
use compline::model::Request;
use compline::time::Clock;
use compline::trust::Scope;

use crate::support::injected_events::{
    comes, comes_meanwhile, deleted, expiring_message, journal_contains, journal_contains_text, message_event,
};
use crate::support::model::{Say, usual, words};
use crate::support::story::{ADA, BEN, Story, UNTRUSTED, canary};

const SECRET: &str = "Xylophonemusik";
const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 3600);
const NEXT_CONVERSATION: Duration = Duration::from_secs(7 * 3600);
const GONE: &str = "(This message is gone";

/// Ada sends a secret and a second message; both are answered.
async fn a_secret_is_told(story: &Story) {
    comes(story, ADA, "m1", message_event(&format!("The word is {SECRET}."))).await;
    story.answered().await;
    comes(story, ADA, "m2", message_event("The bread is in the oven.")).await;
    story.answered().await;
}

/// Story in which the assistant can already write to Ada.
async fn acquainted() -> Story {
    let story = Story::begin().await;
    story.say(ADA, "Hello").await;
    story
}

fn found(story: &Story, query: &str) -> usize {
    let scope = Scope::Person(PersonId(1));
    story.app().journal.read_now(|db| crate::support::search::find(db, scope, query, true, 20)).unwrap().hits.len()
}

/// Prompts from number `count` on, as text.
fn prompts_since(story: &Story, count: usize) -> String {
    story.model.requests_since(count).iter().chain(&story.background.requests()).map(words).collect()
}

fn is_shown_as_gone(request: &Request) -> bool {
    words(request).contains(GONE)
}

/// Proves: forgetting/deleted-message
#[tokio::test]
async fn a_deleted_message_is_gone_from_prompts_and_from_search_and_its_place_stays() {
    let story = Story::begin().await;
    a_secret_is_told(&story).await;
    comes(&story, ADA, "d1", deleted("m1")).await;
    let before = story.model.asked();
    comes(&story, ADA, "m3", message_event("What did I say?")).await;
    story.answered().await;
    let prompt = prompts_since(&story, before);
    assert!(!prompt.contains(SECRET) && prompt.contains("bread") && prompt.matches(GONE).count() == 1, "{prompt}");
    assert_eq!((found(&story, SECRET), found(&story, "bread oven")), (0, 1));
    assert_eq!(story.count("SELECT count(*) FROM messages WHERE kind = 'said' AND state = 'answered'"), 3);
    story.end().await;
}

/// Proves: forgetting/deleted-message
#[tokio::test]
async fn a_restart_shows_the_same_without_the_deleted_words() {
    let mut story = Story::begin().await;
    a_secret_is_told(&story).await;
    comes(&story, ADA, "d1", deleted("m1")).await;
    story.restart().await;
    comes(&story, ADA, "m3", message_event("What did I say?")).await;
    story.answered().await;
    let prompt = story.model.last_prompt();
    assert!(!prompt.contains(SECRET) && is_shown_as_gone(story.model.chats().last().unwrap()), "{prompt}");
    story.end().await;
}

/// Proves: forgetting/deleted-message
#[tokio::test]
async fn deleted_words_are_gone_from_the_journals_file() {
    let mut story = Story::begin().await;
    a_secret_is_told(&story).await;
    story.model.calls("memory_search", serde_json::json!({ "in": "conversations", "query": SECRET })).says("I looked.");
    comes(&story, ADA, "m3", message_event(&format!("Look {SECRET} up"))).await;
    story.answered().await;
    comes(&story, ADA, "e3", Event::Edited { message: "m3".to_owned(), content: edit(), new_id: None }).await;
    comes(&story, ADA, "d1", deleted("m1")).await;
    comes(&story, ADA, "d3", deleted("m3")).await;
    story.settle().await;
    assert!(!journal_contains_text(&story, SECRET), "the words are still in the journal");
    assert!(journal_contains(&story, "bread"), "something else went with them");
    story.pass(DAY).await;
    story.stop().await;
    assert!(!journal_contains(&story, SECRET), "after a night the indexes have let go of them too");
    story.end().await;
}

fn edit() -> MessageContent {
    MessageContent { text: format!("Look the word {SECRET} up, please"), ..MessageContent::default() }
}

/// Proves: forgetting/deleted-message
#[tokio::test]
async fn a_pending_message_is_not_answered_once_deleted() {
    let story = Story::begin().await;
    comes(&story, ADA, "m1", message_event(SECRET)).await;
    comes(&story, ADA, "d1", deleted("m1")).await;
    story.pass(MINUTE).await;
    assert_eq!((story.model.asked(), story.received_by(ADA).len()), (0, 0));
    assert_eq!(story.text("SELECT state || ' ' || reason FROM messages"), "closed deleted");
    story.end().await;
}

/// Proves: forgetting/deleted-message
#[tokio::test]
async fn a_turn_that_has_nothing_left_to_answer_ends() {
    let story = Story::begin().await;
    story.model.then(Say::Grow((0..9).map(|_| (Duration::from_secs(2), SECRET.to_owned())).collect()));
    comes(&story, ADA, "m1", message_event(&format!("The word is {SECRET}."))).await;
    story.clock.advance(Duration::from_secs(5)).await;
    comes_meanwhile(&story, ADA, "d1", deleted("m1")).await;
    story.pass(MINUTE).await;
    assert_eq!(
        (story.received_by(ADA).len(), story.text("SELECT state || ' ' || reason FROM turns")),
        (0, "stopped deleted".to_owned())
    );
    assert_eq!(story.count("SELECT count(*) FROM steps WHERE text <> '' OR call NOT IN ('', '[]')"), 0);
    story.end().await;
}

/// Proves: forgetting/deleted-message
#[tokio::test]
async fn a_message_joined_with_a_deleted_one_is_still_answered() {
    let story = acquainted().await;
    comes(&story, ADA, "m1", message_event(SECRET)).await;
    comes(&story, ADA, "m2", message_event("The bread is in the oven.")).await;
    comes(&story, ADA, "d1", deleted("m1")).await;
    story.answered().await;
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("bread") && !prompt.contains(SECRET), "{prompt}");
    assert_eq!(story.received_by(ADA), ["ok", "ok"]);
    story.end().await;
}

/// Proves: forgetting/deleted-message
#[tokio::test]
async fn a_message_can_only_be_deleted_by_its_sender() {
    let story = Story::begin().await;
    a_secret_is_told(&story).await;
    comes(&story, BEN, "d1", deleted("m1")).await;
    let ours = story.text("SELECT external_id FROM parts LIMIT 1");
    comes(&story, ADA, "d2", deleted(&ours)).await;
    comes(&story, ADA, "d3", deleted("m99")).await;
    assert_eq!((story.count("SELECT count(*) FROM messages WHERE gone_at IS NOT NULL"), found(&story, SECRET)), (0, 1));
    story.end().await;
}

#[tokio::test]
async fn a_message_that_was_deleted_before_it_came_is_not_let_in() {
    let story = Story::begin().await;
    comes(&story, ADA, "d1", deleted("m1")).await;
    comes(&story, ADA, "m1", message_event(SECRET)).await;
    story.pass(MINUTE).await;
    assert_eq!((story.model.asked(), story.count("SELECT count(*) FROM messages")), (0, 0));
    assert_eq!(story.count("SELECT count(*) FROM inbox WHERE raw LIKE '%Xylo%'"), 0);
    story.end().await;
}

#[tokio::test]
async fn only_the_newest_deletions_of_unknown_messages_are_remembered() {
    let story = Story::begin().await;
    for n in 0..130 {
        comes(&story, ADA, &format!("d{n}"), deleted(&format!("m{n}"))).await;
    }
    assert_eq!(story.count("SELECT count(*) FROM deleted_ahead"), 100);
    assert_eq!(story.count("SELECT count(*) FROM deleted_ahead WHERE external_id = 'm129'"), 1);
    story.end().await;
}

/// Proves: forgetting/deleted-message
#[tokio::test]
async fn summaries_that_are_made_later_know_nothing_of_it() {
    let story = Story::begin().await;
    // The model fails for a while, so a verbatim extract stands in for the summary.
    let away = || Say::Fail(compline::model::ModelError::Later { after: None, what: "away".to_owned() });
    story.background.otherwise(move |_| away());
    a_secret_is_told(&story).await;
    story.pass(NEXT_CONVERSATION).await;
    assert!(story.count("SELECT count(*) FROM summaries WHERE state = 'standin'") > 0);
    comes(&story, ADA, "d1", deleted("m1")).await;
    let told =
        "SELECT count(*) FROM summaries WHERE title || topics || pending || decisions || preferences LIKE '%Xylo%'";
    let standins = "SELECT count(*) FROM summaries WHERE state = 'standin'";
    assert_eq!((story.count(told), story.count(standins)), (0, 1), "the stand-in is not made anew");
    let asked = story.background.asked();
    story.background.otherwise(usual);
    story.pass(Duration::from_secs(8 * 3600)).await;
    let since: String = story.background.requests_since(asked).iter().map(words).collect();
    assert!(since.contains("bread") && !since.contains(SECRET), "{since}");
    assert_eq!(story.count(told), 0);
    story.end().await;
}

/// Proves: forgetting/deleted-message
#[tokio::test]
async fn a_deleted_file_is_gone_from_the_disk() {
    let story = Story::begin().await;
    let reference = story.fake.file(format!("{UNTRUSTED} {SECRET}").as_bytes());
    let file = RemoteFile {
        kind: FileKind::Document,
        reference,
        mime: "text/plain".to_owned(),
        name: "Quakenbrueck.txt".to_owned(),
        size: None,
    };
    let with_file =
        MessageContent { text: canary(ADA), origin: TextOrigin::Typed, files: vec![file], ..MessageContent::default() };
    comes(&story, ADA, "m1", Event::Message(with_file)).await;
    story.answered().await;
    let path = story.home.join("workspace").join(story.text("SELECT path FROM attachments"));
    assert!(path.exists() && words(story.model.chats().last().unwrap()).contains(SECRET));
    comes(&story, ADA, "d1", deleted("m1")).await;
    assert!(!path.exists());
    let left =
        "SELECT count(*) FROM attachments WHERE state <> 'gone' OR path || name || reference || mime || digest <> ''";
    assert_eq!((story.count(left), story.count("SELECT count(*) FROM fingerprints")), (0, 0));
    assert!(!journal_contains_text(&story, "Quakenbrueck") && !journal_contains_text(&story, SECRET));
    story.end().await;
}

#[tokio::test]
async fn a_part_of_an_album_takes_the_album_with_it() {
    let story = Story::begin().await;
    let part = |words: &str| {
        Event::Message(MessageContent {
            text: words.to_owned(),
            album: Some("a".to_owned()),
            ..MessageContent::default()
        })
    };
    comes(&story, ADA, "m1", part("One")).await;
    comes(&story, ADA, "m2", part(SECRET)).await;
    story.answered().await;
    comes(&story, ADA, "d2", deleted("m2")).await;
    assert!(story.count("SELECT count(*) FROM messages WHERE gone_at IS NOT NULL") == 1 && found(&story, SECRET) == 0);
    assert_eq!(story.count("SELECT count(*) FROM inbox WHERE raw LIKE '%Xylo%'"), 0);
    story.end().await;
}

/// Proves: forgetting/disappearing-message
#[tokio::test]
async fn words_with_a_timer_go_with_their_answer_at_the_instant() {
    let story = acquainted().await;
    story.model.says(&format!("{SECRET}, I see."));
    comes(&story, ADA, "m1", expiring_message(&format!("The word is {SECRET}."), MINUTE)).await;
    story.answered().await;
    story.pass(Duration::from_secs(50)).await;
    assert_eq!(found(&story, SECRET), 2);
    story.pass(Duration::from_secs(10)).await;
    assert_eq!(found(&story, SECRET), 0);
    assert!(!journal_contains_text(&story, SECRET), "the words are still in the journal");
    let before = story.model.asked();
    comes(&story, ADA, "m2", message_event("And now?")).await;
    story.answered().await;
    let prompt = prompts_since(&story, before);
    assert!(
        !prompt.contains(SECRET) && prompt.contains(GONE) && prompt.contains("(What was answered here is gone"),
        "{prompt}"
    );
    story.end().await;
}

#[tokio::test]
async fn a_view_once_message_is_deleted_after_its_answer() {
    let story = acquainted().await;
    comes(&story, ADA, "m1", expiring_message(&format!("The word is {SECRET}."), Duration::ZERO)).await;
    story.answered().await;
    assert!(story.model.last_prompt().contains(SECRET));
    assert_eq!((story.received_by(ADA), found(&story, SECRET)), (vec!["ok".to_owned(), "ok".to_owned()], 0));
    story.end().await;
}

/// Proves: forgetting/disappearing-message
#[tokio::test]
async fn a_timer_that_ran_out_while_the_program_was_away_counts_before_anything_begins() {
    let mut story = acquainted().await;
    comes(&story, ADA, "m1", expiring_message(&format!("The word is {SECRET}."), MINUTE)).await;
    story.answered().await;
    story.stop().await;
    let now = story.clock.now();
    story.clock.set(now.plus(MINUTE * 2));
    story.start().await;
    assert_eq!(found(&story, SECRET), 0);
    story.end().await;
}

/// Proves: forgetting/disappearing-message
#[tokio::test]
async fn the_shortest_timer_of_what_is_answered_counts_for_the_answer() {
    let story = acquainted().await;
    comes(&story, ADA, "m1", expiring_message("Slowly", MINUTE * 60)).await;
    comes(&story, ADA, "m2", expiring_message("Quickly", MINUTE)).await;
    comes(&story, ADA, "m3", message_event("For ever")).await;
    story.answered().await;
    assert_eq!(story.count("SELECT expires_after FROM messages WHERE kind = 'reply' ORDER BY id DESC"), 60_000);
    story.pass(MINUTE).await;
    let gone = "SELECT group_concat(external_id, ' ') FROM messages WHERE gone_at IS NOT NULL AND kind = 'said'";
    assert_eq!((story.text(gone), found(&story, "slowly"), found(&story, "ever")), ("m2".to_owned(), 1, 1));
    story.end().await;
}
