//! An answer is found by its question, and a second search follows what the first one found.

use std::time::Duration;

use compline::id::PersonId;
use compline::search::find_messages;
use compline::store::MessageQuery;
use compline::trust::Scope;

use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::story::{ADA, BEN, canary};

on_every_channel! {
    stories:
        an_answer_is_found_by_its_question_and_stands_before_it,
        a_second_search_follows_the_rare_words_of_the_first_hits;
}

const NEXT_CONVERSATION: Duration = Duration::from_secs(7 * 3600);

fn found(story: &Story, words: &str) -> Vec<String> {
    let scope = Scope::Person(PersonId(1));
    let query = MessageQuery { words, limit: 20, with_neighbours: true, ..MessageQuery::of(scope) };
    let matches = story.app().journal.read_now(|db| find_messages(db, &query)).unwrap();
    matches.hits.iter().map(|hit| hit.text.open().0.to_string()).collect()
}

/// Promise (search/context): In past conversations you also find the answer to a matching question,
/// what was said up to three messages from a match, and other texts with the names and rare words
/// of the first matches.
async fn an_answer_is_found_by_its_question_and_stands_before_it(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.model.says("Mrs Kovacs from Mill Lane.");
    story.say(ADA, "Which plumber did the neighbours recommend?").await;
    story.pass(NEXT_CONVERSATION).await;
    story.model.says("Since when?");
    story.say(ADA, "The lighthouse is closed.").await;
    story.say(ADA, "Ever after the storm in spring.").await;
    assert_eq!(found(&story, "recommended plumber").first().map(String::as_str), Some("Mrs Kovacs from Mill Lane."));
    let lighthouse = found(&story, "lighthouse");
    assert_eq!(lighthouse.first().map(String::as_str), Some("The lighthouse is closed."));
    assert!(lighthouse.iter().any(|text| text.contains("storm in spring")), "{lighthouse:?}");
    story.end().await;
}

/// Proves: search/context
async fn a_second_search_follows_the_rare_words_of_the_first_hits(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, "I promised the tent to Zoltan.").await;
    story.say(BEN, &format!("Zoltan owes me money {}", canary(BEN))).await;
    story.pass(NEXT_CONVERSATION).await;
    story.say(ADA, "Zoltan has moved to the old mill.").await;
    story.pass(NEXT_CONVERSATION).await;
    story.say(ADA, "We bought a canoe.").await;
    let tent = found(&story, "Who gets the tent?");
    assert_eq!(tent.first().map(String::as_str), Some("I promised the tent to Zoltan."));
    assert!(tent.iter().any(|text| text.contains("old mill")), "{tent:?}");
    assert!(!tent.iter().any(|text| text.contains("canoe") || text.contains("money")), "{tent:?}");
    story.end().await;
}
