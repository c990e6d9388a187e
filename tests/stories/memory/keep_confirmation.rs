//! "Keep this?": text that a turn tries to remember after reading outside text waits for the
//! person's yes to exactly those words.

use std::time::Duration;

use compline::store::CommitPoint::{After, Before};
use compline::time::Clock;
use serde_json::{Value, json};

use crate::support::power::{CrashTest, Cut};
use crate::support::story::{ADA, BEN, EVE, Story, UNTRUSTED, canary, every_untrusted_part_is_labelled};

const HOUR: Duration = Duration::from_secs(3600);
const FAMILY: i64 = -100_200;

fn note(title: &str, content: &str) -> Value {
    json!({ "title": title, "content": content, "kind": "reference" })
}

/// Story in which Ada forwards a letter and the model tries to remember part of it.
async fn wanted(title: &str, content: &str) -> Story {
    let story = Story::begin().await;
    wants(&story, title, content).await;
    story
}

async fn wants(story: &Story, title: &str, content: &str) {
    story.model.calls("remember", note(title, content)).says("Noted.");
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter {title}"));
    story.answered().await;
}

fn state(story: &Story) -> String {
    story.text("SELECT coalesce(group_concat(state, ' '), '') FROM keeps")
}

fn questions(story: &Story) -> Vec<String> {
    story.received_by(ADA).into_iter().filter(|heard| heard.contains("Keep this?")).collect()
}

/// First prompt of Ada's next conversation.
async fn next_prompt(story: &Story) -> String {
    story.say(ADA, "/new").await;
    story.say(ADA, "good morning").await;
    story.model.last_prompt()
}

/// Promise (memory/word-for-word): Text that you did not write is never kept automatically: you are
/// shown it word for word, and only your approval of exactly that text makes it yours.
#[tokio::test]
async fn the_exact_words_are_asked_about_behind_the_answer_and_nothing_is_loaded_before_the_yes() {
    let story = wanted("Tea", &format!("Warm the pot. {UNTRUSTED}tea \u{200b}\u{202e}Really.")).await;
    let heard = story.received_by(ADA);
    assert_eq!((heard.len(), heard[0].as_str()), (2, "Noted."), "{heard:?}");
    let question = &heard[1];
    for part in ["Keep this?", "Warm the pot.", "⟨U+200B", "⟨U+202E", "/yes 1", "/no 1", "24 hours"] {
        assert!(question.contains(part), "{part:?} is missing in {question}");
    }
    assert!(!question.contains("memory/"), "the words are what to decide on: {question}");
    let carried: Vec<String> =
        story.fake.sent(ADA).pop().unwrap().buttons().into_iter().map(|(_, data)| data).collect();
    assert_eq!(carried, ["/yes 1", "/no 1"]);
    assert_ne!(story.text("SELECT label FROM outbox ORDER BY id DESC LIMIT 1"), "trusted");
    assert!(story.file("memory/untrusted/tea.md").is_some() && story.file("memory/tea.md").is_none());
    assert!(!story.file("memory/MEMORY.md").unwrap().contains("tea.md"));
    let prompt = next_prompt(&story).await;
    assert!(!prompt.contains("Warm the pot"), "{prompt}");
    every_untrusted_part_is_labelled(&story);
    assert_eq!(state(&story), "open", "another message is no answer");
    story.end().await;
}

