//! What is wrong with a configuration: where, which key, what, and how to mend it. All faults of a
//! file are told at once.
//!
//! Nothing here ever shows a secret: what a fault quotes was chosen by `source`, which shows a
//! value only if its key is known not to hold one.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// There is no such file.
    #[error("{}: there is no configuration\nfix: run `compline init`, or name another file with --config", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("{}: the configuration cannot be read: {reason}\nfix: make it a file that you can read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// It was read, and something in it is wrong.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n"))]
    Wrong(Vec<Fault>),
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// Where.
    #[serde(flatten)]
    pub place: ConfigLocation,
    /// The path of the key, as `model.fallback.name`; empty if there is none.
    pub key: String,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub fix: String,
    /// The line itself, if it may be shown.
    #[serde(skip)]
    pub excerpt: Option<Excerpt>,
}

/// Where a fault lies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub enum ConfigLocation {
    /// In the file.
    File {
        /// Its name.
        file: String,
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
    },
    /// In an environment variable.
    Environment {
        /// Its name.
        variable: String,
    },
}

/// A line of the file, with what is to be marked in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The line, safe to show.
    pub line: String,
    /// Where the mark begins, in characters from 0.
    pub start: usize,
    /// How wide it is.
    pub width: usize,
}

/// What is wrong with a value, before it is known where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueError {
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub fix: String,
}

impl ValueError {
    /// What is wrong, and what to do.
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
        write!(f, "{}: ", self.place)?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        writeln!(f, "{}", self.what)?;
        if let (Some(excerpt), ConfigLocation::File { line, .. }) = (&self.excerpt, &self.place) {
            let number = line.to_string();
            let margin = " ".repeat(number.len());
            writeln!(f, "{number} | {}", excerpt.line)?;
            writeln!(f, "{margin} | {}{}", " ".repeat(excerpt.start), "^".repeat(excerpt.width.max(1)))?;
        }
        write!(f, "fix: {}", self.fix)
    }
}
