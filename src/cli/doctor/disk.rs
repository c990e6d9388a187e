//! The home and its disk.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::finding::Finding;
use crate::config::{Home, mode_finding};
use crate::wording::cli::doctor as says;

/// Minimum free space: the journal needs space for its log before it can write anything.
const LEAST_FREE: u64 = 100 << 20;

/// Checks that the home exists, is private and is writable.
pub(super) fn home(home: &Home, fix: bool) -> Vec<Finding> {
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
        findings.push(private(says::HOME, path, mode, 0o700, fix));
    }
    let others_can = |file: std::path::PathBuf, check| {
        let exposed = mode_finding(&file)?;
        Some(private(check, &exposed.path, exposed.mode, 0o600, fix))
    };
    findings.extend(others_can(home.lock(), says::HOME));
    findings.extend(others_can(home.backup_key(), says::SECRETS));
    // Permissions are not enough: read-only mounts, other users' files and full disks are only
    // detected by writing.
    let trial = path.join(format!(".doctor-{:016x}", rand::random::<u64>()));
    if let Err(error) = std::fs::write(&trial, "a trial\n") {
        findings.push(Finding::wrong(
            says::HOME,
            &says::not_writable(&shown, &error.to_string()),
            crate::wording::cli::FIX_READ_ONLY,
        ));
    }
    let _ = std::fs::remove_file(&trial);
    if findings.is_empty() {
        findings.push(Finding::ok(says::HOME, &shown));
    }
    findings
}

/// Checks that other users cannot read a file that holds a secret.
pub(super) fn exposed(file: &Path, fix: bool) -> Option<Finding> {
    let exposed = mode_finding(file)?;
    Some(private(says::SECRETS, &exposed.path, exposed.mode, 0o600, fix))
}

fn private(check: &'static str, path: &Path, mode: u32, wanted: u32, fix: bool) -> Finding {
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
pub(super) fn space(home: &Home) -> Finding {
    let Ok(disk) = rustix::fs::statvfs(home.path()) else {
        return Finding::note(says::DISK, says::NO_SPACE_KNOWN, "");
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let told = says::free(free >> 20);
    if free < LEAST_FREE { Finding::wrong(says::DISK, &told, says::FIX_DISK) } else { Finding::ok(says::DISK, &told) }
}
