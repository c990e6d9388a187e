//! The program's own words are trusted, so messages consist of numbers, times and constants.
//! Functions that take a text are listed with its kind: a name that was validated on input, or a
//! time written by the program.

use std::collections::{BTreeMap, BTreeSet};

use super::lexer::Token;
use super::nothing_found;
use super::tree::{File, Source, read, sources};

/// File, function, and kind of its texts.
const TEXTS: &[(&str, &str, &str)] = &[
    ("src/wording/access.rs", "let_in", "names of people, and an address made plain"),
    ("src/wording/access.rs", "admitted_by", "names of people, and an address made plain"),
    ("src/wording/access.rs", "linked", "names of people, and an address made plain"),
    ("src/wording/access.rs", "promoted", "the name of a person, and an address made plain"),
    ("src/wording/access.rs", "configured", "the name of a person"),
    ("src/wording/access.rs", "configured_address", "the name of a person, and an address made plain"),
    ("src/wording/access.rs", "namesake", "the name of a person"),
    ("src/wording/skill.rs", "waits_from", "the name of a person"),
    ("src/wording/skill.rs", "decided_by", "the name of a person"),
    ("src/wording/gateway.rs", "set_aside_of", "the name of a person and of a channel"),
    ("src/wording/gateway.rs", "welcome", "the names of a person and of the assistant"),
    ("src/wording/gateway.rs", "unsupported", "an adapter's word for a kind of message"),
    ("src/wording/gateway.rs", "group_not_allowed", "the number of a chat"),
    ("src/wording/gateway.rs", "joined", "the name of a person"),
    ("src/wording/gateway.rs", "join_means", "the name of a person"),
    ("src/wording/command.rs", "preferred_is_gone", "names of models from the configuration"),
    ("src/wording/access.rs", "handed_over", "names of people, and a folder that is named after one"),
    ("src/wording/schedule.rs", "heartbeat", "a time"),
    ("src/wording/prompt.rs", "nothing_said", "a time, and who speaks"),
    ("src/wording/prompt.rs", "gone", "a time, and who speaks"),
    ("src/wording/prompt.rs", "forgotten", "a time, and who speaks"),
    ("src/wording/prompt.rs", "they_agreed", "a time"),
    ("src/wording/prompt.rs", "they_declined", "a time"),
    ("src/wording/prompt.rs", "they_were_silent", "a time"),
    ("src/wording/schedule.rs", "quiet", "a period"),
    ("src/wording/reflection.rs", "task", "a period, and the name of a person"),
    ("src/wording/reflection.rs", "failed", "a job, a period, the name of a person, and our own reason"),
    ("src/wording/reminder.rs", "to_do", "times, and our own words"),
    ("src/wording/reminder.rs", "not_done", "a time"),
    ("src/wording/reminder.rs", "finished", "a time"),
    ("src/wording/reminder.rs", "again_at", "a time"),
    ("src/wording/review.rs", "reviewer", "a boundary made of digits"),
    ("src/wording/learned.rs", "notice", "a model of the configuration, our own sentences, and numbers"),
    ("src/wording/prompt.rs", "call_as_tool", "the name of an offered tool"),
    ("src/wording/prompt.rs", "call_made", "the name of a tool of the program"),
    ("src/wording/prompt.rs", "entry_set", "a kind, and a time"),
    ("src/wording/turn.rs", "over_budget", "which budget it is"),
    ("src/wording/turn.rs", "unheard_over_budget", "which budget it is"),
    ("src/wording/turn.rs", "unheard_above_limit", "a key of the configuration"),
    ("src/wording/turn.rs", "above_limit", "a key of the configuration"),
    ("src/wording/turn.rs", "late", "a time"),
    ("src/wording/turn.rs", "unreadable_files", "names of the files that every home has"),
];

/// Functions of a file that build trusted words from a text.
fn with_text(code: &[Token]) -> Vec<&str> {
    let text = |at: usize| code.get(at).map_or("", |token: &Token| token.text.as_str());
    let mut found = Vec::new();
    for at in (0..code.len()).filter(|at| text(*at) == "fn") {
        let Some(body) = (at..code.len()).find(|end| [";", "{"].contains(&text(*end))) else { continue };
        let signature: Vec<&str> = (at..body).map(text).collect();
        let makes_words =
            signature.ends_with(&["->", "ProgramText"]) || signature.ends_with(&["-", ">", "ProgramText"]);
        let is_text = |place: usize| match signature[place] {
            "String" => true,
            "str" => signature.get(place.wrapping_sub(1)) != Some(&"'static"),
            _ => false,
        };
        if makes_words && (0..signature.len()).any(is_text) && signature[1] != "message" {
            found.push(text(at + 1));
        }
    }
    found
}

#[test]
fn no_message_takes_a_text_that_is_not_listed() {
    let mut listed: Vec<_> = TEXTS.iter().map(|(file, function, _)| (*file, *function)).collect();
    let mut findings = Vec::new();
    for source in sources().iter().filter(|source| source.path.starts_with("src/wording")) {
        for function in with_text(&source.product) {
            match listed.iter().position(|one| *one == (source.path.as_str(), function)) {
                Some(at) => drop(listed.remove(at)),
                None => findings.push(format!("{} {function} makes trusted words of a text", source.path)),
            }
        }
    }
    findings.extend(listed.iter().map(|(file, function)| format!("{file} {function} is listed and takes no text")));
    nothing_found(&findings);
}

