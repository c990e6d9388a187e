//! Loading of the configuration, from the file as written to its interpretation.
//!
//! The file is read into [`WrittenValues`](written_values::WrittenValues) according to the table of
//! keys ([`super::keys`]) and overlaid with the environment. Then each value is read with its
//! interpretation, its default and its source. One run finds all faults and reports their
//! locations; a configuration with a fault is not loaded.

use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::error::{ConfigError, ConfigLocation, Fault};
use super::error::{Source, position};
use super::reader::{ConfigReader, EffectiveValue, SecretReading};
use super::written_values::overlay;
use super::{Config, Home, written_values};

/// A valid configuration.
#[derive(Debug, Clone)]
pub struct LoadedConfig {
    /// Interpreted configuration.
    pub config: Config,
    /// All effective values and their sources, in the order of the example file, with secrets
    /// hidden.
    pub origins: Vec<EffectiveValue>,
}

/// Origin of the settings, and remarks on them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigSource {
    /// The configuration file.
    pub file: PathBuf,
    /// Permitted but questionable settings.
    pub warnings: Vec<String>,
    /// Files that hold secrets: the secret files named in the configuration, and the configuration
    /// itself if it contains a secret.
    pub secret_files: Vec<PathBuf>,
}

/// Reads the configuration at `file`, overlaid with `env`.
pub fn load(home: Home, file: &Path, env: &BTreeMap<String, String>) -> Result<LoadedConfig, ConfigError> {
    let mut loaded = parse(&text_of(file)?, &file.to_string_lossy(), env, home)?;
    let source = &mut loaded.config.source;
    let exposed = source.secret_files.iter().filter_map(|path| mode_finding(path));
    let exposed: Vec<_> = exposed.map(|finding| finding.to_string()).collect();
    source.warnings.extend(exposed);
    Ok(loaded)
}

/// Does the same where secrets in other files and in variables may be missing: they can be on
/// another computer.
pub fn load_with_missing_secrets(
    home: Home,
    file: &Path,
    env: &BTreeMap<String, String>,
) -> Result<LoadedConfig, ConfigError> {
    interpret(&text_of(file)?, &file.to_string_lossy(), env, home, SecretReading::IfPresent)
}

fn text_of(file: &Path) -> Result<String, ConfigError> {
    let bytes = std::fs::read(file).map_err(|error| match error.kind() {
        ErrorKind::NotFound => ConfigError::Missing { path: file.to_owned() },
        kind => {
            let fix = match kind {
                ErrorKind::PermissionDenied => fix_permission(file),
                _ => "name a file that can be read".to_owned(),
            };
            ConfigError::Unreadable { path: file.to_owned(), reason: error.to_string(), fix }
        }
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        not_utf8(error.as_bytes(), valid, &file.to_string_lossy())
    })
}

/// Interprets the text and the environment. Reads the secret files that the text names.
pub fn parse(
    text: &str,
    file_name: &str,
    env: &BTreeMap<String, String>,
    home: Home,
) -> Result<LoadedConfig, ConfigError> {
    interpret(text, file_name, env, home, SecretReading::Required)
}

fn interpret(
    text: &str,
    file_name: &str,
    env: &BTreeMap<String, String>,
    home: Home,
    secrets: SecretReading,
) -> Result<LoadedConfig, ConfigError> {
    let text = text.trim_start_matches('\u{feff}');
    let source = Source { file: file_name, text };
    let (mut values, mut faults) = written_values::read(&source);
    faults.extend(overlay(&mut values, env));
    let mut reader = ConfigReader {
        source,
        values,
        env,
        home,
        secrets,
        faults,
        lines: Vec::new(),
        warnings: Vec::new(),
        secret_files: Vec::new(),
        holds_secret: false,
    };
    let mut config = reader.config();
    let ConfigReader { mut faults, lines, warnings, secret_files, holds_secret, .. } = reader;
    if !faults.is_empty() {
        faults.sort_by(|one, other| one.location.cmp(&other.location));
        return Err(ConfigError::Wrong(faults));
    }
    let own = holds_secret.then(|| PathBuf::from(file_name));
    let secret_files = own.into_iter().chain(secret_files).collect();
    config.source = ConfigSource { file: PathBuf::from(file_name), warnings, secret_files };
    Ok(LoadedConfig { config, origins: lines })
}

fn not_utf8(bytes: &[u8], valid: usize, file_name: &str) -> ConfigError {
    let sound = String::from_utf8_lossy(bytes.get(..valid).unwrap_or_default());
    let (line, column) = position(&sound, sound.len());
    ConfigError::Wrong(vec![Fault {
        location: ConfigLocation::File { file: file_name.to_owned(), line, column },
        key: String::new(),
        what: "This is no UTF-8 text".to_owned(),
        fix: "save the file as UTF-8".to_owned(),
        excerpt: None,
    }])
}

/// A file that other users can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exposed {
    /// Path of the file.
    pub path: PathBuf,
    /// Permissions, as `0o644`.
    pub mode: u32,
}

impl fmt::Display for Exposed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        write!(f, "{path} holds a secret and others can read it (mode {:04o}); run: chmod 600 '{path}'", self.mode)
    }
}

/// Returns how to run Compline as the account that owns the file, or the closest folder that this
/// account can look into.
fn fix_permission(file: &Path) -> String {
    let owner = file.ancestors().find_map(|path| std::fs::metadata(path).ok()).map_or(0, |found| found.uid());
    match owner {
        0 => "run this as root: sudo compline …".to_owned(),
        uid => format!("run this as the user it belongs to: sudo -u '#{uid}' compline …"),
    }
}

/// Returns a finding if the group or others can open the file. A missing file has none.
pub fn mode_finding(path: &Path) -> Option<Exposed> {
    let mode = std::fs::metadata(path).ok()?.mode() & 0o7777;
    (mode & 0o077 != 0).then(|| Exposed { path: path.to_owned(), mode })
}

#[cfg(test)]
mod tests;
