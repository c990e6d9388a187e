//! What the log holds, and what it never holds.

use std::io::Write;
use std::sync::{Arc, Mutex};

use compline::model::ModelError;

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

#[tokio::test]
async fn no_level_of_the_log_holds_words_names_or_secrets() {
    let paper = Paper::default();
    let pen = paper.clone();
    let everything = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || pen.clone())
        .finish();
    // The story's tasks all run on this thread.
    let _writing = tracing::subscriber::set_default(everything);

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

    let log = String::from_utf8_lossy(&paper.0.lock().unwrap()).into_owned();
    assert!(log.contains("a model gave no answer"), "something is logged: {log}");
    for secret in [token, token.split(':').next_back().unwrap(), &canary(ADA), UNTRUSTED, "Mallory", "Ada"] {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret:?} stands in the log");
    }
}
