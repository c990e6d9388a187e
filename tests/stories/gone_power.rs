//! What goes, and what goes out besides text, in a house whose power goes between any two commits:
//! gone is gone, and nothing else is.

use std::time::Duration;

use compline::store::CommitPoint::{After, Before};
use serde_json::json;

use crate::support::power::{CrashTest, CrashTestOver, Cut};
use crate::support::signal::FakeSignal;
use crate::support::story::{ADA, canary};

const SECRET: &str = "Xylophonemusik";
const MINUTE: Duration = Duration::from_secs(60);

/// Proves: forgetting/disappearing-message
#[test]
fn words_with_a_timer_and_their_files_are_gone_whenever_the_power_goes() {
    let jobs = [
        "accept messages",
        "keep a file",
        "store a reply",
        "mark as sent",
        "let words go",
        "let a file go",
        "the log holds no words",
    ];
    for (side, job) in jobs.into_iter().flat_map(|job| [(Before, job), (After, job)]) {
        // What the daemon gave away and nobody stored is lost: that is Signal's promise, and not
        // ours.
        if (side, job) == (Before, "accept messages") {
            continue;
        }
        let mut house: CrashTestOver<FakeSignal> = CrashTestOver::prepared("");
        assert!(!house.start(None));
        assert!(!house.during(house.story.say(ADA, &format!("The bread is in the oven {}", canary(ADA)))));
        house.cut_next(Cut::at(side, job));
        house
            .story
            .fake
            .from(ADA)
            .text(SECRET)
            .document("a.txt", "text/plain", SECRET.as_bytes())
            .expires_in(60)
            .send();
        assert!(house.pass(3 * MINUTE), "{side:?} {job} never came");
        house.revive();
        assert!(!house.pass(3 * MINUTE));
        let story = &house.story;
        let left = std::fs::read_dir(story.home.join("workspace/inbox")).unwrap().count();
        assert_eq!((left, stands(story, SECRET), stands(story, "bread")), (0, false, true), "{side:?} {job}");
        assert_eq!(
            story.text("SELECT group_concat(state, ' ') FROM messages WHERE kind = 'said'"),
            "answered answered"
        );
        house.end();
    }
}

/// Proves: files/sent-file
#[test]
fn files_and_emojis_go_out_once_whenever_the_power_goes() {
    let jobs = [
        "enclose a file",
        "enclose a reaction",
        "store a tool step",
        "store a reply",
        "keep parts",
        "mark as sent",
        "react",
    ];
    for (side, job) in jobs.into_iter().flat_map(|job| [(Before, job), (After, job)]) {
        let mut house = CrashTest::prepared("");
        assert!(!house.start(None));
        assert!(!house.during(house.story.say(ADA, "Hello")));
        std::fs::write(house.story.home.join("workspace/plan.md"), canary(ADA)).unwrap();
        let calls = [("send_file", json!({ "path": "plan.md" })), ("react", json!({ "emoji": "👍" }))];
        let calls = calls.map(|(tool, arguments)| (tool.to_owned(), arguments.to_string()));
        house.story.model.then(crate::support::model::Say::Calls(calls.to_vec()));
        house.cut_next(Cut::at(side, job));
        let message = house.story.fake.says(ADA, "The plan, please");
        assert!(house.pass(MINUTE), "{side:?} {job} never came");
        house.revive();
        assert!(!house.pass(MINUTE));
        let sent = house.story.fake.sent(ADA);
        let files = sent.iter().filter(|sent| sent.file.is_some()).count();
        let marked = sent.iter().any(|sent| sent.text.starts_with("(possibly repeated)"));
        // The mark is for what may have been sent when the power went.
        assert!(files == 1 || marked && files == 2, "{side:?} {job}: {files} files");
        assert_eq!(house.story.fake.reactions(ADA, message), ["👍"], "{side:?} {job}");
        assert_eq!(house.story.count("SELECT count(*) FROM outbox WHERE state <> 'sent'"), 0, "{side:?} {job}");
        house.end();
    }
}

fn stands<C: crate::support::channel::Channel>(story: &crate::support::story::StoryOver<C>, word: &str) -> bool {
    ["compline.db", "compline.db-wal"].iter().any(|name| {
        let bytes = std::fs::read(story.home.join(name)).unwrap_or_default();
        bytes.windows(word.len()).any(|window| window == word.as_bytes())
    })
}