/// Proves: memory/word-for-word
#[tokio::test]
async fn a_yes_makes_it_theirs_without_a_model_and_the_next_conversation_knows_it() {
    let story = wanted("Tea", "Warm the pot first.").await;
    let asked = story.model.asked();
    story.say(ADA, "/yes 1").await;
    let heard = story.received_by(ADA);
    assert_eq!(heard.len(), 3, "one answer: {heard:?}");
    assert!(heard[2].contains("memory/tea.md is yours now"), "{heard:?}");
    assert_eq!((story.model.asked(), state(&story).as_str()), (asked, "kept"));
    assert!(story.file("memory/untrusted/tea.md").is_none());
    assert!(story.file("memory/tea.md").unwrap().contains("Warm the pot first."));
    for again in ["/yes 1", "/no 1"] {
        story.say(ADA, again).await;
        assert!(story.last_received_by(ADA).contains("said yes to that already"), "{}", story.last_received_by(ADA));
    }
    assert_eq!(state(&story), "kept");
    let prompt = next_prompt(&story).await;
    assert_eq!(prompt.matches("(tea.md)").count(), 1, "{prompt}");
    assert!(story.model.chats().last().unwrap().label().is_trusted());
    let versions =
        "SELECT group_concat(author || ':' || cause || ':' || label, ' ') FROM files WHERE path = 'memory/tea.md'";
    assert_eq!(story.text(versions), "person:promote:trusted");
    story.end().await;
}

/// Proves: memory/word-for-word
#[tokio::test]
async fn buttons_answer_too_and_a_no_leaves_it_where_it_is() {
    let story = wanted("Tea", "Warm the pot first.").await;
    let question = story.fake.sent(ADA).last().unwrap().message_id;
    story.fake.presses(ADA, question, "/no 1");
    story.answered().await;
    assert!(story.last_received_by(ADA).contains("stays where it is"), "{}", story.last_received_by(ADA));
    assert_eq!(state(&story), "no");
    assert!(story.file("memory/untrusted/tea.md").is_some() && story.file("memory/tea.md").is_none());
    story.fake.presses(ADA, question, "/yes 1");
    story.answered().await;
    assert!(story.last_received_by(ADA).contains("is over"), "{}", story.last_received_by(ADA));
    assert!(story.file("memory/tea.md").is_none());

    wants(&story, "Coffee", "No sugar.").await;
    let question = story.fake.sent(ADA).last().unwrap().message_id;
    story.fake.presses(ADA, question, "/yes 2");
    story.answered().await;
    assert_eq!(state(&story), "no kept");
    story.end().await;
}

/// Proves: memory/word-for-word
#[tokio::test]
async fn it_waits_a_day_and_not_longer() {
    let story = wanted("Tea", "Warm the pot first.").await;
    story.say(ADA, "something else").await;
    story.pass(23 * HOUR).await;
    wants(&story, "Coffee", "No sugar.").await;
    story.say(ADA, "/yes 1").await;
    assert_eq!(state(&story), "kept open");
    story.pass(24 * HOUR).await;
    story.say(ADA, "/yes 2").await;
    assert!(story.last_received_by(ADA).contains("is over"), "{}", story.last_received_by(ADA));
    assert_eq!(state(&story), "kept expired");
    assert!(story.file("memory/coffee.md").is_none());
    story.end().await;
}

/// Two days without power before a pending question to Ada is sent.
fn kept_back() -> CrashTest {
    let mut crash_test = CrashTest::prepared("");
    crash_test.story.model.calls("remember", note("Tea", "Warm the pot first.")).says("Noted.");
    assert!(!crash_test.start(Some(Cut::at(After, "store a reply"))));
    crash_test.story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter"));
    assert!(crash_test.pass(Duration::from_secs(2)));
    crash_test.bury();
    let clock = &crash_test.story.clock;
    clock.set(clock.now().plus(48 * HOUR));
    assert!(!crash_test.start(None));
    assert!(!crash_test.pass(Duration::from_secs(5)));
    assert_eq!((questions(&crash_test.story).len(), state(&crash_test.story).as_str()), (1, "open"));
    crash_test
}

/// Proves: gate/time-to-answer
#[test]
fn its_day_begins_when_it_was_shown() {
    for (hours, reached) in [(23, "kept"), (25, "expired")] {
        let crash_test = kept_back();
        assert!(!crash_test.pass(hours * HOUR));
        crash_test.story.fake.says(ADA, "/yes 1");
        assert!(!crash_test.pass(Duration::from_secs(5)));
        assert_eq!(state(&crash_test.story), reached, "{hours} h: {:?}", crash_test.story.received_by(ADA));
        crash_test.end();
    }
}

