//! Where everything lies, as the command line and the environment say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::failure::CliError;
use crate::config::{self, ConfigError, Home, Loaded};
use crate::wording::cli as says;

/// The home and the configuration that were meant.
#[derive(Debug, Clone)]
pub struct CliPaths {
    /// The home.
    pub home: Home,
    /// The configuration file.
    pub config: PathBuf,
}

impl CliPaths {
    /// What was named, or what holds if nothing was.
    pub fn of(home: Option<&Path>, config: Option<&Path>) -> Result<Self, CliError> {
        let home = match home.map(Path::to_owned).or_else(usual_home) {
            // The gateway, the journal and the lines of the configuration all name files by it.
            Some(home) => Home::at(std::path::absolute(home)?),
            None => return Err(CliError::Wrong(says::NO_HOME.to_owned())),
        };
        let config = match config {
            Some(file) => std::path::absolute(file)?,
            None => home.config(),
        };
        Ok(Self { home, config })
    }

    /// Reads the configuration, with the environment laid over it.
    pub fn load(&self) -> Result<Loaded, ConfigError> {
        config::load(self.home.clone(), &self.config, &environment())
    }

    /// What to type before a command so that it means this place.
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

/// The environment; a variable that is no text cannot hold anything of ours.
pub fn environment() -> BTreeMap<String, String> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}

/// The platform's data directory and `compline`.
fn usual_home() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = if cfg!(target_os = "macos") {
        set("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")))
    };
    data.map(|data| data.join("compline"))
}

/// A path as a shell reads it.
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
