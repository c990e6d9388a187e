//! The promises to users, each with the tests that prove it.
//!
//! A promise is a sentence in the doc comment of its best proof, after its area and name; every
//! further proof refers to that name:
//!
//! ```text
//! /// Promise (delivery/order): Answers arrive in the order of your messages.
//! /// Proves: delivery/order
//! ```
//!
//! A doc comment with a `compile_fail` block can do the same. `docs/promises-proved.md` lists all
//! promises; `COMPLINE_WRITE=promises cargo test -p structure promises` updates it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::lexer::{Token, attribute_end, is_doc, lex_with_docs};
use super::nothing_found;
use super::tree::{File, files, read, root};

const PAGE: &str = "docs/promises-proved.md";

const INTRODUCTION: &str = "\
# All promises, and the tests that prove them

Every promise that Compline makes to its users, by area, with the tests that fail when it is broken. Those that
matter most are in [promises.md](promises.md). A test is named as `file::test`; `file::compile_fail` is an example in the
documentation that must not compile.

This page is generated from the doc comments of the tests. After a change there, regenerate it with
`COMPLINE_WRITE=promises cargo test -p structure promises`.
";

/// The areas in the order of the page, with their headings.
const AREAS: &[(&str, &str)] = &[
    ("conversation", "Conversation"),
    ("delivery", "Delivery"),
    ("boundary", "Where a conversation ends"),
    ("trust", "Text from outside"),
    ("gate", "Approval"),
    ("skills", "Skills"),
    ("tools", "Tools"),
    ("memory", "Memory"),
    ("files", "Files"),
    ("search", "Search"),
    ("forgetting", "Forgetting"),
    ("privacy", "Privacy"),
    ("people", "People"),
    ("groups", "Groups"),
    ("channels", "Channels"),
    ("models", "Models and budget"),
    ("reflection", "Reflection"),
    ("time", "Scheduled work"),
    ("operation", "Operation"),
    ("command-line", "Command line"),
    ("page", "The page"),
];

/// A doc comment and its proof: a test, or an example that must not compile.
struct Comment {
    line: usize,
    paragraphs: Vec<String>,
    proof: Option<String>,
}

/// The sentence of a promise and its proofs; the first is that of the sentence.
#[derive(Default)]
struct Promise {
    sentence: String,
    proofs: Vec<String>,
}

/// All promises by area and name, and the faults in their statements.
#[derive(Default)]
struct Promises {
    by_name: BTreeMap<String, Promise>,
    findings: Vec<String>,
}

impl Promises {
    fn of(files: &[File]) -> Self {
        let mut promises = Self::default();
        let mut proofs = Vec::new();
        for file in files {
            for comment in comments(file) {
                let place = format!("{}:{}", file.path, comment.line);
                for paragraph in &comment.paragraphs {
                    promises.take(paragraph, &place, comment.proof.as_deref(), &mut proofs);
                }
            }
        }
        for (name, place, proof) in proofs {
            match promises.by_name.get_mut(&name) {
                Some(promise) => promise.proofs.push(proof),
                None => promises.findings.push(format!("{place}: no test states the promise {name}")),
            }
        }
        for promise in promises.by_name.values_mut() {
            promise.proofs[1..].sort();
        }
        promises
    }

    /// Takes a promise from a paragraph, or adds its references to `proofs`: name, place, proof.
    fn take(&mut self, paragraph: &str, place: &str, proof: Option<&str>, proofs: &mut Vec<(String, String, String)>) {
        let stated = paragraph.strip_prefix("Promise (");
        let proved = paragraph.strip_prefix("Proves:");
        if stated.is_none() && proved.is_none() {
            return;
        }
        let Some(proof) = proof else {
            return self.findings.push(format!("{place}: a promise that stands on no test"));
        };
        for name in proved.into_iter().flat_map(|names| names.split(',')) {
            proofs.push((name.trim().to_owned(), place.to_owned(), proof.to_owned()));
        }
        let Some(stated) = stated else { return };
        let (name, sentence) = stated.split_once("):").unwrap_or((stated, ""));
        let sentence = sentence.trim().to_owned();
        if !is_name(name) {
            self.findings.push(format!("{place}: {name} is not area/name"));
        } else if !sentence.ends_with('.') {
            self.findings.push(format!("{place}: the promise {name} has no sentence"));
        } else {
            let promise = Promise { sentence, proofs: vec![proof.to_owned()] };
            if self.by_name.insert(name.to_owned(), promise).is_some() {
                self.findings.push(format!("{place}: the promise {name} is stated twice"));
            }
        }
    }

