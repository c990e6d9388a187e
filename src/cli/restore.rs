//! `compline restore FILE`.
//!
//! A restore needs the home's lock, so no gateway runs meanwhile. It is the only command that
//! accepts a home in any state, even with a damaged or missing journal. It shows the changes in
//! people and permissions, and asks for confirmation. A recovery code is never an argument, because
//! other users of the computer can see arguments: it is typed at the terminal, or read from a file
//! or a variable.

use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use serde_json::json;

use super::failure::CliError;
use super::paths::{CliPaths, environment};
use super::print::{Printer, is_dialogue, print_remark};
use super::progress::Bar;
use super::{Exit, block_on};
use crate::admin::backup::key::BackupKey;
use crate::admin::backup::read::Archive;
use crate::admin::restore::{self, ArchiveProof, Authenticity, Configuration, RestoreTarget, Restored};
use crate::app::{BuildError, take_lock};
use crate::time::{Clock, SystemClock, Zone};
use crate::wording::restore as says;
use crate::wording::upkeep;

/// Number of attempts to type the code.
const TRIES: usize = 3;
/// Maximum size of a file with a code, in bytes.
const LONGEST_CODE: u64 = 1024;
/// Environment variable that may hold a recovery code.
const CODE_VARIABLE: &str = "COMPLINE_RECOVERY_CODE";

/// `compline restore …`
#[derive(Debug, Args)]
pub struct Restore {
    /// A file that `compline backup` wrote
    file: PathBuf,
    /// Replace the present configuration with that of the backup
    #[arg(long, conflicts_with = "without_config")]
    with_config: bool,
    /// Skip the configuration of the backup, even if there is none here
    #[arg(long)]
    without_config: bool,
    /// Do not ask for confirmation; for backups made with the home's key
    #[arg(long, conflicts_with = "unsigned")]
    yes: bool,
    /// Restore an unauthenticated backup as untrusted and inactive
    #[arg(long, conflicts_with = "with_config")]
    unsigned: bool,
    /// Read the recovery code from a file; - is standard input
    #[arg(long, value_name = "FILE")]
    recovery_code_file: Option<PathBuf>,
}

/// Restores a backup.
pub fn restore(options: &Restore, place: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let _lock = take_lock(&place.home).map_err(|error| match error {
        BuildError::Held(home) => CliError::Failed(upkeep::stop_first(&home)),
        other => other.into(),
    })?;
    let target = RestoreTarget {
        home: place.home.clone(),
        config: place.config.clone(),
        configuration: match (options.with_config, options.without_config) {
            (true, _) => Configuration::Archive,
            (_, true) => Configuration::Present,
            _ => Configuration::PresentFirst,
        },
        environment: environment(),
    };
    let done = attempt(options, &target, place, printer);
    // Removes unpacked files, or completes the restore if it was decided.
    restore::settle(&place.home)?;
    match done? {
        Some(restored) => print_result(&restored, place, printer)?,
        None => {
            print_remark(says::NOT_CONFIRMED);
            return Ok(Exit::Failed);
        }
    }
    Ok(Exit::Done)
}

/// Reads, shows, asks and restores. Returns `None` if the answer was no.
fn attempt(
    options: &Restore,
    target: &RestoreTarget,
    place: &CliPaths,
    printer: Printer,
) -> Result<Option<Restored>, CliError> {
    let mut bar = Bar::new(printer.quiet);
    let archive = restore::read(&options.file, &target.home, &mut |doing, done| bar.at(doing, done));
    bar.end();
    let archive = archive?;
    let warrant = archive_proof(options, target, &archive)?;
    // Missing prerequisites for a question are reported before anything is unpacked.
    match &warrant {
        ArchiveProof::Nothing if !is_dialogue() => {
            return Err(CliError::Failed(says::UNSIGNED_NEEDS_TERMINAL.to_owned()));
        }
        ArchiveProof::Key(_) if !options.yes && !is_dialogue() => {
            return Err(CliError::Failed(says::NEEDS_YES.to_owned()));
        }
        _ => {}
    }
    let now = SystemClock::default().now();
    let mut bar = Bar::new(printer.quiet);
    let mut progress = |doing: &'static str, done| bar.at(doing, done);
    let prepared = block_on(async {
        let to = (target, &warrant);
        Ok(restore::prepare(&options.file, &archive, to, now, &mut progress, &mut |_| Ok(())).await)
    })?;
    bar.end();
    let prepared = prepared?;
    print_remark(&prepared.difference.shown(&zone(place)));
    if !options.yes && !is_confirmed()? {
        return Ok(None);
    }
    Ok(Some(restore::finish(prepared, target, now, &mut |_| Ok(()))?))
}

