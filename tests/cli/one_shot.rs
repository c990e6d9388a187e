//! One question on the command line gets its own answer, independent of other activity.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::program::{Ended, Home, PLAIN};
use super::wizard::model_server;

const EARLIER: &str = "This answers something earlier:";

/// Runs all commands at the same time.
fn at_once(home: &Home, lines: &[&str]) -> Vec<Ended> {
    let begin = |line: &&str| home.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun: Vec<_> = lines.iter().map(begin).collect();
    begun.into_iter().map(|child| Ended::of(child.wait_with_output().unwrap())).collect()
}

/// Promise (command-line/chat-answer): `compline chat "…"` prints only the answer to your question,
/// even when several are asked at once or older answers are pending. Joined questions each get the
/// shared answer; answers to older questions go to standard error, marked as such.
#[test]
fn three_questions_at_once_get_their_own_answers() {
    let home = Home::plain();
    let _gateway = home.gateway();
    let lines = ["chat /whoami", "chat /memory search zzz", "chat /help"];
    let alone: Vec<String> = lines.iter().map(|line| home.run(line).done()).collect();
    for _ in 0..4 {
        for (ended, alone) in at_once(&home, &lines).into_iter().zip(&alone) {
            assert_eq!((ended.code, &ended.out, ended.err.as_str()), (0, alone, ""));
        }
    }
}

/// Proves: command-line/chat-answer
#[test]
fn answers_that_were_never_taken_are_no_answers_to_the_next_question() {
    let home = Home::plain();
    for line in ["chat /help", "chat What is 12*7?", "chat /memory search zzz"] {
        home.run(line).done();
    }
    // Simulates a kill between answer and delivery.
    let journal = Connection::open(home.file("compline.db")).unwrap();
    journal.execute_batch("DELETE FROM parts; UPDATE outbox SET state = 'pending', ended_at = NULL;").unwrap();
    drop(journal);
    let first = home.run("chat /whoami");
    assert!(first.out.contains("Ada") && !first.out.contains("84") && !first.out.contains("/memory"), "{first:?}");
    assert_eq!(first.err.matches(EARLIER).count(), 3, "{first:?}");
    assert!(first.err.contains("84"), "{first:?}");
    let second = home.run("chat /whoami");
    assert_eq!((second.out, second.err.as_str()), (first.out, ""));
}

/// Promise (command-line/chat-unanswered): If the model gives no answer, `compline chat "…"` says
/// why on standard error and fails; so does the next question, at once.
#[test]
fn a_question_without_an_answer_fails_with_the_reason() {
    let model = format!(
        "[model]\nprovider = \"openai\"\nname = \"small\"\nbase_url = \"http://{}/v1\"\napi_key = \"sk-wrong\"\n",
        model_server()
    );
    let home = Home::configured(format!("{PLAIN}{model}"));
    let _gateway = home.gateway();
    home.run("chat question 1").refused(1, &["refuses our key. Your message is kept"]);
    home.run("chat question 2").refused(1, &["refuses our key. No answers since", "Messages waiting: 2."]);
    let status = home.run("status");
    assert!(status.out.contains(", no answer since") && status.out.contains("refuses our key"), "{status:?}");
}

/// Promise (command-line/chat-refused): A command in `compline chat "/…"` that does not exist or
/// cannot be done says why on standard error and fails; piped text with it is answered all the
/// same.
#[test]
fn a_command_that_is_not_done_fails_with_the_reason() {
    let home = Home::plain();
    let bogus = "I do not know the command /bogus.";
    let alone = home.run("chat /bogus");
    alone.refused(1, &[bogus]);
    assert_eq!(alone.out, "");
    let _gateway = home.gateway();
    home.run("chat /bogus").refused(1, &[bogus]);
    home.run("chat /show 99").refused(1, &["99"]);
    let piped = home.pipe("chat /bogus", b"The kettle is blue.");
    piped.refused(1, &[bogus]);
    assert!(!piped.out.is_empty() && !piped.out.contains("/bogus"), "{piped:?}");
}

/// A gateway with a limit on the size of its files: simulates a full disk.
fn gateway_on_a_full_disk(home: &Home) -> Child {
    let journal = std::fs::metadata(home.file("compline.db")).unwrap().len();
    let limit = journal / 512 + 64;
    let mut command = Command::new("sh");
    command.env_clear().env("TZ", "UTC").env("LANG", "C.UTF-8");
    let line = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$@\"");
    command.args(["-c", &line, "sh", env!("CARGO_BIN_EXE_compline"), "--home"]).arg(home.path()).arg("run");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(std::fs::File::create(home.file("said")).unwrap());
    let mut gateway = command.spawn().unwrap();
    while !said(home).contains("Ready") {
        assert!(gateway.try_wait().unwrap().is_none(), "the gateway ended: {}", said(home));
        std::thread::yield_now();
    }
    gateway
}

fn said(home: &Home) -> String {
    std::fs::read_to_string(home.file("said")).unwrap()
}

/// Number of messages from the terminal with this word in the journal.
fn stored(home: &Home, word: &str) -> i64 {
    let journal = Connection::open(home.file("compline.db")).unwrap();
    let like = format!("%{word}%");
    journal
        .query_row(
            "SELECT count(*) FROM texts t JOIN messages m ON m.id = t.message_id
             WHERE t.text LIKE ?1 AND t.kind = 'said' AND m.person_id IS NOT NULL",
            [like],
            |row| row.get(0),
        )
        .unwrap()
}

/// Promise (operation/terminal-on-full-disk): On a full disk, a terminal question or command fails
/// within seconds, says that the disk is full and returns a failing exit code. A question returned
/// to you is neither stored nor answered later; the gateway reports the problem in one line.
#[test]
fn on_a_full_disk_a_question_ends_with_a_sentence_and_is_not_doubled_later() {
    let home = Home::plain();
    home.run("chat /remember Ladder: behind the shed").done();
    let mut gateway = gateway_on_a_full_disk(&home);
    let filler = "filler ".repeat(2_000);
    let mut full = None;
    for number in 0..200 {
        let begun = Instant::now();
        let ended = home.run(&format!("chat Question{number}x {filler}"));
        assert!(begun.elapsed() < Duration::from_secs(10), "question {number} took {:?}", begun.elapsed());
        if ended.code != 0 {
            full = Some((number, ended));
            break;
        }
    }
    let (number, ended) = full.expect("it was never full");
    ended.refused(1, &["the disk is full", "Make room"]);
    // The gateway prints its line concurrently.
    let told = Instant::now();
    while !said(&home).contains("the disk is full") {
        assert!(told.elapsed() < Duration::from_secs(10), "{}", said(&home));
        std::thread::yield_now();
    }
    let refused = home.run("memory forget Ladder --yes");
    assert!(refused.code != 0 && refused.err.contains("the disk is full"), "{refused:?}");
    gateway.kill().unwrap();
    gateway.wait().unwrap();
    let word = format!("Question{number}x");
    let kept = stored(&home, &word);
    // Either the message was returned and is not stored, or it is stored and its answer was
    // promised.
    assert_eq!(kept, i64::from(ended.err.contains("is stored")), "{ended:?}");
    let _gateway = home.gateway();
    assert!(home.run("chat /whoami").done().contains("Ada"));
    assert_eq!(stored(&home, &word), kept, "nothing of it comes later");
}
