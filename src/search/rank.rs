//! Ranks candidates with their context. Pure.
//!
//! Each candidate starts with a score of its own, 0 to 1: by words alone, or by words and meaning.
//! Added to it are a share of its neighbours' scores, the score of its whole conversation, and
//! small bonuses if its sender, month or year is named in the query. Each addition is bounded by
//! its constant. All constants are round numbers, based on measurements with long two-person
//! conversations (order and size of the effects), not fitted to them.

use std::collections::{HashMap, HashSet};

use chrono::{Datelike, NaiveDate};

use super::hybrid_score;
use crate::id::{ConversationId, MessageId};
use crate::store::{MessageCandidate, Neighbours, Speaker, Terms};
use crate::text::question::Question;
use crate::time::{Timestamp, Zone};

/// Share of the scores of the previous and the next message: an answer follows its question.
/// Measured best at about 0.15.
const BESIDE: f64 = 0.15;
/// Bonus for messages of the best conversation. Measured as the largest single gain of words alone.
const CONVERSATION: f64 = 0.25;
/// Bonus for a named sender. Half of their messages would do; it must not outweigh a good match.
const NAMED: f64 = 0.2;
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
}

/// Ranks the candidates: indexes with scores, best first; newer first among equals.
pub(super) fn rank(candidates: &[MessageCandidate], light: &RankContext<'_>) -> Vec<(usize, f64)> {
    let own = own(candidates);
    let conversations = conversations(candidates, &own, light);
    let mut by_message: HashMap<MessageId, f64> = HashMap::new();
    for (candidate, own) in candidates.iter().zip(&own) {
        let best = by_message.entry(candidate.message).or_default();
        *best = best.max(*own);
    }
    let score = |candidate: &MessageCandidate, own: f64| {
        let beside = light.around.beside.get(&candidate.message).into_iter().flatten().flatten();
        let beside: f64 = beside.filter_map(|message| by_message.get(message)).sum();
        let whole = candidate.conversation.and_then(|id| conversations.get(&id)).copied().unwrap_or(0.0);
        let named = if light.named.contains(&candidate.person) { NAMED } else { 0.0 };
        let dated = if is_dated(light.zone, candidate.at, light.question) { DATED } else { 0.0 };
        own + BESIDE * beside + CONVERSATION * whole + named + dated
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
pub(super) fn best(candidates: &[MessageCandidate], count: usize) -> Vec<usize> {
    let mut places: Vec<(usize, f64)> = own(candidates).into_iter().enumerate().collect();
    places.sort_by(|a, b| b.1.total_cmp(&a.1));
    places.into_iter().take(count).map(|(at, _)| at).collect()
}

/// Scores of the candidates by themselves, 0 to 1.
fn own(candidates: &[MessageCandidate]) -> Vec<f64> {
    let words: Vec<(usize, f64)> = candidates.iter().map(|one| one.words).enumerate().collect();
    let meaning: Vec<(usize, f64)> =
        candidates.iter().enumerate().filter_map(|(at, one)| Some((at, one.meaning?))).collect();
    let share = share(candidates);
    let mut own = vec![0.0; candidates.len()];
    for (at, score) in hybrid_score::weighted(&words, &meaning, share) {
        if let Some(own) = own.get_mut(at) {
            *own = score;
        }
    }
    own
}

/// Weight of meaning for these candidates.
fn share(candidates: &[MessageCandidate]) -> f64 {
    let words: Vec<f64> = candidates.iter().map(|one| one.words).filter(|score| *score > 0.0).collect();
    let meaning: Vec<f64> = candidates.iter().filter_map(|one| one.meaning).collect();
    hybrid_score::share(&words, &meaning)
}

/// Scores whole conversations, 0 to 1: BM25 over a conversation's candidates as one text, and its
/// best candidate by meaning.
fn conversations(
    candidates: &[MessageCandidate],
    own: &[f64],
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
            let rare = (1.0 + (light.terms.texts - texts).max(0.0) / (texts + 0.5)).ln();
            rare * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * long))
        };
        held.iter().zip(&light.terms.list).map(weight).sum()
    };
    let ids: Vec<ConversationId> = counts.keys().copied().collect();
    let by_words: Vec<f64> = ids.iter().filter_map(|id| counts.get(id).map(|(held, _)| bm25(id, held))).collect();
    let best = ids.iter().filter_map(|id| counts.get(id).map(|(_, best)| *best));
    let by_words = hybrid_score::by_best(&by_words);
    let share = share(candidates);
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
    use proptest::prelude::*;

    fn candidate(message: i64, words: f64) -> MessageCandidate {
        MessageCandidate {
            text: message,
            message: MessageId(message),
            conversation: Some(ConversationId(message / 10)),
            person: Some(PersonId(message % 2)),
            at: Timestamp(1_700_000_000_000),
            words,
            meaning: None,
            holds: Vec::new(),
        }
    }

    fn light<'a>(question: &'a Question, terms: &'a Terms) -> RankContext<'a> {
        let (named, around, exact) = (HashSet::new(), Neighbours::default(), HashSet::new());
        RankContext { question, named, around, terms, exact, zone: Zone::UTC }
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
        light.around.beside.insert(MessageId(12), [Some(MessageId(10)), None]);
        assert_eq!(order(&candidates, &light), [10, 12, 21], "next to the best match");
        light.around.beside.clear();
        light.named.insert(Some(PersonId(0)));
        assert_eq!(order(&candidates, &light), [10, 12, 21], "said by whom the question names");
        light.named.clear();
        light.exact.insert(12);
        assert_eq!(order(&candidates, &light), [12, 10, 21], "holds the question word for word");
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
                light.around.beside.insert(MessageId(id), [Some(MessageId(id - 1)), Some(MessageId(id + 1))]);
            }
            let own = own(&candidates);
            let ranked = rank(&candidates, &light);
            prop_assert_eq!(ranked.len(), candidates.len());
            for (at, score) in ranked {
                let most = 2.0 * BESIDE + CONVERSATION + NAMED + DATED + 1e-9;
                prop_assert!((own[at]..=own[at] + most).contains(&score));
            }
        }
    }
}
