//! `/files` and `/file`: a person's own files in the chat.

use crate::support::channel::Channel;
use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::story::{ADA, BEN, canary};

on_every_channel! {
    stories:
        files_are_listed_and_one_is_sent,
        files_are_listed_in_the_language_of_their_person;
}

async fn asks(story: &Story, person: i64, line: &str) -> String {
    story.say(person, line).await;
    story.last_received_by(person)
}

/// Promise (files/list): `/files` lists your own files with size, time, whose hand each is and what
/// came from outside, and `/file` sends one as a document; nobody else's can be named.
async fn files_are_listed_and_one_is_sent(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.writes("plans/garden.md", &canary(ADA));
    story.writes("people/2-ben/tea.md", &canary(BEN));
    story.say(ADA, "/remember The train leaves at nine").await;
    story.fake.sends_file(ADA, "bill.txt", "Ten euros");
    story.answered().await;
    let root = asks(&story, ADA, "/files").await;
    for part in ["Your files", "plans/, 1 file", "inbox/", "memory/"] {
        assert!(root.contains(part), "{part} is missing in {root}");
    }
    assert!(!root.contains("people"), "{root}");
    let plans = asks(&story, ADA, "/files plans").await;
    assert!(plans.contains("garden.md") && plans.contains("you, by hand"), "{plans}");
    let inbox = asks(&story, ADA, "/files inbox").await;
    assert!(inbox.contains("bill.txt") && inbox.contains("from outside"), "{inbox}");
    let memory = asks(&story, ADA, "/files memory").await;
    assert!(memory.contains("you, with a command") && !memory.contains("from outside"), "{memory}");
    assert!(asks(&story, BEN, "/files").await.contains("tea.md"));
    for (person, path) in [(ADA, "people/2-ben/tea.md"), (BEN, "plans/garden.md"), (BEN, "../../plans/garden.md")] {
        for command in ["files", "file"] {
            let refused = asks(&story, person, &format!("/{command} {path}")).await;
            assert!(refused.contains("There is no such file or folder"), "{path}: {refused}");
        }
    }
    assert!(story.fake.files(ADA).is_empty() && story.fake.files(BEN).is_empty());
    story.say(ADA, "/file plans/garden.md").await;
    assert_eq!(story.fake.files(ADA), [canary(ADA).into_bytes()]);
    assert_eq!(story.model.requests().len(), 1, "only the message with the file is the model's");
    story.end().await;
}

/// Proves: people/no-english
async fn files_are_listed_in_the_language_of_their_person(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, "/settings language de").await;
    story.writes("plans/garden.md", "Rosen");
    assert!(asks(&story, ADA, "/files").await.contains("Deine Dateien"));
    assert!(asks(&story, ADA, "/file garden.md").await.contains("Diese Datei oder diesen Ordner gibt es nicht"));
    story.say(ADA, "/file plans/garden.md").await;
    assert_eq!(story.fake.files(ADA), [b"Rosen".to_vec()]);
    story.end().await;
}
