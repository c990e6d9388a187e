//! Identity of senders: by account identifier on Signal, by a code on any channel, and never by
//! anything that a sender can choose.

use serde_json::{Value, json};

use super::groups::{ALLOWED, BOT, FAMILY};
use crate::support::signal::{FakeSignal, group_id, number, uuid};
use crate::support::story::{ADA, BEN, EVE, Story, StoryOver, UNTRUSTED, canary};

type OnSignal = StoryOver<FakeSignal>;

/// Receives a message with this number and identifier in the envelope.
async fn comes(story: &OnSignal, number: Value, uuid: Value, more: Value) {
    let now = story.fake.now_ms() + i64::try_from(story.fake.calls().len()).unwrap();
    let mut data = json!({ "timestamp": now, "message": format!("it is me {UNTRUSTED}") });
    for (key, value) in more.as_object().unwrap() {
        data[key] = value.clone();
    }
    story.fake.envelope(json!({ "account": story.fake.account(), "envelope": {
        "sourceNumber": number, "sourceUuid": uuid, "sourceName": "Ada", "sourceDevice": 1, "timestamp": now,
        "serverReceivedTimestamp": now, "dataMessage": data,
    } }));
    story.answered().await;
}

fn said(story: &OnSignal) -> i64 {
    story.count("SELECT count(*) FROM messages WHERE kind = 'said'")
}

fn code_for(story: &Story, person: i64) -> String {
    let said = story.last_received_by(person);
    said.split_whitespace().find(|word| word.len() == 9 && word.as_bytes()[4] == b'-').unwrap_or(&said).to_owned()
}

fn addresses(story: &Story) -> i64 {
    story.count("SELECT count(*) FROM addresses WHERE person_id IS NOT NULL AND adapter = 'telegram'")
}

/// Proves: trust/hidden-orders
#[tokio::test]
async fn a_number_alone_does_not_identify_a_person_declared_by_identifier() {
    let story = OnSignal::begin().await;
    // Ben is configured by his identifier, so his number alone means nothing, before and after his
    // first message.
    for seen in [false, true] {
        comes(&story, json!(number(BEN)), json!(uuid(EVE)), json!({})).await;
        comes(&story, json!(number(BEN)), json!(format!("PNI:{}", uuid(BEN))), json!({})).await;
        comes(&story, json!(number(BEN)), Value::Null, json!({})).await;
        assert_eq!(said(&story), i64::from(seen));
        if !seen {
            story.say(BEN, &format!("hello {}", canary(BEN))).await;
        }
    }
    assert_eq!(story.model.asked(), 1);
    story.end().await;
}

/// Proves: trust/hidden-orders
#[tokio::test]
async fn a_number_belongs_to_the_first_who_comes_with_it() {
    let story = OnSignal::begin().await;
    story.say(ADA, &format!("hello {}", canary(ADA))).await;
    comes(&story, json!(number(ADA)), json!(uuid(EVE)), json!({})).await;
    comes(&story, json!(number(ADA)), json!(format!("PNI:{}", uuid(ADA))), json!({})).await;
    comes(&story, json!(number(ADA)), json!("Ada"), json!({})).await;
    comes(&story, json!(number(ADA)), Value::Null, json!({ "message": "/pair Mallory owner" })).await;
    comes(&story, Value::Null, json!("00000000-0000-0000-0000-000000000000"), json!({})).await;
    assert_eq!((said(&story), story.model.asked()), (1, 1), "{:?}", story.received_by(ADA));
    assert_eq!(story.count("SELECT count(*) FROM pairing_codes"), 0);
    assert_eq!(story.text("SELECT peer FROM addresses WHERE person_id = 1 AND adapter = 'signal'"), uuid(ADA));
    comes(&story, Value::Null, json!(uuid(ADA).to_uppercase()), json!({ "message": "and so am I" })).await;
    assert_eq!(said(&story), 2, "letters may be large or small");
    story.end().await;
}

