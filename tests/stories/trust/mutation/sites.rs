//! Places in the sources that can be made permissive.

use std::collections::BTreeMap;

use regex::Regex;

use super::lexer::Token;
use super::tree;

/// One place that can be mutated.
#[derive(Debug, PartialEq, Eq)]
pub struct Site {
    /// File, function, operation, number: stable when lines move.
    pub key: String,
    /// Format of `src/trust/mutation.rs`: `file:line:column`, or a piece of SQL and its replacement
    /// on two lines.
    pub place: String,
}

impl Site {
    /// Returns whether a story's trace contains this place.
    pub fn is_touched_by(&self, trace: &[String]) -> bool {
        match self.place.split_once('\n') {
            Some((piece, _)) => trace.iter().any(|line| line.contains(piece)),
            None => trace.contains(&self.place),
        }
    }
}

/// Functions of `src/trust.rs` that are marked `#[track_caller]`.
const OPERATIONS: &[&str] = &["untrusted", "join_of", "join_with", "absorb", "fits", "equals"];

/// Methods of other types with the same names.
const OTHERS: &[(&str, &str)] = &[
    ("src/admin/search/sources.rs", "fits"),
    ("src/admin/people.rs", "absorb"),
    ("src/app/people.rs", "absorb"),
    ("src/gateway/admission/access.rs", "absorb"),
    ("src/tool/web/tidy.rs", "fits"),
];

/// All places of the product.
pub fn all() -> Vec<Site> {
    let mut sites = Vec::new();
    let mut others: Vec<_> = OTHERS.to_vec();
    for source in tree::sources() {
        for (operation, site) in of_source(&source.path, &source.product) {
            if OTHERS.contains(&(&source.path, operation)) {
                others.retain(|other| *other != (source.path.as_str(), operation));
            } else {
                sites.push(site);
            }
        }
    }
    assert!(others.is_empty(), "these are listed as methods of other types, and are called no longer: {others:?}");
    sites
}

/// The places of one file, each with its operation.
fn of_source<'a>(path: &str, code: &'a [Token]) -> Vec<(&'a str, Site)> {
    let mut counts = BTreeMap::new();
    let mut sites = Vec::new();
    let mut key = |around: &str, operation: &str| {
        let count = counts.entry(format!("{around} {operation}")).and_modify(|count| *count += 1).or_insert(1);
        format!("{path} {around} {operation} {count}")
    };
    for (at, around) in surroundings(code).iter().enumerate() {
        let text = code[at].text.as_str();
        if text.starts_with('"') {
            let mutants = sql(text).into_iter();
            sites.extend(mutants.map(|place| ("sql", Site { key: key(around, "sql"), place })));
        } else if let Some(begin) = call(code, at) {
            let place = format!("{path}:{}:{}", code[begin].line, code[begin].column);
            sites.push((text, Site { key: key(around, text), place }));
        }
    }
    sites
}

/// Start of the call of the function named at `at`: of a method its name, of a function its path.
fn call(code: &[Token], at: usize) -> Option<usize> {
    let word = |at: usize| code.get(at).map_or("", |token| token.text.as_str());
    // The label of an empty join has nothing to lose.
    let is_neutral = word(at) == "join_of" && (word(at + 2), word(at + 3)) == ("[", "]");
    if !OPERATIONS.contains(&word(at)) || is_neutral || at < 2 {
        return None;
    }
    match (word(at - 2), word(at - 1)) {
        (_, ".") if word(at + 1) == "(" => Some(at),
        ("Label" | "Scope" | "Self", "::") => {
            assert_eq!(word(at + 1), "(", "line {}: {} has to be called where it stands", code[at].line, word(at));
            let mut begin = at - 2;
            while begin >= 2 && word(begin - 1) == "::" {
                begin -= 2;
            }
            Some(begin)
        }
        _ => None,
    }
}

