//! Tokens of Rust source: just enough of the language to find paths and calls.
//!
//! Comments are dropped, so prose never counts; [`lex_with_docs`] keeps doc comments. A string or
//! character literal stays as one token that begins with its quote and so never equals a word.
//! [`flatten`] rewrites every `use` tree as full paths, so that a search finds nested groups like
//! plain paths.

/// One word, one punctuation mark (`::` counts as one), or one literal, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Source text; a literal with its opening quote.
    pub text: String,
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
}

/// The tokens of a Rust source.
pub fn lex(source: &str) -> Vec<Token> {
    let mut tokens = lex_with_docs(source);
    tokens.retain(|token| !is_doc(token));
    tokens
}

/// Tokens including doc comments: each line is a token that begins with `///` or `//!`.
pub fn lex_with_docs(source: &str) -> Vec<Token> {
    let mut lexer =
        Lexer { chars: source.chars().collect(), at: 0, line: 1, line_start: 0, column: 1, tokens: Vec::new() };
    while lexer.at < lexer.chars.len() {
        lexer.step();
    }
    lexer.tokens
}

/// Returns whether a token is a line of a doc comment.
pub fn is_doc(token: &Token) -> bool {
    token.text.starts_with("//")
}

/// Lines on which a pattern, itself written as Rust tokens, occurs.
pub fn find(code: &[Token], pattern: &str) -> Vec<usize> {
    let wanted = lex(pattern);
    code.windows(wanted.len())
        .filter(|window| window.iter().zip(&wanted).all(|(a, b)| a.text == b.text))
        .map(|window| window[0].line)
        .collect()
}

/// Rewrites `use a::{b, c::{d, e}};` as `use a::b; use a::c::d; use a::c::e;`, and extracts paths
/// from the strings of attributes (`#[serde(with = "crate::store")]` imports as well).
pub fn flatten(tokens: &[Token]) -> Vec<Token> {
    let mut flat = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let next = tokens.get(at + 1).map(|token| token.text.as_str());
        if tokens[at].text == "use" && next != Some("<") {
            at = spread(tokens, at + 1, &[tokens[at].clone()], &mut flat);
        } else if tokens[at].text == "#" && matches!(next, Some("[" | "!")) {
            let end = attribute_end(tokens, at);
            flat.extend(tokens[at..end].iter().flat_map(unquoted));
            at = end;
        } else {
            flat.push(tokens[at].clone());
            at += 1;
        }
    }
    flat
}

/// Removes the items marked `#[cfg(test)]`. Unrecognised items stay, so the scan errs on the strict
/// side.
pub fn without_tests(tokens: &[Token]) -> Vec<Token> {
    // A whole file of tests says so at its beginning.
    if tokens.iter().map(|token| token.text.as_str()).take(8).eq(["#", "!", "[", "cfg", "(", "test", ")", "]"]) {
        return Vec::new();
    }
    let mut product = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match test_item_end(tokens, at) {
            Some(end) => at = end,
            None => {
                product.push(tokens[at].clone());
                at += 1;
            }
        }
    }
    product
}

/// End of the item that begins here with `#[cfg(test)]`, if there is one.
pub fn test_item_end(tokens: &[Token], start: usize) -> Option<usize> {
    let gate =
        |words: &[&str]| words.iter().zip(&tokens[start..]).filter(|(a, b)| **a == b.text).count() == words.len();
    if !gate(&["#", "[", "cfg", "(", "test", ")", "]"]) && !gate(&["#", "[", "cfg", "(", "all", "(", "test", ","]) {
        return None;
    }
    let mut at = start;
    while tokens.get(at)?.text == "#" {
        at = attribute_end(tokens, at);
    }
    is_item(&tokens[at..]).then(|| item_end(tokens, at))
}

/// Index after the attribute that begins here.
pub fn attribute_end(tokens: &[Token], start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token.text.as_str() {
            "[" => depth += 1,
            "]" if depth <= 1 => return at + 1,
            "]" => depth -= 1,
            _ => {}
        }
    }
    tokens.len()
}

fn is_item(tokens: &[Token]) -> bool {
    const ITEMS: &[&str] =
        &["mod", "fn", "impl", "use", "struct", "enum", "trait", "static", "const", "type", "async", "macro_rules"];
    let mut words = tokens.iter().map(|token| token.text.as_str());
    match words.next() {
        Some("pub") => words.find(|word| !["(", ")", "crate", "super", "in", "::"].contains(word)),
        first => first,
    }
    .is_some_and(|word| ITEMS.contains(&word))
}

