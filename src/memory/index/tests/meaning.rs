//! Tests of the index with vectors: real folders, a real journal, and a model that knows a few
//! meanings.

use std::sync::Mutex;

use async_trait::async_trait;

use super::*;
use crate::config::{Budget, Limit};
use crate::model::{Embedded, Embedder, EmbedderInfo, ModelError};
use crate::search::VectorParts;
use crate::spend::Ledger;

/// Words with the same meaning to the model, one direction each.
const MEANINGS: [&[&str]; 5] = [
    &["dog", "hound", "puppy"],
    &["car", "automobile", "vehicle"],
    &["doctor", "physician"],
    &["tea", "sencha", "infusion"],
    &["boat", "vessel"],
];

/// Embeds known meanings, and any other content of a text in further directions.
struct Knowing {
    info: EmbedderInfo,
    is_ill: Mutex<bool>,
}

#[async_trait]
impl Embedder for Knowing {
    fn info(&self) -> &EmbedderInfo {
        &self.info
    }

    async fn embed(&self, texts: &[Text], _: Duration) -> Result<Embedded, ModelError> {
        if *self.is_ill.lock().unwrap() {
            return Err(ModelError::Later { after: None, what: "HTTP 500".to_owned() });
        }
        Ok(Embedded { vectors: texts.iter().map(|text| meaning(text.open().0)).collect(), input: 1 })
    }
}

fn meaning(text: &str) -> Vec<f32> {
    let text = text.to_lowercase();
    let mut vector = vec![0.0; MEANINGS.len() + 8];
    for (direction, words) in MEANINGS.iter().enumerate() {
        vector[direction] = words.iter().filter(|word| text.contains(**word)).count() as f32;
    }
    // A text with "vaguely" has half its weight in another direction.
    let besides = crate::memory::digest(text.as_bytes()).as_bytes()[0] % 8;
    vector[MEANINGS.len() + usize::from(besides)] += if text.contains("vaguely") { 1.0 } else { 0.3 };
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    vector.iter().map(|number| number / length).collect()
}

/// Creates a home with vectors and their embedder.
async fn knowing_home() -> (Home, Vectors, Arc<Knowing>) {
    let mut home = home().await;
    let info = EmbedderInfo { provider: "here".to_owned(), name: "small".to_owned(), dimensions: None };
    let embedder = Arc::new(Knowing { info, is_ill: Mutex::default() });
    let vectors = vectors(&home, embedder.clone());
    home.index = home.index.clone().with_vectors(Some(vectors.clone()));
    (home, vectors, embedder)
}

fn vectors(home: &Home, embedder: Arc<Knowing>) -> Vectors {
    let endless = Limit { micros: u64::MAX / 4, tokens: u64::MAX / 4 };
    let budget = Budget {
        daily: endless,
        per_person_daily: endless,
        per_group_daily: endless,
        background_daily: endless,
        owner_reserve: 0,
        tool_rounds: 1,
    };
    let clock: Arc<dyn Clock> = home.clock.clone();
    let ledger = Arc::new(Ledger::new(home.journal.clone(), Arc::clone(&clock), Zone::UTC, budget));
    Vectors::new(VectorParts { journal: home.journal.clone(), clock, ledger, embedder })
}

impl Home {
    /// Indexes everything and computes all vectors.
    async fn is_known(&self, vectors: &Vectors) {
        self.index.refresh(&self.ada).await.unwrap();
        vectors.catch_up().await.unwrap();
        assert!(vectors.health().await.unwrap().is_complete);
    }

    async fn first(&self, words: &str) -> String {
        self.ada_finds(words).await.into_iter().next().unwrap_or_default()
    }
}

/// Proves: search/meaning
#[tokio::test]
async fn paraphrases_are_found_with_vectors_and_not_by_words_alone() {
    let (home, vectors, _) = knowing_home().await;
    home.write("memory/MEMORY.md", "## Recent facts\n\n- **pet**: a hound called Biscuit\n- **train**: always late\n");
    assert_eq!(home.ada_finds("which dog?").await.len(), 0, "nothing has a vector yet");
    home.is_known(&vectors).await;
    assert_eq!(home.first("which dog?").await, "pet: a hound called Biscuit");
    let by_words = home.index.clone().with_vectors(None);
    let question = home.asks(&home.ada, "which dog?");
    assert_eq!(by_words.search(&question).await.unwrap().hits.len(), 0);
}

