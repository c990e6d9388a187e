//! `docs/promises.md` against the tests it names: what is promised to a person is proved by a test
//! that exists and runs.

use super::lexer::{Token, attribute_end, lex};
use super::nothing_found;
use super::tree::{read, root};

const PAGE: &str = "docs/promises.md";

/// A row of the table: the promise in a user's words, and what is said to prove it.
struct Promise {
    words: String,
    proofs: Vec<String>,
}

fn promises(page: &str) -> Vec<Promise> {
    let rows = page.lines().filter_map(|line| line.trim().strip_prefix('|')?.strip_suffix('|'));
    rows.filter_map(|row| row.rsplit_once('|'))
        .skip_while(|(_, proofs)| !proofs.trim_start_matches([' ', ':']).starts_with("--"))
        .skip(1)
        .map(|(words, proofs)| Promise {
            words: words.trim().to_owned(),
            proofs: proofs
                .replace("<br>", ",")
                .split(',')
                .map(|proof| proof.trim().trim_matches('`').to_owned())
                .filter(|proof| !proof.is_empty())
                .collect(),
        })
        .collect()
}

/// The names of the functions that carry a test attribute, in `proptest!` blocks too.
fn tests_in(source: &str) -> Vec<String> {
    let tokens = lex(source);
    let mut names = Vec::new();
    let mut marked = false;
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at].text.as_str() {
            "#" if tokens.get(at + 1).is_some_and(|token| token.text == "[") => {
                let end = attribute_end(&tokens, at);
                marked |= is_test(&tokens[at + 2..end]);
                at = end;
                continue;
            }
            "fn" if std::mem::take(&mut marked) => names.extend(tokens.get(at + 1).map(|token| token.text.clone())),
            "{" | "}" | ";" => marked = false,
            _ => {}
        }
        at += 1;
    }
    names
}

/// Whether an attribute's path ends in `test`: `test`, `tokio::test`,
/// `tokio::test(start_paused = true)`.
fn is_test(attribute: &[Token]) -> bool {
    let path: Vec<&str> =
        attribute.iter().map(|token| token.text.as_str()).take_while(|text| !["(", "]", "="].contains(text)).collect();
    path.last() == Some(&"test")
}

/// `file::test_name`, or `file::compile_fail` for a doc test that must not compile.
fn unproved(proof: &str) -> Option<String> {
    let Some((path, name)) = proof.rsplit_once("::") else {
        return Some(format!("{proof} is not file::test_name"));
    };
    let Ok(source) = std::fs::read_to_string(root().join(path)) else {
        return Some(format!("{proof}: there is no such file"));
    };
    let exists = match name {
        "compile_fail" => source.contains("```compile_fail"),
        _ => tests_in(&source).iter().any(|test| test == name),
    };
    (!exists).then(|| format!("{proof}: there is no such test"))
}

fn findings(page: &str) -> Vec<String> {
    let mut findings = Vec::new();
    for promise in promises(page) {
        if promise.words.is_empty() || promise.proofs.is_empty() {
            findings.push(format!("\"{}\" names no promise or no test", promise.words));
        }
        findings.extend(promise.proofs.iter().filter_map(|proof| unproved(proof)));
    }
    findings
}

#[test]
fn every_promise_is_proved_by_a_test_that_exists() {
    let page = read(PAGE);
    assert!(!promises(&page).is_empty(), "{PAGE} promises nothing");
    nothing_found(&findings(&page));
}

#[test]
fn the_table_is_read_as_written() {
    let page = "# Title\n\n| promise (in a user's words) | proved by |\n|---|:---|\n| a, b | `x.rs::c`, `y.rs::d`<br>`z.rs::e` |\n";
    let rows = promises(page);
    assert_eq!((rows.len(), rows[0].words.as_str()), (1, "a, b"));
    assert_eq!(rows[0].proofs, ["x.rs::c", "y.rs::d", "z.rs::e"]);
}

#[test]
fn a_test_is_known_by_its_attribute() {
    let source = r#"
        #[test] fn a() {}
        #[tokio::test(start_paused = true)] async fn b() {}
        proptest! { #![proptest_config(x)] #[test] fn c(x in 0..4) {} }
        #[test] #[should_panic(expected = "x")] fn d() {}
        fn helper() {}
        // #[test] fn gone() {}
        #[cfg(test)] fn not_a_test() {}
        #[test_case] fn nor_this() {}
    "#;
    assert_eq!(tests_in(source), ["a", "b", "c", "d"]);
}

#[test]
fn a_promise_without_proof_is_seen() {
    let row = |proof: &str| findings(&format!("| promise | proved by |\n|---|---|\n| p | {proof} |\n")).len();
    let this = "tests/structure/promises.rs";
    assert_eq!(row(&format!("`{this}::a_promise_without_proof_is_seen`")), 0);
    for proof in [&format!("`{this}::tests_in`"), &format!("`{this}::nowhere`"), "`tests/nowhere.rs::a`", "later", ""] {
        assert_eq!(row(proof), 1, "{proof}");
    }
}