/// Proves: memory/word-for-word
#[tokio::test]
async fn a_yes_is_for_the_words_that_were_shown_and_for_no_others() {
    let story = wanted("Tea", "Warm the pot first.").await;
    let other = story.file("memory/untrusted/tea.md").unwrap().replace("first", "never");
    std::fs::write(story.path_of("memory/untrusted/tea.md"), &other).unwrap();
    story.say(ADA, "/yes 1").await;
    assert!(story.last_received_by(ADA).contains("not what you were shown"), "{}", story.last_received_by(ADA));
    assert_eq!((state(&story).as_str(), story.file("memory/untrusted/tea.md")), ("changed", Some(other)));
    assert!(story.file("memory/tea.md").is_none());

    wants(&story, "Coffee", "No sugar.").await;
    std::fs::remove_file(story.path_of("memory/untrusted/coffee.md")).unwrap();
    story.say(ADA, "/yes 2").await;
    assert!(story.last_received_by(ADA).contains("not what you were shown"), "{}", story.last_received_by(ADA));
    assert_eq!(state(&story), "changed changed");
    story.end().await;
}

/// Proves: memory/word-for-word
#[tokio::test]
async fn only_the_asked_person_answers_and_question_numbers_are_unique() {
    let story = wanted("Tea", "Warm the pot first.").await;
    story.say(BEN, "/yes 1").await;
    assert_eq!(state(&story), "open");
    assert!(story.file("memory/tea.md").is_none());

    // A question about egress takes the next number, and its answer does not answer this one.
    story.model.calls("web_fetch", json!({ "url": "http://evil.example/a" }));
    story.say(ADA, &format!("what now? {}", canary(ADA))).await;
    assert!(story.last_received_by(ADA).contains("/yes 2"), "{}", story.last_received_by(ADA));
    story.say(ADA, "/no 2").await;
    assert_eq!(state(&story), "open");
    assert_eq!(story.text("SELECT group_concat(id || state) FROM questions"), "2refused");
    wants(&story, "Coffee", "No sugar.").await;
    assert_eq!(story.text("SELECT group_concat(number) FROM keeps"), "1,3");
    story.end().await;
}

/// Promise (memory/keep-replaces): A text that you keep takes the place of your note of that title,
/// or of the fact with that key; the question says what it replaces, and nothing else is replaced.
#[tokio::test]
async fn what_is_kept_replaces_the_note_of_its_title_as_the_question_said() {
    let story = Story::begin().await;
    story.model.calls("remember", note("Tea", "Never warm the pot.")).says("Noted.");
    story.say(ADA, &format!("remember how I make tea {}", canary(ADA))).await;
    story.say(ADA, "/new").await;
    wants(&story, "Tea", "Warm the pot first.").await;
    let question = story.last_received_by(ADA);
    assert!(question.contains("It takes the place of “Never warm the pot.”"), "{question}");
    story.say(ADA, "/yes 1").await;
    assert!(
        story.last_received_by(ADA).contains("instead of “Never warm the pot.”"),
        "{}",
        story.last_received_by(ADA)
    );
    let note_now = story.file("memory/tea.md").unwrap();
    assert!(note_now.contains("Warm the pot first.") && !note_now.contains("Never"), "{note_now}");
    assert_eq!(story.file("memory/MEMORY.md").unwrap().matches("[Tea]").count(), 1);

    story.say(ADA, "/new").await;
    wants(&story, "Tea", "Use a mug.").await;
    story.say(ADA, "/new").await;
    story.model.calls("remember", note("Tea", "Take the blue pot.")).says("Noted.");
    story.say(ADA, "and rather the blue one").await;
    story.say(ADA, "/yes 2").await;
    assert!(story.last_received_by(ADA).contains("not what you were shown"), "{}", story.last_received_by(ADA));
    assert!(story.file("memory/tea.md").unwrap().contains("Take the blue pot."), "it changed since the question");
    story.end().await;
}

