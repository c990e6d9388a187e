//! Tests of Markdown parsing: control characters, addresses, blocks.

use proptest::prelude::*;

use super::*;

fn text_of(markdown: &str, links: LinkDisplay) -> String {
    let texts = read(markdown, links).into_iter().map(|block| match block.body {
        Body::Text { spans, .. } => spans.into_iter().map(|span| span.text).collect(),
        Body::Code { text, .. } => text,
        Body::Table(table) => table.lines().join("\n"),
        Body::Rule => "---".to_owned(),
    });
    texts.collect::<Vec<String>>().join("\n")
}

fn link_of(markdown: &str) -> Option<String> {
    let Body::Text { spans, .. } = read(markdown, LinkDisplay::Embedded).remove(0).body else { panic!("No text") };
    spans.into_iter().find_map(|span| span.style.link).map(|link| link.to_string())
}

#[test]
fn control_and_escapes_go() {
    for (typed, shown) in [
        ("a\u{1b}[31mred\u{1b}[0m", "ared"),
        ("\u{1b}]0;title\u{7}x", "x"),
        ("\u{1b}]8;;http://e\u{1b}\\x", "x"),
        ("\u{9b}2Jx\u{9d}0;t\u{9c}y", "xy"),
        ("\u{1b}]no end", "no end"),
        ("\u{1b}(Bx\u{1b}cy\u{1b}", "xy"),
        ("\u{1b}\u{1b}[1mx", "x"),
        ("a\r\nb\rc\td\u{0}\u{8}", "a\nb\nc\td"),
        ("pay\u{202e}lap\u{2066}x\u{200b}y\u{feff}\u{ad}", "paylapxy"),
        (
            "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{2764}\u{fe0f}",
            "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{2764}\u{fe0f}",
        ),
        ("a\u{200d}b\u{fe0f} 1\u{fe0f}\u{20e3}", "ab 1\u{fe0f}\u{20e3}"),
        ("می\u{200c}خواهم", "می\u{200c}خواهم"),
        (
            "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
        ),
        ("\u{1f3f4}\u{e0068}\u{e0069}", "\u{1f3f4}"),
    ] {
        assert_eq!(strip_control(typed), shown, "{typed:?}");
    }
}

#[test]
fn typed_text_survives_markdown_rendering() {
    for typed in [
        "snake_case_name and 2*3*4",
        "x*y + z*w",
        "x**2 + y**2",
        "__init__ and __init__.py",
        "~5 to ~10, 5~10~15",
        "https://e.org/_a_/b*c*d",
        "see https://e.org/a_b_ now",
        "$a*b*c$ and $$x_1 * y_2 * z$$",
        "<div>&</div>",
        "#hashtag",
        "a [^1] b",
    ] {
        let shown = text_of(typed, LinkDisplay::Embedded);
        assert_eq!(shown, typed);
    }
    assert_eq!(text_of("这是*重点*内容", LinkDisplay::Embedded), "这是重点内容");
    assert_eq!(text_of("*a* **b** ~~c~~ `d_e`", LinkDisplay::Embedded), "a b c d_e");
    assert_eq!(text_of("[x]: https://e.org", LinkDisplay::Embedded), "[x]: https://e.org");
    assert_eq!(
        text_of("[w][1]\n\n[1]: https://e.org\n[2]: https://f.org", LinkDisplay::SpelledOut),
        "w (https://e.org)\n[2]: https://f.org"
    );
    assert_eq!(text_of("&#x202e;&#27;[31mx", LinkDisplay::Embedded), "x");
    assert!(read(" \n\t\u{200b}", LinkDisplay::Embedded).is_empty());
    assert_eq!(text_of("#", LinkDisplay::Embedded), "#");
}

#[test]
fn bare_links_stand_in_full() {
    for (typed, shown) in [
        ("[words](https://e.org/a?b=c)", "words (https://e.org/a?b=c)"),
        ("<https://e.org>", "https://e.org"),
        ("[https://e.org](https://e.org)", "https://e.org"),
        ("[https://bank.com](https://evil.com)", "https://bank.com (https://evil.com)"),
        ("[](https://e.org)", "https://e.org"),
        ("![cat](https://e.org/c.png)", "cat (https://e.org/c.png)"),
        ("[![b](https://i.org)](https://e.org)", "b (https://i.org) (https://e.org)"),
        ("[x](javascript:alert(1))", "x (javascript:alert(1))"),
        ("<me@e.org>", "me@e.org"),
    ] {
        assert_eq!(text_of(typed, LinkDisplay::SpelledOut), shown);
        assert_eq!(link_of_bare(typed), None);
    }
}

fn link_of_bare(markdown: &str) -> Option<Rc<str>> {
    let Body::Text { spans, .. } = read(markdown, LinkDisplay::SpelledOut).remove(0).body else { panic!("No text") };
    spans.into_iter().find_map(|span| span.style.link)
}

