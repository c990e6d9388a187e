//! `compline backup FILE`.
//!
//! A backup does not involve the gateway: it reads the home alongside it. The recovery code of a
//! new key is shown once, and only at a terminal: the output of a service ends up in a log.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::Exit;
use super::failure::CliError;
use super::paths::CliPaths;
use super::print::{Printer, print_remark};
use super::progress::Bar;
use crate::admin::backup::key::BackupKey;
use crate::admin::backup::{self, BackupSources, Made};
use crate::admin::restore;
use crate::app::{BuildError, take_lock};
use crate::config::Home;
use crate::time::{Clock, SystemClock};
use crate::wording::restore as says_of_keys;
use crate::wording::upkeep as says;

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
    let told = if restore::is_unfinished(home) { says::FINISHED } else { says::DROPPED };
    match take_lock(home) {
        Ok(_) => print_remark(told),
        // A restore is in progress.
        Err(BuildError::Held(_)) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Makes a backup, or shows the recovery code.
pub fn backup(options: &Backup, place: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    if options.recovery_code {
        return show_code(place, printer);
    }
    let Some(file) = &options.file else { return Err(CliError::Wrong(says_of_keys::NO_FILE.to_owned())) };
    let config = place.load()?.config;
    let with_config = !options.without_config && place.config.is_file();
    let sources = BackupSources {
        home: place.home.clone(),
        workspace: config.workspace,
        skills: config.skills.dir,
        config: with_config.then(|| place.config.clone()),
    };
    let mut bar = Bar::new(printer.quiet);
    let made = backup::make(&sources, file, SystemClock::default().now(), &mut |doing, done| bar.at(doing, done));
    bar.end();
    let made = made?;
    for (path, why) in &made.left_out {
        print_remark(&says::left_out(&path.escape_debug().to_string(), *why));
    }
    printer.note(if with_config { says::HOLDS_SECRETS } else { says::WITHOUT_CONFIG });
    print_result(&made, file, with_config, printer)?;
    if let Some(key) = &made.new_key {
        // JSON output and logs are not read by a person who would write down the code.
        let is_read = io::stderr().is_terminal() && !printer.json;
        print_remark(&if is_read {
            says_of_keys::new_code(&key.recovery_code())
        } else {
            says_of_keys::CODE_NOT_SHOWN.to_owned()
        });
    }
    Ok(Exit::Done)
}

fn show_code(place: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    if !place.home.journal().is_file() {
        return Err(CliError::Failed(says::no_journal(place.home.path())));
    }
    let code = BackupKey::load_or_make(&place.home)?.0.recovery_code();
    if printer.json { printer.json(&json!({ "recovery_code": code })) } else { printer.fact(&code) }?;
    Ok(Exit::Done)
}

fn print_result(made: &Made, file: &Path, with_config: bool, printer: Printer) -> Result<(), CliError> {
    if printer.json {
        let left_out: Vec<_> = made.left_out.iter().map(|(path, why)| json!({ "path": path, "why": why })).collect();
        return printer.json(&json!({
            "file": file, "bytes": made.size, "files": made.files, "config": with_config, "left_out": left_out,
        }));
    }
    printer.fact(&says::made(file, made.size.div_ceil(1024), made.files))
}
