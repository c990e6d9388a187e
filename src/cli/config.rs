//! `compline config …`, and the home, the configuration and its channels as the command line sees
//! them.
//!
//! The terminal is no channel here: anyone who can open it is the owner, so there is nothing to
//! claim.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;

use super::Exit;
use super::print::{CliError, Printer};
use crate::config::{self, Config, ConfigError, Home, LoadedConfig};
use crate::wording::cli as says;

/// `compline config …`
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Check the configuration, and suggest fixes for errors
    Check,
    /// Print all effective values and their sources, secrets hidden
    Show,
    /// Replace an API key or token, after testing it
    SetSecret(SetSecret),
}

/// `compline config set-secret …`
#[derive(Debug, Args)]
pub struct SetSecret {
    /// Key of the setting, as telegram.token or model.api_key
    pub key: String,
    /// Do not test it with a request
    #[arg(long)]
    pub untested: bool,
}

/// Checks the configuration.
pub fn check(paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let loaded = match paths.load() {
        Err(error) if printer.json => return refuse(&error, printer),
        loaded => loaded?,
    };
    if printer.json {
        printer.json(&json!({ "ok": true, "faults": [], "warnings": loaded.config.source.warnings }))?;
        return Ok(Exit::Done);
    }
    for warning in &loaded.config.source.warnings {
        printer.note(&says::warning(warning));
    }
    printer.fact(&says::config_sound(&paths.config))?;
    Ok(Exit::Done)
}

fn refuse(error: &ConfigError, printer: Printer) -> Result<Exit, CliError> {
    let faults = match error {
        ConfigError::Wrong(faults) => json!(faults),
        ConfigError::Missing { path } | ConfigError::Unreadable { path, .. } => {
            let text = error.to_string();
            let (what, fix) = says::split_fix(&text);
            json!([{ "file": path, "key": "", "what": what, "fix": fix }])
        }
    };
    printer.json(&json!({ "ok": false, "faults": faults, "warnings": [] }))?;
    Ok(Exit::Wrong)
}

/// Prints all effective values.
pub fn show(paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let lines = paths.load()?.origins;
    if printer.json {
        printer.json(&lines)?;
        return Ok(Exit::Done);
    }
    let width = lines.iter().map(|line| line.key.chars().count()).max().unwrap_or(0);
    let lines: Vec<String> =
        lines.iter().map(|line| format!("{:width$}  {}  ({})", line.key, line.value, line.origin)).collect();
    printer.fact(&lines.join("\n"))?;
    Ok(Exit::Done)
}

/// Home of the computer's own service.
pub const SYSTEM_HOME: &str = "/var/lib/compline";

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
        let home = match home.map(Path::to_owned).or_else(default_home) {
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
        let mut line = "compline".to_owned();
        // Root alone reaches it, and needs no path for it.
        if self.home.path() == Path::new(SYSTEM_HOME) {
            line.insert_str(0, "sudo ");
        } else if default_home().is_none_or(|default| default != self.home.path()) {
            line.push_str(&format!(" --home {}", shell(self.home.path())));
        }
        if self.config != self.home.config() {
            line.push_str(&format!(" --config {}", shell(&self.config)));
        }
        format!("{line} {command}")
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
fn default_home() -> Option<PathBuf> {
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

/// Returns `true` if the first owner still has to claim the assistant, according to the
/// configuration: it contains no owner's address on any configured channel.
///
/// The terminal does not count: anyone who can open it is the owner.
pub fn awaits_claim(config: &Config) -> bool {
    let channels = config.channels();
    !channels.is_empty() && !channels.iter().any(|channel| config.names_owner(*channel))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_of_the_service_is_reached_by_root() {
        let paths = |home| CliPaths::of(Some(Path::new(home)), None).unwrap();
        assert_eq!(paths(SYSTEM_HOME).command("chat"), "sudo compline chat");
        assert_eq!(paths("/srv/a b").command("chat"), "compline --home '/srv/a b' chat");
    }

    #[test]
    fn paths_for_a_shell() {
        assert_eq!(shell(Path::new("/home/ada/.local")), "/home/ada/.local");
        assert_eq!(shell(Path::new("/a b/it's")), r"'/a b/it'\''s'");
    }
}
