//! Long conversations: in any shape that outgrows the window, each message is shown verbatim or
//! covered by the summary.

use compline::model::{Purpose, Request, RequestPart};
use serde_json::json;

use crate::support::model::{Say, usual, words};
use crate::support::story::{ADA, Story};

/// One exchange, with a mark in the question and one in the answer.
async fn exchange(story: &Story, name: &str) {
    sized_exchange(story, name, 60).await;
}

async fn sized_exchange(story: &Story, name: &str, sentences: usize) {
    story.model.says(&format!("answer-{name}. It is about the keeper of a lighthouse."));
    let words = "What of the keeper of the lighthouse? ".repeat(sentences);
    story.say(ADA, &format!("question-{name}. {words}")).await;
}

/// One long exchange in a window that is nearly full, so that older messages are compacted.
async fn exchange_at(story: &Story, percent: u64, name: &str) {
    story.model.counts(percent * 1_000);
    sized_exchange(story, name, 120).await;
    story.settle().await;
    story.model.counts(20_000);
}

fn of_purpose(story: &Story, purpose: Purpose) -> Vec<Request> {
    story.background.requests().into_iter().filter(|request| request.purpose() == purpose).collect()
}

/// Checks that every mark is either shown or summarised, never both. Returns the shown ones.
fn shown_of(story: &Story, marks: &[String]) -> Vec<String> {
    let (prompt, asked) = (story.model.last_prompt(), of_purpose(story, Purpose::Summary));
    let asked: String = asked.iter().map(words).collect();
    for mark in marks {
        let mark = format!("{mark}.");
        assert_eq!(
            (prompt.matches(&mark).count(), asked.contains(&mark)),
            if asked.contains(&mark) { (0, true) } else { (1, false) },
            "{mark}"
        );
    }
    marks.iter().filter(|mark| prompt.contains(&format!("{mark}."))).cloned().collect()
}

fn both(names: impl IntoIterator<Item = String>) -> Vec<String> {
    names.into_iter().flat_map(|name| [format!("question-{name}"), format!("answer-{name}")]).collect()
}

/// Promise (conversation/compaction): In a long conversation each message is shown verbatim or
/// covered by the summary; facts are recorded once each time the window fills, and even an
/// oversized summary does not block the conversation.
#[tokio::test]
async fn of_alternating_messages_the_last_four_stay_and_the_rest_is_summarised() {
    let story = Story::begin().await;
    for n in 0..4 {
        exchange(&story, &format!("p{n}")).await;
    }
    exchange_at(&story, 75, "p4").await;
    story.say(ADA, "go on").await;
    let shown = shown_of(&story, &both((0..5).map(|n| format!("p{n}"))));
    assert_eq!(shown, ["question-p3", "answer-p3", "question-p4", "answer-p4"]);
    story.end().await;
}

/// Proves: conversation/compaction
#[tokio::test]
async fn of_eight_messages_in_a_row_none_is_lost_whether_they_stay_or_go() {
    for after in [0, 3] {
        let story = Story::begin().await;
        for n in 0..3 {
            exchange(&story, &format!("p{n}")).await;
        }
        story.model.says("answer-row. All eight.");
        for n in 0..8 {
            story.fake.says(ADA, &format!("row-{n}. One of eight."));
        }
        story.answered().await;
        for n in 0..after {
            exchange(&story, &format!("q{n}")).await;
        }
        exchange_at(&story, 75, "full").await;
        story.say(ADA, "go on").await;
        let row: Vec<String> = (0..8).map(|n| format!("row-{n}")).chain(["answer-row".to_owned()]).collect();
        let shown = shown_of(&story, &row);
        assert_eq!(shown.len(), if after == 0 { 9 } else { 0 }, "whole, after {after} more: {shown:?}");
        let pairs =
            (0..3).map(|n| format!("p{n}")).chain((0..after).map(|n| format!("q{n}"))).chain(["full".to_owned()]);
        assert!(shown_of(&story, &both(pairs)).len() >= 2);
        story.end().await;
    }
}

/// Proves: conversation/compaction
#[tokio::test]
async fn groups_of_six_calls_stay_whole_or_go_whole() {
    let story = Story::begin().await;
    for n in 0..6 {
        let calls =
            (0..6).map(|call| ("memory_search".to_owned(), json!({ "query": format!("lamp {n} {call}") }).to_string()));
        story.model.then(Say::Calls(calls.collect()));
        exchange(&story, &format!("t{n}")).await;
    }
    exchange_at(&story, 75, "full").await;
    story.say(ADA, "go on").await;
    let names = (0..6).map(|n| format!("t{n}")).chain(["full".to_owned()]);
    let shown = shown_of(&story, &both(names));
    assert_eq!(shown, ["question-t5", "answer-t5", "question-full", "answer-full"]);
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    let last = story.model.chats().pop().unwrap();
    for part in last.messages().iter().flat_map(|message| message.parts()) {
        match part.open().0 {
            RequestPart::Call { id, .. } => calls.push(id.to_string()),
            RequestPart::Result { id, .. } => results.push(id.to_string()),
            _ => {}
        }
    }
    assert_eq!((calls.len(), &calls), (6, &results));
    let asked: String = of_purpose(&story, Purpose::Summary).iter().map(words).collect();
    assert_eq!(asked.matches("The tool memory_search gave").count(), 30, "{asked}");
    story.end().await;
}

/// Proves: conversation/compaction
#[tokio::test]
async fn each_time_the_window_fills_facts_are_taken_down_once_before() {
    let story = Story::begin().await;
    let mut seen = Vec::new();
    for round in 0..2 {
        for (n, percent) in [61, 65, 72, 30].into_iter().enumerate() {
            exchange_at(&story, percent, &format!("r{round}-{n}")).await;
            seen.push((of_purpose(&story, Purpose::Extraction).len(), of_purpose(&story, Purpose::Summary).len()));
        }
    }
    // The messages compacted at 72 per cent were already read at 61.
    assert_eq!(seen, [(1, 0), (1, 0), (1, 1), (1, 1), (2, 1), (2, 1), (2, 2), (2, 2)]);
    story.end().await;
}

/// Proves: conversation/compaction
#[tokio::test]
async fn a_summary_that_is_larger_than_the_window_is_cut_to_its_form_and_asked_for_once() {
    let story = Story::begin().await;
    let endless: Vec<String> = (0..400).map(|n| format!("endless-{n} {}", "word ".repeat(400))).collect();
    story.background.otherwise(move |request| match request.purpose() {
        Purpose::Summary => {
            Say::Text(json!({ "title": "T".repeat(9_000), "topics": endless, "decisions": endless }).to_string())
        }
        _ => usual(request),
    });
    let mut sizes = Vec::new();
    for round in 0..3 {
        for n in 0..4 {
            exchange(&story, &format!("s{round}-{n}")).await;
        }
        exchange_at(&story, 75, &format!("full-{round}")).await;
        story.say(ADA, "go on").await;
        assert_eq!(story.last_received_by(ADA), "ok");
        sizes.push(story.model.chats().last().unwrap().estimate_tokens());
        assert_eq!(of_purpose(&story, Purpose::Summary).len(), round + 1, "once each time");
    }
    assert!(sizes.iter().all(|size| *size < 50_000) && sizes[2] < sizes[0] + 1_000, "{sizes:?}");
    story.end().await;
}
