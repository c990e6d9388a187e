//! The memory: its files, folders and index. Of them only counts are reported, never a name or a
//! word.

use super::Finding;
use crate::admin::Knowledge;
use crate::memory::WorkspaceHealth;
use crate::store;
use crate::wording::cli::FIX_FULL;
use crate::wording::doctor as says;

/// Maximum number of misplaced files that are listed.
const MAX_LISTED: usize = 50;
/// Fill level in per cent from which a memory is nearly full.
const NEARLY_FULL: u64 = 80;

/// Returns the finding about a memory that could not be checked.
pub fn unsound(error: &anyhow::Error) -> Finding {
    if store::is_full(error) {
        return Finding::wrong(says::KNOWLEDGE, says::NO_ROOM_TO_CHECK, FIX_FULL);
    }
    Finding::wrong(says::KNOWLEDGE, &format!("{error:#}"), says::FIX_KNOWLEDGE)
}

/// Assesses a check of the memory.
pub fn findings(health: &Knowledge) -> Vec<Finding> {
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
