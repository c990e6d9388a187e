//! Erased text, and the search for it in everything derived from it.
//!
//! Erased content is identified by its lines. A line is searched as a run of words: case,
//! punctuation and white space are ignored, word boundaries are not. A line too short to be
//! distinctive ("yes", "42") is searched together with its subject, on one line. In JSON the
//! strings are searched, however they are escaped. Meaning is not understood: paraphrases are found
//! only by [`ErasureQuery::is_near`], which is for the few texts known to be derived from the
//! erased one.

mod sought;

pub use sought::ParaphraseMatcher;

use serde::{Deserialize, Serialize};

use super::fold::fold;

/// Lines with fewer letters are searched together with their subject.
const ENOUGH: usize = 8;
/// Lines with fewer words too: one long word occurs in unrelated text.
const WORDS: usize = 2;
/// The word next to the title in a line that links to a note.
const FILE: &str = "md";
/// Titles with fewer letters and words are not distinctive enough to be searched alone.
const TITLE: (usize, usize) = (12, 3);
/// Words with this number of letters are distinctive, as are words with a digit.
const TELLING: usize = 5;
/// Words with fewer letters in total are not searched in conversations.
const LEAST: usize = 4;
/// The number of additional words in a line that says little else; at least as many as the needle's
/// are allowed.
const BESIDES: usize = 3;
/// The end of a fact's key in its line.
const KEY_ENDS: [&str; 2] = ["**:", ":**"];
/// The maximum number of words of a key without markup.
const KEY_WORDS: usize = 10;
/// Prefix of a part that must be the only content of a line. Does not occur in plain text.
const ALONE: char = '=';
/// The maximum depth of JSON within JSON.
const DEEPEST: usize = 6;
/// The maximum number of lines searched for one note.
const MOST: usize = 400;

/// The search terms: all parts of a needle must occur on one line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasureQuery(Vec<Vec<String>>);

impl ErasureQuery {
    /// Returns the needles of a fact.
    pub fn of_fact(key: &str, value: &str) -> Self {
        let mut needles = Self::default();
        needles.add(key, value);
        needles
    }

    /// Returns the needles of a fact whose value may also apply to other subjects: matches only
    /// lines that contain the subject too.
    pub fn of_both(key: &str, value: &str) -> Self {
        let parts = vec![plain(key), plain(value)];
        if parts.iter().all(|part| !part.is_empty()) { Self(vec![parts]) } else { Self::of_fact(key, value) }
    }

    /// Returns the needles of a note with this title. Lines of its front matter count like all
    /// others.
    pub fn of_note(title: &str, text: &str) -> Self {
        let mut needles = Self::default();
        let about = plain(title);
        let lines = text
            .lines()
            .map(without_mark)
            .filter(|line| !matches!(plain(line), line if line.is_empty() || line == about));
        for line in lines.take(MOST) {
            needles.add(title, line);
        }
        let (letters, count) = measure(title);
        if letters >= TITLE.0 && count >= TITLE.1 {
            needles.add("", title);
        } else if !about.is_empty() {
            // A short title is an everyday word: it identifies this note only in a link to a file.
            needles.0.push(vec![about, FILE.to_owned()]);
        }
        needles
    }

    /// Returns the needles of one line without a key. A line too short to be distinctive only
    /// matches a line that says exactly that.
    pub fn of_line(words: &str) -> Self {
        let line = plain(words);
        let (letters, count) = measure(&line);
        match letters {
            0 => Self::default(),
            ENOUGH.. if count >= WORDS => Self(vec![vec![line]]),
            _ => Self(vec![vec![format!("{ALONE}{line}")]]),
        }
    }

    /// Returns the needles of words that a person wants removed from all conversations, wherever
    /// they occur in a line. Empty if there are too few letters, which would match nearly
    /// everything.
    pub fn of_words(words: &str) -> Self {
        let words = plain(words);
        if measure(&words).0 < LEAST { Self::default() } else { Self(vec![vec![words]]) }
    }

    /// Adds the needles of another query.
    pub fn join(&mut self, others: Self) {
        self.0.extend(others.0.into_iter().filter(|needle| !self.0.contains(needle)).collect::<Vec<_>>());
    }

    fn add(&mut self, about: &str, line: &str) {
        let (line, about) = (plain(line), plain(about));
        let (letters, count) = measure(&line);
        let alone = letters >= ENOUGH && count >= WORDS || about.is_empty() || about == line;
        let parts = if alone { vec![line] } else { vec![about, line] };
        if parts.iter().all(|part| !part.is_empty()) && !self.0.contains(&parts) {
            self.0.push(parts);
        }
    }

