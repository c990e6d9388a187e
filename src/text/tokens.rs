//! Whole words of a text as a name is looked up in it: exactly as written, but for the case.
//!
//! A token ends at white space, quotes, brackets, commas and semicolons. It is never searched in
//! parts, so `C0ABC9` does not stand in a text with `C0ABC99`, and letters of another script that
//! look the same are other letters. Punctuation after a word, or around it for emphasis, is left
//! out of the text, never of the name.

use std::collections::HashMap;

/// Maximum number of tokens of a name that is looked up.
const LONGEST_NAME: usize = 32;

/// The tokens of a text.
#[derive(Debug, Clone, Default)]
pub struct Tokens {
    /// Each token as written and without the punctuation around it, in order.
    all: Vec<[String; 2]>,
    /// Numbers of the tokens that read so.
    places: HashMap<String, Vec<usize>>,
}

impl Tokens {
    /// Splits a text.
    pub fn of(text: &str) -> Self {
        let bare = |token: &str| {
            let end = token.trim_end_matches(|c: char| is_emphasis(c) || matches!(c, '.' | ':' | '!' | '?' | '…'));
            end.trim_start_matches(is_emphasis).to_owned()
        };
        let mut tokens = Self::default();
        for (number, token) in split(text).enumerate() {
            let forms = [bare(&token), token];
            for form in &forms {
                tokens.places.entry(form.clone()).or_default().push(number);
            }
            tokens.all.push(forms);
        }
        tokens
    }

    /// Returns whether a name stands in the text, token by token. One without a letter or digit
    /// never does.
    pub fn hold(&self, name: &str) -> bool {
        let name: Vec<String> = split(name).take(LONGEST_NAME + 1).collect();
        let is_name = name.len() <= LONGEST_NAME && name.iter().any(|token| token.contains(char::is_alphanumeric));
        let Some(places) = name.first().filter(|_| is_name).and_then(|first| self.places.get(first)) else {
            return false;
        };
        let stands_at = |place: &usize| {
            let found = self.all.iter().skip(*place).take(name.len());
            found.len() == name.len() && found.zip(&name).all(|(forms, token)| forms.contains(token))
        };
        places.iter().any(stands_at)
    }

    /// Returns whether each token of some words stands in one of these texts.
    pub fn hold_each_of(texts: &[Self], words: &str) -> bool {
        let stands = |token: &String| texts.iter().any(|text| text.places.contains_key(token));
        Self::of(words).all.iter().all(|forms| forms.iter().any(stands))
    }
}

fn split(text: &str) -> impl Iterator<Item = String> {
    let ends = |c: char| c.is_whitespace() || "()[]{}<>\"`|,;“”„«»、。，；「」".contains(c);
    text.split(ends).filter(|token| !token.is_empty()).map(|token| token.chars().map(in_lower_case).collect())
}

fn is_emphasis(c: char) -> bool {
    matches!(c, '*' | '_' | '\'' | '’')
}

/// Returns a letter in lower case, unless that is a letter of another alphabet: the Kelvin sign is
/// no `k`.
fn in_lower_case(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(lower), None) if lower.is_ascii() == c.is_ascii() => lower,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_in_a_text_as_a_whole_and_exactly() {
        let text = "Post to #results, or to **C0ABC99**. Ask `Ben Miller` (ben@tea.example)!\n{\"chat\": -100123, \"to\":\"@tea\"}";
        for name in ["#results", "c0abc99", "Ben Miller", "BEN@tea.example", "-100123", "@tea", "or to", "Ask Ben"] {
            assert!(Tokens::of(text).hold(name), "{name}");
        }
        for name in [
            "",
            " ",
            "*",
            "{",
            "C0ABC9",
            "0ABC99",
            "C0ABC999",
            "results",
            "#result",
            "ben@tea",
            "tea.example",
            "100123",
            "Ben",
            "Miller Ben",
            "tea",
            "С0ABC99",
            "C0ABC99.",
            "@tea/x",
            "b\u{200b}en@tea.example",
            "ｂen@tea.example",
        ] {
            let stands = name == "Ben";
            assert_eq!(Tokens::of(text).hold(name), stands, "{name:?}");
        }
        assert!(!Tokens::of("ask K").hold("\u{212a}") && Tokens::of("frag MÜLLER").hold("Müller"));
    }

    #[test]
    fn a_long_name_is_not_looked_up_and_a_long_text_costs_what_it_is_long() {
        let text = Tokens::of(&"a ".repeat(100_000));
        assert!(text.hold(&"a ".repeat(LONGEST_NAME)) && !text.hold(&"a ".repeat(LONGEST_NAME + 1)));
        assert!(Tokens::hold_each_of(&[text], &"a ".repeat(100_000)));
    }

    #[test]
    fn words_stand_in_several_texts_one_by_one() {
        let texts = ["Weather in Graz?", "and tomorrow"].map(Tokens::of);
        assert!(Tokens::hold_each_of(&texts, "graz: weather TOMORROW") && Tokens::hold_each_of(&texts, ""));
        assert!(!Tokens::hold_each_of(&texts, "weather in Graz salary"));
    }
}
