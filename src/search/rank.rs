//! Ranks candidates with their context. Pure.
//!
//! Each candidate starts with a score of its own, 0 to 1: by words alone, or by words and meaning.
//! What stands near it counts too, less with each message between: a word or a meaning that one of
//! the three messages before it or after it has, and it lacks. Added are a share of the scores of
//! the two messages next to it, the score of the question that it answers, the score of its whole
//! conversation, and small bonuses if its sender, month or year is named in the query. Each
//! addition is bounded by its constant. All constants are round numbers, chosen on the building
//! halves of several unlike sets (`docs/retrieval.md`).

use std::collections::{HashMap, HashSet};

use chrono::{Datelike, NaiveDate};

use super::hybrid_score;
use crate::id::{ConversationId, MessageId};
use crate::store::{MessageCandidate, Neighbours, Speaker, Terms};
use crate::text::question::Question;
use crate::time::{Timestamp, Zone};

/// Share of a word or a meaning that the previous message has and this one lacks; half of it with
/// each message further away. People refer back to what was said, less often ahead.
const BEFORE: f64 = 0.4;
/// The same of the next message.
const AFTER: f64 = 0.2;
/// Share of the scores of the previous and the next message: an answer follows its question.
const BESIDE: f64 = 0.15;
/// Share of the score of the previous message as far as that is a question: this is its answer.
const ANSWER: f64 = 0.7;
/// Reduction for a message that consists of questions: what is looked for is an answer.
const ASKING: f64 = 0.2;
/// Weight of the words of the first hits, in a second search, against those of the query.
const LINKED: f64 = 0.2;
/// Bonus for messages of the best conversation. Measured as the largest single gain of words alone.
const CONVERSATION: f64 = 0.25;
/// Bonus for a named sender. Half of their messages would do; it must not outweigh a good match.
const NAMED: f64 = 0.3;
/// Bonus for a named month or year. The index already counts the date at half the weight of a word.
const DATED: f64 = 0.1;
/// Saturation of repeated mentions in one conversation: the usual constant of BM25.
const K1: f64 = 1.2;
/// Length normalisation of conversations: the usual constant of BM25.
const B: f64 = 0.75;

/// Context of the ranking.
pub(super) struct RankContext<'a> {
    /// Query.
    pub question: &'a Question,
    /// People named in the query.
    pub named: HashSet<Speaker>,
    /// Context of the candidates.
    pub around: Neighbours,
    /// Terms.
    pub terms: &'a Terms,
    /// Texts that contain the query verbatim.
    pub exact: HashSet<i64>,
    /// Time zone of months and years in the query.
    pub zone: Zone,
    /// Average similarity of all texts, zero on the scale of meaning.
    pub mean_similarity: f64,
}

impl RankContext<'_> {
    /// Returns true if a candidate is of the month and year that the query names.
    pub(super) fn is_dated(&self, candidate: &MessageCandidate) -> bool {
        is_dated(self.zone, candidate.at, self.question)
    }
}

/// Ranks the candidates: indexes with scores, best first; newer first among equals.
pub(super) fn rank(candidates: &[MessageCandidate], light: &RankContext<'_>) -> Vec<(usize, f64)> {
    let (own, share) = own(candidates, light);
    let conversations = conversations(candidates, &own, share, light);
    let mut by_message: HashMap<MessageId, (f64, f64)> = HashMap::new();
    for (candidate, own) in candidates.iter().zip(&own) {
        let (best, asks) = by_message.entry(candidate.message).or_default();
        (*best, *asks) = (best.max(*own), asks.max(candidate.asks));
    }
    let score = |candidate: &MessageCandidate, own: f64| {
        let beside = light.around.near.get(&candidate.message).into_iter().flatten();
        let beside = beside.filter_map(|(message, distance)| Some((by_message.get(message)?, *distance)));
        let beside: f64 = beside
            .map(|((own, asks), distance)| match distance {
                -1 => own * (BESIDE + ANSWER * asks),
                1 => own * BESIDE,
                _ => 0.0,
            })
            .sum();
        let whole = candidate.conversation.and_then(|id| conversations.get(&id)).copied().unwrap_or(0.0);
        let named = if light.named.contains(&candidate.person) { NAMED } else { 0.0 };
        let dated = if light.is_dated(candidate) { DATED } else { 0.0 };
        own + beside + CONVERSATION * whole + named + dated - ASKING * candidate.asks
    };
    let mut ranked: Vec<(usize, f64)> =
        candidates.iter().zip(&own).map(|(candidate, own)| score(candidate, *own)).enumerate().collect();
    let is_exact = |at: usize| candidates.get(at).is_some_and(|one| light.exact.contains(&one.text));
    let age = |at: usize| candidates.get(at).map(|one| (one.message, one.text));
    ranked.sort_by(|a, b| {
        let exact = is_exact(b.0).cmp(&is_exact(a.0));
        exact.then_with(|| b.1.total_cmp(&a.1)).then_with(|| age(b.0).cmp(&age(a.0)))
    });
    ranked
}

