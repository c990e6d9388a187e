//! Items of `HEARTBEAT.md`, and the edits that its owner makes with a command.
//!
//! Strict, because every item may cost a model call several times a day, for ever. Headings, blank
//! lines, rules and comments over any number of lines are no items. A box (`- [ ] text`) is an item
//! that is done once; any other line with a word in it stands for good. Lines that are indented
//! under an item belong to it. A comment that is never closed extends to the end, as in Markdown.
//!
//! The program never ticks a box in the file: a tick is a row under the item's
//! [key](HeartbeatItem), and only the owner's own command takes a line out.

use std::collections::BTreeSet;

use super::page::digest;
use crate::text::words_in;

/// Heading of a new file.
const HEADING: &str = "# Heartbeat\n\n";

/// An item of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeartbeatItem {
    /// Text of its first line, without the box.
    pub words: String,
    /// Kind.
    pub kind: HeartbeatItemKind,
    /// Digest of its words, under which a tick is stored. Spelling and punctuation do not matter.
    pub key: String,
    /// Numbers of its lines, from 0; the first is that of `words`.
    lines: Vec<usize>,
    indent: usize,
}

/// Kind of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeartbeatItemKind {
    /// An empty box: to be done once.
    Open,
    /// A box that the owner ticked in the file.
    Done,
    /// A line without a box, which stands for good.
    Standing,
}

impl HeartbeatItem {
    /// Returns true if it is a box that is empty in the file.
    pub fn is_box_open(&self) -> bool {
        self.kind == HeartbeatItemKind::Open
    }

    /// Returns true if it asks for something: it is neither ticked in the file nor by a row.
    pub fn is_due(&self, ticks: &BTreeSet<String>) -> bool {
        self.kind != HeartbeatItemKind::Done && !ticks.contains(&self.key)
    }
}

/// Returns the items of the file, in order.
pub fn heartbeat_items(text: &str) -> Vec<HeartbeatItem> {
    let text = blank_comments(text.trim_start_matches('\u{feff}'));
    let mut items: Vec<HeartbeatItem> = Vec::new();
    // Indices of the items under which a line may stand, outermost first.
    let mut enclosing: Vec<usize> = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((at, line)) = lines.next() {
        let words = line.trim();
        if words.is_empty() {
            continue;
        }
        let indent = line.chars().take_while(|c| c.is_whitespace()).count();
        enclosing.retain(|above| items.get(*above).is_some_and(|item| item.indent < indent));
        let parent = enclosing.last().and_then(|above| items.get_mut(*above));
        let (kind, words) = match (box_of(words), parent) {
            (Some(boxed), _) => boxed,
            (None, Some(parent)) => {
                parent.lines.push(at);
                continue;
            }
            (None, None) if is_heading(line) || lines.peek().is_some_and(|(_, next)| is_underline(next)) => continue,
            (None, None) if has_words(words) => (HeartbeatItemKind::Standing, without_marker(words)),
            (None, None) => continue,
        };
        enclosing.push(items.len());
        let (words, key) = (words.to_owned(), digest(normal(words).as_bytes()));
        items.push(HeartbeatItem { words, kind, key, lines: vec![at], indent });
    }
    items
}

/// Returns the item that is meant by its number in the list, by its words, or by words that stand
/// in it alone.
pub fn find_heartbeat_item<'a>(items: &'a [HeartbeatItem], wanted: &str) -> Option<&'a HeartbeatItem> {
    let wanted = wanted.trim();
    if let Ok(number) = wanted.parse::<usize>() {
        return items.get(number.checked_sub(1)?);
    }
    let wanted = normal(box_of(wanted).map_or_else(|| without_marker(wanted), |(_, words)| words));
    if wanted.is_empty() {
        return None;
    }
    let of = |item: &&HeartbeatItem| normal(&item.words);
    let like = |item: &&HeartbeatItem| of(item).contains(&wanted) || !of(item).is_empty() && wanted.contains(&of(item));
    let mut similar = items.iter().filter(like);
    let only = similar.next().filter(|_| similar.next().is_none());
    items.iter().find(|item| of(item) == wanted).or(only)
}