/// The enclosing function of each token; outside of functions, the last constant before it.
fn surroundings(code: &[Token]) -> Vec<String> {
    let mut around = Vec::with_capacity(code.len());
    let (mut functions, mut begun, mut constant) = (Vec::<(&str, usize)>::new(), None::<(&str, usize)>, "-");
    let (mut braces, mut brackets) = (0_usize, 0_usize);
    for (at, token) in code.iter().enumerate() {
        let next = code.get(at + 1).map_or("", |token| token.text.as_str());
        let is_name = next.starts_with(|first: char| first == '_' || first.is_alphabetic());
        match token.text.as_str() {
            "fn" if is_name => begun = Some((next, brackets)),
            "const" if is_name && next != "fn" => constant = next,
            "{" => {
                braces += 1;
                // A brace between the brackets of the parameters is a pattern.
                functions.extend(begun.take_if(|(_, outside)| *outside == brackets).map(|(name, _)| (name, braces)));
            }
            "}" => {
                functions.pop_if(|(_, depth)| *depth == braces);
                braces = braces.saturating_sub(1);
            }
            "[" | "(" => brackets += 1,
            "]" | ")" => brackets = brackets.saturating_sub(1),
            // A function without a body.
            ";" => _ = begun.take_if(|(_, outside)| *outside == brackets),
            _ => {}
        }
        around.push(functions.last().map_or(constant, |(name, _)| name).to_owned());
    }
    around
}

/// Each scope check in a literal: the piece of SQL that contains it, and the same with a permissive
/// check.
fn sql(literal: &str) -> Vec<String> {
    static CHECK: std::sync::LazyLock<Regex> = std::sync::LazyLock::new(|| {
        Regex::new(r"(?P<before>(?:^|\b(?:WHERE|AND|OR|NOT|ON) |\())(?P<check>\+?(?:\w+\.)?scope (?:= |<> |IN \()(?:\?\d|\w+\.scope|'person:' \|\| \?\d)(?:, (?:\?\d|'shared'))?\)?)")
            .unwrap()
    });
    let mut mutants = Vec::new();
    for piece in pieces(literal) {
        for found in CHECK.captures_iter(&piece) {
            let check = found.name("check").unwrap();
            // A bracket not opened by the check belongs to the code around it.
            let end = check.end() - usize::from(check.as_str().ends_with(')') && !check.as_str().contains('('));
            let (before, check, after) = (&piece[..check.start()], &piece[check.start()..end], &piece[end..]);
            let is_like_others = before.is_empty() && after.is_empty() && check.contains(" = ");
            assert!(!is_like_others, "\"{check}\" cannot be told from others like it");
            mutants.push(format!("{piece}\n{before}({check} OR 1){after}"));
        }
    }
    mutants
}

/// A literal split at its placeholders, with single spaces.
fn pieces(literal: &str) -> Vec<String> {
    let text = literal.trim_matches('"').replace("\\\n", "\n").replace("\\\"", "\"");
    let text = text.split(['{', '}']).step_by(2);
    text.map(|piece| piece.split_ascii_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn places_are_found_by_their_functions() {
    let source = "const A: &str = \"x WHERE (scope = ?1)\";
        impl B {
            fn b(c: [u8; 2], C { d }: C) { d.absorb(&crate::trust::Label::untrusted(e)); f.join(\"g\"); d.absorb(h) }
            fn i() { Label::join_of([]); ensure!(j.fits(k)); \"SELECT a FROM b WHERE {l} AND +c.scope IN (?1, 'shared') AND d\" }
        }";
    let code = super::lexer::lex(source);
    let found: Vec<String> =
        of_source("a.rs", &code).into_iter().map(|(_, site)| format!("{} = {}", site.key, site.place)).collect();
    assert_eq!(
        found,
        [
            "a.rs A sql 1 = x WHERE (scope = ?1)\nx WHERE ((scope = ?1 OR 1))",
            "a.rs b absorb 1 = a.rs:3:46",
            "a.rs b untrusted 1 = a.rs:3:54",
            "a.rs b absorb 2 = a.rs:3:105",
            "a.rs i fits 1 = a.rs:4:52",
            "a.rs i sql 1 = AND +c.scope IN (?1, 'shared') AND d\nAND (+c.scope IN (?1, 'shared') OR 1) AND d",
        ]
    );
}

#[test]
fn only_checks_of_scope_are_mutated() {
    assert!(sql("\"UPDATE a SET b = ?3, scope = ?2\"").is_empty());
    assert!(sql("\"INSERT INTO a (scope) VALUES (?1)\"").is_empty());
    assert_eq!(sql("\"UPDATE a SET scope = ?2 WHERE scope = ?1\"").len(), 1);
    assert_eq!(sql("\"WHERE a = ?1 OR scope = 'person:' || ?1\"").len(), 1);
    assert_eq!(sql("\"(?1 IS NULL OR r.scope = ?1) AND o.scope = s.scope AND x\"").len(), 2);
}
