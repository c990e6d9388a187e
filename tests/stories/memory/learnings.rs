//! Learnings: one line per repeated error, and a person's corrections are always read.

use std::time::Duration;

use compline::model::Purpose;
use serde_json::json;

use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::model::{Say, usual, words};
use crate::support::story::{ADA, BEN};

on_every_channel! {
    stories:
        the_same_failure_fifty_times_is_one_line_with_a_counter,
        corrections_reach_the_next_conversation_despite_many_errors,
        what_is_extracted_on_the_next_day_bears_the_day_on_which_it_was_said,
        a_repeated_correction_is_counted_and_a_different_one_restarts_at_one,
        what_was_put_right_twice_is_a_standing_rule,
        each_person_has_learnings_of_their_own,
        without_a_model_only_plain_words_are_a_correction;
}

const HOUR: Duration = Duration::from_secs(3600);
const TALK: &str = "Today we went for a long walk along the river with the children, and in the evening we sat in the garden and talked.";

/// Lets the model extract a correction from conversations that contain the mark.
fn puts_right(story: &Story, mark: &'static str, was: &'static str, now: &'static str) {
    story.background.otherwise(move |request| match request.purpose() {
        Purpose::Extraction if words(request).contains(mark) => {
            Say::Text(json!({ "facts": [], "corrections": [{ "was": was, "now": now, "sources": [1] }] }).to_string())
        }
        _ => usual(request),
    });
}

/// Learnings at the beginning of the newest prompt.
fn block(story: &Story) -> String {
    let prompt = story.model.last_prompt();
    let Some((_, rest)) = prompt.split_once("## What they put right\n\n") else { return String::new() };
    rest.split("\nuser: ").next().unwrap().split("\nsystem: ").next().unwrap().to_owned()
}

/// Promise (memory/mistakes): The assistant learns from mistakes: a repeated failure is one line
/// with a counter, and no number of failures displaces your corrections.
async fn the_same_failure_fifty_times_is_one_line_with_a_counter(channel: TestChannel) {
    let story = channel.begin_story().await;
    for _ in 0..50 {
        story.model.calls("load_skill", json!({ "name": "no-such-skill canary-of-nobody" }));
        story.model.says("Done.");
        story.say(ADA, "Try it").await;
    }
    let errors = story.reads("learnings/errors.md");
    let lines: Vec<&str> = errors.lines().filter(|line| line.starts_with("- ")).collect();
    assert_eq!(lines.len(), 1, "{errors}");
    assert!(lines[0].starts_with("- **load_skill: ") && lines[0].contains("50 times (2026-11-20)"), "{errors}");
    assert!(!errors.contains("no-such-skill"), "never a word of a call");
    story.pass(7 * HOUR).await;
    story.say(ADA, "Good evening").await;
    let prompt = story.model.last_prompt();
    assert!(!prompt.contains("50 times") && !prompt.contains("often fail"), "its result said what was wrong: {prompt}");
    story.end().await;
}

/// Proves: memory/mistakes
async fn corrections_reach_the_next_conversation_despite_many_errors(channel: TestChannel) {
    let story = channel.begin_story().await;
    puts_right(&story, "kielellä", "answered in English", "answer in Finnish");
    let many: String =
        (1..=30).map(|n| format!("- **tool_{n}_{}: failed**: {n} times (2026-11-20)\n", "long".repeat(10))).collect();
    let file = story.home.join("workspace/learnings/errors.md");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, format!("# Errors\n\n{many}")).unwrap();
    story.say(ADA, &format!("Puhu minulle omalla kielellä, kiitos. {TALK}")).await;
    assert_eq!(block(&story).matches("answer in Finnish").count(), 0, "fixed while a conversation lasts");
    story.pass(7 * HOUR).await;
    assert!(
        story
            .reads("learnings/corrections.md")
            .contains("- **answered in English**: answer in Finnish [once] (2026-11-20)")
    );
    story.say(ADA, "Hei").await;
    let shown = block(&story);
    assert!(
        shown.starts_with(
            "Do it this way from now on:\n- answer in Finnish (before: answered in English; said on 2026-11-20)\n"
        ),
        "{shown}"
    );
    assert!(shown.contains("tool_30") && shown.contains("older ones are in learnings/errors.md)"), "{shown}");
    assert!(shown.chars().count() <= 3_000 && shown.matches("- `tool_").count() <= 20, "{}", shown.len());
    story.end().await;
}

/// Proves: memory/mistakes
async fn what_is_extracted_on_the_next_day_bears_the_day_on_which_it_was_said(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Extraction => {
            let fact = json!({ "key": "cat", "value": "Whiskerino", "category": "fact", "layer": "B", "sources": [1] });
            let put = json!({ "was": "gave net prices", "now": "give prices with VAT", "sources": [1] });
            Say::Text(json!({ "facts": [fact], "corrections": [put] }).to_string())
        }
        _ => usual(request),
    });
    story.pass(8 * HOUR).await;
    story.say(ADA, &format!("With VAT, please, also for Whiskerino. {TALK}")).await;
    story.pass(7 * HOUR).await;
    let corrections = story.reads("learnings/corrections.md");
    assert!(corrections.contains("- **gave net prices**: give prices with VAT [once] (2026-11-20)"), "{corrections}");
    let facts = story.reads("agents/compline/memory.md");
    assert!(facts.contains("- **cat**: Whiskerino (2026-11-20)"), "{facts}");
    story.end().await;
}