/// Returns the indexes of the best candidates by their own scores.
pub(super) fn best(candidates: &[MessageCandidate], light: &RankContext<'_>, count: usize) -> Vec<usize> {
    let mut places: Vec<(usize, f64)> = own(candidates, light).0.into_iter().enumerate().collect();
    places.sort_by(|a, b| b.1.total_cmp(&a.1));
    places.into_iter().take(count).map(|(at, _)| at).collect()
}

/// Scores of the candidates by themselves and what stands near them, 0 to 1, and the weight of
/// meaning in them.
fn own(candidates: &[MessageCandidate], light: &RankContext<'_>) -> (Vec<f64>, f64) {
    let known: Vec<f64> = candidates.iter().filter_map(|one| one.meaning).collect();
    let best = known.iter().copied().fold(light.mean_similarity, f64::max);
    let meaning =
        |one: &MessageCandidate| one.meaning.map_or(0.0, |near| hybrid_score::above(near, light.mean_similarity, best));
    let words: Vec<f64> = candidates.iter().map(|one| one.words).filter(|score| *score > 0.0).collect();
    let scaled: Vec<f64> = candidates.iter().filter(|one| one.meaning.is_some()).map(meaning).collect();
    let share = hybrid_score::share(&words, &scaled);
    let mut by_message: HashMap<MessageId, Vec<f64>> = HashMap::new();
    let signals: Vec<Vec<f64>> = candidates.iter().map(|one| signals(one, meaning(one), light.terms)).collect();
    for (candidate, signals) in candidates.iter().zip(&signals) {
        let all = by_message.entry(candidate.message).or_insert_with(|| vec![0.0; signals.len()]);
        all.iter_mut().zip(signals).for_each(|(all, one)| *all = all.max(*one));
    }
    let near = |candidate: &MessageCandidate, mut signals: Vec<f64>| {
        for (message, distance) in light.around.near.get(&candidate.message).into_iter().flatten() {
            let share = if *distance < 0 { BEFORE } else { AFTER } / f64::from(1 << (distance.abs() - 1).clamp(0, 9));
            for (signal, other) in signals.iter_mut().zip(by_message.get(message).into_iter().flatten()) {
                *signal = signal.max(share * other);
            }
        }
        let meaning = signals.pop().unwrap_or_default();
        (signals.iter().sum::<f64>(), meaning)
    };
    let both: Vec<(f64, f64)> = candidates.iter().zip(signals).map(|(one, signals)| near(one, signals)).collect();
    let by_words = hybrid_score::by_best(&both.iter().map(|(words, _)| *words).collect::<Vec<_>>());
    let sum = |(words, (_, meaning)): (f64, &(f64, f64))| words * (1.0 - share) + meaning * share;
    (by_words.into_iter().zip(&both).map(sum).collect(), share)
}

/// Parts of a candidate's score: one for each term, one for other words, and meaning last.
fn signals(candidate: &MessageCandidate, meaning: f64, terms: &Terms) -> Vec<f64> {
    let mut signals = vec![0.0; terms.list.len() + 2];
    let held =
        || candidate.holds.iter().filter_map(|number| Some((*number, rarity(terms, terms.list.get(*number)?.1))));
    let all: f64 = held().map(|(_, rarity)| rarity).sum();
    for (number, rarity) in held() {
        if let Some(signal) = signals.get_mut(number) {
            *signal = candidate.words * rarity / all;
        }
    }
    if let [.., others, last] = signals.as_mut_slice() {
        *others = LINKED * candidate.linked + if all > 0.0 { 0.0 } else { candidate.words };
        *last = meaning;
    }
    signals
}

