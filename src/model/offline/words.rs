//! Word normalisation: folded, stemmed by a few endings of English and German, without stop words.
//!
//! Deliberately crude. Both sides of a comparison pass through this module, so it matters only that
//! forms of one word mostly match.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use unicode_segmentation::UnicodeSegmentation;

use crate::text::fold::fold;

const STOP: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by",
    "can", "could", "did", "do", "does", "for", "from", "had", "has", "have", "he", "her", "hers", "hey", "hi", "him",
    "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "let", "like", "me", "mine", "my", "no", "not",
    "now", "of", "ok", "okay", "on", "or", "our", "please", "remember", "say", "said", "she", "should", "so", "some",
    "tell", "than", "that", "the", "their", "them", "then", "there", "they", "this", "to", "told", "too", "us", "very",
    "was", "we", "well", "were", "what", "when", "where", "which", "who", "whom", "whose", "why", "will", "with",
    "would", "yes", "you", "your", "s", "t", "m", "re", "ve", "ll", "d", "don", "aber", "als", "am", "an", "auch",
    "auf", "aus", "bei", "bin", "bist", "bitte", "da", "das", "dass", "dein", "deine", "dem", "den", "der", "des",
    "dich", "die", "dir", "du", "ein", "eine", "einem", "einen", "einer", "er", "es", "fur", "habe", "haben", "hast",
    "hat", "ich", "ihr", "im", "ist", "ja", "kann", "man", "mein", "meine", "meinem", "meinen", "meiner", "mich",
    "mir", "mit", "nein", "nicht", "noch", "nun", "oder", "schon", "sein", "seine", "sich", "sie", "sind", "so",
    "uber", "um", "und", "uns", "von", "vor", "wann", "war", "warum", "was", "wer", "wie", "wir", "wird", "wo", "zu",
    "zum", "zur",
];

const ENDINGS: &[&str] = &["ings", "ing", "ern", "est", "ed", "es", "en", "er", "em", "s", "n", "e"];

/// A word as written, with its comparison form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) surface: &'a str,
    pub(super) stem: String,
}

/// Words of a text without stop words.
pub(super) fn significant_words(text: &str) -> Vec<Word<'_>> {
    text.unicode_words()
        .flat_map(|surface| {
            let plain = plain(surface);
            let stems: Vec<String> = plain.split_whitespace().filter(|word| !is_stop(word)).map(stem).collect();
            stems.into_iter().map(move |stem| Word { surface, stem })
        })
        .collect()
}

/// Stems of these words.
pub(super) fn stems(text: &str) -> Vec<String> {
    significant_words(text).into_iter().map(|word| word.stem).collect()
}

/// Text in lower case, without diacritics, with ideographs separated.
pub(super) fn plain(text: &str) -> String {
    fold(text).to_lowercase().chars().filter_map(without_diacritic).collect()
}

/// Text prepared for the cue search: plain words with single spaces around each.
pub(super) fn spaced(text: &str) -> String {
    let plain: String = plain(&text.replace('’', "'"));
    let words: Vec<&str> =
        plain.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
    format!(" {} ", words.join(" "))
}

/// Returns whether a [`spaced`] text contains one of the cues: words separated by `|`, where `*`
/// ends a prefix.
pub(super) fn has_cue(spaced: &str, cues: &str) -> bool {
    cues.split('|').any(|cue| spaced.match_indices(' ').any(|(at, _)| begins_with(spaced, at, cue)))
}

/// Returns whether a [`spaced`] text begins with one of the cues.
pub(super) fn starts_with_cue(spaced: &str, cues: &str) -> bool {
    cues.split('|').any(|cue| begins_with(spaced, 0, cue))
}

fn begins_with(spaced: &str, at: usize, cue: &str) -> bool {
    let words = spaced.get(at + 1..).unwrap_or_default();
    match cue.strip_suffix('*') {
        Some(prefix) => words.starts_with(prefix),
        None => words.strip_prefix(cue).is_some_and(|rest| rest.starts_with(' ')),
    }
}

/// Titles and the like whose stop ends no sentence.
const ABBREVIATIONS: [&str; 17] =
    ["dr", "mr", "mrs", "ms", "prof", "st", "vs", "approx", "hr", "fr", "nr", "ca", "bzw", "sr", "sra", "dra", "aprox"];

/// Sentences of a text, bounded by punctuation and line ends.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(sentences_of_line)
}

