//! Every key of the configuration, once: its kind, what holds when it is not set, and one line of
//! explanation.
//!
//! Reading, the environment overlay, suggestions for misspelt keys, `config show`, the example file
//! and what `init` writes all come from this table. A key that is not here does not exist; a key
//! that is here is read (a test proves it).

// Rows would be torn apart.
#[rustfmt::skip]
mod table;

pub use table::SECTIONS;

/// A section of the file, as `[model.fallback]`.
pub struct Section {
    /// Its path; empty for the keys above the first section.
    pub path: &'static str,
    /// How it is spelt.
    pub form: SectionSpelling,
    /// One line for the example file.
    pub about: &'static str,
    /// Its keys, in the order in which they are shown.
    pub keys: &'static [Key],
}

/// How a section is spelt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionSpelling {
    /// `[path]`
    Table,
    /// `[path]`, and the example refers to another section for the explanations.
    Again,
    /// `name = { … }` within its parent.
    Inline,
    /// `[[path]]`, any number of times.
    Repeated,
}

/// One key.
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// What it holds.
    pub kind: ValueKind,
    /// What holds if it is not set.
    pub unset: Unset,
    /// A value for the example file, without quotes.
    pub sample: &'static str,
    /// One line of explanation.
    pub about: &'static str,
}

/// What a key holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// Words.
    Text,
    /// A key or token itself.
    Secret,
    /// The name of the environment variable that holds it.
    SecretEnv,
    /// The path of the file that holds it.
    SecretFile,
    /// A directory.
    Path,
    /// An http or https address.
    Url,
    /// A span as `"6h"`.
    Duration,
    /// True or false.
    Flag,
    /// A whole number.
    Count,
    /// A number with decimals.
    Decimal,
    /// An amount of money.
    Money,
    /// Several texts; on the sheet as a JSON array.
    List,
}

impl ValueKind {
    /// Whether its value stands in quotes.
    pub fn is_quoted(self) -> bool {
        !matches!(self, Self::Flag | Self::Count | Self::Decimal | Self::Money | Self::List)
    }

    /// Whether what was written may hold a secret, by intent or by mistake.
    pub fn is_delicate(self) -> bool {
        matches!(self, Self::Secret | Self::SecretEnv | Self::SecretFile)
    }
}

/// What holds for a key that is not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unset {
    /// Nothing: the feature is off, or the provider decides.
    Nothing,
    /// Nothing: it is another way of writing the key above it.
    Instead,
    /// This value.
    Is(&'static str),
    /// A value that depends on others, told in words.
    Depends(&'static str),
}

/// The section of that path.
pub fn section(path: &str) -> Option<&'static Section> {
    SECTIONS.iter().find(|section| section.path == path)
}

impl Section {
    /// The key of that name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// The sections directly within this one.
    pub fn children(&self) -> impl Iterator<Item = &'static Section> {
        let path = self.path;
        SECTIONS.iter().filter(move |other| !other.path.is_empty() && parent(other.path) == path)
    }

    /// The last part of its path.
    pub fn name(&self) -> &'static str {
        self.path.rsplit('.').next().unwrap_or_default()
    }
}

/// One of the sections that stand there several times, as `people[1]`.
pub fn numbered(section: &str, number: usize) -> String {
    format!("{section}[{number}]")
}

/// The path of a key as it is told to a person.
pub fn join(section: &str, name: &str) -> String {
    if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") }
}

fn parent(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(parent, _)| parent)
}
