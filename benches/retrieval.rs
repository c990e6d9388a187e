//! Measures how well past messages are found:
//! `cargo bench --profile dist --bench retrieval -- FILE… [--embed URL --model NAME] [--ollama]`. Without a file it takes the small sample next to this source;
//! `invented` instead of a file generates conversations and a semantic model for them.
//! `spoken` generates conversations in plain English. Each set is also asked what it cannot answer.
//! `docs/retrieval.md` describes the file format and the figures.
//!
//! Each conversation of a file gets its own journal, with its speakers as the people of one group,
//! and goes through the program's own journal, index and search. The figures are only printed; none
//! is a test.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    reason = "a measurement may stop at the first surprise"
)]

#[path = "retrieval/chance.rs"]
mod chance;
#[allow(dead_code, reason = "shared with the test")]
#[path = "retrieval/figures.rs"]
mod figures;
#[path = "retrieval/indexed.rs"]
mod indexed;
#[path = "retrieval/invented.rs"]
mod invented;
#[path = "retrieval/set.rs"]
mod set;
#[path = "retrieval/spoken.rs"]
mod spoken;

use std::sync::Arc;

use compline::model::embed::{self, Embedder};

use figures::{Figures, median};
use indexed::IndexedConversation;
use set::Set;

/// Ways of searching.
const WAYS: [&str; 3] = ["lexical", "vector", "hybrid"];

/// Error rates of the invented semantic model.
const ERRORS: [f32; 3] = [0.5, 1.5, 9.0];

fn main() {
    // `cargo test --benches` and the like only check that it builds.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let (files, embedding) = arguments();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    for file in files {
        if file == "invented" {
            for error in ERRORS {
                println!("invented, with a model that errs by {error}");
                runtime.block_on(measure(
                    invented::set(),
                    Some(Arc::new(invented::Meaning::with_error(error))),
                    (0..invented::CONVERSATIONS).map(invented::unanswerable).collect(),
                ));
            }
            continue;
        }
        println!("{file}");
        let set: Set = if file == "spoken" {
            spoken::set()
        } else {
            serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap()
        };
        let embedder = embedding.as_ref().map(|embedding| embed::build(embedding).unwrap());
        let strange = set.crossed();
        runtime.block_on(measure(set, embedder, strange));
    }
}

fn arguments() -> (Vec<String>, Option<compline::config::Embedding>) {
    let (mut files, mut url, mut model, mut ollama) = (Vec::new(), None, "default".to_owned(), false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--embed" => url = arguments.next(),
            "--model" => model = arguments.next().unwrap_or(model),
            "--ollama" => ollama = true,
            other if other.starts_with('-') => {}
            file => files.push(file.to_owned()),
        }
    }
    if files.is_empty() {
        files.push(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/retrieval/sample.json").to_owned());
    }
    let provider =
        if ollama { compline::config::EmbeddingProvider::Ollama } else { compline::config::EmbeddingProvider::OpenAi };
    let embedding = url.map(|base_url| compline::config::Embedding {
        provider,
        base_url,
        name: model,
        dimensions: None,
        api_key: None,
    });
    (files, embedding)
}

async fn measure(set: Set, embedder: Option<Arc<dyn Embedder>>, strange: Vec<Vec<set::Unanswerable>>) {
    let ways = if embedder.is_some() { &WAYS[..] } else { &WAYS[..1] };
    let mut figures: Vec<Figures> = ways.iter().map(|_| Figures::default()).collect();
    let mut first = Vec::new();
    for (talk, strange) in set.conversations.iter().zip(strange) {
        let indexed = IndexedConversation::of(talk, embedder.clone()).await;
        for asked in &talk.questions {
            // Embeddings of questions are cached, so only the first way would pay for them: that
            // cost is measured and printed separately.
            if embedder.is_some() {
                let began = std::time::Instant::now();
                indexed.search(&asked.question, WAYS[2]).await;
                first.push(began.elapsed());
            }
            for (way, figures) in ways.iter().zip(&mut figures) {
                let began = std::time::Instant::now();
                let found = indexed.search(&asked.question, way).await;
                figures.add(talk, asked, &found, began.elapsed());
            }
        }
        for asked in strange {
            for (way, figures) in ways.iter().zip(&mut figures) {
                figures.add_unanswerable(&asked, &indexed.search(&asked.question, way).await);
            }
        }
        indexed.close().await;
    }
    for (way, figures) in ways.iter().zip(&figures) {
        figures.print(way);
    }
    if !first.is_empty() {
        println!(
            "hybrid    median time of a question that nobody asked before, with its embedding: {:.1} ms",
            median(first)
        );
    }
}
