//! The published rules of the format, as its reference validator understands them; a test compares
//! the two.
//!
//! This check is stricter in three points. A name is ASCII, as the text of the rules says, because
//! people type it and must not confuse similar letters. Three dashes within the front matter are
//! refused, because that validator silently ends the front matter there while other programs do
//! not: a text that two programs read differently must not be approved. And `~` is YAML for null,
//! so it is not a description.

use super::{LONGEST_COMPATIBILITY, LONGEST_DESCRIPTION, ManifestParts, ManifestProblem, Problem, split};
use crate::skill::front::{self, Front, FrontMatterEntry, Value};
use crate::skill::name;

const KEYS: [&str; 6] = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// Returns all violations of the published rules in this `SKILL.md` of the folder with this name.
pub fn strict(text: &str, folder: &str) -> Vec<Problem> {
    let parts = match split(text) {
        Ok(parts) => parts,
        Err(problem) => return vec![problem],
    };
    // The reference validator expects the dashes as the very first characters.
    if parts.line == 0 || !text.starts_with("---") {
        return vec![Problem { line: 1, what: ManifestProblem::NoFront }];
    }
    match front::parse(parts.front) {
        Ok(front) => in_front(&front, &parts, folder),
        Err(broken) => vec![Problem { line: parts.line + broken.line, what: ManifestProblem::Yaml(broken.why) }],
    }
}

fn in_front(front: &Front, parts: &ManifestParts<'_>, folder: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    if let Some((line, what)) = front.unusual {
        problems.push(Problem { line: parts.line + line, what: ManifestProblem::Unusual(what) });
    }
    if let Some(index) = parts.front.lines().position(|line| line.contains("---")) {
        problems.push(Problem { line: parts.line + index + 1, what: ManifestProblem::Dashes });
    }
    let field = |key: &'static str| front.entries.iter().find(|entry| entry.key == key);
    let at = |entry: Option<&FrontMatterEntry>| parts.line + entry.map_or(0, |entry| entry.line);
    let mut add = |entry: Option<&FrontMatterEntry>, what: Vec<ManifestProblem>| {
        problems.extend(what.into_iter().map(|what| Problem { line: at(entry), what }));
    };
    add(field("name"), in_name(field("name"), folder));
    add(field("description"), in_description(field("description")));
    add(field("compatibility"), field("compatibility").map(in_compatibility).unwrap_or_default());
    for entry in front.entries.iter().filter(|entry| !KEYS.contains(&entry.key.as_str())) {
        add(Some(entry), vec![ManifestProblem::UnknownKey(crate::text::shorten(&entry.key, 60))]);
    }
    problems.sort_by_key(|problem| problem.line);
    problems
}

fn in_name(entry: Option<&FrontMatterEntry>, folder: &str) -> Vec<ManifestProblem> {
    let given = match entry.map(|entry| &entry.value) {
        None => return vec![ManifestProblem::NoName],
        Some(Value::Text(name)) => name.trim(),
        Some(_) => return vec![ManifestProblem::NotOneText("name")],
    };
    let shown = crate::text::shorten(given, 80);
    if given.is_empty() {
        vec![ManifestProblem::NoName]
    } else if !name::is_valid(given) {
        vec![ManifestProblem::BadName(shown)]
    } else if given != folder {
        vec![ManifestProblem::OtherName { name: shown, folder: crate::text::shorten(folder, 80) }]
    } else {
        Vec::new()
    }
}

fn in_description(entry: Option<&FrontMatterEntry>) -> Vec<ManifestProblem> {
    match entry.map(|entry| &entry.value) {
        None => vec![ManifestProblem::NoDescription],
        Some(Value::Text(text)) if text.trim().is_empty() => vec![ManifestProblem::NoDescription],
        Some(Value::Text(text)) => too_long("description", text, LONGEST_DESCRIPTION),
        Some(_) => vec![ManifestProblem::NotOneText("description")],
    }
}

fn in_compatibility(entry: &FrontMatterEntry) -> Vec<ManifestProblem> {
    match &entry.value {
        Value::Text(text) => too_long("compatibility", text, LONGEST_COMPATIBILITY),
        _ => vec![ManifestProblem::NotOneText("compatibility")],
    }
}

fn too_long(key: &'static str, text: &str, most: usize) -> Vec<ManifestProblem> {
    let length = text.chars().count();
    if length > most { vec![ManifestProblem::TooLong { key, length, most }] } else { Vec::new() }
}
