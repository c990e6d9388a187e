//! Nobody can hold up the others: neither by a text without an end nor by asking all the time.

use std::sync::Arc;

use compline::admin::command::{COMMANDS, MAX_COMMAND};
use compline::admin::{Admin, Caller};
use compline::id::PersonId;
use compline::web::{Access, RouteRow, Web};
use futures::future::join_all;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use crate::support::browser::{Browser, SERVED, answer};
use crate::support::channel::Channel;
use crate::support::story::{ADA, BEN, StoryOver};
use crate::support::telegram::FakeTelegram;

type Story = StoryOver<FakeTelegram>;

/// What a person types who means harm, again and again.
const PATTERNS: [&str; 5] = ["a ", "x OR ", "(", "é", "\"a\" --in notes "];

/// All that is done for a person at once, until it is let go.
struct Holding {
    tasks: Vec<JoinHandle<()>>,
    release: Arc<Notify>,
}

impl Holding {
    async fn of(story: &Story, person: PersonId) -> Self {
        let (mut tasks, release) = (Vec::new(), Arc::new(Notify::new()));
        for _ in 0..4 {
            let (admin, released) = (Arc::clone(&story.app().admin), Arc::clone(&release));
            let (begun, has_begun) = oneshot::channel();
            let work = async move {
                begun.send(()).unwrap();
                released.notified().await;
            };
            tasks.push(tokio::spawn(async move { admin.answers.act(Some(person), work).await.unwrap() }));
            has_begun.await.unwrap();
        }
        Self { tasks, release }
    }

    async fn end(self) {
        self.release.notify_waiters();
        join_all(self.tasks).await;
    }
}

/// How often `ask` reads the journal: the fewest of five times, since the program reads it for other reasons as well.
async fn reads_of(admin: &Admin, ask: impl AsyncFn()) -> u64 {
    let mut fewest = u64::MAX;
    for _ in 0..5 {
        let before = admin.journal.read_transactions();
        ask().await;
        fewest = fewest.min(admin.journal.read_transactions() - before);
    }
    fewest
}

/// Promise (operation/fair-share): Whoever asks for much delays only themselves: a page that takes
/// longer than twenty seconds is given up with a sentence, and meanwhile everyone else is answered,
/// on every channel.
#[tokio::test]
async fn whoever_is_answered_for_long_holds_up_nobody_else() {
    let story = Story::with(SERVED).await;
    let (ada, ben) = (Browser::of(story.app(), "Ada").await, Browser::of(story.app(), "Ben").await);
    let holding = Holding::of(&story, PersonId(1)).await;
    let rows = Web::table();
    let pages: Vec<_> = rows.iter().filter(|row| row.method == "GET" && row.access != Access::Anyone).collect();
    for some in pages.chunks(12) {
        let open = |row: &&RouteRow| {
            let request = ada.request(Method::GET, &row.path.replace("{id}", "1").replace(['{', '}', '*'], ""));
            (row.path, tokio::spawn(answer(request)))
        };
        let opened: Vec<_> = some.iter().map(open).collect();
        assert_eq!(ben.get("/").await.status, StatusCode::OK);
        story.until(async || opened.iter().all(|(_, page)| page.is_finished())).await;
        for (path, page) in opened {
            let page = page.await.unwrap();
            assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE, "{path}: {}", page.text);
            assert!(
                page.text.contains("This took longer than 20 seconds, so it was given up."),
                "{path}: {}",
                page.text
            );
        }
    }
    story.fake.person_says(ADA, "/whoami");
    story.fake.person_says(BEN, "/whoami");
    story.fake.until(|_| story.received_by(BEN).iter().any(|said| said.contains("Ben"))).await;
    assert!(story.received_by(ADA).is_empty(), "{:?}", story.received_by(ADA));
    holding.end().await;
    story.answered().await;
    assert!(story.last_received_by(ADA).contains("Ada"), "{}", story.last_received_by(ADA));
    story.end().await;
}

