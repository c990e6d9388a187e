//! What a person asks for in a message, as the program alone reads it: words to be reminded of and
//! a time, or words to note.
//!
//! Pure, without a model. A message holds at most one wish: a request form ("remind me to", "merk
//! dir, dass", "apunta que"), one span of the message, and for a reminder a time. If there is
//! anything else in it (a condition, a negation, a quotation, a second wish) there is none, so
//! that a call which equals the wish is one that its person has typed. In doubt there is none: then
//! the person is asked.

mod forms; // how people ask
mod pattern; // words with places for numbers, days and months
mod spoken_time;
mod tokens;
mod vocabulary; // how people say times

use std::ops::Range;

use chrono::NaiveDateTime;

use crate::id::MessageId;
use crate::trust::Text;
use forms::{Asks, BEFORE_TIME, EXCLUDED, FILLERS, FORMS, Form, LINKERS, THANKS};
use spoken_time::Spoken;
use tokens::{Token, tokens};

/// A wish in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// Place of the words in the message.
    pub words: Range<usize>,
    /// Time of a reminder, in a form that `time::When` or `time::Cron` reads; `None` for words to note.
    pub when: Option<String>,
}

/// A wish that a person typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedWish {
    /// Her words, as she typed them.
    pub words: Text,
    /// Time of a reminder, in a form that `time::When` or `time::Cron` reads; `None` for words to note.
    pub when: Option<String>,
    /// Her message.
    pub message: MessageId,
}

impl TypedWish {
    /// Returns true if these are its words, but for capitals, punctuation and a German "zu": `das Rad
    /// abzuholen` is `Rad abholen`.
    pub fn has_words(&self, words: &str) -> bool {
        let (typed, called) = (plain_words(self.words.open().0), plain_words(words));
        typed == called || without_zu(&typed) == called || typed == without_zu(&called)
    }
}

impl Wish {
    /// Returns the wish in a message that was typed at this local time.
    pub fn in_message(message: &str, now: NaiveDateTime) -> Option<Self> {
        if message.len() > MAX_LENGTH || message.contains(QUOTES) {
            return None;
        }
        let tokens = tokens(message);
        let (begins, form) = the_form(&tokens)?;
        let head = sentence(tokens.get(..begins)?);
        let body = without_thanks(tokens.get(begins + form.begin.split(' ').count()..)?);
        let (before, told) = before_form(head)?;
        match form.asks {
            Asks::Note if points_elsewhere(body) => None,
            Asks::Note => Self::found(told.unwrap_or(without_linkers(body)), form.asks, None),
            Asks::Remind if is_excluded(body, form.later) => None,
            Asks::Remind => {
                let (body, times) = without_times(body, form)?;
                let words = if body.is_empty() { told? } else { body };
                let mut all = before.into_iter().chain(times);
                let first = all.next()?;
                let time = all.try_fold(first, Spoken::join)?;
                Self::found(words, form.asks, Some(time.meaning(now)?))
            }
        }
    }

    fn found(words: &[Token], asks: Asks, when: Option<String>) -> Option<Self> {
        let words = trimmed(words);
        let (first, last) = words.first().zip(words.last())?;
        let is_wish = !words.iter().all(Token::is_mark) && !is_two(words, asks);
        is_wish.then_some(Self { words: first.place.start..last.place.end, when })
    }
}

/// Returns the words of a text alone, without capitals, accents and marks and without an article at
/// the beginning, for comparison.
pub fn plain_words(text: &str) -> String {
    let words: Vec<String> =
        tokens(text).into_iter().filter(|token| !token.is_mark()).map(|token| token.word).collect();
    match words.split_first() {
        Some((first, rest)) if !rest.is_empty() && vocabulary::ARTICLES.contains(&first.as_str()) => rest.join(" "),
        _ => words.join(" "),
    }
}

/// Returns the words with the German infinitive at their end without its "zu".
fn without_zu(plain: &str) -> String {
    let Some((before, last)) = plain.rsplit_once(' ').filter(|(_, last)| last.ends_with('n')) else {
        return plain.to_owned();
    };
    if let Some(before) = before.strip_suffix(" zu") {
        return format!("{before} {last}");
    }
    let verb = vocabulary::SEPARABLE.iter().find_map(|prefix| {
        let verb = last.strip_prefix(prefix)?.strip_prefix("zu")?;
        Some(format!("{before} {prefix}{verb}"))
    });
    verb.unwrap_or_else(|| plain.to_owned())
}

