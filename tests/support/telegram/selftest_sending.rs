//! Sends and edits: validation, flood control and all faults of answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::{ADA, BotClient, why};
use crate::support::fake::AcceptedKind;
use crate::support::telegram::Fault;

#[tokio::test]
async fn texts_are_measured_after_the_markup_in_utf16_units() {
    let desk = BotClient::open_with_ada().await;
    assert_eq!(why(&desk.send("").await), "Bad Request: message text is empty");
    assert_eq!(why(&desk.send(" \n ").await), "Bad Request: message text is empty");
    assert_eq!(why(&desk.send_html("<b></b>").await), "Bad Request: message text is empty");
    assert_eq!(why(&desk.send(&"x".repeat(4097)).await), "Bad Request: message is too long");
    assert_eq!(why(&desk.send(&"😀".repeat(2049)).await), "Bad Request: message is too long");
    assert_eq!(desk.send(&"😀".repeat(2048)).await["ok"], true);
    assert_eq!(desk.send_html(&format!("<b>{}</b>", "&amp;".repeat(4096))).await["ok"], true);
    let stranger = desk.call("sendMessage", json!({ "chat_id": 99, "text": "psst" })).await;
    assert_eq!(why(&stranger), "Bad Request: chat not found");
}

#[tokio::test]
async fn markup_is_read_strictly() {
    let desk = BotClient::open_with_ada().await;
    let bad = [
        "<blink>x</blink>",
        "<b>x",
        "x</b>",
        "<b><i>x</b></i>",
        "a < b",
        "a & b",
        "&nbsp;",
        "&#xd800;",
        "<a>x</a>",
        "<span>x</span>",
        "<b",
        "<code><b>x</b></code>",
        "<p>x</p>",
        "<br/>",
        "<a href=\"x>y</a>",
        "<b x>y</b>",
        "<blockquote><blockquote>x</blockquote></blockquote>",
    ];
    for text in bad {
        let answer = desk.send_html(text).await;
        assert!(why(&answer).starts_with("Bad Request: can't parse entities: "), "{text}: {answer}");
    }
    let good = "é😀 <b>bold <i>both</i></b> <a href=\"https://e.org/?a=1&amp;b=2\">link</a> &lt;&#33; a > b\n\
                <pre><code class=\"language-rust\">fn x()</code></pre><blockquote expandable>q</blockquote>";
    assert_eq!(desk.send_html(good).await["ok"], true);
    let sent = &desk.fake.sent(ADA)[0];
    assert_eq!(sent.text, "é😀 bold both link <! a > b\nfn x()q");
    let found: Vec<_> = sent.entities.iter().map(|e| (e["type"].as_str().unwrap(), e["offset"].clone())).collect();
    let expected = [("bold", 4), ("italic", 9), ("text_link", 14), ("pre", 28), ("expandable_blockquote", 34)];
    assert_eq!(found, expected.map(|(kind, offset)| (kind, json!(offset))));
    assert_eq!(sent.entities[2]["url"], "https://e.org/?a=1&b=2");
    assert_eq!(sent.entities[3]["language"], "rust");
    assert_eq!((sent.raw.as_str(), sent.parse_mode.as_deref()), (good, Some("HTML")));
}

#[tokio::test]
async fn edits_are_checked_and_kept() {
    let desk = BotClient::open_with_ada().await;
    let theirs = desk.fake.says(ADA, "mine");
    let id = desk.send_html("<b>one</b>").await["result"]["message_id"].as_i64().unwrap();
    let edit = async |id: i64, text: &str| {
        let params = json!({ "chat_id": ADA, "message_id": id, "text": text, "parse_mode": "HTML" });
        desk.call("editMessageText", params).await
    };
    assert!(why(&edit(id, "<strong>one</strong>").await).starts_with("Bad Request: message is not modified: "));
    assert_eq!(why(&edit(id + 50, "x").await), "Bad Request: message to edit not found");
    assert_eq!(why(&edit(theirs, "x").await), "Bad Request: message can't be edited");
    assert_eq!(edit(id, "one").await["ok"], true, "other entities are a change");
    assert_eq!(edit(id, "two").await["result"]["text"], "two");
    let sent = &desk.fake.sent(ADA)[0];
    assert_eq!((sent.first_text.as_str(), sent.text.as_str(), sent.edits.len()), ("one", "two", 2));
    let kinds: Vec<_> = desk.fake.all_sends().iter().map(|accepted| accepted.kind).collect();
    assert_eq!(kinds, [AcceptedKind::Send, AcceptedKind::Edit, AcceptedKind::Edit]);
    desk.call("deleteMessage", json!({ "chat_id": ADA, "message_id": id })).await;
    assert!(desk.fake.sent(ADA).is_empty());
}

