//! Text is labelled with its origin on arrival, and so is everything made from it.

use std::time::Duration;

use compline::model::{ModelError, Request};
use serde_json::json;

use crate::support::channel::Channel;
use crate::support::model::Say;
use crate::support::story::{ADA, EVE, Story, UNTRUSTED};

const MINUTE: Duration = Duration::from_secs(60);

/// The model is unreachable.
fn away(_: &Request) -> Say {
    Say::Fail(ModelError::Later { after: None, what: "it is down".to_owned() })
}

/// The label of the newest turn.
fn of_turn(story: &Story) -> String {
    story.text("SELECT label FROM turns ORDER BY id DESC LIMIT 1")
}

#[tokio::test]
async fn a_turn_is_marked_before_a_model_is_asked() {
    type Sends<'a> = &'a dyn Fn(&Story);
    let cases: [(&str, Sends<'_>); 3] = [
        ("forward", &|story| {
            story.model.otherwise(away);
            story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}words"));
        }),
        ("file:", &|story| {
            story.model.otherwise(away);
            story.fake.sends_document(ADA, "bill.txt", "text/plain", b"pay it");
        }),
        ("trusted", &|story| {
            story.model.otherwise(away);
            story.fake.person_says(ADA, "my own words");
        }),
    ];
    for (label, sends) in cases {
        let story = Story::begin().await;
        sends(&story);
        story.pass(MINUTE).await;
        assert!(of_turn(&story).starts_with(label), "{label}: {}", of_turn(&story));
        story.stop_here().await;
    }
    let story = Story::begin().await;
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}words"));
    story.answered().await;
    story.model.otherwise(away);
    story.fake.person_says(ADA, "my own words");
    story.pass(MINUTE).await;
    assert_eq!(story.count("SELECT count(*) FROM turns"), 2);
    assert!(of_turn(&story).starts_with("forward"), "what was read before: {}", of_turn(&story));
    story.stop_here().await;
}

#[tokio::test]
async fn an_answer_to_a_command_is_marked_with_all_that_it_shows() {
    let story = Story::begin().await;
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}words"));
    story.answered().await;
    let broken = story.home.join("skills/broken");
    std::fs::create_dir_all(&broken).unwrap();
    std::fs::write(broken.join("SKILL.md"), "---\nname: [\n---\n").unwrap();
    story.writes("memory/untrusted/page.md", "# A page\n\nwords\n");
    let folder = tempfile::tempdir().unwrap();
    let skill = "---\nname: tea\ndescription: Makes tea.\n---\n\nBoil water.\n";
    std::fs::write(folder.path().join("SKILL.md"), skill).unwrap();
    let cases: [(&[&str], &str); 5] = [
        (&["conversations", "show", "1"], "forward"),
        (&["skills", "list"], "folder"),
        (&["skills", "import", folder.path().to_str().unwrap(), "tea"], "import"),
        (&["skills", "import", "/nowhere", "tea"], "import"),
        (&["memory"], "unknown"),
    ];
    for (words, source) in cases {
        let answer = story.command_line(words).await;
        assert!(answer.label.encode().contains(source), "{words:?}: {:?}\n{}", answer.label, answer.markdown);
    }
    let whole = story.command_line(&["conversations", "show", "1"]).await.json;
    assert_eq!((&whole["sources"], &whole["messages"][0]["sources"]), (&json!(["forward"]), &json!(["forward"])));
    story.say(ADA, "/export").await;
    let archive = story.text("SELECT label FROM files WHERE path LIKE '%.zip' ORDER BY id DESC LIMIT 1");
    assert!(archive.contains("export"), "{archive}");
    story.stop_here().await;
}

#[tokio::test]
async fn text_without_a_label_is_untrusted() {
    let mut story = Story::begin().await;
    story.say(ADA, &format!("{UNTRUSTED}words")).await;
    story.stop().await;
    let db = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    db.execute("UPDATE texts SET label = ''", []).unwrap();
    story.start().await;
    story.say(ADA, "And now?").await;
    assert!(!story.model.chats().last().unwrap().label().is_trusted(), "a label that is lost is no trust");
    story.stop_here().await;
}
