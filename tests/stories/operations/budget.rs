//! Budgets: each limit is checked before the call and explained in one sentence.

use std::time::Duration;

use compline::config::Price;
use compline::model::{ModelError, ModelInfo, Usage};

use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::model::{Say, Scripted};
use crate::support::story::{ADA, BEN};

on_every_channel! {
    stories:
        a_used_up_budget_is_reported_without_a_model_call_until_midnight,
        a_limit_too_small_for_any_answer_is_not_reported_as_used_up,
        one_person_cannot_use_up_what_is_there_for_the_others,
        background_work_has_a_limit_of_its_own_and_the_chat_goes_on,
        the_usage_of_a_turn_is_recorded_with_its_cached_tokens,
        money_is_a_limit_too,
        a_call_that_was_cut_off_counts_its_worst_case,
        a_model_without_a_price_is_counted_in_tokens,
        the_offline_model_is_free,
        each_round_of_tools_is_a_call_and_is_counted;
}

const NEXT_CONVERSATION: Duration = Duration::from_secs(7 * 3600);

fn info(price: Option<Price>) -> ModelInfo {
    ModelInfo {
        provider: "scripted".to_owned(),
        name: "scripted".to_owned(),
        context_window: 100_000,
        max_output: 1_000,
        images: true,
        price,
    }
}

/// Story whose model has a price: a millionth per input token, a tenth of that if cached, ten
/// millionths per output token.
async fn priced(channel: TestChannel, settings: &str) -> Story {
    let mut story = channel.prepare_story(settings);
    let price = Price { input: 1_000_000, cached: 100_000, output: 10_000_000 };
    story.model = Scripted::with_card(story.clock.clone(), info(Some(price)));
    story.start().await;
    story
}

/// Number of tokens of a first "hello".
async fn tokens_of_a_hello(channel: TestChannel) -> u64 {
    let story = channel.begin_story().await;
    story.say(ADA, "hello").await;
    let tokens = story.model.chats()[0].estimate_tokens();
    story.end().await;
    tokens
}

/// Promise (models/budget): Budgets are on from the start. When one is used up, or too small for
/// any answer, you are told in one sentence without a model call; in the second case also which
/// setting to change.
async fn a_used_up_budget_is_reported_without_a_model_call_until_midnight(channel: TestChannel) {
    let hello = tokens_of_a_hello(channel).await;
    // Room for the worst case of one call, but not for a second one.
    let story = channel
        .story_with(&format!(
            "[budget]\nowner_reserve = 0\ndaily_tokens = {0}\nper_person_daily_tokens = {0}",
            hello + 1_150
        ))
        .await;
    story.say(ADA, "hello").await;
    story.say(BEN, "hello").await;
    story.say(ADA, "and now?").await;
    for person in [ADA, BEN] {
        let told = story.last_received_by(person);
        assert_eq!(
            told,
            "I did not answer, because today's budget is used up. It resets at midnight; an owner can raise it in the configuration."
        );
    }
    assert_eq!((story.received_by(ADA).len(), story.received_by(BEN).len()), (2, 1));
    for person in [ADA, BEN] {
        story.say(person, "/status").await;
        let status = story.last_received_by(person);
        assert!(status.contains("today's budget is used up; I answer again after midnight"), "{status}");
    }
    assert!(story.status().await.contains("today's budget is used up"), "{}", story.status().await);
    assert_eq!(story.model.chats().len(), 1, "no call was made for those");
    assert_eq!(story.count("SELECT count(*) FROM messages WHERE state = 'closed' AND reason = 'no_answer'"), 2);
    story.pass(Duration::from_secs(12 * 3600)).await;
    story.say(BEN, "good morning").await;
    assert_eq!(story.last_received_by(BEN), "ok", "a new day has a budget of its own");
    story.end().await;
}

/// Proves: models/budget
async fn a_limit_too_small_for_any_answer_is_not_reported_as_used_up(channel: TestChannel) {
    let hello = tokens_of_a_hello(channel).await;
    let story = channel.story_with(&format!("[budget]\nper_person_daily_tokens = {}", hello / 2)).await;
    story.say(ADA, "hello").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("per_person_daily_tokens under [budget]") && told.contains("does not help"), "{told}");
    assert!(!told.contains("used up") && !told.contains("midnight"), "{told}");
    assert_eq!(story.model.chats().len(), 0);
    story.end().await;
}

/// Proves: models/budget
async fn one_person_cannot_use_up_what_is_there_for_the_others(channel: TestChannel) {
    let hello = tokens_of_a_hello(channel).await;
    let story = channel.story_with(&format!("[budget]\nper_person_daily_tokens = {}", hello + 1_050)).await;
    story.say(ADA, "hello").await;
    story.say(ADA, "and now?").await;
    assert!(
        story.last_received_by(ADA).starts_with("I did not answer, because your share of today's budget is used up.")
    );
    story.say(BEN, "hello").await;
    assert_eq!(story.received_by(BEN), ["ok"]);
    assert_eq!(story.model.chats().len(), 2);
    story.end().await;
}

