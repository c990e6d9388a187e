//! Summary of older messages: written without tools, from these messages and the previous summary.

use compline::model::{ModelInfo, Purpose};
use serde_json::json;

use crate::support::model::{Say, Scripted, usual, words};
use crate::support::story::{ADA, Story};

/// Ada writes eight messages of that length; at the next one the window is three quarters full.
async fn talks(story: &Story, about: &str, length: usize) {
    story.model.counts(20_000);
    for number in 0..8 {
        let words = "it stood by the sea and was white ".repeat(length / 34);
        story.say(ADA, &format!("{about} {number}: {words}")).await;
    }
    story.model.counts(75_000);
    story.say(ADA, &format!("and so on about the {about}")).await;
    story.settle().await;
}

/// Proves: conversation/many-messages
#[tokio::test]
async fn each_summary_builds_on_the_last_and_its_model_has_no_tools() {
    let mut story = Story::prepared("").await;
    let info = ModelInfo {
        provider: "scripted".to_owned(),
        name: "scripted".to_owned(),
        context_window: 9_000,
        max_output: 1_000,
        images: false,
        price: None,
    };
    story.background = Scripted::with_card(story.clock.clone(), info);
    story.start().await;
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Summary if words(request).contains("windmill") => {
            Say::Text(json!({ "title": "Two", "topics": ["a windmill and the seven lamps"] }).to_string())
        }
        Purpose::Summary => Say::Text(json!({ "title": "One", "topics": ["the seven lamps"] }).to_string()),
        _ => usual(request),
    });
    talks(&story, "lighthouse", 1_000).await;
    // More than one request reads.
    talks(&story, "windmill", 8_000).await;
    let (summaries, all) = (story.background.summaries(), story.background.requests());
    let second: Vec<String> = summaries.iter().map(words).skip_while(|asked| !asked.contains("windmill 0:")).collect();
    assert!(second.len() > 2 && second[0].contains("the seven lamps"), "{} pieces", second.len());
    let second = second.concat();
    // The last messages stay verbatim.
    for number in 0..5 {
        assert!(second.contains(&format!("windmill {number}:")), "{number} was left out");
    }
    assert!(!second.contains("lighthouse 0:"), "what was summarised is not read again");
    assert!(all.iter().any(|request| request.purpose() == Purpose::Extraction));
    assert!(all.iter().all(|request| request.tools().is_empty()), "nothing that it says runs anything");
    story.model.counts(20_000);
    story.say(ADA, "what was first?").await;
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("the seven lamps") && prompt.contains("and so on about the windmill"), "{prompt}");
    story.end().await;
}