    fn page(&self) -> String {
        let mut page = INTRODUCTION.to_owned();
        for (area, heading) in AREAS {
            let of_area = self.by_name.iter().filter(|(name, _)| name.split('/').next() == Some(*area));
            write!(page, "\n## {heading}\n\n").unwrap();
            for (name, promise) in of_area {
                writeln!(page, "- {} (`{name}`)", promise.sentence).unwrap();
                for proof in &promise.proofs {
                    writeln!(page, "  - `{proof}`").unwrap();
                }
            }
        }
        page
    }
}

/// Returns whether a name is a known area and a few words joined by hyphens.
fn is_name(name: &str) -> bool {
    name.split_once('/').is_some_and(|(area, words)| {
        let of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        AREAS.iter().any(|(known, _)| *known == area) && !words.is_empty() && words.chars().all(of_name)
    })
}

fn comments(file: &File) -> Vec<Comment> {
    let tokens = lex_with_docs(&file.text);
    let on_every_channel = listed_stories(&tokens);
    let mut comments = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let (end, lines, is_test) = head(&tokens, at);
        if !lines.is_empty() {
            let function = function(&tokens[end..]).filter(|name| is_test || on_every_channel.contains(name));
            let is_example = lines.iter().any(|line| line.starts_with("```compile_fail"));
            let name = function.or(is_example.then_some("compile_fail"));
            comments.push(Comment {
                line: tokens[at].line,
                paragraphs: paragraphs(&lines),
                proof: name.map(|name| format!("{}::{name}", file.path)),
            });
        }
        at = end.max(at + 1);
    }
    comments
}

/// Names that `on_every_channel!` makes tests of.
fn listed_stories(tokens: &[Token]) -> Vec<&str> {
    let words: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
    let list = words.windows(3).position(|words| words == ["on_every_channel", "!", "{"]);
    let listed = list.and_then(|start| words.get(start..)).unwrap_or_default();
    listed.iter().copied().take_while(|word| *word != "}").collect()
}

/// End of the doc comment and attributes that begin here, the lines of the comment, and whether an
/// attribute makes the item a test. The comment of a file stands alone.
fn head(tokens: &[Token], start: usize) -> (usize, Vec<&str>, bool) {
    let mut lines = Vec::new();
    let mut is_test = false;
    let mut at = start;
    let inner = tokens[start].text.starts_with("//!");
    while let Some(token) = tokens.get(at) {
        if is_doc(token) && token.text.starts_with("//!") == inner {
            lines.push(token.text[3..].trim());
            at += 1;
        } else if !inner && token.text == "#" && tokens.get(at + 1).is_some_and(|next| next.text == "[") {
            let end = attribute_end(tokens, at);
            is_test |= makes_test(&tokens[at + 2..end]);
            at = end;
        } else {
            break;
        }
    }
    (at, lines, is_test)
}

/// Returns whether an attribute's path ends in `test`: `test`, `tokio::test`,
/// `tokio::test(start_paused = true)`.
fn makes_test(attribute: &[Token]) -> bool {
    let path: Vec<&str> =
        attribute.iter().map(|token| token.text.as_str()).take_while(|text| !["(", "]", "="].contains(text)).collect();
    path.last() == Some(&"test")
}

/// Name of the function that begins here.
fn function(tokens: &[Token]) -> Option<&str> {
    let mut words = tokens.iter().map(|token| token.text.as_str());
    words.find(|word| !["pub", "async"].contains(word)).filter(|word| *word == "fn")?;
    words.next()
}

