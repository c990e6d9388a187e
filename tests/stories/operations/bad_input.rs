//! Malformed input and failing disks: reported, and nothing is lost.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use compline::model::Purpose;
use compline::store::{CommitPoint, Failpoint, Journal, OpenError};
use compline::time::Clock;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::support::channel::Channel;
use crate::support::every_channel::{TestChannel, on_every_channel};
use crate::support::model::{Say, usual};
use crate::support::story::{ADA, canary};

on_every_channel! {
    stories:
        nothing_is_confirmed_while_it_cannot_be_stored,
        a_commit_that_fails_on_the_way_is_tried_again,
        a_panic_in_a_turn_costs_ten_seconds,
        a_clock_that_jumps_loses_nothing,
        files_of_any_kind_are_answered,
        a_picture_that_does_not_come_is_answered_all_the_same,
        ten_megabytes_at_the_terminal_cost_only_themselves;
}

fn refused(path: &Path) -> OpenError {
    Journal::open(path, None).map(|_| ()).unwrap_err()
}

/// Promise (operation/unusable-journal): If the journal is too new or too old for the program,
/// locked, damaged or unreachable, it is left untouched, and you are told what to do.
#[tokio::test]
async fn a_file_that_is_no_journal_is_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("compline.db");
    std::fs::write(&path, b"a shopping list, and more of it ".repeat(200)).unwrap();
    let before = std::fs::read(&path).unwrap();
    assert!(matches!(refused(&path), OpenError::Damaged { .. }));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

/// Proves: operation/unusable-journal
#[tokio::test]
async fn a_journal_of_a_newer_program_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("compline.db");
    drop(Journal::open(&path, None).unwrap());
    let db = rusqlite::Connection::open(&path).unwrap();
    db.pragma_update(None, "user_version", 9999).unwrap();
    assert!(matches!(refused(&path), OpenError::Newer { found: 9999, .. }));
}

/// Proves: operation/unusable-journal
#[tokio::test]
async fn a_journal_that_another_program_locks_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("compline.db");
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch("CREATE TABLE other (it); BEGIN EXCLUSIVE; INSERT INTO other VALUES (1)").unwrap();
    assert!(matches!(refused(&path), OpenError::Locked { .. }));
}

/// Proves: operation/unusable-journal
#[tokio::test]
async fn a_place_where_nothing_can_be_written_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(refused(&dir.path().join("nowhere/compline.db")), OpenError::ReadOnly { .. }));
    assert!(matches!(refused(dir.path()), OpenError::ReadOnly { .. }));
}

#[tokio::test]
async fn an_empty_file_becomes_a_journal() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("compline.db");
    std::fs::write(&path, b"").unwrap();
    let journal = Journal::open(&path, None).unwrap();
    assert!(journal.read(|db| db.people().people()).await.unwrap().is_empty());
}

/// Lets the next `times` commits of one job fail, as on a full disk.
fn failing(job: &'static str, times: usize) -> (Failpoint, Arc<AtomicUsize>) {
    let left = Arc::new(AtomicUsize::new(times));
    let count = Arc::clone(&left);
    let reached = move |side, name| {
        let due = side == CommitPoint::Before && name == job;
        let failed = due && count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
        assert!(!failed, "{job} fails on purpose");
    };
    (Failpoint(Arc::new(reached)), left)
}

/// Promise (operation/full-disk): While nothing can be stored, for example on a full disk, nothing
/// is confirmed, and work resumes by itself once there is room.
async fn nothing_is_confirmed_while_it_cannot_be_stored(channel: TestChannel) {
    let mut story = channel.prepare_story("");
    let (failpoint, left) = failing("accept messages", 4);
    story.fail_at(Some(failpoint));
    story.start().await;
    story.fake.says(ADA, &format!("Good evening {}", canary(ADA)));
    while left.load(Ordering::SeqCst) > 0 {
        assert_eq!((story.fake.unacked(), story.received_by(ADA).len()), (1, 0));
        story.clock.advance(Duration::from_secs(1)).await;
        tokio::task::yield_now().await;
    }
    while story.fake.unacked() > 0 {
        story.clock.advance(Duration::from_secs(1)).await;
        tokio::task::yield_now().await;
    }
    story.answered().await;
    // Enough time has passed for a note on the delay; the answer is the last message.
    assert_eq!((story.last_received_by(ADA), story.model.chats().len()), ("ok".to_owned(), 1));
    assert_eq!(story.count("SELECT count(*) FROM messages WHERE kind = 'said'"), 1);
    story.end().await;
}