/// Promise (search/categories): A search by meaning looks first in the categories nearest to your
/// question, then everywhere; no category is too small to be found, and a rebuilt index has the
/// same categories.
#[tokio::test]
async fn entries_in_the_nearest_categories_come_before_the_rest() {
    let (home, vectors, _) = knowing_home().await;
    let drinks: String = (0..3).map(|n| format!("- **drink {n}**: infusion vaguely {n} (drinks)\n")).collect();
    home.write("memory/MEMORY.md", format!("## Recent facts\n\n{drinks}"));
    // Each file is nearer to the query than any drink, and there are more than the list holds.
    for number in 0..60 {
        home.write(&format!("logs/{number}.txt"), format!("a sencha crate, the one of week {number}\n"));
    }
    for number in 0..200 {
        home.write(&format!("rest/{number}.txt"), format!("the train of week {number} came late\n"));
    }
    home.is_known(&vectors).await;
    let mut question = home.asks(&home.ada, "what about tea?");
    question.limit = 10;
    let found = home.finds(&question).await;
    assert_eq!(found.len(), 10, "the rest fills the list");
    let drinks = found.iter().filter(|text| text.starts_with("drink")).count();
    assert_eq!(drinks, 3, "{found:?}");
    assert!(found[0].contains("sencha"), "the best of all stays the first: {found:?}");
    assert!(found[5..].iter().all(|text| text.contains("sencha")), "{found:?}");
}

/// Proves: search/categories
#[tokio::test]
async fn a_small_category_is_found_by_meaning_behind_a_large_one() {
    let (home, vectors, _) = knowing_home().await;
    let many: String = (0..400).map(|n| format!("- **crate {n}**: sencha (context)\n")).collect();
    home.write("memory/MEMORY.md", format!("## Recent facts\n\n{many}"));
    home.write("memory/rest.md", "- **evening**: some infusion vaguely (decision)\n");
    home.is_known(&vectors).await;
    let mut question = home.asks(&home.ada, "tea");
    question.category = Some("Decision".to_owned());
    assert_eq!(home.finds(&question).await, ["evening: some infusion vaguely"]);
    question.category = None;
    question.section = Some("nowhere".to_owned());
    assert_eq!(home.finds(&question).await.len(), 0);
    question.section = None;
    question.kinds = vec![EntryKind::Note];
    home.write("memory/cup.md", "---\nname: Cup\n---\nfor an infusion vaguely\n");
    home.is_known(&vectors).await;
    assert_eq!(home.finds(&question).await, ["Cup\nfor an infusion vaguely"]);
}

/// Proves: search/meaning
#[tokio::test]
async fn an_exact_match_is_not_buried_by_what_is_meant() {
    let (home, vectors, _) = knowing_home().await;
    let many: String =
        (0..40).map(|n| format!("- **doctor {n}**: a physician, doctor and physician (people)\n")).collect();
    home.write("memory/MEMORY.md", format!("## Recent facts\n\n{many}- **Quist**: the doctor's dog\n"));
    home.write(
        "memory/long.md",
        format!("{} the dentist of Quist street {}", "filler ".repeat(60), "filler ".repeat(60)),
    );
    home.is_known(&vectors).await;
    assert_eq!(home.first("Quist").await, "Quist: the doctor's dog");
    assert!(home.first("the dentist of Quist street").await.contains("the dentist of Quist street"));
}

/// Promise (search/outside-influence): Text from outside does not influence where your own
/// knowledge is searched for, and is included only on request.
#[tokio::test]
async fn untrusted_text_does_not_affect_the_order_of_trusted_results() {
    let (home, vectors, _) = knowing_home().await;
    home.write(
        "memory/MEMORY.md",
        "## Recent facts\n\n- **a**: a vessel (things)\n- **b**: a hound (animals)\n- **c**: a puppy (animals)\n",
    );
    home.is_known(&vectors).await;
    let question = home.asks(&home.ada, "boat or dog");
    let before = home.index.search(&question).await.unwrap().hits;
    let odd: String = (0..30).map(|n| format!("- **o{n}**: boat or dog {n} (animals)\n")).collect();
    home.announce("memory/untrusted/odd.md", &odd, web()).await;
    home.write("memory/untrusted/odd.md", &odd);
    home.is_known(&vectors).await;
    let after = home.index.search(&question).await.unwrap().hits;
    let order = |hits: &[EntryHit]| hits.iter().map(|hit| hit.key.clone()).collect::<Vec<_>>();
    assert_eq!(order(&before), order(&after));
    let untrusted_too = EntryQuery { untrusted_too: true, limit: 20, ..question };
    assert!(home.finds(&untrusted_too).await.iter().any(|text| text.starts_with("o1")));
}

/// Proves: search/categories
#[tokio::test]
async fn a_rebuilt_vector_index_has_the_same_categories_and_answers() {
    let (home, vectors, embedder) = knowing_home().await;
    for (number, words) in ["a hound", "an automobile", "the vessel", "green sencha", "a physician"].iter().enumerate()
    {
        let category = if number % 2 == 0 { "(odd)" } else { "" };
        home.write(
            &format!("memory/n{number}.md"),
            format!("- **f{number}**: {words} vaguely {category}\n- {words} again\n"),
        );
        home.is_known(&vectors).await;
    }
    let mut questions: Vec<EntryQuery> =
        ["dog", "vehicle and boat", "tea", "doctor"].iter().map(|words| home.asks(&home.ada, words)).collect();
    questions.iter_mut().for_each(|question| question.limit = 10);
    let mut before = Vec::new();
    for question in &questions {
        before.push(home.index.search(question).await.unwrap().hits);
    }
    assert!(before.iter().all(|hits| hits.len() >= 5));
    home.index.clear().await.unwrap();
    let anew = self::vectors(&home, embedder);
    let index = home.index.clone().with_vectors(Some(anew.clone()));
    index.refresh(&home.ada).await.unwrap();
    anew.catch_up().await.unwrap();
    for (question, before) in questions.iter().zip(before) {
        assert_eq!(index.search(question).await.unwrap().hits, before);
    }
}

