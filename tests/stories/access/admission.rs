//! Admission: who may write, how others are turned away, and which messages never reach a model.

use std::path::Path;
use std::time::Duration;

use compline::time::Clock;

use crate::support::channel::Channel;
use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::story::{ADA, BEN, EVE, canary};

on_every_channel! {
    stories:
        without_configured_people_no_one_is_admitted,
        a_stranger_gets_five_lines_a_day_and_nothing_of_theirs_is_kept,
        a_pairing_code_lets_one_person_in_once,
        a_pairing_code_expires,
        guessing_codes_ends_soon_also_for_a_right_one,
        no_command_ever_reaches_a_model,
        a_path_or_a_comment_is_a_message,
        an_alias_does_what_its_command_does,
        an_unknown_command_gets_one_helpful_line,
        a_member_cannot_run_the_commands_of_an_owner,
        messages_in_an_unlisted_group_are_not_stored,
        unsupported_content_is_reported_and_not_ignored;
}

const DAY: Duration = Duration::from_secs(24 * 3600);
const DORA: i64 = 1004;

/// Tests for the bytes in any file below a folder: journal, log, notes.
fn stands_in(folder: &Path, words: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return stands_in(&path, words);
        }
        let bytes = std::fs::read(&path).unwrap_or_default();
        bytes.windows(words.len()).any(|window| window == words.as_bytes())
    })
}

fn asked(story: &Story) -> usize {
    story.model.requests().len() + story.background.requests().len()
}

/// Pairing code in the last message to Ada, after she sends `line`.
async fn pairing_code(story: &Story, line: &str) -> String {
    story.say(ADA, line).await;
    let is_code = |word: &str| word.len() == 9 && word.as_bytes()[4] == b'-' && word.to_uppercase() == word;
    let told = story.last_received_by(ADA);
    let code = told.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').find(|word| is_code(word));
    code.unwrap_or_else(|| panic!("no code in {told:?}")).to_owned()
}

/// Promise (people/no-access): No one has access by default; strangers get at most five lines a
/// day, and nothing they write is kept.
async fn without_configured_people_no_one_is_admitted(channel: TestChannel) {
    let mut story = channel.prepare_story("");
    story.configure_no_people();
    story.start().await;
    for person in [ADA, BEN, EVE] {
        story.say(person, &format!("hello {}", canary(person))).await;
        assert!(story.last_received_by(person).starts_with("This is a private assistant."));
    }
    assert_eq!((asked(&story), story.count("SELECT count(*) FROM messages")), (0, 0));
    story.end().await;
}

/// Proves: people/no-access
async fn a_stranger_gets_five_lines_a_day_and_nothing_of_theirs_is_kept(channel: TestChannel) {
    let story = channel.begin_story().await;
    for _ in 0..7 {
        story.say(EVE, &format!("open up {}", canary(EVE))).await;
    }
    story.fake.sends_photo(EVE, &canary(EVE), b"a picture");
    story.answered().await;
    assert_eq!(story.received_by(EVE).len(), 5);
    story.pass(DAY).await;
    story.say(EVE, "/status").await;
    story.say(EVE, &format!("open up {}", canary(EVE))).await;
    assert_eq!(story.received_by(EVE).len(), 7);
    assert_eq!(asked(&story), 0);
    assert_eq!(story.count("SELECT count FROM strangers"), 10);
    assert!(stands_in(&story.home, &story.fake.peer(EVE)), "the search finds what is there");
    assert!(!stands_in(&story.home, &canary(EVE)), "what a stranger wrote was kept");
    story.end().await;
}

/// Promise (people/pairing-code): A pairing code admits one person once, expires soon and cannot be
/// guessed.
async fn a_pairing_code_lets_one_person_in_once(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.fake.person(DORA, "Dora", None);
    let code = pairing_code(&story, "/pair Dora").await;
    story.say(DORA, &format!("/start {code}")).await;
    assert!(story.last_received_by(DORA).starts_with("Welcome, Dora."), "{}", story.last_received_by(DORA));
    story.say(DORA, "hello").await;
    assert_eq!(story.last_received_by(DORA), "ok");
    story.say(EVE, &code).await;
    assert!(story.last_received_by(EVE).starts_with("That code is not valid."), "{}", story.last_received_by(EVE));
    story.say(EVE, "hello").await;
    assert_eq!(story.model.chats().len(), 1);
    assert!(
        !stands_in(&story.home, &code) || story.count("SELECT count(*) FROM pairing_codes WHERE used_at IS NULL") == 0
    );
    story.end().await;
}

/// Proves: people/pairing-code
async fn a_pairing_code_expires(channel: TestChannel) {
    let story = channel.begin_story().await;
    let code = pairing_code(&story, "/pair Dora").await;
    let start = story.clock.now();
    story.pass(DAY).await;
    story.say(EVE, &format!("/start {code}")).await;
    assert!(story.last_received_by(EVE).starts_with("That code is not valid."), "{}", story.last_received_by(EVE));
    // A clock that is set back makes nothing valid again.
    story.clock.set(start);
    story.say(EVE, &format!("/start {code}")).await;
    assert!(story.last_received_by(EVE).starts_with("That code is not valid."), "{}", story.last_received_by(EVE));
    assert_eq!(story.count("SELECT count(*) FROM people WHERE name = 'Dora'"), 0);
    story.end().await;
}