fn sentences_of_line(line: &str) -> Vec<&str> {
    let (mut found, mut begin, mut end) = (Vec::new(), 0, 0);
    for part in line.split_sentence_bounds() {
        end += part.len();
        let last = part.trim_end().rsplit(|c: char| !c.is_alphabetic() && c != '.').next();
        let word = last.and_then(|word| word.strip_suffix('.')).unwrap_or_default().to_lowercase();
        if end == line.len() || !ABBREVIATIONS.contains(&word.as_str()) {
            found.extend(line.get(begin..end).map(str::trim).filter(|words| words.contains(char::is_alphanumeric)));
            begin = end;
        }
    }
    found
}

fn is_stop(word: &str) -> bool {
    static SET: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP.iter().copied().collect());
    SET.contains(word)
}

fn without_diacritic(c: char) -> Option<char> {
    Some(match c {
        'à'..='å' => 'a',
        'è'..='ë' => 'e',
        'ì'..='ï' => 'i',
        'ò'..='ö' => 'o',
        'ù'..='ü' => 'u',
        'ç' => 'c',
        'ñ' => 'n',
        '\u{300}'..='\u{36f}' => return None,
        other => other,
    })
}

fn stem(word: &str) -> String {
    let shorter = ENDINGS.iter().find_map(|ending| word.strip_suffix(ending).filter(|rest| rest.chars().count() >= 3));
    let stem = shorter.unwrap_or(word);
    let stem = stem.strip_suffix('e').filter(|rest| rest.chars().count() >= 3).unwrap_or(stem);
    let mut last = stem.chars().rev();
    match (last.next(), last.next()) {
        (Some(a), Some(b)) if a == b && a.is_alphabetic() && stem.chars().count() > 3 => {
            last.rev().chain([b]).collect()
        }
        _ => stem.to_owned(),
    }
}

/// Scores each text against the words of a question, by BM25; texts without any of the words score
/// zero.
pub(super) fn score(question: &[String], texts: &[Vec<String>]) -> Vec<f64> {
    const SATURATION: f64 = 1.2;
    const LENGTH: f64 = 0.5;
    let count = texts.len().max(1) as f64;
    let average = (texts.iter().map(Vec::len).sum::<usize>() as f64 / count).max(1.0);
    let mut holders: HashMap<&str, f64> = question.iter().map(|word| (word.as_str(), 0.0)).collect();
    for text in texts {
        for (word, holders) in &mut holders {
            if text.iter().any(|stem| stem == word) {
                *holders += 1.0;
            }
        }
    }
    let score = |text: &Vec<String>| {
        holders.iter().fold(0.0, |sum, (word, holders)| {
            let times = text.iter().filter(|stem| stem == word).count() as f64;
            let rarity = (1.0 + (count - holders + 0.5) / (holders + 0.5)).ln();
            let length = SATURATION * (1.0 - LENGTH + LENGTH * text.len() as f64 / average);
            sum + rarity * times * (SATURATION + 1.0) / (times + length)
        })
    };
    texts.iter().map(score).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_meet() {
        for forms in [
            ["call", "called", "calls"],
            ["running", "run", "runs"],
            ["like", "likes", "liked"],
            ["Katze", "Katzen", "katze"],
            ["Größe", "größer", "GRÖSSE"],
            ["name", "named", "names"],
        ] {
            let stems: Vec<_> = forms.iter().map(|form| stem(&plain(form))).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{stems:?}");
        }
    }

    #[test]
    fn stop_words_are_left_out() {
        assert_eq!(stems("What is my cat called?"), ["cat", "cal"]);
        assert_eq!(stems("東京 tower").len(), 3);
        assert_eq!(spaced("Let’s go — NOW!"), " let's go now ");
        assert_eq!(sentences("One. Two!\nThree").collect::<Vec<_>>(), ["One.", "Two!", "Three"]);
        let told = "Dr. Lang is at St. Anna's, and so is Mr. Ott. I saw Tom. Bye";
        assert_eq!(
            sentences(told).collect::<Vec<_>>(),
            ["Dr. Lang is at St. Anna's, and so is Mr. Ott.", "I saw Tom.", "Bye"]
        );
    }

    #[test]
    fn the_rarer_word_counts_for_more() {
        let texts = ["my cat is called whiskerino", "my dog is called rex", "the weather"].map(stems);
        let scores = score(&stems("what is my cat called"), &texts);
        assert!(scores[0] > scores[1] && scores[1] > scores[2], "{scores:?}");
        assert!(scores[2] == 0.0);
    }
}