/// Proves: search/embedding-failure
#[tokio::test]
async fn an_outage_says_why_and_until_when_and_what_lacks_is_made_up_for() {
    let (home, vectors, embedder) = knowing_home().await;
    home.write("memory/MEMORY.md", "## Recent facts\n\n- **pet**: a hound\n");
    home.is_known(&vectors).await;
    *embedder.is_ill.lock().unwrap() = true;
    home.write("memory/car.md", "an automobile in the yard\n");
    assert_eq!(home.first("the yard").await, "an automobile in the yard", "words alone decide");
    let health = vectors.health().await.unwrap();
    let away = health.away.unwrap();
    assert!(away.why.contains("HTTP 500") && away.next > NOW && away.since == NOW, "{away:?}");
    vectors.catch_up().await.unwrap();
    let health = vectors.health().await.unwrap();
    assert_eq!((health.kept, health.lacking, health.is_complete), (1, 1, false));
    *embedder.is_ill.lock().unwrap() = false;
    home.clock.set(NOW.plus(Duration::from_secs(3600)));
    home.is_known(&vectors).await;
    assert_eq!(home.first("which vehicle?").await, "an automobile in the yard");
    let health = vectors.health().await.unwrap();
    assert_eq!((health.kept, health.lacking, health.away), (2, 0, None));
    assert!(health.failed.unwrap().0.contains("HTTP 500"), "the last failure is still told");
    assert_eq!((health.source.as_str(), health.model.as_str(), health.dimensions), ("here", "small", Some(13)));
}

/// Promise (search/loading): A search never waits for vectors to load: they are loaded in the
/// background after start-up, and until then word search decides.
#[tokio::test]
async fn vectors_that_are_not_in_memory_yet_leave_it_to_words_until_they_are() {
    let (home, vectors, embedder) = knowing_home().await;
    let lines: String = (0..9_000).map(|n| format!("- **line {n}**: number {n}\n")).collect();
    home.write("memory/MEMORY.md", format!("- **pet**: a hound\n{lines}"));
    home.is_known(&vectors).await;
    let anew = self::vectors(&home, embedder);
    let index = home.index.clone().with_vectors(Some(anew.clone()));
    let question = home.asks(&home.ada, "dog");
    anew.take_up_key().await.unwrap();
    assert_eq!(index.search(&question).await.unwrap().hits.len(), 0, "only a part of them is in memory");
    let by_words = home.asks(&home.ada, "number 8999");
    assert_eq!(&*index.search(&by_words).await.unwrap().hits[0].text.open().0.to_string(), "line 8999: number 8999");
    anew.read(crate::store::Corpus::Known, home.ada.scope()).await.unwrap();
    assert_eq!(&*index.search(&question).await.unwrap().hits[0].text.open().0.to_string(), "pet: a hound");
}

/// Proves: search/embedded-once
#[tokio::test]
async fn paid_vectors_survive_an_index_rebuild() {
    let (home, vectors, embedder) = knowing_home().await;
    home.write("memory/MEMORY.md", "## Recent facts\n\n- **pet**: a hound called Biscuit\n");
    home.index.refresh_all().await.unwrap();
    vectors.catch_up().await.unwrap();
    home.index.clear().await.unwrap();
    // As after a start: no vector is missing, so the sweep runs before the files are checked.
    let kept = async || {
        let anew = self::vectors(&home, embedder.clone());
        anew.catch_up().await.unwrap();
        while home.journal.write("upkeep", |tx| tx.erasure().sweep_knowledge(NOW, 10)).await.unwrap() > 0 {}
        anew.health().await.unwrap().kept
    };
    assert_eq!(kept().await, 1);
    home.index.refresh_all().await.unwrap();
    assert_eq!(kept().await, 1);
    fs::remove_file(home.path("memory/MEMORY.md")).unwrap();
    home.index.refresh_all().await.unwrap();
    assert_eq!(kept().await, 0, "now nobody says it any more");
}

/// Proves: search/categories
#[tokio::test]
async fn entries_under_a_heading_are_found_by_meaning_despite_better_matches() {
    let (home, vectors, _) = knowing_home().await;
    let many: String = (0..400).map(|n| format!("- **crate {n}**: sencha\n")).collect();
    home.write("memory/MEMORY.md", format!("## Cellar\n\n{many}\n## Evening\n\n- **cup**: some infusion vaguely\n"));
    home.is_known(&vectors).await;
    let mut question = home.asks(&home.ada, "tea");
    question.section = Some("evening".to_owned());
    assert_eq!(home.finds(&question).await, ["cup: some infusion vaguely"]);
    question.agents = vec!["cook".to_owned()];
    assert_eq!(home.finds(&question).await.len(), 0);
}
