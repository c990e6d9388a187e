//! The skills folder, and what waits for its owner. The journal is only read, so this works beside
//! a running gateway.

use std::path::Path;

use super::finding::Finding;
use crate::config::Config;
use crate::skill::SkillCache;
use crate::store::{self, Db};
use crate::time::{Clock, SystemClock, Timestamp};
use crate::wording::cli::doctor as says;

/// Looks at every folder that is not used, and at whether there could be another.
pub(super) fn look(config: &Config) -> Vec<Finding> {
    let dir = &config.skills.dir;
    let catalogue = SkillCache::new(dir.clone()).look();
    let mut findings: Vec<Finding> = catalogue
        .broken
        .iter()
        .map(|broken| Finding::wrong(says::SKILLS, &says::broken_skill(&broken.folder, &broken.why), says::FIX_SKILL))
        .collect();
    findings.extend(writable(dir));
    let journal = config.home.journal();
    // A journal that cannot be read is told of elsewhere.
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

/// The names of what is held, and how many proposals wait.
fn see(db: Db<'_>) -> anyhow::Result<(Vec<String>, usize)> {
    let now: Timestamp = SystemClock::default().now();
    let held = db.skills().skills()?.into_iter().filter(|row| row.state == "held").map(|row| row.name).collect();
    let waiting = db.proposals().pending_proposals()?.iter().filter(|row| !row.is_late(now)).count();
    Ok((held, waiting))
}

/// Trouble, if no skill could be put there. A folder that is not there yet is made when it is
/// needed.
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
