//! A skill's description of itself in `SKILL.md`: the front matter of the open Agent Skills format,
//! or a heading and a paragraph. A note becomes a `SKILL.md` under a name and a description derived
//! from it.
//!
//! Reading is lenient, so that files written for other programs load: unknown keys are ignored, a
//! list may be a list or a text, invalid YAML is read line by line, and the first paragraph
//! replaces a missing description, unless a key looks like a misspelt one. Neither way of reading examines what a skill tells a model to
//! do.
//!
//! [`strict`] is for authors: it reports all violations of the published rules, as the format's
//! reference validator understands them (a test compares the two), and is stricter in three points.
//! A name is ASCII, as the text of the rules says, because people type it and must not confuse
//! similar letters. Three dashes within the front matter are refused, because that validator
//! silently ends the front matter there while other programs do not: a text that two programs read
//! differently must not be approved. And `~` is YAML for null, so it is not a description.

use std::collections::BTreeMap;

use super::folder::{MAIN, SkillFolder};
use super::front::{self, Front, FrontMatterEntry, Value};
use super::name;
use crate::text::{one_line, shorten};

/// The maximum size of front matter in bytes.
pub const LONGEST_FRONT: usize = 64 * 1024;

/// The maximum number of characters of a description.
pub const LONGEST_DESCRIPTION: usize = 1_024;

/// The maximum number of characters of a compatibility note.
pub const LONGEST_COMPATIBILITY: usize = 500;

/// The number of wrong letters in a key that was meant as `description`.
const MISSPELT: usize = 2;

/// A skill's description of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The name: as given, or the name of the folder.
    pub name: String,
    /// The purpose and when to use it. Never blank; may have several lines.
    pub description: String,
    /// The licence.
    pub license: Option<String>,
    /// Requirements on the environment.
    pub compatibility: Option<String>,
    /// Additional metadata, as text.
    pub metadata: BTreeMap<String, String>,
    /// Tools that its author would allow without a question. Not evaluated here.
    pub allowed_tools: Vec<String>,
    /// Tools that it cannot work without.
    pub requires_tools: Vec<String>,
    /// Supported platforms; empty means all.
    pub platforms: Vec<String>,
    /// The format of the description.
    pub form: ManifestFormat,
}

/// The source of a skill's description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManifestFormat {
    /// The front matter contains the description.
    FrontMatter,
    /// The first paragraph is the description.
    Legacy,
}

/// A problem in a `SKILL.md`, with its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// The problem and its remedy.
    pub what: ManifestProblem,
}

/// A problem in a `SKILL.md`. The message goes to the owner, or back to the author.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestProblem {
    /// The file is missing.
    #[error("there is no {MAIN}; write one")]
    Missing,
    /// The bytes are not text.
    #[error("it is not UTF-8; save it as UTF-8")]
    NotText,
    /// The file is blank.
    #[error("it is empty; write a name, a description and what to do")]
    Blank,
    /// The front matter has no end.
    #[error("the front matter begins here and does not end; put a line of three dashes after it")]
    Unclosed,
    /// The front matter is too long.
    #[error("the front matter is longer than 64 KiB; move what is long into the text after it")]
    LongFront,
    /// No description was found anywhere.
    #[error("there is no description; add `description:` and say what the skill does and when to use it")]
    NoDescription,
    /// A key that is not quite `description`, and no description.
    #[error("`{0}` looks like `description`; write `description:`")]
    Misspelt(String),
    /// The file does not begin with front matter.
    #[error("it does not begin with front matter; begin with a line of three dashes, `name:` and `description:`")]
    NoFront,
    /// The front matter is not the YAML that the format allows.
    #[error("the front matter cannot be read ({0}); put quotes around a value with a colon, and indent with spaces")]
    Yaml(String),
    /// YAML, but not part of the format.
    #[error("{0} is not understood everywhere; write plain `key: value` lines and `- item` lists, each key once")]
    Unusual(&'static str),
    /// Three dashes within the front matter.
    #[error("three dashes within the front matter end it for some programs; write something else")]
    Dashes,
    /// No name.
    #[error("there is no name; add `name:` with the name of the folder")]
    NoName,
    /// An invalid name.
    #[error("{0:?} is no valid name; use 1 to 64 lower-case letters, digits and single hyphens between them")]
    BadName(String),
    /// A name that differs from the folder's.
    #[error("the name is {name:?} and the folder {folder:?}; give both the same name")]
    OtherName {
        /// The name, as given.
        name: String,
        /// The folder.
        folder: String,
    },
    /// Not a text.
    #[error("`{0}` has to be one text; write it as such")]
    NotOneText(&'static str),
    /// Too long.
    #[error("`{key}` has {length} characters; use at most {most}")]
    TooLong {
        /// The key.
        key: &'static str,
        /// The actual number of characters.
        length: usize,
        /// The permitted number of characters.
        most: usize,
    },
    /// A key that the format does not define.
    #[error("`{0}` is no key of the format; move it under `metadata:`")]
    UnknownKey(String),
}

impl Manifest {
    /// Reads the manifest of a skill folder with this name.
    ///
    /// # Errors
    /// If the main file is missing, is not text, or has no description.
    pub fn of(name: &str, folder: &SkillFolder) -> Result<Self, Problem> {
        let bytes = folder.get(MAIN).ok_or(Problem { line: 1, what: ManifestProblem::Missing })?;
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
            Problem { line: 1 + good.iter().filter(|byte| **byte == b'\n').count(), what: ManifestProblem::NotText }
        })?;
        read(text, name).map(|(manifest, _)| manifest)
    }
}

