//! A skill's description of itself in `SKILL.md`: the front matter of the open Agent Skills format,
//! or a heading and a paragraph.
//!
//! Reading is lenient, so that files written for other programs load: unknown keys are ignored, a
//! list may be a list or a text, invalid YAML is read line by line, and the first paragraph
//! replaces a missing description. [`strict()`] is for authors: it reports all violations of the
//! published rules. Neither examines what a skill tells a model to do.

use std::collections::BTreeMap;

mod legacy;
mod strict;

pub use strict::strict;

use super::folder::{MAIN, SkillFolder};
use super::front::{self, FrontMatterEntry};
use super::name;

/// The maximum size of front matter in bytes.
pub const LONGEST_FRONT: usize = 64 * 1024;

/// The maximum number of characters of a description.
pub const LONGEST_DESCRIPTION: usize = 1_024;

/// The maximum number of characters of a compatibility note.
pub const LONGEST_COMPATIBILITY: usize = 500;

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
    let name = front.text("name").map(|name| crate::text::one_line(&name)).filter(|name| name::is_plain(name));
    let (description, form) = match front.text("description") {
        Some(description) => (description, ManifestFormat::FrontMatter),
        None => (legacy::description(body).ok_or_else(|| nothing(body, line, body_line))?, ManifestFormat::Legacy),
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

#[cfg(test)]
mod tests;
