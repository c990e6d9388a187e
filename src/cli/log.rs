//! The log: one file per day in `logs/`, created with the first line, and standard error on
//! request.
//!
//! Lines identify things by their ids; message text is never logged at any level. Files are named
//! by the day in UTC, and those older than `[retention] logs_days` are deleted when a new one
//! begins.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use crate::admin::log;
use crate::config::Config;
use crate::time::task::lock;
use crate::time::{Clock, SystemClock, Timestamp, Zone};
use crate::wording::cli as says;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Log folder of this process, once it has one.
static LOGS: OnceLock<PathBuf> = OnceLock::new();

/// Starts the log of a home. `-v` adds detail, and standard error. The MCP library is silenced,
/// because it quotes messages.
pub fn begin(config: &Config, verbose: bool) {
    let level = if verbose { "warn,rmcp=off,compline=debug" } else { "warn,rmcp=off,compline=info" };
    let logs = config.home.logs();
    let file = Daily::new(logs.clone(), config.retention.logs_days);
    let to_file =
        tracing_subscriber::fmt::layer().with_ansi(false).with_writer(file).with_filter(EnvFilter::new(level));
    let to_person = verbose.then(|| {
        tracing_subscriber::fmt::layer().with_target(false).with_writer(io::stderr).with_filter(EnvFilter::new(level))
    });
    let _ = tracing_subscriber::registry().with(to_file).with(to_person).try_init();
    let _ = LOGS.set(logs);
}

/// Logs a panic with its location, and shows the person one sentence.
pub fn calm_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        // The panic message may quote a message, so only the location is logged.
        tracing::error!("A panic at {place}");
        let logs = LOGS.get().map(|logs| logs.join(file_name(SystemClock::default().now())));
        super::print::print_remark(&says::panicked(&place, logs.as_deref()));
    }));
}

/// Writes to the file of the day.
#[derive(Clone)]
struct Daily(Arc<Mutex<Today>>);

struct Today {
    logs: PathBuf,
    keep_days: Option<u32>,
    name: String,
    file: Option<File>,
}

impl Daily {
    fn new(logs: PathBuf, keep_days: Option<u32>) -> Self {
        Self(Arc::new(Mutex::new(Today { logs, keep_days, name: String::new(), file: None })))
    }
}

impl<'a> MakeWriter<'a> for Daily {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Write for Daily {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut today = lock(&self.0);
        today.turn(SystemClock::default().now())?;
        match &mut today.file {
            Some(file) => file.write(line),
            None => Ok(line.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Today {
    /// Opens the file of the day, if it is not open.
    fn turn(&mut self, now: Timestamp) -> io::Result<()> {
        let name = file_name(now);
        if self.file.is_some() && self.name == name {
            return Ok(());
        }
        self.file = Some(open(&self.logs, &name)?);
        self.name = name;
        if let Some(days) = self.keep_days {
            delete_before(&self.logs, &file_name(now.minus(DAY.saturating_mul(days))));
        }
        Ok(())
    }
}

fn file_name(now: Timestamp) -> String {
    log::file_name(&Zone::UTC.day(now))
}

fn open(logs: &Path, name: &str) -> io::Result<File> {
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(logs)?;
    File::options().append(true).create(true).mode(0o600).open(logs.join(name))
}

/// Deletes old log files. Names sort by date.
fn delete_before(logs: &Path, first_kept: &str) {
    for entry in std::fs::read_dir(logs).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|name| name.starts_with("compline-") && name.ends_with(".log"));
        if is_ours && name.to_str().is_some_and(|name| name < first_kept) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_a_day_and_old_ones_go() {
        let home = tempfile::tempdir().unwrap();
        let logs = home.path().join("logs");
        let mut today = Today { logs: logs.clone(), keep_days: Some(2), name: String::new(), file: None };
        let start = Timestamp(1_795_284_000_000); // 2026-11-21T18:00:00Z
        for days in 0..5 {
            today.turn(start.plus(DAY * days)).unwrap();
        }
        std::fs::write(logs.join("compline-notes.txt"), "a person's own").unwrap();
        today.turn(start.plus(DAY * 5)).unwrap();
        let mut names: Vec<_> =
            std::fs::read_dir(&logs).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        let kept =
            ["compline-2026-11-24.log", "compline-2026-11-25.log", "compline-2026-11-26.log", "compline-notes.txt"];
        assert_eq!(names, kept);
    }
}
