//! Tests of terminal rendering: visible text only, no hidden sequences.

use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

use super::*;

const PLAIN: TerminalStyle = TerminalStyle { color: false, width: 24, marks: true };
const COLOR: TerminalStyle = TerminalStyle { color: true, width: 24, marks: true };

#[test]
fn plain_terminal() {
    for (typed, shown) in [
        ("one two three four five six", "one two three four five\nsix"),
        ("- one two three four five six\n  - seven", "• one two three four\n  five six\n  • seven"),
        ("> one two three four five six\n>\n> x", "│ one two three four\n│ five six\n│\n│ x"),
        ("## Head\n\ntext", "## Head\n\ntext"),
        ("```sh\nls   a very long line that stays\n```", "    ls   a very long line that stays"),
        ("[w](https://e.org)", "w (https://e.org)"),
        ("a `b_c` **d**", "a `b_c` d"),
        ("日本語日本語日本語日本語日本語", "日本語日本語日本語日本語\n日本語"),
        ("- ```\n  x\n  ```", "•\n      x"),
        ("|a|b|\n|-|-|\n|1|2|", "a │ b\n──┼──\n1 │ 2"),
        ("\u{1b}]8;;https://e.org\u{7}x", "x"),
        ("", ""),
    ] {
        assert_eq!(render(typed, LinkDisplay::Embedded, &PLAIN), shown, "{typed}");
    }
}

#[test]
fn colour_is_reset_on_each_line() {
    let shown = render("**one two three four five six** x", LinkDisplay::Embedded, &COLOR);
    assert_eq!(
        shown,
        "\u{1b}[1mone\u{1b}[0m \u{1b}[1mtwo\u{1b}[0m \u{1b}[1mthree\u{1b}[0m \u{1b}[1mfour\u{1b}[0m \u{1b}[1mfive\u{1b}[0m\n\u{1b}[1msix\u{1b}[0m x"
    );
    assert_eq!(render("[w](https://e.org)", LinkDisplay::Embedded, &COLOR), "\u{1b}[4mw\u{1b}[0m (https://e.org)");
    assert_eq!(render("[w](https://e.org)", LinkDisplay::SpelledOut, &COLOR), "w (https://e.org)");
}

/// Promise (command-line/diff-colours): Where the terminal has colours, a change is shown with
/// added lines in green and removed lines in red.
#[test]
fn added_lines_are_green_and_removed_ones_red() {
    let diff = "```diff\n@@ -1 +1 @@\n-old\n+new\n same\n```";
    let shown = render(diff, LinkDisplay::Embedded, &COLOR);
    let lines = ["\u{1b}[36m@@ -1 +1 @@\u{1b}[0m", "\u{1b}[31m-old\u{1b}[0m", "\u{1b}[32m+new\u{1b}[0m", " same"];
    assert_eq!(shown, lines.map(|line| format!("    {line}")).join("\n"));
    assert!(!render(diff, LinkDisplay::Embedded, &PLAIN).contains('\u{1b}'));
    assert!(!render(&diff.replace("diff", "sh"), LinkDisplay::Embedded, &COLOR).contains('\u{1b}'));
}

/// Removes our own style sequences.
fn without_styles(shown: &str) -> String {
    let mut pieces = shown.split("\u{1b}[");
    let mut out = pieces.next().unwrap().to_owned();
    for piece in pieces {
        let (codes, text) = piece.split_once('m').unwrap();
        assert!(codes.chars().all(|c| c.is_ascii_digit() || c == ';'), "{codes:?}");
        out.push_str(text);
    }
    out
}

proptest! {
    #[test]
    fn nothing_but_styles_escapes(text in any::<String>(), sgr in "(\u{1b}\\[[0-9;]*[A-Za-z]|\u{1b}\\][^\u{7}]{0,9}\u{7}|&#27;\\[2J|\\*\\*a|`b`|\n){0,9}") {
        let typed = format!("{sgr}{text}{sgr}");
        let plain = render(&typed, LinkDisplay::Embedded, &PLAIN);
        let acts = |c: char| c.is_control() && c != '\n' && c != '\t';
        prop_assert!(!plain.contains(acts));
        prop_assert!(!without_styles(&render(&typed, LinkDisplay::Embedded, &COLOR)).contains(acts));
    }

    #[test]
    fn paragraphs_fit(words in prop::collection::vec("[a-z日本😀é]{1,40}", 1..60), width in 12usize..60) {
        let shown = render(&words.join(" "), LinkDisplay::Embedded, &TerminalStyle { color: false, width, marks: true });
        prop_assert!(shown.lines().all(|line| line.width() <= width), "{}", shown);
        let squeezed: String = shown.split_whitespace().collect();
        prop_assert_eq!(squeezed, words.concat());
    }
}
