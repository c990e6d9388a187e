//! Tests of rendering for Telegram: a validator of its rules, properties and golden cases.

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::*;
use crate::markdown::strip_control;

/// Returns the visible text, or why Telegram (or we) would refuse the markup.
fn parse(html: &str) -> Result<String, String> {
    let (mut text, mut open, mut rest) = (String::new(), Vec::<(&str, usize)>::new(), html);
    while let Some(c) = rest.chars().next() {
        if let Some(tag) = rest.strip_prefix("</") {
            let (name, after) = tag.split_once('>').ok_or("Unclosed tag")?;
            let (opened, at) = open.pop().ok_or("Closing without opening")?;
            if opened != name {
                return Err(format!("</{name}> closes <{opened}>"));
            }
            if at == text.len() {
                return Err(format!("Empty <{name}>"));
            }
            rest = after;
        } else if let Some(tag) = rest.strip_prefix('<') {
            let (tag, after) = tag.split_once('>').ok_or("Unclosed tag")?;
            let (name, attribute) = tag.split_once(' ').unwrap_or((tag, ""));
            check_tag(name, attribute, &open)?;
            open.push((name, text.len()));
            rest = after;
        } else if let Some(entity) = rest.strip_prefix('&') {
            let (name, after) = entity.split_once(';').ok_or("Bare &")?;
            text.push(match name {
                "lt" => '<',
                "gt" => '>',
                "amp" => '&',
                "quot" => '"',
                _ => return Err(format!("Unknown &{name};")),
            });
            rest = after;
        } else if matches!(c, '>' | '"') {
            return Err(format!("Bare {c}"));
        } else {
            text.push(c);
            rest = rest.get(c.len_utf8()..).unwrap();
        }
    }
    if open.is_empty() { Ok(text) } else { Err(format!("Left open: {open:?}")) }
}

fn check_tag(name: &str, attribute: &str, open: &[(&str, usize)]) -> Result<(), String> {
    let parent = open.last().map(|(name, _)| *name);
    let is_open = |name| open.iter().any(|(opened, _)| *opened == name);
    let attribute_fits = match name {
        "b" | "i" | "u" | "s" | "pre" | "blockquote" => attribute.is_empty(),
        "code" if parent == Some("pre") => {
            let class = attribute.strip_prefix("class=\"language-").and_then(|class| class.strip_suffix('"'));
            class.is_some_and(|class| !class.is_empty() && !class.contains(['"', '<', '&', ' ']))
        }
        "code" => attribute.is_empty(),
        "a" => {
            let href = attribute.strip_prefix("href=\"").and_then(|href| href.strip_suffix('"'));
            let schemes = ["http:", "https:", "mailto:", "tg:"];
            href.is_some_and(|href| {
                let lower = href.to_lowercase();
                schemes.iter().any(|scheme| lower.starts_with(scheme)) && !href.contains(['"', '<', '>', ' '])
            })
        }
        _ => false,
    };
    if !attribute_fits {
        return Err(format!("Not Telegram's: <{name} {attribute}>"));
    }
    let nests = match name {
        "blockquote" => parent.is_none(),
        "pre" => parent.is_none() || parent == Some("blockquote"),
        "code" => matches!(parent, None | Some("blockquote" | "pre")),
        _ => !is_open(name) && !is_open("pre") && !is_open("code"),
    };
    if nests { Ok(()) } else { Err(format!("<{name}> in {open:?}")) }
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '\u{2800}').collect()
}

/// Renders a text and checks the properties that hold for any text.
fn checked(markdown: &str, links: LinkDisplay, limit: usize) -> Result<Vec<HtmlPart>, String> {
    let parts = render(markdown, links, limit);
    for part in &parts {
        let seen = parse(&part.html).map_err(|why| format!("{why} in {}", part.html))?;
        if seen != part.plain {
            return Err(format!("Seen {seen:?}, plain {:?}", part.plain));
        }
        if utf16_len(&part.html) > limit || utf16_len(&part.plain) > limit {
            return Err(format!("{} units of {limit}", utf16_len(&part.html)));
        }
        if squeezed(&part.plain).is_empty() {
            return Err("Blank part".to_owned());
        }
        if links == LinkDisplay::SpelledOut && part.html.contains("<a ") {
            return Err("Link in bare".to_owned());
        }
    }
    let uncut = render(markdown, links, usize::MAX / 8);
    let uncut: String = uncut.into_iter().map(|part| part.plain).collect();
    if limit >= LIMIT / 4 && !parts_follow_graphemes(&parts, &uncut, limit) {
        return Err("A grapheme was cut".to_owned());
    }
    let joined: String = parts.iter().map(|part| part.plain.as_str()).collect();
    if squeezed(&joined) != squeezed(&uncut) {
        return Err(format!("Joined {joined:?}, uncut {uncut:?}"));
    }
    Ok(parts)
}