    /// Returns whether there is nothing to search for.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the words of a text in search form: lower case, one space between them, nothing
    /// else.
    pub fn words_of(text: &str) -> String {
        plain(text)
    }

    /// Returns whether two texts consist of the same words, however they are written.
    pub fn are_same_words(one: &str, other: &str) -> bool {
        !plain(one).is_empty() && plain(one) == plain(other)
    }

    /// Returns whether a needle occurs on a line of the text, or in a string if it is JSON.
    pub fn are_in(&self, text: &str) -> bool {
        strings(text).iter().any(|text| text.lines().any(|line| self.are_on(line)))
    }

    /// Returns whether a derived text says the same in other words: it contains half of the
    /// distinctive words of a needle.
    pub fn is_near(&self, text: &str) -> bool {
        let here = plain(text);
        self.are_in(text)
            || self.0.iter().any(|parts| {
                let telling: Vec<&str> = parts
                    .iter()
                    .flat_map(|part| part.trim_start_matches(ALONE).split(' '))
                    .filter(is_telling)
                    .collect();
                if telling.is_empty() {
                    // If all words are short, all of them are required.
                    return parts
                        .iter()
                        .all(|part| !part.starts_with(ALONE) && part.split(' ').all(|word| has(&here, word)));
                }
                let found = telling.iter().filter(|word| has(&here, word)).count();
                found.saturating_mul(2) >= telling.len()
            })
    }

    /// Returns the words by which a search would find the content, in any order and context.
    pub fn sought(&self) -> ParaphraseMatcher {
        ParaphraseMatcher::of(&self.0)
    }

    /// Returns the text without the lines that contain a needle; `None` if no line does.
    pub fn cut(&self, text: &str) -> Option<String> {
        without(text, |line| self.are_on(line))
    }

    /// Returns the text without the lines that say a needle and little else; `None` if no line
    /// does. A line that says more is a person's own text about other matters too, and is not
    /// removed with a fact.
    pub fn without_statement_lines(&self, text: &str) -> Option<String> {
        without(text, |line| self.are_stated_on(line))
    }

    /// Returns whether a line of the text says a needle and little else.
    pub fn are_stated_in(&self, text: &str) -> bool {
        text.lines().any(|line| self.are_stated_on(line))
    }

    fn are_stated_on(&self, line: &str) -> bool {
        let here = plain(line);
        // A fact states its subject before its value; the key's words are not counted.
        let key_and_value = KEY_ENDS.iter().find_map(|end| line.split_once(end));
        let spoken = || line.split_once(": ").filter(|(key, _)| key.split_whitespace().count() <= KEY_WORDS);
        let (own, has_key) = key_and_value.or_else(spoken).map_or((line, false), |(_, value)| (value, true));
        let words = plain(own).split(' ').filter(|word| !is_number(word)).count();
        self.0.iter().filter(|parts| parts.iter().all(|part| has(&here, part))).any(|parts| {
            let counted = if has_key { parts.last().map_or(&[][..], std::slice::from_ref) } else { &parts[..] };
            let said = counted.iter().flat_map(|part| part.split(' ')).filter(|word| !is_number(word)).count();
            words.saturating_sub(said) <= said.max(BESIDES)
        })
    }

    fn are_on(&self, line: &str) -> bool {
        let here = plain(line);
        !here.is_empty() && self.0.iter().any(|parts| parts.iter().all(|part| has(&here, part)))
    }
}

