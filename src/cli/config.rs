//! `compline config check` and `compline config show`.

use clap::Subcommand;
use serde_json::json;

use super::Exit;
use super::failure::CliError;
use super::paths::CliPaths;
use super::print::Printer;
use crate::config::{ConfigError, LoadedConfig, show};
use crate::wording::cli as says;

/// `compline config …`
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Check the configuration, and suggest fixes for errors
    Check,
    /// Print all effective values and their sources, secrets hidden
    Show,
}

/// Runs the command.
pub fn run(command: &ConfigCommand, place: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let loaded = match (place.load(), command) {
        (Err(error), ConfigCommand::Check) if printer.json => return refuse(&error, printer),
        (loaded, _) => loaded?,
    };
    match command {
        ConfigCommand::Check => check(place, &loaded, printer)?,
        ConfigCommand::Show => print(&loaded, printer)?,
    }
    Ok(Exit::Done)
}

fn check(place: &CliPaths, loaded: &LoadedConfig, printer: Printer) -> Result<(), CliError> {
    if printer.json {
        return printer.json(&json!({ "ok": true, "faults": [], "warnings": loaded.warnings }));
    }
    for warning in &loaded.warnings {
        printer.note(&says::warning(warning));
    }
    printer.fact(&says::config_sound(&place.config))
}

fn refuse(error: &ConfigError, printer: Printer) -> Result<Exit, CliError> {
    let faults = match error {
        ConfigError::Wrong(faults) => json!(faults),
        ConfigError::Missing { path } | ConfigError::Unreadable { path, .. } => {
            let told = error.to_string();
            let (what, fix) = told.split_once("\nfix: ").unwrap_or((&told, ""));
            json!([{ "file": path, "key": "", "what": what, "fix": fix }])
        }
    };
    printer.json(&json!({ "ok": false, "faults": faults, "warnings": [] }))?;
    Ok(Exit::Wrong)
}

fn print(loaded: &LoadedConfig, printer: Printer) -> Result<(), CliError> {
    let lines = show(loaded);
    if printer.json {
        return printer.json(&lines);
    }
    let width = lines.iter().map(|line| line.key.chars().count()).max().unwrap_or(0);
    let lines: Vec<String> =
        lines.iter().map(|line| format!("{:width$}  {}  ({})", line.key, line.value, line.origin)).collect();
    printer.fact(&lines.join("\n"))
}
