//! Tests of the fake itself: HTTP and polling with a plain client; see also `sending` and
//! `library`.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::telegram::FakeTelegram;

#[path = "selftest_library.rs"]
mod selftest_library;
#[path = "selftest_sending.rs"]
mod selftest_sending;

const ADA: i64 = 7;

/// The fake with Ada, whose first message is confirmed.
struct BotClient {
    fake: FakeTelegram,
    client: reqwest::Client,
}

impl BotClient {
    async fn open() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let fake = FakeTelegram::start().await;
        fake.person(ADA, "Ada", Some("ada"));
        Self { fake, client: reqwest::Client::new() }
    }

    async fn open_with_ada() -> Self {
        let desk = Self::open().await;
        desk.fake.says(ADA, "hello");
        desk
    }

    fn request(&self, method: &str, params: &Value) -> reqwest::RequestBuilder {
        let url = format!("{}/bot{}/{method}", self.fake.url(), self.fake.token());
        self.client.post(url).json(params)
    }

    async fn call(&self, method: &str, params: Value) -> Value {
        self.request(method, &params).send().await.unwrap().json().await.unwrap()
    }

    async fn send(&self, text: &str) -> Value {
        self.call("sendMessage", json!({ "chat_id": ADA, "text": text })).await
    }

    async fn send_html(&self, text: &str) -> Value {
        self.call("sendMessage", json!({ "chat_id": ADA, "text": text, "parse_mode": "HTML" })).await
    }

    async fn poll(&self, offset: i64, timeout: u64) -> Value {
        self.call("getUpdates", json!({ "offset": offset, "timeout": timeout })).await
    }
}

fn why(answer: &Value) -> &str {
    assert_eq!(answer["ok"], false, "{answer}");
    answer["description"].as_str().unwrap()
}

fn ids(answer: &Value) -> Vec<i64> {
    answer["result"].as_array().unwrap().iter().map(|update| update["update_id"].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn wrong_tokens_and_methods_are_refused_as_by_the_real_server() {
    let desk = BotClient::open().await;
    for (path, code) in [("bot1:x/getMe", 401), ("botnonsense/getMe", 404), ("elsewhere", 404)] {
        let answer = desk.client.get(format!("{}/{path}", desk.fake.url())).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), code, "{path}");
        assert_eq!(answer.json::<Value>().await.unwrap()["error_code"], code);
    }
    let answer = desk.call("makeCoffee", json!({})).await;
    assert_eq!((answer["error_code"].as_i64(), why(&answer)), (Some(404), "Not Found: method not found"));
    assert_eq!(desk.call("GETME", json!({})).await["result"]["username"], desk.fake.bot_username());
}

#[tokio::test]
async fn get_with_a_query_and_post_with_a_form_are_understood() {
    let desk = BotClient::open_with_ada().await;
    let url = format!("{}/bot{}/sendMessage", desk.fake.url(), desk.fake.token());
    let query = format!("{url}?chat_id={ADA}&text=a%2Bb+c%20%C3%A9");
    assert_eq!(desk.client.get(query).send().await.unwrap().status(), 200);
    let markup =
        "%7B%22inline_keyboard%22%3A%5B%5B%7B%22text%22%3A%22Yes%22%2C%22callback_data%22%3A%22y%22%7D%5D%5D%7D";
    let form = desk.client.post(url).header("content-type", "application/x-www-form-urlencoded");
    let form = form.body(format!("chat_id={ADA}&text=second&reply_markup={markup}"));
    assert_eq!(form.send().await.unwrap().status(), 200);
    assert_eq!(desk.fake.texts(ADA), ["a+b c é", "second"]);
    assert_eq!(desk.fake.sent(ADA)[1].buttons(), [("Yes".to_owned(), "y".to_owned())]);
}

#[tokio::test]
async fn an_offset_forgets_lower_updates_and_nothing_else_does() {
    let desk = BotClient::open_with_ada().await;
    desk.fake.says(ADA, "two");
    desk.fake.says(ADA, "three");
    let first = ids(&desk.poll(0, 0).await);
    assert_eq!(ids(&desk.poll(0, 0).await), first, "unconfirmed updates come again");
    assert_eq!(desk.fake.unacked(), 3);
    assert_eq!(ids(&desk.poll(first[1], 0).await), first[1..]);
    assert_eq!((desk.fake.unacked(), desk.fake.acked_count()), (2, 1));
    let limited = desk.call("getUpdates", json!({ "limit": 1 })).await;
    assert_eq!(ids(&limited), first[1..2]);
    assert_eq!(ids(&desk.poll(-1, 0).await), first[2..], "a negative offset counts from the end");
    assert_eq!(desk.fake.acked_count(), 2);
    assert!(ids(&desk.poll(first[2] + 1, 0).await).is_empty());
    desk.fake.acked().await;
}

