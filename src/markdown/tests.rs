//! Tests of Markdown parsing: control characters, addresses, emphasis, line breaks, formulas, blocks.

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

/// Text with its styles written as tags.
fn styled(markdown: &str) -> String {
    let spans = read(markdown, LinkDisplay::Embedded).into_iter().flat_map(|block| match block.body {
        Body::Text { spans, .. } => spans,
        body => panic!("{body:?} is no text"),
    });
    let tagged = |tag: &str, wanted: bool, text: String| if wanted { format!("<{tag}>{text}</{tag}>") } else { text };
    spans
        .map(|Span { text, style }| {
            let text = tagged("code", style.code, text);
            let text = tagged("s", style.strike, text);
            tagged("b", style.bold, tagged("i", style.italic, text))
        })
        .collect()
}

#[test]
fn emphasis_beside_punctuation_is_read() {
    for (typed, shown) in [
        (
            "これは**「重要」**です。**注意：**必ず読んでください。中文**（加粗）**文字",
            "これは<b>「重要」</b>です。<b>注意：</b>必ず読んでください。中文<b>（加粗）</b>文字",
        ),
        ("これは*「重要」*です。*注意：*必ず", "これは<i>「重要」</i>です。<i>注意：</i>必ず"),
        ("文***「粗斜」***文", "文<b><i>「粗斜」</i></b>文"),
        ("~~旧値：~~新値、価格~~（旧）~~新", "<s>旧値：</s>新値、価格<s>（旧）</s>新"),
        ("**注意！**Python**（推荐）**3.0", "<b>注意！</b>Python<b>（推荐）</b>3.0"),
        ("**중요(important)**는 이것**\"중요\"**입니다", "<b>중요(important)</b>는 이것<b>\"중요\"</b>입니다"),
        ("使用API**“接口”**的`a`**`b`**命令", "使用API<b>“接口”</b>的<code>a</code><b><code>b</code></b>命令"),
        ("请用**[链接](https://e.org)**吧", "请用<b>链接</b>吧"),
        ("编辑**.env**文件，**#标签**和**-5℃**吧", "编辑<b>.env</b>文件，<b>#标签</b>和<b>-5℃</b>吧"),
        ("**完了✅**です 文**✅完了**文", "<b>完了✅</b>です 文<b>✅完了</b>文"),
        ("文**_斜_**文**~~删~~**文", "文<b><i>斜</i></b>文<b><s>删</s></b>文"),
        ("**第一\n行。**必ず", "<b>第一\n行。</b>必ず"),
        ("**重要**。次（**大事**）「**b**」", "<b>重要</b>。次（<b>大事</b>）「<b>b</b>」"),
        ("2**10は1024、**重要：**必ず", "2**10は1024、<b>重要：</b>必ず"),
        ("2**10は「**1024**」です", "2**10は「<b>1024</b>」です"),
        ("**Note:**this is **so** and **Also:**that", "<b>Note:</b>this is <b>so</b> and <b>Also:</b>that"),
        ("**Да!**Нет ~~9.99€,~~7€ **`foo`**s", "<b>Да!</b>Нет <s>9.99€,</s>7€ <b><code>foo</code></b>s"),
        ("> - **注意：**必ず", "<b>注意：</b>必ず"),
    ] {
        assert_eq!(styled(typed).replace("</b><b>", ""), shown, "{typed}");
    }
    assert_eq!(
        text_of("|a|b|\n|-|-|\n|**注意：**必|文**（x）**|", LinkDisplay::Embedded).lines().nth(2),
        Some("注意：必 │ 文（x）")
    );
}

#[test]
fn stars_of_text_stay() {
    for typed in [
        "2 * 3 * 4 a*b*c **",
        "x**2 + y**2, f(x)**2.**b",
        "2*（3+4）*5",
        "（a+b）*（c+d）*2",
        "总价=单价*（数量+1）*税率",
        "价格*（含税）和运费*（不含税）",
        "注*：本条。条款**。下文**：",
        "これは__「重要」__です snake_case_name",
        "**/foo/**bar *.rs",
        "https://e.org/**a:**b 和https://e.org/文*「x」*y",
        "键。*\u{fe0f}\u{20e3}键。*\u{fe0f}\u{20e3}",
        "$文*「x」*文$",
        r"(\*\*「重」\*\*で)",
    ] {
        assert_eq!(styled(typed), typed.replace(r"\*", "*"));
    }
    assert_eq!(styled("`文**「重」**で<br>`"), "<code>文**「重」**で<br></code>");
    assert_eq!(styled("**a \"**b**\" c**").replace("</b><b>", ""), "<b>a \"b\" c</b>");
}