/// Proves: trust/hidden-orders
#[tokio::test]
async fn a_code_from_a_known_number_takes_over_no_address() {
    let story = OnSignal::begin().await;
    story.say(ADA, &format!("hello {}", canary(ADA))).await;
    story.say(ADA, "/pair Zoe").await;
    let told = story.last_received_by(ADA);
    let code = told.split_whitespace().find(|word| word.len() == 9 && word.as_bytes()[4] == b'-').unwrap().to_owned();
    comes(&story, json!(number(ADA)), Value::Null, json!({ "message": code })).await;
    assert_eq!(story.text("SELECT peer FROM addresses WHERE person_id = 1 AND adapter = 'signal'"), uuid(ADA));
    story.say(ADA, "/people").await;
    assert!(!story.last_received_by(ADA).contains("Zoe"), "{}", story.last_received_by(ADA));
    story.end().await;
}

/// Proves: trust/hidden-orders
#[tokio::test]
async fn the_owner_is_not_heard_in_a_group_that_is_not_allowed() {
    let story = OnSignal::with(&format!("[groups]\nallowed = [\"signal:{}\"]\n", group_id(-7))).await;
    let us = json!([{ "start": 0, "length": 1, "number": story.fake.account() }]);
    for id in [group_id(-8), group_id(-7).to_lowercase(), format!("{} ", group_id(-7)), String::new(), "*".to_owned()] {
        let group = json!({ "groupId": id, "groupName": group_id(-7), "type": "DELIVER" });
        let more = json!({ "groupInfo": group, "mentions": us, "message": "\u{fffc} /pair Mallory owner" });
        comes(&story, json!(number(ADA)), json!(uuid(ADA)), more).await;
    }
    let odd = json!({ "groupInfo": { "groupId": 7 }, "message": "/pair Mallory owner" });
    comes(&story, json!(number(ADA)), json!(uuid(ADA)), odd).await;
    assert_eq!((said(&story), story.count("SELECT count(*) FROM pairing_codes")), (0, 0));
    assert_eq!(story.fake.all_sends().len(), 0);
    story.end().await;
}

/// Proves: trust/hidden-orders
#[tokio::test]
async fn we_do_not_talk_to_ourselves() {
    let story = OnSignal::begin().await;
    let own = "c0ffee00-0000-4000-8000-000000000042";
    for (number, uuid) in [(json!(story.fake.account()), json!(own)), (json!(story.fake.account()), Value::Null)] {
        for _ in 0..3 {
            comes(&story, number.clone(), uuid.clone(), json!({})).await;
        }
    }
    assert_eq!((said(&story), story.model.asked(), story.fake.all_sends().len()), (0, 0, 0));
    assert_eq!(story.count("SELECT count(*) FROM strangers"), 0, "we are no stranger either");
    story.end().await;
}

/// Proves: trust/hidden-orders
#[tokio::test]
async fn a_stranger_who_types_first_still_gets_the_standard_notice() {
    let story = OnSignal::begin().await;
    story.fake.types(EVE, "STARTED");
    story.answered().await;
    story.say(EVE, "hello?").await;
    story.say(EVE, "hello??").await;
    assert_eq!(story.received_by(EVE).len(), 2, "a line for each message, and none for typing");
    assert!(story.received_by(EVE)[0].contains("private assistant"), "{:?}", story.received_by(EVE));
    story.end().await;
}

/// Proves: trust/hidden-orders
#[tokio::test]
async fn no_code_is_made_or_used_in_a_group() {
    let story = Story::with(ALLOWED).await;
    story.fake.group(FAMILY, "The family");
    story.say(ADA, "/help").await;
    for line in ["/link", "/pair Eve", "/pair Eve owner"] {
        story.fake.says_in(FAMILY, EVE, &format!("{line}{BOT}"));
        story.answered().await;
    }
    assert_eq!(story.count("SELECT count(*) FROM pairing_codes"), 0);
    story.fake.says_in(FAMILY, ADA, &format!("/link{BOT}"));
    story.answered().await;
    let code = code_for(&story, ADA);
    assert!(!story.received_by(FAMILY).join("\n").contains(&code), "it is for her alone");
    let before = addresses(&story);
    for text in [code.clone(), format!("{BOT} {code}"), format!("/start{BOT} {code}"), format!("/pair {code}")] {
        story.fake.says_in(FAMILY, EVE, &text);
        story.answered().await;
    }
    assert_eq!(addresses(&story), before);
    story.end().await;
}

