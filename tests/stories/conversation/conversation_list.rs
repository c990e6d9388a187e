//! `/conversations`: the list by pages, a part of one, and what it says of their sources.

use std::collections::BTreeSet;

use rusqlite::Connection;
use serde_json::json;

use crate::support::channel::Channel;
use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::story::{ADA, BEN, EVE, UNTRUSTED};
use crate::support::web::Web;

on_every_channel! {
    stories:
        the_list_goes_on_where_it_ended,
        a_part_of_a_conversation_leads_on,
        a_conversation_is_listed_with_all_that_it_read;
}

async fn answer(story: &Story, person: i64, command: &str) -> String {
    story.say(person, command).await;
    story.last_received_by(person).replace(['\\', '`', '*'], "")
}

/// Numbers of the listed conversations.
fn listed(answer: &str) -> Vec<i64> {
    let number = |line: &str| line.split_once(' ')?.0.parse().ok();
    answer.lines().filter_map(number).collect()
}

/// Proves: operation/next-page, privacy/conversation-list
async fn the_list_goes_on_where_it_ended(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(BEN, "Hello from Ben").await;
    for _ in 0..12 {
        story.say(ADA, "/new").await;
        story.say(ADA, "Hello from Ada").await;
    }
    let first = answer(&story, ADA, "/conversations").await;
    assert_eq!(listed(&first), (4..=13).rev().collect::<Vec<_>>(), "{first}");
    assert_eq!(first.lines().last(), Some("More: /conversations before 4"));
    let second = answer(&story, ADA, "/conversations before 4").await;
    assert_eq!(listed(&second), [3, 2], "{second}");
    assert!(!second.contains("More:"), "{second}");
    assert_eq!(listed(&answer(&story, ADA, "/conversations all before 3").await), [2]);
    assert_eq!(listed(&answer(&story, BEN, "/conversations").await), [1]);
    assert_eq!(answer(&story, ADA, "/conversations 1").await, "There is no conversation 1.");
    assert_eq!(answer(&story, ADA, "/conversations 1 1").await, "There is no conversation 1.");
    story.end().await;
}

/// Proves: command-line/transcript-part
async fn a_part_of_a_conversation_leads_on(channel: TestChannel) {
    let story = channel.begin_story().await;
    for number in 1..=15 {
        story.say(ADA, &format!("Word {number}.")).await;
    }
    let sql = "SELECT m.id FROM messages m JOIN texts t ON t.message_id = m.id WHERE t.text = 'Word 9.'";
    let place = story.count(sql);
    let part = answer(&story, ADA, &format!("/conversations 1 {place}")).await;
    let said = |number: i64| part.lines().any(|line| line == format!("Word {number}."));
    assert!(said(9) && said(5) && said(12) && !said(2) && !said(15), "{part}");
    let later = part.lines().find_map(|line| line.strip_prefix("Later: ")).unwrap();
    let rest = answer(&story, ADA, later).await;
    assert!(rest.contains("Word 14.") && rest.contains("Earlier: /conversations 1 "), "{rest}");
    story.end().await;
}

/// The words of the labels of a conversation's texts and turns.
fn sources_of(db: &Connection, conversation: i64) -> BTreeSet<String> {
    let sql = "SELECT t.label FROM messages m JOIN texts t ON t.message_id = m.id WHERE m.conversation_id = ?1
         UNION SELECT label FROM turns WHERE conversation_id = ?1";
    let mut query = db.prepare(sql).unwrap();
    let labels: Vec<String> = query.query_map([conversation], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    words(&labels.join(" "))
}

fn words(label: &str) -> BTreeSet<String> {
    label.split(' ').filter(|word| *word != "trusted").map(str::to_owned).collect()
}

/// Proves: trust/conversation-label
async fn a_conversation_is_listed_with_all_that_it_read(channel: TestChannel) {
    let web = Web::of(&[("/today", &format!("<p>{UNTRUSTED}rain</p>"))]).await;
    let mut story = channel.prepare_story("");
    story.fetch_through(web.fetcher());
    story.start().await;
    story.say(ADA, "hello").await;
    let list = answer(&story, ADA, "/conversations").await;
    assert!(!list.contains("from outside"), "{list}");
    story.model.calls("web_fetch", json!({ "url": "http://news.example/today" })).says("It rains.");
    story.say(ADA, "look at http://news.example/today").await;
    let list = answer(&story, ADA, "/conversations").await;
    assert!(list.contains("from outside: text from the web, news.example"), "{list}");
    story.say(ADA, "/new").await;
    story.fake.passes_on(ADA, EVE, &format!("{UNTRUSTED}letter"));
    story.answered().await;
    let is_telegram = story.fake.name() == "telegram";
    let passed_on = if is_telegram { "text forwarded from another person" } else { "the preview of a web page" };
    let list = answer(&story, ADA, "/conversations").await;
    assert_eq!(list.matches("from outside: ").count(), 2, "{list}");
    assert!(list.contains(passed_on), "{list}");
    let db = Connection::open(story.home.join("compline.db")).unwrap();
    for conversation in [1, 2] {
        let sql = "SELECT label FROM conversations WHERE id = ?1";
        let stored: String = db.query_row(sql, [conversation], |row| row.get(0)).unwrap();
        assert_eq!(words(&stored), sources_of(&db, conversation), "{conversation}");
        assert!(!words(&stored).is_empty(), "{conversation}");
    }
    story.end().await;
}