/// Returns the authentication of the archive: the home's key, that of a recovery code, or none if
/// that was requested.
fn archive_proof(options: &Restore, target: &RestoreTarget, archive: &Archive) -> Result<ArchiveProof, CliError> {
    let file = &options.file;
    let own = BackupKey::load(&target.home)?;
    match restore::judge(archive, own.as_ref())? {
        Authenticity::Authentic(key) => Ok(ArchiveProof::Key(key)),
        _ if options.unsigned => Ok(ArchiveProof::Nothing),
        Authenticity::Unsigned => Err(CliError::Failed(says::unsigned(file))),
        Authenticity::Changed => Err(CliError::Failed(says::changed(file))),
        Authenticity::OtherKey => {
            let key = by_code(options, own.is_some())?;
            match restore::judge(archive, Some(&key))? {
                Authenticity::Authentic(key) => Ok(ArchiveProof::Key(key)),
                Authenticity::Changed => Err(CliError::Failed(says::changed(file))),
                _ => Err(CliError::Failed(says::wrong_code(file))),
            }
        }
    }
}

fn by_code(options: &Restore, has_key: bool) -> Result<BackupKey, CliError> {
    if let Some(code) = given_code(options)? {
        return BackupKey::from_recovery_code(&code)
            .map_err(|error| CliError::Failed(says::no_code(&error.to_string())));
    }
    if !is_dialogue() {
        return Err(CliError::Failed(says::needs_code(&options.file, has_key)));
    }
    let mut last = String::new();
    for _ in 0..TRIES {
        match BackupKey::from_recovery_code(&ask(&says::ask_code(has_key))?) {
            Ok(key) => return Ok(key),
            Err(error) => last = error.to_string(),
        }
        print_remark(&last);
    }
    Err(CliError::Failed(says::no_code(&last)))
}

fn given_code(options: &Restore) -> Result<Option<String>, CliError> {
    let mut code = String::new();
    match &options.recovery_code_file {
        Some(path) if path == Path::new("-") => io::stdin().take(LONGEST_CODE).read_to_string(&mut code)?,
        Some(path) => {
            let opened = std::fs::File::open(path).with_context(|| format!("Cannot open {}", path.display()))?;
            opened.take(LONGEST_CODE).read_to_string(&mut code)?
        }
        None => return Ok(std::env::var(CODE_VARIABLE).ok().filter(|code| !code.is_empty())),
    };
    Ok(Some(code))
}

fn is_confirmed() -> Result<bool, CliError> {
    Ok(matches!(ask(says::CONFIRM)?.to_lowercase().as_str(), "y" | "yes"))
}

fn ask(question: &str) -> Result<String, CliError> {
    let mut out = io::stderr().lock();
    write!(out, "{question}")?;
    out.flush()?;
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed)?;
    Ok(typed.trim().to_owned())
}

fn zone(place: &CliPaths) -> Zone {
    place.load().map_or(Zone::UTC, |loaded| loaded.config.zone)
}

fn print_result(restored: &Restored, place: &CliPaths, printer: Printer) -> Result<(), CliError> {
    if printer.json {
        return printer.json(&json!({
            "made_at": restored.made_at.rfc3339(), "aside": restored.aside, "parked": restored.parked,
            "exact": restored.is_exact, "owners": restored.owners,
        }));
    }
    let (home, made_at) = (place.home.path(), zone(place).show(restored.made_at));
    let mut lines = vec![if restored.is_exact { says::exact(home, &made_at) } else { says::holds(home, &made_at) }];
    lines.extend(restored.aside.as_deref().map(says::set_aside));
    lines.extend(restored.keeps_key.then(|| says::KEY_KEPT.to_owned()));
    lines.push(match restored.owners.as_slice() {
        [] => says::NO_OWNER.to_owned(),
        owners => says::owners(&owners.join(", ")),
    });
    lines.extend((!restored.is_authentic).then(|| says::NOTHING_TRUSTED.to_owned()));
    lines.extend(restored.is_configured_otherwise.then(|| says::OWN_CONFIG.to_owned()));
    let parked = &restored.parked;
    let counts = [
        parked.messages,
        parked.outbox,
        parked.proposals,
        parked.questions,
        parked.slots,
        parked.files,
        parked.skills,
        parked.people,
        parked.tools,
        parked.reminders,
    ];
    let closed = counts.into_iter().zip(upkeep::CLOSED);
    lines.extend(closed.filter_map(|(count, (one, many))| upkeep::closed(count, one, many)));
    printer.fact(&lines.join("\n"))
}