fn parts_follow_graphemes(parts: &[HtmlPart], uncut: &str, limit: usize) -> bool {
    if uncut.graphemes(true).any(|grapheme| utf16_len(grapheme) * 6 > limit) {
        return true;
    }
    let bounds: std::collections::HashSet<usize> = uncut.grapheme_indices(true).map(|(at, _)| at).collect();
    let mut from = 0;
    parts.iter().all(|part| match uncut.get(from..).and_then(|rest| rest.find(&part.plain)) {
        Some(at) => {
            let start = from + at;
            from = start + part.plain.len();
            bounds.contains(&start)
        }
        None => true,
    })
}

fn one(markdown: &str) -> String {
    let parts = checked(markdown, LinkDisplay::Embedded, LIMIT).unwrap();
    assert_eq!(parts.len(), 1, "{markdown}");
    parts[0].html.clone()
}

#[test]
fn blocks_become_telegram_html() {
    for (typed, html) in [
        ("# Head *x*\n\ntext", "<b>Head <i>x</i></b>\n\ntext"),
        ("- a\n  1. b\n- [ ] c\n- [x] d", "• a\n  1. b\n☐ c\n☑ d"),
        ("a\n\n---\n\nb", "a\n\n———\n\nb"),
        ("> q\n>\n> r\n\nx", "<blockquote>q\n\nr</blockquote>\n\nx"),
        ("> a\n> > b", "<blockquote>a\n\n│ b</blockquote>"),
        (
            "```rust,ignore\nlet a = \"<&>\";\n```",
            "<pre><code class=\"language-rust\">let a = &quot;&lt;&amp;&gt;&quot;;</code></pre>",
        ),
        ("```\nx\n```", "<pre>x</pre>"),
        ("```\" onclick=\"x\ny\n```", "<pre>y</pre>"),
        ("~~a~~ `b<c` <u>d</u>", "<s>a</s> <code>b&lt;c</code> &lt;u&gt;d&lt;/u&gt;"),
        (
            "**a [b](https://e.org/?x=1&y=\"2) c**",
            "<b>a </b><a href=\"https://e.org/?x=1&amp;y=&quot;2\"><b>b</b></a><b> c</b>",
        ),
        ("[a `b`](https://e.org)", "<a href=\"https://e.org\">a b</a>"),
        ("[![alt](https://i.org)](https://e.org)", "<a href=\"https://e.org\">alt</a>"),
        ("[x](javascript:alert(1))", "x (javascript:alert(1))"),
        ("[https://bank.com](https://evil.com)", "https://bank.com (https://evil.com)"),
        ("<https://e.org/?a&b>", "https://e.org/?a&amp;b"),
        ("**bold\nstill**\n\n**not\n\nbold**", "<b>bold\nstill</b>\n\n**not\n\nbold**"),
        ("**a *b `c [d](e", "**a *b `c [d](e"),
        ("snake_case 2*3*4", "snake_case 2*3*4"),
        ("***", "———"),
        ("-", "•"),
        ("|a|b|\n|-|-|\n|1|2|", "<pre>a │ b\n──┼──\n1 │ 2</pre>"),
        ("- ```\n  x\n  ```", "•\n<pre>x</pre>"),
        ("a\\\nb  \nc", "a\nb\nc"),
        ("* *", "• •"),
    ] {
        assert_eq!(one(typed), html, "{typed}");
    }
    assert!(render(" \n\u{200b}\u{202e}", LinkDisplay::Embedded, LIMIT).is_empty());
}

#[test]
fn a_long_answer_arrives_whole() {
    let block = "Use `snake_case` and 2*3*4 😀 in **bold _and_ more**, see [the docs](https://docs.rs/x).\n\n\
        ````md\n```sh\nls \"a\" && b\n```\n````\n\n- one\n  - two 👨‍👩‍👧\n\n";
    let answer = block.repeat(10_000 / block.chars().count() + 1);
    for links in [LinkDisplay::Embedded, LinkDisplay::SpelledOut] {
        let parts = checked(&answer, links, LIMIT).unwrap();
        assert!((3..=6).contains(&parts.len()), "{}", parts.len());
        for part in &parts {
            assert_eq!(part.html.matches("<pre>").count(), part.html.matches("</pre>").count());
            assert!(part.plain.starts_with(['U', '`', '•', ' ']), "cut between blocks: {}", part.plain);
        }
    }
}

