//! Embedding requests over both wires, and invalid answers of servers.

use std::sync::Arc;
use std::time::Duration;

use compline::config::{Embedding, EmbeddingProvider};
use compline::model::{Embedded, ModelError, embed};
use compline::trust::{Label, Labelled, Scope, Source, Text};
use serde_json::{Value, json};

use super::script::{Script, Server, later};

const BOTH: [EmbeddingProvider; 2] = [EmbeddingProvider::OpenAi, EmbeddingProvider::Ollama];
const LONG: Duration = Duration::from_secs(20);
const JSON: &str = "200 OK\r\ncontent-type: application/json";

fn config(provider: EmbeddingProvider, url: &str, dimensions: Option<u32>) -> Embedding {
    let base_url = if provider == EmbeddingProvider::OpenAi { format!("{url}/v1") } else { url.to_owned() };
    Embedding { provider, base_url, name: "small".to_owned(), dimensions, api_key: Some("sk-very-secret".into()) }
}

fn texts() -> Vec<Text> {
    let untrusted = Label::untrusted(Source::web("example.org"));
    ["a private diary entry", ""]
        .into_iter()
        .zip([Label::trusted(), untrusted])
        .map(|(words, label)| Labelled::new(Arc::from(words), label, Scope::Shared))
        .collect()
}

/// An answer of a provider with these vectors.
fn answer(provider: EmbeddingProvider, vectors: &[Value]) -> Script {
    let body = match provider {
        EmbeddingProvider::OpenAi => {
            let rows = vectors.iter().enumerate().map(|(index, vector)| json!({ "index": index, "embedding": vector }));
            // Out of order, as from some servers.
            let rows: Vec<Value> = rows.rev().collect();
            json!({ "data": rows, "usage": { "prompt_tokens": 7 } })
        }
        EmbeddingProvider::Ollama => json!({ "embeddings": vectors, "prompt_eval_count": 7 }),
    };
    Script::whole(JSON, &body.to_string())
}

async fn ask(
    provider: EmbeddingProvider,
    script: Script,
    dimensions: Option<u32>,
    patience: Duration,
) -> Result<Embedded, ModelError> {
    let server = Server::play(vec![script]).await;
    embed::build(&config(provider, &server.url, dimensions)).unwrap().embed(&texts(), patience).await
}

#[tokio::test]
async fn vectors_come_in_the_order_of_the_texts_and_of_length_one() {
    for provider in BOTH {
        let found = ask(provider, answer(provider, &[json!([3, 4]), json!([0.0, -2.5])]), None, LONG).await.unwrap();
        assert_eq!(found, Embedded { vectors: vec![vec![0.6, 0.8], vec![0.0, -1.0]], input: 7 }, "{provider:?}");
    }
}

#[tokio::test]
async fn the_question_is_what_each_server_understands() {
    for (provider, path, body) in [
        (
            EmbeddingProvider::OpenAi,
            "post /v1/embeddings ",
            json!({ "model": "small", "input": ["a private diary entry", "-"], "encoding_format": "float", "dimensions": 2 }),
        ),
        (
            EmbeddingProvider::Ollama,
            "post /api/embed ",
            json!({ "model": "small", "input": ["a private diary entry", "-"], "truncate": true, "dimensions": 2 }),
        ),
    ] {
        let server = Server::play(vec![answer(provider, &[json!([1, 0]), json!([0, 1])])]).await;
        let embedder = embed::build(&config(provider, &server.url, Some(2))).unwrap();
        assert_eq!(embedder.info().dimensions, Some(2));
        embedder.embed(&texts(), LONG).await.unwrap();
        assert!(server.head().starts_with(path), "{}", server.head());
        assert!(server.head().contains("authorization: bearer sk-very-secret"));
        assert_eq!(server.body(), body);
    }
}