/// Proves: trust/hidden-orders
#[tokio::test]
async fn a_code_counts_only_where_it_is_all_that_was_typed() {
    let story = Story::begin().await;
    story.say(ADA, "/link").await;
    let (code, before) = (code_for(&story, ADA), addresses(&story));
    let eve = || story.fake.from(EVE);
    eve().forwarded_from(ADA).text(&code).send();
    eve().via_bot("gif").text(&code).send();
    eve().external_quote("Ada", &code).text("see?").send();
    eve().contact(&code, "+431234").send();
    eve().document(&code, "text/plain", code.as_bytes()).send();
    let harmless = eve().text("hello").send();
    story.fake.edits(EVE, harmless, &code);
    eve().text(&format!("my code is {code}")).send();
    story.answered().await;
    assert_eq!(addresses(&story), before);
    story.say(EVE, &code).await;
    assert_eq!(addresses(&story), before + 1);
    story.fake.person(7_777, "Mallory", None);
    story.say(7_777, &code).await;
    assert_eq!(addresses(&story), before + 1, "it is good once");
    story.end().await;
}

/// Proves: trust/hidden-orders
#[tokio::test]
async fn guesses_are_few_and_a_good_code_does_not_help_after_them() {
    let story = Story::begin().await;
    story.say(ADA, "/pair Zoe").await;
    let (code, before) = (code_for(&story, ADA), addresses(&story));
    for guess in ["AAAA-AAAA", "AAAA-AAAB", "AAAA-AAAC", "AAAA-AAAD", "AAAA-AAAE"] {
        story.say(EVE, guess).await;
    }
    story.say(EVE, &code).await;
    assert_eq!(addresses(&story), before);
    story.end().await;
}

/// Proves: trust/hidden-orders
#[tokio::test]
async fn a_code_grants_no_more_rights_than_its_maker_has() {
    let story = Story::begin().await;
    story.say(ADA, "/pair Zoe").await;
    story.say(EVE, &code_for(&story, ADA)).await;
    // Ben cannot create a code for Ada, and his own code makes no one an owner.
    for line in ["/pair Ben owner", "/pair Ada", "/link Ada", "/link owner"] {
        story.say(BEN, line).await;
    }
    assert_eq!(story.count("SELECT count(*) FROM pairing_codes WHERE role = 'owner'"), 0);
    story.say(BEN, "/link").await;
    story.say(EVE, &code_for(&story, BEN)).await;
    assert_eq!(story.text("SELECT group_concat(name) FROM people WHERE role = 'owner' AND removed_at IS NULL"), "Ada");
    story.say(EVE, "/people").await;
    assert!(!story.last_received_by(EVE).contains("Ada"), "{}", story.last_received_by(EVE));
    story.end().await;
}

/// Proves: trust/hidden-orders
#[tokio::test]
async fn an_owner_is_not_talked_into_becoming_a_member() {
    let mut story = Story::prepared("").await;
    story.configure_no_people();
    story.start().await;
    let code = story.app().admin.members().claim_code().await.unwrap().unwrap();
    story.say(ADA, &code).await;
    story.say(ADA, &format!("my garden is {}", canary(ADA))).await;
    story.say(ADA, "/pair Ben").await;
    story.say(BEN, &code_for(&story, ADA)).await;
    story.say(BEN, "/link").await;
    // He claims that it is for a prize.
    story.say(ADA, &code_for(&story, BEN)).await;
    let people =
        story.text("SELECT group_concat(role) FROM (SELECT role FROM people WHERE removed_at IS NULL ORDER BY id)");
    assert_eq!(people, "owner,member", "{}", story.last_received_by(ADA));
    story.say(BEN, "/search garden").await;
    assert!(!story.last_received_by(BEN).contains("canary"), "{}", story.last_received_by(BEN));
    story.end().await;
}