fn without(text: &str, gone: impl Fn(&str) -> bool) -> Option<String> {
    let kept: Vec<&str> = text.split_inclusive('\n').filter(|line| !gone(line)).collect();
    let kept = kept.concat();
    (kept.len() != text.len()).then_some(kept)
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_telling(word: &&str) -> bool {
    word.chars().count() >= TELLING || word.contains(|c: char| c.is_ascii_digit())
}

/// Returns whether a run of words contains another one; both are plain.
fn has(here: &str, part: &str) -> bool {
    match part.strip_prefix(ALONE) {
        // A date at the end of a line is not one of its words.
        Some(alone) => here.strip_prefix(alone).is_some_and(|rest| rest.is_empty() || is_day(rest)),
        None => format!(" {here} ").contains(&format!(" {part} ")),
    }
}

/// Returns whether the rest is a plain date: ` 2026 11 21`.
fn is_day(rest: &str) -> bool {
    let numbers: Vec<&str> = rest.trim_start().split(' ').collect();
    rest.starts_with(' ')
        && matches!(numbers[..], [year, month, day] if [year, month, day].map(str::len) == [4, 2, 2])
        && numbers.iter().all(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the text folded and in lower case, one space between words, nothing else.
fn plain(text: &str) -> String {
    let folded = fold(&text.to_lowercase());
    folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns the number of letters and words of a text.
fn measure(text: &str) -> (usize, usize) {
    let plain = plain(text);
    (plain.chars().filter(|c| *c != ' ').count(), plain.split(' ').filter(|word| !word.is_empty()).count())
}

/// Returns a line of front matter without its key, or a list entry without its bullet.
fn without_mark(line: &str) -> &str {
    let line = line.trim().trim_start_matches(['-', '*', '#', '>', ' ']);
    ["name:", "description:"]
        .iter()
        .find_map(|name| line.strip_prefix(name))
        .unwrap_or_else(|| if line.starts_with("type:") { "" } else { line })
}

/// Returns the strings of a JSON text; any other text as it is.
fn strings(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    gather(text, 0, &mut found);
    found
}

fn gather(text: &str, depth: usize, found: &mut Vec<String>) {
    let json = text.trim_start().starts_with(['{', '[']) && depth < DEEPEST;
    match json.then(|| serde_json::from_str(text)) {
        Some(Ok(value)) => gather_in(&value, depth.saturating_add(1), found),
        _ => found.push(text.to_owned()),
    }
}

fn gather_in(value: &serde_json::Value, depth: usize, found: &mut Vec<String>) {
    use serde_json::Value;
    match value {
        Value::String(text) => gather(text, depth, found),
        Value::Array(list) => list.iter().for_each(|value| gather_in(value, depth, found)),
        // Values that belong together, such as key and value of a fact or title and content of a
        // note, are also searched together.
        Value::Object(map) => {
            let plain: Vec<&str> = map.values().filter_map(Value::as_str).collect();
            found.push(super::one_line(&plain.join(" ")));
            map.values().for_each(|value| gather_in(value, depth, found));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_fact_is_found_however_it_is_written() {
        let needles = ErasureQuery::of_fact("wifi password", "Xylophon-Musik 7");
        for text in [
            "- **wifi password**: Xylophon-Musik 7 (2026-11-21)",
            "it is xylophon musik 7.",
            "XYLOPHON — MUSIK, 7!",
            r#"{"calls":[{"arguments":"{\"content\":\"first\\nXylophon-Musik 7\\nlast\"}"}]}"#,
        ] {
            assert!(needles.are_in(text), "{text}");
        }
        for text in ["", "xylophon", "Xylophon-Musik 70", "The wifi password is gone", r#"{"a": ["Musik 7"]}"#] {
            assert!(!needles.are_in(text), "{text}");
        }
    }

    #[test]
    fn what_is_short_is_looked_for_with_what_it_is_about() {
        let needles = ErasureQuery::of_fact("shoe size", "42");
        assert!(needles.are_in("- **shoe size**: 42") && needles.are_in("42 is my shoe size"));
        assert!(needles.are_in(r#"[{"key":"Shoe size","value":"42"}]"#));
        assert!(!needles.are_in("The answer is 42") && !needles.are_in("shoe size\n42"));
    }

    /// Proves: forgetting/forget
    #[test]
    fn a_line_without_a_key_is_found_by_its_words_and_a_short_one_only_alone() {
        let long = ErasureQuery::of_line("The spare key is under the third pot");
        assert!(long.are_in("- The spare key is under the third pot (2026-11-21)"));
        assert!(long.are_in("I said: the spare key is under the third pot!") && !long.are_in("the third pot"));
        let short = ErasureQuery::of_line("Tea");
        for gone in ["- tea (2026-11-21)", "* TEA", "tea."] {
            assert!(short.are_in(gone), "{gone}");
        }
        for kept in ["tea in the morning", "- **drink**: tea", "no tea", "- teapot", "- tea 2026 11", "- tea 3 of 12"] {
            assert!(!short.are_in(kept), "{kept}");
        }
        assert!(ErasureQuery::of_line(" ! ").is_empty());
    }

    #[test]
    fn a_note_is_known_by_its_lines() {
        let text = "---\nname: Garden gate\ndescription: how it opens\ntype: reference\n---\n\n# The gate\n- Turn the Quietschrad twice\nyes\n";
        let needles = ErasureQuery::of_note("Garden gate", text);
        assert!(needles.are_in("turn the quietschrad twice") && needles.are_in("Garden gate? Yes."));
        assert!(!needles.are_in("yes") && !needles.are_in("a reference") && !needles.are_in("turn it twice"));
    }

    #[test]
    fn only_the_lines_that_hold_it_are_cut() {
        let needles = ErasureQuery::of_fact("pet", "a tortoise called Emil");
        let text = "# Memory\r\n\r\n- **pet**: A tortoise, called EMIL\n- **car**: blue";
        assert_eq!(needles.cut(text).as_deref(), Some("# Memory\r\n\r\n- **car**: blue"));
        assert_eq!(needles.cut("- **car**: blue"), None);
    }

    /// Proves: forgetting/remains
    #[test]
    fn a_line_that_tells_more_is_not_taken_away_with_a_fact() {
        for (key, value, said) in [
            ("Wife", "Eva", "- **Wife**: Eva (preference, 2026-11-21)"),
            ("Wife", "Eva", "my wife is called Eva"),
            ("The code of the garden gate", "blue bird", "- **The code of the garden gate**: blue bird"),
            ("The code of the garden gate", "blue bird", "- **The code of the garden gate:** blue bird"),
            ("The code of the garden gate", "blue bird", "- [10:00] The code of the garden gate: blue bird"),
            ("shoe size", "42", "42 is my shoe size"),
            ("safe", "the spare key is under the third pot", "I said on Monday: the spare key is under the third pot!"),
        ] {
            assert!(ErasureQuery::of_fact(key, value).are_stated_in(said), "{said}");
        }
        for (key, value, told) in [
            ("Wife", "Eva", "Sunday we visited my wife's parents; Eva brought the cake recipe of grandmother."),
            ("Junk", "rubbish stuff", "We took the rubbish stuff to the tip and met Karl there, who is moving to Ulm."),
        ] {
            let needles = ErasureQuery::of_fact(key, value);
            assert!(needles.are_in(told) && !needles.are_stated_in(told), "{told}");
            assert_eq!(needles.without_statement_lines(told), None);
        }
    }

    #[test]
    fn what_grew_from_it_is_known_in_other_words_too() {
        let needles = ErasureQuery::of_fact("safe", "The code of the safe is 4711");
        assert!(needles.is_near("They told the code 4711") && !needles.is_near("They bought a safe"));
        assert!(!needles.are_in("They told the code 4711"));
    }

    #[test]
    fn what_has_only_short_words_is_near_where_all_of_them_stand() {
        let needles = ErasureQuery::of_fact("car", "blue");
        assert!(needles.is_near("My car is blue") && !needles.is_near("The sky is blue"));
    }

    #[test]
    fn words_are_found_anywhere_in_a_line_and_a_few_letters_are_no_words() {
        let needles = ErasureQuery::of_words("Hunter22 ");
        assert!(needles.are_in("ok: it is HUNTER22!") && !needles.are_in("hunter2 or hunter222"));
        assert!(ErasureQuery::of_words("tea").is_empty() && !ErasureQuery::of_words("tea 7").is_empty());
    }

    proptest! {
        #[test]
        fn after_a_cut_nothing_is_found(value in "\\PC{1,40}", text in "(?s).{0,200}") {
            let needles = ErasureQuery::of_fact("some key", &value);
            let whole = format!("{text}\n- **some key**: {value}\nend");
            let cut = needles.cut(&whole).unwrap_or(whole);
            prop_assert!(!cut.lines().any(|line| needles.are_on(line)));
        }

        #[test]
        fn no_text_is_too_strange(text in "(?s).{0,300}", key in ".{0,20}", value in ".{0,20}") {
            let needles = ErasureQuery::of_fact(&key, &value);
            let _ = (needles.are_in(&text), needles.is_near(&text), needles.cut(&text));
        }
    }

    #[test]
    fn a_word_of_everyday_talk_is_no_needle() {
        let needles = ErasureQuery::of_note(
            "Tea",
            "---\nname: \"Tea\"\ntype: \"fact\"\n---\n\n# Tea\n\nGreen, with two spoons of honey.\n- Rotterdam\n",
        );
        for kept in ["- **drink**: tea in the morning", "We met in Rotterdam.", "# Tea"] {
            assert!(!needles.are_in(kept), "{kept}");
        }
        for gone in ["- [Tea](tea.md): Green", "green, with two spoons of honey", "Tea from Rotterdam"] {
            assert!(needles.are_in(gone), "{gone}");
        }
    }
}
