//! The plan of an erasure: shown before anything is deleted, covered by its code, narrowed by
//! numbers, and carried out in the narrow form even after a power cut.

use std::time::Duration;

use compline::store::CommitPoint::{After, Before};
use compline::time::Clock;
use serde_json::json;

use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::injected_events::journal_contains;
use crate::support::power::Cut;
use crate::support::story::{ADA, BEN, forget_command};

on_every_channel! {
    stories:
        the_plan_is_shown_before_and_its_code_covers_it,
        a_note_that_says_something_else_since_it_was_shown_is_shown_again,
        only_the_chosen_items_are_deleted,
        a_message_or_a_reminder_is_deleted_alone_if_its_number_is_chosen,
        what_was_made_from_a_message_is_found_by_its_edges_and_goes_only_if_it_is_chosen,
        what_was_made_from_a_message_stays_unless_it_is_chosen,
        what_stays_is_attributed_to_who_can_change_it,
        everything_that_says_the_words_goes_with_one_code,
        a_file_of_the_assistant_loses_lines_unless_a_person_has_changed_it,
        a_word_on_a_line_is_found_without_its_messages,
        a_replica_is_named_with_its_days;
    crash_tests:
        the_choice_holds_whenever_the_power_goes,
        what_was_made_from_a_message_goes_with_it_or_stays_with_it_whenever_the_power_goes;
}

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 3600);
const PROVED: &str = "A search for it finds nothing any more.";
const NOTE: &str = "---\nname: Boiler\ntype: reference\n---\n\nThe boiler was repaired by Quittenbaum in May.\n";
const LINE: &str = "The boiler was repaired by Quittenbaum in May.";

/// Number of the item whose line in the plan contains all these words.
fn number(plan: &str, words: &[&str]) -> String {
    let line = plan.lines().find(|line| words.iter().all(|word| line.contains(word)));
    let line = line.unwrap_or_else(|| panic!("no {words:?} in {plan}"));
    line.trim_start_matches(|c: char| !c.is_ascii_digit()).split(' ').next().unwrap().to_owned()
}

/// The command that carries out only these items.
fn only(plan: &str, numbers: &[String]) -> String {
    let all = forget_command(plan).unwrap();
    let all = all.strip_suffix(" messages").unwrap_or(&all);
    let (name, code) = all.rsplit_once(' ').unwrap();
    format!("{name} only {} {code}", numbers.join(" "))
}

/// A boiler that a note, the memory, two messages and a file that was sent know of.
async fn boiler(channel: TestChannel) -> Story {
    let story = channel.begin_story().await;
    story.say(ADA, LINE).await;
    story.say(ADA, "/remember Tea: green").await;
    story.writes("memory/boiler.md", NOTE);
    let memory = story.reads("memory/MEMORY.md");
    story.writes("memory/MEMORY.md", &format!("{memory}\n{LINE}\n"));
    story.say(ADA, "Thanks.").await;
    story.writes("USER.md", &format!("I am Ada.\n{LINE}\n"));
    story.say(BEN, LINE).await;
    story
}

