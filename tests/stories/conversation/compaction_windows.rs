//! Compaction in windows of every size: what stays, what the summary may take, and that all of it
//! fits.

use compline::model::{ModelInfo, Purpose};

use crate::support::model::{Say, Scripted, usual, words};
use crate::support::story::{ADA, Story};

/// A story whose models have a window of that size.
async fn with_window(tokens: u64) -> Story {
    let mut story = Story::prepared("[budget]\ndaily_tokens = 1000000000\n").await;
    let info = ModelInfo {
        provider: "scripted".to_owned(),
        name: "scripted".to_owned(),
        context_window: tokens,
        max_output: 1_000,
        images: true,
        price: None,
    };
    story.model = Scripted::with_card(story.clock.clone(), info.clone());
    story.background = Scripted::with_card(story.clock.clone(), info);
    story.start().await;
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Summary if words(request).contains("The conversation below goes on") => {
            Say::Text(format!("Summary:\nThe lamp is red. {}", "The keeper walks up the stairs again. ".repeat(900)))
        }
        _ => usual(request),
    });
    story
}

fn compacted(story: &Story) -> i64 {
    story.count("SELECT count(*) FROM compactions WHERE state = 'made'")
}

/// Talks with messages of a twentieth of the window until that many parts were summarised. Returns
/// the number of messages.
async fn talk(story: &Story, window: u64, parts: i64) -> usize {
    let words =
        "The keeper of the lighthouse goes down to the sea. ".repeat(usize::try_from(window / 20 * 4 / 50).unwrap());
    let mut said = 0;
    while compacted(story) < parts {
        said += 1;
        assert!(said < 60, "the window of {window} never fills");
        story.say(ADA, &format!("thing-{said}. {words}")).await;
        story.settle().await;
    }
    said
}

/// Promise (conversation/verbatim): When the older part of a long conversation gives way, up to a
/// quarter of the window stays word for word, the summary takes an eighth at most, and every
/// request fits, whatever the size of the window.
#[tokio::test]
async fn in_every_window_the_older_part_gives_way_and_every_request_fits() {
    for window in [9_000_u64, 16_384, 32_000, 128_000] {
        let story = with_window(window).await;
        let said = talk(&story, window, 2).await;
        story.say(ADA, "go on").await;
        let prompt = story.model.last_prompt();
        for newest in [said, said - 1] {
            assert!(prompt.contains(&format!("thing-{newest}.")), "{window}: {newest} of {said} stays");
        }
        assert!(prompt.contains("The lamp is red.") && !prompt.contains("thing-1."), "{window}");
        let stays: usize = (1..=said).filter(|n| prompt.contains(&format!("thing-{n}."))).count();
        assert!(stays <= 5, "{window}: {stays} messages of a twentieth are a quarter");
        let summary = story.text("SELECT summary FROM compactions WHERE state = 'made' ORDER BY id DESC LIMIT 1");
        assert!(compline::text::estimate_tokens(&summary) <= window / 8, "{window}");
        assert!(summary.ends_with("again."), "cut behind a sentence");
        for request in story.model.chats().iter().chain(&story.background.requests()) {
            assert!(request.estimate_tokens() <= window - 1_000, "{window}: {}", request.estimate_tokens());
        }
        let prompts: Vec<String> = story.background.summaries().iter().map(words).collect();
        assert!(
            prompts.iter().any(|asked| asked.contains("<summary>\nThe lamp is red.")),
            "{window}: it builds on the last"
        );
        story.end().await;
    }
}

/// Proves: conversation/verbatim
#[tokio::test]
async fn in_a_window_of_a_million_tokens_no_call_reads_all_of_it() {
    let story = with_window(1_000_000).await;
    let words = "The keeper of the lighthouse goes down to the sea. ".repeat(400);
    for number in 0..12 {
        story.model.counts(720_000);
        story.say(ADA, &format!("thing-{number}. {words}")).await;
        story.settle().await;
        if compacted(&story) > 0 {
            break;
        }
    }
    let summaries = story.background.summaries();
    assert!(!summaries.is_empty() && summaries.iter().all(|asked| asked.estimate_tokens() < 30_000));
    let most = summaries[0].output_limit(u64::MAX);
    assert!(most <= 4_000, "{most}");
    story.end().await;
}
