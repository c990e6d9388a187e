//! Nightly upkeep: deletes old text and files, keeps younger ones, and delays no one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use compline::store::CommitPoint::{self, After};
use compline::store::Failpoint;
use compline::time::Clock;

use crate::support::power::{CrashTest, Cut};
use crate::support::story::{ADA, BEN, Story, canary};

const DAY: Duration = Duration::from_secs(24 * 3600);
/// Time from noon past the next round.
const TO_THE_ROUND: Duration = Duration::from_secs(17 * 3600);
const TEN_DAYS: &str = "[retention]\nmessages_days = 10\nattachments_days = 10\n";
/// Jobs of a round, in order.
const JOBS: [&str; 10] = [
    "claim upkeep",
    "forget words",
    "purge originals",
    "sweep rows",
    "sweep knowledge",
    "the index goes with the texts",
    "merge the index",
    "the journal is checked",
    "look at estimates",
    "end upkeep",
];

async fn rounds(story: &Story, count: u32) {
    for _ in 0..count {
        story.pass(DAY).await;
    }
}

fn blank(story: &Story) -> i64 {
    story.count(
        "SELECT count(*) FROM texts t JOIN messages m ON m.id = t.message_id WHERE t.text = '' AND m.kind <> 'sent'",
    )
}

async fn found(story: &Story, words: &str) -> usize {
    story.command_line(&["search", "--in", "messages", "--", words]).await.json.as_array().unwrap().len()
}

fn upkeep_slots(story: &Story) -> i64 {
    story.count("SELECT count(*) FROM slots WHERE job = 'upkeep'")
}

/// Promise (privacy/retention): Messages and files past a limit in `[retention]` are deleted
/// wherever they are stored (summaries and reflections stay), newer ones never; without a limit
/// nothing is. A clock that is ahead for some hours deletes nothing.
#[tokio::test]
async fn old_words_go_younger_ones_and_every_row_stay() {
    let story = Story::with(TEN_DAYS).await;
    story.model.says("Orchids want little water.").says("Tulips want more.");
    story.say(ADA, &format!("How do I water orchids? {}", canary(ADA))).await;
    let recalled = "UPDATE turns SET recalled = 'Orchids stand on the window sill.'";
    rusqlite::Connection::open(story.home.join("compline.db")).unwrap().execute(recalled, []).unwrap();
    rounds(&story, 8).await;
    story.say(ADA, "And tulips?").await;
    let rows = story.count("SELECT count(*) FROM texts");
    rounds(&story, 1).await;
    assert_eq!((blank(&story), found(&story, "orchids").await), (0, 2), "nothing is ten days old yet");
    rounds(&story, 2).await;
    assert_eq!((blank(&story), found(&story, "orchids").await, found(&story, "tulips").await), (2, 0, 2));
    assert_eq!(story.count("SELECT count(*) FROM texts"), rows);
    assert_eq!(story.count("SELECT count(*) FROM turns WHERE context || recalled <> '' AND conversation_id = 1"), 0);
    assert_eq!(
        story.count(
            "SELECT count(*) FROM steps s JOIN turns t ON t.id = s.turn_id WHERE t.conversation_id = 1 AND s.text <> ''"
        ),
        0
    );
    let shown = story.command_line(&["conversations", "show", "1"]).await;
    assert!(shown.markdown.contains("(forgotten)") && !shown.markdown.contains("How do I water"), "{}", shown.markdown);
    // A row as an earlier version left it: forgotten, but for what came to mind.
    let recalled = "UPDATE turns SET recalled = 'Orchids stand on the window sill.' WHERE conversation_id = 1";
    rusqlite::Connection::open(story.home.join("compline.db")).unwrap().execute(recalled, []).unwrap();
    rounds(&story, 2).await;
    assert_eq!(story.count("SELECT count(*) FROM turns WHERE recalled <> '' AND conversation_id = 1"), 0);
    assert!(shown.json["summary"]["topics"].is_array() && !shown.json["title"].as_str().unwrap().is_empty());
    story.end().await;
}

