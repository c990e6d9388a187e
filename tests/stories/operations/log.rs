//! Log: its contents, and the data that it never contains.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use compline::model::ModelError;

use crate::support::model::Say;
use crate::support::story::{ADA, EVE, Story, UNTRUSTED, canary};

#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Paper {
    /// Captures the whole log until the guard is dropped. All tasks of a story run on the test's
    /// thread.
    fn under_the_pen(&self) -> tracing::subscriber::DefaultGuard {
        let pen = self.clone();
        let everything = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_ansi(false)
            .with_writer(move || pen.clone())
            .finish();
        tracing::subscriber::set_default(everything)
    }

    fn read(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

/// Promise (privacy/log): The log never contains message text, names or secrets.
#[tokio::test]
async fn no_level_of_the_log_holds_words_names_or_secrets() {
    let paper = Paper::default();
    let _writing = paper.under_the_pen();
    let story = Story::begin().await;
    story.say(ADA, &canary(ADA)).await;
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}log"));
    story.answered().await;
    story.model.fails(ModelError::BadKey).fails(ModelError::Later { after: None, what: "HTTP 503".to_owned() });
    story.say(ADA, &canary(ADA)).await;
    story.fake.block(ADA);
    story.say(ADA, "/whoami").await;
    story.fake.says(EVE, "let me in, I am Mallory");
    story.answered().await;
    let token = story.fake.token();
    story.end().await;

    let log = paper.read();
    assert!(log.contains("a model gave no answer"), "something is logged: {log}");
    for secret in [token, token.split(':').next_back().unwrap(), &canary(ADA), UNTRUSTED, "Mallory", "Ada"] {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret:?} stands in the log");
    }
}

/// Proves: memory/extraction
#[tokio::test]
async fn a_model_outage_during_extraction_is_logged_and_delays_no_answer() {
    let paper = Paper::default();
    let _writing = paper.under_the_pen();
    let story = Story::with("[memory]\nextract_every = 4").await;
    story.background.otherwise(|_| Say::Fail(ModelError::Later { after: None, what: "HTTP 503".to_owned() }));
    let missed = || {
        let log = paper.read();
        let lines = log.lines().filter(|line| line.contains("no facts taken down yet")).map(str::to_owned);
        lines.collect::<Vec<_>>()
    };
    for turn in 1..=4 {
        assert_eq!(missed(), Vec::<String>::new(), "before turn {turn}");
        story.say(ADA, &format!("{turn}. We sat in the garden and talked of dahlias. {}", canary(ADA))).await;
    }
    assert_eq!(story.received_by(ADA), ["ok", "ok", "ok", "ok"]);
    let lines = missed();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("WARN") && lines[0].contains("Conversation 1: "), "{lines:?}");
    assert!(lines[0].contains("HTTP 503") && !lines[0].contains("dahlias"), "{lines:?}");
    story.end().await;
}

/// Promise (operation/logged-once): A reason why messages cannot be sent appears in the log once,
/// not at each attempt, and so does the recovery.
#[tokio::test]
async fn a_delivery_problem_and_its_end_are_logged_once() {
    let paper = Paper::default();
    let _writing = paper.under_the_pen();
    let story = Story::begin().await;
    let lines = |words: &str| paper.read().lines().filter(|line| line.contains(words)).count();
    story.fake.server_error_next(6);
    story.model.says("The answer.");
    story.say(ADA, "well?").await;
    story.pass(Duration::from_secs(600)).await;
    assert!(story.last_received_by(ADA).contains("The answer."));
    assert_eq!((lines("has to wait"), lines("go through again")), (1, 1), "{}", paper.read());
    story.fake.server_error_next(3);
    story.say(ADA, "and now?").await;
    story.pass(Duration::from_secs(600)).await;
    assert_eq!((lines("has to wait"), lines("go through again")), (2, 2), "another time is told again");
    story.end().await;
}