/// Promise (forgetting/plan): `/forget` first shows what it would delete, item by item, and what
/// stays and why; it deletes nothing before you send the code, and asks again if that has changed.
async fn the_plan_is_shown_before_and_its_code_covers_it(channel: TestChannel) {
    let story = boiler(channel).await;
    story.say(ADA, "/forget boiler messages").await;
    let plan = story.last_received_by(ADA);
    for shown in
        ["Nothing is deleted yet", "note Boiler (memory/boiler.md)", "memory/MEMORY.md line", "1 note", "1 line"]
    {
        assert!(plan.contains(shown), "{shown}: {plan}");
    }
    assert!(number(&plan, &["your message (12:00)", "Quittenbaum"]) != "1", "{plan}");
    assert!(plan.contains("USER.md (you wrote it") && plan.contains("backups made before"), "{plan}");
    assert!(story.home.join("workspace/memory/boiler.md").exists() && journal_contains(&story, "Quittenbaum"));
    assert_eq!(story.count("SELECT count(*) FROM forgettings"), 0);
    let outdated = forget_command(&plan).unwrap();
    story.say(ADA, "Right: the boiler was repaired by Quittenbaum in May, for 80 euros.").await;
    story.say(ADA, &outdated).await;
    let again = story.last_received_by(ADA);
    assert!(again.contains("has changed since it was shown") && again.contains("80 euros"), "{again}");
    assert_eq!(story.count("SELECT count(*) FROM forgettings"), 0);
    std::fs::write(story.path_of("USER.md"), "I am Ada.\n").unwrap();
    story.say(ADA, &forget_command(&again).unwrap()).await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("1 note") && told.contains(PROVED), "{told}");
    assert!(!story.home.join("workspace/memory/boiler.md").exists());
    let mine = "SELECT count(*) FROM texts WHERE text LIKE '%Quittenbaum%' AND scope =";
    assert_eq!(story.count(&format!("{mine} 'person:1'")), 0);
    assert_eq!(story.count(&format!("{mine} 'person:2'")), 1, "what Ben said is his");
    assert!(story.reads("memory/MEMORY.md").contains("green"));
    story.end().await;
}

/// Proves: forgetting/plan
async fn a_note_that_says_something_else_since_it_was_shown_is_shown_again(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.writes("memory/boiler.md", NOTE);
    story.say(ADA, "/forget boiler").await;
    let outdated = forget_command(&story.last_received_by(ADA)).unwrap();
    let other = NOTE.replace("The boiler was repaired", "The plan of the cellar was drawn");
    story.writes("memory/boiler.md", &other);
    story.say(ADA, &outdated).await;
    let again = story.last_received_by(ADA);
    assert!(again.contains("has changed since it was shown"), "{again}");
    assert_eq!(story.reads("memory/boiler.md"), other);
    story.say(ADA, &forget_command(&again).unwrap()).await;
    assert!(story.last_received_by(ADA).contains("Forgotten: 1 note"), "{}", story.last_received_by(ADA));
    story.end().await;
}

/// Promise (forgetting/narrowed): You can carry out a part of the plan by its numbers: only that is
/// deleted, and the rest stays everywhere, is named, and does not count as left over.
async fn only_the_chosen_items_are_deleted(channel: TestChannel) {
    let story = boiler(channel).await;
    story.writes("USER.md", "I am Ada.\n");
    story.say(ADA, "/forget boiler messages").await;
    let plan = story.last_received_by(ADA);
    let line = number(&plan, &["memory/MEMORY.md line"]);
    story.say(ADA, &only(&plan, &[line])).await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("Forgotten: 1 line"), "{told}");
    assert!(told.contains("Left out, so it stays: note (memory/boiler.md)"), "{told}");
    assert!(told.contains("the message (12:00).") && told.contains("Apart from what you left out"), "{told}");
    assert!(!told.contains("Still in") && !told.contains(PROVED), "{told}");
    assert_eq!(story.reads("memory/boiler.md"), NOTE);
    let memory = story.reads("memory/MEMORY.md");
    assert!(memory.contains("- [Boiler](boiler.md): The boiler") && memory.contains("green"), "{memory}");
    assert!(!memory.lines().any(|line| line == LINE), "{memory}");
    let versions = "SELECT count(*) FROM file_contents c JOIN files f ON f.id = c.file_id WHERE CAST(c.content AS TEXT) LIKE '%' || char(10) || 'The boiler was repaired by%' AND f.path =";
    assert_eq!(story.count(&format!("{versions} 'memory/MEMORY.md'")), 0, "in no earlier version either");
    assert!(story.count(&format!("{versions} 'memory/boiler.md'")) > 0, "the note's versions stay");
    assert_eq!(
        story.count("SELECT count(*) FROM texts WHERE text = 'The boiler was repaired by Quittenbaum in May.'"),
        2
    );
    story.say(ADA, "/search Quittenbaum").await;
    assert!(story.last_received_by(ADA).contains("boiler.md"), "{}", story.last_received_by(ADA));
    // What was left out can still be forgotten, as a whole.
    story.forgets(ADA, "boiler messages").await;
    assert!(story.last_received_by(ADA).contains(PROVED), "{}", story.last_received_by(ADA));
    assert_eq!(story.text("SELECT group_concat(state || choice) FROM forgettings WHERE id = 2"), "done{}");
    story.end().await;
}

