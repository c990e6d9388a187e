//! `compline doctor`: checks everything that a person may have to fix, and suggests fixes.
//!
//! Nothing is changed without `--fix`, and then only what cannot do harm. A running gateway is
//! asked for the health of its channels, and is not disturbed; without one, the model and the
//! channels are tested with real requests. The output can be pasted anywhere: it contains no
//! secret, message or name.

mod home;
mod journal;
mod services;
mod signal;

use std::fmt;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use super::config::CliPaths;
use super::print::{CliError, Printer};
use super::{Exit, block_on, client};
use crate::admin::doctor::home::free_space;
use crate::admin::doctor::{Finding, FindingState, services as seen_inside, standby, zone};
use crate::config::{Config, Provider};
use crate::time::{Clock, SystemClock};
use crate::wording::cli::split_fix;
use crate::wording::doctor as says;

/// Time within which a healthy gateway answers.
const GATEWAY_TIMEOUT: Duration = Duration::from_secs(5);

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
pub fn run(options: &DoctorArgs, paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let findings = block_on(async { Ok(check_all(options, paths).await) })?;
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

async fn check_all(options: &DoctorArgs, paths: &CliPaths) -> Vec<Finding> {
    let mut findings = home::check_home(&paths.home, options.fix);
    let loaded = match paths.load() {
        Ok(loaded) => loaded,
        Err(error) => {
            let text = error.to_string();
            let (what, fix) = split_fix(&text);
            findings.push(Finding::wrong(says::CONFIGURATION, what, fix));
            return findings;
        }
    };
    let config = &loaded.config;
    findings.extend(home::check_configuration(&config.source, options.fix));
    findings.push(zone(config));
    findings.push(free_space(&config.home));
    let gateway = Gateway::ask(paths).await;
    findings.extend(journal::check(config, &gateway, options.fix).await);
    findings.extend(home::check_skills(config));
    findings.extend(standby::check(config));
    findings.extend(services::check(config, &gateway, options.offline).await);
    findings
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

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            FindingState::Ok => says::OK,
            FindingState::Note => says::NOTE,
            FindingState::Fixed => says::FIXED,
            FindingState::Wrong => says::WRONG,
        };
        let what = self.what.replace('\n', "\n                        ");
        write!(f, "{state:7} {:15} {what}", self.check)?;
        if !self.fix.is_empty() {
            write!(f, "\n                        {} {}", says::FIX, self.fix)?;
        }
        Ok(())
    }
}

/// Result of the query.
pub(super) enum Gateway {
    /// No gateway is running.
    Away,
    /// The gateway is running but does not answer.
    Silent,
    /// Status reported by the gateway.
    Runs(Value),
}

impl Gateway {
    /// Queries the gateway of this home. One that is stopped or hangs accepts the query without
    /// answering.
    pub(super) async fn ask(paths: &CliPaths) -> Self {
        let line = client::words(&["status"]);
        let clock = SystemClock::default();
        let answered = tokio::select! {
            answered = client::ask_gateway(&line, &paths.home, true) => answered,
            _busy = clock.wake_at(clock.now().plus(GATEWAY_TIMEOUT)) => return Self::Silent,
        };
        match answered {
            Ok(Some(status)) => Self::Runs(serde_json::from_str(&status.text).unwrap_or_default()),
            Ok(None) => Self::Away,
            Err(_) => Self::Silent,
        }
    }

    /// Returns `true` if a gateway holds the home.
    pub(super) fn is_there(&self) -> bool {
        !matches!(self, Self::Away)
    }

    /// Returns the finding about all its channels and servers.
    pub(super) fn finding(&self) -> Finding {
        let status = match self {
            Self::Away => return Finding::note(says::GATEWAY, says::NOT_RUNNING, ""),
            Self::Silent => return Finding::wrong(says::GATEWAY, says::SILENT, says::FIX_SILENT),
            Self::Runs(status) => status,
        };
        let parts = ["adapters", "servers"].into_iter().filter_map(|part| status.get(part).and_then(Value::as_array));
        let problems: Vec<String> = parts.flatten().filter_map(problem).collect();
        seen_inside::gateway(&problems)
    }
}

fn problem(part: &Value) -> Option<String> {
    let text = |key: &str| part.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    Some(seen_inside::problem(text("name").unwrap_or_default(), text("trouble").or_else(|| text("remark"))?))
}
