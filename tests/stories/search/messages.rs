//! Messages are found by word stem, with or without accents, in any script, and only by their own
//! people.

use std::time::Duration;

use compline::id::PersonId;
use compline::search::MessageMatches;
use compline::trust::Scope;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::story::{ADA, BEN, UNTRUSTED, canary};

on_every_channel! {
    stories:
        words_are_found_by_their_stem_their_plain_letters_and_in_any_script,
        no_question_is_too_strange_and_none_looks_into_another_scope,
        messages_already_in_the_prompt_are_not_recalled,
        a_search_can_be_limited_to_a_time,
        commands_and_what_was_replaced_are_not_found,
        a_rebuilt_message_index_gives_the_same_answers;
}

const NEXT_CONVERSATION: Duration = Duration::from_secs(7 * 3600);
const OF_ADA: Scope = Scope::Person(PersonId(1));

fn recall(story: &Story, scope: Scope, query: &str, untrusted_too: bool) -> MessageMatches {
    story.app().journal.read_now(|db| crate::support::search::find(db, scope, query, untrusted_too, 20)).unwrap()
}

fn found(story: &Story, query: &str) -> Vec<String> {
    recall(story, OF_ADA, query, false).hits.iter().map(|hit| hit.text.open().0.to_string()).collect()
}

/// Promise (search/conversations): Earlier conversations and reflections are found without accents, by
/// other forms of an English word, and in Korean and in scripts without spaces by any part of a word,
/// by no one but you; every query is accepted.
async fn words_are_found_by_their_stem_their_plain_letters_and_in_any_script(channel: TestChannel) {
    let story = channel.begin_story().await;
    let said = [
        "We watered the gardens every evening.",
        "Der Straßenbahnfahrer heißt Łukasz Ångström.",
        "Le café préféré de José est à Besançon.",
        "我们明天去北京动物园看熊猫",
        "東京タワーで会いましょう",
        "Встретимся на площади у фонтана.",
        "Smørrebrød & naïve façade",
        "오늘 끝말잇기 게임을 했다",
        "วันนี้ฉันไปตลาดน้ำอัมพวา",
    ];
    for text in said {
        story.say(ADA, text).await;
    }
    for (query, hit) in [
        ("watering garden", 0),
        ("GARDEN", 0),
        ("strassenbahnfahrer", 1),
        ("lukasz angstrom", 1),
        ("cafe prefere", 2),
        ("Besancon", 2),
        ("动物园", 3),
        ("熊猫", 3),
        ("東京", 4),
        ("タワー", 4),
        ("фонтана", 5),
        ("smorrebrod", 6),
        ("naive facade", 6),
        ("게임", 7),
        ("끝말", 7),
        ("ตลาดน้ำ", 8),
    ] {
        assert_eq!(found(&story, query).first().map(String::as_str), Some(said[hit]), "{query}");
    }
    assert!(found(&story, "京北").is_empty(), "a run of ideographs is a phrase, not a bag");
    story.end().await;
}

/// Proves: search/conversations
async fn no_question_is_too_strange_and_none_looks_into_another_scope(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, &format!("the orchard is mine, {}", canary(ADA))).await;
    story.say(BEN, &format!("the orchard is not his, {}", canary(BEN))).await;
    let hostile = [
        "orchard\" OR scope : person2 OR body : \"orchard",
        "scope : person2",
        "person2 orchard",
        "\") OR (scope:person2 AND body:orchard",
        "NEAR(orchard person2)",
        "orchard* ^orchard -orchard {scope} : person2",
        "'; DROP TABLE texts; --",
        "\0",
        "\u{202e}orchard",
        "AND OR NOT",
        "orchard \"\"\"\"",
    ];
    for query in hostile {
        for untrusted_too in [false, true] {
            let matches = recall(&story, OF_ADA, query, untrusted_too);
            assert!(matches.hits.iter().all(|hit| hit.text.scope() == OF_ADA), "{query}");
            assert!(matches.hits.iter().all(|hit| !hit.text.open().0.contains(&canary(BEN))), "{query}");
        }
    }
    let mut runner =
        TestRunner::new(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() });
    let strange = prop_oneof![
        ".{0,80}",
        "[\"'*^:(){}+ -]{0,20}(orchard|scope|person2|NEAR|AND|OR|NOT)[\"'*^:(){}+ -]{0,20}person2"
    ];
    let outcome = runner.run(&strange, |query| {
        let matches = recall(&story, OF_ADA, &query, true);
        prop_assert!(matches.hits.iter().all(|hit| hit.text.scope() == OF_ADA));
        Ok(())
    });
    outcome.unwrap();
    let everything = "orchard ".repeat(5_000);
    assert_eq!(recall(&story, OF_ADA, &everything, true).hits.len(), 1, "a very long question is a question too");
    story.end().await;
}

