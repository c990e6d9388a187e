//! Errors of a configuration: location, key, problem and fix. All faults of a file are reported at
//! once.
//!
//! No secret is ever shown: `source` selects what a fault may quote, and shows a value only if its
//! key is known not to hold a secret.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

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
    #[error("{}: the configuration cannot be read: {reason}\nfix: make it a file that you can read", path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// Reason given by the system.
        reason: String,
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
    pub place: ConfigLocation,
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