#[test]
fn four_thousand_emoji_stay_whole() {
    let parts = checked(&"😀".repeat(4096), LinkDisplay::Embedded, LIMIT).unwrap();
    assert_eq!(parts.iter().map(|part| part.plain.chars().count()).collect::<Vec<_>>(), [2048, 2048]);
    let family = "👨‍👩‍👧‍👦".repeat(1000);
    for part in checked(&family, LinkDisplay::Embedded, LIMIT).unwrap() {
        assert_eq!(part.plain.chars().count() % 7, 0);
    }
}

#[test]
fn a_long_fence_opens_again_in_its_language() {
    let code: String = (0..300).map(|n| format!("    let value_{n} = \"{n}\";\n")).collect();
    let parts = checked(&format!("Intro.\n\n```rust\n{code}```\n\nEnd."), LinkDisplay::Embedded, LIMIT).unwrap();
    assert!(parts.len() > 2);
    for part in &parts[1..] {
        assert!(part.html.starts_with("<pre><code class=\"language-rust\">    let "), "{}", part.html);
    }
}

#[test]
fn cuts_prefer_paragraphs_lines_sentences_words() {
    let cut = |text: &str| checked(text, LinkDisplay::Embedded, 200).unwrap()[0].plain.clone();
    let (word, tail) = ("abcd ", "y".repeat(300));
    assert_eq!(cut(&format!("{}\n\n{}\n{tail}", "x".repeat(80), word.repeat(10))), "x".repeat(80));
    assert_eq!(cut(&format!("{}\n{}. {tail}", "x".repeat(80), "z".repeat(50))), "x".repeat(80));
    assert_eq!(cut(&format!("{}. {word}{tail}", "x".repeat(80))), format!("{}.", "x".repeat(80)));
    assert_eq!(cut(&format!("{} {tail}", "x".repeat(80))), "x".repeat(80));
    assert_eq!(cut(&tail), "y".repeat(200));
}

#[test]
fn formatting_open_at_a_cut_continues_after_it() {
    let text = format!("**{}**", "word ".repeat(100).trim());
    for part in checked(&text, LinkDisplay::Embedded, 200).unwrap() {
        assert!(part.html.starts_with("<b>word") && part.html.ends_with("word</b>"), "{}", part.html);
    }
}

#[test]
fn a_grapheme_longer_than_a_message_is_cut() {
    let zalgo = format!("a{}", "\u{301}".repeat(10_000));
    assert_eq!(checked(&zalgo, LinkDisplay::Embedded, LIMIT).unwrap().len(), 3);
}

#[test]
fn hostile_nesting_is_fast_and_flat() {
    for (unit, count) in
        [("> ", 30_000), ("- ", 30_000), ("*a ", 30_000), ("[", 30_000), ("![", 30_000), ("`a``", 8_000)]
    {
        let mut typed = unit.repeat(count);
        typed.push_str(&"\n".repeat(30_000));
        typed.push('x');
        checked(&typed, LinkDisplay::SpelledOut, LIMIT).unwrap();
    }
}

const BITS: [&str; 36] = [
    "**",
    "*",
    "_",
    "__",
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
    "&",
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
    "$x$",
    "日本。",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_text_is_valid(text in any::<String>(), limit in 128usize..400) {
        for links in [LinkDisplay::Embedded, LinkDisplay::SpelledOut] {
            prop_assert_eq!(checked(&text, links, limit).err(), None);
        }
    }

    /// Proves: delivery/long-answer
    #[test]
    fn any_markdown_is_valid(bits in prop::collection::vec(prop::sample::select(&BITS[..]), 0..120), limit in 128usize..600) {
        let text = bits.concat();
        for links in [LinkDisplay::Embedded, LinkDisplay::SpelledOut] {
            prop_assert_eq!(checked(&text, links, limit).err(), None);
            prop_assert_eq!(checked(&text, links, LIMIT).err(), None);
        }
    }

    #[test]
    fn plain_words_survive(words in prop::collection::vec("[a-zA-Z0-9äöü😀€,?]{1,30}", 1..400), limit in 128usize..400) {
        let text = words.join(" ");
        let parts = render(&text, LinkDisplay::Embedded, limit);
        let joined: Vec<String> = parts.into_iter().map(|part| part.plain).collect();
        prop_assert_eq!(joined.join(" "), strip_control(&text));
    }
}
