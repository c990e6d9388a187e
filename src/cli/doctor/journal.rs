//! The journal with the checks that depend on it (the latest time, people with access, unknown
//! senders), and the memory: files, folders and index.
//!
//! Of the memory only counts are reported, never a name or a word. Checking the index updates it,
//! so only the holder of the home can do it. A running gateway is that holder, and is asked to.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::{Finding, Gateway};
use crate::admin::{Knowledge, RepairMode};
use crate::app::{BuildError, take_lock_as_it_is};
use crate::cli::client;
use crate::cli::config::names_owner;
use crate::cli::print::CliError;
use crate::config::Config;
use crate::id::ErasureId;
use crate::memory::{Index, Workspace, WorkspaceHealth};
use crate::message::ChannelKind;
use crate::people::Role;
use crate::schedule::Checked;
use crate::store::{self, Db, Journal, Stranger};
use crate::time::{Clock, SystemClock, Timestamp};
use crate::wording::cli::doctor as says;
use crate::wording::cli::{FIX_FULL, split_fix};
use crate::wording::upkeep as of_upkeep;

/// Log size above which something must be preventing the merge.
const MAX_LOG_SIZE: u64 = 64 << 20;
/// Maximum number of misplaced files that are listed.
const MAX_LISTED: usize = 50;
/// Fill level in per cent from which a memory is nearly full.
const NEARLY_FULL: u64 = 80;

/// Data from the journal.
struct JournalReport {
    check: Vec<String>,
    version: u32,
    high_water: Option<Timestamp>,
    owners: usize,
    /// Channels on which an owner has an address.
    owner_channels: BTreeSet<String>,
    strangers: Vec<Stranger>,
    upkeep: Option<Checked>,
    /// Deletions whose text is unreadable.
    unreadable: Vec<ErasureId>,
}

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
        Ok(report) => findings.extend(assess(&report, config, &path, now)),
    }
    findings
}

fn read_report(db: Db<'_>) -> anyhow::Result<JournalReport> {
    let owners: Vec<_> = db.people().people()?.into_iter().filter(|person| person.role == Role::Owner).collect();
    let mut owner_channels = BTreeSet::new();
    for owner in &owners {
        owner_channels.extend(db.addresses().addresses_of(owner.id)?.into_iter().map(|health| health.address.adapter));
    }
    Ok(JournalReport {
        check: db.settings().quick_check()?,
        version: db.settings().version()?,
        high_water: db.conversations().high_water()?,
        owners: owners.len(),
        owner_channels,
        strangers: db.addresses().strangers(1)?,
        upkeep: Checked::last(db)?,
        unreadable: db.erasure().unreadable()?,
    })
}

fn assess(report: &JournalReport, config: &Config, path: &Path, now: Timestamp) -> Vec<Finding> {
    let mut findings = vec![sound(report, path), log(path), clock(report, config, now), owner(report, config)];
    findings.extend(report.upkeep.as_ref().map(|checked| upkeep(checked, config)));
    for id in &report.unreadable {
        findings.push(Finding::wrong(says::FORGETTING, &says::unreadable_erasure(*id), says::FIX_FORGETTING));
    }
    for Stranger { id, address, last_at, count, .. } in &report.strangers {
        let what = says::stranger(&address.adapter, &address.peer, &config.zone.show(*last_at), *count);
        findings.push(Finding::note(says::STRANGERS, &what, &says::fix_stranger(*id)));
    }
    findings
}

fn sound(report: &JournalReport, path: &Path) -> Finding {
    let size = std::fs::metadata(path).map_or(0, |found| found.len());
    match report.check.as_slice() {
        [] => Finding::ok(says::JOURNAL, &says::journal(report.version, size >> 10)),
        broken => Finding::wrong(says::JOURNAL, &says::broken(broken), crate::wording::cli::FIX_DAMAGED),
    }
}

fn log(path: &Path) -> Finding {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    let size = std::fs::metadata(name).map_or(0, |found| found.len());
    let text = says::log(size >> 10);
    if size > MAX_LOG_SIZE {
        Finding::note(says::JOURNAL_LOG, &text, says::FIX_LOG)
    } else {
        Finding::ok(says::JOURNAL_LOG, &text)
    }
}

/// Reports the result of the weekly integrity check, which is more thorough than the present one.
fn upkeep(checked: &Checked, config: &Config) -> Finding {
    let at = config.zone.show(checked.at);
    match checked.found.as_slice() {
        [] => Finding::ok(says::UPKEEP, &of_upkeep::checked(&at)),
        broken => Finding::wrong(says::UPKEEP, &says::broken(broken), of_upkeep::FIX_CHECKED),
    }
}

fn clock(report: &JournalReport, config: &Config, now: Timestamp) -> Finding {
    let shown = config.zone.show(now);
    match report.high_water {
        Some(latest) if latest > now => {
            Finding::wrong(says::CLOCK, &says::clock_behind(&shown, &config.zone.show(latest)), says::FIX_CLOCK)
        }
        _ => Finding::ok(says::CLOCK, &shown),
    }
}