/// Weight of a term that occurs in so many texts.
fn rarity(terms: &Terms, texts: f64) -> f64 {
    (1.0 + (terms.texts - texts).max(0.0) / (texts + 0.5)).ln().max(1e-6)
}

/// Scores whole conversations, 0 to 1: BM25 over a conversation's candidates as one text, and its
/// best candidate by meaning.
fn conversations(
    candidates: &[MessageCandidate],
    own: &[f64],
    share: f64,
    light: &RankContext<'_>,
) -> HashMap<ConversationId, f64> {
    let mut counts: HashMap<ConversationId, (Vec<f64>, f64)> = HashMap::new();
    for (candidate, own) in candidates.iter().zip(own) {
        let Some(id) = candidate.conversation else { continue };
        let (held, best) = counts.entry(id).or_insert_with(|| (vec![0.0; light.terms.list.len()], 0.0));
        for number in &candidate.holds {
            if let Some(count) = held.get_mut(*number) {
                *count += 1.0;
            }
        }
        *best = best.max(*own);
    }
    let lengths = &light.around.lengths;
    let average = lengths.values().sum::<f64>() / as_f64(lengths.len().max(1));
    let bm25 = |id: &ConversationId, held: &[f64]| -> f64 {
        let long = lengths.get(id).copied().unwrap_or(average) / average.max(1.0);
        let weight = |(count, (_, texts)): (&f64, &(String, f64))| {
            rarity(light.terms, *texts) * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * long))
        };
        held.iter().zip(&light.terms.list).map(weight).sum()
    };
    let ids: Vec<ConversationId> = counts.keys().copied().collect();
    let by_words: Vec<f64> = ids.iter().filter_map(|id| counts.get(id).map(|(held, _)| bm25(id, held))).collect();
    let best = ids.iter().filter_map(|id| counts.get(id).map(|(_, best)| *best));
    let by_words = hybrid_score::by_best(&by_words);
    let both = by_words.iter().zip(best).map(|(words, best)| words * (1.0 - share) + best * share);
    ids.iter().copied().zip(both).collect()
}

/// Returns true if the time matches the month and year named in the query, as far as they are
/// named.
fn is_dated(zone: Zone, at: Timestamp, question: &Question) -> bool {
    if question.months.is_empty() && question.years.is_empty() {
        return false;
    }
    let Ok(day) = zone.day(at).parse::<NaiveDate>() else { return false };
    let month = question.months.is_empty() || question.months.contains(&day.month());
    month && (question.years.is_empty() || question.years.contains(&day.year()))
}