async fn messages_already_in_the_prompt_are_not_recalled(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, "the heron stands in the reeds").await;
    story.pass(NEXT_CONVERSATION).await;
    // The turn has more matches than the limit of a search: they must not crowd out the older one.
    for number in 0..40 {
        story.fake.says(ADA, &format!("heron {number}"));
    }
    story
        .model
        .calls("memory_search", serde_json::json!({ "in": "conversations", "query": "heron", "limit": 3 }))
        .says("found");
    story.pass(Duration::from_secs(10)).await;
    let prompt =
        story.model.chats().into_iter().rev().find(|request| crate::support::model::words(request).contains("tool: "));
    let gave = crate::support::model::words(&prompt.unwrap()).rsplit("tool: ").next().unwrap_or_default().to_owned();
    assert!(gave.contains("stands in the reeds") && !gave.contains("heron 1"), "{gave}");
    story.end().await;
}

async fn a_search_can_be_limited_to_a_time(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, "the heron stands in the reeds").await;
    story.pass(2 * Duration::from_secs(86_400)).await;
    story.say(ADA, "the heron flies away").await;
    story.pass(NEXT_CONVERSATION).await;
    for (since, until, reeds, away) in [
        ("2026-11-20", "2026-11-22", true, true),
        ("2026-11-20", "2026-11-20", true, false),
        ("2026-11-21", "2026-11-22 23:59", false, true),
        ("2026-11-21", "2026-11-21", false, false),
    ] {
        let arguments = serde_json::json!({ "in": "conversations", "query": "heron", "since": since, "until": until });
        story.model.calls("memory_search", arguments).says("found");
        story.say(ADA, "look it up").await;
        let gave = story.text("SELECT text FROM steps WHERE kind = 'tool' ORDER BY id DESC LIMIT 1");
        assert_eq!((gave.contains("the reeds"), gave.contains("flies")), (reeds, away), "{since} {until}: {gave}");
    }
    for (argument, value, known) in [("in", "all", "facts, notes"), ("since", "last week", "2026-11-02 14:30")] {
        let arguments = serde_json::json!({ "query": "heron", argument: value });
        story.model.calls("memory_search", arguments).says("found");
        story.say(ADA, "look it up").await;
        let gave = story.text("SELECT text FROM steps WHERE kind = 'tool' ORDER BY id DESC LIMIT 1");
        assert!(gave.contains(known) && !gave.contains("reeds"), "{argument}: {gave}");
    }
    story.end().await;
}

async fn commands_and_what_was_replaced_are_not_found(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, "/search platypus").await;
    let wrong = story.fake.says(ADA, "the walrus is asleep");
    story.settle().await;
    story.fake.edits(ADA, wrong, "the narwhal is asleep");
    story.answered().await;
    assert!(found(&story, "platypus").is_empty());
    assert!(found(&story, "walrus").is_empty());
    assert_eq!(found(&story, "narwhal"), ["the narwhal is asleep"]);
    story.end().await;
}

/// Promise (search/rebuild): The search index of conversations and memory can be deleted, in whole
/// or in part: the next start rebuilds what is missing and finds the same. The same holds for a
/// journal from an old version; intact tables are not rebuilt.
async fn a_rebuilt_message_index_gives_the_same_answers(channel: TestChannel) {
    let story = channel.begin_story().await;
    let early = story.fake.says(ADA, "the otter swims in the river");
    story.answered().await;
    story.fake.edits(ADA, early, "the otter and the beaver");
    story.settle().await;
    story.fake.quotes(ADA, "Mallory", &format!("{UNTRUSTED}otter quoted"), "what about this otter?");
    story.answered().await;
    story.fake.sends_document(ADA, "otter.txt", "text/plain", format!("{UNTRUSTED}otter file").as_bytes());
    story.answered().await;
    story.say(ADA, "/search otter").await;
    story.say(BEN, "my otter").await;
    story.pass(NEXT_CONVERSATION).await;
    story.say(ADA, "Otters again: 水獺").await;
    let asked = ["otter", "otters river", "beaver", "quoted", "水獺", "search", "what about file"];
    let answers = |story: &Story| -> Vec<MessageMatches> {
        let both = asked.iter().flat_map(|query| [(query, false), (query, true)]);
        both.map(|(query, untrusted_too)| recall(story, OF_ADA, query, untrusted_too)).collect()
    };
    let before = answers(&story);
    assert!(before[1].hits.len() >= 4, "{before:?}");
    story.app().journal.write("rebuild", |tx| tx.message_search().rebuild_index()).await.unwrap();
    for ((query, old), new) in asked.iter().flat_map(|query| [query, query]).zip(before).zip(answers(&story)) {
        assert_eq!(old, new, "{query}");
    }
    story.end().await;
}
