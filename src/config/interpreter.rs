//! State of an interpretation, which every section adds to: secrets and folders need more than the
//! value of one key.

use std::collections::BTreeMap;
use std::path::PathBuf;

use secrecy::SecretString;

use super::error::ValueError;
use super::reader::ConfigReader;
use super::units::quoted;
use super::{Home, secret};

/// State of the interpretation.
pub struct Meaning<'a> {
    /// Sheet that is being read.
    pub reader: ConfigReader<'a>,
    /// Environment, which may hold secrets.
    pub env: &'a BTreeMap<String, String>,
    /// Home that `HOME/` refers to.
    pub home: Home,
    /// Files that contain only a secret.
    pub secret_files: Vec<PathBuf>,
    /// `true` if the configuration file itself contains a secret.
    pub holds_secret: bool,
}

impl Meaning<'_> {
    /// Returns the secret `name` from the one of its three keys that is set.
    pub fn secret(&mut self, at: &str, name: &str) -> Option<SecretString> {
        let is_inline =
            self.reader.sheet.written.get(&format!("{at}.{name}")).is_some_and(|written| written.span.is_some());
        self.holds_secret |= is_inline;
        let found = secret::secret(&mut self.reader, at, name, self.env, &self.home)?;
        self.secret_files.extend(found.file);
        Some(found.secret)
    }

    /// Returns an absolute path, or a blank one if there is none.
    pub fn folder(&mut self, at: &str, name: &str) -> PathBuf {
        let home = self.home.clone();
        let key = if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
        // A relative path in the environment refers to the current directory; one in the file must
        // not depend on it.
        let is_in_file = self.reader.sheet.written.get(&key).is_some_and(|written| written.span.is_some());
        let meaning = |text: &str| {
            let relative = || std::path::absolute(text).ok().filter(|_| !is_in_file);
            secret::absolute(text, &home).or_else(relative).ok_or_else(|| {
                let fix = "write an absolute path, or HOME/ and a name for a directory in Compline's home";
                ValueError::new(format!("{} depends on where Compline is started", quoted(text)), fix)
            })
        };
        self.reader.get(at, name, meaning).unwrap_or_default()
    }
}