fn owner(report: &JournalReport, config: &Config) -> Finding {
    if report.owners == 0 && !config.people.iter().any(|person| person.role == Role::Owner) {
        return Finding::wrong(says::OWNER, says::NO_OWNER, says::FIX_NO_OWNER);
    }
    let channels = config.channels();
    let unmet: Vec<ChannelKind> = channels
        .iter()
        .copied()
        .filter(|channel| !names_owner(config, *channel) && !report.owner_channels.contains(channel.name()))
        .collect();
    match unmet.as_slice() {
        [] => Finding::ok(says::OWNER, says::OWNER_KNOWN),
        all if all.len() == channels.len() => Finding::wrong(says::OWNER, says::NOT_CLAIMED, says::FIX_NOT_CLAIMED),
        some => {
            let names: Vec<&str> = some.iter().map(|channel| channel.title()).collect();
            Finding::note(says::OWNER, &says::not_met(&names), says::FIX_NOT_MET)
        }
    }
}

/// Checks the files that the assistant loads. `run` creates missing ones at its start; `missing`
/// lists those that were missing before any fix.
fn workspace(config: &Config, missing: &[&str]) -> Finding {
    match missing_files(config).as_slice() {
        [] if missing.is_empty() => Finding::ok(says::WORKSPACE, &config.workspace.display().to_string()),
        [] => Finding::fixed(says::WORKSPACE, &says::missing_files(missing)),
        still => Finding::note(says::WORKSPACE, &says::missing_files(still), says::FIX_WORKSPACE),
    }
}

fn missing_files(config: &Config) -> Vec<&'static str> {
    says::WORKSPACE_FILES.into_iter().filter(|file| !config.workspace.join(file).exists()).collect()
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
        return vec![unsound_memory(&error)];
    }
    match Knowledge::of(&workspace, &index, mode, clock.now()).await {
        Ok(health) => memory_findings(&health),
        Err(error) => vec![unsound_memory(&error)],
    }
}

fn unsound_memory(error: &anyhow::Error) -> Finding {
    if store::is_full(error) {
        return Finding::wrong(says::KNOWLEDGE, says::NO_ROOM_TO_CHECK, FIX_FULL);
    }
    Finding::wrong(says::KNOWLEDGE, &format!("{error:#}"), says::FIX_KNOWLEDGE)
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
        Ok(health) if !answered.failed => memory_findings(&health),
        _ => vec![Finding::wrong(says::KNOWLEDGE, says::NOT_TOLD, says::FIX_NOT_TOLD)],
    }
}

fn memory_findings(health: &Knowledge) -> Vec<Finding> {
    let mut findings = file_findings(&health.files);
    let fixes = health.mended;
    if fixes.folders + fixes.lines > 0 {
        findings.push(Finding::fixed(says::KNOWLEDGE, &says::fixed_knowledge(fixes.folders, fixes.lines)));
    }
    let index = health.index;
    let what = says::index(index.entries, index.troubled, index.waiting);
    findings.push(match index.troubled + index.waiting {
        0 => Finding::ok(says::INDEX, &what),
        _ => Finding::note(says::INDEX, &what, says::FIX_INDEX),
    });
    findings
}

fn file_findings(health: &WorkspaceHealth) -> Vec<Finding> {
    let mut findings = vec![Finding::ok(says::KNOWLEDGE, &says::knowledge(health.files, health.bytes, health.fullest))];
    // These files are neither read nor changed until a person fixes them.
    if health.unreadable > 0 {
        findings.push(Finding::wrong(says::KNOWLEDGE, &says::unreadable(health.unreadable), says::FIX_UNREADABLE));
    }
    for file in health.misplaced.iter().take(MAX_LISTED) {
        let what = says::misplaced(&file.path, &file.written_for, &file.folder_owner, file.exists);
        findings.push(Finding::wrong(says::KNOWLEDGE, &what, says::FIX_MISPLACED));
    }
    if health.misplaced.len() > MAX_LISTED {
        let what = says::more_misplaced(health.misplaced.len() - MAX_LISTED);
        findings.push(Finding::wrong(says::KNOWLEDGE, &what, says::FIX_MISPLACED));
    }
    for (table, count, first) in &health.misplaced_rows {
        let what = says::misplaced_rows(table, *count, *first);
        findings.push(Finding::wrong(says::KNOWLEDGE, &what, says::FIX_MISPLACED_ROWS));
    }
    let mut note = |is: bool, what: String, fix: &str| {
        if is {
            findings.push(Finding::note(says::KNOWLEDGE, &what, fix));
        }
    };
    note(!health.missing.is_empty(), says::missing_files(&health.missing), says::FIX_WORKSPACE);
    note(health.unlisted > 0, says::unlisted(health.unlisted), says::FIX_UNLISTED);
    note(health.overfull > 0, says::overfull(health.overfull), says::FIX_OVERFULL);
    note(health.fullest >= NEARLY_FULL, says::nearly_full(health.fullest), says::FIX_OVERFULL);
    note(health.root_is_closed, says::ROOT_IS_CLOSED.to_owned(), says::FIX_ROOT_IS_CLOSED);
    note(health.unowned_folders > 0, says::nobodys(health.unowned_folders), says::FIX_NOBODYS);
    findings
}