/// Proves: forgetting/narrowed
async fn a_message_or_a_reminder_is_deleted_alone_if_its_number_is_chosen(channel: TestChannel) {
    let story = boiler(channel).await;
    let at = story.clock.now().plus(DAY).rfc3339();
    story.model.calls("remind", json!({ "when": at, "text": LINE })).says("I will.");
    story.say(ADA, "Remind me").await;
    story.say(ADA, "/forget boiler").await;
    let plan = story.last_received_by(ADA);
    assert!(plan.contains("Stays unless you choose its number"), "{plan}");
    let chosen = [number(&plan, &["your message (", "Quittenbaum"]), number(&plan, &["reminder 1"])];
    story.say(ADA, &only(&plan, &["99".to_owned()])).await;
    assert!(story.last_received_by(ADA).contains("no item of that number"), "{}", story.last_received_by(ADA));
    story.say(ADA, &only(&plan, &chosen)).await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("1 message") && told.contains("Left out, so it stays: note"), "{told}");
    assert_eq!(story.text("SELECT state || text FROM reminders"), "cancelled");
    assert_eq!(story.count("SELECT count(*) FROM texts WHERE text LIKE '%Quittenbaum%' AND scope = 'person:1'"), 0);
    assert!(story.reads("memory/MEMORY.md").contains("Quittenbaum") && story.reads("memory/boiler.md") == NOTE);
    story.end().await;
}

/// Proves: forgetting/narrowed
fn the_choice_holds_whenever_the_power_goes(channel: TestChannel) {
    let jobs = ["want something forgotten", "count what is forgotten", "forget copies", "end a forgetting"];
    for (side, job) in jobs.into_iter().flat_map(|job| [(Before, job), (After, job)]) {
        let mut crash_test = channel.crash_test("");
        assert!(!crash_test.start(None));
        assert!(!crash_test.during(crash_test.story.say(ADA, LINE)));
        crash_test.story.writes("memory/boiler.md", NOTE);
        crash_test.story.writes("memory/MEMORY.md", &format!("# Memory\n\n{LINE}\n\nBread is in the oven.\n"));
        assert!(!crash_test.during(crash_test.story.say(ADA, "/forget boiler messages")));
        let plan = crash_test.story.last_received_by(ADA);
        let command = only(&plan, &[number(&plan, &["memory/MEMORY.md line"])]);
        crash_test.cut_next(Cut::at(side, job));
        crash_test.story.fake.says(ADA, &command);
        assert!(crash_test.pass(MINUTE), "{side:?} {job} never came");
        crash_test.revive();
        assert!(!crash_test.pass(MINUTE));
        let story = &crash_test.story;
        assert_eq!(story.reads("memory/boiler.md"), NOTE, "{side:?} {job}");
        let memory = story.reads("memory/MEMORY.md");
        assert!(!memory.contains("Quittenbaum") && memory.contains("Bread"), "{side:?} {job}: {memory}");
        assert_eq!(story.count(&format!("SELECT count(*) FROM texts WHERE text = '{LINE}'")), 1, "{side:?} {job}");
        assert_eq!(story.count("SELECT count(*) FROM forgettings WHERE state = 'wanted'"), 0, "{side:?} {job}");
        crash_test.end();
    }
}

