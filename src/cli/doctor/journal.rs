//! The journal with the checks that depend on it (the latest time, people with access, unknown
//! senders), and the memory: files, folders and index.
//!
//! Of the memory only counts are reported, never a name or a word. Checking the index updates it,
//! so only the holder of the home can do it. A running gateway is that holder, and is asked to.

use std::sync::Arc;

use super::Gateway;
use crate::admin::doctor::journal::{JournalReport, missing_files, sound, workspace};
use crate::admin::doctor::{Finding, memory};
use crate::admin::{Knowledge, RepairMode};
use crate::app::{BuildError, take_lock_as_it_is};
use crate::cli::client;
use crate::cli::print::CliError;
use crate::config::Config;
use crate::memory::{Index, Workspace};
use crate::store::{self, Db, Journal};
use crate::time::{Clock, SystemClock};
use crate::wording::cli::split_fix;
use crate::wording::doctor as says;

/// Checks the journal. While a gateway runs it is only read, and the gateway reports on the memory;
/// without one, the journal is also opened as `run` would.
pub(super) async fn check(config: &Config, gateway: &Gateway, fix: bool) -> Vec<Finding> {
    let path = config.home.journal();
    let now = SystemClock::default().now();
    match std::fs::metadata(&path) {
        Err(_) => return vec![Finding::note(says::JOURNAL, says::NO_JOURNAL, "")],
        Ok(found) if found.len() == 0 => {
            return vec![Finding::wrong(says::JOURNAL, &says::empty_journal(&path), says::FIX_EMPTY_JOURNAL)];
        }
        Ok(_) => {}
    }
    let (missing, mode) = (missing_files(config), if fix { RepairMode::Repair } else { RepairMode::Check });
    let health = match take_lock_as_it_is(&config.home) {
        Err(BuildError::Held(_)) => ask_memory(config, gateway, mode).await,
        Err(error) => return vec![failure_finding(error.into())],
        Ok(_lock) => match Journal::open(&path, None) {
            Err(error) => return vec![failure_finding(error.into())],
            Ok(journal) => {
                let health = check_memory(config, &journal, mode).await;
                journal.close().await;
                health
            }
        },
    };
    let mut findings = vec![workspace(config, &missing)];
    findings.extend(health);
    match store::examine(&path, read_report) {
        Err(error) => findings.push(failure_finding(error.into())),
        Ok((damage, version, report)) => {
            findings.push(sound(&damage, version, &path));
            findings.extend(report.assess(config, &path, now));
        }
    }
    findings
}

fn read_report(db: Db<'_>) -> anyhow::Result<(Vec<String>, u32, JournalReport)> {
    Ok((db.settings().quick_check()?, db.settings().version()?, JournalReport::read(db)?))
}

fn failure_finding(failure: CliError) -> Finding {
    let words = match failure {
        CliError::Wrong(words) | CliError::Failed(words) => words,
        CliError::Unread => String::new(),
    };
    let (what, fix) = split_fix(&words);
    Finding::wrong(says::JOURNAL, what, fix)
}

/// Checks the memory, and fixes problems that need no decision. Only for the holder of the home.
pub(super) async fn check_memory(config: &Config, journal: &Journal, mode: RepairMode) -> Vec<Finding> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
    let workspace = Workspace::new(config.workspace.clone(), config.home.experience(), journal.clone(), config.zone);
    let index = Index::new(workspace.clone(), journal.clone(), Arc::clone(&clock));
    // The owners of the folders must be settled before any check, as at every start.
    if let Err(error) = workspace.folders().settle_folders().await {
        return vec![memory::unsound(&error)];
    }
    match Knowledge::of(&workspace, &index, mode, clock.now()).await {
        Ok(health) => memory::findings(&health),
        Err(error) => vec![memory::unsound(&error)],
    }
}

/// Asks the gateway that holds the home to do the same.
pub(super) async fn ask_memory(config: &Config, gateway: &Gateway, mode: RepairMode) -> Vec<Finding> {
    let line = match mode {
        RepairMode::Check => client::words(&["knowledge"]),
        RepairMode::Repair => client::words(&["knowledge", "--mend"]),
    };
    let answered = match gateway {
        Gateway::Silent => None,
        Gateway::Runs(_) | Gateway::Away => client::ask_gateway(&line, &config.home, true).await.ok().flatten(),
    };
    let Some(answered) = answered else {
        return vec![Finding::note(says::KNOWLEDGE, says::NOBODY_LOOKED, says::FIX_NOBODY_LOOKED)];
    };
    match serde_json::from_str(&answered.text) {
        Ok(health) if !answered.failed => memory::findings(&health),
        _ => vec![Finding::wrong(says::KNOWLEDGE, says::NOT_TOLD, says::FIX_NOT_TOLD)],
    }
}
