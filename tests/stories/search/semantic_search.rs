//! Semantic search, which falls back to words if the embedding server is down, faulty or replaced.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::{Json, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::post;
use compline::id::{MessageId, PersonId};
use compline::model::Purpose;
use compline::search::{ConversationQuery, ConversationSearch, VectorHealth};
use compline::time::TimeRange;
use compline::trust::{Label, Labelled, Scope};
use serde_json::{Value, json};

use crate::support::model::{Say, usual};
use crate::support::story::{ADA, BEN, Story, canary};

const OF_ADA: Scope = Scope::Person(PersonId(1));
const SOON: Duration = Duration::from_secs(120);
const LATER: Duration = Duration::from_secs(25 * 60);

/// Words with the same meaning to the server.
const MEANINGS: [&[&str]; 3] =
    [&["dog", "hound", "puppy"], &["car", "automobile", "vehicle"], &["doctor", "physician"]];

/// An embedding server that knows a few meanings.
#[derive(Clone)]
struct Server {
    asked: Arc<Mutex<Vec<String>>>,
    /// The texts of each request.
    batches: Arc<Mutex<Vec<Vec<String>>>>,
    length: Arc<Mutex<usize>>,
    is_ill: Arc<Mutex<bool>>,
    url: String,
}

impl Server {
    async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self {
            asked: Arc::default(),
            batches: Arc::default(),
            length: Arc::new(Mutex::new(8)),
            is_ill: Arc::default(),
            url: format!("http://{}", listener.local_addr().unwrap()),
        };
        let routes = axum::Router::new().route("/api/embed", post(embed)).with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        server
    }

    fn settings(&self, model: &str) -> String {
        format!("[embedding]\nprovider = \"ollama\"\nbase_url = \"{}\"\nname = \"{model}\"\n", self.url)
    }

    fn falls_ill(&self, ill: bool) {
        *self.is_ill.lock().unwrap() = ill;
    }

    fn was_asked(&self, words: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|asked| asked.contains(words)).count()
    }
}

