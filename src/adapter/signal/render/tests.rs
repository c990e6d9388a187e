//! Tests of rendering for Signal: golden cases, and properties of any text.

use std::sync::Arc;

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::*;
use crate::markdown::{is_blank, strip_control};
use crate::trust::{Label, Labelled, Scope, Source};

/// Text of a range, or `None` if its ends are not at characters.
fn covered(text: &str, range: StyleRange) -> Option<String> {
    let all: Vec<u16> = text.encode_utf16().collect();
    let within = all.get(range.start..range.start.checked_add(range.length)?)?;
    String::from_utf16(within).ok().filter(|within| !within.is_empty())
}

/// Text of the only part, with each range as `style=words`.
fn one(markdown: &str) -> (String, Vec<String>) {
    let [part] = checked(markdown, LIMIT).unwrap().try_into().unwrap();
    let looks = part.styles.iter().map(|range| {
        let style = range.to_string().rsplit(':').next().unwrap().to_lowercase();
        format!("{style}={}", covered(&part.text, *range).unwrap())
    });
    (part.text.clone(), looks.collect())
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '\u{2800}').collect()
}

/// Renders a text and checks the properties that hold for any text.
fn checked(markdown: &str, limit: usize) -> Result<Vec<StyledText>, String> {
    let parts = styled(markdown, limit);
    for part in &parts {
        if part.text.len() > limit || is_blank(&part.text) {
            return Err(format!("{} bytes of {limit}: {:?}", part.text.len(), part.text));
        }
        for (at, range) in part.styles.iter().enumerate() {
            covered(&part.text, *range).ok_or(format!("{range} of {:?}", part.text))?;
            let overlaps = |other: &StyleRange| other.style == range.style && other.start <= range.start + range.length;
            if part.styles.iter().skip(at + 1).any(overlaps) {
                return Err(format!("{range} is not the first of {:?}", part.styles));
            }
        }
    }
    let uncut = styled(markdown, usize::MAX / 8);
    let [joined, uncut] = [&parts, &uncut].map(|parts| parts.iter().map(|part| part.text.as_str()).collect::<String>());
    if squeezed(&joined) != squeezed(&uncut) {
        return Err(format!("Joined {joined:?}, uncut {uncut:?}"));
    }
    if !cuts_between_graphemes(&parts, &uncut, limit) {
        return Err("A grapheme was cut".to_owned());
    }
    Ok(parts)
}

fn cuts_between_graphemes(parts: &[StyledText], uncut: &str, limit: usize) -> bool {
    if uncut.graphemes(true).any(|grapheme| grapheme.len() > limit) {
        return true;
    }
    let bounds: std::collections::HashSet<usize> = uncut.grapheme_indices(true).map(|(at, _)| at).collect();
    let mut from = 0;
    parts.iter().all(|part| {
        let start = from + uncut.get(from..).unwrap().find(&part.text).unwrap();
        from = start + part.text.len();
        bounds.contains(&start)
    })
}

fn outbound(markdown: &str, label: Label) -> Outbound {
    Outbound { text: Labelled::new(Arc::from(markdown), label, Scope::Shared), buttons: Vec::new(), unanswered: false }
}

#[test]
fn commands_stand_in_place_of_buttons_that_the_text_does_not_name() {
    let shown = |text: &str, buttons: &[(&str, &str)]| {
        let buttons = buttons.iter().map(|(title, command)| ((*title).to_owned(), (*command).to_owned())).collect();
        let parts = render(&Outbound { buttons, ..outbound(text, Label::trusted()) });
        parts.into_iter().map(|part| part.plain).collect::<String>()
    };
    for (text, buttons, plain) in [
        (
            "Eve wrote.",
            &[("Let in", "/people admit 1"), ("Ignore", "/people ignore 1")][..],
            "Eve wrote.\n\n• Let in: /people admit 1 NAME\n• Ignore: /people ignore 1",
        ),
        ("It changed.", &[("Undo", "/rollback tea 2")], "It changed.\n\n• Undo: /rollback tea 2"),
        ("May I? Send /yes 3.", &[("Yes", "/yes 3"), ("No", "/no 3")], "May I? Send /yes 3."),
        ("Reminder: tea", &[("Done", "/reminders done 1"), ("+1 h", "/reminders later 1")], "Reminder: tea"),
    ] {
        assert_eq!(shown(text, buttons), plain);
    }
}

