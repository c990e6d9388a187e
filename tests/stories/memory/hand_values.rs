//! Values that a person changes by hand in one file: the other places of the old value follow.

use std::time::Duration;

use compline::store::CommitPoint::{After, Before};

use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::power::Cut;
use crate::support::story::{ADA, BEN};

on_every_channel! {
    stories:
        a_value_changed_by_hand_is_followed_everywhere,
        a_list_edited_by_hand_leaves_one_line_in_all_lists,
        other_subjects_outside_text_and_other_people_are_not_touched;
    crash_tests:
        a_value_changed_by_hand_is_followed_whenever_the_power_goes;
}

const MINUTE: Duration = Duration::from_secs(60);
const AGENT: &str = "agents/compline/memory.md";
const FOLLOWED: &str = "counts everywhere now, instead of “Cat: Tom”";

fn facts(cat: &str) -> String {
    format!("## Insights\n\n- **Cat**: {cat} (2026-11-01)\n- **Server**: Bert (2026-11-01)\n")
}

/// A cat that the assistant's own memory and one more file know of.
async fn cat_in(channel: TestChannel, path: &str, text: &str) -> Story {
    let story = channel.begin_story().await;
    story.writes(AGENT, &facts("Tom"));
    story.writes(path, text);
    story.say(ADA, "Hello").await;
    story
}

/// All places with a value of the cat.
fn cats(story: &Story, path: &str) -> Vec<String> {
    let lines = [AGENT, "memory/MEMORY.md", path].map(|path| story.reads(path)).join("\n");
    let mut cats: Vec<String> = lines.lines().filter(|line| line.contains("Cat")).map(str::to_owned).collect();
    cats.dedup();
    cats
}

/// Promise (memory/by-hand-value): If you give a fact a new value by hand, in MEMORY.md, USER.md or
/// a note, every other place with the old value follows; you are told once, and the history has
/// what was there.
async fn a_value_changed_by_hand_is_followed_everywhere(channel: TestChannel) {
    for (path, before, after) in [
        ("USER.md", "I am Ada.\n\n- Cat: Tom\n", "I am Ada.\n\n- Cat: Bruno\n"),
        ("memory/pets.md", "# Pets\n\nCat: Tom\nWe like them.\n", "# Pets\n\nCat: Bruno\nWe like them.\n"),
    ] {
        let story = cat_in(channel, path, before).await;
        story.writes(path, after);
        story.say(ADA, "How are you?").await;
        let told: Vec<String> = story.received_by(ADA).into_iter().filter(|text| text.contains(FOLLOWED)).collect();
        assert_eq!(told.len(), 1, "{path}: {:?}", story.received_by(ADA));
        assert!(told[0].contains(path), "{told:?}");
        assert!(story.reads(AGENT).contains("**Cat**: Bruno") && story.reads(AGENT).contains("Bert"), "{path}");
        assert_eq!(story.reads(path), after);
        let prompt = story.model.last_prompt();
        let newest = prompt.rsplit_once("<context").unwrap().1;
        assert!(newest.contains("**Cat**: Bruno") && !newest.contains("**Cat**: Tom"), "{path}: {prompt}");
        story.say(ADA, "And now?").await;
        let again = story.received_by(ADA).into_iter().filter(|text| text.contains(FOLLOWED)).count();
        assert_eq!(again, 1, "it is told once");
        story.say(ADA, &format!("/memory history {AGENT}")).await;
        assert!(story.last_received_by(ADA).contains("your edit of another file"), "{}", story.last_received_by(ADA));
        let kept = "SELECT count(*) FROM file_contents c JOIN files f ON f.id = c.file_id WHERE f.path LIKE 'agents/%' AND CAST(c.content AS TEXT) LIKE '%Cat**: Tom%'";
        assert!(story.count(kept) > 0, "the old value is in the history");
        story.end().await;
    }
}

/// Proves: memory/by-hand-value
async fn a_list_edited_by_hand_leaves_one_line_in_all_lists(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, "/remember Tea: green").await;
    story.writes(AGENT, &facts("Tom"));
    story.say(ADA, "Hello").await;
    let memory = story.reads("memory/MEMORY.md");
    story.writes("memory/MEMORY.md", &memory.replace("- **Tea**", "- **Cat**: Bruno\n- **Tea**"));
    story.say(ADA, "How are you?").await;
    assert_eq!(cats(&story, "USER.md"), ["- **Cat**: Bruno"], "{}", story.reads(AGENT));
    assert!(story.received_by(ADA).iter().any(|text| text.contains(FOLLOWED)), "{:?}", story.received_by(ADA));
    assert!(story.reads(AGENT).contains("Bert") && story.reads("memory/MEMORY.md").contains("green"));
    story.end().await;
}

/// Proves: memory/by-hand-value
async fn other_subjects_outside_text_and_other_people_are_not_touched(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.writes(AGENT, "## Insights\n\n- **Phone**: 111 (2026-11-01)\n");
    story.writes("memory/dentist.md", "# Dentist\n\nPhone: 222\n");
    story.writes("people/2-ben/agents/compline/memory.md", "## Insights\n\n- **Phone**: 222 (2026-11-01)\n");
    story.writes("memory/untrusted/page.md", "Phone: 111\n");
    story.say(ADA, "Hello").await;
    story.say(BEN, "Hello").await;
    story.writes("memory/dentist.md", "# Dentist\n\nPhone: 333\n");
    story.writes("memory/untrusted/page.md", "Phone: 666\n");
    story.say(ADA, "How are you?").await;
    story.say(BEN, "How are you?").await;
    assert!(story.reads(AGENT).contains("**Phone**: 111"), "{}", story.reads(AGENT));
    assert!(story.reads("people/2-ben/agents/compline/memory.md").contains("**Phone**: 222"));
    assert!(!story.received_by(ADA).iter().any(|text| text.contains("counts everywhere now")));
    story.end().await;
}

/// Proves: memory/by-hand-value
fn a_value_changed_by_hand_is_followed_whenever_the_power_goes(channel: TestChannel) {
    let jobs = [
        "record a change by hand",
        "announce a change of a file",
        "a changed file stands in its place",
        "look at changes by hand",
    ];
    for (side, job) in jobs.into_iter().flat_map(|job| [(Before, job), (After, job)]) {
        let mut crash_test = channel.crash_test("");
        assert!(!crash_test.start(None));
        crash_test.story.writes(AGENT, &facts("Tom"));
        crash_test.story.writes("USER.md", "- Cat: Tom\n");
        assert!(!crash_test.during(crash_test.story.say(ADA, "Hello")));
        crash_test.story.writes("USER.md", "- Cat: Bruno\n");
        crash_test.cut_next(Cut::at(side, job));
        crash_test.story.fake.says(ADA, "How are you?");
        assert!(crash_test.pass(MINUTE), "{side:?} {job} never came");
        crash_test.revive();
        assert!(!crash_test.pass(MINUTE));
        let story = &crash_test.story;
        assert!(story.reads(AGENT).contains("**Cat**: Bruno"), "{side:?} {job}: {}", story.reads(AGENT));
        assert_eq!(story.reads("USER.md"), "- Cat: Bruno\n", "{side:?} {job}");
        crash_test.end();
    }
}
