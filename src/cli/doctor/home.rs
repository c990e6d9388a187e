//! The home with its disk, and the skills folder with the proposals that wait for the owner. The
//! journal is only read, so this works while a gateway is running.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::admin::doctor::Finding;
use crate::admin::doctor::home::{OpenPath, configuration, open_paths, open_secrets, read_skills, skills};
use crate::cli::print::fix_of;
use crate::config::{Config, ConfigSource, Home};
use crate::skill::SkillCache;
use crate::store;
use crate::time::{Clock, SystemClock};
use crate::wording::cli::FIX_READ_ONLY;
use crate::wording::doctor as says;

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
    let mut findings: Vec<Finding> = open_paths(home).iter().map(|open| restrict(open, fix)).collect();
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

/// Checks the configuration, and that other users cannot read its secrets.
pub(super) fn check_configuration(source: &ConfigSource, fix: bool) -> Vec<Finding> {
    configuration(source, open_secrets(source).iter().map(|open| restrict(open, fix)).collect())
}

fn restrict(open: &OpenPath, fix: bool) -> Finding {
    let finding = open.finding();
    if !fix {
        return finding;
    }
    match std::fs::set_permissions(&open.path, std::fs::Permissions::from_mode(open.wanted)) {
        Ok(()) => Finding::fixed(open.check, &finding.what),
        Err(error) => Finding { what: format!("{}: {error}", finding.what), ..finding },
    }
}

/// Checks every inactive folder, and if new skills could be created.
pub(super) fn check_skills(config: &Config) -> Vec<Finding> {
    let dir = &config.skills.dir;
    let catalogue = SkillCache::new(dir.clone()).look();
    let (journal, now) = (config.home.journal(), SystemClock::default().now());
    // An unreadable journal is reported elsewhere.
    let seen = if journal.exists() { store::examine(&journal, |db| read_skills(db, now)).ok() } else { None };
    let (held, waiting) = seen.unwrap_or_default();
    skills(&catalogue, unwritable_skills(dir), (&held, waiting), dir)
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
