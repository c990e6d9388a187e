//! Errors of a configuration: location, key, problem and fix. All faults of a file are reported at
//! once.
//!
//! No secret is ever shown. A line of the file is quoted with its value only if its key is known
//! and holds no secret. Misspelt keys, incomplete lines and everything after a multi-line string
//! may contain a secret, so the value or the whole line is withheld there.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use serde::Serialize;

use super::keys::{SECTIONS, SectionSpelling};

/// Reason why no configuration was loaded.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file does not exist.
    #[error("{}: there is no configuration\nfix: run `compline init`, or name another file with --config", path.display())]
    Missing {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("{}: the configuration cannot be read: {reason}\nfix: {fix}", path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// Reason given by the system.
        reason: String,
        /// Fix.
        fix: String,
    },
    /// The file has faults.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n"))]
    Wrong(Vec<Fault>),
}

/// A single fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// Location.
    #[serde(flatten)]
    pub location: ConfigLocation,
    /// Path of the key, as `model.fallback.name`; empty if there is none.
    pub key: String,
    /// Problem.
    pub what: String,
    /// Fix.
    pub fix: String,
    /// The line itself, if it may be shown.
    #[serde(skip)]
    pub excerpt: Option<Excerpt>,
}

/// Location of a fault.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub enum ConfigLocation {
    /// In the file.
    File {
        /// Name of the file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
    },
    /// In an environment variable.
    Environment {
        /// Name of the variable.
        variable: String,
    },
}

/// A line of the file with a marked part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The line, safe to show.
    pub line: String,
    /// Start of the mark in characters, from 0.
    pub start: usize,
    /// Width of the mark in characters.
    pub width: usize,
}

/// Problem with a value whose location is not known yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueError {
    /// Problem.
    pub what: String,
    /// Fix.
    pub fix: String,
}

impl Fault {
    /// Locates a problem.
    pub fn new(
        location: ConfigLocation,
        key: impl Into<String>,
        problem: ValueError,
        excerpt: Option<Excerpt>,
    ) -> Self {
        Self { location, key: key.into(), what: problem.what, fix: problem.fix, excerpt }
    }
}

impl ValueError {
    /// Creates an error from a problem and a fix.
    pub fn new(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what: what.into(), fix: fix.into() }
    }
}

impl fmt::Display for ConfigLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { file, line, column } => write!(f, "{file}, line {line}, column {column}"),
            Self::Environment { variable } => write!(f, "Environment variable {variable}"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.location)?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        writeln!(f, "{}", self.what)?;
        if let (Some(excerpt), ConfigLocation::File { line, .. }) = (&self.excerpt, &self.location) {
            let number = line.to_string();
            let margin = " ".repeat(number.len());
            writeln!(f, "{number} | {}", excerpt.line)?;
            writeln!(f, "{margin} | {}{}", " ".repeat(excerpt.start), "^".repeat(excerpt.width.max(1)))?;
        }
        write!(f, "fix: {}", self.fix)
    }
}

/// A configuration file as text.
pub struct Source<'a> {
    /// Name in messages.
    pub file: &'a str,
    /// Content.
    pub text: &'a str,
}

/// Placeholder for hidden text.
pub const HIDDEN: &str = "(hidden)";

impl Source<'_> {
    /// Returns the line and column of the beginning of a span.
    pub fn location(&self, span: &Range<usize>) -> ConfigLocation {
        let (line, column) = position(self.text, span.start);
        ConfigLocation::File { file: self.file.to_owned(), line, column }
    }

    /// Returns the line in which a span begins with the span marked, as far as it may be shown.
    pub fn excerpt(&self, span: &Range<usize>) -> Option<Excerpt> {
        let before = crate::text::cut_bytes(self.text, span.start);
        if before.contains("\"\"\"") || before.contains("'''") {
            return None;
        }
        let (line, column) = position(self.text, span.start);
        let written = self.text.lines().nth(line.checked_sub(1)?)?;
        let shown = showable(written)?;
        let length = shown.chars().count();
        let start = (column - 1).min(length);
        let marked = self.text.get(span.clone()).unwrap_or_default();
        let width = marked.lines().next().unwrap_or_default().chars().count();
        Some(Excerpt { line: shown, start, width: width.min(length - start) })
    }
}

/// Returns the line and column of a byte, both from 1, the column in characters.
pub fn position(text: &str, byte: usize) -> (usize, usize) {
    let before = crate::text::cut_bytes(text, byte);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

fn showable(line: &str) -> Option<String> {
    if line.trim_start().starts_with('[') {
        let plain = line.chars().all(|c| is_bare(c) || matches!(c, '[' | ']'));
        return plain.then(|| line.to_owned());
    }
    let (key, value) = line.split_once('=')?;
    if !key.chars().all(is_bare) {
        return None;
    }
    let line =
        if is_harmless(key.rsplit('.').next()?.trim(), value) { line.to_owned() } else { format!("{key}= {HIDDEN}") };
    Some(line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect())
}

fn is_bare(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ' | '\t')
}

fn is_harmless(key: &str, value: &str) -> bool {
    let lower = value.to_lowercase();
    if ["key", "token", "@"].iter().any(|sign| lower.contains(sign)) {
        return false;
    }
    let mut named = SECTIONS.iter().flat_map(|section| section.keys).filter(|known| known.name == key).peekable();
    if named.peek().is_some() {
        return named.all(|known| !known.kind.is_delicate());
    }
    let is_inline = SECTIONS.iter().any(|section| section.form == SectionSpelling::Inline && section.name() == key);
    is_inline && !value.contains(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_lines_are_shown() {
        let table = [
            ("gap = \"6x\"", Some("gap = \"6x\"")),
            ("[model]", Some("[model]")),
            ("price = { input = x }", Some("price = { input = x }")),
            ("api_key = \"SECRET\"", Some("api_key = (hidden)")),
            ("api_key_env = \"SECRET\"", Some("api_key_env = (hidden)")),
            ("api_kye = \"SECRET\"", Some("api_kye = (hidden)")),
            ("model.token = \"SECRET", Some("model.token = (hidden)")),
            ("model = { api_key = \"SECRET\" }", Some("model = (hidden)")),
            ("gap = \"6h\", api_key = \"SECRET\"", Some("gap = (hidden)")),
            ("base_url = \"http://me:SECRET@host\"", Some("base_url = (hidden)")),
            ("api_key: \"SECRET=\"", None),
            ("api_key \"SECRET\"", None),
            ("\"SECRET\"", None),
            ("[model] \"SECRET\"", None),
        ];
        for (line, shown) in table {
            assert_eq!(showable(line).as_deref(), shown, "{line}");
        }
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(position("a = 1\nnäme = 2", 9), (2, 3));
        assert_eq!(position("", 7), (1, 1));
    }
}
