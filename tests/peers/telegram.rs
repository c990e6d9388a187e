//! The program against an emulator of the Bot API that is not ours: a message in, our answer out.
//!
//! The emulator is crude: polls are answered at once, nothing is ever confirmed, and of the methods
//! only a few exist. So this shows one thing, that the happy path does not live from how our own
//! fake reads Telegram's documentation.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::installed;
use super::program::{LIMIT, Program, Server};

const TOKEN: &str = "666:a-token-of-the-emulator";
const ADA: i64 = 1001;

/// Posts to the part of the emulator that stands for a person's telephone.
async fn post(emulator: &Server, path: &str, body: Value) -> Value {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    client.post(format!("{}/{path}", emulator.url)).json(&body).send().await.unwrap().json().await.unwrap()
}

#[tokio::test]
async fn a_message_through_an_emulator_is_answered() {
    installed("node_modules/telegram-test-api/package.json");
    let emulator = Server::start("node", &[&installed("telegram.mjs")]);
    let mut program = Program::start(&format!(
        "timezone = \"UTC\"\n[model]\nprovider = \"offline\"\n[telegram]\ntoken = \"{TOKEN}\"\napi_url = \"{}\"\n\
         [[people]]\nname = \"Ada\"\nrole = \"owner\"\ntelegram = {ADA}\n",
        emulator.url
    ));
    let ada = json!({"id": ADA, "first_name": "Ada", "is_bot": false});
    let chat = json!({"id": ADA, "first_name": "Ada", "type": "private"});
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let message = json!({"botToken": TOKEN, "from": ada, "chat": chat, "date": now, "text": "Good evening"});
    post(&emulator, "sendMessage", message).await;
    program.until("SELECT count(*) FROM outbox WHERE state = 'sent' AND kind = 'reply'", 1);
    let stored = program.text("SELECT text FROM texts JOIN messages m ON m.id = message_id WHERE m.kind = 'reply'");
    let heard = async {
        loop {
            let heard = post(&emulator, "getUpdates", json!({"token": TOKEN, "chatId": ADA})).await;
            if let Some(first) = heard["result"][0]["message"]["text"].as_str() {
                return first.to_owned();
            }
        }
    };
    let heard = tokio::time::timeout(LIMIT, heard).await.expect("the answer is there");
    assert!(!stored.is_empty() && heard.contains(stored.split_whitespace().next().unwrap()), "{heard}");
}
