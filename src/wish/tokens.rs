//! Words of a message with their places, folded so that capitals and accents make no difference.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A word, a number, or a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    /// Folded: `Mañana` is `manana`, `a.m.` is `am`.
    pub word: String,
    /// Place in the message.
    pub place: Range<usize>,
}

impl Token {
    pub fn is_mark(&self) -> bool {
        !self.word.chars().all(char::is_alphanumeric)
    }
}

/// Kinds of characters that do not share a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letter,
    Digit,
    Space,
    Mark,
}

fn kind(c: char) -> Kind {
    match c {
        _ if c.is_whitespace() => Kind::Space,
        _ if c.is_numeric() => Kind::Digit,
        // An apostrophe within a word is left out of it.
        '\'' | '’' => Kind::Letter,
        _ if c.is_alphabetic() || is_combining_mark(c) => Kind::Letter,
        _ => Kind::Mark,
    }
}

/// Returns the tokens of a message.
pub(super) fn tokens(message: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut last = Kind::Space;
    for (at, c) in message.char_indices() {
        let (is, end) = (kind(c), at + c.len_utf8());
        match tokens.last_mut() {
            Some(token) if is == last && matches!(is, Kind::Letter | Kind::Digit) => token.place.end = end,
            _ if is == Kind::Space => {}
            _ => tokens.push(Token { word: String::new(), place: at..end }),
        }
        last = is;
    }
    for token in &mut tokens {
        token.word = fold(message.get(token.place.clone()).unwrap_or_default());
    }
    with_halves_of_the_day(tokens)
}

/// Returns a word in lower case, without accents and apostrophes.
pub(super) fn fold(word: &str) -> String {
    let plain = word.nfd().filter(|c| !is_combining_mark(*c) && !matches!(c, '\'' | '’'));
    let plain: String = plain.collect::<String>().to_lowercase();
    plain.replace('ß', "ss")
}

/// Joins `a.m.` and `p. m.` to one word.
fn with_halves_of_the_day(tokens: Vec<Token>) -> Vec<Token> {
    let mut joined: Vec<Token> = Vec::new();
    let mut rest = tokens.as_slice();
    while let Some((first, after)) = rest.split_first() {
        let words: Vec<&str> = rest.iter().take(4).map(|token| token.word.as_str()).collect();
        let half = match words.as_slice() {
            ["a", ".", "m", ".", ..] => Some(("am", 4)),
            ["p", ".", "m", ".", ..] => Some(("pm", 4)),
            ["a", ".", "m", ..] => Some(("am", 3)),
            ["p", ".", "m", ..] => Some(("pm", 3)),
            _ => None,
        };
        let Some((word, length)) = half else {
            joined.push(first.clone());
            rest = after;
            continue;
        };
        let end = rest.get(length - 1).map_or(first.place.end, |token| token.place.end);
        joined.push(Token { word: word.to_owned(), place: first.place.start..end });
        rest = rest.get(length..).unwrap_or_default();
    }
    joined
}