async fn embed(State(server): State<Server>, Json(body): Json<Value>) -> axum::response::Response {
    let texts: Vec<String> =
        body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect();
    server.asked.lock().unwrap().extend(texts.clone());
    server.batches.lock().unwrap().push(texts.clone());
    if *server.is_ill.lock().unwrap() {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    if texts.iter().any(|text| text.contains("indigestible")) {
        return (StatusCode::BAD_REQUEST, Json(json!({ "error": "no" }))).into_response();
    }
    let length = *server.length.lock().unwrap();
    let vectors: Vec<Vec<f32>> = texts.iter().map(|text| meaning(text, length)).collect();
    Json(json!({ "embeddings": vectors, "prompt_eval_count": 5 })).into_response()
}

/// Vector of the meanings in a text; a text without any has its own direction.
fn meaning(text: &str, length: usize) -> Vec<f32> {
    let text = text.to_lowercase();
    let holds = |words: &&[&str]| if words.iter().any(|word| text.contains(word)) { 1.0 } else { 0.0 };
    let mut vector: Vec<f32> = MEANINGS.iter().map(holds).collect();
    vector.resize(length, 0.05);
    vector[length - 1] += (text.len() % 7) as f32 / 10.0;
    vector
}

async fn found(story: &Story, scope: Scope, words: &str, untrusted_too: bool) -> Vec<String> {
    let app = story.app();
    let recollection = ConversationSearch::new(app.journal.clone(), app.vectors.clone(), "Compline");
    let words = Labelled::new(Arc::from(words), Label::trusted(), scope);
    let asked = ConversationQuery { words, untrusted_too, limit: 3, before: None, time: TimeRange::ALL };
    let found = recollection.search(&asked, |_, found| Ok(found)).await.unwrap();
    found.hits.iter().map(|hit| hit.text.open().0.to_string()).collect()
}

async fn health(story: &Story) -> VectorHealth {
    story.app().vectors.as_ref().unwrap().health().await.unwrap()
}

/// Promise (search/meaning): With an embedding model, text of your own is also found by meaning,
/// and exact matches still come first.
#[tokio::test]
async fn paraphrased_messages_are_found_only_by_their_owner_and_are_paid_for() {
    let server = Server::start().await;
    let story = Story::with(&server.settings("small")).await;
    story.say(ADA, &format!("Our hound is called Biscuit {}", canary(ADA))).await;
    story.say(ADA, "The train was late again").await;
    story.say(BEN, &format!("My puppy is called Crumb {}", canary(BEN))).await;
    story.pass(SOON).await;
    let hits = found(&story, OF_ADA, "which dog?", false).await;
    assert!(hits[0].contains("Biscuit"), "{hits:?}");
    assert!(hits.iter().all(|hit| !hit.contains(&canary(BEN))), "{hits:?}");
    assert!(
        story
            .app()
            .journal
            .read_now(|db| crate::support::search::find(db, OF_ADA, "which dog?", false, 3))
            .unwrap()
            .hits
            .is_empty()
    );
    assert!(health(&story).await.is_complete && health(&story).await.away.is_none());
    assert_eq!(health(&story).await.dimensions, Some(8));
    let spent = "SELECT count(*) FROM spending WHERE purpose = 'embedding' AND state = 'spent' AND input_tokens = 5";
    assert!(story.count(spent) >= 3, "what each of them said, and the question");
    story.end().await;
}

/// Proves: privacy/queries
#[tokio::test]
async fn words_of_two_people_are_never_sent_together() {
    let server = Server::start().await;
    let mut story = Story::begin().await;
    for _ in 0..3 {
        story.say(ADA, &format!("Our hound is called Biscuit {}", canary(ADA))).await;
        story.say(BEN, &format!("My puppy is called Crumb {}", canary(BEN))).await;
    }
    story.settings(&server.settings("small"));
    story.restart().await;
    story.pass(LATER).await;
    assert!(server.was_asked(&canary(ADA)) > 0 && server.was_asked(&canary(BEN)) > 0);
    let holds = |batch: &[String], person| batch.iter().any(|text| text.contains(&canary(person)));
    let mixed = server.batches.lock().unwrap().iter().any(|batch| holds(batch, ADA) && holds(batch, BEN));
    assert!(!mixed, "{:?}", server.batches.lock().unwrap());
    story.end().await;
}

/// Proves: search/meaning
#[tokio::test]
async fn an_exact_match_is_not_buried_by_matches_in_meaning() {
    let server = Server::start().await;
    let story = Story::with(&server.settings("small")).await;
    story.say(ADA, "physician").await;
    for number in 0..6 {
        story.say(ADA, &format!("My doctor number {number} has a waiting room")).await;
    }
    story.pass(SOON).await;
    assert_eq!(found(&story, OF_ADA, "physician", false).await[0], "physician");
    story.end().await;
}

/// Promise (privacy/import-embedding): What you import is not sent to the embedding server, nor
/// what the assistant makes of it, unless you allow it with `--embed`.
#[tokio::test]
async fn an_import_is_not_sent_to_the_server_unless_that_is_allowed() {
    let server = Server::start().await;
    let story = Story::with(&server.settings("small")).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("conversations.json");
    let archive = |word: &str| {
        json!([{ "uuid": word, "name": format!("title-{word}"), "chat_messages": [
            { "uuid": "1", "sender": "human", "text": format!("an automobile, {word}"), "created_at": "2025-03-02T15:59:30Z" }] }])
    };
    for (word, flags) in [("withheld", &[][..]), ("allowed", &["--embed"][..])] {
        std::fs::write(&path, archive(word).to_string()).unwrap();
        let words = [&["import", "read", path.to_str().unwrap()][..], flags].concat();
        assert!(!story.command_line(&words).await.failed);
    }
    story.model.calls("read_conversation", json!({ "id": 1 })).says("It was withheld for good reason.");
    story.say(ADA, "what is in the old talk?").await;
    story.model.calls("memory_search", json!({ "query": "automobile that was withheld" })).says("Nothing.");
    story.say(ADA, "look again").await;
    story.pass(LATER).await;
    assert_eq!((server.was_asked("withheld"), server.was_asked("allowed")), (0, 2), "the title and the message");
    assert!(sees(&found(&story, OF_ADA, "which car", true).await, "allowed"));
    assert!(health(&story).await.is_complete, "the rest is not waited for");
    story.end().await;
}

fn sees(hits: &[String], word: &str) -> bool {
    hits.iter().any(|hit| hit.contains(word))
}

/// Proves: search/outside-influence
#[tokio::test]
async fn untrusted_text_is_found_by_meaning_only_on_request() {
    let server = Server::start().await;
    let story = Story::with(&server.settings("small")).await;
    story.fake.from(ADA).external_quote("Mallory", "the automobile is for sale").text("look at this").send();
    story.answered().await;
    story.fake.sends_document(ADA, "car.txt", "text/plain", b"an automobile for sale");
    story.answered().await;
    story.pass(SOON).await;
    let sale = |hits: &[String]| hits.iter().any(|hit| hit.contains("automobile"));
    assert!(!sale(&found(&story, OF_ADA, "which car", false).await));
    assert!(sale(&found(&story, OF_ADA, "which car", true).await));
    story.end().await;
}

/// Promise (search/embedding-failure): If the embedding server is down, slow or changed, word
/// search still works. `/status` and `doctor` report the cause, since when, how much is missing and
/// when it is retried, and missing vectors are filled in later.
#[tokio::test]
async fn an_outage_leaves_the_search_to_words_says_so_and_is_over_by_itself() {
    let server = Server::start().await;
    let story = Story::with(&server.settings("small")).await;
    story.say(ADA, "The old automobile broke down").await;
    story.pass(SOON).await;
    server.falls_ill(true);
    story.say(ADA, "The hound ate my sandwich").await;
    story.pass(SOON).await;
    assert_eq!(found(&story, OF_ADA, "sandwich", false).await[0], "The hound ate my sandwich");
    assert!(health(&story).await.away.unwrap().why.contains("HTTP 500"));
    let asked = server.was_asked("");
    found(&story, OF_ADA, "some other question", false).await;
    assert_eq!(server.was_asked(""), asked, "a server that is away is not asked again at once");
    story.pass(Duration::from_secs(24 * 3600)).await;
    let tried = server.was_asked("");
    assert!((100..400).contains(&(tried - asked)), "it is tried again for ever, with pauses: {}", tried - asked);
    server.falls_ill(false);
    story.pass(LATER).await;
    assert_eq!(found(&story, OF_ADA, "which dog", false).await[0], "The hound ate my sandwich");
    assert_eq!(health(&story).await.away, None);
    story.end().await;
}

/// Promise (search/embedded-once): Each text is sent to the embedding server and paid for once,
/// across restarts. Deleting a text deletes its vector, and without the setting nothing is computed
/// or stored.
#[tokio::test]
async fn texts_are_embedded_once_despite_restarts() {
    let server = Server::start().await;
    let mut story = Story::with(&server.settings("small")).await;
    server.falls_ill(true);
    for number in 0..4 {
        story.say(ADA, &format!("Car {}", number % 2)).await;
    }
    story.pass(SOON).await;
    server.falls_ill(false);
    server.asked.lock().unwrap().clear();
    story.restart().await;
    story.pass(LATER).await;
    story.restart().await;
    story.pass(LATER).await;
    assert_eq!((server.was_asked("Car 0"), server.was_asked("Car 1")), (1, 1), "the answers repeat them, too");
    assert!(health(&story).await.is_complete);
    story.end().await;
}

/// Proves: search/embedding-failure
#[tokio::test]
async fn a_new_model_or_vector_length_replaces_the_old_vectors() {
    let server = Server::start().await;
    let mut story = Story::with(&server.settings("small")).await;
    story.say(ADA, "The hound sleeps").await;
    story.pass(SOON).await;
    let of =
        |story: &Story, model: &str| story.count(&format!("SELECT count(*) FROM embeddings WHERE model = '{model}'"));
    let kept = of(&story, "ollama/small/8");
    assert!(kept > 0);
    *server.length.lock().unwrap() = 5;
    assert_eq!(found(&story, OF_ADA, "which puppy", false).await.len(), 0, "what has no new vector yet is not near");
    story.pass(Duration::from_secs(26 * 3600)).await;
    assert_eq!(found(&story, OF_ADA, "which dog", false).await[0], "The hound sleeps");
    // The summary of the conversation was added.
    assert!(of(&story, "ollama/small/8") == 0 && of(&story, "ollama/small/5") >= kept);
    story.settings(&server.settings("large"));
    story.restart().await;
    story.pass(SOON).await;
    assert_eq!(found(&story, OF_ADA, "which dog", false).await[0], "The hound sleeps");
    assert!(of(&story, "ollama/small/5") == 0 && of(&story, "ollama/large/5") >= kept);
    story.end().await;
}

/// Proves: search/embedding-failure
#[tokio::test]
async fn a_text_that_no_server_takes_does_not_hold_up_the_others() {
    let server = Server::start().await;
    let story = Story::with(&server.settings("small")).await;
    server.falls_ill(true);
    story.say(ADA, "The hound barks").await;
    story.say(ADA, "Something indigestible").await;
    server.falls_ill(false);
    story.pass(LATER).await;
    assert_eq!(found(&story, OF_ADA, "which dog", false).await[0], "The hound barks");
    assert!(health(&story).await.is_complete);
    let asked = server.was_asked("Something indigestible");
    story.pass(LATER).await;
    assert_eq!(server.was_asked("Something indigestible"), asked);
    story.end().await;
}

/// Proves: search/embedded-once
#[tokio::test]
async fn words_that_go_take_what_they_mean_with_them() {
    let server = Server::start().await;
    let story = Story::with(&server.settings("small")).await;
    story.say(ADA, "The hound sleeps").await;
    story.pass(SOON).await;
    let digest = compline::memory::digest(b"The hound sleeps");
    let left = |story: &Story| {
        ["embeddings", "text_digests"]
            .map(|table| story.count(&format!("SELECT count(*) FROM {table} WHERE digest = '{digest}'")))
    };
    assert_eq!(left(&story), [1, 1]);
    let id = story.count("SELECT message_id FROM texts WHERE text = 'The hound sleeps'");
    let now = story.app().clock.now();
    story.app().journal.write("go", move |tx| tx.redaction().redact_message(MessageId(id), now)).await.unwrap();
    assert_eq!(left(&story), [0, 0]);
    assert!(found(&story, OF_ADA, "which dog", false).await.iter().all(|hit| !hit.contains("hound")));
    story.end().await;
}

/// Proves: search/embedding-failure
#[tokio::test]
async fn beyond_the_budget_words_alone_decide() {
    let server = Server::start().await;
    let settings = format!("{}[budget]\nbackground_daily_tokens = 20\n", server.settings("small"));
    let story = Story::with(&settings).await;
    for number in 0..12 {
        story.say(ADA, &format!("The hound number {number} barks")).await;
    }
    story.pass(LATER).await;
    assert!(found(&story, OF_ADA, "number 7 barks", false).await[0].contains("number 7"));
    let spent = story.count("SELECT coalesce(sum(input_tokens), 0) FROM spending WHERE purpose = 'embedding'");
    assert!(spent <= 20, "{spent}");
    story.end().await;
}

/// Proves: search/embedded-once
#[tokio::test]
async fn without_the_setting_nothing_is_computed_or_kept() {
    let story = Story::begin().await;
    story.say(ADA, "The hound sleeps").await;
    story.pass(LATER).await;
    assert!(story.app().vectors.is_none());
    assert_eq!(story.count("SELECT (SELECT count(*) FROM embeddings) + (SELECT count(*) FROM text_digests)"), 0);
    assert_eq!(found(&story, OF_ADA, "hound", false).await[0], "The hound sleeps");
    story.end().await;
}

/// Lets the model call a tool; returns the result.
async fn calls(story: &Story, tool: &str, arguments: Value) -> String {
    story.model.calls(tool, arguments).says("Looked.");
    story.say(ADA, "Look it up.").await;
    story.text("SELECT text FROM steps WHERE kind = 'tool' ORDER BY id DESC LIMIT 1")
}

/// Proves: search/categories
#[tokio::test]
async fn an_extracted_fact_is_found_by_meaning_in_its_category() {
    let server = Server::start().await;
    let story = Story::with(&format!("{}[memory]\nextract_every = 1\n", server.settings("small"))).await;
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Extraction => {
            let fact = |key: &str, value: &str, category: &str| {
                json!({ "key": key, "value": value, "category": category, "layer": "A", "sources": [1] })
            };
            let facts = [fact("Biscuit", "sleeps in the hall", "decision"), fact("pet", "a hound", "preference")];
            Say::Text(json!({ "facts": facts, "corrections": [] }).to_string())
        }
        _ => usual(request),
    });
    let talk = "We talked about pets for a long time today, and about where they are to sleep and what they eat in the winter. ";
    story.say(ADA, &talk.repeat(3)).await;
    story.pass(LATER).await;
    let found = calls(&story, "memory_recall", json!({ "query": "which dog?", "category": "Preference" })).await;
    assert!(found.contains("a hound") && !found.contains("sleeps in the hall"), "{found}");
    let other = calls(&story, "memory_recall", json!({ "query": "which dog?", "category": "decision" })).await;
    assert!(!other.contains("a hound"), "{other}");
    story.end().await;
}