/// Returns the meaning of a time as people say it, in a form that `time::When` or `time::Cron` reads.
pub fn spoken_time(text: &str, now: NaiveDateTime) -> Option<String> {
    let tokens = tokens(text);
    let (spoken, taken) = Spoken::read(&tokens)?;
    (taken == tokens.len()).then(|| spoken.meaning(now)).flatten()
}

/// Returns the only request form in a message, and its place.
fn the_form(tokens: &[Token]) -> Option<(usize, &'static Form)> {
    let mut found: Vec<(usize, &Form, usize)> = Vec::new();
    for at in 0..tokens.len() {
        let rest = tokens.get(at..)?;
        let fits = |form: &Form| {
            let (_, taken) = pattern::matched(form.begin, rest)?;
            let has_later =
                |from: usize| pattern::matched(form.later, tokens.get(from..).unwrap_or_default()).is_some();
            (form.later.is_empty() || (at + taken..tokens.len()).any(has_later)).then_some(taken)
        };
        let here = FORMS.iter().filter_map(|form| Some((at, form, fits(form)?)));
        let Some(form) = here.max_by_key(|(_, _, taken)| *taken) else { continue };
        let is_within = found.last().is_some_and(|(from, _, taken)| at < from + taken);
        // `kannst du mich … daran erinnern` is one.
        let later = found.first().map_or("", |(_, first, _)| first.later);
        let is_of_first = form.1.begin.split(' ').any(|word| later.split(' ').any(|part| part == word));
        if !is_within && !is_of_first {
            found.push(form);
        }
    }
    let [(at, form, _)] = found[..] else { return None };
    Some((at, form))
}

/// Returns the last sentence of these tokens.
fn sentence(tokens: &[Token]) -> &[Token] {
    let ends = |at: usize| {
        let word = |at: Option<usize>| at.and_then(|at| tokens.get(at)).map_or("", |token| token.word.as_str());
        match word(Some(at)) {
            "!" | "?" | ";" | "…" | ")" => true,
            // `3. Dezember`, `9.30`
            "." => !word(at.checked_sub(1)).bytes().all(|byte| byte.is_ascii_digit()),
            _ => false,
        }
    };
    let from = (0..tokens.len()).rev().find(|at| ends(*at)).map_or(0, |at| at + 1);
    tokens.get(from..).unwrap_or_default()
}

/// Returns true if there is a word that makes more of a message than a wish; those of a form are none.
fn is_excluded(tokens: &[Token], later: &str) -> bool {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.word.as_str());
    let is_of_form = |at: usize| later.split(' ').any(|part| part == word(at));
    (0..tokens.len()).any(|at| {
        let rest = tokens.get(at..).unwrap_or_default();
        // `no. 12`
        let is_number = word(at) == "no" && word(at + 1) == "." && is_digits(word(at + 2));
        !is_number && !is_of_form(at) && EXCLUDED.iter().any(|words| pattern::matched(words, rest).is_some())
    })
}

/// Returns the time before a request form, and the words that it is about if they stand there:
/// `water the plants - remind me at 6`. `None` if the form does not begin what it stands in.
fn before_form(head: &[Token]) -> Option<(Option<Spoken>, Option<&[Token]>)> {
    if is_excluded(head, "") {
        return None;
    }
    if let Some((dash, told)) = head.split_last()
        && matches!(dash.word.as_str(), "-" | "–")
        && !told.is_empty()
    {
        return Some((None, Some(told)));
    }
    let (mut rest, mut time) = (head, None);
    while let Some(token) = rest.first() {
        if let Some((spoken, taken)) = Spoken::read(rest).filter(|(spoken, _)| time.is_none() && spoken.is_clear()) {
            time = Some(spoken);
            rest = rest.get(taken..)?;
        } else if token.is_mark() || FILLERS.contains(&token.word.as_str()) {
            rest = rest.get(1..)?;
        } else {
            return None;
        }
    }
    Some((time, None))
}

/// Returns true for `that`, `das nicht`, `eso`: what is to be noted stands somewhere else.
fn points_elsewhere(body: &[Token]) -> bool {
    let word = |at: usize| body.get(at).map_or("", |token| token.word.as_str());
    let is_pointing = matches!(word(0), "that" | "this" | "it" | "das" | "es" | "eso" | "esto");
    is_pointing && (body.len() == 1 || matches!(word(1), "," | "." | "not" | "nicht" | "no"))
}

