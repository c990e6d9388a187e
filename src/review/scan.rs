//! The scan: looks for what an attack on the assistant looks like in the texts of a skill.
//!
//! It is an addition to the gate and replaces none of its stages: a finding can only make somebody
//! look, and that there is none proves nothing. Rules read the text through a view in which
//! disguises are undone (hidden characters, look-alike letters, figures for letters, letters set
//! apart), and say where in the original it stands. What an honest skill needs is left alone:
//! commands in a code block, words that are quoted in order to warn of them, orders that are
//! denied.
//!
//! Total on any input, linear in its length, at most [`MOST`] findings for a folder, in the order
//! of the files and then of the text.

mod command;
mod concealed;
mod context;
mod encoded;
mod fold;
mod fetched;
mod invisible;
mod links;
mod lookalike;
mod phrase;
mod phrases;
mod place;
mod role;
mod tongues;
mod words;

use std::collections::BTreeSet;
use std::ops::Range;

use super::Finding;
use super::diff;
use super::reveal::reveal;
use crate::skill::{MAIN, SkillFolder, manifest};

/// The most findings of one scan; one more says how many there were.
pub const MOST: usize = 50;

/// The most findings of one rule in one file. The first few say what there is to say.
const MOST_OF_A_RULE: usize = 8;

/// Something that a rule found, by its place in the original text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hit {
    rule: &'static str,
    at: Range<usize>,
    says: &'static str,
}

/// What is suspicious in a skill as it lies in the folder of that name.
pub fn scan_skill(name: &str, folder: &SkillFolder) -> Vec<Finding> {
    let mut findings = scan_name(name);
    findings.extend(scan(folder));
    findings
}

/// What is suspicious in the name of a skill's folder, which stands in every prompt.
pub fn scan_name(name: &str) -> Vec<Finding> {
    scan_text("name", name)
}

/// What is suspicious in a skill.
pub fn scan(folder: &SkillFolder) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, bytes) in folder.files() {
        findings.extend(scan_text("", path).into_iter().map(|finding| Finding { path: path.to_owned(), ..finding }));
        match diff::text(bytes) {
            Some(text) => {
                let found = scan_text(path, text);
                let told = if path == MAIN { told(text, &found) } else { Vec::new() };
                findings.extend(found.into_iter().chain(told));
            }
            None => findings.push(unreadable(path, bytes.len())),
        }
    }
    bounded(findings)
}

/// What is suspicious in the name and the description as a prompt tells them, and was not `found`
/// where they stand: front matter and Markdown may write a letter without writing it.
fn told(main: &str, found: &[Finding]) -> Vec<Finding> {
    let Ok((manifest, _)) = manifest::read(main, "") else { return Vec::new() };
    let told = format!("{}\n{}", manifest.name, manifest.description);
    let is_new = |finding: &Finding| !found.iter().any(|known| known.rule == finding.rule);
    scan_text(MAIN, &told).into_iter().filter(is_new).map(|finding| Finding { line: 1, column: 1, ..finding }).collect()
}

/// What is suspicious in a text. The path is only repeated; blank for the rationale of a proposal.
pub fn scan_text(path: &str, text: &str) -> Vec<Finding> {
    let mut hits = hits(text);
    hits.extend(encoded::find(text));
    hits.sort_by_key(|hit| (hit.at.start, hit.rule, hit.at.end));
    let lines = place::Lines::of(text);
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    for hit in hits {
        let (line, column) = lines.place(hit.at.start);
        let of_rule = seen.range((hit.rule, 0)..=(hit.rule, usize::MAX)).count();
        if of_rule < MOST_OF_A_RULE && seen.insert((hit.rule, line)) {
            findings.push(Finding {
                rule: hit.rule.to_owned(),
                path: path.to_owned(),
                line,
                column,
                excerpt: excerpt(text, &hit.at),
                says: hit.says.to_owned(),
            });
        }
    }
    bounded(findings)
}

/// All rules but the one that decodes, which uses these for what it decoded.
fn hits(text: &str) -> Vec<Hit> {
    let view = words::PlainText::of(text);
    let words = words::split(&view);
    let context = context::Context::of(text);
    let mut hits = invisible::find(text);
    hits.extend(lookalike::find(text));
    hits.extend(phrase::find(&words, &context));
    hits.extend(command::find(&view, &context));
    hits.extend(fetched::find(&view, &context));
    hits.extend(role::find(&view, &context));
    hits.extend(concealed::find(text, &context));
    hits.extend(links::find(text));
    hits
}

fn unreadable(path: &str, bytes: usize) -> Finding {
    Finding {
        rule: "binary".to_owned(),
        path: path.to_owned(),
        line: 1,
        column: 1,
        excerpt: format!("{bytes} bytes"),
        says: "This file is no text, so nobody can read what is in it.".to_owned(),
    }
}

fn bounded(mut findings: Vec<Finding>) -> Vec<Finding> {
    if findings.len() <= MOST {
        return findings;
    }
    let more = findings.len() - MOST;
    findings.truncate(MOST);
    if let Some(last) = findings.last().cloned() {
        let says = format!("{more} more findings are not listed.");
        findings.push(Finding { rule: "more".to_owned(), excerpt: String::new(), says, ..last });
    }
    findings
}

/// What stands there, and a little around it, on one line.
fn excerpt(text: &str, at: &Range<usize>) -> String {
    const BEFORE: usize = 24;
    let line = text.get(..at.start).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    let mut start = at.start.saturating_sub(BEFORE).max(line);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let shown: String = text.get(start..).unwrap_or_default().chars().take(160).collect();
    crate::text::shorten(&crate::text::one_line(&reveal(&shown)), 120)
}

#[cfg(test)]
mod tests;