#[tokio::test]
async fn a_wrong_number_or_kind_of_vectors_is_an_error() {
    let wrong = |what: &str| Err(ModelError::Rejected(what.to_owned()));
    let (count, numbers, length) = (
        "it gives fewer or more vectors than it was given texts",
        "a vector of its answer holds something other than finite numbers",
        "its vectors are not of the expected length",
    );
    for provider in BOTH {
        for (vectors, dimensions, expected) in [
            (vec![json!([1, 0])], None, count),
            (vec![json!([1, 0]); 3], None, count),
            (vec![], None, count),
            (vec![json!([1, 0]), json!(["1", "0"])], None, numbers),
            (vec![json!([1, 0]), json!([null, 0])], None, numbers),
            (vec![json!([1, 0]), json!([0, 0])], None, numbers),
            (vec![json!([1, 0]), json!([])], None, numbers),
            (vec![json!([1, 0]), json!("AACAPwAAAAA=")], None, numbers),
            (vec![json!([1, 0]), json!([1e308, 1e308])], None, numbers),
            (vec![json!([1, 0]), json!([1, 0, 0])], None, length),
            (vec![json!([1, 0]), json!([0, 1])], Some(3), length),
        ] {
            let found = ask(provider, answer(provider, &vectors), dimensions, LONG).await;
            assert_eq!(found, wrong(expected), "{provider:?} {vectors:?}");
        }
        let not_a_number = Script::whole(JSON, r#"{"data":[{"embedding":[NaN,1]}],"embeddings":[[NaN,1]]}"#);
        let no_json = "it answers with something other than JSON, not with a model's answer";
        assert_eq!(ask(provider, not_a_number, None, LONG).await, wrong(no_json), "{provider:?}");
        assert_eq!(ask(provider, Script::whole("200 OK", "<html>"), None, LONG).await, wrong(no_json), "{provider:?}");
    }
}

#[tokio::test]
async fn a_refusal_says_what_to_do_and_repeats_no_words() {
    for provider in BOTH {
        let busy = Script::whole("429 Too Many\r\nretry-after: 9", "");
        let expected = ModelError::Later { after: Some(Duration::from_secs(9)), what: "HTTP 429".to_owned() };
        assert_eq!(ask(provider, busy, None, LONG).await, Err(expected), "{provider:?}");
        let quoting = r#"{"error":{"message":"cannot embed 'a private diary entry' with sk-very-secret"}}"#;
        for (head, expected) in [
            ("500 Oh", later("HTTP 500")),
            ("401 No", ModelError::BadKey),
            ("413 Too Large", ModelError::TooLong),
            ("404 Not Found", ModelError::Rejected("HTTP 404".to_owned())),
            ("200 OK", later("an error inside the answer")),
            ("307 Elsewhere\r\nlocation: http://127.0.0.1:9/", ModelError::Rejected("HTTP 307".to_owned())),
        ] {
            assert_eq!(
                ask(provider, Script::whole(head, quoting), None, LONG).await,
                Err(expected),
                "{provider:?} {head}"
            );
        }
    }
}

#[tokio::test]
async fn a_server_that_is_slow_or_breaks_off_is_not_waited_for() {
    for provider in BOTH {
        let never = Script { pieces: vec![], then_silent: true };
        let hasty = Duration::from_millis(100);
        assert_eq!(ask(provider, never, None, hasty).await, Err(later("the server keeps silent")), "{provider:?}");
        let stalled = Script {
            pieces: vec![format!("HTTP/1.1 {JSON}\r\ncontent-length: 900\r\n\r\n{{\"data\"").into_bytes()],
            then_silent: true,
        };
        assert_eq!(ask(provider, stalled, None, hasty).await, Err(later("the server keeps silent")), "{provider:?}");
        let cut = Script {
            pieces: vec![format!("HTTP/1.1 {JSON}\r\ncontent-length: 900\r\n\r\n{{").into_bytes()],
            then_silent: false,
        };
        assert_eq!(ask(provider, cut, None, LONG).await, Err(ModelError::Cut), "{provider:?}");
        let nobody = embed::build(&config(provider, "http://127.0.0.1:1", None)).unwrap();
        assert_eq!(nobody.embed(&texts(), LONG).await, Err(later("no connection to the server")), "{provider:?}");
    }
}