#[allow(clippy::cast_precision_loss, reason = "a handful of conversations")]
fn as_f64(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::PersonId;
    use crate::trust::{Label, Labelled, Scope};
    use proptest::prelude::*;

    fn candidate(message: i64, words: f64) -> MessageCandidate {
        MessageCandidate {
            text: message,
            message: MessageId(message),
            conversation: Some(ConversationId(message / 10)),
            person: Some(PersonId(message % 2)),
            at: Timestamp(1_700_000_000_000),
            words,
            linked: 0.0,
            meaning: None,
            holds: Vec::new(),
            asks: 0.0,
            digest: None,
            said: Labelled::new("".into(), Label::neutral(), Scope::Shared),
        }
    }

    fn light<'a>(question: &'a Question, terms: &'a Terms) -> RankContext<'a> {
        let (named, around, exact) = (HashSet::new(), Neighbours::default(), HashSet::new());
        RankContext { question, named, around, terms, exact, zone: Zone::UTC, mean_similarity: 0.0 }
    }

    fn order(candidates: &[MessageCandidate], light: &RankContext<'_>) -> Vec<i64> {
        rank(candidates, light).into_iter().filter_map(|(at, _)| candidates.get(at)).map(|one| one.text).collect()
    }

    #[test]
    fn context_lifts_a_match_but_never_above_a_far_better_one() {
        let (question, terms) = (Question::default(), Terms::default());
        let candidates = [candidate(10, 8.0), candidate(12, 4.0), candidate(21, 4.5)];
        let mut light = light(&question, &terms);
        assert_eq!(order(&candidates, &light), [10, 21, 12]);
        light.around.near.insert(MessageId(12), [(MessageId(10), -1)].into());
        assert_eq!(order(&candidates, &light), [10, 12, 21], "next to the best match");
        light.around.near.clear();
        light.named.insert(Some(PersonId(0)));
        assert_eq!(order(&candidates, &light), [10, 12, 21], "said by whom the question names");
        light.named.clear();
        light.exact.insert(12);
        assert_eq!(order(&candidates, &light), [12, 10, 21], "holds the question word for word");
    }

    #[test]
    fn the_answer_to_a_matching_question_stands_before_it() {
        let (question, terms) = (Question::default(), Terms::default());
        let asking = MessageCandidate { asks: 1.0, ..candidate(10, 8.0) };
        let mut light = light(&question, &terms);
        light.around.near.insert(MessageId(11), [(MessageId(10), -1)].into());
        assert_eq!(order(&[asking, candidate(11, 0.0)], &light), [11, 10]);
        assert_eq!(order(&[candidate(10, 8.0), candidate(11, 0.0)], &light), [10, 11]);
    }

    #[test]
    fn a_word_or_a_meaning_of_a_near_message_counts_less_with_distance() {
        let question = Question::default();
        let terms = Terms { list: vec![("a".to_owned(), 1.0), ("b".to_owned(), 1.0)], texts: 9.0, ..Terms::default() };
        let with = |message, words, term| MessageCandidate { holds: vec![term], ..candidate(message, words) };
        let near = MessageCandidate { meaning: Some(0.9), ..with(10, 4.0, 0) };
        let candidates = [near, with(12, 4.0, 1), with(13, 4.0, 1), with(24, 4.0, 1)];
        let mut light = light(&question, &terms);
        let own = |light: &RankContext<'_>| own(&candidates, light).0;
        assert!((own(&light)[1] - own(&light)[3]).abs() < 1e-9);
        light.around.near.insert(MessageId(12), [(MessageId(10), -2)].into());
        light.around.near.insert(MessageId(13), [(MessageId(10), -3)].into());
        let scores = own(&light);
        assert!(scores[0] > scores[1] && scores[1] > scores[2] && scores[2] > scores[3], "{scores:?}");
    }

    /// Proves: search/time-zone
    #[test]
    fn a_month_counts_only_with_its_year() {
        let at = Timestamp(1_700_000_000_000);
        for (text, expected) in [
            ("in november 2023", true),
            ("in november", true),
            ("in 2023", true),
            ("november 2022", false),
            ("in may 2023", false),
            ("whenever", false),
        ] {
            assert_eq!(is_dated(Zone::UTC, at, &Question::of(text, &[])), expected, "{text}");
        }
        // One in the morning of the first of December in Vienna.
        let (vienna, midnight) = (Zone::named("Europe/Vienna").unwrap(), Timestamp(1_701_388_800_000 - 3_600_000 + 1));
        for (zone, text, expected) in [
            (vienna, "december 2023", true),
            (vienna, "november", false),
            (Zone::UTC, "november", true),
            (Zone::UTC, "december", false),
        ] {
            assert_eq!(is_dated(zone, midnight, &Question::of(text, &[])), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_ranking_bonus_from_context_is_bounded(words in prop::collection::vec(0.0_f64..20.0, 1..20), named: bool) {
            let (question, terms) = (Question::default(), Terms::default());
            let candidates: Vec<MessageCandidate> = (1..).zip(&words).map(|(id, words)| candidate(id, *words)).collect();
            let mut light = light(&question, &terms);
            if named {
                light.named.insert(Some(PersonId(1)));
            }
            for id in 1..20 {
                light.around.near.insert(MessageId(id), [(MessageId(id - 1), -1), (MessageId(id + 1), 1)].into());
            }
            let (own, _) = own(&candidates, &light);
            let ranked = rank(&candidates, &light);
            prop_assert_eq!(ranked.len(), candidates.len());
            for (at, score) in ranked {
                let most = 2.0 * BESIDE + ANSWER + CONVERSATION + NAMED + DATED + 1e-9;
                prop_assert!((own[at]..=own[at] + most).contains(&score));
            }
        }
    }
}
