//! What is known: the files, the folders they lie in, the index over them. Only counts are told, never a name or a word.

use std::sync::Arc;

use super::finding::Finding;
use crate::config::Config;
use crate::memory::{Index, Tree, TreeHealth};
use crate::store::Journal;
use crate::time::{Clock, SystemClock};
use crate::wording::cli::doctor as says;

/// From so many percent on a memory is nearly full.
const NEARLY_FULL: u64 = 80;

/// Looks, and mends what decides nothing. Only without a running gateway: that one writes.
pub(super) async fn look(config: &Config, journal: &Journal, fix: bool) -> Vec<Finding> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
    let tree = Tree::new(config.workspace.clone(), config.home.experience(), journal.clone(), config.zone);
    let found = async {
        let before = tree.health().await?;
        let mended = if fix { tree.mend(clock.now()).await? } else { crate::memory::TreeMended::default() };
        let after = if fix { tree.health().await? } else { before.clone() };
        let mut findings = about_files(&after);
        if mended.folders + mended.lines > 0 {
            findings.push(Finding::mended(says::KNOWLEDGE, &says::mended_knowledge(mended.folders, mended.lines)));
        }
        findings.push(about_index(&Index::new(tree.clone(), journal.clone(), Arc::clone(&clock))).await?);
        anyhow::Ok(findings)
    };
    found
        .await
        .unwrap_or_else(|error| vec![Finding::wrong(says::KNOWLEDGE, &format!("{error:#}"), says::FIX_KNOWLEDGE)])
}

fn about_files(health: &TreeHealth) -> Vec<Finding> {
    let mut findings = vec![Finding::ok(says::KNOWLEDGE, &says::knowledge(health.files, health.bytes, health.fullest))];
    let mut note = |is: bool, what: String, fix: &str| {
        if is {
            findings.push(Finding::note(says::KNOWLEDGE, &what, fix));
        }
    };
    note(!health.missing.is_empty(), says::missing_files(&health.missing), says::FIX_WORKSPACE);
    note(health.unreadable > 0, says::unreadable(health.unreadable), says::FIX_UNREADABLE);
    note(health.unlisted > 0, says::unlisted(health.unlisted), says::FIX_UNLISTED);
    note(health.overfull > 0, says::overfull(health.overfull), says::FIX_OVERFULL);
    note(health.fullest >= NEARLY_FULL, says::nearly_full(health.fullest), says::FIX_OVERFULL);
    note(health.nobodys > 0, says::nobodys(health.nobodys), says::FIX_NOBODYS);
    findings
}

/// Brings the index up to date as far as a search would, and says what it could not take in.
async fn about_index(index: &Index) -> anyhow::Result<Finding> {
    let (mut entries, mut troubled, mut waiting) = (0_usize, 0_usize, 0_usize);
    for party in index.parties().await? {
        let health = index.health(&party).await?;
        entries = entries.saturating_add(health.entries);
        troubled = troubled.saturating_add(health.troubled.len());
        waiting = waiting.saturating_add(health.waiting);
    }
    let told = says::index(entries, troubled, waiting);
    Ok(match troubled + waiting {
        0 => Finding::ok(says::INDEX, &told),
        _ => Finding::note(says::INDEX, &told, says::FIX_INDEX),
    })
}