#[test]
fn blocks_become_plain_text_with_looks() {
    let table: &[(&str, &str, &[&str])] = &[
        ("# Head *x*\n\ntext", "Head x\n\ntext", &["bold=Head x", "italic=x"]),
        ("**a *b*** ~~c~~ `d`", "a b c d", &["bold=a b", "italic=b", "strikethrough=c", "monospace=d"]),
        ("😀 **é😀** x", "😀 é😀 x", &["bold=é😀"]),
        ("- a\n  1. b\n- [ ] c\n- [x] d", "• a\n  1. b\n☐ c\n☑ d", &[]),
        ("a\n\n---\n\nb", "a\n\n———\n\nb", &[]),
        ("> q\n>\n> r\n\nx", "│ q\n│\n│ r\n\nx", &[]),
        ("> a\n> > b", "│ a\n│\n│ │ b", &[]),
        ("> ```\n> x\n> y\n> ```", "│ x\n│ y", &["monospace=x\n│ y"]),
        ("```rust\nlet a = \"<&>\";\n  b\n```", "let a = \"<&>\";\n  b", &["monospace=let a = \"<&>\";\n  b"]),
        ("- ```\n  x\n  ```", "•\nx", &["monospace=x"]),
        ("|a|b|\n|-|-|\n|1|2|", "a │ b\n──┼──\n1 │ 2", &["monospace=a │ b\n──┼──\n1 │ 2"]),
        ("**bold\nstill**", "bold\nstill", &["bold=bold\nstill"]),
        ("[**docs**](https://e.org/?a)", "docs (https://e.org/?a)", &["bold=docs"]),
        ("<https://e.org/?a&b>", "https://e.org/?a&b", &[]),
        ("[https://bank.com](https://evil.com)", "https://bank.com (https://evil.com)", &[]),
        ("snake_case 2*3*4 <u>d</u>", "snake_case 2*3*4 <u>d</u>", &[]),
        ("\u{1b}[31mred\u{202e} \u{fffc}", "red", &[]),
    ];
    for (typed, text, looks) in table {
        let (shown, found) = one(typed);
        assert_eq!((shown.as_str(), found.iter().map(String::as_str).collect::<Vec<_>>().as_slice()), (*text, *looks));
    }
    assert!(styled(" \n\u{200b}\u{202e}", LIMIT).is_empty());
}