/// Proves: memory/mistakes
async fn a_repeated_correction_is_counted_and_a_different_one_restarts_at_one(channel: TestChannel) {
    let story = channel.story_with("[memory]\nextract_every = 1").await;
    puts_right(&story, "Again", "wrote long answers", "write short ones");
    for _ in 0..3 {
        story.say(ADA, &format!("Again: {TALK}")).await;
    }
    let corrections = story.reads("learnings/corrections.md");
    assert!(corrections.contains("- **wrote long answers**: write short ones [3 times] (2026-11-20)"), "{corrections}");
    puts_right(&story, "Rather", "wrote long answers", "write in lists");
    story.say(ADA, &format!("Rather so: {TALK}")).await;
    let corrections = story.reads("learnings/corrections.md");
    assert!(corrections.contains("- **wrote long answers**: write in lists [once]"), "{corrections}");
    assert_eq!(corrections.lines().filter(|line| line.starts_with("- ")).count(), 1);
    story.end().await;
}

/// Promise (memory/standing-rules): What you put right twice becomes a standing rule at the top of
/// the prompt, however you said it; what is known already is not taken down again.
async fn what_was_put_right_twice_is_a_standing_rule(channel: TestChannel) {
    let story = channel.story_with("[memory]\nextract_every = 1").await;
    puts_right(&story, "net", "gave net prices", "give prices with VAT");
    story
        .model
        .calls("remember", json!({ "title": "Nora", "content": "Her sister.", "kind": "person" }))
        .says("Noted.");
    story.say(ADA, &format!("No, not net: {TALK}")).await;
    story.pass(7 * HOUR).await;
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Extraction => {
            let shown = words(request);
            for part in [
                "<notes>\n- Nora: Her sister.\n</notes>",
                "<corrected>\n1. give prices with VAT (before: gave net prices; said once)\n</corrected>",
            ] {
                assert!(shown.contains(part), "{part} is missing in {shown}");
            }
            Say::Text(json!({ "facts": [], "corrections": [{ "again": 1, "sources": [1] }] }).to_string())
        }
        _ => usual(request),
    });
    story.say(ADA, &format!("And once more: with tax, please. {TALK}")).await;
    assert!(story.reads("learnings/corrections.md").contains("give prices with VAT [2 times]"));
    story.say(ADA, "/new").await;
    story.say(ADA, "Hello").await;
    let prompt = story.model.last_prompt();
    let rule = prompt.find("## Standing rules").unwrap_or_else(|| panic!("{prompt}"));
    assert!(prompt[rule..].contains("- give prices with VAT (before: gave net prices; said 2 times"), "{prompt}");
    assert!(prompt.find("## Previous conversation").is_none_or(|previous| rule < previous), "{prompt}");
    assert_eq!(prompt.matches("give prices with VAT").count(), 1, "{prompt}");
    story.end().await;
}

/// Proves: privacy/own-memory
async fn each_person_has_learnings_of_their_own(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.model.calls("load_skill", json!({ "name": "none" }));
    story.model.says("Done.");
    story.say(BEN, "Try it").await;
    assert!(story.reads("people/2-ben/learnings/errors.md").contains("load_skill"));
    assert_eq!(story.reads("learnings/errors.md"), "");
    story.pass(7 * HOUR).await;
    story.say(ADA, "Hello").await;
    assert_eq!(block(&story), "");
    puts_right(&story, "Bens", "answered at length", "answer in one line");
    story.say(BEN, &format!("Bens: {TALK}")).await;
    story.pass(7 * HOUR).await;
    story.say(ADA, "Hello").await;
    assert_eq!(block(&story), "");
    story.say(BEN, "Hello").await;
    assert!(block(&story).contains("answer in one line"));
    story.end().await;
}

/// Proves: memory/mistakes
async fn without_a_model_only_plain_words_are_a_correction(channel: TestChannel) {
    let mut story = channel.prepare_story("[memory]\nextract_every = 2");
    story.without_a_key();
    story.start().await;
    story.say(ADA, &format!("{TALK} You should see this movie.")).await;
    story.say(ADA, "That's wrong, I asked for something else.").await;
    let corrections = story.reads("learnings/corrections.md");
    let lines: Vec<&str> = corrections.lines().filter(|line| line.starts_with("- ")).collect();
    assert_eq!(lines.len(), 1, "{corrections}");
    assert!(lines[0].contains("That's wrong, I asked for something else."), "{corrections}");
    story.end().await;
}
