//! `compline doctor`: checks everything that a person may have to fix, and suggests fixes.
//!
//! It changes nothing without `--fix`, and then only what cannot do harm. A running gateway is
//! asked for the health of its channels, and is not disturbed; without one, the model and the
//! channels are tested with real requests. The output can be pasted anywhere: it contains no
//! secret, message or name.

mod disk;
mod finding;
mod gateway;
mod journal;
mod knowledge;
mod meaning;
mod outside;
mod signal;
mod skills;
mod telegram;

use clap::Args;
use serde_json::json;

use super::failure::CliError;
use super::paths::CliPaths;
use super::print::Printer;
use super::{Exit, block_on};
use crate::config::{Config, LoadedConfig, Provider};
use crate::time::Zone;
use crate::wording::cli::doctor as says;
use finding::{Finding, FindingState};
use gateway::Gateway;

/// `compline doctor …`
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Fix safe problems: permissions, missing workspace files
    #[arg(long)]
    fix: bool,
    /// Do not contact the model or the channels
    #[arg(long)]
    offline: bool,
}

/// Runs the checks and prints the findings.
pub fn run(options: &DoctorArgs, place: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let findings = block_on(async { Ok(check_all(options, place).await) })?;
    let exit =
        if findings.iter().any(|finding| finding.state == FindingState::Wrong) { Exit::Failed } else { Exit::Done };
    if printer.json {
        let ok = exit == Exit::Done;
        printer.json(&json!({ "version": env!("CARGO_PKG_VERSION"), "ok": ok, "findings": findings }))?;
    } else {
        printer.fact(&report(&findings))?;
    }
    Ok(exit)
}

async fn check_all(options: &DoctorArgs, place: &CliPaths) -> Vec<Finding> {
    let mut findings = disk::home(&place.home, options.fix);
    let loaded = match place.load() {
        Ok(loaded) => loaded,
        Err(error) => {
            let told = error.to_string();
            let (what, fix) = told.rsplit_once("\nfix: ").unwrap_or((&told, ""));
            findings.push(Finding::wrong(says::CONFIGURATION, what, fix));
            return findings;
        }
    };
    findings.extend(configuration(place, &loaded, options.fix));
    let config = &loaded.config;
    findings.push(zone(config));
    findings.push(disk::space(&config.home));
    let gateway = Gateway::ask(place).await;
    findings.extend(journal::check(config, &gateway, options.fix).await);
    findings.extend(skills::check(config));
    findings.extend(outside::check(config, &gateway, options.offline).await);
    findings
}

fn configuration(place: &CliPaths, loaded: &LoadedConfig, fix: bool) -> Vec<Finding> {
    let modes = loaded.secret_files.iter().filter_map(|file| disk::exposed(file, fix));
    let mut findings: Vec<Finding> = modes.collect();
    let about_modes =
        |warning: &&String| loaded.secret_files.iter().any(|file| warning.starts_with(&*file.to_string_lossy()));
    let others = loaded.warnings.iter().filter(|warning| !about_modes(warning));
    findings.extend(others.map(|warning| Finding::note(says::CONFIGURATION, warning, "")));
    if findings.is_empty() {
        findings.push(Finding::ok(says::CONFIGURATION, &place.config.display().to_string()));
    }
    findings
}

fn zone(config: &Config) -> Finding {
    let configured = config.zone.name();
    match Zone::of_this_computer() {
        Some(here) if here != config.zone => Finding::ok(says::ZONE, &says::other_zone(configured, here.name())),
        _ => Finding::ok(says::ZONE, configured),
    }
}

/// Returns the model's name for people.
fn model_name(config: &Config) -> String {
    match config.model.provider {
        Provider::Offline => says::OFFLINE.to_owned(),
        provider => format!("{}/{}", provider.as_str(), config.model.name),
    }
}

fn report(findings: &[Finding]) -> String {
    let head = says::head(env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH);
    let wrong = findings.iter().filter(|finding| finding.state == FindingState::Wrong).count();
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    format!("{head}\n\n{}\n\n{}", lines.join("\n"), says::verdict(wrong))
}
