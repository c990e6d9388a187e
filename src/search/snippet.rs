//! The part of a text around the first match, with every match marked.
//!
//! The index stems words and drops accents. Here a word matches if it folds to the same text or is
//! plainly an inflected form: both share one stem and have a usual ending. Marking too few words is
//! harmless for hits from the index; but skills are found by this alone, so a common beginning is
//! not enough.

use unicode_segmentation::UnicodeSegmentation;

use crate::text::fold::fold;
use crate::text::question::MOST_WORDS;
use crate::text::{escape_markdown, one_line, shorten, words_in};

/// Maximum number of characters before the first mark.
const BEFORE: usize = 60;
/// Maximum total number of characters.
const LENGTH: usize = 240;

/// Usual endings of inflected forms.
const ENDINGS: [&str; 23] = [
    "", "s", "es", "e", "en", "n", "er", "ers", "ed", "d", "ing", "ings", "y", "ies", "ied", "ier", "iest", "ily",
    "ly", "ion", "ions", "ment", "ments",
];
/// Minimum length of a stem that can take any ending.
const STEM: usize = 4;

/// The words of a query: folded, each once, and at most [`MOST_WORDS`]. Every text is compared with
/// each of them, so whoever asks decides neither how often nor for how long.
#[derive(Debug, Clone)]
pub struct QueryWords(Vec<String>);

impl QueryWords {
    /// Takes the first words of a query, which may be any text.
    pub fn new(query: &str) -> Self {
        let mut words: Vec<String> = Vec::new();
        for word in query.unicode_words().flat_map(folded_words) {
            if words.len() == MOST_WORDS {
                break;
            }
            if !words.contains(&word) {
                words.push(word);
            }
        }
        Self(words)
    }

    /// The share of the search words that a text contains.
    pub fn share_in(&self, text: &str) -> f64 {
        let mut missing: Vec<&String> = self.0.iter().collect();
        for word in text.unicode_words().filter(|word| self.may_hold(word)).flat_map(folded_words) {
            missing.retain(|wanted| !is_form_of(&word, wanted));
            if missing.is_empty() {
                break;
            }
        }
        let count = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        let found = self.0.len() - missing.len();
        if self.0.is_empty() { 0.0 } else { count(found) / count(self.0.len()) }
    }

    /// Returns false for a piece of text without words, and for a word that begins with another
    /// letter than every search word. It spares most pieces of a text the folding.
    fn may_hold(&self, piece: &str) -> bool {
        match piece.bytes().next() {
            Some(first) if piece.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
                let first = first.to_ascii_lowercase();
                self.0.iter().any(|wanted| wanted.bytes().next() == Some(first))
            }
            _ => piece.contains(char::is_alphanumeric),
        }
    }

    /// Returns which of the search words a piece of text has forms of, and true if it consists of
    /// such forms.
    fn forms_in(&self, piece: &str) -> (Vec<usize>, bool) {
        if !self.may_hold(piece) {
            return (Vec::new(), false);
        }
        let words = folded_words(piece);
        let is_form = |word: &String| self.0.iter().any(|wanted| is_form_of(word, wanted));
        let is_found = |wanted: &String| words.iter().any(|word| is_form_of(word, wanted));
        let forms: Vec<usize> = (0..).zip(&self.0).filter(|(_, wanted)| is_found(wanted)).map(|(at, _)| at).collect();
        let is_match = !forms.is_empty() && words.iter().all(is_form);
        (forms, is_match)
    }
}

/// A place in a text where a search word stands.
struct WordMatch {
    word: usize,
    /// Characters before it.
    at: usize,
}

/// Returns the passage of a text, in one line of at most `most` characters, that tells most about
/// the search words: it holds as many different ones as possible, above all those that are rare in
/// the text. A short text is returned whole.
pub fn passage(text: &str, wanted: &QueryWords, most: usize) -> String {
    let line = one_line(text);
    let (mut length, mut found, mut starts) = (0, Vec::new(), vec![0]);
    for piece in line.split_word_bounds() {
        found.extend(wanted.forms_in(piece).0.into_iter().map(|word| WordMatch { word, at: length }));
        length += piece.chars().count();
        starts.push(length);
    }
    if length <= most {
        return line;
    }
    let lead = most / 4;
    let first = best_start(&found, wanted.0.len(), most - lead).unwrap_or(0);
    let start = starts.into_iter().find(|start| *start + lead >= first).unwrap_or(0);
    let start = start.min(length - most + 1);
    let rest: String = line.chars().skip(start).collect();
    let end = if start == 0 { rest } else { format!("…{}", rest.trim_start()) };
    shorten(&end, most)
}