#[tokio::test]
async fn numbers_that_jump_back_are_lost_below_an_old_offset() {
    let desk = BotClient::open_with_ada().await;
    let old = ids(&desk.poll(0, 0).await)[0];
    desk.fake.jump_update_ids(-5000);
    desk.fake.says(ADA, "after the jump");
    assert_eq!(desk.fake.last_update_id(), Some(old - 4999));
    assert!(ids(&desk.poll(old + 1, 0).await).is_empty());
    desk.fake.says(ADA, "seen without an offset");
    assert_eq!(ids(&desk.poll(0, 0).await), [old - 4998]);
}

#[tokio::test]
async fn a_redelivered_update_arrives_once_regardless_of_the_offset() {
    let desk = BotClient::open_with_ada().await;
    let id = ids(&desk.poll(0, 0).await)[0];
    assert!(ids(&desk.poll(id + 1, 0).await).is_empty());
    desk.fake.redeliver(id);
    let again = desk.poll(id + 1, 0).await;
    assert_eq!((ids(&again), &again["result"][0]["message"]["text"]), (vec![id], &json!("hello")));
    assert!(ids(&desk.poll(id + 1, 0).await).is_empty());
    assert_eq!(desk.fake.unacked(), 0);
}

#[tokio::test]
async fn a_long_poll_parks_until_an_update_and_a_second_one_throws_it_out() {
    let desk = Arc::new(BotClient::open().await);
    let poll = |desk: Arc<BotClient>| tokio::spawn(async move { desk.poll(0, 30).await });
    let first = poll(desk.clone());
    desk.fake.until(|fake| fake.polling()).await;
    let second = poll(desk.clone());
    let refused = first.await.unwrap();
    assert_eq!(refused["error_code"], 409);
    assert!(why(&refused).starts_with("Conflict: terminated by other getUpdates request"));
    desk.fake.says(ADA, "wake up");
    assert_eq!(second.await.unwrap()["result"][0]["message"]["text"], "wake up");
    assert!(!desk.fake.polling());
    desk.fake.conflict_next(1);
    assert_eq!(desk.poll(0, 0).await["error_code"], 409);
    assert_eq!(desk.poll(0, 0).await["ok"], true);
}

#[tokio::test]
async fn a_client_that_hangs_up_leaves_no_poll_and_no_held_send_behind() {
    let desk = Arc::new(BotClient::open_with_ada().await);
    let offset = desk.fake.last_update_id().unwrap() + 1;
    let poll = tokio::spawn({
        let desk = desk.clone();
        async move { desk.poll(offset, 30).await }
    });
    desk.fake.idle_acked().await;
    poll.abort();
    desk.fake.until(|fake| !fake.polling()).await;
    desk.fake.hold_sends();
    let send = tokio::spawn({
        let desk = desk.clone();
        async move { desk.send("never arrives").await }
    });
    desk.fake.until(|fake| fake.held() == 1).await;
    send.abort();
    desk.fake.until(|fake| fake.held() == 0).await;
    desk.fake.release_sends();
    assert!(desk.fake.sent(ADA).is_empty());
}

#[tokio::test]
async fn only_the_kinds_asked_for_arrive() {
    let desk = BotClient::open_with_ada().await;
    let message = desk.send("mine").await["result"]["message_id"].as_i64().unwrap();
    desk.fake.reacts(ADA, ADA, message, "👍");
    assert_eq!(desk.poll(0, 0).await["result"].as_array().unwrap().len(), 1, "reactions must be asked for");
    let kinds = json!({ "offset": -1, "allowed_updates": ["message_reaction"] });
    desk.call("getUpdates", kinds).await;
    desk.fake.says(ADA, "not wanted");
    desk.fake.reacts(ADA, ADA, message, "🔥");
    desk.fake.unknown_kind();
    let all = desk.poll(desk.fake.last_update_id().unwrap() - 1, 0).await;
    assert_eq!(all["result"][0]["message_reaction"]["new_reaction"][0]["emoji"], "🔥");
    assert!(all["result"][1]["hologram_call"].is_object());
    desk.fake.set_webhook("https://example.com/hook");
    assert_eq!(desk.poll(0, 0).await["error_code"], 409);
    desk.call("deleteWebhook", json!({})).await;
    assert_eq!(desk.poll(0, 0).await["ok"], true);
}

#[test]
fn a_plain_thread_can_wait() {
    let fake = FakeTelegram::start_sync();
    fake.person(ADA, "Ada", None);
    fake.says(ADA, "anybody there?");
    assert!(!fake.wait_for(Duration::from_millis(1), |fake| fake.unacked() == 0));
    let speaker = std::thread::spawn({
        let fake = fake.clone();
        move || fake.says(ADA, "hello?")
    });
    assert!(fake.wait_for(Duration::from_secs(10), |fake| fake.unacked() == 2));
    speaker.join().unwrap();
}