#[test]
fn a_message_of_a_text_is_found() {
    let text = "pub fn a(name: &str) -> ProgramText { b() } fn c(n: u64, why: &'static str) -> ProgramText { d() }
        pub fn e(names: &[String]) -> ProgramText { f() } pub fn g(name: &str) -> String { h() }";
    let source = Source::from(File { path: "src/wording/a.rs".to_owned(), text: text.to_owned() });
    assert_eq!(with_text(&source.product), ["a", "e"]);
}

/// Sentences of a catalogue file by key, each with its variables.
fn catalogue(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut key = String::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some((name, _)) = line.split_once(" = ").filter(|(name, _)| !name.contains([' ', '{', '['])) {
            name.clone_into(&mut key);
            found.entry(key.clone()).or_default();
        }
        let variables = line.split('$').skip(1).map(|rest| {
            rest.split(|c: char| !c.is_ascii_lowercase() && c != '_').next().unwrap_or_default().to_owned()
        });
        found.entry(key.clone()).or_default().extend(variables);
    }
    found.remove("");
    found
}

/// Sentences that code says, each with its variables: `say!(…, "key", name = …)` and
/// `Sentence("key")`.
fn said(code: &[Token]) -> Vec<(String, BTreeSet<String>)> {
    let text = |at: usize| code.get(at).map_or("", |token: &Token| token.text.as_str());
    let mut found = Vec::new();
    for at in 0..code.len() {
        if text(at) == "Sentence" && text(at + 1) == "(" && text(at + 2).starts_with('"') {
            found.push((text(at + 2).trim_matches('"').to_owned(), BTreeSet::new()));
        }
        if text(at) != "say" || text(at + 1) != "!" || text(at + 2) != "(" {
            continue;
        }
        let (mut depth, mut end, mut key, mut variables) = (1, at + 3, None, BTreeSet::new());
        while depth > 0 && end < code.len() {
            match text(end) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                literal if depth == 1 && key.is_none() && literal.starts_with('"') => {
                    key = Some(literal.trim_matches('"').to_owned());
                }
                "=" if depth == 1 && text(end - 2) == "," => drop(variables.insert(text(end - 1).to_owned())),
                _ => {}
            }
            end += 1;
        }
        found.extend(key.map(|key| (key, variables)));
    }
    found
}

#[test]
fn every_sentence_of_the_catalogue_is_said_with_its_variables() {
    let english = catalogue(&read("src/wording/catalogue/en.ftl"));
    let (mut findings, mut used) = (Vec::new(), BTreeSet::new());
    for source in sources().iter().filter(|source| source.path.starts_with("src/wording")) {
        for (key, variables) in said(&source.product) {
            match english.get(&key) {
                None => findings.push(format!("{} says {key}, which the catalogue lacks", source.path)),
                Some(known) if *known != variables => {
                    findings.push(format!("{} says {key} with {variables:?} instead of {known:?}", source.path));
                }
                Some(_) => drop(used.insert(key)),
            }
        }
    }
    findings.extend(english.keys().filter(|key| !used.contains(*key)).map(|key| format!("nothing says {key}")));
    nothing_found(&findings);
}

#[test]
fn a_sentence_of_code_is_found() {
    let text = "const A: Sentence = Sentence(\"a-b\"); fn c() { say!(language, \"c-d\", e = f(g, \"h\"), i = j) }";
    let source = Source::from(File { path: "src/wording/a.rs".to_owned(), text: text.to_owned() });
    let found: Vec<String> = said(&source.product).iter().map(|(key, names)| format!("{key} {names:?}")).collect();
    assert_eq!(found, ["a-b {}", "c-d {\"e\", \"i\"}"]);
    let file = catalogue("a-b = Yes\nc-d = { $e ->\n    [one] { $i }\n   *[other] no\n}\n");
    assert_eq!(file.keys().collect::<Vec<_>>(), ["a-b", "c-d"]);
    assert_eq!(file["c-d"].iter().collect::<Vec<_>>(), ["e", "i"]);
}

/// Sentences in which a restart is meant: of another program, of what was cut off, or where the
/// environment of the process has changed.
const RESTARTS: &[&str] = &[
    "if this lasts, restart the daemon",
    "It is restarted automatically",
    "a reload does not see it",
    "cut off by a restart",
    "restart it; what was accepted is not lost",
    "If it lasts, start the gateway again",
    "if it is to start again from the replica",
    "free as much space as the journal takes, and start again",
];

/// `compline reload` reads the whole configuration again, so no sentence may ask for a restart
/// instead.
#[test]
fn no_sentence_asks_for_a_restart_where_a_reload_is_enough() {
    let mut findings = Vec::new();
    for source in sources().iter().filter(|source| source.path.starts_with("src/wording")) {
        let literals = source.product.iter().map(|token| token.text.as_str()).filter(|text| text.starts_with('"'));
        for literal in literals.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ").replace("\\ ", "")) {
            let asks = ["restart", "start again", "start the gateway again"].iter().any(|word| literal.contains(word));
            if asks && literal.contains(' ') && !RESTARTS.iter().any(|known| literal.contains(known)) {
                findings.push(format!("{}: {literal}", source.path));
            }
        }
    }
    for code in ["en", "de", "es"] {
        let path = format!("src/wording/catalogue/{code}.ftl");
        let asks = |line: &&str| ["restart", "neu start", "Neustart", "reinici"].iter().any(|word| line.contains(word));
        findings.extend(read(&path).lines().filter(asks).map(|line| format!("{path}: {line}")));
    }
    nothing_found(&findings);
}
