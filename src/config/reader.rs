//! Reads the values of a sheet one by one: each with its default and its interpretation, and with a
//! fault or a line for `config show`.
//!
//! After a fault, reading continues with a placeholder, so that one run finds all faults. The
//! placeholders never leave `written::parse`.

use serde::Serialize;

use super::error::{ConfigLocation, Fault, ValueError};
use super::keys::{Key, Unset, ValueKind, join, numbered, section};
use super::sheet::{ValueSource, WrittenValue, WrittenValues};
use super::source::{HIDDEN, Source};

/// An effective value, as `config show` prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EffectiveValue {
    /// Path of the key.
    pub key: String,
    /// Value; `(hidden)` for a secret.
    pub value: String,
    /// Source of the value.
    pub origin: ValueSource,
}

/// A sheet that is being read.
pub struct ConfigReader<'a> {
    /// Source file.
    pub source: Source<'a>,
    /// Written values.
    pub sheet: WrittenValues,
    /// Faults found so far.
    pub faults: Vec<Fault>,
    /// Effective values.
    pub lines: Vec<EffectiveValue>,
    /// Permitted but questionable settings.
    pub warnings: Vec<String>,
}

impl ConfigReader<'_> {
    /// Returns `true` if the section, or its price, has any written key.
    pub fn has(&self, at: &str) -> bool {
        self.first_key(at).is_some()
    }

    /// Returns the paths of all written sections of this name, as `people[1]`.
    pub fn each(&self, section: &str) -> Vec<String> {
        let count = self.sheet.repeated.get(section).copied().unwrap_or_default();
        (1..=count).map(|number| numbered(section, number)).collect()
    }

    /// Returns `true` if the key is written.
    pub fn is_written(&self, at: &str, name: &str) -> bool {
        self.sheet.written.contains_key(&join(at, name))
    }

    /// Returns the value of a key, or its fixed default. `None` without either, or after a fault.
    pub fn get<T>(&mut self, at: &str, name: &str, meaning: impl FnOnce(&str) -> Result<T, ValueError>) -> Option<T> {
        let key = known(at, name)?;
        let path = join(at, name);
        let default = || match key.unset {
            Unset::Is(text) => Some((text.to_owned(), ValueSource::Default)),
            Unset::Nothing | Unset::Instead | Unset::Depends(_) => None,
        };
        let written = self.sheet.written.get(&path).map(|written| (written.text.clone(), written.origin.clone()));
        let (text, origin) = written.or_else(default)?;
        match meaning(&text) {
            Ok(value) => {
                let value_shown = if key.kind == ValueKind::Secret { HIDDEN.to_owned() } else { text };
                self.lines.push(EffectiveValue { key: path, value: value_shown, origin });
                Some(value)
            }
            Err(trouble) => {
                self.refuse(at, name, trouble);
                None
            }
        }
    }

    /// Returns the value of a key, or a default that depends on other values.
    pub fn get_or<T>(
        &mut self,
        at: &str,
        name: &str,
        meaning: impl FnOnce(&str) -> Result<T, ValueError>,
        default: T,
        show: impl FnOnce(&T) -> String,
    ) -> T {
        if self.is_written(at, name) {
            return self.get(at, name, meaning).unwrap_or(default);
        }
        self.lines.push(EffectiveValue { key: join(at, name), value: show(&default), origin: ValueSource::Default });
        default
    }

    /// Returns the value of a key that its section requires.
    pub fn need<T>(&mut self, at: &str, name: &str, meaning: impl FnOnce(&str) -> Result<T, ValueError>) -> Option<T> {
        if self.is_written(at, name) {
            return self.get(at, name, meaning);
        }
        self.lacks(at, name);
        None
    }

    /// Reports a missing key.
    pub fn lacks(&mut self, at: &str, name: &str) {
        let sample = known(at, name).map_or("", |key| key.sample);
        let fix = format!("add {name} = \"{sample}\" with the value that holds for you");
        self.lacks_because(at, name, ValueError::new(format!("{name} is missing"), fix));
    }

    /// Reports a missing key with a specific message. The location is that of the section's first
    /// key.
    pub fn lacks_because(&mut self, at: &str, name: &str, trouble: ValueError) {
        let path = join(at, name);
        let place = self.first_key(at).map_or_else(|| self.source.place(&(0..0)), |(_, written)| self.place(written));
        self.faults.push(Fault { place, key: path, what: trouble.what, fix: trouble.fix, excerpt: None });
    }

    /// Reports an invalid value of a written key.
    pub fn refuse(&mut self, at: &str, name: &str, trouble: ValueError) {
        let path = join(at, name);
        let Some(written) = self.sheet.written.get(&path) else {
            return self.lacks_because(at, name, trouble);
        };
        let place = self.place(written);
        let excerpt = written.span.as_ref().and_then(|span| self.source.excerpt(span));
        self.faults.push(Fault { place, key: path, what: trouble.what, fix: trouble.fix, excerpt });
    }

    fn place(&self, written: &WrittenValue) -> ConfigLocation {
        match (&written.origin, &written.span) {
            (ValueSource::Environment(variable), _) => ConfigLocation::Environment { variable: variable.clone() },
            (_, span) => self.source.place(&span.clone().unwrap_or_default()),
        }
    }

    /// Returns the first written key of a section in file order. Keys from the environment come
    /// last.
    fn first_key(&self, at: &str) -> Option<(&String, &WrittenValue)> {
        let price = join(at, "price");
        let is_here = |path: &str| path.rsplit_once('.').is_some_and(|(parent, _)| parent == at || parent == price);
        let own = self.sheet.written.iter().filter(|(path, _)| is_here(path));
        own.min_by_key(|(_, written)| written.span.as_ref().map_or(usize::MAX, |span| span.start))
    }
}

fn known(at: &str, name: &str) -> Option<&'static Key> {
    let path = at.split_once('[').map_or(at, |(path, _)| path);
    section(path)?.key(name)
}