/// Proves: privacy/retention
#[tokio::test]
async fn without_the_setting_nothing_is_forgotten() {
    let story = Story::begin().await;
    story.say(ADA, &format!("The red shoes {}", canary(ADA))).await;
    rounds(&story, 40).await;
    assert_eq!((blank(&story), upkeep_slots(&story), found(&story, "shoes").await), (0, 40, 1));
    story.end().await;
}

/// Proves: privacy/retention
#[tokio::test]
async fn forgotten_words_are_gone_from_the_files_too() {
    let mut story = Story::with(TEN_DAYS).await;
    story.say(ADA, "Hello").await;
    rounds(&story, 8).await;
    story.say(BEN, &format!("Something else {}", canary(BEN))).await;
    // One old text among many young ones: too little for the index to merge by itself.
    let of = |id, words: String| (compline::id::MessageId(id), compline::store::TextKind::File, own(&words, id));
    let mut texts: Vec<_> = (0..200).map(|at| of(3, format!("young word{at}"))).collect();
    texts.insert(100, of(1, "Xylophonemusik aus Quakenbrueck".to_owned()));
    let add = move |tx: compline::store::Tx<'_>| {
        texts.iter().try_for_each(|(id, kind, text)| tx.messages().add_text(*id, *kind, text))
    };
    story.app().journal.write("fill", add).await.unwrap();
    rounds(&story, 4).await;
    assert_eq!(
        (found(&story, "Quakenbrueck").await, story.count("SELECT count(*) FROM texts WHERE text LIKE 'young%'")),
        (0, 200)
    );
    story.stop().await;
    let bytes = std::fs::read(story.home.join("compline.db")).unwrap().to_ascii_lowercase();
    let stands = |word: &str| bytes.windows(word.len()).any(|window| window == word.as_bytes());
    assert!(
        stands("word199") && !stands("quakenbrueck") && !stands("xylophonemusik"),
        "the words are still in the journal"
    );
    story.end().await;
}

/// Text of the message's sender.
fn own(words: &str, message: i64) -> compline::trust::Text {
    let person = compline::id::PersonId(if message == 1 { 1 } else { 2 });
    crate::support::story::typed(words, compline::trust::Scope::Person(person))
}

/// Proves: privacy/retention
#[tokio::test]
async fn unanswered_messages_are_not_deleted_by_retention() {
    let story = Story::with("[retention]\nmessages_days = 1\n").await;
    story.say(ADA, &format!("Good morning {}", canary(ADA))).await;
    let open = "UPDATE messages SET state = 'claimed' WHERE id = 1";
    rusqlite::Connection::open(story.home.join("compline.db")).unwrap().execute(open, []).unwrap();
    rounds(&story, 4).await;
    assert_eq!(blank(&story), 0, "a conversation in which something waits is left alone");
    let over = "UPDATE messages SET state = 'answered' WHERE id = 1";
    rusqlite::Connection::open(story.home.join("compline.db")).unwrap().execute(over, []).unwrap();
    rounds(&story, 1).await;
    assert_eq!(blank(&story), 2);
    story.end().await;
}

/// Proves: privacy/retention
#[tokio::test]
async fn received_files_go_by_their_age_and_nothing_else_does() {
    let story = Story::with(TEN_DAYS).await;
    for name in ["old.txt", "mine.txt", "link.txt"] {
        story.fake.sends_document(ADA, name, "text/plain", name.as_bytes());
        story.answered().await;
    }
    let inbox = story.home.join("workspace/inbox");
    std::fs::write(inbox.join("2-mine.txt"), "Ada's own by now").unwrap();
    let outside = story.home.join("workspace/USER.md");
    std::fs::remove_file(inbox.join("3-link.txt")).unwrap();
    std::os::unix::fs::symlink(&outside, inbox.join("3-link.txt")).unwrap();
    std::fs::write(inbox.join("notes.txt"), "put there by hand").unwrap();
    rounds(&story, 9).await;
    assert!(inbox.join("1-old.txt").exists());
    story.fake.sends_document(ADA, "young.txt", "text/plain", b"young");
    story.answered().await;
    rounds(&story, 2).await;
    assert!(!inbox.join("1-old.txt").exists() && outside.exists());
    for stays in ["2-mine.txt", "notes.txt", "3-link.txt", "4-young.txt"] {
        assert!(inbox.join(stays).symlink_metadata().is_ok(), "{stays} is gone");
    }
    assert_eq!(story.count("SELECT count(*) FROM attachments WHERE state = 'here'"), 1);
    story.end().await;
}

