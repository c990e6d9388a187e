//! Telegram's webhook calls: authentication, the time of the answer, and slow callers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use compline::adapter::telegram::Telegram;
use compline::adapter::{Adapter, Batch, PollError};
use compline::config;
use compline::time::{Clock, SimulatedClock, Timestamp};
use reqwest::StatusCode;
use secrecy::SecretString;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::free_address::free_address;
use crate::support::telegram::FakeTelegram;

const ADA: i64 = 7;
const START: Timestamp = Timestamp(1_795_000_000_000);
const SECRET: &str = "a-secret-of-24-letters_x";
/// Upper limit for any wait, in real time.
const LIMIT: Duration = Duration::from_secs(20);
const MINUTE: Duration = Duration::from_secs(60);

/// A fake server that calls us, on our clock.
struct Scene {
    fake: FakeTelegram,
    clock: Arc<SimulatedClock>,
    listen: SocketAddr,
    bot: Telegram,
    client: reqwest::Client,
}

impl Scene {
    /// Connects the adapter and sets the webhook.
    async fn new() -> Self {
        let fake = FakeTelegram::start().await;
        let clock = Arc::new(SimulatedClock::new(START));
        let ours = clock.clone();
        fake.set_now(Arc::new(move || ours.now().0));
        fake.person(ADA, "Ada", Some("ada"));
        let listen = free_address();
        let bot = called(&fake, listen, clock.clone());
        fake.leads_to(listen);
        bot.connect().await.unwrap();
        Self { fake, clock, listen, bot, client: reqwest::Client::builder().no_proxy().timeout(LIMIT).build().unwrap() }
    }

    async fn next(&self) -> Batch {
        within(self.bot.next(None)).await.unwrap()
    }

    /// Waits until all updates of the fake are stored and confirmed.
    async fn acked(&self) {
        within(self.fake.acked()).await;
    }

    fn post(&self, path: &str) -> reqwest::RequestBuilder {
        self.client.post(format!("http://{}{path}", self.listen))
    }

    /// A call with the secret.
    fn call(&self, body: String) -> reqwest::RequestBuilder {
        self.post("/telegram").header("x-telegram-bot-api-secret-token", SECRET).body(body)
    }

    /// A call in the background.
    fn calls(&self, body: String) -> tokio::task::JoinHandle<StatusCode> {
        let call = self.call(body).send();
        tokio::spawn(async move { call.await.unwrap().status() })
    }

    /// The adapter's reported problem after `span`, with a task that waits for messages.
    async fn trouble_after(&self, span: Duration) -> Option<String> {
        let received = async {
            loop {
                let _ = self.bot.next(None).await;
            }
        };
        tokio::select! {
            // The task begins to wait before any time passes.
            biased;
            () = received => {}
            () = self.clock.advance(span) => {}
        }
        self.bot.health().problem
    }
}

/// Awaits a future within the limit.
async fn within<T>(coming: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, coming).await.expect("something comes")
}

fn bot(fake: &FakeTelegram, delivery: config::TelegramDelivery, clock: Arc<dyn Clock>) -> Telegram {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config =
        config::Telegram { token: SecretString::from(fake.token()), api_url: fake.url(), files_dir: None, delivery };
    Telegram::new(&config, clock).unwrap()
}

fn called(fake: &FakeTelegram, listen: SocketAddr, clock: Arc<dyn Clock>) -> Telegram {
    let url = "https://bot.example.org/telegram".parse().unwrap();
    let delivery = config::Webhook { url, listen, secret: SecretString::from(SECRET) };
    bot(fake, config::TelegramDelivery::Webhook(delivery), clock)
}

fn update(id: i64) -> String {
    json!({"update_id": id, "my_chat_member": {}}).to_string()
}

/// Promise (channels/webhook): With a webhook, Telegram gets its confirmation only once a message
/// is stored, and requests without the secret are never read. Changing the mode loses nothing, and
/// you are told if the webhook is unreachable.
#[tokio::test]
async fn the_caller_hears_that_all_is_well_only_when_it_is_stored() {
    let scene = Scene::new().await;
    scene.fake.says(ADA, "Hello");
    let batch = scene.next().await;
    assert!(batch.items[0].contains("Hello"), "{:?}", batch.items);
    assert_eq!(scene.fake.unacked(), 1, "nothing is stored yet");
    scene.bot.ack(batch.cursor.as_deref()).await;
    scene.acked().await;
    assert_eq!(scene.fake.called().iter().map(|(_, status)| *status).collect::<Vec<_>>(), [200]);
}