fn item_end(tokens: &[Token], start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token.text.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" if depth <= 1 => return at + 1,
            "}" | ")" | "]" => depth = depth.saturating_sub(1),
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// Appends one full path per leaf of the `use` tree that begins at `at`; returns the end of the
/// tree.
fn spread(tokens: &[Token], mut at: usize, prefix: &[Token], flat: &mut Vec<Token>) -> usize {
    let mut path = prefix.to_vec();
    let mut grouped = false;
    while let Some(token) = tokens.get(at) {
        match token.text.as_str() {
            "{" => {
                grouped = true;
                at += 1;
                while tokens.get(at).is_some_and(|token| token.text != "}") {
                    at = spread(tokens, at, &path, flat);
                    at += usize::from(tokens.get(at).is_some_and(|token| token.text == ","));
                }
                at += 1;
            }
            end @ (";" | "," | "}") => {
                if !grouped && path.len() > prefix.len() {
                    path.push(Token { text: ";".to_owned(), ..token.clone() });
                    flat.append(&mut path);
                }
                return at + usize::from(end == ";");
            }
            _ => {
                path.push(token.clone());
                at += 1;
            }
        }
    }
    at
}

fn unquoted(token: &Token) -> Vec<Token> {
    let inner = token.text.trim_matches('"');
    let is_path = ["crate::", "super::", "self::"].iter().any(|root| inner.starts_with(root));
    if token.text.starts_with('"') && is_path {
        lex(inner).into_iter().map(|inner| Token { line: token.line, column: token.column, ..inner }).collect()
    } else {
        vec![token.clone()]
    }
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    line: usize,
    line_start: usize,
    /// Column of the current token.
    column: usize,
    tokens: Vec<Token>,
}

impl Lexer {
    fn step(&mut self) {
        let line = self.line;
        self.column = self.at - self.line_start + 1;
        match (self.peek(0), self.peek(1)) {
            (Some('/'), Some('/')) => self.line_comment(line),
            (Some('/'), Some('*')) => self.block_comment(),
            (Some('"'), _) => self.quoted(line),
            (Some('\''), _) => self.char_or_lifetime(line),
            (Some(':'), Some(':')) => {
                self.at += 2;
                self.push("::".to_owned(), line);
            }
            (Some(c), _) if c == '_' || c.is_alphanumeric() => self.word(line),
            (Some(c), _) => {
                self.bump();
                if !c.is_whitespace() {
                    self.push(c.to_string(), line);
                }
            }
            (None, _) => {}
        }
    }

    fn line_comment(&mut self, line: usize) {
        let start = self.at;
        self.skip_while(|c| c != '\n');
        let text: String = self.chars[start..self.at].iter().collect();
        if text.starts_with("//!") || text.starts_with("///") && !text.starts_with("////") {
            self.push(text, line);
        }
    }

    fn word(&mut self, line: usize) {
        let word = self.take_word();
        match (word.as_str(), self.peek(0), self.peek(1)) {
            ("r" | "br" | "cr", Some('"'), _) | ("r" | "br" | "cr", Some('#'), Some('"' | '#')) => self.raw(line),
            ("r", Some('#'), _) => {
                self.at += 1;
                let word = self.take_word();
                self.push(word, line);
            }
            ("b" | "c", Some('"'), _) => self.quoted(line),
            ("b", Some('\''), _) => self.char_or_lifetime(line),
            _ => self.push(word, line),
        }
    }

    fn take_word(&mut self) -> String {
        let start = self.at;
        self.skip_while(|c| c == '_' || c.is_alphanumeric());
        self.chars[start..self.at].iter().collect()
    }

    fn quoted(&mut self, line: usize) {
        let start = self.at;
        self.bump();
        while let Some(c) = self.bump() {
            match c {
                '\\' => drop(self.bump()),
                '"' => break,
                _ => {}
            }
        }
        let text = self.chars[start..self.at].iter().collect();
        self.push(text, line);
    }

    fn raw(&mut self, line: usize) {
        let hashes = self.chars[self.at..].iter().take_while(|c| **c == '#').count();
        let end: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
        self.at += hashes + 1;
        let start = self.at;
        while self.at < self.chars.len() && !self.chars[self.at..].starts_with(&end) {
            self.bump();
        }
        let inner: String = self.chars[start..self.at].iter().collect();
        self.at = (self.at + end.len()).min(self.chars.len());
        self.push(format!("\"{inner}\""), line);
    }

    fn char_or_lifetime(&mut self, line: usize) {
        let is_char = self.peek(1) == Some('\\') || self.peek(2) == Some('\'');
        self.bump();
        if !is_char {
            let name = self.take_word();
            return self.push(format!("'{name}"), line);
        }
        let escaped = self.bump() == Some('\\');
        if escaped {
            self.bump();
        }
        self.skip_while(|c| c != '\'');
        self.bump();
        self.push("'".to_owned(), line);
    }

    fn block_comment(&mut self) {
        let mut depth = 0_usize;
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => depth += 1,
                (Some('*'), Some('/')) => depth -= 1,
                (None, _) => return,
                _ => {
                    self.bump();
                    continue;
                }
            }
            self.at += 2;
            if depth == 0 {
                return;
            }
        }
    }

    fn skip_while(&mut self, skip: impl Fn(char) -> bool) {
        while self.peek(0).is_some_and(&skip) {
            self.bump();
        }
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek(0)?;
        self.at += 1;
        if c == '\n' {
            self.line += 1;
            self.line_start = self.at;
        }
        Some(c)
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn push(&mut self, text: String, line: usize) {
        self.tokens.push(Token { text, line, column: self.column });
    }
}