#[test]
fn a_piece_holds_both_forms_and_the_label_changes_nothing() {
    let pieces = render(&outbound("# A [b](https://e.org)", Label::trusted()));
    let [piece] = pieces.as_slice() else { unreachable!() };
    assert_eq!(piece.rich, r#"{"text":"A b (https://e.org)","styles":[{"start":0,"length":19,"style":"BOLD"}]}"#);
    let rich = StyledText::of(piece, PartFormat::Rich);
    assert_eq!(rich.styles.iter().map(ToString::to_string).collect::<Vec<_>>(), ["0:19:BOLD"]);
    assert_eq!(StyledText::of(piece, PartFormat::Plain), StyledText { text: rich.text, styles: Vec::new() });
    let broken = OutgoingPart { rich: "{".to_owned(), ..piece.clone() };
    assert_eq!(StyledText::of(&broken, PartFormat::Rich), StyledText::of(piece, PartFormat::Plain));
    assert_eq!(render(&outbound("# A [b](https://e.org)", Label::untrusted(Source::unknown()))), pieces);
}

#[test]
fn a_mark_shifts_what_it_stands_before() {
    let piece = OutgoingPart {
        reply_to: Some("m:1".to_owned()),
        ..render(&outbound("x **y** `z`", Label::trusted())).remove(0)
    };
    let marked = with_prefix(&piece, "(😀)");
    assert_eq!((marked.plain.as_str(), marked.reply_to.as_deref()), ("(😀) x y z", Some("m:1")));
    let rich = StyledText::of(&marked, PartFormat::Rich);
    assert_eq!(rich.text, marked.plain);
    let covered: Vec<String> = rich.styles.iter().map(|range| covered(&rich.text, *range).unwrap()).collect();
    assert_eq!(covered, ["y", "z"]);
}

#[test]
fn a_marked_part_is_within_the_limit() {
    let long = "word ".repeat(2_000);
    for piece in render(&outbound(&long, Label::trusted())) {
        assert!(with_prefix(&piece, &"x".repeat(crate::wording::gateway::MARK)).plain.len() <= LIMIT);
    }
}

#[test]
fn a_long_answer_arrives_whole() {
    let block = "Use `snake_case` and 2*3*4 😀 in **bold _and_ more**, see [the docs](https://docs.rs/x).\n\n\
        ```sh\nls \"a\" && b\n```\n\n- one\n  - two 👨‍👩‍👧\n\n";
    let parts = checked(&block.repeat(80), LIMIT).unwrap();
    assert!((6..=9).contains(&parts.len()), "{}", parts.len());
    for part in &parts {
        assert!(part.text.starts_with(['U', 'l', '•']), "cut between blocks: {}", part.text);
    }
}

#[test]
fn bytes_count_and_graphemes_stay_whole() {
    let lengths = |text: String| checked(&text, LIMIT).unwrap().iter().map(|part| part.text.len()).collect::<Vec<_>>();
    assert_eq!(lengths("😀".repeat(1000)), [2000, 2000]);
    assert_eq!(lengths("é".repeat(1001)), [2000, 2]);
    // One grapheme in two styles.
    assert_eq!(lengths(format!("{}`e`\u{301}", "x".repeat(1999))), [1999, 3]);
    assert!(lengths("👨‍👩‍👧‍👦".repeat(400)).iter().all(|bytes| bytes % 25 == 0));
    assert_eq!(lengths(format!("a{}", "\u{301}".repeat(3000))).len(), 4);
}

#[test]
fn formatting_open_at_a_cut_continues_after_it() {
    for part in checked(&format!("**{}**", "wörd ".repeat(100).trim()), 200).unwrap() {
        let whole = StyleRange { start: 0, length: utf16_len(&part.text), style: part.styles[0].style };
        assert_eq!(part.styles, [whole]);
    }
    let code: String = (0..300).map(|n| format!("    let value_{n} = \"{n}\";\n")).collect();
    let parts = checked(&format!("Intro.\n\n```rust\n{code}```\n\nEnd."), LIMIT).unwrap();
    assert!(parts.len() > 3);
    assert!(parts[1..].iter().all(|part| part.text.starts_with("    let ")), "indentation was lost");
}

#[test]
fn hostile_nesting_is_fast_and_flat() {
    for unit in ["> ", "- ", "*a ", "[", "`a``"] {
        let typed = format!("{}{}x", unit.repeat(8_000), "\n".repeat(8_000));
        checked(&typed, LIMIT).unwrap();
    }
}

const BITS: [&str; 34] = [
    "**",
    "*",
    "_",
    "~~",
    "`",
    "```\n",
    "```rust\n",
    "\n",
    "\n\n",
    "> ",
    "- ",
    "1. ",
    "- [x] ",
    "# ",
    "[",
    "](https://e.org/a?b&c)",
    "](javascript:x)",
    "![",
    "<b>",
    "&amp;",
    "\"",
    "|",
    "\n|-|-|\n",
    "|a|b|\n",
    "    ",
    "\\",
    "word ",
    "snake_case",
    "é\u{301}",
    "👨‍👩‍👧",
    "\u{1b}[31m",
    "<https://e.org>",
    "\u{fffc}",
    "日本。",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_text_is_sent_whole(text in any::<String>(), limit in 128usize..400) {
        prop_assert_eq!(checked(&text, limit).err(), None);
    }

    #[test]
    fn any_markdown_is_sent_whole(bits in prop::collection::vec(prop::sample::select(&BITS[..]), 0..120), limit in 128usize..600) {
        prop_assert_eq!(checked(&bits.concat(), limit).err(), None);
        for piece in render(&outbound(&bits.concat(), Label::trusted())) {
            prop_assert!(piece.plain.len() <= LIMIT - PREFIX_SPACE);
            prop_assert_eq!(&StyledText::of(&piece, PartFormat::Rich).text, &piece.plain);
        }
    }

    #[test]
    fn plain_words_survive(words in prop::collection::vec("[a-zA-Z0-9äöü😀€,?]{1,30}", 1..400), limit in 128usize..400) {
        let text = words.join(" ");
        let joined: Vec<String> = styled(&text, limit).into_iter().map(|part| part.text).collect();
        prop_assert_eq!(joined.join(" "), strip_control(&text));
    }
}