/// Promise (operation/bounded-commands): A command has at most 4,096 characters, wherever it is
/// typed. A longer one is answered with a sentence, and nothing is looked up for it.
#[tokio::test]
async fn a_command_without_an_end_is_refused_before_it_is_read() {
    let story = Story::with(SERVED).await;
    let mut ada = Browser::of(story.app(), "Ada").await;
    let admin = &story.app().admin;
    let person = admin.journal.read(|db| db.people().person(PersonId(1))).await.unwrap().unwrap();
    let caller = Caller { person, group: None, language: None };
    let sentence = "That is too long for a command, which may have 4096 characters. Nothing was done.";
    for row in COMMANDS {
        for pattern in PATTERNS {
            let long = format!("/{} {}", row.name, pattern.repeat((1 << 20) / pattern.len()));
            // One of them is the language of the answer.
            let read = reads_of(admin, async || {
                assert_eq!(admin.chat(&caller, &long).await.markdown, sentence, "{} {pattern}", row.name);
            });
            assert!(read.await <= 2, "{} {pattern}", row.name);
        }
    }
    let endless = format!("/search {}", "a ".repeat(1 << 18));
    for (path, field) in [("/act", "command"), ("/chat", "text")] {
        let form = [(field, endless.as_str()), ("id", "endless")];
        let page = ada.post(path, &form).await;
        story.answered().await;
        let told = if path == "/act" { page.text } else { ada.get("/chat").await.text };
        assert!(told.contains(sentence), "{path}: {told}");
    }
    let line = [vec!["search".to_owned(), "--".to_owned()], vec!["a".to_owned(); MAX_COMMAND]].concat();
    assert_eq!(admin.command_line(&line).await.markdown, sentence);
    let page = ada.get(&format!("/search?q={}", "a+".repeat(MAX_COMMAND / 2 + 1))).await;
    assert_eq!(page.status, StatusCode::URI_TOO_LONG);
    assert!(page.text.contains("each part of it may have 4096 characters"), "{}", page.text);
    story.end().await;
}

/// Proves: operation/bounded-commands
#[tokio::test]
async fn every_command_of_the_longest_kind_is_answered() {
    let story = Story::with(SERVED).await;
    story.writes("memory/boat.md", &"a é x OR ( boat\n".repeat(200));
    story.say(ADA, &"a é x OR ( boat ".repeat(100)).await;
    let admin = &story.app().admin;
    let person = admin.journal.read(|db| db.people().person(PersonId(1))).await.unwrap().unwrap();
    let caller = Caller { person, group: None, language: None };
    for row in COMMANDS {
        for pattern in PATTERNS {
            let arguments: String = pattern.chars().cycle().take(MAX_COMMAND - row.name.len() - 2).collect();
            let answer = admin.chat(&caller, &format!("/{} {arguments}", row.name)).await;
            assert!(!answer.markdown.is_empty(), "{} {pattern}", row.name);
            assert_ne!(answer.markdown, "That command failed; the log has the details.", "{} {pattern}", row.name);
        }
    }
    story.stop_here().await;
}

/// Arguments that fit a schema, with texts of that many characters.
fn arguments(schema: &Value, pattern: &str, length: usize) -> Value {
    let text = || json!(pattern.chars().cycle().take(length).collect::<String>());
    let value = |property: &Value| match property["type"].as_str() {
        _ if property["enum"].is_array() => property["enum"][0].clone(),
        Some("string") => text(),
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([text()]),
        _ => Value::Null,
    };
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties.map(|(name, property)| (name.clone(), value(property))).collect::<serde_json::Map<_, _>>().into()
}

