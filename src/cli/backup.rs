//! `compline backup FILE` and `compline restore FILE`.
//!
//! A backup does not involve the gateway: it reads the home alongside it. The recovery code of a
//! new key is shown once, and only at a terminal: the output of a service ends up in a log.
//!
//! A restore needs the home's lock, so no gateway runs meanwhile. It is the only command that
//! accepts a home in any state, even with a damaged or missing journal. It shows the changes in
//! people and permissions, and asks for confirmation. A recovery code is never an argument, because
//! other users of the computer can see arguments: it is typed at the terminal, or read from a file
//! or a variable.

use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use serde_json::json;

use super::config::{CliPaths, environment};
use super::print::{CliError, Printer, ask, is_dialogue, print_remark, with_progress};
use super::{Exit, block_on};
use crate::admin::backup::key::BackupKey;
use crate::admin::backup::read::Archive;
use crate::admin::backup::{self, BackupSources, FinishedBackup};
use crate::admin::restore::{self, ArchiveProof, Authenticity, Configuration, RestoreTarget, Restored};
use crate::app::{BuildError, take_lock};
use crate::config::{Home, NamedSecret, SecretLocation};
use crate::review::reveal::reveal;
use crate::store::ClosedWork;
use crate::time::{Clock, SystemClock, Zone};
use crate::wording::{restore as says, upkeep};

/// Number of attempts to type the code.
const ATTEMPTS: usize = 3;
/// Maximum size of a file with a code, in bytes.
const MAX_CODE_SIZE: u64 = 1024;
/// Environment variable that may hold a recovery code.
const CODE_VARIABLE: &str = "COMPLINE_RECOVERY_CODE";

/// `compline backup …`
#[derive(Debug, Args)]
pub struct Backup {
    /// The new file; it must not exist
    #[arg(required_unless_present = "recovery_code")]
    file: Option<PathBuf>,
    /// Leave out the configuration and the secrets in it
    #[arg(long)]
    without_config: bool,
    /// Show the code that restores backups on a new computer
    #[arg(long, conflicts_with_all = ["file", "without_config"])]
    recovery_code: bool,
}

