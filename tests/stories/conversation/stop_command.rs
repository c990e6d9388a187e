//! `/stop` ends an answer at once, also during the fetch or the reading of an attachment.

use std::process::Command;
use std::time::Duration;

use crate::support::model::usual;
use crate::support::pdf::pdf;
use crate::support::story::{ADA, Story};

/// Reader that reports its start and never ends. A child process writes it, because a file that
/// this process holds open for writing cannot be executed.
fn never_ends(folder: &std::path::Path) -> std::path::PathBuf {
    let program = folder.join("reader");
    let words = "#!/bin/sh\necho $$ > \"$(/usr/bin/dirname $0)/reads\"\nexec /bin/sleep 1000\n";
    let write = Command::new("/bin/sh")
        .args(["-c", "printf '%s' \"$1\" > \"$0\" && chmod 700 \"$0\""])
        .arg(&program)
        .arg(words)
        .status();
    assert!(write.unwrap().success());
    program
}

/// Proves: conversation/stop
#[tokio::test]
async fn stop_ends_an_answer_while_a_document_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut story = Story::prepared("[conversation]\njoin_within = \"0s\"").await;
    story.read_documents_with(&never_ends(folder.path()));
    story.start().await;
    story.fake.sends_document(ADA, "book.pdf", "application/pdf", &pdf(&["One page"]));
    while !std::fs::read_to_string(folder.path().join("reads")).is_ok_and(|pid| pid.ends_with('\n')) {
        tokio::task::yield_now().await;
    }
    story.fake.says(ADA, "/stop");
    story.fake.until(|fake| fake.texts(ADA) == ["Stopped."]).await;
    story.settle().await;
    assert_eq!(story.model.asked(), 0);
    let pid = std::fs::read_to_string(folder.path().join("reads")).unwrap();
    let command = std::fs::read_to_string(format!("/proc/{}/comm", pid.trim())).unwrap_or_default();
    assert!(!command.contains("sleep"), "nobody reads on");
    story.model.otherwise(usual);
    story.say(ADA, "Are you there?").await;
    assert_eq!(story.received_by(ADA), ["Stopped.", "ok"]);
    story.pass(Duration::from_secs(3600)).await;
    story.end().await;
}