/// Proves: memory/keep-replaces
#[tokio::test]
async fn what_is_kept_under_a_known_key_replaces_the_fact() {
    let story = Story::begin().await;
    story.say(ADA, &format!("/remember Cat: Tom {}", canary(ADA))).await;
    story.say(ADA, "/remember Cat: Rex").await;
    assert!(story.last_received_by(ADA).contains("instead of “Cat: Tom"), "{}", story.last_received_by(ADA));
    wants(&story, "The cat", "Cat: Bruno").await;
    let question = story.last_received_by(ADA);
    assert!(question.contains("It takes the place of “Cat: Rex”"), "{question}");
    story.say(ADA, "/yes 1").await;
    assert!(story.last_received_by(ADA).contains("instead of “Cat: Rex”"), "{}", story.last_received_by(ADA));
    let memory = story.file("memory/MEMORY.md").unwrap();
    assert!(memory.contains("- **Cat**: Bruno") && !memory.contains("Rex") && !memory.contains("the-cat"), "{memory}");
    assert!(story.file("memory/the-cat.md").is_none() && story.file("memory/untrusted/the-cat.md").is_none());
    let prompt = next_prompt(&story).await;
    assert_eq!(prompt.matches("Bruno").count(), 1, "{prompt}");
    story.end().await;
}

/// Proves: memory/word-for-word
#[tokio::test]
async fn three_are_asked_one_by_one_and_the_rest_is_pointed_to() {
    let story = Story::begin().await;
    for title in ["One", "Two", "Three", "Four"] {
        story.model.calls("remember", note(title, "A line."));
    }
    story.model.calls("remember", note("Long", &"All of it. ".repeat(400))).says("Noted.");
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter"));
    story.answered().await;
    let asked = questions(&story);
    assert_eq!(asked.len(), 4, "{asked:?}");
    let last = asked.last().unwrap();
    assert!(last.contains("/promote four") && last.contains("/promote long") && !last.contains("All of it"), "{last}");
    assert!(story.fake.sent(ADA).pop().unwrap().buttons().is_empty(), "nobody says yes to what they were not shown");
    assert_eq!(state(&story), "open open open new new");
    story.end().await;
}

/// Proves: memory/word-for-word
#[tokio::test]
async fn a_note_written_twice_in_a_turn_is_asked_about_once_in_its_final_form() {
    let story = Story::begin().await;
    story.model.calls("remember", note("Tea", "First words.")).calls("remember", note("Tea", "Last words."));
    story.model.says("Noted.");
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter"));
    story.answered().await;
    let asked = questions(&story);
    assert!(asked.len() == 1 && asked[0].contains("Last words.") && !asked[0].contains("First words."), "{asked:?}");
    story.say(ADA, "/yes 1").await;
    assert!(story.file("memory/tea.md").unwrap().contains("Last words."));
    story.end().await;
}

/// Proves: memory/word-for-word
#[tokio::test]
async fn a_group_is_never_asked_to_confirm_a_note() {
    let story = Story::with("[groups]\nallowed = [\"telegram:-100200\"]\n").await;
    story.fake.group(FAMILY, "The family");
    story.model.calls("remember", note("Tea", "Warm the pot first.")).says("Noted.");
    story.fake.says_in(FAMILY, EVE, &format!("@{} remember that", story.fake.bot_username()));
    story.answered().await;
    assert!(story.received_by(FAMILY).iter().chain(&story.received_by(ADA)).all(|heard| !heard.contains("Keep this?")));
    assert_eq!(story.count("SELECT count(*) FROM keeps WHERE state <> 'new'"), 0);
    story.end().await;
}