/// Returns the text of the file with the boxes of these ticks ticked, as a model is shown it. A
/// line without a box that its owner ticked is left out.
pub fn with_heartbeat_ticks(text: &str, ticks: &BTreeSet<String>) -> String {
    let items = heartbeat_items(text);
    let ticked: Vec<&HeartbeatItem> =
        items.iter().filter(|item| item.kind != HeartbeatItemKind::Done && ticks.contains(&item.key)).collect();
    let of = |at: usize| ticked.iter().find(|item| item.lines.contains(&at));
    let shown = text.lines().enumerate().filter_map(|(at, line)| match of(at) {
        None => Some(line.to_owned()),
        Some(item) if item.kind == HeartbeatItemKind::Standing => None,
        Some(item) if item.lines.first() == Some(&at) => Some(line.replacen("[ ]", "[x]", 1).replacen("[]", "[x]", 1)),
        Some(_) => Some(line.to_owned()),
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// Returns the file with another item at its end; `None` if an item with these words is there and
/// open. A comment that is never closed is closed first, so that the item is not swallowed by it.
pub fn with_heartbeat_item(text: &str, words: &str, kind: HeartbeatItemKind) -> Option<String> {
    let words = words.replace("<!--", " ").split_whitespace().collect::<Vec<_>>().join(" ");
    let key = digest(normal(&words).as_bytes());
    if heartbeat_items(text).iter().any(|item| item.key == key && item.kind != HeartbeatItemKind::Done) {
        return None;
    }
    let is_unclosed = text.rsplit_once("<!--").is_some_and(|(_, comment)| !comment.contains("-->"));
    let before = match text.trim_end() {
        "" => HEADING.to_owned(),
        text if is_unclosed => format!("{text} -->\n"),
        text => format!("{text}\n"),
    };
    let mark = if kind == HeartbeatItemKind::Standing { "" } else { "[ ] " };
    Some(format!("{before}- {mark}{words}\n"))
}

/// Returns the file without its ticked items, and their words. A line with part of a comment
/// stays.
pub fn without_ticked_items(text: &str, ticks: &BTreeSet<String>) -> (String, Vec<String>) {
    let lines: Vec<&str> = text.lines().collect();
    let is_comment = |at: &usize| lines.get(*at).is_some_and(|line| line.contains("<!--") || line.contains("-->"));
    let ticked: Vec<HeartbeatItem> = heartbeat_items(text)
        .into_iter()
        .filter(|item| !item.is_due(ticks) && !item.lines.iter().any(is_comment))
        .collect();
    let removed: BTreeSet<usize> = ticked.iter().flat_map(|item| item.lines.iter().copied()).collect();
    let kept = lines.iter().enumerate().filter(|(at, _)| !removed.contains(at)).map(|(_, line)| format!("{line}\n"));
    (kept.collect(), ticked.into_iter().map(|item| item.words).collect())
}

/// Letters and digits in lower case, with single spaces between the words; the text itself if it
/// has none.
fn normal(words: &str) -> String {
    let parts: Vec<String> = words_in(words).map(str::to_lowercase).collect();
    if parts.is_empty() { words.trim().to_owned() } else { parts.join(" ") }
}

/// Removes each comment, and keeps the text around it, and its line breaks.
fn blank_comments(text: &str) -> String {
    let (mut kept, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, comment)) = rest.split_once("<!--") {
        kept.push_str(before);
        // `<!-->` and `<!--->` are complete comments.
        let short = comment.strip_prefix('>').or_else(|| comment.strip_prefix("->"));
        rest = short.unwrap_or_else(|| {
            let (inner, after) = comment.split_once("-->").unwrap_or_default();
            kept.extend(inner.chars().filter(|c| *c == '\n'));
            after
        });
    }
    kept + rest
}

/// Returns the text after the marker of a list item: `- …`, `* …`, `+ …`, `1. …`
fn list_item(words: &str) -> Option<&str> {
    let numbered = || {
        let after = words.trim_start_matches(|c: char| c.is_ascii_digit());
        if after.len() < words.len() { after.strip_prefix(['.', ')']) } else { None }
    };
    let item = words.strip_prefix(['-', '*', '+']).or_else(numbered)?;
    Some(item.strip_prefix(char::is_whitespace)?.trim_start())
}

fn without_marker(words: &str) -> &str {
    list_item(words).unwrap_or(words)
}

/// Parses a checkbox item: `- [ ] …`, `* [x] …`, `+ [X] …`, `1. [ ] …`
fn box_of(words: &str) -> Option<(HeartbeatItemKind, &str)> {
    let (mark, after) = list_item(words)?.strip_prefix('[')?.split_once(']')?;
    if !after.is_empty() && !after.starts_with(char::is_whitespace) {
        return None;
    }
    match mark {
        "x" | "X" => Some((HeartbeatItemKind::Done, after.trim())),
        "" | " " => Some((HeartbeatItemKind::Open, after.trim())),
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

    fn is_actionable(text: &str) -> bool {
        heartbeat_items(text).iter().any(|item| item.is_due(&BTreeSet::new()))
    }

    const FILE: &str = "# Heartbeat\n\n<!-- mine,\nall mine -->\n- [ ] Order the internet.\n  From Magenta\n- [x] boxes\n  forty\n\
        \n- Tell me in the morning what is due\n* [ ] call Nora\n  - [ ] about the keys\n";

    fn ticks(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|words| digest(normal(words).as_bytes())).collect()
    }

    #[test]
    fn items_have_words_kinds_and_numbers() {
        let items = heartbeat_items(FILE);
        let read: Vec<_> = items.iter().map(|item| (item.words.as_str(), item.kind)).collect();
        assert_eq!(
            read,
            [
                ("Order the internet.", HeartbeatItemKind::Open),
                ("boxes", HeartbeatItemKind::Done),
                ("Tell me in the morning what is due", HeartbeatItemKind::Standing),
                ("call Nora", HeartbeatItemKind::Open),
                ("about the keys", HeartbeatItemKind::Open),
            ]
        );
        for (wanted, found) in [
            ("1", Some("Order the internet.")),
            ("order the INTERNET", Some("Order the internet.")),
            ("- [ ] Order the internet.", Some("Order the internet.")),
            ("the internet", Some("Order the internet.")),
            ("Order the internet. (done on Thursday)", Some("Order the internet.")),
            ("keys", Some("about the keys")),
            ("the", None),
            ("0", None),
            ("6", None),
            ("", None),
            ("post", None),
        ] {
            let item = find_heartbeat_item(&items, wanted);
            assert_eq!(item.map(|item| item.words.as_str()), found, "{wanted:?}");
        }
    }

    #[test]
    fn ticks_are_shown_in_their_boxes_and_change_nothing_else() {
        let shown = with_heartbeat_ticks(FILE, &ticks(&["order the internet", "Tell me in the morning: what is due!"]));
        assert!(shown.contains("- [x] Order the internet.\n  From Magenta\n") && shown.contains("* [ ] call Nora"));
        assert!(!shown.contains("in the morning") && shown.contains("all mine"), "{shown}");
        assert_eq!(with_heartbeat_ticks(FILE, &BTreeSet::new()), FILE.trim_end());
    }

    #[test]
    fn an_item_is_added_at_the_end_and_once() {
        let add = |text: &str, words: &str| with_heartbeat_item(text, words, HeartbeatItemKind::Open);
        assert_eq!(add("", " feed  the\ncat ").as_deref(), Some("# Heartbeat\n\n- [ ] feed the cat\n"));
        assert_eq!(add("- [ ] a\n", "b").as_deref(), Some("- [ ] a\n- [ ] b\n"));
        assert_eq!(add("- [ ] a", "b").as_deref(), Some("- [ ] a\n- [ ] b\n"));
        assert_eq!(add("- [ ] a\n", "A!"), None);
        assert_eq!(add("- [x] a\n", "a").as_deref(), Some("- [x] a\n- [ ] a\n"));
        assert_eq!(add("<!-- notes\n", "b").as_deref(), Some("<!-- notes -->\n- [ ] b\n"));
        let standing = with_heartbeat_item("- [ ] a\n", "b", HeartbeatItemKind::Standing);
        assert_eq!(standing.as_deref(), Some("- [ ] a\n- b\n"));
    }

    #[test]
    fn what_is_ticked_is_taken_out_with_the_lines_under_it() {
        let (kept, removed) = without_ticked_items(FILE, &ticks(&["call Nora"]));
        assert_eq!(removed, ["boxes", "call Nora"]);
        let expected = "# Heartbeat\n\n<!-- mine,\nall mine -->\n- [ ] Order the internet.\n  From Magenta\n\
            \n- Tell me in the morning what is due\n  - [ ] about the keys\n";
        assert_eq!(kept, expected);
        let with_comment = "- [x] done <!-- and\nmore -->\n- [ ] open\n";
        assert_eq!(without_ticked_items(with_comment, &BTreeSet::new()), (with_comment.to_owned(), Vec::new()));
    }

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
        fn any_text_is_read_and_an_added_item_is_there(text in "[\\PC\n]{0,80}", words in "[a-z]{1,9}( [a-z]{1,9}){0,3}") {
            without_ticked_items(&text, &BTreeSet::new());
            with_heartbeat_ticks(&text, &BTreeSet::new());
            if let Some(longer) = with_heartbeat_item(&text, &words, HeartbeatItemKind::Open) {
                let items = heartbeat_items(&longer);
                prop_assert!(items.iter().any(|item| item.words == words && item.kind == HeartbeatItemKind::Open));
            }
        }
    }
}