/// Proves: forgetting/narrowed
async fn what_was_made_from_a_message_is_found_by_its_edges_and_goes_only_if_it_is_chosen(channel: TestChannel) {
    let story = channel.begin_story().await;
    let note = json!({ "title": "Heating", "content": "Engine in the cellar: ask Herr Q.", "kind": "reference" });
    story.model.calls("remember", note).says("Kept.");
    story.say(ADA, "The boiler was repaired by Quittenbaum in May.").await;
    story.say(ADA, "Thanks.").await;
    story.say(ADA, "/forget Quittenbaum messages").await;
    let plan = story.last_received_by(ADA);
    assert!(plan.contains("note Heating (memory/heating.md), made from it"), "{plan}");
    let derived = number(&plan, &["note Heating"]);
    let message = number(&plan, &["your message ("]);
    story.say(ADA, &only(&plan, &[message, derived])).await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("1 note") && told.contains("1 message"), "{told}");
    assert!(!story.home.join("workspace/memory/heating.md").exists());
    assert!(!story.reads("memory/MEMORY.md").contains("heating"), "{}", story.reads("memory/MEMORY.md"));
    assert_eq!(story.count("SELECT count(*) FROM texts WHERE text LIKE '%Quittenbaum%'"), 0);
    assert_eq!(story.count("SELECT count(*) FROM file_contents WHERE CAST(content AS TEXT) LIKE '%Herr Q%'"), 0);
    story.end().await;
}

/// Proves: forgetting/narrowed
fn what_was_made_from_a_message_goes_with_it_or_stays_with_it_whenever_the_power_goes(channel: TestChannel) {
    let jobs = ["want something forgotten", "count what is forgotten", "forget messages", "end a forgetting"];
    for (side, job) in jobs.into_iter().flat_map(|job| [(Before, job), (After, job)]) {
        let mut crash_test = channel.crash_test("");
        let note = json!({ "title": "Heating", "content": "Engine in the cellar: ask Herr Q.", "kind": "reference" });
        crash_test.story.model.calls("remember", note).says("Kept.");
        assert!(!crash_test.start(None));
        assert!(!crash_test.during(crash_test.story.say(ADA, LINE)));
        assert!(!crash_test.during(crash_test.story.say(ADA, "/forget Quittenbaum messages")));
        let plan = crash_test.story.last_received_by(ADA);
        let chosen = [number(&plan, &["your message ("]), number(&plan, &["note Heating"])];
        crash_test.cut_next(Cut::at(side, job));
        crash_test.story.fake.says(ADA, &only(&plan, &chosen));
        assert!(crash_test.pass(MINUTE), "{side:?} {job} never came");
        crash_test.bury();
        let is_wanted = crash_test.story.count("SELECT count(*) FROM forgettings");
        assert!(is_wanted == 0 || is_wanted == 2, "{side:?} {job}: {is_wanted} of two are wanted");
        assert!(!crash_test.start(None));
        assert!(!crash_test.pass(MINUTE));
        let story = &crash_test.story;
        // The command arrives again if it was not stored.
        assert!(!story.home.join("workspace/memory/heating.md").exists(), "{side:?} {job}");
        assert_eq!(story.count(&format!("SELECT count(*) FROM texts WHERE text = '{LINE}'")), 0, "{side:?} {job}");
        assert_eq!(story.count("SELECT count(*) FROM forgettings WHERE state = 'wanted'"), 0, "{side:?} {job}");
        crash_test.end();
    }
}

/// Proves: forgetting/narrowed
async fn what_was_made_from_a_message_stays_unless_it_is_chosen(channel: TestChannel) {
    let story = channel.begin_story().await;
    let note = json!({ "title": "Heating", "content": "Engine in the cellar: ask Herr Q.", "kind": "reference" });
    story.model.calls("remember", note).says("Kept.");
    story.say(ADA, "The boiler was repaired by Quittenbaum in May.").await;
    story.say(ADA, "Thanks.").await;
    story.forgets(ADA, "Quittenbaum messages").await;
    assert!(story.last_received_by(ADA).contains(PROVED), "{}", story.last_received_by(ADA));
    assert!(story.reads("memory/heating.md").contains("Herr Q"));
    assert!(!journal_contains(&story, "Quittenbaum"));
    story.end().await;
}