/// Proves: channels/webhook
#[tokio::test]
async fn an_update_that_was_not_stored_is_delivered_again() {
    let scene = Scene::new().await;
    scene.fake.says(ADA, "Hello");
    let first = scene.next().await;
    // No acknowledgement: the write to the journal failed.
    let again = scene.next().await;
    assert_eq!(first.items, again.items);
    assert_eq!(scene.fake.called()[0].1, 503);
    scene.bot.ack(None).await;
    scene.acked().await;
}

#[tokio::test]
async fn a_caller_does_not_wait_longer_than_25_seconds() {
    let scene = Scene::new().await;
    let waiting = scene.calls(update(1));
    let batch = scene.next().await;
    scene.clock.advance(Duration::from_millis(24_900)).await;
    assert!(!waiting.is_finished());
    scene.clock.advance(Duration::from_millis(200)).await;
    assert_eq!(waiting.await.unwrap(), StatusCode::SERVICE_UNAVAILABLE);
    // The update is stored nevertheless, unconfirmed; a repeated call is recognised by its id.
    assert_eq!(batch.items, [update(1)]);
    scene.bot.ack(None).await;
}

/// Proves: channels/webhook
#[tokio::test]
async fn a_webhook_call_without_the_secret_is_rejected_unread() {
    let scene = Scene::new().await;
    let status = async |call: reqwest::RequestBuilder| call.send().await.unwrap().status();
    assert_eq!(status(scene.post("/telegram").body(update(1))).await, StatusCode::UNAUTHORIZED);
    for wrong in ["", "a", "A-secret-of-24-letters_x", "a-secret-of-24-letters_xx"] {
        let call = scene.post("/telegram").header("x-telegram-bot-api-secret-token", wrong).body(update(1));
        assert_eq!(status(call).await, StatusCode::UNAUTHORIZED, "{wrong}");
    }
    // The answer comes although the body is never sent.
    let mut stranger = TcpStream::connect(scene.listen).await.unwrap();
    stranger.write_all(b"POST /telegram HTTP/1.1\r\nhost: x\r\ncontent-length: 500\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    within(stranger.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
}

/// Proves: page/slow-connections
#[tokio::test]
async fn two_hundred_slow_callers_do_not_keep_telegram_out() {
    let scene = Scene::new().await;
    let mut slow = Vec::new();
    for n in 0..200 {
        let mut caller = TcpStream::connect(scene.listen).await.unwrap();
        // The head without an end, no head at all, and a body that never comes.
        let begun = ["POST /telegram HTTP/1.1\r\nhost:", "", "POST /telegram HTTP/1.1\r\ncontent-length: 9\r\n\r\n"];
        // One that had to make room is closed already.
        let _ = caller.write_all(begun[n % begun.len()].as_bytes()).await;
        slow.push(caller);
    }
    scene.fake.says(ADA, "Hello");
    let batch = scene.next().await;
    assert!(batch.items[0].contains("Hello"), "{:?}", batch.items);
    scene.bot.ack(batch.cursor.as_deref()).await;
    scene.acked().await;
    for caller in &mut slow {
        let _ = caller.write_all(b"x").await;
    }
    scene.fake.says(ADA, "Still there?");
    let batch = scene.next().await;
    assert!(batch.items[0].contains("Still there?"), "{:?}", batch.items);
    scene.bot.ack(batch.cursor.as_deref()).await;
    scene.acked().await;
}

#[tokio::test]
async fn other_paths_verbs_and_bodies_are_refused() {
    let scene = Scene::new().await;
    let status = async |call: reqwest::RequestBuilder| call.send().await.unwrap().status();
    for path in ["/", "/telegram/", "/telegram/x", "/Telegram"] {
        let call = scene.post(path).header("x-telegram-bot-api-secret-token", SECRET).body(update(1));
        assert_eq!(status(call).await, StatusCode::NOT_FOUND, "{path}");
    }
    let get = scene.client.get(format!("http://{}/telegram", scene.listen)).send().await.unwrap();
    assert_eq!((get.status(), get.headers()["allow"].to_str().unwrap()), (StatusCode::METHOD_NOT_ALLOWED, "POST"));
    let large = "x".repeat((1 << 20) + 1);
    assert_eq!(status(scene.call(large.clone())).await, StatusCode::PAYLOAD_TOO_LARGE);
    let mut unannounced = TcpStream::connect(scene.listen).await.unwrap();
    let head = format!(
        "POST /telegram HTTP/1.1\r\nhost: x\r\nx-telegram-bot-api-secret-token: {SECRET}\r\ntransfer-encoding: chunked\r\n\r\n"
    );
    unannounced.write_all(head.as_bytes()).await.unwrap();
    let _ = unannounced.write_all(format!("{:x}\r\n{large}\r\n", large.len()).as_bytes()).await;
    let mut answer = [0; 12];
    within(unannounced.read_exact(&mut answer)).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
}

#[tokio::test]
async fn calls_that_wait_together_are_one_batch_in_the_order_of_their_numbers() {
    let scene = Scene::new().await;
    let mut waiting = Vec::new();
    for id in [5, 3, 9] {
        waiting.push(scene.calls(update(id)));
        // Each call is received before the next one.
        scene.call("x".repeat((1 << 20) + 1)).send().await.unwrap();
    }
    waiting.push(scene.calls("no update at all".to_owned()));
    let mut items = Vec::new();
    while items.len() < 4 {
        let batch = scene.next().await;
        assert!(batch.items.is_sorted_by_key(|raw| if raw.starts_with('{') { raw.clone() } else { "~".to_owned() }));
        items.extend(batch.items);
        scene.bot.ack(batch.cursor.as_deref()).await;
    }
    for call in waiting {
        assert_eq!(call.await.unwrap(), StatusCode::OK);
    }
}

/// Proves: channels/webhook
#[tokio::test]
async fn slow_and_silent_callers_delay_no_message() {
    let scene = Scene::new().await;
    let head = format!(
        "POST /telegram HTTP/1.1\r\nhost: x\r\nx-telegram-bot-api-secret-token: {SECRET}\r\ncontent-length: 9\r\n\r\n"
    );
    let mut slow = Vec::new();
    for begun in ["", "POST /tele", head.as_str(), &format!("{head}{{\"upd")].into_iter().cycle().take(64) {
        let mut stream = TcpStream::connect(scene.listen).await.unwrap();
        stream.write_all(begun.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    // All connection slots are taken; Ada's message waits until the slow clients are disconnected.
    scene.fake.says(ADA, "Hello");
    let received = async {
        loop {
            let batch = scene.next().await;
            if !batch.items.is_empty() {
                return batch;
            }
        }
    };
    let time = async {
        loop {
            scene.clock.advance(Duration::from_secs(10)).await;
            // A real exchange, so that data in flight can arrive.
            let _ = scene.bot.probe().await;
        }
    };
    let batch = tokio::select! {
        batch = within(received) => batch,
        () = time => unreachable!(),
    };
    assert!(batch.items[0].contains("Hello"));
    assert!(scene.clock.now().since(START) <= MINUTE * 3, "{:?}", scene.clock.now().since(START));
    scene.bot.ack(None).await;
    scene.acked().await;
}

#[tokio::test]
async fn a_connection_that_asks_again_and_again_is_kept() {
    let scene = Scene::new().await;
    let mut stream = TcpStream::connect(scene.listen).await.unwrap();
    for id in 0..3 {
        let body = update(id);
        let head = format!(
            "POST /telegram HTTP/1.1\r\nhost: x\r\nx-telegram-bot-api-secret-token: {SECRET}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        let batch = scene.next().await;
        scene.bot.ack(batch.cursor.as_deref()).await;
        let mut answer = [0; 15];
        within(stream.read_exact(&mut answer)).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200 OK");
        let mut rest = [0; 256];
        let _ = within(stream.read(&mut rest)).await.unwrap();
        scene.clock.advance(Duration::from_secs(20)).await;
    }
    scene.clock.advance(MINUTE).await;
    assert_eq!(within(stream.read(&mut [0; 1])).await.unwrap(), 0, "an idle one is closed");
}

#[tokio::test]
async fn reconnecting_changes_nothing_and_a_taken_port_is_reported() {
    let scene = Scene::new().await;
    scene.bot.connect().await.unwrap();
    assert_eq!(scene.fake.webhook(), "https://bot.example.org/telegram");
    let second = called(&scene.fake, scene.listen, scene.clock.clone());
    assert!(matches!(second.connect().await, Err(PollError::Unreachable(_))));
    assert!(second.health().problem.unwrap().contains("telegram.webhook_listen"));
    scene.fake.says(ADA, "Hello");
    assert_eq!(scene.next().await.items.len(), 1);
}

#[tokio::test]
async fn a_restart_loses_nothing() {
    let scene = Scene::new().await;
    scene.fake.says(ADA, "before");
    let _unstored = scene.next().await;
    let Scene { fake, clock, listen, bot, .. } = scene;
    drop(bot);
    within(fake.until(|fake| fake.called().first().is_some_and(|(_, status)| *status == 503))).await;
    fake.says(ADA, "meanwhile");
    let bot = called(&fake, listen, clock);
    while bot.connect().await.is_err() {
        tokio::task::yield_now().await;
    }
    let mut heard = String::new();
    while fake.unacked() > 0 {
        tokio::select! {
            batch = bot.next(None) => {
                heard += &batch.unwrap().items.concat();
                bot.ack(None).await;
            }
            () = fake.acked() => {}
        }
    }
    assert!(heard.contains("before") && heard.contains("meanwhile"), "{heard}");
}

/// Proves: channels/webhook
#[tokio::test]
async fn changing_the_way_in_loses_nothing() {
    let scene = Scene::new().await;
    let Scene { fake, clock, listen, bot: called_bot, .. } = scene;
    drop(called_bot);
    let polling = bot(&fake, config::TelegramDelivery::Polling, clock.clone());
    polling.connect().await.unwrap();
    assert_eq!(fake.webhook(), "");
    fake.says(ADA, "one");
    let polled = polling.next(None).await.unwrap();
    fake.says(ADA, "two");
    drop(polling);
    // "one" is stored but not confirmed, because no poll followed. It comes again, and is
    // recognised by its id.
    let calling = called(&fake, listen, clock.clone());
    while calling.connect().await.is_err() {
        tokio::task::yield_now().await;
    }
    let mut heard = Vec::new();
    while heard.len() < 2 {
        let batch = calling.next(polled.cursor.as_deref()).await.unwrap();
        assert_eq!(batch.cursor, polled.cursor, "the cursor is the last poll's");
        calling.ack(batch.cursor.as_deref()).await;
        heard.extend(batch.items);
    }
    assert!(heard[0] == polled.items[0] && heard[1].contains("two"), "{heard:?}");
    within(fake.acked()).await;
    // Updates delivered by webhook but not stored are polled again.
    fake.says(ADA, "three");
    let unstored = calling.next(polled.cursor.as_deref()).await.unwrap();
    assert!(unstored.items[0].contains("three"));
    drop(calling);
    let polling = bot(&fake, config::TelegramDelivery::Polling, clock);
    polling.connect().await.unwrap();
    let back = polling.next(unstored.cursor.as_deref()).await.unwrap();
    assert_eq!(back.items, unstored.items);
}

#[tokio::test]
async fn without_a_poll_the_cursor_names_no_number() {
    let scene = Scene::new().await;
    scene.fake.says(ADA, "Hello");
    let cursor = scene.next().await.cursor;
    assert!(cursor.is_some(), "that we are alive is stored with it");
    let polling = bot(&scene.fake, config::TelegramDelivery::Polling, scene.clock.clone());
    polling.connect().await.unwrap();
    polling.next(cursor.as_deref()).await.unwrap();
    assert_eq!(scene.fake.last_offset(), None);
}

/// Proves: channels/webhook
#[tokio::test]
async fn an_unreachable_webhook_and_its_recovery_are_reported_within_two_minutes() {
    let scene = Scene::new().await;
    assert_eq!(scene.trouble_after(MINUTE * 10).await, None, "silence is no trouble");
    scene.fake.leads_nowhere();
    scene.fake.says(ADA, "Hello?");
    within(scene.fake.until(|fake| !fake.called().is_empty())).await;
    let trouble = scene.trouble_after(MINUTE * 2).await.unwrap();
    assert!(trouble.contains("telegram.webhook_url"), "{trouble}");
    assert!(scene.trouble_after(MINUTE * 30).await.is_some());
    scene.fake.leads_to(scene.listen);
    let batch = loop {
        match scene.bot.next(None).await {
            Ok(batch) if !batch.items.is_empty() => break batch,
            _ => {}
        }
    };
    assert!(batch.items[0].contains("Hello?"));
    scene.bot.ack(None).await;
    scene.acked().await;
    assert_eq!(scene.trouble_after(MINUTE * 2).await, None);
}

#[tokio::test]
async fn a_webhook_set_by_another_program_is_reported() {
    let scene = Scene::new().await;
    scene.fake.set_webhook("https://elsewhere.example/hook");
    let trouble = scene.trouble_after(MINUTE * 2).await.unwrap();
    assert!(trouble.contains("another program"), "{trouble}");
    scene.bot.connect().await.unwrap();
    assert_eq!(scene.trouble_after(MINUTE * 2).await, None);
}

#[tokio::test]
async fn trouble_is_an_error_once_and_does_not_keep_us_from_listening() {
    let scene = Scene::new().await;
    scene.fake.set_webhook("");
    let (next, ()) = tokio::join!(biased; scene.bot.next(None), scene.clock.advance(MINUTE));
    assert!(matches!(next, Err(PollError::Unreachable(_))), "{next:?}");
    // The state persists, so it is not reported again.
    tokio::select! {
        biased;
        next = scene.bot.next(None) => unreachable!("{next:?}"),
        () = scene.clock.advance(MINUTE * 5) => {}
    }
    let call = scene.calls(update(1));
    assert_eq!(scene.next().await.items, [update(1)]);
    scene.bot.ack(None).await;
    assert_eq!(call.await.unwrap(), StatusCode::OK);
}
