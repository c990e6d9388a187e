//! Reads the written values one by one: each with its default and its interpretation, and with a
//! fault or a line for `config show`. Secrets come from the file, from an environment variable, or
//! from a file of their own.
//!
//! After a fault, reading continues with a placeholder, so that one run finds all faults. The
//! placeholders never leave `load::parse`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;

use super::Home;
use super::error::{ConfigLocation, Fault, ValueError};
use super::error::{HIDDEN, Source};
use super::keys::{Key, Unset, ValueKind, join, numbered, section};
use super::units::{quoted, wrong};
use super::written_values::{ValueSource, WrittenValue, WrittenValues};

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

/// Secrets to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretReading {
    /// All.
    Required,
    /// The ones on this computer.
    IfPresent,
}

/// Written values that are being interpreted.
pub struct ConfigReader<'a> {
    /// Source file.
    pub source: Source<'a>,
    /// Written values.
    pub values: WrittenValues,
    /// Faults found so far.
    pub faults: Vec<Fault>,
    /// Effective values.
    pub lines: Vec<EffectiveValue>,
    /// Permitted but questionable settings.
    pub warnings: Vec<String>,
    /// Environment, which may hold secrets.
    pub env: &'a BTreeMap<String, String>,
    /// Home that `HOME/` refers to.
    pub home: Home,
    /// Secrets to read.
    pub secrets: SecretReading,
    /// Files that contain only a secret.
    pub secret_files: Vec<PathBuf>,
    /// `true` if the configuration file itself contains a secret.
    pub holds_secret: bool,
}

impl ConfigReader<'_> {
    /// Returns `true` if the section, or its price, has any written key.
    pub fn has(&self, at: &str) -> bool {
        self.first_key(at).is_some()
    }

    /// Returns the paths of all written sections of this name, as `people[1]`.
    pub fn each(&self, section: &str) -> Vec<String> {
        let count = self.values.repeated.get(section).copied().unwrap_or_default();
        (1..=count).map(|number| numbered(section, number)).collect()
    }

    /// Returns `true` if the key is written.
    pub fn is_written(&self, at: &str, name: &str) -> bool {
        self.values.by_path.contains_key(&join(at, name))
    }

    /// Returns the value of a key, or its fixed default. `None` without either, or after a fault.
    pub fn get<T>(&mut self, at: &str, name: &str, parse: impl FnOnce(&str) -> Result<T, ValueError>) -> Option<T> {
        let key = known(at, name)?;
        let path = join(at, name);
        let default = || match key.unset {
            Unset::Is(text) => Some((text.to_owned(), ValueSource::Default)),
            Unset::Nothing | Unset::Instead | Unset::Depends(_) => None,
        };
        let written = self.values.by_path.get(&path).map(|written| (written.text.clone(), written.origin.clone()));
        let (text, origin) = written.or_else(default)?;
        match parse(&text) {
            Ok(value) => {
                let value_shown = if key.kind == ValueKind::Secret { HIDDEN.to_owned() } else { text };
                self.lines.push(EffectiveValue { key: path, value: value_shown, origin });
                Some(value)
            }
            Err(problem) => {
                self.refuse(at, name, problem);
                None
            }
        }
    }

    /// Returns the value of a key, or a default that depends on other values.
    pub fn get_or<T>(
        &mut self,
        at: &str,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, ValueError>,
        default: T,
        show: impl FnOnce(&T) -> String,
    ) -> T {
        if self.is_written(at, name) {
            return self.get(at, name, parse).unwrap_or(default);
        }
        self.lines.push(EffectiveValue { key: join(at, name), value: show(&default), origin: ValueSource::Default });
        default
    }

    /// Returns the value of a key that its section requires.
    pub fn need<T>(&mut self, at: &str, name: &str, parse: impl FnOnce(&str) -> Result<T, ValueError>) -> Option<T> {
        if self.is_written(at, name) {
            return self.get(at, name, parse);
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
    pub fn lacks_because(&mut self, at: &str, name: &str, problem: ValueError) {
        let location =
            self.first_key(at).map_or_else(|| self.source.location(&(0..0)), |(_, written)| self.location(written));
        self.faults.push(Fault::new(location, join(at, name), problem, None));
    }

    /// Reports an invalid value of a written key.
    pub fn refuse(&mut self, at: &str, name: &str, problem: ValueError) {
        let path = join(at, name);
        let Some(written) = self.values.by_path.get(&path) else {
            return self.lacks_because(at, name, problem);
        };
        let location = self.location(written);
        let excerpt = written.span.as_ref().and_then(|span| self.source.excerpt(span));
        self.faults.push(Fault::new(location, path, problem, excerpt));
    }

    /// Returns the secret `name` from the one of its three keys that is set.
    pub fn secret(&mut self, at: &str, name: &str) -> Option<SecretString> {
        self.holds_secret |= self.is_in_file(at, name);
        let [inline, by_env, by_file] = spellings(name);
        let mut set = [&inline, &by_env, &by_file].into_iter().filter(|key| self.is_written(at, key));
        if let (Some(_), Some(second)) = (set.next(), set.next()) {
            let what = format!("More than one of {name}, {by_env} and {by_file} is set");
            self.refuse(at, second, ValueError::new(what, "keep one and delete the others"));
            return None;
        }
        let known_faults = self.faults.len();
        let (env, home) = (self.env, self.home.clone());
        let from_file = self.get(at, &by_file, |path| from_file(path, &home)).map(|(secret, file)| {
            self.secret_files.push(file);
            secret
        });
        let outside = self.get(at, &by_env, |variable| from_env(variable, env)).or(from_file);
        if self.secrets == SecretReading::IfPresent {
            self.faults.truncate(known_faults);
        }
        self.get(at, &inline, usable).or(outside)
    }

    /// Returns a secret that its section requires. Reports one that is not sound with `problem`.
    pub fn need_secret(
        &mut self,
        at: &str,
        name: &str,
        is_sound: fn(&str) -> bool,
        problem: ValueError,
    ) -> Option<SecretString> {
        let secret = self.secret(at, name);
        match (&secret, spellings(name).iter().find(|key| self.is_written(at, key))) {
            (None, None) => self.lacks(at, name),
            (Some(secret), Some(key)) if !is_sound(secret.expose_secret()) => self.refuse(at, key, problem),
            _ => {}
        }
        secret
    }

    /// Returns an absolute path, or a blank one if there is none.
    pub fn folder(&mut self, at: &str, name: &str) -> PathBuf {
        let home = self.home.clone();
        // A relative path in the environment refers to the current directory; one in the file must
        // not depend on it.
        let is_in_file = self.is_in_file(at, name);
        let parse = |text: &str| {
            let relative = || std::path::absolute(text).ok().filter(|_| !is_in_file);
            absolute(text, &home).or_else(relative).ok_or_else(|| {
                let fix = "write an absolute path, or HOME/ and a name for a directory in Compline's home";
                wrong(text, "depends on where Compline is started", fix)
            })
        };
        self.get(at, name, parse).unwrap_or_default()
    }

    fn is_in_file(&self, at: &str, name: &str) -> bool {
        self.values.by_path.get(&join(at, name)).is_some_and(|written| written.span.is_some())
    }

    fn location(&self, written: &WrittenValue) -> ConfigLocation {
        match (&written.origin, &written.span) {
            (ValueSource::Environment(variable), _) => ConfigLocation::Environment { variable: variable.clone() },
            (_, span) => self.source.location(&span.clone().unwrap_or_default()),
        }
    }

    /// Returns the first written key of a section in file order. Keys from the environment come
    /// last.
    fn first_key(&self, at: &str) -> Option<(&String, &WrittenValue)> {
        let price = join(at, "price");
        let is_here = |path: &str| path.rsplit_once('.').is_some_and(|(parent, _)| parent == at || parent == price);
        let own = self.values.by_path.iter().filter(|(path, _)| is_here(path));
        own.min_by_key(|(_, written)| written.span.as_ref().map_or(usize::MAX, |span| span.start))
    }
}

fn known(at: &str, name: &str) -> Option<&'static Key> {
    let path = at.split_once('[').map_or(at, |(path, _)| path);
    section(path)?.key(name)
}

