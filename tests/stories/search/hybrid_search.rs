//! Meaning never costs what words alone would have found: over conversations of invented words,
//! with a good and a middling model of what they mean, no kind of question finds less of its
//! answers among the first ten by both than by words alone. Questions without an answer find
//! nothing more often than not by words, and it costs no answers. `cargo bench --bench retrieval --
//! invented` prints all the figures. One conversation is asked by default, and all three with
//! `COMPLINE_SEEDS=0..3`.

#[allow(dead_code, reason = "shared with the measurement, which shuffles")]
#[path = "../../../benches/retrieval/chance.rs"]
mod chance;
#[allow(dead_code, reason = "shared with the measurement, which prints more of it")]
#[path = "../../../benches/retrieval/figures.rs"]
mod figures;
#[path = "../../../benches/retrieval/indexed.rs"]
mod indexed;
#[path = "../../../benches/retrieval/invented.rs"]
mod invented;
#[allow(dead_code, reason = "shared with the measurement, which crosses other sets")]
#[path = "../../../benches/retrieval/set.rs"]
mod set;

use std::sync::Arc;
use std::time::Duration;

use figures::Figures;
use indexed::IndexedConversation;

use crate::support::seeds;

/// How much a good model errs, and a middling one.
const ERRORS: [f32; 2] = [0.5, 1.5];

/// Proves: search/meaning
#[tokio::test]
async fn hybrid_search_finds_no_less_than_word_search() {
    let (set, conversations) = (invented::set(), seeds::asked_for(0..1));
    let mut figures = [Figures::default(), Figures::default(), Figures::default()];
    for (number, talk) in (0..).zip(&set.conversations).filter(|(number, _)| conversations.contains(number)) {
        for (at, error) in ERRORS.into_iter().enumerate() {
            let indexed = IndexedConversation::of(talk, Some(Arc::new(invented::Meaning::with_error(error)))).await;
            for asked in &talk.questions {
                figures[at].add(talk, asked, &indexed.search(&asked.question, "hybrid").await, Duration::ZERO);
                if at == 0 {
                    figures[2].add(talk, asked, &indexed.search(&asked.question, "lexical").await, Duration::ZERO);
                }
            }
            for asked in invented::unanswerable(number) {
                figures[at].add_unanswerable(&asked, &indexed.search(&asked.question, "hybrid").await);
                if at == 0 {
                    figures[2].add_unanswerable(&asked, &indexed.search(&asked.question, "lexical").await);
                }
            }
            indexed.close().await;
        }
    }
    println!("did: conversations {conversations:?} by words, and by words and meaning");
    // A middling model tells no question without an answer from another, a good one a few.
    for (figures, least) in figures.iter().zip([0.05, 0.0, 0.6]) {
        let (lost, nothing) = figures.floor();
        assert!(lost <= 1.0 && nothing >= least, "{lost:.1} points lost, {:.1} % found nothing", 100.0 * nothing);
    }
    let [good, middling, words] = &figures;
    for (kind, by_words) in words.among_ten() {
        for by_both in [good.among_ten()[kind], middling.among_ten()[kind]] {
            assert!(by_both >= by_words, "{kind}: {by_both:.3} by both, {by_words:.3} by words alone");
        }
    }
    let all = [words, middling, good].map(|figures| figures.among_ten()["all"]);
    assert!(all[0] + 0.05 < all[1] && all[1] + 0.05 < all[2], "what knows more finds more: {all:?}");
}
