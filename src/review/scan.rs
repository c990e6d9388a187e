//! The scan: searches the texts of a skill for what is hidden, disguised or imitated.
//!
//! It says what is certain: hidden and direction-changing characters, look-alike letters, concealed
//! links, text that is not shown, encoded text, imitated marks and approvals. What a text makes the
//! assistant do is the subject of [`effects`](super::effects). The absence of findings proves
//! nothing. Constructs that honest skills need are left alone.
//!
//! Total on any input, linear in its length, at most [`MOST`] findings for a folder, ordered by
//! file and position.

mod disguises;
mod hidden;
mod patterns;

use std::collections::BTreeSet;
use std::ops::Range;

use super::Finding;
use super::diff;
use super::plain_text::{PlainText, split};
use super::reveal::reveal;
use super::text_context::Context;
use crate::skill::{MAIN, SkillFolder, manifest};

/// The maximum number of findings of one scan; one more states how many were left out.
pub const MOST: usize = 50;

/// The maximum number of findings of one rule in one file. The first few are sufficient.
const MOST_OF_A_RULE: usize = 8;

/// A match of a rule, with its position in the original text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hit {
    rule: &'static str,
    at: Range<usize>,
    says: &'static str,
}

/// Scans a skill together with the name of its folder.
pub fn scan_skill(name: &str, folder: &SkillFolder) -> Vec<Finding> {
    let mut findings = scan_name(name);
    findings.extend(scan(folder));
    findings
}

/// Scans the name of a skill's folder, which appears in every prompt.
pub fn scan_name(name: &str) -> Vec<Finding> {
    scan_text("name", name)
}

/// Scans the files of a skill.
pub fn scan(folder: &SkillFolder) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, bytes) in folder.files() {
        findings.extend(scan_text("", path).into_iter().map(|finding| Finding { path: path.to_owned(), ..finding }));
        match diff::text(bytes) {
            Some(text) => {
                let of_text = scan_text(path, text);
                let of_prompt = if path == MAIN { scan_prompt_lines(text, &of_text) } else { Vec::new() };
                findings.extend(of_text.into_iter().chain(of_prompt));
            }
            None => findings.push(unreadable(path, bytes.len())),
        }
    }
    bounded(findings)
}

/// Scans the name and the description as they appear in a prompt. Returns findings that are not in
/// `known`: front matter and Markdown can encode a letter without writing it.
fn scan_prompt_lines(main: &str, known: &[Finding]) -> Vec<Finding> {
    let Ok((manifest, _)) = manifest::read(main, "") else { return Vec::new() };
    let prompt = format!("{}\n{}", manifest.name, manifest.description);
    let is_new = |finding: &Finding| !known.iter().any(|known| known.rule == finding.rule);
    scan_text(MAIN, &prompt)
        .into_iter()
        .filter(is_new)
        .map(|finding| Finding { line: 1, column: 1, ..finding })
        .collect()
}

/// Scans a text. The path is only copied to the findings; blank for the rationale of a proposal.
pub fn scan_text(path: &str, text: &str) -> Vec<Finding> {
    let mut hits = hits(text);
    hits.extend(hidden::encoded_text(text));
    hits.sort_by_key(|hit| (hit.at.start, hit.rule, hit.at.end));
    let lines = Lines::of(text);
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

/// Applies all rules except the decoding one, which uses these rules on what it decoded.
fn hits(text: &str) -> Vec<Hit> {
    let view = PlainText::of(text);
    let context = Context::of(text);
    let mut hits = disguises::invisible(text);
    hits.extend(disguises::lookalikes(text));
    hits.extend(disguises::spelled(&split(&view)));
    hits.extend(patterns::markers(&view, &context));
    hits.extend(hidden::hidden_text(text, &context));
    hits.extend(disguises::links(text));
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

/// Returns the matched text with a little context, on one line.
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

/// The start of each line of a text.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { text, starts: std::iter::once(0).chain(ends).collect() }
    }

    /// Returns line and column, both from 1, the column in characters.
    fn place(&self, at: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= at);
        let start = line.checked_sub(1).and_then(|line| self.starts.get(line)).copied().unwrap_or(0);
        (line, self.text.get(start..at).map_or(0, |before| before.chars().count()) + 1)
    }
}

#[cfg(test)]
mod tests;