fn words(tokens: &[Token]) -> String {
    tokens.iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn comments_and_literals_are_no_code() {
    let source = r####"
        //! crate::a
        /* crate::b /* crate::c */ crate::d */
        let x = "crate::e \" crate::f"; let y = r##"crate::g "# "##; let z = ('"', b'\'', '\u{41}', 'l');
        fn f<'a>(r#type: &'a str) { b"crate::h"; }
    "####;
    let tokens = lex(source);
    assert!(find(&tokens, "crate").is_empty(), "{}", words(&tokens));
    assert_eq!(find(&tokens, "type"), [5]);
    assert_eq!(find(&tokens, "&'a str"), [5]);
}

#[test]
fn doc_comments_are_kept_on_request() {
    let source = "//! a\n// b\n//// c\n/// d \"e\nfn f() { \"/// g\" } // h /// i\n";
    let docs: Vec<_> = lex_with_docs(source).into_iter().filter(is_doc).map(|token| token.text).collect();
    assert_eq!(docs, ["//! a", "/// d \"e"]);
    assert_eq!(words(&lex(source)), "fn f ( ) { \"/// g\" }");
}

#[test]
fn a_token_has_its_place() {
    let places: Vec<_> = lex("é.a(\n  \"x\ny\").b").into_iter().map(|token| (token.line, token.column)).collect();
    assert_eq!(places, [(1, 1), (1, 2), (1, 3), (1, 4), (2, 3), (3, 3), (3, 4), (3, 5)]);
}

#[test]
fn use_trees_are_written_out() {
    let flat = |source| words(&flatten(&lex(source)));
    assert_eq!(
        flat("use a::{self as s, b::{c, d,}, e::*}; f();"),
        "use a :: self as s ; use a :: b :: c ; use a :: b :: d ; use a :: e :: * ; f ( ) ;"
    );
    assert_eq!(flat("use {a, b};"), "use a ; use b ;");
    assert_eq!(flat("fn f() -> impl T + use<'a> {}"), "fn f ( ) - > impl T + use < 'a > { }");
    assert_eq!(
        flat(r#"#[serde(with = "crate::x")] a: "crate::y""#),
        r#"# [ serde ( with = crate :: x ) ] a : "crate::y""#
    );
}

#[test]
fn test_items_are_left_out_and_nothing_else() {
    let product = |source| words(&without_tests(&lex(source)));
    assert_eq!(product("fn a() {} #[cfg(test)] mod tests { fn b() {} } fn c() {}"), "fn a ( ) { } fn c ( ) { }");
    assert_eq!(product("#[cfg(test)] #[allow(x)] pub(crate) fn a(b: [u8; 2]) { c } d"), "d");
    assert_eq!(product("#[cfg(test)] use a::b; c"), "c");
    assert_eq!(product("#[cfg(all(test, unix))] mod tests; c"), "c");
    assert_eq!(product("#[cfg(not(test))] fn a() {}"), "# [ cfg ( not ( test ) ) ] fn a ( ) { }");
    assert!(product("struct A { #[cfg(test)] b: B, c: C }").contains("c : C"));
}