/// Returns the place of the match with which the best window of that many characters begins. Each
/// match enters the window once and leaves it once.
fn best_start(found: &[WordMatch], words: usize, room: usize) -> Option<usize> {
    let mut everywhere = vec![0_u32; words];
    for one in found {
        everywhere.get_mut(one.word).into_iter().for_each(|count| *count += 1);
    }
    let (mut inside, mut end) = (vec![0_u32; words], 0);
    // Of equal windows the last one: it begins nearest to what counts.
    let mut best: Option<(f64, usize)> = None;
    for first in found {
        for one in found.iter().skip(end).take_while(|one| one.at < first.at + room) {
            inside.get_mut(one.word).into_iter().for_each(|count| *count += 1);
            end += 1;
        }
        let seen = inside.iter().zip(&everywhere).filter(|(inside, _)| **inside > 0);
        let worth: f64 = seen.map(|(_, everywhere)| 1.0 / f64::from(*everywhere)).sum();
        if best.is_none_or(|(most, _)| worth > most - f64::EPSILON) {
            best = Some((worth, first.at));
        }
        inside.get_mut(first.word).into_iter().for_each(|count| *count -= 1);
    }
    best.map(|(_, at)| at)
}

/// Part of a text, with marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet(Vec<SnippetPiece>);

/// Piece of a snippet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnippetPiece {
    /// True if it is a form of a search word.
    pub is_match: bool,
    /// The piece.
    pub text: String,
}

impl Snippet {
    /// Cuts the part that tells most about the search words out of a text, as [`passage`] does.
    pub fn new(text: &str, wanted: &QueryWords) -> Self {
        let line = one_line(text);
        let (mut length, mut found, mut pieces) = (0, Vec::new(), Vec::new());
        for piece in line.split_word_bounds() {
            let (forms, is_match) = wanted.forms_in(piece);
            found.extend(forms.into_iter().map(|word| WordMatch { word, at: length }));
            length += piece.chars().count();
            pieces.push((is_match, piece));
        }
        let best = if length > LENGTH { best_start(&found, wanted.0.len(), LENGTH - BEFORE) } else { None };
        let mut end = 0;
        let is_best = |(marked, piece): &(bool, &str)| {
            end += piece.chars().count();
            *marked && best.is_none_or(|best| end > best)
        };
        let first = pieces.iter().position(is_best).unwrap_or(0);
        let (mut start, mut before) = (first, 0);
        for (index, (_, piece)) in pieces.iter().enumerate().take(first).rev() {
            before += piece.chars().count();
            if before > BEFORE {
                break;
            }
            start = index;
        }
        let mut shown: Vec<SnippetPiece> = Vec::new();
        let ellipsis = || SnippetPiece { is_match: false, text: "…".to_owned() };
        let mut room = LENGTH;
        let mut rest = pieces.iter().skip(start);
        for (marked, piece) in rest.by_ref() {
            let text = shorten(piece, room.max(1));
            room = room.saturating_sub(text.chars().count());
            match shown.last_mut().filter(|last| last.is_match && *marked) {
                Some(last) => last.text.push_str(&text),
                None => shown.push(SnippetPiece { is_match: *marked, text }),
            }
            if room == 0 {
                break;
            }
        }
        if start > 0 && !shown.first().is_some_and(|piece| piece.text.starts_with('…')) {
            shown.insert(0, ellipsis());
        }
        if rest.next().is_some() && !shown.last().is_some_and(|piece| piece.text.ends_with('…')) {
            shown.push(ellipsis());
        }
        Self(shown)
    }

    /// Pieces, in order.
    pub fn pieces(&self) -> &[SnippetPiece] {
        &self.0
    }