#[tokio::test]
async fn originals_are_kept_for_seven_days() {
    let story = Story::begin().await;
    story.say(ADA, &format!("Good morning {}", canary(ADA))).await;
    rounds(&story, 6).await;
    assert_eq!(story.count("SELECT count(*) FROM inbox WHERE raw <> ''"), 1);
    rounds(&story, 2).await;
    assert_eq!(story.count("SELECT count(*) FROM inbox WHERE raw <> ''"), 0);
    story.end().await;
}

#[tokio::test]
async fn missed_nights_are_not_made_up_for() {
    let mut story = Story::begin().await;
    story.say(ADA, &format!("Good morning {}", canary(ADA))).await;
    rounds(&story, 2).await;
    assert_eq!(upkeep_slots(&story), 2);
    story.stop().await;
    story.clock.advance(DAY * 5).await;
    story.start().await;
    story.pass(Duration::from_secs(60)).await;
    assert_eq!(
        (upkeep_slots(&story), story.text("SELECT state FROM slots WHERE job = 'upkeep' ORDER BY id DESC")),
        (3, "done".to_owned())
    );
    story.end().await;
}

/// Proves: operation/maintenance
#[test]
fn a_round_that_was_cut_off_is_taken_up() {
    for (side, job) in JOBS.into_iter().flat_map(|job| [(CommitPoint::Before, job), (After, job)]) {
        let mut crash_test = CrashTest::prepared("[retention]\nmessages_days = 1\n");
        assert!(!crash_test.start(Some(Cut::at(side, job))));
        crash_test.story.fake.says(ADA, &format!("Good morning {}", canary(ADA)));
        assert!(!crash_test.pass(Duration::from_secs(60)));
        let dark = (0..4).any(|_| crash_test.pass(DAY));
        assert!(dark, "{side:?} {job} never came");
        crash_test.revive();
        assert!(!crash_test.pass(Duration::from_secs(60)));
        assert_eq!(
            crash_test.story.count("SELECT count(*) FROM slots WHERE job = 'upkeep' AND state <> 'done'"),
            0,
            "{side:?} {job}"
        );
        assert!(!crash_test.pass(DAY * 2));
        assert_eq!(blank(&crash_test.story), 2, "{side:?} {job}");
        crash_test.end();
    }
}

/// Proves: operation/maintenance
#[tokio::test]
async fn an_index_that_lost_something_is_whole_again_within_a_week() {
    let story = Story::begin().await;
    story.say(ADA, &format!("The red shoes {}", canary(ADA))).await;
    story.pass(TO_THE_ROUND).await;
    let db = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    db.execute_batch("DELETE FROM texts_fts; INSERT INTO texts_fts (rowid, body, day) VALUES (999, 'p1tghost', '')")
        .unwrap();
    assert_eq!(found(&story, "shoes").await, 0);
    rounds(&story, 8).await;
    assert_eq!(
        (found(&story, "shoes").await, story.count("SELECT count(*) FROM texts_fts_docsize WHERE id = 999")),
        (1, 0)
    );
    story.end().await;
}

/// Proves: operation/maintenance
#[tokio::test]
async fn the_owner_is_warned_once_a_day_of_a_nearly_full_disk() {
    let mut story = Story::prepared("").await;
    story.disk_with(100 << 20);
    story.start().await;
    story.say(BEN, "Hello").await;
    story.say(ADA, &format!("Good morning {}", canary(ADA))).await;
    rounds(&story, 3).await;
    let told = |person| story.received_by(person).iter().filter(|text| text.contains("nearly full: 100 MiB")).count();
    assert_eq!((told(ADA), told(BEN)), (3, 0));
    story.disk_with(100 << 30);
    story.restart().await;
    rounds(&story, 3).await;
    assert_eq!(story.received_by(ADA).iter().filter(|text| text.contains("nearly full")).count(), 3);
    story.end().await;
}

