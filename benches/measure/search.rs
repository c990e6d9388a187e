//! Cost of a search in large data: by words at a million messages, by words and meaning at a
//! hundred thousand vectors.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use compline::config::{Budget, Limit};
use compline::id::{ConversationId, PersonId, StreamId};
use compline::memory::digest;
use compline::model::ModelError;
use compline::model::embed::{Embedded, Embedder, EmbedderInfo};
use compline::people::{Address, Role};
use compline::search::{ConversationQuery, ConversationSearch, VectorParts, Vectors};
use compline::spend::Ledger;
use compline::store::{
    BoundaryReason, ConversationKind, Corpus, Journal, MessageKind, MessageState, NewConversation, NewMessage, TextKind,
};
use compline::time::{SystemClock, TimeRange, Timestamp, Zone};
use compline::trust::{Label, Labelled, Scope, Text};

use crate::library::{sentence, word};
use crate::{Scale, cpu, figure, line};

const ADA: Scope = Scope::Person(PersonId(1));
/// Number of rows in one transaction.
const BLOCK: u64 = 1_000;

pub async fn measure(scale: Scale) {
    let (messages, vectors, questions) = (scale.of(1_000_000, 2_000), scale.of(100_000, 1_000), scale.of(40, 2));
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(&folder.path().join("journal.db"), None).unwrap();
    let began = Instant::now();
    fill(&journal, 0..vectors).await;
    for dimensions in [384, 768] {
        by_meaning(&journal, vectors, dimensions, questions).await;
    }
    by_words(&journal, vectors, questions).await;
    fill(&journal, vectors..messages).await;
    figure("  writing them down took", format!("{:.0} s", began.elapsed().as_secs_f64()));
    by_words(&journal, messages, questions).await;
    journal.close().await;
}

/// Questions of rare words, of common ones, and of both.
async fn by_words(journal: &Journal, messages: u64, questions: u32) {
    let recollection = ConversationSearch::new(journal.clone(), None, "Compline");
    for (what, ranks) in [
        ("rare words", [3_000_u64, 5_000, 7_000]),
        ("a common word among them", [40, 3_000, 7_000]),
        ("common words only", [5, 10, 20]),
    ] {
        let (mut times, before) = (Vec::new(), cpu());
        for n in 0..u64::from(questions) {
            let words = ranks.map(|rank| word(rank + n)).join(" ");
            times.push(ask(&recollection, &words).await);
        }
        line(&format!("search by words at {messages} messages: {what}"), times, Some((cpu() - before) / questions));
    }
}

async fn by_meaning(journal: &Journal, count: u64, dimensions: usize, questions: u32) {
    let embedder = Arc::new(Invented(EmbedderInfo {
        provider: "invented".to_owned(),
        name: "noise".to_owned(),
        dimensions: Some(dimensions),
    }));
    let began = Instant::now();
    keep(journal, count, dimensions).await;
    figure(
        &format!("  keeping {count} vectors of {dimensions} took"),
        format!("{:.0} s", began.elapsed().as_secs_f64()),
    );
    let clock = Arc::new(SystemClock::default());
    let endless = Limit { micros: u64::MAX / 4, tokens: u64::MAX / 4 };
    let budget = Budget {
        daily: endless,
        per_person_daily: endless,
        per_group_daily: endless,
        background_daily: endless,
        owner_reserve: 0,
        tool_rounds: 1,
    };
    let ledger = Arc::new(Ledger::new(journal.clone(), clock.clone(), Zone::UTC, budget));
    let vectors = Vectors::new(VectorParts { journal: journal.clone(), clock, ledger, embedder });
    let recollection = ConversationSearch::new(journal.clone(), Some(vectors.clone()), "Compline");
    let first = ask(&recollection, "something").await;
    figure(
        &format!("  first search, by words alone, while {count} vectors of {dimensions} are not in memory"),
        format!("{first:.0?}"),
    );
    let began = Instant::now();
    vectors.read(Corpus::Said, ADA).await.unwrap();
    figure("  reading them, in the background", format!("{:.0?}", began.elapsed()));
    let (mut times, before) = (Vec::new(), cpu());
    for n in 0..u64::from(questions) {
        let words = [40, 3_000, 7_000].map(|rank| word(rank + n)).join(" ");
        times.push(ask(&recollection, &words).await);
    }
    line(&format!("hybrid search among {count} vectors of {dimensions}"), times, Some((cpu() - before) / questions));
}

