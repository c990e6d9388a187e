//! Parser for searches typed in chat: flags before, between or after the words, and the words
//! exactly as typed.
//!
//! Phones turn two hyphens into one long dash and use curly quotation marks; both are accepted.
//! Text that looks like a flag but is none becomes a search word, so every query is valid; only a
//! known flag with an invalid value is an error. After `--` all text is words.

use crate::admin::search::{SearchKind, SearchQuery};

/// Default number of hits of a search in chat.
const HITS: usize = 8;
/// The flags that take a value.
const FLAGS: [&str; 9] = ["in", "agent", "section", "category", "since", "until", "context", "limit", "after"];
/// Dashes that phones substitute for two hyphens.
const LONG: [char; 2] = ['—', '–'];

/// Parses a query; `None` if there are no words, or a flag has an invalid value.
pub(super) fn read(line: &str) -> Option<SearchQuery> {
    let (mut query, mut rest) = (SearchQuery { limit: HITS, ..SearchQuery::of("") }, line.trim());
    while !rest.is_empty() {
        let begins = query.words.is_empty();
        if let Some(words) =
            rest.strip_prefix("--").or_else(|| rest.strip_prefix(LONG).filter(|_| begins)).and_then(ends_flags)
        {
            add(&mut query.words, words);
            break;
        }
        rest = match flag_of(rest) {
            Some((flag, after)) => match take(&mut query, flag, after) {
                Some(after) => after,
                // Among words, a long dash is itself a word.
                None if !begins && rest.starts_with(LONG) => take_words(&mut query.words, rest),
                None => return None,
            },
            None => take_words(&mut query.words, rest),
        };
    }
    Some(query).filter(|query| !query.words.is_empty())
}

/// The text after a `--` that stands alone.
fn ends_flags(after: &str) -> Option<&str> {
    (after.is_empty() || after.starts_with(char::is_whitespace)).then(|| after.trim_start())
}

/// The flag at the start of a line, and the text after it.
fn flag_of(line: &str) -> Option<(&str, &str)> {
    let dashed = line.strip_prefix("--").or_else(|| line.strip_prefix(LONG))?;
    let end = dashed.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(dashed.len());
    let (flag, after) = dashed.split_at_checked(end)?;
    let is_flag = (flag == "case" && !after.starts_with('=')) || FLAGS.contains(&flag);
    is_flag.then_some((flag, after))
}

/// Applies a flag, and returns the text after it; `None` if its value is invalid.
fn take<'l>(query: &mut SearchQuery, flag: &str, after: &'l str) -> Option<&'l str> {
    if flag == "case" {
        query.case = true;
        return Some(after.trim_start());
    }
    let (value, after) = value_of(after.strip_prefix('=').unwrap_or(after).trim_start());
    if flag == "in" {
        let kinds: Option<Vec<SearchKind>> = value.to_lowercase().split(',').map(SearchKind::parse).collect();
        query.kinds.extend(kinds?);
    } else {
        query.set(flag, value)?;
    }
    Some(after)
}

/// Takes words unchanged up to a possible flag, and returns the text after them.
fn take_words<'l>(query: &mut String, line: &'l str) -> &'l str {
    let begins = |(at, dash): (usize, char)| {
        let behind = line.get(..at).is_some_and(|before| before.ends_with(char::is_whitespace));
        behind && (LONG.contains(&dash) || line.get(at..).is_some_and(|rest| rest.starts_with("--")))
    };
    let end = line.char_indices().find(|place| begins(*place)).map_or(line.len(), |(at, _)| at);
    let (words, rest) = line.split_at_checked(end).unwrap_or((line, ""));
    add(query, words.trim_end());
    rest
}

fn add(query: &mut String, words: &str) {
    if !query.is_empty() && !words.is_empty() {
        query.push(' ');
    }
    query.push_str(words);
}

/// A word or quoted text, and the text after it.
fn value_of(line: &str) -> (&str, &str) {
    const MARKS: [char; 4] = ['"', '“', '”', '„'];
    let quoted = line.strip_prefix(MARKS).and_then(|inner| inner.split_once(MARKS));
    let (value, after) = quoted.or_else(|| line.split_once(char::is_whitespace)).unwrap_or((line, ""));
    (value, after.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(query: &str) -> SearchQuery {
        SearchQuery { limit: HITS, ..SearchQuery::of(query) }
    }

    /// Promise (search/flags): A chat search takes flags before, between and after the words, and
    /// several kinds of content at once; facts show their day, and skills are found by word forms
    /// but not by similar beginnings.
    ///
    /// Proves: search/all-agents
    #[test]
    fn lines_and_what_they_mean() {
        let notes = |query: &str| SearchQuery { kinds: vec![SearchKind::Note], ..of(query) };
        let section = Some("Coding Conventions".to_owned());
        for (line, query) in [
            ("red  shoes ", of("red  shoes")),
            ("--in notes red", notes("red")),
            ("—in Notes red", notes("red")),
            (
                "--in notes --in files --case BEM",
                SearchQuery { kinds: vec![SearchKind::Note, SearchKind::File], case: true, ..of("BEM") },
            ),
            ("--section \"Coding Conventions\" BEM", SearchQuery { section: section.clone(), ..of("BEM") }),
            ("–section “Coding Conventions”  BEM", SearchQuery { section, ..of("BEM") }),
            (
                "--agent reviewer --context 2 BEM",
                SearchQuery { agent: Some("reviewer".to_owned()), context: 2, ..of("BEM") },
            ),
            ("--limit 3 -- --case", SearchQuery { limit: 3, ..of("--case") }),
            ("--verbose builds", of("--verbose builds")),
            ("red  shoes --case", SearchQuery { case: true, ..of("red  shoes") }),
            ("deploy --context 2", SearchQuery { context: 2, ..of("deploy") }),
            ("red --in notes  blue --limit=3", SearchQuery { limit: 3, ..notes("red blue") }),
            ("deploy —context 2", SearchQuery { context: 2, ..of("deploy") }),
            ("--in notes,Files red", SearchQuery { kinds: vec![SearchKind::Note, SearchKind::File], ..of("red") }),
            ("red --in=notes,files", SearchQuery { kinds: vec![SearchKind::Note, SearchKind::File], ..of("red") }),
            ("tea — green", of("tea — green")),
            ("tea —in summer", of("tea —in summer")),
            ("tea -- --case", of("tea --case")),
            ("a--case", of("a--case")),
            ("red --verbose", of("red --verbose")),
        ] {
            assert_eq!(read(line), Some(query), "{line}");
        }
        for line in [
            "",
            "--case",
            "--in notes",
            "red --in",
            "red --context two",
            "--in notes,dreams red",
            "--in notes, files",
            "red --in summer",
            "--in dreams red",
            "--context x red",
            "--limit",
            "--section \"a b\"",
            "--",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_line_is_too_strange(line in "(--|—|in |notes|case|\"|“|[a-z ]|\\PC){0,20}") {
            if let Some(query) = read(&line) {
                prop_assert!(query.words.split_whitespace().all(|word| line.contains(word)) && !query.words.is_empty(), "{:?}", query);
            }
        }
    }
}
