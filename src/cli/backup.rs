//! `compline backup FILE` and `compline restore FILE`.
//!
//! A backup needs nothing of the gateway: it reads the home beside it. A restore needs the home's lock, so no gateway runs meanwhile; it is the one
//! command that takes a home as it finds it, with a journal that is damaged or missing too.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::failure::Failure;
use super::place::{Place, environment};
use super::print::{Printer, aside};
use super::progress::Bar;
use super::{Exit, block_on};
use crate::admin::backup::{self, Made, Sources};
use crate::admin::restore::{self, Restored, Target};
use crate::app::{BuildError, take_lock};
use crate::config::Home;
use crate::time::{Clock, SystemClock, Zone};
use crate::wording::upkeep as says;

/// `compline backup …`
#[derive(Debug, Args)]
pub struct Backup {
    /// The file to be written; it must not be there
    file: PathBuf,
    /// Leave the configuration out, and with it the secrets that stand there
    #[arg(long)]
    without_config: bool,
}

/// `compline restore …`
#[derive(Debug, Args)]
pub struct Restore {
    /// A file that `compline backup` wrote
    file: PathBuf,
    /// Keep the present configuration
    #[arg(long)]
    without_config: bool,
}

/// A restore that was cut off is finished or dropped before anything else of the home is read, and the person is told which.
pub fn settle_first(home: &Home) -> Result<(), Failure> {
    if !restore::is_left(home) {
        return Ok(());
    }
    let told = if restore::is_unfinished(home) { says::FINISHED } else { says::DROPPED };
    match take_lock(home) {
        Ok(_) => aside(told),
        // It is going on now.
        Err(BuildError::Held(_)) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Makes a backup.
pub fn backup(options: &Backup, place: &Place, printer: Printer) -> Result<Exit, Failure> {
    let config = place.load()?.config;
    let with_config = !options.without_config && place.config.is_file();
    let sources = Sources {
        home: place.home.clone(),
        workspace: config.workspace,
        skills: config.skills.dir,
        config: with_config.then(|| place.config.clone()),
    };
    let mut bar = Bar::new(printer.quiet);
    let made =
        backup::make(&sources, &options.file, SystemClock::default().now(), &mut |doing, done| bar.at(doing, done));
    bar.end();
    let made = made?;
    for (path, why) in &made.left_out {
        aside(&says::left_out(&path.escape_debug().to_string(), *why));
    }
    printer.note(if with_config { says::HOLDS_SECRETS } else { says::WITHOUT_CONFIG });
    tell_made(&made, &options.file, with_config, printer)?;
    Ok(Exit::Done)
}

fn tell_made(made: &Made, file: &Path, with_config: bool, printer: Printer) -> Result<(), Failure> {
    if printer.json {
        let left_out: Vec<_> = made.left_out.iter().map(|(path, why)| json!({ "path": path, "why": why })).collect();
        return printer.json(&json!({
            "file": file, "bytes": made.size, "files": made.files, "config": with_config, "left_out": left_out,
        }));
    }
    printer.fact(&says::made(file, made.size.div_ceil(1024), made.files))
}

/// Restores a backup.
pub fn restore(options: &Restore, place: &Place, printer: Printer) -> Result<Exit, Failure> {
    let _lock = take_lock(&place.home).map_err(|error| match error {
        BuildError::Held(home) => Failure::Failed(says::stop_first(&home)),
        other => other.into(),
    })?;
    let target = Target {
        home: place.home.clone(),
        config: place.config.clone(),
        without_config: options.without_config,
        environment: environment(),
    };
    let mut bar = Bar::new(printer.quiet);
    let now = SystemClock::default().now();
    let mut progress = |doing: &'static str, done| bar.at(doing, done);
    let done =
        block_on(async { Ok(restore::restore(&options.file, &target, now, &mut progress, &mut |_| Ok(())).await) })?;
    bar.end();
    if done.is_err() {
        // What was unpacked is removed; what was decided is finished.
        restore::settle(&place.home)?;
    }
    tell_restored(&done?, place, printer)?;
    Ok(Exit::Done)
}

fn tell_restored(restored: &Restored, place: &Place, printer: Printer) -> Result<(), Failure> {
    if printer.json {
        let (at, aside, parked) = (restored.made_at.rfc3339(), &restored.aside, restored.parked);
        return printer.json(&json!({ "made_at": at, "aside": aside, "parked": parked }));
    }
    let zone = place.load().map_or(Zone::UTC, |loaded| loaded.config.zone);
    let mut lines = vec![says::restored(place.home.path(), &zone.show(restored.made_at), restored.aside.as_deref())];
    let parked = &restored.parked;
    let counts =
        [parked.messages, parked.outbox, parked.proposals, parked.questions, parked.slots, parked.files, parked.skills];
    lines
        .extend(counts.into_iter().zip(says::CLOSED).filter_map(|(count, (one, many))| says::closed(count, one, many)));
    printer.fact(&lines.join("\n"))
}