#[tokio::test]
async fn status_shows_the_last_upkeep_and_a_sound_journal() {
    let story = Story::begin().await;
    story.say(ADA, &format!("Good morning {}", canary(ADA))).await;
    story.pass(TO_THE_ROUND).await;
    let status = story.command_line(&["status"]).await;
    assert!(status.markdown.contains("upkeep: last 04:30, the journal is sound"), "{}", status.markdown);
    assert_eq!(status.json["upkeep"]["sound"], true);
    assert!(status.json["upkeep"]["checked_at"].is_string());
    story.end().await;
}

/// Promise (operation/maintenance): Maintenance delays no one, and its files stay small.
#[tokio::test]
async fn the_writer_is_never_held_for_long_and_the_log_stays_short() {
    // Many old texts: every commit of the upkeep is small, and messages get through between them.
    let mut story = Story::prepared(TEN_DAYS).await;
    let commits = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&commits);
    story.fail_at(Some(Failpoint(Arc::new(move |side, job| {
        if side == After && job == "forget words" {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    }))));
    story.start().await;
    story.say(ADA, &format!("Good morning {}", canary(ADA))).await;
    let many = 3_000;
    story
        .app()
        .journal
        .write("fill", move |tx| {
            let label = compline::trust::Label::untrusted(compline::trust::Source::web("example.org"));
            for at in 0..many {
                let words: Arc<str> =
                    format!("word{at} {}", "lorem ipsum dolor sit amet consectetur ".repeat(20)).into();
                let text = compline::trust::Labelled::new(
                    words,
                    label.clone(),
                    compline::trust::Scope::Person(compline::id::PersonId(1)),
                );
                tx.messages().add_text(compline::id::MessageId(1), compline::store::TextKind::File, &text)?;
            }
            Ok(())
        })
        .await
        .unwrap();
    assert!(story.app().journal.log_size() > 4 << 20);
    story.pass(TO_THE_ROUND).await;
    assert!(story.app().journal.log_size() < 4 << 20, "the log was not cut");
    rounds(&story, 12).await;
    assert!(blank(&story) > many);
    assert!(commits.load(Ordering::SeqCst) >= 15, "too much at once: {} commits", commits.load(Ordering::SeqCst));
    assert_eq!(story.count("SELECT count(*) FROM fingerprints WHERE node LIKE 'text:%'"), 0);
    assert!(story.app().journal.log_size() <= 16 << 20);
    story.end().await;
}

#[tokio::test]
async fn a_young_home_has_nothing_to_be_kept_up() {
    let story = Story::begin().await;
    story.pass(Duration::from_secs(3600)).await;
    assert_eq!(upkeep_slots(&story), 0);
    story.pass(TO_THE_ROUND).await;
    assert_eq!(
        (upkeep_slots(&story), story.text("SELECT period FROM slots WHERE job = 'upkeep'")),
        (1, "2026-11-21".to_owned())
    );
    assert!(story.clock.now().0 > 0);
    story.end().await;
}

/// Proves: privacy/retention
#[tokio::test]
async fn a_clock_that_is_years_ahead_for_some_hours_forgets_nothing_and_silences_nothing() {
    let mut story = Story::with(TEN_DAYS).await;
    story.say(ADA, &format!("The red shoes {}", canary(ADA))).await;
    rounds(&story, 1).await;
    let here = story.clock.now();
    story.stop().await;
    story.clock.set(here.plus(DAY * 700));
    story.start().await;
    story.pass(DAY / 2).await;
    assert_eq!((blank(&story), upkeep_slots(&story)), (0, 2));
    story.stop().await;
    story.clock.set(here);
    story.start().await;
    rounds(&story, 2).await;
    assert_eq!((blank(&story), upkeep_slots(&story)), (0, 4), "and the rounds go on");
    story.end().await;
}