fn paragraphs(lines: &[&str]) -> Vec<String> {
    lines.split(|line| line.is_empty()).filter(|lines| !lines.is_empty()).map(|lines| lines.join(" ")).collect()
}

fn sources() -> Vec<File> {
    ["src", "tests"].into_iter().flat_map(files).filter(|file| file.path.ends_with(".rs")).collect()
}

#[test]
fn every_promise_is_stated_and_proved() {
    let promises = Promises::of(&sources());
    nothing_found(&promises.findings);
    let page = promises.page();
    if std::env::var("COMPLINE_WRITE").is_ok_and(|what| what == "promises") {
        std::fs::write(root().join(PAGE), page).unwrap();
        return;
    }
    let committed = read(PAGE);
    let lacks = |a: &str, b: &str| a.lines().filter(|line| !b.lines().any(|other| other == *line)).count();
    assert!(
        page == committed,
        "{PAGE} lacks {} lines and has {} too many: COMPLINE_WRITE=promises cargo test -p structure promises",
        lacks(&page, &committed),
        lacks(&committed, &page)
    );
}

fn promises(text: &str) -> Promises {
    Promises::of(&[File { path: "a.rs".to_owned(), text: text.to_owned() }])
}

#[test]
fn promises_are_read_from_the_comments_of_tests() {
    let found = promises(
        r#"
        //! Header.
        //!
        //! Proves: trust/b, trust/c
        //!
        //! ```compile_fail
        //! a();
        //! ```
        /// Promise (trust/b): One
        /// sentence.
        ///
        /// More about it.
        #[tokio::test(start_paused = true)] async fn z() {}
        // Promise (trust/d): A comment that is not about an item.
        proptest! { #![proptest_config(x)]
            /// Promise (trust/c): `[c] d = "e"` holds.
            #[test] fn c(x in 0..4) {} }
        /// Proves: trust/b
        #[cfg(unix)]
        #[test] #[should_panic(expected = "x")] fn d() {}
        on_every_channel! { stories: e, f; }
        /// Proves: trust/b
        async fn e(channel: TestChannel) {}
    "#,
    );
    assert_eq!(found.findings, Vec::<String>::new());
    let rows: Vec<_> = found.by_name.iter().map(|(name, row)| (name.as_str(), row.sentence.as_str())).collect();
    assert_eq!(rows, [("trust/b", "One sentence."), ("trust/c", "`[c] d = \"e\"` holds.")]);
    assert_eq!(found.by_name["trust/b"].proofs, ["a.rs::z", "a.rs::compile_fail", "a.rs::d", "a.rs::e"]);
    assert!(found.page().contains("\n- One sentence. (`trust/b`)\n  - `a.rs::z`\n"));
}

#[test]
fn a_promise_that_is_not_well_stated_is_seen() {
    let findings = |text: &str| promises(text).findings.len();
    let stated = "/// Promise (trust/a): A.\n#[test] fn a() {}";
    assert_eq!(findings(stated), 0);
    for fault in [
        "/// Promise (trust/a): A.\nfn a() {}",
        "/// Promise (trust/a): A.\n#[cfg(test)] fn a() {}",
        "/// Promise (trust/a): A.\n#[test_case] fn a() {}",
        "/// Proves: trust/a\nstruct A;\n#[test] fn a() {}",
        "//! Proves: trust/a\n#[test] fn a() {}",
        "/// Promise (trust/a):\n#[test] fn a() {}",
        "/// Promise (trust/a) A.\n#[test] fn a() {}",
        "/// Promise (trust): A.\n#[test] fn a() {}",
        "/// Promise (elsewhere/a): A.\n#[test] fn a() {}",
        "/// Proves: trust/b\n#[test] fn a() {}",
    ] {
        assert_eq!(findings(fault), 1, "{fault}");
    }
    assert_eq!(findings(&format!("{stated}\n/// Promise (trust/a): B.\n#[test] fn b() {{}}")), 1);
}