#[test]
fn break_tags_are_line_breaks() {
    for (typed, shown) in [
        ("one<br>two <BR/> three<br />four</br>five", "one\ntwo\nthree\nfour\nfive"),
        ("one<br>\ntwo\n<br>\nthree<br><br>four<br>", "one\ntwo\nthree\n\nfour"),
        ("<br>\n**bold** x\n\n<br>\n\n<br> last", "<b>bold</b> xlast"),
        ("**重要：**<br>**a<br>b** `x<br>`<br>`y`", "<b>重要：</b>\n<b>a\nb</b> <code>x<br></code>\n<code>y</code>"),
        ("<div>a<br>\nb</div>", "<div>a\nb</div>"),
        (r"\<br> <broken> <br", "<br> <broken> <br"),
    ] {
        assert_eq!(styled(typed), shown, "{typed}");
    }
    let table = text_of("| a |\n|---|\n| one<br>two <BR/> three<br /> |\n| `a<br>b` |", LinkDisplay::Embedded);
    assert_eq!(table.lines().skip(2).collect::<Vec<_>>(), ["one two three", "a<br>b"]);
    assert_eq!(text_of("```\na<br>b\n<br>\n```", LinkDisplay::Embedded), "a<br>b\n<br>");
    assert!(read("<br>\n\n<br/>", LinkDisplay::Embedded).is_empty());
    assert_eq!(words("# a<br>b"), "a\nb");
}

#[test]
fn formulas_stay_as_typed() {
    for typed in [r"\(x^2\)", r"so \(x^*\) and \(y^*\), \(a*b*c\)", "\\[ a_1 * b \\\\\n\\{d\\} _e_ \\]", "\\\\[x]"] {
        assert_eq!(styled(typed), typed.replace(r"\\[", r"\["));
    }
    for (typed, shown) in [
        (r"**so \(x_1\)** \* \_", r"<b>so \(x_1\)</b> * _"),
        ("> \\[ a\n> *b* \\]", "\\[ a\n*b* \\]"),
        (r"\(x *y\) z* \(", r"\(x *y\) z* ("),
        (r"1\) one :\( \[ \] \[x\](y) \(a\]", "1) one :( [ ] [x](y) (a]"),
        (r"`\(` *b* `\)` [x]\(y)", r"<code>\(</code> <i>b</i> <code>\)</code> [x](y)"),
        ("\\(a\n\nb\\)", "(ab)"),
    ] {
        assert_eq!(styled(typed), shown, "{typed}");
    }
    assert_eq!(text_of("```\n\\(x\\)\n```", LinkDisplay::Embedded), "\\(x\\)");
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
    fn phrases_in_brackets_are_bold(
        text in "[重要かな한글A1]{0,3}",
        phrase in "[「（《【][重要かなab]{1,5}[」）》】]",
        label in "[重要かなab]{1,5}[：。！？、…]",
        end in "[文かな한]{1,3}",
    ) {
        let typed = format!("字{text}**{phrase}**{end} **{label}**{end}");
        prop_assert_eq!(styled(&typed), format!("字{text}<b>{phrase}</b>{end} <b>{label}</b>{end}"));
    }

    #[test]
    fn marks_alone_are_lost(text in "[、。：「」（）！…重要한a1*~ ]{0,40}") {
        let visible = |text: &str| text.replace(['*', '~', ' '], "");
        prop_assert_eq!(visible(&text_of(&format!("字{text}"), LinkDisplay::Embedded)), visible(&format!("字{text}")));
    }

    #[test]
    fn code_is_exact(text in "[「」：重a*~<br>/\\\\()\\[\\] ]{1,40}") {
        prop_assert_eq!(text_of(&format!("```\n|{text}|\n```"), LinkDisplay::Embedded), format!("|{text}|"));
        prop_assert_eq!(text_of(&format!("    |{text}|"), LinkDisplay::Embedded), format!("|{text}|"));
        prop_assert_eq!(text_of(&format!("`|{text}|`"), LinkDisplay::Embedded), format!("|{text}|"));
    }

    #[test]
    fn other_text_is_read_without_separators(text in "([a-z0-9 \\[\\]()!<>*_`~\n.:\"/#|\\\\-]|\\*\\*){0,60}") {
        let ends_phrase = |run: &str, at: usize| {
            let (before, after) = text.split_at(at);
            before.ends_with(|c: char| c.is_ascii_punctuation())
                && after.trim_start_matches(run).starts_with(|c: char| c.is_ascii_alphanumeric() || run.starts_with(c))
        };
        let is_phrase = ["**", "~~"].iter().any(|run| text.match_indices(run).any(|(at, _)| ends_phrase(run, at)));
        prop_assert!(is_phrase || separators::insert(&text) == text);
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
    let seeds: [&[u8]; 5] = [
        b"# Head\n\n*a* **b** ~~c~~ `d` [e](https://f.example)\n\n> g\n\n- h\n  1. i\n",
        b"```rust\nfn a() {}\n```\n\n---\n\n![a](b \"c\")\n<b>x</b>\n",
        b"| a | b |\n|---|:-:|\n| c | d\\|e |\n\n- [ ] f\n- [x] g\n",
        b"[a]: https://b.example\n\n[a][] <https://c.example> d@e.example \\* &amp; &#x202e;\n",
        "字**（a）**b。*c：*d<br>\n\\(x^*\\) \\[\\\\ y\\]\n".as_bytes(),
    ];
    crate::fuzz::target("markdown", &seeds, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let blocks = read(&text, LinkDisplay::Embedded);
        let spelled = read(&words(&text), LinkDisplay::Embedded);
        (blocks, spelled.len().min(1))
    });
}