/// Parses a `SKILL.md` of the folder with this name. Returns its manifest and the text after the
/// front matter.
///
/// # Errors
/// If it is blank, its front matter is unclosed or too long, or there is no description.
pub fn read<'a>(text: &'a str, folder: &str) -> Result<(Manifest, &'a str), Problem> {
    let ManifestParts { front, line, body, body_line } = split(text)?;
    let front = front::parse(front).unwrap_or_else(|_| front::by_lines(front));
    let name = front.text("name").map(|name| one_line(&name)).filter(|name| name::is_plain(name));
    let (description, form) = match front.text("description") {
        Some(description) => (description, ManifestFormat::FrontMatter),
        None => match misspelt(&front, line) {
            Some(problem) => return Err(problem),
            None => (description_of_body(body).ok_or_else(|| nothing(body, line, body_line))?, ManifestFormat::Legacy),
        },
    };
    let manifest = Manifest {
        name: name.unwrap_or_else(|| folder.to_owned()),
        description,
        license: front.text("license"),
        compatibility: front.text("compatibility"),
        metadata: front
            .metadata()
            .iter()
            .map(|FrontMatterEntry { key, value, .. }| (key.clone(), value.text()))
            .collect(),
        allowed_tools: front.list(&["allowed-tools", "allowed_tools"]),
        requires_tools: front.list(&["requires_tools", "requires-tools"]),
        platforms: front.list(&["platforms"]),
        form,
    };
    Ok((manifest, body))
}

/// Returns the keys and values of any file's front matter as text, and the text after it. Without
/// front matter, returns the whole text.
pub fn plain(text: &str) -> (Vec<(String, String)>, &str) {
    let Ok(ManifestParts { front, body, .. }) = split(text) else { return (Vec::new(), text) };
    let front = front::parse(front).unwrap_or_else(|_| front::by_lines(front));
    (front.entries.into_iter().map(|FrontMatterEntry { key, value, .. }| (key, value.text())).collect(), body)
}

/// A file split into front matter and body.
struct ManifestParts<'a> {
    /// The text between the two lines of dashes; blank if there are none.
    front: &'a str,
    /// The line of the first dashes, or 0.
    line: usize,
    /// The text after the front matter.
    body: &'a str,
    /// The first line of the body.
    body_line: usize,
}

fn split(text: &str) -> Result<ManifestParts<'_>, Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut offset = 0;
    let mut begin: Option<(usize, usize)> = None;
    for (index, whole) in text.split_inclusive('\n').enumerate() {
        let end = offset + whole.len();
        let (line, is_fence) = (index + 1, whole.trim_end() == "---");
        match begin {
            None if is_fence => begin = Some((line, end)),
            None if whole.trim().is_empty() => {}
            None => return Ok(ManifestParts { front: "", line: 0, body: text, body_line: 1 }),
            Some((first, start)) if is_fence => {
                let front = text.get(start..offset).unwrap_or_default();
                let body = text.get(end..).unwrap_or_default();
                return Ok(ManifestParts { front, line: first, body, body_line: line + 1 });
            }
            Some((first, start)) if end - start > LONGEST_FRONT => {
                return Err(Problem { line: first, what: ManifestProblem::LongFront });
            }
            Some(_) => {}
        }
        offset = end;
    }
    match begin {
        Some((line, _)) => Err(Problem { line, what: ManifestProblem::Unclosed }),
        None => Err(Problem { line: 1, what: ManifestProblem::Blank }),
    }
}

