//! The memory: files, folders and index. Only counts are reported, never a name or a word.
//!
//! Checking the index updates it, so only the holder of the home can do it. A running gateway is
//! that holder, and is asked to.

use std::sync::Arc;

use super::finding::Finding;
use super::gateway::Gateway;
use crate::admin::{Knowledge, RepairMode};
use crate::cli::client;
use crate::config::Config;
use crate::memory::{Index, Workspace, WorkspaceHealth};
use crate::store::Journal;
use crate::time::{Clock, SystemClock};
use crate::wording::cli::doctor as says;

/// Maximum number of misplaced files that are listed.
const MOST_NAMED: usize = 50;
/// Fill level in per cent from which a memory is nearly full.
const NEARLY_FULL: u64 = 80;

/// Checks the memory, and fixes problems that need no decision. Only for the holder of the home.
pub(super) async fn check(config: &Config, journal: &Journal, touch: RepairMode) -> Vec<Finding> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
    let tree = Workspace::new(config.workspace.clone(), config.home.experience(), journal.clone(), config.zone);
    let index = Index::new(tree.clone(), journal.clone(), Arc::clone(&clock));
    // The owners of the folders must be settled before any check, as at every start.
    if let Err(error) = tree.folders().settle_folders().await {
        return vec![Finding::wrong(says::KNOWLEDGE, &format!("{error:#}"), says::FIX_KNOWLEDGE)];
    }
    match Knowledge::of(&tree, &index, touch, clock.now()).await {
        Ok(known) => findings(&known),
        Err(error) => vec![Finding::wrong(says::KNOWLEDGE, &format!("{error:#}"), says::FIX_KNOWLEDGE)],
    }
}

/// Asks the gateway that holds the home to do the same.
pub(super) async fn ask(config: &Config, gateway: &Gateway, touch: RepairMode) -> Vec<Finding> {
    let line = match touch {
        RepairMode::Look => client::words(&["knowledge"]),
        RepairMode::Mend => client::words(&["knowledge", "--mend"]),
    };
    let answered = match gateway {
        Gateway::Silent => None,
        Gateway::Runs(_) | Gateway::Away => client::of_gateway(&line, &config.home, true).await.ok().flatten(),
    };
    let Some(answered) = answered else {
        return vec![Finding::note(says::KNOWLEDGE, says::NOBODY_LOOKED, says::FIX_NOBODY_LOOKED)];
    };
    match serde_json::from_str(&answered.text) {
        Ok(known) if !answered.failed => findings(&known),
        _ => vec![Finding::wrong(says::KNOWLEDGE, says::NOT_TOLD, says::FIX_NOT_TOLD)],
    }
}

fn findings(known: &Knowledge) -> Vec<Finding> {
    let mut findings = about_files(&known.files);
    let mended = known.mended;
    if mended.folders + mended.lines > 0 {
        findings.push(Finding::fixed(says::KNOWLEDGE, &says::fixed_knowledge(mended.folders, mended.lines)));
    }
    let index = known.index;
    let what = says::index(index.entries, index.troubled, index.waiting);
    findings.push(match index.troubled + index.waiting {
        0 => Finding::ok(says::INDEX, &what),
        _ => Finding::note(says::INDEX, &what, says::FIX_INDEX),
    });
    findings
}

fn about_files(health: &WorkspaceHealth) -> Vec<Finding> {
    let mut findings = vec![Finding::ok(says::KNOWLEDGE, &says::knowledge(health.files, health.bytes, health.fullest))];
    // These files are neither read nor changed until a person fixes them.
    if health.unreadable > 0 {
        findings.push(Finding::wrong(says::KNOWLEDGE, &says::unreadable(health.unreadable), says::FIX_UNREADABLE));
    }
    for file in health.misplaced.iter().take(MOST_NAMED) {
        let what = says::misplaced(&file.path, &file.written_for, &file.lies_with, file.stands);
        findings.push(Finding::wrong(says::KNOWLEDGE, &what, says::FIX_MISPLACED));
    }
    if health.misplaced.len() > MOST_NAMED {
        let what = says::more_misplaced(health.misplaced.len() - MOST_NAMED);
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
    note(health.nobodys > 0, says::nobodys(health.nobodys), says::FIX_NOBODYS);
    findings
}
