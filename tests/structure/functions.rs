//! No function of the product is longer than a screen.

use super::lexer::{Token, find, lex, without_tests};
use super::nothing_found;
use super::tree::{File, Source, sources};

/// Maximum number of lines of a function, from its name to its last brace.
const LONGEST: usize = 80;

fn too_long(source: &Source) -> Vec<String> {
    if source.product.is_empty() {
        return Vec::new();
    }
    let code = without_tests(&lex(&source.text));
    (0..code.len())
        .filter_map(|at| Some((at, body(&code, at)?)))
        .map(|(at, end)| (&code[at + 1].text, code[at].line, code[end].line - code[at].line + 1))
        .filter(|(_, _, lines)| *lines > LONGEST)
        .map(|(name, line, lines)| format!("{}:{line}: fn {name} has {lines} lines", source.path))
        .collect()
}

/// Last brace of the function with its keyword at `at`; `None` without a body.
fn body(code: &[Token], at: usize) -> Option<usize> {
    let is_name = |token: &Token| token.text.starts_with(|c: char| c == '_' || c.is_alphabetic());
    if code[at].text != "fn" || !code.get(at + 1).is_some_and(is_name) {
        return None;
    }
    let opens = at + code[at..].iter().position(|token| matches!(token.text.as_str(), "{" | ";"))?;
    let mut depth = 0_usize;
    for (index, token) in code.iter().enumerate().skip(opens) {
        match token.text.as_str() {
            ";" if depth == 0 => return None,
            "{" => depth += 1,
            "}" if depth == 1 => return Some(index),
            "}" => depth -= 1,
            _ => {}
        }
    }
    None
}

#[test]
fn no_function_is_longer_than_a_screen() {
    let all: usize = sources().iter().map(|source| find(&source.product, "fn").len()).sum();
    assert!(all > 1000, "the scan found only {all} functions");
    nothing_found(&sources().iter().flat_map(too_long).collect::<Vec<_>>());
}

#[test]
fn a_long_function_is_seen() {
    let lines = |count: usize| "    x();\n".repeat(count);
    let count = |text: &str| too_long(&Source::from(File { path: "src/a.rs".to_owned(), text: text.to_owned() })).len();
    assert_eq!(count(&format!("fn a() {{\n{}}}\n", lines(LONGEST - 2))), 0);
    assert_eq!(count(&format!("fn a() {{\n{}}}\n", lines(LONGEST - 1))), 1);
    assert_eq!(count(&format!("impl A {{\n{}\n}}\n", "    fn a() {}\n".repeat(LONGEST))), 0);
    assert_eq!(count(&format!("trait A {{ fn a(b: [u8; 2]);\n{} }}", "fn b(f: fn(u8)) {\n}\n".repeat(LONGEST))), 0);
    assert_eq!(count(&format!("#[cfg(test)] mod tests {{ fn a() {{\n{}}} }}\n", lines(LONGEST))), 0);
}