/// Promise (forgetting/attributed): What stays is attributed rightly: what you wrote, and files that
/// you were sent or sent.
async fn what_stays_is_attributed_to_who_can_change_it(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.writes("memory/boiler.md", NOTE);
    story.writes("USER.md", &format!("{LINE}\n"));
    story.fake.sends_document(ADA, "README.md", "text/plain", format!("{LINE}\n").as_bytes());
    story.answered().await;
    story.say(ADA, "/forget boiler").await;
    let plan = story.last_received_by(ADA);
    assert!(plan.contains("USER.md (you wrote it"), "{plan}");
    assert!(plan.contains("README.md (a file that you sent or were sent"), "{plan}");
    story.say(ADA, &forget_command(&plan).unwrap()).await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("USER.md: what you wrote yourself is yours to change"), "{told}");
    assert!(told.contains("README.md: only you can change or delete a file that you sent or were sent"), "{told}");
    story.end().await;
}

/// Promise (forgetting/all-at-once): `/forget WORDS messages` and its code delete everything that says
/// the words: lines of the memory and of the assistant's own files, messages, and reminders, which do
/// not come any more. Nothing keeps the words then, not even the record of the deletion.
async fn everything_that_says_the_words_goes_with_one_code(channel: TestChannel) {
    let story = channel.begin_story().await;
    let at = story.clock.now().plus(DAY).rfc3339();
    story.model.calls("remind", json!({ "when": at, "text": "change zorbax77" })).says("I will.");
    story.say(ADA, "The vault code is zorbax77. I also watered the garden.").await;
    story.model.calls("remind", json!({ "when": at, "text": "water the roses" })).says("I will.");
    story.say(ADA, "And remind me of the roses.").await;
    let daily = json!({ "cron": "0 9 * * *", "task": "try zorbax77" });
    story.model.calls("schedule", daily).says("I will.");
    story.say(ADA, "Try it every day.").await;
    let plan = json!({ "path": "plans/x.md", "content": "Plan: zorbax77\nKeep this line about roses.\n" });
    story.model.calls("write_file", plan).says("Written.");
    story.say(ADA, "Make a plan.").await;
    story.say(ADA, "/forget zorbax77 messages").await;
    let plan = story.last_received_by(ADA);
    for shown in ["2 reminders", "plans/x.md line", "reminder 1", "reminder 3"] {
        assert!(plan.contains(shown), "{shown}: {plan}");
    }
    assert!(!plan.contains("reminder 2") && !plan.contains("tell me what to change"), "{plan}");
    story.say(ADA, &forget_command(&plan).unwrap()).await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("2 reminders") && told.contains("1 line") && told.contains(PROVED), "{told}");
    assert_eq!(story.text("SELECT group_concat(state) FROM reminders"), "cancelled,waiting,cancelled");
    assert_eq!(story.reads("plans/x.md"), "Keep this line about roses.\n");
    assert_eq!(story.text("SELECT state || needles || target FROM forgettings"), "done[]");
    assert!(!journal_contains(&story, "zorbax77"), "the words are still in the journal");
    let before = story.received_by(ADA).len();
    story.pass(2 * DAY).await;
    let heard = story.received_by(ADA).split_off(before).concat();
    assert!(heard.contains("water the roses") && !heard.contains("zorbax77"), "{heard}");
    story.end().await;
}