/// Proves: operation/bounded-commands
#[tokio::test]
async fn a_tool_takes_no_more_steps_for_a_text_without_an_end() {
    let mut story = Story::prepared("[budget]\ndaily_tokens = 1000000000\n").await;
    story.start().await;
    story.writes("memory/boat.md", &"a é x OR ( boat\n".repeat(200));
    story.say(ADA, "hello").await;
    let tools = story.model.requests()[0].tools().to_vec();
    // `COMPLINE_LENGTH=1048576` writes longer ones.
    let long = std::env::var("COMPLINE_LENGTH").map_or(1 << 17, |length| length.parse().unwrap());
    assert!(tools.len() > 10, "{}", tools.len());
    for (tool, pattern) in tools.iter().zip(PATTERNS.iter().cycle()) {
        let mut reads = [0, 0];
        for (length, read) in [100, long].into_iter().zip(&mut reads) {
            story.say(ADA, "/new").await;
            story.model.calls(&tool.name, arguments(&tool.schema, pattern, length)).says("That is all.");
            let before = story.app().admin.journal.read_transactions();
            let told = story.received_by(ADA).len();
            story.say(ADA, "go on").await;
            *read = story.app().admin.journal.read_transactions() - before;
            assert!(story.received_by(ADA).len() > told, "{} {length}: nothing was said", tool.name);
        }
        assert!(reads[1] < reads[0] + 100, "{}: {reads:?}", tool.name);
    }
    story.stop_here().await;
}

/// Promise (page/slow-connections): Whoever opens hundreds of connections to the page or the webhook
/// and sends slowly shuts out nobody who has access.
#[tokio::test]
async fn two_hundred_slow_connections_shut_nobody_out() {
    let story = Story::with(SERVED).await;
    let mut ada = Browser::of(story.app(), "Ada").await;
    let address = ada.base.trim_start_matches("http://").to_owned();
    let mut slow = Vec::new();
    for _ in 0..200 {
        let mut connection = TcpStream::connect(&address).await.unwrap();
        let head = format!("POST /login HTTP/1.1\r\nHost: {address}\r\nContent-Length: 4000\r\n\r\ncode=");
        // One that had to make room is closed already.
        let _ = connection.write_all(head.as_bytes()).await;
        slow.push(connection);
    }
    assert_eq!(ada.get("/").await.status, StatusCode::OK);
    let mut ben = Browser::of(story.app(), "Ben").await;
    assert_eq!(ben.get("/").await.status, StatusCode::OK);
    story.say(BEN, "Hello").await;
    assert!(!story.last_received_by(BEN).is_empty());
    for connection in &mut slow {
        let _ = connection.write_all(b"x").await;
    }
    assert_eq!(ada.post("/me/display", &[("theme", "dark")]).await.status, StatusCode::SEE_OTHER);
    let too_long = "x".repeat(5000);
    let refused = ben.post("/login", &[("code", &too_long)]).await;
    assert_eq!(refused.status, StatusCode::PAYLOAD_TOO_LARGE, "{}", refused.text);
    story.end().await;
}

/// Proves: page/other-sites
#[tokio::test]
async fn a_link_of_another_site_is_shown_before_it_asks_anything() {
    let story = Story::with(SERVED).await;
    let ada = Browser::of(story.app(), "Ada").await;
    let followed = |address: &str| {
        let request = ada.request(Method::GET, address).header("sec-fetch-site", "cross-site");
        request.header("sec-fetch-mode", "navigate").header("sec-fetch-dest", "document")
    };
    let read = reads_of(&story.app().admin, async || {
        answer(followed("/search?q=a+a+%22%3E")).await;
    });
    assert_eq!(read.await, 0, "it was looked up");
    let page = answer(followed("/search?q=a+a+%22%3E")).await;
    assert!(page.text.contains("Another site wants to open this page"), "{}", page.text);
    assert!(page.text.contains("href=\"/search?q=a+a+%22%3E\""), "{}", page.text);
    let page = answer(followed("//evil.example/?q=a")).await;
    assert!(page.text.contains("href=\"/evil.example/?q=a\""), "{}", page.text);
    assert!(answer(followed("/search")).await.text.contains("name=\"q\""));
    story.end().await;
}
