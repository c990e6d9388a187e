//! The skills folder, and proposals that wait for the owner. The journal is only read, so this
//! works while a gateway is running.

use std::path::Path;

use super::finding::Finding;
use crate::config::Config;
use crate::skill::SkillCache;
use crate::store::{self, Db, SkillState};
use crate::time::{Clock, SystemClock, Timestamp};
use crate::wording::cli::doctor as says;

/// Checks every inactive folder, and if new skills could be created.
pub(super) fn check(config: &Config) -> Vec<Finding> {
    let dir = &config.skills.dir;
    let catalogue = SkillCache::new(dir.clone()).look();
    let mut findings: Vec<Finding> = catalogue
        .broken
        .iter()
        .map(|broken| Finding::wrong(says::SKILLS, &says::broken_skill(&broken.folder, &broken.why), says::FIX_SKILL))
        .collect();
    findings.extend(writable(dir));
    let journal = config.home.journal();
    // An unreadable journal is reported elsewhere.
    let seen = if journal.exists() { store::examine(&journal, see).ok() } else { None };
    let (held, waiting) = seen.unwrap_or_default();
    findings.extend(
        held.iter()
            .filter(|name| catalogue.skills.contains_key(*name))
            .map(|name| Finding::wrong(says::SKILLS, &says::held_skill(name), says::FIX_HELD_SKILL)),
    );
    if findings.is_empty() {
        findings.push(Finding::ok(says::SKILLS, &says::skills(catalogue.skills.len(), &dir.display().to_string())));
    }
    if waiting > 0 {
        findings.push(Finding::note(says::PROPOSALS, &says::proposals_wait(waiting), says::FIX_PROPOSALS));
    }
    findings
}

/// Returns the names of held skills and the number of pending proposals.
fn see(db: Db<'_>) -> anyhow::Result<(Vec<String>, usize)> {
    let now: Timestamp = SystemClock::default().now();
    let held =
        db.skills().skills()?.into_iter().filter(|row| row.state == SkillState::Held).map(|row| row.name).collect();
    let waiting = db.proposals().pending_proposals()?.iter().filter(|row| !row.is_late(now)).count();
    Ok((held, waiting))
}

/// Returns a finding if no skill could be created. A missing folder is created when it is needed.
fn writable(dir: &Path) -> Option<Finding> {
    if !dir.exists() {
        return None;
    }
    let trial = dir.join(format!(".doctor-{:016x}", rand::random::<u64>()));
    let written = std::fs::write(&trial, "a trial\n");
    let _ = std::fs::remove_file(&trial);
    let error = written.err()?;
    let what = says::not_writable(&dir.display().to_string(), &error.to_string());
    Some(Finding::wrong(says::SKILLS, &what, crate::wording::cli::FIX_READ_ONLY))
}