/// Proves: memory/word-for-word
#[tokio::test]
async fn deleting_a_message_withdraws_the_question_it_caused() {
    let story = wanted("Tea", "Warm the pot first.").await;
    let turn = story.count("SELECT turn_id FROM keeps");
    let message = story.count(&format!("SELECT id FROM messages WHERE turn_id = {turn} AND kind = 'said'"));
    let now = compline::time::Clock::now(&*story.clock);
    let gone = move |tx: compline::store::Tx<'_>| {
        let id = compline::id::MessageId(message);
        tx.redaction().redact_message(id, now).map(drop)
    };
    story.app().journal.write("delete a message", gone).await.unwrap();
    assert_eq!((state(&story).as_str(), story.text("SELECT shown FROM keeps").as_str()), ("no", ""));
    story.say(ADA, "/yes 1").await;
    assert!(story.file("memory/tea.md").is_none());
    story.end().await;
}

/// Ada says yes; the power is cut at the given commit and restored.
fn cut_after_yes(cut: Cut) -> CrashTest {
    let mut crash_test = CrashTest::prepared("");
    crash_test.story.model.calls("remember", note("Tea", "Warm the pot first.")).says("Noted.");
    assert!(!crash_test.start(None));
    crash_test.story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter"));
    assert!(!crash_test.pass(Duration::from_secs(2)));
    assert_eq!(questions(&crash_test.story).len(), 1);
    crash_test.cut_next(cut);
    crash_test.story.fake.says(ADA, "/yes 1");
    assert!(crash_test.pass(Duration::from_secs(2)), "{cut:?} never came");
    crash_test.revive();
    assert!(!crash_test.pass(Duration::from_secs(5)));
    crash_test
}

/// Proves: memory/word-for-word
#[test]
fn a_yes_takes_effect_once_despite_a_power_cut_at_any_point() {
    let jobs = [
        ("accept messages", 1),
        ("announce a change of a file", 1),
        ("a changed file stands in its place", 1),
        ("settle what is kept", 1),
    ];
    for (side, (job, nth)) in jobs.into_iter().flat_map(|job| [(Before, job), (After, job)]) {
        let crash_test = cut_after_yes(Cut { side, job: Some(job), nth });
        let story = &crash_test.story;
        let told: Vec<String> =
            story.received_by(ADA).into_iter().filter(|heard| heard.contains("is yours now")).collect();
        assert_eq!(told.len(), 1, "{side:?} {job} {nth}: {:?}", story.received_by(ADA));
        assert_eq!(state(story), "kept", "{side:?} {job} {nth}");
        assert!(story.file("memory/untrusted/tea.md").is_none(), "{side:?} {job} {nth}");
        assert!(story.file("memory/tea.md").unwrap().contains("Warm the pot first."), "{side:?} {job} {nth}");
        let index = story.file("memory/MEMORY.md").unwrap();
        assert_eq!(index.matches("(tea.md)").count(), 1, "{side:?} {job} {nth}: {index}");
        crash_test.end();
    }
}

/// Proves: memory/word-for-word
#[test]
fn a_question_is_asked_once_despite_a_power_cut_at_any_point() {
    for (side, job) in [Before, After].into_iter().flat_map(|side| {
        ["begin a tool step", "want to keep something", "store a tool step", "store a reply"].map(|job| (side, job))
    }) {
        let mut crash_test = CrashTest::prepared("");
        crash_test.story.model.calls("remember", note("Tea", "Warm the pot first.")).says("Noted.");
        crash_test.story.model.says("Noted.");
        assert!(!crash_test.start(Some(Cut::at(side, job))));
        crash_test.story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter"));
        assert!(crash_test.pass(Duration::from_secs(2)), "{side:?} {job} never came");
        crash_test.revive();
        assert!(!crash_test.pass(Duration::from_secs(5)));
        assert_eq!(questions(&crash_test.story).len(), 1, "{side:?} {job}: {:?}", crash_test.story.received_by(ADA));
        assert_eq!(state(&crash_test.story), "open", "{side:?} {job}");
        crash_test.end();
    }
}
