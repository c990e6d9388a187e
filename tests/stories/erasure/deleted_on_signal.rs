//! Deletions and expiries on Signal erase the message here too.

use std::time::Duration;

use compline::id::PersonId;
use compline::trust::Scope;

use crate::support::signal::FakeSignal;
use crate::support::story::{ADA, BEN, StoryOver, UNTRUSTED, canary};

type Story = StoryOver<FakeSignal>;

const SECRET: &str = "Xylophonemusik";
const MINUTE: Duration = Duration::from_secs(60);

fn found(story: &Story) -> usize {
    let scope = Scope::Person(PersonId(1));
    story.app().journal.read_now(|db| crate::support::search::find(db, scope, SECRET, true, 20)).unwrap().hits.len()
}

/// Tests for the word in the journal's file and its log.
fn stands(story: &Story) -> bool {
    ["compline.db", "compline.db-wal"].iter().any(|name| {
        let bytes = std::fs::read(story.home.join(name)).unwrap_or_default();
        bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes())
    })
}

fn words() -> String {
    format!("The word is {SECRET}. {}", canary(ADA))
}

/// Promise (forgetting/deleted-message): A message that you delete for everyone disappears from
/// prompts, search, later summaries, the journal file and the disk, even after a crash. Nothing
/// else is deleted, and no one else can delete it.
#[tokio::test]
async fn a_message_deleted_for_everyone_is_erased_here_too() {
    let story = Story::begin().await;
    let message = story.fake.says(ADA, &words());
    story.answered().await;
    story.say(ADA, "The bread is in the oven.").await;
    story.fake.deletes(ADA, message);
    story.settle().await;
    assert!(found(&story) == 0 && !stands(&story), "the words are still there");
    story.say(ADA, "What did I say?").await;
    let prompt = story.model.last_prompt();
    assert!(
        !prompt.contains(SECRET) && prompt.contains("(This message is gone") && prompt.contains("bread"),
        "{prompt}"
    );
    story.end().await;
}

/// Proves: forgetting/deleted-message
#[tokio::test]
async fn a_deletion_may_come_before_its_message() {
    let story = Story::begin().await;
    story.fake.hold_messages();
    let message = story.fake.says(ADA, &words());
    story.fake.deletes(ADA, message);
    story.fake.release_messages(true);
    story.say(ADA, "The bread is in the oven.").await;
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("bread") && !prompt.contains(SECRET), "{prompt}");
    assert!(!stands(&story));
    story.end().await;
}

/// Promise (forgetting/disappearing-message): Disappearing messages are deleted here when their
/// timer runs out, together with the answers to them, even if Compline was not running at that
/// time.
#[tokio::test]
async fn messages_disappear_when_their_timer_says_so() {
    let story = Story::begin().await;
    story.model.says(&format!("{SECRET}, I see."));
    story.fake.from(ADA).text(&words()).expires_in(60).send();
    story.answered().await;
    assert_eq!(found(&story), 2);
    story.pass(MINUTE).await;
    assert!(found(&story) == 0 && !stands(&story), "the words are still there");
    assert_eq!(story.received_by(ADA), [format!("{SECRET}, I see.")]);
    story.say(ADA, "And now?").await;
    assert!(!story.model.last_prompt().contains(SECRET));
    story.end().await;
}

/// Proves: forgetting/disappearing-message
#[tokio::test]
async fn a_picture_to_be_viewed_once_is_seen_once() {
    let story = Story::begin().await;
    story.fake.from(ADA).photo(b"a picture").view_once().send();
    story.answered().await;
    let of = |name: &str| story.home.join("workspace").join(name);
    let left = std::fs::read_dir(of("inbox")).unwrap().count();
    assert_eq!(
        (story.received_by(ADA).len(), left, story.text("SELECT state FROM attachments")),
        (1, 0, "gone".to_owned())
    );
    story.end().await;
}

#[tokio::test]
async fn a_reaction_on_signal_is_reported_and_another_is_sent() {
    let story = Story::begin().await;
    story.model.calls("react", serde_json::json!({ "emoji": "❤️" })).says("Good.");
    let message = story.fake.says(ADA, &format!("It worked. {}", canary(ADA)));
    story.answered().await;
    assert_eq!(story.fake.reaction(ADA, message).as_deref(), Some("❤️"));
    let ours = story.fake.sent(ADA)[0].message_id;
    story.fake.reacts(ADA, ADA, ours, "👍");
    story.say(ADA, "Thank you").await;
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("Ada put 👍 under your message of"), "{prompt}");
    story.end().await;
}

/// Proves: files/sent-file
#[tokio::test]
async fn a_file_goes_out_on_signal() {
    let story = Story::begin().await;
    std::fs::write(story.home.join("workspace/plan.md"), canary(ADA)).unwrap();
    story.model.calls("send_file", serde_json::json!({ "path": "plan.md" })).says("Here.");
    story.say(ADA, "The plan, please").await;
    let files: Vec<_> = story.fake.sent(ADA).into_iter().flat_map(|sent| sent.files).collect();
    assert_eq!((files.len(), files[0].bytes.as_slice()), (1, canary(ADA).as_bytes()));
    story.end().await;
}

/// Proves: trust/attached-content
#[tokio::test]
async fn attached_content_is_shown_as_not_typed_and_taints() {
    let story = Story::begin().await;
    let title = format!("{UNTRUSTED} Buy now");
    story
        .fake
        .from(BEN)
        .text(&format!("See https://shop.example {}", canary(BEN)))
        .preview("https://shop.example", &title, "")
        .send();
    story.answered().await;
    let request = story.model.chats().pop().unwrap();
    let words = crate::support::model::words(&request);
    assert!(
        words.contains("This came along with their message; nobody typed it:") && words.contains(UNTRUSTED),
        "{words}"
    );
    assert!(
        !request.label().is_trusted() && request.label().encode().contains("preview:in"),
        "{}",
        request.label().encode()
    );
    story.end().await;
}
