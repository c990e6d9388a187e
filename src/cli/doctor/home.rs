//! The home with its disk, and the skills folder with the proposals that wait for the owner. The
//! journal is only read, so this works while a gateway is running.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::Finding;
use crate::cli::print::fix_of;
use crate::config::{Config, Home, mode_finding};
use crate::skill::SkillCache;
use crate::store::{self, Db, SkillState};
use crate::time::{Clock, SystemClock, Timestamp};
use crate::wording::cli::FIX_READ_ONLY;
use crate::wording::cli::doctor as says;

/// Minimum free space: the journal needs space for its log before it can write anything.
const MIN_FREE: u64 = 100 << 20;

/// Checks that the home exists, is private and is writable.
pub(super) fn check_home(home: &Home, fix: bool) -> Vec<Finding> {
    let path = home.path();
    let shown = path.display().to_string();
    let Ok(found) = std::fs::metadata(path) else {
        return vec![Finding::wrong(says::HOME, &says::no_home(&shown), says::FIX_NO_HOME)];
    };
    if !found.is_dir() {
        return vec![Finding::wrong(says::HOME, &says::home_is_a_file(&shown), says::FIX_HOME_IS_A_FILE)];
    }
    let mut findings = Vec::new();
    let mode = found.permissions().mode() & 0o7777;
    if mode & 0o077 != 0 {
        findings.push(restrict(says::HOME, path, mode, 0o700, fix));
    }
    let others_can = |file: std::path::PathBuf, check| {
        let exposed = mode_finding(&file)?;
        Some(restrict(check, &exposed.path, exposed.mode, 0o600, fix))
    };
    findings.extend(others_can(home.lock(), says::HOME));
    findings.extend(others_can(home.backup_key(), says::SECRETS));
    // Permissions are not enough: read-only mounts, other users' files and full disks are only
    // detected by writing.
    let trial = path.join(format!(".doctor-{:016x}", rand::random::<u64>()));
    if let Err(error) = std::fs::write(&trial, "a trial\n") {
        findings.push(unwritable(says::HOME, path, &error));
    }
    let _ = std::fs::remove_file(&trial);
    if findings.is_empty() {
        findings.push(Finding::ok(says::HOME, &shown));
    }
    findings
}

/// Checks that other users cannot read a file that holds a secret.
pub(super) fn check_mode(file: &Path, fix: bool) -> Option<Finding> {
    let exposed = mode_finding(file)?;
    Some(restrict(says::SECRETS, &exposed.path, exposed.mode, 0o600, fix))
}

fn restrict(check: &'static str, path: &Path, mode: u32, wanted: u32, fix: bool) -> Finding {
    let shown = path.display().to_string();
    let what = says::readable(&shown, mode);
    if !fix {
        return Finding::wrong(check, &what, &says::fix_mode(&shown, wanted));
    }
    match std::fs::set_permissions(path, std::fs::Permissions::from_mode(wanted)) {
        Ok(()) => Finding::fixed(check, &what),
        Err(error) => Finding::wrong(check, &format!("{what}: {error}"), &says::fix_mode(&shown, wanted)),
    }
}

/// Checks the free space.
pub(super) fn free_space(home: &Home) -> Finding {
    let Ok(disk) = rustix::fs::statvfs(home.path()) else {
        return Finding::note(says::DISK, says::NO_SPACE_KNOWN, "");
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let text = says::free(free >> 20);
    if free < MIN_FREE { Finding::wrong(says::DISK, &text, says::FIX_DISK) } else { Finding::ok(says::DISK, &text) }
}

/// Checks every inactive folder, and if new skills could be created.
pub(super) fn check_skills(config: &Config) -> Vec<Finding> {
    let dir = &config.skills.dir;
    let catalogue = SkillCache::new(dir.clone()).look();
    let mut findings: Vec<Finding> = catalogue
        .broken
        .iter()
        .map(|broken| Finding::wrong(says::SKILLS, &says::broken_skill(&broken.folder, &broken.why), says::FIX_SKILL))
        .collect();
    findings.extend(unwritable_skills(dir));
    let journal = config.home.journal();
    // An unreadable journal is reported elsewhere.
    let seen = if journal.exists() { store::examine(&journal, read_skills).ok() } else { None };
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
fn read_skills(db: Db<'_>) -> anyhow::Result<(Vec<String>, usize)> {
    let now: Timestamp = SystemClock::default().now();
    let held =
        db.skills().skills()?.into_iter().filter(|row| row.state == SkillState::Held).map(|row| row.name).collect();
    let waiting = db.proposals().pending_proposals()?.iter().filter(|row| !row.is_late(now)).count();
    Ok((held, waiting))
}

/// Returns a finding if no skill could be created. A missing folder is created when it is needed.
fn unwritable_skills(dir: &Path) -> Option<Finding> {
    if !dir.exists() {
        return None;
    }
    let trial = dir.join(format!(".doctor-{:016x}", rand::random::<u64>()));
    let written = std::fs::write(&trial, "a trial\n");
    let _ = std::fs::remove_file(&trial);
    Some(unwritable(says::SKILLS, dir, &written.err()?))
}

fn unwritable(check: &'static str, folder: &Path, error: &io::Error) -> Finding {
    let what = says::not_writable(&folder.display().to_string(), &error.to_string());
    Finding::wrong(check, &what, fix_of(error.kind()).unwrap_or(FIX_READ_ONLY))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wording::cli::FIX_FULL;

    #[test]
    fn a_full_disk_is_told_from_a_folder_of_another_user() {
        for (kind, fix) in [(io::ErrorKind::StorageFull, FIX_FULL), (io::ErrorKind::PermissionDenied, FIX_READ_ONLY)] {
            assert_eq!(unwritable(says::HOME, Path::new("/srv"), &kind.into()).fix, fix);
        }
    }
}