fn spellings(name: &str) -> [String; 3] {
    [name.to_owned(), format!("{name}_env"), format!("{name}_file")]
}

fn from_env(variable: &str, env: &BTreeMap<String, String>) -> Result<SecretString, ValueError> {
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    // The value may be the secret itself, so an invalid name is not repeated.
    if !variable.chars().all(is_name) || variable.starts_with(|c: char| c.is_ascii_digit()) {
        let fix = "write the variable's name, in capitals, as \"COMPLINE_MODEL_KEY\"";
        return Err(ValueError::new("This is no name of an environment variable", fix));
    }
    let Some(text) = env.get(variable).filter(|text| !text.trim().is_empty()) else {
        let what = format!("The environment variable {variable} is not set");
        return Err(ValueError::new(what, "set it where Compline is started, or name another"));
    };
    usable(text)
}

fn from_file(path: &str, home: &Home) -> Result<(SecretString, PathBuf), ValueError> {
    let path = absolute(path, home).ok_or_else(|| {
        ValueError::new(
            "This is no path of a file",
            "write an absolute path, or HOME/ and a name for a file in Compline's home",
        )
    })?;
    let text = std::fs::read_to_string(&path).map_err(|error| {
        let what = format!("{} cannot be read: {error}", quoted(&path.to_string_lossy()));
        ValueError::new(what, "make it a text file that Compline can read, or name another")
    })?;
    Ok((usable(&text)?, path))
}

/// Resolves a path that does not depend on the current directory. A leading `HOME/` means
/// Compline's home.
pub fn absolute(text: &str, home: &Home) -> Option<PathBuf> {
    match text.strip_prefix("HOME/") {
        Some(rest) => Some(home.path().join(rest)),
        None => Some(Path::new(text).to_owned()).filter(|path| path.is_absolute()),
    }
}

fn usable(text: &str) -> Result<SecretString, ValueError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(ValueError::new("It is empty", "put the key or token there, or delete the line"));
    }
    if !text.chars().all(|c| c.is_ascii_graphic()) {
        let what = "It holds spaces or letters that no key or token has";
        return Err(ValueError::new(what, "copy it again, whole and alone"));
    }
    Ok(SecretString::from(text.to_owned()))
}
