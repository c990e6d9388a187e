//! Table of all configuration keys: kind, default and a one-line description.
//!
//! Reading, the environment overlay, suggestions for misspelt keys, `config show`, the example file
//! and the output of `init` all come from this table. A key that is not listed does not exist;
//! every listed key is read (a test proves it).

// Keeps the rows of the table intact.
#[rustfmt::skip]
mod table;

pub use table::SECTIONS;

/// A section of the file, as `[model.fallback]`.
pub struct Section {
    /// Path; empty for the keys above the first section.
    pub path: &'static str,
    /// Notation.
    pub form: SectionSpelling,
    /// One-line description for the example file.
    pub about: &'static str,
    /// Keys in display order.
    pub keys: &'static [Key],
}

/// Notation of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionSpelling {
    /// `[path]`
    Table,
    /// `[path]`, and the example refers to another section for the explanations.
    Again,
    /// `name = { … }` within its parent.
    Inline,
    /// `[[path]]`, repeatable.
    Repeated,
}

/// A key.
pub struct Key {
    /// Name.
    pub name: &'static str,
    /// Kind of the value.
    pub kind: ValueKind,
    /// Default.
    pub unset: Unset,
    /// Value for the example file, without quotes.
    pub sample: &'static str,
    /// One-line description.
    pub about: &'static str,
}

/// Kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// Text.
    Text,
    /// Secret value, such as a key or token.
    Secret,
    /// Name of the environment variable that holds the secret.
    SecretEnv,
    /// Path of the file that holds the secret.
    SecretFile,
    /// Directory.
    Path,
    /// HTTP or HTTPS address.
    Url,
    /// Duration, as `"6h"`.
    Duration,
    /// Boolean.
    Flag,
    /// Text, or a boolean, which it could be once.
    FlagOrText,
    /// Integer.
    Count,
    /// Decimal number.
    Decimal,
    /// Amount of money.
    Money,
    /// List of texts; a JSON array among the written values.
    List,
}

impl ValueKind {
    /// Returns `true` if the value is written in quotes.
    pub fn is_quoted(self) -> bool {
        !matches!(self, Self::Flag | Self::Count | Self::Decimal | Self::Money | Self::List)
    }

    /// Returns `true` if the value may contain a secret, by intent or by mistake.
    pub fn is_delicate(self) -> bool {
        matches!(self, Self::Secret | Self::SecretEnv | Self::SecretFile)
    }
}

/// Default of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unset {
    /// None: the feature is off, or the provider decides.
    Nothing,
    /// None: the key is another notation of the key above it.
    Instead,
    /// Fixed value.
    Is(&'static str),
    /// Value that depends on others, described in words.
    Depends(&'static str),
}

/// Returns the section with this path.
pub fn section(path: &str) -> Option<&'static Section> {
    SECTIONS.iter().find(|section| section.path == path)
}

impl Section {
    /// Returns the key with this name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// Returns the direct subsections.
    pub fn children(&self) -> impl Iterator<Item = &'static Section> {
        let path = self.path;
        SECTIONS.iter().filter(move |other| !other.path.is_empty() && parent(other.path) == path)
    }

    /// Returns the last part of the path.
    pub fn name(&self) -> &'static str {
        self.path.rsplit('.').next().unwrap_or_default()
    }
}

/// Formats the path of a repeated section, as `people[1]`.
pub fn numbered(section: &str, number: usize) -> String {
    format!("{section}[{number}]")
}

/// Formats the path of a key for display.
pub fn join(section: &str, name: &str) -> String {
    if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") }
}

fn parent(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(parent, _)| parent)
}
