//! Wishes that were written by somebody who did not know the program (`tests/corpus/wishes`: kind,
//! language, message, words, time). The words and forms were chosen on the first two files, after
//! they had been read blind; the third was only measured.

use super::*;
use crate::time::{Cron, Timestamp, Zone};

const WISHES: [&str; 3] = [
    include_str!("../../tests/corpus/wishes/first.tsv"),
    include_str!("../../tests/corpus/wishes/second.tsv"),
    include_str!("../../tests/corpus/wishes/third.tsv"),
];

/// Friday, 20 November 2026, at noon.
fn noon() -> NaiveDateTime {
    "2026-11-20T12:00:00".parse().unwrap()
}

fn words(message: &str, wish: &Wish) -> String {
    let words = message.get(wish.words.clone()).unwrap_or_default().to_lowercase();
    words.chars().filter(|c| c.is_alphanumeric()).collect()
}

fn is_same_time(found: &str, meant: &str) -> bool {
    let (Ok(found), Ok(meant)) = (Cron::parse(found), Cron::parse(meant)) else {
        let from_now = found.strip_prefix("in ").and_then(|rest| rest.strip_suffix(" minutes"));
        let at = from_now.map(|minutes| noon() + chrono::TimeDelta::minutes(minutes.parse().unwrap()));
        return at.map_or_else(|| found.to_owned(), |at| at.format("%Y-%m-%d %H:%M").to_string()) == meant;
    };
    let from = Timestamp(noon().and_utc().timestamp_millis());
    found.next_times(from, Zone::UTC, 20) == meant.next_times(from, Zone::UTC, 20)
}

/// Judges one line of the corpus: `Err` says what is wrong.
fn judge(line: &str) -> Result<(), String> {
    let [kind, _, message, meant, time] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
    let found = Wish::in_message(message, noon());
    let plain: String = meant.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect();
    let is_right = match (kind, &found) {
        ("none", found) => found.is_none(),
        (_, None) => false,
        ("note", Some(wish)) => wish.when.is_none() && words(message, wish) == plain,
        (_, Some(wish)) => {
            words(message, wish) == plain && wish.when.as_deref().is_some_and(|when| is_same_time(when, time))
        }
    };
    let shown = || found.as_ref().map(|wish| (message.get(wish.words.clone()), wish.when.clone()));
    if is_right { Ok(()) } else { Err(format!("{line}\n    found {:?}", shown())) }
}

/// Proves: gate/typed-wish
#[test]
fn nearly_all_wishes_that_somebody_else_wrote_are_read_and_nothing_that_is_none() {
    for file in WISHES {
        let judged: Vec<(&str, Result<(), String>)> = file.lines().map(|line| (line, judge(line))).collect();
        let (none, wishes): (Vec<_>, Vec<_>) = judged.into_iter().partition(|(line, _)| line.starts_with("none"));
        let wrong: Vec<&String> = none.iter().filter_map(|(_, judged)| judged.as_ref().err()).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        let failed: Vec<&String> = wishes.iter().filter_map(|(_, judged)| judged.as_ref().err()).collect();
        assert!(failed.len() * 20 <= wishes.len(), "{} of {}: {failed:#?}", failed.len(), wishes.len());
    }
}

#[test]
fn an_article_at_the_beginning_makes_no_other_wish() {
    for (typed, called) in [("die Zeiterfassung", "Zeiterfassung"), ("the dentist", "Dentist."), ("a", "a")] {
        assert_eq!(plain_words(typed), plain_words(called));
    }
    assert_ne!(plain_words("pay the rent"), plain_words("pay rent"));
}

#[test]
fn a_german_infinitive_is_the_same_with_and_without_its_zu() {
    for (typed, called) in [
        ("das Rad abzuholen", "Rad abholen"),
        ("Ben anzurufen", "Ben anrufen"),
        ("den Müll rauszubringen", "Müll rausbringen"),
        ("die Miete zu zahlen", "Miete zahlen"),
    ] {
        assert_eq!(without_zu(&plain_words(typed)), without_zu(&plain_words(called)), "{typed}");
    }
    for (typed, other) in [("das Rad abzuholen", "Rad holen"), ("die Miete zu zahlen", "Miete zählen bitte")] {
        assert_ne!(without_zu(&plain_words(typed)), without_zu(&plain_words(other)), "{typed}");
    }
}