/// Proves: search/embedding-failure
#[tokio::test]
async fn status_says_how_it_is_why_it_is_away_and_when_it_is_asked_again() {
    let server = Server::start().await;
    let story = Story::with(&server.settings("small")).await;
    story.say(ADA, "The hound sleeps").await;
    story.pass(SOON).await;
    story.say(ADA, "/status").await;
    let well = story.last_received_by(ADA);
    assert!(well.contains("ollama/small, 8 numbers per vector") && well.contains("none is missing"), "{well}");
    server.falls_ill(true);
    story.say(ADA, "The automobile is red").await;
    story.pass(SOON).await;
    story.say(ADA, "/status").await;
    let ill = story.last_received_by(ADA);
    assert!(ill.contains("words only") && ill.contains("HTTP 500") && ill.contains("retried at"), "{ill}");
    let json = story.command_line(&["status"]).await.json["embeddings"].clone();
    let now = story.app().clock.now().rfc3339();
    assert!(
        json["next_at"].as_str().unwrap() > now.as_str() && json["without_vector"].as_u64().unwrap() >= 1,
        "{json}"
    );
    server.falls_ill(false);
    story.pass(LATER).await;
    let json = story.command_line(&["status"]).await.json["embeddings"].clone();
    assert_eq!((&json["trouble"], &json["next_at"]), (&Value::Null, &Value::Null));
    assert!(json["last_failure"].as_str().unwrap().contains("HTTP 500"), "{json}");
    story.end().await;
}

/// Proves: search/loading
#[tokio::test]
async fn vectors_are_in_memory_after_a_restart_before_the_first_query() {
    let server = Server::start().await;
    let mut story = Story::with(&server.settings("small")).await;
    story.say(ADA, "The hound sleeps").await;
    story.say(BEN, "The automobile is red").await;
    story.pass(SOON).await;
    let asked = server.was_asked("");
    story.restart().await;
    story.settle().await;
    let health = health(&story).await;
    assert!(health.loaded >= 4 && u64::try_from(health.loaded).unwrap() >= health.kept, "{health:?}");
    assert_eq!(server.was_asked(""), asked, "they were computed before");
    story.end().await;
}