/// Completes or discards an interrupted restore before anything else of the home is read, and
/// reports the result.
pub fn settle_first(home: &Home) -> Result<(), CliError> {
    if !restore::is_left(home) {
        return Ok(());
    }
    let outcome = if restore::is_unfinished(home) { upkeep::FINISHED } else { upkeep::DROPPED };
    match take_lock(home) {
        Ok(_) => print_remark(outcome),
        // A restore is in progress.
        Err(BuildError::Held(_)) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Makes a backup, or shows the recovery code.
pub fn backup(options: &Backup, paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    if options.recovery_code {
        return show_code(paths, printer);
    }
    let Some(file) = &options.file else { return Err(CliError::Wrong(says::NO_FILE.to_owned())) };
    let config = paths.load()?.config;
    let with_config = !options.without_config && paths.config.is_file();
    let sources = BackupSources {
        home: paths.home.clone(),
        workspace: config.workspace,
        skills: config.skills.dir,
        config: with_config.then(|| paths.config.clone()),
    };
    let now = SystemClock::default().now();
    let made = with_progress(printer.quiet, |progress| backup::make(&sources, file, now, progress))?;
    for (path, why) in &made.left_out {
        print_remark(&upkeep::left_out(&path.escape_debug().to_string(), *why));
    }
    printer.note(&match with_config {
        true => upkeep::holds_secrets(&made.secrets),
        false => upkeep::WITHOUT_CONFIG.to_owned(),
    });
    print_result(&made, file, with_config, printer)?;
    if let Some(key) = &made.new_key {
        // JSON output and logs are not read by a person who would write down the code.
        let is_read = io::stderr().is_terminal() && !printer.json;
        print_remark(&if is_read { says::new_code(&key.recovery_code()) } else { says::CODE_NOT_SHOWN.to_owned() });
    }
    Ok(Exit::Done)
}

fn show_code(paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    if !paths.home.journal().is_file() {
        return Err(CliError::Failed(upkeep::no_journal(paths.home.path())));
    }
    let code = BackupKey::load_or_make(&paths.home)?.0.recovery_code();
    if printer.json { printer.json(&json!({ "recovery_code": code })) } else { printer.fact(&code) }?;
    Ok(Exit::Done)
}

fn print_result(made: &FinishedBackup, file: &Path, with_config: bool, printer: Printer) -> Result<(), CliError> {
    if printer.json {
        let left_out: Vec<_> = made.left_out.iter().map(|(path, why)| json!({ "path": path, "why": why })).collect();
        return printer.json(&json!({
            "file": file, "bytes": made.size, "files": made.files, "config": with_config,
            "secrets": made.secrets, "left_out": left_out,
        }));
    }
    printer.fact(&upkeep::made(file, made.size.div_ceil(1024), made.files))
}

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
pub fn restore(options: &Restore, paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let _lock = take_lock(&paths.home).map_err(|error| match error {
        BuildError::Held(home) => CliError::Failed(upkeep::stop_first(&home)),
        other => other.into(),
    })?;
    let target = RestoreTarget {
        home: paths.home.clone(),
        config: paths.config.clone(),
        configuration: match (options.with_config, options.without_config) {
            (true, _) => Configuration::Archive,
            (_, true) => Configuration::Present,
            _ => Configuration::PresentFirst,
        },
        environment: environment(),
    };
    let done = attempt(options, &target, paths, printer);
    // Removes unpacked files, or completes the restore if it was decided.
    restore::settle(&paths.home)?;
    match done? {
        Some(restored) => print_restored(&restored, paths, printer)?,
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
    paths: &CliPaths,
    printer: Printer,
) -> Result<Option<Restored>, CliError> {
    let file = &options.file;
    let archive = with_progress(printer.quiet, |progress| restore::read(file, &target.home, progress))?;
    let proof = archive_proof(options, target, &archive)?;
    // Missing prerequisites for a question are reported before anything is unpacked.
    match &proof {
        ArchiveProof::Nothing if !is_dialogue() => {
            return Err(CliError::Failed(says::UNSIGNED_NEEDS_TERMINAL.to_owned()));
        }
        ArchiveProof::Key(_) if !options.yes && !is_dialogue() => {
            return Err(CliError::Failed(says::NEEDS_YES.to_owned()));
        }
        _ => {}
    }
    let now = SystemClock::default().now();
    let prepared = with_progress(printer.quiet, |progress| {
        let to = (target, &proof);
        block_on(async { Ok(restore::prepare(file, &archive, to, now, progress, &mut |_| Ok(())).await?) })
    })?;
    print_remark(&prepared.difference.shown(&zone(paths)));
    if !options.yes && !matches!(ask(says::CONFIRM)?.to_lowercase().as_str(), "y" | "yes") {
        return Ok(None);
    }
    Ok(Some(restore::finish(prepared, target, now, &mut |_| Ok(()))?))
}

/// Returns the authentication of the archive: the home's key, that of a recovery code, or none if
/// that was requested.
fn archive_proof(options: &Restore, target: &RestoreTarget, archive: &Archive) -> Result<ArchiveProof, CliError> {
    let file = &options.file;
    let own = BackupKey::load(&target.home)?;
    match restore::check_authenticity(archive, own.as_ref())? {
        Authenticity::Authentic(key) => Ok(ArchiveProof::Key(key)),
        _ if options.unsigned => Ok(ArchiveProof::Nothing),
        Authenticity::Unsigned => Err(CliError::Failed(says::unsigned(file))),
        Authenticity::Changed => Err(CliError::Failed(says::changed(file))),
        Authenticity::OtherKey => {
            let key = by_code(options, own.is_some())?;
            match restore::check_authenticity(archive, Some(&key))? {
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
    for _ in 0..ATTEMPTS {
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
        Some(path) if path == Path::new("-") => io::stdin().take(MAX_CODE_SIZE).read_to_string(&mut code)?,
        Some(path) => {
            let opened = std::fs::File::open(path).with_context(|| format!("Cannot open {}", path.display()))?;
            opened.take(MAX_CODE_SIZE).read_to_string(&mut code)?
        }
        None => return Ok(std::env::var(CODE_VARIABLE).ok().filter(|code| !code.is_empty())),
    };
    Ok(Some(code))
}

pub(super) fn zone(paths: &CliPaths) -> Zone {
    paths.load().map_or(Zone::UTC, |loaded| loaded.config.zone)
}

fn missing(secret: &NamedSecret, paths: &CliPaths) -> String {
    let path = match &secret.location {
        SecretLocation::File(path) => path,
        SecretLocation::Variable(name) => return says::missing_variable(&secret.key, &reveal(name)),
    };
    let shown = reveal(&path.to_string_lossy());
    // An absolute path leads into the former home.
    let mut rest = path.components();
    while rest.next().is_some() {
        if !rest.as_path().as_os_str().is_empty() && paths.home.path().join(rest.as_path()).is_file() {
            let now = format!("HOME/{}", rest.as_path().display());
            return says::moved_file(&secret.key, &shown, &reveal(&now));
        }
    }
    let key = secret.key.trim_end_matches("_file");
    says::missing_file(&secret.key, &shown, &paths.command(&format!("config set-secret {key}")))
}

fn print_restored(restored: &Restored, paths: &CliPaths, printer: Printer) -> Result<(), CliError> {
    if printer.json {
        return printer.json(&json!({
            "made_at": restored.made_at.rfc3339(), "aside": restored.aside, "parked": restored.parked,
            "exact": restored.is_exact, "owners": restored.owners, "missing_secrets": restored.missing_secrets,
        }));
    }
    let (home, made_at) = (paths.home.path(), zone(paths).show(restored.made_at));
    let mut lines = vec![if restored.is_exact { says::exact(home, &made_at) } else { says::holds(home, &made_at) }];
    lines.extend(restored.aside.as_deref().map(says::set_aside));
    lines.extend(restored.keeps_key.then(|| says::KEY_KEPT.to_owned()));
    lines.push(match restored.owners.as_slice() {
        [] => says::NO_OWNER.to_owned(),
        owners => says::owners(&owners.join(", ")),
    });
    lines.extend((!restored.is_authentic).then(|| says::NOTHING_TRUSTED.to_owned()));
    lines.extend(restored.is_configured_otherwise.then(|| says::OWN_CONFIG.to_owned()));
    lines.extend(closed_lines(&restored.parked));
    lines.extend(restored.missing_secrets.iter().map(|secret| missing(secret, paths)));
    printer.fact(&lines.join("\n"))
}

/// Names everything that was closed or does not count as before.
pub(super) fn closed_lines(parked: &ClosedWork) -> Vec<String> {
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
        parked.repeated,
    ];
    let closed = counts.into_iter().zip(upkeep::CLOSED);
    closed.filter_map(|(count, (one, many))| upkeep::closed(count, one, many)).collect()
}