/// Proves: forgetting/all-at-once
async fn a_file_of_the_assistant_loses_lines_unless_a_person_has_changed_it(channel: TestChannel) {
    let story = channel.begin_story().await;
    for path in ["plans/whole.md", "plans/list.md", "plans/mine.md"] {
        let content = if path == "plans/whole.md" { format!("{LINE}\n") } else { format!("{LINE}\nRoses.\n") };
        story.model.calls("write_file", json!({ "path": path, "content": content })).says("Written.");
        story.say(ADA, "Write it down").await;
    }
    let mine = format!("{LINE}\nRoses, and tulips.\n");
    std::fs::write(story.path_of("plans/mine.md"), &mine).unwrap();
    story.say(ADA, "/forget Quittenbaum messages").await;
    let plan = story.last_received_by(ADA);
    assert!(plan.contains("plans/list.md line") && plan.contains("plans/mine.md (you wrote it"), "{plan}");
    story.say(ADA, &forget_command(&plan).unwrap()).await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("plans/mine.md: what you wrote yourself is yours to change"), "{told}");
    assert_eq!((story.reads("plans/list.md"), story.reads("plans/mine.md")), ("Roses.\n".to_owned(), mine));
    assert!(!story.path_of("plans/whole.md").exists(), "no line is left of it");
    // Its own deletion of lines does not make the file a person's.
    story.say(ADA, "/forget Roses messages").await;
    assert!(story.last_received_by(ADA).contains("plans/list.md line"), "{}", story.last_received_by(ADA));
    story.end().await;
}

/// Promise (forgetting/words-on-lines): `/forget WORD` finds the lines that have the word, also
/// without `messages`; then it says that the messages keep it.
async fn a_word_on_a_line_is_found_without_its_messages(channel: TestChannel) {
    let story = channel.begin_story().await;
    let kept = json!({ "content": "electricity meter: reading 48213" });
    story.model.calls("memory_save", kept).says("Noted.");
    story.say(ADA, "The electricity meter stands at 48213.").await;
    story.say(ADA, "/remember Bread: in the oven").await;
    story.say(ADA, "/forget meter").await;
    let plan = story.last_received_by(ADA);
    assert!(plan.contains("line “") && plan.contains("electricity meter"), "{plan}");
    assert!(plan.contains("What was said stays: /forget meter messages includes"), "{plan}");
    let command = forget_command(&plan).unwrap();
    assert!(!command.ends_with(" messages"), "{command}");
    story.say(ADA, &command).await;
    let told = story.last_received_by(ADA);
    assert!(told.contains(" line") && told.contains("Still in 1 message"), "{told}");
    assert!(
        !story.reads("memory/MEMORY.md").contains("48213") && !story.reads("memory/2026-11-20.md").contains("48213")
    );
    assert!(story.reads("memory/MEMORY.md").contains("oven"));
    assert_eq!(story.count("SELECT count(*) FROM texts WHERE text LIKE 'The electricity meter%'"), 1);
    story.say(ADA, "/forget 1 messages").await;
    assert!(story.last_received_by(ADA).contains(PROVED), "{}", story.last_received_by(ADA));
    // A phone begins with a capital.
    story.model.calls("remember", json!({ "title": "Old key", "content": "In the safe.", "kind": "reference" }));
    story.model.says("Noted.");
    story.say(ADA, "Note where the old key is").await;
    for name in ["old-key", "Old-key"] {
        story.say(ADA, &format!("/forget {name}")).await;
        let plan = story.last_received_by(ADA);
        assert!(plan.contains("note Old key") && !plan.contains("line “"), "{plan}");
    }
    // What was only said needs the word.
    story.say(ADA, "We saw a kingfisher.").await;
    story.say(ADA, "/forget kingfisher").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("There is no note") && told.contains("/forget WORDS messages"), "{told}");
    story.end().await;
}

/// Promise (forgetting/replica): `/forget` says how long a replica on another machine keeps what
/// was forgotten, in the plan and afterwards.
async fn a_replica_is_named_with_its_days(channel: TestChannel) {
    let story = channel.story_with("[retention]\nreplica_days = 2\n").await;
    story.say(ADA, LINE).await;
    story.say(ADA, "/forget boiler messages").await;
    let plan = story.last_received_by(ADA);
    assert!(plan.contains("the replica on another machine, for up to 2 days"), "{plan}");
    story.say(ADA, &forget_command(&plan).unwrap()).await;
    let done = story.last_received_by(ADA);
    assert!(done.contains("The replica on another machine does for up to 2 days."), "{done}");
    story.end().await;

    let without = boiler(channel).await;
    without.say(ADA, "/forget boiler messages").await;
    assert!(!without.last_received_by(ADA).contains("replica"));
    without.end().await;
}