/// Proves: models/budget
async fn background_work_has_a_limit_of_its_own_and_the_chat_goes_on(channel: TestChannel) {
    let story = channel.story_with("[budget]\nbackground_daily_tokens = 1").await;
    story.say(ADA, "I decided to paint the boat green.").await;
    story.pass(NEXT_CONVERSATION).await;
    story.say(ADA, "hello again").await;
    assert_eq!(story.background.requests().len(), 0);
    assert_eq!(story.received_by(ADA), ["ok", "ok"], "nobody is bothered with it");
    assert!(story.model.last_prompt().contains("paint the boat green"), "the extractive summary stands in");
    story.end().await;
}

/// Promise (models/metering): Every model call is counted: an interrupted one at its worst case,
/// one without a price in tokens.
async fn the_usage_of_a_turn_is_recorded_with_its_cached_tokens(channel: TestChannel) {
    let story = priced(channel, "").await;
    let usage = |input, cached, output| Usage { input, cached, output };
    story.model.then(Say::Counted("first".to_owned(), usage(1_000, 0, 50)));
    story.model.then(Say::Counted("second".to_owned(), usage(1_100, 1_000, 60)));
    story.say(ADA, "one").await;
    story.say(ADA, "two").await;
    let rows = story.text(
        "SELECT group_concat(turn_id || ' ' || person_id || ' ' || state || ' ' || input_tokens || ' ' || cached_tokens || ' '
            || output_tokens || ' ' || micros, ' | ') FROM spending WHERE purpose = 'chat' ORDER BY id",
    );
    assert_eq!(rows, "1 1 spent 1000 0 50 1500 | 2 1 spent 1100 1000 60 800");
    story.say(ADA, "/usage").await;
    let shown = story.last_received_by(ADA);
    assert!(shown.contains("0.0023") && shown.contains("scripted/scripted"), "{shown}");
    story.end().await;
}

/// Proves: models/budget
async fn money_is_a_limit_too(channel: TestChannel) {
    let hello = tokens_of_a_hello(channel).await;
    // In millionths: one for each token of the hello, and ten for each of the thousand output
    // tokens.
    let worst = hello + 10_000;
    let (fits, too_little) = (worst + 100, worst - 100);
    for (limit, calls) in [(fits, 1), (too_little, 0)] {
        let amount = format!("{}.{:06}", limit / 1_000_000, limit % 1_000_000);
        let story = priced(channel, &format!("[budget]\ndaily = {amount}\nper_person_daily = {amount}")).await;
        story.say(ADA, "hello").await;
        assert_eq!(story.model.chats().len(), calls, "limit {limit}, worst case {worst}");
        assert_eq!(story.last_received_by(ADA) == "ok", calls == 1);
        story.end().await;
    }
}

/// Proves: models/metering
async fn a_call_that_was_cut_off_counts_its_worst_case(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.model.fails(ModelError::Cut).says("whole");
    story.say(ADA, "hello").await;
    story.pass(Duration::from_secs(60)).await;
    assert_eq!(story.received_by(ADA), ["whole"]);
    let outputs = story.text("SELECT group_concat(state || ' ' || output_tokens, ' | ') FROM spending ORDER BY id");
    assert_eq!(outputs, "reserved 1000 | spent 10");
    story.end().await;
}

/// Proves: models/metering
async fn a_model_without_a_price_is_counted_in_tokens(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, "hello").await;
    assert_eq!(story.count("SELECT priced FROM spending"), 0);
    let tokens = story.count("SELECT input_tokens + output_tokens FROM spending");
    story.say(ADA, "/usage").await;
    let shown = story.last_received_by(ADA).replace([',', ' ', '\u{a0}', '\u{202f}'], "");
    assert!(shown.contains(&tokens.to_string()) && shown.contains("token"), "{tokens} tokens, shown as: {shown}");
    story.end().await;
}

async fn the_offline_model_is_free(channel: TestChannel) {
    let mut story = channel.prepare_story("[budget]\ndaily_tokens = 1\ndaily = 0.01");
    story.without_a_key();
    story.start().await;
    story.say(ADA, "hello").await;
    assert!(story.last_received_by(ADA).contains("offline model"), "{}", story.last_received_by(ADA));
    assert_eq!(story.count("SELECT sum(micros) FROM spending"), 0);
    story.end().await;
}

async fn each_round_of_tools_is_a_call_and_is_counted(channel: TestChannel) {
    let story = channel.begin_story().await;
    story
        .model
        .calls("memory_search", serde_json::json!({ "in": "conversations", "query": "a" }))
        .calls("memory_search", serde_json::json!({ "in": "conversations", "query": "b" }))
        .says("done");
    story.say(ADA, "search twice").await;
    assert_eq!(story.count("SELECT count(*) FROM spending WHERE turn_id = 1 AND state = 'spent'"), 3);
    assert_eq!(story.received_by(ADA), ["done"]);
    story.end().await;
}