#[test]
fn words_stand_without_marks_and_lose_none() {
    let markdown =
        "# Head\n\n- **Warm** the [pot](https://e.org/a)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nx < y\n```\n";
    assert_eq!(words(markdown), "Head Warm the pot (https://e.org/a) a b 1 2 x < y");
    assert_eq!(words("turn the <b>cake</b>"), "turn the <b>cake</b>");
}

#[test]
fn words_hide_only_honest_addresses() {
    for hidden in [
        "[words](https://e.org/a)",
        "[docs.rs](https://docs.rs/x)",
        "[see docs.rs/x, please](https://www.docs.rs/y)",
        "[mail](mailto:me@e.org)",
        "[chat](tg://resolve?domain=x)",
        "[![b](https://i.org)](https://e.org)",
        "[version 1.2](https://e.org)",
    ] {
        assert!(link_of(hidden).is_some(), "{hidden}");
    }
    for shown in [
        "[bank.com](https://evil.com)",
        "[log in at BANK.com/login](https://evil.com)",
        "[https://e.org/a](https://e.org/b)",
        "[10.0.0.1](https://evil.com)",
        "[x](https://bank.com@evil.com)",
        "[x](javascript:alert(1))",
        "[x](data:text/html,x)",
        "[x](/relative)",
        "[x](<https://e.org/a b>)",
        "[bank。com](https://evil.com)",
        "[me@bank.com](mailto:eve@evil.com)",
    ] {
        assert_eq!(link_of(shown), None, "{shown}");
        assert!(text_of(shown, LinkDisplay::Embedded).contains(" ("), "{shown}");
    }
}

#[test]
fn tables_are_aligned() {
    let shown =
        text_of("| a | number |\n|---|--:|\n| 日本 | 7 |\n| `x` [l](https://e.org) | 12 |", LinkDisplay::Embedded);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[0], "a                   │ number");
    assert_eq!(lines[2], "日本                │      7");
    assert_eq!(lines[3], "x l (https://e.org) │     12");
}

#[test]
fn lists_keep_their_place() {
    let blocks = read("- a\n  - b\n\n    c\n- [x] d\n\n> q\n> > r\n\n7. e", LinkDisplay::Embedded);
    let places: Vec<_> = blocks.iter().map(|b| (b.lead.as_str(), b.hang.as_str(), b.depth, b.gap)).collect();
    assert_eq!(
        places,
        [
            ("• ", "  ", 0, true),
            ("  • ", "    ", 0, false),
            ("    ", "    ", 0, true),
            ("☑ ", "  ", 0, false),
            ("", "", 1, true),
            ("", "", 2, true),
            ("7. ", "   ", 0, true),
        ]
    );
}

#[test]
fn code_that_looks_like_nesting_is_exact() {
    let line = "> ".repeat(60);
    let typed = format!("```\n{line}x\n- - -\n```");
    assert_eq!(text_of(&typed, LinkDisplay::Embedded), format!("{line}x\n- - -"));
    assert!(read(&"- ".repeat(50), LinkDisplay::Embedded)[0].body == Body::Rule);
}

proptest! {
    #[test]
    fn cleaning_leaves_nothing_that_acts(text in any::<String>()) {
        let clean = strip_control(&text);
        let acts = |c: char| (c.is_control() && c != '\n' && c != '\t') || ('\u{202a}'..='\u{202e}').contains(&c);
        prop_assert!(!clean.contains(acts));
        prop_assert_eq!(strip_control(&clean), clean.clone());
    }

    #[test]
    fn cleaning_keeps_plain_text(text in "[ -~äß€日本😀\n\t]{0,80}") {
        prop_assert_eq!(strip_control(&text), text);
    }

    #[test]
    fn bare_never_hides(text in "[a-z \\[\\]()!<>*_`\n.:/#|-]{0,60}", host in "[a-z]{3,8}") {
        let typed = format!("{text}\n\n[w](https://{host}.org/x)\n\n{text}");
        for block in read(&typed, LinkDisplay::SpelledOut) {
            if let Body::Text { spans, .. } = block.body {
                prop_assert!(spans.iter().all(|span| span.style.link.is_none()));
            }
        }
        let url = format!("https://{host}.org/x");
        prop_assert!(text_of(&typed, LinkDisplay::SpelledOut).contains(&url));
    }
}

#[test]
fn fuzzed() {
    let seeds: [&[u8]; 4] = [
        b"# Head\n\n*a* **b** ~~c~~ `d` [e](https://f.example)\n\n> g\n\n- h\n  1. i\n",
        b"```rust\nfn a() {}\n```\n\n---\n\n![a](b \"c\")\n<b>x</b>\n",
        b"| a | b |\n|---|:-:|\n| c | d\\|e |\n\n- [ ] f\n- [x] g\n",
        b"[a]: https://b.example\n\n[a][] <https://c.example> d@e.example \\* &amp; &#x202e;\n",
    ];
    crate::fuzz::target("markdown", &seeds, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let blocks = read(&text, LinkDisplay::Embedded);
        let spelled = read(&words(&text), LinkDisplay::Embedded);
        (blocks, spelled.len().min(1))
    });
}