#[tokio::test]
async fn a_flooded_chat_stays_closed_by_the_test_clock() {
    let desk = BotClient::open_with_ada().await;
    let now = Arc::new(AtomicI64::new(1_000_000));
    let clock = now.clone();
    desk.fake.set_now(Arc::new(move || clock.load(Ordering::SeqCst)));
    desk.fake.flood(ADA, 7);
    assert_eq!(desk.send("a").await["parameters"]["retry_after"], 7);
    assert!(desk.fake.violations().is_empty());
    now.fetch_add(6_001, Ordering::SeqCst);
    assert_eq!(desk.send("a").await["parameters"]["retry_after"], 1);
    assert_eq!(desk.fake.violations().len(), 1);
    now.fetch_add(999, Ordering::SeqCst);
    assert_eq!(desk.send("a").await["ok"], true);
    assert_eq!(desk.fake.sent(ADA)[0].at_ms, 1_007_000);
    assert_eq!(desk.fake.violations().len(), 1);
    desk.fake.pace(Duration::from_secs(1));
    desk.send("b").await;
    desk.fake.strict(true);
    desk.send("").await;
    let what: Vec<_> = desk.fake.violations().into_iter().map(|violation| violation.what).collect();
    assert_eq!(what[1], "too soon after the call before");
    assert_eq!(what[2], "sendmessage: Bad Request: message text is empty");
}

#[tokio::test]
async fn lost_answers_lost_requests_and_torn_answers() {
    let desk = BotClient::open_with_ada().await;
    let send = async |text: &str| desk.request("sendMessage", &json!({ "chat_id": ADA, "text": text })).send().await;
    desk.fake.drop_after_accept_next(1);
    assert!(send("accepted").await.is_err());
    desk.fake.drop_before_accept_next(1);
    assert!(send("lost").await.is_err());
    desk.fake.malformed_json_next(1);
    assert!(send("torn").await.unwrap().json::<Value>().await.is_err());
    desk.fake.server_error_next(1);
    let bad_gateway = send("502").await.unwrap();
    assert_eq!(bad_gateway.status(), 502);
    assert!(bad_gateway.text().await.unwrap().starts_with("<html>"));
    desk.fake.reject_markup_next(1);
    assert_eq!(desk.send("plain passes").await["ok"], true);
    assert!(why(&desk.send_html("fine").await).starts_with("Bad Request: can't parse entities"));
    desk.fake.fault("getMe", Fault::ServerError, 1);
    assert_eq!(desk.request("getMe", &json!({})).send().await.unwrap().status(), 502);
    assert_eq!(desk.fake.texts(ADA), ["accepted", "torn", "plain passes"]);
    desk.fake.blocks(ADA);
    let blocked = desk.send("x").await;
    assert_eq!((blocked["error_code"].as_i64(), why(&blocked)), (Some(403), "Forbidden: bot was blocked by the user"));
}

#[tokio::test]
async fn answers_can_be_held_and_the_server_stopped_and_restarted() {
    let desk = Arc::new(BotClient::open_with_ada().await);
    desk.fake.hold_answers();
    let send = tokio::spawn({
        let desk = desk.clone();
        async move { desk.request("sendMessage", &json!({ "chat_id": ADA, "text": "in flight" })).send().await }
    });
    desk.fake.until(|fake| fake.held() == 1).await;
    assert_eq!(desk.fake.texts(ADA), ["in flight"]);
    desk.fake.stop();
    assert!(send.await.unwrap().is_err());
    assert!(desk.request("getMe", &json!({})).send().await.is_err());
    desk.fake.restart();
    desk.fake.release_sends();
    assert_eq!(desk.send("back").await["ok"], true);
    assert_eq!(desk.fake.texts(ADA), ["in flight", "back"]);
    assert_eq!(desk.fake.unacked(), 1);
}
