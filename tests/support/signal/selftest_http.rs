//! The fake by HTTP.

use futures::StreamExt;
use serde_json::{Value, json};

use super::{ADA, LIMIT, fake};
use crate::support::signal::{FakeSignal, OWN_NUMBER, Transport, Which};

fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

async fn rpc(fake: &FakeSignal, request: Value) -> reqwest::Response {
    client().post(format!("{}/api/v1/rpc", fake.endpoint(Transport::Http))).json(&request).send().await.unwrap()
}

#[tokio::test]
async fn http_answers_with_the_codes_of_the_real_daemon() {
    let fake = fake().await;
    let url = format!("{}/api/v1/rpc", fake.endpoint(Transport::Http));
    let version = json!({ "jsonrpc": "2.0", "id": 1, "method": "version" });
    assert_eq!(rpc(&fake, version.clone()).await.json::<Value>().await.unwrap()["result"]["version"], "0.13.19");
    let unknown = rpc(&fake, json!({ "jsonrpc": "2.0", "id": 1, "method": "subscribeReceive" })).await;
    assert_eq!(
        (unknown.status().as_u16(), unknown.json::<Value>().await.unwrap()["error"]["code"].clone()),
        (200, json!(-32601))
    );
    let silent = rpc(&fake, json!({ "jsonrpc": "2.0", "method": "version" })).await;
    assert_eq!((silent.status().as_u16(), silent.text().await.unwrap()), (201, String::new()));
    let untyped = client().post(&url).body(version.to_string()).send().await.unwrap();
    assert_eq!(untyped.status().as_u16(), 415);
    assert_eq!(client().get(&url).send().await.unwrap().status().as_u16(), 405);
    let check = client().get(url.replace("rpc", "check")).send().await.unwrap();
    assert_eq!((check.status().as_u16(), check.text().await.unwrap()), (200, String::new()));
    let stranger = client().get(url.replace("rpc", "events?account=%2B15559999999")).send().await.unwrap();
    assert_eq!(stranger.status().as_u16(), 400);
}

#[tokio::test]
async fn events_come_one_by_one_and_keep_alives_between_them() {
    let fake = fake().await;
    let url = format!("{}/api/v1/events?account=%2B15550000042", fake.endpoint(Transport::Http));
    let opening = tokio::spawn(async move { client().get(url).send().await.unwrap() });
    fake.listened_to().await;
    assert!(!opening.is_finished(), "the head waits for the first event");
    fake.keep_alive();
    let answer = tokio::time::timeout(LIMIT, opening).await.unwrap().unwrap();
    let mut chunks = answer.bytes_stream();
    assert_eq!(chunks.next().await.unwrap().unwrap(), ":\n\n");
    fake.says(ADA, "hello");
    let event = String::from_utf8(chunks.next().await.unwrap().unwrap().to_vec()).unwrap();
    let data = event.strip_prefix("event:receive\ndata:").and_then(|rest| rest.strip_suffix("\n\n")).unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!((&data["account"], &data["envelope"]["dataMessage"]["message"]), (&json!(OWN_NUMBER), &json!("hello")));
    assert_eq!(fake.unacked(), 1);
    fake.stored(&data.to_string());
    assert_eq!(fake.unacked(), 0);
    fake.close(Which::Receiving);
    assert!(chunks.next().await.is_none_or(|chunk| chunk.is_err()));
    assert_eq!(fake.subscribed(), 0);
}