/// Proves: operation/full-disk
async fn a_commit_that_fails_on_the_way_is_tried_again(channel: TestChannel) {
    for job in [
        "claim messages",
        "begin a model step",
        "store a reply",
        "keep parts",
        "begin to send",
        "want a summary",
        "keep a summary",
    ] {
        let mut story = channel.prepare_story("");
        let (failpoint, left) = failing(job, 1);
        story.fail_at(Some(failpoint));
        story.start().await;
        story.say(ADA, &format!("Good evening {}", canary(ADA))).await;
        story.pass(Duration::from_secs(60)).await;
        assert_eq!(story.received_by(ADA), ["ok"], "{job}");
        story.pass(Duration::from_secs(7 * 3600)).await;
        assert_eq!(story.count("SELECT count(*) FROM summaries WHERE state = 'made'"), 1, "{job}");
        assert_eq!(left.load(Ordering::SeqCst), 0, "{job} never failed");
        story.end().await;
    }
}

/// Proves: operation/garbage
async fn a_panic_in_a_turn_costs_ten_seconds(channel: TestChannel) {
    let story = channel.begin_story().await;
    let calls = AtomicUsize::new(0);
    story.model.otherwise(move |request| {
        assert!(
            request.purpose() != Purpose::Chat || calls.fetch_add(1, Ordering::SeqCst) > 0,
            "falls over on purpose"
        );
        usual(request)
    });
    story.say(ADA, "hello").await;
    assert_eq!(story.received_by(ADA), Vec::<String>::new());
    story.pass(Duration::from_secs(10)).await;
    assert_eq!(story.received_by(ADA), ["ok"]);
    story.end().await;
}

/// Proves: operation/garbage
async fn a_clock_that_jumps_loses_nothing(channel: TestChannel) {
    let story = channel.begin_story().await;
    let start = story.clock.now();
    let day = Duration::from_secs(24 * 3600);
    for (n, jump) in
        [start.minus(day), start.plus(day), start.minus(day * 400), start.plus(day * 2)].into_iter().enumerate()
    {
        story.settle().await;
        story.clock.set(jump);
        story.model.then(Say::Text(format!("answer {n}")));
        story.say(ADA, &format!("question {n}")).await;
        assert_eq!(story.last_received_by(ADA), format!("answer {n}"));
    }
    assert_eq!(story.count("SELECT count(*) FROM messages WHERE kind = 'said' AND state = 'answered'"), 4);
    story.end().await;
}

/// Promise (operation/garbage): Files of any kind, missing pictures, megabytes of garbage or a
/// fault in the program cost at most one answer.
async fn files_of_any_kind_are_answered(channel: TestChannel) {
    let story = channel.begin_story().await;
    let files: [(&str, &str, &[u8]); 4] = [
        ("empty.txt", "text/plain", b""),
        ("../../../../escaped.txt", "text/plain", b"climbs"),
        ("a\u{202e}\0\n/b.txt", "text/plain; charset=\"", b"\xff\xfe\xfa no UTF-8"),
        (&"long".repeat(100), "application/x-nothing", b"\0\0\0"),
    ];
    for (name, mime, bytes) in files {
        story.fake.sends_document(ADA, name, mime, bytes);
        story.answered().await;
        assert_eq!(story.last_received_by(ADA), "ok", "{name:?}");
    }
    assert_eq!(story.received_by(ADA).len(), files.len());
    assert_eq!(story.count("SELECT count(*) FROM attachments WHERE path LIKE '%..%' OR path LIKE '/%'"), 0);
    assert!(!story.home.parent().unwrap().join("escaped.txt").exists());
    story.end().await;
}

/// Proves: operation/garbage
async fn a_picture_that_does_not_come_is_answered_all_the_same(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.fake.files_fail_next(9);
    story.fake.sends_photo(ADA, &format!("look {}", canary(ADA)), b"a picture");
    story.answered().await;
    assert_eq!(story.received_by(ADA), ["ok"]);
    assert!(story.model.last_prompt().contains("look"));
    story.end().await;
}

/// Proves: operation/garbage
async fn ten_megabytes_at_the_terminal_cost_only_themselves(channel: TestChannel) {
    let story = channel.begin_story().await;
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let local = Arc::clone(&story.app().local);
    let served = tokio::spawn(async move { local.serve_client(theirs).await });
    let (read, mut write) = tokio::io::split(ours);
    let mut lines = BufReader::new(read).lines();
    write.write_all(b"{\"type\":\"hello\"}\n").await.unwrap();
    assert!(lines.next_line().await.unwrap().unwrap().contains("welcome"));
    let long = "x".repeat(10 << 20);
    write.write_all(format!("{{\"type\":\"say\",\"id\":\"long\",\"text\":\"{long}\"}}\n").as_bytes()).await.unwrap();
    write.write_all(b"{\"type\":\"say\",\"id\":\"bad\",\"text\":\"\xff\xfe\"}\n").await.unwrap();
    write.write_all(b"{\"type\":\"say\",\"id\":\"good\",\"text\":\"hello\"}\n").await.unwrap();
    while story.model.chats().is_empty() {
        story.clock.advance(Duration::from_millis(200)).await;
        tokio::task::yield_now().await;
    }
    assert!(story.model.last_prompt().contains("hello"));
    assert_eq!(story.count("SELECT count(*) FROM messages WHERE kind = 'said'"), 1);
    drop((lines, write));
    served.await.unwrap().unwrap();
    story.end().await;
}
