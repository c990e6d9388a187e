//! Mentions: ranges of a text, in UTF-16 units, that stand for a party.
//!
//! A range covers a placeholder, for which clients display a name. Our own is removed, so that the
//! text reads as in a direct chat; another becomes a neutral word, since a name is chosen by its
//! owner and not by the sender. A range that lies outside the text, splits a character or overlaps
//! an earlier one replaces nothing; being mentioned depends on the party alone.

use serde_json::Value;

use crate::adapter::signal::envelope::SignalParty;
use crate::wording::channel::SOMEONE;

/// Text without placeholders.
pub(super) struct ResolvedText {
    pub text: String,
    /// True if we are mentioned.
    pub mentions_us: bool,
}

struct Mention {
    start: usize,
    end: usize,
    ours: bool,
}

/// Resolves the mentions of a text.
pub(super) fn read(text: &str, mentions: &[Value], us: &SignalParty) -> ResolvedText {
    let is_us = |mention: &Value| SignalParty::of(mention, ["uuid", "number", "name"]).is_same_as(us);
    let names_us = mentions.iter().any(is_us);
    if mentions.is_empty() {
        return ResolvedText { text: text.to_owned(), mentions_us: names_us };
    }
    let borders = borders(text);
    let border = |units: u64| borders.get(usize::try_from(units).ok()?).copied().flatten();
    let mut found: Vec<Mention> = mentions.iter().filter_map(|mention| located(mention, border, is_us)).collect();
    found.sort_by_key(|mention| mention.start);
    ResolvedText { text: replaced(text, &found), mentions_us: names_us }
}

/// Byte offset of each UTF-16 unit; `None` for the second half of a character.
fn borders(text: &str) -> Vec<Option<usize>> {
    let units = text.char_indices().flat_map(|(at, c)| [Some(at), None].into_iter().take(c.len_utf16()));
    units.chain([Some(text.len())]).collect()
}

fn located(mention: &Value, border: impl Fn(u64) -> Option<usize>, is_us: impl Fn(&Value) -> bool) -> Option<Mention> {
    let start = mention.get("start")?.as_u64()?;
    let length = mention.get("length")?.as_u64().filter(|length| *length > 0)?;
    Some(Mention { start: border(start)?, end: border(start.checked_add(length)?)?, ours: is_us(mention) })
}

fn replaced(text: &str, mentions: &[Mention]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = 0;
    for mention in mentions {
        let Some(before) = text.get(rest..mention.start) else { continue };
        out.push_str(before);
        rest = mention.end;
        if !mention.ours {
            out.push_str(SOMEONE);
        } else if text.get(rest..).is_some_and(|after| after.starts_with(' ')) {
            rest += 1;
        } else if out.ends_with(' ') {
            out.pop();
        }
    }
    out.push_str(text.get(rest..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const US: &str = "+12025550100";

    fn read_with(text: &str, ranges: &[(i64, i64, &str)]) -> ResolvedText {
        let mentions: Vec<Value> = ranges
            .iter()
            .map(|(start, length, number)| json!({"number": number, "start": start, "length": length}))
            .collect();
        read(text, &mentions, &SignalParty::from_name(US))
    }

    #[test]
    fn our_own_goes_with_one_space_and_others_become_a_word() {
        for (text, ranges, expected) in [
            ("\u{fffc} hello", &[(0, 1, US)][..], "hello"),
            ("hey \u{fffc} what", &[(4, 1, US)], "hey what"),
            ("hello \u{fffc}", &[(6, 1, US)], "hello"),
            ("hello \u{fffc}, you", &[(6, 1, US)], "hello, you"),
            ("\u{fffc}", &[(0, 1, US)], ""),
            ("\u{fffc}\u{fffc} x", &[(0, 1, US), (1, 1, US)], "x"),
            ("ask \u{fffc} and \u{fffc}", &[(10, 1, "+2"), (4, 1, "+3")], "ask @someone and @someone"),
            ("😀\u{fffc}!", &[(2, 1, "+2")], "😀@someone!"),
            ("Hi X!", &[(3, 1, "+2")], "Hi @someone!"),
            ("nobody \u{fffc}", &[], "nobody \u{fffc}"),
        ] {
            assert_eq!(read_with(text, ranges).text, expected, "{text}");
        }
    }

    #[test]
    fn a_wrong_range_covers_nothing() {
        for range in [(-1, 1), (0, 0), (0, -1), (1, 1), (0, 1), (5, 1), (0, 99), (i64::MAX, i64::MAX)] {
            let words = read_with("😀abc", &[(range.0, range.1, US)]);
            assert_eq!((words.text.as_str(), words.mentions_us), ("😀abc", true), "{range:?}");
        }
        assert_eq!(read_with("abcdef", &[(1, 3, "+2"), (2, 2, US)]).text, "a@someoneef");
        assert_eq!(
            read("abc", &[json!({"number": US, "start": "0", "length": null}), json!(3)], &SignalParty::from_name(US))
                .text,
            "abc"
        );
    }

    proptest! {
        /// For any ranges, only words of the text are left, in their order, and our neutral word.
        #[test]
        fn nothing_is_added_but_the_neutral_word(
            text in "[a-c \u{fffc}😀é]{0,30}",
            ranges in prop::collection::vec((-2i64..40, -2i64..12, prop::sample::select(vec![US, "+2"])), 0..6),
        ) {
            let words = read_with(&text, &ranges);
            let mut typed = text.chars();
            for kept in words.text.replace(SOMEONE, "").chars() {
                prop_assert!(typed.any(|c| c == kept), "{:?} of {:?}", words.text, text);
            }
            prop_assert_eq!(words.mentions_us, ranges.iter().any(|range| range.2 == US));
        }
    }
}