async fn ask(recollection: &ConversationSearch, words: &str) -> Duration {
    let words = Labelled::new(Arc::from(words), Label::trusted(), ADA);
    let began = Instant::now();
    let asked = ConversationQuery { words, untrusted_too: false, limit: 6, before: None, time: TimeRange::ALL };
    recollection.search(&asked, |_, found| Ok(found)).await.unwrap();
    began.elapsed()
}

/// Stores a vector for each text without a request.
async fn keep(journal: &Journal, count: u64, dimensions: usize) {
    let model = format!("invented/noise/{dimensions}");
    for block in 0..count / BLOCK {
        let model = model.clone();
        let keep = move |tx: compline::store::Tx<'_>| {
            for n in block * BLOCK..(block + 1) * BLOCK {
                let text = sentence(n, ADA);
                let digest = digest(text.open().0.as_bytes());
                tx.embeddings().store_digest(i64::try_from(n + 1).unwrap(), &digest)?;
                tx.embeddings().store_embedding(&model, &digest, &noise(n, dimensions))?;
            }
            Ok(())
        };
        journal.write("keep", keep).await.unwrap();
    }
}

/// Messages of the owner, a thousand to a conversation.
async fn fill(journal: &Journal, range: std::ops::Range<u64>) {
    for first in range.step_by(BLOCK as usize) {
        let write = move |tx: compline::store::Tx<'_>| {
            tx.people().allow("Ada", Role::Owner, "config", Timestamp(0))?;
            let stream = tx.conversations().stream_for(PersonId(1))?;
            let address =
                tx.addresses().link(&Address::new("terminal", "local", "person-1"), Some(PersonId(1)), Timestamp(0))?;
            let mut conversation = None;
            for n in first..first + BLOCK {
                let at = Timestamp(1_600_000_000_000 + i64::try_from(n).unwrap() * 120_000);
                let current = match conversation.filter(|_| n % 1_000 != 0) {
                    Some(current) => current,
                    None => open(tx, stream, at)?,
                };
                conversation = Some(current);
                let message = tx.messages().add_message(&NewMessage {
                    stream,
                    conversation,
                    inbox: None,
                    address: Some(address),
                    person: Some(PersonId(1)),
                    guest: None,
                    kind: MessageKind::Said,
                    scope: ADA,
                    external_id: "",
                    album: "",
                    received_at: at,
                    server_at: None,
                    effective_at: at,
                    turn: None,
                })?;
                tx.messages().add_text(message, TextKind::Said, &sentence(n, ADA))?;
                tx.messages().settle_message(message, MessageState::Answered, "")?;
                tx.conversations().count_message(current, message, at)?;
            }
            Ok(())
        };
        journal.write("fill", write).await.unwrap();
    }
}

fn open(tx: compline::store::Tx<'_>, stream: StreamId, at: Timestamp) -> anyhow::Result<ConversationId> {
    tx.conversations().open_conversation(&NewConversation {
        stream,
        kind: ConversationKind::Chat,
        scope: ADA,
        because: BoundaryReason::Silence,
        at,
    })
}

/// An embedder that answers at once.
struct Invented(EmbedderInfo);

#[async_trait]
impl Embedder for Invented {
    fn info(&self) -> &EmbedderInfo {
        &self.0
    }

    async fn embed(&self, texts: &[Text], _: Duration) -> Result<Embedded, ModelError> {
        let of = |text: &Text| text.open().0.bytes().fold(7_u64, |seed, byte| seed.wrapping_mul(31) ^ u64::from(byte));
        let length = self.0.dimensions.unwrap();
        Ok(Embedded { vectors: texts.iter().map(|text| noise(of(text), length)).collect(), input: 1 })
    }
}

fn noise(seed: u64, length: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % 20_001) as f32 / 10_000.0 - 1.0
    };
    let vector: Vec<f32> = (0..length).map(|_| next()).collect();
    let size = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    vector.iter().map(|number| number / size).collect()
}