/// Returns the problem of a key that was meant as `description`, if there is one.
fn misspelt(front: &Front, first: usize) -> Option<Problem> {
    let is_meant = |key: &str| strsim::damerau_levenshtein(&key.to_lowercase(), "description") <= MISSPELT;
    let entry = front.entries.iter().find(|entry| entry.key != "description" && is_meant(&entry.key))?;
    Some(Problem { line: first + entry.line, what: ManifestProblem::Misspelt(entry.key.clone()) })
}

/// Returns the problem of a missing description, at the line where it belongs.
fn nothing(body: &str, line: usize, body_line: usize) -> Problem {
    let line = if line > 0 { line } else { body_line };
    let what = if line == body_line && body.trim().is_empty() {
        ManifestProblem::Blank
    } else {
        ManifestProblem::NoDescription
    };
    Problem { line, what }
}

/// Returns the first paragraph of a skill without a description in the front matter, on one line.
/// An optional heading may precede it.
fn description_of_body(body: &str) -> Option<String> {
    let lines: Vec<&str> = body.lines().map(str::trim).collect();
    let is_text = |index: usize, line: &str| {
        let underlined = lines.get(index + 1).is_some_and(|next| is_underline(next));
        !line.is_empty() && !is_heading(line) && !is_rule(line) && !underlined
    };
    let mut text = lines.iter().enumerate().filter(|(index, line)| is_text(*index, line)).map(|(index, _)| index);
    let first = text.next()?;
    let paragraph: Vec<&str> =
        lines.iter().skip(first).copied().take_while(|line| !line.is_empty() && !is_heading(line)).collect();
    let line = one_line(&paragraph.join(" "));
    Some(shorten(&line, LONGEST_DESCRIPTION))
}

fn is_heading(line: &str) -> bool {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    (1..=6).contains(&level) && line.chars().nth(level).is_none_or(char::is_whitespace)
}

/// Returns whether the line makes the previous one a heading.
fn is_underline(line: &str) -> bool {
    line.len() >= 3 && (line.bytes().all(|byte| byte == b'=') || line.bytes().all(|byte| byte == b'-'))
}

/// Returns whether the line is only a separator.
fn is_rule(line: &str) -> bool {
    line.chars().all(|c| matches!(c, '-' | '=' | '*' | '_' | '`' | '~' | ' '))
}

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
        add(Some(entry), vec![ManifestProblem::UnknownKey(shorten(&entry.key, 60))]);
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
    let shown = shorten(given, 80);
    if given.is_empty() {
        vec![ManifestProblem::NoName]
    } else if !name::is_valid(given) {
        vec![ManifestProblem::BadName(shown)]
    } else if given != folder {
        vec![ManifestProblem::OtherName { name: shown, folder: shorten(folder, 80) }]
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

/// The maximum number of characters of a description derived from a note.
const NOTE_DESCRIPTION: usize = 300;

/// Returns a skill name derived from a note's name; blank if nothing of it is usable.
pub fn name_for(note: &str) -> String {
    let file = note.rsplit('/').next().unwrap_or_default();
    let stem = file.strip_suffix(".md").unwrap_or(file).to_lowercase();
    let dashed: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let joined = dashed.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
    crate::text::cut_bytes(&joined, name::LONGEST).trim_end_matches('-').to_owned()
}

/// Returns a `SKILL.md` with the note's text; `None` if there are no words for a description.
pub fn skill_of(name: &str, note: &str) -> Option<String> {
    let (manifest, body) = read(note, name).ok()?;
    // Some programs treat three dashes anywhere as the end of the front matter.
    let description = one_line(&manifest.description).replace("---", "\u{2014}");
    let description = match manifest.form {
        ManifestFormat::FrontMatter => description,
        ManifestFormat::Legacy => first_sentence(&description).to_owned(),
    };
    // Any JSON string is valid YAML.
    let quoted = serde_json::to_string(&shorten(&description, NOTE_DESCRIPTION)).ok()?;
    Some(format!("---\nname: {name}\ndescription: {quoted}\n---\n\n{}\n", body.trim()))
}

/// Returns the text up to and including the first end of a sentence.
pub fn first_sentence(text: &str) -> &str {
    let ends = text.match_indices(['.', '!', '?', '。']).map(|(at, end)| at + end.len());
    let end =
        ends.into_iter().find(|end| text.get(*end..).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')));
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

#[cfg(test)]
mod tests;
