//! Paths of the home and the configuration, from the command line and the environment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::failure::CliError;
use crate::config::{self, ConfigError, Home, LoadedConfig};
use crate::wording::cli as says;

/// The selected home and configuration.
#[derive(Debug, Clone)]
pub struct CliPaths {
    /// Home directory.
    pub home: Home,
    /// Configuration file.
    pub config: PathBuf,
}

impl CliPaths {
    /// Returns the given paths, or the defaults.
    pub fn of(home: Option<&Path>, config: Option<&Path>) -> Result<Self, CliError> {
        let home = match home.map(Path::to_owned).or_else(usual_home) {
            // The gateway, the journal and the configuration all derive file names from this path.
            Some(home) => Home::at(std::path::absolute(home)?),
            None => return Err(CliError::Wrong(says::NO_HOME.to_owned())),
        };
        let config = match config {
            Some(file) => std::path::absolute(file)?,
            None => home.config(),
        };
        Ok(Self { home, config })
    }

    /// Reads the configuration, overlaid with the environment.
    pub fn load(&self) -> Result<LoadedConfig, ConfigError> {
        config::load(self.home.clone(), &self.config, &environment())
    }

    /// Returns a command line that runs `command` on this home.
    pub fn command(&self, command: &str) -> String {
        let mut typed = "compline".to_owned();
        if usual_home().is_none_or(|usual| usual != self.home.path()) {
            typed.push_str(&format!(" --home {}", shell(self.home.path())));
        }
        if self.config != self.home.config() {
            typed.push_str(&format!(" --config {}", shell(&self.config)));
        }
        format!("{typed} {command}")
    }
}

/// Returns the environment. Variables that are not UTF-8 are skipped; none of ours can be.
pub fn environment() -> BTreeMap<String, String> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}

/// Returns `compline` in the platform's data directory.
fn usual_home() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = if cfg!(target_os = "macos") {
        set("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")))
    };
    data.map(|data| data.join("compline"))
}

/// Quotes a path for a shell.
pub fn shell(path: &Path) -> String {
    let path = path.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,".contains(c);
    if path.chars().all(plain) { path.into_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_for_a_shell() {
        assert_eq!(shell(Path::new("/home/ada/.local")), "/home/ada/.local");
        assert_eq!(shell(Path::new("/a b/it's")), r"'/a b/it'\''s'");
    }
}