fn is_digits(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns what a form is about without the times before and behind it; `None` if the form has
/// words further on that are not there.
fn without_times<'a>(body: &'a [Token], form: &Form) -> Option<(&'a [Token], Vec<Spoken>)> {
    let (mut rest, mut times) = (body, Vec::new());
    if !form.later.is_empty() {
        let length = form.later.split(' ').count();
        let at =
            (0..rest.len()).find(|at| pattern::matched(form.later, rest.get(*at..).unwrap_or_default()).is_some())?;
        if at + length == rest.len() {
            rest = rest.get(..at)?;
        } else {
            // Before what it is about, there is only the time.
            let (lead, before) = after_times(rest.get(..at)?);
            if !lead.is_empty() {
                return None;
            }
            times = before;
            rest = rest.get(at + length..)?;
        }
    }
    let (rest, before) = after_times(rest);
    let (rest, last) = time_at_end(without_thanks(rest));
    times.extend(before.into_iter().chain(last));
    Some((rest, times))
}

/// Takes the times and the words that only lead to them off the beginning.
fn after_times(mut tokens: &[Token]) -> (&[Token], Vec<Spoken>) {
    let mut times = Vec::new();
    loop {
        let taken = match Spoken::read(tokens) {
            Some((spoken, taken)) => {
                times.push(spoken);
                taken
            }
            None => usize::from(tokens.first().is_some_and(|first| LINKERS.contains(&first.word.as_str()))),
        };
        match tokens.get(taken..) {
            Some(rest) if taken > 0 => tokens = rest,
            _ => return (tokens, times),
        }
    }
}

fn without_thanks(mut tokens: &[Token]) -> &[Token] {
    while let Some((last, rest)) = tokens.split_last() {
        let closes = matches!(last.word.as_str(), ")" | "]" | "%" | "°" | "€" | "$" | "£");
        let lengths = THANKS.iter().filter_map(|words| {
            let length = words.split(' ').count();
            let end = tokens.get(tokens.len().checked_sub(length)?..)?;
            pattern::matched(words, end).map(|_| length)
        });
        let phrase = lengths.max();
        tokens = match phrase {
            Some(length) => tokens.get(..tokens.len() - length).unwrap_or_default(),
            None if last.is_mark() && !closes => rest,
            None => break,
        };
    }
    tokens
}

fn without_linkers(mut tokens: &[Token]) -> &[Token] {
    while let Some((first, rest)) = tokens.split_first() {
        if !LINKERS.contains(&first.word.as_str()) {
            break;
        }
        tokens = rest;
    }
    tokens
}

fn trimmed(tokens: &[Token]) -> &[Token] {
    let opens = |token: &Token| matches!(token.word.as_str(), "," | ":" | "." | "-" | "–" | ";" | "!" | "?");
    let from = tokens.iter().take_while(|token| opens(token)).count();
    without_thanks(tokens.get(from..).unwrap_or_default())
}

/// Takes the longest time expression off the end. Words that only lead to it go with it.
fn time_at_end(tokens: &[Token]) -> (&[Token], Option<Spoken>) {
    for at in 1..tokens.len() {
        let rest = tokens.get(at..).unwrap_or_default();
        if let Some((spoken, taken)) = Spoken::read(rest)
            && taken == rest.len()
        {
            let mut words = tokens.get(..at).unwrap_or_default();
            while let Some((last, before)) = words.split_last() {
                if !BEFORE_TIME.contains(&last.word.as_str()) || before.is_empty() {
                    break;
                }
                words = before;
            }
            return (words, Some(spoken));
        }
    }
    (tokens, None)
}

/// Returns true if the words hold more than one thing: a further sentence, or a further time.
fn is_two(words: &[Token], asks: Asks) -> bool {
    let text = |at: usize| words.get(at).map_or("", |token| token.word.as_str());
    let ends_sentence = |at: usize| {
        // `Dr. Lang`, `z.B.`, `3.5`: a short word before, or a number behind.
        let is_short = at.checked_sub(1).is_some_and(|before| text(before).chars().count() <= 3);
        match text(at) {
            "!" | "?" | ";" => true,
            "." => !is_short && !is_digits(text(at + 1)),
            _ => false,
        }
    };
    let has_clock = |at: usize| {
        let spoken = words.get(at..).and_then(Spoken::read);
        spoken.is_some_and(|(spoken, _)| spoken.has_clock())
    };
    (0..words.len()).any(|at| ends_sentence(at) || asks == Asks::Remind && has_clock(at))
}

/// Longest message in bytes that is read: a longer one says more than a wish.
const MAX_LENGTH: usize = 1_000;

/// Marks of a quotation, or of text that is not meant as words.
const QUOTES: [char; 14] = ['"', '“', '”', '„', '«', '»', '‹', '›', '‘', '`', '>', '<', '|', '\n'];

#[cfg(test)]
mod tests;
