//! Decides whether a `HEARTBEAT.md` is actionable. Pure, and strict, because every yes may cost a
//! model call, twice an hour, for ever.
//!
//! Headings, blank lines, rules, comments over any number of lines, and ticked boxes with the text
//! indented under them do not count. Every other line with a word in it does, and so does an
//! unticked box. A comment that is never closed extends to the end, as in Markdown.

/// Returns whether the text contains anything to do.
pub(super) fn is_actionable(text: &str) -> bool {
    let text = without_comments(text.trim_start_matches('\u{feff}'));
    let (mut ticked_at, mut lines) = (None, text.lines().peekable());
    while let Some(line) = lines.next() {
        let words = line.trim();
        if words.is_empty() {
            continue;
        }
        let indent = line.chars().take_while(|c| c.is_whitespace()).count();
        if ticked_at.is_some_and(|ticked| indent <= ticked) {
            ticked_at = None;
        }
        match box_of(words) {
            Some(Checkbox::Open) => return true,
            Some(Checkbox::Done) => ticked_at = ticked_at.or(Some(indent)),
            None if ticked_at.is_some() || is_heading(line) => {}
            None if lines.peek().is_some_and(|next| is_underline(next)) => {}
            None if has_words(words) => return true,
            None => {}
        }
    }
    false
}

/// Removes each comment, and keeps the text around it on its line.
fn without_comments(text: &str) -> String {
    let (mut kept, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, comment)) = rest.split_once("<!--") {
        kept.push_str(before);
        // `<!-->` and `<!--->` are complete comments.
        let short = comment.strip_prefix('>').or_else(|| comment.strip_prefix("->"));
        rest = short.or_else(|| comment.split_once("-->").map(|(_, after)| after)).unwrap_or_default();
    }
    kept + rest
}

enum Checkbox {
    Open,
    Done,
}

/// Parses a checkbox item: `- [ ] …`, `* [x] …`, `+ [X] …`, `1. [ ] …`
fn box_of(words: &str) -> Option<Checkbox> {
    let numbered = || {
        let after = words.trim_start_matches(|c: char| c.is_ascii_digit());
        if after.len() < words.len() { after.strip_prefix(['.', ')']) } else { None }
    };
    let item = words.strip_prefix(['-', '*', '+']).or_else(numbered)?;
    let (mark, after) = item.strip_prefix(char::is_whitespace)?.trim_start().strip_prefix('[')?.split_once(']')?;
    if !after.is_empty() && !after.starts_with(char::is_whitespace) {
        return None;
    }
    match mark {
        "x" | "X" => Some(Checkbox::Done),
        "" | " " => Some(Checkbox::Open),
        _ => None,
    }
}

/// One to six `#`, then nothing or a space, and not indented deep enough to be code.
fn is_heading(line: &str) -> bool {
    let bare = line.trim_start_matches(' ');
    let after = bare.trim_start_matches('#');
    let (indent, marks) = (line.len() - bare.len(), bare.len() - after.len());
    indent < 4 && (1..=6).contains(&marks) && (after.is_empty() || after.starts_with(char::is_whitespace))
}

/// A line of equals signs makes the line above it a heading. A line of hyphens may be a rule, so
/// the line above that counts.
fn is_underline(line: &str) -> bool {
    !line.trim().is_empty() && line.trim().bytes().all(|byte| byte == b'=')
}

fn has_words(words: &str) -> bool {
    words.chars().any(|c| !c.is_ascii_punctuation() && !c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_is_to_do() {
        for text in [
            "",
            " \n\t\n",
            "\u{feff}# Heartbeat\n",
            "# Heartbeat",
            "#\n##  \n###### six",
            "   ## indented",
            "Heartbeat\n=========\n",
            "---\n***\n___\n",
            "-\n*\n",
            "<!-- one line -->",
            "<!-- one -->\n<!-- two -->",
            "<!--\n- [ ] water the plants\ncall mum\n-->",
            "<!-- three\nlines\nof it -->\n\n# Heartbeat",
            "<!-- never closed\n- [ ] water the plants",
            "<!--> <!--->",
            "- [x] done",
            "* [x] done",
            "+ [X] done",
            "1. [x] done\n2) [X] done",
            "  - [x] nested\n\t* [X] nested",
            "- [x] done\n  with a line\n\n  and another\n  - [x] and a part",
            "- [x] done <!-- - [ ] not this -->",
            "# Heartbeat\n\n<!-- Write what is to be done: -->\n\n- [x] water the plants\n",
        ] {
            assert!(!is_actionable(text), "{text:?}");
        }
    }

    #[test]
    fn something_is_to_do() {
        for text in [
            "- [ ] t",
            "* [ ] t",
            "+ [] t",
            "1. [ ] t",
            "- [ ]",
            "\t- [ ] t",
            "plain text",
            "- a plain item",
            "text <!-- c -->",
            "<!-- a --> text <!-- b -->",
            "<!-- a\nb --> text",
            "text <!-- a\nb -->",
            "- [x] done\n- [ ] open",
            "- [x] done\n  - [ ] open below",
            "- [x] done\nand a line of its own",
            "  - [x] done\n- plain",
            "# Heartbeat\n\nLook at the post.",
            "#hashtag",
            "####### seven",
            "-[x] no box",
            "- [x]no box",
            "- [y] no box",
            "Look at the post\n---",
            "-- > text",
            "a --> b",
            "\u{1f331}",
        ] {
            assert!(is_actionable(text), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_checkbox_in_a_comment_never_counts(text in "[a-z# \\[\\]x\\n-]{0,60}") {
            prop_assume!(!text.contains("--"));
            let hidden = format!("# Heartbeat\n<!-- {text} -->\n- [x] done\n");
            prop_assert!(!is_actionable(&hidden));
        }

        #[test]
        fn an_open_checkbox_counts_at_any_position(before in "(# [a-z]{0,9}\n|- \\[x\\] [a-z]{0,9}\n|<!-- [a-z\n]{0,9} -->\n|\n){0,8}") {
            prop_assert!(!is_actionable(&before), "{before:?}");
            let open = format!("{before}- [ ] t");
            prop_assert!(is_actionable(&open));
        }

        #[test]
        fn any_text_is_judged(text in "\\PC{0,80}") {
            is_actionable(&text);
        }
    }
}
