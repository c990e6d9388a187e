//! `compline standby check` and `compline standby activate`.
//!
//! Both rebuild the journal of the replica, so the check fails for the same reasons as the
//! takeover. Both need the home's lock: the machine that takes over does not serve yet.

use std::fs::File;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::backup::{closed_lines, zone};
use super::config::CliPaths;
use super::print::{CliError, Printer, ask, is_dialogue, print_remark};
use super::{Exit, block_on};
use crate::admin::restore;
use crate::admin::standby::claim::Claim;
use crate::admin::standby::{self, PreparedTakeover, Purpose};
use crate::app::{BuildError, take_lock};
use crate::config::Config;
use crate::store;
use crate::time::{Clock, SystemClock, Timestamp, Zone};
use crate::wording::standby as says;

/// `compline standby …`
#[derive(Debug, Subcommand)]
pub enum StandbyCommand {
    /// Check whether this machine can take over
    Check,
    /// Take over from the replica
    Activate(Activate),
}

/// `compline standby activate …`
#[derive(Debug, Args)]
pub struct Activate {
    /// Do not ask whether the other machine is off
    #[arg(long)]
    yes: bool,
}

/// Runs the command.
pub fn run(command: &StandbyCommand, paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let config = paths.load()?.config;
    let (_lock, now) = (lock(&config)?, SystemClock::default().now());
    let done = match command {
        StandbyCommand::Check => check(&config, paths, printer, now),
        StandbyCommand::Activate(options) => activate(options, &config, paths, printer, now),
    };
    // Removes what was staged, or completes the takeover if it was decided.
    restore::settle(&config.home)?;
    done
}

fn lock(config: &Config) -> Result<File, CliError> {
    take_lock(&config.home).map_err(|error| match error {
        BuildError::Held(home) => CliError::Failed(says::stop_first(&home)),
        other => other.into(),
    })
}

fn check(config: &Config, paths: &CliPaths, printer: Printer, now: Timestamp) -> Result<Exit, CliError> {
    if config.replica.is_none() {
        return Err(CliError::Wrong(says::NO_FOLDER.to_owned()));
    }
    let prepared = block_on(async { Ok(standby::prepare(config, Purpose::Check, now).await?) })?;
    if printer.json {
        let report = &prepared.report;
        printer.json(&json!({
            "up_to": report.up_to.map(Timestamp::rfc3339),
            "age_seconds": report.up_to.map(|at| now.since(at).as_secs()),
            "journal": { "version": report.version, "known": store::newest_version() },
            "files": { "matching": report.matching, "unknown": report.unknown, "behind": report.behind },
            "exposed": report.is_exposed,
            "served_by": report.claim.as_ref().map(served_by),
            "parked": prepared.parked,
        }))?;
        return Ok(Exit::Done);
    }
    let mut lines = report_lines(&prepared, config, &zone(paths), now);
    lines.push(format!("\n{}", says::READY));
    printer.fact(&lines.join("\n"))?;
    Ok(Exit::Done)
}

fn activate(
    options: &Activate,
    config: &Config,
    paths: &CliPaths,
    printer: Printer,
    now: Timestamp,
) -> Result<Exit, CliError> {
    if !options.yes && !is_dialogue() {
        return Err(CliError::Wrong(says::NEEDS_YES.to_owned()));
    }
    let prepared = block_on(async { Ok(standby::prepare(config, Purpose::Activate, now).await?) })?;
    print_remark(&report_lines(&prepared, config, &zone(paths), now).join("\n"));
    if !options.yes && !ask(says::CONFIRM)?.trim().eq_ignore_ascii_case("yes") {
        print_remark(says::NOT_CONFIRMED);
        return Ok(Exit::Failed);
    }
    let parked = prepared.parked;
    let aside = standby::finish(prepared, config, now)?;
    if printer.json {
        printer.json(&json!({ "aside": aside, "parked": parked }))?;
        return Ok(Exit::Done);
    }
    let mut lines = vec![says::activated(config.home.path())];
    lines.extend(aside.as_deref().map(crate::wording::restore::set_aside));
    lines.extend(closed_lines(&parked));
    printer.fact(&lines.join("\n"))?;
    Ok(Exit::Done)
}

fn report_lines(prepared: &PreparedTakeover, config: &Config, zone: &Zone, now: Timestamp) -> Vec<String> {
    let report = &prepared.report;
    let mut lines = vec![match report.up_to {
        Some(at) => says::up_to(&zone.show(at), now.since(at)),
        None => says::EMPTY.to_owned(),
    }];
    lines.push(says::journal(report.version, store::newest_version(), report.is_of_release));
    lines.push(says::files(report.matching, report.unknown, report.behind));
    lines.extend(config.replica.as_deref().filter(|_| report.is_exposed).map(says::exposed));
    lines.extend(
        report.claim.as_ref().map(|claim| says::served_by(&claim.computer, claim.taken_over_at(zone).as_deref())),
    );
    lines.extend(prepared.difference.rights());
    lines
}

fn served_by(claim: &Claim) -> Value {
    let since = (claim.since > Timestamp(0)).then(|| claim.since.rfc3339());
    json!({ "home": claim.home, "computer": claim.computer, "since": since })
}
