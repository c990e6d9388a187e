//! A search as it is typed in a chat: flags first, if any, and then the words just as they stand.
//!
//! Telephones make one long dash of two short ones and bend quotation marks; both are taken for what was meant. What begins like a flag and is none is a
//! word to look for, so no question is too strange; only a flag with a value that it does not take is a slip.

use super::super::search::Sought;

/// How many hits a search in chat shows if nobody says.
const HITS: usize = 8;
/// The flags that take a value.
const FLAGS: [&str; 5] = ["in", "agent", "section", "context", "limit"];

/// What is looked for, and where; `None` if there are no words, or a flag has no value that it takes.
pub(super) fn read(line: &str) -> Option<Sought> {
    let (mut sought, mut rest) = (Sought { limit: HITS, ..Sought::of("") }, line.trim());
    while let Some((flag, after)) = flag_of(rest) {
        rest = match flag {
            "" => after,
            "case" => {
                sought.case = true;
                after
            }
            "in" => {
                let (kind, after) = value_of(after);
                sought.set("in", &kind.to_lowercase())?;
                after
            }
            flag => {
                let (value, after) = value_of(after);
                sought.set(flag, value)?;
                after
            }
        };
        if flag.is_empty() {
            break;
        }
    }
    sought.query = rest.to_owned();
    Some(sought).filter(|sought| !sought.query.is_empty())
}

/// The flag that a line begins with, and what follows it; a blank one ends the flags.
fn flag_of(line: &str) -> Option<(&str, &str)> {
    let dashed = ["--", "—", "–"].iter().find_map(|dash| line.strip_prefix(dash))?;
    let (flag, after) = dashed.split_once(char::is_whitespace).unwrap_or((dashed, ""));
    let is_flag = flag.is_empty() || flag == "case" || FLAGS.contains(&flag);
    is_flag.then(|| (flag, after.trim_start()))
}

/// A word, or what stands between quotation marks, and what follows it.
fn value_of(line: &str) -> (&str, &str) {
    const MARKS: [char; 4] = ['"', '“', '”', '„'];
    let quoted = line.strip_prefix(MARKS).and_then(|inner| inner.split_once(MARKS));
    let (value, after) = quoted.or_else(|| line.split_once(char::is_whitespace)).unwrap_or((line, ""));
    (value, after.trim_start())
}

#[cfg(test)]
mod tests {
    use super::super::super::search::Kind;
    use super::*;
    use proptest::prelude::*;

    fn of(query: &str) -> Sought {
        Sought { limit: HITS, ..Sought::of(query) }
    }

    #[test]
    fn lines_and_what_they_mean() {
        let notes = |query: &str| Sought { kinds: vec![Kind::Note], ..of(query) };
        let section = Some("Coding Conventions".to_owned());
        for (line, sought) in [
            ("red  shoes ", of("red  shoes")),
            ("--in notes red", notes("red")),
            ("—in Notes red", notes("red")),
            (
                "--in notes --in files --case BEM",
                Sought { kinds: vec![Kind::Note, Kind::File], case: true, ..of("BEM") },
            ),
            ("--section \"Coding Conventions\" BEM", Sought { section: section.clone(), ..of("BEM") }),
            ("–section “Coding Conventions”  BEM", Sought { section, ..of("BEM") }),
            (
                "--agent reviewer --context 2 BEM",
                Sought { agent: Some("reviewer".to_owned()), context: 2, ..of("BEM") },
            ),
            ("--limit 3 -- --case", Sought { limit: 3, ..of("--case") }),
            ("--verbose builds", of("--verbose builds")),
            ("red --case", of("red --case")),
        ] {
            assert_eq!(read(line), Some(sought), "{line}");
        }
        for line in
            ["", "--case", "--in notes", "--in dreams red", "--context x red", "--limit", "--section \"a b\"", "--"]
        {
            assert_eq!(read(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_line_is_too_strange(line in "(--|—|in |notes|case|\"|“|[a-z ]|\\PC){0,20}") {
            if let Some(sought) = read(&line) {
                prop_assert!(!sought.query.is_empty() && line.contains(&sought.query));
            }
        }
    }
}