/// Proves: people/pairing-code
async fn guessing_codes_ends_soon_also_for_a_right_one(channel: TestChannel) {
    let story = channel.begin_story().await;
    let code = pairing_code(&story, "/pair Dora").await;
    for n in 0..5 {
        story.say(EVE, &format!("/start AAAA-AAA{n}")).await;
    }
    let told = story.received_by(EVE).len();
    story.say(EVE, &format!("/start {code}")).await;
    assert!(!story.last_received_by(EVE).starts_with("Welcome"), "the sixth guess of a day counts");
    for n in 0..50 {
        story.say(EVE, &format!("/start BBBB-BB{n:02}")).await;
    }
    assert!(story.received_by(EVE).len() <= told + 1, "{} lines", story.received_by(EVE).len());
    assert_eq!(story.count("SELECT count(*) FROM people WHERE name = 'Dora'"), 0);
    story.end().await;
}

/// Promise (trust/commands): Commands never reach a model, and members cannot run owner commands.
async fn no_command_ever_reaches_a_model(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, &format!("hello {}", canary(ADA))).await;
    let lines = [
        "/help",
        "/start",
        "/whoami",
        "/stop",
        "/status",
        "/usage",
        "/search hello",
        "/people",
        "/pair Zoe",
        "/model",
        "/remove Zoe",
        "/new",
        "/reset",
        "/clear",
        "/cancel",
        "/cost",
        "/remind me of the milk",
        "/Status@compline_test_bot",
        "/nonsense",
        "/search",
    ];
    for line in lines {
        let before = story.received_by(ADA).len();
        story.say(ADA, line).await;
        assert_eq!(story.received_by(ADA).len(), before + 1, "{line} gets one answer");
    }
    assert_eq!(story.model.requests().len(), 1);
    story.end().await;
}

/// Promise (trust/no-command): A text that begins with a slash and no name (a path, a comment) is a
/// message like any other.
async fn a_path_or_a_comment_is_a_message(channel: TestChannel) {
    let story = channel.begin_story().await;
    for text in [
        "/usr/bin/foo says permission denied, why?",
        "/ is the root, right?",
        "//comment: what is this?",
        "/etc/passwd",
    ] {
        story.say(ADA, &format!("{text} {}", canary(ADA))).await;
        assert_eq!(story.received_by(ADA).pop().unwrap(), "ok", "{text}");
        assert!(story.model.last_prompt().contains(text), "{text}");
    }
    story.end().await;
}

/// Promise (trust/command-aliases): Commands also answer to names known from other programs:
/// `/cancel`, `/clear`, `/cost`, `/invite`, `/remind`, `/reset`.
async fn an_alias_does_what_its_command_does(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, "hello").await;
    for (alias, name) in [
        ("/cancel", "/stop"),
        ("/clear", "/new"),
        ("/cost", "/usage"),
        ("/remind", "/reminders"),
        ("/remind 1", "/reminders 1"),
    ] {
        story.say(ADA, name).await;
        let expected = story.last_received_by(ADA);
        story.say(ADA, alias).await;
        assert_eq!(story.last_received_by(ADA), expected, "{alias}");
    }
    story.say(ADA, "/invite Zoe").await;
    assert_eq!(story.count("SELECT count(*) FROM pairing_codes"), 1, "{}", story.last_received_by(ADA));
    assert_eq!(story.count("SELECT count(*) FROM conversations"), 1);
    story.say(ADA, "hello again").await;
    assert_eq!(story.count("SELECT count(*) FROM conversations"), 2);
    story.say(ADA, "/clear").await;
    story.say(ADA, "and again").await;
    assert_eq!(story.count("SELECT count(*) FROM conversations"), 3, "/clear alone begins one");
    story.end().await;
}

/// Proves: trust/commands
async fn an_unknown_command_gets_one_helpful_line(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, "/statsu").await;
    let heard = story.last_received_by(ADA);
    assert!(heard.contains("Did you mean /status?") && heard.contains("/help") && !heard.contains('\n'), "{heard}");
    story.end().await;
}

/// Proves: trust/commands
async fn a_member_cannot_run_the_commands_of_an_owner(channel: TestChannel) {
    let story = channel.begin_story().await;
    for line in ["/people", "/pair Zoe", "/pair Zoe owner", "/remove Ada"] {
        story.say(BEN, line).await;
        assert_eq!(story.last_received_by(BEN), "Only an owner may do that.", "{line}");
    }
    assert_eq!(story.count("SELECT count(*) FROM pairing_codes"), 0);
    story.say(ADA, &format!("hello {}", canary(ADA))).await;
    assert_eq!(story.last_received_by(ADA), "ok", "she is still in");
    story.end().await;
}

/// Promise (groups/not-allowed): In a group that you have not allowed, Compline answers and keeps
/// nothing; if you address it there, it tells you in your direct chat how to allow the group.
async fn messages_in_an_unlisted_group_are_not_stored(channel: TestChannel) {
    let story = channel.begin_story().await;
    let group = story.fake.group(-1_007, "The family");
    story.fake.adds_bot(group, ADA);
    story.fake.says_in(group, ADA, "the group-secret of Ada");
    story.fake.says_in(group, EVE, "the group-secret of Eve");
    story.fake.says_in(group, ADA, "/status group-secret");
    story.answered().await;
    assert_eq!((asked(&story), story.fake.sent(group).len(), story.received_by(ADA).len()), (0, 0, 0));
    assert!(!stands_in(&story.home, "group-secret"), "what was said in a group was kept");
    story.end().await;
}

/// Promise (delivery/unsupported): If Compline cannot accept something you send, it says so instead
/// of ignoring it.
async fn unsupported_content_is_reported_and_not_ignored(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.fake.sends_unsupported(ADA);
    story.answered().await;
    let heard = story.received_by(ADA);
    assert!(heard.len() == 1 && heard[0].starts_with("I cannot take "), "{heard:?}");
    assert_eq!(asked(&story), 0);
    story.end().await;
}