    /// Markdown: marked, and otherwise free of markup.
    pub fn markdown(&self) -> String {
        // Escaping trims its result, but a single space must remain.
        self.marked(|piece| if piece.trim().is_empty() { piece.to_owned() } else { escape_markdown(piece) })
    }

    /// The text with marks, otherwise unchanged.
    pub fn text(&self) -> String {
        self.marked(str::to_owned)
    }

    fn marked(&self, write: impl Fn(&str) -> String) -> String {
        let one = |SnippetPiece { is_match, text }: &SnippetPiece| {
            if *is_match { format!("**{}**", write(text)) } else { write(text) }
        };
        self.0.iter().map(one).collect()
    }
}

fn folded_words(text: &str) -> Vec<String> {
    let folded = fold(text).to_lowercase();
    words_in(&folded).map(str::to_owned).collect()
}

/// Returns whether two words are equal, or have one stem and two endings. In scripts without listed
/// endings, a difference of a few letters is accepted.
fn is_form_of(word: &str, wanted: &str) -> bool {
    let same = word.chars().zip(wanted.chars()).take_while(|(one, other)| one == other);
    let (stem, bytes) = same.fold((0, 0), |(stem, bytes), (c, _)| (stem + 1, bytes + c.len_utf8()));
    let (common, end) = word.split_at(bytes);
    let ends = [end, wanted.split_at(bytes).1];
    if ends.iter().all(|end| end.is_ascii()) {
        return ends == ["", ""] || are_endings(common, stem, ends);
    }
    let [one, other] = ends.map(|end| end.chars().count());
    let (shorter, longer) = (one.min(other), one.max(other));
    stem + shorter >= STEM && shorter <= 1 && longer <= 3
}

