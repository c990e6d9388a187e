//! Tests of the fake's messages: deliveries, their timing, and the results of sends.

use serde_json::{Value, json};

use super::{ADA, Line, fake};
use crate::support::signal::{Failure, FakeSignal, OWN_NUMBER, OWN_UUID, group_id, number, uuid};

const BEN: i64 = 8;

impl Line {
    async fn subscribed(fake: &FakeSignal) -> Self {
        let mut line = Self::to(fake).await;
        let answer = line.asked("subscribeReceive", json!({ "account": OWN_NUMBER })).await;
        assert!(answer["result"].is_u64(), "{answer}");
        line
    }

    async fn envelope(&mut self) -> Value {
        self.next().await.unwrap()["params"]["result"]["envelope"].clone()
    }
}

fn kinds(answer: &Value) -> Vec<&str> {
    let results = if answer["error"].is_null() { &answer["result"] } else { &answer["error"]["data"]["response"] };
    results["results"].as_array().unwrap().iter().map(|result| result["type"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn messages_wait_for_a_subscriber_and_are_gone_once_written() {
    let fake = fake().await;
    fake.says(ADA, "one");
    assert_eq!((fake.waiting(), fake.unacked()), (1, 1));
    let mut line = Line::subscribed(&fake).await;
    assert_eq!(fake.waiting(), 0);
    drop(line);
    fake.until(|fake| fake.lost().len() == 1).await;
    fake.says(ADA, "two");
    line = Line::subscribed(&fake).await;
    assert_eq!(line.envelope().await["dataMessage"]["message"], "two", "what was written to nobody is lost");
}

#[tokio::test]
async fn subscriptions_have_numbers_of_the_daemon() {
    let fake = fake().await;
    let (mut first, mut second) = (Line::to(&fake).await, Line::to(&fake).await);
    assert_eq!(first.asked("subscribeReceive", json!({})).await["result"], 0);
    assert_eq!(second.asked("subscribeReceive", json!({})).await["result"], 1);
    fake.says(ADA, "to both");
    assert_eq!(first.next().await.unwrap()["params"]["subscription"], 0);
    assert_eq!(second.next().await.unwrap()["params"]["subscription"], 1);
    assert_eq!(first.asked("unsubscribeReceive", json!({ "subscription": 1 })).await["result"], json!({}));
    assert_eq!(first.asked("unsubscribeReceive", json!({ "subscription": 1 })).await["error"]["code"], -1);
}

#[tokio::test]
async fn a_deaf_daemon_answers_others_and_says_nothing_to_subscribers() {
    let fake = fake().await;
    let mut receiving = Line::subscribed(&fake).await;
    fake.deafen();
    fake.says(ADA, "unheard");
    receiving.ask(2, "version", json!({})).await;
    let mut sending = Line::to(&fake).await;
    assert!(sending.asked("version", json!({})).await["result"].is_object());
    fake.until(|fake| fake.calls().len() == 3).await;
    let mut again = Line::subscribed(&fake).await;
    assert_eq!(again.envelope().await["dataMessage"]["message"], "unheard", "a new connection hears again");
}

#[tokio::test]
async fn everything_that_people_do_has_its_envelope() {
    let fake = fake().await;
    let club = fake.group(-5, "The club");
    let mut line = Line::subscribed(&fake).await;
    let first = fake.says(ADA, "one");
    assert_eq!(line.envelope().await["timestamp"], first);
    fake.edits(ADA, first, "uno");
    assert_eq!(line.envelope().await["editMessage"]["targetSentTimestamp"], first);
    fake.deletes(ADA, first);
    assert_eq!(line.envelope().await["dataMessage"]["remoteDelete"]["timestamp"], first);
    fake.hides_number(ADA);
    fake.from(ADA).in_chat(club).text("hello").mentions_us().send();
    let envelope = line.envelope().await;
    assert_eq!((&envelope["sourceNumber"], &envelope["sourceUuid"]), (&Value::Null, &json!(uuid(ADA))));
    let data = &envelope["dataMessage"];
    assert_eq!((&data["message"], &data["mentions"][0]["uuid"]), (&json!("\u{fffc} hello"), &json!(OWN_UUID)));
    assert_eq!(data["groupInfo"]["groupId"], group_id(club));
    let kept = fake.says_with_new_keys(ADA, "it is me");
    assert_eq!(line.next().await.unwrap()["params"]["result"]["exception"]["type"], "UntrustedIdentityException");
    fake.redeliver(kept);
    assert_eq!(line.envelope().await["dataMessage"]["message"], "it is me");
    fake.hold_messages();
    fake.says(ADA, "early");
    fake.says(ADA, "late");
    fake.release_messages(true);
    assert_eq!(line.envelope().await["dataMessage"]["message"], "late");
    assert_eq!(line.envelope().await["dataMessage"]["message"], "early");
    fake.noisy(true);
    fake.chatty(true);
    fake.says(ADA, "noise");
    for _ in 0..5 {
        assert_eq!(line.envelope().await["dataMessage"], Value::Null);
    }
    assert_eq!(line.envelope().await["dataMessage"]["holograms"][0]["beams"], 3);
}

#[tokio::test]
async fn each_recipient_has_an_outcome_and_only_a_failure_for_all_is_an_error() {
    let fake = fake().await;
    let mut line = Line::to(&fake).await;
    assert_eq!(kinds(&line.send(&number(ADA), "one").await), ["SUCCESS"]);
    for (failure, code) in [
        (Failure::Network, -1),
        (Failure::Unregistered, -1),
        (Failure::PreKey, -1),
        (Failure::Identity, -4),
        (Failure::RateLimit(None), -5),
        (Failure::ProofRequired { token: "t".to_owned(), retry_after: 60 }, -5),
    ] {
        fake.refuses_next(ADA, failure.clone(), 1);
        let answer = line.send(&uuid(ADA), "two").await;
        assert_eq!(answer["error"]["code"], code, "{failure:?}");
        assert_eq!(kinds(&answer).len(), 1);
    }
    assert_eq!(fake.texts(ADA), ["one"]);
    fake.person(BEN, "Ben", None);
    let club = fake.group(-5, "The club");
    fake.refuses(BEN, Failure::Identity);
    let to_all = json!({ "account": OWN_NUMBER, "groupId": group_id(club), "message": "to all" });
    let answer = line.asked("send", to_all).await;
    assert_eq!(kinds(&answer), ["SUCCESS", "IDENTITY_FAILURE"]);
    assert_eq!(fake.sent(club)[0].missed_by, [BEN]);
    assert_eq!(fake.violations(), []);
}

#[tokio::test]
async fn the_fake_signal_records_improper_client_behaviour() {
    let fake = fake().await;
    let mut line = Line::to(&fake).await;
    let send = |rest: Value| {
        let mut params = json!({ "account": OWN_NUMBER, "recipient": uuid(ADA), "message": "héllo" });
        params.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        params
    };
    line.asked("send", send(json!({ "textStyles": ["0:5:BOLD", "1:5:ITALIC"], "parseMode": "HTML" }))).await;
    line.asked("send", send(json!({ "message": "é".repeat(1001) }))).await;
    line.asked("send", send(json!({ "quoteTimestamp": 5, "quoteAuthor": uuid(ADA) }))).await;
    fake.hold_sends();
    line.ask(1, "send", send(json!({}))).await;
    line.ask(2, "send", send(json!({}))).await;
    fake.until(|fake| fake.held() == 2).await;
    let violations: Vec<String> = fake.violations().into_iter().map(|violation| violation.what).collect();
    let expected = [
        "a style that covers nothing: 1:5:ITALIC",
        "a body of 2002 bytes",
        "quotes what nobody wrote",
        "two sends at once",
    ];
    assert_eq!(violations, expected);
    assert_eq!(fake.ignored(), [("send".to_owned(), "parseMode".to_owned())]);
    assert_eq!(fake.sent(ADA)[0].styled(), ["BOLD héllo", "ITALIC outside"]);
}

#[tokio::test]
async fn messages_of_ours_are_edited_deleted_quoted_and_come_with_files() {
    let fake = fake().await;
    let mut line = Line::to(&fake).await;
    let theirs = fake.says(ADA, "question");
    let of = |rest: Value| {
        let mut params = json!({ "account": OWN_NUMBER, "recipient": uuid(ADA) });
        params.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        params
    };
    let quoting = json!({
        "message": "answer", "quoteTimestamp": theirs, "quoteAuthor": uuid(ADA), "quoteMessage": "question",
        "attachment": ["data:text/plain;filename=a.txt;base64,aGk="],
    });
    let first = line.asked("send", of(quoting)).await["result"]["timestamp"].clone();
    let edited = line.asked("send", of(json!({ "message": "better", "editTimestamp": first }))).await;
    let edited = edited["result"]["timestamp"].as_i64().unwrap();
    let [sent] = fake.sent(ADA).try_into().unwrap();
    assert_eq!((sent.text.as_str(), sent.first_text.as_str(), sent.reply_to), ("better", "answer", Some(theirs)));
    assert_eq!((sent.files[0].name.as_str(), sent.files[0].bytes.as_slice()), ("a.txt", b"hi".as_slice()));
    fake.replies(ADA, edited, "thanks");
    let reaction = json!({ "emoji": "👍", "targetAuthor": uuid(ADA), "targetTimestamp": theirs });
    line.asked("sendReaction", of(reaction)).await;
    line.asked("sendReceipt", of(json!({ "targetTimestamp": [theirs] }))).await;
    assert_eq!(
        (fake.reaction(ADA, theirs), fake.receipts(ADA)),
        (Some("👍".to_owned()), vec![("read".to_owned(), theirs)])
    );
    line.asked("remoteDelete", of(json!({ "targetTimestamp": first }))).await;
    assert_eq!(fake.texts(ADA), Vec::<String>::new());
    let id = fake.file(b"in");
    let file = line.asked("getAttachment", of(json!({ "id": id }))).await;
    assert_eq!(
        (&file["result"]["data"], std::fs::read(fake.attachments_dir().join(id)).unwrap()),
        (&json!("aW4="), b"in".to_vec())
    );
    assert_eq!(fake.violations(), []);
}
