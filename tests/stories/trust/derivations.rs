//! Every answer can be traced back to the whole content of its prompt.

use std::time::Duration;

use compline::id::TurnId;
use compline::store::Node;

use crate::support::model::{Say, words};
use crate::support::story::{ADA, EVE, Story};

/// Deterministic pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// All marks in a text, such as `mark-17-`.
fn marks(text: &str) -> Vec<String> {
    let mut found: Vec<String> = text
        .match_indices("mark-")
        .filter_map(|(at, _)| text[at + 5..].split_once('-').map(|(number, _)| format!("mark-{number}-")))
        .collect();
    found.sort();
    found.dedup();
    found
}

/// Runs a random story in which each text and each file has its own mark.
async fn live(seed: u64) -> Story {
    let story = Story::begin().await;
    let mut dice = Dice(seed);
    story.background.otherwise(|request| {
        let title: String = marks(&words(request)).into_iter().take(3).collect();
        Say::Text(format!(r#"{{"title": "t {title}", "topics": ["{title}"]}}"#))
    });
    for number in 0..14 {
        let mark = format!("mark-{number}- orchard");
        story.model.says(&format!("answer mark-{}-", number + 100));
        match dice.roll(7) {
            0 | 1 => drop(story.fake.says(ADA, &mark)),
            2 => drop(story.fake.forwards(ADA, EVE, &mark)),
            3 => drop(story.fake.sends_document(ADA, "a.txt", "text/plain", mark.as_bytes())),
            4 => {
                story.fake.says(ADA, &mark);
                story.fake.says(ADA, &format!("mark-{}- joined", number + 200));
            }
            5 => {
                story.model.otherwise(|_| Say::Text("ok".to_owned()));
                story.pass(Duration::from_secs(7 * 3600)).await;
                story.fake.says(ADA, &mark);
            }
            _ => {
                let all = serde_json::json!({ "in": "conversations", "query": "orchard answer", "limit": 20, "include_untrusted": dice.roll(2) == 0 });
                story.model.otherwise(|_| Say::Text("ok".to_owned()));
                story.pass(Duration::from_secs(7 * 3600)).await;
                story.model.calls("memory_search", all);
                story.fake.says(ADA, &mark);
            }
        }
        story.answered().await;
    }
    story
}

/// The node of a mark's first occurrence: the message of a person, or the turn of a reply.
fn home_of(story: &Story, mark: &str) -> String {
    story.text(&format!(
        "SELECT CASE m.kind WHEN 'reply' THEN 'turn:' || m.turn_id ELSE 'message:' || m.id END
         FROM texts t JOIN messages m ON m.id = t.message_id WHERE instr(t.text, '{mark}') ORDER BY t.id LIMIT 1"
    ))
}

/// Promise (trust/traceable): You can trace the full origin of any answer in the journal.
#[tokio::test]
async fn a_reply_leads_back_to_all_that_its_prompt_held() {
    for seed in 0..4 {
        let story = live(seed).await;
        let mut requests = story.model.chats().into_iter();
        for turn in 1..=story.count("SELECT max(id) FROM turns") {
            let asked = story.count(&format!("SELECT count(*) FROM steps WHERE turn_id = {turn} AND kind = 'model'"));
            let origins =
                story.app().journal.read_now(|db| db.derivations().origins(Node::Turn(TurnId(turn)))).unwrap();
            for request in requests.by_ref().take(usize::try_from(asked).unwrap()) {
                for mark in marks(&words(&request)) {
                    let home = home_of(&story, &mark);
                    assert!(
                        origins.contains(&home),
                        "seed {seed}: turn {turn} held {mark} of {home} and grew from {origins:?}"
                    );
                }
            }
        }
        assert!(requests.next().is_none());
        story.end().await;
    }
}

/// Proves: trust/traceable
#[tokio::test]
async fn a_trusted_reply_grew_from_nothing_untrusted() {
    for seed in 0..4 {
        let story = live(seed).await;
        let untrusted = "SELECT count(*) FROM texts t JOIN messages m ON m.id = t.message_id
             WHERE m.id = {} AND NOT EXISTS (SELECT 1 FROM texts o WHERE o.message_id = m.id AND o.label = 'trusted')";
        let trusted =
            "SELECT coalesce(group_concat(m.turn_id, ' '), '') FROM messages m JOIN texts t ON t.message_id = m.id
             WHERE m.kind = 'reply' AND t.label = 'trusted'";
        for turn in story.text(trusted).split(' ').filter_map(|turn| turn.parse().ok()) {
            let origins =
                story.app().journal.read_now(|db| db.derivations().origins(Node::Turn(TurnId(turn)))).unwrap();
            assert!(!origins.is_empty());
            for message in origins.iter().filter_map(|origin| origin.strip_prefix("message:")) {
                assert_eq!(
                    story.count(&untrusted.replace("{}", message)),
                    0,
                    "seed {seed}: turn {turn} and message {message}"
                );
            }
        }
        story.end().await;
    }
}

#[tokio::test]
async fn a_reply_leads_back_to_the_files_of_the_workspace_that_we_wrote() {
    let story = Story::begin().await;
    story.say(ADA, "hello").await;
    let origins = story.app().journal.read_now(|db| db.derivations().origins(Node::Turn(TurnId(1)))).unwrap();
    for path in ["AGENTS.md", "SOUL.md", "memory/MEMORY.md"] {
        let version = story.count(&format!("SELECT max(id) FROM files WHERE path = '{path}'"));
        assert!(origins.contains(&format!("file:{version}")), "{path} is not in {origins:?}");
    }
    story.end().await;
}