/// Returns whether both are endings of that stem. A short stem takes few: an `s`, and a replacement
/// of its last vowel, as in `city` and `cities`.
fn are_endings(common: &str, stem: usize, ends: [&str; 2]) -> bool {
    if stem >= STEM {
        // `stop` and `stopped`.
        let doubled = common.chars().next_back();
        let usual = |end: &str| {
            ENDINGS.contains(&end) || end.strip_prefix(|c| Some(c) == doubled).is_some_and(|end| ENDINGS.contains(&end))
        };
        return ends.into_iter().all(usual);
    }
    let [one, other] = ends;
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    stem + 1 == STEM
        && ((short.is_empty() && long == "s")
            || (["e", "y"].contains(&short) && long.starts_with('i') && ENDINGS.contains(&long)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Proves: search/passage
    #[test]
    fn a_passage_is_the_one_with_the_rarest_of_the_words() {
        let flats: String = (1..60).map(|n| format!("Flat {n}: a flat with {n} windows, rent {}. ", 500 + n)).collect();
        let found = passage(&flats, &QueryWords::new("what is the rent of flat 23"), 200);
        assert!(found.contains("Flat 23: a flat with 23 windows, rent 523.") && found.starts_with('…'), "{found}");
        assert!(found.chars().count() <= 200 && found.ends_with('…'), "{found}");
        assert_eq!(passage("short  text", &QueryWords::new("text"), 200), "short text");
        assert!(passage(&flats, &QueryWords::new("boat"), 100).starts_with("Flat 1:"));
        assert!(passage(&flats, &QueryWords::new("559"), 100).contains("rent 559."));
    }

    fn snippet(text: &str, question: &str) -> Snippet {
        Snippet::new(text, &QueryWords::new(question))
    }

    /// Proves: search/one-command
    #[test]
    fn words_and_their_forms_are_marked() {
        let cases = [
            ("The red shoes", "shoe RED", "The **red** **shoes**"),
            ("we were reading", "read", "we were **reading**"),
            ("reads and ready", "reading", "**reads** and **ready**"),
            ("the car", "cat", "the car"),
            ("three cats", "cat", "three **cats**"),
            ("cities made by making", "city make", "**cities** made by **making**"),
            ("it stopped", "stop", "it **stopped**"),
            ("I sent what you send", "sencha", "I sent what you send"),
            ("the planets of plants", "plan", "the planets of plants"),
            ("кошку видел", "кошка", "**кошку** видел"),
            ("Straße 7", "strasse", "**Straße** 7"),
            ("東京に行く", "東京", "**東京**に行く"),
            ("a *bold* claim", "claim", "a \\*bold\\* **claim**"),
        ];
        for (text, question, expected) in cases {
            assert_eq!(snippet(text, question).markdown(), expected, "{question}");
        }
        assert_eq!(snippet("a *bold* claim", "claim").text(), "a *bold* **claim**");
        let marked: Vec<SnippetPiece> = snippet("two claims", "claim").pieces().to_vec();
        let piece = |is_match, text: &str| SnippetPiece { is_match, text: text.to_owned() };
        assert_eq!(marked, [piece(false, "two"), piece(false, " "), piece(true, "claims")]);
    }

    /// Proves: search/flags
    #[test]
    fn only_the_piece_around_the_first_mark() {
        let text = format!("{} needle {}", "hay ".repeat(100), "straw ".repeat(100));
        let shown = snippet(&text, "needle").text();
        assert!(shown.starts_with('…') && shown.ends_with('…') && shown.contains("**needle**"), "{shown}");
        let words = format!("…{} needle {}", "hay ".repeat(100), "strawberry ".repeat(100));
        for cut in 0..12 {
            let shown = snippet(&format!("{}{words}", "x".repeat(cut)), "needle").text();
            assert!(!shown.contains("……") && shown.ends_with('…'), "{shown}");
        }
    }

    /// Proves: search/passage
    #[test]
    fn a_long_text_is_shown_where_most_words_stand() {
        let text = format!("The boat is old. {}The boat lies in Oostende.", "It rains again today. ".repeat(20));
        let shown = snippet(&text, "where does the boat lie").text();
        assert!(shown.contains("**boat** **lies** in Oostende"), "{shown}");
    }

    /// Proves: operation/bounded-commands
    ///
    /// `COMPLINE_LENGTH=1048576` asks a longer one, of a longer text.
    #[test]
    fn a_query_without_an_end_costs_no_more_than_its_first_words() {
        let length: usize = std::env::var("COMPLINE_LENGTH").map_or(1 << 17, |length| length.parse().unwrap());
        let text: String = "a é x needle ".repeat(length / 52);
        for pattern in ["a ", "x OR ", "(", "é", "a b c d e f g "] {
            let query = QueryWords::new(&pattern.repeat(length / pattern.len()));
            let distinct: std::collections::BTreeSet<&String> = query.0.iter().collect();
            assert!(distinct.len() == query.0.len() && query.0.len() <= MOST_WORDS, "{pattern}");
            let _ = (passage(&text, &query, 200), snippet(&text, pattern), query.share_in(&text));
        }
        let many: String = (0..10_000).map(|n| format!("word{n} ")).collect();
        assert_eq!(QueryWords::new(&many).0.len(), MOST_WORDS);
    }

    #[test]
    fn each_match_is_looked_at_twice_at_most() {
        // Were each window looked through anew, this would take hours.
        for words in [1, 7, MOST_WORDS] {
            let all = words * 30_000;
            let found: Vec<WordMatch> = (0..all).map(|at| WordMatch { word: at % words, at }).collect();
            assert_eq!(best_start(&found, words, usize::MAX >> 1), Some(all - words));
        }
        let place = |word, at| WordMatch { word, at };
        let found = [place(0, 0), place(0, 50), place(0, 100), place(1, 120), place(0, 300)];
        assert_eq!(best_start(&found, 2, 60), Some(100));
        assert_eq!(best_start(&[], 2, 60), None);
    }

    proptest! {
        #[test]
        fn no_form_is_passed_over(word in "[abAné7']{1,6}", question in "[abné ]{1,12}") {
            let wanted = QueryWords::new(&question);
            let is_form = |word: &String| wanted.0.iter().any(|wanted| is_form_of(word, wanted));
            prop_assert!(wanted.may_hold(&word) || !folded_words(&word).iter().any(is_form));
        }

        #[test]
        fn never_longer_than_its_limit(text in "\\PC{0,400}", question in "\\PC{0,20}") {
            let length: usize = snippet(&text, &question).pieces().iter().map(|piece| piece.text.chars().count()).sum();
            prop_assert!(length <= LENGTH + 3, "{length}");
        }
    }
}
